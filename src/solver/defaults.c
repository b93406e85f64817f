// SPDX-License-Identifier: MIT
// defaults.c - mote_default_* for the structs of mote.h, except settings and materials, whose defaults come from the
// tables of scene files (src/scene).
#include "mote.h"

MoteBackendOptions mote_default_backend_options(void)
{
    return (MoteBackendOptions){.backend = "auto"};
}

MoteCollider mote_default_collider(void)
{
    const MoteTransform origin = {.rotation = {0.0f, 0.0f, 0.0f, 1.0f}};
    return (MoteCollider){
        .kind = MOTE_COLLIDER_PLANE,
        .half_size = {0.5f, 0.5f, 0.5f},
        .radius = 0.5f,
        .from = origin,
        .to = origin,
        .combine = MOTE_COMBINE_AVERAGE,
    };
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
