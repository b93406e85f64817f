// SPDX-License-Identifier: MIT
// tearing_fixture.h - sheets of cloth, and what must be true of them however they are torn. To be included after
// solid_fixture.h.
#ifndef MOTE_TESTS_TEARING_FIXTURE_H
#define MOTE_TESTS_TEARING_FIXTURE_H

#include "mote_cloth.h"

static const MoteVec3 weightless = {0, 0, 0};

// ---- Sheets ------------------------------------------------------------------------------------------------

typedef struct Sheet {
    uint32_t columns, rows, vertices, triangles;
    MoteVec3 *positions, *velocities, *rests;
    uint32_t *corners;
    float *masses;
    MoteParticleHandle *handles;
    MoteCloth cloth; // to be added once the particles are
} Sheet;

// A grid in the x-y plane, `step` m from vertex to vertex, whose diagonals alternate.
static inline Sheet make_sheet(uint32_t columns, uint32_t rows, float step)
{
    Sheet s = {
        .columns = columns, .rows = rows, .vertices = columns * rows, .triangles = 2 * (columns - 1) * (rows - 1)};
    s.positions = calloc(s.vertices, sizeof *s.positions);
    s.velocities = calloc(s.vertices, sizeof *s.velocities);
    s.rests = calloc(s.vertices, sizeof *s.rests);
    s.masses = calloc(s.vertices, sizeof *s.masses);
    s.handles = calloc(s.vertices, sizeof *s.handles);
    s.corners = calloc(3 * (size_t)s.triangles, sizeof *s.corners);
    for (uint32_t v = 0; v < s.vertices; v++) {
        s.positions[v] = (MoteVec3){step * (float)(v % columns), -step * (float)(v / columns), 0.0f};
        s.rests[v] = s.positions[v];
        s.masses[v] = 0.01f;
    }
    uint32_t t = 0;
    for (uint32_t row = 0; row + 1 < rows; row++) {
        for (uint32_t column = 0; column + 1 < columns; column++, t += 6) {
            const uint32_t a = row * columns + column, b = a + columns, c = b + 1, d = a + 1;
            const uint32_t cuts[2][6] = {{a, b, c, a, c, d}, {a, b, d, b, c, d}};
            memcpy(s.corners + t, cuts[(row + column) % 2], sizeof cuts[0]);
        }
    }
    s.cloth = mote_default_cloth();
    s.cloth.vertex_count = s.vertices;
    s.cloth.triangle_count = s.triangles;
    s.cloth.triangles = s.corners;
    s.cloth.vertices = s.handles;
    s.cloth.columns = columns;
    s.cloth.rows = rows;
    s.cloth.rest_positions = s.rests;
    s.cloth.drag = s.cloth.lift = 0.0f;
    return s;
}

static inline void free_sheet(Sheet *s)
{
    free(s->positions);
    free(s->velocities);
    free(s->rests);
    free(s->masses);
    free(s->handles);
    free(s->corners);
}

static inline void add_sheet_particles(MoteWorld *world, Sheet *s)
{
    uint32_t first = 0, *ids = calloc(s->vertices, sizeof *ids);
    const MoteParticles particles = {.count = s->vertices,
                                     .positions = s->positions,
                                     .velocities = s->velocities,
                                     .masses = s->masses,
                                     .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t v = 0; v < s->vertices; v++) {
        ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(world, ids, s->vertices, s->handles));
    free(ids);
}

static inline void add_sheet(MoteWorld *world, Sheet *s)
{
    add_sheet_particles(world, s);
    expect_ok(mote_world_add_cloth(world, &s->cloth, NULL));
}

static inline MoteSettings sheet_settings(void)
{
    MoteSettings settings = solid_settings(0.02f);
    settings.sleep_speed = 0.0f;
    settings.gravity = weightless;
    settings.max_displacement = 0.0f;
    settings.iterations = 4;
    return settings;
}

// ---- Meshes ------------------------------------------------------------------------------------------------

// A triangle's side, from its lower to its higher vertex; `up` if it runs that way.
typedef struct Side {
    uint32_t low, high, triangle;
    bool up;
} Side;

static inline int compare_sides(const void *a, const void *b)
{
    const Side *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : x->high < y->high ? -1 : x->high > y->high;
}

static inline uint32_t find_set(uint32_t *parents, uint32_t i)
{
    while (parents[i] != i) {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    return i;
}

static inline void join_sets(uint32_t *parents, uint32_t a, uint32_t b)
{
    parents[find_set(parents, a)] = find_set(parents, b);
}

static inline uint32_t count_sets(uint32_t *parents, uint32_t count)
{
    uint32_t sets = 0;
    for (uint32_t i = 0; i < count; i++) {
        sets += find_set(parents, i) == i;
    }
    return sets;
}

static inline uint32_t *make_sets(uint32_t count)
{
    uint32_t *parents = malloc(count * sizeof *parents + 1);
    for (uint32_t i = 0; i < count; i++) {
        parents[i] = i;
    }
    return parents;
}

typedef struct Counts {
    uint32_t edges, borders, pieces, loops;
} Counts;

// An edge has one triangle, or two that wind the other way. All triangles around a vertex hang together by edges, so
// that it has two edges of the border or none. Then the Euler characteristic of pieces without handles is twice the
// pieces less the loops of the border.
static inline Counts check_mesh(const uint32_t *corners, uint32_t triangles, uint32_t vertices)
{
    const uint32_t sides = 3 * triangles;
    Side *list = malloc(sides * sizeof *list);
    uint32_t *around = make_sets(sides), *pieces = make_sets(triangles), *loops = make_sets(vertices);
    uint32_t *borders = calloc(vertices, sizeof *borders), *fans = calloc(vertices, sizeof *fans);
    for (uint32_t c = 0; c < sides; c++) {
        const uint32_t from = corners[c], to = corners[c / 3 * 3 + (c + 1) % 3];
        assert_true(from < vertices && from != to);
        list[c] = (Side){from < to ? from : to, from < to ? to : from, c / 3, from < to};
    }
    qsort(list, sides, sizeof *list, compare_sides);
    Counts counts = {0};
    for (uint32_t s = 0; s < sides; counts.edges++) {
        const Side *a = &list[s], *b = s + 1 < sides && compare_sides(a, a + 1) == 0 ? a + 1 : NULL;
        if (b == NULL) {
            counts.borders++;
            borders[a->low]++;
            borders[a->high]++;
            join_sets(loops, a->low, a->high);
            s++;
            continue;
        }
        assert_true(a->up != b->up);
        assert_true(s + 2 == sides || compare_sides(b, b + 1) != 0);
        join_sets(pieces, a->triangle, b->triangle);
        for (uint32_t i = 0; i < 3; i++) { // their corners at both ends are neighbours in a fan
            for (uint32_t k = 0; k < 3; k++) {
                const uint32_t p = 3 * a->triangle + i, q = 3 * b->triangle + k;
                if (corners[p] == corners[q] && (corners[p] == a->low || corners[p] == a->high)) {
                    join_sets(around, p, q);
                }
            }
        }
        s += 2;
    }
    for (uint32_t c = 0; c < sides; c++) {
        fans[corners[c]] += find_set(around, c) == c;
    }
    for (uint32_t v = 0; v < vertices; v++) {
        assert_int_equal(fans[v], 1); // one arc, and no vertex without triangles
        assert_true(borders[v] == 0 || borders[v] == 2);
        counts.loops += borders[v] > 0 && find_set(loops, v) == v;
    }
    counts.pieces = count_sets(pieces, triangles);
    assert_int_equal((int)vertices - (int)counts.edges + (int)triangles, 2 * (int)counts.pieces - (int)counts.loops);
    free(list);
    free(around);
    free(pieces);
    free(loops);
    free(borders);
    free(fans);
    return counts;
}

// The present mesh of the first cloth.
static inline MoteClothInfo read_mesh(MoteWorld *world, MoteParticleHandle **handles, uint32_t **corners)
{
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(world, 0, &info));
    *handles = malloc(info.vertices * sizeof **handles);
    *corners = malloc(3 * (size_t)info.triangles * sizeof **corners);
    expect_ok(mote_world_read_cloth(world, 0, *handles, *corners));
    return info;
}

static inline int compare_pairs(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(uvec2));
}

// Each edge of the mesh has one link that is not broken, on both sides of a cut too, and all links of a colour end at
// different particles.
static inline void check_links(MoteWorld *world, const MoteClothInfo *info, const MoteParticleHandle *handles,
                               const uint32_t *corners, uint32_t edges)
{
    const uint32_t links = world->view.link_count,
                   bend = info->first_spring + info->stretch_springs + info->shear_springs;
    uvec2 *ends = download_copy(world, world->view.link_ends, links * sizeof *ends);
    uvec2 *held = malloc(links * sizeof *held), *sides = malloc(3 * (size_t)info->triangles * sizeof *sides);
    uint32_t held_count = 0;
    for (uint32_t number = 0; number < links; number++) {
        const uvec2 pair = ends[world->link_rows[number]];
        const bool bends = number >= bend && number < bend + info->bend_springs;
        if (pair.x != world->view.tear_nobody && !bends) {
            held[held_count++] = pair.x < pair.y ? pair : (uvec2){pair.y, pair.x};
        }
    }
    qsort(held, held_count, sizeof *held, compare_pairs);
    uint32_t found = 0;
    for (uint32_t c = 0; c < 3 * info->triangles; c++) {
        const uint32_t a = handles[corners[c]].value - 1, b = handles[corners[c / 3 * 3 + (c + 1) % 3]].value - 1;
        sides[c] = a < b ? (uvec2){a, b} : (uvec2){b, a};
    }
    qsort(sides, 3 * (size_t)info->triangles, sizeof *sides, compare_pairs);
    for (uint32_t c = 0; c < 3 * info->triangles; c++) {
        if (c == 0 || compare_pairs(&sides[c - 1], &sides[c]) != 0) {
            const uvec2 *link = bsearch(&sides[c], held, held_count, sizeof *held, compare_pairs);
            assert_non_null(link);
            const size_t at = (size_t)(link - held);
            assert_true(at == 0 || compare_pairs(link - 1, link) != 0);
            assert_true(at + 1 == held_count || compare_pairs(link + 1, link) != 0);
            found++;
        }
    }
    assert_int_equal(found, edges);
    uint32_t *colours = calloc(world->view.handle_count, sizeof *colours);
    for (uint32_t colour = 0; colour < world->link_colours; colour++) {
        for (uint32_t r = world->link_colour_starts[colour]; r < world->link_colour_starts[colour + 1]; r++) {
            for (uint32_t k = 0; k < 2 && ends[r].x != world->view.tear_nobody; k++) {
                uint32_t *last = &colours[world_handle_row(world, k == 0 ? ends[r].x : ends[r].y)];
                assert_true(*last != colour + 1);
                *last = colour + 1;
            }
        }
    }
    free(colours);
    free(ends);
    free(held);
    free(sides);
}

static inline MoteClothInfo check_cloth(MoteWorld *world, bool links)
{
    MoteParticleHandle *handles;
    uint32_t *corners;
    const MoteClothInfo info = read_mesh(world, &handles, &corners);
    const Counts counts = check_mesh(corners, info.triangles, info.vertices);
    if (links) {
        check_links(world, &info, handles, corners, counts.edges);
    }
    MoteParticleState *states = malloc(info.vertices * sizeof *states);
    expect_ok(mote_world_read_handles(world, handles, info.vertices, states));
    for (uint32_t v = 0; v < info.vertices; v++) {
        assert_true(states[v].present);
    }
    assert_int_equal(mote_world_particle_count(world), info.vertices);
    free(states);
    free(handles);
    free(corners);
    return info;
}

#endif
