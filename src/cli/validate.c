// SPDX-License-Identifier: MIT
// validate.c - `mote validate`: loads scene files and says what is wrong with them.
#include "cli/command.h"
#include "cli/options.h"
#include "cli/warnings.h"
#include "mote.h"
#include "scene/scene.h"

#include <stdio.h>

static const Usage usage = {
    .command = "validate",
    .arguments = "SCENE...",
    .meaning = "Checks scene files: syntax, keys, types, ranges and references. Errors are told as "
               "file:line:column; the exit status is 1 if there was one.",
    .minimum_arguments = 1,
    .maximum_arguments = UINT32_MAX,
};

int command_validate(int argc, char **argv)
{
    bool quiet = false;
    const Option options[] = {
        {.name = "quiet", .type = OPTION_FLAG, .target = &quiet, .meaning = "Say nothing about valid files"},
    };
    OptionList paths = {0};
    const OptionsOutcome outcome = options_parse(&usage, options, 1, argc, argv, &paths);
    int status = outcome == OPTIONS_WRONG ? STATUS_USAGE : STATUS_FINE;
    for (uint32_t i = 0; i < paths.count && outcome == OPTIONS_PARSED; i++) {
        MoteScene *scene = NULL;
        if (mote_scene_load(paths.items[i], NULL, 0, &scene) != MOTE_OK) {
            status = command_failed();
        } else {
            for (uint32_t n = 0; n < scene->notices.count && !quiet; n++) {
                warnings_print(&scene->notices.rows[n]);
            }
            if (!quiet) {
                printf("%s: valid\n", paths.items[i]);
            }
        }
        mote_scene_destroy(scene);
    }
    option_list_free(&paths);
    return status;
}
