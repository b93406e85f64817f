// SPDX-License-Identifier: MIT
// handles.c - handles of particles: rows of the device's map from handle to slot (kernels/particle/handles.h). A public
// handle is the kernels' handle plus one, so that a zeroed handle is invalid.
#include "solver/particle_copy.h"
#include "solver/world.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

static MoteParticleHandle to_public(uint32_t handle)
{
    return (MoteParticleHandle){handle + 1};
}

MoteResult world_check_handle(const MoteWorld *world, MoteParticleHandle handle, uint32_t *out)
{
    const uint32_t members = world->view.member_count, singles = world->view.handle_count - members;
    *out = handle.value - 1;
    const bool known = *out < HANDLE_SINGLE ? *out < members : *out - HANDLE_SINGLE < singles;
    return known ? MOTE_OK : mote_fail(MOTE_ERROR_INPUT, "handle 0x%x is none that this world has made", handle.value);
}

// ---- Making ------------------------------------------------------------------------------------------------

typedef struct IdRow {
    uint32_t id, slot;
} IdRow;

static int compare_rows(const void *a, const void *b)
{
    const uint32_t x = ((const IdRow *)a)->id, y = ((const IdRow *)b)->id;
    return x < y ? -1 : x > y;
}

// The slots of the particles with these ids: `distinct` rows by ascending id. An error if an id is not in the world.
static MoteResult find_slots(const MoteParticleView *host, const uint32_t *ids, uint32_t count, IdRow *rows,
                             uint32_t *distinct)
{
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (IdRow){ids[i], MOTE_NONE};
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].id != rows[i - 1].id) {
            rows[kept++] = rows[i];
        }
    }
    for (uint32_t i = 0; i < host->count; i++) {
        const IdRow key = {host->ids[i], 0};
        IdRow *row = bsearch(&key, rows, kept, sizeof *rows, compare_rows);
        if (row != NULL) {
            row->slot = i;
        }
    }
    for (uint32_t i = 0; i < kept; i++) {
        if (rows[i].slot == MOTE_NONE) {
            return mote_fail(MOTE_ERROR_INPUT, "particle %u is not in the world, so it gets no handle", rows[i].id);
        }
    }
    *distinct = kept;
    return MOTE_OK;
}

// Allocates memory for `fresh` more handles; the first ones also need an array over particles.
static MoteResult reserve_handles(MoteWorld *world, uint32_t fresh)
{
    SolverData *view = &world->view;
    const uint32_t before = view->handle_count;
    MoteResult result = world_reserve(world, CAPACITY_HANDLE_SLOTS, (uint64_t)before + fresh, 0);
    if (result == MOTE_OK) {
        view->handle_count = before + fresh;
        result = world_reserve_particles(world, world->capacities[CAPACITY_PARTICLES]);
        view->handle_count = result == MOTE_OK ? view->handle_count : before;
    }
    return result;
}

MoteResult world_make_spare_handles(MoteWorld *world, uint32_t count, uint32_t *first)
{
    *first = HANDLE_SINGLE + (world->view.handle_count - world->view.member_count);
    return reserve_handles(world, count);
}

// Gives the particles that have none a handle each, in the order of their ids. `handles` has one a slot.
static MoteResult give_handles(MoteWorld *world, const IdRow *rows, uint32_t count, uint32_t *handles)
{
    SolverData *view = &world->view;
    const size_t bytes = view->particle_count * sizeof *handles;
    const BackendFunctions *functions = world->backend->functions;
    memset(handles, 0xff, bytes);
    if (view->handles != NULL) {
        functions->download(world->backend, handles, view->handles, bytes);
    }
    uint32_t next = HANDLE_SINGLE + (view->handle_count - view->member_count), fresh = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (handles[rows[i].slot] == NONE) {
            handles[rows[i].slot] = next + fresh++;
        }
    }
    const MoteResult result = fresh > 0 ? reserve_handles(world, fresh) : MOTE_OK;
    if (result == MOTE_OK && fresh > 0) {
        functions->upload(world->backend, view->handles, handles, bytes);
    }
    return result;
}

MoteResult mote_world_make_handles(MoteWorld *world, const uint32_t *ids, uint32_t count, MoteParticleHandle *out)
{
    if (count == 0) {
        return MOTE_OK;
    }
    MoteParticleView host;
    MoteResult result = particle_copy_read(world, COPY_IDS, &host);
    IdRow *rows = malloc(count * sizeof *rows);
    uint32_t *handles = malloc(host.count * sizeof *handles + 1), distinct = 0;
    if (result == MOTE_OK && (rows == NULL || handles == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for %u handles", count);
    }
    result = result == MOTE_OK ? find_slots(&host, ids, count, rows, &distinct) : result;
    result = result == MOTE_OK ? give_handles(world, rows, distinct, handles) : result;
    result = result == MOTE_OK ? world_check_backend(world) : result;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const IdRow key = {ids[i], 0};
        const IdRow *row = bsearch(&key, rows, distinct, sizeof *rows, compare_rows);
        out[i] = to_public(handles[row->slot]);
        world_name_member(world, handles[row->slot]);
    }
    free(rows);
    free(handles);
    particle_copy_free(&host);
    return result;
}

// ---- Reading -----------------------------------------------------------------------------------------------

MoteResult world_read_slots(MoteWorld *world, uint32_t *slots)
{
    const uint32_t count = world->view.handle_count;
    if (count > 0) {
        world_locate_handles(world);
        world->backend->functions->download(world->backend, slots, world->view.handle_slots, count * sizeof *slots);
    }
    return world_check_backend(world);
}

static MoteParticleState state_of(const MoteParticleView *host, uint32_t slot)
{
    if (slot >= host->count) {
        return (MoteParticleState){.id = MOTE_NONE};
    }
    const float *p = host->positions + 4 * (size_t)slot, *v = host->velocities + 4 * (size_t)slot;
    return (MoteParticleState){
        .present = true, .id = host->ids[slot], .position = {p[0], p[1], p[2]}, .velocity = {v[0], v[1], v[2]}};
}

MoteResult mote_world_read_handles(MoteWorld *world, const MoteParticleHandle *handles, uint32_t count,
                                   MoteParticleState *out)
{
    uint32_t *slots = malloc(world->view.handle_count * sizeof *slots + 1);
    MoteParticleView host = {0};
    MoteResult result = slots != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory to read %u handles", count);
    result = result == MOTE_OK ? particle_copy_read(world, COPY_POSITIONS | COPY_VELOCITIES | COPY_IDS, &host) : result;
    result = result == MOTE_OK ? world_read_slots(world, slots) : result;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        uint32_t handle;
        result = world_check_handle(world, handles[i], &handle);
        out[i] = result == MOTE_OK ? state_of(&host, slots[world_handle_row(world, handle)]) : (MoteParticleState){0};
    }
    free(slots);
    particle_copy_free(&host);
    return result;
}
