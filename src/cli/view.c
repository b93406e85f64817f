// SPDX-License-Identifier: MIT
// view.c - `mote view`: opens the viewer's window.
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "cli/command.h"
#include "cli/drawing.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/running.h"
#ifdef MOTE_WITH_VIEWER
#include "viewer/viewer.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Usage usage = {
    .command = "view",
    .arguments = "[SCENE]",
    .meaning =
        "Opens a window in which a scene runs: H shows the keys, L the scenes to choose from, which also is what "
        "appears where no SCENE is given. Pictures, films and states go to --out. Ctrl-C and closing the window "
        "complete a film that is being recorded.",
    .minimum_arguments = 0,
    .maximum_arguments = 1,
};

typedef struct Settings {
    OptionList scene, overrides;
    MoteBackendOptions backend;
    DrawingOptions drawing;
    const char *scenes, *out, *settings, *shaders, *script, *scale;
    bool paused, full_screen, no_panel, keys;
} Settings;

static OptionsOutcome parse(int argc, char **argv, Settings *s)
{
    *s = (Settings){.backend = {.backend = "auto"}, .drawing = DRAWING_DEFAULTS, .out = "out/view", .scale = "auto"};
    DrawingOptions *d = &s->drawing;
    char known_views[DRAWING_VIEWS_SIZE], views[DRAWING_VIEWS_SIZE + 64];
    snprintf(views, sizeof views, "What is shown, the first unless said otherwise: %s", drawing_views(known_views));
    const Option options[] = {
        {"size", OPTION_TEXT, &d->size, "WxH", "Of the window (1280x720)", NULL, 0, 0, NULL},
        {"full-screen", OPTION_FLAG, &s->full_screen, NULL, "Fill the screen", NULL, 0, 0, NULL},
        {"paused", OPTION_FLAG, &s->paused, NULL, "Wait for Space before a scene runs", NULL, 0, 0, NULL},
        {"view", OPTION_TEXT, &d->view, "NAME", views, NULL, 0, 0, NULL},
        {"no-panel", OPTION_FLAG, &s->no_panel, NULL, "Begin without the panel; Tab shows it", NULL, 0, 0, NULL},
        {"scenes", OPTION_TEXT, &s->scenes, "FOLDER",
         "Scenes to choose from; without it SCENE's folder, scenes, or those that were installed with mote", NULL, 0, 0,
         NULL},
        {"out", OPTION_TEXT, &s->out, "FOLDER", "For pictures, films and states (out/view)", NULL, 0, 0, NULL},
        {"scale", OPTION_TEXT, &s->scale, "N",
         "Of a picture's size to the window's: auto (smaller while things move, where drawing is slow) or 0.1 to 2",
         NULL, 0, 0, NULL},
        {"set", OPTION_LIST, &s->overrides, "PATH=VALUE",
         "Override a value of the scene, as in --set solver.iterations=6; may be given many times", NULL, 0, 0, NULL},
        {"settings", OPTION_TEXT, &s->settings, "FILE",
         "Keys and recently used scenes; without it mote/viewer.json in the user's configuration folder, `none` keeps "
         "none",
         NULL, 0, 0, NULL},
        {"shaders", OPTION_TEXT, &s->shaders, "FOLDER",
         "Mote's shaders in source, to be compiled whenever they change while the window is open", NULL, 0, 0, NULL},
        {"keys", OPTION_FLAG, &s->keys, NULL, "Print what each key does, as docs/viewer.md has it, and end", NULL, 0, 0,
         NULL},
        {"script", OPTION_TEXT, &s->script, "FILE", "Play the events in FILE (docs/viewer.md)", NULL, 0, 0, NULL},
        {"backend", OPTION_CHOICE, &s->backend.backend, "NAME",
         "That simulates: auto (the default: the best one that works here), cpu, cuda or vulkan",
         "auto|cpu|cuda|vulkan", 0, 0, NULL},
        {"threads", OPTION_NUMBER, &s->backend.threads, "N", "CPU threads; 0, the default, is one for each core", NULL,
         0, 1024, NULL},
        {"device", OPTION_TEXT, &d->device, "N", "The Vulkan device that draws: auto or a number of `mote info`", NULL,
         0, 0, NULL},
        {"validate", OPTION_FLAG, &d->validate, NULL,
         "Turn Vulkan's validation layers on; any message of theirs makes the status 1", NULL, 0, 0, NULL},
    };
    return options_parse(&usage, options, sizeof options / sizeof options[0], argc, argv, &s->scene);
}

#ifdef MOTE_WITH_VIEWER

static bool is_folder_of_scenes(const char *path)
{
    char probe[1200];
    snprintf(probe, sizeof probe, "%.1100s/dam_break.json", path);
    return access(probe, R_OK) == 0;
}

// Scenes in the folder of the one that was given, here, or installed with this program. Returns `folder`, or NULL.
static const char *find_scenes(const char *scene, char folder[1024])
{
    const char *slash = scene != NULL ? strrchr(scene, '/') : NULL;
    if (slash != NULL && slash > scene && slash - scene < 1000) {
        snprintf(folder, 1024, "%.*s", (int)(slash - scene), scene);
        return folder;
    }
    snprintf(folder, 1024, "scenes");
    if (is_folder_of_scenes(folder)) {
        return folder;
    }
    char program[900];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *bin = strrchr(program, '/');
    if (bin != NULL) {
        *bin = '\0';
        snprintf(folder, 1024, "%s/../share/mote/scenes", program);
        if (is_folder_of_scenes(folder)) {
            return folder;
        }
    }
    return NULL;
}

static int run(Settings *s)
{
    char *end = NULL;
    char folder[1024];
    const char *scene = s->scene.count > 0 ? s->scene.items[0] : NULL;
    const bool automatic = strcmp(s->scale, "auto") == 0;
    const double scale = automatic ? 0.0 : strtod(s->scale, &end);
    if (!automatic && (*end != '\0' || !(scale >= 0.1 && scale <= 2.0))) {
        return usage_error(usage.command, "--scale: found '%s', expected auto or a number from 0.1 to 2", s->scale);
    }
    if (s->keys) {
        viewer_print_keys();
        return STATUS_FINE;
    }
    catch_stop_signals();
    report_threads(&s->backend);
    const ViewerOptions options = {
        .scene = scene,
        .scenes = s->scenes != NULL ? s->scenes : find_scenes(scene, folder),
        .out = s->out,
        .settings = s->settings != NULL && strcmp(s->settings, "none") == 0 ? "" : s->settings,
        .shaders = s->shaders,
        .script = s->script,
        .view = s->drawing.view,
        .width = s->drawing.width,
        .height = s->drawing.height,
        .scale = (float)scale,
        .paused = s->paused,
        .full_screen = s->full_screen,
        .no_panel = s->no_panel,
        .renderer = s->drawing.renderer,
        .backend = s->backend,
        .overrides = s->overrides.items,
        .override_count = s->overrides.count,
        .stop_signal = stop_signal,
        .leave = leave_program,
    };
    return viewer_run(&options) == MOTE_OK ? status_of_run() : command_failed();
}

#else

static int run(Settings *s)
{
    (void)s;
    mote_fail(MOTE_ERROR_UNAVAILABLE,
              "this program was built without the viewer: install libsdl2-dev and libimgui-dev (tools/setup does) and "
              "build it again. `mote render` makes pictures and films without a window");
    return command_failed();
}

#endif

int command_view(int argc, char **argv)
{
    Settings s;
    const OptionsOutcome outcome = parse(argc, argv, &s);
    int status = outcome == OPTIONS_WRONG ? STATUS_USAGE : STATUS_FINE;
    if (outcome == OPTIONS_PARSED) {
        bool on_stdout;
        const OutputOption outputs[] = {{"out", &s.out, false}, {"settings", &s.settings, false}};
        status = outputs_take_dash(usage.command, outputs, 2, &on_stdout);
        status = status == STATUS_FINE ? drawing_options_check(usage.command, &s.drawing) : status;
        status = status == STATUS_FINE ? check_overrides(usage.command, &s.overrides) : status;
        status = status == STATUS_FINE ? run(&s) : status;
    }
    option_list_free(&s.scene);
    option_list_free(&s.overrides);
    return status;
}
