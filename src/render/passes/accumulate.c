// SPDX-License-Identifier: MIT
// accumulate.c - adds each sample to the sum of samples; the first one overwrites it. A picture of one sample needs no
// sum (tonemap.c), unless layers are requested.
#include "render/passes/antialias.h"

enum { FIRST, NEXT };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[] = {[FIRST] = {"accumulate.comp", {1}}, [NEXT] = {"accumulate.comp", {0}}};
    return simple_pass_create(renderer, state, shaders, 2);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    const Frame *frame = &renderer->frame;
    if (frame->constants.sample_count > 1 || frame->picture->layers) {
        const int pipeline = frame->sample == 0 ? FIRST : NEXT;
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[pipeline], NULL, 0);
        dispatch_rows(renderer, commands);
    }
    return MOTE_OK;
}

const Pass accumulate_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
