// SPDX-License-Identifier: MIT
// interop.h - makes the solver's arrays accessible to the device: imported in place, shared through a file descriptor,
// or copied if neither is possible.
#ifndef MOTE_RENDER_INTEROP_H
#define MOTE_RENDER_INTEROP_H

#include "render/memory.h"

enum { INTEROP_LIMIT = 64 }; // arrays known at once; a world has about thirty

// Memory that was imported under its host address, or allocated for a GPU backend which named it by its own.
typedef struct KnownArray {
    const void *address;
    Buffer buffer;
} KnownArray;

typedef struct Interop {
    Device *device;
    bool force_staging;
    uint64_t layout; // of the world whose arrays are imported
    KnownArray imported[INTEROP_LIMIT];
    uint32_t imported_count;
    Buffer staging[INTEROP_LIMIT]; // one an array fetched in a frame
    uint32_t staging_used;
    const Buffer *borrowed[INTEROP_LIMIT]; // of the shared memory that this frame reads
    uint32_t borrowed_count;
    MoteInteropReport report; // of the frame so far

    MoteSharedMemory shared; // handed to GPU backends; its allocations are SharedArray
    struct SharedArray *allocations;
    struct SharedTimeline *timelines; // of the worlds made with it
    DeviceTimeline *timeline;         // of the world that is drawn, if it is one of them
} Interop;

MoteResult interop_create(Device *device, bool force_staging, Interop *out);
void interop_destroy(Interop *interop);

// Call once a frame, before the first fetch: drops imports of memory that the world has freed.
void interop_begin_frame(Interop *interop, const MoteRenderView *view);
// Where the device finds `array` of `world` during this frame; 0 if it is empty. world NULL: it is host memory.
MoteResult interop_fetch(Interop *interop, MoteWorld *world, const MoteRenderView *view, const MoteArray *array,
                         const char *name, VkDeviceAddress *out);

// Before the first commands of a frame that read what was fetched, and behind the last. Memory that another interface
// writes is its queues' until they are taken from it, and is given back.
void interop_acquire(const Interop *interop, VkCommandBuffer commands);
void interop_give_back(const Interop *interop, VkCommandBuffer commands);

#endif
