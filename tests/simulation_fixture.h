// SPDX-License-Identifier: MIT
// simulation_fixture.h - scenes written into a folder of the test's own, loaded and made into simulations.
#ifndef MOTE_TESTS_SIMULATION_FIXTURE_H
#define MOTE_TESTS_SIMULATION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dirent.h>

#include <cmocka.h>

#include "expect.h"
#include "mote.h"
#include "particle_fixture.h"

static char fixture_folder[256];

static inline int fixture_open(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(fixture_folder, sizeof fixture_folder, "%.200s/mote_test_XXXXXX", parent != NULL ? parent : "/tmp");
    return mkdtemp(fixture_folder) != NULL ? 0 : -1;
}

// The files in the folder whose names end in `ending`, which are removed where `clear` says so.
static inline uint32_t fixture_files(const char *ending, bool clear)
{
    uint32_t found = 0;
    DIR *folder = opendir(fixture_folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (entry->d_name[0] == '.' || length < tail || strcmp(entry->d_name + length - tail, ending) != 0) {
            continue;
        }
        found++;
        if (clear) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", fixture_folder, entry->d_name);
            assert_int_equal(remove(path), 0);
        }
    }
    closedir(folder);
    return found;
}

static inline int fixture_close(void **state)
{
    (void)state;
    fixture_files("", true);
    return rmdir(fixture_folder);
}

// The path of a file in the folder; good until the eighth call after this one.
static inline const char *fixture_path(const char *name)
{
    static char paths[8][512];
    static uint32_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", fixture_folder, name);
    return path;
}

static inline void fixture_write(const char *name, const void *bytes, size_t size)
{
    FILE *stream = fopen(fixture_path(name), "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

// The whole file with a zero after it; free it.
static inline char *fixture_read(const char *name, size_t *size)
{
    *size = 0;
    FILE *stream = fopen(fixture_path(name), "rb");
    if (stream == NULL) {
        fail_msg("%s was not written", name);
        return NULL;
    }
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    bytes[*size] = '\0';
    fclose(stream);
    return bytes;
}

typedef struct Running {
    MoteScene *scene;
    MoteSimulation *simulation;
    MoteWorld *world;
} Running;

static inline MoteScene *fixture_scene(const char *name, const char *json)
{
    MoteScene *scene = NULL;
    fixture_write(name, json, strlen(json));
    expect_ok(mote_scene_load(fixture_path(name), NULL, 0, &scene));
    return scene;
}

static inline Running fixture_start(const char *json, const char *backend)
{
    Running running = {.scene = fixture_scene("scene.json", json)};
    const MoteBackendOptions options = {.backend = backend, .threads = 2};
    expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    return running;
}

static inline void fixture_stop(Running *running)
{
    mote_simulation_destroy(running->simulation);
    mote_scene_destroy(running->scene);
    *running = (Running){0};
}

static inline void fixture_advance(const Running *running, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; i++) {
        expect_ok(mote_simulation_advance_frame(running->simulation));
    }
}

static inline MoteParticleView fixture_view(const Running *running)
{
    MoteParticleView view;
    expect_ok(read_particles(running->world, &view));
    return view;
}

static inline uint64_t fixture_hash(const Running *running)
{
    uint64_t hash = 0;
    expect_ok(mote_world_state_hash(running->world, &hash));
    return hash;
}

#endif
