// SPDX-License-Identifier: MIT
// colliders.glsl - colliders: where the vertices of their meshes are (src/render/primitive_mesh.h).
#define COLLIDER_PLANE   0u // MoteColliderKind
#define COLLIDER_BOX     1u
#define COLLIDER_SPHERE  2u
#define COLLIDER_CAPSULE 3u
#define LOOK_SOLID    1u // MoteLook

vec3 collider_turn(Collider collider, vec3 v)
{
    return v + 2.0 * cross(collider.rotation.xyz, cross(collider.rotation.xyz, v) + collider.rotation.w * v);
}

vec3 collider_turn_back(Collider collider, vec3 v)
{
    return v + 2.0 * cross(collider.rotation.xyz, cross(collider.rotation.xyz, v) - collider.rotation.w * v);
}

vec3 collider_local_point(Collider collider, PrimitiveVertex vertex)
{
    return vertex.corner.xyz * collider.half_size.xyz + collider.position.w * vertex.normal.xyz;
}

vec3 collider_world_point(Collider collider, PrimitiveVertex vertex)
{
    return collider.position.xyz + collider_turn(collider, collider_local_point(collider, vertex));
}

// Distance from a point outside to a box, sphere or capsule.
float collider_distance(Collider collider, vec3 point)
{
    const vec3 q = abs(collider_turn_back(collider, point - collider.position.xyz)) - collider.half_size.xyz;
    return length(max(q, 0.0)) + min(max(q.x, max(q.y, q.z)), 0.0) - collider.position.w;
}
