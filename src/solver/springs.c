// SPDX-License-Identifier: MIT
// springs.c - springs: converts them to the tables of links that kernels read (kernels/cloth/links.h), and solves them.
//
// The table of links is stored by columns, in the order in which they are solved (link_order.c); `link_rows` has the
// row of each spring's number. Their ends are nodes, each with an adjacency list of its links (compressed rows). Adding
// springs rebuilds all of it, which is rare.
#include "solver/link_order.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// As in links.h, which is for kernels alone.
static const float SPRING = 0.0f, ROPE = 1.0f;

MoteSpring mote_default_spring(void)
{
    return (MoteSpring){.rest_length = -1.0f, .stiffness = 1000.0f};
}

uint32_t mote_world_spring_count(const MoteWorld *world)
{
    return world->view.link_count;
}

// ---- Tables ------------------------------------------------------------------------------------------------

// Of all links, old and new: by their numbers until they are ordered, then by their rows.
typedef struct LinkTables {
    uint32_t count, node_count;
    uvec2 *ends, *shares;     // a link
    vec4 *laws;               // a link
    float *lambdas;           // a link
    float *offsets;           // a link, where stiffness may change
    uint *node_handles;       // a node
    uint *node_starts;        // a node, and the end
    uint *node_gather_starts; // a node
    uint *node_links;         // 2 a link
    LinkOrder order;
    bool on_bodies, stores_energy; // some link ends at a rigid body; some link has a compliance
} LinkTables;

static void tables_free(LinkTables *t)
{
    free(t->ends);
    free(t->shares);
    free(t->laws);
    free(t->lambdas);
    free(t->offsets);
    free(t->node_handles);
    free(t->node_starts);
    free(t->node_gather_starts);
    free(t->node_links);
    free(t->order.rows);
}

static MoteResult tables_allocate(LinkTables *t, uint32_t count)
{
    const size_t n = count;
    *t = (LinkTables){.count = count};
    t->ends = malloc(n * sizeof *t->ends);
    t->shares = malloc(n * sizeof *t->shares);
    t->laws = malloc(n * sizeof *t->laws);
    t->lambdas = calloc(n, sizeof *t->lambdas); // a new link has not pulled yet
    t->offsets = calloc(n, sizeof *t->offsets);
    t->node_handles = malloc(2 * n * sizeof *t->node_handles);
    t->node_starts = malloc((2 * n + 1) * sizeof *t->node_starts);
    t->node_gather_starts = malloc(2 * n * sizeof *t->node_gather_starts);
    t->node_links = malloc(2 * n * sizeof *t->node_links);
    const bool complete = t->ends && t->shares && t->laws && t->lambdas && t->offsets && t->node_handles &&
                          t->node_starts && t->node_gather_starts && t->node_links;
    return complete ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u springs", count);
}

// Rows of `bytes` from the order of `rows` to that of numbers, or the other way.
static MoteResult permute(void *data, size_t bytes, const uint32_t *rows, uint32_t count, bool to_numbers)
{
    char *copy = malloc(count * bytes + 1), *values = data;
    if (copy == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u springs", count);
    }
    memcpy(copy, values, count * bytes);
    for (size_t i = 0; i < count; i++) {
        const size_t from = to_numbers ? rows[i] : i, to = to_numbers ? i : rows[i];
        memcpy(values + to * bytes, copy + from * bytes, bytes);
    }
    free(copy);
    return MOTE_OK;
}

static MoteResult permute_links(LinkTables *t, const uint32_t *rows, uint32_t count, bool to_numbers)
{
    MoteResult result = permute(t->ends, sizeof *t->ends, rows, count, to_numbers);
    result = result == MOTE_OK ? permute(t->laws, sizeof *t->laws, rows, count, to_numbers) : result;
    result = result == MOTE_OK ? permute(t->lambdas, sizeof *t->lambdas, rows, count, to_numbers) : result;
    return result == MOTE_OK ? permute(t->offsets, sizeof *t->offsets, rows, count, to_numbers) : result;
}

// The links that are there, by their numbers.
static MoteResult read_links(MoteWorld *world, LinkTables *t)
{
    const BackendFunctions *functions = world->backend->functions;
    const uint32_t before = world->view.link_count;
    if (before == 0) {
        return MOTE_OK;
    }
    functions->download(world->backend, t->ends, world->view.link_ends, before * sizeof *t->ends);
    functions->download(world->backend, t->laws, world->view.link_laws, before * sizeof *t->laws);
    functions->download(world->backend, t->lambdas, world->view.link_lambdas, before * sizeof *t->lambdas);
    if (world->target_count > 0) { // stiffness may have changed
        functions->download(world->backend, t->offsets, world->view.link_offsets, before * sizeof *t->offsets);
    }
    return permute_links(t, world->link_rows, before, true);
}

typedef struct LinkEnd {
    uint handle, entry; // entry: twice the link, and one more for its second end
} LinkEnd;

static int compare_ends(const void *a, const void *b)
{
    const LinkEnd *x = a, *y = b;
    return x->handle != y->handle ? (x->handle < y->handle ? -1 : 1) : (x->entry < y->entry ? -1 : 1);
}

// The nodes in the order of their handles, each with its links in their order.
static MoteResult list_nodes(LinkTables *t)
{
    const uint32_t entries = 2 * t->count;
    LinkEnd *ends = malloc(entries * sizeof *ends);
    if (ends == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u springs", t->count);
    }
    for (uint32_t e = 0; e < entries; e++) {
        ends[e] = (LinkEnd){e % 2 == 0 ? t->ends[e / 2].x : t->ends[e / 2].y, e};
    }
    qsort(ends, entries, sizeof *ends, compare_ends);
    for (uint32_t e = 0; e < entries; e++) {
        if (e == 0 || ends[e].handle != ends[e - 1].handle) {
            t->node_starts[t->node_count] = t->node_gather_starts[t->node_count] = e;
            t->node_handles[t->node_count++] = ends[e].handle;
        }
        t->node_links[e] = ends[e].entry;
        if (ends[e].entry / 2 < t->order.coloured) {
            t->node_gather_starts[t->node_count - 1] = e + 1;
        }
    }
    t->node_starts[t->node_count] = entries;
    free(ends);
    return MOTE_OK;
}

// The body that is rigid and has this handle's particle, or MOTE_NONE.
static uint32_t rigid_body_of(const MoteWorld *world, uint32_t handle)
{
    uint32_t begin = 0, end = world->body_count; // bodies' members ascend
    while (handle < HANDLE_SINGLE && end - begin > 1) {
        const uint32_t middle = begin + (end - begin) / 2;
        begin = world->bodies[middle].first_member <= handle ? middle : begin;
        end = world->bodies[middle].first_member <= handle ? end : middle;
    }
    const bool rigid =
        handle < HANDLE_SINGLE && (world->cluster_rows[world->bodies[begin].first_cluster].flags & CLUSTER_RIGID) != 0;
    return rigid ? begin : MOTE_NONE;
}

// Among how many gathered links each end's mass is split: all of the node's, or of its rigid body's. With momentum (IJ)
// links that do not end at bodies have whole masses.
static MoteResult share_masses(const MoteWorld *world, LinkTables *t)
{
    uint32_t *of_bodies = calloc(world->body_count + (size_t)1, sizeof *of_bodies);
    if (of_bodies == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the springs of %u bodies", world->body_count);
    }
    for (uint32_t n = 0; n < t->node_count; n++) {
        const uint32_t body = rigid_body_of(world, t->node_handles[n]);
        if (body != MOTE_NONE) {
            of_bodies[body] += t->node_starts[n + 1] - t->node_gather_starts[n];
            t->on_bodies = true;
        }
    }
    const bool whole = world->settings.link_solver == MOTE_LINKS_IMPROVED_JACOBI;
    for (uint32_t n = 0; n < t->node_count; n++) {
        const uint32_t body = rigid_body_of(world, t->node_handles[n]);
        const uint32_t gathered = t->node_starts[n + 1] - t->node_gather_starts[n];
        for (uint32_t k = t->node_gather_starts[n]; k < t->node_starts[n + 1]; k++) {
            const uint32_t row = t->node_links[k] / 2;
            const uint32_t share = body != MOTE_NONE ? of_bodies[body] : whole && row < t->order.bodies ? 1 : gathered;
            *(t->node_links[k] % 2 == 0 ? &t->shares[row].x : &t->shares[row].y) = share;
        }
    }
    free(of_bodies);
    return MOTE_OK;
}

// Sorts the links by the way in which they are solved.
static MoteResult order_links(const MoteWorld *world, LinkTables *t)
{
    uvec2 *rows = malloc(t->count * sizeof *rows);
    bool *on_bodies = malloc(t->count * sizeof *on_bodies);
    MoteResult result = rows != NULL && on_bodies != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory to order %u springs", t->count);
    for (uint32_t i = 0; i < t->count && result == MOTE_OK; i++) {
        const uvec2 ends = t->ends[i];
        rows[i] = (uvec2){world_handle_row(world, ends.x), world_handle_row(world, ends.y)};
        on_bodies[i] = rigid_body_of(world, ends.x) != MOTE_NONE || rigid_body_of(world, ends.y) != MOTE_NONE;
        t->stores_energy |= t->laws[i].y > 0.0f;
    }
    const bool coloured = world->settings.link_solver == MOTE_LINKS_GAUSS_SEIDEL;
    result = result == MOTE_OK
                 ? link_order_make(rows, on_bodies, t->count, world->view.handle_count, coloured, &t->order)
                 : result;
    free(rows);
    free(on_bodies);
    return result == MOTE_OK ? permute_links(t, t->order.rows, t->count, false) : result;
}

static MoteResult reserve_tables(MoteWorld *world, const LinkTables *t)
{
    const uint64_t links = t->count, nodes = t->node_count;
    MoteResult result = world_reserve(world, CAPACITY_LINKS, links, world->view.link_count);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_LINK_ENDS, 2 * links, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_NODES, nodes, 0) : result;
    if (result == MOTE_OK && world->view.tears != 0u) {
        result = world_reserve(world, CAPACITY_LINK_ANCHORS, 3 * links, 0);
    }
    if (result == MOTE_OK && world->view.links_ease != 0u) {
        result = world_reserve_easing(world, t->count);
    }
    return result == MOTE_OK ? world_reserve(world, CAPACITY_NODES_AND_ONE, nodes + 1, 0) : result;
}

static void upload_tables(MoteWorld *world, LinkTables *t)
{
    SolverData *view = &world->view;
    Backend *backend = world->backend;
    void (*const upload)(Backend *, void *, const void *, size_t) = backend->functions->upload;
    const size_t links = t->count, nodes = t->node_count;
    upload(backend, view->link_ends, t->ends, links * sizeof *t->ends);
    upload(backend, view->link_shares, t->shares, links * sizeof *t->shares);
    upload(backend, view->link_laws, t->laws, links * sizeof *t->laws);
    upload(backend, view->link_lambdas, t->lambdas, links * sizeof *t->lambdas);
    upload(backend, view->node_handles, t->node_handles, nodes * sizeof *t->node_handles);
    upload(backend, view->node_starts, t->node_starts, (nodes + 1) * sizeof *t->node_starts);
    upload(backend, view->node_gather_starts, t->node_gather_starts, nodes * sizeof *t->node_gather_starts);
    upload(backend, view->node_links, t->node_links, 2 * links * sizeof *t->node_links);
    view->link_count = t->count;
    view->node_count = t->node_count;
    view->credited_links = t->stores_energy || view->links_ease != 0u ? t->count : 0;
    view->links_on_bodies = t->on_bodies;
    view->coloured_count = t->order.coloured;
    view->link_body_first = t->order.bodies;
    world->link_colours = t->order.colours;
    memcpy(world->link_colour_starts, t->order.starts, sizeof t->order.starts);
    free(world->link_rows);
    world->link_rows = t->order.rows;
    t->order.rows = NULL;
    if (view->links_ease != 0u) {
        world_upload_easing(world, t->laws, t->offsets);
    }
}

// Puts links that are listed by their numbers into the world, in place of those that are there.
static MoteResult set_links(MoteWorld *world, LinkTables *t)
{
    world_restore_link_ends(world, t->ends); // copies of a vertex share its colours and its node
    MoteResult result = order_links(world, t);
    result = result == MOTE_OK ? list_nodes(t) : result;
    result = result == MOTE_OK ? share_masses(world, t) : result;
    result = result == MOTE_OK ? reserve_tables(world, t) : result;
    result = result == MOTE_OK ? world_check_backend(world) : result;
    if (result == MOTE_OK) {
        upload_tables(world, t);
        result = world_anchor_links(world);
    }
    return result;
}

MoteResult world_order_links(MoteWorld *world)
{
    LinkTables tables;
    MoteResult result = tables_allocate(&tables, world->view.link_count);
    result = result == MOTE_OK ? read_links(world, &tables) : result;
    result = result == MOTE_OK ? set_links(world, &tables) : result;
    tables_free(&tables);
    return result;
}

// ---- Adding ------------------------------------------------------------------------------------------------

static MoteResult check_spring(const MoteWorld *world, const MoteSpring *spring, uint32_t i, uvec2 *ends)
{
    MoteResult result = world_check_handle(world, spring->ends[0], &ends->x);
    result = result == MOTE_OK ? world_check_handle(world, spring->ends[1], &ends->y) : result;
    if (result != MOTE_OK) {
        return mote_fail(result, "spring %u: %s", i, mote_error_message());
    }
    if (ends->x == ends->y) {
        return mote_fail(MOTE_ERROR_INPUT, "spring %u has one particle at both ends, expected two", i);
    }
    if (!(spring->stiffness > 0.0f) || isnan(1.0f / spring->stiffness) || isinf(1.0f / spring->stiffness)) {
        return mote_fail(MOTE_ERROR_INPUT, "spring %u has stiffness %g N/m, expected a positive number", i,
                         (double)spring->stiffness);
    }
    if (!isfinite(spring->rest_length) || !isfinite(spring->damping) || spring->damping < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "spring %u has rest length %g m and damping %g N s/m, expected finite numbers, damping not "
                         "below 0",
                         i, (double)spring->rest_length, (double)spring->damping);
    }
    return MOTE_OK;
}

static float distance_of(const MoteParticleState ends[2])
{
    const MoteVec3 a = ends[0].position, b = ends[1].position;
    const double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    return (float)sqrt(x * x + y * y + z * z);
}

// The new links' rows, behind those that are there.
static MoteResult describe_springs(MoteWorld *world, const MoteSpring *springs, uint32_t count, LinkTables *t)
{
    MoteParticleHandle *handles = malloc(2 * (size_t)count * sizeof *handles);
    MoteParticleState *states = malloc(2 * (size_t)count * sizeof *states);
    MoteResult result =
        handles != NULL && states != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u springs", count);
    const uint32_t first = world->view.link_count;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = check_spring(world, &springs[i], i, &t->ends[first + i]);
        handles[2 * (size_t)i] = springs[i].ends[0];
        handles[2 * (size_t)i + 1] = springs[i].ends[1];
    }
    result = result == MOTE_OK ? mote_world_read_handles(world, handles, 2 * count, states) : result;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const MoteParticleState *ends = states + 2 * (size_t)i;
        if (!ends[0].present || !ends[1].present) {
            result = mote_fail(MOTE_ERROR_INPUT, "spring %u ends at a particle that was removed", i);
        }
        const float rest = springs[i].rest_length < 0.0f ? distance_of(ends) : springs[i].rest_length;
        t->laws[first + i] =
            v4(rest, 1.0f / springs[i].stiffness, springs[i].damping, springs[i].slack ? ROPE : SPRING);
    }
    free(handles);
    free(states);
    return result;
}

// Everything that can fail comes before any change of the world.
MoteResult mote_world_add_springs(MoteWorld *world, const MoteSpring *springs, uint32_t count, uint32_t *first)
{
    const uint32_t before = world->view.link_count;
    if (first != NULL) {
        *first = before;
    }
    if (count == 0) {
        return MOTE_OK;
    }
    if ((uint64_t)before + count > UINT32_MAX / 2) {
        return mote_fail(MOTE_ERROR_INPUT, "%u springs and %u more, expected at most 2^31", before, count);
    }
    LinkTables tables;
    MoteResult result = tables_allocate(&tables, before + count);
    result = result == MOTE_OK ? read_links(world, &tables) : result;
    result = result == MOTE_OK ? describe_springs(world, springs, count, &tables) : result;
    result = result == MOTE_OK ? set_links(world, &tables) : result;
    tables_free(&tables);
    return result;
}

// ---- Reading -----------------------------------------------------------------------------------------------

MoteResult mote_world_read_springs(MoteWorld *world, MoteSpringState *rows, uint32_t capacity)
{
    const uint32_t links = world->view.link_count, count = capacity < links ? capacity : links;
    const BackendFunctions *functions = world->backend->functions;
    uvec2 *ends = malloc(links * sizeof *ends + 1);
    float *lambdas = malloc(links * sizeof *lambdas + 1);
    MoteParticleHandle *handles = malloc(2 * (size_t)count * sizeof *handles + 1);
    MoteParticleState *states = malloc(2 * (size_t)count * sizeof *states + 1);
    MoteResult result = ends != NULL && lambdas != NULL && handles != NULL && states != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory to read %u springs", count);
    if (result == MOTE_OK && count > 0) {
        functions->download(world->backend, ends, world->view.link_ends, links * sizeof *ends);
        functions->download(world->backend, lambdas, world->view.link_lambdas, links * sizeof *lambdas);
        for (uint32_t i = 0; i < count; i++) {
            const uvec2 row = ends[world->link_rows[i]];
            handles[2 * (size_t)i] = (MoteParticleHandle){row.x + 1};
            handles[2 * (size_t)i + 1] = (MoteParticleHandle){row.y + 1};
        }
        result = mote_world_read_handles(world, handles, 2 * count, states);
    }
    const uint32_t parts = world->settings.small_steps > 1 ? world->settings.small_steps : 1;
    const double dt = (double)world->last_time_step / parts;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const MoteParticleState *both = states + 2 * (size_t)i;
        const bool broken = !both[0].present || !both[1].present;
        rows[i] = (MoteSpringState){.broken = broken, .length = broken ? 0.0f : distance_of(both)};
        rows[i].tension = broken || dt <= 0.0 ? 0.0f : (float)(-(double)lambdas[world->link_rows[i]] / (dt * dt));
    }
    free(ends);
    free(lambdas);
    free(handles);
    free(states);
    return result;
}

// Whether a spring resists stretching: it is none against shear or bending of a cloth.
static bool resists_stretch(const MoteWorld *world, uint32_t number)
{
    for (uint32_t c = 0; c < world->view.cloth_count; c++) {
        const MoteClothInfo *info = &world->cloths[c].info;
        const uint32_t others = info->first_spring + info->stretch_springs;
        if (number >= others && number < others + info->shear_springs + info->bend_springs) {
            return false;
        }
    }
    return true;
}

static void add_stretches(const MoteWorld *world, const MoteParticleView *host, const LinkTables *t,
                          const uint32_t *slots, MoteStatistics *out)
{
    uint32_t counted = 0;
    double sum = 0.0;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t a = slots[world_handle_row(world, t->ends[i].x)];
        const uint32_t b = slots[world_handle_row(world, t->ends[i].y)];
        if (a >= host->count || b >= host->count) {
            continue; // broken
        }
        out->links++;
        const float *p = host->positions + 4 * (size_t)a, *q = host->positions + 4 * (size_t)b;
        const double x = (double)p[0] - q[0], y = (double)p[1] - q[1], z = (double)p[2] - q[2];
        const double rest = (double)t->laws[i].x;
        if (rest > 0.0 && resists_stretch(world, i)) {
            const double stretch = fmax(sqrt(x * x + y * y + z * z) / rest - 1.0, 0.0);
            out->link_stretch_max = fmax(out->link_stretch_max, stretch);
            sum += stretch;
            counted++;
        }
    }
    out->link_stretch_mean = counted > 0 ? sum / counted : 0.0;
}

MoteResult world_add_link_statistics(MoteWorld *world, const MoteParticleView *host, MoteStatistics *out)
{
    if (world->view.link_count == 0) {
        return MOTE_OK;
    }
    LinkTables tables;
    uint32_t *slots = malloc(world->view.handle_count * sizeof *slots + 1);
    MoteResult result = tables_allocate(&tables, world->view.link_count);
    result = result == MOTE_OK && slots == NULL ? mote_fail(MOTE_ERROR_MEMORY, "no memory to read springs") : result;
    result = result == MOTE_OK ? read_links(world, &tables) : result;
    result = result == MOTE_OK ? world_read_slots(world, slots) : result;
    if (result == MOTE_OK) {
        add_stretches(world, host, &tables, slots, out);
    }
    tables_free(&tables);
    free(slots);
    return result;
}

// ---- Solving -----------------------------------------------------------------------------------------------

static const float IMPROVED_RELAXATION = 0.15f; // 0.2 explodes with 12 stiff links a vertex (docs/cloth.md)
static const double MOMENTUM_POWER = 0.6;       // b of IJ

void world_locate_links(MoteWorld *world)
{
    if (world->view.coloured_count > 0) {
        LAUNCH(world, locate_links);
    }
}

static void set_relaxation(MoteWorld *world)
{
    SolverData *view = &world->view;
    const bool improved = world->settings.link_solver == MOTE_LINKS_IMPROVED_JACOBI;
    const float omega = world->settings.link_relaxation;
    const double last = view->iteration_count > 1 ? view->iteration_count - 1 : 1;
    view->link_relaxation = omega > 0.0f ? omega : improved ? IMPROVED_RELAXATION : 1.0f;
    view->link_momentum = improved && view->iteration > 0 ? (float)pow(view->iteration / last, MOMENTUM_POWER) : 0.0f;
}

void world_solve_springs(MoteWorld *world)
{
    SolverData *view = &world->view;
    set_relaxation(world);
    for (uint32_t c = 0; c < world->link_colours; c++) {
        view->link_first = world->link_colour_starts[c];
        view->link_batch = world->link_colour_starts[c + 1] - view->link_first;
        LAUNCH(world, solve_coloured_links);
    }
    if (view->coloured_count < view->link_count) {
        view->link_first = view->coloured_count;
        view->link_batch = view->link_count - view->coloured_count;
        LAUNCH(world, solve_links);
        LAUNCH(world, apply_links);
        if (view->tears != 0u) {
            LAUNCH(world, apply_copied_links);
        }
    }
    if (view->links_on_bodies != 0u) {
        world_apply_body_corrections(world);
    }
}
