// SPDX-License-Identifier: MIT
// parameters.c - fills the PARAMETER rows of data.def for a step, from the settings, the rest state and the world.
#include "solver/world.h"

#include <math.h>

// Contact distance of liquid and solid particles, over spacing. UPP section 7.1 has 1. But particles at rest are that
// far apart, and contacts would replace the pressure that should lift a body. Below 0.87 liquid would enter between
// eight particles of a solid's lattice.
static const float LIQUID_REACH = 0.9f;

// Limit of the velocity with which contacts separate rigid bodies that overlap at the start of a step, over the
// velocity that gravity adds in a step. Smaller overlaps remain from the last step, which has not converged, and carry
// weight: ten stacked boxes stand with 5, and are 7 % lower after half a second with 4. Larger ones existed from the
// start, or were made by colliders.
static const float RECOVERY_SPEED = 5.0f;

// The time step (s) that the strengths of artificial pressure and tension are given for.
static const double REFERENCE_STEP = 1.0 / 240.0;

static uint32_t lacked_features(const MoteWorld *world)
{
    const SolverData *view = &world->view;
    const bool bounces = world->bouncing || world->bouncing_colliders || view->velocity_friction != 0u;
    return (view->has_solids == 0u ? LACKS_SOLIDS : 0u) | (view->dynamic_count == 0 ? LACKS_DYNAMICS : 0u) |
           (world->colliders.field_count == 0 ? LACKS_FIELDS : 0u) |
           (world->colliders.hull_count == 0 ? LACKS_HULLS : 0u) | (!world->obstacles ? LACKS_OBSTACLES : 0u) |
           (!bounces ? LACKS_BOUNCES : 0u) | (view->mixed_masses == 0u ? LACKS_MIXTURES : 0u) |
           (view->liquids_differ == 0u ? LACKS_LIQUIDS : 0u) | (view->isotropy <= 0.0f ? LACKS_ISOTROPY : 0u);
}

void world_set_parameters(MoteWorld *world, float time_step)
{
    const MoteSettings *settings = &world->settings;
    const RestState *rest = &world->rest;
    SolverData *view = &world->view;
    const double h = (double)settings->spacing * settings->smoothing_radius_ratio;
    const WorldTally *tally = &world->tally;
    const double denominator = rest->squared_gradients; // UPP eq. 5 on the rest lattice, over the inverse mass
    const double unlimited = 1e30;

    view->gravity = v3(settings->gravity.x, settings->gravity.y, settings->gravity.z);
    view->time_step = time_step;
    view->motion_mask = v3(1.0f, 1.0f, settings->dimensions == 2 ? 0.0f : 1.0f);
    view->velocity_decay = (float)exp(-(double)settings->damping * time_step);

    world_set_air_parameters(world);
    world_set_gas_parameters(world);

    view->smoothing_radius = (float)h;
    view->smoothing_radius_squared = (float)(h * h);
    const double search = settings->small_steps > 1 ? h * (1.0 + settings->search_margin) : h;
    view->search_radius = (float)search;
    view->search_radius_squared = (float)(search * search);
    view->small_step = 0;
    view->step_share = 1.0f;
    view->liquid_inverse_mass = tally->liquid_inverse_mass > 0.0f ? tally->liquid_inverse_mass : 1.0f;
    view->mixed_masses =
        tally->has_fluid && (tally->largest_inverse_mass > view->liquid_inverse_mass || tally->has_pinned_liquid);
    view->density_scale = (float)(rest->poly6_norm / rest->number_density);
    view->gradient_scale = (float)(rest->spiky_norm / rest->number_density);
    view->relaxation = (float)(settings->relaxation * denominator);
    // A Jacobi iteration must not correct more than twice the error of any wave on the lattice. What it corrects above
    // that grows from iteration to iteration, and as a unilateral constraint does not pull back, a block that falls on
    // a floor would bounce off with more energy than it had.
    view->rest_lambda = (float)(1.0 / (denominator * fmax(0.5 * rest->overcorrection, 1.0)));
    view->spacing = settings->spacing;
    view->boundary_weight = settings->boundary_density_weight;
    // Two particles see each other's images while their gaps add up to less than h - spacing. A particle in the outer
    // quarter of that sees the nearest image alone, which adds less than 0.4 % to its density: left out, this halves
    // the number of particles that are at walls.
    view->boundary_reach = 0.75f * settings->spacing * (settings->smoothing_radius_ratio - 1.0f);
    view->isotropy = settings->isotropic_pressure;
    view->over_relaxation = settings->over_relaxation;
    const LiquidParameters liquid = world_liquid_parameters(world);
    view->liquids_differ = world_liquids_differ(world);
    // Artificial pressure and tension are forces: what they move particles by in a step is proportional to the square
    // of its length, like what gravity does. As lengths they would stiffen a liquid to a gel as steps become shorter.
    // Steps longer than the reference would make them unstable, and keep its lengths.
    const double relative_step = (double)time_step / REFERENCE_STEP;
    view->step_scale = (float)fmin(relative_step * relative_step, 1.0);
    view->unilateral = settings->density_mode == MOTE_DENSITY_UNILATERAL || (world->has_gas && !tally->has_liquid);
    view->max_tension = view->unilateral != 0u ? 0.0f : liquid.max_tension * view->step_scale;
    // A Jacobi iteration with little relaxation corrects more than the error. Compression then bounces back within the
    // same step; a pull that reverses the stretching adds energy. So pulls always have relaxation 1, by its effect on
    // the rest lattice.
    view->tension_scale = fminf(0.5f * (1.0f + settings->relaxation), 1.0f);
    view->averaging = settings->averaging == MOTE_AVERAGING_ALL;
    // Gravity acts once a step, artificial pressure in every iteration. It lets a liquid resist shear, the more the
    // more often it acts: with a fixed k per iteration, a box of twice the density stayed on the water at 12
    // iterations. So k is a strength per step, for any number of iterations.
    const uint32_t iterations = settings->small_steps > 1 ? 1 : settings->iterations;
    const double times = iterations > 0 ? iterations : 1.0;
    view->artificial_pressure = liquid.artificial_pressure * view->step_scale;
    view->pressure_unit = (float)(1.0 / denominator / times);
    view->has_pressure = liquid.artificial_pressure > 0.0f || (view->liquids_differ != 0u && world->liquids.pressure);
    // The AVX2 kernels keep marks of their own in the same memory (src/cpu/avx2_idle.h).
    view->marks_pressure = view->unilateral != 0u && view->isotropy <= 0.0f && view->has_pressure == 0u &&
                           view->has_solids == 0u && world->backend->functions->speculates;
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
    view->restitution_threshold = 2.0f * time_step * fall;

    view->up = fall > 0.0f ? v3(-g.x / fall, -g.y / fall, -g.z / fall) : v3(0.0f, 1.0f, 0.0f);
    view->contact_distance = settings->solid_distance * settings->spacing;
    view->touching = world_touches(world);
    view->cloth_reach = world_cloth_reach(world, view->contact_distance);
    view->fluid_distance = LIQUID_REACH * settings->spacing;
    // What two constraints move towards each other in a step is less than half a smoothing radius, as lists have it.
    view->touch_reach =
        fmaxf(fmaxf(view->cloth_reach, view->fluid_distance), view->contact_distance) + (float)(0.5 * h + search - h);
    view->recovery_limit =
        settings->stabilization_iterations > 0 ? RECOVERY_SPEED * fall * time_step * time_step : (float)unlimited;
    view->solid_weight = settings->solid_density_weight;
    view->contact_relaxation = settings->contact_relaxation;
    view->contacts_global = settings->contact_averaging == MOTE_CONTACTS_GLOBAL;
    view->velocity_friction = settings->friction_model == MOTE_FRICTION_VELOCITY;
    view->stack_scaling = settings->stack_scaling;
    view->stack_ground = settings->stack_ground;
    view->gravity_warm_start = fall > 0.0f && view->has_solids != 0u ? settings->gravity_warm_start : 0.0f;
    view->stack_by_contacts = settings->stack_height == MOTE_STACK_CONTACTS && settings->stack_scaling > 0.0f;
    view->adhesion_range = world->sticky_materials || world->sticky_colliders ? 0.5f * settings->spacing : 0.0f;
    world_find_clear_box(world);
    view->rolling = world->rolling && view->has_solids != 0u;
    view->bouncing = world->bouncing && view->has_solids != 0u;
    view->entry_count = world->entry_count;
    view->ignoring = world->ignoring;
    view->skip_same_group = view->member_count > 0 && !world->tally.has_fluid;
    const float ratio = world->last_time_step > 0.0f ? time_step / world->last_time_step : 1.0f;
    view->warm_start_scale = ratio * ratio;
    view->recording = world->recording_forces;
    view->force_stride = world->capacities[CAPACITY_FORCE_MARKS];

    view->viscosity = liquid.viscosity;
    view->confinement = liquid.vorticity * settings->spacing * time_step;
    view->has_vorticity = liquid.vorticity > 0.0f || (view->liquids_differ != 0u && world->liquids.vorticity);
    view->rest_volume = (float)(1.0 / rest->number_density);
    view->poly6_scale = (float)rest->poly6_norm;
    view->spiky_scale = (float)rest->spiky_norm;
    view->counter_count = COUNTER_LIMIT;
    view->iteration_count = iterations;
    view->colliders_move = world_colliders_move(world);
    // Energies below that of falling by one smoothing radius, or of moving one in a second, are too small to report.
    view->watch_floor = (float)(fall * h + 0.5 * h * h);
    view->watch_chunk_count = (view->particle_count + WATCH_CHUNK - 1) / WATCH_CHUNK;
    view->watch_row_count = (view->watch_chunk_count + WATCH_CHUNK - 1) / WATCH_CHUNK;
    view->credited_chunks = view->credited_links > 0 ? view->watch_chunk_count : 0;
    world_point_at_channels(world);
    view->one = 1;
    view->lacked_features = lacked_features(world);
    view->dynamic_bounce =
        view->dynamic_count > 0 && (world->bouncing || world->bouncing_colliders || view->velocity_friction != 0u);
}

void world_set_small_step(MoteWorld *world, float time_step, uint32_t number)
{
    const uint32_t count = world->settings.small_steps;
    SolverData *view = &world->view;
    world_set_parameters(world, time_step / (float)count);
    if (world->settings.max_displacement > 0.0f) { // of the whole step
        view->max_step =
            fminf(view->max_step, view->smoothing_radius * world->settings.max_displacement / (float)count);
    }
    const float ratio = world->last_time_step > 0.0f && number == 0 ? time_step / world->last_time_step : 1.0f;
    view->warm_start_scale = ratio * ratio;
    view->small_step = number;
    view->step_share = 1.0f / (float)count;
    view->pose_begin = (float)number / (float)count;
    view->pose_end = (float)(number + 1) / (float)count;
}
