// SPDX-License-Identifier: MIT
// PLY, binary little-endian: one vertex element, which MeshLab, Blender and CloudCompare read. Vectors are one
// property a component.
#include "scene/export.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are written from memory as it is");

enum { COLUMN_LIMIT = 4 * EXPORT_ATTRIBUTE_LIMIT };

MoteResult export_ply(const ExportTable *table, FILE *stream)
{
    static const char *const builtin[EXPORT_CHANNEL] = {"", "v", "id", "phase", "density", "mass"};
    static const char *const letters[] = {"x", "y", "z", "w"};
    fprintf(stream, "ply\nformat binary_little_endian 1.0\ncomment Mote %s\ncomment time %.9g s\nelement vertex %u\n",
            mote_version(), table->time, table->particle_count);
    ExportName names[EXPORT_ATTRIBUTE_LIMIT], columns[COLUMN_LIMIT];
    export_names(table, builtin, names);
    uint32_t column = 0;
    for (uint32_t i = 0; i < table->attribute_count; i++) {
        const ExportAttribute *attribute = &table->attributes[i];
        for (uint32_t component = 0; component < attribute->components; component++) {
            if (i == EXPORT_POSITION || i == EXPORT_VELOCITY) { // x and vx, as those programs write them
                snprintf(columns[column], sizeof columns[column], "%s%s", builtin[i], letters[component]);
            } else if (attribute->components > 1) {
                snprintf(columns[column], sizeof columns[column], "%.*s_%s", EXPORT_NAME_SIZE - 4, names[i],
                         letters[component]);
            } else {
                memcpy(columns[column], names[i], sizeof columns[column]);
            }
            export_make_unique(columns, column + 1);
            fprintf(stream, "property %s %s\n", attribute->integer ? "uint" : "float", columns[column]);
            column++;
        }
    }
    fprintf(stream, "end_header\n");
    return export_write_rows(table, stream, false, false);
}
