// SPDX-License-Identifier: MIT
// PNG files: what is written comes back, what others write is read, what is damaged is refused.
#define _POSIX_C_SOURCE 200809L
#include "image_fixture.h"

// ---- Writing and reading back ----

static uint8_t byte_at(uint32_t x, uint32_t y, uint32_t c)
{
    return (uint8_t)(x * 7 + y * 31 + c * 101 + x * y);
}

static void eight_bits_come_back_exactly(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 23, GAP = 11 };
    for (uint32_t channels = 1; channels <= 4; channels++) {
        for (size_t gap = 0; gap <= GAP; gap += GAP) {
            static uint8_t rows[HEIGHT * (WIDTH * 4 + GAP)];
            const size_t row_bytes = WIDTH * channels + gap;
            for (uint32_t y = 0; y < HEIGHT; y++) {
                for (uint32_t i = 0; i < WIDTH * channels; i++) {
                    rows[y * row_bytes + i] = byte_at(i / channels, y, i % channels);
                }
            }
            expect_ok(image_write_png8(fixture_path("8.png"), WIDTH, HEIGHT, channels, rows, gap > 0 ? row_bytes : 0));
            Image image;
            expect_ok(image_read(fixture_path("8.png"), &image));
            assert_int_equal(image.width, WIDTH);
            assert_int_equal(image.height, HEIGHT);
            assert_int_equal(image.channels, channels);
            for (uint32_t i = 0; i < WIDTH * HEIGHT * channels; i++) {
                const uint32_t pixel = i / channels;
                const float expected = (float)byte_at(pixel % WIDTH, pixel / WIDTH, i % channels) / 255.0f;
                assert_true(image.pixels[i] == expected);
            }
            image_destroy(&image);
        }
    }
}

static void sixteen_bits_come_back_exactly(void **state)
{
    (void)state;
    enum { WIDTH = 64, HEIGHT = 64 };
    static uint16_t words[WIDTH * HEIGHT * 4];
    for (uint32_t i = 0; i < WIDTH * HEIGHT * 4; i++) {
        words[i] = (uint16_t)(i * 4 + i % 3); // both bytes differ from pixel to pixel
    }
    for (uint32_t channels = 1; channels <= 4; channels++) {
        expect_ok(image_write_png16(fixture_path("16.png"), WIDTH, HEIGHT, channels, words, 0));
        Image image;
        expect_ok(image_read(fixture_path("16.png"), &image));
        assert_int_equal(image.channels, channels);
        for (uint32_t i = 0; i < WIDTH * HEIGHT * channels; i++) {
            assert_true(image.pixels[i] == (float)words[i] / 65535.0f);
        }
        image_destroy(&image);
    }
}

static void floats_are_rounded_and_clamped(void **state)
{
    (void)state;
    const float values[9] = {0.0f, 1.0f, 0.5f, -3.0f, 7.0f, NAN, INFINITY, 0.499f / 255.0f, 0.501f / 255.0f};
    const float expected8[9] = {0.0f, 255.0f, 128.0f, 0.0f, 255.0f, 0.0f, 255.0f, 0.0f, 1.0f};
    const float expected16[9] = {0.0f, 65535.0f, 32768.0f, 0.0f, 65535.0f, 0.0f, 65535.0f, 128.0f, 129.0f};
    Image image, back;
    expect_ok(image_create(&image, 3, 3, 1));
    memcpy(image.pixels, values, sizeof values);
    for (uint32_t bits = 8; bits <= 16; bits += 8) {
        expect_ok(image_write_png(fixture_path("f.png"), &image, bits));
        expect_ok(image_read(fixture_path("f.png"), &back));
        for (int i = 0; i < 9; i++) {
            const float scale = bits == 8 ? 255.0f : 65535.0f;
            assert_true(roundf(back.pixels[i] * scale) == (bits == 8 ? expected8 : expected16)[i]);
        }
        image_destroy(&back);
    }
    image_destroy(&image);
}

static void the_same_pixels_give_the_same_bytes(void **state)
{
    (void)state;
    uint8_t rows[16 * 16 * 3];
    for (uint32_t i = 0; i < sizeof rows; i++) {
        rows[i] = (uint8_t)(i * i);
    }
    size_t sizes[2];
    char *files[2];
    for (int i = 0; i < 2; i++) {
        expect_ok(image_write_png8(fixture_path("same.png"), 16, 16, 3, rows, 0));
        files[i] = fixture_read("same.png", &sizes[i]);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(files[0], files[1], sizes[0]);
    free(files[0]);
    free(files[1]);
}

// ---- Files as other programs write them, made here by hand: deflate without compression, so no library takes part
// ----

typedef struct Builder {
    uint8_t bytes[4096];
    size_t size;
} Builder;

static void put(Builder *builder, const void *bytes, size_t count)
{
    assert_true(builder->size + count <= sizeof builder->bytes);
    memcpy(builder->bytes + builder->size, bytes, count);
    builder->size += count;
}

static void put_u32(Builder *builder, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    put(builder, bytes, 4);
}

static uint32_t crc_of(const uint8_t *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
        }
    }
    return ~crc;
}

static void put_chunk(Builder *builder, const char *type, const void *bytes, size_t count)
{
    put_u32(builder, (uint32_t)count);
    const size_t start = builder->size;
    put(builder, type, 4);
    put(builder, bytes, count);
    put_u32(builder, crc_of(builder->bytes + start, builder->size - start));
}

typedef struct Kind {
    uint32_t width, height;
    uint8_t bits, colour_type, interlace;
    const uint8_t *palette; // 3 bytes an entry
    size_t palette_size;
    const uint8_t *transparency;
    size_t transparency_size;
    const uint8_t *scanlines; // each with its filter byte
    size_t scanline_bytes;
} Kind;

static void build_png(Builder *builder, const Kind *kind)
{
    builder->size = 0;
    put(builder, "\x89PNG\r\n\x1a\n", 8);
    Builder header = {.size = 0};
    put_u32(&header, kind->width);
    put_u32(&header, kind->height);
    const uint8_t rest[5] = {kind->bits, kind->colour_type, 0, 0, kind->interlace};
    put(&header, rest, 5);
    put_chunk(builder, "IHDR", header.bytes, header.size);
    if (kind->palette != NULL) {
        put_chunk(builder, "PLTE", kind->palette, kind->palette_size);
    }
    if (kind->transparency != NULL) {
        put_chunk(builder, "tRNS", kind->transparency, kind->transparency_size);
    }
    Builder data = {.size = 0};
    const uint16_t count = (uint16_t)kind->scanline_bytes;
    const uint8_t start[7] = {
        0x78, 0x01, 1, (uint8_t)count, (uint8_t)(count >> 8), (uint8_t)~count, (uint8_t)(~count >> 8)};
    put(&data, start, 7);
    put(&data, kind->scanlines, kind->scanline_bytes);
    uint32_t a = 1, b = 0; // Adler-32
    for (size_t i = 0; i < kind->scanline_bytes; i++) {
        a = (a + kind->scanlines[i]) % 65521;
        b = (b + a) % 65521;
    }
    put_u32(&data, b << 16 | a);
    put_chunk(builder, "IDAT", data.bytes, data.size);
    put_chunk(builder, "IEND", "", 0);
}

static void expect_pixels(const Kind *kind, uint32_t channels, const float *expected)
{
    static Builder builder;
    build_png(&builder, kind);
    Image image;
    expect_ok(image_decode("made", builder.bytes, builder.size, &image));
    assert_int_equal(image.width, kind->width);
    assert_int_equal(image.height, kind->height);
    assert_int_equal(image.channels, channels);
    for (uint32_t i = 0; i < kind->width * kind->height * channels; i++) {
        if (image.pixels[i] != expected[i]) {
            fail_msg("value %u is %g, expected %g", i, (double)image.pixels[i], (double)expected[i]);
        }
    }
    image_destroy(&image);
    expect_no_truncation_passes(builder.bytes, builder.size, 1);
}

static void a_palette_becomes_colours(void **state)
{
    (void)state;
    const uint8_t palette[9] = {255, 0, 0, 0, 255, 51, 0, 0, 255};
    const uint8_t scanlines[] = {0, 0x18, 0, 0x90}; // 2 bits a pixel: 0 1 2 and 2 1 0
    const float rgb[] = {1, 0, 0, 0, 1, 0.2f, 0, 0, 1, 0, 0, 1, 0, 1, 0.2f, 1, 0, 0};
    Kind kind = {.width = 3,
                 .height = 2,
                 .bits = 2,
                 .colour_type = 3,
                 .palette = palette,
                 .palette_size = 9,
                 .scanlines = scanlines,
                 .scanline_bytes = sizeof scanlines};
    expect_pixels(&kind, 3, rgb);
    const uint8_t alpha[2] = {0, 102};
    kind.transparency = alpha;
    kind.transparency_size = 2;
    const float rgba[] = {1, 0, 0, 0, 0, 1, 0.2f, 0.4f, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0.2f, 0.4f, 1, 0, 0, 0};
    expect_pixels(&kind, 4, rgba);
}

static void few_bits_are_spread_over_the_range(void **state)
{
    (void)state;
    const uint8_t one_bit[] = {0, 0xa0, 0, 0x40};
    const float black_and_white[] = {1, 0, 1, 0, 1, 0};
    expect_pixels(&(Kind){.width = 3, .height = 2, .bits = 1, .scanlines = one_bit, .scanline_bytes = sizeof one_bit},
                  1, black_and_white);
    const uint8_t four_bits[] = {0, 0x0f, 0x50};
    const float greys[] = {0, 1, 5.0f / 15.0f};
    expect_pixels(&(Kind){.width = 3, .height = 1, .bits = 4, .scanlines = four_bits, .scanline_bytes = 3}, 1, greys);
}

static void interlaced_images_are_put_together(void **state)
{
    (void)state;
    // 3 x 3, Adam7: pixel (0,0); none; none; (2,0); (0,2) and (2,2); (1,0), (1,2); row 1. Each value is 10 y + x.
    const uint8_t scanlines[] = {0, 0, 0, 2, 0, 20, 22, 0, 1, 0, 21, 0, 10, 11, 12};
    float expected[9];
    for (int i = 0; i < 9; i++) {
        expected[i] = (float)(i / 3 * 10 + i % 3) / 255.0f;
    }
    expect_pixels(&(Kind){.width = 3,
                          .height = 3,
                          .bits = 8,
                          .interlace = 1,
                          .scanlines = scanlines,
                          .scanline_bytes = sizeof scanlines},
                  1, expected);
}

static void sixteen_bit_words_have_their_high_byte_first(void **state)
{
    (void)state;
    const uint8_t scanlines[] = {0, 0x12, 0x34, 0xff, 0x00};
    const float expected[] = {(float)0x1234 / 65535.0f, (float)0xff00 / 65535.0f};
    expect_pixels(&(Kind){.width = 2, .height = 1, .bits = 16, .scanlines = scanlines, .scanline_bytes = 5}, 1,
                  expected);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    const uint8_t scanline[] = {0, 0};
    static Builder builder;
    Image image;
    const uint32_t sizes[][2] = {{0, 1}, {1, 0}, {70000, 1}, {1, 70000}, {60000, 60000}, {0x7fffffff, 0x7fffffff}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        build_png(
            &builder,
            &(Kind){
                .width = sizes[i][0], .height = sizes[i][1], .bits = 8, .scanlines = scanline, .scanline_bytes = 2});
        assert_int_equal(image_decode("absurd", builder.bytes, builder.size, &image), MOTE_ERROR_INPUT);
        expect_message("absurd: ");
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static uint8_t rows[40 * 40 * 4];
    for (uint32_t i = 0; i < sizeof rows; i++) {
        rows[i] = (uint8_t)(i * 17 + i / 160 * 3);
    }
    expect_ok(image_write_png8(fixture_path("whole.png"), 40, 40, 4, rows, 0));
    size_t size;
    uint8_t *bytes = (uint8_t *)fixture_read("whole.png", &size);
    expect_no_truncation_passes(bytes, size, size > 2000 ? 7 : 1);
    // Every byte but those of harmless chunks is covered by a checksum.
    const uint32_t refused = decode_mutations(bytes, size, 400);
    assert_true(refused > 350);
    free(bytes);
    const uint8_t scanlines[] = {9, 0, 0}; // no filter has this number
    static Builder builder;
    build_png(&builder, &(Kind){.width = 2, .height = 1, .bits = 8, .scanlines = scanlines, .scanline_bytes = 3});
    Image image;
    assert_int_equal(image_decode("odd", builder.bytes, builder.size, &image), MOTE_ERROR_INPUT);
    expect_message("odd: is a damaged PNG image: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_bits_come_back_exactly),
        cmocka_unit_test(sixteen_bits_come_back_exactly),
        cmocka_unit_test(floats_are_rounded_and_clamped),
        cmocka_unit_test(the_same_pixels_give_the_same_bytes),
        cmocka_unit_test(a_palette_becomes_colours),
        cmocka_unit_test(few_bits_are_spread_over_the_range),
        cmocka_unit_test(interlaced_images_are_put_together),
        cmocka_unit_test(sixteen_bit_words_have_their_high_byte_first),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
