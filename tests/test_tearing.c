// SPDX-License-Identifier: MIT
// Cloth that tears: after every split the mesh is manifold and has the Euler characteristic of its pieces, mass and
// momentum are what they were, links follow the mesh; results do not depend on threads and backends; states continue.
#include "solid_fixture.h"

#include "simulation_fixture.h"
#include "tearing_fixture.h"

// ---- Splits ------------------------------------------------------------------------------------------------

// A sheet that is three times as large as at rest, whose links hardly pull: each step splits one vertex more, until no
// edge can be torn.
typedef struct Shreds {
    uint32_t splits, steps;
} Shreds;

static Shreds tear_to_shreds(MoteWorld *world, Sheet *sheet, uint32_t bound, uint32_t most, bool links)
{
    for (uint32_t v = 0; v < sheet->vertices; v++) {
        sheet->rests[v] = (MoteVec3){sheet->positions[v].x / 3.0f, sheet->positions[v].y / 3.0f, 0.0f};
        sheet->velocities[v] = (MoteVec3){0.05f * sheet->positions[v].y, 0.05f, 0.0f};
        sheet->masses[v] = 0.01f + 0.001f * (float)(v % 7);
    }
    sheet->cloth.stretch_compliance = sheet->cloth.shear_compliance = sheet->cloth.bend_compliance = 1e4f;
    sheet->cloth.tear_stretch = 1.5f;
    sheet->cloth.tear_splits = bound;
    sheet->cloth.tear_room = 3 * sheet->triangles;
    add_sheet(world, sheet);
    const MoteStatistics begun = read_statistics(world);
    MoteStatistics last = begun;
    Shreds shreds = {0};
    for (uint32_t before = UINT32_MAX; before != shreds.splits && shreds.splits < most; shreds.steps++) {
        before = shreds.splits;
        expect_ok(mote_world_step(world, 1e-2f));
        const MoteClothInfo info = check_cloth(world, links);
        shreds.splits = info.splits;
        assert_true(shreds.splits - before <= bound + 2 || before == UINT32_MAX);
        assert_int_equal(info.splits_refused, 0);
        const MoteStatistics now = read_statistics(world);
        assert_true(fabs(now.mass / begun.mass - 1.0) < 1e-5);
        for (int axis = 0; axis < 2; axis++) { // velocities are differences of rounded positions
            assert_true(fabs(now.momentum[axis] - last.momentum[axis]) < 1e-5 * begun.mass);
        }
        last = now;
    }
    return shreds;
}

// MOTE_MANY_SPLITS in the environment: 10,000 of them, one a step.
static void every_split_leaves_a_manifold(void **state)
{
    const bool many = getenv("MOTE_MANY_SPLITS") != NULL;
    const MoteSettings settings = sheet_settings();
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = make_sheet(many ? 62 : 14, many ? 60 : 11, 0.05f);
    const Shreds shreds = tear_to_shreds(world, &sheet, 1, UINT32_MAX, true);
    if (many) {
        printf("%u splits in %u steps\n", shreds.splits, shreds.steps);
    }
    assert_true(shreds.splits > (many ? 10000 : 400));
    assert_true(shreds.steps > shreds.splits / 3);
    free_sheet(&sheet);
    mote_world_destroy(world);
}

// Without a bound, all vertices that share no neighbour are split in one step.
static void steps_of_many_splits_leave_a_manifold(void **state)
{
    const MoteSettings settings = sheet_settings();
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = make_sheet(40, 33, 0.05f);
    const Shreds shreds = tear_to_shreds(world, &sheet, 10000, UINT32_MAX, true);
    assert_true(shreds.splits > 3000);
    assert_true(shreds.steps < 100);
    free_sheet(&sheet);
    mote_world_destroy(world);
}

// A closed mesh that is no grid: an octahedron, each face cut into sixteen.
static Sheet make_ball(void)
{
    Sheet s = make_sheet(2, 2, 1.0f);
    free_sheet(&s);
    enum { N = 4, SIDE = N + 1 };
    s.vertices = s.triangles = 0;
    s.positions = calloc(8 * SIDE * SIDE, sizeof *s.positions);
    s.corners = calloc(8 * 3 * N * N, sizeof *s.corners);
    for (uint32_t face = 0; face < 8; face++) {
        uint32_t rows[SIDE][SIDE];
        for (uint32_t i = 0; i <= N; i++) {
            for (uint32_t k = 0; i + k <= N; k++) {
                const float x = (float)i, y = (float)k, z = (float)(N - i - k);
                const MoteVec3 p = {face & 1 ? -x : x, face & 2 ? -y : y, face & 4 ? -z : z};
                uint32_t v = 0;
                while (v < s.vertices && memcmp(&s.positions[v], &p, sizeof p) != 0 &&
                       !(s.positions[v].x == p.x && s.positions[v].y == p.y && s.positions[v].z == p.z)) {
                    v++;
                }
                s.positions[v] = p;
                s.vertices += v == s.vertices;
                rows[i][k] = v;
            }
        }
        const bool flip = ((face & 1) + (face >> 1 & 1) + (face >> 2)) % 2 != 0;
        for (uint32_t i = 0; i < N; i++) {
            for (uint32_t k = 0; i + k < N; k++) {
                for (uint32_t half = 0; half < (i + k + 1 < N ? 2u : 1u); half++) {
                    const uint32_t a = half == 0 ? rows[i][k] : rows[i + 1][k + 1];
                    const uint32_t b = rows[i + 1][k], c = rows[i][k + 1];
                    const uint32_t turned[] = {a, (half == 1) == flip ? b : c, (half == 1) == flip ? c : b};
                    memcpy(s.corners + 3 * (size_t)s.triangles++, turned, sizeof turned);
                }
            }
        }
    }
    s.velocities = calloc(s.vertices, sizeof *s.velocities);
    s.rests = calloc(s.vertices, sizeof *s.rests);
    s.masses = calloc(s.vertices, sizeof *s.masses);
    s.handles = calloc(s.vertices, sizeof *s.handles);
    s.cloth = mote_default_cloth();
    s.cloth.vertex_count = s.vertices;
    s.cloth.triangle_count = s.triangles;
    s.cloth.triangles = s.corners;
    s.cloth.vertices = s.handles;
    s.cloth.rest_positions = s.rests;
    s.cloth.drag = s.cloth.lift = 0.0f;
    return s;
}

static void closed_meshes_tear(void **state)
{
    const MoteSettings settings = sheet_settings();
    MoteWorld *world = make_world(*state, &settings);
    Sheet ball = make_ball();
    assert_int_equal(ball.vertices, 66);
    assert_int_equal(ball.triangles, 128);
    for (uint32_t v = 0; v < ball.vertices; v++) {
        const MoteVec3 p = ball.positions[v];
        const float scale = 1.0f / sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
        ball.positions[v] = (MoteVec3){p.x * scale, p.y * scale, p.z * scale};
    }
    assert_int_equal(check_mesh(ball.corners, ball.triangles, ball.vertices).borders, 0);
    for (uint32_t v = 0; v < ball.vertices; v++) {
        const MoteVec3 p = ball.positions[v];
        ball.rests[v] = (MoteVec3){p.x / 3.0f, p.y / 3.0f, p.z / 3.0f};
        ball.masses[v] = 0.01f;
    }
    ball.cloth.stretch_compliance = ball.cloth.bend_compliance = 1e4f;
    ball.cloth.tear_stretch = 1.5f;
    ball.cloth.tear_splits = 1;
    ball.cloth.tear_room = 3 * ball.triangles;
    add_sheet(world, &ball);
    uint32_t splits = 0;
    for (uint32_t step = 0; step < 300; step++) {
        expect_ok(mote_world_step(world, 1e-4f));
        splits = check_cloth(world, true).splits;
    }
    assert_true(splits > 150);
    free_sheet(&ball);
    mote_world_destroy(world);
}

// ---- Cuts --------------------------------------------------------------------------------------------------

// A sheet that is held at all columns but the middle one, and pulled apart there: each vertex of that is split once,
// and either half springs back to its rest length.
static void tears_across_the_pull(void **state)
{
    MoteSettings settings = sheet_settings();
    settings.damping = 10.0f;
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = make_sheet(9, 7, 0.05f);
    for (uint32_t v = 0; v < sheet.vertices; v++) {
        sheet.masses[v] = v % 9 == 4 ? 0.01f : 0.0f;
        sheet.positions[v].x += v % 9 < 4 ? 0.0f : v % 9 == 4 ? 0.03f : 0.06f;
    }
    sheet.cloth.tear_stretch = 1.5f;
    add_sheet(world, &sheet);
    MoteParticleHandle *handles;
    uint32_t *corners;
    run_steps(world, 60, 1.0f / 60.0f);
    const MoteClothInfo info = read_mesh(world, &handles, &corners);
    assert_int_equal(check_mesh(corners, info.triangles, info.vertices).pieces, 2);
    assert_int_equal(info.splits, 7);
    MoteParticleState *states = malloc(info.vertices * sizeof *states);
    expect_ok(mote_world_read_handles(world, handles, info.vertices, states));
    uint32_t left = 0, right = 0;
    for (uint32_t v = 0; v < info.vertices; v++) {
        const MoteVec3 p = states[v].position;
        left += fabsf(p.x - 0.2f) < 1e-3f;
        right += fabsf(p.x - 0.26f) < 1e-3f;
        assert_true(fabsf(remainderf(p.y, 0.05f)) < 1e-3f);
    }
    assert_int_equal(left, 7);
    assert_int_equal(right, 7);
    free(states);
    free(handles);
    free(corners);
    free_sheet(&sheet);
    mote_world_destroy(world);
}

// Room for ten splits: the others are refused and counted, and the mesh stays whole.
static void a_lack_of_room_is_reported(void **state)
{
    const MoteSettings settings = sheet_settings();
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = make_sheet(14, 11, 0.05f);
    for (uint32_t v = 0; v < sheet.vertices; v++) {
        sheet.rests[v] = (MoteVec3){sheet.positions[v].x / 3.0f, sheet.positions[v].y / 3.0f, 0.0f};
    }
    sheet.cloth.stretch_compliance = sheet.cloth.shear_compliance = sheet.cloth.bend_compliance = 1e4f;
    sheet.cloth.tear_stretch = 1.5f;
    sheet.cloth.tear_room = 10;
    add_sheet(world, &sheet);
    run_steps(world, 8, 1e-4f);
    const MoteClothInfo info = check_cloth(world, true);
    assert_int_equal(info.split_room, 10);
    assert_true(info.splits >= 8 && info.splits <= 10);
    assert_true(info.splits_refused > 20);
    assert_int_equal(info.vertices, sheet.vertices + info.splits);
    free_sheet(&sheet);
    mote_world_destroy(world);
}

static void refuses_bad_numbers(void **state)
{
    const MoteSettings settings = sheet_settings();
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = make_sheet(4, 4, 0.05f);
    add_sheet_particles(world, &sheet);
    sheet.cloth.tear_stretch = 0.5f;
    assert_int_equal(mote_world_add_cloth(world, &sheet.cloth, NULL), MOTE_ERROR_INPUT);
    assert_string_equal(mote_error_message(),
                        "the cloth tears at a stretch of 0.5, expected more than 1, or 0 for never");
    sheet.cloth.tear_stretch = 1.5f;
    sheet.cloth.tear_variation = 1.5f;
    assert_int_equal(mote_world_add_cloth(world, &sheet.cloth, NULL), MOTE_ERROR_INPUT);
    assert_string_equal(mote_error_message(), "the cloth's tearing varies by 1.5, expected 0 to 1");
    sheet.cloth.tear_variation = 0.0f;
    sheet.cloth.tear_room = 3 * sheet.triangles + 1;
    assert_int_equal(mote_world_add_cloth(world, &sheet.cloth, NULL), MOTE_ERROR_INPUT);
    assert_string_equal(mote_error_message(),
                        "the cloth has room for 55 splits, expected at most 54, the corners of its triangles");
    assert_int_equal(mote_world_cloth_count(world), 0);
    free_sheet(&sheet);

    Sheet bow = make_sheet(3, 2, 0.05f); // two triangles that touch at a vertex alone
    bow.cloth.columns = bow.cloth.rows = 0;
    bow.cloth.triangle_count = bow.triangles = 2;
    bow.cloth.vertex_count = bow.vertices = 5;
    memcpy(bow.corners, (uint32_t[]){0, 3, 1, 1, 4, 2}, 6 * sizeof *bow.corners);
    add_sheet_particles(world, &bow);
    expect_ok(mote_world_add_cloth(world, &bow.cloth, NULL)); // which is fine as long as it does not tear
    free_sheet(&bow);
    bow = make_sheet(3, 2, 0.05f);
    bow.cloth.columns = bow.cloth.rows = 0;
    bow.cloth.triangle_count = 2;
    bow.cloth.vertex_count = bow.vertices = 5;
    memcpy(bow.corners, (uint32_t[]){0, 3, 1, 1, 4, 2}, 6 * sizeof *bow.corners);
    add_sheet_particles(world, &bow);
    bow.cloth.tear_stretch = 1.5f;
    assert_int_equal(mote_world_add_cloth(world, &bow.cloth, NULL), MOTE_ERROR_INPUT);
    assert_string_equal(mote_error_message(),
                        "the triangles around vertex 1 of the cloth do not hang together by edges, "
                        "expected a manifold mesh, as it tears");
    free_sheet(&bow);
    mote_world_destroy(world);
}

// Tethers of a piece that is cut off go, a few rings a step; those of what still hangs stay.
static void cut_tethers_let_go(void **state)
{
    MoteSettings settings = sheet_settings();
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = make_sheet(6, 14, 0.05f);
    for (uint32_t v = 0; v < sheet.vertices; v++) {
        sheet.masses[v] = v < 6 ? 0.0f : 0.01f;
        const float row = (float)(v / 6); // so near to the pins that no tether is taut, and far apart in the middle
        sheet.positions[v].y = -0.02f * row - (v / 6 >= 7 ? 0.1f : 0.0f);
    }
    sheet.cloth.tear_stretch = 1.8f;
    sheet.cloth.tethers = 2;
    sheet.cloth.tear_room = 3 * sheet.triangles;
    sheet.cloth.stretch_compliance = sheet.cloth.shear_compliance = sheet.cloth.bend_compliance = 1e-2f;
    add_sheet(world, &sheet);
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(world, 0, &info));
    assert_true(info.tethers > 140);
    run_steps(world, 16, 1e-4f); // in which nothing moves
    run_steps(world, 60, 1.0f / 120.0f);
    expect_ok(mote_world_cloth_info(world, 0, &info));
    assert_true(info.splits >= 6);
    MoteParticleState ends[2];
    expect_ok(
        mote_world_read_handles(world, (MoteParticleHandle[]){sheet.handles[3 * 6], sheet.handles[13 * 6]}, 2, ends));
    assert_true(ends[0].position.y > -0.3f); // hangs
    assert_true(ends[1].position.y < -1.2f); // fell by 1.2 m, less what held it for a few steps
    free_sheet(&sheet);
    mote_world_destroy(world);
}

// ---- Equal results -----------------------------------------------------------------------------------------

// A sheet that hangs from its top, falls apart under its weight and lies on itself on the ground.
static MoteWorld *falling_world(const TestBackend *backend, MoteLinkSolver solver, float tear_stretch)
{
    MoteSettings settings = sheet_settings();
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    settings.small_steps = solver == MOTE_LINKS_GAUSS_SEIDEL ? 5 : 0;
    settings.link_solver = solver;
    MoteWorld *world = make_world(backend, &settings);
    const MoteCollider ground = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, -0.75f, 0}, weightless, 0.0f);
    expect_ok(mote_world_set_colliders(world, &ground, 1));
    Sheet sheet = make_sheet(16, 16, 0.04f);
    for (uint32_t v = 0; v < sheet.vertices; v++) {
        sheet.masses[v] = v < 16 ? 0.0f : 0.01f;
        sheet.positions[v].z = 0.01f * sinf(0.7f * (float)v);
        sheet.velocities[v] =
            (MoteVec3){v >= 16 ? 2.5f * ((float)(v % 16) - 7.0f) : 0.0f, v >= 16 ? -3.0f : 0.0f, 0.3f};
        sheet.velocities[v] = v < 16 ? weightless : sheet.velocities[v];
    }
    sheet.cloth.tear_stretch = tear_stretch;
    sheet.cloth.tear_variation = 0.4f;
    sheet.cloth.tethers = 1;
    sheet.cloth.thickness = 0.03f;
    sheet.cloth.drag = 1.2f;
    sheet.cloth.lift = 0.6f;
    add_sheet(world, &sheet);
    free_sheet(&sheet);
    return world;
}

static uint64_t hash_after(const TestBackend *backend, MoteLinkSolver solver, uint32_t steps, uint32_t *splits)
{
    MoteWorld *world = falling_world(backend, solver, 1.3f);
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, steps, NULL)); // in batches, which speculate
    const uint64_t hash = read_hash(world);
    *splits = check_cloth(world, true).splits;
    mote_world_destroy(world);
    return hash;
}

static void threads_and_backends_agree(void **state)
{
    (void)state;
    assert_int_equal(set_up_backend((void *[]){(void *)(uintptr_t)&test_backends[3]}), 0);
    static const MoteLinkSolver solvers[] = {MOTE_LINKS_GAUSS_SEIDEL, MOTE_LINKS_JACOBI, MOTE_LINKS_IMPROVED_JACOBI};
    for (uint32_t s = 0; s < 3; s++) {
        for (uint32_t portable = 0; portable < 2; portable++) {
            uint64_t first = 0;
            uint32_t first_splits = 0, splits = 0;
            for (uint32_t threads = 1; threads <= 3; threads++) {
                const TestBackend cpu = {"cpu", {.backend = "cpu", .threads = threads, .portable = portable == 1}};
                const uint64_t hash = hash_after(&cpu, solvers[s], 25, &splits);
                first = threads == 1 ? hash : first;
                first_splits = threads == 1 ? splits : first_splits;
                assert_true(hash == first);
                assert_int_equal(splits, first_splits);
            }
            assert_true(first_splits > 10);
            for (uint32_t b = 2; b < 4 && portable == 1 && s < 2 && (b == 2 || !vulkan_may_differ(3)); b++) {
                assert_true(hash_after(&test_backends[b], solvers[s], 25, &splits) == first);
            }
        }
    }
}

// Restored into a new world and into the one that went on, in the middle of tearing.
static void snapshots_continue(void **state)
{
    MoteWorld *world = falling_world(*state, MOTE_LINKS_GAUSS_SEIDEL, 1.3f);
    run_steps(world, 2, 1.0f / 60.0f);
    const uint32_t begun = check_cloth(world, true).splits;
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    run_steps(world, 12, 1.0f / 60.0f);
    const uint64_t expected = read_hash(world);
    const uint32_t ended = check_cloth(world, true).splits;
    assert_true(begun > 0 && ended > begun);
    MoteWorld *other = falling_world(*state, MOTE_LINKS_GAUSS_SEIDEL, 1.3f);
    MoteWorld *const worlds[] = {world, other};
    for (uint32_t w = 0; w < 2; w++) {
        expect_ok(world_snapshot_restore(worlds[w], &snapshot));
        assert_int_equal(check_cloth(worlds[w], true).splits, begun);
        run_steps(worlds[w], 12, 1.0f / 60.0f);
        assert_true(read_hash(worlds[w]) == expected);
        assert_int_equal(check_cloth(worlds[w], true).splits, ended);
    }
    snapshot.arrays[SAVED_tear_counts].words[TEAR_USED] = 1000000;
    assert_int_equal(world_snapshot_restore(world, &snapshot), MOTE_ERROR_INPUT);
    world_snapshot_free(&snapshot);
    mote_world_destroy(world);
    mote_world_destroy(other);
}

// Springs that are added to a torn cloth order all links anew; the mesh and its links stay as torn.
static void torn_cloth_takes_more_springs(void **state)
{
    MoteWorld *world = falling_world(*state, MOTE_LINKS_GAUSS_SEIDEL, 1.3f);
    run_steps(world, 15, 1.0f / 60.0f);
    MoteParticleHandle *handles;
    uint32_t *corners;
    const MoteClothInfo info = read_mesh(world, &handles, &corners);
    assert_true(info.splits > 0);
    MoteSpring spring = mote_default_spring();
    spring.ends[0] = handles[40];
    spring.ends[1] = handles[info.vertices - 1]; // a copy
    expect_ok(mote_world_add_springs(world, &spring, 1, NULL));
    MoteParticleHandle *handles_then;
    uint32_t *corners_then;
    const MoteClothInfo then = read_mesh(world, &handles_then, &corners_then);
    assert_int_equal(then.splits, info.splits);
    assert_memory_equal(corners, corners_then, 3 * (size_t)info.triangles * sizeof *corners);
    uint32_t broken = 0;
    MoteSpringState *states = malloc((world->view.link_count) * sizeof *states);
    expect_ok(mote_world_read_springs(world, states, world->view.link_count));
    for (uint32_t l = 0; l < info.stretch_springs + info.shear_springs + info.bend_springs; l++) {
        broken += states[info.first_spring + l].broken;
    }
    assert_true(broken > 0);
    assert_false(states[world->view.link_count - 1].broken);
    run_steps(world, 5, 1.0f / 60.0f);
    free(states);
    free(handles);
    free(handles_then);
    free(corners);
    free(corners_then);
    mote_world_destroy(world);
}

// Cloth that could tear, but does not, moves as cloth that cannot: the same to the bit but for contacts of its own,
// which take another way, so that it has none here.
static void cloth_that_does_not_tear_moves_as_before(void **state)
{
    uint64_t hashes[2];
    for (uint32_t tears = 0; tears < 2; tears++) {
        MoteSettings settings = sheet_settings();
        settings.gravity = (MoteVec3){0, -9.81f, 0};
        MoteWorld *world = make_world(*state, &settings);
        Sheet sheet = make_sheet(12, 9, 0.05f);
        sheet.masses[0] = sheet.masses[11] = 0.0f;
        sheet.cloth.tear_stretch = tears == 1 ? 100.0f : 0.0f;
        sheet.cloth.thickness = 0.019f;
        add_sheet(world, &sheet);
        free_sheet(&sheet);
        assert_int_equal(world->view.tears, tears);
        assert_true(tears == 1 || world->view.cloth_roots == NULL);
        run_steps(world, 10, 1.0f / 60.0f);
        hashes[tears] = read_hash(world);
        mote_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

// ---- Scenes ------------------------------------------------------------------------------------------------

static const char torn_scene[] = "{ \"solver\": { \"spacing\": 0.03, \"small_steps\": 6, \"max_displacement\": 0 },"
                                 "  \"cloths\": [ { \"columns\": 14, \"rows\": 14, \"size\": [0.5, 0.5, 0], "
                                 "\"position\": [0, 0.6, 0], \"rotation\": [-90, 0, 0],"
                                 "    \"pins\": \"left, right\", \"tear_stretch\": 1.15 } ],"
                                 "  \"colliders\": [ { \"shape\": \"sphere\", \"radius\": 0.1,"
                                 "    \"position\": { \"keyframes\": [[0, [0, 0.75, 0]], [0.4, [0, 0.2, 0]]] } } ] }";

static void saved_states_continue(void **state)
{
    (void)state;
    fixture_write("torn.json", torn_scene, sizeof torn_scene - 1);
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL, *resumed = NULL;
    const MoteBackendOptions options = {.backend = "cpu", .threads = 2};
    expect_ok(mote_scene_load(fixture_path("torn.json"), NULL, 0, &scene));
    expect_ok(mote_simulation_create(scene, &options, &simulation));
    uint64_t hashes[2];
    MoteClothInfo infos[2], begun;
    for (uint32_t frame = 0; frame < 9; frame++) {
        expect_ok(mote_simulation_advance_frame(simulation));
    }
    expect_ok(mote_world_cloth_info(mote_simulation_world(simulation), 0, &begun));
    expect_ok(mote_simulation_save(simulation, fixture_path("torn.state")));
    expect_ok(mote_simulation_create(scene, &options, &resumed));
    expect_ok(mote_simulation_load(resumed, fixture_path("torn.state")));
    MoteSimulation *const both[] = {simulation, resumed};
    for (uint32_t s = 0; s < 2; s++) {
        for (uint32_t frame = 0; frame < 14; frame++) {
            expect_ok(mote_simulation_advance_frame(both[s]));
        }
        hashes[s] = read_hash(mote_simulation_world(both[s]));
        expect_ok(mote_world_cloth_info(mote_simulation_world(both[s]), 0, &infos[s]));
        mote_simulation_destroy(both[s]);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(begun.splits > 0 && infos[0].splits > begun.splits);
    assert_int_equal(infos[0].splits, infos[1].splits);
    mote_scene_destroy(scene);
}

static void scenes_refuse_a_stretch_below_one(void **state)
{
    (void)state;
    static const char text[] = "{ \"cloths\": [ { \"tear_stretch\": 0.9 } ] }";
    fixture_write("bad.json", text, sizeof text - 1);
    MoteScene *scene = NULL;
    assert_int_equal(mote_scene_load(fixture_path("bad.json"), NULL, 0, &scene), MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), "tear_stretch"));
    assert_non_null(strstr(mote_error_message(), "expected more than 1, or 0 for cloth that never tears"));
}

int main(void)
{
    static const char *const long_tests[] = {"threads_and_backends_agree", "steps_of_many_splits_leave_a_manifold",
                                             NULL};
    const struct CMUnitTest tests[] = {
        ON_BACKEND(every_split_leaves_a_manifold, "cpu", 0),
        ON_BACKEND(steps_of_many_splits_leave_a_manifold, "cpu", 0),
        ON_BACKEND(steps_of_many_splits_leave_a_manifold, "portable cpu", 1),
        ON_BACKEND(closed_meshes_tear, "cpu", 0),
        ON_EVERY_BACKEND(tears_across_the_pull),
        ON_EVERY_BACKEND(a_lack_of_room_is_reported),
        ON_BACKEND(refuses_bad_numbers, "cpu", 0),
        ON_EVERY_BACKEND(cut_tethers_let_go),
        cmocka_unit_test(threads_and_backends_agree),
        ON_CPU_AND_GPUS(snapshots_continue),
        ON_CPU_AND_CUDA(torn_cloth_takes_more_springs),
        ON_CPU_AND_CUDA(cloth_that_does_not_tear_moves_as_before),
        cmocka_unit_test(saved_states_continue),
        cmocka_unit_test(scenes_refuse_a_stretch_below_one),
    };
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
