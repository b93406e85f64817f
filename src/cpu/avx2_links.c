// SPDX-License-Identifier: MIT
// avx2_links.c - AVX2 form of solve_coloured_links, eight links of a colour at a time: they share no particle, so all
// of them may be loaded, moved and stored together. Links with damping, broken ones and the rest of a range go through
// the portable kernel.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

// The eight first and the eight second numbers of eight pairs.
static inline void load_pairs(const uvec2 *pairs, uint first[8], uint second[8])
{
    const __m256 low = _mm256_loadu_ps((const float *)pairs), high = _mm256_loadu_ps((const float *)(pairs + 4));
    const __m256 x = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0));
    const __m256 y = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1));
    const __m256d in_order_x = _mm256_castsi256_pd(_mm256_permute4x64_epi64(_mm256_castps_si256(x), 0xd8));
    const __m256d in_order_y = _mm256_castsi256_pd(_mm256_permute4x64_epi64(_mm256_castps_si256(y), 0xd8));
    _mm256_storeu_si256((__m256i *)first, _mm256_castpd_si256(in_order_x));
    _mm256_storeu_si256((__m256i *)second, _mm256_castpd_si256(in_order_y));
}

// A particle moved along `offset` by its inverse mass times `scale`. What is pinned stays to the bit.
static inline vec4x8 moved(vec4x8 p, vec4x8 offset, __m256 scale)
{
    const __m256 zero = _mm256_setzero_ps();
    const __m256 s = _mm256_and_ps(_mm256_mul_ps(scale, p.w), _mm256_cmp_ps(p.w, zero, _CMP_GT_OQ));
    return (vec4x8){_mm256_fmadd_ps(offset.x, s, p.x), _mm256_fmadd_ps(offset.y, s, p.y),
                    _mm256_fmadd_ps(offset.z, s, p.z), p.w};
}

typedef struct LinkTerms {
    __m256 inverse_squared_step, relaxation; // 1/s^2
    vec4x8 mask;
} LinkTerms;

static inline void solve_link_block(const SolverData *view, uint link, const uint *a, const uint *b, vec4x8 law,
                                    const LinkTerms *terms)
{
    const __m256 zero = _mm256_setzero_ps(), tiny = _mm256_set1_ps(1e-30f);
    const vec4x8 p = load_vec4x8(view->predicted, a), q = load_vec4x8(view->predicted, b);
    const vec4x8 offset = {_mm256_sub_ps(p.x, q.x), _mm256_sub_ps(p.y, q.y), _mm256_sub_ps(p.z, q.z), zero};
    const __m256 length = _mm256_sqrt_ps(dot_x8(offset.x, offset.y, offset.z));
    const __m256 before = view->iteration != 0u ? _mm256_loadu_ps(view->link_lambdas + link) : zero;
    const __m256 compliance = _mm256_mul_ps(law.y, terms->inverse_squared_step);
    const __m256 mass = _mm256_add_ps(_mm256_add_ps(p.w, q.w), compliance); // inverse effective
    const __m256 wanted = _mm256_fnmadd_ps(compliance, before, _mm256_sub_ps(law.x, length));
    const __m256 change = _mm256_and_ps(_mm256_div_ps(wanted, mass), _mm256_cmp_ps(mass, zero, _CMP_GT_OQ));
    const __m256 free = _mm256_fmadd_ps(terms->relaxation, change, before);
    const __m256 rope = _mm256_cmp_ps(law.w, _mm256_set1_ps(LINK_ROPE), _CMP_EQ_OQ);
    const __m256 lambda = _mm256_blendv_ps(free, _mm256_min_ps(free, zero), rope);
    const __m256 scale = _mm256_div_ps(_mm256_sub_ps(lambda, before), _mm256_max_ps(length, tiny));
    const vec4x8 along = {_mm256_mul_ps(offset.x, terms->mask.x), _mm256_mul_ps(offset.y, terms->mask.y),
                          _mm256_mul_ps(offset.z, terms->mask.z), zero};
    _mm256_storeu_ps(view->link_lambdas + link, lambda);
    store_vec4x8(view->predicted, a, moved(p, along, scale));
    store_vec4x8(view->predicted, b, moved(q, along, _mm256_sub_ps(zero, scale)));
}

void avx2_solve_coloured_links(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_solve_coloured_links];
    const vec3 mask = view->motion_mask;
    const LinkTerms terms = {
        .inverse_squared_step = _mm256_set1_ps(1.0f / (view->time_step * view->time_step)),
        .relaxation = _mm256_set1_ps(view->link_relaxation),
        .mask = {_mm256_set1_ps(mask.x), _mm256_set1_ps(mask.y), _mm256_set1_ps(mask.z), _mm256_setzero_ps()},
    };
    uint i = begin;
    for (; i + 8u <= end; i += 8u) {
        const uint link = view->link_first + i;
        uint a[8], b[8];
        load_pairs(view->link_slots + link, a, b);
        vec4x8 law = load_consecutive(view->link_laws + link);
        if (view->links_ease != 0u) {
            law.x = _mm256_add_ps(law.x, _mm256_loadu_ps(view->link_offsets + link));
        }
        const __m256i none = _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)a), _mm256_set1_epi32(-1));
        const __m256 damped = _mm256_cmp_ps(law.z, _mm256_setzero_ps(), _CMP_GT_OQ);
        if (_mm256_testz_si256(none, none) == 0 || _mm256_movemask_ps(damped) != 0) {
            kernel(view, i, i + 8u);
        } else {
            solve_link_block(view, link, a, b, law, &terms);
        }
    }
    kernel(view, i, end);
}
#else
typedef int avx2_links_needs_x86_64;
#endif
