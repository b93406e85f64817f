// SPDX-License-Identifier: MIT
// mote_gas.h - gas (docs/gas.md): particles of MOTE_KIND_GAS, which a density constraint keeps from being pressed
// together, and never pulls together. Smoke is made of passive particles that gas carries (mote_diffuse.h).
#ifndef MOTE_GAS_H
#define MOTE_GAS_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#endif

// What acts on all gas of a world. Zeros are allowed everywhere: gas that floats.
typedef struct MoteGas {
    float gravity;      // share of gravity that acts on gas
    float buoyancy;     // 1/K: gas that is warmer than the air by T is accelerated against gravity by buoyancy T g
    float cooling_time; // s, in which temperatures fall to 1/e; 0: never
    float mixing;       // 1/s, faster by which temperatures fall where there is only air around
    float drag;         // 1/s: rate at which the surface of gas takes on the air's velocity (MoteAir of mote_forces.h)
    float cohesion;     // m/s^2, that pulls its surface inwards
    float baroclinic;   // strength of the turbulence at its surface; below 0 for gas that sinks
    float baroclinic_time; // s, in which vortices fall to 1/e; 0: never
    float vortex_limit;    // 1/s, of the fastest of them; 0: none
    float life;            // s, after which gas is removed; 0: never
    float linger;          // s without smoke within the smoothing radius, after which it is removed; 0: never
} MoteGas;

// The defaults of scene files.
MOTE_API MoteGas mote_default_gas(void);
// Without this all are 0.
MOTE_API MoteResult mote_world_set_gas(MoteWorld *world, const MoteGas *gas);
MOTE_API MoteGas mote_world_gas(const MoteWorld *world);

// What gas has besides, in the order of mote_world_read, an element for each particle of the world; NULL is left out.
// Zeros for particles that are not gas.
typedef struct MoteGasView {
    uint32_t count, capacity;
    float *states;   // 4 each: age (s), s without smoke (below 0: gas that lasts), temperature above the air's (K), 0
    float *vortices; // 4 each: x, y, z (1/s), 0
} MoteGasView;
MOTE_API MoteResult mote_world_read_gas(MoteWorld *world, MoteGasView *view);

#ifdef __cplusplus
}
#endif
#endif
