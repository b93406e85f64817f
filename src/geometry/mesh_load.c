// SPDX-License-Identifier: MIT
// mesh_load.c - meshes by reference: files through assimp in a child process, data packages, generators.
#define _POSIX_C_SOURCE 200809L
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include "base/file.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_LIMIT ((size_t)1 << 30) // bytes, of the file and all that it names
enum { PATH_SIZE = 4096, FILE_COUNT_LIMIT = 257 };

// Assimp knows many more, of which most are old and read by code that trusts its input.
static const char *const extensions[] = {"obj", "ply", "stl", "gltf", "glb", "3ds", "off", "dae", "fbx"};
enum { EXTENSIONS = sizeof extensions / sizeof extensions[0] };

// ---- What an importer reads ------------------------------------------------------------------------------------

MoteResult mesh_source_add(MeshSource *source, const char *path, const char *name)
{
    for (uint32_t i = 0; i < source->file_count; i++) {
        if (strcmp(source->files[i].name, name) == 0) {
            return MOTE_OK;
        }
    }
    if (source->file_count == FILE_COUNT_LIMIT || mesh_source_size(source) >= FILE_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: names more than %d files or %zu bytes of them", source->path,
                         FILE_COUNT_LIMIT - 1, FILE_LIMIT);
    }
    MeshFile *grown = realloc(source->files, (source->file_count + 1) * sizeof *grown);
    char *copy = strdup(name);
    if (grown != NULL) {
        source->files = grown;
    }
    if (grown == NULL || copy == NULL) {
        free(copy);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read it", path);
    }
    MeshFile file = {.name = copy};
    const MoteResult result = file_read(path, FILE_LIMIT - mesh_source_size(source), &file.bytes, &file.size);
    if (result != MOTE_OK) {
        free(copy);
        return result;
    }
    source->files[source->file_count++] = file;
    return MOTE_OK;
}

uint64_t mesh_source_size(const MeshSource *source)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < source->file_count; i++) {
        size += source->files[i].size;
    }
    return size;
}

void mesh_source_free(MeshSource *source)
{
    for (uint32_t i = 0; i < source->file_count; i++) {
        free(source->files[i].name);
        free(source->files[i].bytes);
    }
    free(source->files);
    *source = (MeshSource){0};
}

// ---- Importing -------------------------------------------------------------------------------------------------

typedef struct Import {
    const MeshSource *source;
    uint64_t memory; // bytes that the importer may take
    Mesh mesh;
} Import;

static MoteResult work(void *context, IsolatePipe *out)
{
    const Import *import = context;
    return mesh_import(import->source, import->memory, out);
}

static MoteResult take(void *context, IsolatePipe *in)
{
    Import *import = context;
    return mesh_receive(import->source, in, &import->mesh);
}

MoteResult mesh_import_in_child(const MeshSource *source, Mesh *out)
{
    const IsolateLimits limits = isolate_limits_of(mesh_source_size(source));
    Import context = {.source = source, .memory = limits.memory};
    const MoteResult result = isolate(source->path, MESH_PURPOSE, &limits, work, take, &context);
    if (result != MOTE_OK) {
        mesh_free(&context.mesh);
    }
    *out = context.mesh;
    return result;
}

static MoteResult import(const MeshSource *source, bool plain, Mesh *out)
{
    MeshBuilder builder = {.plain = plain};
    const MoteResult result = mesh_import_in_child(source, &builder.mesh);
    return result == MOTE_OK ? builder_finish(&builder, source->path, out) : result;
}

// ---- Files -----------------------------------------------------------------------------------------------------

static bool known_extension(const char *path, char *extension)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (dot == NULL || (slash != NULL && slash > dot) || strlen(dot + 1) >= MESH_EXTENSION_SIZE) {
        return false;
    }
    size_t length_of_extension = 0;
    for (const char *c = dot + 1; *c != '\0'; c++) {
        extension[length_of_extension++] = (char)tolower((unsigned char)*c);
    }
    extension[length_of_extension] = '\0';
    for (uint32_t i = 0; i < EXTENSIONS; i++) {
        if (strcmp(extension, extensions[i]) == 0) {
            return true;
        }
    }
    return false;
}

static MoteResult load_file(const char *path, bool plain, Mesh *out)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return mote_fail(MOTE_ERROR_IO, "%s: is %s, expected a mesh file", path,
                         S_ISDIR(status.st_mode) ? "a folder" : "no regular file");
    }
    char extension[MESH_EXTENSION_SIZE] = "";
    if (!known_extension(path, extension)) {
        char known[128] = "";
        for (uint32_t i = 0; i < EXTENSIONS; i++) {
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s.%s", i > 0 ? ", " : "", extensions[i]);
        }
        return mote_fail(MOTE_ERROR_INPUT, "%s: is no mesh file by its name, expected one of %s", path, known);
    }
    MeshSource source = {.path = path};
    snprintf(source.own_name, sizeof source.own_name, "mesh.%s", extension);
    MoteResult result = mesh_source_add(&source, path, source.own_name);
    if (result == MOTE_OK && source.files[0].size == 0) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: is empty, expected a mesh", path);
    }
    if (result == MOTE_OK) {
        result = mesh_check_file(path, extension, source.files[0].bytes, source.files[0].size);
    }
    if (result == MOTE_OK && (strcmp(extension, "gltf") == 0 || strcmp(extension, "glb") == 0)) {
        result = mesh_add_buffers(&source, strcmp(extension, "glb") == 0);
    }
    result = result == MOTE_OK ? import(&source, plain, out) : result;
    mesh_source_free(&source);
    return result;
}

static bool has_parent_step(const char *path)
{
    for (const char *step = path; (step = strstr(step, "..")) != NULL; step += 2) {
        if ((step == path || step[-1] == '/') && (step[2] == '/' || step[2] == '\0')) {
            return true;
        }
    }
    return false;
}

static MoteResult load_package(const char *reference, const char *name, bool plain, Mesh *out)
{
    const char *folders = getenv("XDG_DATA_DIRS");
    if (folders == NULL || folders[0] == '\0') {
        folders = "/usr/local/share:/usr/share";
    }
    if (name[0] == '\0' || name[0] == '/' || has_parent_step(name)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: expected package: and a path below a data folder, without \"..\"",
                         reference);
    }
    for (const char *at = folders; *at != '\0';) {
        const size_t size = strcspn(at, ":");
        char path[PATH_SIZE];
        const int written = snprintf(path, sizeof path, "%.*s/%s", (int)size, at, name);
        struct stat status;
        if (size > 0 && written > 0 && (size_t)written < sizeof path && stat(path, &status) == 0) {
            return load_file(path, plain, out);
        }
        at += size + (at[size] == ':' ? 1 : 0);
    }
    const bool glmark = strncmp(name, "glmark2/", 8) == 0;
    return mote_fail(MOTE_ERROR_IO, "%s: there is no such file below %s%s", reference, folders,
                     glmark ? "; install the package glmark2-data" : "");
}

MoteResult mesh_load(const char *reference, const char *folder, Mesh *out)
{
    return mesh_load_as(reference, folder, false, out);
}

MoteResult mesh_load_as(const char *reference, const char *folder, bool plain, Mesh *out)
{
    *out = (Mesh){0};
    if (strncmp(reference, "shape:", 6) == 0) {
        return mesh_generate(reference, reference + 6, plain, out);
    }
    if (strncmp(reference, "package:", 8) == 0) {
        return load_package(reference, reference + 8, plain, out);
    }
    char path[PATH_SIZE];
    const bool relative = reference[0] != '/' && folder != NULL && folder[0] != '\0';
    const int written = snprintf(path, sizeof path, "%s%s%s", relative ? folder : "", relative ? "/" : "", reference);
    if (reference[0] == '\0' || written < 0 || (size_t)written >= sizeof path) {
        return mote_fail(MOTE_ERROR_INPUT, "a mesh's reference is %s, expected a path, package:PATH or shape:NAME",
                         reference[0] == '\0' ? "empty" : "too long");
    }
    return load_file(path, plain, out);
}
