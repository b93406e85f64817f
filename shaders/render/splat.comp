// SPDX-License-Identifier: MIT
// splat.comp - the liquid's nearest ellipsoid at every pixel. In a buffer, whose atomics are far quicker than an image's
// on software devices.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "depth_splat.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 finds the nearest depth, 1 who has it; 2 and 3 do so for large ones

Ellipsoid ellipsoid_of(uint i)
{
    return load_ellipsoid(i);
}

float nearest_of(Ellipsoid e)
{
    return 0.0;
}

void main()
{
    const uint i = invocation_index();
    if (STEP >= 2u) {
        splat_large_ones(frame.splats, i, STEP == 3u);
    } else if (i < frame.visible.at[0]) {
        splat(frame.splats, frame.visible.at[1u + i], STEP == 1u);
    }
}
