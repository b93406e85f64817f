// solids.frag - grains and meshes in the light of sun and sky, over a triangle that covers the picture: each pixel once,
// however many of them lie behind each other.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
layout(location = 0) out vec4 color;

void main()
{
    const ivec2 texel = ivec2(gl_FragCoord.xy);
    const vec4 normal_depth = texelFetch(scene_normals_image, texel, 0);
    if (normal_depth.w == 0.0) {
        discard;
    }
    const vec4 material = texelFetch(color_image, texel, 0); // rgb, roughness
    const vec3 point = world_point_at(gl_FragCoord.xy, normal_depth.w), to_eye = normalize(frame.eye.xyz - point);
    color = solid_light(point, normalize(normal_depth.xyz), to_eye, material.rgb, material.a, 1.0);
}
