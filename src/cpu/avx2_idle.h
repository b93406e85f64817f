// SPDX-License-Identifier: MIT
// avx2_idle.h - which particles the unilateral density constraint has nothing to do for.
//
// Liquid in the air is at or below its rest density: its lambdas are zero, it is not moved, and so its densities stay
// what they were. The AVX2 forms of density_lambda, density_delta and solve_contacts note that for chunks of
// consecutive particles and leave out a chunk when nothing has happened in any chunk that its particles' neighbours are
// in: the result is the same bit for bit. The notes are pressure_notes.
#ifndef MOTE_AVX2_IDLE_H
#define MOTE_AVX2_IDLE_H

#include "cpu/cpu_backend.h"

enum { IDLE_CHUNK = 16 }; // threads' ranges consist of whole chunks

// No particle has such an index: notes that no AVX2 kernel has made are taken for busy.
#define NOTE_IDLE 0xfffffffeu
#define NOTE_BUSY 0xffffffffu
_Static_assert(CPU_RANGE_STEP % IDLE_CHUNK == 0, "a chunk belongs to one thread");

typedef enum IdleNote {
    NOTE_PRESSED, // some lambda is not zero; made by density_lambda and add_boundary_density
    NOTE_MOVED,   // some position has changed since; made by density_delta, add_boundary_pressure and solve_contacts
} IdleNote;

static inline uint *idle_note(const SolverData *view, IdleNote note, uint chunk)
{
    return &view->pressure_notes[2u * chunk + (uint)note];
}

static inline bool idle_possible(const SolverData *view)
{
    return view->unilateral != 0u && view->has_pressure == 0u && view->has_solids == 0u && view->isotropy <= 0.0f &&
           view->particle_count >= 2u * IDLE_CHUNK;
}

static inline void idle_set(const SolverData *view, IdleNote note, uint begin, bool busy)
{
    *idle_note(view, note, begin / IDLE_CHUNK) = busy ? NOTE_BUSY : NOTE_IDLE;
}

// Whether all chunks that hold neighbours of the particles begin to end - 1 are noted as idle.
static inline bool idle_around(const SolverData *view, IdleNote note, uint begin, uint end)
{
    const uint last_cell = view->cell_scan[end] - 1u;
    for (uint cell = view->cell_scan[begin + 1u] - 1u; cell <= last_cell; cell++) {
        for (uint r = 0; r < view->cell_run_counts[cell]; r++) {
            const uvec2 run = view->cell_runs[cell * CELL_RUN_LIMIT + r];
            for (uint chunk = run.x / IDLE_CHUNK; chunk * IDLE_CHUNK < run.y; chunk++) {
                if (*idle_note(view, note, chunk) != NOTE_IDLE) {
                    return false;
                }
            }
        }
    }
    return true;
}

#endif
