// SPDX-License-Identifier: MIT
// Inflated cloth: volumes that are held, the gas law, holes and what leaks, momentum, energy, what is refused, states,
// and the same bits however it is run.
#include "solid_fixture.h"

#include "base/vec.h"
#include "mote_cloth.h"
#include "simulation_fixture.h"

// An octahedron, each of whose faces is cut into LEVEL^2, on a sphere.
enum { LEVEL = 6, VERTICES = 4 * LEVEL * LEVEL + 2, TRIANGLES = 8 * LEVEL * LEVEL };

typedef struct Ball {
    MoteVec3 positions[VERTICES], velocities[VERTICES];
    float masses[VERTICES];
    uint32_t triangles[3 * TRIANGLES], ids[VERTICES];
    MoteParticleHandle handles[VERTICES];
    MoteCloth cloth; // to be added once the particles are
    double volume;   // m^3, at rest
} Ball;

static uint32_t vertex_at(Ball *ball, uint32_t *count, MoteVec3 p)
{
    for (uint32_t v = 0; v < *count; v++) {
        if (vec3_length(vec3_sub(ball->positions[v], p)) < 1e-5f) {
            return v;
        }
    }
    assert_true(*count < VERTICES);
    ball->positions[*count] = p;
    return (*count)++;
}

static double mesh_volume(const Ball *ball, const MoteVec3 *p)
{
    double volume = 0.0;
    for (uint32_t t = 0; t < TRIANGLES; t++) {
        const uint32_t *c = ball->triangles + 3 * (size_t)t;
        const DVec3 a = dvec3_from(p[c[0]]), b = dvec3_from(p[c[1]]), d = dvec3_from(p[c[2]]);
        volume += dvec3_dot(a, dvec3_cross(b, d)) / 6.0;
    }
    return volume;
}

static void make_ball(Ball *ball, float radius, MoteVec3 centre, float mass)
{
    uint32_t count = 0, corner = 0;
    *ball = (Ball){.cloth = mote_default_cloth()};
    for (uint32_t face = 0; face < 8; face++) {
        const float x = face & 1 ? -1.0f : 1.0f, y = face & 2 ? -1.0f : 1.0f, z = face & 4 ? -1.0f : 1.0f;
        const bool flipped = x * y * z < 0.0f;
        for (uint32_t i = 0; i < LEVEL; i++) {
            for (uint32_t j = 0; i + j < LEVEL; j++) {
                const uint32_t cells[6][2] = {{i, j}, {i + 1, j}, {i, j + 1}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
                for (uint32_t k = 0; k < (i + j + 1 < LEVEL ? 6u : 3u); k++) {
                    const uint32_t m = flipped ? (k / 3) * 3 + (3 - k % 3) % 3 : k;
                    const float u = (float)cells[m][0] / LEVEL, v = (float)cells[m][1] / LEVEL;
                    const MoteVec3 p = {x * u, y * v, z * (1.0f - u - v)};
                    ball->triangles[corner++] = vertex_at(ball, &count, vec3_scale(p, radius / vec3_length(p)));
                }
            }
        }
    }
    assert_int_equal(count, VERTICES);
    assert_int_equal(corner, 3 * TRIANGLES);
    ball->volume = mesh_volume(ball, ball->positions);
    for (uint32_t v = 0; v < VERTICES; v++) {
        ball->positions[v] = vec3_add(ball->positions[v], centre);
        ball->masses[v] = mass / VERTICES;
    }
    ball->cloth.vertex_count = VERTICES;
    ball->cloth.triangle_count = TRIANGLES;
    ball->cloth.triangles = ball->triangles;
    ball->cloth.vertices = ball->handles;
    ball->cloth.stretch_compliance = 0.01f; // as thin rubber
    ball->cloth.drag = ball->cloth.lift = 0.0f;
}

static void add_ball(MoteWorld *world, Ball *ball)
{
    const MoteParticles particles = {.count = VERTICES,
                                     .positions = ball->positions,
                                     .velocities = ball->velocities,
                                     .masses = ball->masses,
                                     .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    uint32_t first = 0;
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t v = 0; v < VERTICES; v++) {
        ball->ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(world, ball->ids, VERTICES, ball->handles));
    expect_ok(mote_world_add_cloth(world, &ball->cloth, NULL));
}

static MoteSettings ball_settings(uint32_t small_steps)
{
    MoteSettings settings = solid_settings(0.04f);
    settings.sleep_speed = 0.0f;
    settings.max_displacement = 0.0f;
    settings.iterations = 12;
    settings.small_steps = small_steps;
    settings.gravity = (MoteVec3){0, 0, 0};
    return settings;
}

static void read_vertices(MoteWorld *world, const Ball *ball, MoteVec3 *positions, MoteVec3 *velocities)
{
    MoteParticleState states[VERTICES];
    expect_ok(mote_world_read_handles(world, ball->handles, VERTICES, states));
    for (uint32_t v = 0; v < VERTICES; v++) {
        positions[v] = states[v].position;
        velocities[v] = states[v].velocity;
    }
}

static double volume_now(MoteWorld *world, const Ball *ball)
{
    MoteVec3 positions[VERTICES], velocities[VERTICES];
    read_vertices(world, ball, positions, velocities);
    const MoteVec3 first = positions[0];
    for (uint32_t v = 0; v < VERTICES; v++) {
        positions[v] = vec3_sub(positions[v], first);
    }
    return mesh_volume(ball, positions);
}

static MoteClothPressure pressure_of(MoteWorld *world, uint32_t cloth)
{
    MoteClothPressure pressure;
    expect_ok(mote_world_read_cloth_pressure(world, cloth, &pressure));
    return pressure;
}

// ---- Volume ------------------------------------------------------------------------------------------------

// A ball that falls on the ground keeps its volume at every frame, and one at pressure 2 has more than one at 1.
static void check_volume(void **state, uint32_t small_steps)
{
    MoteSettings settings = ball_settings(small_steps);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    const float multiples[] = {1.0f, 2.0f};
    double volumes[2];
    for (int k = 0; k < 2; k++) {
        MoteWorld *world = make_world(*state, &settings);
        const MoteCollider ground = flat_ground(0.5f);
        expect_ok(mote_world_set_colliders(world, &ground, 1));
        Ball ball;
        make_ball(&ball, 0.2f, (MoteVec3){0, 0.3f, 0}, 0.1f);
        ball.cloth.inflation = MOTE_INFLATION_VOLUME;
        ball.cloth.pressure = multiples[k];
        add_ball(world, &ball);
        run_steps(world, 15, 1.0f / 60.0f);
        for (uint32_t frame = 0; frame < 15; frame++) {
            run_steps(world, 1, 1.0f / 60.0f);
            expect_near(volume_now(world, &ball), (double)multiples[k] * ball.volume,
                        0.01 * (double)multiples[k] * ball.volume, "volume");
        }
        volumes[k] = volume_now(world, &ball);
        const MoteClothPressure found = pressure_of(world, 0);
        expect_near((double)found.rest_volume, ball.volume, 1e-5 * ball.volume, "volume at rest");
        expect_near((double)found.volume, volumes[k], 0.01 * volumes[k], "volume");
        assert_true(k == 0 || found.excess > 20.0f); // the links are stretched
        assert_true(mote_world_watch(world).gained <= 0.02 * mote_world_watch(world).energy);
        mote_world_destroy(world);
    }
    assert_true(volumes[1] > 1.9 * volumes[0]);
}

static void volume_is_held(void **state)
{
    check_volume(state, 0);
    check_volume(state, 6);
}

// A compliance lets the volume give way by that for each Pa.
static void compliance_is_volume_over_pressure(void **state)
{
    const MoteSettings settings = ball_settings(10);
    MoteWorld *world = make_world(*state, &settings);
    Ball ball;
    make_ball(&ball, 0.2f, (MoteVec3){0, 0, 0}, 0.1f);
    ball.cloth.inflation = MOTE_INFLATION_VOLUME;
    ball.cloth.pressure = 1.5f;
    ball.cloth.volume_compliance = (float)(0.002 * ball.volume);
    ball.cloth.damping = 0.3f;
    add_ball(world, &ball);
    run_steps(world, 60, 1.0f / 60.0f);
    const MoteClothPressure found = pressure_of(world, 0);
    assert_true(found.excess > 10.0f);
    expect_near((double)found.volume, (1.5 - 0.002 * (double)found.excess) * ball.volume, 2e-3 * ball.volume,
                "volume with compliance");
    mote_world_destroy(world);
}

// ---- Momentum ----------------------------------------------------------------------------------------------

// Of what the gas did in the last step: its sum (N), its moment about the origin (N m), the sum of its sizes (N), and
// the sum of force times place (J).
typedef struct GasForces {
    DVec3 sum, moment;
    double size, virial;
} GasForces;

static GasForces gas_forces(MoteWorld *world)
{
    float forces[4 * VERTICES];
    expect_ok(mote_world_read_forces(world, MOTE_FORCE_PRESSURE, forces));
    const MoteParticleView view = read_view(world);
    GasForces all = {0};
    for (uint32_t i = 0; i < VERTICES; i++) {
        const float *p = view.positions + 4 * (size_t)i, *f = forces + 4 * (size_t)i;
        const DVec3 place = dvec3((double)p[0], (double)p[1], (double)p[2]);
        const DVec3 force = dvec3((double)f[0], (double)f[1], (double)f[2]);
        all.sum = dvec3_add(all.sum, force);
        all.moment = dvec3_add(all.moment, dvec3_cross(place, force));
        all.size += dvec3_length(force);
        all.virial += dvec3_dot(place, force);
    }
    return all;
}

// Neither force nor torque comes of the gas: of a ball of uneven mass that turns, flies and is blown up by half.
static void free_flight_keeps_momentum(void **state)
{
    for (uint32_t small_steps = 0; small_steps < 9; small_steps += 8) {
        const MoteSettings settings = ball_settings(small_steps);
        MoteWorld *world = make_world(*state, &settings);
        Ball ball;
        make_ball(&ball, 0.2f, (MoteVec3){0, 0, 0}, 0.1f);
        for (uint32_t v = 0; v < VERTICES; v++) {
            const MoteVec3 p = ball.positions[v];
            ball.masses[v] *= random_float(0.6f, 1.6f);
            ball.velocities[v] = (MoteVec3){1.0f - 4.0f * p.y, 0.5f + 4.0f * p.x, 0.25f};
        }
        ball.cloth.inflation = MOTE_INFLATION_GAS;
        ball.cloth.pressure = 200.0f;
        ball.cloth.atmosphere = 500.0f;
        add_ball(world, &ball);
        expect_ok(mote_world_record_forces(world, true));
        const MoteStatistics before = read_statistics(world);
        uint32_t pressed = 0;
        for (int k = 0; k < 12; k++) {
            expect_ok(mote_world_steps(world, 1.0f / 120.0f, 5, NULL));
            const GasForces gas = gas_forces(world);
            pressed += gas.size > 0.1;
            assert_true(dvec3_length(gas.sum) < 1e-5 * gas.size + 1e-4);
            assert_true(dvec3_length(gas.moment) < 2e-2 * 0.2 * gas.size + 1e-3);
            expect_ok(mote_world_set_cloth_pressure(world, 0, 400.0f));
        }
        const MoteStatistics after = read_statistics(world);
        assert_true(pressed > 0);
        for (int axis = 0; axis < 3; axis++) {
            expect_near(after.momentum[axis], before.momentum[axis], 1e-3 * fabs(before.momentum[axis]), "momentum");
        }
        mote_world_destroy(world);
    }
}

// ---- Gas ---------------------------------------------------------------------------------------------------

// What the gas presses with is n R T / V less the atmosphere, in the volume that the vertices enclose; and the force on
// a vertex is that times a third of the areas of its triangles.
static void gas_follows_its_law(void **state)
{
    for (uint32_t small_steps = 0; small_steps < 11; small_steps += 10) {
        const MoteSettings settings = ball_settings(small_steps);
        MoteWorld *world = make_world(*state, &settings);
        Ball ball;
        make_ball(&ball, 0.2f, (MoteVec3){0, 0, 0}, 0.2f);
        ball.cloth.inflation = MOTE_INFLATION_GAS;
        ball.cloth.pressure = 600.0f;
        ball.cloth.atmosphere = 1000.0f;
        ball.cloth.damping = 0.5f;
        add_ball(world, &ball);
        expect_ok(mote_world_record_forces(world, true));
        run_steps(world, 90, 1.0f / 60.0f);
        const double volume = volume_now(world, &ball);
        const double excess = (1000.0 + 600.0) * ball.volume / volume - 1000.0;
        assert_true(volume > 1.1 * ball.volume && excess > 50.0);
        const MoteClothPressure found = pressure_of(world, 0);
        expect_near((double)found.volume, volume, 2e-3 * volume, "volume");
        expect_near((double)found.excess, excess, 0.02 * excess, "excess pressure");
        const double virial = gas_forces(world).virial;        // the sum of x . g is three times the volume
        const double tolerance = small_steps > 0 ? 0.05 : 0.1; // iterations press where links have pulled inwards
        expect_near(virial, 3.0 * excess * volume, tolerance * 3.0 * excess * volume, "sum of forces times places");
        mote_world_destroy(world);
    }
}

// A gas that is ten thousand times stiffer than the cloth does not shake it, and neither does none at all outside.
static void stiff_gas_is_stable(void **state)
{
    const float atmospheres[] = {0.0f, 1e8f};
    for (int k = 0; k < 2; k++) {
        MoteSettings settings = ball_settings(4);
        settings.damping = 5.0f;
        MoteWorld *world = make_world(*state, &settings);
        Ball ball;
        make_ball(&ball, 0.2f, (MoteVec3){0, 0, 0}, 0.1f);
        ball.cloth.inflation = MOTE_INFLATION_GAS;
        ball.cloth.atmosphere = atmospheres[k];
        ball.cloth.pressure = 100.0f;
        ball.cloth.damping = 0.1f;
        add_ball(world, &ball);
        run_steps(world, 60, 1.0f / 60.0f);
        assert_true(fastest(world) < 0.5);
        assert_true(k == 0 || fabs(volume_now(world, &ball) / ball.volume - 1.0) < 1e-3);
        mote_world_destroy(world);
    }
}

// ---- Holes -------------------------------------------------------------------------------------------------

// Pinned all over, so that only the gas changes: it must leave by Torricelli's law through the hole that a removed
// vertex leaves, without anybody being told.
static void gas_leaves_through_a_hole(void **state)
{
    const MoteSettings settings = ball_settings(0);
    MoteWorld *world = make_world(*state, &settings);
    Ball ball;
    make_ball(&ball, 0.2f, (MoteVec3){3, 2, 1}, 0.0f);
    ball.masses[VERTICES - 1] = 0.01f;
    ball.cloth.inflation = MOTE_INFLATION_GAS;
    ball.cloth.pressure = 50.0f;
    ball.cloth.atmosphere = 1000.0f;
    ball.cloth.leak = 0.6f;
    ball.cloth.stretch_compliance = 0.0f;
    add_ball(world, &ball);
    run_steps(world, 5, 1e-3f);
    assert_true(pressure_of(world, 0).gas == 1.0f && pressure_of(world, 0).hole_area == 0.0f);
    expect_near((double)pressure_of(world, 0).excess, 50.0, 0.5, "excess pressure of a closed ball");

    const uint32_t gone = ball.ids[100];
    expect_ok(mote_world_remove_particles(world, &gone, 1));
    DVec3 around[16]; // the vertices around it, as its triangles wind
    uint32_t links[VERTICES], count = 0, first = MOTE_NONE;
    for (uint32_t t = 0; t < TRIANGLES; t++) {
        const uint32_t *c = ball.triangles + 3 * (size_t)t;
        for (uint32_t k = 0; k < 3; k++) {
            if (c[k] == 100) {
                first = c[(k + 1) % 3];
                links[first] = c[(k + 2) % 3];
            }
        }
    }
    DVec3 area = dvec3(0, 0, 0);
    for (uint32_t v = first; count == 0 || v != first; v = links[v]) {
        assert_true(count < 16);
        around[count++] = dvec3_from(ball.positions[v]);
    }
    for (uint32_t k = 0; k < count; k++) {
        area = dvec3_add(area, dvec3_scale(dvec3_cross(dvec3_sub(around[k], around[0]),
                                                       dvec3_sub(around[(k + 1) % count], around[0])),
                                           0.5));
    }
    const double hole = dvec3_length(area), dt = 1e-3;
    double left = 1.0;
    DVec3 middle = dvec3(0, 0, 0);
    for (uint32_t k = 0; k < count; k++) {
        middle = dvec3_add(middle, dvec3_scale(around[k], 1.0 / count));
    }
    const DVec3 tip = dvec3_sub(dvec3_from(ball.positions[100]), middle);
    double volume = ball.volume;
    for (uint32_t k = 0; k < count; k++) { // what was above the hole's cap
        const DVec3 a = dvec3_sub(around[k], middle), b = dvec3_sub(around[(k + 1) % count], middle);
        volume -= fabs(dvec3_dot(tip, dvec3_cross(a, b))) / 6.0;
    }
    for (int step = 0; step < 40; step++) {
        run_steps(world, 1, (float)dt);
        const double excess = fmax(1050.0 * ball.volume / volume * left - 1000.0, 0.0);
        left -= 0.6 * hole * sqrt(2.0 * excess / 1.2) / volume * left * dt;
        expect_near((double)pressure_of(world, 0).gas, left, 4e-4, "gas left");
    }
    expect_near((double)pressure_of(world, 0).hole_area, hole, 1e-4 * hole, "area of the hole");
    assert_true(left < 0.99);
    run_steps(world, 400, (float)dt);
    expect_near((double)pressure_of(world, 0).excess, 0.0, 1.0, "excess pressure in the end");
    mote_world_destroy(world);
}

// ---- What is refused ---------------------------------------------------------------------------------------

static void expect_refused(MoteWorld *world, const MoteCloth *cloth, const char *text)
{
    expect_error(mote_world_add_cloth(world, cloth, NULL), MOTE_ERROR_INPUT, text);
    assert_int_equal(mote_world_cloth_count(world), 0);
}

static void wrong_inflations_are_refused(void **state)
{
    const MoteSettings settings = ball_settings(0);
    MoteWorld *world = make_world(*state, &settings);
    Ball ball;
    make_ball(&ball, 0.2f, (MoteVec3){0, 0, 0}, 0.1f);
    const MoteCloth plain = ball.cloth;
    add_ball(world, &ball);
    expect_error(mote_world_set_cloth_pressure(world, 0, 2.0f), MOTE_ERROR_INPUT, "cloth 0 is none that is inflated");
    assert_true(pressure_of(world, 0).rest_volume == 0.0f);
    MoteClothPressure out;
    expect_error(mote_world_read_cloth_pressure(world, 1, &out), MOTE_ERROR_INPUT, "cloth 1");
    mote_world_destroy(world);

    world = make_world(*state, &settings);
    make_ball(&ball, 0.2f, (MoteVec3){0, 0, 0}, 0.1f);
    const MoteParticles particles = {
        .count = VERTICES, .positions = ball.positions, .masses = ball.masses, .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    for (uint32_t v = 0; v < VERTICES; v++) {
        ball.ids[v] = v;
    }
    expect_ok(mote_world_make_handles(world, ball.ids, VERTICES, ball.handles));
    MoteCloth cloth = plain;
    cloth.vertices = ball.handles;
    cloth.triangles = ball.triangles;
    cloth.inflation = MOTE_INFLATION_VOLUME;
    cloth.pressure = -1.0f;
    expect_refused(world, &cloth, "pressure -1, expected a number not below 0");
    cloth.inflation = MOTE_INFLATION_GAS;
    cloth.pressure = -2e5f;
    expect_refused(world, &cloth, "expected Pa above the atmosphere, more than none at all");
    cloth.pressure = 100.0f;
    cloth.leak = 1.5f;
    expect_refused(world, &cloth, "leak at most 1");
    cloth.leak = 0.0f;
    cloth.triangle_count--;
    expect_refused(world, &cloth, "has 3 edges with one triangle, expected a closed mesh, or a leak above 0");
    cloth.triangle_count++;
    uint32_t inside_out[3 * TRIANGLES];
    for (uint32_t c = 0; c < 3 * TRIANGLES; c++) {
        inside_out[c] = ball.triangles[c / 3 * 3 + 2 - c % 3];
    }
    cloth.triangles = inside_out;
    expect_refused(world, &cloth, "expected them to face outwards");
    cloth.triangles = ball.triangles;
    expect_ok(mote_world_add_cloth(world, &cloth, NULL));
    expect_error(mote_world_set_cloth_pressure(world, 0, NAN), MOTE_ERROR_INPUT, "expected Pa above the atmosphere");
    mote_world_destroy(world);
}

// ---- Scenes ------------------------------------------------------------------------------------------------

#define HEAD                                                                                                           \
    "{\"name\": \"ball\", \"solver\": {\"spacing\": 0.05, \"small_steps\": 5, \"substeps\": 1}, "                      \
    "\"colliders\": [{\"shape\": \"plane\"}], \"cloths\": [{\"columns\": 3, \"rows\": 3, \"position\": [2, 1, 0]}, "
#define BALL                                                                                                           \
    "{\"mesh\": \"shape:sphere?radius=0.2&segments=16\", \"position\": [0, 0.3, 0], \"stretch_compliance\": 0.002, "

// A keyframed pressure; the first cloth of the scene has none. States continue to the bit, in the middle of a leak,
// too.
static void scenes_resume(void **state)
{
    const char *backend = ((const TestBackend *)*state)->options.backend;
    static const char json[] = HEAD BALL
        "\"inflation\": \"volume\", \"pressure\": {\"keyframes\": [[0, 1], [0.3, 1.5]]}}, "
        "{\"mesh\": \"shape:bowl_shell?radius=0.2&segments=12\", \"position\": [1, 0.4, 0], \"inflation\": \"gas\", "
        "\"gas_pressure\": 2000, \"leak\": 0.01, \"stretch_compliance\": 0.002}]}";
    Running running = fixture_start(json, backend);
    fixture_advance(&running, 9);
    assert_true(pressure_of(running.world, 2).gas != 1.0f);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("ball.state")));
    fixture_advance(&running, 21);
    const MoteClothPressure ball = pressure_of(running.world, 1);
    expect_near((double)ball.volume, 1.5 * (double)ball.rest_volume, 0.02 * (double)ball.rest_volume, "volume");
    const uint64_t hash = fixture_hash(&running);
    const float gas = pressure_of(running.world, 2).gas;
    Running resumed = fixture_start(json, backend);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("ball.state")));
    fixture_advance(&resumed, 21);
    assert_true(fixture_hash(&resumed) == hash && pressure_of(resumed.world, 2).gas == gas);
    fixture_stop(&resumed);
    fixture_stop(&running);
}

static void open_scenes_are_refused(void **state)
{
    (void)state;
    MoteScene *scene =
        fixture_scene("open.json", HEAD "{\"mesh\": \"shape:bowl_shell?radius=0.2\", \"inflation\": \"volume\"}]}");
    MoteSimulation *simulation = NULL;
    const MoteBackendOptions options = {.backend = "cpu"};
    expect_error(mote_simulation_create(scene, &options, &simulation), MOTE_ERROR_INPUT,
                 "expected a closed mesh, or a leak above 0");
    mote_scene_destroy(scene);
}

// ---- Piles -------------------------------------------------------------------------------------------------

// A cloth of a scene where it is.
typedef struct Surface {
    MoteVec3 *vertices, lower, upper;
    uint32_t vertex_count, triangle_count;
    uint32_t *triangles;
} Surface;

static Surface read_surface(MoteWorld *world, uint32_t index)
{
    const WorldCloth *cloth = &world->cloths[index];
    Surface surface = {.vertex_count = cloth->info.vertices, .triangle_count = cloth->info.triangles};
    uint32_t *handles =
        download_copy(world, world->view.cloth_handles + cloth->first_vertex, surface.vertex_count * sizeof *handles);
    surface.triangles = download_copy(world, world->view.cloth_corners + 3 * (size_t)cloth->first_triangle,
                                      3 * (size_t)surface.triangle_count * sizeof *handles);
    surface.vertices = malloc(surface.vertex_count * sizeof *surface.vertices);
    assert_non_null(surface.vertices);
    surface.lower = (MoteVec3){INFINITY, INFINITY, INFINITY};
    surface.upper = (MoteVec3){-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t v = 0; v < surface.vertex_count; v++) {
        const MoteParticleHandle handle = {handles[v] + 1};
        MoteParticleState found;
        expect_ok(mote_world_read_handles(world, &handle, 1, &found));
        const MoteVec3 p = surface.vertices[v] = found.position;
        surface.lower =
            (MoteVec3){fminf(p.x, surface.lower.x), fminf(p.y, surface.lower.y), fminf(p.z, surface.lower.z)};
        surface.upper =
            (MoteVec3){fmaxf(p.x, surface.upper.x), fmaxf(p.y, surface.upper.y), fmaxf(p.z, surface.upper.z)};
    }
    for (uint32_t c = 0; c < 3 * surface.triangle_count; c++) {
        surface.triangles[c] -= cloth->first_vertex;
    }
    free(handles);
    return surface;
}

// Whether a point is inside, by the sum of the solid angles of all triangles (van Oosterom and Strackee 1983).
static bool is_inside(const Surface *surface, MoteVec3 point)
{
    if (point.x < surface->lower.x || point.y < surface->lower.y || point.z < surface->lower.z ||
        point.x > surface->upper.x || point.y > surface->upper.y || point.z > surface->upper.z) {
        return false;
    }
    double sum = 0.0;
    for (uint32_t t = 0; t < surface->triangle_count; t++) {
        DVec3 p[3];
        double r[3];
        for (int k = 0; k < 3; k++) {
            p[k] = dvec3_from(vec3_sub(surface->vertices[surface->triangles[3 * (size_t)t + (size_t)k]], point));
            r[k] = dvec3_length(p[k]);
        }
        const double below = r[0] * r[1] * r[2] + dvec3_dot(p[0], p[1]) * r[2] + dvec3_dot(p[1], p[2]) * r[0] +
                             dvec3_dot(p[2], p[0]) * r[1];
        sum += 2.0 * atan2(dvec3_dot(p[0], dvec3_cross(p[1], p[2])), below);
    }
    return sum > 2.0 * 3.14159265;
}

// Vertices of a cloth that are inside another one, and middles likewise.
static uint32_t count_intruders(MoteWorld *world)
{
    Surface surfaces[32];
    const uint32_t count = mote_world_cloth_count(world);
    assert_true(count <= 32);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        surfaces[i] = read_surface(world, i);
    }
    for (uint32_t i = 0; i < count * count; i++) {
        const Surface *outer = &surfaces[i / count], *inner = &surfaces[i % count];
        MoteVec3 middle = {0, 0, 0};
        for (uint32_t v = 0; v < inner->vertex_count && outer != inner; v++) {
            found += is_inside(outer, inner->vertices[v]);
            middle = vec3_add_scaled(middle, inner->vertices[v], 1.0f / (float)inner->vertex_count);
        }
        found += outer != inner && is_inside(outer, middle);
    }
    for (uint32_t i = 0; i < count; i++) {
        free(surfaces[i].vertices);
        free(surfaces[i].triangles);
    }
    return found;
}

// Nothing gets into anything else in scenes/small/inflatables.json, while it falls and when it lies.
static void piles_do_not_interlock(void **state)
{
    (void)state;
    const char *path = getenv("MOTE_PILE"); // or another scene, for longer
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    const MoteBackendOptions options = {.backend = "cpu", .threads = 2};
    expect_ok(mote_scene_load(path != NULL ? path : MOTE_SOURCE_DIR "/scenes/small/inflatables.json", NULL, 0, &scene));
    expect_ok(mote_simulation_create(scene, &options, &simulation));
    MoteWorld *world = mote_simulation_world(simulation);
    const Surface first = read_surface(world, 0);
    assert_true(
        is_inside(&first, (MoteVec3){0.5f * (first.lower.x + first.upper.x), 0.5f * (first.lower.y + first.upper.y),
                                     0.5f * (first.lower.z + first.upper.z)}));
    free(first.vertices);
    free(first.triangles);
    for (uint32_t frame = 0; frame < (path != NULL ? 1800u : 100u); frame++) {
        expect_ok(mote_simulation_advance_frame(simulation));
        if (frame % 25 == 24) {
            assert_int_equal(count_intruders(world), 0);
        }
    }
    const MoteNotice *notices;
    assert_int_equal(mote_simulation_notices(simulation, &notices), 0);
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
}

// ---- The same bits -----------------------------------------------------------------------------------------

static uint64_t run_two(const TestBackend *backend)
{
    MoteSettings settings = ball_settings(3);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(backend, &settings);
    const MoteCollider ground = flat_ground(0.5f);
    expect_ok(mote_world_set_colliders(world, &ground, 1));
    Ball balls[2];
    for (int k = 0; k < 2; k++) {
        make_ball(&balls[k], 0.2f, (MoteVec3){0.05f * (float)k, 0.25f + 0.45f * (float)k, 0}, 0.1f);
        balls[k].cloth.inflation = k == 0 ? MOTE_INFLATION_GAS : MOTE_INFLATION_VOLUME;
        balls[k].cloth.pressure = k == 0 ? 200.0f : 1.1f;
        balls[k].cloth.leak = k == 0 ? 0.6f : 0.0f;
        add_ball(world, &balls[k]);
    }
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, 10, NULL));
    expect_ok(mote_world_remove_particles(world, &balls[0].ids[7], 1));
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, 10, NULL));
    assert_true(pressure_of(world, 0).gas < 1.0f);
    const uint64_t hash = read_hash(world);
    mote_world_destroy(world);
    return hash;
}

static void backends_and_threads_agree(void **state)
{
    (void)state;
    const TestBackend single = {"portable cpu", {.backend = "cpu", .threads = 1, .portable = true}};
    const uint64_t hash = run_two(&single);
    assert_true(run_two(&test_backends[1]) == hash);
    assert_true(run_two(&test_backends[2]) == hash);
    assert_int_equal(keep_vulkan(&test_backends[3].options), 0);
    assert_true(vulkan_may_differ(3) || run_two(&test_backends[3]) == hash);
    const TestBackend threads[] = {{"cpu", {.backend = "cpu", .threads = 1}},
                                   {"cpu", {.backend = "cpu", .threads = 5}}};
    assert_true(run_two(&threads[0]) == run_two(&threads[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_GPUS(volume_is_held),
        ON_CPU_AND_CUDA(compliance_is_volume_over_pressure),
        ON_CPU_AND_GPUS(free_flight_keeps_momentum),
        ON_CPU_AND_GPUS(gas_follows_its_law),
        ON_CPU_AND_CUDA(stiff_gas_is_stable),
        ON_CPU_AND_GPUS(gas_leaves_through_a_hole),
        ON_BACKEND(wrong_inflations_are_refused, "cpu", 0),
        ON_CPU_AND_GPUS(scenes_resume),
        cmocka_unit_test(open_scenes_are_refused),
        cmocka_unit_test(piles_do_not_interlock),
        cmocka_unit_test(backends_and_threads_agree),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
