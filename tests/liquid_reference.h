// SPDX-License-Identifier: MIT
// liquid_reference.h - what a step must do to a few liquid particles, in double precision and by brute force over all
// pairs: one density iteration (PBF eq. 8-14, UPP eq. 12, 13 and 26), XSPH viscosity (PBF eq. 17) and vorticity
// confinement (eq. 15, 16). Made from the settings and the formulas alone: nothing here is read from a world.
#ifndef MOTE_TESTS_LIQUID_REFERENCE_H
#define MOTE_TESTS_LIQUID_REFERENCE_H

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "mote.h"

enum { REFERENCE_LIMIT = 512 };

typedef struct ReferenceLiquid {
    MoteSettings settings;
    uint32_t count;
    double x[REFERENCE_LIMIT][3], v[REFERENCE_LIMIT][3];
    double inverse_mass[REFERENCE_LIMIT];
    double density[REFERENCE_LIMIT]; // over rest density
    double before[REFERENCE_LIMIT];  // the same when the step began
} ReferenceLiquid;

static inline double reference_smoothing_radius(const MoteSettings *settings)
{
    return (double)settings->spacing * (double)settings->smoothing_radius_ratio;
}

// Poly6 with its norm (Mueller 2003; in 2D the one that integrates to 1).
static inline double reference_poly6(const MoteSettings *settings, double r)
{
    const double pi = acos(-1.0), h = reference_smoothing_radius(settings);
    const double norm = settings->dimensions == 2 ? 4.0 / (pi * pow(h, 8)) : 315.0 / (64.0 * pi * pow(h, 9));
    return r < h ? norm * pow(h * h - r * r, 3) : 0.0;
}

// The slope of Spiky along the distance: never positive.
static inline double reference_spiky_slope(const MoteSettings *settings, double r)
{
    const double pi = acos(-1.0), h = reference_smoothing_radius(settings);
    const double norm = settings->dimensions == 2 ? 30.0 / (pi * pow(h, 5)) : 45.0 / (pi * pow(h, 6));
    return r < h ? -norm * (h - r) * (h - r) : 0.0;
}

// Sums over the rest lattice.
typedef struct ReferenceRest {
    double number_density;
    double squared_gradients; // of the density over rest density
    double stiffening;        // of reference_stiffening, where it is needed
} ReferenceRest;

static inline ReferenceRest reference_rest(const MoteSettings *settings)
{
    ReferenceRest rest = {0};
    const int reach = 1 + (int)settings->smoothing_radius_ratio, depth = settings->dimensions == 2 ? 0 : reach;
    for (int i = -reach; i <= reach; i++) {
        for (int j = -reach; j <= reach; j++) {
            for (int k = -depth; k <= depth; k++) {
                const double r = (double)settings->spacing * sqrt((double)(i * i + j * j + k * k));
                rest.number_density += reference_poly6(settings, r);
                rest.squared_gradients += r > 0.0 ? pow(reference_spiky_slope(settings, r), 2) : 0.0;
            }
        }
    }
    rest.number_density *= (double)settings->rest_density_scale;
    rest.squared_gradients /= rest.number_density * rest.number_density;
    return rest;
}

// What one iteration with the denominator of UPP eq. 5 takes of the density error of a wave, over that error: the
// response of particle 0 to errors cos(k.x) of all particles of an endless lattice, term by term. `wave` is in radians
// per spacing.
static inline double reference_response(const MoteSettings *settings, const double wave[3])
{
    const ReferenceRest rest = reference_rest(settings);
    const double d = settings->spacing, h = reference_smoothing_radius(settings);
    const int reach = 1 + (int)settings->smoothing_radius_ratio, depth = settings->dimensions == 2 ? 0 : reach;
    double moved = 0.0; // change of the density of particle 0 by the particles around it, which move by eq. 14
    for (int n = 0; n < 3; n++) {
        double density_slope = 0.0, correction = 0.0; // along axis n, times the sine of the wave
        for (int i = -reach; i <= reach; i++) {
            for (int j = -reach; j <= reach; j++) {
                for (int k = -depth; k <= depth; k++) {
                    const double at[3] = {i, j, k}, r = d * sqrt((double)(i * i + j * j + k * k));
                    if (r > 0.0 && r < h) {
                        const double sine = sin(wave[0] * i + wave[1] * j + wave[2] * k) * at[n] * d / r;
                        const double inside = h * h - r * r;
                        density_slope -= 6.0 * r / inside * reference_poly6(settings, r) * sine;
                        correction += reference_spiky_slope(settings, r) * sine;
                    }
                }
            }
        }
        moved += density_slope * correction;
    }
    return moved / (rest.number_density * rest.number_density * rest.squared_gradients);
}

// In the unilateral mode no wave on the lattice may be corrected by more than twice its error: what the denominator of
// UPP eq. 5 is multiplied by. Waves are those of a lattice of 16 particles along each axis.
static inline double reference_stiffening(const MoteSettings *settings)
{
    const double pi = acos(-1.0);
    double largest = 2.0;
    for (int i = 0; i <= 8; i++) {
        for (int j = 0; j <= 8; j++) {
            for (int k = 0; k <= (settings->dimensions == 2 ? 0 : 8); k++) {
                const double wave[3] = {i * pi / 8.0, j * pi / 8.0, k * pi / 8.0};
                largest = fmax(largest, reference_response(settings, wave));
            }
        }
    }
    return 0.5 * largest;
}

// The offset from particle j to particle i; returns its length.
static inline double reference_offset(const ReferenceLiquid *liquid, uint32_t i, uint32_t j, double offset[3])
{
    double squared = 0.0;
    for (int a = 0; a < 3; a++) {
        offset[a] = liquid->x[i][a] - liquid->x[j][a];
        squared += offset[a] * offset[a];
    }
    return sqrt(squared);
}

static inline bool reference_are_neighbours(const ReferenceLiquid *liquid, uint32_t i, uint32_t j)
{
    double offset[3];
    return i != j && reference_offset(liquid, i, j, offset) < reference_smoothing_radius(&liquid->settings);
}

static inline uint32_t reference_neighbours(const ReferenceLiquid *liquid, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < liquid->count; j++) {
        count += reference_are_neighbours(liquid, i, j);
    }
    return count;
}

// The gradient of Spiky at i by the position of i, around j.
static inline void reference_gradient(const ReferenceLiquid *liquid, uint32_t i, uint32_t j, double gradient[3])
{
    double offset[3];
    const double r = reference_offset(liquid, i, j, offset);
    for (int a = 0; a < 3; a++) {
        gradient[a] = reference_spiky_slope(&liquid->settings, r) * offset[a] / r;
    }
}

static inline void reference_measure_density(ReferenceLiquid *liquid)
{
    const double rest = reference_rest(&liquid->settings).number_density;
    for (uint32_t i = 0; i < liquid->count; i++) {
        liquid->density[i] = 0.0;
        for (uint32_t j = 0; j < liquid->count; j++) {
            double offset[3];
            liquid->density[i] += reference_poly6(&liquid->settings, reference_offset(liquid, i, j, offset)) / rest;
        }
    }
}

// The inverse mass of the lightest particle of a constraint, which its denominator at rest is that of: those in the
// outer half of the squared smoothing radius count less the farther they are.
static inline double reference_lightest(const ReferenceLiquid *liquid, uint32_t i)
{
    const double own = liquid->inverse_mass[i];
    double lightest = own;
    for (uint32_t j = 0; j < liquid->count; j++) {
        double offset[3];
        const double part = reference_offset(liquid, i, j, offset) / reference_smoothing_radius(&liquid->settings);
        const double share = fmax(fmin(2.0 - 2.0 * part * part, 1.0), 0.0);
        lightest = fmax(lightest, own + share * (liquid->inverse_mass[j] - own));
    }
    return lightest;
}

// The denominator of PBF eq. 11 with its epsilon; in the unilateral mode the rest lattice's (UPP section 7.1.1),
// as large as keeps iterations stable.
static inline double reference_denominator(const ReferenceLiquid *liquid, const ReferenceRest *rest, uint32_t i)
{
    const double at_rest = rest->squared_gradients * reference_lightest(liquid, i);
    if (liquid->settings.density_mode == MOTE_DENSITY_UNILATERAL) {
        return at_rest * rest->stiffening;
    }
    double own[3] = {0.0, 0.0, 0.0}, sum = (double)liquid->settings.relaxation * at_rest;
    for (uint32_t j = 0; j < liquid->count; j++) {
        double gradient[3];
        if (reference_are_neighbours(liquid, i, j)) {
            reference_gradient(liquid, i, j, gradient);
            for (int a = 0; a < 3; a++) {
                own[a] += gradient[a] / rest->number_density;
                sum += liquid->inverse_mass[j] * pow(gradient[a] / rest->number_density, 2);
            }
        }
    }
    return sum + liquid->inverse_mass[i] * (own[0] * own[0] + own[1] * own[1] + own[2] * own[2]);
}

// PBF eq. 13: what is added to two particles' lambdas; k is for the lighter of the two.
static inline double reference_artificial_pressure(const ReferenceLiquid *liquid, const ReferenceRest *rest, uint32_t i,
                                                   uint32_t j)
{
    const MoteSettings *s = &liquid->settings;
    const double lightest = fmax(liquid->inverse_mass[i], liquid->inverse_mass[j]);
    const double k = (double)s->artificial_pressure / (rest->squared_gradients * lightest);
    const double dq = (double)s->artificial_pressure_distance * reference_smoothing_radius(s);
    double offset[3];
    const double r = reference_offset(liquid, i, j, offset);
    return -k * pow(reference_poly6(s, r) / reference_poly6(s, dq), s->artificial_pressure_power);
}

// What one density iteration moves each particle by; `liquid` has its positions before, and gets its densities.
static inline void reference_corrections(ReferenceLiquid *liquid, double corrections[][3])
{
    const MoteSettings *s = &liquid->settings;
    ReferenceRest rest = reference_rest(s);
    rest.stiffening = s->density_mode == MOTE_DENSITY_UNILATERAL ? reference_stiffening(s) : 1.0;
    double lambda[REFERENCE_LIMIT];
    reference_measure_density(liquid);
    const double tension = s->density_mode == MOTE_DENSITY_UNILATERAL ? 0.0 : (double)s->max_tension;
    const double pull = fmin(0.5 * (1.0 + (double)s->relaxation), 1.0); // pulls have relaxation 1
    for (uint32_t i = 0; i < liquid->count; i++) {
        const double stretched = fmax(fmin(liquid->before[i], 1.0) - liquid->density[i], 0.0);
        const double error = liquid->density[i] > 1.0 ? liquid->density[i] - 1.0 : -pull * fmin(stretched, tension);
        lambda[i] = -error / reference_denominator(liquid, &rest, i);
    }
    for (uint32_t i = 0; i < liquid->count; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (uint32_t j = 0; j < liquid->count; j++) {
            double gradient[3];
            if (reference_are_neighbours(liquid, i, j)) {
                reference_gradient(liquid, i, j, gradient);
                const double pressure = reference_artificial_pressure(liquid, &rest, i, j);
                for (int a = 0; a < 3; a++) {
                    sum[a] += (lambda[i] + lambda[j] + pressure) * gradient[a] / rest.number_density;
                }
            }
        }
        double scale = (double)s->over_relaxation * liquid->inverse_mass[i];
        if (s->averaging == MOTE_AVERAGING_ALL) { // UPP eq. 12: its own constraint, and each neighbour's
            scale /= 1.0 + reference_neighbours(liquid, i);
        }
        const double length = scale * sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        const double limit =
            s->max_correction > 0.0f ? (double)s->max_correction * reference_smoothing_radius(s) : 1e30;
        for (int a = 0; a < 3; a++) {
            corrections[i][a] = sum[a] * scale * (length > limit ? limit / length : 1.0);
        }
    }
}

// PBF eq. 17, with mean densities and masses of a pair, so that what one gets the other loses.
static inline void reference_smooth(const ReferenceLiquid *liquid, double smoothed[][3])
{
    const MoteSettings *s = &liquid->settings;
    const double rest = reference_rest(s).number_density;
    for (uint32_t i = 0; i < liquid->count; i++) {
        for (int a = 0; a < 3; a++) {
            smoothed[i][a] = liquid->v[i][a];
        }
        for (uint32_t j = 0; j < liquid->count; j++) {
            double offset[3];
            const double weight = reference_poly6(s, reference_offset(liquid, i, j, offset)) / rest;
            const double density = 0.5 * (liquid->density[i] + liquid->density[j]);
            const double inverse_mass = 0.5 * (liquid->inverse_mass[i] + liquid->inverse_mass[j]);
            for (int a = 0; a < 3; a++) {
                smoothed[i][a] += (double)s->viscosity * (liquid->v[j][a] - liquid->v[i][a]) * weight / density *
                                  liquid->inverse_mass[i] / inverse_mass;
            }
        }
    }
}

static inline void reference_cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

// PBF eq. 15 as a curl: each neighbour with its volume.
static inline void reference_vorticity(const ReferenceLiquid *liquid, double vorticity[][3])
{
    const double rest = reference_rest(&liquid->settings).number_density;
    for (uint32_t i = 0; i < liquid->count; i++) {
        vorticity[i][0] = vorticity[i][1] = vorticity[i][2] = 0.0;
        for (uint32_t j = 0; j < liquid->count; j++) {
            double gradient[3], relative[3], curl[3];
            if (!reference_are_neighbours(liquid, i, j)) {
                continue;
            }
            reference_gradient(liquid, i, j, gradient);
            for (int a = 0; a < 3; a++) {
                relative[a] = liquid->v[j][a] - liquid->v[i][a];
            }
            reference_cross(gradient, relative, curl);
            for (int a = 0; a < 3; a++) {
                vorticity[i][a] += curl[a] / (rest * liquid->density[j]);
            }
        }
    }
}

static inline double reference_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// Accelerations of PBF eq. 16: epsilon is the setting times the spacing. Where the gradient of the vorticity is less
// than about a twentieth of it over h, there is no direction to push towards, and the force fades out.
static inline void reference_confinement(const ReferenceLiquid *liquid, double accelerations[][3])
{
    const MoteSettings *s = &liquid->settings;
    const double rest = reference_rest(s).number_density, h = reference_smoothing_radius(s);
    double vorticity[REFERENCE_LIMIT][3];
    reference_vorticity(liquid, vorticity);
    for (uint32_t i = 0; i < liquid->count; i++) {
        double eta[3] = {0.0, 0.0, 0.0}, force[3];
        for (uint32_t j = 0; j < liquid->count; j++) {
            double gradient[3];
            if (reference_are_neighbours(liquid, i, j)) {
                reference_gradient(liquid, i, j, gradient);
                for (int a = 0; a < 3; a++) {
                    eta[a] += (reference_length(vorticity[j]) - reference_length(vorticity[i])) * gradient[a] / rest;
                }
            }
        }
        const double size = reference_length(eta) + 0.05 * reference_length(vorticity[i]) / h;
        reference_cross(eta, vorticity[i], force);
        for (int a = 0; a < 3; a++) {
            const bool moves = a < 2 || s->dimensions == 3;
            accelerations[i][a] = moves ? (double)s->vorticity * (double)s->spacing * force[a] / size : 0.0;
        }
    }
}

#endif
