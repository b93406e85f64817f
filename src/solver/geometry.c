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

static MoteResult set_shapes(MoteWorld *world, const char *what, Capacity capacity, const MoteShape *shapes,
                             uint32_t count, Shape *const *target, uint *target_count)
{
    Shape *converted = count > 0 ? malloc(count * sizeof *converted) : NULL;
    if (count > 0 && converted == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u shapes", count);
    }
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = convert_shape(world, what, i, &shapes[i], &converted[i]);
    }
    if (result == MOTE_OK && capacity == CAPACITY_SHAPES) {
        result = world_set_dynamics(world, shapes, converted, count);
    }
    const bool lists_are_current = world->lists_are_current; // they do not depend on shapes
    result = result == MOTE_OK ? world_reserve(world, capacity, count, 0) : result;
    world->lists_are_current = lists_are_current;
    if (result == MOTE_OK) {
        if (count > 0) {
            world->backend->functions->upload(world->backend, *target, converted, count * sizeof *converted);
        }
        *target_count = count;
    }
    free(converted);
    return result;
}

MoteResult mote_world_set_shapes(MoteWorld *world, const MoteShape *shapes, uint32_t count)
{
    const MoteResult result =
        set_shapes(world, "shape", CAPACITY_SHAPES, shapes, count, &world->view.shapes, &world->view.shape_count);
    if (result == MOTE_OK) {
        world->sticky_shapes = world->bouncing_shapes = world->obstacles = false;
        for (uint32_t i = 0; i < count; i++) {
            world->sticky_shapes |= shapes[i].adhesion > 0.0f;
            world->bouncing_shapes |= shapes[i].restitution > 0.0f;
            world->obstacles |=
                shapes[i].kind == MOTE_SHAPE_FIELD || (shapes[i].kind != MOTE_SHAPE_PLANE && !shapes[i].inside_out);
        }
    }
    return result;
}

MoteResult mote_world_set_kill_volumes(MoteWorld *world, const MoteShape *volumes, uint32_t count)
{
    return set_shapes(world, "kill volume", CAPACITY_KILL_VOLUMES, volumes, count, &world->view.kill_volumes,
                      &world->view.kill_volume_count);
}
