// SPDX-License-Identifier: MIT
// statistics.c - statistics of a world (sums in double precision on the host, in particle order, so that they are the
// same for any number of threads), state hash and timings.
#include "solver/particle_copy.h"
#include "solver/world.h"

#include "base/error.h"
#include "base/hash.h"
#include <math.h>
#include <stdlib.h>

// Finds neighbours where no step has left any: at the start, after a state was loaded or particles were added.
// *measurable is false if the lists have pairs that the solver leaves out, or nothing has a density.
static MoteResult prepare_lists(MoteWorld *world, bool *measurable)
{
    MoteResult result = MOTE_OK;
    if (!world->lists_are_current && world->tally.has_fluid && !world->ignoring) {
        result = world_find_neighbours_aside(world);
    }
    *measurable = result == MOTE_OK && world->lists_are_current && (world->view.ignoring != 0u) == world->ignoring;
    return result;
}

// Densities at the current positions, over rest density; of the last step's neighbours.
static MoteResult add_densities(MoteWorld *world, const MoteParticleView *host, MoteStatistics *out)
{
    const BackendFunctions *functions = world->backend->functions;
    const uint32_t n = host->count;
    float *densities = malloc(n * sizeof *densities);
    uint *neighbours = malloc(n * sizeof *neighbours);
    if (densities == NULL || neighbours == NULL) {
        free(densities);
        free(neighbours);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the statistics of %u particles", n);
    }
    if (world->view.has_vorticity != 0u) { // the last step has left the vorticity there
        CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_predicted));
        functions->copy(world->backend, world->view.predicted, world->view.positions, n * sizeof(vec4));
    }
    world_measure_densities(world);
    functions->download(world->backend, densities, world->view.densities, n * sizeof *densities);
    functions->download(world->backend, neighbours, world->view.neighbour_counts, n * sizeof *neighbours);
    for (uint32_t i = 0; i < n; i++) {
        out->neighbours_mean += neighbours[i];
        out->neighbours_max = neighbours[i] > out->neighbours_max ? neighbours[i] : out->neighbours_max;
        if (has_density(host->phases[i])) {
            const double error = fmax(densities[i] - 1.0, 0.0);
            out->liquid_particles++;
            out->density_mean += densities[i];
            out->density_error_mean += error;
            out->density_error_max = fmax(out->density_error_max, error);
        }
    }
    out->neighbours_mean /= n;
    if (out->liquid_particles > 0) {
        out->density_mean /= out->liquid_particles;
        out->density_error_mean /= out->liquid_particles;
    }
    out->measured = true;
    free(densities);
    free(neighbours);
    return world_check_backend(world);
}

static void add_particle(MoteStatistics *out, const MoteVec3 *gravity, const float *position, const float *velocity)
{
    const double x = position[0], y = position[1], z = position[2];
    const double u = velocity[0], v = velocity[1], w = velocity[2];
    for (int axis = 0; axis < 3; axis++) {
        out->bounds_min[axis] = fmin(out->bounds_min[axis], position[axis]);
        out->bounds_max[axis] = fmax(out->bounds_max[axis], position[axis]);
    }
    if (position[3] <= 0.0f) {
        return; // pinned
    }
    const double mass = 1.0 / position[3];
    out->mass += mass;
    out->kinetic_energy += 0.5 * mass * (u * u + v * v + w * w);
    out->potential_energy -= mass * (gravity->x * x + gravity->y * y + gravity->z * z);
    out->momentum[0] += mass * u;
    out->momentum[1] += mass * v;
    out->momentum[2] += mass * w;
    out->angular_momentum[0] += mass * (y * w - z * v);
    out->angular_momentum[1] += mass * (z * u - x * w);
    out->angular_momentum[2] += mass * (x * v - y * u);
    out->centre_of_mass[0] += mass * x;
    out->centre_of_mass[1] += mass * y;
    out->centre_of_mass[2] += mass * z;
}

MoteResult mote_world_statistics(MoteWorld *world, MoteStatistics *out)
{
    *out = (MoteStatistics){
        .particles = world->view.particle_count,
        .steps = world->steps,
        .removed = world->removed,
        .memory_bytes = world->memory_bytes,
    };
    MoteParticleView host;
    MoteResult result = particle_copy_read(world, COPY_ALL & ~COPY_IDS, &host);
    if (result != MOTE_OK || host.count == 0) {
        particle_copy_free(&host);
        return result;
    }
    for (int axis = 0; axis < 3; axis++) {
        out->bounds_min[axis] = INFINITY;
        out->bounds_max[axis] = -INFINITY;
    }
    for (uint32_t i = 0; i < host.count; i++) {
        add_particle(out, &world->settings.gravity, host.positions + 4 * (size_t)i, host.velocities + 4 * (size_t)i);
    }
    for (int axis = 0; axis < 3 && out->mass > 0.0; axis++) {
        out->centre_of_mass[axis] /= out->mass;
    }
    bool measurable = false;
    result = prepare_lists(world, &measurable);
    if (measurable) {
        result = add_densities(world, &host, out);
    }
    result = result == MOTE_OK ? world_add_link_statistics(world, &host, out) : result;
    out->memory_bytes = world->memory_bytes; // the search may have taken some
    particle_copy_free(&host);
    return result;
}

MoteResult mote_world_state_hash(MoteWorld *world, uint64_t *out)
{
    MoteParticleView host;
    const MoteResult result = particle_copy_read(world, COPY_ALL, &host);
    if (result == MOTE_OK) {
        const size_t n = host.count;
        uint64_t hash = hash_bytes(HASH_START, host.positions, n * 16);
        hash = hash_bytes(hash, host.velocities, n * 16);
        hash = hash_bytes(hash, host.ids, n * 4);
        *out = hash_bytes(hash, host.phases, n * 4);
    }
    particle_copy_free(&host);
    return result;
}

// ---- Timings -----------------------------------------------------------------------------------------------

uint32_t mote_world_timings(const MoteWorld *world, MoteTiming *rows, uint32_t capacity)
{
    static const struct {
        const char *name, *stage;
    } names[TIMER_COUNT] = {
#define KERNEL_ROW(name, stage, count) {#name, #stage},
#include "kernels/kernels.def"
        [PRIMITIVE_SORT] = {"sort", "sort"},
        [PRIMITIVE_SCAN] = {"scan", "neighbours"},
        [PRIMITIVE_BOUNDS] = {"bounds", "sort"},
        [PRIMITIVE_LISTS] = {"build_lists", "neighbours"},
    };
    Timer timers[TIMER_COUNT];
    world->backend->functions->read_timers(world->backend, timers);
    for (uint32_t i = 0; i < TIMER_COUNT && i < capacity; i++) {
        rows[i] = (MoteTiming){names[i].name, names[i].stage, timers[i].milliseconds, timers[i].launches,
                               timers[i].invocations};
    }
    return TIMER_COUNT;
}

void mote_world_reset_timings(MoteWorld *world)
{
    world->backend->functions->reset_timers(world->backend);
}

uint64_t mote_world_host_waits(const MoteWorld *world)
{
    return world->backend->waits;
}
