// SPDX-License-Identifier: MIT
// cpu_sparse.h - neighbour lists of particles that few others are near to, as those of a sheet of cloth are.
//
// Where cells have a particle or two, finding the cells around each of them costs far more than comparing distances. So
// sparse worlds have no table of cells. Particles that follow one another in the order of the keys are near one
// another: boxes around eight of them, and boxes around eight of these, and so on, are a tree, and what is near to 64
// particles is found in one descent. Lists have the order that they would have by way of cells.
#ifndef MOTE_CPU_SPARSE_H
#define MOTE_CPU_SPARSE_H

#include "base/threads.h"
#include "kernels/data.h"

enum {
    SPARSE_GROUP = 8,  // particles in a box of the lowest level, boxes in one above
    SPARSE_BATCH = 64, // particles whose candidates are looked up together
    SPARSE_LEVELS = 11,
};

// Eight boxes, by coordinate: the children of one box, or particles' own.
typedef struct SparseBoxes {
    _Alignas(32) float lower_x[8], lower_y[8], lower_z[8], upper_x[8], upper_y[8], upper_z[8];
} SparseBoxes;

// Boxes of a level, SPARSE_GROUP in each element; the first level's are around particles.
typedef struct SparseTree {
    SparseBoxes *levels[SPARSE_LEVELS];
    uint32_t boxes[SPARSE_LEVELS]; // of each level; the last one has at most SPARSE_GROUP
    int level_count;
} SparseTree;

// Lists that were found, in the order of the particles, each in blocks as `neighbours` has them.
typedef struct SparseLists {
    uint *entries;
    size_t count, capacity;
    uint longest;
    bool failed; // there is no memory, or too much is near to a particle
} SparseLists;

typedef struct SparseSearch SparseSearch;

SparseSearch *cpu_sparse_create(void); // NULL if memory is short
void cpu_sparse_destroy(SparseSearch *search);
// Counts neighbours, and keeps the lists; false if memory is short. neighbour_starts has the blocks of each list.
bool cpu_sparse_count(SparseSearch *search, const SolverData *view, Threads *threads);
// Puts the lists where neighbour_starts, by now scanned, says.
void cpu_sparse_fill(SparseSearch *search, const SolverData *view, Threads *threads);

// The inner loops (avx2_sparse.c): the lowest boxes of the tree, those of another level, and lists of particles.
void avx2_sparse_lowest(const SolverData *view, const SparseTree *tree, uint begin, uint end);
void avx2_sparse_level(const SparseTree *tree, int level, uint begin, uint end);
void avx2_sparse_lists(const SolverData *view, const SparseTree *tree, uint begin, uint end, SparseLists *to);
#endif
