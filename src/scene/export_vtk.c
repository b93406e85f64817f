// SPDX-License-Identifier: MIT
// VTK XML UnstructuredGrid (.vtu) with appended raw data, and the collection file (.pvd) that makes a sequence of
// them an animation in ParaView. Each point also is a vertex cell, without which ParaView draws nothing.
#include "scene/export.h"

#include "base/error.h"
#include "base/file.h"
#include <stdlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written from memory as it is");

enum { CHUNK = 4096, VTK_VERTEX = 1 };

// Blocks of appended data are a 64-bit size and the bytes; offsets count from the underscore that precedes them.
static void declare_array(FILE *stream, const char *type, const char *name, uint32_t components, uint64_t bytes,
                          uint64_t *offset)
{
    fprintf(stream,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%u\" format=\"appended\" offset=\"%llu\"/>\n",
            type, name, components, (unsigned long long)*offset);
    *offset += sizeof(uint64_t) + bytes;
}

static void write_header(const ExportTable *table, FILE *stream)
{
    static const char *const builtin[EXPORT_CHANNEL] = {"position", "velocity", "id", "phase", "density", "mass"};
    ExportName names[EXPORT_ATTRIBUTE_LIMIT];
    export_names(table, builtin, names);
    const uint64_t count = table->particle_count;
    uint64_t offset = 0;
    fprintf(stream, "<?xml version=\"1.0\"?>\n"
                    "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
                    "header_type=\"UInt64\">\n<UnstructuredGrid>\n<FieldData>\n");
    fprintf(stream,
            "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"appended\" offset=\"0\"/>\n");
    offset += sizeof(uint64_t) + sizeof(double);
    fprintf(stream, "</FieldData>\n<Piece NumberOfPoints=\"%u\" NumberOfCells=\"%u\">\n<Points>\n",
            table->particle_count, table->particle_count);
    declare_array(stream, "Float32", "Points", 3, 12 * count, &offset);
    fprintf(stream, "</Points>\n<Cells>\n");
    declare_array(stream, "Int64", "connectivity", 1, 8 * count, &offset);
    declare_array(stream, "Int64", "offsets", 1, 8 * count, &offset);
    declare_array(stream, "UInt8", "types", 1, count, &offset);
    fprintf(stream, "</Cells>\n<PointData Scalars=\"density\" Vectors=\"velocity\">\n");
    for (uint32_t i = EXPORT_VELOCITY; i < table->attribute_count; i++) {
        const ExportAttribute *attribute = &table->attributes[i];
        declare_array(stream, attribute->integer ? "UInt32" : "Float32", names[i], attribute->components,
                      4 * count * attribute->components, &offset);
    }
    fprintf(stream, "</PointData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
}

static void write_size(FILE *stream, uint64_t bytes)
{
    fwrite(&bytes, sizeof bytes, 1, stream);
}

static void write_attribute(const ExportTable *table, uint32_t index, FILE *stream)
{
    const ExportAttribute *attribute = &table->attributes[index];
    uint32_t values[CHUNK * 4];
    write_size(stream, (uint64_t)table->particle_count * attribute->components * 4);
    for (uint32_t first = 0; first < table->particle_count; first += CHUNK) {
        const uint32_t left = table->particle_count - first, count = left < CHUNK ? left : CHUNK;
        export_gather(attribute, first, count, values, attribute->components);
        fwrite(values, 4 * attribute->components, count, stream);
    }
}

// start, start + 1, ...: a vertex cell's one point, and where the next cell begins.
static void write_sequence(uint32_t total, int64_t start, FILE *stream)
{
    int64_t values[CHUNK];
    write_size(stream, (uint64_t)total * sizeof values[0]);
    for (uint32_t first = 0; first < total; first += CHUNK) {
        const uint32_t left = total - first, count = left < CHUNK ? left : CHUNK;
        for (uint32_t i = 0; i < count; i++) {
            values[i] = start + first + i;
        }
        fwrite(values, sizeof values[0], count, stream);
    }
}

MoteResult export_vtk(const ExportTable *table, FILE *stream)
{
    write_header(table, stream);
    write_size(stream, sizeof table->time);
    fwrite(&table->time, sizeof table->time, 1, stream);
    write_attribute(table, EXPORT_POSITION, stream);
    write_sequence(table->particle_count, 0, stream);
    write_sequence(table->particle_count, 1, stream);
    write_size(stream, table->particle_count);
    for (uint32_t i = 0; i < table->particle_count; i++) {
        fputc(VTK_VERTEX, stream);
    }
    for (uint32_t i = EXPORT_VELOCITY; i < table->attribute_count; i++) {
        write_attribute(table, i, stream);
    }
    fprintf(stream, "\n</AppendedData>\n</VTKFile>\n");
    return MOTE_OK;
}

static void write_escaped(const char *text, FILE *stream)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            fputc(*text, stream);
        }
    }
}

MoteResult export_write_collection(const char *path, const char *const *names, const double *times, uint32_t count)
{
    FileWriter writer;
    const MoteResult result = file_writer_open(&writer, path);
    if (result != MOTE_OK) {
        return result;
    }
    fprintf(writer.stream, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                           "byte_order=\"LittleEndian\">\n<Collection>\n");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(writer.stream, "<DataSet timestep=\"%.9g\" part=\"0\" file=\"", times[i]);
        write_escaped(names[i], writer.stream);
        fprintf(writer.stream, "\"/>\n");
    }
    fprintf(writer.stream, "</Collection>\n</VTKFile>\n");
    return file_writer_commit(&writer);
}
