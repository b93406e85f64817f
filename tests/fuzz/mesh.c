// mesh.c - mesh files; FUZZ_FORMAT is the extension. The checks before an import are Mote's own.
#include "fuzz.h"
#include "geometry/mesh_internal.h"

bool fuzz_target(const uint8_t *data, size_t size)
{
    return mesh_check_file("input." FUZZ_FORMAT, FUZZ_FORMAT, (const char *)data, size) == MOTE_OK;
}
