// SPDX-License-Identifier: MIT
// defaults.c - what the structs of mote.h begin with, but for the settings, whose table scene files share (keys.c).
#include "mote.h"

MoteBackendOptions mote_default_backend_options(void)
{
    return (MoteBackendOptions){.backend = "auto"};
}

MoteShape mote_default_collider(void)
{
    const MoteTransform origin = {.rotation = {0.0f, 0.0f, 0.0f, 1.0f}};
    return (MoteShape){
        .kind = MOTE_SHAPE_PLANE,
        .half_size = {0.5f, 0.5f, 0.5f},
        .radius = 0.5f,
        .from = origin,
        .to = origin,
        .combine = MOTE_COMBINE_AVERAGE,
    };
}

MoteMaterial mote_default_material(void)
{
    return (MoteMaterial){.rolling_friction = 1.0f, .combine = MOTE_COMBINE_AVERAGE};
}

MoteFieldOptions mote_default_field_options(void)
{
    return (MoteFieldOptions){.mode = MOTE_FIELD_INSIDE, .cell_size = 0.05f};
}

MoteParticles mote_default_particles(void)
{
    return (MoteParticles){.mass = 1.0f, .phase = MOTE_PHASE(MOTE_KIND_LIQUID, 0)};
}

MoteBody mote_default_body(void)
{
    return (MoteBody){.mass = 1.0f, .stiffness = 1.0f, .plastic_creep = 10.0f, .plastic_limit = 1.0f};
}
