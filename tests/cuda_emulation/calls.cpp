// SPDX-License-Identifier: MIT
// calls.cpp - counts calls, makes them fail (emulation.h), and looks after what was left when the program ends.
#include "emulator.h"

#include <cstdio>
#include <unistd.h>

thread_local int emulated_device;
std::atomic<int> emulated_live;

static std::mutex record_lock;
static CudaEmulationRecord record;
static struct {
    CudaCall kind;
    uint64_t number;
    bool and_later;
} fault;
static std::atomic<bool> lost;
static std::atomic<uint32_t> seed, launches;
static thread_local cudaError_t last_error;

// ---- Failing -----------------------------------------------------------------------------------------------

void cuda_emulation_fail(CudaCall kind, uint64_t number, bool and_later)
{
    const std::lock_guard<std::mutex> guard(record_lock);
    fault = {kind, number, and_later};
    record = CudaEmulationRecord{};
    lost = false;
    last_error = cudaSuccess;
}

CudaEmulationRecord cuda_emulation_record(void)
{
    const std::lock_guard<std::mutex> guard(record_lock);
    return record;
}

uint32_t cuda_emulation_live(void)
{
    return (uint32_t)emulated_live;
}

bool emulated_lost()
{
    return lost;
}

cudaError_t emulated_fail(cudaError_t error)
{
    last_error = error;
    return error;
}

cudaError_t emulated_call(CudaCall kind)
{
    static const cudaError_t errors[CUDA_CALL_KINDS] = {
        cudaErrorMemoryAllocation,         cudaErrorMemoryAllocation, cudaErrorOperatingSystem,
        cudaErrorStreamCaptureUnsupported, cudaErrorLaunchFailure,    cudaErrorLaunchFailure,
    };
    const std::lock_guard<std::mutex> guard(record_lock);
    const uint64_t number = ++record.calls[kind];
    if (lost) {
        return cudaErrorLaunchFailure;
    }
    if (fault.number == 0 || fault.kind != kind || (fault.and_later ? number < fault.number : number != fault.number)) {
        return cudaSuccess;
    }
    record.struck++;
    lost = errors[kind] == cudaErrorLaunchFailure;
    return errors[kind];
}

void emulated_note_stall()
{
    const std::lock_guard<std::mutex> guard(record_lock);
    record.stalls++;
}

void emulated_note_launch(bool graph)
{
    const std::lock_guard<std::mutex> guard(record_lock);
    (graph ? record.graphs : record.launches)++;
}

void emulated_complain(const char *what, const void *address)
{
    fprintf(stderr, "emulated CUDA: %s %p\n", what, address);
    abort();
}

// ---- The order of invocations ----

void cuda_emulation_shuffle(uint32_t value)
{
    seed = value;
    launches = 0;
}

uint32_t emulated_seed()
{
    static const char *said = getenv("MOTE_CUDA_SEED");
    static const uint32_t first = said != nullptr ? (uint32_t)strtoul(said, nullptr, 10) : 1;
    return (first + seed) * 0x9e3779b9u + 3 * launches++;
}

// ---- What the runtime says of itself -----------------------------------------------------------------------

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    case cudaErrorOperatingSystem:
        return "OS call failed or operation not supported on this OS";
    case cudaErrorInvalidResourceHandle:
        return "invalid resource handle";
    case cudaErrorNotReady:
        return "device not ready";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
        return "operation failed due to a previous error during capture";
    case cudaErrorTimeout:
        return "wait operation timed out";
    case cudaErrorGraphExecUpdateFailure:
        return "the graph update was not performed because it included changes which violated constraints";
    default:
        return "unrecognized error code";
    }
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = lost ? (cudaError_t)cudaErrorLaunchFailure : last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= EMULATED_DEVICE_COUNT) {
        return emulated_fail(cudaErrorInvalidDevice);
    }
    emulated_device = device;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 12000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 12000;
    return cudaSuccess;
}

// ---- The end of the program ----

namespace
{
// A test that failed has left its world behind, and says so itself.
struct AtTheEnd {
    ~AtTheEnd()
    {
        if (emulated_live > 0) {
            fprintf(stderr, "emulated CUDA: %d buffers, streams, events or imports were not freed\n",
                    (int)emulated_live);
            fflush(nullptr);
            _exit(1);
        }
    }
} at_the_end;
} // namespace
