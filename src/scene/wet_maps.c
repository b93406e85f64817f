// SPDX-License-Identifier: MIT
// wet_maps.c - wet maps, which show where particles touched colliders (DYV fig. 11): as pictures, and at mesh vertices.
#include "base/error.h"
#include "image/image.h"
#include "scene/simulation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Texels from 0, dry, to 1, wet, rows from the bottom to the top as texture coordinates count; free them.
static MoteResult read_map(MoteSimulation *simulation, uint32_t collider, float **out)
{
    const SceneCollider *values = SCENE_AT(&simulation->scene->values, collider, collider);
    const uint32_t side = values->wet_map;
    const size_t count = (size_t)side * side;
    float *texels = malloc(count * sizeof *texels);
    MoteResult result =
        texels != NULL
            ? mote_world_wet_map(simulation->world, simulation->collider_meshes[collider].data, side, side, texels)
            : mote_fail(MOTE_ERROR_MEMORY, "no memory for a wet map of %u x %u texels", side, side);
    for (size_t i = 0; i < count && result == MOTE_OK; i++) {
        const float share = texels[i] / values->wet_time;
        texels[i] = share < 1.0f ? share : 1.0f;
    }
    if (result != MOTE_OK) {
        free(texels);
        texels = NULL;
    }
    *out = texels;
    return result;
}

static MoteResult write_map(MoteSimulation *simulation, uint32_t collider, const char *folder)
{
    const uint32_t side = SCENE_AT(&simulation->scene->values, collider, collider)->wet_map;
    float *texels;
    MoteResult result = read_map(simulation, collider, &texels);
    if (result != MOTE_OK) {
        return result;
    }
    Image image;
    result = image_create(&image, side, side, 1);
    for (size_t y = 0; y < side && result == MOTE_OK; y++) {
        for (size_t x = 0; x < side; x++) {
            image.pixels[y * side + x] = texels[(side - 1 - y) * side + x];
        }
    }
    free(texels);
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/wet_%" PRIu32 "_%06" PRIu64 ".png", folder, collider,
                                mote_simulation_frame(simulation));
    if (result == MOTE_OK && (length < 0 || (size_t)length >= sizeof path)) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: is too long for the name of a folder", folder);
    }
    result = result == MOTE_OK ? image_write_png(path, &image, 8) : result;
    image_destroy(&image);
    return result;
}

MoteResult mote_simulation_export_wet_maps(MoteSimulation *simulation, const char *folder)
{
    const SceneValues *values = &simulation->scene->values;
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(values, collider) && result == MOTE_OK; i++) {
        if (SCENE_AT(values, collider, i)->wet_map > 0) {
            result = write_map(simulation, i, folder);
        }
    }
    return result;
}

// The mean of the 3 x 3 texels about a place, which hides that particles leave single dots.
static float wetness_at(const float *texels, uint32_t side, float u, float v)
{
    const int last = (int)side - 1;
    const int x = (int)(u * (float)side), y = (int)(v * (float)side);
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            const int tx = x + dx < 0 ? 0 : x + dx > last ? last : x + dx;
            const int ty = y + dy < 0 ? 0 : y + dy > last ? last : y + dy;
            sum += texels[(size_t)ty * side + (size_t)tx];
        }
    }
    return sum / 9.0f;
}

// Under a map as seen from above only what looks up can be wet.
MoteResult simulation_wetness(MoteSimulation *simulation, uint32_t collider, float *wetness)
{
    const SceneCollider *values = SCENE_AT(&simulation->scene->values, collider, collider);
    const uint32_t side = values->wet_map;
    const Mesh *mesh = &simulation->collider_meshes[collider].mesh;
    float *texels;
    const MoteResult result = read_map(simulation, collider, &texels);
    for (size_t v = 0; v < mesh->vertex_count && result == MOTE_OK; v++) {
        const float x = mesh->uvs[2 * v], y = mesh->uvs[2 * v + 1];
        const float up = 4.0f * mesh->normals[v].y;
        const float seen = values->uv != SCENE_UV_ABOVE || up > 1.0f ? 1.0f : up > 0.0f ? up : 0.0f;
        wetness[v] = seen * wetness_at(texels, side, x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f,
                                       y > 0.0f ? y < 1.0f ? y : 1.0f : 0.0f);
    }
    free(texels);
    return result;
}
