// SPDX-License-Identifier: MIT
// settings.c - the viewer's settings file. What is read can be written, and what is written can be read.
#include "fuzz.h"
#include "viewer/settings.h"

bool fuzz_target(const uint8_t *data, size_t size)
{
    static Settings settings;
    const char *path = fuzz_file("json", data, size);
    if (settings_load(path, &settings) != MOTE_OK) {
        return false;
    }
    settings_add_recent(&settings, path);
    FUZZ_CHECK(settings_save(&settings) == MOTE_OK);
    FUZZ_CHECK(settings_load(path, &settings) == MOTE_OK);
    return true;
}
