// SPDX-License-Identifier: MIT
// render_frame.c - half a second of a scene, and then a picture of it: render_frame SCENE.json PICTURE.png
#include <mote_render.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(MoteResult result)
{
    if (result != MOTE_OK) {
        fprintf(stderr, "render_frame: %s\n", mote_error_message());
        exit(1);
    }
}

static bool write_png(const char *path, const MotePicture *picture, const uint8_t *pixels)
{
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = picture->width;
    image.height = picture->height;
    image.format = PNG_FORMAT_RGBA;
    return png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: render_frame SCENE.json PICTURE.png\n");
        return 2;
    }
    // A world on the renderer's own device, or on a GPU of the same machine, keeps its arrays where the renderer reads
    // them in place.
    const MoteRendererOptions best = mote_default_renderer_options();
    MoteRenderer *renderer = NULL;
    check(mote_renderer_create(&best, &renderer));
    MoteBackendOptions options = mote_default_backend_options();
    options.shared_memory = mote_renderer_shared_memory(renderer);

    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    check(mote_scene_load(argv[1], NULL, 0, &scene));
    check(mote_simulation_create(scene, &options, &simulation));
    for (int frame = 0; frame < 30; frame++) {
        check(mote_simulation_advance_frame(simulation));
    }

    const MoteRenderMesh *meshes;
    uint32_t mesh_count;
    MoteRenderScene look;
    MotePicture picture = mote_default_picture();
    picture.width = 640;
    picture.height = 360;
    check(mote_simulation_render_meshes(simulation, &meshes, &mesh_count));
    check(mote_renderer_set_meshes(renderer, meshes, mesh_count));
    check(mote_simulation_render_scene(simulation, NULL, &look));
    check(mote_renderer_draw(renderer, mote_simulation_world(simulation), &look, &picture));

    uint8_t *pixels = malloc(4 * (size_t)picture.width * picture.height);
    if (pixels == NULL) {
        return 1;
    }
    check(mote_renderer_read_rgba8(renderer, pixels));
    if (!write_png(argv[2], &picture, pixels)) {
        fprintf(stderr, "render_frame: %s cannot be written\n", argv[2]);
        return 1;
    }
    printf("%u particles on %s, drawn by %s\n", (unsigned)mote_world_particle_count(mote_simulation_world(simulation)),
           mote_world_backend(mote_simulation_world(simulation)), mote_renderer_device(renderer)->name);
    free(pixels);
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
    mote_renderer_destroy(renderer);
    return 0;
}
