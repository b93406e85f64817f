// SPDX-License-Identifier: MIT
// watch.c - makes warnings for the user from the energy and bounds watch of a frame (MoteWatch).
#include "scene/simulation.h"

#include <stdio.h>

// Of the energy: shares at which a gain is reported, and at which it counts as over.
static const double ALARM = 0.05, ALL_CLEAR = 0.01;
enum { SQUEEZED_FRAMES = 15 }; // in a row, before it is reported: colliders that pass each other squeeze for a moment

// Where a particle is; false if it is gone.
static bool find_particle(MoteSimulation *simulation, uint32_t id, MoteVec3 *place)
{
    MoteParticleView view;
    bool found = false;
    const MoteResult result = particle_copy_read(simulation->world, COPY_POSITIONS | COPY_IDS, &view);
    for (uint32_t i = 0; i < view.count && result == MOTE_OK && !found; i++) {
        if (view.ids[i] == id) {
            const float *p = view.positions + 4 * (size_t)i;
            *place = (MoteVec3){p[0], p[1], p[2]};
            found = true;
        }
    }
    particle_copy_free(&view);
    return found;
}

// A warning that ends with where particle `id` is.
static void warn(MoteSimulation *simulation, const char *what, uint32_t id)
{
    MoteVec3 p;
    const double time = mote_simulation_time(simulation);
    if (find_particle(simulation, id, &p)) {
        notices_add(&simulation->notices, true, time, "%s, particle %u at (%.4g, %.4g, %.4g) m among them", what, id,
                    (double)p.x, (double)p.y, (double)p.z);
    } else {
        notices_add(&simulation->notices, true, time, "%s", what);
    }
}

static void watch_energy(MoteSimulation *simulation, const MoteWatch *watch)
{
    const double share = watch->energy > 0.0 ? watch->gained / watch->energy : 0.0;
    if (share < ALL_CLEAR) {
        simulation->gain_reported = false;
    } else if (!(share < ALARM) && !simulation->gain_reported) {
        char what[256];
        snprintf(what, sizeof what,
                 "constraints have made %.3g J out of nothing, %.2g %% of the energy there is: something overlaps, or "
                 "steps are too long; some %s are fast",
                 watch->gained, 100.0 * share, watch->gainer == MOTE_NONE ? "colliders" : "particles");
        warn(simulation, what, watch->gainer);
        simulation->gain_reported = true;
    }
}

void simulation_watch(MoteSimulation *simulation)
{
    const MoteWatch watch = mote_world_watch(simulation->world);
    char what[160];
    watch_energy(simulation, &watch);
    if (watch.escaped > 0 && !simulation->escape_reported) {
        snprintf(what, sizeof what,
                 watch.escaped == 1 ? "%u particle is outside the scene's bounds"
                                    : "%u particles are outside the scene's bounds",
                 watch.escaped);
        warn(simulation, what, watch.escaped_id);
    }
    simulation->escape_reported = watch.escaped > 0;
    simulation->squeezed_frames = watch.squeezed > 0 ? simulation->squeezed_frames + 1 : 0;
    if (simulation->squeezed_frames == SQUEEZED_FRAMES) {
        snprintf(what, sizeof what, "%u particles are caught between colliders that leave no room", watch.squeezed);
        warn(simulation, what, watch.squeezed_id);
    }
}
