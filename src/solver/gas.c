// SPDX-License-Identifier: MIT
// gas.c - gas (kernels/gas): its settings, memory and launches.
#include "mote_gas.h"
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Settings ----------------------------------------------------------------------------------------------

MoteResult mote_world_set_gas(MoteWorld *world, const MoteGas *gas)
{
    const struct {
        const char *name;
        float value;
        bool any_sign;
    } rows[] = {
        {"gravity", gas->gravity, true},
        {"buoyancy", gas->buoyancy, true},
        {"cooling_time", gas->cooling_time, false},
        {"mixing", gas->mixing, false},
        {"drag", gas->drag, false},
        {"cohesion", gas->cohesion, false},
        {"baroclinic", gas->baroclinic, true},
        {"baroclinic_time", gas->baroclinic_time, false},
        {"vortex_limit", gas->vortex_limit, false},
        {"life", gas->life, false},
        {"linger", gas->linger, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!isfinite(rows[i].value) || (!rows[i].any_sign && rows[i].value < 0.0f)) {
            return mote_fail(MOTE_ERROR_INPUT, "gas has %s %g, expected a finite number%s", rows[i].name,
                             (double)rows[i].value, rows[i].any_sign ? "" : " not below 0");
        }
    }
    world->gas = *gas;
    return MOTE_OK;
}

MoteGas mote_world_gas(const MoteWorld *world)
{
    return world->gas;
}

// What is left after a step of what falls to 1/e in this time; 0: all.
static float decay_in(double time_step, float time)
{
    return time > 0.0f ? (float)exp(-time_step / (double)time) : 1.0f;
}

void world_set_gas_parameters(MoteWorld *world)
{
    const MoteGas *gas = &world->gas;
    SolverData *view = &world->view;
    const double dt = view->time_step;
    view->has_gas = world->has_gas;
    view->gas_gravity = gas->gravity;
    view->gas_buoyancy = gas->buoyancy;
    view->gas_cooling = decay_in(dt, gas->cooling_time);
    view->gas_mixing = gas->mixing;
    view->gas_drag = gas->drag;
    view->smoke_decay = (float)exp(-(double)gas->drag * dt);
    view->gas_cohesion = gas->cohesion;
    view->gas_baroclinic = gas->baroclinic;
    view->gas_vortex_decay = decay_in(dt, gas->baroclinic_time);
    view->gas_vortex_limit = gas->vortex_limit > 0.0f ? gas->vortex_limit : 1e15f;
    view->gas_life = world->has_gas ? gas->life : 0.0f;
    view->gas_linger = world->has_gas ? gas->linger : 0.0f;
    view->gas_ends = view->gas_life > 0.0f || view->gas_linger > 0.0f;
}

// ---- Memory ------------------------------------------------------------------------------------------------

MoteResult world_reserve_gas(MoteWorld *world)
{
    if (world->has_gas) {
        return MOTE_OK;
    }
    world->has_gas = true;
    const MoteResult result = world_reserve_particles(world, world->capacities[CAPACITY_PARTICLES]);
    world->has_gas = result == MOTE_OK;
    return result;
}

MoteResult world_begin_gas_particles(MoteWorld *world, const MoteParticles *particles, uint32_t first)
{
    if (!isfinite(particles->temperature)) {
        return mote_fail(MOTE_ERROR_INPUT, "gas has a temperature of %g K, expected a finite number",
                         (double)particles->temperature);
    }
    vec4 *rows = malloc((size_t)particles->count * sizeof *rows + 1);
    if (rows == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to add %u particles of gas", particles->count);
    }
    for (uint32_t i = 0; i < particles->count; i++) {
        rows[i] = v4(0.0f, particles->lasts ? -1.0f : 0.0f, particles->temperature, 0.0f);
    }
    world->backend->functions->upload(world->backend, world->view.gas_states + first, rows,
                                      particles->count * sizeof *rows);
    free(rows);
    return MOTE_OK;
}

static void read_rows(MoteWorld *world, float *target, const vec4 *source, uint32_t count)
{
    if (target != NULL && count > 0 && world->has_gas) {
        world->backend->functions->download(world->backend, target, source, count * sizeof *source);
    } else if (target != NULL) {
        memset(target, 0, count * sizeof *source);
    }
}

MoteResult mote_world_read_gas(MoteWorld *world, MoteGasView *view)
{
    const uint32_t count = world->view.particle_count;
    if (view->capacity < count) {
        return mote_fail(MOTE_ERROR_INPUT, "room to read the gas of %u particles, expected room for the world's %u",
                         view->capacity, count);
    }
    view->count = count;
    read_rows(world, view->states, world->view.gas_states, count);
    read_rows(world, view->vortices, world->view.gas_vortices, count);
    return world_check_backend(world);
}

// ---- A step ------------------------------------------------------------------------------------------------

void world_lift_gas(MoteWorld *world)
{
    if (world->has_gas && world->view.particle_count > 0) {
        LAUNCH(world, begin_gas);
    }
}

void world_drive_gas(MoteWorld *world)
{
    if (world->has_gas && world->view.particle_count > 0 && !world_stops(world)) {
        LAUNCH(world, spin_gas);
        LAUNCH(world, drive_gas);
    }
}
