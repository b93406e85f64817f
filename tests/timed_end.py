# SPDX-License-Identifier: MIT
"""How soon a process ends after a signal: within 2 s, plus the time that a busy machine kept it waiting for a core.

Linux counts that time for each thread, in /proc/PID/task/TID/schedstat. Of a process and of each of its children (ffmpeg,
importers) the thread counts that waited most, and the caller of this, which may be late to see the end. Where a kernel does
not count, the limit is 2 s."""
import glob
import os
import signal
import time

LIMIT = 2.0  # s


def read(path):
    try:
        with open(path) as file:
            return file.read().split()
    except OSError:  # it has ended
        return []


def family(pid):
    children = [int(child) for path in glob.glob(f"/proc/{pid}/task/*/children") for child in read(path)]
    return [pid] + [p for child in children for p in family(child)]


def waits(pid):
    """Seconds that each thread of a process and of its children was ready to run, and another had the core."""
    found = {}
    for p in family(pid):
        for path in glob.glob(f"/proc/{p}/task/*/schedstat"):
            words = read(path)
            if words:
                found[p, path] = 1e-9 * int(words[1])
    return found


def own_wait():
    words = read("/proc/thread-self/schedstat")
    return 1e-9 * int(words[1]) if words else 0.0


def with_signals():
    """For Popen's preexec_fn: background jobs of a shell ignore INT, what nohup starts ignores HUP, and mote heeds that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def work_for(process, seconds, patience=300):
    """Until a process has used so much CPU time: on a busy machine it may not even have begun after a while."""
    deadline = time.monotonic() + patience
    while process.poll() is None and time.monotonic() < deadline:
        fields = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()
        if int(fields[11]) + int(fields[12]) >= seconds * os.sysconf("SC_CLK_TCK"):
            break
        time.sleep(0.01)


def end_by(process, number, patience=120):
    """Sends a subprocess.Popen the signal and waits for its end, which must be in time. Returns the seconds that it took
    and those of them that it waited for a core."""
    before, own, start = waits(process.pid), own_wait(), time.monotonic()
    last = dict(before)
    process.send_signal(number)
    while process.poll() is None and time.monotonic() < start + patience:
        last.update(waits(process.pid))
        time.sleep(0.005)
    took = time.monotonic() - start
    late = own_wait() - own
    for p in {p for p, _ in last}:
        late += max(seconds - before.get(key, 0.0) for key, seconds in last.items() if key[0] == p)
    if process.poll() is None:
        process.kill()
        raise AssertionError("it did not end within %g s" % patience)
    assert took < LIMIT + late, "%.2f s until it ended, expected %g s and %.2f s that it waited for a core" % (took, LIMIT, late)
    return took, late
