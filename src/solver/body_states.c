// SPDX-License-Identifier: MIT
// body_states.c - reads the states of bodies by id, and removes bodies.
#include "solver/particle_copy.h"
#include "solver/world.h"

#include "base/error.h"
#include <stdlib.h>

// ---- Ids ---------------------------------------------------------------------------------------------------

bool mote_world_has_body(const MoteWorld *world, MoteBodyId id)
{
    return id.index < world->body_count && !world->bodies[id.index].removed &&
           world->bodies[id.index].generation == id.generation;
}

static MoteResult check_id(const MoteWorld *world, MoteBodyId id)
{
    return mote_world_has_body(world, id)
               ? MOTE_OK
               : mote_fail(MOTE_ERROR_INPUT, "body %u of generation %u is not in the world: %s", id.index,
                           id.generation,
                           id.generation == 0 ? "the id names none" : "it was removed, or is of another world");
}

uint32_t mote_world_body_count(const MoteWorld *world)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < world->body_count; b++) {
        count += !world->bodies[b].removed;
    }
    return count;
}

// ---- Reading -----------------------------------------------------------------------------------------------

// Sums over the particles of one body, and then its state.
typedef struct BodySums {
    double mass, centre[3], momentum[3], angular[3]; // angular about the origin
    double inertia[3][3];                            // about the origin
} BodySums;

static void add_to_sums(BodySums *sums, const float *position, const float *velocity)
{
    const double m = position[3] > 0.0f ? 1.0 / position[3] : 0.0;
    const double p[3] = {position[0], position[1], position[2]}, v[3] = {velocity[0], velocity[1], velocity[2]};
    const double squared = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    sums->mass += m;
    for (int i = 0; i < 3; i++) {
        sums->centre[i] += m * p[i];
        sums->momentum[i] += m * v[i];
        sums->angular[i] += m * (p[(i + 1) % 3] * v[(i + 2) % 3] - p[(i + 2) % 3] * v[(i + 1) % 3]);
        for (int j = 0; j < 3; j++) {
            sums->inertia[i][j] += m * ((i == j ? squared : 0.0) - p[i] * p[j]);
        }
    }
}

static void finish_state(const BodySums *sums, MoteBodyState *state)
{
    if (sums->mass <= 0.0) {
        return;
    }
    double c[3], v[3], l[3], inertia[3][3], inverse[3][3], w[3] = {0};
    for (int i = 0; i < 3; i++) {
        c[i] = sums->centre[i] / sums->mass;
        v[i] = sums->momentum[i] / sums->mass;
    }
    const double squared = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        l[i] = sums->angular[i] - sums->mass * (c[j] * v[k] - c[k] * v[j]);
        for (int q = 0; q < 3; q++) {
            inertia[i][q] = sums->inertia[i][q] - sums->mass * ((i == q ? squared : 0.0) - c[i] * c[q]);
        }
    }
    pseudo_inverse((const double(*)[3])inertia, inverse);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            w[i] += inverse[i][j] * l[j];
        }
    }
    state->mass = (float)sums->mass;
    state->pose.position = (MoteVec3){(float)c[0], (float)c[1], (float)c[2]};
    state->velocity = (MoteVec3){(float)v[0], (float)v[1], (float)v[2]};
    state->angular_velocity = (MoteVec3){(float)w[0], (float)w[1], (float)w[2]};
}

// Host copies of a world's particles, with their rows in the member table.
typedef struct MemberCopy {
    MoteParticleView particles;
    uint *members;
    vec4 *rotations; // a cluster
} MemberCopy;

static MoteResult read_members(MoteWorld *world, uint32_t arrays, MemberCopy *out)
{
    const BackendFunctions *functions = world->backend->functions;
    const uint32_t clusters = world->view.cluster_count;
    *out = (MemberCopy){0};
    MoteResult result = particle_copy_read(world, arrays, &out->particles);
    const uint32_t count = out->particles.count;
    out->members = malloc(count * sizeof *out->members + 1);
    out->rotations = malloc(clusters * sizeof *out->rotations + 1);
    if (result == MOTE_OK && (out->members == NULL || out->rotations == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to read bodies of %u particles", count);
    }
    if (result == MOTE_OK && clusters > 0) {
        functions->download(world->backend, out->rotations, world->view.cluster_rotations,
                            clusters * sizeof *out->rotations);
    }
    if (result == MOTE_OK && count > 0) {
        functions->download(world->backend, out->members, world->view.handles, count * sizeof *out->members);
    }
    return result == MOTE_OK ? world_check_backend(world) : result;
}

static void free_members(MemberCopy *copy)
{
    particle_copy_free(&copy->particles);
    free(copy->members);
    free(copy->rotations);
}

// The states of `count` bodies of the host's table from row `first` on.
static MoteResult read_states(MoteWorld *world, uint32_t first, uint32_t count, MoteBodyState *states)
{
    const uint32_t members = world->view.member_count;
    MemberCopy copy;
    MoteResult result = read_members(world, COPY_POSITIONS | COPY_VELOCITIES, &copy);
    uint *body_of = malloc(members * sizeof *body_of + 1);
    BodySums *sums = calloc(count, sizeof *sums);
    if (result == MOTE_OK && (body_of == NULL || sums == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to read %u bodies", count);
    }
    if (result == MOTE_OK) {
        for (uint32_t m = 0; m < members; m++) {
            body_of[m] = MOTE_NONE;
        }
        for (uint32_t b = 0; b < count; b++) {
            const BodyRow *row = &world->bodies[first + b];
            const vec4 q = copy.rotations[row->first_cluster];
            for (uint32_t m = 0; m < row->member_count; m++) {
                body_of[row->first_member + m] = b;
            }
            states[b] = (MoteBodyState){
                .id = {first + b, row->generation},
                .group = row->group,
                .first_member = row->first_member,
                .members = row->member_count,
                .clusters = row->cluster_count,
                .pose.rotation = {q.x, q.y, q.z, q.w},
            };
        }
        const MoteParticleView *host = &copy.particles;
        for (uint32_t i = 0; i < host->count; i++) {
            const uint32_t body = copy.members[i] < members ? body_of[copy.members[i]] : MOTE_NONE;
            if (body != MOTE_NONE) {
                states[body].present++;
                add_to_sums(&sums[body], host->positions + 4 * (size_t)i, host->velocities + 4 * (size_t)i);
            }
        }
        for (uint32_t b = 0; b < count; b++) {
            finish_state(&sums[b], &states[b]);
        }
    }
    free(body_of);
    free(sums);
    free_members(&copy);
    return result;
}

MoteResult mote_world_read_body(MoteWorld *world, MoteBodyId id, MoteBodyState *out)
{
    const MoteResult checked = check_id(world, id);
    return checked == MOTE_OK ? read_states(world, id.index, 1, out) : checked;
}

MoteResult mote_world_read_bodies(MoteWorld *world, MoteBodyState *rows, uint32_t capacity)
{
    if (capacity == 0 || world->body_count == 0) {
        return MOTE_OK;
    }
    MoteBodyState *states = malloc(world->body_count * sizeof *states);
    const MoteResult result = states != NULL
                                  ? read_states(world, 0, world->body_count, states)
                                  : mote_fail(MOTE_ERROR_MEMORY, "no memory to read %u bodies", world->body_count);
    uint32_t count = 0;
    for (uint32_t b = 0; b < world->body_count && count < capacity && result == MOTE_OK; b++) {
        if (!world->bodies[b].removed) {
            rows[count++] = states[b];
        }
    }
    free(states);
    return result;
}

// ---- Removing ----------------------------------------------------------------------------------------------

MoteResult mote_world_remove_body(MoteWorld *world, MoteBodyId id)
{
    MoteResult result = check_id(world, id);
    if (result != MOTE_OK) {
        return result;
    }
    BodyRow *row = &world->bodies[id.index];
    MemberCopy copy;
    result = read_members(world, 0, &copy);
    bool *gone = malloc(copy.particles.count * sizeof *gone + 1);
    if (result == MOTE_OK && gone == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to remove a body of %u particles", row->member_count);
    }
    if (result == MOTE_OK) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < copy.particles.count; i++) {
            gone[i] = copy.members[i] - row->first_member < row->member_count; // also false of NONE
            found += gone[i];
        }
        result = found > 0 ? world_remove_slots(world, gone, found) : MOTE_OK;
    }
    row->removed = result == MOTE_OK;
    free(gone);
    free_members(&copy);
    return result;
}

void world_name_member(MoteWorld *world, uint32_t handle)
{
    for (uint32_t b = 0; b < world->body_count; b++) {
        BodyRow *row = &world->bodies[b];
        row->named = row->named || handle - row->first_member < row->member_count;
    }
}

void world_revive_bodies(MoteWorld *world, const uint32_t *members, uint64_t count)
{
    for (uint32_t b = 0; b < world->body_count; b++) {
        BodyRow *row = &world->bodies[b];
        for (uint64_t i = 0; i < count && row->removed; i++) {
            row->removed = members[i] - row->first_member >= row->member_count;
        }
    }
}
