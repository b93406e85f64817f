// SPDX-License-Identifier: MIT
// Hinges of cloth: angles, rest angles, creases, momentum, stiffness against beam theory, and the same bits however
// they are run.
#include "solid_fixture.h"

#include "base/vec.h"
#include "mote_cloth.h"
#include "simulation_fixture.h"

#define PI 3.14159265358979323846

static MoteSettings bending_settings(uint32_t small_steps)
{
    MoteSettings settings = solid_settings(0.02f);
    settings.sleep_speed = 0.0f;
    settings.max_displacement = 0.0f;
    settings.iterations = 10;
    settings.small_steps = small_steps;
    settings.gravity = (MoteVec3){0, 0, 0};
    return settings;
}

// ---- One hinge: two triangles of equal sides of 0.1 m, and the angle between them --------------------------

enum { CORNERS = 4 };

typedef struct Fold {
    MoteWorld *world;
    MoteParticleHandle handles[CORNERS];
} Fold;

// The corners of a fold of this angle (degrees); the edge is along y.
static void place_fold(double angle, MoteVec3 *out)
{
    const float h = 0.0866f, c = (float)cos(0.5 * angle * PI / 180.0), s = (float)sin(0.5 * angle * PI / 180.0);
    const MoteVec3 places[CORNERS] = {{-h * c, 0, -h * s}, {0, -0.05f, 0}, {0, 0.05f, 0}, {h * c, 0, -h * s}};
    memcpy(out, places, sizeof places);
}

static Fold make_fold(const TestBackend *backend, const MoteSettings *settings, const MoteCloth *law, double rest,
                      double start)
{
    static const uint32_t triangles[] = {0, 1, 2, 3, 2, 1};
    Fold fold = {.world = make_world(backend, settings)};
    MoteVec3 rests[CORNERS], places[CORNERS];
    uint32_t ids[CORNERS], first = 0;
    place_fold(rest, rests);
    place_fold(start, places);
    const MoteParticles particles = {
        .count = CORNERS, .positions = places, .mass = 0.01f, .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    expect_ok(mote_world_add_particles(fold.world, &particles, &first));
    for (uint32_t v = 0; v < CORNERS; v++) {
        ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(fold.world, ids, CORNERS, fold.handles));
    MoteCloth cloth = *law;
    cloth.vertex_count = CORNERS;
    cloth.triangle_count = 2;
    cloth.vertices = fold.handles;
    cloth.triangles = triangles;
    cloth.rest_positions = rests;
    cloth.bend_compliance = INFINITY;
    cloth.drag = cloth.lift = 0.0f;
    expect_ok(mote_world_add_cloth(fold.world, &cloth, NULL));
    return fold;
}

// Degrees, by the library's own arc tangent.
static double fold_angle(const Fold *fold)
{
    MoteParticleState p[CORNERS];
    expect_ok(mote_world_read_handles(fold->world, fold->handles, CORNERS, p));
    const DVec3 a = dvec3_from(p[0].position), from = dvec3_from(p[1].position), to = dvec3_from(p[2].position);
    const DVec3 b = dvec3_from(p[3].position), edge = dvec3_sub(to, from);
    const DVec3 first = dvec3_cross(dvec3_sub(from, a), dvec3_sub(to, a));
    const DVec3 second = dvec3_cross(dvec3_sub(to, b), dvec3_sub(from, b));
    return atan2(dvec3_dot(dvec3_cross(first, second), edge) / dvec3_length(edge), dvec3_dot(first, second)) * 180.0 /
           PI;
}

static MoteCloth hinge_law(float stiffness, float yield, float creep)
{
    MoteCloth cloth = mote_default_cloth();
    cloth.bend_stiffness = stiffness;
    cloth.crease_yield = (float)(yield * PI / 180.0);
    cloth.crease_creep = creep;
    return cloth;
}

// From any angle to any other one, the way round that does not pass 180 degrees off.
static void folds_go_to_their_rest(void **state)
{
    const double cases[][2] = {{0, 40},    {60, 60},     {60, 20},    {-60, 10},
                               {100, 170}, {-150, -100}, {22.5, -30}, {90, 135}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        MoteSettings settings = bending_settings(k % 2 == 0 ? 0 : 5);
        settings.damping = 8.0f;
        const MoteCloth law = hinge_law(0.2f, 0, 0);
        Fold fold = make_fold(*state, &settings, &law, cases[k][0], cases[k][1]);
        expect_near(fold_angle(&fold), cases[k][1], 0.01, "angle at the start");
        run_steps(fold.world, 90, 1.0f / 60.0f);
        expect_near(fold_angle(&fold), cases[k][0], 0.5, "angle at rest");
        assert_true(mote_world_watch(fold.world).gained <= 0.02 * mote_world_watch(fold.world).energy);
        mote_world_destroy(fold.world);
    }
}

// A fold that was opened less than the yield springs back; of one that was opened farther what is beyond stays.
static void creases_stay(void **state)
{
    const struct {
        double start, expected;
    } cases[] = {{20, 0}, {-20, 0}, {75, 45}, {-90, -60}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        MoteSettings settings = bending_settings(k % 2 == 0 ? 0 : 4);
        settings.damping = 8.0f;
        const MoteCloth law = hinge_law(0.2f, 30, 1e6f);
        Fold fold = make_fold(*state, &settings, &law, 0, cases[k].start);
        run_steps(fold.world, 90, 1.0f / 60.0f);
        expect_near(fold_angle(&fold), cases[k].expected, 0.5, "angle of the crease");
        mote_world_destroy(fold.world);
    }
}

// With pins, the rest creeps to the yield as exp(-creep t).
static void creases_creep(void **state)
{
    MoteSettings settings = bending_settings(0);
    settings.damping = 8.0f;
    const MoteCloth law = hinge_law(1e-9f, 30, 2.0f); // too soft to move
    Fold fold = make_fold(*state, &settings, &law, 0, 90);
    run_steps(fold.world, 50, 0.01f);
    float *rests = download_copy(fold.world, fold.world->view.hinge_rests, sizeof *rests);
    expect_near((double)rests[0] * 180.0 / PI, 60.0 * (1.0 - exp(-2.0 * 0.5)), 0.5, "rest angle");
    free(rests);
    mote_world_destroy(fold.world);
}

// ---- Strips ------------------------------------------------------------------------------------------------

enum { COLUMNS = 7, ROWS = 3, VERTICES = COLUMNS * ROWS, TRIANGLES = 2 * (COLUMNS - 1) * (ROWS - 1) };

typedef struct Strip {
    MoteVec3 positions[VERTICES];
    float masses[VERTICES];
    uint32_t triangles[3 * TRIANGLES], ids[VERTICES];
    MoteParticleHandle handles[VERTICES];
} Strip;

// In the x-z plane, `length` long, quads cut along alternating diagonals; the first two columns are pinned.
static void add_strip(MoteWorld *world, Strip *strip, float length, float mass, bool pinned, float stiffness)
{
    MoteVec3 velocities[VERTICES];
    const float step = length / (COLUMNS - 2);
    uint32_t corner = 0;
    for (uint32_t v = 0; v < VERTICES; v++) {
        strip->positions[v] = (MoteVec3){step * ((float)(v % COLUMNS) - 1.0f), 0.0f, step * (float)(v / COLUMNS)};
        const bool side = v / COLUMNS == 0 || v / COLUMNS == ROWS - 1, end = v % COLUMNS == COLUMNS - 1;
        velocities[v] =
            pinned ? (MoteVec3){0, 0, 0} : (MoteVec3){0.3f, 2.0f * sinf(1.7f * (float)v), 0.5f * cosf(2.3f * (float)v)};
        strip->masses[v] = pinned && v % COLUMNS < 2 ? 0.0f : mass * (side ? 0.5f : 1.0f) * (end ? 0.5f : 1.0f);
    }
    for (uint32_t row = 0; row + 1 < ROWS; row++) {
        for (uint32_t column = 0; column + 1 < COLUMNS; column++) {
            const uint32_t a = row * COLUMNS + column, b = a + COLUMNS, c = b + 1, d = a + 1;
            const uint32_t cuts[2][6] = {{a, b, c, a, c, d}, {a, b, d, b, c, d}};
            memcpy(strip->triangles + corner, cuts[(row + column) % 2], sizeof cuts[0]);
            corner += 6;
        }
    }
    const MoteParticles particles = {.count = VERTICES,
                                     .positions = strip->positions,
                                     .velocities = velocities,
                                     .masses = strip->masses,
                                     .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    uint32_t first = 0;
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t v = 0; v < VERTICES; v++) {
        strip->ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(world, strip->ids, VERTICES, strip->handles));
    MoteCloth cloth = hinge_law(stiffness, 0, 0);
    cloth.vertex_count = VERTICES;
    cloth.triangle_count = TRIANGLES;
    cloth.vertices = strip->handles;
    cloth.triangles = strip->triangles;
    cloth.bend_compliance = INFINITY;
    cloth.drag = cloth.lift = 0.0f;
    expect_ok(mote_world_add_cloth(world, &cloth, NULL));
}

static double sag(const TestBackend *backend, float stiffness)
{
    MoteSettings settings = bending_settings(20);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    settings.damping = 6.0f;
    MoteWorld *world = make_world(backend, &settings);
    Strip strip;
    const float length = 0.3f, step = length / (COLUMNS - 2);
    add_strip(world, &strip, length, 0.1f * step * step, true, stiffness); // 0.1 kg/m^2
    run_steps(world, 60, 1.0f / 60.0f);
    MoteParticleState states[VERTICES];
    expect_ok(mote_world_read_handles(world, strip.handles, VERTICES, states));
    mote_world_destroy(world);
    return -0.5 * (double)(states[COLUMNS - 1].position.y + states[VERTICES - 1].position.y);
}

// A strip that is clamped at one end sags by q L^4 / (8 D) at the other, and less the stiffer it is.
static void strips_sag_by_their_stiffness(void **state)
{
    const float stiffness[] = {0.005f, 0.01f, 0.02f, 0.05f};
    double before = INFINITY;
    for (int k = 0; k < 4; k++) {
        const double found = sag(*state, stiffness[k]);
        const double expected = 0.1 * 9.81 * pow(0.3, 4) / (8.0 * (double)stiffness[k]);
        assert_true(found < 0.95 * before);
        assert_true(k < 2 || (found > 0.9 * expected && found < 1.8 * expected)); // right triangles are softer
        before = found;
    }
}

// Crumpled cloth that unfolds in flight gains neither momentum nor spin from its hinges.
static void hinges_keep_momentum(void **state)
{
    const MoteSettings settings = bending_settings(0);
    MoteWorld *world = make_world(*state, &settings);
    Strip strip;
    add_strip(world, &strip, 0.3f, 0.001f, false, 0.01f);
    expect_ok(mote_world_record_forces(world, true));
    const MoteStatistics before = read_statistics(world);
    for (int step = 0; step < 20; step++) {
        run_steps(world, 1, 1.0f / 240.0f);
        float forces[4 * VERTICES];
        expect_ok(mote_world_read_forces(world, MOTE_FORCE_BENDING, forces));
        const MoteParticleView view = read_view(world);
        double size = 0.0;
        DVec3 sum = dvec3(0, 0, 0), moment = sum;
        for (uint32_t i = 0; i < VERTICES; i++) {
            const float *p = view.positions + 4 * (size_t)i, *f = forces + 4 * (size_t)i;
            const DVec3 force = dvec3((double)f[0], (double)f[1], (double)f[2]);
            sum = dvec3_add(sum, force);
            moment = dvec3_add(moment, dvec3_cross(dvec3((double)p[0], (double)p[1], (double)p[2]), force));
            size += dvec3_length(force);
        }
        assert_true(size > 0.01);
        assert_true(dvec3_length(sum) < 1e-3 * size + 2e-5);
        assert_true(dvec3_length(moment) < 5e-3 * 0.3 * size);
    }
    const MoteStatistics after = read_statistics(world);
    for (int axis = 0; axis < 3; axis++) {
        expect_near(after.momentum[axis], before.momentum[axis], 1e-4, "momentum");
    }
    mote_world_destroy(world);
}

// ---- What is refused, scenes, the same bits ----------------------------------------------------------------

static void wrong_numbers_are_refused(void **state)
{
    const MoteSettings settings = bending_settings(0);
    MoteWorld *world = make_world(*state, &settings);
    Strip strip;
    add_strip(world, &strip, 0.3f, 0.001f, false, 0.0f);
    assert_int_equal(world->view.hinge_count, 0);
    MoteCloth cloth = hinge_law(-1.0f, 0, 0);
    MoteParticleHandle handles[3];
    const MoteVec3 places[3] = {{0, 1, 0}, {1, 1, 0}, {0, 2, 0}};
    const uint32_t triangle[] = {0, 1, 2};
    uint32_t ids[3], first = 0;
    const MoteParticles particles = {
        .count = 3, .positions = places, .mass = 1.0f, .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t v = 0; v < 3; v++) {
        ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(world, ids, 3, handles));
    cloth.vertex_count = 3;
    cloth.triangle_count = 1;
    cloth.vertices = handles;
    cloth.triangles = triangle;
    expect_error(mote_world_add_cloth(world, &cloth, NULL), MOTE_ERROR_INPUT, "bend stiffness -1 N m");
    cloth.bend_stiffness = 1.0f;
    cloth.crease_yield = NAN;
    expect_error(mote_world_add_cloth(world, &cloth, NULL), MOTE_ERROR_INPUT, "crease yield");
    assert_int_equal(mote_world_cloth_count(world), 1);
    mote_world_destroy(world);
}

static void scenes_resume(void **state)
{
    const char *backend = ((const TestBackend *)*state)->options.backend;
    static const char json[] =
        "{\"name\": \"card\", \"solver\": {\"spacing\": 0.03, \"small_steps\": 4, \"substeps\": 1}, \"colliders\": "
        "[{\"shape\": \"plane\"}, {\"shape\": \"box\", \"size\": [0.05, 0.2, 1], \"position\": [0, 0.1, 0]}], "
        "\"cloths\": "
        "[{\"columns\": 5, \"rows\": 5, \"size\": [0.3, 0.3, 0], \"position\": [2, 1, 0]}, {\"columns\": 13, \"rows\": "
        "7, "
        "\"size\": [0.6, 0.3, 0], \"position\": [0, 0.3, 0], \"rotation\": [-90, 0, 0], \"bend_model\": \"hinges\", "
        "\"bend_stiffness\": 0.001, \"crease_yield\": 5}]}";
    Running running = fixture_start(json, backend);
    fixture_advance(&running, 30);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("card.state")));
    fixture_advance(&running, 15);
    const uint64_t hash = fixture_hash(&running);
    const uint32_t count = running.world->view.hinge_count;
    assert_int_equal(count, 3 * (2 * 12 * 6) - (2 * 12 * 6 + 13 * 7 - 1)); // edges with two triangles
    float *rests = download_copy(running.world, running.world->view.hinge_rests, count * sizeof *rests);
    double most = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        most = fmax(most, fabs((double)rests[k]));
    }
    free(rests);
    assert_true(most > 0.02); // it has creased
    Running resumed = fixture_start(json, backend);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("card.state")));
    fixture_advance(&resumed, 15);
    assert_true(fixture_hash(&resumed) == hash);
    fixture_stop(&resumed);
    fixture_stop(&running);
}

static uint64_t run_strips(const TestBackend *backend)
{
    MoteSettings settings = bending_settings(3);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(backend, &settings);
    Strip strip;
    add_strip(world, &strip, 0.3f, 0.001f, true, 0.002f);
    add_strip(world, &strip, 0.2f, 0.001f, false, 0.01f);
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, 20, NULL));
    const uint64_t hash = read_hash(world);
    mote_world_destroy(world);
    return hash;
}

static void backends_and_threads_agree(void **state)
{
    (void)state;
    const TestBackend single = {"portable cpu", {.backend = "cpu", .threads = 1, .portable = true}};
    const uint64_t hash = run_strips(&single);
    assert_true(run_strips(&test_backends[1]) == hash);
    assert_true(run_strips(&test_backends[2]) == hash);
    assert_int_equal(keep_vulkan(&test_backends[3].options), 0);
    assert_true(vulkan_may_differ(3) || run_strips(&test_backends[3]) == hash);
    const TestBackend threads[] = {{"cpu", {.backend = "cpu", .threads = 1}},
                                   {"cpu", {.backend = "cpu", .threads = 5}}};
    assert_true(run_strips(&threads[0]) == run_strips(&threads[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_GPUS(folds_go_to_their_rest), ON_CPU_AND_CUDA(creases_stay),
        ON_CPU_AND_GPUS(creases_creep),          ON_CPU_AND_CUDA(strips_sag_by_their_stiffness),
        ON_CPU_AND_CUDA(hinges_keep_momentum),   ON_BACKEND(wrong_numbers_are_refused, "cpu", 0),
        ON_CPU_AND_GPUS(scenes_resume),          cmocka_unit_test(backends_and_threads_agree),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
