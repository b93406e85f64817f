// SPDX-License-Identifier: MIT
// outline.comp - lines around what is nearest and along its creases, as in drawn figures (Saito and Takahashi,
// "Comprehensible rendering of 3-D shapes", 1990). Of liquid and solids; glass is looked through. Each texel finds out
// whether there is an edge between it and the next ones to the right and below; lines are then drawn around the middles of
// these edges.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "screen_normal.glsl"
#include "passes/outline.h"
PASS_CONSTANTS(OutlineConstants)
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 finds edges, 1 draws lines

const float GAP = 0.01;     // in depth, of the distance, from which on two surfaces are apart
const float STEEPER = 1.5;  // than the surfaces on both sides is what leads from one to the other
const float BEND = 2e-4;    // of 1 / z, of itself: less is rounding
const float CREASE = 0.8;   // cosine of the angle from which on a bend is one
const float ENDS = 8.0;     // times as steep as beyond is what leads to where a surface has ended

ivec2 picture_size()
{
    return ivec2(frame.width, frame.height);
}

// 1 / view z of what is nearest, which is linear across a plane, less the horizon's; 0 is the sky.
float nearness(ivec2 texel)
{
    const ivec2 t = clamp(texel, ivec2(0), picture_size() - 1);
    return max(1.0 / min(scene_view_z(t), texelFetch(smooth_depth_image, t, 0).x) - pass.horizon, 0.0);
}

bool is_liquid(ivec2 texel)
{
    return texelFetch(smooth_depth_image, texel, 0).x < scene_view_z(texel);
}

// View space, towards the eye; of the side of an edge that the texel is on, for the next texel along `axis` is beyond it.
// A surface that ends on this side, too, is as the other side has it.
vec3 normal_beside(ivec2 texel, ivec2 axis)
{
    if (is_liquid(texel)) {
        return world_to_view_direction(texelFetch(normals_image, texel, 0).xyz);
    }
    const vec3 point = screen_point(texel, scene_view_z(texel));
    const vec4 body = body_normal(texel);
    if (body.w > 0.0) {
        return world_to_view_direction(body.xyz);
    }
    const ivec2 before = texel - axis;
    const float here = nearness(texel), behind = nearness(before), slope = abs(behind - nearness(before - axis));
    const bool ends = !on_screen(before) || abs(here - behind) > ENDS * slope + 0.1 * GAP * here;
    const ivec2 other = ends ? texel + axis : before;
    const vec3 along = screen_point(other, scene_view_z(other)) - point;
    const vec3 n = cross(along, screen_difference(texel, axis.yx, point));
    return normalize(dot(n, point) > 0.0 ? -n : n);
}

// Between a texel and the next one along an axis: where each is off the other's surface as it goes on, where liquid
// ends, or where normals differ.
bool is_edge(ivec2 texel, ivec2 axis)
{
    const ivec2 next = texel + axis;
    if (any(greaterThanEqual(next, picture_size()))) {
        return false;
    }
    const float here = nearness(texel), there = nearness(next), larger = max(here, there);
    const float slope_here = here - nearness(texel - axis), slope_there = there - nearness(next + axis);
    const float off_here = abs(here + slope_here - there), off_there = abs(there + slope_there - here);
    const bool gap = off_here > max(GAP * larger, STEEPER * abs(slope_here)) &&
                     off_there > max(GAP * larger, STEEPER * abs(slope_there));
    bool edge = gap || is_liquid(texel) != is_liquid(next);
    if (!edge && min(here, there) > 0.0 && min(off_here, off_there) > BEND * larger) {
        edge = dot(normal_beside(texel, axis), normal_beside(next, -axis)) < CREASE;
    }
    return edge;
}

// How much of a pixel lies within half a line's width of an edge. Distances are to the middles of edges: those of a
// slanting line lie on it, where the edges themselves are stairs.
float line_cover(ivec2 texel)
{
    const int reach = int(ceil(pass.half_width + 0.5));
    const ivec2 low = max(texel - reach - 1, ivec2(0)), high = min(texel + reach, picture_size() - 1);
    float squared = 1e9;
    for (int y = low.y; y <= high.y; y++) {
        for (int x = low.x; x <= high.x; x++) {
            const uint edges = pass.edges.at[uint(y) * frame.width + uint(x)];
            const vec2 away = vec2(ivec2(x, y) - texel);
            const vec2 right = away + vec2(0.5, 0.0), below = away + vec2(0.0, 0.5);
            squared = min(squared, (edges & 1u) != 0u ? dot(right, right) : 1e9);
            squared = min(squared, (edges & 2u) != 0u ? dot(below, below) : 1e9);
        }
    }
    return clamp(pass.half_width + 0.5 - sqrt(squared), 0.0, 1.0);
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, picture_size()))) {
        return;
    }
    if (STEP == 0u) {
        const uint edges = (is_edge(texel, ivec2(1, 0)) ? 1u : 0u) | (is_edge(texel, ivec2(0, 1)) ? 2u : 0u);
        pass.edges.at[uint(texel.y) * frame.width + uint(texel.x)] = edges;
        return;
    }
    const float cover = line_cover(texel);
    if (cover > 0.0) {
        const vec4 color = imageLoad(color_store, texel);
        imageStore(color_store, texel, vec4(color.rgb * (1.0 - cover), color.a));
    }
}
