// SPDX-License-Identifier: MIT
// attachments_build.c - what holds vertices of a scene's cloth: keyframes, colliders and bodies.
#include "mote_cloth.h"
#include "scene/cloth_yard.h"
#include "scene/load.h"
#include "solver/particle_copy.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TO_KEYFRAMES, TO_COLLIDER, TO_BODY }; // what the key `to` says

MoteTransform scene_attachment_pose(const SceneAttachment *attachment)
{
    return (MoteTransform){vec3_add(attachment->pivot, attachment->translation), scene_rotation(attachment->rotation)};
}

void scene_check_attachment(SceneReader *reader, uint32_t i)
{
    if (!reader->values_are_right) {
        return;
    }
    const SceneValues *values = &reader->scene->values;
    const SceneAttachment *attachment = SCENE_AT(values, attachment, i);
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_attachment, i);
    const ScenePath cloth = path_to_key(&parent, "cloth"), target = path_to_key(&parent, "target");
    const uint32_t cloths = SCENE_COUNT(values, cloth);
    if (attachment->cloth >= cloths) {
        scene_report(reader, &cloth, SCENE_AT_VALUE, "found %u, expected the number of a cloth, below %u",
                     attachment->cloth, cloths);
    }
    const uint32_t targets = attachment->to == TO_COLLIDER ? SCENE_COUNT(values, collider) : SCENE_COUNT(values, body);
    if (attachment->to != TO_KEYFRAMES && attachment->target >= targets) {
        scene_report(reader, &target, SCENE_AT_VALUE, "found %u, expected the number of a %s, below %u",
                     attachment->target, attachment->to == TO_COLLIDER ? "collider" : "body", targets);
    }
}

// ---- Vertices ----------------------------------------------------------------------------------------------

// The vertices of an attachment, to be freed; an error if it has none.
static MoteResult choose(SceneStart *start, const ClothYard *yard, uint32_t i, bool **chosen)
{
    const SceneAttachment *attachment = SCENE_AT(&start->scene->values, attachment, i);
    char what[sizeof yard->what];
    snprintf(what, sizeof what, "%.400s: attachments[%u]", start->scene->path, i);
    const ClothChoice choice = {
        what, "vertices", attachment->vertices, "box_size", attachment->box_position, attachment->box_size};
    *chosen = calloc(yard->vertex_count, sizeof **chosen);
    MoteResult result = *chosen != NULL ? cloth_yard_choose(yard, &choice, *chosen)
                                        : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its vertices", what);
    uint32_t count = 0;
    for (uint32_t v = 0; v < yard->vertex_count && result == MOTE_OK; v++) {
        count += (*chosen)[v];
    }
    if (result == MOTE_OK && count == 0) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: found no vertices, expected some by vertices or box_size", what);
    }
    return result;
}

MoteResult attachments_pin(SceneStart *start, ClothYard *yard, uint32_t element)
{
    const SceneValues *values = &start->scene->values;
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(values, attachment) && result == MOTE_OK; i++) {
        const SceneAttachment *attachment = SCENE_AT(values, attachment, i);
        if (attachment->cloth != element || attachment->to == TO_BODY) {
            continue;
        }
        bool *chosen = NULL;
        result = choose(start, yard, i, &chosen);
        for (uint32_t v = 0; v < yard->vertex_count && result == MOTE_OK; v++) {
            yard->masses[v] = chosen[v] ? 0.0f : yard->masses[v];
        }
        free(chosen);
    }
    return result;
}

// The ids and handles of the chosen vertices; free the handles.
static MoteResult make_handles(SceneStart *start, const ClothYard *yard, const bool *chosen, uint32_t first_id,
                               MoteParticleHandle **handles, uint32_t *count)
{
    uint32_t *ids = malloc(yard->vertex_count * sizeof *ids);
    *handles = malloc(yard->vertex_count * sizeof **handles);
    *count = 0;
    for (uint32_t v = 0; v < yard->vertex_count && ids != NULL; v++) {
        if (chosen[v]) {
            ids[(*count)++] = first_id + v;
        }
    }
    const MoteResult result = ids != NULL && *handles != NULL
                                  ? mote_world_make_handles(start->world, ids, *count, *handles)
                                  : mote_fail(MOTE_ERROR_MEMORY, "no memory for attachments");
    free(ids);
    return result;
}

// ---- Bodies ------------------------------------------------------------------------------------------------

static bool is_of_body(const SceneStart *start, uint32_t body, uint32_t id)
{
    for (uint32_t s = 0; s < start->source_count; s++) {
        const StartSource *source = &start->sources[s];
        if (source->section == SCENE_SECTION_body && source->element == body && id >= source->first_id &&
            id < source->first_id + source->count) {
            return true;
        }
    }
    return false;
}

// The body's particle that is nearest to a place.
static uint32_t nearest_of_body(const SceneStart *start, const MoteParticleView *view, uint32_t body, MoteVec3 place,
                                float *distance)
{
    uint32_t nearest = MOTE_NONE;
    *distance = INFINITY;
    for (uint32_t k = 0; k < view->count; k++) {
        const float *p = view->positions + 4 * (size_t)k;
        const float away = vec3_length(vec3_sub((MoteVec3){p[0], p[1], p[2]}, place));
        if (away < *distance && is_of_body(start, body, view->ids[k])) {
            *distance = away;
            nearest = view->ids[k];
        }
    }
    return nearest;
}

// Links to the nearest particles. They are not shorter than solids touch at: contacts would push against them.
static MoteResult link_to_body(SceneStart *start, const ClothYard *yard, const SceneAttachment *attachment,
                               const bool *chosen, const MoteParticleHandle *handles)
{
    MoteParticleView view;
    MoteResult result = particle_copy_read(start->world, COPY_POSITIONS | COPY_IDS, &view);
    const float contact = scene_contact_distance(SCENE_AT(&start->scene->values, solver, 0));
    uint32_t count = 0;
    for (uint32_t v = 0; v < yard->vertex_count && result == MOTE_OK; v++) {
        if (!chosen[v]) {
            continue;
        }
        float distance;
        const uint32_t id = nearest_of_body(start, &view, attachment->target, yard->positions[v], &distance);
        MoteSpring spring = {.rest_length = fmaxf(distance, contact),
                             .stiffness = attachment->compliance > 0.0f ? 1.0f / attachment->compliance : INFINITY};
        spring.ends[0] = handles[count++];
        result = id == MOTE_NONE ? mote_fail(MOTE_ERROR_INPUT, "bodies[%u] has no particles", attachment->target)
                                 : mote_world_make_handles(start->world, &id, 1, &spring.ends[1]);
        result = result == MOTE_OK ? mote_world_add_springs(start->world, &spring, 1, NULL) : result;
    }
    particle_copy_free(&view);
    return result;
}

// ---- Into the world ----------------------------------------------------------------------------------------

static MoteResult add_attachment(SceneStart *start, const ClothYard *yard, uint32_t i, uint32_t first_id)
{
    const SceneAttachment *attachment = SCENE_AT(&start->scene->values, attachment, i);
    bool *chosen = NULL;
    MoteParticleHandle *handles = NULL;
    uint32_t count = 0;
    MoteResult result = choose(start, yard, i, &chosen);
    result = result == MOTE_OK ? make_handles(start, yard, chosen, first_id, &handles, &count) : result;
    if (result == MOTE_OK && attachment->to == TO_BODY) {
        result = link_to_body(start, yard, attachment, chosen, handles);
    } else if (result == MOTE_OK) {
        MotePins pins = {.count = count, .particles = handles, .pose = {attachment->pivot, {0, 0, 0, 1}}};
        if (attachment->to == TO_COLLIDER) {
            pins.collider = start->colliders[attachment->target];
        }
        result = mote_world_add_pins(start->world, &pins, &start->pin_sets[i]);
    }
    free(chosen);
    free(handles);
    return result == MOTE_OK
               ? MOTE_OK
               : mote_fail(result, "%s: attachments[%u]: %s", start->scene->path, i, mote_error_message());
}

MoteResult attachments_add(SceneStart *start, const ClothYard *yard, uint32_t element, uint32_t first_id)
{
    const SceneValues *values = &start->scene->values;
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(values, attachment) && result == MOTE_OK; i++) {
        const SceneAttachment *attachment = SCENE_AT(values, attachment, i);
        result = attachment->cloth == element ? add_attachment(start, yard, i, first_id) : MOTE_OK;
    }
    return result;
}
