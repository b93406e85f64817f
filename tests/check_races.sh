#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every small scene on the emulated CUDA device, in several orders of invocations: equal hashes, whatever the order. For
# one of them the thread sanitizer watches for two invocations of a launch that touch one address (tests/mote_races).
# check_races.sh SOURCE_DIR BINARY_DIR [SCENE_NAME...]
set -euo pipefail
scenes=$1/scenes/small
build=$2
shift 2
frames=2
# What makes meshes and voxels has one thread: libgomp is not known to the sanitizer.
export OMP_NUM_THREADS=1 TSAN_OPTIONS="exitcode=66 halt_on_error=1 history_size=7 ${TSAN_OPTIONS:-}"
if [[ ! -x $build/tests/mote_races ]]; then
    echo "check_races: skipped, $build/tests/mote_races was not built"
    exit 77
fi
(($# > 0)) || mapfile -t names < <(cd "$scenes" && ls ./*.json | sed 's,./\(.*\).json,\1,')
(($# == 0)) || names=("$@")

wrong=0
for name in "${names[@]}"; do
    first=
    for seed in 1 2 3; do
        mote=$build/tests/mote_with_cuda
        ((seed > 1)) || mote=$build/tests/mote_races
        if ! output=$(MOTE_CUDA_SEED=$seed "$mote" simulate "$scenes/$name.json" --backend cuda --frames $frames --quiet \
            --summary - 2>&1); then
            echo "check_races: $name fails with seed $seed" >&2
            printf '%s\n' "$output" | head -40 >&2
            wrong=1
            continue
        fi
        hash=$(sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p' <<<"$output")
        if [[ -z $hash || ${first:=$hash} != "$hash" ]]; then
            echo "check_races: $name has hash ${hash:-none} with seed $seed, $first with the first" >&2
            wrong=1
        fi
    done
done
echo "${#names[@]} scenes, three orders, $frames frames"
exit $wrong
