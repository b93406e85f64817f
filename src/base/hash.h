// SPDX-License-Identifier: MIT
// hash.h - a 64-bit hash of bytes (FNV-1a over 8-byte words, then a final mix), for state hashes and checksums.
// Not for adversaries.
#ifndef MOTE_BASE_HASH_H
#define MOTE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START 0xcbf29ce484222325u

// Chainable: hash_bytes(hash_bytes(HASH_START, a), b) depends on both and on their order.
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    for (; size > 0; size--, p++) {
        hash = (hash ^ *p) * 0x100000001b3u;
    }
    hash ^= hash >> 32;
    return hash * 0x9e3779b97f4a7c15u;
}

#endif
