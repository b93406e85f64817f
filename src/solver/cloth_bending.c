// SPDX-License-Identifier: MIT
// cloth_bending.c - hinges of cloth (kernels/cloth/bending.h): makes them of a mesh's edges, and solves them.
#include "solver/cloth_parts.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void cloth_hinges_free(ClothHinges *hinges)
{
    free(hinges->corners);
    free(hinges->laws);
    free(hinges->rests);
    free(hinges->colours);
    free(hinges->order);
    free(hinges->starts);
    *hinges = (ClothHinges){0};
}

static MoteResult check_numbers(const MoteCloth *cloth)
{
    const float numbers[] = {cloth->bend_stiffness, cloth->crease_yield, cloth->crease_creep};
    for (int i = 0; i < 3; i++) {
        if (!(numbers[i] >= 0.0f) || !isfinite(numbers[i])) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "the cloth has bend stiffness %g N m, crease yield %g rad and creep %g 1/s, expected "
                             "finite numbers not below 0",
                             (double)numbers[0], (double)numbers[1], (double)numbers[2]);
        }
    }
    return MOTE_OK;
}

// Not where two triangles have all corners in common.
static bool is_hinge(const ClothEdge *edge)
{
    return edge->triangles[1] != MOTE_NONE && edge->opposite[0] != edge->opposite[1];
}

// The corner of a triangle that is this vertex.
static uint32_t corner_of(const MoteCloth *cloth, uint32_t triangle, uint32_t vertex)
{
    const uint32_t *corners = cloth->triangles + 3 * (size_t)triangle;
    return 3 * triangle + (corners[0] == vertex ? 0 : corners[1] == vertex ? 1 : 2);
}

static DVec3 vector(MoteVec3 from, MoteVec3 to)
{
    return dvec3((double)to.x - from.x, (double)to.y - from.y, (double)to.z - from.z);
}

// Its angle at rest as the kernels measure it, and its compliance: (area of both) / (D |e|^2).
static void describe_hinge(const MoteCloth *cloth, const MoteVec3 *rest, const ClothEdge *edge, ClothHinges *out)
{
    const MoteVec3 from = rest[edge->vertices[0]], to = rest[edge->vertices[1]];
    const MoteVec3 a = rest[edge->opposite[0]], b = rest[edge->opposite[1]];
    const DVec3 e = vector(from, to);
    const DVec3 first = dvec3_cross(vector(a, from), vector(a, to));
    const DVec3 second = dvec3_cross(vector(b, to), vector(b, from));
    const double areas = 0.5 * (dvec3_length(first) + dvec3_length(second)), squared = dvec3_dot(e, e);
    const double sine = dvec3_dot(dvec3_cross(first, second), e) / sqrt(squared);
    out->rests[out->count] = (float)atan2(sine, dvec3_dot(first, second));
    out->laws[out->count] =
        v4((float)(areas / (squared * (double)cloth->bend_stiffness)), cloth->crease_yield, cloth->crease_creep, 0.0f);
}

// ---- Colours -----------------------------------------------------------------------------------------------

enum { COLOUR_WORDS = 64, COLOUR_LIMIT = 32 * COLOUR_WORDS }; // of a vertex: far more than hinges meet at one

// The lowest colour that none of the hinges at its corners has.
static MoteResult choose_colours(const ClothTopology *topology, const MoteWorld *world, ClothHinges *out)
{
    uint32_t *used = calloc((size_t)topology->vertex_count * COLOUR_WORDS, sizeof *used);
    if (used == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to order the hinges of a cloth");
    }
    MoteResult result = MOTE_OK;
    uint32_t hinge = world->view.hinge_count;
    for (uint32_t e = 0; e < topology->edge_count && result == MOTE_OK; e++) {
        const ClothEdge *edge = &topology->edges[e];
        if (!is_hinge(edge)) {
            continue;
        }
        const uint32_t ends[4] = {edge->vertices[0], edge->vertices[1], edge->opposite[0], edge->opposite[1]};
        uint32_t colour = 0, taken = 1;
        while (colour < COLOUR_LIMIT && taken != 0) {
            taken = 0;
            for (int k = 0; k < 4; k++) {
                taken |= used[(size_t)ends[k] * COLOUR_WORDS + colour / 32] >> (colour % 32) & 1u;
            }
            colour += taken;
        }
        if (colour == COLOUR_LIMIT) {
            result = mote_fail(MOTE_ERROR_INPUT, "more than %d hinges meet at a vertex of the cloth", COLOUR_LIMIT / 4);
        }
        for (int k = 0; k < 4 && result == MOTE_OK; k++) {
            used[(size_t)ends[k] * COLOUR_WORDS + colour / 32] |= 1u << (colour % 32);
        }
        out->colours[hinge++] = (uint16_t)colour;
        out->colour_count = colour + 1 > out->colour_count ? colour + 1 : out->colour_count;
    }
    free(used);
    return result;
}

// All hinges of the world, by their colours.
static MoteResult sort_by_colour(const MoteWorld *world, ClothHinges *out)
{
    const uint32_t count = world->view.hinge_count + out->count;
    out->colour_count = out->colour_count > world->hinge_colour_count ? out->colour_count : world->hinge_colour_count;
    out->order = malloc(count * sizeof *out->order + 1);
    out->starts = calloc((size_t)out->colour_count + 2, sizeof *out->starts);
    if (out->order == NULL || out->starts == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to order the hinges of a cloth");
    }
    for (uint32_t h = 0; h < count; h++) {
        out->starts[out->colours[h] + 2]++;
    }
    for (uint32_t c = 0; c < out->colour_count; c++) {
        out->starts[c + 2] += out->starts[c + 1];
    }
    for (uint32_t h = 0; h < count; h++) {
        out->order[out->starts[out->colours[h] + 1]++] = h;
    }
    return MOTE_OK;
}

// ---- Adding ------------------------------------------------------------------------------------------------

MoteResult cloth_hinges_make(const MoteWorld *world, const MoteCloth *cloth, const ClothTopology *topology,
                             const MoteVec3 *rest, ClothHinges *out)
{
    *out = (ClothHinges){0};
    MoteResult result = check_numbers(cloth);
    if (result != MOTE_OK || cloth->bend_stiffness <= 0.0f) {
        return result;
    }
    const uint32_t shift = 3 * world->view.cloth_triangle_count, before = world->view.hinge_count;
    const size_t room = topology->edge_count;
    if (before + (uint64_t)room > UINT32_MAX / 8) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth of more than 2^29 hinges");
    }
    out->corners = malloc(room * sizeof *out->corners);
    out->laws = malloc(room * sizeof *out->laws);
    out->rests = malloc(room * sizeof *out->rests);
    out->colours = malloc((before + room) * sizeof *out->colours);
    if (out->corners == NULL || out->laws == NULL || out->rests == NULL || out->colours == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the hinges of a cloth");
    }
    if (before > 0) {
        memcpy(out->colours, world->hinge_colours, before * sizeof *out->colours);
    }
    for (uint32_t e = 0; e < topology->edge_count; e++) {
        const ClothEdge *edge = &topology->edges[e];
        if (!is_hinge(edge)) {
            continue;
        }
        const uint32_t a = corner_of(cloth, edge->triangles[0], edge->opposite[0]);
        const uint32_t b = corner_of(cloth, edge->triangles[1], edge->opposite[1]);
        describe_hinge(cloth, rest, edge, out);
        out->corners[out->count] = uv2(a + shift, b + shift);
        out->count++;
    }
    result = choose_colours(topology, world, out);
    return result == MOTE_OK ? sort_by_colour(world, out) : result;
}

MoteResult cloth_hinges_reserve(MoteWorld *world, const ClothHinges *hinges)
{
    const uint64_t before = world->view.hinge_count;
    return hinges->count > 0 ? world_reserve(world, CAPACITY_HINGES, before + hinges->count, before) : MOTE_OK;
}

void cloth_hinges_add(MoteWorld *world, ClothHinges *hinges)
{
    SolverData *view = &world->view;
    const uint32_t before = view->hinge_count;
    void (*const upload)(Backend *, void *, const void *, size_t) = world->backend->functions->upload;
    if (hinges->count == 0) {
        return;
    }
    const size_t count = hinges->count;
    upload(world->backend, view->hinge_corners + before, hinges->corners, count * sizeof *hinges->corners);
    upload(world->backend, view->hinge_laws + before, hinges->laws, count * sizeof *hinges->laws);
    upload(world->backend, view->hinge_rests + before, hinges->rests, count * sizeof *hinges->rests);
    upload(world->backend, view->hinge_order, hinges->order, (before + count) * sizeof *hinges->order);
    view->hinge_count += hinges->count;
    free(world->hinge_colours);
    free(world->hinge_colour_starts);
    world->hinge_colours = hinges->colours;
    world->hinge_colour_starts = hinges->starts;
    world->hinge_colour_count = hinges->colour_count;
    hinges->colours = NULL;
    hinges->starts = NULL;
}

// ---- Solving -----------------------------------------------------------------------------------------------

void world_solve_bending(MoteWorld *world)
{
    SolverData *view = &world->view;
    for (uint32_t c = 0; c < world->hinge_colour_count; c++) {
        view->hinge_first = world->hinge_colour_starts[c];
        view->hinge_batch = world->hinge_colour_starts[c + 1] - view->hinge_first;
        LAUNCH(world, solve_hinges);
    }
}
