// SPDX-License-Identifier: MIT
// hash.h - pseudo-random numbers, which depend on ids and step numbers alone.
#ifndef MOTE_KERNELS_HASH_H
#define MOTE_KERNELS_HASH_H

#include "data.h"

// An integer hash; no two numbers have the same.
FUNCTION uint scrambled(uint x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

#endif
