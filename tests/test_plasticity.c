// SPDX-License-Identifier: MIT
// Plasticity against its law (UPP section 5.3): what a body is deformed by beyond the yield goes into its rest collider
// at the rate of its creep.
#include "solid_fixture.h"

enum { CORNERS = 8 };

static const float HALF = 0.1f, DT = 1.0f / 240.0f;

// A cube of eight particles that nothing pulls back, stretched along x by `stretch` at each end: `yield` is over the
// distance of a corner from the middle.
static MoteWorld *make_stretched(const TestBackend *backend, float yield, float creep, float stretch)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.damping = settings.sleep_speed = 0.0f;
    MoteWorld *world = make_world(backend, &settings);
    MoteVec3 points[CORNERS];
    for (int i = 0; i < CORNERS; i++) {
        points[i] = (MoteVec3){i & 1 ? HALF : -HALF, i & 2 ? HALF : -HALF, i & 4 ? HALF : -HALF};
    }
    const MoteBody body = {.count = CORNERS,
                           .positions = points,
                           .mass = 1.0f,
                           .stiffness = 0.0f,
                           .plastic_yield = yield,
                           .plastic_creep = creep};
    expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        view.positions[4 * i] += view.positions[4 * i] > 0.0f ? stretch : -stretch;
    }
    expect_ok(mote_world_write(world, &view));
    return world;
}

// How far a corner's rest position has moved along x, of all corners, which must be alike.
static double crept(MoteWorld *world)
{
    assert_int_equal(world->entry_count, CORNERS);
    vec4 *rests = download_copy(world, world->view.entry_rests, CORNERS * sizeof *rests);
    const double first = fabs((double)rests[0].x) - HALF;
    for (int i = 0; i < CORNERS; i++) {
        expect_near(fabs((double)rests[i].x) - HALF, first, 1e-6, "what another corner has crept");
        expect_near(fabs((double)rests[i].y), HALF, 1e-6, "a rest position across");
    }
    free(rests);
    return first;
}

// (stretch - yield) (1 - e^(-creep t)).
static void creep_is_exponential(void **state)
{
    const float creeps[] = {2.0f, 10.0f}, stretch = 0.05f, yield = 0.1f;
    const double radius = HALF * sqrt(3.0), beyond = stretch - yield * radius;
    for (int k = 0; k < 2; k++) {
        MoteWorld *world = make_stretched(*state, yield, creeps[k], stretch);
        for (int part = 1; part <= 3; part++) {
            run_steps(world, 24, DT);
            const double t = part * 24.0 * DT, ideal = beyond * (1.0 - exp(-creeps[k] * t));
            print_message("creep %g/s, %.1f s: %.5f m, ideal %.5f\n", (double)creeps[k], t, crept(world), ideal);
            expect_near(crept(world), ideal, 0.03 * ideal, "what has crept"); // Euler's steps of up to 4 %
        }
        mote_world_destroy(world);
    }
}

// Nothing below the yield, all that is beyond it in the end.
static void yield_is_a_limit(void **state)
{
    const double shares[] = {0.95, 1.05, 2.0}, radius = HALF * sqrt(3.0);
    const float yield = 0.2f;
    for (int k = 0; k < 3; k++) {
        const double limit = yield * radius;
        MoteWorld *world = make_stretched(*state, yield, 100.0f, (float)(shares[k] * limit));
        run_steps(world, 48, DT);
        expect_near(crept(world), fmax(shares[k] - 1.0, 0.0) * limit, 0.002 * limit, "what has crept");
        mote_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(creep_is_exponential),
        ON_EVERY_BACKEND(yield_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
