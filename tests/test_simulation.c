// SPDX-License-Identifier: MIT
// What a scene becomes when it runs: filled volumes, jets, moving colliders, kill volumes, the clock.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "scene/build.h"
#include "scene/live.h"
#include "scene/scene.h"
#include "scene/simulation.h"
#include "solver/world.h"
#include <math.h>

// A solver that leaves particles alone: what is left is the motion that scenes give.
#define BALLISTIC                                                                                                      \
    "\"spacing\": 0.05, \"iterations\": 0, \"viscosity\": 0, \"max_displacement\": 0, \"gravity\": [0, 0, 0]"

static void expect_vector(MoteVec3 v, double x, double y, double z)
{
    if (fabs(v.x - x) + fabs(v.y - y) + fabs(v.z - z) > 1e-5) {
        fail_msg("expected (%g, %g, %g), found (%g, %g, %g)", x, y, z, v.x, v.y, v.z);
    }
}

// ---- Rotations and colliders ----

static void rotations_go_about_x_then_y_then_z(void **state)
{
    (void)state;
    const MoteVec3 up = {0, 1, 0};
    expect_vector(scene_rotate(scene_rotation((MoteVec3){90, 0, 0}), up), 0, 0, 1);
    expect_vector(scene_rotate(scene_rotation((MoteVec3){0, 0, 90}), up), -1, 0, 0);
    expect_vector(scene_rotate(scene_rotation((MoteVec3){0, 90, 0}), (MoteVec3){0, 0, 1}), 1, 0, 0);
    expect_vector(scene_rotate(scene_rotation((MoteVec3){90, 90, 0}), up), 1, 0, 0);
    expect_vector(scene_rotate(scene_rotation((MoteVec3){90, 90, 90}), up), 0, 1, 0);
    expect_vector(scene_rotate(scene_rotation((MoteVec3){0, 0, 360000 + 90}), up), -1, 0, 0);
    const MoteQuaternion q = scene_rotation((MoteVec3){33, -71, 512});
    assert_true(fabsf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1.0f) < 1e-6f);
}

static void colliders_have_half_sizes_and_two_poses(void **state)
{
    (void)state;
    const SceneMaterial material = {.static_friction = 0.5f, .kinetic_friction = 0.25f, .restitution = 0.125f};
    const SceneCollider from = {.shape = MOTE_COLLIDER_BOX, .size = {1, 2, 3}, .position = {1, 0, 0}};
    SceneCollider to = from;
    to.size = (MoteVec3){2, 4, 6};
    to.position.x = 1.5f;
    to.rotation.z = 350; // ten degrees back: the short way round
    to.inside_out = true;
    MoteCollider collider = scene_make_collider(&from, &to, &material);
    assert_int_equal(collider.kind, MOTE_COLLIDER_BOX);
    assert_true(collider.inside_out);
    expect_vector(collider.half_size, 1, 2, 3);
    expect_vector(collider.from.position, 1, 0, 0);
    expect_vector(collider.to.position, 1.5, 0, 0);
    assert_true(collider.from.rotation.w == 1.0f && collider.to.rotation.w > 0.99f && collider.to.rotation.z < 0.0f);
    assert_true(collider.static_friction == 0.5f && collider.kinetic_friction == 0.25f &&
                collider.restitution == 0.125f);

    const SceneKillVolume capsule = {.shape = MOTE_COLLIDER_CAPSULE, .height = 3, .radius = 0.5f};
    collider = scene_make_kill_volume(&capsule, &capsule);
    assert_true(collider.half_size.y == 1.5f && collider.radius == 0.5f);
}

// ---- Fluids ----

static void blocks_are_filled_at_cell_centres(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {\"spacing\": 0.05},"
                                    " \"materials\": {\"oil\": {\"density\": 800}},"
                                    " \"fluids\": [{\"material\": \"oil\", \"position\": [1, 2, 3],"
                                    "   \"size\": [0.5, 0.3, 0.21], \"velocity\": [1, 0, 0]}]}",
                                    "cpu");
    const MoteParticleView view = fixture_view(&running);
    assert_int_equal(view.count, 10 * 6 * 4);
    const SceneMaterial *oil = scene_material(&running.scene->values, "oil");
    const uint32_t group = (uint32_t)(oil - SCENE_AT(&running.scene->values, material, 0));
    const float mass = mote_world_particle_mass(running.world, 800);
    double centre[3] = {0}, lowest = 1e9, highest = -1e9;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * i;
        for (uint32_t axis = 0; axis < 3; axis++) {
            centre[axis] += (double)p[axis] / view.count;
        }
        lowest = fmin(lowest, (double)p[0]);
        highest = fmax(highest, (double)p[0]);
        assert_int_equal(view.phases[i], group | MOTE_PHASE_FLUID);
        assert_true(fabsf(p[3] * mass - 1.0f) < 1e-6f);
        assert_true(view.velocities[4 * i] == 1.0f && view.velocities[4 * i + 1] == 0.0f);
    }
    expect_vector((MoteVec3){(float)centre[0], (float)centre[1], (float)centre[2]}, 1, 2, 3);
    assert_true(fabs(lowest - 0.775) < 1e-6 && fabs(highest - 1.225) < 1e-6);
    // The lattice stands for its volume.
    assert_true(fabs((double)mass / (800 * 0.05 * 0.05 * 0.05) - 1.0) < 0.02);
    fixture_stop(&running);
}

static void thin_and_flat_volumes_have_one_layer(void **state)
{
    (void)state;
    Running running =
        fixture_start("{\"solver\": {\"spacing\": 0.05}, \"fluids\": [{\"size\": [0.2, 0.001, 0.01]}]}", "cpu");
    assert_int_equal(mote_world_particle_count(running.world), 4);
    fixture_stop(&running);

    running = fixture_start("{\"solver\": {\"spacing\": 0.05, \"dimensions\": 2},"
                            " \"fluids\": [{\"size\": [0.2, 0.3, 5], \"position\": [0, 0, 0.5]},"
                            "   {\"shape\": \"sphere\", \"radius\": 0.15, \"position\": [2, 0, 0.5]}]}",
                            "cpu");
    const MoteParticleView view = fixture_view(&running);
    uint32_t disc = 0;
    for (int i = -3; i <= 3; i++) {
        for (int j = -3; j <= 3; j++) {
            disc += i * i + j * j <= 9;
        }
    }
    assert_int_equal(view.count, 4 * 6 + disc);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_true(view.positions[4 * i + 2] == 0.5f);
    }
    fixture_stop(&running);
}

static void spheres_take_the_lattice_points_within(void **state)
{
    (void)state;
    static const double radii[] = {0.001, 0.04, 0.05,
                                   0.15,  0.35, 0.5}; // 0.35f < 7 * 0.05f, and still is seven spacings
    for (uint32_t r = 0; r < sizeof radii / sizeof radii[0]; r++) {
        const int reach = (int)(radii[r] / 0.05 + 1e-6);
        uint32_t expected = 0;
        for (int i = -reach; i <= reach; i++) {
            for (int j = -reach; j <= reach; j++) {
                for (int k = -reach; k <= reach; k++) {
                    expected += i * i + j * j + k * k <= radii[r] * radii[r] / 0.0025 + 1e-6;
                }
            }
        }
        char json[256];
        snprintf(json, sizeof json,
                 "{\"solver\": {\"spacing\": 0.05}, \"fluids\": [{\"shape\": \"sphere\", \"radius\": %g}]}", radii[r]);
        Running running = fixture_start(json, "cpu");
        assert_int_equal(mote_world_particle_count(running.world), expected);
        fixture_stop(&running);
    }
}

static void impossible_volumes_are_refused(void **state)
{
    (void)state;
    // The loader refuses such scenes too: this is for those changed after loading.
    MoteScene *scene = fixture_scene("huge.json", "{\"solver\": {\"spacing\": 0.001}, \"fluids\": ["
                                                  " {\"size\": [0.01, 0.01, 0.01]}, {\"size\": [0.01, 0.01, 0.01]}]}");
    SceneFluid *fluids = SCENE_AT(&scene->values, fluid, 0);
    fluids[1].size = (MoteVec3){1e5f, 1e5f, 1e5f};
    MoteSimulation *simulation = (MoteSimulation *)scene; // anything but NULL
    assert_int_equal(mote_simulation_create(scene, NULL, &simulation), MOTE_ERROR_INPUT);
    assert_null(simulation);
    expect_message("huge.json");
    expect_message("fluids[1]");
    expect_message("1e+24");
    fluids[1].shape = SCENE_FLUID_SPHERE;
    fluids[1].radius = 0.45f; // its box is within the first check, the ball is not
    assert_int_equal(mote_simulation_create(scene, NULL, &simulation), MOTE_ERROR_INPUT);
    expect_message("fluids[1]");
    mote_scene_destroy(scene);
}

// ---- Emitters ----

static void a_jet_has_its_volume_flow(void **state)
{
    (void)state;
    static const struct {
        double frame_rate, speed;
        uint32_t substeps, frames;
    } cases[] = {{60, 3, 2, 30}, {60, 0.37, 1, 200}, {10, 7.3, 1, 20}, {24, 11, 3, 24}};
    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{\"solver\": {" BALLISTIC ", \"frame_rate\": %g, \"substeps\": %u},"
                 " \"emitters\": [{\"shape\": \"box\", \"size\": [0.2, 0, 0.3], \"speed\": %g}]}",
                 cases[c].frame_rate, cases[c].substeps, cases[c].speed);
        Running running = fixture_start(json, "cpu");
        const double dt = 1.0 / (cases[c].frame_rate * cases[c].substeps);
        for (uint32_t frame = 1; frame <= cases[c].frames; frame++) {
            fixture_advance(&running, 1);
            const double begun = mote_simulation_time(running.simulation) - dt; // of the last step
            const double flow = 0.2 * 0.3 * cases[c].speed * begun / (0.05 * 0.05 * 0.05);
            const double emitted = (double)mote_simulation_emitted(running.simulation);
            assert_true(fabs(emitted - flow) <= 0.5 * 4 * 6 + 1e-3); // half a layer
            assert_int_equal(mote_world_particle_count(running.world), mote_simulation_emitted(running.simulation));
        }
        fixture_stop(&running);
    }
}

static void a_disc_covers_its_area(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {" BALLISTIC "},"
                                    " \"emitters\": [{\"radius\": 0.5, \"speed\": 3}]}",
                                    "cpu");
    fixture_advance(&running, 60);
    const double begun = mote_simulation_time(running.simulation) - 1.0 / 240;
    const double flow = 3.14159265 * 0.25 * 3 * begun / (0.05 * 0.05 * 0.05);
    assert_true(fabs((double)mote_simulation_emitted(running.simulation) / flow - 1.0) < 0.03);
    fixture_stop(&running);
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void layers_are_evenly_spaced_whatever_the_step(void **state)
{
    (void)state;
    static const struct {
        double frame_rate, speed;
        uint32_t substeps, frames;
    } cases[] = {{60, 2, 4, 60}, {10, 7.3, 1, 10}, {30, 0.77, 2, 90}};
    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{\"solver\": {" BALLISTIC ", \"frame_rate\": %g, \"substeps\": %u},"
                 " \"emitters\": [{\"shape\": \"box\", \"size\": [0.05, 0, 0.05], \"speed\": %g,"
                 "   \"position\": [1, 0, 0], \"rotation\": [0, 0, -90]}]}",
                 cases[c].frame_rate, cases[c].substeps, cases[c].speed);
        Running running = fixture_start(json, "cpu");
        fixture_advance(&running, cases[c].frames);
        const MoteParticleView view = fixture_view(&running);
        assert_true(view.count > 20 && view.count < 1000);
        float places[1000];
        for (uint32_t i = 0; i < view.count; i++) {
            places[i] = view.positions[4 * i];
            assert_true(fabsf(view.positions[4 * i + 1]) < 1e-4f && fabsf(view.positions[4 * i + 2]) < 1e-4f);
            assert_true(fabsf(view.velocities[4 * i] - (float)cases[c].speed) < 1e-3f * (float)cases[c].speed);
        }
        qsort(places, view.count, sizeof places[0], compare_floats);
        for (uint32_t i = 1; i < view.count; i++) {
            assert_true(fabsf(places[i] - places[i - 1] - 0.05f) < 2e-4f);
        }
        // The first layer has travelled since half a spacing of jet went by.
        const double travelled = cases[c].speed * mote_simulation_time(running.simulation) - 0.025;
        assert_true(fabs((double)places[view.count - 1] - 1.0 - travelled) < 1e-3);
        fixture_stop(&running);
    }
}

static void emitters_start_and_stop_and_reach_their_maximum(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {" BALLISTIC ", \"substeps\": 3}, \"emitters\": ["
                                    "{\"shape\": \"box\", \"size\": [0.2, 0, 0.2], \"speed\": 2, \"start\": 0.26,"
                                    " \"stop\": 0.76},"
                                    "{\"position\": [2, 0, 0], \"shape\": \"box\", \"size\": [0.2, 0, 0.2],"
                                    " \"speed\": 2, \"max_particles\": 50},"
                                    "{\"position\": [4, 0, 0], \"speed\": 0}]}",
                                    "cpu");
    fixture_advance(&running, 15); // 0.25 s
    assert_int_equal(running.simulation->emitters[0].emitted, 0);
    fixture_advance(&running, 60);
    assert_int_equal(running.simulation->emitters[0].emitted, 16 * 20); // 0.5 s of 2 m/s
    assert_int_equal(running.simulation->emitters[1].emitted, 50);
    assert_int_equal(running.simulation->emitters[2].emitted, 0);
    assert_int_equal(mote_simulation_emitted(running.simulation), 16 * 20 + 50);
    // The last layer left before the nozzle closed, and has gone on since.
    const MoteParticleView view = fixture_view(&running);
    double lowest = 1e9;
    for (uint32_t i = 0; i < view.count; i++) {
        if (view.positions[4 * i] < 1.0f) {
            lowest = fmin(lowest, (double)view.positions[4 * i + 1]);
        }
    }
    assert_true(fabs(lowest - (2 * (1.25 - 0.76) + 0.025)) < 1e-3);
    fixture_stop(&running);
}

static void keyframed_speed_adds_up_as_distance(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {" BALLISTIC ", \"substeps\": 1}, \"emitters\": ["
                                    "{\"shape\": \"box\", \"size\": [0.1, 0, 0.1],"
                                    " \"speed\": {\"keyframes\": [[0, 0], [1, 4], [2, 4], [3, 0]]}}]}",
                                    "cpu");
    fixture_advance(&running, 61); // the last step begins at 1 s: 2 m of jet
    assert_int_equal(mote_simulation_emitted(running.simulation), 4 * 40);
    fixture_advance(&running, 60); // 6 m
    assert_int_equal(mote_simulation_emitted(running.simulation), 4 * 120);
    fixture_advance(&running, 120); // 8 m, and closed since
    assert_int_equal(mote_simulation_emitted(running.simulation), 4 * 160);
    fixture_stop(&running);
}

static void a_flat_nozzle_is_a_line(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {" BALLISTIC ", \"dimensions\": 2}, \"emitters\": ["
                                    "{\"radius\": 0.1, \"speed\": 1, \"position\": [0, 0, 0.25],"
                                    " \"rotation\": [30, 0, 0]}]}",
                                    "cpu");
    fixture_advance(&running, 30);
    const MoteParticleView view = fixture_view(&running);
    assert_int_equal(view.count % 5, 0);
    assert_int_equal(view.count / 5, 10);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_true(view.positions[4 * i + 2] == 0.25f && view.velocities[4 * i + 2] == 0.0f);
    }
    fixture_stop(&running);
}

static void a_mad_emitter_is_refused(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {\"spacing\": 0.001, \"frame_rate\": 1, \"substeps\": 1},"
                                    " \"emitters\": [{\"radius\": 1, \"speed\": 10000}]}",
                                    "cpu");
    fixture_advance(&running, 1); // at 0 s nothing has left yet
    assert_int_equal(mote_simulation_advance_frame(running.simulation), MOTE_ERROR_INPUT);
    expect_message("emitters[0]");
    assert_int_not_equal(mote_simulation_advance_frame(running.simulation), MOTE_OK);
    expect_message("failed in step 1");
    assert_int_not_equal(mote_simulation_save(running.simulation, fixture_path("failed.state")), MOTE_OK);
    assert_int_equal(fixture_files(".state", false), 0);
    fixture_stop(&running);
}

// ---- Colliders, kill volumes, bounds ----

static void a_keyframed_collider_pushes_with_its_speed(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {\"spacing\": 0.05, \"gravity\": [0, 0, 0]},"
                                    " \"fluids\": [{\"size\": [0.01, 0.01, 0.01]}],"
                                    " \"colliders\": [{\"shape\": \"box\", \"size\": [0.4, 1, 1],"
                                    "   \"position\": {\"keyframes\": [[0, [-0.5, 0, 0]], [2, [1.5, 0, 0]]]}}]}",
                                    "cpu");
    fixture_advance(&running, 60); // the face is at -0.3 + 1 m, the particle half a spacing ahead
    MoteParticleView view = fixture_view(&running);
    assert_int_equal(view.count, 1);
    assert_true(fabsf(view.positions[0] - 0.725f) < 0.01f);
    assert_true(fabsf(view.velocities[0] - 1.0f) < 0.05f);
    assert_true(fabsf(view.positions[1]) < 1e-4f);
    fixture_stop(&running);
}

static void settings_follow_their_keyframes(void **state)
{
    (void)state;
    Running running = fixture_start(
        "{\"solver\": {\"gravity\": {\"interpolation\": \"step\", \"keyframes\": [[0, [0, -9, 0]], [0.5, [3, 0, 0]]]},"
        "   \"max_displacement\": 0}, \"fluids\": [{\"size\": [0.01, 0.01, 0.01]}]}",
        "cpu");
    assert_true(mote_world_settings(running.world).gravity.y == -9.0f);
    fixture_advance(&running, 60);
    const MoteSettings settings = mote_world_settings(running.world);
    assert_true(settings.gravity.x == 3.0f && settings.gravity.y == 0.0f);
    const MoteParticleView view = fixture_view(&running);
    assert_true(fabsf(view.velocities[0] - 1.5f) < 0.02f && fabsf(view.velocities[1] + 4.5f) < 0.02f);
    fixture_stop(&running);
}

// A scene's materials reach the world, and keyframes change them.
static void liquids_follow_their_keyframes(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {\"spacing\": 0.1, \"viscosity\": 0.02, \"substeps\": 1},"
                                    " \"materials\": {\"honey\": {\"density\": 1400, \"artificial_pressure\": 0.005,"
                                    "   \"viscosity\": {\"keyframes\": [[0, 0.25], [0.5, 0.75]]}}},"
                                    " \"fluids\": [{\"material\": \"honey\", \"size\": [0.5, 0.5, 0.5]},"
                                    "              {\"size\": [0.5, 0.5, 0.5], \"position\": [2, 0, 0]}]}",
                                    "cpu");
    for (uint32_t frame = 0; frame < 40; frame++) {
        fixture_advance(&running, 1);
        const LiquidParameters *rows = running.world->liquids.rows; // water, wall, honey
        const double time = (double)frame / 60.0;
        assert_true(fabs((double)rows[2].viscosity - (time < 0.5 ? 0.25 + time : 0.75)) < 1e-6);
        assert_true(rows[2].artificial_pressure == 0.005f && rows[2].max_tension < 0.0f && rows[0].viscosity < 0.0f);
        assert_int_equal(running.world->view.liquids_differ, 1);
    }
    fixture_stop(&running);
    MoteScene *scene = NULL;
    static const char bad[] = "{\"materials\": {\"honey\": {\"viscosity\": 2}}}";
    fixture_write("bad.json", bad, sizeof bad - 1);
    assert_int_equal(mote_scene_load(fixture_path("bad.json"), NULL, 0, &scene), MOTE_ERROR_INPUT);
    expect_message("materials.honey.viscosity");
}

static void a_kill_volume_keeps_a_fountain_bounded(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {\"spacing\": 0.08, \"iterations\": 2, \"substeps\": 2},"
                                    " \"emitters\": [{\"radius\": 0.17, \"speed\": 3}],"
                                    " \"kill_volumes\": [{\"shape\": \"plane\", \"position\": [0, -0.4, 0]}]}",
                                    "cpu");
    fixture_advance(&running, 60);
    const uint32_t early = mote_world_particle_count(running.world);
    uint32_t most = early;
    for (uint32_t frame = 0; frame < 120; frame++) {
        fixture_advance(&running, 1);
        const uint32_t count = mote_world_particle_count(running.world);
        most = count > most ? count : most;
    }
    MoteStatistics statistics;
    expect_ok(mote_world_statistics(running.world, &statistics));
    const uint64_t emitted = mote_simulation_emitted(running.simulation);
    assert_true(most < early * 5 / 4);
    assert_true(statistics.removed > emitted / 2);
    assert_int_equal(statistics.removed + mote_world_particle_count(running.world), emitted);
    fixture_stop(&running);
}

static void moving_kill_volumes_sweep(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {" BALLISTIC "},"
                                    " \"fluids\": [{\"size\": [1, 0.05, 0.05]}],"
                                    " \"kill_volumes\": [{\"shape\": \"box\", \"size\": [0.2, 1, 1],"
                                    "   \"position\": {\"keyframes\": [[0, [-1, 0, 0]], [1, [0, 0, 0]]]}}]}",
                                    "cpu");
    assert_int_equal(mote_world_particle_count(running.world), 20);
    fixture_advance(&running, 61); // its far side has come to 0.1
    assert_int_equal(mote_world_particle_count(running.world), 8);
    fixture_stop(&running);
}

// The mean velocity of a scene's particles of one material, m/s.
static MoteVec3 velocity_of_group(const Running *running, uint32_t group)
{
    MoteParticleSums sums;
    expect_ok(
        mote_world_sum_particles(running->world, &(MoteParticleFilter){.one_group = true, .group = group}, &sums));
    assert_true(sums.count > 0);
    return sums.velocity;
}

// A force holds for a step as it is when the step begins. One that names a material or a kind spares all others; one
// that is changed while the scene runs acts from the next step on.
static void forces_follow_their_keyframes(void **state)
{
    (void)state;
    Running running =
        fixture_start("{\"solver\": {" BALLISTIC ", \"frame_rate\": 10, \"substeps\": 1},"
                      " \"materials\": {\"oil\": {}, \"sand\": {}},"
                      " \"fluids\": [{\"material\": \"oil\", \"size\": [0.2, 0.2, 0.2]},"
                      "   {\"material\": \"water\", \"size\": [0.2, 0.2, 0.2], \"position\": [5, 0, 0]}],"
                      " \"grains\": [{\"material\": \"sand\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 5, 0]}],"
                      " \"forces\": [{\"kind\": \"uniform\", \"materials\": \"oil, sand\", \"direction\": [1, 0, 0],"
                      "   \"strength\": {\"keyframes\": [[0, 0], [1, 10]]}},"
                      "  {\"kind\": \"box\", \"size\": [20, 20, 20], \"affects\": \"grains\", \"strength\": 2}]}",
                      "cpu");
    const SceneValues *values = &running.scene->values;
    const uint32_t oil = scene_material_index(values, scene_material(values, "oil")),
                   sand = scene_material_index(values, scene_material(values, "sand")),
                   water = scene_material_index(values, scene_material(values, "water"));
    fixture_advance(&running, 10);
    assert_float_equal(velocity_of_group(&running, oil).x, 4.5, 1e-4); // (0 + 1 + ... + 9) / 10
    assert_float_equal(velocity_of_group(&running, sand).x, 4.5, 1e-4);
    assert_float_equal(velocity_of_group(&running, sand).y, 2.0, 1e-4);
    assert_float_equal(velocity_of_group(&running, water).x, 0.0, 0.0);
    assert_float_equal(velocity_of_group(&running, water).y, 0.0, 0.0);

    const double off = 0.0;
    for (uint32_t k = 0; k < scene_key_count; k++) {
        const SceneKey *key = &scene_keys[k];
        if (key->section == SCENE_SECTION_force && strcmp(key->name, "strength") == 0) {
            assert_false(scene_key_is_live(running.scene, key, 0)); // it has keyframes
            assert_true(scene_key_is_live(running.scene, key, 1));
            simulation_set_live(running.scene, running.simulation, key, 1, &off);
        }
    }
    fixture_advance(&running, 1);
    assert_float_equal(velocity_of_group(&running, sand).x, 5.5, 1e-4);
    assert_float_equal(velocity_of_group(&running, sand).y, 2.0, 1e-4);
    fixture_stop(&running);
}

static void particles_outside_the_bounds_have_escaped(void **state)
{
    (void)state;
    Running running = fixture_start("{\"solver\": {" BALLISTIC "},"
                                    " \"fluids\": [{\"size\": [0.5, 0.5, 0.5], \"velocity\": [1, 0, 0]}],"
                                    " \"bounds\": {\"lower\": [-9, -0.1, -9], \"upper\": [9, 9, 0.2]}}",
                                    "cpu");
    // Three of ten layers are below -0.1, one of ten beyond 0.2.
    assert_int_equal(mote_simulation_escaped(running.simulation), 1000 - 10 * 7 * 9);
    fixture_advance(&running, 2);
    assert_int_equal(mote_simulation_escaped(running.simulation), 1000 - 10 * 7 * 9);
    fixture_stop(&running);

    running = fixture_start("{\"solver\": {\"dimensions\": 2}, \"fluids\": [{\"position\": [0, 0, 5]}],"
                            " \"bounds\": {\"lower\": [-1, -1, 0], \"upper\": [1, 1, 1]}}",
                            "cpu");
    assert_int_equal(mote_simulation_escaped(running.simulation), 0);
    fixture_stop(&running);
}

// ---- The clock ----

static void frames_and_time_are_counted(void **state)
{
    (void)state;
    Running running =
        fixture_start("{\"solver\": {\"frame_rate\": 30, \"substeps\": 7}, \"output\": {\"frames\": 12}}", "cpu");
    assert_int_equal(mote_simulation_frame_target(running.simulation), 12);
    assert_true(mote_simulation_time(running.simulation) == 0.0);
    fixture_advance(&running, 45);
    assert_int_equal(mote_simulation_frame(running.simulation), 45);
    assert_true(mote_simulation_time(running.simulation) == 1.5);
    MoteStatistics statistics;
    expect_ok(mote_world_statistics(running.world, &statistics));
    assert_int_equal(statistics.steps, 45 * 7);
    assert_int_equal(mote_simulation_escaped(running.simulation), 0);
    fixture_stop(&running);
    mote_simulation_destroy(NULL);
}

static void an_unknown_backend_leaves_nothing(void **state)
{
    (void)state;
    MoteScene *scene = fixture_scene("scene.json", "{\"fluids\": [{\"size\": [0.1, 0.1, 0.1]}]}");
    const MoteBackendOptions options = {.backend = "abacus"};
    MoteSimulation *simulation;
    assert_int_not_equal(mote_simulation_create(scene, &options, &simulation), MOTE_OK);
    assert_null(simulation);
    expect_message("abacus");
    mote_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_go_about_x_then_y_then_z),
        cmocka_unit_test(colliders_have_half_sizes_and_two_poses),
        cmocka_unit_test(blocks_are_filled_at_cell_centres),
        cmocka_unit_test(thin_and_flat_volumes_have_one_layer),
        cmocka_unit_test(spheres_take_the_lattice_points_within),
        cmocka_unit_test(impossible_volumes_are_refused),
        cmocka_unit_test(a_jet_has_its_volume_flow),
        cmocka_unit_test(a_disc_covers_its_area),
        cmocka_unit_test(layers_are_evenly_spaced_whatever_the_step),
        cmocka_unit_test(emitters_start_and_stop_and_reach_their_maximum),
        cmocka_unit_test(keyframed_speed_adds_up_as_distance),
        cmocka_unit_test(a_flat_nozzle_is_a_line),
        cmocka_unit_test(a_mad_emitter_is_refused),
        cmocka_unit_test(a_keyframed_collider_pushes_with_its_speed),
        cmocka_unit_test(settings_follow_their_keyframes),
        cmocka_unit_test(liquids_follow_their_keyframes),
        cmocka_unit_test(a_kill_volume_keeps_a_fountain_bounded),
        cmocka_unit_test(moving_kill_volumes_sweep),
        cmocka_unit_test(forces_follow_their_keyframes),
        cmocka_unit_test(particles_outside_the_bounds_have_escaped),
        cmocka_unit_test(frames_and_time_are_counted),
        cmocka_unit_test(an_unknown_backend_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
