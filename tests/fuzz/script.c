// SPDX-License-Identifier: MIT
// script.c - scripts of the viewer, played into a window of SDL's dummy driver without solver or renderer: each turn
// of the loop counts as a frame shown. What events do to the viewer is for tools/soak-viewer.
#include "fuzz.h"
#include "viewer/app.h"

enum { TURNS = 400 };

static App *make_app(void)
{
    static App *app;
    if (app == NULL) {
        setenv("SDL_VIDEODRIVER", "dummy", 1);
        app = calloc(1, sizeof *app);
        FUZZ_CHECK(app != NULL && SDL_Init(SDL_INIT_VIDEO) == 0);
        app->window = SDL_CreateWindow("", 0, 0, 320, 240, SDL_WINDOW_HIDDEN);
        FUZZ_CHECK(app->window != NULL);
        FUZZ_CHECK(chdir(getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/dev/shm") == 0);
    }
    return app;
}

static void drain_events(void)
{
    SDL_Event event;
    while (SDL_PollEvent(&event)) {
        if (event.type == SDL_DROPFILE) {
            SDL_free(event.drop.file);
        }
    }
}

bool fuzz_target(const uint8_t *data, size_t size)
{
    // A script may write anywhere, this one only to its own file.
    uint8_t *text = malloc(size + 1);
    App *app = make_app();
    FUZZ_CHECK(text != NULL);
    for (size_t i = 0; i < size; i++) {
        text[i] = data[i] == '/' ? '_' : data[i];
    }
    const MoteResult loaded = script_load(fuzz_file("script", text, size), &app->script);
    free(text);
    MoteResult result = loaded;
    for (uint32_t turn = 0; turn < TURNS && result == MOTE_OK && app->script.path != NULL; turn++) {
        app->turns++;
        app->shown++;
        app->picture.number++;
        app->picture.frame = ++app->status.frame;
        result = script_play(&app->script, app);
        drain_events();
    }
    const bool ended = loaded == MOTE_OK && app->script.path == NULL;
    script_free(&app->script);
    return ended;
}
