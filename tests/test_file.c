// SPDX-License-Identifier: MIT
// What is read and written by name: links, devices, FIFOs and sockets, permissions, and what dead programs left.
#define _GNU_SOURCE
#include "simulation_fixture.h"

#include "base/clock.h"
#include "base/file.h"
#include "image/image.h"
#include "image/video.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

static MoteResult write_text(const char *path, const char *text)
{
    FileWriter writer;
    const MoteResult result = file_writer_open(&writer, path);
    if (result != MOTE_OK) {
        return result;
    }
    fputs(text, writer.stream);
    return file_writer_commit(&writer);
}

static void expect_text(const char *name, const char *text)
{
    size_t size;
    char *bytes = fixture_read(name, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}

static mode_t kind_of(const char *name)
{
    struct stat status;
    assert_int_equal(lstat(fixture_path(name), &status), 0);
    return status.st_mode & S_IFMT;
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(fixture_path(name), 0700), 0);
}

// A device node of the test's own: a build that replaces it does no harm. False where that is not allowed.
static bool make_device(const char *name, unsigned minor_number)
{
    return mknod(fixture_path(name), S_IFCHR | 0666, makedev(1, minor_number)) == 0 &&
           access(fixture_path(name), W_OK) == 0;
}

enum { NULL_DEVICE = 3, FULL_DEVICE = 7, RANDOM_DEVICE = 9 };

static void make_socket(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int end = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s", fixture_path(name));
    assert_int_equal(bind(end, (struct sockaddr *)&address, sizeof address), 0);
    close(end);
}

// ---- Links ----

static void links_stay_and_their_targets_are_replaced(void **state)
{
    (void)state;
    make_folder("elsewhere");
    fixture_write("elsewhere/target", "old", 3);
    assert_int_equal(symlink("elsewhere/target", fixture_path("relative")), 0);
    assert_int_equal(symlink("../relative", fixture_path("elsewhere/chain")), 0);
    assert_int_equal(symlink(fixture_path("elsewhere/chain"), fixture_path("absolute")), 0);
    static const char *const names[] = {"relative", "elsewhere/chain", "absolute"};
    for (int i = 0; i < 3; i++) {
        expect_ok(write_text(fixture_path(names[i]), names[i]));
        expect_text("elsewhere/target", names[i]);
        assert_true(kind_of("relative") == S_IFLNK && kind_of("elsewhere/chain") == S_IFLNK &&
                    kind_of("absolute") == S_IFLNK && kind_of("elsewhere/target") == S_IFREG);
    }
    // While it is written, the new file is beside the target, and the target is whole.
    FileWriter writer;
    expect_ok(file_writer_open(&writer, fixture_path("absolute")));
    fputs("half", writer.stream);
    assert_non_null(strstr(writer.temporary_path, "/elsewhere/target.mote-"));
    expect_text("elsewhere/target", "absolute");
    file_writer_discard(&writer);
    expect_text("elsewhere/target", "absolute");
    for (int i = 0; i < 3; i++) {
        remove(fixture_path(names[i]));
    }
    remove(fixture_path("elsewhere/target"));
    assert_int_equal(rmdir(fixture_path("elsewhere")), 0);
}

static void a_link_to_nothing_makes_its_target(void **state)
{
    (void)state;
    assert_int_equal(symlink("made", fixture_path("dangling")), 0);
    expect_ok(file_check_writable(fixture_path("dangling"), true));
    assert_int_equal(access(fixture_path("made"), F_OK), -1);
    expect_ok(write_text(fixture_path("dangling"), "new"));
    assert_true(kind_of("dangling") == S_IFLNK && kind_of("made") == S_IFREG);
    expect_text("made", "new");
    file_remove_output(fixture_path("dangling")); // the file, not the link
    assert_true(kind_of("dangling") == S_IFLNK);
    assert_int_equal(access(fixture_path("made"), F_OK), -1);
    assert_int_equal(symlink("no/such/folder/file", fixture_path("lost")), 0);
    assert_int_equal(write_text(fixture_path("lost"), "x"), MOTE_ERROR_IO);
    expect_message("lost: cannot write: No such file or directory");
}

static void links_in_a_circle_and_to_folders_are_errors(void **state)
{
    (void)state;
    assert_int_equal(symlink("b", fixture_path("a")), 0);
    assert_int_equal(symlink("a", fixture_path("b")), 0);
    assert_int_equal(write_text(fixture_path("a"), "x"), MOTE_ERROR_IO);
    expect_message("a: cannot write: Too many levels of symbolic links");
    assert_int_equal(file_check_writable(fixture_path("a"), false), MOTE_ERROR_IO);
    assert_int_equal(symlink(".", fixture_path("here")), 0);
    assert_int_equal(write_text(fixture_path("here"), "x"), MOTE_ERROR_IO);
    expect_message("here: cannot write: Is a directory");
    assert_true(kind_of("a") == S_IFLNK && kind_of("here") == S_IFLNK);
    assert_int_equal(fixture_files("", false), 3);
}

// In a folder that everybody may write to, another user's link could lead root anywhere.
static void links_of_others_in_shared_folders_are_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    fixture_write("precious", "old", 3);
    make_folder("shared");
    assert_int_equal(symlink("../precious", fixture_path("shared/planted")), 0);
    assert_int_equal(mkfifo(fixture_path("shared/fifo"), 0666), 0);
    assert_int_equal(chmod(fixture_path("shared"), 01777), 0);
    expect_ok(write_text(fixture_path("shared/planted"), "mine")); // root's own
    assert_int_equal(lchown(fixture_path("shared/planted"), 12345, 12345), 0);
    assert_int_equal(lchown(fixture_path("shared/fifo"), 12345, 12345), 0);
    assert_int_equal(write_text(fixture_path("shared/planted"), "x"), MOTE_ERROR_IO);
    expect_message("is a link of another user");
    assert_int_equal(write_text(fixture_path("shared/fifo"), "x"), MOTE_ERROR_IO);
    expect_message("is a FIFO of another user");
    expect_text("precious", "mine");
    remove(fixture_path("shared/planted"));
    remove(fixture_path("shared/fifo"));
    assert_int_equal(rmdir(fixture_path("shared")), 0);
}

// ---- Permissions ----

static void a_replaced_file_keeps_its_permissions(void **state)
{
    (void)state;
    struct stat status;
    static const mode_t modes[] = {0600, 0640, 0664, 0755, 0444};
    fixture_write("kept", "old", 3);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(chmod(fixture_path("kept"), modes[i]), 0);
        expect_ok(write_text(fixture_path("kept"), "new"));
        assert_int_equal(stat(fixture_path("kept"), &status), 0);
        assert_int_equal(status.st_mode & 07777, modes[i]);
    }
    if (geteuid() == 0) {
        assert_int_equal(chown(fixture_path("kept"), 12345, 54321), 0);
        expect_ok(write_text(fixture_path("kept"), "newer"));
        assert_int_equal(stat(fixture_path("kept"), &status), 0);
        assert_true(status.st_uid == 12345 && status.st_gid == 54321);
    }
    const mode_t mask = umask(027);
    expect_ok(write_text(fixture_path("fresh"), "new"));
    umask(mask);
    assert_int_equal(stat(fixture_path("fresh"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
}

// ---- Devices, FIFOs, sockets ----

typedef struct FifoReader {
    char path[512], text[64];
    size_t size;
} FifoReader;

static void *read_fifo(void *argument)
{
    FifoReader *reader = argument;
    FILE *stream = fopen(reader->path, "rb");
    reader->size = fread(reader->text, 1, sizeof reader->text, stream);
    fclose(stream);
    return NULL;
}

static void a_fifo_gets_the_bytes(void **state)
{
    (void)state;
    FifoReader reader = {.size = 0};
    snprintf(reader.path, sizeof reader.path, "%s", fixture_path("fifo"));
    assert_int_equal(mkfifo(reader.path, 0600), 0);
    expect_ok(file_check_writable(reader.path, false)); // nobody reads it yet, and nobody must notice
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_fifo, &reader), 0);
    expect_ok(file_check_writable(reader.path, false));
    FileWriter writer;
    expect_ok(file_writer_open(&writer, reader.path));
    assert_null(writer.temporary_path);
    fputs("streamed", writer.stream);
    expect_ok(file_writer_check(&writer));
    expect_ok(file_writer_commit(&writer));
    pthread_join(thread, NULL);
    assert_int_equal(reader.size, 8);
    assert_memory_equal(reader.text, "streamed", 8);
    assert_true(kind_of("fifo") == S_IFIFO);
    assert_int_equal(fixture_files("", false), 1);
}

static void devices_are_written_to_and_stay(void **state)
{
    (void)state;
    if (!make_device("null", NULL_DEVICE) || !make_device("full", FULL_DEVICE)) {
        skip();
    }
    expect_ok(file_check_writable(fixture_path("null"), false));
    expect_ok(write_text(fixture_path("null"), "text"));
    FileWriter writer;
    expect_ok(file_writer_open(&writer, fixture_path("full")));
    fputs("text", writer.stream);
    assert_int_equal(file_writer_check(&writer), MOTE_ERROR_IO); // at once, not when all is done
    expect_message("full: cannot write: No space left on device");
    file_writer_discard(&writer);
    assert_int_equal(write_text(fixture_path("full"), "text"), MOTE_ERROR_IO);
    expect_message("full: cannot write: No space left on device");
    file_remove_output(fixture_path("null"));
    assert_true(kind_of("null") == S_IFCHR && kind_of("full") == S_IFCHR);
    assert_int_equal(symlink("null", fixture_path("link")), 0);
    expect_ok(write_text(fixture_path("link"), "text"));
    assert_true(kind_of("null") == S_IFCHR && kind_of("link") == S_IFLNK);
    assert_int_equal(fixture_files("", false), 3);
}

static void what_cannot_be_streamed_to_is_refused(void **state)
{
    (void)state;
    make_socket("socket.mp4");
    assert_int_equal(write_text(fixture_path("socket.mp4"), "x"), MOTE_ERROR_IO);
    expect_message("socket.mp4: cannot write: it is a socket");
    assert_int_equal(file_check_writable(fixture_path("socket.mp4"), false), MOTE_ERROR_IO);
    assert_int_equal(mkfifo(fixture_path("fifo.mp4"), 0600), 0);
    assert_int_equal(mkfifo(fixture_path("fifo.exr"), 0600), 0);
    assert_int_equal(file_check_writable(fixture_path("fifo.exr"), true), MOTE_ERROR_IO);
    const float pixel = 1.0f;
    const ImageChannel channel = {.name = "Y", .type = IMAGE_FLOAT, .data = &pixel};
    assert_int_equal(image_write_exr(fixture_path("fifo.exr"), 1, 1, &channel, 1, NULL, 0), MOTE_ERROR_IO);
    expect_message("fifo.exr: cannot write: it is a FIFO, and this format needs a file");
    VideoWriter film;
    const VideoSettings settings = {.width = 16, .height = 16, .channels = 4};
    const MoteResult result = video_writer_open(&film, fixture_path("fifo.mp4"), &settings);
    assert_true(result == MOTE_ERROR_IO || result == MOTE_ERROR_UNAVAILABLE); // without ffmpeg
    assert_true(kind_of("fifo.mp4") == S_IFIFO && kind_of("socket.mp4") == S_IFSOCK);
    if (geteuid() == 0 && mknod(fixture_path("disk"), S_IFBLK | 0600, makedev(7, 250)) == 0) {
        assert_int_equal(write_text(fixture_path("disk"), "x"), MOTE_ERROR_IO);
        expect_message("disk: cannot write: it is a block device");
    }
}

static void standard_output_is_written_in_place(void **state)
{
    (void)state;
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    const int file = open(fixture_path("redirected"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(before >= 0 && file >= 0);
    dup2(file, STDOUT_FILENO);
    close(file);
    printf("first ");
    const MoteResult result = write_text(FILE_STANDARD_OUTPUT, "second");
    printf(" third");
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    expect_ok(result);
    expect_text("redirected", "first second third");
    FileWriter writer;
    assert_int_equal(file_writer_open_regular(&writer, FILE_STANDARD_OUTPUT), MOTE_ERROR_IO);
    expect_message("/dev/stdout: cannot write: it is an open stream");
    assert_int_equal(write_text("/dev/fd/987", "x"), MOTE_ERROR_IO);
    expect_message("Bad file descriptor");
}

// ---- Reading ----

static void only_regular_files_are_read(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(fixture_path("fifo"), 0600), 0);
    make_socket("socket");
    assert_int_equal(symlink("fifo", fixture_path("link")), 0);
    const struct {
        const char *name, *kind;
    } rows[] = {{"fifo", "a FIFO"}, {"link", "a FIFO"}, {"socket", "a socket"}, {"", "a folder"}};
    char *bytes;
    size_t size;
    alarm(20); // opening a FIFO would wait for ever
    for (int i = 0; i < 4; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "%s: is %s, expected a file", rows[i].name, rows[i].kind);
        assert_int_equal(file_read(fixture_path(rows[i].name), 0, &bytes, &size), MOTE_ERROR_IO);
        expect_message(expected);
        assert_null(bytes);
        Image image;
        assert_int_equal(image_read(fixture_path(rows[i].name), &image), MOTE_ERROR_IO);
        expect_message(expected);
        MoteScene *scene;
        assert_int_equal(mote_scene_load(fixture_path(rows[i].name), NULL, 0, &scene), MOTE_ERROR_IO);
        expect_message(expected);
    }
    if (make_device("random", RANDOM_DEVICE)) {
        assert_int_equal(file_read(fixture_path("random"), 0, &bytes, &size), MOTE_ERROR_IO);
        expect_message("random: is a character device, expected a file");
    }
    alarm(0);
}

// A descriptor that the user names may be a pipe; files that are named in files may not.
static void open_descriptors_are_read_as_arguments(void **state)
{
    (void)state;
    int ends[2];
    char name[32], *bytes;
    size_t size;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(file_read(name, 0, &bytes, &size), MOTE_ERROR_IO);
    expect_message("is a FIFO, expected a file");
    expect_ok(file_read_argument(name, 100, &bytes, &size));
    assert_int_equal(size, 5);
    assert_string_equal(bytes, "piped");
    free(bytes);
    close(ends[0]);
    assert_int_equal(file_read_argument(name, 100, &bytes, &size), MOTE_ERROR_IO);
}

// ---- What dead programs left ----

static uint32_t partial_files(void)
{
    return fixture_files(".partial", false);
}

// A program that is killed while it writes.
static void leave_a_partial_file(const char *path)
{
    const pid_t child = fork();
    if (child == 0) {
        FileWriter writer;
        if (file_writer_open(&writer, path) == MOTE_OK) {
            fputs("half", writer.stream);
            fflush(writer.stream);
            raise(SIGKILL);
        }
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void the_next_run_removes_what_dead_ones_left(void **state)
{
    (void)state;
    leave_a_partial_file(fixture_path("frame_000003.ply"));
    leave_a_partial_file(fixture_path("run.csv"));
    static const char *const others[] = {
        "mine.partial",       "data.2024.partial", "a.mote-x-1.partial", "b.mote-12-1.partial.txt", "a.mote-12.partial",
        "amote-12-1.partial", "a.mote--1.partial", "a.mote-12-.partial", "a.mote-12-1.partials"};
    enum { OTHERS = sizeof others / sizeof others[0] };
    for (int i = 0; i < OTHERS; i++) {
        fixture_write(others[i], "precious", 8);
    }
    // One of a program that lives.
    int begun[2], end[2];
    assert_int_equal(pipe(begun) | pipe(end), 0);
    const pid_t child = fork();
    if (child == 0) {
        FileWriter writer;
        char byte = 0;
        close(end[1]);
        const MoteResult result = file_writer_open(&writer, fixture_path("living"));
        fputs("whole", writer.stream);
        const bool told = result == MOTE_OK && write(begun[1], "x", 1) == 1;
        const bool ended = read(end[0], &byte, 1) == 0;
        _exit(told && ended && file_writer_commit(&writer) == MOTE_OK ? 0 : 1);
    }
    char byte;
    assert_int_equal(read(begun[0], &byte, 1), 1); // it has tidied the folder already, as its first act
    assert_int_equal(access(fixture_path("mine.partial"), F_OK), 0);
    leave_a_partial_file(fixture_path("later"));
    const uint32_t before = partial_files();
    expect_ok(write_text(fixture_path("new"), "new"));
    assert_int_equal(before - partial_files(), 1);
    for (int i = 0; i < OTHERS; i++) {
        assert_int_equal(access(fixture_path(others[i]), F_OK), 0);
    }
    close(end[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_text("living", "whole");
    assert_int_equal(fixture_files("-0.partial", false) + fixture_files("-1.partial", false), 3); // of `others`
    close(begun[0]);
    close(begun[1]);
    close(end[0]);
}

static void two_writers_of_one_name_do_not_meet(void **state)
{
    (void)state;
    FileWriter a, b;
    expect_ok(file_writer_open(&a, fixture_path("both")));
    expect_ok(file_writer_open(&b, fixture_path("both")));
    fputs("first", a.stream);
    fputs("second", b.stream);
    expect_ok(file_writer_commit(&b));
    expect_text("both", "second");
    expect_ok(file_writer_commit(&a));
    expect_text("both", "first");
    assert_int_equal(fixture_files("", false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
        TEST(the_next_run_removes_what_dead_ones_left), // first: a folder is looked at once
        TEST(links_stay_and_their_targets_are_replaced),
        TEST(a_link_to_nothing_makes_its_target),
        TEST(links_in_a_circle_and_to_folders_are_errors),
        TEST(links_of_others_in_shared_folders_are_refused),
        TEST(a_replaced_file_keeps_its_permissions),
        TEST(a_fifo_gets_the_bytes),
        TEST(devices_are_written_to_and_stay),
        TEST(what_cannot_be_streamed_to_is_refused),
        TEST(standard_output_is_written_in_place),
        TEST(only_regular_files_are_read),
        TEST(open_descriptors_are_read_as_arguments),
        TEST(two_writers_of_one_name_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
