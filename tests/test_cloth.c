// SPDX-License-Identifier: MIT
// Cloth: the tables of its mesh, what is refused, links and how far they stretch, and states.
#include "solid_fixture.h"

#include "mote_cloth.h"
#include "simulation_fixture.h"

static const MoteVec3 weightless = {0, 0, 0};

enum { COLUMNS = 12, ROWS = 9, VERTICES = COLUMNS * ROWS, TRIANGLES = 2 * (COLUMNS - 1) * (ROWS - 1) };

// A grid in the x-y plane, `step` m from vertex to vertex, with its first vertex at the origin.
typedef struct TestGrid {
    MoteVec3 positions[VERTICES];
    uint32_t triangles[3 * TRIANGLES];
    float masses[VERTICES];
    MoteParticleHandle handles[VERTICES];
    MoteCloth cloth; // to be added once the particles are
} TestGrid;

static void make_grid(TestGrid *grid, float step, float mass)
{
    for (uint32_t v = 0; v < VERTICES; v++) {
        grid->positions[v] = (MoteVec3){step * (float)(v % COLUMNS), -step * (float)(v / COLUMNS), 0.0f};
        grid->masses[v] = mass;
    }
    uint32_t t = 0;
    for (uint32_t row = 0; row + 1 < ROWS; row++) {
        for (uint32_t column = 0; column + 1 < COLUMNS; column++) {
            const uint32_t a = row * COLUMNS + column, b = a + COLUMNS, c = b + 1, d = a + 1;
            const uint32_t corners[] = {a, b, c, a, c, d};
            memcpy(grid->triangles + t, corners, sizeof corners);
            t += 6;
        }
    }
    grid->cloth = mote_default_cloth();
    grid->cloth.vertex_count = VERTICES;
    grid->cloth.triangle_count = TRIANGLES;
    grid->cloth.triangles = grid->triangles;
    grid->cloth.vertices = grid->handles;
    grid->cloth.columns = COLUMNS;
    grid->cloth.rows = ROWS;
}

static uint32_t add_particles(MoteWorld *world, TestGrid *grid, MoteVec3 velocity, uint32_t kind)
{
    MoteVec3 velocities[VERTICES];
    uint32_t ids[VERTICES], first = 0;
    for (uint32_t v = 0; v < VERTICES; v++) {
        velocities[v] = grid->masses[v] > 0.0f ? velocity : weightless;
    }
    const MoteParticles particles = {.count = VERTICES,
                                     .positions = grid->positions,
                                     .velocities = velocities,
                                     .masses = grid->masses,
                                     .phase = MOTE_PHASE(kind, 0)};
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t v = 0; v < VERTICES; v++) {
        ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(world, ids, VERTICES, grid->handles));
    return first;
}

static MoteSettings cloth_settings(void)
{
    MoteSettings settings = solid_settings(0.02f); // vertices farther apart than that do not touch
    settings.sleep_speed = 0.0f;
    settings.max_displacement = 0.0f;
    settings.iterations = 10;
    return settings;
}

static void expect_uints(MoteWorld *world, const uint *array, const uint32_t *expected, size_t count)
{
    uint32_t *found = download_copy(world, array, count * sizeof *found);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i], expected[i]);
    }
    free(found);
}

// Two cloths, one behind the other in the tables: each triangle is in the fans of its corners, ascending.
static void tables_describe_the_mesh(void **state)
{
    const MoteSettings settings = cloth_settings();
    MoteWorld *world = make_world(*state, &settings);
    TestGrid grids[2];
    float uvs[6 * TRIANGLES];
    for (uint32_t k = 0; k < 6 * TRIANGLES; k++) {
        uvs[k] = (float)k;
    }
    for (uint32_t k = 0; k < 2; k++) {
        make_grid(&grids[k], 0.05f, 0.01f);
        add_particles(world, &grids[k], weightless, MOTE_KIND_CLOTH);
        grids[k].cloth.uvs = k == 1 ? uvs : NULL;
        uint32_t index = 9;
        expect_ok(mote_world_add_cloth(world, &grids[k].cloth, &index));
        assert_int_equal(index, k);
    }
    MoteRenderView view;
    expect_ok(mote_world_render_view(world, &view));
    assert_int_equal(mote_world_cloth_count(world), 2);
    assert_int_equal(view.cloth_count, 2);
    assert_int_equal(view.cloth_vertex_count, 2 * VERTICES);
    assert_int_equal(view.cloth_triangle_count, 2 * TRIANGLES);
    assert_int_equal(view.cloth_corners.bytes, 2 * 3 * TRIANGLES * sizeof(uint32_t));
    assert_int_equal(view.cloth_fan_starts.bytes, (2 * VERTICES + 1) * sizeof(uint32_t));

    uint32_t handles[2 * VERTICES], corners[6 * TRIANGLES], owners[2 * TRIANGLES];
    for (uint32_t v = 0; v < 2 * VERTICES; v++) {
        handles[v] = grids[v / VERTICES].handles[v % VERTICES].value - 1;
    }
    for (uint32_t c = 0; c < 6 * TRIANGLES; c++) {
        corners[c] = grids[0].triangles[c % (3 * TRIANGLES)] + c / (3 * TRIANGLES) * VERTICES;
        owners[c / 3] = c / (3 * TRIANGLES);
    }
    const SolverData *data = &world->view;
    expect_uints(world, data->cloth_handles, handles, 2 * VERTICES);
    expect_uints(world, data->cloth_corners, corners, 6 * TRIANGLES);
    expect_uints(world, data->cloth_of_triangles, owners, 2 * TRIANGLES);
    float *found_uvs = download_copy(world, data->cloth_uvs, 12 * TRIANGLES * sizeof(float));
    assert_true(found_uvs[6 * TRIANGLES - 1] == 0.0f && found_uvs[6 * TRIANGLES + 7] == 7.0f);
    free(found_uvs);

    uint32_t *starts = download_copy(world, data->cloth_fan_starts, (2 * VERTICES + 1) * sizeof *starts);
    uint32_t *fans = download_copy(world, data->cloth_fans, 6 * TRIANGLES * sizeof *fans);
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[2 * VERTICES], 6 * TRIANGLES);
    for (uint32_t v = 0; v < 2 * VERTICES; v++) {
        for (uint32_t k = starts[v]; k < starts[v + 1]; k++) {
            assert_int_equal(corners[fans[k]], v);
            assert_true(k == starts[v] || fans[k - 1] < fans[k]);
        }
    }
    free(starts);
    free(fans);
    mote_world_destroy(world);
}

// Links of a grid along edges, across quads and to vertices two away, with the lengths between the vertices at rest.
static void links_are_those_of_the_mesh(void **state)
{
    const MoteSettings settings = cloth_settings();
    MoteWorld *world = make_world(*state, &settings);
    TestGrid grid;
    make_grid(&grid, 0.05f, 0.01f);
    add_particles(world, &grid, weightless, MOTE_KIND_CLOTH);
    expect_ok(mote_world_add_cloth(world, &grid.cloth, NULL));
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(world, 0, &info));
    assert_int_equal(info.vertices, VERTICES);
    assert_int_equal(info.triangles, TRIANGLES);
    assert_int_equal(info.edges, VERTICES + TRIANGLES - 1); // Euler: V - E + F is 1 for a disc
    assert_int_equal(info.first_spring, 0);
    assert_int_equal(info.stretch_springs, (COLUMNS - 1) * ROWS + COLUMNS * (ROWS - 1));
    assert_int_equal(info.shear_springs, TRIANGLES);
    assert_int_equal(info.bend_springs, (COLUMNS - 2) * ROWS + COLUMNS * (ROWS - 2));
    const uint32_t count = info.stretch_springs + info.shear_springs + info.bend_springs;
    assert_int_equal(mote_world_spring_count(world), count);
    MoteSpringState springs[8 * VERTICES];
    expect_ok(mote_world_read_springs(world, springs, count));
    for (uint32_t i = 0; i < count; i++) {
        const double length = i < info.stretch_springs                        ? 0.05
                              : i < info.stretch_springs + info.shear_springs ? 0.05 * sqrt(2.0)
                                                                              : 0.1;
        expect_near(springs[i].length, length, 1e-6, "length");
    }
    // The same triangles without the grid: a link along each edge, diagonals included, and across each inner one.
    TestGrid mesh;
    make_grid(&mesh, 0.05f, 0.01f);
    add_particles(world, &mesh, weightless, MOTE_KIND_CLOTH);
    mesh.cloth.columns = mesh.cloth.rows = 0;
    expect_ok(mote_world_add_cloth(world, &mesh.cloth, NULL));
    MoteClothInfo other;
    expect_ok(mote_world_cloth_info(world, 1, &other));
    assert_int_equal(other.first_spring, count);
    assert_int_equal(other.stretch_springs, other.edges);
    assert_int_equal(other.shear_springs, 0);
    assert_int_equal(other.bend_springs, 3 * TRIANGLES - other.edges); // edges with two triangles
    expect_error(mote_world_cloth_info(world, 2, &other), MOTE_ERROR_INPUT, "cloth 2");
    mote_world_destroy(world);
}

static void expect_refused(MoteWorld *world, const MoteCloth *cloth, const char *text)
{
    expect_error(mote_world_add_cloth(world, cloth, NULL), MOTE_ERROR_INPUT, text);
    assert_int_equal(mote_world_cloth_count(world), 0);
    assert_int_equal(mote_world_spring_count(world), 0);
}

static void wrong_meshes_are_refused(void **state)
{
    const MoteSettings settings = cloth_settings();
    MoteWorld *world = make_world(*state, &settings);
    TestGrid grid, bodies;
    make_grid(&grid, 0.05f, 0.01f);
    add_particles(world, &grid, weightless, MOTE_KIND_CLOTH);
    MoteCloth cloth = grid.cloth;
    cloth.rows = 3;
    expect_refused(world, &cloth, "a grid of 12 columns and 3 rows, but has 108 vertices");
    cloth = grid.cloth;
    cloth.stretch_compliance = -1.0f;
    expect_refused(world, &cloth, "compliance of -1");
    cloth = grid.cloth;
    cloth.damping = NAN;
    expect_refused(world, &cloth, "damping");
    cloth.columns = cloth.rows = cloth.triangle_count = 0;
    cloth.damping = 0.0f;
    expect_refused(world, &cloth, "0 triangles");

    cloth = grid.cloth;
    cloth.columns = cloth.rows = 0;
    const struct {
        uint32_t triangles[9], count;
        const char *text;
    } cases[] = {
        {{0, 1, 108}, 1, "vertex 108, expected vertices below 108"},
        {{0, 1, 0}, 1, "triangle 0 of the cloth has vertex 0 twice"},
        {{0, 12, 1}, 1, "vertex 2 of the cloth is in no triangle"},
    };
    for (uint32_t k = 0; k < 3; k++) {
        cloth.triangles = cases[k].triangles;
        cloth.triangle_count = cases[k].count;
        expect_refused(world, &cloth, cases[k].text);
    }
    const uint32_t fin[] = {0, 1, 2, 1, 0, 3, 0, 1, 4}, twisted[] = {0, 2, 1, 0, 3, 1};
    cloth.vertex_count = 5;
    cloth.triangles = fin;
    cloth.triangle_count = 3;
    expect_refused(world, &cloth, "more than two triangles (0, 1 and 2)");
    cloth.vertex_count = 4;
    cloth.triangles = twisted;
    cloth.triangle_count = 2;
    expect_refused(world, &cloth, "run the same way along the edge from vertex 0 to 1");
    const uint32_t line[] = {0, 1, 2};
    cloth.vertex_count = 3;
    cloth.triangles = line;
    cloth.triangle_count = 1;
    expect_refused(world, &cloth, "triangle 0 of the cloth has an area of 0 m^2");

    make_grid(&bodies, 0.05f, 0.01f);
    add_particles(world, &bodies, weightless, MOTE_KIND_GRAIN);
    cloth = bodies.cloth;
    expect_refused(world, &cloth, "expected MOTE_KIND_CLOTH");
    bodies.handles[7] = bodies.handles[6];
    expect_refused(world, &cloth, "vertex 7 of the cloth is a particle that is one already");
    bodies.handles[0] = (MoteParticleHandle){0};
    expect_refused(world, &cloth, "vertex 0 of the cloth: handle 0x0");

    grid.handles[2] = grid.handles[COLUMNS]; // one triangle is a cloth
    cloth = grid.cloth;
    cloth.columns = cloth.rows = 0;
    cloth.vertex_count = 3;
    cloth.triangles = line;
    cloth.triangle_count = 1;
    expect_ok(mote_world_add_cloth(world, &cloth, NULL));
    expect_error(mote_world_add_cloth(world, &cloth, NULL), MOTE_ERROR_INPUT, "one already");
    run_steps(world, 3, 1.0f / 60.0f);
    mote_world_destroy(world);
}

// Falling cloth that turns and folds: links give no momentum.
static void free_fall_keeps_momentum(void **state)
{
    MoteSettings settings = cloth_settings();
    settings.gravity = weightless;
    MoteWorld *world = make_world(*state, &settings);
    TestGrid grid;
    make_grid(&grid, 0.05f, 0.01f);
    for (uint32_t v = 0; v < VERTICES; v++) { // crumpled a little, and of uneven mass
        grid.masses[v] = random_float(0.005f, 0.02f);
    }
    add_particles(world, &grid, (MoteVec3){1, 2, 3}, MOTE_KIND_CLOTH);
    for (uint32_t v = 0; v < VERTICES; v++) {
        const MoteVec3 d = random_in_box(weightless, 0.01f);
        grid.positions[v] = (MoteVec3){grid.positions[v].x + d.x, grid.positions[v].y + d.y, grid.positions[v].z + d.z};
    }
    grid.cloth.rest_positions = grid.positions;
    expect_ok(mote_world_add_cloth(world, &grid.cloth, NULL));
    const MoteStatistics before = read_statistics(world);
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, 120, NULL));
    const MoteStatistics after = read_statistics(world);
    for (int axis = 0; axis < 3; axis++) {
        expect_near(after.momentum[axis], before.momentum[axis], 1e-3 * fabs(before.momentum[axis]), "momentum");
    }
    mote_world_destroy(world);
}

#define HEAD                                                                                                           \
    "{\"name\": \"sheet\", \"solver\": {\"spacing\": 0.03, \"iterations\": 8, \"substeps\": 2}, "                      \
    "\"materials\": {\"linen\": {\"static_friction\": 0.4}}, \"cloths\": "
#define GRID "\"material\": \"linen\", \"columns\": 9, \"rows\": 7, \"size\": [0.8, 0.6, 0], \"position\": [1, 2, 3]"

static uint32_t count_pins(const char *json)
{
    Running running = fixture_start(json, "cpu");
    MoteParticleView view = read_view(running.world);
    uint32_t pins = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        assert_int_equal(mote_phase_kind(view.phases[i]), MOTE_KIND_CLOTH);
        pins += view.positions[4 * i + 3] == 0.0f;
    }
    fixture_advance(&running, 2);
    fixture_stop(&running);
    return pins;
}

static void pins_are_where_the_scene_says(void **state)
{
    (void)state;
    assert_int_equal(count_pins(HEAD "[{" GRID "}]}"), 0);
    assert_int_equal(count_pins(HEAD "[{" GRID ", \"pins\": \"corners\"}]}"), 4);
    assert_int_equal(count_pins(HEAD "[{" GRID ", \"pins\": \"top_left, bottom_right, 0\"}]}"), 2);
    assert_int_equal(count_pins(HEAD "[{" GRID ", \"pins\": \"top\"}]}"), 9);
    assert_int_equal(count_pins(HEAD "[{" GRID ", \"pins\": \"left, bottom, 31\"}]}"), 16);
    // The box has the two leftmost columns of three rows in it.
    assert_int_equal(count_pins(HEAD "[{" GRID ", \"pin_position\": [0.65, 2, 3], \"pin_size\": [0.14, 0.24, 1]}]}"),
                     6);
}

// Mass by area: a vertex in the middle stands for a whole quad, one in a corner for its triangles there.
static void mass_follows_from_area(void **state)
{
    (void)state;
    Running running = fixture_start(HEAD "[{" GRID ", \"area_density\": 0.5}, {\"mesh\": \"shape:sphere?radius=0.2\", "
                                         "\"mass\": 3, \"position\": [0, 0, 0]}]}",
                                    "cpu");
    MoteStatistics statistics = read_statistics(running.world);
    expect_near(statistics.mass, 0.5 * 0.8 * 0.6 + 3.0, 1e-5, "mass");
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(running.world, 1, &info));
    assert_int_equal(info.vertices + info.triangles - info.edges, 2); // a closed mesh, its seams welded
    fixture_stop(&running);
}

// A sheet that begins stretched shrinks to what it is at rest, about its middle.
static void stretched_cloth_shrinks(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {\"spacing\": 0.03, \"small_steps\": 10, \"substeps\": 1, "
                                    "\"max_displacement\": 0, \"gravity\": [0, 0, 0], "
                                    "\"damping\": 5}, \"materials\": {\"linen\": {}}, \"air\": {\"density\": 0}, "
                                    "\"cloths\": [{" GRID ", \"rest_scale\": 0.75}]}",
                                    "cpu");
    MoteStatistics statistics = read_statistics(running.world);
    expect_near(statistics.mass, 0.2 * 0.8 * 0.6, 1e-5, "the mass is that of the stretched sheet");
    fixture_advance(&running, 120);
    MoteSpringState springs[48]; // along rows and columns, all of 0.1 m at the start
    expect_ok(mote_world_read_springs(running.world, springs, 48));
    for (uint32_t i = 0; i < 48; i++) {
        expect_near(springs[i].length, 0.075, 1e-4, "an edge at rest");
    }
    expect_near(read_statistics(running.world).link_stretch_mean, 0.0, 1e-3, "stretch");
    fixture_stop(&running);
}

static void expect_scene_refused(const char *json, const char *text)
{
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    const MoteBackendOptions options = {.backend = "cpu"};
    fixture_write("bad.json", json, strlen(json));
    MoteResult result = mote_scene_load(fixture_path("bad.json"), NULL, 0, &scene);
    result = result == MOTE_OK ? mote_simulation_create(scene, &options, &simulation) : result;
    expect_error(result, MOTE_ERROR_INPUT, text);
    mote_scene_destroy(scene);
}

static void wrong_sections_are_refused(void **state)
{
    (void)state;
    expect_scene_refused(HEAD "[{" GRID ", \"pins\": \"middle\"}]}",
                         "cloths[0].pins: found \"middle\", expected corners");
    expect_scene_refused(HEAD "[{" GRID ", \"pins\": \"63\"}]}", "vertices below 63");
    expect_scene_refused(HEAD "[{" GRID ", \"pin_position\": [9, 9, 9], \"pin_size\": [1, 1, 1]}]}",
                         "cloths[0].pin_size: found no vertex");
    expect_scene_refused(HEAD "[{\"size\": [1, 0, 0]}]}", "size");
    expect_scene_refused(HEAD "[{\"columns\": 1}]}", "columns");
    expect_scene_refused(HEAD "[{\"material\": \"silk\"}]}", "silk");
    expect_scene_refused(HEAD "[{\"mesh\": \"no.obj\"}]}", "no.obj");
    expect_scene_refused("{\"name\": \"flat\", \"solver\": {\"dimensions\": 2}, \"cloths\": [{}]}",
                         "expected none in 2D");
    static const char fin[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n";
    fixture_write("fin.obj", fin, strlen(fin));
    expect_scene_refused(HEAD "[{\"mesh\": \"fin.obj\"}]}", "1 edges with more than two triangles");
}

// A state continues to the bit, with any number of threads, and does not fit a scene with another cloth.
static void states_of_scenes_resume(void **state)
{
    const char *backend = ((const TestBackend *)*state)->options.backend;
    static const char json[] = HEAD "[{" GRID ", \"pins\": \"top_left, top_right\", \"rotation\": [-90, 0, 0], "
                                    "\"bend_compliance\": 0.01}]}";
    Running running = fixture_start(json, backend);
    fixture_advance(&running, 12);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("cloth.state")));
    fixture_advance(&running, 12);
    const uint64_t hash = fixture_hash(&running);
    Running resumed = fixture_start(json, backend);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("cloth.state")));
    fixture_advance(&resumed, 12);
    assert_true(fixture_hash(&resumed) == hash);
    fixture_stop(&resumed);
    fixture_stop(&running);
    Running other = fixture_start(HEAD "[{\"columns\": 9, \"rows\": 8}]}", backend);
    expect_error(mote_simulation_load(other.simulation, fixture_path("cloth.state")), MOTE_ERROR_INPUT, "scene");
    fixture_stop(&other);
}

static uint64_t hash_with_threads(uint32_t threads)
{
    const MoteSettings settings = cloth_settings();
    const TestBackend backend = {"cpu", {.backend = "cpu", .threads = threads}};
    MoteWorld *world = make_world(&backend, &settings);
    TestGrid *grid = malloc(sizeof *grid);
    assert_non_null(grid);
    for (uint32_t k = 0; k < 12; k++) { // enough of them that work is split
        make_grid(grid, 0.05f, 0.01f);
        for (uint32_t v = 0; v < VERTICES; v++) {
            grid->positions[v].z = 0.1f * (float)k;
        }
        grid->masses[0] = 0.0f;
        add_particles(world, grid, (MoteVec3){0, 0, 1}, MOTE_KIND_CLOTH);
        expect_ok(mote_world_add_cloth(world, &grid->cloth, NULL));
    }
    free(grid);
    run_steps(world, 20, 1.0f / 60.0f);
    const uint64_t hash = read_hash(world);
    mote_world_destroy(world);
    return hash;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const uint64_t hash = hash_with_threads(1);
    assert_true(hash_with_threads(2) == hash && hash_with_threads(5) == hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(tables_describe_the_mesh),      ON_CPU_AND_GPUS(links_are_those_of_the_mesh),
        ON_BACKEND(wrong_meshes_are_refused, "cpu", 0),  ON_EVERY_BACKEND(free_fall_keeps_momentum),
        cmocka_unit_test(pins_are_where_the_scene_says), cmocka_unit_test(mass_follows_from_area),
        cmocka_unit_test(stretched_cloth_shrinks),       cmocka_unit_test(wrong_sections_are_refused),
        ON_EVERY_BACKEND(states_of_scenes_resume),       cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
