// SPDX-License-Identifier: MIT
// springs_build.c - builds a scene's springs and ropes: finds the particles at their ends, and adds those of ropes.
#include "scene/build.h"
#include "solver/particle_copy.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>

static const float REACH = 2.0f; // spacings from an end to the particle that it is attached to, at most

// What springs are made from: all particles of the world, and the springs so far with ids in place of handles.
typedef struct SpringYard {
    SceneStart *start;
    MoteVec3 *places; // a particle
    uint32_t *ids;    // a particle
    uint32_t particle_count, particle_room;
    MoteSpring *springs;
    uint32_t *ends; // ids, 2 a spring
    uint32_t spring_count;
} SpringYard;

static void yard_free(SpringYard *yard)
{
    free(yard->places);
    free(yard->ids);
    free(yard->springs);
    free(yard->ends);
}

// Room for all that the scene's springs will add, and the particles that are there.
static MoteResult yard_fill(SceneStart *start, const MoteParticleView *view, SpringYard *yard)
{
    const SceneValues *values = &start->scene->values;
    *yard = (SpringYard){.start = start};
    uint64_t springs = 0;
    for (uint32_t i = 0; i < SCENE_COUNT(values, spring); i++) {
        springs += SCENE_AT(values, spring, i)->segments;
    }
    if (springs > SCENE_PARTICLE_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: springs have %llu segments, expected at most %u", start->scene->path,
                         (unsigned long long)springs, SCENE_PARTICLE_LIMIT);
    }
    yard->particle_room = view->count + 2 * (uint32_t)springs; // each brings less than a segment more than its ends
    yard->places = malloc(yard->particle_room * sizeof *yard->places);
    yard->ids = malloc(yard->particle_room * sizeof *yard->ids);
    yard->springs = malloc((size_t)springs * sizeof *yard->springs);
    yard->ends = malloc(2 * (size_t)springs * sizeof *yard->ends);
    if (yard->places == NULL || yard->ids == NULL || yard->springs == NULL || yard->ends == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its springs", start->scene->path);
    }
    for (uint32_t i = 0; i < view->count; i++) {
        const float *p = view->positions + 4 * (size_t)i;
        yard->places[i] = (MoteVec3){p[0], p[1], p[2]};
        yard->ids[i] = view->ids[i];
    }
    yard->particle_count = view->count;
    return MOTE_OK;
}

static MoteResult yard_make(SceneStart *start, SpringYard *yard)
{
    MoteParticleView view;
    MoteResult result = particle_copy_read(start->world, COPY_POSITIONS | COPY_IDS, &view);
    *yard = (SpringYard){.start = start};
    result = result == MOTE_OK ? yard_fill(start, &view, yard) : result;
    particle_copy_free(&view);
    return result;
}

// Adds particles of the spring's own; of mass 0, those that never move.
static MoteResult add_own(SpringYard *yard, const SceneSpring *spring, const MoteVec3 *places, uint32_t count,
                          bool fixed, uint32_t *first_id)
{
    const SceneValues *values = &yard->start->scene->values;
    const SceneMaterial *material = scene_material(values, spring->material);
    const uint32_t group = scene_material_index(values, material) & MOTE_PHASE_GROUP_MASK;
    const MoteParticles particles = {
        .count = count,
        .positions = places,
        .mass = fixed ? 0.0f : scene_grain_mass(SCENE_AT(values, solver, 0), material),
        .phase = MOTE_PHASE(MOTE_KIND_BODY, group),
    };
    const MoteResult result = mote_world_add_particles(yard->start->world, &particles, first_id);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        MOTE_ASSERT(yard->particle_count < yard->particle_room);
        yard->places[yard->particle_count] = places[i];
        yard->ids[yard->particle_count++] = *first_id + i;
    }
    return result;
}

static double distance(MoteVec3 a, MoteVec3 b)
{
    const double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

// The particle that an end is attached to: the nearest one, or one of its own. `place` becomes where that is.
static MoteResult attach(SpringYard *yard, uint32_t element, bool second, MoteVec3 *place, uint32_t *id)
{
    const SceneValues *values = &yard->start->scene->values;
    const SceneSpring *spring = SCENE_AT(values, spring, element);
    const char *path = yard->start->scene->path, *key = second ? "to" : "from";
    if (second ? spring->to_fixed : spring->from_fixed) {
        const MoteVec3 own = *place;
        return add_own(yard, spring, &own, 1, true, id);
    }
    const float reach = REACH * SCENE_AT(values, solver, 0)->spacing;
    double nearest = INFINITY;
    uint32_t found = 0;
    for (uint32_t i = 0; i < yard->particle_count; i++) {
        const double away = distance(yard->places[i], *place);
        found = away < nearest ? i : found;
        nearest = fmin(nearest, away);
    }
    if (!(nearest <= reach)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: springs[%u].%s: the nearest particle is %g m away from (%g, %g, %g), expected one within "
                         "%g m, two spacings; %s_fixed makes one there",
                         path, element, key, nearest, (double)place->x, (double)place->y, (double)place->z,
                         (double)reach, key);
    }
    *place = yard->places[found];
    *id = yard->ids[found];
    return MOTE_OK;
}

// The particles between its ends, if it has more than one segment.
static MoteResult add_between(SpringYard *yard, const SceneSpring *spring, MoteVec3 from, MoteVec3 to, uint32_t *first)
{
    const uint32_t count = spring->segments - 1;
    if (count == 0) {
        return MOTE_OK;
    }
    MoteVec3 *places = malloc(count * sizeof *places);
    if (places == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u particles", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const float t = (float)(i + 1) / (float)spring->segments;
        places[i] =
            (MoteVec3){from.x + t * (to.x - from.x), from.y + t * (to.y - from.y), from.z + t * (to.z - from.z)};
    }
    const MoteResult result = add_own(yard, spring, places, count, false, first);
    free(places);
    return result;
}

// One element of the scene. Of a row of springs each is as many times stiffer as there are.
static MoteResult add_spring(SpringYard *yard, uint32_t element)
{
    const SceneSpring *spring = SCENE_AT(&yard->start->scene->values, spring, element);
    const uint32_t segments = spring->segments;
    MoteVec3 places[2] = {spring->from, spring->to};
    uint32_t ids[2], first = 0;
    MoteResult result = attach(yard, element, false, &places[0], &ids[0]);
    result = result == MOTE_OK ? attach(yard, element, true, &places[1], &ids[1]) : result;
    if (result == MOTE_OK && ids[0] == ids[1]) {
        result = mote_fail(
            MOTE_ERROR_INPUT, "%s: springs[%u]: from and to are nearest to the same particle, at (%g, %g, %g)",
            yard->start->scene->path, element, (double)places[0].x, (double)places[0].y, (double)places[0].z);
    }
    result = result == MOTE_OK ? add_between(yard, spring, places[0], places[1], &first) : result;
    for (uint32_t i = 0; i < segments && result == MOTE_OK; i++) {
        yard->ends[2 * (size_t)yard->spring_count] = i == 0 ? ids[0] : first + i - 1;
        yard->ends[2 * (size_t)yard->spring_count + 1] = i + 1 == segments ? ids[1] : first + i;
        yard->springs[yard->spring_count++] = (MoteSpring){
            .rest_length = spring->rest_length < 0.0f ? -1.0f : spring->rest_length / (float)segments,
            .stiffness = spring->stiffness * (float)segments,
            .damping = spring->damping * (float)segments,
            .slack = spring->slack,
        };
    }
    return result;
}

// The handles along each element of the scene, one more than it has segments.
static MoteResult keep_nodes(SpringYard *yard, const MoteParticleHandle *handles)
{
    const SceneValues *values = &yard->start->scene->values;
    const uint32_t elements = SCENE_COUNT(values, spring);
    MoteParticleHandle *nodes = malloc((yard->spring_count + elements) * sizeof *nodes);
    if (nodes == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the nodes of %u springs", yard->spring_count);
    }
    uint32_t count = 0, spring = 0;
    for (uint32_t i = 0; i < elements; i++) {
        nodes[count++] = handles[2 * (size_t)spring];
        for (uint32_t k = 0; k < SCENE_AT(values, spring, i)->segments; k++) {
            nodes[count++] = handles[2 * (size_t)spring++ + 1];
        }
    }
    const MoteResult result = scene_bodies_add_nodes(yard->start->bodies, nodes, count);
    free(nodes);
    return result;
}

static MoteResult hand_over(SpringYard *yard)
{
    const uint32_t count = yard->spring_count;
    MoteParticleHandle *handles = malloc(2 * (size_t)count * sizeof *handles);
    MoteResult result = handles != NULL ? mote_world_make_handles(yard->start->world, yard->ends, 2 * count, handles)
                                        : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u springs", count);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        yard->springs[i].ends[0] = handles[2 * (size_t)i];
        yard->springs[i].ends[1] = handles[2 * (size_t)i + 1];
    }
    result = result == MOTE_OK
                 ? mote_world_add_springs(yard->start->world, yard->springs, count, yard->start->first_spring)
                 : result;
    result = result == MOTE_OK ? keep_nodes(yard, handles) : result;
    free(handles);
    return result == MOTE_OK ? MOTE_OK
                             : mote_fail(result, "%s: springs: %s", yard->start->scene->path, mote_error_message());
}

MoteResult scene_build_spring(SceneStart *start)
{
    const uint32_t count = SCENE_COUNT(&start->scene->values, spring);
    if (count == 0) {
        return MOTE_OK;
    }
    SpringYard yard;
    MoteResult result = yard_make(start, &yard);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = add_spring(&yard, i);
    }
    result = result == MOTE_OK ? hand_over(&yard) : result;
    yard_free(&yard);
    return result;
}
