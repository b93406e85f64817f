// SPDX-License-Identifier: MIT
// antialias.c - writes the buffer that the host reads: smooths edges (shaders/render/antialias.comp) and blends the
// legend of a debug view over the picture (legend.comp).
#include "passes/antialias.h"
#include "render/passes/antialias.h"
#include "render/passes/views.h"

enum { SMOOTH, LEGEND };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[] = {[SMOOTH] = {"antialias.comp", {0}}, [LEGEND] = {"legend.comp", {0}}};
    return simple_pass_create(renderer, state, shaders, 2);
}

// Paints the legend and finds its place in the lower left corner.
static MoteResult place_legend(MoteRenderer *renderer, Buffer *buffer, AntialiasConstants *constants)
{
    const Legend legend = view_legend(renderer);
    if (legend.title[0] == '\0') {
        return MOTE_OK;
    }
    const size_t bytes = (size_t)PANEL_MAX_WIDTH * PANEL_MAX_HEIGHT * sizeof(uint32_t);
    const MoteResult result = buffer_reserve(&renderer->device, "legend", BUFFER_UPLOAD, bytes, buffer);
    if (result != MOTE_OK) {
        return result;
    }
    // Never more than half of the picture's height: it is there for what is behind the legend.
    const uint32_t scale = legend_scale(renderer->height), margin = 4;
    const uint32_t columns = renderer->width / scale, rows = renderer->height / scale;
    Panel panel = {.pixels = buffer->mapped};
    legend_paint(&legend, columns > 2 * margin ? columns - 2 * margin : 0, rows / 2, &panel);
    buffer_flush(&renderer->device, buffer);
    *constants = (AntialiasConstants){.panel = buffer->address,
                                      .left = margin * scale,
                                      .top = renderer->height - (margin + panel.height) * scale,
                                      .width = panel.width,
                                      .height = panel.height,
                                      .scale = scale};
    return MOTE_OK;
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    AntialiasConstants constants = {0};
    const MoteResult result = place_legend(renderer, &pass->buffer, &constants);
    if (result != MOTE_OK) {
        return result;
    }
    if (picture_is_smoothed(&renderer->frame)) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[SMOOTH], NULL, 0);
        dispatch_rows(renderer, commands);
    }
    if (constants.width > 0) {
        pass_constants(renderer, &constants, sizeof constants);
        pass_compute_barrier(commands);
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[LEGEND], NULL, 0);
        pass_dispatch_pixels(commands, constants.width * constants.scale, constants.height * constants.scale);
    }
    return MOTE_OK;
}

const Pass antialias_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
