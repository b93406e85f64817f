// SPDX-License-Identifier: MIT
// outputs.h - the files that a run leaves behind: exported frames, statistics as CSV, a summary as JSON.
#ifndef MOTE_CLI_OUTPUTS_H
#define MOTE_CLI_OUTPUTS_H

#include "base/file.h"
#include "mote.h"
#include <jansson.h>

#define OUTPUT_FORMATS "ply|vtk|bgeo|obj" // bit n of a set of formats is the n-th of these
enum { OUTPUT_PLY = 1u, OUTPUT_VTK = 2u, OUTPUT_BGEO = 4u, OUTPUT_OBJ = 8u };

// Writes FOLDER/frame_000123.EXTENSION for each of the formats.
MoteResult outputs_export_frame(MoteSimulation *simulation, const char *folder, uint32_t formats);

// Writes FOLDER/frames.pvd, which gives ParaView the time of each exported frame up to the current one, those of
// earlier parts of a resumed run included.
MoteResult outputs_write_collection(MoteSimulation *simulation, const char *folder, uint32_t every);

// One row a frame; the file appears when it is committed. A value that is not known is empty: without a step in this
// run
// (`stepped`), what steps watch; densities where there is no liquid.
MoteResult outputs_statistics_open(FileWriter *writer, const char *path);
MoteResult outputs_statistics_row(FileWriter *writer, MoteSimulation *simulation, bool stepped);

// What a run was, beside what its simulation knows.
typedef struct RunReport {
    const char *scene_path;
    uint64_t first_frame; // where it started or resumed
    double seconds;       // of wall time
    bool interrupted;
} RunReport;
MoteResult outputs_write_summary(const char *path, MoteSimulation *simulation, const RunReport *report);

// Fails now if a summary could not be written later, and removes an earlier run's: should this one fail, the other's
// success must not be taken for its own.
MoteResult outputs_prepare_summary(const char *path);

// An option that names a file to be written.
typedef struct OutputOption {
    const char *name; // without its dashes
    const char **path;
    bool streams; // can go to standard output
} OutputOption;

// Puts standard output where a path is "-", which one option may have, if it can. *on_stdout says whether one has.
// Returns STATUS_FINE or STATUS_USAGE.
int outputs_take_dash(const char *command, const OutputOption *options, uint32_t count, bool *on_stdout);

// Writes it to a file and lets go of it. NULL, as json_pack gives without memory, is a failure.
MoteResult outputs_write_json(const char *path, json_t *object);

#endif
