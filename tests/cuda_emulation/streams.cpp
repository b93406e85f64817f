// SPDX-License-Identifier: MIT
// streams.cpp - streams, events and graphs. What a stream is given waits until somebody waits for it: the host, an
// event of another stream, or a semaphore that is signalled behind it, some time later, by a thread of the stream's
// own.
#include "emulator.h"

#include <set>

struct EmulatedStream {
    int device;
    std::mutex lock, run_lock; // of the queue; of who runs it
    std::deque<Operation> queue;
    uint64_t added = 0, done = 0;
    cudaError_t failure = cudaSuccess;
    EmulatedGraph *capturing = nullptr;
    bool capture_broken = false;
    std::thread runner; // begins with the first semaphore
    std::condition_variable wake;
    uint64_t soon = 0; // run up to here
    bool ending = false;
};

struct EmulatedEvent {
    std::mutex lock;
    cudaStream_t stream = nullptr;
    uint64_t at = 0; // in the stream's work; 0: never recorded
    std::chrono::steady_clock::time_point time;
    unsigned queries = 0;
};

struct EmulatedGraph {
    std::vector<Operation> operations;
};

struct EmulatedGraphExec {
    std::vector<Operation> operations;
};

static std::mutex streams_lock;
static std::set<cudaStream_t> streams;

// ---- Running -----------------------------------------------------------------------------------------------

// Device memory is open while operations run that use it; not while one waits for a semaphore.
static void run_until(cudaStream_t stream, uint64_t end)
{
    const std::lock_guard<std::mutex> only(stream->run_lock);
    OpenMemory *open = nullptr;
    for (;;) {
        Operation operation;
        {
            const std::lock_guard<std::mutex> guard(stream->lock);
            if (stream->done >= end || stream->queue.empty()) {
                break;
            }
            operation = std::move(stream->queue.front());
            stream->queue.pop_front();
        }
        if (operation.device != (open != nullptr)) {
            delete open;
            open = operation.device ? new OpenMemory : nullptr;
        }
        const cudaError_t error = emulated_lost() ? (cudaError_t)cudaErrorLaunchFailure : operation.run();
        const std::lock_guard<std::mutex> guard(stream->lock);
        stream->done++;
        stream->failure = stream->failure == cudaSuccess ? error : stream->failure;
    }
    delete open;
}

static uint64_t added_so_far(cudaStream_t stream)
{
    const std::lock_guard<std::mutex> guard(stream->lock);
    return stream->added;
}

bool streams_run_all()
{
    bool ran = false;
    std::vector<cudaStream_t> all;
    {
        const std::lock_guard<std::mutex> guard(streams_lock);
        all.assign(streams.begin(), streams.end());
    }
    for (cudaStream_t stream : all) {
        const uint64_t end = added_so_far(stream);
        {
            const std::lock_guard<std::mutex> guard(stream->lock);
            ran |= stream->done < end;
        }
        run_until(stream, end);
    }
    return ran;
}

cudaError_t stream_add(cudaStream_t stream, Operation operation)
{
    if (stream->device != emulated_device) {
        return emulated_fail(cudaErrorInvalidResourceHandle);
    }
    const std::lock_guard<std::mutex> guard(stream->lock);
    if (stream->capturing != nullptr) {
        if (!operation.captures) {
            stream->capture_broken = true;
            return emulated_fail(cudaErrorStreamCaptureUnsupported);
        }
        stream->capturing->operations.push_back(std::move(operation));
        return cudaSuccess;
    }
    stream->queue.push_back(std::move(operation));
    stream->added++;
    return cudaSuccess;
}

static void run_now_and_then(cudaStream_t stream)
{
    for (;;) {
        uint64_t end;
        {
            std::unique_lock<std::mutex> guard(stream->lock);
            stream->wake.wait(guard, [&] { return stream->ending || stream->soon > stream->done; });
            if (stream->soon <= stream->done) {
                return;
            }
            end = stream->soon;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        run_until(stream, end);
    }
}

void stream_run_soon(cudaStream_t stream)
{
    const std::lock_guard<std::mutex> guard(stream->lock);
    stream->soon = stream->added;
    if (!stream->runner.joinable()) {
        stream->runner = std::thread(run_now_and_then, stream);
    }
    stream->wake.notify_one();
}

static cudaError_t wait_for(cudaStream_t stream, uint64_t end)
{
    {
        const std::lock_guard<std::mutex> guard(stream->lock);
        if (stream->capturing != nullptr) {
            stream->capture_broken = true;
            return emulated_fail(cudaErrorStreamCaptureUnsupported);
        }
    }
    emulated_note_stall();
    run_until(stream, end);
    const std::lock_guard<std::mutex> guard(stream->lock);
    return stream->failure == cudaSuccess ? cudaSuccess : emulated_fail(stream->failure);
}

// ---- Streams -----------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    CALL(CUDA_CALL_CREATE);
    *stream = new EmulatedStream;
    (*stream)->device = emulated_device;
    emulated_live++;
    const std::lock_guard<std::mutex> guard(streams_lock);
    streams.insert(*stream);
    return cudaSuccess;
}

// Its work goes on to the end, as the real one's does.
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    {
        const std::lock_guard<std::mutex> guard(streams_lock);
        if (streams.erase(stream) == 0) {
            emulated_complain("cudaStreamDestroy of what is no stream, or no longer:", stream);
        }
    }
    run_until(stream, added_so_far(stream));
    if (stream->runner.joinable()) {
        {
            const std::lock_guard<std::mutex> guard(stream->lock);
            stream->ending = true;
            stream->wake.notify_one();
        }
        stream->runner.join();
    }
    delete stream;
    emulated_live--;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    CALL(CUDA_CALL_WAIT);
    return wait_for(stream, added_so_far(stream));
}

cudaError_t cudaDeviceSynchronize()
{
    CALL(CUDA_CALL_WAIT);
    emulated_note_stall();
    streams_run_all();
    return emulated_lost() ? emulated_fail(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t emulated_work(cudaStream_t stream, const char *name, std::function<void()> run)
{
    CALL(CUDA_CALL_SUBMIT);
    return stream_add(stream, {name,
                               [run] {
                                   run();
                                   return cudaSuccess;
                               },
                               true, true});
}

void emulated_launch(cudaStream_t stream, const char *kernel, unsigned blocks, unsigned threads,
                     std::function<void(const EmulatedLanes &)> run)
{
    const cudaError_t refused = emulated_call(CUDA_CALL_SUBMIT);
    if (refused != cudaSuccess || blocks == 0 || threads == 0 || threads > 1024) {
        emulated_fail(refused != cudaSuccess ? refused : (cudaError_t)cudaErrorInvalidValue);
        return;
    }
    (void)stream_add(stream, {kernel,
                              [=] {
                                  emulated_note_launch(false);
                                  launch_run(blocks, threads, emulated_seed(), run);
                                  return cudaSuccess;
                              },
                              true, true});
}

// ---- Events ------------------------------------------------------------------------------------------------

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    CALL(CUDA_CALL_CREATE);
    *event = new EmulatedEvent;
    emulated_live++;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (event->stream != nullptr) {
        const std::lock_guard<std::mutex> guard(streams_lock);
        if (streams.count(event->stream) > 0) {
            run_until(event->stream, event->at); // the real one keeps what is left of it until then
        }
    }
    delete event;
    emulated_live--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    CALL(CUDA_CALL_SUBMIT);
    const cudaError_t error = stream_add(stream, {"event",
                                                  [event] {
                                                      const std::lock_guard<std::mutex> guard(event->lock);
                                                      event->time = std::chrono::steady_clock::now();
                                                      return cudaSuccess;
                                                  },
                                                  false, false});
    const std::lock_guard<std::mutex> guard(event->lock);
    event->stream = stream;
    event->at = added_so_far(stream);
    return error;
}

static bool has_passed(cudaEvent_t event)
{
    const std::lock_guard<std::mutex> guard(event->lock);
    if (event->stream == nullptr) {
        return true;
    }
    const std::lock_guard<std::mutex> queue(event->stream->lock);
    return event->stream->done >= event->at;
}

// A device works on by itself: who asks often enough finds that it has.
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (emulated_lost()) {
        return emulated_fail(cudaErrorLaunchFailure);
    }
    if (has_passed(event)) {
        return cudaSuccess;
    }
    if (++event->queries % 8 == 0) {
        run_until(event->stream, event->at);
    }
    return cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    CALL(CUDA_CALL_WAIT);
    return event->stream != nullptr ? wait_for(event->stream, event->at) : (cudaError_t)cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    CALL(CUDA_CALL_SUBMIT);
    cudaStream_t const other = event->stream;
    const uint64_t at = event->at;
    return stream_add(stream, {"wait for an event",
                               [=] {
                                   if (other != nullptr && other != stream) {
                                       run_until(other, at);
                                   }
                                   return cudaSuccess;
                               },
                               false, false});
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    if (start->stream == nullptr || stop->stream == nullptr) {
        return emulated_fail(cudaErrorInvalidResourceHandle);
    }
    if (!has_passed(start) || !has_passed(stop)) {
        return emulated_fail(cudaErrorNotReady);
    }
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return cudaSuccess;
}

// ---- Graphs ------------------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    CALL(CUDA_CALL_CAPTURE);
    const std::lock_guard<std::mutex> guard(stream->lock);
    if (stream->capturing != nullptr) {
        return emulated_fail(cudaErrorStreamCaptureUnsupported);
    }
    stream->capturing = new EmulatedGraph;
    stream->capture_broken = false;
    emulated_live++;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const std::lock_guard<std::mutex> guard(stream->lock);
    *graph = nullptr;
    if (stream->capturing == nullptr) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    EmulatedGraph *const captured = stream->capturing;
    stream->capturing = nullptr;
    if (stream->capture_broken || emulated_lost()) {
        delete captured;
        emulated_live--;
        return emulated_fail(emulated_lost() ? cudaErrorLaunchFailure : cudaErrorStreamCaptureInvalidated);
    }
    *graph = captured;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    emulated_live--;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    CALL(CUDA_CALL_CREATE);
    *exec = new EmulatedGraphExec{graph->operations};
    emulated_live++;
    return cudaSuccess;
}

// Only where the same kinds of work and the same kernels follow each other; what has been launched is not affected.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result)
{
    bool same = exec->operations.size() == graph->operations.size();
    for (size_t i = 0; i < graph->operations.size() && same; i++) {
        same = exec->operations[i].name == graph->operations[i].name;
    }
    result->result = same ? 0 : 1;
    if (!same) {
        return emulated_fail(cudaErrorGraphExecUpdateFailure);
    }
    exec->operations = graph->operations;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    emulated_live--;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    CALL(CUDA_CALL_SUBMIT);
    emulated_note_launch(true);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < exec->operations.size() && error == cudaSuccess; i++) {
        error = stream_add(stream, exec->operations[i]);
    }
    return error;
}
