// SPDX-License-Identifier: MIT
// anisotropy.comp - an ellipsoid for each particle from how its neighbours lie (Yu and Turk 2013, section 4), on the
// solver's own neighbour lists. A particle with few neighbours stays a small sphere.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/anisotropy.h"
PASS_CONSTANTS(AnisotropyConstants)
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint SOLIDS = 0u; // whether there can be solid particles: they are no part of the liquid
layout(constant_id = 1) const uint SPHERES = 0u; // a sphere for every particle, solids too

// Eigenvectors of a symmetric matrix by Jacobi rotations, as columns; the diagonal of `a` becomes the eigenvalues.
// Six sweeps bring a 3x3 matrix to rounding.
mat3 diagonalise(inout mat3 a)
{
    mat3 v = mat3(1.0);
    for (int sweep = 0; sweep < 6; sweep++) {
        for (int pair = 0; pair < 3; pair++) {
            const int p = pair == 2 ? 1 : 0;
            const int q = pair == 0 ? 1 : 2;
            const float off = a[p][q];
            if (abs(off) > 1e-12 * (abs(a[p][p]) + abs(a[q][q]))) {
                const float theta = 0.5 * (a[q][q] - a[p][p]) / off;
                const float t = (theta < 0.0 ? -1.0 : 1.0) / (abs(theta) + sqrt(theta * theta + 1.0));
                const float c = inversesqrt(t * t + 1.0), s = t * c;
                const vec3 row_p = a[p], row_q = a[q];
                a[p] = c * row_p - s * row_q;
                a[q] = s * row_p + c * row_q;
                for (int k = 0; k < 3; k++) {
                    const float left = a[k][p], right = a[k][q];
                    a[k][p] = c * left - s * right;
                    a[k][q] = s * left + c * right;
                }
                const vec3 v_p = v[p], v_q = v[q];
                v[p] = c * v_p - s * v_q;
                v[q] = s * v_p + c * v_q;
            }
        }
    }
    return v;
}

void store(uint i, vec3 centre, mat3 axes)
{
    frame.ellipsoids.at[3u * i] = vec4(axes[0].x, axes[1].x, axes[2].x, centre.x);
    frame.ellipsoids.at[3u * i + 1u] = vec4(axes[0].y, axes[1].y, axes[2].y, centre.y);
    frame.ellipsoids.at[3u * i + 2u] = vec4(axes[0].z, axes[1].z, axes[2].z, centre.z);
}

// Deep inside, where the neighbours lie evenly around, the ellipsoids in front of a particle hide it: only the others
// can be seen. Their order in the list does not matter to what is made of it.
void show(uint i)
{
    frame.visible.at[1u + atomicAdd(frame.visible.at[0], 1u)] = i;
}

void main()
{
    const uint i = invocation_index();
    if (i >= frame.particle_count) {
        return;
    }
    const vec3 x = frame.positions.at[i].xyz;
    const bool solid = SOLIDS != 0u && is_solid(i);
    if (solid && SPHERES == 0u) {
        return;
    }
    if (pass.anisotropy == 0u) {
        store(i, x, mat3(solid ? frame.solid_radius : pass.radius));
        show(i);
        return;
    }
    // Moments about x, so that a scene far from the origin loses no digits. w = 1 - (r / h)^3, eq. 11.
    const uint count = frame.neighbour_counts.at[i];
    const uint start = frame.neighbour_starts.at[i] * 8u;
    const float inverse_smoothing_radius = 1.0 / frame.smoothing_radius;
    float weight = 1.0; // the particle itself
    vec3 first = vec3(0.0);
    vec3 diagonal = vec3(0.0), mixed = vec3(0.0); // of the second moment; mixed is yz, xz, xy
    uint near = 0u;
    for (uint k = 0u; k < count; k++) {
        const uint j = frame.neighbours.at[start + k];
        const vec3 d = frame.positions.at[j].xyz - x;
        const float q = SOLIDS != 0u && is_solid(j) ? 1.0 : length(d) * inverse_smoothing_radius;
        const float w = q < 1.0 ? 1.0 - q * q * q : 0.0;
        near += q < 1.0 ? 1u : 0u;
        weight += w;
        first += w * d;
        diagonal += w * d * d;
        mixed += w * d.yzx * d.zxy;
    }
    if (near < pass.isolated_below) {
        store(i, x, mat3(pass.drops != 0u ? 0.0 : pass.isolated_radius));
        if (pass.drops == 0u) {
            show(i);
        }
        return;
    }
    const vec3 mean = first / weight;
    const float lopsided = length(mean) * inverse_smoothing_radius; // about 0.2 on a flat surface, noise inside
    if (lopsided > 0.08 || near < 18u || pass.radius < 0.75 * frame.spacing) {
        show(i);
    }
    const vec3 dd = diagonal / weight - mean * mean, mm = mixed / weight - mean.yzx * mean.zxy;
    mat3 covariance = mat3(dd.x, mm.z, mm.y, mm.z, dd.y, mm.x, mm.y, mm.x, dd.z);
    const mat3 directions = diagonalise(covariance);
    // Radii follow the standard deviations, normalised so that deep inside, where the neighbours fill a ball, they are
    // the draw radius: of weight 1 - q^3 over a ball of radius h, the variance along an axis is 3/40 * 2 h^2 = 0.15 h^2.
    const float inside = 1.0 / (frame.smoothing_radius * sqrt(0.15));
    vec3 deviation = sqrt(max(vec3(covariance[0][0], covariance[1][1], covariance[2][2]), vec3(0.0))) * inside;
    const float longest = max(deviation.x, max(deviation.y, deviation.z));
    deviation = clamp(deviation, vec3(longest / pass.stretch), vec3(max(longest, 1e-3)));
    const vec3 radii = pass.radius * min(deviation, vec3(1.5));
    store(i, x + pass.centre_smoothing * mean,
          mat3(directions[0] * radii.x, directions[1] * radii.y, directions[2] * radii.z));
}
