// SPDX-License-Identifier: MIT
// geometry.c - colliders and kill volumes: converts them to the rows that kernels read.
#include "solver/batch.h"
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static MoteResult convert_pose(const char *what, uint32_t i, MoteTransform pose, vec3 *position, vec4 *rotation)
{
    const MoteVec3 p = pose.position;
    const MoteQuaternion q = pose.rotation;
    const float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z) || !(fabsf(length - 1.0f) < 1e-2f)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s %u has a pose that is not finite, or a rotation not of unit length",
                         what, i);
    }
    *position = v3(p.x, p.y, p.z);
    *rotation = v4(q.x / length, q.y / length, q.z / length, q.w / length);
    return MOTE_OK;
}

// The data that a hull or field refers to, and its bounding radius (m) around its origin.
static MoteResult convert_data(const MoteWorld *world, const char *what, uint32_t i, const MoteCollider *from,
                               Collider *to)
{
    const bool hull = from->kind == MOTE_COLLIDER_HULL;
    const uint32_t count = hull ? world->colliders.hull_count : world->colliders.field_count;
    if (from->data >= count) {
        return mote_fail(MOTE_ERROR_INPUT, "%s %u refers to %s %u, expected less than the world's %u", what, i,
                         hull ? "hull" : "field", from->data, count);
    }
    if (hull) {
        const WorldHull *row = &world->colliders.hulls[from->data];
        to->data = row->first;
        to->data_count = row->triangles;
        to->bounding_radius = row->radius;
    } else {
        to->data = from->data;
        to->bounding_radius = from->inside_out ? UNBOUNDED_RADIUS : world_field_radius(world, from->data);
    }
    return MOTE_OK;
}

static MoteResult convert_collider(const MoteWorld *world, const char *what, uint32_t i, const MoteCollider *from,
                                   Collider *to)
{
    const MoteVec3 size = from->half_size;
    const float numbers[] = {size.x,
                             size.y,
                             size.z,
                             from->radius,
                             from->static_friction,
                             from->kinetic_friction,
                             from->restitution,
                             from->adhesion,
                             from->mass,
                             from->density};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        if (!isfinite(numbers[k]) || numbers[k] < 0.0f) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s %u has %g among its sizes and coefficients, expected numbers not below 0", what, i,
                             (double)numbers[k]);
        }
    }
    if (from->restitution > 1.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "%s %u has restitution %g, expected 0 to 1", what, i,
                         (double)from->restitution);
    }
    if (from->combine > MOTE_COMBINE_MAXIMUM) {
        return mote_fail(MOTE_ERROR_INPUT, "%s %u has combine %u, expected a MoteCombine", what, i, from->combine);
    }
    if (from->kind > MOTE_COLLIDER_FIELD) {
        return mote_fail(MOTE_ERROR_INPUT, "%s %u has kind %u, expected a MoteColliderKind", what, i, from->kind);
    }
    *to = (Collider){
        .kind = from->kind,
        .inside_out = from->inside_out,
        .half_size = v3(size.x, size.y, size.z),
        .radius = from->radius,
        .static_friction = from->static_friction,
        .kinetic_friction = from->kinetic_friction,
        .restitution = from->restitution,
        .adhesion = from->adhesion,
        .combine = from->combine,
    };
    MoteResult result = convert_pose(what, i, from->to, &to->position, &to->rotation);
    result = result == MOTE_OK ? convert_pose(what, i, from->from, &to->start_position, &to->start_rotation) : result;
    if (result != MOTE_OK) {
        return result;
    }
    const float moved = v3_length(v3_sub(to->position, to->start_position));
    switch (from->kind) {
    case MOTE_COLLIDER_BOX:
        to->bounding_radius = v3_length(to->half_size) + moved;
        break;
    case MOTE_COLLIDER_SPHERE:
        to->bounding_radius = from->radius + moved;
        break;
    case MOTE_COLLIDER_CAPSULE:
        to->bounding_radius = from->radius + size.y + moved;
        break;
    case MOTE_COLLIDER_HULL:
    case MOTE_COLLIDER_FIELD:
        result = convert_data(world, what, i, from, to);
        to->bounding_radius += moved;
        break;
    default:
        break;
    }
    return result;
}

MoteResult world_convert_colliders(const MoteWorld *world, const char *what, const MoteCollider *colliders,
                                   uint32_t count, Collider **out)
{
    Collider *rows = malloc(count * sizeof *rows + 1);
    MoteResult result = rows != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u colliders", count);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = convert_collider(world, what, i, &colliders[i], &rows[i]);
    }
    if (result != MOTE_OK) {
        free(rows);
        rows = NULL;
    }
    *out = rows;
    return result;
}

// Neighbour lists do not depend on colliders.
static MoteResult reserve_colliders(MoteWorld *world, Capacity capacity, uint32_t count)
{
    const bool lists_are_current = world->lists_are_current;
    const MoteResult result = world_reserve(world, capacity, count, 0);
    world->lists_are_current = lists_are_current;
    return result;
}

// Uploads all rows, or only those of colliders that users move: the poses of dynamic ones are on the device.
static void upload_colliders(MoteWorld *world, const ColliderSet *set, bool all)
{
    const MoteCollider *colliders = set->colliders;
    for (uint32_t first = 0, end; first < set->count; first = end) {
        const bool moved = all || !(colliders[first].mass > 0.0f || colliders[first].density > 0.0f);
        for (end = first + 1; end < set->count; end++) {
            if ((all || !(colliders[end].mass > 0.0f || colliders[end].density > 0.0f)) != moved) {
                break;
            }
        }
        if (moved) {
            world->backend->functions->upload(world->backend, world->view.colliders + first, set->rows + first,
                                              (end - first) * sizeof *set->rows);
        }
    }
}

// ---- Sets of colliders ----

static void set_free(ColliderSet *set)
{
    free(set->colliders);
    free(set->ids);
    free(set->before);
    free(set->rows);
    *set = (ColliderSet){0};
}

static MoteResult set_allocate(uint32_t count, ColliderSet *set)
{
    *set = (ColliderSet){.count = count};
    set->colliders = malloc(count * sizeof *set->colliders + 1);
    set->ids = malloc(count * sizeof *set->ids + 1);
    set->before = malloc(count * sizeof *set->before + 1);
    return set->colliders != NULL && set->ids != NULL && set->before != NULL
               ? MOTE_OK
               : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u colliders", count);
}

// The world's first `count` colliders, without row `skipped`; the others of the set are new.
static void set_keep(const MoteWorld *world, ColliderSet *set, uint32_t count, uint32_t skipped)
{
    uint32_t kept = 0;
    for (uint32_t row = 0; row < count; row++) {
        if (row != skipped) {
            set->colliders[kept] = world->collider_list[row];
            set->ids[kept] = world->collider_ids[row];
            set->before[kept++] = row;
        }
    }
    for (; kept < set->count; kept++) {
        set->ids[kept] = (MoteColliderId){0};
        set->before[kept] = NONE;
    }
}

// New colliders get the lowest free indices, and the table of rows its new contents.
static MoteResult give_ids(MoteWorld *world, ColliderSet *set)
{
    const uint32_t most = world->id_row_count + set->count;
    uint32_t *rows = malloc(most * sizeof *rows + 1);
    if (rows == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u colliders", set->count);
    }
    for (uint32_t i = 0; i < most; i++) {
        rows[i] = NONE;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->before[i] != NONE) {
            rows[set->ids[i].index] = i;
        }
    }
    uint32_t index = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->before[i] == NONE) {
            while (rows[index] != NONE) {
                index++;
            }
            rows[index] = i;
            set->ids[i] = (MoteColliderId){index, ++world->last_generation};
        }
    }
    free(world->id_rows);
    world->id_rows = rows;
    world->id_row_count = most;
    while (world->id_row_count > 0 && rows[world->id_row_count - 1] == NONE) {
        world->id_row_count--;
    }
    return MOTE_OK;
}

bool world_rows_stay(const MoteWorld *world, const ColliderSet *set)
{
    bool stay = set->count == world->view.collider_count;
    for (uint32_t i = 0; i < set->count && stay; i++) {
        stay = set->before[i] == i;
    }
    return stay;
}

// Accumulated contact impulses of rigid bodies stay with their collider (warm_start_contacts), and end with it.
static MoteResult renumber_holds(MoteWorld *world, const ColliderSet *set)
{
    const BackendFunctions *functions = world->backend->functions;
    const uint32_t members = world->view.member_count, colliders = world->view.collider_count;
    uint *holds = malloc(members * sizeof *holds + 1), *rows = malloc(colliders * sizeof *rows + 1);
    MoteResult result = holds != NULL && rows != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for the contacts of %u particles", members);
    if (result == MOTE_OK && members > 0) {
        memset(rows, 0xff, colliders * sizeof *rows); // NONE
        for (uint32_t i = 0; i < set->count; i++) {
            if (set->before[i] != NONE) {
                rows[set->before[i]] = i;
            }
        }
        functions->download(world->backend, holds, world->view.contact_impulse_colliders, members * sizeof *holds);
        for (uint32_t m = 0; m < members; m++) {
            holds[m] = holds[m] < colliders ? rows[holds[m]] : NONE;
        }
        functions->upload(world->backend, world->view.contact_impulse_colliders, holds, members * sizeof *holds);
    }
    free(holds);
    free(rows);
    return result;
}

static void adopt_set(MoteWorld *world, ColliderSet *set)
{
    free(world->collider_rows);
    free(world->collider_list);
    free(world->collider_ids);
    world->collider_rows = set->rows;
    world->collider_list = set->colliders;
    world->collider_ids = set->ids;
    world->view.collider_count = set->count;
    world->sticky_colliders = world->bouncing_colliders = world->obstacles = false;
    for (uint32_t i = 0; i < set->count; i++) {
        const MoteCollider *collider = &set->colliders[i];
        world->sticky_colliders |= collider->adhesion > 0.0f;
        world->bouncing_colliders |= collider->restitution > 0.0f;
        world->obstacles |=
            collider->kind == MOTE_COLLIDER_FIELD || (collider->kind != MOTE_COLLIDER_PLANE && !collider->inside_out);
    }
    free(set->before);
    *set = (ColliderSet){0};
}

// Replaces the world's colliders by the set, and frees the set, also on an error.
static MoteResult use_set(MoteWorld *world, ColliderSet *set)
{
    const bool rows_stay = world_rows_stay(world, set), stay = world_dynamics_stay(world, set);
    MoteResult result = world_convert_colliders(world, "collider", set->colliders, set->count, &set->rows);
    if (result == MOTE_OK && !rows_stay && world->preparing) {
        result = mote_fail(MOTE_ERROR_INPUT, "shapes come or go between steps, expected the same ones");
    }
    result = result == MOTE_OK ? world_set_dynamics(world, set) : result;
    result = result == MOTE_OK ? reserve_colliders(world, CAPACITY_COLLIDERS, set->count) : result;
    result = result == MOTE_OK && !rows_stay ? renumber_holds(world, set) : result;
    result = result == MOTE_OK && !rows_stay ? give_ids(world, set) : result;
    if (result == MOTE_OK) {
        upload_colliders(world, set, !stay);
        adopt_set(world, set);
    }
    set_free(set);
    return result;
}

MoteResult mote_world_set_colliders(MoteWorld *world, const MoteCollider *colliders, uint32_t count)
{
    ColliderSet set;
    const MoteResult result = set_allocate(count, &set);
    if (result != MOTE_OK) {
        set_free(&set);
        return result;
    }
    set_keep(world, &set, count < world->view.collider_count ? count : world->view.collider_count, NONE);
    if (count > 0) {
        memcpy(set.colliders, colliders, count * sizeof *colliders);
    }
    return use_set(world, &set);
}

// ---- Single colliders ----

static uint32_t find_row(const MoteWorld *world, MoteColliderId id)
{
    const uint32_t row = id.index < world->id_row_count ? world->id_rows[id.index] : MOTE_NONE;
    return row != MOTE_NONE && world->collider_ids[row].generation == id.generation ? row : MOTE_NONE;
}

uint32_t world_collider_row(const MoteWorld *world, MoteColliderId id)
{
    const uint32_t row = find_row(world, id);
    if (row == MOTE_NONE) {
        mote_fail(MOTE_ERROR_INPUT, "collider %u of generation %u is not in the world: %s", id.index, id.generation,
                  id.generation == 0 ? "the id names none" : "it was removed, or is of another world");
    }
    return row;
}

bool mote_world_has_collider(const MoteWorld *world, MoteColliderId id)
{
    return find_row(world, id) != MOTE_NONE;
}

uint32_t mote_world_collider_ids(const MoteWorld *world, MoteColliderId *ids, uint32_t capacity)
{
    for (uint32_t row = 0; row < world->view.collider_count && row < capacity; row++) {
        ids[row] = world->collider_ids[row];
    }
    return world->view.collider_count;
}

MoteResult mote_world_add_collider(MoteWorld *world, const MoteCollider *collider, MoteColliderId *id)
{
    const uint32_t row = world->view.collider_count;
    ColliderSet set;
    MoteResult result = set_allocate(row + 1, &set);
    if (result != MOTE_OK) {
        set_free(&set);
        return result;
    }
    set_keep(world, &set, row, NONE);
    set.colliders[row] = *collider;
    result = use_set(world, &set);
    if (id != NULL) {
        *id = result == MOTE_OK ? world->collider_ids[row] : (MoteColliderId){0};
    }
    return result;
}

MoteResult world_update_colliders(MoteWorld *world, const MoteColliderId *ids, const MoteCollider *colliders,
                                  uint32_t count)
{
    ColliderSet set;
    const MoteResult result = set_allocate(world->view.collider_count, &set);
    if (result != MOTE_OK) {
        set_free(&set);
        return result;
    }
    set_keep(world, &set, set.count, NONE);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = find_row(world, ids[i]);
        if (row != MOTE_NONE) {
            set.colliders[row] = colliders[i];
        }
    }
    return use_set(world, &set);
}

MoteResult mote_world_set_collider(MoteWorld *world, MoteColliderId id, const MoteCollider *collider)
{
    return world_collider_row(world, id) != MOTE_NONE ? world_update_colliders(world, &id, collider, 1)
                                                      : MOTE_ERROR_INPUT;
}

MoteResult mote_world_remove_collider(MoteWorld *world, MoteColliderId id)
{
    const uint32_t row = world_collider_row(world, id);
    if (row == MOTE_NONE) {
        return MOTE_ERROR_INPUT;
    }
    ColliderSet set;
    const MoteResult result = set_allocate(world->view.collider_count - 1, &set);
    if (result != MOTE_OK) {
        set_free(&set);
        return result;
    }
    set_keep(world, &set, world->view.collider_count, row);
    return use_set(world, &set);
}

// ---- Clear box: where no collider is near ----

// Upper bound of the rounding error at a collider's position.
static float slack_of(const Collider *collider, vec3 position)
{
    return 1e-5f * (fabsf(position.x) + fabsf(position.y) + fabsf(position.z) + v3_length(collider->half_size));
}

static bool is_upright(vec4 rotation)
{
    return rotation.x == 0.0f && rotation.y == 0.0f && rotation.z == 0.0f && rotation.w == 1.0f;
}

// Cuts off the part of the box that is within reach of a collider at a pose; false if the rest is not a box.
static bool cut_clear_box(SolverData *view, const Collider *collider, vec3 position, vec4 rotation)
{
    const float reach = view->margin + slack_of(collider, position);
    vec3 *const lower = &view->clear_box_lower, *const upper = &view->clear_box_upper;
    if (!is_upright(rotation)) {
        return false;
    }
    if (collider->kind == COLLIDER_PLANE) {
        if (collider->inside_out != 0u) {
            upper->y = fminf(upper->y, position.y - reach);
        } else {
            lower->y = fmaxf(lower->y, position.y + reach);
        }
        return true;
    }
    const vec3 room = v3_sub(collider->half_size, v3(reach, reach, reach));
    const vec3 low = v3_sub(position, room), high = v3_add(position, room);
    *lower = v3(fmaxf(lower->x, low.x), fmaxf(lower->y, low.y), fmaxf(lower->z, low.z));
    *upper = v3(fminf(upper->x, high.x), fminf(upper->y, high.y), fminf(upper->z, high.z));
    return collider->kind == COLLIDER_BOX && collider->inside_out != 0u;
}

void world_find_clear_box(MoteWorld *world)
{
    const float far = 1e30f;
    SolverData *view = &world->view;
    bool boxed = view->dynamic_count == 0 && view->adhesion_range <= 0.0f;
    view->clear_box_lower = v3(-far, -far, -far);
    view->clear_box_upper = v3(far, far, far);
    for (uint32_t s = 0; s < view->collider_count && boxed; s++) {
        const Collider *collider = &world->collider_rows[s];
        boxed = cut_clear_box(view, collider, collider->start_position, collider->start_rotation) &&
                cut_clear_box(view, collider, collider->position, collider->rotation);
    }
    if (!boxed) {
        view->clear_box_lower = v3(far, far, far);
        view->clear_box_upper = v3(-far, -far, -far);
    }
}

static bool collider_moves(const MoteWorld *world, const Collider *collider)
{
    const vec3 way = v3_sub(collider->position, collider->start_position);
    const vec4 a = collider->rotation, b = collider->start_rotation;
    const bool deforms =
        collider->kind == COLLIDER_FIELD && world_field_row(world, collider->data).velocities != FIELD_NONE;
    return deforms || v3_dot(way, way) > 0.0f || a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w;
}

bool world_colliders_move(const MoteWorld *world)
{
    bool moves = world->view.dynamic_count > 0;
    for (uint32_t s = 0; s < world->view.collider_count && !moves; s++) {
        moves = collider_moves(world, &world->collider_rows[s]);
    }
    return moves;
}

MoteResult mote_world_set_kill_volumes(MoteWorld *world, const MoteCollider *volumes, uint32_t count)
{
    Collider *rows;
    MoteResult result = world_convert_colliders(world, "kill volume", volumes, count, &rows);
    result = result == MOTE_OK ? reserve_colliders(world, CAPACITY_KILL_VOLUMES, count) : result;
    if (result == MOTE_OK) {
        if (count > 0) {
            world->backend->functions->upload(world->backend, world->view.kill_volumes, rows, count * sizeof *rows);
        }
        world->view.kill_volume_count = count;
    }
    free(rows);
    return result;
}
