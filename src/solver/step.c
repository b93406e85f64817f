// SPDX-License-Identifier: MIT
// step.c - one solver step: UPP Algorithm 1 from top to bottom. Every line that computes is a kernel of
// src/kernels/kernels.def or a sort, scan or reduction of the backend, and is timed under its own name.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>

static const double PI = 3.14159265358979323846;

// Distance at which liquid and solid particles touch, over spacing. UPP section 7.1 has 1; but at rest, particles are
// that far apart, and such contacts took over from the pressure that should lift a body. This is still more than what
// would let liquid between eight particles of a solid's lattice (0.87), where it is led out again.
static const float LIQUID_REACH = 0.9f;

// How fast contacts may take rigid bodies apart that begin a step inside each other, over what gravity gives in a step.
// That much of an overlap is what the last step has left because it has not converged, and carries weight: ten boxes
// stand on each other with 5, and are 7 % lower after half a second with 4. More was there from the start, or was made
// by colliders.
static const float RECOVERY_SPEED = 5.0f;

static void measure_stacks(MoteWorld *world);
static void stabilize(MoteWorld *world);
static void predict_bodies(MoteWorld *world);
static void solve_groups(MoteWorld *world);
static void keep_walls_closed(MoteWorld *world);
#define CONSTRAINT(name, active, force) static void solve_##name(MoteWorld *world);
#include "kernels/constraints.def"
static void update_velocities(MoteWorld *world);
static void begin_shapes(MoteWorld *world);
static void count_shape_contacts(MoteWorld *world);
static void finish_shapes(MoteWorld *world);
static void watch_energy(MoteWorld *world);

// Lines 1 to 6: where particles would go, and in which order they lie there.
static void begin_step(MoteWorld *world, float time_step, bool clear)
{
    const BackendFunctions *functions = world->backend->functions;
    MoteView *view = &world->view;
    world_set_parameters(world, time_step);
    if (clear) {
        view->guessing = 0;
        LAUNCH(world, clear_counters);
    }
    view->guessing = world->guessing;
    if (!clear) {
        LAUNCH(world, begin_step);
    }
    begin_shapes(world); // those that have a mass
    if (view->particle_count > 0) {
        LAUNCH(world, predict);
        world->lists_are_current = false;
        world->corners_are_current = false;
        functions->find_bounds(world->backend, view->predicted, view->particle_count, view->bounds);
        LAUNCH(world, assign_keys);
        if (world_stops(world)) {
            return;
        }
        // A sort does not stop where a guess was wrong, when the estimates may be an array that is still needed; lists
        // never are.
        functions->sort(world->backend, view->keys, view->order, view->particle_count,
                        world_sorts_in_lists(world) ? (void *)view->neighbours : view->estimates);
    }
}

static void solve(MoteWorld *world)
{
    measure_stacks(world);
    stabilize(world); // lines 10-15
    predict_bodies(world);
    count_shape_contacts(world);
    LAUNCH(world, watch_begin);
    for (uint32_t i = 0; i < world->settings.iterations; i++) { // lines 16-22, a group after the other
        world->view.iteration = i;
        solve_groups(world);
    }
    update_velocities(world); // lines 23-28
    if (world->colliders.wet_texel_count > 0) {
        LAUNCH(world, wet_fields);
    }
}

MoteResult world_run_step(MoteWorld *world, float time_step, StepPoint from, bool clear, StepMarks *marks)
{
    MoteView *view = &world->view;
    if (from == STEP_START) {
        begin_step(world, time_step, clear);
        if (world_stops(world)) {
            return stop_fail();
        }
        if (view->particle_count > 0) {
            world_order_particles(world);
        }
    }
    marks->ordered = *view;
    if (view->particle_count > 0) { // kill volumes may have taken the last ones
        const MoteResult found = world_find_neighbours(world);
        if (found != MOTE_OK) {
            return found;
        }
        solve(world);
    }
    finish_shapes(world);
    watch_energy(world);
    marks->ended = *view;
    return world_stops(world) ? stop_fail() : MOTE_OK;
}

// ---- Constraint groups -------------------------------------------------------------------------------------

typedef enum ConstraintGroup {
#define CONSTRAINT(name, active, force) GROUP_##name,
#include "kernels/constraints.def"
    GROUP_COUNT
} ConstraintGroup;

static bool group_is_active(const MoteWorld *world, ConstraintGroup group)
{
    const MoteView *view = &world->view;
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
#define CONSTRAINT(name, active, force) [GROUP_##name] = {solve_##name, FORCE_##force},
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

// What holds even where there are no iterations.
static void keep_walls_closed(MoteWorld *world)
{
    solve_group(world, GROUP_collider_contacts);
    solve_group(world, GROUP_shape_matching);
    solve_group(world, GROUP_dynamic_colliders);
}

static void swap(vec4 **a, vec4 **b)
{
    vec4 *const first = *a;
    *a = *b;
    *b = first;
}

void world_count_walls(MoteWorld *world)
{
    if (world->view.wall_scale > 0.0f && world->view.shape_count > 0) {
        LAUNCH(world, count_walls);
    }
}

static void solve_density(MoteWorld *world)
{
    LAUNCH(world, density_lambda);
    world_count_walls(world);
    LAUNCH(world, density_delta);
    if (world->view.cluster_count > 0) {
        LAUNCH(world, slip_past_faces);
    }
}

// Rigid bodies go where liquids have pushed their particles: contacts are solved with where they are then.
static void solve_fluid_pressure(MoteWorld *world)
{
    world->view.contact_points = world->view.predicted;
    LAUNCH(world, sum_members);
    LAUNCH(world, press_clusters);
    LAUNCH(world, place_members);
    LAUNCH(world, clear_pushes);
}

static void solve_particle_contacts(MoteWorld *world)
{
    MoteView *view = &world->view;
    view->contact_points = view->predicted;
    LAUNCH(world, solve_pairs);
    swap(&view->predicted, &view->estimates);
}

static void solve_collider_contacts(MoteWorld *world)
{
    world->view.contact_points = world->view.predicted;
    LAUNCH(world, solve_contacts);
}

static void match_shapes(MoteWorld *world)
{
    LAUNCH(world, sum_members);
    LAUNCH(world, match_clusters);
    LAUNCH(world, match_members);
}

static void solve_shape_matching(MoteWorld *world)
{
    match_shapes(world);
}

// How many contacts the rigid bodies have at the present contact points.
static void count_contacts(MoteWorld *world)
{
    LAUNCH(world, count_contacts);
    LAUNCH(world, count_cluster_contacts);
    LAUNCH(world, clear_pushes);
}

static void measure_stacks(MoteWorld *world)
{
    if (world->view.stack_by_contacts != 0u && world->view.has_solids != 0u) {
        LAUNCH(world, raise_heights);
        if (world->view.cluster_count > 0) {
            LAUNCH(world, raise_clusters);
        }
        LAUNCH(world, keep_heights);
    }
}

// Contacts that are violated before anything has moved are corrected without giving speed (UPP section 4.4).
static void stabilize(MoteWorld *world)
{
    MoteView *view = &world->view;
    view->stabilizing = 1;
    for (uint32_t i = 0; i < world->settings.stabilization_iterations; i++) {
        view->contact_points = view->positions;
        if (view->cluster_count > 0) {
            count_contacts(world);
        }
        if (view->has_solids != 0u) {
            LAUNCH(world, solve_pairs);
            LAUNCH(world, shift_predicted);
            swap(&view->positions, &view->estimates);
            view->contact_points = view->positions;
        }
        if (view->shape_count > 0) {
            LAUNCH(world, stabilize_contacts);
        }
        if (view->cluster_count > 0) {
            match_shapes(world);
        }
    }
    view->stabilizing = 0;
}

static void predict_bodies(MoteWorld *world)
{
    MoteView *view = &world->view;
    if (view->cluster_count > 0) {
        LAUNCH(world, sum_momenta);
        LAUNCH(world, predict_clusters);
        LAUNCH(world, place_members);
        view->contact_points = view->predicted;
        count_contacts(world);
    }
    if (world->recording_forces) {
        LAUNCH(world, clear_forces);
    }
}

static void update_velocities(MoteWorld *world)
{
    MoteView *view = &world->view;
    if (world->settings.iterations == 0) { // no constraint has measured the densities, nor kept walls closed
        keep_walls_closed(world);
        LAUNCH(world, measure_density);
        world_count_walls(world);
    }
    if (view->cluster_count > 0) {
        LAUNCH(world, creep_entries);
        LAUNCH(world, finish_clusters);
    }
    if (view->bouncing != 0u || view->velocity_friction != 0u) {
        LAUNCH(world, bounce_pairs);
    }
    if (view->cluster_count > 0 && (world->bouncing || world->bouncing_shapes)) {
        LAUNCH(world, bounce_clusters);
    }
    LAUNCH(world, update_velocity);
    if (view->rolling != 0u) {
        LAUNCH(world, roll_grains);
        world_copy_words(world, (uint *)view->estimates, (uint *)view->spins, 4);
    }
    if (world->tally.has_fluid && (view->viscosity > 0.0f || view->confinement > 0.0f)) {
        LAUNCH(world, smooth_velocity);
        swap(&view->velocities, &view->estimates); // the kernel wrote the new velocities to the estimates
    }
    LAUNCH(world, watch_end);
    if (world->tally.has_fluid && view->confinement > 0.0f) {
        LAUNCH(world, confine_vorticity);
    }
}

// ---- Shapes that have a mass -------------------------------------------------------------------------------

static void begin_shapes(MoteWorld *world)
{
    MoteView *view = &world->view;
    if (view->dynamic_count > 0) {
        LAUNCH(world, begin_shapes);
        view->stabilizing = 1;
        for (uint32_t i = 0; i < world->settings.stabilization_iterations; i++) {
            LAUNCH(world, meet_shapes);
        }
        view->stabilizing = 0;
        LAUNCH(world, predict_shapes);
    }
}

// What the particles noted, chunk by chunk.
static void sum_shape_pushes(MoteWorld *world)
{
    MoteView *view = &world->view;
    view->push_chunk_count = (view->particle_count + PUSH_CHUNK - 1) / PUSH_CHUNK;
    view->push_sum_count = view->push_chunk_count * view->dynamic_count;
    LAUNCH(world, mark_push_chunks);
    LAUNCH(world, sum_shape_pushes);
}

static void count_shape_contacts(MoteWorld *world)
{
    if (world->view.dynamic_count > 0) {
        LAUNCH(world, count_shape_contacts);
        sum_shape_pushes(world);
        LAUNCH(world, split_shapes);
    }
}

static void solve_dynamic_colliders(MoteWorld *world)
{
    sum_shape_pushes(world);
    LAUNCH(world, move_shapes);
    LAUNCH(world, meet_shapes);
}

static void finish_shapes(MoteWorld *world)
{
    MoteView *view = &world->view;
    if (view->dynamic_count == 0) {
        return;
    }
    if (view->particle_count == 0) { // no iteration has kept them apart
        for (uint32_t i = 0; i < world->settings.iterations || i == 0; i++) {
            LAUNCH(world, meet_shapes);
        }
    }
    LAUNCH(world, finish_shapes);
    if (view->dynamic_bounce != 0u && view->particle_count > 0) {
        sum_shape_pushes(world);
        LAUNCH(world, kick_shapes);
    }
    LAUNCH(world, bounce_shapes);
    LAUNCH(world, keep_shapes);
}

// What constraints did to the energy of particles (watch_begin, watch_end) and of shapes that have a mass.
static void watch_energy(MoteWorld *world)
{
    MoteView *view = &world->view;
    if (view->particle_count == 0) { // kill volumes may have taken the last ones
        view->watch_chunk_count = 0;
        view->watch_row_count = 0;
    }
    if (view->particle_count > 0 || view->dynamic_count > 0) {
        LAUNCH(world, watch_rows);
        LAUNCH(world, watch_total);
    }
}

// ---- Parameters --------------------------------------------------------------------------------------------

static uint32_t missing_parts(const MoteWorld *world)
{
    const MoteView *view = &world->view;
    const bool bounces = world->bouncing || world->bouncing_shapes || view->velocity_friction != 0u;
    return (view->has_solids == 0u ? WITHOUT_SOLIDS : 0u) | (view->dynamic_count == 0 ? WITHOUT_DYNAMICS : 0u) |
           (world->colliders.field_count == 0 ? WITHOUT_FIELDS : 0u) |
           (world->colliders.hull_count == 0 ? WITHOUT_HULLS : 0u) | (!world->obstacles ? WITHOUT_OBSTACLES : 0u) |
           (!bounces ? WITHOUT_BOUNCES : 0u) | (view->mixed_masses == 0u ? WITHOUT_MIXTURES : 0u);
}

void world_set_parameters(MoteWorld *world, float time_step)
{
    const MoteSettings *settings = &world->settings;
    const RestState *rest = &world->rest;
    MoteView *view = &world->view;
    const double h = (double)settings->spacing * settings->support_ratio;
    const WorldTally *tally = &world->tally;
    const double inverse_mass = tally->liquid_inverse_mass > 0.0f ? tally->liquid_inverse_mass : 1.0;
    const double denominator = rest->squared_gradients * inverse_mass; // UPP eq. 5 on the rest lattice
    const double unlimited = 1e30;

    view->gravity = v3(settings->gravity.x, settings->gravity.y, settings->gravity.z);
    view->time_step = time_step;
    view->motion_mask = v3(1.0f, 1.0f, settings->dimensions == 2 ? 0.0f : 1.0f);
    view->velocity_decay = (float)exp(-(double)settings->damping * time_step);

    view->support = (float)h;
    view->support_squared = (float)(h * h);
    view->liquid_inverse_mass = (float)inverse_mass;
    view->mixed_masses = tally->has_fluid && tally->largest_inverse_mass > view->liquid_inverse_mass;
    view->density_scale = (float)(rest->poly6_norm / rest->number_density);
    view->gradient_scale = (float)(rest->spiky_norm / rest->number_density);
    view->relaxation = (float)(settings->relaxation * denominator);
    view->rest_lambda = (float)(1.0 / denominator);
    // Poly6 over a plane of the rest lattice's layer, or in 2D over its line.
    const double in_layer = settings->dimensions == 2 ? 32.0 / 35.0 / settings->spacing
                                                      : PI / 4.0 / ((double)settings->spacing * settings->spacing);
    view->wall_scale = (float)(settings->wall_density_weight * in_layer * rest->poly6_norm / rest->number_density);
    view->wall_spacing = settings->spacing;
    view->over_relaxation = settings->over_relaxation;
    view->max_tension = settings->density_mode == MOTE_DENSITY_UNILATERAL ? 0.0f : settings->max_tension;
    view->unilateral = settings->density_mode == MOTE_DENSITY_UNILATERAL;
    view->averaging = settings->averaging == MOTE_AVERAGING_ALL;
    // Gravity acts once a step, artificial pressure in every iteration: by it a liquid carries shear, the more of it
    // the more iterations there are, and at 12 of them a box of twice its density lay on water. Where something may
    // float, k is what it pushes with in a step; and where walls count, so that a pool does not sink by a fiftieth when
    // the first body comes.
    const bool floating = view->has_solids != 0u || view->dynamic_count > 0 || settings->wall_density_weight > 0.0f;
    const double times = floating && settings->iterations > 0 ? settings->iterations : 1.0;
    view->pressure_scale = (float)(settings->artificial_pressure / denominator / times);
    // Where shapes count, they change lambdas after density_lambda. The CPU's twins have notes of their own in the same
    // place (src/cpu/avx2_idle.h).
    view->notes_pressure = view->unilateral != 0u && view->pressure_scale <= 0.0f && view->has_solids == 0u &&
                           view->wall_scale <= 0.0f && world->backend->functions->guesses;
    const double q = settings->artificial_pressure_distance;
    view->pressure_reference = (float)(1.0 / pow(h * h * (1.0 - q * q), 3));
    view->pressure_power = settings->artificial_pressure_power;

    view->max_step = (float)(settings->max_displacement > 0.0f ? settings->max_displacement * h : unlimited);
    if (settings->max_speed > 0.0f) {
        view->max_step = fminf(view->max_step, settings->max_speed * time_step);
    }
    view->max_velocity_change =
        settings->max_acceleration > 0.0f ? settings->max_acceleration * time_step : (float)unlimited;
    view->max_correction = (float)(settings->max_correction > 0.0f ? settings->max_correction * h : unlimited);
    view->margin = settings->collision_distance * settings->spacing;
    view->sleep_distance = settings->sleep_speed * time_step;
    const MoteVec3 g = settings->gravity;
    const float fall = sqrtf(g.x * g.x + g.y * g.y + g.z * g.z);
    view->bounce_speed = 2.0f * time_step * fall;

    view->up = fall > 0.0f ? v3(-g.x / fall, -g.y / fall, -g.z / fall) : v3(0.0f, 1.0f, 0.0f);
    view->contact_distance = settings->solid_distance * settings->spacing;
    view->fluid_distance = LIQUID_REACH * settings->spacing;
    view->recovery_limit =
        settings->stabilization_iterations > 0 ? RECOVERY_SPEED * fall * time_step * time_step : (float)unlimited;
    view->solid_weight = settings->solid_density_weight;
    view->contact_relaxation = settings->contact_relaxation;
    view->contacts_global = settings->contact_averaging == MOTE_CONTACTS_GLOBAL;
    view->velocity_friction = settings->friction_model == MOTE_FRICTION_VELOCITY;
    view->stack_scaling = settings->stack_scaling;
    view->stack_ground = settings->stack_ground;
    view->support_memory = fall > 0.0f && view->has_solids != 0u ? settings->support_memory : 0.0f;
    view->stack_by_contacts = settings->stack_height == MOTE_STACK_CONTACTS && settings->stack_scaling > 0.0f;
    view->adhesion_range = world->sticky_materials || world->sticky_shapes ? 0.5f * settings->spacing : 0.0f;
    world_find_room(world);
    view->rolling = world->rolling && view->has_solids != 0u;
    view->bouncing = world->bouncing && view->has_solids != 0u;
    view->entry_count = world->entry_count;
    view->ignoring = world->ignoring;
    view->apart_only = view->member_count > 0 && !world->tally.has_fluid;
    const float ratio = world->last_time_step > 0.0f ? time_step / world->last_time_step : 1.0f;
    view->hold_scale = ratio * ratio;
    view->recording = world->recording_forces;
    view->force_stride = world->capacities[CAPACITY_FORCE_MARKS];

    view->viscosity = settings->viscosity;
    view->confinement = settings->vorticity * settings->spacing * time_step;
    view->rest_volume = (float)(1.0 / rest->number_density);
    view->poly6_scale = (float)rest->poly6_norm;
    view->spiky_scale = (float)rest->spiky_norm;
    view->counter_count = COUNTER_LIMIT;
    view->iteration_count = settings->iterations;
    view->colliders_move = world_colliders_move(world);
    // A smoothing radius of height, or one a second: motion that no one sees is no explosion.
    view->watch_floor = (float)(fall * h + 0.5 * h * h);
    view->watch_chunk_count = (view->particle_count + WATCH_CHUNK - 1) / WATCH_CHUNK;
    view->watch_row_count = (view->watch_chunk_count + WATCH_CHUNK - 1) / WATCH_CHUNK;
    world_point_at_channels(world);
    view->dynamic_once = 1;
    view->without = missing_parts(world);
    view->dynamic_bounce =
        view->dynamic_count > 0 && (world->bouncing || world->bouncing_shapes || view->velocity_friction != 0u);
}
