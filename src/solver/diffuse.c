// SPDX-License-Identifier: MIT
// diffuse.c - passive particles of a liquid (kernels/diffuse): their settings, the launches of a step, and copies for
// users.
#include "mote_diffuse.h"
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Settings ----------------------------------------------------------------------------------------------

// Foam spawns about so often (Hz), whatever the time step is.
static const double SPAWN_RATE = 60.0;

// Passive particles a second that one of liquid makes where all potentials are at their upper limits and amount is 1.
static const double FULL_RATE = 600.0;

// How long (s) the running maximum of the liquid's speed takes to fall to a third.
static const double MEMORY = 4.0;

// Speeds that gravity gives in a fall of fewer spacings make no foam: the solver does not resolve such waves.
static const double RESOLVED_FALL = 8.0;

// Time (s) in which a particle that changes its class comes to look like one of it.
static const double CLASS_TIME = 0.08;

// Of about 33 neighbours (Ihmsen et al. 2012, section 3.3): below the first a passive particle is spray, above the
// second a bubble; and a particle of liquid with fewer than the third makes none.
static const double FEW = 6.0 / 33.0, MANY = 20.0 / 33.0, MAKES = 11.0 / 33.0;

static MoteResult check_foam(const MoteFoam *foam)
{
    const struct {
        const char *name;
        float value, above;
    } rows[] = {
        {"amount", foam->amount, 0.0f},
        {"life", foam->life, 0.0f},
        {"speed", foam->speed, 0.0f},
        {"air", foam->air, 0.0f},
        {"crest", foam->crest, 0.0f},
        {"vorticity", foam->vorticity, 0.0f},
        {"air_lower", foam->air_lower, 0.0f},
        {"air_upper", foam->air_upper, foam->air_lower},
        {"crest_lower", foam->crest_lower, 0.0f},
        {"crest_upper", foam->crest_upper, foam->crest_lower},
        {"vorticity_lower", foam->vorticity_lower, 0.0f},
        {"vorticity_upper", foam->vorticity_upper, foam->vorticity_lower},
        {"energy_lower", foam->energy_lower, 0.0f},
        {"energy_upper", foam->energy_upper, foam->energy_lower},
        {"spray_drag", foam->spray_drag, 0.0f},
        {"bubble_drag", foam->bubble_drag, 0.0f},
        {"buoyancy", foam->buoyancy, 0.0f},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!isfinite(rows[i].value) || rows[i].value < rows[i].above) {
            return mote_fail(MOTE_ERROR_INPUT, "foam has %s %g, expected a number not below %g", rows[i].name,
                             (double)rows[i].value, (double)rows[i].above);
        }
    }
    return MOTE_OK;
}

// Zeros in all arrays that are saved or read before they are written.
static MoteResult clear_arrays(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    const size_t count = view->diffuse_capacity;
    void *zeros = calloc(count + DIFFUSE_COUNT_ALL, sizeof(vec4));
    if (zeros == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %zu passive particles", count);
    }
    if (count > 0) {
        functions->upload(world->backend, view->diffuse_positions, zeros, count * sizeof(vec4));
        functions->upload(world->backend, view->diffuse_velocities, zeros, count * sizeof(vec4));
        functions->upload(world->backend, view->diffuse_ids, zeros, count * sizeof(uint));
        functions->upload(world->backend, view->diffuse_counts, zeros, DIFFUSE_COUNT_ALL * sizeof(uint));
    }
    if (count > 0 && world->has_smoke) {
        functions->upload(world->backend, view->diffuse_smoke, zeros, count * sizeof(vec4));
    }
    free(zeros);
    return MOTE_OK;
}

static MoteResult reserve_slots(MoteWorld *world, uint32_t capacity)
{
    const bool lists_are_current = world->lists_are_current;
    MoteResult result = world_reserve(world, CAPACITY_DIFFUSE, capacity, 0);
    result = result == MOTE_OK
                 ? world_reserve(world, CAPACITY_DIFFUSE_AND_ONE, capacity > 0 ? (uint64_t)capacity + 1 : 0, 0)
                 : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_DIFFUSE_COUNTS, capacity > 0 ? DIFFUSE_COUNT_ALL : 0, 0)
                               : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_SMOKE, world->has_smoke ? capacity : 0, 0) : result;
    world->lists_are_current = lists_are_current; // they do not depend on these
    return result;
}

MoteResult world_reserve_smoke(MoteWorld *world)
{
    const uint32_t count = world->view.diffuse_capacity;
    const bool lists_are_current = world->lists_are_current;
    if (world->has_smoke) {
        return MOTE_OK;
    }
    MoteResult result = world_reserve(world, CAPACITY_SMOKE, count, 0);
    world->lists_are_current = lists_are_current;
    vec4 *zeros = calloc((size_t)count + 1, sizeof *zeros);
    if (result == MOTE_OK && zeros == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for %u particles of smoke", count);
    }
    if (result == MOTE_OK && count > 0) {
        world->backend->functions->upload(world->backend, world->view.diffuse_smoke, zeros, count * sizeof *zeros);
    }
    free(zeros);
    world->has_smoke = result == MOTE_OK;
    return result;
}

MoteResult mote_world_set_foam(MoteWorld *world, const MoteFoam *foam)
{
    MoteResult result = check_foam(foam);
    if (result == MOTE_OK && foam->capacity != world->view.diffuse_capacity) {
        result = reserve_slots(world, foam->capacity);
        const uint32_t before = world->view.diffuse_capacity;
        world->view.diffuse_capacity = result == MOTE_OK ? foam->capacity : before;
        result = result == MOTE_OK ? clear_arrays(world) : result;
    }
    if (result == MOTE_OK) {
        world->foam = *foam;
    }
    return result;
}

uint32_t mote_world_diffuse_capacity(const MoteWorld *world)
{
    return world->view.diffuse_capacity;
}

// ---- A step ------------------------------------------------------------------------------------------------

// Sum of 1 - r/h over the neighbours of a particle on the rest lattice.
static double rest_weight(const MoteSettings *settings)
{
    const double ratio = settings->smoothing_radius_ratio;
    const int reach = (int)ceil(ratio), depth = settings->dimensions == 2 ? 0 : reach;
    double sum = 0.0;
    for (int z = -depth; z <= depth; z++) {
        for (int y = -reach; y <= reach; y++) {
            for (int x = -reach; x <= reach; x++) {
                sum += fmax(1.0 - sqrt(x * x + y * y + z * z) / ratio, 0.0);
            }
        }
    }
    return sum - 1.0; // without the particle itself
}

static float inverse_range(float lower, float upper)
{
    return 1.0f / fmaxf(upper - lower, 1e-6f);
}

// Exactly: the velocity of a bubble follows dv/dt = -buoyancy g + drag (flow - v), that of spray dv/dt = -drag v.
static void set_motion(MoteWorld *world)
{
    SolverData *view = &world->view;
    const MoteFoam *foam = &world->foam;
    const double dt = view->time_step, ratio = world->settings.smoothing_radius_ratio, pi = 3.14159265358979323846;
    const double around = world->settings.dimensions == 2 ? pi * ratio * ratio : 4.0 / 3.0 * pi * ratio * ratio * ratio;
    view->diffuse_few = (float)(FEW * around);
    view->diffuse_many = (float)(MANY * around);
    view->diffuse_inside = (float)(1.2 / around); // what wavers inside is no surface
    view->foam_neighbours = (float)(MAKES * around);
    view->spray_decay = (float)exp(-foam->spray_drag * dt);
    view->bubble_decay = (float)exp(-foam->bubble_drag * dt);
    view->bubble_rise = foam->buoyancy / fmaxf(foam->bubble_drag, 1e-3f);
    view->class_decay = (float)exp(-dt / CLASS_TIME);
}

static void set_potentials(MoteWorld *world, uint32_t stride)
{
    SolverData *view = &world->view;
    const MoteFoam *foam = &world->foam;
    const MoteVec3 g = world->settings.gravity;
    const double interval = (double)stride * view->time_step;
    const double gravity = fmax(sqrt((double)g.x * g.x + (double)g.y * g.y + (double)g.z * g.z), 1.0);
    view->foam_interval = (float)interval;
    view->foam_rate = (float)(FULL_RATE * foam->amount * interval);
    view->foam_speed = foam->speed;
    view->foam_slowest = (float)sqrt(2.0 * gravity * RESOLVED_FALL * world->settings.spacing);
    view->foam_forgets = (float)exp(-interval / MEMORY);
    view->foam_weight = (float)(1.0 / rest_weight(&world->settings));
    view->foam_air = foam->air;
    view->foam_crest = foam->crest;
    view->foam_vorticity = foam->vorticity;
    view->air_lower = foam->air_lower;
    view->air_range = inverse_range(foam->air_lower, foam->air_upper);
    view->crest_lower = foam->crest_lower;
    view->crest_range = inverse_range(foam->crest_lower, foam->crest_upper);
    view->vorticity_lower = foam->vorticity_lower;
    view->vorticity_range = inverse_range(foam->vorticity_lower, foam->vorticity_upper);
    view->energy_lower = foam->energy_lower;
    view->energy_range = inverse_range(foam->energy_lower, foam->energy_upper);
    view->foam_life = foam->life;
    view->foam_seed = foam->seed;
}

// The passive particles that users emit in this step, in free slots.
static void emit(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    functions->scan(world->backend, view->diffuse_scan, view->diffuse_count);
    LAUNCH(world, list_free_diffuse);
    LAUNCH(world, emit_diffuse);
    LAUNCH(world, commit_emission);
}

// Spawning on the device: potentials, counts, a scan of them and one of the free slots.
static void spawn(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    LAUNCH(world, measure_potentials);
    LAUNCH(world, count_diffuse);
    functions->scan(world->backend, view->cell_scan, view->particle_count);
    functions->scan(world->backend, view->diffuse_scan, view->diffuse_count);
    LAUNCH(world, list_free_diffuse);
    LAUNCH(world, spawn_diffuse);
    LAUNCH(world, commit_diffuse);
}

void world_advance_diffuse(MoteWorld *world)
{
    SolverData *view = &world->view;
    if (view->diffuse_capacity == 0 || world_stops(world)) {
        return;
    }
    view->diffuse_count = view->diffuse_capacity;
    if (!world->speculating) { // the backend is waited for in each step anyway
        uint extent = 0;
        world->backend->functions->download(world->backend, &extent, view->diffuse_counts + DIFFUSE_EXTENT,
                                            sizeof extent);
        view->diffuse_count = extent > 0 ? extent : 1; // so that there is something to scan
    }
    const double steps = 1.0 / (SPAWN_RATE * view->time_step);
    const uint32_t stride = steps > 1.5 ? (uint32_t)fmin(steps + 0.5, 1e6) : 1;
    set_motion(world);
    LAUNCH(world, advect_diffuse);
    if (view->emission_count > 0) {
        emit(world);
    }
    const bool makes = world->foam.amount > 0.0f && world->tally.has_fluid && view->particle_count > 0;
    if (makes && (view->step_number + 1u) % stride == 0u) {
        set_potentials(world, stride);
        if (view->emission_count > 0) {
            LAUNCH(world, mark_free_diffuse);
        }
        spawn(world);
    }
    view->emission_count = 0;
}

// ---- New particles of users --------------------------------------------------------------------------------

// Class of passive particle i that is to be added.
static float class_of(const MoteDiffuse *diffuse, size_t i)
{
    return diffuse->velocities != NULL ? diffuse->velocities[4 * i + 3] : DIFFUSE_FOAM;
}

static MoteResult check_diffuse(const MoteDiffuse *diffuse)
{
    for (size_t i = 0; i < 4 * (size_t)diffuse->count; i++) {
        const float p = diffuse->positions[i], v = diffuse->velocities != NULL ? diffuse->velocities[i] : 0.0f;
        if (!isfinite(p) || !isfinite(v) || (i % 4 == 3 && !(p > 0.0f))) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "passive particle %zu has a life or another number of %g, expected finite "
                             "numbers and a life above 0",
                             i / 4, (double)(isfinite(p) ? p : v));
        }
        const float s = diffuse->smoke != NULL ? diffuse->smoke[i] : 0.0f;
        if (!isfinite(s) || (i % 4 != 2 && s < 0.0f)) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "passive particle %zu has %g in smoke, expected finite numbers, and an age, a life and an "
                             "amount not below 0",
                             i / 4, (double)s);
        }
    }
    for (size_t i = 0; i < diffuse->count; i++) {
        const float class = class_of(diffuse, i);
        if (class < DIFFUSE_SPRAY || (class > DIFFUSE_BUBBLE && class != DIFFUSE_SMOKE)) {
            return mote_fail(MOTE_ERROR_INPUT, "passive particle %zu has class %g, expected 0 to 2, or 3 for smoke", i,
                             (double)class);
        }
    }
    return MOTE_OK;
}

// What particle i has besides, if it is of smoke.
static vec4 smoke_row(const MoteDiffuse *diffuse, size_t i)
{
    if (class_of(diffuse, i) != DIFFUSE_SMOKE) {
        return v4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    const float *s = diffuse->smoke != NULL ? diffuse->smoke + 4 * i : NULL;
    return s != NULL ? v4(s[0], s[1], s[2], s[3]) : v4(0.0f, diffuse->positions[4 * i + 3], 0.0f, 1.0f);
}

// ---- Emission ----------------------------------------------------------------------------------------------

MoteResult world_reserve_emission(MoteWorld *world, uint32_t count)
{
    const bool lists_are_current = world->lists_are_current;
    MoteResult result = world_reserve_smoke(world);
    if (result == MOTE_OK && 3 * (uint64_t)count > world->capacities[CAPACITY_EMISSION]) {
        result = world_reserve(world, CAPACITY_EMISSION, 3 * (uint64_t)count, 3 * (uint64_t)world->view.emission_count);
    }
    world->lists_are_current = lists_are_current;
    return result;
}

MoteResult mote_world_emit_diffuse(MoteWorld *world, const MoteDiffuse *diffuse)
{
    SolverData *view = &world->view;
    MoteResult result = check_diffuse(diffuse);
    if (result == MOTE_OK && view->diffuse_capacity == 0) {
        result = mote_fail(MOTE_ERROR_INPUT, "passive particles cannot be emitted in a world without room for them "
                                             "(mote_world_set_foam)");
    }
    const uint32_t first = view->emission_count, count = diffuse->count;
    if (result == MOTE_OK && count > UINT32_MAX / 4 - first) {
        result = mote_fail(MOTE_ERROR_INPUT, "%u passive particles cannot be emitted in a step", count);
    }
    result = result == MOTE_OK ? world_reserve_emission(world, first + count) : result;
    vec4 *rows = result == MOTE_OK ? calloc(3 * (size_t)count + 1, sizeof *rows) : NULL;
    if (rows == NULL || count == 0) {
        free(rows);
        return result != MOTE_OK || rows != NULL
                   ? result
                   : mote_fail(MOTE_ERROR_MEMORY, "no memory to emit %u passive particles", count);
    }
    for (size_t i = 0; i < count; i++) {
        const float *p = diffuse->positions + 4 * i;
        rows[3 * i] = v4(p[0], p[1], p[2], p[3]);
        rows[3 * i + 1] = v4(0.0f, 0.0f, 0.0f, DIFFUSE_FOAM);
        if (diffuse->velocities != NULL) {
            memcpy(&rows[3 * i + 1], diffuse->velocities + 4 * i, sizeof(vec4));
        }
        rows[3 * i + 2] = smoke_row(diffuse, i);
    }
    world->backend->functions->upload(world->backend, view->emission + 3 * (size_t)first, rows,
                                      3 * (size_t)count * sizeof *rows);
    view->emission_count += count;
    free(rows);
    return MOTE_OK;
}

// ---- Copies ------------------------------------------------------------------------------------------------

static MoteResult read_counts(MoteWorld *world, uint counts[DIFFUSE_COUNT_ALL])
{
    for (uint32_t i = 0; i < DIFFUSE_COUNT_ALL; i++) {
        counts[i] = 0;
    }
    if (world->view.diffuse_capacity > 0) {
        world->backend->functions->download(world->backend, counts, world->view.diffuse_counts,
                                            DIFFUSE_COUNT_ALL * sizeof *counts);
    }
    return world_check_backend(world);
}

MoteResult mote_world_diffuse_counts(MoteWorld *world, MoteDiffuseCounts *out)
{
    uint counts[DIFFUSE_COUNT_ALL];
    const MoteResult result = read_counts(world, counts);
    *out = (MoteDiffuseCounts){
        .present = counts[DIFFUSE_SPAWNED] - counts[DIFFUSE_DEAD],
        .spawned = counts[DIFFUSE_SPAWNED],
        .dead = counts[DIFFUSE_DEAD],
        .dropped = counts[DIFFUSE_DROPPED],
    };
    return result;
}

// Copies element `from` of an array of vec4 to element `to` of the caller's, if that wants it.
static void copy_row(float *target, size_t to, const vec4 *source, size_t from)
{
    if (target != NULL) {
        memcpy(target + 4 * to, source + from, sizeof *source);
    }
}

// Copies the slots within the extent, and moves those in use together.
static MoteResult read_slots(MoteWorld *world, uint32_t extent, MoteDiffuse *out)
{
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    vec4 *rows = calloc(3 * (size_t)extent + 1, sizeof *rows);
    uint *ids = calloc((size_t)extent + 1, sizeof *ids);
    if (rows == NULL || ids == NULL) {
        free(rows);
        free(ids);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to read %u passive particles", extent);
    }
    vec4 *velocities = rows + extent, *smoke = velocities + extent;
    functions->download(world->backend, rows, view->diffuse_positions, extent * sizeof *rows);
    functions->download(world->backend, velocities, view->diffuse_velocities, extent * sizeof *rows);
    functions->download(world->backend, ids, view->diffuse_ids, extent * sizeof *ids);
    if (world->has_smoke) {
        functions->download(world->backend, smoke, view->diffuse_smoke, extent * sizeof *rows);
    }
    out->count = 0;
    for (uint32_t i = 0; i < extent && out->count < out->capacity; i++) {
        if (rows[i].w > 0.0f) {
            const size_t to = out->count++;
            copy_row(out->positions, to, rows, i);
            copy_row(out->velocities, to, velocities, i);
            copy_row(out->smoke, to, smoke, i);
            if (out->ids != NULL) {
                out->ids[to] = ids[i];
            }
        }
    }
    free(rows);
    free(ids);
    return world_check_backend(world);
}

MoteResult mote_world_read_diffuse(MoteWorld *world, MoteDiffuse *out)
{
    uint counts[DIFFUSE_COUNT_ALL];
    const MoteResult result = read_counts(world, counts);
    const uint32_t present = counts[DIFFUSE_SPAWNED] - counts[DIFFUSE_DEAD];
    out->count = 0;
    if (result == MOTE_OK && present > out->capacity) {
        return mote_fail(MOTE_ERROR_INPUT, "there is room for %u passive particles, and there are %u", out->capacity,
                         present);
    }
    return result == MOTE_OK && present > 0 ? read_slots(world, counts[DIFFUSE_EXTENT], out) : result;
}

// What the smoke among `diffuse` has besides, to slots from `first` on.
static MoteResult add_smoke(MoteWorld *world, const MoteDiffuse *diffuse, uint32_t first, uint32_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        any |= class_of(diffuse, i) == DIFFUSE_SMOKE;
    }
    if (!any && !world->has_smoke) {
        return MOTE_OK;
    }
    const MoteResult result = world_reserve_smoke(world);
    vec4 *rows = calloc((size_t)count + 1, sizeof *rows);
    if (result != MOTE_OK || rows == NULL) {
        free(rows);
        return result != MOTE_OK ? result : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u particles of smoke", count);
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = smoke_row(diffuse, i);
    }
    if (count > 0) {
        world->backend->functions->upload(world->backend, world->view.diffuse_smoke + first, rows,
                                          count * sizeof *rows);
    }
    free(rows);
    return MOTE_OK;
}

MoteResult mote_world_add_diffuse(MoteWorld *world, const MoteDiffuse *diffuse)
{
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    uint counts[DIFFUSE_COUNT_ALL];
    MoteResult result = check_diffuse(diffuse);
    result = result == MOTE_OK ? read_counts(world, counts) : result;
    if (result != MOTE_OK || view->diffuse_capacity == 0) {
        return result != MOTE_OK ? result
                                 : mote_fail(MOTE_ERROR_INPUT, "passive particles cannot be added to a world without "
                                                               "room for them (mote_world_set_foam)");
    }
    const uint32_t first = counts[DIFFUSE_EXTENT], room = view->diffuse_capacity - first;
    const uint32_t count = diffuse->count < room ? diffuse->count : room;
    result = add_smoke(world, diffuse, first, count);
    if (result != MOTE_OK) {
        return result;
    }
    vec4 *velocities = calloc((size_t)count + 1, sizeof *velocities);
    uint *ids = calloc((size_t)count + 1, sizeof *ids);
    if (velocities != NULL && ids != NULL && count > 0) {
        for (uint32_t i = 0; i < count; i++) {
            const float *v = diffuse->velocities != NULL ? diffuse->velocities + 4 * (size_t)i : NULL;
            velocities[i] = v != NULL ? v4(v[0], v[1], v[2], v[3]) : v4(0.0f, 0.0f, 0.0f, DIFFUSE_FOAM);
            ids[i] = counts[DIFFUSE_SPAWNED] + i;
        }
        functions->upload(world->backend, view->diffuse_positions + first, diffuse->positions, count * sizeof(vec4));
        functions->upload(world->backend, view->diffuse_velocities + first, velocities, count * sizeof *velocities);
        functions->upload(world->backend, view->diffuse_ids + first, ids, count * sizeof *ids);
    }
    result =
        velocities != NULL && ids != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for passive particles");
    free(velocities);
    free(ids);
    if (result == MOTE_OK) {
        counts[DIFFUSE_EXTENT] += count;
        counts[DIFFUSE_SPAWNED] += count;
        counts[DIFFUSE_DROPPED] += diffuse->count - count;
        functions->upload(world->backend, view->diffuse_counts, counts, sizeof counts);
        result = world_check_backend(world);
    }
    return result;
}
