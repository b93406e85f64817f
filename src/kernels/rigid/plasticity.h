// SPDX-License-Identifier: MIT
// plasticity.h - plastic deformation of soft bodies.
#ifndef MOTE_KERNELS_PLASTICITY_H
#define MOTE_KERNELS_PLASTICITY_H

#include "data.h"
#include "rigid/bodies.h"

// Plasticity (Mueller and Chentanez 2011, UPP section 5.3): deformation of an entry beyond the yield creeps into its
// rest position. Beyond the limit its particle becomes a plain sphere, because the distance field is no longer valid.
KERNEL(creep_entries)
{
    const uint index = LOAD(entry_clusters, i);
    const Cluster cluster = LOAD(clusters, index);
    const uint member = LOAD(entry_members, i);
    const uint slot = LOAD(handle_slots, member);
    if (cluster.yield <= 0.0f || slot == NONE) {
        return;
    }
    const vec4 rest = LOAD(entry_rests, i);
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, index));
    const vec3 arm = v3_sub(v3_from_v4(LOAD(predicted, slot)), v3_from_v4(LOAD(cluster_centres, index)));
    const vec3 now = v3_add(rotate_back(LOAD(cluster_rotations, index), arm), origin);
    const vec3 deformation = v3_sub(now, v3_from_v4(rest));
    const float size = v3_length(deformation);
    if (size > cluster.yield) {
        const float share = min_f32(cluster.creep * PARAMETER(time_step), 1.0f) * (1.0f - cluster.yield / size);
        STORE(entry_rests, i, v4_from_v3(v3_add_scaled(v3_from_v4(rest), deformation, share), rest.w));
    }
    if (v3_length(v3_sub(now, v3_from_v4(LOAD(entry_initial_rests, i)))) > cluster.limit) {
        STORE(member_fields, member * MEMBER_FACES, v4(0.0f, 0.0f, 0.0f, NO_FIELD));
    }
}

#endif
