// SPDX-License-Identifier: MIT
// world.h - the inside of a MoteWorld.
#ifndef MOTE_SOLVER_WORLD_H
#define MOTE_SOLVER_WORLD_H

#include "base/stop.h"
#include "mote.h"
#include "solver/backend.h"
#include "solver/snapshot.h"

// How many elements a buffer of data.def holds: its CAPACITY rows.
typedef enum Capacity {
#define CAPACITY(name, scope, elements) CAPACITY_##name,
#include "kernels/data.def"
    CAPACITY_COUNT
} Capacity;

#define SPIN_CHANNEL         "spin"         // rad/s and 0, of grains, where some roll
#define SUPPORT_CHANNEL      "support"      // 0 to 1, of grains, where support is remembered
#define STACK_HEIGHT_CHANNEL "stack_height" // m, where stacks are measured by contacts

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
    bool removed;        // its rows are free for a body of the same counts
} BodyRow;

// What the rest lattice of the settings' spacing and support measures (rest_state.c).
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

// What shapes refer to (colliders.c).
typedef struct WorldColliders {
    WorldHull *hulls;
    uint32_t hull_count, hull_row_count;
    WorldField *fields;
    uint32_t field_count;
    uint64_t field_word_count, wet_texel_count;
} WorldColliders;

// A shape with a mass as the host remembers it (dynamics.c).
typedef struct DynamicShape {
    uint32_t index; // among the world's shapes
    MoteShape shape;
    const MoteField *field; // of a field: the one that was measured
    Cluster body;
    vec3 centre;   // m, of mass, in the shape's frame
    vec4 *samples; // of its surface; w is how far inside they are (m)
    uint32_t sample_count;
} DynamicShape;

// What mote_world_set_step_callbacks was given.
typedef struct StepCallbacks {
    MoteStepCallback *before, *after; // or NULL
    void *context;
} StepCallbacks;

// Where a step can be taken up again: at its start, and when all arrays are in their order.
typedef enum StepPoint { STEP_START, STEP_ORDERED } StepPoint;

// What particles that come change of the world, beside the view.
typedef struct WorldTally {
    float largest_inverse_mass; // of all particles there ever were, 1/kg
    float liquid_inverse_mass;  // the smallest of all liquid ones there ever were that are not pinned; 0: none
    uint32_t next_id;
    uint32_t next_group; // above every group there ever was
    bool has_fluid;      // some particle there ever was is liquid
} WorldTally;

// The view when particles were in order in a step that was run on guesses, and at its end.
typedef struct StepMarks {
    MoteView ordered, ended;
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
    MoteView view;                       // buffers and parameters as kernels see them
    uint32_t capacities[CAPACITY_COUNT]; // elements each kind of buffer holds now
    uint64_t memory_bytes;
    uint64_t layout; // a number no world had before, since memory was last allocated or freed
    WorldTally tally;
    uint32_t expected;       // particles there may be during the steps under way; 0: no more than now
    bool preparing, replays; // a step is being prepared; one that has its new particles already
    uint64_t steps, removed;
    bool has_marked;                      // some particles may be marked as removed
    bool sticky_materials, sticky_shapes; // some of them have adhesion
    bool bouncing, bouncing_shapes;       // some material, some shape has restitution
    bool obstacles;                       // some shape is neither a plane nor a container
    bool rolling;                         // some material lets grains roll
    bool ignoring;                        // some material ignores another
    bool recording_forces;
    bool watched, stopped; // somebody may ask steps to stop, and has
    double step_seconds;   // that a step took last while watched; 0: not known
    float last_time_step;  // s; 0 before the first step
    uint32_t body_count, entry_count;
    BodyRow *bodies; // on the host, in the order of adding
    uint32_t body_capacity;
    Cluster *cluster_rows;            // view.cluster_count of them, as they were uploaded
    bool guessing;                    // this step's numbers are read at its end
    uint32_t last_cells, last_blocks; // of cells and lists as last read; 0: never
    uint64_t wrong_guesses;           // since the world was made
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
    Shape *shape_rows;         // view.shape_count of them, as they were uploaded
    DynamicShape *dynamics;    // view.dynamic_count of them
    MoteShape *shape_list;     // view.shape_count of them, as users gave them
    MoteColliderId *shape_ids; // likewise
    uint32_t *id_rows;         // by the index of an id: the shape's row, or NONE
    uint32_t id_row_count;
    uint32_t last_generation; // that a collider or body got
    StepCallbacks callbacks;
};

// Takes account of a particle with this inverse mass.
static inline void world_tally_mass(WorldTally *tally, float inverse_mass, uint32_t phase)
{
    tally->largest_inverse_mass =
        inverse_mass > tally->largest_inverse_mass ? inverse_mass : tally->largest_inverse_mass;
    const bool heavier = tally->liquid_inverse_mass <= 0.0f || inverse_mass < tally->liquid_inverse_mass;
    if (has_density(phase) && inverse_mass > 0.0f && heavier) {
        tally->liquid_inverse_mass = inverse_mass;
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

// Makes room for what only solid particles have, once there are some. solids.c
MoteResult world_reserve_solids(MoteWorld *world);
// Of a symmetric matrix; 0 in directions in which it is. bodies.c
void pseudo_inverse(const double matrix[3][3], double inverse[3][3]);
// Uploads what depends on the settings: how much of a deformation an iteration takes back. bodies.c
void world_set_pulls(MoteWorld *world);
// To be asked after reading from the device: what a lost one gives is zeros.
MoteResult world_check_backend(const MoteWorld *world);
// Takes the particles in `count` slots from the world, those that `gone` is true of; the others keep their order.
MoteResult world_remove_slots(MoteWorld *world, const bool *gone, uint32_t count);
// A collider's row, or MOTE_NONE with a message if there is none of that id. geometry.c
uint32_t world_collider_row(const MoteWorld *world, MoteColliderId id);
// Bodies that were removed and of which a snapshot has particles are there again. body_states.c
void world_revive_bodies(MoteWorld *world, const uint32_t *members, uint64_t count);
float world_field_radius(const MoteWorld *world, uint32_t number);
MoteResult world_clear_wet(MoteWorld *world, uint64_t first, uint64_t count);
void world_free_colliders(MoteWorld *world);
// The shapes that a world is to have.
typedef struct ShapeSet {
    MoteShape *shapes;
    MoteColliderId *ids;
    uint32_t *before; // the row that each has now, or NONE
    Shape *rows;      // as kernels read them
    uint32_t count;
} ShapeSet;
// Whether each of the world's shapes keeps its row.
bool world_rows_stay(const MoteWorld *world, const ShapeSet *set);
// The shapes that have a mass. Those that had one before go on as they were, and their rows are put where they are.
// dynamics.c
MoteResult world_set_dynamics(MoteWorld *world, ShapeSet *set);
// Whether those are the same as before. Their rows on the device then say where they are, and nothing is read of them.
bool world_dynamics_stay(const MoteWorld *world, const ShapeSet *set);
void world_free_dynamics(MoteWorld *world);
Field world_field_row(const MoteWorld *world, uint32_t number); // colliders.c

// Refuses settings outside the ranges of settings.def. settings.c
MoteResult settings_check(const MoteSettings *settings);
RestState rest_state_measure(const MoteSettings *settings);

// Adds what shapes count (settings.wall_density_weight) to densities that have just been measured.
void world_count_walls(MoteWorld *world);
// A step from the given point on, whose launches may still wait when it returns. `clear`: the first since the host has
// read the counters. step.c
MoteResult world_run_step(MoteWorld *world, float time_step, StepPoint from, bool clear, StepMarks *marks);
// How many particles there are, or may be during the steps under way.
static inline uint32_t world_most_particles(const MoteWorld *world)
{
    const uint32_t count = world->view.particle_count;
    return world->expected > count ? world->expected : count;
}
// Whether `neighbours` has room for a sort of all of them.
static inline bool world_sorts_in_lists(const MoteWorld *world)
{
    return world->guessing && world->capacities[CAPACITY_NEIGHBOURS] / SORT_WORDS >= world_most_particles(world);
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
// The solver's own channels, wherever their memory is now.
void world_point_at_channels(MoteWorld *world);
// Copies `components` words a particle. A kernel, unlike the backend's copy: where a guess was wrong it does nothing.
void world_copy_words(MoteWorld *world, uint *source, uint *target, uint32_t components);
// From sorted keys and predicted positions: the cells, and from them the lists one after the other.
MoteResult world_build_cells(MoteWorld *world);
MoteResult world_build_lists(MoteWorld *world);
// The box around the particles as they are now, in `corners`. render_view.c
void world_measure_bounds(MoteWorld *world);
// Fills the view's parameters for a step of `time_step`.
void world_set_parameters(MoteWorld *world, float time_step);
// Where no shape is within reach in the step that is about to be run: room_lower and room_upper. geometry.c
void world_find_room(MoteWorld *world);
// Whether some shape moves in the step that is about to be run.
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
    functions->launch(world->backend, kernel, &world->view);
    if (world->watched && functions->guesses && !(world->step_seconds > 0.0 && world->step_seconds < SLOW_STEP)) {
        functions->wait(world->backend); // what the device has in hand, nobody can take back
    }
}
#define LAUNCH(world, name) world_launch(world, KERNEL_ID_##name)

#endif
