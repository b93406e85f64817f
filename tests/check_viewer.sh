#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The viewer in a real window, on an X server without a screen (Xvfb) and the software driver: a session of keys and
# mouse, of which each effect is looked up in the viewer's own state and in its pictures. Vulkan's validation layers are
# on throughout. Screenshots stay in BINARY_DIR/viewer. check_viewer.sh SOURCE_DIR BINARY_DIR
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/command_fixture.sh"
artefacts=$(cd "$2" 2>/dev/null || cd "$OLDPWD/$2" && pwd)/viewer

skip() {
    echo "check_viewer: skipped, $*"
    exit 77
}
[[ $("$mote" help) == *" view "* ]] || fail "mote help does not know view"
if env -u DISPLAY -u WAYLAND_DISPLAY "$mote" view 2>&1 | grep -q 'built without the viewer'; then
    skip "built without the viewer"
fi
for program in Xvfb xdotool import identify ffprobe; do
    command -v $program >/dev/null || skip "$program is not installed"
done

# ---- Without a display, without a device ----
export -n DISPLAY WAYLAND_DISPLAY
unset DISPLAY WAYLAND_DISPLAY
expect 1 view "$source_folder/scenes/small/dam_break.json" --settings none
warns "mote render"
expect 2 view --scale 7
warns "0.1 to 2"
expect 0 view --keys
while IFS= read -r line; do
    grep -qxF -- "$line" "$source_folder/docs/viewer.md" || fail "docs/viewer.md lacks: $line"
done <"$work/stdout"

# start_display OPTIONS...: an X server, which says on descriptor 3 which display it has found free.
server=
trap '[[ -z $server ]] || kill $server 2>/dev/null; rm -rf "$work"' EXIT
start_display() {
    [[ -z $server ]] || kill $server
    rm -f "$work/display"
    Xvfb -displayfd 3 "$@" -nolisten tcp 3>"$work/display" 2>/dev/null &
    server=$!
    for _ in {1..100}; do
        [[ -s $work/display ]] && break
        sleep 0.1
    done
    [[ -s $work/display ]] || skip "Xvfb does not start"
    DISPLAY=:$(<"$work/display")
    export DISPLAY
}
start_display -screen 0 1200x800x24
VK_DRIVER_FILES=/none VK_ICD_FILENAMES=/none expect 1 view "$source_folder/scenes/small/dam_break.json" --settings none
warns "mesa-vulkan-drivers"

# is STATE EXPRESSION: a Python expression about that state `s` and the ones before it, by their names.
is() {
    python3 - "$work" "$1" "$2" <<'EOF' || fail "state $1"
import glob, json, math, os, sys
folder, name, expression = sys.argv[1:]
states = {os.path.basename(f)[:-5]: json.load(open(f)) for f in glob.glob(folder + "/*.json") if not f.endswith("/scene.json")}
s = states[name]
def distance(a, b): return math.dist(a, b)
if not eval(expression, {**globals(), **states}):
    sys.exit("not so in state %s: %s\n%s" % (name, expression, json.dumps(s, indent=1)))
EOF
    checks=$((checks + 1))
}
# report STATE: how soon the window answered until then.
report() {
    python3 - "$work/$1.json" "$late" <<'EOF'
import json, sys
s = json.load(open(sys.argv[1]))
print("check_viewer: %s: the first picture after %.2f s; of %d answers to events half came within %.0f ms, 95 %% within "
      "%.0f ms, the last within %.0f ms; the machine was wanted %s times"
      % (s["scene"], s["first_picture_seconds"], s["answers"], 1e3 * s["median_answer_seconds"],
         1e3 * s["most_answer_seconds"], 1e3 * s["worst_answer_seconds"], sys.argv[2]))
EOF
}
screenshot() {
    mkdir -p "$artefacts"
    import -window root "$artefacts/$1.png"
}
# play NAME OPTIONS...: runs the script on stdin to its end, with the settings file $settings.
settings=none
play() {
    local name=$1 status=0
    shift
    cat >"$work/$name.script"
    "$mote" view "$@" --settings "$settings" --script "$work/$name.script" --validate --out "$work/results" \
        >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
    ((status == 0)) || fail "mote view $*: exit status $status"
    [[ ! -s $work/stderr ]] || fail "mote view $*: expected no messages"
}

# ---- Time and camera ----
scene=$work/scene.json
sed 's|"../schema.json"|"schema.json"|' "$source_folder/scenes/small/buoyancy.json" >"$scene"
{
    for corner in {0..7}; do
        echo "v $((corner & 1)) $((corner >> 1 & 1)) $((corner >> 2))"
    done
    printf 'f %s\n' "1 3 4 2" "5 6 8 7" "1 2 6 5" "3 7 8 4" "1 5 7 3" "2 4 8 6"
} >"$work/cube.obj"
play session "$scene" --scenes "$source_folder/scenes/small" --size 1000x640 --scale 0.25 <<EOF
wait loaded
wait frame 5
key Space
wait settled
state $work/paused.json
wait seconds 0.5
state $work/still.json
key .
wait settled
state $work/stepped.json
key R
wait loaded
wait settled
state $work/reset.json
drag left 300 300 460 300 8
wait settled
state $work/turned.json
wheel 2
wait settled
state $work/nearer.json
key Home
wait settled
state $work/home.json
key V
wait settled
state $work/next_view.json
key B
wait settled
# The panel: find the exposure, pull its slider to the right, go back to the default, pull again, and save the scene.
click 650 206
wait shown 3
text exposure
wait shown 3
state $work/before_slider.json
drag left 867 271 885 271 6
wait settled
state $work/slider.json
click 958 271
wait shown 3
wait settled
state $work/undone.json
drag left 867 271 885 271 6
wait settled
click 946 183
wait shown 3
wait file $work/scene_changed.json
# Out of the text field, then the cork ball by its middle, under water.
click 100 600
key Home
key Space
wait frame 40
press left 295 240 shift
move 330 480 20
wait steps 25
state $work/held.json
lift
wait steps 12
state $work/let_go.json
drag left 400 300 430 260 3 ctrl
wait steps 12
state $work/thrown.json
key P
wait steps 12
state $work/poured.json
key K
key X
wait steps 12
state $work/flipped.json
key Space
wait settled
key C
key F5
wait file $work/results/small_buoyancy_0001.png
state $work/captured.json
key M
key Space
wait steps 3
key M
wait file $work/results/small_buoyancy_0002.mp4
wait seconds 0.2
state $work/filmed.json
# A mesh becomes a body.
drop $work/cube.obj
wait shown 5
click 386 347
wait shown 3
wait loaded
state $work/with_mesh.json
key L
wait shown 3
click 130 280
wait shown 3
wait loaded
state $work/chosen.json
key PageDown
wait loaded
state $work/next_scene.json
key PageUp
wait loaded
state $work/previous_scene.json
drop $source_folder/scenes/small/dam_break.json
wait loaded
state $work/dropped_scene.json
drop $work/cube.obj
wait shown 5
click 535 347
wait shown 3
wait loaded
state $work/with_collider.json
quit
EOF
# Times hold on a machine that has nothing else to do; where others want its cores too, as much longer as they are late.
late=$(python3 -c 'import os; print(max(1.0, os.getloadavg()[0] / os.cpu_count()))')
is paused 's["paused"] and s["pictures"] > 0 and s["particles"] > 1000'
is paused "s['first_picture_seconds'] < 5 * $late"
is next_scene "s['median_answer_seconds'] < 0.05 * $late"
report next_scene
is still 's["frame"] == paused["frame"] and s["picture_hash"] == paused["picture_hash"]'
is stepped 's["frame"] == still["frame"] + 1 and s["paused"] and s["picture_hash"] != still["picture_hash"]'
is reset 's["frame"] == 0 and s["model"] == stepped["model"] + 1'
# Half a turn is the window's height: 160 of 640 pixels are 45 degrees, at the same distance and height.
is turned 'abs(distance(s["camera_position"], s["camera_target"]) - distance(reset["camera_position"], reset["camera_target"])) < 1e-3'
is turned 'abs(abs(math.degrees(math.atan2(s["camera_position"][0], s["camera_position"][2]) - math.atan2(reset["camera_position"][0], reset["camera_position"][2]))) - 45) < 1 and s["own_camera"]'
is turned 's["picture_hash"] != reset["picture_hash"]'
is nearer 'abs(distance(s["camera_position"], s["camera_target"]) / distance(turned["camera_position"], turned["camera_target"]) - 0.81) < 1e-3'
is home 'not s["own_camera"] and s["picture_hash"] == reset["picture_hash"]'
is next_view 's["view"] == "particles" and s["picture_hash"] != home["picture_hash"]'
is slider 's["changes"] == 1 and sum(s["picture_mean"]) > 1.05 * sum(before_slider["picture_mean"])'
is undone 's["picture_hash"] == before_slider["picture_hash"]'
has "$work/scene_changed.json" 's["picture"]["exposure"] > 0.1'
expect 0 validate "$work/scene_changed.json"
is flipped 'distance(json.loads("{" + s["clipboard"] + "}")["camera"]["target"], s["camera_target"]) < 1e-3'
is held 's["grabbed"] > 50 and s["held"][1] < 0.45'
is let_go 's["grabbed"] == 0'
is thrown 's["bodies"] == let_go["bodies"] + 1 and s["particles"] > let_go["particles"] + 100'
is poured 's["particles"] > thrown["particles"] + 100'
is flipped 's["changes"] == 2 and not s["help"] and s["error"] == ""'
is filmed 'not s["recording"] and s["recorded"] > 0'
is with_mesh 's["bodies"] == reset["bodies"] + 1 and s["error"] == ""'
is chosen 's["scene"] != flipped["scene"] and s["model"] == with_mesh["model"] + 1 and not s["browser"]'
is next_scene 's["scene"] != chosen["scene"] and s["error"] == ""'
is previous_scene 's["scene"] == chosen["scene"]'
is dropped_scene 's["path"].endswith("/small/dam_break.json") and s["error"] == "" and s["bodies"] == 0'
is with_collider 's["colliders"] == dropped_scene["colliders"] + 1 and s["bodies"] == 0 and s["error"] == ""'
is with_collider 's["validation_messages"] == 0 and s["worst_lag_pictures"] <= 2'
[[ $(identify -format '%wx%h' "$work/results/small_buoyancy_0001.png") == 1000x640 ]] || fail "the size of the picture"
frames=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 "$work/results/small_buoyancy_0002.mp4")
is filmed "s['recorded'] == $frames"
[[ -s $work/results/small_buoyancy.state ]] || fail "no state was saved"

# ---- Other keys, bookmarks, flying, a game controller, states, forces, a lost surface ----
settings=$work/viewer.json
echo '{"keys": {"pause": "J"}}' >"$settings"
# Views are a ring, which ends with the kinds of forces: how far force_bodies is from its beginning.
forces=$(sed -n '/^FORCE(BODIES,/,$p' "$source_folder/src/kernels/constraints.def" | grep -c '^FORCE(')
# repeat TIMES LINE...
repeat() {
    for ((round = 0; round < $1; round++)); do
        printf '%s\n' "${@:2}"
    done
}
play keys "$scene" --size 400x250 --scale 0.25 --no-panel --paused <<EOF
wait loaded
key Space
wait settled
state $work/no_key.json
key J
wait steps 1
state $work/other_key.json
key J
key R
wait loaded
wait settled
key 1 ctrl
drag left 200 180 240 200 4
wait settled
state $work/away.json
key 1
wait settled
state $work/bookmarked.json
hold W
wait seconds 0.3
release W
wait settled
state $work/flown.json
hold E
wait seconds 0.3
release E
wait settled
state $work/risen.json
pad leftx 1
wait seconds 0.3
pad leftx 0
wait settled
state $work/steered.json
key F
wait settled
state $work/framed.json
key Home
wait settled
key F5
wait settled
state $work/saved.json
key .
wait settled
key .
wait settled
state $work/later.json
key F9
wait settled
state $work/loaded.json
click 117 70 alt
wait settled
key .
wait settled
wait seconds 0.2
state $work/followed.json
$(repeat "$forces" 'key B' 'wait settled')
state $work/forces.json
$(repeat "$forces" 'key V')
key Escape
wait seconds 0.3
key .
wait settled
state $work/calm.json
key G
wait seconds 0.3
key .
wait settled
state $work/blown.json
key X
pad a
wait steps 25
pad a
wait seconds 0.3
key .
wait settled
state $work/fallen_up.json
key Y
wait file $work/results/small_buoyancy_0001.exr
lose
wait shown 3
key V
wait settled
state $work/found_again.json
quit
EOF
is no_key 's["paused"] and s["frame"] == 0'
is other_key 'not s["paused"] and s["frame"] > 0'
is away 'distance(s["camera_position"], no_key["camera_position"]) > 0.3'
is bookmarked 'distance(s["camera_position"], no_key["camera_position"]) < 1e-4 and s["own_camera"]'
# Forward is towards the target, of which it flies 0.8 of the distance in a second; up is y; right is across.
is flown 'abs(sum((a - b) * (c - b) for a, b, c in zip(s["camera_position"], bookmarked["camera_position"], bookmarked["camera_target"])) / distance(bookmarked["camera_position"], bookmarked["camera_target"]) / distance(s["camera_position"], bookmarked["camera_position"]) - 1) < 1e-3'
is risen 's["camera_position"][1] > flown["camera_position"][1] + 0.1 and s["camera_position"][0] == flown["camera_position"][0]'
is steered 's["camera_position"][0] > risen["camera_position"][0] + 0.1 and s["camera_position"][1] == risen["camera_position"][1]'
# All particles: from where the camera was, towards their middle.
is framed 's["own_camera"] and max(abs(s["camera_target"][0]), abs(s["camera_target"][2])) < 0.15 and s["picture_hash"] != steered["picture_hash"]'
is later 's["frame"] == saved["frame"] + 2 and s["picture_hash"] != saved["picture_hash"]'
is loaded 's["frame"] == saved["frame"] and s["error"] == ""'
is followed 's["marks"] > 5 and "of a body" in s["inspected"] and "force_bodies" in s["inspected"] and "neighbours" in s["inspected"]'
is forces 's["view"] == "channel:force_bodies" and s["picture_hash"] != followed["picture_hash"]'
# Two frames after the state was loaded everything is as it was two frames after it was saved.
is calm 's["view"] == "liquid" and s["marks"] == 0 and s["frame"] == later["frame"] and s["picture_hash"] == later["picture_hash"]'
is blown 's["kinetic_energy"] > 2 * calm["kinetic_energy"]'
is fallen_up 's["centre_of_mass"][1] > blown["centre_of_mass"][1] + 0.1'
is found_again 's["surfaces"] == 2 and s["error"] == "" and s["view"] == "particles" and s["picture_hash"] != fallen_up["picture_hash"]'
is found_again 's["validation_messages"] == 0'
python3 - "$work/results/small_buoyancy_0001.exr" <<'EOF' || fail "the OpenEXR picture"
import sys
data = open(sys.argv[1], "rb").read()
head = data[:4096]
assert data[:4] == b"\x76\x2f\x31\x01", "not OpenEXR"
for name in (b"R", b"G", b"B", b"depth.Z", b"normal.X", b"thickness.Y", b"id.Y"):
    assert name + b"\0" in head, "no channel %s" % name
EOF
has "$settings" 's["recent"][0].endswith("/scene.json") and len(s["recent"]) == 1'
has "$settings" 's["keys"]["pause"] == "J" and s["bookmarks"][0]["field_of_view"] == 36 and s["bookmarks"][1] is None'

# ---- A collider with a mass, held and lifted; the bookmark of before ----
cat >"$work/held_box.json.scene" <<EOF
{
  "name": "held_box",
  "solver": { "spacing": 0.1 },
  "fluids": [{ "shape": "block", "position": [-2, 0.2, 0], "size": [0.4, 0.4, 0.4] }],
  "colliders": [
    { "shape": "plane" },
    { "shape": "box", "density": 500, "position": [0, 0.25, 0], "size": [0.5, 0.5, 0.5] }
  ],
  "camera": { "position": [0, 0.25, 4], "target": [0, 0.25, 0], "field_of_view": 36 }
}
EOF
mv "$work/held_box.json.scene" "$work/scene.json"
play held "$scene" --size 400x250 --scale 0.25 --no-panel <<EOF
wait loaded
wait frame 2
press left 200 125 shift
move 200 50 10
wait steps 40
state $work/lifted.json
lift
wait steps 12
state $work/dropped.json
key 1
wait pictures 2
state $work/remembered.json
# The one recently used scene.
key L
wait shown 3
click 100 170
wait shown 3
wait loaded
state $work/reopened.json
quit
EOF
# 75 of 250 pixels up, at 3.75 m, of a picture 2 tan(18) z high: 0.73 m above 0.25 m.
is lifted 's["held_collider"] and s["grabbed"] == 0 and abs(s["held"][1] - 0.98) < 0.1'
is dropped 'not s["held_collider"] and s["error"] == ""'
is remembered 'distance(s["camera_position"], no_key["camera_position"]) < 1e-4'
is reopened 's["recent"] == 1 and s["model"] == remembered["model"] + 1 and not s["browser"] and not s["own_camera"]'
settings=none
sed 's|"../schema.json"|"schema.json"|' "$source_folder/scenes/small/buoyancy.json" >"$scene"

# ---- Without a scene it opens with those to choose from, by name ----
first_scene=$(printf '%s\n' "$source_folder"/scenes/small/*.json | LC_ALL=C sort | sed -n '1s|.*/||p')
play opening --scenes "$source_folder/scenes/small" --size 400x250 --scale 0.25 --no-panel <<EOF
wait shown 5
state $work/opening.json
click 100 150
wait shown 3
wait loaded
state $work/opened.json
quit
EOF
is opening 's["browser"] and s["scenes"] > 20 and s["model"] == 0 and s["path"] == ""'
is opened 's["model"] == 1 and not s["browser"] and s["path"].endswith("/small/'"$first_scene"'") and s["error"] == ""'

# ---- A value that is words: a picture of the sky that is not there, and back ----
play words "$scene" --size 1000x640 --scale 0.1 --paused <<EOF
wait loaded
wait settled
click 650 206
wait shown 3
text image
wait shown 3
click 860 271
wait shown 3
text no_sky.hdr
wait shown 3
key Return
wait shown 3
wait settled
state $work/words.json
click 100 600
key R
wait loaded
state $work/no_sky.json
click 958 271
wait shown 3
wait settled
key R
wait loaded
wait settled
state $work/sky_again.json
quit
EOF
is words 's["changes"] == 1 and s["error"] == ""'
is no_sky '"no_sky.hdr" in s["error"] and s["model"] == words["model"]'
is sky_again 's["error"] == "" and s["model"] == words["model"] + 1 and s["picture_hash"] == words["picture_hash"]'

# ---- What hands do, for solvers whose memory is not the processor's: on Vulkan, and on the emulated CUDA ----
cpu_mote=$mote
for backend in vulkan cuda; do
    [[ $backend == vulkan ]] || mote=$(dirname "$cpu_mote")/../tests/mote_with_cuda
    play "$backend" "$scene" --backend $backend --size 400x250 --scale 0.25 --no-panel <<EOF
wait loaded
wait frame 2
state $work/begun_$backend.json
press left 117 70 shift
move 130 190 10
wait steps 12
state $work/held_$backend.json
lift
drag left 160 120 172 104 3 ctrl
wait steps 3
state $work/thrown_$backend.json
key P
key Space
wait settled
state $work/poured_$backend.json
key F5
wait settled
key G
key .
wait settled
wait seconds 0.3
key .
wait settled
wait seconds 0.3
wait settled
state $work/blown_$backend.json
key F9
wait settled
state $work/loaded_$backend.json
click 200 150 alt
wait settled
key .
wait settled
wait seconds 0.3
state $work/followed_$backend.json
key X
key R
wait loaded
wait settled
state $work/reset_$backend.json
quit
EOF
    is begun_$backend "s['backend'] == '$backend'"
    is held_$backend 's["grabbed"] > 50'
    is thrown_$backend "s['bodies'] == begun_$backend['bodies'] + 1 and s['grabbed'] == 0"
    is poured_$backend "s['particles'] > thrown_$backend['particles'] + 100 and s['paused']"
    # Blowing makes some 1,700 J of whatever there is; what was thrown before may have up to half of that.
    is blown_$backend "s['frame'] == poured_$backend['frame'] + 2"
    is blown_$backend "s['kinetic_energy'] > poured_$backend['kinetic_energy'] + 400"
    is loaded_$backend "s['frame'] == poured_$backend['frame'] and s['particles'] == poured_$backend['particles'] and s['error'] == ''"
    is followed_$backend 's["marks"] > 5 and "force_density" in s["inspected"] and "neighbours" in s["inspected"]'
    is reset_$backend "s['frame'] == 0 and s['particles'] == begun_$backend['particles'] and s['changes'] == 1 and s['error'] == ''"
    is reset_$backend 's["validation_messages"] == 0'
done
mote=$cpu_mote

# ---- A hundred thousand particles: the first picture, and answers while they are simulated and drawn ----
play large "$source_folder/scenes/dam_break.json" --size 1000x640 <<EOF
wait loaded
wait pictures 1
drag left 300 300 460 380 40
drag left 460 380 300 300 40
state $work/large.json
quit
EOF
late=$(python3 -c 'import os; print(max(1.0, os.getloadavg()[0] / os.cpu_count()))')
is large "s['particles'] == 100000 and s['first_picture_seconds'] < 5 * $late"
is large "s['median_answer_seconds'] < 0.05 * $late and s['worst_lag_pictures'] <= 2"
report large

# ---- Ctrl-C while it starts; a film that is ended by closing the window and by Ctrl-C, at several moments ----
cat >"$work/film.py" <<'EOF'
import glob, json, os, signal, subprocess, sys, time
mote, scene, work = sys.argv[1:]
def interruptible(): # which shells keep from jobs
    signal.signal(signal.SIGINT, signal.SIG_DFL)
# While it starts, loads and draws for the first time. Before it listens, the signal itself ends it.
for i, delay in enumerate([0.02, 0.2, 0.5, 1.0]):
    folder = "%s/early_%d" % (work, i)
    viewer = subprocess.Popen([mote, "view", scene, "--settings", folder + ".settings", "--size", "320x200", "--out", folder],
                              stderr=subprocess.PIPE, start_new_session=True, preexec_fn=interruptible)
    time.sleep(delay)
    viewer.send_signal(signal.SIGINT)
    message = viewer.communicate(timeout=120)[1].decode()
    assert viewer.returncode in (130, -signal.SIGINT) and not message, "after %g s: status %d, %s" % (delay, viewer.returncode, message)
    assert not os.path.exists(folder), "files after %g s" % delay
    if os.path.exists(folder + ".settings"):
        json.load(open(folder + ".settings"))
for i, (steps, delay, way) in enumerate([(0, 0.0, "INT"), (2, 0.1, "INT"), (0, 0.0, "close"), (3, 0.0, "close")]):
    folder, begun = "%s/film_%d" % (work, i), "%s/film_%d.begun" % (work, i)
    lines = ["wait loaded", "wait frame 1", "key M"] + (["wait steps %d" % steps] if steps else [])
    lines += ["state " + begun] + (["quit"] if way == "close" else ["wait seconds 60"])
    open(work + "/film.script", "w").write("\n".join(lines) + "\n")
    viewer = subprocess.Popen([mote, "view", scene, "--settings", "none", "--size", "320x200", "--no-panel", "--script",
                               work + "/film.script", "--out", folder], stderr=subprocess.PIPE, start_new_session=True,
                              preexec_fn=interruptible)
    if way == "INT":
        while not os.path.exists(begun) and viewer.poll() is None:
            time.sleep(0.01)
        time.sleep(delay)
        viewer.send_signal(signal.SIGINT)
    message = viewer.communicate(timeout=120)[1].decode()
    wanted = 130 if way == "INT" else 0
    assert viewer.returncode == wanted and not message, "%s after %d: status %d, %s" % (way, steps, viewer.returncode, message)
    files = glob.glob(folder + "/*") + glob.glob(folder + "/.*")
    assert len(files) <= 1 and all(f.endswith(".mp4") for f in files), files
    assert files or steps == 0, "no film after %d frames" % steps
    for f in files:
        frames = int(subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames",
                                     "-of", "csv=p=0", f], capture_output=True, check=True, text=True).stdout)
        recorded = json.load(open(begun))["recorded"]
        assert frames >= max(recorded, 1), "%d frames, of %d that were recorded" % (frames, recorded)
EOF
python3 "$work/film.py" "$mote" "$source_folder/scenes/small/dam_break.json" "$work" || fail "an end at a bad moment"
checks=$((checks + 8))

# ---- Sizes, a file that changes, real events of the X server ----
{
    echo "wait loaded"
    for i in {1..50}; do
        echo "resize $((300 + 37 * i % 500)) $((200 + 53 * i % 400))"
        echo "wait shown 1"
    done
    cat <<EOF
resize 640 400
wait seconds 1
state $work/resized.json
wait reload 1
wait loaded
state $work/broken.json
wait reload 2
wait loaded
state $work/hostile.json
wait reload 3
wait loaded
state $work/mended.json
wait file $work/shader_broken
wait shaders 1
state $work/bad_shader.json
wait file $work/shader_mended
wait shaders 2
wait pictures 1
state $work/new_shader.json
wait file $work/events
wait seconds 0.5
state $work/by_x.json
wait file $work/hidden
wait seconds 0.3
state $work/hidden.json
wait file $work/shown
wait seconds 0.3
key V
wait settled
state $work/shown_again.json
key F11
wait seconds 1
state $work/full_screen.json
wait seconds 30
EOF
} >"$work/resizing.script"
mkdir -p "$work/src"
cp -r "$source_folder/shaders" "$work/shaders"
ln -s "$source_folder/src/render" "$work/src/render"
"$mote" view "$scene" --settings none --size 640x400 --scale 0.25 --shaders "$work/shaders" --script "$work/resizing.script" --validate --paused \
    --no-panel --out "$work/results" >"$work/stdout" 2>"$work/stderr" &
viewer=$!
await() {
    for _ in {1..600}; do
        [[ -e $1 ]] && return
        kill -0 $viewer 2>/dev/null || fail "the viewer ended before $1 was there"
        sleep 0.1
    done
    fail "no $1"
}
await "$work/resized.json"
cp "$scene" "$work/good_scene"
sed 's|"iterations": 4|"iterations": "many"|' "$work/good_scene" >"$work/new" && mv "$work/new" "$scene"
await "$work/broken.json"
sleep 0.5
screenshot broken_scene
# A mesh that crashes its importer is one more error.
printf 'OFF\n1 1 ' >"$work/hostile.off"
sed 's|"mesh": "[^"]*"|"mesh": "hostile.off"|' "$work/good_scene" >"$work/new" && mv "$work/new" "$scene"
await "$work/hostile.json"
sed 's|"iterations": 4|"iterations": 5|' "$work/good_scene" >"$work/new" && mv "$work/new" "$scene"
await "$work/mended.json"
# A shader with an error keeps the one before; without, the picture is another.
tonemap=$work/shaders/render/tonemap.comp
cp "$tonemap" "$work/good_shader"
sed 's|^void main()|void main() { nonsense; }\nvoid other()|' "$work/good_shader" >"$tonemap"
touch "$work/shader_broken"
await "$work/bad_shader.json"
screenshot broken_shader
sed 's|frame\.exposure|(4.0 * frame.exposure)|' "$work/good_shader" >"$tonemap"
touch "$work/shader_mended"
await "$work/new_shader.json"
window=$(xdotool search --name Mote | tail -n 1)
xdotool mousemove --window "$window" 300 200 key --window "$window" v
xdotool mousedown 1 mousemove_relative 40 0 sleep 0.1 mousemove_relative 40 0 sleep 0.1 mouseup 1
touch "$work/events"
await "$work/by_x.json"
screenshot window
xdotool windowunmap "$window"
touch "$work/hidden"
await "$work/hidden.json"
xdotool windowmap "$window"
touch "$work/shown"
await "$work/shown_again.json"
await "$work/full_screen.json"
kill -TERM $viewer # as Ctrl-C, which shells keep from background jobs
status=0
wait $viewer || status=$?
((status == 143)) || fail "after a polite kill: exit status $status, expected 143"
[[ ! -s $work/stderr ]] || fail "expected no messages"
is resized 's["swapchains"] > 25 and s["width"] == 640 and s["height"] == 400 and s["error"] == ""'
is broken '"scene.json:5:" in s["error"] and "iterations" in s["error"] and s["model"] == resized["model"]'
is hostile '"hostile.off" in s["error"] and "importer crashed" in s["error"] and s["model"] == resized["model"]'
is mended 's["error"] == "" and s["model"] == broken["model"] + 1'
is bad_shader '"tonemap.comp:" in s["error"] and "nonsense" in s["error"] and s["picture_hash"] == mended["picture_hash"]'
is new_shader 's["error"] == "" and sum(s["picture_mean"]) > 1.1 * sum(bad_shader["picture_mean"])'
is shown_again 's["view"] == "density" and s["picture_hash"] != by_x["picture_hash"] and s["error"] == ""'
is full_screen 's["width"] == 1200 and s["height"] == 800'
is by_x 's["own_camera"] and s["view"] == "particles" and s["validation_messages"] == 0'

# ---- A panel twice as large, as on displays of high density ----
settings=$work/dense_viewer.json
echo '{"ui_scale": 2}' >"$settings"
play dense "$scene" --size 1200x800 --scale 0.25 --paused <<EOF
wait loaded
wait settled
# Find the exposure, where it is in a panel of that size, and pull its slider.
click 700 404
wait shown 3
text exposure
wait shown 3
state $work/dense.json
drag left 958 534 996 534 6
wait settled
state $work/dense_slider.json
quit
EOF
is dense 's["ui_scale"] == 2 and s["error"] == ""'
is dense_slider 's["changes"] == 1 and sum(s["picture_mean"]) > 1.05 * sum(dense["picture_mean"])'
settings=none

# ---- Memory: all views share what the first one took ----
{
    echo "wait loaded"
    for view in {1..19}; do
        printf 'key V\nwait settled\n'
        ((view != 1)) || echo "state $work/first_view.json"
    done
    printf 'state %s\nquit\n' "$work/last_view.json"
} >"$work/views"
# What is freed goes back to the system at once: resident is then what is in use.
MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072 \
    play views "$scene" --size 400x250 --scale 0.25 --no-panel --paused <"$work/views"
is first_view 's["view"] == "particles"'
is last_view 's["view"] == "colliders" and s["resident_bytes"] < first_view["resident_bytes"] + 10e6'

echo "$checks checks passed"
