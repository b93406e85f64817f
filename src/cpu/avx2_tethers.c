// SPDX-License-Identifier: MIT
// avx2_tethers.c - AVX2 form of solve_tethers, eight vertices at a time: results are those of the portable kernel to
// the bit, which does cloth that tears, and the vertices around those that are pinned or gone.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

_Static_assert(HANDLE_SINGLE == 0x80000000u, "the sign says whether a handle is a member's");

// handle_slot of eight handles, NONE where `none` is set.
static inline __m256i slots_of(const SolverData *view, __m256i handles, __m256i none)
{
    const __m256i singles = _mm256_add_epi32(_mm256_sub_epi32(handles, _mm256_set1_epi32((int)HANDLE_SINGLE)),
                                             _mm256_set1_epi32((int)view->member_count));
    const __m256i rows = _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(handles), _mm256_castsi256_ps(singles), _mm256_castsi256_ps(handles)));
    const __m256i there = _mm256_xor_si256(none, _mm256_set1_epi32(-1));
    return _mm256_mask_i32gather_epi32(_mm256_set1_epi32(-1), (const int *)view->handle_slots, rows, there, 4);
}

// `tethered` of eight vertices, whose first or second tethers these are.
static inline vec4x8 tethered_x8(const SolverData *view, __m256i handles, __m256 length, vec4x8 p)
{
    const __m256i none = _mm256_set1_epi32(-1);
    const __m256i slots = slots_of(view, handles, _mm256_cmpeq_epi32(handles, none));
    const __m256i gone = _mm256_cmpeq_epi32(slots, none);
    if (_mm256_movemask_epi8(gone) == -1) {
        return p;
    }
    uint indices[8];
    _mm256_storeu_si256((__m256i *)indices, _mm256_andnot_si256(gone, slots));
    const vec4x8 pin = load_vec4x8(view->predicted, indices);
    const __m256 x = _mm256_sub_ps(p.x, pin.x), y = _mm256_sub_ps(p.y, pin.y), z = _mm256_sub_ps(p.z, pin.z);
    const __m256 xy = _mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y));
    const __m256 squared = _mm256_add_ps(xy, _mm256_mul_ps(z, z));
    const __m256 slack = _mm256_cmp_ps(squared, _mm256_mul_ps(length, length), _CMP_LE_OQ);
    const __m256 loose = _mm256_cmp_ps(pin.w, _mm256_setzero_ps(), _CMP_GT_OQ);
    const __m256 stays = _mm256_or_ps(_mm256_castsi256_ps(gone), _mm256_or_ps(slack, loose));
    if (_mm256_movemask_ps(stays) == 0xff) {
        return p;
    }
    const __m256 scale = _mm256_div_ps(length, _mm256_sqrt_ps(squared));
    const vec4x8 held = {_mm256_add_ps(pin.x, _mm256_mul_ps(x, scale)), _mm256_add_ps(pin.y, _mm256_mul_ps(y, scale)),
                         _mm256_add_ps(pin.z, _mm256_mul_ps(z, scale)), p.w};
    return select_vec4x8(held, p, stays);
}

// The even and the odd ones of sixteen numbers.
static inline __m256 every_second(const float *numbers, bool odd)
{
    const __m256 low = _mm256_loadu_ps(numbers), high = _mm256_loadu_ps(numbers + 8);
    const __m256 mixed = odd ? _mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1))
                             : _mm256_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), _MM_SHUFFLE(3, 1, 2, 0)));
}

void avx2_solve_tethers(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_solve_tethers];
    const __m256i none = _mm256_set1_epi32(-1);
    uint i = begin;
    for (; view->tears == 0u && i + 8u <= end; i += 8u) {
        const __m256i handles = _mm256_loadu_si256((const __m256i *)(view->cloth_handles + i));
        const __m256i slots = slots_of(view, handles, _mm256_setzero_si256());
        const __m256i gone = _mm256_cmpeq_epi32(slots, none);
        uint indices[8];
        _mm256_storeu_si256((__m256i *)indices, _mm256_andnot_si256(gone, slots));
        const vec4x8 vertex = load_vec4x8(view->predicted, indices);
        const __m256 free = _mm256_cmp_ps(vertex.w, _mm256_setzero_ps(), _CMP_GT_OQ);
        if (_mm256_movemask_epi8(gone) != 0 || _mm256_movemask_ps(free) != 0xff) {
            kernel(view, i, i + 8u);
            continue;
        }
        const float *pins = (const float *)(view->tether_handles + 2u * (size_t)i);
        const float *lengths = view->tether_lengths + 2u * (size_t)i;
        vec4x8 p = vertex;
        p = tethered_x8(view, _mm256_castps_si256(every_second(pins, false)), every_second(lengths, false), p);
        p = tethered_x8(view, _mm256_castps_si256(every_second(pins, true)), every_second(lengths, true), p);
        const __m256 same = _mm256_and_ps(
            _mm256_cmp_ps(p.x, vertex.x, _CMP_EQ_OQ),
            _mm256_and_ps(_mm256_cmp_ps(p.y, vertex.y, _CMP_EQ_OQ), _mm256_cmp_ps(p.z, vertex.z, _CMP_EQ_OQ)));
        if (_mm256_movemask_ps(same) != 0xff) {
            store_vec4x8(view->predicted, indices, p);
        }
    }
    kernel(view, i, end);
}
#else
typedef int avx2_tethers_needs_x86_64;
#endif
