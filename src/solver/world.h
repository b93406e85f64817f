// SPDX-License-Identifier: MIT
// world.h - the inside of a MoteWorld.
#ifndef MOTE_SOLVER_WORLD_H
#define MOTE_SOLVER_WORLD_H

#include "base/stop.h"
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

// A body as the host remembers it (bodies.c).
typedef struct BodyRow {
    uint32_t group, first_member, member_count, first_cluster, cluster_count;
    uint32_t first_entry, entry_count, first_chunk, chunk_count;
    float stiffness;     // a step
    uint32_t generation; // of its id, whose index is the row
    bool removed;        // its rows are free for a body of the same counts,
    bool named;          // unless users have handles of its particles, which must never name others
} BodyRow;

// What the rest lattice of the settings' spacing and smoothing radius measures (rest_state.c).
typedef struct RestState {
    double number_density;         // sum of Poly6 over the lattice, 1/m^3 (1/m^2 in 2D)
    double squared_gradients;      // sum of squared Spiky gradients over the lattice over number_density^2, 1/m^2
    double poly6_norm, spiky_norm; // of the smoothing kernels, spiky_norm negative
} RestState;

// The bounding radius of what is near everything (m): its square is a float too.
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

// A dynamic collider as the host remembers it (dynamics.c).
typedef struct DynamicCollider {
    uint32_t index; // among the world's colliders
    MoteCollider collider;
    const MoteField *field; // of a field: the one that was measured
    Cluster body;
    vec3 centre;   // m, of mass, in the collider's frame
    vec4 *samples; // of its surface; w is how far inside they are (m)
    uint32_t sample_count;
} DynamicCollider;

// A place for a force field; rows on the device are those in use, in order (force_fields.c).
typedef struct ForceFieldSlot {
    MoteForceField field;
    uint32_t generation; // of the field that is or was here
    bool in_use;
} ForceFieldSlot;

// What mote_world_set_step_callbacks was given.
typedef struct StepCallbacks {
    MoteStepCallback *before, *after; // or NULL
    void *context;
} StepCallbacks;

// Where a step can be taken up again: at its start, when all arrays are in their order, and when all that is left is to
// make new particles.
typedef enum StepPoint { STEP_START, STEP_ORDERED, STEP_ENDED } StepPoint;

// What particles that come change of the world, beside the view.
typedef struct WorldTally {
    float largest_inverse_mass; // of all particles there ever were, 1/kg
    float liquid_inverse_mass;  // the smallest of all liquid ones there ever were that are not pinned; 0: none
    uint32_t next_id;
    uint32_t next_group;    // above every group there ever was
    bool has_pinned_liquid; // some liquid particle there ever was could not move
    bool has_fluid;         // some particle there ever was is liquid
    uint32_t liquid_groups; // of all liquid particles there ever were: 0: there were none; 1 and the only group; or
#define MANY_LIQUIDS UINT32_MAX
} WorldTally;

// What liquids can differ in: a row of view.liquids. Below 0: as the settings say.
typedef struct LiquidParameters {
    float viscosity, vorticity, max_tension, artificial_pressure;
} LiquidParameters;

// What materials say of liquids (liquids.c).
typedef struct WorldLiquids {
    LiquidParameters *rows;              // view.material_count of them
    bool stated;                         // some material states something of its own,
    bool viscosity, vorticity, pressure; // and one that is above 0
} WorldLiquids;

// What the host can go back to.
typedef struct StepMark {
    SolverData view;
    Scratch scratch;
} StepMark;

// When particles were in order in a step that was run speculatively, and at its end.
typedef struct StepMarks {
    StepMark ordered, ended;
    WorldTally tally;
} StepMarks;

enum {
    STEP_BATCH = 32, // steps that are run before the host looks
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
    bool watched, stopped; // somebody may ask steps to stop, and has
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
    StepCallbacks callbacks;
    ForceFieldSlot *force_fields;
    uint32_t force_field_slots; // view.force_field_count of them in use
};

// Takes account of a particle with this inverse mass.
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

// Takes account of a particle of this phase.
static inline void world_tally_liquid(WorldTally *tally, uint32_t phase)
{
    const uint32_t group = (phase & PHASE_GROUP) + 1;
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
// Forgets them without freeing.
void world_drop_particle_buffers(MoteWorld *world);
// What new particles have that nobody gave them, in `count` slots from `first` on: zeros, uints NONE. buffers.c
MoteResult world_clear_slots(MoteWorld *world, uint32_t first, uint32_t count);
// Elements of this kind that `particles` particles use, or of kinds that do not depend on them, that are in use.
uint64_t world_elements(const MoteWorld *world, Capacity capacity, uint64_t particles);
// NULL, without and with a message, if there is none of that name. world.c
Channel *world_look_up_channel(MoteWorld *world, const char *name);
Channel *world_find_channel(MoteWorld *world, const char *name);

// Finds where the particles of all handles are now. render_view.c
void world_locate_handles(MoteWorld *world);
// The same, to the host: an element for each of view.handle_count. handles.c
MoteResult world_read_slots(MoteWorld *world, uint32_t *slots);
// A handle as kernels have it; an error if this world has not made it. handles.c
MoteResult world_check_handle(const MoteWorld *world, MoteParticleHandle handle, uint32_t *out);
// Its row of handle_slots.
static inline uint32_t world_handle_row(const MoteWorld *world, uint32_t handle)
{
    return handle < HANDLE_SINGLE ? handle : world->view.member_count + (handle - HANDLE_SINGLE);
}
// Makes room for what only solid particles have, once there are some. solids.c
MoteResult world_reserve_solids(MoteWorld *world);
// Of a symmetric matrix; 0 in directions in which it is. bodies.c
void pseudo_inverse(const double matrix[3][3], double inverse[3][3]);
// Uploads what depends on the settings: how much of a deformation an iteration takes back. bodies.c
void world_set_cluster_stiffness(MoteWorld *world);
// To be asked after reading from the device: what a lost one gives is zeros.
MoteResult world_check_backend(const MoteWorld *world);
// Takes the particles in `count` slots from the world, those that `gone` is true of; the others keep their order.
MoteResult world_remove_slots(MoteWorld *world, const bool *gone, uint32_t count);
// A collider's row, or MOTE_NONE with a message if there is none of that id. geometry.c
uint32_t world_collider_row(const MoteWorld *world, MoteColliderId id);
// Notes that users have this handle, if it is that of a body's particle. body_states.c
void world_name_member(MoteWorld *world, uint32_t handle);
// Bodies that were removed and of which a snapshot has particles are there again. body_states.c
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
// The dynamic colliders. Those that had one before go on as they were, and their rows are put where they are.
// dynamics.c
MoteResult world_set_dynamics(MoteWorld *world, ColliderSet *set);
// Whether those are the same as before. Their rows on the device then say where they are, and nothing is read of them.
bool world_dynamics_stay(const MoteWorld *world, const ColliderSet *set);
void world_free_dynamics(MoteWorld *world);
Field world_field_row(const MoteWorld *world, uint32_t number); // colliders.c

// Colliders as rows that kernels read, to be freed; `what` names them in messages. geometry.c
MoteResult world_convert_colliders(const MoteWorld *world, const char *what, const MoteCollider *colliders,
                                   uint32_t count, Collider **out);
// Room for a query, which neighbour lists do not depend on; it never shrinks. queries.c
MoteResult world_reserve_query(MoteWorld *world, Capacity capacity, uint64_t count);
// How many chunks of particles, and rows of chunks, a query goes through.
void world_set_query_chunks(MoteWorld *world);
// Adds up `columns` (at most 5) of query_sums over the rows of chunks.
void world_add_query_rows(MoteWorld *world, uint32_t columns, double sums[][4]);
// A field, or with mode and all else 0 a filter, as the row that kernels read; in query_fields. force_fields.c
MoteResult world_upload_query_field(MoteWorld *world, const MoteForceField *field);
// What force fields do before a step predicts anything.
void world_apply_force_fields(MoteWorld *world);

// Refuses what a material says of liquids outside the settings' ranges; takes over what all of them say. liquids.c
MoteResult world_check_liquid(uint32_t i, const MoteMaterial *material);
MoteResult world_set_liquids(MoteWorld *world, const MoteMaterial *materials, uint32_t count);
// Whether kernels must look at each liquid's own parameters; and those of all, or of all that do not state theirs.
bool world_liquids_differ(const MoteWorld *world);
LiquidParameters world_liquid_parameters(const MoteWorld *world);

// Refuses settings outside the ranges of settings.def. settings.c
MoteResult settings_check(const MoteSettings *settings);
double settings_maximum(const char *name);
RestState rest_state_measure(const MoteSettings *settings);

// Densities at the predicted positions, with what colliders count (settings.boundary_density_weight). step.c
void world_measure_densities(MoteWorld *world);
// A step from the given point on, whose launches may still wait when it returns. `clear`: the first since the host has
// read the counters. step.c
MoteResult world_run_step(MoteWorld *world, float time_step, StepPoint from, bool clear, StepMarks *marks);
// How many of `count` steps can be run before the host must look; sets `speculating`. speculation.c
uint32_t world_choose_batch(MoteWorld *world, uint32_t count);
// A guess of a number that was `last` in the last step.
uint64_t world_speculate_on(uint32_t last);
// Has the device check a guess: SPECULATION_*.
void world_validate_speculation(MoteWorld *world, uint32_t speculation);
// Takes back what the host has done since the mark.
void world_roll_back(MoteWorld *world, const StepMark *mark);
// Rolls back to where particles were in order in step `at` of the batch, of which a speculation failed.
void world_correct_misspeculation(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t at);
// Makes room for the new particles of step `at` of the batch, for which there was none.
MoteResult world_correct_room(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t at);
// Takes in the numbers of a batch whose guesses were right.
void world_commit(MoteWorld *world, const uint counters[COUNTER_ALL]);
// Makes the particles that a step's end makes. spawn.c
MoteResult world_spawn(MoteWorld *world);
// Slots that `steps` steps of a batch are likely to need for new particles.
uint32_t world_spawn_room(const MoteWorld *world, uint32_t steps);
// Adds slots without a particle behind all others; `counters` are the device's, and become so.
MoteResult world_add_dead_slots(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t count);
// Takes account of what was made, when the dead slots have been dropped.
void world_settle_spawns(MoteWorld *world, const uint counters[COUNTER_ALL]);
// How many particles there are, or may be during the steps under way.
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
// Takes the places of `count` removed particles, behind all others, from the view.
static inline void world_drop_removed(MoteWorld *world, uint32_t count)
{
    world->view.particle_count -= count;
    world->removed += count;
    world->has_marked = false;
}
// All arrays into the order of the sorted keys, and the removed particles off their end. order.c
void world_order_particles(MoteWorld *world);
// Sorts the keys, which must have been assigned, and orders the particles by them.
MoteResult world_sort_particles(MoteWorld *world);
// Scratch with this meaning and a buffer change places.
void world_exchange(MoteWorld *world, vec4 **buffer, Meaning meaning);
// The solver's own channels, wherever their memory is now.
void world_point_at_channels(MoteWorld *world);
// Copies `components` words a particle. A kernel, unlike the backend's copy: where a speculation failed it does
// nothing.
void world_copy_words(MoteWorld *world, uint *source, uint *target, uint32_t components);
// From sorted keys and predicted positions: the cells, and from them the lists one after the other.
MoteResult world_build_cells(MoteWorld *world);
MoteResult world_build_lists(MoteWorld *world);
// Both, and where members of bodies are. neighbours.c
MoteResult world_find_neighbours(MoteWorld *world);
// The box around the particles as they are now, in `corners`. render_view.c
void world_measure_bounds(MoteWorld *world);
// Fills the view's parameters for a step of `time_step`. parameters.c
void world_set_parameters(MoteWorld *world, float time_step);
// Where no collider is within reach in the step that is about to be run: clear_box_lower and clear_box_upper.
// geometry.c
void world_find_clear_box(MoteWorld *world);
// Whether some collider moves in the step that is about to be run.
bool world_colliders_move(const MoteWorld *world);
// Takes in what a batch of steps has counted. watch.c
void world_note_watch(MoteWorld *world, const uint counters[COUNTER_ALL]);
// Forgets what was gained and lost: other particles take the place of those that were watched.
void world_reset_watch(MoteWorld *world);

// Whether the step under way is to end (mote_stop_when). Nothing is launched from then on: what kernels left out would
// mislead later ones, so whoever reads what they have written asks before.
static inline bool world_stops(MoteWorld *world)
{
    world->stopped = world->stopped || (world->watched && stop_asked());
    return world->stopped;
}

#define SLOW_STEP 0.5 // s: of a step that takes longer, somebody who wants to stop does not wait for the end

static inline void world_launch(MoteWorld *world, KernelId kernel)
{
    const BackendFunctions *functions = world->backend->functions;
    if (world_stops(world)) {
        return;
    }
    CHECK_SCRATCH(scratch_launch(&world->scratch, kernel, &world->view));
    functions->launch(world->backend, kernel, &world->view);
    if (world->watched && functions->speculates && !(world->step_seconds > 0.0 && world->step_seconds < SLOW_STEP)) {
        functions->wait(world->backend); // what the device has in hand, nobody can take back
    }
}
#define LAUNCH(world, name) world_launch(world, KERNEL_ID_##name)

#endif
