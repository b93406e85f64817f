// SPDX-License-Identifier: MIT
// cpu_avx2.c - which kernels have a hand-vectorised AVX2 form, and whether this CPU can run them.
#include "cpu/cpu_backend.h"
#include "cpu/cpu_parts.h"

#include <stdatomic.h>
#include <stddef.h>

#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"

enum { LIST_THREAD_LIMIT = 256 };

static RangeFunction *const avx2_kernels[KERNEL_COUNT] = {
    [KERNEL_ID_count_neighbours] = avx2_count_neighbours,
    [KERNEL_ID_fill_neighbours] = avx2_fill_neighbours,
    [KERNEL_ID_stabilize_contacts] = avx2_stabilize_contacts,
    [KERNEL_ID_solve_contacts] = avx2_solve_contacts,
    [KERNEL_ID_density_lambda] = avx2_density_lambda,
    [KERNEL_ID_add_boundary_density] = avx2_add_boundary_density,
    [KERNEL_ID_density_delta] = avx2_density_delta,
    [KERNEL_ID_add_boundary_pressure] = avx2_add_boundary_pressure,
    [KERNEL_ID_smooth_velocity] = avx2_smooth_velocity,
    [KERNEL_ID_confine_vorticity] = avx2_confine_vorticity,
    [KERNEL_ID_measure_density] = avx2_measure_density,
    [KERNEL_ID_solve_coloured_links] = avx2_solve_coloured_links,
    [KERNEL_ID_solve_tethers] = avx2_solve_tethers,
    [KERNEL_ID_solve_pairs] = avx2_solve_pairs,
    [KERNEL_ID_count_contacts] = avx2_count_contacts,
    [KERNEL_ID_split_particle_masses] = avx2_split_particle_masses,
    [KERNEL_ID_watch_begin] = avx2_watch_begin,
    [KERNEL_ID_watch_end] = avx2_watch_end,
    [KERNEL_ID_predict] = avx2_predict,
    [KERNEL_ID_assign_keys] = avx2_assign_keys,
    [KERNEL_ID_update_velocity] = avx2_update_velocity,
    [KERNEL_ID_advect_diffuse] = avx2_advect_diffuse,
};

RangeFunction *const *cpu_avx2_kernels(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2_kernels : NULL;
}

typedef struct ListJob {
    const SolverData *view;
    int parts;
    ListArena arena;
    ListChunk chunks[LIST_THREAD_LIMIT]; // of each thread
    atomic_bool too_long;
} ListJob;

static void make_columns(void *context, int part, int thread)
{
    (void)thread;
    const ListJob *job = context;
    const uint count = job->view->particle_count;
    avx2_make_columns(job->view, part_begin(count, part, job->parts), part_begin(count, part + 1, job->parts));
}

static void build_lists(void *context, int part, int thread)
{
    ListJob *job = context;
    const uint count = job->view->particle_count;
    if (!atomic_load(&job->too_long) &&
        !avx2_build_lists(job->view, part_begin(count, part, job->parts), part_begin(count, part + 1, job->parts),
                          &job->arena, &job->chunks[thread])) {
        atomic_store(&job->too_long, true);
    }
}

bool cpu_build_lists(const SolverData *view, uint32_t capacity, Threads *threads)
{
    const uint blocks = capacity / NEIGHBOUR_BLOCK, count = (uint)threads_count(threads);
    if (view->particle_count < 512 || blocks < 1024u * count || count > LIST_THREAD_LIMIT) {
        return false; // a chunk would be a large part of it
    }
    ListJob job = {.view = view, .parts = 8 * (int)count, .arena = {0, blocks / (64u * count), blocks}};
    threads_run(threads, job.parts, make_columns, &job);
    threads_run(threads, job.parts, build_lists, &job);
    return !atomic_load(&job.too_long);
}
#else
RangeFunction *const *cpu_avx2_kernels(void)
{
    return NULL;
}

bool cpu_build_lists(const SolverData *view, uint32_t capacity, Threads *threads)
{
    (void)view;
    (void)capacity;
    (void)threads;
    return false;
}
#endif

const char *cpu_features(void)
{
    return cpu_avx2_kernels() != NULL ? "AVX2" : "portable";
}
