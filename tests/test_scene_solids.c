// SPDX-License-Identifier: MIT
// Bodies and grains of scene files: counts, places, masses and looks that can be computed by hand, and what is refused.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "scene/build.h"
#include "scene/simulation.h"
#include <math.h>

static void expect_close(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%s is %.9g, expected %.9g within %g", what, found, expected, tolerance);
    }
}

static void expect_vector(MoteVec3 found, double x, double y, double z, double tolerance, const char *what)
{
    expect_close((double)found.x, x, tolerance, what);
    expect_close((double)found.y, y, tolerance, what);
    expect_close((double)found.z, z, tolerance, what);
}

// Two threads and every backend: the text of a scene is all that differs between tests.
static const char *const backends[] = {"cpu", "cuda"};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

static void read_bodies(const Running *running, MoteBodyState *rows, uint32_t count)
{
    assert_int_equal(mote_world_body_count(running->world), count);
    expect_ok(mote_world_read_bodies(running->world, rows, count));
}

// ---- Bodies ----------------------------------------------------------------------------------------------------

static void test_a_box(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.1, \"gravity\": [0, 0, 0] }, \"materials\": { \"oak\": { \"density\": 700 } },"
        "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.4&y=0.2&z=0.2\", \"material\": \"oak\", \"position\": [1, 2, 3],"
        "    \"rotation\": [0, 0, 90], \"velocity\": [1, 0, 0], \"angular_velocity\": [0, 180, 0] }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        MoteBodyState body;
        read_bodies(&running, &body, 1);
        assert_int_equal(body.members, 16);
        assert_int_equal(body.clusters, 1);
        expect_close((double)body.mass, 700 * 0.4 * 0.2 * 0.2, 1e-4, "mass");
        expect_vector(body.pose.position, 1, 2, 3, 1e-5, "position");
        expect_vector(body.velocity, 1, 0, 0, 1e-5, "velocity");
        expect_vector(body.angular_velocity, 0, 3.14159265, 0, 1e-3, "angular velocity");
        const MoteParticleView view = fixture_view(&running);
        for (uint32_t i = 0; i < view.count; i++) { // stands upright now
            const float *p = view.positions + 4 * (size_t)i;
            expect_close(fabs((double)p[0] - 1), 0.05, 1e-5, "x");
            assert_true(fabs(fabs((double)p[1] - 2) - 0.05) < 1e-5 || fabs(fabs((double)p[1] - 2) - 0.15) < 1e-5);
            expect_close(fabs((double)p[2] - 3), 0.05, 1e-5, "z");
            assert_int_equal(view.phases[i] & ~MOTE_PHASE_GROUP_MASK, 0);
        }
        fixture_advance(&running, 30);
        read_bodies(&running, &body, 1);
        expect_vector(body.pose.position, 1.5, 2, 3, 1e-3, "position after half a second");
        fixture_stop(&running);
    }
}

static void test_anchor_and_height(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"oak\": {} }, \"bodies\": ["
        "  { \"mesh\": \"shape:box?x=1&y=2&z=1\", \"material\": \"oak\", \"fit_height\": 0.4, \"anchor\": \"base\" },"
        "  { \"mesh\": \"shape:box?x=1&y=2&z=1\", \"material\": \"oak\", \"scale\": 0.2, \"position\": [5, 0, 0] }] }";
    Running running = fixture_start(json, "cpu");
    MoteBodyState rows[2];
    read_bodies(&running, rows, 2);
    assert_int_equal(rows[0].members, 2 * 4 * 2);
    assert_int_equal(rows[1].members, 2 * 4 * 2);
    expect_vector(rows[0].pose.position, 0, 0.2, 0, 1e-5, "on its base");
    expect_vector(rows[1].pose.position, 5, 0, 0, 1e-5, "about its centre");
    assert_int_equal(running.simulation->bodies.model_count, 2); // 0.2 once as a scale and once of a height
    fixture_stop(&running);
}

static void test_copies(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"oak\": {}, \"pine\": { \"density\": 400 } },"
        "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.2&y=0.2&z=0.4\", \"material\": \"oak\", \"position\": [0, 5, 1],"
        "    \"copies\": [3, 2, 1], \"copies_spacing\": [1, 2, 0] },"
        "  { \"mesh\": \"shape:box?x=0.2&y=0.2&z=0.4\", \"material\": \"pine\", \"position\": [50, 0, 0],"
        "    \"copies\": [4, 1, 1], \"copies_jitter\": 0.1, \"copies_turn\": true }] }";
    Running running = fixture_start(json, "cpu");
    MoteBodyState rows[10];
    read_bodies(&running, rows, 10);
    for (uint32_t i = 0; i < 6; i++) {
        expect_vector(rows[i].pose.position, (double)(i % 3) - 1, 4 + 2.0 * (i / 3), 1, 1e-5, "copy");
        expect_close((double)rows[i].mass, 16, 1e-4, "mass");
    }
    double shift = 0;
    for (uint32_t i = 6; i < 10; i++) {
        const MoteVec3 p = rows[i].pose.position;
        expect_vector(p, 48.5 + (i - 6), 0, 0, 0.1 + 1e-4, "shifted copy");
        expect_close((double)rows[i].mass, 6.4, 1e-4, "mass");
        shift = fmax(shift, fmax(fabs((double)p.y), fabs((double)p.z)));
    }
    assert_true(shift > 0.01);
    assert_int_equal(running.simulation->bodies.model_count, 1);
    const uint64_t hash = fixture_hash(&running);
    fixture_stop(&running);

    running = fixture_start(json, "cpu"); // random, but always the same
    assert_true(fixture_hash(&running) == hash);
    fixture_stop(&running);
    MoteScene *scene = NULL;
    const char *const overrides[] = {"bodies[1].seed=2"};
    expect_ok(mote_scene_load(fixture_path("scene.json"), overrides, 1, &scene));
    running = (Running){.scene = scene};
    expect_ok(mote_simulation_create(scene, &(MoteBackendOptions){.backend = "cpu"}, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    assert_true(fixture_hash(&running) != hash);
    fixture_stop(&running);
}

// Blocks on a slope of 20 degrees: s = g (sin a - mu cos a) t^2 / 2, or nothing where mu is larger than the tangent.
static void test_friction_of_materials(void **state)
{
    (void)state;
    static const double friction[] = {0.05, 0.25, 0.45, 0.9};
    const double angle = 20 * 3.14159265358979 / 180, time = 0.75;
    for (int b = 0; b < BACKENDS; b++) {
        Running running = {0};
        const MoteBackendOptions options = {.backend = backends[b], .threads = 2};
        expect_ok(mote_scene_load(MOTE_SOURCE_DIR "/scenes/small/friction_ramp.json", NULL, 0, &running.scene));
        expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
        running.world = mote_simulation_world(running.simulation);
        MoteBodyState before[4], after[4];
        read_bodies(&running, before, 4);
        fixture_advance(&running, 45);
        read_bodies(&running, after, 4);
        for (int i = 0; i < 4; i++) {
            const double x = (double)after[i].pose.position.x - (double)before[i].pose.position.x;
            const double y = (double)after[i].pose.position.y - (double)before[i].pose.position.y;
            const double way = x * cos(angle) - y * sin(angle);
            const double pull = sin(angle) - friction[i] * cos(angle);
            const double expected = pull > 0 ? 0.5 * 9.81 * pull * time * time : 0;
            printf("%s: friction %.2f: slid %.3f m, ideal %.3f m\n", backends[b], friction[i], way, expected);
            expect_close(way, expected, 0.1 * expected + 0.005, "way");
        }
        fixture_stop(&running);
    }
}

// ---- Grains ----------------------------------------------------------------------------------------------------

static double nearest_distance(const MoteParticleView *view, uint32_t i)
{
    double nearest = INFINITY;
    for (uint32_t j = 0; j < view->count; j++) {
        const float *p = view->positions + 4 * (size_t)i, *q = view->positions + 4 * (size_t)j;
        const double d = sqrt(pow((double)p[0] - q[0], 2) + pow((double)p[1] - q[1], 2) + pow((double)p[2] - q[2], 2));
        nearest = j != i ? fmin(nearest, d) : nearest;
    }
    return nearest;
}

#define GRAINS(rest)                                                                                                   \
    "{ \"solver\": { \"spacing\": 0.1, \"solid_distance\": 0.8 }, \"materials\": { \"sand\": { \"density\": 1500 } }," \
    "  \"grains\": [{ \"material\": \"sand\", " rest " }] }"

// How many grains a volume holds; in contact distances (0.08 m) from each other, all within `half` of the origin.
static uint32_t fill(const char *json, double half_x, double half_y, double half_z)
{
    Running running = fixture_start(json, "cpu");
    const MoteParticleView view = fixture_view(&running);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        assert_true(fabs((double)p[0]) <= half_x - 0.04 + 1e-4 && fabs((double)p[1]) <= half_y - 0.04 + 1e-4 &&
                    fabs((double)p[2]) <= half_z - 0.04 + 1e-4);
        expect_close(nearest_distance(&view, i), 0.08, 1e-5, "distance to the nearest grain");
        assert_int_equal(view.phases[i], 2 | MOTE_PHASE_SELF);
        expect_close(1 / (double)p[3], 1500 * 0.08 * 0.08 * 0.08, 1e-4, "mass");
    }
    const uint32_t count = view.count;
    fixture_stop(&running);
    return count;
}

static void test_fillings(void **state)
{
    (void)state;
    assert_int_equal(fill(GRAINS("\"size\": [0.4, 0.32, 0.24]"), 0.2, 0.16, 0.12), 5 * 4 * 3);
    assert_int_equal(fill(GRAINS("\"shape\": \"mesh\", \"mesh\": \"shape:box?x=0.4&y=0.32&z=0.24\""), 0.2, 0.16, 0.12),
                     5 * 4 * 3);
    const uint32_t cubic = fill(GRAINS("\"size\": [0.8, 0.8, 0.8]"), 0.4, 0.4, 0.4);
    const uint32_t dense = fill(GRAINS("\"size\": [0.8, 0.8, 0.8], \"packing\": \"dense\""), 0.4, 0.4, 0.4);
    assert_int_equal(cubic, 1000);
    assert_true(dense > 1150 && dense < 1415); // sqrt(2) times as many but for what the walls cut off
    const uint32_t ball = fill(GRAINS("\"shape\": \"sphere\", \"radius\": 0.4"), 0.4, 0.4, 0.4);
    const uint32_t can = fill(GRAINS("\"shape\": \"cylinder\", \"radius\": 0.4, \"height\": 0.8"), 0.4, 0.4, 0.4);
    assert_true(ball > 300 && ball < 524 && can > ball && can < 786);
}

static void test_jitter(void **state)
{
    (void)state;
    Running running = fixture_start(GRAINS("\"size\": [0.4, 0.4, 0.4], \"jitter\": 0.25, \"position\": [0, 7, 0],"
                                           "\"rotation\": [0, 90, 0], \"velocity\": [0, -2, 0]"),
                                    "cpu");
    const MoteParticleView view = fixture_view(&running);
    assert_int_equal(view.count, 125);
    double largest = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        for (int c = 0; c < 3; c++) {
            const double p = ((double)view.positions[4 * i + c] - (c == 1 ? 7 : 0)) / 0.08;
            largest = fmax(largest, fabs(p - round(p)));
        }
        expect_close((double)view.velocities[4 * i + 1], -2, 1e-6, "speed");
    }
    assert_true(largest > 0.2 && largest <= 0.25 + 1e-4);
    fixture_stop(&running);
}

// Layers of a nozzle of 3 x 3 grains leave 0.08 m apart: after 0.5 s at 1.6 m/s ten of them.
static void test_poured_grains(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.1, \"solid_distance\": 0.8, \"gravity\": [0, 0, 0] },"
        "  \"materials\": { \"sand\": { \"density\": 1500 } }, \"emitters\": [{ \"kind\": \"grains\", \"material\": "
        "\"sand\","
        "    \"shape\": \"box\", \"size\": [0.24, 0, 0.24], \"speed\": 1.6, \"jitter\": 0.1 }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 30);
        const MoteParticleView view = fixture_view(&running);
        expect_close(view.count, 90, 9, "grains");
        for (uint32_t i = 0; i < view.count; i++) {
            assert_int_equal(view.phases[i], 2 | MOTE_PHASE_SELF);
            expect_close(1 / (double)view.positions[4 * i + 3], 1500 * pow(0.08, 3), 1e-4, "mass");
        }
        fixture_stop(&running);
    }
}

static void test_flat_grains(void **state)
{
    (void)state;
    Running running =
        fixture_start("{ \"solver\": { \"dimensions\": 2, \"spacing\": 0.1 }, \"materials\": { \"sand\": {} },"
                      "  \"grains\": [{ \"material\": \"sand\", \"size\": [1, 0.5, 9] }] }",
                      "cpu");
    const MoteParticleView view = fixture_view(&running);
    assert_int_equal(view.count, 50);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_true(view.positions[4 * i + 2] == 0.0f);
        expect_close(1 / (double)view.positions[4 * i + 3], 1000 * 0.01, 1e-3, "mass");
    }
    fixture_stop(&running);
}

// ---- Looks -----------------------------------------------------------------------------------------------------

static MoteVec3 turned(MoteQuaternion q, MoteVec3 a, MoteVec3 b) // q (a - b)
{
    return scene_rotate(q, (MoteVec3){a.x - b.x, a.y - b.y, a.z - b.z});
}

// Where the renderer puts vertex v of an instance, from the particles as they are at the start.
static MoteVec3 skinned_vertex(const MoteRenderMesh *mesh, const MoteRenderInstance *instance,
                               const MoteParticleView *view, uint32_t first_id, uint32_t v)
{
    MoteVec3 sum = {0, 0, 0};
    for (uint32_t k = 4 * v; k < 4 * v + 4; k++) {
        const uint32_t id = first_id + mesh->members[k];
        uint32_t slot = 0;
        while (slot < view->count && view->ids[slot] != id) {
            slot++;
        }
        assert_true(slot < view->count);
        const MoteVec3 offset = turned(instance->pose.rotation, mesh->positions[v], mesh->rests[k]);
        sum.x += mesh->weights[k] * (view->positions[4 * slot] + offset.x);
        sum.y += mesh->weights[k] * (view->positions[4 * slot + 1] + offset.y);
        sum.z += mesh->weights[k] * (view->positions[4 * slot + 2] + offset.z);
    }
    return sum;
}

static void test_looks(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"oak\": { \"color\": [0.5, 0.3, 0.1] }, \"tin\": {} },"
        "  \"bodies\": [{ \"mesh\": \"shape:torus\", \"material\": \"oak\", \"position\": [0, 5, 1],"
        "    \"copies\": [2, 1, 1], \"copies_spacing\": [3, 0, 0], \"copies_turn\": true, \"tint_variation\": 0.5 },"
        "  { \"mesh\": \"shape:box\", \"material\": \"tin\", \"position\": [0, 9, 0], \"look\": \"particles\" },"
        "  { \"mesh\": \"shape:box\", \"material\": \"tin\", \"position\": [9, 9, 0], \"look\": \"hidden\","
        "    \"stiffness\": 0.5, \"cluster_spacing\": 3 }],"
        "  \"grains\": [{ \"material\": \"tin\", \"size\": [0.2, 0.2, 0.2], \"position\": [-9, 0, 0] }] }";
    Running running = fixture_start(json, "cpu");
    const MoteRenderMesh *meshes;
    uint32_t mesh_count;
    expect_ok(mote_simulation_render_meshes(running.simulation, &meshes, &mesh_count));
    assert_int_equal(mesh_count, 2);
    assert_false(meshes[0].deforms);
    assert_true(meshes[1].deforms);
    expect_vector(meshes[0].color, 0.5, 0.3, 0.1, 1e-6, "colour");
    MoteRenderScene look;
    expect_ok(mote_simulation_render_scene(running.simulation, NULL, &look));
    assert_int_equal(look.instance_count, 3);
    assert_int_equal(look.instances[0].look, MOTE_LOOK_SOLID);
    assert_int_equal(look.instances[2].look, MOTE_LOOK_HIDDEN);
    assert_true(look.instances[0].tint.x != look.instances[1].tint.x);
    MoteBodyState rows[4];
    read_bodies(&running, rows, 4);
    assert_int_equal(rows[3].present, 1000);
    assert_true(rows[3].clusters > 1);
    static const uint32_t materials[] = {2, 2, 3, 3};
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(rows[i].group < look.group_count);
        assert_int_equal(look.group_materials[rows[i].group], materials[i]);
    }
    assert_int_equal(look.group_materials[3], 3); // of the grains
    assert_int_equal(look.instances[1].member_offset, rows[1].first_member);

    // At the start the skin is the mesh itself, turned and moved: ids of bodies follow those of the 8 grains.
    const MoteParticleView view = fixture_view(&running);
    for (uint32_t i = 0; i < 2; i++) {
        const MoteRenderInstance *instance = &look.instances[i];
        for (uint32_t v = 0; v < meshes[0].vertex_count; v += 97) {
            const MoteVec3 found = skinned_vertex(&meshes[0], instance, &view, 8 + i * rows[0].members, v);
            const MoteVec3 p = scene_rotate(instance->pose.rotation, meshes[0].positions[v]);
            expect_vector(found, (double)p.x + (i == 0 ? -1.5 : 1.5), (double)p.y + 5, (double)p.z + 1, 1e-4, "vertex");
        }
    }
    fixture_stop(&running);
}

static void test_states(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"oak\": { \"static_friction\": 0.5 } },"
        "  \"colliders\": [{ \"shape\": \"plane\", \"material\": \"oak\" }],"
        "  \"emitters\": [{ \"kind\": \"grains\", \"material\": \"oak\", \"jitter\": 0.2, \"position\": [0, 3, 0],"
        "    \"rotation\": [180, 0, 0] }],"
        "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.4&y=0.4&z=0.4\", \"material\": \"oak\", \"position\": [0, 0.5, 0],"
        "    \"copies\": [1, 3, 1] }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 10);
        expect_ok(mote_simulation_save(running.simulation, fixture_path("half.state")));
        fixture_advance(&running, 10);
        const uint64_t hash = fixture_hash(&running);
        fixture_stop(&running);
        running = fixture_start(json, backends[b]);
        expect_ok(mote_simulation_load(running.simulation, fixture_path("half.state")));
        fixture_advance(&running, 10);
        assert_true(fixture_hash(&running) == hash);
        fixture_stop(&running);
    }
}

// A scene's body can be taken out of its world: it is no longer drawn, and a state saved then goes on bit for bit in a
// new simulation, also in one whose rows of that body are still there.
static void test_states_after_removals(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"oak\": { \"static_friction\": 0.5 } },"
        "  \"colliders\": [{ \"shape\": \"plane\", \"material\": \"oak\" }],"
        "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.4&y=0.4&z=0.4\", \"material\": \"oak\", \"position\": [0, 0.5, 0],"
        "    \"copies\": [1, 3, 1], \"copies_spacing\": [0, 0.5, 0] }] }";
    for (int b = 0; b < BACKENDS; b++) {
        for (uint32_t removed = 1; removed < 3; removed++) { // in the middle of the tables, and at their end
            Running running = fixture_start(json, backends[b]);
            MoteBodyState rows[3];
            MoteRenderScene look;
            read_bodies(&running, rows, 3);
            fixture_advance(&running, 5);
            expect_ok(mote_world_remove_body(running.world, rows[removed].id));
            expect_ok(mote_simulation_render_scene(running.simulation, NULL, &look));
            assert_int_equal(look.instance_count, 2);
            fixture_advance(&running, 5);
            expect_ok(mote_simulation_save(running.simulation, fixture_path("removed.state")));
            fixture_advance(&running, 10);
            const uint64_t hash = fixture_hash(&running);
            fixture_stop(&running);
            running = fixture_start(json, backends[b]);
            expect_ok(mote_simulation_load(running.simulation, fixture_path("removed.state")));
            read_bodies(&running, rows, 3);
            assert_true(rows[removed].present == 0 && rows[0].present == 64);
            fixture_advance(&running, 10);
            assert_true(fixture_hash(&running) == hash);
            fixture_stop(&running);
        }
    }
}

// ---- Colliders from meshes ----------------------------------------------------------------------------------------

// The height at which the only grain of a scene comes to rest near an x.
static void expect_rest(const Running *running, double x, double height)
{
    const MoteParticleView view = fixture_view(running);
    uint32_t found = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        if (fabs((double)p[0] - x) < 0.2) {
            expect_close((double)p[1], height, 2e-3, "height of a grain at rest");
            found++;
        }
    }
    assert_int_equal(found, 1);
}

#define GRAIN(x, y) "{ \"material\": \"sand\", \"size\": [0.1, 0.1, 0.1], \"position\": [" x ", " y ", 0] }"
#define SAND        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"sand\": { \"static_friction\": 0.5 } }, "

// Grains on a hull, on a field that is moved by keyframes, and in a container rest half a spacing from the surface.
static void test_mesh_colliders(void **state)
{
    (void)state;
    static const char solids[] = SAND "\"grains\": [" GRAIN("0", "1.2") ", " GRAIN(
        "5", "1.2") "],"
                    "  \"colliders\": [{ \"shape\": \"plane\", \"position\": [0, -1, 0] },"
                    "    { \"shape\": \"hull\", \"mesh\": \"shape:box\", \"position\": [0, 0.5, 0] },"
                    "    { \"shape\": \"mesh\", \"mesh\": \"shape:box?y=2\", \"fit_height\": 1, \"anchor\": \"base\","
                    "      \"position\": { \"keyframes\": [[0, [5, 0, 0]], [0.5, [5, 0.25, 0]]] } }] }";
    static const char container[] =
        SAND "\"grains\": [" GRAIN("0", "1.2") "],"
                                               "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh\": \"shape:box\", "
                                               "\"scale\": 2, \"field_mode\": \"outside\","
                                               "    \"cell_size\": 0.05, \"position\": [0, 1.5, 0] }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(solids, backends[b]);
        fixture_advance(&running, 60);
        expect_rest(&running, 0, 1.05);
        expect_rest(&running, 5, 1.30);
        MoteRenderScene look;
        const MoteRenderMesh *meshes;
        uint32_t mesh_count;
        expect_ok(mote_simulation_render_scene(running.simulation, NULL, &look));
        expect_ok(mote_simulation_render_meshes(running.simulation, &meshes, &mesh_count));
        assert_int_equal(mesh_count, 2);
        assert_int_equal(look.shape_count, 1); // the plane
        assert_int_equal(look.instance_count, 2);
        assert_int_equal(look.instances[1].look, MOTE_LOOK_SOLID);
        expect_vector(look.instances[1].pose.position, 5, 0.25, 0, 1e-6, "pose");
        fixture_stop(&running);

        running = fixture_start(container, backends[b]);
        fixture_advance(&running, 60);
        expect_rest(&running, 0, 0.55);
        expect_ok(mote_simulation_render_scene(running.simulation, NULL, &look));
        assert_int_equal(look.instances[0].look, MOTE_LOOK_GLASS);
        fixture_stop(&running);
    }
}

// ---- Sand ------------------------------------------------------------------------------------------------------

// How high the castle of scenes/small stands after two seconds (m), and how far from its middle sand lies on average.
static void castle(const char *friction, double *top, double *spread)
{
    char model[64];
    snprintf(model, sizeof model, "solver.friction_model=%s", friction);
    const char *const overrides[] = {model};
    Running running = {0};
    expect_ok(mote_scene_load(MOTE_SOURCE_DIR "/scenes/small/sandcastle.json", overrides, 1, &running.scene));
    const MoteBackendOptions options = {.backend = "cpu", .threads = 2};
    expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    fixture_advance(&running, 120);
    const MoteParticleView view = fixture_view(&running);
    *top = *spread = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        *top = fmax(*top, (double)p[1]);
        *spread += hypot((double)p[0], (double)p[2]) / view.count;
    }
    fixture_stop(&running);
}

// UPP Fig. 11: friction on positions keeps a steep pile, friction on velocities after the solve lets it spread.
static void test_sandcastle(void **state)
{
    (void)state;
    double top, spread, slid_top, slid_spread;
    castle("position", &top, &spread);
    castle("velocity", &slid_top, &slid_spread);
    print_message(
        "castle of 0.91 m after 2 s: %.2f m high, sand at %.3f m; with friction on velocities %.2f m, %.3f m\n", top,
        spread, slid_top, slid_spread);
    assert_true(top > 0.75);
    assert_true(slid_top < 0.75 * top);
    assert_true(slid_spread > 1.1 * spread);
}

// ---- What is refused -------------------------------------------------------------------------------------------

// A scene that is refused when it is read, or when it is made into a simulation.
static void expect_refused(const char *json, const char *text)
{
    fixture_write("scene.json", json, strlen(json));
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    MoteResult result = mote_scene_load(fixture_path("scene.json"), NULL, 0, &scene);
    if (result == MOTE_OK) {
        const MoteBackendOptions options = {.backend = "cpu"};
        result = mote_simulation_create(scene, &options, &simulation);
    }
    assert_int_equal(result, MOTE_ERROR_INPUT);
    assert_null(simulation);
    expect_message(fixture_path("scene.json"));
    expect_message(text);
    mote_scene_destroy(scene);
}

#define BODY(rest) "{ \"materials\": { \"oak\": {} }, \"bodies\": [{ \"material\": \"oak\", " rest " }] }"

static void test_errors(void **state)
{
    (void)state;
    expect_refused(BODY("\"position\": [0, 0, 0]"), "bodies[0].mesh: found nothing, expected a mesh");
    expect_refused(BODY("\"mesh\": \"\""), ":1:71: bodies[0].mesh: found \"\", expected a mesh");
    expect_refused(BODY("\"mesh\": \"none.obj\""), ":1:71: bodies[0].mesh: found \"none.obj\", expected a mesh: ");
    expect_refused(BODY("\"mesh\": \"shape:cube\""), "bodies[0].mesh: found \"shape:cube\", expected a mesh: ");
    expect_refused(BODY("\"mesh\": \"shape:bowl_shell\""), "bodies[0].mesh: \"shape:bowl_shell\" cannot be filled");
    expect_refused(BODY("\"mesh\": \"shape:torus\", \"spacing\": 5"), "cannot be filled with particles");
    expect_refused(BODY("\"mesh\": \"shape:box\", \"spacing\": 0.0001"), "cannot be filled with particles");
    expect_refused(BODY("\"mesh\": \"shape:box\", \"copies\": [1, 2.5, 1]"),
                   "bodies[0].copies[1]: found 2.5, expected a whole number");
    expect_refused(BODY("\"mesh\": \"shape:box\", \"copies\": [200, 200, 200]"), "found 8000000 copies");
    expect_refused(BODY("\"mesh\": \"shape:box\", \"cluster_spacing\": 4, \"cluster_radius\": 3"),
                   "bodies[0].cluster_radius: found 3, expected 0 or at least");
    expect_refused("{ \"bodies\": [{ \"mesh\": \"shape:box\" }] }", "bodies[0].material: found nothing");
    expect_refused("{ \"bodies\": [{ \"mesh\": \"shape:box\", \"material\": \"wal\" }] }", "did you mean \"wall\"?");
    expect_refused(
        "{ \"solver\": { \"dimensions\": 2 }, \"bodies\": [{ \"mesh\": \"shape:box\", \"material\": \"wall\" }] }",
        "expected none in 2D");
    expect_refused(GRAINS("\"shape\": \"mesh\""), "grains[0].mesh: found no mesh");
    expect_refused(GRAINS("\"mesh\": \"shape:box\""), "grains[0].mesh: found a mesh, expected none");
    expect_refused(GRAINS("\"shape\": \"mesh\", \"mesh\": \"shape:bowl_shell\""), "cannot be filled with grains");
    expect_refused(GRAINS("\"shape\": \"sphere\", \"radius\": 0.01"), "grains[0]: no grain fits");
    expect_refused(GRAINS("\"size\": [100000, 100000, 100000]"), "check the size and solver.spacing");
    expect_refused(GRAINS("\"shape\": \"cylinder\", \"height\": 0"),
                   "grains[0].height: found 0, expected more than 0 m");
    expect_refused("{ \"colliders\": [{ \"shape\": \"mesh\" }] }", "colliders[0].mesh: found no mesh");
    expect_refused("{ \"colliders\": [{ \"shape\": \"box\", \"mesh\": \"shape:box\" }] }",
                   "colliders[0].mesh: found a mesh, expected none");
    expect_refused("{ \"colliders\": [{ \"shape\": \"mesh\", \"mesh\": \"shape:box\", \"inside_out\": true }] }",
                   "colliders[0].inside_out: found true, expected false for a mesh");
    expect_refused("{ \"colliders\": [{ \"shape\": \"mesh\", \"mesh\": \"shape:bowl_shell\" }] }",
                   "colliders[0].mesh: \"shape:bowl_shell\" cannot be a collider");
    expect_refused(
        "{ \"colliders\": [{ \"shape\": \"mesh\", \"mesh\": \"shape:box\", \"friction_texture\": \"scene.json\" }] }",
        "it has no texture coordinates, which friction_texture needs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_box),
        cmocka_unit_test(test_anchor_and_height),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_friction_of_materials),
        cmocka_unit_test(test_fillings),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_poured_grains),
        cmocka_unit_test(test_flat_grains),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_states_after_removals),
        cmocka_unit_test(test_mesh_colliders),
        cmocka_unit_test(test_sandcastle),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
