// SPDX-License-Identifier: MIT
// mesh_check_gltf.c - a glTF file's offsets, counts and tree, before assimp follows them.
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "geometry/mesh_internal.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GLB_HEADER = 12, GLB_CHUNK = 8, NODE_DEPTH = 200, PATH_SIZE = 4096 };

typedef struct Gltf {
    const char *path;
    json_t *root;
    uint64_t binary_size; // of a GLB's second chunk
} Gltf;

// A whole number that must not be negative; `otherwise` where the key is missing, UINT64_MAX where it is something
// else.
static uint64_t whole(const json_t *object, const char *key, uint64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) {
        return otherwise;
    }
    return json_is_integer(value) && json_integer_value(value) >= 0 ? (uint64_t)json_integer_value(value) : UINT64_MAX;
}

static json_t *at(const json_t *root, const char *list, uint64_t index)
{
    return json_array_get(json_object_get(root, list), (size_t)index);
}

// A path below the file's own folder, without steps up.
static bool stays_below(const char *uri)
{
    if (uri[0] == '/' || uri[0] == '\0' || strstr(uri, "://") != NULL) {
        return false;
    }
    for (const char *step = uri; step != NULL; step = strchr(step, '/'), step = step != NULL ? step + 1 : NULL) {
        if (strncmp(step, "..", 2) == 0 && (step[2] == '/' || step[2] == '\0')) {
            return false;
        }
    }
    return true;
}

// The file that a URI names, beside `path`; false where there is no such regular file.
static bool buffer_file(const char *path, const char *uri, char *name, size_t name_size, uint64_t *size)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash != NULL ? (int)(slash - path + 1) : 0;
    const int written = snprintf(name, name_size, "%.*s%s", folder, path, uri);
    struct stat status;
    const bool there = stays_below(uri) && written > 0 && (size_t)written < name_size && stat(name, &status) == 0 &&
                       S_ISREG(status.st_mode);
    *size = there ? (uint64_t)status.st_size : 0;
    return there;
}

// Bytes that a buffer really has.
static uint64_t buffer_bytes(const Gltf *gltf, const json_t *buffer, size_t index)
{
    const char *uri = json_string_value(json_object_get(buffer, "uri"));
    if (uri == NULL) {
        return index == 0 ? gltf->binary_size : 0;
    }
    if (strncmp(uri, "data:", 5) == 0) {
        const char *comma = strchr(uri, ',');
        return comma != NULL ? (uint64_t)strlen(comma + 1) / 4 * 3 : 0;
    }
    char name[PATH_SIZE];
    uint64_t size;
    buffer_file(gltf->path, uri, name, sizeof name, &size);
    return size;
}

static MoteResult check_buffers(const Gltf *gltf)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(gltf->root, "buffers"), i, item)
    {
        const uint64_t claimed = whole(item, "byteLength", UINT64_MAX), there = buffer_bytes(gltf, item, i);
        const char *uri = json_string_value(json_object_get(item, "uri"));
        if (uri != NULL && strncmp(uri, "data:", 5) != 0 && !stays_below(uri)) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: buffer %zu is \"%.200s\", expected a path below the file's own folder", gltf->path, i,
                             uri);
        }
        if (claimed > there) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: buffer %zu claims %llu bytes, but there are %llu", gltf->path, i,
                             (unsigned long long)claimed, (unsigned long long)there);
        }
    }
    json_array_foreach(json_object_get(gltf->root, "bufferViews"), i, item)
    {
        const uint64_t offset = whole(item, "byteOffset", 0), size = whole(item, "byteLength", UINT64_MAX);
        const uint64_t all = whole(at(gltf->root, "buffers", whole(item, "buffer", UINT64_MAX)), "byteLength", 0);
        if (offset > all || size > all - offset) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: buffer view %zu reaches beyond its buffer's %llu bytes", gltf->path,
                             i, (unsigned long long)all);
        }
    }
    return MOTE_OK;
}

static uint64_t element_size(const json_t *accessor)
{
    static const struct {
        const char *name;
        uint64_t parts;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT2", 4}, {"MAT3", 9}, {"MAT4", 16}};
    const uint64_t component = whole(accessor, "componentType", 0);
    const uint64_t bytes = component == 5120 || component == 5121   ? 1
                           : component == 5122 || component == 5123 ? 2
                           : component == 5125 || component == 5126 ? 4
                                                                    : 0;
    const char *type = json_string_value(json_object_get(accessor, "type"));
    for (size_t i = 0; type != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, type) == 0) {
            return bytes * types[i].parts;
        }
    }
    return 0;
}

static MoteResult check_accessors(const Gltf *gltf)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(gltf->root, "accessors"), i, item)
    {
        const json_t *view = at(gltf->root, "bufferViews", whole(item, "bufferView", UINT64_MAX));
        const uint64_t size = element_size(item), count = whole(item, "count", 0),
                       offset = whole(item, "byteOffset", 0);
        const uint64_t stride = whole(view, "byteStride", size), all = whole(view, "byteLength", 0);
        if (view == NULL || json_object_get(item, "sparse") != NULL) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: accessor %zu is sparse, compressed or without data, expected one with a buffer view",
                             gltf->path, i);
        }
        if (size == 0 || count == 0 || stride < size || stride > 4096 || offset > all || size > all - offset ||
            count - 1 > (all - offset - size) / stride) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: accessor %zu claims %llu elements of %llu bytes, but its buffer view has %llu bytes",
                             gltf->path, i, (unsigned long long)count, (unsigned long long)size,
                             (unsigned long long)all);
        }
    }
    return MOTE_OK;
}

static uint64_t count_of(const Gltf *gltf, const json_t *index)
{
    const bool good = json_is_integer(index) && json_integer_value(index) >= 0;
    return good ? whole(at(gltf->root, "accessors", (uint64_t)json_integer_value(index)), "count", 0) : 0;
}

// All attributes of a primitive must be as many as its positions.
static MoteResult check_attributes(const Gltf *gltf, const json_t *attributes, uint64_t vertices)
{
    const char *name;
    json_t *index;
    json_object_foreach((json_t *)(uintptr_t)attributes, name, index)
    {
        if (count_of(gltf, index) != vertices) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: a primitive has %llu vertices, but %llu of \"%.40s\"", gltf->path,
                             (unsigned long long)vertices, (unsigned long long)count_of(gltf, index), name);
        }
    }
    return MOTE_OK;
}

static MoteResult check_primitives(const Gltf *gltf)
{
    size_t m, p, t;
    json_t *mesh, *primitive, *target;
    json_array_foreach(json_object_get(gltf->root, "meshes"), m, mesh)
    {
        json_array_foreach(json_object_get(mesh, "primitives"), p, primitive)
        {
            const json_t *attributes = json_object_get(primitive, "attributes");
            const uint64_t vertices = count_of(gltf, json_object_get(attributes, "POSITION"));
            MoteResult result = vertices > 0 ? check_attributes(gltf, attributes, vertices)
                                             : mote_fail(MOTE_ERROR_INPUT,
                                                         "%s: a primitive of mesh %zu has no positions", gltf->path, m);
            json_array_foreach(json_object_get(primitive, "targets"), t, target)
            {
                result = result == MOTE_OK ? check_attributes(gltf, target, vertices) : result;
            }
            if (result != MOTE_OK) {
                return result;
            }
        }
    }
    return MOTE_OK;
}

// Motion and skins are not used here, but assimp reads them.
static MoteResult check_motion(const Gltf *gltf)
{
    size_t i, k;
    json_t *animation, *sampler, *skin;
    json_array_foreach(json_object_get(gltf->root, "animations"), i, animation)
    {
        json_array_foreach(json_object_get(animation, "samplers"), k, sampler)
        {
            const uint64_t inputs = count_of(gltf, json_object_get(sampler, "input"));
            if (inputs == 0 || count_of(gltf, json_object_get(sampler, "output")) < inputs) {
                return mote_fail(MOTE_ERROR_INPUT, "%s: sampler %zu of animation %zu has fewer values than times",
                                 gltf->path, k, i);
            }
        }
    }
    json_array_foreach(json_object_get(gltf->root, "skins"), i, skin)
    {
        const json_t *matrices = json_object_get(skin, "inverseBindMatrices");
        if (matrices == NULL || count_of(gltf, matrices) < json_array_size(json_object_get(skin, "joints"))) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: skin %zu has fewer matrices than joints", gltf->path, i);
        }
    }
    return MOTE_OK;
}

// Every node has at most one parent and is reached in NODE_DEPTH steps: a tree, not a loop.
static MoteResult check_nodes(const Gltf *gltf)
{
    const json_t *nodes = json_object_get(gltf->root, "nodes");
    const size_t count = json_array_size(nodes);
    uint64_t *parents = malloc((count + 1) * sizeof *parents);
    if (parents == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its %zu nodes", gltf->path, count);
    }
    memset(parents, 0xff, (count + 1) * sizeof *parents);
    bool good = true;
    size_t i, k;
    json_t *node, *child;
    json_array_foreach(nodes, i, node)
    {
        json_array_foreach(json_object_get(node, "children"), k, child)
        {
            const json_int_t index = json_is_integer(child) ? json_integer_value(child) : -1;
            good = good && index >= 0 && (size_t)index < count && parents[index] == UINT64_MAX;
            if (good) {
                parents[index] = i;
            }
        }
    }
    for (i = 0; i < count && good; i++) {
        uint32_t steps = 0;
        for (uint64_t up = parents[i]; up != UINT64_MAX && steps <= NODE_DEPTH; up = parents[up]) {
            steps++;
        }
        good = steps <= NODE_DEPTH;
    }
    free(parents);
    return good ? MOTE_OK
                : mote_fail(MOTE_ERROR_INPUT, "%s: its nodes are no tree of at most %d levels", gltf->path, NODE_DEPTH);
}

static MoteResult check_json(const char *path, const char *text, size_t size, uint64_t binary_size)
{
    json_error_t error;
    // What reads it next takes the first of two equal keys, Jansson the last: refuse such files.
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: line %d, column %d of its JSON: %s", path, error.line, error.column,
                         error.text);
    }
    const Gltf gltf = {path, root, binary_size};
    MoteResult (*const checks[])(const Gltf *) = {check_buffers, check_accessors, check_primitives, check_motion,
                                                  check_nodes};
    MoteResult result = json_is_object(root) && json_is_object(json_object_get(root, "asset"))
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_INPUT, "%s: has no \"asset\", expected a glTF file", path);
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && result == MOTE_OK; i++) {
        result = checks[i](&gltf);
    }
    json_decref(root);
    return result;
}

static uint32_t read_u32(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

MoteResult mesh_check_gltf(const char *path, const char *bytes, size_t size, bool binary)
{
    if (!binary) {
        return check_json(path, bytes, size, 0);
    }
    if (size < GLB_HEADER + GLB_CHUNK || memcmp(bytes, "glTF", 4) != 0 || memcmp(bytes + 16, "JSON", 4) != 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: does not begin with \"glTF\" and a chunk \"JSON\", expected a GLB file",
                         path);
    }
    const uint64_t claimed = read_u32(bytes + 8), json_size = read_u32(bytes + 12);
    if (read_u32(bytes + 4) != 2 || claimed > size || GLB_HEADER + GLB_CHUNK + json_size > claimed) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: claims version %u, %llu bytes and %llu of JSON, expected version 2 and at most the %zu "
                         "bytes it has",
                         path, read_u32(bytes + 4), (unsigned long long)claimed, (unsigned long long)json_size, size);
    }
    const uint64_t next = (GLB_HEADER + GLB_CHUNK + json_size + 3) / 4 * 4;
    uint64_t binary_size = 0;
    if (next + GLB_CHUNK <= claimed) {
        binary_size = read_u32(bytes + next);
        if (binary_size > claimed - next - GLB_CHUNK) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: claims %llu bytes of data, but has %llu", path,
                             (unsigned long long)binary_size, (unsigned long long)(claimed - next - GLB_CHUNK));
        }
    }
    return check_json(path, bytes + GLB_HEADER + GLB_CHUNK, (size_t)json_size, binary_size);
}

MoteResult mesh_add_buffers(MeshSource *source, bool binary)
{
    const MeshFile *own = &source->files[0];
    const size_t start = binary ? GLB_HEADER + GLB_CHUNK : 0;
    const size_t size = binary ? read_u32(own->bytes + GLB_HEADER) : own->size;
    json_t *root = json_loadb(own->bytes + start, size, 0, NULL); // it was checked before
    MoteResult result = root != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read it", source->path);
    size_t i;
    json_t *buffer;
    json_array_foreach(json_object_get(root, "buffers"), i, buffer)
    {
        const char *uri = json_string_value(json_object_get(buffer, "uri"));
        char name[PATH_SIZE];
        uint64_t file_size;
        if (uri != NULL && strncmp(uri, "data:", 5) != 0 && result == MOTE_OK &&
            buffer_file(source->path, uri, name, sizeof name, &file_size)) {
            result = mesh_source_add(source, name, uri);
        }
    }
    json_decref(root);
    return result;
}
