// SPDX-License-Identifier: MIT
// colliders.c - hulls and distance fields of colliders, in the world's buffers.
#include "solver/world.h"

#include "base/error.h"
#include "geometry/field.h"
#include "geometry/hull.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Room for one more in an array of `count`; false if there is no memory. Grows at powers of two.
static bool make_room(void *address_of_pointer, uint32_t count, size_t element)
{
    if ((count & (count - 1)) != 0 && count > 0) {
        return true;
    }
    void *old;
    memcpy(&old, address_of_pointer, sizeof old);
    void *grown = realloc(old, (count > 0 ? 2 * (size_t)count : 1) * element);
    if (grown != NULL) {
        memcpy(address_of_pointer, &grown, sizeof grown);
    }
    return grown != NULL;
}

// Neighbour lists do not depend on colliders.
static MoteResult reserve(MoteWorld *world, Capacity capacity, uint64_t count, uint64_t keep)
{
    const bool lists_are_current = world->lists_are_current;
    const MoteResult result = world_reserve(world, capacity, count, keep);
    world->lists_are_current = lists_are_current;
    return result;
}

// ---- Hulls -------------------------------------------------------------------------------------------------

MoteResult mote_world_add_hull(MoteWorld *world, const MoteVec3 *points, uint32_t count, uint32_t *out)
{
    WorldColliders *colliders = &world->colliders;
    Hull *hull = malloc(sizeof *hull);
    vec4 *rows = malloc(4 * HULL_TRIANGLE_LIMIT * sizeof *rows);
    MoteResult result =
        hull == NULL || rows == NULL || !make_room(&colliders->hulls, colliders->hull_count, sizeof *colliders->hulls)
            ? mote_fail(MOTE_ERROR_MEMORY, "no memory for a hull")
            : hull_make(points, count, hull);
    const uint32_t first = colliders->hull_row_count;
    if (result == MOTE_OK) {
        result = reserve(world, CAPACITY_HULL_ROWS, (uint64_t)first + 4 * hull->triangle_count, first);
    }
    if (result == MOTE_OK) {
        for (uint32_t t = 0; t < hull->triangle_count; t++) {
            const HullTriangle *triangle = &hull->triangles[t];
            const MoteVec3 n = triangle->normal;
            rows[4 * t] = v4(n.x, n.y, n.z, triangle->offset);
            for (uint32_t k = 0; k < 3; k++) {
                const MoteVec3 p = triangle->corners[k];
                rows[4 * t + 1 + k] = v4(p.x, p.y, p.z, 0.0f);
            }
        }
        const uint32_t row_count = 4 * hull->triangle_count;
        world->backend->functions->upload(world->backend, world->view.hull_rows + first, rows,
                                          row_count * sizeof *rows);
        colliders->hulls[colliders->hull_count] = (WorldHull){first, hull->triangle_count, hull->radius};
        colliders->hull_row_count += row_count;
        *out = colliders->hull_count++;
    }
    free(rows);
    free(hull);
    return result;
}

// ---- Fields ------------------------------------------------------------------------------------------------

// The word where a part of the field is in the world's buffer.
static uint32_t part(const WorldField *slot, uint32_t word)
{
    return word != FIELD_NOTHING ? (uint32_t)(slot->start + word) : FIELD_NONE;
}

static Field field_row(const WorldField *slot)
{
    const MoteField *field = slot->field;
    const float slope = field->mode == MOTE_FIELD_OUTSIDE ? -1.0f : 1.0f;
    return (Field){
        .bounds_min = v3(field->bounds_min.x, field->bounds_min.y, field->bounds_min.z),
        .bounds_max = v3(field->bounds_max.x, field->bounds_max.y, field->bounds_max.z),
        .origin = v3(field->origin.x, field->origin.y, field->origin.z),
        .cells_per_metre = 1.0f / field->cell_size,
        .outside =
            field->outside - slope * field->cell_size, // voxels are whole: the box may end a cell before the band
        .slope = slope,
        .distances = part(slot, field->distances),
        .closest = part(slot, field->closest),
        .vertices = part(slot, field->vertices),
        .triangles = part(slot, field->triangles),
        .velocities = part(slot, field->velocities),
        .uvs = part(slot, field->uvs),
        .friction = part(slot, field->friction),
        .friction_width = field->friction_width,
        .friction_height = field->friction_height,
        .wet = field->wet_width > 0 ? slot->wet_start : FIELD_NONE,
        .wet_width = field->wet_width,
        .wet_height = field->wet_height,
    };
}

Field world_field_row(const MoteWorld *world, uint32_t number)
{
    return field_row(&world->colliders.fields[number]);
}

static void upload_field(MoteWorld *world, uint32_t number)
{
    const BackendFunctions *functions = world->backend->functions;
    const WorldField *slot = &world->colliders.fields[number];
    const Field row = field_row(slot);
    functions->upload(world->backend, world->view.field_words + slot->start, slot->field->words,
                      slot->field->word_count * sizeof(uint));
    functions->upload(world->backend, world->view.fields + number, &row, sizeof row);
}

// The bounding radius around the field's origin; containers have no bound.
float world_field_radius(const MoteWorld *world, uint32_t number)
{
    const MoteField *field = world->colliders.fields[number].field;
    if (field->mode == MOTE_FIELD_OUTSIDE) {
        return UNBOUNDED_RADIUS;
    }
    const float x = fmaxf(fabsf(field->bounds_min.x), fabsf(field->bounds_max.x));
    const float y = fmaxf(fabsf(field->bounds_min.y), fabsf(field->bounds_max.y));
    const float z = fmaxf(fabsf(field->bounds_min.z), fabsf(field->bounds_max.z));
    return sqrtf(x * x + y * y + z * z);
}

static uint64_t wet_texels(const MoteField *field)
{
    return (uint64_t)field->wet_width * field->wet_height;
}

// Lays out all fields one after the other, with the size that each slot needs.
static MoteResult repack(MoteWorld *world)
{
    WorldColliders *colliders = &world->colliders;
    uint64_t total = 0;
    for (uint32_t i = 0; i < colliders->field_count; i++) {
        total += colliders->fields[i].room;
    }
    const MoteResult result = reserve(world, CAPACITY_FIELD_WORDS, total, 0);
    if (result != MOTE_OK) {
        return result;
    }
    uint64_t start = 0;
    for (uint32_t i = 0; i < colliders->field_count; i++) {
        colliders->fields[i].start = start;
        start += colliders->fields[i].room;
        upload_field(world, i);
    }
    colliders->field_word_count = start;
    return MOTE_OK;
}

MoteResult mote_world_add_field(MoteWorld *world, const MoteField *field, uint32_t *out)
{
    WorldColliders *colliders = &world->colliders;
    const uint32_t number = colliders->field_count;
    if (!make_room(&colliders->fields, number, sizeof *colliders->fields)) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a field");
    }
    const uint64_t start = colliders->field_word_count, wet_start = colliders->wet_texel_count;
    MoteResult result = reserve(world, CAPACITY_FIELDS, (uint64_t)number + 1, number);
    result = result == MOTE_OK ? reserve(world, CAPACITY_FIELD_WORDS, start + field->word_count, start) : result;
    if (result == MOTE_OK && wet_texels(field) > 0) {
        result = reserve(world, CAPACITY_WET_TEXELS, wet_start + wet_texels(field), wet_start);
    }
    if (result != MOTE_OK) {
        return result;
    }
    if (wet_texels(field) > 0) {
        const MoteResult cleared = world_clear_wet(world, wet_start, wet_texels(field));
        if (cleared != MOTE_OK) {
            return cleared;
        }
    }
    field_retain(field);
    colliders->fields[number] = (WorldField){field, start, field->word_count, (uint32_t)wet_start};
    colliders->field_count++;
    colliders->field_word_count += field->word_count;
    colliders->wet_texel_count += wet_texels(field);
    upload_field(world, number);
    *out = number;
    return MOTE_OK;
}

static MoteResult check_number(const MoteWorld *world, uint32_t number)
{
    const uint32_t count = world->colliders.field_count;
    return number < count ? MOTE_OK
                          : mote_fail(MOTE_ERROR_INPUT, "field %u, expected less than the world's %u", number, count);
}

// Updates colliders that refer to a field whose size has changed. Dynamic ones are updated in every step.
static void refresh_radii(MoteWorld *world, uint32_t number)
{
    const float radius = world_field_radius(world, number);
    for (uint32_t s = 0; s < world->view.collider_count; s++) {
        Collider *row = &world->collider_rows[s];
        bool has_mass = false;
        for (uint32_t d = 0; d < world->view.dynamic_count; d++) {
            has_mass = has_mass || world->dynamics[d].index == s;
        }
        if (row->kind == COLLIDER_FIELD && row->data == number && row->inside_out == 0u && !has_mass) {
            row->bounding_radius = radius + v3_length(v3_sub(row->position, row->start_position));
            world->backend->functions->upload(world->backend, world->view.colliders + s, row, sizeof *row);
        }
    }
}

MoteResult mote_world_set_field(MoteWorld *world, uint32_t number, const MoteField *replacement)
{
    MoteResult result = check_number(world, number);
    if (result != MOTE_OK) {
        return result;
    }
    WorldField *slot = &world->colliders.fields[number];
    const WorldField before = *slot;
    if (wet_texels(replacement) > 0 &&
        (replacement->wet_width != before.field->wet_width || replacement->wet_height != before.field->wet_height)) {
        return mote_fail(MOTE_ERROR_INPUT, "a field with a wet map of %u x %u texels cannot replace one with %u x %u",
                         replacement->wet_width, replacement->wet_height, before.field->wet_width,
                         before.field->wet_height);
    }
    slot->field = replacement;
    if (replacement->word_count <= slot->room) {
        upload_field(world, number);
    } else {
        slot->room = (replacement->word_count + replacement->word_count / 4) / 8 * 8; // meshes that move change in size
        result = repack(world);
    }
    if (result != MOTE_OK) {
        *slot = before;
        return result;
    }
    field_retain(replacement);
    mote_field_destroy((MoteField *)(uintptr_t)before.field);
    refresh_radii(world, number);
    return MOTE_OK;
}

void world_free_colliders(MoteWorld *world)
{
    for (uint32_t i = 0; i < world->colliders.field_count; i++) {
        mote_field_destroy((MoteField *)(uintptr_t)world->colliders.fields[i].field);
    }
    free(world->colliders.fields);
    free(world->colliders.hulls);
    world->colliders = (WorldColliders){0};
}

MoteResult mote_world_clear_fields(MoteWorld *world)
{
    MoteResult result = mote_world_set_colliders(world, NULL, 0);
    result = result == MOTE_OK ? mote_world_set_kill_volumes(world, NULL, 0) : result;
    if (result != MOTE_OK) {
        return result;
    }
    WorldColliders *colliders = &world->colliders;
    for (uint32_t i = 0; i < colliders->field_count; i++) {
        mote_field_destroy((MoteField *)(uintptr_t)colliders->fields[i].field);
    }
    colliders->field_count = 0;
    colliders->field_word_count = 0;
    colliders->wet_texel_count = 0;
    result = reserve(world, CAPACITY_FIELDS, 0, 0);
    result = result == MOTE_OK ? reserve(world, CAPACITY_FIELD_WORDS, 0, 0) : result;
    return result == MOTE_OK ? reserve(world, CAPACITY_WET_TEXELS, 0, 0) : result;
}

// ---- Wet maps ----------------------------------------------------------------------------------------------

MoteResult world_clear_wet(MoteWorld *world, uint64_t first, uint64_t count)
{
    uint *zeros = calloc(count, sizeof *zeros);
    if (zeros == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a wet map of %llu texels", (unsigned long long)count);
    }
    world->backend->functions->upload(world->backend, world->view.wet_texels + first, zeros, count * sizeof *zeros);
    free(zeros);
    return MOTE_OK;
}

MoteResult mote_world_wet_map(MoteWorld *world, uint32_t number, uint32_t width, uint32_t height, float *texels)
{
    const MoteResult result = check_number(world, number);
    if (result != MOTE_OK) {
        return result;
    }
    const WorldField *slot = &world->colliders.fields[number];
    if (slot->field->wet_width == 0 || width != slot->field->wet_width || height != slot->field->wet_height) {
        return mote_fail(MOTE_ERROR_INPUT, "field %u has a wet map of %u x %u texels, asked for %u x %u", number,
                         slot->field->wet_width, slot->field->wet_height, width, height);
    }
    const size_t count = (size_t)width * height;
    uint *counts = malloc(count * sizeof *counts);
    if (counts == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a wet map of %zu texels", count);
    }
    world->backend->functions->download(world->backend, counts, world->view.wet_texels + slot->wet_start,
                                        count * sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        texels[i] = (float)(counts[i] < WET_LIMIT ? counts[i] : WET_LIMIT) * WET_UNIT;
    }
    free(counts);
    return world_check_backend(world);
}
