// SPDX-License-Identifier: MIT
// cloth_tearing.c - tearing of cloth (kernels/cloth/tearing.h): where links are attached to the mesh, room for copies
// of vertices, and the launches at the end of a step.
#include "solver/cloth_tearing.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- What can tear -----------------------------------------------------------------------------------------

MoteResult cloth_check_tearing(const MoteCloth *cloth)
{
    const float stretch = cloth->tear_stretch, variation = cloth->tear_variation;
    if (stretch != 0.0f && (!(stretch > 1.0f) || !isfinite(stretch))) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth tears at a stretch of %g, expected more than 1, or 0 for never",
                         (double)stretch);
    }
    if (!(variation >= 0.0f) || variation > 1.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth's tearing varies by %g, expected 0 to 1", (double)variation);
    }
    const uint64_t most = 3 * (uint64_t)cloth->triangle_count;
    if (stretch != 0.0f && cloth->tear_room > most) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "the cloth has room for %u splits, expected at most %llu, the corners of its triangles",
                         cloth->tear_room, (unsigned long long)most);
    }
    return MOTE_OK;
}

// Without a number: half as many as there are vertices, unless fewer take the mesh apart into single triangles.
uint32_t cloth_tear_room(const MoteCloth *cloth)
{
    if (cloth->tear_stretch <= 0.0f) {
        return 0;
    }
    const uint64_t apart = 3 * (uint64_t)cloth->triangle_count - cloth->vertex_count;
    const uint64_t half = cloth->vertex_count / 2 + 64;
    return cloth->tear_room > 0 ? cloth->tear_room : (uint32_t)(half < apart ? half : apart);
}

static double area_of(const MoteVec3 *p, const uint32_t *corners)
{
    const MoteVec3 a = p[corners[0]], b = p[corners[1]], c = p[corners[2]];
    const double ux = (double)b.x - a.x, uy = (double)b.y - a.y, uz = (double)b.z - a.z;
    const double vx = (double)c.x - a.x, vy = (double)c.y - a.y, vz = (double)c.z - a.z;
    const double x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    return 0.5 * sqrt(x * x + y * y + z * z);
}

float cloth_torn_inverse_mass(const MoteCloth *cloth, const ClothTopology *topology, const MoteVec3 *rest,
                              const float *masses)
{
    double largest = 0.0;
    for (uint32_t v = 0; v < cloth->vertex_count; v++) {
        double sum = 0.0, least = INFINITY;
        for (uint32_t k = topology->fan_starts[v]; k < topology->fan_starts[v + 1]; k++) {
            const double area = area_of(rest, cloth->triangles + topology->fans[k] / 3 * 3);
            sum += area;
            least = fmin(least, area);
        }
        if (masses[v] > 0.0f) {
            largest = fmax(largest, sum / least / (double)masses[v]);
        }
    }
    return (float)(largest * 1.001); // shares are rounded
}

// ---- Seams -------------------------------------------------------------------------------------------------

void cloth_seams_free(ClothSeams *seams)
{
    free(seams->links);
    free(seams->twins);
    free(seams->twinned);
    *seams = (ClothSeams){0};
}

static uint32_t corner_of(const MoteCloth *cloth, uint32_t triangle, uint32_t vertex)
{
    const uint32_t *corners = cloth->triangles + 3 * (size_t)triangle;
    return 3 * triangle + (corners[0] == vertex ? 0 : corners[1] == vertex ? 1 : 2);
}

static int compare_edges(const void *a, const void *b)
{
    const uint32_t *x = ((const ClothEdge *)a)->vertices, *y = ((const ClothEdge *)b)->vertices;
    const uint32_t x_low = x[0] < x[1] ? x[0] : x[1], y_low = y[0] < y[1] ? y[0] : y[1];
    const uint32_t x_high = x[0] < x[1] ? x[1] : x[0], y_high = y[0] < y[1] ? y[1] : y[0];
    return x_low != y_low ? (x_low < y_low ? -1 : 1) : x_high < y_high ? -1 : x_high > y_high;
}

static const ClothEdge *find_edge(const ClothTopology *topology, uint32_t a, uint32_t b)
{
    const ClothEdge key = {.vertices = {a, b}};
    return bsearch(&key, topology->edges, topology->edge_count, sizeof key, compare_edges);
}

static MoteResult no_edge(uint32_t a, uint32_t b)
{
    return mote_fail(
        MOTE_ERROR_INPUT,
        "the cloth has no edge between two triangles from vertex %u to %u, expected a grid whose triangles "
        "follow its rows and columns, as it tears",
        a, b);
}

// A link along an edge is attached to its first triangle, the twin to its second one.
static void add_edge_link(const MoteCloth *cloth, const ClothEdge *edge, uint32_t a, uint32_t b, uint32_t link,
                          ClothSeams *seams)
{
    uint32_t *seam = seams->links + SEAM_CORNERS * (size_t)link;
    seam[0] = corner_of(cloth, edge->triangles[0], a);
    seam[1] = corner_of(cloth, edge->triangles[0], b);
    seam[2] = seam[3] = seam[4] = seam[5] = MOTE_NONE;
    if (edge->triangles[1] != MOTE_NONE) {
        uint32_t *twin = seams->twins + SEAM_CORNERS * (size_t)seams->twin_count;
        seams->twinned[seams->twin_count++] = link;
        twin[2] = seam[0];
        twin[3] = twin[0] = corner_of(cloth, edge->triangles[1], a);
        twin[4] = seam[1];
        twin[5] = twin[1] = corner_of(cloth, edge->triangles[1], b);
        twin[0] |= TEAR_TWIN;
    }
}

// A link across an edge, from `a` in one of its triangles to `b` in the other one.
static MoteResult add_cross_link(const MoteCloth *cloth, const ClothEdge *edge, uint32_t a, uint32_t b, uint32_t *seam)
{
    if (edge == NULL || edge->triangles[1] == MOTE_NONE) {
        return no_edge(a, b);
    }
    const uint32_t of_a = edge->opposite[0] == a ? 0 : 1;
    if (edge->opposite[of_a] != a || edge->opposite[1 - of_a] != b) {
        return no_edge(a, b);
    }
    seam[0] = corner_of(cloth, edge->triangles[of_a], a);
    seam[1] = corner_of(cloth, edge->triangles[1 - of_a], b);
    for (uint32_t k = 0; k < 2; k++) {
        seam[2 + 2 * k] = corner_of(cloth, edge->triangles[0], edge->vertices[k]);
        seam[3 + 2 * k] = corner_of(cloth, edge->triangles[1], edge->vertices[k]);
    }
    return MOTE_OK;
}

// A grid's link over the vertex in the middle, along two edges.
static MoteResult add_grid_bend(const MoteCloth *cloth, const ClothTopology *topology, uint32_t a, uint32_t b,
                                uint32_t *seam)
{
    const uint32_t middle = a + (b - a) / 2;
    const ClothEdge *first = find_edge(topology, a, middle), *second = find_edge(topology, middle, b);
    if (first == NULL || second == NULL) {
        return first == NULL ? no_edge(a, middle) : no_edge(middle, b);
    }
    seam[0] = corner_of(cloth, first->triangles[0], a);
    seam[1] = corner_of(cloth, second->triangles[0], b);
    seam[2] = corner_of(cloth, first->triangles[0], middle);
    seam[3] = corner_of(cloth, second->triangles[0], middle);
    seam[4] = seam[5] = MOTE_NONE;
    return MOTE_OK;
}

static MoteResult attach_grid_links(const MoteCloth *cloth, const ClothTopology *topology, const ClothLinks *links,
                                    ClothSeams *seams)
{
    MoteResult result = MOTE_OK;
    const uint32_t shear = links->stretch, bend = shear + links->shear, columns = cloth->columns;
    for (uint32_t l = 0; l < bend + links->bend && result == MOTE_OK; l++) {
        const uint32_t a = links->ends[2 * (size_t)l], b = links->ends[2 * (size_t)l + 1];
        uint32_t *seam = seams->links + SEAM_CORNERS * (size_t)l;
        const ClothEdge *edge = l < bend ? find_edge(topology, a, b) : NULL;
        if (edge != NULL) {
            add_edge_link(cloth, edge, a, b, l, seams);
        } else if (l < shear) {
            result = no_edge(a, b);
        } else if (l < bend) { // the other diagonal of its quad is the edge
            const uint32_t c = a / columns * columns + b % columns, d = b / columns * columns + a % columns;
            result = add_cross_link(cloth, find_edge(topology, c, d), a, b, seam);
        } else {
            result = add_grid_bend(cloth, topology, a, b, seam);
        }
    }
    return result;
}

// In the order of list_mesh_links (cloth_topology.c).
static MoteResult attach_mesh_links(const MoteCloth *cloth, const ClothTopology *topology, const ClothLinks *links,
                                    ClothSeams *seams)
{
    MoteResult result = MOTE_OK;
    uint32_t link = 0;
    for (uint32_t e = 0; e < topology->edge_count; e++) {
        const ClothEdge *edge = &topology->edges[e];
        add_edge_link(cloth, edge, edge->vertices[0], edge->vertices[1], link++, seams);
    }
    for (uint32_t e = 0; e < topology->edge_count && link < links->stretch + links->bend && result == MOTE_OK; e++) {
        const ClothEdge *edge = &topology->edges[e];
        if (edge->triangles[1] != MOTE_NONE && edge->opposite[0] != edge->opposite[1]) {
            result = add_cross_link(cloth, edge, edge->opposite[0], edge->opposite[1],
                                    seams->links + SEAM_CORNERS * (size_t)link++);
        }
    }
    return result;
}

// How many triangles a walk around a vertex meets from one of its corners on, across edges one way.
static uint32_t walk_fan(const MoteCloth *cloth, const ClothTopology *topology, uint32_t vertex, bool forward)
{
    const uint32_t first = topology->fan_starts[vertex], end = topology->fan_starts[vertex + 1];
    uint32_t at = first, met = 1;
    for (bool found = true; found && met <= end - first;) {
        const uint32_t c = topology->fans[at];
        const uint32_t across = cloth->triangles[c / 3 * 3 + (c + (forward ? 2 : 1)) % 3];
        found = false;
        for (uint32_t k = first; k < end && !found; k++) {
            const uint32_t d = topology->fans[k];
            found = k != at && cloth->triangles[d / 3 * 3 + (d + (forward ? 1 : 2)) % 3] == across;
            if (found && k == first) {
                return met; // all the way round
            }
            at = found ? k : at;
        }
        met += found;
    }
    return met;
}

static MoteResult check_fans(const MoteCloth *cloth, const ClothTopology *topology)
{
    for (uint32_t v = 0; v < cloth->vertex_count; v++) {
        const uint32_t all = topology->fan_starts[v + 1] - topology->fan_starts[v];
        const uint32_t ahead = walk_fan(cloth, topology, v, true);
        if (ahead < all && ahead + walk_fan(cloth, topology, v, false) - 1 != all) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "the triangles around vertex %u of the cloth do not hang together by edges, expected a "
                             "manifold mesh, as it tears",
                             v);
        }
    }
    return MOTE_OK;
}

// Corners count from 0, as the cloth's own triangles do. % of a corner is right as each triangle has three.
MoteResult cloth_seams_make(const MoteCloth *cloth, const ClothTopology *topology, const ClothLinks *links,
                            ClothSeams *out)
{
    *out = (ClothSeams){0};
    if (cloth->tear_stretch <= 0.0f) {
        return MOTE_OK;
    }
    const size_t count = (size_t)links->stretch + links->shear + links->bend;
    const size_t twins = (size_t)links->stretch + links->shear;
    out->links = malloc(SEAM_CORNERS * count * sizeof *out->links + 1);
    out->twins = malloc(SEAM_CORNERS * twins * sizeof *out->twins + 1);
    out->twinned = malloc(twins * sizeof *out->twinned + 1);
    if (out->links == NULL || out->twins == NULL || out->twinned == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %zu links of cloth that tears", count);
    }
    const MoteResult result = check_fans(cloth, topology);
    return result != MOTE_OK    ? result
           : cloth->columns > 0 ? attach_grid_links(cloth, topology, links, out)
                                : attach_mesh_links(cloth, topology, links, out);
}

// ---- Tethers -----------------------------------------------------------------------------------------------

typedef struct TetherTable {
    const bool *pinned;
    uint32_t *pins;
    float *lengths;
} TetherTable;

// As holds_tether of kernels/cloth/tearing.h.
static bool neighbour_holds(const TetherTable *t, uint32_t other, uint32_t pin, float length)
{
    bool holds = t->pinned[other];
    for (size_t k = 0; k < 2; k++) {
        holds = holds || (t->pins[2 * (size_t)other + k] == pin && t->lengths[2 * (size_t)other + k] < length);
    }
    return holds;
}

void cloth_drop_loose_tethers(const MoteCloth *cloth, const bool *pinned, uint32_t *pins, float *lengths)
{
    const TetherTable table = {pinned, pins, lengths};
    const size_t tethers = 2 * (size_t)cloth->vertex_count;
    bool *held = calloc(tethers, sizeof *held);
    for (bool changed = held != NULL; changed;) {
        changed = false;
        memset(held, 0, tethers * sizeof *held);
        for (size_t c = 0; c < 3 * (size_t)cloth->triangle_count; c++) {
            for (size_t n = 1; n < 3; n++) {
                const uint32_t v = cloth->triangles[c], other = cloth->triangles[c / 3 * 3 + (c + n) % 3];
                for (size_t t = 2 * (size_t)v; t < 2 * (size_t)v + 2; t++) {
                    held[t] = held[t] || neighbour_holds(&table, other, pins[t], lengths[t]);
                }
            }
        }
        for (size_t t = 0; t < tethers; t++) {
            const bool loose = pins[t] != MOTE_NONE && !held[t];
            pins[t] = loose ? MOTE_NONE : pins[t];
            changed = changed || loose;
        }
    }
    free(held);
}

// ---- Tables ------------------------------------------------------------------------------------------------

MoteResult world_reserve_tearing(MoteWorld *world, const TearTables *tables, uint64_t links)
{
    const SolverData *view = &world->view;
    const uint64_t cloths = view->cloth_count, vertices = view->cloth_vertex_count;
    const uint64_t v = vertices + tables->cloth->vertex_count + tables->room;
    const uint64_t corners = 3 * (uint64_t)view->cloth_triangle_count;
    const uint64_t kept = tables->first ? 0 : 1; // what there is not yet is not kept
    MoteResult result = world_reserve(world, CAPACITY_TEARING_CLOTHS, cloths + 1, kept * cloths);
    result = result == MOTE_OK
                 ? world_reserve(world, CAPACITY_TEAR_ROWS, TEAR_WORDS * (cloths + 1), kept * TEAR_WORDS * cloths)
                 : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TEAR_COUNTS, TEAR_COUNT_WORDS * (cloths + 1),
                                               kept * TEAR_COUNT_WORDS * cloths)
                               : result;
    result =
        result == MOTE_OK ? world_reserve(world, CAPACITY_TEAR_FLAGS, TEAR_FLAG_ALL, kept * TEAR_FLAG_ALL) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TEARING_VERTICES, v, kept * vertices) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TEARING_VERTICES_AND_ONE, v + 1, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TEARING_CORNERS,
                                               corners + 3 * (uint64_t)tables->cloth->triangle_count, kept * corners)
                               : result;
    return result == MOTE_OK ? world_reserve(world, CAPACITY_LINK_ANCHORS, 3 * links, 0) : result;
}

// Rows of vertices and corners from `first` on that are whole: each vertex is its own root.
static MoteResult upload_whole(MoteWorld *world, uint32_t first_row, uint32_t rows, uint32_t first_corner,
                               uint32_t corners)
{
    const SolverData *view = &world->view;
    const size_t most = rows > corners ? rows : corners;
    uint32_t *words = malloc(most * sizeof *words + 1);
    if (words == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth that tears");
    }
    void (*const upload)(Backend *, void *, const void *, size_t) = world->backend->functions->upload;
    memset(words, 0, most * sizeof *words);
    upload(world->backend, view->tether_cuts + first_row, words, rows * sizeof *words);
    upload(world->backend, view->tether_marks + first_row, words, rows * sizeof *words);
    memset(words, 0xff, most * sizeof *words);
    upload(world->backend, view->tear_copies + first_row, words, rows * sizeof *words);
    upload(world->backend, view->cloth_nodes + first_row, words, rows * sizeof *words);
    upload(world->backend, view->tear_moves + first_corner, words, corners * sizeof *words);
    for (uint32_t i = 0; i < rows; i++) {
        words[i] = first_row + i;
    }
    upload(world->backend, view->cloth_roots + first_row, words, rows * sizeof *words);
    free(words);
    return MOTE_OK;
}

// The cloths before that do not tear get rows that say so.
static void upload_untearing(MoteWorld *world, uint32_t index)
{
    const vec4 law = v4(0.0f, 0.0f, 0.0f, 0.0f);
    const uint words[TEAR_WORDS] = {0}, counts[TEAR_COUNT_WORDS] = {0};
    const SolverData *view = &world->view;
    void (*const upload)(Backend *, void *, const void *, size_t) = world->backend->functions->upload;
    upload(world->backend, view->tear_laws + index, &law, sizeof law);
    upload(world->backend, view->tear_rows + TEAR_WORDS * (size_t)index, words, sizeof words);
    upload(world->backend, view->tear_counts + TEAR_COUNT_WORDS * (size_t)index, counts, sizeof counts);
}

// What is uploaded behind the tables' ends does not count before the counts do.
MoteResult world_fill_tearing(MoteWorld *world, const TearTables *tables)
{
    const SolverData *view = &world->view;
    const MoteCloth *cloth = tables->cloth;
    void (*const upload)(Backend *, void *, const void *, size_t) = world->backend->functions->upload;
    const uint32_t index = view->cloth_count, first = view->cloth_vertex_count;
    const uint32_t first_row = tables->first ? 0 : first,
                   first_corner = tables->first ? 0 : 3 * view->cloth_triangle_count;
    const MoteResult result =
        upload_whole(world, first_row, first + cloth->vertex_count + tables->room - first_row, first_corner,
                     3 * (view->cloth_triangle_count + cloth->triangle_count) - first_corner);
    if (result != MOTE_OK) {
        return result;
    }
    for (uint32_t c = tables->first ? 0 : index; c <= index; c++) {
        upload_untearing(world, c);
    }
    const vec4 law = v4(cloth->tear_stretch, cloth->tear_variation, 0.0f, 0.0f);
    const uint words[TEAR_WORDS] = {
        [TEAR_FIRST] = first,
        [TEAR_SPARE] = first + cloth->vertex_count,
        [TEAR_ROOM] = tables->room,
        [TEAR_BOUND] = cloth->tear_splits > 0 ? cloth->tear_splits : UINT32_MAX,
        [TEAR_COLUMNS] = cloth->columns,
    };
    upload(world->backend, view->tear_laws + index, &law, sizeof law);
    upload(world->backend, view->tear_rows + TEAR_WORDS * (size_t)index, words, sizeof words);
    if (tables->first) {
        const uint flags[TEAR_FLAG_ALL] = {0};
        upload(world->backend, view->tear_flags, flags, sizeof flags);
    }
    return world_check_backend(world);
}

// ---- Links -------------------------------------------------------------------------------------------------

void world_follow_corners(MoteWorld *world)
{
    if (world->view.tears != 0u && world->view.link_count > 0) {
        world->view.tear_all = 1;
        LAUNCH(world, follow_corners);
        world->view.tear_all = 0;
    }
}

void world_restore_link_ends(const MoteWorld *world, uvec2 *ends)
{
    for (uint32_t c = 0; c < world->view.cloth_count; c++) {
        const WorldCloth *cloth = &world->cloths[c];
        for (uint32_t s = 0; s < cloth->seam_count; s++) {
            ends[cloth->info.first_spring + s] =
                (uvec2){cloth->seam_handles[2 * (size_t)s], cloth->seam_handles[2 * (size_t)s + 1]};
        }
    }
}

// The node of each vertex that has links.
static MoteResult upload_nodes(MoteWorld *world)
{
    const SolverData *view = &world->view;
    const BackendFunctions *functions = world->backend->functions;
    const size_t rows = view->cloth_vertex_count, nodes = view->node_count, handles = view->handle_count;
    uint32_t *vertices = malloc(rows * sizeof *vertices + 1), *listed = malloc(nodes * sizeof *listed + 1);
    uint32_t *of_handles = malloc(handles * sizeof *of_handles + 1);
    const bool complete = vertices != NULL && listed != NULL && of_handles != NULL;
    if (complete) {
        memset(of_handles, 0xff, handles * sizeof *of_handles);
        functions->download(world->backend, vertices, view->cloth_handles, rows * sizeof *vertices);
        functions->download(world->backend, listed, view->node_handles, nodes * sizeof *listed);
        for (uint32_t n = 0; n < nodes; n++) {
            of_handles[world_handle_row(world, listed[n])] = n;
        }
        for (size_t v = 0; v < rows; v++) {
            vertices[v] = of_handles[world_handle_row(world, vertices[v])];
        }
        functions->upload(world->backend, view->cloth_nodes, vertices, rows * sizeof *vertices);
    }
    free(vertices);
    free(listed);
    free(of_handles);
    return complete ? world_check_backend(world) : mote_fail(MOTE_ERROR_MEMORY, "no memory for the links of a cloth");
}

MoteResult world_anchor_links(MoteWorld *world)
{
    const SolverData *view = &world->view;
    const size_t words = SEAM_CORNERS * (size_t)view->link_count;
    if (view->tears == 0u || view->link_count == 0) {
        return MOTE_OK;
    }
    uint32_t *anchors = malloc(words * sizeof *anchors);
    if (anchors == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the links of a cloth");
    }
    memset(anchors, 0xff, words * sizeof *anchors);
    for (uint32_t c = 0; c < view->cloth_count; c++) {
        const WorldCloth *cloth = &world->cloths[c];
        for (uint32_t s = 0; s < cloth->seam_count; s++) {
            const uint32_t row = world->link_rows[cloth->info.first_spring + s];
            memcpy(anchors + SEAM_CORNERS * (size_t)row, cloth->seams + SEAM_CORNERS * (size_t)s,
                   SEAM_CORNERS * sizeof *anchors);
        }
    }
    world->backend->functions->upload(world->backend, view->link_anchors, anchors, words * sizeof *anchors);
    free(anchors);
    const MoteResult result = upload_nodes(world);
    if (result == MOTE_OK) {
        world_follow_corners(world);
    }
    return result;
}

// ---- The end of a step -------------------------------------------------------------------------------------

static const uint32_t TETHER_RINGS = 4; // that cut tethers spread in a step

void world_plan_splits(MoteWorld *world)
{
    if (world->view.tears == 0u) {
        return;
    }
    LAUNCH(world, begin_tearing);
    LAUNCH(world, find_strained);
    LAUNCH(world, spread_keys);
    LAUNCH(world, choose_splits);
    if (!world_stops(world)) {
        world->backend->functions->scan(world->backend, world->view.tear_scan, world->view.cloth_vertex_count);
    }
    LAUNCH(world, plan_splits);
}

void world_finish_splits(MoteWorld *world)
{
    if (world->view.tears == 0u) {
        return;
    }
    LAUNCH(world, move_corners);
    LAUNCH(world, finish_copies);
    LAUNCH(world, count_splits);
    if (world->view.link_count > 0) {
        LAUNCH(world, follow_corners);
    }
    for (uint32_t n = 0; n < TETHER_RINGS && world->view.has_tethers != 0u; n++) {
        LAUNCH(world, find_cut_tethers);
        LAUNCH(world, cut_tethers);
    }
}

// ---- States ------------------------------------------------------------------------------------------------

MoteResult world_check_tearing(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    const SavedArray *roots = &snapshot->arrays[SAVED_cloth_roots], *counts = &snapshot->arrays[SAVED_tear_counts];
    for (uint64_t i = 0; i < roots->count; i++) {
        if (roots->words[i] > i) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "snapshot has vertex %u as the root of vertex %llu of cloth, expected "
                             "one that is not behind it",
                             roots->words[i], (unsigned long long)i);
        }
    }
    for (uint64_t c = 0; c < counts->count / TEAR_COUNT_WORDS; c++) {
        const uint32_t used = counts->words[TEAR_COUNT_WORDS * c + TEAR_USED], room = world->cloths[c].info.split_room;
        if (used > room) {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has %u splits of cloth %llu, expected at most %u", used,
                             (unsigned long long)c, room);
        }
    }
    return MOTE_OK;
}
