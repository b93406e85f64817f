// SPDX-License-Identifier: MIT
// vulkan_primitives.c - sort, scan and bounds as passes of shaders/solver. No pass needs workgroups to run at the same
// time, and every result is the same in every run.
#include "vulkan/vulkan_backend.h"

#include <stdint.h>

enum {
    DIGITS = 8,
    DIGIT_VALUES = 256,
    STATE_BYTES = 16 + 32 * (DIGITS + 1), // SortState of sort.glsl
    ROW_ONCE = 16,                        // PassRow: where its second dispatch begins
    TILE_LIMIT = 512,                     // tiles of a sort: sort_columns goes through them one by one
    ROUNDS_AT_LEAST = 8,                  // elements an invocation of a sort's tile
    SMALL_SORT = 2048,                    // elements: up to here one workgroup sorts
    SCAN_TILE = 4096,                     // elements
    BOUNDS_TILE = 4096,
};

// The push constants of sort.glsl, scan.glsl and bounds.comp.
typedef struct SortArguments {
    VkDeviceAddress keys, values, other_keys, other_values, state, counts;
    uint32_t count, tile, tiles, digit;
} SortArguments;

typedef struct ScanArguments {
    VkDeviceAddress values, sums;
    uint32_t count, written, elements, single;
} ScanArguments;

typedef struct BoundsArguments {
    VkDeviceAddress points, corners;
    uint32_t count, tile, pairs;
} BoundsArguments;

_Static_assert(sizeof(SortArguments) <= PUSH_CONSTANT_BYTES, "fits");

static VkDeviceAddress address_of(const void *pointer)
{
    return (VkDeviceAddress)(uintptr_t)pointer;
}

static uint32_t parts(uint64_t count, uint64_t size)
{
    return (uint32_t)((count + size - 1) / size);
}

// ---- Sort --------------------------------------------------------------------------------------------------

// By as many workgroups as the device has written at `offset` of the temporary.
static void run_planned(VulkanBackend *vulkan, ProgramId program, const SortArguments *arguments, VkDeviceSize offset)
{
    vulkan_dispatch_planned(vulkan, program, arguments, sizeof *arguments, vulkan->temporary.handle, offset);
}

static void sort_by_passes(VulkanBackend *vulkan, SortArguments *arguments)
{
    vulkan_fill_zero(vulkan, vulkan->temporary.handle, STATE_BYTES);
    vulkan_dispatch(vulkan, PROGRAM_SORT_DIFFER, arguments, sizeof *arguments, arguments->tiles);
    vulkan_dispatch(vulkan, PROGRAM_SORT_PLAN, arguments, sizeof *arguments, 1);
    for (uint32_t digit = 0; digit < DIGITS; digit++) {
        const VkDeviceSize row = 16 + 32 * (VkDeviceSize)digit;
        arguments->digit = digit;
        run_planned(vulkan, PROGRAM_SORT_COUNT, arguments, row);
        run_planned(vulkan, PROGRAM_SORT_COLUMNS, arguments, row + ROW_ONCE);
        run_planned(vulkan, PROGRAM_SORT_SCATTER, arguments, row);
    }
    arguments->digit = DIGITS;
    run_planned(vulkan, PROGRAM_SORT_COPY, arguments, 16 + 32 * DIGITS);
}

void vulkan_sort(Backend *backend, u64 *keys, uint *values, uint32_t count, void *scratch)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    const uint32_t group = vulkan->programs->group;
    const uint32_t rounds = parts(count, (uint64_t)group * TILE_LIMIT);
    const uint32_t tile = group * (rounds > ROUNDS_AT_LEAST ? rounds : ROUNDS_AT_LEAST), tiles = parts(count, tile);
    const size_t counts_at = (STATE_BYTES + 63) / 64 * 64;
    if (count < 2 || !vulkan_begin_timed(vulkan) ||
        !vulkan_reserve_temporary(vulkan, counts_at + sizeof(uint32_t) * DIGIT_VALUES * tiles) ||
        !vulkan_begin(vulkan)) {
        return;
    }
    const VkDeviceAddress temporary = vulkan->temporary.address;
    SortArguments arguments = {.keys = address_of(keys),
                               .values = address_of(values),
                               .other_keys = address_of(scratch),
                               .other_values = address_of((u64 *)scratch + count),
                               .state = temporary,
                               .counts = temporary + counts_at,
                               .count = count,
                               .tile = tile,
                               .tiles = tiles};
    if (count <= SMALL_SORT) {
        vulkan_dispatch(vulkan, PROGRAM_SORT_SMALL, &arguments, sizeof arguments, 1);
    } else {
        sort_by_passes(vulkan, &arguments);
    }
    vulkan_time(vulkan, PRIMITIVE_SORT, count);
}

// ---- Scan --------------------------------------------------------------------------------------------------

// Sums of tiles, sums of tiles of sums, and so on lie one after the other in the temporary.
static void scan_level(VulkanBackend *vulkan, VkDeviceAddress values, uint32_t count, uint32_t written,
                       VkDeviceAddress sums)
{
    const uint32_t tiles = parts(written, SCAN_TILE);
    const ScanArguments arguments = {.values = values,
                                     .sums = sums,
                                     .count = count,
                                     .written = written,
                                     .elements = SCAN_TILE / vulkan->programs->group,
                                     .single = tiles == 1};
    if (tiles > 1) {
        vulkan_dispatch(vulkan, PROGRAM_SCAN_SUMS, &arguments, sizeof arguments, tiles);
        scan_level(vulkan, sums, tiles, tiles, sums + sizeof(uint32_t) * ((tiles + 15u) / 16u * 16u));
    }
    vulkan_dispatch(vulkan, PROGRAM_SCAN_TILES, &arguments, sizeof arguments, tiles);
}

size_t vulkan_scan_bytes(uint32_t count)
{
    const size_t tiles = parts((uint64_t)count + 1, SCAN_TILE);
    return (sizeof(uint32_t) * (2 * tiles + 256) + 63) / 64 * 64;
}

void vulkan_scan(Backend *backend, uint *values, uint32_t count)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    if (!vulkan_begin_timed(vulkan) || !vulkan_reserve_temporary(vulkan, vulkan_scan_bytes(count)) ||
        !vulkan_begin(vulkan)) {
        return;
    }
    scan_level(vulkan, address_of(values), count, count + 1, vulkan->temporary.address);
    vulkan_time(vulkan, PRIMITIVE_SCAN, count);
}

// ---- Bounds ------------------------------------------------------------------------------------------------

void vulkan_find_bounds(Backend *backend, const vec4 *points, uint32_t count, vec4 *bounds)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    const uint32_t tiles = parts(count, BOUNDS_TILE);
    if (!vulkan_begin_timed(vulkan) || !vulkan_reserve_temporary(vulkan, 2 * sizeof(vec4) * (tiles + 1)) ||
        !vulkan_begin(vulkan)) {
        return;
    }
    BoundsArguments arguments = {.points = address_of(points),
                                 .corners = tiles > 1 ? vulkan->temporary.address : address_of(bounds),
                                 .count = count,
                                 .tile = BOUNDS_TILE};
    vulkan_dispatch(vulkan, PROGRAM_BOUNDS, &arguments, sizeof arguments, tiles > 0 ? tiles : 1);
    if (tiles > 1) {
        arguments = (BoundsArguments){.points = vulkan->temporary.address,
                                      .corners = address_of(bounds),
                                      .count = tiles,
                                      .tile = tiles,
                                      .pairs = 1};
        vulkan_dispatch(vulkan, PROGRAM_BOUNDS, &arguments, sizeof arguments, 1);
    }
    vulkan_time(vulkan, PRIMITIVE_BOUNDS, count);
}
