// SPDX-License-Identifier: MIT
// vulkan.h - Vulkan through volk, and VMA, as every file of the renderer includes them.
#ifndef MOTE_RENDER_VULKAN_H
#define MOTE_RENDER_VULKAN_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#define VMA_STATIC_VULKAN_FUNCTIONS  0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <vk_mem_alloc.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include "base/vulkan_result.h"

#endif
