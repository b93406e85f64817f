// SPDX-License-Identifier: MIT
#include "scene/emitters.h"

#include "base/error.h"
#include "scene/build.h"
#include "scene/random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double emitter_spacing(const SceneEmitter *emitter, const MoteSettings *settings)
{
    return emitter->kind == SCENE_EMITS_GRAINS ? scene_contact_distance(settings) : settings->spacing;
}

EmitterState emitter_state(double spacing)
{
    // A layer stands for half a spacing of jet before it and half behind it. Starting half-way makes the volume
    // right to half a layer at any time, and lets a jet that speeds up from rest get going before the first one.
    return (EmitterState){.until_next = 0.5 * spacing};
}

// The stretch of the span in which the nozzle is open, with the jet's speed at both ends.
typedef struct Jet {
    double opened, closed;             // s
    double opened_speed, closed_speed; // m/s
    double travelled;                  // m
} Jet;

static double mix(double a, double b, double fraction)
{
    return a + (b - a) * fraction;
}

static Jet open_jet(const EmitterSpan *span)
{
    Jet jet = {.opened = fmax(span->time_before, span->now->start), .closed = fmin(span->time_now, span->now->stop)};
    if (!(jet.closed > jet.opened)) {
        return (Jet){0};
    }
    const double length = span->time_now - span->time_before;
    const double speed_before = span->before->speed, speed_now = span->now->speed;
    jet.opened_speed = mix(speed_before, speed_now, (jet.opened - span->time_before) / length);
    jet.closed_speed = mix(speed_before, speed_now, (jet.closed - span->time_before) / length);
    jet.travelled = 0.5 * (jet.opened_speed + jet.closed_speed) * (jet.closed - jet.opened);
    return jet;
}

// The fraction of the open stretch after which the jet has travelled `distance`: the root of
// (v1 - v0) / 2 f^2 + v0 f = distance / duration, in the form that has no cancellation and no division by v1 - v0.
static double fraction_at(const Jet *jet, double distance)
{
    const double q = distance / (jet->closed - jet->opened);
    const double v0 = jet->opened_speed, v1 = jet->closed_speed;
    const double denominator = v0 + sqrt(fmax(v0 * v0 + 2.0 * (v1 - v0) * q, 0.0));
    return denominator > 0.0 ? fmin(fmax(2.0 * q / denominator, 0.0), 1.0) : 0.0;
}

static SceneLattice cross_section(const SceneEmitter *emitter, const MoteSettings *settings)
{
    const double spacing = emitter_spacing(emitter, settings);
    SceneLattice lattice = {.counts = {1, 1, 1}, .radius = INFINITY};
    if (emitter->shape == SCENE_EMITTER_DISC) {
        lattice.counts[0] = lattice.counts[2] = scene_lattice_diameter(emitter->radius, spacing);
        lattice.radius = emitter->radius / spacing;
    } else {
        lattice.counts[0] = scene_lattice_cells(emitter->size.x, spacing);
        lattice.counts[2] = scene_lattice_cells(emitter->size.z, spacing);
    }
    if (settings->dimensions == 2) {
        lattice.counts[2] = 1;
    }
    return lattice;
}

typedef struct NozzlePose {
    double x, y, z;
    MoteQuaternion rotation;
} NozzlePose;

static NozzlePose pose_at(const EmitterSpan *span, double time)
{
    const SceneEmitter *a = span->before, *b = span->now;
    const double fraction = (time - span->time_before) / (span->time_now - span->time_before);
    const MoteVec3 degrees = {
        (float)mix(a->rotation.x, b->rotation.x, fraction),
        (float)mix(a->rotation.y, b->rotation.y, fraction),
        (float)mix(a->rotation.z, b->rotation.z, fraction),
    };
    return (NozzlePose){mix(a->position.x, b->position.x, fraction), mix(a->position.y, b->position.y, fraction),
                        mix(a->position.z, b->position.z, fraction), scene_rotation(degrees)};
}

// Lays the layers' particles out as they are at the end of the span, each already advanced by the time since it
// left, so that layers are evenly spaced whatever the step.
static void place_layers(const EmitterSpan *span, const Jet *jet, double until_next, bool flat, const MoteVec3 *points,
                         uint32_t point_count, uint32_t count, MoteVec3 *positions, MoteVec3 *velocities)
{
    const double spacing = emitter_spacing(span->now, SCENE_AT(&span->scene->values, solver, 0));
    NozzlePose pose = {0};
    MoteVec3 velocity = {0};
    double late = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t layer = i / point_count, point = i % point_count;
        if (point == 0) {
            const double fraction = fraction_at(jet, until_next + layer * spacing);
            const double left = mix(jet->opened, jet->closed, fraction);
            const float speed = (float)mix(jet->opened_speed, jet->closed_speed, fraction);
            pose = pose_at(span, left);
            velocity = scene_rotate(pose.rotation, (MoteVec3){0.0f, speed, 0.0f});
            late = span->time_now - left;
        }
        const MoteVec3 offset = scene_rotate(pose.rotation, points[point]);
        positions[i].x = (float)(pose.x + offset.x + velocity.x * late);
        positions[i].y = (float)(pose.y + offset.y + velocity.y * late);
        positions[i].z = flat ? (float)pose.z : (float)(pose.z + offset.z + velocity.z * late);
        velocities[i] = velocity;
        if (flat) {
            velocities[i].z = 0.0f;
        }
    }
}

// Jitters particles by a hash of their number, so that a resumed run continues bit for bit.
static void scatter(const SceneEmitter *emitter, double spacing, uint64_t before, bool flat, MoteVec3 *positions,
                    uint32_t count)
{
    const float reach = (float)(emitter->jitter * spacing);
    for (uint32_t i = 0; i < count && reach > 0.0f; i++) {
        positions[i].x += reach * random_signed(0, 3 * (before + i));
        positions[i].y += reach * random_signed(0, 3 * (before + i) + 1);
        positions[i].z += flat ? 0.0f : reach * random_signed(0, 3 * (before + i) + 2);
    }
}

static MoteResult make_layers(const EmitterSpan *span, const Jet *jet, const EmitterState *state, double layers,
                              const MoteWorld *world, MoteParticles *out)
{
    const SceneValues *values = &span->scene->values;
    const MoteSettings *settings = SCENE_AT(values, solver, 0);
    const SceneEmitter *emitter = span->now;
    const SceneLattice lattice = cross_section(emitter, settings);
    const double spacing = emitter_spacing(emitter, settings);
    const bool grains = emitter->kind == SCENE_EMITS_GRAINS;
    char what[512];
    snprintf(what, sizeof what, "%s: emitters[%u]", span->scene->path, span->index);
    MoteVec3 *points;
    uint32_t point_count;
    MoteResult result = scene_lattice_points(&lattice, spacing, what, &points, &point_count);
    if (result != MOTE_OK) {
        return result;
    }
    double wanted = layers * point_count;
    if (emitter->max_particles != 0) {
        wanted = fmin(wanted, (double)emitter->max_particles - (double)state->emitted);
    }
    if (wanted > SCENE_PARTICLE_LIMIT) {
        free(points);
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: %.3g particles would leave in one step, expected at most %u: check speed", what, wanted,
                         SCENE_PARTICLE_LIMIT);
    }
    const uint32_t count = (uint32_t)wanted;
    MoteVec3 *positions = malloc((size_t)count * sizeof *positions);
    MoteVec3 *velocities = malloc((size_t)count * sizeof *velocities);
    if (positions == NULL || velocities == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u particles", what, count);
    } else {
        place_layers(span, jet, state->until_next, settings->dimensions == 2, points, point_count, count, positions,
                     velocities);
        scatter(emitter, spacing, state->emitted, settings->dimensions == 2, positions, count);
        const SceneMaterial *material = scene_material(values, emitter->material);
        *out = (MoteParticles){
            .count = count,
            .positions = positions,
            .velocities = velocities,
            .mass = grains ? scene_grain_mass(settings, material) : mote_world_particle_mass(world, material->density),
            .phase = grains ? scene_grain_phase(values, material) : scene_fluid_phase(values, material),
        };
    }
    if (result != MOTE_OK) {
        free(velocities);
        free(positions);
    }
    free(points);
    return result;
}

MoteResult emitter_emit(const EmitterSpan *span, EmitterState *state, const MoteWorld *world, MoteParticles *out)
{
    *out = (MoteParticles){0};
    const uint64_t limit = span->now->max_particles;
    if (limit != 0 && state->emitted >= limit) {
        return MOTE_OK;
    }
    const double spacing = emitter_spacing(span->now, SCENE_AT(&span->scene->values, solver, 0));
    const Jet jet = open_jet(span);
    if (!(jet.travelled > 0.0) || state->until_next > jet.travelled) {
        state->until_next -= jet.travelled;
        return MOTE_OK;
    }
    const double layers = 1.0 + floor((jet.travelled - state->until_next) / spacing);
    const MoteResult result = make_layers(span, &jet, state, layers, world, out);
    if (result != MOTE_OK) {
        return result;
    }
    state->until_next += layers * spacing - jet.travelled;
    state->emitted += out->count;
    return MOTE_OK;
}
