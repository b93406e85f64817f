// SPDX-License-Identifier: MIT
// Films: made by the ffmpeg on the PATH where there is one, and by small programs in its place for what goes wrong.
#define _GNU_SOURCE
#include "image_fixture.h"

#include "image/video.h"
#include <fcntl.h>
#include <sys/wait.h>

static char original_path[4096];

static bool ffmpeg_is_there(void)
{
    return system("ffmpeg -version >/dev/null 2>&1") == 0;
}

#define NEED_FFMPEG()                                                                                                  \
    do {                                                                                                               \
        if (!ffmpeg_is_there()) {                                                                                      \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)

// A shell script takes the place of ffmpeg; $ffmpeg is the true one, where there is one.
static void replace_ffmpeg(const char *script)
{
    FILE *stream = fopen(fixture_path("ffmpeg"), "w");
    assert_non_null(stream);
    fprintf(stream, "#!/bin/sh\nffmpeg=$(PATH='%s' command -v ffmpeg)\n%s\n", original_path, script);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(chmod(fixture_path("ffmpeg"), 0700), 0);
    char path[8192];
    snprintf(path, sizeof path, "%s:%s", fixture_folder, original_path);
    setenv("PATH", path, 1);
}

static int restore_ffmpeg(void **state)
{
    (void)state;
    setenv("PATH", original_path, 1);
    fixture_files("", true);
    return 0;
}

// Frame `index`: a flat colour with a square that moves.
static void draw(uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels, uint32_t index)
{
    static const uint8_t background[4] = {200, 60, 30, 255}, square[4] = {20, 90, 220, 255};
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const bool inside = x >= 10 + index && x < 26 + index && y >= 8 && y < 24;
            memcpy(pixels + (y * width + x) * channels, inside ? square : background, channels);
        }
    }
}

static MoteResult add_frames(VideoWriter *writer, uint32_t frames)
{
    const VideoSettings settings = writer->settings; // a failure empties the writer
    MoteResult result = MOTE_OK;
    uint8_t *pixels = malloc((size_t)settings.width * settings.height * settings.channels);
    assert_non_null(pixels);
    for (uint32_t i = 0; i < frames && result == MOTE_OK; i++) {
        draw(pixels, settings.width, settings.height, settings.channels, i);
        result = video_writer_add(writer, pixels, 0);
    }
    free(pixels);
    return result == MOTE_OK ? video_writer_commit(writer) : result;
}

static MoteResult make_film(const char *path, const VideoSettings *settings, uint32_t frames)
{
    VideoWriter writer;
    const MoteResult result = video_writer_open(&writer, path, settings);
    return result == MOTE_OK ? add_frames(&writer, frames) : result;
}

// What a command prints.
static void output_of(const char *command, char *text, size_t capacity)
{
    FILE *stream = popen(command, "r");
    assert_non_null(stream);
    text[fread(text, 1, capacity - 1, stream)] = '\0';
    assert_int_equal(pclose(stream), 0);
}

// By ffprobe: "codec,width,height,pixel format,rate,frames", and a few tags.
static void expect_film(const char *path, const char *codec, uint32_t width, uint32_t height, const char *rate,
                        uint32_t frames)
{
    if (system("ffprobe -version >/dev/null 2>&1") != 0) {
        return;
    }
    char command[1024], found[512], expected[512];
    snprintf(command, sizeof command,
             "ffprobe -v error -count_frames -select_streams v -show_entries "
             "stream=codec_name,width,height,pix_fmt,color_space,r_frame_rate,nb_read_frames -of csv=p=0 'file:%s'",
             path);
    output_of(command, found, sizeof found);
    // MPEG-4's own stream has no colour space in ffmpeg 7 and newer, nor does its ffprobe read the container's.
    const char *space = strcmp(codec, "mpeg4") == 0 && strstr(found, ",unknown,") != NULL ? "unknown" : "bt709";
    snprintf(expected, sizeof expected, "%s,%u,%u,yuv420p,%s,%s,%u\n", codec, width, height, space, rate, frames);
    assert_string_equal(found, expected);
}

// The colour of a pixel in a film's frame, decoded by ffmpeg.
static void expect_colour(const char *path, uint32_t width, uint32_t height, uint32_t frame, uint32_t x, uint32_t y,
                          int r, int g, int b, int tolerance)
{
    char command[1024];
    snprintf(command, sizeof command,
             "ffmpeg -v error -i 'file:%s' -vf scale=in_color_matrix=bt709:flags=accurate_rnd+full_chroma_int -f "
             "rawvideo -pix_fmt rgb24 -",
             path);
    FILE *stream = popen(command, "r");
    assert_non_null(stream);
    const size_t frame_bytes = (size_t)width * height * 3;
    uint8_t *pixels = malloc(frame_bytes);
    assert_non_null(pixels);
    for (uint32_t i = 0; i <= frame; i++) {
        assert_int_equal(fread(pixels, 1, frame_bytes, stream), frame_bytes);
    }
    const uint8_t *pixel = pixels + 3 * ((size_t)y * width + x);
    if (abs(pixel[0] - r) > tolerance || abs(pixel[1] - g) > tolerance || abs(pixel[2] - b) > tolerance) {
        fail_msg("frame %u at %u, %u is %d %d %d, expected %d %d %d", frame, x, y, pixel[0], pixel[1], pixel[2], r, g,
                 b);
    }
    free(pixels);
    while (fgetc(stream) != EOF) { // else ffmpeg complains of a broken pipe
    }
    pclose(stream);
}

static const char *mp4_codec(void)
{
    return system("ffmpeg -v error -encoders | grep -q ' libx264 '") == 0 ? "h264" : "mpeg4";
}

// ---- With ffmpeg ----

static void films_hold_what_was_drawn(void **state)
{
    (void)state;
    NEED_FFMPEG();
    const struct {
        const char *name, *codec;
        uint32_t channels;
    } films[] = {{"a.mp4", mp4_codec(), 4}, {"b.mp4", mp4_codec(), 3}, {"a.webm", "vp9", 4}};
    for (int i = 0; i < 3; i++) {
        const char *path = fixture_path(films[i].name);
        const VideoSettings settings = {.width = 96, .height = 64, .channels = films[i].channels};
        expect_ok(make_film(path, &settings, 12));
        expect_film(path, films[i].codec, 96, 64, "30/1", 12);
        expect_colour(path, 96, 64, 0, 70, 50, 200, 60, 30, 6);
        expect_colour(path, 96, 64, 11, 29, 16, 20, 90, 220, 6);
        expect_colour(path, 96, 64, 11, 14, 16, 200, 60, 30, 8); // the square has moved on
    }
    assert_int_equal(fixture_files("", false), 3);
}

static void any_name_will_do(void **state)
{
    (void)state;
    NEED_FFMPEG();
    // What a shell or ffmpeg might take for something else: options, protocols, patterns.
    static const char *const names[] = {"a b;it's.mp4", "http:x.mp4", "-y.mp4", "%03d.mp4", "$HOME.mp4"};
    const VideoSettings settings = {.width = 16, .height = 16, .channels = 3};
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture_folder), 0);
    for (int i = 0; i < 5; i++) {
        expect_ok(make_film(names[i], &settings, 2)); // in the folder itself: nothing comes before the name
        assert_int_equal(fixture_files(names[i], false), 1);
    }
    assert_int_equal(chdir(before), 0);
    assert_int_equal(fixture_files("", false), 5);
}

static void odd_sizes_grow_by_one_pixel(void **state)
{
    (void)state;
    NEED_FFMPEG();
    static const uint32_t sizes[][2] = {{95, 63}, {96, 63}, {95, 64}, {1, 1}};
    for (int i = 0; i < 4; i++) {
        const uint32_t width = sizes[i][0], height = sizes[i][1];
        const VideoSettings settings = {.width = width, .height = height, .channels = 3, .frames_per_second = 24.0};
        const uint32_t even_width = width + width % 2, even_height = height + height % 2;
        expect_ok(make_film(fixture_path("odd.mp4"), &settings, 3));
        expect_film(fixture_path("odd.mp4"), mp4_codec(), even_width, even_height, "24/1", 3);
        // The new pixels repeat their neighbours: no dark line.
        expect_colour(fixture_path("odd.mp4"), even_width, even_height, 0, even_width - 1, even_height - 1, 200, 60, 30,
                      8);
    }
}

static void rows_may_have_gaps(void **state)
{
    (void)state;
    NEED_FFMPEG();
    const VideoSettings settings = {.width = 33, .height = 20, .channels = 3, .frames_per_second = 30000.0 / 1001.0};
    VideoWriter writer;
    size_t sizes[2];
    char *films[2];
    for (int i = 0; i < 2; i++) {
        const size_t row = 33 * 3 + (i == 0 ? 0 : 13);
        uint8_t *pixels = malloc(row * 20);
        assert_non_null(pixels);
        memset(pixels, 0xaa, row * 20);
        for (uint32_t y = 0; y < 20; y++) {
            for (uint32_t k = 0; k < 33 * 3; k++) {
                pixels[y * row + k] = (uint8_t)(y * 5 + k);
            }
        }
        expect_ok(video_writer_open(&writer, fixture_path("gaps.mp4"), &settings));
        expect_ok(video_writer_add(&writer, pixels, i == 0 ? 0 : row));
        expect_ok(video_writer_commit(&writer));
        expect_film(fixture_path("gaps.mp4"), mp4_codec(), 34, 20, "30000/1001", 1);
        films[i] = fixture_read("gaps.mp4", &sizes[i]);
        free(pixels);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(films[0], films[1], sizes[0]);
    free(films[0]);
    free(films[1]);
}

static void the_same_frames_give_the_same_bytes(void **state)
{
    (void)state;
    NEED_FFMPEG();
    static const char *const names[] = {"same.mp4", "same.webm"};
    for (int i = 0; i < 2; i++) {
        const VideoSettings settings = {.width = 160, .height = 90, .channels = 4};
        size_t sizes[2];
        char *films[2];
        for (int k = 0; k < 2; k++) {
            expect_ok(make_film(fixture_path(names[i]), &settings, 20));
            films[k] = fixture_read(names[i], &sizes[k]);
            usleep(1100000 * (k == 0)); // in another second: no dates are in the file
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(films[0], films[1], sizes[0]);
        free(films[0]);
        free(films[1]);
    }
}

static void quality_changes_the_size(void **state)
{
    (void)state;
    NEED_FFMPEG();
    enum { WIDTH = 160, HEIGHT = 120 };
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        const VideoSettings settings = {.width = WIDTH, .height = HEIGHT, .channels = 3, .quality = i == 0 ? 10 : 40};
        VideoWriter writer;
        static uint8_t pixels[WIDTH * HEIGHT * 3];
        uint32_t seed = 4;
        for (size_t k = 0; k < sizeof pixels; k++) {
            pixels[k] = (uint8_t)fixture_random(&seed);
        }
        expect_ok(video_writer_open(&writer, fixture_path("q.mp4"), &settings));
        expect_ok(video_writer_add(&writer, pixels, 0));
        expect_ok(video_writer_commit(&writer));
        free(fixture_read("q.mp4", &sizes[i]));
    }
    assert_true(sizes[1] * 3 < sizes[0]);
}

static void without_x264_another_encoder_is_used(void **state)
{
    (void)state;
    NEED_FFMPEG();
    replace_ffmpeg("for a in \"$@\"; do test \"$a\" = -encoders && { \"$ffmpeg\" \"$@\" | grep -v 264; exit; }; done\n"
                   "exec \"$ffmpeg\" \"$@\"");
    const VideoSettings settings = {.width = 96, .height = 64, .channels = 3};
    expect_ok(video_available(fixture_path("old.mp4")));
    expect_ok(make_film(fixture_path("old.mp4"), &settings, 5));
    setenv("PATH", original_path, 1);
    expect_film(fixture_path("old.mp4"), "mpeg4", 96, 64, "30/1", 5);
    expect_colour(fixture_path("old.mp4"), 96, 64, 0, 70, 50, 200, 60, 30, 10);
}

// ---- What goes wrong ----

static void without_ffmpeg_the_error_says_what_to_do(void **state)
{
    (void)state;
    setenv("PATH", fixture_folder, 1);
    assert_int_equal(video_available(fixture_path("a.mp4")), MOTE_ERROR_UNAVAILABLE);
    expect_message("a.mp4: a film needs the program ffmpeg");
    expect_message("install the package ffmpeg, or write a sequence of PNG images");
    const VideoSettings settings = {.width = 16, .height = 16, .channels = 3};
    VideoWriter writer;
    assert_int_equal(video_writer_open(&writer, fixture_path("a.mp4"), &settings), MOTE_ERROR_UNAVAILABLE);
    video_writer_discard(&writer); // nothing to do
    assert_int_equal(fixture_files("", false), 0);
}

static void an_ffmpeg_that_is_broken_or_poor_is_told(void **state)
{
    (void)state;
    replace_ffmpeg("echo 'libfoo.so.7: cannot open shared object file' >&2; exit 127");
    assert_int_equal(video_available(fixture_path("a.mp4")), MOTE_ERROR_UNAVAILABLE);
    expect_message("ffmpeg does not work");
    expect_message("libfoo.so.7");
    replace_ffmpeg("echo ' V....D mpeg4   MPEG-4 part 2'");
    expect_ok(video_available(fixture_path("a.mp4")));
    assert_int_equal(video_available(fixture_path("a.webm")), MOTE_ERROR_UNAVAILABLE);
    expect_message("lacks the encoder libvpx-vp9");
    expect_message("choose .mp4");
}

static void other_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a.avi", "a", ".mp4x", "a.mp4.png", ""};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(video_available(fixture_path(names[i])), MOTE_ERROR_INPUT);
        expect_message("must end in .mp4 or .webm");
    }
}

static void unwritable_places_are_found_before_drawing(void **state)
{
    (void)state;
    NEED_FFMPEG();
    const VideoSettings settings = {.width = 16, .height = 16, .channels = 3};
    VideoWriter writer;
    assert_int_equal(video_writer_open(&writer, fixture_path("missing/a.mp4"), &settings), MOTE_ERROR_IO);
    expect_message("missing/a.mp4: cannot write: No such file or directory");
    fixture_lock_folder(true);
    const MoteResult result = video_writer_open(&writer, fixture_path("a.mp4"), &settings);
    fixture_lock_folder(false);
    assert_int_equal(result, MOTE_ERROR_IO);
    expect_message("a.mp4: cannot write: Permission denied");
    const VideoSettings huge = {.width = 100000, .height = 16, .channels = 3};
    assert_int_equal(video_writer_open(&writer, fixture_path("a.mp4"), &huge), MOTE_ERROR_INPUT);
    assert_int_equal(fixture_files("", false), 0);
}

static void a_full_disk_is_told_and_leaves_the_old_film(void **state)
{
    (void)state;
    NEED_FFMPEG();
    const VideoSettings settings = {.width = 96, .height = 64, .channels = 3};
    static const char *const names[] = {"full.mp4", "full.webm"};
    for (int i = 0; i < 2; i++) {
        fixture_write(names[i], "precious", 8);
        VideoWriter writer;
        signal(SIGXFSZ, SIG_IGN); // ffmpeg inherits it
        expect_ok(video_writer_open(&writer, fixture_path(names[i]), &settings));
        const struct rlimit small = {1000, 1000};
        assert_int_equal(prlimit(writer.process, RLIMIT_FSIZE, &small, NULL), 0);
        assert_int_equal(add_frames(&writer, 30), MOTE_ERROR_IO);
        signal(SIGXFSZ, SIG_DFL);
        expect_message(names[i]);
        expect_message("File too large");
        assert_int_equal(fixture_files(".partial", false), 0);
        size_t size;
        char *bytes = fixture_read(names[i], &size);
        assert_int_equal(size, 8);
        assert_memory_equal(bytes, "precious", 8);
        free(bytes);
    }
}

#define LISTS_ENCODERS "case \"$*\" in *-encoders*) echo ' V....D libx264   H.264'; exit 0;; esac\n"

static bool sigpipe_is_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

static volatile sig_atomic_t broken_pipes;

static void count_broken_pipe(int signal_number)
{
    (void)signal_number;
    broken_pipes++;
}

static void an_encoder_that_dies_is_quoted(void **state)
{
    (void)state;
    replace_ffmpeg(LISTS_ENCODERS "head -c 100000 >/dev/null; echo 'the encoder is on fire' >&2; exit 3");
    const VideoSettings settings = {.width = 128, .height = 128, .channels = 3};
    struct sigaction before, counting = {.sa_handler = count_broken_pipe};
    sigemptyset(&counting.sa_mask);
    assert_int_equal(sigaction(SIGPIPE, &counting, &before), 0);
    broken_pipes = 0;
    assert_int_equal(make_film(fixture_path("fire.mp4"), &settings, 100), MOTE_ERROR_IO);
    expect_message("fire.mp4: ffmpeg ended with exit code 3 after ");
    expect_message("the encoder is on fire");
    assert_int_equal(broken_pipes, 0); // the program never saw the signal
    assert_false(sigpipe_is_pending());
    sigset_t mask;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    assert_int_equal(sigismember(&mask, SIGPIPE), 0); // nor is it blocked afterwards
    struct sigaction after;
    assert_int_equal(sigaction(SIGPIPE, &before, &after), 0);
    assert_ptr_equal(after.sa_handler, count_broken_pipe); // nor was the handler changed
    assert_int_equal(fixture_files("", false), 1);         // only the script

    replace_ffmpeg(LISTS_ENCODERS "kill -9 $$");
    assert_int_equal(make_film(fixture_path("fire.mp4"), &settings, 100), MOTE_ERROR_IO);
    expect_message("ffmpeg ended by signal 9 (Killed)");
    // One that reads everything and fails at the end.
    replace_ffmpeg(LISTS_ENCODERS "cat >/dev/null; echo 'no trailer' >&2; exit 1");
    assert_int_equal(make_film(fixture_path("fire.mp4"), &settings, 3), MOTE_ERROR_IO);
    expect_message("exit code 1 after 3 frames: no trailer");
    // One that complains, but does not fail.
    replace_ffmpeg(LISTS_ENCODERS "cat >/dev/null; echo 'half of it is missing' >&2; exit 0");
    assert_int_equal(make_film(fixture_path("fire.mp4"), &settings, 3), MOTE_ERROR_IO);
    expect_message("half of it is missing");
    assert_int_equal(fixture_files("", false), 1);
}

static void a_signal_that_waited_before_still_waits(void **state)
{
    (void)state;
    replace_ffmpeg(LISTS_ENCODERS "exit 1");
    const VideoSettings settings = {.width = 256, .height = 256, .channels = 3};
    sigset_t broken_pipe, before;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &broken_pipe, &before), 0);
    raise(SIGPIPE);
    assert_true(sigpipe_is_pending());
    assert_int_equal(make_film(fixture_path("a.mp4"), &settings, 3), MOTE_ERROR_IO);
    assert_true(sigpipe_is_pending()); // somebody else's
    const struct timespec now = {0};
    assert_int_equal(sigtimedwait(&broken_pipe, NULL, &now), SIGPIPE);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

static uint32_t count_descriptors(void)
{
    uint32_t count = 0;
    for (int i = 0; i < 256; i++) {
        count += fcntl(i, F_GETFD) >= 0;
    }
    return count;
}

static void what_is_given_up_leaves_nothing(void **state)
{
    (void)state;
    NEED_FFMPEG();
    const uint32_t descriptors = count_descriptors();
    const VideoSettings settings = {.width = 64, .height = 64, .channels = 4};
    static uint8_t pixels[64 * 64 * 4];
    VideoWriter writer;
    for (int i = 0; i < 3; i++) {
        expect_ok(video_writer_open(&writer, fixture_path("gone.mp4"), &settings));
        assert_int_equal(fixture_files(".partial", false), 1);
        for (int k = 0; k < i * 10; k++) {
            expect_ok(video_writer_add(&writer, pixels, 0));
        }
        video_writer_discard(&writer);
        video_writer_discard(&writer);
        assert_int_equal(fixture_files("", false), 0);
    }
    expect_ok(video_writer_open(&writer, fixture_path("gone.mp4"), &settings));
    assert_int_equal(video_writer_commit(&writer), MOTE_ERROR_INPUT);
    expect_message("at least one frame");
    assert_int_equal(fixture_files("", false), 0);
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // no child is left
}

int main(void)
{
    const char *path = getenv("PATH");
    snprintf(original_path, sizeof original_path, "%s", path != NULL ? path : "/usr/bin:/bin");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(films_hold_what_was_drawn, restore_ffmpeg),
        cmocka_unit_test_teardown(any_name_will_do, restore_ffmpeg),
        cmocka_unit_test_teardown(odd_sizes_grow_by_one_pixel, restore_ffmpeg),
        cmocka_unit_test_teardown(rows_may_have_gaps, restore_ffmpeg),
        cmocka_unit_test_teardown(the_same_frames_give_the_same_bytes, restore_ffmpeg),
        cmocka_unit_test_teardown(quality_changes_the_size, restore_ffmpeg),
        cmocka_unit_test_teardown(without_x264_another_encoder_is_used, restore_ffmpeg),
        cmocka_unit_test_teardown(without_ffmpeg_the_error_says_what_to_do, restore_ffmpeg),
        cmocka_unit_test_teardown(an_ffmpeg_that_is_broken_or_poor_is_told, restore_ffmpeg),
        cmocka_unit_test_teardown(other_names_are_refused, restore_ffmpeg),
        cmocka_unit_test_teardown(unwritable_places_are_found_before_drawing, restore_ffmpeg),
        cmocka_unit_test_teardown(a_full_disk_is_told_and_leaves_the_old_film, restore_ffmpeg),
        cmocka_unit_test_teardown(an_encoder_that_dies_is_quoted, restore_ffmpeg),
        cmocka_unit_test_teardown(a_signal_that_waited_before_still_waits, restore_ffmpeg),
        cmocka_unit_test_teardown(what_is_given_up_leaves_nothing, restore_ffmpeg),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
