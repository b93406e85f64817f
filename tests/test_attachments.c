// SPDX-License-Identifier: MIT
// Pins that move: with a frame, with colliders, by keyframes; links to bodies; what is refused; states, and the same
// bits however they are run.
#include "solid_fixture.h"

#include "base/vec.h"
#include "mote_cloth.h"
#include "simulation_fixture.h"

#define PI 3.14159265358979323846

enum { PINS = 3 };

static MoteSettings pin_settings(uint32_t small_steps)
{
    MoteSettings settings = solid_settings(0.02f);
    settings.max_displacement = 0.0f;
    settings.iterations = 4;
    settings.small_steps = small_steps;
    return settings;
}

// Particles without mass, and one with it that falls, so that the particles are sorted anew.
static void add_pins(MoteWorld *world, MoteVec3 *places, MoteParticleHandle *handles)
{
    const MoteVec3 all[PINS + 1] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {5, 5, 5}};
    const float masses[PINS + 1] = {0, 0, 0, 1};
    uint32_t ids[PINS + 1], first = 0;
    const MoteParticles particles = {
        .count = PINS + 1, .positions = all, .masses = masses, .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t i = 0; i < PINS + 1; i++) {
        ids[i] = first + i;
    }
    memcpy(places, all, PINS * sizeof *places);
    expect_ok(mote_world_make_handles(world, ids, PINS + 1, handles));
}

static void expect_at(MoteVec3 found, MoteVec3 expected, double tolerance, const char *what)
{
    expect_near((double)found.x, (double)expected.x, tolerance, what);
    expect_near((double)found.y, (double)expected.y, tolerance, what);
    expect_near((double)found.z, (double)expected.z, tolerance, what);
}

// A frame that turns about z around a pivot and moves along x: positions exactly, velocities by finite differences.
static void pins_follow_their_frame(void **state)
{
    for (uint32_t small_steps = 0; small_steps < 5; small_steps += 4) {
        const MoteSettings settings = pin_settings(small_steps);
        MoteWorld *world = make_world(*state, &settings);
        MoteVec3 places[PINS];
        MoteParticleHandle handles[PINS + 1];
        add_pins(world, places, handles);
        const MoteVec3 pivot = {0, 0.5f, 0};
        const MotePins pins = {.count = PINS, .particles = handles, .pose = {pivot, {0, 0, 0, 1}}};
        uint32_t index = 9;
        expect_ok(mote_world_add_pins(world, &pins, &index));
        assert_int_equal(index, 0);
        const double dt = 1.0 / 60.0;
        MoteTransform from = pins.pose;
        for (int step = 1; step <= 20; step++) {
            const double t = step * dt;
            const MoteQuaternion turn = turn_about((MoteVec3){0, 0, 1}, 2.0 * t);
            const MoteTransform to = {vec3_add(pivot, (MoteVec3){(float)t, 0, 0}), turn};
            MoteParticleState before[PINS], after[PINS];
            expect_ok(mote_world_read_handles(world, handles, PINS, before));
            expect_ok(mote_world_move_pins(world, 0, from, to));
            run_steps(world, 1, (float)dt);
            expect_ok(mote_world_read_handles(world, handles, PINS, after));
            for (int i = 0; i < PINS; i++) {
                const MoteVec3 expected = vec3_add(to.position, turned(turn, vec3_sub(places[i], pivot)));
                expect_at(after[i].position, expected, 2e-6, "place of a pin");
                const MoteVec3 way = vec3_sub(after[i].position, before[i].position);
                if (small_steps == 0) { // else it is that of the last part, which is straight
                    expect_at(after[i].velocity, vec3_scale(way, (float)(1.0 / dt)), 1e-3, "velocity of a pin");
                }
            }
            from = to;
        }
        mote_world_destroy(world);
    }
}

// Pins of a collider are rigid with it, that a user moves or that falls; where it is removed they stay.
static void pins_follow_a_collider(void **state)
{
    const MoteSettings settings = pin_settings(3);
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 places[PINS];
    MoteParticleHandle handles[PINS + 1];
    add_pins(world, places, handles);
    MoteCollider boxes[2];
    for (int k = 0; k < 2; k++) {
        boxes[k] = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){20.0f * (float)k, -9, 0}, (MoteVec3){0, 0, 0}, 0.1f);
        boxes[k].mass = k == 1 ? 2.0f : 0.0f;
    }
    expect_ok(mote_world_set_colliders(world, boxes, 2));
    MotePins pins = {.count = 1, .particles = handles, .collider = collider_id(world, 0)};
    expect_ok(mote_world_add_pins(world, &pins, NULL));
    pins.particles = handles + 1;
    pins.collider = collider_id(world, 1);
    expect_ok(mote_world_add_pins(world, &pins, NULL));
    const MoteColliderId ids[2] = {collider_id(world, 0), collider_id(world, 1)};
    for (int step = 0; step < 20; step++) {
        boxes[0].from = boxes[0].to;
        boxes[0].to.position.x += 0.01f;
        boxes[0].to.rotation = turn_about((MoteVec3){0, 1, 0}, 0.05 * (step + 1));
        expect_ok(mote_world_set_collider(world, ids[0], &boxes[0]));
        run_steps(world, 1, 1.0f / 60.0f);
    }
    MoteParticleState found[2];
    expect_ok(mote_world_read_handles(world, handles, 2, found));
    const MoteVec3 offset = {1.0f, 9.0f, 0.0f};
    expect_at(found[0].position, vec3_add(boxes[0].to.position, turned(boxes[0].to.rotation, offset)), 1e-5, "pin");
    MoteColliderState fallen;
    expect_ok(mote_world_read_collider(world, ids[1], &fallen));
    assert_true(fallen.pose.position.y < -9.4f);
    expect_at(found[1].position, vec3_add(places[1], vec3_sub(fallen.pose.position, boxes[1].to.position)), 1e-5,
              "pin of what falls");
    assert_true(found[1].velocity.y < -2.5f);
    expect_ok(mote_world_remove_collider(world, ids[0]));
    run_steps(world, 5, 1.0f / 60.0f);
    MoteParticleState after[2];
    expect_ok(mote_world_read_handles(world, handles, 2, after));
    expect_at(after[0].position, found[0].position, 0.0, "pin of what is gone");
    assert_true(after[1].position.y < found[1].position.y - 0.1f); // its collider has another row now
    mote_world_destroy(world);
}

static void wrong_pins_are_refused(void **state)
{
    const MoteSettings settings = pin_settings(0);
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 places[PINS];
    MoteParticleHandle handles[PINS + 1];
    add_pins(world, places, handles);
    MotePins pins = {.count = PINS + 1, .particles = handles, .pose = {{0, 0, 0}, {0, 0, 0, 1}}};
    expect_error(mote_world_add_pins(world, &pins, NULL), MOTE_ERROR_INPUT, "pin 3 has a mass");
    pins.count = 0;
    expect_error(mote_world_add_pins(world, &pins, NULL), MOTE_ERROR_INPUT, "a set of 0 pins");
    pins.count = 1;
    pins.pose.rotation.w = 2;
    expect_error(mote_world_add_pins(world, &pins, NULL), MOTE_ERROR_INPUT, "not of unit length");
    const MoteTransform pose = {{0, 0, 0}, {0, 0, 0, 1}};
    expect_error(mote_world_move_pins(world, 0, pose, pose), MOTE_ERROR_INPUT, "set of pins 0 is none");
    mote_world_destroy(world);
}

// ---- Scenes ------------------------------------------------------------------------------------------------

#define HEAD                                                                                                           \
    "{\"name\": \"sheet\", \"solver\": {\"spacing\": 0.05, \"small_steps\": 4, \"substeps\": 1, "                      \
    "\"max_displacement\": 0}, \"materials\": {\"wood\": {\"density\": 500}}, "
#define SHEET                                                                                                          \
    "\"cloths\": [{\"columns\": 9, \"rows\": 9, \"size\": [0.8, 0.8, 0], \"position\": [0, 2, 0], \"tethers\": 1}], "
#define MOVING                                                                                                         \
    "\"attachments\": [{\"vertices\": \"top\", \"translation\": {\"keyframes\": [[0, [0, 0, 0]], [0.5, [0.5, 0, "      \
    "0]]]}, "                                                                                                          \
    "\"rotation\": {\"keyframes\": [[0, [0, 0, 0]], [0.5, [0, 90, 0]]]}, \"pivot\": [0, 2, 0]}]}"

static MoteVec3 place_of(const Running *running, uint32_t id)
{
    MoteParticleHandle handle;
    MoteParticleState found;
    expect_ok(mote_world_make_handles(running->world, &id, 1, &handle));
    expect_ok(mote_world_read_handles(running->world, &handle, 1, &found));
    return found.position;
}

// The top edge is carried away and turned by a quarter; the rest follows, and the energy watch has nothing to say.
static void keyframes_move_pins(void **state)
{
    const char *backend = ((const TestBackend *)*state)->options.backend;
    Running running = fixture_start(HEAD SHEET MOVING, backend);
    fixture_advance(&running, 15);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("sheet.state")));
    fixture_advance(&running, 45);
    expect_at(place_of(&running, 0), (MoteVec3){0.5f, 2.4f, 0.4f}, 1e-4, "top left corner");
    expect_at(place_of(&running, 8), (MoteVec3){0.5f, 2.4f, -0.4f}, 1e-4, "top right corner");
    assert_true(fabsf(place_of(&running, 76).x - 0.5f) < 0.4f); // it swings below
    const MoteNotice *notices;
    assert_int_equal(mote_simulation_notices(running.simulation, &notices), 0);
    const uint64_t hash = fixture_hash(&running);
    Running resumed = fixture_start(HEAD SHEET MOVING, backend);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("sheet.state")));
    fixture_advance(&resumed, 45);
    assert_true(fixture_hash(&resumed) == hash);
    fixture_stop(&resumed);
    fixture_stop(&running);
}

// A sheet on a collider that moves, and one that a falling body pulls along.
static void attachments_hold(void **state)
{
    (void)state;
    Running running = fixture_start(
        HEAD SHEET "\"colliders\": [{\"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"position\": {\"keyframes\": "
                   "[[0, [3, 3, 0]], [0.5, [3, 3.5, 0]]]}}], \"attachments\": [{\"box_position\": [-0.4, 2.4, 0], "
                   "\"box_size\": [0.01, 0.01, 1], \"to\": \"collider\"}]}",
        "cpu");
    const MoteVec3 begun = place_of(&running, 0);
    fixture_advance(&running, 40);
    const MoteVec3 offset = vec3_sub(place_of(&running, 0), begun);
    expect_at(offset, (MoteVec3){0, 0.5f, 0}, 0.02, "way of the corner"); // less that of the first step
    fixture_stop(&running);

    running = fixture_start(
        HEAD SHEET "\"bodies\": [{\"mesh\": \"shape:box?x=0.2&y=0.2&z=0.2\", \"material\": \"wood\", \"position\": "
                   "[-0.4, 1.5, 0]}], \"attachments\": [{\"vertices\": \"bottom_left\", \"to\": \"body\"}]}",
        "cpu");
    const uint32_t corner = mote_world_particle_count(running.world) - 9; // cloth comes behind bodies
    MoteBodyState before, after;
    expect_ok(mote_world_read_bodies(running.world, &before, 1));
    const MoteVec3 start = place_of(&running, corner);
    fixture_advance(&running, 30);
    expect_ok(mote_world_read_bodies(running.world, &after, 1));
    const double held = (double)vec3_length(vec3_sub(start, before.pose.position));
    expect_near((double)vec3_length(vec3_sub(place_of(&running, corner), after.pose.position)), held, 0.05,
                "distance of the corner from the body");
    assert_true(after.pose.position.y < before.pose.position.y - 0.3f);
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

static void wrong_attachments_are_refused(void **state)
{
    (void)state;
    expect_scene_refused(HEAD SHEET "\"attachments\": [{\"vertices\": \"top\", \"cloth\": 1}]}",
                         "expected the number of a cloth, below 1");
    expect_scene_refused(HEAD SHEET "\"attachments\": [{\"vertices\": \"top\", \"to\": \"body\"}]}",
                         "expected the number of a body, below 0");
    expect_scene_refused(HEAD SHEET "\"attachments\": [{\"vertices\": \"middle\"}]}",
                         "attachments[0].vertices: found \"middle\"");
    expect_scene_refused(HEAD SHEET "\"attachments\": [{}]}", "attachments[0]: found no vertices");
    expect_scene_refused(HEAD SHEET "\"attachments\": [{\"box_position\": [9, 9, 9], \"box_size\": [1, 1, 1]}]}",
                         "attachments[0].box_size: found no vertex");
}

static uint64_t run_sheet(const TestBackend *backend)
{
    MoteScene *scene = fixture_scene("sheet.json", HEAD SHEET MOVING);
    MoteSimulation *simulation = NULL;
    uint64_t hash = 0;
    expect_ok(mote_simulation_create(scene, &backend->options, &simulation));
    for (int frame = 0; frame < 20; frame++) {
        expect_ok(mote_simulation_advance_frame(simulation));
    }
    expect_ok(mote_world_state_hash(mote_simulation_world(simulation), &hash));
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
    return hash;
}

static void backends_and_threads_agree(void **state)
{
    (void)state;
    const TestBackend single = {"portable cpu", {.backend = "cpu", .threads = 1, .portable = true}};
    const uint64_t hash = run_sheet(&single);
    assert_true(run_sheet(&test_backends[1]) == hash);
    assert_true(run_sheet(&test_backends[2]) == hash);
    assert_int_equal(keep_vulkan(&test_backends[3].options), 0);
    assert_true(vulkan_may_differ(3) || run_sheet(&test_backends[3]) == hash);
    const TestBackend threads[] = {{"cpu", {.backend = "cpu", .threads = 1}},
                                   {"cpu", {.backend = "cpu", .threads = 5}}};
    assert_true(run_sheet(&threads[0]) == run_sheet(&threads[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_GPUS(pins_follow_their_frame),     ON_CPU_AND_GPUS(pins_follow_a_collider),
        ON_BACKEND(wrong_pins_are_refused, "cpu", 0), ON_CPU_AND_GPUS(keyframes_move_pins),
        cmocka_unit_test(attachments_hold),           cmocka_unit_test(wrong_attachments_are_refused),
        cmocka_unit_test(backends_and_threads_agree),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
