// SPDX-License-Identifier: MIT
// simulation.h - a scene's world with its emitters, keyframes and clock.
#ifndef MOTE_SCENE_SIMULATION_H
#define MOTE_SCENE_SIMULATION_H

#include "scene/bodies_build.h"
#include "scene/colliders_build.h"
#include "scene/emitters.h"
#include "scene/notices.h"
#include "scene/scene.h"
#include "solver/particle_copy.h"

// What mote_simulation_render_scene hands out; empty until its first call.
typedef struct SimulationLook {
    SceneValues values;            // at the picture's time
    MoteRenderMaterial *materials; // one a material of the scene
    MoteRenderCollider *colliders; // one a collider
    MoteColliderState *states;     // likewise, as the world has them
    MoteRenderCloth *cloths;       // one a cloth
    MoteRenderRope *ropes;         // room for one a spring
    uint32_t rope_count;
    MoteRenderMesh *meshes; // of bodies, see body_look.c
    uint32_t mesh_count;
    uint32_t *body_meshes;     // row of `meshes` a body of the scene, or MOTE_NONE
    uint32_t *collider_rows;   // the same a collider
    uint32_t *group_materials; // a phase group
    uint32_t group_count;
    MoteRenderPose *poses;         // room for one a collider
    MoteRenderInstance *instances; // room for one a body of the world and one a collider
} SimulationLook;

struct MoteSimulation {
    const MoteScene *scene;
    MoteWorld *world;
    uint64_t steps; // done; the clock, since times are computed from it and never added up

    SceneValues before, from, to; // at the last step's beginning, this step's beginning and its end
    bool animated[SCENE_SECTION_COUNT];
    MoteSettings settings; // as the world has them

    EmitterState *emitters, *emitters_before; // one an emitter of the scene; as they were when a frame began
    Emission *emissions;                      // of the steps under way
    uint32_t emission_count, emission_capacity;
    MoteColliderId *collider_ids;  // one a collider
    MoteCollider *posed_colliders; // room for one a collider or kill volume, whichever are more
    MoteForceFieldId *forces;      // one a force of the scene
    uint32_t *pin_sets;            // one an attachment: the world's set of pins, or MOTE_NONE
    uint32_t first_spring;         // of the section springs, of the world's
    bool eases;                    // stiffness of links has keyframes
    SceneBodies bodies;
    Notices notices;
    bool gain_reported, escape_reported; // while it lasts
    uint32_t squeezed_frames;            // in a row, in which particles were caught between colliders
    ColliderMesh *collider_meshes;       // one a collider of the scene
    SimulationLook look;

    double frame_seconds; // s, that the last frame took while mote_stop_when had a callback; 0: none
    bool failed;          // a step went wrong half-way: only loading a state makes the simulation whole again
};

double simulation_time_of_step(const MoteSimulation *simulation, uint64_t step); // s, of its beginning
uint32_t simulation_emitter_count(const MoteSimulation *simulation);
// One state a collider of the scene; all zeros for those that a user has removed from the world.
MoteResult simulation_read_colliders(MoteSimulation *simulation, MoteColliderState *states);

void simulation_watch(MoteSimulation *simulation); // after a frame; watch.c

void simulation_look_free(SimulationLook *look); // look.c
// Material `i` as the look's values have it now.
void simulation_look_material(MoteSimulation *simulation, uint32_t i);

// Creates meshes, groups and memory for instances, once (body_look.c); then the instances at the present time, and
// their number.
MoteResult simulation_body_look_make(MoteSimulation *simulation);
uint32_t simulation_body_instances(MoteSimulation *simulation);
MoteResult simulation_wetness(MoteSimulation *simulation, uint32_t collider, float *wetness); // a vertex; wet_maps.c
// The poses of colliders' meshes that move or get wet, at a time (s), into the look's `poses`.
MoteResult simulation_collider_poses(MoteSimulation *simulation, double time, uint32_t *count);

#endif
