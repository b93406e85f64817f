// SPDX-License-Identifier: MIT
// tearing.h - cloth tears where its edges are stretched too far: at the end of a step, vertices are split.
//
// A vertex whose worst edge is longer than its limit has a key: the stretch over the limit, then a hash of its row. It
// is split if its key is the largest within two rings. So no two vertices that are split have a neighbour in common,
// and splits need not know of each other. The fan of triangles around the vertex is divided into two arcs at the edges
// that are most nearly across the strained one, as they lie at rest; the copy gets the far arc (O'Brien and Hodgins
// 1999 split along such a plane; here it follows edges, so that no triangle is cut). An edge between the arcs opens: it
// gets a border on either side. Where its far end was on a border already, the far end's fan falls into two arcs as
// well, and it is split, too. So every fan stays one arc, and every edge has at most two triangles: the mesh stays
// manifold.
//
// What changes is cloth_corners alone; the rest follows from it. Fans are filtered by it (fans.h). The ends of a link
// are the vertices at two corners (link_anchors): a link that bends across an edge is broken when the edge is open, and
// a second link along each edge, asleep at first, wakes for its other side. So links only lose partners, and their
// colours stay valid.
//
// Splits are planned from the corners as they were (plan_splits), and then made (spawn.h makes the particles). The mass
// is shared by the areas of the arcs at rest, the velocity is the same: mass and momentum stay.
#ifndef MOTE_KERNELS_TEARING_H
#define MOTE_KERNELS_TEARING_H

#include "data.h"
#include "cloth/fans.h"
#include "particle/handles.h"
#include "particle/hash.h"

#define TEAR_ALONG 0.85f // cosine: a border is not torn along an edge that is nearer to the strained one

// ---- Fans --------------------------------------------------------------------------------------------------

// The row at a corner.
FUNCTION uint row_at(VIEW_COMMA uint corner)
{
    return LOAD(cloth_corners, corner);
}

// The corner of `row` in the triangle in which `other` comes behind it; NONE if there is none.
FUNCTION uint corner_with_behind(VIEW_COMMA uint row, uint other)
{
    const uint root = LOAD(cloth_roots, row);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (row_at(VIEW_HERE_COMMA corner) == row && row_at(VIEW_HERE_COMMA corner_behind(corner)) == other) {
            return corner;
        }
    }
    return NONE;
}

// The same in which `other` comes before it.
FUNCTION uint corner_with_before(VIEW_COMMA uint row, uint other)
{
    const uint root = LOAD(cloth_roots, row);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (row_at(VIEW_HERE_COMMA corner) == row && row_at(VIEW_HERE_COMMA corner_before(corner)) == other) {
            return corner;
        }
    }
    return NONE;
}

// A walk around a fan goes from a triangle to the one across the edge to its last corner: the next corner of `row`, or
// NONE behind the last one of an open fan.
FUNCTION uint next_in_fan(VIEW_COMMA uint row, uint corner)
{
    return corner_with_behind(VIEW_HERE_COMMA row, row_at(VIEW_HERE_COMMA corner_before(corner)));
}

// The most triangles a walk can meet: it ends even where tables are damaged.
FUNCTION uint fan_limit(VIEW_COMMA uint row)
{
    const uint root = LOAD(cloth_roots, row);
    return LOAD(cloth_fan_starts, root + 1u) - LOAD(cloth_fan_starts, root);
}

// Where a walk through an open fan begins; NONE if the fan is closed.
FUNCTION uint first_in_fan(VIEW_COMMA uint row)
{
    const uint root = LOAD(cloth_roots, row);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (row_at(VIEW_HERE_COMMA corner) == row &&
            corner_with_before(VIEW_HERE_COMMA row, row_at(VIEW_HERE_COMMA corner_behind(corner))) == NONE) {
            return corner;
        }
    }
    return NONE;
}

// ---- Strain ------------------------------------------------------------------------------------------------

FUNCTION vec3 rest_offset(VIEW_COMMA uint row, uint other)
{
    return v3_sub(v3_from_v4(LOAD(cloth_rests, other)), v3_from_v4(LOAD(cloth_rests, row)));
}

// The length of an edge over that at rest; 0 of one that does not count: of a grid, the diagonals of its quads, which
// shearing stretches.
FUNCTION float edge_stretch(VIEW_COMMA uint row, uint other)
{
    const uint columns = LOAD(tear_rows, TEAR_WORDS * LOAD(cloth_of_vertices, row) + TEAR_COLUMNS);
    const uint a = LOAD(cloth_roots, row);
    const uint b = LOAD(cloth_roots, other);
    const uint apart = a > b ? a - b : b - a;
    const uint from = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, row));
    const uint to = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, other));
    if ((columns != 0u && apart != 1u && apart != columns) || from == NONE || to == NONE) {
        return 0.0f;
    }
    const vec3 offset = v3_sub(v3_from_v4(LOAD(positions, to)), v3_from_v4(LOAD(positions, from)));
    return v3_length(offset) / v3_length(rest_offset(VIEW_HERE_COMMA row, other));
}

// How a vertex is divided: the copy gets the triangles of its fan from `begin` up to `end`, which stays, or to the
// border where that is NONE. No way to divide it: `begin` is NONE.
STRUCT(Cut)
{
    uint begin;
    uint end;
    float stretch; // of the strained edge
};

// The cosine of the angle between the edges to `other` and along `direction`, at rest.
FUNCTION float alignment(VIEW_COMMA uint row, uint other, vec3 direction)
{
    const vec3 edge = rest_offset(VIEW_HERE_COMMA row, other);
    return v3_dot(edge, direction) / max_f32(v3_length(edge), 1e-30f);
}

// Across the edge to `other` from the border on: along the one edge most nearly at a right angle to it.
FUNCTION Cut cut_open_fan(VIEW_COMMA uint row, uint other, vec3 direction, uint first)
{
    Cut cut;
    cut.begin = NONE;
    cut.end = NONE;
    cut.stretch = 0.0f;
    float best = TEAR_ALONG;
    uint c = first;
    for (uint n = fan_limit(VIEW_HERE_COMMA row); n > 1u; n--) {
        c = next_in_fan(VIEW_HERE_COMMA row, c);
        if (c == NONE) {
            break;
        }
        const uint along = row_at(VIEW_HERE_COMMA corner_behind(c));
        const float off = fabsf(alignment(VIEW_HERE_COMMA row, along, direction));
        if (along != other && off < best) {
            best = off;
            cut.begin = c;
        }
    }
    return cut;
}

// On both sides of the vertex: the walk starts at the strained edge, and edges turn away from it and back to it.
FUNCTION Cut cut_closed_fan(VIEW_COMMA uint row, uint other, vec3 direction)
{
    Cut cut;
    cut.begin = NONE;
    cut.end = NONE;
    cut.stretch = 0.0f;
    const uint start = corner_with_behind(VIEW_HERE_COMMA row, other);
    uint before = NONE; // the corner before, and how its edge is aligned
    float aligned_before = 0.0f;
    float end_off = 0.0f;
    bool turned = false;
    uint second = NONE;
    uint c = start;
    for (uint n = fan_limit(VIEW_HERE_COMMA row); n > 1u; n--) {
        c = next_in_fan(VIEW_HERE_COMMA row, c);
        if (c == start || c == NONE) {
            break;
        }
        const uint along = row_at(VIEW_HERE_COMMA corner_behind(c));
        const float aligned = alignment(VIEW_HERE_COMMA row, along, direction);
        if (aligned < 0.0f) {
            if (!turned) {
                cut.begin = before != NONE && aligned_before < -aligned ? before : c;
            }
            turned = true;
            cut.end = c;
            end_off = -aligned;
        } else if (turned && aligned_before < 0.0f && aligned < end_off) {
            cut.end = c;
        }
        second = before == NONE ? c : second;
        before = c;
        aligned_before = aligned;
    }
    if (!turned) { // all lean to one side
        cut.begin = second;
        cut.end = before;
    }
    if (cut.begin == cut.end && cut.begin != NONE) {
        if (cut.begin != second) { // one edge earlier, which is not the strained one
            cut.begin = corner_with_before(VIEW_HERE_COMMA row, row_at(VIEW_HERE_COMMA corner_behind(cut.begin)));
        } else {
            cut.end = next_in_fan(VIEW_HERE_COMMA row, cut.begin);
        }
    }
    if (cut.end == start || cut.end == NONE) { // a fan of two triangles
        cut.begin = NONE;
    }
    return cut;
}

FUNCTION Cut cut_across(VIEW_COMMA uint row, uint other)
{
    const vec3 edge = rest_offset(VIEW_HERE_COMMA row, other);
    const vec3 direction = v3_scale(edge, 1.0f / max_f32(v3_length(edge), 1e-30f));
    const uint first = first_in_fan(VIEW_HERE_COMMA row);
    Cut cut;
    if (first == NONE) {
        cut = cut_closed_fan(VIEW_HERE_COMMA row, other, direction);
    } else {
        cut = cut_open_fan(VIEW_HERE_COMMA row, other, direction, first);
    }
    return cut;
}

// Across the longest edge at the vertex, of those that are longer than `limit` and can be cut across.
FUNCTION Cut worst_cut(VIEW_COMMA uint row, float limit)
{
    Cut worst;
    worst.begin = NONE;
    worst.end = NONE;
    worst.stretch = limit;
    const uint root = LOAD(cloth_roots, row);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        for (uint side = 0u; side < 2u && row_at(VIEW_HERE_COMMA corner) == row; side++) {
            const uint far = row_at(VIEW_HERE_COMMA side == 0u ? corner_behind(corner) : corner_before(corner));
            const float stretch = edge_stretch(VIEW_HERE_COMMA row, far);
            if (stretch > worst.stretch) {
                Cut cut = cut_across(VIEW_HERE_COMMA row, far);
                if (cut.begin != NONE) {
                    cut.stretch = stretch;
                    worst = cut;
                }
            }
        }
    }
    return worst;
}

// How far the edges of a vertex may be stretched; 0: it never tears. Some vertices are weaker than others.
FUNCTION float tear_limit(VIEW_COMMA uint row)
{
    const vec4 law = LOAD(tear_laws, LOAD(cloth_of_vertices, row));
    const float share = F32(scrambled(LOAD(cloth_roots, row)) >> 8) * (1.0f / 16777216.0f);
    return law.x > 0.0f ? 1.0f + (law.x - 1.0f) * (1.0f - law.y * share) : 0.0f;
}

// ---- Choosing ----------------------------------------------------------------------------------------------

KERNEL(begin_tearing)
{
    const uint counts = TEAR_COUNT_WORDS * i;
    STORE(tear_counts, counts + TEAR_NEXT, LOAD(tear_counts, counts + TEAR_USED));
    STORE(tear_counts, counts + TEAR_REFUSED_NOW, 0u);
    if (LOAD(tear_counts, counts + TEAR_USED) != 0u) {
        ATOMIC_MAX(tear_flags, TEAR_FLAG_TORN, 1u);
    }
    if (i == 0u) {
        STORE(tear_flags, TEAR_FLAG_STRAINED, 0u);
    }
}

KERNEL(find_strained)
{
    STORE(tear_scan, i, 0u);
    u64 key = U64(0u);
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, i));
    const float limit = tear_limit(VIEW_HERE_COMMA i);
    if (slot != NONE && limit > 0.0f && LOAD(positions, slot).w > 0.0f) { // a pin holds what it has
        const Cut cut = worst_cut(VIEW_HERE_COMMA i, limit);
        if (cut.begin != NONE) {
            key =
                (U64(FLOAT_BITS(cut.stretch / limit)) << 32) | U64(scrambled(i)); // positive floats sort as their bits
            ATOMIC_MAX(tear_flags, TEAR_FLAG_STRAINED, 1u);
        }
    }
    STORE(tear_keys, i, key);
}

// The largest key of a vertex and its neighbours.
KERNEL(spread_keys)
{
    if (LOAD(tear_flags, TEAR_FLAG_STRAINED) == 0u) {
        return;
    }
    u64 largest = LOAD(tear_keys, i);
    const uint root = LOAD(cloth_roots, i);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (row_at(VIEW_HERE_COMMA corner) == i) {
            const u64 a = LOAD(tear_keys, row_at(VIEW_HERE_COMMA corner_behind(corner)));
            const u64 b = LOAD(tear_keys, row_at(VIEW_HERE_COMMA corner_before(corner)));
            largest = a > largest ? a : largest;
            largest = b > largest ? b : largest;
        }
    }
    STORE(tear_nearby_keys, i, largest);
}

// Whether no key within two rings is larger.
FUNCTION bool leads(VIEW_COMMA uint row)
{
    const u64 key = LOAD(tear_keys, row);
    bool largest = key != U64(0u);
    const uint root = LOAD(cloth_roots, row);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u) && largest; k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (row_at(VIEW_HERE_COMMA corner) == row) {
            largest = LOAD(tear_nearby_keys, row_at(VIEW_HERE_COMMA corner_behind(corner))) <= key &&
                      LOAD(tear_nearby_keys, row_at(VIEW_HERE_COMMA corner_before(corner))) <= key;
        }
    }
    return largest;
}

// The far end of the edge that opens where an arc begins.
FUNCTION uint far_end(VIEW_COMMA uint corner)
{
    return row_at(VIEW_HERE_COMMA corner_behind(corner));
}

// Whether it is on a border, so that it falls into two.
FUNCTION bool parts(VIEW_COMMA uint corner)
{
    return corner != NONE && first_in_fan(VIEW_HERE_COMMA far_end(VIEW_HERE_COMMA corner)) != NONE;
}

// How many copies a split needs. A scan makes it the number of those before.
KERNEL(choose_splits)
{
    if (LOAD(tear_flags, TEAR_FLAG_STRAINED) == 0u || !leads(VIEW_HERE_COMMA i)) {
        return;
    }
    const Cut cut = worst_cut(VIEW_HERE_COMMA i, tear_limit(VIEW_HERE_COMMA i));
    uint copies = 1u;
    copies += parts(VIEW_HERE_COMMA cut.begin) ? 1u : 0u;
    copies += parts(VIEW_HERE_COMMA cut.end) ? 1u : 0u;
    STORE(tear_scan, i, copies);
}

// ---- Splitting ---------------------------------------------------------------------------------------------

FUNCTION float rest_area(VIEW_COMMA uint row, uint corner)
{
    const vec3 a = rest_offset(VIEW_HERE_COMMA row, row_at(VIEW_HERE_COMMA corner_behind(corner)));
    const vec3 b = rest_offset(VIEW_HERE_COMMA row, row_at(VIEW_HERE_COMMA corner_before(corner)));
    return v3_length(v3_cross(a, b));
}

// Plans that `copy` gets the triangles of `row` from the corner `begin` up to `end`.
FUNCTION void plan_copy(VIEW_COMMA uint row, uint begin, uint end, uint copy)
{
    float moved = 0.0f;
    uint c = begin;
    for (uint n = fan_limit(VIEW_HERE_COMMA row); n > 0u && c != end && c != NONE; n--) {
        STORE(tear_moves, c, copy);
        moved += rest_area(VIEW_HERE_COMMA row, c);
        c = next_in_fan(VIEW_HERE_COMMA row, c);
    }
    float all = 0.0f;
    const uint root = LOAD(cloth_roots, row);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (row_at(VIEW_HERE_COMMA corner) == row) {
            all += rest_area(VIEW_HERE_COMMA row, corner);
        }
    }
    STORE(tear_copies, row, copy);
    STORE(tear_shares, row, moved / all);
}

// A far end keeps the triangles up to the edge that opens.
FUNCTION void plan_far_copy(VIEW_COMMA uint row, uint corner, uint copy)
{
    const uint far = far_end(VIEW_HERE_COMMA corner);
    plan_copy(VIEW_HERE_COMMA far, corner_with_behind(VIEW_HERE_COMMA far, row), NONE, copy);
}

KERNEL(plan_splits)
{
    const uint first = LOAD(tear_scan, i);
    const uint wanted = LOAD(tear_scan, i + 1u) - first;
    if (wanted == 0u) {
        return;
    }
    const uint cloth = LOAD(cloth_of_vertices, i);
    const uint words = TEAR_WORDS * cloth;
    const uint counts = TEAR_COUNT_WORDS * cloth;
    const uint used = LOAD(tear_counts, counts + TEAR_USED);
    const uint left = LOAD(tear_rows, words + TEAR_ROOM) - used;
    const uint bound = LOAD(tear_rows, words + TEAR_BOUND);
    const uint before = first - LOAD(tear_scan, LOAD(tear_rows, words + TEAR_FIRST)); // of this cloth
    if (before >= bound) {
        return; // the next step tries again
    }
    if (before + wanted > left) {
        ATOMIC_ADD(tear_counts, counts + TEAR_REFUSED_NOW, wanted);
        return;
    }
    const Cut cut = worst_cut(VIEW_HERE_COMMA i, tear_limit(VIEW_HERE_COMMA i));
    uint copy = LOAD(tear_rows, words + TEAR_SPARE) + used + before;
    ATOMIC_MAX(tear_counts, counts + TEAR_NEXT, used + before + wanted);
    plan_copy(VIEW_HERE_COMMA i, cut.begin, cut.end, copy);
    if (parts(VIEW_HERE_COMMA cut.begin)) {
        copy += 1u;
        plan_far_copy(VIEW_HERE_COMMA i, cut.begin, copy);
    }
    if (parts(VIEW_HERE_COMMA cut.end)) {
        plan_far_copy(VIEW_HERE_COMMA i, cut.end, copy + 1u);
    }
}

// The planned copy of a particle's vertex, or NONE; as of the step's search.
FUNCTION uint planned_copy(VIEW_COMMA uint particle)
{
    const uint row = PARAMETER(tears) != 0u ? LOAD(cloth_rows, particle) : NONE;
    return row != NONE ? LOAD(tear_copies, row) : NONE;
}

KERNEL(move_corners)
{
    if (LOAD(tear_flags, TEAR_FLAG_STRAINED) == 0u) {
        return;
    }
    const uint copy = LOAD(tear_moves, i);
    if (copy != NONE) {
        STORE(cloth_corners, i, copy);
        STORE(tear_moves, i, NONE);
    }
}

KERNEL(finish_copies)
{
    if (LOAD(tear_flags, TEAR_FLAG_STRAINED) == 0u) {
        return;
    }
    const uint copy = LOAD(tear_copies, i);
    if (copy != NONE) {
        STORE(cloth_roots, copy, LOAD(cloth_roots, i));
        STORE(cloth_rests, copy, LOAD(cloth_rests, i));
        STORE(tether_cuts, copy, LOAD(tether_cuts, i));
        STORE(tear_copies, i, NONE);
    }
}

KERNEL(count_splits)
{
    const uint counts = TEAR_COUNT_WORDS * i;
    STORE(tear_counts, counts + TEAR_USED, LOAD(tear_counts, counts + TEAR_NEXT));
    const uint refused = LOAD(tear_counts, counts + TEAR_REFUSED) + LOAD(tear_counts, counts + TEAR_REFUSED_NOW);
    STORE(tear_counts, counts + TEAR_REFUSED, refused);
    STORE(tear_counts, counts + TEAR_REFUSED_NOW, 0u);
}

// ---- What follows the corners --------------------------------------------------------------------------------

// Whether both corners of a pair are one vertex, so that the cloth holds together there.
FUNCTION bool joined(VIEW_COMMA uvec2 pair)
{
    return pair.x == NONE || row_at(VIEW_HERE_COMMA pair.x) == row_at(VIEW_HERE_COMMA pair.y);
}

// The ends of links. One that is broken or asleep ends at a handle that is nobody's.
KERNEL(follow_corners)
{
    if (PARAMETER(tear_all) == 0u && LOAD(tear_flags, TEAR_FLAG_STRAINED) == 0u) {
        return;
    }
    const uvec2 anchors = LOAD(link_anchors, 3u * i);
    if (anchors.x == NONE) {
        return; // no link of a cloth that tears
    }
    const bool whole = joined(VIEW_HERE_COMMA LOAD(link_anchors, 3u * i + 1u)) &&
                       joined(VIEW_HERE_COMMA LOAD(link_anchors, 3u * i + 2u));
    const bool wakes = (anchors.x & TEAR_TWIN) != 0u; // where the cloth is open
    uvec2 ends;
    ends.x = PARAMETER(tear_nobody);
    ends.y = PARAMETER(tear_nobody);
    if (whole != wakes) {
        ends.x = LOAD(cloth_handles, row_at(VIEW_HERE_COMMA anchors.x & ~TEAR_TWIN));
        ends.y = LOAD(cloth_handles, row_at(VIEW_HERE_COMMA anchors.y));
    }
    STORE(link_ends, i, ends);
}

// Whether a vertex next to `row` holds the tether to this pin: it is a pin, or tethered to the same one and nearer to
// it along the cloth at rest.
FUNCTION bool holds_tether(VIEW_COMMA uint other, uint pin, float length)
{
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, other));
    if (slot == NONE) {
        return false;
    }
    bool holds = LOAD(positions, slot).w <= 0.0f;
    const uint tethers = 2u * LOAD(cloth_roots, other);
    const uint cuts = LOAD(tether_cuts, other);
    for (uint k = 0u; k < 2u; k++) {
        const bool nearer = LOAD(tether_handles, tethers + k) == pin && LOAD(tether_lengths, tethers + k) < length;
        holds = holds || (nearer && (cuts & (1u << k)) == 0u);
    }
    return holds;
}

// Tethers that nothing around their vertex holds any more: so a cut spreads, a ring at a time.
KERNEL(find_cut_tethers)
{
    if (LOAD(tear_flags, TEAR_FLAG_TORN) == 0u) {
        return;
    }
    uint cuts = LOAD(tether_cuts, i);
    const uint root = LOAD(cloth_roots, i);
    for (uint k = 0u; k < 2u; k++) {
        const uint pin = LOAD(tether_handles, 2u * root + k);
        const float length = LOAD(tether_lengths, 2u * root + k);
        bool held = pin == NONE || (cuts & (1u << k)) != 0u;
        for (uint f = LOAD(cloth_fan_starts, root); f < LOAD(cloth_fan_starts, root + 1u) && !held; f++) {
            const uint corner = LOAD(cloth_fans, f);
            if (row_at(VIEW_HERE_COMMA corner) == i) {
                held = holds_tether(VIEW_HERE_COMMA row_at(VIEW_HERE_COMMA corner_behind(corner)), pin, length) ||
                       holds_tether(VIEW_HERE_COMMA row_at(VIEW_HERE_COMMA corner_before(corner)), pin, length);
            }
        }
        cuts |= held ? 0u : 1u << k;
    }
    STORE(tether_marks, i, cuts);
}

KERNEL(cut_tethers)
{
    if (LOAD(tear_flags, TEAR_FLAG_TORN) != 0u) {
        STORE(tether_cuts, i, LOAD(tether_marks, i));
    }
}

#endif
