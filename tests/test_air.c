// SPDX-License-Identifier: MIT
// Air on cloth: the exact decay of drag, terminal velocity, lift, wind that carries, eddies without sources, and the
// same bits on every backend.
#include "solid_fixture.h"

#include "mote_cloth.h"
#include "mote_forces.h"
#include "simulation_fixture.h"

enum { SIDE = 9, VERTICES = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };

static const float STEP = 0.05f;    // m, from vertex to vertex
static const float PER_AREA = 0.2f; // kg/m^2
static const MoteVec3 still = {0, 0, 0};

static MoteSettings air_settings(void)
{
    MoteSettings settings = solid_settings(0.02f);
    settings.sleep_speed = 0.0f;
    settings.max_displacement = 0.0f;
    settings.gravity = still;
    return settings;
}

// A square sheet about the origin: level, its front up, turned by `tilt` about z.
static void add_sheet(MoteWorld *world, float tilt, MoteVec3 velocity, float drag, float lift)
{
    MoteVec3 positions[VERTICES], velocities[VERTICES];
    uint32_t triangles[3 * TRIANGLES], ids[VERTICES], first = 0, t = 0;
    float masses[VERTICES];
    MoteParticleHandle handles[VERTICES];
    for (uint32_t v = 0; v < VERTICES; v++) {
        const float x = STEP * ((float)(v % SIDE) - 0.5f * (SIDE - 1)),
                    z = STEP * ((float)(v / SIDE) - 0.5f * (SIDE - 1));
        positions[v] = (MoteVec3){x * cosf(tilt), x * sinf(tilt), z};
        velocities[v] = velocity;
    }
    for (uint32_t row = 0; row + 1 < SIDE; row++) {
        for (uint32_t column = 0; column + 1 < SIDE; column++, t += 6) {
            const uint32_t a = row * SIDE + column, b = a + SIDE, c = b + 1, d = a + 1;
            const uint32_t corners[] = {a, b, c, a, c, d};
            memcpy(triangles + t, corners, sizeof corners);
        }
    }
    expect_ok(mote_cloth_areas(positions, VERTICES, triangles, TRIANGLES, masses));
    for (uint32_t v = 0; v < VERTICES; v++) {
        masses[v] *= PER_AREA;
    }
    const MoteParticles particles = {.count = VERTICES,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .masses = masses,
                                     .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t v = 0; v < VERTICES; v++) {
        ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(world, ids, VERTICES, handles));
    MoteCloth cloth = mote_default_cloth();
    cloth.vertex_count = VERTICES;
    cloth.triangle_count = TRIANGLES;
    cloth.vertices = handles;
    cloth.triangles = triangles;
    cloth.columns = cloth.rows = SIDE;
    cloth.drag = drag;
    cloth.lift = lift;
    expect_ok(mote_world_add_cloth(world, &cloth, NULL));
}

static void set_air(MoteWorld *world, float density, MoteVec3 wind, float gust)
{
    MoteAir air = mote_default_air();
    air.density = density;
    air.wind = wind;
    air.gust = gust;
    expect_ok(mote_world_set_air(world, &air));
}

static MoteVec3 mean_velocity(MoteWorld *world)
{
    const MoteStatistics now = read_statistics(world);
    const double mass = (double)PER_AREA * pow((double)STEP * (SIDE - 1), 2);
    return (MoteVec3){(float)(now.momentum[0] / mass), (float)(now.momentum[1] / mass),
                      (float)(now.momentum[2] / mass)};
}

// Across the flow: dv/dt = -k v^2, so 1 / v grows by k t. At any step, and never past the air's own velocity.
static void drag_decays_as_one_over_time(void **state)
{
    for (float dt = 0.002f; dt < 0.3f; dt *= 10.0f) {
        const MoteSettings settings = air_settings();
        MoteWorld *world = make_world(*state, &settings);
        add_sheet(world, 0.0f, (MoteVec3){0, -4, 0}, 1.2f, 0.0f);
        set_air(world, 1.2f, still, 0.0f);
        expect_ok(mote_world_steps(world, dt, (uint32_t)lroundf(0.8f / dt), NULL));
        const double k = 0.5 * 1.2 * 1.2 / (double)PER_AREA, expected = 4.0 / (1.0 + 4.0 * k * 0.8);
        expect_near(mean_velocity(world).y, -expected, 1e-3 * expected, "velocity");
        mote_world_destroy(world);
    }
}

// Weight against drag: v^2 = 2 sigma g / (rho C_D).
static void a_flat_sheet_falls_at_its_terminal_velocity(void **state)
{
    MoteSettings settings = air_settings();
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(*state, &settings);
    add_sheet(world, 0.0f, still, 1.2f, 0.6f);
    set_air(world, 1.2f, still, 0.0f);
    expect_ok(mote_world_steps(world, 1.0f / 240.0f, 480, NULL));
    const double terminal = sqrt(2.0 * (double)PER_AREA * 9.81 / (1.2 * 1.2));
    expect_near(mean_velocity(world).y, -terminal, 0.02 * terminal, "terminal velocity");
    mote_world_destroy(world);
}

// A sheet at 30 degrees in a wind along x is pushed along it by C_D s, and across it by C_L s c, with s and c the sine
// and the cosine of that angle.
static void lift_is_across_the_wind(void **state)
{
    const MoteSettings settings = air_settings();
    MoteWorld *world = make_world(*state, &settings);
    const double tilt = 3.14159265358979 / 6.0, s = sin(tilt), c = cos(tilt), dt = 1e-3;
    add_sheet(world, (float)tilt, still, 1.1f, 0.7f);
    set_air(world, 1.2f, (MoteVec3){3, 0, 0}, 0.0f);
    expect_ok(mote_world_steps(world, (float)dt, 1, NULL));
    const double rate = 0.5 * 1.2 * 9.0 / (double)PER_AREA * dt;
    const MoteVec3 v = mean_velocity(world);
    expect_near(v.x, 1.1 * s * rate, 0.01 * s * rate, "along the wind");
    expect_near(v.y, -0.7 * s * c * rate, 0.01 * s * rate, "across it");
    expect_near(v.z, 0.0, 1e-3 * rate, "sideways");
    mote_world_destroy(world);
}

// However light and however strong, wind takes it along and no faster.
static void wind_carries_and_does_not_throw(void **state)
{
    const MoteSettings settings = air_settings();
    MoteWorld *world = make_world(*state, &settings);
    add_sheet(world, 1.2f, still, 1.2f, 0.6f);
    set_air(world, 1000.0f, (MoteVec3){5, 0, 0}, 0.0f);
    for (uint32_t i = 0; i < 40; i++) {
        expect_ok(mote_world_steps(world, 1.0f / 30.0f, 1, NULL));
        const MoteVec3 v = mean_velocity(world);
        assert_true(v.x > -1e-3f && v.x < 5.0f + 1e-3f && fabsf(v.y) < 5.0f);
    }
    assert_true(mean_velocity(world).x > 4.0f);
    mote_world_destroy(world);
}

// In a vacuum nothing changes; in gusts it does, differently at another time, and the same on all backends.
static void gusts_are_repeatable(void **state)
{
    const TestBackend *backend = *state;
    const MoteSettings settings = air_settings();
    uint64_t hashes[3] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        const MoteBackendOptions *options = i == 1 && !vulkan_may_differ((int)(backend - test_backends))
                                                ? &test_backends[1].options
                                                : &backend->options;
        MoteWorld *world = NULL;
        expect_ok(mote_world_create(&settings, options, &world));
        add_sheet(world, 0.3f, still, 1.2f, 0.6f);
        expect_ok(mote_world_steps(world, 1.0f / 60.0f, 2, NULL));
        expect_near(read_statistics(world).kinetic_energy, 0.0, 1e-9, "energy without air");
        for (uint32_t step = 0; step < 30; step++) {
            MoteAir air = {.density = 1.2f, .wind = {2, 0, 1}, .gust = 1.5f, .eddy_size = 0.7f};
            air.time = (double)step / 60.0 + (i == 2 ? 0.5 : 0.0);
            expect_ok(mote_world_set_air(world, &air));
            expect_ok(mote_world_steps(world, 1.0f / 60.0f, 1, NULL));
        }
        hashes[i] = read_hash(world);
        const MoteVec3 v = mean_velocity(world);
        assert_true(v.x > 0.1f && v.z > 0.01f);
        mote_world_destroy(world);
    }
    if (strcmp(backend->label, "cpu") != 0) { // whose vectorised links sum in another order
        assert_int_equal(hashes[0], hashes[1]);
    }
    assert_true(hashes[0] != hashes[2]);
}

static void wrong_air_is_refused(void **state)
{
    const MoteSettings settings = air_settings();
    MoteWorld *world = make_world(*state, &settings);
    MoteAir air = mote_default_air();
    air.density = -1.0f;
    expect_error(mote_world_set_air(world, &air), MOTE_ERROR_INPUT, "density -1 kg/m^3");
    air = mote_default_air();
    air.eddy_size = 0.0f;
    expect_error(mote_world_set_air(world, &air), MOTE_ERROR_INPUT, "eddies of 0 m");
    air = mote_default_air();
    air.wind.y = NAN;
    expect_error(mote_world_set_air(world, &air), MOTE_ERROR_INPUT, "not finite");
    expect_near(mote_world_air(world).density, 0.0, 0.0, "density as before");
    mote_world_destroy(world);
}

// A flag of a scene goes on from a state to the bit, gusts included.
static void states_of_scenes_resume(void **state)
{
    (void)state;
    static const char json[] =
        "{\"name\": \"flag\", \"solver\": {\"spacing\": 0.05}, \"air\": {\"wind\": [4, 0, 0], \"gust\": 2}, "
        "\"cloths\": [{\"columns\": 8, \"rows\": 6, \"size\": [0.7, 0.5, 0], \"pins\": \"left\"}]}";
    Running running = fixture_start(json, "cpu");
    fixture_advance(&running, 10);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("flag.state")));
    fixture_advance(&running, 10);
    Running resumed = fixture_start(json, "cpu");
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("flag.state")));
    fixture_advance(&resumed, 10);
    assert_int_equal(fixture_hash(&resumed), fixture_hash(&running));
    fixture_stop(&resumed);
    fixture_stop(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(drag_decays_as_one_over_time), ON_CPU_AND_GPUS(a_flat_sheet_falls_at_its_terminal_velocity),
        ON_EVERY_BACKEND(lift_is_across_the_wind),      ON_CPU_AND_CUDA(wind_carries_and_does_not_throw),
        ON_EVERY_BACKEND(gusts_are_repeatable),         ON_CPU_AND_CUDA(wrong_air_is_refused),
        cmocka_unit_test(states_of_scenes_resume),
    };
    static const char *const long_tests[] = {NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
