// SPDX-License-Identifier: MIT
#include "scene/simulation.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/stop.h"
#include "mote_cloth.h"
#include "scene/build.h"
#include "scene/keys.h"
#include "scene/state_file.h"
#include "solver/batch.h"
#include <stdlib.h>
#include <string.h>

// ---- Time and values ----

double simulation_time_of_step(const MoteSimulation *simulation, uint64_t step)
{
    const MoteSettings *settings = SCENE_AT(&simulation->scene->values, solver, 0);
    return (double)step / ((double)settings->frame_rate * settings->substeps);
}

uint32_t simulation_emitter_count(const MoteSimulation *simulation)
{
    return SCENE_COUNT(&simulation->scene->values, emitter);
}

static void evaluate(MoteSimulation *simulation, uint64_t step)
{
    const MoteScene *scene = simulation->scene;
    if (scene->track_count == 0) {
        return; // the copies made at the start hold for ever
    }
    scene_values_at(scene, simulation_time_of_step(simulation, step > 0 ? step - 1 : 0), &simulation->before);
    scene_values_at(scene, simulation_time_of_step(simulation, step), &simulation->from);
    scene_values_at(scene, simulation_time_of_step(simulation, step + 1), &simulation->to);
}

// ---- The world's surroundings ----

static MoteResult set_settings(MoteSimulation *simulation)
{
    const MoteSettings *wanted = SCENE_AT(&simulation->from, solver, 0);
    if (memcmp(wanted, &simulation->settings, sizeof *wanted) == 0) { // four-byte fields only: nothing between them
        return MOTE_OK;
    }
    const MoteResult result = mote_world_set_settings(simulation->world, wanted);
    if (result == MOTE_OK) {
        simulation->settings = *wanted;
    }
    return result;
}

static void describe_colliders(MoteSimulation *simulation)
{
    for (uint32_t i = 0; i < SCENE_COUNT(&simulation->to, collider); i++) {
        const SceneCollider *to = SCENE_AT(&simulation->to, collider, i);
        const SceneMaterial *material = scene_material(&simulation->to, to->material);
        simulation->posed_colliders[i] = scene_make_collider(SCENE_AT(&simulation->from, collider, i), to, material);
        simulation->posed_colliders[i].data = simulation->collider_meshes[i].data;
    }
}

static MoteResult set_colliders(MoteSimulation *simulation)
{
    const uint32_t count = SCENE_COUNT(&simulation->to, collider);
    describe_colliders(simulation);
    return world_update_colliders(simulation->world, simulation->collider_ids, simulation->posed_colliders, count);
}

static MoteResult add_colliders(MoteSimulation *simulation)
{
    const uint32_t count = SCENE_COUNT(&simulation->to, collider);
    describe_colliders(simulation);
    const MoteResult result = mote_world_set_colliders(simulation->world, simulation->posed_colliders, count);
    mote_world_collider_ids(simulation->world, simulation->collider_ids, count);
    return result;
}

MoteResult simulation_read_colliders(MoteSimulation *simulation, MoteColliderState *states)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(&simulation->to, collider) && result == MOTE_OK; i++) {
        const MoteColliderId id = simulation->collider_ids[i];
        states[i] = (MoteColliderState){0};
        result = mote_world_has_collider(simulation->world, id)
                     ? mote_world_read_collider(simulation->world, id, &states[i])
                     : MOTE_OK;
    }
    return result;
}

// What dynamic colliders begin with.
static MoteResult start_colliders(MoteSimulation *simulation)
{
    const float radians = 3.14159265f / 180.0f;
    for (uint32_t i = 0; i < SCENE_COUNT(&simulation->from, collider); i++) {
        const SceneCollider *collider = SCENE_AT(&simulation->from, collider, i);
        const MoteVec3 turns = collider->angular_velocity;
        if (scene_collider_has_mass(collider)) {
            const MoteVec3 angular_velocity = {turns.x * radians, turns.y * radians, turns.z * radians};
            const MoteResult result = mote_world_set_collider_motion(simulation->world, simulation->collider_ids[i],
                                                                     NULL, collider->velocity, angular_velocity);
            if (result != MOTE_OK) {
                return result;
            }
        }
    }
    return MOTE_OK;
}

static MoteResult set_kill_volumes(MoteSimulation *simulation)
{
    const uint32_t count = SCENE_COUNT(&simulation->to, kill_volume);
    for (uint32_t i = 0; i < count; i++) {
        simulation->posed_colliders[i] = scene_make_kill_volume(SCENE_AT(&simulation->from, kill_volume, i),
                                                                SCENE_AT(&simulation->to, kill_volume, i));
    }
    return mote_world_set_kill_volumes(simulation->world, simulation->posed_colliders, count);
}

static MoteResult set_forces(MoteSimulation *simulation)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(&simulation->from, force) && result == MOTE_OK; i++) {
        const MoteForceField field = scene_force_field(&simulation->from, SCENE_AT(&simulation->from, force, i));
        result = simulation->forces[i].generation == 0
                     ? mote_world_add_force_field(simulation->world, &field, &simulation->forces[i])
                     : mote_world_set_force_field(simulation->world, simulation->forces[i], &field);
    }
    return result;
}

// What keeps cloth inflated and how stiff it is, at a step's beginning.
static MoteResult set_cloths(MoteSimulation *simulation)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(&simulation->from, cloth) && result == MOTE_OK; i++) {
        const SceneCloth *cloth = SCENE_AT(&simulation->from, cloth, i);
        result = cloth->inflation != MOTE_INFLATION_NONE
                     ? mote_world_set_cloth_pressure(simulation->world, i, scene_cloth_pressure(cloth))
                     : MOTE_OK;
        if (result == MOTE_OK && simulation->eases) {
            result = mote_world_set_cloth_compliance(simulation->world, i, cloth->stretch_compliance,
                                                     cloth->shear_compliance, cloth->bend_compliance);
        }
    }
    return result;
}

// Of a row of springs each is as many times stiffer as there are.
static MoteResult set_springs(MoteSimulation *simulation)
{
    MoteResult result = MOTE_OK;
    uint32_t first = simulation->first_spring;
    for (uint32_t i = 0; i < SCENE_COUNT(&simulation->from, spring) && result == MOTE_OK; i++) {
        const SceneSpring *spring = SCENE_AT(&simulation->from, spring, i);
        result = mote_world_set_spring_stiffness(simulation->world, first, spring->segments,
                                                 spring->stiffness * (float)spring->segments);
        first += spring->segments;
    }
    return result;
}

static MoteResult set_attachments(MoteSimulation *simulation)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(&simulation->from, attachment) && result == MOTE_OK; i++) {
        const SceneAttachment *from = SCENE_AT(&simulation->from, attachment, i);
        const bool moves = from->to == 0 && simulation->pin_sets[i] != MOTE_NONE;
        result = moves ? mote_world_move_pins(simulation->world, simulation->pin_sets[i], scene_attachment_pose(from),
                                              scene_attachment_pose(SCENE_AT(&simulation->to, attachment, i)))
                       : MOTE_OK;
    }
    return result;
}

// The air at a step's beginning; its eddies follow the clock.
static MoteResult set_air_of_step(MoteSimulation *simulation, uint64_t step)
{
    const SceneAir *air = SCENE_AT(&simulation->from, air, 0);
    const MoteAir now = {.density = air->density,
                         .wind = air->wind,
                         .gust = air->gust,
                         .eddy_size = air->eddy_size,
                         .vortex = air->vortex,
                         .vortex_centre = air->vortex_centre,
                         .vortex_radius = air->vortex_radius,
                         .time = simulation_time_of_step(simulation, step)};
    return mote_world_set_air(simulation->world, &now);
}

static MoteResult set_air(MoteSimulation *simulation)
{
    return set_air_of_step(simulation, simulation->steps);
}

static bool has_gusts(const MoteSimulation *simulation)
{
    const SceneAir *air = SCENE_AT(&simulation->from, air, 0);
    const SceneValues *values = &simulation->scene->values;
    return (SCENE_COUNT(values, cloth) > 0 || scene_has_gas(values)) && air->gust > 0.0f;
}

// ---- Making and unmaking ----

static MoteResult allocate(MoteSimulation *simulation)
{
    const SceneValues *values = &simulation->scene->values;
    const uint32_t emitters = SCENE_COUNT(values, emitter);
    const uint32_t colliders = SCENE_COUNT(values, collider), volumes = SCENE_COUNT(values, kill_volume);
    const uint32_t posed_count = colliders > volumes ? colliders : volumes;
    simulation->emitters = calloc(emitters + 1u, sizeof *simulation->emitters);
    simulation->emitters_before = calloc(emitters + 1u, sizeof *simulation->emitters_before);
    simulation->posed_colliders = calloc(posed_count + 1u, sizeof *simulation->posed_colliders);
    simulation->forces = calloc(SCENE_COUNT(values, force) + 1u, sizeof *simulation->forces);
    simulation->pin_sets = malloc((SCENE_COUNT(values, attachment) + 1u) * sizeof *simulation->pin_sets);
    simulation->collider_ids = calloc(colliders + 1u, sizeof *simulation->collider_ids);
    if (simulation->emitters == NULL || simulation->emitters_before == NULL || simulation->posed_colliders == NULL ||
        simulation->forces == NULL || simulation->collider_ids == NULL || simulation->pin_sets == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a simulation", simulation->scene->path);
    }
    memset(simulation->pin_sets, 0xff, SCENE_COUNT(values, attachment) * sizeof *simulation->pin_sets);
    for (uint32_t i = 0; i < emitters; i++) {
        simulation->emitters[i] =
            emitter_state(emitter_spacing(SCENE_AT(values, emitter, i), SCENE_AT(values, solver, 0)));
    }
    MoteResult result = scene_values_copy(simulation->scene, &simulation->before);
    if (result == MOTE_OK) {
        result = scene_values_copy(simulation->scene, &simulation->from);
    }
    if (result == MOTE_OK) {
        result = scene_values_copy(simulation->scene, &simulation->to);
    }
    return result;
}

static MoteResult fill(MoteSimulation *simulation)
{
    const SceneBounds *bounds = SCENE_AT(&simulation->scene->values, bounds, 0);
    mote_world_set_bounds(simulation->world, bounds->lower, bounds->upper);
    static MoteResult (*const builders[])(SceneStart *) = {
#define BUILD(section) scene_build_##section,
#include "scene/keys.def"
    };
    SceneStart start = {.scene = simulation->scene,
                        .world = simulation->world,
                        .notices = &simulation->notices,
                        .colliders = simulation->collider_ids,
                        .pin_sets = simulation->pin_sets,
                        .first_spring = &simulation->first_spring,
                        .bodies = &simulation->bodies};
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < sizeof builders / sizeof builders[0] && result == MOTE_OK; i++) {
        result = stop_check();
        result = result == MOTE_OK ? builders[i](&start) : result;
    }
    result = result == MOTE_OK ? scene_start_check(&start) : result;
    result = result == MOTE_OK && simulation->eases ? world_allow_easing(simulation->world) : result;
    scene_start_free(&start);
    return result;
}

static MoteResult populate(MoteSimulation *simulation, const MoteBackendOptions *options)
{
    const MoteScene *scene = simulation->scene;
    for (uint32_t i = 0; i < scene->track_count; i++) {
        const SceneKey *key = &scene_keys[scene->tracks[i].key];
        simulation->animated[key->section] = true;
        simulation->eases = simulation->eases || scene_key_eases(key);
    }
    evaluate(simulation, simulation->steps);
    simulation->settings = *SCENE_AT(&simulation->from, solver, 0);
    MoteResult result = mote_world_create(&simulation->settings, options, &simulation->world);
    if (result == MOTE_OK) {
        result = scene_set_materials(scene, &simulation->from, simulation->world);
    }
    if (result == MOTE_OK) {
        result = scene_add_collider_meshes(scene, simulation->world, &simulation->collider_meshes);
    }
    MoteResult (*const parts[])(MoteSimulation *) = {add_colliders, start_colliders, set_kill_volumes,
                                                     set_forces,    set_air,         fill};
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0] && result == MOTE_OK; i++) {
        result = stop_check();
        result = result == MOTE_OK ? parts[i](simulation) : result;
    }
    return result;
}

MoteResult mote_simulation_create(const MoteScene *scene, const MoteBackendOptions *options, MoteSimulation **out)
{
    *out = NULL;
    MoteSimulation *simulation = calloc(1, sizeof *simulation);
    if (simulation == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a simulation", scene->path);
    }
    simulation->scene = scene;
    for (uint32_t i = 0; i < scene->notices.count; i++) {
        const MoteNotice *notice = &scene->notices.rows[i];
        notices_add(&simulation->notices, notice->warning, notice->time, "%s", notice->text);
    }
    MoteResult result = allocate(simulation);
    if (result == MOTE_OK) {
        result = populate(simulation, options);
    }
    if (result != MOTE_OK) {
        mote_simulation_destroy(simulation);
        return result;
    }
    *out = simulation;
    return MOTE_OK;
}

static void drop_emissions(MoteSimulation *simulation)
{
    for (uint32_t i = 0; i < simulation->emission_count; i++) {
        free((void *)simulation->emissions[i].particles.positions);
        free((void *)simulation->emissions[i].particles.velocities);
        free(simulation->emissions[i].smoke.positions);
    }
    simulation->emission_count = 0;
}

void mote_simulation_destroy(MoteSimulation *simulation)
{
    if (simulation == NULL) {
        return;
    }
    mote_world_destroy(simulation->world);
    scene_values_free(&simulation->before);
    scene_values_free(&simulation->from);
    scene_values_free(&simulation->to);
    free(simulation->emitters);
    free(simulation->emitters_before);
    drop_emissions(simulation);
    free(simulation->emissions);
    free(simulation->posed_colliders);
    free(simulation->forces);
    free(simulation->collider_ids);
    free(simulation->pin_sets);
    simulation_look_free(&simulation->look);
    scene_bodies_free(&simulation->bodies);
    notices_clear(&simulation->notices);
    scene_collider_meshes_free(simulation->scene, simulation->collider_meshes);
    free(simulation);
}

// ---- Running ----

// What leaves the nozzles by the beginning of a step that `before` others of the frame come before.
static MoteResult emit(MoteSimulation *simulation, uint32_t before)
{
    const uint64_t step = simulation->steps + before;
    for (uint32_t i = 0; i < simulation_emitter_count(simulation); i++) {
        const EmitterSpan span = {
            .scene = simulation->scene,
            .index = i,
            .before = SCENE_AT(&simulation->before, emitter, i),
            .now = SCENE_AT(&simulation->from, emitter, i),
            .time_before = simulation_time_of_step(simulation, step > 0 ? step - 1 : 0),
            .time_now = simulation_time_of_step(simulation, step),
        };
        if (simulation->emission_count == simulation->emission_capacity) {
            const uint32_t capacity = 2 * simulation->emission_capacity + 16;
            Emission *grown = realloc(simulation->emissions, capacity * sizeof *grown);
            if (grown == NULL) {
                return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for emitters", simulation->scene->path);
            }
            simulation->emissions = grown;
            simulation->emission_capacity = capacity;
        }
        Emission *emission = &simulation->emissions[simulation->emission_count];
        *emission = (Emission){.before = before, .emitter = i};
        const MoteResult result = emitter_emit(&span, &simulation->emitters[i], simulation->world, emission);
        if (result != MOTE_OK) {
            return result;
        }
        simulation->emission_count += emission->particles.count > 0;
    }
    return MOTE_OK;
}

static MoteResult add_emissions(MoteSimulation *simulation, uint32_t before)
{
    for (uint32_t i = 0; i < simulation->emission_count; i++) {
        const Emission *emission = &simulation->emissions[i];
        MoteResult result = emission->before == before
                                ? mote_world_add_particles(simulation->world, &emission->particles, NULL)
                                : MOTE_OK;
        if (result == MOTE_OK && emission->before == before && emission->smoke.count > 0) {
            result = mote_world_emit_diffuse(simulation->world, &emission->smoke);
        }
        if (result != MOTE_OK) {
            return mote_fail(result, "%s: emitters[%u]: %s", simulation->scene->path, emission->emitter,
                             mote_error_message());
        }
    }
    return MOTE_OK;
}

// Makes room for the smoke that leaves in a step.
static MoteResult expect_smoke(MoteSimulation *simulation)
{
    uint32_t most = 0, sum = 0;
    for (uint32_t i = 0; i < simulation->emission_count; i++) {
        const Emission *emission = &simulation->emissions[i];
        sum = i > 0 && emission->before == emission[-1].before ? sum : 0;
        sum += emission->smoke.count;
        most = sum > most ? sum : most;
    }
    return most > 0 ? world_reserve_emission(simulation->world, most) : MOTE_OK;
}

// What leaves in `count` steps. Where the world has no room for all of that, it is what leaves in the next one.
static MoteResult emit_ahead(MoteSimulation *simulation, uint32_t *count)
{
    const size_t bytes = simulation_emitter_count(simulation) * sizeof *simulation->emitters;
    bool expected = true;
    memcpy(simulation->emitters_before, simulation->emitters, bytes);
    for (uint32_t s = 0; s < *count && expected; s++) {
        const uint32_t first = simulation->emission_count;
        evaluate(simulation, simulation->steps + s);
        const MoteResult result = emit(simulation, s);
        if (result != MOTE_OK) {
            return result;
        }
        for (uint32_t i = first; i<simulation->emission_count && * count> 1 && expected; i++) {
            const MoteParticles *particles = &simulation->emissions[i].particles;
            expected = world_expect_particles(simulation->world, particles->count, particles->phase);
        }
    }
    if (!expected) {
        *count = 1;
        memcpy(simulation->emitters, simulation->emitters_before, bytes);
        drop_emissions(simulation);
        evaluate(simulation, simulation->steps);
        const MoteResult result = emit(simulation, 0);
        return result == MOTE_OK ? expect_smoke(simulation) : result;
    }
    return expect_smoke(simulation);
}

// What keyframes say of the world's surroundings in a step, and what nozzles bring. It depends on nothing but the step.
static MoteResult prepare(void *context, uint32_t before)
{
    MoteSimulation *simulation = context;
    evaluate(simulation, simulation->steps + before);
    MoteResult result = set_settings(simulation);
    if (result == MOTE_OK && simulation->animated[SCENE_SECTION_material]) {
        result = scene_set_materials(simulation->scene, &simulation->from, simulation->world);
    }
    if (result == MOTE_OK && simulation->animated[SCENE_SECTION_collider]) {
        result = set_colliders(simulation);
    }
    if (result == MOTE_OK && simulation->animated[SCENE_SECTION_kill_volume]) {
        result = set_kill_volumes(simulation);
    }
    if (result == MOTE_OK && simulation->animated[SCENE_SECTION_force]) {
        result = set_forces(simulation);
    }
    if (result == MOTE_OK && simulation->animated[SCENE_SECTION_cloth]) {
        result = set_cloths(simulation);
    }
    if (result == MOTE_OK && simulation->animated[SCENE_SECTION_spring]) {
        result = set_springs(simulation);
    }
    if (result == MOTE_OK && simulation->animated[SCENE_SECTION_attachment]) {
        result = set_attachments(simulation);
    }
    result = result == MOTE_OK ? set_air_of_step(simulation, simulation->steps + before) : result;
    if (result == MOTE_OK) {
        const uint64_t step = simulation->steps + before;
        result =
            scene_move_collider_meshes(simulation->scene, simulation->world, simulation_time_of_step(simulation, step),
                                       simulation_time_of_step(simulation, step + 1), simulation->collider_meshes);
    }
    return result == MOTE_OK ? add_emissions(simulation, before) : result;
}

// Whether something happens between the steps of a frame for which the world must be looked at: keyframes of a dynamic
// collider.
static bool stops_between_steps(const MoteSimulation *simulation)
{
    const MoteScene *scene = simulation->scene;
    bool stops = false;
    for (uint32_t i = 0; i < scene->track_count; i++) {
        const SceneTrack *track = &scene->tracks[i];
        stops = stops || (scene_keys[track->key].section == SCENE_SECTION_collider &&
                          scene_collider_has_mass(SCENE_AT(&scene->values, collider, track->element)));
    }
    return stops;
}

static bool has_moving_meshes(const MoteSimulation *simulation)
{
    const SceneValues *values = &simulation->scene->values;
    bool moving = false;
    for (uint32_t i = 0; i < SCENE_COUNT(values, collider); i++) {
        moving = moving || ((const SceneCollider *)SCENE_AT(values, collider, i))->mesh_sequence != NULL;
    }
    return moving;
}

// The next step, or the next `count` if nothing stops them.
static MoteResult run_steps(MoteSimulation *simulation, uint32_t count)
{
    MoteResult result = emit_ahead(simulation, &count);
    const bool moves = count > 1 && (simulation->scene->track_count > 0 || simulation->emission_count > 0 ||
                                     has_gusts(simulation) || has_moving_meshes(simulation));
    if (result == MOTE_OK && !moves) {
        result = prepare(simulation, 0);
    } else if (result == MOTE_OK && simulation->animated[SCENE_SECTION_collider]) {
        evaluate(simulation, simulation->steps); // a user may have changed one with a mass since
        result = set_colliders(simulation);
    }
    if (result == MOTE_OK) {
        // The whole clock's first step, not a difference of two times: every step is then equally long.
        const float time_step = (float)simulation_time_of_step(simulation, 1);
        uint32_t done = 0;
        result = world_prepared_steps(simulation->world, time_step, count, moves ? prepare : NULL, simulation, &done);
        simulation->steps += done;
    }
    drop_emissions(simulation);
    return result;
}

static MoteResult advance_frame(MoteSimulation *simulation)
{
    if (simulation->failed) {
        return mote_fail(
            MOTE_ERROR_UNSTABLE, "%s: the simulation failed in step %llu (%.6g s) and cannot go on; load a saved state",
            simulation->scene->path, (unsigned long long)simulation->steps, mote_simulation_time(simulation));
    }
    const uint32_t substeps = SCENE_AT(&simulation->scene->values, solver, 0)->substeps;
    const bool stops = stops_between_steps(simulation);
    do {
        const uint32_t left = substeps - (uint32_t)(simulation->steps % substeps);
        const MoteResult result = run_steps(simulation, stops ? 1 : left);
        if (result != MOTE_OK) {
            simulation->failed = true;
            return result;
        }
    } while (simulation->steps % substeps != 0);
    simulation_watch(simulation);
    return MOTE_OK;
}

// Frames that take so long (s) are stopped in the middle (mote_stop_when), and the state before them is kept for that,
// which costs little beside them. Shorter ones are soon at their end.
static const double LONG_FRAME = 0.5;

MoteResult mote_simulation_advance_frame(MoteSimulation *simulation)
{
    if (!stop_is_watched()) {
        return advance_frame(simulation);
    }
    MoteResult result = stop_check();
    if (result != MOTE_OK) {
        return result;
    }
    const double start = clock_seconds();
    const bool unknown = simulation->frame_seconds == 0.0;
    KeptState *kept = NULL;
    if (!simulation->failed && (unknown || simulation->frame_seconds > LONG_FRAME)) {
        kept = simulation_keep_state(simulation); // NULL without memory: then this frame goes on to its end
    }
    MoteStopCallback *before = kept == NULL ? stop_hold() : NULL;
    result = advance_frame(simulation);
    if (kept == NULL) {
        stop_release(before);
    } else if (result == MOTE_ERROR_STOPPED) {
        MoteStopCallback *asking = stop_hold();
        const MoteResult restored = simulation_restore_state(simulation, kept);
        stop_release(asking);
        result = restored == MOTE_OK ? stop_fail() : restored;
    }
    simulation_drop_state(kept);
    simulation->frame_seconds = clock_seconds() - start;
    return result;
}

// ---- Asking ----

MoteWorld *mote_simulation_world(MoteSimulation *simulation)
{
    return simulation->world;
}

uint64_t mote_simulation_frame(const MoteSimulation *simulation)
{
    return simulation->steps / SCENE_AT(&simulation->scene->values, solver, 0)->substeps;
}

double mote_simulation_time(const MoteSimulation *simulation)
{
    return simulation_time_of_step(simulation, simulation->steps);
}

uint64_t mote_simulation_emitted(const MoteSimulation *simulation)
{
    uint64_t emitted = 0;
    for (uint32_t i = 0; i < simulation_emitter_count(simulation); i++) {
        emitted += simulation->emitters[i].emitted;
    }
    return emitted;
}

uint32_t mote_simulation_notices(const MoteSimulation *simulation, const MoteNotice **rows)
{
    *rows = simulation->notices.rows;
    return simulation->notices.count;
}

uint64_t mote_simulation_frame_target(const MoteSimulation *simulation)
{
    return SCENE_AT(&simulation->scene->values, output, 0)->frames;
}

uint64_t mote_simulation_escaped(MoteSimulation *simulation)
{
    MoteParticleView view;
    if (particle_copy_read(simulation->world, COPY_POSITIONS, &view) != MOTE_OK) {
        particle_copy_free(&view);
        return UINT64_MAX; // nothing is known of any particle; the message says why
    }
    const SceneBounds *bounds = SCENE_AT(&simulation->scene->values, bounds, 0);
    const bool flat = SCENE_AT(&simulation->scene->values, solver, 0)->dimensions == 2;
    uint64_t inside = 0;
    for (uint32_t i = 0; i < view.count; i++) { // comparisons that also leave out what is not a number
        const float *p = view.positions + 4 * (size_t)i;
        inside += p[0] >= bounds->lower.x && p[0] <= bounds->upper.x && p[1] >= bounds->lower.y &&
                  p[1] <= bounds->upper.y && (flat || (p[2] >= bounds->lower.z && p[2] <= bounds->upper.z));
    }
    const uint64_t escaped = view.count - inside;
    particle_copy_free(&view);
    return escaped;
}
