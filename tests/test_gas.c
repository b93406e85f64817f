// SPDX-License-Identifier: MIT
// Gas and the smoke in it: drag, buoyancy, cooling and vortices against closed forms; smoke that goes with the flow;
// what is emitted and removed, counted; that runs repeat for any threads and backends, and resume; and what scenes say
// of it.
#define VULKAN_VALIDATE false // hundreds of steps

#include "backends.h"
#include "simulation_fixture.h"

#include "mote_diffuse.h"
#include "mote_forces.h"
#include "mote_gas.h"

static const float DT = 1.0f / 240.0f;
static const double PI = 3.14159265358979323846;

// ---- Tools -------------------------------------------------------------------------------------------------

// A block of gas on the rest lattice; returns how many there are.
static uint32_t add_gas(MoteWorld *world, MoteVec3 corner, uint32_t nx, uint32_t ny, uint32_t nz, MoteVec3 velocity,
                        float temperature, bool lasts)
{
    const float d = mote_world_settings(world).spacing;
    const uint32_t count = nx * ny * nz;
    MoteVec3 *positions = malloc(2 * count * sizeof *positions), *velocities = positions + count;
    assert_non_null(positions);
    for (uint32_t i = 0; i < count; i++) {
        positions[i] = (MoteVec3){corner.x + d * (float)(i % nx), corner.y + d * (float)(i / nx % ny),
                                  corner.z + d * (float)(i / nx / ny)};
        velocities[i] = velocity;
    }
    const MoteParticles particles = {.count = count,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .mass = mote_world_particle_mass(world, 1.2f),
                                     .phase = MOTE_PHASE(MOTE_KIND_GAS, 0),
                                     .temperature = temperature,
                                     .lasts = lasts};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    free(positions);
    return count;
}

// What is good until the next call.
static MoteGasView read_gas(MoteWorld *world)
{
    static MoteGasView kept;
    const uint32_t count = mote_world_particle_count(world);
    if (count > kept.capacity) {
        kept.capacity = count;
        kept.states = realloc(kept.states, 16 * (size_t)count);
        kept.vortices = realloc(kept.vortices, 16 * (size_t)count);
    }
    expect_ok(mote_world_read_gas(world, &kept));
    assert_int_equal(kept.count, count);
    return kept;
}

static MoteDiffuse read_smoke(MoteWorld *world)
{
    static MoteDiffuse kept;
    MoteDiffuseCounts counts;
    expect_ok(mote_world_diffuse_counts(world, &counts));
    if (counts.present > kept.capacity) {
        kept.capacity = counts.present;
        kept.positions = realloc(kept.positions, 16 * (size_t)kept.capacity);
        kept.velocities = realloc(kept.velocities, 16 * (size_t)kept.capacity);
        kept.ids = realloc(kept.ids, 4 * (size_t)kept.capacity);
        kept.smoke = realloc(kept.smoke, 16 * (size_t)kept.capacity);
    }
    expect_ok(mote_world_read_diffuse(world, &kept));
    assert_int_equal(kept.count, counts.present);
    return kept;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    }
    return hash;
}

// Of all that gas and smoke are.
static uint64_t hash_all(MoteWorld *world)
{
    const MoteDiffuse smoke = read_smoke(world);
    const MoteGasView gas = read_gas(world);
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    uint64_t hash = hash_bytes(1469598103934665603u, smoke.positions, 16 * (size_t)smoke.count);
    hash = hash_bytes(hash, smoke.velocities, 16 * (size_t)smoke.count);
    hash = hash_bytes(hash, smoke.ids, 4 * (size_t)smoke.count);
    hash = hash_bytes(hash, smoke.smoke, 16 * (size_t)smoke.count);
    hash = hash_bytes(hash, gas.states, 16 * (size_t)gas.count);
    hash = hash_bytes(hash, gas.vortices, 16 * (size_t)gas.count);
    hash = hash_bytes(hash, view.positions, 16 * (size_t)view.count);
    return hash_bytes(hash, view.velocities, 16 * (size_t)view.count);
}

static void make_room_for_smoke(MoteWorld *world, uint32_t capacity)
{
    MoteFoam foam = mote_default_foam();
    foam.amount = 0.0f;
    foam.capacity = capacity;
    expect_ok(mote_world_set_foam(world, &foam));
}

static void add_smoke(MoteWorld *world, MoteVec3 place, MoteVec3 velocity, float life)
{
    float p[4] = {place.x, place.y, place.z, life > 0.0f ? life : 1.0f}, v[4] = {velocity.x, velocity.y, velocity.z, 3};
    float s[4] = {0, life, 0, 1};
    const MoteDiffuse one = {.count = 1, .positions = p, .velocities = v, .smoke = s};
    expect_ok(mote_world_add_diffuse(world, &one));
}

// ---- Smoke -------------------------------------------------------------------------------------------------

// In gas that moves evenly smoke moves exactly with it.
static void smoke_goes_with_a_uniform_flow(void **state)
{
    enum { COUNT = 32, STEPS = 96 };
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 flow = {1.5f, -0.25f, 0.75f};
    add_gas(world, (MoteVec3){0, 0, 0}, 12, 12, 12, flow, 0.0f, true);
    make_room_for_smoke(world, COUNT);
    MoteVec3 places[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        places[i] = random_in_box((MoteVec3){0.55f, 0.55f, 0.55f}, 0.5f);
        add_smoke(world, places[i], flow, 0.0f);
    }
    expect_ok(mote_world_steps(world, DT, STEPS, NULL));
    const MoteDiffuse end = read_smoke(world);
    assert_int_equal(end.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            const double to = (double)(&places[i].x)[k] + (double)(&flow.x)[k] * STEPS * (double)DT;
            expect_near(end.positions[4 * i + k], to, 2e-5, "place");
            expect_near(end.velocities[4 * i + k], (&flow.x)[k], 4e-5, "velocity"); // a last bit of a place, over dt
        }
    }
    mote_world_destroy(world);
}

// The gas of step n: turned about y by the step's angle, with the velocities that lead to the next one.
static void turn_gas(MoteWorld *world, const MoteVec3 *starts, uint32_t step, double angle)
{
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    for (uint32_t i = 0; i < view.count; i++) {
        const MoteVec3 s = starts[view.ids[i]];
        const double a = step * angle, b = (step + 1) * angle;
        const double x = s.x * cos(a) + s.z * sin(a), z = s.z * cos(a) - s.x * sin(a);
        float *p = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
        p[0] = (float)x;
        p[2] = (float)z;
        v[0] = (float)((s.x * cos(b) + s.z * sin(b) - x) / (double)DT);
        v[2] = (float)((s.z * cos(b) - s.x * sin(b) - z) / (double)DT);
    }
    expect_ok(mote_world_write(world, &view));
}

// In gas that turns like a solid, once a second, the radius of smoke changes by less than 1 % in a turn.
static void smoke_keeps_its_radius_in_turning_gas(void **state)
{
    enum { SIDE = 12, LAYERS = 5, COUNT = 12, STEPS = 240 };
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t particles =
        add_gas(world, (MoteVec3){-0.55f, 0, -0.55f}, SIDE, LAYERS, SIDE, (MoteVec3){0, 0, 0}, 0, true);
    MoteVec3 *starts = malloc(particles * sizeof *starts);
    assert_non_null(starts);
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    for (uint32_t i = 0; i < particles; i++) {
        memcpy(&starts[view.ids[i]], view.positions + 4 * (size_t)i, sizeof *starts);
    }
    make_room_for_smoke(world, COUNT);
    double mean = 0.0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const double r = 0.2 + 0.16 * i / COUNT, speed = 2.0 * PI * r, a = 2.3 * i;
        add_smoke(world, (MoteVec3){(float)(r * cos(a)), 0.2f, (float)(r * sin(a))},
                  (MoteVec3){(float)(speed * sin(a)), 0, (float)(-speed * cos(a))}, 0.0f);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        turn_gas(world, starts, n, 2.0 * PI * (double)DT);
        expect_ok(mote_world_step(world, DT));
    }
    const MoteDiffuse end = read_smoke(world);
    assert_int_equal(end.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const double r = 0.2 + 0.16 * i / COUNT, now = hypot(end.positions[4 * i], end.positions[4 * i + 2]);
        expect_near(now, r, 0.08 * 0.1, "radius"); // single ones wander between the gas's particles
        mean += (now / r - 1.0) / COUNT;
    }
    print_message("radius: %.3f %% on average\n", 100.0 * mean);
    assert_true(fabs(mean) < 0.005);
    free(starts);
    mote_world_destroy(world);
}

// Smoke without gas around it takes on the velocity of the air.
static void smoke_that_is_alone_goes_with_the_air(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    add_gas(world, (MoteVec3){5, 5, 5}, 2, 2, 2, (MoteVec3){0, 0, 0}, 0.0f, true);
    const MoteGas gas = {.drag = 4.0f, .cooling_time = 0.5f};
    expect_ok(mote_world_set_gas(world, &gas));
    MoteAir air = mote_default_air();
    air.wind = (MoteVec3){2, 0, -1};
    expect_ok(mote_world_set_air(world, &air));
    make_room_for_smoke(world, 4);
    float p[4] = {0, 0, 0, 9}, v[4] = {0, 3, 0, 3}, s[4] = {0, 9, 100, 1};
    const MoteDiffuse one = {.count = 1, .positions = p, .velocities = v, .smoke = s};
    expect_ok(mote_world_emit_diffuse(world, &one)); // in the first step
    expect_ok(mote_world_steps(world, DT, 121, NULL));
    const MoteDiffuse end = read_smoke(world);
    assert_int_equal(end.count, 1);
    const double left = exp(-4.0 * 120.0 * (double)DT);
    expect_near(end.velocities[0], 2.0 - 2.0 * left, 1e-4, "vx");
    expect_near(end.velocities[1], 3.0 * left, 1e-4, "vy");
    expect_near(end.velocities[2], -1.0 + left, 1e-4, "vz");
    expect_near(end.smoke[0], 0.5, 1e-5, "age");
    expect_near(end.smoke[2], 100.0 * exp(-1.0), 1e-2, "temperature");
    mote_world_destroy(world);
}

// ---- Forces ------------------------------------------------------------------------------------------------

// UPP eq. 29 of a particle alone: exponential decay towards the wind.
static void drag_is_exponential(void **state)
{
    enum { STEPS = 60 };
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    for (int hard = 0; hard < 2; hard++) { // a step of k dt = 1.25, too
        const float k = hard != 0 ? 300.0f : 6.0f;
        MoteWorld *world = make_world(*state, &settings);
        add_gas(world, (MoteVec3){0, 0, 0}, 1, 1, 1, (MoteVec3){3, 1, 0}, 0.0f, true);
        const MoteGas gas = {.drag = k};
        expect_ok(mote_world_set_gas(world, &gas));
        MoteAir air = mote_default_air();
        air.wind = (MoteVec3){1, 0, 0};
        expect_ok(mote_world_set_air(world, &air));
        const uint32_t steps = hard != 0 ? 2 : STEPS;
        expect_ok(mote_world_steps(world, DT, steps, NULL));
        MoteParticleView view;
        expect_ok(read_particles(world, &view));
        const double density = view.velocities[3], left = exp(-(double)k * (1.0 - density) * steps * (double)DT);
        assert_true(density > 0.01 && density < 0.5);
        expect_near((view.velocities[0] - 1.0) / 2.0, left, 1e-3 * left, "vx relative to the wind");
        expect_near(view.velocities[1], left, 1e-3 * left, "vy");
        mote_world_destroy(world);
    }
}

// Far inside its radius the vortex turns like a solid.
static void air_has_a_vortex(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    add_gas(world, (MoteVec3){1.5f, 0.5f, 0}, 1, 1, 1, (MoteVec3){0, 0, 0}, 0.0f, true);
    const MoteGas gas = {.drag = 1e4f};
    expect_ok(mote_world_set_gas(world, &gas));
    MoteAir air = mote_default_air();
    air.wind = (MoteVec3){0, 1, 0};
    air.vortex = (MoteVec3){0, 2, 0};
    air.vortex_centre = (MoteVec3){1, 7, 0};
    air.vortex_radius = 0.5f;
    expect_ok(mote_world_set_air(world, &air));
    expect_ok(mote_world_step(world, DT));
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    expect_near(view.velocities[0], 0.0, 1e-5, "vx");
    expect_near(view.velocities[1], 1.0, 1e-5, "vy");
    expect_near(view.velocities[2], -2.0 * 0.5 / 2.0, 1e-5, "vz: half of a solid's at the radius");
    air.vortex_radius = -1.0f;
    expect_error(mote_world_set_air(world, &air), MOTE_ERROR_INPUT, "radius -1");
    mote_world_destroy(world);
}

// v = (beta_T T - alpha) g t; temperatures cool.
static void warm_gas_rises(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    settings.gravity = (MoteVec3){0, -10, 0};
    MoteWorld *world = make_world(*state, &settings);
    MoteGas gas = {.gravity = 0.25f, .buoyancy = 0.004f};
    expect_ok(mote_world_set_gas(world, &gas));
    add_gas(world, (MoteVec3){0, 0, 0}, 1, 1, 1, (MoteVec3){0, 0, 0}, 150.0f, true);
    expect_ok(mote_world_steps(world, DT, 120, NULL));
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    expect_near(view.velocities[1], (0.6 - 0.25) * 10.0 * 0.5, 1e-4, "rising speed");
    expect_near(read_gas(world).states[2], 150.0, 1e-6, "temperature");
    gas.cooling_time = 0.25f;
    expect_ok(mote_world_set_gas(world, &gas));
    expect_ok(mote_world_steps(world, DT, 60, NULL));
    expect_near(read_gas(world).states[2], 150.0 * exp(-1.0), 1e-2, "temperature");
    expect_near(read_gas(world).states[0], 0.75, 1e-5, "age");
    mote_world_destroy(world);
}

// Gas and smoke that only air is around cool by `mixing` besides; deep inside gas they do not.
static void air_mixes_in_at_the_surface(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteGas gas = {.cooling_time = 2.0f, .mixing = 3.0f};
    expect_ok(mote_world_set_gas(world, &gas));
    const uint32_t inside = add_gas(world, (MoteVec3){0, 0, 0}, 9, 9, 9, (MoteVec3){0, 0, 0}, 200.0f, true);
    add_gas(world, (MoteVec3){5, 5, 5}, 1, 1, 1, (MoteVec3){0, 0, 0}, 200.0f, true);
    make_room_for_smoke(world, 4);
    float p[8] = {0.45f, 0.45f, 0.45f, 9, 3, 3, 3, 9}, v[8] = {0, 0, 0, 3, 0, 0, 0, 3};
    float s[8] = {0, 9, 100, 1, 0, 9, 100, 1};
    const MoteDiffuse two = {.count = 2, .positions = p, .velocities = v, .smoke = s};
    expect_ok(mote_world_add_diffuse(world, &two));
    expect_ok(mote_world_steps(world, DT, 120, NULL));
    const MoteDiffuse end = read_smoke(world);
    expect_near(end.smoke[2], 100.0 * exp(-0.25), 0.5, "smoke inside");
    expect_near(end.smoke[6], 100.0 * exp(-0.25 - 1.5), 0.02, "smoke alone");
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    const MoteGasView now = read_gas(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *at = view.positions + 4 * (size_t)i;
        const double density = view.velocities[4 * (size_t)i + 3], found = now.states[4 * (size_t)i + 2];
        if (view.ids[i] == inside) {
            expect_near(found, 200.0 * exp(-0.25 - 1.5 * (1.0 - density)), 0.05, "gas alone");
        } else if (hypot(hypot(at[0] - 0.4, at[1] - 0.4), at[2] - 0.4) < 0.15) {
            expect_near(found, 200.0 * exp(-0.25), 2.0, "gas inside");
        }
    }
    mote_world_destroy(world);
}

// UPP eq. 30 and 31 in the first step, by hand: n_i of gas beside a liquid, which does not count, and -beta n x g.
static void vortices_begin_as_computed_by_hand(void **state)
{
    const float spacing = 0.1f, beta = 0.5f;
    const double h = 0.2;
    MoteSettings settings = measuring_settings(3, spacing, 2.0f);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(*state, &settings);
    const MoteGas gas = {.baroclinic = beta};
    expect_ok(mote_world_set_gas(world, &gas));
    const uint32_t count = add_gas(world, (MoteVec3){-0.6f, 0, 0}, 7, 7, 7, (MoteVec3){0, 0, 0}, 0.0f, true);
    add_block(world, (MoteVec3){0.1f, 0, 0}, 4, 7, 7);
    double number = 0.0; // of particles in a m^3, by the kernel
    for (int k = 0; k < 125; k++) {
        const double x = 0.1 * (k % 5 - 2), y = 0.1 * (k / 5 % 5 - 2), z = 0.1 * (k / 25 - 2);
        const double t = fmax(h * h - x * x - y * y - z * z, 0.0);
        number += 315.0 / (64.0 * PI * pow(h, 9)) * t * t * t;
    }
    expect_ok(mote_world_step(world, DT));
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    const MoteGasView now = read_gas(world);
    double swept = 0.0, lifted = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        if (mote_phase_kind(view.phases[i]) != MOTE_KIND_GAS) {
            assert_true(now.vortices[4 * i] == 0.0f && now.vortices[4 * i + 2] == 0.0f);
            continue;
        }
        double n[3] = {0};
        const float *p = view.positions + 4 * (size_t)i;
        for (uint32_t j = 0; j < view.count; j++) {
            const float *q = view.positions + 4 * (size_t)j;
            const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
            const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            if (j != i && r < h && mote_phase_kind(view.phases[j]) == MOTE_KIND_GAS) {
                const double volume = 1.0 / number / view.velocities[4 * (size_t)j + 3];
                for (int k = 0; k < 3; k++) { // grad W points to the neighbour
                    n[k] -= volume * 45.0 / (PI * pow(h, 6)) * (h - r) * (h - r) / r * d[k];
                }
            }
        }
        const double g = -9.81, scale = -(double)beta * (double)DT;
        const double omega[3] = {scale * -n[2] * g, 0.0, scale * n[0] * g};
        for (int k = 0; k < 3; k++) {
            expect_near(now.vortices[4 * i + (uint32_t)k], omega[k], 2e-4, "omega");
        }
        if (p[0] > -0.01f && fabsf(p[1] - 0.3f) < 0.01f &&
            fabsf(p[2] - 0.3f) < 0.01f) { // the middle of the layer's face
            swept = now.vortices[4 * i + 2];
        }
        lifted += view.velocities[4 * (size_t)i + 1];
    }
    assert_true(swept < -0.01); // clockwise on the right of what rises
    assert_true(lifted / count > 1e-7);
    mote_world_destroy(world);
}

// ---- Plumes ------------------------------------------------------------------------------------------------

static const char PLUME[] =
    "{\"solver\": {\"spacing\": 0.1, \"frame_rate\": 60, \"iterations\": 4},"
    " \"emitters\": [{\"kind\": \"gas\", \"position\": [0, 0.06, 0], \"radius\": 0.2, \"speed\": 1.5,"
    "   \"temperature\": 60, \"jitter\": 0.2, \"smoke\": %g, \"smoke_life\": %g}],"
    " \"colliders\": [{\"shape\": \"plane\"}%s],"
    " \"gas\": {\"smoke_capacity\": %d, \"baroclinic\": %g, \"drag\": %g, \"linger\": 0.2}%s}";

typedef struct Plume {
    double smoke, life;
    int capacity;
    double baroclinic, drag;
    const char *collider, *more;
} Plume;

static const Plume usual = {4, 0.5, 4000, 1, 3, "", ""};

static Running start_plume(const MoteBackendOptions *options, Plume plume)
{
    char json[2048];
    snprintf(json, sizeof json, PLUME, plume.smoke, plume.life, plume.collider, plume.capacity, plume.baroclinic,
             plume.drag, plume.more);
    Running running = {.scene = fixture_scene("plume.json", json)};
    expect_ok(mote_simulation_create(running.scene, options, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    return running;
}

static double mean_height(MoteWorld *world)
{
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    double sum = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        sum += (double)view.positions[4 * (size_t)i + 1] / view.count;
    }
    return sum;
}

// Vortices lift a plume that strong drag holds back; its density stays what it should be.
static void a_plume_rises_faster_with_vortices(void **state)
{
    const TestBackend *backend = *state;
    double heights[2];
    for (int k = 0; k < 2; k++) {
        Plume plume = usual;
        plume.life = 0.0;
        plume.drag = 50.0;
        plume.baroclinic = k * 4.0;
        Running running = start_plume(&backend->options, plume);
        fixture_advance(&running, 75);
        heights[k] = mean_height(running.world);
        MoteStatistics statistics;
        expect_ok(mote_world_statistics(running.world, &statistics));
        print_message("baroclinic %g: mean height %.3f m, mean density error %.3f %%\n", plume.baroclinic, heights[k],
                      100.0 * (double)statistics.density_error_mean);
        assert_true(statistics.density_error_mean < 0.02);
        fixture_stop(&running);
    }
    assert_true(heights[1] >= heights[0]);
}

// Emitted - dead = present; what an emitter makes is known to the particle; without smoke gas goes.
static void counts_are_exact(void **state)
{
    const TestBackend *backend = *state;
    Running running = start_plume(&backend->options, usual);
    MoteDiffuseCounts counts = {0};
    MoteStatistics statistics = {0};
    for (uint32_t n = 0; n < 6; n++) {
        fixture_advance(&running, 15);
        expect_ok(mote_world_diffuse_counts(running.world, &counts));
        const MoteDiffuse all = read_smoke(running.world);
        uint8_t *seen = calloc(counts.spawned + 1, 1);
        assert_non_null(seen);
        for (uint32_t i = 0; i < all.count; i++) {
            assert_true(all.positions[4 * i + 3] > 0.0f && all.ids[i] < counts.spawned && seen[all.ids[i]]++ == 0);
            assert_true(all.velocities[4 * i + 3] == 3.0f);
            expect_near(all.smoke[4 * i] + all.positions[4 * i + 3], all.smoke[4 * i + 1], 1e-4, "age and life");
        }
        free(seen);
        assert_int_equal(counts.dropped, 0);
        assert_int_equal(counts.present, counts.spawned - counts.dead);
        expect_ok(mote_world_statistics(running.world, &statistics));
        assert_int_equal(mote_simulation_emitted(running.simulation),
                         mote_world_particle_count(running.world) + statistics.removed);
    }
    // A layer each time the jet has gone 0.1 m, of 13 particles within 0.2 m on the lattice; the sheath has no smoke.
    const uint32_t layers = (uint32_t)(1.5 * 89.0 / 60.0 / 0.1 + 0.5);
    assert_int_equal(counts.spawned, layers * 13 * 4);
    assert_int_equal(mote_simulation_emitted(running.simulation), layers * 13 + layers / 2 * (29 - 13));
    assert_true(counts.dead > 200 && statistics.removed > 20 && mote_world_particle_count(running.world) > 50);
    fixture_stop(&running);
}

// What finds no slot is counted and left out; slots that are free again are used.
static void a_full_world_drops_and_says_so(void **state)
{
    const TestBackend *backend = *state;
    Plume plume = usual;
    plume.capacity = 100;
    Running running = start_plume(&backend->options, plume);
    fixture_advance(&running, 60);
    MoteDiffuseCounts counts;
    expect_ok(mote_world_diffuse_counts(running.world, &counts));
    assert_true(counts.dropped > 50 && counts.present <= 100 && counts.spawned > 150);
    assert_int_equal(counts.present, counts.spawned - counts.dead);
    fixture_stop(&running);
}

// Foam that a liquid makes and smoke that an emitter makes take different slots, in the same steps, too.
static void foam_and_smoke_share_slots(void **state)
{
    const TestBackend *backend = *state;
    Plume plume = usual;
    plume.collider = ", {\"shape\": \"box\", \"inside_out\": true, \"position\": [0.5, 2, 0], \"size\": [2, 4, 0.6]}";
    plume.more = ", \"materials\": {\"water\": {}}, \"foam\": {\"amount\": 1, \"capacity\": 4000, \"speed\": 3,"
                 " \"life\": 0.2}, \"fluids\": [{\"position\": [1.15, 0.6, 0], \"size\": [0.7, 1.2, 0.6]}]";
    Running running = start_plume(&backend->options, plume);
    uint32_t smoke = 0, foam = 0;
    for (uint32_t n = 0; n < 4; n++) {
        fixture_advance(&running, 12);
        MoteDiffuseCounts counts;
        expect_ok(mote_world_diffuse_counts(running.world, &counts));
        const MoteDiffuse all = read_smoke(running.world);
        uint8_t *seen = calloc(counts.spawned + 1, 1);
        assert_non_null(seen);
        smoke = foam = 0;
        for (uint32_t i = 0; i < all.count; i++) {
            assert_true(all.ids[i] < counts.spawned && seen[all.ids[i]]++ == 0);
            smoke += all.velocities[4 * i + 3] == 3.0f;
            foam += all.velocities[4 * i + 3] <= 2.0f;
        }
        free(seen);
        assert_int_equal(smoke + foam, counts.present);
        assert_int_equal(counts.present, counts.spawned - counts.dead);
    }
    assert_true(smoke > 100 && foam > 20);
    fixture_stop(&running);
}

// Gas is removed after its life, and where there is no smoke; what fills a volume lasts.
static void gas_comes_to_an_end(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    for (int k = 0; k < 3; k++) {
        MoteWorld *world = make_world(*state, &settings);
        const MoteGas gas = {.life = k == 0 ? 0.2f : 0.0f, .linger = k == 0 ? 0.0f : 0.1f};
        expect_ok(mote_world_set_gas(world, &gas));
        add_gas(world, (MoteVec3){0, 0, 0}, 4, 4, 4, (MoteVec3){0, 0, 0}, 0.0f, false);
        add_gas(world, (MoteVec3){3, 0, 0}, 2, 2, 2, (MoteVec3){0, 0, 0}, 0.0f, true);
        make_room_for_smoke(world, 2);
        if (k == 2) {
            add_smoke(world, (MoteVec3){0.02f, 0.02f, 0.02f}, (MoteVec3){0, 0, 0}, 0.0f); // near to 17 of them
        }
        expect_ok(mote_world_steps(world, DT, 22, NULL)); // 0.092 s
        assert_int_equal(mote_world_particle_count(world), 72);
        expect_ok(mote_world_steps(world, DT, k == 0 ? 24 : 6, NULL));
        assert_int_equal(mote_world_particle_count(world), k == 0 ? 72 : k == 1 ? 8 : 8 + 17);
        expect_ok(mote_world_steps(world, DT, 6, NULL));
        assert_int_equal(mote_world_particle_count(world), k == 2 ? 8 + 17 : 8);
        mote_world_destroy(world);
    }
}

// ---- Others ------------------------------------------------------------------------------------------------

// A jet goes past a ball and stays in its box, and lifts a light block that is in its way; a column of water beside it
// flows out below the lighter gas.
static void gas_meets_solids_and_liquids(void **state)
{
    const TestBackend *backend = *state;
    Plume plume = usual;
    plume.collider = ", {\"shape\": \"sphere\", \"position\": [0.35, 0.5, 0], \"radius\": 0.15},"
                     " {\"shape\": \"box\", \"inside_out\": true, \"position\": [0, 2, 0], \"size\": [2.2, 4, 0.6]}";
    plume.more = ", \"materials\": {\"foil\": {\"density\": 0.3}, \"water\": {}},"
                 " \"bodies\": [{\"material\": \"foil\", \"mesh\": \"shape:box?x=0.3&y=0.3&z=0.3\","
                 " \"position\": [0, 0.7, 0]}],"
                 " \"fluids\": [{\"position\": [-0.85, 0.2, 0], \"size\": [0.5, 0.4, 0.6]}]";
    Running running = start_plume(&backend->options, plume);
    fixture_advance(&running, 30);
    MoteParticleView view;
    expect_ok(read_particles(running.world, &view));
    uint32_t gas = 0, liquid = 0;
    double body = 0.0, bodies = 0.0, level = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        const MoteParticleKind kind = mote_phase_kind(view.phases[i]);
        gas += kind == MOTE_KIND_GAS;
        liquid += kind == MOTE_KIND_LIQUID;
        level += kind == MOTE_KIND_LIQUID ? p[1] : 0.0f;
        body += kind == MOTE_KIND_BODY ? p[1] : 0.0f;
        bodies += kind == MOTE_KIND_BODY;
        const double x = p[0] - 0.35, y = p[1] - 0.5;
        assert_true(sqrt(x * x + y * y + p[2] * p[2]) > 0.14);
        assert_true(p[1] > -0.01f && p[1] < 4.01f && fabsf(p[0]) < 1.11f && fabsf(p[2]) < 0.31f);
    }
    print_message("the block is at %.3f m, the pool's middle at %.3f m\n", body / bodies, level / liquid);
    assert_true(gas > 100 && liquid == 120 && bodies > 20);
    assert_true(body / bodies > 0.7);  // after half a second of free fall it would be on the floor
    assert_true(level / liquid < 0.2); // the pool flows out below the gas
    fixture_stop(&running);
}

// ---- Repeating ---------------------------------------------------------------------------------------------

static uint64_t hash_after(const MoteBackendOptions *options, uint32_t frames)
{
    Running running = start_plume(options, usual);
    fixture_advance(&running, frames);
    MoteDiffuseCounts counts;
    expect_ok(mote_world_diffuse_counts(running.world, &counts));
    assert_true(counts.dead > 20);
    const uint64_t hash = hash_all(running.world);
    fixture_stop(&running);
    return hash;
}

static void runs_repeat_on_all_backends(void **state)
{
    (void)state;
    enum { FRAMES = 45 };
    MoteBackendOptions options = {.backend = "cpu", .threads = 1};
    const uint64_t fast = hash_after(&options, FRAMES);
    options.portable = true;
    const uint64_t portable = hash_after(&options, FRAMES);
    for (uint32_t threads = 2; threads <= 5; threads += 3) {
        options = (MoteBackendOptions){.backend = "cpu", .threads = threads};
        assert_int_equal(hash_after(&options, FRAMES), fast);
    }
    assert_int_equal(hash_after(&test_backends[2].options, FRAMES), portable);
    if (!vulkan_may_differ(3)) {
        assert_int_equal(hash_after(&test_backends[3].options, FRAMES), portable);
    }
}

// A run that is saved and loaded goes on bit for bit.
static void a_saved_run_resumes(void **state)
{
    const TestBackend *backend = *state;
    Running whole = start_plume(&backend->options, usual);
    fixture_advance(&whole, 40);
    expect_ok(mote_simulation_save(whole.simulation, fixture_path("plume.state")));
    fixture_advance(&whole, 10);
    Running rest = start_plume(&backend->options, usual);
    expect_ok(mote_simulation_load(rest.simulation, fixture_path("plume.state")));
    fixture_advance(&rest, 10);
    assert_int_equal(hash_all(whole.world), hash_all(rest.world));
    fixture_stop(&whole);
    fixture_stop(&rest);
}

// Without gas none of its settings changes a bit.
static void worlds_without_gas_do_not_notice(void **state)
{
    uint64_t hashes[2];
    for (int k = 0; k < 2; k++) {
        MoteSettings settings = mote_default_settings();
        settings.spacing = 0.1f;
        MoteWorld *world = make_world(*state, &settings);
        const MoteGas gas = {.gravity = 2, .drag = 50, .cohesion = 3, .baroclinic = 2, .life = 0.01f, .linger = 0.01f};
        if (k == 1) {
            expect_ok(mote_world_set_gas(world, &gas));
        }
        add_block(world, (MoteVec3){0, 0, 0}, 6, 6, 6);
        expect_ok(mote_world_steps(world, DT, 20, NULL));
        MoteParticleView view;
        expect_ok(read_particles(world, &view));
        hashes[k] = hash_bytes(hash_bytes(1469598103934665603u, view.positions, 16 * (size_t)view.count),
                               view.velocities, 16 * (size_t)view.count);
        mote_world_destroy(world);
    }
    assert_int_equal(hashes[0], hashes[1]);
}

// ---- Mistakes ----------------------------------------------------------------------------------------------

static void mistakes_are_told(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    MoteGas gas = {.drag = -1.0f};
    expect_error(mote_world_set_gas(world, &gas), MOTE_ERROR_INPUT, "drag -1, expected a finite number not below 0");
    gas = (MoteGas){.buoyancy = NAN};
    expect_error(mote_world_set_gas(world, &gas), MOTE_ERROR_INPUT, "buoyancy");
    const MoteVec3 place = {0, 0, 0};
    const MoteParticles hot = {
        .count = 1, .positions = &place, .mass = 1, .phase = MOTE_PHASE(MOTE_KIND_GAS, 0), .temperature = INFINITY};
    expect_error(mote_world_add_particles(world, &hot, NULL), MOTE_ERROR_INPUT, "temperature of inf");
    float p[4] = {0, 0, 0, 1};
    const MoteDiffuse one = {.count = 1, .positions = p};
    expect_error(mote_world_emit_diffuse(world, &one), MOTE_ERROR_INPUT, "without room for them");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(smoke_goes_with_a_uniform_flow),
        ON_EVERY_BACKEND(smoke_keeps_its_radius_in_turning_gas),
        ON_EVERY_BACKEND(smoke_that_is_alone_goes_with_the_air),
        ON_EVERY_BACKEND(drag_is_exponential),
        ON_EVERY_BACKEND(air_has_a_vortex),
        ON_EVERY_BACKEND(warm_gas_rises),
        ON_EVERY_BACKEND(air_mixes_in_at_the_surface),
        ON_EVERY_BACKEND(vortices_begin_as_computed_by_hand),
        ON_CPU_AND_CUDA(a_plume_rises_faster_with_vortices),
        ON_EVERY_BACKEND(counts_are_exact),
        ON_EVERY_BACKEND(a_full_world_drops_and_says_so),
        ON_CPU_AND_GPUS(foam_and_smoke_share_slots),
        ON_EVERY_BACKEND(gas_comes_to_an_end),
        ON_CPU_AND_GPUS(gas_meets_solids_and_liquids),
        ON_BACKEND(runs_repeat_on_all_backends, "all", 3),
        ON_CPU_AND_GPUS(a_saved_run_resumes),
        ON_EVERY_BACKEND(worlds_without_gas_do_not_notice),
        ON_EVERY_BACKEND(mistakes_are_told),
    };
    static const char *const long_tests[] = {"runs_repeat_on_all_backends", "a_plume_rises_faster_with_vortices", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
