// SPDX-License-Identifier: MIT
// smoke.comp - smoke as the eye sees it: cells that are some pixels wide and a slice of its depth deep. In steps:
//   ADD    particles into a pyramid of cells, as smoke_light.comp does: extinction, and that times a temperature
//   RAISE  a level, interpolated, into the next finer one
//   MARCH  along each column: light and transmittance from the eye up to the far side of each cell
//   APPLY  the smoke before the scene, over its picture
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "occlusion.glsl"
#include "smoke_view.glsl"
PASS_CONSTANTS(SmokeConstants)
PUSH_CONSTANTS(SmokePush)
#include "smoke_particles.glsl"
#include "smoke_source.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u;
const uint ADD = 0u, RAISE = 1u, MARCH = 2u, APPLY = 3u;
const uint COARSE = 0u, FIRST = 2u; // words of the sums: whether coarser levels have anything, the first cell

ivec3 volume_size()
{
    return ivec3(frame.smoke_columns, frame.smoke_rows, frame.smoke_slices);
}

uint first_word(uint level)
{
    return FIRST + 2u * level_start(volume_size(), level);
}

// Rounded down where there is little smoke, so that it does not seem hotter than any is.
uint heat_of(uint units, float second)
{
    return uint(float(units) * second + (units > 64u ? 0.5 : 0.0));
}

// What is summed beside extinction: temperature, or age for the view of it. 1 is `SMOKE_HOTTEST` K or 64 s.
float second_of(Puff puff)
{
    return pass.shows == SMOKE_SHOWS_AGE ? min(puff.age / 64.0, 1.0) : puff.temperature / SMOKE_HOTTEST;
}

// Half the depth, in slices, of the tent that a particle is spread over, so that it is as deep as wide where slices are
// thinner than cells are wide: together with the interpolation between levels, of the same variance.
float isotropic_depth(float z)
{
    const float ratio = frame.smoke_cell * z / (frame.focal * smoke_word(SMOKE_VIEW + 1u));
    return clamp(sqrt(max(2.0 * ratio * ratio - 1.0, 1.0)), 1.0, 4.0);
}

// Over two cells each way across the line of sight, and as many along it as the tent covers.
void add_to_level(vec3 place, uint first, ivec3 size, float units, float second, float half_depth)
{
    const vec2 low = floor(place.xy - 0.5), part = place.xy - 0.5 - low;
    const int begin = int(ceil(place.z - 0.5 - half_depth)), end = int(floor(place.z - 0.5 + half_depth));
    float sum = 0.0;
    for (int z = begin; z <= end; z++) {
        sum += max(half_depth - abs(float(z) + 0.5 - place.z), 0.0);
    }
    for (int z = begin; z <= end; z++) {
        const float along = max(half_depth - abs(float(z) + 0.5 - place.z), 0.0) / sum;
        for (int k = 0; k < 4; k++) {
            const ivec2 offset = ivec2(k & 1, k >> 1);
            const ivec3 cell = ivec3(ivec2(low) + offset, z);
            const vec2 w = mix(1.0 - part, part, vec2(offset));
            const float share = units * w.x * w.y * along;
            if (share >= 0.5 && all(greaterThanEqual(cell, ivec3(0))) && all(lessThan(cell, size))) {
                const uint at = first + 2u * cell_number(size, cell), whole = uint(share + 0.5);
                atomicAdd(pass.sums.at[at], whole);
                const uint heat = heat_of(whole, second);
                if (heat > 0u) {
                    atomicAdd(pass.sums.at[at + 1u], heat);
                }
            }
        }
    }
}

void add_puff(Puff puff)
{
    const vec3 c = to_view(puff.point);
    const float begin = smoke_word(SMOKE_VIEW), slice = smoke_word(SMOKE_VIEW + 1u);
    const vec3 place = vec3(pixel_of(vec3(c.xy, max(c.z, 1e-6))) / frame.smoke_cell, (c.z - begin) / slice);
    const vec3 finest = vec3(volume_size());
    const vec2 levels = level_of(puff.radius * frame.focal / (max(c.z, 1e-6) * frame.smoke_cell));
    const float reach = 2.0 * exp2(levels.x);
    const bool seen = c.z > frame.near_plane && all(greaterThan(place.xy, vec2(-reach))) &&
                      all(lessThan(place.xy, finest.xy + reach));
    // A puff around the eye would fill the picture with one colour: it thins as it comes near.
    const float near = clamp(c.z / (2.0 * puff.radius), 0.0, 1.0);
    for (uint k = 0u; k < (!seen ? 0u : levels.y > 0.0 ? 2u : 1u); k++) {
        const uint level = uint(levels.x) + k;
        const ivec3 size = level_size(volume_size(), level);
        const uint first = first_word(level);
        const float units = pass.unit * puff.amount * near * near * (k == 0u ? 1.0 - levels.y : levels.y);
        if (level > 0u && pass.sums.at[COARSE] == 0u) {
            atomicMax(pass.sums.at[COARSE], 1u);
        }
        add_to_level(place * exp2(-float(level)), first, size, units, second_of(puff), isotropic_depth(c.z));
    }
}

void raise_level(uint i)
{
    const ivec3 size = level_size(volume_size(), push.level), coarse = level_size(volume_size(), push.level + 1u);
    const ivec3 cell = ivec3(int(i) % size.x, int(i) / size.x % size.y, int(i) / (size.x * size.y));
    const ivec2 first_column = ivec2(frame.smoke_light.at[SMOKE_RECT], frame.smoke_light.at[SMOKE_RECT + 1u]) >> int(push.level);
    const ivec2 last_column = ivec2(frame.smoke_light.at[SMOKE_RECT + 2u], frame.smoke_light.at[SMOKE_RECT + 3u]) >> int(push.level);
    const bool inside = cell.z < size.z && all(greaterThanEqual(cell.xy, first_column - 1)) && all(lessThanEqual(cell.xy, last_column + 1));
    for (uint once = inside ? pass.sums.at[COARSE] : 0u; once > 0u; once--) {
        const uint first = first_word(push.level + 1u), to = first_word(push.level) + 2u * i;
        vec2 sum = vec2(0.0);
        for (int corner = 0; corner < 8; corner++) {
            float weight;
            const uint at = first + 2u * cell_number(coarse, corner_of(0.5 * (vec3(cell) + 0.5), corner, weight));
            sum += weight * vec2(pass.sums.at[at], pass.sums.at[at + 1u]);
        }
        const uint added = uint(0.125 * sum.x + 0.5);
        pass.sums.at[to] += added;
        pass.sums.at[to + 1u] += heat_of(added, sum.y / max(sum.x, 1.0));
    }
}

// Light that smoke sends to the eye, over its extinction.
vec3 source(vec3 point, float second, float cosine)
{
    const float temperature = second * SMOKE_HOTTEST;
    const float tau = smoke_tau(point);
    vec3 light = smoke_radiance(point, temperature, tau, cosine);
    light = pass.shows == SMOKE_SHOWS_AGE ? vec3(second * 64.0) : light;
    light = pass.shows == SMOKE_SHOWS_TEMPERATURE ? vec3(temperature) : light;
    return pass.shows == SMOKE_SHOWS_SUN ? vec3(tau) : light;
}

void march(uint i)
{
    const ivec3 size = volume_size();
    const ivec2 column = ivec2(int(i) % size.x, int(i) / size.x);
    const vec2 pixel = (vec2(column) + 0.5) * frame.smoke_cell;
    const float begin = smoke_word(SMOKE_VIEW), slice = smoke_word(SMOKE_VIEW + 1u);
    const vec3 direction = pixel_direction(pixel);
    const float slant = length(direction), cosine = dot(direction, frame.sun_direction.xyz) / slant;
    const float width = frame.smoke_cell / frame.focal; // at view z 1
    vec3 light = vec3(0.0);
    float through = 1.0;
    const int slices = is_smoke_column(column) ? size.z : 0;
    for (int k = 0; k < slices; k++) {
        const uint cell = uint(k * size.y * size.x) + i, at = FIRST + 2u * cell;
        const float z = begin + (float(k) + 0.5) * slice;
        for (uint sum = pass.sums.at[at]; sum > 0u; sum = 0u) {
            // Of a cell's cross-section over its cross-section as seen from the eye, its optical depth.
            const float depth = float(sum) * pass.section / (pass.unit * width * width * z * z) * slant;
            const float left = exp(-depth);
            const vec3 point = frame.eye.xyz + z * direction;
            const float second = float(pass.sums.at[at + 1u]) / float(sum);
            light += through * (1.0 - left) * source(point, second, cosine);
            through *= left;
        }
        frame.smoke.at[cell] = vec4(light, through);
    }
}

// At edges each sample has smoke of its own before it.
vec3 edge_light(ivec2 texel)
{
    vec3 sum = vec3(0.0);
    for (int k = 0; k < int(pass.edge_samples); k++) {
        const float z = frame.near_plane / texelFetch(depth_samples_image, texel, k).x;
        vec4 light = texelFetch(color_samples_image, texel, k);
        if (pass.has_occlusion != 0u) {
            light = occluded(light, occlusion_left(texel, z));
        }
        sum += smoke_over(light.rgb, vec2(texel) + 0.5, z);
    }
    return sum / float(pass.edge_samples);
}

bool is_edge(ivec2 texel, float z)
{
    bool edge = false;
    for (int k = 0; k < int(pass.edge_samples); k++) {
        const float own = frame.near_plane / texelFetch(depth_samples_image, texel, k).x;
        edge = edge || (own != z && !(abs(own - z) < 0.02 * z));
    }
    return edge;
}

void apply(uint i)
{
    const ivec2 texel = ivec2(int(i % frame.width), int(i / frame.width));
    if (texel.y >= int(frame.height)) {
        return;
    }
    const float z = scene_view_z(texel);
    const vec2 pixel = vec2(texel) + 0.5;
    const vec4 smoke = smoke_before(pixel, z);
    const uint edges = pass.edge_samples > 0u && is_smoke_column(ivec2(pixel / frame.smoke_cell)) ? 1u : 0u;
    for (uint any = smoke.a < 1.0 ? 1u : edges; any > 0u; any--) {
        const vec4 before = texelFetch(scene_color_image, texel, 0);
        vec3 light = smoke.rgb + smoke.a * before.rgb;
        for (uint edge = is_edge(texel, z) ? 1u : 0u; edge > 0u; edge--) {
            light = edge_light(texel);
        }
        imageStore(scene_color_store, texel, vec4(light, before.a));
    }
}

void main()
{
    const uint i = invocation_index();
    if (STEP == ADD) {
        Puff puff;
        if (load_puff(i, puff)) {
            add_puff(puff);
        }
    } else if (STEP == RAISE) {
        raise_level(i);
    } else if (STEP == MARCH) {
        march(i);
    } else {
        apply(i);
    }
}
