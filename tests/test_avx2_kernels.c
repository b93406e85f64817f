// SPDX-License-Identifier: MIT
// The hand-vectorised kernels against the portable ones, launch by launch; and the backends against one another.
#include "solid_fixture.h"

#include "cpu/avx2_boundary.h"
#include "cpu/avx2_idle.h"
#include "cpu/cpu_backend.h"
#include "mote_diffuse.h"
#include "tearing_fixture.h"

enum { CPU, PORTABLE, CUDA, VULKAN }; // rows of test_backends

// ---- A world that checks every launch of a kernel that has a twin ----

static struct {
    MoteWorld *world;
    const BackendFunctions *plain; // what the backend did before it was watched
    uint32_t compared[KERNEL_COUNT];
    const char *kernel; // the name of the one at hand
} watch;

static const char *const kernel_names[] = {
#define KERNEL_ROW(name, stage, count) #name,
#include "kernels/kernels.def"
};

static uint32_t invocations_of(KernelId kernel, const SolverData *view)
{
    const uint counts[] = {
#define KERNEL_ROW(name, stage, count) view->count,
#include "kernels/kernels.def"
    };
    return counts[kernel];
}

static void *clone(const void *source, size_t bytes)
{
    if (source == NULL || bytes == 0) {
        return NULL;
    }
    void *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(copy);
    memcpy(copy, source, bytes);
    return copy;
}

static SolverData clone_view(const SolverData *view)
{
    SolverData copy = *view;
#define BUFFER(type, name, capacity, order, keep, render)                                                              \
    copy.name = clone(view->name, watch.world->capacities[CAPACITY_##capacity] * sizeof(type));
#include "kernels/data.def"
    return copy;
}

static void free_view(SolverData *view)
{
#define BUFFER(type, name, capacity, order, keep, render) free(view->name);
#include "kernels/data.def"
}

static double largest_speed(const SolverData *view)
{
    double most = 0.0;
    for (uint32_t i = 0; i < view->particle_count; i++) {
        most = fmax(most, v3_length(v3_from_v4(view->velocities[i])));
    }
    return most;
}

static double largest_density(const SolverData *view)
{
    double most = 1.0;
    for (uint32_t i = 0; i < view->particle_count; i++) {
        most = fmax(most, view->densities[i]);
    }
    return most;
}

// `count` floats, `stride` apart, equal to rounding; `scale` is what 1e-5 is a fraction of.
static void compare_floats(const char *buffer, const float *found, const float *expected, size_t count, size_t stride,
                           double scale)
{
    for (size_t i = 0; i < count; i++) {
        const float a = found[i * stride], b = expected[i * stride];
        if (memcmp(&a, &b, sizeof a) != 0 && !(fabs((double)a - b) <= 1e-5 * scale)) {
            fail_msg("%s: %s of particle %zu is %.9g, expected %.9g; 1e-5 of the scale is %.3g", watch.kernel, buffer,
                     i, a, b, 1e-5 * scale);
        }
    }
}

static void compare_vec4s(const char *buffer, const vec4 *found, const vec4 *expected, uint32_t count, double scale,
                          double scale_w)
{
    if (found == NULL || count == 0) {
        return;
    }
    compare_floats(buffer, &found->x, &expected->x, count, 4, scale);
    compare_floats(buffer, &found->y, &expected->y, count, 4, scale);
    compare_floats(buffer, &found->z, &expected->z, count, 4, scale);
    compare_floats(buffer, &found->w, &expected->w, count, 4, scale_w);
}

// Integers must be equal, in all memory that the buffers hold: a twin may write nowhere else.
#define COMPARE_EXACTLY(type, name, capacity)                                                                          \
    if (found->name != NULL &&                                                                                         \
        memcmp(found->name, expected->name, watch.world->capacities[CAPACITY_##capacity] * sizeof(type)) != 0) {       \
        fail_msg("%s: " #name " differ", watch.kernel);                                                                \
    }

// Twins whose results are the portable kernels' to the bit: those without sums.
static bool is_exact(KernelId kernel)
{
    return kernel == KERNEL_ID_predict || kernel == KERNEL_ID_assign_keys || kernel == KERNEL_ID_update_velocity ||
           kernel == KERNEL_ID_stabilize_contacts || kernel == KERNEL_ID_solve_contacts ||
           kernel == KERNEL_ID_count_neighbours || kernel == KERNEL_ID_fill_neighbours ||
           kernel == KERNEL_ID_solve_tethers;
}

static void compare_views(KernelId kernel, const SolverData *found, const SolverData *expected)
{
    const uint32_t n = found->particle_count;
    const double allowed = is_exact(kernel) ? 0.0 : 1.0;
    const double h = allowed * found->smoothing_radius, speed = allowed * largest_speed(expected),
                 density = allowed * largest_density(expected);
    // Sums of terms that cancel are as exact as the terms: lambda as a constraint violated by the largest density,
    // vorticity as the largest velocity over the support.
    const double lambda = density * found->rest_lambda / found->liquid_inverse_mass,
                 vorticity = speed / found->smoothing_radius;
    const bool velocities = kernel == KERNEL_ID_smooth_velocity; // what scratch holds
    compare_vec4s("positions", found->positions, expected->positions, n, h, 0.0);
    compare_vec4s("predicted", found->predicted, expected->predicted, n, h, velocities ? vorticity : 0.0);
    compare_vec4s("velocities", found->velocities, expected->velocities, n, speed, density);
    compare_vec4s("scratch", found->particle_scratch, expected->particle_scratch, n, velocities ? speed : h,
                  velocities ? density : lambda);
    compare_vec4s("vorticities", found->vorticities, expected->vorticities, n, vorticity, vorticity);
    compare_vec4s("pushes", found->corrections, expected->corrections, found->corrections != NULL ? n : 0, h, 0.0);
    compare_vec4s("starts", found->contact_starts, expected->contact_starts, found->contact_starts != NULL ? n : 0, 0.0,
                  0.0);
    compare_vec4s("passive particles", found->diffuse_positions, expected->diffuse_positions, found->diffuse_capacity,
                  h, allowed);
    compare_vec4s("their velocities", found->diffuse_velocities, expected->diffuse_velocities, found->diffuse_capacity,
                  speed, allowed);
    if (found->link_count > 0) { // of particles of about a kilogram
        compare_floats("multipliers", found->link_lambdas, expected->link_lambdas, found->link_count, 1, h);
    }
    compare_floats("densities", found->densities, expected->densities, n, 1, density);
    // What a chunk gained is as exact as the energy that it is compared with.
    const uint32_t chunks =
        kernel == KERNEL_ID_watch_begin || kernel == KERNEL_ID_watch_end ? found->watch_chunk_count : 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const double energy = 20.0 * fabs((double)expected->watch_sums[chunk].y);
        compare_floats("gains", &found->watch_sums[chunk].x, &expected->watch_sums[chunk].x, 1, 4, energy);
        compare_floats("energies", &found->watch_sums[chunk].y, &expected->watch_sums[chunk].y, 1, 4, energy);
    }
    COMPARE_EXACTLY(uint, ids, PARTICLES)
    COMPARE_EXACTLY(uint, phases, PARTICLES)
    COMPARE_EXACTLY(u64, keys, PARTICLES)
    // The notes of idle chunks are in `order`, which is scratch in the iterations; the rest of it is left alone.
    const bool notes = kernel == KERNEL_ID_density_lambda || kernel == KERNEL_ID_density_delta ||
                       kernel == KERNEL_ID_solve_contacts || kernel == KERNEL_ID_add_boundary_density ||
                       kernel == KERNEL_ID_add_boundary_pressure;
    const size_t noted = notes ? 2 * ((n + IDLE_CHUNK - 1) / IDLE_CHUNK) : 0;
    assert_true(noted <= watch.world->capacities[CAPACITY_PARTICLES]);
    assert_memory_equal(found->order + noted, expected->order + noted,
                        (watch.world->capacities[CAPACITY_PARTICLES] - noted) * sizeof(uint));
    COMPARE_EXACTLY(uint, cell_scan, PARTICLES_AND_ONE)
    COMPARE_EXACTLY(uint, cell_starts, CELLS_AND_ONE)
    COMPARE_EXACTLY(uvec2, cell_runs, CELL_RUNS)
    COMPARE_EXACTLY(uint, neighbour_counts, PARTICLES)
    COMPARE_EXACTLY(uint, neighbour_starts, PARTICLES_AND_ONE)
    COMPARE_EXACTLY(uint, neighbours, NEIGHBOURS)
    COMPARE_EXACTLY(uint, counters, COUNTERS)
}

// Grains that just touch do so in one sum and not in the other, and their corrections are divided by another number:
// these few, a contact apart, are not compared.
static void forgive_grazing(const SolverData *found, SolverData *expected)
{
    uint32_t grazing = 0;
    for (uint32_t i = 0; i < found->particle_count; i++) {
        const float difference = found->corrections[i].w - expected->corrections[i].w;
        if (fabsf(difference) == 1.0f) {
            expected->corrections[i].w = found->corrections[i].w;
            expected->particle_scratch[i] = found->particle_scratch[i];
            grazing++;
        }
    }
    assert_true(grazing <= 3 + found->particle_count / 100);
}

// The same for the numbers of contacts that masses are split among.
static void forgive_grazing_counts(const SolverData *found, SolverData *expected)
{
    uint32_t grazing = 0;
    for (uint32_t i = 0; i < found->particle_count; i++) {
        const float difference = found->contact_starts[i].w - expected->contact_starts[i].w;
        if (difference != 0.0f && fabsf(difference) < 1.001f * found->positions[i].w) {
            expected->contact_starts[i].w = found->contact_starts[i].w;
            grazing++;
        }
    }
    assert_true(grazing <= 3 + found->particle_count / 100);
}

// The kernel whose work the AVX2 form of another one does as well, or KERNEL_COUNT.
static KernelId fused_kernel(KernelId kernel, const SolverData *view)
{
    if (kernel == KERNEL_ID_density_lambda || kernel == KERNEL_ID_measure_density) {
        return fuses_boundary_density(view) ? KERNEL_ID_add_boundary_density : KERNEL_COUNT;
    }
    return kernel == KERNEL_ID_density_delta && fuses_boundary_pressure(view) ? KERNEL_ID_add_boundary_pressure
                                                                              : KERNEL_COUNT;
}

// Whether its work has been done by another kernel.
static bool is_fused(KernelId kernel, const SolverData *view)
{
    return (kernel == KERNEL_ID_add_boundary_density && fuses_boundary_density(view)) ||
           (kernel == KERNEL_ID_add_boundary_pressure && fuses_boundary_pressure(view));
}

static void watched_launch(Backend *backend, KernelId kernel, const SolverData *view)
{
    if (cpu_avx2_kernels()[kernel] == NULL || is_fused(kernel, view)) {
        watch.compared[kernel]++;
        watch.plain->launch(backend, kernel, view);
        return;
    }
    SolverData expected = clone_view(view);
    cpu_kernels[kernel](&expected, 0, invocations_of(kernel, view));
    const KernelId fused = fused_kernel(kernel, view);
    if (fused != KERNEL_COUNT) {
        cpu_kernels[fused](&expected, 0, invocations_of(fused, view));
    }
    watch.plain->launch(backend, kernel, view);
    watch.kernel = kernel_names[kernel];
    if (kernel == KERNEL_ID_solve_pairs) {
        forgive_grazing(view, &expected);
    } else if (kernel == KERNEL_ID_split_particle_masses) {
        forgive_grazing_counts(view, &expected);
    }
    compare_views(kernel, view, &expected);
    watch.compared[kernel]++;
    free_view(&expected);
}

static MoteWorld *make_watched_world(const MoteSettings *settings)
{
    static BackendFunctions watching;
    MoteWorld *world = make_world(&test_backends[CPU], settings);
    watch.world = world;
    watch.plain = world->backend->functions;
    memset(watch.compared, 0, sizeof watch.compared);
    watching = *watch.plain;
    watching.launch = watched_launch;
    world->backend->functions = &watching;
    return world;
}

static bool without_avx2(void)
{
    if (cpu_avx2_kernels() == NULL) {
        print_message("this CPU or build has no vectorised kernels: skipped\n");
        return true;
    }
    return false;
}

// ---- Twins on what simulations give them ----

static MoteSettings lively_settings(uint32_t dimensions, uint32_t mode)
{
    MoteSettings settings = mote_default_settings();
    settings.dimensions = dimensions;
    settings.density_mode = mode;
    settings.artificial_pressure = mode == MOTE_DENSITY_BILATERAL ? 0.1f : 0.0f;
    settings.viscosity = 0.02f;
    settings.vorticity = 2.0f;
    settings.boundary_density_weight = 1.0f;
    return settings;
}

static void watch_dam_break(const MoteSettings *settings)
{
    MoteWorld *world = make_watched_world(settings);
    build_dam_break(world, 10, 14, settings->dimensions == 2 ? 1 : 8);
    MoteFoam foam = mote_default_foam();
    foam.capacity = 2000;
    foam.amount = 20.0f;
    expect_ok(mote_world_set_foam(world, &foam));
    const MoteCollider container =
        mote_world_settings(world).dimensions == 2
            ? still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0.9f, 0.0f, 0.0f}, (MoteVec3){0, 0, 0}, 0.2f)
            : still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0.9f, 0.1f, 0.2f}, (MoteVec3){0.1f, 0.3f, 0.1f}, 0.0f);
    const float d = settings->spacing;
    const MoteVec3 half = {15.0f * d, 14.0f * d, 4.5f * d};
    MoteCollider colliders[] = {
        box_container(half, half), container,
        still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f),
        still_collider(MOTE_COLLIDER_CAPSULE, (MoteVec3){0.6f, 0.1f, 0.2f}, (MoteVec3){0, 0.2f, 0}, 0.1f)};
    colliders[2].kinetic_friction = 0.2f;
    expect_ok(mote_world_set_colliders(world, colliders, 4));
    run_steps(world, 30, 1.0f / 120.0f);
    read_statistics(world); // launches measure_density
    for (int kernel = 0; kernel < KERNEL_COUNT; kernel++) {
        const bool of_solids = kernel == KERNEL_ID_solve_pairs || kernel == KERNEL_ID_count_contacts ||
                               kernel == KERNEL_ID_split_particle_masses || kernel == KERNEL_ID_solve_coloured_links ||
                               kernel == KERNEL_ID_solve_tethers;
        if (cpu_avx2_kernels()[kernel] != NULL && watch.compared[kernel] == 0 && !of_solids) {
            fail_msg("the twin of %s was never launched", kernel_names[kernel]);
        }
    }
    mote_world_destroy(world);
}

static void avx2_kernels_agree_in_a_dam_break(void **state)
{
    (void)state;
    if (without_avx2()) {
        skip();
    }
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        MoteSettings settings = lively_settings(dimensions, MOTE_DENSITY_BILATERAL);
        watch_dam_break(&settings);
        settings.averaging = MOTE_AVERAGING_ALL;
        settings.artificial_pressure_power = 3;
        settings.smoothing_radius_ratio = 2.5f;
        watch_dam_break(&settings);
        settings = lively_settings(dimensions, MOTE_DENSITY_UNILATERAL);
        watch_dam_break(&settings);
        settings.sleep_speed = 0.05f; // some sleep, some are held back
        settings.max_speed = 2.0f;
        settings.max_acceleration = 60.0f;
        watch_dam_break(&settings);
        settings = lively_settings(dimensions, MOTE_DENSITY_UNILATERAL);
        settings.artificial_pressure = 0.0f; // a loose block that falls: most chunks are idle at first
        settings.rest_density_scale = 1.25f;
        watch_dam_break(&settings);
    }
}

// Two liquids that differ in all parameters, of one mass and of two, in both modes; with grains among them.
static void avx2_kernels_agree_on_liquids_that_differ(void **state)
{
    (void)state;
    if (without_avx2()) {
        skip();
    }
    for (uint32_t variant = 0; variant < 8; variant++) {
        MoteSettings settings = lively_settings(3, variant % 2);
        settings.artificial_pressure = 0.02f;
        MoteWorld *world = make_watched_world(&settings);
        MoteMaterial materials[2] = {mote_default_material(), mote_default_material()};
        materials[0].viscosity = 0.7f;
        materials[0].artificial_pressure = 0.1f;
        materials[1].vorticity = 5.0f;
        materials[1].max_tension = 0.2f;
        expect_ok(mote_world_set_materials(world, materials, 2));
        build_dam_break(world, 8, 8, 8);
        MoteVec3 points[300];
        for (int i = 0; i < 300; i++) {
            points[i] = random_in_box((MoteVec3){0.6f, 0.2f, 0.2f}, 0.19f);
        }
        const float density = variant / 2 % 2 == 1 ? 300.0f : 1000.0f;
        const MoteParticles others = {.count = variant / 4 == 1 ? 250 : 300,
                                      .positions = points,
                                      .mass = mote_world_particle_mass(world, density),
                                      .phase = MOTE_PHASE(MOTE_KIND_LIQUID, 1)};
        expect_ok(mote_world_add_particles(world, &others, NULL));
        for (uint32_t i = others.count; i < 300; i++) {
            add_points(world, &points[i], 1, MOTE_PHASE(MOTE_KIND_GRAIN, 1));
        }
        run_steps(world, 10, 1.0f / 240.0f);
        assert_int_equal(world->view.liquids_differ, 1);
        assert_true(watch.compared[KERNEL_ID_smooth_velocity] > 0 && watch.compared[KERNEL_ID_density_delta] > 0);
        mote_world_destroy(world);
    }
}

// Lists of every length from none: all paddings.
static void avx2_kernels_agree_with_few_neighbours(void **state)
{
    (void)state;
    if (without_avx2()) {
        skip();
    }
    for (uint32_t mode = 0; mode < 2; mode++) {
        MoteSettings settings = lively_settings(3, mode);
        settings.rest_density_scale = 0.3f; // so that the unilateral constraint has something to do
        for (float half = 0.15f; half < 3.0f; half *= 1.6f) {
            MoteWorld *world = make_watched_world(&settings);
            MoteVec3 points[601], velocities[601];
            for (int i = 0; i < 601; i++) {
                points[i] = random_in_box((MoteVec3){0, 0, 0}, half);
                velocities[i] = random_in_box((MoteVec3){0, 0, 0}, 1.0f);
            }
            const MoteParticles sparse = {
                .count = 601, .positions = points, .velocities = velocities, .mass = 0.1f, .phase = MOTE_PHASE_FLUID};
            expect_ok(mote_world_add_particles(world, &sparse, NULL));
            run_steps(world, 2, 1.0f / 120.0f);
            read_statistics(world);
            mote_world_destroy(world);
        }
    }
}

// Coincident ones, pinned ones, ones that are no fluid and ones of other mass, side by side.
static void avx2_kernels_agree_on_odd_particles(void **state)
{
    (void)state;
    if (without_avx2()) {
        skip();
    }
    for (uint32_t mode = 0; mode < 2; mode++) {
        const MoteSettings settings = lively_settings(3, mode);
        MoteWorld *world = make_watched_world(&settings);
        add_block(world, (MoteVec3){0, 0, 0}, 8, 8, 8);
        add_block(world, (MoteVec3){0.1f, 0.1f, 0.1f}, 3, 3, 3); // on top of others
        add_block(world, (MoteVec3){0.1f, 0.1f, 0.1f}, 2, 2, 2);
        MoteVec3 points[60];
        float masses[60];
        for (int i = 0; i < 60; i++) {
            points[i] = i < 12 ? (MoteVec3){0.2f, 0.2f, 0.2f} : random_in_box((MoteVec3){0.2f, 0.2f, 0.2f}, 0.25f);
            masses[i] = i % 3 == 0 ? 0.0f : random_float(0.05f, 0.5f);
        }
        const MoteParticles odd = {.count = 60, .positions = points, .masses = masses, .phase = 7};
        expect_ok(mote_world_add_particles(world, &odd, NULL));
        for (int i = 0; i < 60; i++) {
            points[i] = random_in_box((MoteVec3){0.2f, 0.45f, 0.2f}, 0.15f);
            masses[i] = mote_world_particle_mass(world, random_float(50.0f, 900.0f));
        }
        const MoteParticles foam = {.count = 60, .positions = points, .masses = masses, .phase = MOTE_PHASE_FLUID};
        expect_ok(mote_world_add_particles(world, &foam, NULL));
        run_steps(world, 5, 1.0f / 240.0f);
        assert_true(world->view.mixed_masses != 0u);
        read_statistics(world);
        mote_world_destroy(world);
    }
}

// Neighbourhoods of more than 4096 candidates take another way through the vectorised search.
static void avx2_kernels_agree_in_overfull_cells(void **state)
{
    (void)state;
    if (without_avx2()) {
        skip();
    }
    MoteSettings settings = lively_settings(3, MOTE_DENSITY_BILATERAL);
    MoteWorld *world = make_watched_world(&settings);
    enum { COUNT = 4500 };
    MoteVec3 *points = malloc(COUNT * sizeof *points);
    assert_non_null(points);
    for (int i = 0; i < COUNT; i++) {
        points[i] = random_in_box((MoteVec3){1, 1, 1}, 0.145f);
    }
    add_points(world, points, COUNT, MOTE_PHASE_FLUID);
    free(points);
    run_steps(world, 1, 1.0f / 240.0f);
    mote_world_destroy(world);
}

// Grains of one material, and grains of two with bodies and water, under everything that changes a contact.
static void watch_solids(const MoteSettings *settings, bool mixed, float adhesion)
{
    const float d = settings->spacing;
    MoteWorld *world = make_watched_world(settings);
    const MoteMaterial materials[] = {
        {.static_friction = 0.5f,
         .kinetic_friction = 0.3f,
         .restitution = 0.3f,
         .adhesion = adhesion,
         .rolling_friction = 1.0f},
        {.static_friction = 0.2f, .kinetic_friction = 0.2f, .rolling_friction = 1.0f, .combine = MOTE_COMBINE_MAXIMUM}};
    expect_ok(mote_world_set_materials(world, materials, 2));
    MoteCollider tank = box_container((MoteVec3){0.5f, 0.5f, 0.3f}, (MoteVec3){0.5f, 0.5f, 0.3f});
    tank.static_friction = tank.kinetic_friction = 0.4f;
    expect_ok(mote_world_set_colliders(world, &tank, 1));
    enum { GRAINS = 600 };
    for (uint32_t group = 0; group < (mixed ? 2u : 1u); group++) {
        MoteVec3 points[GRAINS], velocities[GRAINS];
        float masses[GRAINS];
        for (int i = 0; i < GRAINS; i++) { // some of them begin in one another
            points[i] = random_in_box((MoteVec3){0.35f + 0.3f * (float)group, 0.3f, 0.3f}, 4.0f * d);
            velocities[i] = random_in_box((MoteVec3){0, -1, 0}, 0.5f);
            masses[i] = i % 50 == 7 ? 0.0f : random_float(0.1f, 0.4f);
        }
        const MoteParticles grains = {.count = GRAINS,
                                      .positions = points,
                                      .velocities = velocities,
                                      .masses = masses,
                                      .phase = group | MOTE_PHASE_SELF};
        expect_ok(mote_world_add_particles(world, &grains, NULL));
    }
    if (mixed) {
        add_block(world, (MoteVec3){0.1f, 0.1f, 0.1f}, 6, 6, 6);
        for (int k = 0; k < 3; k++) {
            const MoteBody body = {
                .mass = 0.2f, .velocity = {0, -2, 0}, .angular_velocity = {1, 2, 0}, .stiffness = k == 1 ? 0.5f : 1.0f};
            const TestBox box = {
                4, 4, 4, d, {0.25f + 0.25f * (float)k, 0.6f, 0.3f}, turn((MoteVec3){0, 0, 1}, 0.2f), k != 2, body};
            add_box(world, &box);
        }
    }
    run_steps(world, 20, 1.0f / 120.0f);
    assert_true(watch.compared[KERNEL_ID_solve_pairs] > 0);
    assert_true(watch.compared[KERNEL_ID_split_particle_masses] > 0);
    assert_true(!mixed || watch.compared[KERNEL_ID_count_contacts] > 0);
    mote_world_destroy(world);
}

// A net with pins, whose links are stiff, soft, damped or slack, and of which some have lost a particle.
static void avx2_kernels_agree_on_links(void **state)
{
    (void)state;
    if (without_avx2()) {
        return;
    }
    enum { SIDE = 24, POINTS = SIDE * SIDE, LINKS = 4 * POINTS };
    for (uint32_t small_steps = 0; small_steps <= 4; small_steps += 4) {
        MoteSettings settings = mote_default_settings();
        settings.spacing = 0.02f;
        settings.small_steps = small_steps;
        MoteWorld *world = make_watched_world(&settings);
        uint32_t ids[POINTS];
        MoteParticleHandle handles[POINTS];
        static MoteSpring springs[LINKS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < POINTS; i++) {
            const MoteVec3 at = {0.05f * (float)(i % SIDE), random_float(0.0f, 0.01f), 0.05f * (float)(i / SIDE)};
            const MoteParticles one = {
                .count = 1, .positions = &at, .mass = i % 50 == 0 ? 0.0f : random_float(0.5f, 2.0f)};
            expect_ok(mote_world_add_particles(world, &one, &ids[i]));
        }
        expect_ok(mote_world_make_handles(world, ids, POINTS, handles));
        for (uint32_t i = 0; i < 2 * POINTS; i++) {
            const uint32_t a = i % POINTS, b = a + (i < POINTS ? 1 : SIDE);
            if (b >= POINTS || (i < POINTS && b % SIDE == 0)) {
                continue;
            }
            springs[count] = mote_default_spring();
            springs[count].ends[0] = handles[a];
            springs[count].ends[1] = handles[b];
            springs[count].rest_length = 0.05f;
            springs[count].stiffness = i % 3 == 0 ? 2000.0f : INFINITY;
            springs[count].damping = i > POINTS && i % 90 == 0 ? 5.0f : 0.0f;
            springs[count++].slack = i % 7 == 0;
        }
        expect_ok(mote_world_add_springs(world, springs, count, NULL));
        run_steps(world, 5, 1.0f / 120.0f);
        expect_ok(mote_world_remove_particles(world, ids + 100, 3));
        run_steps(world, 5, 1.0f / 120.0f);
        assert_true(watch.compared[KERNEL_ID_solve_coloured_links] > 0);
        mote_world_destroy(world);
    }
}

// Cloth that falls into its tethers, which are none, one or two a vertex; a pin and some vertices are gone.
static void avx2_kernels_agree_on_tethers(void **state)
{
    (void)state;
    if (without_avx2()) {
        return;
    }
    MoteSettings settings = sheet_settings();
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    settings.small_steps = 3;
    MoteWorld *world = make_watched_world(&settings);
    for (uint32_t tethers = 0; tethers <= 2; tethers++) {
        Sheet sheet = make_sheet(13, 11, 0.05f);
        for (uint32_t v = 0; v < sheet.vertices; v++) {
            sheet.masses[v] = v == 0 || v == 12 || v == 70 ? 0.0f : 0.01f;
            sheet.velocities[v] = (MoteVec3){0, v >= 13 ? -6.0f : 0.0f, 1.0f};
            sheet.positions[v].z = 0.5f * (float)tethers;
        }
        sheet.cloth.tethers = tethers;
        sheet.cloth.stretch_compliance = 0.1f;
        add_sheet(world, &sheet);
        free_sheet(&sheet);
    }
    run_steps(world, 4, 1.0f / 60.0f);
    const uint32_t gone[] = {0, 150, 151, 143 + 12};
    expect_ok(mote_world_remove_particles(world, gone, 4));
    run_steps(world, 4, 1.0f / 60.0f);
    assert_true(watch.compared[KERNEL_ID_solve_tethers] >= 24);
    mote_world_destroy(world);
}

static void avx2_kernels_agree_on_solids(void **state)
{
    (void)state;
    if (without_avx2()) {
        skip();
    }
    for (uint32_t variant = 0; variant < 8; variant++) {
        MoteSettings settings = lively_settings(3, MOTE_DENSITY_BILATERAL);
        const bool mixed = variant % 2 == 1;
        settings.stabilization_iterations = 2;
        if (variant / 2 == 1) {
            settings.stack_scaling = 5.0f;
            settings.contact_relaxation = 1.5f;
        } else if (variant / 2 == 2) {
            settings.contact_averaging = MOTE_CONTACTS_GLOBAL;
            settings.contact_relaxation = 0.25f;
        } else if (variant / 2 == 3) {
            settings.friction_model = MOTE_FRICTION_VELOCITY;
        }
        watch_solids(&settings, mixed, variant < 2 ? 3.0f : 0.0f);
    }
}

// ---- Backends against one another ----

static void backends_are_equal_to_the_bit(void **state)
{
    (void)state;
    assert_int_equal(keep_vulkan(&test_backends[VULKAN].options), 0);
    const int others = vulkan_may_differ(VULKAN) ? 1 : 2;
    for (uint32_t variant = 0; variant < 4; variant++) {
        const MoteSettings settings = lively_settings(2 + variant / 2, variant % 2);
        MoteWorld *worlds[3];
        for (int w = 0; w <= others; w++) {
            worlds[w] = make_world(&test_backends[PORTABLE + w], &settings);
            build_dam_break(worlds[w], 10, 12, settings.dimensions == 2 ? 1 : 7);
        }
        for (int step = 1; step <= 20; step++) {
            for (int w = 0; w <= others; w++) {
                run_steps(worlds[w], 1, 1.0f / 120.0f);
                assert_true((step != 1 && step != 20) || read_hash(worlds[w]) == read_hash(worlds[0]));
            }
        }
        for (int w = 0; w <= others; w++) {
            mote_world_destroy(worlds[w]);
        }
    }
}

// After one step from the same state: positions within 1e-5 of the tank, velocities within what that is over the step,
// densities within 1e-5.
static void avx2_kernels_stay_near_the_portable_kernels(void **state)
{
    (void)state;
    const float time_step = 1.0f / 120.0f;
    for (uint32_t mode = 0; mode < 2; mode++) {
        const MoteSettings settings = lively_settings(3, mode);
        MoteWorld *worlds[2];
        WorldSnapshot snapshot = {0};
        for (int w = 0; w < 2; w++) {
            worlds[w] = make_world(&test_backends[w == 0 ? PORTABLE : CPU], &settings);
            build_dam_break(worlds[w], 10, 14, 8);
        }
        run_steps(worlds[0], 30, time_step);
        expect_ok(world_snapshot_take(worlds[0], &snapshot));
        expect_ok(world_snapshot_restore(worlds[1], &snapshot));
        world_snapshot_free(&snapshot);
        run_steps(worlds[0], 1, time_step);
        run_steps(worlds[1], 1, time_step);
        const MoteParticleView a = read_view(worlds[0]), b = read_view(worlds[1]);
        assert_memory_equal(a.ids, b.ids, a.count * sizeof *a.ids);
        const double tank = 30.0 * settings.spacing;
        for (size_t k = 0; k < 4 * (size_t)a.count; k++) {
            const bool density = k % 4 == 3;
            expect_near(b.positions[k], a.positions[k], density ? 0.0 : 1e-5 * tank, "a position");
            expect_near(b.velocities[k], a.velocities[k], density ? 1e-5 : 1e-5 * tank / time_step, "a velocity");
        }
        mote_world_destroy(worlds[0]);
        mote_world_destroy(worlds[1]);
    }
}

// Chaos parts the particles, not the water: after two seconds the centre of mass is within 1 % of the tank. (With
// fewer particles the water itself depends on the last bits.)
static void avx2_kernels_slosh_like_the_portable_kernels(void **state)
{
    (void)state;
    const MoteSettings settings = mote_default_settings();
    double centres[2][3];
    for (int b = CPU; b <= PORTABLE; b++) {
        MoteWorld *world = make_world(&test_backends[b], &settings);
        build_dam_break(world, 12, 16, 10);
        run_steps(world, 480, 1.0f / 240.0f);
        memcpy(centres[b], read_statistics(world).centre_of_mass, sizeof centres[b]);
        mote_world_destroy(world);
    }
    for (int axis = 0; axis < 3; axis++) {
        expect_near(centres[CPU][axis], centres[PORTABLE][axis], 0.01 * 36.0 * settings.spacing, "the centre of mass");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(avx2_kernels_agree_in_a_dam_break),
        cmocka_unit_test(avx2_kernels_agree_on_liquids_that_differ),
        cmocka_unit_test(avx2_kernels_agree_with_few_neighbours),
        cmocka_unit_test(avx2_kernels_agree_on_odd_particles),
        cmocka_unit_test(avx2_kernels_agree_in_overfull_cells),
        cmocka_unit_test(avx2_kernels_agree_on_links),
        cmocka_unit_test(avx2_kernels_agree_on_tethers),
        cmocka_unit_test(avx2_kernels_agree_on_solids),
        cmocka_unit_test(backends_are_equal_to_the_bit),
        cmocka_unit_test(avx2_kernels_stay_near_the_portable_kernels),
        cmocka_unit_test(avx2_kernels_slosh_like_the_portable_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
