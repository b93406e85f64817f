// glass.frag - glass over the finished picture, where neither the scene nor the liquid hides it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "glass.glsl"
layout(location = 0) out vec4 color;

// Whether the scene or the liquid is nearer. Liquid is drawn up to half a spacing through the wall that holds it.
bool is_hidden(ivec2 texel, float z)
{
    const float liquid = texelFetch(smooth_depth_image, texel, 0).x;
    return z > 1.0005 * scene_view_z(texel) || z > liquid + 2.0 * frame.spacing;
}

void main()
{
    color = glass_color();
    if (is_hidden(ivec2(gl_FragCoord.xy), dot(point - frame.eye.xyz, frame.forward.xyz))) {
        discard;
    }
}
