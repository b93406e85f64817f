// SPDX-License-Identifier: MIT
// build.h - builds colliders, volumes and lattices of particles from a scene's values.
#ifndef MOTE_SCENE_BUILD_H
#define MOTE_SCENE_BUILD_H

#include "scene/scene.h"
#include "scene/start.h"

// More particles than this in one volume or one emission is taken for a mistake in the scene.
#define SCENE_PARTICLE_LIMIT (UINT32_C(1) << 28)

// Degrees about the fixed x, then y, then z axis.
MoteQuaternion scene_rotation(MoteVec3 degrees);
MoteVec3 scene_rotate(MoteQuaternion rotation, MoteVec3 v);

// A collider that moves from its pose in the first element to that in the second. Extents are the second's: the
// solver knows one size a step.
MoteCollider scene_make_collider(const SceneCollider *from, const SceneCollider *to, const SceneMaterial *material);
bool scene_collider_has_mass(const SceneCollider *collider); // and so is the world's to move
MoteCollider scene_make_kill_volume(const SceneKillVolume *from, const SceneKillVolume *to);
MoteForceField scene_force_field(const SceneValues *values, const SceneForce *force); // forces_build.c

// A cubic lattice about the origin: counts[a] points along axis a, without those farther than `radius`.
// Lengths are in spacings.
typedef struct SceneLattice {
    uint64_t counts[3];
    double radius; // INFINITY keeps every point
} SceneLattice;

// round(length / spacing) points, at least 1: each stands for a cell of one spacing.
uint64_t scene_lattice_cells(double length, double spacing);
// The points of a lattice through the origin that are within `radius` of it along one axis.
uint64_t scene_lattice_diameter(double radius, double spacing);
// Tells how many points the lattice has, and allocates them in metres, z slowest and x fastest. `what` names the
// element in messages. Free the points.
MoteResult scene_lattice_points(const SceneLattice *lattice, double spacing, const char *what, MoteVec3 **points,
                                uint32_t *count);

// A material's index in the scene's list is its row in the world, and the group of particles of that material.
// The next of the names in a list with commas, without the spaces around it; false at its end. `list` moves on.
bool scene_next_name(const char **list, char name[SCENE_NAME_SIZE]);
// A bit for each material of such a list; the names were checked with the scene.
uint32_t scene_material_bits(const SceneValues *values, const char *list);
// Whether the particles of two materials take notice of each other.
bool scene_materials_meet(const SceneValues *values, const SceneMaterial *a, const SceneMaterial *b);
uint32_t scene_material_index(const SceneValues *values, const SceneMaterial *material);
uint32_t scene_fluid_phase(const SceneValues *values, const SceneMaterial *material);
uint32_t scene_gas_phase(const SceneValues *values, const SceneMaterial *material);
uint32_t scene_grain_phase(const SceneValues *values, const SceneMaterial *material);
MoteResult scene_set_materials(const MoteScene *scene, const SceneValues *values, MoteWorld *world);
// Converts a material to that of a world, except for the materials that it ignores.
MoteMaterial scene_material_row(const SceneMaterial *material);

// What a cloth's inflation is given: a multiple of its volume, or Pa.
float scene_cloth_pressure(const SceneCloth *cloth);
// Where keyframes have the frame of an attachment.
MoteTransform scene_attachment_pose(const SceneAttachment *attachment);
#define SCENE_SMOKE_CLASS 3.0f // of MoteDiffuse
bool scene_has_gas(const SceneValues *values);
// Passive particles there can be at once: of foam and smoke.
uint32_t scene_diffuse_capacity(const SceneValues *values);
// Adds the smoke of a volume of gas: some around each of these points.
MoteResult scene_add_smoke(SceneStart *start, uint32_t fluid, const MoteVec3 *points, uint32_t count);
float scene_contact_distance(const MoteSettings *settings); // m, between solid particles that touch
// kg: a grain stands for a cube, in 2D a square, as wide as the contact distance.
float scene_grain_mass(const MoteSettings *settings, const SceneMaterial *material);

// scene_build_SECTION adds what a section describes to a new world; each is in its section's file.
#define BUILD(section) MoteResult scene_build_##section(SceneStart *start);
#include "keys.def"

#endif
