// SPDX-License-Identifier: MIT
// lines.vert - a line from a buffer.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "lines.glsl"
#include "passes/lines.h"
PUSH_CONSTANTS(LinesPush)
void main()
{
    const uint line = 3u * gl_InstanceIndex;
    draw_line(push.lines.at[line], push.lines.at[line + 1u], push.lines.at[line + 2u].rgb, push.half_width);
}
