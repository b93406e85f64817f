// SPDX-License-Identifier: MIT
// render_fixture.h - what the renderer's tests share: a renderer with validation on, worlds of a few particles, and
// buffers read back from the device. Any validation message fails the test that made it.
#ifndef MOTE_TESTS_RENDER_FIXTURE_H
#define MOTE_TESTS_RENDER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// after those
#include <cmocka.h>

#include "known_leaks.h"
#include "mote_render.h"
#include "render/renderer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != MOTE_OK) {                                                                                       \
            fail_msg("%s: %s", #call, mote_error_message());                                                           \
        }                                                                                                              \
    } while (0)

static MoteRenderer *drivers;
static inline void keep_drivers(void)
{
    if (KEEP_DRIVERS && drivers == NULL) {
        mote_renderer_create(&(MoteRendererOptions){.device = MOTE_DEVICE_AUTO, .validate = true}, &drivers);
    }
}

static inline MoteRenderer *make_renderer(uint32_t splat)
{
    keep_drivers();
    MoteRenderer *renderer;
    MUST(mote_renderer_create(&(MoteRendererOptions){.device = MOTE_DEVICE_AUTO, .validate = true, .splat = splat},
                              &renderer));
    return renderer;
}

static inline void end_renderer(MoteRenderer *renderer)
{
    assert_int_equal(mote_renderer_validation_messages(renderer), 0);
    mote_renderer_destroy(renderer);
    assert_int_equal(mote_renderer_validation_messages(NULL), 0); // nothing was left undestroyed
}

// Particles at rest at these points; spacing in metres.
static inline MoteWorld *make_world(const char *backend, MoteSharedMemory *shared, float spacing,
                                    float smoothing_radius_ratio, const MoteVec3 *points, uint32_t count)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = spacing;
    settings.smoothing_radius_ratio = smoothing_radius_ratio;
    MoteWorld *world;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = backend, .shared_memory = shared}, &world));
    MUST(mote_world_add_particles(
        world, &(MoteParticles){.count = count, .positions = points, .mass = 1.0f, .phase = MOTE_PHASE_FLUID}, NULL));
    return world;
}

// The default look without ground or smoothing, seen from `eye`.
static inline MoteRenderScene make_scene(MoteVec3 eye, MoteVec3 target, float field_of_view)
{
    MoteRenderScene scene = mote_default_render_scene();
    scene.camera.position = eye;
    scene.camera.target = target;
    scene.camera.field_of_view = field_of_view;
    scene.ground.visible = false;
    scene.liquid.smoothing = MOTE_SMOOTHING_NONE;
    return scene;
}

// A layer of the last picture; free() it.
static inline float *read_layer(MoteRenderer *renderer, const char *name, uint32_t width, uint32_t height)
{
    float *values = calloc((size_t)width * height * 4, sizeof *values);
    MUST(mote_renderer_read_layer(renderer, name, values));
    return values;
}

// `bytes` of a device buffer; free() them.
static inline void *read_buffer(MoteRenderer *renderer, const Buffer *buffer, size_t bytes)
{
    Device *device = &renderer->device;
    Buffer host;
    MUST(buffer_create(device, "read back", BUFFER_READBACK, bytes, &host));
    MUST(device_begin(device));
    const VkBufferCopy region = {0, 0, bytes};
    vkCmdCopyBuffer(device->commands, buffer->handle, host.handle, 1, &region);
    MUST(device_submit(device));
    buffer_invalidate(device, &host);
    void *copy = malloc(bytes);
    memcpy(copy, host.mapped, bytes);
    buffer_destroy(device, &host);
    return copy;
}

// One renderer for a whole group of tests, in their `state`.
static inline int renderer_set_up(void **state)
{
    *state = make_renderer(MOTE_SPLAT_AUTO);
    return 0;
}

static inline int renderer_tear_down(void **state)
{
    end_renderer(*state);
    return 0;
}

#endif
