// SPDX-License-Identifier: MIT
#include "scene/bodies_build.h"

#include "base/error.h"
#include "base/stop.h"
#include "base/vec.h"
#include "scene/build.h"
#include "scene/random.h"
#include "scene/start.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

void scene_bodies_free(SceneBodies *bodies)
{
    for (uint32_t i = 0; i < bodies->model_count; i++) {
        BodyModel *model = &bodies->models[i];
        mesh_free(&model->mesh);
        voxel_body_free(&model->voxels);
        free(model->skin_members);
        free(model->skin_weights);
        free(model->skin_rests);
    }
    free(bodies->models);
    free(bodies->element_models);
    free(bodies->copies);
    free(bodies->rope_nodes);
    free(bodies->rod_sizes);
    *bodies = (SceneBodies){0};
}

MoteResult scene_bodies_add_nodes(SceneBodies *bodies, const MoteParticleHandle *nodes, uint32_t count)
{
    const size_t total = (size_t)bodies->rope_node_count + count;
    MoteParticleHandle *grown = realloc(bodies->rope_nodes, total * sizeof *grown + 1);
    if (grown == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %zu nodes of ropes", total);
    }
    memcpy(grown + bodies->rope_node_count, nodes, count * sizeof *nodes);
    bodies->rope_nodes = grown;
    bodies->rope_node_count = (uint32_t)total;
    return MOTE_OK;
}

// ---- Models ----

static float body_spacing(const SceneBody *body, const MoteSettings *settings)
{
    return body->spacing > 0.0f ? body->spacing : scene_contact_distance(settings);
}

static MeshPlace body_place(const SceneBody *body)
{
    return (MeshPlace){
        .reference = body->mesh, .scale = body->scale, .fit_height = body->fit_height, .anchor = body->anchor};
}

static VoxelOptions body_options(const SceneBody *body, const MoteSettings *settings)
{
    return (VoxelOptions){.spacing = body_spacing(body, settings),
                          .surface_only = body->surface_only,
                          .limit = SCENE_PARTICLE_LIMIT,
                          .inset = body->inset * scene_contact_distance(settings)};
}

static bool same_model(const BodyModel *model, const MeshPlace *place, const VoxelOptions *options)
{
    return strcmp(model->place.reference, place->reference) == 0 && model->place.scale == place->scale &&
           model->place.fit_height == place->fit_height && model->place.anchor == place->anchor &&
           model->options.spacing == options->spacing && model->options.surface_only == options->surface_only &&
           model->options.inset == options->inset;
}

// The model of a body: one that is there already, or a new one at the end of the list, which has room.
static MoteResult find_model(const MoteScene *scene, uint32_t element, SceneBodies *bodies)
{
    const SceneBody *body = SCENE_AT(&scene->values, body, element);
    const MeshPlace place = body_place(body);
    const VoxelOptions options = body_options(body, SCENE_AT(&scene->values, solver, 0));
    uint32_t found = 0;
    while (found < bodies->model_count && !same_model(&bodies->models[found], &place, &options)) {
        found++;
    }
    bodies->element_models[element] = found;
    if (found < bodies->model_count) {
        return MOTE_OK;
    }
    char what[512];
    snprintf(what, sizeof what, "%s: bodies[%u]", scene->path, element);
    BodyModel *model = &bodies->models[found];
    *model = (BodyModel){.place = place, .options = options};
    const MoteResult result = scene_mesh_place(scene, &place, what, &model->mesh);
    if (result != MOTE_OK) {
        return result;
    }
    bodies->model_count++;
    const MoteResult filled = voxelise(&model->mesh, &options, &model->voxels);
    return filled == MOTE_OK ? MOTE_OK
                             : mote_fail(filled, "%s.mesh: \"%s\" cannot be filled with particles: %s", what,
                                         body->mesh, mote_error_message());
}

// ---- Copies ----

// Uniform over all rotations: Shoemake, "Uniform random rotations" (1992).
static MoteQuaternion random_rotation(uint64_t seed, uint64_t index)
{
    const double a = random_unit(seed, 3 * index), b = 2.0 * PI * random_unit(seed, 3 * index + 1),
                 c = 2.0 * PI * random_unit(seed, 3 * index + 2);
    return (MoteQuaternion){(float)(sqrt(1.0 - a) * sin(b)), (float)(sqrt(1.0 - a) * cos(b)), (float)(sqrt(a) * sin(c)),
                            (float)(sqrt(a) * cos(c))};
}

static MoteTransform copy_pose(const SceneBody *body, uint32_t number)
{
    const uint32_t nx = (uint32_t)body->copies.x, ny = (uint32_t)body->copies.y;
    const double at[3] = {number % nx, number / nx % ny, number / nx / ny};
    const double counts[3] = {body->copies.x, body->copies.y, body->copies.z};
    const double steps[3] = {body->copies_spacing.x, body->copies_spacing.y, body->copies_spacing.z};
    const double centre[3] = {body->position.x, body->position.y, body->position.z};
    float place[3];
    for (uint32_t axis = 0; axis < 3; axis++) {
        const double shift = (double)body->copies_jitter * random_signed(body->seed, 6 * (uint64_t)number + axis);
        place[axis] = (float)(centre[axis] + (at[axis] - 0.5 * (counts[axis] - 1.0)) * steps[axis] + shift);
    }
    MoteTransform pose = {{place[0], place[1], place[2]}, scene_rotation(body->rotation)};
    if (body->copies_turn) {
        pose.rotation = quat_product(random_rotation(body->seed, 2 * (uint64_t)number + 1), pose.rotation);
    }
    return pose;
}

// A model's particles as a body starts: turned and moved.
static void pose_model(const BodyModel *model, const MoteTransform *pose, MoteVec3 *positions, MoteVec3 *gradients)
{
    for (uint32_t i = 0; i < model->voxels.count; i++) {
        const MoteVec3 p = scene_rotate(pose->rotation, model->voxels.positions[i]);
        positions[i] = (MoteVec3){p.x + pose->position.x, p.y + pose->position.y, p.z + pose->position.z};
        gradients[i] = scene_rotate(pose->rotation, model->voxels.gradients[i]);
    }
}

static MoteBody describe_body(const MoteScene *scene, const SceneBody *body, const BodyModel *model)
{
    const SceneMaterial *material = scene_material(&scene->values, body->material);
    const float spacing = model->options.spacing, radian = (float)(PI / 180.0);
    const float radius = body->cluster_radius > 0.0f ? body->cluster_radius : 1.5f * body->cluster_spacing;
    return (MoteBody){
        .count = model->voxels.count,
        .distances = body->use_field ? model->voxels.distances : NULL,
        .mass = (float)((double)material->density * model->voxels.volume / model->voxels.count),
        .velocity = body->velocity,
        .angular_velocity = {radian * body->angular_velocity.x, radian * body->angular_velocity.y,
                             radian * body->angular_velocity.z},
        .material = scene_material_index(&scene->values, material),
        .stiffness = body->stiffness,
        .cluster_spacing = spacing * body->cluster_spacing,
        .cluster_radius = spacing * radius,
        .plastic_yield = body->plastic_yield,
        .plastic_creep = body->plastic_creep,
        .plastic_limit = body->plastic_limit,
    };
}

static uint32_t copies_of(const SceneBody *body)
{
    return (uint32_t)body->copies.x * (uint32_t)body->copies.y * (uint32_t)body->copies.z;
}

static MoteResult add_copies(SceneStart *start, uint32_t element, SceneBodies *bodies)
{
    const MoteScene *scene = start->scene;
    const SceneBody *body = SCENE_AT(&scene->values, body, element);
    const BodyModel *model = &bodies->models[bodies->element_models[element]];
    MoteVec3 *positions = malloc(model->voxels.count * sizeof *positions);
    MoteVec3 *gradients = malloc(model->voxels.count * sizeof *gradients);
    MoteResult result = positions != NULL && gradients != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u particles", model->voxels.count);
    MoteBody described = describe_body(scene, body, model);
    described.positions = positions;
    described.gradients = body->use_field ? gradients : NULL;
    const uint32_t count = copies_of(body);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const MoteTransform pose = copy_pose(body, i);
        result = stop_check();
        if (result != MOTE_OK) {
            break;
        }
        pose_model(model, &pose, positions, gradients);
        bodies->copies[bodies->copy_count] = (BodyCopy){.element = element, .number = i, .rotation = pose.rotation};
        uint32_t first_id = 0;
        result = mote_world_add_body(start->world, &described, &first_id, &bodies->copies[bodies->copy_count].id);
        bodies->copy_count += result == MOTE_OK;
        result = result == MOTE_OK
                     ? scene_start_source(start, SCENE_SECTION_body, element, i, first_id, positions, described.count)
                     : result;
    }
    free(gradients);
    free(positions);
    return result == MOTE_OK ? MOTE_OK
                             : mote_fail(result, "%s: bodies[%u]: %s", scene->path, element, mote_error_message());
}

// Where the world put them.
static MoteResult locate_copies(const MoteScene *scene, MoteWorld *world, SceneBodies *bodies)
{
    MoteBodyState *states = malloc(bodies->copy_count * sizeof *states + 1);
    MoteResult result = states != NULL ? mote_world_read_bodies(world, states, bodies->copy_count)
                                       : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its bodies", scene->path);
    for (uint32_t i = 0; i < bodies->copy_count && result == MOTE_OK; i++) {
        bodies->copies[i].group = states[i].group;
        bodies->copies[i].first_member = states[i].first_member;
    }
    free(states);
    return result;
}

// Makes models and adds all bodies. What is there on failure is freed with the rest.
MoteResult scene_build_body(SceneStart *start)
{
    const MoteScene *scene = start->scene;
    SceneBodies *bodies = start->bodies;
    const uint32_t count = SCENE_COUNT(&scene->values, body);
    uint64_t copies = 0;
    for (uint32_t i = 0; i < count; i++) {
        copies += copies_of(SCENE_AT(&scene->values, body, i));
    }
    if (count == 0) {
        return MOTE_OK;
    }
    bodies->models = calloc(count, sizeof *bodies->models);
    bodies->element_models = calloc(count, sizeof *bodies->element_models);
    bodies->copies = calloc((size_t)copies, sizeof *bodies->copies);
    MoteResult result = bodies->models != NULL && bodies->element_models != NULL && bodies->copies != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its bodies", scene->path);
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = find_model(scene, i, bodies);
        result = result == MOTE_OK ? add_copies(start, i, bodies) : result;
    }
    return result == MOTE_OK ? locate_copies(scene, start->world, bodies) : result;
}
