// SPDX-License-Identifier: MIT
// skin.c - transforms instances of meshes (shaders/render/skin.comp): those of bodies follow the members of the body,
// the others a pose. Once per picture, for every pass that draws them.
#include "passes/skin.h"
#include "render/renderer.h"

enum { PLACE, BEND, STEPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[STEPS] = {{"skin.comp", {PLACE}}, {"skin.comp", {BEND}}};
    return simple_pass_create(renderer, state, shaders, STEPS);
}

static void run(MoteRenderer *renderer, const SimplePass *pass, VkCommandBuffer commands, const BodyDraw *draw,
                uint32_t step)
{
    const MeshRange *mesh = &renderer->meshes.meshes[draw->mesh];
    const MeshLevel *level = &mesh->levels[draw->level];
    const SkinPush push = {.invocations = draw->count * level->vertex_count,
                           .first_instance = draw->first,
                           .vertex_count = level->vertex_count,
                           .first_vertex = mesh->first_vertex,
                           .first_binding = mesh->first_binding,
                           .first_triangle = level->first_triangle,
                           .first_adjacent = level->first_adjacent,
                           .skinned = mesh->member_count > 0};
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[step], &push, sizeof push);
    pass_dispatch(commands, push.invocations, 64);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    const Bodies *bodies = &renderer->bodies;
    const MeshSet *meshes = &renderer->meshes;
    const SkinConstants constants = {.bindings = meshes->bindings.address, .adjacency = meshes->adjacency.address};
    pass_constants(renderer, &constants, sizeof constants);
    bool bend = false;
    for (uint32_t i = 0; i < bodies->draw_count; i++) {
        run(renderer, pass, commands, &bodies->draws[i], PLACE);
        bend = bend || meshes->meshes[bodies->draws[i].mesh].deforms;
    }
    if (bend) {
        pass_compute_barrier(commands);
    }
    for (uint32_t i = 0; i < bodies->draw_count && bend; i++) {
        if (meshes->meshes[bodies->draws[i].mesh].deforms) {
            run(renderer, pass, commands, &bodies->draws[i], BEND);
        }
    }
    return MOTE_OK;
}

const Pass skin_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
