// SPDX-License-Identifier: MIT
// sort_scatter.comp - takes each element to its place. A workgroup goes through its tile in rounds of as many elements
// as it has invocations. In a round, each invocation sets its bit in the mask of its digit; the bits below its own are
// those that go before it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

const uint WORDS = GROUP / 32u;
shared uint next[DIGIT_VALUES];
shared uint masks[2u * DIGIT_VALUES * WORDS]; // of this round and, being cleared, of the last one

void main()
{
    const uint me = gl_LocalInvocationID.x, tile = gl_WorkGroupID.x;
    const uint begin = tile * arguments.tile, end = min(begin + arguments.tile, arguments.count);
    const bool other = from_other();
    for (uint d = me; d < DIGIT_VALUES; d += GROUP) {
        next[d] = arguments.counts.data[tile * DIGIT_VALUES + d];
    }
    for (uint m = me; m < 2u * DIGIT_VALUES * WORDS; m += GROUP) {
        masks[m] = 0u;
    }
    barrier();
    uint round = 0u;
    for (uint start = begin; start < end; start += GROUP, round++) {
        const uint i = start + me;
        uint64_t key = 0ul;
        uint value = 0u, mask = 0u;
        if (i < end) {
            key = load_key(other, i);
            value = other ? arguments.other_values.data[i] : arguments.values.data[i];
            mask = ((round & 1u) * DIGIT_VALUES + digit_of(key)) * WORDS;
            atomicOr(masks[mask + me / 32u], 1u << (me % 32u));
        }
        barrier();
        uint rank = 0u, total = 0u;
        if (i < end) {
            for (uint w = 0u; w < WORDS; w++) {
                const uint bits = masks[mask + w];
                const uint below = w < me / 32u ? bits : w == me / 32u ? bits & ((1u << (me % 32u)) - 1u) : 0u;
                rank += uint(bitCount(below));
                total += uint(bitCount(bits));
            }
            const uint place = next[digit_of(key)] + rank;
            if (other) {
                arguments.keys.data[place] = key;
                arguments.values.data[place] = value;
            } else {
                arguments.other_keys.data[place] = key;
                arguments.other_values.data[place] = value;
            }
        }
        barrier();
        if (i < end) {
            masks[mask + me / 32u] = 0u; // the next round uses the other masks
            if (rank == 0u) {
                next[digit_of(key)] += total;
            }
        }
    }
}
