// SPDX-License-Identifier: MIT
// A device that is lost: the renderer says so, leaks nothing and can be destroyed. No driver here loses its device on
// demand, so that the calls which would report it are stood in for.
#include "ray_fixture.h"

static PFN_vkQueueSubmit2 real_submit;
static PFN_vkWaitForFences real_wait;

static VkResult VKAPI_CALL lost_submit(VkQueue queue, uint32_t count, const VkSubmitInfo2 *submits, VkFence fence)
{
    (void)queue, (void)count, (void)submits, (void)fence;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult VKAPI_CALL lost_wait(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all,
                                     uint64_t timeout)
{
    real_wait(device, count, fences, all, timeout); // so that nothing is in use when it is destroyed
    return VK_ERROR_DEVICE_LOST;
}

static void expect_lost(MoteResult result)
{
    assert_int_equal(result, MOTE_ERROR_UNAVAILABLE);
    if (strstr(mote_error_message(), "the device was lost") == NULL) {
        fail_msg("said \"%s\", expected that the device was lost", mote_error_message());
    }
}

static const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true};

static MoteRenderScene lost_scene(void)
{
    MoteRenderScene scene = make_scene((MoteVec3){0.5f, 0.6f, 2.0f}, (MoteVec3){0, 0.5f, 0}, 45.0f);
    scene.ground.visible = true;
    return scene;
}

static void lost_when_it_starts(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    const MoteRenderScene scene = lost_scene();
    float *before = draw_layer(renderer, world, &scene, "color");
    real_submit = vkQueueSubmit2;
    vkQueueSubmit2 = lost_submit;
    expect_lost(mote_renderer_draw(renderer, world, &scene, &picture));
    expect_lost(mote_renderer_draw(renderer, world, &scene, &picture)); // and says so again
    vkQueueSubmit2 = real_submit;
    // Nothing is half done: where the device is there after all, the picture is the same.
    float *after = draw_layer(renderer, world, &scene, "color");
    assert_memory_equal(before, after, (size_t)WIDTH * HEIGHT * 4 * sizeof *before);
    free(before);
    free(after);
    mote_world_destroy(world);
    end_renderer(renderer);
}

static void lost_while_it_draws(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    const MoteRenderScene scene = lost_scene();
    real_wait = vkWaitForFences;
    vkWaitForFences = lost_wait;
    MoteResult result = mote_renderer_draw(renderer, world, &scene, &picture);
    if (result == MOTE_OK) { // it may not have been waited for yet
        float *values = calloc((size_t)WIDTH * HEIGHT * 4, sizeof *values);
        result = mote_renderer_read_layer(renderer, "color", values);
        free(values);
    }
    expect_lost(result);
    vkWaitForFences = real_wait;
    mote_world_destroy(world);
    end_renderer(renderer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_when_it_starts),
        cmocka_unit_test(lost_while_it_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
