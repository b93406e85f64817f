// SPDX-License-Identifier: MIT
// Rods: beams against beam theory, ropes against the catenary, twist, momentum, cuts, energy, and the same bits however
// they are run. Those of scene files: curves, ends, what is refused, and states.
#include "solid_fixture.h"

#include "base/vec.h"
#include "simulation_fixture.h"

#define PI 3.14159265358979323846

enum { NODES_MAX = 256 };

static MoteSettings rod_settings(void)
{
    MoteSettings settings = solid_settings(0.05f);
    settings.sleep_speed = 0.0f;
    settings.iterations = 2;
    return settings;
}

// A rod through `places`, or straight from one point to another. Nodes have the mass of their halves of segments, ends
// that are held none.
typedef struct RodPlan {
    MoteVec3 from, to;
    const MoteVec3 *places, *velocities; // or NULL
    uint32_t segments;
    bool held[2];
    MoteRod rod; // but for its nodes
} RodPlan;

static RodPlan beam(uint32_t segments, float young_modulus)
{
    const double r = 0.02, area = PI * r * r;
    RodPlan plan = {.to = {1, 0, 0}, .segments = segments, .held = {true, false}, .rod = mote_default_rod()};
    plan.rod.radius = (float)r;
    plan.rod.linear_density = (float)(1000.0 * area);
    plan.rod.stretch_stiffness = (float)(young_modulus * area);
    plan.rod.bend_stiffness = (float)(young_modulus * area * r * r / 4.0);
    plan.rod.twist_stiffness = 0.8f * plan.rod.bend_stiffness;
    plan.rod.clamped[0] = true;
    plan.rod.damping = 0.02f;
    return plan;
}

static void make_nodes(MoteWorld *world, const RodPlan *plan, MoteParticleHandle *handles)
{
    const uint32_t count = plan->segments + 1;
    MoteVec3 places[NODES_MAX];
    float masses[NODES_MAX];
    uint32_t ids[NODES_MAX], first = 0;
    const MoteVec3 way = vec3_sub(plan->to, plan->from);
    const float mass = plan->rod.linear_density * vec3_length(way) / (float)plan->segments;
    for (uint32_t i = 0; i < count; i++) {
        const bool last = i == plan->segments;
        places[i] = vec3_add_scaled(plan->from, way, (float)i / (float)plan->segments);
        masses[i] = (i == 0 && plan->held[0]) || (last && plan->held[1]) ? 0.0f : i == 0 || last ? 0.5f * mass : mass;
    }
    const MoteParticles particles = {.count = count,
                                     .positions = plan->places != NULL ? plan->places : places,
                                     .velocities = plan->velocities,
                                     .masses = masses,
                                     .phase = MOTE_PHASE(MOTE_KIND_BODY, 0)};
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = first + i;
    }
    expect_ok(mote_world_make_handles(world, ids, count, handles));
}

static void add_rod(MoteWorld *world, const RodPlan *plan)
{
    MoteParticleHandle handles[NODES_MAX];
    MoteRod rod = plan->rod;
    make_nodes(world, plan, handles);
    rod.nodes = handles;
    rod.node_count = plan->segments + 1;
    expect_ok(mote_world_add_rod(world, &rod, NULL));
}

static MoteRodNodeState node_of(MoteWorld *world, uint32_t i)
{
    MoteRodNodeState rows[NODES_MAX];
    expect_ok(mote_world_read_rods(world, rows, NODES_MAX));
    return rows[i];
}

// The drop of a cantilever's tip once it is at rest.
static double sag(const TestBackend *backend, const RodPlan *plan, uint32_t iterations, float dt)
{
    MoteSettings settings = rod_settings();
    settings.iterations = iterations;
    MoteWorld *world = make_world(backend, &settings);
    add_rod(world, plan);
    expect_ok(mote_world_steps(world, dt, (uint32_t)(2.0f / dt), NULL));
    const double drop = -(double)node_of(world, plan->segments).node.position.y;
    mote_world_destroy(world);
    return drop;
}

// Euler-Bernoulli: w L^4 / 8 EI under its own weight, from the first iteration on, at any step. Of n segments it is
// exact but for a fraction of 1/n^2.
static void a_cantilever_sags_as_beams_do(void **state)
{
    for (float young = 3e8f; young < 1e10f; young *= 10.0f) {
        const RodPlan plan = beam(20, young);
        const double weight = (double)plan.rod.linear_density * 9.81;
        const double theory = weight / (8.0 * (double)plan.rod.bend_stiffness);
        expect_near(sag(*state, &plan, 1, 1.0f / 60.0f), theory, 0.02 * theory, "sag, 1 iteration");
        expect_near(sag(*state, &plan, 4, 1.0f / 240.0f), theory, 0.02 * theory, "sag, 4 iterations");
    }
    const RodPlan fine = beam(80, 1e9f); // its system has a condition of 80^4: iterations refine the solution
    const double theory = (double)fine.rod.linear_density * 9.81 / (8.0 * (double)fine.rod.bend_stiffness);
    expect_near(sag(*state, &fine, 3, 1.0f / 240.0f), theory, 0.005 * theory, "sag of 80 segments");
}

// What hangs on a rod stretches it by m g L / EA, and is held by m g, also through 200 segments and one iteration.
static void a_hanging_weight_stretches_it(void **state)
{
    MoteSettings settings = rod_settings();
    settings.iterations = 1;
    MoteWorld *world = make_world(*state, &settings);
    RodPlan plan = beam(200, 1e6f);
    plan.to = (MoteVec3){0, -1, 0};
    const uint32_t last = plan.segments;
    add_rod(world, &plan);
    expect_ok(mote_world_steps(world, 1.0f / 120.0f, 240, NULL));
    const double weight = (double)plan.rod.linear_density * 9.81, ea = (double)plan.rod.stretch_stiffness;
    const MoteRodNodeState top = node_of(world, 0), tip = node_of(world, last);
    expect_near(-(double)tip.node.position.y - 1.0, 0.5 * weight / ea, 0.01 * 0.5 * weight / ea, "extension");
    expect_near(-(double)top.force.y, weight * (1.0 - 0.5 / last), 0.005 * weight, "force at the top");
    mote_world_destroy(world);
}

// The a of y = a cosh(x / a), the shape in which a chain of length 1 hangs between two points `span` apart.
static double catenary(double span)
{
    double low = 1e-3, high = 100.0;
    for (int i = 0; i < 200; i++) {
        const double a = 0.5 * (low + high);
        *(2.0 * a * sinh(0.5 * span / a) > 1.0 ? &low : &high) = a;
    }
    return low;
}

// A limp rod between two pins, let go from a V, hangs as the catenary: every node within 1 % of its length.
static void a_rope_hangs_as_the_catenary(void **state)
{
    enum { SEGMENTS = 64 };
    const double span = 0.6, a = catenary(span);
    MoteSettings settings = rod_settings();
    settings.damping = 3.0f;
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 places[SEGMENTS + 1];
    for (uint32_t i = 0; i <= SEGMENTS; i++) {
        const float t = (float)i / SEGMENTS, down = -2.0f * fminf(t, 1.0f - t);
        places[i] = (MoteVec3){(float)span * t, 0.4f * down, 0}; // 0.3 : 0.4 : 0.5
    }
    RodPlan plan = beam(SEGMENTS, 1e9f);
    plan.places = places;
    plan.held[1] = true;
    plan.rod.bend_stiffness = plan.rod.twist_stiffness = 0.0f;
    plan.rod.clamped[0] = false;
    add_rod(world, &plan);
    expect_ok(mote_world_steps(world, 1.0f / 120.0f, 480, NULL));
    MoteRodNodeState rows[NODES_MAX];
    expect_ok(mote_world_read_rods(world, rows, NODES_MAX));
    for (uint32_t i = 0; i <= SEGMENTS; i++) {
        const double x = (double)rows[i].node.position.x - 0.5 * span;
        expect_near(rows[i].node.position.y, a * (cosh(x / a) - cosh(0.5 * span / a)), 0.004, "height of a node");
    }
    mote_world_destroy(world);
}

// The angle (rad) by which a segment's frame has turned about the x axis, its rod's, from the first segment's.
static double twist_of(MoteWorld *world, uint32_t segment)
{
    const MoteQuaternion a = node_of(world, 0).rotation, b = node_of(world, segment).rotation;
    const MoteQuaternion way = quat_product(quat_conjugate(a), b); // about z, in the first frame
    return 2.0 * atan2(way.z, way.w);
}

// Held at both ends it pushes back with GJ phi / L; let go at one it untwists, and swings by its own inertia.
static void twist_pushes_back_and_untwists(void **state)
{
    enum { SEGMENTS = 16 };
    MoteSettings settings = rod_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    const double span = 1.0 * (SEGMENTS - 1) / SEGMENTS; // between the middles of the first and the last segment
    RodPlan plan = beam(SEGMENTS, 1e7f);
    plan.rod.twist = 2.0f;
    plan.held[1] = plan.rod.clamped[1] = true;
    MoteWorld *held = make_world(*state, &settings);
    add_rod(held, &plan);
    expect_near(twist_of(held, SEGMENTS - 1), 2.0, 1e-4, "twist at the start");
    expect_ok(mote_world_steps(held, 1.0f / 240.0f, 60, NULL));
    // A joint at a clamp bends for a half more; the chord of 2 / 15 rad is shorter than its arc by less than 0.1 %.
    const double torque = (double)plan.rod.twist_stiffness * 2.0 / (span + 1.0 / SEGMENTS);
    expect_near(fabs((double)node_of(held, 5).torque.x), torque, 0.005 * torque, "torque");
    mote_world_destroy(held);

    plan.held[1] = plan.rod.clamped[1] = false;
    MoteWorld *loose = make_world(*state, &settings);
    add_rod(loose, &plan);
    expect_ok(mote_world_steps(loose, 1.0f / 240.0f, 240, NULL));
    expect_near(twist_of(loose, SEGMENTS - 1), 0.0, 0.02, "twist once it is let go");
    expect_near(node_of(loose, SEGMENTS).node.position.x, 1.0, 1e-4, "its free end");
    mote_world_destroy(loose);
}

// The stiffer, the less it bends; without resistance it hangs straight down.
static void limp_rods_hang_down(void **state)
{
    RodPlan plan = beam(24, 1e7f);
    plan.rod.bend_stiffness = plan.rod.twist_stiffness = 0.0f;
    plan.rod.clamped[0] = false;
    MoteSettings settings = rod_settings();
    settings.damping = 2.0f;
    MoteWorld *world = make_world(*state, &settings);
    add_rod(world, &plan);
    expect_ok(mote_world_steps(world, 1.0f / 120.0f, 720, NULL));
    expect_near(node_of(world, plan.segments).node.position.y, -1.0, 0.01, "its end");
    mote_world_destroy(world);
}

// What a world's particles have: momentum, and angular momentum about the origin.
static void sum_momenta(MoteWorld *world, DVec3 *linear, DVec3 *angular)
{
    const MoteParticleView view = read_view(world);
    *linear = *angular = dvec3(0, 0, 0);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
        const DVec3 momentum = dvec3_scale(dvec3(v[0], v[1], v[2]), 1.0 / (double)p[3]);
        *linear = dvec3_add(*linear, momentum);
        *angular = dvec3_add(*angular, dvec3_cross(dvec3(p[0], p[1], p[2]), momentum));
    }
}

// A bow in free fall that swings, turns and twists: its momenta stay.
static void momentum_is_conserved(void **state)
{
    enum { SEGMENTS = 30 };
    MoteSettings settings = rod_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.max_displacement = 0.0f; // which would take momentum
    MoteWorld *world = make_world(*state, &settings);
    RodPlan plan = beam(SEGMENTS, 1e7f);
    MoteVec3 velocities[SEGMENTS + 1];
    for (uint32_t i = 0; i <= SEGMENTS; i++) { // ends up, middle down
        const float x = (float)i / SEGMENTS - 0.5f;
        velocities[i] = (MoteVec3){0.1f, 6.0f * x * x - 0.4f, 0.3f * x};
    }
    plan.velocities = velocities;
    plan.held[0] = plan.rod.clamped[0] = false;
    plan.rod.damping = 0.0f;
    plan.rod.twist = 1.0f;
    add_rod(world, &plan);
    DVec3 linear, angular, linear_now, angular_now;
    sum_momenta(world, &linear, &angular);
    expect_ok(mote_world_steps(world, 1.0f / 240.0f, 240, NULL));
    sum_momenta(world, &linear_now, &angular_now);
    expect_near(dvec3_length(dvec3_sub(linear_now, linear)), 0.0, 5e-4 * dvec3_length(linear), "momentum");
    // Positions round to 6e-8 m, which is 1.4e-5 m/s in a step. Segments have angular momentum of their own, of which
    // the largest is that of untwisting: about the rod.
    const DVec3 lost = dvec3_sub(angular_now, angular);
    expect_near(hypot(lost.y, lost.z), 0.0, 0.01 * dvec3_length(angular), "angular momentum across the rod");
    mote_world_destroy(world);
}

// Cut in its middle, the held half stays and the other one falls.
static void a_rod_is_cut_where_a_node_is_removed(void **state)
{
    MoteSettings settings = rod_settings();
    MoteWorld *world = make_world(*state, &settings);
    const RodPlan plan = beam(20, 3e9f);
    add_rod(world, &plan);
    expect_ok(mote_world_steps(world, 1.0f / 120.0f, 60, NULL));
    const uint32_t middle = 10;
    expect_ok(mote_world_remove_particles(world, &middle, 1));
    expect_ok(mote_world_steps(world, 1.0f / 120.0f, 60, NULL));
    assert_false(node_of(world, middle).node.present);
    expect_near(node_of(world, 9).node.position.y, 0.0, 0.01, "the held half");
    expect_near(node_of(world, 15).node.position.y, -0.5 * 9.81 * 0.25, 0.05, "the other half");
    mote_world_destroy(world);
}

// A beam that swings back gives what it held: no energy out of nothing.
static void elastic_energy_is_watched(void **state)
{
    MoteSettings settings = rod_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = make_world(*state, &settings);
    RodPlan plan = beam(20, 1e8f);
    MoteVec3 places[21];
    for (uint32_t i = 0; i <= 20; i++) { // half a turn of a circle, which straightens
        const double angle = PI * i / 20.0;
        places[i] = (MoteVec3){(float)(sin(angle) / PI), (float)((1.0 - cos(angle)) / PI), 0};
    }
    plan.places = places;
    plan.held[0] = plan.rod.clamped[0] = false;
    plan.rod.straight = true;
    plan.rod.damping = 0.0f;
    add_rod(world, &plan);
    for (uint32_t i = 0; i < 24; i++) {
        run_steps(world, 5, 1.0f / 960.0f);
        expect_near(mote_world_watch(world).gained, 0.0, 0.1, "energy out of nothing");
    }
    assert_true(read_statistics(world).kinetic_energy > 1.0);
    mote_world_destroy(world);
}

// ---- The same run, however it is run -----------------------------------------------------------------------

// A rope and a twisted wire over a box, and water.
static MoteWorld *make_mix(const MoteBackendOptions *options)
{
    MoteSettings settings = rod_settings();
    MoteWorld *world = NULL;
    expect_ok(mote_world_create(&settings, options, &world));
    RodPlan rope = beam(30, 1e7f), wire = beam(40, 1e9f);
    rope.rod.bend_stiffness = 0.0f;
    rope.rod.clamped[0] = false;
    rope.from = (MoteVec3){0, 0.6f, 0.1f};
    rope.to = (MoteVec3){1.4f, 0.7f, 0.1f};
    wire.from = (MoteVec3){0.2f, 0.8f, 0};
    wire.to = (MoteVec3){1.5f, 0.8f, 0.4f};
    wire.rod.twist = 3.0f;
    add_rod(world, &rope);
    add_rod(world, &wire);
    add_block(world, (MoteVec3){0.4f, 0.9f, -0.1f}, 8, 6, 8);
    const TestBox box = {.nx = 6,
                         .ny = 4,
                         .nz = 6,
                         .spacing = 0.05f,
                         .centre = {0.7f, 0.3f, 0.1f},
                         .rotation = {0, 0, 0, 1},
                         .body = {.mass = 0.5f, .stiffness = 1.0f}};
    add_box(world, &box);
    const MoteCollider ground = sloped_plane(0.0, 0.4f);
    expect_ok(mote_world_set_colliders(world, &ground, 1));
    return world;
}

static void runs_repeat_bit_for_bit(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *one = make_mix(&backend->options);
    expect_ok(mote_world_steps(one, 1.0f / 120.0f, 40, NULL));
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(one, &snapshot));
    expect_ok(mote_world_steps(one, 1.0f / 120.0f, 30, NULL));
    const uint64_t hash = read_hash(one);
    MoteRodNodeState before[NODES_MAX] = {0}, after[NODES_MAX] = {0};
    expect_ok(mote_world_read_rods(one, before, NODES_MAX));
    MoteWorld *resumed = make_mix(&backend->options);
    expect_ok(world_snapshot_restore(resumed, &snapshot));
    expect_ok(mote_world_steps(resumed, 1.0f / 120.0f, 30, NULL));
    assert_int_equal(read_hash(resumed), hash);
    expect_ok(mote_world_read_rods(resumed, after, NODES_MAX));
    assert_memory_equal(before, after, sizeof before);
    world_snapshot_free(&snapshot);
    mote_world_destroy(resumed);
    const bool is_cpu = strcmp(backend->options.backend, "cpu") == 0;
    if (is_cpu || !vulkan_may_differ((int)(backend - test_backends))) {
        const MoteBackendOptions threads = {
            .backend = "cpu", .threads = 3, .portable = !is_cpu || backend->options.portable};
        MoteWorld *other = make_mix(&threads);
        expect_ok(mote_world_steps(other, 1.0f / 120.0f, 70, NULL));
        assert_int_equal(read_hash(other), hash);
        mote_world_destroy(other);
    }
    mote_world_destroy(one);
}

static void expect_rod_refused(MoteWorld *world, MoteRod rod, const char *text)
{
    expect_error(mote_world_add_rod(world, &rod, NULL), MOTE_ERROR_INPUT, text);
}

static void wrong_rods_are_refused(void **state)
{
    const MoteSettings settings = rod_settings();
    MoteWorld *world = make_world(*state, &settings);
    const RodPlan plan = beam(4, 1e6f);
    MoteParticleHandle handles[NODES_MAX], wrong[5];
    make_nodes(world, &plan, handles);
    MoteRod good = plan.rod, bad;
    good.nodes = handles;
    good.node_count = 5;
    bad = good;
    bad.node_count = 1;
    expect_rod_refused(world, bad, "a rod of 1 nodes");
    bad = good;
    bad.radius = 0.0f;
    expect_rod_refused(world, bad, "radius 0 m");
    bad = good;
    bad.stretch_stiffness = 0.0f;
    expect_rod_refused(world, bad, "stiffness 0 N of stretching");
    bad = good;
    bad.bend_stiffness = NAN;
    expect_rod_refused(world, bad, "N m^2 of bending");
    bad = good;
    bad.damping = -1.0f;
    expect_rod_refused(world, bad, "damping -1 s");
    memcpy(wrong, handles, sizeof wrong);
    wrong[3] = wrong[1];
    bad = good;
    bad.nodes = wrong;
    expect_rod_refused(world, bad, "is a node of a rod twice");
    wrong[3] = handles[3];
    const MoteVec3 place = {0.25f, 0, 0}; // of the second one
    uint32_t id = 0;
    const MoteParticles twin = {.count = 1, .positions = &place, .mass = 1.0f, .phase = MOTE_PHASE(MOTE_KIND_BODY, 0)};
    expect_ok(mote_world_add_particles(world, &twin, &id));
    expect_ok(mote_world_make_handles(world, &id, 1, &wrong[2]));
    expect_rod_refused(world, bad, "where the one before it is");
    assert_int_equal(mote_world_rod_count(world), 0);
    uint32_t number = 9;
    expect_ok(mote_world_add_rod(world, &good, &number));
    assert_int_equal(number, 0);
    expect_rod_refused(world, good, "is a node of a rod twice");
    assert_int_equal(mote_world_rod_node_count(world), 5);
    mote_world_destroy(world);
}

// ---- Scene files -------------------------------------------------------------------------------------------

#define HEAD                                                                                                           \
    "{\"name\": \"rods\", \"solver\": {\"spacing\": 0.05}, \"materials\": {\"steel\": {\"density\": 7800}}, "          \
    "\"rods\": ["

// Three quarters of a circle through five points, smooth, and a beam from wall to wall.
static void curves_are_cut_into_equal_segments(void **state)
{
    (void)state;
    Running running =
        fixture_start(HEAD "{\"points\": [[1, 1, 0], [0, 2, 0], [-1, 1, 0], [0, 0, 0]], \"curve\": \"smooth\", "
                           "\"segments\": 40, \"start\": \"pinned\"}, "
                           "{\"points\": [[0, 0, 1], [1, 0, 1]], \"start\": \"clamped\", \"end\": \"clamped\", "
                           "\"material\": \"steel\", \"radius\": 0.02, \"young_modulus\": 2e11}]}",
                      "cpu");
    assert_int_equal(mote_world_rod_count(running.world), 2);
    assert_int_equal(mote_world_rod_node_count(running.world), 41 + 21);
    MoteRodNodeState rows[41 + 21];
    expect_ok(mote_world_read_rods(running.world, rows, 41 + 21));
    double least = 1.0, most = 0.0;
    for (uint32_t i = 0; i < 40; i++) {
        const double length = vec3_length(vec3_sub(rows[i + 1].node.position, rows[i].node.position));
        least = fmin(least, length);
        most = fmax(most, length);
    }
    expect_near(least, most, 0.01 * most, "segments");
    assert_true(40.0 * most > 3.0 * sqrt(2.0) && 40.0 * most < 1.5 * PI); // longer than its chords
    const MoteParticleView view = fixture_view(&running);
    double mass = 0.0;
    uint32_t pinned = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        const double w = (double)view.positions[4 * i + 3];
        pinned += w == 0.0;
        mass += view.ids[i] >= 41 && w > 0.0 ? 1.0 / w : 0.0;
    }
    assert_int_equal(pinned, 3);
    expect_near(mass, 7800.0 * PI * 4e-4 * 0.95, 1e-3 * mass, "mass of the steel");
    fixture_stop(&running);
}

static void expect_scene_refused(const char *json, const char *text)
{
    MoteScene *scene = NULL;
    fixture_write("bad.json", json, strlen(json));
    expect_error(mote_scene_load(fixture_path("bad.json"), NULL, 0, &scene), MOTE_ERROR_INPUT, text);
    mote_scene_destroy(scene);
}

static void wrong_sections_are_refused(void **state)
{
    (void)state;
    expect_scene_refused(HEAD "{\"points\": [[0, 0, 0]]}]}", "found 1 point, expected at least 2");
    expect_scene_refused(HEAD "{\"points\": []}]}", "found 0 points");
    expect_scene_refused(HEAD "{\"points\": 3}]}", "expected an array of points");
    expect_scene_refused(HEAD "{\"points\": [[0, 0, 0], [1, 2]]}]}", "rods[0].points[1]: found");
    expect_scene_refused(HEAD "{\"points\": [[0, 0, 0], [1, 2, 1e9]]}]}", "rods[0].points[1][2]: found 1e9");
    expect_scene_refused(HEAD "{\"points\": [[0, 0, 0], [1, 2, 3], [1, 2, 3]]}]}", "found the point before it again");
    expect_scene_refused(HEAD "{\"start\": \"pinned\"}]}", "points");
    expect_scene_refused(HEAD "{\"points\": [[0, 0, 0], [1, 0, 0]], \"material\": \"silk\"}]}", "silk");
}

static void states_of_scenes_resume(void **state)
{
    (void)state;
    static const char json[] = HEAD "{\"points\": [[0, 1, 0], [1, 1, 0]], \"start\": \"clamped\", \"twist\": 90}]}";
    Running running = fixture_start(json, "cpu");
    fixture_advance(&running, 12);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("rods.state")));
    fixture_advance(&running, 12);
    Running resumed = fixture_start(json, "cpu");
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("rods.state")));
    fixture_advance(&resumed, 12);
    assert_int_equal(fixture_hash(&resumed), fixture_hash(&running));
    fixture_stop(&resumed);
    fixture_stop(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_GPUS(a_cantilever_sags_as_beams_do),
        ON_EVERY_BACKEND(a_hanging_weight_stretches_it),
        ON_CPU_AND_GPUS(a_rope_hangs_as_the_catenary),
        ON_EVERY_BACKEND(twist_pushes_back_and_untwists),
        ON_CPU_AND_GPUS(limp_rods_hang_down),
        ON_EVERY_BACKEND(momentum_is_conserved),
        ON_CPU_AND_GPUS(a_rod_is_cut_where_a_node_is_removed),
        ON_EVERY_BACKEND(elastic_energy_is_watched),
        ON_EVERY_BACKEND(runs_repeat_bit_for_bit),
        ON_CPU_AND_CUDA(wrong_rods_are_refused),
        cmocka_unit_test(curves_are_cut_into_equal_segments),
        cmocka_unit_test(wrong_sections_are_refused),
        cmocka_unit_test(states_of_scenes_resume),
    };
    static const char *const long_tests[] = {NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
