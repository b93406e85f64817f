// SPDX-License-Identifier: MIT
// Memory that has several meanings: kernels touch what the rows of kernels/kernels.def say, and whoever reads one
// meaning while another lives there is told.
#if !defined(MOTE_CHECK_SCRATCH)
#define MOTE_CHECK_SCRATCH // of what this file launches, whatever the build
#endif
#include "solid_fixture.h"

#include "cpu/cpu_backend.h"
#include "solver/world.h"

#include <glob.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- The portable kernels, compiled to note what they touch ----

static bool noted_uses[2][MEANING_COUNT]; // read, written

static void note_use(bool writes, Meaning meaning)
{
    noted_uses[writes][meaning] = true;
}

#undef LOAD
#undef LOAD_PAIR
#undef STORE
#define LOAD(name, index)         (note_use(false, MEANING_##name), view->name[index])
#define LOAD_PAIR(name, index)    (note_use(false, MEANING_##name), uv2(view->name[index], view->name[(index) + 1u]))
#define STORE(name, index, value) (note_use(true, MEANING_##name), view->name[index] = (value))
#include "kernels/kernels.h"

static const struct {
    const char *name;
    void (*run)(const SolverData *view, uint i);
} noting_kernels[KERNEL_COUNT] = {
#define KERNEL_ROW(name, stage, count) {#name, name},
#include "kernels/kernels.def"
};

static uint32_t noted_launches[KERNEL_COUNT];

static bool shares_memory(Meaning meaning)
{
    for (int other = MEANING_NONE + 1; other < MEANING_COUNT; other++) {
        if (other != (int)meaning && meaning_storage((Meaning)other) == meaning_storage(meaning)) {
            return true;
        }
    }
    return false;
}

static bool is_declared(const SolverData *view, KernelId kernel, Meaning meaning, bool writes)
{
    ScratchUse uses[SCRATCH_USES];
    const uint32_t count = scratch_uses(view, uses);
    for (uint32_t n = 0; n < count; n++) {
        if (uses[n].active && uses[n].kernel == kernel && uses[n].meaning == meaning && uses[n].writes == writes) {
            return true;
        }
    }
    return false;
}

static uint32_t missing_rows;

static void noting_launch(Backend *backend, KernelId kernel, const SolverData *view)
{
    (void)backend;
    memset(noted_uses, 0, sizeof noted_uses);
    const uint32_t count = kernel_invocations(kernel, view);
    for (uint32_t i = 0; i < count; i++) {
        noting_kernels[kernel].run(view, i);
    }
    noted_launches[kernel]++;
    for (int meaning = MEANING_NONE + 1; meaning < MEANING_COUNT; meaning++) {
        for (int writes = 0; writes < 2; writes++) {
            // mark_removed writes to slots of no particle.
            if (noted_uses[writes][meaning] && kernel != KERNEL_ID_mark_removed && shares_memory((Meaning)meaning) &&
                !is_declared(view, kernel, (Meaning)meaning, writes)) {
                print_message("kernels.def lacks %s(%s, %s, ...)\n", writes ? "WRITES" : "READS",
                              noting_kernels[kernel].name, meaning_name((Meaning)meaning));
                missing_rows++;
            }
        }
    }
}

// ---- Worlds that have something for every kernel ----

static const TestBackend portable_backend = {"portable", {.backend = "cpu", .portable = true}};

// Makes a world of the portable backend note what it launches.
static void note_launches(MoteWorld *world)
{
    static BackendFunctions noting;
    noting = *world->backend->functions;
    noting.launch = noting_launch;
    noting.build_lists = NULL; // count_neighbours and fill_neighbours instead
    noting.count_sparse = NULL;
    world->backend->functions = &noting;
}

// Water, grains that roll and bounce, a box, a ball that has a mass and one that has none.
static void fill_world(MoteWorld *world, float restitution)
{
    const float d = mote_world_settings(world).spacing;
    const MoteMaterial material = {
        .static_friction = 0.5f, .kinetic_friction = 0.5f, .restitution = restitution, .rolling_friction = 0.1f};
    expect_ok(mote_world_set_materials(world, &material, 1));
    add_block(world, (MoteVec3){0.0f, 0.5f * d, 0.0f}, 6, 5, 5);
    const TestBox box = {
        3, 3, 3, d, {9.0f * d, 2.0f * d, 2.0f * d}, {0, 0, 0, 1}, true, {.mass = 1.0f, .stiffness = 1.0f}};
    add_box(world, &box);
    MoteVec3 grains[27];
    for (uint32_t i = 0; i < 27; i++) {
        grains[i] = (MoteVec3){d * (float)(14 + i % 3), d * (0.6f + 0.95f * (float)(i / 9)), d * (float)(i / 3 % 3)};
    }
    add_points(world, grains, 27, MOTE_PHASE(MOTE_KIND_GRAIN, 0));
    MoteCollider colliders[] = {
        flat_ground(0.5f),
        still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){4.0f * d, 7.0f * d, 2.0f * d}, (MoteVec3){0, 0, 0}, 2.0f * d),
        still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){20.0f * d, 1.0f * d, 0.0f}, (MoteVec3){0, 0, 0}, d)};
    colliders[0].restitution = restitution;
    colliders[1].mass = 1.0f;
    expect_ok(mote_world_set_colliders(world, colliders, 3));
}

// Force fields, particles that make others.
static void fill_extras(MoteWorld *world)
{
    const float d = mote_world_settings(world).spacing;
    MoteForceField wind = mote_default_force_field();
    wind.kind = MOTE_FORCE_FIELD_UNIFORM;
    wind.strength = 0.1f;
    wind.direction = (MoteVec3){1, 0, 0};
    MoteForceFieldId field;
    expect_ok(mote_world_add_force_field(world, &wind, &field));
    const MoteSource source = {
        .material = 0, .phase = MOTE_PHASE(MOTE_KIND_GRAIN, 0), .rate = 60.0f, .mass = 1.0f, .distance = 4.0f * d};
    expect_ok(mote_world_set_sources(world, &source, 1));
}

static void ask_queries(MoteWorld *world)
{
    const MoteRay ray = {.origin = {0, 5, 0}, .direction = {0, -1, 0}};
    MoteRayHit hit;
    expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
    const MoteCollider ball = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.3f);
    uint32_t counts, inside[4];
    expect_ok(mote_world_overlap(world, &ball, 1, &counts, inside, 4));
    MoteParticleSums sums;
    expect_ok(mote_world_sum_particles(world, &(MoteParticleFilter){0}, &sums));
    MoteForceField kick = mote_default_force_field();
    kick.kind = MOTE_FORCE_FIELD_UNIFORM;
    kick.mode = MOTE_FORCE_MODE_VELOCITY_CHANGE;
    kick.strength = 0.01f;
    kick.direction = (MoteVec3){0, 1, 0};
    expect_ok(mote_world_apply_impulse(world, &kick, NULL));
}

static void note_steps(const MoteSettings *settings, float restitution, bool recording)
{
    MoteWorld *world = make_world(&portable_backend, settings);
    note_launches(world);
    fill_world(world, restitution);
    fill_extras(world);
    if (recording) {
        expect_ok(mote_world_record_forces(world, true));
    }
    run_steps(world, 4, 1.0f / 120.0f);
    ask_queries(world);
    read_statistics(world);
    mote_world_destroy(world);
}

// A particle of smoke with the next step, where there is room for one.
static void emit_smoke(MoteWorld *world)
{
    float place[4] = {0, 1, 0, 1}, velocity[4] = {0, 0, 0, 3};
    const MoteDiffuse one = {.count = 1, .positions = place, .velocities = velocity};
    if (mote_world_diffuse_capacity(world) > 0) {
        expect_ok(mote_world_emit_diffuse(world, &one));
    }
}

static void note_scene(const char *path, const char *const *overrides, uint32_t count)
{
    MoteScene *scene;
    MoteSimulation *simulation;
    expect_ok(mote_scene_load(path, overrides, count, &scene));
    expect_ok(mote_simulation_create(scene, &portable_backend.options, &simulation));
    note_launches(mote_simulation_world(simulation));
    for (int step = 0; step < 2; step++) {
        emit_smoke(mote_simulation_world(simulation));
        run_steps(mote_simulation_world(simulation), 1, 1.0f / 120.0f);
    }
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
}

// The small scenes: each constraint has one.
static void note_scenes(void)
{
    glob_t paths;
    assert_int_equal(glob(MOTE_SOURCE_DIR "/scenes/small/*.json", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        note_scene(paths.gl_pathv[i], NULL, 0);
    }
    globfree(&paths);
    static const char *const tethered[] = {"solver.link_solver=jacobi", "cloths[0].tethers=1"};
    note_scene(MOTE_SOURCE_DIR "/scenes/small/tearing.json", tethered, 2);
}

static void kernels_touch_what_the_table_says(void **state)
{
    (void)state;
    missing_rows = 0;
    memset(noted_launches, 0, sizeof noted_launches);
    MoteSettings settings = solid_settings(0.1f);
    settings.viscosity = 0.02f;
    settings.vorticity = 2.0f;
    settings.boundary_density_weight = 1.0f;
    settings.stack_scaling = 1.0f;
    settings.stack_height = MOTE_STACK_CONTACTS;
    settings.stabilization_iterations = 2;
    note_steps(&settings, 0.5f, true);
    settings.density_mode = MOTE_DENSITY_UNILATERAL;
    settings.friction_model = MOTE_FRICTION_VELOCITY;
    settings.gravity_warm_start = 0.5f;
    note_steps(&settings, 0.0f, true);
    settings.iterations = 0;
    settings.vorticity = 0.0f;
    note_steps(&settings, 0.0f, true);
    note_scenes();
    assert_int_equal(missing_rows, 0);
    static const KernelId elsewhere[] = {
        KERNEL_ID_gather_vec4, KERNEL_ID_mark_removed, KERNEL_ID_validate_speculation, KERNEL_ID_probe_colliders,
        KERNEL_ID_wet_fields,  KERNEL_ID_begin_step,   KERNEL_ID_commit_spawns};
    for (int kernel = 0; kernel < KERNEL_COUNT; kernel++) {
        bool expected = true;
        for (size_t n = 0; n < sizeof elsewhere / sizeof elsewhere[0]; n++) {
            expected = expected && elsewhere[n] != (KernelId)kernel;
        }
        if (expected && noted_launches[kernel] == 0) {
            fail_msg("no world launched %s", noting_kernels[kernel].name);
        }
    }
}

// ---- Wrong orders ----

static void a_wrong_order_is_named(void **state)
{
    (void)state;
    const SolverData view = {.unilateral = 1, .particle_count = 1};
    Scratch scratch = {{0}};
    scratch_write(&scratch, MEANING_predicted);
    scratch_write(&scratch, MEANING_neighbour_counts);
    scratch_write(&scratch, MEANING_neighbours);
    expect_error(scratch_launch(&scratch, KERNEL_ID_density_delta, &view), MOTE_ERROR_UNSTABLE,
                 "density_delta reads position_estimates, but its memory holds nothing");
    expect_ok(scratch_launch(&scratch, KERNEL_ID_density_lambda, &view));
    expect_ok(scratch_launch(&scratch, KERNEL_ID_density_delta, &view));
    expect_ok(scratch_launch(&scratch, KERNEL_ID_solve_pairs, &view));
    expect_error(scratch_launch(&scratch, KERNEL_ID_density_delta, &view), MOTE_ERROR_UNSTABLE,
                 "density_delta reads position_estimates, but its memory holds corrected_positions");
    expect_ok(scratch_exchange(&scratch, MEANING_corrected_positions, "test"));
    expect_error(scratch_exchange(&scratch, MEANING_corrected_positions, "test"), MOTE_ERROR_UNSTABLE,
                 "test reads corrected_positions, but its memory holds nothing");
}

// Conditions of the table follow the view's parameters.
static void conditions_are_heeded(void **state)
{
    (void)state;
    SolverData view = {.particle_count = 1, .iteration = 1};
    Scratch scratch = {{0}};
    scratch_write(&scratch, MEANING_predicted);
    scratch_write(&scratch, MEANING_neighbour_counts);
    scratch_write(&scratch, MEANING_neighbours);
    scratch_write(&scratch, MEANING_supported_heights);
    expect_error(scratch_launch(&scratch, KERNEL_ID_density_lambda, &view), MOTE_ERROR_UNSTABLE,
                 "density_lambda reads lambda_scales, but its memory holds supported_heights");
    view.unilateral = 1;
    expect_ok(scratch_launch(&scratch, KERNEL_ID_density_lambda, &view));
}

// A world whose launches are in a wrong order ends the program.
static void a_wrong_launch_stops_the_program(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        MoteSettings settings = mote_default_settings();
        const TestBackend portable = {"portable", {.backend = "cpu", .portable = true, .threads = 1}};
        MoteWorld *world = make_world(&portable, &settings);
        add_block(world, (MoteVec3){0, 0, 0}, 4, 4, 4);
        run_steps(world, 1, 1.0f / 120.0f);
        scratch_write(&world->scratch, MEANING_predicted);
        scratch_write(&world->scratch, MEANING_neighbour_counts);
        scratch_write(&world->scratch, MEANING_neighbours);
        scratch_write(&world->scratch, MEANING_smoothed_velocities);
        LAUNCH(world, density_delta);
        _exit(0);
    }
    close(ends[1]);
    char text[1024] = {0};
    size_t length = 0;
    for (ssize_t got; length < sizeof text - 1 && (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) {
        length += (size_t)got;
    }
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "density_delta reads position_estimates, but its memory holds smoothed_velocities"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_touch_what_the_table_says),
        cmocka_unit_test(a_wrong_order_is_named),
        cmocka_unit_test(conditions_are_heeded),
        cmocka_unit_test(a_wrong_launch_stops_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
