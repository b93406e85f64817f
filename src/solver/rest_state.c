// SPDX-License-Identifier: MIT
// rest_state.c - measures density and gradients of the smoothing kernels on a filled lattice. The rest density comes
// from these sums, not from a constant.
#include "solver/world.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

// By how much more than its error an iteration corrects the density of one wave on the lattice, where all constraints
// have the denominator of UPP eq. 5. It is the wave's gradients of density and of correction, over that denominator.
static double wave_overcorrection(const MoteSettings *settings, const RestState *rest, const double wave[3])
{
    const double d = settings->spacing;
    const double h = d * settings->smoothing_radius_ratio;
    const int reach = (int)ceil(settings->smoothing_radius_ratio);
    const int depth = settings->dimensions == 2 ? 0 : reach;
    double density[3] = {0.0, 0.0, 0.0};
    double correction[3] = {0.0, 0.0, 0.0};
    for (int z = -depth; z <= depth; z++) {
        for (int y = -reach; y <= reach; y++) {
            for (int x = -reach; x <= reach; x++) {
                const double r = d * sqrt((double)(x * x + y * y + z * z));
                if (r >= h || r <= 0.0) {
                    continue;
                }
                const double phase = sin(wave[0] * x + wave[1] * y + wave[2] * z) * d;
                const double poly6_factor = -6.0 * rest->poly6_norm * (h * h - r * r) * (h * h - r * r) * phase;
                const double spiky_factor = rest->spiky_norm * (h - r) * (h - r) / r * phase;
                const double at[3] = {x, y, z};
                for (int a = 0; a < 3; a++) {
                    density[a] += poly6_factor * at[a];
                    correction[a] += spiky_factor * at[a];
                }
            }
        }
    }
    const double product = density[0] * correction[0] + density[1] * correction[1] + density[2] * correction[2];
    return product / (rest->number_density * rest->number_density * rest->squared_gradients);
}

// The largest of all waves whose lengths along the axes are at least two spacings; by symmetry x >= y >= z >= 0.
static double largest_overcorrection(const MoteSettings *settings, const RestState *rest)
{
    enum { STEPS = 8 };
    double largest = 1.0;
    for (int x = 1; x <= STEPS; x++) {
        for (int y = 0; y <= x; y++) {
            for (int z = 0; z <= (settings->dimensions == 2 ? 0 : y); z++) {
                const double wave[3] = {PI * x / STEPS, PI * y / STEPS, PI * z / STEPS};
                largest = fmax(largest, wave_overcorrection(settings, rest, wave));
            }
        }
    }
    return largest;
}

RestState rest_state_measure(const MoteSettings *settings)
{
    const double d = settings->spacing;
    const double h = d * settings->smoothing_radius_ratio;
    RestState rest = {0};
    if (settings->dimensions == 2) {
        rest.poly6_norm = 4.0 / (PI * pow(h, 8));
        rest.spiky_norm = -30.0 / (PI * pow(h, 5));
        // Spiky in 2D is 10 / (pi h^5) (h - r)^3, whose gradient has this norm.
    } else {
        rest.poly6_norm = 315.0 / (64.0 * PI * pow(h, 9));
        rest.spiky_norm = -45.0 / (PI * pow(h, 6));
    }
    const int reach = (int)ceil(settings->smoothing_radius_ratio);
    const int depth = settings->dimensions == 2 ? 0 : reach;
    for (int z = -depth; z <= depth; z++) {
        for (int y = -reach; y <= reach; y++) {
            for (int x = -reach; x <= reach; x++) {
                const double r = d * sqrt((double)(x * x + y * y + z * z));
                if (r < h) {
                    rest.number_density += rest.poly6_norm * pow(h * h - r * r, 3);
                    const double gradient = r > 0.0 ? rest.spiky_norm * (h - r) * (h - r) : 0.0;
                    rest.squared_gradients += gradient * gradient;
                }
            }
        }
    }
    rest.number_density *= settings->rest_density_scale;
    // The lattice is symmetric: a particle's own gradient is zero and only its neighbours' count (UPP eq. 5).
    rest.squared_gradients /= rest.number_density * rest.number_density;
    const bool unilateral = settings->density_mode == MOTE_DENSITY_UNILATERAL;
    rest.overcorrection = unilateral ? largest_overcorrection(settings, &rest) : 1.0;
    return rest;
}
