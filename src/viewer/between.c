// SPDX-License-Identifier: MIT
#include "viewer/between.h"

#include <math.h>
#include <stdlib.h>

static MoteQuaternion turn_between(MoteQuaternion a, MoteQuaternion b, float t)
{
    const float along = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0f ? -1.0f : 1.0f;
    const float s = (1.0f - t) * along;
    MoteQuaternion q = {s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z, s * a.w + t * b.w};
    const float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return length > 1e-6f ? (MoteQuaternion){q.x / length, q.y / length, q.z / length, q.w / length} : b;
}

static MoteTransform pose_between(MoteTransform a, MoteTransform b, float t)
{
    return (MoteTransform){{a.position.x + t * (b.position.x - a.position.x),
                            a.position.y + t * (b.position.y - a.position.y),
                            a.position.z + t * (b.position.z - a.position.z)},
                           turn_between(a.rotation, b.rotation, t)};
}

static MoteResult shapes_between(Between *between, MomentPool *pool, const Moment *moment, float t,
                                 MoteRenderScene *look)
{
    const uint32_t shapes = moment->look.shape_count, instances = moment->look.instance_count;
    MoteResult result = moment_reserve(pool, &between->shapes, shapes * sizeof(MoteRenderShape) + 1);
    if (result == MOTE_OK) {
        result = moment_reserve(pool, &between->instances, instances * sizeof(MoteRenderInstance) + 1);
    }
    if (result != MOTE_OK) {
        return result;
    }
    MoteRenderShape *shape = between->shapes.data;
    MoteRenderInstance *instance = between->instances.data;
    const MoteRenderShape *shape_before = moment->shapes_before.data;
    const MoteRenderInstance *instance_before = moment->instances_before.data;
    for (uint32_t i = 0; i < shapes; i++) {
        shape[i] = moment->look.shapes[i];
        if (moment->shapes_before_count == shapes) {
            shape[i].shape.to = pose_between(shape_before[i].shape.to, shape[i].shape.to, t);
        }
    }
    for (uint32_t i = 0; i < instances; i++) {
        instance[i] = moment->look.instances[i];
        if (moment->instances_before_count == instances && instance_before[i].mesh == instance[i].mesh) {
            instance[i].pose = pose_between(instance_before[i].pose, instance[i].pose, t);
        }
    }
    look->shapes = shape;
    look->instances = instance;
    return MOTE_OK;
}

static MoteResult view_between(Between *between, MomentPool *pool, const Moment *moment, float t, MoteRenderView *view)
{
    MoteResult result = moment_reserve(pool, &between->positions, view->positions.bytes + 1);
    if (result == MOTE_OK) {
        result = moment_reserve(pool, &between->rotations, view->cluster_rotations.bytes + 1);
    }
    if (result != MOTE_OK) {
        return result;
    }
    const float *now = view->positions.address, *before = moment->positions_before.data;
    float *out = between->positions.data;
    for (size_t i = 0; i < 4 * (size_t)view->particle_count; i++) {
        out[i] = before[i] + t * (now[i] - before[i]);
    }
    const MoteQuaternion *turns = view->cluster_rotations.address, *turns_before = moment->rotations_before.data;
    MoteQuaternion *turns_out = between->rotations.data;
    for (uint32_t i = 0; i < view->cluster_count; i++) {
        const bool known = moment->rotations_before_count == view->cluster_count;
        turns_out[i] = known ? turn_between(turns_before[i], turns[i], t) : turns[i];
    }
    view->positions.address = out;
    view->positions.capacity = between->positions.bytes;
    if (view->cluster_count > 0) {
        view->cluster_rotations.address = turns_out;
        view->cluster_rotations.capacity = between->rotations.bytes;
    }
    return MOTE_OK;
}

MoteResult between_moments(Between *between, MomentPool *pool, const Moment *moment, float t, MoteRenderView *view,
                           MoteRenderScene *look)
{
    const MoteResult result = view_between(between, pool, moment, t, view);
    return result == MOTE_OK ? shapes_between(between, pool, moment, t, look) : result;
}

void between_free(Between *between)
{
    free(between->positions.data);
    free(between->rotations.data);
    free(between->shapes.data);
    free(between->instances.data);
    *between = (Between){0};
}
