// SPDX-License-Identifier: MIT
// rods.c - elastic rods: converts them to the tables that kernels read (kernels/cloth/rods.h), and solves them.
//
// Rows of all rods' nodes stand one behind the other. A row is also that of the segment from this node to the next one
// and of the joint between that segment and the one behind it; the last row of a rod has neither, the one before no
// joint.
#include "solver/world.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>
#include <stdlib.h>

MoteRod mote_default_rod(void)
{
    return (MoteRod){.radius = 0.01f,
                     .linear_density = 0.3f,
                     .stretch_stiffness = 3000.0f,
                     .bend_stiffness = 0.08f,
                     .twist_stiffness = 0.06f};
}

uint32_t mote_world_rod_count(const MoteWorld *world)
{
    return world->view.rod_count;
}

// ---- Rows --------------------------------------------------------------------------------------------------

// Of one new rod, a row a node.
typedef struct RodRows {
    uint32_t count;
    MoteParticleState *nodes;
    uint *handles;
    uvec2 *spans;
    vec4 *laws, *rests, *joints, *rotations, *zeros; // of zeros twice as many
    float *energies;
} RodRows;

static void rows_free(RodRows *rows)
{
    free(rows->nodes);
    free(rows->handles);
    free(rows->spans);
    free(rows->laws);
    free(rows->rests);
    free(rows->joints);
    free(rows->rotations);
    free(rows->zeros);
    free(rows->energies);
}

static MoteResult rows_allocate(RodRows *rows, uint32_t count)
{
    *rows = (RodRows){.count = count};
    rows->nodes = malloc(count * sizeof *rows->nodes);
    rows->handles = malloc(count * sizeof *rows->handles);
    rows->spans = malloc(count * sizeof *rows->spans);
    rows->laws = calloc(count, sizeof *rows->laws);
    rows->rests = calloc(count, sizeof *rows->rests);
    rows->joints = calloc(count, sizeof *rows->joints);
    rows->rotations = calloc(count, sizeof *rows->rotations);
    rows->zeros = calloc(2 * (size_t)count, sizeof *rows->zeros);
    rows->energies = calloc(count, sizeof *rows->energies);
    const bool complete = rows->nodes && rows->handles && rows->spans && rows->laws && rows->rests && rows->joints &&
                          rows->rotations && rows->zeros && rows->energies;
    return complete ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for a rod of %u nodes", count);
}

static vec4 to_kernel(MoteQuaternion q)
{
    return v4(q.x, q.y, q.z, q.w);
}

// The rotation by `angle` (rad) about the z axis.
static MoteQuaternion turn_about_z(double angle)
{
    return (MoteQuaternion){0, 0, (float)sin(0.5 * angle), (float)cos(0.5 * angle)};
}

// The frame of each segment: carried along the rod without turning about it, then twisted about it. The rest of a joint
// is the rotation that it has without twist, or none.
static void set_frames(const MoteRod *rod, RodRows *rows)
{
    const uint32_t segments = rows->count - 1;
    MoteVec3 direction = {0, 0, 1};
    MoteQuaternion frame = {0, 0, 0, 1};
    for (uint32_t k = 0; k < segments; k++) {
        const MoteVec3 before = direction;
        direction = vec3_normalize(vec3_sub(rows->nodes[k + 1].position, rows->nodes[k].position), 0.0f, direction);
        const MoteQuaternion last = frame;
        frame = quat_normalize(quat_product(quat_between(before, direction), last));
        if (k > 0) {
            const MoteQuaternion bent = quat_product(quat_conjugate(last), frame);
            rows->rests[k - 1] = rod->straight ? v4(0, 0, 0, 1) : to_kernel(bent);
        }
        const double twist = segments > 1 ? (double)rod->twist * k / (segments - 1) : 0.0;
        rows->rotations[k] = to_kernel(quat_normalize(quat_product(frame, turn_about_z(twist))));
    }
    rows->rests[segments] = rows->rotations[segments] = v4(0, 0, 0, 1); // of none
    rows->rests[segments - 1] = v4(0, 0, 0, 1);
}

// A joint bends for the halves of the two segments at it, and for the half of a clamped one that is between the clamp
// and its middle, too: else a cantilever of n segments sags by the fraction 2 / n too little.
static float joint_length(const MoteRod *rod, const RodRows *rows, uint32_t k)
{
    const uint32_t segments = rows->count - 1;
    const float before = rows->laws[k].x, behind = rows->laws[k + 1].x;
    const bool at_start = k == 0 && rod->clamped[0], at_end = k + 2 == segments && rod->clamped[1];
    return 0.5f * (before + behind) + (at_start ? 0.5f * before : 0.0f) + (at_end ? 0.5f * behind : 0.0f);
}

static void set_laws(const MoteRod *rod, RodRows *rows)
{
    const uint32_t segments = rows->count - 1;
    for (uint32_t k = 0; k < segments; k++) {
        const float length = vec3_length(vec3_sub(rows->nodes[k + 1].position, rows->nodes[k].position));
        const float inertia = 0.5f * rod->linear_density * length * rod->radius * rod->radius;
        const bool clamped = (k == 0 && rod->clamped[0]) || (k + 1 == segments && rod->clamped[1]);
        rows->laws[k] = v4(length, length / rod->stretch_stiffness, clamped ? 0.0f : 1.0f / inertia, rod->damping);
    }
    for (uint32_t k = 0; k + 1 < segments; k++) {
        const float length = joint_length(rod, rows, k);
        rows->joints[k] = v4(length / rod->bend_stiffness, length / rod->twist_stiffness, 0, 0);
    }
}

static MoteQuaternion from_kernel(vec4 q)
{
    return (MoteQuaternion){q.x, q.y, q.z, q.w};
}

// What its joints hold as it is added, bent or twisted: B as in the kernels, in the frame of the second segment.
static void set_energies(RodRows *rows)
{
    for (uint32_t k = 0; k + 2 < rows->count; k++) {
        const MoteQuaternion rest = quat_product(from_kernel(rows->rotations[k]), from_kernel(rows->rests[k]));
        const MoteQuaternion way = quat_product(quat_conjugate(rest), from_kernel(rows->rotations[k + 1]));
        const float across = 4.0f * (way.x * way.x + way.y * way.y), along = 4.0f * way.z * way.z;
        rows->energies[k] = 0.5f * (across / rows->joints[k].x + along / rows->joints[k].y);
    }
}

// ---- Adding ------------------------------------------------------------------------------------------------

static bool is_stiffness(float value)
{
    return value >= 0.0f && isfinite(value);
}

static MoteResult check_rod(const MoteRod *rod)
{
    if (rod->node_count < 2) {
        return mote_fail(MOTE_ERROR_INPUT, "a rod of %u nodes, expected at least 2", rod->node_count);
    }
    if (!(rod->radius > 0.0f) || !isfinite(rod->radius) || !(rod->linear_density > 0.0f) ||
        !isfinite(rod->linear_density)) {
        return mote_fail(MOTE_ERROR_INPUT, "a rod of radius %g m and %g kg/m, expected positive numbers",
                         (double)rod->radius, (double)rod->linear_density);
    }
    if (!is_stiffness(rod->stretch_stiffness) || !(rod->stretch_stiffness > 0.0f) ||
        !is_stiffness(rod->bend_stiffness) || !is_stiffness(rod->twist_stiffness)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "a rod with stiffness %g N of stretching, %g N m^2 of bending and %g N m^2 of twisting, "
                         "expected finite numbers not below 0, the first above it",
                         (double)rod->stretch_stiffness, (double)rod->bend_stiffness, (double)rod->twist_stiffness);
    }
    if (!is_stiffness(rod->damping) || !isfinite(rod->twist)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "a rod with damping %g s and twist %g rad, expected finite numbers, damping "
                         "not below 0",
                         (double)rod->damping, (double)rod->twist);
    }
    return MOTE_OK;
}

static int compare_handles(const void *a, const void *b)
{
    const uint x = *(const uint *)a, y = *(const uint *)b;
    return x < y ? -1 : x > y;
}

// Each particle is a node of one rod, once: apply_rods moves it in one invocation.
static MoteResult check_nodes_are_free(MoteWorld *world, const uint *handles, uint32_t count)
{
    const uint32_t before = world->view.rod_node_count;
    uint *all = malloc((before + (size_t)count) * sizeof *all);
    if (all == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a rod of %u nodes", count);
    }
    if (before > 0) {
        world->backend->functions->download(world->backend, all, world->view.rod_nodes, before * sizeof *all);
    }
    for (uint32_t i = 0; i < count; i++) {
        all[before + i] = handles[i];
    }
    qsort(all, before + (size_t)count, sizeof *all, compare_handles);
    MoteResult result = MOTE_OK;
    for (uint32_t i = 1; i < before + count && result == MOTE_OK; i++) {
        if (all[i] == all[i - 1]) {
            result = mote_fail(MOTE_ERROR_INPUT, "handle 0x%x is a node of a rod twice, expected once", all[i] + 1);
        }
    }
    free(all);
    return result;
}

// Finds the nodes, which must be apart and belong to no body: a body's particles follow the body.
static MoteResult read_nodes(MoteWorld *world, const MoteRod *rod, RodRows *rows)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < rows->count && result == MOTE_OK; i++) {
        result = world_check_handle(world, rod->nodes[i], &rows->handles[i]);
        if (result == MOTE_OK && rows->handles[i] < HANDLE_SINGLE) {
            result =
                mote_fail(MOTE_ERROR_INPUT,
                          "node %u of a rod is a body's particle, expected one of its own; a spring joins both", i);
        }
    }
    result = result == MOTE_OK ? check_nodes_are_free(world, rows->handles, rows->count) : result;
    result = result == MOTE_OK ? mote_world_read_handles(world, rod->nodes, rows->count, rows->nodes) : result;
    for (uint32_t i = 0; i < rows->count && result == MOTE_OK; i++) {
        const bool apart = i == 0 || vec3_length(vec3_sub(rows->nodes[i].position, rows->nodes[i - 1].position)) > 0.0f;
        if (!rows->nodes[i].present || !apart) {
            result = mote_fail(MOTE_ERROR_INPUT, "node %u of a rod %s", i,
                               apart ? "was removed" : "is where the one before it is");
        }
    }
    return result;
}

static MoteResult reserve_rows(MoteWorld *world, uint32_t count)
{
    const uint64_t before = world->view.rod_node_count, nodes = before + count, rods = world->view.rod_count;
    MoteResult result = world_reserve(world, CAPACITY_RODS_AND_ONE, rods + 2, rods + 1);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_ROD_NODES, nodes, before) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_ROD_CONSTRAINTS, 2 * nodes, 2 * before) : result;
    return result == MOTE_OK ? world_reserve(world, CAPACITY_ROD_FACTORS, 12 * nodes, 0) : result;
}

static void upload_rows(MoteWorld *world, RodRows *rows)
{
    SolverData *view = &world->view;
    Backend *backend = world->backend;
    void (*const upload)(Backend *, void *, const void *, size_t) = backend->functions->upload;
    const uint32_t first = view->rod_node_count, end = first + rows->count;
    const size_t count = rows->count;
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->spans[i] = uv2(first, end);
    }
    const uint starts[2] = {first, end};
    upload(backend, view->rod_starts + view->rod_count, starts, sizeof starts);
    upload(backend, view->rod_spans + first, rows->spans, count * sizeof *rows->spans);
    upload(backend, view->rod_nodes + first, rows->handles, count * sizeof *rows->handles);
    upload(backend, view->rod_laws + first, rows->laws, count * sizeof *rows->laws);
    upload(backend, view->rod_rests + first, rows->rests, count * sizeof *rows->rests);
    upload(backend, view->rod_joints + first, rows->joints, count * sizeof *rows->joints);
    upload(backend, view->rod_rotations + first, rows->rotations, count * sizeof *rows->rotations);
    upload(backend, view->rod_begun_rotations + first, rows->rotations, count * sizeof *rows->rotations);
    upload(backend, view->rod_lambdas + 2 * (size_t)first, rows->zeros, 2 * count * sizeof *rows->zeros);
    upload(backend, view->rod_energies + first, rows->energies, count * sizeof *rows->energies);
    view->rod_node_count = end;
    view->rod_count++;
}

// Everything that can fail comes before any change of the world.
MoteResult mote_world_add_rod(MoteWorld *world, const MoteRod *rod, uint32_t *number)
{
    RodRows rows = {0};
    MoteResult result = check_rod(rod);
    if (result == MOTE_OK && (uint64_t)world->view.rod_node_count + rod->node_count > UINT32_MAX / 16) {
        result = mote_fail(MOTE_ERROR_INPUT, "rods of %u nodes and %u more, expected at most 2^28",
                           world->view.rod_node_count, rod->node_count);
    }
    result = result == MOTE_OK ? rows_allocate(&rows, rod->node_count) : result;
    result = result == MOTE_OK ? read_nodes(world, rod, &rows) : result;
    if (result == MOTE_OK) {
        set_frames(rod, &rows);
        set_laws(rod, &rows);
        set_energies(&rows);
    }
    result = result == MOTE_OK ? reserve_rows(world, rows.count) : result;
    result = result == MOTE_OK ? world_check_backend(world) : result;
    if (result == MOTE_OK) {
        if (number != NULL) {
            *number = world->view.rod_count;
        }
        upload_rows(world, &rows);
    }
    rows_free(&rows);
    return result;
}

// ---- Reading -----------------------------------------------------------------------------------------------

static MoteVec3 force_of(vec4 lambda, float dt)
{
    const float scale = dt > 0.0f ? -1.0f / (dt * dt) : 0.0f;
    return (MoteVec3){scale * lambda.x, scale * lambda.y, scale * lambda.z};
}

MoteResult mote_world_read_rods(MoteWorld *world, MoteRodNodeState *out, uint32_t capacity)
{
    const SolverData *view = &world->view;
    const uint32_t nodes = view->rod_node_count, count = capacity < nodes ? capacity : nodes;
    const uint32_t parts = world->settings.small_steps > 1 ? world->settings.small_steps : 1;
    const float last_part = world->last_time_step / (float)parts;
    void (*const download)(Backend *, void *, const void *, size_t) = world->backend->functions->download;
    RodRows rows;
    MoteParticleHandle *handles = malloc(count * sizeof *handles + 1);
    MoteResult result = rows_allocate(&rows, count + 1);
    if (result == MOTE_OK && handles == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory to read %u nodes", count);
    }
    if (result == MOTE_OK && count > 0) {
        download(world->backend, rows.handles, view->rod_nodes, count * sizeof *rows.handles);
        download(world->backend, rows.rotations, view->rod_rotations, count * sizeof *rows.rotations);
        download(world->backend, rows.zeros, view->rod_lambdas, 2 * (size_t)count * sizeof *rows.zeros);
        for (uint32_t i = 0; i < count; i++) {
            handles[i] = (MoteParticleHandle){rows.handles[i] + 1};
        }
        result = mote_world_read_handles(world, handles, count, rows.nodes);
    }
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const vec4 q = rows.rotations[i];
        out[i] = (MoteRodNodeState){.node = rows.nodes[i],
                                    .rotation = {q.x, q.y, q.z, q.w},
                                    .force = force_of(rows.zeros[2 * (size_t)i], last_part),
                                    .torque = force_of(rows.zeros[2 * (size_t)i + 1], last_part)};
    }
    rows_free(&rows);
    free(handles);
    return result;
}

uint32_t mote_world_rod_node_count(const MoteWorld *world)
{
    return world->view.rod_node_count;
}

// ---- Solving -----------------------------------------------------------------------------------------------

void world_solve_rods(MoteWorld *world)
{
    if (world->view.iteration == 0) {
        LAUNCH(world, predict_rods);
    }
    LAUNCH(world, solve_rods);
    LAUNCH(world, apply_rods);
}
