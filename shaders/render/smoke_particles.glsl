// SPDX-License-Identifier: MIT
// smoke_particles.glsl - smoke as particles, and pyramids of cells that they are added up in. Needs smoke.h and `pass`.

struct Puff {
    vec3 point;
    float radius;      // m
    float amount;      // of a new particle's cross-section
    float temperature; // K above the environment
    float age;         // s
};

// Whether slot i holds smoke.
bool load_puff(uint i, out Puff puff)
{
    puff = Puff(vec3(0.0), 0.0, 0.0, 0.0, 0.0);
    if (i >= min(pass.capacity, frame.diffuse_counts.at[0])) {
        return false;
    }
    const vec4 place = frame.diffuse_positions.at[i];
    if (place.w <= 0.0 || frame.diffuse_velocities.at[i].w < 2.5) {
        return false;
    }
    const vec4 smoke = frame.diffuse_smoke.at[i]; // age, life, temperature, amount
    // As a puff grows, the same smoke is in a larger volume: its cross-section stays, its optical depth falls. At the
    // end of its life it thins away.
    const float left = smoke.y > 0.0 ? clamp(1.0 - smoke.x / smoke.y, 0.0, 1.0) : 1.0;
    const float thinning = pass.fade > 0.0 ? clamp(left / pass.fade, 0.0, 1.0) : 1.0;
    puff.point = place.xyz;
    puff.radius = pass.radius * (1.0 + pass.growth * max(smoke.x, 0.0));
    puff.amount = clamp(smoke.w, 0.0, 4.0) * thinning * thinning * (3.0 - 2.0 * thinning);
    puff.temperature = clamp(smoke.z, 0.0, SMOKE_HOTTEST);
    puff.age = max(smoke.x, 0.0);
    return puff.amount > 0.0;
}

// Level l of a pyramid: each cell covers two of the level below each way.
ivec3 level_size(ivec3 finest, uint l)
{
    return max((finest + ivec3((1 << l) - 1)) >> ivec3(l), ivec3(1));
}

uint level_start(ivec3 finest, uint l)
{
    uint start = 0u;
    for (uint k = 0u; k < l; k++) {
        const ivec3 size = level_size(finest, k);
        start += uint(size.x * size.y * size.z);
    }
    return start;
}

uint cell_number(ivec3 size, ivec3 cell)
{
    const ivec3 c = clamp(cell, ivec3(0), size - 1);
    return uint((c.z * size.y + c.y) * size.x + c.x);
}

// Of eight cells around a place, the k-th, and its trilinear weight.
ivec3 corner_of(vec3 place, int k, out float weight)
{
    const vec3 low = floor(place - 0.5), part = place - 0.5 - low;
    const ivec3 offset = ivec3(k & 1, (k >> 1) & 1, k >> 2);
    const vec3 w = mix(1.0 - part, part, vec3(offset));
    weight = w.x * w.y * w.z;
    return ivec3(low) + offset;
}

// Which level particles of a radius are added to, in cells of the finest: cells from half a radius to a radius wide.
// x is the finer of two levels, y the share of the coarser one, so that growing puffs do not jump.
vec2 level_of(float radius_cells)
{
    const float level = clamp(log2(max(radius_cells, 1e-3)), 0.0, float(SMOKE_LEVELS - 1));
    return vec2(floor(level), smoothstep(0.5, 1.0, fract(level)));
}

// Radiance of a black body over that of red at 1800 K: Wien's law at 610, 550 and 465 nm.
vec3 wien(float kelvin)
{
    const vec3 reference = vec3(1.0, 0.401, 0.065), rate = vec3(23586.0, 26160.0, 30942.0);
    return reference * exp(min(rate * (1.0 / 1800.0 - 1.0 / max(kelvin, 100.0)), vec3(20.0)));
}

vec3 puff_albedo(float temperature)
{
    return mix(pass.color.rgb, pass.hot_color.rgb, clamp(temperature / max(pass.hot_color.w, 1e-3), 0.0, 1.0));
}
