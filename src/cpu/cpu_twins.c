// cpu_twins.c - which kernels have a hand-vectorised twin, and whether this CPU can run them.
#include "cpu/cpu_backend.h"

#include <stddef.h>

#if defined(__x86_64__)
#include "cpu/avx2_twins.h"

static RangeFunction *const twins[KERNEL_COUNT] = {
    [KERNEL_ID_count_neighbours] = avx2_count_neighbours,     [KERNEL_ID_fill_neighbours] = avx2_fill_neighbours,
    [KERNEL_ID_stabilize_contacts] = avx2_stabilize_contacts, [KERNEL_ID_solve_contacts] = avx2_solve_contacts,
    [KERNEL_ID_density_lambda] = avx2_density_lambda,         [KERNEL_ID_density_delta] = avx2_density_delta,
    [KERNEL_ID_smooth_velocity] = avx2_smooth_velocity,       [KERNEL_ID_confine_vorticity] = avx2_confine_vorticity,
    [KERNEL_ID_measure_density] = avx2_measure_density,
};

RangeFunction *const *cpu_twins(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? twins : NULL;
}
#else
RangeFunction *const *cpu_twins(void)
{
    return NULL;
}
#endif

const char *cpu_features(void)
{
    return cpu_twins() != NULL ? "AVX2" : "portable";
}
