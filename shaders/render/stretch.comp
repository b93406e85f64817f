// SPDX-License-Identifier: MIT
// stretch.comp - how far links are longer than at rest, as a share of that. Maxima of the bits of numbers that are not
// negative: the order of atomics does not matter.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
#include "cloth.glsl"
layout(local_size_x = 64) in;

void main()
{
    const uint i = invocation_index();
    if (i >= frame.link_count) {
        return;
    }
    const uint a = handle_slot(frame.link_ends.at[2u * i]), b = handle_slot(frame.link_ends.at[2u * i + 1u]);
    const float rest = frame.link_laws.at[i].x;
    if (a < frame.particle_count && b < frame.particle_count && rest > 0.0) {
        const float stretch = max(distance(frame.positions.at[a].xyz, frame.positions.at[b].xyz) / rest - 1.0, 0.0);
        atomicMax(frame.stretch.at[a], floatBitsToUint(stretch));
        atomicMax(frame.stretch.at[b], floatBitsToUint(stretch));
    }
}
