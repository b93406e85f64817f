// voxelise.c - lattice rows walked through the solid. The distance at a point says for how many points to come the
// sign stays the same; only at the surface is the winding number asked.
#include "geometry/voxelise.h"

#include "base/error.h"
#include "geometry/mesh_internal.h"
#include "geometry/triangle_tree.h"
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 100000000u // particles
#define ROW_LIMIT     1e8        // lattice rows, each of which takes a search

typedef struct Lattice {
    Vector first; // the point with the lowest coordinates
    double spacing;
    uint32_t nx, ny, nz;
} Lattice;

typedef struct Solid {
    Mesh mesh; // closed and oriented, with smooth normals
    TriangleTree *tree;
    double touching; // m, nearer points count as on the surface
} Solid;

typedef struct Sample {
    double depth; // m, positive inside
    Vector gradient;
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
    mesh_free(&solid->mesh);
}

static MoteResult solid_make(const Mesh *mesh, Solid *out)
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
        result = triangle_tree_create(&out->mesh, &out->tree);
    }
    if (result != MOTE_OK) {
        solid_free(out);
    }
    return result;
}

// The outward direction at p, whose nearest point is given: towards it from inside; where both are the same, the
// surface's normal there, weighted by the angles of the triangles at its corners.
static Vector outward(const Solid *solid, Vector p, const NearestPoint *nearest)
{
    if (nearest->distance > solid->touching) {
        return scaled(subtract(nearest->point, p), 1.0 / nearest->distance);
    }
    const uint32_t *corner = solid->mesh.triangles + 3 * (size_t)nearest->triangle;
    Vector sum = {0, 0, 0};
    for (uint32_t k = 0; k < 3; k++) {
        sum = add(sum, scaled(from_vec3(solid->mesh.normals[corner[k]]), nearest->weights[k]));
    }
    return unit(sum, unit(triangle_cross(&solid->mesh, nearest->triangle), vector(0, 1, 0)));
}

static bool is_inside(const Solid *solid, Vector p)
{
    return triangle_tree_winding(solid->tree, p) > 0.5;
}

// Inside overlapping components the nearest triangle may be one that lies within another component; it is no surface
// of the union. Such distances are too short, never too long.
static Sample sample_inside(const Solid *solid, Vector p, const NearestPoint *nearest)
{
    return (Sample){nearest->distance, outward(solid, p, nearest)};
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

static Vector lattice_point(const Lattice *lattice, uint32_t x, uint32_t y, uint32_t z)
{
    return add(lattice->first, scaled(vector(x, y, z), lattice->spacing));
}

static void walk_row(const Solid *solid, const Lattice *lattice, double shell, uint32_t y, uint32_t z, Row *row)
{
    uint32_t sure = 0; // points to come that are known to be on the same side
    bool inside = false;
    double within = INFINITY;
    for (uint32_t x = 0; x < lattice->nx && !row->failed;) {
        const Vector p = lattice_point(lattice, x, y, z);
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
    MeshReport report;
    const MoteResult result = mesh_report(&solid->mesh, &report);
    if (result != MOTE_OK) {
        return result;
    }
    const double spacing = options->spacing;
    const uint32_t limit = options->limit > 0 ? options->limit : DEFAULT_LIMIT;
    const Vector size = subtract(from_vec3(report.highest), from_vec3(report.lowest));
    const Vector cells = {fmax(1.0, round(size.x / spacing)), fmax(1.0, round(size.y / spacing)),
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
    const Vector centre = scaled(add(from_vec3(report.lowest), from_vec3(report.highest)), 0.5);
    out->spacing = spacing;
    out->nx = (uint32_t)cells.x;
    out->ny = (uint32_t)cells.y;
    out->nz = (uint32_t)cells.z;
    out->first = subtract(centre, scaled(subtract(cells, vector(1, 1, 1)), 0.5 * spacing));
    return MOTE_OK;
}

// Moves a particle inwards to the depth `inset`, and takes the values there, if that is deeper than where it is.
static void move_inwards(const Solid *solid, double inset, VoxelBody *body, uint32_t i)
{
    const double depth = -body->distances[i];
    if (depth >= inset) {
        return;
    }
    const Vector p = subtract(from_vec3(body->positions[i]), scaled(from_vec3(body->gradients[i]), inset - depth));
    NearestPoint nearest;
    if (triangle_tree_nearest(solid->tree, p, INFINITY, &nearest) && nearest.distance > depth && is_inside(solid, p)) {
        const Sample sample = sample_inside(solid, p, &nearest);
        body->positions[i] = to_vec3(p);
        body->gradients[i] = to_vec3(sample.gradient);
        body->distances[i] = (float)-sample.depth;
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
            out->positions[next] = to_vec3(
                lattice_point(lattice, rows[r].places[i], (uint32_t)(r % lattice->ny), (uint32_t)(r / lattice->ny)));
            out->gradients[next] = (MoteVec3){values[0], values[1], values[2]};
            out->distances[next] = values[3];
        }
    }
    if (options->inset > 0.0f) {
#pragma omp parallel for schedule(dynamic, 256)
        for (uint32_t i = 0; i < out->count; i++) {
            move_inwards(solid, options->inset, out, i);
        }
    }
    return MOTE_OK;
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
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t r = 0; r < row_count; r++) {
        walk_row(solid, &lattice, shell, (uint32_t)(r % lattice.ny), (uint32_t)(r / lattice.ny), &rows[r]);
    }
    result = collect(solid, &lattice, options, rows, out);
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
    MoteResult result = solid_make(mesh, &solid);
    if (result != MOTE_OK) {
        return result;
    }
    MeshReport report = {0};
    result = mesh_report(&solid.mesh, &report);
    const Vector size = subtract(from_vec3(report.highest), from_vec3(report.lowest));
    solid.touching = 1e-6 * length(size);
    if (result == MOTE_OK) {
        result = fill(&solid, options, out);
    }
    // Nothing fits: find a spacing at which something does, for the message.
    VoxelOptions finer = *options;
    for (uint32_t i = 0; result == MOTE_OK && out->count == 0; i++) {
        voxel_body_free(out);
        finer.spacing *= 0.75f;
        finer.limit = 1000000;
        if (i == 16 || fill(&solid, &finer, out) != MOTE_OK) {
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
