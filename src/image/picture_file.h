// SPDX-License-Identifier: MIT
// picture_file.h - what a renderer has just drawn as a file.
#ifndef MOTE_IMAGE_PICTURE_FILE_H
#define MOTE_IMAGE_PICTURE_FILE_H

#include "mote_render.h"

enum { PICTURE_EXR_CHANNELS = 16 };                                           // of all layers, four bytes each
enum { PICTURE_PNG_BYTES = 8, PICTURE_EXR_BYTES = 4 * PICTURE_EXR_CHANNELS }; // of scratch memory a pixel

// 8 bit RGB, or 16 bit if `deep`. `scratch` holds PICTURE_PNG_BYTES a pixel.
MoteResult picture_write_png(MoteRenderer *renderer, const char *path, uint32_t width, uint32_t height, bool deep,
                             void *scratch);
// Linear colour and the layers, which the renderer must have kept. `frame` and `view` (NULL is the first) are noted in
// the file. `scratch` holds PICTURE_EXR_BYTES a pixel.
MoteResult picture_write_exr(MoteRenderer *renderer, const char *path, uint32_t width, uint32_t height, uint64_t frame,
                             const char *view, void *scratch);

// By the file's ending: .exr as above, anything else an 8 bit PNG.
bool picture_file_is_exr(const char *path);
MoteResult picture_file_write(MoteRenderer *renderer, const char *path, uint32_t width, uint32_t height, uint64_t frame,
                              const char *view);

#endif
