// SPDX-License-Identifier: MIT
// material.h - with what friction, restitution and adhesion particles touch.
#ifndef MOTE_KERNELS_MATERIAL_H
#define MOTE_KERNELS_MATERIAL_H

#include "data.h"

// The material's row, where there are materials.
FUNCTION uint material_row(VIEW_COMMA uint phase)
{
    const uint group = phase & PHASE_GROUP;
    if (group < PARAMETER(group_count)) {
        return LOAD(group_materials, group);
    }
    return group < PARAMETER(material_count) ? group : 0u;
}

FUNCTION Material material_of(VIEW_COMMA uint phase)
{
    if (PARAMETER(material_count) == 0u) {
        Material none = {0.0f, 0.0f, 0.0f, 0.0f, ROLLING_NEVER, COMBINE_AVERAGE, 0u, 0u};
        return none;
    }
    return LOAD(materials, material_row(VIEW_HERE_COMMA phase));
}

// Materials whose particles a particle passes through, a bit each (UPP section 3: phases with a mask of whom they
// meet).
FUNCTION uint ignored_materials(VIEW_COMMA uint phase)
{
    return PARAMETER(ignoring) != 0u ? material_of(VIEW_HERE_COMMA phase).ignored : 0u;
}

// Whether the material of a phase is one of these, a bit for each of the first 32.
FUNCTION bool is_of_materials(VIEW_COMMA uint bits, uint phase)
{
    const uint row = material_row(VIEW_HERE_COMMA phase);
    return row < 32u && ((bits >> row) & 1u) != 0u;
}

FUNCTION bool is_ignored(VIEW_COMMA uint ignored, uint phase)
{
    return ignored != 0u && is_of_materials(VIEW_HERE_COMMA ignored, phase);
}

// Of two rules the stronger one, which has the larger number, decides.
FUNCTION float combine(float a, float b, uint rule_a, uint rule_b)
{
    const uint rule = rule_a > rule_b ? rule_a : rule_b;
    if (rule == COMBINE_MINIMUM) {
        return min_f32(a, b);
    }
    if (rule == COMBINE_MULTIPLY) {
        return a * b;
    }
    return rule == COMBINE_MAXIMUM ? max_f32(a, b) : 0.5f * (a + b);
}

// What holds between two surfaces.
FUNCTION Material combine_materials(Material a, Material b)
{
    Material pair = a;
    pair.static_friction = combine(a.static_friction, b.static_friction, a.combine, b.combine);
    pair.kinetic_friction = combine(a.kinetic_friction, b.kinetic_friction, a.combine, b.combine);
    pair.restitution = combine(a.restitution, b.restitution, a.combine, b.combine);
    pair.adhesion = combine(a.adhesion, b.adhesion, a.combine, b.combine);
    return pair;
}

// What holds between two particles. A liquid meets solids with its own coefficients: a wet stone drags no water along
// but by viscosity.
FUNCTION Material pair_material(VIEW_COMMA uint phase_a, uint phase_b)
{
    const Material a = material_of(VIEW_HERE_COMMA phase_a);
    const Material b = material_of(VIEW_HERE_COMMA phase_b);
    if (has_density(phase_a)) {
        return a;
    }
    if (has_density(phase_b)) {
        return b;
    }
    return combine_materials(a, b);
}

FUNCTION Material material_of_collider(Collider collider)
{
    Material own = {collider.static_friction,
                    collider.kinetic_friction,
                    collider.restitution,
                    collider.adhesion,
                    ROLLING_NEVER,
                    collider.combine,
                    0u,
                    0u};
    return own;
}

// What holds between a particle and a collider. A liquid has nothing of its own to combine the collider's with.
FUNCTION Material collider_material(VIEW_COMMA Collider collider, uint phase)
{
    const Material pair = material_of_collider(collider);
    if (HAS_FEATURE(SOLIDS) && !has_density(phase) && PARAMETER(material_count) != 0u) {
        return combine_materials(material_of(VIEW_HERE_COMMA phase), pair);
    }
    return pair;
}

FUNCTION Material collider_pair_material(Collider a, Collider b)
{
    return combine_materials(material_of_collider(a), material_of_collider(b));
}

#endif
