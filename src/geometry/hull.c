// SPDX-License-Identifier: MIT
// hull.c - convex hulls by adding the farthest point again and again (the order of quickhull: Barber, Dobkin and
// Huhdanpaa 1996), in doubles and with a tolerance, so that points in a face's plane need no exact arithmetic.
#include "geometry/hull.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACE_LIMIT = 2 * HULL_TRIANGLE_LIMIT }; // while it grows

typedef struct Face {
    uint32_t corners[3]; // counter-clockwise from outside
    double normal[3];    // unit length
    double offset;
    bool visible; // from the point that is being added
} Face;

typedef struct Builder {
    const MoteVec3 *points;
    double tolerance; // m; a point no higher than this above a face is in it
    uint32_t face_count;
    Face faces[FACE_LIMIT];
} Builder;

typedef struct Edge {
    uint32_t from, to;
    uint32_t across; // the face that is not visible
} Edge;

static void difference(MoteVec3 a, MoteVec3 b, double out[3])
{
    out[0] = (double)a.x - (double)b.x;
    out[1] = (double)a.y - (double)b.y;
    out[2] = (double)a.z - (double)b.z;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// The plane of three points; false where they are in line: their triangle is lower than the tolerance.
static bool make_face(const Builder *builder, uint32_t a, uint32_t b, uint32_t c, Face *out)
{
    double ab[3], ac[3], bc[3];
    difference(builder->points[b], builder->points[a], ab);
    difference(builder->points[c], builder->points[a], ac);
    difference(builder->points[c], builder->points[b], bc);
    *out = (Face){.corners = {a, b, c}};
    cross(ab, ac, out->normal);
    const double length = sqrt(dot(out->normal, out->normal));
    const double longest = sqrt(fmax(dot(ab, ab), fmax(dot(ac, ac), dot(bc, bc))));
    if (length <= longest * builder->tolerance) {
        return false;
    }
    for (int axis = 0; axis < 3; axis++) {
        out->normal[axis] /= length;
    }
    const MoteVec3 p = builder->points[a];
    const double at[3] = {p.x, p.y, p.z};
    out->offset = dot(out->normal, at);
    return true;
}

static double height(const Face *face, MoteVec3 p)
{
    const double at[3] = {p.x, p.y, p.z};
    return dot(face->normal, at) - face->offset;
}

// ---- The first four ----------------------------------------------------------------------------------------

// The point farthest from the first, from the line of two, and from the plane of three.
static uint32_t farthest(const Builder *builder, uint32_t count, const uint32_t *chosen, int already, double *distance)
{
    Face face;
    uint32_t best = chosen[0];
    *distance = 0.0;
    if (already == 3 && !make_face(builder, chosen[0], chosen[1], chosen[2], &face)) {
        return best;
    }
    for (uint32_t i = 0; i < count; i++) {
        double from[3], along[3], normal[3];
        difference(builder->points[i], builder->points[chosen[0]], from);
        double d = sqrt(dot(from, from));
        if (already == 2) {
            difference(builder->points[chosen[1]], builder->points[chosen[0]], along);
            cross(from, along, normal);
            d = sqrt(dot(normal, normal) / dot(along, along));
        } else if (already == 3) {
            d = fabs(height(&face, builder->points[i]));
        }
        if (d > *distance) {
            *distance = d;
            best = i;
        }
    }
    return best;
}

static MoteResult make_first(Builder *builder, uint32_t count)
{
    static const char *const what[] = {"", "at one place", "on a line", "in a plane"};
    uint32_t chosen[4] = {0};
    for (int k = 1; k < 4; k++) {
        double distance;
        chosen[k] = farthest(builder, count, chosen, k, &distance);
        if (distance <= 4.0 * builder->tolerance) {
            return mote_fail(MOTE_ERROR_INPUT, "a hull of %u points that all lie %s, expected some volume between them",
                             count, what[k]);
        }
    }
    static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    Face base;
    make_face(builder, chosen[0], chosen[1], chosen[2], &base);
    const bool above = height(&base, builder->points[chosen[3]]) > 0.0;
    for (int k = 0; k < 4; k++) {
        const uint32_t a = chosen[sides[k][0]], b = chosen[sides[k][1]], c = chosen[sides[k][2]];
        if (!make_face(builder, a, above ? c : b, above ? b : c, &builder->faces[builder->face_count++])) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "a hull of %u points that is nearly flat, expected some volume between them", count);
        }
    }
    return MOTE_OK;
}

// ---- One more ----------------------------------------------------------------------------------------------

// The face with the edge from -> to, or FACE_LIMIT.
static uint32_t face_with(const Builder *builder, uint32_t from, uint32_t to)
{
    for (uint32_t f = 0; f < builder->face_count; f++) {
        const uint32_t *c = builder->faces[f].corners;
        if ((c[0] == from && c[1] == to) || (c[1] == from && c[2] == to) || (c[2] == from && c[0] == to)) {
            return f;
        }
    }
    return FACE_LIMIT;
}

// Marks the faces that see the point, from `first` on across their edges, so that they stay in one piece.
static void mark_visible(Builder *builder, uint32_t first, MoteVec3 p)
{
    uint32_t waiting[FACE_LIMIT], count = 0;
    for (uint32_t f = 0; f < builder->face_count; f++) {
        builder->faces[f].visible = false;
    }
    builder->faces[first].visible = true;
    waiting[count++] = first;
    while (count > 0) {
        const uint32_t *c = builder->faces[waiting[--count]].corners;
        for (int k = 0; k < 3; k++) {
            const uint32_t other = face_with(builder, c[(k + 1) % 3], c[k]);
            if (other < FACE_LIMIT && !builder->faces[other].visible &&
                height(&builder->faces[other], p) > builder->tolerance) {
                builder->faces[other].visible = true;
                waiting[count++] = other;
            }
        }
    }
}

static uint32_t find_horizon(const Builder *builder, Edge *edges)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < builder->face_count; f++) {
        const uint32_t *c = builder->faces[f].corners;
        for (int k = 0; k < 3 && builder->faces[f].visible; k++) {
            const uint32_t other = face_with(builder, c[(k + 1) % 3], c[k]);
            if (other < FACE_LIMIT && !builder->faces[other].visible) {
                edges[count++] = (Edge){c[k], c[(k + 1) % 3], other};
            }
        }
    }
    return count;
}

// Replaces the faces that see the point by a fan from it to their rim. Where point and rim are in line, the face across
// the rim is taken down as well.
static bool add_point(Builder *builder, uint32_t point, uint32_t seen_by)
{
    static const uint32_t limit = FACE_LIMIT;
    Edge horizon[3 * FACE_LIMIT];
    mark_visible(builder, seen_by, builder->points[point]);
    uint32_t rim = 0;
    for (bool in_line = true; in_line;) {
        in_line = false;
        rim = find_horizon(builder, horizon);
        for (uint32_t e = 0; e < rim; e++) {
            Face face;
            if (!make_face(builder, horizon[e].from, horizon[e].to, point, &face)) {
                builder->faces[horizon[e].across].visible = true;
                in_line = true;
            }
        }
    }
    if (rim < 3) {
        return true; // all faces were in line with it: it adds nothing
    }
    uint32_t kept = 0;
    for (uint32_t f = 0; f < builder->face_count; f++) {
        if (!builder->faces[f].visible) {
            builder->faces[kept++] = builder->faces[f];
        }
    }
    if (kept + rim > limit) {
        return false;
    }
    for (uint32_t e = 0; e < rim; e++) {
        make_face(builder, horizon[e].from, horizon[e].to, point, &builder->faces[kept++]);
    }
    builder->face_count = kept;
    return true;
}

// Of the points that may still be outside, finds the one farthest from the face that it is highest above, and leaves
// out those that no face sees: the hull only grows.
static bool next_point(const Builder *builder, uint32_t *outside, uint32_t *outside_count, uint32_t *point,
                       uint32_t *face)
{
    double best = builder->tolerance;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *outside_count; i++) {
        double highest = -INFINITY;
        uint32_t above = 0;
        for (uint32_t f = 0; f < builder->face_count; f++) {
            const double h = height(&builder->faces[f], builder->points[outside[i]]);
            above = h > highest ? f : above;
            highest = fmax(h, highest);
        }
        if (highest > builder->tolerance) {
            outside[kept++] = outside[i];
        }
        if (highest > best) {
            best = highest;
            *point = outside[i];
            *face = above;
        }
    }
    *outside_count = kept;
    return kept > 0;
}

static MoteResult grow(Builder *builder, uint32_t count)
{
    uint32_t *outside = malloc((size_t)count * sizeof *outside);
    if (outside == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a hull of %u points", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        outside[i] = i;
    }
    bool fits = true;
    uint32_t left = count, point = 0, face = 0;
    while (fits && next_point(builder, outside, &left, &point, &face)) {
        fits = add_point(builder, point, face);
        for (uint32_t i = 0; i < left; i++) { // once is enough, whatever came of it
            if (outside[i] == point) {
                outside[i] = outside[--left];
                break;
            }
        }
    }
    free(outside);
    if (!fits || builder->face_count > HULL_TRIANGLE_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "the hull of %u points has more than %u triangles: take fewer points, or a distance field",
                         count, HULL_TRIANGLE_LIMIT);
    }
    return MOTE_OK;
}

MoteResult hull_make(const MoteVec3 *points, uint32_t count, Hull *out)
{
    if (points == NULL || count < 4) {
        return mote_fail(MOTE_ERROR_INPUT, "a hull of %u points, expected at least 4", count);
    }
    double size = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const MoteVec3 p = points[i];
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) {
            return mote_fail(MOTE_ERROR_INPUT, "point %u of a hull is (%g, %g, %g), expected finite numbers", i,
                             (double)p.x, (double)p.y, (double)p.z);
        }
        size = fmax(size, fmax(fabs((double)p.x), fmax(fabs((double)p.y), fabs((double)p.z))));
    }
    Builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a hull");
    }
    builder->points = points;
    builder->tolerance = size * 2e-7; // what rounding to floats may lift a point out of its plane
    MoteResult result = make_first(builder, count);
    result = result == MOTE_OK ? grow(builder, count) : result;
    *out = (Hull){.triangle_count = result == MOTE_OK ? builder->face_count : 0};
    for (uint32_t f = 0; f < out->triangle_count; f++) {
        const Face *face = &builder->faces[f];
        HullTriangle *to = &out->triangles[f];
        to->normal = (MoteVec3){(float)face->normal[0], (float)face->normal[1], (float)face->normal[2]};
        to->offset = (float)face->offset;
        for (int k = 0; k < 3; k++) {
            const MoteVec3 p = to->corners[k] = points[face->corners[k]];
            out->radius = fmaxf(out->radius, sqrtf(p.x * p.x + p.y * p.y + p.z * p.z));
        }
    }
    free(builder);
    return result;
}
