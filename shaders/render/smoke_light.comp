// SPDX-License-Identifier: MIT
// smoke_light.comp - how much of the sun and of the sky reaches smoke, and how much of the sun is left behind it. In steps:
//   BOUNDS  the box around the smoke in the sun's frame, and its range of view depth
//   PLACE   the light volume around that box: cells grow in steps and move by whole cells, so that nothing crawls
//   ADD     particles into a pyramid of cells, each into those that are about as large as it is
//   RAISE   a level, interpolated, into the next finer one
//   POOL    extinction of 4^3 cells each, for the light of the sky
//   HEAT    how hot smoke is, in the same cells
//   SCAN    sums along each column are the sun's optical depth
//   MAP     where the sun meets the first smoke and leaves the last, in place of a volume: smoke as opaque points
//   OPEN    light of the sky and of fire from 14 directions around each of the coarse cells
//   LAMPS   the coarse cells that glow, summed up to a few lamps one above the other, which light solids and ground
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "smoke.glsl"
PASS_CONSTANTS(SmokeConstants)
PUSH_CONSTANTS(SmokePush)
#include "smoke_particles.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u;
const uint BOUNDS = 0u, PLACE = 1u, ADD = 2u, RAISE = 3u, POOL = 4u, HEAT = 5u, SCAN = 6u, OPEN = 7u, MAP = 8u, LAMPS = 9u;
const ivec3 SIZE = ivec3(SMOKE_LIGHT_SIDE, SMOKE_LIGHT_SIDE, SMOKE_LIGHT_DEEP);
const ivec3 OPEN_SIZE = ivec3(SMOKE_OPEN_SIDE, SMOKE_OPEN_SIDE, SMOKE_OPEN_DEEP);
const int EMPTY = 2; // cells along the borders, which particles do not reach

// Bits that compare as the floats do.
uint ordered_bits(float value)
{
    const uint bits = floatBitsToUint(value);
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

float float_of(uint bits)
{
    return uintBitsToFloat((bits & 0x80000000u) != 0u ? bits & 0x7fffffffu : ~bits);
}

const uint BOUND_COUNT = 6u;
shared uint group_bounds[2u * BOUND_COUNT];

// How far what a particle adds can reach, in radii: two cells of the coarser of its levels.
const float REACH = 3.0;

void add_bound(uint k, float place, float reach)
{
    atomicMax(group_bounds[k], ~ordered_bits(clamp(place - reach, -1e6, 1e6)));
    atomicMax(group_bounds[BOUND_COUNT + k], ordered_bits(clamp(place + reach, -1e6, 1e6)));
}

void find_bounds(uint i)
{
    if (gl_LocalInvocationIndex < 2u * BOUND_COUNT) {
        group_bounds[gl_LocalInvocationIndex] = 0u;
    }
    barrier();
    Puff puff;
    if (load_puff(i, puff)) {
        const vec3 c = to_view(puff.point);
        const float reach = REACH * puff.radius;
        const vec4 place = vec4(smoke_sun_place(puff.point), c.z);
        for (uint k = 0u; k < 4u; k++) {
            add_bound(k, place[k], reach);
        }
        // What is around the eye may be anywhere.
        const vec2 pixel = pixel_of(vec3(c.xy, max(c.z, 1e-6)));
        const float pixels = c.z > reach + frame.near_plane ? reach * frame.focal / (c.z - reach) : 1e6;
        for (uint k = 0u; k < (c.z > -reach ? 2u : 0u); k++) {
            add_bound(4u + k, pixel[k], pixels);
        }
    }
    barrier();
    if (gl_LocalInvocationIndex < 2u * BOUND_COUNT && group_bounds[gl_LocalInvocationIndex] != 0u) {
        atomicMax(frame.smoke_light.at[SMOKE_LOWER + gl_LocalInvocationIndex], group_bounds[gl_LocalInvocationIndex]);
    }
}

// The smallest of four steps an octave that is not below `length`.
float step_above(float length)
{
    return exp2(ceil(4.0 * log2(max(length, 1e-6))) / 4.0);
}

void place_volumes()
{
    float lows[BOUND_COUNT], highs[BOUND_COUNT]; // of what has none, nothing
    for (uint k = 0u; k < BOUND_COUNT; k++) {
        const uint low_bits = frame.smoke_light.at[SMOKE_LOWER + k], high_bits = frame.smoke_light.at[SMOKE_UPPER + k];
        lows[k] = low_bits != 0u ? float_of(~low_bits) : 0.0;
        highs[k] = high_bits != 0u ? float_of(high_bits) : 0.0;
    }
    const vec4 low = vec4(lows[0], lows[1], lows[2], lows[3]), high = vec4(highs[0], highs[1], highs[2], highs[3]);
    // One more cell for the corner that moves by whole ones.
    const vec3 extent = high.xyz - low.xyz;
    const float across = step_above(max(extent.x, extent.y) / float(SMOKE_LIGHT_SIDE - 2 * EMPTY - 1));
    const float along = step_above(extent.z / float(SMOKE_LIGHT_DEEP - 2 * EMPTY - 1));
    const vec3 cell = vec3(across, across, along);
    const vec3 origin = (floor(low.xyz / cell) - float(EMPTY)) * cell;
    for (uint k = 0u; k < 3u; k++) {
        frame.smoke_light.at[SMOKE_ORIGIN + k] = floatBitsToUint(origin[k]);
    }
    frame.smoke_light.at[SMOKE_CELL] = floatBitsToUint(across);
    frame.smoke_light.at[SMOKE_CELL + 1u] = floatBitsToUint(along);
    const float begin = max(low.w, frame.near_plane), end = max(high.w, begin + 1e-3);
    const float slice = step_above((end - begin) / float(frame.smoke_slices - 1u));
    frame.smoke_light.at[SMOKE_VIEW] = floatBitsToUint(max(floor(begin / slice) * slice, frame.near_plane));
    frame.smoke_light.at[SMOKE_VIEW + 1u] = floatBitsToUint(slice);
    // A cell more on each side, which is empty, and for samples that move within a pixel.
    const vec2 size = vec2(frame.smoke_columns, frame.smoke_rows);
    const vec2 first = clamp(floor(vec2(lows[4], lows[5]) / frame.smoke_cell) - 2.0, vec2(0.0), size);
    const vec2 last = clamp(ceil(vec2(highs[4], highs[5]) / frame.smoke_cell) + 2.0, vec2(0.0), size);
    frame.smoke_light.at[SMOKE_RECT] = uint(first.x);
    frame.smoke_light.at[SMOKE_RECT + 1u] = uint(first.y);
    frame.smoke_light.at[SMOKE_RECT + 2u] = uint(last.x);
    frame.smoke_light.at[SMOKE_RECT + 3u] = uint(last.y);
}

// Word of a level's first cell in frame.smoke_light.
uint first_cell(uint level)
{
    return level == 0u ? SMOKE_TAU : pass.first_level + level_start(SIZE, level) - uint(SMOKE_CELLS);
}

void add_puff(Puff puff)
{
    const vec3 place = smoke_light_place(puff.point);
    const vec2 levels = level_of(puff.radius / smoke_word(SMOKE_CELL));
    for (uint k = 0u; k < (levels.y > 0.0 ? 2u : 1u); k++) {
        const uint level = uint(levels.x) + k;
        const ivec3 size = level_size(SIZE, level);
        const uint first = first_cell(level);
        const float units = pass.unit * puff.amount * (k == 0u ? 1.0 - levels.y : levels.y);
        if (level > 0u && frame.smoke_light.at[SMOKE_COARSE] == 0u) {
            atomicMax(frame.smoke_light.at[SMOKE_COARSE], 1u);
        }
        for (int corner = 0; corner < 8; corner++) {
            float weight;
            const ivec3 cell = corner_of(place * exp2(-float(level)), corner, weight);
            const uint share = uint(units * weight + 0.5);
            if (share > 0u && all(greaterThanEqual(cell, ivec3(0))) && all(lessThan(cell, size))) {
                atomicAdd(frame.smoke_light.at[first + cell_number(size, cell)], share);
            }
        }
    }
}

// An eighth of the coarser level's sums is a finer cell's.
void raise_level(uint i)
{
    const ivec3 size = level_size(SIZE, push.level), coarse = level_size(SIZE, push.level + 1u);
    const uint any = i < uint(size.x * size.y * size.z) ? frame.smoke_light.at[SMOKE_COARSE] : 0u;
    for (uint once = any; once > 0u; once--) {
        const ivec3 cell = ivec3(int(i) % size.x, int(i) / size.x % size.y, int(i) / (size.x * size.y));
        const uint first = first_cell(push.level + 1u);
        float sum = 0.0;
        for (int corner = 0; corner < 8; corner++) {
            float weight;
            const ivec3 from = corner_of(0.5 * (vec3(cell) + 0.5), corner, weight);
            sum += weight * float(frame.smoke_light.at[first + cell_number(coarse, from)]);
        }
        frame.smoke_light.at[first_cell(push.level) + i] += uint(0.125 * sum + 0.5);
    }
}

ivec3 open_cell(uint i)
{
    return ivec3(int(i) % SMOKE_OPEN_SIDE, int(i) / SMOKE_OPEN_SIDE % SMOKE_OPEN_SIDE,
                 int(i) / (SMOKE_OPEN_SIDE * SMOKE_OPEN_SIDE));
}

void pool(uint i)
{
    const int ratio = SMOKE_LIGHT_SIDE / SMOKE_OPEN_SIDE;
    const ivec3 low = open_cell(i) * ratio;
    uint sum = 0u;
    for (int k = 0; k < ratio * ratio * ratio; k++) {
        const ivec3 cell = low + ivec3(k % ratio, k / ratio % ratio, k / (ratio * ratio));
        sum += frame.smoke_light.at[SMOKE_TAU + cell_number(SIZE, cell)];
    }
    pass.open_sums.at[3u * i] = sum;
}

void add_heat(Puff puff)
{
    const uint glows = pass.fire > 0.0 && puff.temperature > 400.0 ? 1u : 0u;
    for (uint once = glows; once > 0u; once--) {
        const vec3 place = smoke_light_place(puff.point) * (float(SMOKE_OPEN_SIDE) / float(SMOKE_LIGHT_SIDE));
        const uint units = uint(pass.unit * puff.amount + 0.5);
        const uint heat = uint(float(units) * puff.temperature / SMOKE_HOTTEST);
        const uint cell = cell_number(OPEN_SIZE, ivec3(place));
        atomicAdd(pass.open_sums.at[3u * cell + 1u], units);
        atomicAdd(pass.open_sums.at[3u * cell + 2u], heat);
        atomicMax(frame.smoke_light.at[SMOKE_HOT], 1u);
    }
}

// A disc of half the radius.
void add_point(Puff puff)
{
    const float across = smoke_word(SMOKE_CELL), ratio = float(SMOKE_MAP_SIDE) / float(SMOKE_LIGHT_SIDE);
    const vec3 place = smoke_light_place(puff.point);
    const vec2 at = place.xy * ratio;
    const float reach = max(0.5 * puff.radius / across * ratio, 0.75);
    const uint bits = floatBitsToUint(max(place.z * smoke_word(SMOKE_CELL + 1u), 1e-6));
    const ivec2 low = max(ivec2(ceil(at - reach - 0.5)), ivec2(0)), box = min(ivec2(floor(at + reach - 0.5)), ivec2(SMOKE_MAP_SIDE - 1)) - low + 1;
    for (int k = 0; k < max(box.x, 0) * max(box.y, 0); k++) {
        const ivec2 t = low + ivec2(k % box.x, k / box.x);
        const vec2 d = vec2(t) + 0.5 - at;
        if (dot(d, d) < reach * reach) {
            const uint word = SMOKE_TAU + uint(t.y * SMOKE_MAP_SIDE + t.x);
            atomicMax(frame.smoke_light.at[word], ~bits);
            atomicMax(frame.smoke_light.at[word + uint(SMOKE_MAP_SIDE * SMOKE_MAP_SIDE)], bits);
        }
    }
}

void scan(uint i)
{
    const float across = smoke_word(SMOKE_CELL), scale = pass.section / (pass.unit * across * across);
    const uint side = uint(SMOKE_LIGHT_SIDE * SMOKE_LIGHT_SIDE);
    float tau = 0.0;
    for (uint k = 0u; k < uint(SMOKE_LIGHT_DEEP); k++) {
        const uint at = SMOKE_TAU + k * side + i;
        tau += scale * float(frame.smoke_light.at[at]);
        frame.smoke_light.at[at] = floatBitsToUint(tau);
    }
}

// How bright deep smoke is under a sky of radiance 1, by the two-stream approximation: (1 - s) / (1 + s) with
// s^2 = (1 - albedo) / (1 - albedo g). What absorbs nothing is as bright as the sky.
vec3 deep_brightness()
{
    const vec3 s = sqrt((1.0 - pass.color.rgb) / max(1.0 - pass.color.rgb * pass.asymmetry, 1e-6));
    return (1.0 - s) / (1.0 + s);
}

// Light that arrives in a cell from one direction: of the sky behind the smoke, of what glows on the way, and of the smoke
// itself. Diffuse light gets farther than a ray does: of two-stream theory it is the share 1 / (1 + 3/4 (1 - g) tau).
vec3 light_from(ivec3 cell, ivec3 way, float volume, bool hot)
{
    const float ratio = float(SMOKE_LIGHT_SIDE / SMOKE_OPEN_SIDE);
    const vec3 stride = vec3(way) * vec3(smoke_word(SMOKE_CELL), smoke_word(SMOKE_CELL), smoke_word(SMOKE_CELL + 1u)) * ratio;
    const float metres = length(stride), scale = pass.section / (pass.unit * volume) * metres;
    vec3 light = vec3(0.0);
    float tau = 0.0;
    ivec3 c = cell;
    float part = 0.5; // half of its own cell
    while (all(greaterThanEqual(c, ivec3(0))) && all(lessThan(c, OPEN_SIZE))) {
        const uint at = 3u * cell_number(OPEN_SIZE, c);
        const float depth = part * scale * float(pass.open_sums.at[at]);
        for (uint once = hot && pass.open_sums.at[at + 1u] > 0u ? 1u : 0u; once > 0u; once--) {
            const float share = float(pass.open_sums.at[at + 1u]);
            const float temperature = float(pass.open_sums.at[at + 2u]) / share * SMOKE_HOTTEST;
            const vec3 taken = 1.0 - puff_albedo(temperature);
            const float glowing = part * scale * share;
            light += exp(-tau) * (1.0 - exp(-taken * glowing)) * pass.fire * wien(SMOKE_AROUND + temperature);
        }
        tau += depth;
        part = 1.0;
        c += way;
    }
    const vec3 sky = sky_radiance(normalize(smoke_sun_direction(stride)));
    const vec3 mean = sky_harmonics[0].rgb / 3.14159265; // of all of the sky
    return light + mix(mean * deep_brightness(), sky, 1.0 / (1.0 + 0.75 * (1.0 - pass.asymmetry) * tau));
}

// Evenly over a box's six faces and eight corners.
void open_light(uint i)
{
    const float ratio = float(SMOKE_LIGHT_SIDE / SMOKE_OPEN_SIDE), across = smoke_word(SMOKE_CELL) * ratio;
    const float volume = across * across * smoke_word(SMOKE_CELL + 1u) * ratio;
    const bool hot = frame.smoke_light.at[SMOKE_HOT] != 0u;
    const ivec3 cell = open_cell(i);
    uint near = 0u; // light is asked for in cells next to smoke alone
    for (int k = 0; k < 27; k++) {
        near |= pass.open_sums.at[3u * cell_number(OPEN_SIZE, cell + ivec3(k % 3, k / 3 % 3, k / 9) - 1)];
    }
    vec3 sum = vec3(0.0);
    for (int k = near != 0u ? 0 : 14; k < 14; k++) {
        const ivec3 corner = 2 * ivec3(k & 1, (k >> 1) & 1, (k >> 2) & 1) - 1;
        const int axis = (k - 8) >> 1, sign = 2 * (k & 1) - 1;
        const ivec3 face = sign * ivec3(axis == 0, axis == 1, axis == 2);
        sum += light_from(cell, k < 8 ? corner : face, volume, hot);
    }
    pass.open_light.at[i] = vec4(sum / 14.0, 0.0);
}

// ---- Lamps -------------------------------------------------------------------------------------------------

const uint LAMP_LANES = 64u;
shared vec2 lane_heights[LAMP_LANES];
shared vec4 lane_lights[LAMP_LANES * SMOKE_LAMPS]; // light of thin smoke, rgb, W/sr; its absorbing cross-section, m^2
shared vec4 lane_places[LAMP_LANES * SMOKE_LAMPS]; // cross-section times place, and times its square

struct Glow {
    vec3 point;
    vec3 light;    // radiance of what absorbs all light
    float section; // m^2
};

// Whether a coarse cell glows.
bool load_glow(uint i, out Glow glow)
{
    const float ratio = float(SMOKE_LIGHT_SIDE / SMOKE_OPEN_SIDE);
    const uint units = pass.open_sums.at[3u * i + 1u];
    const vec3 cell = vec3(vec2(smoke_word(SMOKE_CELL)), smoke_word(SMOKE_CELL + 1u));
    const vec3 origin = vec3(smoke_word(SMOKE_ORIGIN), smoke_word(SMOKE_ORIGIN + 1u), smoke_word(SMOKE_ORIGIN + 2u));
    const float temperature = float(pass.open_sums.at[3u * i + 2u]) / max(float(units), 1.0) * SMOKE_HOTTEST;
    const vec3 taken = 1.0 - puff_albedo(temperature);
    glow.point = smoke_sun_direction(origin + (vec3(open_cell(i)) + 0.5) * ratio * cell);
    glow.light = pass.fire * wien(SMOKE_AROUND + temperature);
    glow.section = pass.section * float(units) / pass.unit * taken.x;
    return units > 0u;
}

// A lamp of all that glows at a height: thick smoke hides its own light, so that a ball of as much of it, as wide as it is
// spread, sends pi R^2 (1 - exp(-cross-section / pi R^2)) times its mean radiance.
void store_lamp(uint k)
{
    vec4 light = vec4(0.0), place = vec4(0.0);
    for (uint lane = 0u; lane < LAMP_LANES; lane++) {
        light += lane_lights[lane * SMOKE_LAMPS + k];
        place += lane_places[lane * SMOKE_LAMPS + k];
    }
    const float whole = max(light.w, 1e-12), across = smoke_word(SMOKE_CELL) * float(SMOKE_LIGHT_SIDE / SMOKE_OPEN_SIDE);
    const vec3 middle = place.xyz / whole;
    const float variance = max(place.w / whole - dot(middle, middle), 0.0) + 0.25 * across * across + 0.6 * pass.radius * pass.radius;
    const float squared = 5.0 / 3.0 * variance, disc = 3.14159265 * squared;
    const vec3 sent = light.rgb / whole * disc * (1.0 - exp(-light.w / disc));
    for (uint c = 0u; c < 3u; c++) {
        frame.smoke_light.at[SMOKE_LAMP + 8u * k + c] = floatBitsToUint(middle[c]);
        frame.smoke_light.at[SMOKE_LAMP + 8u * k + 4u + c] = floatBitsToUint(light.w > 0.0 ? sent[c] : 0.0);
    }
    frame.smoke_light.at[SMOKE_LAMP + 8u * k + 3u] = floatBitsToUint(squared);
}

// One group of LAMP_LANES invocations: sums in a fixed order.
void find_lamps(uint lane)
{
    const uint cells = uint(SMOKE_OPEN_SIDE * SMOKE_OPEN_SIDE * SMOKE_OPEN_DEEP);
    const uint end = frame.smoke_light.at[SMOKE_HOT] != 0u ? cells : 0u;
    vec2 heights = vec2(1e30, -1e30);
    Glow glow;
    for (uint i = lane; i < end; i += LAMP_LANES) {
        if (load_glow(i, glow)) {
            heights = vec2(min(heights.x, glow.point.y), max(heights.y, glow.point.y));
        }
    }
    lane_heights[lane] = heights;
    for (uint k = 0u; k < SMOKE_LAMPS; k++) {
        lane_lights[lane * SMOKE_LAMPS + k] = vec4(0.0);
        lane_places[lane * SMOKE_LAMPS + k] = vec4(0.0);
    }
    barrier();
    for (uint other = 0u; other < LAMP_LANES; other++) {
        heights = vec2(min(heights.x, lane_heights[other].x), max(heights.y, lane_heights[other].y));
    }
    for (uint i = lane; i < end; i += LAMP_LANES) {
        if (load_glow(i, glow)) {
            const float share = (glow.point.y - heights.x) / max(heights.y - heights.x, 1e-6);
            const uint k = lane * SMOKE_LAMPS + min(uint(share * float(SMOKE_LAMPS)), SMOKE_LAMPS - 1u);
            lane_lights[k] += vec4(glow.light * glow.section, glow.section);
            lane_places[k] += glow.section * vec4(glow.point, dot(glow.point, glow.point));
        }
    }
    barrier();
    if (lane < SMOKE_LAMPS) {
        store_lamp(lane);
    }
}

void main()
{
    const uint i = invocation_index();
    Puff puff;
    if (STEP == BOUNDS) {
        find_bounds(i);
    } else if (STEP == PLACE) {
        if (i == 0u) {
            place_volumes();
        }
    } else if (STEP == ADD) {
        if (load_puff(i, puff)) {
            add_puff(puff);
        }
    } else if (STEP == RAISE) {
        raise_level(i);
    } else if (STEP == POOL) {
        pool(i);
    } else if (STEP == HEAT) {
        if (load_puff(i, puff)) {
            add_heat(puff);
        }
    } else if (STEP == MAP) {
        if (load_puff(i, puff)) {
            add_point(puff);
        }
    } else if (STEP == SCAN) {
        scan(i);
    } else if (STEP == LAMPS) {
        find_lamps(gl_LocalInvocationIndex);
    } else {
        open_light(i);
    }
}
