// SPDX-License-Identifier: MIT
// mote.h - the public interface of Mote, a unified position-based particle engine.
//
// Units are metres, kilograms, seconds and radians; y points up. Every function that can fail returns a
// MoteResult; mote_error_message() then describes the error. A failed create sets *out to NULL and leaks nothing.
// A world and everything made from it belong to one thread at a time; different worlds may be used from
// different threads.
//
// Initialise structs with mote_default_*(): they are valid as returned, except for arrays that must be given. Functions
// that read copy to arrays of the caller. Force fields, impulses and queries are in mote_forces.h, memory shared with
// other interfaces and callbacks with device pointers in mote_interop.h, pictures in mote_render.h.
#ifndef MOTE_H
#define MOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MOTE_API __attribute__((visibility("default")))
#else
#define MOTE_API
#endif

#define MOTE_VERSION_MAJOR 0
#define MOTE_VERSION_MINOR 1
#define MOTE_VERSION_PATCH 0

MOTE_API const char *mote_version(void); // "0.1.0"

// ---- Errors ------------------------------------------------------------------------------------------------

typedef enum MoteResult {
    MOTE_OK = 0,
    MOTE_ERROR_INPUT,       // a value, file or argument is not what was expected
    MOTE_ERROR_IO,          // the file system refused: missing, unwritable, full
    MOTE_ERROR_MEMORY,      // the host or the device has no memory left
    MOTE_ERROR_UNAVAILABLE, // the backend or device asked for is not on this machine
    MOTE_ERROR_UNSTABLE,    // the simulation produced a value that is not finite
    MOTE_ERROR_STOPPED,     // the callback of mote_stop_when said so
} MoteResult;

// What went wrong in this thread's last failed call: one or more lines, without a trailing newline.
MOTE_API const char *mote_error_message(void);

// Sets a callback that can stop long calls of this thread (loading, creating fields, simulations and renderers, steps,
// frames, pictures). They call it often, for example between two kernels. Once it returns true, they return
// MOTE_ERROR_STOPPED and create nothing. NULL, the default, means no callback. It must be quick; Mote's own threads may
// call it. mote_simulation_advance_frame leaves the simulation unchanged, or completes the frame if its end is near. A
// world stopped within mote_world_steps can only be destroyed. While a device works, the callback is called every 50
// ms, and the call returns when the device is done; a program that must end sooner may exit within the callback.
typedef bool MoteStopCallback(void *context);
MOTE_API void mote_stop_when(MoteStopCallback *asks, void *context);

typedef struct MoteVec3 {
    float x, y, z;
} MoteVec3;
typedef struct MoteQuaternion {
    float x, y, z, w; // unit length; {0, 0, 0, 1} is no rotation
} MoteQuaternion;
typedef struct MoteTransform {
    MoteVec3 position;       // m
    MoteQuaternion rotation; // unit quaternion
} MoteTransform;

// ---- Solver settings ---------------------------------------------------------------------------------------

typedef enum MoteDensityMode {
    MOTE_DENSITY_BILATERAL,  // pushes and pulls towards the rest density (PBF eq. 11)
    MOTE_DENSITY_UNILATERAL, // only pushes apart, with a precomputed denominator (UPP eq. 26, section 7.1.1)
} MoteDensityMode;

typedef enum MoteContactAveraging {
    MOTE_CONTACTS_LOCAL,  // a particle's mass is split among its contacts
    MOTE_CONTACTS_GLOBAL, // the sum of corrections times contact_relaxation, whatever their number
} MoteContactAveraging;

typedef enum MoteFrictionModel {
    MOTE_FRICTION_POSITION, // with the contact, at the position level: static friction holds (UPP eq. 24)
    MOTE_FRICTION_VELOCITY, // afterwards, by damping velocities (Mueller 2007): piles creep; to compare with
} MoteFrictionModel;

typedef enum MoteLinkSolver {
    MOTE_LINKS_GAUSS_SEIDEL,    // colours one after the other, of links that share no particle: converges best
    MOTE_LINKS_JACOBI,          // all at once, each with a share of its particles' masses
    MOTE_LINKS_IMPROVED_JACOBI, // all at once with momentum from one iteration to the next
} MoteLinkSolver;

typedef enum MoteStackHeight {
    MOTE_STACK_GROUND,   // height above stack_ground, against gravity
    MOTE_STACK_CONTACTS, // height above the collider that a chain of contacts stands on
} MoteStackHeight;

typedef enum MoteAveraging {
    MOTE_AVERAGING_NONE, // x += omega * sum: converges fast, for well-conditioned groups such as fluid
    MOTE_AVERAGING_ALL,  // x += omega / n * sum over the n constraints that touch a particle (UPP eq. 12)
} MoteAveraging;

// The `solver` section of a scene file has these fields under the same names; the table of both
// (src/solver/settings.def) holds the defaults that mote_default_settings() returns, and the ranges that are checked.
typedef struct MoteSettings {
    // Discretisation.
    uint32_t dimensions;          // 3, or 2 for the x-y plane (z is frozen)
    float spacing;                // m, rest distance between fluid particles
    float smoothing_radius_ratio; // smoothing radius h over spacing
    float rest_density_scale;     // times the density measured on the rest lattice; above 1, a lattice starts loose

    // Time.
    float frame_rate;                  // Hz, frames a second
    uint32_t substeps;                 // solver steps a frame
    uint32_t iterations;               // constraint iterations a step
    uint32_t small_steps;              // above 1: parts of a step that share its search, each with one iteration
    float search_margin;               // of h, that the search reaches farther for small steps
    MoteLinkSolver link_solver;        // of springs and cloth, but for those that end at rigid bodies
    float link_relaxation;             // omega of links; 0 is 1, or 0.25 for the improved Jacobi method
    uint32_t stabilization_iterations; // passes that move penetrating particles out, without adding velocity
    MoteVec3 gravity;                  // m/s^2

    // Density constraint.
    MoteDensityMode density_mode;
    float relaxation;  // CFM epsilon of PBF eq. 11, as a fraction of the rest lattice's sum of squared gradients
    float max_tension; // largest rarefaction (1 - density over rest) within a step that a bilateral constraint resists;
                       // rarefaction from before the step is not pulled together, as it would be in PBF
    float boundary_density_weight; // what colliders count in a liquid's density, as if filled with its rest lattice; 0:
                                   // nothing
    float isotropic_pressure;      // largest anisotropy of surroundings for which pressure is corrected; 0 is off
    float over_relaxation;         // omega of UPP eq. 13
    MoteAveraging averaging;
    float artificial_pressure; // k of PBF eq. 13, as the compression that would push as hard, of a step; 0 is off
    uint32_t artificial_pressure_power; // n of PBF eq. 13
    float artificial_pressure_distance; // |dq| of PBF eq. 13 over h

    // Velocity.
    float viscosity; // XSPH c of PBF eq. 17, a step; 0 is off
    float vorticity; // 1/s, confinement epsilon of PBF eq. 16 over spacing; 0 is off
    float damping;   // 1/s, exponential decay of velocity

    // Limits.
    float max_displacement;   // fraction of h that a particle may move in a step, by clamping its speed; 0 is off
    float max_correction;     // fraction of h that one iteration may move a particle; 0 is off
    float collision_distance; // fraction of spacing kept between particle centres and colliders
    float sleep_speed;        // m/s, particles slower than this stay where they are (UPP eq. 14); 0 is off
    float max_speed;          // m/s, no particle is faster; 0 is off
    float max_acceleration;   // m/s^2, no constraint changes a velocity faster; 0 is off

    // Solids: grains and bodies.
    float solid_distance;       // contact distance of solid particles over spacing
    float solid_density_weight; // s of UPP eq. 27: what a solid particle counts in a liquid's density
    MoteContactAveraging contact_averaging;
    float contact_relaxation; // omega of UPP eq. 13 for contacts between particles
    MoteFrictionModel friction_model;
    float stack_scaling; // 1/m, k of UPP eq. 21: lower particles count as heavier in contacts; 0 is off
    MoteStackHeight stack_height;
    float stack_ground;       // m, where heights begin, along the direction against gravity
    float gravity_warm_start; // of a grain's weight, the share of what its contacts carried that a step begins with
} MoteSettings;

// A scene file's defaults: water of 5 cm spacing, 60 frames a second of 4 steps, 3 iterations.
MOTE_API MoteSettings mote_default_settings(void);

// ---- Backends ----------------------------------------------------------------------------------------------

typedef struct MoteSharedMemory MoteSharedMemory; // memory that a renderer shares: mote_interop.h

typedef struct MoteBackendOptions {
    const char *backend; // "auto", "cpu", "cuda", "vulkan"; NULL is "auto"
    uint32_t threads;    // CPU threads; 0 is one for each core
    bool portable;       // CPU: only the portable kernels, whose results equal the other backends' bit for bit
    MoteSharedMemory *shared_memory; // for GPU backends, from mote_renderer_shared_memory; NULL is memory of their own
    uint32_t vulkan_device; // Vulkan without shared_memory: 0 is the best device, else 1 + its number in `mote info`
    bool validate;          // Vulkan without shared_memory: validation layers with synchronization checks
} MoteBackendOptions;
// The best backend that is here, on all cores.
MOTE_API MoteBackendOptions mote_default_backend_options(void);

typedef struct MoteBackendInfo {
    const char *name; // "cpu", "cuda", "vulkan"
    bool available;   // usable on this machine now
    bool automatic;   // and "auto" may choose it: not a Vulkan device in software
    char device[128]; // the device's name, or why there is none
} MoteBackendInfo;

// Fills at most `capacity` rows, best first, and returns how many there are.
MOTE_API uint32_t mote_backends(MoteBackendInfo *rows, uint32_t capacity);

// ---- Colliders ---------------------------------------------------------------------------------------------

// How two coefficients become a pair's; of two materials' rules the one further down counts.
typedef enum MoteCombine {
    MOTE_COMBINE_AVERAGE,
    MOTE_COMBINE_MINIMUM,
    MOTE_COMBINE_MULTIPLY,
    MOTE_COMBINE_MAXIMUM,
} MoteCombine;

typedef enum MoteColliderKind {
    MOTE_COLLIDER_PLANE,   // the half-space below its local y = 0
    MOTE_COLLIDER_BOX,     // half_size along its local axes
    MOTE_COLLIDER_SPHERE,  // radius
    MOTE_COLLIDER_CAPSULE, // radius around the local y segment from -half_size.y to half_size.y
    MOTE_COLLIDER_HULL,    // `data` from mote_world_add_hull
    MOTE_COLLIDER_FIELD,   // `data` from mote_world_add_field
} MoteColliderKind;

typedef struct MoteCollider {
    MoteColliderKind kind;
    bool inside_out;        // a container: particles are kept inside
    MoteVec3 half_size;     // m
    float radius;           // m
    MoteTransform from;     // pose at the beginning of the step
    MoteTransform to;       // pose at its end; friction follows the surface's motion between the two
    float static_friction;  // mu_s of UPP eq. 24; with a solid particle it is combined with the particle's own
    float kinetic_friction; // mu_k of UPP eq. 24; a liquid has none of its own: the collider's alone counts
    float restitution;      // 0 to 1, fraction of the normal speed given back
    float adhesion;         // m/s^2, pulls particles nearer than half a spacing beyond contact towards the collider
    MoteCombine combine;    // with a particle's material
    uint32_t data;          // which hull or field of the world it is; other kinds ignore it
    // A dynamic collider is a rigid body that particles and other colliders push about (DYV section 5.3). `from` is
    // where it is when it first has one; from then on the world moves it, and heeds neither pose. Boxes, spheres,
    // capsules, hulls and fields that are no containers can have one.
    float mass;    // kg; 0 takes it from the density
    float density; // kg/m^3; 0, with mass 0, is a collider that only its two poses move
} MoteCollider;
// The plane y = 0 without friction, restitution and mass; a box, sphere or capsule of it is 1 m wide.
MOTE_API MoteCollider mote_default_collider(void);

// ---- Materials of particles --------------------------------------------------------------------------------

typedef struct MoteMaterial {
    float static_friction;      // mu_s of UPP eq. 24
    float kinetic_friction;     // mu_k of UPP eq. 24
    float restitution;          // 0 to 1, between solid particles and with colliders
    float adhesion;             // m/s^2, pulls solid particles nearer than half a spacing beyond contact together
    float rolling_friction;     // 0 to 1, share of its spin that a grain in contact loses in a 60th of a second: 0 lets
                                // grains roll freely, 1 keeps them from rolling (as UPP's)
    MoteCombine combine;        // with another material
    uint32_t ignored_materials; // bit j: its particles and those of material j, one of the first 32, pass through each
                                // other, and neither counts in the other's density; bit of its own: likewise
    // Of a liquid, as the settings of the same names: below 0, as the settings say. Between two liquids the smaller
    // viscosity counts, and the mean artificial pressure; vorticity and max_tension are each particle's own.
    float viscosity;           // 0 to 1
    float vorticity;           // 1/s, 0 to 1000
    float max_tension;         // 0 to 1
    float artificial_pressure; // 0 to 10
} MoteMaterial;
// No friction, restitution nor adhesion; does not roll; a liquid is as the settings say.
MOTE_API MoteMaterial mote_default_material(void);

// ---- Distance fields ---------------------------------------------------------------------------------------

typedef enum MoteFieldMode { // DYV section 5.2
    MOTE_FIELD_INSIDE,       // what a closed mesh encloses is solid
    MOTE_FIELD_OUTSIDE,      // everything else is: a container
    MOTE_FIELD_SHELL,        // the surface itself, `offset` thick to each side: for open meshes
} MoteFieldMode;

// A field comes from a triangle mesh, or from a file. What is zero or NULL takes the default that is named with it.
typedef struct MoteFieldOptions {
    const char *name; // in messages; NULL is the path, or "mesh"

    const MoteVec3 *positions; // m, a vertex
    uint32_t position_count;
    const uint32_t *triangles; // 3 vertices each
    uint32_t triangle_count;
    const MoteVec3 *velocities; // m/s, a vertex, in the mesh's frame: of an animated mesh; NULL is none
    const float *uvs;           // 2 a vertex, (0, 0) is the first texel of a texture's first row; NULL is none

    const char *path; // an OpenVDB file with a level set of floats, instead of a mesh
    const char *grid; // its name in the file; NULL is the first one

    MoteFieldMode mode;
    float cell_size;        // m; a file has its own
    float offset;           // m, how far the solid reaches beyond the mesh; a shell has one cell by default
    uint32_t band;          // cells with distances outside the mesh; 0 is 4, or 16 for a container; at most 64
    uint32_t interior_band; // the same inside; 0 is all of it, so that nothing is ever too deep inside to find out

    // Per texel of a texture over the uvs, in rows: what friction coefficients are multiplied by.
    const float *friction;
    uint32_t friction_width, friction_height;
    uint32_t wet_width, wet_height; // texels of a map of where particles touched, see mote_world_wet_map; 0 is none
} MoteFieldOptions;
// The inside of a mesh, in cells of 5 cm; the mesh or the path is still to be given.
MOTE_API MoteFieldOptions mote_default_field_options(void);

typedef struct MoteField MoteField;

// Refuses a mesh that is not closed in the modes that need an inside, and fields of more than 2^27 cells.
MOTE_API MoteResult mote_field_create(const MoteFieldOptions *options, MoteField **out);
MOTE_API void mote_field_destroy(MoteField *field); // NULL is allowed; worlds that have it keep it

typedef struct MoteFieldInfo {
    float cell_size;                 // m
    MoteVec3 bounds_min, bounds_max; // m, corners of the box in which distances are known
    uint64_t voxels;                 // that hold a distance
    uint64_t bytes;                  // on the device
} MoteFieldInfo;
MOTE_API MoteFieldInfo mote_field_info(const MoteField *field);
// An OpenVDB file of the distances that particles feel, to be looked at or read again; the triangles are not in it.
MOTE_API MoteResult mote_field_save(const MoteField *field, const char *path);

#define MOTE_NONE 0xffffffffu // no body, no collider, no particle

// ---- The world ---------------------------------------------------------------------------------------------

typedef struct MoteWorld MoteWorld;

// What a particle is, and by that what the solver does with it (src/kernels/kinds.def).
typedef enum MoteParticleKind {
    MOTE_KIND_BODY,   // solid: of a body (mote_world_add_body), or a point that collides with those of other groups
    MOTE_KIND_LIQUID, // takes part in density constraints
    MOTE_KIND_GRAIN,  // solid: collides with those of its own group, too, and may roll
    MOTE_KIND_CLOTH,  // solid: a vertex of cloth (mote_cloth.h), which collides with those of its own group, too
    MOTE_KIND_GAS,    // as a liquid, but never pulled together by its density; rises, cools, spins (mote_gas.h)
    MOTE_KIND_COUNT
} MoteParticleKind;

// A particle's phase: its group in the low 24 bits, its kind and flags above.
#define MOTE_PHASE(kind, group) ((uint32_t)(kind) << 24 | (uint32_t)(group))
#define MOTE_PHASE_GROUP_MASK   0x00ffffffu
#define MOTE_PHASE_KIND_MASK    0x07000000u
#define MOTE_PHASE_FLUID        MOTE_PHASE(MOTE_KIND_LIQUID, 0)
#define MOTE_PHASE_SELF         MOTE_PHASE(MOTE_KIND_GRAIN, 0)
#define MOTE_PHASE_REMOVED      0x80000000u // marked; gone after the next compaction
static inline MoteParticleKind mote_phase_kind(uint32_t phase)
{
    return (MoteParticleKind)((phase & MOTE_PHASE_KIND_MASK) >> 24);
}

MOTE_API MoteResult mote_world_create(const MoteSettings *settings, const MoteBackendOptions *options, MoteWorld **out);
MOTE_API void mote_world_destroy(MoteWorld *world); // NULL is allowed

// Everything but `dimensions` may change between steps.
MOTE_API MoteResult mote_world_set_settings(MoteWorld *world, const MoteSettings *settings);
MOTE_API MoteSettings mote_world_settings(const MoteWorld *world);

// ---- Adding and removing particles -------------------------------------------------------------------------

// Adds `count` particles and gives them consecutive ids from *first_id (may be NULL). All or none are added.
// Positions and velocities must be finite, masses finite and not negative; mass 0 pins a particle in place.
// velocities NULL is at rest, masses NULL is `mass` for each.
typedef struct MoteParticles {
    uint32_t count;
    const MoteVec3 *positions;
    const MoteVec3 *velocities;
    const float *masses;
    float mass;        // kg
    uint32_t phase;    // MOTE_PHASE(kind, group)
    float temperature; // K above the environment's, of gas (mote_gas.h)
    bool lasts;        // of gas: it is not removed after its life, or where there is no smoke
} MoteParticles;
// No particles yet; of 1 kg, liquid, in group 0, at rest.
MOTE_API MoteParticles mote_default_particles(void);
MOTE_API MoteResult mote_world_add_particles(MoteWorld *world, const MoteParticles *particles, uint32_t *first_id);

// Removes the particles with these ids. An unknown id is an error, and then nothing is removed.
MOTE_API MoteResult mote_world_remove_particles(MoteWorld *world, const uint32_t *ids, uint32_t count);

// A handle refers to one particle for its whole life, and never to another one. A zeroed handle is invalid.
typedef struct MoteParticleHandle {
    uint32_t value;
} MoteParticleHandle;
// Makes handles of the particles with these ids, for springs, attachments and for following single particles: reading
// them does not copy the others. A particle has one handle, however often this is called. An unknown id is an error,
// and no handle is made. Saved states keep handles.
MOTE_API MoteResult mote_world_make_handles(MoteWorld *world, const uint32_t *ids, uint32_t count,
                                            MoteParticleHandle *out);
typedef struct MoteParticleState {
    bool present; // false: the particle was removed, and what follows is 0
    uint32_t id;
    MoteVec3 position; // m
    MoteVec3 velocity; // m/s
} MoteParticleState;
// Where the particles of these handles are now. A handle that the world has not made is an error.
MOTE_API MoteResult mote_world_read_handles(MoteWorld *world, const MoteParticleHandle *handles, uint32_t count,
                                            MoteParticleState *out);

// ---- Colliders of a world ----------------------------------------------------------------------------------

// Names a collider of a world for good. {0} names none, and the id of a collider that was removed is refused with a
// sentence, also when another one has its index by then.
typedef struct MoteColliderId {
    uint32_t index, generation;
} MoteColliderId;

// Colliders collide with every particle, in the order in which they were added. `id` may be NULL.
MOTE_API MoteResult mote_world_add_collider(MoteWorld *world, const MoteCollider *collider, MoteColliderId *id);
// Other poses, sizes or coefficients. One that had a mass and is of the same kind keeps its motion.
MOTE_API MoteResult mote_world_set_collider(MoteWorld *world, MoteColliderId id, const MoteCollider *collider);
// The others stay as they are, those with a mass in their motion. The ground may go, too: nothing wakes or is moved.
MOTE_API MoteResult mote_world_remove_collider(MoteWorld *world, MoteColliderId id);
MOTE_API bool mote_world_has_collider(const MoteWorld *world, MoteColliderId id);
// Fills at most `capacity` ids, in their order, and returns how many colliders there are.
MOTE_API uint32_t mote_world_collider_ids(const MoteWorld *world, MoteColliderId *ids, uint32_t capacity);
// All at once: the world then has these colliders and no others. The first ones keep the ids, and motions, of those
// that were in their places.
MOTE_API MoteResult mote_world_set_colliders(MoteWorld *world, const MoteCollider *colliders, uint32_t count);

typedef struct MoteColliderState {
    MoteColliderId id;
    MoteTransform pose;        // at the end of the last step
    float mass;                // kg; 0: the user moves it, and what follows is 0 but the centre
    MoteVec3 centre;           // m, of mass; of a collider without one its position
    MoteVec3 velocity;         // m/s, of the centre of mass
    MoteVec3 angular_velocity; // rad/s
    MoteVec3 force, torque;    // N and N m about the centre of mass, by particles: the mean over the last step
} MoteColliderState;
MOTE_API MoteResult mote_world_read_collider(MoteWorld *world, MoteColliderId id, MoteColliderState *out);
// Fills at most `capacity` rows, in the order of mote_world_collider_ids.
MOTE_API MoteResult mote_world_read_colliders(MoteWorld *world, MoteColliderState *rows, uint32_t capacity);
// Gives a dynamic collider another motion; a NULL pose leaves it where it is.
MOTE_API MoteResult mote_world_set_collider_motion(MoteWorld *world, MoteColliderId id, const MoteTransform *pose,
                                                   MoteVec3 velocity, MoteVec3 angular_velocity);

// Kill volumes remove the particles inside them at each step. Each call replaces those of the last.
MOTE_API MoteResult mote_world_set_kill_volumes(MoteWorld *world, const MoteCollider *volumes, uint32_t count);

typedef struct MoteProbe {
    MoteVec3 normal;   // unit, the way out of the collider
    float distance;    // m, of the point from the collider's surface; negative where particles must not be
    uint32_t collider; // the nearest or deepest, by its place in mote_world_collider_ids; MOTE_NONE: no colliders
} MoteProbe;
// How far each of `count` points is from the colliders where their `to` poses, or for those with a mass the last step,
// put them. Beyond the band of a field its distance is that of the band.
MOTE_API MoteResult mote_world_probe(MoteWorld *world, const MoteVec3 *points, uint32_t count, MoteProbe *out);

// ---- Hulls and fields of a world ---------------------------------------------------------------------------

// Hulls and fields, for colliders to refer to by the number that comes back in *out. A world has them until it is
// destroyed, or all fields at once until they are cleared, which also drops every collider and volume.
MOTE_API MoteResult mote_world_add_hull(MoteWorld *world, const MoteVec3 *points, uint32_t count, uint32_t *out);
MOTE_API MoteResult mote_world_add_field(MoteWorld *world, const MoteField *field, uint32_t *out);
// Another field under the same number: the next pose of an animated mesh.
MOTE_API MoteResult mote_world_set_field(MoteWorld *world, uint32_t field, const MoteField *replacement);
MOTE_API MoteResult mote_world_clear_fields(MoteWorld *world);
// How long particles have touched each texel, in particle-seconds, rows of `width` (DYV fig. 11). The size must be the
// field's wet_width and wet_height. Replacing a field with one of the same size keeps its map.
MOTE_API MoteResult mote_world_wet_map(MoteWorld *world, uint32_t field, uint32_t width, uint32_t height,
                                       float *texels);

// ---- Materials of a world ----------------------------------------------------------------------------------

// The materials of particles. A group below `count` has the material of its own number, every other one what
// mote_world_set_group_material says, or material 0. Without materials nothing rubs, bounces or sticks.
MOTE_API MoteResult mote_world_set_materials(MoteWorld *world, const MoteMaterial *materials, uint32_t count);
MOTE_API MoteResult mote_world_set_group_material(MoteWorld *world, uint32_t group, uint32_t material);

// ---- Particles that make particles --------------------------------------------------------------------------

// Every particle of a material makes others, on the device, at the end of steps: a cloud rains, a sponge drips.
typedef struct MoteSource {
    uint32_t material; // whose particles are sources
    uint32_t phase;    // MOTE_PHASE(kind, group) of what they make
    float rate;        // 1/s, new particles of each source; no more than one a step
    float mass;        // kg, of a new particle, above 0
    float distance;    // m, along gravity, from the source to where it begins, with the source's velocity; none is made
                       // while another particle is in the way
} MoteSource;
// Takes the place of all sources before. A material has at most one: of several the last counts.
MOTE_API MoteResult mote_world_set_sources(MoteWorld *world, const MoteSource *sources, uint32_t count);

// ---- Bodies ------------------------------------------------------------------------------------------------

// Particles that keep their shape (UPP section 5). A rigid body is one cluster that is matched exactly; a soft one is
// pulled back by `stiffness`, and bends where it has overlapping clusters.
typedef struct MoteBody {
    uint32_t count;
    const MoteVec3 *positions; // m, in the pose it starts with
    const MoteVec3 *gradients; // outward unit gradient of the body's signed distance at each particle (UPP
                               // section 5.1); NULL makes them plain spheres
    const float *distances;    // m, signed distance at each particle, negative inside; NULL with gradients
    const float *masses;       // kg, positive; NULL is `mass` for each
    float mass;                // kg, of one particle
    MoteVec3 velocity;         // m/s
    MoteVec3 angular_velocity; // rad/s, about the centre of mass
    uint32_t material;
    float stiffness;       // 0 to 1, share of the deformation taken back in a step; 1 with one cluster is rigid
    float cluster_spacing; // m, distance between cluster centres; 0 is one cluster
    float cluster_radius;  // m, reach of a cluster; at least cluster_spacing for clusters to overlap
    float plastic_yield;   // deformation over the body's radius beyond which it stays; 0 is never
    float plastic_creep;   // 1/s, rate at which what is beyond the yield is forgotten
    float plastic_limit;   // deformation over the contact distance at which a particle becomes a plain sphere
} MoteBody;
// Rigid, at rest, of particles of 1 kg and material 0; the positions are still to be given.
MOTE_API MoteBody mote_default_body(void);

// Names a body of a world for good, as a MoteColliderId does a collider.
typedef struct MoteBodyId {
    uint32_t index, generation;
} MoteBodyId;

// Adds the body's particles with consecutive ids from *first_id, in a group of their own that does not collide with
// itself. The body's members are the particles in this order. `first_id` and `id` may be NULL.
MOTE_API MoteResult mote_world_add_body(MoteWorld *world, const MoteBody *body, uint32_t *first_id, MoteBodyId *id);
// Removes a body with all its particles. Its rows of the body tables stay until another body of as many members and
// clusters takes them, or until a body is added when they are the last ones: so saved states fit before and after.
MOTE_API MoteResult mote_world_remove_body(MoteWorld *world, MoteBodyId id);
MOTE_API bool mote_world_has_body(const MoteWorld *world, MoteBodyId id);
MOTE_API uint32_t mote_world_body_count(const MoteWorld *world);

typedef struct MoteBodyState {
    MoteBodyId id;
    uint32_t group;             // phase group of its particles
    uint32_t first_member;      // row of its first particle in the member table (MoteRenderView)
    uint32_t members, clusters; // how many it was made of
    uint32_t present;           // particles that are still there
    MoteTransform pose;         // centre of mass, and rotation since the start; of a soft body the first cluster's
    MoteVec3 velocity;          // m/s, of the centre of mass
    MoteVec3 angular_velocity;  // rad/s
    float mass;                 // kg
} MoteBodyState;
MOTE_API MoteResult mote_world_read_body(MoteWorld *world, MoteBodyId id, MoteBodyState *out);
// Fills at most `capacity` rows, in the order of adding; a body that took the rows of one that was removed is in its
// place.
MOTE_API MoteResult mote_world_read_bodies(MoteWorld *world, MoteBodyState *rows, uint32_t capacity);

// ---- Springs -----------------------------------------------------------------------------------------------

// Keeps two particles at a distance (XPBD). Ends may be liquid, grains, pinned particles or parts of bodies; a rigid
// body is pulled as a whole. A spring breaks for good when one of its particles is removed.
typedef struct MoteSpring {
    MoteParticleHandle ends[2];
    float rest_length; // m; below 0: as long as it is when it is added
    float stiffness;   // N/m, above 0; INFINITY: as stiff as the iterations make it
    float damping;     // N s/m, along the spring, not below 0
    bool slack;        // true: a rope, which pulls when it is longer than its rest length and never pushes
} MoteSpring;
MOTE_API MoteSpring mote_default_spring(void); // 1000 N/m, no damping, at rest where it is added

// Springs are numbered from 0 in the order of adding, *first (may be NULL) is the first new one's. All or none are
// added.
MOTE_API MoteResult mote_world_add_springs(MoteWorld *world, const MoteSpring *springs, uint32_t count,
                                           uint32_t *first);
MOTE_API uint32_t mote_world_spring_count(const MoteWorld *world);
typedef struct MoteSpringState {
    bool broken;   // it has lost a particle, and what follows is 0
    float length;  // m
    float tension; // N, in the last step; negative where it pushes
} MoteSpringState;
// Another stiffness (N/m, above 0; INFINITY as in MoteSpring) of `count` springs, from the next step on; it may change
// with every step. Tension stays as it is at first, and follows within tenths of a second: no velocity jumps.
MOTE_API MoteResult mote_world_set_spring_stiffness(MoteWorld *world, uint32_t first, uint32_t count, float stiffness);
// Fills at most `capacity` rows, in the order of adding.
MOTE_API MoteResult mote_world_read_springs(MoteWorld *world, MoteSpringState *rows, uint32_t capacity);

// ---- Rods --------------------------------------------------------------------------------------------------

// An elastic rod through particles, its nodes: it resists stretching, bending and twisting, and is solved as a whole,
// so that it is as stiff as it should be with few iterations. A particle is a node of one rod, once, and of no body: a
// spring joins rods and bodies. Where a node is removed the rod is cut.
typedef struct MoteRod {
    const MoteParticleHandle *nodes; // in order along the rod, at least 2, not one in the place of the one before
    uint32_t node_count;
    float radius;            // m, above 0: with the density, what the rod's segments need to be twisted
    float linear_density;    // kg/m, above 0, likewise; the mass of the rod is that of its nodes
    float stretch_stiffness; // N, above 0: Young's modulus times the area of the cross-section
    float bend_stiffness;    // N m^2: Young's modulus times the area's second moment, pi r^4 / 4; 0 does not resist
    float twist_stiffness;   // N m^2: shear modulus times the polar moment, pi r^4 / 2; 0 does not resist
    float damping;           // s, of all three: the damping is this many times the stiffness
    bool straight;           // true: at rest it is straight; false: as its nodes are when it is added
    bool clamped[2];         // whether the first and the last segment keep their direction; their nodes may be pinned
    float twist;             // rad, from its first to its last segment, by which it is twisted when it is added
} MoteRod;
MOTE_API MoteRod mote_default_rod(void); // of soft rubber, 1 cm thick; without nodes

// Rods are numbered from 0 in the order of adding; `number` may be NULL.
MOTE_API MoteResult mote_world_add_rod(MoteWorld *world, const MoteRod *rod, uint32_t *number);
MOTE_API uint32_t mote_world_rod_count(const MoteWorld *world);
MOTE_API uint32_t mote_world_rod_node_count(const MoteWorld *world); // of all rods
typedef struct MoteRodNodeState {
    MoteParticleState node;
    MoteQuaternion rotation; // of the segment from here to the next node: its z axis is along the rod
    MoteVec3 force;          // N, by which that segment pulls this node, and the next one with its opposite
    MoteVec3 torque;         // N m, by which the joint behind it turns that segment, and the next one with its opposite
} MoteRodNodeState;
// Fills at most `capacity` rows: the nodes of the first rod, then those of the next. Forces are of the last step.
MOTE_API MoteResult mote_world_read_rods(MoteWorld *world, MoteRodNodeState *out, uint32_t capacity);

// ---- Forces ------------------------------------------------------------------------------------------------

typedef enum MoteForceKind {
    MOTE_FORCE_DENSITY,   // of density constraints
    MOTE_FORCE_PAIRS,     // of contacts between particles, friction included
    MOTE_FORCE_COLLIDERS, // of contacts with colliders, friction included
    MOTE_FORCE_BODIES,    // of shape matching
    MOTE_FORCE_SPRINGS,   // of springs
    MOTE_FORCE_RODS,      // of rods
    MOTE_FORCE_BENDING,   // of hinges of cloth
    MOTE_FORCE_PRESSURE,  // of gas in cloth
    MOTE_FORCE_COUNT
} MoteForceKind;

// Whether steps record the forces of constraints; this costs memory and a pass for each kind and iteration.
MOTE_API MoteResult mote_world_record_forces(MoteWorld *world, bool on);
MOTE_API bool mote_world_records_forces(const MoteWorld *world);
MOTE_API const char *mote_force_name(MoteForceKind kind); // "force_density", ...
// 4 floats a particle, in the order of mote_world_read: N, the mean over the last step; and 0.
MOTE_API MoteResult mote_world_read_forces(MoteWorld *world, MoteForceKind kind, float *values);

// ---- Steps -------------------------------------------------------------------------------------------------

// One solver step of `time_step` seconds (UPP Algorithm 1).
MOTE_API MoteResult mote_world_step(MoteWorld *world, float time_step);
// The same, `count` times, up to the first that fails. On a GPU the host waits once for several of them. `done`, which
// may be NULL, is how many went well.
MOTE_API MoteResult mote_world_steps(MoteWorld *world, float time_step, uint32_t count, uint32_t *done);

MOTE_API uint32_t mote_world_particle_count(const MoteWorld *world);
MOTE_API float mote_world_particle_mass(const MoteWorld *world,
                                        float density); // kg, of one particle of a fluid of `density` kg/m^3
MOTE_API const char *mote_world_backend(const MoteWorld *world);

// ---- Reading and writing particles -------------------------------------------------------------------------

// Particles are kept in spatial order, which changes with every step; ids do not. The arrays are the caller's.
typedef struct MoteParticleView {
    uint32_t count;    // particles that were read or are to be written
    uint32_t capacity; // particles that each array has room for
    float *positions;  // 4 a particle: x, y, z (m), inverse mass (1/kg)
    float *velocities; // 4 a particle: x, y, z (m/s), density over rest density
    uint32_t *ids;
    uint32_t *phases;
} MoteParticleView;

// Copies the current state to those arrays that are not NULL, and sets `count`. Less room than
// mote_world_particle_count() is an error.
MOTE_API MoteResult mote_world_read(MoteWorld *world, MoteParticleView *view);
// Writes positions and velocities back, those that are not NULL, in the order of the last read (the count must be the
// same). `phases`, if given, tell liquid from solids; `ids` and `capacity` do not matter.
MOTE_API MoteResult mote_world_write(MoteWorld *world, const MoteParticleView *view);

// Named channels ride along with the particles through sorting and removal; new particles hold zeros.
MOTE_API MoteResult mote_world_add_channel(MoteWorld *world, const char *name, uint32_t components /* 1 to 4 */);
MOTE_API uint32_t mote_world_channel_count(const MoteWorld *world);
MOTE_API const char *mote_world_channel_name(const MoteWorld *world, uint32_t channel, uint32_t *components);
MOTE_API MoteResult mote_world_read_channel(MoteWorld *world, const char *name, float *values /* count * components */);
MOTE_API MoteResult mote_world_write_channel(MoteWorld *world, const char *name, const float *values);

// ---- Statistics and timings --------------------------------------------------------------------------------

// What every step looks for on the device. A healthy simulation has gained a small share of `energy` and nothing else.
typedef struct MoteWatch {
    double energy;        // J, of all particles above the lowest, and at least what lifts them by a smoothing radius
    double gained;        // J, that constraints have made out of nothing in the last second or so
    uint32_t gainer;      // id of a particle near which that was, or MOTE_NONE: by dynamic colliders
    uint32_t escaped;     // particles outside the bounds after the last step
    uint32_t escaped_id;  // of one of them
    uint32_t squeezed;    // particles that colliders still pushed to and fro when the last step ended; of rigid bodies,
                          // those that were still inside one
    uint32_t squeezed_id; // of one of them
} MoteWatch;
// Where particles should be: those outside are counted. Without a call, anywhere.
MOTE_API void mote_world_set_bounds(MoteWorld *world, MoteVec3 lower, MoteVec3 upper);
// As of the last step. Costs nothing: steps bring it along.
MOTE_API MoteWatch mote_world_watch(const MoteWorld *world);

typedef struct MoteStatistics {
    uint32_t particles;
    uint64_t steps;
    uint64_t removed; // by kill volumes and mote_world_remove_particles, since creation
    // Whether densities and neighbours were measured, else they are 0. Before the first step they are measured in a
    // world with a liquid, unless materials ignore each other.
    bool measured;
    uint32_t liquid_particles; // that have a density
    double density_error_mean; // mean of max(density / rest - 1, 0) over fluid particles
    double density_error_max;
    double density_mean;                 // mean of density / rest, surface included
    double kinetic_energy;               // J
    double potential_energy;             // J: the sum of -m g.x, so 0 for a particle in the plane through the origin
    double momentum[3];                  // kg m/s
    double angular_momentum[3];          // kg m^2/s, about the origin
    double mass;                         // kg, of the particles that can move
    double centre_of_mass[3];            // m
    double bounds_min[3], bounds_max[3]; // m, bounding box of the particles
    double neighbours_mean;              // of the last step, or of the present positions before the first
    uint32_t neighbours_max;
    uint64_t memory_bytes;    // all solver buffers, capacity included
    uint32_t links;           // springs that are not broken, those of cloth included
    double link_stretch_mean; // of max(length / rest - 1, 0), over springs and the links of cloth along its edges
    double link_stretch_max;
} MoteStatistics;
MOTE_API MoteResult mote_world_statistics(MoteWorld *world, MoteStatistics *out);

// A hash of positions, velocities, ids and phases: equal states have equal hashes.
MOTE_API MoteResult mote_world_state_hash(MoteWorld *world, uint64_t *out);

typedef struct MoteTiming {
    const char *name;    // of the kernel or primitive
    const char *stage;   // what it belongs to: integrate, sort, neighbours, density, contacts, velocity
    double milliseconds; // since the last reset
    uint64_t launches;
    uint64_t invocations;
} MoteTiming;
// Fills at most `capacity` rows and returns how many there are, those never launched included. The cuda backend counts
// all launches, and times those after the first call of this function or the next.
MOTE_API uint32_t mote_world_timings(const MoteWorld *world, MoteTiming *rows, uint32_t capacity);
MOTE_API void mote_world_reset_timings(MoteWorld *world);
// How often the host has stood still for the backend's device since the world was made, whatever it asked for. Always 0
// on the CPU backend.
MOTE_API uint64_t mote_world_host_waits(const MoteWorld *world);

// ---- Scenes and simulations --------------------------------------------------------------------------------

typedef struct MoteScene MoteScene;

// Loads a scene file (docs/scene-format.md); "-" is standard input. Each override is "path=value", as in
// "solver.iterations=10".
MOTE_API MoteResult mote_scene_load(const char *path, const char *const *overrides, uint32_t override_count,
                                    MoteScene **out);
MOTE_API void mote_scene_destroy(MoteScene *scene);

// A simulation is a scene's world with its emitters, keyframes and clock.
typedef struct MoteSimulation MoteSimulation;

// The scene must outlive the simulation.
MOTE_API MoteResult mote_simulation_create(const MoteScene *scene, const MoteBackendOptions *options,
                                           MoteSimulation **out);
MOTE_API void mote_simulation_destroy(MoteSimulation *simulation);
MOTE_API MoteResult mote_simulation_advance_frame(MoteSimulation *simulation); // see mote_stop_when, too
MOTE_API MoteWorld *mote_simulation_world(MoteSimulation *simulation);
MOTE_API uint64_t mote_simulation_frame(const MoteSimulation *simulation);
MOTE_API double mote_simulation_time(const MoteSimulation *simulation); // s
MOTE_API uint64_t mote_simulation_emitted(const MoteSimulation *simulation);
MOTE_API uint64_t mote_simulation_escaped(MoteSimulation *simulation); // particles outside the scene's bounds now
// A warning or information about a simulation: particles left out and overlaps at the start, and problems since then.
typedef struct MoteNotice {
    bool warning;     // a likely mistake; false: information only
    double time;      // s, of the simulation
    const char *text; // one sentence, which names what it is about
} MoteNotice;
// All since the simulation was made or a state was loaded, oldest first, and how many there are. They are valid until
// the next call that changes the simulation.
MOTE_API uint32_t mote_simulation_notices(const MoteSimulation *simulation, const MoteNotice **rows);
// frames the scene asks for in output.frames
MOTE_API uint64_t mote_simulation_frame_target(const MoteSimulation *simulation);

// A saved state continues bit for bit on the same backend. The file is written whole or not at all.
MOTE_API MoteResult mote_simulation_save(MoteSimulation *simulation, const char *path);
MOTE_API MoteResult mote_simulation_load(MoteSimulation *simulation, const char *path);

// Writes the particles to `path` (without extension); format is "ply", "vtk" or "bgeo". With "ply" the meshes of cloth,
// with their texture coordinates, go to PATH_cloth.ply; "obj" writes them alone, to PATH_cloth.obj.
MOTE_API MoteResult mote_simulation_export(MoteSimulation *simulation, const char *path, const char *format);

// Writes FOLDER/wet_0_000123.png for each collider with a wet map, by its place among the scene's colliders and the
// frame: 8 bit grey, black where no particle was, white where particles were for the collider's wet_time.
MOTE_API MoteResult mote_simulation_export_wet_maps(MoteSimulation *simulation, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
