// SPDX-License-Identifier: MIT
// queries.c - queries between steps: distances of points, rays, volumes and sums over particles. They run on the
// device; the size of the result does not depend on the number of particles.
#include "solver/world.h"

#include "base/error.h"
#include "kernels/kernels.h"
#include <math.h>
#include <stdlib.h>

enum { POINT_BATCH = 1 << 13, RAY_BATCH = 1 << 14, VOLUME_BATCH = 64 }; // that are on the device at a time

MoteResult world_reserve_query(MoteWorld *world, Capacity capacity, uint64_t count)
{
    const bool lists_are_current = world->lists_are_current;
    const MoteResult result = count > world->capacities[capacity] ? world_reserve(world, capacity, count, 0) : MOTE_OK;
    world->lists_are_current = lists_are_current;
    return result;
}

void world_set_query_chunks(MoteWorld *world)
{
    SolverData *view = &world->view;
    view->query_chunk_count = (view->particle_count + QUERY_CHUNK - 1) / QUERY_CHUNK;
    view->query_row_count = (view->query_chunk_count + QUERY_CHUNK - 1) / QUERY_CHUNK;
}

void world_add_query_rows(MoteWorld *world, uint32_t columns, double sums[][4])
{
    SolverData *view = &world->view;
    view->query_columns = columns;
    if (view->query_row_count > 0) {
        LAUNCH(world, sum_query_rows);
    }
    for (uint32_t r = 0; r < view->query_row_count; r++) {
        vec4 row[SUM_COLUMNS];
        world->backend->functions->download(world->backend, row,
                                            view->query_sums + (uint64_t)(view->query_chunk_count + r) * columns,
                                            columns * sizeof *row);
        for (uint32_t c = 0; c < columns; c++) {
            const double parts[4] = {(double)row[c].x, (double)row[c].y, (double)row[c].z, (double)row[c].w};
            for (int k = 0; k < 4; k++) {
                sums[c][k] += parts[k];
            }
        }
    }
}

// ---- Points ------------------------------------------------------------------------------------------------

static MoteResult probe_batch(MoteWorld *world, const MoteVec3 *points, uint32_t count, vec4 *surfaces, uint *hits,
                              MoteProbe *out)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    for (uint32_t i = 0; i < count; i++) {
        surfaces[i] = v4(points[i].x, points[i].y, points[i].z, 0.0f);
    }
    functions->upload(world->backend, view->query_hits, surfaces, count * sizeof *surfaces);
    view->query_count = count;
    LAUNCH(world, probe_colliders);
    functions->download(world->backend, surfaces, view->query_hits, count * sizeof *surfaces);
    functions->download(world->backend, hits, view->query_words, count * sizeof *hits);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (MoteProbe){{surfaces[i].x, surfaces[i].y, surfaces[i].z}, surfaces[i].w, hits[i]};
    }
    return world_check_backend(world);
}

MoteResult mote_world_probe(MoteWorld *world, const MoteVec3 *points, uint32_t count, MoteProbe *out)
{
    const uint32_t room = count < POINT_BATCH ? count : POINT_BATCH;
    vec4 *surfaces = malloc(room * sizeof *surfaces + 1);
    uint *hits = malloc(room * sizeof *hits + 1);
    MoteResult result = surfaces != NULL && hits != NULL
                            ? world_reserve_query(world, CAPACITY_QUERY_HITS, room)
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory to ask about %u points", count);
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_WORDS, room) : result;
    for (uint32_t first = 0; first < count && result == MOTE_OK; first += room) {
        const uint32_t part = count - first < room ? count - first : room;
        result = probe_batch(world, points + first, part, surfaces, hits, out + first);
    }
    free(hits);
    free(surfaces);
    return result;
}

// ---- Rays --------------------------------------------------------------------------------------------------

typedef struct RayRows {
    vec4 *rays, *hits; // 2 and 1 a ray
    uint *words;       // RAY_WORDS a ray
} RayRows;

static MoteResult convert_ray(const MoteWorld *world, const MoteRay *ray, uint32_t number, vec4 rows[2])
{
    const MoteVec3 o = ray->origin, d = ray->direction;
    const double length = sqrt((double)d.x * d.x + (double)d.y * d.y + (double)d.z * d.z);
    if (!isfinite(o.x) || !isfinite(o.y) || !isfinite(o.z) || !isfinite(length) || !(length > 0.0) ||
        !isfinite(ray->max_distance) || ray->max_distance < 0.0f || !isfinite(ray->particle_radius) ||
        ray->particle_radius < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "ray %u has a number that is not finite, a direction of length 0 or a length below 0", number);
    }
    const float radius = ray->particle_radius > 0.0f ? ray->particle_radius : 0.5f * world->settings.spacing;
    rows[0] = v4(o.x, o.y, o.z, ray->max_distance > 0.0f ? ray->max_distance : FAR_AWAY);
    rows[1] =
        v4((float)(d.x / length), (float)(d.y / length), (float)(d.z / length), ray->skip_particles ? 0.0f : radius);
    return MOTE_OK;
}

static MoteRayHit convert_hit(vec4 hit, const uint *words)
{
    return (MoteRayHit){
        .distance = hit.w < FAR_AWAY ? hit.w : INFINITY,
        .normal = {hit.x, hit.y, hit.z},
        .collider = words[RAY_COLLIDER],
        .particle = words[RAY_SLOT],
        .body = words[RAY_BODY],
    };
}

static void launch_rays(MoteWorld *world)
{
    SolverData *view = &world->view;
    LAUNCH(world, cast_at_colliders);
    if (view->particle_count > 0) {
        LAUNCH(world, cast_at_particles);
        LAUNCH(world, choose_particles);
    }
    LAUNCH(world, finish_rays);
}

static MoteResult cast_batch(MoteWorld *world, const MoteRay *rays, uint32_t first, uint32_t count, RayRows *rows,
                             MoteRayHit *out)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    for (uint32_t i = 0; i < count; i++) {
        const MoteResult result = convert_ray(world, &rays[first + i], first + i, rows->rays + 2 * (size_t)i);
        if (result != MOTE_OK) {
            return result;
        }
        rows->words[RAY_WORDS * i + RAY_COLLIDER] = rays[first + i].skip_colliders ? NONE : 0u;
    }
    functions->upload(world->backend, view->query_rays, rows->rays, 2 * (size_t)count * sizeof(vec4));
    functions->upload(world->backend, view->query_words, rows->words, RAY_WORDS * (size_t)count * sizeof(uint));
    view->query_count = count;
    launch_rays(world);
    functions->download(world->backend, rows->hits, view->query_hits, count * sizeof(vec4));
    functions->download(world->backend, rows->words, view->query_words, RAY_WORDS * (size_t)count * sizeof(uint));
    for (uint32_t i = 0; i < count; i++) {
        out[first + i] = convert_hit(rows->hits[i], rows->words + (size_t)RAY_WORDS * i);
    }
    return world_check_backend(world);
}

MoteResult mote_world_cast_rays(MoteWorld *world, const MoteRay *rays, uint32_t count, MoteRayHit *out)
{
    const uint32_t room = count < RAY_BATCH ? count : RAY_BATCH;
    RayRows rows = {.rays = malloc(2 * (size_t)room * sizeof(vec4) + 1),
                    .hits = malloc(room * sizeof(vec4) + 1),
                    .words = calloc(RAY_WORDS * (size_t)room + 1, sizeof(uint))};
    MoteResult result = rows.rays != NULL && rows.hits != NULL && rows.words != NULL
                            ? world_reserve_query(world, CAPACITY_QUERY_RAYS, 2 * (uint64_t)room)
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u rays", count);
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_HITS, room) : result;
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_WORDS, RAY_WORDS * (uint64_t)room) : result;
    world_set_query_chunks(world);
    for (uint32_t first = 0; first < count && result == MOTE_OK; first += room) {
        result = cast_batch(world, rays, first, count - first < room ? count - first : room, &rows, out);
    }
    free(rows.rays);
    free(rows.hits);
    free(rows.words);
    return result;
}

// ---- Volumes -----------------------------------------------------------------------------------------------

static int compare_ids(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void overlap_batch(MoteWorld *world, const Collider *rows, uint32_t count, uint32_t *counts, uint32_t *ids,
                          uint32_t capacity)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    functions->upload(world->backend, view->query_volumes, rows, count * sizeof *rows);
    view->query_count = count;
    LAUNCH(world, count_overlaps);
    LAUNCH(world, scan_overlaps);
    if (capacity > 0) {
        LAUNCH(world, list_overlaps);
    }
    for (uint32_t q = 0; q < count; q++) {
        const uint64_t total = (uint64_t)q * (view->query_chunk_count + 1u) + view->query_chunk_count;
        functions->download(world->backend, &counts[q], view->query_counts + total, sizeof counts[q]);
        const uint32_t listed = counts[q] < capacity ? counts[q] : capacity;
        if (listed > 0) {
            uint32_t *list = ids + (size_t)q * capacity;
            functions->download(world->backend, list, view->query_words + (size_t)q * capacity, listed * sizeof *list);
            qsort(list, listed, sizeof *list, compare_ids);
        }
    }
}

MoteResult mote_world_overlap(MoteWorld *world, const MoteCollider *volumes, uint32_t count, uint32_t *counts,
                              uint32_t *ids, uint32_t capacity)
{
    SolverData *view = &world->view;
    Collider *rows;
    MoteResult result = world_convert_colliders(world, "volume", volumes, count, &rows);
    if (result != MOTE_OK) {
        return result;
    }
    const uint32_t room = count < VOLUME_BATCH ? count : VOLUME_BATCH;
    world_set_query_chunks(world);
    const uint64_t sums = (uint64_t)room * (view->query_chunk_count + 1u), words = (uint64_t)room * capacity;
    view->query_capacity = capacity;
    result = world_reserve_query(world, CAPACITY_QUERY_VOLUMES, room);
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_COUNTS, sums) : result;
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_WORDS, words) : result;
    for (uint32_t first = 0; first < count && result == MOTE_OK; first += room) {
        overlap_batch(world, rows + first, count - first < room ? count - first : room, counts + first,
                      ids + (size_t)first * capacity, capacity);
        result = world_check_backend(world);
    }
    free(rows);
    return result;
}

// ---- Sums --------------------------------------------------------------------------------------------------

static void sum_about(MoteWorld *world, vec3 centre, double sums[SUM_COLUMNS][4])
{
    for (uint32_t c = 0; c < SUM_COLUMNS; c++) {
        for (int k = 0; k < 4; k++) {
            sums[c][k] = 0.0;
        }
    }
    world->view.query_centre = centre;
    LAUNCH(world, sum_particles);
    world_add_query_rows(world, SUM_COLUMNS, sums);
}

MoteResult mote_world_sum_particles(MoteWorld *world, const MoteParticleFilter *filter, MoteParticleSums *out)
{
    const MoteForceField chosen = {.filter = *filter};
    double s[SUM_COLUMNS][4];
    *out = (MoteParticleSums){0};
    world_set_query_chunks(world);
    const uint64_t rows = (uint64_t)world->view.query_chunk_count + world->view.query_row_count;
    MoteResult result = world_upload_query_field(world, &chosen);
    result = result == MOTE_OK ? world_reserve_query(world, CAPACITY_QUERY_SUMS, rows * SUM_COLUMNS) : result;
    if (result != MOTE_OK || world->view.particle_count == 0) {
        return result;
    }
    sum_about(world, v3(0.0f, 0.0f, 0.0f), s);
    if (s[0][3] > 0.0) { // again about the centre of mass, so that digits are left far from the origin
        const vec3 near = v3((float)(s[0][0] / s[0][3]), (float)(s[0][1] / s[0][3]), (float)(s[0][2] / s[0][3]));
        sum_about(world, near, s);
        const double mass = s[0][3];
        *out = (MoteParticleSums){
            .count = (uint32_t)(s[1][3] + 0.5),
            .phase = s[1][3] < 1.5 ? (uint32_t)s[3][3] << 16 | (uint32_t)s[4][3] : 0,
            .mass = (float)mass,
            .centre = {near.x + (float)(s[0][0] / mass), near.y + (float)(s[0][1] / mass),
                       near.z + (float)(s[0][2] / mass)},
            .velocity = {(float)(s[1][0] / mass), (float)(s[1][1] / mass), (float)(s[1][2] / mass)},
            .angular_momentum = {(float)s[2][0], (float)s[2][1], (float)s[2][2]},
            .inertia = {(float)(s[3][1] + s[3][2]), (float)(s[3][0] + s[3][2]), (float)(s[3][0] + s[3][1]),
                        (float)-s[4][0], (float)-s[4][1], (float)-s[4][2]},
        };
    }
    return world_check_backend(world);
}
