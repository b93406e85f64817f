// SPDX-License-Identifier: MIT
// cloth_tethers.c - the nearest pins of each vertex along the links of a cloth: Dijkstra's algorithm from all pins at
// once, in which a vertex is reached by as many pins as it is to be tethered to.
#include "solver/cloth_tethers.h"

#include "base/error.h"
#include "solver/world.h"
#include <math.h>
#include <stdlib.h>

typedef struct Visit {
    double length; // m, of the way from the pin
    uint32_t vertex, pin;
} Visit;

// A binary heap of visits to come, the shortest first; and the links of each vertex.
typedef struct Search {
    Visit *heap;
    size_t count, room;
    uint32_t *starts, *others; // compressed rows of neighbours
} Search;

// Equal lengths have one order, too.
static bool is_before(const Visit *a, const Visit *b)
{
    if (a->length != b->length) {
        return a->length < b->length;
    }
    return a->vertex != b->vertex ? a->vertex < b->vertex : a->pin < b->pin;
}

static MoteResult push(Search *search, Visit visit)
{
    if (search->count == search->room) {
        const size_t room = 2 * search->room + 1024;
        Visit *grown = realloc(search->heap, room * sizeof *grown);
        if (grown == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory to find the tethers of a cloth");
        }
        search->heap = grown;
        search->room = room;
    }
    size_t at = search->count++;
    for (; at > 0 && is_before(&visit, &search->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        search->heap[at] = search->heap[(at - 1) / 2];
    }
    search->heap[at] = visit;
    return MOTE_OK;
}

static Visit pop(Search *search)
{
    const Visit first = search->heap[0], last = search->heap[--search->count];
    size_t at = 0;
    for (size_t child = 1; child < search->count; child = 2 * at + 1) {
        child += child + 1 < search->count && is_before(&search->heap[child + 1], &search->heap[child]);
        if (!is_before(&search->heap[child], &last)) {
            break;
        }
        search->heap[at] = search->heap[child];
        at = child;
    }
    search->heap[at] = last;
    return first;
}

static MoteResult list_neighbours(const ClothLinks *links, uint32_t vertices, Search *search)
{
    const size_t ends = 2 * ((size_t)links->stretch + links->shear + links->bend);
    search->starts = calloc((size_t)vertices + 2, sizeof *search->starts);
    search->others = malloc(ends * sizeof *search->others + 1);
    if (search->starts == NULL || search->others == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to find the tethers of a cloth");
    }
    for (size_t e = 0; e < ends; e++) {
        search->starts[links->ends[e] + 2]++;
    }
    for (uint32_t v = 0; v < vertices; v++) {
        search->starts[v + 2] += search->starts[v + 1];
    }
    for (size_t e = 0; e < ends; e++) {
        search->others[search->starts[links->ends[e] + 1]++] = links->ends[e ^ 1];
    }
    return MOTE_OK;
}

// Whether the visit gave its vertex another tether.
static bool accept(const ClothTethers *t, const Visit *visit)
{
    uint32_t *pins = t->pins + TETHER_LIMIT * (size_t)visit->vertex;
    for (uint32_t k = 0; k < t->wanted; k++) {
        if (pins[k] == visit->pin) {
            return false;
        }
        if (pins[k] == MOTE_NONE) {
            pins[k] = visit->pin;
            t->lengths[TETHER_LIMIT * (size_t)visit->vertex + k] = (float)visit->length;
            return true;
        }
    }
    return false;
}

static double distance(MoteVec3 a, MoteVec3 b)
{
    const double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

static MoteResult run(const ClothTethers *t, Search *search)
{
    MoteResult result = MOTE_OK;
    for (uint32_t v = 0; v < t->vertex_count && result == MOTE_OK; v++) {
        result = t->pinned[v] ? push(search, (Visit){0.0, v, v}) : MOTE_OK;
    }
    while (search->count > 0 && result == MOTE_OK) {
        const Visit visit = pop(search);
        const uint32_t v = visit.vertex;
        if (!accept(t, &visit)) {
            continue;
        }
        for (uint32_t k = search->starts[v]; k < search->starts[v + 1] && result == MOTE_OK; k++) {
            const uint32_t other = search->others[k];
            const double length = visit.length + distance(t->positions[v], t->positions[other]);
            result = push(search, (Visit){length, other, visit.pin});
        }
    }
    return result;
}

MoteResult cloth_tethers_make(const ClothLinks *links, const ClothTethers *t, uint32_t *count)
{
    *count = 0;
    for (size_t k = 0; k < TETHER_LIMIT * (size_t)t->vertex_count; k++) {
        t->pins[k] = MOTE_NONE;
        t->lengths[k] = 0.0f;
    }
    if (t->wanted == 0) {
        return MOTE_OK;
    }
    Search search = {0};
    MoteResult result = list_neighbours(links, t->vertex_count, &search);
    result = result == MOTE_OK ? run(t, &search) : result;
    free(search.heap);
    free(search.starts);
    free(search.others);
    for (uint32_t v = 0; v < t->vertex_count; v++) {
        for (size_t k = TETHER_LIMIT * (size_t)v; k < TETHER_LIMIT * ((size_t)v + 1); k++) {
            t->pins[k] = t->pinned[v] ? MOTE_NONE : t->pins[k]; // pins are held already
            *count += t->pins[k] != MOTE_NONE;
        }
    }
    return result;
}

void world_solve_tethers(MoteWorld *world)
{
    LAUNCH(world, solve_tethers);
}
