// SPDX-License-Identifier: MIT
// The classic binary geometry (.bgeo of Houdini 11 and before) by its published description: big-endian, points without
// primitives. Read back only by the tests' own readers: no Houdini was at hand.
#include "scene/export.h"

#include "base/error.h"
#include <string.h>

enum { BGEO_VERSION = 5, BGEO_FLOAT = 0, BGEO_INT = 1, BGEO_VECTOR = 5 };

static void write_u16(FILE *stream, uint32_t value)
{
    fputc((int)(value >> 8 & 0xff), stream);
    fputc((int)(value & 0xff), stream);
}

static void write_i32(FILE *stream, uint32_t value)
{
    write_u16(stream, value >> 16);
    write_u16(stream, value);
}

static void define_attribute(FILE *stream, const char *name, const ExportAttribute *attribute, uint32_t type)
{
    const uint32_t length = (uint32_t)strlen(name);
    write_u16(stream, length);
    fwrite(name, 1, length, stream);
    write_u16(stream, attribute->components);
    write_i32(stream, type);
    for (uint32_t i = 0; i < attribute->components; i++) {
        write_i32(stream, 0); // the default
    }
}

MoteResult export_bgeo(const ExportTable *table, FILE *stream)
{
    static const char *const builtin[EXPORT_CHANNEL] = {"P", "v", "id", "phase", "density", "mass"};
    if (table->particle_count > INT32_MAX) {
        return mote_fail(MOTE_ERROR_INPUT, "%u particles, a bgeo file holds at most 2^31 - 1", table->particle_count);
    }
    ExportName names[EXPORT_ATTRIBUTE_LIMIT];
    export_names(table, builtin, names);
    fwrite("BgeoV", 1, 5, stream);
    write_i32(stream, BGEO_VERSION);
    // Points, primitives, point groups, primitive groups, then attributes of points, vertices, primitives, detail.
    const uint32_t counts[8] = {table->particle_count, 0, 0, 0, table->attribute_count - 1, 0, 0, 0};
    for (uint32_t i = 0; i < 8; i++) {
        write_i32(stream, counts[i]);
    }
    for (uint32_t i = EXPORT_VELOCITY; i < table->attribute_count; i++) { // positions are not an attribute here
        const ExportAttribute *attribute = &table->attributes[i];
        const uint32_t type = i == EXPORT_VELOCITY ? BGEO_VECTOR : attribute->integer ? BGEO_INT : BGEO_FLOAT;
        define_attribute(stream, names[i], attribute, type);
    }
    const MoteResult result = export_write_rows(table, stream, true, true);
    fputc(0x00, stream);
    fputc(0xff, stream);
    return result;
}
