// SPDX-License-Identifier: MIT
// world.c - creates and destroys worlds; their settings; adds, removes, reads and writes particles and channels.
#include "solver/particle_copy.h"
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef MOTE_VERSION_STRING
#define MOTE_VERSION_STRING "0"
#endif

const char *mote_version(void)
{
    return MOTE_VERSION_STRING;
}

static bool finite3(MoteVec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

Channel *world_look_up_channel(MoteWorld *world, const char *name)
{
    for (uint32_t c = 0; c < world->channel_count; c++) {
        if (strcmp(world->channels[c].name, name) == 0) {
            return &world->channels[c];
        }
    }
    return NULL;
}

// ---- Settings ----------------------------------------------------------------------------------------------

MoteResult mote_world_set_settings(MoteWorld *world, const MoteSettings *settings)
{
    const MoteResult checked = settings_check(settings);
    if (checked != MOTE_OK) {
        return checked;
    }
    if (settings->dimensions != world->settings.dimensions) {
        return mote_fail(MOTE_ERROR_INPUT, "settings.dimensions cannot change from %u to %u",
                         world->settings.dimensions, settings->dimensions);
    }
    const MoteResult thin_enough = world_check_thickness(world, settings);
    if (thin_enough != MOTE_OK) {
        return thin_enough;
    }
    const uint32_t vorticity =
        settings->vorticity > 0.0f || world->liquids.vorticity ? world->capacities[CAPACITY_PARTICLES] : 0;
    const MoteResult reserved = world_reserve(world, CAPACITY_VORTICITY, vorticity, 0);
    if (reserved != MOTE_OK) {
        return reserved;
    }
    const uint32_t isotropy = settings->isotropic_pressure > 0.0f ? world->capacities[CAPACITY_PARTICLES] : 0;
    const MoteResult reserved_too = world_reserve(world, CAPACITY_ISOTROPY, isotropy, 0);
    if (reserved_too != MOTE_OK) {
        return reserved_too;
    }
    const bool other_links = settings->link_solver != world->settings.link_solver && world->view.link_count > 0;
    const bool other_iterations =
        settings->iterations != world->settings.iterations || settings->small_steps != world->settings.small_steps;
    world->settings = *settings;
    world->rest = rest_state_measure(settings);
    MoteResult result = MOTE_OK;
    if (settings->stack_height == MOTE_STACK_CONTACTS && world_look_up_channel(world, STACK_HEIGHT_CHANNEL) == NULL) {
        result = mote_world_add_channel(world, STACK_HEIGHT_CHANNEL, 1);
    }
    if (result == MOTE_OK && settings->gravity_warm_start > 0.0f &&
        world_look_up_channel(world, GRAVITY_WARM_START_CHANNEL) == NULL) {
        result = mote_world_add_channel(world, GRAVITY_WARM_START_CHANNEL, 1);
    }
    if (result == MOTE_OK && other_iterations && world->body_count > 0) {
        world_set_cluster_stiffness(world);
    }
    return result == MOTE_OK && other_links ? world_order_links(world) : result;
}

MoteSettings mote_world_settings(const MoteWorld *world)
{
    return world->settings;
}

// ---- Life --------------------------------------------------------------------------------------------------

MoteResult mote_world_create(const MoteSettings *settings, const MoteBackendOptions *options, MoteWorld **out)
{
    *out = NULL;
    const MoteResult checked = settings_check(settings);
    if (checked != MOTE_OK) {
        return checked;
    }
    MoteWorld *world = calloc(1, sizeof *world);
    if (world == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a world");
    }
    MoteResult result = backend_create(options, &world->backend);
    if (result != MOTE_OK) {
        free(world);
        return result;
    }
    world->settings.dimensions = settings->dimensions;
    mote_world_set_bounds(world, (MoteVec3){-INFINITY, -INFINITY, -INFINITY}, (MoteVec3){INFINITY, INFINITY, INFINITY});
    result = mote_world_set_settings(world, settings);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_COUNTERS, COUNTER_ALL, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_BOUNDS, 2, 0) : result;
    if (result != MOTE_OK) {
        mote_world_destroy(world);
        return result;
    }
    *out = world;
    return MOTE_OK;
}

void mote_world_destroy(MoteWorld *world)
{
    if (world == NULL) {
        return;
    }
    world_free_buffers(world);
    world_free_colliders(world);
    world_free_dynamics(world);
    world->backend->functions->destroy(world->backend);
    free(world->bodies);
    free(world->cluster_rows);
    free(world->collider_rows);
    free(world->force_fields);
    free(world->liquids.rows);
    free(world->collider_list);
    free(world->collider_ids);
    free(world->id_rows);
    free(world->pins);
    free(world->hinge_colours);
    free(world->hinge_colour_starts);
    world_free_cloths(world);
    free(world->link_rows);
    free(world->spring_targets);
    free(world);
}

uint32_t mote_world_particle_count(const MoteWorld *world)
{
    return world->view.particle_count;
}

const char *mote_world_backend(const MoteWorld *world)
{
    return world->backend->functions->name;
}

float mote_world_particle_mass(const MoteWorld *world, float density)
{
    const double d = world->settings.spacing;
    return (float)(density * (world->settings.dimensions == 2 ? d * d : d * d * d)); // in 2D a metre deep
}

// ---- Particles ---------------------------------------------------------------------------------------------

static MoteResult check_particles(const MoteWorld *world, const MoteParticles *particles)
{
    if (particles->count > 0 && particles->positions == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "particles.positions is NULL, expected %u positions", particles->count);
    }
    if (mote_phase_kind(particles->phase) >= MOTE_KIND_COUNT) {
        return mote_fail(MOTE_ERROR_INPUT, "particles.phase has kind %u, expected a MoteParticleKind",
                         (uint32_t)mote_phase_kind(particles->phase));
    }
    if ((uint64_t)world->tally.next_id + particles->count > UINT32_MAX) {
        return mote_fail(MOTE_ERROR_INPUT, "%u more particles would use up the 2^32 ids of a world", particles->count);
    }
    for (uint32_t i = 0; i < particles->count; i++) {
        const MoteVec3 p = particles->positions[i];
        if (!finite3(p)) {
            return mote_fail(MOTE_ERROR_INPUT, "particle %u has position (%g, %g, %g), expected finite numbers", i,
                             (double)p.x, (double)p.y, (double)p.z);
        }
        if (particles->velocities != NULL && !finite3(particles->velocities[i])) {
            const MoteVec3 v = particles->velocities[i];
            return mote_fail(MOTE_ERROR_INPUT, "particle %u has velocity (%g, %g, %g), expected finite numbers", i,
                             (double)v.x, (double)v.y, (double)v.z);
        }
        const float mass = particles->masses != NULL ? particles->masses[i] : particles->mass;
        if (!isfinite(mass) || mass < 0.0f || (mass > 0.0f && !isfinite(1.0f / mass))) {
            return mote_fail(MOTE_ERROR_INPUT, "particle %u has mass %g, expected a positive number, or 0 to pin it", i,
                             (double)mass);
        }
    }
    return MOTE_OK;
}

// The rows of data.def that make up a particle, on the host.
typedef struct ParticleRows {
#define PARTICLE(type, name) type *name;
#include "kernels/data.def"
} ParticleRows;

static void free_rows(ParticleRows *rows)
{
#define PARTICLE(type, name) free(rows->name);
#include "kernels/data.def"
}

static MoteResult allocate_rows(ParticleRows *rows, uint32_t count)
{
    bool complete = true;
#define PARTICLE(type, name)                                                                                           \
    rows->name = malloc((size_t)count * sizeof(type));                                                                 \
    complete = complete && rows->name != NULL;
#include "kernels/data.def"
    return complete ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory to add %u particles", count);
}

static void upload_rows(MoteWorld *world, const ParticleRows *rows, uint32_t first, uint32_t count)
{
#define PARTICLE(type, name)                                                                                           \
    world->backend->functions->upload(world->backend, world->view.name + first, rows->name, count * sizeof(type));
#include "kernels/data.def"
}

// Converts new particles to the form that kernels read.
static MoteResult describe_particles(MoteWorld *world, const MoteParticles *particles, ParticleRows *rows)
{
    enum { ASK_EVERY = 1 << 20 }; // particles
    for (uint32_t i = 0; i < particles->count; i++) {
        if (i % ASK_EVERY == 0 && stop_asked()) {
            return stop_fail();
        }
        const MoteVec3 p = particles->positions[i];
        const MoteVec3 v = particles->velocities != NULL ? particles->velocities[i] : (MoteVec3){0, 0, 0};
        const float mass = particles->masses != NULL ? particles->masses[i] : particles->mass;
        const float inverse_mass = mass > 0.0f ? 1.0f / mass : 0.0f;
        world_tally_mass(&world->tally, inverse_mass, particles->phase);
        world_tally_liquid(&world->tally, particles->phase);
        rows->positions[i] = v4(p.x, p.y, p.z, inverse_mass);
        rows->velocities[i] = v4(v.x, v.y, v.z, 0.0f); // no density has been measured yet
        rows->ids[i] = world->tally.next_id + i;
        rows->phases[i] = particles->phase & ~MOTE_PHASE_REMOVED;
    }
    return MOTE_OK;
}

// A sort also runs after a failed speculation. Particles that were added between steps must stay at the end then.
static MoteResult mark_keys_removed(MoteWorld *world, uint32_t first, uint32_t count)
{
    u64 *keys = malloc((size_t)count * sizeof *keys);
    if (keys == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to add %u particles", count);
    }
    memset(keys, 0xff, count * sizeof *keys); // KEY_REMOVED
    world->backend->functions->upload(world->backend, world->view.keys + first, keys, count * sizeof *keys);
    free(keys);
    return MOTE_OK;
}

MoteResult mote_world_add_particles(MoteWorld *world, const MoteParticles *particles, uint32_t *first_id)
{
    MoteResult result = check_particles(world, particles);
    if (result != MOTE_OK) {
        return result;
    }
    const uint32_t count = particles->count;
    const uint32_t before = world->view.particle_count;
    if (first_id != NULL) {
        *first_id = world->tally.next_id;
    }
    if (world->preparing && !world->replays && (uint64_t)before + count > world_most_particles(world)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%u particles are added between steps, expected at most %u: see "
                         "world_expect_particles",
                         count, world_most_particles(world) - before);
    }
    if (count == 0 || world->replays) {
        return MOTE_OK;
    }
    const bool fluid = has_density(particles->phase);
    const uint64_t most = world_most_particles(world), all = (uint64_t)before + count;
    ParticleRows rows = {0};
    result = allocate_rows(&rows, count);
    result = result == MOTE_OK ? world_reserve_particles(world, all > most ? all : most) : result;
    result = result == MOTE_OK && !fluid ? world_reserve_solids(world) : result;
    result = result == MOTE_OK && is_gas(particles->phase) ? world_reserve_gas(world) : result;
    result = result == MOTE_OK && world->preparing ? mark_keys_removed(world, before, count) : result;
    result = result == MOTE_OK ? world_clear_slots(world, before, count) : result;
    result =
        result == MOTE_OK && is_gas(particles->phase) ? world_begin_gas_particles(world, particles, before) : result;
    result = result == MOTE_OK ? describe_particles(world, particles, &rows) : result;
    if (result == MOTE_OK) {
        upload_rows(world, &rows, before, count);
        const uint32_t group = particles->phase & MOTE_PHASE_GROUP_MASK;
        world->tally.next_group = world->tally.next_group > group + 1 ? world->tally.next_group : group + 1;
        world->tally.has_fluid |= fluid;
        world->tally.next_id += count;
        world->view.particle_count = before + count;
        world->lists_are_current = false;
    }
    free_rows(&rows);
    return result;
}

static int compare_ids(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

MoteResult world_remove_slots(MoteWorld *world, const bool *gone, uint32_t count)
{
    const uint32_t slots = world->view.particle_count;
    u64 *keys = malloc(slots * sizeof *keys + 1);
    uint *order = malloc(slots * sizeof *order + 1);
    if (keys == NULL || order == NULL) {
        free(keys);
        free(order);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to remove %u particles", count);
    }
    // Stable compaction: a sort moves removed particles to the end, and the others keep their order.
    for (uint32_t i = 0; i < slots; i++) {
        keys[i] = gone[i] ? KEY_REMOVED : 0;
        order[i] = i;
    }
    const BackendFunctions *functions = world->backend->functions;
    uint counters[COUNTER_LIMIT] = {0};
    counters[COUNTER_REMOVED] = count;
    functions->upload(world->backend, world->view.keys, keys, slots * sizeof *keys);
    functions->upload(world->backend, world->view.order, order, slots * sizeof *order);
    functions->upload(world->backend, world->view.counters, counters, sizeof counters);
    world->lists_are_current = false;
    world->has_marked = true;
    free(keys);
    free(order);
    return world_sort_particles(world);
}

// Marks the slots of the particles to remove; an error if one is not in the world.
static MoteResult find_removed(const MoteParticleView *host, const uint32_t *sorted, uint32_t count, bool *gone,
                               uint32_t *found)
{
    uint32_t distinct = 1;
    for (uint32_t i = 1; i < count; i++) {
        distinct += sorted[i] != sorted[i - 1];
    }
    *found = 0;
    for (uint32_t i = 0; i < host->count; i++) {
        gone[i] = bsearch(&host->ids[i], sorted, count, sizeof *sorted, compare_ids) != NULL;
        *found += gone[i];
    }
    return *found == distinct ? MOTE_OK
                              : mote_fail(MOTE_ERROR_INPUT, "%u of the %u particles to remove are not in the world",
                                          distinct - *found, distinct);
}

MoteResult mote_world_remove_particles(MoteWorld *world, const uint32_t *ids, uint32_t count)
{
    if (count == 0) {
        return MOTE_OK;
    }
    MoteParticleView host;
    MoteResult result = particle_copy_read(world, COPY_IDS, &host);
    uint32_t *sorted = malloc(count * sizeof *sorted);
    bool *gone = malloc(host.count * sizeof *gone + 1);
    if (result == MOTE_OK && (sorted == NULL || gone == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to remove %u particles", count);
    }
    if (result == MOTE_OK) {
        uint32_t found;
        memcpy(sorted, ids, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_ids);
        result = find_removed(&host, sorted, count, gone, &found);
        result = result == MOTE_OK ? world_remove_slots(world, gone, found) : result;
    }
    free(sorted);
    free(gone);
    particle_copy_free(&host);
    return result;
}

// ---- Reading and writing -----------------------------------------------------------------------------------

MoteResult world_check_backend(const MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    const char *failure = functions->failure(world->backend);
    if (failure != NULL) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "backend %s failed after step %llu: %s", functions->name,
                         (unsigned long long)world->steps, failure);
    }
    return MOTE_OK;
}

static void read_array(MoteWorld *world, void *target, const void *source, size_t element)
{
    if (target != NULL && world->view.particle_count > 0) {
        world->backend->functions->download(world->backend, target, source, world->view.particle_count * element);
    }
}

MoteResult mote_world_read(MoteWorld *world, MoteParticleView *view)
{
    view->count = world->view.particle_count;
    if (view->capacity < view->count) {
        return mote_fail(MOTE_ERROR_INPUT, "room to read %u particles, expected room for the world's %u",
                         view->capacity, view->count);
    }
    read_array(world, view->positions, world->view.positions, sizeof(vec4));
    read_array(world, view->velocities, world->view.velocities, sizeof(vec4));
    read_array(world, view->ids, world->view.ids, sizeof(uint));
    read_array(world, view->phases, world->view.phases, sizeof(uint));
    return world_check_backend(world);
}

static MoteResult check_written(const MoteParticleView *view)
{
    for (size_t i = 0; i < (size_t)view->count * 4; i++) {
        const float position = view->positions != NULL ? view->positions[i] : 0.0f;
        const float velocity = view->velocities != NULL ? view->velocities[i] : 0.0f;
        if (!isfinite(position) || !isfinite(velocity) || (i % 4 == 3 && position < 0.0f)) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "particle %zu has position component %g and velocity component %g, expected "
                             "finite numbers and an inverse mass not below 0",
                             i / 4, (double)position, (double)velocity);
        }
    }
    return MOTE_OK;
}

MoteResult mote_world_write(MoteWorld *world, const MoteParticleView *view)
{
    if (view->count != world->view.particle_count) {
        return mote_fail(MOTE_ERROR_INPUT, "%u particles to write, expected the world's %u", view->count,
                         world->view.particle_count);
    }
    const MoteResult checked = check_written(view);
    if (checked != MOTE_OK) {
        return checked;
    }
    for (size_t i = 0; i < view->count && view->positions != NULL; i++) { // only now that all of it is accepted
        const uint32_t phase =
            view->phases != NULL ? view->phases[i] : MOTE_PHASE(MOTE_KIND_LIQUID, 0); // for all that is known
        world_tally_mass(&world->tally, view->positions[4 * i + 3], phase);
    }
    const BackendFunctions *functions = world->backend->functions;
    if (view->count > 0 && view->positions != NULL) {
        functions->upload(world->backend, world->view.positions, view->positions, (size_t)view->count * 16);
        world->lists_are_current = false;
    }
    if (view->count > 0 && view->velocities != NULL) {
        functions->upload(world->backend, world->view.velocities, view->velocities, (size_t)view->count * 16);
    }
    return MOTE_OK;
}

// ---- Channels ----------------------------------------------------------------------------------------------

Channel *world_find_channel(MoteWorld *world, const char *name)
{
    Channel *channel = world_look_up_channel(world, name);
    if (channel == NULL) {
        mote_fail(MOTE_ERROR_INPUT, "channel \"%s\" is not in the world", name);
    }
    return channel;
}

MoteResult mote_world_add_channel(MoteWorld *world, const char *name, uint32_t components)
{
    const size_t length = strlen(name);
    if (length == 0 || length >= WORLD_CHANNEL_NAME_SIZE) {
        return mote_fail(MOTE_ERROR_INPUT, "channel name \"%s\" has %zu bytes, expected 1 to %d", name, length,
                         WORLD_CHANNEL_NAME_SIZE - 1);
    }
    if (components < 1 || components > 4) {
        return mote_fail(MOTE_ERROR_INPUT, "channel \"%s\" has %u components, expected 1 to 4", name, components);
    }
    if (world_look_up_channel(world, name) != NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "channel \"%s\" is in the world already", name);
    }
    if (world->channel_count == WORLD_CHANNEL_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "channel \"%s\" would be one more than the %d a world can have", name,
                         WORLD_CHANNEL_LIMIT);
    }
    Channel *channel = &world->channels[world->channel_count];
    *channel = (Channel){.components = components};
    memcpy(channel->name, name, length + 1);
    const MoteResult result = world_add_channel_buffer(world, channel);
    world->channel_count += result == MOTE_OK;
    return result;
}

uint32_t mote_world_channel_count(const MoteWorld *world)
{
    return world->channel_count;
}

const char *mote_world_channel_name(const MoteWorld *world, uint32_t channel, uint32_t *components)
{
    MOTE_ASSERT(channel < world->channel_count);
    if (components != NULL) {
        *components = world->channels[channel].components;
    }
    return world->channels[channel].name;
}

MoteResult mote_world_read_channel(MoteWorld *world, const char *name, float *values)
{
    const Channel *channel = world_find_channel(world, name);
    if (channel == NULL) {
        return MOTE_ERROR_INPUT;
    }
    if (world->view.particle_count > 0) {
        world->backend->functions->download(world->backend, values, channel->words,
                                            (size_t)world->view.particle_count * channel->components * 4);
    }
    return world_check_backend(world);
}

MoteResult mote_world_write_channel(MoteWorld *world, const char *name, const float *values)
{
    const Channel *channel = world_find_channel(world, name);
    if (channel == NULL) {
        return MOTE_ERROR_INPUT;
    }
    if (world->view.particle_count > 0) {
        world->backend->functions->upload(world->backend, channel->words, values,
                                          (size_t)world->view.particle_count * channel->components * 4);
    }
    return MOTE_OK;
}
