// SPDX-License-Identifier: MIT
// scene.c - scene files, with an override: what follows a first line "--set PATH=VALUE" is the scene.
#include "fuzz.h"
#include "scene/keys.h"
#include "scene/scene.h"

static const char marker[] = "--set ";

static void look_at(const MoteScene *scene)
{
    SceneValues values = {0};
    if (scene_values_copy(scene, &values) == MOTE_OK) {
        const double times[] = {-1.0, 0.0, 0.5, 1e9};
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
            scene_values_at(scene, times[i], &values);
        }
    }
    scene_values_free(&values);
}

bool fuzz_target(const uint8_t *data, size_t size)
{
    char override[512];
    const char *overrides[] = {override};
    uint32_t count = 0;
    const size_t head = sizeof marker - 1;
    const uint8_t *line = size > head && memcmp(data, marker, head) == 0 ? memchr(data, '\n', size) : NULL;
    if (line != NULL && (size_t)(line - data) < sizeof override) {
        const size_t length = (size_t)(line - data) - head;
        memcpy(override, data + head, length);
        override[length] = '\0';
        count = 1;
        size -= (size_t)(line + 1 - data);
        data = line + 1;
    }
    MoteScene *scene;
    const MoteResult result = mote_scene_load(fuzz_file("json", data, size), overrides, count, &scene);
    if (result == MOTE_OK) {
        look_at(scene);
    }
    mote_scene_destroy(scene);
    return result == MOTE_OK;
}
