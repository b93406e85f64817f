// SPDX-License-Identifier: MIT
// save.h - a scene file written anew with values changed.
#ifndef MOTE_SCENE_SAVE_H
#define MOTE_SCENE_SAVE_H

#include "mote.h"

// Reads the file at `path`, applies the overrides ("solver.iterations=10") and writes the result to `target`, which may
// be the same file. Only the values are kept, and the order of keys: comments JSON has none. Paths inside stay as they
// are, so the target belongs into the same folder where the scene names files.
MoteResult scene_save(const char *path, const char *const *overrides, uint32_t count, const char *target);

#endif
