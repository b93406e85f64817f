// SPDX-License-Identifier: MIT
// sort_plan.comp - one invocation: the digits to sort by, and in which arrays the elements are before each.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

void main()
{
    if (gl_LocalInvocationID.x != 0u) {
        return;
    }
    uint other = 0u;
    for (uint d = 0u; d <= DIGITS; d++) {
        const uint word = arguments.state.differing[min(d / 4u, 1u)];
        const bool needed = d < DIGITS ? ((word >> (DIGIT_BITS * (d % 4u))) & (DIGIT_VALUES - 1u)) != 0u : other != 0u;
        const uint once = needed ? 1u : 0u;
        arguments.state.rows[d] = PassRow(once * arguments.tiles, 1u, 1u, other, once, 1u, 1u, 0u);
        other = needed ? 1u - other : other;
    }
}
