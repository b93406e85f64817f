// SPDX-License-Identifier: MIT
// command.h - the subcommands of `mote`. A new one is a file with its function, and a row in main.c's table.
#ifndef MOTE_CLI_COMMAND_H
#define MOTE_CLI_COMMAND_H

#include <stdint.h>

enum {
    STATUS_FINE = 0,
    STATUS_FAILED = 1,        // with one message on stderr
    STATUS_USAGE = 2,         // the command line itself is wrong
    STATUS_INTERRUPTED = 130, // what shells report for a program stopped by Ctrl-C
};

// argv[0] is the subcommand's name. Returns the exit status of the process. Each answers --help itself.
typedef int CommandFunction(int argc, char **argv);

typedef struct Command {
    const char *name;
    CommandFunction *run;
    const char *meaning;
} Command;

CommandFunction command_view, command_simulate, command_render, command_validate, command_info, command_bench,
    command_schema;

// "mote: " and the last failed call's message on stderr; returns STATUS_FAILED.
int command_failed(void);

#endif
