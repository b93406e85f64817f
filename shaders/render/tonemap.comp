// SPDX-License-Identifier: MIT
// tonemap.comp - the mean of the samples as a screen shows it, in numbers of 16 bits: the finished picture, or what
// antialias.comp still has to smooth. Colours of a debug view mean numbers: they are encoded and nothing else.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "display.glsl"
#include "render_views.h"
#include "passes/tonemap.h"
PASS_CONSTANTS(TonemapConstants)
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint FILMIC = 1u;
layout(constant_id = 1) const uint ONE_SAMPLE = 1u; // which was not added to anything
const float MID_GREY = 0.18;
const uint TONE_AGX = 1u; // MOTE_TONE_AGX
layout(constant_id = 2) const uint FINISHED = 0u;   // else alpha carries the luma that edges are looked for in

void show(ivec2 texel)
{
    vec3 mean;
    if (ONE_SAMPLE != 0u) {
        mean = imageLoad(color_store, texel).rgb;
    } else {
        mean = imageLoad(accumulated_store, texel).rgb / float(frame.sample_count);
    }
    mean = mix(clamp(mean, vec3(0.0), vec3(65504.0)), vec3(0.0), isnan(mean));
    if (FILMIC != 0u) {
        mean *= frame.exposure;
        mean = max(mix(vec3(luminance(mean)), mean, pass.saturation), vec3(0.0));
        if (pass.contrast != 1.0) {
            mean *= pow(max(luminance(mean), 1e-6) / MID_GREY, pass.contrast - 1.0);
        }
        mean = pass.tone == TONE_AGX ? agx(mean) : filmic(mean);
    }
    const vec3 shown = srgb_encode(min(mean, vec3(1.0)));
    const uint place = 2u * (uint(texel.y) * frame.width + uint(texel.x));
    if (FINISHED != 0u) {
        store_display(frame.pixels, place, vec4(shown, 1.0));
    } else {
        store_display(frame.display, place, vec4(shown, dot(shown, vec3(0.299, 0.587, 0.114))));
    }
}

void main()
{
    for (uint row = 0u; row < INVOCATION_ROWS; row++) {
        const ivec2 texel = ivec2(gl_GlobalInvocationID.xy) * ivec2(1, INVOCATION_ROWS) + ivec2(0, row);
        if (all(lessThan(texel, ivec2(frame.width, frame.height)))) {
            show(texel);
        }
    }
}
