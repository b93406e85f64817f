// SPDX-License-Identifier: MIT
// primitives.glsl - what the passes of sort, scan and bounds share.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint GROUP = 64; // invocations of a workgroup, a power of two from 32 up

#if !defined(ARRAY_ACCESS)
#define ARRAY_ACCESS // or coherent
#endif
#define BUFFER_OF(type) \
    layout(buffer_reference, scalar, buffer_reference_align = 16) ARRAY_ACCESS buffer type##_array { type data[]; }
BUFFER_OF(uint);
BUFFER_OF(uint64_t);
BUFFER_OF(vec4);
