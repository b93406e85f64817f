// SPDX-License-Identifier: MIT
#include "viewer/hands.h"

#include "base/error.h"
#include "base/vec.h"
#include "scene/build.h"
#include "scene/simulation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Vectors, in double: sums over a body ----

static DVec3 vector_at(const float *p)
{
    return (DVec3){(double)p[0], (double)p[1], (double)p[2]};
}

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

void hands_let_go(Hands *hands)
{
    hands->held_count = 0;
    hands->holds_shape = false;
}

void hands_destroy(Hands *hands)
{
    free(hands->held);
    *hands = (Hands){0};
}

static uint32_t find_id(const MoteParticleView *view, uint32_t id)
{
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->ids[i] == id) {
            return i;
        }
    }
    return MOTE_NONE;
}

static bool group_is_body(MoteWorld *world, uint32_t group)
{
    const uint32_t count = mote_world_body_count(world);
    MoteBodyState *states = calloc(count + 1u, sizeof *states);
    bool found = false;
    if (states != NULL && mote_world_read_bodies(world, states, count) == MOTE_OK) {
        for (uint32_t i = 0; i < count; i++) {
            found = found || states[i].group == group;
        }
    }
    free(states);
    return found;
}

// Of a body all particles, of a liquid those within a few spacings, of grains the one.
static MoteResult hold_particles(Hands *hands, MoteWorld *world, const MoteParticleView *view, uint32_t id)
{
    const uint32_t picked = find_id(view, id);
    uint32_t *held = realloc(hands->held, (view->count + 1u) * sizeof *held);
    if (held == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to hold %u particles", view->count);
    }
    hands->held = held;
    hands->held_count = 0;
    if (picked == MOTE_NONE) {
        return MOTE_OK; // it is gone
    }
    const uint32_t phase = view->phases[picked];
    const bool liquid = mote_phase_kind(phase) == MOTE_KIND_LIQUID;
    const float spacing = mote_world_settings(world).spacing;
    const float reach = liquid ? 3.0f * spacing : 1e30f;
    const float *centre = view->positions + 4 * (size_t)picked;
    hands->held[hands->held_count++] = id;
    for (uint32_t i = 0; i < view->count; i++) {
        const float *p = view->positions + 4 * (size_t)i;
        const float dx = p[0] - centre[0], dy = p[1] - centre[1], dz = p[2] - centre[2];
        if (i != picked && view->phases[i] == phase && dx * dx + dy * dy + dz * dz < reach * reach) {
            hands->held[hands->held_count++] = view->ids[i];
        }
    }
    hands->is_body = !liquid && group_is_body(world, phase & MOTE_PHASE_GROUP_MASK);
    hands->held_count = liquid || hands->is_body ? hands->held_count : 1;
    return MOTE_OK;
}

static MoteResult take_hold(Hands *hands, Model *model, uint32_t id)
{
    MoteWorld *world = mote_simulation_world(model->simulation);
    MoteParticleView view;
    MoteResult result = particle_copy_read(world, COPY_ALL, &view);
    result = result == MOTE_OK ? hold_particles(hands, world, &view, id) : result;
    particle_copy_free(&view);
    return result;
}

MoteResult hands_grab(Hands *hands, Model *model, uint32_t id, MoteVec3 target)
{
    hands->target = target;
    if (hands->holds_shape || id == MOTE_NONE) {
        return MOTE_OK;
    }
    if (hands->held_count > 0 && hands->held[0] == id) {
        return MOTE_OK;
    }
    return take_hold(hands, model, id);
}

typedef struct Sums {
    double mass;
    DVec3 centre, momentum, angular; // kg m while summed, then m; kg m/s; kg m^2/s about the centre
    Matrix inertia;                  // kg m^2, about the centre
} Sums;

static Sums sum_up(const MoteParticleView *view, const uint32_t *slots, uint32_t count)
{
    Sums s = {0};
    for (uint32_t k = 0; k < count; k++) {
        const float *p = view->positions + 4 * (size_t)slots[k];
        const double mass = p[3] > 0.0f ? 1.0 / (double)p[3] : 0.0;
        s.mass += mass;
        s.centre = dvec3_add_scaled(s.centre, vector_at(p), mass);
        s.momentum = dvec3_add_scaled(s.momentum, vector_at(view->velocities + 4 * (size_t)slots[k]), mass);
    }
    const double inverse = s.mass > 0.0 ? 1.0 / s.mass : 0.0;
    s.centre = dvec3_scale(s.centre, inverse);
    for (uint32_t k = 0; k < count; k++) {
        const float *p = view->positions + 4 * (size_t)slots[k];
        const double mass = p[3] > 0.0f ? 1.0 / (double)p[3] : 0.0;
        const DVec3 r = dvec3_add_scaled(vector_at(p), s.centre, -1.0);
        const double rr = dvec3_dot(r, r);
        s.angular =
            dvec3_add_scaled(s.angular, dvec3_cross(r, vector_at(view->velocities + 4 * (size_t)slots[k])), mass);
        s.inertia.columns[0] =
            dvec3_add_scaled(s.inertia.columns[0], (DVec3){rr - r.x * r.x, -r.x * r.y, -r.x * r.z}, mass);
        s.inertia.columns[1] =
            dvec3_add_scaled(s.inertia.columns[1], (DVec3){-r.y * r.x, rr - r.y * r.y, -r.y * r.z}, mass);
        s.inertia.columns[2] =
            dvec3_add_scaled(s.inertia.columns[2], (DVec3){-r.z * r.x, -r.z * r.y, rr - r.z * r.z}, mass);
    }
    for (int i = 0; i < 3; i++) { // a body of one row of particles cannot be turned about that row
        double *diagonal = i == 0   ? &s.inertia.columns[0].x
                           : i == 1 ? &s.inertia.columns[1].y
                                    : &s.inertia.columns[2].z;
        *diagonal += 1e-9 * s.mass + 1e-12;
    }
    return s;
}

// The impulse at the held point that gives it the velocity `wanted`, and what it does to every particle of the body.
static void pull_body(MoteParticleView *view, const uint32_t *slots, uint32_t count, DVec3 wanted)
{
    const Sums s = sum_up(view, slots, count);
    if (!(s.mass > 0.0)) {
        return;
    }
    const DVec3 r = dvec3_add_scaled(vector_at(view->positions + 4 * (size_t)slots[0]), s.centre, -1.0);
    const DVec3 spin = solve(&s.inertia, s.angular),
                drift = {s.momentum.x / s.mass, s.momentum.y / s.mass, s.momentum.z / s.mass};
    const DVec3 change = dvec3_add_scaled(wanted, dvec3_add_scaled(drift, dvec3_cross(spin, r), 1.0), -1.0);
    Matrix k = {0}; // velocity of the point a unit impulse: 1/m - r x (I^-1 (r x .))
    const DVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++) {
        const DVec3 turn = solve(&s.inertia, dvec3_cross(r, axes[i]));
        k.columns[i] = dvec3_add_scaled(dvec3_cross(turn, r), axes[i], 1.0 / s.mass);
    }
    const DVec3 impulse = solve(&k, change);
    const DVec3 turn =
        dvec3_add_scaled(solve(&s.inertia, dvec3_cross(r, impulse)), spin, -0.1); // and a little friction of the hand
    for (uint32_t i = 0; i < count; i++) {
        const float *p = view->positions + 4 * (size_t)slots[i];
        float *v = view->velocities + 4 * (size_t)slots[i];
        const DVec3 from_centre = dvec3_add_scaled(vector_at(p), s.centre, -1.0);
        const DVec3 d = dvec3_add_scaled(dvec3_cross(turn, from_centre), impulse, 1.0 / s.mass);
        if (p[3] > 0.0f) {
            v[0] += (float)d.x;
            v[1] += (float)d.y;
            v[2] += (float)d.z;
        }
    }
}

// slots of what is held, which forgets what is gone. NULL where there is no memory, or the picked one is gone.
static uint32_t *find_held(Hands *hands, const MoteParticleView *view)
{
    uint32_t largest = 0;
    for (uint32_t k = 0; k < hands->held_count; k++) {
        largest = hands->held[k] > largest ? hands->held[k] : largest;
    }
    uint32_t *slots = malloc((hands->held_count + 1u) * sizeof *slots);
    uint32_t *places = malloc(((size_t)largest + 1) * sizeof *places);
    if (slots == NULL || places == NULL) {
        free(slots);
        free(places);
        return NULL;
    }
    memset(places, 0xff, ((size_t)largest + 1) * sizeof *places);
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->ids[i] <= largest) {
            places[view->ids[i]] = i;
        }
    }
    uint32_t kept = 0;
    const bool picked_is_there = places[hands->held[0]] != MOTE_NONE;
    for (uint32_t k = 0; k < hands->held_count && picked_is_there; k++) {
        if (places[hands->held[k]] != MOTE_NONE) {
            slots[kept] = places[hands->held[k]];
            hands->held[kept++] = hands->held[k];
        }
    }
    hands->held_count = kept;
    free(places);
    return slots;
}

MoteResult hands_pull(Hands *hands, Model *model)
{
    if (hands->holds_shape) {
        return hands_pull_shape(hands, model);
    }
    if (hands->held_count == 0) {
        return MOTE_OK;
    }
    MoteWorld *world = mote_simulation_world(model->simulation);
    MoteParticleView view;
    MoteResult result = particle_copy_read(world, COPY_ALL, &view);
    uint32_t *slots = result == MOTE_OK ? find_held(hands, &view) : NULL;
    if (slots == NULL || hands->held_count == 0) {
        free(slots);
        particle_copy_free(&view);
        return result;
    }
    // A quarter of the way in a frame, and no faster than a few spacings a frame: a spring that never overshoots.
    const MoteSettings settings = mote_world_settings(world);
    const double rate = 0.25 * settings.frame_rate, fastest = 4.0 * settings.spacing * settings.frame_rate;
    const DVec3 target = dvec3_from(hands->target);
    DVec3 wanted = dvec3_add_scaled(target, vector_at(view.positions + 4 * (size_t)slots[0]), -1.0);
    wanted = dvec3_scale(wanted, rate);
    const double speed = dvec3_length(wanted);
    if (speed > fastest) {
        wanted = (DVec3){wanted.x * fastest / speed, wanted.y * fastest / speed, wanted.z * fastest / speed};
    }
    hands->at = (MoteVec3){view.positions[4 * (size_t)slots[0]], view.positions[4 * (size_t)slots[0] + 1],
                           view.positions[4 * (size_t)slots[0] + 2]};
    if (hands->is_body) {
        pull_body(&view, slots, hands->held_count, wanted);
    } else {
        for (uint32_t k = 0; k < hands->held_count; k++) {
            float *v = view.velocities + 4 * (size_t)slots[k];
            if (view.positions[4 * (size_t)slots[k] + 3] > 0.0f) {
                v[0] += 0.8f * ((float)wanted.x - v[0]);
                v[1] += 0.8f * ((float)wanted.y - v[1]);
                v[2] += 0.8f * ((float)wanted.z - v[2]);
            }
        }
    }
    free(slots);
    result = mote_world_write(world, &view);
    particle_copy_free(&view);
    return result;
}

// ---- Throwing, pouring, blowing ----

MoteResult hands_throw(Hands *hands, Model *model, MoteVec3 at, MoteVec3 velocity)
{
    (void)hands;
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

MoteResult hands_pour(Model *model, MoteVec3 at)
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
        liquid = SCENE_AT(values, emitter, 0)->kind == SCENE_EMITS_LIQUID;
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

MoteResult hands_gust(Model *model, MoteVec3 velocity)
{
    MoteWorld *world = mote_simulation_world(model->simulation);
    MoteParticleView view;
    MoteResult result = particle_copy_read(world, COPY_POSITIONS | COPY_VELOCITIES, &view);
    const bool flat = mote_world_settings(world).dimensions == 2;
    for (size_t i = 0; i < view.count && result == MOTE_OK; i++) {
        if (view.positions[4 * i + 3] > 0.0f) {
            view.velocities[4 * i] += velocity.x;
            view.velocities[4 * i + 1] += velocity.y;
            view.velocities[4 * i + 2] += flat ? 0.0f : velocity.z;
        }
    }
    result = result == MOTE_OK
                 ? mote_world_write(world, &(MoteParticleView){.count = view.count, .velocities = view.velocities})
                 : result;
    particle_copy_free(&view);
    return result;
}
