// SPDX-License-Identifier: MIT
// language.h - the common subset of C17, CUDA C++ and GLSL 4.60 in which kernels are written.
//
// A kernel is a function of one index i. It reads and writes the view's buffers with LOAD and STORE and its
// parameters with PARAMETER; LOAD_PAIR is two elements of 32 bits from an even index on. Helpers that need the view
// take VIEW first and are called with VIEW_HERE. HAS_FEATURE(what) is false in kernels compiled for worlds without the
// feature (LACKS_* of data.h); the rest of the condition must be false in such worlds, too. The subset: no pointers,
// out-parameters, recursion, enum, sizeof, compound literals, swizzles or operators on vectors; explicit casts; f
// suffixes; comparisons spelled out; integer atomics only, and ATOMIC_LOAD for what others change meanwhile.
// docs/adding-a-constraint.md has the rules and the reasons.
#ifndef KERNEL_LANGUAGE_H
#define KERNEL_LANGUAGE_H

#if defined(VULKAN) // ---- GLSL, compiled by glslang for Vulkan ----

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(constant_id = 1) const uint LACKED_FEATURES = 0u; // the view's `lacked_features`, for some kernels

#define u64 uint64_t
#define FUNCTION
#define STRUCT(name)                                    struct name
#define KERNEL(name)                                    void name(uint i)
#define LOAD(buffer_name, index)                        load_##buffer_name(index)
#define STORE(buffer_name, index, value)                store_##buffer_name(index, value)
#define LOAD_PAIR(buffer_name, index)                   load_pair(view.buffer_name, index)
#define ATOMIC_ADD(buffer_name, index, value)           atomicAdd(view.buffer_name.data[index], value)
#define ATOMIC_MAX(buffer_name, index, value)           atomicMax(view.buffer_name.data[index], value)
#define ATOMIC_LOAD(buffer_name, index)                 load_##buffer_name(index)
#define ATOMIC_CAS(buffer_name, index, expected, value) atomicCompSwap(view.buffer_name.data[index], expected, value)
#define PARAMETER(name)                                 (view.name)
#define HAS_FEATURE(what)                               ((LACKED_FEATURES & LACKS_##what) == 0u)
#define VIEW
#define VIEW_COMMA
#define VIEW_HERE
#define VIEW_HERE_COMMA
#define F32(x)           float(x)
#define I32(x)           int(x)
#define U32(x)           uint(x)
#define U64(x)           uint64_t(x)
#define FLOAT_BITS(x)    floatBitsToUint(x)
#define FLOAT_OF_BITS(x) uintBitsToFloat(x)
#define v3(x, y, z)      vec3(x, y, z)
#define v4(x, y, z, w)   vec4(x, y, z, w)
#define uv2(x, y)        uvec2(x, y)
#define sqrtf(x)         sqrt(x)
#define floorf(x)        floor(x)
#define fabsf(x)         abs(x)

#else // ---- C17 and CUDA C++ ----

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t uint;
typedef uint64_t u64;
#define STRUCT(name)                                                                                                   \
    typedef struct name name;                                                                                          \
    struct name
#define KERNEL(name)                     FUNCTION void name(const SolverData *view, uint i)
#define LOAD(buffer_name, index)         (view->buffer_name[index])
#define STORE(buffer_name, index, value) (view->buffer_name[index] = (value))
#define LOAD_PAIR(buffer_name, index)    uv2(view->buffer_name[index], view->buffer_name[(index) + 1u])
#define PARAMETER(name)                  (view->name)
#define HAS_FEATURE(what)                true
#define VIEW                             const SolverData *view
#define VIEW_COMMA                       const SolverData *view,
#define VIEW_HERE                        view
#define VIEW_HERE_COMMA                  view,
#define F32(x)                           ((float)(x))
#define I32(x)                           ((int32_t)(x))
#define U32(x)                           ((uint32_t)(x))
#define U64(x)                           ((uint64_t)(x))

#if defined(__CUDACC__)
#define FUNCTION                                        static __device__ inline
#define ATOMIC_ADD(buffer_name, index, value)           atomicAdd(&view->buffer_name[index], value)
#define ATOMIC_MAX(buffer_name, index, value)           atomicMax(&view->buffer_name[index], value)
#define ATOMIC_LOAD(buffer_name, index)                 (*(const volatile uint *)&view->buffer_name[index])
#define ATOMIC_CAS(buffer_name, index, expected, value) atomicCAS(&view->buffer_name[index], expected, value)
#define FLOAT_BITS(x)                                   __float_as_uint(x)
#define FLOAT_OF_BITS(x)                                __uint_as_float(x)
typedef uint2 uvec2;
typedef float3 vec3;
typedef float4 vec4;
#else
#define FUNCTION                                        static inline
#define ATOMIC_ADD(buffer_name, index, value)           __atomic_fetch_add(&view->buffer_name[index], value, __ATOMIC_RELAXED)
#define ATOMIC_MAX(buffer_name, index, value)           atomic_max_u32(&view->buffer_name[index], value)
#define ATOMIC_LOAD(buffer_name, index)                 __atomic_load_n(&view->buffer_name[index], __ATOMIC_RELAXED)
#define ATOMIC_CAS(buffer_name, index, expected, value) atomic_cas_u32(&view->buffer_name[index], expected, value)
#define FLOAT_BITS(x)                                   float_bits(x)
#define FLOAT_OF_BITS(x)                                float_of_bits(x)
#if defined(__cplusplus)
#define KERNEL_ALIGN(bytes) alignas(bytes)
#else
#define KERNEL_ALIGN(bytes) _Alignas(bytes)
#endif
typedef struct uvec2 {
    KERNEL_ALIGN(8) uint x;
    uint y;
} uvec2;
typedef struct vec3 {
    float x, y, z;
} vec3;
typedef struct vec4 {
    KERNEL_ALIGN(16) float x;
    float y, z, w;
} vec4;

static inline uint float_bits(float x)
{
    uint bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static inline float float_of_bits(uint bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static inline uint atomic_max_u32(uint *target, uint value)
{
    uint seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(target, &seen, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return seen;
}

static inline uint atomic_cas_u32(uint *target, uint expected, uint value)
{
    __atomic_compare_exchange_n(target, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
#endif

FUNCTION uvec2 uv2(uint x, uint y)
{
    uvec2 v = {x, y};
    return v;
}

FUNCTION vec3 v3(float x, float y, float z)
{
    vec3 v = {x, y, z};
    return v;
}

FUNCTION vec4 v4(float x, float y, float z, float w)
{
    vec4 v = {x, y, z, w};
    return v;
}

#endif

// ---- From here on the subset itself: one definition serves all three languages. ----

FUNCTION float min_f32(float a, float b)
{
    return a < b ? a : b;
}
FUNCTION float max_f32(float a, float b)
{
    return a > b ? a : b;
}
FUNCTION float clamp_f32(float x, float low, float high)
{
    return min_f32(max_f32(x, low), high);
}
FUNCTION uint min_u32(uint a, uint b)
{
    return a < b ? a : b;
}

// By bits, because compilers may assume that comparisons never see a NaN.
FUNCTION bool is_finite(float x)
{
    return (FLOAT_BITS(x) & 0x7f800000u) != 0x7f800000u;
}

FUNCTION vec3 v3_from_v4(vec4 a)
{
    return v3(a.x, a.y, a.z);
}
FUNCTION vec4 v4_from_v3(vec3 a, float w)
{
    return v4(a.x, a.y, a.z, w);
}
FUNCTION vec3 v3_add(vec3 a, vec3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
FUNCTION vec3 v3_sub(vec3 a, vec3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
FUNCTION vec3 v3_mul(vec3 a, vec3 b)
{
    return v3(a.x * b.x, a.y * b.y, a.z * b.z);
}
FUNCTION vec3 v3_scale(vec3 a, float s)
{
    return v3(a.x * s, a.y * s, a.z * s);
}
FUNCTION vec3 v3_add_scaled(vec3 a, vec3 b, float s)
{
    return v3_add(a, v3_scale(b, s));
}
FUNCTION float v3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
FUNCTION float v3_length(vec3 a)
{
    return sqrtf(v3_dot(a, a));
}
FUNCTION vec3 v3_cross(vec3 a, vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
FUNCTION bool v3_is_finite(vec3 a)
{
    return is_finite(a.x) && is_finite(a.y) && is_finite(a.z);
}

// Shortens `a` to at most `longest`.
FUNCTION vec3 v3_limit(vec3 a, float longest)
{
    const float squared = v3_dot(a, a);
    return squared > longest * longest ? v3_scale(a, longest / sqrtf(squared)) : a;
}

// Rotates by a unit quaternion (xyz vector part, w scalar part).
FUNCTION vec3 rotate(vec4 q, vec3 v)
{
    const vec3 axis = v3_from_v4(q);
    const vec3 twice = v3_scale(v3_cross(axis, v), 2.0f);
    return v3_add(v3_add_scaled(v, twice, q.w), v3_cross(axis, twice));
}

FUNCTION vec3 rotate_back(vec4 q, vec3 v)
{
    return rotate(v4(-q.x, -q.y, -q.z, q.w), v);
}

#endif
