// finish.c - the last touches in the buffer that the host reads: edges smoothed (shaders/render/finish.comp), a debug
// view's legend on top (legend.comp).
#include "render/passes/finish.h"
#include "render/passes/views.h"

enum { SMOOTH, LEGEND };

// As legend.comp has it.
typedef struct Push {
    uint64_t panel;
    uint32_t left, top, width, height, scale;
} Push;

MoteResult finish_create(MoteRenderer *renderer, void **state)
{
    const SimpleShader shaders[] = {[SMOOTH] = {"finish.comp", {0}}, [LEGEND] = {"legend.comp", {0}}};
    return simple_pass_create(renderer, shaders, 2, state);
}

// Paints the legend and finds its place in the lower left corner.
static MoteResult place_legend(MoteRenderer *renderer, Buffer *buffer, Push *push)
{
    const Legend legend = view_legend(&renderer->frame);
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
    *push = (Push){.panel = buffer->address,
                   .left = margin * scale,
                   .top = renderer->height - (margin + panel.height) * scale,
                   .width = panel.width,
                   .height = panel.height,
                   .scale = scale};
    return MOTE_OK;
}

MoteResult finish_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    Push push = {0};
    const MoteResult result = place_legend(renderer, &pass->buffer, &push);
    if (result != MOTE_OK) {
        return result;
    }
    if (picture_is_smoothed(&renderer->frame)) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[SMOOTH], NULL, 0);
        dispatch_rows(renderer, commands);
    }
    if (push.width > 0) {
        pass_compute_barrier(commands);
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[LEGEND], &push, sizeof push);
        pass_dispatch_pixels(commands, push.width * push.scale, push.height * push.scale);
    }
    return MOTE_OK;
}

void finish_destroy(MoteRenderer *renderer, void *state)
{
    simple_pass_destroy(renderer, state);
}
