#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs a build, moves the result, and builds and runs an outside program against it, through CMake and pkg-config.
# check_install.sh SOURCE_DIR BINARY_DIR
set -euo pipefail
source_dir=$(cd "$1" && pwd)
binary_dir=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "check_install: $*" >&2
    exit 1
}

cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$binary_dir/CMakeCache.txt"
}

if [[ $(cached MOTE_SANITIZE) == ON ]]; then
    echo "check_install: skipped, a library with sanitizers needs programs with sanitizers"
    exit 77
fi

cmake --install "$binary_dir" --prefix "$work/first" >/dev/null
# A prefix that no file was told, and that quotes and escapes must be right for.
mv "$work/first" "$work/möved and spaced"
prefix="$work/möved and spaced"
libraries=$prefix/$(cached CMAKE_INSTALL_LIBDIR)

for file in bin/mote include/mote.h include/mote_cloth.h include/mote_diffuse.h include/mote_forces.h include/mote_gas.h include/mote_interop.h include/mote_render.h share/mote/scenes share/mote/shaders share/doc/mote/LICENSE; do
    [[ -e $prefix/$file ]] || fail "$file was not installed"
done
for file in libmote.a libmote.so pkgconfig/mote.pc cmake/mote/mote-config.cmake cmake/mote/mote-config-version.cmake; do
    [[ -e $libraries/$file ]] || fail "$file was not installed"
done
[[ -n $(find "$prefix/share/mote/shaders" -name '*.spv') ]] || fail "no shader was installed"
[[ -n $(find "$prefix/share/mote/scenes" -name '*.json') ]] || fail "no scene was installed"
[[ -n $(find "$prefix/share/mote/scenes/meshes" -name "*.obj") ]] || fail "no mesh of a scene was installed"

# System libraries may be named by their full path; this build, its source and the first prefix may not. A folder counts
# where a path begins with it: it may be as short as /mote.
named() {
    local folder
    folder=$(sed 's/[][\\.^$*+?(){}|]/\\&/g' <<<"$1")
    grep -rnE "(^|[\"=;: ])$folder(/|[\"; ]|\$)" "$libraries/cmake" "$libraries/pkgconfig" "$prefix/include"
}
for folder in "$source_dir" "$binary_dir" "$work/first"; do
    ! named "$folder" || fail "the files above name folders of this machine"
done
if grep -qE '^(prefix|libdir|includedir)=/' "$libraries/pkgconfig/mote.pc"; then
    fail "mote.pc has absolute folders"
fi
for binary in "$prefix/bin/mote" "$libraries/libmote.so"; do
    if readelf -d "$binary" | grep -E 'R(UN)?PATH'; then
        fail "$binary has a search path of this machine"
    fi
done
if nm -D --defined-only "$libraries/libmote.so" | awk '$2 ~ /[TDBR]/ && $3 !~ /^(mote_|\.)/ { print; found = 1 } END { exit !found }'; then
    fail "libmote.so exports the names above, which no public header declares"
fi

version=$("$prefix/bin/mote" --version)
"$prefix/bin/mote" simulate "$prefix/share/mote/scenes/dam_break_2d.json" --frames 1 --backend cpu --quiet \
    --out "$work/ärger mit namen" || fail "the installed command does not run"
[[ -s "$work/ärger mit namen/frame_000001.ply" ]] || fail "the installed command has written nothing"
echo "Installed: $version"

echo "CMake package:"
build="$work/öut side"
cmake -S "$source_dir/tests/outside_program" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$(cached CMAKE_C_COMPILER)" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "the outside program could not be configured"; }
cmake --build "$build" >"$work/log" 2>&1 || { cat "$work/log"; fail "the outside program could not be built"; }
for program in drop_static drop_shared; do
    echo "$program: $("$build/$program")"
done
readelf -d "$build/drop_shared" | grep -q 'NEEDED.*libmote\.so' || fail "drop_shared does not use libmote.so"
if readelf -d "$build/drop_static" | grep -q 'NEEDED.*libmote'; then
    fail "drop_static uses libmote.so"
fi

# The README's example says of a scene what the command says of it.
small="$prefix/share/mote/scenes/small/dam_break.json"
"$prefix/bin/mote" simulate "$small" --frames 60 --statistics "$work/statistics.csv" --quiet
expected=$(python3 - "$work/statistics.csv" <<'PYTHON'
import csv, sys
row = list(csv.DictReader(open(sys.argv[1])))[-1]
centre = " ".join("%.4f" % float(row["centre_" + axis]) for axis in "xyz")
print("%s particles, centre of mass at %s m" % (row["particles"], centre))
PYTHON
)
found=$("$build/hello_dam" "$small") || fail "hello_dam does not run"
echo "hello_dam: $found"
[[ $found == "$expected" ]] || fail "hello_dam should say: $expected"
if "$build/hello_dam" no_such_scene.json 2>"$work/log" || ! grep -q no_such_scene.json "$work/log"; then
    fail "hello_dam should say that there is no such scene"
fi

# The other examples know their numbers: a drop on a spring of a second's period from 1 m, a box that weighs
# 125 x 0.1 kg x 9.81 m/s^2, a picture of the scene's water.
found=$("$build/custom_force") || fail "custom_force does not run"
echo "custom_force: $found"
python3 - "$found" <<'PYTHON' || fail "the drop should be at -1 m and then at 1 m"
import re, sys
half, whole = (float(place) for place in re.findall(r"at (-?[\d.]+) m", sys.argv[1]))
sys.exit(not (abs(half + 1) < 0.01 and abs(whole - 1) < 0.01))
PYTHON
found=$("$build/read_forces") || fail "read_forces does not run"
echo "read_forces: $found"
python3 - "$found" <<'PYTHON' || fail "the ground should carry the box's weight of 122.63 N"
import re, sys
force, weight = (float(number) for number in re.findall(r"(-?[\d.]+) N", sys.argv[1]))
sys.exit(not (abs(weight - 122.625) < 0.01 and abs(force - weight) < 0.01 * weight))
PYTHON
eval "$("$source_dir/tools/vulkan-driver")"
found=$("$build/render_frame" "$small" "$work/picture.png") || fail "render_frame does not run"
echo "render_frame: $found"
"$prefix/bin/mote" render "$small" --frames 30 --size 640x360 --out "$work/expected.png" --quiet
for picture in picture expected; do
    ffmpeg -v error -i "$work/$picture.png" -f rawvideo -pix_fmt rgb24 "$work/$picture.raw"
done
[[ $(stat -c %s "$work/picture.raw") == $((640 * 360 * 3)) ]] || fail "render_frame should draw 640 x 360 pixels"
cmp "$work/picture.raw" "$work/expected.raw" || fail "render_frame should draw what mote render does"

echo "pkg-config:"
export PKG_CONFIG_PATH=$libraries/pkgconfig
[[ "mote $(pkg-config --modversion mote)" == "$version" ]] || fail "mote.pc has another version than the command"
compiler=$(cached CMAKE_C_COMPILER)
# pkg-config puts a backslash before each byte that could be something else: for a shell that does not know UTF-8.
export LC_ALL=C
shared_flags=() static_flags=()
eval "shared_flags=($(pkg-config --cflags --libs mote))"
"$compiler" "$source_dir/tests/outside_program/drop.c" "${shared_flags[@]}" -lm -o "$work/drop_shared"
echo "shared: $(LD_LIBRARY_PATH=$libraries "$work/drop_shared")"
# -lmote would find libmote.so first: the archive is asked for by its file name.
eval "static_flags=($(pkg-config --static --cflags --libs mote | sed 's/-lmote\b/-l:libmote.a/'))"
if [[ " ${static_flags[*]} " == *" -lcudart_static "* ]]; then
    toolkit=$(dirname "$(dirname "$(readlink -f "$(cached CMAKE_CUDA_COMPILER)")")")
    static_flags+=("-L$toolkit/lib64")
fi
"$compiler" "$source_dir/tests/outside_program/drop.c" "${static_flags[@]}" -lm -o "$work/drop_static"
echo "static: $("$work/drop_static")"
