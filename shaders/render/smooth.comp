// SPDX-License-Identifier: MIT
// smooth.comp - one dispatch of a smoother of the liquid's depth; src/render/passes/smooth.c puts them together.
//
// The filters average 1 / z, not z: of a plane, 1 / z is linear across the screen, and a symmetric filter leaves what
// is linear as it is. So a still pool stays flat to rounding, seen at any angle.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/smooth.h"
PASS_CONSTANTS(SmoothConstants)
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint METHOD = 0u;    // narrow range, bilateral, curvature flow, copy
layout(constant_id = 1) const uint DIRECTION = 0u; // along x, along y, both; a copy of z itself
layout(constant_id = 2) const uint SOURCE = 0u;    // surface_depth, splats (the same), two planes of smooth_planes
layout(constant_id = 3) const uint TARGET = 0u;    // smooth_depth; 2 and 3: the planes

const int LARGEST_REACH = 40; // pixels; what is nearer than that allows is smoothed less
const int CLEAN_UP_REACH = 1;

uint place_of(ivec2 texel)
{
    return uint(texel.y) * frame.width + uint(texel.x);
}

uint plane_start(uint plane)
{
    return (plane - 2u) * frame.width * frame.height;
}

// 1 / z at a texel of the screen, 0 where there is no liquid. From buffers where there is a choice: software drivers call
// a function for every texel of an image.
float load_inverse(ivec2 texel)
{
    if (SOURCE >= 2u) {
        return uintBitsToFloat(pass.planes.at[plane_start(SOURCE) + place_of(texel)]);
    }
    uint bits;
    if (SOURCE == 1u) {
        bits = frame.splats.at[place_of(texel)];
    } else {
        bits = texelFetch(surface_depth_image, texel, 0).x;
    }
    return bits == NO_DEPTH || bits == 0u ? 0.0 : 1.0 / uintBitsToFloat(bits); // never infinite, whatever is fetched
}

void store(ivec2 texel, float value)
{
    if (TARGET >= 2u) {
        pass.planes.at[plane_start(TARGET) + place_of(texel)] = floatBitsToUint(value);
    } else {
        imageStore(smooth_depth_store, texel, vec4(value));
    }
}

bool on_screen(ivec2 texel)
{
    return all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, ivec2(frame.width, frame.height)));
}

// Narrow-range filter (Truong and Yuksel 2018) along one line, on q = 1 / z. A sample counts if it lies within a narrow
// range of the last one that did on its side: so slopes are followed, and what is in front or behind is another surface.
// It counts less and less from one to two ranges: where a crest's step grows along its length, a hard limit would let the
// filter go from one column to the next, a notch in the surface with a glint on either side.
// Leaving samples out would pull the mean of a slope aside; a weighted line is fitted instead and read at the middle,
// which is the mean where nothing is left out, and leaves a plane as it is whatever is. Weights are a Gaussian's, by
// recurrence: w(k + 1) / w(k) falls by a constant factor.
float narrow_line(ivec2 texel, ivec2 axis, float centre, float sigma, int reach)
{
    const float range = pass.depth * centre * centre; // of 1 / z, about z
    float before = centre, after = centre;                      // the last ones that counted
    float trust_b = 1.0, trust_a = 1.0;                         // in what comes after a step that counted in part
    float s0 = 1.0, s1 = 0.0, s2 = 0.0, t0 = centre, t1 = 0.0;
    float w = exp(-0.5 / (sigma * sigma)), ratio = w * w * w;
    const float factor = w * w;
    for (int k = 1; k <= reach; k++) {
        const float a = load_inverse(texel + k * axis), b = load_inverse(texel - k * axis);
        const float near_a = clamp(2.0 - abs(a - after) / range, 0.0, 1.0);
        const float near_b = clamp(2.0 - abs(b - before) / range, 0.0, 1.0);
        after = mix(after, a, near_a);
        before = mix(before, b, near_b);
        const float wa = w * near_a * trust_a, wb = w * near_b * trust_b, x = float(k);
        trust_a *= 1.0 - 2.8 * near_a * (1.0 - near_a);
        trust_b *= 1.0 - 2.8 * near_b * (1.0 - near_b);
        s0 += wa + wb;
        s1 += (wa - wb) * x;
        s2 += (wa + wb) * x * x;
        t0 += wa * a + wb * b;
        t1 += (wa * a - wb * b) * x;
        w *= ratio;
        ratio *= factor;
    }
    // At a silhouette all samples are on one side (s1^2 is about 0.64 s0 s2 then): the surface curves away from what a
    // line would continue, and the mean is the better guess.
    const float mean = t0 / s0, one_sided = s1 * s1 / max(s0 * s2, 1e-20);
    const float line = (s2 * t0 - s1 * t1) / max(s0 * s2 - s1 * s1, 1e-20);
    return mix(line, mean, 0.75 * smoothstep(0.2, 0.5, one_sided));
}

// Pairs of samples, so that the filter stays symmetric; it ends at the screen's edge and at silhouettes on both sides.
float bilateral_line(ivec2 texel, ivec2 axis, float centre, float sigma, int reach)
{
    const float z = 1.0 / centre;
    const float falloff = -0.5 / (sigma * sigma);
    const float depth_falloff = -4.5 / (pass.depth * pass.depth); // the edge is at three sigma
    bool open_end = true;
    float sum = centre, weight = 1.0;
    for (int k = 1; k <= reach; k++) {
        const float a = load_inverse(texel + k * axis), b = load_inverse(texel - k * axis);
        // Beyond the silhouette is another surface, and so is everything behind it.
        open_end = open_end && min(a, b) > 0.0;
        // What the two have in common is a slope; only what bends it is an edge.
        const float bend = 0.5 * (1.0 / max(a, 1e-12) + 1.0 / max(b, 1e-12)) - z;
        const float w = open_end ? exp(falloff * float(k * k) + depth_falloff * bend * bend) : 0.0;
        sum += w * (a + b);
        weight += 2.0 * w;
    }
    return sum / weight;
}

// A small two-dimensional filter that takes away the streaks that separable passes leave.
float clean_up(ivec2 texel, float centre)
{
    const float z = 1.0 / centre;
    float sum = centre, weight = 1.0;
    for (int y = 0; y <= CLEAN_UP_REACH; y++) {
        for (int x = y == 0 ? 1 : -CLEAN_UP_REACH; x <= CLEAN_UP_REACH; x++) {
            const ivec2 a = texel + ivec2(x, y), b = texel - ivec2(x, y);
            if (on_screen(a) && on_screen(b)) {
                const float qa = load_inverse(a), qb = load_inverse(b);
                const float bend = 0.5 * (1.0 / max(qa, 1e-12) + 1.0 / max(qb, 1e-12)) - z;
                if (abs(bend) < 0.5 * pass.depth) {
                    const float w = exp(-0.25 * float(x * x + y * y));
                    sum += w * (qa + qb);
                    weight += 2.0 * w;
                }
            }
        }
    }
    return sum / weight;
}

// One explicit step of dz/dt = H (van der Laan, Green and Sainz 2009, eq. 3 to 7), on view z. Differences are not taken
// across silhouettes.
float curvature_step(ivec2 texel, float z)
{
    float around[4];
    const ivec2 offsets[4] = ivec2[](ivec2(1, 0), ivec2(-1, 0), ivec2(0, 1), ivec2(0, -1));
    for (int k = 0; k < 4; k++) {
        const ivec2 t = texel + offsets[k];
        const float other = on_screen(t) ? load_inverse(t) : 0.0; // here the planes hold z itself
        around[k] = other > 0.0 && !isinf(other) && abs(other - z) < pass.depth ? other : -1.0;
    }
    // Where one side is missing the surface goes on as on the other side.
    const float left = around[1] > 0.0 ? around[1] : around[0] > 0.0 ? 2.0 * z - around[0] : z;
    const float right = around[0] > 0.0 ? around[0] : 2.0 * z - left;
    const float above = around[3] > 0.0 ? around[3] : around[2] > 0.0 ? 2.0 * z - around[2] : z;
    const float below = around[2] > 0.0 ? around[2] : 2.0 * z - above;
    const float zx = 0.5 * (right - left), zy = 0.5 * (below - above);
    const float zxx = right + left - 2.0 * z, zyy = below + above - 2.0 * z;
    // The surface (x z / f, y z / f, z): with c = 1 / f and D = c^2 (zx^2 + zy^2) + (c^2 z)^2 up to the terms that view
    // position adds, which are small near the axis; H = (c zx Ex - zx/2 dD/dx ...) / D^1.5 becomes a diffusion whose
    // speed is 1 / sqrt(D) for small slopes.
    const float c = 1.0 / frame.focal;
    const float d = zx * zx + zy * zy + c * c * z * z;
    const float dx = 2.0 * (zx * zxx + c * c * z * zx), dy = 2.0 * (zy * zyy + c * c * z * zy);
    const float ex = zxx * d - 0.5 * zx * dx, ey = zyy * d - 0.5 * zy * dy;
    const float curvature = (ex + ey) / (d * sqrt(d)); // 2 H in units of pixels' slopes
    // The largest stable step of the linear part is a quarter of the metres a pixel covers.
    return z + 0.25 * pass.curvature_step * c * z * curvature;
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (!on_screen(texel)) {
        return;
    }
    const float value = load_inverse(texel);
    const float nothing = uintBitsToFloat(NO_DEPTH);
    if (METHOD == 3u) { // copy z
        store(texel, value == 0.0 ? nothing : 1.0 / value);
        return;
    }
    if (METHOD == 2u) {
        store(texel, isinf(value) ? nothing : curvature_step(texel, value));
        return;
    }
    if (value == 0.0) {
        store(texel, DIRECTION == 2u ? nothing : 0.0);
        return;
    }
    if (DIRECTION == 2u) {
        store(texel, 1.0 / clean_up(texel, value));
        return;
    }
    const float sigma = pass.radius * frame.focal * value;
    const ivec2 axis = DIRECTION == 0u ? ivec2(1, 0) : ivec2(0, 1);
    const ivec2 edge = min(texel, ivec2(frame.width, frame.height) - 1 - texel); // as far on both sides
    const int reach = min(min(int(ceil(2.0 * sigma)), LARGEST_REACH), DIRECTION == 0u ? edge.x : edge.y);
    float smoothed;
    if (METHOD == 0u) {
        smoothed = narrow_line(texel, axis, value, sigma, reach);
    } else {
        smoothed = bilateral_line(texel, axis, value, sigma, reach);
    }
    // At the picture's edge there is nothing on one side, and no line to fit. Mesa 25's software driver was seen to give no
    // number there, from what lies before the buffer: comparisons with that are false, and it must not spread.
    store(texel, reach > 0 && smoothed > 0.0 ? smoothed : value);
}
