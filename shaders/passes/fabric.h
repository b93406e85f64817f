// SPDX-License-Identifier: MIT
// fabric.h - constants of the fabric pass.
#ifndef MOTE_PASSES_FABRIC_H
#define MOTE_PASSES_FABRIC_H

#include "render_shared.h"

#define FABRIC_FACES 0u // front and back: an instance each
#define FABRIC_RIMS  1u // what joins them at borders

struct FabricPush {
    uint part; // FABRIC_FACES or FABRIC_RIMS
};
SHARED_STRUCT(FabricPush)

#endif
