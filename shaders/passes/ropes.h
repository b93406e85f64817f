// SPDX-License-Identifier: MIT
// ropes.h - constants of the ropes pass and of draws of ropes.
#ifndef MOTE_PASSES_ROPES_H
#define MOTE_PASSES_ROPES_H

#include "render_shared.h"

#define ROPE_SAMPLES 4u    // of the curve, a segment
#define ROPE_CAP     3u    // rings of the round cap at each end, the tip among them
#define ROPE_SIDES   10u   // of a tube
#define ROPE_CHUNK   1024u // segments that one invocation follows; the frames of the next begin anew

// Some of the segments of a rope.
struct RopeChunk {
    uint first_node, node_count; // of all of the rope, in `nodes`
    uint first_frame;            // of all of the rope; the cap's tip
    uint first_segment, segment_count;
    float radius, metres; // of all of the rope
    uint unused;
};

#ifdef __STDC__
typedef struct RopeChunk RopeChunk;
#else
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer RopeChunkArray
{
    RopeChunk at[];
};
#endif

struct RopesConstants {
    ADDRESS(RopeChunkArray) chunks; // chunk_count of them
    ADDRESS(UintArray) nodes;       // handles as cloth_handles, of all ropes one after the other
    uint chunk_count;
    uint unused;
};
SHARED_STRUCT(RopesConstants)

struct RopePush {
    uint fabric;
    uint to_sun; // 1: into the sun's map
};
SHARED_STRUCT(RopePush)

#endif
