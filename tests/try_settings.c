// SPDX-License-Identifier: MIT
// try_settings.c - many runs of tools/extremes in one process, which takes a twentieth of the time: try_settings
// BACKEND Reads a case a line from standard input, fields with tabs between: simulate or render, the scene, a camera or
// "", and settings as of --set. Ends each with a line on standard output: "= fine", "= refused", "= unstable", "= slow"
// or
// "= failed", and why.
#define _POSIX_C_SOURCE 200809L
#include "mote.h"
#include "mote_render.h"
#include "particle_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIELDS = 32, WIDTH = 96, HEIGHT = 64, FRAMES = 3, FRAMES_BEFORE_PICTURE = 2 };

typedef struct Case {
    bool draws;
    const char *scene, *camera;
    const char *settings[FIELDS];
    uint32_t setting_count;
} Case;

typedef struct Tool {
    MoteBackendOptions backend;
    MoteRenderer *renderer; // made with the first picture
    MoteWorld *kept;        // a device's kernels are compiled once for all its worlds, and go with the last of them
    double begin;           // s of CPU time, when the case began
} Tool;

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_slow(void *context)
{
    const double patience = 30.0; // s of CPU time
    return processor_seconds() - ((const Tool *)context)->begin > patience;
}

// ---- What came out ----

static size_t not_finite(const float *values, size_t count, bool infinity_allowed)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += !isfinite(values[i]) && !(infinity_allowed && values[i] == INFINITY);
    }
    return wrong;
}

// Says what is wrong, if something is.
static bool particles_are_finite(MoteWorld *world)
{
    MoteParticleView view;
    MoteStatistics s;
    if (read_particles(world, &view) != MOTE_OK || mote_world_statistics(world, &s) != MOTE_OK) {
        printf("= failed reading: %s\n", mote_error_message());
        return false;
    }
    const size_t numbers = 4 * (size_t)mote_world_particle_count(world);
    const size_t wrong = not_finite(view.positions, numbers, false) + not_finite(view.velocities, numbers, false);
    if (wrong > 0) {
        printf("= failed %zu numbers of particles are not finite\n", wrong);
        return false;
    }
    if (!isfinite(s.kinetic_energy + s.potential_energy + s.density_mean + s.mass + s.momentum[0] +
                  s.angular_momentum[0] + s.centre_of_mass[0])) {
        printf("= failed statistics are not finite\n");
        return false;
    }
    return true;
}

static bool layers_are_finite(MoteRenderer *renderer)
{
    static float values[4 * WIDTH * HEIGHT];
    uint32_t components;
    for (uint32_t i = 0; mote_render_layer_name(i, &components) != NULL; i++) {
        const char *name = mote_render_layer_name(i, &components);
        if (mote_renderer_read_layer(renderer, name, values) != MOTE_OK) {
            printf("= failed reading %s: %s\n", name, mote_error_message());
            return false;
        }
        const bool bits = strcmp(name, "id") == 0; // whole numbers in floats
        const size_t wrong =
            bits ? 0 : not_finite(values, (size_t)components * WIDTH * HEIGHT, strcmp(name, "depth") == 0);
        if (wrong > 0) {
            printf("= failed %zu values of %s are not finite\n", wrong, name);
            return false;
        }
    }
    return true;
}

// ---- A case ----

static MoteResult draw(Tool *tool, const Case *c, MoteSimulation *simulation)
{
    const MoteRendererOptions options = mote_default_renderer_options();
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true};
    const MoteRenderMesh *meshes;
    uint32_t count;
    MoteRenderScene look;
    MoteResult result = tool->renderer == NULL ? mote_renderer_create(&options, &tool->renderer) : MOTE_OK;
    result = result == MOTE_OK ? mote_simulation_render_meshes(simulation, &meshes, &count) : result;
    result = result == MOTE_OK ? mote_renderer_set_meshes(tool->renderer, meshes, count) : result;
    result = result == MOTE_OK
                 ? mote_simulation_render_scene(simulation, c->camera[0] != '\0' ? c->camera : NULL, &look)
                 : result;
    return result == MOTE_OK ? mote_renderer_draw(tool->renderer, mote_simulation_world(simulation), &look, &picture)
                             : result;
}

static void try_case(Tool *tool, const Case *c)
{
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    bool began = false;
    tool->begin = processor_seconds();
    MoteResult result = mote_scene_load(c->scene, c->settings, c->setting_count, &scene);
    result = result == MOTE_OK ? mote_simulation_create(scene, &tool->backend, &simulation) : result;
    for (int i = 0; i < (c->draws ? FRAMES_BEFORE_PICTURE : FRAMES) && result == MOTE_OK; i++) {
        began = true;
        result = mote_simulation_advance_frame(simulation);
    }
    result = result == MOTE_OK && c->draws ? draw(tool, c, simulation) : result;
    if (result == MOTE_ERROR_STOPPED) {
        printf("= slow\n");
    } else if (result != MOTE_OK) {
        char message[400];
        snprintf(message, sizeof message, "%s", mote_error_message());
        printf("= %s %s\n",
               message[0] == '\0' ? "failed without an error's sentence"
               : began            ? "unstable"
                                  : "refused",
               strtok(message, "\n") != NULL ? message : "");
    } else if (particles_are_finite(mote_simulation_world(simulation)) &&
               (!c->draws || layers_are_finite(tool->renderer))) {
        printf("= fine\n");
    }
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
}

// Tells fields apart, empty ones, too. Changes the line.
static bool read_case(char *line, Case *out)
{
    char *fields[FIELDS + 3];
    uint32_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *rest = line; rest != NULL && count < FIELDS + 3;) {
        fields[count++] = rest;
        rest = strchr(rest, '\t');
        if (rest != NULL) {
            *rest++ = '\0';
        }
    }
    if (count < 3) {
        return false;
    }
    *out = (Case){.draws = strcmp(fields[0], "render") == 0, .scene = fields[1], .camera = fields[2]};
    for (uint32_t i = 3; i < count; i++) {
        out->settings[out->setting_count++] = fields[i];
    }
    return true;
}

int main(int argc, char **argv)
{
    Tool tool = {.backend = {.backend = argc > 1 ? argv[1] : "cpu", .threads = 1}};
    const MoteSettings settings = mote_default_settings();
    char *line = NULL;
    size_t room = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (mote_world_create(&settings, &tool.backend, &tool.kept) != MOTE_OK) {
        fprintf(stderr, "try_settings: %s\n", mote_error_message());
        return 1;
    }
    mote_stop_when(is_slow, &tool);
    Case c;
    while (getline(&line, &room, stdin) > 0 && read_case(line, &c)) {
        try_case(&tool, &c);
    }
    mote_stop_when(NULL, NULL);
    free(line);
    mote_world_destroy(tool.kept);
    mote_renderer_destroy(tool.renderer);
    return 0;
}
