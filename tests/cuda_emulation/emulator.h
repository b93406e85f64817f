// SPDX-License-Identifier: MIT
// emulator.h - what the emulation's files share.
#ifndef MOTE_CUDA_EMULATOR_H
#define MOTE_CUDA_EMULATOR_H

#include "cuda_runtime.h"
#include "emulation.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// The emulated devices: one of its own, and one that stands for lavapipe's, which it shares memory with.
enum { EMULATED_DEVICE_ALONE, EMULATED_DEVICE_LAVAPIPE, EMULATED_DEVICE_COUNT };
extern thread_local int emulated_device; // the current one, as in CUDA a matter of each thread

// ---- Calls (emulated.cpp) ----

// Counts the call; what it is to return at once, if it is not to succeed.
cudaError_t emulated_call(CudaCall kind);
cudaError_t emulated_fail(cudaError_t error); // remembers it for cudaGetLastError
bool emulated_lost();
void emulated_note_stall();
void emulated_note_launch(bool graph);
extern std::atomic<int> emulated_live; // objects, see cuda_emulation_live
[[noreturn]] void emulated_complain(const char *what, const void *address);
uint32_t emulated_seed();

#define CALL(kind)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t refused = emulated_call(kind);                                                               \
        if (refused != cudaSuccess) {                                                                                  \
            return emulated_fail(refused);                                                                             \
        }                                                                                                              \
    } while (0)

// ---- Memory (device_memory.cpp) ----

// Device memory can be used as long as one of these exists.
struct OpenMemory {
    OpenMemory();
    ~OpenMemory();
};

// Address space for `bytes` of device memory, mapped from a file where that is not -1; NULL if there is none. The
// caller closes it when it has filled it.
unsigned char *memory_map(size_t bytes, int file);
void memory_close(unsigned char *mapping);
void memory_unmap(unsigned char *mapping);
// Whether all of it is in one live buffer: memory of a device.
bool memory_is_device(const void *address, size_t bytes);
bool memory_is_pinned(const void *address, size_t bytes);
bool memory_add_mapping(void *address, size_t bytes, cudaExternalMemory_t external); // a buffer of imported memory
void external_unmapped(cudaExternalMemory_t memory);                                 // one of its buffers was freed

// ---- Streams (streams.cpp) ----

struct Operation {
    std::string name; // of the kernel or kind of work
    std::function<cudaError_t()> run;
    bool device;   // uses device memory
    bool captures; // may be part of a graph
};

cudaError_t stream_add(cudaStream_t stream, Operation operation);
// Soon, without the host's doing: for who waits elsewhere.
void stream_run_soon(cudaStream_t stream);
bool streams_run_all(); // false: nothing was left to do

// ---- Launches (launches.cpp) ----

void launch_run(unsigned blocks, unsigned threads, uint32_t seed,
                const std::function<void(const EmulatedLanes &)> &run);

#endif
