// SPDX-License-Identifier: MIT
// schema.c - `mote schema`: writes the documents that are made from the table of scene keys.
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "scene/scene.h"

#include <stddef.h>

static const Usage usage = {
    .command = "schema",
    .arguments = "",
    .meaning = "Writes what is known about the scene format, from the table that the parser itself uses.",
};

int command_schema(int argc, char **argv)
{
    const char *schema = NULL, *document = NULL;
    const Option options[] = {
        {.name = "schema",
         .type = OPTION_TEXT,
         .target = &schema,
         .value_name = "FILE",
         .meaning = "Write the JSON Schema, for editors and validators; - is standard output"},
        {.name = "format-document",
         .type = OPTION_TEXT,
         .target = &document,
         .value_name = "FILE",
         .meaning = "Write the description of the format, in Markdown; - is standard output"},
    };
    OptionList arguments = {0};
    const OptionsOutcome outcome = options_parse(&usage, options, 2, argc, argv, &arguments);
    option_list_free(&arguments);
    if (outcome != OPTIONS_PARSED) {
        return outcome == OPTIONS_WRONG ? STATUS_USAGE : STATUS_FINE;
    }
    bool on_stdout;
    const OutputOption outputs[] = {{"schema", &schema, true}, {"format-document", &document, true}};
    const int status = outputs_take_dash(usage.command, outputs, 2, &on_stdout);
    if (status != STATUS_FINE) {
        return status;
    }
    if (schema == NULL && document == NULL) {
        return usage_error(usage.command, "expected --schema FILE, --format-document FILE or both");
    }
    if (schema != NULL && scene_write_schema(schema) != MOTE_OK) {
        return command_failed();
    }
    if (document != NULL && scene_write_format_document(document) != MOTE_OK) {
        return command_failed();
    }
    return STATUS_FINE;
}
