// SPDX-License-Identifier: MIT
// The measures of difference, against known pairs and against the papers' formulas written out directly.
#define _POSIX_C_SOURCE 200809L
#include "image_fixture.h"

#include "image/compare.h"

// ---- Pictures ----

// A scene of sorts: shading, edges, a bright point, a colourful corner.
static Image make_scene(uint32_t width, uint32_t height)
{
    Image image;
    expect_ok(image_create(&image, width, height, 3));
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const float u = (float)x / (float)width, v = (float)y / (float)height;
            float *pixel = image.pixels + 3 * ((size_t)y * width + x);
            pixel[0] = 0.3f + 0.5f * v;
            pixel[1] = 0.4f + 0.3f * v + 0.1f * sinf(40.0f * u);
            pixel[2] = 0.8f - 0.4f * v;
            const float radius = hypotf(u - 0.4f, (v - 0.5f) * (float)height / (float)width);
            if (radius < 0.15f) {
                pixel[0] = 0.9f - 4.0f * radius;
                pixel[1] = 0.2f;
                pixel[2] = 0.1f + radius;
            }
            if (u > 0.8f && v < 0.3f) {
                pixel[0] = (x / 8 + y / 8) % 2 ? 0.9f : 0.1f;
            }
        }
    }
    return image;
}

static Image make_uniform(uint32_t width, uint32_t height, float r, float g, float b)
{
    Image image;
    expect_ok(image_create(&image, width, height, 3));
    for (uint32_t i = 0; i < width * height; i++) {
        image.pixels[3 * i] = r;
        image.pixels[3 * i + 1] = g;
        image.pixels[3 * i + 2] = b;
    }
    return image;
}

static Image shifted(const Image *from, uint32_t by)
{
    Image image;
    expect_ok(image_create(&image, from->width, from->height, from->channels));
    for (uint32_t y = 0; y < from->height; y++) {
        for (uint32_t x = 0; x < from->width; x++) {
            const uint32_t source = x < by ? 0 : x - by;
            memcpy(image.pixels + 3 * ((size_t)y * from->width + x),
                   from->pixels + 3 * ((size_t)y * from->width + source), 3 * sizeof(float));
        }
    }
    return image;
}

static Image blurred(const Image *from, int radius)
{
    Image image;
    expect_ok(image_create(&image, from->width, from->height, from->channels));
    const int width = (int)from->width, height = (int)from->height;
    for (int i = 0; i < width * height * 3; i++) {
        const int x = i / 3 % width, y = i / 3 / width;
        float sum = 0.0f;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                const int sx = x + dx < 0 ? 0 : x + dx >= width ? width - 1 : x + dx;
                const int sy = y + dy < 0 ? 0 : y + dy >= height ? height - 1 : y + dy;
                sum += from->pixels[3 * (sy * width + sx) + i % 3];
            }
        }
        image.pixels[i] = sum / (float)((2 * radius + 1) * (2 * radius + 1));
    }
    return image;
}

static Image noisy(const Image *from, float amplitude)
{
    Image image;
    expect_ok(image_create(&image, from->width, from->height, from->channels));
    uint32_t seed = 99;
    for (uint32_t i = 0; i < from->width * from->height * 3; i++) {
        image.pixels[i] = from->pixels[i] + amplitude * ((float)fixture_random(&seed) / 8388608.0f - 1.0f);
    }
    return image;
}

static ImageDifference flip(const Image *a, const Image *b)
{
    ImageDifference difference;
    expect_ok(image_flip(a, b, &difference, NULL));
    assert_true(difference.mean >= 0.0f && difference.mean <= difference.max && difference.max <= 1.0f);
    return difference;
}

static float ssim(const Image *a, const Image *b)
{
    float similarity;
    expect_ok(image_ssim(a, b, &similarity));
    assert_true(similarity >= -1.0f && similarity <= 1.0f + 1e-6f);
    return similarity;
}

// ---- FLIP once more, from the paper and as directly as it goes: double precision, two-dimensional filters ----

typedef struct Colour {
    double v[3];
} Colour;

static Colour xyz_of(Colour rgb)
{
    const double *c = rgb.v;
    return (Colour){{0.412390799265959 * c[0] + 0.357584339383878 * c[1] + 0.180480788401834 * c[2],
                     0.21263900587151 * c[0] + 0.715168678767756 * c[1] + 0.0721923153607337 * c[2],
                     0.0193308187155918 * c[0] + 0.119194779794626 * c[1] + 0.950532152249661 * c[2]}};
}

static Colour rgb_of_xyz(Colour xyz)
{
    const double *c = xyz.v;
    return (Colour){{3.24096994190452 * c[0] - 1.53738317757009 * c[1] - 0.498610760293003 * c[2],
                     -0.96924363628088 * c[0] + 1.87596750150772 * c[1] + 0.0415550574071756 * c[2],
                     0.0556300796969937 * c[0] - 0.203976958888977 * c[1] + 1.05697151424288 * c[2]}};
}

static const double PI = 3.14159265358979323846;
static const double white[3] = {0.950455927051672, 1.0, 1.08905775075988};

static Colour direct_lab(Colour rgb)
{
    const Colour xyz = xyz_of(rgb);
    double f[3];
    for (int i = 0; i < 3; i++) {
        const double t = xyz.v[i] / white[i];
        f[i] = t > 216.0 / 24389.0 ? cbrt(t) : (841.0 / 108.0) * t + 4.0 / 29.0;
    }
    const double lightness = 116.0 * f[1] - 16.0;
    return (Colour){{lightness, 0.01 * lightness * 500.0 * (f[0] - f[1]), 0.01 * lightness * 200.0 * (f[1] - f[2])}};
}

static double direct_hyab(Colour a, Colour b)
{
    const double da = a.v[1] - b.v[1], db = a.v[2] - b.v[2];
    return fabs(a.v[0] - b.v[0]) + sqrt(da * da + db * db);
}

static Colour opponent_at(const Image *image, int x, int y)
{
    x = x < 0 ? 0 : x >= (int)image->width ? (int)image->width - 1 : x;
    y = y < 0 ? 0 : y >= (int)image->height ? (int)image->height - 1 : y;
    Colour rgb;
    for (int c = 0; c < 3; c++) {
        const double value = (double)image->pixels[3 * ((size_t)y * image->width + (size_t)x) + (size_t)c];
        rgb.v[c] = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
    }
    const Colour xyz = xyz_of(rgb);
    const double nx = xyz.v[0] / white[0], ny = xyz.v[1] / white[1], nz = xyz.v[2] / white[2];
    return (Colour){{116.0 * ny - 16.0, 500.0 * (nx - ny), 200.0 * (ny - nz)}};
}

static Colour direct_filtered_lab(const Image *image, int x, int y)
{
    static const double a1[3] = {1.0, 1.0, 34.1}, b1[3] = {0.0047, 0.0053, 0.04};
    static const double a2[3] = {0.0, 0.0, 13.5}, b2[3] = {1e-5, 1e-5, 0.025};
    const double ppd = 67.0;
    Colour sum = {{0}}, weights = {{0}};
    for (int dy = -10; dy <= 10; dy++) {
        for (int dx = -10; dx <= 10; dx++) {
            const double r2 = (dx * dx + dy * dy) / (ppd * ppd);
            const Colour at = opponent_at(image, x + dx, y + dy);
            for (int c = 0; c < 3; c++) {
                const double weight = a1[c] * sqrt(PI / b1[c]) * exp(-PI * PI * r2 / b1[c]) +
                                      a2[c] * sqrt(PI / b2[c]) * exp(-PI * PI * r2 / b2[c]);
                sum.v[c] += weight * at.v[c];
                weights.v[c] += weight;
            }
        }
    }
    const double fy = (sum.v[0] / weights.v[0] + 16.0) / 116.0;
    const double fx = fy + sum.v[1] / weights.v[1] / 500.0, fz = fy - sum.v[2] / weights.v[2] / 200.0;
    Colour rgb = rgb_of_xyz((Colour){{fx * white[0], fy * white[1], fz * white[2]}});
    for (int c = 0; c < 3; c++) {
        rgb.v[c] = fmin(fmax(rgb.v[c], 0.0), 1.0);
    }
    return direct_lab(rgb);
}

// Edge (order 1) or point (order 2) strength.
static double direct_feature(const Image *image, int x, int y, int order)
{
    const double deviation = 0.5 * 0.082 * 67.0;
    const int radius = (int)ceil(3.0 * deviation);
    double derivative[2];
    for (int axis = 0; axis < 2; axis++) {
        double positive = 0.0, negative = 0.0, positive_sum = 0.0, negative_sum = 0.0;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                const double gaussian = exp(-(dx * dx + dy * dy) / (2.0 * deviation * deviation));
                const double d = axis == 0 ? dx : dy;
                const double weight = order == 1 ? -d * gaussian : (d * d / (deviation * deviation) - 1.0) * gaussian;
                const double value = weight * (opponent_at(image, x + dx, y + dy).v[0] + 16.0) / 116.0;
                *(weight > 0.0 ? &positive : &negative) += weight;
                *(weight > 0.0 ? &positive_sum : &negative_sum) += value;
            }
        }
        derivative[axis] = positive_sum / positive - negative_sum / negative;
    }
    return hypot(derivative[0], derivative[1]);
}

static double direct_flip(const Image *a, const Image *b, int x, int y)
{
    const double largest = pow(direct_hyab(direct_lab((Colour){{0, 1, 0}}), direct_lab((Colour){{0, 0, 1}})), 0.7);
    const double distance = pow(direct_hyab(direct_filtered_lab(a, x, y), direct_filtered_lab(b, x, y)), 0.7);
    const double knee = 0.4 * largest;
    const double colour = distance < knee ? 0.95 / knee * distance : 0.95 + (distance - knee) / (largest - knee) * 0.05;
    const double edge = fabs(direct_feature(a, x, y, 1) - direct_feature(b, x, y, 1));
    const double point = fabs(direct_feature(a, x, y, 2) - direct_feature(b, x, y, 2));
    return pow(colour, 1.0 - sqrt(fmax(edge, point) / sqrt(2.0)));
}

static void flip_equals_the_formulas(void **state)
{
    (void)state;
    const Image a = make_scene(40, 28), moved = shifted(&a, 2);
    Image b = noisy(&moved, 0.1f);
    for (uint32_t i = 0; i < 40 * 28 * 3; i++) {
        b.pixels[i] = fminf(fmaxf(b.pixels[i], 0.0f), 1.0f);
    }
    ImageDifference difference;
    Image map;
    expect_ok(image_flip(&a, &b, &difference, &map));
    assert_true(map.width == 40 && map.height == 28 && map.channels == 1);
    double sum = 0.0, worst = 0.0, max = 0.0;
    for (int i = 0; i < 40 * 28; i++) {
        const double expected = direct_flip(&a, &b, i % 40, i / 40);
        worst = fmax(worst, fabs(expected - (double)map.pixels[i]));
        max = fmax(max, expected);
        sum += expected;
    }
    print_message("FLIP against the formulas: mean %.6f, largest deviation of a pixel %.2g\n", sum / (40 * 28), worst);
    assert_true(worst < 1e-4); // single against double precision, under a square root
    assert_true(fabs(sum / (40 * 28) - (double)difference.mean) < 1e-5);
    assert_true(fabs(max - (double)difference.max) < 1e-4);
    Image images[] = {a, moved, b, map};
    for (int i = 0; i < 4; i++) {
        image_destroy(&images[i]);
    }
}

// ---- Known pairs ----

static void identical_images_do_not_differ(void **state)
{
    (void)state;
    Image a = make_scene(100, 60);
    assert_true(flip(&a, &a).max == 0.0f);
    assert_true(fabsf(ssim(&a, &a) - 1.0f) < 1e-5f);
    image_destroy(&a);
}

// Without any detail only the colour counts: the distances can be computed by hand from CIELAB's tables.
static void uniform_colours_differ_as_their_distance_says(void **state)
{
    (void)state;
    Image black = make_uniform(33, 21, 0, 0, 0), white_image = make_uniform(33, 21, 1, 1, 1);
    Image green = make_uniform(33, 21, 0, 1, 0), blue = make_uniform(33, 21, 0, 0, 1);
    Image grey = make_uniform(33, 21, 0.5f, 0.5f, 0.5f), lighter = make_uniform(33, 21, 0.52f, 0.52f, 0.52f);
    // L = 0 and 100: 100^0.7 = 25.119; green and blue: 203.3^0.7 = 41.27; the knee lies at 16.51.
    const ImageDifference contrast = flip(&black, &white_image);
    assert_true(fabsf(contrast.mean - 0.967f) < 1e-3f && contrast.max - contrast.mean < 1e-5f);
    assert_true(fabsf(flip(&green, &blue).mean - 1.0f) < 1e-5f); // the largest there is
    // L = 53.389 and 55.382: 1.993^0.7 = 1.6207, 0.95 / 16.51 of it.
    assert_true(fabsf(flip(&grey, &lighter).mean - 0.0933f) < 2e-4f);
    assert_true(ssim(&black, &white_image) < 0.001f);
    Image images[] = {black, white_image, green, blue, grey, lighter};
    for (int i = 0; i < 6; i++) {
        image_destroy(&images[i]);
    }
}

static void a_shift_by_one_pixel_is_small(void **state)
{
    (void)state;
    Image a = make_scene(480, 270), b = shifted(&a, 1), c = shifted(&a, 4);
    const ImageDifference one = flip(&a, &b), four = flip(&a, &c);
    print_message("FLIP of a shift by 1: %.4f, by 4: %.4f; SSIM %.4f, %.4f\n", (double)one.mean, (double)four.mean,
                  (double)ssim(&a, &b), (double)ssim(&a, &c));
    assert_true(one.mean > 0.001f && one.mean < 0.1f);
    assert_true(four.mean > one.mean);
    assert_true(ssim(&a, &b) < 1.0f && ssim(&a, &c) < ssim(&a, &b));
    image_destroy(&a);
    image_destroy(&b);
    image_destroy(&c);
}

static void the_order_of_images_does_not_matter(void **state)
{
    (void)state;
    Image a = make_scene(90, 70), b = noisy(&a, 0.2f);
    const ImageDifference forth = flip(&a, &b), back = flip(&b, &a);
    assert_true(forth.mean == back.mean && forth.max == back.max);
    assert_true(fabsf(ssim(&a, &b) - ssim(&b, &a)) < 1e-6f);
    image_destroy(&a);
    image_destroy(&b);
}

static void more_damage_is_more_difference(void **state)
{
    (void)state;
    Image scene = make_scene(160, 100);
    float previous_blur = 0.0f, previous_noise = 0.0f, previous_similarity = 1.0f;
    for (int strength = 1; strength <= 5; strength++) {
        Image blur = blurred(&scene, strength), noise = noisy(&scene, 0.03f * (float)(1 << strength));
        const float blur_mean = flip(&scene, &blur).mean, noise_mean = flip(&scene, &noise).mean;
        const float similarity = ssim(&scene, &noise);
        print_message("strength %d: blur %.4f, noise %.4f, SSIM of noise %.4f\n", strength, (double)blur_mean,
                      (double)noise_mean, (double)similarity);
        assert_true(blur_mean > previous_blur);
        assert_true(noise_mean > previous_noise);
        assert_true(similarity < previous_similarity);
        previous_blur = blur_mean;
        previous_noise = noise_mean;
        previous_similarity = similarity;
        image_destroy(&blur);
        image_destroy(&noise);
    }
    image_destroy(&scene);
}

static void one_wrong_pixel_shows_in_the_maximum(void **state)
{
    (void)state;
    Image a = make_uniform(64, 64, 0.2f, 0.2f, 0.2f), b = make_uniform(64, 64, 0.2f, 0.2f, 0.2f), map;
    b.pixels[3 * (20 * 64 + 40) + 1] = 1.0f;
    ImageDifference difference;
    expect_ok(image_flip(&a, &b, &difference, &map));
    assert_true(difference.mean < 0.03f && difference.max > 0.2f);
    for (uint32_t i = 0; i < 64 * 64; i++) {
        assert_true(map.pixels[i] <= map.pixels[20 * 64 + 40]);
    }
    assert_true(map.pixels[0] == 0.0f); // out of every filter's reach
    image_destroy(&a);
    image_destroy(&b);
    image_destroy(&map);
}

static void any_values_and_channels_are_taken(void **state)
{
    (void)state;
    Image grey, colour;
    expect_ok(image_create(&grey, 9, 7, 1));
    expect_ok(image_create(&colour, 9, 7, 4));
    for (uint32_t i = 0; i < 63; i++) {
        grey.pixels[i] = i % 5 == 0 ? NAN : i % 5 == 1 ? INFINITY : i % 5 == 2 ? -1.0f : 0.3f;
        const float clamped = i % 5 == 1 ? 1.0f : i % 5 >= 3 ? 0.3f : 0.0f;
        for (uint32_t c = 0; c < 3; c++) {
            colour.pixels[4 * i + c] = clamped;
        }
        colour.pixels[4 * i + 3] = (float)i; // alpha is left out
    }
    assert_true(flip(&grey, &colour).max == 0.0f);
    assert_true(fabsf(ssim(&grey, &colour) - 1.0f) < 1e-5f);
    Image pixel = make_uniform(1, 1, 0, 0, 0), other = make_uniform(1, 1, 1, 1, 1);
    assert_true(fabsf(flip(&pixel, &other).mean - 0.967f) < 1e-3f);
    ImageDifference difference;
    Image map;
    float similarity;
    assert_int_equal(image_flip(&grey, &pixel, &difference, &map), MOTE_ERROR_INPUT);
    expect_message("9 x 7 and 1 x 1");
    assert_null(map.pixels);
    assert_int_equal(image_ssim(&grey, &pixel, &similarity), MOTE_ERROR_INPUT);
    Image images[] = {grey, colour, pixel, other};
    for (int i = 0; i < 4; i++) {
        image_destroy(&images[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flip_equals_the_formulas),
        cmocka_unit_test(identical_images_do_not_differ),
        cmocka_unit_test(uniform_colours_differ_as_their_distance_says),
        cmocka_unit_test(a_shift_by_one_pixel_is_small),
        cmocka_unit_test(the_order_of_images_does_not_matter),
        cmocka_unit_test(more_damage_is_more_difference),
        cmocka_unit_test(one_wrong_pixel_shows_in_the_maximum),
        cmocka_unit_test(any_values_and_channels_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
