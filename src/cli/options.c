// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include "base/nearest.h"
#include "cli/command.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHOICE_LIMIT = 16, WORD_SIZE = 64 };

// ---- Messages ----

int usage_error(const char *command, const char *format, ...)
{
    fflush(stdout);
    fprintf(stderr, "mote %s: ", command);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, "\nSee: mote help %s\n", command);
    return STATUS_USAGE;
}

enum { HELP_COLUMN = 30, HELP_WIDTH = 100 };

// Prints `text` wrapped at words, its lines starting at `column`; the cursor is there already.
static void print_wrapped(const char *text, size_t column)
{
    size_t at = column;
    for (const char *word = text; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        if (at > column && at + 1 + length > HELP_WIDTH) {
            printf("\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)length, word);
        at += length;
        word += length;
        word += strspn(word, " ");
    }
    putchar('\n');
}

static void print_option(const char *name, const char *value_name, const char *meaning)
{
    const int written = printf("  --%s%s%s", name, value_name != NULL ? " " : "", value_name != NULL ? value_name : "");
    if (written + 2 > HELP_COLUMN) {
        printf("\n%*s", HELP_COLUMN, "");
    } else {
        printf("%*s", HELP_COLUMN - written, "");
    }
    print_wrapped(meaning, HELP_COLUMN);
}

static void print_help(const Usage *usage, const Option *options, uint32_t option_count)
{
    printf("Usage: mote %s%s%s%s\n\n", usage->command, usage->arguments[0] != '\0' ? " " : "", usage->arguments,
           option_count > 0 ? " [options]" : "");
    print_wrapped(usage->meaning, 0);
    printf("\nOptions:\n");
    for (uint32_t i = 0; i < option_count; i++) {
        print_option(options[i].name, options[i].value_name, options[i].meaning);
    }
    print_option("help", NULL, "Show this");
}

// ---- Values ----

// Cuts the choices "a|b|c" into words inside `buffer`.
static uint32_t split_choices(const char *choices, char *buffer, size_t buffer_size, const char **words)
{
    snprintf(buffer, buffer_size, "%s", choices);
    uint32_t count = 0;
    for (char *word = buffer; word != NULL && count < CHOICE_LIMIT;) {
        words[count++] = word;
        word = strchr(word, '|');
        if (word != NULL) {
            *word++ = '\0';
        }
    }
    return count;
}

// The index of `value` among the option's choices, or -1 after an error message.
static int find_choice(const Usage *usage, const Option *option, const char *value)
{
    char buffer[256];
    const char *choices[CHOICE_LIMIT];
    const uint32_t count = split_choices(option->choices, buffer, sizeof buffer, choices);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(value, choices[i]) == 0) {
            return (int)i;
        }
    }
    const char *nearest = nearest_word(value, choices, count);
    usage_error(usage->command, "--%s: found '%s', expected one of %s%s%s%s", option->name, value, option->choices,
                nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return -1;
}

static bool parse_number(const char *text, uint32_t minimum, uint32_t maximum, uint32_t *out)
{
    uint64_t number = 0;
    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        number = number * 10 + (uint64_t)(*text - '0');
        if (number > maximum) {
            return false;
        }
    }
    *out = (uint32_t)number;
    return number >= minimum;
}

static bool list_append(OptionList *list, const char *item, int limit)
{
    if (list->items == NULL) {
        list->items = calloc((size_t)limit, sizeof *list->items);
        if (list->items == NULL) {
            fprintf(stderr, "mote: no memory for the command line\n");
            return false;
        }
    }
    list->items[list->count++] = item;
    return true;
}

void option_list_free(OptionList *list)
{
    free(list->items);
    *list = (OptionList){0};
}

static bool store_set(const Usage *usage, const Option *option, const char *value)
{
    uint32_t bits = 0;
    for (const char *word = value;; word++) {
        char copy[WORD_SIZE];
        const size_t length = strcspn(word, ",");
        snprintf(copy, sizeof copy, "%.*s", (int)length, word);
        const int choice = find_choice(usage, option, copy);
        if (choice < 0) {
            return false;
        }
        bits |= 1u << choice;
        word += length;
        if (*word == '\0') {
            break;
        }
    }
    *(uint32_t *)option->target = bits;
    return true;
}

// `limit` is how many items a list may come to hold: the number of arguments.
static bool store_value(const Usage *usage, const Option *option, const char *value, int limit)
{
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)option->target = true;
        return true;
    case OPTION_NUMBER:
        if (!parse_number(value, option->minimum, option->maximum, option->target)) {
            usage_error(usage->command, "--%s: found '%s', expected a whole number from %u to %u", option->name, value,
                        option->minimum, option->maximum);
            return false;
        }
        return true;
    case OPTION_CHOICE:
        *(const char **)option->target = value;
        return find_choice(usage, option, value) >= 0;
    case OPTION_SET:
        return store_set(usage, option, value);
    case OPTION_LIST:
        return list_append(option->target, value, limit);
    case OPTION_TEXT:
        break;
    }
    if (value[0] == '\0') {
        usage_error(usage->command, "--%s: its value is empty", option->name);
        return false;
    }
    *(const char **)option->target = value;
    return true;
}

// ---- Parsing ----

static void unknown_option(const Usage *usage, const Option *options, uint32_t option_count, const char *text)
{
    const char *names[64] = {"help"};
    char word[WORD_SIZE];
    uint32_t count = 1;
    for (uint32_t i = 0; i < option_count && count < 64; i++) {
        names[count++] = options[i].name;
    }
    const size_t dashes = strspn(text, "-");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text + dashes, "="), text + dashes);
    const char *nearest = nearest_word(word, names, count);
    usage_error(usage->command, "unknown option %.*s%s%s%s", (int)strcspn(text, "="), text,
                nearest != NULL ? "; did you mean --" : "", nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

// Reads the option at argv[*i] and steps *i over its value.
static bool parse_option(const Usage *usage, const Option *options, uint32_t option_count, int argc, char **argv,
                         int *i)
{
    const char *text = argv[*i];
    const char *name = text + 2;
    const size_t length = strcspn(name, "=");
    const Option *option = NULL;
    for (uint32_t k = 0; k < option_count && text[1] == '-'; k++) {
        if (strlen(options[k].name) == length && strncmp(options[k].name, name, length) == 0) {
            option = &options[k];
        }
    }
    if (option == NULL) {
        unknown_option(usage, options, option_count, text);
        return false;
    }
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (option->type == OPTION_FLAG && value != NULL) {
        usage_error(usage->command, "--%s takes no value, found '%s'", option->name, value);
        return false;
    }
    if (option->type != OPTION_FLAG && value == NULL) {
        // What looks like an option is not taken as a value: --out --quiet is a forgotten folder.
        if (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0) {
            usage_error(usage->command, "--%s needs a value: %s", option->name, option->value_name);
            return false;
        }
        value = argv[++*i];
    }
    if (option->given != NULL) {
        *option->given = true;
    }
    return store_value(usage, option, value, argc);
}

OptionsOutcome options_parse(const Usage *usage, const Option *options, uint32_t option_count, int argc, char **argv,
                             OptionList *arguments)
{
    bool options_ended = false;
    for (int i = 1; i < argc; i++) {
        if (options_ended || argv[i][0] != '-' || argv[i][1] == '\0') {
            if (!list_append(arguments, argv[i], argc)) {
                return OPTIONS_WRONG;
            }
        } else if (strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(usage, options, option_count);
            return OPTIONS_HELP_SHOWN;
        } else if (!parse_option(usage, options, option_count, argc, argv, &i)) {
            return OPTIONS_WRONG;
        }
    }
    if (arguments->count < usage->minimum_arguments) {
        usage_error(usage->command, "expected %s", usage->arguments);
        return OPTIONS_WRONG;
    }
    if (arguments->count > usage->maximum_arguments) {
        usage_error(usage->command, "unexpected argument '%s'%s%s", arguments->items[usage->maximum_arguments],
                    usage->arguments[0] != '\0' ? "; expected " : "", usage->arguments);
        return OPTIONS_WRONG;
    }
    return OPTIONS_PARSED;
}
