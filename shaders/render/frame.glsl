// SPDX-License-Identifier: MIT
// frame.glsl - what every shader of the renderer includes: the frame's constants, its images, and where a pixel looks.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_samplerless_texture_functions : require

#include "render_shared.h"

#define FIRST_ROW()            const int FIRST_LINE = __LINE__;
#define BLOCK_ROW(name, bytes) const int BINDING_##name = ROW_BINDING;
#define SAMPLER_ROW(name, filter, mode) layout(set = 0, binding = ROW_BINDING) uniform sampler name;
#define IMAGE_ROW(name, texture, store, glsl_format, format, size, usage)                                              \
    layout(set = 0, binding = ROW_BINDING) uniform texture name##_image;                                               \
    layout(set = 0, binding = ROW_BINDING + 1, glsl_format) uniform store name##_store;
#define DEPTH_ROW(name, size)           layout(set = 0, binding = ROW_BINDING) uniform texture2D name##_image;
#define SAMPLES_ROW(name, format, what) layout(set = 0, binding = ROW_BINDING) uniform texture2DMS name##_image;
#include "render/resources.def"

layout(set = 0, binding = BINDING_frame_constants, scalar) uniform FrameBlock
{
    FrameConstants frame;
};

// A shader's own numbers, structs of shaders/passes: `pass` is what the pass gave to pass_constants, `push` what it gave
// to pass_bind.
#define PASS_CONSTANTS(type)                                                                                           \
    layout(set = 0, binding = BINDING_pass_constants, scalar) uniform PassBlock                                        \
    {                                                                                                                  \
        type pass;                                                                                                     \
    };
#define PUSH_CONSTANTS(type)                                                                                           \
    layout(push_constant, scalar) uniform PushBlock                                                                    \
    {                                                                                                                  \
        type push;                                                                                                     \
    };

// Where the ray through a pixel's position meets view z = 1.
vec2 pixel_slope(vec2 pixel)
{
    return vec2(pixel.x - frame.centre.x, frame.centre.y - pixel.y) / frame.focal;
}

vec2 pixel_of(vec3 view_point)
{
    return frame.centre + vec2(view_point.x, -view_point.y) * (frame.focal / view_point.z);
}

vec3 to_view(vec3 world_point)
{
    const vec3 p = world_point - frame.eye.xyz;
    return vec3(dot(p, frame.right.xyz), dot(p, frame.up.xyz), dot(p, frame.forward.xyz));
}

vec3 view_to_world_direction(vec3 v)
{
    return v.x * frame.right.xyz + v.y * frame.up.xyz + v.z * frame.forward.xyz;
}

// A world-space direction, not of unit length: its component along the view direction is 1.
vec3 pixel_direction(vec2 pixel)
{
    return view_to_world_direction(vec3(pixel_slope(pixel), 1.0));
}

vec3 world_point_at(vec2 pixel, float view_z)
{
    return frame.eye.xyz + view_z * pixel_direction(pixel);
}

// View z of the scene at a texel; infinite where there is only sky.
float scene_view_z(ivec2 texel)
{
    return frame.near_plane / texelFetch(scene_depth_image, texel, 0).x;
}

// The normal (world space) of a grain or mesh that is the nearest thing of the scene at a texel; w is 0 where none is.
vec4 body_normal(ivec2 texel)
{
    vec4 normal = vec4(0.0);
    if (frame.has_bodies != 0u) {
        normal = texelFetch(scene_normals_image, texel, 0);
        normal = abs(normal.w - scene_view_z(texel)) < 1e-5 * normal.w ? vec4(normal.xyz, 1.0) : vec4(0.0);
    }
    return normal;
}

Material material_row(uint row)
{
    return frame.materials.at[min(row, frame.material_count - 1u)];
}

Material material_of(uint phase)
{
    uint row = phase & 0x00ffffffu;
    if (frame.group_count > 0u) {
        row = frame.group_materials.at[min(row, frame.group_count - 1u)];
    }
    return material_row(row);
}

// Whether a particle is of gas, which is not drawn: what it carries is.
bool is_gas(uint i)
{
    return (frame.phases.at[i] & PHASE_KIND) == PHASE_GAS;
}

// Whether a particle is no liquid. Asks nobody where all are.
bool is_solid(uint i)
{
    return frame.has_solids != 0u && (frame.phases.at[i] & PHASE_KIND) != PHASE_LIQUID;
}

// Whether a particle of liquid is isolated, and drawn as drops instead of a part of the surface (anisotropy.comp).
bool is_drop(uint i)
{
    return frame.ellipsoids.at[3u * i].xyz == vec3(0.0); // no row of an ellipsoid is
}

// Of a dispatch by pass_dispatch.
#define invocation_index() (gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x)
