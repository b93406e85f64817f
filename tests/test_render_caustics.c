// SPDX-License-Identifier: MIT
// The map of caustics: a flat pool leaves (1 - F) exp(-sigma L) of the sun, waves move light and lose none, and a crest
// of radius R focuses at n R / (n - 1) below itself.
#include "render_fixture.h"

enum { SIZE = CAUSTICS_SIZE };
#define PI         3.14159265358979323846
#define REFRACTION 1.33

// The liquid's height over a place.
typedef double Height(double x, double z);

// Columns of particles below a surface, down to 0, `half` to both sides of the middle.
static MoteWorld *make_pool(Height height, double half, double spacing)
{
    const int side = (int)lround(2.0 * half / spacing);
    uint32_t count = 0;
    MoteVec3 *points = NULL;
    for (int i = 0; i < side * side; i++) {
        const double x = (i % side + 0.5) * spacing - half, z = ((double)(i / side) + 0.5) * spacing - half;
        for (double y = height(x, z) - 0.5 * spacing; y > 0.0; y -= spacing) {
            if (count % 1024 == 0) {
                points = realloc(points, (count + 1024) * sizeof *points);
            }
            points[count++] = (MoteVec3){(float)x, (float)y, (float)z};
        }
    }
    MoteWorld *world = make_world("cpu", NULL, (float)spacing, 2.0f, points, count);
    free(points);
    return world;
}

static MoteRenderScene pool_scene(const MoteRenderMaterial *water, double elevation)
{
    MoteRenderScene scene = make_scene((MoteVec3){0, 3, 3}, (MoteVec3){0, 0, 0}, 40.0f);
    scene.ground.visible = true;
    scene.liquid.caustics = 1.0f;
    scene.liquid.anisotropy = false;
    scene.liquid.refraction = (float)REFRACTION;
    scene.sky.sun_elevation = (float)elevation;
    scene.sky.sun_azimuth = 90.0f;
    scene.materials = water;
    scene.material_count = 1;
    return scene;
}

// Light, and the depth of the surface, of each texel; free() it.
static vec4 *draw_map(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene)
{
    MUST(mote_renderer_draw(renderer, world, scene, &(MotePicture){.width = 64, .height = 64, .samples = 1}));
    const SimplePass *pass = renderer->states[PASS_caustics];
    return read_buffer(renderer, &pass->buffer, (size_t)SIZE * SIZE * sizeof(vec4));
}

// Where a place is in the map, in texels.
static vec2 texel_of(const FrameConstants *c, double x, double y, double z)
{
    const float *m = c->sun_projection.columns;
    const double u = m[0] * x + m[4] * y + m[8] * z + m[12], v = m[1] * x + m[5] * y + m[9] * z + m[13];
    return (vec2){(float)((u - c->caustics_map.x) * c->caustics_map.z),
                  (float)((v - c->caustics_map.y) * c->caustics_map.z)};
}

// The mean over a square around a place, `reach` texels to all sides; `most` is the largest of the reds.
static vec4 mean_around(const vec4 *map, vec2 place, int reach, float *most)
{
    vec4 sum = {0, 0, 0, 0};
    const int width = 2 * reach + 1;
    for (int k = 0; k < width * width; k++) {
        const int x = (int)place.x - reach + k % width, y = (int)place.y - reach + k / width;
        assert_true(x >= 0 && x < SIZE && y >= 0 && y < SIZE);
        const vec4 texel = map[y * SIZE + x];
        sum = (vec4){sum.x + texel.x, sum.y + texel.y, sum.z + texel.z, sum.w + texel.w};
        *most = fmaxf(*most, texel.x);
    }
    const float share = 1.0f / (float)(width * width);
    return (vec4){sum.x * share, sum.y * share, sum.z * share, sum.w * share};
}

static double fresnel(double in)
{
    const double out = asin(sin(in) / REFRACTION);
    if (in < 1e-6) {
        return pow((REFRACTION - 1.0) / (REFRACTION + 1.0), 2.0);
    }
    const double s = sin(in - out) / sin(in + out), p = tan(in - out) / tan(in + out);
    return 0.5 * (s * s + p * p);
}

static double flat(double x, double z)
{
    (void)x, (void)z;
    return 0.4;
}

// The smoothed surface of a lattice lies up to 0.3 spacings above the liquid's own, since spheres of 0.8 spacings make
// it.
static void flat_pools_absorb(void **state)
{
    MoteRenderer *renderer = *state;
    const double spacing = 0.05;
    MoteWorld *world = make_pool(flat, 1.0, spacing);
    const double elevations[] = {90.0, 60.0, 40.0};
    for (int k = 0; k < 6; k++) {
        const MoteRenderMaterial water = {.color = {0.2f, 0.5f, 0.9f}, .absorption = k % 2 == 0 ? 0.0f : 1.0f};
        const MoteRenderScene scene = pool_scene(&water, elevations[k / 2]);
        vec4 *map = draw_map(renderer, world, &scene);
        const double in = (90.0 - elevations[k / 2]) * PI / 180.0, out = asin(sin(in) / REFRACTION);
        const double way = (flat(0, 0) + 0.2 * spacing) / cos(out);
        float most = 0.0f;
        const vec4 found = mean_around(map, texel_of(&renderer->frame.constants, 0, 0, 0), 8, &most);
        const double values[3] = {found.x, found.y, found.z}, shares[3] = {0.2, 0.5, 0.9};
        for (int c = 0; c < 3; c++) {
            const double sigma = (1.0 - shares[c]) * (double)water.absorption;
            const double expected = (1.0 - fresnel(in)) * exp(-sigma * way);
            if (fabs(values[c] - expected) > 0.012 + 0.01 * sigma) {
                fail_msg("sun at %g degrees, absorption %g: %.5f is left, expected %.5f", elevations[k / 2], sigma,
                         values[c], expected);
            }
        }
        free(map);
    }
    mote_world_destroy(world);
}

static double waves(double x, double z)
{
    return 0.4 + 0.03 * sin(8.0 * x) * cos(7.0 * z);
}

static void waves_lose_no_light(void **state)
{
    MoteRenderer *renderer = *state;
    const MoteRenderMaterial water = {.color = {0.2f, 0.5f, 0.9f}};
    MoteWorld *world = make_pool(waves, 1.0, 0.05);
    const MoteRenderScene scene = pool_scene(&water, 90.0);
    vec4 *map = draw_map(renderer, world, &scene);
    double light = 0.0, entered = 0.0, most = 0.0, least = 2.0;
    uint32_t liquid = 0;
    for (int i = 0; i < SIZE * SIZE; i++) {
        light += (double)map[i].x;
        entered += map[i].w > 0.0f ? 1.0 - fresnel(0.0) : 1.0;
        liquid += map[i].w > 0.0f;
        most = fmax(most, (double)map[i].x);
        least = fmin(least, (double)map[i].x);
    }
    assert_true(liquid > SIZE * SIZE / 20);
    assert_true(most > 1.5 && least < 0.9);
    if (fabs((light - entered) / (entered - (double)(SIZE * SIZE - (int)liquid))) > 0.01) {
        fail_msg("%.1f texels of light, expected %.1f", light, entered);
    }
    free(map);
    mote_world_destroy(world);
}

#define CREST_RADIUS 0.8
#define CREST_TOP    4.8

static double crest(double x, double z)
{
    return CREST_TOP - fmin(x * x + z * z, 0.04) / (2.0 * CREST_RADIUS);
}

// The brightest point below the crest, over the ground's distance from its top.
static void crests_focus(void **state)
{
    MoteRenderer *renderer = *state;
    const MoteRenderMaterial water = {.color = {0.2f, 0.5f, 0.9f}};
    MoteWorld *world = make_pool(crest, 0.33, 0.03);
    double brightest = 0.0, focus = 0.0;
    for (double distance = 2.5; distance <= 5.75; distance += 0.25) {
        MoteRenderScene scene = pool_scene(&water, 90.0);
        scene.ground.height = (float)(CREST_TOP - distance * CREST_RADIUS);
        vec4 *map = draw_map(renderer, world, &scene);
        float most = 0.0f;
        mean_around(map, texel_of(&renderer->frame.constants, 0, 0, 0), 20, &most);
        if ((double)most > brightest) {
            brightest = (double)most;
            focus = distance;
        }
        free(map);
    }
    const double expected = REFRACTION / (REFRACTION - 1.0); // radii
    if (brightest < 10.0 || fabs(focus / expected - 1.0) > 0.1) {
        fail_msg("light is %.1f times as bright at %.2f radii, expected at %.2f", brightest, focus, expected);
    }
    mote_world_destroy(world);
}

// Before the water and beside it sunlight is as it was, and none of the memory is touched where nothing is wanted.
static void elsewhere_nothing_changes(void **state)
{
    MoteRenderer *renderer = *state;
    const MoteRenderMaterial water = {.color = {0.2f, 0.5f, 0.9f}, .absorption = 1.0f};
    MoteWorld *world = make_pool(flat, 0.5, 0.05);
    MoteRenderScene scene = pool_scene(&water, 60.0);
    vec4 *map = draw_map(renderer, world, &scene);
    float most = 0.0f;
    const vec4 beside = mean_around(map, (vec2){20.5f, 20.5f}, 3, &most);
    assert_true(beside.x == 1.0f && beside.y == 1.0f && beside.z == 1.0f && beside.w == 0.0f);
    free(map);
    scene.sky.sun_brightness = 0.0f;
    free(draw_map(renderer, world, &scene));
    assert_true(renderer->frame.constants.caustics_map.w == 0.0f);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_pools_absorb),
        cmocka_unit_test(waves_lose_no_light),
        cmocka_unit_test(crests_focus),
        cmocka_unit_test(elsewhere_nothing_changes),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
