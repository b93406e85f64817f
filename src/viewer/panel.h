// SPDX-License-Identifier: MIT
// panel.h - the viewer's panel, help and scene browser, behind a C interface: only panel*.cpp use Dear ImGui. The panel
// reads PanelFacts and calls PanelHost; it has no other access to the viewer's state.
#ifndef MOTE_VIEWER_PANEL_H
#define MOTE_VIEWER_PANEL_H

#include "mote_render.h"
#include "viewer/draw_list.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "viewer/measures.h"

union SDL_Event;

enum {
    TEXTURE_FONT = 0,
    TEXTURE_SCENE = 1,
    TEXTURE_BROWSER = 2
}; // slots of the overlay; the browser's go on from there
enum { PANEL_HISTORY = 240 };
// Graphs: ms a frame, ms a picture, density error and contacts' overlap in %, kinetic and whole energy in J.
enum { PANEL_HISTORIES = 6 };

typedef struct PanelScene {
    char path[1024];
    char name[128];
    uint32_t texture; // 0: it has no picture
} PanelScene;

typedef struct PanelAction {
    const char *key, *group, *meaning;
} PanelAction;

// A circle around a particle in the picture.
enum { PANEL_MARK_PICKED, PANEL_MARK_NEIGHBOUR, PANEL_MARK_CONTACT };
typedef struct PanelMark {
    float x, y, radius; // pixels
    uint32_t kind;
} PanelMark;

// What is shown.
typedef struct PanelFacts {
    bool panel, help, browser; // what is open
    bool loading, paused, failed, recording, has_scene, camera_is_own;
    const char *name, *path; // of the scene
    const char *error;       // "" is none
    const char *notice;      // "" is none, or too old
    uint64_t frame, recorded;
    double time, speed;                        // s; seconds of the simulation a second
    double frame_seconds;                      // to compute a frame
    double picture_seconds;                    // to draw a picture
    double frame_rate;                         // Hz, of the simulation
    double pictures_a_second, frames_a_second; // measured
    uint32_t picture_width, picture_height;
    uint32_t particles, bodies, changes;
    const char *backend;
    const MoteStatistics *statistics; // NULL: none yet
    const Measures *measures;         // with the statistics
    const MoteTiming *timings;        // of the solver
    uint32_t timing_count;
    uint64_t timing_frames;
    const MotePassTiming *passes; // of the renderer
    uint32_t pass_count;
    const MoteDeviceInfo *device;
    const MoteInteropReport *interop;
    const char *view;
    const char *hint; // "": the user knows; else what to begin with
    // Rings of PANEL_HISTORY values, one behind the other; `history_at` is the oldest of each.
    const float *history;                          // PANEL_HISTORIES of them
    const float *history_timings, *history_passes; // ms, in the order of `timings` and `passes`
    uint32_t history_at, history_count;            // count: how many there are
    const PanelAction *actions;
    uint32_t action_count;
    const PanelScene *scenes;
    uint32_t scene_count;
    const PanelScene *recent;
    uint32_t recent_count;
    const char *dropped;   // a mesh that waits to be told what it is, or ""
    const char *inspected; // lines about the particle that was picked last, or ""
    const PanelMark *marks;
    uint32_t mark_count;
} PanelFacts;

// What the panel can ask for. Keys are rows of scene_keys.
typedef struct PanelHost {
    void *data;
    uint32_t (*elements)(void *data, uint32_t section);
    void (*element_name)(void *data, uint32_t section, uint32_t element, char name[64]);
    bool (*value)(void *data, uint32_t key, uint32_t element, double numbers[3]);
    bool (*is_live)(void *data, uint32_t key, uint32_t element);
    void (*set)(void *data, uint32_t key, uint32_t element, const double numbers[3]);
    // The same of values that are words: names, files.
    bool (*text)(void *data, uint32_t key, uint32_t element, char text[1024]);
    void (*set_text)(void *data, uint32_t key, uint32_t element, const char *text);
    void (*act)(void *data, const char *action); // a row of viewer_keys.def by its name
    void (*set_speed)(void *data, double speed);
    bool (*view)(void *data, uint32_t i, char name[64]); // of those to choose from; false beyond the last
    void (*set_view)(void *data, const char *view);
    void (*open)(void *data, const char *scene);
    void (*save_scene)(void *data, const char *path);
    void (*forget_changes)(void *data);
    void (*add_mesh)(void *data, const char *section); // of what was dropped: "bodies" or "colliders"; NULL: neither
} PanelHost;

bool panel_create(float scale);
void panel_destroy(void);
// The letters, RGBA: texture TEXTURE_FONT. Good until panel_destroy.
const uint8_t *panel_font(uint32_t *width, uint32_t *height);

void panel_event(const union SDL_Event *event);
bool panel_wants_mouse(void);    // the mouse is over the panel
bool panel_wants_keyboard(void); // a number is being typed

// Makes the window's triangles: the scene's picture, TEXTURE_SCENE, over all of it, then what is open. False where
// there is no memory.
bool panel_build(uint32_t width, uint32_t height, double elapsed, const PanelFacts *facts, const PanelHost *host,
                 DrawList *list);

#ifdef __cplusplus
}
#endif
#endif
