// SPDX-License-Identifier: MIT
// mesh_skin.c - the visible mesh hangs on the particles of its body.
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include <stdlib.h>

enum { INFLUENCES = 4, NEAREST = INFLUENCES + 1, STACK = 64 };

// A balanced k-d tree in place: the middle of each range is its node.
typedef struct PointTree {
    const MoteVec3 *points;
    uint32_t *order, count;
    uint8_t *axes; // of the node at that place
} PointTree;

typedef struct Range {
    uint32_t first, end;
    double squared; // distance of the range's half space, for searches
} Range;

static MoteResult tree_make(const MoteVec3 *points, uint32_t count, PointTree *out)
{
    *out = (PointTree){points, malloc(((size_t)count + 1) * sizeof(uint32_t)), count, malloc((size_t)count + 1)};
    float *keys = malloc((3 * (size_t)count + 1) * sizeof *keys);
    if (out->order == NULL || out->axes == NULL || keys == NULL) {
        free(out->order);
        free(out->axes);
        free(keys);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to skin a mesh to %u particles", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        out->order[i] = i;
        keys[i] = points[i].x;
        keys[(size_t)count + i] = points[i].y;
        keys[2 * (size_t)count + i] = points[i].z;
    }
    Range stack[STACK];
    uint32_t depth = 0;
    stack[depth++] = (Range){0, count, 0.0};
    while (depth > 0) {
        const Range range = stack[--depth];
        if (range.end <= range.first) {
            continue;
        }
        float extent[3];
        for (uint32_t k = 0; k < 3; k++) {
            float low = INFINITY, high = -INFINITY;
            for (uint32_t i = range.first; i < range.end; i++) {
                const float key = keys[k * (size_t)count + out->order[i]];
                low = fminf(low, key);
                high = fmaxf(high, key);
            }
            extent[k] = high - low;
        }
        const uint8_t axis = extent[0] >= extent[1] && extent[0] >= extent[2] ? 0 : (extent[1] >= extent[2] ? 1 : 2);
        const uint32_t middle = range.first + (range.end - range.first) / 2;
        select_nth(out->order + range.first, keys + axis * (size_t)count, range.end - range.first,
                   middle - range.first);
        out->axes[middle] = axis;
        stack[depth++] = (Range){range.first, middle, 0.0};
        stack[depth++] = (Range){middle + 1, range.end, 0.0};
    }
    free(keys);
    return MOTE_OK;
}

typedef struct Found {
    uint32_t count, items[NEAREST];
    double squared[NEAREST]; // ascending; equal ones by item
} Found;

static void consider(Found *found, uint32_t item, double squared)
{
    uint32_t at = found->count < NEAREST ? found->count++ : NEAREST;
    if (at == NEAREST) {
        const double worst = found->squared[NEAREST - 1];
        if (squared > worst || (squared == worst && item > found->items[NEAREST - 1])) {
            return;
        }
        at = NEAREST - 1;
    }
    for (; at > 0 &&
           (squared < found->squared[at - 1] || (squared == found->squared[at - 1] && item < found->items[at - 1]));
         at--) {
        found->items[at] = found->items[at - 1];
        found->squared[at] = found->squared[at - 1];
    }
    found->items[at] = item;
    found->squared[at] = squared;
}

static Found nearest_points(const PointTree *tree, DVec3 p)
{
    Found found = {0};
    Range stack[STACK];
    uint32_t depth = 0;
    stack[depth++] = (Range){0, tree->count, 0.0};
    while (depth > 0) {
        const Range range = stack[--depth];
        if (range.end <= range.first || (found.count == NEAREST && range.squared > found.squared[NEAREST - 1])) {
            continue;
        }
        const uint32_t middle = range.first + (range.end - range.first) / 2, item = tree->order[middle];
        const DVec3 away = dvec3_sub(p, dvec3_from(tree->points[item]));
        consider(&found, item, dvec3_dot(away, away));
        const double side = tree->axes[middle] == 0 ? away.x : (tree->axes[middle] == 1 ? away.y : away.z);
        const Range low = {range.first, middle, side > 0.0 ? side * side : range.squared};
        const Range high = {middle + 1, range.end, side > 0.0 ? range.squared : side * side};
        stack[depth++] = side > 0.0 ? low : high;
        stack[depth++] = side > 0.0 ? high : low; // the side of p first
    }
    return found;
}

// w = (1 - d/R)^2 with R the distance of the fifth particle: where the fourth and fifth change places both have no
// weight. R is a little longer, for vertices that have five or more particles at one distance.
static void weigh(const Found *found, uint32_t *indices, float *weights)
{
    const uint32_t used = found->count < INFLUENCES ? found->count : INFLUENCES;
    const double reach = found->count == NEAREST ? 1.02 * sqrt(found->squared[NEAREST - 1])
                                                 : 2.0 * sqrt(found->squared[found->count - 1]);
    double raw[INFLUENCES] = {1.0, 0.0, 0.0, 0.0}, sum = 1.0;
    if (reach > 0.0) {
        sum = 0.0;
        for (uint32_t k = 0; k < used; k++) {
            const double left = fmax(0.0, 1.0 - sqrt(found->squared[k]) / reach);
            raw[k] = left * left;
            sum += raw[k];
        }
    }
    float rest = 1.0f;
    for (uint32_t k = INFLUENCES; k-- > 0;) {
        indices[k] = found->items[k < used ? k : 0];
        weights[k] = k == 0 ? rest : (k < used ? (float)(raw[k] / sum) : 0.0f); // the largest makes the sum exact
        rest -= weights[k];
    }
}

MoteResult mesh_skin(const Mesh *mesh, const MoteVec3 *particles, uint32_t count, uint32_t *indices, float *weights)
{
    if (count == 0) {
        return mote_fail(MOTE_ERROR_INPUT, "a mesh cannot hang on no particles, expected at least one");
    }
    PointTree tree;
    const MoteResult result = tree_make(particles, count, &tree);
    if (result != MOTE_OK) {
        return result;
    }
#pragma omp parallel for schedule(static)
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const Found found = nearest_points(&tree, dvec3_from(mesh->positions[v]));
        weigh(&found, indices + INFLUENCES * (size_t)v, weights + INFLUENCES * (size_t)v);
    }
    free(tree.order);
    free(tree.axes);
    return MOTE_OK;
}
