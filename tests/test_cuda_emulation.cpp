// SPDX-License-Identifier: MIT
// Negative controls of the emulated CUDA runtime (tests/cuda_emulation): each kind of mistake that it is there to find,
// planted here on purpose, is found. What ends the program is tried in a process of its own.
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" {
#include <cmocka.h>
}

#include "cuda_emulation/emulator.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

namespace
{

enum { COUNT = 4096, BLOCK = 128 };

struct Numbers {
    uint *values;
    int offset;
};

void count_up(const Numbers &n)
{
    n.values[blockIdx.x * blockDim.x + threadIdx.x + n.offset] += 1;
}

// Each reads what another one writes: a race.
void take_from_next(const Numbers &n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    n.values[i] = n.values[(i + 1) % COUNT] + i;
}

// Gives out numbers in the order of arrival: what it gives depends on it.
void number_by_arrival(const Numbers &n)
{
    n.values[1 + blockIdx.x * blockDim.x + threadIdx.x] = __atomic_fetch_add(n.values, 1u, __ATOMIC_RELAXED);
}

void must(cudaError_t error)
{
    if (error != cudaSuccess) {
        fail_msg("%s", cudaGetErrorString(error));
    }
}

cudaStream_t make_stream()
{
    cudaStream_t stream = nullptr;
    must(cudaSetDevice(0));
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

uint *make_zeros(cudaStream_t stream, size_t count)
{
    void *address = nullptr;
    must(cudaMalloc(&address, count * sizeof(uint)));
    must(cudaMemsetAsync(address, 0, count * sizeof(uint), stream));
    return static_cast<uint *>(address);
}

void launch_count_up(cudaStream_t stream, uint *values, int offset)
{
    const Numbers numbers = {values, offset};
    MOTE_LAUNCH(count_up, COUNT / BLOCK, BLOCK, stream, numbers);
}

void end(cudaStream_t stream, void *buffer)
{
    must(cudaStreamSynchronize(stream));
    must(cudaFree(buffer));
    must(cudaStreamDestroy(stream));
}

// ---- What ends the program ---------------------------------------------------------------------------------

// True if a process that does this does not come to its end.
bool is_fatal(void (*mistake)())
{
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        for (int s : {SIGSEGV, SIGBUS, SIGABRT}) {
            signal(s, SIG_DFL);
        }
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 2); // what it says is of no interest
        mistake();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void no_mistake()
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    launch_count_up(stream, values, 0);
    end(stream, values);
}

void host_reads()
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    must(cudaStreamSynchronize(stream));
    if (*static_cast<volatile uint *>(values) == 0) {
        _exit(0); // it could
    }
}

void host_writes()
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    must(cudaStreamSynchronize(stream));
    *static_cast<volatile uint *>(values) = 1;
}

void kernel_writes_behind()
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    launch_count_up(stream, values, 1);
    must(cudaStreamSynchronize(stream));
}

void kernel_writes_before()
{
    cudaStream_t stream = make_stream();
    (void)make_zeros(stream, COUNT);
    uint *values = make_zeros(stream, COUNT);
    launch_count_up(stream, values, -1);
    must(cudaStreamSynchronize(stream));
}

void kernel_uses_freed()
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT), *others = make_zeros(stream, COUNT);
    must(cudaFree(values));
    launch_count_up(stream, values, 0);
    end(stream, others);
}

void frees_twice()
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    must(cudaFree(values));
    must(cudaFree(values));
}

void frees_the_middle()
{
    cudaStream_t stream = make_stream();
    must(cudaFree(make_zeros(stream, COUNT) + 64));
}

void frees_pinned_twice()
{
    void *memory = nullptr;
    must(cudaMallocHost(&memory, 64));
    must(cudaFreeHost(memory));
    must(cudaFreeHost(memory));
}

void destroys_a_stream_twice()
{
    cudaStream_t stream = make_stream();
    must(cudaStreamDestroy(stream));
    must(cudaStreamDestroy(stream));
}

void leaks()
{
    cudaStream_t stream = make_stream();
    (void)make_zeros(stream, COUNT);
    must(cudaStreamDestroy(stream));
    exit(0); // by the end of the program
}

void guarded_kernel_reads_behind()
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    launch_count_up(stream, values, 64); // 256 bytes: no border is left there
    must(cudaStreamSynchronize(stream));
}

void mistakes_that_end_the_program(void **)
{
    const struct {
        const char *name;
        void (*mistake)();
    } rows[] = {
        {"the host reads device memory", host_reads},
        {"the host writes device memory", host_writes},
        {"a kernel writes behind a buffer", kernel_writes_behind},
        {"a kernel writes in front of a buffer", kernel_writes_before},
        {"a kernel far behind a buffer", guarded_kernel_reads_behind},
        {"a kernel uses freed memory", kernel_uses_freed},
        {"a buffer is freed twice", frees_twice},
        {"what is freed is no buffer", frees_the_middle},
        {"pinned memory is freed twice", frees_pinned_twice},
        {"a stream is destroyed twice", destroys_a_stream_twice},
        {"a buffer is never freed", leaks},
    };
    if (UNDER_TSAN) { // it lets no forked process have threads; the other build of this file tries them
        skip();
    }
    assert_false(is_fatal(no_mistake));
    for (const auto &row : rows) {
        if (!is_fatal(row.mistake)) {
            fail_msg("not found: %s", row.name);
        }
    }
}

// ---- What is missing a wait --------------------------------------------------------------------------------

void work_is_done_when_someone_waits(void **)
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    uint *seen = nullptr;
    must(cudaMallocHost((void **)&seen, COUNT * sizeof(uint)));
    std::memset(seen, 0x77, COUNT * sizeof(uint));
    launch_count_up(stream, values, 0);
    must(cudaMemcpyAsync(seen, values, COUNT * sizeof(uint), cudaMemcpyDeviceToHost, stream));
    assert_int_equal(seen[5], 0x77777777); // read without a wait
    must(cudaStreamSynchronize(stream));
    assert_int_equal(seen[5], 1);
    // A source that is changed before the copy has been made.
    uint source[64] = {0};
    must(cudaMemcpyAsync(values, source, sizeof source, cudaMemcpyHostToDevice, stream));
    source[5] = 99;
    must(cudaMemcpyAsync(seen, values, sizeof source, cudaMemcpyDeviceToHost, stream));
    must(cudaStreamSynchronize(stream));
    assert_int_equal(seen[5], 99);
    must(cudaFreeHost(seen));
    end(stream, values);
}

void streams_do_not_wait_for_each_other(void **)
{
    cudaStream_t first = make_stream(), second = make_stream();
    uint *values = make_zeros(first, COUNT);
    uint *seen = nullptr;
    cudaEvent_t event = nullptr;
    must(cudaMallocHost((void **)&seen, sizeof *seen));
    must(cudaEventCreate(&event));
    must(cudaStreamSynchronize(first));
    launch_count_up(first, values, 0);
    must(cudaEventRecord(event, first));
    must(cudaMemcpyAsync(seen, values, sizeof *seen, cudaMemcpyDeviceToHost, second));
    must(cudaStreamSynchronize(second));
    assert_int_equal(*seen, 0); // no event between them
    must(cudaStreamWaitEvent(second, event, 0));
    must(cudaMemcpyAsync(seen, values, sizeof *seen, cudaMemcpyDeviceToHost, second));
    must(cudaStreamSynchronize(second));
    assert_int_equal(*seen, 1);
    must(cudaEventDestroy(event));
    must(cudaFreeHost(seen));
    must(cudaStreamDestroy(second));
    end(first, values);
}

void events_pass_late(void **)
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    cudaEvent_t start = nullptr, stop = nullptr;
    must(cudaEventCreate(&start));
    must(cudaEventCreate(&stop));
    must(cudaEventRecord(start, stream));
    launch_count_up(stream, values, 0);
    must(cudaEventRecord(stop, stream));
    float milliseconds = -1.0f;
    assert_int_equal(cudaEventElapsedTime(&milliseconds, start, stop), cudaErrorNotReady);
    assert_int_equal(cudaEventQuery(stop), cudaErrorNotReady);
    must(cudaEventSynchronize(stop));
    must(cudaEventQuery(stop));
    must(cudaEventElapsedTime(&milliseconds, start, stop));
    assert_true(milliseconds >= 0.0f);
    must(cudaEventDestroy(start));
    must(cudaEventDestroy(stop));
    end(stream, values);
}

void stalls_are_counted(void **)
{
    cuda_emulation_fail(CUDA_CALL_SUBMIT, 0, false);
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT);
    uint *pinned = nullptr, source[4] = {0};
    must(cudaMallocHost((void **)&pinned, 64));
    assert_int_equal(cuda_emulation_record().stalls, 0);
    must(cudaMemcpyAsync(values, pinned, 64, cudaMemcpyHostToDevice, stream));
    assert_int_equal(cuda_emulation_record().stalls, 0);
    must(cudaMemcpyAsync(values, source, sizeof source, cudaMemcpyHostToDevice, stream));
    assert_int_equal(cuda_emulation_record().stalls, 1); // not pinned
    must(cudaFree(make_zeros(stream, 16)));
    assert_int_equal(cuda_emulation_record().stalls, 2);
    must(cudaFreeHost(pinned));
    end(stream, values);
}

// ---- Races -------------------------------------------------------------------------------------------------

uint hash_of(void (*run)(cudaStream_t, uint *), uint32_t seed)
{
    cuda_emulation_shuffle(seed);
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT + 1), *seen = nullptr, hash = 2166136261u;
    must(cudaMallocHost((void **)&seen, COUNT * sizeof(uint)));
    run(stream, values);
    must(cudaMemcpyAsync(seen, values + 1, (COUNT - 1) * sizeof(uint), cudaMemcpyDeviceToHost, stream));
    must(cudaStreamSynchronize(stream));
    for (int i = 0; i < COUNT - 1; i++) {
        hash = (hash ^ seen[i]) * 16777619u;
    }
    must(cudaFreeHost(seen));
    end(stream, values);
    return hash;
}

void run_race(cudaStream_t stream, uint *values)
{
    const Numbers numbers = {values, 0};
    MOTE_LAUNCH(take_from_next, COUNT / BLOCK, BLOCK, stream, numbers);
}

void run_arrival(cudaStream_t stream, uint *values)
{
    const Numbers numbers = {values, 0};
    MOTE_LAUNCH(number_by_arrival, COUNT / BLOCK, BLOCK, stream, numbers);
}

void run_rightly(cudaStream_t stream, uint *values)
{
    launch_count_up(stream, values, 0);
}

void races_change_with_the_order(void **)
{
    bool arrivals_differ = false, races_differ = false;
    const uint arrival = hash_of(run_arrival, 1), right = hash_of(run_rightly, 1);
    for (uint32_t seed = 2; seed < 6; seed++) {
        arrivals_differ |= hash_of(run_arrival, seed) != arrival;
        assert_int_equal(hash_of(run_rightly, seed), right);
    }
    assert_true(arrivals_differ);
    if (!UNDER_TSAN) { // there it is reported, see below
        const uint race = hash_of(run_race, 1);
        for (uint32_t seed = 2; seed < 6; seed++) {
            races_differ |= hash_of(run_race, seed) != race;
        }
        assert_true(races_differ);
    }
}

// The planted race, by itself: the thread sanitizer ends the process with 66.
void race()
{
    (void)hash_of(run_race, 1);
    exit(0);
}

void the_thread_sanitizer_finds_a_race(void **)
{
    if (!UNDER_TSAN) {
        skip();
    }
    char command[4200];
    const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 64);
    assert_true(length > 0);
    // The sanitizer keeps quiet where it no longer knows how the other thread came there.
    setenv("TSAN_OPTIONS", "exitcode=66 history_size=7", 1);
    std::strcpy(command + length, " race >/dev/null 2>&1");
    int status = 0;
    for (int i = 0; i < 30 && !(WIFEXITED(status) && WEXITSTATUS(status) == 66); i++) {
        status = system(command);
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 66);
    std::strcpy(command + length, " none >/dev/null 2>&1");
    assert_int_equal(system(command), 0);
}

// ---- Graphs ------------------------------------------------------------------------------------------------

void graphs_do_what_their_stream_would(void **)
{
    cudaStream_t stream = make_stream();
    uint *values = make_zeros(stream, COUNT + 1), *seen = nullptr;
    must(cudaMallocHost((void **)&seen, 2 * sizeof(uint)));
    cudaGraph_t graph = nullptr, other = nullptr;
    cudaGraphExec_t exec = nullptr;
    must(cudaStreamSynchronize(stream));
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    launch_count_up(stream, values, 0);
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaStreamSynchronize(stream)); // nothing has run yet
    must(cudaGraphInstantiate(&exec, graph, 0));
    must(cudaGraphLaunch(exec, stream));
    must(cudaGraphLaunch(exec, stream));
    // Updated to other parameters: what was launched keeps its own.
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    launch_count_up(stream, values, 1);
    must(cudaStreamEndCapture(stream, &other));
    cudaGraphExecUpdateResultInfo info;
    must(cudaGraphExecUpdate(exec, other, &info));
    must(cudaGraphLaunch(exec, stream));
    must(cudaMemcpyAsync(seen, values, 2 * sizeof(uint), cudaMemcpyDeviceToHost, stream));
    must(cudaStreamSynchronize(stream));
    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 3);
    must(cudaGraphDestroy(other));
    // Another kernel is another graph.
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    run_arrival(stream, values);
    must(cudaStreamEndCapture(stream, &other));
    assert_int_equal(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
    must(cudaGraphDestroy(other));
    // Nobody waits for a stream while it captures.
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &other), cudaErrorStreamCaptureInvalidated);
    must(cudaGraphDestroy(graph));
    must(cudaGraphExecDestroy(exec));
    must(cudaFreeHost(seen));
    end(stream, values);
}

// ---- Calls -------------------------------------------------------------------------------------------------

void calls_fail_on_demand(void **)
{
    cudaStream_t stream = make_stream();
    void *first = nullptr, *second = nullptr;
    cuda_emulation_fail(CUDA_CALL_ALLOCATE, 2, false);
    must(cudaMalloc(&first, 64));
    assert_int_equal(cudaMalloc(&second, 64), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    must(cudaGetLastError());
    must(cudaMalloc(&second, 64));
    assert_int_equal(cuda_emulation_record().struck, 1);
    cuda_emulation_fail(CUDA_CALL_SUBMIT, 1, false);
    assert_int_equal(cudaMemsetAsync(first, 0, 64, stream), cudaErrorLaunchFailure);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorLaunchFailure); // it stays lost
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    cuda_emulation_fail(CUDA_CALL_SUBMIT, 0, false);
    // Arguments that a driver refuses.
    uint host[16];
    assert_int_equal(cudaMemcpyAsync(host, first, sizeof host, cudaMemcpyHostToDevice, stream), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyAsync(first, host, 1024, cudaMemcpyHostToDevice, stream), cudaErrorInvalidValue);
    assert_int_equal(cudaMemsetAsync(host, 0, sizeof host, stream), cudaErrorInvalidValue);
    must(cudaSetDevice(1)); // the stream is the other device's
    assert_int_equal(cudaMemsetAsync(first, 0, 64, stream), cudaErrorInvalidResourceHandle);
    must(cudaSetDevice(0));
    assert_int_equal(cudaMalloc(&second, (size_t)1 << 62), cudaErrorMemoryAllocation);
    must(cudaFree(second));
    end(stream, first);
}

// Memory is imported as it was exported: dedicated or not.
void imports_say_how_memory_was_exported(void **)
{
    must(cudaSetDevice(EMULATED_DEVICE_LAVAPIPE));
    for (int dedicated = 0; dedicated < 2; dedicated++) {
        const int file = memfd_create("exported", 0);
        const uint64_t header[2] = {8192, 4096};
        char mark[16] = "not dedicated";
        if (dedicated != 0) {
            std::memset(mark, 0, sizeof mark);
            std::strcpy(mark, "dedicated");
        }
        assert_true(file >= 0 && ftruncate(file, 8192) == 0 && pwrite(file, header, 16, 0) == 16 &&
                    pwrite(file, mark, sizeof mark, 32) == (ssize_t)sizeof mark);
        cudaExternalMemoryHandleDesc exported = {};
        cudaExternalMemory_t memory = nullptr;
        exported.type = cudaExternalMemoryHandleTypeOpaqueFd;
        exported.handle.fd = file;
        exported.size = 4096;
        exported.flags = dedicated != 0 ? 0 : cudaExternalMemoryDedicated;
        assert_int_equal(cudaImportExternalMemory(&memory, &exported), cudaErrorInvalidValue);
        exported.flags = dedicated != 0 ? cudaExternalMemoryDedicated : 0;
        must(cudaImportExternalMemory(&memory, &exported));
        must(cudaDestroyExternalMemory(memory));
    }
    must(cudaSetDevice(0));
}

} // namespace

int main(int count, char **arguments)
{
    if (count > 1) {
        std::strcmp(arguments[1], "race") == 0 ? race() : no_mistake();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_that_end_the_program),
        cmocka_unit_test(work_is_done_when_someone_waits),
        cmocka_unit_test(streams_do_not_wait_for_each_other),
        cmocka_unit_test(events_pass_late),
        cmocka_unit_test(stalls_are_counted),
        cmocka_unit_test(races_change_with_the_order),
        cmocka_unit_test(the_thread_sanitizer_finds_a_race),
        cmocka_unit_test(graphs_do_what_their_stream_would),
        cmocka_unit_test(calls_fail_on_demand),
        cmocka_unit_test(imports_say_how_memory_was_exported),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
