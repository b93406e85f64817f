// SPDX-License-Identifier: MIT
// views.c - debug views: particles coloured by a value, or an image of the surface passes as colours
// (shaders/render/views.comp); also the range of values of the colour bar.
#include "passes/views.h"
#include "render/passes/views.h"

#include "base/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What each view shows, how, and the title of its legend. VIEW_liquid is no debug view.
typedef struct ViewRow {
    uint32_t show, map;
    const char *title;
} ViewRow;
static const ViewRow view_rows[VIEW_COUNT] = {
    [VIEW_liquid] = {0, MAP_NONE, ""},
    [VIEW_particles] = {SHOW_PHASE, MAP_NONE, "particles, coloured by phase"},
    [VIEW_density] = {SHOW_DENSITY, MAP_DIVERGING, "density error (%)"},
    [VIEW_speed] = {SHOW_SPEED, MAP_SEQUENTIAL, "speed (m/s)"},
    [VIEW_id] = {SHOW_ID, MAP_NONE, "particles, coloured by id"},
    [VIEW_neighbours] = {SHOW_NEIGHBOURS, MAP_SEQUENTIAL, "neighbours"},
    [VIEW_clusters] = {SHOW_CLUSTER, MAP_NONE, "members of bodies, coloured by cluster"},
    [VIEW_stretch] = {SHOW_STRETCH, MAP_SEQUENTIAL, "largest stretch of links (%)"},
    [VIEW_channel] = {SHOW_CHANNEL, MAP_SEQUENTIAL, "channel"},
    [VIEW_ellipsoids] = {SHOW_PHASE, MAP_NONE, "ellipsoids, coloured by phase"},
    [VIEW_depth] = {SHOW_DEPTH, MAP_SEQUENTIAL, "depth before smoothing (m)"},
    [VIEW_smooth_depth] = {SHOW_SMOOTH_DEPTH, MAP_SEQUENTIAL, "depth after smoothing (m)"},
    [VIEW_normals] = {SHOW_NORMALS, MAP_NONE, "normals, -1 to 1 in x y z as 0 to 1 in r g b"},
    [VIEW_thickness] = {SHOW_THICKNESS, MAP_SEQUENTIAL, "thickness (m)"},
    [VIEW_foam] = {SHOW_FOAM, MAP_SEQUENTIAL, "optical depth of white water"},
    [VIEW_foam_class] = {SHOW_FOAM_CLASS, MAP_SEQUENTIAL, "spray 0, foam 1, bubbles 2"},
    [VIEW_smoke] = {SHOW_SMOKE, MAP_SEQUENTIAL, "optical depth of smoke"},
    [VIEW_smoke_age] = {SHOW_SMOKE_MEAN, MAP_SEQUENTIAL, "age of smoke (s)"},
    [VIEW_smoke_temperature] = {SHOW_SMOKE_MEAN, MAP_SEQUENTIAL, "temperature of smoke (K above the environment)"},
    [VIEW_smoke_sun] = {SHOW_SMOKE_SUN, MAP_SEQUENTIAL, "optical depth of smoke towards the sun"},
    [VIEW_colliders] = {SHOW_PHASE, MAP_NONE, "colliders: containers orange, solids green"},
};

typedef struct ViewsPass {
    VkPipeline pipeline; // for all views; comes with its first use: most runs show none
    ViewsConstants constants;
} ViewsPass;

// ---- Ranges ------------------------------------------------------------------------------------------------

typedef struct Range {
    float lowest, highest; // crossed while nothing was added
} Range;

static void add_to_range(Range *range, float value)
{
    if (isfinite(value)) {
        range->lowest = fminf(range->lowest, value);
        range->highest = fmaxf(range->highest, value);
    }
}

static float vector_length(const float *values, uint32_t components)
{
    float sum = 0.0f;
    for (uint32_t k = 0; k < components; k++) {
        sum += values[k] * values[k];
    }
    return sqrtf(sum);
}

// Of a value of every particle. A debug view may wait for a copy of one array where the host cannot read it in place.
static MoteResult measure_particles(const Frame *frame, const MoteArray *array, uint32_t components, Range *range)
{
    *range = (Range){INFINITY, -INFINITY};
    const void *values = array->address;
    void *copy = NULL;
    if (frame->solver.memory != MOTE_MEMORY_HOST && array->bytes > 0) {
        copy = malloc(array->bytes);
        if (copy == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no host memory for the values of %u particles",
                             frame->solver.particle_count);
        }
        values = copy;
        const MoteResult result = mote_world_copy_out(frame->world, copy, array->address, array->bytes);
        if (result != MOTE_OK) {
            free(copy);
            return result;
        }
    }
    const uint32_t count = array->bytes > 0 ? frame->solver.particle_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (frame->view == VIEW_speed) {
            add_to_range(range, vector_length((const float *)values + 4 * (size_t)i, 3));
        } else if (frame->view == VIEW_neighbours) {
            add_to_range(range, (float)((const uint32_t *)values)[i]);
        } else {
            const float *value = (const float *)values + (size_t)components * i;
            add_to_range(range, components == 1 ? value[0] : vector_length(value, components));
        }
    }
    free(copy);
    return MOTE_OK;
}

// View z of the nearest and the farthest corner of the box around the particles.
static Range measure_depth(const Frame *frame)
{
    const FrameConstants *c = &frame->constants;
    const MoteVec3 low = frame->solver.bounds_min, high = frame->solver.bounds_max;
    Range range = {INFINITY, -INFINITY};
    for (uint32_t corner = 0; corner < 8; corner++) {
        const float x = (corner & 1u) != 0 ? high.x : low.x, y = (corner & 2u) != 0 ? high.y : low.y;
        const float z = (corner & 4u) != 0 ? high.z : low.z;
        add_to_range(&range,
                     (x - c->eye.x) * c->forward.x + (y - c->eye.y) * c->forward.y + (z - c->eye.z) * c->forward.z);
    }
    range.lowest = fmaxf(range.lowest, c->near_plane);
    return range;
}

// Ranges that begin at 0 or move with the particles go up to a round number, so that colours keep their meaning from
// one picture to the next most of the time.
static MoteResult choose_range(const Frame *frame, ViewsConstants *constants)
{
    Range range = {0.0f, 1.0f};
    MoteResult result = MOTE_OK;
    switch (frame->view) {
    case VIEW_density:
        range = (Range){-0.1f, 0.1f};
        break;
    case VIEW_stretch:
        range = (Range){0.0f, 0.1f};
        break;
    case VIEW_speed:
        result = measure_particles(frame, &frame->solver.velocities, 4, &range);
        range = (Range){0.0f, nice_ceiling(range.highest)};
        break;
    case VIEW_neighbours:
        result = measure_particles(frame, &frame->solver.neighbour_counts, 1, &range);
        range = (Range){0.0f, 4.0f * ceilf(fmaxf(range.highest, 1.0f) / 4.0f)}; // whole numbers at all ticks
        break;
    case VIEW_channel:
        result = measure_particles(frame, &frame->channel_values.values, frame->channel_values.components, &range);
        break;
    case VIEW_depth:
    case VIEW_smooth_depth:
        range = measure_depth(frame);
        break;
    case VIEW_thickness:
        range = measure_depth(frame);
        range = (Range){0.0f, nice_ceiling(range.highest - range.lowest)};
        break;
    case VIEW_smoke_age:
        range = (Range){0.0f, 8.0f};
        break;
    case VIEW_smoke_temperature:
        range = (Range){0.0f, 2000.0f};
        break;
    case VIEW_smoke:
    case VIEW_smoke_sun:
    case VIEW_foam:
        range = (Range){0.0f, 4.0f};
        break;
    case VIEW_foam_class:
        range = (Range){0.0f, 2.0f};
        break;
    default:
        break;
    }
    if (!(range.lowest <= range.highest)) {
        range = (Range){0.0f, 1.0f};
    }
    // A range of nothing would divide by 0; a value that all share is then in the middle.
    const float largest = fmaxf(fabsf(range.lowest), fabsf(range.highest));
    if (!(range.highest - range.lowest > 1e-5f * largest)) {
        const float half = largest > 0.0f ? 0.05f * largest : 0.5f;
        range = (Range){range.lowest - half, range.highest + half};
    }
    constants->lowest = range.lowest;
    constants->highest = range.highest;
    return result;
}

Legend view_legend(const MoteRenderer *renderer)
{
    const Frame *frame = &renderer->frame;
    const ViewRow *row = &view_rows[frame->view];
    const FrameConstants *c = &frame->constants;
    const ViewsConstants *shown = &((const ViewsPass *)renderer->states[PASS_views])->constants;
    Legend legend = {.map = row->map, .lowest = shown->lowest, .highest = shown->highest};
    if (frame->view == VIEW_density || frame->view == VIEW_stretch) {
        legend.lowest *= 100.0f;
        legend.highest *= 100.0f;
    }
    if (frame->view == VIEW_channel) {
        snprintf(legend.title, sizeof legend.title, c->channel_components > 1 ? "length of %s" : "%s", frame->channel);
    } else {
        snprintf(legend.title, sizeof legend.title, "%s", row->title);
    }
    return legend;
}

// ---- The pass ----------------------------------------------------------------------------------------------

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    ViewsPass *pass = state;
    const Frame *frame = &renderer->frame;
    if (frame->view == VIEW_liquid) {
        return MOTE_OK;
    }
    MoteResult result = MOTE_OK;
    if (pass->pipeline == VK_NULL_HANDLE) {
        result = pipeline_create_compute(renderer, "views.comp", NULL, 0, &pass->pipeline);
    }
    if (result == MOTE_OK && frame->sample == 0) {
        const ViewRow *row = &view_rows[frame->view];
        pass->constants = (ViewsConstants){.show = row->show, .map = row->map};
        pass->constants.has_foam = frame->constants.foam != 0;
        result = choose_range(frame, &pass->constants);
    }
    if (result == MOTE_OK) {
        pass_constants(renderer, &pass->constants, sizeof pass->constants);
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipeline, NULL, 0);
        pass_dispatch_pixels(commands, renderer->width, renderer->height);
    }
    return result;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    const ViewsPass *pass = state;
    vkDestroyPipeline(renderer->device.handle, pass->pipeline, NULL);
}

const Pass views_pass = {.state_bytes = sizeof(ViewsPass), .record = record, .destroy = destroy};
