// SPDX-License-Identifier: MIT
// options.h - command-line options from one table a subcommand, which also makes its help text.
// Options may stand anywhere, as --name value or --name=value; "--" ends them.
#ifndef MOTE_CLI_OPTIONS_H
#define MOTE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum OptionType {
    OPTION_FLAG,   // bool: given or not
    OPTION_TEXT,   // const char *: any value that is not empty; the last one given holds
    OPTION_NUMBER, // uint32_t: a whole number from minimum to maximum
    OPTION_CHOICE, // const char *: one of `choices`
    OPTION_SET,    // uint32_t: bit n for the n-th of `choices`; the value is a list with commas
    OPTION_LIST,   // OptionList: may be given any number of times
} OptionType;

typedef struct OptionList {
    const char **items;
    uint32_t count;
} OptionList;

typedef struct Option {
    const char *name; // without its dashes
    OptionType type;
    void *target;           // of the type said above; it holds the default before parsing
    const char *value_name; // for the help text; NULL for flags
    const char *meaning;
    const char *choices; // separated by '|'
    uint32_t minimum, maximum;
    bool *given; // may be NULL
} Option;

typedef struct Usage {
    const char *command;   // "simulate"
    const char *arguments; // "SCENE", as the help text has it; "" if there are none
    const char *meaning;
    uint32_t minimum_arguments, maximum_arguments;
} Usage;

typedef enum OptionsOutcome {
    OPTIONS_PARSED,
    OPTIONS_HELP_SHOWN, // --help was given: done, successfully
    OPTIONS_WRONG,      // and stderr says what
} OptionsOutcome;

// Reads argv[1] onwards. The arguments that are not options go into `arguments`. Lists must be freed with
// option_list_free whatever the outcome.
OptionsOutcome options_parse(const Usage *usage, const Option *options, uint32_t option_count, int argc, char **argv,
                             OptionList *arguments);
void option_list_free(OptionList *list);

// Prints "mote COMMAND: message" and where help is found; for what a table cannot say, such as options that
// need each other. Returns STATUS_USAGE.
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
