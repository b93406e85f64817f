// SPDX-License-Identifier: MIT
// Sort, scan and bounds: the backend functions that are not kernels of the table, on every backend and, on the CPU,
// for several numbers of threads.
#include "backends.h"

static const TestBackend primitive_backends[] = {
    {"cpu, 1 thread", {.backend = "cpu", .threads = 1}},
    {"cpu, 2 threads", {.backend = "cpu", .threads = 2}},
    {"cpu, 3 threads", {.backend = "cpu", .threads = 3}},
    {"cpu, 7 threads", {.backend = "cpu", .threads = 7}},
    {"portable cpu", {.backend = "cpu", .portable = true}},
    {"cuda", {.backend = "cuda"}},
    {"vulkan", {.backend = "vulkan", .validate = VULKAN_VALIDATE}},
};
enum { PRIMITIVE_BACKENDS = sizeof primitive_backends / sizeof primitive_backends[0] };

static Backend *open_backend(const TestBackend *backend)
{
    Backend *opened = NULL;
    assert_int_equal(keep_vulkan(&backend->options), 0);
    expect_ok(backend_create(&backend->options, &opened));
    return opened;
}

static void close_backend(Backend *backend)
{
    assert_null(backend->functions->failure(backend));
    backend->functions->destroy(backend);
}

// Backend memory that holds a copy of `source`.
static void *upload_copy(Backend *backend, const void *source, size_t bytes)
{
    void *address = backend->functions->allocate(backend, bytes);
    assert_non_null(address);
    if (bytes > 0) {
        backend->functions->upload(backend, address, source, bytes);
    }
    return address;
}

static void fetch_and_release(Backend *backend, void *target, void *address, size_t bytes)
{
    if (bytes > 0) {
        backend->functions->download(backend, target, address, bytes);
    }
    backend->functions->release(backend, address, bytes);
}

// ---- Sort ----

typedef struct Pair {
    u64 key;
    uint value;
} Pair;

static int compare_pairs(const void *a, const void *b)
{
    const Pair *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->value < y->value ? -1 : x->value > y->value; // values ascend in the input: this is the stable order
}

static void check_sort(const u64 *keys, uint32_t count)
{
    Pair *expected = malloc((count + 1) * sizeof *expected);
    u64 *found_keys = malloc((count + 1) * sizeof *found_keys);
    uint *values = malloc((count + 1) * sizeof *values), *found = malloc((count + 1) * sizeof *found);
    assert_true(expected != NULL && found_keys != NULL && values != NULL && found != NULL);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = 3 * i + 1;
        expected[i] = (Pair){keys[i], values[i]};
    }
    qsort(expected, count, sizeof *expected, compare_pairs);
    for (int b = 0; b < PRIMITIVE_BACKENDS; b++) {
        Backend *backend = open_backend(&primitive_backends[b]);
        u64 *device_keys = upload_copy(backend, keys, count * sizeof *keys);
        uint *device_values = upload_copy(backend, values, count * sizeof *values);
        void *scratch = backend->functions->allocate(backend, (size_t)count * 16);
        backend->functions->sort(backend, device_keys, device_values, count, scratch);
        fetch_and_release(backend, found_keys, device_keys, count * sizeof *keys);
        fetch_and_release(backend, found, device_values, count * sizeof *values);
        backend->functions->release(backend, scratch, (size_t)count * 16);
        for (uint32_t i = 0; i < count; i++) {
            if (found_keys[i] != expected[i].key || found[i] != expected[i].value) {
                fail_msg("%s: of %u sorted pairs, number %u is wrong", primitive_backends[b].label, count, i);
            }
        }
        close_backend(backend);
    }
    free(expected);
    free(found_keys);
    free(values);
    free(found);
}

typedef u64 KeyMaker(uint32_t i, uint32_t count);

static u64 any_key(uint32_t i, uint32_t count)
{
    (void)i, (void)count;
    return random_bits();
}

static u64 ascending_key(uint32_t i, uint32_t count)
{
    (void)count;
    return (u64)i * 0x123456789u;
}

static u64 descending_key(uint32_t i, uint32_t count)
{
    return (u64)(count - i) << 29;
}

static u64 equal_key(uint32_t i, uint32_t count)
{
    (void)i, (void)count;
    return 0x8000000000000001u;
}

static u64 few_keys(uint32_t i, uint32_t count) // much to keep stable
{
    (void)i, (void)count;
    return random_bits() % 5 * 0x1000200030004000u;
}

static u64 high_bits(uint32_t i, uint32_t count) // two bits of the last digit, the rest the same
{
    (void)i, (void)count;
    return (random_bits() & 0xc000000000000000u) | 0x0000123456789abcu;
}

static u64 last_out_of_place(uint32_t i, uint32_t count)
{
    return i + 1 < count ? (u64)i + 7 : 0;
}

static u64 removed_among_them(uint32_t i, uint32_t count)
{
    (void)count;
    return i % 3 == 0 ? KEY_REMOVED : random_bits() >> 1;
}

static u64 few_far_away(uint32_t i, uint32_t count) // the others stay together when the highest bits are looked at
{
    return i % 1000 == 0 ? random_bits() : (u64)i * 3000 / count + random_bits() % 20;
}

static void sort_is_stable_and_ascending(void **state)
{
    (void)state;
    KeyMaker *const makers[] = {any_key,   ascending_key,     descending_key,     equal_key,   few_keys,
                                high_bits, last_out_of_place, removed_among_them, few_far_away};
    const uint32_t sizes[] = {0, 1, 2, 3, 7, 100, 2047, 2048, 2049, 4095, 4096, 4097, 20011};
    u64 *keys = malloc(20011 * sizeof *keys);
    assert_non_null(keys);
    for (size_t m = 0; m < sizeof makers / sizeof makers[0]; m++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (uint32_t i = 0; i < sizes[s]; i++) {
                keys[i] = makers[m](i, sizes[s]);
            }
            check_sort(keys, sizes[s]);
        }
    }
    free(keys);
}

static void sort_takes_millions(void **state)
{
    (void)state;
    const uint32_t count = 4000000;
    u64 *keys = malloc(count * sizeof *keys);
    assert_non_null(keys);
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = random_bits() >> (i % 64); // short and long keys, many of them equal
    }
    check_sort(keys, count);
    free(keys);
}

// ---- Scan ----

static void check_scan(const uint *values, uint32_t count)
{
    uint *found = malloc((count + 1) * sizeof *found);
    assert_non_null(found);
    for (int b = 0; b < PRIMITIVE_BACKENDS; b++) {
        Backend *backend = open_backend(&primitive_backends[b]);
        uint *device = upload_copy(backend, values, (count + 1) * sizeof *values);
        backend->functions->scan(backend, device, count);
        fetch_and_release(backend, found, device, (count + 1) * sizeof *values);
        uint sum = 0;
        for (uint32_t i = 0; i <= count; i++) {
            if (found[i] != sum) {
                fail_msg("%s: sum %u of %u is %u, expected %u", primitive_backends[b].label, i, count, found[i], sum);
            }
            sum += values[i];
        }
        close_backend(backend);
    }
    free(found);
}

static void scan_sums_what_is_before(void **state)
{
    (void)state;
    const uint32_t sizes[] = {0, 1, 2, 3, 5, 8, 127, 128, 129, 4095, 4096, 4097, 9999, 65537, 1000000};
    uint *values = malloc(1000001 * sizeof *values);
    assert_non_null(values);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint32_t count = sizes[s];
        for (uint32_t i = 0; i < count; i++) {
            values[i] = (uint)(random_bits() % 1000);
        }
        values[count] = 0xdeadbeefu; // the last element is only written
        check_scan(values, count);
    }
    memset(values, 0, 10001 * sizeof *values);
    check_scan(values, 10000);
    free(values);
}

// ---- Bounds ----

static void check_bounds(const vec4 *points, uint32_t count)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        const float p[3] = {points[i].x, points[i].y, points[i].z};
        for (int axis = 0; axis < 3 && points[i].w >= 0.0f; axis++) {
            low[axis] = fminf(low[axis], p[axis]);
            high[axis] = fmaxf(high[axis], p[axis]);
        }
    }
    for (int b = 0; b < PRIMITIVE_BACKENDS; b++) {
        Backend *backend = open_backend(&primitive_backends[b]);
        vec4 *device = upload_copy(backend, points, count * sizeof *points);
        vec4 *bounds = backend->functions->allocate(backend, 2 * sizeof *bounds), found[2];
        backend->functions->find_bounds(backend, device, count, bounds);
        fetch_and_release(backend, found, bounds, sizeof found);
        backend->functions->release(backend, device, count * sizeof *points);
        assert_true(found[0].x == low[0] && found[0].y == low[1] && found[0].z == low[2]);
        assert_true(found[1].x == high[0] && found[1].y == high[1] && found[1].z == high[2]);
        close_backend(backend);
    }
}

static void bounds_hold_all_points(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 2, 3, 127, 4095, 4096, 4097, 300007};
    vec4 *points = malloc(300007 * sizeof *points);
    assert_non_null(points);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint32_t count = sizes[s];
        for (uint32_t i = 0; i < count; i++) {
            const MoteVec3 p = random_in_box((MoteVec3){5, -300, 0}, 100);
            points[i] = v4(p.x, p.y, p.z, random_float(0.0f, 1e6f)); // which number it is must not matter
        }
        check_bounds(points, count);
        for (uint32_t i = 1; i < count; i++) { // dead slots, some of them far away
            points[i] = i % 3 == 0 ? v4(i % 2 == 0 ? 1e9f : -1e9f, 1e9f, -1e9f, -1.0f) : points[i];
        }
        check_bounds(points, count);
        points[0].x = -1e30f; // the extremes at both ends of the array
        points[count - 1].y = 1e30f;
        points[count - 1].w = 0.0f;
        points[count / 2].z = -1e-30f;
        check_bounds(points, count);
    }
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_is_stable_and_ascending),
        cmocka_unit_test(sort_takes_millions),
        cmocka_unit_test(scan_sums_what_is_before),
        cmocka_unit_test(bounds_hold_all_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
