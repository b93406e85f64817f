// SPDX-License-Identifier: MIT
// artist.h - the drawing thread: it draws the newest moment as it is asked to, and in between two of them.
#ifndef MOTE_VIEWER_ARTIST_H
#define MOTE_VIEWER_ARTIST_H

#include "viewer/inspect.h"
#include "viewer/shader_compile.h"
#include "viewer/simulator.h"

typedef struct ArtistRequest {
    uint32_t width, height; // pixels of the window
    float scale;            // of a picture's size to the window's; 0: as large as can be drawn swiftly
    bool own_camera;        // else the scene's
    MoteCamera camera;
    char view[64];
    bool examined; // scripts ask what a picture is like
} ArtistRequest;

// What is known of the picture that is shown.
typedef struct ArtistPicture {
    uint64_t number;        // of pictures drawn so far; 0 is none yet
    uint64_t request;       // of requests, the one it answers
    uint64_t moment, frame; // what it shows
    uint64_t model;
    double time;                        // s, in the simulation
    double between;                     // 0 to 1: from the moment before to this one
    uint32_t width, height;             // pixels that were drawn
    uint32_t shown_width, shown_height; // and those that they were stretched to
    MoteCamera camera;
    MoteVec3 lowest, highest; // m, of the particles
    double seconds;           // that it took
    uint64_t hash;            // of what was drawn, where it is examined
    double mean[3];           // of red, green and blue, 0 to 255
} ArtistPicture;

// What was under a pixel.
typedef struct ArtistPick {
    uint64_t number; // of picks answered so far
    bool hit;        // there is something but the sky
    MoteVec3 point;  // m, what is seen there
    bool found;      // a particle: the one that is seen, or else the nearest
    bool seen;
    uint32_t id;
} ArtistPick;

enum { ARTIST_TEXT = 1024, ARTIST_PASSES = 64 };

typedef struct ArtistStatus {
    bool ready;              // the renderer is there
    bool failed;             // and never will be
    char error[ARTIST_TEXT]; // of the last picture or file; "" after one that went well
    char notice[ARTIST_TEXT];
    uint64_t notices;
    uint64_t worst_lag; // pictures from a request to the first that answers it: 1 is the very next
    uint64_t reloads;   // of shaders, those that failed included
    bool recording;
    uint64_t recorded; // frames
    MoteDeviceInfo device;
    MoteInteropReport interop;
    MotePassTiming passes[ARTIST_PASSES];
    uint32_t pass_count;
    uint32_t validation_messages;
} ArtistStatus;

typedef struct Artist Artist;

MoteResult artist_start(const MoteRendererOptions *options, Simulator *simulator, void (*wake)(void *), void *wake_data,
                        Artist **out);
// Completes a film that is being recorded, then ends. If the device takes more than a second for the present picture,
// the film is completed without it and `leave` is called in the drawing thread; NULL: the device is waited for.
void artist_stop(Artist *artist, void (*leave)(void));

// Returns the number of the request; the same one again is none.
uint64_t artist_ask(Artist *artist, const ArtistRequest *request);
void artist_wake(Artist *artist); // there may be a new moment

// Calls `use` with the pixels, RGBA, shown_width of them in a row, if there is a newer picture than `known`; they are
// good only during the call.
bool artist_picture(Artist *artist, uint64_t known, void (*use)(void *, const ArtistPicture *, const uint8_t *),
                    void *data);
void artist_status(Artist *artist, ArtistStatus *out);

// Asks what is at a pixel of the window; artist_pick_result then has a number that is greater by one.
void artist_pick(Artist *artist, float x, float y);
ArtistPick artist_pick_result(Artist *artist);

// Follows a particle from now on, MOTE_NONE: none. artist_inspection is of the last moment that was looked at; false
// where none is followed, or it was not looked at yet.
void artist_inspect(Artist *artist, uint32_t id);
bool artist_inspection(Artist *artist, Inspection *out);

// Compiles these shaders of the folder (shader_compile.h) and draws with them; a broken one changes nothing.
void artist_reload(Artist *artist, const char *folder, char (*names)[SHADER_NAME], uint32_t count);

// The present picture in the window's size, by the file's ending: .png, or .exr with its layers.
void artist_capture(Artist *artist, const char *path);
// Starts a film with every frame of the simulation from now on; NULL completes it.
void artist_record(Artist *artist, const char *path);

#endif
