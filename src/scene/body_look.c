// SPDX-License-Identifier: MIT
// body_look.c - meshes for the renderer: those of bodies, which follow particles, and of colliders, which have a pose.
#include "base/error.h"
#include "scene/build.h"
#include "scene/random.h"
#include "scene/simulation.h"

#include <stdlib.h>

// ---- Meshes ----

// Which particles each vertex of a model follows, in the frame that both are in.
static MoteResult make_skin(BodyModel *model)
{
    if (model->skin_members != NULL) {
        return MOTE_OK;
    }
    const size_t count = 4 * (size_t)model->mesh.vertex_count;
    uint32_t *members = malloc(count * sizeof *members);
    float *weights = malloc(count * sizeof *weights);
    MoteVec3 *rests = malloc(count * sizeof *rests);
    MoteResult result = members != NULL && weights != NULL && rests != NULL
                            ? mesh_skin(&model->mesh, model->voxels.positions, model->voxels.count, members, weights)
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for the skin of a body");
    if (result != MOTE_OK) {
        free(members);
        free(weights);
        free(rests);
        return result;
    }
    for (size_t i = 0; i < count; i++) {
        rests[i] = model->voxels.positions[members[i]];
    }
    model->skin_members = members;
    model->skin_weights = weights;
    model->skin_rests = rests;
    return MOTE_OK;
}

static MoteRenderMesh skinned_mesh(const BodyModel *model, const SceneBody *body, const SceneMaterial *material)
{
    return (MoteRenderMesh){
        .vertex_count = model->mesh.vertex_count,
        .triangle_count = model->mesh.triangle_count,
        .positions = model->mesh.positions,
        .normals = model->mesh.normals,
        .triangles = model->mesh.triangles,
        .members = model->skin_members,
        .weights = model->skin_weights,
        .rests = model->skin_rests,
        .member_count = model->voxels.count,
        .deforms = body->stiffness < 1.0f || body->cluster_spacing > 0.0f || body->plastic_yield > 0.0f,
        .color = material->color,
        .roughness = material->roughness,
    };
}

static MoteRenderMesh posed_mesh(const Mesh *mesh, const SceneMaterial *material)
{
    return (MoteRenderMesh){
        .vertex_count = mesh->vertex_count,
        .triangle_count = mesh->triangle_count,
        .positions = mesh->positions,
        .normals = mesh->normals,
        .triangles = mesh->triangles,
        .color = material->color,
        .roughness = material->roughness,
    };
}

static MoteResult make_meshes(MoteSimulation *simulation)
{
    const SceneValues *values = &simulation->scene->values;
    SimulationLook *look = &simulation->look;
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(values, body) && result == MOTE_OK; i++) {
        const SceneBody *body = SCENE_AT(values, body, i);
        BodyModel *model = &simulation->bodies.models[simulation->bodies.element_models[i]];
        look->body_meshes[i] = MOTE_NONE;
        if (body->look == SCENE_BODY_PARTICLES) {
            continue;
        }
        result = make_skin(model);
        if (result == MOTE_OK) {
            look->body_meshes[i] = look->mesh_count;
            look->meshes[look->mesh_count++] = skinned_mesh(model, body, scene_material(values, body->material));
        }
    }
    for (uint32_t i = 0; i < SCENE_COUNT(values, collider) && result == MOTE_OK; i++) {
        const SceneCollider *collider = SCENE_AT(values, collider, i);
        look->collider_rows[i] = MOTE_NONE;
        if (scene_collider_has_mesh(collider)) {
            look->collider_rows[i] = look->mesh_count;
            MoteRenderMesh *mesh = &look->meshes[look->mesh_count++];
            *mesh = posed_mesh(&simulation->collider_meshes[i].mesh, scene_material(values, collider->material));
            mesh->moves = collider->mesh_sequence != NULL || collider->wet_map > 0;
        }
    }
    return result;
}

MoteResult simulation_collider_poses(MoteSimulation *simulation, double time, uint32_t *count)
{
    const SceneValues *values = &simulation->scene->values;
    SimulationLook *look = &simulation->look;
    MoteResult result = MOTE_OK;
    *count = 0;
    for (uint32_t i = 0; i < SCENE_COUNT(values, collider) && result == MOTE_OK; i++) {
        const SceneCollider *collider = SCENE_AT(values, collider, i);
        ColliderMesh *row = &simulation->collider_meshes[i];
        if (collider->mesh_sequence != NULL) {
            result = scene_pose_collider_mesh(collider, time, row);
        }
        if (collider->wet_map > 0 && result == MOTE_OK) {
            result = simulation_wetness(simulation, i, row->wetness);
        }
        if (collider->mesh_sequence != NULL || collider->wet_map > 0) {
            look->poses[(*count)++] = (MoteRenderPose){.mesh = look->collider_rows[i],
                                                       .positions = row->mesh.positions,
                                                       .normals = row->mesh.normals,
                                                       .wetness = row->wetness};
        }
    }
    return result;
}

// ---- Groups ----

// A material's group is its own number; bodies have groups of their own beyond.
static MoteResult make_groups(MoteSimulation *simulation)
{
    const SceneValues *values = &simulation->scene->values;
    const SceneBodies *bodies = &simulation->bodies;
    const uint32_t materials = SCENE_COUNT(values, material);
    uint32_t count = materials;
    for (uint32_t i = 0; i < bodies->copy_count; i++) {
        count = bodies->copies[i].group >= count ? bodies->copies[i].group + 1 : count;
    }
    uint32_t *groups = calloc(count, sizeof *groups);
    if (groups == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for the look of %u groups", simulation->scene->path, count);
    }
    for (uint32_t i = 0; i < materials; i++) {
        groups[i] = i;
    }
    for (uint32_t i = 0; i < bodies->copy_count; i++) {
        const SceneBody *body = SCENE_AT(values, body, bodies->copies[i].element);
        groups[bodies->copies[i].group] = scene_material_index(values, scene_material(values, body->material));
    }
    simulation->look.group_materials = groups;
    simulation->look.group_count = count;
    return MOTE_OK;
}

MoteResult simulation_body_look_make(MoteSimulation *simulation)
{
    SimulationLook *look = &simulation->look;
    if (look->group_materials != NULL) {
        return MOTE_OK;
    }
    const SceneValues *values = &simulation->scene->values;
    const uint32_t bodies = SCENE_COUNT(values, body), colliders = SCENE_COUNT(values, collider);
    free(look->meshes); // of a call that failed half-way
    free(look->body_meshes);
    free(look->collider_rows);
    free(look->instances);
    free(look->poses);
    look->mesh_count = 0;
    look->poses = calloc(colliders + 1u, sizeof *look->poses);
    look->meshes = calloc(bodies + colliders + 1u, sizeof *look->meshes);
    look->body_meshes = calloc(bodies + 1u, sizeof *look->body_meshes);
    look->collider_rows = calloc(colliders + 1u, sizeof *look->collider_rows);
    look->instances = calloc(simulation->bodies.copy_count + colliders + 1u, sizeof *look->instances);
    MoteResult result =
        look->meshes != NULL && look->body_meshes != NULL && look->collider_rows != NULL && look->instances != NULL &&
                look->poses != NULL
            ? make_meshes(simulation)
            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for the look of its bodies", simulation->scene->path);
    return result == MOTE_OK ? make_groups(simulation) : result;
}

// ---- Instances ----

// Each component of the tint from 1 - variation to 1 + variation, and none negative.
static MoteVec3 tint_of(const SceneBody *body, uint32_t number)
{
    const uint64_t seed = body->seed + UINT64_C(0x100000000);
    const float v = body->tint_variation;
    return (MoteVec3){1.0f + v * random_signed(seed, 3 * (uint64_t)number),
                      1.0f + v * random_signed(seed, 3 * (uint64_t)number + 1),
                      1.0f + v * random_signed(seed, 3 * (uint64_t)number + 2)};
}

// Colliders at the picture's time.
static uint32_t collider_instances(const MoteSimulation *simulation, MoteRenderInstance *instances)
{
    const SceneValues *values = &simulation->look.values;
    uint32_t count = 0;
    for (uint32_t i = 0; i < SCENE_COUNT(values, collider); i++) {
        const SceneCollider *collider = SCENE_AT(values, collider, i);
        if (simulation->look.collider_rows[i] == MOTE_NONE || simulation->look.states[i].id.generation == 0) {
            continue; // no mesh, or removed
        }
        const bool container = collider->inside_out ||
                               (collider->shape == MOTE_COLLIDER_FIELD && collider->field_mode == MOTE_FIELD_OUTSIDE);
        const uint32_t automatic = container ? MOTE_LOOK_GLASS : MOTE_LOOK_SOLID;
        instances[count++] = (MoteRenderInstance){
            .mesh = simulation->look.collider_rows[i],
            .look = collider->look == MOTE_LOOK_AUTO ? automatic : collider->look,
            .tint = {1.0f, 1.0f, 1.0f},
            .pose = scene_collider_has_mass(collider)
                        ? simulation->look.states[i].pose
                        : (MoteTransform){collider->position, scene_rotation(collider->rotation)},
            .scale = 1.0f,
        };
    }
    return count;
}

uint32_t simulation_body_instances(MoteSimulation *simulation)
{
    const SceneBodies *bodies = &simulation->bodies;
    const SimulationLook *look = &simulation->look;
    uint32_t count = 0;
    for (uint32_t i = 0; i < bodies->copy_count; i++) {
        const BodyCopy *copy = &bodies->copies[i];
        const SceneBody *body = SCENE_AT(&simulation->scene->values, body, copy->element);
        if (look->body_meshes[copy->element] != MOTE_NONE && mote_world_has_body(simulation->world, copy->id)) {
            look->instances[count++] = (MoteRenderInstance){
                .mesh = look->body_meshes[copy->element],
                .look = body->look == SCENE_BODY_HIDDEN ? MOTE_LOOK_HIDDEN : MOTE_LOOK_SOLID,
                .tint = tint_of(body, copy->number),
                .pose.rotation = copy->rotation,
                .scale = 1.0f,
                .member_offset = copy->first_member,
            };
        }
    }
    return count + collider_instances(simulation, look->instances + count);
}

MoteResult mote_simulation_render_meshes(MoteSimulation *simulation, const MoteRenderMesh **meshes, uint32_t *count)
{
    *meshes = NULL;
    *count = 0;
    const MoteResult result = simulation_body_look_make(simulation);
    if (result == MOTE_OK) {
        *meshes = simulation->look.meshes;
        *count = simulation->look.mesh_count;
    }
    return result;
}
