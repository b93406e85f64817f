// SPDX-License-Identifier: MIT
#include "scene/emitters.h"

#include "base/error.h"
#include "scene/build.h"
#include "scene/random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// How a layer left: where the nozzle was, with which velocity, and how long before the end of the span (s).
typedef struct Layer {
    NozzlePose pose;
    MoteVec3 velocity;
    double late;
} Layer;

static Layer layer_at(const EmitterSpan *span, const Jet *jet, double distance)
{
    const double fraction = fraction_at(jet, distance);
    const double left = mix(jet->opened, jet->closed, fraction);
    const float speed = (float)mix(jet->opened_speed, jet->closed_speed, fraction);
    const NozzlePose pose = pose_at(span, left);
    return (Layer){pose, scene_rotate(pose.rotation, (MoteVec3){0.0f, speed, 0.0f}), span->time_now - left};
}

// Where a point of the nozzle's cross-section has got to after `time` with this velocity.
static MoteVec3 carried(const Layer *layer, MoteVec3 point, MoteVec3 velocity, double time, bool flat)
{
    const MoteVec3 offset = scene_rotate(layer->pose.rotation, point);
    return (MoteVec3){(float)(layer->pose.x + offset.x + velocity.x * time),
                      (float)(layer->pose.y + offset.y + velocity.y * time),
                      flat ? (float)layer->pose.z : (float)(layer->pose.z + offset.z + velocity.z * time)};
}

// Lays the layers' particles out as they are at the end of the span, each already advanced by the time since it
// left, so that layers are evenly spaced whatever the step.
static void place_layers(const EmitterSpan *span, const Jet *jet, double until_next, bool flat, const MoteVec3 *points,
                         uint32_t point_count, uint32_t count, MoteVec3 *positions, MoteVec3 *velocities)
{
    const double spacing = emitter_spacing(span->now, SCENE_AT(&span->scene->values, solver, 0));
    Layer left = {0};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t layer = i / point_count, point = i % point_count;
        if (point == 0) {
            left = layer_at(span, jet, until_next + layer * spacing);
        }
        positions[i] = carried(&left, points[point], left.velocity, left.late, flat);
        velocities[i] = left.velocity;
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
                              const MoteWorld *world, Emission *out)
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
        out->particles = (MoteParticles){
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

// ---- Gas ---------------------------------------------------------------------------------------------------

// The jet is the core; around it is a sheath of slower gas without smoke, of which fewer layers leave. Everything
// follows from the number of the layer and of the particle of smoke: a resumed run goes on bit for bit.
typedef struct GasNozzle {
    MoteVec3 *points; // the core's first
    uint32_t core, all;
    double sheath_speed, smoke; // of the jet's; for each particle of the core
} GasNozzle;

// Particles of the first `layers` layers, and the smoke that goes with them.
static uint64_t gas_until(const GasNozzle *nozzle, uint64_t layers)
{
    const uint64_t sheaths = (uint64_t)floor((double)layers * nozzle->sheath_speed + 1e-9);
    return layers * nozzle->core + sheaths * (nozzle->all - nozzle->core);
}

static uint64_t smoke_until(const GasNozzle *nozzle, uint64_t layers)
{
    return (uint64_t)floor((double)layers * nozzle->core * nozzle->smoke + 1e-9);
}

// How many layers have left, of so many particles.
static uint64_t layers_of(const GasNozzle *nozzle, uint64_t emitted)
{
    const double mean = nozzle->core + nozzle->sheath_speed * (nozzle->all - nozzle->core);
    uint64_t layers = (uint64_t)((double)emitted / mean);
    while (layers > 0 && gas_until(nozzle, layers) > emitted) {
        layers--;
    }
    while (gas_until(nozzle, layers + 1) <= emitted) {
        layers++;
    }
    return layers;
}

static MoteResult open_nozzle(const SceneEmitter *emitter, const MoteSettings *settings, const char *what,
                              GasNozzle *out)
{
    const double spacing = settings->spacing;
    const SceneLattice core = cross_section(emitter, settings);
    SceneLattice all = core;
    all.counts[0] += 2 * emitter->sheath;
    all.counts[2] += settings->dimensions == 2 ? 0 : 2 * emitter->sheath;
    all.radius += emitter->sheath;
    MoteVec3 *points;
    *out = (GasNozzle){.sheath_speed = emitter->sheath_speed, .smoke = emitter->smoke};
    const MoteResult result = scene_lattice_points(&all, spacing, what, &points, &out->all);
    out->points = result == MOTE_OK ? malloc(out->all * sizeof *points + 1) : NULL;
    if (out->points == NULL) {
        free(result == MOTE_OK ? points : NULL);
        return result != MOTE_OK ? result : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its nozzle", what);
    }
    const double reach = 1e-3 * spacing, radius = core.radius * spacing * (1.0 + 1e-5);
    const double half_x = 0.5 * (double)(core.counts[0] - 1) * spacing + reach;
    const double half_z = 0.5 * (double)(core.counts[2] - 1) * spacing + reach;
    uint32_t count = 0;
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < out->all; i++) {
            const double x = points[i].x, z = points[i].z;
            const bool inside = fabs(x) <= half_x && fabs(z) <= half_z && x * x + z * z <= radius * radius;
            if (inside == (turn == 0)) {
                out->points[count++] = points[i];
            }
        }
        out->core = turn == 0 ? count : out->core;
    }
    free(points);
    return MOTE_OK;
}

// Fills in the gas of the layers from number `first` on, `limit` particles at most.
static void place_gas(const EmitterSpan *span, const Jet *jet, const GasNozzle *nozzle, double until_next,
                      uint64_t first, uint32_t limit, MoteVec3 *positions, MoteVec3 *velocities)
{
    const MoteSettings *settings = SCENE_AT(&span->scene->values, solver, 0);
    const bool flat = settings->dimensions == 2;
    uint32_t count = 0;
    for (uint64_t n = first; count < limit; n++) {
        const Layer layer = layer_at(span, jet, until_next + (double)(n - first) * settings->spacing);
        const uint64_t points = gas_until(nozzle, n + 1) - gas_until(nozzle, n);
        for (uint32_t i = 0; i < points && count < limit; i++, count++) {
            const float share = i < nozzle->core ? 1.0f : (float)nozzle->sheath_speed;
            const MoteVec3 v = layer.velocity;
            velocities[count] = (MoteVec3){share * v.x, share * v.y, flat ? 0.0f : share * v.z};
            positions[count] = carried(&layer, nozzle->points[i], velocities[count], layer.late, flat);
        }
    }
}

// Fills in the smoke of `layers` layers as it is at the end of the next step: anywhere in the core's layer.
static void place_smoke(const EmitterSpan *span, const Jet *jet, const GasNozzle *nozzle, double until_next,
                        uint64_t first, uint64_t layers, MoteDiffuse *out)
{
    const MoteSettings *settings = SCENE_AT(&span->scene->values, solver, 0);
    const SceneEmitter *emitter = span->now;
    const uint64_t seed = SCENE_AT(&span->scene->values, gas, 0)->seed + ((uint64_t)span->index << 32);
    const double dt = span->time_now - span->time_before;
    const bool flat = settings->dimensions == 2;
    const float half = 0.5f * settings->spacing;
    size_t to = 0;
    for (uint64_t n = first; n < first + layers; n++) {
        const Layer layer = layer_at(span, jet, until_next + (double)(n - first) * settings->spacing);
        for (uint64_t number = smoke_until(nozzle, n); number < smoke_until(nozzle, n + 1); number++, to++) {
            const uint64_t random = 8 * number;
            const uint32_t cell = (uint32_t)(random_unit(seed, random) * (float)nozzle->core);
            MoteVec3 point = nozzle->points[cell < nozzle->core ? cell : nozzle->core - 1];
            point.x += half * random_signed(seed, random + 1);
            point.y += half * random_signed(seed, random + 2);
            point.z += half * random_signed(seed, random + 3);
            const MoteVec3 v = {layer.velocity.x, layer.velocity.y, flat ? 0.0f : layer.velocity.z};
            const MoteVec3 p = carried(&layer, point, v, layer.late + dt, flat);
            const float age = (float)(layer.late + dt);
            const float life = emitter->smoke_life * (0.75f + 0.5f * random_unit(seed, random + 4));
            const float left = life > 0.0f ? fmaxf(life - age, 1e-4f) : 1.0f;
            const float rows[3][4] = {{p.x, p.y, p.z, left},
                                      {v.x, v.y, v.z, SCENE_SMOKE_CLASS},
                                      {age, life, emitter->temperature, emitter->smoke_amount}};
            memcpy(out->positions + 4 * to, rows[0], sizeof rows[0]);
            memcpy(out->velocities + 4 * to, rows[1], sizeof rows[1]);
            memcpy(out->smoke + 4 * to, rows[2], sizeof rows[2]);
        }
    }
}

static MoteResult make_gas(const EmitterSpan *span, const Jet *jet, const EmitterState *state, double layers,
                           const MoteWorld *world, Emission *out)
{
    const SceneValues *values = &span->scene->values;
    const MoteSettings *settings = SCENE_AT(values, solver, 0);
    const SceneEmitter *emitter = span->now;
    char what[512];
    snprintf(what, sizeof what, "%s: emitters[%u]", span->scene->path, span->index);
    GasNozzle nozzle;
    MoteResult result = open_nozzle(emitter, settings, what, &nozzle);
    if (result != MOTE_OK) {
        return result;
    }
    const double expected = layers * nozzle.all * fmax(1.0, nozzle.smoke);
    if (expected > SCENE_PARTICLE_LIMIT) {
        free(nozzle.points);
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: %.3g particles would leave in one step, expected at most %u: check speed and smoke", what,
                         expected, SCENE_PARTICLE_LIMIT);
    }
    const uint64_t first = layers_of(&nozzle, state->emitted);
    uint64_t count = gas_until(&nozzle, first + (uint64_t)layers) - gas_until(&nozzle, first);
    if (emitter->max_particles != 0 && count > emitter->max_particles - state->emitted) {
        count = emitter->max_particles - state->emitted;
    }
    const size_t smoke = (size_t)(smoke_until(&nozzle, first + (uint64_t)layers) - smoke_until(&nozzle, first));
    MoteVec3 *positions = malloc((size_t)count * sizeof *positions + 1);
    MoteVec3 *velocities = malloc((size_t)count * sizeof *velocities + 1);
    float *rows = malloc(12 * smoke * sizeof *rows + 1);
    if (positions == NULL || velocities == NULL || rows == NULL) {
        free(positions);
        free(velocities);
        free(rows);
        free(nozzle.points);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %llu particles", what, (unsigned long long)count);
    }
    place_gas(span, jet, &nozzle, state->until_next, first, (uint32_t)count, positions, velocities);
    scatter(emitter, settings->spacing, state->emitted, settings->dimensions == 2, positions, (uint32_t)count);
    out->smoke = (MoteDiffuse){
        .count = (uint32_t)smoke, .positions = rows, .velocities = rows + 4 * smoke, .smoke = rows + 8 * smoke};
    place_smoke(span, jet, &nozzle, state->until_next, first, (uint64_t)layers, &out->smoke);
    out->particles = (MoteParticles){
        .count = (uint32_t)count,
        .positions = positions,
        .velocities = velocities,
        .mass = mote_world_particle_mass(world, SCENE_AT(values, gas, 0)->density),
        .phase = scene_gas_phase(values, scene_material(values, emitter->material)),
        .temperature = emitter->temperature,
    };
    free(nozzle.points);
    return MOTE_OK;
}

MoteResult emitter_emit(const EmitterSpan *span, EmitterState *state, const MoteWorld *world, Emission *out)
{
    out->particles = (MoteParticles){0};
    out->smoke = (MoteDiffuse){0};
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
    const MoteResult result = span->now->kind == SCENE_EMITS_GAS ? make_gas(span, &jet, state, layers, world, out)
                                                                 : make_layers(span, &jet, state, layers, world, out);
    if (result != MOTE_OK) {
        return result;
    }
    state->until_next += layers * spacing - jet.travelled;
    state->emitted += out->particles.count;
    return MOTE_OK;
}
