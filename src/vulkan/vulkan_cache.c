// SPDX-License-Identifier: MIT
// vulkan_cache.c - compiled pipelines in the user's cache folder, so that the next run need not compile them.
#define _POSIX_C_SOURCE 200809L
#include "vulkan/vulkan_backend.h"

#include "base/file.h"
#include "base/hash.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, CACHE_LIMIT = 64 << 20 }; // bytes

// $XDG_CACHE_HOME/mote/pipelines-UUID, a file a driver and device: they change the UUID when compiled code changes.
static bool cache_path(Device *device, bool make_folder, char path[PATH_SIZE])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(path, PATH_SIZE, "%s/mote", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(path, PATH_SIZE, "%s/.cache/mote", home);
    } else {
        return false;
    }
    if (length < 0 || length > PATH_SIZE - 64 || (make_folder && file_make_folder(path) != MOTE_OK)) {
        return false;
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(device->physical, &properties);
    length += snprintf(path + length, (size_t)(PATH_SIZE - length), "/pipelines-");
    for (size_t i = 0; i < VK_UUID_SIZE; i++) {
        length += snprintf(path + length, (size_t)(PATH_SIZE - length), "%02x", properties.pipelineCacheUUID[i]);
    }
    return true;
}

// Whether the driver that wrote it is this one; drivers check more than that, but not all of them check.
static bool is_usable(Device *device, const char *bytes, size_t size)
{
    VkPipelineCacheHeaderVersionOne header;
    if (size < sizeof header) {
        return false;
    }
    memcpy(&header, bytes, sizeof header);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(device->physical, &properties);
    return header.headerSize == sizeof header && header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           header.vendorID == properties.vendorID && header.deviceID == properties.deviceID &&
           memcmp(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

// A file is the hash of the rest, then what the driver gave.
VkResult vulkan_cache_open(Device *device, VkPipelineCache *out, uint64_t *hash)
{
    char path[PATH_SIZE], *bytes = NULL;
    size_t size = 0;
    uint64_t stored = 0;
    const bool found =
        cache_path(device, false, path) && file_read(path, CACHE_LIMIT, &bytes, &size) == MOTE_OK && size > 8;
    if (found) {
        memcpy(&stored, bytes, 8);
    }
    const bool usable =
        found && hash_bytes(HASH_START, bytes + 8, size - 8) == stored && is_usable(device, bytes + 8, size - 8);
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = usable ? size - 8 : 0,
                                            .pInitialData = usable ? bytes + 8 : NULL};
    const VkResult result = MADE(vkCreatePipelineCache(device->handle, &info, NULL, out), out);
    *hash = usable ? stored : 0;
    free(bytes);
    return result;
}

void vulkan_cache_write(Device *device, const void *bytes, size_t size)
{
    const uint64_t hash = hash_bytes(HASH_START, bytes, size);
    char path[PATH_SIZE];
    FileWriter writer;
    if (cache_path(device, true, path) && file_writer_open(&writer, path) == MOTE_OK) {
        fwrite(&hash, sizeof hash, 1, writer.stream);
        fwrite(bytes, 1, size, writer.stream);
        file_writer_commit(&writer);
    }
}

void vulkan_cache_save(Device *device, VkPipelineCache cache, uint64_t hash)
{
    size_t size = 0;
    if (vkGetPipelineCacheData(device->handle, cache, &size, NULL) != VK_SUCCESS ||
        size <= sizeof(VkPipelineCacheHeaderVersionOne)) {
        return; // the driver keeps its own, or nothing
    }
    char *bytes = malloc(size);
    if (bytes != NULL && vkGetPipelineCacheData(device->handle, cache, &size, bytes) == VK_SUCCESS &&
        hash_bytes(HASH_START, bytes, size) != hash) {
        vulkan_cache_write(device, bytes, size);
    }
    free(bytes);
}
