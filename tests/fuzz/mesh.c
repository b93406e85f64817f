// SPDX-License-Identifier: MIT
// mesh.c - mesh files; FUZZ_FORMAT is the extension. Whatever assimp does with one in its child process, the parent has
// a mesh that holds what it promises, or an error.
#include "fuzz.h"
#include "geometry/mesh_internal.h"

bool fuzz_target(const uint8_t *data, size_t size)
{
    // The check first, from memory of the exact size: reading behind its end is noticed.
    const MoteResult checked = mesh_check_file("input." FUZZ_FORMAT, FUZZ_FORMAT, (const char *)data, size);
    Mesh mesh;
    const MoteResult result = mesh_load(fuzz_file(FUZZ_FORMAT, data, size), NULL, &mesh);
    FUZZ_CHECK(checked == MOTE_OK || result != MOTE_OK);
    if (result == MOTE_OK) {
        MeshReport report;
        FUZZ_CHECK(mesh_check(&mesh, "input") == MOTE_OK);
        mesh_report(&mesh, &report);
    }
    mesh_free(&mesh);
    return result == MOTE_OK;
}
