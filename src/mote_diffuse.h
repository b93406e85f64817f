// SPDX-License-Identifier: MIT
// mote_diffuse.h - passive particles: spray, foam and bubbles that a liquid makes and carries (docs/foam.md), and
// smoke, which gas carries (docs/gas.md). They act on nothing; they are not among the particles of mote.h.
#ifndef MOTE_DIFFUSE_H
#define MOTE_DIFFUSE_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a liquid makes white water. Potentials are relative to `speed` and have no units; each goes from nothing at its
// lower limit to all at its upper one.
typedef struct MoteFoam {
    float amount;                // how much is made, of what is usual; 0: none
    uint32_t capacity;           // passive particles there can be at once; what does not fit is not made
    float life;                  // s, of foam, on average; spray and bubbles do not age
    float speed;                 // m/s, of fast water; 0: the liquid's own largest speed of late
    float air, crest, vorticity; // weights of trapped air, wave crests and vorticity
    float air_lower, air_upper, crest_lower, crest_upper, vorticity_lower, vorticity_upper;
    float energy_lower, energy_upper; // of (speed / reference)^2
    float spray_drag;                 // 1/s
    float bubble_drag;                // 1/s
    float buoyancy;                   // of bubbles, in multiples of gravity
    uint32_t seed;                    // of all that is random about them
} MoteFoam;

// Sets how the world makes foam. With another capacity than before, the passive particles that there are are removed,
// and their counts begin anew; with capacity 0 there are none. `amount` may be 0 with a capacity: what is added by
// mote_world_add_diffuse is still carried along.
MOTE_API MoteResult mote_world_set_foam(MoteWorld *world, const MoteFoam *foam);
MOTE_API uint32_t mote_world_diffuse_capacity(const MoteWorld *world);
// The defaults of scene files, with a capacity: amount is 1.
MOTE_API MoteFoam mote_default_foam(void);

typedef struct MoteDiffuseCounts {
    uint32_t present; // spawned - dead
    uint32_t spawned; // since the capacity was set; modulo 2^32, as all of these
    uint32_t dead;    // their life ended, or they left the bounds, or came into a kill volume
    uint32_t dropped; // not made, because no slot was free
} MoteDiffuseCounts;
MOTE_API MoteResult mote_world_diffuse_counts(MoteWorld *world, MoteDiffuseCounts *out);

// Passive particles as arrays of the caller's, `capacity` elements each; those that are NULL are left out.
typedef struct MoteDiffuse {
    uint32_t count, capacity;
    float *positions; // 4 each: x, y, z (m), remaining life (s), above 0
    float
        *velocities; // 4 each: x, y, z (m/s), class: 0 spray, 1 foam, 2 bubble, or in between while it changes; 3 smoke
    uint32_t *ids;   // never used again
    // Of smoke, 4 each: age (s), life when it was made (s; 0: endless), temperature above the environment's (K), amount
    // (1: as emitted). Zeros for others.
    float *smoke;
} MoteDiffuse;
// Those that are present, in the order of their slots.
MOTE_API MoteResult mote_world_read_diffuse(MoteWorld *world, MoteDiffuse *out);
// Adds `count` of them behind all others; ids are given. What does not fit is dropped and counted. Without `smoke`,
// smoke is new, cold, of amount 1, and lives as long as `positions` says. The first smoke of a world allocates memory.
MOTE_API MoteResult mote_world_add_diffuse(MoteWorld *world, const MoteDiffuse *diffuse);
// The same with the next step, on the device: the host waits for nothing, and they get free slots, wherever those are.
// They are there at the step's end, where `positions` says. Calls before one step add up.
MOTE_API MoteResult mote_world_emit_diffuse(MoteWorld *world, const MoteDiffuse *diffuse);

#ifdef __cplusplus
}
#endif
#endif
