// SPDX-License-Identifier: MIT
// shaders.h - the solver's kernels and primitives as SPIR-V, which the build embeds (src/vulkan/embed.cmake).
#ifndef MOTE_VULKAN_SHADERS_H
#define MOTE_VULKAN_SHADERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct SolverShader {
    const char *name; // of the kernel or the file, as in "sort_count"
    const uint32_t *words;
    size_t count;
} SolverShader;

extern const SolverShader solver_shaders[];
extern const size_t solver_shader_count;

#endif
