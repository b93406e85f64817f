// SPDX-License-Identifier: MIT
// shadow.glsl - how much of the sun reaches a point: soft shadow of the solids, tinted shadow of the liquid; of
// smoke: smoke.glsl.

#extension GL_EXT_control_flow_attributes : require
#include "smoke.glsl"

// Points that fill a disc evenly, one after the other: Vogel's spiral. Each lies the golden angle further round.
struct Spiral {
    vec2 around;
    float area; // of the disc inside the point, 0 to 1
};

Spiral spiral_begin(int count)
{
    return Spiral(vec2(1.0, 0.0), 0.5 / float(count));
}

vec2 spiral_next(inout Spiral spiral, int count)
{
    const mat2 golden_angle = mat2(-0.7373688, 0.6754903, -0.6754903, -0.7373688);
    const vec2 point = sqrt(spiral.area) * spiral.around;
    spiral.around = golden_angle * spiral.around;
    spiral.area += 1.0 / float(count);
    return point;
}

// Whether a place in the sun's maps (-1..1) is further than `margin` from a rectangle of them.
bool is_outside(vec2 place, vec4 rectangle, float margin)
{
    return any(lessThan(place, rectangle.xy - margin)) || any(greaterThan(place, rectangle.zw + margin));
}

// Shares of four neighbouring texels of the solids' map that are farther from the sun than `depth`, bilinear.
float lit_share(vec2 at, float depth)
{
    const vec2 texel = at * float(frame.shadow_size) - 0.5;
    const vec2 part = fract(texel);
    const vec2 between = (floor(texel) + 1.0) / float(frame.shadow_size);
    const vec4 depths = textureGather(sampler2D(shadow_depth_image, nearest_sampler), between);
    const vec4 lit = vec4(greaterThanEqual(depths, vec4(min(depth, 1.0)))); // lower left, lower right, upper right, upper left
    return mix(mix(lit.w, lit.z, part.x), mix(lit.x, lit.y, part.x), part.y);
}

// Share of the sun that no solid hides from a point. Percentage-closer filtering over a disc as wide as the penumbra
// is: the sun's angular size times the distance to what hides it (Fernando, "Percentage-closer soft shadows", 2005).
// Here and below, one way out of each function: software devices pay for every other.
//
// The surface that the point is on would be in its own shadow where it is steep: depths are compared with the plane
// through the point, not with the point's.
float sun_visibility(vec3 point, vec3 normal)
{
    const int SEARCH = 8, FILTER = 16;
    const vec3 place = (frame.sun_projection * vec4(point, 1.0)).xyz;
    const float spread = frame.sun_direction.w * frame.sun_map.z / (2.0 * frame.sun_map.x); // of the map for a z of 1
    const float texel = 1.0 / float(frame.shadow_size);
    const float widest = clamp(spread * place.z, 1.5 * texel, 0.1);
    bool outside = true;
    if (frame.solid_rect_count > 0u) {
        [[unroll]] for (uint i = 0u; i < SOLID_RECTS; i++) {
            outside = outside && is_outside(place.xy, frame.solid_rects[i], 2.0 * widest);
        }
    }
    float visible = 1.0;
    if (!outside) {
        const vec2 at = 0.5 * place.xy + 0.5;
        const vec3 tilt = mat3(frame.sun_projection) * normal;
        const vec2 slope = clamp(tilt.xy / max(2.0 * abs(tilt.z), 1e-9), -8.0, 8.0); // of the plane's z over the map
        const float depth = place.z - texel * (1.0 + 0.75 * (abs(slope.x) + abs(slope.y))); // a texel holds one depth
        float blockers = 0.0, distances = 0.0;
        Spiral spiral = spiral_begin(SEARCH);
        [[dont_unroll]] for (int i = 0; i < SEARCH; i++) {
            const vec2 offset = widest * spiral_next(spiral, SEARCH);
            const ivec2 tap = ivec2((at + offset) * float(frame.shadow_size));
            const float found = texelFetch(shadow_depth_image, clamp(tap, ivec2(0), ivec2(frame.shadow_size) - 1), 0).x;
            // The map ends at 1, where nothing is: the ground goes on beyond it.
            const float blocks = found < min(depth + dot(slope, offset), 1.0) ? 1.0 : 0.0;
            blockers += blocks;
            distances += blocks * (place.z - found);
        }
        visible = 1.0 - blockers / float(SEARCH);
        if (visible > 0.0 && visible < 1.0) {
            const float width = clamp(spread * distances / blockers, 1.5 * texel, widest);
            float sum = 0.0;
            spiral = spiral_begin(FILTER);
            [[dont_unroll]] for (int i = 0; i < FILTER; i++) {
                const vec2 offset = width * spiral_next(spiral, FILTER);
                sum += lit_share(at + offset, depth + dot(slope, offset));
            }
            visible = sum / float(FILTER);
        }
    }
    return visible;
}

// Of a point that is on no surface.
float sun_visibility(vec3 point)
{
    return sun_visibility(point, frame.sun_direction.xyz);
}

// What the liquid between the sun and a point lets through, per colour: Beer-Lambert over the metres of liquid that lie
// before the point, and what the surface reflects and scatters of whatever enters. Filtered over about a spacing: the
// map is made of spheres.
vec3 liquid_transmittance(vec3 point)
{
    const int TAPS = 8;
    const vec3 place = (frame.sun_projection * vec4(point, 1.0)).xyz;
    const float metres = place.z * frame.sun_map.z;
    const float wide = 0.8 * frame.spacing + 0.5 * frame.sun_direction.w * max(metres, 0.0);
    const float width = clamp(wide / (2.0 * frame.sun_map.x), 0.002, 0.05);
    vec3 through = vec3(1.0);
    if (!is_outside(place.xy, frame.liquid_rect, 2.0 * width)) {
        const vec2 at = 0.5 * place.xy + 0.5;
        const ivec2 size = textureSize(liquid_shadow_depth_image, 0);
        vec3 depths = vec3(0.0);
        float entered = 0.0;
        Spiral spiral = spiral_begin(TAPS);
        [[dont_unroll]] for (int i = 0; i < TAPS; i++) {
            const vec2 tap = at + width * spiral_next(spiral, TAPS), texel = tap * vec2(size) - 0.5;
            const vec2 part = fract(texel), between = (floor(texel) + 1.0) / vec2(size);
            const vec4 column = textureLod(sampler2D(liquid_shadow_thickness_image, linear_sampler), tap, 0.0); // rgb optical depth, metres
            const uvec4 bits = textureGather(usampler2D(liquid_shadow_depth_image, nearest_sampler), between);
            const vec4 befores = clamp(metres - uintBitsToFloat(bits), 0.0, column.a);
            const float before = mix(mix(befores.w, befores.z, part.x), mix(befores.x, befores.y, part.x), part.y);
            depths += column.rgb * (before / max(column.a, 1e-6));
            entered += min(before, frame.spacing);
        }
        const float lost = 0.15 * entered / (frame.spacing * float(TAPS));
        through = mix(vec3(1.0), exp(-depths / float(TAPS)) * (1.0 - lost), frame.liquid_shadow);
    }
    return through;
}

// What refracted sunlight there is at a point, over the sun's: the map of caustics.comp, bilinear. Before the liquid's
// first surface all of it.
vec3 caustics_at(vec3 point)
{
    const vec3 place = (frame.sun_projection * vec4(point, 1.0)).xyz;
    const vec2 texel = (place.xy - frame.caustics_map.xy) * frame.caustics_map.z - 0.5;
    vec3 light = vec3(1.0);
    if (all(greaterThan(texel, vec2(0.0))) && all(lessThan(texel, vec2(float(CAUSTICS_SIZE) - 1.0)))) {
        const ivec2 low = ivec2(texel);
        const vec2 part = texel - vec2(low);
        const uint at = uint(low.y) * CAUSTICS_SIZE + uint(low.x);
        const vec4 below = mix(frame.caustics.at[at], frame.caustics.at[at + 1u], part.x);
        const vec4 above = mix(frame.caustics.at[at + CAUSTICS_SIZE], frame.caustics.at[at + CAUSTICS_SIZE + 1u], part.x);
        const vec4 map = mix(below, above, part.y);
        const float behind = clamp((place.z * frame.sun_map.z - map.w) / frame.spacing, 0.0, 1.0);
        light = mix(light, map.rgb, behind * frame.liquid_shadow);
    }
    return light;
}

// What liquid makes of the sunlight that falls on a surface.
vec3 sunlight_through_liquid(vec3 point)
{
    vec3 light = vec3(0.0);
    if (frame.caustics_map.w < 1.0) {
        light = (1.0 - frame.caustics_map.w) * liquid_transmittance(point);
    }
    if (frame.caustics_map.w > 0.0) {
        light += frame.caustics_map.w * caustics_at(point);
    }
    return light;
}

// The colour that scattered light has: of the only material, or what is left by those that absorb.
vec3 material_color_at(vec4 thickness)
{
    const vec3 absorbed = thickness.rgb / max(thickness.a, 1e-6);
    const float strongest = max(absorbed.r, max(absorbed.g, max(absorbed.b, 1e-6)));
    return frame.material_count == 1u ? frame.materials.at[0].color.rgb : 1.0 - absorbed / strongest;
}
