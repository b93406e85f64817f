// SPDX-License-Identifier: MIT
// Smoke in pictures against closed forms: optical depth and single scattering of a slab, its shadow on the ground, the
// light of a black body, what a uniform sky leaves; before, behind and between solids, glass and liquid; the same
// picture for any order of the particles.
#include "render_fixture.h"

#include "mote_diffuse.h"
#include "render_views.h"

enum { WIDTH = 96, HEIGHT = 72, PIXELS = WIDTH * HEIGHT };
static const double PI = 3.14159265358979323846;
static const float SPACING = 0.1f;

// ---- Worlds ------------------------------------------------------------------------------------------------

typedef struct Smoke {
    uint32_t count;
    float *positions, *velocities, *smoke; // of mote_diffuse.h
} Smoke;

static Smoke make_smoke(uint32_t count)
{
    return (Smoke){count, calloc(count, 16), calloc(count, 16), calloc(count, 16)};
}

static void set_particle(const Smoke *smoke, uint32_t i, float x, float y, float z, float temperature)
{
    const float place[4] = {x, y, z, 5.0f}, what[4] = {0.0f, 0.0f, temperature, 1.0f};
    memcpy(smoke->positions + 4 * (size_t)i, place, sizeof place);
    memcpy(smoke->smoke + 4 * (size_t)i, what, sizeof what);
    smoke->velocities[4 * (size_t)i + 3] = 3.0f;
}

// On a grid of this distance, `layers` of them from y = low on; as wide as high.
static Smoke make_slab(uint32_t side, uint32_t layers, float distance, float low, float temperature)
{
    const Smoke slab = make_smoke(side * side * layers);
    for (uint32_t i = 0; i < slab.count; i++) {
        const uint32_t x = i % side, z = i / side % side, y = i / (side * side);
        // Layers are shifted against each other, or the grid would beat with the cells.
        const float middle = 0.5f * (float)(side - 1), turn = (float)y / (float)layers, across = 2.0f * turn;
        set_particle(&slab, i, distance * ((float)x - middle + turn), low + distance * ((float)y + 0.5f),
                     distance * ((float)z - middle + across - floorf(across)), temperature);
    }
    return slab;
}

// Takes the smoke. The liquid, if any, is a slab around the origin.
static MoteWorld *make_smoky_world(Smoke smoke, bool liquid, bool backwards)
{
    enum { ROWS = 22 };
    static MoteVec3 points[ROWS * ROWS * 3];
    for (uint32_t i = 0; i < ROWS * ROWS * 3; i++) {
        points[i] =
            (MoteVec3){SPACING * ((float)(i % ROWS) - 0.5f * ROWS), SPACING * ((float)(i / (ROWS * ROWS)) - 1.0f),
                       SPACING * ((float)(i / ROWS % ROWS) - 0.5f * ROWS)};
    }
    points[0] = liquid ? points[0] : (MoteVec3){500, 0, 0};
    MoteWorld *world = make_world("cpu", NULL, SPACING, 2.0f, points, liquid ? ROWS * ROWS * 3 : 1);
    MoteFoam foam = mote_default_foam();
    foam.capacity = smoke.count;
    foam.amount = 0.0f;
    MUST(mote_world_set_foam(world, &foam));
    for (uint32_t i = 0; backwards && i < smoke.count / 2; i++) {
        float *arrays[3] = {smoke.positions, smoke.velocities, smoke.smoke};
        for (int k = 0; k < 3; k++) {
            float swap[4], *a = arrays[k] + 4 * (size_t)i, *b = arrays[k] + 4 * (size_t)(smoke.count - 1 - i);
            memcpy(swap, a, sizeof swap);
            memcpy(a, b, sizeof swap);
            memcpy(b, swap, sizeof swap);
        }
    }
    MUST(mote_world_add_diffuse(world, &(MoteDiffuse){.count = smoke.count,
                                                      .positions = smoke.positions,
                                                      .velocities = smoke.velocities,
                                                      .smoke = smoke.smoke}));
    free(smoke.positions);
    free(smoke.velocities);
    free(smoke.smoke);
    return world;
}

// ---- Scenes ------------------------------------------------------------------------------------------------

// A uniform sky of this radiance, and a sun of this irradiance.
static MoteRenderScene smoke_scene(MoteVec3 eye, MoteVec3 target, float sky, float sun)
{
    MoteRenderScene scene = make_scene(eye, target, 20.0f);
    scene.picture.antialias = false;
    scene.picture.multisampling = 1;
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){1, 1, 1};
    scene.sky.brightness = sky;
    scene.sky.sun_color = (MoteVec3){1, 1, 1};
    scene.sky.sun_brightness = sun;
    scene.sky.sun_elevation = 90.0f;
    scene.smoke.growth = 0.0f;
    scene.smoke.fade = 0.0f;
    scene.smoke.octaves = 1;
    scene.smoke.asymmetry = 0.0f;
    scene.smoke.fire = 0.0f;
    scene.smoke.radius = 1.5f;
    scene.smoke.cell = 4.0f;
    scene.smoke.color = scene.smoke.hot_color = (MoteVec3){1, 1, 1};
    return scene;
}

// The density of smoke whose slab of this many layers has optical depth `tau`: n sigma V d, with sigma V the
// cross-section 2/3 pi density r^2 of a particle and one of them in each cube of the grid.
static float density_for(double tau, uint32_t layers, double distance, const MoteRenderScene *scene)
{
    const double radius = (double)(scene->smoke.radius * SPACING);
    return (float)(tau * distance * distance / (layers * 2.0 / 3.0 * PI * radius * radius));
}

static void draw_smoke(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene, const char *layer,
                       float *out)
{
    MotePicture picture = mote_default_picture();
    picture.width = WIDTH;
    picture.height = HEIGHT;
    picture.layers = true;
    MUST(mote_renderer_draw(renderer, world, scene, &picture));
    MUST(mote_renderer_read_layer(renderer, layer, out));
}

// The mean of a component of a layer of four over the middle ninth of the picture.
static double middle_mean(const float *values, int component)
{
    double sum = 0.0;
    int count = 0;
    for (int y = HEIGHT / 3; y < 2 * HEIGHT / 3; y++) {
        for (int x = WIDTH / 3; x < 2 * WIDTH / 3; x++, count++) {
            sum += (double)values[4 * (y * WIDTH + x) + component];
        }
    }
    return sum / count;
}

static void expect_near(const char *what, double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance * fabs(expected))) {
        fail_msg("%s: %.6g, expected %.6g within %g", what, found, expected, tolerance);
    }
}

enum { SIDE = 44, LAYERS = 6 };
static const float DISTANCE = 0.08f;
static const MoteVec3 ABOVE = {0, 9, 0}, ORIGIN = {0, 0, 0};
static float values[4 * PIXELS], others[4 * PIXELS];

// ---- Slabs -------------------------------------------------------------------------------------------------

static void a_slab_has_its_optical_depth(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 0, 0), false, false);
    MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 0, 1);
    const double depths[] = {0.1, 1.0, 4.0};
    const float radii[] = {0.5f, 1.5f, 3.0f}; // on the finest level and on coarser ones
    for (int k = 0; k < 9; k++) {
        const double tau = depths[k % 3];
        scene.smoke.radius = radii[k / 3];
        scene.smoke.density = density_for(tau, LAYERS, (double)DISTANCE, &scene);
        draw_smoke(renderer, world, &scene, "smoke", values);
        for (size_t i = 0; i < PIXELS; i++) {
            values[4 * i + 3] = -logf(values[4 * i + 3]);
        }
        expect_near("optical depth", middle_mean(values, 3), tau, 0.01);
    }
    mote_world_destroy(world);
}

// The ground under a slab, seen from between the two: what the sun's light volume leaves.
static void the_ground_is_in_its_shadow(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 5, 0), false, false);
    MoteRenderScene scene = smoke_scene((MoteVec3){0, 3, 0}, ORIGIN, 0, 1);
    scene.ground.visible = true;
    scene.ground.grid = 0.0f;
    const double depths[] = {0.3, 1.0, 2.5};
    for (int k = 0; k < 3; k++) {
        scene.smoke.density = 0.0f;
        draw_smoke(renderer, world, &scene, "color", values);
        const double bare = middle_mean(values, 0);
        scene.smoke.density = density_for(depths[k], LAYERS, (double)DISTANCE, &scene);
        draw_smoke(renderer, world, &scene, "color", values);
        assert_true(bare > 0.05);
        expect_near("light below", middle_mean(values, 0) / bare, exp(-depths[k]), 0.01);
    }
    mote_world_destroy(world);
}

// L = w p E / (1 + 1/mu) (1 - exp(-tau (1 + 1/mu))), seen along the normal.
static void a_slab_scatters_light_once(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 0, 0), false, false);
    MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 0, 2);
    const double albedo = 0.8;
    scene.smoke.radius = 0.5f; // far less than light goes between two encounters
    scene.smoke.color = (MoteVec3){(float)albedo, (float)albedo, (float)albedo};
    const struct {
        float elevation, asymmetry;
        double tau;
    } cases[] = {{90, 0, 0.5}, {90, 0.4f, 2.0}, {40, 0.4f, 1.0}, {55, -0.3f, 3.0}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        scene.sky.sun_elevation = cases[k].elevation;
        scene.smoke.asymmetry = cases[k].asymmetry;
        scene.smoke.density = density_for(cases[k].tau, LAYERS, (double)DISTANCE, &scene);
        const double mu = sin((double)cases[k].elevation * PI / 180.0), g = (double)cases[k].asymmetry;
        const double p = (1.0 - g * g) / (4.0 * PI * pow(1.0 + g * g + 2.0 * g * mu, 1.5)); // turned back by acos(-mu)
        const double way = 1.0 + 1.0 / mu;
        draw_smoke(renderer, world, &scene, "smoke", values);
        expect_near("scattered once", middle_mean(values, 1), albedo * p * 2.0 / way * (1.0 - exp(-cases[k].tau * way)),
                    0.03);
    }
    mote_world_destroy(world);
}

// Wien's law at three wavelengths, of smoke that absorbs all.
static void hot_smoke_glows(void **state)
{
    MoteRenderer *renderer = *state;
    const double kelvin[] = {1800.0, 1300.0, 500.0};
    for (int k = 0; k < 3; k++) {
        const Smoke slab = make_slab(SIDE, LAYERS, DISTANCE, 0, (float)(kelvin[k] - 293.0));
        MoteWorld *world = make_smoky_world(slab, false, false);
        MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 0, 0);
        scene.smoke.color = scene.smoke.hot_color = (MoteVec3){0, 0, 0};
        scene.smoke.fire = 12.0f;
        scene.smoke.density = density_for(2.0, LAYERS, (double)DISTANCE, &scene);
        draw_smoke(renderer, world, &scene, "smoke", values);
        const double at_1800[] = {1.0, 0.401, 0.065}, rates[] = {23586.0, 26160.0, 30942.0};
        for (int c = 0; c < 3; c++) {
            const double body = 12.0 * at_1800[c] * exp(rates[c] * (1.0 / 1800.0 - 1.0 / kelvin[k]));
            expect_near("glow", middle_mean(values, c), body * (1.0 - exp(-2.0)), 0.02);
        }
        scene.smoke.fire = 0.0f;
        draw_smoke(renderer, world, &scene, "smoke", values);
        assert_true(middle_mean(values, 0) == 0.0);
        mote_world_destroy(world);
    }
}

// A small fire lights the ground as a lamp of its radiant intensity, cross-section times the black body's radiance,
// does: E = I cos / r^2.
static void fire_lights_the_ground(void **state)
{
    MoteRenderer *renderer = *state;
    const float places[2][2] = {{0, 4}, {3, 4}};
    for (int k = 0; k < 2; k++) {
        Smoke smoke = make_smoke(3);
        for (uint32_t i = 0; i < 3; i++) {
            set_particle(&smoke, i, places[k][0], places[k][1], 0, 1800 - 293);
        }
        MoteWorld *world = make_smoky_world(smoke, false, false);
        MoteRenderScene scene = smoke_scene((MoteVec3){0, 2, 0}, ORIGIN, 0, 0);
        scene.ground.visible = true;
        scene.ground.grid = 0.0f;
        scene.ground.color = (MoteVec3){0.5f, 0.5f, 0.5f};
        scene.smoke.color = scene.smoke.hot_color = (MoteVec3){0, 0, 0};
        scene.smoke.density = 0.01f;
        scene.smoke.fire = 5e4f;
        draw_smoke(renderer, world, &scene, "color", values);
        const double radius = (double)(scene.smoke.radius * SPACING), x = places[k][0], y = places[k][1];
        const double section = 3.0 * 2.0 / 3.0 * PI * 0.01 * radius * radius, squared = x * x + y * y;
        const double lit = 5e4 * section * y / sqrt(squared) / squared * 0.5 / PI;
        const double colors[3] = {1.0, 0.401, 0.065};
        for (int c = 0; c < 3; c++) {
            expect_near("light of fire", middle_mean(values, c), lit * colors[c], 0.02);
        }
        scene.smoke.fire = 0.0f;
        draw_smoke(renderer, world, &scene, "color", values);
        assert_true(middle_mean(values, 0) == 0.0);
        mote_world_destroy(world);
    }
}

// Under a sky that is the same everywhere, what scatters all light is as bright as the sky; what absorbs is darker, and
// the more so the thicker it is.
static void the_sky_is_not_outshone(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 0, 0), false, false);
    MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 1, 0);
    const double depths[] = {0.02, 0.5, 5.0};
    for (int grey = 0; grey < 2; grey++) {
        const float albedo = grey != 0 ? 0.6f : 1.0f;
        scene.smoke.color = (MoteVec3){albedo, albedo, albedo};
        double last = (double)albedo;
        for (int k = 0; k < 3; k++) {
            scene.smoke.density = density_for(depths[k], LAYERS, (double)DISTANCE, &scene);
            draw_smoke(renderer, world, &scene, "smoke", values);
            const double share = middle_mean(values, 0) / (1.0 - middle_mean(values, 3));
            if (grey == 0) {
                expect_near("white smoke under a white sky", share, 1.0, 0.01);
            } else {
                assert_true(share < last * 1.001 && share > 0.1);
                last = k == 0 ? share : 0.8 * share;
            }
            for (size_t i = 0; i < PIXELS; i++) {
                const float *v = values + 4 * i;
                assert_true(v[0] >= 0.0f && v[3] >= 0.0f && v[3] <= 1.0f && v[0] <= 1.01f * (1.0f - v[3]) + 1e-6f);
            }
        }
    }
    mote_world_destroy(world);
}

// ---- With other things -------------------------------------------------------------------------------------

// A solid in the middle of a slab: half of it is before the solid.
static void solids_are_in_smoke(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 0, 0), false, false);
    MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 1, 0);
    MoteRenderCollider block = mote_default_render_collider();
    block.collider.kind = MOTE_COLLIDER_BOX;
    block.collider.half_size = (MoteVec3){3, 0.5f, 3};
    block.collider.to.position.y = 0.5f * LAYERS * DISTANCE - 0.5f;
    block.collider.from = block.collider.to;
    scene.colliders = &block;
    scene.collider_count = 1;
    scene.smoke.density = density_for(2.0, LAYERS, (double)DISTANCE, &scene);
    draw_smoke(renderer, world, &scene, "smoke", values);
    expect_near("optical depth before a solid", -log(middle_mean(values, 3)), 1.0, 0.02);
    mote_world_destroy(world);
}

// What is drawn behind smoke is what is drawn without, times the transmittance, and the smoke's light: for a pane of
// glass and for liquid.
static void glass_and_liquid_are_behind_smoke(void **state)
{
    MoteRenderer *renderer = *state;
    for (int liquid = 0; liquid < 2; liquid++) {
        MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 1, 0), liquid != 0, false);
        MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 0.7f, 0);
        scene.ground.visible = true;
        scene.ground.height = -3.0f;
        scene.ground.grid = 0.0f;
        scene.liquid.shadow = 0.0f;
        MoteRenderCollider pane = mote_default_render_collider();
        pane.collider.kind = MOTE_COLLIDER_BOX;
        pane.collider.half_size = (MoteVec3){2, 0.02f, 2};
        pane.collider.from = pane.collider.to;
        pane.look = MOTE_LOOK_GLASS;
        scene.colliders = &pane;
        scene.collider_count = liquid != 0 ? 0 : 1;
        scene.smoke.density = 0.0f;
        draw_smoke(renderer, world, &scene, "color", others);
        const double bare = middle_mean(others, 0);
        scene.smoke.density = density_for(1.0, LAYERS, (double)DISTANCE, &scene);
        draw_smoke(renderer, world, &scene, "color", others);
        MUST(mote_renderer_read_layer(renderer, "smoke", values));
        const double light = middle_mean(values, 0), left = middle_mean(values, 3);
        expect_near("transmittance", left, exp(-1.0), 0.01);
        expect_near(liquid != 0 ? "liquid behind smoke" : "glass behind smoke", middle_mean(others, 0),
                    light + left * bare, 0.01);
        mote_world_destroy(world);
    }
}

// Smoke behind a pane is seen through it: the pane's own light is not dimmed, and there is no smoke before it.
static void smoke_is_behind_glass_and_liquid(void **state)
{
    MoteRenderer *renderer = *state;
    for (int liquid = 0; liquid < 2; liquid++) {
        MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, -2.5f, 0), liquid != 0, false);
        MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 0.7f, 0);
        scene.ground.visible = true;
        scene.ground.height = -3.0f;
        scene.ground.grid = 0.0f;
        scene.ground.color = (MoteVec3){0, 0, 0};
        MoteRenderCollider pane = mote_default_render_collider();
        pane.collider.kind = MOTE_COLLIDER_BOX;
        pane.collider.half_size = (MoteVec3){2, 0.02f, 2};
        pane.collider.from = pane.collider.to;
        pane.look = MOTE_LOOK_GLASS;
        scene.colliders = &pane;
        const double tau = 1.5;
        double lights[2][2]; // without and with smoke; without and with what is before it
        for (int before = 0; before < 2; before++) {
            scene.collider_count = before != 0 && liquid == 0 ? 1 : 0;
            scene.liquid.visible = before != 0;
            for (int smoky = 0; smoky < 2; smoky++) {
                scene.smoke.density = smoky != 0 ? density_for(tau, LAYERS, (double)DISTANCE, &scene) : 0.0f;
                draw_smoke(renderer, world, &scene, "color", others);
                lights[smoky][before] = middle_mean(others, 0);
            }
        }
        // What is before the smoke lets through the same share of its light as of the ground's: none is darker than
        // black.
        const double added = lights[1][0] - lights[0][0], seen = lights[1][1] - lights[0][1];
        assert_true(added > 0.1 && seen > 0.05 * added && seen < added);
        if (liquid == 0) {
            expect_near("through a pane", seen / added, 0.815, 0.01);
            MUST(mote_renderer_read_layer(renderer, "smoke", values));
        } else {
            MUST(mote_renderer_read_layer(renderer, "smoke", values));
            expect_near("transmittance of what is behind liquid", middle_mean(values, 3), 1.0, 0.001);
        }
        mote_world_destroy(world);
    }
}

// ---- Any order, any number of cells ------------------------------------------------------------------------

static Smoke make_cloud(uint32_t count)
{
    const Smoke cloud = make_smoke(count);
    uint32_t bits = 4321;
    for (uint32_t i = 0; i < count; i++) {
        float at[4];
        for (int k = 0; k < 4; k++) {
            bits = bits * 1664525u + 1013904223u;
            at[k] = (float)(bits >> 8) / 16777216.0f - 0.5f;
        }
        const float r = 0.4f + at[3];
        set_particle(&cloud, i, r * at[0] + 0.3f * at[3], r * at[1], 1.5f * r * at[2], 1200.0f * (0.5f + at[3]));
        cloud.smoke[4 * (size_t)i] = 4.0f * (0.5f + at[1]); // of all sizes and ages
        cloud.smoke[4 * (size_t)i + 1] = 5.0f;
    }
    return cloud;
}

static MoteRenderScene cloud_scene(void)
{
    MoteRenderScene scene = smoke_scene((MoteVec3){1, 0.5f, 4}, ORIGIN, 0.5f, 2);
    scene.sky.sun_elevation = 35.0f;
    scene.smoke = mote_default_render_scene().smoke;
    scene.smoke.density = 0.3f;
    scene.smoke.growth = 1.0f;
    scene.smoke.cell = 4.0f;
    scene.ground.visible = true;
    scene.ground.height = -0.6f;
    return scene;
}

static void pictures_do_not_depend_on_the_order(void **state)
{
    MoteRenderer *renderer = *state;
    static float pictures[3][4 * PIXELS], layers[3][4 * PIXELS];
    MoteRenderScene scene = cloud_scene();
    for (int mode = 0; mode <= MOTE_SMOKE_SPLATS; mode++) {
        scene.smoke.mode = (MoteSmokeMode)mode;
        for (int k = 0; k < 3; k++) { // and the same one twice
            MoteWorld *world = make_smoky_world(make_cloud(3000), false, k == 2);
            draw_smoke(renderer, world, &scene, "smoke", layers[k]);
            MUST(mote_renderer_read_layer(renderer, "color", pictures[k]));
            mote_world_destroy(world);
        }
        assert_true(middle_mean(layers[0], 3) < 0.8 && middle_mean(layers[0], 0) > 0.05);
        for (size_t i = 0; i < 4 * PIXELS; i++) {
            assert_true(layers[0][i] >= 0.0f && isfinite(layers[0][i])); // no negative light
        }
        for (int k = 1; k < 3; k++) {
            assert_memory_equal(layers[0], layers[k], sizeof layers[0]);
            assert_memory_equal(pictures[0], pictures[k], sizeof pictures[0]);
        }
    }
}

static void more_cells_change_little(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_cloud(3000), false, false);
    MoteRenderScene scene = cloud_scene();
    scene.smoke.fire = 0.0f; // its light is of mean temperatures: in larger cells hot and cold are mixed
    draw_smoke(renderer, world, &scene, "smoke", values);
    const struct {
        float cell;
        uint32_t slices;
    } finer[] = {{4.0f, 128}, {2.0f, 128}};
    for (int k = 0; k < 2; k++) {
        scene.smoke.cell = finer[k].cell;
        scene.smoke.slices = finer[k].slices;
        draw_smoke(renderer, world, &scene, "smoke", others);
        double difference = 0.0, light = 0.0, lost = 0.0;
        for (size_t i = 0; i < PIXELS; i++) {
            difference += fabs((double)values[4 * i + 1] - (double)others[4 * i + 1]);
            lost += fabs((double)values[4 * i + 3] - (double)others[4 * i + 3]);
            light += (double)values[4 * i + 1];
        }
        expect_near("light of all", middle_mean(others, 1), middle_mean(values, 1), 0.02);
        assert_true(difference / light < (k == 0 ? 0.02 : 0.04) && lost / PIXELS < 0.01);
    }
    mote_world_destroy(world);
}

// ---- Sprites -----------------------------------------------------------------------------------------------

typedef struct Sprite {
    uint32_t key, id, slot, unused;
} Sprite;

// The device's sort against the host's: from the farthest to the nearest, and by id where two are equally far.
static void sprites_are_sorted(void **state)
{
    MoteRenderer *renderer = *state;
    enum { COUNT = 700 }; // no power of two
    Smoke smoke = make_cloud(COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        smoke.positions[4 * i + 2] = 0.125f * roundf(8.0f * smoke.positions[4 * i + 2]); // many are equally far
    }
    float depths[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        depths[i] = 4.0f - smoke.positions[4 * i + 2];
    }
    MoteWorld *world = make_smoky_world(smoke, false, false);
    MoteRenderScene scene = cloud_scene();
    scene.smoke.mode = MOTE_SMOKE_SPLATS;
    scene.camera.position = (MoteVec3){0, 0, 4};
    scene.camera.field_of_view = 60.0f;
    draw_smoke(renderer, world, &scene, "color", values);
    const SimplePass *pass = renderer->states[PASS_smoke_sprites];
    Sprite *rows = read_buffer(renderer, &pass->buffer, (1 + COUNT) * sizeof *rows);
    bool seen[COUNT] = {0};
    assert_int_equal(rows[0].key, COUNT); // how many are seen
    for (uint32_t i = 0; i < COUNT; i++) {
        const Sprite *here = &rows[1 + i];
        assert_true(here->slot < COUNT && !seen[here->slot]);
        seen[here->slot] = true;
        if (i > 0) {
            const float before = depths[rows[i].slot], own = depths[here->slot];
            assert_true(before > own || (before == own && rows[i].id < here->id));
        }
    }
    free(rows);
    mote_world_destroy(world);
}

// Behind smoke that begins and ends at depths d apart, the share exp(-k d) of the sun's light is left.
static void a_shadow_map_follows_beer_and_lambert(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 5, 0), false, false);
    MoteRenderScene scene = smoke_scene((MoteVec3){0, 3, 0}, ORIGIN, 0, 1);
    scene.ground.visible = true;
    scene.ground.grid = 0.0f;
    scene.smoke.density = 0.0f;
    draw_smoke(renderer, world, &scene, "color", values);
    const double bare = middle_mean(values, 0), thick = (LAYERS - 1) * (double)DISTANCE;
    scene.smoke.density = 0.1f;
    scene.smoke.mode = MOTE_SMOKE_SHADOW_MAP;
    const float rates[] = {0.5f, 2.5f, 6.0f};
    for (int k = 0; k < 3; k++) {
        scene.smoke.extinction = rates[k];
        draw_smoke(renderer, world, &scene, "color", values);
        expect_near("light below", middle_mean(values, 0) / bare, exp(-(double)rates[k] * thick), 0.05);
    }
    mote_world_destroy(world);
}

// Sprites in the light of the volume, and the volume, of a thin slab over the ground.
static void splats_and_volume_agree(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_smoky_world(make_slab(SIDE, LAYERS, DISTANCE, 1, 0), false, false);
    MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 0.5f, 1);
    scene.ground.visible = true;
    scene.smoke.radius = 1.0f;
    scene.smoke.density = density_for(1.0, LAYERS, (double)DISTANCE, &scene);
    draw_smoke(renderer, world, &scene, "smoke", values);
    scene.smoke.mode = MOTE_SMOKE_SPLATS;
    draw_smoke(renderer, world, &scene, "smoke", others);
    expect_near("transmittance of splats", middle_mean(others, 3), exp(-1.0), 0.02);
    expect_near("light of splats", middle_mean(others, 0), middle_mean(values, 0), 0.05);
    mote_world_destroy(world);
}

// ---- Views -------------------------------------------------------------------------------------------------

// Red of a view's pixel in the middle is that of the colour map at a share of its range.
static void views_show_their_values(void **state)
{
    MoteRenderer *renderer = *state;
    Smoke slab = make_slab(SIDE, LAYERS, DISTANCE, 0, 800);
    for (uint32_t i = 0; i < slab.count; i++) {
        slab.smoke[4 * i] = 2.0f;
    }
    MoteWorld *world = make_smoky_world(slab, false, false);
    MoteRenderScene scene = smoke_scene(ABOVE, ORIGIN, 1, 1);
    scene.smoke.density = density_for(1.0, LAYERS, (double)DISTANCE, &scene);
    // Seen from where the sun is, the mean of t exp(-t) over 1 - exp(-1) up to 1.
    const struct {
        const char *view;
        float share;
    } views[] = {{"smoke", 0.25f},
                 {"smoke_age", 0.25f},
                 {"smoke_temperature", 0.4f},
                 {"smoke_sun", (float)((1.0 - 2.0 * exp(-1.0)) / (1.0 - exp(-1.0)) / 4.0)}};
    for (size_t k = 0; k < sizeof views / sizeof views[0]; k++) {
        MotePicture picture = mote_default_picture();
        picture.width = WIDTH;
        picture.height = HEIGHT;
        picture.view = views[k].view;
        MUST(mote_renderer_draw(renderer, world, &scene, &picture));
        static uint8_t pixels[4 * PIXELS];
        MUST(mote_renderer_read_rgba8(renderer, pixels));
        for (uint32_t c = 0; c < 3; c++) {
            const double shown = pixels[4 * (HEIGHT / 2 * WIDTH + WIDTH / 2) + c] / 255.0;
            const double expected = fmin(fmax((double)map_color(MAP_SEQUENTIAL, c, views[k].share), 0.0), 1.0);
            if (fabs(shown - expected) > 0.02) {
                fail_msg("%s: component %u is %g, expected %g", views[k].view, c, shown, expected);
            }
        }
    }
    mote_world_destroy(world);
}

// As a puff grows its optical depth falls with the square of its radius, and its integral stays; at the end of its life
// it thins away.
static void puffs_grow_and_fade(void **state)
{
    MoteRenderer *renderer = *state;
    double sums[4];
    for (int k = 0; k < 4; k++) {
        Smoke smoke = make_smoke(1);
        set_particle(&smoke, 0, 0, 0, 0, 0);
        smoke.smoke[0] = k == 0 ? 0.0f : k == 3 ? 3.0f : 2.0f;
        smoke.smoke[1] = k < 2 ? 0.0f : 4.0f;
        MoteWorld *world = make_smoky_world(smoke, false, false);
        MoteRenderScene scene = smoke_scene((MoteVec3){0, 0, 4}, ORIGIN, 0, 1);
        scene.smoke.growth = 0.5f;
        scene.smoke.fade = k < 2 ? 0.0f : 1.0f;
        scene.smoke.density = 0.1f;
        draw_smoke(renderer, world, &scene, "smoke", values);
        sums[k] = 0.0;
        for (size_t i = 0; i < PIXELS; i++) {
            sums[k] -= log((double)values[4 * i + 3]);
        }
        mote_world_destroy(world);
    }
    const double focal = 0.5 * HEIGHT / tan(10.0 * PI / 180.0), pixels = 0.15 * focal / 4.0;
    expect_near("integral of a puff", sums[0], 0.1 * 2.0 / 3.0 * PI * pixels * pixels, 0.03);
    expect_near("of a grown one", sums[1], sums[0], 0.03);
    expect_near("half-way through its life", sums[2], 0.5 * sums[0], 0.03);
    expect_near("three quarters through", sums[3], 0.15625 * sums[0], 0.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slab_has_its_optical_depth),
        cmocka_unit_test(the_ground_is_in_its_shadow),
        cmocka_unit_test(a_slab_scatters_light_once),
        cmocka_unit_test(hot_smoke_glows),
        cmocka_unit_test(fire_lights_the_ground),
        cmocka_unit_test(the_sky_is_not_outshone),
        cmocka_unit_test(solids_are_in_smoke),
        cmocka_unit_test(glass_and_liquid_are_behind_smoke),
        cmocka_unit_test(smoke_is_behind_glass_and_liquid),
        cmocka_unit_test(pictures_do_not_depend_on_the_order),
        cmocka_unit_test(more_cells_change_little),
        cmocka_unit_test(puffs_grow_and_fade),
        cmocka_unit_test(sprites_are_sorted),
        cmocka_unit_test(a_shadow_map_follows_beer_and_lambert),
        cmocka_unit_test(splats_and_volume_agree),
        cmocka_unit_test(views_show_their_values),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
