// SPDX-License-Identifier: MIT
// test_piles.c - bodies in a heap: that their mass is split as their contacts need it, that they keep out of one
// another, and that they come to rest.
#define VULKAN_VALIDATE false // many steps
#include "solid_fixture.h"

#include "solver/world.h"

// ---- Splitting of mass ----

// Among how many contacts the mass of the first of `count` bodies of one particle is split.
static double split_of_first(void **state, const MoteVec3 *places, uint32_t count)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.stabilization_iterations = 0;
    settings.iterations = 1;
    MoteWorld *world = make_world(*state, &settings);
    for (uint32_t i = 0; i < count; i++) {
        const MoteBody body = {.count = 1, .positions = &places[i], .mass = 2.0f, .stiffness = 1.0f};
        expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    }
    run_steps(world, 1, 1.0f / 60.0f);
    vec4 centre;
    expect_ok(mote_world_copy_out(world, &centre, world->view.cluster_centres, sizeof centre));
    mote_world_destroy(world);
    return centre.w;
}

static void mass_is_split_by_how_contacts_agree(void **state)
{
    const float d = 0.09f; // of a contact distance of 0.1 m
    const MoteVec3 around[] = {{0, 0, 0}, {d, 0, 0}, {-d, 0, 0}, {0, d, 0}, {0, -d, 0}, {0, 0, d}, {0, 0, -d}};
    const MoteVec3 above[] = {{0, 0, 0}, {0, d, 0}, {0, d, 0}, {0, d, 0}};
    const double six = split_of_first(state, around, 7), three = split_of_first(state, above, 4);
    const double one = split_of_first(state, around, 2);
    print_message("contacts along all axes: mass split among %.4f of 6; the same way: %.4f of 3; one: %.4f\n", six,
                  three, one);
    // Eigenvalues 2, 2, 2 and none about axes: the bound is the fourth root of 3 * 2^4.
    assert_true(fabs(six - pow(48.0, 0.25)) < 1e-4);
    assert_true(fabs(three - 3.0) < 1e-4);
    assert_true(fabs(one - 1.0) < 1e-6);
}

// ---- A heap of capsules, whose distances are known exactly ----

enum { CAPSULES = 27, SLICE = 9, SLICES = 5, CAPSULE_PARTICLES = SLICE * SLICES + 2 };

static const float capsule_radius = 0.075f, capsule_half = 0.1f, capsule_spacing = 0.05f; // m

// Particles about the z axis, none less than half a spacing deep.
static uint32_t capsule_points(MoteVec3 *points)
{
    const float d = capsule_spacing, diagonal = d * (float)sqrt(0.5);
    uint32_t n = 0;
    for (int s = 0; s < SLICES; s++) {
        const float z = ((float)s - 2.0f) * d;
        points[n++] = (MoteVec3){0, 0, z};
        for (int k = 0; k < 4; k++) {
            const float x = k == 0 ? 1.0f : (k == 1 ? -1.0f : 0.0f), y = k == 2 ? 1.0f : (k == 3 ? -1.0f : 0.0f);
            points[n++] = (MoteVec3){x * d, y * d, z};
            points[n++] = (MoteVec3){(x + y) * diagonal, (x - y) * diagonal, z};
        }
    }
    const float end = capsule_half + capsule_radius - 0.5f * d;
    points[n++] = (MoteVec3){0, 0, end};
    points[n++] = (MoteVec3){0, 0, -end};
    return n;
}

static void add_capsule(MoteWorld *world, MoteVec3 centre, MoteQuaternion rotation)
{
    MoteVec3 points[CAPSULE_PARTICLES], gradients[CAPSULE_PARTICLES];
    float distances[CAPSULE_PARTICLES];
    assert_int_equal(capsule_points(points), CAPSULE_PARTICLES);
    for (uint32_t i = 0; i < CAPSULE_PARTICLES; i++) {
        const MoteVec3 p = points[i];
        MoteVec3 out = {p.x, p.y, p.z - fmaxf(fminf(p.z, capsule_half), -capsule_half)};
        const float length = (float)length_of(out);
        out = length > 0.0f ? (MoteVec3){out.x / length, out.y / length, out.z / length} : (MoteVec3){1, 0, 0};
        distances[i] = length - capsule_radius;
        gradients[i] = turned(rotation, out);
        const MoteVec3 place = turned(rotation, p);
        points[i] = (MoteVec3){centre.x + place.x, centre.y + place.y, centre.z + place.z};
    }
    const MoteBody body = {.count = CAPSULE_PARTICLES,
                           .positions = points,
                           .gradients = gradients,
                           .distances = distances,
                           .mass = 0.2f,
                           .stiffness = 1.0f};
    expect_ok(mote_world_add_body(world, &body, NULL, NULL));
}

static double dot(MoteVec3 a, MoteVec3 b)
{
    return (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z;
}

// Distance of two segments of the capsules' length: centres and unit directions. The smallest over the first one's
// points, found by halving, for the distance to the second is convex along it.
static double to_segment(MoteVec3 p, MoteVec3 centre, MoteVec3 along)
{
    const MoteVec3 offset = {p.x - centre.x, p.y - centre.y, p.z - centre.z};
    const float t = fmaxf(fminf((float)dot(offset, along), capsule_half), -capsule_half);
    return length_of((MoteVec3){offset.x - t * along.x, offset.y - t * along.y, offset.z - t * along.z});
}

static double segment_distance(const MoteVec3 centres[2], const MoteVec3 along[2])
{
    double low = -capsule_half, high = capsule_half, best = INFINITY;
    for (int n = 0; n < 60; n++) {
        double values[2];
        const double at[2] = {low + (high - low) / 3.0, high - (high - low) / 3.0};
        for (int k = 0; k < 2; k++) {
            const float t = (float)at[k];
            const MoteVec3 p = {centres[0].x + t * along[0].x, centres[0].y + t * along[0].y,
                                centres[0].z + t * along[0].z};
            values[k] = to_segment(p, centres[1], along[1]);
        }
        best = fmin(best, fmin(values[0], values[1]));
        *(values[0] < values[1] ? &high : &low) = values[0] < values[1] ? at[1] : at[0];
    }
    return best;
}

typedef struct Heap {
    double mean, most; // overlap of those that touch, over a particle's radius
    uint32_t touching;
    double kinetic; // J
    double highest; // m
} Heap;

static Heap measure_heap(MoteWorld *world, const MoteQuaternion *started)
{
    Heap heap = {0};
    MoteBodyState bodies[CAPSULES];
    MoteVec3 along[CAPSULES];
    expect_ok(mote_world_read_bodies(world, bodies, CAPSULES));
    for (int i = 0; i < CAPSULES; i++) {
        along[i] = turned(bodies[i].pose.rotation, turned(started[i], (MoteVec3){0, 0, 1}));
        heap.highest = fmax(heap.highest, bodies[i].pose.position.y);
    }
    for (int i = 0; i < CAPSULES; i++) {
        for (int j = 0; j < i; j++) {
            const MoteVec3 centres[2] = {bodies[i].pose.position, bodies[j].pose.position};
            const MoteVec3 axes[2] = {along[i], along[j]};
            const double overlap = (2.0 * capsule_radius - segment_distance(centres, axes)) / (0.5 * capsule_spacing);
            if (overlap > 0.0) {
                heap.mean += overlap;
                heap.most = fmax(heap.most, overlap);
                heap.touching++;
            }
        }
    }
    heap.mean /= heap.touching > 0 ? heap.touching : 1;
    MoteStatistics statistics;
    expect_ok(mote_world_statistics(world, &statistics));
    heap.kinetic = statistics.kinetic_energy;
    return heap;
}

// While they fell, and at rest.
static void run_heap(void **state, Heap heaps[2])
{
    MoteSettings settings = solid_settings(capsule_spacing); // as scenes/bunny_pile.json
    settings.iterations = 2;
    settings.stabilization_iterations = 0;
    settings.contact_relaxation = 1.5f;
    settings.stack_scaling = 2.0f;
    settings.sleep_speed = 0.06f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial material = {.static_friction = 0.4f, .kinetic_friction = 0.3f, .rolling_friction = 1.0f};
    expect_ok(mote_world_set_materials(world, &material, 1));
    const MoteTransform middle = {{0, 2, 0}, {0, 0, 0, 1}};
    const MoteCollider box = {.kind = MOTE_COLLIDER_BOX,
                              .inside_out = true,
                              .from = middle,
                              .to = middle,
                              .half_size = {0.3f, 2.0f, 0.3f},
                              .static_friction = 0.2f,
                              .kinetic_friction = 0.15f};
    expect_ok(mote_world_set_colliders(world, &box, 1));
    MoteQuaternion started[CAPSULES];
    for (int i = 0; i < CAPSULES; i++) {
        const double turn = 1.1 * i;
        started[i] = turn_about((MoteVec3){(float)sin(turn), (float)cos(turn), 0.0f}, 0.7 + 0.4 * i);
        const MoteVec3 centre = {0.12f * ((i & 1) != 0 ? 1.0f : -1.0f), 0.2f + 0.125f * (float)i,
                                 0.11f * ((i & 2) != 0 ? 1.0f : -1.0f)};
        add_capsule(world, centre, started[i]);
    }
    run_steps(world, 90, 1.0f / 120.0f);
    heaps[0] = measure_heap(world, started);
    run_steps(world, 330, 1.0f / 120.0f);
    heaps[1] = measure_heap(world, started);
    mote_world_destroy(world);
    print_message("%d capsules after 3.5 s: %u touch, overlap %.3f of a particle's radius in the mean, "
                  "%.3f at most; %.2g J, %.3g J while they fell; the highest at %.2f m\n",
                  CAPSULES, heaps[1].touching, heaps[1].mean, heaps[1].most, heaps[1].kinetic, heaps[0].kinetic,
                  heaps[1].highest);
}

// Particles of one lie in the gaps between another's, so that some overlap is not for want of iterations: with 20 of
// them the mean is 0.59, the most 1.65.
static void a_heap_stays_apart_and_comes_to_rest(void **state)
{
    Heap heaps[2];
    run_heap(state, heaps);
    assert_true(heaps[1].touching > CAPSULES); // a heap, in which each lies on others
    assert_true(heaps[1].mean < 0.75);
    assert_true(heaps[1].most < 2.2); // of the two bodies' radii, 6: none is inside another
    assert_true(heaps[0].kinetic > 20.0 && heaps[1].kinetic < 0.01);
    assert_true(heaps[1].highest > 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(mass_is_split_by_how_contacts_agree),
        ON_EVERY_BACKEND(a_heap_stays_apart_and_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
