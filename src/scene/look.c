// SPDX-License-Identifier: MIT
// look.c - fills MoteRenderScene: the table's defaults, and the look of a simulation at its present time.
#include "base/error.h"
#include "base/nearest.h"
#include "base/vec.h"
#include "scene/build.h"
#include "scene/keys.h"
#include "scene/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static bool is_of_liquid(const SceneValues *values, const SceneMaterial *material)
{
    bool found = false;
    for (uint32_t i = 0; i < SCENE_COUNT(values, fluid); i++) {
        const SceneFluid *fluid = SCENE_AT(values, fluid, i);
        found = found || (fluid->kind == SCENE_FLUID_LIQUID && scene_material(values, fluid->material) == material);
    }
    for (uint32_t i = 0; i < SCENE_COUNT(values, emitter); i++) {
        const SceneEmitter *emitter = SCENE_AT(values, emitter, i);
        found = found || (emitter->kind == SCENE_EMITS_LIQUID && scene_material(values, emitter->material) == material);
    }
    return found;
}

static MoteRenderMaterial material_look(const SceneMaterial *material)
{
    return (MoteRenderMaterial){.color = material->color,
                                .absorption = material->absorption,
                                .roughness = material->roughness,
                                .color_variation = material->color_variation};
}

// ---- Cameras ----

// The camera at a time: its eye has gone round the vertical axis through its target by orbit * time.
static MoteCamera camera_look(const SceneCamera *camera, double time)
{
    const double pi = 3.14159265358979323846;
    const double angle = fmod((double)camera->orbit * time, 360.0) * (pi / 180.0);
    const double x = (double)camera->position.x - (double)camera->target.x;
    const double z = (double)camera->position.z - (double)camera->target.z;
    const MoteVec3 position = {
        (float)((double)camera->target.x + x * cos(angle) + z * sin(angle)),
        camera->position.y,
        (float)((double)camera->target.z + z * cos(angle) - x * sin(angle)),
    };
    return (MoteCamera){
        .position = position,
        .target = camera->target,
        .field_of_view = camera->field_of_view,
        .roll = camera->roll,
        .near_plane = camera->near,
    };
}

static MoteResult fail_unknown_camera(const MoteScene *scene, const char *name)
{
    enum { TOLD = 32 };
    const uint32_t count = SCENE_COUNT(&scene->values, cameras);
    if (count == 0) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: found no camera \"%s\": the scene has no \"cameras\", only \"camera\", which is taken "
                         "where no name is given",
                         scene->path, name);
    }
    const char *words[TOLD];
    char known[TOLD * (SCENE_NAME_SIZE + 4)] = "";
    size_t length = 0;
    const uint32_t told = count < TOLD ? count : TOLD;
    for (uint32_t i = 0; i < told; i++) {
        words[i] = SCENE_AT(&scene->values, cameras, i)->name;
        length += (size_t)snprintf(known + length, sizeof known - length, "%s\"%s\"", i > 0 ? ", " : "", words[i]);
    }
    const char *nearest = nearest_word(name, words, told);
    return mote_fail(MOTE_ERROR_INPUT, "%s: found no camera \"%s\", expected one of \"cameras\": %s%s%s%s%s",
                     scene->path, name, known, told < count ? ", ..." : "", nearest != NULL ? "; did you mean \"" : "",
                     nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

// The camera of that name, `camera` where no name is given; NULL where there is no such camera.
static const SceneCamera *find_camera(const SceneValues *values, const char *name)
{
    if (name == NULL || name[0] == '\0') {
        return SCENE_AT(values, camera, 0);
    }
    for (uint32_t i = 0; i < SCENE_COUNT(values, cameras); i++) {
        if (strcmp(SCENE_AT(values, cameras, i)->name, name) == 0) {
            return SCENE_AT(values, cameras, i);
        }
    }
    return NULL;
}

// ---- Colliders ----

// Whether a plane would be drawn where the ground is: within a hundredth of a particle, and level to 0.1 degrees.
static bool lies_on_ground(const MoteCollider *plane, const MoteGroundLook *ground, float spacing)
{
    const float level = 0.9999985f; // the cosine of 0.1 degrees
    const MoteVec3 normal = scene_rotate(plane->to.rotation, (MoteVec3){0.0f, 1.0f, 0.0f});
    return ground->visible && fabsf(normal.y) >= level &&
           fabsf(plane->to.position.y - ground->height) <= 0.01f * spacing;
}

// What MOTE_LOOK_AUTO stands for.
static MoteLook automatic_look(const MoteCollider *collider, const SceneValues *values)
{
    if (collider->kind != MOTE_COLLIDER_PLANE) {
        return collider->inside_out ? MOTE_LOOK_GLASS : MOTE_LOOK_SOLID;
    }
    const bool on_ground = lies_on_ground(collider, SCENE_AT(values, ground, 0), SCENE_AT(values, solver, 0)->spacing);
    return on_ground ? MOTE_LOOK_HIDDEN : MOTE_LOOK_SOLID;
}

static MoteRenderCollider collider_look(const SceneCollider *collider, const SceneValues *values,
                                        const MoteColliderState *state)
{
    const SceneMaterial *material = scene_material(values, collider->material);
    MoteCollider posed = scene_make_collider(collider, collider, material);
    if (scene_collider_has_mass(collider)) {
        posed.from = posed.to = state->pose;
    }
    return (MoteRenderCollider){
        .collider = posed,
        .look = collider->look == MOTE_LOOK_AUTO ? automatic_look(&posed, values) : collider->look,
        .material = scene_fluid_phase(values, material) & MOTE_PHASE_GROUP_MASK,
    };
}

// ---- Cloth ----

static MoteVec3 color_or(MoteVec3 color, MoteVec3 otherwise)
{
    return color.x < 0.0f || color.y < 0.0f || color.z < 0.0f ? otherwise : color;
}

static MoteRenderCloth cloth_look(const SceneCloth *cloth, const SceneValues *values)
{
    const MoteVec3 front = color_or(cloth->color, scene_material(values, cloth->material)->color);
    const bool grid = cloth->mesh[0] == '\0';
    const float contact = scene_contact_distance(SCENE_AT(values, solver, 0));
    const float relative = cloth->contact_thickness > 0.0f ? cloth->contact_thickness / contact : 1.0f;
    return (MoteRenderCloth){
        .look = cloth->look,
        .color = front,
        .back_color = color_or(cloth->back_color, front),
        .pattern = cloth->pattern,
        .pattern_color = cloth->pattern_color,
        .pattern_size = cloth->pattern_size,
        .roughness = cloth->roughness,
        .sheen = cloth->sheen,
        .transmission = cloth->transmission,
        .weave = cloth->weave,
        .thickness = cloth->thickness * relative,
        .absorption = cloth->absorption,
        .uv_size = {grid ? cloth->size.x : cloth->uv_size, grid ? cloth->size.y : cloth->uv_size},
    };
}

// ---- Ropes ----

static bool is_rope(const SceneSpring *spring)
{
    const bool automatic = spring->look == SCENE_SPRING_AUTO && (spring->slack || spring->segments > 1);
    return spring->look == SCENE_SPRING_ROPE || automatic;
}

static MoteRenderRope rope_look(const SceneSpring *spring, const SceneValues *values, uint32_t first_node)
{
    const MoteVec3 a = spring->from, b = spring->to, d = {b.x - a.x, b.y - a.y, b.z - a.z};
    const SceneMaterial *material = scene_material(values, spring->material);
    MoteRenderRope rope = mote_default_render_rope();
    rope.first_node = first_node;
    rope.node_count = spring->segments + 1;
    rope.radius = spring->radius;
    rope.length = spring->rest_length < 0.0f ? sqrtf(d.x * d.x + d.y * d.y + d.z * d.z) : spring->rest_length;
    rope.color = material->color;
    rope.roughness = material->roughness;
    return rope;
}

// A rod that is laid from strands bends easily; one that does not is smooth.
static MoteRenderRope rod_look(const SceneRod *rod, const SceneValues *values, uint32_t first_node, uint32_t count)
{
    const SceneMaterial *material = scene_material(values, rod->material);
    MoteRenderRope rope = mote_default_render_rope();
    rope.first_node = first_node;
    rope.node_count = count;
    rope.radius = rod->radius;
    rope.length = 0.0f;
    for (uint32_t i = 1; i < rod->points->count; i++) {
        rope.length += vec3_length(vec3_sub(rod->points->at[i], rod->points->at[i - 1]));
    }
    rope.smooth = rod->bend_scale > 0.1f;
    rope.sheen = rope.smooth ? 0.0f : rope.sheen;
    rope.color = material->color;
    rope.roughness = material->roughness;
    return rope;
}

// Into the look: rods, then springs, as their nodes stand.
static void make_ropes(SimulationLook *look, const SceneBodies *bodies)
{
    const SceneValues *values = &look->values;
    uint32_t nodes = 0;
    look->rope_count = 0;
    for (uint32_t i = 0; i < SCENE_COUNT(values, rod); i++) {
        const SceneRod *rod = SCENE_AT(values, rod, i);
        if (rod->look == SCENE_ROD_TUBE) {
            look->ropes[look->rope_count++] = rod_look(rod, values, nodes, bodies->rod_sizes[i]);
        }
        nodes += bodies->rod_sizes[i];
    }
    for (uint32_t i = 0; i < SCENE_COUNT(values, spring); i++) {
        const SceneSpring *spring = SCENE_AT(values, spring, i);
        if (is_rope(spring)) {
            look->ropes[look->rope_count++] = rope_look(spring, values, nodes);
        }
        nodes += spring->segments + 1;
    }
}

// ---- Foam ----

static MoteFoamLook foam_look(const SceneFoam *foam, float frame_rate)
{
    return (MoteFoamLook){.radius = foam->radius,
                          .radius_spread = foam->radius_spread,
                          .density = foam->density,
                          .color = foam->color,
                          .shutter = foam->shutter / frame_rate,
                          .drops = foam->drops};
}

// ---- The defaults ----

static MoteRenderMaterial default_material;
static once_flag default_material_once = ONCE_FLAG_INIT;

static void make_default_material(void)
{
    SceneMaterial material;
    scene_defaults(SCENE_SECTION_material, &material);
    default_material = material_look(&material);
}

MoteRenderMaterial mote_default_render_material(void)
{
    call_once(&default_material_once, make_default_material);
    return default_material;
}

MoteRenderScene mote_default_render_scene(void)
{
    call_once(&default_material_once, make_default_material);
    MoteRenderScene scene = {.materials = &default_material, .material_count = 1};
    SceneCamera camera;
    scene_defaults(SCENE_SECTION_camera, &camera);
    scene.camera = camera_look(&camera, 0);
    scene_defaults(SCENE_SECTION_liquid, &scene.liquid);
    scene_defaults(SCENE_SECTION_sky, &scene.sky);
    scene_defaults(SCENE_SECTION_ground, &scene.ground);
    scene_defaults(SCENE_SECTION_smoke, &scene.smoke);
    scene_defaults(SCENE_SECTION_picture, &scene.picture);
    SceneFoam foam;
    scene_defaults(SCENE_SECTION_foam, &foam);
    scene.foam = foam_look(&foam, mote_default_settings().frame_rate);
    return scene;
}

// ---- A simulation's look ----

static MoteResult allocate(SimulationLook *look, const MoteScene *scene)
{
    const uint32_t materials = SCENE_COUNT(&scene->values, material), colliders = SCENE_COUNT(&scene->values, collider);
    const MoteResult result = scene_values_copy(scene, &look->values);
    if (result != MOTE_OK) {
        return result;
    }
    look->materials = calloc(materials, sizeof *look->materials);
    look->colliders = calloc(colliders + 1u, sizeof *look->colliders);
    look->states = calloc(colliders + 1u, sizeof *look->states);
    look->cloths = calloc(SCENE_COUNT(&scene->values, cloth) + 1u, sizeof *look->cloths);
    look->ropes =
        calloc(SCENE_COUNT(&scene->values, rod) + SCENE_COUNT(&scene->values, spring) + 1u, sizeof *look->ropes);
    if (look->materials == NULL || look->colliders == NULL || look->states == NULL || look->cloths == NULL ||
        look->ropes == NULL) {
        simulation_look_free(look);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for the look of the scene", scene->path);
    }
    for (uint32_t i = 0; i < materials; i++) { // not animated
        look->materials[i] = material_look(SCENE_AT(&scene->values, material, i));
        look->materials[i].solid_only = !is_of_liquid(&scene->values, SCENE_AT(&scene->values, material, i));
    }
    return MOTE_OK;
}

void simulation_look_material(MoteSimulation *simulation, uint32_t i)
{
    SimulationLook *look = &simulation->look;
    if (look->materials != NULL && i < SCENE_COUNT(&look->values, material)) {
        const bool solid_only = look->materials[i].solid_only;
        look->materials[i] = material_look(SCENE_AT(&look->values, material, i));
        look->materials[i].solid_only = solid_only;
    }
}

void simulation_look_free(SimulationLook *look)
{
    scene_values_free(&look->values);
    free(look->materials);
    free(look->colliders);
    free(look->states);
    free(look->cloths);
    free(look->ropes);
    free(look->meshes);
    free(look->body_meshes);
    free(look->collider_rows);
    free(look->group_materials);
    free(look->instances);
    free(look->poses);
    *look = (SimulationLook){0};
}

MoteResult mote_simulation_render_scene(MoteSimulation *simulation, const char *camera, MoteRenderScene *out)
{
    const MoteScene *scene = simulation->scene;
    SimulationLook *look = &simulation->look;
    MoteResult result = look->colliders == NULL ? allocate(look, scene) : MOTE_OK;
    result = result == MOTE_OK ? simulation_body_look_make(simulation) : result;
    if (result != MOTE_OK) {
        return result;
    }
    const SceneValues *values = &look->values;
    const double time = mote_simulation_time(simulation);
    scene_values_at(scene, time, &look->values);

    const SceneCamera *chosen = find_camera(values, camera);
    if (chosen == NULL) {
        return fail_unknown_camera(scene, camera);
    }
    const MoteVec3 position = chosen->position, target = chosen->target;
    if (position.x == target.x && position.y == target.y && position.z == target.z) {
        return mote_fail(
            MOTE_ERROR_INPUT,
            "%s: %s%s: found position and target both at [%.7g, %.7g, %.7g] at %.6g s, expected two points",
            scene->path, chosen->name[0] != '\0' ? "cameras." : "camera", chosen->name, (double)position.x,
            (double)position.y, (double)position.z, time);
    }
    result = simulation_read_colliders(simulation, look->states);
    if (result != MOTE_OK) {
        return result;
    }
    uint32_t poses = 0;
    result = simulation_collider_poses(simulation, time, &poses);
    if (result != MOTE_OK) {
        return result;
    }
    uint32_t colliders = 0; // meshes among the colliders are instances
    for (uint32_t i = 0; i < SCENE_COUNT(values, collider); i++) {
        if (!scene_collider_has_mesh(SCENE_AT(values, collider, i)) && look->states[i].id.generation != 0) {
            look->colliders[colliders++] = collider_look(SCENE_AT(values, collider, i), values, &look->states[i]);
        }
    }
    for (uint32_t i = 0; i < SCENE_COUNT(values, cloth); i++) {
        look->cloths[i] = cloth_look(SCENE_AT(values, cloth, i), values);
    }
    make_ropes(look, &simulation->bodies);
    *out = (MoteRenderScene){
        .camera = camera_look(chosen, time),
        .liquid = *SCENE_AT(values, liquid, 0),
        .sky = *SCENE_AT(values, sky, 0),
        .ground = *SCENE_AT(values, ground, 0),
        .smoke = *SCENE_AT(values, smoke, 0),
        .foam = foam_look(SCENE_AT(values, foam, 0), SCENE_AT(values, solver, 0)->frame_rate),
        .picture = *SCENE_AT(values, picture, 0),
        .materials = look->materials,
        .material_count = SCENE_COUNT(values, material),
        .colliders = look->colliders,
        .collider_count = colliders,
        .group_materials = look->group_materials,
        .group_count = look->group_count,
        .instances = look->instances,
        .instance_count = simulation_body_instances(simulation),
        .poses = look->poses,
        .pose_count = poses,
        .cloths = look->cloths,
        .cloth_count = SCENE_COUNT(values, cloth),
        .ropes = look->ropes,
        .rope_count = look->rope_count,
        .rope_nodes = simulation->bodies.rope_nodes,
        .rope_node_count = simulation->bodies.rope_node_count,
    };
    return MOTE_OK;
}
