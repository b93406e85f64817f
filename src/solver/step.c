// SPDX-License-Identifier: MIT
// step.c - one solver step: UPP Algorithm 1 from top to bottom. Every line that computes is a kernel of
// src/kernels/kernels.def or a sort, scan or reduction of the backend, and is timed under its own name.
#include "solver/world.h"

#include "base/error.h"

static void measure_stacks(MoteWorld *world);
static void stabilize(MoteWorld *world);
static void predict_bodies(MoteWorld *world);
static void solve_groups(MoteWorld *world);
static void credit_stored_energy(MoteWorld *world);
static void note_stored_energy(MoteWorld *world);
static void keep_walls_closed(MoteWorld *world);
static void update_velocities(MoteWorld *world);
static void take_velocities(MoteWorld *world);
static void smooth_velocities(MoteWorld *world);
static void begin_dynamic_colliders(MoteWorld *world);
static void count_dynamic_contacts(MoteWorld *world);
static void finish_dynamic_colliders(MoteWorld *world);
static void watch_energy(MoteWorld *world);

static bool has_small_steps(const MoteWorld *world)
{
    return world->settings.small_steps > 1;
}

// Lines 1 to 6: predicted positions, and the spatial order of particles there.
static void begin_step(MoteWorld *world, float time_step, bool clear)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    world_set_parameters(world, time_step);
    if (clear) {
        view->speculating = 0;
        LAUNCH(world, clear_counters);
    }
    view->speculating = world->speculating;
    if (!clear) {
        LAUNCH(world, begin_step);
    }
    world_apply_air(world);
    const bool small = has_small_steps(world); // each of them predicts for itself
    if (!small) {
        world_lift_gas(world);
        world_apply_force_fields(world);
        begin_dynamic_colliders(world); // those that have a mass
    }
    if (view->particle_count > 0) {
        world_launch(world, small ? KERNEL_ID_foresee : KERNEL_ID_predict);
        world_move_pins(world, false);
        world->lists_are_current = false;
        world->corners_are_current = false;
        functions->find_bounds(world->backend, view->predicted, view->particle_count, view->bounds);
        LAUNCH(world, assign_keys);
        world_keep_touch_bounds(world);
        if (world_stops(world)) {
            return;
        }
        // A sort also runs after a failed speculation. Its scratch must then not be an array that is still needed, so
        // it uses the memory of the lists.
        const bool in_lists = world_sorts_in_lists(world);
        CHECK_SCRATCH(
            scratch_write(&world->scratch, in_lists ? MEANING_speculative_sort_scratch : MEANING_sort_scratch));
        functions->sort(world->backend, view->keys, view->order, view->particle_count,
                        in_lists ? view->speculative_sort_scratch : view->sort_scratch);
    }
}

static void wet_fields(MoteWorld *world)
{
    if (world->colliders.wet_texel_count > 0) {
        LAUNCH(world, wet_fields);
    }
}

// Places colliders that users move where they are in a small step; afterwards, back where the whole step has them.
static void pose_colliders(MoteWorld *world)
{
    if (world->view.colliders_move != 0u) {
        LAUNCH(world, pose_colliders);
    }
}

static void solve(MoteWorld *world)
{
    world_ease_links(world, world->view.time_step);
    measure_stacks(world);
    stabilize(world); // lines 10-15
    predict_bodies(world);
    world_begin_touches(world);
    count_dynamic_contacts(world);
    LAUNCH(world, watch_begin);
    for (uint32_t i = 0; i < world->settings.iterations; i++) { // lines 16-22, a group after the other
        world->view.iteration = i;
        solve_groups(world);
    }
    credit_stored_energy(world);
    world_credit_pins(world);
    update_velocities(world); // lines 23-28
    wet_fields(world);
}

// Prediction, each group of constraints once, and velocities, for a share of the step. The search has found neighbours
// around where particles will be at the step's end.
static void run_small_step(MoteWorld *world, float time_step, uint32_t number)
{
    SolverData *view = &world->view;
    world_set_small_step(world, time_step, number);
    pose_colliders(world);
    world_lift_gas(world);
    world_apply_force_fields(world);
    begin_dynamic_colliders(world);
    if (view->particle_count > 0) {
        LAUNCH(world, predict);
        world_move_pins(world, true);
        if (number == 0) {
            measure_stacks(world);
        }
        if (number == 0 || view->cluster_count > 0) { // bodies part by that alone where they overlap (recovery_limit)
            stabilize(world);
        }
        predict_bodies(world);
        world_begin_touches(world);
        count_dynamic_contacts(world);
        if (number == 0) {
            LAUNCH(world, watch_begin);
            note_stored_energy(world);
        }
        view->iteration = 0;
        solve_groups(world);
        world_credit_pins(world);
        if (number + 1 == world->settings.small_steps) {
            credit_stored_energy(world);
        }
        take_velocities(world);
    }
    finish_dynamic_colliders(world);
}

// What needs neighbours and no constraint comes once, with the parameters of the whole step.
static MoteResult run_small_steps(MoteWorld *world, float time_step)
{
    const MoteResult reserved =
        world_reserve(world, CAPACITY_COLLIDER_POSES, 4 * (uint64_t)world->view.collider_count, 0);
    if (world->view.particle_count > 0) {
        world_ease_links(world, time_step);
    }
    for (uint32_t n = 0; n < world->settings.small_steps && reserved == MOTE_OK && !world_stops(world); n++) {
        run_small_step(world, time_step, n);
    }
    if (reserved == MOTE_OK) {
        world->view.pose_begin = 0.0f;
        world->view.pose_end = 1.0f;
        pose_colliders(world);
        world_set_parameters(world, time_step);
        if (world->view.particle_count > 0) {
            smooth_velocities(world);
            wet_fields(world);
        }
    }
    return reserved;
}

MoteResult world_run_step(MoteWorld *world, float time_step, StepPoint from, bool clear, StepMarks *marks)
{
    SolverData *view = &world->view;
    if (from == STEP_ENDED) {
        view->emission_count = 0;
        return world_spawn(world);
    }
    if (from == STEP_START) {
        if (world->backend->functions->begin_step != NULL) {
            world->backend->functions->begin_step(world->backend);
        }
        begin_step(world, time_step, clear);
        if (world_stops(world)) {
            return stop_fail();
        }
        if (view->particle_count > 0) {
            world_order_particles(world);
        }
    }
    marks->ordered = (StepMark){*view, world->scratch};
    if (view->particle_count > 0) { // kill volumes may have taken the last ones
        const MoteResult found = world_find_neighbours(world);
        if (found != MOTE_OK) {
            return found;
        }
        if (!has_small_steps(world)) {
            solve(world);
        }
    }
    if (has_small_steps(world)) {
        const MoteResult run = run_small_steps(world, time_step);
        if (run != MOTE_OK) {
            return run;
        }
    } else {
        finish_dynamic_colliders(world);
    }
    watch_energy(world);
    world_advance_diffuse(world);
    world_drive_gas(world);
    marks->ended = (StepMark){*view, world->scratch};
    return world_stops(world) ? stop_fail() : world_spawn(world);
}

// ---- Constraint groups -------------------------------------------------------------------------------------

typedef enum ConstraintGroup {
#define CONSTRAINT(name, active, force) GROUP_##name,
#include "kernels/constraints.def"
    GROUP_COUNT
} ConstraintGroup;

static bool group_is_active(const MoteWorld *world, ConstraintGroup group)
{
    const SolverData *view = &world->view;
    const bool active[GROUP_COUNT] = {
#define CONSTRAINT(name, active_when, force) [GROUP_##name] = active_when,
#include "kernels/constraints.def"
    };
    return active[group];
}

static void solve_group(MoteWorld *world, ConstraintGroup group)
{
    enum { FORCE_NONE = FORCE_KINDS };
    static const struct {
        void (*solve)(MoteWorld *world);
        uint32_t force;
    } groups[GROUP_COUNT] = {
#define CONSTRAINT(name, active, force) [GROUP_##name] = {world_solve_##name, FORCE_##force},
#include "kernels/constraints.def"
    };
    if (!group_is_active(world, group)) {
        return;
    }
    const bool records = world->recording_forces && groups[group].force != FORCE_NONE;
    if (records) {
        LAUNCH(world, mark_forces);
    }
    groups[group].solve(world);
    if (records) {
        world->view.force_kind = groups[group].force;
        LAUNCH(world, record_forces);
    }
}

static void solve_groups(MoteWorld *world)
{
    for (int group = 0; group < GROUP_COUNT; group++) {
        solve_group(world, (ConstraintGroup)group);
    }
}

// The energy that constraints store and give back is no gain.
static void credit_stored_energy(MoteWorld *world)
{
#define STORES_ENERGY(group, kernel)                                                                                   \
    if (group_is_active(world, GROUP_##group)) {                                                                       \
        LAUNCH(world, kernel);                                                                                         \
    }
#include "kernels/constraints.def"
}

static void note_stored_energy(MoteWorld *world)
{
#define NOTES_ENERGY(group, kernel)                                                                                    \
    if (group_is_active(world, GROUP_##group)) {                                                                       \
        LAUNCH(world, kernel);                                                                                         \
    }
#include "kernels/constraints.def"
}

// Contacts with colliders hold even without iterations.
static void keep_walls_closed(MoteWorld *world)
{
    solve_group(world, GROUP_collider_contacts);
    solve_group(world, GROUP_shape_matching);
    solve_group(world, GROUP_dynamic_colliders);
}

static bool add_boundary_density(MoteWorld *world)
{
    const bool walls_count = world->view.boundary_weight > 0.0f && world->view.collider_count > 0;
    if (walls_count) {
        LAUNCH(world, add_boundary_density);
    }
    return walls_count;
}

void world_measure_densities(MoteWorld *world)
{
    world->view.measuring = 1;
    LAUNCH(world, measure_density);
    add_boundary_density(world);
    world->view.measuring = 0;
}

void world_solve_density(MoteWorld *world)
{
    if (world->view.isotropy > 0.0f && world->view.iteration == 0) {
        LAUNCH(world, measure_isotropy);
    }
    LAUNCH(world, density_lambda);
    const bool walls_count = add_boundary_density(world);
    LAUNCH(world, density_delta);
    if (walls_count) {
        LAUNCH(world, add_boundary_pressure);
        world->view.impulses_begun = 1;
    }
    if (world->view.cluster_count > 0) {
        LAUNCH(world, remove_tangential_pressure);
    }
}

void world_apply_body_corrections(MoteWorld *world)
{
    world->view.contact_points = world->view.predicted;
    LAUNCH(world, sum_members);
    LAUNCH(world, apply_fluid_pressure);
    LAUNCH(world, place_members);
    LAUNCH(world, clear_corrections);
}

void world_solve_fluid_pressure(MoteWorld *world)
{
    world_apply_body_corrections(world);
}

void world_solve_particle_contacts(MoteWorld *world)
{
    SolverData *view = &world->view;
    view->contact_points = view->predicted;
    LAUNCH(world, solve_pairs);
    world_exchange(world, &view->predicted, MEANING_corrected_positions);
}

void world_solve_collider_contacts(MoteWorld *world)
{
    world->view.contact_points = world->view.predicted;
    LAUNCH(world, solve_contacts);
    world->view.impulses_begun = 0;
}

void world_solve_shape_matching(MoteWorld *world)
{
    LAUNCH(world, sum_members);
    LAUNCH(world, match_clusters);
    LAUNCH(world, match_members);
}

// Counts the contacts of rigid bodies at the present positions.
static void count_contacts(MoteWorld *world)
{
    LAUNCH(world, count_contacts);
    LAUNCH(world, count_cluster_contacts);
    LAUNCH(world, clear_corrections);
}

static void measure_stacks(MoteWorld *world)
{
    if (world->view.stack_by_contacts != 0u && world->view.has_solids != 0u) {
        LAUNCH(world, propagate_stack_heights);
        if (world->view.cluster_count > 0) {
            LAUNCH(world, propagate_cluster_heights);
        }
        LAUNCH(world, store_stack_heights);
    }
}

// Stabilization (UPP section 4.4): corrects contacts that are violated at the start of the step, without adding
// velocity.
static void stabilize(MoteWorld *world)
{
    SolverData *view = &world->view;
    view->stabilizing = 1;
    for (uint32_t i = 0; i < world->settings.stabilization_iterations; i++) {
        view->contact_points = view->positions;
        if (view->cluster_count > 0) {
            count_contacts(world);
        }
        if (view->has_solids != 0u) {
            LAUNCH(world, solve_pairs);
            LAUNCH(world, shift_predicted);
            world_exchange(world, &view->positions, MEANING_corrected_positions);
            view->contact_points = view->positions;
        }
        if (view->collider_count > 0) {
            LAUNCH(world, stabilize_contacts);
        }
        if (view->cluster_count > 0) {
            world_solve_shape_matching(world);
        }
    }
    view->stabilizing = 0;
}

static void predict_bodies(MoteWorld *world)
{
    SolverData *view = &world->view;
    if (view->cluster_count > 0) {
        LAUNCH(world, sum_momenta);
        LAUNCH(world, predict_clusters);
        LAUNCH(world, place_members);
        view->contact_points = view->predicted;
        count_contacts(world);
    } else if (view->has_solids != 0u && (world->recording_forces || world->settings.iterations == 0)) {
        LAUNCH(world, clear_corrections); // looked at before the first contacts are solved
    }
    if (view->has_solids != 0u) {
        LAUNCH(world, split_particle_masses);
    }
    if (world->recording_forces) {
        LAUNCH(world, clear_forces);
    }
}

static void update_velocities(MoteWorld *world)
{
    if (world->settings.iterations == 0) { // no constraint has measured the densities, nor kept walls closed
        keep_walls_closed(world);
        world_measure_densities(world);
    }
    take_velocities(world);
    smooth_velocities(world);
}

// Velocities from positions, with restitution and rolling.
static void take_velocities(MoteWorld *world)
{
    SolverData *view = &world->view;
    world_remember_touches(world);
    if (view->cluster_count > 0) {
        LAUNCH(world, creep_entries);
        LAUNCH(world, finish_clusters);
    }
    if (view->bouncing != 0u || view->velocity_friction != 0u) {
        LAUNCH(world, bounce_pairs);
        world_bounce_touches(world);
    }
    if (view->cluster_count > 0 && (world->bouncing || world->bouncing_colliders)) {
        LAUNCH(world, bounce_clusters);
    }
    LAUNCH(world, update_velocity);
    if (view->rolling != 0u) {
        LAUNCH(world, roll_grains);
        CHECK_SCRATCH(world->stopped ? MOTE_OK
                                     : scratch_read(&world->scratch, MEANING_rolled_angular_velocities, __func__));
        world_copy_words(world, (uint *)view->rolled_angular_velocities, (uint *)view->angular_velocities, 4);
    }
}

// Viscosity and vorticity, and between them the energy watch.
static void smooth_velocities(MoteWorld *world)
{
    SolverData *view = &world->view;
    const bool viscous = view->viscosity > 0.0f || (view->liquids_differ != 0u && world->liquids.viscosity);
    if (world->tally.has_fluid && (viscous || view->has_vorticity != 0u)) {
        LAUNCH(world, smooth_velocity);
        world_exchange(world, &view->velocities, MEANING_smoothed_velocities);
    }
    LAUNCH(world, watch_end);
    if (world->tally.has_fluid && view->has_vorticity != 0u) {
        LAUNCH(world, confine_vorticity);
    }
}

// ---- Dynamic colliders -------------------------------------------------------------------------------

static void begin_dynamic_colliders(MoteWorld *world)
{
    SolverData *view = &world->view;
    if (view->dynamic_count > 0) {
        LAUNCH(world, begin_dynamic_colliders);
        view->stabilizing = 1;
        for (uint32_t i = 0; i < world->settings.stabilization_iterations; i++) {
            LAUNCH(world, collide_collider_pairs);
        }
        view->stabilizing = 0;
        LAUNCH(world, predict_dynamic_colliders);
    }
}

// Sums the impulses that particles recorded, chunk by chunk.
static void sum_collider_impulses(MoteWorld *world, vec4 *points)
{
    SolverData *view = &world->view;
    view->contact_points = points;
    view->impulse_chunk_count = (view->particle_count + IMPULSE_CHUNK - 1) / IMPULSE_CHUNK;
    view->impulse_sum_count = view->impulse_chunk_count * view->dynamic_count;
    LAUNCH(world, mark_impulse_chunks);
    LAUNCH(world, sum_collider_impulses);
}

static void count_dynamic_contacts(MoteWorld *world)
{
    if (world->view.dynamic_count > 0) {
        LAUNCH(world, count_dynamic_contacts);
        sum_collider_impulses(world, world->view.predicted);
        LAUNCH(world, split_collider_masses);
    }
}

void world_solve_dynamic_colliders(MoteWorld *world)
{
    sum_collider_impulses(world, world->view.predicted);
    LAUNCH(world, move_dynamic_colliders);
    LAUNCH(world, collide_collider_pairs);
}

static void finish_dynamic_colliders(MoteWorld *world)
{
    SolverData *view = &world->view;
    if (view->dynamic_count == 0) {
        return;
    }
    if (view->particle_count == 0) { // no iteration has kept them apart
        for (uint32_t i = 0; i < world->settings.iterations || i == 0; i++) {
            LAUNCH(world, collide_collider_pairs);
        }
    }
    LAUNCH(world, finish_dynamic_colliders);
    if (view->dynamic_bounce != 0u && view->particle_count > 0) {
        sum_collider_impulses(world, view->positions);
        LAUNCH(world, apply_bounce_impulses);
    }
    LAUNCH(world, bounce_dynamic_colliders);
    LAUNCH(world, store_dynamic_poses);
}

// Measures how constraints changed the energy of particles (watch_begin, watch_end) and of dynamic colliders.
static void watch_energy(MoteWorld *world)
{
    SolverData *view = &world->view;
    if (view->particle_count == 0) { // kill volumes may have taken the last ones
        view->watch_chunk_count = 0;
        view->watch_row_count = 0;
    }
    if (view->particle_count > 0 || view->dynamic_count > 0) {
        LAUNCH(world, watch_rows);
        LAUNCH(world, watch_total);
    }
}
