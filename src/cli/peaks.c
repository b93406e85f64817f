// SPDX-License-Identifier: MIT
#include "cli/peaks.h"

#include "base/clock.h"
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>

// Twelve independent chains hide the latency of the two multiply-add units.
__attribute__((target("avx2,fma"))) static float multiply_adds(long rounds)
{
    enum { CHAINS = 12 };
    __m256 chain[CHAINS];
    for (int c = 0; c < CHAINS; c++) {
        chain[c] = _mm256_set1_ps(1.0f + (float)c);
    }
    const __m256 factor = _mm256_set1_ps(0.999999f), term = _mm256_set1_ps(1e-6f);
    for (long r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int c = 0; c < CHAINS; c++) {
            chain[c] = _mm256_fmadd_ps(chain[c], factor, term);
        }
    }
    float sum = 0.0f;
    for (int c = 0; c < CHAINS; c++) {
        sum += _mm256_cvtss_f32(chain[c]);
    }
    return sum;
}
static const double OPERATIONS_A_ROUND = 12 * 8 * 2;
static int can_measure(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static float multiply_adds(long rounds)
{
    return (float)rounds;
}
static const double OPERATIONS_A_ROUND = 0;
static int can_measure(void)
{
    return 0;
}
#endif

double peak_gflops(int threads)
{
    const long rounds = 20000000;
    double best = 0.0;
    for (int repeat = 0; repeat < 3 && can_measure(); repeat++) {
        volatile float sink = 0.0f;
        const double start = clock_seconds();
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            const float sum = multiply_adds(rounds);
#pragma omp critical
            sink += sum;
        }
        const double rate = 1e-9 * OPERATIONS_A_ROUND * (double)rounds * threads / (clock_seconds() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

double peak_gbytes_per_second(int threads)
{
    const size_t count = (size_t)1 << 25; // 128 MiB an array
    float *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b), *c = malloc(count * sizeof *c);
    double best = 0.0;
    if (a != NULL && b != NULL && c != NULL) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t i = 0; i < count; i++) {
            a[i] = 0.0f;
            b[i] = 1.0f;
            c[i] = 2.0f;
        }
        for (int repeat = 0; repeat < 4; repeat++) {
            const double start = clock_seconds();
#pragma omp parallel for simd num_threads(threads) schedule(static)
            for (size_t i = 0; i < count; i++) {
                a[i] = b[i] + 0.5f * c[i];
            }
            const double rate = 1e-9 * 3.0 * (double)(count * sizeof *a) / (clock_seconds() - start);
            best = rate > best ? rate : best;
        }
    }
    free(a);
    free(b);
    free(c);
    return best;
}
