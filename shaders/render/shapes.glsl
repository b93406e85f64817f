// SPDX-License-Identifier: MIT
// shapes.glsl - colliders: where the vertices of their meshes are (src/render/shape_mesh.h).
#define SHAPE_PLANE   0u // MoteShapeKind
#define SHAPE_BOX     1u
#define SHAPE_SPHERE  2u
#define SHAPE_CAPSULE 3u
#define LOOK_SOLID    1u // MoteLook

vec3 shape_turn(Shape shape, vec3 v)
{
    return v + 2.0 * cross(shape.rotation.xyz, cross(shape.rotation.xyz, v) + shape.rotation.w * v);
}

vec3 shape_turn_back(Shape shape, vec3 v)
{
    return v + 2.0 * cross(shape.rotation.xyz, cross(shape.rotation.xyz, v) - shape.rotation.w * v);
}

vec3 shape_local_point(Shape shape, ShapeVertex vertex)
{
    return vertex.corner.xyz * shape.half_size.xyz + shape.position.w * vertex.normal.xyz;
}

vec3 shape_world_point(Shape shape, ShapeVertex vertex)
{
    return shape.position.xyz + shape_turn(shape, shape_local_point(shape, vertex));
}

// Distance from a point outside to a box, sphere or capsule.
float shape_distance(Shape shape, vec3 point)
{
    const vec3 q = abs(shape_turn_back(shape, point - shape.position.xyz)) - shape.half_size.xyz;
    return length(max(q, 0.0)) + min(max(q.x, max(q.y, q.z)), 0.0) - shape.position.w;
}
