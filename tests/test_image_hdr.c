// SPDX-License-Identifier: MIT
// Radiance pictures, made here byte by byte from the format's description.
#define _POSIX_C_SOURCE 200809L
#include "image_fixture.h"

typedef struct Builder {
    uint8_t bytes[1 << 16];
    size_t size;
} Builder;

static Builder builder;

static void put(const void *bytes, size_t count)
{
    assert_true(builder.size + count <= sizeof builder.bytes);
    memcpy(builder.bytes + builder.size, bytes, count);
    builder.size += count;
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static void begin(const char *variables, const char *resolution)
{
    builder.size = 0;
    put_text("#?RADIANCE\n");
    put_text(variables);
    put_text("\n");
    put_text(resolution);
    put_text("\n");
}

static void rgbe_at(uint32_t x, uint32_t y, uint8_t rgbe[4])
{
    rgbe[0] = (uint8_t)(128 + (x * 3 + y * 5) % 128); // the largest mantissa is at least 128
    rgbe[1] = (uint8_t)(x / 4 * 11);                  // runs of four
    rgbe[2] = (uint8_t)y;                             // one run
    rgbe[3] = (uint8_t)(120 + (x + y) % 20);
}

static void expect_pattern(const Image *image)
{
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            uint8_t rgbe[4];
            rgbe_at(x, y, rgbe);
            for (uint32_t c = 0; c < 3; c++) {
                const float expected = ldexpf((float)rgbe[c], rgbe[3] - 136);
                assert_true(image->pixels[(y * image->width + x) * 3 + c] == expected);
            }
        }
    }
}

static void decode_pattern(uint32_t width, uint32_t height)
{
    Image image;
    expect_ok(image_decode("made", builder.bytes, builder.size, &image));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.channels, 3);
    expect_pattern(&image);
    image_destroy(&image);
}

static void put_flat(uint32_t width, uint32_t height)
{
    for (uint32_t i = 0; i < width * height; i++) {
        uint8_t rgbe[4];
        rgbe_at(i % width, i / width, rgbe);
        put(rgbe, 4);
    }
}

// One component of a scanline in the newer coding: runs of three and more, literals between.
static void put_component(uint32_t width, uint32_t y, uint32_t c)
{
    uint8_t values[512], rgbe[4];
    for (uint32_t x = 0; x < width; x++) {
        rgbe_at(x, y, rgbe);
        values[x] = rgbe[c];
    }
    for (uint32_t x = 0; x < width;) {
        uint32_t run = 1;
        while (x + run < width && values[x + run] == values[x] && run < 127) {
            run++;
        }
        if (run >= 3) {
            put((uint8_t[]){(uint8_t)(128 + run), values[x]}, 2);
            x += run;
            continue;
        }
        uint32_t count = 1; // up to the next run
        while (x + count < width && count < 128 &&
               !(x + count + 2 < width && values[x + count] == values[x + count + 1] &&
                 values[x + count] == values[x + count + 2])) {
            count++;
        }
        put(&(uint8_t){(uint8_t)count}, 1);
        put(values + x, count);
        x += count;
    }
}

static void put_coded(uint32_t width, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++) {
        put((uint8_t[]){2, 2, (uint8_t)(width >> 8), (uint8_t)width}, 4);
        for (uint32_t c = 0; c < 4; c++) {
            put_component(width, y, c);
        }
    }
}

static void flat_pixels_are_read(void **state)
{
    (void)state;
    begin("FORMAT=32-bit_rle_rgbe\n", "-Y 5 +X 7"); // too short for the newer coding
    put_flat(7, 5);
    decode_pattern(7, 5);
    expect_no_truncation_passes(builder.bytes, builder.size, 1);
    begin("", "-Y 4 +X 300"); // long enough for it, but flat; and no format given
    put_flat(300, 4);
    decode_pattern(300, 4);
}

static void runs_are_read(void **state)
{
    (void)state;
    begin("# made by hand\nFORMAT=32-bit_rle_rgbe\nSOFTWARE=none\n", "-Y 20 +X 300");
    put_coded(300, 20);
    assert_true(builder.size < 300 * 20 * 4); // something was coded
    decode_pattern(300, 20);
    expect_no_truncation_passes(builder.bytes, builder.size, 37);
    begin("FORMAT=32-bit_rle_rgbe\n", "-Y 1 +X 8"); // the shortest that is coded
    put_coded(8, 1);
    decode_pattern(8, 1);
    expect_no_truncation_passes(builder.bytes, builder.size, 1);
}

static void older_runs_are_read(void **state)
{
    (void)state;
    const uint8_t pixel[4] = {200, 100, 50, 128}, other[4] = {128, 0, 0, 129};
    begin("", "-Y 1 +X 605");
    put(pixel, 4);
    put((uint8_t[]){1, 1, 1, 90, 1, 1, 1, 2}, 8); // 90 + 2 * 256 more of them
    put(other, 4);
    put((uint8_t[]){1, 1, 1, 1}, 4); // a pixel between starts counting anew
    Image image;
    expect_ok(image_decode("made", builder.bytes, builder.size, &image));
    for (uint32_t x = 0; x < 605; x++) {
        const uint8_t *from = x < 603 ? pixel : other;
        for (uint32_t c = 0; c < 3; c++) {
            assert_true(image.pixels[3 * x + c] == ldexpf((float)from[c], from[3] - 136));
        }
    }
    image_destroy(&image);
    expect_no_truncation_passes(builder.bytes, builder.size, 1);
}

static void every_orientation_is_turned_upright(void **state)
{
    (void)state;
    enum { WIDTH = 3, HEIGHT = 2 };
    for (int flags = 0; flags < 8; flags++) {
        const bool x_first = flags & 1, x_down = flags & 2, y_up = flags & 4;
        char resolution[64];
        snprintf(resolution, sizeof resolution, x_first ? "%cX %d %cY %d" : "%cY %d %cX %d",
                 x_first ? (x_down ? '-' : '+') : (y_up ? '+' : '-'), x_first ? WIDTH : HEIGHT,
                 x_first ? (y_up ? '+' : '-') : (x_down ? '-' : '+'), x_first ? HEIGHT : WIDTH);
        begin("", resolution);
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            uint32_t x = x_first ? i / HEIGHT : i % WIDTH;
            uint32_t y = x_first ? i % HEIGHT : i / WIDTH;
            x = x_down ? WIDTH - 1 - x : x;
            y = y_up ? HEIGHT - 1 - y : y;
            uint8_t rgbe[4];
            rgbe_at(x, y, rgbe);
            put(rgbe, 4);
        }
        decode_pattern(WIDTH, HEIGHT);
    }
}

static void exposures_are_taken_out(void **state)
{
    (void)state;
    begin("EXPOSURE=4\nEXPOSURE= 0.5\n", "-Y 1 +X 2");
    put((uint8_t[]){128, 64, 0, 129, 9, 9, 9, 0}, 8); // the second is black: its exponent is 0
    Image image;
    expect_ok(image_decode("made", builder.bytes, builder.size, &image));
    const float expected[6] = {0.5f, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f};
    assert_memory_equal(image.pixels, expected, sizeof expected);
    image_destroy(&image);
}

static void expect_refusal(const char *message)
{
    Image image;
    assert_int_equal(image_decode("made", builder.bytes, builder.size, &image), MOTE_ERROR_INPUT);
    assert_null(image.pixels);
    expect_message("made: ");
    expect_message(message);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    begin("FORMAT=32-bit_rle_xyze\n", "-Y 1 +X 1");
    expect_refusal("\"32-bit_rle_xyze\", expected \"32-bit_rle_rgbe\"");
    static const char *const exposures[] = {"EXPOSURE=0\n", "EXPOSURE=-1\n", "EXPOSURE=nan\n", "EXPOSURE=x\n",
                                            "EXPOSURE=1e300\n"};
    for (size_t i = 0; i < sizeof exposures / sizeof exposures[0]; i++) {
        begin(exposures[i], "-Y 1 +X 1");
        expect_refusal("exposure");
    }
    static const char *const resolutions[] = {"",           "-Y 1",       "-Y 1 -Y 1", "Y 1 X 1",
                                              "-Y 1 +X",    "-Y 1 +X 1 ", "-Y x +X 1", "-Y -1 +X 1",
                                              "-Y 1  +X 1", "-Z 1 +X 1",  "-",         "-Y 99999999999 +X 1",
                                              "+X 1 +X 1",  "-Y 1 +X 1x"};
    for (size_t i = 0; i < sizeof resolutions / sizeof resolutions[0]; i++) {
        begin("", resolutions[i]);
        expect_refusal("expected one like");
    }
    begin("", "-Y 0 +X 4");
    expect_refusal("0 pixels");
    begin("", "-Y 65536 +X 65536");
    expect_refusal("expected at most");
    begin("", "-Y 1 +X 8");
    put((uint8_t[]){2, 2, 0, 9}, 4);
    expect_refusal("length is not the image's");
    begin("", "-Y 1 +X 8");
    put((uint8_t[]){2, 2, 0, 8, 137, 0}, 6);
    expect_refusal("longer than its scanline");
    begin("", "-Y 1 +X 8");
    put((uint8_t[]){2, 2, 0, 8, 0, 0}, 6);
    expect_refusal("or empty");
    begin("", "-Y 1 +X 8");
    put((uint8_t[]){1, 1, 1, 8}, 4);
    expect_refusal("repeats nothing");
    begin("", "-Y 1 +X 8");
    put((uint8_t[]){128, 0, 0, 128, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1}, 24);
    expect_refusal("longer than its scanline");
    builder.size = 0;
    put_text("#?RADIANCE\n");
    expect_refusal("no end");
    builder.size = 0;
    put_text("#?RADIANCE\n");
    memset(builder.bytes + builder.size, 'x', 5000); // a line that is none
    builder.size += 5000;
    expect_refusal("no end");
}

static void mutations_do_no_harm(void **state)
{
    (void)state;
    begin("FORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n", "-Y 12 +X 40");
    put_coded(40, 12);
    assert_true(decode_mutations(builder.bytes, builder.size, 600) > 50);
    begin("", "-Y 9 +X 7");
    put_flat(7, 9);
    decode_mutations(builder.bytes, builder.size, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_pixels_are_read),    cmocka_unit_test(runs_are_read),
        cmocka_unit_test(older_runs_are_read),     cmocka_unit_test(every_orientation_is_turned_upright),
        cmocka_unit_test(exposures_are_taken_out), cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(mutations_do_no_harm),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
