#include "scene/colliders_build.h"

#include "base/error.h"
#include "image/image.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool scene_collider_has_mesh(const SceneCollider *collider)
{
    return collider->shape == MOTE_SHAPE_HULL || collider->shape == MOTE_SHAPE_FIELD;
}

void scene_collider_meshes_free(const MoteScene *scene, ColliderMesh *rows)
{
    for (uint32_t i = 0; rows != NULL && i < SCENE_COUNT(&scene->values, collider); i++) {
        mesh_free(&rows[i].mesh);
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

static MoteResult add_field(const SceneCollider *collider, const Mesh *mesh, float spacing, MoteWorld *world,
                            uint32_t *data)
{
    MoteFieldOptions options = {
        .name = collider->mesh,
        .positions = mesh->positions,
        .position_count = mesh->vertex_count,
        .triangles = mesh->triangles,
        .triangle_count = mesh->triangle_count,
        .mode = collider->field_mode,
        .cell_size = collider->cell_size > 0.0f ? collider->cell_size : spacing,
        .offset = collider->offset,
        .band = collider->band,
    };
    float *texels = NULL;
    MoteResult result = MOTE_OK;
    if (collider->friction_texture[0] != '\0') {
        result =
            mesh->uvs != NULL
                ? read_texture(collider->friction_texture, &texels, &options.friction_width, &options.friction_height)
                : mote_fail(MOTE_ERROR_INPUT, "%s has no texture coordinates, which friction_texture needs",
                            collider->mesh);
        options.friction = texels;
        options.uvs = mesh->uvs;
    }
    MoteField *field = NULL;
    result = result == MOTE_OK ? mote_field_create(&options, &field) : result;
    result = result == MOTE_OK ? mote_world_add_field(world, field, data) : result;
    mote_field_destroy(field);
    free(texels);
    return result;
}

MoteResult scene_add_collider_meshes(const MoteScene *scene, MoteWorld *world, ColliderMesh **out)
{
    const uint32_t count = SCENE_COUNT(&scene->values, collider);
    const float spacing = SCENE_AT(&scene->values, solver, 0)->spacing;
    *out = calloc(count + 1u, sizeof **out);
    if (*out == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its colliders", scene->path);
    }
    for (uint32_t i = 0; i < count; i++) {
        const SceneCollider *collider = SCENE_AT(&scene->values, collider, i);
        if (!scene_collider_has_mesh(collider)) {
            continue;
        }
        ColliderMesh *row = &(*out)[i];
        const MeshPlace place = {.reference = collider->mesh,
                                 .scale = collider->scale,
                                 .fit_height = collider->fit_height,
                                 .anchor = collider->anchor};
        char what[512];
        snprintf(what, sizeof what, "%s: colliders[%u]", scene->path, i);
        MoteResult result = scene_mesh_place(scene, &place, what, &row->mesh);
        if (result != MOTE_OK) {
            return result;
        }
        result = collider->shape == MOTE_SHAPE_HULL
                     ? mote_world_add_hull(world, row->mesh.positions, row->mesh.vertex_count, &row->data)
                     : add_field(collider, &row->mesh, spacing, world, &row->data);
        if (result != MOTE_OK) {
            return mote_fail(result, "%s.mesh: \"%s\" cannot be a collider: %s", what, collider->mesh,
                             mote_error_message());
        }
    }
    return MOTE_OK;
}
