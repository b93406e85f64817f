// SPDX-License-Identifier: MIT
// Contacts of cloth: how thick it is, to itself and to others.
#include "sheet_fixture.h"

#include "simulation_fixture.h"

static const MoteVec3 weightless = {0, 0, 0};

static MoteSettings sheet_settings(float spacing)
{
    MoteSettings settings = solid_settings(spacing);
    settings.gravity = weightless;
    settings.sleep_speed = 0.0f;
    settings.max_displacement = 0.0f;
    return settings;
}

// The shortest distance between particles with ids from `a` to `b` and from `b` to `c`.
static double distance_between(MoteWorld *world, uint32_t a, uint32_t b, uint32_t c)
{
    const MoteParticleView view = read_view(world);
    double nearest = 1e30;
    for (uint32_t i = 0; i < view.count; i++) {
        for (uint32_t j = 0; j < view.count; j++) {
            if (view.ids[i] >= a && view.ids[i] < b && view.ids[j] >= b && view.ids[j] < c) {
                const float *p = view.positions + 4 * i, *q = view.positions + 4 * j;
                nearest = fmin(nearest, sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2)));
            }
        }
    }
    return nearest;
}

// ---- Thickness ---------------------------------------------------------------------------------------------

// Cloth that is thicker than its vertices are apart does not push itself apart.
static void thick_cloth_stays_as_it_is(void **state)
{
    const MoteSettings settings = sheet_settings(0.05f);
    MoteWorld *world = make_world(*state, &settings);
    Sheet sheet = sheet_of(12, 9, 0.03f); // nearer than the contact distance
    sheet.cloth.thickness = 0.08f;
    add_sheet(world, &sheet);
    sheet.cloth.thickness = 0.0f;
    sheet.centre.y = 1.0f;
    add_sheet(world, &sheet);
    const MoteParticleView begun = read_view(world);
    float *before = malloc(begun.count * 4 * sizeof *before);
    assert_non_null(before);
    for (uint32_t i = 0; i < begun.count; i++) {
        memcpy(before + 4 * begun.ids[i], begun.positions + 4 * i, 4 * sizeof *before);
    }
    run_steps(world, 30, 1.0f / 60.0f);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            expect_near(view.positions[4 * i + axis], before[4 * view.ids[i] + axis], 2e-6, "a vertex at rest");
        }
    }
    free(before);
    mote_world_destroy(world);
}

// Layers of one cloth, far from each other at rest, meet at its thickness; two cloths at the mean of theirs, a cloth
// and a grain at the mean of thickness and contact distance.
static void thickness_is_kept(void **state)
{
    const MoteSettings settings = sheet_settings(0.05f);
    enum { SIDE = 5, LAYER = SIDE * SIDE };
    for (int other = 0; other < 3; other++) {
        MoteWorld *world = make_world(*state, &settings);
        Sheet sheet = sheet_of(SIDE, SIDE, 0.1f);
        sheet.cloth.thickness = 0.07f;
        sheet.gap = 0.2f;
        sheet.upper_velocity = (MoteVec3){0, -1, 0};
        sheet.layers = other == 0 ? 2 : 1;
        const uint32_t first = add_sheet(world, &sheet);
        uint32_t end = first + 2 * LAYER;
        if (other == 1) {
            sheet.centre.y = 0.2f;
            sheet.velocity = sheet.upper_velocity;
            sheet.cloth.thickness = 0.04f;
            add_sheet(world, &sheet);
        } else if (other == 2) {
            add_grain(world, (MoteVec3){0.0f, 0.2f, 0.0f}, sheet.upper_velocity);
            end = first + LAYER + 1;
        }
        const double expected[] = {0.07, 0.055, 0.06};
        double nearest = 1.0;
        for (uint32_t s = 0; s < 30; s++) {
            run_steps(world, 1, 1.0f / 120.0f);
            nearest = fmin(nearest, distance_between(world, first, first + LAYER, end));
        }
        expect_near(nearest, expected[other], 2e-3, "distance between layers that meet");
        mote_world_destroy(world);
    }
}

static void wrong_thickness_is_refused(void **state)
{
    (void)state;
    MoteSettings settings = sheet_settings(0.05f);
    MoteWorld *world = make_world(&test_backends[0], &settings);
    MoteCloth cloth = mote_default_cloth();
    cloth.thickness = 0.081f;
    expect_error(mote_world_add_cloth(world, &cloth, NULL), MOTE_ERROR_INPUT, "a thickness of 0.081 m, expected 0 to");
    cloth.thickness = NAN;
    expect_error(mote_world_add_cloth(world, &cloth, NULL), MOTE_ERROR_INPUT, "a thickness of");
    Sheet sheet = sheet_of(4, 4, 0.03f);
    sheet.cloth.thickness = 0.08f;
    add_sheet(world, &sheet);
    settings.spacing = 0.04f;
    expect_error(mote_world_set_settings(world, &settings), MOTE_ERROR_INPUT, "the thickness of cloth 0");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(thick_cloth_stays_as_it_is),
        ON_EVERY_BACKEND(thickness_is_kept),
        cmocka_unit_test(wrong_thickness_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
