// SPDX-License-Identifier: MIT
// cloth_pressure.c - gas in closed cloth (kernels/cloth/pressure.h): checks it, keeps its tables, and solves it.
#include "solver/cloth_parts.h"

#include "base/error.h"
#include <math.h>
#include <string.h>

enum { PRESSURE_CHUNK = 32 }; // vertices that one invocation sums up

// ---- Checks ------------------------------------------------------------------------------------------------

static bool is_number(float value)
{
    return value >= 0.0f && isfinite(value);
}

static bool is_input(const float law[4], float pressure)
{
    return isfinite(pressure) && (law[1] < 0.0f ? pressure > -law[2] : pressure >= 0.0f);
}

// About the middle of all vertices; of an open mesh, holes are taken for flat.
static double rest_volume(const MoteCloth *cloth, const MoteVec3 *rest)
{
    double middle[3] = {0.0, 0.0, 0.0}, volume = 0.0;
    for (uint32_t v = 0; v < cloth->vertex_count; v++) {
        middle[0] += (double)rest[v].x / cloth->vertex_count;
        middle[1] += (double)rest[v].y / cloth->vertex_count;
        middle[2] += (double)rest[v].z / cloth->vertex_count;
    }
    for (uint32_t t = 0; t < cloth->triangle_count; t++) {
        double p[3][3];
        for (uint32_t c = 0; c < 3; c++) {
            const MoteVec3 at = rest[cloth->triangles[3 * (size_t)t + c]];
            p[c][0] = (double)at.x - middle[0];
            p[c][1] = (double)at.y - middle[1];
            p[c][2] = (double)at.z - middle[2];
        }
        volume +=
            (p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
             p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
            6.0;
    }
    return volume;
}

static uint32_t open_edges(const ClothTopology *topology)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < topology->edge_count; e++) {
        count += topology->edges[e].triangles[1] == MOTE_NONE;
    }
    return count;
}

MoteResult cloth_pressure_check(const MoteCloth *cloth, const ClothTopology *topology, const MoteVec3 *rest,
                                WorldCloth *out)
{
    if ((unsigned)cloth->inflation > MOTE_INFLATION_GAS) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth has inflation %d, expected a MoteInflation",
                         (int)cloth->inflation);
    }
    if (cloth->inflation == MOTE_INFLATION_NONE) {
        return MOTE_OK;
    }
    if (!is_number(cloth->volume_compliance) || !is_number(cloth->atmosphere) || !(cloth->leak <= 1.0f) ||
        !is_number(cloth->leak)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "the cloth has volume compliance %g m^3/Pa, atmosphere %g Pa and leak %g, expected numbers "
                         "not below 0, leak at most 1",
                         (double)cloth->volume_compliance, (double)cloth->atmosphere, (double)cloth->leak);
    }
    const uint32_t open = open_edges(topology);
    if (open > 0 && cloth->leak <= 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "the cloth is to be inflated, but has %u edges with one triangle, expected a closed mesh, or "
                         "a leak above 0",
                         open);
    }
    const double volume = rest_volume(cloth, rest);
    if (!((float)volume > 0.0f) || !isfinite((float)volume)) {
        return mote_fail(
            MOTE_ERROR_INPUT,
            "the cloth is to be inflated, but its triangles enclose %g m^3, expected them to face outwards "
            "around some volume",
            volume);
    }
    const bool gas = cloth->inflation == MOTE_INFLATION_GAS;
    const float law[4] = {(float)volume, gas ? -1.0f : cloth->volume_compliance, cloth->atmosphere, cloth->leak};
    if (!is_input(law, cloth->pressure)) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth has pressure %g, expected %s", (double)cloth->pressure,
                         gas ? "Pa above the atmosphere, more than none at all" : "a number not below 0");
    }
    memcpy(out->pressure_law, law, sizeof law);
    out->pressure_input = cloth->pressure;
    return MOTE_OK;
}

// ---- Tables ------------------------------------------------------------------------------------------------

static bool is_inflated(const WorldCloth *cloth)
{
    return cloth->pressure_law[0] > 0.0f;
}

static uint32_t chunks_of(uint32_t vertices)
{
    return (vertices + PRESSURE_CHUNK - 1) / PRESSURE_CHUNK;
}

MoteResult cloth_pressure_reserve(MoteWorld *world, const WorldCloth *cloth, uint32_t vertices)
{
    const SolverData *view = &world->view;
    if (!is_inflated(cloth) && view->has_inflation == 0u) {
        return MOTE_OK;
    }
    const uint64_t cloths = (uint64_t)view->cloth_count + 1;
    const uint64_t before = view->has_inflation != 0u ? view->cloth_count : 0;
    const uint64_t chunks = view->pressure_chunk_count + (is_inflated(cloth) ? (uint64_t)chunks_of(vertices) : 0);
    MoteResult result = world_reserve(world, CAPACITY_PRESSURES, cloths, before);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_PRESSURE_STATES, 2 * cloths, 2 * before) : result;
    result = result == MOTE_OK
                 ? world_reserve(world, CAPACITY_PRESSURE_VERTICES, (uint64_t)view->cloth_vertex_count + vertices, 0)
                 : result;
    result =
        result == MOTE_OK ? world_reserve(world, CAPACITY_PRESSURE_CHUNKS, chunks, view->pressure_chunk_count) : result;
    return result == MOTE_OK ? world_reserve(world, CAPACITY_PRESSURE_SUMS, 2 * chunks, 0) : result;
}

static void upload_chunks(MoteWorld *world, uint32_t at, uint32_t first_vertex, uint32_t end_vertex)
{
    enum { BLOCK = 256 };
    uvec2 rows[BLOCK];
    const uint32_t chunks = chunks_of(end_vertex - first_vertex);
    for (uint32_t begin = 0; begin < chunks; begin += BLOCK) {
        uint32_t count = 0;
        for (uint32_t c = begin; c < chunks && count < BLOCK; c++) {
            const uint32_t first = first_vertex + c * PRESSURE_CHUNK, end = first + PRESSURE_CHUNK;
            rows[count++] = uv2(first, end < end_vertex ? end : end_vertex);
        }
        world->backend->functions->upload(world->backend, world->view.pressure_chunks + at + begin, rows,
                                          count * sizeof *rows);
    }
}

// A row of the tables, and its chunks behind those that are there.
static void upload_row(MoteWorld *world, uint32_t index, uint32_t end_vertex)
{
    SolverData *view = &world->view;
    const WorldCloth *cloth = &world->cloths[index];
    void (*const upload)(Backend *, void *, const void *, size_t) = world->backend->functions->upload;
    const float *law = cloth->pressure_law;
    const vec4 row = v4(law[0], law[1], law[2], law[3]);
    const vec4 states[2] = {v4(0.0f, law[0], law[0], 1.0f), v4(0.0f, 0.0f, 0.0f, 0.0f)};
    const uint32_t chunks = is_inflated(cloth) ? chunks_of(end_vertex - cloth->first_vertex) : 0;
    const uvec2 span = uv2(view->pressure_chunk_count, view->pressure_chunk_count + chunks);
    upload(world->backend, view->pressure_laws + index, &row, sizeof row);
    upload(world->backend, view->pressure_inputs + index, &cloth->pressure_input, sizeof cloth->pressure_input);
    upload(world->backend, view->pressure_states + 2 * (size_t)index, states, sizeof states);
    upload(world->backend, view->pressure_spans + index, &span, sizeof span);
    if (chunks > 0) {
        upload_chunks(world, span.x, cloth->first_vertex, end_vertex);
    }
    view->pressure_chunk_count = span.y;
    view->pressure_leaks |= is_inflated(cloth) && law[3] > 0.0f;
}

// The first cloth with pressure brings rows for those before it.
void cloth_pressure_add(MoteWorld *world)
{
    SolverData *view = &world->view;
    const uint32_t last = view->cloth_count - 1;
    if (!is_inflated(&world->cloths[last]) && view->has_inflation == 0u) {
        return;
    }
    for (uint32_t i = view->has_inflation != 0u ? last : 0; i <= last; i++) {
        upload_row(world, i, view->cloth_vertex_count);
    }
    view->has_inflation = 1;
}

// ---- Setting and reading -----------------------------------------------------------------------------------

MoteResult mote_world_set_cloth_pressure(MoteWorld *world, uint32_t index, float pressure)
{
    if (index >= world->view.cloth_count || !is_inflated(&world->cloths[index])) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth %u is none that is inflated", index);
    }
    WorldCloth *cloth = &world->cloths[index];
    if (!is_input(cloth->pressure_law, pressure)) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth %u is to have pressure %g, expected %s", index, (double)pressure,
                         cloth->pressure_law[1] < 0.0f ? "Pa above the atmosphere, more than none at all"
                                                       : "a number not below 0");
    }
    if (pressure == cloth->pressure_input) { // what was uploaded last
        return MOTE_OK;
    }
    cloth->pressure_input = pressure;
    world->backend->functions->upload(world->backend, world->view.pressure_inputs + index, &pressure, sizeof pressure);
    return world_check_backend(world);
}

MoteResult mote_world_read_cloth_pressure(MoteWorld *world, uint32_t index, MoteClothPressure *out)
{
    *out = (MoteClothPressure){0};
    if (index >= world->view.cloth_count) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth %u is not in the world, expected one below %u", index,
                         world->view.cloth_count);
    }
    if (!is_inflated(&world->cloths[index])) {
        return MOTE_OK;
    }
    vec4 states[2];
    world->backend->functions->download(world->backend, states, world->view.pressure_states + 2 * (size_t)index,
                                        sizeof states);
    const uint32_t parts = world->settings.small_steps > 1 ? world->settings.small_steps : 1;
    const float dt = world->last_time_step / (float)parts;
    *out = (MoteClothPressure){.rest_volume = world->cloths[index].pressure_law[0],
                               .volume = states[0].y,
                               .excess = dt > 0.0f ? states[0].x / (dt * dt) : 0.0f,
                               .gas = states[0].w,
                               .hole_area = states[1].z};
    return world_check_backend(world);
}

// ---- Solving -----------------------------------------------------------------------------------------------

void world_solve_pressure(MoteWorld *world)
{
    const SolverData *view = &world->view;
    if (view->pressure_leaks != 0u && view->iteration == 0 && view->small_step == 0) {
        LAUNCH(world, find_pressure_borders);
        LAUNCH(world, measure_pressure_holes);
    }
    LAUNCH(world, measure_pressure_areas);
    LAUNCH(world, sum_pressure_chunks);
    LAUNCH(world, solve_pressure);
    LAUNCH(world, apply_pressure);
}
