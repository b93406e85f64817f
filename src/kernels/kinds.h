// SPDX-License-Identifier: MIT
// kinds.h - the kind and the traits of a particle, from its phase.
#ifndef MOTE_KINDS_H
#define MOTE_KINDS_H

#include "language.h"

#define TRAIT_DENSITY  1u
#define TRAIT_CONTACTS 2u
#define TRAIT_SELF     4u
#define TRAIT_ROLLS    8u
#define TRAIT_SHEET    16u
#define TRAIT_GAS      32u

#define PHASE_GROUP      0x00ffffffu // MOTE_PHASE_GROUP_MASK
#define PHASE_KIND       0x07000000u // MOTE_PHASE_KIND_MASK
#define PHASE_KIND_SHIFT 24u
#define PHASE_REMOVED    0x80000000u // MOTE_PHASE_REMOVED

// A bit for each kind that has the trait. With a constant it is one.
FUNCTION uint kinds_with(uint trait)
{
#define KIND(name, number, traits) | (((traits)&trait) != 0u ? 1u << number : 0u)
    return 0u
#include "kinds.def"
        ;
}

FUNCTION bool has_trait(uint phase, uint trait)
{
    return ((kinds_with(trait) >> ((phase & PHASE_KIND) >> PHASE_KIND_SHIFT)) & 1u) != 0u;
}

FUNCTION bool has_density(uint phase)
{
    return has_trait(phase, TRAIT_DENSITY);
}

FUNCTION bool is_gas(uint phase)
{
    return has_trait(phase, TRAIT_GAS);
}

FUNCTION bool has_contacts(uint phase)
{
    return has_trait(phase, TRAIT_CONTACTS);
}

// Whether two particles have contacts. Two liquid or gas particles interact by the density constraint only; one of them
// and a solid one collide as two solids (UPP section 7.1); solids of one group collide only if the group collides with
// itself.
FUNCTION bool can_touch(uint a, uint b)
{
    if (!has_contacts(a) || !has_contacts(b)) {
        return has_contacts(a) || has_contacts(b);
    }
    return (a & PHASE_GROUP) != (b & PHASE_GROUP) || has_trait(a, TRAIT_SELF);
}

#endif
