// SPDX-License-Identifier: MIT
#include "viewer/inspect.h"

#include "scene/scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Pairs count as touching up to a thousandth beyond the distance that contacts keep: they rest at it, not below.
static const float touching = 1.001f;
enum { BLOCK = 8 }; // entries of the lists, see MoteRenderView

// Of two solids, as the solver has it (src/kernels/kinds.h).
static bool can_touch(uint32_t a, uint32_t b)
{
    return (a & MOTE_PHASE_GROUP_MASK) != (b & MOTE_PHASE_GROUP_MASK) || mote_phase_kind(a) == MOTE_KIND_GRAIN ||
           mote_phase_kind(a) == MOTE_KIND_CLOTH;
}

static bool is_solid(uint32_t phase)
{
    return mote_phase_kind(phase) != MOTE_KIND_LIQUID && mote_phase_kind(phase) != MOTE_KIND_GAS;
}

static float distance_between(const float *a, const float *b)
{
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrtf(x * x + y * y + z * z);
}

// The neighbours of particle `i`, and how many; none where the lists do not reach so far.
static const uint32_t *neighbours_of(const FrameSnapshot *snapshot, uint32_t i, uint32_t *count)
{
    const uint32_t *counts = snapshot->view.neighbour_counts.address, *starts = snapshot->view.neighbour_starts.address;
    const size_t room = snapshot->view.neighbours.bytes / sizeof(uint32_t), start = (size_t)BLOCK * starts[i];
    *count = start + counts[i] <= room ? counts[i] : 0;
    return (const uint32_t *)snapshot->view.neighbours.address + start;
}

// ---- One particle ----

static int by_distance(const void *a, const void *b)
{
    const float x = ((const InspectedNeighbour *)a)->distance, y = ((const InspectedNeighbour *)b)->distance;
    return (x > y) - (x < y);
}

void inspect_particle(const FrameSnapshot *snapshot, uint32_t id, Inspection *out)
{
    memset(out, 0, sizeof *out);
    out->id = id;
    out->snapshot = snapshot->number;
    const uint32_t i = snapshot_find(snapshot, id);
    if (i == MOTE_NONE) {
        return;
    }
    const float *positions = snapshot->view.positions.address, *p = positions + 4 * (size_t)i;
    const float *v = (const float *)snapshot->view.velocities.address + 4 * (size_t)i;
    const uint32_t *phases = snapshot->view.phases.address, *ids = snapshot->view.ids.address;
    out->found = true;
    out->phase = phases[i];
    out->position = (MoteVec3){p[0], p[1], p[2]};
    out->velocity = (MoteVec3){v[0], v[1], v[2]};
    out->density = v[3];
    out->inverse_mass = p[3];
    out->radius = is_solid(out->phase) ? snapshot->view.solid_radius : 0.5f * snapshot->view.spacing;
    uint32_t count;
    const uint32_t *list = neighbours_of(snapshot, i, &count);
    out->neighbours = count;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t j = list[k];
        if (j >= snapshot->view.particle_count) {
            continue;
        }
        const float *q = positions + 4 * (size_t)j, distance = distance_between(p, q);
        const bool contact = can_touch(out->phase, phases[j]) && is_solid(out->phase) && is_solid(phases[j]) &&
                             distance <= 2.0f * touching * snapshot->view.solid_radius;
        out->contacts += contact ? 1 : 0;
        if (out->listed < INSPECT_NEIGHBOURS) {
            out->list[out->listed++] = (InspectedNeighbour){ids[j], {q[0], q[1], q[2]}, distance, contact};
        }
    }
    qsort(out->list, out->listed, sizeof *out->list, by_distance);
    for (uint32_t c = 0; c < snapshot->channel_count; c++) {
        const FrameSnapshotChannel *channel = &snapshot->channels[c];
        InspectedValue *value = &out->values[out->value_count++];
        memcpy(value->name, channel->name, sizeof value->name);
        value->components = channel->components;
        memcpy(value->values, (const float *)channel->values.data + (size_t)channel->components * i,
               channel->components * sizeof(float));
    }
}

// ---- As text ----

typedef struct Lines {
    char *text;
    size_t size, length;
} Lines;

static void add(Lines *lines, const char *format, ...)
{
    if (lines->length >= lines->size) {
        return;
    }
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(lines->text + lines->length, lines->size - lines->length, format, values);
    va_end(values);
    lines->length += length > 0 ? (size_t)length : 0;
}

void inspect_text(const Inspection *s, char *text, size_t size)
{
    Lines lines = {text, size, 0};
    text[0] = '\0';
    if (!s->found) {
        add(&lines, "particle %u is gone", s->id);
        return;
    }
    const bool solid = is_solid(s->phase);
    add(&lines,
        "id %u, phase group %u, %s\nposition %.4g, %.4g, %.4g m\nvelocity %.4g, %.4g, %.4g m/s\n"
        "density %.4f of rest, mass %.4g kg\n",
        s->id, s->phase & MOTE_PHASE_GROUP_MASK,
        mote_phase_kind(s->phase) == MOTE_KIND_GAS     ? "gas"
        : !solid                                       ? "liquid"
        : mote_phase_kind(s->phase) == MOTE_KIND_GRAIN ? "grain"
        : mote_phase_kind(s->phase) == MOTE_KIND_CLOTH ? "cloth"
                                                       : "of a body",
        (double)s->position.x, (double)s->position.y, (double)s->position.z, (double)s->velocity.x,
        (double)s->velocity.y, (double)s->velocity.z, (double)s->density,
        s->inverse_mass > 0.0f ? 1.0 / (double)s->inverse_mass : 0.0);
    for (uint32_t i = 0; i < s->value_count; i++) {
        const InspectedValue *value = &s->values[i];
        const bool force = strncmp(value->name, "force_", 6) == 0; // whose fourth component says nothing
        add(&lines, "%s", value->name);
        for (uint32_t k = 0; k < (force ? 3 : value->components); k++) {
            add(&lines, "%s %.4g", k > 0 ? "," : "", (double)value->values[k]);
        }
        add(&lines, "%s\n", force ? " N" : "");
    }
    add(&lines, "%u neighbours, %u touch it; nearest first:", s->neighbours, s->contacts);
    for (uint32_t i = 0; i < s->listed; i++) {
        add(&lines, "\n%8u  %.5f m%s", s->list[i].id, (double)s->list[i].distance,
            s->list[i].contact ? "  touches" : "");
    }
}

// ---- All particles ----

void inspect_all(const FrameSnapshot *snapshot, Measures *out)
{
    *out = (Measures){.clusters = snapshot->view.cluster_count,
                      .colliders = SCENE_COUNT(&snapshot->model->scene->values, collider)};
    const uint32_t *phases = snapshot->view.phases.address;
    const float *positions = snapshot->view.positions.address;
    const float apart = 2.0f * snapshot->view.solid_radius;
    double sum = 0.0, largest = 0.0;
    for (uint32_t i = 0; i < snapshot->view.particle_count; i++) {
        const uint32_t phase = phases[i];
        uint32_t count;
        const uint32_t *list = neighbours_of(snapshot, i, &count);
        out->neighbour_pairs += count;
        out->liquid += is_solid(phase) ? 0 : 1;
        out->grains += mote_phase_kind(phase) == MOTE_KIND_GRAIN ? 1 : 0;
        out->members += mote_phase_kind(phase) == MOTE_KIND_BODY ? 1 : 0;
        for (uint32_t k = 0; k < count && is_solid(phase); k++) {
            const uint32_t j = list[k];
            if (j <= i || j >= snapshot->view.particle_count || !is_solid(phases[j]) || !can_touch(phase, phases[j])) {
                continue; // each pair once
            }
            const float distance = distance_between(positions + 4 * (size_t)i, positions + 4 * (size_t)j);
            if (distance <= touching * apart) {
                const double overlap = fmax(1.0 - (double)(distance / apart), 0.0);
                out->contacts++;
                sum += overlap;
                largest = fmax(largest, overlap);
            }
        }
    }
    out->neighbour_pairs /= 2;
    out->overlap_mean = out->contacts > 0 ? sum / (double)out->contacts : 0.0;
    out->overlap_max = largest;
}
