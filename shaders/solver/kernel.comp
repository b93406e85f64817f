// SPDX-License-Identifier: MIT
// kernel.comp - one kernel of src/kernels/kernels.def as a compute shader; KERNEL_NAME says which.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels.h"
#include "groups.glsl"

layout(local_size_x_id = 0) in;

#define KERNEL_ROW(name, stage, count)  \
    uint invocations_of_##name()        \
    {                                   \
        return view.count;              \
    }
#define PARTICLE_ROW(name, stage)       \
    uint invocations_of_##name()        \
    {                                   \
        return particles_left();        \
    }
#include "kernels.def"

#define PASTE(a, b) a##b
#define INVOCATIONS_OF(name) PASTE(invocations_of_, name)()

void main()
{
    const uint i = workgroup_number() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i < INVOCATIONS_OF(KERNEL_NAME) && !kernels_aborted()) {
        KERNEL_NAME(i);
    }
}
