// neighbours.h - spatial order and neighbour lists over an unbounded domain (DYV section 6.2): 64-bit Z-order keys
// with 21 bits an axis, a compact table of the occupied cells found through a hash, and exact lists.
#ifndef MOTE_NEIGHBOURS_H
#define MOTE_NEIGHBOURS_H

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
// n 2^-23, so the width grows by n 2^-22 and a little.
FUNCTION float cell_size(float support, float extent)
{
    const float cells = min_f32(extent / support, CELL_COORDINATE_MAX);
    return support * (1.000001f + cells * 2.6e-7f);
}

// Clamping keeps far outliers in the outermost cells: neighbours stay neighbours.
FUNCTION uint cell_coordinate(float position, float origin, float size)
{
    return U32(clamp_f32(floorf((position - origin) / size), 0.0f, CELL_COORDINATE_MAX));
}

KERNEL(assign_keys)
{
    const vec3 position = v3_from_v4(LOAD(predicted, i));
    STORE(order, i, i);

    bool removed = (LOAD(phases, i) & PHASE_REMOVED) != 0u;
    for (uint s = 0u; s < PARAMETER(kill_volume_count); s++) {
        const Shape volume = LOAD(kill_volumes, s);
        removed = removed || shape_distance(volume, to_shape(volume, position)).w < 0.0f;
    }
    if (removed) {
        ATOMIC_ADD(counters, COUNTER_REMOVED, 1u);
        STORE(keys, i, KEY_REMOVED);
        return;
    }

    const vec4 lower = LOAD(bounds, 0);
    const vec4 upper = LOAD(bounds, 1);
    const float extent = max_f32(max_f32(upper.x - lower.x, upper.y - lower.y), upper.z - lower.z);
    const float size = cell_size(PARAMETER(support), extent);
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

// ---- Cells -------------------------------------------------------------------------------------------------

// 1 where a cell begins; a scan makes it the number of cells that begin before i.
KERNEL(mark_cell_heads)
{
    const bool head = i == 0u || LOAD(keys, i) != LOAD(keys, i - 1u);
    STORE(cell_scan, i, head ? 1u : 0u);
}

KERNEL(store_cell_starts)
{
    const uint before = LOAD(cell_scan, i);
    if (LOAD(cell_scan, i + 1u) != before) {
        STORE(cell_starts, before, i);
    }
    if (i + 1u == PARAMETER(particle_count)) {
        STORE(cell_starts, PARAMETER(cell_count), PARAMETER(particle_count));
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

// Which slot a cell lands in depends on timing, what a look-up finds does not.
KERNEL(insert_cells)
{
    const uint mask = PARAMETER(cell_hash_size) - 1u;
    uint slot = hash_of_key(LOAD(keys, LOAD(cell_starts, i))) & mask;
    while (ATOMIC_CAS(cell_hash, slot, HASH_EMPTY, i) != HASH_EMPTY) {
        slot = (slot + 1u) & mask;
    }
}

FUNCTION uint find_cell(VIEW_COMMA u64 key)
{
    const uint mask = PARAMETER(cell_hash_size) - 1u;
    uint slot = hash_of_key(key) & mask;
    uint cell = LOAD(cell_hash, slot);
    while (cell != HASH_EMPTY && LOAD(keys, LOAD(cell_starts, cell)) != key) {
        slot = (slot + 1u) & mask;
        cell = LOAD(cell_hash, slot);
    }
    return cell;
}

// Collects the particles of the 3x3x3 cells around a cell as runs of consecutive particles. In Z-order the eight
// cells of an aligned 2x2x2 block follow one another, and the neighbourhood consists of pieces of eight such
// blocks: visited block by block, in key order inside each, at most 14 runs remain.
KERNEL(link_cells)
{
    const u64 key = LOAD(keys, LOAD(cell_starts, i));
    const int x = I32(gather_bits(key));
    const int y = I32(gather_bits(key >> 1));
    const int z = I32(gather_bits(key >> 2));
    const int far_x = (x & 1) == 0 ? -1 : 1; // the neighbour outside this cell's own block
    const int far_y = (y & 1) == 0 ? -1 : 1;
    const int far_z = (z & 1) == 0 ? -1 : 1;

    uint count = 0u;
    uint begin = 0u;
    uint end = 0u;
    for (uint block = 0u; block < 8u; block++) {
        for (uint corner = 0u; corner < 8u; corner++) {
            // In a far block only the layer that touches this cell belongs to the neighbourhood.
            if ((block & corner & 7u) != 0u) {
                continue;
            }
            const int cx = (block & 1u) != 0u ? x + far_x : (x & ~1) + I32(corner & 1u);
            const int cy = (block & 2u) != 0u ? y + far_y : (y & ~1) + I32((corner >> 1) & 1u);
            const int cz = (block & 4u) != 0u ? z + far_z : (z & ~1) + I32((corner >> 2) & 1u);
            if (cx < 0 || cy < 0 || cz < 0 || cx > 2097151 || cy > 2097151 || cz > 2097151) {
                continue;
            }
            const uint cell = find_cell(VIEW_HERE_COMMA zorder_key(U32(cx), U32(cy), U32(cz)));
            if (cell == HASH_EMPTY) {
                continue;
            }
            const uint first = LOAD(cell_starts, cell);
            if (first != end || end == begin) {
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

KERNEL(count_neighbours)
{
    const vec3 position = v3_from_v4(LOAD(predicted, i));
    const float squared_support = PARAMETER(support_squared);
    const uint cell = LOAD(cell_scan, i + 1u) - 1u;

    uint count = 0u;
    for (uint r = 0u; r < LOAD(cell_run_counts, cell); r++) {
        const uvec2 run = LOAD(cell_runs, cell * CELL_RUN_LIMIT + r);
        for (uint j = run.x; j < run.y; j++) {
            const vec3 offset = v3_sub(position, v3_from_v4(LOAD(predicted, j)));
            if (v3_dot(offset, offset) < squared_support) {
                count++;
            }
        }
    }
    count -= 1u; // itself
    STORE(neighbour_counts, i, count);
    STORE(neighbour_starts, i, (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK);
    if (count > LOAD(counters, COUNTER_NEIGHBOURS_MAX)) {
        ATOMIC_MAX(counters, COUNTER_NEIGHBOURS_MAX, count);
    }
}

KERNEL(fill_neighbours)
{
    const vec3 position = v3_from_v4(LOAD(predicted, i));
    const float squared_support = PARAMETER(support_squared);
    const uint cell = LOAD(cell_scan, i + 1u) - 1u;
    const uint start = LOAD(neighbour_starts, i);

    uint count = 0u;
    for (uint r = 0u; r < LOAD(cell_run_counts, cell); r++) {
        const uvec2 run = LOAD(cell_runs, cell * CELL_RUN_LIMIT + r);
        for (uint j = run.x; j < run.y; j++) {
            const vec3 offset = v3_sub(position, v3_from_v4(LOAD(predicted, j)));
            if (v3_dot(offset, offset) < squared_support && j != i) {
                STORE(neighbours, neighbour_slot(start, count), j);
                count++;
            }
        }
    }
    while (count % NEIGHBOUR_BLOCK != 0u) {
        STORE(neighbours, neighbour_slot(start, count), i);
        count++;
    }
}

#endif
