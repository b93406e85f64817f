// SPDX-License-Identifier: MIT
// world.h - the definition of MoteWorld, and the functions that the files of src/solver share.
#ifndef MOTE_SOLVER_WORLD_H
#define MOTE_SOLVER_WORLD_H

#include "base/stop.h"
#include "mote_cloth.h"
#include "mote_diffuse.h"
#include "mote_gas.h"
#include "mote_forces.h"
#include "solver/backend.h"
#include "solver/scratch.h"
#include "solver/snapshot.h"

// How many elements a buffer of data.def holds: its CAPACITY rows.
typedef enum Capacity {
#define CAPACITY(name, scope, elements) CAPACITY_##name,
#include "kernels/data.def"
    CAPACITY_COUNT
} Capacity;

#define ANGULAR_VELOCITY_CHANNEL   "angular_velocity"   // rad/s and 0, of grains, where some roll
#define GRAVITY_WARM_START_CHANNEL "gravity_warm_start" // 0 to 1, of grains, where contacts are warm-started
#define STACK_HEIGHT_CHANNEL       "stack_height"       // m, where stacks are measured by contacts

typedef struct Channel {
    char name[WORLD_CHANNEL_NAME_SIZE];
    uint32_t components;
    uint *words; // backend memory, `components` a particle
} Channel;

// The host's record of a body (bodies.c).
typedef struct BodyRow {
    uint32_t group, first_member, member_count, first_cluster, cluster_count;
    uint32_t first_entry, entry_count, first_chunk, chunk_count;
    float stiffness;     // a step
    uint32_t generation; // of its id, whose index is the row
    bool removed;        // its rows are free for a body of the same counts,
    bool named;          // unless users have handles of its particles, which must never name others
} BodyRow;

// Densities and gradients of the rest lattice with the settings' spacing and smoothing radius (rest_state.c).
typedef struct RestState {
    double number_density;         // sum of Poly6 over the lattice, 1/m^3 (1/m^2 in 2D)
    double squared_gradients;      // sum of squared Spiky gradients over the lattice over number_density^2, 1/m^2
    double poly6_norm, spiky_norm; // of the smoothing kernels, spiky_norm negative
    double overcorrection;         // in the unilateral mode: the largest of all waves on the lattice, else 1
} RestState;

// The bounding radius (m) of colliders without bounds, such as containers; its square is a float, too.
#define UNBOUNDED_RADIUS 1e18f

typedef struct WorldHull {
    uint32_t first, triangles; // rows of hull_rows, four a triangle
    float radius;              // m, around the hull's origin
} WorldHull;

typedef struct WorldField {
    const MoteField *field; // one of its users is this world
    uint64_t start, room;   // words of field_words
    uint32_t wet_start;     // texel of wet_texels
} WorldField;

// What colliders refer to (colliders.c).
typedef struct WorldColliders {
    WorldHull *hulls;
    uint32_t hull_count, hull_row_count;
    WorldField *fields;
    uint32_t field_count;
    uint64_t field_word_count, wet_texel_count;
} WorldColliders;

// The host's record of a dynamic collider (dynamics.c).
typedef struct DynamicCollider {
    uint32_t index; // among the world's colliders
    MoteCollider collider;
    const MoteField *field; // of a field: the one that was measured
    Cluster body;
    vec3 centre;   // m, of mass, in the collider's frame
    vec4 *samples; // of its surface; w is how far inside they are (m)
    uint32_t sample_count;
} DynamicCollider;

// A slot for a force field. The device has one row for each slot in use, in order (force_fields.c).
typedef struct ForceFieldSlot {
    MoteForceField field;
    uint32_t generation; // of the field that is or was here
    bool in_use;
} ForceFieldSlot;

#define LINK_COLOUR_LIMIT 64 // links that find no colour are gathered

// The host's record of a cloth (cloth.c).
typedef struct WorldCloth {
    MoteClothInfo info;
    uint32_t first_vertex, first_triangle; // rows of cloth_handles, triangles of cloth_corners
    float thickness;                       // m, or 0: as all solids
    float pressure_law[4], pressure_input; // a row of pressure_laws, of pressure_inputs; zeros: it has no pressure
    float rest_gap;                        // m, between its nearest two vertices at rest; 0 if it tears
    uint32_t seam_count;                   // of a cloth that tears: its springs, all from info.first_spring on;
    uint32_t *seams;                       // the corners that each is attached to, as link_anchors has them,
    uint32_t *seam_handles;                // and the handles of its ends while nothing is torn, 2 a spring
    uint32_t touches;                      // TOUCH_*
} WorldCloth;

// The host's record of a set of moving pins (cloth_pins.c).
typedef struct WorldPins {
    MoteColliderId collider; // generation 0: none
    uint32_t row;            // of the collider, as the device has it
} WorldPins;

// The arguments of mote_world_set_step_callbacks.
typedef struct StepCallbacks {
    MoteStepCallback *before, *after; // or NULL
    void *context;
} StepCallbacks;

// Points from which a step can be resumed: its start, after the reordering of all arrays, and before the spawning of
// new particles.
typedef enum StepPoint { STEP_START, STEP_ORDERED, STEP_ENDED } StepPoint;

// Host-side facts about all particles that were ever added; saved for roll-back.
typedef struct WorldTally {
    float largest_inverse_mass; // of all particles there ever were, 1/kg
    float liquid_inverse_mass;  // the smallest of all liquid ones there ever were that are not pinned; 0: none
    uint32_t next_id;
    uint32_t next_group;    // above every group there ever was
    bool has_pinned_liquid; // some liquid particle there ever was could not move
    bool has_fluid;         // some particle there ever was is liquid or gas
    bool has_liquid;        // some particle there ever was is liquid
    uint32_t liquid_groups; // of all liquid particles there ever were: 0: there were none; 1 and the only group; or
#define MANY_LIQUIDS UINT32_MAX
} WorldTally;

// The parameters of one liquid: a row of view.liquids. Negative values mean that the settings apply.
typedef struct LiquidParameters {
    float viscosity, vorticity, max_tension, artificial_pressure;
} LiquidParameters;

// The liquid parameters of all materials (liquids.c).
typedef struct WorldLiquids {
    LiquidParameters *rows;              // view.material_count of them
    bool stated;                         // some material states something of its own,
    bool viscosity, vorticity, pressure; // and one that is above 0
} WorldLiquids;

// State that the host can roll back to.
typedef struct StepMark {
    SolverData view;
    Scratch scratch;
} StepMark;

// Roll-back points of a speculative step: after the reordering of particles, and at the end of the step.
typedef struct StepMarks {
    StepMark ordered, ended;
    WorldTally tally;
} StepMarks;

enum {
    STEP_BATCH = 32, // most steps between two times that the host reads the counters
    SORT_WORDS = 4   // scratch of a sort, a particle
};

struct MoteWorld {
    Backend *backend;
    MoteSettings settings;
    RestState rest;
    SolverData view;                     // buffers and parameters as kernels see them
    Scratch scratch;                     // what lives in those that have several meanings
    uint32_t capacities[CAPACITY_COUNT]; // elements each kind of buffer holds now
    uint64_t memory_bytes;
    uint64_t layout; // a number no world had before, since memory was last allocated or freed
    WorldTally tally;
    uint32_t expected;       // particles there may be during the steps under way; 0: no more than now
    bool preparing, replays; // a step is being prepared; one that has its new particles already
    uint64_t steps, removed;
    bool has_marked;                         // some particles may be marked as removed
    bool sticky_materials, sticky_colliders; // some of them have adhesion
    bool bouncing, bouncing_colliders;       // some material, some collider has restitution
    bool obstacles;                          // some collider is neither a plane nor a container
    bool rolling;                            // some material lets grains roll
    bool ignoring;                           // some material ignores another
    WorldLiquids liquids;
    bool recording_forces;
    bool watched, stopped; // a stop callback is set (mote_stop_when); it has asked to stop
    double step_seconds;   // that a step took last while watched; 0: not known
    float last_time_step;  // s; 0 before the first step
    uint32_t body_count, entry_count;
    BodyRow *bodies; // on the host, in the order of adding
    uint32_t body_capacity;
    Cluster *cluster_rows;            // view.cluster_count of them, as they were uploaded
    bool speculating;                 // this step's numbers are read at its end
    uint32_t last_cells, last_blocks; // of cells and lists as last read; 0: never
    uint64_t misspeculations;         // since the world was made
    uint32_t last_spawns;             // particles that the last step made, as last read
    uint32_t dead_slots;              // that the steps under way began with, for particles they make
    StepMarks marks[STEP_BATCH];
    bool lists_are_current;  // neighbour lists belong to the current particles
    uint32_t listed_entries; // of `neighbours`: every list lies within them
    bool hands_over;         // a renderer follows on the device: steps measure what it asks for, while they wait anyway
    bool corners_are_current;
    MoteWatch watch; // as of the last step
    vec4 corners[2]; // of the box around the particles, if they are current
    uint32_t channel_count;
    Channel channels[WORLD_CHANNEL_LIMIT];
    WorldColliders colliders;
    Collider *collider_rows;      // view.collider_count of them, as they were uploaded
    DynamicCollider *dynamics;    // view.dynamic_count of them
    MoteCollider *collider_list;  // view.collider_count of them, as users gave them
    MoteColliderId *collider_ids; // likewise
    uint32_t *id_rows;            // by the index of an id: the collider's row, or NONE
    uint32_t id_row_count;
    uint32_t last_generation; // that a collider or body got
    uint32_t *link_rows;      // the row of each spring, by its number (springs.c)
    float *spring_targets;    // m/N: compliances that springs are to have, by number, and as much room; or NULL
    uint32_t target_count;    // of them
    bool targets_changed;     // since they were uploaded
    uint32_t link_colours, link_colour_starts[LINK_COLOUR_LIMIT + 1]; // rows where colours begin
    WorldCloth *cloths;                                               // view.cloth_count of them
    uint16_t *hinge_colours;                                          // view.hinge_count of them (cloth_bending.c)
    uint32_t *hinge_colour_starts;                                    // in hinge_order, and the end
    uint32_t hinge_colour_count;
    WorldPins *pins;                       // view.pin_set_count of them
    float torn_inverse_mass;               // 1/kg, the largest that a vertex of cloth can get by tearing
    bool has_touches, touches_itself;      // some cloth has contacts by its triangles, some with itself
    uint32_t last_touches, listed_touches; // of them, as last_blocks and listed_entries
    StepCallbacks callbacks;
    MoteAir air;
    ForceFieldSlot *force_fields;
    uint32_t force_field_slots; // view.force_field_count of them in use
    MoteFoam foam;              // of view.diffuse_capacity
    bool has_smoke;             // there is room for what smoke has besides
    MoteGas gas;
    bool has_gas; // there is, or may be: arrays of gas have room
};

// Updates the tally by a particle with this inverse mass.
static inline void world_tally_mass(WorldTally *tally, float inverse_mass, uint32_t phase)
{
    tally->largest_inverse_mass =
        inverse_mass > tally->largest_inverse_mass ? inverse_mass : tally->largest_inverse_mass;
    tally->has_pinned_liquid |= has_density(phase) && inverse_mass <= 0.0f;
    const bool heavier = tally->liquid_inverse_mass <= 0.0f || inverse_mass < tally->liquid_inverse_mass;
    if (has_density(phase) && inverse_mass > 0.0f && heavier) {
        tally->liquid_inverse_mass = inverse_mass;
    }
}

// Updates the tally by a particle of this phase.
static inline void world_tally_liquid(WorldTally *tally, uint32_t phase)
{
    const uint32_t group = (phase & PHASE_GROUP) + 1;
    tally->has_liquid |= has_density(phase) && !is_gas(phase);
    if (has_density(phase) && tally->liquid_groups != group) {
        tally->liquid_groups = tally->liquid_groups == 0 ? group : MANY_LIQUIDS;
    }
}

// Makes every buffer of this kind hold at least `count` elements, keeping the first `keep` of each; grows by steps,
// and shrinks once less than half is used (DYV section 7). buffers.c
MoteResult world_reserve(MoteWorld *world, Capacity capacity, uint64_t count, uint64_t keep);
// The same for all buffers with an element a particle.
MoteResult world_reserve_particles(MoteWorld *world, uint64_t count);
MoteResult world_add_channel_buffer(MoteWorld *world, Channel *channel);
void world_free_buffers(MoteWorld *world);
// Those that belong to particles, and those of their neighbour search.
void world_free_particle_buffers(MoteWorld *world);
// Sets the pointers to NULL without freeing.
void world_drop_particle_buffers(MoteWorld *world);
// Fills the arrays that callers do not provide with defaults (zeros; uints NONE), in `count` slots from `first` on.
// buffers.c
MoteResult world_clear_slots(MoteWorld *world, uint32_t first, uint32_t count);
// How many elements a kind of buffer needs for `particles` particles; for kinds that do not depend on particles, how
// many are in use.
uint64_t world_elements(const MoteWorld *world, Capacity capacity, uint64_t particles);
// The channel of that name, or NULL if there is none; the first sets no error message, the second does. world.c
Channel *world_look_up_channel(MoteWorld *world, const char *name);
Channel *world_find_channel(MoteWorld *world, const char *name);

// Updates handle_slots on the device: the slot of each handle's particle. render_view.c
void world_locate_handles(MoteWorld *world);
// Copies the slots to the host: an element for each of view.handle_count. handles.c
MoteResult world_read_slots(MoteWorld *world, uint32_t *slots);
// Converts a public handle to the one of kernels; an error if this world has not made it. handles.c
MoteResult world_check_handle(const MoteWorld *world, MoteParticleHandle handle, uint32_t *out);
// Its row of handle_slots.
static inline uint32_t world_handle_row(const MoteWorld *world, uint32_t handle)
{
    return handle < HANDLE_SINGLE ? handle : world->view.member_count + (handle - HANDLE_SINGLE);
}
// Allocates the arrays that only solid particles need, once there are some. solids.c
MoteResult world_reserve_solids(MoteWorld *world);
// Pseudo-inverse of a symmetric matrix: 0 in directions in which the matrix is 0. bodies.c
void pseudo_inverse(const double matrix[3][3], double inverse[3][3]);
// Uploads the stiffness per iteration, which depends on the settings. bodies.c
void world_set_cluster_stiffness(MoteWorld *world);
// Check this after reading from the device: a lost device returns zeros.
MoteResult world_check_backend(const MoteWorld *world);
// Removes the particles for which `gone` is true, an element for each of `count` slots; the others keep their order.
MoteResult world_remove_slots(MoteWorld *world, const bool *gone, uint32_t count);
// A collider's row, or MOTE_NONE with a message if there is none of that id. geometry.c
uint32_t world_collider_row(const MoteWorld *world, MoteColliderId id);
// Records that users hold this handle, if it belongs to a particle of a body. body_states.c
void world_name_member(MoteWorld *world, uint32_t handle);
// Restores removed bodies whose particles are in a snapshot. body_states.c
void world_revive_bodies(MoteWorld *world, const uint32_t *members, uint64_t count);
float world_field_radius(const MoteWorld *world, uint32_t number);
MoteResult world_clear_wet(MoteWorld *world, uint64_t first, uint64_t count);
void world_free_colliders(MoteWorld *world);
// The colliders that a world is to have.
typedef struct ColliderSet {
    MoteCollider *colliders;
    MoteColliderId *ids;
    uint32_t *before; // the row that each has now, or NONE
    Collider *rows;   // as kernels read them
    uint32_t count;
} ColliderSet;
// Whether each of the world's colliders keeps its row.
bool world_rows_stay(const MoteWorld *world, const ColliderSet *set);
// Sets the dynamic colliders. Those that existed before keep their motion, and their collider rows get their present
// pose. dynamics.c
MoteResult world_set_dynamics(MoteWorld *world, ColliderSet *set);
// Whether the dynamic colliders are the same as before. If so, their poses stay on the device and are not read back.
bool world_dynamics_stay(const MoteWorld *world, const ColliderSet *set);
void world_free_dynamics(MoteWorld *world);
Field world_field_row(const MoteWorld *world, uint32_t number); // colliders.c

// Colliders as rows that kernels read, to be freed; `what` names them in messages. geometry.c
MoteResult world_convert_colliders(const MoteWorld *world, const char *what, const MoteCollider *colliders,
                                   uint32_t count, Collider **out);
// Allocates buffers for a query. Neighbour lists do not depend on them; they never shrink. queries.c
MoteResult world_reserve_query(MoteWorld *world, Capacity capacity, uint64_t count);
// How many chunks of particles, and rows of chunks, a query goes through.
void world_set_query_chunks(MoteWorld *world);
// Adds up `columns` (at most 5) of query_sums over the rows of chunks.
void world_add_query_rows(MoteWorld *world, uint32_t columns, double sums[][4]);
// A field, or with mode and all else 0 a filter, as the row that kernels read; in query_fields. force_fields.c
MoteResult world_upload_query_field(MoteWorld *world, const MoteForceField *field);
// Applies the force fields, before positions are predicted.
void world_apply_force_fields(MoteWorld *world);
void world_set_air_parameters(MoteWorld *world); // air.c
void world_apply_air(MoteWorld *world);

// Checks the liquid parameters of a material against the ranges of the settings; stores those of all materials.
// liquids.c
MoteResult world_check_liquid(uint32_t i, const MoteMaterial *material);
MoteResult world_set_liquids(MoteWorld *world, const MoteMaterial *materials, uint32_t count);
// Whether kernels must look up each liquid's own parameters; and the parameters of all liquids without their own.
bool world_liquids_differ(const MoteWorld *world);
LiquidParameters world_liquid_parameters(const MoteWorld *world);

// Refuses settings outside the ranges of settings.def. settings.c
MoteResult settings_check(const MoteSettings *settings);
double settings_maximum(const char *name);
RestState rest_state_measure(const MoteSettings *settings);

// Densities at the predicted positions, including boundary density (settings.boundary_density_weight). step.c
void world_measure_densities(MoteWorld *world);
// Submits a step from the given point on; the device may still be working when it returns. `clear`: this is the first
// step since the host has read the counters. step.c
MoteResult world_run_step(MoteWorld *world, float time_step, StepPoint from, bool clear, StepMarks *marks);
// world_solve_NAME solves a group of constraints once: in step.c, or in the solver's file of that constraint.
#define CONSTRAINT(name, active, force) void world_solve_##name(MoteWorld *world);
#include "kernels/constraints.def"
// Sorts the links anew, as the settings' link_solver asks for; finds where their ends are after a sort. springs.c
MoteResult world_order_links(MoteWorld *world);
// How far links are stretched where `host` has the particles. springs.c
MoteResult world_add_link_statistics(MoteWorld *world, const MoteParticleView *host, MoteStatistics *out);
void world_locate_links(MoteWorld *world);
// Room for `count` links whose stiffness may change; then what they have, by their rows. link_easing.c
MoteResult world_reserve_easing(MoteWorld *world, uint32_t count);
void world_upload_easing(MoteWorld *world, const vec4 *laws, const float *offsets);
// Stiffness as it was last set, at a step's beginning; `time_step` is all of the step. link_easing.c
void world_ease_links(MoteWorld *world, float time_step);
// Which vertex of cloth each particle is, after a sort. cloth_contacts.c
void world_locate_cloth(MoteWorld *world);
// Contacts with triangles of cloth: whether there can be any in a step; kernels between the keys of particles and their
// sort; the search; kernels at the beginning of a (small) step, at its end, and where speeds are given back.
// cloth_touches.c
bool world_touches(const MoteWorld *world);
void world_keep_touch_bounds(MoteWorld *world);
MoteResult world_find_touches(MoteWorld *world);
void world_begin_touches(MoteWorld *world);
void world_remember_touches(MoteWorld *world);
void world_bounce_touches(MoteWorld *world);
// The parameter cloth_reach (m) for a contact distance of other solids. cloth_contacts.c
float world_cloth_reach(const MoteWorld *world, float contact_distance);
// An error if a cloth is thicker than neighbours are searched with these settings. cloth_contacts.c
MoteResult world_check_thickness(const MoteWorld *world, const MoteSettings *settings);
// Moves pins to where they are at the end of the (small) step, behind its prediction. `located`: the slots of handles
// are current. Credits their work to the energy watch. cloth_pins.c
void world_move_pins(MoteWorld *world, bool located);
void world_credit_pins(MoteWorld *world);
// The shortest distance between two of these points (m). cloth_contacts.c
MoteResult cloth_rest_gap(const MoteVec3 *positions, uint32_t count, float *gap);
// Tearing, cloth_tearing.c: plans splits at the end of a step, before particles spawn; and makes them, after that.
void world_plan_splits(MoteWorld *world);
void world_finish_splits(MoteWorld *world);
// Gives links of cloth that tears the ends they had at first: `ends` is by the springs' numbers.
void world_restore_link_ends(const MoteWorld *world, uvec2 *ends);
// Uploads which corners links are attached to, after links were ordered; then their ends follow the corners.
MoteResult world_anchor_links(MoteWorld *world);
void world_follow_corners(MoteWorld *world);
MoteResult world_check_tearing(const MoteWorld *world, const WorldSnapshot *snapshot);
void world_free_cloths(MoteWorld *world); // cloth.c
// Makes `count` handles that no particle has yet; *first is the first of them. handles.c
MoteResult world_make_spare_handles(MoteWorld *world, uint32_t count, uint32_t *first);
// Whether steps make particles. spawn.c
static inline bool world_makes_particles(const MoteWorld *world)
{
    return world->view.source_count > 0 || world->view.tears != 0u;
}
// Moves rigid bodies by the corrections of their particles (liquids, springs), before contacts are solved. step.c
void world_apply_body_corrections(MoteWorld *world);
// How many of `count` steps can be submitted before the host must read the counters; sets `speculating`. speculation.c
uint32_t world_choose_batch(MoteWorld *world, uint32_t count);
// The assumed value of a number that was `last` in the last step.
uint64_t world_speculate_on(uint32_t last);
// Makes the device validate a speculation: SPECULATION_*.
void world_validate_speculation(MoteWorld *world, uint32_t speculation);
// Restores the host's state at the mark.
void world_roll_back(MoteWorld *world, const StepMark *mark);
// Rolls back to the point after the reordering in step `at` of the batch, in which a speculation failed.
void world_correct_misspeculation(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t at);
// Rolls back to the end of step `at` of the batch and adds slots, if its spawned particles had too few.
MoteResult world_correct_room(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t at);
// Commits the numbers of a batch whose speculations were right.
void world_commit(MoteWorld *world, const uint counters[COUNTER_ALL]);
// Spawns the particles of the step, at its end. spawn.c
MoteResult world_spawn(MoteWorld *world);
// Makes room for what smoke has besides; needed before there is any. diffuse.c
MoteResult world_reserve_smoke(MoteWorld *world);
// Makes room for what gas has besides; needed before there is any. gas.c
MoteResult world_reserve_gas(MoteWorld *world);
// Tells `count` particles from slot `first` on, all of them gas, what they have besides. gas.c
MoteResult world_begin_gas_particles(MoteWorld *world, const MoteParticles *particles, uint32_t first);
// Parameters of gas for a step; what acts on gas before positions are predicted, and at a step's end. gas.c
void world_set_gas_parameters(MoteWorld *world);
void world_lift_gas(MoteWorld *world);
void world_drive_gas(MoteWorld *world);
// Makes room for as many passive particles that a step emits, before steps are under way. diffuse.c
MoteResult world_reserve_emission(MoteWorld *world, uint32_t count);
// Moves the passive particles, and makes new ones. diffuse.c
void world_advance_diffuse(MoteWorld *world);
// Slots that `steps` steps of a batch are likely to need for new particles.
uint32_t world_spawn_room(const MoteWorld *world, uint32_t steps);
// Adds dead slots behind all others. `counters` are those of the device; they are updated and written back.
MoteResult world_add_dead_slots(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t count);
// Updates the world's counts by the spawned particles, after the dead slots were dropped.
void world_settle_spawns(MoteWorld *world, const uint counters[COUNTER_ALL]);
// Upper bound of the number of particles during the steps in progress.
static inline uint32_t world_most_particles(const MoteWorld *world)
{
    const uint32_t count = world->view.particle_count;
    return world->expected > count ? world->expected : count;
}
// Whether `neighbours` has room for a sort of all of them.
static inline bool world_sorts_in_lists(const MoteWorld *world)
{
    return world->speculating && world->capacities[CAPACITY_NEIGHBOURS] / SORT_WORDS >= world_most_particles(world);
}
// Drops the `count` dead slots at the end from the view.
static inline void world_drop_removed(MoteWorld *world, uint32_t count)
{
    world->view.particle_count -= count;
    world->removed += count;
    world->has_marked = false;
}
// Reorders all arrays by the sorted keys, and drops the removed particles at their end. order.c
void world_order_particles(MoteWorld *world);
// Sorts the keys, which must have been assigned, and orders the particles by them.
MoteResult world_sort_particles(MoteWorld *world);
// Swaps scratch with this meaning and a buffer.
void world_exchange(MoteWorld *world, vec4 **buffer, Meaning meaning);
// Updates the view's pointers to the solver's own channels.
void world_point_at_channels(MoteWorld *world);
// Copies `components` words per particle. This is a kernel, unlike the backend's copy: after a failed speculation it
// does nothing.
void world_copy_words(MoteWorld *world, uint *source, uint *target, uint32_t components);
// Builds the cells from sorted keys and predicted positions; builds the neighbour lists from the cells.
MoteResult world_build_cells(MoteWorld *world);
MoteResult world_build_lists(MoteWorld *world);
// Both, and where members of bodies are. neighbours.c
MoteResult world_find_neighbours(MoteWorld *world);
// Neighbour lists of the present positions between two steps. Changes no bit of later steps. Materials that ignore each
// other are neighbours in these lists. render_view.c
MoteResult world_find_neighbours_aside(MoteWorld *world);
// Computes the bounding box of the present positions, in `corners`. render_view.c
void world_measure_bounds(MoteWorld *world);
// Fills the view's parameters for a step of `time_step`. parameters.c
void world_set_parameters(MoteWorld *world, float time_step);
// The same for the `number`-th small step of a step of `time_step`.
void world_set_small_step(MoteWorld *world, float time_step, uint32_t number);
// Sets clear_box_lower and clear_box_upper: a box in which no collider is within reach in the next step. geometry.c
void world_find_clear_box(MoteWorld *world);
// Whether some collider moves in the next step.
bool world_colliders_move(const MoteWorld *world);
// Adds the energy and bounds counters of a batch of steps to the world's. watch.c
void world_note_watch(MoteWorld *world, const uint counters[COUNTER_ALL]);
// Resets the gained and lost energy, because the particles were replaced.
void world_reset_watch(MoteWorld *world);

// Whether the current step should end early (mote_stop_when). No kernel is launched from then on, so arrays may be
// incomplete: check this before reading results of kernels.
static inline bool world_stops(MoteWorld *world)
{
    world->stopped = world->stopped || (world->watched && stop_asked());
    return world->stopped;
}

#define SLOW_STEP 0.5 // s: longer steps can be stopped before their end

static inline void world_launch(MoteWorld *world, KernelId kernel)
{
    const BackendFunctions *functions = world->backend->functions;
    if (world_stops(world)) {
        return;
    }
    CHECK_SCRATCH(scratch_launch(&world->scratch, kernel, &world->view));
    functions->launch(world->backend, kernel, &world->view);
    if (world->watched && functions->speculates && !(world->step_seconds > 0.0 && world->step_seconds < SLOW_STEP)) {
        functions->wait(world->backend); // submitted work cannot be cancelled
    }
}
#define LAUNCH(world, name) world_launch(world, KERNEL_ID_##name)

#endif
