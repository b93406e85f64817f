// splat.comp - the liquid's nearest ellipsoid at every pixel: an invocation a particle, atomicMin on the bits of view z,
// which order as the positive floats do. In a buffer, whose atomics are far quicker than an image's on software devices.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "ellipsoid.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 clears, 1 finds the nearest depth, 2 who has it, 3 and 4 store them as images

void splat(uint i)
{
    const Ellipsoid e = load_ellipsoid(i);
    const vec4 bounds = screen_bounds(e);
    const ivec2 low = max(ivec2(ceil(bounds.xy - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(bounds.zw - 0.5)), ivec2(frame.width, frame.height) - 1);
    // Out of the loops: constants of the frame, and the slope as a line.
    UintTarget splats = frame.splats;
    const float near_plane = frame.near_plane, step = 1.0 / frame.focal;
    const vec2 corner = pixel_slope(vec2(0.5));
    const int width = int(frame.width);
    for (int y = low.y; y <= high.y; y++) {
        for (int x = low.x; x <= high.x; x++) {
            const vec2 hits = ray_hits(e, corner + vec2(x, -y) * step);
            if (hits.y > 0.0 && hits.x > near_plane) {
                const uint pixel = 2u * uint(y * width + x), bits = floatBitsToUint(hits.x);
                const uint there = splats.at[pixel];
                if (STEP == 1u) {
                    if (bits < there) { // most are not: a plain load is quicker than an atomic
                        atomicMin(splats.at[pixel], bits);
                    }
                } else if (there == bits) {
                    atomicMax(splats.at[pixel + 1u], i + 1u);
                }
            }
        }
    }
}

void main()
{
    const uint i = invocation_index();
    if (STEP == 1u || STEP == 2u) {
        if (i < frame.visible.at[0]) {
            splat(frame.visible.at[1u + i]);
        }
    } else if (i < frame.width * frame.height) {
        if (STEP == 0u) {
            frame.splats.at[2u * i] = NO_DEPTH;
            frame.splats.at[2u * i + 1u] = 0u;
        } else {
            const ivec2 texel = ivec2(i % frame.width, i / frame.width);
            imageStore(surface_depth_store, texel, uvec4(frame.splats.at[2u * i]));
            if (STEP == 4u) {
                imageStore(surface_index_store, texel, uvec4(frame.splats.at[2u * i + 1u]));
            }
        }
    }
}
