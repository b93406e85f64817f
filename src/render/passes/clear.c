// SPDX-License-Identifier: MIT
// clear.c - clears the depth and ids that the splat pass writes.
#include "render/renderer.h"

static void clear_image(MoteRenderer *renderer, VkCommandBuffer commands, Resource image, uint32_t value)
{
    const VkClearColorValue color = {.uint32 = {value, value, value, value}};
    const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdClearColorImage(commands, renderer->images[image].handle, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &whole);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    (void)state;
    if (!renderer->compute_splat || !renderer->frame.liquid) { // compute splats overwrite every pixel
        clear_image(renderer, commands, RESOURCE_surface_depth, NO_DEPTH);
        clear_image(renderer, commands, RESOURCE_surface_index, 0);
    }
    return MOTE_OK;
}

const Pass clear_pass = {.record = record};
