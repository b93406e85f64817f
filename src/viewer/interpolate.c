// SPDX-License-Identifier: MIT
#include "viewer/interpolate.h"

#include <math.h>
#include <stdlib.h>

static MoteQuaternion interpolate_rotation(MoteQuaternion a, MoteQuaternion b, float t)
{
    const float along = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0f ? -1.0f : 1.0f;
    const float s = (1.0f - t) * along;
    MoteQuaternion q = {s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z, s * a.w + t * b.w};
    const float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return length > 1e-6f ? (MoteQuaternion){q.x / length, q.y / length, q.z / length, q.w / length} : b;
}

static MoteTransform interpolate_pose(MoteTransform a, MoteTransform b, float t)
{
    return (MoteTransform){{a.position.x + t * (b.position.x - a.position.x),
                            a.position.y + t * (b.position.y - a.position.y),
                            a.position.z + t * (b.position.z - a.position.z)},
                           interpolate_rotation(a.rotation, b.rotation, t)};
}

static MoteResult interpolate_colliders(Interpolation *interpolation, FrameSnapshotPool *pool,
                                        const FrameSnapshot *snapshot, float t, MoteRenderScene *look)
{
    const uint32_t colliders = snapshot->look.collider_count, instances = snapshot->look.instance_count;
    MoteResult result = snapshot_reserve(pool, &interpolation->colliders, colliders * sizeof(MoteRenderCollider) + 1);
    if (result == MOTE_OK) {
        result = snapshot_reserve(pool, &interpolation->instances, instances * sizeof(MoteRenderInstance) + 1);
    }
    if (result != MOTE_OK) {
        return result;
    }
    MoteRenderCollider *collider = interpolation->colliders.data;
    MoteRenderInstance *instance = interpolation->instances.data;
    const MoteRenderCollider *collider_before = snapshot->colliders_before.data;
    const MoteRenderInstance *instance_before = snapshot->instances_before.data;
    for (uint32_t i = 0; i < colliders; i++) {
        collider[i] = snapshot->look.colliders[i];
        if (snapshot->colliders_before_count == colliders) {
            collider[i].collider.to = interpolate_pose(collider_before[i].collider.to, collider[i].collider.to, t);
        }
    }
    for (uint32_t i = 0; i < instances; i++) {
        instance[i] = snapshot->look.instances[i];
        if (snapshot->instances_before_count == instances && instance_before[i].mesh == instance[i].mesh) {
            instance[i].pose = interpolate_pose(instance_before[i].pose, instance[i].pose, t);
        }
    }
    look->colliders = collider;
    look->instances = instance;
    return MOTE_OK;
}

static MoteResult interpolate_view(Interpolation *interpolation, FrameSnapshotPool *pool, const FrameSnapshot *snapshot,
                                   float t, MoteRenderView *view)
{
    MoteResult result = snapshot_reserve(pool, &interpolation->positions, view->positions.bytes + 1);
    if (result == MOTE_OK) {
        result = snapshot_reserve(pool, &interpolation->rotations, view->cluster_rotations.bytes + 1);
    }
    if (result != MOTE_OK) {
        return result;
    }
    const float *now = view->positions.address, *before = snapshot->positions_before.data;
    float *out = interpolation->positions.data;
    for (size_t i = 0; i < 4 * (size_t)view->particle_count; i++) {
        out[i] = before[i] + t * (now[i] - before[i]);
    }
    const MoteQuaternion *turns = view->cluster_rotations.address, *turns_before = snapshot->rotations_before.data;
    MoteQuaternion *turns_out = interpolation->rotations.data;
    for (uint32_t i = 0; i < view->cluster_count; i++) {
        const bool known = snapshot->rotations_before_count == view->cluster_count;
        turns_out[i] = known ? interpolate_rotation(turns_before[i], turns[i], t) : turns[i];
    }
    view->positions.address = out;
    view->positions.capacity = interpolation->positions.bytes;
    if (view->cluster_count > 0) {
        view->cluster_rotations.address = turns_out;
        view->cluster_rotations.capacity = interpolation->rotations.bytes;
    }
    return MOTE_OK;
}

MoteResult interpolate_snapshots(Interpolation *interpolation, FrameSnapshotPool *pool, const FrameSnapshot *snapshot,
                                 float t, MoteRenderView *view, MoteRenderScene *look)
{
    const MoteResult result = interpolate_view(interpolation, pool, snapshot, t, view);
    return result == MOTE_OK ? interpolate_colliders(interpolation, pool, snapshot, t, look) : result;
}

void interpolation_free(Interpolation *interpolation)
{
    free(interpolation->positions.data);
    free(interpolation->rotations.data);
    free(interpolation->colliders.data);
    free(interpolation->instances.data);
    *interpolation = (Interpolation){0};
}
