// SPDX-License-Identifier: MIT
// cuda_graph.cu - a step as a graph. Its launches are captured from the stream. Where an earlier step had the same
// ones, that step's graph is updated to the new parameters, pointers and numbers of blocks, which takes a driver much
// less than to make one. The device then has a whole step at once, and begins a launch as soon as the one before has
// ended.
#include "cuda_common.h"

#include <stdlib.h>
#include <string.h>

static void forget(CudaGraphs *graphs, int k)
{
    if (graphs->kept[k].exec != NULL) {
        (void)cudaGraphExecDestroy(graphs->kept[k].exec); // what is still running of it runs to its end
        graphs->kept[k].exec = NULL;
    }
}

// An empty one, made and thrown away.
static bool can_be_made(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    bool made = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess &&
                cudaStreamEndCapture(stream, &graph) == cudaSuccess &&
                cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
    if (exec != NULL) {
        made = cudaGraphExecDestroy(exec) == cudaSuccess && made;
    }
    if (graph != NULL) {
        made = cudaGraphDestroy(graph) == cudaSuccess && made;
    }
    if (!made) {
        (void)cudaGetLastError(); // no device failure: launches go to the stream one by one
    }
    return made;
}

void cuda_graphs_create(CudaGraphs *graphs, cudaStream_t stream)
{
    memset(graphs, 0, sizeof *graphs);
    const char *said = getenv("MOTE_CUDA_GRAPHS"); // 0: to see what they change
    graphs->usable = (said == NULL || strcmp(said, "0") != 0) && can_be_made(stream);
}

void cuda_graphs_destroy(CudaGraphs *graphs, cudaStream_t stream)
{
    (void)cuda_graphs_end(graphs, stream);
    for (int k = 0; k < GRAPH_LIMIT; k++) {
        forget(graphs, k);
    }
}

void cuda_graphs_begin(CudaGraphs *graphs, cudaStream_t stream)
{
    if (!graphs->usable || graphs->capturing) {
        return;
    }
    // Relaxed: CUB's memory may have to grow meanwhile.
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) != cudaSuccess) {
        (void)cudaGetLastError();
        graphs->usable = false;
        return;
    }
    graphs->capturing = true;
    graphs->signature = 0xcbf29ce484222325u;
}

void cuda_graphs_note(CudaGraphs *graphs, uint32_t what)
{
    graphs->signature = (graphs->signature ^ what) * 0x100000001b3u; // FNV-1a
}

// The kept graph of this signature, updated, or a new one in the place of the oldest.
static cudaError_t find_exec(CudaGraphs *graphs, cudaGraph_t graph, cudaGraphExec_t *out)
{
    int place = -1;
    for (int k = 0; k < GRAPH_LIMIT && place < 0; k++) {
        place = graphs->kept[k].exec != NULL && graphs->kept[k].signature == graphs->signature ? k : -1;
    }
    if (place >= 0) {
        cudaGraphExecUpdateResultInfo info;
        if (cudaGraphExecUpdate(graphs->kept[place].exec, graph, &info) == cudaSuccess) {
            *out = graphs->kept[place].exec;
            return cudaSuccess;
        }
        (void)cudaGetLastError(); // CUB may sort by other kernels when there is more to sort
    } else {
        place = graphs->next;
        graphs->next = (graphs->next + 1) % GRAPH_LIMIT;
    }
    forget(graphs, place);
    const cudaError_t error = cudaGraphInstantiate(&graphs->kept[place].exec, graph, 0);
    graphs->kept[place].signature = graphs->signature;
    if (error != cudaSuccess) {
        graphs->kept[place].exec = NULL;
    }
    *out = graphs->kept[place].exec;
    return error;
}

cudaError_t cuda_graphs_end(CudaGraphs *graphs, cudaStream_t stream)
{
    if (!graphs->capturing) {
        return cudaSuccess;
    }
    graphs->capturing = false;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess) {
        error = find_exec(graphs, graph, &exec);
    }
    if (error == cudaSuccess) {
        error = cudaGraphLaunch(exec, stream);
    }
    if (graph != NULL) {
        (void)cudaGraphDestroy(graph);
    }
    return error;
}
