// SPDX-License-Identifier: MIT
// caustics.c - the sun's light that the liquid refracts, where it lands (shaders/render/caustics.comp).
#include "base/vec.h"
#include "passes/caustics.h"
#include "render/renderer.h"

#define FILTER_REACH 3.5f // spacings: lattices vanish, waves stay

enum { CLEAR, SPLAT, FILTER_X, FILTER_Y, REFRACT, RESOLVE, STEPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    SimpleShader shaders[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        shaders[i] = (SimpleShader){"caustics.comp", {i}};
    }
    return simple_pass_create(renderer, state, shaders, STEPS);
}

// The square of the sun's maps that the map of caustics covers: the liquid's and a margin into which light is
// refracted. Its texels are not much smaller than the liquid's detail, which the filter must reach over. It grows in
// four steps an octave and moves by whole texels, so that nothing crawls.
static void place_map(FrameConstants *c)
{
    const vec4 r = c->liquid_rect; // lowest x, y, highest x, y
    const double finest = CAUSTICS_DETAIL * (double)c->spacing / (double)c->sun_map.x;
    const double wide = fmax(1.4 * fmax(r.z - r.x, r.w - r.y), finest * CAUSTICS_SIZE);
    const double width = exp2(ceil(4.0 * log2(wide)) / 4.0), texel = width / CAUSTICS_SIZE;
    const double x = 0.5 * ((double)r.x + r.z - width), y = 0.5 * ((double)r.y + r.w - width);
    c->caustics_map = (vec4){(float)(floor(x / texel) * texel), (float)(floor(y / texel) * texel),
                             (float)(CAUSTICS_SIZE / width), c->caustics_map.w};
}

static CausticsConstants sun_frame(const FrameConstants *c)
{
    const float *m = c->sun_projection.columns; // rows are unit vectors over half the maps' sizes
    const MoteVec3 side = vec3_scale((MoteVec3){m[0], m[4], m[8]}, c->sun_map.x);
    const MoteVec3 above = vec3_scale((MoteVec3){m[1], m[5], m[9]}, c->sun_map.y);
    const MoteVec3 away = vec3_scale((MoteVec3){m[2], m[6], m[10]}, c->sun_map.z);
    MoteVec3 origin = vec3_scale(side, -m[12] * c->sun_map.x);
    origin = vec3_add_scaled(origin, above, -m[13] * c->sun_map.y);
    origin = vec3_add_scaled(origin, away, -m[14] * c->sun_map.z);
    return (CausticsConstants){.origin = {origin.x, origin.y, origin.z, 0.0f},
                               .side = {side.x, side.y, side.z, 0.0f},
                               .above = {above.x, above.y, above.z, 0.0f}};
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    Frame *frame = &renderer->frame;
    FrameConstants *c = &frame->constants;
    const bool lit = frame->liquid && c->liquid_rect.x < c->liquid_rect.z && frame->scene->sky.sun_brightness > 0.0f;
    c->caustics_map.w = lit ? frame->scene->liquid.caustics : 0.0f;
    if (!(c->caustics_map.w > 0.0f)) {
        return MOTE_OK;
    }
    const size_t texels = (size_t)CAUSTICS_SIZE * CAUSTICS_SIZE;
    const size_t map_bytes = texels * sizeof(vec4);
    const MoteResult result = buffer_reserve(&renderer->device, "caustics", BUFFER_DEVICE,
                                             map_bytes + texels * CAUSTICS_PLANES * sizeof(uint32_t), &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    place_map(c);
    c->caustics = pass->buffer.address;
    CausticsConstants own = sun_frame(c);
    own.work = pass->buffer.address + map_bytes;
    own.refraction = frame->scene->liquid.refraction;
    own.filter_reach = fmaxf(FILTER_REACH * c->spacing * c->caustics_map.z / c->sun_map.x, 2.0f);
    pass_constants(renderer, &own, sizeof own);
    for (uint32_t step = 0; step < STEPS; step++) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[step], NULL, 0);
        pass_dispatch(commands, step == SPLAT ? c->particle_count : (uint32_t)texels, 64);
        if (step + 1 < STEPS) {
            pass_compute_barrier(commands);
        }
    }
    return MOTE_OK;
}

const Pass caustics_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
