// SPDX-License-Identifier: MIT
// avx2_kernels.h - hand-vectorised AVX2 forms of the hot kernels, and the eight-wide tools they share.
//
// Lists come in blocks of eight padded with the particle itself, so that every block is a full register; a padding
// entry has zero offset and adds nothing where the offset is a factor. Each neighbour is one 16-byte load, and eight
// of them are transposed in registers: on the machines measured that beats gathers by a factor of two.
// Each AVX2 kernel agrees with its portable kernel to rounding; tests/test_avx2_kernels.c holds them to it.
#ifndef MOTE_AVX2_KERNELS_H
#define MOTE_AVX2_KERNELS_H

#include "cpu/cpu_backend.h"

RangeFunction avx2_count_neighbours, avx2_fill_neighbours;
RangeFunction avx2_density_lambda, avx2_density_delta, avx2_measure_density;
RangeFunction avx2_add_boundary_density, avx2_add_boundary_pressure;
RangeFunction avx2_smooth_velocity, avx2_confine_vorticity;
RangeFunction avx2_stabilize_contacts, avx2_solve_contacts;
RangeFunction avx2_solve_coloured_links, avx2_solve_tethers;
RangeFunction avx2_solve_pairs, avx2_count_contacts, avx2_split_particle_masses;
RangeFunction avx2_watch_begin, avx2_watch_end;
RangeFunction avx2_predict, avx2_assign_keys, avx2_update_velocity;
RangeFunction avx2_advect_diffuse;
RangeFunction avx2_make_columns; // no AVX2 kernel: see avx2_build_lists

// Where threads put lists in one pass, before anyone knows how long they all are: each takes chunks in turn. All
// numbers are blocks.
typedef struct ListArena {
    uint next, chunk, end;
} ListArena;

// What a thread has left of the chunk that it took last.
typedef struct ListChunk {
    uint next, end;
} ListChunk;

// Counts, starts and lists of the particles begin to end - 1; false if they do not fit, and then all of it is to be
// made anew by count_neighbours and fill_neighbours. Where a list lies depends on timing, what is in it does not.
// avx2_make_columns has been run for all particles before.
bool avx2_build_lists(const SolverData *view, uint begin, uint end, ListArena *arena, ListChunk *chunk);

// Row m moves the lanes whose bit is set in m to the front (avx2_neighbours.c).
extern _Alignas(32) uint avx2_pack_table[256][8];

#if defined(__AVX2__)
#include <immintrin.h>

typedef struct vec4x8 {
    __m256 x, y, z, w;
} vec4x8;

// Four 4x4 transposes at once: from eight (x, y, z, w) to eight x, eight y, ...
static inline vec4x8 transpose_vec4x8(__m128 p0, __m128 p1, __m128 p2, __m128 p3, __m128 p4, __m128 p5, __m128 p6,
                                      __m128 p7)
{
    const __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(p0), p4, 1);
    const __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(p1), p5, 1);
    const __m256 c = _mm256_insertf128_ps(_mm256_castps128_ps256(p2), p6, 1);
    const __m256 d = _mm256_insertf128_ps(_mm256_castps128_ps256(p3), p7, 1);
    const __m256 ab_low = _mm256_unpacklo_ps(a, b), ab_high = _mm256_unpackhi_ps(a, b);
    const __m256 cd_low = _mm256_unpacklo_ps(c, d), cd_high = _mm256_unpackhi_ps(c, d);
    return (vec4x8){
        _mm256_shuffle_ps(ab_low, cd_low, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(ab_low, cd_low, _MM_SHUFFLE(3, 2, 3, 2)),
        _mm256_shuffle_ps(ab_high, cd_high, _MM_SHUFFLE(1, 0, 1, 0)),
        _mm256_shuffle_ps(ab_high, cd_high, _MM_SHUFFLE(3, 2, 3, 2)),
    };
}

static inline __m128 load_one(const vec4 *data, uint index)
{
    return _mm_load_ps(&data[index].x);
}

// data[indices[0]] to data[indices[7]].
static inline vec4x8 load_vec4x8(const vec4 *data, const uint *indices)
{
    return transpose_vec4x8(load_one(data, indices[0]), load_one(data, indices[1]), load_one(data, indices[2]),
                            load_one(data, indices[3]), load_one(data, indices[4]), load_one(data, indices[5]),
                            load_one(data, indices[6]), load_one(data, indices[7]));
}

// The last components of data[indices[0]] to data[indices[7]].
static inline __m256 load_w(const vec4 *data, const uint *indices)
{
    return _mm256_setr_ps(data[indices[0]].w, data[indices[1]].w, data[indices[2]].w, data[indices[3]].w,
                          data[indices[4]].w, data[indices[5]].w, data[indices[6]].w, data[indices[7]].w);
}

// data[0] to data[7].
static inline vec4x8 load_consecutive(const vec4 *data)
{
    return transpose_vec4x8(load_one(data, 0), load_one(data, 1), load_one(data, 2), load_one(data, 3),
                            load_one(data, 4), load_one(data, 5), load_one(data, 6), load_one(data, 7));
}

static inline void store_consecutive(vec4 *to, vec4x8 v)
{
    const vec4x8 rows =
        transpose_vec4x8(_mm256_castps256_ps128(v.x), _mm256_castps256_ps128(v.y), _mm256_castps256_ps128(v.z),
                         _mm256_castps256_ps128(v.w), _mm256_extractf128_ps(v.x, 1), _mm256_extractf128_ps(v.y, 1),
                         _mm256_extractf128_ps(v.z, 1), _mm256_extractf128_ps(v.w, 1)); // of particles n and n + 4
    _mm_store_ps(&to[0].x, _mm256_castps256_ps128(rows.x));
    _mm_store_ps(&to[1].x, _mm256_castps256_ps128(rows.y));
    _mm_store_ps(&to[2].x, _mm256_castps256_ps128(rows.z));
    _mm_store_ps(&to[3].x, _mm256_castps256_ps128(rows.w));
    _mm_store_ps(&to[4].x, _mm256_extractf128_ps(rows.x, 1));
    _mm_store_ps(&to[5].x, _mm256_extractf128_ps(rows.y, 1));
    _mm_store_ps(&to[6].x, _mm256_extractf128_ps(rows.z, 1));
    _mm_store_ps(&to[7].x, _mm256_extractf128_ps(rows.w, 1));
}

// To data[indices[0]] to data[indices[7]].
static inline void store_vec4x8(vec4 *data, const uint *indices, vec4x8 v)
{
    const vec4x8 rows =
        transpose_vec4x8(_mm256_castps256_ps128(v.x), _mm256_castps256_ps128(v.y), _mm256_castps256_ps128(v.z),
                         _mm256_castps256_ps128(v.w), _mm256_extractf128_ps(v.x, 1), _mm256_extractf128_ps(v.y, 1),
                         _mm256_extractf128_ps(v.z, 1), _mm256_extractf128_ps(v.w, 1)); // of particles n and n + 4
    const __m256 four[] = {rows.x, rows.y, rows.z, rows.w};
    for (uint n = 0; n < 4u; n++) {
        _mm_store_ps(&data[indices[n]].x, _mm256_castps256_ps128(four[n]));
        _mm_store_ps(&data[indices[n + 4u]].x, _mm256_extractf128_ps(four[n], 1));
    }
}

static inline vec4x8 select_vec4x8(vec4x8 no, vec4x8 yes, __m256 mask)
{
    return (vec4x8){_mm256_blendv_ps(no.x, yes.x, mask), _mm256_blendv_ps(no.y, yes.y, mask),
                    _mm256_blendv_ps(no.z, yes.z, mask), _mm256_blendv_ps(no.w, yes.w, mask)};
}

static inline __m256 dot_x8(__m256 x, __m256 y, __m256 z)
{
    return _mm256_fmadd_ps(x, x, _mm256_fmadd_ps(y, y, _mm256_mul_ps(z, z)));
}

// Squared length, and a little more, so that it may be divided by: spiky_factor adds the same. The exact root and
// division cost no more here than estimates with a Newton step: loads and shuffles take most of the time.
static inline __m256 positive_dot_x8(__m256 x, __m256 y, __m256 z)
{
    return _mm256_fmadd_ps(x, x, _mm256_fmadd_ps(y, y, _mm256_fmadd_ps(z, z, _mm256_set1_ps(1e-24f))));
}

// sum + Poly6, without its norm.
static inline __m256 add_poly6_x8(__m256 sum, __m256 squared_distance, __m256 smoothing_radius_squared)
{
    const __m256 t = _mm256_max_ps(_mm256_sub_ps(smoothing_radius_squared, squared_distance), _mm256_setzero_ps());
    return _mm256_fmadd_ps(_mm256_mul_ps(t, t), t, sum);
}

// h - r within the smoothing radius, else 0.
static inline __m256 inside_x8(__m256 distance, __m256 smoothing_radius)
{
    return _mm256_max_ps(_mm256_sub_ps(smoothing_radius, distance), _mm256_setzero_ps());
}

// Always in the same order, so that sums repeat bit for bit.
static inline float sum_x8(__m256 v)
{
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

// The sums of four registers at once, in lanes x, y, z and w. What follows the loop over a particle's neighbours stays
// in vector registers as far as it can: done a float at a time it took a seventh of the loop's time.
static inline __m128 sum_four(__m256 x, __m256 y, __m256 z, __m256 w)
{
    const __m256 xy = _mm256_add_ps(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
    const __m256 zw = _mm256_add_ps(_mm256_unpacklo_ps(z, w), _mm256_unpackhi_ps(z, w));
    const __m256 sums = _mm256_add_ps(_mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(1, 0, 1, 0)),
                                      _mm256_shuffle_ps(xy, zw, _MM_SHUFFLE(3, 2, 3, 2)));
    return _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
}

static inline vec4 vec4_from(__m128 v)
{
    vec4 result;
    _mm_store_ps(&result.x, v);
    return result;
}

// x, y and z of the one, w of the other, whatever the rest holds.
static inline __m128 with_w(__m128 xyz, __m128 w)
{
    return _mm_blend_ps(xyz, w, 8);
}

static inline __m128 broadcast_w(__m128 v)
{
    return _mm_permute_ps(v, _MM_SHUFFLE(3, 3, 3, 3));
}

// x^2 + y^2 + z^2 in the first lane.
static inline __m128 squared_length_xyz(__m128 v)
{
    const __m128 squares = _mm_mul_ps(v, v);
    const __m128 xy = _mm_add_ss(squares, _mm_permute_ps(squares, _MM_SHUFFLE(1, 1, 1, 1)));
    return _mm_add_ss(xy, _mm_permute_ps(squares, _MM_SHUFFLE(2, 2, 2, 2)));
}

static inline __m128 load_vec3(vec3 v)
{
    return _mm_setr_ps(v.x, v.y, v.z, 0.0f);
}
#endif
#endif
