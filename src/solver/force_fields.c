// SPDX-License-Identifier: MIT
// force_fields.c - force fields and impulses: converts them to the rows that kernels read.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>

// ---- Rows --------------------------------------------------------------------------------------------------

MoteForceField mote_default_force_field(void)
{
    return (MoteForceField){.pose.rotation.w = 1.0f};
}

static MoteResult check_numbers(const MoteForceField *field)
{
    const struct {
        const char *name;
        float value, least;
    } rows[] = {
        {"half_size.x", field->half_size.x, 0.0f},
        {"half_size.y", field->half_size.y, 0.0f},
        {"half_size.z", field->half_size.z, 0.0f},
        {"radius", field->radius, 0.0f},
        {"border", field->border, 0.0f},
        {"softening", field->softening, 0.0f},
        {"drag", field->drag, 0.0f},
        {"strength", field->strength, -INFINITY},
        {"swirl", field->swirl, -INFINITY},
        {"direction.x", field->direction.x, -INFINITY},
        {"direction.y", field->direction.y, -INFINITY},
        {"direction.z", field->direction.z, -INFINITY},
        {"angular.x", field->angular.x, -INFINITY},
        {"angular.y", field->angular.y, -INFINITY},
        {"angular.z", field->angular.z, -INFINITY},
        {"velocity.x", field->velocity.x, -INFINITY},
        {"velocity.y", field->velocity.y, -INFINITY},
        {"velocity.z", field->velocity.z, -INFINITY},
        {"pose.position.x", field->pose.position.x, -INFINITY},
        {"pose.position.y", field->pose.position.y, -INFINITY},
        {"pose.position.z", field->pose.position.z, -INFINITY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!isfinite(rows[i].value) || rows[i].value < rows[i].least) {
            return mote_fail(MOTE_ERROR_INPUT, "a force field's %s is %g, expected a number%s", rows[i].name,
                             (double)rows[i].value, rows[i].least == 0.0f ? " not below 0" : "");
        }
    }
    return MOTE_OK;
}

static bool is_round(const MoteForceField *field)
{
    return field->kind == MOTE_FORCE_FIELD_POINT || field->kind == MOTE_FORCE_FIELD_RADIAL;
}

static MoteResult check_field(const MoteForceField *field, bool lasts)
{
    const bool lasting = field->mode == MOTE_FORCE_MODE_ACCELERATION || field->mode == MOTE_FORCE_MODE_FORCE;
    if ((uint32_t)field->kind > MOTE_FORCE_FIELD_UNIFORM || (uint32_t)field->falloff > MOTE_FALLOFF_INVERSE_SQUARE ||
        (uint32_t)field->mode > MOTE_FORCE_MODE_VELOCITY_CHANGE) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "a force field has kind %u, falloff %u and mode %u, expected a MoteForceFieldKind, a "
                         "MoteFalloff and a MoteForceMode",
                         (uint32_t)field->kind, (uint32_t)field->falloff, (uint32_t)field->mode);
    }
    if (lasting != lasts) {
        return mote_fail(MOTE_ERROR_INPUT,
                         lasts ? "a force field has a mode that acts at once, expected MOTE_FORCE_MODE_ACCELERATION or "
                                 "_FORCE; impulses are for mote_world_apply_impulse"
                               : "an impulse has a mode that lasts, expected MOTE_FORCE_MODE_IMPULSE or "
                                 "_VELOCITY_CHANGE; what lasts is for mote_world_add_force_field");
    }
    if (field->falloff == MOTE_FALLOFF_INVERSE_SQUARE && !is_round(field)) {
        return mote_fail(MOTE_ERROR_INPUT, "a box or uniform force field falls off with the square of a distance, "
                                           "expected a point or radial one");
    }
    if (is_round(field) && field->radius == 0.0f &&
        (field->falloff == MOTE_FALLOFF_LINEAR || field->falloff == MOTE_FALLOFF_QUADRATIC)) {
        return mote_fail(MOTE_ERROR_INPUT, "a force field's radius is 0 and its falloff linear or quadratic, expected "
                                           "a radius above 0 over which it falls off");
    }
    return check_numbers(field);
}

static MoteResult convert_field(const MoteForceField *field, ForceField *out)
{
    const MoteQuaternion q = field->pose.rotation;
    const float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (length != 0.0f && !(fabsf(length - 1.0f) < 1e-2f)) {
        return mote_fail(MOTE_ERROR_INPUT, "a force field's rotation has length %g, expected 1", (double)length);
    }
    const MoteVec3 p = field->pose.position, d = field->direction, a = field->angular, v = field->velocity;
    const MoteParticleFilter *filter = &field->filter;
    *out = (ForceField){
        .rotation = length > 0.0f ? v4(q.x / length, q.y / length, q.z / length, q.w / length) : v4(0, 0, 0, 1),
        .position = v3(p.x, p.y, p.z),
        .kind = field->kind,
        .uniform_part = v3_scale(v3(d.x, d.y, d.z), field->strength),
        .mode = field->mode,
        .angular = v3(a.x, a.y, a.z),
        .falloff = field->falloff,
        .velocity = v3(v.x, v.y, v.z),
        .drag = field->drag,
        .half_size = v3(field->half_size.x, field->half_size.y, field->half_size.z),
        .radius = field->radius,
        .border = field->border,
        .softening = field->softening,
        .strength = field->strength,
        .swirl = field->swirl,
        .kinds = filter->kinds != 0 ? filter->kinds : UINT32_MAX,
        .materials = filter->materials,
        .group = filter->one_group ? filter->group : NONE,
        .id = filter->one_particle ? filter->id : NONE,
        .spares_colliders = field->spares_colliders,
    };
    return MOTE_OK;
}

// ---- Fields that last --------------------------------------------------------------------------------------

static ForceFieldSlot *find_slot(const MoteWorld *world, MoteForceFieldId id)
{
    const bool known = id.index < world->force_field_slots && world->force_fields[id.index].in_use &&
                       world->force_fields[id.index].generation == id.generation;
    return known ? &world->force_fields[id.index] : NULL;
}

static MoteResult unknown_field(MoteForceFieldId id)
{
    return mote_fail(MOTE_ERROR_INPUT, "the world has no force field {%u, %u}: it was removed, or never added",
                     id.index, id.generation);
}

// The row of a slot on the device.
static uint32_t row_of(const MoteWorld *world, const ForceFieldSlot *slot)
{
    uint32_t row = 0;
    for (const ForceFieldSlot *s = world->force_fields; s < slot; s++) {
        row += s->in_use;
    }
    return row;
}

// Writes the row of this slot and, if rows were added or removed, of all slots behind it. Fields were checked before.
static void upload_from(MoteWorld *world, const ForceFieldSlot *slot, bool all_behind)
{
    const ForceFieldSlot *end = world->force_fields + world->force_field_slots;
    uint32_t row = row_of(world, slot);
    for (const ForceFieldSlot *s = slot; s < end && (all_behind || s == slot); s++) {
        ForceField converted;
        if (s->in_use && convert_field(&s->field, &converted) == MOTE_OK) {
            world->backend->functions->upload(world->backend, world->view.force_fields + row, &converted,
                                              sizeof converted);
            row++;
        }
    }
}

static MoteResult check_and_convert(const MoteForceField *field, bool lasts, ForceField *row)
{
    const MoteResult result = check_field(field, lasts);
    return result == MOTE_OK ? convert_field(field, row) : result;
}

static MoteResult reserve_fields(MoteWorld *world, uint32_t count)
{
    const bool lists_are_current = world->lists_are_current;
    const MoteResult result = world_reserve(world, CAPACITY_FORCE_FIELDS, count, world->view.force_field_count);
    world->lists_are_current = lists_are_current;
    return result;
}

MoteResult mote_world_add_force_field(MoteWorld *world, const MoteForceField *field, MoteForceFieldId *out)
{
    ForceField row;
    *out = (MoteForceFieldId){0, 0};
    MoteResult result = check_and_convert(field, true, &row);
    uint32_t index = 0;
    while (index < world->force_field_slots && world->force_fields[index].in_use) {
        index++;
    }
    if (result == MOTE_OK && index == world->force_field_slots) {
        ForceFieldSlot *grown = realloc(world->force_fields, (index + 1u) * sizeof *grown);
        if (grown == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u force fields", index + 1u);
        }
        world->force_fields = grown;
        world->force_fields[index] = (ForceFieldSlot){0};
        world->force_field_slots++;
    }
    result = result == MOTE_OK ? reserve_fields(world, world->view.force_field_count + 1u) : result;
    if (result != MOTE_OK) {
        return result;
    }
    ForceFieldSlot *slot = &world->force_fields[index];
    *slot = (ForceFieldSlot){*field, slot->generation + 1u, true};
    world->view.force_field_count++;
    upload_from(world, slot, true);
    *out = (MoteForceFieldId){index, slot->generation};
    return MOTE_OK;
}

MoteResult mote_world_set_force_field(MoteWorld *world, MoteForceFieldId id, const MoteForceField *field)
{
    ForceField row;
    ForceFieldSlot *slot = find_slot(world, id);
    const MoteResult result = slot != NULL ? check_and_convert(field, true, &row) : unknown_field(id);
    if (result == MOTE_OK) {
        slot->field = *field;
        upload_from(world, slot, false);
    }
    return result;
}

MoteResult mote_world_remove_force_field(MoteWorld *world, MoteForceFieldId id)
{
    ForceFieldSlot *slot = find_slot(world, id);
    if (slot == NULL) {
        return unknown_field(id);
    }
    slot->in_use = false;
    world->view.force_field_count--;
    upload_from(world, slot, true);
    return MOTE_OK;
}

bool mote_world_force_field(const MoteWorld *world, MoteForceFieldId id, MoteForceField *out)
{
    const ForceFieldSlot *slot = find_slot(world, id);
    if (slot != NULL) {
        *out = slot->field;
    }
    return slot != NULL;
}

uint32_t mote_world_force_field_count(const MoteWorld *world)
{
    return world->view.force_field_count;
}

void world_apply_force_fields(MoteWorld *world)
{
    const SolverData *view = &world->view;
    if (view->force_field_count > 0 && view->particle_count > 0) {
        LAUNCH(world, apply_force_fields);
    }
    if (view->force_field_count > 0 && view->dynamic_count > 0) {
        LAUNCH(world, force_colliders);
    }
}

// ---- Impulses ----------------------------------------------------------------------------------------------

MoteResult world_upload_query_field(MoteWorld *world, const MoteForceField *field)
{
    ForceField row;
    MoteResult result = convert_field(field, &row);
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_FIELDS, 1) : result;
    if (result == MOTE_OK) {
        world->backend->functions->upload(world->backend, world->view.query_fields, &row, sizeof row);
    }
    return result;
}

// The total momentum that particles and colliders got, if the caller wants it.
static void read_momentum(MoteWorld *world, bool colliders, MoteVec3 *momentum)
{
    const SolverData *view = &world->view;
    double sums[1][4] = {{0}};
    world_add_query_rows(world, 1, sums);
    for (uint32_t i = 0; colliders && i < view->dynamic_count; i++) {
        vec4 given;
        world->backend->functions->download(world->backend, &given,
                                            view->query_sums + view->query_chunk_count + view->query_row_count + i,
                                            sizeof given);
        sums[0][0] += (double)given.x;
        sums[0][1] += (double)given.y;
        sums[0][2] += (double)given.z;
    }
    *momentum = (MoteVec3){(float)sums[0][0], (float)sums[0][1], (float)sums[0][2]};
}

MoteResult mote_world_apply_impulse(MoteWorld *world, const MoteForceField *impulse, MoteVec3 *momentum)
{
    SolverData *view = &world->view;
    const bool colliders = !impulse->spares_colliders && view->dynamic_count > 0;
    world_set_query_chunks(world);
    MoteResult result = check_field(impulse, false);
    result = result == MOTE_OK ? world_upload_query_field(world, impulse) : result;
    const uint64_t sums = (uint64_t)view->query_chunk_count + view->query_row_count + view->dynamic_count;
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_SUMS, sums) : result;
    if (result != MOTE_OK) {
        return result;
    }
    view->motion_mask = v3(1.0f, 1.0f, world->settings.dimensions == 2 ? 0.0f : 1.0f); // no step may have set it yet
    if (view->particle_count > 0) {
        LAUNCH(world, apply_impulse);
    }
    if (colliders) {
        LAUNCH(world, kick_colliders);
    }
    if (momentum != NULL) {
        read_momentum(world, colliders, momentum);
    }
    return world_check_backend(world);
}
