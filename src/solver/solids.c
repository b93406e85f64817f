// SPDX-License-Identifier: MIT
// solids.c - materials and groups, contact memory of solid particles, and recording of forces.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Room --------------------------------------------------------------------------------------------------

MoteResult world_reserve_solids(MoteWorld *world)
{
    SolverData *view = &world->view;
    if (view->has_solids != 0u) {
        return MOTE_OK;
    }
    view->has_solids = 1;
    const MoteResult result = world_reserve_particles(world, world->capacities[CAPACITY_PARTICLES]);
    view->has_solids = result == MOTE_OK;
    return result;
}

// ---- Materials ---------------------------------------------------------------------------------------------

static MoteResult check_material(uint32_t i, const MoteMaterial *material)
{
    const float numbers[] = {material->static_friction, material->kinetic_friction, material->restitution,
                             material->adhesion, material->rolling_friction};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        if (!isfinite(numbers[k]) || numbers[k] < 0.0f) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "material %u has %g among its coefficients, expected numbers not below 0", i,
                             (double)numbers[k]);
        }
    }
    if (material->restitution > 1.0f || material->rolling_friction > 1.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "material %u has restitution %g and rolling friction %g, expected 0 to 1", i,
                         (double)material->restitution, (double)material->rolling_friction);
    }
    if (material->combine > MOTE_COMBINE_MAXIMUM) {
        return mote_fail(MOTE_ERROR_INPUT, "material %u has combine %u, expected a MoteCombine", i, material->combine);
    }
    return MOTE_OK;
}

// Rows for groups up to `count`, the new ones with the material of their own number, or 0.
static MoteResult reserve_groups(MoteWorld *world, uint32_t count)
{
    SolverData *view = &world->view;
    if (count <= view->group_count) {
        return MOTE_OK;
    }
    const uint32_t fresh = count - view->group_count;
    uint *rows = malloc(fresh * sizeof *rows);
    MoteResult result = rows != NULL ? world_reserve(world, CAPACITY_GROUPS, count, view->group_count)
                                     : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u groups", fresh);
    if (result == MOTE_OK) {
        for (uint32_t i = 0; i < fresh; i++) {
            const uint32_t group = view->group_count + i;
            rows[i] = group < view->material_count ? group : 0;
        }
        world->backend->functions->upload(world->backend, view->group_materials + view->group_count, rows,
                                          fresh * sizeof *rows);
        view->group_count = count;
    }
    free(rows);
    return result;
}

// Two materials pass through each other if either of them ignores the other.
static uint32_t ignored_by(const MoteMaterial *materials, uint32_t count, uint32_t i)
{
    uint32_t ignored = materials[i].ignored_materials;
    for (uint32_t j = 0; j < count && j < 32 && i < 32; j++) {
        ignored |= (materials[j].ignored_materials >> i & 1u) << j;
    }
    return ignored;
}

MoteResult mote_world_set_materials(MoteWorld *world, const MoteMaterial *materials, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        MoteResult checked = check_material(i, &materials[i]);
        checked = checked == MOTE_OK ? world_check_liquid(i, &materials[i]) : checked;
        if (checked != MOTE_OK) {
            return checked;
        }
    }
    Material *rows = malloc(count * sizeof *rows + 1);
    MoteResult result = rows != NULL ? world_reserve(world, CAPACITY_MATERIALS, count, 0)
                                     : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u materials", count);
    result = result == MOTE_OK ? world_set_liquids(world, materials, count) : result;
    if (result == MOTE_OK) {
        world->sticky_materials = world->bouncing = world->rolling = world->ignoring = false;
        for (uint32_t i = 0; i < count; i++) {
            const MoteMaterial *m = &materials[i];
            rows[i] = (Material){
                .static_friction = m->static_friction,
                .kinetic_friction = m->kinetic_friction,
                .restitution = m->restitution,
                .adhesion = m->adhesion,
                .rolling_rate = m->rolling_friction < 1.0f ? -60.0f * logf(1.0f - m->rolling_friction) : ROLLING_NEVER,
                .combine = m->combine,
                .ignored = ignored_by(materials, count, i),
            };
            world->ignoring |= rows[i].ignored != 0u;
            world->sticky_materials |= m->adhesion > 0.0f;
            world->bouncing |= m->restitution > 0.0f;
            world->rolling |= m->rolling_friction < 1.0f && (m->static_friction > 0.0f || m->kinetic_friction > 0.0f);
        }
        if (count > 0) {
            world->backend->functions->upload(world->backend, world->view.materials, rows, count * sizeof *rows);
        }
        world->view.material_count = count;
        if (world->rolling && world_look_up_channel(world, ANGULAR_VELOCITY_CHANNEL) == NULL) {
            result = mote_world_add_channel(world, ANGULAR_VELOCITY_CHANNEL, 4);
            world->rolling = result == MOTE_OK;
        }
        world->tally.next_group = world->tally.next_group > count ? world->tally.next_group : count;
    }
    free(rows);
    return result;
}

MoteResult mote_world_set_group_material(MoteWorld *world, uint32_t group, uint32_t material)
{
    if (group > MOTE_PHASE_GROUP_MASK || material >= world->view.material_count) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "group %u and material %u, expected a group of 24 bits and one of %u materials", group,
                         material, world->view.material_count);
    }
    const MoteResult result = reserve_groups(world, group + 1);
    if (result == MOTE_OK) {
        const uint row = material;
        world->backend->functions->upload(world->backend, world->view.group_materials + group, &row, sizeof row);
    }
    return result;
}

// ---- Forces ------------------------------------------------------------------------------------------------

MoteResult mote_world_record_forces(MoteWorld *world, bool on)
{
    if (on == world->recording_forces) {
        return MOTE_OK;
    }
    world->recording_forces = on;
    if (on) {
        const MoteResult result = world_reserve_particles(world, world->capacities[CAPACITY_PARTICLES]);
        world->recording_forces = result == MOTE_OK;
        return result;
    }
    const bool lists_are_current = world->lists_are_current;
    world_reserve(world, CAPACITY_FORCES, 0, 0);
    world_reserve(world, CAPACITY_FORCE_MARKS, 0, 0);
    world->lists_are_current = lists_are_current;
    return MOTE_OK;
}

bool mote_world_records_forces(const MoteWorld *world)
{
    return world->recording_forces;
}

const char *mote_force_name(MoteForceKind kind)
{
    static const char *const names[MOTE_FORCE_COUNT] = {
#define FORCE(name, number, label) [MOTE_FORCE_##name] = "force_" #label,
#include "kernels/constraints.def"
    };
    MOTE_ASSERT(kind < MOTE_FORCE_COUNT);
    return names[kind];
}

MoteResult mote_world_read_forces(MoteWorld *world, uint32_t kind, float *values)
{
    if (kind >= MOTE_FORCE_COUNT || !world->recording_forces) {
        return mote_fail(MOTE_ERROR_INPUT, "forces of kind %u are %s", kind,
                         kind >= MOTE_FORCE_COUNT ? "not a MoteForceKind" : "not recorded: mote_world_record_forces");
    }
    const size_t count = world->view.particle_count, stride = world->capacities[CAPACITY_FORCE_MARKS];
    if (count > 0) {
        world->backend->functions->download(world->backend, values, world->view.forces + kind * stride,
                                            count * sizeof(vec4));
    }
    return world_check_backend(world);
}
