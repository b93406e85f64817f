// SPDX-License-Identifier: MIT
// render_thread.h - the render thread: draws the newest snapshot on request, or interpolates between two.
#ifndef MOTE_VIEWER_RENDER_THREAD_H
#define MOTE_VIEWER_RENDER_THREAD_H

#include "viewer/inspect.h"
#include "viewer/shader_compile.h"
#include "viewer/simulator.h"

typedef struct RenderThreadRequest {
    uint32_t width, height; // pixels of the window
    float scale;            // of a picture's size to the window's; 0: as large as can be drawn swiftly
    bool own_camera;        // else the scene's
    MoteCamera camera;
    char view[64];
    bool examined; // scripts ask what a picture is like
} RenderThreadRequest;

// What is known of the picture that is shown.
typedef struct RenderThreadPicture {
    uint64_t number;          // of pictures drawn so far; 0 is none yet
    uint64_t request;         // of requests, the one it answers
    uint64_t snapshot, frame; // what it shows
    uint64_t model;
    double time;                        // s, in the simulation
    double interpolation;               // 0 to 1: from the snapshot before to this one
    uint32_t width, height;             // pixels that were drawn
    uint32_t shown_width, shown_height; // and those that they were stretched to
    MoteCamera camera;
    MoteVec3 bounds_min, bounds_max; // m, of the particles
    double seconds;                  // that it took
    uint64_t hash;                   // of what was drawn, where it is examined
    double mean[3];                  // of red, green and blue, 0 to 255
} RenderThreadPicture;

// What was under a pixel.
typedef struct RenderThreadPick {
    uint64_t number; // of picks answered so far
    bool hit;        // there is something but the sky
    MoteVec3 point;  // m, what is seen there
    bool found;      // a particle: the one that is seen, or else the nearest
    bool seen;
    uint32_t id;
} RenderThreadPick;

enum { RENDER_THREAD_TEXT = 1024, RENDER_THREAD_PASSES = 64 };

typedef struct RenderThreadStatus {
    bool ready;                     // the renderer is there
    bool failed;                    // and never will be
    char error[RENDER_THREAD_TEXT]; // of the last picture or file; "" after one that went well
    char notice[RENDER_THREAD_TEXT];
    uint64_t notices;
    uint64_t worst_lag; // pictures from a request to the first that answers it: 1 is the very next
    uint64_t reloads;   // of shaders, those that failed included
    bool recording;
    uint64_t recorded; // frames
    MoteDeviceInfo device;
    MoteInteropReport interop;
    MotePassTiming passes[RENDER_THREAD_PASSES];
    uint32_t pass_count;
    uint32_t validation_messages;
} RenderThreadStatus;

typedef struct RenderThread RenderThread;

MoteResult render_thread_start(const MoteRendererOptions *options, Simulator *simulator, void (*wake)(void *),
                               void *wake_data, RenderThread **out);
// Completes a film that is being recorded, then ends. If the device takes more than a second for the present picture,
// the film is completed without it and `leave` is called in the drawing thread; NULL: the device is waited for.
void render_thread_stop(RenderThread *render_thread, void (*leave)(void));

// Returns the number of the request; the same one again is none.
uint64_t render_thread_ask(RenderThread *render_thread, const RenderThreadRequest *request);
void render_thread_wake(RenderThread *render_thread); // there may be a new snapshot

// Calls `use` with the pixels, RGBA, shown_width of them in a row, if there is a newer picture than `known`; they are
// good only during the call.
bool render_thread_picture(RenderThread *render_thread, uint64_t known,
                           void (*use)(void *, const RenderThreadPicture *, const uint8_t *), void *data);
void render_thread_status(RenderThread *render_thread, RenderThreadStatus *out);

// Asks what is at a pixel of the window; render_thread_pick_result then has a number that is greater by one.
void render_thread_pick(RenderThread *render_thread, float x, float y);
RenderThreadPick render_thread_pick_result(RenderThread *render_thread);

// Follows a particle from now on, MOTE_NONE: none. render_thread_inspection is of the last snapshot that was looked at;
// false where none is followed, or it was not looked at yet.
void render_thread_inspect(RenderThread *render_thread, uint32_t id);
bool render_thread_inspection(RenderThread *render_thread, Inspection *out);

// Compiles these shaders of the folder (shader_compile.h) and draws with them; a broken one changes nothing.
void render_thread_reload(RenderThread *render_thread, const char *folder, char (*names)[SHADER_NAME], uint32_t count);

// The present picture in the window's size, by the file's ending: .png, or .exr with its layers.
void render_thread_capture(RenderThread *render_thread, const char *path);
// Starts a film with every frame of the simulation from now on; NULL completes it.
void render_thread_record(RenderThread *render_thread, const char *path);

#endif
