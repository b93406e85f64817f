// SPDX-License-Identifier: MIT
// liquids.c - liquid parameters of materials, and whether the liquids of a world differ.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(LiquidParameters) == sizeof(vec4), "a row of view.liquids");

static LiquidParameters parameters_of(const MoteMaterial *material)
{
    return (LiquidParameters){material->viscosity, material->vorticity, material->max_tension,
                              material->artificial_pressure};
}

MoteResult world_check_liquid(uint32_t i, const MoteMaterial *material)
{
    const struct {
        const char *name;
        float value;
    } fields[] = {{"viscosity", material->viscosity},
                  {"vorticity", material->vorticity},
                  {"max_tension", material->max_tension},
                  {"artificial_pressure", material->artificial_pressure}};
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
        const double largest = settings_maximum(fields[k].name);
        if (!isfinite(fields[k].value) || (double)fields[k].value > largest) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "material %u has %s %g, expected 0 to %g, or less than 0 for what the settings say", i,
                             fields[k].name, (double)fields[k].value, largest);
        }
    }
    return MOTE_OK;
}

MoteResult world_set_liquids(MoteWorld *world, const MoteMaterial *materials, uint32_t count)
{
    WorldLiquids liquids = {.rows = malloc(count * sizeof *liquids.rows + 1)};
    if (liquids.rows == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u materials", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const LiquidParameters row = liquids.rows[i] = parameters_of(&materials[i]);
        liquids.stated |= row.viscosity >= 0.0f || row.vorticity >= 0.0f || row.max_tension >= 0.0f ||
                          row.artificial_pressure >= 0.0f;
        liquids.viscosity |= row.viscosity > 0.0f;
        liquids.vorticity |= row.vorticity > 0.0f;
        liquids.pressure |= row.artificial_pressure > 0.0f;
    }
    const bool vorticity = liquids.vorticity || world->settings.vorticity > 0.0f;
    const uint32_t room = vorticity ? world->capacities[CAPACITY_PARTICLES] : 0;
    const MoteResult result = world_reserve(world, CAPACITY_VORTICITY, room, 0);
    if (result != MOTE_OK) {
        free(liquids.rows);
        return result;
    }
    if (count > 0) {
        world->backend->functions->upload(world->backend, world->view.liquids, liquids.rows,
                                          count * sizeof *liquids.rows);
    }
    free(world->liquids.rows);
    world->liquids = liquids;
    return MOTE_OK;
}

// The row of the only liquid there is, or NULL: there are several, or none, or its group has been given a material by
// number.
static const LiquidParameters *only_liquid(const MoteWorld *world)
{
    const uint32_t groups = world->tally.liquid_groups;
    if (!world->liquids.stated || groups == 0 || groups == MANY_LIQUIDS || groups - 1 < world->view.group_count) {
        return NULL;
    }
    return &world->liquids.rows[groups - 1 < world->view.material_count ? groups - 1 : 0];
}

bool world_liquids_differ(const MoteWorld *world)
{
    const bool unilateral = world->settings.density_mode == MOTE_DENSITY_UNILATERAL;
    const bool gas_beside = world->has_gas && world->tally.has_liquid && world->view.material_count > 0;
    return (gas_beside && !unilateral) || // gas has no tension (tension_of in liquid.h)
           (world->liquids.stated && world->tally.liquid_groups != 0 && only_liquid(world) == NULL);
}

LiquidParameters world_liquid_parameters(const MoteWorld *world)
{
    const MoteSettings *settings = &world->settings;
    LiquidParameters all = {settings->viscosity, settings->vorticity, settings->max_tension,
                            settings->artificial_pressure};
    const LiquidParameters *own = only_liquid(world);
    if (own != NULL) {
        all.viscosity = own->viscosity >= 0.0f ? own->viscosity : all.viscosity;
        all.vorticity = own->vorticity >= 0.0f ? own->vorticity : all.vorticity;
        all.max_tension = own->max_tension >= 0.0f ? own->max_tension : all.max_tension;
        all.artificial_pressure = own->artificial_pressure >= 0.0f ? own->artificial_pressure : all.artificial_pressure;
    }
    return all;
}
