// SPDX-License-Identifier: MIT
// ground_pattern.glsl - what the ground is made of. Needs PASS_CONSTANTS(SceneConstants).
//
// Patterns of lines and squares are integrated over a pixel's footprint in closed form; what is random fades to its mean
// where its details get smaller than that. So nothing shimmers or aliases at any distance.

struct GroundSurface {
    vec3 albedo;
    vec3 normal;
};

const uint GROUND_LINES = 0u, GROUND_TILES = 1u, GROUND_CHECKER = 2u, GROUND_PLANKS = 3u, GROUND_PEBBLES = 4u,
           GROUND_SAND = 5u; // MoteGroundPattern

// ---- Noise ----

uint ground_hash(ivec2 cell)
{
    uint h = uint(cell.x) * 0x8da6b343u ^ uint(cell.y) * 0xd8163841u;
    h = (h ^ h >> 13u) * 0x5bd1e995u;
    h = (h ^ h >> 15u) * 0x27d4eb2fu;
    return h ^ h >> 16u;
}

float ground_random(ivec2 cell)
{
    return float(ground_hash(cell) >> 8u) / 16777216.0;
}

// Value noise; x is the value, -1 to 1, yz its slope.
vec3 ground_noise(vec2 p)
{
    const vec2 low = floor(p), t = p - low, s = t * t * (3.0 - 2.0 * t), slope = 6.0 * t * (1.0 - t);
    const ivec2 cell = ivec2(low);
    const float a = ground_random(cell), b = ground_random(cell + ivec2(1, 0)), c = ground_random(cell + ivec2(0, 1)),
                d = ground_random(cell + ivec2(1, 1));
    const float k = a - b - c + d;
    return vec3(2.0 * (a + (b - a) * s.x + (c - a) * s.y + k * s.x * s.y) - 1.0,
                2.0 * slope * vec2(b - a + k * s.y, c - a + k * s.x));
}

// How much is left of details of a size where a pixel is `width` wide.
float detail(float size, float width)
{
    return 1.0 - smoothstep(0.35, 1.2, width / size);
}

// ---- Lines and squares ----

// How much of a pixel's footprint, `width` grid cells wide around x, lies on the lines at whole numbers. The box filter
// of the line pattern, exact, for its integral is known: lines neither shimmer nor alias at any distance.
float line_share(float x, float width, float line)
{
    const float low = x + 0.5 * line - 0.5 * width, high = low + width;
    const float whole = floor(high) - floor(low), rest = (min(fract(high), line) - min(fract(low), line)) / line;
    return clamp((whole + rest) * line / width, 0.0, 1.0);
}

float grid_share(vec2 at, vec2 width, float line)
{
    const float x = line_share(at.x, width.x, line), z = line_share(at.y, width.y, line);
    return x + z - x * z;
}

// The mean over a footprint of the square wave that is 1 and -1 in turn for one cell each.
float square_wave(float x, float width)
{
    const vec2 ends = fract(0.5 * vec2(x - 0.5 * width, x + 0.5 * width));
    const vec2 integral = 1.0 - abs(2.0 * ends - 1.0); // of the wave over half cells, from an even cell's start
    return clamp((integral.y - integral.x) / width, -1.0, 1.0);
}

// Joints that are sunk in: the normal leans towards a joint beside it.
vec2 joint_slope(vec2 at, vec2 width, float line)
{
    const vec2 away = fract(at + 0.5) - 0.5; // from the nearest joint
    const vec2 near = 1.0 - smoothstep(vec2(0.5 * line), vec2(1.6 * line), abs(away));
    return sign(away) * near * detail(line, max(width.x, width.y));
}

// ---- Patterns ----

vec3 tilted_normal(vec2 slope)
{
    return normalize(vec3(-slope.x, 1.0, -slope.y));
}

GroundSurface tiles(vec2 at, vec2 width)
{
    const float line = 0.022, w = max(width.x, width.y);
    const float shade = 1.0 + 0.10 * (ground_random(ivec2(floor(at))) - 0.5) * detail(1.0, w) +
                        0.025 * ground_noise(11.0 * at).x * detail(0.1, w);
    const vec3 color = mix(shade * frame.ground_color.rgb, pass.grid_color.rgb, grid_share(at, width, line));
    return GroundSurface(color, tilted_normal(-0.35 * joint_slope(at, width, line)));
}

GroundSurface checker(vec2 at, vec2 width)
{
    const float side = 0.5 + 0.5 * square_wave(at.x, width.x) * square_wave(at.y, width.y);
    return GroundSurface(mix(pass.grid_color.rgb, frame.ground_color.rgb, side), vec3(0.0, 1.0, 0.0));
}

// Boards along x, an eighth as wide as long, each with its own shade, shift and grain.
GroundSurface planks(vec2 at, vec2 width)
{
    const vec2 scaled = vec2(at.x, 8.0 * at.y), wide = vec2(width.x, 8.0 * width.y);
    const int row = int(floor(scaled.y));
    const vec2 on = vec2(scaled.x + ground_random(ivec2(row, 77)), scaled.y);
    const ivec2 board = ivec2(int(floor(on.x)), row);
    const float w = max(width.x, width.y), own = ground_random(board);
    const vec2 grain_at = vec2(5.0 * on.x + 31.0 * own, 9.0 * on.y + 17.0 * own);
    const float rings = ground_noise(grain_at + 0.6 * ground_noise(0.4 * grain_at).x).x * detail(0.015, w);
    const float fibres = ground_noise(vec2(14.0 * on.x, 60.0 * on.y)).x * detail(0.003, w);
    const float shade = 1.0 + 0.35 * (own - 0.5) * detail(0.12, w) + 0.12 * rings + 0.06 * fibres;
    const float joints = line_share(on.y, wide.y, 0.03) + (1.0 - line_share(on.y, wide.y, 0.03)) * line_share(on.x, width.x, 0.004);
    return GroundSurface(mix(shade * frame.ground_color.rgb, pass.grid_color.rgb, joints),
                         tilted_normal(vec2(0.0, -0.4 * joint_slope(on, wide, 0.03).y)));
}

// Rounded stones of random places, the nearest two of which give a stone's edge (Worley 1996).
GroundSurface pebbles(vec2 at, vec2 width)
{
    const vec2 p = 10.0 * at, low = floor(p);
    const float w = 10.0 * max(width.x, width.y);
    float nearest = 8.0, second = 8.0;
    vec2 away = vec2(0.0);
    uint stone = 0u;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            const ivec2 cell = ivec2(low) + ivec2(x, y);
            const uint h = ground_hash(cell);
            const vec2 d = vec2(cell) + 0.15 + 0.7 * vec2(h & 0xffffu, h >> 16u) / 65535.0 - p;
            const float distance = dot(d, d);
            if (distance < nearest) {
                second = nearest;
                nearest = distance;
                away = d;
                stone = h;
            } else {
                second = min(second, distance);
            }
        }
    }
    const float edge = sqrt(second) - sqrt(nearest); // 0 between two stones
    const float left = detail(0.8, w), gap = 1.0 - smoothstep(0.02, 0.18, edge);
    const float own = float(stone >> 9u & 0xffu) / 255.0, tint = float(stone >> 21u & 0xffu) / 255.0;
    const vec3 mean = mix(frame.ground_color.rgb, pass.grid_color.rgb, 0.2);
    const vec3 color = frame.ground_color.rgb * (0.65 + 0.7 * own) * mix(vec3(1.06, 1.0, 0.93), vec3(0.94, 1.0, 1.05), tint);
    const vec2 slope = 0.9 * away * (1.0 - gap) + 0.15 * ground_noise(6.0 * p).yz * detail(0.15, w);
    return GroundSurface(mix(mean, mix(color, pass.grid_color.rgb, gap), left), tilted_normal(slope * left));
}

// Wind's ripples, uneven ground and single grains.
GroundSurface sand(vec2 at, vec2 width)
{
    const float w = max(width.x, width.y);
    const vec3 bend = ground_noise(0.7 * at);
    const float phase = 6.2831853 * (3.0 * at.x + 0.8 * at.y + 1.2 * bend.x);
    const float ripples = detail(0.25, w) * (0.55 + 0.45 * ground_noise(0.35 * at + 9.0).x);
    const vec2 slope = 0.16 * ripples * cos(phase) * (vec2(3.0, 0.8) + 1.2 * bend.yz * 0.7) / 3.1 +
                       0.10 * ground_noise(2.3 * at).yz * detail(0.4, w) + 0.05 * ground_noise(23.0 * at).yz * detail(0.04, w);
    const float grains = ground_noise(140.0 * at).x * detail(0.007, w), patches = ground_noise(0.9 * at).x * detail(1.0, w);
    const float hollow = 0.5 - 0.5 * sin(phase);
    const vec3 color = mix(frame.ground_color.rgb, pass.grid_color.rgb, 0.25 * ripples * hollow);
    return GroundSurface(color * (1.0 + 0.10 * grains + 0.05 * patches), tilted_normal(slope));
}

GroundSurface ground_surface(vec3 point, vec2 pixel)
{
    const float cell = pass.grid_color.w;
    if (cell <= 0.0) {
        return GroundSurface(frame.ground_color.rgb, vec3(0.0, 1.0, 0.0));
    }
    // Where the rays of the next pixels meet the ground; no farther than a few cells, where all is grey anyway.
    const vec3 right = pixel_direction(pixel + vec2(1.0, 0.0)), below = pixel_direction(pixel + vec2(0.0, 1.0));
    const vec2 at = point.xz / cell;
    const float height = (frame.eye.y - frame.ground_color.w) / cell;
    const vec2 a = right.xz * (height / max(-right.y, 1e-6)) + frame.eye.xz / cell - at;
    const vec2 b = below.xz * (height / max(-below.y, 1e-6)) + frame.eye.xz / cell - at;
    const vec2 width = clamp(max(abs(a), abs(b)), vec2(1e-4), vec2(8.0));
    switch (pass.pattern) {
    case GROUND_TILES:
        return tiles(at, width);
    case GROUND_CHECKER:
        return checker(at, width);
    case GROUND_PLANKS:
        return planks(at, width);
    case GROUND_PEBBLES:
        return pebbles(at, width);
    case GROUND_SAND:
        return sand(at, width);
    }
    const vec3 lines = mix(frame.ground_color.rgb, pass.grid_color.rgb, grid_share(at, width, 0.018));
    return GroundSurface(lines, vec3(0.0, 1.0, 0.0));
}
