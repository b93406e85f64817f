// SPDX-License-Identifier: MIT
// legend.c - draws the legend of a debug view on the host: text, colour bar, ticks.
#include "render/legend.h"

#include "render/font.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// Pixels before enlarging.
enum { PADDING = 4, BAR_WIDTH = 12, BAR_HEIGHT = 73, TICK_LENGTH = 3, GAP = 4, LETTERS = 160 };
enum { TICK_STEP = (BAR_HEIGHT - 1) / (LEGEND_TICKS - 1) };

static uint32_t pack_color(float red, float green, float blue, float alpha)
{
    const float values[4] = {red, green, blue, alpha};
    uint32_t packed = 0;
    for (int c = 0; c < 4; c++) {
        const float value = fminf(fmaxf(values[c], 0.0f), 1.0f);
        packed |= (uint32_t)(value * 255.0f + 0.5f) << (8 * c);
    }
    return packed;
}

static uint32_t text_width(const char *text)
{
    const uint32_t letters = (uint32_t)strlen(text);
    return letters == 0 ? 0 : letters * FONT_ADVANCE - (FONT_ADVANCE - FONT_WIDTH);
}

// Text with its top left corner at (x, y). The caller has made room.
static void paint_text(Panel *panel, uint32_t x, uint32_t y, const char *text, uint32_t color)
{
    for (; *text != '\0'; text++, x += FONT_ADVANCE) {
        for (uint32_t row = 0; row < FONT_HEIGHT; row++) {
            for (uint32_t column = 0; column < FONT_WIDTH; column++) {
                if (font_ink(*text, (int)column, (int)row)) {
                    panel->pixels[(y + row) * panel->width + x + column] = color;
                }
            }
        }
    }
}

// Shortens a title to `max_width` pixels; empty if not even the dots have room.
static void fit_text(const char *text, uint32_t max_width, char fitted[LETTERS])
{
    const size_t room = (max_width + (FONT_ADVANCE - FONT_WIDTH)) / FONT_ADVANCE;
    if (strlen(text) <= room) {
        snprintf(fitted, LETTERS, "%s", text);
    } else if (room > 2) {
        snprintf(fitted, LETTERS, "%.*s..", (int)room - 2, text);
    } else {
        fitted[0] = '\0';
    }
}

// Decimals that all ticks share: as few as write them exactly; where three digits of the step between two of them are
// not enough for that, two are.
static int shared_decimals(double lowest, double step)
{
    const int enough = (int)fmax(1.0 - floor(log10(step)), 0.0);
    for (int decimals = 0; decimals <= enough + 1; decimals++) {
        const double unit = pow(10.0, -decimals);
        double worst = 0.0;
        for (int k = 0; k < LEGEND_TICKS; k++) {
            const double value = (lowest + k * step) / unit;
            worst = fmax(worst, fabs(value - round(value)) * unit);
        }
        if (worst < 1e-3 * step) {
            return decimals;
        }
    }
    return enough;
}

void legend_number(float lowest, float highest, uint32_t tick, char *text, uint32_t size)
{
    const double step = ((double)highest - lowest) / (LEGEND_TICKS - 1);
    double value = lowest + tick * step;
    value = fabs(value) < 1e-4 * fabs(step) ? 0.0 : value; // no "-0"
    const double largest = fmax(fabs((double)lowest), fabs((double)highest));
    if (step > 0.0 && largest < 1e6 && step >= 1e-4) {
        snprintf(text, size, "%.*f", shared_decimals(lowest, step), value);
    } else {
        const double lost = step > 0.0 ? floor(log10(largest / step)) : 0.0; // digits that all ticks have in common
        snprintf(text, size, "%.*e", 2 + (int)fmin(fmax(lost, 0.0), 6.0), value);
    }
}

static void paint_bar(const Legend *legend, Panel *panel, uint32_t top, char (*numbers)[16], uint32_t text_color)
{
    const uint32_t grey = pack_color(0.6f, 0.6f, 0.6f, 1.0f);
    for (uint32_t y = 0; y < BAR_HEIGHT; y++) {
        const float t = 1.0f - (float)y / (float)(BAR_HEIGHT - 1);
        const uint32_t color =
            pack_color(map_color(legend->map, 0, t), map_color(legend->map, 1, t), map_color(legend->map, 2, t), 1.0f);
        const uint32_t length = y % TICK_STEP == 0 ? TICK_LENGTH : 0;
        uint32_t *row = &panel->pixels[(top + y) * panel->width + PADDING];
        for (uint32_t x = 0; x < BAR_WIDTH + length; x++) {
            row[x] = x < BAR_WIDTH ? color : grey;
        }
    }
    for (uint32_t k = 0; k < LEGEND_TICKS; k++) {
        const uint32_t y = top + TICK_STEP * k - 3; // the middle of a digit beside its tick
        paint_text(panel, PADDING + BAR_WIDTH + TICK_LENGTH + GAP, y, numbers[LEGEND_TICKS - 1 - k], text_color);
    }
}

typedef struct Layout {
    char title[LETTERS];
    char numbers[LEGEND_TICKS][16];
    bool bar;
    uint32_t width, height;
} Layout;

static Layout lay_out(const Legend *legend, bool bar, uint32_t max_width)
{
    Layout layout = {.bar = bar};
    char whole[LETTERS];
    snprintf(whole, sizeof whole, "%s", legend->title);
    for (uint32_t k = 0; k < LEGEND_TICKS && legend->map != MAP_NONE; k++) {
        legend_number(legend->lowest, legend->highest, k, layout.numbers[k], sizeof layout.numbers[k]);
        if (bar) {
            const uint32_t beside = BAR_WIDTH + TICK_LENGTH + GAP + text_width(layout.numbers[k]);
            layout.width = layout.width > beside ? layout.width : beside;
        }
    }
    if (!bar && legend->map != MAP_NONE) {
        snprintf(whole, sizeof whole, "%s %s..%s", legend->title, layout.numbers[0], layout.numbers[LEGEND_TICKS - 1]);
    }
    fit_text(whole, max_width > 2 * PADDING ? max_width - 2 * PADDING : 0, layout.title);
    const uint32_t title_width = text_width(layout.title);
    layout.width = (layout.width > title_width ? layout.width : title_width) + 2 * PADDING;
    layout.height = FONT_HEIGHT - 2 + 2 * PADDING;   // tails reach into the padding
    layout.height += bar ? 3 * GAP + BAR_HEIGHT : 0; // the lowest number reaches below the bar
    return layout;
}

void legend_paint(const Legend *legend, uint32_t max_width, uint32_t max_height, Panel *panel)
{
    panel->width = panel->height = 0;
    max_width = max_width < PANEL_MAX_WIDTH ? max_width : PANEL_MAX_WIDTH;
    max_height = max_height < PANEL_MAX_HEIGHT ? max_height : PANEL_MAX_HEIGHT;
    Layout layout = lay_out(legend, legend->map != MAP_NONE, max_width);
    if (layout.width > max_width || layout.height > max_height) {
        layout = lay_out(legend, false, max_width);
    }
    if (layout.title[0] == '\0' || layout.width > max_width || layout.height > max_height) {
        return;
    }
    panel->width = layout.width;
    panel->height = layout.height;
    const uint32_t dark = pack_color(0.05f, 0.06f, 0.07f, 0.7f), bright = pack_color(0.96f, 0.96f, 0.96f, 1.0f);
    for (uint32_t i = 0; i < layout.width * layout.height; i++) {
        panel->pixels[i] = dark;
    }
    paint_text(panel, PADDING, PADDING, layout.title, bright);
    if (layout.bar) {
        paint_bar(legend, panel, PADDING + FONT_HEIGHT - 2 + 2 * GAP, layout.numbers, bright);
    }
}

uint32_t legend_scale(uint32_t picture_height)
{
    return picture_height < 720 ? 1 : picture_height / 360;
}

float nice_ceiling(float value)
{
    if (!(value > 0.0f) || !isfinite(value)) {
        return 1.0f;
    }
    const double steps[] = {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0};
    const double decade = pow(10.0, floor(log10(value)));
    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if ((float)(steps[i] * decade) >= value) {
            return (float)(steps[i] * decade);
        }
    }
    return (float)(10.0 * decade); // log10 was rounded
}
