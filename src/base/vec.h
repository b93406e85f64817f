// SPDX-License-Identifier: MIT
// vec.h - the host's 3-vectors and rotations: vec3_* of floats, on MoteVec3, and dvec3_* of doubles, for sums and
// products of coordinates that floats would round. Kernels and shaders have their own.
#ifndef MOTE_BASE_VEC_H
#define MOTE_BASE_VEC_H

#include "mote.h"
#include <math.h>

// ---- Floats ----

static inline MoteVec3 vec3_add(MoteVec3 a, MoteVec3 b)
{
    return (MoteVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline MoteVec3 vec3_sub(MoteVec3 a, MoteVec3 b)
{
    return (MoteVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline MoteVec3 vec3_scale(MoteVec3 a, float s)
{
    return (MoteVec3){a.x * s, a.y * s, a.z * s};
}

// a + s b
static inline MoteVec3 vec3_add_scaled(MoteVec3 a, MoteVec3 b, float s)
{
    return (MoteVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline float vec3_dot(MoteVec3 a, MoteVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline MoteVec3 vec3_cross(MoteVec3 a, MoteVec3 b)
{
    return (MoteVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float vec3_length(MoteVec3 a)
{
    return sqrtf(vec3_dot(a, a));
}

// Of unit length; `fallback` where a is not longer than `shortest`.
static inline MoteVec3 vec3_normalize(MoteVec3 a, float shortest, MoteVec3 fallback)
{
    const float length = vec3_length(a);
    return length > shortest ? (MoteVec3){a.x / length, a.y / length, a.z / length} : fallback;
}

// v rotated by the unit quaternion q = (u, w): v + 2 u x (u x v + w v).
static inline MoteVec3 vec3_rotate(MoteQuaternion q, MoteVec3 v)
{
    const MoteVec3 t = {q.y * v.z - q.z * v.y + q.w * v.x, q.z * v.x - q.x * v.z + q.w * v.y,
                        q.x * v.y - q.y * v.x + q.w * v.z};
    return (MoteVec3){v.x + 2.0f * (q.y * t.z - q.z * t.y), v.y + 2.0f * (q.z * t.x - q.x * t.z),
                      v.z + 2.0f * (q.x * t.y - q.y * t.x)};
}

static inline MoteQuaternion quat_conjugate(MoteQuaternion q)
{
    return (MoteQuaternion){-q.x, -q.y, -q.z, q.w};
}

// The rotation b, then a.
static inline MoteQuaternion quat_product(MoteQuaternion a, MoteQuaternion b)
{
    return (MoteQuaternion){
        .x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        .y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        .z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        .w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    };
}

static inline MoteQuaternion quat_normalize(MoteQuaternion q)
{
    const float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (MoteQuaternion){q.x / length, q.y / length, q.z / length, q.w / length};
}

// The shortest rotation of the unit vector a onto the unit vector b; half a turn about any axis where they are
// opposite.
static inline MoteQuaternion quat_between(MoteVec3 a, MoteVec3 b)
{
    const float cosine = vec3_dot(a, b);
    const MoteVec3 axis = vec3_cross(a, b);
    if (cosine < -0.999999f) {
        const MoteVec3 other = fabsf(a.x) < 0.7f ? (MoteVec3){1, 0, 0} : (MoteVec3){0, 1, 0};
        const MoteVec3 side = vec3_normalize(vec3_cross(a, other), 0.0f, other);
        return (MoteQuaternion){side.x, side.y, side.z, 0.0f};
    }
    return quat_normalize((MoteQuaternion){axis.x, axis.y, axis.z, 1.0f + cosine});
}

// ---- Doubles ----

typedef struct DVec3 {
    double x, y, z;
} DVec3;

static inline DVec3 dvec3(double x, double y, double z)
{
    return (DVec3){x, y, z};
}

static inline DVec3 dvec3_from(MoteVec3 v)
{
    return (DVec3){v.x, v.y, v.z};
}

static inline MoteVec3 dvec3_round(DVec3 v)
{
    return (MoteVec3){(float)v.x, (float)v.y, (float)v.z};
}

static inline DVec3 dvec3_add(DVec3 a, DVec3 b)
{
    return (DVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline DVec3 dvec3_sub(DVec3 a, DVec3 b)
{
    return (DVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline DVec3 dvec3_scale(DVec3 a, double s)
{
    return (DVec3){a.x * s, a.y * s, a.z * s};
}

// a + s b
static inline DVec3 dvec3_add_scaled(DVec3 a, DVec3 b, double s)
{
    return (DVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

// s a + t b
static inline DVec3 dvec3_combine(double s, DVec3 a, double t, DVec3 b)
{
    return (DVec3){s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
}

static inline double dvec3_dot(DVec3 a, DVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline DVec3 dvec3_cross(DVec3 a, DVec3 b)
{
    return (DVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double dvec3_length(DVec3 a)
{
    return sqrt(dvec3_dot(a, a));
}

// Of unit length; `fallback` where a is not longer than `shortest`.
static inline DVec3 dvec3_normalize(DVec3 a, double shortest, DVec3 fallback)
{
    const double length = dvec3_length(a);
    return length > shortest ? dvec3_scale(a, 1.0 / length) : fallback;
}

static inline DVec3 dvec3_min(DVec3 a, DVec3 b)
{
    return (DVec3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static inline DVec3 dvec3_max(DVec3 a, DVec3 b)
{
    return (DVec3){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

// v rotated by the unit quaternion q = (u, w): v + 2 u x (u x v + w v).
static inline DVec3 dvec3_rotate(MoteQuaternion q, DVec3 v)
{
    const DVec3 u = {q.x, q.y, q.z};
    const DVec3 t = dvec3_add(dvec3_cross(u, v), dvec3_scale(v, q.w));
    return dvec3_add(v, dvec3_scale(dvec3_cross(u, t), 2.0));
}

#endif
