// SPDX-License-Identifier: MIT
// frame_constants.c - fills the constants of a picture for shaders: camera, sun, sky and ground, materials, particles.
#include "render/frame.h"

#include "base/error.h"
#include "base/vec.h"
#include "render/sky_made.h"
#include <math.h>
#include <string.h>

static vec4 packed(DVec3 v, double w)
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

static void grow_box(DVec3 *low, DVec3 *high, MoteVec3 p, float reach)
{
    *low = (DVec3){fmin(low->x, p.x - reach), fmin(low->y, p.y - reach), fmin(low->z, p.z - reach)};
    *high = (DVec3){fmax(high->x, p.x + reach), fmax(high->y, p.y + reach), fmax(high->z, p.z + reach)};
}

static void set_camera(FrameConstants *c, const MoteCamera *camera, uint32_t width, uint32_t height)
{
    const double pi = 3.14159265358979323846;
    const DVec3 eye = dvec3_from(camera->position);
    const DVec3 forward = dvec3_normalize(dvec3_sub(dvec3_from(camera->target), eye), 1e-12, dvec3(0, 0, -1));
    const DVec3 level = dvec3_normalize(dvec3_cross(forward, dvec3(0, 1, 0)), 1e-12, dvec3(1, 0, 0));
    const DVec3 above = dvec3_cross(level, forward);
    const double roll = camera->roll * (pi / 180.0);
    const DVec3 right = dvec3_combine(cos(roll), level, -sin(roll), above);
    const DVec3 up = dvec3_combine(sin(roll), level, cos(roll), above);
    c->eye = (vec4){camera->position.x, camera->position.y, camera->position.z, 0.0f};
    c->right = packed(right, 0.0);
    c->up = packed(up, 0.0);
    c->forward = packed(forward, 0.0);
    c->focal = (float)(0.5 * height / tan(0.5 * camera->field_of_view * (pi / 180.0)));
    c->near_plane = camera->near_plane;

    // Columns of clip = M (world, 1): x and y as pixel_of() in frame.glsl has them, z = near, w = view z.
    const double sx = 2.0 * c->focal / width, sy = 2.0 * c->focal / height;
    const double ox = 2.0 * c->centre.x / width - 1.0, oy = 2.0 * c->centre.y / height - 1.0;
    const DVec3 rows[3] = {dvec3_combine(sx, right, ox, forward), dvec3_combine(-sy, up, oy, forward), forward};
    float *m = c->view_projection.columns;
    for (int row = 0; row < 4; row++) {
        const DVec3 v = row == 3 ? rows[2] : row < 2 ? rows[row] : dvec3(0, 0, 0);
        m[row] = (float)v.x;
        m[4 + row] = (float)v.y;
        m[8 + row] = (float)v.z;
        m[12 + row] = row == 2 ? c->near_plane : (float)-dvec3_dot(v, eye);
    }
}

static void set_liquid(FrameConstants *c, const MoteLiquidLook *look, const Frame *frame)
{
    c->spacing = frame->solver.spacing;
    c->smoothing_radius = frame->solver.smoothing_radius;
    c->liquid_shadow = look->shadow;
}

static void set_sky_and_ground(FrameConstants *c, const MoteRenderScene *scene)
{
    const double pi = 3.14159265358979323846;
    const MoteSkyLook *sky = &scene->sky;
    const double elevation = sky->sun_elevation * (pi / 180.0), azimuth = sky->sun_azimuth * (pi / 180.0);
    const DVec3 sun = {cos(elevation) * sin(azimuth), sin(elevation), cos(elevation) * cos(azimuth)};
    c->sun_direction = packed(sun, tan(0.5 * sky->sun_size * (pi / 180.0)));
    c->sun_radiance = packed_color(sky->sun_color, sky->sun_brightness, 0.0f);
    c->sky_turn = (float)(sky->image_rotation * (pi / 180.0));
    c->sky_kind = sky_is_made(sky->kind) ? MOTE_SKY_IMAGE : sky->kind; // those are pictures, too
    c->ground_color = packed_color(scene->ground.color, 1.0f, scene->ground.height);
    c->ground_centre = packed_color(scene->camera.target, 1.0f, scene->ground.fade);
    c->ground_visible = scene->ground.visible;
    c->exposure = exp2f(scene->picture.exposure);
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

_Static_assert(PHASE_KIND == MOTE_PHASE_KIND_MASK && PHASE_LIQUID == MOTE_PHASE(MOTE_KIND_LIQUID, 0) &&
                   PHASE_GAS == MOTE_PHASE(MOTE_KIND_GAS, 0),
               "phases");

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

// Which solid particles there are to draw; passes that draw solids add theirs (Pass.prepare).
static void set_solids(Frame *frame)
{
    FrameConstants *c = &frame->constants;
    c->solid_radius = frame->solver.solid_radius;
    c->has_solids = frame->solver.has_solids && frame->solver.particle_count > 0;
    frame->grains = c->has_solids != 0 && !frame->spheres;
}

// A pixel of a debug view or of a layer is of one thing, and pictures of many samples have smooth edges by themselves:
// those samples lie all over the pixel, and each of them over a pixel of its own again would blur it.
static void set_samples(MoteRenderer *renderer)
{
    Frame *frame = &renderer->frame;
    const MoteRenderScene *scene = frame->scene;
    const bool several = frame->view == VIEW_liquid && frame->picture->samples == 1 && !frame->picture->layers;
    frame->samples = several ? mote_renderer_multisampling(renderer, scene->picture.multisampling) : 1;
    frame->edges |= frame->constants.has_bodies != 0 ? EDGES_SOLIDS | EDGES_BODIES : 0;
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        frame->edges |= scene->colliders[i].look == MOTE_LOOK_SOLID ? EDGES_SOLIDS : 0;
        frame->edges |= scene->colliders[i].look == MOTE_LOOK_GLASS ? EDGES_GLASS : 0;
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        frame->edges |= scene->instances[i].look == MOTE_LOOK_GLASS ? EDGES_GLASS : 0;
    }
    frame->scene_samples = (frame->edges & EDGES_SOLIDS) != 0 ? frame->samples : 1;
}

// The sun's maps: a square of the smallest size that holds the particles and the bounded colliders, seen along its
// light. The size goes in steps and the centre by whole texels, so that shadows do not crawl while the liquid moves.
static void set_sun(FrameConstants *c, const Frame *frame, const MeshSet *meshes)
{
    const MoteRenderScene *scene = frame->scene;
    DVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    if (frame->solver.particle_count > 0) {
        grow_box(&low, &high, frame->solver.bounds_min, frame->solid_reach);
        grow_box(&low, &high, frame->solver.bounds_max, frame->solid_reach);
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const MoteRenderInstance *instance = &scene->instances[i];
        const MeshRange *mesh = &meshes->meshes[instance->mesh];
        if (mesh->member_count == 0 && body_is_drawn(meshes, frame, instance)) {
            grow_box(&low, &high, instance->pose.position, instance->scale * mesh->reach);
        }
    }
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        const MoteRenderCollider *s = &scene->colliders[i];
        const MoteVec3 h = s->collider.half_size;
        const float reach = sqrtf(h.x * h.x + h.y * h.y + h.z * h.z) + s->collider.radius;
        if (s->collider.kind != MOTE_COLLIDER_PLANE && s->look == MOTE_LOOK_SOLID) {
            grow_box(&low, &high, s->collider.to.position, reach);
        }
    }
    if (!(low.x <= high.x)) {
        low = (DVec3){-1, -1, -1};
        high = (DVec3){1, 1, 1};
    }
    const DVec3 size = dvec3_combine(0.5, high, -0.5, low);
    const double wanted = fmax(sqrt(dvec3_dot(size, size)), 1e-3) * 1.05;
    const double reach = exp2(ceil(4.0 * log2(wanted)) / 4.0);
    const double texel = 2.0 * reach / LIQUID_SHADOW_SIZE; // of the coarser map

    const DVec3 sun = {c->sun_direction.x, c->sun_direction.y, c->sun_direction.z};
    const DVec3 side = dvec3_normalize(dvec3_cross(dvec3(0, 1, 0), sun), 1e-12, dvec3(1, 0, 0));
    const DVec3 above = dvec3_cross(sun, side);
    const DVec3 middle = dvec3_combine(0.5, low, 0.5, high);
    const double x = floor(dvec3_dot(middle, side) / texel) * texel,
                 y = floor(dvec3_dot(middle, above) / texel) * texel;
    const double z = dvec3_dot(middle, sun);
    const DVec3 rows[3] = {dvec3_combine(1.0 / reach, side, 0, side), dvec3_combine(-1.0 / reach, above, 0, above),
                           dvec3_combine(-0.5 / reach, sun, 0, sun)};
    const double offsets[3] = {-x / reach, y / reach, 0.5 + 0.5 * z / reach};
    float *m = c->sun_projection.columns;
    for (int row = 0; row < 4; row++) {
        const DVec3 v = row < 3 ? rows[row] : dvec3(0, 0, 0);
        m[row] = (float)v.x;
        m[4 + row] = (float)v.y;
        m[8 + row] = (float)v.z;
        m[12 + row] = row < 3 ? (float)offsets[row] : 1.0f;
    }
    c->sun_map = (vec4){(float)reach, (float)reach, (float)(2.0 * reach), (float)(2.0 * reach / SUN_SIZE)};
}

void frame_set_sample(MoteRenderer *renderer, uint32_t sample)
{
    Frame *frame = &renderer->frame;
    FrameConstants *c = &frame->constants;
    const uint32_t samples = frame->picture->samples;
    frame->sample = sample;
    c->sample_count = samples;
    double x, y;
    sample_place(sample, samples, &x, &y);
    c->centre.x = 0.5f * (float)c->width + (float)(x - 0.5);
    c->centre.y = 0.5f * (float)c->height + (float)(y - 0.5);
    set_camera(c, &frame->scene->camera, c->width, c->height);
}

MoteResult frame_set_constants(MoteRenderer *renderer)
{
    Frame *frame = &renderer->frame;
    FrameConstants *c = &frame->constants;
    memset(c, 0, sizeof *c);
    c->width = frame->picture->width;
    c->height = frame->picture->height;
    c->shadow_size = SUN_SIZE;
    set_liquid(c, &frame->scene->liquid, frame);
    set_sky_and_ground(c, frame->scene);
    set_solids(frame);
    MoteResult result = frame_prepare_passes(renderer);
    if (result != MOTE_OK) {
        return result;
    }
    set_samples(renderer);
    set_sun(c, frame, &renderer->meshes);
    frame_set_sample(renderer, 0);
    result = renderer_resize(renderer, c->width, c->height, frame->samples, frame->edges);
    c->pixels = renderer->pixels.address;
    result = result == MOTE_OK ? set_materials(renderer) : result;
    result = result == MOTE_OK ? set_particles(renderer) : result;
    return result == MOTE_OK ? bodies_prepare(&renderer->device, &renderer->meshes, frame, &renderer->bodies) : result;
}
