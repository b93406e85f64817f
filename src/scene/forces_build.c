// SPDX-License-Identifier: MIT
// forces_build.c - the force fields of a scene.
#include "scene/build.h"

// Which particles feel it, and whether colliders do.
static void set_targets(const SceneValues *values, const SceneForce *force, MoteForceField *field)
{
    static const uint32_t kinds[] = {[SCENE_AFFECTS_EVERYTHING] = 0,
                                     [SCENE_AFFECTS_LIQUID] = UINT32_C(1) << MOTE_KIND_LIQUID,
                                     [SCENE_AFFECTS_GRAINS] = UINT32_C(1) << MOTE_KIND_GRAIN,
                                     [SCENE_AFFECTS_BODIES] = UINT32_C(1) << MOTE_KIND_BODY,
                                     [SCENE_AFFECTS_CLOTH] = UINT32_C(1) << MOTE_KIND_CLOTH,
                                     [SCENE_AFFECTS_GAS] = UINT32_C(1) << MOTE_KIND_GAS,
                                     [SCENE_AFFECTS_COLLIDERS] = UINT32_C(1) << 31}; // no particle's kind
    field->filter.kinds = kinds[force->affects];
    field->filter.materials = scene_material_bits(values, force->materials);
    const bool everything = force->affects == SCENE_AFFECTS_EVERYTHING && field->filter.materials == 0;
    field->spares_colliders = !everything && force->affects != SCENE_AFFECTS_COLLIDERS;
}

MoteForceField scene_force_field(const SceneValues *values, const SceneForce *force)
{
    const float radians = 3.14159265f / 180.0f;
    const bool box = force->kind == MOTE_FORCE_FIELD_BOX;
    MoteForceField field = {
        .kind = (MoteForceFieldKind)force->kind,
        .mode = (MoteForceMode)force->mode,
        .falloff = (MoteFalloff)force->falloff,
        .pose = {force->position, scene_rotation(force->rotation)},
        .half_size = {0.5f * force->size.x, 0.5f * (box ? force->size.y : force->height), 0.5f * force->size.z},
        .radius = force->radius,
        .border = force->border,
        .softening = force->softening,
        .strength = force->strength,
        .swirl = force->swirl,
        .direction = force->direction,
        .angular = {force->angular.x * radians, force->angular.y * radians, force->angular.z * radians},
        .velocity = force->velocity,
        .drag = force->drag,
    };
    set_targets(values, force, &field);
    return field;
}
