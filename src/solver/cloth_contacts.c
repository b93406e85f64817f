// SPDX-License-Identifier: MIT
// cloth_contacts.c - what contacts of cloth need from the host: how far they reach, and which particles are vertices.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>

// ---- Thickness ---------------------------------------------------------------------------------------------

// Of a point: where it is along the longest side of the box around all of them, and where it is.
typedef struct SortedPoint {
    float along;
    MoteVec3 at;
} SortedPoint;

static int compare_points(const void *a, const void *b)
{
    const float x = ((const SortedPoint *)a)->along, y = ((const SortedPoint *)b)->along;
    return x < y ? -1 : x > y;
}

static SortedPoint *sorted_points(const MoteVec3 *positions, uint32_t count)
{
    SortedPoint *points = malloc((size_t)count * sizeof *points + 1);
    MoteVec3 lower = positions[0], upper = positions[0];
    for (uint32_t v = 1; v < count; v++) {
        const MoteVec3 p = positions[v];
        lower = (MoteVec3){fminf(lower.x, p.x), fminf(lower.y, p.y), fminf(lower.z, p.z)};
        upper = (MoteVec3){fmaxf(upper.x, p.x), fmaxf(upper.y, p.y), fmaxf(upper.z, p.z)};
    }
    const float x = upper.x - lower.x, y = upper.y - lower.y, z = upper.z - lower.z;
    for (uint32_t v = 0; v < count && points != NULL; v++) {
        const MoteVec3 p = positions[v];
        points[v] = (SortedPoint){x >= y && x >= z ? p.x : y >= z ? p.y : p.z, p};
    }
    if (points != NULL) {
        qsort(points, count, sizeof *points, compare_points);
    }
    return points;
}

MoteResult cloth_rest_gap(const MoteVec3 *positions, uint32_t count, float *gap)
{
    SortedPoint *points = sorted_points(positions, count);
    if (points == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth of %u vertices", count);
    }
    float nearest = INFINITY;
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = a + 1; b < count && points[b].along - points[a].along < nearest; b++) {
            const MoteVec3 p = points[a].at, q = points[b].at;
            const float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
            nearest = fminf(nearest, sqrtf(x * x + y * y + z * z));
        }
    }
    free(points);
    *gap = nearest;
    return MOTE_OK;
}

float world_cloth_reach(const MoteWorld *world, float contact_distance)
{
    float reach = 0.0f;
    for (uint32_t c = 0; c < world->view.cloth_count; c++) {
        const WorldCloth *cloth = &world->cloths[c];
        const float thickness = cloth->thickness > 0.0f ? cloth->thickness : contact_distance;
        const bool needed = world->view.touching != 0u && cloth->touches != TOUCH_BY_VERTICES;
        if (needed || thickness != contact_distance || cloth->rest_gap < thickness) {
            reach = fmaxf(reach, fmaxf(thickness, contact_distance));
        }
    }
    return reach;
}

MoteResult world_check_thickness(const MoteWorld *world, const MoteSettings *settings)
{
    const float h = settings->spacing * settings->smoothing_radius_ratio;
    for (uint32_t c = 0; c < world->view.cloth_count; c++) {
        if (world->cloths[c].thickness > h) {
            return mote_fail(
                MOTE_ERROR_INPUT,
                "settings have a smoothing radius of %g m, expected at least %g m, the thickness of cloth %u",
                (double)h, (double)world->cloths[c].thickness, c);
        }
    }
    return MOTE_OK;
}

// ---- Rows --------------------------------------------------------------------------------------------------

void world_locate_cloth(MoteWorld *world)
{
    if (world->view.cloth_reach > 0.0f) {
        LAUNCH(world, clear_cloth_rows);
        LAUNCH(world, locate_cloth);
    }
}
