// SPDX-License-Identifier: MIT
// state.c - saved states of tests/fuzz/state.json. Checksums would turn nearly every change away at the door, so each
// input is also read with its checksums and its scene's hash made right; a state that is taken runs for a frame.
#include "fuzz.h"
#include "base/hash.h"
#include "scene/simulation.h"
#include "scene/state_file.h"
#include <stddef.h>

static MoteSimulation *make_simulation(void)
{
    static MoteScene *scene; // for the process's life, as the sanitizers can see
    static MoteSimulation *simulation;
    if (scene == NULL) {
        FUZZ_CHECK(mote_scene_load(MOTE_SOURCE_DIR "/tests/fuzz/state.json", NULL, 0, &scene) == MOTE_OK);
    }
    if (simulation != NULL && simulation->failed) {
        mote_simulation_destroy(simulation);
        simulation = NULL;
    }
    if (simulation == NULL) {
        const MoteBackendOptions options = {.backend = "cpu", .threads = 1};
        FUZZ_CHECK(mote_simulation_create(scene, &options, &simulation) == MOTE_OK);
    }
    return simulation;
}

// Makes what a mutation cannot guess right again.
static void mend(uint8_t *bytes, size_t size, uint64_t scene_hash)
{
    StateHeader header;
    if (size < sizeof header) {
        return;
    }
    memcpy(&header, bytes, sizeof header);
    memcpy(header.magic, STATE_MAGIC, sizeof header.magic);
    header.byte_order = STATE_BYTE_ORDER;
    header.version = STATE_VERSION;
    header.scene_hash = scene_hash;
    header.file_size = size;
    header.checksum = hash_bytes(HASH_START, &header, offsetof(StateHeader, checksum));
    memcpy(bytes, &header, sizeof header);
    for (size_t at = sizeof header; size - at >= sizeof(StateSection);) {
        StateSection section;
        memcpy(&section, bytes + at, sizeof section);
        if (section.size > size - at - sizeof section) {
            return;
        }
        const uint8_t *data = bytes + at + sizeof section;
        section.checksum =
            hash_bytes(hash_bytes(HASH_START, &section, offsetof(StateSection, checksum)), data, section.size);
        memcpy(bytes + at, &section, sizeof section);
        at += sizeof section + section.size;
    }
}

static bool load_and_run(const uint8_t *data, size_t size)
{
    MoteSimulation *simulation = make_simulation();
    if (mote_simulation_load(simulation, fuzz_file("state", data, size)) != MOTE_OK) {
        return false;
    }
    mote_simulation_advance_frame(simulation); // may fail: a state can hold any speed
    return true;
}

bool fuzz_target(const uint8_t *data, size_t size)
{
    const bool taken = load_and_run(data, size);
    uint8_t *mended = malloc(size + 1);
    FUZZ_CHECK(mended != NULL);
    memcpy(mended, data, size);
    mend(mended, size, make_simulation()->scene->hash);
    const bool taken_mended = memcmp(mended, data, size) != 0 && load_and_run(mended, size);
    free(mended);
    return taken || taken_mended;
}
