// SPDX-License-Identifier: MIT
// mesh_check_file.c - a mesh file's claims against its size, before assimp believes them: lengths, counts, offsets.
#include "base/error.h"
#include "geometry/mesh_internal.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t read_u32(const char *bytes, bool big)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return big ? (uint32_t)b[3] | (uint32_t)b[2] << 8 | (uint32_t)b[1] << 16 | (uint32_t)b[0] << 24
               : (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

// ---- STL -------------------------------------------------------------------------------------------------------

static MoteResult check_stl(const char *path, const char *bytes, size_t size)
{
    enum { HEADER = 84, TRIANGLE = 50 };
    const bool text = size >= 5 && strncmp(bytes, "solid", 5) == 0;
    if (size < HEADER) {
        return text ? MOTE_OK
                    : mote_fail(MOTE_ERROR_INPUT,
                                "%s: has %zu bytes, expected a binary STL's header of %d, or \"solid\"", path, size,
                                HEADER);
    }
    const uint64_t triangles = read_u32(bytes + 80, false), needed = HEADER + TRIANGLE * triangles;
    if (!text && needed > size) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: claims %llu triangles, which take %llu bytes, but has %zu", path,
                         (unsigned long long)triangles, (unsigned long long)needed, size);
    }
    return MOTE_OK;
}

// ---- PLY -------------------------------------------------------------------------------------------------------

enum { PLY_ELEMENTS = 32, PLY_PROPERTIES = 128, PLY_LINE = 512, PLY_WORD = 64 };

typedef struct PlyProperty {
    uint32_t size;       // bytes of a value
    uint32_t count_size; // bytes of a list's count, 0: no list
    bool count_signed, count_real;
} PlyProperty;

typedef struct PlyElement {
    char name[PLY_WORD];
    uint64_t count;
    uint32_t first, end; // properties
} PlyElement;

typedef struct PlyHeader {
    bool binary, big;
    PlyElement elements[PLY_ELEMENTS];
    PlyProperty properties[PLY_PROPERTIES];
    uint32_t element_count, property_count;
    size_t end; // where the body begins
} PlyHeader;

static uint32_t ply_size(const char *type)
{
    static const struct {
        const char *name;
        uint32_t size;
    } types[] = {{"char", 1},  {"uchar", 1},  {"short", 2},   {"ushort", 2}, {"int", 4},   {"uint", 4},
                 {"float", 4}, {"double", 8}, {"int8", 1},    {"uint8", 1},  {"int16", 2}, {"uint16", 2},
                 {"int32", 4}, {"uint32", 4}, {"float32", 4}, {"float64", 8}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, type) == 0) {
            return types[i].size;
        }
    }
    return 0;
}

static MoteResult read_ply_line(const char *path, const char *line, PlyHeader *header)
{
    char words[5][PLY_WORD] = {{0}};
    const int count = sscanf(line, "%63s %63s %63s %63s %63s", words[0], words[1], words[2], words[3], words[4]);
    if (count >= 2 && strcmp(words[0], "format") == 0) {
        header->binary = strncmp(words[1], "binary", 6) == 0;
        header->big = strcmp(words[1], "binary_big_endian") == 0;
        return MOTE_OK;
    }
    if (count >= 3 && strcmp(words[0], "element") == 0) {
        char *end;
        const uint64_t elements = strtoull(words[2], &end, 10);
        if (header->element_count == PLY_ELEMENTS || *end != '\0' || !isdigit((unsigned char)words[2][0])) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: found \"%s %s %s\", expected a whole number and at most %d elements", path, words[0],
                             words[1], words[2], PLY_ELEMENTS);
        }
        PlyElement *element = &header->elements[header->element_count++];
        memcpy(element->name, words[1], PLY_WORD);
        element->count = elements;
        element->first = element->end = header->property_count;
        return MOTE_OK;
    }
    if (count >= 2 && strcmp(words[0], "property") == 0) {
        const bool list = strcmp(words[1], "list") == 0;
        PlyProperty property = {.size = ply_size(words[list ? 3 : 1]), .count_size = list ? ply_size(words[2]) : 0};
        property.count_real = words[2][0] == 'f' || words[2][0] == 'd';
        property.count_signed = words[2][0] != 'u';
        if (property.size == 0 || (list && (property.count_size == 0 || property.count_real)) ||
            header->element_count == 0 || header->property_count == PLY_PROPERTIES) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: found \"%.80s\", expected a property of a known type in an element",
                             path, line);
        }
        header->properties[header->property_count++] = property;
        header->elements[header->element_count - 1].end = header->property_count;
        return MOTE_OK;
    }
    // Assimp looks for the header's end for ever where a line is none of these.
    if (count >= 1 && (strcmp(words[0], "comment") == 0 || strcmp(words[0], "obj_info") == 0 ||
                       (strcmp(words[0], "ply") == 0 && count == 1))) {
        return MOTE_OK;
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: found the header line \"%.80s\", expected one of a PLY file", path, line);
}

static MoteResult read_ply_header(const char *path, const char *bytes, size_t size, PlyHeader *header)
{
    if (size < 4 || strncmp(bytes, "ply", 3) != 0 || (bytes[3] != '\n' && bytes[3] != '\r')) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: does not begin with \"ply\", expected a PLY file", path);
    }
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(bytes + at, '\n', size - at);
        const size_t line_size = newline != NULL ? (size_t)(newline - (bytes + at)) : size - at;
        char line[PLY_LINE];
        if (newline == NULL || (line_size >= PLY_LINE && strncmp(bytes + at, "comment", 7) != 0)) {
            break;
        }
        const size_t kept = line_size < PLY_LINE ? line_size : PLY_LINE - 1;
        memcpy(line, bytes + at, kept);
        line[kept] = '\0';
        at += line_size + 1;
        if (strcmp(line, "end_header") == 0 || strcmp(line, "end_header\r") == 0) {
            header->end = at;
            return MOTE_OK;
        }
        const MoteResult result = read_ply_line(path, line, header);
        if (result != MOTE_OK) {
            return result;
        }
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: its header has no end, expected a line \"end_header\"", path);
}

// A cursor over the body; `at` beyond `size` once something was not there.
typedef struct PlyBody {
    const char *bytes;
    size_t at, size;
    bool binary, big;
} PlyBody;

static bool skip_value(PlyBody *body, uint32_t size, char *text, size_t text_size)
{
    if (body->binary) {
        if (size > body->size - body->at) {
            return false;
        }
        body->at += size;
        return true;
    }
    while (body->at < body->size && isspace((unsigned char)body->bytes[body->at])) {
        body->at++;
    }
    const size_t start = body->at;
    while (body->at < body->size && !isspace((unsigned char)body->bytes[body->at])) {
        body->at++;
    }
    if (text != NULL && body->at - start < text_size) {
        memcpy(text, body->bytes + start, body->at - start);
        text[body->at - start] = '\0';
    }
    return body->at > start;
}

// The count before a list's values; UINT64_MAX where there is none.
static uint64_t read_count(PlyBody *body, const PlyProperty *property)
{
    const size_t start = body->at;
    char text[24] = "x";
    if (!skip_value(body, property->count_size, text, sizeof text)) {
        return UINT64_MAX;
    }
    if (!body->binary) {
        char *end;
        const uint64_t count = strtoull(text, &end, 10);
        return end != text && *end == '\0' && text[0] != '-' ? count : UINT64_MAX;
    }
    uint64_t count = 0;
    for (uint32_t k = 0; k < property->count_size; k++) {
        const uint32_t place = body->big ? k : property->count_size - 1 - k;
        count = count << 8 | (unsigned char)body->bytes[start + place];
    }
    const bool negative = property->count_signed && count >> (8 * property->count_size - 1) != 0;
    return negative ? UINT64_MAX : count;
}

static bool skip_instance(PlyBody *body, const PlyHeader *header, const PlyElement *element)
{
    for (uint32_t p = element->first; p < element->end; p++) {
        const PlyProperty *property = &header->properties[p];
        uint64_t values = 1;
        if (property->count_size > 0) {
            values = read_count(body, property);
            if (values > body->size - body->at) {
                return false;
            }
        }
        for (uint64_t i = 0; i < values; i++) {
            if (!skip_value(body, property->size, NULL, 0)) {
                return false;
            }
        }
    }
    return true;
}

static MoteResult check_ply(const char *path, const char *bytes, size_t size)
{
    PlyHeader header = {0};
    const MoteResult result = read_ply_header(path, bytes, size, &header);
    if (result != MOTE_OK) {
        return result;
    }
    PlyBody body = {bytes, header.end, size, header.binary, header.big};
    for (uint32_t e = 0; e < header.element_count; e++) {
        const PlyElement *element = &header.elements[e];
        if (element->first == element->end || element->count > size) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: claims %llu of \"%s\" with %u properties, more than its %zu bytes can hold", path,
                             (unsigned long long)element->count, element->name, element->end - element->first, size);
        }
        for (uint64_t i = 0; i < element->count; i++) {
            if (!skip_instance(&body, &header, element)) {
                return mote_fail(
                    MOTE_ERROR_INPUT,
                    "%s: claims %llu of \"%s\", but its %zu bytes end, or a list is no list, in number %llu", path,
                    (unsigned long long)element->count, element->name, size, (unsigned long long)i);
            }
        }
    }
    return MOTE_OK;
}

// ---- 3DS -------------------------------------------------------------------------------------------------------

static MoteResult check_3ds(const char *path, const char *bytes, size_t size)
{
    // Chunks are a 2-byte name and a 4-byte length; the first holds all others.
    if (size < 6 || (unsigned char)bytes[0] != 0x4d || (unsigned char)bytes[1] != 0x4d) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: does not begin with the chunk 4D4D, expected a 3DS file", path);
    }
    const uint32_t claimed = read_u32(bytes + 2, false);
    if (claimed > size) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: claims %u bytes, but has %zu", path, claimed, size);
    }
    return MOTE_OK;
}

MoteResult mesh_check_file(const char *path, const char *extension, const char *bytes, size_t size)
{
    if (strcmp(extension, "stl") == 0) {
        return check_stl(path, bytes, size);
    }
    if (strcmp(extension, "ply") == 0) {
        return check_ply(path, bytes, size);
    }
    if (strcmp(extension, "3ds") == 0) {
        return check_3ds(path, bytes, size);
    }
    if (strcmp(extension, "glb") == 0 || strcmp(extension, "gltf") == 0) {
        return mesh_check_gltf(path, bytes, size, strcmp(extension, "glb") == 0);
    }
    return MOTE_OK;
}
