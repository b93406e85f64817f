// SPDX-License-Identifier: MIT
// backend.h - the interface of a backend: memory, launching kernels, sort, scan and bounding boxes.
#ifndef MOTE_SOLVER_BACKEND_H
#define MOTE_SOLVER_BACKEND_H

#include "mote_interop.h"
#include "kernels/data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum KernelId {
#define KERNEL_ROW(name, stage, count) KERNEL_ID_##name,
#include "kernels/kernels.def"
    KERNEL_COUNT,
    // Backend functions that are timed like kernels.
    PRIMITIVE_SORT = KERNEL_COUNT,
    PRIMITIVE_SCAN,
    PRIMITIVE_BOUNDS,
    PRIMITIVE_LISTS,
    TIMER_COUNT
} KernelId;

// Invocations of a kernel: the count column of kernels.def.
uint32_t kernel_invocations(KernelId kernel, const SolverData *view);

typedef struct Timer {
    double milliseconds;
    uint64_t launches, invocations;
} Timer;

typedef struct Backend Backend;

#define HOST_PAGE 4096 // bytes: what graphics devices import host memory in

// Pointers to buffers are addresses of the backend's device: only its functions may dereference them.
typedef struct BackendFunctions {
    const char *name;
    bool speculates; // launches wait and reading is slow: the step speculates on numbers that it would have to read
    void (*destroy)(Backend *backend);

    // Memory is zeroed and aligned to 64 bytes; host memory comes in whole pages. NULL when there is none left.
    void *(*allocate)(Backend *backend, size_t bytes);
    void (*release)(Backend *backend, void *address, size_t bytes);
    void (*upload)(Backend *backend, void *target, const void *source, size_t bytes);
    void (*download)(Backend *backend, void *target, const void *source, size_t bytes); // waits for all before it
    void (*copy)(Backend *backend, void *target, const void *source, size_t bytes);     // between buffers
    // The kind of memory, and the reason if it cannot be shared with the renderer.
    uint32_t (*memory_kind)(const Backend *backend, const char **why);
    const void *(*memory_device)(const Backend *backend); // of MOTE_MEMORY_DEVICE; NULL where it never is
    // For code of users: the cudaStream_t of all work, or the VkDevice; NULL where there is none.
    void *(*native_handle)(Backend *backend);

    // May be NULL. What follows is a step, likely to have the launches of the last one: until the next call, or until
    // the host wants something, it may be collected.
    void (*begin_step)(Backend *backend);
    void (*launch)(Backend *backend, KernelId kernel, const SolverData *view);

    // Stable, ascending by key; `scratch` has 16 bytes an element.
    void (*sort)(Backend *backend, u64 *keys, uint *values, uint32_t count, void *scratch);
    // values[i] becomes the sum of the values before i, values[count] the sum of all: it holds count + 1.
    void (*scan)(Backend *backend, uint *values, uint32_t count);
    // Smallest and largest x, y, z of those `points` whose w is not below 0 into bounds[0] and bounds[1].
    void (*find_bounds)(Backend *backend, const vec4 *points, uint32_t count, vec4 *bounds);

    // May be NULL. Does the work of count_neighbours, scan and fill_neighbours at once, into `capacity` entries. If it
    // returns false (the lists do not fit, or the backend prefers the kernels), the step runs these three instead.
    bool (*build_lists)(Backend *backend, const SolverData *view, uint32_t capacity);
    // May be NULL. As count_neighbours and fill_neighbours, of particles that few others are near to, and without
    // cells. If the first returns false, the step makes cells, and the lists by them.
    bool (*count_sparse)(Backend *backend, const SolverData *view);
    void (*fill_sparse)(Backend *backend, const SolverData *view);

    void (*wait)(Backend *backend);
    // May be NULL. Returns a timeline whose value signals that all work so far is done, for readers of the buffers on
    // the device; NULL where there is none. The backend's next work waits on the device for values added by others.
    MoteTimeline *(*hand_over)(Backend *backend);
    // The first failure since creation (out of memory, device lost), or NULL.
    const char *(*failure)(const Backend *backend);
    void (*read_timers)(Backend *backend, Timer timers[TIMER_COUNT]);
    void (*reset_timers)(Backend *backend);
} BackendFunctions;

// The first member of every backend's own struct.
struct Backend {
    const BackendFunctions *functions;
    uint64_t waits; // times that the host stood still for the device
};

// ---- Registry (backends.c) ----

typedef struct BackendRow {
    const char *name;
    // Whether it can run here; fills `device` with its device's name, or with why it cannot.
    bool (*probe)(char *device, size_t size);
    bool (*automatic)(void); // whether "auto" may choose it; NULL: wherever it can run
    MoteResult (*create)(const MoteBackendOptions *options, Backend **out);
} BackendRow;

// Best first.
extern const BackendRow backend_rows[];
extern const uint32_t backend_row_count;

MoteResult backend_create(const MoteBackendOptions *options, Backend **out);

bool cpu_backend_probe(char *device, size_t size);
MoteResult cpu_backend_create(const MoteBackendOptions *options, Backend **out);
bool cuda_backend_probe(char *device, size_t size);
MoteResult cuda_backend_create(const MoteBackendOptions *options, Backend **out);
bool vulkan_backend_probe(char *device, size_t size);
bool vulkan_backend_is_hardware(void); // a software device is slower than the CPU backend
MoteResult vulkan_backend_create(const MoteBackendOptions *options, Backend **out);

#ifdef __cplusplus
}
#endif
#endif
