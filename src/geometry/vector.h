// vector.h - double precision vectors for work on meshes: coordinates are floats, sums and products of them are not.
#ifndef MOTE_GEOMETRY_VECTOR_H
#define MOTE_GEOMETRY_VECTOR_H

#include "mote.h"
#include <math.h>

typedef struct Vector {
    double x, y, z;
} Vector;

static inline Vector vector(double x, double y, double z)
{
    return (Vector){x, y, z};
}

static inline Vector from_vec3(MoteVec3 v)
{
    return (Vector){v.x, v.y, v.z};
}

static inline MoteVec3 to_vec3(Vector v)
{
    return (MoteVec3){(float)v.x, (float)v.y, (float)v.z};
}

static inline Vector add(Vector a, Vector b)
{
    return (Vector){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline Vector subtract(Vector a, Vector b)
{
    return (Vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline Vector scaled(Vector a, double s)
{
    return (Vector){a.x * s, a.y * s, a.z * s};
}

static inline double dot(Vector a, Vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vector cross(Vector a, Vector b)
{
    return (Vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double length(Vector a)
{
    return sqrt(dot(a, a));
}

// Unit length, or `otherwise` where there is no direction.
static inline Vector unit(Vector a, Vector otherwise)
{
    const double l = length(a);
    return l > 0.0 ? scaled(a, 1.0 / l) : otherwise;
}

static inline Vector smaller_of(Vector a, Vector b)
{
    return (Vector){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static inline Vector larger_of(Vector a, Vector b)
{
    return (Vector){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

// v turned by the unit quaternion q: v + 2 u x (u x v + w v).
static inline Vector turned(MoteQuaternion q, Vector v)
{
    const Vector u = {q.x, q.y, q.z};
    const Vector t = add(cross(u, v), scaled(v, q.w));
    return add(v, scaled(cross(u, t), 2.0));
}

#endif
