// SPDX-License-Identifier: MIT
// mesh_topology.c - how a mesh hangs together, said of welded vertices, and what can be mended of it.
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include "base/stop.h"
#include <stdlib.h>
#include <string.h>

// ---- Edges -----------------------------------------------------------------------------------------------------

static int compare_edges(const void *a, const void *b)
{
    const MeshEdge *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    return x->triangle < y->triangle ? -1 : x->triangle > y->triangle;
}

MoteResult mesh_edges(const Mesh *mesh, const uint32_t *groups, MeshEdge **edges, size_t *count)
{
    *count = 0;
    *edges = malloc((3 * (size_t)mesh->triangle_count + 1) * sizeof **edges);
    if (*edges == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the edges of %u triangles", mesh->triangle_count);
    }
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        uint32_t corner[3];
        for (uint32_t k = 0; k < 3; k++) {
            corner[k] = groups[mesh->triangles[3 * (size_t)t + k]];
        }
        if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) {
            continue;
        }
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t from = corner[k], to = corner[(k + 1) % 3];
            (*edges)[(*count)++] = (MeshEdge){from < to ? from : to, from < to ? to : from, t, from < to ? 1u : 0u};
        }
    }
    qsort(*edges, *count, sizeof **edges, compare_edges);
    return MOTE_OK;
}

size_t edge_run(const MeshEdge *edges, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && edges[end].low == edges[first].low && edges[end].high == edges[first].high) {
        end++;
    }
    return end - first;
}

// Welded groups and sorted edges, which everything here begins with.
typedef struct Topology {
    uint32_t *groups, group_count;
    MeshEdge *edges;
    size_t edge_count;
} Topology;

static void topology_free(Topology *topology)
{
    free(topology->groups);
    free(topology->edges);
    *topology = (Topology){0};
}

static MoteResult topology_make(const Mesh *mesh, Topology *out)
{
    *out = (Topology){.groups = malloc(((size_t)mesh->vertex_count + 1) * sizeof(uint32_t))};
    MoteResult result = out->groups != NULL
                            ? mesh_weld(mesh, out->groups, &out->group_count)
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory to weld %u vertices", mesh->vertex_count);
    if (result == MOTE_OK) {
        result = mesh_edges(mesh, out->groups, &out->edges, &out->edge_count);
    }
    result = result == MOTE_OK ? stop_check() : result;
    if (result != MOTE_OK) {
        topology_free(out);
    }
    return result;
}

// ---- Sets of things that touch ---------------------------------------------------------------------------------

static uint32_t find_root(uint32_t *parents, uint32_t i)
{
    while (parents[i] != i) {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    return i;
}

static void join(uint32_t *parents, uint32_t a, uint32_t b)
{
    a = find_root(parents, a);
    b = find_root(parents, b);
    parents[a > b ? a : b] = a > b ? b : a;
}

static MoteResult number_components(const Mesh *mesh, const Topology *topology, uint32_t *components, uint32_t *count)
{
    uint32_t *parents = malloc(((size_t)topology->group_count + 1) * sizeof *parents);
    uint32_t *numbers = malloc(((size_t)topology->group_count + 1) * sizeof *numbers);
    if (parents == NULL || numbers == NULL) {
        free(parents);
        free(numbers);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the components of %u triangles", mesh->triangle_count);
    }
    for (uint32_t g = 0; g < topology->group_count; g++) {
        parents[g] = g;
        numbers[g] = UINT32_MAX;
    }
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        components[t] = UINT32_MAX;
    }
    for (size_t e = 0; e < topology->edge_count; e++) {
        join(parents, topology->edges[e].low, topology->edges[e].high);
        components[topology->edges[e].triangle] = 0;
    }
    *count = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (components[t] == 0) {
            const uint32_t root = find_root(parents, topology->groups[mesh->triangles[3 * (size_t)t]]);
            numbers[root] = numbers[root] == UINT32_MAX ? (*count)++ : numbers[root];
            components[t] = numbers[root];
        }
    }
    free(numbers);
    free(parents);
    return MOTE_OK;
}

MoteResult mesh_components(const Mesh *mesh, uint32_t *components, uint32_t *count)
{
    Topology topology;
    MoteResult result = topology_make(mesh, &topology);
    if (result == MOTE_OK) {
        result = number_components(mesh, &topology, components, count);
        topology_free(&topology);
    }
    return result;
}

// ---- Report ----------------------------------------------------------------------------------------------------

// Six times the signed volume between a triangle and a point.
static double volume_part(const Mesh *mesh, uint32_t t, DVec3 about)
{
    const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
    const DVec3 a = dvec3_sub(dvec3_from(mesh->positions[corner[0]]), about);
    const DVec3 b = dvec3_sub(dvec3_from(mesh->positions[corner[1]]), about);
    const DVec3 c = dvec3_sub(dvec3_from(mesh->positions[corner[2]]), about);
    return dvec3_dot(a, dvec3_cross(b, c));
}

static void bounds(const Mesh *mesh, DVec3 *bounds_min, DVec3 *bounds_max)
{
    *bounds_min = *bounds_max = mesh->vertex_count > 0 ? dvec3_from(mesh->positions[0]) : dvec3(0, 0, 0);
    for (uint32_t v = 1; v < mesh->vertex_count; v++) {
        *bounds_min = dvec3_min(*bounds_min, dvec3_from(mesh->positions[v]));
        *bounds_max = dvec3_max(*bounds_max, dvec3_from(mesh->positions[v]));
    }
}

MoteResult mesh_report(const Mesh *mesh, MeshReport *report)
{
    *report = (MeshReport){.consistently_oriented = true};
    Topology topology;
    MoteResult result = topology_make(mesh, &topology);
    if (result != MOTE_OK) {
        return result;
    }
    uint32_t *components = malloc(((size_t)mesh->triangle_count + 1) * sizeof *components);
    result = components != NULL
                 ? number_components(mesh, &topology, components, &report->components)
                 : mote_fail(MOTE_ERROR_MEMORY, "no memory for the components of %u triangles", mesh->triangle_count);
    free(components);
    for (size_t e = 0; e < topology.edge_count;) {
        const size_t run = edge_run(topology.edges, topology.edge_count, e);
        int balance = 0;
        for (size_t i = e; i < e + run; i++) {
            balance += topology.edges[i].forward ? 1 : -1;
        }
        report->boundary_edges += run == 1;
        report->non_manifold_edges += run > 2;
        report->consistently_oriented &= run == 1 || balance == 0 || (run > 2 && run % 2 == 1);
        e += run;
    }
    DVec3 bounds_min, bounds_max;
    bounds(mesh, &bounds_min, &bounds_max);
    const DVec3 centre = dvec3_scale(dvec3_add(bounds_min, bounds_max), 0.5);
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const double twice = dvec3_length(triangle_cross(mesh, t));
        report->area += 0.5 * twice;
        report->degenerate_triangles += !(twice > 0.0);
        report->volume += volume_part(mesh, t, centre) / 6.0;
    }
    report->bounds_min = dvec3_round(bounds_min);
    report->bounds_max = dvec3_round(bounds_max);
    report->closed = report->boundary_edges == 0;
    report->manifold = report->non_manifold_edges == 0;
    topology_free(&topology);
    return result;
}

// ---- Holes -----------------------------------------------------------------------------------------------------

typedef struct HoleEdge {
    uint32_t from, to; // welded, against the direction of its triangle: in that of the fan
    uint32_t from_vertex, to_vertex;
} HoleEdge;

static int compare_hole_edges(const void *a, const void *b)
{
    const HoleEdge *x = a, *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return x->to < y->to ? -1 : x->to > y->to;
}

// The first edge that leaves `from`, or NULL.
static HoleEdge *edge_from(HoleEdge *edges, size_t count, uint32_t from)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (edges[middle].from < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && edges[low].from == from ? &edges[low] : NULL;
}

static uint32_t vertex_of_group(const Mesh *mesh, const Topology *topology, uint32_t triangle, uint32_t group)
{
    const uint32_t *corner = mesh->triangles + 3 * (size_t)triangle;
    for (uint32_t k = 0; k < 2; k++) {
        if (topology->groups[corner[k]] == group) {
            return corner[k];
        }
    }
    return corner[2];
}

static size_t list_hole_edges(const Mesh *mesh, const Topology *topology, HoleEdge *edges)
{
    size_t count = 0;
    for (size_t e = 0; e < topology->edge_count;) {
        const size_t run = edge_run(topology->edges, topology->edge_count, e);
        const MeshEdge *edge = &topology->edges[e];
        if (run == 1) {
            HoleEdge hole = {edge->forward ? edge->high : edge->low, edge->forward ? edge->low : edge->high, 0, 0};
            hole.from_vertex = vertex_of_group(mesh, topology, edge->triangle, hole.from);
            hole.to_vertex = vertex_of_group(mesh, topology, edge->triangle, hole.to);
            edges[count++] = hole;
        }
        e += run;
    }
    qsort(edges, count, sizeof *edges, compare_hole_edges);
    return count;
}

// Fans over the loops, appended to `mesh`, which has room for them. False where an edge has no way on.
static bool append_fans(Mesh *mesh, HoleEdge *edges, size_t count, uint8_t *used, uint32_t *loop, uint32_t *fans)
{
    for (size_t start = 0; start < count; start++) {
        if (used[start]) {
            continue;
        }
        size_t length_of_loop = 0;
        DVec3 sum = {0, 0, 0};
        for (HoleEdge *edge = &edges[start]; edge != NULL && !used[edge - edges];) {
            used[edge - edges] = 1;
            loop[length_of_loop++] = edge->from_vertex;
            sum = dvec3_add(sum, dvec3_from(mesh->positions[edge->from_vertex]));
            const uint32_t to = edge->to;
            // Where loops touch in a vertex, any unused way on will do.
            edge = edge_from(edges, count, to);
            while (edge != NULL && used[edge - edges]) {
                const HoleEdge *next = edge + 1;
                edge = next < edges + count && next->from == to ? edge + 1 : NULL;
            }
            if (edge == NULL && to != edges[start].from) {
                return false;
            }
        }
        const uint32_t centre = mesh->vertex_count;
        mesh->positions[centre] = dvec3_round(dvec3_scale(sum, 1.0 / (double)length_of_loop));
        if (mesh->uvs != NULL) {
            memcpy(mesh->uvs + 2 * (size_t)centre, mesh->uvs + 2 * (size_t)loop[0], 2 * sizeof *mesh->uvs);
        }
        mesh->vertex_count++;
        for (size_t i = 0; i < length_of_loop; i++) {
            uint32_t *corner = mesh->triangles + 3 * (size_t)mesh->triangle_count++;
            corner[0] = loop[i];
            corner[1] = loop[(i + 1) % length_of_loop];
            corner[2] = centre;
        }
        (*fans)++;
    }
    return true;
}

static double area_of(const Mesh *mesh, uint32_t first, uint32_t end)
{
    double area = 0.0;
    for (uint32_t t = first; t < end; t++) {
        area += 0.5 * dvec3_length(triangle_cross(mesh, t));
    }
    return area;
}

// `mesh` with fans over all holes in `out`, a new mesh.
static MoteResult with_fans(const Mesh *mesh, const char *name, double share, HoleEdge *edges, size_t count, Mesh *out,
                            uint32_t *fans)
{
    MoteResult result = mesh_make(mesh->vertex_count + (uint32_t)count, mesh->triangle_count + (uint32_t)count,
                                  mesh->uvs != NULL, name, out);
    if (result != MOTE_OK) {
        return result;
    }
    out->vertex_count = mesh->vertex_count;
    out->triangle_count = mesh->triangle_count;
    memcpy(out->positions, mesh->positions, (size_t)mesh->vertex_count * sizeof *out->positions);
    memcpy(out->triangles, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *out->triangles);
    if (mesh->uvs != NULL) {
        memcpy(out->uvs, mesh->uvs, 2 * (size_t)mesh->vertex_count * sizeof *out->uvs);
    }
    uint8_t *used = calloc(count, 1);
    uint32_t *loop = malloc(count * sizeof *loop);
    if (used == NULL || loop == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to close its holes", name);
    } else if (!append_fans(out, edges, count, used, loop, fans)) {
        result = mote_fail(MOTE_ERROR_INPUT,
                           "%s: found %zu boundary edges that do not form closed loops, expected a closed mesh", name,
                           count);
    } else {
        const double old_area = area_of(out, 0, mesh->triangle_count);
        const double new_area = area_of(out, mesh->triangle_count, out->triangle_count);
        if (new_area > share * (old_area + new_area)) {
            result = mote_fail(MOTE_ERROR_INPUT,
                               "%s: is open: %zu boundary edges around %u holes that make up %.1f %% of the area, "
                               "expected a closed mesh or holes of at most %.1f %%",
                               name, count, *fans, 100.0 * new_area / (old_area + new_area), 100.0 * share);
        }
    }
    free(loop);
    free(used);
    if (result != MOTE_OK) {
        mesh_free(out);
    }
    return result;
}

MoteResult mesh_close_holes(Mesh *mesh, double share, const char *name, uint32_t *closed)
{
    uint32_t fans = 0;
    Topology topology;
    MoteResult result = topology_make(mesh, &topology);
    if (result != MOTE_OK) {
        return result;
    }
    HoleEdge *edges = malloc((topology.edge_count + 1) * sizeof *edges);
    if (edges == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to close its holes", name);
    } else {
        const size_t count = list_hole_edges(mesh, &topology, edges);
        Mesh mended;
        if (count > 0) {
            result = with_fans(mesh, name, share, edges, count, &mended, &fans);
        }
        if (count > 0 && result == MOTE_OK) {
            const bool normals = mesh->normals != NULL;
            mesh_free(mesh);
            *mesh = mended;
            result = normals ? mesh_make_normals(mesh, MESH_CREASE) : MOTE_OK;
        }
    }
    free(edges);
    topology_free(&topology);
    if (closed != NULL) {
        *closed = result == MOTE_OK ? fans : 0;
    }
    return result;
}

// ---- Orientation -----------------------------------------------------------------------------------------------

static void flip(Mesh *mesh, uint32_t t)
{
    uint32_t *corner = mesh->triangles + 3 * (size_t)t;
    const uint32_t other = corner[1];
    corner[1] = corner[2];
    corner[2] = other;
}

// Each triangle's neighbour over its manifold edges, with whether both run along the edge the same way (which
// neighbours should not): 2 * neighbour + same, or UINT64_MAX.
static uint64_t *manifold_neighbours(const Mesh *mesh, const Topology *topology)
{
    uint64_t *neighbours = malloc((3 * (size_t)mesh->triangle_count + 1) * sizeof *neighbours);
    uint8_t *filled = calloc((size_t)mesh->triangle_count + 1, 1);
    if (neighbours != NULL && filled != NULL) {
        memset(neighbours, 0xff, 3 * (size_t)mesh->triangle_count * sizeof *neighbours);
        for (size_t e = 0; e < topology->edge_count;) {
            const size_t run = edge_run(topology->edges, topology->edge_count, e);
            const MeshEdge *a = &topology->edges[e], *b = a + 1;
            if (run == 2) {
                const uint64_t same = a->forward == b->forward;
                neighbours[3 * (size_t)a->triangle + filled[a->triangle]++] = 2 * (uint64_t)b->triangle + same;
                neighbours[3 * (size_t)b->triangle + filled[b->triangle]++] = 2 * (uint64_t)a->triangle + same;
            }
            e += run;
        }
    } else {
        free(neighbours);
        neighbours = NULL;
    }
    free(filled);
    return neighbours;
}

// Triangles of a patch get the direction that most of them have.
static MoteResult orient_patches(Mesh *mesh, const Topology *topology)
{
    uint64_t *neighbours = manifold_neighbours(mesh, topology);
    uint32_t *queue = malloc(((size_t)mesh->triangle_count + 1) * sizeof *queue);
    uint8_t *state = calloc((size_t)mesh->triangle_count + 1, 1); // bit 0: seen, bit 1: to be flipped
    if (neighbours == NULL || queue == NULL || state == NULL) {
        free(neighbours);
        free(queue);
        free(state);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to orient %u triangles", mesh->triangle_count);
    }
    for (uint32_t start = 0; start < mesh->triangle_count; start++) {
        if (state[start] != 0) {
            continue;
        }
        uint32_t head = 0, tail = 0, flipped = 0;
        queue[tail++] = start;
        state[start] = 1;
        while (head < tail) {
            const uint32_t t = queue[head++];
            flipped += state[t] >> 1;
            for (uint32_t k = 0; k < 3; k++) {
                const uint64_t link = neighbours[3 * (size_t)t + k];
                if (link != UINT64_MAX && state[link / 2] == 0) {
                    state[link / 2] = (uint8_t)(1u | (((state[t] >> 1) ^ (link & 1u)) << 1));
                    queue[tail++] = (uint32_t)(link / 2);
                }
            }
        }
        const uint32_t wanted = 2 * flipped > tail ? 0u : 1u;
        for (uint32_t i = 0; i < tail; i++) {
            if ((uint32_t)(state[queue[i]] >> 1) == wanted) {
                flip(mesh, queue[i]);
            }
        }
    }
    free(neighbours);
    free(queue);
    free(state);
    return MOTE_OK;
}

// The winding number of all components but one at a point (Van Oosterom and Strackee 1983).
static double winding_without(const Mesh *mesh, const uint32_t *components, uint32_t without, DVec3 p)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (components[t] == without || components[t] == UINT32_MAX) {
            continue;
        }
        const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
        const DVec3 a = dvec3_sub(dvec3_from(mesh->positions[corner[0]]), p);
        const DVec3 b = dvec3_sub(dvec3_from(mesh->positions[corner[1]]), p);
        const DVec3 c = dvec3_sub(dvec3_from(mesh->positions[corner[2]]), p);
        const double la = dvec3_length(a), lb = dvec3_length(b), lc = dvec3_length(c);
        sum += atan2(dvec3_dot(a, dvec3_cross(b, c)),
                     la * lb * lc + dvec3_dot(a, b) * lc + dvec3_dot(b, c) * la + dvec3_dot(c, a) * lb);
    }
    return sum / (2.0 * 3.14159265358979323846);
}

enum { CAVITY_COMPONENTS = 256, CAVITY_SAMPLES = 8 }; // more components than that are not looked at for cavities

static bool is_cavity(const Mesh *mesh, const uint32_t *components, uint32_t component, uint32_t size)
{
    const uint32_t stride = size / CAVITY_SAMPLES + 1;
    uint32_t seen = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (components[t] == component && seen++ % stride == 0 &&
            winding_without(mesh, components, component, dvec3_from(mesh->positions[mesh->triangles[3 * (size_t)t]])) <
                0.5) {
            return false;
        }
    }
    return true;
}

static void orient_components(Mesh *mesh, const uint32_t *components, uint32_t count, double *volumes, uint32_t *sizes)
{
    DVec3 bounds_min, bounds_max;
    bounds(mesh, &bounds_min, &bounds_max);
    const DVec3 centre = dvec3_scale(dvec3_add(bounds_min, bounds_max), 0.5);
    double total = 0.0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (components[t] != UINT32_MAX) {
            volumes[components[t]] += volume_part(mesh, t, centre);
            sizes[components[t]]++;
            total += volume_part(mesh, t, centre);
        }
    }
    const double sign = total < 0.0 ? -1.0 : 1.0;
    for (uint32_t t = 0; t < mesh->triangle_count && sign < 0.0; t++) {
        flip(mesh, t);
    }
    for (uint32_t c = 0; c < count; c++) {
        if (volumes[c] * sign >= 0.0 ||
            (count > 1 && count <= CAVITY_COMPONENTS && is_cavity(mesh, components, c, sizes[c]))) {
            continue;
        }
        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            if (components[t] == c) {
                flip(mesh, t);
            }
        }
    }
}

MoteResult mesh_orient(Mesh *mesh)
{
    Topology topology;
    MoteResult result = topology_make(mesh, &topology);
    if (result != MOTE_OK) {
        return result;
    }
    result = orient_patches(mesh, &topology);
    uint32_t *components = malloc(((size_t)mesh->triangle_count + 1) * sizeof *components);
    uint32_t count = 0;
    if (result == MOTE_OK) {
        result = components != NULL
                     ? number_components(mesh, &topology, components, &count)
                     : mote_fail(MOTE_ERROR_MEMORY, "no memory to orient %u triangles", mesh->triangle_count);
    }
    if (result == MOTE_OK) {
        double *volumes = calloc((size_t)count + 1, sizeof *volumes);
        uint32_t *sizes = calloc((size_t)count + 1, sizeof *sizes);
        if (volumes != NULL && sizes != NULL) {
            orient_components(mesh, components, count, volumes, sizes);
        } else {
            result = mote_fail(MOTE_ERROR_MEMORY, "no memory to orient %u components", count);
        }
        free(volumes);
        free(sizes);
    }
    free(components);
    topology_free(&topology);
    return result;
}

MoteResult mesh_solid(const Mesh *mesh, const char *name, Mesh *out)
{
    MoteResult result = mesh_copy(mesh, out);
    if (result != MOTE_OK) {
        return result;
    }
    free(out->normals); // made anew where they are wanted
    out->normals = NULL;
    result = mesh_tidy(out, name);
    if (result == MOTE_OK) {
        result = mesh_close_holes(out, MESH_HOLE_SHARE, name, NULL);
    }
    if (result == MOTE_OK) {
        result = mesh_orient(out);
    }
    if (result != MOTE_OK) {
        mesh_free(out);
    }
    return result;
}
