// SPDX-License-Identifier: MIT
// surface.c - size and holes of a triangle mesh.
#include "geometry/surface.h"

#include "base/error.h"
#include "base/stop.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

SurfaceSize surface_size(const MoteVec3 *positions, const uint32_t *triangles, uint32_t triangle_count, double narrow)
{
    SurfaceSize size = {.bounds_min = {INFINITY, INFINITY, INFINITY}, .bounds_max = {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t t = 0; t < triangle_count; t++) {
        double corner[3][3], side[3][3], longest = 0.0;
        for (int k = 0; k < 3; k++) {
            const MoteVec3 p = positions[triangles[3 * (size_t)t + (size_t)k]];
            corner[k][0] = p.x, corner[k][1] = p.y, corner[k][2] = p.z;
            for (int axis = 0; axis < 3; axis++) {
                size.bounds_min[axis] = fmin(size.bounds_min[axis], corner[k][axis]);
                size.bounds_max[axis] = fmax(size.bounds_max[axis], corner[k][axis]);
            }
        }
        for (int k = 0; k < 3; k++) {
            for (int axis = 0; axis < 3; axis++) {
                side[k][axis] = corner[(k + 1) % 3][axis] - corner[k][axis];
            }
            longest = fmax(longest, length3(side[k]));
        }
        const double cross[3] = {side[0][1] * side[1][2] - side[0][2] * side[1][1],
                                 side[0][2] * side[1][0] - side[0][0] * side[1][2],
                                 side[0][0] * side[1][1] - side[0][1] * side[1][0]};
        const double twice_area = length3(cross);
        size.area += 0.5 * twice_area;
        if (longest > narrow && twice_area < longest * narrow) {
            size.slivers += longest;
        }
    }
    return size;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

double surface_blocks(const MoteVec3 *positions, uint32_t position_count, double edge)
{
    uint64_t *keys = malloc((size_t)position_count * sizeof *keys + 1);
    if (keys == NULL) {
        return -1.0;
    }
    for (uint32_t i = 0; i < position_count; i++) {
        const double p[3] = {positions[i].x, positions[i].y, positions[i].z};
        keys[i] = 0;
        for (int axis = 0; axis < 3; axis++) {
            const double block = fmin(fmax(floor(p[axis] / edge), -1048576.0), 1048575.0);
            keys[i] = keys[i] << 21 | (uint64_t)(block + 1048576.0);
        }
    }
    qsort(keys, position_count, sizeof *keys, compare_u64);
    double blocks = 0.0;
    for (uint32_t i = 0; i < position_count; i++) {
        blocks += i == 0 || keys[i] != keys[i - 1] ? 1.0 : 0.0;
    }
    free(keys);
    return blocks;
}

// ---- Vertices at the same place ----------------------------------------------------------------------------

static uint64_t hash_of(MoteVec3 p)
{
    p.x = p.x == 0.0f ? 0.0f : p.x; // -0 is at the same place as 0
    p.y = p.y == 0.0f ? 0.0f : p.y;
    p.z = p.z == 0.0f ? 0.0f : p.z;
    uint32_t bits[3];
    memcpy(bits, &p, sizeof bits);
    uint64_t hash = bits[0];
    for (int k = 1; k < 3; k++) {
        hash = (hash ^ (hash >> 31)) * 0x9e3779b97f4a7c15u + bits[k];
    }
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ (hash >> 29);
}

// For each vertex the first one at its place; false if there is no memory.
static bool weld(const MoteVec3 *positions, uint32_t count, uint32_t *first)
{
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)count) {
        slots *= 2;
    }
    uint32_t *table = malloc(slots * sizeof *table);
    if (table == NULL) {
        return false;
    }
    memset(table, 0xff, slots * sizeof *table);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t slot = hash_of(positions[i]) & (slots - 1);
        for (;; slot = (slot + 1) & (slots - 1)) {
            const uint32_t other = table[slot];
            if (other == UINT32_MAX) {
                table[slot] = first[i] = i;
                break;
            }
            const MoteVec3 a = positions[i], b = positions[other];
            if (a.x == b.x && a.y == b.y && a.z == b.z) {
                first[i] = other;
                break;
            }
        }
    }
    free(table);
    return true;
}

// ---- Open edges --------------------------------------------------------------------------------------------

static size_t list_edges(const uint32_t *first, const uint32_t *triangles, uint32_t triangle_count, uint64_t *edges)
{
    size_t count = 0;
    for (uint32_t t = 0; t < triangle_count; t++) {
        const uint32_t *corner = triangles + 3 * (size_t)t;
        const uint32_t a = first[corner[0]], b = first[corner[1]], c = first[corner[2]];
        if (a == b || b == c || c == a) { // no surface: its neighbours meet without it
            continue;
        }
        const uint32_t ends[4] = {a, b, c, a};
        for (int k = 0; k < 3; k++) {
            const uint64_t low = ends[k] < ends[k + 1] ? ends[k] : ends[k + 1];
            const uint64_t high = ends[k] < ends[k + 1] ? ends[k + 1] : ends[k];
            edges[count++] = low << 32 | high;
        }
    }
    qsort(edges, count, sizeof *edges, compare_u64);
    size_t open = 0;
    for (size_t i = 0; i < count;) {
        size_t same = i + 1;
        while (same < count && edges[same] == edges[i]) {
            same++;
        }
        if (same - i == 1) {
            edges[open++] = edges[i];
        }
        i = same;
    }
    return open;
}

static uint32_t root_of(uint32_t *parents, uint32_t i)
{
    while (parents[i] != i) {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    return i;
}

// Sets of connected open edges, by their vertices; the box around each grows in boxes[6 * its root].
static void measure(const MoteVec3 *positions, uint32_t *parents, const uint64_t *edges, size_t count, float *boxes,
                    SurfaceHoles *out)
{
    for (size_t e = 0; e < count; e++) {
        const uint32_t a = root_of(parents, (uint32_t)(edges[e] >> 32)), b = root_of(parents, (uint32_t)edges[e]);
        parents[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t e = 0; e < 2 * count; e++) {
        const uint32_t v = (uint32_t)(e % 2 == 0 ? edges[e / 2] >> 32 : edges[e / 2]);
        float *box = boxes + 6 * (size_t)root_of(parents, v);
        const float p[3] = {positions[v].x, positions[v].y, positions[v].z};
        double squared = 0.0;
        for (int axis = 0; axis < 3; axis++) {
            box[axis] = fminf(box[axis], p[axis]);
            box[axis + 3] = fmaxf(box[axis + 3], p[axis]);
            const double side = (double)box[axis + 3] - (double)box[axis];
            squared += side * side;
        }
        if (sqrt(squared) >= out->widest) {
            out->widest = sqrt(squared);
            out->vertex = v;
        }
    }
}

MoteResult surface_find_holes(const MoteVec3 *positions, uint32_t position_count, const uint32_t *triangles,
                              uint32_t triangle_count, SurfaceHoles *out)
{
    *out = (SurfaceHoles){0};
    MoteResult result = stop_check();
    if (result != MOTE_OK) {
        return result;
    }
    uint32_t *first = malloc((size_t)position_count * sizeof *first + 1);
    uint64_t *edges = malloc((size_t)triangle_count * 3 * sizeof *edges + 1);
    float *boxes = NULL;
    if (first == NULL || edges == NULL || !weld(positions, position_count, first)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to look for holes in %u triangles", triangle_count);
    } else {
        const size_t open = list_edges(first, triangles, triangle_count, edges);
        out->edges = (uint32_t)open;
        boxes = open > 0 ? malloc((size_t)position_count * 6 * sizeof *boxes) : NULL;
        if (open > 0 && boxes == NULL) {
            result = mote_fail(MOTE_ERROR_MEMORY, "no memory to measure %zu open edges", open);
        } else if (open > 0) {
            for (uint32_t i = 0; i < position_count; i++) {
                first[i] = i; // from here on the parent of a set
                for (size_t k = 0; k < 3; k++) {
                    boxes[6 * (size_t)i + k] = INFINITY;
                    boxes[6 * (size_t)i + k + 3] = -INFINITY;
                }
            }
            measure(positions, first, edges, open, boxes, out);
        }
    }
    free(first);
    free(edges);
    free(boxes);
    return result;
}
