// SPDX-License-Identifier: MIT
#include "solver/link_order.h"

#include "base/error.h"
#include <stdlib.h>

enum { AT_ONCE = LINK_COLOUR_LIMIT, ON_BODIES, CLASSES }; // behind the colours

static uint8_t first_free(u64 used)
{
    return used == ~(u64)0 ? (uint8_t)AT_ONCE : (uint8_t)__builtin_ctzll(~used);
}

static void choose_classes(const uvec2 *ends, const bool *on_bodies, uint32_t count, u64 *used, uint8_t *classes)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = ends[i].x, b = ends[i].y;
        classes[i] = on_bodies[i]   ? (uint8_t)ON_BODIES
                     : used == NULL ? (uint8_t)AT_ONCE
                                    : first_free(used[a] | used[b]);
        if (classes[i] < AT_ONCE) {
            used[a] |= (u64)1 << classes[i];
            used[b] |= (u64)1 << classes[i];
        }
    }
}

// Counting sort: links keep their order within a class.
static void place_links(const uint8_t *classes, uint32_t count, LinkOrder *out)
{
    uint32_t starts[CLASSES + 1] = {0};
    for (uint32_t i = 0; i < count; i++) {
        starts[classes[i] + 1]++;
    }
    for (uint32_t c = 0; c < CLASSES; c++) {
        out->colours += c < AT_ONCE && starts[c + 1] > 0;
        starts[c + 1] += starts[c];
    }
    for (uint32_t c = 0; c <= out->colours; c++) {
        out->starts[c] = starts[c];
    }
    out->coloured = starts[AT_ONCE];
    out->bodies = starts[ON_BODIES];
    for (uint32_t i = 0; i < count; i++) {
        out->rows[i] = starts[classes[i]]++;
    }
}

MoteResult link_order_make(const uvec2 *ends, const bool *on_bodies, uint32_t count, uint32_t handles, bool coloured,
                           LinkOrder *out)
{
    *out = (LinkOrder){.rows = malloc((size_t)count * sizeof *out->rows + 1)};
    u64 *used = coloured ? calloc((size_t)handles + 1, sizeof *used) : NULL;
    uint8_t *classes = malloc((size_t)count + 1);
    MoteResult result = MOTE_OK;
    if (out->rows == NULL || classes == NULL || (coloured && used == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to order %u springs", count);
    } else {
        choose_classes(ends, on_bodies, count, used, classes);
        place_links(classes, count, out);
    }
    free(used);
    free(classes);
    return result;
}
