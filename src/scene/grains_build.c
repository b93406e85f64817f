// SPDX-License-Identifier: MIT
// grains_build.c - volumes filled with grains: lattices of spheres that touch, cut out by the volume.
#include "base/error.h"
#include "base/stop.h"
#include "geometry/triangle_tree.h"
#include "scene/build.h"
#include "scene/meshes.h"
#include "scene/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is filled, in its own frame.
typedef struct Volume {
    const SceneGrains *grains;
    double bounds_min[3], bounds_max[3]; // m
    Mesh mesh;                           // closed and oriented, where the volume is a mesh's
    TriangleTree *tree;
    bool flat; // 2D
} Volume;

// Rows along x, layers of rows; in 3D layers along y, in 2D there is one, and rows go along y.
typedef struct Packing {
    double step[3];   // m, between points of a row, layers, rows of a layer
    double row_shift; // m along x, of every second row
    double layer_x;   // m along x, of every second layer,
    double layer_z;   // and along z
    uint64_t counts[3];
    double first[3]; // m
} Packing;

static void volume_free(Volume *volume)
{
    triangle_tree_destroy(volume->tree);
    mesh_free(&volume->mesh);
}

static MoteResult mesh_volume(const MoteScene *scene, const char *what, Volume *volume)
{
    const SceneGrains *grains = volume->grains;
    const MeshPlace place = {
        .reference = grains->mesh, .scale = grains->scale, .fit_height = grains->fit_height, .anchor = grains->anchor};
    Mesh placed;
    MoteResult result = scene_mesh_place(scene, &place, what, &placed);
    if (result != MOTE_OK) {
        return result;
    }
    result = mesh_solid(&placed, grains->mesh, &volume->mesh);
    mesh_free(&placed);
    MeshReport report = {0};
    result = result == MOTE_OK ? mesh_report(&volume->mesh, &report) : result;
    result = result == MOTE_OK ? triangle_tree_create(&volume->mesh, &volume->tree) : result;
    const double low[3] = {report.bounds_min.x, report.bounds_min.y, report.bounds_min.z};
    const double high[3] = {report.bounds_max.x, report.bounds_max.y, report.bounds_max.z};
    memcpy(volume->bounds_min, low, sizeof low);
    memcpy(volume->bounds_max, high, sizeof high);
    if (volume->flat) { // the mesh's section at its z = 0
        volume->bounds_min[2] = volume->bounds_max[2] = 0.0;
    }
    return result == MOTE_OK ? MOTE_OK
                             : mote_fail(result, "%s.mesh: \"%s\" cannot be filled with grains: %s", what, grains->mesh,
                                         mote_error_message());
}

static MoteResult volume_make(const MoteScene *scene, uint32_t index, const char *what, Volume *volume)
{
    const SceneGrains *grains = SCENE_AT(&scene->values, grain, index);
    *volume = (Volume){.grains = grains, .flat = SCENE_AT(&scene->values, solver, 0)->dimensions == 2};
    if (grains->shape == SCENE_GRAINS_MESH) {
        return mesh_volume(scene, what, volume);
    }
    const bool block = grains->shape == SCENE_GRAINS_BLOCK, sphere = grains->shape == SCENE_GRAINS_SPHERE;
    const double half[3] = {
        block ? 0.5 * grains->size.x : grains->radius,
        block    ? 0.5 * grains->size.y
        : sphere ? grains->radius
                 : 0.5 * grains->height,
        block ? 0.5 * grains->size.z : grains->radius,
    };
    for (uint32_t axis = 0; axis < (volume->flat ? 2u : 3u); axis++) {
        volume->bounds_min[axis] = -half[axis];
        volume->bounds_max[axis] = half[axis];
    }
    return MOTE_OK;
}

// Whether a grain of this radius at p is in the volume: all of it, of a mesh its centre.
static bool is_inside(const Volume *volume, const double p[3], double radius)
{
    const SceneGrains *grains = volume->grains;
    const double reach = grains->radius - radius * (1.0 - 1e-4);
    switch (grains->shape) {
    case SCENE_GRAINS_SPHERE:
        return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] <= reach * reach && reach >= 0.0;
    case SCENE_GRAINS_CYLINDER:
        return volume->flat || (p[0] * p[0] + p[2] * p[2] <= reach * reach && reach >= 0.0);
    case SCENE_GRAINS_MESH:
        return triangle_tree_winding(volume->tree, dvec3(p[0], p[1], p[2])) > 0.5;
    default:
        return true;
    }
}

// As many points along each axis as spheres of diameter d fit, at least one; centred, but standing on the bottom.
static Packing packing_make(const Volume *volume, double d)
{
    const bool dense = volume->grains->packing == SCENE_PACKING_DENSE;
    Packing packing = {.step = {d, d, d}};
    if (dense && volume->flat) {
        packing.step[1] = d * sqrt(0.75);
        packing.layer_x = 0.5 * d;
    } else if (dense) { // hexagonal layers, each in the hollows of the one below
        packing.step[1] = d * sqrt(2.0 / 3.0);
        packing.step[2] = d * sqrt(0.75);
        packing.row_shift = packing.layer_x = 0.5 * d;
        packing.layer_z = d * sqrt(1.0 / 12.0);
    }
    const double shift[3] = {dense ? 0.5 * d : 0.0, 0.0, packing.layer_z};
    for (uint32_t axis = 0; axis < 3; axis++) {
        const double room = volume->bounds_max[axis] - volume->bounds_min[axis] - d - shift[axis];
        const double cells = floor(room / packing.step[axis] + 1e-4);
        packing.counts[axis] = 1 + (cells > 0.0 ? (uint64_t)fmin(cells, 1e9) : 0);
        const double used = (double)(packing.counts[axis] - 1) * packing.step[axis] + shift[axis];
        const double spare = axis == 1 ? 0.0 : 0.5 * (room + shift[axis] - used);
        packing.first[axis] = volume->bounds_min[axis] + 0.5 * d + (room >= 0.0 ? spare : 0.0);
        if (room < 0.0) { // narrower than a grain
            packing.first[axis] = 0.5 * (volume->bounds_min[axis] + volume->bounds_max[axis] - shift[axis]);
        }
    }
    return packing;
}

static void lattice_point(const Packing *packing, uint64_t index, double p[3])
{
    const uint64_t i = index % packing->counts[0], row = index / packing->counts[0] % packing->counts[2];
    const uint64_t layer = index / packing->counts[0] / packing->counts[2];
    const bool odd_row = row % 2 == 1, odd_layer = layer % 2 == 1;
    // Rows shift by half a step, and layers by half a step the other way round: x stays within its bounds.
    const bool shifted = odd_row != odd_layer;
    p[0] = packing->first[0] + (double)i * packing->step[0] +
           (packing->row_shift > 0.0 ? (shifted ? packing->row_shift : 0.0) : (odd_layer ? packing->layer_x : 0.0));
    p[1] = packing->first[1] + (double)layer * packing->step[1];
    p[2] = packing->first[2] + (double)row * packing->step[2] + (odd_layer ? packing->layer_z : 0.0);
}

// The lattice's points in the volume, in its frame; free them.
static MoteResult fill(const Volume *volume, double d, const char *what, MoteVec3 **points, uint32_t *count)
{
    const Packing packing = packing_make(volume, d);
    const double cells = (double)packing.counts[0] * (double)packing.counts[1] * (double)packing.counts[2];
    if (cells > 4.0 * SCENE_PARTICLE_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: about %.3g grains, %g m apart, expected at most %u: check the size and solver.spacing",
                         what, cells, d, SCENE_PARTICLE_LIMIT);
    }
    const uint64_t total = (uint64_t)cells;
    uint8_t *inside = malloc(total);
    uint64_t kept = 0;
    if (inside == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %.3g grains", what, cells);
    }
    StopWatch watch = stop_watch();
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : kept)
    for (uint64_t i = 0; i < total; i++) {
        double p[3];
        if (stop_watch_asks(&watch)) {
            continue;
        }
        lattice_point(&packing, i, p);
        inside[i] = is_inside(volume, p, 0.5 * d);
        kept += inside[i];
    }
    MoteResult result = stop_watch_result(&watch);
    if (result != MOTE_OK) {
        free(inside);
        return result;
    }
    *points = kept > 0 && kept <= SCENE_PARTICLE_LIMIT ? malloc((size_t)kept * sizeof **points) : NULL;
    if (kept == 0) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: no grain fits in the volume, expected one larger than %g m", what, d);
    } else if (*points == NULL) {
        result = mote_fail(kept > SCENE_PARTICLE_LIMIT ? MOTE_ERROR_INPUT : MOTE_ERROR_MEMORY,
                           "%s: %llu grains, %g m apart, expected at most %u, and memory for them", what,
                           (unsigned long long)kept, d, SCENE_PARTICLE_LIMIT);
    }
    *count = 0;
    for (uint64_t i = 0; i < total && result == MOTE_OK; i++) {
        double p[3];
        if (inside[i]) {
            lattice_point(&packing, i, p);
            (*points)[(*count)++] = (MoteVec3){(float)p[0], (float)p[1], (float)p[2]};
        }
    }
    free(inside);
    return result;
}

// From the volume's frame to the world, each grain shifted a little.
static void place_grains(const SceneGrains *grains, float contact, bool flat, MoteVec3 *points, MoteVec3 *velocities,
                         uint32_t count)
{
    const MoteQuaternion rotation = scene_rotation(grains->rotation);
    const float jitter = grains->jitter * contact;
    for (uint32_t i = 0; i < count; i++) {
        const MoteVec3 p = scene_rotate(rotation, points[i]);
        points[i].x = p.x + grains->position.x + jitter * random_signed(grains->seed, 3 * (uint64_t)i);
        points[i].y = p.y + grains->position.y + jitter * random_signed(grains->seed, 3 * (uint64_t)i + 1);
        points[i].z = flat ? grains->position.z
                           : p.z + grains->position.z + jitter * random_signed(grains->seed, 3 * (uint64_t)i + 2);
        velocities[i] = grains->velocity;
        if (flat) {
            velocities[i].z = 0.0f;
        }
    }
}

static MoteResult add_grains(SceneStart *start, uint32_t index)
{
    const MoteScene *scene = start->scene;
    const MoteSettings *settings = SCENE_AT(&scene->values, solver, 0);
    const SceneGrains *grains = SCENE_AT(&scene->values, grain, index);
    const SceneMaterial *material = scene_material(&scene->values, grains->material);
    const float contact = scene_contact_distance(settings);
    char what[512];
    snprintf(what, sizeof what, "%s: grains[%u]", scene->path, index);
    Volume volume;
    MoteVec3 *positions = NULL, *velocities = NULL;
    uint32_t count = 0;
    MoteResult result = volume_make(scene, index, what, &volume);
    result = result == MOTE_OK ? fill(&volume, (double)contact * grains->distance, what, &positions, &count) : result;
    volume_free(&volume);
    if (result == MOTE_OK) {
        velocities = malloc((size_t)count * sizeof *velocities);
        result =
            velocities != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u grains", what, count);
    }
    if (result == MOTE_OK) {
        place_grains(grains, contact, volume.flat, positions, velocities, count);
        if (!grains->keep_inside_colliders) { // all have the same velocity: those of the first are as good
            result = scene_start_outside(start, SCENE_SECTION_grain, index, positions, &count);
        }
    }
    if (result == MOTE_OK) {
        uint32_t first_id = 0;
        const MoteParticles particles = {
            .count = count,
            .positions = positions,
            .velocities = velocities,
            .mass = scene_grain_mass(settings, material),
            .phase = scene_grain_phase(&scene->values, material),
        };
        result = mote_world_add_particles(start->world, &particles, &first_id);
        if (result != MOTE_OK) {
            mote_fail(result, "%s: %s", what, mote_error_message());
        } else {
            result = scene_start_source(start, SCENE_SECTION_grain, index, 0, first_id, positions, count);
        }
    }
    free(velocities);
    free(positions);
    return result;
}

MoteResult scene_build_grain(SceneStart *start)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(&start->scene->values, grain) && result == MOTE_OK; i++) {
        result = add_grains(start, i);
    }
    return result;
}
