// SPDX-License-Identifier: MIT
// mesh_set.c - checks meshes of the caller, computes smooth normals where they have none, and uploads them.
#include "render/mesh_set.h"

#include "base/error.h"
#include "base/vec.h"
#include "base/vertices.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Checks ------------------------------------------------------------------------------------------------

static bool is_finite(MoteVec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static MoteResult check_skin(const MoteRenderMesh *mesh, uint32_t number)
{
    if (mesh->weights == NULL || mesh->rests == NULL || mesh->member_count == 0) {
        return mote_fail(MOTE_ERROR_INPUT, "mesh %u has members, but no %s", number,
                         mesh->weights == NULL ? "weights"
                         : mesh->rests == NULL ? "rests"
                                               : "member_count");
    }
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        double sum = 0.0;
        for (size_t k = 4 * v; k < 4 * v + 4; k++) {
            if (mesh->members[k] >= mesh->member_count) {
                return mote_fail(MOTE_ERROR_INPUT, "mesh %u: vertex %zu follows member %u, expected less than %u",
                                 number, v, mesh->members[k], mesh->member_count);
            }
            if (!(mesh->weights[k] >= 0.0f) || !isfinite(mesh->weights[k]) || !is_finite(mesh->rests[k])) {
                return mote_fail(MOTE_ERROR_INPUT,
                                 "mesh %u: vertex %zu has weight %g or a rest that is no place, expected 0 to 1 and "
                                 "finite numbers",
                                 number, v, (double)mesh->weights[k]);
            }
            sum += (double)mesh->weights[k];
        }
        if (!(fabs(sum - 1.0) < 1e-3)) {
            return mote_fail(MOTE_ERROR_INPUT, "mesh %u: the weights of vertex %zu sum to %g, expected 1", number, v,
                             sum);
        }
    }
    return MOTE_OK;
}

static MoteResult check_mesh(const MoteRenderMesh *mesh, uint32_t number)
{
    if (mesh->vertex_count == 0 || mesh->triangle_count == 0 || mesh->positions == NULL || mesh->triangles == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "mesh %u has %u vertices and %u triangles, expected some of each", number,
                         mesh->positions != NULL ? mesh->vertex_count : 0,
                         mesh->triangles != NULL ? mesh->triangle_count : 0);
    }
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        if (!is_finite(mesh->positions[v]) || (mesh->normals != NULL && !is_finite(mesh->normals[v]))) {
            return mote_fail(MOTE_ERROR_INPUT, "mesh %u: vertex %zu has a %s that is not finite", number, v,
                             is_finite(mesh->positions[v]) ? "normal" : "position");
        }
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        if (mesh->triangles[i] >= mesh->vertex_count) {
            return mote_fail(MOTE_ERROR_INPUT, "mesh %u: triangle %zu has vertex %u, expected less than %u", number,
                             i / 3, mesh->triangles[i], mesh->vertex_count);
        }
    }
    return mesh->members != NULL ? check_skin(mesh, number) : MOTE_OK;
}

// ---- Normals, and whether the backs of triangles are seen ------------------------------------------------------

static MoteVec3 unit(DVec3 v)
{
    const double length = dvec3_length(v);
    return length > 0.0 ? (MoteVec3){(float)(v.x / length), (float)(v.y / length), (float)(v.z / length)}
                        : (MoteVec3){0.0f, 1.0f, 0.0f};
}

// As long as twice the triangle's area.
static DVec3 triangle_normal(const MoteRenderMesh *mesh, const uint32_t *t)
{
    const DVec3 a = dvec3_from(mesh->positions[t[0]]);
    return dvec3_cross(dvec3_sub(dvec3_from(mesh->positions[t[1]]), a),
                       dvec3_sub(dvec3_from(mesh->positions[t[2]]), a));
}

static bool make_normals(const MoteRenderMesh *mesh, const uint32_t *first, MoteVec3 *normals)
{
    DVec3 *sums = calloc(mesh->vertex_count, sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const DVec3 n = triangle_normal(mesh, mesh->triangles + 3 * t);
        for (int k = 0; k < 3; k++) {
            DVec3 *sum = &sums[first[mesh->triangles[3 * t + (size_t)k]]];
            *sum = dvec3_add(*sum, n);
        }
    }
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        normals[v] = unit(sums[first[v]]);
    }
    free(sums);
    return true;
}

static int compare_edges(const void *a, const void *b)
{
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q ? 1 : 0;
}

// Whether each edge is walked as often one way as the other, and the volume inside is positive.
static bool find_closed(const MoteRenderMesh *mesh, const uint32_t *first, bool *closed)
{
    const size_t count = 3 * (size_t)mesh->triangle_count;
    uint64_t *edges = malloc(2 * count * sizeof *edges);
    if (edges == NULL) {
        return false;
    }
    double volume = 0.0;
    for (size_t i = 0; i < count; i++) {
        const size_t next = i % 3 == 2 ? i - 2 : i + 1;
        const uint64_t a = first[mesh->triangles[i]], b = first[mesh->triangles[next]];
        edges[i] = a << 32 | b;
        edges[count + i] = b << 32 | a;
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const DVec3 n = triangle_normal(mesh, mesh->triangles + 3 * t);
        const DVec3 a = dvec3_sub(dvec3_from(mesh->positions[mesh->triangles[3 * t]]), dvec3_from(mesh->positions[0]));
        volume += n.x * a.x + n.y * a.y + n.z * a.z;
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    qsort(edges + count, count, sizeof *edges, compare_edges);
    *closed = volume > 0.0 && memcmp(edges, edges + count, count * sizeof *edges) == 0;
    free(edges);
    return true;
}

// ---- One mesh ----------------------------------------------------------------------------------------------

// All meshes, on the host.
typedef struct Tables {
    MeshVertex *vertices;
    SkinBinding *bindings;
    uint32_t *triangles, *adjacency;
    uint64_t vertex_count, binding_count;
    uint64_t index_count, index_room, adjacency_count, adjacency_room; // uints
} Tables;

// Makes room for `more` numbers behind the last; NULL if there is no memory, or more than uints can count.
static uint32_t *append(uint32_t **numbers, uint64_t *count, uint64_t *room, uint64_t more)
{
    if (*count + more > *room) {
        const uint64_t wanted = *count + more + (*count + more) / 2;
        uint32_t *grown = *count + more > UINT32_MAX ? NULL : realloc(*numbers, wanted * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        *numbers = grown;
        *room = wanted;
    }
    *count += more;
    return *numbers + (*count - more);
}

static float length_of(vec4 v)
{
    return sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
}

static void fill_binding(const MoteRenderMesh *mesh, size_t v, SkinBinding *binding, float *reach)
{
    const float *w = mesh->weights + 4 * v;
    const float sum = w[0] + w[1] + w[2] + w[3];
    for (size_t k = 0; k < 4; k++) {
        const MoteVec3 p = mesh->positions[v], rest = mesh->rests[4 * v + k];
        const vec4 offset = {p.x - rest.x, p.y - rest.y, p.z - rest.z, w[k] / sum};
        binding->offsets[k] = offset;
        binding->members[k] = mesh->members[4 * v + k];
        *reach = offset.w > 0.0f ? fmaxf(*reach, length_of(offset)) : *reach;
    }
}

// Puts vertices of coarser levels first: places[v] is where vertex v goes.
static void sort_vertices(const MeshLevels *levels, uint32_t count, MeshRange *range, uint32_t *places)
{
    uint32_t next = 0;
    for (uint32_t k = levels->count; k-- > 0;) {
        for (uint32_t v = 0; v < count; v++) {
            if (levels->tops[v] == k) {
                places[v] = next++;
            }
        }
        range->levels[k].vertex_count = next;
    }
}

// The triangles around each vertex of a level, and around all that `first` counts as one with it.
static bool list_triangles(const uint32_t *triangles, const uint32_t *first, const uint32_t *places,
                           uint32_t vertex_count, MeshLevel *level, Tables *tables)
{
    const size_t corners = 3 * (size_t)level->triangle_count;
    level->first_adjacent = (uint32_t)tables->adjacency_count;
    uint32_t *rows = append(&tables->adjacency, &tables->adjacency_count, &tables->adjacency_room,
                            2 * (uint64_t)level->vertex_count + corners);
    uint32_t *ends = calloc(vertex_count + 1u, sizeof *ends);
    if (rows == NULL || ends == NULL) {
        free(ends);
        return false;
    }
    uint32_t *lists = rows + 2 * (size_t)level->vertex_count;
    for (size_t i = 0; i < corners; i++) {
        ends[first[triangles[i]] + 1]++;
    }
    for (uint32_t v = 0; v < vertex_count; v++) {
        ends[v + 1] += ends[v]; // ends[v] is where the list of v begins
    }
    for (uint32_t v = 0; v < vertex_count; v++) {
        if (places[v] < level->vertex_count) {
            rows[2 * (size_t)places[v]] = 2 * level->vertex_count + ends[first[v]];
            rows[2 * (size_t)places[v] + 1] = ends[first[v] + 1] - ends[first[v]];
        }
    }
    for (size_t i = 0; i < corners; i++) {
        lists[ends[first[triangles[i]]]++] = (uint32_t)(i / 3);
    }
    free(ends);
    return true;
}

static bool add_level(const MeshLevels *levels, uint32_t k, const uint32_t *first, const uint32_t *places,
                      Tables *tables, MeshRange *range)
{
    MeshLevel *level = &range->levels[k];
    level->first_triangle = (uint32_t)(tables->index_count / 3);
    level->triangle_count = levels->triangle_counts[k];
    level->cell = levels->cells[k];
    uint32_t *indices =
        append(&tables->triangles, &tables->index_count, &tables->index_room, 3 * (uint64_t)level->triangle_count);
    for (size_t i = 0; i < 3 * (size_t)level->triangle_count && indices != NULL; i++) {
        indices[i] = places[levels->triangles[k][i]];
    }
    return indices != NULL &&
           (!range->deforms || list_triangles(levels->triangles[k], first, places, range->vertex_count, level, tables));
}

// What is made of a mesh before it is stored, an element a vertex.
typedef struct Draft {
    uint32_t *first, *places;
    MoteVec3 *normals;
    MeshLevels levels;
} Draft;

static bool make_draft(const MoteRenderMesh *mesh, MeshRange *range, Draft *draft)
{
    draft->first = malloc(mesh->vertex_count * sizeof *draft->first);
    draft->places = malloc(mesh->vertex_count * sizeof *draft->places);
    draft->normals = malloc(mesh->vertex_count * sizeof *draft->normals);
    bool done = draft->first != NULL && draft->places != NULL && draft->normals != NULL &&
                vertices_find_first(mesh->positions, NULL, mesh->vertex_count, draft->first) &&
                find_closed(mesh, draft->first, &range->closed);
    if (done && mesh->normals == NULL) {
        done = make_normals(mesh, draft->first, draft->normals);
    }
    for (uint32_t v = 0; v < mesh->vertex_count && done && mesh->normals != NULL; v++) {
        draft->normals[v] = unit((DVec3){mesh->normals[v].x, mesh->normals[v].y, mesh->normals[v].z});
    }
    done = done && mesh_levels_make(mesh, draft->first, draft->normals, &draft->levels);
    if (done && mesh->normals != NULL && range->deforms) {
        done = vertices_find_first(mesh->positions, mesh->normals, mesh->vertex_count,
                                   draft->first); // sharp edges stay sharp
    }
    return done;
}

static void free_draft(Draft *draft)
{
    free(draft->first);
    free(draft->places);
    free(draft->normals);
    mesh_levels_free(&draft->levels);
}

// Appends a checked mesh; false if there is no memory.
static bool add_mesh(const MoteRenderMesh *mesh, Tables *tables, MeshRange *range)
{
    *range = (MeshRange){.first_vertex = (uint32_t)tables->vertex_count,
                         .vertex_count = mesh->vertex_count,
                         .first_binding = (uint32_t)tables->binding_count,
                         .member_count = mesh->members != NULL ? mesh->member_count : 0,
                         .deforms = mesh->members != NULL && mesh->deforms,
                         .color = {mesh->color.x, mesh->color.y, mesh->color.z, mesh->roughness}};
    Draft draft = {0};
    bool done = make_draft(mesh, range, &draft);
    if (done) {
        range->level_count = draft.levels.count;
        sort_vertices(&draft.levels, mesh->vertex_count, range, draft.places);
    }
    for (uint32_t v = 0; v < mesh->vertex_count && done; v++) {
        const MoteVec3 p = mesh->positions[v], n = draft.normals[v];
        const MeshVertex vertex = {.position = {p.x, p.y, p.z, 0.0f}, .normal = {n.x, n.y, n.z, 0.0f}};
        tables->vertices[tables->vertex_count + draft.places[v]] = vertex;
        if (mesh->members != NULL) {
            fill_binding(mesh, v, &tables->bindings[tables->binding_count + draft.places[v]], &range->reach);
        } else {
            range->reach = fmaxf(range->reach, length_of(vertex.position));
        }
    }
    for (uint32_t k = 0; k < range->level_count && done; k++) {
        done = add_level(&draft.levels, k, draft.first, draft.places, tables, range);
    }
    if (mesh->moves && mesh->members == NULL) {
        range->places = draft.places;
        draft.places = NULL;
    }
    free_draft(&draft);
    tables->vertex_count += mesh->vertex_count;
    tables->binding_count += mesh->members != NULL ? mesh->vertex_count : 0;
    return done;
}

// ---- The set -----------------------------------------------------------------------------------------------

static void free_tables(Tables *tables)
{
    free(tables->vertices);
    free(tables->bindings);
    free(tables->triangles);
    free(tables->adjacency);
}

static MoteResult build_tables(const MoteRenderMesh *meshes, uint32_t count, Tables *tables, MeshRange *ranges)
{
    uint64_t vertices = 0, bindings = 0;
    for (uint32_t m = 0; m < count; m++) {
        const MoteResult result = check_mesh(&meshes[m], m);
        if (result != MOTE_OK) {
            return result;
        }
        vertices += meshes[m].vertex_count;
        bindings += meshes[m].members != NULL ? meshes[m].vertex_count : 0;
    }
    if (vertices > UINT32_MAX) {
        return mote_fail(MOTE_ERROR_INPUT, "meshes of %llu vertices, expected at most %u", (unsigned long long)vertices,
                         UINT32_MAX);
    }
    tables->vertices = malloc((vertices + 1) * sizeof *tables->vertices);
    tables->bindings = malloc((bindings + 1) * sizeof *tables->bindings);
    bool done = tables->vertices != NULL && tables->bindings != NULL;
    for (uint32_t m = 0; m < count && done; m++) {
        done = add_mesh(&meshes[m], tables, &ranges[m]);
    }
    return done ? MOTE_OK
                : mote_fail(MOTE_ERROR_MEMORY, "no memory for meshes of %llu vertices", (unsigned long long)vertices);
}

// A buffer of the device's own with these bytes in it.
static MoteResult upload(Device *device, const char *name, const void *data, size_t bytes, Buffer *out)
{
    MoteResult result = buffer_create(device, name, BUFFER_DEVICE, bytes, out);
    if (result != MOTE_OK || bytes == 0) {
        return result;
    }
    Buffer staging;
    result = buffer_create(device, name, BUFFER_UPLOAD, bytes, &staging);
    if (result != MOTE_OK) {
        return result;
    }
    memcpy(staging.mapped, data, bytes);
    buffer_flush(device, &staging);
    result = device_begin(device);
    if (result == MOTE_OK) {
        const VkBufferCopy region = {0, 0, bytes};
        vkCmdCopyBuffer(device->commands, staging.handle, out->handle, 1, &region);
        result = device_submit(device);
    }
    buffer_destroy(device, &staging);
    return result;
}

MoteResult mesh_set_create(Device *device, const MoteRenderMesh *meshes, uint32_t count, MeshSet *out)
{
    memset(out, 0, sizeof *out);
    if (count == 0) {
        return MOTE_OK;
    }
    out->meshes = calloc(count, sizeof *out->meshes);
    if (out->meshes == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u meshes", count);
    }
    out->count = count;
    Tables tables = {0};
    MoteResult result = build_tables(meshes, count, &tables, out->meshes);
    const struct {
        const char *name;
        const void *data;
        size_t bytes;
        Buffer *buffer;
    } rows[] = {
        {"mesh vertices", tables.vertices, tables.vertex_count * sizeof *tables.vertices, &out->vertices},
        {"mesh bindings", tables.bindings, tables.binding_count * sizeof *tables.bindings, &out->bindings},
        {"mesh triangles", tables.triangles, tables.index_count * sizeof *tables.triangles, &out->triangles},
        {"mesh adjacency", tables.adjacency, tables.adjacency_count * sizeof *tables.adjacency, &out->adjacency},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0] && result == MOTE_OK; i++) {
        result = upload(device, rows[i].name, rows[i].data, rows[i].bytes, rows[i].buffer);
    }
    free_tables(&tables);
    if (result != MOTE_OK) {
        mesh_set_destroy(device, out);
    }
    return result;
}

static MoteResult check_pose(const MeshSet *set, const MoteRenderPose *pose, uint32_t number)
{
    if (pose->mesh >= set->count || set->meshes[pose->mesh].places == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "pose %u is of mesh %u, which is not one of the renderer's that move",
                         number, pose->mesh);
    }
    for (uint32_t v = 0; v < set->meshes[pose->mesh].vertex_count; v++) {
        if (!is_finite(pose->positions[v]) || !is_finite(pose->normals[v])) {
            return mote_fail(MOTE_ERROR_INPUT, "pose %u: vertex %u has a %s that is not finite", number, v,
                             is_finite(pose->positions[v]) ? "normal" : "position");
        }
    }
    return MOTE_OK;
}

MoteResult mesh_set_move(Device *device, MeshSet *set, const MoteRenderPose *poses, uint32_t count)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = check_pose(set, &poses[i], i);
        if (result != MOTE_OK) {
            break;
        }
        MeshRange *range = &set->meshes[poses[i].mesh];
        const size_t bytes = range->vertex_count * sizeof(MeshVertex);
        Buffer staging;
        result = buffer_create(device, "mesh pose", BUFFER_UPLOAD, bytes, &staging);
        if (result != MOTE_OK) {
            break;
        }
        MeshVertex *vertices = staging.mapped;
        range->reach = 0.0f;
        range->wet = poses[i].wetness != NULL;
        for (uint32_t v = 0; v < range->vertex_count; v++) {
            const MoteVec3 p = poses[i].positions[v], n = poses[i].normals[v];
            const float wet = range->wet ? fminf(fmaxf(poses[i].wetness[v], 0.0f), 1.0f) : 0.0f;
            const MeshVertex vertex = {.position = {p.x, p.y, p.z, 0.0f}, .normal = {n.x, n.y, n.z, wet}};
            vertices[range->places[v]] = vertex;
            range->reach = fmaxf(range->reach, length_of(vertex.position));
        }
        buffer_flush(device, &staging);
        result = device_begin(device);
        if (result == MOTE_OK) {
            const VkBufferCopy region = {0, range->first_vertex * sizeof(MeshVertex), bytes};
            vkCmdCopyBuffer(device->commands, staging.handle, set->vertices.handle, 1, &region);
            result = device_submit(device);
        }
        buffer_destroy(device, &staging);
    }
    return result;
}

void mesh_set_destroy(Device *device, MeshSet *set)
{
    buffer_destroy(device, &set->vertices);
    buffer_destroy(device, &set->bindings);
    buffer_destroy(device, &set->triangles);
    buffer_destroy(device, &set->adjacency);
    for (uint32_t m = 0; m < set->count; m++) {
        free(set->meshes[m].places);
    }
    free(set->meshes);
    memset(set, 0, sizeof *set);
}
