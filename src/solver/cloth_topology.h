// SPDX-License-Identifier: MIT
// cloth_topology.h - which edges, fans and links a triangle mesh of cloth has (cloth_topology.c). Constraints of a
// cloth (bending, volumes, tearing) are built from these tables.
#ifndef MOTE_SOLVER_CLOTH_TOPOLOGY_H
#define MOTE_SOLVER_CLOTH_TOPOLOGY_H

#include "mote_cloth.h"

typedef struct ClothEdge {
    uint32_t vertices[2];  // as its first triangle winds
    uint32_t triangles[2]; // the second is MOTE_NONE at a boundary
    uint32_t opposite[2];  // the vertices of these triangles that are not on the edge
} ClothEdge;

typedef struct ClothTopology {
    uint32_t vertex_count, triangle_count, edge_count;
    ClothEdge *edges;     // by their lower, then by their higher vertex
    uint32_t *fan_starts; // a vertex, and the end
    uint32_t *fans;       // 3 * triangle + corner, ascending for a vertex
} ClothTopology;

// An error if an index is out of range, a triangle has a vertex twice, a vertex has no triangle, or an edge has more
// than two triangles or two that wind differently. Free it, also after an error.
MoteResult cloth_topology_make(const MoteCloth *cloth, ClothTopology *out);
void cloth_topology_free(ClothTopology *topology);

// Pairs of vertices that links hold at their distance.
typedef struct ClothLinks {
    uint32_t stretch, shear, bend; // how many of each, in this order
    uint32_t *ends;                // 2 a link
} ClothLinks;

MoteResult cloth_links_make(const MoteCloth *cloth, const ClothTopology *topology, ClothLinks *out);
void cloth_links_free(ClothLinks *links);

#endif
