// SPDX-License-Identifier: MIT
// neighbours.h - spatial order and neighbour lists over an unbounded domain (DYV section 6.2): 64-bit Z-order
// keys with 21 bits an axis, a compact table of the occupied cells found through a hash, and exact lists.
#ifndef MOTE_KERNELS_NEIGHBOURS_H
#define MOTE_KERNELS_NEIGHBOURS_H

#include "data.h"
#include "collider/distance.h"
#include "contact/material.h"
#include "gas/gas_life.h"
#include "particle/integrate.h"

#define CELL_COORDINATE_MAX 2097151.0f // 2^21 - 1

// ---- Keys --------------------------------------------------------------------------------------------------

// Moves bit n of a 21-bit number to bit 3n.
FUNCTION u64 spread_bits(uint value)
{
    u64 bits = U64(value & 0x1fffffu);
    bits = (bits | (bits << 32)) & 0x001f00000000ffffUL;
    bits = (bits | (bits << 16)) & 0x001f0000ff0000ffUL;
    bits = (bits | (bits << 8)) & 0x100f00f00f00f00fUL;
    bits = (bits | (bits << 4)) & 0x10c30c30c30c30c3UL;
    bits = (bits | (bits << 2)) & 0x1249249249249249UL;
    return bits;
}

// The inverse of spread_bits.
FUNCTION uint gather_bits(u64 bits)
{
    bits = bits & 0x1249249249249249UL;
    bits = (bits | (bits >> 2)) & 0x10c30c30c30c30c3UL;
    bits = (bits | (bits >> 4)) & 0x100f00f00f00f00fUL;
    bits = (bits | (bits >> 8)) & 0x001f0000ff0000ffUL;
    bits = (bits | (bits >> 16)) & 0x001f00000000ffffUL;
    bits = (bits | (bits >> 32)) & 0x00000000001fffffUL;
    return U32(bits);
}

FUNCTION u64 zorder_key(uint x, uint y, uint z)
{
    return spread_bits(x) | (spread_bits(y) << 1) | (spread_bits(z) << 2);
}

// Cells are a little wider than h: two particles closer than h must land in cells at most one apart although
// (p - origin) / size is rounded, twice, to 24 bits. With n cells along an axis each quotient is off by at most
// n 2^-23, so the width grows by n 2^-22 and a little. Up to ORDINARY_CELLS it is always the same: the order of the
// particles here, and with it the last bits of their sums, does not change with what is far away.
#define ORDINARY_CELLS 1024.0f
FUNCTION float cell_size(float smoothing_radius, float extent)
{
    const float cells = clamp_f32(extent / smoothing_radius, ORDINARY_CELLS, CELL_COORDINATE_MAX);
    return smoothing_radius * (1.000001f + cells * 2.6e-7f);
}

// Clamping keeps far outliers in the outermost cells: neighbours stay neighbours.
FUNCTION uint cell_coordinate(float position, float origin, float size)
{
    return U32(clamp_f32(floorf((position - origin) / size), 0.0f, CELL_COORDINATE_MAX));
}

KERNEL(assign_keys)
{
    const vec4 place = LOAD(predicted, i);
    const vec3 position = v3_from_v4(place);
    STORE(order, i, i);

    const uint phase = LOAD(phases, i);
    bool removed = place.w < 0.0f || (phase & PHASE_REMOVED) != 0u || gas_is_over(VIEW_HERE_COMMA i, phase);
    for (uint s = 0u; s < PARAMETER(kill_volume_count); s++) {
        const Collider volume = LOAD(kill_volumes, s);
        removed = removed || collider_distance(VIEW_HERE_COMMA volume, to_collider(volume, position)).w < 0.0f;
    }
    if (removed) {
        ATOMIC_ADD(counters, COUNTER_REMOVED, 1u);
        STORE(keys, i, KEY_REMOVED);
        return;
    }

    const vec4 lower = LOAD(bounds, 0);
    const vec4 upper = LOAD(bounds, 1);
    const float extent = max_f32(max_f32(upper.x - lower.x, upper.y - lower.y), upper.z - lower.z);
    const float size = cell_size(PARAMETER(search_radius), extent);
    STORE(keys, i,
          zorder_key(cell_coordinate(position.x, lower.x, size), cell_coordinate(position.y, lower.y, size),
                     cell_coordinate(position.z, lower.z, size)));
}

// ---- Putting particles in order ----------------------------------------------------------------------------

KERNEL(gather_vec4)
{
    STORE(gather_target_vec4, i, LOAD(gather_source_vec4, LOAD(order, i)));
}

KERNEL(gather_words)
{
    const uint components = PARAMETER(gather_components);
    const uint from = LOAD(order, i);
    for (uint c = 0u; c < components; c++) {
        STORE(gather_target_words, i * components + c, LOAD(gather_source_words, from * components + c));
    }
}

// Copies the reordered words back to their array.
KERNEL(copy_words)
{
    const uint components = PARAMETER(gather_components);
    for (uint c = 0u; c < components; c++) {
        STORE(gather_target_words, i * components + c, LOAD(gather_source_words, i * components + c));
    }
}

// Marks the dead slots behind the sorted particles, until the host knows their number. Scans include them: they have no
// cell and no list. New particles may be added behind them before the next step. That step does not move them, counts
// them as removed again and sorts them to the end; so all arrays that reordering may swap with `positions` are marked.
KERNEL(mark_removed)
{
    if (i >= particles_left(VIEW_HERE)) {
        const vec4 nothing = v4(0.0f, 0.0f, 0.0f, REMOVED_MASS);
#define BUFFER(type, name, capacity, order, keep, render) DEAD_##order(type, name, capacity)
#define DEAD_FIXED(type, name, capacity)
#define DEAD_REORDER(type, name, capacity) DEAD_##capacity##_##type(name)
#define DEAD_PARTICLES_vec4(name)          STORE(name, i, nothing);
#define DEAD_PARTICLES_uint(name)
#define DEAD_HANDLES_uint(name)                                                                                        \
    if (PARAMETER(has_solids) != 0u ||                                                                                 \
        PARAMETER(handle_count) != 0u) { /* kernels before the next sort do not know which slots are dead */           \
        STORE(name, i, NONE);                                                                                          \
    }
#define DEAD_GAS_vec4(name)                                                                                            \
    if (PARAMETER(has_gas) != 0u) {                                                                                    \
        STORE(name, i, nothing);                                                                                       \
    }
#define DEAD_TOUCH_SLOTS_uint(name)
#include "data.def"
        STORE(particle_scratch, i, nothing); // the scratch that they change places with
        STORE(cell_scan, i, 0u);
        STORE(neighbour_starts, i, 0u);
    }
}

// ---- Speculation -------------------------------------------------------------------------------------------

// Reading a number back would stall both host and device. Where the host assumed a number instead, the device validates
// it. If it was wrong, all following kernels do nothing (kernels_aborted). When the host reads this, it resumes the
// step from here with the right number.
KERNEL(validate_speculation)
{
    bool right = true;
    if (PARAMETER(speculation) == SPECULATION_CELLS) {
        const uint cells = LOAD(cell_scan, PARAMETER(particle_count));
        STORE(counters, COUNTER_CELLS, cells);
        right = cells > 0u && cells <= PARAMETER(cell_count); // 0: the last particle is gone
    } else if (PARAMETER(speculation) == SPECULATION_SPAWNS) {
        const uint wanted = LOAD(cell_scan, PARAMETER(particle_count));
        STORE(counters, COUNTER_SPAWNS, wanted);
        right = wanted <= LOAD(counters, COUNTER_REMOVED);
    } else if (PARAMETER(speculation) == SPECULATION_TOUCHES) {
        const uint touches = LOAD(triangle_touches, PARAMETER(cloth_triangle_count));
        STORE(counters, COUNTER_TOUCHES, touches);
        right = touches <= PARAMETER(touch_limit);
    } else {
        const uint blocks = LOAD(neighbour_starts, PARAMETER(particle_count));
        STORE(counters, COUNTER_BLOCKS, blocks);
        right = blocks <= PARAMETER(block_limit);
    }
    if (!right) {
        STORE(counters, COUNTER_ABORTED, i + 1u + PARAMETER(speculation)); // i is 0
    }
}

// ---- Cells -------------------------------------------------------------------------------------------------

// 1 where a cell begins; a scan makes it the number of cells that begin before i.
KERNEL(mark_cell_heads)
{
    const bool head = i == 0u || LOAD(keys, i) != LOAD(keys, i - 1u);
    STORE(cell_scan, i, head ? 1u : 0u);
}

// The number of cells; the host may only know the upper bound cell_count.
FUNCTION uint cells_in_use(VIEW)
{
    return LOAD(cell_scan, PARAMETER(particle_count));
}

KERNEL(store_cell_starts)
{
    const uint before = LOAD(cell_scan, i);
    if (LOAD(cell_scan, i + 1u) != before) {
        STORE(cell_starts, before, i);
    }
    if (i + 1u == particles_left(VIEW_HERE)) {
        STORE(cell_starts, cells_in_use(VIEW_HERE), i + 1u);
    }
}

KERNEL(clear_cell_hash)
{
    STORE(cell_hash, i, HASH_EMPTY);
}

FUNCTION uint hash_of_key(u64 key)
{
    key = key * 0x9e3779b97f4a7c15UL;
    return U32(key >> 32);
}

// The key of the aligned 2x2x2 block that a cell is in. In key order the cells of a block follow one another.
FUNCTION u64 block_of_key(u64 key)
{
    return key >> 3;
}

FUNCTION u64 key_of_cell(VIEW_COMMA uint cell)
{
    return LOAD(keys, LOAD(cell_starts, cell));
}

// The hash holds the first cell of each block. The slot of an entry depends on timing, the result of a look-up does
// not.
KERNEL(insert_cells)
{
    if (i >= cells_in_use(VIEW_HERE)) {
        return;
    }
    const u64 block = block_of_key(key_of_cell(VIEW_HERE_COMMA i));
    if (i > 0u && block_of_key(key_of_cell(VIEW_HERE_COMMA i - 1u)) == block) {
        return;
    }
    const uint mask = PARAMETER(cell_hash_size) - 1u;
    uint slot = hash_of_key(block) & mask;
    while (ATOMIC_CAS(cell_hash, slot, HASH_EMPTY, i) != HASH_EMPTY) {
        slot = (slot + 1u) & mask;
    }
}

// The first cell of a block, or HASH_EMPTY.
FUNCTION uint find_block(VIEW_COMMA u64 block)
{
    const uint mask = PARAMETER(cell_hash_size) - 1u;
    uint slot = hash_of_key(block) & mask;
    uint cell = LOAD(cell_hash, slot);
    while (cell != HASH_EMPTY && block_of_key(key_of_cell(VIEW_HERE_COMMA cell)) != block) {
        slot = (slot + 1u) & mask;
        cell = LOAD(cell_hash, slot);
    }
    return cell;
}

// Whether a block coordinate is within the range of keys.
FUNCTION bool is_block(int coordinate)
{
    return coordinate >= 0 && coordinate <= 1048575;
}

// Collects the particles of the 3x3x3 cells around a cell as runs of consecutive particles. The neighbourhood
// consists of pieces of eight 2x2x2 blocks: the cell's own, and those across its nearer side along one, two or three
// axes, of which only the layer that touches the cell counts. In key order at most 14 runs remain.
KERNEL(link_cells)
{
    const uint cells = cells_in_use(VIEW_HERE);
    if (i >= cells) {
        return;
    }
    const u64 key = key_of_cell(VIEW_HERE_COMMA i);
    const int x = I32(gather_bits(key) >> 1); // of the block
    const int y = I32(gather_bits(key >> 1) >> 1);
    const int z = I32(gather_bits(key >> 2) >> 1);
    const uint corner = U32(key & 7UL); // of the cell in its block: an even coordinate has its near side below
    const int step_x = (corner & 1u) == 0u ? -1 : 1;
    const int step_y = (corner & 2u) == 0u ? -1 : 1;
    const int step_z = (corner & 4u) == 0u ? -1 : 1;

    // The key's bits of each axis, for the block itself and for the one across.
    const u64 here_x = spread_bits(U32(x));
    const u64 here_y = spread_bits(U32(y)) << 1;
    const u64 here_z = spread_bits(U32(z)) << 2;
    const u64 across_x = spread_bits(U32(x + step_x));
    const u64 across_y = spread_bits(U32(y + step_y)) << 1;
    const u64 across_z = spread_bits(U32(z + step_z)) << 2;
    const uint outside =
        (is_block(x + step_x) ? 0u : 1u) | (is_block(y + step_y) ? 0u : 2u) | (is_block(z + step_z) ? 0u : 4u);

    uint count = 0u;
    uint begin = 0u;
    uint end = 0u;
    for (uint across = 0u; across < 8u; across++) { // a bit for each axis
        if ((across & outside) != 0u) {
            continue;
        }
        const u64 block = ((across & 1u) != 0u ? across_x : here_x) | ((across & 2u) != 0u ? across_y : here_y) |
                          ((across & 4u) != 0u ? across_z : here_z);
        uint cell = find_block(VIEW_HERE_COMMA block);
        if (cell == HASH_EMPTY) {
            continue;
        }
        for (; cell < cells; cell++) {
            const u64 cell_key = key_of_cell(VIEW_HERE_COMMA cell);
            if (block_of_key(cell_key) != block) {
                break;
            }
            // Across an axis the touching layer has the other parity than this cell.
            if (((U32(cell_key & 7UL) ^ corner ^ 7u) & across) != 0u) {
                continue;
            }
            const uint first = LOAD(cell_starts, cell);
            if (first != end) {
                if (end != begin) {
                    STORE(cell_runs, i * CELL_RUN_LIMIT + count, uv2(begin, end));
                    count++;
                }
                begin = first;
            }
            end = LOAD(cell_starts, cell + 1u);
        }
    }
    STORE(cell_runs, i * CELL_RUN_LIMIT + count, uv2(begin, end));
    STORE(cell_run_counts, i, count + 1u);
}

// ---- Lists -------------------------------------------------------------------------------------------------

// Where the k-th neighbour of the particle whose list starts at block `start` is stored.
FUNCTION uint neighbour_slot(uint start, uint k)
{
    return start * NEIGHBOUR_BLOCK + k;
}

// Two neighbours from an even k on: one load for both. Behind an odd number of them there is the particle itself, for
// which a loop adds 0 to its sums: that changes no bit of them, for they begin at +0 and so are never -0.
FUNCTION uvec2 neighbour_pair(VIEW_COMMA uint start, uint k)
{
    return LOAD_PAIR(neighbours, neighbour_slot(start, k));
}

// The group whose particles are left out of the particle's list, or NONE. For a body's particle this is its own group,
// to which most particles around it belong.
FUNCTION uint unlisted_group(VIEW_COMMA uint i)
{
    const uint phase = LOAD(phases, i);
    return PARAMETER(skip_same_group) != 0u && !has_trait(phase, TRAIT_SELF) ? phase & PHASE_GROUP : NONE;
}

// Whether particle j, which is near enough, is in a list that leaves out group `unlisted` and materials `ignored`.
FUNCTION bool is_listed(VIEW_COMMA uint j, uint unlisted, uint ignored)
{
    if (unlisted == NONE && ignored == 0u) {
        return true;
    }
    const uint phase = LOAD(phases, j);
    return (phase & PHASE_GROUP) != unlisted && !is_ignored(VIEW_HERE_COMMA ignored, phase);
}

// How many neighbours particle i has; where `lists`, they are stored from block `start` on.
FUNCTION uint find_neighbours(VIEW_COMMA uint i, bool lists, uint start)
{
    const vec3 position = v3_from_v4(LOAD(predicted, i));
    const float search_radius_squared = PARAMETER(search_radius_squared);
    const uint cell = LOAD(cell_scan, i + 1u) - 1u;
    const uint unlisted = unlisted_group(VIEW_HERE_COMMA i);
    const uint ignored = ignored_materials(VIEW_HERE_COMMA LOAD(phases, i));
    uint count = 0u;
    for (uint r = 0u; r < LOAD(cell_run_counts, cell); r++) {
        const uvec2 run = LOAD(cell_runs, cell * CELL_RUN_LIMIT + r);
        for (uint j = run.x; j < run.y; j++) {
            const vec3 offset = v3_sub(position, v3_from_v4(LOAD(predicted, j)));
            if (v3_dot(offset, offset) < search_radius_squared && j != i &&
                is_listed(VIEW_HERE_COMMA j, unlisted, ignored)) {
                if (lists) {
                    STORE(neighbours, neighbour_slot(start, count), j);
                }
                count++;
            }
        }
    }
    return count;
}

KERNEL(count_neighbours)
{
    const uint count = find_neighbours(VIEW_HERE_COMMA i, false, 0u);
    STORE(neighbour_counts, i, count);
    STORE(neighbour_starts, i, (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK);
    if (count > ATOMIC_LOAD(counters, COUNTER_NEIGHBOURS_MAX)) {
        ATOMIC_MAX(counters, COUNTER_NEIGHBOURS_MAX, count);
    }
}

KERNEL(fill_neighbours)
{
    const uint start = LOAD(neighbour_starts, i);
    uint count = find_neighbours(VIEW_HERE_COMMA i, true, start);
    while (count % NEIGHBOUR_BLOCK != 0u) {
        STORE(neighbours, neighbour_slot(start, count), i);
        count++;
    }
}

#endif
