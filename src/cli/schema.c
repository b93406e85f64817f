// schema.c - `mote schema`: writes the documents that are made from the table of scene keys.
#include "cli/command.h"
#include "cli/options.h"
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
         .meaning = "Write the JSON Schema, for editors and validators"},
        {.name = "format-document",
         .type = OPTION_TEXT,
         .target = &document,
         .value_name = "FILE",
         .meaning = "Write the description of the format, in Markdown"},
    };
    OptionList arguments = {0};
    const OptionsOutcome outcome = options_parse(&usage, options, 2, argc, argv, &arguments);
    option_list_free(&arguments);
    if (outcome != OPTIONS_PARSED) {
        return outcome == OPTIONS_WRONG ? STATUS_USAGE : STATUS_FINE;
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
