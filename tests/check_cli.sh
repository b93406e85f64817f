#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The `mote` command as its users meet it: help, wrong usage, files, summaries, saving and resuming.
# check_cli.sh SOURCE_DIR BINARY_DIR
set -euo pipefail
source "$(dirname "$0")/command_fixture.sh"

hash_of() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["state_hash"])' "$1"
}

cat >drop.json <<'JSON'
{
  "solver": { "spacing": 0.05, "substeps": 2, "iterations": 3 },
  "fluids": [ { "position": [0, 0.3, 0], "size": [0.3, 0.3, 0.3] } ],
  "colliders": [ { "shape": "box", "inside_out": true, "position": [0, 0.5, 0], "size": [1, 1, 1] } ],
  "emitters": [ { "position": [0, 0.8, 0], "rotation": [180, 0, 0], "radius": 0.08, "speed": 2 } ],
  "bounds": { "lower": [-0.6, -0.1, -0.6], "upper": [0.6, 1.1, 0.6] },
  "output": { "frames": 6, "every": 2 }
}
JSON
cat >mistyped.json <<'JSON'
{
  "solver": { "iteratoins": 3 }
}
JSON

# ---- Help and version
expect 0 --help
says "simulate"
says "liquids, grains, rigid and soft bodies"
says "128 + N stopped by signal N"
expect 0 help simulate
says "bgeo, the classic format by its description"
expect 0 help
expect 0 --version
[[ $(cat stdout) =~ ^mote\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "a version"
for command in view simulate render validate info bench schema; do
    expect 0 help "$command"
    says "Usage: mote $command"
    expect 0 "$command" --help
done
expect 0 info
says "Backends:"
says "auto     would choose"
says "cpu"
says "Vulkan devices:"

# ---- Wrong usage
expect 2
expect 2 simulat
warns "did you mean 'simulate'?"
expect 2 help simulat
warns "did you mean 'simulate'?"
expect 2 --verison
expect 2 simulate
warns "expected SCENE"
expect 2 simulate drop.json other.json
warns "unexpected argument 'other.json'"
expect 2 simulate drop.json --frame 3
warns "did you mean --frames?"
expect 2 simulate drop.json --sumary=x
warns "did you mean --summary?"
expect 2 simulate drop.json --xyzzy
warns "unknown option --xyzzy"
expect 2 simulate drop.json --frames
warns "--frames needs a value"
expect 2 simulate drop.json --out --quiet
warns "--out needs a value"
for number in many -1 1.5 99999999999999999999 ''; do
    expect 2 simulate drop.json --frames "$number"
    warns "expected a whole number"
done
expect 2 simulate drop.json --backend cdua
warns "did you mean 'cuda'?"
expect 2 simulate drop.json --out x --format ply,vkt
warns "did you mean 'vtk'?"
expect 2 simulate drop.json --format ply
warns "--format needs --out"
expect 2 simulate drop.json --every 2
warns "--every 2: expected also --out DIR, to export each 2 frames (instead of the scene's output.every), or --save-state"
expect 2 simulate drop.json --quiet=yes
warns "takes no value"
expect 2 simulate drop.json --set solver.iterations
warns "expected PATH=VALUE"
expect 2 validate
expect 2 schema
expect 2 info extra

# ---- Failures
expect 1 simulate missing.json
warns "mote: "
warns "missing.json"
expect 1 simulate mistyped.json
warns "mistyped.json:2:"
warns "iterations"
expect 1 simulate drop.json --set solver.iteratoins=3
warns "iterations"
expect 1 simulate drop.json --set solver.iterations=many
warns "iterations"
expect 1 simulate drop.json --set solver.spacing=-1
warns "spacing"
echo file >plain_file
expect 1 simulate drop.json --out plain_file/folder
warns "plain_file"
for option in summary statistics save-state; do
    expect 1 simulate drop.json --frames 1 "--$option" no_such_folder/file
    warns "mote: no_such_folder/file"
    [[ ! -e no_such_folder ]] || fail "a folder was made"
done
expect 1 simulate drop.json --resume missing.state
warns "missing.state"
expect 1 simulate drop.json --resume plain_file
warns "plain_file"
[[ -w /dev/full ]] && {
    status=0
    "$mote" info >/dev/full 2>stderr || status=$?
    ((status == 1)) || fail "a full standard output went unnoticed"
}

# ---- Validate
expect 0 validate drop.json
says "drop.json: valid"
expect 0 validate --quiet drop.json
silent
expect 1 validate drop.json mistyped.json missing.json drop.json
warns "mistyped.json:2:"
warns "missing.json"
(($(grep -c 'drop.json: valid' stdout) == 2)) || fail "both valid files should be told"

# ---- Schema
expect 0 schema --schema schema.json --format-document format.md
python3 -c 'import json; json.load(open("schema.json"))["properties"]["solver"]' || fail "the schema"
grep -q iterations format.md || fail "the format document"
expect 1 schema --schema no_such_folder/schema.json

# ---- Simulate: exports, statistics, summary
expect 0 simulate drop.json --backend cpu --threads 2 --out=frames --format=ply,vtk,bgeo --summary whole.json \
    --statistics whole.csv
says "Done at frame 6 of 6"
for frame in 000000 000002 000004 000006; do
    for extension in ply vtu bgeo; do
        [[ -s frames/frame_$frame.$extension ]] || fail "frames/frame_$frame.$extension was not written"
        grep -qF "frame_$frame.vtu" frames/frames.pvd || fail "frames.pvd lacks frame $frame"
    done
done
[[ ! -e frames/frame_000001.ply ]] || fail "output.every = 2 was not kept"
has whole.json 's["scene"] == "drop.json" and s["backend"] == "cpu" and s["frames"] == 6 and s["steps"] == 12'
has whole.json 's["first_frame"] == 0 and s["interrupted"] is False and abs(s["simulated_seconds"] - 0.1) < 1e-6'
has whole.json 's["emitted"] > 0 and s["particles"] == 216 + s["emitted"] and s["removed"] == 0 and s["escaped"] == 0'
has whole.json '0 <= s["density_error_mean"] <= s["density_error_max"] and s["kinetic_energy"] > 0'
has whole.json 'len(s["momentum"]) == 3 and len(s["state_hash"]) == 16 and int(s["state_hash"], 16) != 0'
has whole.json 's["seconds"] > 0 and s["memory_bytes"] > 216 * 32'
python3 - whole.csv whole.json <<'PYTHON' || fail "the statistics"
import csv, json, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [int(row["frame"]) for row in rows] == list(range(7)), rows
watched = {"watched_energy", "gained_energy", "escaped", "squeezed"} # by steps: none has been made at frame 0
assert all((value == "" if row is rows[0] and key in watched else math.isfinite(float(value)))
           for row in rows for key, value in row.items())
# Frame 0: 6 x 6 x 6 particles of 0.125 kg around (0, 0.3, 0), a lattice at rest density inside and less at its faces.
first = {key: float(value) for key, value in rows[0].items() if value != ""}
near = {"mass": 27, "kinetic_energy": 0, "potential_energy": 27 * 9.81 * 0.3, "centre_y": 0.3, "density_error_max": 0,
        **{f"{end}_{axis}": centre + side for end, side in (("lowest", -0.125), ("highest", 0.125))
           for axis, centre in (("x", 0), ("y", 0.3), ("z", 0))}}
assert all(abs(first[key] - value) < 2e-5 * max(1, abs(value)) for key, value in near.items()), first
assert 0.6 < first["density_mean"] < 0.9 and 10 < first["neighbours_mean"] < 26, first
assert abs(json.load(open(sys.argv[2]))["potential_energy"] / float(rows[-1]["potential_energy"]) - 1) < 1e-6
assert float(rows[-1]["time"]) > 0.09 and float(rows[0]["time"]) == 0
assert int(rows[0]["particles"]) == 216 and int(rows[-1]["particles"]) == 216 + int(rows[-1]["emitted"])
assert "density_error_mean" in rows[0] and "momentum_z" in rows[0] and "centre_y" in rows[0] and "removed" in rows[0]
PYTHON
# What cannot be measured is empty or null: densities without liquid, or of materials that ignore each other at frame 0.
expect 0 simulate drop.json --frames 0 --quiet --statistics none.csv --summary none.json --set fluids='[]'
has none.json 's["particles"] == 0 and s["density_error_mean"] is None and s["potential_energy"] == 0'
[[ $(tail -n 1 none.csv) == '0,0,0,,,,0,0,0,0,0,0,0,0,0,,,,,,,,,,,0,0,,,,' ]] || fail "statistics of nothing: $(cat none.csv)"
expect 0 simulate drop.json --frames 1 --quiet --statistics apart.csv --set fluids[1].material=oil \
    --set fluids[1].size='[0.2, 0.1, 0.1]' --set materials.oil.ignores=water
[[ $(cut -d , -f 4 apart.csv | sed -n 2p) == '' && $(cut -d , -f 4 apart.csv | sed -n 3p) =~ ^[0-9] ]] ||
    fail "materials that ignore each other: $(cat apart.csv)"
# Forces: the mean of the frame's last step; the initial state has none. Nothing else changes.
expect 0 simulate drop.json --backend cpu --frames 4 --out forces --forces --quiet --summary forces.json
expect 0 simulate drop.json --backend cpu --frames 4 --quiet --summary no_forces.json
[[ $(hash_of forces.json) == "$(hash_of no_forces.json)" ]] || fail "recording forces changed the run"
grep -aq force_colliders_x forces/frame_000004.ply || fail "the export has no forces"
! grep -aq force_ forces/frame_000000.ply || fail "the initial state has forces"
expect 2 simulate drop.json --forces
warns "--forces needs --out DIR"
expect 0 simulate --quiet --frames=0 drop.json --out initial
silent
[[ -s initial/frame_000000.ply && ! -e initial/frame_000002.ply ]] || fail "the initial state alone was asked for"
# --every: how often to export, and beside --save-state how often to save, which leaves the exports to the scene.
expect 0 simulate drop.json --out thirds --format ply,vtk --every 3 --quiet
[[ $(cd thirds && echo *.ply) == "$(printf 'frame_%06d.ply ' 0 3 6 | sed 's/ $//')" ]] || fail "each third: $(ls thirds)"
(($(grep -c '<DataSet ' thirds/frames.pvd) == 3)) || fail "frames.pvd does not have each third frame"
expect 0 simulate drop.json --out halves --save-state 'halves/{frame}.state' --every 3 --quiet
[[ $(cd halves && echo *.ply *.state | wc -w) == 7 && -s halves/frame_000004.ply && -s halves/000003.state ]] ||
    fail "every second frame, and every third state: $(ls halves)"
expect 0 simulate drop.json --frames 2 --set solver.substeps=5 --summary set.json --quiet
has set.json 's["steps"] == 10'

# A run that fails leaves no summary, not even an earlier one's, and the statistics of the frames that it finished.
cp whole.json failed.json
mkdir -p blocked/frame_000004.ply
expect 1 simulate drop.json --out blocked --summary failed.json --statistics failed.csv
warns "mote: blocked/frame_000004.ply"
[[ ! -e failed.json ]] || fail "a failed run left a summary"
(($(wc -l <failed.csv) == 5)) || fail "the statistics of frames 0 to 3 should be there"

# ---- Save and resume: the same bits as without a stop, whatever the number of threads
expect 0 simulate drop.json --backend cpu --threads 1 --frames 3 --save-state part.state --quiet
expect 0 simulate drop.json --backend cpu --resume part.state --summary rest.json --out frames --format vtk --quiet
has rest.json 's["first_frame"] == 3 and s["frames"] == 6 and s["steps"] == 12'
[[ $(hash_of rest.json) == $(hash_of whole.json) ]] || fail "resuming gave another state"
grep -qF frame_000002.vtu frames/frames.pvd || fail "frames.pvd forgot what came before the stop"
expect 0 simulate drop.json --backend cpu --save-state each.state --every 4 --quiet
expect 0 simulate drop.json --backend cpu --resume each.state --summary none_left.json --quiet
has none_left.json 's["first_frame"] == 6'
[[ $(hash_of none_left.json) == $(hash_of whole.json) ]] || fail "the last state was not saved"
expect 0 simulate drop.json --backend cpu --save-state 'kept/{frame}.state' --every 4 --quiet
[[ $(ls kept) == "$(printf '%06d.state\n' 0 4 6)" ]] || fail "one state a frame: $(ls kept)"
expect 0 simulate drop.json --backend cpu --resume kept/000004.state --summary kept.json --quiet
has kept.json 's["first_frame"] == 4 and s["frames"] == 6'
[[ $(hash_of kept.json) == $(hash_of whole.json) ]] || fail "resuming from a kept state gave another state"
expect 1 simulate drop.json --resume part.state --frames 2
warns "is at frame 3, past the 2 frames asked for"
head -c 100 part.state >cut.state
expect 1 simulate drop.json --resume cut.state
warns "cut.state"
expect 1 simulate drop.json --resume part.state --set solver.substeps=3
warns "part.state"

# ---- What it runs on, in one line, where that is not the first choice
expect 0 simulate drop.json --frames 1
if "$mote" info | grep -q '^ *auto  *would choose cpu$'; then
    warns "mote: running on cpu ("
    (($(wc -l <stderr) == 1)) || fail "expected one line about the backend"
    # That there is no NVIDIA GPU is no failure, and no version of anything is insufficient.
    ! grep -qiE 'error|fail|insufficient|unusable|no usable' stderr || fail "a plain statement about the backend"
fi
# More threads than cores: said, done, and the same result; not said where it is not asked for.
expect 0 simulate drop.json --backend cpu --threads 100 --frames 6 --summary crowded.json
cores=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')
warns "mote: --threads 100: this machine has $cores core"
warns "; 100 threads are used"
[[ $(hash_of crowded.json) == $(hash_of whole.json) ]] || fail "100 threads gave another state"
expect 0 simulate drop.json --backend cpu --threads 100 --frames 1 --quiet
silent
expect 0 bench drop.json --backend cpu --threads 100 --no-peaks --warm-up 0 --steps 2
warns "mote: --threads 100: this machine has $cores core"
expect 0 simulate drop.json --backend cpu --threads 1 --frames 1
! grep -q -- --threads stderr || fail "one thread is not too many"
# A Vulkan driver that crashes takes nothing with it where the CPU is chosen.
if command -v cc >/dev/null; then
    echo '__attribute__((constructor)) static void crash(void) { __builtin_trap(); }' | cc -shared -fPIC -x c - -o crash.so
    echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "'"$work/crash.so"'", "api_version": "1.3.0"}}' >crash.json
    VK_DRIVER_FILES=crash.json VK_ICD_FILENAMES=crash.json expect 0 simulate drop.json --frames 1
    "$mote" info | grep -q '^  vulkan ' && warns "vulkan: a Vulkan driver on this machine crashes"
fi
# Choosing the CPU takes no more memory than asking for it: no graphics driver stays.
python3 - "$mote" <<'PYTHON' || fail "the memory of --backend auto"
import pathlib, subprocess, sys, time
resident = {}
for backend in "cpu", "auto":
    arguments = "simulate drop.json --frames 1000000 --statistics memory.csv --quiet --backend " + backend
    process = subprocess.Popen([sys.argv[1]] + arguments.split())
    try:
        deadline = time.time() + 60
        while not list(pathlib.Path().glob("memory.csv.*")) and time.time() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        status = pathlib.Path("/proc/%d/status" % process.pid).read_text()
        resident[backend] = int(status.split("VmRSS:")[1].split()[0]) / 1024
        libraries = pathlib.Path("/proc/%d/maps" % process.pid).read_text()
    finally:
        process.terminate()
        process.wait(60)
chosen = subprocess.run([sys.argv[1], "info"], capture_output=True, text=True).stdout
print(resident)
if "would choose cpu" in chosen:
    assert resident["auto"] < resident["cpu"] + 10, "MB resident: %s" % resident
    assert "libvulkan" not in libraries, "a Vulkan library stayed"
PYTHON

# ---- Times of steps
expect 0 bench drop.json --backend cpu --threads 1 --no-peaks --warm-up 0 --steps 6 --json
cp stdout bench.json
has bench.json 'all(k in s["scenes"][0] for k in ("scene", "backend", "threads", "particles", "steps", "bytes_per_particle"))'
has bench.json '0 < s["scenes"][0]["ms_per_step"]["min"] <= s["scenes"][0]["ms_per_step"]["median"]'
has bench.json '0 < sum(s["scenes"][0]["stages"].values()) <= 1.01 * s["scenes"][0]["ms_per_step"]["mean"]'
has bench.json '0 <= s["scenes"][0]["quiet"]["share"] <= 1 and 0 < s["scenes"][0]["quiet"]["best_pace"]'
expect 0 bench drop.json --backend cpu --no-peaks --warm-up 0 --steps 2
says "of the frames had the cores to themselves"
says "loops over neighbours: " && ! grep -q "at most" stdout || fail "all that the bilateral constraint counts is done"
# The unilateral constraint leaves out liquid in the air: what is counted is more than what was done.
expect 0 bench drop.json --backend cpu --no-peaks --warm-up 0 --steps 2 --set solver.density_mode=unilateral
says "loops over neighbours: at most "
has bench.json 's["scenes"][0]["rates_at_most"] is False'
has bench.json 's["scenes"][0]["quiet"]["best_pace"] <= s["scenes"][0]["quiet"]["limit"]'
# In turns: each in as many copies as have about the particles of the largest, and compared frame by frame.
for width in 0.3 0.9; do
    echo '{"solver": {"spacing": 0.05, "substeps": 2}, "fluids": [{"size": ['$width', 0.3, 0.3]}]}' >block_$width.json
done
expect 0 bench block_0.3.json block_0.9.json --in-turns --backend cpu --no-peaks --warm-up 0 --steps 8 --json
cp stdout turns.json
has turns.json '[r["copies"] for r in s["scenes"]] == [3, 1]'
has turns.json 's["scenes"][1]["particles"] == 3 * s["scenes"][0]["particles"]'
has turns.json '"beside_first" not in s["scenes"][0] and s["scenes"][1]["beside_first"]["frames"] == 4'
has turns.json '0.1 < s["scenes"][1]["beside_first"]["median"] < 10'
has turns.json '0 < sum(s["scenes"][0]["stages"].values()) <= 1.01 * s["scenes"][0]["ms_per_step"]["mean"]'
expect 0 bench drop.json drop.json --in-turns --backend cpu --no-peaks --warm-up 0 --steps 2
says "times as long as one of drop.json in the same frame"
expect 1 bench drop.json nowhere.json --in-turns --backend cpu --no-peaks --warm-up 0 --steps 2
warns "nowhere.json"

# ---- A mesh that crashes its importer: one error with place and file, in a line
printf 'OFF\n1 1 ' >hostile.off
sed 's|"fluids":|"bodies": [{ "mesh": "hostile.off", "material": "wall" }], "fluids":|' "$source_folder/scenes/small/dam_break.json" >hostile.json
expect 1 simulate hostile.json --frames 1
warns 'expected a mesh: hostile.off: cannot be read as a mesh: its importer crashed (it aborted)'
[[ $(wc -l <"$work/stderr") == 1 ]] || fail "expected one line"

# ---- Outputs that are no files
mkdir special special/elsewhere
# Links are followed; what they lead to is replaced, with its permissions.
echo old >special/elsewhere/run.csv
chmod 640 special/elsewhere/run.csv
ln -s elsewhere/run.csv special/link.csv
ln -s elsewhere/summary.json special/dangling.json
expect 0 simulate drop.json --frames 1 --statistics special/link.csv --summary special/dangling.json --quiet
[[ -L special/link.csv && -L special/dangling.json ]] || fail "links were replaced"
[[ $(stat -c %a special/elsewhere/run.csv) == 640 ]] || fail "permissions changed"
(($(wc -l <special/elsewhere/run.csv) == 3)) || fail "the link's target was not written"
has special/elsewhere/summary.json 's["frames"] == 1'
expect 0 simulate drop.json --frames 2 --summary special/dangling.json --quiet
has special/elsewhere/summary.json 's["frames"] == 2'
ln -s loop.json special/loop.json
expect 1 simulate drop.json --frames 1 --summary special/loop.json
warns "special/loop.json: cannot write: Too many levels of symbolic links"
# FIFOs get the bytes as they come; formats that cannot do that refuse them.
mkfifo special/fifo
cat special/fifo >special/fifo.csv &
reader=$!
expect 0 simulate drop.json --frames 2 --statistics special/fifo --quiet
wait $reader
[[ -p special/fifo ]] || fail "the FIFO was replaced"
(($(wc -l <special/fifo.csv) == 4)) || fail "the FIFO's reader got $(wc -l <special/fifo.csv) lines"
(head -c 10 special/fifo >/dev/null) &
reader=$!
expect 1 simulate drop.json --frames 100000 --statistics special/fifo --quiet # and does not end by a signal
warns "special/fifo: cannot write: Broken pipe"
wait $reader
# Devices: nodes of our own, which only root may make. The error comes with the first frame, not after the last.
if mknod special/full c 1 7 2>/dev/null && mknod special/null c 1 3 && true 2>/dev/null >special/null; then
    expect 1 simulate drop.json --frames 100000 --statistics special/full
    warns "special/full: cannot write: No space left on device"
    expect 1 simulate drop.json --frames 1 --summary special/full
    warns "special/full: cannot write: No space left on device"
    expect 0 simulate drop.json --frames 1 --statistics special/null --save-state special/null --quiet
    expect 1 schema --schema special/full
    [[ -c special/full && -c special/null ]] || fail "a device node was replaced"
fi
# Standard output: then the words for people go to standard error.
expect 0 simulate drop.json --frames 2 --statistics -
(($(wc -l <stdout) == 4)) || fail "statistics on standard output"
warns "Done at frame 2"
expect 0 simulate drop.json --frames 2 --summary -
cp stdout special/summary.json
has special/summary.json 's["frames"] == 2'
expect 0 schema --schema -
cmp stdout "$source_folder/scenes/schema.json" || fail "the schema on standard output"
expect 2 simulate drop.json --summary - --statistics -
warns "--summary and --statistics cannot both go to standard output"
expect 2 simulate drop.json --save-state -
warns "--save-state cannot be '-'"
expect 2 simulate drop.json --out -
warns "--out cannot be '-'"
expect 2 render drop.json --out -
warns "--out cannot be '-'"

# A disk that is full in the middle of a run, where a namespace of our own can have one: an error, what was written
# before is whole, and nothing is left of the rest.
if unshare -rm true 2>/dev/null; then
    mkdir full
    for outputs in '--save-state full/{frame}.state --every 1' '--out full --format ply,vtk,bgeo' \
        '--statistics full/run.csv'; do
        status=0
        # shellcheck disable=SC2016,SC2086 # the inner shell's arguments; the outputs are several
        unshare -rm sh -c 'mount -t tmpfs -o size=120k none full && "$@"; status=$?; ls full
            last=$(ls full/*.state 2>/dev/null | tail -n 1)
            [ -z "$last" ] || "$1" simulate drop.json --resume "$last" --frames 1000 --statistics - --quiet >last || exit 9
            exit $status' sh "$mote" simulate drop.json --frames 1000 --backend cpu --quiet $outputs \
            >stdout 2>stderr || status=$?
        ((status == 1)) || fail "a full disk: status $status with $outputs"
        warns "No space left on device"
        ! grep -q partial stdout || fail "a full disk: a part of a file was left"
    done
    (($(wc -l <last) > 2)) || fail "the last state before the disk was full could not be resumed"
fi

# ---- Inputs that are no files are refused at once; a scene may come through a pipe
cat >special/fifo_sky.json <<'JSON'
{
  "sky": { "kind": "image",
           "image": "fifo" }
}
JSON
expect 1 validate special/fifo
warns "special/fifo: is a FIFO, expected a file"
expect 1 validate special/fifo_sky.json
warns "special/fifo_sky.json:3:21: sky.image: found \"fifo\", expected a file that can be read: it is a FIFO (special/fifo)"
expect 1 simulate drop.json --resume special/fifo
warns "special/fifo: is a FIFO, expected a file"
"$mote" validate - <drop.json >stdout || fail "a scene on standard input"
says "-: valid"
cat drop.json | "$mote" validate /dev/stdin >stdout || fail "a scene through a pipe"
"$mote" validate <(cat drop.json) >stdout || fail "a scene from another program"
# What it names is then looked for in the present folder.
(cd special && ! "$mote" validate - <fifo_sky.json 2>../stderr) || fail "a FIFO of a scene on standard input"
warns "it is a FIFO (fifo)"

# ---- Interrupted: the frame is finished, then state and summary are written
# (Python starts it, because a shell's background jobs ignore SIGINT.)
python3 - "$mote" <<'PYTHON' || fail "the interruption"
import glob, signal, subprocess, sys, time
from timed_end import end_by, with_signals
arguments = "simulate drop.json --frames 1000000 --save-state stopped.state --summary stopped.json --statistics stopped.csv"
process = subprocess.Popen([sys.argv[1]] + arguments.split(), stdout=open("stdout", "w"), stderr=open("stderr", "w"),
                           preexec_fn=with_signals)
deadline = time.time() + 60
while not glob.glob("stopped.csv.*") and time.time() < deadline:
    time.sleep(0.05)
time.sleep(0.3)
end_by(process, signal.SIGINT)
assert process.returncode == 130, process.returncode
PYTHON
says "Interrupted at frame"
has stopped.json 's["interrupted"] is True and s["frames"] < 1000000'
[[ -s stopped.state && -s stopped.csv ]] || fail "state and statistics should be there after an interruption"
# A hangup is an end like the others; a frame that takes long is dropped, within 2 s; a scene that is being made is, too.
python3 - "$mote" <<'PYTHON' || fail "the interruption of long frames"
import json, signal, subprocess, sys
from timed_end import end_by, with_signals, work_for
long = "--set solver.substeps=1000 --set solver.iterations=200 --set solver.spacing=0.03 --threads 1 --backend cpu "
long += "--statistics long.csv --save-state long.state --summary long.json"
json.dump({"solver": {"spacing": 0.05}, "colliders": [{"shape": "mesh", "mesh": "shape:torus", "cell_size": 0.0019}]},
          open("large.json", "w"))
for arguments, number in [("simulate drop.json " + long, 1), ("simulate drop.json " + long, 15),
                          ("simulate drop.json " + long, 2), ("simulate large.json --backend cpu", 2)]:
    process = subprocess.Popen([sys.argv[1]] + arguments.split(), stdout=open("stdout", "w"), stderr=open("stderr", "w"),
                               preexec_fn=with_signals)
    work_for(process, 2)
    assert process.poll() is None, arguments + ": was not long"
    end_by(process, number) # 0.1 s on a machine that does nothing else; 1 s while OpenVDB makes a field
    assert process.returncode == 128 + number, process.returncode
PYTHON
has long.json 's["interrupted"] is True and s["frames"] == 0'
(($(wc -l <long.csv) == 2)) || fail "the statistics of frame 0"
expect 0 simulate drop.json --set solver.substeps=1000 --set solver.iterations=200 --set solver.spacing=0.03 \
    --resume long.state --frames 0 --quiet
# What a run leaves that is killed, the next one in the folder removes.
mkdir killed
python3 - "$mote" <<'PYTHON' || fail "the killed run"
import glob, subprocess, sys, time
process = subprocess.Popen([sys.argv[1]] + "simulate drop.json --frames 1000000 --statistics killed/run.csv --quiet".split())
deadline = time.time() + 60
while not glob.glob("killed/run.csv.*") and time.time() < deadline:
    time.sleep(0.05)
process.kill()
process.wait()
assert len(glob.glob("killed/run.csv.mote-*.partial")) == 1, glob.glob("killed/*")
PYTHON
expect 0 simulate drop.json --frames 1 --summary killed/other.json --quiet
[[ $(ls killed) == other.json ]] || fail "left by a killed run: $(ls killed)"

[[ -z $(find . -name '*.partial') ]] || fail "temporary files were left: $(find . -name '*.partial')"
echo "$checks runs of mote as expected"
