// SPDX-License-Identifier: MIT
// mesh_answer.c - what the child process that imports a mesh sends to its parent: a child that a file has taken over
// can send anything.
#include "fuzz.h"
#include "base/clock.h"
#include "geometry/mesh_internal.h"

bool fuzz_target(const uint8_t *data, size_t size)
{
    char name[] = "input", bytes[64] = "";
    MeshFile file = {name, bytes, sizeof bytes};
    const MeshSource source = {.path = "input.obj", .files = &file, .file_count = 1};
    FILE *stream = fopen(fuzz_file("answer", data, size), "rb");
    FUZZ_CHECK(stream != NULL);
    IsolatePipe in = {.file = fileno(stream), .name = "input.obj", .purpose = "x", .deadline = clock_seconds() + 60.0};
    Mesh mesh;
    MoteResult result = mesh_receive(&source, &in, &mesh);
    fclose(stream);
    if (result == MOTE_OK) {
        MeshBuilder builder = {.mesh = mesh};
        result = builder_finish(&builder, "input.obj", &mesh);
    }
    if (result == MOTE_OK) {
        FUZZ_CHECK(mesh_check(&mesh, "input.obj") == MOTE_OK);
        mesh_free(&mesh);
    }
    return result == MOTE_OK;
}
