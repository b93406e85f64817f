#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each header of src/kernels compiles on its own as C17, as CUDA C++ (against tests/cuda_emulation) and as GLSL.
# check_kernel_headers.sh SOURCE_DIR [BINARY_DIR]
set -euo pipefail
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wrong=0
count=0

# compiles HEADER LANGUAGE COMMAND...
compiles() {
    local header=$1 language=$2
    shift 2
    if ! "$@" >"$folder/log" 2>&1; then
        cat "$folder/log" >&2
        echo "check_kernel_headers: $header does not compile on its own as $language" >&2
        wrong=1
    fi
}

warnings=(-Wall -Wextra -Wno-unused-function -Werror)
while read -r header; do
    name=${header#src/kernels/}
    printf '#include "%s"\n' "$name" >"$folder/alone.c"
    compiles "$header" C "${CC:-cc}" -std=c17 "${warnings[@]}" -pedantic -fsyntax-only -Isrc/kernels "$folder/alone.c"
    cp "$folder/alone.c" "$folder/alone.cpp"
    compiles "$header" CUDA "${CXX:-c++}" -std=c++17 "${warnings[@]}" -fsyntax-only -include cuda_runtime.h \
        -Itests/cuda_emulation -Isrc/kernels "$folder/alone.cpp"
    printf '#version 460\n#extension GL_GOOGLE_include_directive : require\n#include "%s"\nvoid main() {}\n' "$name" \
        >"$folder/alone.comp"
    compiles "$header" GLSL glslangValidator --quiet -V --target-env vulkan1.2 -Isrc/kernels -o "$folder/alone.spv" \
        "$folder/alone.comp"
    count=$((count + 1))
done < <(find src/kernels -name '*.h' | sort)
((count > 0)) || wrong=1
echo "$count headers compile on their own"
exit "$wrong"
