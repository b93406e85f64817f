// SPDX-License-Identifier: MIT
// rest_state.c - measures density and gradients of the smoothing kernels on a filled lattice. The rest density comes
// from these sums, not from a constant.
#include "solver/world.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

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
    return rest;
}
