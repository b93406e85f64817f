// SPDX-License-Identifier: MIT
// cloth.c - vertices of cloth for the passes that draw it (shaders/render/cloth.comp): where their particles are,
// normals of the triangles around them, and which edges are borders. Once per picture. Also the looks of cloths
// and ropes.
#include "render/renderer.h"

#include "base/error.h"

enum { PLACE, BEND, BORDERS, STEPS };

typedef struct ClothPass {
    SimplePass simple;
    Buffer fabrics; // Fabric, mapped
} ClothPass;

static MoteResult create(MoteRenderer *renderer, void *state)
{
    ClothPass *pass = state;
    const SimpleShader shaders[STEPS] = {{"cloth.comp", {PLACE}}, {"cloth.comp", {BEND}}, {"cloth.comp", {BORDERS}}};
    return simple_pass_create(renderer, &pass->simple, shaders, STEPS);
}

_Static_assert(FABRIC_WOVEN == MOTE_CLOTH_WOVEN && FABRIC_TRANSLUCENT == MOTE_CLOTH_TRANSLUCENT &&
                   FABRIC_HIDDEN == MOTE_CLOTH_HIDDEN,
               "looks of cloth");
_Static_assert(FABRIC_STRIPES == MOTE_PATTERN_STRIPES && FABRIC_BANDS == MOTE_PATTERN_BANDS &&
                   FABRIC_CHECKS == MOTE_PATTERN_CHECKS && FABRIC_GINGHAM == MOTE_PATTERN_GINGHAM,
               "patterns of cloth");
_Static_assert(HANDLE_SINGLE == MOTE_HANDLE_SINGLE && NO_ROW == MOTE_NONE, "handles");
_Static_assert(PHASE_CLOTH == MOTE_PHASE(MOTE_KIND_CLOTH, 0), "phases");

static MoteRenderCloth look_of(const MoteRenderScene *scene, uint32_t cloth)
{
    return cloth < scene->cloth_count ? scene->cloths[cloth] : mote_default_render_cloth();
}

static vec4 color_and(MoteVec3 color, float w)
{
    return (vec4){color.x, color.y, color.z, w};
}

static Fabric fabric_of(const MoteRenderCloth *cloth, float contact_distance)
{
    return (Fabric){.color = color_and(cloth->color, cloth->roughness),
                    .back_color = color_and(cloth->back_color, cloth->transmission),
                    .pattern_color = color_and(cloth->pattern_color, cloth->pattern_size),
                    .uv_size = {cloth->uv_size[0], cloth->uv_size[1]},
                    .sheen = cloth->sheen,
                    .weave = cloth->weave,
                    .thickness = cloth->thickness * contact_distance,
                    .pattern = cloth->pattern,
                    .look = cloth->look,
                    .absorption = cloth->absorption};
}

static Fabric fabric_of_rope(const MoteRenderRope *rope, float contact_distance)
{
    return (Fabric){.color = color_and(rope->color, rope->roughness),
                    .back_color = color_and(rope->color, 0.0f),
                    .sheen = rope->sheen,
                    .weave = rope->smooth ? 0.0f : 1.0f,
                    .thickness = rope->radius > 0.0f ? rope->radius : 0.5f * contact_distance};
}

// Views of particles show the particles of cloth.
static MoteResult prepare(MoteRenderer *renderer, void *state)
{
    (void)state;
    Frame *frame = &renderer->frame;
    FrameConstants *c = &frame->constants;
    const MoteRenderView *solver = &frame->solver;
    if (frame->spheres || solver->cloth_triangle_count == 0 || solver->particle_count == 0) {
        return MOTE_OK;
    }
    c->cloth_vertex_count = solver->cloth_vertex_count;
    c->cloth_triangle_count = solver->cloth_triangle_count;
    c->fabric_count = solver->cloth_count;
    for (uint32_t i = 0; i < solver->cloth_count; i++) {
        const MoteRenderCloth look = look_of(frame->scene, i);
        const float half = look.thickness * solver->solid_radius;
        c->has_bodies |= look.look == MOTE_CLOTH_WOVEN;
        frame->skins = frame->skins || look.look == MOTE_CLOTH_TRANSLUCENT;
        frame->solid_reach = half > frame->solid_reach ? half : frame->solid_reach;
    }
    frame->solid_reach = solver->solid_radius > frame->solid_reach ? solver->solid_radius : frame->solid_reach;
    return MOTE_OK;
}

static MoteResult fill_fabrics(MoteRenderer *renderer, ClothPass *pass)
{
    const Frame *frame = &renderer->frame;
    const uint32_t count = frame->constants.fabric_count;
    const MoteResult result =
        buffer_reserve(&renderer->device, "fabrics", BUFFER_UPLOAD, count * sizeof(Fabric), &pass->fabrics);
    if (result != MOTE_OK) {
        return result;
    }
    Fabric *rows = pass->fabrics.mapped;
    const float contact_distance = 2.0f * frame->solver.solid_radius;
    const uint32_t cloths = frame->solver.cloth_count;
    for (uint32_t i = 0; i < cloths; i++) {
        const MoteRenderCloth look = look_of(frame->scene, i);
        rows[i] = fabric_of(&look, contact_distance);
    }
    for (uint32_t i = cloths; i < count; i++) {
        rows[i] = fabric_of_rope(&frame->scene->ropes[i - cloths], contact_distance);
    }
    buffer_flush(&renderer->device, &pass->fabrics);
    return MOTE_OK;
}

static void run(MoteRenderer *renderer, const ClothPass *pass, VkCommandBuffer commands, uint32_t step, uint32_t count)
{
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->simple.pipelines[step], NULL, 0);
    pass_dispatch(commands, count, 64);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    ClothPass *pass = state;
    FrameConstants *c = &renderer->frame.constants;
    MoteResult result = c->fabric_count > 0 ? fill_fabrics(renderer, pass) : MOTE_OK;
    c->fabrics = pass->fabrics.address;
    if (c->cloth_triangle_count == 0 || result != MOTE_OK) {
        return result;
    }
    const size_t vertex_bytes = (size_t)c->cloth_vertex_count * sizeof(BodyVertex);
    const size_t border_bytes = (size_t)c->cloth_triangle_count * sizeof(uint32_t);
    result = buffer_reserve(&renderer->device, "cloth vertices", BUFFER_DEVICE, vertex_bytes + border_bytes,
                            &pass->simple.buffer);
    if (result != MOTE_OK) {
        return result;
    }
    c->cloth_vertices = pass->simple.buffer.address;
    c->cloth_borders = pass->simple.buffer.address + vertex_bytes;
    run(renderer, pass, commands, PLACE, c->cloth_vertex_count);
    pass_compute_barrier(commands);
    run(renderer, pass, commands, BEND, c->cloth_vertex_count);
    run(renderer, pass, commands, BORDERS, c->cloth_triangle_count);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    ClothPass *pass = state;
    buffer_destroy(&renderer->device, &pass->fabrics);
    simple_pass_destroy(renderer, &pass->simple);
}

const Pass cloth_pass = {
    .state_bytes = sizeof(ClothPass), .create = create, .prepare = prepare, .record = record, .destroy = destroy};
