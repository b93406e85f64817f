// SPDX-License-Identifier: MIT
// dynamics.c - dynamic colliders: their rows in the world's buffers, and reading and setting their motion.
#include "solver/mass.h"

#include "base/error.h"
#include "kernels/kernels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_mass(const MoteCollider *collider)
{
    return collider->mass > 0.0f || collider->density > 0.0f;
}

static const MoteField *field_of(const MoteWorld *world, const MoteCollider *collider)
{
    return collider->kind == MOTE_COLLIDER_FIELD ? world->colliders.fields[collider->data].field : NULL;
}

static DynamicCollider *find_row(const MoteWorld *world, uint32_t index)
{
    for (uint32_t row = 0; row < world->view.dynamic_count; row++) {
        if (world->dynamics[row].index == index) {
            return &world->dynamics[row];
        }
    }
    return NULL;
}

static bool same_geometry(const MoteWorld *world, const DynamicCollider *row, const MoteCollider *collider)
{
    const MoteCollider *before = &row->collider;
    return before->kind == collider->kind && before->half_size.x == collider->half_size.x &&
           before->half_size.y == collider->half_size.y && before->half_size.z == collider->half_size.z &&
           before->radius == collider->radius && before->data == collider->data && before->mass == collider->mass &&
           before->density == collider->density && row->field == field_of(world, collider);
}

// Whether two colliders are equal except for the pose, which only matters when a dynamic collider is added.
static bool same_collider(const MoteWorld *world, const DynamicCollider *row, const MoteCollider *collider)
{
    const MoteCollider *before = &row->collider;
    return same_geometry(world, row, collider) && before->inside_out == collider->inside_out &&
           before->static_friction == collider->static_friction &&
           before->kinetic_friction == collider->kinetic_friction && before->restitution == collider->restitution &&
           before->adhesion == collider->adhesion && before->combine == collider->combine;
}

bool world_dynamics_stay(const MoteWorld *world, const ColliderSet *set)
{
    bool stay = world->view.dynamic_count > 0 && world_rows_stay(world, set);
    for (uint32_t i = 0; i < set->count && stay; i++) {
        const DynamicCollider *row = find_row(world, i);
        stay = has_mass(&set->colliders[i]) == (row != NULL) &&
               (row == NULL || same_collider(world, row, &set->colliders[i]));
    }
    return stay;
}

static void free_rows(DynamicCollider *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(rows[i].samples);
    }
    free(rows);
}

void world_free_dynamics(MoteWorld *world)
{
    free_rows(world->dynamics, world->view.dynamic_count);
    world->dynamics = NULL;
    world->view.dynamic_count = 0;
}

// ---- Making ------------------------------------------------------------------------------------------------

// All tables of a new set of colliders, in the host's memory.
typedef struct Tables {
    uint32_t dynamic_count, sample_count;
    DynamicCollider *dynamics;
    Motion *motions;
    uint *rows, *indices; // dynamic_rows, dynamic_colliders
    uvec2 *ranges;
    vec4 *samples, *centres, *forces;
    Cluster *bodies;
    Motion *motions_before; // of the world's rows as they are
    vec4 *centres_before, *forces_before;
} Tables;

static void free_tables(Tables *tables)
{
    free_rows(tables->dynamics, tables->dynamic_count);
    free(tables->motions);
    free(tables->rows);
    free(tables->indices);
    free(tables->ranges);
    free(tables->samples);
    free(tables->centres);
    free(tables->forces);
    free(tables->bodies);
    free(tables->motions_before);
    free(tables->centres_before);
    free(tables->forces_before);
}

static bool allocate_tables(uint32_t dynamics, uint32_t colliders, Tables *tables)
{
    tables->dynamics = calloc(dynamics, sizeof *tables->dynamics);
    tables->motions = calloc(dynamics, sizeof *tables->motions);
    tables->indices = calloc(dynamics, sizeof *tables->indices);
    tables->centres = calloc(dynamics, sizeof *tables->centres);
    tables->forces = calloc(dynamics, 2 * sizeof *tables->forces);
    tables->bodies = calloc(dynamics, sizeof *tables->bodies);
    tables->rows = calloc(colliders, sizeof *tables->rows);
    tables->ranges = calloc(colliders, sizeof *tables->ranges);
    return tables->dynamics != NULL && tables->motions != NULL && tables->indices != NULL && tables->centres != NULL &&
           tables->forces != NULL && tables->bodies != NULL && tables->rows != NULL && tables->ranges != NULL;
}

// Reads the poses of the world's dynamic colliders.
static MoteResult read_before(MoteWorld *world, Tables *tables)
{
    const BackendFunctions *functions = world->backend->functions;
    const size_t n = world->view.dynamic_count;
    tables->motions_before = malloc(n * sizeof(Motion) + 1);
    tables->centres_before = malloc(n * sizeof(vec4) + 1);
    tables->forces_before = malloc(2 * n * sizeof(vec4) + 1);
    if (tables->motions_before == NULL || tables->centres_before == NULL || tables->forces_before == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %zu dynamic colliders", n);
    }
    if (n > 0) {
        functions->download(world->backend, tables->motions_before, world->view.dynamic_motions, n * sizeof(Motion));
        functions->download(world->backend, tables->centres_before, world->view.dynamic_centres, n * sizeof(vec4));
        functions->download(world->backend, tables->forces_before, world->view.dynamic_forces, 2 * n * sizeof(vec4));
    }
    return world_check_backend(world);
}

static Motion motion_at(vec3 position, vec4 rotation, vec3 centre)
{
    const vec3 place = v3_add(position, rotate(rotation, centre));
    return (Motion){
        .start_rotation = rotation, .predicted_rotation = rotation, .start_centre = place, .predicted_centre = place};
}

// A collider that was dynamic before keeps its motion.
static void keep_motion(const MoteWorld *world, const DynamicCollider *before, Collider *row, Tables *tables)
{
    const uint32_t n = tables->dynamic_count - 1, b = (uint32_t)(before - world->dynamics);
    const Motion motion = tables->motions_before[b];
    tables->motions[n] = motion;
    tables->centres[n].w = tables->centres_before[b].w;
    tables->forces[2 * n] = tables->forces_before[2 * b];
    tables->forces[2 * n + 1] = tables->forces_before[2 * b + 1];
    row->rotation = row->start_rotation = motion.predicted_rotation;
    row->position = row->start_position =
        v3_sub(motion.predicted_centre, rotate(motion.predicted_rotation, tables->dynamics[n].centre));
}

// Fills one collider's row, with its present motion if it was dynamic before.
static MoteResult make_row(MoteWorld *world, const ColliderSet *set, uint32_t i, Tables *tables)
{
    const MoteCollider *collider = &set->colliders[i];
    Collider *row = &set->rows[i];
    const DynamicCollider *before = find_row(world, set->before[i]); // of no row, if it had none
    const uint32_t n = tables->dynamic_count;
    DynamicCollider *after = &tables->dynamics[n];
    if (before != NULL && same_geometry(world, before, collider)) {
        *after = *before;
        after->samples = malloc(before->sample_count * sizeof *after->samples + 1);
        if (after->samples == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for the body of collider %u", i);
        }
        memcpy(after->samples, before->samples, before->sample_count * sizeof *after->samples);
        after->index = i;
    } else {
        const float moved = v3_length(v3_sub(row->position, row->start_position));
        MassProperties mass;
        const MoteResult result = mass_measure(world, i, collider, row, row->bounding_radius - moved, &mass);
        if (result != MOTE_OK) {
            return result;
        }
        *after = (DynamicCollider){
            .index = i,
            .field = field_of(world, collider),
            .body = mass.body,
            .centre = mass.centre,
            .samples = mass.samples,
            .sample_count = mass.sample_count,
        };
    }
    after->collider = *collider;
    tables->dynamic_count++;
    tables->motions[n] = motion_at(row->start_position, row->start_rotation, after->centre);
    tables->indices[n] = i;
    tables->centres[n] = v4_from_v3(after->centre, 1.0f);
    tables->bodies[n] = after->body;
    if (before != NULL && before->collider.kind == collider->kind) {
        keep_motion(world, before, row, tables);
    }
    tables->rows[i] = n;
    return MOTE_OK;
}

// Sample points at which collider i is tested against others. Non-convex solids that users move have none.
static uint32_t samples_of(const MoteWorld *world, const Collider *row, const DynamicCollider *dynamic,
                           vec4 own[BOX_SAMPLES], const vec4 **samples)
{
    *samples = own;
    if (dynamic != NULL) {
        *samples = dynamic->samples;
        return dynamic->sample_count;
    }
    if (row->inside_out != 0u || row->kind == COLLIDER_PLANE || row->kind > COLLIDER_CAPSULE) {
        return 0;
    }
    return row->kind == COLLIDER_BOX ? mass_box_samples(row->half_size, world->settings.dimensions == 2, own)
                                     : mass_round_samples(row, own);
}

static MoteResult make_samples(MoteWorld *world, const Collider *rows, uint32_t count, Tables *tables)
{
    for (int pass = 0; pass < 2; pass++) { // count, then fill
        uint32_t total = 0;
        for (uint32_t i = 0; i < count; i++) {
            vec4 own[BOX_SAMPLES];
            const vec4 *samples;
            const DynamicCollider *dynamic = tables->rows[i] != NONE ? &tables->dynamics[tables->rows[i]] : NULL;
            const uint32_t n = samples_of(world, &rows[i], dynamic, own, &samples);
            if (pass == 1 && n > 0) {
                memcpy(tables->samples + total, samples, n * sizeof *samples);
            }
            tables->ranges[i] = uv2(total, total + n);
            total += n;
        }
        tables->sample_count = total;
        if (pass == 0) {
            tables->samples = malloc(total * sizeof *tables->samples + 1);
            if (tables->samples == NULL) {
                return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u points of colliders", total);
            }
        }
    }
    return MOTE_OK;
}

static MoteResult make_tables(MoteWorld *world, const ColliderSet *set, Tables *tables)
{
    uint32_t dynamics = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        dynamics += has_mass(&set->colliders[i]);
    }
    if (world->preparing && (dynamics > 0 || world->view.dynamic_count > 0)) {
        return mote_fail(MOTE_ERROR_INPUT, "dynamic colliders change between steps, expected the same ones");
    }
    if (dynamics == 0) {
        return MOTE_OK;
    }
    if (!allocate_tables(dynamics, set->count, tables)) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u dynamic colliders", dynamics);
    }
    MoteResult result = read_before(world, tables);
    for (uint32_t i = 0; i < set->count && result == MOTE_OK; i++) {
        tables->rows[i] = NONE;
        result = has_mass(&set->colliders[i]) ? make_row(world, set, i, tables) : MOTE_OK;
    }
    return result == MOTE_OK ? make_samples(world, set->rows, set->count, tables) : result;
}

static MoteResult reserve_tables(MoteWorld *world, const Tables *tables, uint32_t count)
{
    const bool lists_are_current = world->lists_are_current; // they do not depend on colliders
    const uint64_t n = tables->dynamic_count;
    MoteResult result = world_reserve(world, CAPACITY_COLLIDER_ROWS, n > 0 ? count : 0, 0);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_COLLIDER_SAMPLES, tables->sample_count, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_DYNAMICS, n, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_DYNAMIC_FORCES, 2 * n, 0) : result;
    world->lists_are_current = lists_are_current;
    return result;
}

static void upload_samples(MoteWorld *world, const Tables *tables, uint32_t count)
{
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    functions->upload(world->backend, view->sample_ranges, tables->ranges, count * sizeof(uvec2));
    functions->upload(world->backend, view->collider_samples, tables->samples, tables->sample_count * sizeof(vec4));
}

static void upload_tables(MoteWorld *world, const Tables *tables, uint32_t count)
{
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    const size_t n = tables->dynamic_count;
    functions->upload(world->backend, view->dynamic_motions, tables->motions, n * sizeof(Motion));
    functions->upload(world->backend, view->dynamic_colliders, tables->indices, n * sizeof(uint));
    functions->upload(world->backend, view->dynamic_centres, tables->centres, n * sizeof(vec4));
    functions->upload(world->backend, view->dynamic_forces, tables->forces, 2 * n * sizeof(vec4));
    functions->upload(world->backend, view->dynamic_bodies, tables->bodies, n * sizeof(Cluster));
    functions->upload(world->backend, view->dynamic_rows, tables->rows, count * sizeof(uint));
    upload_samples(world, tables, count);
}

// Updates the sample points of colliders that users move, whose size may have changed; those of dynamic ones stay.
static MoteResult renew_samples(MoteWorld *world, const Collider *rows, uint32_t count)
{
    Tables tables = {.dynamics = world->dynamics};
    tables.rows = malloc(count * sizeof *tables.rows + 1);
    tables.ranges = malloc(count * sizeof *tables.ranges + 1);
    MoteResult result = tables.rows != NULL && tables.ranges != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u colliders", count);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const DynamicCollider *row = find_row(world, i);
        tables.rows[i] = row != NULL ? (uint32_t)(row - world->dynamics) : NONE;
    }
    result = result == MOTE_OK ? make_samples(world, rows, count, &tables) : result;
    if (result == MOTE_OK) {
        const bool lists_are_current = world->lists_are_current; // they do not depend on colliders
        result = world_reserve(world, CAPACITY_COLLIDER_SAMPLES, tables.sample_count, 0);
        world->lists_are_current = lists_are_current;
    }
    if (result == MOTE_OK) {
        upload_samples(world, &tables, count);
    }
    tables.dynamics = NULL; // the world's own
    free_tables(&tables);
    return result;
}

MoteResult world_set_dynamics(MoteWorld *world, ColliderSet *set)
{
    const uint32_t count = set->count;
    if (world_dynamics_stay(world, set)) {
        return renew_samples(world, set->rows, count);
    }
    Tables tables = {0};
    MoteResult result = make_tables(world, set, &tables);
    if (result == MOTE_OK && tables.dynamic_count == 0 && world->view.dynamic_count == 0) {
        return MOTE_OK;
    }
    const uint32_t before = world->view.dynamic_count;
    if (result == MOTE_OK) { // room for the particles' part first: it can fail without harm
        world->view.dynamic_count = tables.dynamic_count;
        result = world_reserve_particles(world, world->capacities[CAPACITY_PARTICLES]);
        world->view.dynamic_count = before;
    }
    result = result == MOTE_OK ? reserve_tables(world, &tables, count) : result;
    if (result == MOTE_OK) {
        world_free_dynamics(world);
        if (tables.dynamic_count > 0) {
            upload_tables(world, &tables, count);
        }
        world->dynamics = tables.dynamics;
        world->view.dynamic_count = tables.dynamic_count;
        tables.dynamics = NULL;
        tables.dynamic_count = 0;
    }
    free_tables(&tables);
    return result;
}

// ---- Reading and setting -----------------------------------------------------------------------------------

static MoteVec3 public3(vec3 v)
{
    return (MoteVec3){v.x, v.y, v.z};
}

static MoteVec3 public4(vec4 v)
{
    return (MoteVec3){v.x, v.y, v.z};
}

static MoteTransform public_pose(vec3 position, vec4 rotation)
{
    return (MoteTransform){public3(position), {rotation.x, rotation.y, rotation.z, rotation.w}};
}

static void read_dynamic(MoteWorld *world, uint32_t row, MoteColliderState *out)
{
    const BackendFunctions *functions = world->backend->functions;
    const DynamicCollider *dynamic = &world->dynamics[row];
    Motion motion;
    vec4 forces[2];
    functions->download(world->backend, &motion, world->view.dynamic_motions + row, sizeof motion);
    functions->download(world->backend, forces, world->view.dynamic_forces + 2 * (size_t)row, sizeof forces);
    const vec3 position = v3_sub(motion.predicted_centre, rotate(motion.predicted_rotation, dynamic->centre));
    *out = (MoteColliderState){
        .pose = public_pose(position, motion.predicted_rotation),
        .mass = dynamic->body.mass,
        .centre = public3(motion.predicted_centre),
        .velocity = public3(motion.velocity),
        .angular_velocity = public3(motion.angular_velocity),
        .force = public4(forces[0]),
        .torque = public4(forces[1]),
    };
}

static void read_state(MoteWorld *world, uint32_t i, MoteColliderState *out)
{
    const DynamicCollider *dynamic = find_row(world, i);
    if (dynamic != NULL) {
        read_dynamic(world, (uint32_t)(dynamic - world->dynamics), out);
    } else {
        Collider collider;
        world->backend->functions->download(world->backend, &collider, world->view.colliders + i, sizeof collider);
        *out = (MoteColliderState){.pose = public_pose(collider.position, collider.rotation),
                                   .centre = public3(collider.position)};
    }
    out->id = world->collider_ids[i];
}

MoteResult mote_world_read_colliders(MoteWorld *world, MoteColliderState *rows, uint32_t capacity)
{
    const uint32_t count = world->view.collider_count < capacity ? world->view.collider_count : capacity;
    for (uint32_t i = 0; i < count; i++) {
        read_state(world, i, &rows[i]);
    }
    return world_check_backend(world);
}

MoteResult mote_world_read_collider(MoteWorld *world, MoteColliderId id, MoteColliderState *out)
{
    const uint32_t row = world_collider_row(world, id);
    if (row == MOTE_NONE) {
        return MOTE_ERROR_INPUT;
    }
    read_state(world, row, out);
    return world_check_backend(world);
}

static bool finite3(MoteVec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

MoteResult mote_world_set_collider_motion(MoteWorld *world, MoteColliderId id, const MoteTransform *pose,
                                          MoteVec3 velocity, MoteVec3 angular_velocity)
{
    const uint32_t i = world_collider_row(world, id);
    if (i == MOTE_NONE) {
        return MOTE_ERROR_INPUT;
    }
    const DynamicCollider *dynamic = find_row(world, i);
    if (dynamic == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "shape %u has no mass: only its two poses move it", i);
    }
    if (!finite3(velocity) || !finite3(angular_velocity)) {
        return mote_fail(MOTE_ERROR_INPUT, "the motion for collider %u is not finite", i);
    }
    Motion *const row = world->view.dynamic_motions + (dynamic - world->dynamics);
    Motion motion;
    world->backend->functions->download(world->backend, &motion, row, sizeof motion);
    if (pose != NULL) {
        const MoteQuaternion q = pose->rotation;
        const float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
        if (!finite3(pose->position) || !(fabsf(length - 1.0f) < 1e-2f)) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "the pose for collider %u is not finite, or its rotation not of unit length", i);
        }
        const vec4 rotation = v4(q.x / length, q.y / length, q.z / length, q.w / length);
        motion = motion_at(v3(pose->position.x, pose->position.y, pose->position.z), rotation, dynamic->centre);
    }
    const bool flat = world->settings.dimensions == 2;
    motion.velocity = v3(velocity.x, velocity.y, flat ? 0.0f : velocity.z);
    motion.angular_velocity =
        v3(flat ? 0.0f : angular_velocity.x, flat ? 0.0f : angular_velocity.y, angular_velocity.z);
    motion.angular_momentum = inertia_times(dynamic->body, motion.predicted_rotation, motion.angular_velocity);
    world->backend->functions->upload(world->backend, row, &motion, sizeof motion);
    return MOTE_OK;
}
