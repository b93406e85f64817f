// SPDX-License-Identifier: MIT
// bodies.h - the scene's instances of meshes: checked, sorted into few draws, and placed in the world by the skin pass.
#ifndef MOTE_RENDER_BODIES_H
#define MOTE_RENDER_BODIES_H

#include "render/mesh_set.h"

// Instances of one mesh that look alike: neighbours in `instances`.
typedef struct BodyDraw {
    uint32_t mesh, level, look;
    uint32_t first, count;
} BodyDraw;

typedef struct Bodies {
    Buffer instances; // MeshInstance, those that are drawn; mapped
    Buffer vertices;  // BodyVertex; the skin pass fills it
    Buffer has_mesh;  // a uint a member; mapped
    BodyDraw *draws;
    uint32_t draw_count;
} Bodies;

typedef struct Frame Frame;

// Whether an instance is to be seen in this frame. Its mesh must exist.
bool body_is_drawn(const MeshSet *set, const Frame *frame, const MoteRenderInstance *instance);

// Checks the instances of the frame's scene against the meshes and the world's members, before anything is drawn.
MoteResult bodies_check(const MeshSet *set, const Frame *frame);
// Fills the buffers for the frame, and the addresses in its constants.
MoteResult bodies_prepare(Device *device, const MeshSet *set, Frame *frame, Bodies *bodies);
void bodies_destroy(Device *device, Bodies *bodies); // an empty struct is fine

bool bodies_look_so(const Bodies *bodies, uint32_t look); // whether any does
// Draws the triangles of a row of `draws` with the bound pipeline; gl_InstanceIndex is the instance's row.
void body_draw(VkCommandBuffer commands, const MeshSet *set, const BodyDraw *draw);

#endif
