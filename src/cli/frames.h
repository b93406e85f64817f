// SPDX-License-Identifier: MIT
// frames.h - which frames are meant, what their files are called, and the saved states among those.
#ifndef MOTE_CLI_FRAMES_H
#define MOTE_CLI_FRAMES_H

#include "mote.h"

// Frames first to last, both included. Frame 0 is the initial state.
typedef struct FrameRange {
    uint64_t first, last;
    bool has_first, has_last; // otherwise that end is open
} FrameRange;

// "A:B", "A:", ":B", ":" or "A", which is A:A. False if it is none of these, or if B lies before A.
bool frame_range_parse(const char *text, FrameRange *out);

// FOLDER/frame_000123 with `suffix`, from malloc; NULL after a failure, which mote_error_message() tells.
char *frame_path(const char *folder, uint64_t frame, const char *suffix);

// A name with this in it stands for one file a frame: it becomes the frame's number, in six digits or more. It may
// stand once, and not in a folder's name.
#define FRAME_PLACEHOLDER "{frame}"
bool is_frame_pattern(const char *name);
bool is_wrong_frame_pattern(const char *name);
char *frame_pattern_path(const char *name, uint64_t frame); // from malloc, or NULL as above; a copy of other names

// Makes the folder that a file would be in.
MoteResult make_folder_of(const char *path);

// ---- Saved states ----

typedef struct StateFile {
    uint64_t frame;
    char *path;
} StateFile;

typedef struct StateList {
    StateFile *files; // by frame
    uint32_t count;
} StateList;

// The saved states that `from` names: all files that a pattern with {frame} stands for, all in a folder that end in a
// number and ".state", or one file. Only the frame of the latter must be looked up, by loading it.
MoteResult state_list_find(const char *from, MoteSimulation *simulation, StateList *out);
void state_list_free(StateList *list);

// Loads it, and fails if it is not of the frame that its name says.
MoteResult state_file_load(const StateFile *state, MoteSimulation *simulation);

#endif
