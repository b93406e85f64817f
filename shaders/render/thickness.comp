// thickness.comp - sums of the chords that rays cut from ellipsoids, at half resolution. Each particle stands for one
// spacing cubed of liquid, however large its ellipsoid is drawn: chords are scaled by the ratio of the two volumes, so
// that overlapping ellipsoids are not counted twice.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "ellipsoid.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 adds up, 1 converts the sums

// In weak perspective, which is exact enough at this resolution: the ellipsoid's outline is an ellipse, over which the
// chord falls off as sqrt(1 - rho^2). The outline's matrix is J S J^T, with S the sum of the axes' outer products and J
// the derivative of the pixel by the view point.
// Neighbours' ellipsoids overlap by half: a smaller outline with the same volume leaves as few gaps, and atomics are what
// this pass spends its time on.
const float SHRINK = 0.7;

void add_chords(uint i)
{
    const Ellipsoid e = load_ellipsoid(i);
    const vec3 c = e.centre;
    const vec4 outline = screen_bounds(e);
    const vec2 middle = pixel_of(c);
    const vec4 bounds = mix(middle.xyxy, outline, SHRINK);
    const ivec2 size = imageSize(thickness_store);
    const ivec2 low = max(ivec2(ceil(0.5 * bounds.xy - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(0.5 * bounds.zw - 0.5)), size - 1);
    if (outline.z < outline.x || any(greaterThan(low, high))) {
        return;
    }
    const ivec2 texel = clamp(ivec2(middle), ivec2(0), ivec2(frame.width, frame.height) - 1);
    if (scene_view_z(texel) < c.z) {
        return; // behind something solid
    }
    const mat3 s = outer_sum(e.axes[0], e.axes[1], e.axes[2]);
    const float scale = frame.focal / c.z;
    const vec3 jx = vec3(scale, 0.0, -scale * c.x / c.z), jy = vec3(0.0, -scale, scale * c.y / c.z);
    const float xx = dot(jx, s * jx), xy = dot(jx, s * jy), yy = dot(jy, s * jy);
    const float inverse = 1.0 / max((xx * yy - xy * xy) * (SHRINK * SHRINK), 1e-12);
    const vec3 form = vec3(yy, -2.0 * xy, xx) * inverse;
    const vec3 along = c / length(c);
    const float volume = 4.18879 * length(e.axes[0]) * length(e.axes[1]) * length(e.axes[2]);
    const float longest = 2.0 * inversesqrt(dot(along, e.quadric * along));
    const float share = longest / (SHRINK * SHRINK) * THICKNESS_UNIT * frame.spacing * frame.spacing * frame.spacing / volume;
    const vec3 absorption = material_of(frame.phases.at[i]).absorption.xyz;
    UintTarget sums = frame.thickness_sums;
    const uint channels = frame.thickness_channels;
    for (int y = low.y; y <= high.y; y++) {
        const float dy = 2.0 * (float(y) + 0.5) - middle.y;
        for (int x = low.x; x <= high.x; x++) {
            const float dx = 2.0 * (float(x) + 0.5) - middle.x;
            const float inside = 1.0 - (form.x * dx * dx + form.y * dx * dy + form.z * dy * dy);
            if (inside > 0.0) {
                const float chord = share * sqrt(inside);
                const uint pixel = uint(y * size.x + x);
                if (channels == 1u) {
                    atomicAdd(sums.at[pixel], uint(chord + 0.5));
                } else {
                    atomicAdd(sums.at[4u * pixel], uint(chord * absorption.x + 0.5));
                    atomicAdd(sums.at[4u * pixel + 1u], uint(chord * absorption.y + 0.5));
                    atomicAdd(sums.at[4u * pixel + 2u], uint(chord * absorption.z + 0.5));
                    atomicAdd(sums.at[4u * pixel + 3u], uint(chord + 0.5));
                }
            }
        }
    }
}

vec4 load_sum(uint i)
{
    if (frame.thickness_channels == 1u) {
        const float metres = float(frame.thickness_sums.at[i]);
        return vec4(metres * frame.materials.at[0].absorption.xyz, metres);
    }
    return vec4(frame.thickness_sums.at[4u * i], frame.thickness_sums.at[4u * i + 1u],
                frame.thickness_sums.at[4u * i + 2u], frame.thickness_sums.at[4u * i + 3u]);
}

void main()
{
    const uint i = invocation_index();
    if (STEP == 0u) {
        if (i < frame.particle_count) {
            add_chords(i);
        }
        return;
    }
    const ivec2 size = imageSize(thickness_store);
    if (i < uint(size.x * size.y)) {
        const ivec2 texel = ivec2(int(i) % size.x, int(i) / size.x);
        vec4 sum = vec4(0.0);
        for (int y = -1; y <= 1; y++) {
            for (int x = -1; x <= 1; x++) {
                const ivec2 t = clamp(texel + ivec2(x, y), ivec2(0), size - 1);
                sum += load_sum(uint(t.y * size.x + t.x)) * float((2 - abs(x)) * (2 - abs(y)));
            }
        }
        imageStore(thickness_store, texel, min(sum / (16.0 * THICKNESS_UNIT), vec4(60000.0)));
    }
}
