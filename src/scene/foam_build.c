// SPDX-License-Identifier: MIT
// foam_build.c - the spray, foam and bubbles of a scene: its section `foam`.
#include "scene/build.h"
#include "scene/keys.h"
#include "scene/load.h"

#include "base/error.h"
#include "mote_diffuse.h"

static MoteFoam foam_of(const SceneFoam *foam)
{
    return (MoteFoam){
        .amount = foam->amount,
        .capacity = foam->amount > 0.0f ? foam->capacity : 0,
        .life = foam->life,
        .speed = foam->speed,
        .air = foam->air,
        .crest = foam->crest,
        .vorticity = foam->vorticity,
        .air_lower = foam->air_lower,
        .air_upper = foam->air_upper,
        .crest_lower = foam->crest_lower,
        .crest_upper = foam->crest_upper,
        .vorticity_lower = foam->vorticity_lower,
        .vorticity_upper = foam->vorticity_upper,
        .energy_lower = foam->energy_lower,
        .energy_upper = foam->energy_upper,
        .spray_drag = foam->spray_drag,
        .bubble_drag = foam->bubble_drag,
        .buoyancy = foam->buoyancy,
        .seed = foam->seed,
    };
}

MoteFoam mote_default_foam(void)
{
    SceneFoam foam;
    scene_defaults(SCENE_SECTION_foam, &foam);
    foam.amount = 1.0f;
    return foam_of(&foam);
}

// What the world would refuse, where the file says it.
void scene_check_foam(SceneReader *reader, uint32_t element)
{
    const SceneFoam *foam = SCENE_AT(&reader->scene->values, foam, element);
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_foam, element);
    const struct {
        const char *lower, *upper;
        float from, to;
    } limits[] = {
        {"air_lower", "air_upper", foam->air_lower, foam->air_upper},
        {"crest_lower", "crest_upper", foam->crest_lower, foam->crest_upper},
        {"vorticity_lower", "vorticity_upper", foam->vorticity_lower, foam->vorticity_upper},
        {"energy_lower", "energy_upper", foam->energy_lower, foam->energy_upper},
    };
    for (uint32_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const ScenePath upper = path_to_key(&parent, limits[i].upper);
        if (limits[i].to < limits[i].from) {
            scene_report(reader, &upper, SCENE_AT_VALUE, "found %.7g, expected at least foam.%s, %.7g",
                         (double)limits[i].to, limits[i].lower, (double)limits[i].from);
        }
    }
}

MoteResult scene_build_foam(SceneStart *start)
{
    const SceneFoam *foam = SCENE_AT(&start->scene->values, foam, 0);
    if (foam->amount <= 0.0f) {
        return MOTE_OK;
    }
    MoteFoam own = foam_of(foam);
    own.capacity = scene_diffuse_capacity(&start->scene->values);
    const MoteResult result = mote_world_set_foam(start->world, &own);
    return result == MOTE_OK ? MOTE_OK : mote_fail(result, "%s: foam: %s", start->scene->path, mote_error_message());
}
