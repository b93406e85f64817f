// SPDX-License-Identifier: MIT
// field.c - distance fields of meshes and level sets: what is accepted, and how their parts are packed.
#include "geometry/field.h"

#include "base/error.h"
#include "base/file.h"
#include "geometry/surface.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_BAND = 4,    // cells
    CONTAINER_BAND = 16, // what is outside a container must find the way in
    BAND_LIMIT = 64
};
static const double CELL_LIMIT = 134217728.0; // 2^27: half a gigabyte of distances, and as much of triangle numbers
static const double EXTENT_LIMIT = 1048576.0; // cells from the origin: voxel coordinates stay exact in floats
static const uint32_t TEXTURE_LIMIT = 16384;  // texels along a side

static bool finite3(MoteVec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

// ---- What is accepted --------------------------------------------------------------------------------------

static MoteResult check_textures(const char *name, const MoteFieldOptions *options)
{
    const uint32_t fw = options->friction_width, fh = options->friction_height;
    const uint32_t ww = options->wet_width, wh = options->wet_height;
    if (fw > TEXTURE_LIMIT || fh > TEXTURE_LIMIT || ww > TEXTURE_LIMIT || wh > TEXTURE_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: textures of %u x %u and %u x %u texels, expected at most %u along a side", name, fw, fh,
                         ww, wh, TEXTURE_LIMIT);
    }
    if ((ww == 0) != (wh == 0) || (options->friction != NULL && (fw == 0 || fh == 0))) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: a texture of %u x %u texels, expected at least 1 x 1", name,
                         options->friction != NULL ? fw : ww, options->friction != NULL ? fh : wh);
    }
    if ((options->friction != NULL || ww > 0) && options->uvs == NULL) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: has no texture coordinates (uvs), which a friction texture and a wet map need", name);
    }
    for (size_t i = 0; options->friction != NULL && i < (size_t)fw * fh; i++) {
        if (!isfinite(options->friction[i]) || options->friction[i] < 0.0f) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: texel %zu of its friction texture is %g, expected a number not below 0", name, i,
                             (double)options->friction[i]);
        }
    }
    return MOTE_OK;
}

static MoteResult check_numbers(const char *name, const MoteFieldOptions *options)
{
    if (options->mode > MOTE_FIELD_SHELL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: field mode %u, expected a MoteFieldMode", name, options->mode);
    }
    if (!isfinite(options->offset)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: an offset that is not finite", name);
    }
    if (options->band > BAND_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: a band of %u cells, expected at most %u", name, options->band,
                         BAND_LIMIT);
    }
    return MOTE_OK;
}

static MoteResult check_mesh(const char *name, const MoteFieldOptions *options)
{
    if (options->position_count == 0 || options->triangle_count == 0 || options->positions == NULL ||
        options->triangles == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is empty (%u vertices, %u triangles), expected a mesh", name,
                         options->position_count, options->triangle_count);
    }
    if (options->triangle_count > INT32_MAX) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: has %u triangles, expected at most 2^31 - 1", name,
                         options->triangle_count);
    }
    for (uint32_t i = 0; i < options->position_count; i++) {
        const MoteVec3 p = options->positions[i];
        if (!finite3(p)) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: vertex %u is (%g, %g, %g), expected finite numbers", name, i,
                             (double)p.x, (double)p.y, (double)p.z);
        }
        if (options->velocities != NULL && !finite3(options->velocities[i])) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: the velocity of vertex %u is not finite", name, i);
        }
        if (options->uvs != NULL &&
            (!isfinite(options->uvs[2 * (size_t)i]) || !isfinite(options->uvs[2 * (size_t)i + 1]))) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: the texture coordinates of vertex %u are not finite", name, i);
        }
    }
    for (size_t i = 0; i < 3 * (size_t)options->triangle_count; i++) {
        if (options->triangles[i] >= options->position_count) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: triangle %zu refers to vertex %u, expected less than %u", name,
                             i / 3, options->triangles[i], options->position_count);
        }
    }
    return MOTE_OK;
}

// How many cells would be filled, before any is: of a whole interior at most the box around it; otherwise of the
// surface as its area times the band's width, of small scattered triangles as half the blocks about their vertices.
static double estimate_cells(const MoteFieldOptions *options, const GridOptions *grid, const SurfaceSize *size,
                             double reach, double box)
{
    if (grid->mode != MOTE_FIELD_SHELL && grid->interior == FLT_MAX) {
        return box;
    }
    const double cell = options->cell_size;
    const double inner = grid->interior < FLT_MAX ? (double)grid->interior : reach;
    const double thick = reach + inner;
    const double blocks = surface_blocks(options->positions, options->position_count, thick * cell);
    const double cells = size->area / (cell * cell) * thick + size->slivers / cell * thick * thick +
                         0.5 * blocks * thick * thick * thick;
    return blocks < 0.0 ? box : fmin(cells, box);
}

static MoteResult check_size(const char *name, const MoteFieldOptions *options, const GridOptions *grid)
{
    if (!isfinite(options->cell_size) || options->cell_size <= 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: a cell size of %g m, expected a number above 0", name,
                         (double)options->cell_size);
    }
    const double cell = options->cell_size;
    const double reach = (double)grid->band + fabs((double)grid->offset) / cell + 1.0;
    const SurfaceSize size = surface_size(options->positions, options->triangles, options->triangle_count, cell);
    if (!(size.area > 0.0)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: none of its %u triangles has an area, expected a surface", name,
                         options->triangle_count);
    }
    double box = 1.0, farthest = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        box *= (size.bounds_max[axis] - size.bounds_min[axis]) / cell + 2.0 * reach;
        farthest = fmax(farthest, fmax(fabs(size.bounds_min[axis]), fabs(size.bounds_max[axis])) / cell + reach);
    }
    const double cells = estimate_cells(options, grid, &size, reach, box);
    if (!(cells <= CELL_LIMIT) || !(farthest <= EXTENT_LIMIT)) {
        return mote_fail(
            MOTE_ERROR_INPUT,
            "%s: cells of %g m would make a field of about %.3g cells that reaches %.3g cells from the origin, "
            "expected at most %.0f cells within %.0f: choose larger cells%s",
            name, cell, cells, farthest, CELL_LIMIT, EXTENT_LIMIT,
            grid->interior == FLT_MAX && grid->mode != MOTE_FIELD_SHELL ? " or an interior band" : "");
    }
    return MOTE_OK;
}

static MoteResult check_closed(const char *name, const MoteFieldOptions *options)
{
    SurfaceHoles holes;
    const MoteResult result = surface_find_holes(options->positions, options->position_count, options->triangles,
                                                 options->triangle_count, &holes);
    if (result != MOTE_OK || holes.edges == 0 || holes.widest < (double)options->cell_size) {
        return result; // a hole narrower than a cell is closed by the cells around it
    }
    const MoteVec3 at = options->positions[holes.vertex];
    return mote_fail(
        MOTE_ERROR_INPUT,
        "%s: is open: %u of its edges have a triangle on one side only, and a hole near (%g, %g, %g) is %g m "
        "wide, wider than a cell of %g m. So it has no inside for mode %s: close the mesh, or use mode shell",
        name, holes.edges, (double)at.x, (double)at.y, (double)at.z, holes.widest, (double)options->cell_size,
        options->mode == MOTE_FIELD_INSIDE ? "inside" : "outside");
}

// ---- Packing -----------------------------------------------------------------------------------------------

// Reserves room for a part: begins it at a multiple of 32 bytes.
static uint32_t place(uint64_t *total, uint64_t words)
{
    const uint64_t start = *total;
    *total = (start + words + 7) / 8 * 8;
    return (uint32_t)start;
}

// The word of a NanoVDB grid where its root node begins: the header has 672 bytes, and the tree after it says the rest.
static uint32_t root_of(const GridBlob *blob)
{
    uint64_t bytes;
    memcpy(&bytes, blob->words + 168 + 6, sizeof bytes);
    return (uint32_t)(168 + bytes / 4);
}

static void copy_part(MoteField *field, uint32_t start, const void *source, uint64_t words)
{
    if (start != FIELD_NOTHING) {
        memcpy(field->words + start, source, words * 4);
    }
}

static MoteResult pack(const char *name, const MoteFieldOptions *options, const FieldGrids *grids, MoteField *field)
{
    const uint64_t vertices = options->position_count, triangles = options->triangle_count;
    const bool surface = grids->closest.words != NULL;
    const uint64_t texels = (uint64_t)options->friction_width * options->friction_height;
    uint64_t total = 0;
    const uint32_t distances = place(&total, grids->distances.word_count);
    const uint32_t closest = surface ? place(&total, grids->closest.word_count) : FIELD_NOTHING;
    field->vertices = surface ? place(&total, 3 * vertices) : FIELD_NOTHING;
    field->triangles = surface ? place(&total, 3 * triangles) : FIELD_NOTHING;
    field->velocities = surface && options->velocities != NULL ? place(&total, 3 * vertices) : FIELD_NOTHING;
    field->uvs = surface && options->uvs != NULL ? place(&total, 2 * vertices) : FIELD_NOTHING;
    field->friction = surface && options->friction != NULL ? place(&total, texels) : FIELD_NOTHING;
    if (total >= FIELD_NOTHING) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: a field of %llu bytes, expected less than 16 GiB", name,
                         (unsigned long long)(total * 4));
    }
    field->words = calloc(total, 4);
    if (field->words == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a field of %llu bytes", name,
                         (unsigned long long)(total * 4));
    }
    field->word_count = total;
    copy_part(field, distances, grids->distances.words, grids->distances.word_count);
    copy_part(field, closest, grids->closest.words, grids->closest.word_count);
    copy_part(field, field->vertices, options->positions, 3 * vertices);
    copy_part(field, field->triangles, options->triangles, 3 * triangles);
    copy_part(field, field->velocities, options->velocities, 3 * vertices);
    copy_part(field, field->uvs, options->uvs, 2 * vertices);
    copy_part(field, field->friction, options->friction, texels);
    field->grid_words = grids->distances.word_count;
    field->distances = distances + root_of(&grids->distances);
    field->closest = surface ? closest + root_of(&grids->closest) : FIELD_NOTHING;
    field->friction_width = field->friction != FIELD_NOTHING ? options->friction_width : 0;
    field->friction_height = field->friction != FIELD_NOTHING ? options->friction_height : 0;
    field->wet_width = surface ? options->wet_width : 0;
    field->wet_height = surface ? options->wet_height : 0;
    field->mode = options->mode;
    field->cell_size = grids->cell_size;
    field->origin = grids->origin;
    field->bounds_min = grids->bounds_min;
    field->bounds_max = grids->bounds_max;
    field->outside = grids->outside;
    field->voxels = grids->voxels;
    return MOTE_OK;
}

// ---- Life --------------------------------------------------------------------------------------------------

static MoteResult make_grids(const char *name, const MoteFieldOptions *options, FieldGrids *grids)
{
    GridOptions grid = {
        .name = name,
        .mode = options->mode,
        .cell_size = options->cell_size,
        .offset = options->offset,
        .band = (float)(options->band > 0                     ? options->band
                        : options->mode == MOTE_FIELD_OUTSIDE ? CONTAINER_BAND
                                                              : DEFAULT_BAND),
        .interior = options->interior_band > 0 ? (float)options->interior_band : FLT_MAX,
        .with_closest = options->velocities != NULL || options->uvs != NULL,
    };
    MoteResult result = check_numbers(name, options);
    if (options->path != NULL) {
        if (options->positions != NULL || options->friction != NULL || options->wet_width > 0) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: a field from a file has no mesh, so no vertices and no textures",
                             name);
        }
        return result == MOTE_OK ? grids_from_file(&grid, options->path, options->grid, grids) : result;
    }
    result = result == MOTE_OK ? check_mesh(name, options) : result;
    result = result == MOTE_OK ? check_textures(name, options) : result;
    if (result == MOTE_OK && options->mode == MOTE_FIELD_SHELL) {
        grid.offset = options->offset == 0.0f ? options->cell_size : options->offset;
        if (grid.offset < options->cell_size) { // thinner, the interpolated distance would not be below 0 everywhere
            result = mote_fail(MOTE_ERROR_INPUT, "%s: a shell with an offset of %g m, expected at least a cell of %g m",
                               name, (double)grid.offset, (double)options->cell_size);
        }
    }
    result = result == MOTE_OK ? check_size(name, options, &grid) : result;
    if (result == MOTE_OK && options->mode != MOTE_FIELD_SHELL) {
        result = check_closed(name, options);
    }
    return result == MOTE_OK ? grids_from_mesh(&grid, options->positions, options->position_count, options->triangles,
                                               options->triangle_count, grids)
                             : result;
}

MoteResult mote_field_create(const MoteFieldOptions *options, MoteField **out)
{
    *out = NULL;
    const char *name = options->name != NULL ? options->name : options->path != NULL ? options->path : "mesh";
    FieldGrids grids = {0};
    MoteResult result = make_grids(name, options, &grids);
    if (result != MOTE_OK) {
        return result;
    }
    MoteField *field = calloc(1, sizeof *field);
    result = field != NULL ? pack(name, options, &grids, field)
                           : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a field", name);
    grids_free(&grids);
    if (result != MOTE_OK) {
        free(field);
        return result;
    }
    atomic_init(&field->users, 1);
    *out = field;
    return MOTE_OK;
}

void field_retain(const MoteField *field)
{
    atomic_fetch_add(&((MoteField *)(uintptr_t)field)->users, 1);
}

void mote_field_destroy(MoteField *field)
{
    if (field != NULL && atomic_fetch_sub(&field->users, 1) == 1) {
        free(field->words);
        free(field);
    }
}

MoteFieldInfo mote_field_info(const MoteField *field)
{
    return (MoteFieldInfo){.cell_size = field->cell_size,
                           .bounds_min = field->bounds_min,
                           .bounds_max = field->bounds_max,
                           .voxels = field->voxels,
                           .bytes = field->word_count * 4};
}

MoteResult mote_field_save(const MoteField *field, const char *path)
{
    FileWriter writer; // OpenVDB writes by name: here the temporary one
    MoteResult result = file_writer_open_regular(&writer, path);
    if (result != MOTE_OK) {
        return result;
    }
    result = grid_write(writer.temporary_path, field->words, field->grid_words);
    if (result != MOTE_OK) {
        mote_fail(result, "%s: not written: %s", path, mote_error_message());
        file_writer_discard(&writer);
        return result;
    }
    return file_writer_commit(&writer);
}
