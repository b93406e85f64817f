// SPDX-License-Identifier: MIT
// vulkan_start.h - what the renderer's device and the one of the viewer's window have in common before they are made:
// the validation layers, extensions, and which of several devices is the better one. To be included after Vulkan, whose
// functions each of the two has its own way to.
#ifndef MOTE_BASE_VULKAN_START_H
#define MOTE_BASE_VULKAN_START_H

#include "base/error.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VULKAN_VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

// An error if validation is asked for where its layer is not installed.
static inline MoteResult vulkan_check_validation(bool validate, PFN_vkEnumerateInstanceLayerProperties list)
{
    VkLayerProperties rows[64];
    uint32_t count = validate ? 64 : 0;
    if (validate) {
        list(&count, rows);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].layerName, VULKAN_VALIDATION_LAYER) == 0) {
            return MOTE_OK;
        }
    }
    return !validate ? MOTE_OK
                     : mote_fail(MOTE_ERROR_UNAVAILABLE, "validation was asked for, but " VULKAN_VALIDATION_LAYER
                                                         " is not installed: install vulkan-validationlayers");
}

// What an instance is made with to be validated: `chain` goes into its pNext, and `messages` also makes the messenger
// that listens while it lives.
typedef struct VulkanValidation {
    VkDebugUtilsMessengerCreateInfoEXT messages;
    VkValidationFeaturesEXT chain;
} VulkanValidation;

static inline void vulkan_describe_validation(VulkanValidation *out, PFN_vkDebugUtilsMessengerCallbackEXT callback,
                                              void *user)
{
    static const VkValidationFeatureEnableEXT checks[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    out->messages = (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT, // loaders tell of drivers that do not fit, too
        .pfnUserCallback = callback,
        .pUserData = user};
    out->chain = (VkValidationFeaturesEXT){.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                           .pNext = &out->messages,
                                           .enabledValidationFeatureCount = 1,
                                           .pEnabledValidationFeatures = checks};
}

static inline bool vulkan_has_extension(PFN_vkEnumerateDeviceExtensionProperties list, VkPhysicalDevice physical,
                                        const char *name)
{
    uint32_t count = 0;
    list(physical, NULL, &count, NULL);
    VkExtensionProperties *rows = calloc(count > 0 ? count : 1, sizeof *rows);
    bool found = false;
    if (rows != NULL && list(physical, NULL, &count, rows) == VK_SUCCESS) {
        for (uint32_t i = 0; i < count; i++) {
            found = found || strcmp(rows[i].extensionName, name) == 0;
        }
    }
    free(rows);
    return found;
}

// The higher, the better; never 0.
static inline int vulkan_rank(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    default:
        return 1;
    }
}

#endif
