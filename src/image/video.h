// SPDX-License-Identifier: MIT
// video.h - films: raw frames piped to the ffmpeg program, which must be on the PATH.
//
// The same frames give the same bytes with the same ffmpeg. The film appears under its name when it is complete.
#ifndef MOTE_IMAGE_VIDEO_H
#define MOTE_IMAGE_VIDEO_H

#include "base/file.h"
#include "mote.h"
#include <sys/types.h>

typedef struct VideoSettings {
    uint32_t width, height;   // odd sizes grow by one pixel, a copy of the last: the chroma planes have half the size
    uint32_t channels;        // of a frame's pixels: 3 RGB, 4 RGBA (alpha is not in the film)
    double frames_per_second; // 0: 30
    int quality;              // constant rate factor, 1 (best) to 51; 0: 18 for MP4, 30 for WebM
} VideoSettings;

typedef struct VideoWriter {
    FileWriter file; // its temporary name is ffmpeg's output
    pid_t process;   // 0: not open
    int pipe;        // ffmpeg's standard input
    FILE *log;       // ffmpeg's standard error, a file without a name
    VideoSettings settings;
    uint8_t *frame;
    size_t frame_bytes;
    uint64_t frame_count;
} VideoWriter;

// Whether a film can be made under this name: call it before drawing anything. `path` must end in .mp4 (H.264, or
// MPEG-4 part 2 where ffmpeg has no libx264) or .webm (VP9). Says what to install if not.
MoteResult video_available(const char *path);

MoteResult video_writer_open(VideoWriter *writer, const char *path, const VideoSettings *settings);

// 8 bit sRGB pixels, row 0 on top; `row_bytes` 0: rows without gaps. After a failure the writer is discarded.
MoteResult video_writer_add(VideoWriter *writer, const uint8_t *pixels, size_t row_bytes);

// Commit waits for ffmpeg and gives the film its name; discard leaves nothing. After either the struct is empty.
MoteResult video_writer_commit(VideoWriter *writer);
void video_writer_discard(VideoWriter *writer);

#endif
