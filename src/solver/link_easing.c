// SPDX-License-Identifier: MIT
// link_easing.c - stiffness of links that changes while a world runs, without a jerk (kernels/cloth/links.h).
#include "base/error.h"
#include "mote_cloth.h"
#include "solver/batch.h"
#include "solver/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// s, in which all but a third of what a rest length is off by is gone, and in which stiffness changes by a factor of
// e^2 at most. Then a link that a change left stretched by a tenth gets shorter by two fifths of its length a second.
static const double EASE_TIME = 0.25;

// Behind the targets there is room for them in the order of rows.
static MoteResult grow_targets(MoteWorld *world, uint32_t count)
{
    float *grown = realloc(world->spring_targets, 2 * (size_t)count * sizeof *grown + 1);
    if (grown == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the stiffness of %u springs", count);
    }
    world->spring_targets = grown;
    return MOTE_OK;
}

MoteResult world_reserve_easing(MoteWorld *world, uint32_t count)
{
    const MoteResult result = grow_targets(world, count);
    return result == MOTE_OK ? world_reserve(world, CAPACITY_EASED_LINKS, count, 0) : result;
}

// The present compliances are what springs are to have from now on, but for changes that no step has seen yet.
void world_upload_easing(MoteWorld *world, const vec4 *laws, const float *offsets)
{
    const SolverData *view = &world->view;
    const uint32_t count = view->link_count;
    float *const compliances = world->spring_targets + count;
    for (uint32_t row = 0; row < count; row++) {
        compliances[row] = laws[row].y;
    }
    world->backend->functions->upload(world->backend, view->link_compliances, compliances, count * sizeof *compliances);
    world->backend->functions->upload(world->backend, view->link_offsets, offsets, count * sizeof *offsets);
    for (uint32_t number = world->target_count; number < count; number++) {
        world->spring_targets[number] = compliances[world->link_rows[number]];
    }
    world->target_count = count;
    world->targets_changed = true;
}

MoteResult world_allow_easing(MoteWorld *world)
{
    if (world->view.links_ease != 0u) {
        return MOTE_OK;
    }
    world->view.links_ease = 1;
    const MoteResult result = world->view.link_count > 0 ? world_order_links(world) : MOTE_OK;
    world->view.links_ease = result == MOTE_OK;
    return result;
}

// ---- Setting -----------------------------------------------------------------------------------------------

static MoteResult set_compliances(MoteWorld *world, uint32_t first, uint32_t count, float compliance)
{
    const MoteResult result = world_allow_easing(world);
    for (uint32_t i = first; i < first + count && result == MOTE_OK; i++) {
        world->targets_changed |= world->spring_targets[i] != compliance;
        world->spring_targets[i] = compliance;
    }
    return result;
}

MoteResult mote_world_set_spring_stiffness(MoteWorld *world, uint32_t first, uint32_t count, float stiffness)
{
    if ((uint64_t)first + count > world->view.link_count) {
        return mote_fail(MOTE_ERROR_INPUT, "springs %u to %llu are to have another stiffness, but there are %u", first,
                         (unsigned long long)first + count, world->view.link_count);
    }
    if (!(stiffness > 0.0f) || isinf(1.0f / stiffness)) {
        return mote_fail(MOTE_ERROR_INPUT, "springs are to have stiffness %g N/m, expected a positive number",
                         (double)stiffness);
    }
    return count > 0 ? set_compliances(world, first, count, 1.0f / stiffness) : MOTE_OK;
}

MoteResult mote_world_set_cloth_compliance(MoteWorld *world, uint32_t index, float stretch, float shear, float bend)
{
    if (index >= world->view.cloth_count) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth %u is not in the world, expected one below %u", index,
                         world->view.cloth_count);
    }
    const MoteClothInfo *info = &world->cloths[index].info;
    const struct {
        float compliance;
        uint32_t count;
    } kinds[] = {{stretch, info->stretch_springs},
                 {shear, info->shear_springs},
                 {bend, info->bend_springs},
                 {stretch, info->seam_springs}};
    MoteResult result = MOTE_OK;
    for (int k = 0; k < 4 && result == MOTE_OK; k++) {
        const float compliance = kinds[k].compliance;
        if (kinds[k].count > 0 && (!(compliance >= 0.0f) || !isfinite(compliance))) {
            result = mote_fail(MOTE_ERROR_INPUT, "cloth %u is to have a compliance of %g m/N, expected 0 or more",
                               index, (double)compliance);
        }
    }
    uint32_t first = info->first_spring;
    for (int k = 0; k < 4 && result == MOTE_OK; k++) {
        result = set_compliances(world, first, kinds[k].count, kinds[k].compliance);
        first += kinds[k].count;
    }
    return result;
}

// ---- Steps -------------------------------------------------------------------------------------------------

static void upload_targets(MoteWorld *world)
{
    const uint32_t count = world->view.link_count;
    float *const targets = world->spring_targets + count;
    for (uint32_t number = 0; number < count; number++) {
        targets[world->link_rows[number]] = world->spring_targets[number];
    }
    world->backend->functions->upload(world->backend, world->view.link_targets, targets, count * sizeof *targets);
    world->targets_changed = false;
}

void world_ease_links(MoteWorld *world, float time_step)
{
    SolverData *view = &world->view;
    if (view->links_ease == 0u || view->link_count == 0) {
        return;
    }
    if (world->targets_changed) {
        upload_targets(world);
    }
    const uint32_t parts = world->settings.small_steps > 1 ? world->settings.small_steps : 1;
    const double last = (double)world->last_time_step / parts;
    view->ease_decay = (float)exp(-(double)time_step / EASE_TIME);
    view->ease_rate = last > 0.0 ? (float)(1.0 / (last * last)) : 0.0f;
    LAUNCH(world, ease_links);
}
