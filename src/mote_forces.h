// SPDX-License-Identifier: MIT
// mote_forces.h - external forces on particles and colliders (force fields, impulses), and queries that do not read all
// particles: sums, rays, overlaps.
#ifndef MOTE_FORCES_H
#define MOTE_FORCES_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Force fields and impulses -----------------------------------------------------------------------------

// Selects particles. A zeroed filter selects all of them; pinned particles are never selected.
typedef struct MoteParticleFilter {
    uint32_t kinds;     // bit k: those of MoteParticleKind k; 0 is all
    uint32_t materials; // bit j: those of material j, one of the first 32; 0 is all
    bool one_group;     // only those of `group`
    uint32_t group;
    bool one_particle; // only the one with `id`
    uint32_t id;
} MoteParticleFilter;

typedef enum MoteForceFieldKind {
    MOTE_FORCE_FIELD_POINT,   // around its position: `strength` away from it
    MOTE_FORCE_FIELD_RADIAL,  // around its local y axis: `strength` away from that, `swirl` around it
    MOTE_FORCE_FIELD_BOX,     // inside half_size along its local axes: `strength` along `direction`
    MOTE_FORCE_FIELD_UNIFORM, // the same everywhere
} MoteForceFieldKind;

// What `strength`, `swirl` and `angular` are. The first two last, the others act at once (mote_world_apply_impulse).
typedef enum MoteForceMode {
    MOTE_FORCE_MODE_ACCELERATION,    // m/s^2, whatever the mass
    MOTE_FORCE_MODE_FORCE,           // N on each particle, and on a collider in all
    MOTE_FORCE_MODE_IMPULSE,         // N s on each particle, and on a collider in all
    MOTE_FORCE_MODE_VELOCITY_CHANGE, // m/s, whatever the mass
} MoteForceMode;

// How a field grows weaker with t, which is the distance from its centre or axis over `radius`; of a box, 1 at its
// faces and 0 where it is `border` deep. Beyond t = 1 there is nothing.
typedef enum MoteFalloff {
    MOTE_FALLOFF_CONSTANT,       // as strong everywhere
    MOTE_FALLOFF_LINEAR,         // 1 - t
    MOTE_FALLOFF_QUADRATIC,      // (1 - t)^2
    MOTE_FALLOFF_INVERSE_SQUARE, // of point and radial fields: r / (r^2 + softening^2)^1.5, where `strength` is that at
                                 // 1 m without softening
} MoteFalloff;

// Several things at once, each of which may be 0. Zeros and mote_default_force_field() are a field that does nothing.
typedef struct MoteForceField {
    MoteForceFieldKind kind;
    MoteForceMode mode;
    MoteFalloff falloff;
    MoteTransform pose; // a rotation of four zeros is none
    MoteVec3 half_size; // m, of a box; y is also that of a radial field along its axis, 0 is endless
    float radius;       // m, of point and radial fields; 0 is endless, of the same strength or inverse square
    float border;       // m, of a box: where the falloff acts
    float softening;    // m, of point and radial fields: nearer than that to the middle the pull fades to nothing
    float strength;     // negative attracts; its unit is that of the mode
    float swirl;        // counter-clockwise seen from the axis' tip; likewise
    MoteVec3 direction; // of box and uniform fields; of any length, which multiplies
    MoteVec3 angular;   // adds its cross product with the offset from the position: rad/s^2 and so on
    MoteVec3 velocity;  // m/s, of what surrounds the particles,
    float drag;         // 1/s, and the rate at which they take it on; of an impulse the share, 0 to 1, at once
    MoteParticleFilter filter;
    bool spares_colliders; // those that have a mass feel it otherwise, at points that stand for all of their volume
} MoteForceField;
MOTE_API MoteForceField mote_default_force_field(void);

// Names a field of a world until it is removed, and never another one after that. {0, 0} names none.
typedef struct MoteForceFieldId {
    uint32_t index, generation;
} MoteForceFieldId;

// Fields act at the beginning of each step, before the speed limit, until they are removed. They act in the order in
// which they were added; a field that reuses the index of a removed one takes its place in this order. Their mode must
// be acceleration or force.
MOTE_API MoteResult mote_world_add_force_field(MoteWorld *world, const MoteForceField *field, MoteForceFieldId *out);
MOTE_API MoteResult mote_world_set_force_field(MoteWorld *world, MoteForceFieldId id, const MoteForceField *field);
MOTE_API MoteResult mote_world_remove_force_field(MoteWorld *world, MoteForceFieldId id);
// The field as it was set; false if the id is not valid, and `out` is unchanged.
MOTE_API bool mote_world_force_field(const MoteWorld *world, MoteForceFieldId id, MoteForceField *out);
MOTE_API uint32_t mote_world_force_field_count(const MoteWorld *world);

// ---- Air ---------------------------------------------------------------------------------------------------

// The air that cloth moves in: its lift and drag (MoteCloth) are those of the velocity relative to the wind and its
// gusts, eddies of several sizes that the wind carries along. Air that is still slows cloth down, too. A world has none
// until it is set.
typedef struct MoteAir {
    float density;                  // kg/m^3; 0 is none, and no wind
    MoteVec3 wind;                  // m/s
    float gust;                     // m/s, about the root mean square of the eddies' velocity
    float eddy_size;                // m, of the largest, above 0
    MoteVec3 vortex, vortex_centre; // rad/s and m: air that turns about an axis through the centre
    float vortex_radius;            // m, within which it turns like a solid; 0: there is no vortex
    double time; // s: eddies move on with it. Scenes set it to their clock; else it is for the program to set
} MoteAir;
MOTE_API MoteAir mote_default_air(void); // 1.2 kg/m^3, still, with eddies of 1 m
MOTE_API MoteResult mote_world_set_air(MoteWorld *world, const MoteAir *air);
MOTE_API MoteAir mote_world_air(const MoteWorld *world);

// Acts on velocities at once; the mode must be MOTE_FORCE_MODE_IMPULSE or _VELOCITY_CHANGE. `momentum`, which may be
// NULL, gets the total momentum given to particles and colliders, kg m/s.
MOTE_API MoteResult mote_world_apply_impulse(MoteWorld *world, const MoteForceField *impulse, MoteVec3 *momentum);

// ---- Queries -----------------------------------------------------------------------------------------------

// What particles have in sum: those of one body, by its group, or the one with an id, without reading all.
typedef struct MoteParticleSums {
    uint32_t count;            // of particles that pass the filter; of 0, all the rest is 0
    uint32_t phase;            // of the only one; of several, 0
    float mass;                // kg
    MoteVec3 centre;           // m, of mass
    MoteVec3 velocity;         // m/s, of that
    MoteVec3 angular_momentum; // kg m^2/s, about it
    float inertia[6];          // kg m^2, about it: xx, yy, zz, xy, xz, yz
} MoteParticleSums;
MOTE_API MoteResult mote_world_sum_particles(MoteWorld *world, const MoteParticleFilter *filter, MoteParticleSums *out);

typedef struct MoteRay {
    MoteVec3 origin;       // m
    MoteVec3 direction;    // of any length but 0
    float max_distance;    // m; 0 is endless
    float particle_radius; // m, as large as particles are for the ray; 0 is half a spacing
    bool skip_particles, skip_colliders;
} MoteRay;

typedef struct MoteRayHit {
    float distance;    // m; 0 if the ray begins inside something. Without a hit that of the ray, or INFINITY
    MoteVec3 normal;   // unit, the way out of what was hit; without a hit 0
    uint32_t collider; // its place in mote_world_collider_ids, or MOTE_NONE
    uint32_t particle; // its id, or MOTE_NONE
    uint32_t body;     // that the particle is of, by its place in mote_world_read_bodies, or MOTE_NONE
} MoteRayHit;
// The first thing that each of `count` rays meets: a collider where it is for mote_world_probe, or a particle as a
// ball. Containers are hit from inside. On fields, it is exact to a part of their cell size.
MOTE_API MoteResult mote_world_cast_rays(MoteWorld *world, const MoteRay *rays, uint32_t count, MoteRayHit *out);

// Which particles are in each of `count` volumes, by their centres: `counts` gets how many, and `ids` `capacity` a
// volume, ascending. Of more than `capacity` there are some of them, the same ones every time.
MOTE_API MoteResult mote_world_overlap(MoteWorld *world, const MoteCollider *volumes, uint32_t count, uint32_t *counts,
                                       uint32_t *ids, uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
