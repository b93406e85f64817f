// SPDX-License-Identifier: MIT
// Calls that are asked to end early: at any moment, on every backend, and what is there afterwards.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "geometry/mesh.h"
#include "render_fixture.h"
#include "scene/simulation.h"
#include <stdatomic.h>

// Says yes from the given question on.
typedef struct Asking {
    atomic_uint questions;
    uint32_t patience;
} Asking;

static bool ask(void *context)
{
    Asking *asking = context;
    return atomic_fetch_add(&asking->questions, 1u) >= asking->patience;
}

static void expect_stopped(MoteResult result)
{
    if (result != MOTE_ERROR_STOPPED) {
        fail_msg("expected a call that was stopped, found %d: %s", (int)result, mote_error_message());
    }
    expect_message("stopped before it was done");
}

// Liquid, grains, a body, a collider with a mass, an emitter, a kill volume and keyframes: every part of a step.
static const char everything[] =
    "{\"solver\": {\"spacing\": 0.05, \"substeps\": 3, \"iterations\": 2, \"vorticity\": 1},"
    " \"materials\": {\"rubber\": {\"density\": 400, \"static_friction\": 0.5, \"rolling_friction\": 0.1}},"
    " \"fluids\": [{\"position\": [0, 0.3, 0], \"size\": [0.3, 0.3, 0.3]}],"
    " \"grains\": [{\"material\": \"rubber\", \"position\": [0.3, 0.3, 0], \"size\": [0.2, 0.2, 0.2]}],"
    " \"bodies\": [{\"material\": \"rubber\", \"mesh\": \"shape:box\", \"fit_height\": 0.2, \"position\": [-0.3, 0.3, "
    "0]}],"
    " \"colliders\": [{\"shape\": \"box\", \"inside_out\": true, \"position\": [0, 0.5, 0], \"size\": [1, 1, 1]},"
    "   {\"shape\": \"sphere\", \"radius\": 0.1, \"density\": 500, \"position\": [0, 0.8, 0.2]},"
    "   {\"shape\": \"sphere\", \"radius\": 0.1, \"position\": {\"keyframes\": [[0, [0.3, 0.1, 0.3]], [1, [-0.3, 0.1, "
    "0.3]]]}}],"
    " \"emitters\": [{\"position\": [0, 0.9, 0], \"rotation\": [180, 0, 0], \"radius\": 0.08, \"speed\": 4}],"
    " \"kill_volumes\": [{\"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"position\": [0.1, 0.05, 0]}]}";

static Running start_on(const char *backend)
{
    return fixture_start(everything, backend);
}

// Wherever in the frame it stops, the simulation is where it was, and goes on as if nothing had happened.
static void a_stopped_frame_leaves_the_one_before(void **state)
{
    Running running = start_on(*state);
    fixture_advance(&running, 2);
    const uint64_t before = fixture_hash(&running), emitted = mote_simulation_emitted(running.simulation);
    uint32_t stops = 0;
    for (uint32_t patience = 1;; patience += 1 + patience / 4) {
        Asking asking = {.patience = patience};
        mote_stop_when(ask, &asking);
        // A frame counts as long, whatever it takes here.
        running.simulation->frame_seconds = 10.0;
        const MoteResult result = mote_simulation_advance_frame(running.simulation);
        mote_stop_when(NULL, NULL);
        if (result == MOTE_OK) {
            break;
        }
        expect_stopped(result);
        stops++;
        assert_int_equal(mote_simulation_frame(running.simulation), 2);
        assert_true(fixture_hash(&running) == before);
        assert_true(mote_simulation_emitted(running.simulation) == emitted);
    }
    assert_in_range(stops, 8, 1000); // somewhere in every part of a step
    fixture_advance(&running, 2);
    const uint64_t after = fixture_hash(&running);
    fixture_stop(&running);

    Running undisturbed = start_on(*state);
    fixture_advance(&undisturbed, 5);
    assert_true(fixture_hash(&undisturbed) == after);
    fixture_stop(&undisturbed);
}

// A short frame is done rather than dropped: nothing is kept for it.
static void short_frames_go_on_to_their_end(void **state)
{
    Running running = start_on(*state);
    Asking asking = {.patience = 1};
    running.simulation->frame_seconds = 0.01;
    mote_stop_when(ask, &asking);
    const MoteResult result = mote_simulation_advance_frame(running.simulation);
    mote_stop_when(NULL, NULL);
    expect_ok(result);
    assert_int_equal(mote_simulation_frame(running.simulation), 1);
    fixture_stop(&running);
}

static void steps_stop_and_the_world_can_be_destroyed(void **state)
{
    for (uint32_t patience = 0; patience < 100; patience = 2 * patience + 1) {
        Running running = start_on(*state);
        Asking asking = {.patience = patience};
        uint32_t done;
        mote_stop_when(ask, &asking);
        const MoteResult result = mote_world_steps(running.world, 0.005f, 1000000, &done);
        mote_stop_when(NULL, NULL);
        expect_stopped(result);
        assert_true(done < 1000000);
        fixture_stop(&running);
    }
}

// ---- Making ----

// Calls `make` with less and more patience until it succeeds, and expects that it was stopped often enough before.
static void stop_at_every_moment(MoteResult (*make)(void *), void *context, uint32_t least)
{
    uint32_t stops = 0;
    for (uint32_t patience = 0;; patience += 1 + patience / 3) {
        Asking asking = {.patience = patience};
        mote_stop_when(ask, &asking);
        const MoteResult result = make(context);
        mote_stop_when(NULL, NULL);
        if (result == MOTE_OK) {
            break;
        }
        expect_stopped(result);
        stops++;
    }
    assert_in_range(stops, least, 1000);
}

static MoteResult make_simulation(void *context)
{
    MoteSimulation *simulation;
    const MoteBackendOptions options = {.backend = "cpu", .threads = 2};
    const MoteResult result = mote_simulation_create(context, &options, &simulation);
    assert_true((simulation != NULL) == (result == MOTE_OK));
    mote_simulation_destroy(simulation);
    return result;
}

static void simulations_are_made_or_not_there(void **state)
{
    (void)state;
    MoteScene *scene = fixture_scene("scene.json", everything);
    stop_at_every_moment(make_simulation, scene, 6);
    mote_scene_destroy(scene);
    // Components that overlap are cut; grains are moved into a mesh; a mesh becomes a field.
    scene = fixture_scene(
        "meshes.json", "{\"solver\": {\"spacing\": 0.04},"
                       " \"materials\": {\"stone\": {\"density\": 2000}},"
                       " \"bodies\": [{\"material\": \"stone\", \"mesh\": \"shape:torus\", \"inset\": 0.5,"
                       "   \"fit_height\": 0.2}],"
                       " \"grains\": [{\"material\": \"stone\", \"shape\": \"mesh\", \"mesh\": \"shape:torus\","
                       "   \"position\": [0, 2, 0]}],"
                       " \"colliders\": [{\"shape\": \"mesh\", \"mesh\": \"shape:torus\", \"position\": [0, -2, 0]}]}");
    stop_at_every_moment(make_simulation, scene, 8);
    mote_scene_destroy(scene);
}

static MoteResult make_mesh(void *context)
{
    Mesh mesh;
    MeshReport report;
    MoteResult result = mesh_load(context, NULL, &mesh);
    assert_true((mesh.positions != NULL) == (result == MOTE_OK));
    result = result == MOTE_OK ? mesh_report(&mesh, &report) : result;
    mesh_free(&mesh);
    return result;
}

// What is made of a mesh after it was read: vertices made one, normals, edges.
static void meshes_stop_between_their_parts(void **state)
{
    (void)state;
    stop_at_every_moment(make_mesh, (void *)(uintptr_t) "shape:torus", 4);
}

// ---- Pictures ----

typedef struct Drawing {
    MoteRenderer *renderer;
    MoteWorld *world;
    MoteRenderScene scene;
} Drawing;

static MoteResult draw_picture(void *context)
{
    Drawing *drawing = context;
    const MotePicture picture = {.width = 32, .height = 24, .samples = 6};
    return mote_renderer_draw(drawing->renderer, drawing->world, &drawing->scene, &picture);
}

static void pictures_stop_between_their_samples(void **state)
{
    (void)state;
    const MoteVec3 position = {0, 0, 0};
    Drawing drawing = {.renderer = make_renderer(MOTE_SPLAT_AUTO),
                       .world = make_world("cpu", NULL, 0.1f, 2.0f, &position, 1),
                       .scene = make_scene((MoteVec3){0, 0, 2}, (MoteVec3){0, 0, 0}, 40)};
    stop_at_every_moment(draw_picture, &drawing, 4);
    mote_world_destroy(drawing.world);
    end_renderer(drawing.renderer);
}

// Drivers compile for seconds.
static void renderers_are_made_or_not_there(void **state)
{
    (void)state;
    for (uint32_t patience = 0; patience < 12; patience = 3 * patience + 1) {
        const MoteRendererOptions options = mote_default_renderer_options();
        Asking asking = {.patience = patience};
        MoteRenderer *renderer;
        mote_stop_when(ask, &asking);
        const MoteResult result = mote_renderer_create(&options, &renderer);
        mote_stop_when(NULL, NULL);
        expect_stopped(result);
        assert_null(renderer);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
#define ON(test, backend)                                                                                              \
    {                                                                                                                  \
        .name = #test " [" backend "]", .test_func = test, .setup_func = open_for, .teardown_func = fixture_close,     \
        .initial_state = (void *)(uintptr_t)backend                                                                    \
    }
#define ON_EVERY_BACKEND(test) ON(test, "cpu"), ON(test, "cuda"), ON(test, "vulkan")

static int open_for(void **state)
{
    void *kept = *state;
    const int result = fixture_open(state);
    *state = kept;
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(a_stopped_frame_leaves_the_one_before),
        ON_EVERY_BACKEND(short_frames_go_on_to_their_end),
        ON_EVERY_BACKEND(steps_stop_and_the_world_can_be_destroyed),
        TEST(simulations_are_made_or_not_there),
        TEST(meshes_stop_between_their_parts),
        TEST(renderers_are_made_or_not_there),
        TEST(pictures_stop_between_their_samples),
    };
    // A device's pipelines are compiled once for all its worlds, and go with the last of them.
    const MoteSettings settings = mote_default_settings();
    MoteWorld *kept;
    setenv("LP_NUM_THREADS", "0", 0); // Mesa: for few particles, waking threads takes longer than the work
    keep_drivers();
    expect_ok(mote_world_create(&settings, &(MoteBackendOptions){.backend = "vulkan"}, &kept));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mote_world_destroy(kept);
    return failed;
}
