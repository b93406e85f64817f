// SPDX-License-Identifier: MIT
// rods_build.c - builds a scene's rods: particles along a polyline or a smooth curve through its points.
#include "scene/build.h"
#include "scene/load.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>
#include <stdlib.h>

enum { CURVE_SAMPLES = 16 }; // pieces of a smooth curve between two points, whose lengths are measured

// What the keys curve, rest, start and end say.
enum { CURVE_POLYLINE, CURVE_SMOOTH };
enum { REST_SHAPE, REST_STRAIGHT };
enum { END_FREE, END_PINNED, END_CLAMPED };

// ---- Checks ------------------------------------------------------------------------------------------------

void scene_check_rod(SceneReader *reader, uint32_t i)
{
    if (!reader->values_are_right) { // what is required may be missing
        return;
    }
    const SceneRod *rod = SCENE_AT(&reader->scene->values, rod, i);
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_rod, i), points = path_to_key(&parent, "points");
    const uint32_t count = rod->points != NULL ? rod->points->count : 0;
    if (count < 2) {
        scene_report(reader, &points, SCENE_AT_VALUE, "found %u point%s, expected at least 2", count,
                     count == 1 ? "" : "s");
    }
    for (uint32_t p = 1; p < count; p++) {
        const ScenePath at = path_to_index(&points, p);
        if (!(vec3_length(vec3_sub(rod->points->at[p], rod->points->at[p - 1])) > 0.0f)) {
            scene_report(reader, &at, SCENE_AT_VALUE, "found the point before it again, expected another one");
        }
    }
}

// ---- Nodes -------------------------------------------------------------------------------------------------

// The curve through the points, as a polyline: of straight pieces, or a Catmull-Rom spline.
typedef struct Polyline {
    DVec3 *points;
    double *lengths; // from the start to each point
    uint32_t count;
} Polyline;

static DVec3 point_of(const ScenePoints *points, int64_t i)
{
    const int64_t last = (int64_t)points->count - 1;
    if (i < 0 || i > last) { // beyond an end: mirrored, so that the curve ends without a bend
        const DVec3 end = point_of(points, i < 0 ? 0 : last), inner = point_of(points, i < 0 ? 1 : last - 1);
        return dvec3_combine(2.0, end, -1.0, inner);
    }
    return dvec3_from(points->at[i]);
}

static DVec3 catmull_rom(const ScenePoints *points, uint32_t i, double t)
{
    const DVec3 a = point_of(points, (int64_t)i - 1), b = point_of(points, i), c = point_of(points, (int64_t)i + 1),
                d = point_of(points, (int64_t)i + 2);
    const double t2 = t * t, t3 = t2 * t;
    const DVec3 outer = dvec3_combine(-0.5 * t3 + t2 - 0.5 * t, a, 0.5 * t3 - 0.5 * t2, d);
    return dvec3_add(outer, dvec3_combine(1.5 * t3 - 2.5 * t2 + 1.0, b, -1.5 * t3 + 2.0 * t2 + 0.5 * t, c));
}

static void polyline_free(Polyline *line)
{
    free(line->points);
    free(line->lengths);
}

static MoteResult polyline_make(const SceneRod *rod, Polyline *line)
{
    const ScenePoints *points = rod->points;
    const uint32_t pieces = rod->curve == CURVE_SMOOTH ? CURVE_SAMPLES : 1;
    *line = (Polyline){.count = (points->count - 1) * pieces + 1};
    line->points = malloc(line->count * sizeof *line->points);
    line->lengths = malloc(line->count * sizeof *line->lengths);
    if (line->points == NULL || line->lengths == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a curve of %u points", line->count);
    }
    for (uint32_t i = 0; i < line->count; i++) {
        const uint32_t piece = i / pieces;
        const bool on_point = i % pieces == 0;
        line->points[i] =
            on_point ? point_of(points, piece) : catmull_rom(points, piece, (double)(i % pieces) / pieces);
        line->lengths[i] =
            i > 0 ? line->lengths[i - 1] + dvec3_length(dvec3_sub(line->points[i], line->points[i - 1])) : 0.0;
    }
    return MOTE_OK;
}

// The point at this length along the line; `from` is a point at or before it.
static DVec3 polyline_at(const Polyline *line, double length, uint32_t *from)
{
    while (*from + 2 < line->count && line->lengths[*from + 1] < length) {
        (*from)++;
    }
    const double begin = line->lengths[*from], end = line->lengths[*from + 1];
    const double t = fmin(fmax((length - begin) / (end - begin), 0.0), 1.0);
    return dvec3_combine(1.0 - t, line->points[*from], t, line->points[*from + 1]);
}

// As many segments as the rod has, or of the length of one spacing.
static MoteResult place_nodes(const SceneStart *start, const SceneRod *rod, MoteVec3 **places, uint32_t *count)
{
    const MoteSettings *settings = SCENE_AT(&start->scene->values, solver, 0);
    Polyline line = {0};
    MoteResult result = polyline_make(rod, &line);
    if (result == MOTE_OK) {
        const double length = line.lengths[line.count - 1];
        const double segments =
            rod->segments > 0 ? rod->segments : fmax(round(length / (double)settings->spacing), 1.0);
        *count = segments < SCENE_PARTICLE_LIMIT ? (uint32_t)segments + 1 : 0;
        *places = *count > 0 ? malloc(*count * sizeof **places) : NULL;
        result = *places != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for %.0f segments", segments);
        uint32_t from = 0;
        for (uint32_t i = 0; i < *count && result == MOTE_OK; i++) {
            (*places)[i] = dvec3_round(polyline_at(&line, length * i / (*count - 1), &from));
        }
    }
    polyline_free(&line);
    return result;
}

// ---- Building ----------------------------------------------------------------------------------------------

// Each node has the mass of the half segments at it; ends that are held are pinned.
static MoteResult add_nodes(const SceneStart *start, uint32_t element, const MoteVec3 *places, uint32_t count,
                            float linear_density, uint32_t *first)
{
    const SceneValues *values = &start->scene->values;
    const SceneRod *rod = SCENE_AT(values, rod, element);
    const uint32_t group = scene_material_index(values, scene_material(values, rod->material)) & MOTE_PHASE_GROUP_MASK;
    float *masses = malloc(count * sizeof *masses);
    if (masses == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u nodes", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const float before = i > 0 ? vec3_length(vec3_sub(places[i], places[i - 1])) : 0.0f;
        const float behind = i + 1 < count ? vec3_length(vec3_sub(places[i + 1], places[i])) : 0.0f;
        masses[i] = 0.5f * linear_density * (before + behind);
    }
    if (rod->start != END_FREE) {
        masses[0] = 0.0f;
    }
    if (rod->end != END_FREE) {
        masses[count - 1] = 0.0f;
    }
    const MoteParticles particles = {
        .count = count, .positions = places, .masses = masses, .phase = MOTE_PHASE(MOTE_KIND_BODY, group)};
    const MoteResult result = mote_world_add_particles(start->world, &particles, first);
    free(masses);
    return result;
}

static MoteRod describe(const SceneValues *values, const SceneRod *rod)
{
    const double pi = 3.14159265358979323846, r = rod->radius, area = pi * r * r;
    const double density = scene_material(values, rod->material)->density;
    return (MoteRod){.radius = rod->radius,
                     .linear_density = (float)(density * area),
                     .stretch_stiffness = (float)(rod->young_modulus * area),
                     .bend_stiffness = (float)(rod->bend_scale * rod->young_modulus * area * r * r / 4.0),
                     .twist_stiffness = (float)(rod->bend_scale * rod->shear_modulus * area * r * r / 2.0),
                     .damping = rod->damping,
                     .straight = rod->rest == REST_STRAIGHT,
                     .clamped = {rod->start == END_CLAMPED, rod->end == END_CLAMPED},
                     .twist = (float)((double)rod->twist * pi / 180.0)};
}

static MoteResult add_rod(const SceneStart *start, uint32_t element)
{
    const SceneValues *values = &start->scene->values;
    MoteVec3 *places = NULL;
    MoteRod rod = describe(values, SCENE_AT(values, rod, element));
    uint32_t first = 0;
    MoteResult result = place_nodes(start, SCENE_AT(values, rod, element), &places, &rod.node_count);
    result = result == MOTE_OK ? add_nodes(start, element, places, rod.node_count, rod.linear_density, &first) : result;
    uint32_t *ids = malloc(rod.node_count * sizeof *ids + 1);
    MoteParticleHandle *handles = malloc(rod.node_count * sizeof *handles + 1);
    if (result == MOTE_OK && (ids == NULL || handles == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for %u nodes", rod.node_count);
    }
    for (uint32_t i = 0; i < rod.node_count && result == MOTE_OK; i++) {
        ids[i] = first + i;
    }
    result = result == MOTE_OK ? mote_world_make_handles(start->world, ids, rod.node_count, handles) : result;
    rod.nodes = handles;
    result = result == MOTE_OK ? mote_world_add_rod(start->world, &rod, NULL) : result;
    result = result == MOTE_OK ? scene_bodies_add_nodes(start->bodies, handles, rod.node_count) : result;
    if (result == MOTE_OK) {
        start->bodies->rod_sizes[element] = rod.node_count;
    }
    free(places);
    free(ids);
    free(handles);
    return result;
}

MoteResult scene_build_rod(SceneStart *start)
{
    const uint32_t count = SCENE_COUNT(&start->scene->values, rod);
    start->bodies->rod_sizes = calloc(count + (size_t)1, sizeof *start->bodies->rod_sizes);
    if (start->bodies->rod_sizes == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u rods", start->scene->path, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const MoteResult result = add_rod(start, i);
        if (result != MOTE_OK) {
            return mote_fail(result, "%s: rods[%u]: %s", start->scene->path, i, mote_error_message());
        }
    }
    return MOTE_OK;
}
