// layers.comp - what compositing and research want beside the picture, LAYER_FLOATS floats a pixel.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, ivec2(frame.width, frame.height)))) {
        return;
    }
    const vec4 color = texelFetch(accumulated_image, texel, 0) / float(frame.sample_count);
    const float surface = texelFetch(smooth_depth_image, texel, 0).x;
    const float solid = scene_view_z(texel);
    const bool liquid = surface < solid;
    const vec3 normal = liquid ? normalize(texelFetch(normals_image, texel, 0).xyz) : vec3(0.0);
    const vec2 at = (vec2(texel) + 0.5) / vec2(2 * imageSize(thickness_store));
    const float thickness = textureLod(sampler2D(thickness_image, linear_sampler), at, 0.0).a;
    const uint index = texelFetch(surface_index_image, texel, 0).x;
    const uint id = liquid && index > 0u ? frame.ids.at[index - 1u] + 1u : 0u;
    const uint p = uint(texel.y * int(frame.width) + texel.x) * LAYER_FLOATS;
    frame.layers.at[p] = floatBitsToUint(color.r);
    frame.layers.at[p + 1u] = floatBitsToUint(color.g);
    frame.layers.at[p + 2u] = floatBitsToUint(color.b);
    frame.layers.at[p + 3u] = floatBitsToUint(color.a);
    frame.layers.at[p + 4u] = floatBitsToUint(min(surface, solid));
    frame.layers.at[p + 5u] = floatBitsToUint(normal.x);
    frame.layers.at[p + 6u] = floatBitsToUint(normal.y);
    frame.layers.at[p + 7u] = floatBitsToUint(normal.z);
    frame.layers.at[p + 8u] = floatBitsToUint(thickness);
    frame.layers.at[p + 9u] = id;
}
