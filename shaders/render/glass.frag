// SPDX-License-Identifier: MIT
// glass.frag - glass over the picture so far, where neither the scene nor the liquid hides it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "glass.glsl"
#include "smoke_view.glsl"
layout(location = 0) out vec4 color;
layout(constant_id = 0) const uint NEAR_SIDES = 1u; // liquid may be in front
layout(constant_id = 1) const uint TESTED = 0u;     // the scene's depth is a target that samples are compared with

// Whether the scene or the liquid is nearer. Liquid is drawn up to half a spacing through the wall that holds it.
bool is_hidden(ivec2 texel, float z)
{
    return (TESTED == 0u && z > 1.0005 * scene_view_z(texel)) ||
           (NEAR_SIDES != 0u && z > texelFetch(smooth_depth_image, texel, 0).x + 2.0 * frame.spacing);
}

void main()
{
    color = glass_color();
    const float z = dot(point - frame.eye.xyz, frame.forward.xyz);
    const vec4 smoke = smoke_before(gl_FragCoord.xy, z);
    color.rgb = smoke.a * color.rgb + color.a * smoke.rgb;
    if (is_hidden(ivec2(gl_FragCoord.xy), z)) {
        discard;
    }
}
