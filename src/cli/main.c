// SPDX-License-Identifier: MIT
// main.c - the `mote` command: finds the subcommand and runs it.
#include "base/nearest.h"
#include "cli/command.h"
#include "mote.h"

#include <stdio.h>
#include <string.h>

static const Command commands[] = {
    {"view", command_view, "Watch, touch and tune scenes in a window"},
    {"simulate", command_simulate, "Run a scene without a window, export its frames, save and resume"},
    {"render", command_render, "Draw a scene, or saved states of it, as pictures or a film"},
    {"validate", command_validate, "Check scene files without running them"},
    {"bench", command_bench, "Measure speed and memory, stage by stage"},
    {"info", command_info, "Show version, backends, devices and CPU"},
    {"schema", command_schema, "Write the scene format's JSON Schema and its document"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

int command_failed(void)
{
    fflush(stdout);
    fprintf(stderr, "mote: %s\n", mote_error_message());
    return STATUS_FAILED;
}

static void print_help(FILE *stream)
{
    fprintf(stream,
            "Mote %s: liquids, grains, rigid and soft bodies as particles of one position-based solver, on the CPU,\n"
            "CUDA or Vulkan, drawn by Vulkan.\n\nUsage: mote COMMAND ...\n\n",
            mote_version());
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].meaning);
    }
    fprintf(stream, "  %-10s %s\n", "help", "Show this, or with a command's name, its options");
    fprintf(
        stream,
        "\nAlso: mote --help, mote --version. Exit status: 0 fine, 1 failed, 2 wrong usage, 128 + N stopped by signal "
        "N\n(130: Ctrl-C).\n");
}

static const Command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    const char *names[COMMAND_COUNT + 1] = {"help"};
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i + 1] = commands[i].name;
    }
    const char *nearest = nearest_word(name + strspn(name, "-"), names, COMMAND_COUNT + 1);
    fprintf(stderr, "mote: unknown %s '%s'%s%s%s\nSee: mote help\n", name[0] == '-' ? "option" : "command", name,
            nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return NULL;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("mote %s\n", mote_version());
        return STATUS_FINE;
    }
    const bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    if (help && argc == 2) {
        print_help(stdout);
        return STATUS_FINE;
    }
    const Command *command = find_command(help ? argv[2] : name);
    if (command == NULL) {
        return STATUS_USAGE;
    }
    if (help) {
        char help_option[] = "--help";
        char *arguments[] = {argv[2], help_option, NULL};
        return command->run(2, arguments);
    }
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    const int status = run(argc, argv);
    // A full disk behind a redirection shows only when the last bytes are flushed.
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == STATUS_FINE) {
        fprintf(stderr, "mote: cannot write to standard output\n");
        return STATUS_FAILED;
    }
    return status;
}
