#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The arrows of inclusion that docs/architecture.md draws, held by looking at every #include.
# check_arrows.sh SOURCE_DIR [BINARY_DIR]
set -euo pipefail
cd "$1"

# folder: the folders whose headers it may include beside its own and mote.h
declare -A allowed=(
    [src/base]=""
    [src/kernels]=""
    [src/geometry]="base"
    [src/solver]="base kernels geometry"
    [src/cpu]="base kernels solver"
    [cuda]="base kernels solver"
    [src/vulkan]="base kernels solver render"
    [src/scene]="base solver geometry image"
    [src/image]="base"
    [src/geometry]="base"
    [src/render]="base image shaders shaders/passes"
    [src/viewer]="base scene image"
    [src/cli]="base scene image viewer"
)
# Headers of libraries that only some folders may know.
libraries=(
    '(cuda_[^e]|cuda[^_]|cub/|thrust/|nv/|driver_types|vector_types)=cuda|tests/cuda_emulation'
    '(vulkan/|volk|vk_mem_alloc)=src/(render|vulkan|viewer)|tests'
    '(SDL|imgui)=src/viewer'
    '(png|openexr)=src/image|tests'
    '(openvdb|nanovdb|tbb)/=src/geometry'
    'jansson=src/(scene|cli|geometry|viewer)|tests'
    'assimp/=src/geometry'
)
wrong=0
complain() {
    echo "check_arrows: $*" >&2
    wrong=$((wrong + 1))
}

# Prints the folder that a quoted include leads to, as the compiler would find it: beside the file, in src, in
# src/kernels, in shaders.
target_folder() {
    local file=$1 include=$2 folder
    for folder in "$(dirname "$file")" src src/kernels shaders; do
        if [[ -e $folder/$include ]]; then
            dirname "$(realpath --relative-to=. "$folder/$include")"
            return
        fi
    done
    echo unknown
}

includes=0
for folder in src/*/ cuda; do
    folder=${folder%/}
    [[ -d $folder ]] || continue
    files=$(find "$folder" -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \))
    [[ -n $files ]] || continue
    if [[ ! -v allowed[$folder] ]]; then
        complain "$folder is a new folder: say here and in docs/architecture.md what it may include"
        continue
    fi
    while IFS=: read -r file line text; do
        includes=$((includes + 1))
        include=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$text")
        target=$(target_folder "$file" "$include")
        case $target in
        "$folder" | "$folder"/* | src) ;; # its own, or mote.h and mote_render.h
        unknown) complain "$file:$line: no file for \"$include\"" ;;
        *)
            [[ " ${allowed[$folder]} " == *" ${target#src/} "* ]] ||
                complain "$file:$line: $folder may not include $target (\"$include\")"
            ;;
        esac
    done < <(xargs -d '\n' grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' <<<"$files" || true)
done
((includes > 0)) || complain "no include was found: has the tree moved?"

if grep -nE '^[[:space:]]*#[[:space:]]*include' src/mote.h | grep -vE '<std(bool|def|int)\.h>'; then
    complain "src/mote.h may include only the three standard headers that its types need"
fi

for row in "${libraries[@]}"; do
    pattern=${row%%=*}
    folders=${row#*=}
    while IFS= read -r hit; do
        complain "$hit: only $folders may include that"
    done < <(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern" src cuda tests 2>/dev/null |
        grep -vE "^($folders)/" || true)
done

((wrong == 0)) || exit 1
echo "$includes includes follow the arrows"
