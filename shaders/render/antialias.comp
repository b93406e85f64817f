// SPDX-License-Identifier: MIT
// antialias.comp - smooths the edges of a picture of one sample, in the manner of FXAA (Lottes 2009): find how far the
// pixel is from the ends of its edge, and mix it with the pixel across the edge by as much as a line between those ends
// would cover it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "display.glsl"
#include "render_views.h"
layout(local_size_x = 8, local_size_y = 8) in;

const float CONTRAST_LEAST = 1.0 / 24.0; // of luma: less is no edge,
const float CONTRAST_SHARE = 1.0 / 8.0;  // nor is less than this of the brightest around
const float SPECK_STRENGTH = 0.75;       // how much of a lone pixel's difference from those around is taken away
const int SEARCH_STEPS = 10;

uint place_of(ivec2 texel)
{
    const ivec2 inside = clamp(texel, ivec2(0), ivec2(frame.width, frame.height) - 1);
    return 2u * (uint(inside.y) * frame.width + uint(inside.x));
}

float luma_at(ivec2 texel)
{
    return float(frame.display.at[place_of(texel) + 1u] >> 16u) / 65535.0;
}

// Pixels along `along` until the luma between the two sides of the edge leaves `luma_here` by `enough`; y is by how
// much it differs there.
vec2 edge_end(ivec2 texel, ivec2 along, ivec2 across, float luma_here, float enough)
{
    int distance = 0;
    float difference = 0.0;
    for (int i = 0; i < SEARCH_STEPS && abs(difference) < enough; i++) {
        distance += i < 4 ? 1 : i < 8 ? 2 : 4;
        const ivec2 at = texel + along * distance;
        difference = 0.5 * (luma_at(at) + luma_at(at + across)) - luma_here;
    }
    return vec2(distance, difference);
}

// Of the luma at a pixel of an edge and around it: which neighbour to mix it with, and the share of that one.
float share_of_neighbour(ivec2 texel, float m, float n, float s, float w, float e, float contrast, out ivec2 across)
{
    const float nw = luma_at(texel + ivec2(-1, -1)), ne = luma_at(texel + ivec2(1, -1));
    const float sw = luma_at(texel + ivec2(-1, 1)), se = luma_at(texel + ivec2(1, 1));

    // A speck differs from the mean of the eight around it by most of the contrast.
    const float mean = (2.0 * (n + s + w + e) + nw + ne + sw + se) / 12.0;
    const float speck = smoothstep(0.0, 1.0, abs(mean - m) / contrast);

    // Second differences across rows and across columns: an edge runs along what bends less.
    const float across_rows = abs(nw + sw - 2.0 * w) + 2.0 * abs(n + s - 2.0 * m) + abs(ne + se - 2.0 * e);
    const float across_columns = abs(nw + ne - 2.0 * n) + 2.0 * abs(w + e - 2.0 * m) + abs(sw + se - 2.0 * s);
    const bool horizontal = across_rows >= across_columns;
    const float before = horizontal ? n : w, after = horizontal ? s : e;
    const bool is_before = abs(before - m) >= abs(after - m); // the side that the edge is on
    const float beyond = is_before ? before : after;
    const ivec2 along = horizontal ? ivec2(1, 0) : ivec2(0, 1);
    across = along.yx * (is_before ? -1 : 1);

    const float luma_here = 0.5 * (m + beyond), enough = 0.25 * abs(m - beyond);
    const vec2 back = edge_end(texel, -along, across, luma_here, enough);
    const vec2 ahead = edge_end(texel, along, across, luma_here, enough);
    const vec2 nearer = back.x < ahead.x ? back : ahead;
    // Only the side of the edge that the end turns towards is covered by the other.
    const bool covered = (nearer.y < 0.0) != (m < luma_here);
    const float cover = covered ? 0.5 - nearer.x / (back.x + ahead.x) : 0.0;
    return max(cover, SPECK_STRENGTH * speck * speck);
}

void antialias(ivec2 texel)
{
    const uint place = place_of(texel);
    const uint low = frame.display.at[place], high = frame.display.at[place + 1u];
    const float m = float(high >> 16u) / 65535.0;
    const float n = luma_at(texel + ivec2(0, -1)), s = luma_at(texel + ivec2(0, 1));
    const float w = luma_at(texel + ivec2(-1, 0)), e = luma_at(texel + ivec2(1, 0));
    const float brightest = max(m, max(max(n, s), max(w, e))), darkest = min(m, min(min(n, s), min(w, e)));
    const float contrast = brightest - darkest;
    if (contrast < max(CONTRAST_LEAST, CONTRAST_SHARE * brightest)) {
        frame.pixels.at[place] = low;
        frame.pixels.at[place + 1u] = high | 0xffff0000u;
        return;
    }
    ivec2 across;
    const float share = share_of_neighbour(texel, m, n, s, w, e, contrast, across);
    const vec3 own = load_display(frame.display, place).rgb;
    const vec3 other = load_display(frame.display, place_of(texel + across)).rgb;
    store_display(frame.pixels, place, vec4(mix(own, other, share), 1.0));
}

void main()
{
    for (uint row = 0u; row < INVOCATION_ROWS; row++) {
        const ivec2 texel = ivec2(gl_GlobalInvocationID.xy) * ivec2(1, INVOCATION_ROWS) + ivec2(0, row);
        if (all(lessThan(texel, ivec2(frame.width, frame.height)))) {
            antialias(texel);
        }
    }
}
