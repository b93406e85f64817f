// frame.c - a picture: its constants, then its passes in the order of passes.def, with the barriers that their rows
// call for.
#include "render/frame.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/stop.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Constants ---------------------------------------------------------------------------------------------

typedef struct Vector {
    double x, y, z;
} Vector;

static Vector subtract(MoteVec3 a, MoteVec3 b)
{
    return (Vector){(double)a.x - b.x, (double)a.y - b.y, (double)a.z - b.z};
}

static Vector cross(Vector a, Vector b)
{
    return (Vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double dot(Vector a, Vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static Vector combine(double s, Vector a, double t, Vector b)
{
    return (Vector){s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
}

// `fallback` where there is no direction.
static Vector normalise(Vector a, Vector fallback)
{
    const double length = sqrt(dot(a, a));
    return length > 1e-12 ? combine(1.0 / length, a, 0.0, a) : fallback;
}

static vec4 packed(Vector v, double w)
{
    return (vec4){(float)v.x, (float)v.y, (float)v.z, (float)w};
}

static vec4 packed_color(MoteVec3 color, float scale, float w)
{
    return (vec4){scale * color.x, scale * color.y, scale * color.z, w};
}

// The binary digits of a number behind the point, in reverse: van der Corput's sequence.
static double reversed_digits(uint32_t index)
{
    double value = 0.0, fraction = 0.5;
    for (uint32_t i = index; i > 0; i >>= 1, fraction *= 0.5) {
        value += fraction * (i & 1);
    }
    return value;
}

// Where in its pixel, 0 to 1, a sample looks: Hammersley's points, each in a row and a column of its own. Their mean is
// the pixel's middle, so that more samples do not move the picture, and the last one, whose depth and ids the layers
// hold, is close to it.
static void sample_place(uint32_t sample, uint32_t count, double *x, double *y)
{
    const uint32_t own = (sample + count / 2 + 1) % count;
    const double turn = 0.5 + 0.5 / count - reversed_digits(count / 2);
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const double place = reversed_digits(i) + turn;
        sum += place - floor(place);
    }
    const double place = reversed_digits(own) + turn;
    *x = (own + 0.5) / count;
    *y = place - floor(place) + 0.5 - sum / count;
}

static void grow_box(Vector *low, Vector *high, MoteVec3 p, float reach)
{
    *low = (Vector){fmin(low->x, p.x - reach), fmin(low->y, p.y - reach), fmin(low->z, p.z - reach)};
    *high = (Vector){fmax(high->x, p.x + reach), fmax(high->y, p.y + reach), fmax(high->z, p.z + reach)};
}

static void set_camera(FrameConstants *c, const MoteCamera *camera, uint32_t width, uint32_t height)
{
    const double pi = 3.14159265358979323846;
    const Vector forward = normalise(subtract(camera->target, camera->position), (Vector){0, 0, -1});
    const Vector level = normalise(cross(forward, (Vector){0, 1, 0}), (Vector){1, 0, 0});
    const Vector above = cross(level, forward);
    const double roll = camera->roll * (pi / 180.0);
    const Vector right = combine(cos(roll), level, -sin(roll), above);
    const Vector up = combine(sin(roll), level, cos(roll), above);
    c->eye = (vec4){camera->position.x, camera->position.y, camera->position.z, 0.0f};
    c->right = packed(right, 0.0);
    c->up = packed(up, 0.0);
    c->forward = packed(forward, 0.0);
    c->focal = (float)(0.5 * height / tan(0.5 * camera->field_of_view * (pi / 180.0)));
    c->near_plane = camera->near_plane;

    // Columns of clip = M (world, 1): x and y as pixel_of() in frame.glsl has them, z = near, w = view z.
    const double sx = 2.0 * c->focal / width, sy = 2.0 * c->focal / height;
    const double ox = 2.0 * c->centre.x / width - 1.0, oy = 2.0 * c->centre.y / height - 1.0;
    const Vector rows[3] = {combine(sx, right, ox, forward), combine(-sy, up, oy, forward), forward};
    const Vector eye = {camera->position.x, camera->position.y, camera->position.z};
    float *m = c->view_projection.columns;
    for (int row = 0; row < 4; row++) {
        const Vector v = row == 3 ? rows[2] : row < 2 ? rows[row] : (Vector){0, 0, 0};
        m[row] = (float)v.x;
        m[4 + row] = (float)v.y;
        m[8 + row] = (float)v.z;
        m[12 + row] = row == 2 ? c->near_plane : (float)-dot(v, eye);
    }
}

static void set_liquid(FrameConstants *c, const MoteLiquidLook *look, const Frame *frame)
{
    const float spacing = frame->solver.spacing;
    c->spacing = spacing;
    c->support = frame->solver.support;
    c->radius = (frame->spheres ? 0.5f : look->radius) * spacing;
    c->isolated_radius = look->isolated_radius * spacing;
    c->centre_smoothing = look->centre_smoothing;
    c->stretch = look->stretch;
    c->curvature_step = look->curvature_step;
    c->smoothing_radius = look->smoothing_radius * spacing;
    c->smoothing_depth = look->smoothing_depth * spacing;
    c->refraction = look->refraction;
    c->liquid_shadow = look->shadow;
    c->isolated_below = look->isolated_below;
    c->anisotropy = look->anisotropy && !frame->spheres && frame->solver.neighbours.bytes > 0;
    c->dimensions = frame->solver.dimensions;
}

static void set_sky_and_ground(FrameConstants *c, const MoteRenderScene *scene)
{
    const double pi = 3.14159265358979323846;
    const MoteSkyLook *sky = &scene->sky;
    const double elevation = sky->sun_elevation * (pi / 180.0), azimuth = sky->sun_azimuth * (pi / 180.0);
    const Vector sun = {cos(elevation) * sin(azimuth), sin(elevation), cos(elevation) * cos(azimuth)};
    c->sun_direction = packed(sun, tan(0.5 * sky->sun_size * (pi / 180.0)));
    c->sun_radiance = packed_color(sky->sun_color, sky->sun_brightness, 0.0f);
    c->sky_color = packed_color(sky->color, sky->brightness, sky->haze);
    c->sky_turn = (float)(sky->image_turn * (pi / 180.0));
    c->sky_kind = sky->kind;
    c->ground_color = packed_color(scene->ground.color, 1.0f, scene->ground.height);
    c->grid_color = packed_color(scene->ground.grid_color, 1.0f, scene->ground.grid);
    c->ground_centre = packed_color(scene->camera.target, 1.0f, scene->ground.fade);
    c->ground_visible = scene->ground.visible;
    c->exposure = exp2f(scene->picture.exposure);
    c->saturation = scene->picture.saturation;
    c->antialias = scene->picture.antialias;
}

static MoteResult set_materials(MoteRenderer *renderer)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    FrameConstants *c = &renderer->frame.constants;
    MOTE_ASSERT(scene->material_count > 0);
    const uint32_t groups = scene->group_materials != NULL ? scene->group_count : 0;
    const size_t bytes = scene->material_count * sizeof(Material) + groups * sizeof(uint32_t);
    const MoteResult result =
        buffer_reserve(&renderer->device, "materials", BUFFER_UPLOAD, bytes, &renderer->materials);
    if (result != MOTE_OK) {
        return result;
    }
    Material *materials = renderer->materials.mapped;
    bool alike = true;
    c->liquid_material = 0;
    for (uint32_t i = scene->material_count; i-- > 0;) {
        c->liquid_material = scene->materials[i].solid_only ? c->liquid_material : i;
    }
    for (uint32_t i = 0; i < scene->material_count; i++) {
        const MoteRenderMaterial *m = &scene->materials[i];
        const MoteVec3 taken = {1.0f - m->color.x, 1.0f - m->color.y, 1.0f - m->color.z};
        materials[i].color = packed_color(m->color, 1.0f, m->roughness);
        materials[i].absorption = packed_color(taken, m->absorption, m->color_variation);
    }
    for (uint32_t i = 0; i < scene->material_count; i++) {
        const vec4 a = materials[i].absorption, b = materials[c->liquid_material].absorption;
        alike = alike && (scene->materials[i].solid_only || (a.x == b.x && a.y == b.y && a.z == b.z));
    }
    if (groups > 0) {
        memcpy(materials + scene->material_count, scene->group_materials, groups * sizeof(uint32_t));
    }
    buffer_flush(&renderer->device, &renderer->materials);
    c->materials = renderer->materials.address;
    c->group_materials = renderer->materials.address + scene->material_count * sizeof(Material);
    c->group_count = groups;
    c->material_count = scene->material_count;
    c->thickness_channels = alike ? 1 : 4;
    return MOTE_OK;
}

static MoteResult set_particles(MoteRenderer *renderer)
{
    Frame *frame = &renderer->frame;
    const MoteRenderView *solver = &frame->solver;
    FrameConstants *c = &frame->constants;
    interop_begin_frame(&renderer->interop, solver);
    c->particle_count = solver->particle_count;
    c->member_count = solver->member_count;
    c->cluster_count = solver->cluster_count;
    c->channel_components = frame->channel_values.components;
    MoteResult result = MOTE_OK;
    const struct {
        const MoteArray *array;
        const char *name;
        uint64_t *address;
    } arrays[] = {
#define ARRAY_ROW(name) {&solver->name, #name, &c->name},
        MOTE_RENDER_ARRAYS(ARRAY_ROW)
#undef ARRAY_ROW
            {&frame->channel_values.values, "channel", &c->channel},
    };
    for (uint32_t i = 0; i < sizeof arrays / sizeof arrays[0] && result == MOTE_OK; i++) {
        result =
            interop_fetch(&renderer->interop, frame->world, solver, arrays[i].array, arrays[i].name, arrays[i].address);
    }
    return result;
}

// How solids are drawn: which particles, and whether meshes are.
static void set_solids(MoteRenderer *renderer)
{
    Frame *frame = &renderer->frame;
    const MoteRenderScene *scene = frame->scene;
    FrameConstants *c = &frame->constants;
    c->solid_radius = frame->solver.solid_radius;
    c->occlusion_radius = 8.0f * frame->solver.solid_radius;
    c->has_solids = frame->solver.has_solids && frame->solver.particle_count > 0;
    frame->grains = c->has_solids != 0 && !frame->spheres;
    c->has_grains = frame->grains;
    c->has_bodies = frame->grains;
    c->solid_reach = c->has_solids != 0 ? c->solid_radius : 0.0f;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const MoteRenderInstance *instance = &scene->instances[i];
        const MeshRange *mesh = &renderer->meshes.meshes[instance->mesh];
        if (body_is_drawn(&renderer->meshes, frame, instance)) {
            c->has_bodies |= instance->look == MOTE_LOOK_SOLID || instance->look == MOTE_LOOK_AUTO;
            c->solid_reach = mesh->member_count > 0 ? fmaxf(c->solid_reach, mesh->reach) : c->solid_reach;
        }
    }
}

// A pixel of a debug view or of a layer is of one thing, and pictures of many samples have smooth edges by themselves:
// those samples lie all over the pixel, and each of them over a pixel of its own again would blur it.
static void set_samples(MoteRenderer *renderer)
{
    Frame *frame = &renderer->frame;
    const MoteRenderScene *scene = frame->scene;
    const bool several = frame->view == VIEW_liquid && frame->picture->samples == 1 && !frame->picture->layers;
    frame->samples = several ? mote_renderer_multisampling(renderer, scene->picture.multisampling) : 1;
    frame->edges = frame->constants.has_bodies != 0 ? EDGES_SOLIDS | EDGES_BODIES : 0;
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        frame->edges |= scene->shapes[i].look == MOTE_LOOK_SOLID ? EDGES_SOLIDS : 0;
        frame->edges |= scene->shapes[i].look == MOTE_LOOK_GLASS ? EDGES_GLASS : 0;
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        frame->edges |= scene->instances[i].look == MOTE_LOOK_GLASS ? EDGES_GLASS : 0;
    }
    frame->scene_samples = (frame->edges & EDGES_SOLIDS) != 0 ? frame->samples : 1;
    frame->constants.edge_samples = frame->scene_samples > 1 ? frame->scene_samples : 0;
}

// The sun's maps: a square of the smallest size that holds the particles and the bounded shapes, seen along its light.
// The size goes in steps and the centre by whole texels, so that shadows do not crawl while the liquid moves.
static void set_sun(FrameConstants *c, const Frame *frame, const MeshSet *meshes)
{
    const MoteRenderScene *scene = frame->scene;
    Vector low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    if (frame->solver.particle_count > 0) {
        grow_box(&low, &high, frame->solver.lowest, c->solid_reach);
        grow_box(&low, &high, frame->solver.highest, c->solid_reach);
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const MoteRenderInstance *instance = &scene->instances[i];
        const MeshRange *mesh = &meshes->meshes[instance->mesh];
        if (mesh->member_count == 0 && body_is_drawn(meshes, frame, instance)) {
            grow_box(&low, &high, instance->pose.position, instance->scale * mesh->reach);
        }
    }
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        const MoteRenderShape *s = &scene->shapes[i];
        const MoteVec3 h = s->shape.half_size;
        const float reach = sqrtf(h.x * h.x + h.y * h.y + h.z * h.z) + s->shape.radius;
        if (s->shape.kind != MOTE_SHAPE_PLANE && s->look == MOTE_LOOK_SOLID) {
            grow_box(&low, &high, s->shape.to.position, reach);
        }
    }
    if (!(low.x <= high.x)) {
        low = (Vector){-1, -1, -1};
        high = (Vector){1, 1, 1};
    }
    const Vector size = combine(0.5, high, -0.5, low);
    const double wanted = fmax(sqrt(dot(size, size)), 1e-3) * 1.05;
    const double reach = exp2(ceil(4.0 * log2(wanted)) / 4.0);
    const double texel = 2.0 * reach / LIGHT_SIZE; // of the coarser map

    const Vector sun = {c->sun_direction.x, c->sun_direction.y, c->sun_direction.z};
    const Vector side = normalise(cross((Vector){0, 1, 0}, sun), (Vector){1, 0, 0});
    const Vector above = cross(sun, side);
    const Vector middle = combine(0.5, low, 0.5, high);
    const double x = floor(dot(middle, side) / texel) * texel, y = floor(dot(middle, above) / texel) * texel;
    const double z = dot(middle, sun);
    const Vector rows[3] = {combine(1.0 / reach, side, 0, side), combine(-1.0 / reach, above, 0, above),
                            combine(-0.5 / reach, sun, 0, sun)};
    const double offsets[3] = {-x / reach, y / reach, 0.5 + 0.5 * z / reach};
    float *m = c->sun_projection.columns;
    for (int row = 0; row < 4; row++) {
        const Vector v = row < 3 ? rows[row] : (Vector){0, 0, 0};
        m[row] = (float)v.x;
        m[4 + row] = (float)v.y;
        m[8 + row] = (float)v.z;
        m[12 + row] = row < 3 ? (float)offsets[row] : 1.0f;
    }
    c->sun_map = (vec4){(float)reach, (float)reach, (float)(2.0 * reach), (float)(2.0 * reach / SUN_SIZE)};
}

static void frame_set_jitter(MoteRenderer *renderer, uint32_t sample)
{
    Frame *frame = &renderer->frame;
    FrameConstants *c = &frame->constants;
    const uint32_t samples = frame->picture->samples;
    c->sample_index = sample;
    c->sample_count = samples;
    double x, y;
    sample_place(sample, samples, &x, &y);
    c->centre.x = 0.5f * (float)c->width + (float)(x - 0.5);
    c->centre.y = 0.5f * (float)c->height + (float)(y - 0.5);
    set_camera(c, &frame->scene->camera, c->width, c->height);
}

static MoteResult set_constants(MoteRenderer *renderer)
{
    Frame *frame = &renderer->frame;
    FrameConstants *c = &frame->constants;
    memset(c, 0, sizeof *c);
    c->width = frame->picture->width;
    c->height = frame->picture->height;
    c->view = frame->view;
    c->shadow_size = SUN_SIZE;
    set_liquid(c, &frame->scene->liquid, frame);
    set_sky_and_ground(c, frame->scene);
    set_solids(renderer);
    set_samples(renderer);
    set_sun(c, frame, &renderer->meshes);
    frame_set_jitter(renderer, 0);
    MoteResult result = renderer_resize(renderer, c->width, c->height, frame->samples, frame->edges);
    c->pixels = renderer->pixels.address;
    result = result == MOTE_OK ? set_materials(renderer) : result;
    result = result == MOTE_OK ? set_particles(renderer) : result;
    return result == MOTE_OK ? bodies_prepare(&renderer->device, &renderer->meshes, frame, &renderer->bodies) : result;
}

// ---- Passes ------------------------------------------------------------------------------------------------

typedef enum PassWork { WORK_COMPUTE, WORK_GRAPHICS, WORK_EITHER, WORK_TRANSFER } PassWork;
typedef enum PassWhen { WHEN_FIRST, WHEN_EACH, WHEN_LAST } PassWhen;

typedef struct PassRow {
    const char *name;
    PassWork work;
    PassWhen when;
    uint32_t reads, writes;
    PassRecord *record;
} PassRow;

#define NONE           0u
#define RESOURCE(name) (1u << RESOURCE_##name)
static const PassRow pass_rows[PASS_COUNT] = {
#define PASS_ROW(name, work, when, reads, writes) {#name, WORK_##work, WHEN_##when, reads, writes, name##_record},
#include "render/passes.def"
};
_Static_assert(RESOURCE_COUNT <= 32, "resources are bits of a uint32_t");
_Static_assert(PHASE_KIND == MOTE_PHASE_KIND_MASK && PHASE_LIQUID == MOTE_PHASE(MOTE_KIND_LIQUID, 0), "phases");

static const VkPipelineStageFlags2 work_stages[] = {
    [WORK_COMPUTE] = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
    [WORK_GRAPHICS] = VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT,
    [WORK_EITHER] = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT |
                    VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
    [WORK_TRANSFER] = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
};
#define GRAPHICS_READS                                                                                                 \
    (VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |                                             \
     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT)
#define GRAPHICS_WRITES                                                                                                \
    (VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |                                           \
     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT)
static const VkAccessFlags2 work_reads[] = {
    [WORK_COMPUTE] = VK_ACCESS_2_SHADER_READ_BIT,
    [WORK_GRAPHICS] = GRAPHICS_READS,
    [WORK_EITHER] = GRAPHICS_READS | VK_ACCESS_2_TRANSFER_READ_BIT,
    [WORK_TRANSFER] = VK_ACCESS_2_TRANSFER_READ_BIT,
};
static const VkAccessFlags2 work_writes[] = {
    [WORK_COMPUTE] = VK_ACCESS_2_SHADER_WRITE_BIT,
    [WORK_GRAPHICS] = GRAPHICS_WRITES,
    [WORK_EITHER] = GRAPHICS_WRITES | VK_ACCESS_2_TRANSFER_WRITE_BIT,
    [WORK_TRANSFER] = VK_ACCESS_2_TRANSFER_WRITE_BIT,
};

// What earlier passes did to each resource and no barrier has ended yet.
typedef struct Hazards {
    VkPipelineStageFlags2 written[RESOURCE_COUNT], read[RESOURCE_COUNT];
    VkAccessFlags2 accesses[RESOURCE_COUNT];
} Hazards;

// One barrier before a pass: for each resource it reads, after those who wrote it; for each it writes, after those who
// wrote or read it.
static void wait_for_earlier(VkCommandBuffer commands, const PassRow *pass, Hazards *hazards)
{
    VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                .dstStageMask = work_stages[pass->work],
                                .dstAccessMask = work_reads[pass->work] | work_writes[pass->work]};
    for (uint32_t r = 0; r < RESOURCE_COUNT; r++) {
        const bool reads = (pass->reads >> r & 1u) != 0, writes = (pass->writes >> r & 1u) != 0;
        if (reads || writes) {
            barrier.srcStageMask |= hazards->written[r] | (writes ? hazards->read[r] : 0);
            barrier.srcAccessMask |= hazards->accesses[r];
        }
    }
    // Also where there is nothing to wait for: it makes Mesa's software driver write the timestamp in front of it.
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
    for (uint32_t r = 0; r < RESOURCE_COUNT; r++) {
        const bool reads = (pass->reads >> r & 1u) != 0, writes = (pass->writes >> r & 1u) != 0;
        if (writes) {
            hazards->written[r] = work_stages[pass->work];
            hazards->accesses[r] = work_writes[pass->work];
            hazards->read[r] = 0;
        } else if (reads) {
            hazards->read[r] |= work_stages[pass->work];
        }
    }
}

static MoteResult record_pass(MoteRenderer *renderer, PassId id, Hazards *hazards)
{
    const PassRow *pass = &pass_rows[id];
    const VkCommandBuffer commands = renderer->device.commands;
    if (renderer->device.labels) {
        const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = pass->name};
        vkCmdBeginDebugUtilsLabelEXT(commands, &label);
    }
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, renderer->queries, id);
    wait_for_earlier(commands, pass, hazards);
    const MoteResult result = pass->record(renderer, renderer->states[id], commands);
    if (renderer->device.labels) {
        vkCmdEndDebugUtilsLabelEXT(commands);
    }
    return result;
}

// A pass lasts from when all before it has ended to when the next one's time is taken. Mesa 25's software driver takes
// times only when it comes to a barrier, and runs dispatches at once: a time behind a pass would be taken after the
// next pass's dispatch, so each is taken in front of a barrier.
static void add_times(MoteRenderer *renderer)
{
    uint64_t next;
    if (vkGetQueryPoolResults(renderer->device.handle, renderer->queries, PASS_COUNT, 1, sizeof next, &next,
                              sizeof next, VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
        return;
    }
    for (uint32_t p = PASS_COUNT; p-- > 0;) {
        uint64_t begin;
        if (renderer->ran[p] && vkGetQueryPoolResults(renderer->device.handle, renderer->queries, p, 1, sizeof begin,
                                                      &begin, sizeof begin, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS) {
            renderer->milliseconds[p] +=
                (double)(next - begin) * (double)renderer->device.limits.timestampPeriod * 1e-6;
            next = begin;
        }
    }
}

MoteResult renderer_finish(MoteRenderer *renderer)
{
    if (!renderer->drawing) {
        return MOTE_OK;
    }
    renderer->drawing = false;
    const MoteResult result = device_wait(&renderer->device);
    if (result != MOTE_OK) {
        renderer->has_picture = renderer->has_layers = false;
        return result;
    }
    add_times(renderer);
    buffer_invalidate(&renderer->device, &renderer->pixels);
    if (renderer->layers.handle != VK_NULL_HANDLE) {
        buffer_invalidate(&renderer->device, &renderer->layers);
    }
    return MOTE_OK;
}

// What the host reads after the fence.
static void show_to_host(VkCommandBuffer commands)
{
    const VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                      .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                      .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
}

static MoteResult draw_sample(MoteRenderer *renderer, uint32_t sample)
{
    const uint32_t samples = renderer->frame.picture->samples;
    const bool last = sample + 1 == samples;
    MoteResult result = renderer_finish(renderer);
    result = result == MOTE_OK ? device_begin(&renderer->device) : result;
    if (result != MOTE_OK) {
        return result;
    }
    frame_set_jitter(renderer, sample);
    vkCmdResetQueryPool(renderer->device.commands, renderer->queries, 0, PASS_COUNT + 1);
    Hazards hazards = {0};
    for (uint32_t p = 0; p < PASS_COUNT && result == MOTE_OK; p++) {
        const PassWhen when = pass_rows[p].when;
        renderer->ran[p] = when == WHEN_EACH || (when == WHEN_FIRST && sample == 0) || (when == WHEN_LAST && last);
        if (renderer->ran[p]) {
            result = record_pass(renderer, (PassId)p, &hazards);
        }
    }
    vkCmdWriteTimestamp2(renderer->device.commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, renderer->queries,
                         PASS_COUNT);
    show_to_host(renderer->device.commands);
    // Passes may have added addresses while they recorded.
    memcpy(renderer->constants.mapped, &renderer->frame.constants, sizeof(FrameConstants));
    buffer_flush(&renderer->device, &renderer->constants);
    if (result != MOTE_OK) {
        vkEndCommandBuffer(renderer->device.commands);
        return result;
    }
    // The solver's next work waits on the device for the last sample; it would not know of the host's memory.
    DeviceTimeline *timeline = renderer->interop.timeline;
    result = device_start(&renderer->device, timeline, last);
    renderer->drawing = result == MOTE_OK;
    return result == MOTE_OK && timeline == NULL ? renderer_finish(renderer) : result;
}

// ---- A picture ---------------------------------------------------------------------------------------------

static MoteResult choose_view(const char *name, Frame *frame)
{
    frame->view = VIEW_liquid;
    frame->channel[0] = '\0';
    if (name == NULL) {
        return MOTE_OK;
    }
    const char prefix[] = "channel:";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) {
        frame->view = VIEW_channel;
        snprintf(frame->channel, sizeof frame->channel, "%s", name + sizeof prefix - 1);
        return MOTE_OK;
    }
    const char *names[VIEW_COUNT];
    for (uint32_t v = 0; v < VIEW_COUNT; v++) {
        names[v] = mote_render_view_name(v);
        if (strcmp(names[v], name) == 0 && v != VIEW_channel) {
            frame->view = (ViewId)v;
            return MOTE_OK;
        }
    }
    const char *near = nearest_word(name, names, VIEW_COUNT);
    return mote_fail(MOTE_ERROR_INPUT, "no view \"%s\"%s%s%s; a channel is shown by \"channel:NAME\"", name,
                     near != NULL ? ", did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"" : "");
}

static MoteResult check_picture(const MoteRenderer *renderer, const MotePicture *picture)
{
    const uint32_t largest = renderer->device.limits.maxImageDimension2D;
    if (picture->width == 0 || picture->height == 0 || picture->width > largest || picture->height > largest) {
        return mote_fail(MOTE_ERROR_INPUT, "a picture of %u x %u pixels, expected 1 to %u each way on %s",
                         picture->width, picture->height, largest, renderer->device.info.name);
    }
    if (picture->samples == 0 || picture->samples > 4096) {
        return mote_fail(MOTE_ERROR_INPUT, "%u samples, expected 1 to 4096", picture->samples);
    }
    return MOTE_OK;
}

// What "channel:NAME" shows: the world's channel of that name, or what the caller gave.
static MoteResult choose_channel(const MoteRenderChannel *channel, Frame *frame)
{
    if (frame->view != VIEW_channel) {
        return MOTE_OK;
    }
    if (frame->world != NULL) {
        return mote_world_channel_array(frame->world, frame->channel, &frame->channel_values.values,
                                        &frame->channel_values.components);
    }
    if (channel == NULL || channel->components == 0 || channel->components > 4) {
        return mote_fail(MOTE_ERROR_INPUT, "no values of the channel \"%s\" to draw", frame->channel);
    }
    frame->channel_values = *channel;
    return MOTE_OK;
}

static MoteResult draw_picture(MoteRenderer *renderer, MoteWorld *world, const MoteRenderView *view,
                               const MoteRenderChannel *channel, const MoteRenderScene *scene,
                               const MotePicture *picture)
{
    Frame *frame = &renderer->frame;
    memset(frame, 0, sizeof *frame);
    frame->world = world;
    frame->solver = *view;
    frame->solver.why = view->why != NULL ? view->why : "";
    frame->scene = scene;
    frame->picture = picture;
    MoteResult result = renderer_finish(renderer);
    result = result == MOTE_OK ? check_picture(renderer, picture) : result;
    result = result == MOTE_OK ? choose_view(picture->view, frame) : result;
    result = result == MOTE_OK ? choose_channel(channel, frame) : result;
    result = result == MOTE_OK ? bodies_check(&renderer->meshes, frame) : result;
    result = result == MOTE_OK ? mesh_set_move(&renderer->device, &renderer->meshes, scene->poses, scene->pose_count)
                               : result;
    if (result != MOTE_OK) {
        return result;
    }
    frame->spheres = (frame->view >= VIEW_particles && frame->view <= VIEW_channel) || frame->view == VIEW_colliders;
    frame->needs_index = frame->spheres || frame->view == VIEW_ellipsoids || picture->layers;
    frame->liquid =
        scene->liquid.visible && frame->solver.particle_count > 0 && (frame->spheres || frame->solver.has_liquid);
    renderer->has_picture = false;
    renderer->has_layers = false;
    memset(renderer->milliseconds, 0, sizeof renderer->milliseconds);
    result = set_constants(renderer);
    for (uint32_t sample = 0; sample < picture->samples && result == MOTE_OK; sample++) {
        result = sample > 0 ? stop_check() : MOTE_OK;
        result = result == MOTE_OK ? draw_sample(renderer, sample) : result;
    }
    if (result == MOTE_OK) {
        renderer->has_picture = true;
        renderer->has_layers = picture->layers;
        renderer->pictures++;
    }
    frame->world = NULL; // what it pointed to is the caller's
    frame->scene = NULL;
    frame->picture = NULL;
    return result;
}

MoteResult mote_renderer_draw(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene,
                              const MotePicture *picture)
{
    MoteRenderView view;
    const MoteResult result = mote_world_hand_over(world, &view);
    return result == MOTE_OK ? renderer_draw_view(renderer, world, &view, scene, picture) : result;
}

MoteResult renderer_draw_view(MoteRenderer *renderer, MoteWorld *world, const MoteRenderView *view,
                              const MoteRenderScene *scene, const MotePicture *picture)
{
    return draw_picture(renderer, world, view, NULL, scene, picture);
}

MoteResult mote_renderer_draw_arrays(MoteRenderer *renderer, const MoteRenderView *arrays,
                                     const MoteRenderChannel *channel, const MoteRenderScene *scene,
                                     const MotePicture *picture)
{
    if (arrays->memory != MOTE_MEMORY_HOST) {
        return mote_fail(MOTE_ERROR_INPUT, "arrays in memory of kind %u, expected host memory", arrays->memory);
    }
    return draw_picture(renderer, NULL, arrays, channel, scene, picture);
}
