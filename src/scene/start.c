// SPDX-License-Identifier: MIT
#include "scene/start.h"

#include "base/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Of the distance that is kept from colliders: points nearer than this to a surface count as inside. The rest is what a
// lattice that only just fits may overlap by, rounding and the cells of a distance field included. Liquid has less of
// it: walls count in its density (kernels/fluid/boundary_density.h), and would push it off with what it overlaps.
static const float INSIDE_SHARE = 0.5f, LIQUID_INSIDE_SHARE = 0.9f;

void scene_start_free(SceneStart *start)
{
    free(start->sources);
    *start = (SceneStart){0};
}

void scene_start_name(const SceneStart *start, const StartSource *source, char *name)
{
    const char *list = scene_sections[source->section].json_key;
    const uint32_t before = source == start->sources ? MOTE_NONE : source[-1].element;
    const bool last = source + 1 == start->sources + start->source_count;
    const bool single =
        (source == start->sources || source[-1].section != source->section || before != source->element) &&
        (last || source[1].section != source->section || source[1].element != source->element);
    if (single) {
        snprintf(name, START_NAME_SIZE, "%s[%u]", list, source->element);
    } else {
        snprintf(name, START_NAME_SIZE, "%s[%u] (copy %u)", list, source->element, source->copy);
    }
}

MoteResult scene_start_source(SceneStart *start, SceneSection section, uint32_t element, uint32_t copy,
                              uint32_t first_id, const MoteVec3 *positions, uint32_t count)
{
    if (start->source_count == start->source_capacity) {
        const uint32_t capacity = 2 * start->source_capacity + 16;
        StartSource *grown = realloc(start->sources, capacity * sizeof *grown);
        if (grown == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to list what it begins with", start->scene->path);
        }
        start->sources = grown;
        start->source_capacity = capacity;
    }
    StartSource source = {.section = section, .element = element, .copy = copy, .first_id = first_id, .count = count};
    source.bounds_min = (MoteVec3){INFINITY, INFINITY, INFINITY};
    source.bounds_max = (MoteVec3){-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        const MoteVec3 p = positions[i];
        source.bounds_min = (MoteVec3){fminf(source.bounds_min.x, p.x), fminf(source.bounds_min.y, p.y),
                                       fminf(source.bounds_min.z, p.z)};
        source.bounds_max = (MoteVec3){fmaxf(source.bounds_max.x, p.x), fmaxf(source.bounds_max.y, p.y),
                                       fmaxf(source.bounds_max.z, p.z)};
    }
    start->sources[start->source_count++] = source;
    return MOTE_OK;
}

// Moves the points that are outside to the front; `collider` is one that the others are inside.
static uint32_t keep_outside(MoteVec3 *points, uint32_t count, const MoteProbe *probes, float limit, uint32_t *collider)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (probes[i].collider != MOTE_NONE && probes[i].distance < limit) {
            *collider = probes[i].collider;
        } else {
            points[kept++] = points[i];
        }
    }
    return kept;
}

MoteResult scene_start_outside(SceneStart *start, SceneSection section, uint32_t element, MoteVec3 *points,
                               uint32_t *count)
{
    const MoteSettings *settings = SCENE_AT(&start->scene->values, solver, 0);
    const char *path = start->scene->path, *list = scene_sections[section].json_key;
    if (SCENE_COUNT(&start->scene->values, collider) == 0 || *count == 0) {
        return MOTE_OK;
    }
    MoteProbe *probes = malloc(*count * sizeof *probes);
    MoteResult result = probes != NULL ? mote_world_probe(start->world, points, *count, probes)
                                       : mote_fail(MOTE_ERROR_MEMORY, "%s: %s[%u]: no memory for %u particles", path,
                                                   list, element, *count);
    if (result == MOTE_OK) {
        const float share = section == SCENE_SECTION_fluid ? LIQUID_INSIDE_SHARE : INSIDE_SHARE;
        const float limit = share * settings->collision_distance * settings->spacing;
        uint32_t collider = MOTE_NONE;
        const uint32_t kept = keep_outside(points, *count, probes, limit, &collider);
        if (kept == 0) {
            result = mote_fail(MOTE_ERROR_INPUT,
                               "%s: %s[%u]: all of its %u particles would begin inside colliders[%u], expected some "
                               "outside of it; keep_inside_colliders puts them there all the same",
                               path, list, element, *count, collider);
        } else if (kept < *count) {
            notices_add(start->notices, false, 0.0,
                        "%s[%u]: %u of its %u particles would begin inside colliders[%u]%s and are left out", list,
                        element, *count - kept, *count, collider,
                        SCENE_COUNT(&start->scene->values, collider) > 1 ? " or other colliders" : "");
            *count = kept;
        }
    }
    free(probes);
    return result;
}
