// SPDX-License-Identifier: MIT
// geometry.c - shapes and kill volumes, from the public form to the one that kernels read.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>

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

// What a hull or field refers to, and the radius (m) around its origin that it lies within.
static MoteResult convert_data(const MoteWorld *world, const char *what, uint32_t i, const MoteShape *from, Shape *to)
{
    const bool hull = from->kind == MOTE_SHAPE_HULL;
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

static MoteResult convert_shape(const MoteWorld *world, const char *what, uint32_t i, const MoteShape *from, Shape *to)
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
    if (from->kind > MOTE_SHAPE_FIELD) {
        return mote_fail(MOTE_ERROR_INPUT, "%s %u has kind %u, expected a MoteShapeKind", what, i, from->kind);
    }
    *to = (Shape){
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
    case MOTE_SHAPE_BOX:
        to->bounding_radius = v3_length(to->half_size) + moved;
        break;
    case MOTE_SHAPE_SPHERE:
        to->bounding_radius = from->radius + moved;
        break;
    case MOTE_SHAPE_CAPSULE:
        to->bounding_radius = from->radius + size.y + moved;
        break;
    case MOTE_SHAPE_HULL:
    case MOTE_SHAPE_FIELD:
        result = convert_data(world, what, i, from, to);
        to->bounding_radius += moved;
        break;
    default:
        break;
    }
    return result;
}

MoteResult world_convert_shapes(const MoteWorld *world, const char *what, const MoteShape *shapes, uint32_t count,
                                Shape **out)
{
    Shape *rows = malloc(count * sizeof *rows + 1);
    MoteResult result = rows != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u shapes", count);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = convert_shape(world, what, i, &shapes[i], &rows[i]);
    }
    if (result != MOTE_OK) {
        free(rows);
        rows = NULL;
    }
    *out = rows;
    return result;
}

// Neighbour lists do not depend on shapes.
static MoteResult reserve_shapes(MoteWorld *world, Capacity capacity, uint32_t count)
{
    const bool lists_are_current = world->lists_are_current;
    const MoteResult result = world_reserve(world, capacity, count, 0);
    world->lists_are_current = lists_are_current;
    return result;
}

// All rows, or those of shapes that users move: where the others are, only the device knows.
static void upload_shapes(MoteWorld *world, const MoteShape *shapes, const Shape *rows, uint32_t count, bool all)
{
    for (uint32_t first = 0, end; first < count; first = end) {
        const bool moved = all || !(shapes[first].mass > 0.0f || shapes[first].density > 0.0f);
        for (end = first + 1; end < count; end++) {
            if ((all || !(shapes[end].mass > 0.0f || shapes[end].density > 0.0f)) != moved) {
                break;
            }
        }
        if (moved) {
            world->backend->functions->upload(world->backend, world->view.shapes + first, rows + first,
                                              (end - first) * sizeof *rows);
        }
    }
}

MoteResult mote_world_set_shapes(MoteWorld *world, const MoteShape *shapes, uint32_t count)
{
    Shape *rows;
    MoteResult result = world_convert_shapes(world, "shape", shapes, count, &rows);
    if (result != MOTE_OK) {
        return result;
    }
    const bool stay = world_dynamics_stay(world, shapes, count);
    result = world_set_dynamics(world, shapes, rows, count);
    result = result == MOTE_OK ? reserve_shapes(world, CAPACITY_SHAPES, count) : result;
    if (result != MOTE_OK) {
        free(rows);
        return result;
    }
    upload_shapes(world, shapes, rows, count, !stay);
    free(world->shape_rows);
    world->shape_rows = rows;
    world->view.shape_count = count;
    world->sticky_shapes = world->bouncing_shapes = world->obstacles = false;
    for (uint32_t i = 0; i < count; i++) {
        world->sticky_shapes |= shapes[i].adhesion > 0.0f;
        world->bouncing_shapes |= shapes[i].restitution > 0.0f;
        world->obstacles |=
            shapes[i].kind == MOTE_SHAPE_FIELD || (shapes[i].kind != MOTE_SHAPE_PLANE && !shapes[i].inside_out);
    }
    return MOTE_OK;
}

// ---- Room ----

// How far rounding may be off where a shape is, and a little more.
static float slack_of(const Shape *shape, vec3 position)
{
    return 1e-5f * (fabsf(position.x) + fabsf(position.y) + fabsf(position.z) + v3_length(shape->half_size));
}

static bool is_upright(vec4 rotation)
{
    return rotation.x == 0.0f && rotation.y == 0.0f && rotation.z == 0.0f && rotation.w == 1.0f;
}

// Cuts off what is within reach of a shape at a pose; false if the rest is not a box.
static bool cut_room(MoteView *view, const Shape *shape, vec3 position, vec4 rotation)
{
    const float reach = view->margin + slack_of(shape, position);
    vec3 *const lower = &view->room_lower, *const upper = &view->room_upper;
    if (!is_upright(rotation)) {
        return false;
    }
    if (shape->kind == SHAPE_PLANE) {
        if (shape->inside_out != 0u) {
            upper->y = fminf(upper->y, position.y - reach);
        } else {
            lower->y = fmaxf(lower->y, position.y + reach);
        }
        return true;
    }
    const vec3 room = v3_sub(shape->half_size, v3(reach, reach, reach));
    const vec3 low = v3_sub(position, room), high = v3_add(position, room);
    *lower = v3(fmaxf(lower->x, low.x), fmaxf(lower->y, low.y), fmaxf(lower->z, low.z));
    *upper = v3(fminf(upper->x, high.x), fminf(upper->y, high.y), fminf(upper->z, high.z));
    return shape->kind == SHAPE_BOX && shape->inside_out != 0u;
}

void world_find_room(MoteWorld *world)
{
    const float far = 1e30f;
    MoteView *view = &world->view;
    bool boxed = view->dynamic_count == 0 && view->adhesion_range <= 0.0f;
    view->room_lower = v3(-far, -far, -far);
    view->room_upper = v3(far, far, far);
    for (uint32_t s = 0; s < view->shape_count && boxed; s++) {
        const Shape *shape = &world->shape_rows[s];
        boxed = cut_room(view, shape, shape->start_position, shape->start_rotation) &&
                cut_room(view, shape, shape->position, shape->rotation);
    }
    if (!boxed) {
        view->room_lower = v3(far, far, far);
        view->room_upper = v3(-far, -far, -far);
    }
}

static bool shape_moves(const MoteWorld *world, const Shape *shape)
{
    const vec3 way = v3_sub(shape->position, shape->start_position);
    const vec4 a = shape->rotation, b = shape->start_rotation;
    const bool deforms = shape->kind == SHAPE_FIELD && world_field_row(world, shape->data).velocities != FIELD_NONE;
    return deforms || v3_dot(way, way) > 0.0f || a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w;
}

bool world_colliders_move(const MoteWorld *world)
{
    bool moves = world->view.dynamic_count > 0;
    for (uint32_t s = 0; s < world->view.shape_count && !moves; s++) {
        moves = shape_moves(world, &world->shape_rows[s]);
    }
    return moves;
}

MoteResult mote_world_set_kill_volumes(MoteWorld *world, const MoteShape *volumes, uint32_t count)
{
    Shape *rows;
    MoteResult result = world_convert_shapes(world, "kill volume", volumes, count, &rows);
    result = result == MOTE_OK ? reserve_shapes(world, CAPACITY_KILL_VOLUMES, count) : result;
    if (result == MOTE_OK) {
        if (count > 0) {
            world->backend->functions->upload(world->backend, world->view.kill_volumes, rows, count * sizeof *rows);
        }
        world->view.kill_volume_count = count;
    }
    free(rows);
    return result;
}
