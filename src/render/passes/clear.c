// clear.c - empties what the splats then fill: no depth, nobody in front, no thickness.
#include "render/renderer.h"

static void clear_image(MoteRenderer *renderer, VkCommandBuffer commands, Resource image, uint32_t value)
{
    const VkClearColorValue color = {.uint32 = {value, value, value, value}};
    const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands, renderer->images[image].handle, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &whole);
}

MoteResult clear_create(MoteRenderer *renderer, void **state)
{
    return simple_pass_create(renderer, NULL, 0, state); // for its buffer, thickness_sums
}

MoteResult clear_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    FrameConstants *constants = &renderer->frame.constants;
    const Picture *half = &renderer->images[RESOURCE_thickness];
    const size_t bytes = (size_t)half->width * half->height * constants->thickness_channels * sizeof(uint32_t);
    const MoteResult result = buffer_reserve(&renderer->device, "thickness_sums", BUFFER_DEVICE, bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    constants->thickness_sums = pass->buffer.address;
    vkCmdFillBuffer(commands, pass->buffer.handle, 0, bytes, 0);
    clear_image(renderer, commands, RESOURCE_surface_depth, NO_DEPTH);
    clear_image(renderer, commands, RESOURCE_surface_index, 0);
    return MOTE_OK;
}

void clear_destroy(MoteRenderer *renderer, void *state)
{
    simple_pass_destroy(renderer, state);
}
