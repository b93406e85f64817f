// SPDX-License-Identifier: MIT
// bloom.comp - the light that a lens and an eye spread around what is bright: a share of the whole picture, however
// bright a pixel is, so that there is no threshold that something could flicker across. It is the mean of BLOOM_LEVELS
// copies of the picture, each twice as blurred as the one before: a narrow core with wide skirts, as a lens has.
//   MEAN   of the samples, into the picture
//   FIRST  the picture at half its resolution: level 0
//   DOWN   each level from the one before, by 13 boxes of 2x2 texels that overlap (Jimenez, "Next generation post
//          processing in Call of Duty: Advanced Warfare", 2014): a moving highlight does not pulse
//   UP     adds a level to the finer one, by a tent of 3x3
//   APPLY  blends the mean of the levels into the picture
// All weights are positive and their sum is 1: where nothing is near the border, no light is lost or gained.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "frame.glsl"
#include "passes/bloom.h"
PASS_CONSTANTS(BloomConstants)
PUSH_CONSTANTS(BloomPush)
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint STEP = 0u;
layout(constant_id = 1) const uint SUMMED = 0u; // of APPLY: the tonemap pass reads the sum of samples
const uint MEAN = 0u, FIRST = 1u, DOWN = 2u, UP = 3u, APPLY = 4u;

vec3 finite(vec3 light)
{
    return mix(clamp(light, vec3(0.0), vec3(65504.0)), vec3(0.0), isnan(light));
}

uint fine_place(ivec2 texel)
{
    const ivec2 t = clamp(texel, ivec2(0), ivec2(push.fine_width, push.fine_height) - 1);
    return push.fine + uint(t.y) * push.fine_width + uint(t.x);
}

vec3 coarse(ivec2 texel)
{
    const ivec2 t = clamp(texel, ivec2(0), ivec2(push.coarse_width, push.coarse_height) - 1);
    return pass.levels.at[push.coarse + uint(t.y) * push.coarse_width + uint(t.x)].rgb;
}

// The mean of 2x2 pixels of the picture around a corner between them.
vec3 picture_box(ivec2 corner)
{
    const vec2 at = vec2(corner) / vec2(frame.width, frame.height);
    return finite(textureLod(sampler2D(color_image, linear_sampler), at, 0.0).rgb);
}

vec3 thirteen_boxes_of_picture(ivec2 c)
{
    vec3 near = vec3(0.0), side = vec3(0.0), corner = vec3(0.0);
    [[unroll]] for (int k = 0; k < 4; k++) {
        const ivec2 turned = ivec2((k & 1) * 2 - 1, (k >> 1) * 2 - 1), axis = k < 2 ? ivec2(turned.x, 0) : ivec2(0, 2 * (k & 1) - 1);
        near += picture_box(c + turned);
        side += picture_box(c + 2 * axis);
        corner += picture_box(c + 2 * turned);
    }
    return 0.125 * (picture_box(c) + near) + 0.0625 * side + 0.03125 * corner;
}

// The same boxes over 6x6 texels of a level, each texel read once: what overlaps adds up. Weights are by a texel's
// distance from the corner, 0 to 2 texels along each axis.
vec3 thirteen_boxes_of_level(ivec2 c)
{
    const float weights[3][3] = {{8.0, 6.0, 2.0}, {6.0, 5.0, 1.0}, {2.0, 1.0, 1.0}}; // over 128
    vec3 sum = vec3(0.0);
    [[unroll]] for (int y = -3; y < 3; y++) {
        [[unroll]] for (int x = -3; x < 3; x++) {
            const float weight = weights[y < 0 ? -1 - y : y][x < 0 ? -1 - x : x] / 128.0;
            sum += weight * pass.levels.at[fine_place(c + ivec2(x, y))].rgb;
        }
    }
    return sum;
}

// A tent of 3x3 over the coarser level, between its texels: along each axis four of them count.
vec3 tent(ivec2 texel)
{
    const ivec2 odd = texel & 1, first = (texel >> 1) - 2 + odd;
    const vec4 even_weights = vec4(1.0, 5.0, 7.0, 3.0) / 16.0;
    const vec4 across = odd.x == 1 ? even_weights.wzyx : even_weights, down = odd.y == 1 ? even_weights.wzyx : even_weights;
    vec3 sum = vec3(0.0);
    [[unroll]] for (int y = 0; y < 4; y++) {
        [[unroll]] for (int x = 0; x < 4; x++) {
            sum += down[y] * across[x] * coarse(first + ivec2(x, y));
        }
    }
    return sum;
}

// All levels at a pixel of the picture, between the finest one's texels.
vec3 spread(ivec2 pixel)
{
    const ivec2 odd = pixel & 1, first = (pixel >> 1) - 1 + odd;
    const vec2 part = 0.75 - 0.5 * vec2(odd);
    const vec3 above = mix(coarse(first), coarse(first + ivec2(1, 0)), part.x);
    const vec3 below = mix(coarse(first + ivec2(0, 1)), coarse(first + ivec2(1, 1)), part.x);
    return mix(above, below, part.y) / float(BLOOM_LEVELS);
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy), picture = ivec2(frame.width, frame.height);
    const ivec2 size = STEP == FIRST || STEP == DOWN ? ivec2(push.coarse_width, push.coarse_height)
                       : STEP == UP                  ? ivec2(push.fine_width, push.fine_height)
                                                     : picture;
    if (any(greaterThanEqual(texel, size))) {
        return;
    }
    const uint coarse_place = push.coarse + uint(texel.y) * push.coarse_width + uint(texel.x);
    if (STEP == MEAN) {
        const vec3 mean = imageLoad(accumulated_store, texel).rgb / float(frame.sample_count);
        imageStore(color_store, texel, vec4(finite(mean), 1.0));
    } else if (STEP == FIRST) {
        pass.levels.at[coarse_place] = vec4(thirteen_boxes_of_picture(2 * texel + 1), 0.0);
    } else if (STEP == DOWN) {
        pass.levels.at[coarse_place] = vec4(thirteen_boxes_of_level(2 * texel + 1), 0.0);
    } else if (STEP == UP) {
        pass.levels.at[fine_place(texel)].rgb += tent(texel);
    } else {
        const vec3 own = finite(imageLoad(color_store, texel).rgb);
        const vec3 light = mix(own, spread(texel), pass.amount);
        if (SUMMED != 0u) {
            imageStore(accumulated_store, texel, vec4(light * float(frame.sample_count), 1.0));
        } else {
            imageStore(color_store, texel, vec4(light, 1.0));
        }
    }
}
