// SPDX-License-Identifier: MIT
// random.h - pseudo-random numbers that are the same in every run: a hash of a seed and a position.
#ifndef MOTE_SCENE_RANDOM_H
#define MOTE_SCENE_RANDOM_H

#include <stdint.h>

// The finaliser of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
static inline uint64_t random_bits(uint64_t seed, uint64_t index)
{
    uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// From 0 to 1, without 1.
static inline float random_unit(uint64_t seed, uint64_t index)
{
    return (float)(random_bits(seed, index) >> 40) * (1.0f / 16777216.0f);
}

// From -1 to 1.
static inline float random_signed(uint64_t seed, uint64_t index)
{
    return 2.0f * random_unit(seed, index) - 1.0f;
}

#endif
