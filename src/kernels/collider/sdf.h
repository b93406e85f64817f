// SPDX-License-Identifier: MIT
// sdf.h - distance fields in the kernels: look-up in a NanoVDB tree (Museth 2013, 2021), and attributes of the nearest
// triangle of the mesh that the field was made from (DYV section 5.2, fig. 10); convex hulls.
//
// A grid is NanoVDB's own bytes, version 32: root -> upper nodes of 32^3 -> lower nodes of 16^3 -> leaves of 8^3
// voxels. PNanoVDB.h reads it through pointers and a table of constants that CUDA's device code cannot access, so the
// look-up is written here once for all languages; tests compare it voxel by voxel with NanoVDB's. Offsets below are in
// words of 4 bytes.
#ifndef MOTE_KERNELS_SDF_H
#define MOTE_KERNELS_SDF_H

#include "data.h"

#define ROOT_TILE_COUNT  6u
#define ROOT_BACKGROUND  7u
#define ROOT_TILES       16u // 8 words each: key (2), child (2), state, value
#define UPPER_CHILD_MASK 1032u
#define UPPER_TABLE      2064u // 2 words an entry: a child's distance in bytes, or a value
#define LOWER_CHILD_MASK 136u
#define LOWER_TABLE      272u
#define LEAF_TABLE       24u

// The node that an entry of `node` leads to.
FUNCTION uint grid_child(VIEW_COMMA uint node, uint entry)
{
    return node + ((LOAD(field_words, entry) >> 2) | (LOAD(field_words, entry + 1u) << 30));
}

// Where the voxel's leaf has its values (x), or 0 and the value of the whole region that it is in (y).
FUNCTION uvec2 grid_probe(VIEW_COMMA uint root, uint x, uint y, uint z)
{
    const uint key_low = (z >> 12) | ((y >> 12) << 21);
    const uint key_high = ((x >> 12) << 10) | (y >> 23);
    const uint tiles = LOAD(field_words, root + ROOT_TILE_COUNT);
    uint tile = root + ROOT_TILES;
    uint t = 0u;
    while (t < tiles && (LOAD(field_words, tile) != key_low || LOAD(field_words, tile + 1u) != key_high)) {
        tile += 8u;
        t++;
    }
    if (t == tiles) {
        return uv2(0u, LOAD(field_words, root + ROOT_BACKGROUND));
    }
    if (LOAD(field_words, tile + 2u) == 0u && LOAD(field_words, tile + 3u) == 0u) {
        return uv2(0u, LOAD(field_words, tile + 5u));
    }
    const uint upper = grid_child(VIEW_HERE_COMMA root, tile + 2u);
    const uint in_upper = (((x & 4095u) >> 7) << 10) | (((y & 4095u) >> 7) << 5) | ((z & 4095u) >> 7);
    const uint upper_entry = upper + UPPER_TABLE + 2u * in_upper;
    if (((LOAD(field_words, upper + UPPER_CHILD_MASK + (in_upper >> 5)) >> (in_upper & 31u)) & 1u) == 0u) {
        return uv2(0u, LOAD(field_words, upper_entry));
    }
    const uint lower = grid_child(VIEW_HERE_COMMA upper, upper_entry);
    const uint in_lower = (((x & 127u) >> 3) << 8) | (((y & 127u) >> 3) << 4) | ((z & 127u) >> 3);
    const uint lower_entry = lower + LOWER_TABLE + 2u * in_lower;
    if (((LOAD(field_words, lower + LOWER_CHILD_MASK + (in_lower >> 5)) >> (in_lower & 31u)) & 1u) == 0u) {
        return uv2(0u, LOAD(field_words, lower_entry));
    }
    return uv2(grid_child(VIEW_HERE_COMMA lower, lower_entry) + LEAF_TABLE, 0u);
}

// The value of a voxel, as bits, in the leaf or region that grid_probe found it in.
FUNCTION uint grid_bits(VIEW_COMMA uvec2 probe, uint x, uint y, uint z)
{
    return probe.x != 0u ? LOAD(field_words, probe.x + (((x & 7u) << 6) | ((y & 7u) << 3) | (z & 7u))) : probe.y;
}

// ---- Distance ----------------------------------------------------------------------------------------------

FUNCTION vec3 unit_or(vec3 v, float shortest, vec3 otherwise)
{
    const float length = v3_length(v);
    return length > shortest ? v3_scale(v, 1.0f / length) : otherwise;
}

// The gradient and signed distance at a point in the field's frame: the trilinear interpolant of eight voxels. The
// gradient is outward, and of length 1 but where the nearest surface changes from one side of a cell to the other.
// Outside the box of known distances it is the distance to that box, which is a lower bound of the distance to the
// surface.
FUNCTION vec4 field_gradient(VIEW_COMMA uint number, vec3 p)
{
    const Field field = LOAD(fields, number);
    const vec3 q = v3(clamp_f32(p.x, field.bounds_min.x, field.bounds_max.x),
                      clamp_f32(p.y, field.bounds_min.y, field.bounds_max.y),
                      clamp_f32(p.z, field.bounds_min.z, field.bounds_max.z));
    const vec3 apart = v3_sub(p, q);
    const float gap = v3_length(apart);
    if (gap > 0.0f) {
        return v4_from_v3(v3_scale(apart, field.slope / gap), field.outside + field.slope * gap);
    }
    const vec3 at = v3_scale(v3_sub(q, field.origin), field.cells_per_metre);
    const vec3 base = v3(floorf(at.x), floorf(at.y), floorf(at.z));
    const vec3 f = v3_sub(at, base);
    const uint x = U32(I32(base.x));
    const uint y = U32(I32(base.y));
    const uint z = U32(I32(base.z));
    float value[8];
    uvec2 probe = uv2(0u, 0u);
    uint in_leaf_x = ~x; // of the last probe: mostly one leaf holds all eight
    uint in_leaf_y = 0u;
    uint in_leaf_z = 0u;
    for (uint c = 0u; c < 8u; c++) {
        const uint vx = x + (c >> 2);
        const uint vy = y + ((c >> 1) & 1u);
        const uint vz = z + (c & 1u);
        if ((((vx ^ in_leaf_x) | (vy ^ in_leaf_y) | (vz ^ in_leaf_z)) & 0xfffffff8u) != 0u) {
            probe = grid_probe(VIEW_HERE_COMMA field.distances, vx, vy, vz);
            in_leaf_x = vx;
            in_leaf_y = vy;
            in_leaf_z = vz;
        }
        value[c] = FLOAT_OF_BITS(grid_bits(VIEW_HERE_COMMA probe, vx, vy, vz));
    }
    // Along z, then y, then x; the differences at each stage are the gradient's.
    const float v00 = value[0] + f.z * (value[1] - value[0]);
    const float v01 = value[2] + f.z * (value[3] - value[2]);
    const float v10 = value[4] + f.z * (value[5] - value[4]);
    const float v11 = value[6] + f.z * (value[7] - value[6]);
    const float v0 = v00 + f.y * (v01 - v00);
    const float v1 = v10 + f.y * (v11 - v10);
    const float z0 = (value[1] - value[0]) + f.y * ((value[3] - value[2]) - (value[1] - value[0]));
    const float z1 = (value[5] - value[4]) + f.y * ((value[7] - value[6]) - (value[5] - value[4]));
    const float y0 = v01 - v00;
    const float y1 = v11 - v10;
    const vec3 gradient = v3(v1 - v0, y0 + f.x * (y1 - y0), z0 + f.x * (z1 - z0));
    return v4_from_v3(v3_scale(gradient, field.cells_per_metre), v0 + f.x * (v1 - v0));
}

// The outward normal and signed distance. Where no distance is known inside the box, the normal points away from its
// centre, or towards it for a container.
FUNCTION vec4 field_distance(VIEW_COMMA uint number, vec3 p)
{
    const vec4 at = field_gradient(VIEW_HERE_COMMA number, p);
    const Field field = LOAD(fields, number);
    const vec3 middle = v3_scale(v3_add(field.bounds_min, field.bounds_max), 0.5f);
    const vec3 away = unit_or(v3_scale(v3_sub(p, middle), field.slope), 0.0f, v3(0.0f, 1.0f, 0.0f));
    return v4_from_v3(unit_or(v3_from_v4(at), 0.001f, away), at.w);
}

// ---- Convex hulls ------------------------------------------------------------------------------------------

// Weights of a triangle's corners for its point nearest to p (Ericson, Real-Time Collision Detection, 5.1.5).
FUNCTION vec3 nearest_weights(vec3 p, vec3 a, vec3 b, vec3 c)
{
    const vec3 ab = v3_sub(b, a);
    const vec3 ac = v3_sub(c, a);
    const vec3 ap = v3_sub(p, a);
    const float d1 = v3_dot(ab, ap);
    const float d2 = v3_dot(ac, ap);
    if (d1 <= 0.0f && d2 <= 0.0f) {
        return v3(1.0f, 0.0f, 0.0f);
    }
    const vec3 bp = v3_sub(p, b);
    const float d3 = v3_dot(ab, bp);
    const float d4 = v3_dot(ac, bp);
    if (d3 >= 0.0f && d4 <= d3) {
        return v3(0.0f, 1.0f, 0.0f);
    }
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
        const float along = d1 / max_f32(d1 - d3, 1e-30f);
        return v3(1.0f - along, along, 0.0f);
    }
    const vec3 cp = v3_sub(p, c);
    const float d5 = v3_dot(ab, cp);
    const float d6 = v3_dot(ac, cp);
    if (d6 >= 0.0f && d5 <= d6) {
        return v3(0.0f, 0.0f, 1.0f);
    }
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
        const float along = d2 / max_f32(d2 - d6, 1e-30f);
        return v3(1.0f - along, 0.0f, along);
    }
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
        const float along = (d4 - d3) / max_f32((d4 - d3) + (d5 - d6), 1e-30f);
        return v3(0.0f, 1.0f - along, along);
    }
    const float whole = max_f32(va + vb + vc, 1e-30f);
    return v3(1.0f - vb / whole - vc / whole, vb / whole, vc / whole);
}

FUNCTION vec3 weighted(vec3 weights, vec3 a, vec3 b, vec3 c)
{
    return v3_add_scaled(v3_add_scaled(v3_scale(a, weights.x), b, weights.y), c, weights.z);
}

// Outward normal and signed distance of a convex hull: inside, of the plane that is nearest; outside, to the nearest of
// the triangles that face the point. A triangle has four rows of hull_rows: its plane, and its corners.
FUNCTION vec4 hull_distance(VIEW_COMMA uint first, uint triangles, vec3 p)
{
    vec4 highest = v4(0.0f, 1.0f, 0.0f, -1e30f);
    for (uint t = 0u; t < triangles; t++) {
        const vec4 plane = LOAD(hull_rows, first + 4u * t);
        const float height = v3_dot(v3_from_v4(plane), p) - plane.w;
        if (height > highest.w) {
            highest = v4(plane.x, plane.y, plane.z, height);
        }
    }
    if (highest.w <= 0.0f) {
        return highest;
    }
    vec4 nearest = highest;
    float squared = 1e30f;
    for (uint t = 0u; t < triangles; t++) {
        const vec4 plane = LOAD(hull_rows, first + 4u * t);
        const float height = v3_dot(v3_from_v4(plane), p) - plane.w;
        if (height <= 0.0f) {
            continue;
        }
        const vec3 a = v3_from_v4(LOAD(hull_rows, first + 4u * t + 1u));
        const vec3 b = v3_from_v4(LOAD(hull_rows, first + 4u * t + 2u));
        const vec3 c = v3_from_v4(LOAD(hull_rows, first + 4u * t + 3u));
        const vec3 weights = nearest_weights(p, a, b, c);
        const vec3 apart = v3_sub(p, weighted(weights, a, b, c));
        const float length = v3_dot(apart, apart);
        if (length < squared) {
            squared = length;
            // Over a face the plane's own numbers are the more exact ones.
            nearest = weights.x > 0.0f && weights.y > 0.0f && weights.z > 0.0f
                          ? v4(plane.x, plane.y, plane.z, height)
                          : v4_from_v3(v3_scale(apart, 1.0f / max_f32(sqrtf(length), 1e-30f)), sqrtf(length));
        }
    }
    return nearest;
}

// ---- The nearest triangle ----------------------------------------------------------------------------------

// A point of the mesh that a field was made from.
STRUCT(SurfacePoint)
{
    vec3 weights;  // of the triangle's corners
    uint triangle; // FIELD_NONE: not known here
};

FUNCTION uint field_corner(VIEW_COMMA Field field, uint triangle, uint corner)
{
    return LOAD(field_words, field.triangles + 3u * triangle + corner);
}

FUNCTION vec3 field_vec3(VIEW_COMMA uint start, uint number)
{
    const uint at = start + 3u * number;
    return v3(FLOAT_OF_BITS(LOAD(field_words, at)), FLOAT_OF_BITS(LOAD(field_words, at + 1u)),
              FLOAT_OF_BITS(LOAD(field_words, at + 2u)));
}

// Sums a vector a vertex with the point's weights.
FUNCTION vec3 surface_vec3(VIEW_COMMA Field field, uint start, SurfacePoint point)
{
    return weighted(point.weights,
                    field_vec3(VIEW_HERE_COMMA start, field_corner(VIEW_HERE_COMMA field, point.triangle, 0u)),
                    field_vec3(VIEW_HERE_COMMA start, field_corner(VIEW_HERE_COMMA field, point.triangle, 1u)),
                    field_vec3(VIEW_HERE_COMMA start, field_corner(VIEW_HERE_COMMA field, point.triangle, 2u)));
}

// The point of the mesh nearest to p, on the triangle that is nearest to p's voxel (DYV fig. 10).
FUNCTION SurfacePoint nearest_surface(VIEW_COMMA Field field, vec3 p)
{
    SurfacePoint point;
    point.weights = v3(0.0f, 0.0f, 0.0f);
    point.triangle = FIELD_NONE;
    if (field.closest == FIELD_NONE) {
        return point;
    }
    const vec3 q = v3(clamp_f32(p.x, field.bounds_min.x, field.bounds_max.x),
                      clamp_f32(p.y, field.bounds_min.y, field.bounds_max.y),
                      clamp_f32(p.z, field.bounds_min.z, field.bounds_max.z));
    const vec3 at = v3_scale(v3_sub(q, field.origin), field.cells_per_metre);
    const uint x = U32(I32(floorf(at.x + 0.5f)));
    const uint y = U32(I32(floorf(at.y + 0.5f)));
    const uint z = U32(I32(floorf(at.z + 0.5f)));
    const uint triangle = grid_bits(VIEW_HERE_COMMA grid_probe(VIEW_HERE_COMMA field.closest, x, y, z), x, y, z);
    if (triangle > 0x7fffffffu) { // a negative number
        return point;
    }
    point.triangle = triangle;
    point.weights = nearest_weights(
        p, field_vec3(VIEW_HERE_COMMA field.vertices, field_corner(VIEW_HERE_COMMA field, triangle, 0u)),
        field_vec3(VIEW_HERE_COMMA field.vertices, field_corner(VIEW_HERE_COMMA field, triangle, 1u)),
        field_vec3(VIEW_HERE_COMMA field.vertices, field_corner(VIEW_HERE_COMMA field, triangle, 2u)));
    return point;
}

// The texel of a texture of width x height, row by row, that a point of the surface lies in.
FUNCTION uint surface_texel(VIEW_COMMA Field field, SurfacePoint point, uint width, uint height)
{
    float u = 0.0f;
    float v = 0.0f;
    for (uint k = 0u; k < 3u; k++) {
        const uint at = field.uvs + 2u * field_corner(VIEW_HERE_COMMA field, point.triangle, k);
        const float weight = k == 0u ? point.weights.x : (k == 1u ? point.weights.y : point.weights.z);
        u += weight * FLOAT_OF_BITS(LOAD(field_words, at));
        v += weight * FLOAT_OF_BITS(LOAD(field_words, at + 1u));
    }
    const uint x = min_u32(U32(clamp_f32(u, 0.0f, 1.0f) * F32(width)), width - 1u);
    const uint y = min_u32(U32(clamp_f32(v, 0.0f, 1.0f) * F32(height)), height - 1u);
    return y * width + x;
}

#endif
