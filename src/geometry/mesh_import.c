// SPDX-License-Identifier: MIT
// mesh_import.c - assimp, in a child process of its own (base/isolate.h): from a file's bytes to plain triangles, and
// how these arrive.
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POLYGON_LIMIT = 256, // corners; cutting ears off takes their square
    NODE_DEPTH = 256
};
// Nodes may repeat a mesh: few bytes can be many triangles. So many are always allowed, and one more for each byte.
#define REPEATED_LIMIT 4000000u

// What the pipe carries first; positions, uvs and triangles follow.
typedef struct MeshHead {
    uint32_t vertex_count, triangle_count, has_uvs;
} MeshHead;

static uint32_t count_limit(const MeshSource *source)
{
    const uint64_t limit = REPEATED_LIMIT + mesh_source_size(source);
    return limit < MESH_LIMIT ? (uint32_t)limit : MESH_LIMIT;
}

// ---- Walking assimp's scene ------------------------------------------------------------------------------------

typedef struct Placing {
    const struct aiNode *node;
    struct aiMatrix4x4 matrix; // to the scene
    uint32_t depth;
} Placing;

// Calls `visit` for each mesh of each node with its transform to the scene.
static MoteResult walk(const struct aiScene *scene, const char *path,
                       MoteResult (*visit)(const struct aiMesh *mesh, const struct aiMatrix4x4 *matrix, void *context),
                       void *context)
{
    uint32_t capacity = 64, count = 0;
    Placing *stack = malloc(capacity * sizeof *stack);
    MoteResult result = MOTE_OK;
    if (stack == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to walk its nodes", path);
    }
    if (scene->mRootNode != NULL) {
        stack[count++] = (Placing){scene->mRootNode, scene->mRootNode->mTransformation, 0};
    }
    while (count > 0 && result == MOTE_OK) {
        const Placing placing = stack[--count];
        const struct aiNode *node = placing.node;
        for (unsigned int i = 0; i < node->mNumMeshes && result == MOTE_OK; i++) {
            if (node->mMeshes[i] < scene->mNumMeshes) {
                result = visit(scene->mMeshes[node->mMeshes[i]], &placing.matrix, context);
            }
        }
        if (node->mNumChildren > 0 && placing.depth >= NODE_DEPTH) {
            result = mote_fail(MOTE_ERROR_INPUT, "%s: nodes are nested more than %d deep", path, NODE_DEPTH);
        }
        for (unsigned int i = 0; i < node->mNumChildren && result == MOTE_OK; i++) {
            if (count == capacity) {
                Placing *grown = realloc(stack, 2 * (size_t)capacity * sizeof *stack);
                if (grown == NULL) {
                    result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to walk its nodes", path);
                    break;
                }
                stack = grown;
                capacity *= 2;
            }
            Placing *child = &stack[count++];
            *child = (Placing){node->mChildren[i], placing.matrix, placing.depth + 1};
            aiMultiplyMatrix4(&child->matrix, &child->node->mTransformation);
        }
    }
    free(stack);
    return result;
}

static MoteResult check_polygons(const struct aiScene *scene, const char *path)
{
    for (unsigned int m = 0; m < scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = scene->mMeshes[m];
        for (unsigned int f = 0; f < mesh->mNumFaces; f++) {
            const struct aiFace *face = &mesh->mFaces[f];
            if (face->mNumIndices > POLYGON_LIMIT) {
                return mote_fail(MOTE_ERROR_INPUT, "%s: a polygon has %u corners, expected at most %d", path,
                                 face->mNumIndices, POLYGON_LIMIT);
            }
            for (unsigned int k = 0; k < face->mNumIndices; k++) {
                if (face->mIndices[k] >= mesh->mNumVertices) {
                    return mote_fail(MOTE_ERROR_INPUT, "%s: a polygon uses vertex %u, expected one of the %u there are",
                                     path, face->mIndices[k], mesh->mNumVertices);
                }
            }
        }
    }
    return MOTE_OK;
}

// ---- Sending ---------------------------------------------------------------------------------------------------

typedef struct Sending {
    const char *path;
    IsolatePipe *out;
    uint64_t vertices, triangles, limit;
    bool uvs;
    uint32_t first; // vertices of the meshes before
} Sending;

static MoteResult count_mesh(const struct aiMesh *mesh, const struct aiMatrix4x4 *matrix, void *context)
{
    (void)matrix;
    Sending *all = context;
    all->vertices += mesh->mNumVertices;
    for (unsigned int f = 0; f < mesh->mNumFaces; f++) {
        all->triangles += mesh->mFaces[f].mNumIndices == 3;
    }
    all->uvs = all->uvs || mesh->mTextureCoords[0] != NULL;
    if (all->vertices > all->limit || all->triangles > all->limit) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: has more than %llu vertices or triangles, counted as often as they appear", all->path,
                         (unsigned long long)all->limit);
    }
    return MOTE_OK;
}

static MoteResult send_positions(const struct aiMesh *mesh, const struct aiMatrix4x4 *matrix, void *context)
{
    const Sending *all = context;
    for (unsigned int v = 0; v < mesh->mNumVertices; v++) {
        struct aiVector3D p = mesh->mVertices[v];
        aiTransformVecByMatrix4(&p, matrix);
        const MoteVec3 position = {p.x, p.y, p.z};
        isolate_send(all->out, &position, sizeof position);
    }
    return MOTE_OK;
}

static MoteResult send_uvs(const struct aiMesh *mesh, const struct aiMatrix4x4 *matrix, void *context)
{
    (void)matrix;
    const Sending *all = context;
    const struct aiVector3D *uvs = mesh->mTextureCoords[0];
    for (unsigned int v = 0; v < mesh->mNumVertices; v++) {
        const float uv[2] = {uvs != NULL ? uvs[v].x : 0.0f, uvs != NULL ? uvs[v].y : 0.0f};
        isolate_send(all->out, uv, sizeof uv);
    }
    return MOTE_OK;
}

static MoteResult send_triangles(const struct aiMesh *mesh, const struct aiMatrix4x4 *matrix, void *context)
{
    Sending *all = context;
    const bool mirrored = aiMatrix4Determinant(matrix) < 0.0f; // such triangles are turned round
    for (unsigned int f = 0; f < mesh->mNumFaces; f++) {
        const struct aiFace *face = &mesh->mFaces[f];
        if (face->mNumIndices != 3) {
            continue; // points and lines
        }
        uint32_t corners[3];
        for (uint32_t k = 0; k < 3; k++) {
            if (face->mIndices[k] >= mesh->mNumVertices) {
                return mote_fail(MOTE_ERROR_INPUT, "%s: a triangle uses vertex %u, expected one of the %u there are",
                                 all->path, face->mIndices[k], mesh->mNumVertices);
            }
            corners[mirrored ? 2 - k : k] = all->first + face->mIndices[k];
        }
        isolate_send(all->out, corners, sizeof corners);
    }
    all->first += mesh->mNumVertices;
    return MOTE_OK;
}

static MoteResult send_scene(const struct aiScene *scene, const MeshSource *source, IsolatePipe *out)
{
    Sending all = {.path = source->path, .out = out, .limit = count_limit(source)};
    MoteResult result = walk(scene, source->path, count_mesh, &all);
    if (result != MOTE_OK) {
        return result;
    }
    const MeshHead head = {(uint32_t)all.vertices, (uint32_t)all.triangles, all.uvs};
    isolate_send(out, &head, sizeof head);
    result = walk(scene, source->path, send_positions, &all);
    if (result == MOTE_OK && all.uvs) {
        result = walk(scene, source->path, send_uvs, &all);
    }
    return result == MOTE_OK ? walk(scene, source->path, send_triangles, &all) : result;
}

// ---- Files in memory, for assimp -------------------------------------------------------------------------------

typedef struct OpenFile {
    struct aiFile file;
    const MeshFile *bytes;
    size_t at;
} OpenFile;

static size_t read_open(struct aiFile *file, char *to, size_t size, size_t count)
{
    OpenFile *open = (OpenFile *)(void *)file->UserData;
    const size_t left = open->bytes->size - open->at;
    const size_t whole = size > 0 && left / size < count ? left / size : count;
    memcpy(to, open->bytes->bytes + open->at, whole * size);
    open->at += whole * size;
    return whole;
}

static size_t write_open(struct aiFile *file, const char *from, size_t size, size_t count)
{
    (void)file, (void)from, (void)size, (void)count;
    return 0;
}

static size_t tell_open(struct aiFile *file)
{
    return ((OpenFile *)(void *)file->UserData)->at;
}

static size_t size_of_open(struct aiFile *file)
{
    return ((OpenFile *)(void *)file->UserData)->bytes->size;
}

static enum aiReturn seek_open(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    OpenFile *open = (OpenFile *)(void *)file->UserData;
    const size_t size = open->bytes->size;
    const size_t from = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? open->at : size;
    const size_t to = from + offset; // a step back is a large number: the sum wraps
    if (to > size) {
        return aiReturn_FAILURE;
    }
    open->at = to;
    return aiReturn_SUCCESS;
}

static void flush_open(struct aiFile *file)
{
    (void)file;
}

static const char *without_prefix(const char *name)
{
    while (name[0] == '/' || (name[0] == '.' && name[1] == '/')) {
        name += name[0] == '/' ? 1 : 2;
    }
    return name;
}

// Only what was read before is there: materials and textures are not.
static struct aiFile *open_from_memory(struct aiFileIO *io, const char *name, const char *mode)
{
    const MeshSource *source = (const MeshSource *)(const void *)io->UserData;
    for (uint32_t i = 0; i < source->file_count && mode[0] == 'r'; i++) {
        if (strcmp(without_prefix(name), without_prefix(source->files[i].name)) != 0) {
            continue;
        }
        OpenFile *open = malloc(sizeof *open);
        if (open == NULL) {
            return NULL;
        }
        *open = (OpenFile){
            {read_open, write_open, tell_open, size_of_open, seek_open, flush_open, NULL}, &source->files[i], 0};
        open->file.UserData = (aiUserData)(void *)open;
        return &open->file;
    }
    return NULL;
}

static void close_from_memory(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    free(file->UserData);
}

// ---- Importing -------------------------------------------------------------------------------------------------

// Assimp catches what operator new throws, and tells its name.
static MoteResult fail_by_assimp(const char *path, const char *what, uint64_t limit)
{
    const char *error = aiGetErrorString();
    if (strstr(error, "bad_alloc") != NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: %s: it needs more than %llu MB of memory", path, what,
                         (unsigned long long)(limit >> 20));
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: %s: %s", path, what, error);
}

MoteResult mesh_import(const MeshSource *source, uint64_t limit, IsolatePipe *out)
{
    struct aiFileIO files = {open_from_memory, close_from_memory, (aiUserData)(uintptr_t)source};
    const struct aiScene *scene = aiImportFileEx(source->files[0].name, 0, &files);
    if (scene == NULL) {
        return fail_by_assimp(source->path, MESH_PURPOSE, limit);
    }
    MoteResult result = check_polygons(scene, source->path);
    if (result == MOTE_OK) {
        const struct aiScene *triangulated = aiApplyPostProcessing(scene, aiProcess_Triangulate);
        if (triangulated == NULL) { // the scene is gone then
            return fail_by_assimp(source->path, "its polygons cannot be made triangles", limit);
        }
        result = send_scene(triangulated, source, out);
    }
    aiReleaseImport(scene);
    return result;
}

// ---- Receiving -------------------------------------------------------------------------------------------------

MoteResult mesh_receive(const MeshSource *source, IsolatePipe *in, Mesh *out)
{
    *out = (Mesh){0};
    MeshHead head;
    MoteResult result = isolate_receive(in, &head, sizeof head);
    if (result != MOTE_OK) {
        return result;
    }
    if (head.vertex_count > count_limit(source) || head.triangle_count > count_limit(source) || head.has_uvs > 1) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: " MESH_PURPOSE ": its importer claims %u vertices and %u triangles",
                         source->path, head.vertex_count, head.triangle_count);
    }
    result = mesh_make(head.vertex_count, head.triangle_count, head.has_uvs != 0, source->path, out);
    if (result == MOTE_OK) {
        result = isolate_receive(in, out->positions, head.vertex_count * sizeof *out->positions);
    }
    if (result == MOTE_OK && out->uvs != NULL) {
        result = isolate_receive(in, out->uvs, 2 * (size_t)head.vertex_count * sizeof *out->uvs);
    }
    if (result == MOTE_OK) {
        result = isolate_receive(in, out->triangles, 3 * (size_t)head.triangle_count * sizeof *out->triangles);
    }
    for (size_t i = 0; i < 3 * (size_t)head.triangle_count && result == MOTE_OK; i++) {
        if (out->triangles[i] >= head.vertex_count) {
            result = mote_fail(MOTE_ERROR_INPUT, "%s: a triangle uses vertex %u, expected one of the %u there are",
                               source->path, out->triangles[i], head.vertex_count);
        }
    }
    if (result != MOTE_OK) {
        mesh_free(out);
    }
    return result;
}
