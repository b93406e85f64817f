// SPDX-License-Identifier: MIT
// mass.c - volume, centre of mass and inertia of colliders, and sample points of their surfaces.
#include "solver/mass.h"

#include "base/error.h"
#include "geometry/field.h"
#include "kernels/kernels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI            3.14159265358979323846
#define FIELD_CELLS   64  // along the longest side of a field's box, to sum up over
#define FIELD_SAMPLES 256 // points of its surface, at most
#define SAMPLE_LIMIT  (3 * HULL_TRIANGLE_LIMIT)

// Integrals over a solid of density 1: volume, first and second moments about the frame's origin.
typedef struct Moments {
    double volume;
    double first[3];
    double second[3][3];
} Moments;

static void add_point(Moments *moments, const double p[3], double volume)
{
    moments->volume += volume;
    for (int a = 0; a < 3; a++) {
        moments->first[a] += volume * p[a];
        for (int b = 0; b < 3; b++) {
            moments->second[a][b] += volume * p[a] * p[b];
        }
    }
}

// ---- Analytic ----------------------------------------------------------------------------------------------

// Of a collider about its origin with these volume and mean squares of x, y and z.
static Moments diagonal_moments(double volume, double xx, double yy, double zz)
{
    return (Moments){.volume = volume, .second = {{volume * xx}, {0, volume * yy}, {0, 0, volume * zz}}};
}

static Moments box_moments(const MoteCollider *collider, bool flat)
{
    const double x = collider->half_size.x, y = collider->half_size.y, z = flat ? 0.5 : collider->half_size.z;
    return diagonal_moments(8 * x * y * z, x * x / 3, y * y / 3, z * z / 3);
}

static Moments capsule_moments(const MoteCollider *collider, double h, bool flat)
{
    const double r = collider->radius;
    if (flat) { // a rectangle of 2r by 2h and two half discs, a metre deep
        const double sides = 4 * r * h, caps = PI * r * r, offset = 4 * r / (3 * PI); // of a half disc's centroid
        const double xx = sides * r * r / 3 + caps * r * r / 4;
        const double yy = sides * h * h / 3 + caps * (r * r / 4 + h * h + 2 * h * offset);
        return diagonal_moments(sides + caps, xx / (sides + caps), yy / (sides + caps), 1.0 / 12);
    }
    const double tube = 2 * PI * r * r * h, ball = 4.0 / 3 * PI * r * r * r, volume = tube + ball;
    const double across = tube * r * r / 4 + ball * r * r / 5;
    const double along = tube * h * h / 3 + ball * (r * r / 5 + h * h + 0.75 * h * r);
    return diagonal_moments(volume, across / volume, along / volume, across / volume);
}

// ---- Hulls -------------------------------------------------------------------------------------------------

// Tetrahedra from the origin to each triangle.
static Moments hull_moments(const vec4 *rows, uint32_t triangles)
{
    Moments moments = {0};
    for (uint32_t t = 0; t < triangles; t++) {
        double c[3][3];
        for (int k = 0; k < 3; k++) {
            const vec4 p = rows[4 * t + 1 + (uint32_t)k];
            c[k][0] = p.x, c[k][1] = p.y, c[k][2] = p.z;
        }
        const double cross[3] = {c[1][1] * c[2][2] - c[1][2] * c[2][1], c[1][2] * c[2][0] - c[1][0] * c[2][2],
                                 c[1][0] * c[2][1] - c[1][1] * c[2][0]};
        double volume = (c[0][0] * cross[0] + c[0][1] * cross[1] + c[0][2] * cross[2]) / 6;
        const double outwards = (double)rows[4 * t].w; // the plane's distance from the origin has the volume's sign
        volume = outwards < 0 ? -fabs(volume) : fabs(volume);
        double sum[3];
        for (int a = 0; a < 3; a++) {
            sum[a] = c[0][a] + c[1][a] + c[2][a];
        }
        moments.volume += volume;
        for (int a = 0; a < 3; a++) {
            moments.first[a] += volume * sum[a] / 4;
            for (int b = 0; b < 3; b++) {
                const double products = c[0][a] * c[0][b] + c[1][a] * c[1][b] + c[2][a] * c[2][b];
                moments.second[a][b] += volume * (products + sum[a] * sum[b]) / 20;
            }
        }
    }
    return moments;
}

// ---- Fields ------------------------------------------------------------------------------------------------

typedef struct FieldWalk {
    Field row;
    SolverData view; // of this field alone, in the host's memory
    double step;     // m
    int cells[3];
} FieldWalk;

static void start_walk(const MoteField *field, Field row, uint64_t start, FieldWalk *walk)
{
    const double size[3] = {(double)field->bounds_max.x - field->bounds_min.x,
                            (double)field->bounds_max.y - field->bounds_min.y,
                            (double)field->bounds_max.z - field->bounds_min.z};
    const double longest = fmax(size[0], fmax(size[1], size[2]));
    row.distances -= (uint32_t)start;
    walk->row = row;
    walk->view = (SolverData){.field_words = field->words};
    walk->step = fmax(longest / FIELD_CELLS, 0.5 * (double)field->cell_size);
    for (int a = 0; a < 3; a++) {
        walk->cells[a] = (int)ceil(size[a] / walk->step);
    }
}

static vec4 distance_at(FieldWalk *walk, const double p[3])
{
    walk->view.fields = &walk->row;
    return field_distance(&walk->view, 0, v3((float)p[0], (float)p[1], (float)p[2]));
}

// Integrates over the cells. A cell that the surface cuts is weighted by the part of a cube on the solid's side of a
// plane at that distance; its nearest point on the surface becomes a sample.
static Moments walk_field(FieldWalk *walk, vec4 *samples, uint32_t *sample_count, uint32_t stride)
{
    Moments moments = {0};
    uint32_t found = 0;
    const double bounds_min[3] = {walk->row.bounds_min.x, walk->row.bounds_min.y, walk->row.bounds_min.z};
    const double cell = walk->step * walk->step * walk->step;
    for (int z = 0; z < walk->cells[2]; z++) {
        for (int y = 0; y < walk->cells[1]; y++) {
            for (int x = 0; x < walk->cells[0]; x++) {
                const double p[3] = {bounds_min[0] + (x + 0.5) * walk->step, bounds_min[1] + (y + 0.5) * walk->step,
                                     bounds_min[2] + (z + 0.5) * walk->step};
                const vec4 surface = distance_at(walk, p);
                const double inside = fmin(fmax(0.5 - (double)surface.w / walk->step, 0.0), 1.0);
                add_point(&moments, p, inside * cell);
                if (fabs((double)surface.w) < 0.5 * walk->step && found++ % stride == 0 && samples != NULL &&
                    *sample_count < FIELD_SAMPLES) {
                    samples[(*sample_count)++] =
                        v4((float)p[0] - surface.w * surface.x, (float)p[1] - surface.w * surface.y,
                           (float)p[2] - surface.w * surface.z, 0.0f);
                }
            }
        }
    }
    if (samples == NULL) {
        *sample_count = found;
    }
    return moments;
}

// ---- Bodies ------------------------------------------------------------------------------------------------

// The inverse of a symmetric matrix, by its cofactors.
static bool invert(double m[3][3], double inverse[3][3])
{
    double cofactors[3][3];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            cofactors[a][b] = m[a1][b1] * m[a2][b2] - m[a1][b2] * m[a2][b1];
        }
    }
    const double determinant = m[0][0] * cofactors[0][0] + m[0][1] * cofactors[0][1] + m[0][2] * cofactors[0][2];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            inverse[a][b] = cofactors[b][a] / determinant;
        }
    }
    return determinant > 0 && isfinite(1 / determinant);
}

static MoteResult make_body(uint32_t i, const MoteCollider *collider, const Moments *moments, bool flat, float radius,
                            MassProperties *out)
{
    if (!(moments->volume > 1e-30)) {
        return mote_fail(MOTE_ERROR_INPUT, "shape %u has a mass, but encloses no volume", i);
    }
    const double mass = collider->mass > 0.0f ? (double)collider->mass : collider->density * moments->volume;
    double centre[3], covariance[3][3], inertia[3][3], inverse[3][3];
    for (int a = 0; a < 3; a++) {
        centre[a] = moments->first[a] / moments->volume;
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            covariance[a][b] = mass * (moments->second[a][b] / moments->volume - centre[a] * centre[b]);
        }
    }
    const double trace = covariance[0][0] + covariance[1][1] + covariance[2][2];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            inertia[a][b] = (a == b ? trace : 0.0) - covariance[a][b];
        }
    }
    if (!invert(inertia, inverse) || !isfinite((float)mass) || !isfinite((float)(1 / mass))) {
        return mote_fail(MOTE_ERROR_INPUT, "shape %u has mass %g kg and no inertia that could be inverted", i, mass);
    }
    out->centre = v3((float)centre[0], (float)centre[1], (float)centre[2]);
    out->body = (Cluster){
        .mass = (float)mass,
        .radius = radius,
        .inertia_diagonal = v3((float)inertia[0][0], (float)inertia[1][1], (float)inertia[2][2]),
        .inertia_offdiagonal = v3((float)inertia[0][1], (float)inertia[0][2], (float)inertia[1][2]),
        .inverse_diagonal = v3((float)inverse[0][0], (float)inverse[1][1], (float)inverse[2][2]),
        .inverse_offdiagonal = v3((float)inverse[0][1], (float)inverse[0][2], (float)inverse[1][2]),
    };
    if (flat) { // only turns in the plane
        out->body.inverse_diagonal = v3(0.0f, 0.0f, (float)(1 / inertia[2][2]));
        out->body.inverse_offdiagonal = v3(0.0f, 0.0f, 0.0f);
    }
    return MOTE_OK;
}

uint32_t mass_box_samples(vec3 half, bool flat, vec4 samples[BOX_SAMPLES])
{
    uint32_t count = 0;
    for (int n = 0; n < 27; n++) {
        const int x = n % 3 - 1, y = n / 3 % 3 - 1, z = n / 9 - 1;
        if ((x != 0 || y != 0 || z != 0) && (!flat || z == 0)) {
            samples[count++] = v4((float)x * half.x, (float)y * half.y, (float)z * half.z, 0.0f);
        }
    }
    return count;
}

uint32_t mass_round_samples(const Collider *row, vec4 samples[2])
{
    if (row->kind == COLLIDER_SPHERE) {
        samples[0] = v4(0.0f, 0.0f, 0.0f, row->radius);
        return 1;
    }
    samples[0] = v4(0.0f, -row->half_size.y, 0.0f, row->radius);
    samples[1] = v4(0.0f, row->half_size.y, 0.0f, row->radius);
    return 2;
}

// Each corner once.
static uint32_t hull_samples(const vec4 *rows, uint32_t triangles, vec4 *samples)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < 3 * triangles; k++) {
        const vec4 corner = rows[4 * (k / 3) + 1 + k % 3];
        bool known = false;
        for (uint32_t n = 0; n < count && !known; n++) {
            known = samples[n].x == corner.x && samples[n].y == corner.y && samples[n].z == corner.z;
        }
        if (!known) {
            samples[count++] = v4(corner.x, corner.y, corner.z, 0.0f);
        }
    }
    return count;
}

static MoteResult measure_field(MoteWorld *world, uint32_t i, const MoteCollider *collider, Moments *moments,
                                MassProperties *out)
{
    const WorldField *slot = &world->colliders.fields[collider->data];
    if (slot->field->mode == MOTE_FIELD_OUTSIDE) {
        return mote_fail(MOTE_ERROR_INPUT, "shape %u has a mass, but its field is a container", i);
    }
    FieldWalk walk;
    start_walk(slot->field, world_field_row(world, collider->data), slot->start, &walk);
    uint32_t surface = 0;
    *moments = walk_field(&walk, NULL, &surface, 1);
    walk_field(&walk, out->samples, &out->sample_count, surface / FIELD_SAMPLES + 1);
    return MOTE_OK;
}

MoteResult mass_measure(MoteWorld *world, uint32_t i, const MoteCollider *collider, const Collider *row, float radius,
                        MassProperties *out)
{
    const bool flat = world->settings.dimensions == 2;
    *out = (MassProperties){.samples = malloc(SAMPLE_LIMIT * sizeof *out->samples)};
    vec4 *hull_rows = malloc(4 * HULL_TRIANGLE_LIMIT * sizeof *hull_rows);
    MoteResult result = out->samples != NULL && hull_rows != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for the body of collider %u", i);
    if (result == MOTE_OK && (collider->kind == MOTE_COLLIDER_PLANE || collider->inside_out)) {
        result = mote_fail(MOTE_ERROR_INPUT, "shape %u is a %s with a mass, expected a solid of finite size", i,
                           collider->kind == MOTE_COLLIDER_PLANE ? "plane" : "container");
    }
    Moments moments = {0};
    if (result == MOTE_OK) {
        switch (collider->kind) {
        case MOTE_COLLIDER_BOX:
            moments = box_moments(collider, flat);
            out->sample_count = mass_box_samples(row->half_size, flat, out->samples);
            break;
        case MOTE_COLLIDER_HULL:
            world->backend->functions->download(world->backend, hull_rows, world->view.hull_rows + row->data,
                                                4 * (size_t)row->data_count * sizeof *hull_rows);
            moments = hull_moments(hull_rows, row->data_count);
            out->sample_count = hull_samples(hull_rows, row->data_count, out->samples);
            break;
        case MOTE_COLLIDER_FIELD:
            result = measure_field(world, i, collider, &moments, out);
            break;
        default:
            moments = capsule_moments(
                collider, collider->kind == MOTE_COLLIDER_CAPSULE ? (double)collider->half_size.y : 0.0, flat);
            out->sample_count = mass_round_samples(row, out->samples);
            break;
        }
    }
    free(hull_rows);
    result = result == MOTE_OK ? make_body(i, collider, &moments, flat, radius, out) : result;
    if (result != MOTE_OK) {
        free(out->samples);
        *out = (MassProperties){0};
    }
    return result;
}
