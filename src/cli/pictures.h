// SPDX-License-Identifier: MIT
// pictures.h - where drawn frames go: a folder of numbered pictures, a single picture, or a film.
#ifndef MOTE_CLI_PICTURES_H
#define MOTE_CLI_PICTURES_H

#include "image/video.h"
#include "mote_render.h"

typedef enum PictureTarget {
    PICTURES_IN_FOLDER, // FOLDER/frame_000123.png
    PICTURE_IN_FILE,    // FILE.png or FILE.exr
    PICTURES_IN_FILM,   // FILE.mp4 or FILE.webm
} PictureTarget;

#define PICTURE_FORMATS "png|png16|exr" // in the order of PictureFormat
typedef enum PictureFormat {
    PICTURE_PNG,   // 8 bit RGB
    PICTURE_PNG16, // 16 bit RGB
    PICTURE_EXR,   // linear colour and the layers, for compositing and measuring
} PictureFormat;

typedef struct PictureWriter {
    PictureTarget target;
    PictureFormat format;
    const char *path; // as given: of the folder or the file
    uint32_t width, height;
    VideoWriter film;
    void *pixels;                  // of one frame, as the renderer gives them
    uint64_t written, first, last; // how many frames, and the numbers of the first and the last
} PictureWriter;

// Finds out from the name and the format (NULL if none was given) what is to be written. Returns STATUS_FINE, or
// STATUS_USAGE after a message. `path` must outlive the writer.
int pictures_choose(PictureWriter *writer, const char *command, const char *path, const char *format);

// Fails if a film is wanted and cannot be made here; cheap, and before anything else.
MoteResult pictures_check(const PictureWriter *writer);

// Makes the folder, starts the film: fails now rather than after hours of work.
MoteResult pictures_open(PictureWriter *writer, uint32_t width, uint32_t height, double frames_per_second);

// The file that a frame goes to, from malloc: NULL after a failure. For a film, the film.
char *pictures_path(const PictureWriter *writer, uint64_t frame);
// Whether that file is there.
bool pictures_has(const PictureWriter *writer, uint64_t frame);

// Writes what the renderer has just drawn. Of EXR pictures it must have kept the layers.
MoteResult pictures_write(PictureWriter *writer, MoteRenderer *renderer, uint64_t frame, const char *view);

// Gives a film its name, if there is a frame in it, and frees what is left. A writer that was never opened may be
// closed; twice, too.
MoteResult pictures_close(PictureWriter *writer);

#endif
