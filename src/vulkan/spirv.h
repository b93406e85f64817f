// SPDX-License-Identifier: MIT
// spirv.h - three things about a compiled shader that its language cannot express.
#ifndef MOTE_VULKAN_SPIRV_H
#define MOTE_VULKAN_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A copy in which no multiplication and addition may be made one operation, so that results are those of the other
// backends: every float operation is marked NoContraction. GLSL can say so only of single variables. NULL if the
// words are no SPIR-V module or there is no memory; free() it.
uint32_t *spirv_without_contraction(const uint32_t *words, size_t count, size_t *out_count);

// Where member `member` of the struct that is named `name` begins; false if there is none.
bool spirv_member_offset(const uint32_t *words, size_t count, const char *name, uint32_t member, uint32_t *offset);
// How many bytes apart the elements of the array are that the struct named `name` begins with; false if there is none.
bool spirv_array_stride(const uint32_t *words, size_t count, const char *name, uint32_t *stride);

#endif
