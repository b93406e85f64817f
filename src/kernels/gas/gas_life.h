// SPDX-License-Identifier: MIT
// gas_life.h - what a particle of gas has besides, and when it is over (UPP section 7.2.2).
//
// gas_states: age (s), how long there has been no smoke within the smoothing radius (s; negative: gas that lasts),
// temperature above the environment's (K). Gas is removed with the sort of the next step, as what is in kill volumes
// is: nothing is read by the host.
#ifndef MOTE_KERNELS_GAS_LIFE_H
#define MOTE_KERNELS_GAS_LIFE_H

#include "data.h"

FUNCTION bool gas_is_over(VIEW_COMMA uint i, uint phase)
{
    if (PARAMETER(gas_ends) == 0u || !is_gas(phase)) {
        return false;
    }
    const vec4 gas = LOAD(gas_states, i);
    const bool old = PARAMETER(gas_life) > 0.0f && gas.x > PARAMETER(gas_life);
    const bool lonely = PARAMETER(gas_linger) > 0.0f && gas.y > PARAMETER(gas_linger);
    return gas.y >= 0.0f && (old || lonely);
}

#endif
