// SPDX-License-Identifier: MIT
// gas_build.c - the gas of a scene: its section `gas`, and the smoke of volumes that are filled with gas.
#include "scene/build.h"
#include "scene/keys.h"
#include "scene/random.h"

#include "base/error.h"
#include "mote_diffuse.h"
#include "mote_gas.h"
#include "solver/batch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static MoteGas gas_of(const SceneGas *gas)
{
    return (MoteGas){
        .gravity = gas->gravity,
        .buoyancy = gas->buoyancy,
        .cooling_time = gas->cooling_time,
        .mixing = gas->mixing,
        .drag = gas->drag,
        .cohesion = gas->cohesion,
        .baroclinic = gas->baroclinic,
        .baroclinic_time = gas->baroclinic_time,
        .vortex_limit = gas->vortex_limit,
        .life = gas->life,
        .linger = gas->linger,
    };
}

MoteGas mote_default_gas(void)
{
    SceneGas gas;
    scene_defaults(SCENE_SECTION_gas, &gas);
    return gas_of(&gas);
}

// Whether the scene has gas, and whether with smoke.
static bool find_gas(const SceneValues *values, bool smoke)
{
    bool found = false;
    for (uint32_t i = 0; i < SCENE_COUNT(values, fluid); i++) {
        const SceneFluid *fluid = SCENE_AT(values, fluid, i);
        found = found || (fluid->kind == SCENE_FLUID_GAS && (!smoke || fluid->smoke > 0.0f));
    }
    for (uint32_t i = 0; i < SCENE_COUNT(values, emitter); i++) {
        const SceneEmitter *emitter = SCENE_AT(values, emitter, i);
        found = found || (emitter->kind == SCENE_EMITS_GAS && (!smoke || emitter->smoke > 0.0f));
    }
    return found;
}

bool scene_has_gas(const SceneValues *values)
{
    return find_gas(values, false);
}

uint32_t scene_diffuse_capacity(const SceneValues *values)
{
    const SceneFoam *foam = SCENE_AT(values, foam, 0);
    const SceneGas *gas = SCENE_AT(values, gas, 0);
    return (foam->amount > 0.0f ? foam->capacity : 0) + (find_gas(values, true) ? gas->smoke_capacity : 0);
}

MoteResult scene_build_gas(SceneStart *start)
{
    const SceneValues *values = &start->scene->values;
    if (!scene_has_gas(values)) {
        return MOTE_OK;
    }
    const MoteGas gas = gas_of(SCENE_AT(values, gas, 0));
    MoteFoam foam = mote_default_foam();
    foam.amount = 0.0f; // scene_build_foam sets it
    foam.capacity = scene_diffuse_capacity(values);
    MoteResult result = mote_world_set_gas(start->world, &gas);
    result = result == MOTE_OK ? world_reserve_gas(start->world) : result;
    result = result == MOTE_OK ? mote_world_set_foam(start->world, &foam) : result;
    result = result == MOTE_OK && foam.capacity > 0 ? world_reserve_emission(start->world, 0) : result;
    return result == MOTE_OK ? MOTE_OK : mote_fail(result, "%s: gas: %s", start->scene->path, mote_error_message());
}

MoteResult scene_add_smoke(SceneStart *start, uint32_t index, const MoteVec3 *points, uint32_t count)
{
    const SceneValues *values = &start->scene->values;
    const SceneFluid *fluid = SCENE_AT(values, fluid, index);
    const MoteSettings *settings = SCENE_AT(values, solver, 0);
    const uint64_t seed = SCENE_AT(values, gas, 0)->seed + ((uint64_t)(index + 1) << 48);
    const double wanted = floor((double)count * fluid->smoke);
    const uint32_t smoke = wanted < SCENE_PARTICLE_LIMIT ? (uint32_t)wanted : SCENE_PARTICLE_LIMIT;
    const bool flat = settings->dimensions == 2;
    float *rows = malloc(12 * (size_t)smoke * sizeof *rows + 1);
    if (rows == NULL || smoke == 0) {
        free(rows);
        return rows != NULL ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: fluids[%u]: no memory for %u particles of smoke",
                                        start->scene->path, index, smoke);
    }
    const MoteDiffuse all = {
        .count = smoke, .positions = rows, .velocities = rows + 4 * (size_t)smoke, .smoke = rows + 8 * (size_t)smoke};
    for (size_t i = 0; i < smoke; i++) {
        const MoteVec3 p = points[(uint32_t)((double)i / (double)fluid->smoke) % count], v = fluid->velocity;
        const float half = 0.5f * settings->spacing;
        const float life = fluid->smoke_life * (0.75f + 0.5f * random_unit(seed, 4 * i + 3));
        const float own[3][4] = {{p.x + half * random_signed(seed, 4 * i), p.y + half * random_signed(seed, 4 * i + 1),
                                  flat ? p.z : p.z + half * random_signed(seed, 4 * i + 2), life > 0.0f ? life : 1.0f},
                                 {v.x, v.y, flat ? 0.0f : v.z, SCENE_SMOKE_CLASS},
                                 {0.0f, life, fluid->temperature, fluid->smoke_amount}};
        memcpy(all.positions + 4 * i, own[0], sizeof own[0]);
        memcpy(all.velocities + 4 * i, own[1], sizeof own[1]);
        memcpy(all.smoke + 4 * i, own[2], sizeof own[2]);
    }
    const MoteResult result = mote_world_add_diffuse(start->world, &all);
    free(rows);
    return result == MOTE_OK ? MOTE_OK
                             : mote_fail(result, "%s: fluids[%u]: %s", start->scene->path, index, mote_error_message());
}
