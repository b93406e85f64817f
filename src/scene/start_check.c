// SPDX-License-Identifier: MIT
// start_check.c - checks the initial state of a scene (scene_start_check).
//
// Two sources overlap if balls inside them do. For a particle of a body, the ball's radius is the particle's depth
// below the body's surface; for a grain or a liquid particle it is the particle's own radius. The test has no false
// positives for any lattice, and gives a lower bound of the depth of the overlap.
#include "scene/start.h"

#include "base/error.h"
#include "scene/build.h"
#include "solver/particle_copy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALL_LIMIT = 64, REPORT_LIMIT = 8 };
static const float PLACES_A_SPACING = 500.0f; // numbers that floats must tell apart within a spacing
static const float TOLERANCE = 0.25f;         // spacings that anything may overlap by

// ---- Places ----

static float reach_of(MoteVec3 p)
{
    return fmaxf(fabsf(p.x), fmaxf(fabsf(p.y), fabsf(p.z)));
}

static MoteResult check_reach(const MoteScene *scene, const char *name, float reach)
{
    const float spacing = SCENE_AT(&scene->values, solver, 0)->spacing;
    const float apart = nextafterf(reach, INFINITY) - reach;
    if (apart <= spacing / PLACES_A_SPACING) {
        return MOTE_OK;
    }
    return mote_fail(MOTE_ERROR_INPUT,
                     "%s: %s reaches %g m from the origin, where numbers are %g m apart: too coarse for a "
                     "solver.spacing of %g m, expected everything within %g m of the origin",
                     scene->path, name, (double)reach, (double)apart, (double)spacing,
                     exp2(floor(log2((double)spacing / (double)PLACES_A_SPACING)) + 24.0));
}

static MoteResult check_places(const SceneStart *start)
{
    const MoteScene *scene = start->scene;
    char name[START_NAME_SIZE];
    MoteResult result = MOTE_OK;
    for (uint32_t s = 0; s < start->source_count && result == MOTE_OK; s++) {
        const StartSource *source = &start->sources[s];
        scene_start_name(start, source, name);
        result = check_reach(scene, name, fmaxf(reach_of(source->bounds_min), reach_of(source->bounds_max)));
    }
    for (uint32_t i = 0; i < SCENE_COUNT(&scene->values, emitter) && result == MOTE_OK; i++) {
        snprintf(name, sizeof name, "emitters[%u]", i);
        result = check_reach(scene, name, reach_of(SCENE_AT(&scene->values, emitter, i)->position));
    }
    return result;
}

// ---- Colliders ----

// How far a source's particles are from walls that push the same way.
typedef struct Wall {
    MoteVec3 normal;
    float distance; // m, of the particle that is deepest behind it
    uint32_t collider;
} Wall;

typedef struct Walls {
    Wall rows[WALL_LIMIT];
    uint32_t count;
} Walls;

static float dot(MoteVec3 a, MoteVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static bool encloses(const MoteScene *scene, uint32_t collider)
{
    const SceneCollider *row = SCENE_AT(&scene->values, collider, collider);
    return row->inside_out || row->shape == MOTE_COLLIDER_PLANE ||
           (row->shape == MOTE_COLLIDER_FIELD && row->field_mode == MOTE_FIELD_OUTSIDE);
}

static void add_wall(Walls *walls, const MoteProbe *probe)
{
    uint32_t found = 0;
    while (found < walls->count &&
           (walls->rows[found].collider != probe->collider || dot(walls->rows[found].normal, probe->normal) < 0.99f)) {
        found++;
    }
    if (found == WALL_LIMIT) {
        return;
    }
    if (found == walls->count) {
        walls->rows[walls->count++] = (Wall){probe->normal, probe->distance, probe->collider};
    } else if (probe->distance < walls->rows[found].distance) {
        walls->rows[found].distance = probe->distance;
    }
}

// By how much a source is too wide for the room between two walls that face each other; 0 if it fits.
static float excess(const Walls *walls, const Wall **first, const Wall **second)
{
    float most = 0.0f;
    for (uint32_t a = 0; a < walls->count; a++) {
        for (uint32_t b = a + 1; b < walls->count; b++) {
            const float lacking = -(walls->rows[a].distance + walls->rows[b].distance);
            if (dot(walls->rows[a].normal, walls->rows[b].normal) < -0.99f && lacking > most) {
                most = lacking;
                *first = &walls->rows[a];
                *second = &walls->rows[b];
            }
        }
    }
    return most;
}

static bool is_rigid(const MoteScene *scene, const StartSource *source)
{
    const SceneBody *body = SCENE_AT(&scene->values, body, source->element);
    return source->section == SCENE_SECTION_body && body->stiffness >= 1.0f && body->cluster_spacing <= 0.0f;
}

static MoteResult check_fit(const SceneStart *start, const StartSource *source, const Walls *walls)
{
    const float spacing = SCENE_AT(&start->scene->values, solver, 0)->spacing;
    const Wall *a = NULL, *b = NULL;
    const float lacking = excess(walls, &a, &b);
    char name[START_NAME_SIZE], between[96];
    if (lacking <= 0.01f * spacing) {
        return MOTE_OK;
    }
    scene_start_name(start, source, name);
    snprintf(between, sizeof between, a->collider == b->collider ? "colliders[%u]" : "colliders[%u] and colliders[%u]",
             a->collider, b->collider);
    if (is_rigid(start->scene, source)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: %s does not fit into %s: along (%.2g, %.2g, %.2g) it is %.3g m wider than the room there",
                         start->scene->path, name, between, (double)a->normal.x, (double)a->normal.y,
                         (double)a->normal.z, (double)lacking);
    }
    notices_add(start->notices, true, 0.0, "%s is %.3g m wider than the room in %s, and is squeezed into it", name,
                (double)lacking, between);
    return MOTE_OK;
}

static MoteResult check_source_colliders(SceneStart *start, const StartSource *source, const MoteProbe *probes)
{
    const MoteSettings *settings = SCENE_AT(&start->scene->values, solver, 0);
    const float margin = settings->collision_distance * settings->spacing;
    const MoteProbe *deepest = NULL;
    uint32_t inside = 0;
    Walls walls = {.count = 0};
    for (uint32_t i = 0; i < source->count; i++) {
        const MoteProbe *probe = &probes[source->first_id + i];
        if (probe->collider == MOTE_NONE || probe->distance >= margin) {
            continue;
        }
        inside += probe->distance < -TOLERANCE * settings->spacing;
        deepest = deepest == NULL || probe->distance < deepest->distance ? probe : deepest;
        if (encloses(start->scene, probe->collider)) {
            add_wall(&walls, probe);
        }
    }
    const MoteResult fits = check_fit(start, source, &walls);
    if (fits == MOTE_OK && inside > 0) {
        char name[START_NAME_SIZE];
        scene_start_name(start, source, name);
        notices_add(start->notices, true, 0.0, "%s begins %.3g m inside colliders[%u], %u of its %u particles do", name,
                    (double)-deepest->distance, deepest->collider, inside, source->count);
    }
    return fits;
}

static MoteResult check_colliders(SceneStart *start, const MoteVec3 *positions, uint32_t count)
{
    if (SCENE_COUNT(&start->scene->values, collider) == 0) {
        return MOTE_OK;
    }
    MoteProbe *probes = malloc((size_t)count * sizeof *probes);
    MoteResult result = probes != NULL
                            ? mote_world_probe(start->world, positions, count, probes)
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to check how it begins", start->scene->path);
    for (uint32_t s = 0; s < start->source_count && result == MOTE_OK; s++) {
        result = check_source_colliders(start, &start->sources[s], probes);
    }
    free(probes);
    return result;
}

// ---- Each other ----

typedef struct Overlap {
    uint32_t a, b; // sources, a < b
    float depth;   // m
} Overlap;

typedef struct Search {
    const SceneStart *start;
    const MoteVec3 *positions;
    float *radii;      // m, of balls inside the sources, one a particle
    uint32_t *sources; // of each particle
    float cell;        // m
    uint32_t *heads, *next;
    uint32_t table_size; // a power of two
    Overlap *overlaps;
    uint32_t overlap_count, overlap_capacity;
} Search;

static void fill_source(Search *search, uint32_t s, float spacing, float contact)
{
    const StartSource *source = &search->start->sources[s];
    const SceneBodies *bodies = search->start->bodies;
    const float *distances = NULL;
    if (source->section == SCENE_SECTION_body) {
        distances = bodies->models[bodies->element_models[source->element]].voxels.distances;
    }
    const float whole = 0.5f * (source->section == SCENE_SECTION_fluid ? spacing : contact);
    for (uint32_t i = 0; i < source->count; i++) {
        // Balls larger than a cell's share would not be found; smaller ones are inside, too.
        const float radius = distances != NULL ? fmaxf(-distances[i], 0.0f) : whole;
        search->radii[source->first_id + i] = fminf(radius, 0.5f * search->cell);
        search->sources[source->first_id + i] = s;
    }
}

static bool boxes_meet(const StartSource *a, const StartSource *b, float reach)
{
    return a->bounds_min.x - reach < b->bounds_max.x && b->bounds_min.x - reach < a->bounds_max.x &&
           a->bounds_min.y - reach < b->bounds_max.y && b->bounds_min.y - reach < a->bounds_max.y &&
           a->bounds_min.z - reach < b->bounds_max.z && b->bounds_min.z - reach < a->bounds_max.z;
}

static int by_lowest_x(const void *a, const void *b)
{
    const StartSource *const *first = a, *const *second = b;
    return ((*first)->bounds_min.x > (*second)->bounds_min.x) - ((*first)->bounds_min.x < (*second)->bounds_min.x);
}

// meets[s]: the box around source s meets that of another one. Sorted by x, few pairs are left to be looked at.
static MoteResult find_meetings(const SceneStart *start, float reach, bool *meets)
{
    const uint32_t count = start->source_count;
    const StartSource **order = malloc((count + 1u) * sizeof *order);
    if (order == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to check how it begins", start->scene->path);
    }
    for (uint32_t s = 0; s < count; s++) {
        order[s] = &start->sources[s];
    }
    qsort(order, count, sizeof *order, by_lowest_x);
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = a + 1; b < count && order[b]->bounds_min.x - reach < order[a]->bounds_max.x; b++) {
            if (boxes_meet(order[a], order[b], reach)) {
                meets[order[a] - start->sources] = meets[order[b] - start->sources] = true;
            }
        }
    }
    free(order);
    return MOTE_OK;
}

static uint32_t slot_of(const Search *search, int64_t x, int64_t y, int64_t z)
{
    const uint64_t key = (uint64_t)x * 73856093u ^ (uint64_t)y * 19349663u ^ (uint64_t)z * 83492791u;
    return (uint32_t)(key ^ key >> 29) & (search->table_size - 1);
}

static int64_t cell_of(const Search *search, float x)
{
    return (int64_t)floorf(x / search->cell);
}

static void insert(Search *search, uint32_t i)
{
    const MoteVec3 p = search->positions[i];
    const uint32_t slot = slot_of(search, cell_of(search, p.x), cell_of(search, p.y), cell_of(search, p.z));
    search->next[i] = search->heads[slot];
    search->heads[slot] = i;
}

static bool add_overlap(Search *search, uint32_t i, uint32_t j, float depth)
{
    if (search->overlap_count == search->overlap_capacity) {
        const uint32_t capacity = 2 * search->overlap_capacity + 64;
        Overlap *grown = realloc(search->overlaps, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        search->overlaps = grown;
        search->overlap_capacity = capacity;
    }
    const uint32_t a = search->sources[i], b = search->sources[j];
    search->overlaps[search->overlap_count++] = (Overlap){a < b ? a : b, a < b ? b : a, depth};
    return true;
}

// All particles that were inserted so far and overlap particle i, of other sources. Cells may share a slot: a particle
// could come up twice, which does no harm.
static bool find_overlaps(Search *search, uint32_t i, float tolerance)
{
    const MoteVec3 p = search->positions[i];
    const int64_t x = cell_of(search, p.x), y = cell_of(search, p.y), z = cell_of(search, p.z);
    for (int n = 0; n < 27; n++) {
        uint32_t j = search->heads[slot_of(search, x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1)];
        for (; j != MOTE_NONE; j = search->next[j]) {
            const MoteVec3 q = search->positions[j], d = {p.x - q.x, p.y - q.y, p.z - q.z};
            const float depth = search->radii[i] + search->radii[j] - sqrtf(dot(d, d));
            if (depth > tolerance && search->sources[j] != search->sources[i] && !add_overlap(search, i, j, depth)) {
                return false;
            }
        }
    }
    return true;
}

static int by_sources(const void *a, const void *b)
{
    const Overlap *first = a, *second = b;
    if (first->a != second->a) {
        return first->a < second->a ? -1 : 1;
    }
    if (first->b != second->b) {
        return first->b < second->b ? -1 : 1;
    }
    return (first->depth < second->depth) - (first->depth > second->depth); // deepest first
}

static const SceneMaterial *material_of(const SceneStart *start, const StartSource *source)
{
    const SceneValues *values = &start->scene->values;
    const char *name = source->section == SCENE_SECTION_fluid   ? SCENE_AT(values, fluid, source->element)->material
                       : source->section == SCENE_SECTION_grain ? SCENE_AT(values, grain, source->element)->material
                       : source->section == SCENE_SECTION_cloth ? SCENE_AT(values, cloth, source->element)->material
                                                                : SCENE_AT(values, body, source->element)->material;
    return scene_material(values, name);
}

// What passes through each other may begin there.
static bool can_meet(const SceneStart *start, const Overlap *overlap)
{
    return scene_materials_meet(&start->scene->values, material_of(start, &start->sources[overlap->a]),
                                material_of(start, &start->sources[overlap->b]));
}

static void report_overlaps(Search *search)
{
    const SceneStart *start = search->start;
    uint32_t pairs = 0;
    if (search->overlap_count > 0) { // there is no array without
        qsort(search->overlaps, search->overlap_count, sizeof *search->overlaps, by_sources);
    }
    for (uint32_t i = 0; i < search->overlap_count; i++) {
        const Overlap *overlap = &search->overlaps[i];
        const bool said = i > 0 && overlap[-1].a == overlap->a && overlap[-1].b == overlap->b;
        if (said || !can_meet(start, overlap)) {
            continue;
        }
        char a[START_NAME_SIZE], b[START_NAME_SIZE];
        scene_start_name(start, &start->sources[overlap->a], a);
        scene_start_name(start, &start->sources[overlap->b], b);
        if (pairs++ < REPORT_LIMIT) {
            notices_add(start->notices, true, 0.0, "%s and %s begin inside each other, by %.3g m or more", a, b,
                        (double)overlap->depth);
        }
    }
    if (pairs > REPORT_LIMIT) {
        notices_add(start->notices, true, 0.0, "%u more pairs begin inside each other", pairs - REPORT_LIMIT);
    }
}

static MoteResult search_overlaps(Search *search, const bool *meets, uint32_t count)
{
    const SceneStart *start = search->start;
    const MoteSettings *settings = SCENE_AT(&start->scene->values, solver, 0);
    const float contact = scene_contact_distance(settings);
    while (search->table_size < count) {
        search->table_size *= 2;
    }
    search->radii = malloc((size_t)count * sizeof *search->radii);
    search->sources = malloc((size_t)count * sizeof *search->sources);
    search->next = malloc((size_t)count * sizeof *search->next);
    search->heads = malloc((size_t)search->table_size * sizeof *search->heads);
    bool whole = search->radii != NULL && search->sources != NULL && search->next != NULL && search->heads != NULL;
    if (whole) {
        memset(search->heads, 0xff, (size_t)search->table_size * sizeof *search->heads);
    }
    for (uint32_t s = 0; s < start->source_count && whole; s++) {
        const StartSource *source = &start->sources[s];
        fill_source(search, s, settings->spacing, contact);
        for (uint32_t i = source->first_id; meets[s] && i < source->first_id + source->count && whole; i++) {
            whole = find_overlaps(search, i, TOLERANCE * settings->spacing);
        }
        for (uint32_t i = source->first_id; meets[s] && i < source->first_id + source->count; i++) {
            insert(search, i); // those of one source do not meet each other
        }
    }
    if (!whole) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to check how it begins", start->scene->path);
    }
    report_overlaps(search);
    return MOTE_OK;
}

static MoteResult check_overlaps(SceneStart *start, const MoteVec3 *positions, uint32_t count)
{
    const MoteSettings *settings = SCENE_AT(&start->scene->values, solver, 0);
    const float reach = fmaxf(settings->spacing, scene_contact_distance(settings));
    Search search = {.start = start, .positions = positions, .cell = 2.0f * reach, .table_size = 16};
    bool *meets = calloc(start->source_count + 1u, sizeof *meets), any = false;
    MoteResult result = meets != NULL
                            ? find_meetings(start, reach, meets)
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to check how it begins", start->scene->path);
    for (uint32_t s = 0; s < start->source_count && result == MOTE_OK; s++) {
        any = any || meets[s];
    }
    if (any) {
        result = search_overlaps(&search, meets, count);
    }
    free(search.overlaps);
    free(search.heads);
    free(search.next);
    free(search.sources);
    free(search.radii);
    free(meets);
    return result;
}

MoteResult scene_start_check(SceneStart *start)
{
    MoteParticleView particles = {0};
    MoteResult result = check_places(start);
    result = result == MOTE_OK ? particle_copy_read(start->world, COPY_POSITIONS | COPY_IDS, &particles) : result;
    MoteVec3 *positions = malloc((size_t)particles.count * sizeof *positions + 1);
    if (result == MOTE_OK && positions == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to check how it begins", start->scene->path);
    }
    for (uint32_t i = 0; i < particles.count && result == MOTE_OK; i++) { // ids count from 0 in a new world
        const float *p = particles.positions + 4 * (size_t)i;
        MOTE_ASSERT(particles.ids[i] < particles.count);
        positions[particles.ids[i]] = (MoteVec3){p[0], p[1], p[2]};
    }
    if (result == MOTE_OK && particles.count > 0) {
        result = check_colliders(start, positions, particles.count);
        result = result == MOTE_OK ? check_overlaps(start, positions, particles.count) : result;
    }
    free(positions);
    particle_copy_free(&particles);
    return result;
}
