// glass_behind.frag - glass that is part of the scene behind the liquid. It must not so much as name the scene's depth,
// which is being written when it is drawn.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "glass.glsl"
layout(location = 0) out vec4 color;

void main()
{
    color = glass_color();
}
