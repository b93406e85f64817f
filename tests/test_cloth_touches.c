// SPDX-License-Identifier: MIT
// Contacts of particles with the triangles of cloth: nothing falls through cloth whose vertices are far apart, momentum
// is kept, and friction follows Coulomb's law.
#include "sheet_fixture.h"

#include "simulation_fixture.h"

#define SPACING 0.05f

static const double pi = 3.14159265358979323846;

static MoteSettings touch_settings(MoteVec3 gravity)
{
    MoteSettings settings = solid_settings(SPACING);
    settings.gravity = gravity;
    settings.max_displacement = 0.0f;
    settings.small_steps = 8;
    return settings;
}

// Sums over all particles that move: momentum (kg m/s), and of the sizes of all momenta.
static double sum_momenta(MoteWorld *world, double sum[3])
{
    const MoteParticleView view = read_view(world);
    double sizes = 0.0;
    sum[0] = sum[1] = sum[2] = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *v = view.velocities + 4 * (size_t)i, w = view.positions[4 * (size_t)i + 3];
        for (int axis = 0; axis < 3 && w > 0.0f; axis++) {
            sum[axis] += (double)v[axis] / w;
        }
        sizes += w > 0.0f ? sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]) / w : 0.0;
    }
    return sizes;
}

static void expect_momentum(MoteWorld *world, const double expected[3], double scale, double tolerance)
{
    double sum[3];
    sum_momenta(world, sum);
    for (int axis = 0; axis < 3; axis++) {
        expect_near(sum[axis], expected[axis], tolerance * scale, "momentum");
    }
}

// The lowest of particles with ids from `first` to `end`.
static double lowest(MoteWorld *world, uint32_t first, uint32_t end)
{
    const MoteParticleView view = read_view(world);
    double y = 1e30;
    for (uint32_t i = 0; i < view.count; i++) {
        y = view.ids[i] >= first && view.ids[i] < end ? fmin(y, view.positions[4 * (size_t)i + 1]) : y;
    }
    return y;
}

// A block of grains above the origin; returns the first id.
static uint32_t drop_grains(MoteWorld *world, uint32_t side, uint32_t layers, float height, float mass)
{
    static MoteVec3 positions[1024];
    const uint32_t count = side * side * layers;
    assert_true(count <= 1024);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t x = i % side, z = i / side % side, y = i / (side * side);
        positions[i].x = 1.02f * SPACING * ((float)x - 0.5f * (float)(side - 1)) + 0.003f * (float)(y % 2);
        positions[i].y = height + 1.02f * SPACING * (float)y;
        positions[i].z = 1.02f * SPACING * ((float)z - 0.5f * (float)(side - 1));
    }
    const MoteParticles particles = {
        .count = count, .positions = positions, .mass = mass, .phase = MOTE_PHASE(MOTE_KIND_GRAIN, 1)};
    uint32_t first = 0;
    expect_ok(mote_world_add_particles(world, &particles, &first));
    return first;
}

static void set_friction(MoteWorld *world, float of_cloth, float of_others)
{
    const MoteMaterial materials[] = {
        {.static_friction = of_cloth, .kinetic_friction = of_cloth, .rolling_friction = 1.0f},
        {.static_friction = of_others, .kinetic_friction = of_others, .rolling_friction = 1.0f},
    };
    expect_ok(mote_world_set_materials(world, materials, 2));
}

// ---- Nothing falls through ---------------------------------------------------------------------------------

static const MoteVec3 down = {0, -9.81f, 0}, weightless = {0, 0, 0};

static Sheet coarse_sheet(uint32_t side, float step, int pins)
{
    Sheet sheet = sheet_of(side, side, step);
    sheet.pins = pins;
    sheet.mass = 0.02f;
    return sheet;
}

// Grains of half the width of the gaps between vertices lie on the sheet, and what they weigh hangs on its pins.
static void grains_stay_on_cloth(void **state)
{
    MoteSettings settings = touch_settings(down);
    settings.damping = 2.0f;
    MoteWorld *world = make_world(*state, &settings);
    set_friction(world, 0.5f, 0.5f);
    const Sheet sheet = coarse_sheet(6, 0.1f, PIN_BORDER);
    add_sheet(world, &sheet);
    const uint32_t first = drop_grains(world, 4, 2, 0.08f, 0.02f), end = first + 32;
    run(world, 2.0, 120.0);
    assert_true(lowest(world, first, end) > lowest(world, 0, first)); // grains are higher than the cloth's lowest point
    settings.damping = 0.0f;
    expect_ok(mote_world_record_forces(world, true));
    double mean = 0.0;
    for (int s = 0; s < 60; s++) {
        double links[3], contacts[3];
        run_steps(world, 1, 1.0f / 120.0f);
        sum_forces(world, MOTE_FORCE_SPRINGS, links);
        sum_forces(world, MOTE_FORCE_PAIRS, contacts);
        mean += links[1] / 60;
        expect_near(contacts[1], 0.0, 0.02, "contacts with each other and with cloth that can move");
    }
    const double weight = 9.81 * (32 * 0.02 + 16 * 0.02);
    expect_near(mean, weight, 0.02 * weight, "what pins carry");
    mote_world_destroy(world);
}

// Long: a thousand grains for ten seconds. Set MOTE_LONG_TESTS to run it.
static void a_thousand_grains_stay_for_ten_seconds(void **state)
{
    const bool all = getenv("MOTE_LONG_TESTS") != NULL;
    if (!all && strcmp(((const TestBackend *)*state)->label, "cpu") != 0) {
        return;
    }
    const MoteSettings settings = touch_settings(down);
    MoteWorld *world = make_world(*state, &settings);
    set_friction(world, 0.5f, 0.5f);
    const Sheet sheet = coarse_sheet(20, 0.1f, PIN_BORDER);
    add_sheet(world, &sheet);
    const uint32_t first = drop_grains(world, 10, 10, 0.1f, 0.02f);
    run(world, all ? 10.0 : 0.5, 120.0);
    assert_true(lowest(world, first, first + 1000) > lowest(world, 0, first));
    mote_world_destroy(world);
}

// A grain of which a step is ten times as long as cloth is thick, straight through the middle of a triangle, through an
// edge and through a vertex. Cloth and grain are free, and exchange momentum.
static void bullets_are_stopped(void **state)
{
    static const MoteVec3 places[] = {{0.03f, 0.4f, 0.06f}, {0.0f, 0.37f, 0.05f}, {0.0f, 0.45f, 0.0f}};
    for (int k = 0; k < 3; k++) {
        const MoteSettings settings = touch_settings(weightless);
        MoteWorld *world = make_world(*state, &settings);
        const Sheet sheet = coarse_sheet(7, 0.1f, PIN_NONE);
        add_sheet(world, &sheet);
        const MoteVec3 velocity = {0, -60.0f, 0};
        const MoteParticles bullet = {.count = 1,
                                      .positions = &places[k],
                                      .velocities = &velocity,
                                      .mass = 0.05f,
                                      .phase = MOTE_PHASE(MOTE_KIND_GRAIN, 1)};
        uint32_t id = 0;
        expect_ok(mote_world_add_particles(world, &bullet, &id));
        double before[3], after[3];
        const double scale = sum_momenta(world, before);
        run_steps(world, 6, 1.0f / 120.0f);
        expect_momentum(world, before, scale, 1e-5);
        sum_momenta(world, after);
        const TestParticle stopped = find_particle(world, id);
        const TestParticle middle = find_particle(world, 24);
        assert_true(stopped.velocity.y > -59.0f);
        assert_true(stopped.position.y > middle.position.y);
        mote_world_destroy(world);
    }
}

// Cloth of a material that grains ignore lets them through.
static void masks_hold(void **state)
{
    const MoteSettings settings = touch_settings(down);
    MoteWorld *world = make_world(*state, &settings);
    MoteMaterial materials[2] = {mote_default_material(), mote_default_material()};
    materials[1].ignored_materials = 1u;
    expect_ok(mote_world_set_materials(world, materials, 2));
    const Sheet sheet = coarse_sheet(6, 0.1f, PIN_BORDER);
    add_sheet(world, &sheet);
    const uint32_t first = drop_grains(world, 2, 1, 0.08f, 0.02f);
    run(world, 0.5, 120.0);
    assert_true(lowest(world, first, first + 4) < -0.8);
    mote_world_destroy(world);
}

// ---- Friction ----------------------------------------------------------------------------------------------

// A grain or a box on a sheet that is pinned all over; gravity is turned instead of it. How far it gets along x.
static double slide(void **state, float friction, double angle, bool box, double seconds, float sleep)
{
    const MoteVec3 gravity = {(float)(9.81 * sin(angle)), (float)(-9.81 * cos(angle)), 0};
    MoteSettings settings = touch_settings(gravity);
    settings.small_steps = 0;
    settings.iterations = sleep > 0.0f ? 12 : 6;
    settings.sleep_speed = sleep;
    MoteWorld *world = make_world(*state, &settings);
    set_friction(world, friction, friction);
    Sheet sheet = coarse_sheet(12, 0.15f, PIN_ALL);
    add_sheet(world, &sheet);
    uint32_t id = mote_world_particle_count(world);
    if (box) {
        const TestBox block = {.nx = 3,
                               .ny = 2,
                               .nz = 3,
                               .spacing = SPACING,
                               .centre = {-0.4f, 0.075f, 0.01f},
                               .rotation = {0, 0, 0, 1},
                               .body = {.mass = 0.05f, .stiffness = 1.0f, .material = 1}};
        add_box(world, &block);
    } else {
        const MoteVec3 at = {-0.4f, SPACING, 0.01f};
        const MoteParticles grain = {
            .count = 1, .positions = &at, .mass = 0.05f, .phase = MOTE_PHASE(MOTE_KIND_GRAIN, 1)};
        expect_ok(mote_world_add_particles(world, &grain, &id));
    }
    run(world, seconds > 1.0 ? 0.5 : 0.1, 240.0);
    const double begin = find_particle(world, id).position.x;
    const double speed = find_particle(world, id).velocity.x;
    run(world, seconds, 240.0);
    const double way = find_particle(world, id).position.x - begin - (seconds > 1.0 ? 0.0 : speed * seconds);
    mote_world_destroy(world);
    return way;
}

static void friction_holds_and_slides(void **state)
{
    const double angle = 20.0 * pi / 180.0, t = 0.4;
    for (int box = 0; box < 2; box++) {
        const double slides = slide(state, 0.2f, angle, box != 0, t, 0.0f);
        const double expected = 0.5 * 9.81 * (sin(angle) - 0.2 * cos(angle)) * t * t;
        expect_near(slides, expected, 0.05 * expected, "a way with too little friction");
        const double free_way = 0.5 * 9.81 * sin(angle) * t * t;
        expect_near(slide(state, 0.6f, angle, box != 0, t, 0.0f), 0.0, 1e-3 * free_way, "a way with enough friction");
    }
}

// On a slope, for a minute where MOTE_LONG_TESTS is set: less than a thousandth of the length.
static void nothing_creeps(void **state)
{
    const double seconds = getenv("MOTE_LONG_TESTS") != NULL ? 60.0 : 2.0;
    const double angle = 20.0 * pi / 180.0;
    expect_near(slide(state, 0.6f, angle, false, seconds, 0.0f), 0.0, 1e-3 * SPACING, "creep of a grain");
    expect_near(slide(state, 0.6f, angle, true, seconds, 0.001f), 0.0, 1e-3 * 3 * SPACING, "creep of a box");
}

// ---- Momentum ----------------------------------------------------------------------------------------------

// Water, grains, a body and cloth meet in free fall.
static void falling_together_keeps_momentum(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = SPACING;
    settings.gravity = down;
    settings.viscosity = 0.01f;
    MoteWorld *world = make_world(*state, &settings);
    set_friction(world, 0.4f, 0.4f);
    Sheet sheet = coarse_sheet(7, 0.1f, PIN_NONE);
    sheet.velocity = (MoteVec3){0.3f, 1.5f, 0};
    add_sheet(world, &sheet);
    add_block(world, (MoteVec3){-0.1f, 0.07f, -0.1f}, 5, 3, 5);
    drop_grains(world, 3, 1, 0.32f, 0.1f);
    const TestBox block = {.nx = 3,
                           .ny = 3,
                           .nz = 3,
                           .spacing = SPACING,
                           .centre = {0.05f, 0.5f, 0.02f},
                           .rotation = {0, 0, 0, 1},
                           .body = {.mass = 0.05f, .stiffness = 1.0f, .material = 1}};
    add_box(world, &block);
    double expected[3];
    const double scale = sum_momenta(world, expected);
    const MoteParticleView view = read_view(world);
    double mass = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        mass += 1.0 / (double)view.positions[4 * (size_t)i + 3];
    }
    run(world, 0.25, 240.0);
    expected[1] -= 9.81 * mass * 0.25;
    assert_true(scale > 0.0);
    expect_momentum(world, expected, 9.81 * mass * 0.25, 1e-3);
    mote_world_destroy(world);
}

// What bounces off free cloth parts at the speed at which it met, but for what the cloth's waves take.
static void restitution_gives_back(void **state)
{
    for (int bouncy = 0; bouncy < 2; bouncy++) {
        MoteSettings settings = touch_settings(weightless);
        settings.small_steps = 0;
        MoteWorld *world = make_world(*state, &settings);
        MoteMaterial material = mote_default_material();
        material.restitution = bouncy != 0 ? 0.8f : 0.0f;
        expect_ok(mote_world_set_materials(world, &material, 1));
        const Sheet sheet = coarse_sheet(5, 0.15f, PIN_ALL);
        add_sheet(world, &sheet);
        const uint32_t id = add_grain(world, (MoteVec3){0.04f, 0.2f, 0.02f}, (MoteVec3){0, -2.0f, 0});
        run_steps(world, 60, 1.0f / 240.0f);
        expect_near(find_particle(world, id).velocity.y, bouncy != 0 ? 1.6 : 0.0, 1e-3, "speed after the impact");
        mote_world_destroy(world);
    }
}

// ---- Cloth on cloth ----------------------------------------------------------------------------------------

static MoteVec3 minus(MoteVec3 a, MoteVec3 b)
{
    return (MoteVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double volume(MoteVec3 a, MoteVec3 b, MoteVec3 c, MoteVec3 d)
{
    const MoteVec3 u = minus(b, a), v = minus(c, a), w = minus(d, a);
    return (double)u.x * ((double)v.y * w.z - (double)v.z * w.y) +
           (double)u.y * ((double)v.z * w.x - (double)v.x * w.z) +
           (double)u.z * ((double)v.x * w.y - (double)v.y * w.x);
}

// Whether the segment pq goes through the triangle abc.
static bool pierces(MoteVec3 p, MoteVec3 q, const MoteVec3 *x)
{
    if (volume(x[0], x[1], x[2], p) * volume(x[0], x[1], x[2], q) >= 0.0) {
        return false;
    }
    const double a = volume(p, q, x[0], x[1]), b = volume(p, q, x[1], x[2]), c = volume(p, q, x[2], x[0]);
    return (a > 0.0 && b > 0.0 && c > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0);
}

enum { STACK_SIDE = 6, STACK = 3 };

static void corners_of(const MoteVec3 *vertices, uint32_t triangle, MoteVec3 out[3])
{
    const uint32_t quad = triangle / 2, x = quad % (STACK_SIDE - 1), z = quad / (STACK_SIDE - 1);
    const uint32_t a = z * STACK_SIDE + x, b = a + STACK_SIDE, c = b + 1, d = a + 1;
    out[0] = vertices[a];
    out[1] = vertices[triangle % 2 == 0 ? b : c];
    out[2] = vertices[triangle % 2 == 0 ? c : d];
}

// Sheets that fall on each other over a ball lie on each other: no triangle goes through one of another sheet.
static void sheets_stack(void **state)
{
    MoteSettings settings = touch_settings(down);
    MoteWorld *world = make_world(*state, &settings);
    set_friction(world, 0.5f, 0.5f);
    const MoteCollider ground[] = {flat_ground(0.5f)};
    expect_ok(mote_world_set_colliders(world, ground, 1));
    for (uint32_t k = 0; k < STACK; k++) {
        Sheet sheet = coarse_sheet(STACK_SIDE, 0.12f, PIN_NONE);
        sheet.centre = (MoteVec3){0.03f * (float)k, 0.1f + 0.09f * (float)k, 0.02f * (float)k};
        add_sheet(world, &sheet);
    }
    run(world, 1.5, 120.0);
    static MoteVec3 vertices[STACK][STACK_SIDE * STACK_SIDE];
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        vertices[view.ids[i] / (STACK_SIDE * STACK_SIDE)][view.ids[i] % (STACK_SIDE * STACK_SIDE)] =
            (MoteVec3){p[0], p[1], p[2]};
    }
    uint32_t pierced = 0;
    const uint32_t triangles = 2 * (STACK_SIDE - 1) * (STACK_SIDE - 1);
    for (uint32_t one = 0; one < STACK; one++) {
        for (uint32_t other = 0; other < STACK; other++) {
            for (uint32_t s = 0; s < triangles && one != other; s++) {
                for (uint32_t t = 0; t < triangles; t++) {
                    MoteVec3 x[3], y[3];
                    corners_of(vertices[one], s, x);
                    corners_of(vertices[other], t, y);
                    pierced += pierces(x[0], x[1], y) + pierces(x[1], x[2], y) + pierces(x[2], x[0], y);
                }
            }
        }
    }
    assert_int_equal(pierced, 0);
    for (uint32_t v = 0; v < STACK_SIDE * STACK_SIDE; v++) { // and they are in their order
        assert_true(vertices[0][v].y < vertices[1][v].y && vertices[1][v].y < vertices[2][v].y);
    }
    assert_true(fastest(world) < 0.05);
    mote_world_destroy(world);
}

// ---- The same everywhere -----------------------------------------------------------------------------------

static const char *const scene =
    "{\"solver\": {\"spacing\": 0.05, \"substeps\": 2, \"iterations\": 4},"
    " \"materials\": {\"wood\": {\"density\": 400, \"static_friction\": 0.4, \"kinetic_friction\": 0.3, "
    "\"restitution\": 0.2}},"
    " \"fluids\": [{\"position\": [0.2, 0.75, 0], \"size\": [0.2, 0.2, 0.2]}],"
    " \"grains\": [{\"material\": \"wood\", \"shape\": \"block\", \"position\": [-0.15, 0.75, 0], \"size\": [0.2, 0.2, "
    "0.2]}],"
    " \"bodies\": [{\"mesh\": \"shape:box?x=0.15&y=0.15&z=0.15\", \"material\": \"wood\", \"position\": [0, 0.95, "
    "0.1]}],"
    " \"cloths\": [{\"columns\": 8, \"rows\": 8, \"size\": [1, 1, 0], \"position\": [0, 0.6, 0], \"rotation\": [-90, "
    "0, 0],"
    "   \"material\": \"wood\", \"area_density\": 1, \"pins\": \"corners\"},"
    "  {\"columns\": 5, \"rows\": 5, \"size\": [0.6, 0.6, 0], \"position\": [0.1, 0.5, 0], \"rotation\": [-90, 30, 0],"
    "   \"material\": \"wood\", \"contacts\": \"all\"}]}";

// A state has sides, too: it continues to the bit, on every backend with the bits of the portable kernels.
static void states_resume(void **state)
{
    const char *backend = ((const TestBackend *)*state)->options.backend;
    Running running = fixture_start(scene, backend);
    fixture_advance(&running, 12);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("touches.state")));
    fixture_advance(&running, 8);
    const uint64_t hash = fixture_hash(&running);
    fixture_stop(&running);
    Running resumed = fixture_start(scene, backend);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("touches.state")));
    fixture_advance(&resumed, 8);
    assert_true(fixture_hash(&resumed) == hash);
    fixture_stop(&resumed);
}

static uint64_t run_scene(const MoteBackendOptions *options)
{
    MoteScene *loaded = fixture_scene("touches.json", scene);
    MoteSimulation *simulation = NULL;
    expect_ok(mote_simulation_create(loaded, options, &simulation));
    for (uint32_t i = 0; i < 20; i++) {
        expect_ok(mote_simulation_advance_frame(simulation));
    }
    uint64_t hash = 0;
    expect_ok(mote_world_state_hash(mote_simulation_world(simulation), &hash));
    mote_simulation_destroy(simulation);
    mote_scene_destroy(loaded);
    return hash;
}

static void backends_and_threads_agree(void **state)
{
    const TestBackend *backend = *state;
    static uint64_t portable;
    if (portable == 0) {
        portable = run_scene(&(MoteBackendOptions){.backend = "cpu", .threads = 1, .portable = true});
    }
    const uint64_t hash = run_scene(&backend->options);
    if (strcmp(backend->label, "cpu") == 0) { // AVX2 kernels of other constraints add in another order
        assert_true(hash == run_scene(&(MoteBackendOptions){.backend = "cpu", .threads = 1}));
    } else if (strcmp(backend->label, "vulkan") != 0 || !vulkan_may_differ((int)(backend - test_backends))) {
        assert_true(hash == portable);
    }
}

// ---- What is asked for -------------------------------------------------------------------------------------

// `auto` is triangles where edges are long; otherwise, and with `vertices`, what is small falls through.
static void contacts_are_chosen(void **state)
{
    static const struct {
        MoteClothContacts contacts;
        float step;
        bool holds;
    } rows[] = {{MOTE_CLOTH_CONTACTS_AUTO, 0.13f, true},
                {MOTE_CLOTH_CONTACTS_VERTICES, 0.13f, false},
                {MOTE_CLOTH_CONTACTS_TRIANGLES, 0.13f, true},
                {MOTE_CLOTH_CONTACTS_ALL, 0.13f, true},
                {MOTE_CLOTH_CONTACTS_AUTO, 0.05f, true}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const MoteSettings settings = touch_settings(down);
        MoteWorld *world = make_world(*state, &settings);
        Sheet sheet = coarse_sheet(6, rows[k].step, PIN_ALL);
        sheet.cloth.contacts = rows[k].contacts;
        add_sheet(world, &sheet);
        assert_int_equal(world->has_touches, k != 1 && k != 4);
        const uint32_t id = drop_grains(world, 1, 1, 0.07f, 1.0f);
        run(world, 0.4, 120.0);
        assert_true((find_particle(world, id).position.y > 0.0f) == rows[k].holds);
        mote_world_destroy(world);
    }
    const MoteSettings settings = touch_settings(down);
    MoteWorld *world = make_world(*state, &settings);
    MoteCloth cloth = mote_default_cloth();
    cloth.contacts = (MoteClothContacts)7;
    expect_error(mote_world_add_cloth(world, &cloth, NULL), MOTE_ERROR_INPUT, "contacts of kind 7");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(grains_stay_on_cloth),
        ON_EVERY_BACKEND(a_thousand_grains_stay_for_ten_seconds),
        ON_EVERY_BACKEND(bullets_are_stopped),
        ON_EVERY_BACKEND(masks_hold),
        ON_EVERY_BACKEND(friction_holds_and_slides),
        test_row("nothing_creeps [cpu]", nothing_creeps, &test_backends[0]),
        ON_EVERY_BACKEND(falling_together_keeps_momentum),
        ON_EVERY_BACKEND(restitution_gives_back),
        ON_EVERY_BACKEND(sheets_stack),
        ON_EVERY_BACKEND(states_resume),
        ON_EVERY_BACKEND(backends_and_threads_agree),
        ON_EVERY_BACKEND(contacts_are_chosen),
    };
    static const char *const long_tests[] = {"grains_stay_on_cloth",
                                             "a_thousand_grains_stay_for_ten_seconds",
                                             "friction_holds_and_slides",
                                             "nothing_creeps",
                                             "sheets_stack",
                                             NULL};
    return run_long_suite(tests, sizeof tests / sizeof *tests, long_tests, fixture_open, fixture_close);
}
