// SPDX-License-Identifier: MIT
// make_seeds.c - what the fuzz targets begin with of formats that only Mote writes, or that change with it: a saved
// state of tests/fuzz/state.json and an OpenVDB file. make_seeds FOLDER, which must hold the folders state and vdb.
#include "fuzz.h"

static void make_state(const char *path)
{
    MoteScene *scene;
    MoteSimulation *simulation;
    const MoteBackendOptions options = {.backend = "cpu", .threads = 1};
    FUZZ_CHECK(mote_scene_load(MOTE_SOURCE_DIR "/tests/fuzz/state.json", NULL, 0, &scene) == MOTE_OK);
    FUZZ_CHECK(mote_simulation_create(scene, &options, &simulation) == MOTE_OK);
    FUZZ_CHECK(mote_simulation_advance_frame(simulation) == MOTE_OK);
    FUZZ_CHECK(mote_world_add_channel(mote_simulation_world(simulation), "heat", 2) == MOTE_OK);
    FUZZ_CHECK(mote_simulation_save(simulation, path) == MOTE_OK);
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
}

static void make_field(const char *path)
{
    // In a leaf of the tree alone, away from the planes between its largest nodes: the file is a few kilobytes.
    const MoteVec3 positions[] = {{2.0f, 2.0f, 2.0f}, {2.5f, 2.0f, 2.0f}, {2.0f, 2.5f, 2.0f}, {2.0f, 2.0f, 2.5f}};
    const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const MoteFieldOptions options = {.positions = positions,
                                      .position_count = 4,
                                      .triangles = triangles,
                                      .triangle_count = 4,
                                      .cell_size = 0.5f,
                                      .band = 1};
    MoteField *field;
    FUZZ_CHECK(mote_field_create(&options, &field) == MOTE_OK);
    FUZZ_CHECK(mote_field_save(field, path) == MOTE_OK);
    mote_field_destroy(field);
}

int main(int count, char **arguments)
{
    char path[1024];
    const char *folder = count > 1 ? arguments[1] : ".";
    snprintf(path, sizeof path, "%s/state/small.state", folder);
    make_state(path);
    snprintf(path, sizeof path, "%s/vdb/small.vdb", folder);
    make_field(path);
    return 0;
}
