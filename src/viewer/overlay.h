// SPDX-License-Identifier: MIT
// overlay.h - draws textured triangles over the window: the scene's picture, the panel, the help.
#ifndef MOTE_VIEWER_OVERLAY_H
#define MOTE_VIEWER_OVERLAY_H

#include "viewer/draw_list.h"
#include "viewer/gpu.h"

enum { OVERLAY_TEXTURES = 64 };
// Between pixels, or the nearest one, which is a quarter of the work for software drivers: enough where a picture's
// pixels are the window's, as those of the letters are.
enum { OVERLAY_SMOOTH, OVERLAY_NEAREST, OVERLAY_FILTERS };
enum { OVERLAY_BLENDED, OVERLAY_OPAQUE, OVERLAY_PIPELINES };

typedef struct Texture {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkDescriptorSet sets[OVERLAY_FILTERS];
    VkFormat format;
    uint32_t width, height; // 0: the slot is free
    bool fresh;             // nothing was copied into it yet
} Texture;

typedef struct Overlay {
    Gpu *gpu;
    VkSampler samplers[OVERLAY_FILTERS];
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkPipelineLayout layout;
    VkPipeline pipelines[OVERLAY_PIPELINES];
    VkFormat format; // that the pipelines were made for
    GpuBuffer vertices, indices, staging;
    Texture textures[OVERLAY_TEXTURES];
    struct {
        uint32_t texture;
        size_t offset;
    } uploads[OVERLAY_TEXTURES]; // of the next frame
    uint32_t upload_count;
    size_t staging_used;
} Overlay;

MoteResult overlay_create(Gpu *gpu, Overlay *out);
void overlay_destroy(Overlay *overlay);

// Puts RGBA pixels, rows without gaps, into texture `slot`, which becomes of that size. They are copied at once.
MoteResult overlay_set_texture(Overlay *overlay, uint32_t slot, uint32_t width, uint32_t height, const uint8_t *pixels);
void overlay_free_texture(Overlay *overlay, uint32_t slot);

// Draws the list and shows the window. *shown is false where there was nothing to draw to.
MoteResult overlay_show(Overlay *overlay, const DrawList *list, bool *shown);

#endif
