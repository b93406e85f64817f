// SPDX-License-Identifier: MIT
// sheet_fixture.h - level sheets of cloth for tests of its contacts.
#ifndef MOTE_TESTS_SHEET_FIXTURE_H
#define MOTE_TESTS_SHEET_FIXTURE_H

#include "solid_fixture.h"

#include "mote_cloth.h"

enum { SHEET_LIMIT = 2048 };

// Level grids above each other that are one cloth: `layers` of them, `gap` m apart, the lowest around `centre`.
typedef struct Sheet {
    uint32_t columns, rows, layers;
    float step, gap, mass; // m, m, kg a vertex
    MoteVec3 centre, velocity;
    enum { PIN_NONE, PIN_BORDER, PIN_ALL } pins;
    uint32_t group;
    MoteVec3 upper_velocity; // m/s, of the layers above the lowest
    MoteCloth cloth;         // what else it is like
} Sheet;

static inline Sheet sheet_of(uint32_t columns, uint32_t rows, float step)
{
    Sheet sheet = {
        .columns = columns, .rows = rows, .layers = 1, .step = step, .mass = 0.01f, .cloth = mote_default_cloth()};
    sheet.cloth.bend_compliance = INFINITY;
    return sheet;
}

// Returns the id of its first vertex.
static inline uint32_t add_sheet(MoteWorld *world, const Sheet *sheet)
{
    static MoteVec3 positions[SHEET_LIMIT], velocities[SHEET_LIMIT];
    static float masses[SHEET_LIMIT];
    static uint32_t triangles[6 * SHEET_LIMIT], ids[SHEET_LIMIT];
    static MoteParticleHandle handles[SHEET_LIMIT];
    const uint32_t layer = sheet->columns * sheet->rows, count = layer * sheet->layers;
    assert_true(count <= SHEET_LIMIT);
    uint32_t corners = 0, first = 0;
    for (uint32_t v = 0; v < count; v++) {
        const uint32_t x = v % layer % sheet->columns, z = v % layer / sheet->columns, level = v / layer;
        positions[v].x = sheet->centre.x + sheet->step * ((float)x - 0.5f * (float)(sheet->columns - 1));
        positions[v].y = sheet->centre.y + sheet->gap * (float)level;
        positions[v].z = sheet->centre.z + sheet->step * ((float)z - 0.5f * (float)(sheet->rows - 1));
        velocities[v] = level > 0 ? sheet->upper_velocity : sheet->velocity;
        const bool border = x == 0 || z == 0 || x + 1 == sheet->columns || z + 1 == sheet->rows;
        masses[v] = sheet->pins == PIN_ALL || (sheet->pins == PIN_BORDER && border) ? 0.0f : sheet->mass;
        if (x + 1 < sheet->columns && z + 1 < sheet->rows) {
            const uint32_t a = v, b = v + sheet->columns, c = b + 1, d = a + 1;
            const uint32_t quad[] = {a, b, c, a, c, d}; // its front is up
            memcpy(triangles + corners, quad, sizeof quad);
            corners += 6;
        }
    }
    const MoteParticles particles = {.count = count,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .masses = masses,
                                     .phase = MOTE_PHASE(MOTE_KIND_CLOTH, sheet->group)};
    expect_ok(mote_world_add_particles(world, &particles, &first));
    for (uint32_t v = 0; v < count; v++) {
        ids[v] = first + v;
    }
    expect_ok(mote_world_make_handles(world, ids, count, handles));
    MoteCloth cloth = sheet->cloth;
    cloth.vertex_count = count;
    cloth.triangle_count = corners / 3;
    cloth.triangles = triangles;
    cloth.vertices = handles;
    expect_ok(mote_world_add_cloth(world, &cloth, NULL));
    return first;
}

#endif
