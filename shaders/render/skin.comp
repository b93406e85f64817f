// SPDX-License-Identifier: MIT
// skin.comp - vertices of instances in the world: where a pose puts them, or the members of a body that they follow
// (linear blend skinning; each member carries its neighbourhood along as a rigid piece).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
#include "passes/skin.h"
PASS_CONSTANTS(SkinConstants)
PUSH_CONSTANTS(SkinPush)
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 places vertices, 1 makes normals of the triangles around them
void store(uint at, vec3 point, vec3 normal)
{
    frame.body_vertices.at[at] = BodyVertex(point.x, point.y, point.z, pack_direction(normal));
}

void follow_pose(uint at, uint v, MeshInstance instance)
{
    const MeshVertex vertex = frame.mesh_vertices.at[push.first_vertex + v];
    const vec3 scaled = instance.position.w * vertex.position.xyz;
    store(at, instance.position.xyz + quaternion_turn(instance.rotation, scaled),
          quaternion_turn(instance.rotation, vertex.normal.xyz));
}

// x = sum_k w_k (x_member + R_member R_start (position - rest_member)), over the members that are left.
void follow_members(uint at, uint v, MeshInstance instance)
{
    const vec3 rest_normal = quaternion_turn(instance.rotation, frame.mesh_vertices.at[push.first_vertex + v].normal.xyz);
    const SkinBinding binding = pass.bindings.at[push.first_binding + v];
    vec3 point = vec3(0.0), normal = vec3(0.0);
    float weight = 0.0;
    for (int k = 0; k < 4; k++) {
        const vec4 offset = binding.offsets[k];
        const uint member = instance.member_offset + binding.members[k];
        const uint slot = frame.handle_slots.at[member];
        if (offset.w > 0.0 && slot < frame.particle_count) {
            const uint cluster = frame.member_clusters.at[member];
            const vec4 rotation = cluster < frame.cluster_count ? frame.cluster_rotations.at[cluster] : vec4(0.0, 0.0, 0.0, 1.0);
            point += offset.w * (frame.positions.at[slot].xyz + quaternion_turn(rotation, quaternion_turn(instance.rotation, offset.xyz)));
            normal += offset.w * quaternion_turn(rotation, rest_normal);
            weight += offset.w;
        }
    }
    const vec3 nowhere = vec3(uintBitsToFloat(NO_DEPTH), 0.0, 0.0);
    store(at, weight > 0.0 ? point / weight : nowhere, normal);
}

// The sum of the triangles' normals, each as long as twice its area. Where they cancel, the turned one stays.
void bend(uint at, uint v, MeshInstance instance)
{
    const uint list = push.first_adjacent + pass.adjacency.at[push.first_adjacent + 2u * v];
    const uint count = pass.adjacency.at[push.first_adjacent + 2u * v + 1u];
    vec3 sum = vec3(0.0);
    for (uint k = 0u; k < count; k++) {
        const uint corner = 3u * (push.first_triangle + pass.adjacency.at[list + k]);
        const vec3 a = body_point(frame.body_vertices.at[instance.first + frame.mesh_triangles.at[corner]]);
        const vec3 b = body_point(frame.body_vertices.at[instance.first + frame.mesh_triangles.at[corner + 1u]]);
        const vec3 c = body_point(frame.body_vertices.at[instance.first + frame.mesh_triangles.at[corner + 2u]]);
        sum += cross(b - a, c - a);
    }
    if (dot(sum, sum) > 0.0 && !any(isinf(sum)) && !any(isnan(sum))) {
        frame.body_vertices.at[at].normal = pack_direction(sum);
    }
}

void main()
{
    const uint i = invocation_index();
    if (i >= push.invocations) {
        return;
    }
    const MeshInstance instance = frame.instances.at[push.first_instance + i / push.vertex_count];
    const uint v = i % push.vertex_count, at = instance.first + v;
    if (STEP == 1u) {
        bend(at, v, instance);
    } else if (push.skinned != 0u) {
        follow_members(at, v, instance);
    } else {
        follow_pose(at, v, instance);
    }
}
