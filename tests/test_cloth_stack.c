// SPDX-License-Identifier: MIT
// Sheets that lie on each other: when they are at rest, no triangle goes through another one. With
// MOTE_STACK=SCENE another scene, as scenes/cloth_stack.json, for as long as it says (output.frames).
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "base/vec.h"
#include "mote_cloth.h"
#include "scene/scene.h"
#include "scene/simulation.h"
#include <math.h>

// ---- Triangles that cross ----------------------------------------------------------------------------------

typedef struct Triangle {
    DVec3 x[3];
    uint32_t vertices[3]; // of all cloths
    double low[3], high[3];
} Triangle;

// Whether the way from p to q meets the triangle (Moeller and Trumbore 1997).
static bool segment_meets(DVec3 p, DVec3 q, const Triangle *triangle)
{
    const DVec3 along = dvec3_sub(q, p), a = dvec3_sub(triangle->x[1], triangle->x[0]),
                b = dvec3_sub(triangle->x[2], triangle->x[0]), across = dvec3_cross(along, b);
    const double determinant = dvec3_dot(a, across);
    if (fabs(determinant) < 1e-30) {
        return false; // in its plane
    }
    const DVec3 from = dvec3_sub(p, triangle->x[0]), side = dvec3_cross(from, a);
    const double u = dvec3_dot(from, across) / determinant, v = dvec3_dot(along, side) / determinant,
                 t = dvec3_dot(b, side) / determinant;
    return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0 && t <= 1.0;
}

// Two that cross without being neighbours: an edge of one goes through the other.
static bool cross(const Triangle *a, const Triangle *b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (a->vertices[i] == b->vertices[j]) {
                return false;
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        if (segment_meets(a->x[i], a->x[(i + 1) % 3], b) || segment_meets(b->x[i], b->x[(i + 1) % 3], a)) {
            return true;
        }
    }
    return false;
}

static int by_low_x(const void *a, const void *b)
{
    const double x = ((const Triangle *)a)->low[0], y = ((const Triangle *)b)->low[0];
    return (x > y) - (x < y);
}

static void find_box(Triangle *triangle)
{
    for (int axis = 0; axis < 3; axis++) {
        const double *at[] = {&triangle->x[0].x + axis, &triangle->x[1].x + axis, &triangle->x[2].x + axis};
        triangle->low[axis] = fmin(*at[0], fmin(*at[1], *at[2]));
        triangle->high[axis] = fmax(*at[0], fmax(*at[1], *at[2]));
    }
}

// Pairs that cross, by a sweep along x.
static uint32_t count_crossings(Triangle *triangles, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        find_box(&triangles[i]);
    }
    qsort(triangles, count, sizeof *triangles, by_low_x);
    for (uint32_t i = 0; i < count; i++) {
        const Triangle *a = &triangles[i];
        for (uint32_t j = i + 1; j < count && triangles[j].low[0] <= a->high[0]; j++) {
            const Triangle *b = &triangles[j];
            const bool near = b->low[1] <= a->high[1] && a->low[1] <= b->high[1] && b->low[2] <= a->high[2] &&
                              a->low[2] <= b->high[2];
            found += near && cross(a, b) ? 1 : 0;
        }
    }
    return found;
}

static void crossings_are_found(void **state)
{
    (void)state;
    const Triangle flat = {.x = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, .vertices = {0, 1, 2}};
    const Triangle through = {.x = {{0.2, -1, 0.2}, {0.3, 1, 0.2}, {0.2, 1, 0.3}}, .vertices = {3, 4, 5}};
    Triangle beside = through, neighbour = through, above = flat;
    for (int i = 0; i < 3; i++) {
        beside.x[i].x += 0.7;
        above.x[i].y += 1e-4;
        above.vertices[i] += 6;
    }
    neighbour.vertices[0] = 1;
    assert_int_equal(count_crossings((Triangle[]){flat, through}, 2), 1);
    assert_int_equal(count_crossings((Triangle[]){through, flat}, 2), 1);
    assert_int_equal(count_crossings((Triangle[]){flat, beside}, 2), 0);
    assert_int_equal(count_crossings((Triangle[]){flat, neighbour}, 2), 0);
    assert_int_equal(count_crossings((Triangle[]){flat, above}, 2), 0);
    assert_int_equal(count_crossings((Triangle[]){flat, above, through}, 3), 2);
}

// ---- Stacks ------------------------------------------------------------------------------------------------

static Triangle triangle_of(const MoteParticleState *states, const uint32_t *v, uint32_t first_vertex)
{
    return (Triangle){
        .x = {dvec3_from(states[v[0]].position), dvec3_from(states[v[1]].position), dvec3_from(states[v[2]].position)},
        .vertices = {first_vertex + v[0], first_vertex + v[1], first_vertex + v[2]}};
}

static uint32_t append_cloth(MoteWorld *world, uint32_t index, Triangle *triangles, uint32_t first_vertex)
{
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(world, index, &info));
    MoteParticleHandle *handles = malloc(info.vertices * sizeof *handles);
    MoteParticleState *states = malloc(info.vertices * sizeof *states);
    uint32_t *corners = malloc(3 * (size_t)info.triangles * sizeof *corners);
    assert_true(handles != NULL && states != NULL && corners != NULL);
    expect_ok(mote_world_read_cloth(world, index, handles, corners));
    expect_ok(mote_world_read_handles(world, handles, info.vertices, states));
    for (uint32_t t = 0; t < info.triangles; t++) {
        triangles[t] = triangle_of(states, corners + 3 * (size_t)t, first_vertex);
    }
    free(handles);
    free(states);
    free(corners);
    return info.triangles;
}

static uint32_t crossings_of(MoteWorld *world)
{
    uint32_t room = 0, count = 0, vertices = 0;
    for (uint32_t c = 0; c < mote_world_cloth_count(world); c++) {
        MoteClothInfo info;
        expect_ok(mote_world_cloth_info(world, c, &info));
        room += info.triangles;
    }
    Triangle *triangles = calloc(room, sizeof *triangles);
    assert_non_null(triangles);
    for (uint32_t c = 0; c < mote_world_cloth_count(world); c++) {
        MoteClothInfo info;
        expect_ok(mote_world_cloth_info(world, c, &info));
        count += append_cloth(world, c, triangles + count, vertices);
        vertices += info.vertices;
    }
    const uint32_t found = count_crossings(triangles, count);
    print_message("of %u triangles %u pairs cross\n", count, found);
    free(triangles);
    return found;
}

// The crossings after so many frames (0: those of the scene), and the kinetic energy there (J).
static uint32_t run_stack(const char *path, const MoteBackendOptions *backend, const char *const *overrides,
                          uint32_t override_count, uint32_t frames, double *energy)
{
    Running running = {0};
    expect_ok(mote_scene_load(path, overrides, override_count, &running.scene));
    expect_ok(mote_simulation_create(running.scene, backend, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    const uint32_t wanted = SCENE_AT(&running.scene->values, output, 0)->frames;
    fixture_advance(&running, frames > 0 ? frames : wanted);
    MoteStatistics statistics;
    expect_ok(mote_world_statistics(running.world, &statistics));
    *energy = statistics.kinetic_energy;
    const uint32_t found = crossings_of(running.world);
    fixture_stop(&running);
    return found;
}

static const char *const SMALL = MOTE_SOURCE_DIR "/scenes/small/cloth_stack.json";

static void no_triangle_goes_through_another(void **state)
{
    (void)state;
    const char *other = getenv("MOTE_STACK");
    const MoteBackendOptions cpu = {.backend = "cpu"};
    double energy;
    const uint32_t found = run_stack(other != NULL ? other : SMALL, &cpu, NULL, 0, other != NULL ? 0 : 300, &energy);
    print_message("moving with %.2g J\n", energy);
    assert_int_equal(found, 0);
    assert_true(energy < 5e-3); // the small one's sheets have lost 0.5 J of height
}

// Sheets so thin that they miss each other do cross: the count sees it.
static void thin_sheets_do(void **state)
{
    (void)state;
    static const char *const thin[] = {
        "cloths[0].contacts=vertices",       "cloths[1].contacts=vertices",       "cloths[2].contacts=vertices",
        "cloths[0].contact_thickness=0.002", "cloths[1].contact_thickness=0.002", "cloths[2].contact_thickness=0.002",
        "solver.solid_distance=0.05",
    };
    double energy;
    assert_true(run_stack(SMALL, &(MoteBackendOptions){.backend = "cpu"}, thin, sizeof thin / sizeof thin[0], 60,
                          &energy) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings_are_found),
        cmocka_unit_test(no_triangle_goes_through_another),
        cmocka_unit_test(thin_sheets_do),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
