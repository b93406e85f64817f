// SPDX-License-Identifier: MIT
// Pictures of small scenes and of every view, compared with those in tests/golden by FLIP. The pictures there
// were drawn by Mesa's software driver and looked at; another version of it, or another device, may round a little
// differently. MOTE_GOLDEN=write writes them anew; what differs is left in the build folder, with a map of where.
#include "golden_fixture.h"
#include "particle_fixture.h"

enum { WIDTH = 320, HEIGHT = 180 };

typedef struct Golden {
    const char *scene, *view;
    uint32_t frame;
} Golden;
static const Golden goldens[] = {
    {"dam_break", "liquid", 30},
    {"double_dam_break", "liquid", 30},
    {"drop_in_pool", "liquid", 40},
    {"fountain", "liquid", 60},
    {"cup", "liquid", 120},
    {"dam_break_2d", "liquid", 30},
    {"two_liquids", "liquid", 45},
    {"dam_break", "particles", 30},
    {"dam_break", "density", 30},
    {"dam_break", "speed", 30},
    {"dam_break", "id", 30},
    {"dam_break", "neighbours", 30},
    {"dam_break", "channel:heat", 30},
    {"dam_break", "ellipsoids", 30},
    {"dam_break", "depth", 30},
    {"dam_break", "smooth_depth", 30},
    {"dam_break", "normals", 30},
    {"dam_break", "thickness", 30},
    {"cup", "colliders", 120},
    {"marbles", "liquid", 45},
    {"flapping_fin", "liquid", 12}, // a mesh that moves
    {"rock_pool", "liquid", 24},    // a mesh that gets wet
    {"wave_tank", "liquid", 70},    // white water
    {"wave_tank", "foam", 70},
    {"wave_tank", "foam_class", 70},
    {"lighthouse", "liquid", 100},
    {"smoke_plume", "liquid", 75},
    {"smoke_cloth", "liquid", 45},
    {"fire", "liquid", 60}, // and its light on the ground
};

typedef struct Drawn {
    MoteScene *scene;
    MoteSimulation *simulation;
    const char *name;
} Drawn;

static void end_simulation(Drawn *drawn)
{
    mote_simulation_destroy(drawn->simulation);
    mote_scene_destroy(drawn->scene);
    *drawn = (Drawn){0};
}

// The portable kernels: their bits do not depend on the processor. A channel for the view of channels: height.
static void start_simulation(MoteRenderer *renderer, Drawn *drawn, const Golden *golden)
{
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/small/%s.json", MOTE_SOURCE_DIR, golden->scene);
    MUST(mote_scene_load(path, NULL, 0, &drawn->scene));
    MUST(mote_simulation_create(drawn->scene, &(MoteBackendOptions){.backend = "cpu", .portable = true},
                                &drawn->simulation));
    const MoteRenderMesh *meshes;
    uint32_t mesh_count;
    MUST(mote_simulation_render_meshes(drawn->simulation, &meshes, &mesh_count));
    MUST(mote_renderer_set_meshes(renderer, meshes, mesh_count));
    for (uint32_t frame = 0; frame < golden->frame; frame++) {
        MUST(mote_simulation_advance_frame(drawn->simulation));
    }
    MoteWorld *world = mote_simulation_world(drawn->simulation);
    MUST(mote_world_add_channel(world, "heat", 1));
    MoteParticleView particles;
    MUST(read_particles(world, &particles));
    float *heat = malloc((particles.count + 1) * sizeof *heat);
    for (uint32_t i = 0; i < particles.count; i++) {
        heat[i] = particles.positions[4 * i + 1];
    }
    MUST(mote_world_write_channel(world, "heat", heat));
    free(heat);
    drawn->name = golden->scene;
}

static Image draw(MoteRenderer *renderer, Drawn *drawn, const Golden *golden)
{
    MoteRenderScene scene;
    MUST(mote_simulation_render_scene(drawn->simulation, NULL, &scene));
    MUST(mote_renderer_draw(renderer, mote_simulation_world(drawn->simulation), &scene,
                            &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .view = golden->view}));
    return read_image(renderer, WIDTH, HEIGHT);
}

static void test_golden_pictures(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    Drawn drawn = {0};
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        if (drawn.name == NULL || strcmp(drawn.name, goldens[i].scene) != 0) {
            end_simulation(&drawn);
            start_simulation(renderer, &drawn, &goldens[i]);
        }
        Image image = draw(renderer, &drawn, &goldens[i]);
        char name[128];
        snprintf(name, sizeof name, "%s_%s", goldens[i].scene, goldens[i].view);
        for (char *c = name; *c != '\0'; c++) {
            *c = *c == ':' ? '_' : *c;
        }
        wrong += looks_right(&image, name) ? 0 : 1;
        image_destroy(&image);
    }
    end_simulation(&drawn);
    end_renderer(renderer);
    assert_int_equal(wrong, 0);
}

// That the comparison can fail: another frame is not the same picture.
static void test_other_frames_differ(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    Drawn drawn = {0};
    const Golden at_30 = {"dam_break", "liquid", 30};
    start_simulation(renderer, &drawn, &at_30);
    Image before = draw(renderer, &drawn, &at_30);
    MUST(mote_simulation_advance_frame(drawn.simulation));
    Image after = draw(renderer, &drawn, &at_30);
    ImageDifference difference;
    MUST(image_flip(&before, &after, &difference, NULL));
    printf("one frame later: FLIP mean %.5f\n", difference.mean);
    assert_true(difference.mean > MEAN_LIMIT);
    image_destroy(&before);
    image_destroy(&after);
    end_simulation(&drawn);
    end_renderer(renderer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_pictures),
        cmocka_unit_test(test_other_frames_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
