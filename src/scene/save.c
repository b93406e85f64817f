// SPDX-License-Identifier: MIT
#include "scene/save.h"

#include "base/file.h"
#include "scene/load.h"
#include <stdlib.h>

static MoteResult write_json(const json_t *root, const char *target)
{
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    if (text == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", target);
    }
    FileWriter writer;
    MoteResult result = file_writer_open(&writer, target);
    if (result == MOTE_OK) {
        fprintf(writer.stream, "%s\n", text);
        result = file_writer_commit(&writer);
    }
    free(text);
    return result;
}

MoteResult scene_save(const char *path, const char *const *overrides, uint32_t count, const char *target)
{
    SceneReader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read it", path);
    }
    char *text = NULL;
    json_error_t error;
    MoteResult result = file_read(path, 0, &text, &reader->size);
    if (result == MOTE_OK) {
        reader->file = path;
        reader->text = text;
        reader->root = json_loadb(text, reader->size, JSON_REJECT_DUPLICATES, &error);
        if (reader->root == NULL) {
            result = mote_fail(MOTE_ERROR_INPUT, "%s:%d:%d: found invalid JSON: %s", path, error.line, error.column,
                               error.text);
        }
    }
    if (result == MOTE_OK) {
        scene_overrides_apply(reader, overrides, count);
        result = scene_report_result(reader);
    }
    result = result == MOTE_OK ? write_json(reader->root, target) : result;
    scene_overrides_free(reader);
    json_decref(reader->root);
    free(text);
    free(reader);
    return result;
}
