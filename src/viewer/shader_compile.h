// SPDX-License-Identifier: MIT
// shader_compile.h - live reload of the renderer's shaders: finds changed files and compiles them to SPIR-V with the
// program glslangValidator, which must be on the PATH.
#ifndef MOTE_VIEWER_SHADER_COMPILE_H
#define MOTE_VIEWER_SHADER_COMPILE_H

#include "mote.h"
#include <time.h>

enum { SHADER_FILES = 128, SHADER_NAME = 64 };

typedef struct ShaderWatch {
    const char *folder; // Mote's own shaders, with render/ in it; NULL: nothing is watched
    struct {
        char name[SHADER_NAME];
        time_t seconds;
        long nanoseconds;
    } files[SHADER_FILES];
    uint32_t count;
    bool filled;
} ShaderWatch;

// The names of shaders whose file is not what it was at the last call, or all where an included file is another.
// Returns how many; at the first call none.
uint32_t shader_watch_changes(ShaderWatch *watch, char changed[SHADER_FILES][SHADER_NAME]);

// SPIR-V of FOLDER/render/NAME; free() the words. An error has the compiler's own lines, with file and line.
MoteResult shader_compile(const char *folder, const char *name, uint32_t **words, size_t *bytes);

#endif
