// SPDX-License-Identifier: MIT
// search.glsl - what count_neighbours and fill_neighbours of src/kernels/particle/neighbours.h do, in two passes that compare
// particles only once: search_count.comp counts and keeps a bit for each candidate of a particle, search_fill.comp makes
// lists of those bits. The arithmetic is the kernels', and lists are in the same order.
#include "kernels.h"

layout(local_size_x_id = 0) in;

#define SEARCH_BITS 32u // candidates that are compared before anything is done about them

layout(push_constant, scalar) uniform Arguments { // src/vulkan/vulkan_backend.c: SearchArguments
    uint_buffer kept; // KEPT_BEYOND words a particle
} arguments;

// The lowest `count` bits.
uint bits_below(uint count)
{
    return count < 32u ? (1u << count) - 1u : ~0u;
}

// ---- What counting leaves for filling ------------------------------------------------------------------------

// A bit for each candidate: in words of candidate_bits, and a few more. Of
// candidates beyond those, filling compares all again.
#define KEPT_WORDS  10u
#define KEPT_BEYOND 6u // of them are in arguments.kept: src/vulkan/vulkan_backend.h
#define KEPT_BITS   (32u * KEPT_WORDS)

struct Kept {
    uint words[KEPT_WORDS];
};

// Adds the bits of up to SEARCH_BITS candidates from candidate `at` on.
Kept keep_bits(Kept kept, uint at, uint bits)
{
    const uint word = at / 32u, shift = at % 32u;
    const uint low = bits << shift, high = shift > 0u ? bits >> (32u - shift) : 0u;
    for (uint w = 0u; w < KEPT_WORDS; w++) {
        kept.words[w] |= (w == word ? low : 0u) | (w == word + 1u ? high : 0u);
    }
    return kept;
}

uint kept_bits(Kept kept, uint at, uint count)
{
    const uint word = at / 32u, shift = at % 32u;
    uint low = 0u, high = 0u;
    for (uint w = 0u; w < KEPT_WORDS; w++) {
        low |= w == word ? kept.words[w] : 0u;
        high |= w == word + 1u ? kept.words[w] : 0u;
    }
    return (low >> shift | (shift > 0u ? high << (32u - shift) : 0u)) & bits_below(count);
}

void store_kept(uint i, Kept kept)
{
    STORE(candidate_bits, i, uintBitsToFloat(uvec4(kept.words[0], kept.words[1], kept.words[2], kept.words[3])));
    for (uint w = 0u; w < KEPT_BEYOND; w += 2u) {
        const uint slot = i * KEPT_BEYOND + w;
        uint_pairs(arguments.kept).data[slot >> 1] = packUint2x32(uvec2(kept.words[4u + w], kept.words[5u + w]));
    }
}

Kept load_kept(uint i)
{
    const uvec4 first = floatBitsToUint(LOAD(candidate_bits, i));
    Kept kept;
    for (uint w = 0u; w < 4u; w++) {
        kept.words[w] = first[w];
    }
    for (uint w = 0u; w < KEPT_BEYOND; w += 2u) {
        const uvec2 pair = load_pair(arguments.kept, i * KEPT_BEYOND + w);
        kept.words[4u + w] = pair.x;
        kept.words[5u + w] = pair.y;
    }
    return kept;
}
