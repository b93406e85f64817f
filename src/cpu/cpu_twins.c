// cpu_twins.c - which kernels have a hand-vectorised twin, and whether this CPU can run them.
#include "cpu/cpu_backend.h"

#include <omp.h>
#include <stddef.h>

#if defined(__x86_64__)
#include "cpu/avx2_twins.h"

static RangeFunction *const twins[KERNEL_COUNT] = {
    [KERNEL_ID_count_neighbours] = avx2_count_neighbours,
    [KERNEL_ID_fill_neighbours] = avx2_fill_neighbours,
    [KERNEL_ID_stabilize_contacts] = avx2_stabilize_contacts,
    [KERNEL_ID_solve_contacts] = avx2_solve_contacts,
    [KERNEL_ID_density_lambda] = avx2_density_lambda,
    [KERNEL_ID_density_delta] = avx2_density_delta,
    [KERNEL_ID_smooth_velocity] = avx2_smooth_velocity,
    [KERNEL_ID_confine_vorticity] = avx2_confine_vorticity,
    [KERNEL_ID_measure_density] = avx2_measure_density,
    [KERNEL_ID_solve_pairs] = avx2_solve_pairs,
    [KERNEL_ID_count_contacts] = avx2_count_contacts,
    [KERNEL_ID_predict] = avx2_predict,
    [KERNEL_ID_assign_keys] = avx2_assign_keys,
    [KERNEL_ID_update_velocity] = avx2_update_velocity,
};

RangeFunction *const *cpu_twins(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? twins : NULL;
}

bool cpu_build_lists(const MoteView *view, uint32_t capacity, int threads)
{
    const uint blocks = capacity / NEIGHBOUR_BLOCK;
    if (view->particle_count < 512 || blocks < 1024u * (uint)threads) {
        return false; // a chunk would be a large part of it
    }
    ListArena arena = {0, blocks / (64u * (uint)threads), blocks};
    int fits = 1;
#pragma omp parallel num_threads(threads) reduction(& : fits)
    {
        const uint64_t thread = (uint64_t)omp_get_thread_num(), count = (uint64_t)omp_get_num_threads();
        const uint begin = (uint)(view->particle_count * thread / count);
        const uint end = (uint)(view->particle_count * (thread + 1) / count);
        avx2_make_columns(view, begin, end);
#pragma omp barrier
        fits &= avx2_build_lists(view, begin, end, &arena);
    }
    return fits != 0;
}
#else
RangeFunction *const *cpu_twins(void)
{
    return NULL;
}

bool cpu_build_lists(const MoteView *view, uint32_t capacity, int threads)
{
    (void)view;
    (void)capacity;
    (void)threads;
    return false;
}
#endif

const char *cpu_features(void)
{
    return cpu_twins() != NULL ? "AVX2" : "portable";
}
