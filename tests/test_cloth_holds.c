// SPDX-License-Identifier: MIT
// What has to hold of cloth for a long time, and of all things at once: friction without creep on a slope and between
// two plates, and momentum where water, grains, cloth and a balloon meet in free fall.
#include "solid_fixture.h"

#include "simulation_fixture.h"
#include "tearing_fixture.h"

static const double PI = 3.14159265358979323846;

enum { SIDE = 10 };
static const float STEP = 0.04f; // m, between vertices

// 60 s on the CPU where MOTE_LONG_TESTS is set.
static uint32_t frames_of_holding(const MoteWorld *world)
{
    return strcmp(mote_world_backend(world), "cpu") == 0 && getenv("MOTE_LONG_TESTS") != NULL ? 3600 : 60;
}

static MoteSettings holding_settings(MoteVec3 gravity)
{
    MoteSettings settings = sheet_settings();
    settings.spacing = 0.03f;
    settings.collision_distance = 0.5f;
    settings.gravity = gravity;
    settings.small_steps = 6;
    settings.damping = 1.0f;
    return settings;
}

static void set_rough(MoteWorld *world)
{
    MoteMaterial rough = mote_default_material();
    rough.static_friction = 0.5f;
    rough.kinetic_friction = 0.4f;
    expect_ok(mote_world_set_materials(world, &rough, 1));
}

static void read_places(MoteWorld *world, const Sheet *sheet, MoteVec3 *places)
{
    MoteParticleState states[SIDE * SIDE];
    expect_ok(mote_world_read_handles(world, sheet->handles, sheet->vertices, states));
    for (uint32_t v = 0; v < sheet->vertices; v++) {
        places[v] = states[v].position;
    }
}

// Runs a second to come to rest, and then for as long as it has to hold: none of the first `held` vertices gets
// farther than a thousandth of the sheet's length.
static void expect_no_creep(MoteWorld *world, const Sheet *sheet, uint32_t held)
{
    static MoteVec3 before[SIDE * SIDE], after[SIDE * SIDE];
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, 60, NULL));
    read_places(world, sheet, before);
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, frames_of_holding(world), NULL));
    read_places(world, sheet, after);
    for (uint32_t v = 0; v < held; v++) {
        const double x = (double)after[v].x - before[v].x, y = (double)after[v].y - before[v].y,
                     z = (double)after[v].z - before[v].z;
        expect_near(sqrt(x * x + y * y + z * z), 0.0, 1e-3 * (double)STEP * (SIDE - 1), "creep");
    }
}

// On a slope of 20 degrees, which is gravity that is turned: tan 20 degrees is 0.36, friction 0.5.
static void a_sheet_stays_on_a_slope(void **state)
{
    const double angle = 20.0 * PI / 180.0;
    const MoteSettings settings =
        holding_settings((MoteVec3){(float)(9.81 * sin(angle)), (float)(-9.81 * cos(angle)), 0});
    MoteWorld *world = make_world(*state, &settings);
    set_rough(world);
    const MoteCollider ground = flat_ground(0.5f);
    expect_ok(mote_world_set_colliders(world, &ground, 1));
    Sheet sheet = make_sheet(SIDE, SIDE, STEP);
    for (uint32_t v = 0; v < sheet.vertices; v++) {
        const MoteVec3 p = sheet.positions[v];
        sheet.positions[v] = (MoteVec3){p.x, 0.015f, -p.y};
    }
    add_sheet(world, &sheet);
    expect_no_creep(world, &sheet, sheet.vertices);
    free_sheet(&sheet);
    mote_world_destroy(world);
}

// Its upper rows are between two plates, a little nearer to each other than it is thick; the rest hangs from them.
static void a_pinched_sheet_hangs(void **state)
{
    const MoteSettings settings = holding_settings((MoteVec3){0, -9.81f, 0});
    MoteWorld *world = make_world(*state, &settings);
    set_rough(world);
    MoteCollider plates[2];
    for (uint32_t k = 0; k < 2; k++) {
        plates[k] = still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0.3f, 0.05f, k == 0 ? -0.112f : 0.112f},
                                   (MoteVec3){0.5f, 0.1f, 0.1f}, 0.0f);
        plates[k].static_friction = 0.5f;
        plates[k].kinetic_friction = 0.4f;
        plates[k].to.rotation = plates[k].from.rotation = (MoteQuaternion){0, 0, 0, 1};
    }
    expect_ok(mote_world_set_colliders(world, plates, 2));
    Sheet sheet = make_sheet(SIDE, SIDE, STEP);
    for (uint32_t v = 0; v < sheet.vertices; v++) {
        sheet.positions[v].y += 0.1f;
    }
    sheet.cloth.damping = 0.0f;
    add_sheet(world, &sheet);
    expect_no_creep(world, &sheet, 3 * SIDE); // the rest swings
    free_sheet(&sheet);
    mote_world_destroy(world);
}

static void sum_momentum(const Running *running, double momentum[3], double *mass)
{
    const MoteParticleView view = fixture_view(running);
    momentum[0] = momentum[1] = momentum[2] = *mass = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        const double m = 1.0 / (double)view.positions[4 * (size_t)i + 3];
        *mass += m;
        for (int axis = 0; axis < 3; axis++) {
            momentum[axis] += m * (double)view.velocities[4 * (size_t)i + (size_t)axis];
        }
    }
}

// Water and grains fall into a sheet that flies upwards, and a balloon from the side into all of them.
static void all_things_in_free_fall_keep_momentum(void **state)
{
    static const char json[] =
        "{\"name\": \"free_fall\", \"solver\": {\"spacing\": 0.05, \"substeps\": 2, \"iterations\": 4}, \"materials\": "
        "{\"sand\": {\"density\": 1500, \"static_friction\": 0.4, \"kinetic_friction\": 0.3}}, \"cloths\": "
        "[{\"columns\": 12, \"rows\": 12, \"size\": [0.8, 0.8, 0], \"rotation\": [-90, 0, 0], \"velocity\": [0.2, 1, "
        "0], \"area_density\": 0.5, \"material\": \"sand\"}, {\"mesh\": \"shape:sphere?radius=0.15\", \"position\": "
        "[0.7, 0.25, 0], \"velocity\": [-2, 0, 0.1], \"inflation\": \"gas\", \"gas_pressure\": 300, \"area_density\": "
        "0.3, \"stretch_compliance\": 0.001, \"material\": \"sand\"}], \"fluids\": [{\"position\": [-0.1, 0.2, 0], "
        "\"size\": [0.25, 0.2, 0.25]}], \"grains\": [{\"material\": \"sand\", \"shape\": \"block\", \"position\": "
        "[0.2, 0.2, 0.15], \"size\": [0.15, 0.15, 0.15]}], \"air\": {\"density\": 0}}";
    Running running = fixture_start(json, ((const TestBackend *)*state)->options.backend);
    double begun[3], ended[3], mass, mass_then;
    sum_momentum(&running, begun, &mass);
    const double start_height = read_statistics(running.world).centre_of_mass[1];
    fixture_advance(&running, 12);
    sum_momentum(&running, ended, &mass_then);
    const double t = 0.2, given = mass * 9.81 * t;
    expect_near(mass_then, mass, 1e-5 * mass, "mass");
    expect_near(ended[0], begun[0], 1e-3 * given, "momentum along x");
    expect_near(ended[1], begun[1] - given, 1e-3 * given, "momentum along y");
    expect_near(ended[2], begun[2], 1e-3 * given, "momentum along z");
    const double fall = begun[1] / mass * t - 0.5 * 9.81 * t * t;
    expect_near(read_statistics(running.world).centre_of_mass[1], start_height + fall, 0.02, "centre of mass");
    fixture_stop(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_CUDA(a_sheet_stays_on_a_slope),
        ON_CPU_AND_CUDA(a_pinched_sheet_hangs),
        ON_CPU_AND_CUDA(all_things_in_free_fall_keep_momentum),
    };
    static const char *const long_tests[] = {"a_sheet_stays_on_a_slope", "a_pinched_sheet_hangs", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
