// SPDX-License-Identifier: MIT
// The smoothing kernels, and the density constraint that is made of them.
#include "backends.h"
#include "liquid_reference.h"

#include "kernels/kernels.h"

static const double PI = 3.14159265358979323846;

static RestState rest_of(uint32_t dimensions, double smoothing_radius)
{
    const MoteSettings settings = measuring_settings(dimensions, (float)(smoothing_radius / 2.0), 2.0f);
    return rest_state_measure(&settings);
}

// Area or circumference of the sphere or circle of radius r.
static double shell(uint32_t dimensions, double r)
{
    return dimensions == 2 ? 2.0 * PI * r : 4.0 * PI * r * r;
}

// ---- The kernels alone ----

static void poly6_integrates_to_one(void **state)
{
    (void)state;
    const double supports[] = {0.1, 1.0, 2.5};
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        for (size_t s = 0; s < 3; s++) {
            const double h = (float)supports[s];
            const double norm = rest_of(dimensions, h).poly6_norm;
            const int slices = 4000;
            double integral = 0.0;
            for (int k = 0; k < slices; k++) {
                const double r = h * (k + 0.5) / slices;
                const double value = poly6((float)(r * r), (float)(h * h));
                integral += norm * value * shell(dimensions, r) * h / slices;
            }
            expect_near(integral, 1.0, 1e-5, "the integral of Poly6");
            assert_true(poly6((float)(h * h), (float)(h * h)) == 0.0f);
            assert_true(poly6((float)(4.0 * h * h), (float)(h * h)) == 0.0f);
        }
    }
}

// The solver only knows Spiky's gradient: integrated inwards from the support it must be a kernel of integral one.
static void spiky_integrates_to_one(void **state)
{
    (void)state;
    const double supports[] = {0.1, 1.0, 2.5};
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        for (size_t s = 0; s < 3; s++) {
            const double h = (float)supports[s];
            const double norm = rest_of(dimensions, h).spiky_norm;
            const int slices = 4000;
            double value = 0.0, integral = 0.0; // the kernel at the slice's outer side; its integral so far
            for (int k = slices - 1; k >= 0; k--) {
                const double r = h * (k + 0.5) / slices;
                const double slope = norm * spiky_factor((float)(r * r), (float)h) * r;
                assert_true(slope <= 0.0);
                integral += (value - 0.5 * slope * h / slices) * shell(dimensions, r) * h / slices;
                value -= slope * h / slices;
            }
            expect_near(integral, 1.0, 1e-5, "the integral of Spiky");
            assert_true(spiky_factor((float)(4.0 * h * h), (float)h) == 0.0f);
        }
    }
}

static double spiky_value(uint32_t dimensions, const double *x, double h)
{
    const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    const double norm = dimensions == 2 ? 10.0 / (PI * pow(h, 5)) : 15.0 / (PI * pow(h, 6)); // Mueller 2003, eq. 21
    return r < h ? norm * pow(h - r, 3) : 0.0;
}

static void spiky_factor_is_the_gradient(void **state)
{
    (void)state;
    const double h = 0.5;
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        const double norm = rest_of(dimensions, h).spiky_norm;
        const double largest = fabs(norm) * h * h; // of the gradient, at the centre
        for (int n = 0; n < 500; n++) {
            const MoteVec3 offset = random_in_box((MoteVec3){0, 0, 0}, 0.6f);
            const double x[3] = {offset.x, offset.y, dimensions == 2 ? 0.0 : offset.z};
            const double squared = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
            const double factor = norm * spiky_factor((float)squared, (float)h);
            for (uint32_t axis = 0; axis < dimensions; axis++) {
                const double step = 1e-6;
                double up[3], down[3];
                memcpy(up, x, sizeof x);
                memcpy(down, x, sizeof x);
                up[axis] += step;
                down[axis] -= step;
                const double slope = (spiky_value(dimensions, up, h) - spiky_value(dimensions, down, h)) / (2.0 * step);
                expect_near(factor * x[axis], slope, 1e-5 * largest, "a component of Spiky's gradient");
            }
            assert_true(factor <= 0.0); // it points towards the particle: the kernel falls with distance
            assert_true(squared >= h * h || factor < 0.0);
        }
    }
    assert_true(isfinite(spiky_factor(0.0f, 0.5f)));
}

// ---- Density on the lattice ----

static uint32_t nearest_to(const MoteParticleView *view, MoteVec3 p)
{
    uint32_t best = 0;
    double nearest = INFINITY;
    for (uint32_t i = 0; i < view->count; i++) {
        const float *q = view->positions + 4 * (size_t)i;
        const double distance = hypot(hypot(q[0] - p.x, q[1] - p.y), q[2] - p.z);
        if (distance < nearest) {
            nearest = distance;
            best = i;
        }
    }
    return best;
}

// A lattice so large that the particle in its middle sees nothing of its surface.
static MoteWorld *make_lattice(const TestBackend *backend, const MoteSettings *settings, uint32_t *middle)
{
    MoteWorld *world = make_world(backend, settings);
    const uint32_t reach = (uint32_t)ceilf(settings->smoothing_radius_ratio);
    const uint32_t n = 2 * reach + 1;
    const float half = settings->spacing * (float)reach;
    const bool flat = settings->dimensions == 2;
    add_block(world, (MoteVec3){-half, -half, flat ? 0.0f : -half}, n, n, flat ? 1 : n);
    run_steps(world, 1, 1e-2f);
    const MoteParticleView view = read_view(world);
    *middle = nearest_to(&view, (MoteVec3){0, 0, 0});
    return world;
}

static const float smoothing_radius_ratios[] = {1.5f, 2.0f, 2.2f, 3.0f};

static void a_lattice_has_the_rest_density(void **state)
{
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        for (size_t r = 0; r < 4; r++) {
            const MoteSettings settings = measuring_settings(dimensions, 0.05f, smoothing_radius_ratios[r]);
            uint32_t middle;
            MoteWorld *world = make_lattice(*state, &settings, &middle);
            const MoteParticleView view = read_view(world);
            expect_near(view.velocities[4 * middle + 3], 1.0, 1e-5, "the density inside a lattice");
            const MoteStatistics statistics = read_statistics(world);
            assert_true(statistics.density_error_max < 1e-5);
            assert_true(statistics.density_mean < 1.0); // the surface lacks neighbours
            mote_world_destroy(world);
        }
    }
}

static float lambda_of(MoteWorld *world, uint32_t i)
{
    LAUNCH(world, density_lambda);
    vec4 *estimates = download_copy(world, world->view.position_estimates, world->view.particle_count * sizeof(vec4));
    const float lambda = estimates[i].w;
    free(estimates);
    return lambda;
}

// With a rest density below the lattice's, the constraint is violated by a known amount, and lambda without
// relaxation is that over the denominator.
static void rest_lambda_is_the_lattices(void **state)
{
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        for (size_t r = 0; r < 4; r++) {
            MoteSettings settings = measuring_settings(dimensions, 0.05f, smoothing_radius_ratios[r]);
            settings.rest_density_scale = 0.8f;
            settings.relaxation = 0.0f;
            uint32_t middle;
            MoteWorld *world = make_lattice(*state, &settings, &middle);
            const double rest_lambda = world->view.rest_lambda / world->view.liquid_inverse_mass;
            const double bilateral = lambda_of(world, middle);
            expect_near(-bilateral / 0.25, rest_lambda, 2e-4 * rest_lambda, "1 / denominator on the lattice");

            settings.density_mode = MOTE_DENSITY_UNILATERAL;
            expect_ok(mote_world_set_settings(world, &settings));
            run_steps(world, 1, 1e-2f);
            const double unilateral = bilateral / reference_stiffening(&settings);
            expect_near(lambda_of(world, middle), unilateral, 2e-4 * fabs(bilateral), "the unilateral lambda");

            settings.rest_density_scale = 1.2f; // now there is too little, which only the bilateral constraint minds
            expect_ok(mote_world_set_settings(world, &settings));
            run_steps(world, 1, 1e-2f);
            assert_true(lambda_of(world, middle) == 0.0f);
            mote_world_destroy(world);
        }
    }
}

// ---- The constraint's gradient ----

typedef struct Cloud {
    uint32_t dimensions, count;
    double smoothing_radius, number_density;
    double (*points)[3];
    bool spiky; // which kernel the density is made of
} Cloud;

// Density over rest density at point i.
static double cloud_density(const Cloud *cloud, uint32_t i)
{
    const double h = cloud->smoothing_radius;
    double sum = 0.0;
    for (uint32_t j = 0; j < cloud->count; j++) {
        const double *a = cloud->points[i], *b = cloud->points[j];
        const double offset[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        const double squared = offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2];
        if (cloud->spiky) {
            sum += spiky_value(cloud->dimensions, offset, h);
        } else if (squared < h * h) {
            const double norm = cloud->dimensions == 2 ? 4.0 / (PI * pow(h, 8)) : 315.0 / (64.0 * PI * pow(h, 9));
            sum += norm * pow(h * h - squared, 3);
        }
    }
    return sum / cloud->number_density;
}

// Derivatives of the density at point i by the coordinates of point k, by central differences.
static void cloud_gradient(Cloud *cloud, uint32_t i, uint32_t k, double gradient[3])
{
    const double step = 1e-6 * cloud->smoothing_radius;
    for (uint32_t axis = 0; axis < 3; axis++) {
        const double there = cloud->points[k][axis];
        cloud->points[k][axis] = there + step;
        const double up = cloud_density(cloud, i);
        cloud->points[k][axis] = there - step;
        const double down = cloud_density(cloud, i);
        cloud->points[k][axis] = there;
        gradient[axis] = axis < cloud->dimensions ? (up - down) / (2.0 * step) : 0.0;
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Some particles near one another, with masses that differ.
static MoteWorld *make_cloud(const TestBackend *backend, uint32_t dimensions, Cloud *cloud, vec4 **points)
{
    MoteSettings settings = measuring_settings(dimensions, 0.05f, 2.2f);
    settings.relaxation = 0.5f;
    settings.rest_density_scale = 0.7f;
    MoteWorld *world = make_world(backend, &settings);
    enum { COUNT = 48 };
    MoteVec3 positions[COUNT];
    float masses[COUNT];
    for (int i = 0; i < COUNT; i++) {
        positions[i] = random_in_box((MoteVec3){1, 2, 0}, 0.1f);
        positions[i].z = dimensions == 2 ? 0.0f : positions[i].z;
        masses[i] = random_float(0.1f, 0.3f);
    }
    const MoteParticles particles = {
        .count = COUNT, .positions = positions, .masses = masses, .phase = MOTE_PHASE_FLUID};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    run_steps(world, 1, 1e-2f);

    *points = download_copy(world, world->view.predicted, COUNT * sizeof(vec4));
    *cloud = (Cloud){.dimensions = dimensions,
                     .count = COUNT,
                     .smoothing_radius = (double)settings.spacing * settings.smoothing_radius_ratio,
                     .number_density = reference_rest(&settings).number_density,
                     .points = malloc(COUNT * sizeof *cloud->points)};
    for (int i = 0; i < COUNT; i++) {
        cloud->points[i][0] = (*points)[i].x;
        cloud->points[i][1] = (*points)[i].y;
        cloud->points[i][2] = (*points)[i].z;
    }
    return world;
}

// By how much the lightest particle that takes part in the constraint of point i is lighter than the heaviest liquid:
// in full up to half of the squared smoothing radius, less and less beyond.
static double cloud_lightness(const Cloud *cloud, uint32_t i, const vec4 *points)
{
    double heaviest = points[0].w, lightest = points[i].w;
    for (uint32_t k = 0; k < cloud->count; k++) {
        const double *a = cloud->points[i], *b = cloud->points[k];
        const double offset[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        const double outer = 2.0 - 2.0 * dot(offset, offset) / (cloud->smoothing_radius * cloud->smoothing_radius);
        const double share = fmin(fmax(outer, 0.0), 1.0);
        heaviest = fmin(heaviest, points[k].w);
        lightest = fmax(lightest, points[i].w + share * (points[k].w - points[i].w));
    }
    return lightest / heaviest;
}

// Position-based fluids measures density with Poly6 and moves particles along Spiky's gradients, so the denominator of
// lambda is not made of the derivatives of the density in its numerator. What must agree, and is compared here:
// - the numerator with the density that Poly6 gives in double precision;
// - the denominator, which is (1 - density) / lambda - relaxation times the lightness above, with the sum of
//   w_k |d rho_i / d x_k|^2 of the density that Spiky would give, by central differences over all k, i itself included;
// - the direction: when all particles move along Spiky's gradients, each weighted by its inverse mass, as the solver
//   moves them, Poly6's density grows.
static void lambda_is_made_of_the_densitys_gradient(void **state)
{
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        Cloud cloud;
        vec4 *points;
        MoteWorld *world = make_cloud(*state, dimensions, &cloud, &points);
        const MoteSettings settings = mote_world_settings(world);
        double heaviest = INFINITY; // of the inverse masses
        for (uint32_t i = 0; i < cloud.count; i++) {
            heaviest = fmin(heaviest, (double)points[i].w);
        }
        const double relaxation = (double)settings.relaxation * reference_rest(&settings).squared_gradients * heaviest;
        MoteParticleView view = read_view(world);
        for (uint32_t i = 0; i < view.count; i++) {
            view.velocities[4 * (size_t)i + 3] = 1.0f; // tension resists what has stretched since rest
        }
        expect_ok(mote_world_write(world, &view));
        LAUNCH(world, density_lambda);
        vec4 *estimates = download_copy(world, world->view.position_estimates, cloud.count * sizeof(vec4));
        float *densities = download_copy(world, world->view.densities, cloud.count * sizeof(float));
        for (uint32_t i = 0; i < cloud.count; i++) {
            cloud.spiky = false;
            const double density = cloud_density(&cloud, i);
            expect_near(densities[i], density, 1e-5 * density, "the density");

            double denominator = 0.0, growth = 0.0;
            for (uint32_t k = 0; k < cloud.count; k++) {
                double gradient[3], poly6_gradient[3];
                cloud.spiky = false;
                cloud_gradient(&cloud, i, k, poly6_gradient);
                cloud.spiky = true;
                cloud_gradient(&cloud, i, k, gradient);
                denominator += points[k].w * dot(gradient, gradient);
                growth += points[k].w * dot(gradient, poly6_gradient);
            }
            assert_true(growth > 0.0);
            const double pull = density < 1.0 ? fmin(0.5 * (1.0 + (double)settings.relaxation), 1.0) : 1.0;
            const double rarefaction = pull * fmin(1.0 - density, (double)settings.max_tension);
            denominator += relaxation * cloud_lightness(&cloud, i, points);
            const double expected = rarefaction / denominator;
            const double rounding = 1e-5 * density / denominator;
            expect_near(estimates[i].w, expected, 1e-4 * fabs(expected) + rounding, "lambda");
        }
        free(densities);
        free(estimates);
        free(points);
        free(cloud.points);
        mote_world_destroy(world);
    }
}

// A pair that is too dense is moved apart along its line, evenly about its centre of mass.
static void a_dense_pair_moves_apart(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.05f, 2.0f);
    settings.iterations = 1;
    settings.rest_density_scale = 0.1f;
    settings.artificial_pressure = 0.0f;
    settings.max_correction = 0.0f; // a limit would not know of the partner
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 positions[] = {{0.10f, 0.2f, 0.3f}, {0.13f, 0.2f, 0.3f}};
    const float masses[] = {1.0f, 2.0f};
    const MoteParticles particles = {.count = 2, .positions = positions, .masses = masses, .phase = MOTE_PHASE_FLUID};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    run_steps(world, 1, 1e-2f);
    const MoteParticleView view = read_view(world);
    const uint32_t light = view.ids[0] == 0 ? 0 : 1, heavy = 1 - light;
    const float left = view.positions[4 * light] - 0.10f, right = view.positions[4 * heavy] - 0.13f;
    assert_true(left < -1e-4f && right > 1e-4f);
    expect_near(left + 2.0f * right, 0.0, 1e-6, "the motion of the centre of mass");
    for (uint32_t i = 0; i < 2; i++) {
        expect_near(view.positions[4 * i + 1], 0.2f, 1e-7, "y");
        expect_near(view.positions[4 * i + 2], 0.3f, 1e-7, "z");
    }
    mote_world_destroy(world);
}

// Of no wave on the rest lattice more than twice the error is corrected in an iteration of the unilateral mode, for
// waves between those that the solver looks at, too. With UPP eq. 5 as published that would be 2.8 times, at h of 3
// spacings 6 times.
static void no_wave_is_overcorrected(void **state)
{
    (void)state;
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        for (size_t r = 0; r < 4; r++) {
            MoteSettings settings = measuring_settings(dimensions, 0.05f, smoothing_radius_ratios[r]);
            assert_true(rest_state_measure(&settings).overcorrection == 1.0); // bilateral
            settings.density_mode = MOTE_DENSITY_UNILATERAL;
            const RestState rest = rest_state_measure(&settings);
            double largest = 0.0;
            for (int i = 0; i <= 24; i++) {
                for (int j = 0; j <= i; j++) {
                    for (int k = 0; k <= (dimensions == 2 ? 0 : j); k++) {
                        const double wave[3] = {i * PI / 24.0, j * PI / 24.0, k * PI / 24.0};
                        largest = fmax(largest, reference_response(&settings, wave));
                    }
                }
            }
            const double taken = largest / fmax(0.5 * rest.overcorrection, 1.0);
            assert_true(taken > (rest.overcorrection > 2.0 ? 1.99 : 0.5) && taken < 2.05);
            if (dimensions == 3 && r == 1) {
                expect_near(rest.overcorrection, 2.814, 1e-3, "the largest overcorrection for h of two spacings");
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poly6_integrates_to_one),      cmocka_unit_test(spiky_integrates_to_one),
        cmocka_unit_test(spiky_factor_is_the_gradient), ON_EVERY_BACKEND(a_lattice_has_the_rest_density),
        ON_EVERY_BACKEND(rest_lambda_is_the_lattices),  ON_EVERY_BACKEND(lambda_is_made_of_the_densitys_gradient),
        ON_EVERY_BACKEND(a_dense_pair_moves_apart),     cmocka_unit_test(no_wave_is_overcorrected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
