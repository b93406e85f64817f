// SPDX-License-Identifier: MIT
#include "image/compare.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

// ---- Filters: all are products of two filters along x and y, or sums of such products ---------------------------

enum { RADIUS_LIMIT = 16 };

typedef struct Kernel {
    int radius;
    float weights[2 * RADIUS_LIMIT + 1];
} Kernel;

typedef struct Plane {
    uint32_t width, height;
    float *values; // NULL: no memory
} Plane;

static Plane plane_create(const Image *image)
{
    return (Plane){image->width, image->height, malloc((size_t)image->width * image->height * sizeof(float))};
}

static size_t plane_size(const Plane *plane)
{
    return (size_t)plane->width * plane->height;
}

static void add_scaled(float *restrict to, const float *restrict from, float scale, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] += scale * from[i];
    }
}

// The image continues beyond its border with the border's value.
static void filter_rows(const Plane *in, const Kernel *kernel, float *padded_row, Plane *out)
{
    const uint32_t width = in->width, radius = (uint32_t)kernel->radius;
    for (uint32_t y = 0; y < in->height; y++) {
        const float *row = in->values + (size_t)y * width;
        for (uint32_t i = 0; i < radius; i++) {
            padded_row[i] = row[0];
            padded_row[radius + width + i] = row[width - 1];
        }
        memcpy(padded_row + radius, row, width * sizeof(float));
        float *sum = out->values + (size_t)y * width;
        memset(sum, 0, width * sizeof(float));
        for (uint32_t tap = 0; tap <= 2 * radius; tap++) {
            add_scaled(sum, padded_row + tap, kernel->weights[tap], width);
        }
    }
}

static void filter_columns(const Plane *in, const Kernel *kernel, Plane *out)
{
    const int64_t last = (int64_t)in->height - 1;
    for (int64_t y = 0; y <= last; y++) {
        float *sum = out->values + (size_t)y * in->width;
        memset(sum, 0, in->width * sizeof(float));
        for (int tap = -kernel->radius; tap <= kernel->radius; tap++) {
            const int64_t from = y + tap < 0 ? 0 : y + tap > last ? last : y + tap;
            add_scaled(sum, in->values + (size_t)from * in->width, kernel->weights[tap + kernel->radius], in->width);
        }
    }
}

// Room that filters need beside their input and output.
typedef struct Scratch {
    Plane between, second;
    float *padded_row;
} Scratch;

static bool scratch_create(Scratch *scratch, const Image *image)
{
    scratch->between = plane_create(image);
    scratch->second = plane_create(image);
    scratch->padded_row = malloc(((size_t)image->width + 2 * RADIUS_LIMIT) * sizeof(float));
    return scratch->between.values != NULL && scratch->second.values != NULL && scratch->padded_row != NULL;
}

static void scratch_destroy(Scratch *scratch)
{
    free(scratch->between.values);
    free(scratch->second.values);
    free(scratch->padded_row);
}

static void filter(const Plane *in, const Kernel *along_x, const Kernel *along_y, Scratch *scratch, Plane *out)
{
    filter_rows(in, along_x, scratch->padded_row, &scratch->between);
    filter_columns(&scratch->between, along_y, out);
}

// exp(-scale x^2), its sum 1.
static Kernel gaussian_kernel(int radius, double scale)
{
    MOTE_ASSERT(radius <= RADIUS_LIMIT);
    Kernel kernel = {.radius = radius};
    double sum = 0.0;
    for (int x = -radius; x <= radius; x++) {
        sum += exp(-scale * x * x);
    }
    for (int x = -radius; x <= radius; x++) {
        kernel.weights[x + radius] = (float)(exp(-scale * x * x) / sum);
    }
    return kernel;
}

// ---- FLIP, the colour pipeline (section 4.1) -------------------------------------------------------------------

// sRGB's primaries and white point (x = 0.3127, y = 0.3290) to CIE XYZ, its inverse, and the white.
static const float xyz_from_rgb[3][3] = {
    {0.412390799f, 0.357584339f, 0.180480788f},
    {0.212639006f, 0.715168679f, 0.072192315f},
    {0.019330819f, 0.119194780f, 0.950532152f},
};
static const float rgb_from_xyz[3][3] = {
    {3.240969942f, -1.537383178f, -0.498610760f},
    {-0.969243636f, 1.875967502f, 0.041555057f},
    {0.055630080f, -0.203976959f, 1.056971514f},
};
static const float white[3] = {0.950455927f, 1.0f, 1.089057751f};

typedef struct Triple {
    float v[3];
} Triple;

static Triple transform(const float matrix[3][3], Triple in)
{
    Triple out;
    for (int i = 0; i < 3; i++) {
        out.v[i] = matrix[i][0] * in.v[0] + matrix[i][1] * in.v[1] + matrix[i][2] * in.v[2];
    }
    return out;
}

static float clamp01(float value)
{
    return fminf(fmaxf(value, 0.0f), 1.0f); // fmaxf gives 0 for what is no number
}

static float linear_from_srgb(float value)
{
    const float clamped = clamp01(value);
    return clamped <= 0.04045f ? clamped / 12.92f : powf((clamped + 0.055f) / 1.055f, 2.4f);
}

// The linear opponent space YCxCz, in which the eye's filters work.
static Triple opponent_from_rgb(Triple rgb)
{
    const Triple xyz = transform(xyz_from_rgb, rgb);
    const float x = xyz.v[0] / white[0], y = xyz.v[1] / white[1], z = xyz.v[2] / white[2];
    return (Triple){{116.0f * y - 16.0f, 500.0f * (x - y), 200.0f * (y - z)}};
}

static Triple rgb_from_opponent(Triple opponent)
{
    const float y = (opponent.v[0] + 16.0f) / 116.0f;
    const float x = y + opponent.v[1] / 500.0f;
    const float z = y - opponent.v[2] / 200.0f;
    return transform(rgb_from_xyz, (Triple){{x * white[0], y * white[1], z * white[2]}});
}

static float lab_curve(float t)
{
    const float delta = 6.0f / 29.0f;
    return t > delta * delta * delta ? cbrtf(t) : t / (3.0f * delta * delta) + 4.0f / 29.0f;
}

// CIELAB, with the Hunt effect: colours look paler in the dark.
static Triple hunt_lab_from_rgb(Triple rgb)
{
    const Triple xyz = transform(xyz_from_rgb, rgb);
    const float x = lab_curve(xyz.v[0] / white[0]);
    const float y = lab_curve(xyz.v[1] / white[1]);
    const float z = lab_curve(xyz.v[2] / white[2]);
    const float lightness = 116.0f * y - 16.0f;
    return (Triple){{lightness, 0.01f * lightness * 500.0f * (x - y), 0.01f * lightness * 200.0f * (y - z)}};
}

// HyAB distance: city block between lightness and chroma, Euclidean within chroma; better than Euclidean for large
// differences.
static float hyab(Triple a, Triple b)
{
    return fabsf(a.v[0] - b.v[0]) + hypotf(a.v[1] - b.v[1], a.v[2] - b.v[2]);
}

// Compresses large differences (exponent) and gives 95 % of the range to the lower 40 % of them.
static float redistribute(float distance, float largest)
{
    const float knee = 0.4f * largest, share = 0.95f;
    const float value = powf(distance, 0.7f);
    return value < knee ? share / knee * value : share + (value - knee) / (largest - knee) * (1.0f - share);
}

static float largest_colour_difference(void)
{
    const Triple green = {{0.0f, 1.0f, 0.0f}}, blue = {{0.0f, 0.0f, 1.0f}};
    return powf(hyab(hunt_lab_from_rgb(green), hunt_lab_from_rgb(blue)), 0.7f);
}

// The eye's contrast sensitivity as sums of Gaussians a sqrt(pi/b) exp(-pi^2 x^2 / b), x in degrees; table 1.
typedef struct Sensitivity {
    double a[2], b[2];
} Sensitivity;

static const Sensitivity sensitivities[3] = {
    {{1.0, 0.0}, {0.0047, 1e-5}},  // achromatic
    {{1.0, 0.0}, {0.0053, 1e-5}},  // red-green
    {{34.1, 13.5}, {0.04, 0.025}}, // blue-yellow
};
static const double WIDEST_SENSITIVITY = 0.04;

static void filter_by_sensitivity(Plane *plane, const Sensitivity *sensitivity, Scratch *scratch)
{
    const double ppd = COMPARE_PIXELS_PER_DEGREE;
    const int radius = (int)ceil(3.0 * sqrt(WIDEST_SENSITIVITY / (2.0 * PI * PI)) * ppd);
    Kernel kernels[2];
    double shares[2] = {0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        const double scale = PI * PI / (sensitivity->b[i] * ppd * ppd);
        kernels[i] = gaussian_kernel(radius, scale);
        double sum = 0.0;
        for (int x = -radius; x <= radius; x++) {
            sum += exp(-scale * x * x);
        }
        shares[i] = sensitivity->a[i] * sqrt(PI / sensitivity->b[i]) * sum * sum; // of the whole filter's weight
    }
    const float first_share = (float)(shares[0] / (shares[0] + shares[1]));
    if (shares[1] == 0.0) {
        filter(plane, &kernels[0], &kernels[0], scratch, plane);
        return;
    }
    filter(plane, &kernels[1], &kernels[1], scratch, &scratch->second);
    filter(plane, &kernels[0], &kernels[0], scratch, plane);
    for (size_t i = 0; i < plane_size(plane); i++) {
        plane->values[i] = first_share * plane->values[i] + (1.0f - first_share) * scratch->second.values[i];
    }
}

// ---- FLIP, the feature pipeline (section 4.2) ------------------------------------------------------------------

// Features are as wide as edges in the eye: 0.082 degrees.
static double feature_deviation(void)
{
    return 0.5 * 0.082 * COMPARE_PIXELS_PER_DEGREE;
}

static Kernel feature_gaussian(void)
{
    const double deviation = feature_deviation();
    return gaussian_kernel((int)ceil(3.0 * deviation), 1.0 / (2.0 * deviation * deviation));
}

// The first (edges) or second (points) derivative of the Gaussian, its positive weights summing to 1 and its negative
// ones to -1.
static Kernel feature_derivative(int order)
{
    const double deviation = feature_deviation();
    Kernel kernel = {.radius = (int)ceil(3.0 * deviation)};
    double weights[2 * RADIUS_LIMIT + 1], positive = 0.0, negative = 0.0;
    for (int x = -kernel.radius; x <= kernel.radius; x++) {
        const double gaussian = exp(-x * x / (2.0 * deviation * deviation));
        const double weight = order == 1 ? -x * gaussian : (x * x / (deviation * deviation) - 1.0) * gaussian;
        weights[x + kernel.radius] = weight;
        *(weight > 0.0 ? &positive : &negative) += weight;
    }
    for (int i = 0; i <= 2 * kernel.radius; i++) {
        kernel.weights[i] = (float)(weights[i] / (weights[i] > 0.0 ? positive : -negative));
    }
    return kernel;
}

// The length of the vector of derivatives along x and y.
static void feature_strength(const Plane *grey, int order, Scratch *scratch, Plane *strength)
{
    const Kernel gaussian = feature_gaussian(), derivative = feature_derivative(order);
    filter(grey, &derivative, &gaussian, scratch, strength);
    filter(grey, &gaussian, &derivative, scratch, &scratch->second);
    for (size_t i = 0; i < plane_size(grey); i++) {
        const float x = strength->values[i], y = scratch->second.values[i];
        strength->values[i] = sqrtf(x * x + y * y);
    }
}

// ---- FLIP ------------------------------------------------------------------------------------------------------

// What the eye makes of an image.
typedef struct Perception {
    Plane colour[3]; // CIELAB with the Hunt effect, after the eye's filters
    Plane edges, points;
} Perception;

static bool perception_create(Perception *perception, const Image *image)
{
    Plane *planes[5] = {&perception->colour[0], &perception->colour[1], &perception->colour[2], &perception->edges,
                        &perception->points};
    bool complete = true;
    for (int i = 0; i < 5; i++) {
        *planes[i] = plane_create(image);
        complete = complete && planes[i]->values != NULL;
    }
    return complete;
}

static void perception_destroy(Perception *perception)
{
    for (int c = 0; c < 3; c++) {
        free(perception->colour[c].values);
    }
    free(perception->edges.values);
    free(perception->points.values);
}

static Triple triple_at(const Plane planes[3], size_t i)
{
    return (Triple){{planes[0].values[i], planes[1].values[i], planes[2].values[i]}};
}

static void set_triple_at(const Plane planes[3], size_t i, Triple triple)
{
    for (int c = 0; c < 3; c++) {
        planes[c].values[i] = triple.v[c];
    }
}

static void perceive(const Image *image, Scratch *scratch, Perception *out)
{
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            float rgba[4];
            image_pixel(image, x, y, rgba);
            const Triple rgb = {{linear_from_srgb(rgba[0]), linear_from_srgb(rgba[1]), linear_from_srgb(rgba[2])}};
            set_triple_at(out->colour, (size_t)y * image->width + x, opponent_from_rgb(rgb));
        }
    }
    // Features are found in the luminance; its offset of 16 takes no part in derivatives.
    feature_strength(&out->colour[0], 1, scratch, &out->edges);
    feature_strength(&out->colour[0], 2, scratch, &out->points);
    for (int c = 0; c < 3; c++) {
        filter_by_sensitivity(&out->colour[c], &sensitivities[c], scratch);
    }
    for (size_t i = 0; i < plane_size(&out->edges); i++) {
        Triple rgb = rgb_from_opponent(triple_at(out->colour, i));
        for (int c = 0; c < 3; c++) {
            rgb.v[c] = clamp01(rgb.v[c]);
        }
        set_triple_at(out->colour, i, hunt_lab_from_rgb(rgb));
    }
}

static void combine(const Perception *a, const Perception *b, ImageDifference *out, float *map)
{
    const float largest = largest_colour_difference();
    const size_t count = plane_size(&a->edges);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const float colour = redistribute(hyab(triple_at(a->colour, i), triple_at(b->colour, i)), largest);
        const float edge = fabsf(a->edges.values[i] - b->edges.values[i]);
        const float point = fabsf(a->points.values[i] - b->points.values[i]);
        // Strengths are in units of 116 Y here, and a diagonal feature's may reach the square root of 2.
        const float feature = sqrtf(fmaxf(edge, point) / (116.0f * sqrtf(2.0f)));
        const float difference = powf(colour, 1.0f - fminf(feature, 1.0f));
        sum += difference;
        out->max = fmaxf(out->max, difference);
        if (map != NULL) {
            map[i] = difference;
        }
    }
    out->mean = (float)(sum / (double)count);
}

static MoteResult check_sizes(const Image *reference, const Image *test)
{
    if (reference->width == test->width && reference->height == test->height) {
        return MOTE_OK;
    }
    return mote_fail(MOTE_ERROR_INPUT, "cannot compare images of %u x %u and %u x %u pixels", reference->width,
                     reference->height, test->width, test->height);
}

MoteResult image_flip(const Image *reference, const Image *test, ImageDifference *out, Image *map)
{
    *out = (ImageDifference){0};
    if (map != NULL) {
        *map = (Image){0};
    }
    MoteResult result = check_sizes(reference, test);
    if (result == MOTE_OK && map != NULL) {
        result = image_create(map, reference->width, reference->height, 1);
    }
    if (result != MOTE_OK) {
        return result;
    }
    Scratch scratch;
    Perception perceptions[2];
    const bool ready[3] = {scratch_create(&scratch, reference), perception_create(&perceptions[0], reference),
                           perception_create(&perceptions[1], test)};
    if (ready[0] && ready[1] && ready[2]) {
        perceive(reference, &scratch, &perceptions[0]);
        perceive(test, &scratch, &perceptions[1]);
        combine(&perceptions[0], &perceptions[1], out, map != NULL ? map->pixels : NULL);
    } else {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to compare images of %u x %u pixels", reference->width,
                           reference->height);
        if (map != NULL) {
            image_destroy(map);
        }
    }
    perception_destroy(&perceptions[0]);
    perception_destroy(&perceptions[1]);
    scratch_destroy(&scratch);
    return result;
}

// ---- SSIM ------------------------------------------------------------------------------------------------------

enum { A, B, AA, BB, AB, MOMENTS }; // the local means of both images, and of their products

static void fill_moments(const Image *reference, const Image *test, Plane planes[MOMENTS])
{
    for (uint32_t y = 0; y < reference->height; y++) {
        for (uint32_t x = 0; x < reference->width; x++) {
            float luma[2], rgba[4];
            for (int i = 0; i < 2; i++) {
                image_pixel(i == 0 ? reference : test, x, y, rgba);
                luma[i] = 0.2126f * clamp01(rgba[0]) + 0.7152f * clamp01(rgba[1]) + 0.0722f * clamp01(rgba[2]);
            }
            const size_t at = (size_t)y * reference->width + x;
            planes[A].values[at] = luma[0];
            planes[B].values[at] = luma[1];
            planes[AA].values[at] = luma[0] * luma[0];
            planes[BB].values[at] = luma[1] * luma[1];
            planes[AB].values[at] = luma[0] * luma[1];
        }
    }
}

static float mean_similarity(const Plane planes[MOMENTS])
{
    const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03; // keep the quotients finite in flat regions
    const size_t count = plane_size(&planes[A]);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double a = planes[A].values[i], b = planes[B].values[i];
        const double variances = planes[AA].values[i] - a * a + planes[BB].values[i] - b * b;
        const double covariance = planes[AB].values[i] - a * b;
        sum += (2.0 * a * b + c1) * (2.0 * covariance + c2) / ((a * a + b * b + c1) * (variances + c2));
    }
    return (float)(sum / (double)count);
}

MoteResult image_ssim(const Image *reference, const Image *test, float *similarity)
{
    *similarity = 0.0f;
    MoteResult result = check_sizes(reference, test);
    if (result != MOTE_OK) {
        return result;
    }
    Scratch scratch;
    Plane planes[MOMENTS];
    bool ready = scratch_create(&scratch, reference);
    for (int i = 0; i < MOMENTS; i++) {
        planes[i] = plane_create(reference);
        ready = ready && planes[i].values != NULL;
    }
    if (ready) {
        const Kernel window = gaussian_kernel(5, 1.0 / (2.0 * 1.5 * 1.5));
        fill_moments(reference, test, planes);
        for (int i = 0; i < MOMENTS; i++) {
            filter(&planes[i], &window, &window, &scratch, &planes[i]);
        }
        *similarity = mean_similarity(planes);
    } else {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to compare images of %u x %u pixels", reference->width,
                           reference->height);
    }
    for (int i = 0; i < MOMENTS; i++) {
        free(planes[i].values);
    }
    scratch_destroy(&scratch);
    return result;
}
