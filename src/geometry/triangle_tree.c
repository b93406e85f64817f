// SPDX-License-Identifier: MIT
// triangle_tree.c - built by halving the triangles at the median of the longest axis, so its depth is log2 of them.
#include "geometry/triangle_tree.h"

#include "base/error.h"
#include "geometry/mesh_internal.h"
#include <stdlib.h>

enum { LEAF_TRIANGLES = 4, STACK = 64 };
static const double FAR = 2.0; // a node is a dipole from this many times its radius away; the error falls with its cube

typedef struct TreeNode {
    float bounds_min[3], bounds_max[3];
    uint32_t first, count; // triangles of a leaf; count 0: an inner node, whose children are `first` and first + 1
    // The dipole of all triangles below.
    double radius; // of a ball about `centre` that holds them
    DVec3 centre, area_normal;
} TreeNode;

struct TriangleTree {
    const Mesh *mesh;
    TreeNode *nodes;
    uint32_t node_count;
    uint32_t *order;
};

// ---- Selection -------------------------------------------------------------------------------------------------

static bool before(const float *keys, uint32_t a, uint32_t b)
{
    return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
}

static void swap(uint32_t *items, uint32_t i, uint32_t j)
{
    const uint32_t other = items[i];
    items[i] = items[j];
    items[j] = other;
}

void select_nth(uint32_t *items, const float *keys, uint32_t count, uint32_t nth)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        // The median of three as the pivot; no two items are equal, so that nothing is quadratic for equal keys.
        const uint32_t middle = low + (high - low) / 2;
        if (before(keys, items[middle], items[low])) {
            swap(items, middle, low);
        }
        if (before(keys, items[high], items[low])) {
            swap(items, high, low);
        }
        if (before(keys, items[high], items[middle])) {
            swap(items, high, middle);
        }
        const uint32_t pivot = items[middle];
        uint32_t i = low, j = high;
        for (;;) {
            while (before(keys, items[i], pivot)) {
                i++;
            }
            while (before(keys, pivot, items[j])) {
                j--;
            }
            if (i >= j) {
                break;
            }
            swap(items, i++, j--);
        }
        if (nth <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
}

// ---- Building --------------------------------------------------------------------------------------------------

static void corners_of(const Mesh *mesh, uint32_t triangle, DVec3 corner[3])
{
    for (uint32_t k = 0; k < 3; k++) {
        corner[k] = dvec3_from(mesh->positions[mesh->triangles[3 * (size_t)triangle + k]]);
    }
}

static void enclose(const TriangleTree *tree, TreeNode *node, uint32_t first, uint32_t count)
{
    DVec3 bounds_min = {INFINITY, INFINITY, INFINITY}, bounds_max = {-INFINITY, -INFINITY, -INFINITY};
    DVec3 sum = {0, 0, 0};
    double area = 0.0;
    node->area_normal = dvec3(0, 0, 0);
    for (uint32_t i = first; i < first + count; i++) {
        DVec3 corner[3];
        corners_of(tree->mesh, tree->order[i], corner);
        for (uint32_t k = 0; k < 3; k++) {
            bounds_min = dvec3_min(bounds_min, corner[k]);
            bounds_max = dvec3_max(bounds_max, corner[k]);
        }
        const DVec3 normal = dvec3_scale(triangle_cross(tree->mesh, tree->order[i]), 0.5);
        const double a = dvec3_length(normal);
        node->area_normal = dvec3_add(node->area_normal, normal);
        sum = dvec3_add(sum, dvec3_scale(dvec3_add(corner[0], dvec3_add(corner[1], corner[2])), a / 3.0));
        area += a;
    }
    node->centre = area > 0.0 ? dvec3_scale(sum, 1.0 / area) : dvec3_scale(dvec3_add(bounds_min, bounds_max), 0.5);
    const DVec3 reach = dvec3_max(dvec3_sub(bounds_max, node->centre), dvec3_sub(node->centre, bounds_min));
    node->radius = dvec3_length(reach);
    const DVec3 bounds[2] = {bounds_min, bounds_max};
    for (uint32_t k = 0; k < 2; k++) {
        float *side = k == 0 ? node->bounds_min : node->bounds_max; // floats were the corners: nothing is rounded
        side[0] = (float)bounds[k].x;
        side[1] = (float)bounds[k].y;
        side[2] = (float)bounds[k].z;
    }
}

typedef struct Range {
    uint32_t node, first, count;
} Range;

static void build(TriangleTree *tree, float *keys[3])
{
    Range stack[STACK];
    uint32_t depth = 0;
    stack[depth++] = (Range){0, 0, tree->mesh->triangle_count};
    tree->node_count = 1;
    while (depth > 0) {
        const Range range = stack[--depth];
        TreeNode *node = &tree->nodes[range.node];
        enclose(tree, node, range.first, range.count);
        node->first = range.first;
        node->count = range.count;
        if (range.count <= LEAF_TRIANGLES) {
            continue;
        }
        uint32_t axis = 0;
        for (uint32_t k = 1; k < 3; k++) {
            axis =
                node->bounds_max[k] - node->bounds_min[k] > node->bounds_max[axis] - node->bounds_min[axis] ? k : axis;
        }
        const uint32_t half = range.count / 2;
        select_nth(tree->order + range.first, keys[axis], range.count, half);
        node->first = tree->node_count;
        node->count = 0;
        tree->node_count += 2;
        stack[depth++] = (Range){node->first, range.first, half};
        stack[depth++] = (Range){node->first + 1, range.first + half, range.count - half};
    }
}

MoteResult triangle_tree_create(const Mesh *mesh, TriangleTree **out)
{
    *out = NULL;
    const size_t count = mesh->triangle_count;
    TriangleTree *tree = calloc(1, sizeof *tree);
    float *keys = malloc((3 * count + 1) * sizeof *keys);
    if (tree != NULL) {
        tree->mesh = mesh;
        tree->nodes = malloc((2 * count + 1) * sizeof *tree->nodes);
        tree->order = malloc((count + 1) * sizeof *tree->order);
    }
    if (tree == NULL || keys == NULL || tree->nodes == NULL || tree->order == NULL) {
        free(keys);
        triangle_tree_destroy(tree);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the tree of %zu triangles", count);
    }
    for (uint32_t t = 0; t < count; t++) {
        DVec3 corner[3];
        corners_of(mesh, t, corner);
        const DVec3 sum = dvec3_add(corner[0], dvec3_add(corner[1], corner[2]));
        keys[t] = (float)sum.x;
        keys[count + t] = (float)sum.y;
        keys[2 * count + t] = (float)sum.z;
        tree->order[t] = t;
    }
    if (count > 0) {
        build(tree, (float *[3]){keys, keys + count, keys + 2 * count});
    }
    free(keys);
    *out = tree;
    return MOTE_OK;
}

void triangle_tree_destroy(TriangleTree *tree)
{
    if (tree != NULL) {
        free(tree->nodes);
        free(tree->order);
        free(tree);
    }
}

// ---- Nearest point ---------------------------------------------------------------------------------------------

static DVec3 on_edge(DVec3 a, DVec3 b, DVec3 p, double *share)
{
    const DVec3 edge = dvec3_sub(b, a);
    const double squared = dvec3_dot(edge, edge);
    const double t = squared > 0.0 ? dvec3_dot(dvec3_sub(p, a), edge) / squared : 0.0;
    *share = fmin(fmax(t, 0.0), 1.0);
    return dvec3_add(a, dvec3_scale(edge, *share));
}

// The nearest point of a triangle: the foot of the perpendicular if that is inside, else the nearest on an edge.
static DVec3 nearest_in_triangle(const DVec3 corner[3], DVec3 p, double weights[3])
{
    const DVec3 ab = dvec3_sub(corner[1], corner[0]), ac = dvec3_sub(corner[2], corner[0]);
    const DVec3 ap = dvec3_sub(p, corner[0]), normal = dvec3_cross(ab, ac);
    const double squared = dvec3_dot(normal, normal);
    if (squared > 0.0) {
        const double v = dvec3_dot(dvec3_cross(ap, ac), normal) / squared,
                     w = dvec3_dot(dvec3_cross(ab, ap), normal) / squared;
        if (v >= 0.0 && w >= 0.0 && v + w <= 1.0) {
            weights[0] = 1.0 - v - w;
            weights[1] = v;
            weights[2] = w;
            return dvec3_add(corner[0], dvec3_add(dvec3_scale(ab, v), dvec3_scale(ac, w)));
        }
    }
    DVec3 best = corner[0];
    double best_squared = INFINITY;
    for (uint32_t k = 0; k < 3; k++) {
        double share;
        const DVec3 point = on_edge(corner[k], corner[(k + 1) % 3], p, &share), away = dvec3_sub(p, point);
        if (dvec3_dot(away, away) < best_squared) {
            best_squared = dvec3_dot(away, away);
            best = point;
            weights[k] = 1.0 - share;
            weights[(k + 1) % 3] = share;
            weights[(k + 2) % 3] = 0.0;
        }
    }
    return best;
}

static double squared_distance_to_box(const TreeNode *node, DVec3 p)
{
    const double x = fmax(0.0, fmax(node->bounds_min[0] - p.x, p.x - node->bounds_max[0]));
    const double y = fmax(0.0, fmax(node->bounds_min[1] - p.y, p.y - node->bounds_max[1]));
    const double z = fmax(0.0, fmax(node->bounds_min[2] - p.z, p.z - node->bounds_max[2]));
    return x * x + y * y + z * z;
}

bool triangle_tree_nearest(const TriangleTree *tree, DVec3 p, double within, NearestPoint *out)
{
    struct {
        uint32_t node;
        double squared;
    } stack[2 * STACK];
    uint32_t depth = 0;
    double best = within * within;
    bool found = false;
    if (tree->node_count > 0) {
        stack[depth].node = 0;
        stack[depth++].squared = squared_distance_to_box(&tree->nodes[0], p);
    }
    while (depth > 0) {
        depth--;
        if (stack[depth].squared >= best) {
            continue;
        }
        const TreeNode *node = &tree->nodes[stack[depth].node];
        for (uint32_t i = node->first; i < node->first + node->count; i++) {
            DVec3 corner[3];
            double weights[3] = {1.0, 0.0, 0.0};
            corners_of(tree->mesh, tree->order[i], corner);
            const DVec3 point = nearest_in_triangle(corner, p, weights), away = dvec3_sub(p, point);
            if (dvec3_dot(away, away) < best) {
                best = dvec3_dot(away, away);
                *out = (NearestPoint){sqrt(best), point, tree->order[i], {weights[0], weights[1], weights[2]}};
                found = true;
            }
        }
        if (node->count == 0) { // the nearer child on top
            const double a = squared_distance_to_box(&tree->nodes[node->first], p);
            const double b = squared_distance_to_box(&tree->nodes[node->first + 1], p);
            const uint32_t nearer = node->first + (b < a ? 1 : 0), farther = node->first + (b < a ? 0 : 1);
            stack[depth].node = farther;
            stack[depth++].squared = fmax(a, b);
            stack[depth].node = nearer;
            stack[depth++].squared = fmin(a, b);
        }
    }
    return found;
}

bool triangle_tree_meets_other(const TriangleTree *tree, DVec3 p, double radius, const uint32_t *marks, uint32_t own)
{
    uint32_t stack[2 * STACK], depth = 0;
    if (tree->node_count > 0) {
        stack[depth++] = 0;
    }
    while (depth > 0) {
        const TreeNode *node = &tree->nodes[stack[--depth]];
        if (squared_distance_to_box(node, p) > radius * radius) {
            continue;
        }
        for (uint32_t i = node->first; i < node->first + node->count; i++) {
            DVec3 corner[3];
            double weights[3];
            if (marks[tree->order[i]] == own) {
                continue;
            }
            corners_of(tree->mesh, tree->order[i], corner);
            if (dvec3_length(dvec3_sub(p, nearest_in_triangle(corner, p, weights))) <= radius) {
                return true;
            }
        }
        if (node->count == 0) {
            stack[depth++] = node->first;
            stack[depth++] = node->first + 1;
        }
    }
    return false;
}

// ---- Winding number --------------------------------------------------------------------------------------------

// A sum of angles from -pi to pi each, as a product of complex numbers and the number of times it went round: one
// arc tangent at the end instead of one a triangle.
typedef struct Turning {
    double re, im;
    int32_t rounds;
} Turning;

static void turn_on(Turning *turning, double re, double im)
{
    const double x = turning->re * re - turning->im * im, y = turning->re * im + turning->im * re;
    const double size = fabs(x) + fabs(y);
    if (!(size > 0.0)) {
        return; // at a corner: no angle
    }
    // Two angles of the same sign that end on the other side have gone past pi.
    turning->rounds += im >= 0.0 && turning->im >= 0.0 && y < 0.0;
    turning->rounds -= im < 0.0 && turning->im < 0.0 && y >= 0.0;
    const bool rescale = size > 1e100 || size < 1e-100;
    turning->re = rescale ? x / size : x;
    turning->im = rescale ? y / size : y;
}

// Turns on by half of the signed solid angle of a triangle (Van Oosterom and Strackee 1983).
static void turn_by_triangle(Turning *turning, const DVec3 corner[3], DVec3 p)
{
    const DVec3 a = dvec3_sub(corner[0], p), b = dvec3_sub(corner[1], p), c = dvec3_sub(corner[2], p);
    const double la = dvec3_length(a), lb = dvec3_length(b), lc = dvec3_length(c);
    turn_on(turning, la * lb * lc + dvec3_dot(a, b) * lc + dvec3_dot(b, c) * la + dvec3_dot(c, a) * lb,
            dvec3_dot(a, dvec3_cross(b, c)));
}

double triangle_tree_winding(const TriangleTree *tree, DVec3 p)
{
    const double pi = 3.14159265358979323846;
    uint32_t stack[2 * STACK], depth = 0;
    double sum = 0.0; // half angles of dipoles
    Turning turning = {1.0, 0.0, 0};
    if (tree->node_count > 0) {
        stack[depth++] = 0;
    }
    while (depth > 0) {
        const TreeNode *node = &tree->nodes[stack[--depth]];
        const DVec3 to = dvec3_sub(node->centre, p);
        const double squared = dvec3_dot(to, to);
        if (squared > FAR * FAR * node->radius * node->radius) {
            sum +=
                0.5 * dvec3_dot(to, node->area_normal) / (squared * sqrt(squared)); // Barill et al. 2018, first order
            continue;
        }
        for (uint32_t i = node->first; i < node->first + node->count; i++) {
            DVec3 corner[3];
            corners_of(tree->mesh, tree->order[i], corner);
            turn_by_triangle(&turning, corner, p);
        }
        if (node->count == 0) {
            stack[depth++] = node->first;
            stack[depth++] = node->first + 1;
        }
    }
    return (sum + atan2(turning.im, turning.re)) / (2.0 * pi) + turning.rounds;
}
