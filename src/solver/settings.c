// SPDX-License-Identifier: MIT
// settings.c - checks settings against the ranges of settings.def.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <string.h>

typedef enum SettingType { SETTING_UINT, SETTING_CHOICE, SETTING_FLOAT, SETTING_VEC3 } SettingType;

typedef struct Setting {
    const char *name;
    SettingType type;
    double minimum, maximum; // of each component
    size_t offset;           // in MoteSettings
} Setting;

static const Setting rows[] = {
#define SETTING(field, type, unit, minimum, maximum, standard, animation, choices, meaning)                            \
    {#field, SETTING_##type, minimum, maximum, offsetof(MoteSettings, field)},
#include "solver/settings.def"
};

double settings_maximum(const char *name)
{
    size_t r = 0;
    while (strcmp(rows[r].name, name) != 0) {
        r++;
        MOTE_ASSERT(r < sizeof rows / sizeof rows[0]);
    }
    return rows[r].maximum;
}

// Component `i` of a setting.
static double value_of(const MoteSettings *settings, const Setting *row, int i)
{
    const char *address = (const char *)settings + row->offset + 4 * i;
    uint32_t whole;
    float number;
    memcpy(&whole, address, sizeof whole);
    memcpy(&number, address, sizeof number);
    return row->type == SETTING_UINT || row->type == SETTING_CHOICE ? whole : (double)number;
}

// Limits of the table are doubles, values are floats: the nearest float to a limit counts as within the range.
static bool is_within(double value, double minimum, double maximum)
{
    return value >= (double)(float)minimum && value <= (double)(float)maximum;
}

MoteResult settings_check(const MoteSettings *settings)
{
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (int i = 0; i < (rows[r].type == SETTING_VEC3 ? 3 : 1); i++) {
            const double value = value_of(settings, &rows[r], i);
            if (!is_within(value, rows[r].minimum, rows[r].maximum)) {
                return mote_fail(MOTE_ERROR_INPUT, "settings.%s is %g, expected %g to %g", rows[r].name, value,
                                 rows[r].minimum, rows[r].maximum);
            }
        }
    }
    if (settings->solid_distance > settings->smoothing_radius_ratio) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "settings.solid_distance is %g, expected at most smoothing_radius_ratio, which is %g",
                         (double)settings->solid_distance, (double)settings->smoothing_radius_ratio);
    }
    return MOTE_OK;
}
