// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "cli/pictures.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/frames.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "image/picture_file.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- What is wanted ----

// The name's ending from its last dot on, or "".
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot != NULL ? dot : "";
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

// A folder may have any name, but whoever writes film.mov does not mean one.
static const char *const other_files[] = {".mov", ".avi", ".mkv",  ".gif", ".jpg", ".jpeg",
                                          ".tif", ".bmp", ".tiff", ".hdr", ".ppm", ".webp"};
static const char *const known_files[] = {".mp4", ".webm", ".png", ".exr"};

int pictures_choose(PictureWriter *writer, const char *command, const char *path, const char *format)
{
    *writer = (PictureWriter){.target = PICTURES_IN_FOLDER, .path = path};
    if (format != NULL) {
        writer->format = strcmp(format, "exr") == 0     ? PICTURE_EXR
                         : strcmp(format, "png16") == 0 ? PICTURE_PNG16
                                                        : PICTURE_PNG;
    }
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return STATUS_FINE; // whatever it is called
    }
    const char *extension = extension_of(path);
    const bool known = is_one_of(extension, known_files, sizeof known_files / sizeof known_files[0]);
    bool lower_case = true;
    for (const char *c = extension; *c != '\0'; c++) {
        lower_case = lower_case && !(*c >= 'A' && *c <= 'Z');
    }
    if ((known && !lower_case) || is_one_of(extension, other_files, sizeof other_files / sizeof other_files[0])) {
        return usage_error(command,
                           "--out: found '%s', expected a folder, or a file that ends in .mp4, .webm, .png or "
                           ".exr",
                           path);
    }
    if (!known) {
        return STATUS_FINE;
    }
    const bool film = strcmp(extension, ".mp4") == 0 || strcmp(extension, ".webm") == 0;
    const bool exr = strcmp(extension, ".exr") == 0;
    if (format != NULL && (film || exr != (writer->format == PICTURE_EXR))) {
        return usage_error(command, "--format %s does not fit --out %s", format, path);
    }
    writer->target = film ? PICTURES_IN_FILM : PICTURE_IN_FILE;
    writer->format = exr ? PICTURE_EXR : writer->format;
    return STATUS_FINE;
}

// ---- Opening and closing ----

MoteResult pictures_check(const PictureWriter *writer)
{
    return writer->target == PICTURES_IN_FILM ? video_available(writer->path) : MOTE_OK;
}

static MoteResult open_target(PictureWriter *writer, double frames_per_second)
{
    if (writer->target == PICTURES_IN_FOLDER) {
        MoteResult result = file_make_folder(writer->path);
        char *first = result == MOTE_OK ? frame_path(writer->path, 0, "") : NULL;
        if (first != NULL) {
            result = file_check_writable(first, true);
        } else if (result == MOTE_OK) {
            result = MOTE_ERROR_MEMORY;
        }
        free(first);
        return result;
    }
    MoteResult result = make_folder_of(writer->path);
    if (result != MOTE_OK) {
        return result;
    }
    if (writer->target == PICTURE_IN_FILE) {
        return file_check_writable(writer->path, writer->format == PICTURE_EXR);
    }
    const VideoSettings settings = {
        .width = writer->width, .height = writer->height, .channels = 4, .frames_per_second = frames_per_second};
    return video_writer_open(&writer->film, writer->path, &settings);
}

MoteResult pictures_open(PictureWriter *writer, uint32_t width, uint32_t height, double frames_per_second)
{
    writer->width = width;
    writer->height = height;
    const size_t pixel_bytes = writer->format == PICTURE_EXR ? PICTURE_EXR_BYTES : PICTURE_PNG_BYTES;
    writer->pixels = malloc((size_t)width * height * pixel_bytes);
    const MoteResult result =
        writer->pixels != NULL
            ? open_target(writer, frames_per_second)
            : mote_fail(MOTE_ERROR_MEMORY, "no memory for a picture of %u x %u pixels", width, height);
    if (result != MOTE_OK) {
        free(writer->pixels);
        writer->pixels = NULL;
    }
    return result;
}

MoteResult pictures_close(PictureWriter *writer)
{
    MoteResult result = MOTE_OK;
    free(writer->pixels);
    writer->pixels = NULL;
    if (writer->film.process != 0 && writer->written > 0) {
        result = video_writer_commit(&writer->film);
    } else if (writer->film.process != 0) {
        video_writer_discard(&writer->film);
    }
    return result;
}

// ---- Frames ----

char *pictures_path(const PictureWriter *writer, uint64_t frame)
{
    if (writer->target == PICTURES_IN_FOLDER) {
        return frame_path(writer->path, frame, writer->format == PICTURE_EXR ? ".exr" : ".png");
    }
    char *path = strdup(writer->path);
    if (path == NULL) {
        mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its name", writer->path);
    }
    return path;
}

bool pictures_has(const PictureWriter *writer, uint64_t frame)
{
    char *path = pictures_path(writer, frame);
    const bool found = path != NULL && access(path, F_OK) == 0;
    free(path);
    return found;
}

static MoteResult add_to_film(PictureWriter *writer, MoteRenderer *renderer)
{
    const MoteResult result = mote_renderer_read_rgba8(renderer, writer->pixels);
    return result == MOTE_OK ? video_writer_add(&writer->film, writer->pixels, 0) : result;
}

MoteResult pictures_write(PictureWriter *writer, MoteRenderer *renderer, uint64_t frame, const char *view)
{
    MoteResult result;
    if (writer->target == PICTURES_IN_FILM) {
        result = add_to_film(writer, renderer);
    } else {
        char *path = pictures_path(writer, frame);
        if (path == NULL) {
            return MOTE_ERROR_MEMORY;
        }
        result = writer->format == PICTURE_EXR
                     ? picture_write_exr(renderer, path, writer->width, writer->height, frame, view, writer->pixels)
                     : picture_write_png(renderer, path, writer->width, writer->height, writer->format == PICTURE_PNG16,
                                         writer->pixels);
        free(path);
    }
    if (result == MOTE_OK) {
        writer->first = writer->written == 0 ? frame : writer->first;
        writer->last = frame;
        writer->written++;
    }
    return result;
}
