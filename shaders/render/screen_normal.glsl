// SPDX-License-Identifier: MIT
// screen_normal.glsl - points and normals of the scene, in view space, from what is on the screen.

vec3 world_to_view_direction(vec3 v)
{
    return vec3(dot(v, frame.right.xyz), dot(v, frame.up.xyz), dot(v, frame.forward.xyz));
}

vec3 screen_point(ivec2 texel, float z)
{
    return vec3(pixel_slope(vec2(texel) + 0.5), 1.0) * z;
}

bool on_screen(ivec2 texel)
{
    return all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, ivec2(frame.width, frame.height)));
}

// The smaller of the differences to both sides: across an edge it is the other one.
vec3 screen_difference(ivec2 texel, ivec2 axis, vec3 point)
{
    const ivec2 after = texel + axis, before = texel - axis;
    const float za = on_screen(after) ? scene_view_z(after) : 1e30, zb = on_screen(before) ? scene_view_z(before) : 1e30;
    return abs(za - point.z) < abs(zb - point.z) ? screen_point(after, za) - point : point - screen_point(before, zb);
}

// View space, towards the eye. Grains and meshes have their own, if nothing else is in front of them.
vec3 screen_normal(ivec2 texel, vec3 point)
{
    const vec4 body = body_normal(texel);
    if (body.w > 0.0) {
        return world_to_view_direction(body.xyz);
    }
    const vec3 n = cross(screen_difference(texel, ivec2(0, 1), point), screen_difference(texel, ivec2(1, 0), point));
    return normalize(dot(n, point) > 0.0 ? -n : n);
}
