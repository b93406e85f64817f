// SPDX-License-Identifier: MIT
// probe.c - asks the world's shapes about points that are no particles (mote_world_probe).
#include "solver/world.h"

#include "base/error.h"
#include <stdlib.h>

enum { PROBE_BATCH = 1 << 20 }; // points that are on the device at a time

static void read_probes(const vec4 *surfaces, const uint *hits, uint32_t count, MoteProbe *out)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (MoteProbe){{surfaces[i].x, surfaces[i].y, surfaces[i].z}, surfaces[i].w, hits[i]};
    }
}

static void run_probe(MoteWorld *world, vec4 *surfaces, uint *hits, uint32_t count)
{
    const BackendFunctions *functions = world->backend->functions;
    MoteView *view = &world->view;
    functions->upload(world->backend, view->probe_points, surfaces, count * sizeof *surfaces);
    view->probe_count = count;
    LAUNCH(world, probe_shapes);
    functions->download(world->backend, surfaces, view->probe_points, count * sizeof *surfaces);
    functions->download(world->backend, hits, view->probe_hits, count * sizeof *hits);
}

MoteResult mote_world_probe(MoteWorld *world, const MoteVec3 *points, uint32_t count, MoteProbe *out)
{
    const BackendFunctions *functions = world->backend->functions;
    MoteView *view = &world->view;
    const uint32_t room = count < PROBE_BATCH ? count : PROBE_BATCH;
    if (count == 0) {
        return MOTE_OK;
    }
    vec4 *surfaces = malloc(room * sizeof *surfaces);
    uint *hits = malloc(room * sizeof *hits);
    view->probe_points = functions->allocate(world->backend, room * sizeof *surfaces);
    view->probe_hits = functions->allocate(world->backend, room * sizeof *hits);
    MoteResult result = surfaces != NULL && hits != NULL && view->probe_points != NULL && view->probe_hits != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory to ask about %u points", count);
    for (uint32_t first = 0; first < count && result == MOTE_OK; first += room) {
        const uint32_t part = count - first < room ? count - first : room;
        for (uint32_t i = 0; i < part; i++) {
            const MoteVec3 p = points[first + i];
            surfaces[i] = v4(p.x, p.y, p.z, 0.0f);
        }
        run_probe(world, surfaces, hits, part);
        read_probes(surfaces, hits, part, out + first);
        result = world_check_backend(world);
    }
    if (view->probe_points != NULL) {
        functions->release(world->backend, view->probe_points, room * sizeof *surfaces);
    }
    if (view->probe_hits != NULL) {
        functions->release(world->backend, view->probe_hits, room * sizeof *hits);
    }
    view->probe_points = NULL;
    view->probe_hits = NULL;
    view->probe_count = 0;
    free(hits);
    free(surfaces);
    return result;
}
