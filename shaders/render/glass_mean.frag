// SPDX-License-Identifier: MIT
// glass_mean.frag - the mean of the samples of glass, premultiplied.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) out vec4 color;
layout(constant_id = 0) const uint SAMPLES = 4u;

void main()
{
    vec4 sum = vec4(0.0);
    for (int k = 0; k < int(SAMPLES); k++) {
        sum += texelFetch(glass_samples_image, ivec2(gl_FragCoord.xy), k);
    }
    color = sum / float(SAMPLES);
}
