// SPDX-License-Identifier: MIT
#include "scene/colliders_build.h"

#include "base/error.h"
#include "image/image.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool scene_collider_has_mesh(const SceneCollider *collider)
{
    return collider->shape == MOTE_COLLIDER_HULL || collider->shape == MOTE_COLLIDER_FIELD;
}

void scene_collider_meshes_free(const MoteScene *scene, ColliderMesh *rows)
{
    for (uint32_t i = 0; rows != NULL && i < SCENE_COUNT(&scene->values, collider); i++) {
        mesh_free(&rows[i].mesh);
        free(rows[i].friction);
        free(rows[i].wetness);
        free(rows[i].poses);
        free(rows[i].velocities);
        free(rows[i].normal_groups);
    }
    free(rows);
}

// The mean of a picture's colours, rows from the bottom to the top as texture coordinates count; free it.
static MoteResult read_texture(const char *path, float **texels, uint32_t *width, uint32_t *height)
{
    Image image;
    *texels = NULL;
    MoteResult result = image_read(path, &image);
    if (result != MOTE_OK) {
        return result;
    }
    *texels = malloc((size_t)image.width * image.height * sizeof **texels);
    if (*texels == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a texture", path);
    }
    for (uint32_t y = 0; y < image.height && result == MOTE_OK; y++) {
        for (uint32_t x = 0; x < image.width; x++) {
            float rgba[4];
            image_pixel(&image, x, image.height - 1 - y, rgba);
            (*texels)[(size_t)y * image.width + x] = (rgba[0] + rgba[1] + rgba[2]) / 3.0f;
        }
    }
    *width = image.width;
    *height = image.height;
    image_destroy(&image);
    return result;
}

// ---- Textures ----

// Texture coordinates of the mesh as seen from above, over the box around it: x to the right, z downwards.
static MoteResult lay_uvs(const char *what, Mesh *mesh)
{
    MeshReport report;
    MoteResult result = mesh_report(mesh, &report);
    float *uvs = result == MOTE_OK ? malloc(2 * (size_t)mesh->vertex_count * sizeof *uvs) : NULL;
    if (result == MOTE_OK && uvs == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for texture coordinates", what);
    }
    if (result != MOTE_OK) {
        return result;
    }
    const float width = report.bounds_max.x - report.bounds_min.x, depth = report.bounds_max.z - report.bounds_min.z;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        const MoteVec3 p = mesh->positions[v];
        uvs[2 * v] = width > 0.0f ? (p.x - report.bounds_min.x) / width : 0.0f;
        uvs[2 * v + 1] = depth > 0.0f ? (report.bounds_max.z - p.z) / depth : 0.0f;
    }
    free(mesh->uvs);
    mesh->uvs = uvs;
    return MOTE_OK;
}

static bool has_texture(const SceneCollider *collider)
{
    return collider->friction_texture[0] != '\0' || collider->wet_map > 0;
}

static MoteResult make_textures(const SceneCollider *collider, const char *what, ColliderMesh *row)
{
    MoteResult result = collider->uv == SCENE_UV_ABOVE ? lay_uvs(what, &row->mesh) : MOTE_OK;
    if (result == MOTE_OK && row->mesh.uvs == NULL) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "it has no texture coordinates, which %s needs: \"uv\": \"above\" would make some",
                         collider->wet_map > 0 ? "wet_map" : "friction_texture");
    }
    if (result == MOTE_OK && collider->wet_map > 0) {
        row->wetness = calloc((size_t)row->mesh.vertex_count + 1, sizeof *row->wetness);
        result = row->wetness != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for its wet map");
    }
    if (result == MOTE_OK && collider->friction_texture[0] != '\0') {
        result = read_texture(collider->friction_texture, &row->friction, &row->friction_width, &row->friction_height);
    }
    return result;
}

// ---- Fields ----

static const char *name_of(const SceneCollider *collider)
{
    return collider->mesh_sequence != NULL ? collider->mesh_sequence->reference : collider->mesh;
}

static MoteResult make_field(const SceneCollider *collider, const ColliderMesh *row, float spacing, MoteField **out)
{
    const Mesh *mesh = &row->mesh;
    return mote_field_create(
        &(MoteFieldOptions){
            .name = name_of(collider),
            .positions = mesh->positions,
            .position_count = mesh->vertex_count,
            .triangles = mesh->triangles,
            .triangle_count = mesh->triangle_count,
            .velocities = row->velocities,
            .uvs = has_texture(collider) ? mesh->uvs : NULL,
            .mode = collider->field_mode,
            .cell_size = collider->cell_size > 0.0f ? collider->cell_size : spacing,
            .offset = collider->offset,
            .band = collider->band,
            .friction = row->friction,
            .friction_width = row->friction_width,
            .friction_height = row->friction_height,
            .wet_width = collider->wet_map,
            .wet_height = collider->wet_map,
        },
        out);
}

// ---- Meshes that move ----

// Where a sequence of `count` poses is at a time: whole numbers are poses, others lie between two.
static double place_in_sequence(const SceneCollider *collider, uint32_t count, double time)
{
    const double place = fmax((time - (double)collider->sequence_start) * (double)collider->sequence_rate, 0.0);
    return collider->sequence_end == SCENE_SEQUENCE_LOOPS ? fmod(place, count) : fmin(place, count - 1.0);
}

static MoteVec3 vertex_at(const ColliderMesh *row, uint32_t count, double place, uint32_t vertex)
{
    const uint32_t pose = (uint32_t)place < count ? (uint32_t)place : count - 1;
    const float share = (float)(place - pose);
    const size_t vertices = row->mesh.vertex_count;
    const MoteVec3 a = row->poses[pose * vertices + vertex];
    const MoteVec3 b = row->poses[(pose + 1 < count ? pose + 1 : 0) * vertices + vertex];
    return (MoteVec3){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z)};
}

// Vertices as they are at the end of a step, and their velocities over it.
static void move_vertices(const SceneCollider *collider, double from, double to, double seconds, ColliderMesh *row)
{
    const uint32_t count = collider->mesh_sequence->poses.count;
    const float rate = seconds > 0.0 ? (float)(1.0 / seconds) : 0.0f;
    for (uint32_t v = 0; v < row->mesh.vertex_count; v++) {
        const MoteVec3 a = vertex_at(row, count, from, v), b = vertex_at(row, count, to, v);
        row->mesh.positions[v] = b;
        row->velocities[v] = (MoteVec3){rate * (b.x - a.x), rate * (b.y - a.y), rate * (b.z - a.z)};
    }
}

MoteResult scene_pose_collider_mesh(const SceneCollider *collider, double time, ColliderMesh *row)
{
    const double place = place_in_sequence(collider, collider->mesh_sequence->poses.count, time);
    for (uint32_t v = 0; v < row->mesh.vertex_count; v++) {
        row->mesh.positions[v] = vertex_at(row, collider->mesh_sequence->poses.count, place, v);
    }
    return mesh_move_normals(&row->mesh, row->normal_groups, row->mesh.normals);
}

MoteResult scene_move_collider_meshes(const MoteScene *scene, MoteWorld *world, double from, double to,
                                      ColliderMesh *rows)
{
    const float spacing = SCENE_AT(&scene->values, solver, 0)->spacing;
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(&scene->values, collider) && result == MOTE_OK; i++) {
        const SceneCollider *collider = SCENE_AT(&scene->values, collider, i);
        ColliderMesh *row = &rows[i];
        if (collider->mesh_sequence == NULL) {
            continue;
        }
        const uint32_t count = collider->mesh_sequence->poses.count;
        const double place_from = place_in_sequence(collider, count, from);
        const double place_to = place_in_sequence(collider, count, to);
        if (place_from == row->from && place_to == row->to) {
            continue; // it holds still
        }
        move_vertices(collider, place_from, place_to, to - from, row);
        MoteField *field = NULL;
        result = make_field(collider, row, spacing, &field);
        result = result == MOTE_OK ? mote_world_set_field(world, row->data, field) : result;
        mote_field_destroy(field);
        row->from = place_from;
        row->to = place_to;
        if (result != MOTE_OK) {
            return mote_fail(result, "%s: colliders[%u].mesh_sequence: at %.6g s, in pose %.6g: %s", scene->path, i, to,
                             place_to, mote_error_message());
        }
    }
    return result;
}

static MoteResult prepare_sequence(const SceneCollider *collider, const MeshPlace *place, const char *what,
                                   ColliderMesh *row)
{
    MoteResult result = scene_sequence_place(place, what, &row->poses);
    row->velocities = calloc((size_t)row->mesh.vertex_count + 1, sizeof *row->velocities);
    row->normal_groups = malloc(((size_t)row->mesh.vertex_count + 1) * sizeof *row->normal_groups);
    if (result == MOTE_OK && (row->velocities == NULL || row->normal_groups == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a sequence", what);
    }
    if (result == MOTE_OK) {
        result = mesh_normal_groups(&row->mesh, row->normal_groups);
        row->from = row->to = place_in_sequence(collider, collider->mesh_sequence->poses.count, 0.0);
        move_vertices(collider, row->from, row->to, 0.0, row);
    }
    return result;
}

// ---- All of them ----

static MoteResult add_mesh(const MoteScene *scene, const SceneCollider *collider, const char *what, MoteWorld *world,
                           ColliderMesh *row)
{
    const MeshPlace place = {.reference = collider->mesh,
                             .sequence = collider->mesh_sequence,
                             .scale = collider->scale,
                             .fit_height = collider->fit_height,
                             .anchor = collider->anchor};
    MoteResult result = scene_mesh_place(scene, &place, what, &row->mesh);
    if (result != MOTE_OK) {
        return result;
    }
    MoteField *field = NULL;
    if (collider->shape == MOTE_COLLIDER_HULL) {
        result = mote_world_add_hull(world, row->mesh.positions, row->mesh.vertex_count, &row->data);
    } else {
        result = has_texture(collider) ? make_textures(collider, what, row) : MOTE_OK;
        if (result == MOTE_OK && collider->mesh_sequence != NULL) {
            result = prepare_sequence(collider, &place, what, row);
        }
        result = result == MOTE_OK ? make_field(collider, row, SCENE_AT(&scene->values, solver, 0)->spacing, &field)
                                   : result;
        result = result == MOTE_OK ? mote_world_add_field(world, field, &row->data) : result;
    }
    mote_field_destroy(field);
    if (result != MOTE_OK) {
        return mote_fail(result, "%s.%s: \"%s\" cannot be a collider: %s", what,
                         collider->mesh_sequence != NULL ? "mesh_sequence" : "mesh", name_of(collider),
                         mote_error_message());
    }
    return MOTE_OK;
}

MoteResult scene_add_collider_meshes(const MoteScene *scene, MoteWorld *world, ColliderMesh **out)
{
    const uint32_t count = SCENE_COUNT(&scene->values, collider);
    *out = calloc(count + 1u, sizeof **out);
    if (*out == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its colliders", scene->path);
    }
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const SceneCollider *collider = SCENE_AT(&scene->values, collider, i);
        char what[512];
        snprintf(what, sizeof what, "%s: colliders[%u]", scene->path, i);
        if (scene_collider_has_mesh(collider)) {
            result = add_mesh(scene, collider, what, world, &(*out)[i]);
        }
    }
    return result;
}
