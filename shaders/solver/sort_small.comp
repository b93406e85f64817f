// SPDX-License-Identifier: MIT
// sort_small.comp - all passes of a sort by one workgroup, for so few elements that starting passes would take longer
// than sorting. Its invocations see in one pass what others of them wrote in the pass before: hence `coherent`.
#version 460
#extension GL_GOOGLE_include_directive : require
#define ARRAY_ACCESS coherent
#include "sort.glsl"

const uint WORDS = GROUP / 32u;
shared uint low, high;
shared uint next[DIGIT_VALUES];
shared uint masks[2u * DIGIT_VALUES * WORDS]; // as in sort_scatter

void find_differing_bits()
{
    const uint me = gl_LocalInvocationID.x;
    if (me == 0u) {
        low = 0u;
        high = 0u;
    }
    barrier();
    uint64_t bits = 0ul;
    for (uint i = me; i < arguments.count; i += GROUP) {
        bits |= arguments.keys.data[i] ^ arguments.keys.data[0];
    }
    atomicOr(low, uint(bits));
    atomicOr(high, uint(bits >> 32));
    barrier();
}

// Where each value of the digit begins.
void find_places(bool other, uint shift)
{
    const uint me = gl_LocalInvocationID.x;
    for (uint d = me; d < DIGIT_VALUES; d += GROUP) {
        next[d] = 0u;
    }
    barrier();
    for (uint i = me; i < arguments.count; i += GROUP) {
        atomicAdd(next[uint(load_key(other, i) >> shift) & (DIGIT_VALUES - 1u)], 1u);
    }
    barrier();
    if (me == 0u) {
        uint before = 0u;
        for (uint d = 0u; d < DIGIT_VALUES; d++) {
            const uint here = next[d];
            next[d] = before;
            before += here;
        }
    }
    barrier();
}

void scatter(bool other, uint shift)
{
    const uint me = gl_LocalInvocationID.x;
    uint round = 0u;
    for (uint start = 0u; start < arguments.count; start += GROUP, round++) {
        const uint i = start + me;
        const bool mine = i < arguments.count;
        uint64_t key = 0ul;
        uint value = 0u, digit = 0u, mask = 0u;
        if (mine) {
            key = load_key(other, i);
            value = other ? arguments.other_values.data[i] : arguments.values.data[i];
            digit = uint(key >> shift) & (DIGIT_VALUES - 1u);
            mask = ((round & 1u) * DIGIT_VALUES + digit) * WORDS;
            atomicOr(masks[mask + me / 32u], 1u << (me % 32u));
        }
        barrier();
        uint rank = 0u, total = 0u;
        if (mine) {
            for (uint w = 0u; w < WORDS; w++) {
                const uint bits = masks[mask + w];
                const uint below = w < me / 32u ? bits : w == me / 32u ? bits & ((1u << (me % 32u)) - 1u) : 0u;
                rank += uint(bitCount(below));
                total += uint(bitCount(bits));
            }
            const uint place = next[digit] + rank;
            if (other) {
                arguments.keys.data[place] = key;
                arguments.values.data[place] = value;
            } else {
                arguments.other_keys.data[place] = key;
                arguments.other_values.data[place] = value;
            }
        }
        barrier();
        if (mine) {
            masks[mask + me / 32u] = 0u;
            if (rank == 0u) {
                next[digit] += total;
            }
        }
    }
    memoryBarrierBuffer();
    barrier();
}

void main()
{
    const uint me = gl_LocalInvocationID.x;
    for (uint m = me; m < 2u * DIGIT_VALUES * WORDS; m += GROUP) {
        masks[m] = 0u;
    }
    find_differing_bits();
    bool other = false;
    for (uint d = 0u; d < DIGITS; d++) {
        const uint word = d < 4u ? low : high;
        if (((word >> (DIGIT_BITS * (d % 4u))) & (DIGIT_VALUES - 1u)) != 0u) {
            find_places(other, DIGIT_BITS * d);
            scatter(other, DIGIT_BITS * d);
            other = !other;
        }
    }
    if (other) {
        for (uint i = me; i < arguments.count; i += GROUP) {
            arguments.keys.data[i] = arguments.other_keys.data[i];
            arguments.values.data[i] = arguments.other_values.data[i];
        }
    }
}
