// SPDX-License-Identifier: MIT
// tracks.c - keyframes: a scene's values at a time.
#include "base/error.h"
#include "scene/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

MoteResult scene_values_copy(const MoteScene *scene, SceneValues *out)
{
    *out = (SceneValues){0};
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        const SceneElements *from = &scene->values.sections[s];
        const size_t size = from->count * scene_sections[s].element_size;
        if (size == 0) {
            continue;
        }
        void *data = malloc(size);
        if (data == NULL) {
            scene_values_free(out);
            return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a copy of its values", scene->path);
        }
        memcpy(data, from->data, size);
        out->sections[s] = (SceneElements){data, from->count};
    }
    return MOTE_OK;
}

void scene_values_free(SceneValues *values)
{
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        free(values->sections[s].data);
    }
    *values = (SceneValues){0};
}

// The slope of a smooth track at keyframe i. Steffen (1990), "A simple method for monotonic interpolation in one
// dimension": between two keyframes the curve never leaves the range of their values, so a value checked at the
// keyframes is right everywhere. Flat at both ends, where the held values continue the curve.
static double smooth_slope(const SceneTrack *track, uint32_t i, uint32_t component)
{
    if (i == 0 || i + 1 == track->count) {
        return 0;
    }
    const double *t = &track->times[i];
    const float *v = &track->values[(size_t)i * track->components + component];
    const double before = t[0] - t[-1], after = t[1] - t[0];
    const double slope_before = ((double)v[0] - (double)*(v - track->components)) / before;
    const double slope_after = ((double)v[track->components] - (double)v[0]) / after;
    if (!(slope_before * slope_after > 0)) {
        return 0; // a peak, a valley or a level stretch
    }
    const double weighted = (slope_before * after + slope_after * before) / (before + after);
    const double limit = 2 * fmin(fabs(slope_before), fabs(slope_after));
    return copysign(fmin(fabs(weighted), limit), slope_before);
}

static double track_component(const SceneTrack *track, uint32_t i, uint32_t component, double time)
{
    const float *values = &track->values[(size_t)i * track->components + component];
    const double from = (double)values[0];
    if (i + 1 == track->count || track->interpolation == SCENE_STEP || time <= track->times[i]) {
        return from;
    }
    const double to = (double)values[track->components];
    const double length = track->times[i + 1] - track->times[i];
    const double u = (time - track->times[i]) / length;
    double value = from + (to - from) * u;
    if (track->interpolation == SCENE_SMOOTH) {
        const double u2 = u * u, u3 = u2 * u; // cubic Hermite
        value = from + (to - from) * (3 * u2 - 2 * u3) +
                length * (smooth_slope(track, i, component) * (u3 - 2 * u2 + u) +
                          smooth_slope(track, i + 1, component) * (u3 - u2));
    }
    // Rounding (or keyframes less than any sensible time apart) must not lead out of the checked range.
    return fmax(fmin(from, to), fmin(fmax(from, to), value));
}

static void track_at(const SceneTrack *track, double time, double *numbers)
{
    // The last keyframe at or before `time`, or the first one.
    uint32_t low = 0, high = track->count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (track->times[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (uint32_t c = 0; c < track->components; c++) {
        numbers[c] = track_component(track, low, c, time);
    }
}

void scene_values_at(const MoteScene *scene, double time, SceneValues *values)
{
    for (uint32_t i = 0; i < scene->track_count; i++) {
        const SceneTrack *track = &scene->tracks[i];
        const SceneKey *key = &scene_keys[track->key];
        const SceneElements *elements = &values->sections[key->section];
        MOTE_ASSERT(track->element < elements->count);
        double numbers[3];
        track_at(track, time, numbers);
        if (key->type == SCENE_UINT) {
            numbers[0] = floor(numbers[0] + 0.5);
        }
        scene_key_store(key, (char *)elements->data + track->element * scene_sections[key->section].element_size,
                        numbers);
    }
}

const SceneMaterial *scene_material(const SceneValues *values, const char *name)
{
    for (uint32_t i = 0; i < SCENE_COUNT(values, material); i++) {
        if (strcmp(SCENE_AT(values, material, i)->name, name) == 0) {
            return SCENE_AT(values, material, i);
        }
    }
    return NULL;
}
