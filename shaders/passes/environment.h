// SPDX-License-Identifier: MIT
// environment.h - constants of the environment pass.
#ifndef MOTE_PASSES_ENVIRONMENT_H
#define MOTE_PASSES_ENVIRONMENT_H

#include "render_shared.h"

struct EnvironmentConstants {
    ADDRESS(Vec4Target) sums; // what sky.glsl's SkyBlock has, then the same for each row
    vec4 sky_color;           // rgb times brightness; w is haze
};
SHARED_STRUCT(EnvironmentConstants)

struct EnvironmentPush {
    uint rows;
};
SHARED_STRUCT(EnvironmentPush)

#endif
