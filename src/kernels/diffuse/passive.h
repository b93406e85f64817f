// SPDX-License-Identifier: MIT
// passive.h - passive particles: spray, foam and bubbles of a liquid (Ihmsen et al. 2012, "Unified spray, foam and air
// bubbles for particle-based fluids"), carried by eq. 28 of UPP. They act on nothing and not on one another. So they
// are not among the solver's particles: they have no neighbour lists, are never sorted, and look up the cells of the
// liquid around them (particle/neighbours.h).
//
// Slots. A passive particle keeps its slot for life. What dies frees its slot, and new particles fill the free slots
// from the first one on, before they go behind the last slot in use, the extent (spawn_diffuse.h). Moving the living
// together by a scan, as is usual, would take a second copy of all arrays and 40 bytes of traffic a particle and step;
// this takes a scan of one word in the few steps that spawn, and a renderer finds a particle where it was. All of it
// depends on the order of slots and of the liquid's particles alone: it repeats for any number of threads. While the
// step speculates, the host does not know the extent, and the kernels run over all slots.
//
// Classes, by the number of liquid particles within the smoothing radius, of about 33 around a particle deep inside:
//   spray    below 6: a parabola, with drag towards still air; colliders stop it
//   foam     in between: goes with the liquid, and ages; no other class does, but for what lies on a collider
//   bubbles  above 20: buoyancy, and drag towards the liquid's velocity
// Smoke is a class of its own, which its surroundings do not change: it goes with the flow where there is one, and
// straight on elsewhere, and ages (diffuse_smoke) until its life is over, unless that is endless. In worlds with gas
// (gas/gas.h) it cools, where it is alone it takes on the velocity of the air, and it marks the gas that it is near to.
//
// Where the liquid is looked at. UPP eq. 28, v = sum v_j W / sum W, with positions at the beginning of the step moves a
// particle along the tangent: foam on a turning liquid would drift outwards by pi omega dt of its radius in each turn
// (8 % at 1 turn/s and 240 Hz). Liquid particles do not, because the solver's velocities are the chords of their way.
// So a passive particle is treated as they are: its position is predicted with the velocity that it has, and the chords
// of the liquid's particles that are there at the end of the step give its own. The drift is then of fourth order in
// omega dt. Their positions are also what the cells were made of. A smaller radius than the solver's would be cheaper,
// but the mean over a lattice of particles is then off by more: with 0.8 of it, single particles on a turning lattice
// wander by 5 % of their radius.
#ifndef MOTE_KERNELS_PASSIVE_H
#define MOTE_KERNELS_PASSIVE_H

#include "data.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "fluid/sph_kernels.h"
#include "particle/air.h"
#include "particle/neighbours.h"

#define DIFFUSE_GAP      0.1f // spacings that passive particles keep from colliders
#define DIFFUSE_FRICTION 0.5f // Coulomb coefficient where they hit one

// The liquid around a point: the mean velocity of its particles, weighted by Poly6, and their number.
STRUCT(Flow)
{
    vec3 velocity; // m/s
    uint count;
};

// Where a point is among the cells, and how far it is from those beside its own.
STRUCT(CellPlace)
{
    int x;
    int y;
    int z;
    vec3 below; // squared distances of the cells at the next lower coordinates, over the squared cell size
    vec3 above;
    float reach; // squared
};

// A sum under way. Velocities are relative to the passive particle's own, so that in a uniform flow it keeps the flow's
// velocity to the last bit.
STRUCT(FlowSum)
{
    vec3 sum;
    float weight;
    uint count;
};

FUNCTION CellPlace cell_place(VIEW_COMMA vec3 p)
{
    const vec4 lower = LOAD(bounds, 0);
    const vec4 upper = LOAD(bounds, 1);
    const float extent = max_f32(max_f32(upper.x - lower.x, upper.y - lower.y), upper.z - lower.z);
    const float size = cell_size(PARAMETER(smoothing_radius), extent);
    const vec3 at = v3_scale(v3_sub(p, v3_from_v4(lower)), 1.0f / size);
    const vec3 floors = v3(floorf(at.x), floorf(at.y), floorf(at.z));
    const vec3 part = v3_sub(at, floors);
    const vec3 rest = v3_sub(v3(1.0f, 1.0f, 1.0f), part);
    const float reach = PARAMETER(smoothing_radius) / size;
    CellPlace place;
    place.x = I32(floors.x);
    place.y = I32(floors.y);
    place.z = I32(floors.z);
    place.below = v3_mul(part, part);
    place.above = v3_mul(rest, rest);
    place.reach = reach * reach;
    return place;
}

// Squared distance along one axis of a cell that is `step` from the point's own; large if it is none of the three.
FUNCTION float axis_distance(int step, float below, float above)
{
    if (step == 0) {
        return 0.0f;
    }
    return step == -1 ? below : (step == 1 ? above : 4.0f);
}

// Whether a cell is within reach of the point.
FUNCTION bool cell_is_near(CellPlace place, u64 key)
{
    const float x = axis_distance(I32(gather_bits(key)) - place.x, place.below.x, place.above.x);
    const float y = axis_distance(I32(gather_bits(key >> 1)) - place.y, place.below.y, place.above.y);
    const float z = axis_distance(I32(gather_bits(key >> 2)) - place.z, place.below.z, place.above.z);
    return x + y + z < place.reach;
}

// The first cell of one of the eight blocks of 2x2x2 cells that the cells around a point are in, or HASH_EMPTY, which
// is above all cells.
FUNCTION uint first_cell_near(VIEW_COMMA CellPlace place, int b)
{
    const int x = ((place.x + 1) >> 1) - (b & 1);
    const int y = ((place.y + 1) >> 1) - ((b >> 1) & 1);
    const int z = ((place.z + 1) >> 1) - (b >> 2);
    if (!is_block(x) || !is_block(y) || !is_block(z)) {
        return HASH_EMPTY;
    }
    return find_block(VIEW_HERE_COMMA zorder_key(U32(x), U32(y), U32(z)));
}

// Whether particle j is of what carries passive particles: of a liquid; smoke goes with gas, too.
FUNCTION bool is_carrier(VIEW_COMMA uint j, bool smoke)
{
    if (PARAMETER(has_solids) == 0u && (PARAMETER(has_gas) == 0u || smoke)) {
        return true;
    }
    const uint phase = LOAD(phases, j);
    return has_density(phase) && (smoke || !is_gas(phase));
}

// Gas that smoke is near to stays (gas/gas_life.h).
FUNCTION void mark_gas(VIEW_COMMA uint j)
{
    if (PARAMETER(gas_linger) > 0.0f) {
        ATOMIC_MAX(gas_marks, j, 1u);
    }
}

FUNCTION FlowSum add_to_flow(VIEW_COMMA FlowSum flow, vec3 p, vec3 own, bool smoke, uint j)
{
    const vec3 offset = v3_sub(p, v3_from_v4(LOAD(positions, j)));
    const float t = 1.0f - v3_dot(offset, offset) / PARAMETER(smoothing_radius_squared);
    if (t > 0.0f && is_carrier(VIEW_HERE_COMMA j, smoke)) {
        if (smoke) {
            mark_gas(VIEW_HERE_COMMA j);
        }
        const float weight = t * t * t;
        flow.sum = v3_add_scaled(flow.sum, v3_sub(v3_from_v4(LOAD(velocities, j)), own), weight);
        flow.weight += weight;
        flow.count++;
    }
    return flow;
}

// Whether a point is within `reach` of the box around the liquid.
FUNCTION bool is_near_liquid(VIEW_COMMA vec3 p, float reach)
{
    const vec4 lower = LOAD(bounds, 0);
    const vec4 upper = LOAD(bounds, 1);
    return p.x > lower.x - reach && p.y > lower.y - reach && p.z > lower.z - reach && p.x < upper.x + reach &&
           p.y < upper.y + reach && p.z < upper.z + reach;
}

FUNCTION Flow flow_of(FlowSum sum, vec3 own)
{
    Flow flow;
    flow.velocity = v3_add_scaled(own, sum.sum, sum.weight > 0.0f ? 1.0f / sum.weight : 0.0f);
    flow.count = sum.count;
    return flow;
}

// The liquid around p, as seen by a passive particle of velocity `own`; gas, too, if it is of smoke.
FUNCTION Flow flow_at(VIEW_COMMA vec3 p, vec3 own, bool smoke)
{
    FlowSum sum;
    sum.sum = v3(0.0f, 0.0f, 0.0f);
    sum.weight = 0.0f;
    sum.count = 0u;
    if (PARAMETER(particle_count) != 0u && is_near_liquid(VIEW_HERE_COMMA p, PARAMETER(smoothing_radius))) {
        const CellPlace place = cell_place(VIEW_HERE_COMMA p);
        const uint cells = cells_in_use(VIEW_HERE);
        for (int b = 0; b < 8; b++) {
            uint cell = first_cell_near(VIEW_HERE_COMMA place, b);
            const u64 block = cell < cells ? block_of_key(key_of_cell(VIEW_HERE_COMMA cell)) : 0UL;
            for (; cell < cells && block_of_key(key_of_cell(VIEW_HERE_COMMA cell)) == block; cell++) {
                if (cell_is_near(place, key_of_cell(VIEW_HERE_COMMA cell))) {
                    const uint end = LOAD(cell_starts, cell + 1u);
                    for (uint j = LOAD(cell_starts, cell); j < end; j++) {
                        sum = add_to_flow(VIEW_HERE_COMMA sum, p, own, smoke, j);
                    }
                }
            }
        }
    }
    return flow_of(sum, own);
}

// ---- Motion ------------------------------------------------------------------------------------------------

STRUCT(Passive)
{
    vec3 position;
    float life;
    vec3 velocity;
    float shown;  // DIFFUSE_SPRAY to DIFFUSE_BUBBLE, or DIFFUSE_SMOKE
    bool touches; // a collider
};

// Spray, exactly for constant acceleration.
FUNCTION Passive fly(VIEW_COMMA Passive one)
{
    const float dt = PARAMETER(time_step);
    const vec3 before = one.velocity;
    one.velocity = v3_scale(v3_add_scaled(before, PARAMETER(gravity), dt), PARAMETER(spray_decay));
    one.position = v3_add_scaled(one.position, v3_add(before, one.velocity), 0.5f * dt);
    return one;
}

// Drag towards the terminal velocity, exactly.
FUNCTION Passive rise(VIEW_COMMA Passive one, Flow flow)
{
    const vec3 terminal = v3_add_scaled(flow.velocity, PARAMETER(gravity), -PARAMETER(bubble_rise));
    one.velocity = v3_add_scaled(terminal, v3_sub(one.velocity, terminal), PARAMETER(bubble_decay));
    one.position = v3_add_scaled(one.position, one.velocity, PARAMETER(time_step));
    return one;
}

FUNCTION bool is_smoke(float shown)
{
    return shown > 0.5f * (DIFFUSE_BUBBLE + DIFFUSE_SMOKE);
}

FUNCTION Passive collide_passive(VIEW_COMMA Passive one, Collider collider)
{
    const float gap = DIFFUSE_GAP * PARAMETER(spacing);
    const vec3 local = to_collider(collider, one.position);
    const vec4 surface = collider_distance(VIEW_HERE_COMMA collider, local);
    if (surface.w < gap) {
        const vec3 normal = rotate(collider.rotation, v3_from_v4(surface));
        const vec3 was = from_collider_at_start(collider, local);
        const vec3 wall = v3_scale(v3_sub(one.position, was), 1.0f / PARAMETER(time_step));
        const vec3 relative = v3_sub(one.velocity, wall);
        const float towards = v3_dot(relative, normal);
        if (towards < 0.0f) {
            const vec3 sliding = v3_add_scaled(relative, normal, -towards);
            const float speed = v3_length(sliding);
            const float kept = 1.0f - min_f32(-DIFFUSE_FRICTION * towards / max_f32(speed, 1e-20f), 1.0f); // Coulomb
            one.velocity = v3_add_scaled(wall, sliding, kept);
        }
        one.position = v3_add_scaled(one.position, normal, gap - surface.w);
        one.touches = true;
    }
    return one;
}

// Whether a passive particle has left for good: the bounds, into a kill volume, or if it is none of smoke, far away
// from all liquid.
FUNCTION bool is_lost(VIEW_COMMA vec3 p, bool smoke)
{
    const vec3 lower = PARAMETER(bounds_lower);
    const vec3 upper = PARAMETER(bounds_upper);
    const bool planar = PARAMETER(motion_mask).z == 0.0f;
    bool lost = !v3_is_finite(p) || p.x < lower.x || p.y < lower.y || p.x > upper.x || p.y > upper.y ||
                (!planar && (p.z < lower.z || p.z > upper.z));
    if (PARAMETER(particle_count) != 0u && !smoke) {
        const vec3 across = v3_sub(v3_from_v4(LOAD(bounds, 1)), v3_from_v4(LOAD(bounds, 0)));
        const float far = v3_length(across) + 20.0f * PARAMETER(smoothing_radius);
        lost = lost || !is_near_liquid(VIEW_HERE_COMMA p, far);
    }
    for (uint s = 0u; s < PARAMETER(kill_volume_count); s++) {
        const Collider volume = LOAD(kill_volumes, s);
        lost = lost || collider_distance(VIEW_HERE_COMMA volume, to_collider(volume, p)).w < 0.0f;
    }
    return lost;
}

// With the flow; where there is none, that is the velocity that it has.
FUNCTION Passive drift(VIEW_COMMA Passive one, Flow flow)
{
    one.velocity = flow.velocity;
    one.position = v3_add_scaled(one.position, one.velocity, PARAMETER(time_step));
    return one;
}

// The velocity of smoke that is alone: it becomes the air's.
FUNCTION vec3 towards_air(VIEW_COMMA Passive one)
{
    const vec3 air = v3_mul(air_velocity(VIEW_HERE_COMMA one.position), PARAMETER(motion_mask));
    return v3_add_scaled(air, v3_sub(one.velocity, air), PARAMETER(smoke_decay));
}

// One of slot i.
FUNCTION Passive age_smoke(VIEW_COMMA uint i, Passive one, float count)
{
    const float dt = PARAMETER(time_step);
    const vec4 smoke = LOAD(diffuse_smoke, i);
    const float open = max_f32(1.0f - count * PARAMETER(diffuse_inside), 0.0f);
    const float temperature = PARAMETER(has_gas) != 0u ? cooled(VIEW_HERE_COMMA smoke.z, open) : smoke.z;
    STORE(diffuse_smoke, i, v4(smoke.x + dt, smoke.y, temperature, smoke.w));
    one.life -= smoke.y > 0.0f ? dt : 0.0f;
    return one;
}

FUNCTION Passive move_passive(VIEW_COMMA Passive one, Flow flow)
{
    const float dt = PARAMETER(time_step);
    const float count = F32(flow.count);
    float class_now = DIFFUSE_FOAM;
    if (is_smoke(one.shown)) {
        class_now = DIFFUSE_SMOKE;
        if (PARAMETER(has_gas) != 0u && flow.count == 0u) {
            flow.velocity = towards_air(VIEW_HERE_COMMA one);
        }
        one = drift(VIEW_HERE_COMMA one, flow);
    } else if (count < PARAMETER(diffuse_few)) {
        class_now = DIFFUSE_SPRAY;
        one = fly(VIEW_HERE_COMMA one);
    } else if (count > PARAMETER(diffuse_many)) {
        class_now = DIFFUSE_BUBBLE;
        one = rise(VIEW_HERE_COMMA one, flow);
    } else {
        one = drift(VIEW_HERE_COMMA one, flow);
    }
    one.shown = class_now + (one.shown - class_now) * PARAMETER(class_decay);
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        if (is_inside_container(VIEW_HERE_COMMA s, one.position, PARAMETER(spacing))) {
            continue;
        }
        const Collider collider = LOAD(colliders, s);
        if (!collider_is_solid(collider) ||
            !is_out_of_reach(collider, one.position, one.position, PARAMETER(spacing))) {
            one = collide_passive(VIEW_HERE_COMMA one, collider);
        }
    }
    const bool ages = class_now == DIFFUSE_FOAM || (class_now == DIFFUSE_SPRAY && one.touches);
    one.life -= ages ? dt : 0.0f;
    return one;
}

// Whether there is a passive particle in slot i; if not, marks whether it is a free slot for list_free_diffuse.
FUNCTION bool is_in_use(VIEW_COMMA uint i)
{
    const bool within = i < LOAD(diffuse_counts, DIFFUSE_EXTENT);
    const bool used = within && LOAD(diffuse_positions, i).w > 0.0f;
    if (!used) {
        STORE(diffuse_scan, i, within ? 1u : 0u);
    }
    return used;
}

// Moves a passive particle, of which `flow` is the liquid's motion where it will be.
FUNCTION void advance_passive(VIEW_COMMA uint i, Flow flow)
{
    const vec4 place = LOAD(diffuse_positions, i);
    const vec4 motion = LOAD(diffuse_velocities, i);
    Passive one;
    one.position = v3_from_v4(place);
    one.life = place.w;
    one.velocity = v3_from_v4(motion);
    one.shown = motion.w;
    one.touches = false;
    one = move_passive(VIEW_HERE_COMMA one, flow);
    const bool smoke = is_smoke(one.shown);
    if (smoke) {
        one = age_smoke(VIEW_HERE_COMMA i, one, F32(flow.count));
    }
    const bool lost = is_lost(VIEW_HERE_COMMA one.position, smoke);
    const bool dies = !(one.life > 0.0f) || !v3_is_finite(one.velocity) || lost;
    if (dies) {
        const vec4 nothing = v4(0.0f, 0.0f, 0.0f, 0.0f);
        STORE(diffuse_positions, i, nothing);
        STORE(diffuse_velocities, i, nothing);
        STORE(diffuse_ids, i, 0u);
        if (smoke) {
            STORE(diffuse_smoke, i, nothing);
        }
        ATOMIC_ADD(diffuse_counts, DIFFUSE_DEAD, 1u);
    } else {
        STORE(diffuse_positions, i, v4_from_v3(one.position, one.life));
        STORE(diffuse_velocities, i, v4_from_v3(one.velocity, one.shown));
    }
    STORE(diffuse_scan, i, dies ? 1u : 0u);
}

KERNEL(advect_diffuse)
{
    if (is_in_use(VIEW_HERE_COMMA i)) {
        const vec3 own = v3_from_v4(LOAD(diffuse_velocities, i));
        const vec3 p = v3_add_scaled(v3_from_v4(LOAD(diffuse_positions, i)), own, PARAMETER(time_step));
        const bool smoke = is_smoke(LOAD(diffuse_velocities, i).w);
        const Flow flow = flow_at(VIEW_HERE_COMMA p, own, smoke);
        advance_passive(VIEW_HERE_COMMA i, flow);
    }
}

#endif
