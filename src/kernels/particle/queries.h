// SPDX-License-Identifier: MIT
// queries.h - queries of particles between steps: ray casts, overlaps with volumes, sums of mass and momentum. An
// invocation handles a chunk of QUERY_CHUNK particles. These are close in space, so most rays and volumes are rejected
// by the chunk's bounding box. Results do not depend on the order of invocations.
#ifndef MOTE_KERNELS_QUERIES_H
#define MOTE_KERNELS_QUERIES_H

#include "data.h"
#include "collider/distance.h"
#include "collider/ray_cast.h"
#include "particle/force_fields.h"
#include "particle/handles.h"

#define SUM_COLUMNS 5u // of sum_particles

FUNCTION uint query_chunk_end(VIEW_COMMA uint i)
{
    return min_u32((i + 1u) * QUERY_CHUNK, PARAMETER(particle_count));
}

FUNCTION bool is_present(VIEW_COMMA uint k)
{
    return LOAD(positions, k).w >= 0.0f && (LOAD(phases, k) & PHASE_REMOVED) == 0u;
}

// ---- Sums --------------------------------------------------------------------------------------------------

// Of the particles that pass the filter of query_fields, about query_centre: mass times offset and mass; momentum and
// number; angular momentum; second moments xx, yy, zz and xy, xz, yz. Behind the last two are the halves of the phase,
// which mean something for a single particle.
KERNEL(sum_particles)
{
    const ForceField chosen = LOAD(query_fields, 0u);
    vec4 offsets = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec3 momentum = v3(0.0f, 0.0f, 0.0f);
    vec3 angular = v3(0.0f, 0.0f, 0.0f);
    vec3 squares = v3(0.0f, 0.0f, 0.0f);
    vec3 products = v3(0.0f, 0.0f, 0.0f);
    float count = 0.0f;
    uint phase = 0u;
    for (uint k = i * QUERY_CHUNK; k < query_chunk_end(VIEW_HERE_COMMA i); k++) {
        if (!passes_filter(VIEW_HERE_COMMA chosen, k)) {
            continue;
        }
        const vec4 position = LOAD(positions, k);
        const vec3 velocity = v3_from_v4(LOAD(velocities, k));
        const float mass = 1.0f / position.w;
        const vec3 r = v3_sub(v3_from_v4(position), PARAMETER(query_centre));
        offsets = v4(offsets.x + mass * r.x, offsets.y + mass * r.y, offsets.z + mass * r.z, offsets.w + mass);
        momentum = v3_add_scaled(momentum, velocity, mass);
        angular = v3_add_scaled(angular, v3_cross(r, velocity), mass);
        squares = v3_add_scaled(squares, v3_mul(r, r), mass);
        products = v3_add_scaled(products, v3(r.x * r.y, r.x * r.z, r.y * r.z), mass);
        count += 1.0f;
        phase = LOAD(phases, k);
    }
    STORE(query_sums, SUM_COLUMNS * i, offsets);
    STORE(query_sums, SUM_COLUMNS * i + 1u, v4_from_v3(momentum, count));
    STORE(query_sums, SUM_COLUMNS * i + 2u, v4_from_v3(angular, 0.0f));
    STORE(query_sums, SUM_COLUMNS * i + 3u, v4_from_v3(squares, F32(phase >> 16)));
    STORE(query_sums, SUM_COLUMNS * i + 4u, v4_from_v3(products, F32(phase & 0xffffu)));
}

// Sums of chunks, a row of them each, for the host to add up.
KERNEL(sum_query_rows)
{
    const uint chunks = PARAMETER(query_chunk_count);
    const uint columns = PARAMETER(query_columns);
    const uint end = min_u32((i + 1u) * QUERY_CHUNK, chunks);
    for (uint c = 0u; c < columns; c++) {
        vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
        for (uint k = i * QUERY_CHUNK; k < end; k++) {
            const vec4 part = LOAD(query_sums, k * columns + c);
            sum = v4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
        }
        STORE(query_sums, (chunks + i) * columns + c, sum);
    }
}

// ---- The box around a chunk --------------------------------------------------------------------------------

STRUCT(ChunkBox)
{
    vec3 lower; // m
    vec3 upper;
};

FUNCTION ChunkBox chunk_box(VIEW_COMMA uint i)
{
    ChunkBox box = {v3(FAR_AWAY, FAR_AWAY, FAR_AWAY), v3(-FAR_AWAY, -FAR_AWAY, -FAR_AWAY)};
    for (uint k = i * QUERY_CHUNK; k < query_chunk_end(VIEW_HERE_COMMA i); k++) {
        const vec4 p = LOAD(positions, k);
        box.lower = v3(min_f32(box.lower.x, p.x), min_f32(box.lower.y, p.y), min_f32(box.lower.z, p.z));
        box.upper = v3(max_f32(box.upper.x, p.x), max_f32(box.upper.y, p.y), max_f32(box.upper.z, p.z));
    }
    return box;
}

// Where the ray enters the box made larger by `margin`; FAR_AWAY: never.
FUNCTION float ray_to_box(Ray ray, ChunkBox box, float margin)
{
    const vec3 o = ray.origin;
    const vec3 d = ray.direction;
    vec3 stretch = clip_to_slab(WHOLE_LINE, o.x, d.x, box.lower.x - margin, box.upper.x + margin);
    stretch = clip_to_slab(stretch, o.y, d.y, box.lower.y - margin, box.upper.y + margin);
    stretch = clip_to_slab(stretch, o.z, d.z, box.lower.z - margin, box.upper.z + margin);
    return stretch.x <= stretch.y && stretch.y >= 0.0f ? max_f32(stretch.x, 0.0f) : FAR_AWAY;
}

// ---- Rays --------------------------------------------------------------------------------------------------

FUNCTION float ray_to_particle(Ray ray, vec3 centre)
{
    const vec3 stretch = sphere_stretch(v3_sub(ray.origin, centre), ray.direction, ray.radius);
    return stretch.x <= stretch.y && stretch.y > 0.0f ? max_f32(stretch.x, 0.0f) : FAR_AWAY;
}

FUNCTION float nearest_so_far(VIEW_COMMA uint ray)
{
    return FLOAT_OF_BITS(NONE - LOAD(query_words, RAY_WORDS * ray + RAY_NEAREST));
}

// Whether particles of the chunk can be nearer than what the ray has hit. A little more than the radius: rounding.
FUNCTION bool may_hit_chunk(VIEW_COMMA Ray ray, uint r, ChunkBox box)
{
    return ray.radius > 0.0f && ray_to_box(ray, box, 1.01f * ray.radius) <= nearest_so_far(VIEW_HERE_COMMA r);
}

// The distance of the nearest particle of all, as far as it is nearer than the nearest collider. Distances are not
// negative, and so in the order of their bits.
KERNEL(cast_at_particles)
{
    const ChunkBox box = chunk_box(VIEW_HERE_COMMA i);
    for (uint r = 0u; r < PARAMETER(query_count); r++) {
        const Ray ray = load_ray(VIEW_HERE_COMMA r);
        if (!may_hit_chunk(VIEW_HERE_COMMA ray, r, box)) {
            continue;
        }
        float nearest = FAR_AWAY;
        for (uint k = i * QUERY_CHUNK; k < query_chunk_end(VIEW_HERE_COMMA i); k++) {
            const float distance = ray_to_particle(ray, v3_from_v4(LOAD(positions, k)));
            if (distance < nearest && is_present(VIEW_HERE_COMMA k)) {
                nearest = distance;
            }
        }
        if (nearest < LOAD(query_hits, r).w) {
            ATOMIC_MAX(query_words, RAY_WORDS * r + RAY_NEAREST, NONE - FLOAT_BITS(nearest));
        }
    }
}

// Of the particles at that distance the first.
KERNEL(choose_particles)
{
    const ChunkBox box = chunk_box(VIEW_HERE_COMMA i);
    for (uint r = 0u; r < PARAMETER(query_count); r++) {
        const Ray ray = load_ray(VIEW_HERE_COMMA r);
        const float nearest = nearest_so_far(VIEW_HERE_COMMA r);
        if (nearest >= LOAD(query_hits, r).w || !may_hit_chunk(VIEW_HERE_COMMA ray, r, box)) {
            continue;
        }
        for (uint k = i * QUERY_CHUNK; k < query_chunk_end(VIEW_HERE_COMMA i); k++) {
            if (is_present(VIEW_HERE_COMMA k) && ray_to_particle(ray, v3_from_v4(LOAD(positions, k))) <= nearest) {
                ATOMIC_MAX(query_words, RAY_WORDS * r + RAY_SLOT, NONE - k);
            }
        }
    }
}

// Converts a hit to the ids that users know.
KERNEL(finish_rays)
{
    const uint word = RAY_WORDS * i;
    const uint slot = NONE - LOAD(query_words, word + RAY_SLOT);
    if (slot == NONE) {
        STORE(query_words, word + RAY_SLOT, NONE);
        return;
    }
    const Ray ray = load_ray(VIEW_HERE_COMMA i);
    const float distance = nearest_so_far(VIEW_HERE_COMMA i);
    const vec3 centre = v3_from_v4(LOAD(positions, slot));
    const vec3 way_out = v3_sub(v3_add_scaled(ray.origin, ray.direction, distance), centre);
    const float length = v3_length(way_out);
    const vec3 normal = length > 1e-20f ? v3_scale(way_out, 1.0f / length) : v3_scale(ray.direction, -1.0f);
    STORE(query_hits, i, v4_from_v3(normal, distance));
    STORE(query_words, word + RAY_COLLIDER, NONE);
    STORE(query_words, word + RAY_SLOT, LOAD(ids, slot));
    if (PARAMETER(member_count) > 0u && PARAMETER(has_solids) != 0u && is_member(LOAD(handles, slot))) {
        STORE(query_words, word + RAY_BODY, LOAD(clusters, LOAD(member_clusters, LOAD(handles, slot))).body);
    }
}

// ---- Volumes -----------------------------------------------------------------------------------------------

FUNCTION bool is_in_volume(VIEW_COMMA Collider volume, uint k)
{
    return is_present(VIEW_HERE_COMMA k) &&
           collider_distance(VIEW_HERE_COMMA volume, to_collider(volume, v3_from_v4(LOAD(positions, k)))).w < 0.0f;
}

// The box cannot overlap a volume that is farther from its centre than its corners are.
FUNCTION bool may_overlap(VIEW_COMMA Collider volume, ChunkBox box)
{
    const vec3 middle = v3_scale(v3_add(box.lower, box.upper), 0.5f);
    const float reach = 0.5001f * v3_length(v3_sub(box.upper, box.lower));
    return collider_distance(VIEW_HERE_COMMA volume, to_collider(volume, middle)).w <= reach;
}

KERNEL(count_overlaps)
{
    const ChunkBox box = chunk_box(VIEW_HERE_COMMA i);
    for (uint q = 0u; q < PARAMETER(query_count); q++) {
        const Collider volume = LOAD(query_volumes, q);
        uint count = 0u;
        if (may_overlap(VIEW_HERE_COMMA volume, box)) {
            for (uint k = i * QUERY_CHUNK; k < query_chunk_end(VIEW_HERE_COMMA i); k++) {
                count += is_in_volume(VIEW_HERE_COMMA volume, k) ? 1u : 0u;
            }
        }
        STORE(query_counts, q * (PARAMETER(query_chunk_count) + 1u) + i, count);
    }
}

// Where the particles of each chunk begin in the list, and behind the last chunk how many there are.
KERNEL(scan_overlaps)
{
    const uint first = i * (PARAMETER(query_chunk_count) + 1u);
    uint sum = 0u;
    for (uint k = 0u; k < PARAMETER(query_chunk_count); k++) {
        const uint count = LOAD(query_counts, first + k);
        STORE(query_counts, first + k, sum);
        sum += count;
    }
    STORE(query_counts, first + PARAMETER(query_chunk_count), sum);
}

KERNEL(list_overlaps)
{
    const uint stride = PARAMETER(query_chunk_count) + 1u;
    const uint capacity = PARAMETER(query_capacity);
    for (uint q = 0u; q < PARAMETER(query_count); q++) {
        uint place = LOAD(query_counts, q * stride + i);
        const uint end = min_u32(LOAD(query_counts, q * stride + i + 1u), capacity);
        if (place >= end) {
            continue;
        }
        const Collider volume = LOAD(query_volumes, q);
        for (uint k = i * QUERY_CHUNK; k < query_chunk_end(VIEW_HERE_COMMA i) && place < end; k++) {
            if (is_in_volume(VIEW_HERE_COMMA volume, k)) {
                STORE(query_words, q * capacity + place, LOAD(ids, k));
                place++;
            }
        }
    }
}

#endif
