// SPDX-License-Identifier: MIT
// occlusion.glsl - what the occlusion pass found, at half resolution.

// How far a surface takes light from others, m.
float occlusion_radius()
{
    return 8.0 * frame.solid_radius;
}

ivec2 occlusion_size()
{
    return (ivec2(frame.width, frame.height) + 1) / 2;
}

uint occlusion_place(ivec2 half_texel)
{
    const ivec2 size = occlusion_size(), t = clamp(half_texel, ivec2(0), size - 1);
    return uint(t.y * size.x + t.x);
}

// How much of the sky's light is left to what a texel shows at this view z: between the four nearest means, those at
// another depth aside.
float occlusion_left(ivec2 texel, float z)
{
    const ivec2 low = texel / 2;
    const vec2 part = 0.5 * vec2(texel & 1);
    const float near = 0.25 * occlusion_radius() + 0.005 * z;
    float sum = 0.0, weight = 0.0;
    for (int k = 0; k < 4; k++) {
        const ivec2 offset = ivec2(k & 1, k >> 1);
        const vec2 mean = frame.occlusion_means.at[occlusion_place(low + offset)];
        const vec2 share = mix(1.0 - part, part, vec2(offset));
        const float w = share.x * share.y * (abs(mean.y - z) < near ? 1.0 : 1e-4);
        sum += isinf(mean.y) ? 0.0 : w * mean.x;
        weight += isinf(mean.y) ? 0.0 : w;
    }
    return weight > 0.0 ? sum / weight : 1.0;
}

// Light, of which the share alpha is the sky's, without what is taken from it.
vec4 occluded(vec4 light, float left)
{
    return vec4(light.rgb * (1.0 - light.a * (1.0 - left)), light.a);
}
