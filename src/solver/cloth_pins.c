// SPDX-License-Identifier: MIT
// cloth_pins.c - sets of pins that move (kernels/cloth/pins.h): checks them, keeps their frames, and launches what
// moves them.
#include "mote_cloth.h"
#include "solver/particle_copy.h"
#include "solver/world.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>
#include <stdlib.h>

#define PINS_FREE 0xfffffffeu // PIN_FREE of the kernels

static MoteResult check_pose(MoteTransform pose)
{
    const MoteVec3 p = pose.position;
    const MoteQuaternion q = pose.rotation;
    const float length = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z) || !(fabsf(length - 1.0f) < 1e-2f)) {
        return mote_fail(MOTE_ERROR_INPUT, "pins have a pose that is not finite, or a rotation not of unit length");
    }
    return MOTE_OK;
}

static void upload_poses(MoteWorld *world, uint32_t set, MoteTransform from, MoteTransform to)
{
    const MoteQuaternion q[2] = {quat_normalize(from.rotation), quat_normalize(to.rotation)};
    const MoteVec3 p[2] = {from.position, to.position};
    vec4 rows[4];
    for (int i = 0; i < 2; i++) {
        rows[2 * i] = v4(q[i].x, q[i].y, q[i].z, q[i].w);
        rows[2 * i + 1] = v4(p[i].x, p[i].y, p[i].z, 0.0f);
    }
    world->backend->functions->upload(world->backend, world->view.pin_poses + 4 * (size_t)set, rows, sizeof rows);
}

// ---- Adding ------------------------------------------------------------------------------------------------

// The rows of new pins.
typedef struct PinRows {
    uint *handles, *sets, *slots; // of slots one a handle of the world
    vec4 *places;
} PinRows;

static void rows_free(PinRows *rows)
{
    free(rows->slots);
    free(rows->handles);
    free(rows->sets);
    free(rows->places);
}

static MoteResult find_frame(MoteWorld *world, const MotePins *pins, MoteTransform *frame)
{
    *frame = pins->pose;
    if (pins->collider.generation == 0) {
        return check_pose(pins->pose);
    }
    MoteColliderState state;
    const MoteResult result = mote_world_read_collider(world, pins->collider, &state);
    *frame = state.pose;
    return result;
}

static MoteResult describe_pins(MoteWorld *world, const MotePins *pins, PinRows *rows)
{
    MoteTransform frame = {0};
    MoteResult result = find_frame(world, pins, &frame);
    for (uint32_t i = 0; i < pins->count && result == MOTE_OK; i++) {
        result = world_check_handle(world, pins->particles[i], &rows->handles[i]);
        if (result == MOTE_OK && rows->handles[i] < HANDLE_SINGLE) {
            result = mote_fail(MOTE_ERROR_INPUT, "pin %u is a body's particle, expected one of its own", i);
        }
    }
    MoteParticleView host = {0};
    result = result == MOTE_OK ? world_read_slots(world, rows->slots) : result;
    result = result == MOTE_OK ? particle_copy_read(world, COPY_POSITIONS, &host) : result;
    const MoteQuaternion back = quat_conjugate(quat_normalize(frame.rotation));
    for (uint32_t i = 0; i < pins->count && result == MOTE_OK; i++) {
        const uint32_t slot = rows->slots[world_handle_row(world, rows->handles[i])];
        const float *p = slot < host.count ? host.positions + 4 * (size_t)slot : NULL;
        if (p == NULL || p[3] > 0.0f) {
            result = mote_fail(MOTE_ERROR_INPUT, "pin %u %s", i,
                               p != NULL ? "has a mass, expected a particle without" : "was removed");
        } else {
            const MoteVec3 place = vec3_rotate(back, vec3_sub((MoteVec3){p[0], p[1], p[2]}, frame.position));
            rows->places[i] = v4(place.x, place.y, place.z, 0.0f);
            rows->sets[i] = world->view.pin_set_count;
        }
    }
    particle_copy_free(&host);
    return result;
}

static MoteResult reserve_pins(MoteWorld *world, uint32_t added)
{
    const uint64_t pins = world->view.pin_count, sets = world->view.pin_set_count;
    WorldPins *grown = realloc(world->pins, (size_t)(sets + 1) * sizeof *grown);
    if (grown == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for pins");
    }
    world->pins = grown;
    MoteResult result = world_reserve(world, CAPACITY_PINS, pins + added, pins);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_PIN_SETS, sets + 1, sets) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_PIN_POSES, 4 * (sets + 1), 4 * sets) : result;
    return result == MOTE_OK ? world_check_backend(world) : result;
}

static void upload_pins(MoteWorld *world, const MotePins *pins, const PinRows *rows)
{
    SolverData *view = &world->view;
    void (*const upload)(Backend *, void *, const void *, size_t) = world->backend->functions->upload;
    const uint32_t set = view->pin_set_count;
    const bool is_free = pins->collider.generation == 0;
    WorldPins *record = &world->pins[set];
    *record = (WorldPins){pins->collider, is_free ? PINS_FREE : world_collider_row(world, pins->collider)};
    const size_t count = pins->count;
    upload(world->backend, view->pin_handles + view->pin_count, rows->handles, count * sizeof *rows->handles);
    upload(world->backend, view->pin_places + view->pin_count, rows->places, count * sizeof *rows->places);
    upload(world->backend, view->pin_sets + view->pin_count, rows->sets, count * sizeof *rows->sets);
    upload(world->backend, view->pin_colliders + set, &record->row, sizeof record->row);
    const MoteTransform still = {.rotation = {0, 0, 0, 1}};
    upload_poses(world, set, is_free ? pins->pose : still, is_free ? pins->pose : still);
    view->pin_count += pins->count;
    view->pin_set_count++;
}

MoteResult mote_world_add_pins(MoteWorld *world, const MotePins *pins, uint32_t *index)
{
    if (pins->count == 0 || (uint64_t)world->view.pin_count + pins->count > UINT32_MAX / 8) {
        return mote_fail(MOTE_ERROR_INPUT, "a set of %u pins, expected one at least and in all at most 2^29",
                         pins->count);
    }
    PinRows rows = {.slots = malloc(world->view.handle_count * sizeof *rows.slots + 1),
                    .handles = malloc(pins->count * sizeof *rows.handles),
                    .sets = malloc(pins->count * sizeof *rows.sets),
                    .places = malloc(pins->count * sizeof *rows.places)};
    MoteResult result = rows.slots != NULL && rows.handles != NULL && rows.sets != NULL && rows.places != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u pins", pins->count);
    result = result == MOTE_OK ? describe_pins(world, pins, &rows) : result;
    result = result == MOTE_OK ? reserve_pins(world, pins->count) : result;
    if (result == MOTE_OK) {
        if (index != NULL) {
            *index = world->view.pin_set_count;
        }
        upload_pins(world, pins, &rows);
    }
    rows_free(&rows);
    return result;
}

MoteResult mote_world_move_pins(MoteWorld *world, uint32_t index, MoteTransform from, MoteTransform to)
{
    if (index >= world->view.pin_set_count || world->pins[index].collider.generation != 0) {
        return mote_fail(MOTE_ERROR_INPUT, "set of pins %u is none that has a frame of its own", index);
    }
    MoteResult result = check_pose(from);
    result = result == MOTE_OK ? check_pose(to) : result;
    if (result == MOTE_OK) {
        upload_poses(world, index, from, to);
        result = world_check_backend(world);
    }
    return result;
}

// ---- Moving ------------------------------------------------------------------------------------------------

// Colliders' rows change when some are removed.
static void follow_colliders(MoteWorld *world)
{
    for (uint32_t i = 0; i < world->view.pin_set_count; i++) {
        WorldPins *pins = &world->pins[i];
        if (pins->collider.generation == 0) {
            continue;
        }
        const uint32_t row =
            mote_world_has_collider(world, pins->collider) ? world_collider_row(world, pins->collider) : NONE;
        if (row != pins->row) {
            pins->row = row;
            world->backend->functions->upload(world->backend, world->view.pin_colliders + i, &row, sizeof row);
        }
    }
}

void world_move_pins(MoteWorld *world, bool located)
{
    if (world->view.pin_count == 0) {
        return;
    }
    if (!located) {
        follow_colliders(world);
        world_locate_handles(world);
    }
    LAUNCH(world, move_pins);
}

void world_credit_pins(MoteWorld *world)
{
    if (world->view.pin_count > 0 && world->view.link_count > 0) {
        LAUNCH(world, credit_pins);
    }
}
