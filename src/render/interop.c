// SPDX-License-Identifier: MIT
#include "render/interop.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Memory for GPU backends -------------------------------------------------------------------------------

// In a list, because a backend asks for each by its handle and the renderer by the backend's address.
typedef struct SharedArray {
    KnownArray known;
    struct SharedArray *next;
} SharedArray;

static Interop *interop_of(MoteSharedMemory *memory)
{
    return (Interop *)((char *)memory - offsetof(Interop, shared));
}

static bool shared_allocate(MoteSharedMemory *memory, size_t bytes, int *descriptor, size_t *size, void **handle)
{
    Interop *interop = interop_of(memory);
    SharedArray *array = calloc(1, sizeof *array);
    if (array == NULL || !buffer_create_exported(interop->device, bytes, &array->known.buffer, size, descriptor)) {
        free(array);
        return false;
    }
    array->next = interop->allocations;
    interop->allocations = array;
    *handle = array;
    return true;
}

static void shared_name(MoteSharedMemory *memory, void *handle, const void *address)
{
    (void)memory;
    ((SharedArray *)handle)->known.address = address;
}

static void shared_release(MoteSharedMemory *memory, void *handle)
{
    Interop *interop = interop_of(memory);
    for (SharedArray **link = &interop->allocations; *link != NULL; link = &(*link)->next) {
        if (*link == handle) {
            SharedArray *array = *link;
            *link = array->next;
            buffer_destroy(interop->device, &array->known.buffer);
            free(array);
            return;
        }
    }
    MOTE_ASSERT(!"memory of this renderer");
}

// A world's timeline: in a list too, so that a timeline of another renderer is not taken for one of this.
typedef struct SharedTimeline {
    DeviceTimeline timeline; // first member
    struct SharedTimeline *next;
} SharedTimeline;

static MoteTimeline *shared_make_timeline(MoteSharedMemory *memory, int *descriptor)
{
    Interop *interop = interop_of(memory);
    SharedTimeline *made = calloc(1, sizeof *made);
    if (made == NULL || !device_make_timeline(interop->device, &made->timeline, descriptor)) {
        free(made);
        return NULL;
    }
    made->next = interop->timelines;
    interop->timelines = made;
    return &made->timeline.shared;
}

static void shared_end_timeline(MoteSharedMemory *memory, MoteTimeline *timeline)
{
    Interop *interop = interop_of(memory);
    for (SharedTimeline **link = &interop->timelines; *link != NULL; link = &(*link)->next) {
        if (&(*link)->timeline.shared == timeline) {
            SharedTimeline *ended = *link;
            *link = ended->next;
            device_end_timeline(interop->device, &ended->timeline);
            free(ended);
            return;
        }
    }
    MOTE_ASSERT(!"a timeline of this renderer");
}

// ---- Life --------------------------------------------------------------------------------------------------

MoteResult interop_create(Device *device, bool force_staging, Interop *out)
{
    memset(out, 0, sizeof *out);
    out->device = device;
    out->force_staging = force_staging;
    memcpy(out->shared.device_uuid, device->uuid, sizeof out->shared.device_uuid);
    out->shared.vulkan_device = device;
    out->shared.dedicated = true; // as buffer_create_exported makes them
    out->shared.allocate = shared_allocate;
    out->shared.name = shared_name;
    out->shared.release = shared_release;
    out->shared.make_timeline = shared_make_timeline;
    out->shared.end_timeline = shared_end_timeline;
    return MOTE_OK;
}

static void forget_imports(Interop *interop)
{
    for (uint32_t i = 0; i < interop->imported_count; i++) {
        buffer_destroy(interop->device, &interop->imported[i].buffer);
    }
    interop->imported_count = 0;
}

void interop_destroy(Interop *interop)
{
    if (interop->device == NULL) {
        return;
    }
    forget_imports(interop);
    for (uint32_t i = 0; i < INTEROP_LIMIT; i++) {
        buffer_destroy(interop->device, &interop->staging[i]);
    }
    MOTE_ASSERT(interop->allocations == NULL &&
                interop->timelines == NULL); // worlds are destroyed before the renderer whose memory they use
}

// ---- A frame -----------------------------------------------------------------------------------------------

void interop_begin_frame(Interop *interop, const MoteRenderView *view)
{
    if (interop->layout != view->layout) {
        forget_imports(interop);
        interop->layout = view->layout;
    }
    interop->staging_used = 0;
    interop->borrowed_count = 0;
    interop->timeline = NULL;
    for (SharedTimeline *t = interop->timelines; t != NULL; t = t->next) {
        interop->timeline = &t->timeline.shared == view->timeline ? &t->timeline : interop->timeline;
    }
    interop->report = (MoteInteropReport){
        .path = "staging", .why = "", .order = interop->timeline != NULL ? "timeline semaphore" : "host"};
}

static const Buffer *import_host(Interop *interop, const MoteArray *array)
{
    for (uint32_t i = 0; i < interop->imported_count; i++) {
        if (interop->imported[i].address == array->address) {
            return &interop->imported[i].buffer;
        }
    }
    if (interop->imported_count == INTEROP_LIMIT) {
        return NULL;
    }
    KnownArray *known = &interop->imported[interop->imported_count];
    // The device only reads it; Vulkan has no way to say so.
    if (!buffer_import_host(interop->device, (void *)(uintptr_t)array->address, array->capacity, &known->buffer)) {
        return NULL;
    }
    known->address = array->address;
    interop->imported_count++;
    return &known->buffer;
}

static const Buffer *find_shared(const Interop *interop, const MoteArray *array)
{
    for (const SharedArray *a = interop->allocations; a != NULL; a = a->next) {
        if (a->known.address == array->address) {
            return &a->known.buffer;
        }
    }
    return NULL;
}

// The array in place, or NULL and the reason in the report.
static const Buffer *find_in_place(Interop *interop, const MoteRenderView *view, const MoteArray *array)
{
    MoteInteropReport *report = &interop->report;
    const Buffer *found = NULL;
    if (interop->force_staging) {
        report->why = "copies were asked for";
    } else if (view->memory == MOTE_MEMORY_DEVICE) {
        report->why = "the world is on another renderer's device";
    } else if (view->memory == MOTE_MEMORY_SHARED) {
        found = find_shared(interop, array);
        if (found != NULL && interop->borrowed_count < INTEROP_LIMIT) {
            interop->borrowed[interop->borrowed_count++] = found;
        }
        report->path = found != NULL ? "shared memory" : report->path;
        report->why = found != NULL ? report->why : "the world's memory belongs to another renderer";
    } else if (view->memory == MOTE_MEMORY_HOST && !interop->device->info.imports_host_memory) {
        report->why = "the device lacks VK_EXT_external_memory_host";
    } else if (view->memory == MOTE_MEMORY_HOST &&
               ((uintptr_t)array->address | array->capacity) % interop->device->host_import_alignment != 0) {
        report->why = "the device wants host memory aligned more than to pages";
    } else if (view->memory == MOTE_MEMORY_HOST) {
        found = import_host(interop, array);
        report->path = found != NULL ? "host import" : report->path;
        report->why = found != NULL ? report->why : "the driver refused to import host memory";
    } else {
        report->why = view->why[0] != '\0' ? view->why : "the world was made without the renderer's memory";
    }
    return found;
}

MoteResult interop_fetch(Interop *interop, MoteWorld *world, const MoteRenderView *view, const MoteArray *array,
                         const char *name, VkDeviceAddress *out)
{
    *out = 0;
    if (array->bytes == 0) {
        return MOTE_OK;
    }
    if (view->memory == MOTE_MEMORY_DEVICE && view->device == interop->device && !interop->force_staging) {
        interop->report.path = "same device";
        interop->report.bytes_shared += array->bytes;
        *out = (VkDeviceAddress)(uintptr_t)array->address;
        return MOTE_OK;
    }
    const Buffer *found = find_in_place(interop, view, array);
    if (found != NULL) {
        interop->report.bytes_shared += array->bytes;
        *out = found->address;
        return MOTE_OK;
    }
    MOTE_ASSERT(interop->staging_used < INTEROP_LIMIT);
    Buffer *copy = &interop->staging[interop->staging_used];
    MoteResult result = buffer_reserve(interop->device, name, BUFFER_UPLOAD, array->bytes, copy);
    if (result != MOTE_OK) {
        return result;
    }
    interop->staging_used++;
    if (world == NULL) { // the caller's own host memory
        memcpy(copy->mapped, array->address, array->bytes);
    } else {
        result = mote_world_copy_out(world, copy->mapped, array->address, array->bytes);
    }
    if (result != MOTE_OK) {
        return result;
    }
    buffer_flush(interop->device, copy);
    interop->report.bytes_copied += array->bytes;
    *out = copy->address;
    return MOTE_OK;
}

// ---- Ownership ---------------------------------------------------------------------------------------------

// Vulkan 1.3, 7.7.4: buffers of exclusive sharing mode whose memory another interface has written. The semaphore or the
// host's wait before has made the writes available; the host's access masks of the other side do not matter.
static void transfer(const Interop *interop, VkCommandBuffer commands, bool to_device)
{
    VkBufferMemoryBarrier2 barriers[INTEROP_LIMIT];
    const uint32_t family = interop->device->queue_family;
    for (uint32_t i = 0; i < interop->borrowed_count; i++) {
        barriers[i] = (VkBufferMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
            .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .dstAccessMask = to_device ? VK_ACCESS_2_MEMORY_READ_BIT : 0,
            .srcQueueFamilyIndex = to_device ? VK_QUEUE_FAMILY_EXTERNAL : family,
            .dstQueueFamilyIndex = to_device ? family : VK_QUEUE_FAMILY_EXTERNAL,
            .buffer = interop->borrowed[i]->handle,
            .size = VK_WHOLE_SIZE,
        };
    }
    if (interop->borrowed_count > 0) {
        const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                             .bufferMemoryBarrierCount = interop->borrowed_count,
                                             .pBufferMemoryBarriers = barriers};
        vkCmdPipelineBarrier2(commands, &dependency);
    }
}

void interop_acquire(const Interop *interop, VkCommandBuffer commands)
{
    transfer(interop, commands, true);
}

void interop_give_back(const Interop *interop, VkCommandBuffer commands)
{
    transfer(interop, commands, false);
}
