// SPDX-License-Identifier: MIT
#include "cli/drawing.h"

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/options.h"
#include <stdio.h>
#include <string.h>

// A whole number at *text, which moves behind it.
static bool read_number(const char **text, uint32_t limit, uint32_t *out)
{
    const char *start = *text;
    uint64_t number = 0;
    while (**text >= '0' && **text <= '9' && number <= limit) {
        number = number * 10 + (uint64_t)(*(*text)++ - '0');
    }
    *out = (uint32_t)number;
    return *text > start && number <= limit;
}

static bool parse_size(const char *text, uint32_t *width, uint32_t *height)
{
    const uint32_t limit = 1u << 16; // what PNG and OpenEXR files are read up to; the device has a limit of its own
    return read_number(&text, limit, width) && *text++ == 'x' && read_number(&text, limit, height) && *text == '\0' &&
           *width > 0 && *height > 0;
}

const char *drawing_views(char text[DRAWING_VIEWS_SIZE])
{
    size_t length = 0;
    const char *name;
    for (uint32_t i = 0; (name = mote_render_view_name(i)) != NULL && length < DRAWING_VIEWS_SIZE; i++) {
        length += (size_t)snprintf(text + length, DRAWING_VIEWS_SIZE - length, "%s%s%s", i > 0 ? ", " : "", name,
                                   strcmp(name, "channel") == 0 ? ":NAME" : "");
    }
    return text;
}

static int check_view(const char *command, const char *view)
{
    enum { LIMIT = 64 };
    const char *names[LIMIT];
    uint32_t count = 0;
    if (view == NULL || strncmp(view, "channel:", 8) == 0) {
        return STATUS_FINE;
    }
    for (; count < LIMIT && mote_render_view_name(count) != NULL; count++) {
        names[count] = mote_render_view_name(count);
        if (strcmp(names[count], view) == 0 && strcmp(view, "channel") != 0) {
            return STATUS_FINE;
        }
    }
    char known[DRAWING_VIEWS_SIZE];
    const char *nearest = nearest_word(view, names, count);
    return usage_error(command, "--view: found '%s', expected one of %s%s%s%s", view, drawing_views(known),
                       nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "'?" : "");
}

int drawing_options_check(const char *command, DrawingOptions *options)
{
    static const char *const splats[] = {"auto", "compute", "quads"};
    if (!parse_size(options->size, &options->width, &options->height)) {
        return usage_error(command, "--size: found '%s', expected WIDTHxHEIGHT in pixels, as in 1280x720",
                           options->size);
    }
    options->renderer = mote_default_renderer_options();
    options->renderer.validate = options->validate;
    options->renderer.force_staging = options->no_share;
    const char *device = options->device;
    if (strcmp(device, "auto") != 0 && (!read_number(&device, 1023, &options->renderer.device) || *device != '\0')) {
        return usage_error(command, "--device: found '%s', expected auto or a number of `mote info`", options->device);
    }
    for (uint32_t i = 0; i < sizeof splats / sizeof splats[0]; i++) {
        if (strcmp(options->splat, splats[i]) == 0) {
            options->renderer.splat = (MoteSplatMethod)i;
        }
    }
    return check_view(command, options->view);
}

MoteBackendOptions drawing_backend(const MoteBackendOptions *asked, MoteRenderer *renderer)
{
    MoteBackendOptions options = *asked;
    if (strcmp(options.backend, "cpu") != 0) {
        options.shared_memory = mote_renderer_shared_memory(renderer);
    }
    return options;
}

MoteResult drawing_meshes(MoteSimulation *simulation, MoteRenderer *renderer)
{
    const MoteRenderMesh *meshes;
    uint32_t count;
    const MoteResult result = mote_simulation_render_meshes(simulation, &meshes, &count);
    return result == MOTE_OK ? mote_renderer_set_meshes(renderer, meshes, count) : result;
}
