// SPDX-License-Identifier: MIT
// boundary_density.h - colliders in the density constraint of a liquid: they count in its density, and push with its
// pressure.
//
// UPP eq. 27 includes the particles of solids in the density; colliders have none. A particle at a wall lacks the
// neighbours behind the wall. Without them the liquid packs too many particles at the wall, and what runs into a wall
// is stopped by contacts alone, which take the normal velocity of a whole layer: water that hits a wall would splash
// like a gel. So a wall is a mirror: behind it are the images of the particles in front of it (ghost particles,
// Colagrossi and Landrini 2003), with their lambdas:
//
//     rho_i = sum_j W(x_i - x_j) + sum_b W(x_i - x_b)
//     dx_i  = w_i / rho_0 (sum_j (lambda_i + lambda_j + s_ij) grad W_ij + sum_b (lambda_i + lambda_b) grad W_ib)
//
// (PBF eq. 14), where b are the images of i's neighbours and of i itself. The mirror is half a spacing from where
// particles touch the wall, so that a lattice goes on behind it, and a block on its rest lattice is at rest at a wall,
// in an edge and in a corner. An image is never nearer than its particle: lists of neighbours have all that it takes.
//
// Mirrored liquid is symmetric. So pressure gradients along a wall are right (with a lattice of one pressure behind the
// wall, liquid sinks along it and a pool never comes to rest), what liquids give to a wall is normal to it, and a wall
// adds no energy. Walls do not pull.
#ifndef MOTE_KERNELS_BOUNDARY_DENSITY_H
#define MOTE_KERNELS_BOUNDARY_DENSITY_H

#include "data.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "fluid/density.h"
#include "particle/forces.h"

#define SAME_WALL    0.9f  // cosine between the normals of two walls that count as one
#define ONE_GRADIENT 0.03f // how far from 1 a distance field's gradient is where one surface is the nearest in a cell

// A wall near a particle.
STRUCT(Wall)
{
    vec3 normal;    // unit, towards the particle
    float distance; // m, from the mirror to the particle; NO_FIELD: there is no wall
    float weight;
    uint collider;
};

// The nearest walls, in order.
STRUCT(Walls)
{
    Wall a;
    Wall b;
    Wall c;
};

FUNCTION Wall make_wall(uint collider, vec3 normal, float distance)
{
    Wall wall;
    wall.normal = normal;
    wall.distance = distance;
    wall.weight = 1.0f;
    wall.collider = collider;
    return wall;
}

FUNCTION bool is_wall(Wall wall)
{
    return wall.distance < NO_FIELD;
}

FUNCTION Walls no_walls(void)
{
    Walls walls;
    walls.a = make_wall(0u, v3(0.0f, 0.0f, 0.0f), NO_FIELD);
    walls.b = walls.a;
    walls.c = walls.a;
    return walls;
}

// Of walls in the same place the nearest counts, and of all others the three nearest.
FUNCTION Walls add_wall(Walls walls, Wall wall)
{
    const bool as_a = v3_dot(walls.a.normal, wall.normal) > SAME_WALL;
    const bool as_b = v3_dot(walls.b.normal, wall.normal) > SAME_WALL;
    if (wall.distance < walls.a.distance) {
        if (!as_a) {
            walls.c = as_b ? walls.c : walls.b;
            walls.b = walls.a;
        }
        walls.a = wall;
    } else if (as_a) {
        return walls;
    } else if (wall.distance < walls.b.distance) {
        walls.c = as_b ? walls.c : walls.b;
        walls.b = wall;
    } else if (!as_b && wall.distance < walls.c.distance) {
        walls.c = wall;
    }
    return walls;
}

// ---- Walls of colliders ------------------------------------------------------------------------------------

// A wall at this gap from contact, if it is within reach.
FUNCTION Walls add_wall_at(VIEW_COMMA Walls walls, uint s, vec3 normal, float gap)
{
    return gap < PARAMETER(boundary_reach) ? add_wall(walls, make_wall(s, normal, gap + 0.5f * PARAMETER(spacing)))
                                           : walls;
}

// The two walls of a container along an axis (unit). `p` is the particle's coordinate along it, from -room to room.
FUNCTION Walls add_opposite_walls(VIEW_COMMA Walls walls, uint s, vec3 axis, float p, float room)
{
    walls = add_wall_at(VIEW_HERE_COMMA walls, s, axis, p + room);
    return add_wall_at(VIEW_HERE_COMMA walls, s, v3_scale(axis, -1.0f), room - p);
}

FUNCTION Walls add_container_walls(VIEW_COMMA Walls walls, uint s, Collider collider, vec3 p)
{
    const float margin = PARAMETER(margin);
    const vec3 half_size = collider.half_size;
    const vec3 x = rotate(collider.rotation, v3(1.0f, 0.0f, 0.0f));
    const vec3 y = rotate(collider.rotation, v3(0.0f, 1.0f, 0.0f));
    walls = add_opposite_walls(VIEW_HERE_COMMA walls, s, x, p.x, half_size.x - margin);
    walls = add_opposite_walls(VIEW_HERE_COMMA walls, s, y, p.y, half_size.y - margin);
    if (PARAMETER(motion_mask).z > 0.0f) {
        walls = add_opposite_walls(VIEW_HERE_COMMA walls, s, v3_cross(x, y), p.z, half_size.z - margin);
    }
    return walls;
}

// Every face of a hull that is a container is a wall.
FUNCTION Walls add_hull_walls(VIEW_COMMA Walls walls, uint s, Collider collider, vec3 p)
{
    for (uint t = 0u; t < collider.data_count; t++) {
        const vec4 plane = LOAD(hull_rows, collider.data + 4u * t);
        const float gap = plane.w - v3_dot(v3_from_v4(plane), p) - PARAMETER(margin);
        const vec3 normal = rotate(collider.rotation, v3_scale(v3_from_v4(plane), -1.0f));
        walls = add_wall_at(VIEW_HERE_COMMA walls, s, normal, gap);
    }
    return walls;
}

// The wall that a distance field makes at a particle at `p`, as measured at the point q near it. There is none where
// the gradient is not of one surface; inside the solid, where the other side of a thin one is near; and behind `p`:
// then q has another side of the solid before it.
FUNCTION Wall field_wall(VIEW_COMMA uint s, Collider collider, vec3 p, vec3 q, float nearest)
{
    const Field field = LOAD(fields, collider.data);
    const float side = collider.inside_out != 0u ? -1.0f : 1.0f;
    const vec4 at = field_gradient(VIEW_HERE_COMMA collider.data, q);
    const float length = v3_length(v3_from_v4(at));
    const float distance = side * at.w;
    const vec3 normal = v3_scale(v3_from_v4(at), side / max_f32(length, 0.5f));
    const float from_p = distance + v3_dot(normal, v3_sub(p, q));
    const float gap = from_p - PARAMETER(margin);
    const bool known = field.slope <= 0.0f || at.w < field.outside;
    const bool is_there = known && fabsf(length - 1.0f) < ONE_GRADIENT && distance > -0.25f * PARAMETER(spacing) &&
                          from_p > nearest - 0.1f * PARAMETER(spacing) && gap < PARAMETER(boundary_reach);
    return make_wall(s, rotate(collider.rotation, normal), is_there ? gap + 0.5f * PARAMETER(spacing) : NO_FIELD);
}

#define AXIS_PROBES 6u
#define PROBES      18u

// Points beside a particle: first along the axes, then along the diagonals between two of them.
FUNCTION vec3 probe_offset(uint k)
{
    const float first = (k & 1u) == 0u ? 1.0f : -1.0f;
    const float second = (k & 2u) == 0u ? 1.0f : -1.0f;
    if (k < AXIS_PROBES) {
        return v3(k < 2u ? first : 0.0f, k >= 2u && k < 4u ? first : 0.0f, k >= 4u ? first : 0.0f);
    }
    const uint none = (k - AXIS_PROBES) / 4u; // the axis that it is perpendicular to
    return v3(none == 0u ? 0.0f : first, none == 1u ? 0.0f : (none == 0u ? first : second), none == 2u ? 0.0f : second);
}

// A distance field knows the nearest surface alone, and in an edge or a corner not even its normal. But from some point
// beside the particle, each of the surfaces that meet there is the nearest one: from one that is farther from all
// others. Where all along the axes see the particle's own wall, there is no other.
FUNCTION Walls add_field_walls(VIEW_COMMA Walls walls, uint s, Collider collider, vec3 p)
{
    const Field field = LOAD(fields, collider.data);
    const vec4 surface = collider_distance(VIEW_HERE_COMMA collider, p);
    const float gap = surface.w - PARAMETER(margin);
    if ((field.slope > 0.0f && surface.w >= field.outside) || gap >= PARAMETER(boundary_reach)) {
        return walls; // farther than distances are known, or than a wall reaches
    }
    const float step = 2.0f * PARAMETER(boundary_reach);
    const Wall near = field_wall(VIEW_HERE_COMMA s, collider, p, p, surface.w);
    bool found = is_wall(near);
    bool alone = found;
    walls = found ? add_wall(walls, near) : walls;
    for (uint k = 0u; k < (alone ? AXIS_PROBES : PROBES); k++) {
        const vec3 beside = v3_add_scaled(p, probe_offset(k), step);
        const Wall wall = field_wall(VIEW_HERE_COMMA s, collider, p, beside, surface.w);
        if (is_wall(near) && v3_dot(wall.normal, near.normal) > SAME_WALL) {
            continue;
        }
        alone = false;
        if (is_wall(wall)) {
            walls = add_wall(walls, wall);
            found = true;
        }
    }
    if (!found) {
        walls = add_wall_at(VIEW_HERE_COMMA walls, s, rotate(collider.rotation, v3_from_v4(surface)), gap);
    }
    return walls;
}

FUNCTION Walls add_collider_walls(VIEW_COMMA Walls walls, uint s, vec3 point)
{
    const Collider collider = LOAD(colliders, s);
    const float reach = PARAMETER(boundary_reach) + PARAMETER(margin);
    if (HAS_FEATURE(OBSTACLES) && collider_is_solid(collider)) {
        const vec3 apart = v3_sub(point, collider.position);
        const float farthest = collider.bounding_radius + reach;
        if (v3_dot(apart, apart) > farthest * farthest) {
            return walls;
        }
    }
    const vec3 p = to_collider(collider, point);
    if (collider.kind == COLLIDER_BOX && collider.inside_out != 0u) {
        return add_container_walls(VIEW_HERE_COMMA walls, s, collider, p);
    }
    if (HAS_FEATURE(HULLS) && collider.kind == COLLIDER_HULL && collider.inside_out != 0u) {
        return add_hull_walls(VIEW_HERE_COMMA walls, s, collider, p);
    }
    if (HAS_FEATURE(FIELDS) && collider.kind == COLLIDER_FIELD) {
        return add_field_walls(VIEW_HERE_COMMA walls, s, collider, p);
    }
    const vec4 surface = collider_distance(VIEW_HERE_COMMA collider, p);
    return add_wall_at(VIEW_HERE_COMMA walls, s, rotate(collider.rotation, v3_from_v4(surface)),
                       surface.w - PARAMETER(margin));
}

FUNCTION Walls walls_around(VIEW_COMMA vec3 p)
{
    const float reach = PARAMETER(boundary_reach) + PARAMETER(margin);
    Walls walls = no_walls();
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        if (!is_inside_container(VIEW_HERE_COMMA s, p, reach)) {
            walls = add_collider_walls(VIEW_HERE_COMMA walls, s, p);
        }
    }
    // Behind walls that meet at an obtuse angle images overlap.
    walls.b.weight = 1.0f - max_f32(v3_dot(walls.a.normal, walls.b.normal), 0.0f);
    walls.c.weight = (1.0f - max_f32(v3_dot(walls.a.normal, walls.c.normal), 0.0f)) *
                     (1.0f - max_f32(v3_dot(walls.b.normal, walls.c.normal), 0.0f));
    return walls;
}

// ---- Images ------------------------------------------------------------------------------------------------

#define IMAGES 8u // of a particle: bits say which walls have mirrored it, 0 is the particle itself

// Whether two walls make an edge, behind which there are images of images.
FUNCTION bool make_edge(Wall a, Wall b)
{
    return fabsf(v3_dot(a.normal, b.normal)) < 0.5f;
}

FUNCTION bool has_image(Walls walls, uint image)
{
    const bool a = (image & 1u) != 0u;
    const bool b = (image & 2u) != 0u;
    const bool c = (image & 4u) != 0u;
    return (!a || is_wall(walls.a)) && (!b || is_wall(walls.b)) && (!c || is_wall(walls.c)) &&
           (!a || !b || make_edge(walls.a, walls.b)) && (!b || !c || make_edge(walls.b, walls.c)) &&
           (!c || !a || make_edge(walls.c, walls.a));
}

FUNCTION float image_weight(Walls walls, uint image)
{
    const float b = (image & 2u) != 0u ? walls.b.weight : 1.0f;
    return (image & 4u) != 0u ? b * walls.c.weight : b;
}

FUNCTION vec3 mirror_offset(Wall wall, vec3 offset)
{
    return v3_add_scaled(offset, wall.normal, 2.0f * (wall.distance - v3_dot(wall.normal, offset)));
}

// The offset from an image of a neighbour to the particle; `offset` is that from the neighbour itself.
FUNCTION vec3 image_offset(Walls walls, uint image, vec3 offset)
{
    if ((image & 1u) != 0u) {
        offset = mirror_offset(walls.a, offset);
    }
    if ((image & 2u) != 0u) {
        offset = mirror_offset(walls.b, offset);
    }
    if ((image & 4u) != 0u) {
        offset = mirror_offset(walls.c, offset);
    }
    return offset;
}

FUNCTION bool is_before(Wall wall, vec3 offset)
{
    return v3_dot(wall.normal, offset) < wall.distance;
}

// Whether a neighbour has an image: it is before the walls, not around a corner or on the other side of something thin.
FUNCTION bool is_mirrored(Walls walls, uint image, vec3 offset)
{
    return ((image & 1u) == 0u || is_before(walls.a, offset)) && ((image & 2u) == 0u || is_before(walls.b, offset)) &&
           ((image & 4u) == 0u || is_before(walls.c, offset));
}

// Whether solids may be among the neighbours: only liquids are mirrored.
FUNCTION bool has_solid_neighbours(VIEW)
{
    return HAS_FEATURE(SOLIDS) && PARAMETER(has_solids) != 0u;
}

// The density of images at a particle, over rest density.
FUNCTION float image_density(VIEW_COMMA uint i, Walls walls, uint image)
{
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const float smoothing_radius_squared = PARAMETER(smoothing_radius_squared);
    const bool solids = has_solid_neighbours(VIEW_HERE);
    const vec3 own = image_offset(walls, image, v3(0.0f, 0.0f, 0.0f));
    float density = poly6(v3_dot(own, own), smoothing_radius_squared);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        if (solids && !has_density(LOAD(phases, j))) {
            continue;
        }
        const vec3 offset = v3_sub(p, v3_from_v4(LOAD(predicted, j)));
        const vec3 mirrored = image_offset(walls, image, offset);
        const float share = poly6(v3_dot(mirrored, mirrored), smoothing_radius_squared);
        density += is_mirrored(walls, image, offset) ? share : 0.0f;
    }
    return density * PARAMETER(boundary_weight) * image_weight(walls, image) * PARAMETER(density_scale);
}

// Stores the density with that of images, and the lambda it makes.
FUNCTION void store_boundary_density(VIEW_COMMA uint i, float density)
{
    STORE(densities, i, density);
    if (PARAMETER(measuring) == 0u) {
        const vec4 particle = LOAD(predicted, i);
        const float tension = tension_of(VIEW_HERE_COMMA LOAD(phases, i));
        const float error = density_error(density, LOAD(velocities, i).w, tension, PARAMETER(tension_scale));
        const float scale = has_lambda_scales(VIEW_HERE) ? LOAD(lambda_scales, i) : PARAMETER(rest_lambda) / particle.w;
        STORE(position_estimates, i, v4_from_v3(v3_from_v4(particle), -error * scale));
        if (PARAMETER(marks_pressure) != 0u && error != 0.0f) {
            STORE(pressure_notes, i / PRESSURE_CHUNK, pressure_mark(VIEW_HERE)); // the same from all of a chunk
        }
    }
}

// After density_lambda or measure_density: adds the density of images, and updates lambda.
KERNEL(add_boundary_density)
{
    const vec4 particle = LOAD(predicted, i);
    if (!has_density(LOAD(phases, i))) {
        return;
    }
    const Walls walls = walls_around(VIEW_HERE_COMMA v3_from_v4(particle));
    if (!is_wall(walls.a)) {
        return;
    }
    float density = LOAD(densities, i);
    for (uint image = 1u; image < IMAGES; image++) {
        if (has_image(walls, image)) {
            density += image_density(VIEW_HERE_COMMA i, walls, image);
        }
    }
    store_boundary_density(VIEW_HERE_COMMA i, density);
}

// ---- Pressure ----------------------------------------------------------------------------------------------

// The term of PBF eq. 14 for an image at this offset, without common factors. `lambda` is the sum of both. Walls do not
// pull, and have no artificial pressure: it would throw single drops off a wall that pushes them, faster than it moves.
FUNCTION vec3 image_term(VIEW_COMMA vec3 offset, float lambda)
{
    const float factor = spiky_factor(v3_dot(offset, offset), PARAMETER(smoothing_radius));
    return v3_scale(offset, min_f32(lambda, 0.0f) * factor);
}

FUNCTION vec3 mirror_direction(Wall wall, vec3 direction)
{
    return v3_add_scaled(direction, wall.normal, -2.0f * v3_dot(wall.normal, direction));
}

// L of an image of particle j (isotropy.h) times a vector: that of j, mirrored.
FUNCTION vec3 image_gradient(VIEW_COMMA Walls walls, uint image, uint j, vec3 offset)
{
    vec3 v = (image & 4u) != 0u ? mirror_direction(walls.c, offset) : offset;
    v = (image & 2u) != 0u ? mirror_direction(walls.b, v) : v;
    v = (image & 1u) != 0u ? mirror_direction(walls.a, v) : v;
    v = isotropic_gradient(VIEW_HERE_COMMA j, v);
    v = (image & 1u) != 0u ? mirror_direction(walls.a, v) : v;
    v = (image & 2u) != 0u ? mirror_direction(walls.b, v) : v;
    return (image & 4u) != 0u ? mirror_direction(walls.c, v) : v;
}

// image_term with isotropic pressure, for the image of particle j at this offset from particle i.
FUNCTION vec3 isotropic_image_term(VIEW_COMMA Walls walls, uint image, uint i, uint j, vec3 offset, float here,
                                   float other)
{
    const float factor = spiky_factor(v3_dot(offset, offset), PARAMETER(smoothing_radius));
    const vec3 own = v3_scale(isotropic_gradient(VIEW_HERE_COMMA i, offset), here);
    const vec3 others = image_gradient(VIEW_HERE_COMMA walls, image, j, offset);
    return v3_scale(v3_add_scaled(own, others, other), here + other < 0.0f ? factor : 0.0f);
}

// The term for an image of particle j, which may be the particle itself.
FUNCTION vec3 image_correction(VIEW_COMMA uint i, Walls walls, uint image, vec4 estimate, uint j)
{
    const vec4 other = LOAD(position_estimates, j);
    const vec3 offset = v3_sub(v3_from_v4(estimate), v3_from_v4(other));
    if (pressure_is_isotropic(VIEW_HERE)) {
        const vec3 mirrored = image_offset(walls, image, offset);
        const vec3 along = isotropic_image_term(VIEW_HERE_COMMA walls, image, i, j, mirrored, estimate.w, other.w);
        return is_mirrored(walls, image, offset) ? along : v3(0.0f, 0.0f, 0.0f);
    }
    const vec3 term = image_term(VIEW_HERE_COMMA image_offset(walls, image, offset), estimate.w + other.w);
    return is_mirrored(walls, image, offset) ? term : v3(0.0f, 0.0f, 0.0f);
}

// A sum over images with the factors and the limit of density_delta.
FUNCTION vec3 limit_image_correction(VIEW_COMMA uint i, vec3 sum, float inverse_mass)
{
    float scale = PARAMETER(boundary_weight) * PARAMETER(gradient_scale) * PARAMETER(over_relaxation) * inverse_mass;
    if (PARAMETER(averaging) != 0u) {
        scale = scale / F32(LOAD(neighbour_counts, i) + 1u);
    }
    return v3_limit(v3_mul(v3_scale(sum, scale), PARAMETER(motion_mask)), PARAMETER(max_correction));
}

FUNCTION vec3 image_corrections(VIEW_COMMA uint i, Walls walls, uint image, float inverse_mass)
{
    const vec4 estimate = LOAD(position_estimates, i);
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const bool solids = has_solid_neighbours(VIEW_HERE);
    vec3 sum = image_correction(VIEW_HERE_COMMA i, walls, image, estimate, i);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        if (!solids || has_density(LOAD(phases, j))) {
            sum = v3_add(sum, image_correction(VIEW_HERE_COMMA i, walls, image, estimate, j));
        }
    }
    return limit_image_correction(VIEW_HERE_COMMA i, v3_scale(sum, image_weight(walls, image)), inverse_mass);
}

// The collider that an image is behind, of several the nearest.
FUNCTION uint image_collider(Walls walls, uint image)
{
    const uint other = (image & 2u) != 0u ? walls.b.collider : walls.c.collider;
    return (image & 1u) != 0u ? walls.a.collider : other;
}

// Moves a particle by the pressure of a wall. A dynamic collider gets the same momentum, and the work of one that moves
// by its poses is known.
FUNCTION vec3 push_off_wall(VIEW_COMMA uint i, uint s, vec3 p, vec3 correction, float inverse_mass)
{
    const bool dynamic = HAS_FEATURE(DYNAMICS) && PARAMETER(dynamic_count) != 0u;
    const uint row = dynamic ? LOAD(dynamic_rows, s) : NONE;
    vec3 end = v3_add(p, correction);
    if (row != NONE) {
        end = share_impulse(VIEW_HERE_COMMA i, row, LOAD(colliders, s), p, end, inverse_mass);
    } else if (PARAMETER(colliders_move) != 0u) {
        const vec3 momentum = v3_scale(v3_sub(end, p), 1.0f / inverse_mass);
        add_collider_work(VIEW_HERE_COMMA i, LOAD(colliders, s), momentum, end, v3_from_v4(LOAD(positions, i)));
    }
    if (PARAMETER(recording) != 0u) {
        move_force(VIEW_HERE_COMMA i, FORCE_DENSITY, FORCE_COLLIDERS, v3_sub(end, p), inverse_mass);
    }
    return end;
}

// After density_delta, from the same positions and lambdas: the corrections by images.
KERNEL(add_boundary_pressure)
{
    const vec4 particle = LOAD(predicted, i);
    const vec3 at = v3_from_v4(LOAD(position_estimates, i));
    if (HAS_FEATURE(DYNAMICS) && PARAMETER(dynamic_count) != 0u) {
        assign_impulse_slots(VIEW_HERE_COMMA i, v3_from_v4(LOAD(positions, i)), v3_from_v4(particle),
                             PARAMETER(margin));
    }
    if (!has_density(LOAD(phases, i)) || particle.w <= 0.0f || is_without_pressure(VIEW_HERE_COMMA i)) {
        return;
    }
    const Walls walls = walls_around(VIEW_HERE_COMMA at);
    if (!is_wall(walls.a)) {
        return;
    }
    vec3 p = v3_from_v4(particle);
    for (uint image = 1u; image < IMAGES; image++) {
        if (has_image(walls, image)) {
            const vec3 correction = image_corrections(VIEW_HERE_COMMA i, walls, image, particle.w);
            p = push_off_wall(VIEW_HERE_COMMA i, image_collider(walls, image), p, correction, particle.w);
        }
    }
    STORE(predicted, i, v4_from_v3(p, particle.w));
}

#endif
