// SPDX-License-Identifier: MIT
// vertices.h - vertices of a mesh that lie at one place.
#ifndef MOTE_BASE_VERTICES_H
#define MOTE_BASE_VERTICES_H

#include "mote.h"

// first[v] becomes the first vertex at v's place, with v's normal if `normals` is not NULL. Files split vertices along
// the seams of their textures; light must not show them. False without memory.
bool vertices_find_first(const MoteVec3 *positions, const MoteVec3 *normals, uint32_t count, uint32_t *first);

#endif
