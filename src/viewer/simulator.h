// SPDX-License-Identifier: MIT
// simulator.h - the simulation on its own thread: it is controlled by commands, and publishes frame snapshots.
#ifndef MOTE_VIEWER_SIMULATOR_H
#define MOTE_VIEWER_SIMULATOR_H

#include "scene/keys.h"
#include "viewer/inspect.h"

typedef enum CommandKind {
    COMMAND_LOAD,       // text: a scene file
    COMMAND_RESET,      // the scene as it is in its file, with the changes made in the panel
    COMMAND_PAUSE,      // flag
    COMMAND_STEP,       // pauses, and computes one frame
    COMMAND_SPEED,      // numbers[0]: seconds of the simulation a second
    COMMAND_SET,        // key, element, numbers: a value of the scene
    COMMAND_SET_WORDS,  // key, element, text: the same for a string value; it takes effect with the next reset
    COMMAND_ADD,        // text: an override, as bodies[2]={...}; restarts the scene with it
    COMMAND_FORGET,     // all changes made by COMMAND_SET
    COMMAND_SAVE_STATE, // text
    COMMAND_LOAD_STATE, // text
    COMMAND_GRAB,       // id; numbers: target position, sent again while dragging. flag: there is no particle at
                        // `vector`, but there may be a dynamic collider, which is dragged instead
    COMMAND_RELEASE,
    COMMAND_THROW,  // numbers: where from, m; vector: how fast, m/s
    COMMAND_POUR,   // numbers: where; a handful of the scene's liquid or grains
    COMMAND_GUST,   // vector: m/s
    COMMAND_FORCES, // flag: whether forces are among the channels
    COMMAND_QUIT,
} CommandKind;

typedef struct SimulatorCommand {
    CommandKind kind;
    char *text; // from malloc; the queue takes it
    bool flag;
    uint32_t key, element, id;
    double numbers[3], vector[3];
} SimulatorCommand;

enum { STATUS_TEXT = 4096, STATUS_TIMINGS = 512 };

// What the simulation's thread says of itself; a copy.
typedef struct SimulatorStatus {
    bool loading, paused, failed;
    bool idle;         // paused, with nothing left to do
    uint64_t snapshot; // number of the last one published
    char path[1024];   // of the scene, or of the one being loaded
    char name[128];
    char error[STATUS_TEXT]; // of the last thing that went wrong; "" after the next that went well
    char notice[512];        // of the last thing that was done, as "state saved"
    uint64_t notices;        // how many there were, errors included
    uint64_t model;          // of the scene that is shown; 0 before the first
    uint64_t frame;
    double time;                         // s, in the simulation
    double speed;                        // wanted: seconds of the simulation a second
    double frame_seconds;                // s on the clock that a frame takes to compute
    double frame_rate;                   // Hz, frames a second of the simulation
    uint32_t particles, bodies, grabbed; // grabbed: how many particles are held
    bool grabbed_collider;               // a collider is held
    MoteVec3 held;                       // m, where the picked one of them is
    Measures measures;                   // with the statistics
    char channels[SNAPSHOT_CHANNELS][SNAPSHOT_CHANNEL_NAME];
    uint32_t channel_count;
    uint32_t changes; // made by COMMAND_SET since the scene was loaded
    char backend[32];
    bool has_statistics;
    MoteStatistics statistics;
    uint32_t timing_count;
    MoteTiming timings[STATUS_TIMINGS];
    uint64_t timing_frames; // that the timings are of
} SimulatorStatus;

typedef struct Simulator Simulator;

typedef struct SimulatorOptions {
    MoteBackendOptions backend;
    const char *const *overrides; // of the command line; they hold for every scene that has their keys
    uint32_t override_count;
    bool paused;          // at the start, and after each load
    void (*wake)(void *); // called from the thread when there is something new
    void *wake_data;
} SimulatorOptions;

MoteResult simulator_start(const SimulatorOptions *options, Simulator **out);
void simulator_stop(Simulator *simulator);    // ends the thread after the frame that is being computed
void simulator_destroy(Simulator *simulator); // its snapshots must not be in use any more; NULL is allowed
FrameSnapshotPool *simulator_pool(Simulator *simulator);

void simulator_send(Simulator *simulator, const SimulatorCommand *command);
void simulator_send_text(Simulator *simulator, CommandKind kind, const char *text);
void simulator_status(Simulator *simulator, SimulatorStatus *out);
// While `on`, no snapshot is published before the last one was drawn, so that a film gets every frame.
void simulator_hold_for_drawing(Simulator *simulator, bool on);

// The numbers that a key of the loaded scene has now, changes included; false if there is no such element.
bool simulator_value(Simulator *simulator, uint32_t key, uint32_t element, double numbers[3]);
// The same for a key whose value is a string: a name, a file.
bool simulator_words(Simulator *simulator, uint32_t key, uint32_t element, char *words, size_t size);
// Whether a change takes effect at once, or with the next reset.
bool simulator_is_live(Simulator *simulator, uint32_t key, uint32_t element);
uint32_t simulator_elements(Simulator *simulator, SceneSection section);
// Name of a MAP's element, "" otherwise.
void simulator_element_name(Simulator *simulator, SceneSection section, uint32_t element, char name[SCENE_NAME_SIZE]);
// The scene file with the changes made in the panel.
MoteResult simulator_save_scene(Simulator *simulator, const char *path);

#endif
