// SPDX-License-Identifier: MIT
// air.c - the air that cloth moves in (kernels/cloth/aerodynamics.h), and that gas is in (kernels/gas/gas.h).
#include "mote_forces.h"
#include "solver/world.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>

MoteAir mote_default_air(void)
{
    return (MoteAir){.density = 1.2f, .eddy_size = 1.0f};
}

MoteResult mote_world_set_air(MoteWorld *world, const MoteAir *air)
{
    const float numbers[] = {air->density,      air->wind.x,          air->wind.y,          air->wind.z,
                             air->gust,         air->eddy_size,       air->vortex.x,        air->vortex.y,
                             air->vortex.z,     air->vortex_centre.x, air->vortex_centre.y, air->vortex_centre.z,
                             air->vortex_radius};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!isfinite(numbers[i])) {
            return mote_fail(MOTE_ERROR_INPUT, "the air has a number that is not finite");
        }
    }
    if (air->vortex_radius < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "the air has a vortex of radius %g m, expected a number not below 0",
                         (double)air->vortex_radius);
    }
    if (air->density < 0.0f || air->gust < 0.0f || !(air->eddy_size > 0.0f) || !isfinite(air->time)) {
        return mote_fail(
            MOTE_ERROR_INPUT,
            "the air has density %g kg/m^3, gusts of %g m/s, eddies of %g m and time %g s, expected numbers "
            "not below 0, eddies above it",
            (double)air->density, (double)air->gust, (double)air->eddy_size, air->time);
    }
    world->air = *air;
    return MOTE_OK;
}

MoteAir mote_world_air(const MoteWorld *world)
{
    return world->air;
}

void world_set_air_parameters(MoteWorld *world)
{
    const MoteAir *air = &world->air;
    SolverData *view = &world->view;
    const double carried = air->time;
    view->air_density = air->density;
    view->air_wind = v3(air->wind.x, air->wind.y, air->wind.z);
    view->air_carried =
        v3((float)(carried * air->wind.x), (float)(carried * air->wind.y), (float)(carried * air->wind.z));
    view->air_gust = air->gust;
    view->air_eddy = air->eddy_size;
    view->air_vortex = v3(air->vortex.x, air->vortex.y, air->vortex.z);
    view->air_vortex_centre = v3(air->vortex_centre.x, air->vortex_centre.y, air->vortex_centre.z);
    const float radius = air->vortex_radius, turns = v3_dot(view->air_vortex, view->air_vortex);
    view->air_vortex_size = radius > 0.0f && turns > 0.0f ? 1.0f / (radius * radius) : 0.0f;
    view->air_phase = (float)(air->time * (double)air->gust / (double)air->eddy_size);
}

// Lift and drag on velocities, before positions are predicted; external work, as that of force fields is.
void world_apply_air(MoteWorld *world)
{
    if (world->view.cloth_count > 0 && world->view.air_density > 0.0f) {
        world_locate_handles(world); // particles may have come and gone since the last step
        LAUNCH(world, blow_triangles);
        LAUNCH(world, blow_vertices);
    }
}
