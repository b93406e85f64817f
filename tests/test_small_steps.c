// SPDX-License-Identifier: MIT
// Small steps: one search and then several predictions, each with every constraint once. Rest, forces, moving colliders
// and bodies come out as with ordinary steps; the ways in which links are solved; tethers; the catenary.
#include "solid_fixture.h"

#include "mote_cloth.h"

static const MoteVec3 weightless = {0, 0, 0};
static const double PI = 3.14159265358979323846;

static MoteSettings small_settings(uint32_t small_steps)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.small_steps = small_steps;
    return settings;
}

static uint32_t add_one(MoteWorld *world, MoteParticleKind kind, MoteVec3 position, float mass)
{
    const MoteParticles one = {.count = 1, .positions = &position, .mass = mass, .phase = MOTE_PHASE(kind, 0)};
    uint32_t id = 0;
    expect_ok(mote_world_add_particles(world, &one, &id));
    return id;
}

static MoteParticleState state_of(MoteWorld *world, uint32_t id)
{
    MoteParticleHandle handle;
    MoteParticleState found;
    expect_ok(mote_world_make_handles(world, &id, 1, &handle));
    expect_ok(mote_world_read_handles(world, &handle, 1, &found));
    return found;
}

static MoteSpring between(MoteWorld *world, uint32_t a, uint32_t b)
{
    const uint32_t ids[] = {a, b};
    MoteSpring spring = mote_default_spring();
    spring.stiffness = INFINITY;
    expect_ok(mote_world_make_handles(world, ids, 2, spring.ends));
    return spring;
}

// ---- Small steps -------------------------------------------------------------------------------------------

// A pile, a box, a spring, water and a collider that is hit.
static uint64_t mixture_hash(const TestBackend *backend, uint32_t small_steps)
{
    MoteSettings settings = small_settings(small_steps);
    settings.viscosity = 0.05f;
    settings.vorticity = 0.1f;
    MoteWorld *world = make_world(backend, &settings);
    MoteCollider colliders[] = {mote_default_collider(),
                                still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 0.3f, 0}, weightless, 0.2f)};
    colliders[0].static_friction = colliders[0].kinetic_friction = 0.5f;
    colliders[1].mass = 20.0f;
    expect_ok(mote_world_set_colliders(world, colliders, 2));
    for (uint32_t i = 0; i < 30; i++) {
        const MoteVec3 at = {0.11f * (float)(i % 3), 0.65f + 0.11f * (float)(i / 9), 0.11f * (float)(i / 3 % 3)};
        add_one(world, MOTE_KIND_GRAIN, at, 1.0f);
    }
    const TestBox box = {.nx = 3,
                         .ny = 3,
                         .nz = 3,
                         .spacing = 0.1f,
                         .centre = {0.1f, 1.4f, 0.1f},
                         .rotation = {0, 0, 0, 1},
                         .field = true,
                         .body = {.mass = 1.0f, .stiffness = 1.0f}};
    add_box(world, &box);
    add_block(world, (MoteVec3){1.0f, 0.06f, 0}, 5, 5, 5);
    const MoteSpring spring = between(world, 0, 31);
    expect_ok(mote_world_add_springs(world, &spring, 1, NULL));
    run_steps(world, 12, 1.0f / 60.0f);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_true(view.positions[4 * i + 1] > -0.01f && view.positions[4 * i + 1] < 2.0f);
    }
    const uint64_t hash = read_hash(world);
    mote_world_destroy(world);
    return hash;
}

static void one_small_step_is_an_ordinary_one(void **state)
{
    assert_true(mixture_hash(*state, 0) == mixture_hash(*state, 1));
}

static void backends_agree_to_the_bit(void **state)
{
    (void)state;
    const uint64_t expected = mixture_hash(&test_backends[1], 6);
    assert_true(mixture_hash(&test_backends[2], 6) == expected);
    assert_true(set_up_backend((void *[]){(void *)(uintptr_t)&test_backends[3]}) == 0);
    if (!vulkan_may_differ(3)) {
        assert_true(mixture_hash(&test_backends[3], 6) == expected);
    }
    assert_true(mixture_hash(&test_backends[1], 5) != expected);
}

// What is thrown flies as far as with steps of that length: gravity acts in each.
static void free_fall_is_that_of_the_small_steps(void **state)
{
    const MoteSettings settings = small_settings(10), fine = small_settings(0);
    MoteWorld *world = make_world(*state, &settings), *other = make_world(*state, &fine);
    add_one(world, MOTE_KIND_GRAIN, (MoteVec3){0, 0.1f, 0}, 1.0f);
    add_one(other, MOTE_KIND_GRAIN, (MoteVec3){0, 0.1f, 0}, 1.0f);
    run_steps(world, 6, 1.0f / 60.0f);
    run_steps(other, 60, 1.0f / 600.0f);
    const MoteParticleState a = state_of(world, 0), b = state_of(other, 0);
    expect_near(a.position.y, b.position.y, 1e-5, "height");
    expect_near(a.velocity.y, b.velocity.y, 1e-4, "speed");
    expect_near(a.velocity.y, -0.981, 1e-3, "speed after 0.1 s");
    mote_world_destroy(world);
    mote_world_destroy(other);
}

// A grain on the ground, a weight on a spring: recorded forces and tensions are means over the whole step.
static void forces_are_right(void **state)
{
    const MoteSettings settings = small_settings(8);
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider ground = mote_default_collider();
    expect_ok(mote_world_set_colliders(world, &ground, 1));
    expect_ok(mote_world_record_forces(world, true));
    const uint32_t grain = add_one(world, MOTE_KIND_GRAIN, (MoteVec3){0, 0.05f, 0}, 2.0f);
    const uint32_t pin = add_one(world, MOTE_KIND_BODY, (MoteVec3){1, 2, 0}, 0.0f);
    const uint32_t weight = add_one(world, MOTE_KIND_BODY, (MoteVec3){1, 1, 0}, 3.0f);
    MoteSpring spring = between(world, pin, weight);
    spring.stiffness = 1000.0f;
    spring.damping = (float)(2.0 * sqrt(1000.0 * 3.0));
    expect_ok(mote_world_add_springs(world, &spring, 1, NULL));
    run_steps(world, 120, 1.0f / 60.0f);
    const MoteParticleView view = read_view(world);
    float forces[3][4];
    const double g = 9.81;
    for (uint32_t k = 0; k < 2; k++) {
        expect_ok(mote_world_read_forces(world, k == 0 ? MOTE_FORCE_COLLIDERS : MOTE_FORCE_SPRINGS, forces[0]));
        for (uint32_t i = 0; i < view.count; i++) {
            const bool pushed = view.ids[i] == (k == 0 ? grain : weight);
            expect_near(forces[i][1], pushed ? (k == 0 ? 2.0 : 3.0) * g : 0.0, 0.05, "recorded force");
        }
    }
    MoteSpringState held;
    expect_ok(mote_world_read_springs(world, &held, 1));
    expect_near(held.tension, 3.0 * g, 0.1, "tension");
    expect_near(held.length, 1.0 + 3.0 * g / 1000.0, 1e-4, "length");
    mote_world_destroy(world);
}

// A platform carries a grain up and along; between two steps it stands where the user put it.
static void moving_colliders_carry(void **state)
{
    MoteSettings settings = small_settings(7);
    settings.sleep_speed = 0.0f;
    MoteWorld *world = make_world(*state, &settings);
    MoteMaterial rough = mote_default_material();
    rough.static_friction = rough.kinetic_friction = 2.0f;
    expect_ok(mote_world_set_materials(world, &rough, 1));
    add_one(world, MOTE_KIND_GRAIN, (MoteVec3){0, 0.25f, 0}, 1.0f);
    const float dt = 1.0f / 60.0f;
    const MoteVec3 velocity = {0.9f, 0.6f, 0.0f};
    MoteCollider platform = still_collider(MOTE_COLLIDER_BOX, weightless, (MoteVec3){2, 0.2f, 2}, 0.0f);
    platform.static_friction = platform.kinetic_friction = 2.0f;
    platform.to.rotation = platform.from.rotation = (MoteQuaternion){0, 0, 0, 1};
    for (uint32_t step = 0; step < 40; step++) {
        const float t = dt * (float)step, next = dt * (float)(step + 1);
        platform.from.position = (MoteVec3){velocity.x * t, velocity.y * t, 0};
        platform.to.position = (MoteVec3){velocity.x * next, velocity.y * next, 0};
        expect_ok(mote_world_set_colliders(world, &platform, 1));
        expect_ok(mote_world_step(world, dt));
    }
    const MoteParticleState grain = state_of(world, 0);
    expect_near(grain.position.x, platform.to.position.x, 0.03, "carried along");
    expect_near(grain.position.y, platform.to.position.y + 0.25, 2e-3, "carried up");
    expect_near(grain.velocity.x, velocity.x, 0.02, "speed along");
    expect_near(grain.velocity.y, velocity.y, 0.02, "speed upwards");
    Collider row;
    world->backend->functions->download(world->backend, &row, world->view.colliders, sizeof row);
    assert_true(row.position.x == platform.to.position.x && row.start_position.x == platform.from.position.x);
    // It stops where it is, and so does the grain.
    platform.from = platform.to;
    expect_ok(mote_world_set_colliders(world, &platform, 1));
    run_steps(world, 40, dt);
    expect_near(state_of(world, 0).velocity.x, 0.0, 1e-3, "speed at rest");
    mote_world_destroy(world);
}

// A dynamic collider on the ground carries grains, feels their weight and stays; the watch has nothing to say.
static void dynamic_colliders_feel_the_weight(void **state)
{
    const MoteSettings settings = small_settings(6);
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider colliders[] = {mote_default_collider(), still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0, 0.2f, 0},
                                                                        (MoteVec3){0.5f, 0.2f, 0.5f}, 0.0f)};
    colliders[1].mass = 50.0f;
    for (uint32_t c = 0; c < 2; c++) {
        colliders[c].static_friction = colliders[c].kinetic_friction = 0.5f;
    }
    expect_ok(mote_world_set_colliders(world, colliders, 2));
    for (uint32_t i = 0; i < 9; i++) {
        add_one(world, MOTE_KIND_GRAIN, (MoteVec3){0.2f * (float)(i % 3) - 0.2f, 0.45f, 0.2f * (float)(i / 3) - 0.2f},
                1.0f);
    }
    run_steps(world, 90, 1.0f / 60.0f);
    MoteColliderState box;
    expect_ok(mote_world_read_collider(world, collider_id(world, 1), &box));
    expect_near(box.pose.position.y, 0.2, 2e-3, "height");
    expect_near(box.force.y, -9.0 * 9.81, 0.05 * 9.0 * 9.81, "force by grains");
    expect_near(box.velocity.y, 0.0, 1e-2, "speed");
    const MoteWatch watch = mote_world_watch(world);
    assert_true(watch.gained < 0.01 * watch.energy);
    mote_world_destroy(world);
}

// A box that slides and two that stand on each other.
static void bodies_stand_and_stop(void **state)
{
    const MoteSettings settings = small_settings(8);
    MoteWorld *world = make_world(*state, &settings);
    MoteMaterial rough = mote_default_material();
    rough.static_friction = 0.6f;
    rough.kinetic_friction = 0.5f;
    expect_ok(mote_world_set_materials(world, &rough, 1));
    MoteCollider ground = mote_default_collider();
    ground.static_friction = 0.6f;
    ground.kinetic_friction = 0.5f;
    expect_ok(mote_world_set_colliders(world, &ground, 1));
    for (uint32_t k = 0; k < 3; k++) {
        const TestBox box = {.nx = 3,
                             .ny = 3,
                             .nz = 3,
                             .spacing = 0.1f,
                             .centre = {k < 2 ? 0.0f : 2.0f, k < 2 ? 0.05f + 0.15f + 0.3f * (float)k : 0.15f, 0},
                             .rotation = {0, 0, 0, 1},
                             .field = true,
                             .body = {.mass = 0.5f, .stiffness = 1.0f, .velocity = {k < 2 ? 0.0f : 2.0f, 0, 0}}};
        add_box(world, &box);
    }
    run_steps(world, 120, 1.0f / 60.0f);
    expect_near(body_state(world, 1).pose.position.y, 0.15 + 0.3, 0.02, "height of the upper one");
    const double way = 2.0 * 2.0 / (2.0 * 0.5 * 9.81);
    expect_near(body_state(world, 2).pose.position.x, 2.0 + way, 0.1 * way, "way until it stops");
    mote_world_destroy(world);
}

// Grains that fly into each other, with springs between some of them.
static void momentum_is_conserved(void **state)
{
    MoteSettings settings = small_settings(5);
    settings.gravity = weightless;
    settings.max_displacement = 0.0f;
    MoteWorld *world = make_world(*state, &settings);
    MoteSpring springs[20];
    for (uint32_t i = 0; i < 60; i++) {
        const MoteVec3 position = random_in_box((MoteVec3){i < 30 ? -0.6f : 0.6f, 0, 0}, 0.3f);
        const MoteVec3 velocity = {i < 30 ? 2.0f : -1.0f, 0.3f, 0};
        const MoteParticles one = {.count = 1,
                                   .positions = &position,
                                   .velocities = &velocity,
                                   .mass = random_float(0.5f, 2.0f),
                                   .phase = MOTE_PHASE(MOTE_KIND_GRAIN, 0)};
        expect_ok(mote_world_add_particles(world, &one, NULL));
    }
    for (uint32_t i = 0; i < 20; i++) {
        springs[i] = between(world, i, i + 20);
    }
    expect_ok(mote_world_add_springs(world, springs, 20, NULL));
    const MoteStatistics before = read_statistics(world);
    run_steps(world, 60, 1.0f / 60.0f);
    const MoteStatistics after = read_statistics(world);
    for (int axis = 0; axis < 3; axis++) {
        expect_near(after.momentum[axis], before.momentum[axis], 0.02, "momentum");
    }
    mote_world_destroy(world);
}

// ---- Links -------------------------------------------------------------------------------------------------

enum { CHAIN = 40 }; // links of the chain

// Hangs a chain of CHAIN links of the given length between two pins `span` apart, at rest at last.
static void hang_chain(MoteWorld *world, double span, double length, MoteParticleState nodes[CHAIN + 1])
{
    MoteParticleHandle handles[CHAIN + 1];
    MoteSpring springs[CHAIN];
    uint32_t ids[CHAIN + 1];
    for (uint32_t i = 0; i <= CHAIN; i++) {
        const double t = (double)i / CHAIN, sag = 0.25 * length * sin(PI * t);
        ids[i] = add_one(world, MOTE_KIND_BODY, (MoteVec3){(float)(span * (t - 0.5)), (float)-sag, 0},
                         i == 0 || i == CHAIN ? 0.0f : 0.02f);
    }
    for (uint32_t i = 0; i < CHAIN; i++) {
        springs[i] = between(world, ids[i], ids[i + 1]);
        springs[i].rest_length = (float)(length / CHAIN);
    }
    expect_ok(mote_world_add_springs(world, springs, CHAIN, NULL));
    expect_ok(mote_world_steps(world, 1.0f / 60.0f, 360, NULL));
    expect_ok(mote_world_make_handles(world, ids, CHAIN + 1, handles));
    expect_ok(mote_world_read_handles(world, handles, CHAIN + 1, nodes));
}

// y = a cosh(x / a) + c, with a so that the curve has this length.
static double catenary_parameter(double span, double length)
{
    double low = 0.05 * span, high = 1e3 * span;
    for (int i = 0; i < 200; i++) {
        const double a = 0.5 * (low + high);
        *(2.0 * a * sinh(span / (2.0 * a)) > length ? &low : &high) = a;
    }
    return low;
}

static void a_chain_hangs_as_a_catenary(void **state)
{
    static const MoteLinkSolver solvers[] = {MOTE_LINKS_GAUSS_SEIDEL, MOTE_LINKS_JACOBI};
    for (uint32_t k = 0; k < 2; k++) {
        MoteSettings settings = small_settings(30);
        settings.damping = 2.0f;
        settings.link_solver = solvers[k];
        settings.link_relaxation = k == 1 ? 1.2f : 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        MoteMaterial ghost = mote_default_material();
        ghost.ignored_materials = 1;
        expect_ok(mote_world_set_materials(world, &ghost, 1));
        const double span = 2.0, length = 3.0, a = catenary_parameter(span, length);
        MoteParticleState nodes[CHAIN + 1];
        hang_chain(world, span, length, nodes);
        double stretched = 0.0;
        for (uint32_t i = 0; i <= CHAIN; i++) {
            const double x = (double)nodes[i].position.x, y = (double)nodes[i].position.y;
            expect_near(y, a * (cosh(x / a) - cosh(span / (2.0 * a))), 0.01 * length, "height of a node");
        }
        for (uint32_t i = 0; i < CHAIN; i++) {
            stretched += hypot((double)(nodes[i + 1].position.x - nodes[i].position.x),
                               (double)(nodes[i + 1].position.y - nodes[i].position.y));
        }
        expect_near(stretched, length, 0.01 * length, "length");
        mote_world_destroy(world);
    }
}

// A net of random links: those of a colour share no particle, and all links have their numbers' places.
static void colours_share_no_particle(void **state)
{
    MoteSettings settings = small_settings(0);
    MoteWorld *world = make_world(*state, &settings);
    enum { NODES = 80, LINKS = 700 };
    MoteSpring springs[LINKS];
    uint32_t degrees[NODES] = {0}, highest = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        add_one(world, MOTE_KIND_BODY, random_in_box(weightless, 2.0f), 1.0f);
    }
    for (uint32_t i = 0; i < LINKS; i++) {
        const uint32_t a = (uint32_t)(random_bits() % NODES), b = (uint32_t)(random_bits() % (NODES - 1));
        springs[i] = between(world, a, b == a ? NODES - 1 : b);
        springs[i].rest_length = (float)(i + 1); // its name
        degrees[a]++;
        degrees[b == a ? NODES - 1 : b]++;
    }
    for (uint32_t i = 0; i < NODES; i++) {
        highest = degrees[i] > highest ? degrees[i] : highest;
    }
    expect_ok(mote_world_add_springs(world, springs, 300, NULL));
    expect_ok(mote_world_add_springs(world, springs + 300, LINKS - 300, NULL));
    assert_int_equal(world->view.coloured_count, LINKS);
    assert_true(world->link_colours >= highest && world->link_colours < 2 * highest);
    uvec2 *ends = download_copy(world, world->view.link_ends, LINKS * sizeof *ends);
    vec4 *laws = download_copy(world, world->view.link_laws, LINKS * sizeof *laws);
    for (uint32_t c = 0; c < world->link_colours; c++) {
        bool used[NODES] = {false};
        for (uint32_t row = world->link_colour_starts[c]; row < world->link_colour_starts[c + 1]; row++) {
            const uint32_t a = ends[row].x - HANDLE_SINGLE, b = ends[row].y - HANDLE_SINGLE;
            assert_true(a < NODES && b < NODES && !used[a] && !used[b]);
            used[a] = used[b] = true;
        }
    }
    for (uint32_t i = 0; i < LINKS; i++) {
        assert_true(laws[world->link_rows[i]].x == (float)(i + 1));
        assert_int_equal(ends[world->link_rows[i]].x, springs[i].ends[0].value - 1);
    }
    free(ends);
    free(laws);
    // The other solvers have no colours; going back brings them back.
    settings.link_solver = MOTE_LINKS_IMPROVED_JACOBI;
    expect_ok(mote_world_set_settings(world, &settings));
    assert_int_equal(world->view.coloured_count, 0);
    settings.link_solver = MOTE_LINKS_GAUSS_SEIDEL;
    expect_ok(mote_world_set_settings(world, &settings));
    assert_int_equal(world->view.coloured_count, LINKS);
    mote_world_destroy(world);
}

// ---- Cloth -------------------------------------------------------------------------------------------------

enum { SIDE = 16, VERTICES = SIDE * SIDE };

// A square sheet that lies in the x-z plane and hangs by two corners.
static MoteStatistics hang_sheet(const TestBackend *backend, const MoteSettings *settings, uint32_t tethers,
                                 uint64_t *hash)
{
    MoteWorld *world = make_world(backend, settings);
    MoteVec3 positions[VERTICES];
    float masses[VERTICES];
    uint32_t ids[VERTICES], triangles[6 * (SIDE - 1) * (SIDE - 1)], t = 0;
    MoteParticleHandle handles[VERTICES];
    for (uint32_t v = 0; v < VERTICES; v++) {
        positions[v] = (MoteVec3){0.05f * (float)(v % SIDE), 0, 0.05f * (float)(v / SIDE)};
        masses[v] = v == 0 || v == SIDE - 1 ? 0.0f : 0.001f;
        ids[v] = v;
    }
    const MoteParticles particles = {
        .count = VERTICES, .positions = positions, .masses = masses, .phase = MOTE_PHASE(MOTE_KIND_CLOTH, 0)};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    expect_ok(mote_world_make_handles(world, ids, VERTICES, handles));
    for (uint32_t q = 0; q < (SIDE - 1) * (SIDE - 1); q++) {
        const uint32_t a = q / (SIDE - 1) * SIDE + q % (SIDE - 1), b = a + SIDE;
        const uint32_t corners[] = {a, b, b + 1, a, b + 1, a + 1};
        memcpy(triangles + t, corners, sizeof corners);
        t += 6;
    }
    MoteCloth cloth = mote_default_cloth();
    cloth.vertex_count = VERTICES;
    cloth.vertices = handles;
    cloth.triangle_count = t / 3;
    cloth.triangles = triangles;
    cloth.columns = cloth.rows = SIDE;
    cloth.tethers = tethers;
    expect_ok(mote_world_add_cloth(world, &cloth, NULL));
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(world, 0, &info));
    assert_int_equal(info.tethers, tethers * (VERTICES - 2));
    if (tethers == 2) { // from the far corner: along the diagonal, and along the edge
        float *lengths = download_copy(world, world->view.tether_lengths, 2 * VERTICES * sizeof *lengths);
        expect_near(lengths[2 * (VERTICES - 1)], 0.75, 1e-5, "tether along an edge");
        expect_near(lengths[2 * (VERTICES - 1) + 1], 0.75 * sqrt(2.0), 1e-5, "tether along the diagonal");
        free(lengths);
    }
    run_steps(world, 60, 1.0f / 60.0f);
    const MoteStatistics statistics = read_statistics(world);
    *hash = read_hash(world);
    mote_world_destroy(world);
    return statistics;
}

static MoteSettings sheet_settings(MoteLinkSolver solver, uint32_t iterations, uint32_t small_steps)
{
    MoteSettings settings = small_settings(small_steps);
    settings.spacing = 0.02f;
    settings.iterations = iterations;
    settings.max_displacement = 0.0f;
    settings.link_solver = solver;
    return settings;
}

// Of as many passes, small steps stretch less than iterations, colours less than Jacobi, and tethers least.
static void better_schemes_stretch_less(void **state)
{
    uint64_t hash;
    const MoteSettings jacobi = sheet_settings(MOTE_LINKS_JACOBI, 10, 0),
                       improved = sheet_settings(MOTE_LINKS_IMPROVED_JACOBI, 10, 0),
                       coloured = sheet_settings(MOTE_LINKS_GAUSS_SEIDEL, 10, 0),
                       small = sheet_settings(MOTE_LINKS_GAUSS_SEIDEL, 0, 10);
    const double a = hang_sheet(*state, &jacobi, 0, &hash).link_stretch_mean;
    const double b = hang_sheet(*state, &improved, 0, &hash).link_stretch_mean;
    const double c = hang_sheet(*state, &coloured, 0, &hash).link_stretch_mean;
    const MoteStatistics d = hang_sheet(*state, &small, 0, &hash), e = hang_sheet(*state, &small, 2, &hash);
    assert_true(b < 0.5 * a && c < 0.5 * a);
    assert_true(d.link_stretch_mean < 0.4 * c && e.link_stretch_mean < d.link_stretch_mean);
    assert_true(e.link_stretch_max < 0.5 * d.link_stretch_max);
    assert_int_equal(d.links, 2 * SIDE * (SIDE - 1) + 2 * (SIDE - 1) * (SIDE - 1) + 2 * SIDE * (SIDE - 2));
    assert_true(e.link_stretch_mean < 0.01 && e.link_stretch_max < 0.1);
}

static void cloth_is_equal_on_all_backends(void **state)
{
    (void)state;
    const MoteSettings settings = sheet_settings(MOTE_LINKS_GAUSS_SEIDEL, 0, 8);
    uint64_t expected, hash;
    hang_sheet(&test_backends[1], &settings, 2, &expected);
    hang_sheet(&test_backends[2], &settings, 2, &hash);
    assert_true(hash == expected);
    assert_true(set_up_backend((void *[]){(void *)(uintptr_t)&test_backends[3]}) == 0);
    hang_sheet(&test_backends[3], &settings, 2, &hash);
    assert_true(hash == expected || vulkan_may_differ(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(one_small_step_is_an_ordinary_one),
        cmocka_unit_test(backends_agree_to_the_bit),
        ON_EVERY_BACKEND(free_fall_is_that_of_the_small_steps),
        ON_EVERY_BACKEND(forces_are_right),
        ON_EVERY_BACKEND(moving_colliders_carry),
        ON_EVERY_BACKEND(dynamic_colliders_feel_the_weight),
        ON_CPU_AND_CUDA(bodies_stand_and_stop),
        ON_EVERY_BACKEND(momentum_is_conserved),
        ON_CPU_AND_CUDA(a_chain_hangs_as_a_catenary),
        ON_EVERY_BACKEND(colours_share_no_particle),
        ON_CPU_AND_CUDA(better_schemes_stretch_less),
        cmocka_unit_test(cloth_is_equal_on_all_backends),
    };
    static const char *const long_tests[] = {NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
