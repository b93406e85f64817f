// SPDX-License-Identifier: MIT
// render_view.c - gives a renderer access to the world's arrays in place, with neighbour lists even before the first
// step. Statistics use these lists, too.
#include "solver/world.h"

#include "base/error.h"
#include <stdlib.h>

// ---- Neighbours between two steps --------------------------------------------------------------------------

// Sums run over particles in their order, and a sort keeps the order within a cell. So sorting the particles here would
// change the bits of later steps. The search sorts a copy of the positions instead, in arrays that every step fills
// anew, and its lists are then translated to the particles' own order.

// Cells and lists of the present positions, in the order of their keys; view->order maps this order to slots. *listed
// is how many particles have a list: those marked as removed, which the next step drops, come last and have none.
static MoteResult list_sorted_copies(MoteWorld *world, uint32_t *listed)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    const uint32_t count = view->particle_count, volumes = view->kill_volume_count, ends = view->gas_ends;
    CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_predicted));
    functions->copy(world->backend, view->predicted, view->positions, (size_t)count * sizeof(vec4));
    functions->find_bounds(world->backend, view->predicted, count, view->bounds);
    LAUNCH(world, clear_counters);
    view->kill_volume_count = view->gas_ends = 0; // it is for the next step to remove
    LAUNCH(world, assign_keys);
    view->kill_volume_count = volumes;
    view->gas_ends = ends;
    CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_sort_scratch));
    functions->sort(world->backend, view->keys, view->order, count, view->sort_scratch);
    uint removed = 0;
    functions->download(world->backend, &removed, view->counters + COUNTER_REMOVED, sizeof removed);
    *listed = count - removed;
    if (*listed == 0) {
        return MOTE_OK;
    }
    view->particle_count = *listed;
    view->gather_source_vec4 = view->positions;
    view->gather_target_vec4 = view->predicted;
    LAUNCH(world, gather_vec4);
    MoteResult result = world_build_cells(world);
    result = result == MOTE_OK ? world_build_lists(world) : result;
    view->particle_count = count;
    return result;
}

// neighbours[e] = order[neighbours[e]]: each invocation of the gather reads and writes its own entry.
static void rename_entries(MoteWorld *world)
{
    SolverData view = world->view;
    view.particle_count = world->listed_entries;
    view.gather_components = 1;
    view.gather_source_words = world->view.order;
    view.order = view.gather_target_words = world->view.neighbours;
    world->backend->functions->launch(world->backend, KERNEL_ID_gather_words, &view);
}

// Moves a value for each list from the sorted order to the particles' own.
static void rename_lists(MoteWorld *world, uint *values, const uint *order, uint32_t listed, uint *sorted, uint *own)
{
    const BackendFunctions *functions = world->backend->functions;
    const uint32_t count = world->view.particle_count;
    functions->download(world->backend, sorted, values, count * sizeof *sorted);
    for (uint32_t i = 0; i < count; i++) {
        own[order[i]] = i < listed ? sorted[i] : 0;
    }
    functions->upload(world->backend, values, own, count * sizeof *own);
}

MoteResult world_find_neighbours_aside(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    const size_t count = view->particle_count;
    world->lists_are_current = false;
    world->corners_are_current = false;
    world->listed_entries = 0;
    world_set_parameters(world, 1.0f);          // the search does not depend on the time step
    view->skip_same_group = view->ignoring = 0; // phases are not sorted along
    if (count == 0) {
        return MOTE_OK;
    }
    uint *host = malloc(3 * count * sizeof *host);
    if (host == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no host memory to list the neighbours of %zu particles", count);
    }
    uint *const order = host, *const sorted = host + count, *const own = host + 2 * count;
    uint32_t listed = 0;
    const MoteResult result = list_sorted_copies(world, &listed);
    if (result == MOTE_OK) {
        functions->download(world->backend, order, view->order, count * sizeof *order);
        rename_entries(world);
        rename_lists(world, view->neighbour_counts, order, listed, sorted, own);
        rename_lists(world, view->neighbour_starts, order, listed, sorted, own);
        functions->copy(world->backend, view->predicted, view->positions, count * sizeof(vec4)); // as after a step
        world->lists_are_current = true;
    }
    free(host);
    return result;
}

// ---- Arrays ------------------------------------------------------------------------------------------------

// The renderer's list and the table's RENDER rows are the same: a name that is missing in either does not compile.
enum {
#define RENDERED_RENDER(name) RENDERED_##name,
#define RENDERED_PRIVATE(name)
#define BUFFER(type, name, capacity, order, keep, render) RENDERED_##render(name)
#include "kernels/data.def"
    RENDERED_COUNT
};
#define COUNT_ONE(name) +(RENDERED_##name >= 0)
_Static_assert(MOTE_HANDLE_SINGLE == HANDLE_SINGLE, "handles as renderers know them");
_Static_assert(RENDERED_COUNT == 0 MOTE_RENDER_ARRAYS(COUNT_ONE), "MOTE_RENDER_ARRAYS has the RENDER rows of data.def");

static MoteArray make_array(const MoteWorld *world, const void *address, size_t element, uint64_t used, Capacity kind)
{
    const char *why;
    const bool host = world->backend->functions->memory_kind(world->backend, &why) == MOTE_MEMORY_HOST;
    const size_t capacity = element * world->capacities[kind];
    const size_t pages = (capacity + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
    return (MoteArray){
        .address = address,
        .bytes = address != NULL ? (size_t)(element * used) : 0,
        .capacity = address == NULL ? 0
                    : host          ? pages
                                    : capacity,
    };
}

// Elements of an array that a renderer reads. The total that a scan stores behind the last particle does not count.
static uint64_t drawn_elements(const MoteWorld *world, Capacity kind)
{
    const uint64_t elements = world_elements(world, kind, world->view.particle_count);
    return kind == CAPACITY_PARTICLES_AND_ONE ? elements - 1 : elements;
}

static void list_arrays(const MoteWorld *world, MoteRenderView *out)
{
#undef RENDERED_RENDER
#undef RENDERED_PRIVATE
#define RENDERED_PRIVATE(type, name, kind)
#define RENDERED_RENDER(type, name, kind)                                                                              \
    out->name =                                                                                                        \
        make_array(world, world->view.name, sizeof(type), drawn_elements(world, CAPACITY_##kind), CAPACITY_##kind);
#define BUFFER(type, name, capacity, order, keep, render) RENDERED_##render(type, name, capacity)
#include "kernels/data.def"
}

static MoteResult wait_for_backend(MoteWorld *world)
{
    world->backend->functions->wait(world->backend);
    return world_check_backend(world);
}

// The bounding box of the particles. A step computes its own before it reads `corners`.
void world_measure_bounds(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    functions->find_bounds(world->backend, view->positions, view->particle_count, view->bounds);
    functions->download(world->backend, world->corners, view->bounds, sizeof world->corners);
    world->corners_are_current = true;
}

// Does not wait for the device if the renderer can wait on the device itself.
static MoteResult hand_over(MoteWorld *world, MoteRenderView *out)
{
    const BackendFunctions *functions = world->backend->functions;
    out->timeline = functions->hand_over != NULL ? functions->hand_over(world->backend) : NULL;
    if (out->timeline == NULL) {
        return wait_for_backend(world);
    }
    world->hands_over = true;
    return world_check_backend(world);
}

// Particles may have been added or removed since the last step located the handles.
void world_locate_handles(MoteWorld *world)
{
    LAUNCH(world, clear_handles);
    if (world->view.particle_count > 0) {
        LAUNCH(world, locate_handles);
    }
}

static MoteResult make_render_view(MoteWorld *world, bool host_waits, MoteRenderView *out)
{
    *out = (MoteRenderView){.why = ""};
    const SolverData *view = &world->view;
    const MoteSettings *settings = &world->settings;
    const float smoothing_radius =
        (float)((double)settings->spacing * settings->smoothing_radius_ratio); // as world_set_parameters
    MoteResult result = MOTE_OK;
    if (!world->lists_are_current || view->smoothing_radius != smoothing_radius) {
        result = world_find_neighbours_aside(world);
    }
    const uint32_t count = view->particle_count;
    if (result == MOTE_OK && count > 0 && !world->corners_are_current) {
        world_measure_bounds(world);
    }
    if (result == MOTE_OK && view->handle_count > 0) {
        world_locate_handles(world);
    }
    if (result == MOTE_OK) {
        result = host_waits ? wait_for_backend(world) : hand_over(world, out);
    }
    if (result != MOTE_OK) {
        return result;
    }
    if (count > 0) {
        const vec4 *corners = world->corners;
        out->bounds_min = (MoteVec3){corners[0].x, corners[0].y, corners[0].z};
        out->bounds_max = (MoteVec3){corners[1].x, corners[1].y, corners[1].z};
    }
    out->memory = world->backend->functions->memory_kind(world->backend, &out->why);
    if (out->memory == MOTE_MEMORY_DEVICE) {
        out->device = world->backend->functions->memory_device(world->backend);
    }
    out->layout = world->layout;
    out->particle_count = count;
    out->dimensions = settings->dimensions;
    out->spacing = settings->spacing;
    out->smoothing_radius = smoothing_radius;
    out->has_liquid = world->tally.has_liquid;
    out->has_solids = view->has_solids != 0u || world->has_gas; // gas is not drawn as a liquid
    out->solid_radius = 0.5f * settings->spacing * settings->solid_distance;
    out->member_count = view->member_count;
    out->cluster_count = view->cluster_count;
    out->cloth_count = view->cloth_count;
    out->link_count = view->link_count;
    out->cloth_vertex_count = view->cloth_vertex_count;
    out->cloth_triangle_count = view->cloth_triangle_count;
    out->diffuse_capacity = view->diffuse_capacity;
    list_arrays(world, out);
    return MOTE_OK;
}

MoteResult mote_world_render_view(MoteWorld *world, MoteRenderView *out)
{
    return make_render_view(world, true, out);
}

MoteResult mote_world_hand_over(MoteWorld *world, MoteRenderView *out)
{
    return make_render_view(world, false, out);
}

MoteResult mote_world_channel_array(MoteWorld *world, const char *name, MoteArray *out, uint32_t *components)
{
    *out = (MoteArray){0};
    const Channel *channel = world_find_channel(world, name);
    if (channel == NULL) {
        return MOTE_ERROR_INPUT;
    }
    const size_t element = sizeof(uint) * channel->components;
    *out = make_array(world, channel->words, element, world->view.particle_count, CAPACITY_PARTICLES);
    if (components != NULL) {
        *components = channel->components;
    }
    return wait_for_backend(world);
}

MoteResult mote_world_copy_in(MoteWorld *world, void *address, const void *source, size_t bytes)
{
    if (bytes > 0) {
        world->backend->functions->upload(world->backend, address, source, bytes);
    }
    return world_check_backend(world);
}

MoteResult mote_world_copy_out(MoteWorld *world, void *target, const void *address, size_t bytes)
{
    if (bytes > 0) {
        world->backend->functions->download(world->backend, target, address, bytes);
    }
    return wait_for_backend(world);
}
