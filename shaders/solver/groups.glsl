// SPDX-License-Identifier: MIT
// groups.glsl - which of a launch's workgroups this one is.

// A software device gives each of its threads one piece of consecutive workgroups (Mesa's does), and particles that have
// many neighbours follow one another: so that threads are done at about the same time, they take turns through the work.
// 1 on a GPU, which gives out workgroups one by one.
layout(constant_id = 2) const uint THREADS = 1u;

#define GROUPS_A_TURN 16u

uint workgroup_number()
{
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; // in rows of what a device can
    if (THREADS == 1u) {
        return group;
    }
    const uint turns = gl_NumWorkGroups.x * gl_NumWorkGroups.y / (THREADS * GROUPS_A_TURN);
    const uint piece = turns * GROUPS_A_TURN;
    uint thread = 0u; // a division would be done for one invocation after the other
    for (uint t = 1u; t < THREADS; t++) {
        thread += group >= t * piece ? 1u : 0u;
    }
    const uint mine = group - thread * piece;
    const uint turn = mine / GROUPS_A_TURN;
    return mine < piece ? (turn * THREADS + thread) * GROUPS_A_TURN + mine % GROUPS_A_TURN : group;
}
