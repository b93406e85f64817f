#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the `mote` command says when a Vulkan device lacks something, has no memory left or is lost, with the layer of
# tests/vulkan_faults. check_faults.sh SOURCE_DIR BINARY_DIR
set -euo pipefail
source "$(dirname "$0")/command_fixture.sh"
export VK_ADD_LAYER_PATH=${mote%/bin/mote}/tests/layers
# The validation layers keep memory until the process ends, which a sanitizer would count as Mote's.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export LP_NUM_THREADS=0 # Mesa: for so little, waking threads takes longer than the work
scene=$source_folder/scenes/small/dam_break.json
validation=VK_LAYER_KHRONOS_validation:

if ! "$mote" info | grep -q 'auto     would choose [0-9]'; then
    echo "check_faults: skipped, no Vulkan device can draw here"
    exit 77
fi
validate=(--validate)
if ! "$mote" render "$scene" --backend cpu --frames 0 --size 32x18 --out probe --validate >stdout 2>stderr; then
    warns "install vulkan-validationlayers"
    validate=() validation=
fi
# The validation layers come first: they see the device as the program does.
export VK_INSTANCE_LAYERS=${validation}VK_LAYER_MOTE_faults

# with FAULTS STATUS COMMAND...
with() {
    MOTE_VULKAN_FAULTS=$1 expect "${@:2}"
}
# refused WORDS...: one line on stderr that has all of them, no validation message, no file.
refused() {
    local word
    for word in "$@"; do
        warns "$word"
    done
    (($(wc -l <stderr) == 1)) || fail "expected one line on stderr"
    [[ ! -s stdout ]] || fail "expected nothing on stdout"
    [[ ! -e out || -z $(find out -type f) ]] || fail "files were left: $(find out)"
    rm -rf out
}
draw() {
    with "$1" "$2" render "$scene" --size 96x54 --frames 1 --out out --quiet --backend cpu "${validate[@]}" "${@:3}"
}
simulate() {
    with "$1" "$2" simulate "$scene" --frames 2 --out out --quiet --backend vulkan "${@:3}"
}

# ---- Without faults, the layer changes nothing
draw "" 0
mv out/frame_000001.png right.png
rm -r out
simulate "" 0 --summary right.json
mv out right_files

# ---- Every feature that is needed, from the table itself, and what else is
mapfile -t features < <(grep -oE 'NEEDED\(v1[0-9], [A-Za-z0-9]+' "$source_folder/src/render/device.c" | sed 's/.* //')
((${#features[@]} >= 8)) || fail "the table of needed features was not found"
for feature in "${features[@]}"; do
    draw "clear=$feature" 1
    refused "no Vulkan device can draw" "lacks $feature"
    simulate "clear=$feature" 1
    refused "backend vulkan" "lacks $feature" "try backend cpu"
done
draw clear=synchronization2,clear=dynamicRendering 1
refused "lacks dynamicRendering, synchronization2"
draw clear=dynamicRendering 1 --device 0
refused "lacks dynamicRendering"
for command in draw simulate; do
    $command api=2 1
    refused "lacks Vulkan 1.3"
    $command clear=timestamps 1
    refused "lacks a queue for graphics, compute and timestamps"
done
simulate clear=shaderInt64 1
refused "lacks shaderInt64" "try backend cpu"
draw clear=shaderInt64 0 # the renderer does without
cmp out/frame_000001.png right.png || fail "without shaderInt64 the picture differs"
rm -r out
with clear=dynamicRendering 0 info
says "cannot draw: lacks dynamicRendering"
with clear=shaderInt64 0 info
says "lacks shaderInt64"

# ---- What can be done without: the same pixels another way, and `mote info --interop` says which
for hidden in VK_EXT_external_memory_host VK_KHR_external_memory_fd VK_KHR_external_semaphore_fd; do
    draw "hide=$hidden" 0
    cmp out/frame_000001.png right.png || fail "without $hidden the picture differs"
    rm -r out
done
with hide=VK_EXT_external_memory_host 0 info --interop --backend cpu
says "path     staging: the device lacks VK_EXT_external_memory_host"
with hide=VK_EXT_external_memory_host,hide=VK_KHR_external_memory_fd 0 info
says "host memory import: no"
draw range=16384 0 # arrays are reached by address, which knows no such limit
cmp out/frame_000001.png right.png || fail "with a small maxStorageBufferRange the picture differs"
rm -r out
simulate range=16384 0 --summary limited.json
rm -r out
has limited.json "s['state_hash'] == $(python3 -c 'import json; print(repr(json.load(open("right.json"))["state_hash"]))')"

# ---- No memory, lost devices; tests/test_vulkan_faults.c does so at every call
draw exhaust=1+ 1
refused "out of device memory"
draw heap=1048576 1
refused "GiB of" "draw a smaller one"
for number in 1 2 3; do
    draw "lose=$number" 1
    refused "the device was lost"
done
simulate exhaust=1+ 1
refused "backend vulkan" "out of device memory" "try backend cpu"
for number in 1 4; do
    simulate "lose=$number" 1
    warns "the device was lost"
    warns "try backend cpu"
    (($(wc -l <stderr) == 1)) || fail "expected one line on stderr"
    for file in $(find out -type f 2>/dev/null); do # whole frames, of before
        cmp "$file" "right_files/${file#out/}" || fail "$file is not what it should be"
    done
    rm -rf out
done
# Lost while a state is saved: none, rather than one of zeros.
for number in $(seq 5 14); do
    status=0
    MOTE_VULKAN_FAULTS=lose=$number "$mote" simulate "$scene" --frames 2 --quiet --backend vulkan --out out \
        --save-state saved.state --every 2 >stdout 2>stderr || status=$?
    ((status == 1)) || { ((status == 0)) && [[ -e saved.state ]]; } || fail "lose=$number: status $status"
    if ((status == 1)); then
        warns "the device was lost"
        [[ ! -e saved.state ]] || fail "a state was left by a device that was lost"
    fi
    rm -rf out saved.state
done
# A film is completed to the frames before, as after Ctrl-C; pictures stay.
with lose=12 1 render "$scene" --size 96x54 --frames :40 --out pictures --quiet --backend cpu
warns "the device was lost"
[[ -s pictures/frame_000000.png ]] || fail "the frames before should be there"
[[ -z $(find . -name '*.partial') ]] || fail "temporary files were left: $(find . -name '*.partial')"

# ---- Ctrl-C while the device takes a minute for something: nothing of it is waited for. (Python starts it, because a
# shell's background jobs ignore SIGINT.)
cat >interrupt.py <<'PYTHON'
import os, signal, subprocess, sys, time
from timed_end import end_by, with_signals
process = subprocess.Popen(sys.argv[1:], stdout=open("stdout", "w"), stderr=subprocess.PIPE,
                           preexec_fn=with_signals)
words = b""
while b"VK_LAYER_MOTE_faults: slow\n" not in words: # the layer's line
    more = os.read(process.stderr.fileno(), 4096)
    assert more, "it ended before its device was slow: %s" % words
    words += more
time.sleep(0.2)
end_by(process, signal.SIGINT)
words += process.stderr.read()
open("stderr", "wb").write(words.replace(b"VK_LAYER_MOTE_faults: slow\n", b""))
assert process.returncode == 130, "status %d" % process.returncode
PYTHON
# interrupt FAULTS OPTIONS...
interrupt() {
    checks=$((checks + 1))
    MOTE_VULKAN_FAULTS=$1 python3 interrupt.py "$mote" "${@:2}" || fail "the interruption of ${*:2} with $1"
    [[ -z $(find . -name '*.partial') ]] || fail "temporary files were left: $(find . -name '*.partial')"
}
film() {
    interrupt "$1" render "$scene" --size 96x54 --frames :400 --out film.mp4 --summary film.json "${@:2}"
}
film slow=2 --backend cpu # before the first frame
refused "stopped before it was done"
[[ ! -e film.mp4 ]] || fail "a film without frames was left"
for backend in cpu vulkan; do
    film slow=90 --backend "$backend"
    says "Interrupted: "
    frames=$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0 film.mp4)
    has film.json "s['interrupted'] is True and s['drawn'] == ${frames:-0} > 0"
    rm film.mp4 film.json
done

# ---- The window, which has a device of its own
if command -v Xvfb >/dev/null && "$mote" help view >stdout 2>stderr; then
    Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp 3>display 2>/dev/null &
    server=$!
    trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
    for _ in {1..100}; do
        [[ ! -s display ]] || break
        sleep 0.1
    done
    export DISPLAY=:$(<display)
    window() {
        with "$1,of=mote view" 1 view "$scene" --settings none "${validate[@]}"
    }
    window hide=VK_KHR_swapchain
    refused "no Vulkan device can draw to this window" "lacks VK_KHR_swapchain"
    for feature in dynamicRendering synchronization2 maintenance4; do
        window "clear=$feature"
        refused "lacks $feature"
    done
    window api=2
    refused "lacks Vulkan 1.3"
    window exhaust=1+
    refused "out of device memory"
    for number in 1 7; do
        window "lose=$number"
        refused "the device was lost"
    done
    # Ctrl-C while the scene's device, which is another one, takes long for a picture: the film ends before it.
    printf '%s\n' "wait loaded" "wait pictures 1" "key M" "wait seconds 100" >script
    interrupt slow=40,of=mote view "$scene" --settings none --size 96x64 --no-panel --backend cpu --script script --out view
    ffprobe -v error view/*.mp4 || fail "the film cannot be played"
fi
echo "$checks runs of mote as expected"
