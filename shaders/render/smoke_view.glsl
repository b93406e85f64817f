// SPDX-License-Identifier: MIT
// smoke_view.glsl - the smoke between the eye and a depth, of what the pass smoke has marched through. Layers of a
// picture add up in any order if each is seen through the smoke in front of it: what a layer of opacity a and light c
// leaves of a picture p is (1 - a) p + a L + T c, with L and T of the smoke before the layer.
#ifndef SMOKE_VIEW_GLSL
#define SMOKE_VIEW_GLSL
#include "smoke.glsl"

uint smoke_cell_at(ivec2 column, int slice)
{
    const ivec2 first = ivec2(frame.smoke_light.at[SMOKE_RECT], frame.smoke_light.at[SMOKE_RECT + 1u]);
    const ivec2 end = ivec2(frame.smoke_light.at[SMOKE_RECT + 2u], frame.smoke_light.at[SMOKE_RECT + 3u]);
    const ivec2 c = clamp(column, first, end - 1);
    return uint((slice * int(frame.smoke_rows) + c.y) * int(frame.smoke_columns) + c.x);
}

// Light and transmittance up to `layer` slices from where the volume begins.
vec4 smoke_column(ivec2 column, float layer)
{
    const int last = int(frame.smoke_slices) - 1, k = min(int(layer), last);
    const vec4 far = frame.smoke.at[smoke_cell_at(column, k)];
    const vec4 before = frame.smoke.at[smoke_cell_at(column, max(k - 1, 0))];
    return mix(k > 0 ? before : vec4(0.0, 0.0, 0.0, 1.0), far, layer - float(k));
}

// Whether a column can have smoke in it: the volume is empty elsewhere, and nobody has written there.
bool is_smoke_column(ivec2 column)
{
    const ivec2 first = ivec2(frame.smoke_light.at[SMOKE_RECT], frame.smoke_light.at[SMOKE_RECT + 1u]);
    const ivec2 end = ivec2(frame.smoke_light.at[SMOKE_RECT + 2u], frame.smoke_light.at[SMOKE_RECT + 3u]);
    return all(greaterThanEqual(column, first)) && all(lessThan(column, end));
}

// Light that the smoke before view z sends through a pixel; w is the share that it leaves of what is behind.
vec4 smoke_before(vec2 pixel, float z)
{
    vec4 smoke = vec4(0.0, 0.0, 0.0, 1.0);
    for (uint once = frame.has_smoke_volume; once > 0u; once--) {
        // Quadratic B-splines: between four columns, edges of dense smoke would show the cells.
        const vec2 place = pixel / frame.smoke_cell;
        const ivec2 own = ivec2(place);
        const vec2 t = place - vec2(own) - 0.5;
        const vec2 weights[3] = vec2[](0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t));
        for (uint any = is_smoke_column(own) ? 1u : 0u; any > 0u; any--) {
            const float begin = smoke_word(SMOKE_VIEW), slice = smoke_word(SMOKE_VIEW + 1u);
            const float layer = clamp((z - begin) / slice, 0.0, float(frame.smoke_slices));
            smoke = vec4(0.0);
            for (int y = 0; y < 3; y++) {
                for (int x = 0; x < 3; x++) {
                    smoke += (weights[x].x * weights[y].y) * smoke_column(own + ivec2(x - 1, y - 1), layer);
                }
            }
        }
    }
    return smoke;
}

// Light from behind view z, seen through the smoke before it.
vec3 smoke_over(vec3 light, vec2 pixel, float z)
{
    const vec4 smoke = smoke_before(pixel, z);
    return smoke.rgb + smoke.a * light;
}

// The reverse: what is seen at view z of light that came through the smoke before it.
vec3 smoke_removed(vec3 light, vec2 pixel, float z)
{
    const vec4 smoke = smoke_before(pixel, z);
    return max(light - smoke.rgb, vec3(0.0)) / max(smoke.a, 0.01);
}

#endif
