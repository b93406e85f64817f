// SPDX-License-Identifier: MIT
// Pictures in a row do not flicker: where nothing happens nothing changes, and where something moves slowly, light
// changes slowly. The measure is of a pixel's luma L (0 to 1, as displayed) in three pictures: half of
// |L(t + 1) - 2 L(t) + L(t - 1)|, which is 0 for what changes evenly and as large as the change for what pops.
#include "render_fixture.h"

#include "mote_diffuse.h"

enum { WIDTH = 320, HEIGHT = 180, PIXELS = WIDTH * HEIGHT, FRAMES = 14 };

typedef struct Film {
    float *luma[FRAMES];
} Film;

typedef struct Flicker {
    double change;  // mean |L(t + 1) - L(t)| of the worst pair of pictures
    double flicker; // mean of the measure, of the worst picture
    double popping; // share of pixels with more than 0.1 of it, of the worst picture
    double largest; // of the measure
} Flicker;

static void draw_frame(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene, uint32_t samples,
                       float *luma)
{
    static uint16_t pixels[PIXELS * 4];
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = samples};
    MUST(mote_renderer_draw(renderer, world, scene, &picture));
    MUST(mote_renderer_read_rgba16(renderer, pixels));
    for (uint32_t i = 0; i < PIXELS; i++) {
        const uint16_t *p = &pixels[4 * i];
        luma[i] = (0.299f * p[0] + 0.587f * p[1] + 0.114f * p[2]) / 65535.0f;
    }
    const char *folder = getenv("MOTE_FLICKER");
    if (folder != NULL) { // to look at
        static int number;
        char path[512];
        snprintf(path, sizeof path, "%s/%03d.pgm", folder, number++);
        FILE *stream = fopen(path, "wb");
        assert_non_null(stream);
        fprintf(stream, "P5 %d %d 255\n", WIDTH, HEIGHT);
        for (uint32_t i = 0; i < PIXELS; i++) {
            fputc((int)(255.0f * luma[i]), stream);
        }
        fclose(stream);
    }
}

// `counted` may be NULL: all pixels.
static Flicker measure(const Film *film, const bool *counted)
{
    Flicker worst = {0};
    for (int f = 1; f + 1 < FRAMES; f++) {
        double change = 0.0, flicker = 0.0, popping = 0.0, count = 0.0;
        for (uint32_t i = 0; i < PIXELS; i++) {
            if (counted == NULL || counted[i]) {
                const double a = film->luma[f - 1][i], b = film->luma[f][i], c = film->luma[f + 1][i];
                const double jump = 0.5 * fabs(c - 2.0 * b + a);
                change += fabs(c - b);
                flicker += jump;
                popping += jump > 0.1 ? 1.0 : 0.0;
                worst.largest = fmax(worst.largest, jump);
                count += 1.0;
            }
        }
        assert_true(count > 0.0);
        worst.change = fmax(worst.change, change / count);
        worst.flicker = fmax(worst.flicker, flicker / count);
        worst.popping = fmax(worst.popping, popping / count);
    }
    return worst;
}

static void show(const char *what, Flicker f)
{
    printf("%-34s change %.5f, flicker %.5f, largest %.3f, popping %.3f %%\n", what, f.change, f.flicker, f.largest,
           100.0 * f.popping);
}

static void make_film(Film *film)
{
    for (int f = 0; f < FRAMES; f++) {
        film->luma[f] = malloc(PIXELS * sizeof(float));
        assert_non_null(film->luma[f]);
    }
}

static void end_film(Film *film)
{
    for (int f = 0; f < FRAMES; f++) {
        free(film->luma[f]);
    }
}

// ---- Scenes ----

// Liquid at rest in a box of 0.8 x 0.8 m, 0.25 m deep.
static MoteWorld *make_pool(void)
{
    enum { SIDE = 16, HIGH = 5 };
    MoteVec3 points[SIDE * HIGH * SIDE];
    for (int i = 0; i < SIDE * HIGH * SIDE; i++) {
        points[i] = (MoteVec3){0.05f * (float)(i % SIDE) - 0.375f, 0.025f + 0.05f * (float)(i / SIDE % HIGH),
                               0.05f * (float)(i / SIDE / HIGH) - 0.375f};
    }
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.05f;
    settings.artificial_pressure = 0.06f; // it lies still sooner
    MoteWorld *world;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = "cpu", .portable = true}, &world));
    MUST(mote_world_add_particles(world,
                                  &(MoteParticles){.count = SIDE * HIGH * SIDE,
                                                   .positions = points,
                                                   .mass = mote_world_particle_mass(world, 1000.0f),
                                                   .phase = MOTE_PHASE_FLUID},
                                  NULL));
    const MoteTransform middle = {{0, 0.5f, 0}, {0, 0, 0, 1}};
    const MoteCollider box = {
        .kind = MOTE_COLLIDER_BOX, .inside_out = true, .half_size = {0.4f, 0.5f, 0.4f}, .from = middle, .to = middle};
    MUST(mote_world_set_colliders(world, &box, 1));
    for (int step = 0; step < 480; step++) {
        MUST(mote_world_step(world, 1.0f / 240.0f));
    }
    return world;
}

// A solid ball beside the pool, so that there is a shadow to look at.
static MoteRenderCollider ball(void)
{
    const MoteTransform there = {{0.75f, 0.2f, 0.1f}, {0, 0, 0, 1}};
    return (MoteRenderCollider){.collider = {.kind = MOTE_COLLIDER_SPHERE, .radius = 0.2f, .from = there, .to = there},
                                .look = MOTE_LOOK_SOLID};
}

static MoteRenderScene pool_scene(const MoteRenderCollider *collider)
{
    MoteRenderScene scene = make_scene((MoteVec3){0.8f, 0.7f, 1.15f}, (MoteVec3){0.2f, 0.12f, 0}, 40.0f);
    scene.ground.visible = true;
    scene.liquid.smoothing = MOTE_SMOOTHING_NARROW_RANGE;
    scene.colliders = collider;
    scene.collider_count = 1;
    return scene;
}

// A heap of 700 grains, none of which is where a lattice would have it.
static MoteWorld *make_heap(void)
{
    enum { COUNT = 700 };
    MoteVec3 points[COUNT];
    uint32_t random = 1;
    for (int i = 0; i < COUNT; i++) {
        float unit[3];
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u; // Numerical Recipes' generator
            unit[k] = (float)(random >> 8) / 16777216.0f;
        }
        const float angle = 6.2831853f * unit[0], radius = 0.5f * sqrtf(unit[1]);
        points[i] = (MoteVec3){radius * cosf(angle), 0.02f + (0.5f - radius) * 0.6f * unit[2], radius * sinf(angle)};
    }
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.05f;
    MoteWorld *world;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = "cpu", .portable = true}, &world));
    MUST(mote_world_add_particles(
        world, &(MoteParticles){.count = COUNT, .positions = points, .mass = 0.1f, .phase = MOTE_PHASE_SELF}, NULL));
    return world;
}

// ---- Tests ----

// A pool at rest, step after step, from one place: its particles tremble by a hundredth of their spacing.
static void test_pool_at_rest(void **state)
{
    Film film;
    make_film(&film);
    MoteWorld *world = make_pool();
    const MoteRenderCollider collider = ball();
    MoteRenderScene scene = pool_scene(&collider);
    static float dry[PIXELS];
    static bool still[PIXELS];
    scene.liquid.visible = false;
    draw_frame(*state, world, &scene, 1, dry);
    scene.liquid.visible = true;
    for (int f = 0; f < FRAMES; f++) {
        draw_frame(*state, world, &scene, 1, film.luma[f]);
        for (int step = 0; step < 4; step++) {
            MUST(mote_world_step(world, 1.0f / 240.0f));
        }
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < PIXELS; i++) { // neither liquid nor its shadow
        still[i] = fabsf(dry[i] - film.luma[0][i]) < 0.002f;
        count += still[i];
    }
    const Flicker all = measure(&film, NULL), rest = measure(&film, still);
    show("pool at rest", all);
    show("beside it", rest);
    assert_true(count > PIXELS / 4 && count < PIXELS * 9 / 10);
    assert_true(all.flicker < 0.0003 && all.popping < 0.0002);
    assert_true(rest.flicker < 0.00002 && rest.popping == 0.0);
    mote_world_destroy(world);
    end_film(&film);
}

// Foam all over it, of all ages: its particles tremble with the liquid's, and what comes to the end of its life thins
// away before it goes. Without that, and if radii depended on a particle's slot or the order, pixels would pop.
static void test_foam_at_rest(void **state)
{
    enum { COUNT = 2400 };
    Film film;
    make_film(&film);
    MoteWorld *world = make_pool();
    const MoteRenderCollider collider = ball();
    MoteRenderScene scene = pool_scene(&collider);
    MoteFoam foam = mote_default_foam();
    foam.amount = 0.0f;
    foam.capacity = COUNT;
    MUST(mote_world_set_foam(world, &foam));
    static float rows[8 * COUNT];
    uint32_t random = 7;
    for (uint32_t i = 0; i < COUNT; i++) {
        float unit[4];
        for (int k = 0; k < 4; k++) {
            random = random * 1664525u + 1013904223u;
            unit[k] = (float)(random >> 8) / 16777216.0f;
        }
        const float place[4] = {0.76f * (unit[0] - 0.5f), 0.235f + 0.015f * unit[1], 0.76f * (unit[2] - 0.5f),
                                0.15f + 1.2f * unit[3]};
        memcpy(rows + 4 * (size_t)i, place, sizeof place);
        rows[4 * (COUNT + (size_t)i) + 3] = 1.0f; // foam
    }
    MUST(mote_world_add_diffuse(
        world, &(MoteDiffuse){.count = COUNT, .positions = rows, .velocities = rows + 4 * (size_t)COUNT}));
    MoteDiffuseCounts counts;
    for (int step = 0; step < 20; step++) { // until the classes have settled
        MUST(mote_world_step(world, 1.0f / 240.0f));
    }
    static float bare[PIXELS];
    scene.foam.density = 0.0f;
    draw_frame(*state, world, &scene, 1, bare);
    scene.foam.density = 1.0f;
    for (int f = 0; f < FRAMES; f++) {
        draw_frame(*state, world, &scene, 1, film.luma[f]);
        MUST(mote_world_steps(world, 1.0f / 240.0f, 4, NULL));
    }
    MUST(mote_world_diffuse_counts(world, &counts));
    uint32_t covered = 0;
    for (uint32_t i = 0; i < PIXELS; i++) {
        covered += fabsf(bare[i] - film.luma[0][i]) > 0.05f;
    }
    const Flicker all = measure(&film, NULL);
    show("foam on a pool at rest", all);
    printf("%u pixels are covered, %u particles died\n", covered, counts.dead);
    assert_true(covered > 3000 && counts.dead > COUNT / 20 && counts.present > COUNT / 2);
    assert_true(all.flicker < 0.0003 && all.popping < 0.0002);
    mote_world_destroy(world);
    end_film(&film);
}

// Something still, and a camera that moves by about half a pixel a picture.
static Flicker film_slowly(MoteRenderer *renderer, MoteWorld *world, MoteRenderScene scene, uint32_t samples,
                           const char *what)
{
    Film film;
    make_film(&film);
    const MoteVec3 begin = scene.camera.position;
    for (int f = 0; f < FRAMES; f++) {
        const double angle = 0.0012 * f;
        scene.camera.position = (MoteVec3){(float)(begin.x * cos(angle) - begin.z * sin(angle)), begin.y,
                                           (float)(begin.x * sin(angle) + begin.z * cos(angle))};
        draw_frame(renderer, world, &scene, samples, film.luma[f]);
    }
    const Flicker found = measure(&film, NULL);
    show(what, found);
    end_film(&film);
    return found;
}

static void test_slow_camera(void **state)
{
    MoteWorld *pool = make_pool(), *heap = make_heap();
    const MoteRenderCollider collider = ball();
    MoteRenderScene scene = pool_scene(&collider);
    const Flicker one = film_slowly(*state, pool, scene, 1, "slow camera, pool");
    const Flicker eight = film_slowly(*state, pool, scene, 8, "slow camera, pool, 8 samples");
    const Flicker sand = film_slowly(*state, heap, scene, 1, "slow camera, heap");
    const Flicker sand_eight = film_slowly(*state, heap, scene, 8, "slow camera, heap, 8 samples");
    scene.picture.antialias = false;
    const Flicker hard = film_slowly(*state, heap, scene, 1, "slow camera, heap, hard edges");
    assert_true(one.flicker < 0.0007 && one.popping < 0.0003);
    assert_true(eight.flicker < one.flicker && eight.popping < 0.0003);
    assert_true(sand.flicker < 0.0018 && sand.popping < 0.0005);
    assert_true(sand_eight.flicker < 0.7 * sand.flicker && sand_eight.popping < 0.0001);
    assert_true(hard.popping > 4.0 * sand.popping); // which edges of one sample are smoothed for
    mote_world_destroy(pool);
    mote_world_destroy(heap);
}

// A single drop that flies away makes the box around the particles grow, which the sun's maps are laid over: shadows of
// what stays must not jump when they do.
static void test_growing_box(void **state)
{
    Film film;
    make_film(&film);
    const MoteRenderCollider collider = ball();
    MoteRenderScene scene = pool_scene(&collider);
    MoteVec3 points[2] = {{-0.4f, 0.05f, -0.4f}, {-0.5f, 0.4f, -0.5f}};
    for (int f = 0; f < FRAMES; f++) {
        points[1].y = 0.4f + 0.12f * (float)f; // out of the picture soon
        MoteWorld *world = make_world("cpu", NULL, 0.05f, 2.0f, points, 2);
        draw_frame(*state, world, &scene, 1, film.luma[f]);
        mote_world_destroy(world);
    }
    static bool right[PIXELS];
    for (uint32_t i = 0; i < PIXELS; i++) {
        right[i] = i % WIDTH > WIDTH / 2; // the ball and its shadow
    }
    const Flicker found = measure(&film, right);
    show("a drop flies away: the ball", found);
    assert_true(found.flicker < 0.00011 && found.largest < 0.075);
    end_film(&film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_at_rest),
        cmocka_unit_test(test_foam_at_rest),
        cmocka_unit_test(test_slow_camera),
        cmocka_unit_test(test_growing_box),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
