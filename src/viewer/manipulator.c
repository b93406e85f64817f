// SPDX-License-Identifier: MIT
#include "viewer/manipulator.h"

#include "base/vec.h"
#include "scene/build.h"
#include "scene/simulation.h"
#include <math.h>

// ---- Vectors, in double: a body may be far larger than what is done to it ----

typedef struct Matrix {
    DVec3 columns[3]; // symmetric here
} Matrix;

// The solution of m x = b by Cramer's rule; 0 where there is none.
static DVec3 solve(const Matrix *m, DVec3 b)
{
    const DVec3 *c = m->columns;
    const double determinant = dvec3_dot(c[0], dvec3_cross(c[1], c[2]));
    if (!(fabs(determinant) > 1e-30)) {
        return dvec3(0, 0, 0);
    }
    return (DVec3){dvec3_dot(b, dvec3_cross(c[1], c[2])) / determinant,
                   dvec3_dot(c[0], dvec3_cross(b, c[2])) / determinant,
                   dvec3_dot(c[0], dvec3_cross(c[1], b)) / determinant};
}

// ---- Holding ----

// How far around the picked particle liquid and cloth are held, in spacings: one vertex is too light to pull at a
// sheet.
static const float HANDFUL = 3.0f;

static bool is_held_by_the_handful(uint32_t phase)
{
    return mote_phase_kind(phase) == MOTE_KIND_LIQUID || mote_phase_kind(phase) == MOTE_KIND_CLOTH;
}

void manipulator_let_go(Manipulator *manipulator)
{
    manipulator->held_count = 0;
    manipulator->holds_collider = false;
}

// The particle that was picked, as it is now; of none the count is 0.
static MoteResult find_picked(MoteWorld *world, uint32_t id, MoteParticleSums *out)
{
    return mote_world_sum_particles(world, &(MoteParticleFilter){.one_particle = true, .id = id}, out);
}

// The same of everything in its group: its body.
static MoteResult sum_group(MoteWorld *world, uint32_t phase, MoteParticleSums *out)
{
    const MoteParticleFilter group = {.one_group = true, .group = phase & MOTE_PHASE_GROUP_MASK};
    return mote_world_sum_particles(world, &group, out);
}

// Of a body all particles, of a liquid or cloth those within a few spacings, of grains the one.
static MoteResult take_hold(Manipulator *manipulator, Model *model, uint32_t id)
{
    MoteWorld *world = mote_simulation_world(model->simulation);
    MoteParticleSums picked, body = {0};
    MoteResult result = find_picked(world, id, &picked);
    manipulator->held_count = 0;
    if (result != MOTE_OK || picked.count == 0) {
        return result; // it is gone, or pinned
    }
    manipulator->id = id;
    manipulator->phase = picked.phase;
    manipulator->at = picked.centre;
    manipulator->held_count = 1;
    if (mote_phase_kind(picked.phase) == MOTE_KIND_BODY) {
        result = sum_group(world, picked.phase, &body);
        manipulator->held_count = body.count;
    } else if (is_held_by_the_handful(picked.phase)) {
        const MoteCollider handful = {.kind = MOTE_COLLIDER_SPHERE,
                                      .radius = HANDFUL * mote_world_settings(world).spacing,
                                      .from = {picked.centre, {0, 0, 0, 1}},
                                      .to = {picked.centre, {0, 0, 0, 1}}};
        result = mote_world_overlap(world, &handful, 1, &manipulator->held_count, NULL, 0);
    }
    return result;
}

MoteResult manipulator_grab(Manipulator *manipulator, Model *model, uint32_t id, MoteVec3 target)
{
    manipulator->target = target;
    if (manipulator->holds_collider || id == MOTE_NONE) {
        return MOTE_OK;
    }
    if (manipulator->held_count > 0 && manipulator->id == id) {
        return MOTE_OK;
    }
    return take_hold(manipulator, model, id);
}

// The inertia of a body, a little more than it is: one row of particles cannot be turned about that row.
static Matrix inertia_of(const MoteParticleSums *body)
{
    const float *i = body->inertia;
    const double more = 1e-9 * (double)body->mass + 1e-12;
    return (Matrix){{dvec3((double)i[0] + more, (double)i[3], (double)i[4]),
                     dvec3((double)i[3], (double)i[1] + more, (double)i[5]),
                     dvec3((double)i[4], (double)i[5], (double)i[2] + more)}};
}

// The impulse at the held point `at` that gives it the velocity `wanted`, as what it does to every particle of the
// body.
static MoteResult pull_body(MoteWorld *world, uint32_t phase, DVec3 at, DVec3 wanted)
{
    MoteParticleSums body;
    const MoteResult result = sum_group(world, phase, &body);
    if (result != MOTE_OK || !(body.mass > 0.0f)) {
        return result;
    }
    const Matrix inertia = inertia_of(&body);
    const double mass = (double)body.mass;
    const DVec3 r = dvec3_sub(at, dvec3_from(body.centre));
    const DVec3 spin = solve(&inertia, dvec3_from(body.angular_momentum));
    const DVec3 now = dvec3_add(dvec3_from(body.velocity), dvec3_cross(spin, r));
    Matrix k = {0}; // velocity of the point a unit impulse: 1/m - r x (I^-1 (r x .))
    const DVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++) {
        const DVec3 turn = solve(&inertia, dvec3_cross(r, axes[i]));
        k.columns[i] = dvec3_add_scaled(dvec3_cross(turn, r), axes[i], 1.0 / mass);
    }
    const DVec3 impulse = solve(&k, dvec3_sub(wanted, now));
    const DVec3 turn =
        dvec3_add_scaled(solve(&inertia, dvec3_cross(r, impulse)), spin, -0.1); // and a little friction of the hand
    const MoteForceField pull = {.kind = MOTE_FORCE_FIELD_UNIFORM,
                                 .mode = MOTE_FORCE_MODE_VELOCITY_CHANGE,
                                 .pose.position = body.centre,
                                 .strength = 1.0f,
                                 .direction = dvec3_round(dvec3_scale(impulse, 1.0 / mass)),
                                 .angular = dvec3_round(turn),
                                 .filter = {.one_group = true, .group = phase & MOTE_PHASE_GROUP_MASK},
                                 .spares_colliders = true};
    return mote_world_apply_impulse(world, &pull, NULL);
}

// Most of the way to the velocity at once, of the grain or of all liquid or cloth of its kind around it.
static MoteResult pull_handful(MoteWorld *world, const Manipulator *manipulator, DVec3 wanted)
{
    const bool handful = is_held_by_the_handful(manipulator->phase);
    const MoteForceField pull = {
        .kind = MOTE_FORCE_FIELD_POINT,
        .mode = MOTE_FORCE_MODE_VELOCITY_CHANGE,
        .pose.position = manipulator->at,
        .radius = HANDFUL * mote_world_settings(world).spacing,
        .velocity = dvec3_round(wanted),
        .drag = 0.8f,
        .filter = {.kinds = UINT32_C(1) << mote_phase_kind(manipulator->phase),
                   .one_group = true,
                   .group = manipulator->phase & MOTE_PHASE_GROUP_MASK,
                   .one_particle = !handful,
                   .id = manipulator->id},
        .spares_colliders = true,
    };
    return mote_world_apply_impulse(world, &pull, NULL);
}

MoteResult manipulator_pull(Manipulator *manipulator, Model *model)
{
    if (manipulator->holds_collider) {
        return manipulator_pull_collider(manipulator, model);
    }
    if (manipulator->held_count == 0) {
        return MOTE_OK;
    }
    MoteWorld *world = mote_simulation_world(model->simulation);
    MoteParticleSums picked;
    const MoteResult result = find_picked(world, manipulator->id, &picked);
    if (result != MOTE_OK || picked.count == 0) {
        manipulator_let_go(manipulator);
        return result;
    }
    // A quarter of the way in a frame, and no faster than a few spacings a frame: a spring that never overshoots. Of
    // cloth three quarters, because the rest of the sheet hangs from the handful, and takes the most of it.
    const MoteSettings settings = mote_world_settings(world);
    const bool cloth = mote_phase_kind(manipulator->phase) == MOTE_KIND_CLOTH;
    const double rate = (cloth ? 0.75 : 0.25) * settings.frame_rate,
                 fastest = 4.0 * settings.spacing * settings.frame_rate;
    const DVec3 at = dvec3_from(picked.centre);
    DVec3 wanted = dvec3_scale(dvec3_sub(dvec3_from(manipulator->target), at), rate);
    const double speed = dvec3_length(wanted);
    if (speed > fastest) {
        wanted = dvec3_scale(wanted, fastest / speed);
    }
    manipulator->at = picked.centre;
    return mote_phase_kind(manipulator->phase) == MOTE_KIND_BODY ? pull_body(world, manipulator->phase, at, wanted)
                                                                 : pull_handful(world, manipulator, wanted);
}

// ---- Throwing, pouring, blowing ----

MoteResult manipulator_throw(Manipulator *manipulator, Model *model, MoteVec3 at, MoteVec3 velocity)
{
    (void)manipulator;
    MoteWorld *world = mote_simulation_world(model->simulation);
    const MoteSettings settings = mote_world_settings(world);
    const float distance = scene_contact_distance(&settings), radius = 4.0f * distance;
    enum { SIDE = 9, LIMIT = SIDE * SIDE * SIDE };
    MoteVec3 positions[LIMIT], gradients[LIMIT];
    float distances[LIMIT];
    uint32_t count = 0;
    for (int i = 0; i < LIMIT; i++) {
        const MoteVec3 p = {distance * (float)(i % SIDE - SIDE / 2), distance * (float)(i / SIDE % SIDE - SIDE / 2),
                            settings.dimensions == 2 ? 0.0f : distance * (float)(i / (SIDE * SIDE) - SIDE / 2)};
        const float length = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
        const bool second = settings.dimensions == 2 && i / (SIDE * SIDE) != SIDE / 2;
        if (length < radius && !second) {
            const float scale = length > 1e-6f * radius ? 1.0f / length : 0.0f;
            gradients[count] = scale > 0.0f ? (MoteVec3){p.x * scale, p.y * scale, p.z * scale} : (MoteVec3){0, 1, 0};
            distances[count] = length - radius;
            positions[count++] = (MoteVec3){p.x + at.x, p.y + at.y, settings.dimensions == 2 ? 0.0f : p.z + at.z};
        }
    }
    const float volume = settings.dimensions == 2 ? distance * distance : distance * distance * distance;
    MoteBody ball = mote_default_body();
    ball.count = count;
    ball.positions = positions;
    ball.gradients = gradients;
    ball.distances = distances;
    ball.mass = 2000.0f * volume; // stone
    ball.velocity = velocity;
    return mote_world_add_body(world, &ball, NULL, NULL);
}

MoteResult manipulator_pour(Model *model, MoteVec3 at)
{
    MoteWorld *world = mote_simulation_world(model->simulation);
    const SceneValues *values = &model->scene->values;
    const MoteSettings settings = mote_world_settings(world);
    const bool flat = settings.dimensions == 2;
    const char *name = "water";
    bool liquid = true;
    if (SCENE_COUNT(values, fluid) > 0) {
        name = SCENE_AT(values, fluid, 0)->material;
    } else if (SCENE_COUNT(values, emitter) > 0) {
        name = SCENE_AT(values, emitter, 0)->material;
        liquid = SCENE_AT(values, emitter, 0)->kind != SCENE_EMITS_GRAINS;
    } else if (SCENE_COUNT(values, grain) > 0) {
        name = SCENE_AT(values, grain, 0)->material;
        liquid = false;
    }
    const SceneMaterial *material = scene_material(values, name);
    const float spacing = liquid ? settings.spacing : scene_contact_distance(&settings);
    enum { SIDE = 9, LIMIT = SIDE * SIDE * SIDE };
    MoteVec3 positions[LIMIT];
    uint32_t count = 0;
    for (int i = 0; i < LIMIT; i++) {
        const float x = (float)(i % SIDE - SIDE / 2), y = (float)(i / SIDE % SIDE - SIDE / 2);
        const float z = (float)(i / (SIDE * SIDE) - SIDE / 2);
        if (x * x + y * y + z * z < 0.25f * SIDE * SIDE && !(flat && z != 0.0f)) {
            positions[count++] = (MoteVec3){at.x + spacing * x, at.y + spacing * y, flat ? 0.0f : at.z + spacing * z};
        }
    }
    const MoteParticles handful = {
        .count = count,
        .positions = positions,
        .mass = liquid ? mote_world_particle_mass(world, material->density) : scene_grain_mass(&settings, material),
        .phase = liquid ? scene_fluid_phase(values, material) : scene_grain_phase(values, material)};
    return mote_world_add_particles(world, &handful, NULL);
}

MoteResult manipulator_gust(Model *model, MoteVec3 velocity)
{
    const MoteForceField gust = {.kind = MOTE_FORCE_FIELD_UNIFORM,
                                 .mode = MOTE_FORCE_MODE_VELOCITY_CHANGE,
                                 .strength = 1.0f,
                                 .direction = velocity};
    return mote_world_apply_impulse(mote_simulation_world(model->simulation), &gust, NULL);
}
