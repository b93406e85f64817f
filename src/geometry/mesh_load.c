// mesh_load.c - meshes by reference: files through assimp, data packages, generators.
#define _POSIX_C_SOURCE 200809L
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include "base/file.h"
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_LIMIT ((size_t)1 << 30) // bytes
enum {
    POLYGON_LIMIT = 256, // corners; cutting ears off takes their square
    NODE_DEPTH = 256,
    PATH_SIZE = 4096,
    EXTENSION_SIZE = 8
};

// Assimp knows many more, of which most are old and read by code that trusts its input.
static const char *const extensions[] = {"obj", "ply", "stl", "gltf", "glb", "3ds", "off", "dae", "fbx"};
enum { EXTENSIONS = sizeof extensions / sizeof extensions[0] };

// ---- From assimp's scene ---------------------------------------------------------------------------------------

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

typedef struct Gathering {
    const char *path;
    uint64_t vertices, triangles;
    bool uvs;
    Mesh mesh;
} Gathering;

static MoteResult count_mesh(const struct aiMesh *mesh, const struct aiMatrix4x4 *matrix, void *context)
{
    (void)matrix;
    Gathering *all = context;
    all->vertices += mesh->mNumVertices;
    for (unsigned int f = 0; f < mesh->mNumFaces; f++) {
        all->triangles += mesh->mFaces[f].mNumIndices == 3;
    }
    all->uvs = all->uvs || mesh->mTextureCoords[0] != NULL;
    // Nodes may repeat a mesh: few bytes can be many triangles.
    if (all->vertices > MESH_LIMIT || all->triangles > MESH_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: has more than %u vertices or triangles, counted as often as they appear", all->path,
                         MESH_LIMIT);
    }
    return MOTE_OK;
}

static MoteResult append_mesh(const struct aiMesh *mesh, const struct aiMatrix4x4 *matrix, void *context)
{
    Gathering *all = context;
    Mesh *out = &all->mesh;
    const uint32_t first = out->vertex_count;
    const double determinant = aiMatrix4Determinant(matrix);
    for (unsigned int v = 0; v < mesh->mNumVertices; v++) {
        struct aiVector3D p = mesh->mVertices[v];
        aiTransformVecByMatrix4(&p, matrix);
        if (out->uvs != NULL && mesh->mTextureCoords[0] != NULL) {
            out->uvs[2 * (size_t)out->vertex_count] = mesh->mTextureCoords[0][v].x;
            out->uvs[2 * (size_t)out->vertex_count + 1] = mesh->mTextureCoords[0][v].y;
        }
        out->positions[out->vertex_count++] = (MoteVec3){p.x, p.y, p.z};
    }
    for (unsigned int f = 0; f < mesh->mNumFaces; f++) {
        const struct aiFace *face = &mesh->mFaces[f];
        if (face->mNumIndices != 3) {
            continue; // points and lines
        }
        uint32_t *corner = out->triangles + 3 * (size_t)out->triangle_count++;
        for (uint32_t k = 0; k < 3; k++) {
            if (face->mIndices[k] >= mesh->mNumVertices) {
                return mote_fail(MOTE_ERROR_INPUT, "%s: a triangle uses vertex %u, expected one of the %u there are",
                                 all->path, face->mIndices[k], mesh->mNumVertices);
            }
            corner[determinant < 0.0 ? 2 - k : k] = first + face->mIndices[k]; // mirrored ones are turned round
        }
    }
    return MOTE_OK;
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

static MoteResult gather(const struct aiScene *scene, const char *path, bool plain, Mesh *out)
{
    Gathering all = {.path = path};
    MoteResult result = walk(scene, path, count_mesh, &all);
    if (result == MOTE_OK) {
        result = mesh_make((uint32_t)all.vertices, (uint32_t)all.triangles, all.uvs, path, &all.mesh);
    }
    if (result != MOTE_OK) {
        return result;
    }
    all.mesh.vertex_count = all.mesh.triangle_count = 0;
    result = walk(scene, path, append_mesh, &all);
    if (result != MOTE_OK) {
        mesh_free(&all.mesh);
        return result;
    }
    MeshBuilder builder = {.mesh = all.mesh, .plain = plain};
    return builder_finish(&builder, path, out);
}

static MoteResult import(const char *path, const char *extension, const char *bytes, size_t size, bool plain, Mesh *out)
{
    // glTF names other files; all other formats are read from the very bytes that were checked.
    const struct aiScene *scene = strcmp(extension, "gltf") == 0
                                      ? aiImportFile(path, 0)
                                      : aiImportFileFromMemory(bytes, (unsigned int)size, 0, extension);
    if (scene == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: cannot be read as a mesh: %s", path, aiGetErrorString());
    }
    MoteResult result = check_polygons(scene, path);
    if (result == MOTE_OK) {
        const struct aiScene *triangulated = aiApplyPostProcessing(scene, aiProcess_Triangulate);
        if (triangulated == NULL) { // the scene is gone then
            return mote_fail(MOTE_ERROR_INPUT, "%s: its polygons cannot be made triangles: %s", path,
                             aiGetErrorString());
        }
        result = gather(triangulated, path, plain, out);
    }
    aiReleaseImport(scene);
    return result;
}

// ---- Files -----------------------------------------------------------------------------------------------------

static bool known_extension(const char *path, char *extension)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (dot == NULL || (slash != NULL && slash > dot) || strlen(dot + 1) >= EXTENSION_SIZE) {
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
    char extension[EXTENSION_SIZE] = "";
    if (!known_extension(path, extension)) {
        char known[128] = "";
        for (uint32_t i = 0; i < EXTENSIONS; i++) {
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s.%s", i > 0 ? ", " : "", extensions[i]);
        }
        return mote_fail(MOTE_ERROR_INPUT, "%s: is no mesh file by its name, expected one of %s", path, known);
    }
    char *bytes = NULL;
    size_t size = 0;
    MoteResult result = file_read(path, FILE_LIMIT, &bytes, &size);
    if (result == MOTE_OK && size == 0) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: is empty, expected a mesh", path);
    }
    if (result == MOTE_OK) {
        result = mesh_check_file(path, extension, bytes, size);
    }
    if (result == MOTE_OK) {
#pragma omp critical(mesh_import) // assimp's last error belongs to the process
        result = import(path, extension, bytes, size, plain, out);
    }
    free(bytes);
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
