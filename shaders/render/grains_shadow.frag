// SPDX-License-Identifier: MIT
// grains_shadow.frag - the sun's map of grains (grains.comp) into that of all solids.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

void main()
{
    const uint bits = frame.grain_map.at[uint(gl_FragCoord.y) * frame.shadow_size + uint(gl_FragCoord.x)];
    if (bits == NO_DEPTH) {
        discard;
    }
    gl_FragDepth = uintBitsToFloat(bits);
}
