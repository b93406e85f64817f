// SPDX-License-Identifier: MIT
// What a viewer needs beyond `mote render`: arrays of the caller's own, pictures of sizes that go up and down, shaders
// that are exchanged.
#include "render_fixture.h"

#include "render/shaders.h"

enum { WIDTH = 160, HEIGHT = 100 };

typedef struct Run {
    MoteScene *scene;
    MoteSimulation *simulation;
    MoteRenderScene look;
} Run;

// Balls that fall into water: liquid, bodies with meshes, a glass tank.
static Run start(MoteRenderer *renderer, const char *name)
{
    Run run;
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/small/%s.json", MOTE_SOURCE_DIR, name);
    MUST(mote_scene_load(path, NULL, 0, &run.scene));
    MUST(mote_simulation_create(run.scene, &(MoteBackendOptions){.backend = "cpu"}, &run.simulation));
    const MoteRenderMesh *meshes;
    uint32_t count;
    MUST(mote_simulation_render_meshes(run.simulation, &meshes, &count));
    MUST(mote_renderer_set_meshes(renderer, meshes, count));
    for (int i = 0; i < 5; i++) {
        MUST(mote_simulation_advance_frame(run.simulation));
    }
    MUST(mote_simulation_render_scene(run.simulation, NULL, &run.look));
    return run;
}

static void stop(Run *run)
{
    mote_simulation_destroy(run->simulation);
    mote_scene_destroy(run->scene);
}

static uint16_t *read_pixels(MoteRenderer *renderer)
{
    uint16_t *pixels = calloc((size_t)WIDTH * HEIGHT * 4, sizeof *pixels);
    MUST(mote_renderer_read_rgba16(renderer, pixels));
    return pixels;
}

static MoteArray copy_of(MoteWorld *world, const MoteArray *from)
{
    const size_t size = (from->bytes + 4096) / 4096 * 4096;
    void *copy = aligned_alloc(4096, size);
    assert_non_null(copy);
    memset(copy, 0, size);
    MUST(mote_world_copy_out(world, copy, from->address, from->bytes));
    return (MoteArray){copy, from->bytes, size};
}

static void test_a_copy_is_drawn_as_the_world_was(void **state)
{
    MoteRenderer *renderer = *state;
    Run run = start(renderer, "buoyancy");
    MoteWorld *world = mote_simulation_world(run.simulation);
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1};
    MUST(mote_renderer_draw(renderer, world, &run.look, &picture));
    uint16_t *expected = read_pixels(renderer);
    MoteRenderView view;
    MUST(mote_world_render_view(world, &view));
    MoteArray *arrays[] = {&view.positions,       &view.velocities,       &view.ids,
                           &view.phases,          &view.neighbour_counts, &view.neighbour_starts,
                           &view.neighbours,      &view.handles,          &view.handle_slots,
                           &view.member_clusters, &view.cluster_rotations};
    enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
    for (uint32_t i = 0; i < ARRAYS; i++) {
        *arrays[i] = copy_of(world, arrays[i]);
    }
    view.layout = UINT64_MAX;
    MUST(mote_simulation_advance_frame(run.simulation)); // the world goes on
    MUST(mote_renderer_draw_arrays(renderer, &view, NULL, &run.look, &picture));
    uint16_t *found = read_pixels(renderer);
    assert_memory_equal(found, expected, (size_t)WIDTH * HEIGHT * 4 * sizeof *found);

    // A channel of the caller's own: its first half 0, its second 1.
    float *values = aligned_alloc(4096, (view.particle_count * sizeof *values + 4095) / 4096 * 4096);
    for (uint32_t i = 0; i < view.particle_count; i++) {
        values[i] = i < view.particle_count / 2 ? 0.0f : 1.0f;
    }
    const MotePicture colours = {.width = WIDTH, .height = HEIGHT, .samples = 1, .view = "channel:halves"};
    const MoteRenderChannel channel = {{values, view.particle_count * sizeof *values, 4096}, 1};
    assert_int_equal(mote_renderer_draw_arrays(renderer, &view, NULL, &run.look, &colours), MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), "halves"));
    MoteRenderChannel whole = channel;
    whole.values.capacity = (channel.values.bytes + 4095) / 4096 * 4096;
    MUST(mote_renderer_draw_arrays(renderer, &view, &whole, &run.look, &colours));

    view.memory = MOTE_MEMORY_PRIVATE;
    assert_int_equal(mote_renderer_draw_arrays(renderer, &view, NULL, &run.look, &picture), MOTE_ERROR_INPUT);
    MUST(mote_renderer_draw(renderer, world, &run.look, &picture)); // and lets go of the arrays
    for (uint32_t i = 0; i < ARRAYS; i++) {
        free((void *)(uintptr_t)arrays[i]->address);
    }
    free(values);
    free(expected);
    free(found);
    stop(&run);
}

// A window is resized while it shows one moment.
static void test_sizes_go_up_and_down(void **state)
{
    MoteRenderer *renderer = *state;
    const char *scenes[] = {"buoyancy", "sand_pile"};
    for (uint32_t s = 0; s < 2; s++) {
        Run run = start(renderer, scenes[s]);
        MoteWorld *world = mote_simulation_world(run.simulation);
        const uint32_t sizes[][2] = {{WIDTH, HEIGHT}, {640, 400}, {33, 200}, {500, 17}, {WIDTH, HEIGHT}};
        uint16_t *first = NULL;
        for (uint32_t i = 0; i < 5; i++) {
            const MotePicture picture = {
                .width = sizes[i][0], .height = sizes[i][1], .samples = 1, .layers = i % 2 == 1};
            MUST(mote_renderer_draw(renderer, world, &run.look, &picture));
            if (i == 0) {
                first = read_pixels(renderer);
            }
        }
        uint16_t *last = read_pixels(renderer);
        assert_memory_equal(first, last, (size_t)WIDTH * HEIGHT * 4 * sizeof *last);
        free(first);
        free(last);
        stop(&run);
    }
}

// Another shader draws another picture, the one before the same as before; what is no shader changes nothing.
static void test_shaders_are_exchanged(void **state)
{
    MoteRenderer *renderer = *state;
    Run run = start(renderer, "dam_break");
    MoteWorld *world = mote_simulation_world(run.simulation);
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1};
    MUST(mote_renderer_draw(renderer, world, &run.look, &picture));
    uint16_t *first = read_pixels(renderer);
    const uint32_t garbage[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const MoteShader broken[] = {{"tonemap.comp", garbage, sizeof garbage}}, unknown[] = {{"none.comp", NULL, 0}};
    assert_int_equal(mote_renderer_set_shaders(renderer, broken, 1), MOTE_ERROR_INPUT);
    assert_int_equal(mote_renderer_set_shaders(renderer, unknown, 1), MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), "none.comp"));

    // Without the shader that puts liquid and scene together the picture is another.
    const ShaderCode *other = shader_find("accumulate.comp");
    const MoteShader swap[] = {{"composite.comp", other->words, other->bytes}}, back[] = {{"composite.comp", NULL, 0}};
    MUST(mote_renderer_set_shaders(renderer, swap, 1));
    MUST(mote_renderer_draw(renderer, world, &run.look, &picture));
    uint16_t *again = read_pixels(renderer);
    assert_memory_not_equal(first, again, (size_t)WIDTH * HEIGHT * 4 * sizeof *again);
    free(again);
    MUST(mote_renderer_set_shaders(renderer, back, 1));
    MUST(mote_renderer_draw(renderer, world, &run.look, &picture));
    again = read_pixels(renderer);
    assert_memory_equal(first, again, (size_t)WIDTH * HEIGHT * 4 * sizeof *again);
    free(first);
    free(again);
    stop(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_copy_is_drawn_as_the_world_was),
                                       cmocka_unit_test(test_sizes_go_up_and_down),
                                       cmocka_unit_test(test_shaders_are_exchanged)};
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
