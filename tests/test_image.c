// SPDX-License-Identifier: MIT
// Images in memory, files told apart by content, and writing where it cannot succeed.
//
// test_image samples FOLDER      writes the files that tests/check_images.py reads
// test_image dump FILE OUT [CHANNEL...]   writes width, height, channels and the floats of an image
#define _POSIX_C_SOURCE 200809L
#include "image_fixture.h"

static void images_are_made_and_freed(void **state)
{
    (void)state;
    Image image;
    expect_ok(image_create(&image, 3, 2, 4));
    for (int i = 0; i < 24; i++) {
        assert_true(image.pixels[i] == 0.0f);
    }
    image_destroy(&image);
    assert_null(image.pixels);
    image_destroy(&image); // nothing to do
    assert_int_equal(image_create(&image, 0, 2, 4), MOTE_ERROR_INPUT);
    assert_int_equal(image_create(&image, 65537, 1, 1), MOTE_ERROR_INPUT);
    assert_int_equal(image_create(&image, 65536, 65536, 1), MOTE_ERROR_INPUT);
    expect_message("65536 x 65536");
    assert_null(image.pixels);
}

static void a_pixel_is_rgba_whatever_the_channels(void **state)
{
    (void)state;
    static const float expected[4][4] = {{6, 6, 6, 1}, {6, 6, 6, 7}, {6, 7, 8, 1}, {6, 7, 8, 9}};
    for (uint32_t channels = 1; channels <= 4; channels++) {
        Image image;
        expect_ok(image_create(&image, 2, 2, channels));
        for (uint32_t c = 0; c < channels; c++) {
            image.pixels[2 * channels + c] = 6.0f + (float)c; // row 1, column 0
        }
        float rgba[4];
        image_pixel(&image, 0, 1, rgba);
        assert_memory_equal(rgba, expected[channels - 1], sizeof rgba);
        image_destroy(&image);
    }
}

// A slope stays one, what is of one colour stays so, and a picture of the same size is the same to the bit.
static void stretched_pictures_are_between_their_pixels(void **state)
{
    (void)state;
    enum { WIDTH = 12, HEIGHT = 7, NEW_WIDTH = 35, NEW_HEIGHT = 19 };
    uint8_t pixels[WIDTH * HEIGHT * 4], same[sizeof pixels], larger[NEW_WIDTH * NEW_HEIGHT * 4];
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            uint8_t *pixel = pixels + 4 * (y * WIDTH + x);
            pixel[0] = (uint8_t)(20 * x);
            pixel[1] = (uint8_t)(36 * y);
            pixel[2] = (uint8_t)(10 * x + 20 * y);
            pixel[3] = 255;
        }
    }
    expect_ok(image_stretch(WIDTH, HEIGHT, pixels, WIDTH, HEIGHT, same));
    assert_memory_equal(same, pixels, sizeof pixels);
    expect_ok(image_stretch(WIDTH, HEIGHT, pixels, NEW_WIDTH, NEW_HEIGHT, larger));
    for (uint32_t y = 0; y < NEW_HEIGHT; y++) {
        for (uint32_t x = 0; x < NEW_WIDTH; x++) {
            const uint8_t *pixel = larger + 4 * (y * NEW_WIDTH + x);
            const double u = fmin(fmax((x + 0.5) * WIDTH / NEW_WIDTH - 0.5, 0.0), WIDTH - 1.0);
            const double v = fmin(fmax((y + 0.5) * HEIGHT / NEW_HEIGHT - 0.5, 0.0), HEIGHT - 1.0);
            assert_true(fabs(pixel[0] - 20.0 * u) < 1.0 && fabs(pixel[1] - 36.0 * v) < 1.0);
            assert_true(fabs(pixel[2] - 10.0 * u - 20.0 * v) < 1.0 && pixel[3] == 255);
        }
    }
}

// ---- Told apart by content ----

static const uint8_t two_pixels[6] = {255, 0, 0, 0, 0, 255};

static void the_name_says_nothing(void **state)
{
    (void)state;
    const float values[2] = {0.25f, 4.0f};
    const ImageChannel grey = {.name = "Y", .type = IMAGE_FLOAT, .data = values};
    expect_ok(image_write_png8(fixture_path("a.exr"), 2, 1, 3, two_pixels, 0));
    expect_ok(image_write_exr(fixture_path("a.hdr"), 2, 1, &grey, 1, NULL, 0));
    static const char hdr[] = "#?RGBE\n\n-Y 1 +X 2\n\x80\0\0\x81\x80\x80\x80\x80";
    fixture_write("a.png", hdr, sizeof hdr - 1);
    Image image;
    expect_ok(image_read(fixture_path("a.exr"), &image));
    assert_true(image.channels == 3 && image.pixels[0] == 1.0f && image.pixels[5] == 1.0f);
    image_destroy(&image);
    expect_ok(image_read(fixture_path("a.hdr"), &image));
    assert_true(image.channels == 1 && image.pixels[0] == 0.25f && image.pixels[1] == 4.0f);
    image_destroy(&image);
    expect_ok(image_read(fixture_path("a.png"), &image));
    assert_true(image.channels == 3 && image.pixels[0] == 1.0f && image.pixels[1] == 0.0f && image.pixels[3] == 0.5f);
    image_destroy(&image);
}

static void expect_unreadable(const char *name, MoteResult expected, const char *message)
{
    Image image;
    assert_int_equal(image_read(fixture_path(name), &image), expected);
    assert_null(image.pixels);
    expect_message(fixture_path(name));
    expect_message(message);
}

static void what_was_found_is_named(void **state)
{
    (void)state;
    fixture_write("empty", "", 0);
    expect_unreadable("empty", MOTE_ERROR_INPUT, "is empty, expected a PNG, OpenEXR or Radiance HDR image");
    fixture_write("photo.png", "\xff\xd8\xff\xe0....", 8);
    expect_unreadable("photo.png", MOTE_ERROR_INPUT, "is a JPEG image, expected a PNG");
    fixture_write("t.exr", "II*\0....", 8);
    expect_unreadable("t.exr", MOTE_ERROR_INPUT, "is a TIFF image");
    fixture_write("odd", "\x01\x02\xfe", 3);
    expect_unreadable("odd", MOTE_ERROR_INPUT, "begins with the bytes 01 02 fe (of no known");
    fixture_write("text", "hello, world", 12);
    expect_unreadable("text", MOTE_ERROR_INPUT, "begins with the bytes 68 65 6c 6c 6f 2c 20 77 (of no known");
    expect_unreadable("missing.png", MOTE_ERROR_IO, "No such file");
    expect_unreadable("", MOTE_ERROR_IO, "is a folder");
    const char *const name = "Y";
    Image image;
    assert_int_equal(image_read_exr_channels(fixture_path("text"), &name, 1, &image), MOTE_ERROR_INPUT);
    expect_message("is not an OpenEXR image");
    fixture_files("", true);
}

// ---- Writing that must fail, and leave nothing ----

enum { SIDE = 200 };

static MoteResult write_noise(const char *path, bool exr)
{
    static float noise[SIDE * SIDE];
    static uint8_t bytes[SIDE * SIDE];
    uint32_t seed = 1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        noise[i] = (float)fixture_random(&seed);
        bytes[i] = (uint8_t)fixture_random(&seed);
    }
    const ImageChannel channel = {.name = "Y", .type = IMAGE_FLOAT, .data = noise};
    return exr ? image_write_exr(path, SIDE, SIDE, &channel, 1, NULL, 0)
               : image_write_png8(path, SIDE, SIDE, 1, bytes, 0);
}

static void expect_write_failure(const char *name, bool exr, const char *message)
{
    assert_int_equal(write_noise(fixture_path(name), exr), MOTE_ERROR_IO);
    expect_message(fixture_path(name));
    expect_message(message);
    assert_int_equal(fixture_files(".partial", false), 0);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    for (int exr = 0; exr < 2; exr++) {
        expect_write_failure("missing/a", exr, "No such file or directory");
        fixture_write("file", "x", 1);
        expect_write_failure("file/a", exr, "Not a directory");
        fixture_lock_folder(true);
        const MoteResult result = write_noise(fixture_path("a"), exr);
        fixture_lock_folder(false);
        assert_int_equal(result, MOTE_ERROR_IO);
        expect_message("cannot write: Permission denied");
        // The target is a folder: noticed at the very end.
        assert_int_equal(mkdir(fixture_path("folder"), 0700), 0);
        expect_write_failure("folder", exr, "Is a directory");
        assert_int_equal(rmdir(fixture_path("folder")), 0);
        assert_int_equal(fixture_files("", true), 1); // only "file", made here
    }
}

static void a_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    for (int exr = 0; exr < 2; exr++) {
        fixture_write("old", "precious", 8);
        // At the first byte, in the middle and near the end.
        expect_ok(write_noise(fixture_path("whole"), exr));
        size_t whole, kept;
        free(fixture_read("whole", &whole));
        const size_t limits[] = {1, 100, whole / 2, whole - 1};
        for (int i = 0; i < 4; i++) {
            fixture_limit_file_size(limits[i]);
            const MoteResult result = write_noise(fixture_path("old"), exr);
            fixture_limit_file_size(RLIM_INFINITY);
            assert_int_equal(result, MOTE_ERROR_IO);
            expect_message("old: cannot write: File too large");
            assert_int_equal(fixture_files(".partial", false), 0);
        }
        fixture_limit_file_size(whole); // just enough
        expect_ok(write_noise(fixture_path("new"), exr));
        fixture_limit_file_size(RLIM_INFINITY);
        char *old = fixture_read("old", &kept);
        assert_int_equal(kept, 8);
        assert_memory_equal(old, "precious", 8);
        free(old);
        fixture_files("", true);
    }
}

static void frames_are_written_fast_enough(void **state)
{
    (void)state;
    enum { WIDTH = 1280, HEIGHT = 720 };
    uint8_t *rows = malloc(WIDTH * HEIGHT * 4);
    assert_non_null(rows);
    for (int i = 0; i < WIDTH * HEIGHT; i++) { // smooth shading with a little noise, as frames have
        const double x = i % WIDTH, y = i / WIDTH;
        for (int c = 0; c < 4; c++) {
            rows[4 * i + c] =
                (uint8_t)(120.0 + 100.0 * sin(x / (90.0 + c) + cos(y / 70.0)) + (i % 4096 * 7919 % 13) / 6);
        }
    }
    expect_ok(image_write_png8(fixture_path("frame.png"), WIDTH, HEIGHT, 4, rows, 0));
    size_t size;
    free(fixture_read("frame.png", &size));
    print_message("a PNG of %d x %d: %zu kB\n", WIDTH, HEIGHT, size / 1000);
    assert_true(size < (size_t)WIDTH * HEIGHT * 2); // filtered and deflated
    free(rows);
}

// ---- For check_images.py ----

static int complain(void)
{
    fprintf(stderr, "test_image: %s\n", mote_error_message());
    return 1;
}

// Patterns that the script computes, too: exact in halves, in 8 and in 16 bits.
static int write_samples(const char *folder)
{
    enum { WIDTH = 61, HEIGHT = 43, COUNT = WIDTH * HEIGHT };
    static float colour[COUNT][4], vectors[COUNT][3];
    static uint32_t ids[COUNT];
    static uint8_t bytes[COUNT][4];
    static uint16_t words[COUNT][3];
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t x = i % WIDTH, y = i / WIDTH;
        for (uint32_t c = 0; c < 4; c++) {
            colour[i][c] = (float)((x * 13 + y * 29 + c * 57) % 1024) / 128.0f;
            bytes[i][c] = (uint8_t)(x * 13 + y * 29 + c * 57);
        }
        for (uint32_t c = 0; c < 3; c++) {
            vectors[i][c] = (float)(x * 1000 + y + c) / 3.0f;
            words[i][c] = (uint16_t)(x * 1013 + y * 529 + c * 5701);
        }
        ids[i] = i * 2654435761u;
    }
    const size_t step = sizeof colour[0], vector_step = sizeof vectors[0];
    const ImageChannel channels[] = {
        {"id.Y", IMAGE_UINT, false, ids, 0, 0},
        {"normal.X", IMAGE_FLOAT, false, &vectors[0][0], vector_step, 0},
        {"normal.Y", IMAGE_FLOAT, false, &vectors[0][1], vector_step, 0},
        {"normal.Z", IMAGE_FLOAT, false, &vectors[0][2], vector_step, 0},
        {"R", IMAGE_FLOAT, true, &colour[0][0], step, 0},
        {"G", IMAGE_FLOAT, true, &colour[0][1], step, 0},
        {"B", IMAGE_FLOAT, true, &colour[0][2], step, 0},
        {"A", IMAGE_FLOAT, true, &colour[0][3], step, 0},
        {"depth.Z", IMAGE_FLOAT, false, &vectors[0][0], vector_step, 0},
    };
    const ImageAttribute attributes[] = {{"scene", "sample"}, {"frame", "12"}};
    char path[1024];
    snprintf(path, sizeof path, "%s/layers.exr", folder);
    if (image_write_exr(path, WIDTH, HEIGHT, channels, 9, attributes, 2) != MOTE_OK) {
        return complain();
    }
    snprintf(path, sizeof path, "%s/float.exr", folder); // colour alone, in full floats
    const ImageChannel plain[] = {{"R", IMAGE_FLOAT, false, &vectors[0][0], vector_step, 0},
                                  {"G", IMAGE_FLOAT, false, &vectors[0][1], vector_step, 0},
                                  {"B", IMAGE_FLOAT, false, &vectors[0][2], vector_step, 0}};
    if (image_write_exr(path, WIDTH, HEIGHT, plain, 3, NULL, 0) != MOTE_OK) {
        return complain();
    }
    snprintf(path, sizeof path, "%s/rgba8.png", folder);
    if (image_write_png8(path, WIDTH, HEIGHT, 4, bytes[0], 0) != MOTE_OK) {
        return complain();
    }
    snprintf(path, sizeof path, "%s/rgb16.png", folder);
    return image_write_png16(path, WIDTH, HEIGHT, 3, words[0], 0) == MOTE_OK ? 0 : complain();
}

static int dump(const char *path, const char *out, const char *const *channels, uint32_t count)
{
    Image image;
    const MoteResult result =
        count > 0 ? image_read_exr_channels(path, channels, count, &image) : image_read(path, &image);
    if (result != MOTE_OK) {
        return complain();
    }
    const uint32_t header[3] = {image.width, image.height, image.channels};
    const size_t values = (size_t)image.width * image.height * image.channels;
    FILE *stream = fopen(out, "wb");
    const bool good = stream != NULL && fwrite(header, sizeof header, 1, stream) == 1 &&
                      fwrite(image.pixels, sizeof(float), values, stream) == values && fclose(stream) == 0;
    image_destroy(&image);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "samples") == 0) {
        return write_samples(argv[2]);
    }
    if (argc >= 4 && argc <= 8 && strcmp(argv[1], "dump") == 0) {
        return dump(argv[2], argv[3], (const char *const *)argv + 4, (uint32_t)argc - 4);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_made_and_freed),      cmocka_unit_test(a_pixel_is_rgba_whatever_the_channels),
        cmocka_unit_test(the_name_says_nothing),          cmocka_unit_test(what_was_found_is_named),
        cmocka_unit_test(failures_leave_nothing),         cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(frames_are_written_fast_enough), cmocka_unit_test(stretched_pictures_are_between_their_pixels),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
