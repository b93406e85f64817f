// SPDX-License-Identifier: MIT
// link_order.h - the order in which links are solved: colours (link_order.c).
#ifndef MOTE_SOLVER_LINK_ORDER_H
#define MOTE_SOLVER_LINK_ORDER_H

#include "solver/world.h"

// Of links that are numbered in the order of adding.
typedef struct LinkOrder {
    uint32_t *rows;    // a link: its place in the tables
    uint32_t coloured; // rows of links that have a colour come first, a colour after the other,
    uint32_t bodies;   // then those that are solved at once, and from here on those that end at a rigid body
    uint32_t colours, starts[LINK_COLOUR_LIMIT + 1];
} LinkOrder;

// Gives each link the first colour that no link before it has at either end, so that neighbours along a mesh are
// neighbours in a colour. `on_bodies` says which end at a rigid body; without `coloured` all are solved at once. `ends`
// are rows of the handles' map, below `handles`. Free the rows.
MoteResult link_order_make(const uvec2 *ends, const bool *on_bodies, uint32_t count, uint32_t handles, bool coloured,
                           LinkOrder *out);

#endif
