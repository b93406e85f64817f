// SPDX-License-Identifier: MIT
// OpenEXR files; tests/check_images.py reads them with other programs' readers, too.
#define _POSIX_C_SOURCE 200809L
#include "image_fixture.h"

enum { WIDTH = 45, HEIGHT = 37, COUNT = WIDTH * HEIGHT }; // more than two chunks of 16 rows, the last one short

static float colour[COUNT * 4], depth[COUNT], normal[COUNT * 3];
static uint32_t ids[COUNT];
static uint16_t halves[COUNT];

static void fill(void)
{
    uint32_t seed = 7;
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t c = 0; c < 4; c++) {
            colour[4 * i + c] = (float)(fixture_random(&seed) % 2048) / 64.0f; // a half holds it exactly
        }
        for (uint32_t c = 0; c < 3; c++) {
            normal[3 * i + c] = (float)fixture_random(&seed) / 16777216.0f * 2.0f - 1.0f;
        }
        depth[i] = 1.0f / (float)(i + 1);
        ids[i] = i * 2654435761u;
        halves[i] = (uint16_t)(0x3c00 + i % 1024); // 1 + k / 1024
    }
}

#define PLANE(channel_name, channel_type, from, stride)                                                                \
    {                                                                                                                  \
        .name = (channel_name), .type = (channel_type), .data = (from), .pixel_stride = (stride)                       \
    }

static MoteResult write_layers(const char *path)
{
    fill();
    ImageChannel channels[] = {
        PLANE("thickness.Y", IMAGE_HALF, halves, 0),    PLANE("R", IMAGE_FLOAT, colour, 16),
        PLANE("G", IMAGE_FLOAT, colour + 1, 16),        PLANE("B", IMAGE_FLOAT, colour + 2, 16),
        PLANE("A", IMAGE_FLOAT, colour + 3, 16),        PLANE("depth.Z", IMAGE_FLOAT, depth, 0),
        PLANE("normal.X", IMAGE_FLOAT, normal, 12),     PLANE("normal.Y", IMAGE_FLOAT, normal + 1, 12),
        PLANE("normal.Z", IMAGE_FLOAT, normal + 2, 12), PLANE("id.Y", IMAGE_UINT, ids, 0),
    };
    for (int i = 1; i <= 4; i++) {
        channels[i].as_half = true;
    }
    const ImageAttribute attributes[] = {{"scene", "dam_break.json"}, {"comments", "frame 7"}};
    return image_write_exr(path, WIDTH, HEIGHT, channels, 10, attributes, 2);
}

static void expect_channel(const Image *image, uint32_t channel, const float *expected, uint32_t stride)
{
    assert_int_equal(image->width, WIDTH);
    assert_int_equal(image->height, HEIGHT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_memory_equal(&image->pixels[i * image->channels + channel], &expected[i * stride], sizeof(float));
    }
}

static void layers_come_back_exactly(void **state)
{
    (void)state;
    expect_ok(write_layers(fixture_path("layers.exr")));
    Image image;
    expect_ok(image_read(fixture_path("layers.exr"), &image));
    assert_int_equal(image.channels, 4);
    for (uint32_t c = 0; c < 4; c++) {
        expect_channel(&image, c, colour + c, 4);
    }
    image_destroy(&image);

    static const char *const normals[] = {"normal.Z", "normal.X", "normal.Y"}; // in another order
    expect_ok(image_read_exr_channels(fixture_path("layers.exr"), normals, 3, &image));
    expect_channel(&image, 0, normal + 2, 3);
    expect_channel(&image, 1, normal, 3);
    expect_channel(&image, 2, normal + 1, 3);
    image_destroy(&image);

    static const char *const others[] = {"depth.Z", "thickness.Y", "id.Y"};
    expect_ok(image_read_exr_channels(fixture_path("layers.exr"), others, 3, &image));
    static float expected[2][COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        expected[0][i] = 1.0f + (float)(i % 1024) / 1024.0f;
        expected[1][i] = (float)ids[i];
    }
    expect_channel(&image, 0, depth, 1);
    expect_channel(&image, 1, expected[0], 1);
    expect_channel(&image, 2, expected[1], 1);
    image_destroy(&image);
}

static const uint8_t *find_bytes(const uint8_t *bytes, size_t size, const char *text, size_t length)
{
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(bytes + i, text, length) == 0) {
            return bytes + i;
        }
    }
    return NULL;
}

static void the_header_is_in_order(void **state)
{
    (void)state;
    expect_ok(write_layers(fixture_path("layers.exr")));
    size_t size;
    uint8_t *bytes = (uint8_t *)fixture_read("layers.exr", &size);
    const uint8_t *at = find_bytes(bytes, size, "chlist", 7);
    assert_non_null(at);
    at += 7 + 4;
    static const struct {
        const char *name;
        int type; // 0 uint, 1 half, 2 float
    } expected[] = {{"A", 1},    {"B", 1},        {"G", 1},        {"R", 1},        {"depth.Z", 2},
                    {"id.Y", 0}, {"normal.X", 2}, {"normal.Y", 2}, {"normal.Z", 2}, {"thickness.Y", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_string_equal(at, expected[i].name);
        at += strlen(expected[i].name) + 1;
        assert_int_equal(at[0], expected[i].type);
        at += 16; // type, linearity, two sampling rates
    }
    assert_int_equal(*at, 0); // the end of the list
    assert_non_null(find_bytes(bytes, size, "compression\0compression\0\1\0\0\0\3", 29));
    assert_non_null(find_bytes(bytes, size, "scene\0string\0\16\0\0\0dam_break.json", 31));
    assert_non_null(find_bytes(bytes, size, "comments\0string\0\7\0\0\0frame 7", 27));
    free(bytes);
}

static void special_values_survive(void **state)
{
    (void)state;
    const float values[6] = {INFINITY, -INFINITY, NAN, 1e6f, -1e6f, 65504.0f};
    const float as_halves[6] = {65504.0f, -65504.0f, NAN, 65504.0f, -65504.0f, 65504.0f};
    const ImageChannel channels[2] = {{.name = "float", .type = IMAGE_FLOAT, .data = values},
                                      {.name = "half", .type = IMAGE_FLOAT, .as_half = true, .data = values}};
    static const char *const names[] = {"float", "half"};
    expect_ok(image_write_exr(fixture_path("special.exr"), 6, 1, channels, 2, NULL, 0));
    Image image;
    expect_ok(image_read_exr_channels(fixture_path("special.exr"), names, 2, &image));
    for (int i = 0; i < 6; i++) {
        const float full = image.pixels[2 * i], half = image.pixels[2 * i + 1];
        assert_true(full == values[i] || (isnan(full) && isnan(values[i])));
        assert_true(half == as_halves[i] || (isnan(half) && isnan(as_halves[i])));
    }
    image_destroy(&image);
}

static void rounding_to_halves_is_to_the_nearest(void **state)
{
    (void)state;
    enum { N = 4096 };
    static float values[N];
    uint32_t seed = 3;
    for (int i = 0; i < N; i++) {
        values[i] = ldexpf(1.0f + (float)fixture_random(&seed) / 16777216.0f, (int)(fixture_random(&seed) % 28) - 13);
    }
    const ImageChannel channel = {.name = "Y", .type = IMAGE_FLOAT, .as_half = true, .data = values};
    expect_ok(image_write_exr(fixture_path("round.exr"), N, 1, &channel, 1, NULL, 0));
    Image image;
    expect_ok(image_read(fixture_path("round.exr"), &image)); // Y alone is grey
    assert_int_equal(image.channels, 1);
    for (int i = 0; i < N; i++) {
        assert_true(fabsf(image.pixels[i] - values[i]) <= values[i] / 2048.0f);
    }
    image_destroy(&image);
}

static void rows_may_have_gaps(void **state)
{
    (void)state;
    float rows[5][8];
    for (int y = 0; y < 5; y++) {
        for (int x = 0; x < 8; x++) {
            rows[y][x] = (float)(10 * y + x);
        }
    }
    const ImageChannel channels[2] = {
        {.name = "b", .type = IMAGE_FLOAT, .data = &rows[0][0], .pixel_stride = 8, .row_stride = sizeof rows[0]},
        {.name = "a",
         .type = IMAGE_FLOAT,
         .data = &rows[0][1],
         .pixel_stride = 8,
         .row_stride = sizeof rows[0],
         .as_half = true}};
    static const char *const names[] = {"b", "a"};
    expect_ok(image_write_exr(fixture_path("gaps.exr"), 3, 5, channels, 2, NULL, 0));
    Image image;
    expect_ok(image_read_exr_channels(fixture_path("gaps.exr"), names, 2, &image));
    for (int i = 0; i < 30; i++) {
        assert_true(image.pixels[i] == rows[i / 6][i % 6]);
    }
    image_destroy(&image);
}

static void sizes_from_one_pixel_up_work(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 100}, {100, 1}, {16, 16}, {17, 33}, {3000, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t width = sizes[i][0], height = sizes[i][1];
        Image image, back;
        expect_ok(image_create(&image, width, height, 3));
        uint32_t seed = 5;
        for (uint32_t k = 0; k < width * height * 3; k++) {
            image.pixels[k] = (float)fixture_random(&seed) / 1000.0f;
        }
        const ImageChannel channels[3] = {PLANE("R", IMAGE_FLOAT, image.pixels, 12),
                                          PLANE("G", IMAGE_FLOAT, image.pixels + 1, 12),
                                          PLANE("B", IMAGE_FLOAT, image.pixels + 2, 12)};
        expect_ok(image_write_exr(fixture_path("size.exr"), width, height, channels, 3, NULL, 0));
        expect_ok(image_read(fixture_path("size.exr"), &back));
        assert_int_equal(back.width, width);
        assert_int_equal(back.height, height);
        assert_memory_equal(back.pixels, image.pixels, (size_t)width * height * 3 * sizeof(float));
        image_destroy(&image);
        image_destroy(&back);
    }
}

static void wrong_names_are_refused(void **state)
{
    (void)state;
    const float value = 1.0f;
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    long_name[299] = '\0';
    const ImageChannel same[2] = {PLANE("Z", IMAGE_FLOAT, &value, 0), PLANE("Z", IMAGE_FLOAT, &value, 0)};
    const ImageChannel empty = PLANE("", IMAGE_FLOAT, &value, 0), too_long = PLANE(long_name, IMAGE_FLOAT, &value, 0);
    const char *path = fixture_path("bad.exr");
    assert_int_equal(image_write_exr(path, 1, 1, same, 2, NULL, 0), MOTE_ERROR_INPUT);
    expect_message("two channels have the name \"Z\"");
    assert_int_equal(image_write_exr(path, 1, 1, &empty, 1, NULL, 0), MOTE_ERROR_INPUT);
    expect_message("has 0 bytes");
    assert_int_equal(image_write_exr(path, 1, 1, &too_long, 1, NULL, 0), MOTE_ERROR_INPUT);
    expect_message("has 299 bytes");
    // An attribute that the format needs itself, as something else than a string.
    const ImageAttribute taken = {"compression", "none"};
    assert_int_equal(image_write_exr(path, 1, 1, same, 1, &taken, 1), MOTE_ERROR_INPUT);
    expect_message("bad.exr: cannot write an OpenEXR image: ");
    assert_int_equal(fixture_files("bad.exr", false), 0);
    // 255 bytes are fine.
    long_name[255] = '\0';
    expect_ok(image_write_exr(path, 1, 1, &too_long, 1, NULL, 0));
    Image image;
    const char *const name = long_name;
    expect_ok(image_read_exr_channels(path, &name, 1, &image));
    image_destroy(&image);
}

static void missing_channels_are_named(void **state)
{
    (void)state;
    expect_ok(write_layers(fixture_path("layers.exr")));
    static const char *const names[] = {"velocity.X"};
    Image image;
    assert_int_equal(image_read_exr_channels(fixture_path("layers.exr"), names, 1, &image), MOTE_ERROR_INPUT);
    expect_message("has the channels A, B, G, R, depth.Z, id.Y, normal.X, normal.Y, normal.Z, thickness.Y, expected "
                   "velocity.X");
    const float value = 1.0f;
    const ImageChannel depth_only = PLANE("depth.Z", IMAGE_FLOAT, &value, 0);
    expect_ok(image_write_exr(fixture_path("depth.exr"), 1, 1, &depth_only, 1, NULL, 0));
    assert_int_equal(image_read(fixture_path("depth.exr"), &image), MOTE_ERROR_INPUT);
    expect_message("has the channels depth.Z, expected R, G and B, or Y");
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    expect_ok(write_layers(fixture_path("layers.exr")));
    size_t size;
    uint8_t *bytes = (uint8_t *)fixture_read("layers.exr", &size);
    expect_no_truncation_passes(bytes, 600, 1); // all of the header
    expect_no_truncation_passes(bytes, size, 97);
    decode_mutations(bytes, size, 600);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_come_back_exactly),  cmocka_unit_test(the_header_is_in_order),
        cmocka_unit_test(special_values_survive),    cmocka_unit_test(rounding_to_halves_is_to_the_nearest),
        cmocka_unit_test(rows_may_have_gaps),        cmocka_unit_test(sizes_from_one_pixel_up_work),
        cmocka_unit_test(wrong_names_are_refused),   cmocka_unit_test(missing_channels_are_named),
        cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
