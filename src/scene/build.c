// SPDX-License-Identifier: MIT
#include "scene/build.h"

#include "base/error.h"
#include "base/vec.h"
#include "scene/keys.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Rotations ----

// Sine and cosine of half an angle. A wheel that has turned for an hour is brought back to two turns first (a
// quaternion's period), where radians are still exact to the last digits of a float.
static void half_angle(float degrees, float *sine, float *cosine)
{
    const double pi = 3.14159265358979323846;
    const double half = fmod((double)degrees, 720.0) * (pi / 360.0);
    *sine = (float)sin(half);
    *cosine = (float)cos(half);
}

MoteQuaternion scene_rotation(MoteVec3 degrees)
{
    MoteQuaternion x = {0}, y = {0}, z = {0};
    half_angle(degrees.x, &x.x, &x.w);
    half_angle(degrees.y, &y.y, &y.w);
    half_angle(degrees.z, &z.z, &z.w);
    return quat_normalize(quat_product(z, quat_product(y, x)));
}

MoteVec3 scene_rotate(MoteQuaternion q, MoteVec3 v)
{
    // v + 2 w (u x v) + 2 u x (u x v), with u the quaternion's vector part.
    const MoteVec3 t = {
        2.0f * (q.y * v.z - q.z * v.y),
        2.0f * (q.z * v.x - q.x * v.z),
        2.0f * (q.x * v.y - q.y * v.x),
    };
    return (MoteVec3){
        v.x + q.w * t.x + (q.y * t.z - q.z * t.y),
        v.y + q.w * t.y + (q.z * t.x - q.x * t.z),
        v.z + q.w * t.z + (q.x * t.y - q.y * t.x),
    };
}

// ---- Colliders ----

static MoteCollider moving_collider(uint32_t kind, bool inside_out, MoteVec3 size, float radius, float height)
{
    MoteCollider collider = {.kind = kind, .inside_out = inside_out};
    if (kind == MOTE_COLLIDER_BOX) {
        collider.half_size = (MoteVec3){0.5f * size.x, 0.5f * size.y, 0.5f * size.z};
    } else if (kind == MOTE_COLLIDER_SPHERE) {
        collider.radius = radius;
    } else if (kind == MOTE_COLLIDER_CAPSULE) {
        collider.half_size.y = 0.5f * height;
        collider.radius = radius;
    }
    return collider;
}

static void set_poses(MoteCollider *collider, MoteVec3 from_position, MoteVec3 from_degrees, MoteVec3 to_position,
                      MoteVec3 to_degrees)
{
    const MoteQuaternion from = scene_rotation(from_degrees);
    MoteQuaternion to = scene_rotation(to_degrees);
    if (from.x * to.x + from.y * to.y + from.z * to.z + from.w * to.w < 0.0f) {
        to = (MoteQuaternion){-to.x, -to.y, -to.z, -to.w}; // the same rotation, reached the short way round
    }
    collider->from = (MoteTransform){from_position, from};
    collider->to = (MoteTransform){to_position, to};
}

MoteCollider scene_make_collider(const SceneCollider *from, const SceneCollider *to, const SceneMaterial *material)
{
    MoteCollider collider = moving_collider(to->shape, to->inside_out, to->size, to->radius, to->height);
    set_poses(&collider, from->position, from->rotation, to->position, to->rotation);
    collider.static_friction = material->static_friction;
    collider.kinetic_friction = material->kinetic_friction;
    collider.restitution = material->restitution;
    collider.adhesion = material->adhesion;
    collider.combine = material->combine;
    collider.mass = to->mass;
    collider.density = to->density;
    return collider;
}

bool scene_collider_has_mass(const SceneCollider *collider)
{
    return collider->mass > 0.0f || collider->density > 0.0f;
}

MoteCollider scene_make_kill_volume(const SceneKillVolume *from, const SceneKillVolume *to)
{
    MoteCollider collider = moving_collider(to->shape, to->inside_out, to->size, to->radius, to->height);
    set_poses(&collider, from->position, from->rotation, to->position, to->rotation);
    return collider;
}

// ---- Lattices ----

uint64_t scene_lattice_cells(double length, double spacing)
{
    const double cells = round(length / spacing);
    return cells < 1.0 ? 1 : (uint64_t)cells;
}

// A radius written as a whole number of spacings counts as one, whatever the two numbers' rounding as floats.
static double forgiving(double radius, double spacing)
{
    return radius / spacing * (1.0 + 1e-5);
}

uint64_t scene_lattice_diameter(double radius, double spacing)
{
    return 2 * (uint64_t)floor(forgiving(radius, spacing)) + 1;
}

// Writes the points where `points` is not NULL, and returns how many there are.
static uint64_t place_points(const SceneLattice *lattice, double spacing, MoteVec3 *points)
{
    const double middle[3] = {0.5 * (double)(lattice->counts[0] - 1), 0.5 * (double)(lattice->counts[1] - 1),
                              0.5 * (double)(lattice->counts[2] - 1)};
    const double reach = forgiving(lattice->radius, 1.0);
    uint64_t count = 0;
    for (uint64_t k = 0; k < lattice->counts[2]; k++) {
        const double z = (double)k - middle[2];
        for (uint64_t j = 0; j < lattice->counts[1]; j++) {
            const double y = (double)j - middle[1];
            for (uint64_t i = 0; i < lattice->counts[0]; i++) {
                const double x = (double)i - middle[0];
                if (x * x + y * y + z * z > reach * reach) {
                    continue;
                }
                if (points != NULL) {
                    points[count] = (MoteVec3){(float)(x * spacing), (float)(y * spacing), (float)(z * spacing)};
                }
                count++;
            }
        }
    }
    return count;
}

MoteResult scene_lattice_points(const SceneLattice *lattice, double spacing, const char *what, MoteVec3 **points,
                                uint32_t *count)
{
    *points = NULL;
    *count = 0;
    const double cells = (double)lattice->counts[0] * (double)lattice->counts[1] * (double)lattice->counts[2];
    if (cells > 2.0 * SCENE_PARTICLE_LIMIT) { // a ball holds about half of its box
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: about %.3g particles at a spacing of %g m, expected at most %u: check the size and "
                         "solver.spacing",
                         what, cells, spacing, SCENE_PARTICLE_LIMIT);
    }
    const bool whole = isinf(lattice->radius);
    const uint64_t needed = whole ? (uint64_t)cells : place_points(lattice, spacing, NULL);
    if (needed > SCENE_PARTICLE_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: %llu particles at a spacing of %g m, expected at most %u: check the size and "
                         "solver.spacing",
                         what, (unsigned long long)needed, spacing, SCENE_PARTICLE_LIMIT);
    }
    *points = malloc((size_t)needed * sizeof **points);
    if (*points == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %llu particles", what, (unsigned long long)needed);
    }
    *count = (uint32_t)place_points(lattice, spacing, *points);
    return MOTE_OK;
}

// ---- Materials ----

uint32_t scene_material_index(const SceneValues *values, const SceneMaterial *material)
{
    return (uint32_t)(material - SCENE_AT(values, material, 0));
}

uint32_t scene_fluid_phase(const SceneValues *values, const SceneMaterial *material)
{
    return MOTE_PHASE(MOTE_KIND_LIQUID, scene_material_index(values, material) & MOTE_PHASE_GROUP_MASK);
}

uint32_t scene_gas_phase(const SceneValues *values, const SceneMaterial *material)
{
    return MOTE_PHASE(MOTE_KIND_GAS, scene_material_index(values, material) & MOTE_PHASE_GROUP_MASK);
}

uint32_t scene_grain_phase(const SceneValues *values, const SceneMaterial *material)
{
    return MOTE_PHASE(MOTE_KIND_GRAIN, scene_material_index(values, material) & MOTE_PHASE_GROUP_MASK);
}

float scene_contact_distance(const MoteSettings *settings)
{
    return settings->spacing * settings->solid_distance;
}

float scene_grain_mass(const MoteSettings *settings, const SceneMaterial *material)
{
    const double d = scene_contact_distance(settings);
    return (float)((double)material->density * (settings->dimensions == 2 ? d * d : d * d * d));
}

bool scene_next_name(const char **list, char name[SCENE_NAME_SIZE])
{
    const char *from = *list + strspn(*list, ", ");
    size_t length = strcspn(from, ",");
    *list = from + length;
    while (length > 0 && from[length - 1] == ' ') {
        length--;
    }
    MOTE_ASSERT(length < SCENE_NAME_SIZE);
    memcpy(name, from, length);
    name[length] = '\0';
    return length > 0;
}

uint32_t scene_material_bits(const SceneValues *values, const char *list)
{
    uint32_t bits = 0;
    char name[SCENE_NAME_SIZE];
    while (scene_next_name(&list, name)) {
        bits |= UINT32_C(1) << scene_material_index(values, scene_material(values, name));
    }
    return bits;
}

bool scene_materials_meet(const SceneValues *values, const SceneMaterial *a, const SceneMaterial *b)
{
    const uint32_t bit_a = scene_material_index(values, a), bit_b = scene_material_index(values, b);
    return (bit_b >= 32 || (scene_material_bits(values, a->ignores) >> bit_b & 1) == 0) &&
           (bit_a >= 32 || (scene_material_bits(values, b->ignores) >> bit_a & 1) == 0);
}

MoteMaterial scene_material_row(const SceneMaterial *material)
{
    return (MoteMaterial){
        .static_friction = material->static_friction,
        .kinetic_friction = material->kinetic_friction,
        .restitution = material->restitution,
        .adhesion = material->adhesion,
        .rolling_friction = material->rolling_friction,
        .combine = material->combine,
        .viscosity = material->viscosity,
        .vorticity = material->vorticity,
        .max_tension = material->max_tension,
        .artificial_pressure = material->artificial_pressure,
    };
}

MoteMaterial mote_default_material(void)
{
    SceneMaterial material;
    scene_defaults(SCENE_SECTION_material, &material);
    return scene_material_row(&material);
}

MoteResult scene_set_materials(const MoteScene *scene, const SceneValues *values, MoteWorld *world)
{
    const uint32_t count = SCENE_COUNT(values, material);
    MoteMaterial *rows = calloc(count, sizeof *rows);
    if (rows == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its materials", scene->path);
    }
    for (uint32_t i = 0; i < count; i++) {
        const SceneMaterial *material = SCENE_AT(values, material, i);
        rows[i] = scene_material_row(material);
        rows[i].ignored_materials = scene_material_bits(values, material->ignores);
    }
    const MoteResult result = mote_world_set_materials(world, rows, count);
    free(rows);
    return result;
}

// ---- Fluids ----

static SceneLattice fluid_lattice(const SceneFluid *fluid, const MoteSettings *settings)
{
    const double spacing = settings->spacing;
    SceneLattice lattice = {.counts = {1, 1, 1}, .radius = INFINITY};
    const double size[3] = {fluid->size.x, fluid->size.y, fluid->size.z};
    for (uint32_t axis = 0; axis < settings->dimensions; axis++) {
        lattice.counts[axis] = fluid->shape == SCENE_FLUID_SPHERE ? scene_lattice_diameter(fluid->radius, spacing)
                                                                  : scene_lattice_cells(size[axis], spacing);
    }
    if (fluid->shape == SCENE_FLUID_SPHERE) {
        lattice.radius = fluid->radius / spacing;
    }
    return lattice;
}

static MoteResult add_fluid(SceneStart *start, uint32_t index)
{
    const MoteScene *scene = start->scene;
    const MoteSettings *settings = SCENE_AT(&scene->values, solver, 0);
    const SceneFluid *fluid = SCENE_AT(&scene->values, fluid, index);
    const SceneMaterial *material = scene_material(&scene->values, fluid->material);
    char what[512];
    snprintf(what, sizeof what, "%s: fluids[%u]", scene->path, index);

    const SceneLattice lattice = fluid_lattice(fluid, settings);
    MoteVec3 *positions;
    uint32_t count;
    MoteResult result = scene_lattice_points(&lattice, settings->spacing, what, &positions, &count);
    if (result != MOTE_OK) {
        return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        positions[i].x += fluid->position.x;
        positions[i].y += fluid->position.y;
        positions[i].z += fluid->position.z;
    }
    result = fluid->keep_inside_colliders ? MOTE_OK
                                          : scene_start_outside(start, SCENE_SECTION_fluid, index, positions, &count);
    if (result != MOTE_OK) {
        free(positions);
        return result;
    }
    MoteVec3 *velocities = malloc((size_t)count * sizeof *velocities);
    if (velocities == NULL) {
        free(positions);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u particles", what, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        velocities[i] = fluid->velocity;
        if (settings->dimensions == 2) {
            velocities[i].z = 0.0f;
        }
    }
    const SceneGas *scene_gas = SCENE_AT(&scene->values, gas, 0);
    const bool gas = fluid->kind == SCENE_FLUID_GAS;
    const MoteParticles particles = {
        .count = count,
        .positions = positions,
        .velocities = velocities,
        .mass = mote_world_particle_mass(start->world, gas ? scene_gas->density : material->density),
        .phase = gas ? scene_gas_phase(&scene->values, material) : scene_fluid_phase(&scene->values, material),
        .temperature = fluid->temperature,
        .lasts = true,
    };
    uint32_t first_id = 0;
    result = mote_world_add_particles(start->world, &particles, &first_id);
    if (result != MOTE_OK) {
        mote_fail(result, "%s: %s", what, mote_error_message());
    } else {
        result = gas ? scene_add_smoke(start, index, positions, count) : MOTE_OK;
        result = result == MOTE_OK
                     ? scene_start_source(start, SCENE_SECTION_fluid, index, 0, first_id, positions, count)
                     : result;
    }
    free(velocities);
    free(positions);
    return result;
}

// Fills fluids with particles at rest spacing.
MoteResult scene_build_fluid(SceneStart *start)
{
    for (uint32_t i = 0; i < SCENE_COUNT(&start->scene->values, fluid); i++) {
        const MoteResult result = add_fluid(start, i);
        if (result != MOTE_OK) {
            return result;
        }
    }
    return MOTE_OK;
}
