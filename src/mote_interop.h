// SPDX-License-Identifier: MIT
// mote_interop.h - a world's memory for other device interfaces and for code of the user's own.
//
// Three ways to reach a world's arrays without a copy: a renderer that shares its memory with the world
// (MoteSharedMemory), a look at the arrays between two steps (mote_world_render_view), and callbacks before and after
// each step (mote_world_set_step_callbacks). Addresses are the backend's: of host memory for "cpu", of the device for
// "cuda" and "vulkan".
#ifndef MOTE_INTEROP_H
#define MOTE_INTEROP_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Memory of another interface ---------------------------------------------------------------------------

// A timeline semaphore of a renderer's device, which synchronises a world and the renderer without the host. Its value
// only grows. Each submission to the device waits for `value`, signals the next value, and then stores that one in
// `value`. So every value stored here will be reached.
typedef struct MoteTimeline {
    uint64_t value;
} MoteTimeline;

// Memory of another device interface (mote_render.h: Vulkan) that a GPU backend can keep its arrays in, so that both
// read them in place. It must outlive the worlds made with it, and is called from their threads.
struct MoteSharedMemory {
    uint8_t device_uuid[16]; // only a backend on this very device may use it
    void *vulkan_device;     // of this library: the vulkan backend works on it, too, and needs nothing of what follows
    bool dedicated;          // each allocation belongs to its buffer alone: who imports it has to say so
    // An allocation of its own for one buffer of at least `bytes`, zeroed or not, that is `size` bytes long and
    // exported as an opaque file descriptor. The caller owns the descriptor it gets; false if there is no such memory.
    bool (*allocate)(MoteSharedMemory *memory, size_t bytes, int *descriptor, size_t *size, void **handle);
    // The address that the backend gave the allocation, for the other side to recognise it by.
    void (*name)(MoteSharedMemory *memory, void *handle, const void *address);
    void (*release)(MoteSharedMemory *memory, void *handle); // the backend has let go of it
    // A timeline for one world; NULL if there is none, and then the host waits. `descriptor` gets an opaque file
    // descriptor of it that the caller owns; it may be NULL for callers on vulkan_device. The function may be NULL.
    MoteTimeline *(*make_timeline)(MoteSharedMemory *memory, int *descriptor);
    void (*end_timeline)(MoteSharedMemory *memory, MoteTimeline *timeline); // the backend has let go of it
};

// ---- Memory that a renderer reads in place ------------------------------------------------------------------

typedef enum MoteMemoryKind {
    MOTE_MEMORY_HOST,    // ordinary memory in whole pages of 4096 bytes
    MOTE_MEMORY_SHARED,  // of MoteBackendOptions.shared_memory
    MOTE_MEMORY_DEVICE,  // addresses are those of the Vulkan device of MoteBackendOptions.shared_memory
    MOTE_MEMORY_PRIVATE, // the backend's own: to be copied with mote_world_copy_out
} MoteMemoryKind;

typedef struct MoteArray {
    const void *address; // as the backend has it, where the allocation begins; NULL if it has none
    size_t bytes;        // in use
    size_t capacity;     // bytes that may be read: of host memory whole pages
} MoteArray;

// In `handles` below: of a particle that is in no body. Row member_count + (handle - MOTE_HANDLE_SINGLE) of
// `handle_slots` is its own; that of a member is the handle itself. The value of a MoteParticleHandle is one more.
#define MOTE_HANDLE_SINGLE 0x80000000u

// Every array of a MoteRenderView as X(name), for programs that copy all of them. Arrays that the world does not have
// are empty.
#define MOTE_RENDER_ARRAYS(X)                                                                                          \
    X(positions)        /* vec4: x, y, z, inverse mass */                                                              \
    X(velocities)       /* vec4: x, y, z, density over rest density */                                                 \
    X(ids)              /* uint */                                                                                     \
    X(phases)           /* uint: MOTE_PHASE_* */                                                                       \
    X(neighbour_counts) /* uint, the particle itself not counted */                                                    \
    X(neighbour_starts) /* uint, in blocks of 8 entries of `neighbours` */                                             \
    X(neighbours)   /* uint, indices of particles: of those nearer than `smoothing_radius` when the step searched */   \
    X(handles)      /* uint a particle: its row of the member table; others are no members */                          \
    X(handle_slots) /* uint a member, then others: the index of its particle now, or MOTE_NONE if it is gone */        \
    X(diffuse_positions)  /* vec4 a slot of passive particles: x, y, z, remaining life (s); 0: nothing is there */     \
    X(diffuse_velocities) /* vec4: x, y, z, class: 0 spray, 1 foam, 2 bubble, or in between; 3 smoke */                \
    X(diffuse_ids)        /* uint */                                                                                   \
    X(diffuse_smoke)      /* vec4, of smoke: age, life when made (s; 0: endless), temperature (K above), amount */     \
    X(diffuse_counts)     /* uint: one more than the last slot in use, then what mote_world_diffuse_counts tells */    \
    X(member_clusters)    /* uint a member: the cluster whose rotation it follows */                                   \
    X(cluster_rotations)  /* vec4 a cluster: unit quaternion x, y, z, w */                                             \
    X(link_ends)          /* 2 uints a spring, links of cloth among them: handles as in `handles` */                   \
    X(link_laws)          /* vec4 a spring: its length at rest (m), and what the solver knows besides */               \
    X(cloth_handles)      /* uint a vertex of cloth: a handle as in `handles` */                                       \
    X(cloth_corners)      /* uint, 3 a triangle of cloth: its vertices, or MOTE_NONE where there is no triangle */     \
    X(cloth_of_triangles) /* uint a triangle: index of its cloth */                                                    \
    X(cloth_uvs)          /* float, 6 a triangle: u and v of each corner */                                            \
    X(cloth_fan_starts)   /* uint a vertex, and the end: where its triangles begin in `cloth_fans` */                  \
    X(cloth_fans)         /* uint, 3 a triangle: 3 times the triangle, and its corner there; ascending for a vertex */ \
    X(cloth_roots)        /* uint a vertex, of cloth that tears: whose triangles in `cloth_fans` it shares, or itself */

// The world's arrays in their spatial order, as of the last step. Addresses are valid until the next call that changes
// the world. `layout` changes whenever memory was allocated or freed: imports of these addresses must be dropped then.
// While it stays the same, a step only swaps arrays among the same few addresses.
typedef struct MoteRenderView {
    MoteMemoryKind memory; // of every array below
    const char *why;       // why it is MOTE_MEMORY_PRIVATE; "" otherwise
    const void *device;    // of MOTE_MEMORY_DEVICE: MoteSharedMemory.vulkan_device
    uint64_t layout;       // never the same for two worlds
    uint32_t particle_count;
    uint32_t dimensions;
    float spacing, smoothing_radius; // m
    MoteVec3 bounds_min, bounds_max; // m, corners of the box around the particles
    bool has_liquid;                 // whether there can be particles of MOTE_KIND_LIQUID
    bool has_solids;                 // whether there can be particles of other kinds
    float solid_radius;              // m, of a solid particle: half the distance that contacts keep
    uint32_t member_count;           // of bodies, in a table whose rows do not change when particles are sorted
    uint32_t cluster_count;          // of bodies
    uint32_t cloth_count, cloth_vertex_count, cloth_triangle_count;
    uint32_t link_count;       // springs
    uint32_t diffuse_capacity; // slots of passive particles
    MoteTimeline *timeline;    // of mote_world_hand_over: the arrays are ready at its value; NULL if they are already
#define MOTE_RENDER_ARRAY(name) MoteArray name;
    MOTE_RENDER_ARRAYS(MOTE_RENDER_ARRAY)
#undef MOTE_RENDER_ARRAY
} MoteRenderView;

// Waits for the backend. If the neighbour lists of the last step are out of date (particles were added, removed or
// written, or the smoothing radius changed), finds neighbours of the present positions. This does not change later
// steps.
MOTE_API MoteResult mote_world_render_view(MoteWorld *world, MoteRenderView *out);
// The same without waiting, where the world and the renderer whose memory it uses have a timeline. Work of the world
// that follows waits for the timeline's last value on the device, before it writes to the arrays.
MOTE_API MoteResult mote_world_hand_over(MoteWorld *world, MoteRenderView *out);
MOTE_API MoteResult mote_world_channel_array(MoteWorld *world, const char *name, MoteArray *out, uint32_t *components);
// Copies `bytes` from an address inside one of the arrays above to host memory, of whatever kind it is.
MOTE_API MoteResult mote_world_copy_out(MoteWorld *world, void *target, const void *address, size_t bytes);
// Copies from host memory to such an address, for callbacks (see below). Between steps use mote_world_write, which
// tells the world what has changed.
MOTE_API MoteResult mote_world_copy_in(MoteWorld *world, void *address, const void *source, size_t bytes);

// ---- Callbacks before and after a step ---------------------------------------------------------------------

// The argument of a callback: the arrays of all particles during the call, in their spatial order. Host memory of
// the "cpu" backend can be read and written in place. Addresses of "cuda" are for kernels on `stream`, which the step
// waits for; those of "vulkan" are buffer device addresses of `device`, whose work must be done when the callback
// returns. mote_world_copy_out and mote_world_copy_in work with all of them.
typedef struct MoteStepArrays {
    const char *backend;   // "cpu", "cuda", "vulkan"
    MoteMemoryKind memory; // of every array below
    const void *device;    // the VkDevice of "vulkan"; NULL otherwise
    void *stream;          // the cudaStream_t of "cuda", whose work so far comes before the callback's; NULL otherwise
    uint64_t step;         // steps that the world had done before this one
    float time_step;       // s
    uint32_t particle_count;
    float *positions;  // 4 a particle: x, y, z (m), inverse mass (1/kg), which must stay
    float *velocities; // 4 a particle: x, y, z (m/s), density over rest density
    float *predicted;  // 4 a particle: x, y, z (m) where constraints left it; after a step alone
    uint32_t *ids;     // to be read, as the phases
    uint32_t *phases;
} MoteStepArrays;

// Anything but MOTE_OK ends the steps with that result.
typedef MoteResult MoteStepCallback(void *context, MoteWorld *world, const MoteStepArrays *arrays);
// `before` comes before anything of a step has been done, and may change positions and velocities; `after` when all of
// it has, and may change velocities. Either may be NULL. While one is set, steps are run one by one: the host waits for
// each, also on a GPU. Within a callback only mote_world_copy_out and mote_world_copy_in may be called.
MOTE_API void mote_world_set_step_callbacks(MoteWorld *world, MoteStepCallback *before, MoteStepCallback *after,
                                            void *context);

#ifdef __cplusplus
}
#endif
#endif
