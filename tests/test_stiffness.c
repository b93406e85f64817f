// SPDX-License-Identifier: MIT
// Stiffness that changes while a world runs: velocities do not jump, the new stiffness is reached, keyframes of scenes,
// states, what is refused, and the same bits on all backends.
#include "solid_fixture.h"

#include "simulation_fixture.h"
#include "tearing_fixture.h"

static const MoteVec3 down = {0, -9.81f, 0};

static MoteSettings stiff_settings(MoteLinkSolver solver)
{
    MoteSettings settings = sheet_settings();
    settings.gravity = down;
    settings.link_solver = solver;
    settings.small_steps = solver == MOTE_LINKS_GAUSS_SEIDEL ? 6 : 0;
    settings.iterations = 20;
    return settings;
}

// ---- A weight on a spring ----------------------------------------------------------------------------------

static MoteSpringState spring_of(MoteWorld *world)
{
    MoteSpringState state;
    expect_ok(mote_world_read_springs(world, &state, 1));
    return state;
}

static void hang_weight(MoteWorld *world, float stiffness, bool slack, float height)
{
    const MoteVec3 places[] = {{0, 2, 0}, {0, height, 0}};
    const float masses[] = {0.0f, 2.0f};
    uint32_t first = 0;
    const MoteParticles two = {
        .count = 2, .positions = places, .masses = masses, .phase = MOTE_PHASE(MOTE_KIND_BODY, 0)};
    expect_ok(mote_world_add_particles(world, &two, &first));
    const uint32_t ids[] = {first, first + 1};
    MoteSpring spring = mote_default_spring();
    expect_ok(mote_world_make_handles(world, ids, 2, spring.ends));
    spring.stiffness = stiffness;
    spring.rest_length = 1.0f;
    spring.damping = 20.0f;
    spring.slack = slack;
    expect_ok(mote_world_add_springs(world, &spring, 1, NULL));
}

// The weight hangs still when the spring becomes ten times stiffer or softer: its tension stays, and it goes to its new
// place within a second, no faster than it must.
static void a_weight_goes_to_its_new_place(void **state)
{
    for (uint32_t k = 0; k < 4; k++) {
        const MoteSettings settings = stiff_settings(k < 2 ? MOTE_LINKS_GAUSS_SEIDEL : MOTE_LINKS_JACOBI);
        MoteWorld *world = make_world(*state, &settings);
        const float from = k % 2 == 0 ? 200.0f : 2000.0f, to = k % 2 == 0 ? 2000.0f : 200.0f;
        const double load = 2.0 * 9.81, way = load / 200.0 - load / 2000.0;
        hang_weight(world, from, false, 1.0f);
        expect_ok(mote_world_steps(world, 1.0f / 60.0f, 300, NULL));
        expect_near((double)spring_of(world).length, 1.0 + load / (double)from, 1e-4, "length before");
        expect_ok(mote_world_set_spring_stiffness(world, 0, 1, to));
        run_steps(world, 1, 1.0f / 60.0f);
        expect_near((double)spring_of(world).tension, load, 0.1 * load, "tension just after");
        const double ease = 0.25; // s
        expect_near(fastest(world), 0.0, 0.02 * way / ease, "speed just after");
        for (uint32_t step = 0; step < 60; step++) {
            run_steps(world, 1, 1.0f / 60.0f);
            assert_true(fastest(world) < 1.2 * way / ease);
        }
        run_steps(world, 180, 1.0f / 60.0f);
        expect_near((double)spring_of(world).length, 1.0 + load / (double)to, 0.01 * way, "length at last");
        mote_world_destroy(world);
    }
}

// A slack rope is not there, whatever its stiffness.
static void slack_ropes_stay_slack(void **state)
{
    const MoteSettings settings = stiff_settings(MOTE_LINKS_GAUSS_SEIDEL);
    MoteWorld *world = make_world(*state, &settings), *other = make_world(*state, &settings);
    hang_weight(world, 1000.0f, true, 1.5f);
    hang_weight(other, 1000.0f, true, 1.5f);
    run_steps(world, 5, 1.0f / 120.0f);
    run_steps(other, 5, 1.0f / 120.0f);
    expect_ok(mote_world_set_spring_stiffness(world, 0, 1, 1e6f));
    run_steps(world, 20, 1.0f / 120.0f);
    run_steps(other, 20, 1.0f / 120.0f);
    assert_int_equal(read_hash(world), read_hash(other));
    mote_world_destroy(world);
    mote_world_destroy(other);
}

// ---- A swinging sheet --------------------------------------------------------------------------------------

static Sheet swing_sheet(MoteWorld *world, float compliance)
{
    Sheet sheet = make_sheet(14, 12, 0.04f);
    for (uint32_t v = 0; v < sheet.vertices; v++) {
        sheet.masses[v] = v == 0 || v == 13 ? 0.0f : 0.01f;
        const MoteVec3 p = sheet.positions[v];
        sheet.positions[v] = (MoteVec3){p.x, 0.0f, p.y}; // it begins level
    }
    sheet.cloth.stretch_compliance = sheet.cloth.shear_compliance = compliance;
    sheet.cloth.bend_compliance = 10.0f * compliance;
    add_sheet(world, &sheet);
    return sheet;
}

static void read_sheet(MoteWorld *world, const Sheet *sheet, MoteParticleState *states)
{
    expect_ok(mote_world_read_handles(world, sheet->handles, sheet->vertices, states));
}

static double speed_of(MoteVec3 v)
{
    return sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
}

// A sheet that swings while its links become a hundred times stiffer, or softer, from one step to the next, beside one
// that stays as it is: no velocity differs by more than a tenth after the step.
static void sudden_changes_leave_velocities(void **state)
{
    for (uint32_t k = 0; k < 4; k++) {
        const MoteSettings settings = stiff_settings(k < 2 ? MOTE_LINKS_GAUSS_SEIDEL : MOTE_LINKS_JACOBI);
        MoteWorld *worlds[2];
        Sheet sheets[2];
        MoteParticleState found[2][14 * 12];
        const float compliance = k % 2 == 0 ? 1e-2f : 1e-4f, changed = k % 2 == 0 ? 1e-4f : 1e-2f;
        for (uint32_t w = 0; w < 2; w++) {
            worlds[w] = make_world(*state, &settings);
            sheets[w] = swing_sheet(worlds[w], compliance);
            run_steps(worlds[w], 18, 1.0f / 60.0f);
        }
        expect_ok(mote_world_set_cloth_compliance(worlds[1], 0, changed, changed, 10.0f * changed));
        for (uint32_t w = 0; w < 2; w++) {
            run_steps(worlds[w], 1, 1.0f / 60.0f);
            read_sheet(worlds[w], &sheets[w], found[w]);
        }
        uint32_t moving = 0;
        for (uint32_t v = 0; v < sheets[0].vertices; v++) {
            const MoteVec3 a = found[0][v].velocity, b = found[1][v].velocity;
            const double speed = speed_of(a), change = speed_of((MoteVec3){b.x - a.x, b.y - a.y, b.z - a.z});
            moving += speed > 0.5;
            if (!(change <= 0.1 * fmax(speed, 0.5))) {
                fail_msg("case %u: the velocity of vertex %u changed by %.3g of %.3g m/s", k, v, change, speed);
            }
        }
        assert_true(moving > 100);
        for (uint32_t w = 0; w < 2; w++) { // and it does become as it should
            run_steps(worlds[w], 60, 1.0f / 60.0f);
            assert_true(fastest(worlds[w]) < 20.0);
        }
        const double stretches[] = {read_statistics(worlds[0]).link_stretch_mean,
                                    read_statistics(worlds[1]).link_stretch_mean};
        assert_true(k % 2 == 0 ? stretches[1] < 0.7 * stretches[0] : stretches[1] > 1.4 * stretches[0]);
        for (uint32_t w = 0; w < 2; w++) {
            free_sheet(&sheets[w]);
            mote_world_destroy(worlds[w]);
        }
    }
}

// What the changed links hold and give back is no energy out of nothing.
static void changes_are_no_gain(void **state)
{
    const MoteSettings settings = stiff_settings(MOTE_LINKS_GAUSS_SEIDEL);
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = swing_sheet(world, 1e-2f);
    for (uint32_t k = 0; k < 12; k++) {
        run_steps(world, 10, 1.0f / 60.0f);
        expect_ok(mote_world_set_cloth_compliance(world, 0, k % 2 == 0 ? 1e-3f : 1e-2f, 1e-3f, 0.1f));
        assert_true(mote_world_watch(world).gained <= 0.05 * mote_world_watch(world).energy);
    }
    free_sheet(&sheet);
    mote_world_destroy(world);
}

// Springs that are added while others change leave them as they are; numbers that are none are refused.
static void tables_keep_what_changes(void **state)
{
    const MoteSettings settings = stiff_settings(MOTE_LINKS_GAUSS_SEIDEL);
    MoteWorld *worlds[2];
    for (uint32_t w = 0; w < 2; w++) {
        worlds[w] = make_world(*state, &settings);
        hang_weight(worlds[w], 100.0f, false, 0.9f);
        run_steps(worlds[w], 30, 1.0f / 60.0f);
        expect_ok(mote_world_set_spring_stiffness(worlds[w], 0, 1, 5000.0f));
        run_steps(worlds[w], 3, 1.0f / 60.0f);
    }
    const uint32_t ids[] = {0, 1};
    MoteSpring limp = mote_default_spring();
    expect_ok(mote_world_make_handles(worlds[1], ids, 2, limp.ends));
    limp.stiffness = 1e-6f;
    expect_ok(mote_world_add_springs(worlds[1], &limp, 1, NULL));
    for (uint32_t step = 0; step < 60; step++) {
        run_steps(worlds[0], 1, 1.0f / 60.0f);
        run_steps(worlds[1], 1, 1.0f / 60.0f);
        MoteSpringState one, two[2];
        expect_ok(mote_world_read_springs(worlds[0], &one, 1));
        expect_ok(mote_world_read_springs(worlds[1], two, 2));
        expect_near((double)two[0].length, (double)one.length, 1e-5, "length");
    }
    expect_error(mote_world_set_spring_stiffness(worlds[1], 1, 2, 10.0f), MOTE_ERROR_INPUT,
                 "springs 1 to 3 are to have another stiffness, but there are 2");
    expect_error(mote_world_set_spring_stiffness(worlds[1], 0, 1, 0.0f), MOTE_ERROR_INPUT, "stiffness 0 N/m");
    expect_error(mote_world_set_cloth_compliance(worlds[1], 0, 0, 0, 0), MOTE_ERROR_INPUT, "cloth 0 is not");
    Sheet sheet = swing_sheet(worlds[1], 1e-2f);
    expect_error(mote_world_set_cloth_compliance(worlds[1], 0, -1.0f, 0, 0), MOTE_ERROR_INPUT, "compliance of -1 m/N");
    free_sheet(&sheet);
    mote_world_destroy(worlds[0]);
    mote_world_destroy(worlds[1]);
}

// ---- Scenes ------------------------------------------------------------------------------------------------

static const char scene[] =
    "{\"name\": \"stiffening\", \"solver\": {\"spacing\": 0.04, \"small_steps\": 4, \"substeps\": 2}, \"cloths\": "
    "[{\"columns\": 9, \"rows\": 8, \"size\": [0.8, 0.7, 0], \"pins\": \"top\", "
    "\"stretch_compliance\": {\"keyframes\": [[0, 0.02], [0.1, 0.02], [0.12, 0.0001]]}, "
    "\"shear_compliance\": {\"interpolation\": \"step\", \"keyframes\": [[0, 0.02], [0.15, 0]]}}], "
    "\"springs\": [{\"from\": [2, 1, 0], \"to\": [2, 0, 0], \"from_fixed\": true, \"to_fixed\": true, \"segments\": 6, "
    "\"stiffness\": {\"keyframes\": [[0, 20], [0.1, 20], [0.2, 200]]}}]}";

// A state from the middle of a change continues to the bit.
static void states_of_scenes_resume(void **state)
{
    const char *backend = ((const TestBackend *)*state)->options.backend;
    Running running = fixture_start(scene, backend);
    fixture_advance(&running, 9);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("stiffening.state")));
    fixture_advance(&running, 12);
    const uint64_t hash = fixture_hash(&running);
    fixture_stop(&running);
    Running resumed = fixture_start(scene, backend);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("stiffening.state")));
    fixture_advance(&resumed, 12);
    assert_true(fixture_hash(&resumed) == hash);
    fixture_stop(&resumed);
}

static uint64_t run_scene(const MoteBackendOptions *options, uint32_t frames)
{
    MoteScene *loaded = fixture_scene("stiffening.json", scene);
    MoteSimulation *simulation = NULL;
    expect_ok(mote_simulation_create(loaded, options, &simulation));
    for (uint32_t i = 0; i < frames; i++) {
        expect_ok(mote_simulation_advance_frame(simulation));
    }
    uint64_t hash = 0;
    MoteWorld *world = mote_simulation_world(simulation);
    expect_ok(mote_world_state_hash(world, &hash));
    if (frames > 100) { // the springs have the stiffness of the last keyframe, which holds the weight below each
        MoteSpringState springs[400];
        MoteClothInfo info;
        expect_ok(mote_world_cloth_info(world, 0, &info));
        const uint32_t first = info.stretch_springs + info.shear_springs + info.bend_springs;
        expect_ok(mote_world_read_springs(world, springs, first + 6));
        for (uint32_t s = first; s < first + 6; s++) {
            const double stretch = (double)springs[s].length - 1.0 / 6.0;
            expect_near((double)springs[s].tension, 1200.0 * stretch, 0.2 * fabs((double)springs[s].tension) + 0.1,
                        "tension");
        }
    }
    mote_simulation_destroy(simulation);
    mote_scene_destroy(loaded);
    return hash;
}

static void backends_and_threads_agree(void **state)
{
    const TestBackend *backend = *state;
    static uint64_t portable;
    if (portable == 0) {
        portable = run_scene(&(MoteBackendOptions){.backend = "cpu", .threads = 1, .portable = true}, 20);
    }
    const uint64_t hash = run_scene(&backend->options, 20);
    if (strcmp(backend->label, "cpu") == 0) { // AVX2 kernels add in another order
        assert_true(hash == run_scene(&(MoteBackendOptions){.backend = "cpu", .threads = 3}, 20));
        run_scene(&backend->options, 180);
    } else if (strcmp(backend->label, "vulkan") != 0 || !vulkan_may_differ((int)(backend - test_backends))) {
        assert_true(hash == portable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_CUDA(a_weight_goes_to_its_new_place),  ON_CPU_AND_CUDA(slack_ropes_stay_slack),
        ON_CPU_AND_GPUS(sudden_changes_leave_velocities), ON_CPU_AND_CUDA(changes_are_no_gain),
        ON_CPU_AND_CUDA(tables_keep_what_changes),        ON_EVERY_BACKEND(states_of_scenes_resume),
        ON_EVERY_BACKEND(backends_and_threads_agree),
    };
    static const char *const long_tests[] = {NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
