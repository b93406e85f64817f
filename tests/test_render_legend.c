// SPDX-License-Identifier: MIT
// Colour maps, the font and the legends of debug views, as the host paints them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "expect.h"
#include "render/font.h"
#include "render/legend.h"

static double srgb_decode(double x)
{
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

// ---- Font and legend ---------------------------------------------------------------------------------------

static void test_font(void **state)
{
    (void)state;
    bool inks[FONT_LAST + 1][FONT_WIDTH * FONT_HEIGHT];
    for (int c = FONT_FIRST; c <= FONT_LAST; c++) {
        int ink = 0;
        for (int i = 0; i < FONT_WIDTH * FONT_HEIGHT; i++) {
            inks[c][i] = font_ink((char)c, i % FONT_WIDTH, i / FONT_WIDTH);
            ink += inks[c][i];
        }
        assert_true(c == ' ' ? ink == 0 : ink >= 2);
        for (int other = FONT_FIRST; other < c; other++) {
            if (memcmp(inks[c], inks[other], sizeof inks[c]) == 0) {
                fail_msg("'%c' and '%c' look the same", other, c);
            }
        }
    }
    for (int y = 0; y < FONT_HEIGHT; y++) { // the gap between letters is empty
        for (int c = FONT_FIRST; c <= FONT_LAST; c++) {
            const int index = c - FONT_FIRST;
            const char *row = font_picture[index / FONT_BAND * FONT_HEIGHT + y];
            const size_t gap = (size_t)(index % FONT_BAND * FONT_ADVANCE + FONT_WIDTH);
            assert_true(gap <= strlen(row) && row[gap] != '#');
        }
    }
    assert_true(font_ink('\n', 2, 6) == font_ink('?', 2, 6));
}

static void expect_ticks(float lowest, float highest, const char *expected)
{
    char all[128] = "";
    for (uint32_t k = 0; k < LEGEND_TICKS; k++) {
        char text[16];
        legend_number(lowest, highest, k, text, sizeof text);
        snprintf(all + strlen(all), sizeof all - strlen(all), k > 0 ? " %s" : "%s", text);
    }
    assert_string_equal(all, expected);
}

static void test_numbers(void **state)
{
    (void)state;
    expect_ticks(0.0f, 5.0f, "0.00 1.25 2.50 3.75 5.00");
    expect_ticks(-10.0f, 10.0f, "-10 -5 0 5 10");
    expect_ticks(-0.1f, 0.1f, "-0.10 -0.05 0.00 0.05 0.10");
    expect_ticks(0.0f, 44.0f, "0 11 22 33 44");
    expect_ticks(293.1f, 293.5f, "293.1 293.2 293.3 293.4 293.5");
    expect_ticks(0.0f, 2e7f, "0.00e+00 5.00e+06 1.00e+07 1.50e+07 2.00e+07");
    expect_ticks(-2e-9f, 2e-9f, "-2.00e-09 -1.00e-09 0.00e+00 1.00e-09 2.00e-09");
    const float rounded[][2] = {{0.0f, 1.0f}, {-3.0f, 1.0f},    {1.0f, 1.0f}, {1.01f, 1.2f},
                                {3.1f, 4.0f}, {8.5f, 10.f},     {10.f, 10.f}, {0.0021f, 0.0025f},
                                {NAN, 1.0f},  {INFINITY, 1.0f}, {0.1f, 0.1f}, {1e-30f, 1e-30f}};
    for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++) {
        expect_near(nice_ceiling(rounded[i][0]), rounded[i][1], 1e-6 * rounded[i][1], "a rounded number");
    }
}

static uint32_t component(uint32_t color, int c)
{
    return color >> (8 * c) & 255u;
}

static void test_legend(void **state)
{
    (void)state;
    static uint32_t pixels[PANEL_MAX_WIDTH * PANEL_MAX_HEIGHT];
    Panel panel = {.pixels = pixels};
    Legend legend = {.title = "speed (m/s)", .map = MAP_SEQUENTIAL, .lowest = 0.0f, .highest = 2.0f};
    legend_paint(&legend, 300, 128, &panel);
    assert_true(panel.width > 66 && panel.width < 100 && panel.height > 80 && panel.height <= 128);

    // The bar is the column of opaque colours that are neither text nor tick: the map from its end to its beginning.
    const uint32_t *corner = pixels + 4;
    uint32_t rows[128], count = 0;
    for (uint32_t y = 16; y < panel.height; y++) {
        if (component(corner[y * panel.width], 3) == 255) {
            rows[count++] = corner[y * panel.width];
        }
    }
    assert_true(count > 60);
    for (uint32_t y = 0; y < count; y++) {
        const float t = 1.0f - (float)y / (float)(count - 1);
        for (uint32_t c = 0; c < 3; c++) {
            expect_near(component(rows[y], (int)c), 255.0 * map_color(MAP_SEQUENTIAL, c, t), 0.51, "the bar's colour");
        }
    }

    legend.map = MAP_NONE;
    legend_paint(&legend, 300, 128, &panel);
    assert_true(panel.width == 11 * FONT_ADVANCE - 1 + 8 && panel.height == 15);
    uint32_t text = 0;
    for (uint32_t i = 0; i < panel.width * panel.height; i++) {
        text += component(pixels[i], 3) == 255;
    }
    uint32_t ink = 0;
    for (const char *c = legend.title; *c != '\0'; c++) {
        for (int i = 0; i < FONT_WIDTH * FONT_HEIGHT; i++) {
            ink += font_ink(*c, i % FONT_WIDTH, i / FONT_WIDTH);
        }
    }
    assert_int_equal(text, ink);

    // No room for a bar: the title alone, with the range, shortened; no room at all: nothing.
    legend.map = MAP_DIVERGING;
    legend_paint(&legend, 300, 40, &panel);
    assert_true(panel.height == 15 && panel.width == 20 * FONT_ADVANCE - 1 + 8); // "speed (m/s) 0.0..2.0"
    legend_paint(&legend, 50, 40, &panel);
    assert_true(panel.height == 15 && panel.width <= 50 && panel.width > 40);
    legend_paint(&legend, 50, 14, &panel);
    assert_int_equal(panel.width, 0);
    legend_paint(&legend, 12, 40, &panel);
    assert_int_equal(panel.width, 0);
    memset(legend.title, 'W', sizeof legend.title - 1); // the longest there is
    legend_paint(&legend, 100000, 100000, &panel);
    assert_true(panel.width > 0 && panel.width <= PANEL_MAX_WIDTH && panel.height <= PANEL_MAX_HEIGHT);
    legend.title[0] = '\0';
    legend_paint(&legend, 300, 128, &panel);
    assert_int_equal(panel.width, 0);
}

// ---- Colour maps -------------------------------------------------------------------------------------------

// Lightness as the OKLab space has it.
static double lightness(uint32_t map, float t)
{
    double c[3];
    for (uint32_t k = 0; k < 3; k++) {
        const double value = map_color(map, k, t);
        assert_true(value >= 0.0 && value <= 1.0);
        c[k] = srgb_decode(value);
    }
    const double l = cbrt(0.4122214708 * c[0] + 0.5363325363 * c[1] + 0.0514459929 * c[2]);
    const double m = cbrt(0.2119034982 * c[0] + 0.6806995451 * c[1] + 0.1073969566 * c[2]);
    const double s = cbrt(0.0883024619 * c[0] + 0.2817188376 * c[1] + 0.6299787005 * c[2]);
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

static void test_color_maps(void **state)
{
    (void)state;
    enum { STEPS = 1000 };
    double last = 0.0;
    for (int i = 0; i <= STEPS; i++) {
        const double now = lightness(MAP_SEQUENTIAL, (float)i / STEPS);
        assert_true(now > last);
        expect_near(now, 0.26 + 0.67 * i / STEPS, 0.01, "the sequential map's lightness");
        last = now;
    }
    // Violet at one end, yellow at the other; blue, white, red.
    assert_true(map_color(MAP_SEQUENTIAL, 2, 0.0f) > map_color(MAP_SEQUENTIAL, 0, 0.0f));
    assert_true(map_color(MAP_SEQUENTIAL, 0, 0.0f) > map_color(MAP_SEQUENTIAL, 1, 0.0f));
    assert_true(map_color(MAP_SEQUENTIAL, 0, 1.0f) > 0.9f && map_color(MAP_SEQUENTIAL, 1, 1.0f) > 0.9f);
    assert_true(map_color(MAP_SEQUENTIAL, 2, 1.0f) < 0.5f);
    assert_true(map_color(MAP_DIVERGING, 2, 0.0f) > 0.6f && map_color(MAP_DIVERGING, 0, 0.0f) < 0.1f);
    assert_true(map_color(MAP_DIVERGING, 0, 1.0f) > 0.6f && map_color(MAP_DIVERGING, 2, 1.0f) < 0.2f);
    for (uint32_t c = 0; c < 3; c++) {
        expect_near(map_color(MAP_DIVERGING, c, 0.5f), 0.954, 1e-6, "the diverging map's middle");
    }
    for (int i = 1; i <= STEPS; i++) {
        const float before = 0.5f * (float)(i - 1) / STEPS, now = 0.5f * (float)i / STEPS;
        assert_true(lightness(MAP_DIVERGING, now) > lightness(MAP_DIVERGING, before));
        assert_true(lightness(MAP_DIVERGING, 1.0f - now) > lightness(MAP_DIVERGING, 1.0f - before));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_font),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_legend),
        cmocka_unit_test(test_color_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
