// SPDX-License-Identifier: MIT
// mesh_scenery.c - generators of whole pieces of scenery: a rock pool, a sand castle, and a mesh with every fault.
#include "geometry/mesh_internal.h"

static const double PI = 3.14159265358979323846;

// ---- Noise -----------------------------------------------------------------------------------------------------

// A number from 0 to 1 that depends on nothing but these (splitmix64's mixer).
static double hashed(uint64_t seed, int64_t x, int64_t z)
{
    uint64_t h = seed * 0x9e3779b97f4a7c15u + (uint64_t)x * 0xbf58476d1ce4e5b9u + (uint64_t)z * 0x94d049bb133111ebu;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return (double)((h ^ (h >> 31)) >> 11) / 9007199254740992.0;
}

static double smooth_step(double t)
{
    t = fmin(fmax(t, 0.0), 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// Smooth noise of wavelength 1, from -1 to 1.
static double noise(uint64_t seed, double x, double z)
{
    const double fx = floor(x), fz = floor(z), u = smooth_step(x - fx), v = smooth_step(z - fz);
    const int64_t i = (int64_t)fx, k = (int64_t)fz;
    const double near = hashed(seed, i, k) * (1.0 - u) + hashed(seed, i + 1, k) * u;
    const double far = hashed(seed, i, k + 1) * (1.0 - u) + hashed(seed, i + 1, k + 1) * u;
    return 2.0 * (near * (1.0 - v) + far * v) - 1.0;
}

static double rough(uint64_t seed, double x, double z)
{
    double sum = 0.0, amplitude = 0.5;
    for (uint64_t octave = 0; octave < 4; octave++, amplitude *= 0.5, x *= 2.1, z *= 2.1) {
        sum += amplitude * noise(seed + 17 * octave, x, z);
    }
    return sum;
}

// ---- Rocks -----------------------------------------------------------------------------------------------------

// The ground in units of the size, -0.5 to 0.5 either way; the pool lies in the middle, its edge at about 0.
static double ground(double x, double z, double depth, uint64_t seed)
{
    const double radius = 2.0 * sqrt(x * x + z * z) * (1.0 + 0.25 * rough(seed + 101, 3.0 * x, 3.0 * z));
    const double basin = depth * (smooth_step((radius - 0.25) / 0.55) - 1.0);
    return basin + 0.12 * depth * rough(seed, 6.0 * x, 6.0 * z);
}

static double terrain(double x, double z, double depth, uint32_t rocks, uint64_t seed)
{
    double height = ground(x, z, depth, seed);
    for (uint32_t i = 0; i < rocks; i++) {
        const double cx = hashed(seed + 7, i, 1) - 0.5, cz = hashed(seed + 7, i, 2) - 0.5;
        const double size = 0.03 + 0.07 * hashed(seed + 7, i, 3), angle = PI * hashed(seed + 7, i, 4);
        const double dx = cos(angle) * (x - cx) + sin(angle) * (z - cz);
        const double dz = (cos(angle) * (z - cz) - sin(angle) * (x - cx)) * (1.0 + 0.6 * hashed(seed + 7, i, 5));
        const double left = size * size - dx * dx - dz * dz;
        if (left > 0.0) { // an ellipsoid half sunk into the ground
            const double facets = 1.0 + 0.25 * rough(seed + 31 + i, 14.0 * x, 14.0 * z);
            height = fmax(height, ground(cx, cz, depth, seed) - 0.2 * size + 0.9 * sqrt(left) * facets);
        }
    }
    return height;
}

// The k-th vertex of the border of a grid of n + 1 by n + 1, once around.
static uint32_t border_vertex(uint32_t k, uint32_t n)
{
    const uint32_t side = k / n % 4, i = k % n, row = n + 1;
    return side == 0 ? i : side == 1 ? i * row + n : side == 2 ? n * row + n - i : (n - i) * row;
}

// Below the top's edge comes another one, a segment down: where a rock slopes down to the edge, light and wetness run
// smoothly over it, and without that they would as far as the floor.
void generate_rocks(MeshBuilder *builder, const double *values)
{
    const double size = values[0], depth = values[1] / size;
    const uint32_t rocks = (uint32_t)values[2], n = (uint32_t)values[4], row = n + 1;
    const uint64_t seed = (uint64_t)values[3];
    const double floor_height = -size * (1.5 * depth + 0.1);
    const uint32_t top = builder->mesh.vertex_count, bottom = top + row * row, edge = bottom + row * row;
    for (uint32_t layer = 0; layer < 2; layer++) {
        for (uint32_t i = 0; i < row * row; i++) {
            const double x = (double)(i % row) / n - 0.5, z = (double)(i / row) / n - 0.5;
            const double y =
                layer == 0 ? fmax(size * terrain(x, z, depth, rocks, seed), 0.95 * floor_height) : floor_height;
            builder_vertex(builder, dvec3(size * x, y, size * z));
        }
    }
    for (uint32_t k = 0; k < 4 * n && !builder->failed; k++) {
        const MoteVec3 above = builder->mesh.positions[top + border_vertex(k, n)];
        const double lower = fmax(above.y - size / n, 0.5 * (above.y + floor_height));
        builder_vertex(builder, dvec3(above.x, lower, above.z));
    }
    for (uint32_t i = 0; i < n * n; i++) {
        const uint32_t corner = i / n * row + i % n;
        const uint32_t a = top + corner, c = bottom + corner;
        builder_triangle(builder, a, a + row, a + row + 1);
        builder_triangle(builder, a, a + row + 1, a + 1);
        builder_triangle(builder, c, c + row + 1, c + row);
        builder_triangle(builder, c, c + 1, c + row + 1);
    }
    for (uint32_t k = 0; k < 4 * n; k++) {
        const uint32_t next = (k + 1) % (4 * n), a = border_vertex(k, n), b = border_vertex(next, n);
        builder_triangle(builder, top + a, top + b, edge + next);
        builder_triangle(builder, top + a, edge + next, edge + k);
        builder_triangle(builder, edge + k, edge + next, bottom + b);
        builder_triangle(builder, edge + k, bottom + b, bottom + a);
    }
}

// ---- Castle ----------------------------------------------------------------------------------------------------

// A tower as a bucket leaves it, narrower at the top, with merlons round its edge, or a pointed roof.
static void add_tower(MeshBuilder *builder, DVec3 foot, double radius, double height, bool roof, uint32_t segments)
{
    const uint32_t first = builder->mesh.vertex_count;
    const double top = 0.85 * radius;
    const ProfilePoint flat[] = {{0, 0}, {radius, 0}, {top, height}, {0, height}};
    const ProfilePoint pointed[] = {
        {0, 0}, {radius, 0}, {top, height}, {1.15 * top, height}, {0, height + 1.6 * radius}};
    builder_revolve(builder, roof ? pointed : flat, roof ? 5 : 4, false, segments);
    builder_move(builder, first, foot);
    for (uint32_t i = 0; i < 6 && !roof; i++) {
        const double angle = 2.0 * PI * i / 6.0, at = 0.75 * top, half = 0.22 * top;
        builder_box(builder, dvec3_add(foot, dvec3(at * cos(angle), height + 0.8 * half, at * sin(angle))),
                    dvec3(half, 1.2 * half, half));
    }
}

// Walls and towers that reach into one another: each is closed, together they are a union.
void generate_castle(MeshBuilder *builder, const double *values)
{
    const double s = values[0];
    const uint32_t segments = (uint32_t)values[1];
    builder_box(builder, dvec3(0, 0.05 * s, 0), dvec3(0.5 * s, 0.05 * s, 0.5 * s));
    for (uint32_t i = 0; i < 4; i++) {
        const double x = i & 1 ? 0.34 * s : -0.34 * s, z = i & 2 ? 0.34 * s : -0.34 * s;
        add_tower(builder, dvec3(x, 0.05 * s, z), 0.13 * s, 0.42 * s, false, segments);
    }
    add_tower(builder, dvec3(0, 0.05 * s, 0), 0.19 * s, 0.5 * s, true, segments);
    for (uint32_t side = 0; side < 4; side++) {
        const double turn = 0.5 * PI * side, c = round(cos(turn)), q = round(sin(turn));
        const double long_half = 0.3 * s, thin_half = 0.055 * s;
        const DVec3 middle = {0.34 * s * c, 0.19 * s, 0.34 * s * q};
        builder_box(builder, middle,
                    dvec3(c != 0.0 ? thin_half : long_half, 0.15 * s, c != 0.0 ? long_half : thin_half));
        for (int32_t i = -1; i <= 1; i++) {
            const DVec3 along = {-0.12 * s * q * i, 0.16 * s, 0.12 * s * c * i};
            builder_box(builder, dvec3_add(middle, along), dvec3(0.035 * s, 0.05 * s, 0.035 * s));
        }
    }
}

// ---- Broken ----------------------------------------------------------------------------------------------------

// A ball with triangles missing, a box stuck through it, faces given twice, and a fan of sheets on one common edge.
void generate_broken(MeshBuilder *builder, const double *values)
{
    const double s = values[0];
    const uint32_t segments = (uint32_t)values[1], rings = segments / 2;
    ProfilePoint profile[1100];
    for (uint32_t i = 0; i <= rings; i++) {
        const double angle = PI * ((double)i / rings - 0.5);
        profile[i] = (ProfilePoint){i == 0 || i == rings ? 0.0 : 0.4 * s * cos(angle), 0.4 * s * sin(angle)};
    }
    builder_revolve(builder, profile, rings + 1, false, segments);
    Mesh *mesh = &builder->mesh;
    uint32_t kept = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (t % 37 == 5) {
            continue; // a hole
        }
        for (uint32_t k = 0; k < 3; k++) {
            mesh->triangles[3 * (size_t)kept + k] = mesh->triangles[3 * (size_t)t + k];
        }
        kept++;
    }
    mesh->triangle_count = kept;
    for (uint32_t t = 0; t < kept; t += 11) {
        const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
        const uint32_t a = corner[0], b = corner[1], c = corner[2];
        if (t % 2 == 0) {
            builder_triangle(builder, a, b, c); // twice
        } else {
            builder_triangle(builder, a, c, b); // and once the other way round
        }
    }
    builder_box(builder, dvec3(0.2 * s, 0.1 * s, 0), dvec3(0.3 * s, 0.15 * s, 0.2 * s));
    const uint32_t low = builder_vertex(builder, dvec3(0, 0.3 * s, 0)),
                   high = builder_vertex(builder, dvec3(0, 0.6 * s, 0));
    for (uint32_t i = 0; i < 5; i++) {
        const double angle = 2.0 * PI * i / 5.0;
        builder_triangle(builder, low, high,
                         builder_vertex(builder, dvec3(0.3 * s * cos(angle), 0.5 * s, 0.3 * s * sin(angle))));
    }
}
