// SPDX-License-Identifier: MIT
// pressure.h - gas in closed cloth: a volume that is held, or an amount of gas that presses on the inside.
//
// A vertex v of a cloth whose front faces outwards has the area vector g_v = sum of a third of those of its triangles.
// Then V = sum of x_v . g_v / 3, about a place o beside the cloth, and dV/dx_v = g_v (Mueller et al. 2007,
// section 4.4). One multiplier a cloth, lambda = dt^2 times the excess pressure, moves every vertex by w_v g_v lambda.
// With W = sum of w_v |g_v|^2 it changes in an iteration by
//
//     volume   V + W d lambda + a (lambda + d lambda) = p V_0 f         a = compliance / dt^2: XPBD eq. 18
//     gas      lambda + d lambda = h(V + W d lambda)                    h(V) = dt^2 (c / V - atmosphere)
//
// the second with the excess pressure of an amount of gas c = n R T by Boyle's law, however stiff that is. Between
// closed surfaces the sum of g_v is 0 and so is their moment: neither force nor torque comes of it.
//
// Holes are loops of edges with one triangle, which are found once a step, by the tables that tearing changes. A loop
// is capped by triangles around its mean for the volume; the pressure on the cap is missing, so what leaks is driven
// the other way. Through an area A gas leaves at the speed sqrt(2 excess / density) (Torricelli), at most that of
// sound:
//
//     f' = -leak A speed / V f                                          f: what is left of the gas
//
// All sums are in one order: over chunks of vertices, then over the chunks of a cloth.
#ifndef MOTE_KERNELS_PRESSURE_H
#define MOTE_KERNELS_PRESSURE_H

#include "data.h"
#include "cloth/mesh.h"

#define PRESSURE_FASTEST     0.3f   // share by which an iteration changes the size at most
#define PRESSURE_NEWTON      4u     // steps of Newton's method
#define PRESSURE_SMALLEST    1e-3f  // of the rest volume: what a gas counts as, that is squeezed to less
#define PRESSURE_GAS_DENSITY 1.2f   // kg/m^3, of what leaks
#define PRESSURE_SOUND       340.0f // m/s
#define PRESSURE_LONGEST     65536u // edges of a hole

FUNCTION bool is_inflated(VIEW_COMMA uint cloth)
{
    return LOAD(pressure_laws, cloth).x > 0.0f;
}

// The place that a cloth's volume is measured about: its first vertex that is there.
FUNCTION vec3 pressure_origin(VIEW_COMMA uint cloth)
{
    const uvec2 chunks = LOAD(pressure_spans, cloth);
    for (uint row = LOAD(pressure_chunks, chunks.x).x; row < LOAD(pressure_chunks, chunks.y - 1u).y; row++) {
        const uint slot = vertex_slot(VIEW_HERE_COMMA row);
        if (slot != NONE) {
            return v3_from_v4(LOAD(predicted, slot));
        }
    }
    return v3(0.0f, 0.0f, 0.0f);
}

// ---- Holes -------------------------------------------------------------------------------------------------

// The vertex behind this one along the border of a hole, or NONE.
KERNEL(find_pressure_borders)
{
    uint next = NONE;
    if (is_inflated(VIEW_HERE_COMMA LOAD(cloth_of_vertices, i)) && vertex_slot(VIEW_HERE_COMMA i) != NONE) {
        const uint root = fan_root(VIEW_HERE_COMMA i);
        const uint end = LOAD(cloth_fan_starts, root + 1u);
        for (uint k = LOAD(cloth_fan_starts, root); k < end; k++) {
            const uint corner = LOAD(cloth_fans, k);
            const uint other = LOAD(cloth_corners, corner_behind(corner));
            bool open = in_fan(VIEW_HERE_COMMA i, corner) && corner_is_whole(VIEW_HERE_COMMA corner);
            for (uint m = LOAD(cloth_fan_starts, root); m < end && open;
                 m++) { // a triangle that runs back along the edge
                const uint beside = LOAD(cloth_fans, m);
                open = !in_fan(VIEW_HERE_COMMA i, beside) || LOAD(cloth_corners, corner_before(beside)) != other ||
                       !corner_is_whole(VIEW_HERE_COMMA beside);
            }
            next = open ? other : next;
        }
    }
    STORE(pressure_borders, i, next);
}

// A hole is its lowest vertex's: its area (m^2), and the volume of its cap about the origin (m^3).
KERNEL(measure_pressure_holes)
{
    vec4 hole = v4(0.0f, 0.0f, 0.0f, 0.0f);
    const uint first = LOAD(pressure_borders, i);
    uint at = first;
    uint edges = 1u;
    while (at != NONE && at > i && edges < PRESSURE_LONGEST) {
        at = LOAD(pressure_borders, at);
        edges += 1u;
    }
    if (first != NONE && at == i) {
        const vec3 origin = pressure_origin(VIEW_HERE_COMMA LOAD(cloth_of_vertices, i));
        vec3 from = v3_sub(v3_from_v4(LOAD(predicted, vertex_slot(VIEW_HERE_COMMA i))), origin);
        vec3 doubled = v3(0.0f, 0.0f, 0.0f); // area vector of the loop as the triangles beside it run: inwards
        vec3 sum = doubled;
        at = first;
        for (uint k = 0u; k < edges; k++) {
            const vec3 to = v3_sub(v3_from_v4(LOAD(predicted, vertex_slot(VIEW_HERE_COMMA at))), origin);
            doubled = v3_add(doubled, v3_cross(from, to));
            sum = v3_add(sum, to);
            from = to;
            at = LOAD(pressure_borders, at);
        }
        hole.x = 0.5f * v3_length(doubled);
        hole.y = v3_dot(sum, doubled) / (-6.0f * F32(edges));
    }
    STORE(pressure_holes, i, hole);
}

// ---- Volumes -----------------------------------------------------------------------------------------------

// A vertex's area vector (m^2), and its share of the volume (m^3).
KERNEL(measure_pressure_areas)
{
    const uint cloth = LOAD(cloth_of_vertices, i);
    const uint slot = vertex_slot(VIEW_HERE_COMMA i);
    vec3 sum = v3(0.0f, 0.0f, 0.0f);
    float volume = 0.0f;
    if (slot != NONE && is_inflated(VIEW_HERE_COMMA cloth)) {
        const vec3 own = v3_from_v4(LOAD(predicted, slot));
        const uint root = fan_root(VIEW_HERE_COMMA i);
        for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
            const uint corner = LOAD(cloth_fans, k);
            const uint b = corner_slot(VIEW_HERE_COMMA corner_behind(corner));
            const uint c = corner_slot(VIEW_HERE_COMMA corner_before(corner));
            if (b != NONE && c != NONE && in_fan(VIEW_HERE_COMMA i, corner)) {
                const vec3 along = v3_sub(v3_from_v4(LOAD(predicted, b)), own);
                sum = v3_add(sum, v3_cross(along, v3_sub(v3_from_v4(LOAD(predicted, c)), own)));
            }
        }
        sum = v3_scale(sum, 1.0f / 6.0f);
        volume = v3_dot(v3_sub(own, pressure_origin(VIEW_HERE_COMMA cloth)), sum) / 3.0f;
    }
    STORE(pressure_areas, i, v4_from_v3(sum, volume));
}

// Of a chunk of vertices: the sums of area vectors and volumes, then W, the area of holes and the volume of caps.
KERNEL(sum_pressure_chunks)
{
    const uvec2 rows = LOAD(pressure_chunks, i);
    vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec4 more = sum;
    for (uint row = rows.x; row < rows.y; row++) {
        const vec4 area = LOAD(pressure_areas, row);
        const uint slot = vertex_slot(VIEW_HERE_COMMA row);
        sum = v4_from_v3(v3_add(v3_from_v4(sum), v3_from_v4(area)), sum.w + area.w);
        if (slot != NONE) {
            more.x += LOAD(predicted, slot).w * v3_dot(v3_from_v4(area), v3_from_v4(area));
        }
        if (PARAMETER(pressure_leaks) != 0u) {
            const vec4 hole = LOAD(pressure_holes, row);
            more.y += hole.x;
            more.z += hole.y;
        }
    }
    STORE(pressure_sums, 2u * i, sum);
    STORE(pressure_sums, 2u * i + 1u, more);
}

// ---- Pressures ---------------------------------------------------------------------------------------------

// What is left of the gas after dt at an excess pressure (Pa), through holes of `area` (m^2). `balanced` is what would
// be left with no excess: no more goes out, and no more comes in.
FUNCTION float pressure_left(float left, float balanced, float excess, float leak_area, float volume, float dt)
{
    const float speed = min_f32(sqrtf(2.0f * fabsf(excess) / PRESSURE_GAS_DENSITY), PRESSURE_SOUND);
    const float share = leak_area * speed / volume * dt;
    if (excess > 0.0f) {
        return max_f32(left / (1.0f + share), min_f32(balanced, left));
    }
    return min_f32(left * (1.0f + share), max_f32(balanced, left));
}

// The work (J) of a cloth's pressure in the (small) step: on its volume, and on what a hole leaves unbalanced.
FUNCTION float pressure_work(VIEW_COMMA uint cloth, vec3 net_area, float lambda, float growth)
{
    const uvec2 chunks = LOAD(pressure_spans, cloth);
    const float dt = PARAMETER(time_step);
    const uint slot = vertex_slot(VIEW_HERE_COMMA LOAD(pressure_chunks, chunks.x).x);
    float along = 0.0f;
    if (slot != NONE && PARAMETER(pressure_leaks) != 0u) {
        along = v3_dot(net_area, v3_sub(v3_from_v4(LOAD(predicted, slot)), v3_from_v4(LOAD(positions, slot))));
    }
    return lambda / (dt * dt) * (growth + along);
}

// What the multiplier changes by, of a cloth with `volume` of which `left` of the gas is left. The area grows with the
// volume: V (1 + u)^3 with u = W d lambda / (3 V) is exact for a sphere of one mass per area, and to first order for
// any shape. A few steps of Newton's method solve that.
FUNCTION float pressure_change(vec4 law, float wanted, float left, float volume, float w, float lambda, float dt)
{
    const float square = dt * dt;
    const float v = max_f32(volume, PRESSURE_SMALLEST * law.x);
    const float content = (law.z + wanted) * law.x * left; // n R T of a gas
    const float compliance = law.y / square;
    if (!(w > 0.0f)) {
        return law.y < 0.0f ? square * (content / v - law.z) - lambda : 0.0f; // it only presses
    }
    float u = 0.0f;
    for (uint n = 0u; n < PRESSURE_NEWTON; n++) {
        const float grown = v * (1.0f + u) * (1.0f + u) * (1.0f + u);
        const float slope = 3.0f * v * (1.0f + u) * (1.0f + u); // dV/du
        const float now = lambda + 3.0f * v * u / w;
        float step = 0.0f;
        if (law.y < 0.0f) {
            const float gap = square * (content / grown - law.z) - now;
            step = gap / (3.0f * v / w + square * content / (grown * grown) * slope);
        } else {
            step = (wanted * law.x * left - grown - compliance * now) / (slope + compliance * 3.0f * v / w);
        }
        u = clamp_f32(u + step, -PRESSURE_FASTEST, PRESSURE_FASTEST);
    }
    return 3.0f * v * u / w;
}

KERNEL(solve_pressure)
{
    if (!is_inflated(VIEW_HERE_COMMA i)) {
        return;
    }
    const vec4 law = LOAD(pressure_laws, i);
    const uvec2 chunks = LOAD(pressure_spans, i);
    const float dt = PARAMETER(time_step);
    vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec4 more = sum;
    for (uint k = chunks.x; k < chunks.y; k++) {
        const vec4 part = LOAD(pressure_sums, 2u * k);
        const vec4 others = LOAD(pressure_sums, 2u * k + 1u);
        sum = v4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
        more = v4(more.x + others.x, more.y + others.y, more.z + others.z, 0.0f);
    }
    const float volume = sum.w + more.z;
    const float wanted = LOAD(pressure_inputs, i);
    vec4 state = LOAD(pressure_states, 2u * i);
    vec4 work = LOAD(pressure_states, 2u * i + 1u);
    if (PARAMETER(iteration) == 0u) {
        const float room = max_f32(volume, PRESSURE_SMALLEST * law.x);
        const float unit = law.y < 0.0f ? (law.z + wanted) * law.x : 0.0f;
        const float excess = law.y < 0.0f ? unit * state.w / room - law.z : max_f32(state.x, 0.0f) / (dt * dt);
        const float balanced = unit > 0.0f ? law.z * room / unit : 0.0f;
        if (law.w * more.y > 0.0f) {
            state.w = pressure_left(state.w, balanced, excess, law.w * more.y, room, dt);
        }
        state.x = 0.0f;
        state.z = state.y;
        work.x = PARAMETER(small_step) == 0u ? 0.0f : work.x + work.y;
    }
    float change = pressure_change(law, wanted, state.w, volume, more.x, state.x, dt);
    if (law.y >= 0.0f && state.w < 1.0f) { // what has a hole does not suck
        change = max_f32(state.x + change, 0.0f) - state.x;
    }
    state.x += change;
    const float room = max_f32(volume, PRESSURE_SMALLEST * law.x);
    const float u = more.x * change / (3.0f * room);
    state.y = room * (1.0f + u) * (1.0f + u) * (1.0f + u);
    const vec3 net_area = v3_from_v4(sum);
    work.y = pressure_work(VIEW_HERE_COMMA i, net_area, state.x, state.y - state.z);
    work.z = more.y;
    work.w = change;
    STORE(pressure_states, 2u * i, state);
    STORE(pressure_states, 2u * i + 1u, work);
}

KERNEL(apply_pressure)
{
    const uint cloth = LOAD(cloth_of_vertices, i);
    const uint slot = vertex_slot(VIEW_HERE_COMMA i);
    if (slot == NONE || !is_inflated(VIEW_HERE_COMMA cloth)) {
        return;
    }
    const vec4 particle = LOAD(predicted, slot);
    if (particle.w > 0.0f) { // pins stay to the bit
        const float change = LOAD(pressure_states, 2u * cloth + 1u).w;
        const vec3 area = v3_from_v4(LOAD(pressure_areas, i));
        STORE(predicted, slot, v4_from_v3(v3_add_scaled(v3_from_v4(particle), area, particle.w * change), particle.w));
    }
}

// Credits what gas has given off in the step to the energy watch (watch.h): to the cloth's first vertex that can move.
KERNEL(credit_pressure)
{
    if (!is_inflated(VIEW_HERE_COMMA i)) {
        return;
    }
    const uvec2 chunks = LOAD(pressure_spans, i);
    const vec4 work = LOAD(pressure_states, 2u * i + 1u);
    for (uint row = LOAD(pressure_chunks, chunks.x).x; row < LOAD(pressure_chunks, chunks.y - 1u).y; row++) {
        const uint slot = vertex_slot(VIEW_HERE_COMMA row);
        if (slot != NONE && LOAD(positions, slot).w > 0.0f) {
            STORE(collider_work, slot, LOAD(collider_work, slot) + max_f32(work.x + work.y, 0.0f));
            return;
        }
    }
}

#endif
