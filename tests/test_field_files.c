// SPDX-License-Identifier: MIT
// OpenVDB files that are cut, changed or lie: read or refused, never a crash, a hang or gigabytes.
#define _POSIX_C_SOURCE 200809L
#include "mesh_fixture.h"

#include "base/clock.h"
#include <sys/resource.h>

enum { FILE_SIZE = 1 << 20, META_COUNT = 57 }; // after magic, three versions, a flag and a UUID
static unsigned char whole[FILE_SIZE], changed[FILE_SIZE];
static size_t whole_size;
static MoteFieldInfo whole_info;

static void make_file(void)
{
    Mesh box = load_mesh("shape:box");
    const MoteFieldOptions options = {.positions = box.positions,
                                      .position_count = box.vertex_count,
                                      .triangles = box.triangles,
                                      .triangle_count = box.triangle_count,
                                      .cell_size = 0.1f};
    MoteField *field;
    char path[512];
    snprintf(path, sizeof path, "%s/whole.vdb", fixture_folder);
    expect_ok(mote_field_create(&options, &field));
    expect_ok(mote_field_save(field, path));
    whole_info = mote_field_info(field);
    mote_field_destroy(field);
    mesh_free(&box);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    whole_size = fread(whole, 1, sizeof whole, stream);
    fclose(stream);
    assert_true(whole_size > 1000 && whole_size < sizeof whole);
}

static MoteResult read_bytes(const char *name, const void *bytes, size_t size, MoteFieldInfo *info)
{
    fixture_write(name, bytes, size);
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    const MoteFieldOptions options = {.path = path};
    MoteField *field = NULL;
    const MoteResult result = mote_field_create(&options, &field);
    if (result == MOTE_OK) {
        *info = mote_field_info(field);
        mote_field_destroy(field);
    } else {
        assert_null(field);
        assert_true(result == MOTE_ERROR_INPUT || result == MOTE_ERROR_MEMORY);
        assert_non_null(strstr(mote_error_message(), name));
    }
    return result;
}

static void expect_little_memory(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    assert_true(own.ru_maxrss < 1 << 20 && children.ru_maxrss < 1 << 20); // kB
}

static void a_whole_file_is_read(void **state)
{
    (void)state;
    make_file();
    MoteFieldInfo info;
    expect_ok(read_bytes("same.vdb", whole, whole_size, &info));
    assert_int_equal(info.voxels, whole_info.voxels);
    assert_true(info.cell_size == whole_info.cell_size && info.bounds_min.x == whole_info.bounds_min.x &&
                info.bounds_max.z == whole_info.bounds_max.z);
}

static void claims_are_refused(void **state)
{
    (void)state;
    MoteFieldInfo info;
    const double start = clock_seconds();
    memcpy(changed, whole, whole_size);
    memset(changed + META_COUNT, 0xff, 4); // four thousand million names with values
    assert_int_not_equal(read_bytes("names.vdb", changed, whole_size, &info), MOTE_OK);
    memset(changed + META_COUNT + 4, 0xff, 4); // the first of which has as many letters
    assert_int_equal(read_bytes("letters.vdb", changed, whole_size, &info), MOTE_ERROR_MEMORY);
    assert_non_null(strstr(mote_error_message(), "memory"));
    assert_int_equal(read_bytes("empty.vdb", whole, 0, &info), MOTE_ERROR_INPUT);
    assert_int_equal(read_bytes("cut.vdb", whole, whole_size / 2, &info), MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), "it ends too early"));
    assert_true(clock_seconds() - start < 20.0);
    expect_little_memory();
}

static void changed_files_do_no_harm(void **state)
{
    (void)state;
    static const uint32_t words[] = {0xffffffff, 0x7fffffff, 0x80000000, 0, 0x10000000};
    const uint32_t files = getenv("MOTE_SHORT_TESTS") == NULL ? 300 : 40; // the sanitizers' forks are slow
    uint32_t refused = 0, read = 0;
    for (uint32_t i = 0; i < files; i++) {
        size_t size = whole_size;
        memcpy(changed, whole, whole_size);
        for (uint32_t k = 0; k <= i % 4; k++) {
            // Half of them in the header and the tree's upper levels.
            const size_t at = random_bits() % (random_bits() % 2 == 0 ? whole_size - 4 : 1500);
            if (k % 2 == 0) {
                changed[at] = (unsigned char)random_bits();
            } else {
                memcpy(changed + at, &words[random_bits() % 5], 4);
            }
        }
        if (i % 8 == 7) {
            size = random_bits() % whole_size;
        }
        MoteFieldInfo info;
        if (read_bytes("changed.vdb", changed, size, &info) == MOTE_OK) {
            assert_true(isfinite(info.bounds_min.x) && isfinite(info.bounds_max.x) && info.cell_size > 0.0f);
            read++;
        } else {
            refused++;
        }
    }
    if (!(refused > files / 6 && read >= files / 20)) {
        fail_msg("%u of %u changed files were refused and %u read, the last one: %s", refused, files, read,
                 mote_error_message());
    }
    expect_little_memory();
}

static void noise_is_refused(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 50; i++) {
        const size_t kept = i % 2 == 0 ? 0 : META_COUNT; // noise after a good header
        memcpy(changed, whole, kept);
        for (size_t k = kept; k < 2000; k++) {
            changed[k] = (unsigned char)random_bits();
        }
        MoteFieldInfo info;
        assert_int_not_equal(read_bytes("noise.vdb", changed, 2000, &info), MOTE_OK);
    }
    expect_little_memory();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_read),
        cmocka_unit_test(claims_are_refused),
        cmocka_unit_test(changed_files_do_no_harm),
        cmocka_unit_test(noise_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
