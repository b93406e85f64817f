// SPDX-License-Identifier: MIT
// vdb.c - distance fields from OpenVDB files.
#include "fuzz.h"

bool fuzz_target(const uint8_t *data, size_t size)
{
    const MoteFieldOptions options = {.mode = MOTE_FIELD_INSIDE, .path = fuzz_file("vdb", data, size)};
    MoteField *field;
    const MoteResult result = mote_field_create(&options, &field);
    mote_field_destroy(field);
    return result == MOTE_OK;
}
