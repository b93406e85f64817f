// SPDX-License-Identifier: MIT
// depth_splat.glsl - ellipsoids put into a buffer that holds the nearest one at each pixel: an invocation each, atomicMin on
// the bits of view z, which order as the positive floats do. Depths are minima of integers: the order of atomics does not
// matter. The buffer has the depth of every pixel, then who has it (index + 1), then those that are large on the screen:
// the size of a dispatch (3), how many there are, and who. That dispatch draws them, an invocation a piece of a row: a
// single one would keep all others waiting, and Mesa 24's software driver ends a shader's loops after 65535 rounds.
//
// Loops are of the do-while kind: software drivers do not jump over what no lane wants, they go through a for loop once
// more than its longest lane needs.
#include "ellipsoid.glsl"

const int LARGE = 128;       // pixels: what is wider or higher is large
const uint PIECE = 32u;      // pixels of a row
const uint PIECE_GROUP = 64u; // invocations of a workgroup

// What the including shader draws: its ellipsoid number i, and what no hit of it is nearer than.
Ellipsoid ellipsoid_of(uint i);
float nearest_of(Ellipsoid e);

uint large_ones()
{
    return 2u * frame.width * frame.height;
}

uint pieces_a_row()
{
    return (frame.width + PIECE - 1u) / PIECE;
}

void list_as_large(UintTarget splats, uint i)
{
    const uint groups = (frame.height * pieces_a_row() + PIECE_GROUP - 1u) / PIECE_GROUP;
    atomicMax(splats.at[large_ones()], min(groups, 65535u)); // the host has set how many such rows of groups there are
    splats.at[large_ones() + 4u + atomicAdd(splats.at[large_ones() + 3u], 1u)] = i;
}

// Pixels from `low` to `high`, both included.
void put(UintTarget splats, uint i, Ellipsoid e, ivec2 low, ivec2 high, bool who)
{
    // Out of the loop: constants of the frame, and the slope as a line.
    const float near_plane = frame.near_plane, step = 1.0 / frame.focal, nearest = nearest_of(e);
    const vec2 corner = pixel_slope(vec2(0.5));
    const int width = int(frame.width);
    const uint pixels = frame.width * frame.height;
    ivec2 p = low;
    do {
        const uint pixel = uint(p.y * width + p.x), there = splats.at[pixel];
        if (uintBitsToFloat(there) >= nearest) { // most grains of a pile are hidden by others
            const vec2 hits = ray_hits(e, corner + vec2(p.x, -p.y) * step);
            const uint bits = floatBitsToUint(hits.x);
            if (hits.y > 0.0 && hits.x > near_plane) {
                if (!who && bits < there) { // most are not: a plain load is quicker than an atomic
                    atomicMin(splats.at[pixel], bits);
                }
                if (who && bits == there) {
                    atomicMax(splats.at[pixels + pixel], i + 1u);
                }
            }
        }
        p.x++;
        if (p.x > high.x) {
            p = ivec2(low.x, p.y + 1);
        }
    } while (p.y <= high.y);
}

void find_pixels(Ellipsoid e, out ivec2 low, out ivec2 high)
{
    const vec4 bounds = screen_bounds(e);
    low = max(ivec2(ceil(bounds.xy - 0.5)), ivec2(0));
    high = min(ivec2(floor(bounds.zw - 0.5)), ivec2(frame.width, frame.height) - 1);
}

void splat(UintTarget splats, uint i, bool who)
{
    const Ellipsoid e = ellipsoid_of(i);
    ivec2 low, high;
    find_pixels(e, low, high);
    if (any(greaterThan(low, high))) {
        return;
    }
    if (any(greaterThanEqual(high - low, ivec2(LARGE)))) {
        if (!who) {
            list_as_large(splats, i);
        }
        return;
    }
    put(splats, i, e, low, high, who);
}

void splat_large_ones(UintTarget splats, uint piece, bool who)
{
    const ivec2 from = ivec2(piece % pieces_a_row() * PIECE, piece / pieces_a_row());
    if (from.y >= int(frame.height)) {
        return;
    }
    const uint count = splats.at[large_ones() + 3u];
    for (uint k = 0u; k < count; k++) {
        const uint i = splats.at[large_ones() + 4u + k];
        const Ellipsoid e = ellipsoid_of(i);
        ivec2 low, high;
        find_pixels(e, low, high);
        low = max(low, from);
        high = min(high, from + ivec2(PIECE - 1u, 0));
        if (all(lessThanEqual(low, high))) {
            put(splats, i, e, low, high, who);
        }
    }
}
