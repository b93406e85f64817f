// SPDX-License-Identifier: MIT
#include "solver/cloth_topology.h"

#include "base/error.h"
#include <stdlib.h>

void cloth_topology_free(ClothTopology *topology)
{
    free(topology->edges);
    free(topology->fan_starts);
    free(topology->fans);
    *topology = (ClothTopology){0};
}

void cloth_links_free(ClothLinks *links)
{
    free(links->ends);
    *links = (ClothLinks){0};
}

// ---- Triangles ---------------------------------------------------------------------------------------------

static MoteResult check_triangles(const MoteCloth *cloth)
{
    for (uint32_t t = 0; t < cloth->triangle_count; t++) {
        const uint32_t *corners = cloth->triangles + 3 * (size_t)t;
        for (uint32_t c = 0; c < 3; c++) {
            if (corners[c] >= cloth->vertex_count) {
                return mote_fail(MOTE_ERROR_INPUT, "triangle %u of the cloth has vertex %u, expected vertices below %u",
                                 t, corners[c], cloth->vertex_count);
            }
            if (corners[c] == corners[(c + 1) % 3]) {
                return mote_fail(MOTE_ERROR_INPUT, "triangle %u of the cloth has vertex %u twice", t, corners[c]);
            }
        }
    }
    return MOTE_OK;
}

// Triangles by vertex, as compressed rows: filled in their order, so that each row ascends.
static MoteResult fill_fans(const MoteCloth *cloth, ClothTopology *out)
{
    const size_t corners = 3 * (size_t)cloth->triangle_count;
    for (size_t c = 0; c < corners; c++) {
        out->fan_starts[cloth->triangles[c] + 1]++;
    }
    for (uint32_t v = 0; v < cloth->vertex_count; v++) {
        if (out->fan_starts[v + 1] == 0) {
            return mote_fail(MOTE_ERROR_INPUT, "vertex %u of the cloth is in no triangle", v);
        }
        out->fan_starts[v + 1] += out->fan_starts[v];
    }
    for (size_t c = corners; c-- > 0;) { // the end of a row moves down to its beginning
        out->fans[--out->fan_starts[cloth->triangles[c] + 1]] = (uint32_t)c;
    }
    for (uint32_t v = 0; v < cloth->vertex_count; v++) { // each is now where its row begins, a place too far on
        out->fan_starts[v] = out->fan_starts[v + 1];
    }
    out->fan_starts[cloth->vertex_count] = (uint32_t)corners;
    return MOTE_OK;
}

// ---- Edges -------------------------------------------------------------------------------------------------

// A triangle's side: it runs from `from` to `to`.
typedef struct Side {
    uint32_t low, high;
    uint32_t triangle, from, opposite;
} Side;

static int compare_sides(const void *a, const void *b)
{
    const Side *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

static void list_sides(const MoteCloth *cloth, Side *sides)
{
    for (uint32_t t = 0; t < cloth->triangle_count; t++) {
        const uint32_t *corners = cloth->triangles + 3 * (size_t)t;
        for (uint32_t c = 0; c < 3; c++) {
            const uint32_t from = corners[c], to = corners[(c + 1) % 3];
            sides[3 * (size_t)t + c] = (Side){.low = from < to ? from : to,
                                              .high = from < to ? to : from,
                                              .triangle = t,
                                              .from = from,
                                              .opposite = corners[(c + 2) % 3]};
        }
    }
    qsort(sides, 3 * (size_t)cloth->triangle_count, sizeof *sides, compare_sides);
}

static bool same_edge(const Side *a, const Side *b)
{
    return a->low == b->low && a->high == b->high;
}

// The edge that `sides` begin with; *used is how many of them it takes.
static MoteResult join_sides(const Side *sides, size_t count, ClothEdge *out, size_t *used)
{
    const bool inner = count > 1 && same_edge(&sides[0], &sides[1]);
    *used = inner ? 2 : 1;
    if (count > 2 && same_edge(&sides[0], &sides[2])) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "the cloth's edge from vertex %u to %u has more than two triangles (%u, %u and %u), expected "
                         "a manifold mesh",
                         sides[0].low, sides[0].high, sides[0].triangle, sides[1].triangle, sides[2].triangle);
    }
    if (inner && sides[0].from == sides[1].from) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "the cloth's triangles %u and %u run the same way along the edge from vertex %u to %u, "
                         "expected one front side",
                         sides[0].triangle, sides[1].triangle, sides[0].low, sides[0].high);
    }
    *out = (ClothEdge){
        .vertices = {sides[0].from, sides[0].from == sides[0].low ? sides[0].high : sides[0].low},
        .triangles = {sides[0].triangle, inner ? sides[1].triangle : MOTE_NONE},
        .opposite = {sides[0].opposite, inner ? sides[1].opposite : MOTE_NONE},
    };
    return MOTE_OK;
}

static MoteResult find_edges(const MoteCloth *cloth, ClothTopology *out)
{
    const size_t count = 3 * (size_t)cloth->triangle_count;
    Side *sides = malloc(count * sizeof *sides);
    if (sides == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the edges of %u triangles", cloth->triangle_count);
    }
    list_sides(cloth, sides);
    MoteResult result = MOTE_OK;
    for (size_t s = 0, used = 0; s < count && result == MOTE_OK; s += used) {
        result = join_sides(sides + s, count - s, &out->edges[out->edge_count++], &used);
    }
    free(sides);
    return result;
}

MoteResult cloth_topology_make(const MoteCloth *cloth, ClothTopology *out)
{
    const size_t corners = 3 * (size_t)cloth->triangle_count;
    *out = (ClothTopology){.vertex_count = cloth->vertex_count, .triangle_count = cloth->triangle_count};
    MoteResult result = check_triangles(cloth);
    if (result != MOTE_OK) {
        return result;
    }
    out->edges = malloc(corners * sizeof *out->edges);
    out->fan_starts = calloc((size_t)cloth->vertex_count + 1, sizeof *out->fan_starts);
    out->fans = malloc(corners * sizeof *out->fans);
    if (out->edges == NULL || out->fan_starts == NULL || out->fans == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the edges of %u triangles", cloth->triangle_count);
    }
    result = fill_fans(cloth, out);
    return result == MOTE_OK ? find_edges(cloth, out) : result;
}

// ---- Links -------------------------------------------------------------------------------------------------

static uint32_t add_link(ClothLinks *links, uint32_t at, uint32_t a, uint32_t b)
{
    if (links->ends != NULL) {
        links->ends[2 * (size_t)at] = a;
        links->ends[2 * (size_t)at + 1] = b;
    }
    return at + 1;
}

// Links from each vertex of a grid to the one `right` columns and `down` rows away, where there is one.
static uint32_t add_row_links(const MoteCloth *cloth, ClothLinks *links, uint32_t at, int right, uint32_t down)
{
    const uint32_t left = right < 0 ? (uint32_t)-right : 0, end = right > 0 ? (uint32_t)right : 0;
    for (uint32_t row = 0; row + down < cloth->rows; row++) {
        for (uint32_t column = left; column + end < cloth->columns; column++) {
            const uint32_t v = row * cloth->columns + column;
            at = add_link(links, at, v, (uint32_t)((int64_t)v + (int64_t)down * cloth->columns + right));
        }
    }
    return at;
}

static void list_grid_links(const MoteCloth *cloth, ClothLinks *links)
{
    uint32_t at = add_row_links(cloth, links, 0, 1, 0);
    links->stretch = at = add_row_links(cloth, links, at, 0, 1);
    at = add_row_links(cloth, links, at, 1, 1);
    at = add_row_links(cloth, links, at, -1, 1);
    links->shear = at - links->stretch;
    at = add_row_links(cloth, links, at, 2, 0);
    at = add_row_links(cloth, links, at, 0, 2);
    links->bend = at - links->stretch - links->shear;
}

static void list_mesh_links(const ClothTopology *topology, ClothLinks *links)
{
    uint32_t at = 0;
    for (uint32_t e = 0; e < topology->edge_count; e++) {
        at = add_link(links, at, topology->edges[e].vertices[0], topology->edges[e].vertices[1]);
    }
    links->stretch = at;
    for (uint32_t e = 0; e < topology->edge_count; e++) { // UPP section 8
        const ClothEdge *edge = &topology->edges[e];
        if (edge->triangles[1] != MOTE_NONE && edge->opposite[0] != edge->opposite[1]) {
            at = add_link(links, at, edge->opposite[0], edge->opposite[1]);
        }
    }
    links->bend = at - links->stretch;
}

static void list_links(const MoteCloth *cloth, const ClothTopology *topology, ClothLinks *links)
{
    if (cloth->columns > 0) {
        list_grid_links(cloth, links);
    } else {
        list_mesh_links(topology, links);
    }
}

MoteResult cloth_links_make(const MoteCloth *cloth, const ClothTopology *topology, ClothLinks *out)
{
    *out = (ClothLinks){0};
    list_links(cloth, topology, out); // counts them
    const size_t count = (size_t)out->stretch + out->shear + out->bend;
    out->ends = malloc(2 * count * sizeof *out->ends + 1);
    if (out->ends == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %zu links of cloth", count);
    }
    list_links(cloth, topology, out);
    return MOTE_OK;
}
