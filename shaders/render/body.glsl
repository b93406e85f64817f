// SPDX-License-Identifier: MIT
// body.glsl - vertices of instances, as the skin pass stores them.

vec2 signs(vec2 v)
{
    return vec2(v.x < 0.0 ? -1.0 : 1.0, v.y < 0.0 ? -1.0 : 1.0);
}

// A direction on an octahedron unfolded to a square (Meyer and others, "On floating-point normal vectors", 2010).
uint pack_direction(vec3 n)
{
    const vec3 p = n / max(abs(n.x) + abs(n.y) + abs(n.z), 1e-20);
    return packSnorm2x16(p.z >= 0.0 ? p.xy : (1.0 - abs(p.yx)) * signs(p.xy));
}

vec3 unpack_direction(uint bits)
{
    const vec2 p = unpackSnorm2x16(bits);
    const float z = 1.0 - abs(p.x) - abs(p.y);
    return normalize(vec3(z >= 0.0 ? p : (1.0 - abs(p.yx)) * signs(p), z));
}

vec3 quaternion_turn(vec4 q, vec3 v)
{
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

vec3 body_point(BodyVertex vertex)
{
    return vec3(vertex.x, vertex.y, vertex.z);
}

// Where a vertex is in clip space. One whose members are all gone lies so far in front of the near plane that clipping
// leaves nothing of its triangles.
vec4 body_position(BodyVertex vertex, mat4 projection)
{
    return isinf(vertex.x) ? vec4(0.0, 0.0, -1e12, 1.0) : projection * vec4(body_point(vertex), 1.0);
}
