// SPDX-License-Identifier: MIT
// Spatial order, cells and neighbour lists against brute force.
#include "backends.h"

#include "cpu/cpu_backend.h"
#include "kernels/kernels.h"

static const float SMOOTHING_RADIUS = 0.1f; // m: particles of 5 cm radius that touch

// ---- Keys ----

static void bits_spread_and_gather(void **state)
{
    (void)state;
    for (uint bit = 0; bit < 21; bit++) {
        assert_true(spread_bits(1u << bit) == (u64)1 << (3 * bit));
        assert_int_equal(gather_bits((u64)1 << (3 * bit)), 1u << bit);
    }
    for (int n = 0; n < 100000; n++) {
        const uint x = (uint)random_bits() & 0x1fffff, y = (uint)random_bits() & 0x1fffff,
                   z = (uint)random_bits() & 0x1fffff;
        const u64 key = zorder_key(x, y, z);
        assert_true(gather_bits(key) == x && gather_bits(key >> 1) == y && gather_bits(key >> 2) == z);
        assert_true(key != KEY_REMOVED);
    }
    assert_true(zorder_key(0x1fffff, 0x1fffff, 0x1fffff) == 0x7fffffffffffffffu);
    assert_true(spread_bits(0xffffffffu) == spread_bits(0x1fffffu)); // higher bits are cut off
}

// ---- What a world has found ----

typedef struct Found {
    uint32_t count, cells, blocks;
    float smoothing_radius, smoothing_radius_squared;
    vec4 *points, *bounds;
    u64 *keys;
    uint *cell_scan, *cell_starts, *run_counts, *counts, *starts, *neighbours;
    uvec2 *runs;
} Found;

static Found download_found(MoteWorld *world)
{
    const SolverData *view = &world->view;
    Found found = {.count = view->particle_count,
                   .cells = view->cell_count,
                   .smoothing_radius = view->smoothing_radius,
                   .smoothing_radius_squared = view->smoothing_radius_squared};
    const size_t n = found.count, cells = found.cells;
    found.points = download_copy(world, view->predicted, n * sizeof(vec4));
    found.bounds = download_copy(world, view->bounds, 2 * sizeof(vec4));
    found.keys = download_copy(world, view->keys, n * sizeof(u64));
    found.cell_scan = download_copy(world, view->cell_scan, (n + 1) * sizeof(uint));
    found.cell_starts = download_copy(world, view->cell_starts, (cells + 1) * sizeof(uint));
    found.run_counts = download_copy(world, view->cell_run_counts, cells * sizeof(uint));
    found.runs = download_copy(world, view->cell_runs, cells * CELL_RUN_LIMIT * sizeof(uvec2));
    found.counts = download_copy(world, view->neighbour_counts, n * sizeof(uint));
    found.starts = download_copy(world, view->neighbour_starts, (n + 1) * sizeof(uint));
    found.blocks = found.starts[n];
    found.neighbours = download_copy(world, view->neighbours, (size_t)found.blocks * NEIGHBOUR_BLOCK * sizeof(uint));
    return found;
}

static void free_found(Found *found)
{
    free(found->points);
    free(found->bounds);
    free(found->keys);
    free(found->cell_scan);
    free(found->cell_starts);
    free(found->run_counts);
    free(found->runs);
    free(found->counts);
    free(found->starts);
    free(found->neighbours);
}

// Particles stand in the order of their cells' keys, and each is in the cell that its position is in.
static void check_cells(const Found *found)
{
    const vec4 low = found->bounds[0], high = found->bounds[1];
    const float extent = fmaxf(fmaxf(high.x - low.x, high.y - low.y), high.z - low.z);
    const float size = cell_size(found->smoothing_radius, extent);
    assert_int_equal(found->cell_starts[0], 0);
    assert_int_equal(found->cell_starts[found->cells], found->count);
    for (uint32_t i = 0; i < found->count; i++) {
        const vec4 p = found->points[i];
        assert_true(p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z);
        assert_true(found->keys[i] == zorder_key(cell_coordinate(p.x, low.x, size), cell_coordinate(p.y, low.y, size),
                                                 cell_coordinate(p.z, low.z, size)));
        assert_true(i == 0 || found->keys[i - 1] <= found->keys[i]);
        const uint cell = found->cell_scan[i + 1] - 1;
        assert_true(cell < found->cells && found->cell_starts[cell] <= i && i < found->cell_starts[cell + 1]);
        assert_true(found->keys[found->cell_starts[cell]] == found->keys[i]);
        assert_true(i == 0 || (found->keys[i - 1] == found->keys[i]) == (found->cell_starts[cell] != i));
    }
}

static int difference(u64 a, u64 b, uint axis)
{
    return abs((int)gather_bits(a >> axis) - (int)gather_bits(b >> axis));
}

// The runs of a cell hold the particles of the 27 cells around it, each once and no others.
static void check_runs(const Found *found)
{
    for (uint32_t cell = 0; cell < found->cells; cell += 1 + found->cells / 500) {
        const u64 key = found->keys[found->cell_starts[cell]];
        const uvec2 *runs = found->runs + (size_t)cell * CELL_RUN_LIMIT;
        uint32_t held = 0, expected = 0;
        assert_in_range(found->run_counts[cell], 1, CELL_RUN_LIMIT);
        for (uint32_t r = 0; r < found->run_counts[cell]; r++) {
            assert_true(runs[r].x < runs[r].y && runs[r].y <= found->count);
            held += runs[r].y - runs[r].x;
            for (uint32_t other = 0; other < r; other++) {
                assert_true(runs[r].x >= runs[other].y || runs[other].x >= runs[r].y);
            }
            for (uint32_t i = runs[r].x; i < runs[r].y; i++) {
                for (uint axis = 0; axis < 3; axis++) {
                    assert_true(difference(found->keys[i], key, axis) <= 1);
                }
            }
        }
        for (uint32_t other = 0; other < found->cells; other++) {
            const u64 there = found->keys[found->cell_starts[other]];
            if (difference(there, key, 0) <= 1 && difference(there, key, 1) <= 1 && difference(there, key, 2) <= 1) {
                expected += found->cell_starts[other + 1] - found->cell_starts[other];
            }
        }
        assert_int_equal(held, expected);
    }
}

static int compare_indices(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Each list is the brute force's, without duplicates, and filled up with the particle itself. Returns the pairs found.
static uint64_t check_lists(const Found *found)
{
    uint32_t *expected = malloc((found->count + 1) * sizeof *expected);
    uint32_t *listed = malloc((found->count + 1) * sizeof *listed);
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < found->count; i++) {
        const uint32_t count =
            brute_force_neighbours(found->points, found->count, found->smoothing_radius_squared, i, expected);
        if (found->counts[i] != count) {
            const vec4 p = found->points[i];
            fail_msg("particle %u at (%.9g, %.9g, %.9g) has %u neighbours, expected %u", i, p.x, p.y, p.z,
                     found->counts[i], count);
        }
        const uint blocks = (count + NEIGHBOUR_BLOCK - 1) / NEIGHBOUR_BLOCK;
        assert_int_equal(found->starts[i + 1] - found->starts[i], blocks);
        const uint *list = found->neighbours + (size_t)found->starts[i] * NEIGHBOUR_BLOCK;
        memcpy(listed, list, count * sizeof *listed);
        qsort(listed, count, sizeof *listed, compare_indices);
        assert_memory_equal(listed, expected, count * sizeof *listed);
        for (uint32_t k = count; k < blocks * NEIGHBOUR_BLOCK; k++) {
            assert_int_equal(list[k], i);
        }
        pairs += count;
    }
    free(expected);
    free(listed);
    return pairs;
}

// Everything the step finds out about where these points are. Returns the pairs; *most, if asked for, becomes the
// number of candidates of the fullest neighbourhood.
static uint64_t check_points(const TestBackend *backend, uint32_t dimensions, const MoteVec3 *points, uint32_t count,
                             uint32_t *most)
{
    const MoteSettings settings = measuring_settings(dimensions, 0.5f * SMOOTHING_RADIUS, 2.0f);
    MoteWorld *world = make_world(backend, &settings);
    add_points(world, points, count, MOTE_PHASE_FLUID);
    run_steps(world, 1, 1e-2f);
    assert_int_equal(mote_world_particle_count(world), count);
    Found found = download_found(world);
    check_cells(&found);
    check_runs(&found);
    const uint64_t pairs = check_lists(&found);
    for (uint32_t cell = 0; most != NULL && cell < found.cells; cell++) {
        uint32_t candidates = 0;
        for (uint32_t r = 0; r < found.run_counts[cell]; r++) {
            const uvec2 run = found.runs[(size_t)cell * CELL_RUN_LIMIT + r];
            candidates += run.y - run.x;
        }
        *most = candidates > *most ? candidates : *most;
    }
    const MoteStatistics statistics = read_statistics(world);
    expect_near(statistics.neighbours_mean, (double)pairs / count, 1e-9 * (double)pairs,
                "the mean number of neighbours");
    free_found(&found);
    mote_world_destroy(world);
    return pairs;
}

// ---- Arrangements ----

enum { LIMIT = 5000 };
static MoteVec3 points[LIMIT];

static void fill_box(uint32_t begin, uint32_t end, MoteVec3 centre, float half)
{
    for (uint32_t i = begin; i < end; i++) {
        points[i] = random_in_box(centre, half);
    }
}

static void random_points(void **state)
{
    fill_box(0, 3000, (MoteVec3){0.3f, -0.2f, 0.1f}, 0.5f);
    assert_true(check_points(*state, 3, points, 3000, NULL) > 3000);
    fill_box(0, 700, (MoteVec3){0, 0, 0}, 5.0f); // hardly any neighbours
    check_points(*state, 3, points, 700, NULL);
}

static void points_on_a_full_lattice(void **state) // all 27 cells occupied, and pairs at just about the support
{
    for (uint32_t i = 0; i < 14 * 14 * 14; i++) {
        const float d = 0.5f * SMOOTHING_RADIUS;
        points[i] = (MoteVec3){d * (float)(i % 14), d * (float)(i / 14 % 14), d * (float)(i / 196)};
    }
    check_points(*state, 3, points, 14 * 14 * 14, NULL);
}

static void flat_points(void **state)
{
    fill_box(0, 3000, (MoteVec3){2, 1, 0}, 1.5f);
    for (uint32_t i = 0; i < 3000; i++) {
        points[i].z = 0.0f;
    }
    assert_true(check_points(*state, 2, points, 3000, NULL) > 3000);
}

static void clustered_points(void **state)
{
    uint32_t at = 0;
    for (int cluster = 0; cluster < 30; cluster++) { // many to a cell, in cells far from one another
        const MoteVec3 centre = random_in_box((MoteVec3){0, 0, 0}, 20.0f);
        const float half = random_float(0.02f, 0.2f) * SMOOTHING_RADIUS * 10.0f;
        fill_box(at, at + 80, centre, half);
        at += 80;
    }
    check_points(*state, 3, points, at, NULL);
}

// The vectorised search collects up to 4096 candidates, and must still be right with more.
static void overfull_cells(void **state)
{
    uint32_t most = 0;
    fill_box(0, 4600, (MoteVec3){0, 0, 0}, 1.45f * SMOOTHING_RADIUS);
    check_points(*state, 3, points, 4600, &most);
    assert_true(most > 4096);
}

static void coincident_points(void **state)
{
    for (uint32_t i = 0; i < 900; i++) {
        points[i] = i % 3 == 0 ? (MoteVec3){0.5f, 0.5f, 0.5f} : random_in_box((MoteVec3){0.5f, 0.5f, 0.5f}, 0.2f);
        if (i % 3 == 2) {
            points[i] = points[i - 1];
        }
    }
    assert_true(check_points(*state, 3, points, 900, NULL) >= 300 * 299);
    for (uint32_t i = 0; i < 50; i++) {
        points[i] = (MoteVec3){-7.0f, 3.0f, 11.0f}; // an extent of zero
    }
    assert_int_equal(check_points(*state, 3, points, 50, NULL), 50 * 49);
}

static void one_and_two_points(void **state)
{
    points[0] = (MoteVec3){-3.0f, 1e4f, 0.25f};
    assert_int_equal(check_points(*state, 3, points, 1, NULL), 0);

    MoteSettings settings = measuring_settings(3, 0.5f, 2.0f); // h is 1 to the bit
    for (int axis = 0; axis < 3; axis++) {
        for (int inside = 0; inside < 2; inside++) {
            MoteWorld *world = make_world(*state, &settings);
            const float distance = inside == 0 ? 1.0f : nextafterf(1.0f, 0.0f);
            const MoteVec3 pair[2] = {{0, 0, 0},
                                      {axis == 0 ? distance : 0, axis == 1 ? distance : 0, axis == 2 ? distance : 0}};
            add_points(world, pair, 2, MOTE_PHASE_FLUID);
            run_steps(world, 1, 1e-2f);
            Found found = download_found(world);
            assert_int_equal(check_lists(&found), inside == 0 ? 0 : 2);
            free_found(&found);
            mote_world_destroy(world);
        }
    }
}

static void collinear_points(void **state)
{
    for (int axis = 0; axis < 3; axis++) {
        for (uint32_t i = 0; i < 1500; i++) {
            const float t = 0.5f * SMOOTHING_RADIUS * (float)i;
            points[i] = (MoteVec3){axis == 0 ? t : 1, axis == 1 ? -t : 2, axis == 2 ? t : 3};
        }
        check_points(*state, 3, points, 1500, NULL);
    }
    for (uint32_t i = 0; i < 1500; i++) {
        const float t = 0.3f * SMOOTHING_RADIUS * (float)i;
        points[i] = (MoteVec3){t, -t, t};
    }
    check_points(*state, 3, points, 1500, NULL);
}

// At 10 km a float's steps are a millimetre.
static void points_ten_kilometres_out(void **state)
{
    const MoteVec3 there = {1e4f, 1e4f, 1e4f}, back = {-1e4f, -1e4f, -1e4f};
    fill_box(0, 1500, there, 0.3f);
    assert_true(check_points(*state, 3, points, 1500, NULL) > 1500);
    fill_box(0, 1500, back, 0.3f);
    assert_true(check_points(*state, 3, points, 1500, NULL) > 1500);
    fill_box(0, 1000, there, 0.3f);
    fill_box(1000, 2000, back, 0.3f);
    fill_box(2000, 3000, (MoteVec3){-1e4f, 0.0f, 1e4f}, 0.3f);
    fill_box(3000, 3800, (MoteVec3){0, 0, 0}, 0.3f);
    assert_true(check_points(*state, 3, points, 3800, NULL) > 3800);
}

static float farthest_neighbour(float from)
{
    float to = from + SMOOTHING_RADIUS;
    while ((to - from) * (to - from) >= SMOOTHING_RADIUS * SMOOTHING_RADIUS) {
        to = nextafterf(to, -INFINITY);
    }
    return to;
}

// Pairs just about as near as the support all over the cells that keys can tell apart, and beyond: whatever cells
// they fall into, rounded, those must be next to each other.
static void pairs_over_the_whole_range(void **state)
{
    const float halves[] = {1e2f, 1e3f, 1e4f, 5e4f, 1e5f, 1.6e5f, 4e5f};
    for (size_t h = 0; h < sizeof halves / sizeof halves[0]; h++) {
        for (uint32_t i = 0; i < 2000; i += 2) {
            const MoteVec3 p = random_in_box((MoteVec3){0, 0, 0}, halves[h]);
            MoteVec3 q = p;
            float *const moved = i % 3 == 0 ? &q.x : i % 3 == 1 ? &q.y : &q.z;
            *moved = farthest_neighbour(*moved);
            points[i] = p;
            points[i + 1] = q;
        }
        assert_true(check_points(*state, 3, points, 2000, NULL) > 1900);
    }
}

static void outliers_at_a_hundred_thousand_kilometres(void **state)
{
    fill_box(0, 1500, (MoteVec3){1, 2, 3}, 0.3f);
    points[100] = (MoteVec3){1e8f, 0, 0};
    points[200] = (MoteVec3){0, -1e8f, 0};
    points[300] = (MoteVec3){1e8f, -1e8f, 1e8f};
    points[301] = points[300];
    points[400] = (MoteVec3){0, 0, -1e8f};
    points[500] = (MoteVec3){3e4f, 3e4f, 3e4f};
    points[501] = (MoteVec3){3e4f, 3e4f, 3e4f + 0.05f};
    assert_true(check_points(*state, 3, points, 1500, NULL) > 1500);
}

// ---- Without cells ----

// Solids of two groups, one of which does not touch its own; the lists of their step.
static Found find_solids(const TestBackend *backend, uint32_t count, bool *by_cells)
{
    const MoteSettings settings = measuring_settings(3, 0.5f * SMOOTHING_RADIUS, 2.0f);
    MoteWorld *world = make_world(backend, &settings);
    add_points(world, points, count / 2, MOTE_PHASE(MOTE_KIND_GRAIN, 0));
    add_points(world, points + count / 2, count - count / 2, MOTE_PHASE(MOTE_KIND_BODY, 1));
    run_steps(world, 1, 1e-2f);
    const SolverData *view = &world->view;
    *by_cells = view->cell_hash_size > 0;
    Found found = {.count = view->particle_count, .smoothing_radius_squared = view->smoothing_radius_squared};
    const size_t n = found.count;
    found.points = download_copy(world, view->predicted, n * sizeof(vec4));
    found.counts = download_copy(world, view->neighbour_counts, n * sizeof(uint));
    found.starts = download_copy(world, view->neighbour_starts, (n + 1) * sizeof(uint));
    found.blocks = found.starts[n];
    found.neighbours = download_copy(world, view->neighbours, (size_t)found.blocks * NEIGHBOUR_BLOCK * sizeof(uint));
    mote_world_destroy(world);
    return found;
}

// The vectorised search of sparse particles, which has no cells, finds the same lists in the same order: where hardly
// any are near to another, on a sheet, on a line whose ends are far apart, and beside some that are all at one place.
static void sparse_lists_are_those_of_cells(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 5; k++) {
        const uint32_t count = k == 0 ? 513 : 4000;
        for (uint32_t i = 0; i < count; i++) {
            const float t = 1.1f * SMOOTHING_RADIUS * (float)i;
            points[i] = k == 2   ? (MoteVec3){1.1f * SMOOTHING_RADIUS * (float)(i % 64), random_float(0.0f, 0.02f),
                                              1.05f * SMOOTHING_RADIUS * (float)(i / 64)}
                        : k == 3 ? (MoteVec3){i % 2 == 0 ? t : -t, 0.5f * t, 0.0f}
                                 : random_in_box((MoteVec3){0, 0, 0}, k == 0 ? 0.5f : 1.4f);
        }
        for (uint32_t i = 0; i < 40; i++) {
            points[7 * i] = points[0];
        }
        for (uint32_t i = 0; i < 600 && k == 4; i++) { // more than are looked up at once: by cells
            points[i] = points[0];
        }
        bool by_cells[2];
        Found sparse = find_solids(&test_backends[0], count, &by_cells[0]);
        Found plain = find_solids(&test_backends[1], count, &by_cells[1]);
        assert_true(by_cells[1]);
        assert_true(by_cells[0] == (k == 4) || cpu_avx2_kernels() == NULL);
        assert_true(check_lists(&sparse) > 0);
        assert_int_equal(sparse.blocks, plain.blocks);
        assert_memory_equal(sparse.counts, plain.counts, count * sizeof(uint));
        assert_memory_equal(sparse.starts, plain.starts, (count + 1) * sizeof(uint));
        assert_memory_equal(sparse.neighbours, plain.neighbours, plain.blocks * NEIGHBOUR_BLOCK * sizeof(uint));
        free_found(&sparse);
        free_found(&plain);
    }
}

// ---- From step to step ----

// Lists that grow and shrink, and the order that changes, while particles come, go and crowd.
static void lists_follow_the_particles(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.5f * SMOOTHING_RADIUS, 2.0f);
    settings.max_displacement = 0.0f;
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 velocities[LIMIT];
    for (int round = 0; round < 6; round++) {
        fill_box(0, 500, (MoteVec3){0, 0, 0}, 1.0f);
        for (uint32_t i = 0; i < 500; i++) { // towards the middle: after a second all are there
            velocities[i] = (MoteVec3){-points[i].x, -points[i].y, -points[i].z};
        }
        const MoteParticles particles = {
            .count = 500, .positions = points, .velocities = velocities, .mass = 1.0f, .phase = MOTE_PHASE_FLUID};
        expect_ok(mote_world_add_particles(world, &particles, NULL));
        run_steps(world, 1, 0.3f);
        Found found = download_found(world);
        check_cells(&found);
        check_lists(&found);
        free_found(&found);
        const MoteParticleView view = read_view(world);
        expect_ok(mote_world_remove_particles(world, view.ids, view.count / 3));
    }
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_spread_and_gather),     ON_EVERY_BACKEND(random_points),
        ON_EVERY_BACKEND(points_on_a_full_lattice),   ON_EVERY_BACKEND(flat_points),
        ON_EVERY_BACKEND(clustered_points),           ON_EVERY_BACKEND(overfull_cells),
        ON_EVERY_BACKEND(coincident_points),          ON_EVERY_BACKEND(one_and_two_points),
        ON_EVERY_BACKEND(collinear_points),           ON_EVERY_BACKEND(points_ten_kilometres_out),
        ON_EVERY_BACKEND(pairs_over_the_whole_range), ON_EVERY_BACKEND(outliers_at_a_hundred_thousand_kilometres),
        ON_EVERY_BACKEND(lists_follow_the_particles), cmocka_unit_test(sparse_lists_are_those_of_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
