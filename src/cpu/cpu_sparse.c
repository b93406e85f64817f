// SPDX-License-Identifier: MIT
#include "cpu/cpu_sparse.h"

#include "cpu/cpu_backend.h"
#include "cpu/cpu_parts.h"
#include "kernels/language.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
struct SparseSearch {
    SparseTree tree;
    SparseBoxes *boxes; // of all levels
    size_t capacity;    // of `boxes`
    int parts;          // of the last search
    SparseLists lists[PART_LIMIT];
};

SparseSearch *cpu_sparse_create(void)
{
    return calloc(1, sizeof(SparseSearch));
}

void cpu_sparse_destroy(SparseSearch *search)
{
    if (search != NULL) {
        for (int part = 0; part < PART_LIMIT; part++) {
            free(search->lists[part].entries);
        }
        free(search->boxes);
        free(search);
    }
}

static uint32_t elements_of(uint32_t boxes)
{
    return (boxes + SPARSE_GROUP - 1) / SPARSE_GROUP;
}

// A level for each eighth, until the boxes are few.
static bool reserve_tree(SparseSearch *search, uint32_t particles)
{
    SparseTree *tree = &search->tree;
    size_t offsets[SPARSE_LEVELS] = {0}, elements = 0;
    uint32_t boxes = elements_of(particles);
    tree->level_count = 0;
    for (bool more = true; more; boxes = elements_of(boxes)) {
        offsets[tree->level_count] = elements;
        tree->boxes[tree->level_count++] = boxes;
        elements += elements_of(boxes);
        more = boxes > SPARSE_GROUP;
    }
    if (elements > search->capacity) {
        const size_t capacity = elements + elements / 4;
        free(search->boxes);
        search->boxes = aligned_alloc(_Alignof(SparseBoxes), capacity * sizeof *search->boxes);
        search->capacity = search->boxes != NULL ? capacity : 0;
    }
    for (int level = 0; level < tree->level_count && search->boxes != NULL; level++) {
        tree->levels[level] = search->boxes + offsets[level];
    }
    return search->boxes != NULL;
}

typedef struct SparseJob {
    SparseSearch *search;
    const SolverData *view;
    uint32_t elements; // of the lowest level
} SparseJob;

static void bound_part(void *context, int part, int thread)
{
    (void)thread;
    const SparseJob *job = context;
    avx2_sparse_lowest(job->view, &job->search->tree, part_begin(job->elements, part, job->search->parts),
                       part_begin(job->elements, part + 1, job->search->parts));
}

static void list_part(void *context, int part, int thread)
{
    (void)thread;
    const SparseJob *job = context;
    SparseLists *lists = &job->search->lists[part];
    lists->count = 0;
    lists->longest = 0;
    lists->failed = false;
    avx2_sparse_lists(job->view, &job->search->tree, part_begin(job->elements, part, job->search->parts),
                      part_begin(job->elements, part + 1, job->search->parts), lists);
}

bool cpu_sparse_count(SparseSearch *search, const SolverData *view, Threads *threads)
{
    if (!reserve_tree(search, view->particle_count)) {
        return false;
    }
    const SparseTree *tree = &search->tree;
    SparseJob job = {.search = search, .view = view, .elements = elements_of(tree->boxes[0])};
    const int wanted = 4 * threads_count(threads);
    search->parts = threads_count(threads) == 1 ? 1 : wanted < PART_LIMIT ? wanted : PART_LIMIT;
    threads_run(threads, search->parts, bound_part, &job);
    for (int level = 1; level < tree->level_count; level++) {
        avx2_sparse_level(tree, level, 0, elements_of(tree->boxes[level]));
    }
    threads_run(threads, search->parts, list_part, &job);
    uint longest = view->counters[COUNTER_NEIGHBOURS_MAX];
    bool failed = false;
    for (int part = 0; part < search->parts; part++) {
        failed |= search->lists[part].failed;
        longest = search->lists[part].longest > longest ? search->lists[part].longest : longest;
    }
    if (!failed) {
        view->counters[COUNTER_NEIGHBOURS_MAX] = longest;
    }
    return !failed;
}

static void fill_part(void *context, int part, int thread)
{
    (void)thread;
    const SparseJob *job = context;
    const SparseLists *lists = &job->search->lists[part];
    const uint32_t first = SPARSE_BATCH * part_begin(job->elements, part, job->search->parts);
    if (lists->count > 0) {
        memcpy(job->view->neighbours + (size_t)job->view->neighbour_starts[first] * NEIGHBOUR_BLOCK, lists->entries,
               lists->count * sizeof *lists->entries);
    }
}

void cpu_sparse_fill(SparseSearch *search, const SolverData *view, Threads *threads)
{
    SparseJob job = {.search = search, .view = view, .elements = elements_of(search->tree.boxes[0])};
    threads_run(threads, search->parts, fill_part, &job);
}
#else
SparseSearch *cpu_sparse_create(void)
{
    return calloc(1, 1);
}

void cpu_sparse_destroy(SparseSearch *search)
{
    free(search);
}

bool cpu_sparse_count(SparseSearch *search, const SolverData *view, Threads *threads)
{
    (void)search;
    (void)view;
    (void)threads;
    return false;
}

void cpu_sparse_fill(SparseSearch *search, const SolverData *view, Threads *threads)
{
    (void)search;
    (void)view;
    (void)threads;
}
#endif
