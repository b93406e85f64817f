// SPDX-License-Identifier: MIT
// voxelise.c - lattice rows walked through the solid. The distance at a point says for how many points to come the
// sign stays the same; only at the surface is the winding number asked.
#include "geometry/voxelise.h"

#include "base/error.h"
#include "base/stop.h"
#include "geometry/mesh_internal.h"
#include "geometry/triangle_tree.h"
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 100000000u // particles
#define CUT_LIMIT     2000000u   // triangles more that a surface with overlaps is cut into
#define ROW_LIMIT     1e8        // lattice rows, each of which takes a search

typedef struct Lattice {
    DVec3 first; // the point with the lowest coordinates
    double spacing;
    uint32_t nx, ny, nz;
} Lattice;

typedef struct Solid {
    Mesh mesh; // closed and oriented, with smooth normals
    TriangleTree *tree;
    MeshReport report;
    double touching; // m, nearer points count as on the surface
    // Where components overlap: what is left of the surface without the parts within another component.
    Mesh exposed;
    TriangleTree *exposed_tree; // NULL: there is one component only
} Solid;

typedef struct Sample {
    double depth; // m, positive inside
    DVec3 gradient;
} Sample;

void voxel_body_free(VoxelBody *body)
{
    free(body->positions);
    free(body->gradients);
    free(body->distances);
    *body = (VoxelBody){0};
}

// ---- The solid -------------------------------------------------------------------------------------------------

static void solid_free(Solid *solid)
{
    triangle_tree_destroy(solid->tree);
    triangle_tree_destroy(solid->exposed_tree);
    mesh_free(&solid->mesh);
    mesh_free(&solid->exposed);
}

static bool is_inside(const Solid *solid, DVec3 p)
{
    return triangle_tree_winding(solid->tree, p) > 0.5;
}

static void halve(MeshBuilder *builder, uint32_t triangle, uint32_t longest)
{
    const uint32_t *corner = builder->mesh.triangles + 3 * (size_t)triangle;
    const uint32_t a = corner[longest], b = corner[(longest + 1) % 3], c = corner[(longest + 2) % 3];
    const MoteVec3 *positions = builder->mesh.positions;
    const uint32_t middle =
        builder_vertex(builder, dvec3_scale(dvec3_add(dvec3_from(positions[a]), dvec3_from(positions[b])), 0.5));
    builder_triangle(builder, middle, b, c);
    if (!builder->failed) {
        builder->mesh.triangles[3 * (size_t)triangle + (longest + 1) % 3] = middle;
    }
}

// The pieces of a surface while it is cut: each remembers its component.
typedef struct Pieces {
    MeshBuilder builder;
    uint32_t *components;
} Pieces;

// Triangles that cover the mesh's, cut down to `size` where another component is near: whole triangles are either
// within another component or not. Gaps at the vertices put in do not matter to distances.
static MoteResult cut_at_seams(const Solid *solid, const uint32_t *components, double size, Mesh *out)
{
    const Mesh *mesh = &solid->mesh;
    Pieces pieces = {0};
    MeshBuilder *builder = &pieces.builder;
    pieces.components = malloc(((size_t)CUT_LIMIT + mesh->triangle_count) * sizeof *pieces.components);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        builder_vertex(builder, dvec3_from(mesh->positions[v]));
    }
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
        builder_triangle(builder, corner[0], corner[1], corner[2]);
    }
    builder->failed = builder->failed || pieces.components == NULL;
    if (!builder->failed) {
        memcpy(pieces.components, components, mesh->triangle_count * sizeof *components);
    }
    const uint32_t most = CUT_LIMIT + mesh->triangle_count;
    for (uint32_t t = 0; !builder->failed && t < builder->mesh.triangle_count && builder->mesh.triangle_count < most;) {
        const uint32_t *corner = builder->mesh.triangles + 3 * (size_t)t;
        DVec3 corners[3];
        for (uint32_t k = 0; k < 3; k++) {
            corners[k] = dvec3_from(builder->mesh.positions[corner[k]]);
        }
        const DVec3 middle = dvec3_scale(dvec3_add(corners[0], dvec3_add(corners[1], corners[2])), 1.0 / 3.0);
        uint32_t longest = 0;
        double longest_length = 0.0, radius = 0.0;
        for (uint32_t k = 0; k < 3; k++) {
            const double edge = dvec3_length(dvec3_sub(corners[(k + 1) % 3], corners[k]));
            longest = edge > longest_length ? k : longest;
            longest_length = fmax(longest_length, edge);
            radius = fmax(radius, dvec3_length(dvec3_sub(corners[k], middle)));
        }
        if (longest_length > size &&
            triangle_tree_meets_other(solid->tree, middle, radius, components, pieces.components[t])) {
            pieces.components[builder->mesh.triangle_count] = pieces.components[t];
            halve(builder, t, longest);
        } else {
            t++;
        }
    }
    free(pieces.components);
    *out = builder->mesh;
    return builder->failed ? mote_fail(MOTE_ERROR_MEMORY, "no memory to cut %u triangles", mesh->triangle_count)
                           : MOTE_OK;
}

// Overlapping components are a union, to which walls inside another component do not belong: the surface is cut into
// pieces of about half a spacing there, and those with the solid on both sides are left out.
static MoteResult solid_expose(Solid *solid, double spacing)
{
    uint32_t *components = malloc(((size_t)solid->mesh.triangle_count + 1) * sizeof *components), number = 0;
    MoteResult result = components != NULL ? mesh_components(&solid->mesh, components, &number)
                                           : mote_fail(MOTE_ERROR_MEMORY, "no memory for the components of a mesh");
    if (result == MOTE_OK) {
        result = cut_at_seams(solid, components, 0.5 * spacing, &solid->exposed);
    }
    free(components);
    const uint32_t count = solid->exposed.triangle_count;
    uint8_t *buried = result == MOTE_OK ? malloc((size_t)count + 1) : NULL;
    if (result == MOTE_OK && buried == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to look at %u triangles", count);
    }
    if (result != MOTE_OK) {
        return result;
    }
    Mesh *mesh = &solid->exposed;
    StopWatch watch = stop_watch();
#pragma omp parallel for schedule(dynamic, 256)
    for (uint32_t t = 0; t < count; t++) {
        if (stop_watch_asks(&watch)) {
            continue;
        }
        const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
        const DVec3 sum =
            dvec3_add(dvec3_from(mesh->positions[corner[0]]),
                      dvec3_add(dvec3_from(mesh->positions[corner[1]]), dvec3_from(mesh->positions[corner[2]])));
        const DVec3 up =
            dvec3_scale(dvec3_normalize(triangle_cross(mesh, t), 0.0, dvec3(0, 1, 0)), 10.0 * solid->touching);
        const DVec3 middle = dvec3_scale(sum, 1.0 / 3.0);
        buried[t] = is_inside(solid, dvec3_add(middle, up)) && is_inside(solid, dvec3_sub(middle, up));
    }
    uint32_t kept = 0;
    for (uint32_t t = 0; t < count && !watch.stopped; t++) {
        if (!buried[t]) {
            memmove(mesh->triangles + 3 * (size_t)kept++, mesh->triangles + 3 * (size_t)t, 3 * sizeof *mesh->triangles);
        }
    }
    free(buried);
    mesh->triangle_count = kept;
    if (watch.stopped) {
        return stop_watch_result(&watch);
    }
    // Some surface is always left; where rounding says otherwise, distances come from all of it.
    result = kept > 0 ? mesh_make_normals(mesh, 3.2f) : MOTE_OK;
    return result == MOTE_OK && kept > 0 ? triangle_tree_create(mesh, &solid->exposed_tree) : result;
}

static MoteResult solid_make(const Mesh *mesh, double spacing, Solid *out)
{
    *out = (Solid){0};
    MoteResult result = mesh_check(mesh, "mesh");
    if (result == MOTE_OK) {
        result = mesh_solid(mesh, "mesh", &out->mesh);
    }
    if (result == MOTE_OK) {
        result = mesh_make_normals(&out->mesh, 3.2f); // smooth all over
    }
    if (result == MOTE_OK) {
        result = mesh_report(&out->mesh, &out->report);
        out->touching =
            1e-6 * dvec3_length(dvec3_sub(dvec3_from(out->report.bounds_max), dvec3_from(out->report.bounds_min)));
    }
    if (result == MOTE_OK) {
        result = triangle_tree_create(&out->mesh, &out->tree);
    }
    if (result == MOTE_OK && out->report.components > 1) {
        result = solid_expose(out, spacing);
    }
    if (result != MOTE_OK) {
        solid_free(out);
    }
    return result;
}

// The outward direction at p, whose nearest point is given: towards it from inside; where both are the same, the
// surface's normal there, weighted by the angles of the triangles at its corners.
static DVec3 outward(const Mesh *mesh, double touching, DVec3 p, const NearestPoint *nearest)
{
    if (nearest->distance > touching) {
        return dvec3_scale(dvec3_sub(nearest->point, p), 1.0 / nearest->distance);
    }
    const uint32_t *corner = mesh->triangles + 3 * (size_t)nearest->triangle;
    DVec3 sum = {0, 0, 0};
    for (uint32_t k = 0; k < 3; k++) {
        sum = dvec3_add(sum, dvec3_scale(dvec3_from(mesh->normals[corner[k]]), nearest->weights[k]));
    }
    return dvec3_normalize(sum, 0.0, dvec3_normalize(triangle_cross(mesh, nearest->triangle), 0.0, dvec3(0, 1, 0)));
}

// The depth and the way out at a point inside; `nearest` is that of the whole surface.
static Sample sample_inside(const Solid *solid, DVec3 p, const NearestPoint *nearest)
{
    NearestPoint exposed;
    if (solid->exposed_tree != NULL && triangle_tree_nearest(solid->exposed_tree, p, INFINITY, &exposed)) {
        return (Sample){exposed.distance, outward(&solid->exposed, solid->touching, p, &exposed)};
    }
    return (Sample){nearest->distance, outward(&solid->mesh, solid->touching, p, nearest)};
}

// ---- Rows ------------------------------------------------------------------------------------------------------

typedef struct Row {
    uint32_t count, capacity;
    uint32_t *places; // along x
    float *values;    // 4 a particle: gradient, distance
    uint32_t inside;  // with those that surface_only leaves out
    bool failed;
} Row;

static void row_append(Row *row, uint32_t x, const Sample *sample)
{
    if (row->count == row->capacity) {
        const uint32_t capacity = row->capacity < 8 ? 8 : 2 * row->capacity;
        uint32_t *places = realloc(row->places, capacity * sizeof *places);
        row->places = places != NULL ? places : row->places;
        float *values = realloc(row->values, 4 * (size_t)capacity * sizeof *values);
        row->values = values != NULL ? values : row->values;
        if (places == NULL || values == NULL) {
            row->failed = true;
            return;
        }
        row->capacity = capacity;
    }
    float *values = row->values + 4 * (size_t)row->count;
    values[0] = (float)sample->gradient.x;
    values[1] = (float)sample->gradient.y;
    values[2] = (float)sample->gradient.z;
    values[3] = (float)-sample->depth;
    row->places[row->count++] = x;
}

static DVec3 lattice_point(const Lattice *lattice, uint32_t x, uint32_t y, uint32_t z)
{
    return dvec3_add(lattice->first, dvec3_scale(dvec3(x, y, z), lattice->spacing));
}

static void walk_row(const Solid *solid, const Lattice *lattice, double shell, uint32_t y, uint32_t z, Row *row)
{
    uint32_t sure = 0; // points to come that are known to be on the same side
    bool inside = false;
    double within = INFINITY;
    for (uint32_t x = 0; x < lattice->nx && !row->failed;) {
        const DVec3 p = lattice_point(lattice, x, y, z);
        NearestPoint nearest = {0};
        if (!triangle_tree_nearest(solid->tree, p, within, &nearest)) {
            // Rounding: the bound from the last point was just too tight.
            triangle_tree_nearest(solid->tree, p, INFINITY, &nearest);
        }
        inside = sure > 0 ? inside : is_inside(solid, p);
        // A surface cannot be crossed nearer than the nearest triangle.
        const double steps = floor(nearest.distance / lattice->spacing * (1.0 - 1e-9));
        const uint32_t reach = (uint32_t)fmin(steps, 4e9);
        within = nearest.distance + lattice->spacing * (1.0 + 1e-9);
        if (!inside) {
            sure = 0;
            if (reach > 0) { // go to the last point that is surely outside, and look again there
                within = INFINITY;
                x = reach < lattice->nx - x ? x + reach : lattice->nx;
                sure = 1;
                continue;
            }
        } else {
            row->inside++;
            const Sample sample = sample_inside(solid, p, &nearest);
            if (sample.depth <= shell) {
                row_append(row, x, &sample);
            }
            sure = reach > 0 ? 1 : 0;
        }
        x++;
    }
}

static MoteResult lattice_make(const Solid *solid, const VoxelOptions *options, Lattice *out)
{
    const MeshReport report = solid->report;
    const double spacing = options->spacing;
    const uint32_t limit = options->limit > 0 ? options->limit : DEFAULT_LIMIT;
    const DVec3 size = dvec3_sub(dvec3_from(report.bounds_max), dvec3_from(report.bounds_min));
    const DVec3 cells = {fmax(1.0, round(size.x / spacing)), fmax(1.0, round(size.y / spacing)),
                         fmax(1.0, round(size.z / spacing))};
    // A shell is at least one layer of the surface; a solid has its volume. Overlaps count twice in both: generous.
    const double few =
        options->surface_only ? report.area / (spacing * spacing) : fabs(report.volume) / pow(spacing, 3);
    const double cost = cells.y * cells.z;
    if (cost > ROW_LIMIT || cells.x > 1e9 || 0.2 * few > limit) {
        const double larger = spacing * fmax(sqrt(cost / ROW_LIMIT), fmax(cells.x / 1e9, cbrt(few / limit)));
        return mote_fail(MOTE_ERROR_INPUT,
                         "a spacing of %g m makes about %.3g particles of a body of %.3g x %.3g x %.3g m, expected at "
                         "most %u; a spacing of %.3g m would do",
                         spacing, few, size.x, size.y, size.z, limit, larger);
    }
    const DVec3 centre = dvec3_scale(dvec3_add(dvec3_from(report.bounds_min), dvec3_from(report.bounds_max)), 0.5);
    out->spacing = spacing;
    out->nx = (uint32_t)cells.x;
    out->ny = (uint32_t)cells.y;
    out->nz = (uint32_t)cells.z;
    out->first = dvec3_sub(centre, dvec3_scale(dvec3_sub(cells, dvec3(1, 1, 1)), 0.5 * spacing));
    return MOTE_OK;
}

// Moves a particle inwards to the depth `inset`, and takes the values there, if that is deeper than where it is.
static void move_inwards(const Solid *solid, double inset, VoxelBody *body, uint32_t i)
{
    const double depth = -body->distances[i];
    if (depth >= inset) {
        return;
    }
    const DVec3 p =
        dvec3_sub(dvec3_from(body->positions[i]), dvec3_scale(dvec3_from(body->gradients[i]), inset - depth));
    NearestPoint nearest;
    if (triangle_tree_nearest(solid->tree, p, INFINITY, &nearest) && is_inside(solid, p)) {
        const Sample sample = sample_inside(solid, p, &nearest);
        if (sample.depth > depth) {
            body->positions[i] = dvec3_round(p);
            body->gradients[i] = dvec3_round(sample.gradient);
            body->distances[i] = (float)-sample.depth;
        }
    }
}

static MoteResult collect(const Solid *solid, const Lattice *lattice, const VoxelOptions *options, const Row *rows,
                          VoxelBody *out)
{
    const size_t row_count = (size_t)lattice->ny * lattice->nz;
    const uint32_t limit = options->limit > 0 ? options->limit : DEFAULT_LIMIT;
    uint64_t count = 0, inside = 0;
    bool failed = false;
    for (size_t r = 0; r < row_count; r++) {
        count += rows[r].count;
        inside += rows[r].inside;
        failed = failed || rows[r].failed;
    }
    if (!failed && count > limit) {
        return mote_fail(MOTE_ERROR_INPUT, "a spacing of %g m makes %llu particles, expected at most %u",
                         lattice->spacing, (unsigned long long)count, limit);
    }
    *out = (VoxelBody){.count = (uint32_t)count, .volume = (double)inside * pow(lattice->spacing, 3)};
    out->positions = malloc((count + 1) * sizeof *out->positions);
    out->gradients = malloc((count + 1) * sizeof *out->gradients);
    out->distances = malloc((count + 1) * sizeof *out->distances);
    if (failed || out->positions == NULL || out->gradients == NULL || out->distances == NULL) {
        voxel_body_free(out);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a body of %llu particles", (unsigned long long)count);
    }
    uint32_t next = 0;
    for (size_t r = 0; r < row_count; r++) {
        for (uint32_t i = 0; i < rows[r].count; i++, next++) {
            const float *values = rows[r].values + 4 * (size_t)i;
            out->positions[next] = dvec3_round(
                lattice_point(lattice, rows[r].places[i], (uint32_t)(r % lattice->ny), (uint32_t)(r / lattice->ny)));
            out->gradients[next] = (MoteVec3){values[0], values[1], values[2]};
            out->distances[next] = values[3];
        }
    }
    StopWatch watch = stop_watch();
    if (options->inset > 0.0f) {
#pragma omp parallel for schedule(dynamic, 256)
        for (uint32_t i = 0; i < out->count; i++) {
            if (!stop_watch_asks(&watch)) {
                move_inwards(solid, options->inset, out, i);
            }
        }
    }
    if (watch.stopped) {
        voxel_body_free(out);
    }
    return stop_watch_result(&watch);
}

static MoteResult fill(const Solid *solid, const VoxelOptions *options, VoxelBody *out)
{
    Lattice lattice;
    MoteResult result = lattice_make(solid, options, &lattice);
    if (result != MOTE_OK) {
        return result;
    }
    const size_t row_count = (size_t)lattice.ny * lattice.nz;
    Row *rows = calloc(row_count, sizeof *rows);
    if (rows == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a lattice of %zu rows", row_count);
    }
    const double shell =
        !options->surface_only ? INFINITY : (options->shell > 0.0f ? (double)options->shell : lattice.spacing);
    StopWatch watch = stop_watch();
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t r = 0; r < row_count; r++) {
        if (!stop_watch_asks(&watch)) {
            walk_row(solid, &lattice, shell, (uint32_t)(r % lattice.ny), (uint32_t)(r / lattice.ny), &rows[r]);
        }
    }
    result = stop_watch_result(&watch);
    result = result == MOTE_OK ? collect(solid, &lattice, options, rows, out) : result;
    for (size_t r = 0; r < row_count; r++) {
        free(rows[r].places);
        free(rows[r].values);
    }
    free(rows);
    return result;
}

MoteResult voxelise(const Mesh *mesh, const VoxelOptions *options, VoxelBody *out)
{
    *out = (VoxelBody){0};
    if (!(options->spacing > 0.0f) || !isfinite(options->spacing) || !(options->shell >= 0.0f) ||
        !(options->inset >= 0.0f)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "a body's spacing is %g m, its shell %g m, its inset %g m, expected a spacing above 0, others "
                         "0 or more",
                         options->spacing, options->shell, options->inset);
    }
    Solid solid;
    MoteResult result = solid_make(mesh, options->spacing, &solid);
    if (result != MOTE_OK) {
        return result;
    }
    const DVec3 size = dvec3_sub(dvec3_from(solid.report.bounds_max), dvec3_from(solid.report.bounds_min));
    result = fill(&solid, options, out);
    // Nothing fits: find a spacing at which something does, for the message.
    VoxelOptions finer = *options;
    for (uint32_t i = 0; result == MOTE_OK && out->count == 0; i++) {
        voxel_body_free(out);
        finer.spacing *= 0.75f;
        finer.limit = 1000000;
        const MoteResult tried = i < 16 ? fill(&solid, &finer, out) : MOTE_ERROR_INPUT;
        if (tried == MOTE_ERROR_STOPPED) {
            result = tried;
        } else if (tried != MOTE_OK) {
            result =
                mote_fail(MOTE_ERROR_INPUT,
                          "a body of %.3g x %.3g x %.3g m holds no particle at a spacing of %g m or a little less, "
                          "expected a thicker body",
                          size.x, size.y, size.z, options->spacing);
        } else if (out->count > 0) {
            result = mote_fail(MOTE_ERROR_INPUT,
                               "a body of %.3g x %.3g x %.3g m holds no particle at a spacing of %g m; a spacing of "
                               "%.3g m would do (%u particles)",
                               size.x, size.y, size.z, options->spacing, finer.spacing, out->count);
            voxel_body_free(out);
        }
    }
    solid_free(&solid);
    return result;
}
