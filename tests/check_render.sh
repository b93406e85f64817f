#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `mote render` as its users meet it, and what `mote info` and `mote bench` say of drawing: pictures, films, saved
# states, continuing, interrupting, and every error with its message. check_render.sh SOURCE_DIR BINARY_DIR
set -euo pipefail
source "$(dirname "$0")/command_fixture.sh"
scene=$source_folder/scenes/small/dam_break.json

# draw STATUS OPTIONS...: the small dam break as small pictures.
draw() {
    local wanted=$1
    shift
    expect "$wanted" render "$scene" --backend cpu --size 160x90 "$@"
}
# same FOLDER FOLDER NUMBER...: those frames are equal byte for byte.
same() {
    local one=$1 two=$2 number
    shift 2
    for number in "$@"; do
        cmp "$one/frame_00000$number.png" "$two/frame_00000$number.png" || fail "frame $number of $one and $two differ"
    done
}
# film FILE FRAMES RATE: what ffprobe, which comes with ffmpeg, finds in it.
film() {
    local found
    found=$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames,r_frame_rate \
        -of csv=p=0 "$1" | tr -d '\r') || fail "$1 cannot be read"
    [[ $found == "$3,$2" ]] || fail "$1: rate,frames are $found, expected $3,$2"
}
# picture FILE WIDTH HEIGHT BITS: of a PNG file, from its header.
picture() {
    python3 - "$@" <<'PYTHON' || fail "$1 is not the picture that was asked for"
import struct, sys
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[-8:-4] == b"IEND"
width, height, bits, color = struct.unpack(">IIBB", data[16:26])
assert [width, height, bits] == list(map(int, sys.argv[2:])) and color == 2, (width, height, bits, color)
PYTHON
}
absent() {
    local path
    for path in "$@"; do
        [[ ! -e $path ]] || fail "$path should not be there"
    done
}

# ---- Wrong usage, for which no Vulkan is needed
expect 0 help render
says "Usage: mote render SCENE"
expect 0 help
says "render"
expect 2 render
warns "expected SCENE"
for range in many 1:2:3 5:3 -1 1.5 1:x 99999999999999999999; do
    draw 2 --frames="$range"
    warns "--frames: found '$range'"
done
for size in 0x90 160x0 160 x 160x90x 70000x10 wide; do
    expect 2 render "$scene" --size "$size"
    warns "--size: found '$size'"
done
draw 2 --view liqiud
warns "did you mean 'liquid'?"
draw 2 --view channel
draw 2 --format jpg
draw 2 --splat quad
warns "did you mean 'quads'?"
draw 2 --device first
warns "--device: found 'first'"
draw 2 --samples 0
draw 2 --out film.mov
warns "expected a folder, or a file that ends in .mp4, .webm, .png or .exr"
draw 2 --out film.MP4
draw 2 --out film.mp4 --continue
warns "--continue cannot add to a film"
draw 2 --out film.mp4 --format png
warns "--format png does not fit --out film.mp4"
draw 2 --out one.png --format exr
draw 2 --out one.png --frames 1:2
warns "is one picture"
draw 2 --out one.png --every 2
draw 2 --from 'a{frame}/b'
warns "--from: found 'a{frame}/b'"
draw 2 --from '{frame}{frame}'
draw 2 --set solver.iterations
warns "expected PATH=VALUE"
expect 2 info --device 0
warns "need --interop"
expect 2 bench --size 160x90
warns "need --render"
expect 2 simulate "$scene" --save-state '{frame}/x'
warns "--save-state: found '{frame}/x'"

# ---- No Vulkan driver
(
    export VK_DRIVER_FILES=$work/none.json VK_ICD_FILENAMES=$work/none.json
    draw 1 --frames 0
    warns "mesa-vulkan-drivers"
    expect 0 info
    says "mesa-vulkan-drivers"
)
expect 0 info
says "Vulkan devices:"
if ! grep -q 'auto     would choose [0-9]' stdout; then
    echo "check_render: skipped, no Vulkan device can draw here"
    exit 77
fi
says "host memory import: "
cp stdout devices

# ---- Errors before anything is drawn: no folder, no file
draw 1 --frames 0 --camera side --out nothing
warns "found no camera \"side\""
draw 1 --frames 0 --view channel:heat --out nothing
warns "heat"
draw 1 --frames 0 --device 99 --out nothing
warns "no Vulkan device 99"
expect 1 render "$scene" --frames 0 --size 65535x8 --out nothing
warns "65535 x 8 pixels"
draw 1 --frames 500: --out nothing
warns "last frame is 120"
draw 1 --frames 3:4 --every 5 --out nothing
draw 1 --frames 0 --summary nowhere/summary.json --out nothing
warns "nowhere/summary.json"
expect 1 render missing.json --out nothing
warns "missing.json"
mkdir no_programs
(
    export PATH=$work/no_programs
    status=0
    "$mote" render "$scene" --out nothing/film.mp4 >stdout 2>stderr || status=$?
    ((status == 1)) || fail "a film without ffmpeg: status $status"
)
warns "install the package ffmpeg"
absent nothing out

# ---- Pictures in a folder
draw 0 --frames :6 --out all --summary all.json
says "Done: 7 of 7 frames of 160x90"
says "Pictures: all/frame_000000.png to frame_000006.png"
[[ $(ls all) == "$(printf 'frame_00000%d.png\n' 0 1 2 3 4 5 6)" ]] || fail "files: $(ls all)"
picture all/frame_000006.png 160 90 8
! cmp -s all/frame_000000.png all/frame_000006.png || fail "nothing moved"
has all.json 's["drawn"] == 7 and s["first_frame"] == 0 and s["last_frame"] == 6 and s["particles"] == 2000'
has all.json 's["size"] == [160, 90] and s["samples"] == 1 and s["view"] == "liquid" and s["backend"] == "cpu"'
has all.json 's["out"] == "all" and s["interrupted"] is False and s["validation_messages"] == 0'
has all.json 's["seconds"] > s["seconds_simulating"] > 0 and s["seconds_drawing"] > 0 and s["device"] != ""'
draw 0 --frames 4:6 --out again --quiet
[[ ! -s stdout && ! -s stderr ]] || fail "--quiet should be quiet"
same all again 4 5 6
absent again/frame_000003.png
draw 0 --frames 6 --device "$(sed -n 's/.*auto     would choose \([0-9]\).*/\1/p' devices)" --no-share --out copied
same all copied 6
draw 0 --frames :6 --every 3 --out third
[[ $(ls third) == "$(printf 'frame_00000%d.png\n' 0 3 6)" ]] || fail "files: $(ls third)"
same all third 0 3 6
draw 0 --set output.frames=2 --set output.every=2
says "Pictures: out/small_dam_break/frame_000000.png to frame_000002.png"
same all out/small_dam_break 0 2
absent out/small_dam_break/frame_000001.png

# ---- Continuing: what is there stays as it is
touch -d 2001-02-03 again/*.png
rm again/frame_000005.png
draw 0 --frames 4:6 --out again --continue
says "Done: 1 of 1 frames"
same all again 5
[[ again/frame_000005.png -nt again/frame_000004.png ]] || fail "frame 5 is as old as the others"
(($(stat -c %Y again/frame_000004.png) == $(date -d 2001-02-03 +%s))) || fail "frame 4 was written again"
(($(stat -c %Y again/frame_000006.png) == $(date -d 2001-02-03 +%s))) || fail "frame 6 was written again"
draw 0 --frames 4:6 --out again --continue
says "Nothing to draw"

# ---- One picture, other formats, views and samples
draw 0 --frames 6 --out one.png
says "Picture: one.png"
cmp one.png all/frame_000006.png || fail "one.png"
draw 0 --set output.frames=6 --out last.png
cmp last.png one.png || fail "the last frame should be taken"
draw 0 --frames 2 --out made/for/it/deep.png --format png16 --samples 3
picture made/for/it/deep.png 160 90 16
draw 0 --frames 2 --view speed --out speed.png
draw 0 --frames 2 --out layers --format exr
python3 - layers/frame_000002.exr <<'PYTHON' || fail "the EXR file"
import struct, sys
data = open(sys.argv[1], "rb").read()
assert data[:4] == b"\x76\x2f\x31\x01"
def text(at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1
attributes, at = {}, 8
while data[at] != 0:
    name, at = text(at)
    kind, at = text(at)
    size, = struct.unpack_from("<i", data, at)
    attributes[name] = (kind, at + 4, size)
    at += 4 + size
channels, at = {}, attributes["channels"][1]
while data[at] != 0:
    name, at = text(at)
    channels[name], = struct.unpack_from("<i", data, at)
    at += 16
uint, half, full = 0, 1, 2
assert channels == {"R": half, "G": half, "B": half, "A": half, "depth.Z": full, "normal.X": full, "normal.Y": full,
                    "normal.Z": full, "thickness.Y": full, "id.Y": uint, "foam.front": full, "foam.behind": full,
                    "smoke.R": full, "smoke.G": full, "smoke.B": full, "smoke.transmittance": full}, channels
assert struct.unpack_from("<4i", data, attributes["dataWindow"][1]) == (0, 0, 159, 89)
kind, at, size = attributes["frame"]
assert kind == "string" and data[at:at + size] == b"2"
PYTHON
draw 0 --frames 2 --out layers.exr
cmp layers.exr layers/frame_000002.exr || fail "layers.exr"

draw 0 --frames :4 --out with_still --still still.png
says "Still: still.png, frame 2"
cmp still.png with_still/frame_000002.png || fail "the still"
draw 2 --frames :4 --still still.mp4
warns "--still: found 'still.mp4'"

# ---- Films
draw 0 --frames :6 --out film.mp4
says "Film: film.mp4"
film film.mp4 7 60/1
draw 0 --frames :6 --out again.mp4
cmp film.mp4 again.mp4 || fail "the same film twice"
draw 0 --frames :6 --every 2 --out film.webm
film film.webm 4 30/1

# ---- Saved states: in parts as in one, and nothing is simulated
expect 0 simulate "$scene" --backend cpu --frames 6 --save-state 'states/{frame}.state' --every 2 --quiet
[[ $(ls states) == "$(printf '00000%d.state\n' 0 2 4 6)" ]] || fail "states: $(ls states)"
draw 0 --from states --out whole
draw 0 --from 'states/{frame}.state' --frames :3 --out parts
draw 0 --from states --frames 4: --out parts
[[ $(ls whole) == "$(printf 'frame_00000%d.png\n' 0 2 4 6)" && $(ls parts) == "$(ls whole)" ]] || fail "$(ls whole parts)"
same whole parts 0 2 4 6
draw 0 --from states/000004.state --out state.png
cmp state.png whole/frame_000004.png || fail "one state"
draw 0 --from states --out states.mp4
film states.mp4 4 30/1
rm whole/frame_000002.png
draw 0 --from states --out whole --continue
says "Done: 1 of 1 frames"
same whole parts 2
draw 1 --from states --frames 3 --out nothing
warns "found no saved state of frame 3"
draw 1 --from all --out nothing
warns "found no saved state"
draw 1 --from states/000002.state --set solver.iterations=7 --out nothing
warns "another scene"
cp states/000002.state states/copy_000005.state
draw 1 --from states --out mixed
warns "copy_000005.state: holds frame 2, not frame 5 as its name says"
mv states/copy_000005.state states/copy_000004.state
draw 1 --from states --out nothing
warns "two states of frame 4"
absent nothing

# ---- Standard output, and a driver whose cache folder cannot be used
"$mote" render "$scene" --size 64x36 --frames :2 --out piped --still - >still.png 2>stderr || fail "a still on standard output"
[[ $(head -c 4 still.png | tail -c 3) == PNG ]] || fail "the still is no PNG: $(file still.png)"
cmp still.png piped/frame_000001.png || fail "the still on standard output"
warns "Still: /dev/stdout, frame 1"
XDG_CACHE_HOME=/dev/null/nothing expect 0 render "$scene" --size 64x36 --frames 0 --out quiet.png --quiet
silent

# ---- Files that cannot be written
echo file >plain_file
draw 1 --frames 0 --out plain_file/folder
warns "plain_file"
mkdir -p blocked/frame_000002.png
draw 1 --frames :3 --out blocked
warns "blocked/frame_000002.png"
[[ -s blocked/frame_000001.png && ! -e blocked/frame_000003.png ]] || fail "frames 0 and 1 should be there"
# A full disk, where a namespace of our own can have one.
if unshare -rm true 2>/dev/null; then
    mkdir full
    status=0
    # shellcheck disable=SC2016 # the inner shell's arguments
    unshare -rm sh -c 'mount -t tmpfs -o size=40k none full && "$@"; status=$?; ls full/frames; exit $status' sh \
        "$mote" render "$scene" --size 160x90 --frames :20 --out full/frames --quiet >stdout 2>stderr || status=$?
    ((status == 1)) || fail "a full disk: status $status"
    warns "No space left on device"
    ! grep -q partial stdout || fail "a full disk: a part of a file was left"
    status=0
    # shellcheck disable=SC2016
    unshare -rm sh -c 'mount -t tmpfs -o size=8k none full && echo precious >full/film.mp4 && "$@"; status=$?; ls full
        cat full/film.mp4; exit $status' sh \
        "$mote" render "$scene" --size 640x360 --frames :12 --out full/film.mp4 --quiet >stdout 2>stderr || status=$?
    ((status == 1)) || fail "a film on a full disk: status $status"
    warns "No space left on device"
    [[ $(cat stdout) == "film.mp4
precious" ]] || fail "a film on a full disk left $(cat stdout)"
    for out in frames film.mp4; do
        status=0
        # shellcheck disable=SC2016
        unshare -rm sh -c 'mount -t tmpfs -o ro none full && "$@"' sh \
            "$mote" render "$scene" --size 160x90 --frames :1 --out "full/$out" --quiet >stdout 2>stderr || status=$?
        ((status == 1)) || fail "$out in a folder that cannot be written: status $status"
        warns "full/$out"
        warns "Read-only file system"
    done
fi

# ---- Interrupted (Python starts it, because a shell's background jobs ignore SIGINT)
cat >interrupt.py <<'PYTHON'
import glob, os, signal, subprocess, sys, time
from timed_end import end_by, with_signals
pattern, wait = sys.argv[1], float(sys.argv[2])
process = subprocess.Popen(sys.argv[3:], stdout=open("stdout", "w"), stderr=open("stderr", "w"),
                           preexec_fn=with_signals)
deadline = time.time() + 120
while not glob.glob(pattern) and process.poll() is None and time.time() < deadline:
    time.sleep(0.02)
time.sleep(wait)
end_by(process, signal.SIGINT)
assert process.returncode == 130, process.returncode
PYTHON
command=("$mote" render "$scene" --backend cpu --size 160x90 --frames ":100000")
python3 interrupt.py 'stopped/frame_000003.png' 0.1 "${command[@]}" --out stopped --summary stopped.json ||
    fail "the interruption of pictures"
says "Interrupted: "
has stopped.json 's["interrupted"] is True and s["drawn"] >= 4'
has stopped.json "s['drawn'] == $(find stopped -name '*.png' | wc -l)"
same all stopped 0 1 2 3
for wait in 2 6 18; do # until a frame was drawn; without one there is no film
    python3 interrupt.py 'stopped.mp4.*' "$wait" "${command[@]}" --out stopped.mp4 || fail "the interruption of a film"
    [[ ! -e stopped.mp4 ]] || break
done
ffprobe -v error -show_entries stream=width,height -of csv=p=0 stopped.mp4 >stdout || fail "the film cannot be played"
says "160,90"

# ---- How particles reach the renderer, and how long a picture takes
expect 0 info --interop --backend cpu
grep -q 'path     \(host import\|staging: .\)' stdout || fail "the path"
! grep -q 'path     host import' stdout || says "copied   0 bytes a frame"
says "order    "
expect 0 info --interop --backend vulkan
says "path     same device"
says "copied   0 bytes a frame"
expect 0 info --interop --backend cpu --no-share
says "path     staging: copies were asked for"
! grep -q 'copied   0 bytes' stdout || fail "copies of nothing"
expect 0 bench "$scene" --backend cpu --no-peaks --warm-up 0 --steps 8 --json --render --size 160x90 --at-frame 5
cp stdout bench.json
has bench.json 's["scenes"][0]["render"]["frame_ms"] > 0 and s["scenes"][0]["render"]["size"] == "160x90"'
has bench.json 'all(ms >= 0 for ms in s["scenes"][0]["render"]["passes"].values())'
has bench.json '0 < sum(s["scenes"][0]["render"]["passes"].values()) and s["scenes"][0]["render"]["frame"] == 5'
has bench.json 's["scenes"][0]["render"]["device"] != "" and s["scenes"][0]["render"]["particles"] == 2000'
expect 0 bench "$scene" --backend cpu --no-peaks --warm-up 0 --steps 4 --render --size 160x90 --at-frame 1 --draws 1
says "ms a picture: median"
says "splat"

# ---- Validation, where its layers are installed
# (They keep memory until the process ends, which a sanitizer would count as Mote's.)
status=0
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 "$mote" render "$scene" --backend cpu --size 160x90 \
    --frames 0:2 --out checked --validate >stdout 2>stderr || status=$?
if ((status == 0)); then
    same all checked 0 1 2
else
    warns "install vulkan-validationlayers"
fi

[[ -z $(find . -name '*.partial') ]] || fail "temporary files were left: $(find . -name '*.partial')"
echo "$checks runs of mote as expected"
