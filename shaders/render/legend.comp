// legend.comp - lays the panel of a legend over the finished picture.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "display.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(push_constant, scalar) uniform Push
{
    UintArray panel;    // RGBA of 8 bits
    uint left, top;     // pixels of the picture
    uint width, height; // pixels of the panel, each `scale` pixels of the picture wide and high
    uint scale;
};

void main()
{
    const uvec2 in_panel = gl_GlobalInvocationID.xy / scale;
    if (in_panel.x >= width || in_panel.y >= height) {
        return;
    }
    const uvec2 pixel = uvec2(left, top) + gl_GlobalInvocationID.xy;
    const uint place = 2u * (pixel.y * frame.width + pixel.x);
    const vec4 over = unpackUnorm4x8(panel.at[in_panel.y * width + in_panel.x]);
    const vec4 under = load_display(frame.pixels, place);
    store_display(frame.pixels, place, vec4(mix(under.rgb, over.rgb, over.a), 1.0));
}
