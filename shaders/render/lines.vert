// lines.vert - a line from a buffer.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "lines.glsl"
layout(push_constant, scalar) uniform Push
{
    Vec4Array lines; // three a line: end and its opacity, other end and its opacity, colour
    float half_width; // pixels
};

void main()
{
    const uint line = 3u * gl_InstanceIndex;
    draw_line(lines.at[line], lines.at[line + 1u], lines.at[line + 2u].rgb, half_width);
}
