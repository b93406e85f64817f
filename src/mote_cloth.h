// SPDX-License-Identifier: MIT
// mote_cloth.h - cloth: triangle meshes whose vertices are particles, held together by links.
#ifndef MOTE_CLOTH_H
#define MOTE_CLOTH_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#endif

// What keeps a cloth inflated, whose triangles must close and face outwards.
typedef enum MoteInflation {
    MOTE_INFLATION_NONE,
    MOTE_INFLATION_VOLUME, // its volume is held at `pressure` times that at rest
    MOTE_INFLATION_GAS,    // an amount of gas, which presses by Boyle's law
} MoteInflation;

// What touches what else is solid or liquid: the vertices of a cloth, or its triangles (docs/cloth.md). With its own
// vertices a cloth has contacts by vertices, unless by MOTE_CLOTH_CONTACTS_ALL.
typedef enum MoteClothContacts {
    MOTE_CLOTH_CONTACTS_AUTO,     // triangles, if the longest edge is longer than the distance that the cloth keeps
    MOTE_CLOTH_CONTACTS_VERTICES, // what is smaller than the gaps between them falls through
    MOTE_CLOTH_CONTACTS_TRIANGLES,
    MOTE_CLOTH_CONTACTS_ALL, // triangles, for its own vertices, too
} MoteClothContacts;

// A cloth is made of particles of MOTE_KIND_CLOTH that are in the world already; one without mass is a pin. Its links
// are springs of the world (mote_world_read_springs): along edges against stretching, across the quads of a grid
// against shearing, and to vertices two away against bending. A mesh that is no grid resists shear by its edges, and
// bending by a link across each edge between two triangles (UPP section 8). An edge has at most two triangles, which
// wind the same way; the front is where a triangle winds counter-clockwise.
typedef struct MoteCloth {
    uint32_t vertex_count, triangle_count;
    const MoteParticleHandle *vertices;
    const uint32_t *triangles;      // 3 vertices each, by their places in `vertices`
    const float *uvs;               // u and v of each corner, 6 a triangle; NULL is zeros
    const MoteVec3 *rest_positions; // m, a vertex: the shape without stretch; NULL is where the particles are
    uint32_t columns, rows;         // of a grid, whose vertices come row by row; 0 is any other mesh
    float stretch_compliance;       // m/N, of a link: its extension over its tension; 0 is as stiff as can be
    float shear_compliance;         // likewise
    float bend_compliance;          // likewise; INFINITY: no links against bending, and so for the others
    float damping;                  // N s/m, of a link that has a compliance
    float thickness; // m, distance at which its vertices touch each other, and half of what they keep from what else is
                     // solid; at most the smoothing radius. 0 is the distance of all solids. Two of its vertices that
                     // are nearer than that at rest keep their distance at rest
    MoteClothContacts contacts;
    float drag, lift; // coefficients of the air's forces on a triangle (MoteAir): a flat plate has about 1.2
    uint32_t tethers; // 0 to 2: of a vertex, to the nearest pins; they keep it from going farther from them
                      // than the links between are long at rest
    MoteInflation inflation;
    float pressure;          // times the volume at rest; of a gas what it has there above the atmosphere, Pa
    float volume_compliance; // m^3/Pa, where a volume is held: its error over the excess pressure; 0 is exact
    float atmosphere;        // Pa, around a gas
    float leak; // discharge coefficient of holes: gas leaves through edges with one triangle, 0.6 is usual. 0: a
                // mesh with such edges is refused
    float bend_stiffness; // N m, flexural rigidity: resists bending by the angles between triangles, besides links; 0:
                          // none
    float crease_yield;   // rad: where a triangle bends farther against its neighbour, a crease stays; 0: never
    float crease_creep;   // 1/s: the share of what is beyond the yield that becomes crease in a second
    // Tearing (docs/cloth.md). A vertex is split in two where an edge of it is longer than at rest by too much; what it
    // is made of grows by a particle, triangles stay.
    float tear_stretch;   // an edge tears when it is so many times as long as at rest; 0 is never
    float tear_variation; // 0 to 1: vertices differ, and the weakest tear at this share less of the stretch beyond 1
    uint32_t tear_splits; // most splits in a step, but for two that may belong to the last; 0 is as many as there are
    uint32_t tear_room;   // splits there is room for in all; 0 is about half the vertices
} MoteCloth;
// Stiff against stretching, soft against bending; the vertices and triangles are still to be given.
MOTE_API MoteCloth mote_default_cloth(void);

typedef struct MoteClothInfo {
    uint32_t vertices, triangles; // now: each split is a vertex more
    uint32_t edges;               // before any split
    uint32_t first_spring; // of its links among the world's springs: those against stretching first, then the others
    uint32_t stretch_springs, shear_springs, bend_springs;
    uint32_t tethers;        // of all vertices, before any split
    uint32_t seam_springs;   // of cloth that tears, behind the others: one along each inner edge, broken until it opens
    uint32_t splits;         // of vertices, since the cloth was made
    uint32_t split_room;     // most there can be
    uint32_t splits_refused; // for lack of room; each counts again in every step that it is wanted in
} MoteClothInfo;

// Cloths are numbered from 0 in the order of adding; *index (may be NULL) is the new one's. All of it is added or none.
MOTE_API MoteResult mote_world_add_cloth(MoteWorld *world, const MoteCloth *cloth, uint32_t *index);
MOTE_API uint32_t mote_world_cloth_count(const MoteWorld *world);
// Waits for the device if the cloth can tear.
MOTE_API MoteResult mote_world_cloth_info(const MoteWorld *world, uint32_t index, MoteClothInfo *out);
// The mesh as it is now: the particles of its MoteClothInfo.vertices, and 3 of their places for each triangle. Either
// may be NULL.
MOTE_API MoteResult mote_world_read_cloth(MoteWorld *world, uint32_t index, MoteParticleHandle *vertices,
                                          uint32_t *triangles);
// The texture coordinates of its corners, 6 for each of its triangles. Tearing leaves them as they are.
MOTE_API MoteResult mote_world_read_cloth_uvs(MoteWorld *world, uint32_t index, float *uvs);

// Other compliances (m/N) of its links, as of springs that get another stiffness (mote_world_set_spring_stiffness).
MOTE_API MoteResult mote_world_set_cloth_compliance(MoteWorld *world, uint32_t index, float stretch, float shear,
                                                    float bend);

// Another `pressure` of a cloth that is inflated; it may change with every step.
MOTE_API MoteResult mote_world_set_cloth_pressure(MoteWorld *world, uint32_t index, float pressure);

typedef struct MoteClothPressure {
    float rest_volume, volume; // m^3; of a cloth without inflation all is 0
    float excess;              // Pa, of its gas above the atmosphere, or what holds its volume
    float gas;                 // the share of its gas that is left
    float hole_area;           // m^2, where it can leak
} MoteClothPressure;
// As the last step has solved it; volumes are those at the step's end but for what came behind pressure in it.
MOTE_API MoteResult mote_world_read_cloth_pressure(MoteWorld *world, uint32_t index, MoteClothPressure *out);

// Pins that move: particles without mass, of cloth or of any kind, that keep their places in the frame of a collider
// or, where collider.generation is 0, in one that mote_world_move_pins moves. Places are relative to the frame's
// present pose; a free frame begins at `pose`. Pins of a collider that is removed stay where they are.
typedef struct MotePins {
    uint32_t count;
    const MoteParticleHandle *particles;
    MoteColliderId collider;
    MoteTransform pose;
} MotePins;
// Sets of pins are numbered from 0 in the order of adding; *index may be NULL.
MOTE_API MoteResult mote_world_add_pins(MoteWorld *world, const MotePins *pins, uint32_t *index);
// In every step from now on the frame moves from one pose to the other; as that of colliders it is to be given anew
// before each step. For free frames.
MOTE_API MoteResult mote_world_move_pins(MoteWorld *world, uint32_t index, MoteTransform from, MoteTransform to);

// A third of the area (m^2) of its triangles for each of `vertex_count` vertices: times a mass per area these are the
// masses to add the particles with. Refuses indices out of range.
MOTE_API MoteResult mote_cloth_areas(const MoteVec3 *positions, uint32_t vertex_count, const uint32_t *triangles,
                                     uint32_t triangle_count, float *areas);

#ifdef __cplusplus
}
#endif
#endif
