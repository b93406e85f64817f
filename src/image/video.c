// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // pipe2: no other thread's child may inherit the pipe, or ffmpeg would wait for its end
#include "image/video.h"

#include "base/error.h"
#include "image/decoders.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// ---- Processes -------------------------------------------------------------------------------------------------

// Starts ffmpeg with these as its standard streams. Returns 0 or an errno.
static int start_ffmpeg(char *const arguments[], int input, int output, int errors, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    // A group of its own: an interrupt from the terminal is for this program, which then closes the pipe.
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int streams[3] = {input, output, errors};
    for (int i = 0; i < 3 && error == 0; i++) {
        error = streams[i] >= 0
                    ? posix_spawn_file_actions_adddup2(&actions, streams[i], i)
                    : posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i == 0 ? O_RDONLY : O_WRONLY, 0);
    }
    if (error == 0) {
        error = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// The exit status, or -1 if the system does not tell.
static int wait_for(pid_t process)
{
    int status;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

// Writes everything, or returns an errno. A pipe without a reader raises SIGPIPE, which would end the program: it is
// blocked in this thread for the while and taken out again, so that nobody else's handling of it changes.
static int write_to_pipe(int pipe_end, const uint8_t *bytes, size_t count)
{
    sigset_t broken_pipe, before, pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    int error = 0;
    while (count > 0 && error == 0) {
        const ssize_t written = write(pipe_end, bytes, count);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (written < 0 && errno != EINTR) {
            error = errno;
        }
    }
    if (error == EPIPE && !was_pending) {
        const struct timespec now = {0};
        while (sigtimedwait(&broken_pipe, NULL, &now) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

// ---- What ffmpeg can do ----------------------------------------------------------------------------------------

typedef struct Format {
    const char *extension, *muxer;
    const char *encoders[2]; // the best first
} Format;

static const Format formats[] = {
    {".mp4", "mp4", {"libx264", "mpeg4"}},
    {".webm", "webm", {"libvpx-vp9", NULL}},
};

static const Format *format_of(const char *path)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const size_t suffix = strlen(formats[i].extension);
        if (length > suffix && strcmp(path + length - suffix, formats[i].extension) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

static FILE *open_scratch(void)
{
    FILE *file = tmpfile();
    if (file != NULL) {
        fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    }
    return file;
}

// The file's text from its start, to free(); NULL without memory.
static char *text_of(FILE *file)
{
    enum { LIMIT = 1 << 20 }; // a list of encoders has about 20 kB
    char *text = malloc(LIMIT + 1);
    if (text != NULL) {
        rewind(file);
        text[fread(text, 1, LIMIT, file)] = '\0';
    }
    return text;
}

static MoteResult fail_to_start(const char *path, int error)
{
    if (error == ENOENT || error == EACCES) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "%s: a film needs the program ffmpeg, which is not on the PATH; install the package ffmpeg, "
                         "or write a sequence of PNG images to a folder",
                         path);
    }
    return mote_fail(MOTE_ERROR_UNAVAILABLE, "%s: cannot start ffmpeg: %s", path, strerror(error));
}

// The list of ffmpeg's encoders, to free().
static MoteResult list_encoders(const char *path, char **list)
{
    *list = NULL;
    FILE *output = open_scratch();
    if (output == NULL) {
        return mote_fail(MOTE_ERROR_IO, "%s: cannot make a temporary file: %s", path, strerror(errno));
    }
    char *arguments[] = {"ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-encoders", NULL};
    pid_t process;
    const int error = start_ffmpeg(arguments, -1, fileno(output), fileno(output), &process);
    if (error != 0) {
        fclose(output);
        return fail_to_start(path, error);
    }
    const int status = wait_for(process);
    *list = text_of(output);
    fclose(output);
    if (*list == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to ask ffmpeg for its encoders", path);
    }
    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        const MoteResult result =
            mote_fail(MOTE_ERROR_UNAVAILABLE,
                      "%s: ffmpeg does not work (\"ffmpeg -encoders\" fails: %.500s); reinstall the package ffmpeg, or "
                      "write a sequence of PNG images to a folder",
                      path, *list);
        free(*list);
        *list = NULL;
        return result;
    }
    return MOTE_OK;
}

// Lines of the list look like " V....D libx264   description".
static bool has_encoder(const char *list, const char *name)
{
    char word[32];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

static MoteResult choose_encoder(const char *path, const Format **format, const char **encoder)
{
    *encoder = NULL;
    *format = format_of(path);
    if (*format == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: a film's name must end in .mp4 or .webm", path);
    }
    char *list;
    const MoteResult result = list_encoders(path, &list);
    if (result != MOTE_OK) {
        return result;
    }
    for (int i = 0; i < 2 && *encoder == NULL; i++) {
        const char *candidate = (*format)->encoders[i];
        if (candidate != NULL && has_encoder(list, candidate)) {
            *encoder = candidate;
        }
    }
    free(list);
    if (*encoder == NULL) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "%s: this ffmpeg lacks the encoder %s; install a complete package ffmpeg, choose %s, or write "
                         "a sequence of PNG images to a folder",
                         path, (*format)->encoders[0], strcmp((*format)->muxer, "mp4") == 0 ? ".webm" : ".mp4");
    }
    return MOTE_OK;
}

MoteResult video_available(const char *path)
{
    const Format *format;
    const char *encoder;
    return choose_encoder(path, &format, &encoder);
}

// ---- The writer ------------------------------------------------------------------------------------------------

enum { ARGUMENT_LIMIT = 64, TEXT_LIMIT = 32 };

typedef struct Arguments {
    const char *list[ARGUMENT_LIMIT];
    int count;
    char size[TEXT_LIMIT], rate[TEXT_LIMIT], quality[TEXT_LIMIT];
    char *output; // "file:" and the name, so that no name is taken for an option or a protocol
} Arguments;

static void add(Arguments *arguments, const char *first, const char *second)
{
    MOTE_ASSERT(arguments->count + 2 < ARGUMENT_LIMIT);
    arguments->list[arguments->count++] = first;
    if (second != NULL) {
        arguments->list[arguments->count++] = second;
    }
}

static void add_encoder(Arguments *arguments, const char *encoder, int quality)
{
    add(arguments, "-c:v", encoder);
    if (strcmp(encoder, "mpeg4") == 0) { // its scale goes from 1 to 31; 18 becomes 4
        const int scale = 1 + (quality != 0 ? quality : 18) / 6;
        snprintf(arguments->quality, TEXT_LIMIT, "%d", scale > 2 ? scale : 2);
        add(arguments, "-q:v", arguments->quality);
        return;
    }
    const bool vp9 = strcmp(encoder, "libvpx-vp9") == 0;
    snprintf(arguments->quality, TEXT_LIMIT, "%d", quality != 0 ? quality : vp9 ? 30 : 18);
    add(arguments, "-crf", arguments->quality);
    if (vp9) {
        add(arguments, "-b:v", "0"); // only then is the quality constant
        add(arguments, "-deadline", "good");
        add(arguments, "-cpu-used", "2");
        add(arguments, "-row-mt", "0");
    } else {
        add(arguments, "-preset", "medium");
    }
}

// Whole rates and those of American television exactly, others as decimals.
static void print_rate(char text[TEXT_LIMIT], double rate)
{
    const double television = rate * 1001.0;
    if (fabs(rate - round(rate)) > 1e-6 && fabs(television - 1000.0 * round(television / 1000.0)) < 1e-2) {
        snprintf(text, TEXT_LIMIT, "%.0f/1001", 1000.0 * round(television / 1000.0));
    } else {
        snprintf(text, TEXT_LIMIT, "%.9g", rate);
    }
}

static bool make_arguments(Arguments *arguments, const VideoWriter *writer, const Format *format, const char *encoder)
{
    *arguments = (Arguments){0};
    const VideoSettings *settings = &writer->settings;
    const size_t output_size = strlen(writer->file.temporary_path) + 8;
    arguments->output = malloc(output_size);
    if (arguments->output == NULL) {
        return false;
    }
    snprintf(arguments->output, output_size, "file:%s", writer->file.temporary_path);
    snprintf(arguments->size, TEXT_LIMIT, "%ux%u", settings->width + settings->width % 2,
             settings->height + settings->height % 2);
    print_rate(arguments->rate, settings->frames_per_second);
    add(arguments, "ffmpeg", "-hide_banner");
    add(arguments, "-nostdin", "-y");
    add(arguments, "-xerror", NULL); // without it ffmpeg can end with exit code 0 on a full disk
    add(arguments, "-loglevel", "error");
    add(arguments, "-f", "rawvideo");
    add(arguments, "-pixel_format", settings->channels == 4 ? "rgba" : "rgb24");
    add(arguments, "-video_size", arguments->size);
    add(arguments, "-framerate", arguments->rate);
    add(arguments, "-i", "pipe:0");
    // ffmpeg would convert with the matrix of standard definition, and players take it for that of high definition:
    // say which it is in the conversion and in the file.
    add(arguments, "-vf",
        "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int+bitexact,format=yuv420p");
    add(arguments, "-colorspace", "bt709");
    add(arguments, "-color_primaries", "bt709");
    add(arguments, "-color_trc", "iec61966-2-1");
    add(arguments, "-color_range", "tv");
    add_encoder(arguments, encoder, settings->quality);
    // One thread and no dates or versions: equal frames give equal files.
    add(arguments, "-threads", "1");
    add(arguments, "-fflags", "+bitexact");
    add(arguments, "-flags:v", "+bitexact");
    add(arguments, "-map_metadata", "-1");
    if (strcmp(format->muxer, "mp4") == 0) {
        add(arguments, "-movflags", "+faststart");
    }
    add(arguments, "-f", format->muxer);
    add(arguments, arguments->output, NULL);
    arguments->list[arguments->count] = NULL;
    return true;
}

static MoteResult start(VideoWriter *writer, const char *path, const Format *format, const char *encoder)
{
    writer->log = open_scratch();
    if (writer->log == NULL) {
        return mote_fail(MOTE_ERROR_IO, "%s: cannot make a temporary file: %s", path, strerror(errno));
    }
    Arguments arguments;
    if (!make_arguments(&arguments, writer, format, encoder)) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to make a film", path);
    }
    int ends[2];
    MoteResult result = MOTE_OK;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        result = mote_fail(MOTE_ERROR_IO, "%s: cannot make a pipe to ffmpeg: %s", path, strerror(errno));
    } else {
        pid_t process;
        const int error = start_ffmpeg((char *const *)arguments.list, ends[0], -1, fileno(writer->log), &process);
        close(ends[0]);
        if (error == 0) {
            writer->process = process;
            writer->pipe = ends[1];
        } else {
            close(ends[1]);
            result = fail_to_start(path, error);
        }
    }
    free(arguments.output);
    return result;
}

MoteResult video_writer_open(VideoWriter *writer, const char *path, const VideoSettings *settings)
{
    *writer = (VideoWriter){.settings = *settings};
    MOTE_ASSERT(settings->channels == 3 || settings->channels == 4);
    MOTE_ASSERT(settings->quality >= 0 && settings->quality <= 51);
    MOTE_ASSERT(settings->frames_per_second >= 0.0);
    if (settings->frames_per_second == 0.0) {
        writer->settings.frames_per_second = 30.0;
    }
    const Format *format;
    const char *encoder;
    MoteResult result = check_image_size(path, settings->width, settings->height);
    if (result == MOTE_OK) {
        result = choose_encoder(path, &format, &encoder);
    }
    if (result == MOTE_OK) {
        result = file_writer_open_regular(&writer->file, path); // ffmpeg writes it by its temporary name
    }
    if (result == MOTE_OK) {
        writer->frame_bytes = (size_t)(settings->width + settings->width % 2) *
                              (settings->height + settings->height % 2) * settings->channels;
        writer->frame = malloc(writer->frame_bytes);
        result = writer->frame != NULL ? start(writer, path, format, encoder)
                                       : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to make a film", path);
    }
    if (result != MOTE_OK) {
        video_writer_discard(writer);
    }
    return result;
}

// Copies the frame without gaps; an odd last column and row are doubled.
static void pack_frame(VideoWriter *writer, const uint8_t *pixels, size_t row_bytes)
{
    const VideoSettings *settings = &writer->settings;
    const size_t used = (size_t)settings->width * settings->channels;
    const size_t packed_row = used + settings->width % 2 * settings->channels;
    const uint32_t rows = settings->height + settings->height % 2;
    for (uint32_t y = 0; y < rows; y++) {
        const uint8_t *from = pixels + (y < settings->height ? y : y - 1) * row_bytes;
        uint8_t *to = writer->frame + y * packed_row;
        memcpy(to, from, used);
        memcpy(to + used, from + used - settings->channels, packed_row - used);
    }
}

// ffmpeg has ended, by itself or because its input did. Its own words, on one line, are the reason.
static MoteResult fail_as_ffmpeg(VideoWriter *writer, int status)
{
    char how[64] = "for an unknown reason";
    if (status != -1 && WIFSIGNALED(status)) {
        snprintf(how, sizeof how, "by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (status != -1) {
        snprintf(how, sizeof how, "with exit code %d", WEXITSTATUS(status));
    }
    char *text = text_of(writer->log);
    size_t length = text != NULL ? strlen(text) : 0;
    while (length > 0 && text[length - 1] == '\n') {
        text[--length] = '\0';
    }
    for (size_t i = 0; i < length; i++) {
        text[i] = text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
    }
    const MoteResult result =
        mote_fail(MOTE_ERROR_IO, "%s: ffmpeg ended %s after %llu frames: %.1500s", writer->file.path, how,
                  (unsigned long long)writer->frame_count, length > 0 ? text : "it gave no reason");
    free(text);
    return result;
}

MoteResult video_writer_add(VideoWriter *writer, const uint8_t *pixels, size_t row_bytes)
{
    MOTE_ASSERT(writer->process != 0);
    const size_t tight = (size_t)writer->settings.width * writer->settings.channels;
    MOTE_ASSERT(row_bytes == 0 || row_bytes >= tight);
    pack_frame(writer, pixels, row_bytes != 0 ? row_bytes : tight);
    const int error = write_to_pipe(writer->pipe, writer->frame, writer->frame_bytes);
    if (error == 0) {
        writer->frame_count++;
        return MOTE_OK;
    }
    MoteResult result;
    if (error == EPIPE) {
        const int status = wait_for(writer->process);
        close(writer->pipe);
        writer->process = 0;
        result = fail_as_ffmpeg(writer, status);
    } else {
        result = mote_fail(MOTE_ERROR_IO, "%s: cannot write to ffmpeg: %s", writer->file.path, strerror(error));
    }
    video_writer_discard(writer);
    return result;
}

MoteResult video_writer_commit(VideoWriter *writer)
{
    MOTE_ASSERT(writer->process != 0);
    MoteResult result;
    if (writer->frame_count == 0) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: a film needs at least one frame", writer->file.path);
    } else {
        close(writer->pipe); // the end of the film
        const int status = wait_for(writer->process);
        writer->process = 0;
        // At this level of its log every line is an error: a film with any is not complete, whatever the exit code.
        const bool silent = fseek(writer->log, 0, SEEK_END) == 0 && ftell(writer->log) == 0;
        if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && silent) {
            result = file_writer_commit(&writer->file);
        } else {
            result = fail_as_ffmpeg(writer, status);
        }
    }
    video_writer_discard(writer);
    return result;
}

void video_writer_discard(VideoWriter *writer)
{
    if (writer->process != 0) {
        close(writer->pipe);
        kill(writer->process, SIGKILL);
        (void)wait_for(writer->process);
    }
    if (writer->log != NULL) {
        fclose(writer->log);
    }
    if (writer->file.path != NULL) {
        file_writer_discard(&writer->file);
    }
    free(writer->frame);
    *writer = (VideoWriter){0};
}
