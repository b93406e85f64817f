// SPDX-License-Identifier: MIT
// shaders.h - the compiled shaders of shaders/render, which the build embeds.
#ifndef MOTE_RENDER_SHADERS_H
#define MOTE_RENDER_SHADERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ShaderCode {
    const char *name; // of the file, as in "splat.comp"
    const uint32_t *words;
    size_t bytes;
} ShaderCode;

const ShaderCode *shader_find(const char *name); // NULL if there is none

#endif
