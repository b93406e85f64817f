// SPDX-License-Identifier: MIT
// state_file.h - a simulation's state on disk.
//
// Little-endian throughout:
//   the header (StateHeader), whose last field is a checksum of the fields before it;
//   the sections, in the order below, each a StateSection, whose last field is a checksum of the fields before
//   it and of the data, then the data:
//     clock           u64 x 1   steps, world steps, world removed, next particle id
//     lightest        f32 x 1   smallest inverse mass of all liquid particles that ever existed, without pinned ones; 0
//                               if there were none. In earlier files it is the largest inverse mass of all
//                               particles: the smaller of it and of the particles' own is used
//     emitter.next    f64 x 1   metres until each emitter's next layer
//     emitter.count   u64 x 1   particles each emitter has added
//     time_step       f32 x 1   s, of the last step; 0 before the first
//     NAME            one section for each array that a world saves, by its name: the SAVE rows of kernels/data.def,
//                     such as positions (f32 x 4: x, y, z, inverse mass), velocities (f32 x 4: x, y, z, density over
//                     rest density), ids and phases (u32 x 1)
//     channel.NAME    f32 x 1-4, one section a channel
//   the eight bytes "MOTE-END".
// Version 3, which is still read, has no time_step; instead of what follows phases it has two sections:
//     bodies          u32 x 1   the last step's time step, then the arrays of bodies and of dynamic colliders, one
//                               after the other (version_3_bodies in state_file.c)
//     wet             u32 x 1   wet_texels
#ifndef MOTE_SCENE_STATE_FILE_H
#define MOTE_SCENE_STATE_FILE_H

#include "mote.h"
#include <stdint.h>

#define STATE_MAGIC        "\x89MOTE\r\n\x1a" // not text, and broken by anything that treats it as text
#define STATE_END          "MOTE-END"
#define STATE_BYTE_ORDER   UINT32_C(0x01020304)
#define STATE_VERSION      UINT32_C(4)
#define STATE_OLDEST       UINT32_C(3) // that is read
#define STATE_SECTION_NAME 48

typedef enum StateType { STATE_U32 = 1, STATE_U64, STATE_F32, STATE_F64 } StateType;

typedef struct StateHeader {
    char magic[8];
    uint32_t byte_order;
    uint32_t version;
    uint64_t scene_hash;
    char scene_name[64]; // for messages; cut where it is longer
    uint32_t emitter_count, particle_count, channel_count, reserved;
    uint64_t file_size; // bytes, the end marker included
    uint64_t checksum;
} StateHeader;

typedef struct StateSection {
    char name[STATE_SECTION_NAME];
    uint32_t type; // StateType
    uint32_t components;
    uint64_t count; // elements of `components` values
    uint64_t size;  // bytes of data
    uint64_t checksum;
} StateSection;

_Static_assert(sizeof(StateHeader) == 120 && sizeof(StateSection) == 80, "both are written as they are");

// A state in memory, to go back to.
typedef struct KeptState KeptState;
KeptState *simulation_keep_state(MoteSimulation *simulation); // NULL if there is no memory, or nothing to be read
MoteResult simulation_restore_state(MoteSimulation *simulation, const KeptState *kept);
void simulation_drop_state(KeptState *kept); // may be NULL

#endif
