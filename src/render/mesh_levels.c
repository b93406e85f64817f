// SPDX-License-Identifier: MIT
// mesh_levels.c - levels of detail by vertex clustering: vertices of a cell are merged, cells double in width with each
// level, and degenerate triangles are dropped.
#include "render/mesh_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_TRIANGLES = 1500 }; // no need for coarser ones

typedef struct Cell {
    int64_t key[3];
    uint32_t place; // first vertex there
    float distance; // squared, from the cell's middle
} Cell;

static int compare_cells(const void *a, const void *b)
{
    const Cell *p = a, *q = b;
    for (int k = 0; k < 3; k++) {
        if (p->key[k] != q->key[k]) {
            return p->key[k] < q->key[k] ? -1 : 1;
        }
    }
    if (p->distance != q->distance) {
        return p->distance < q->distance ? -1 : 1; // the one in the middle stands for all
    }
    return p->place < q->place ? -1 : p->place > q->place ? 1 : 0;
}

// Half the mean length of edges is about the width at which half of all vertices would be left.
static float mean_edge(const MoteRenderMesh *mesh)
{
    double sum = 0.0;
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        const MoteVec3 a = mesh->positions[mesh->triangles[i]];
        const MoteVec3 b = mesh->positions[mesh->triangles[i % 3 == 2 ? i - 2 : i + 1]];
        const double x = (double)b.x - a.x, y = (double)b.y - a.y, z = (double)b.z - a.z;
        sum += sqrt(x * x + y * y + z * z);
    }
    return (float)(sum / (3.0 * mesh->triangle_count));
}

// stands[p] for every place p that still stood for itself: who stands for it in cells of this width.
static void merge_places(const MoteRenderMesh *mesh, const uint32_t *first, float cell, Cell *cells, uint32_t *stands)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        if (first[v] == v && stands[v] == v) {
            const MoteVec3 p = mesh->positions[v];
            const double scaled[3] = {(double)p.x / cell, (double)p.y / cell, (double)p.z / cell};
            Cell *c = &cells[count++];
            double squared = 0.0;
            for (int k = 0; k < 3; k++) {
                const double low = floor(fmax(fmin(scaled[k], 1e15), -1e15));
                c->key[k] = (int64_t)low;
                squared += (scaled[k] - low - 0.5) * (scaled[k] - low - 0.5);
            }
            c->place = v;
            c->distance = (float)squared;
        }
    }
    qsort(cells, count, sizeof *cells, compare_cells);
    for (uint32_t i = 0; i < count; i++) {
        const bool same = i > 0 && memcmp(cells[i].key, cells[i - 1].key, sizeof cells[i].key) == 0;
        stands[cells[i].place] = same ? stands[cells[i - 1].place] : cells[i].place;
    }
}

// The vertex at a place whose normal is most like v's: edges stay sharp, and nothing tears.
static uint32_t vertex_at(const MoteVec3 *normals, const uint32_t *next, uint32_t place, uint32_t v)
{
    uint32_t best = place;
    float most = -2.0f;
    for (uint32_t u = place; u != UINT32_MAX; u = next[u]) {
        const float like = normals[u].x * normals[v].x + normals[u].y * normals[v].y + normals[u].z * normals[v].z;
        if (like > most) {
            most = like;
            best = u;
        }
    }
    return best;
}

// Triangles of a level that are left: whose corners have three places.
static uint32_t *make_triangles(const MoteRenderMesh *mesh, const uint32_t *first, const MoteVec3 *normals,
                                const uint32_t *next, const uint32_t *stands, uint32_t *count)
{
    uint32_t *triangles = malloc(3 * (size_t)mesh->triangle_count * sizeof *triangles);
    *count = 0;
    for (size_t t = 0; t < mesh->triangle_count && triangles != NULL; t++) {
        const uint32_t *from = mesh->triangles + 3 * t;
        const uint32_t places[3] = {stands[first[from[0]]], stands[first[from[1]]], stands[first[from[2]]]};
        if (places[0] != places[1] && places[1] != places[2] && places[2] != places[0]) {
            for (int k = 0; k < 3; k++) {
                triangles[3 * (size_t)*count + (size_t)k] = vertex_at(normals, next, places[k], from[k]);
            }
            ++*count;
        }
    }
    return triangles;
}

// next[v] is another vertex at v's place, in a list that begins with the first.
static void link_places(const MoteRenderMesh *mesh, const uint32_t *first, uint32_t *next)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        next[v] = UINT32_MAX;
    }
    for (uint32_t v = mesh->vertex_count; v-- > 0;) {
        if (first[v] != v) {
            next[v] = next[first[v]];
            next[first[v]] = v;
        }
    }
}

static bool add_levels(const MoteRenderMesh *mesh, const uint32_t *first, const MoteVec3 *normals, Cell *cells,
                       uint32_t *stands, uint32_t *next, MeshLevels *out)
{
    link_places(mesh, first, next);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        stands[v] = first[v];
    }
    float cell = 2.0f * mean_edge(mesh);
    while (out->count < MESH_LEVELS && out->triangle_counts[out->count - 1] > FEW_TRIANGLES && cell > 0.0f &&
           isfinite(cell)) {
        merge_places(mesh, first, cell, cells, stands);
        for (uint32_t v = 0; v < mesh->vertex_count; v++) { // who stood for v may be stood for himself now
            stands[v] = stands[stands[v]];
        }
        uint32_t count;
        uint32_t *triangles = make_triangles(mesh, first, normals, next, stands, &count);
        if (triangles == NULL) {
            return false;
        }
        if (count < 16 || count > out->triangle_counts[out->count - 1] / 4 * 3) { // too few to be it, or hardly fewer
            free(triangles);
            return true;
        }
        for (size_t i = 0; i < 3 * (size_t)count; i++) {
            out->tops[triangles[i]] = (uint8_t)out->count;
        }
        out->triangles[out->count] = triangles;
        out->triangle_counts[out->count] = count;
        out->cells[out->count++] = cell;
        cell *= 2.0f;
    }
    return true;
}

bool mesh_levels_make(const MoteRenderMesh *mesh, const uint32_t *first, const MoteVec3 *normals, MeshLevels *out)
{
    memset(out, 0, sizeof *out);
    const size_t bytes = 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles;
    out->tops = calloc(mesh->vertex_count, 1);
    out->triangles[0] = malloc(bytes);
    bool done = out->tops != NULL && out->triangles[0] != NULL;
    if (done) {
        memcpy(out->triangles[0], mesh->triangles, bytes);
        out->triangle_counts[0] = mesh->triangle_count;
        out->count = 1;
    }
    if (done && mesh->triangle_count > FEW_TRIANGLES) {
        Cell *cells = malloc(mesh->vertex_count * sizeof *cells);
        uint32_t *stands = malloc(mesh->vertex_count * sizeof *stands);
        uint32_t *next = malloc(mesh->vertex_count * sizeof *next);
        done = cells != NULL && stands != NULL && next != NULL &&
               add_levels(mesh, first, normals, cells, stands, next, out);
        free(cells);
        free(stands);
        free(next);
    }
    if (!done) {
        mesh_levels_free(out);
    }
    return done;
}

void mesh_levels_free(MeshLevels *levels)
{
    for (uint32_t k = 0; k < MESH_LEVELS; k++) {
        free(levels->triangles[k]);
    }
    free(levels->tops);
    memset(levels, 0, sizeof *levels);
}
