// SPDX-License-Identifier: MIT
// The documents made from the key table: the ones in the source tree are what the code writes now.
// With MOTE_UPDATE_DOCUMENTS set in the environment, they are written anew instead of compared.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "scene/keys.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema_path[] = MOTE_SOURCE_DIR "/scenes/schema.json";
static const char document_path[] = MOTE_SOURCE_DIR "/docs/scene-format.md";

// Not inlined: gcc 12 would then take what `text` points to for `text` itself, and warn.
__attribute__((noinline)) static char *read_all(const char *path)
{
    char *text = NULL;
    size_t size;
    if (file_read(path, 0, &text, &size) != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
    return text;
}

static void check_committed(const char *committed, const char *made, MoteResult (*write)(const char *path))
{
    if (getenv("MOTE_UPDATE_DOCUMENTS") != NULL) {
        assert_int_equal(write(committed), MOTE_OK);
    }
    assert_int_equal(write(made), MOTE_OK);
    char *have = read_all(committed), *want = read_all(made);
    if (strcmp(have, want) != 0) {
        fail_msg("%s differs from %s: run this test with MOTE_UPDATE_DOCUMENTS=1", committed, made);
    }
    free(have);
    free(want);
    assert_int_equal(remove(made), 0);
}

static void test_schema_is_current(void **state)
{
    (void)state;
    check_committed(schema_path, MOTE_BINARY_DIR "/test_scene_schema.json", scene_write_schema);
}

static void test_document_is_current(void **state)
{
    (void)state;
    check_committed(document_path, MOTE_BINARY_DIR "/test_scene_schema.md", scene_write_format_document);
}

static void test_every_key_is_told(void **state)
{
    (void)state;
    json_t *schema = json_load_file(schema_path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(schema);
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    char *document = read_all(document_path);
    for (uint32_t i = 0; i < scene_key_count; i++) {
        const SceneSectionInfo *section = &scene_sections[scene_keys[i].section];
        json_t *node = json_object_get(json_object_get(schema, "properties"), section->json_key);
        if (section->kind != SCENE_OBJECT) {
            node = json_object_get(node, section->kind == SCENE_ARRAY ? "items" : "additionalProperties");
        }
        assert_true(json_is_false(json_object_get(node, "additionalProperties")));
        const json_t *key = json_object_get(json_object_get(node, "properties"), scene_keys[i].name);
        const char *description = json_string_value(json_object_get(key, "description"));
        assert_non_null(description);
        assert_int_equal(strncmp(description, scene_keys[i].meaning, strlen(scene_keys[i].meaning)), 0);
        assert_true((json_object_get(key, "default") == NULL) == (scene_keys[i].animation == SCENE_REQUIRED));
        assert_true((json_object_get(key, "anyOf") != NULL) == (scene_keys[i].animation == SCENE_ANIMATED));
        char cell[128];
        snprintf(cell, sizeof cell, "\n| `%s` |", scene_keys[i].name);
        assert_non_null(strstr(document, cell));
    }
    free(document);
    json_decref(schema);
}

// The example in the document's introduction is a scene.
static void test_example_loads(void **state)
{
    (void)state;
    char *document = read_all(document_path);
    char *begin = strstr(document, "```json\n");
    assert_non_null(begin);
    begin += strlen("```json\n");
    char *end = strstr(begin, "```");
    assert_non_null(end);
    static const char path[] = MOTE_BINARY_DIR "/test_scene_schema_example.json";
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(begin, 1, (size_t)(end - begin), stream), end - begin);
    assert_int_equal(fclose(stream), 0);
    free(document);
    MoteScene *scene;
    if (mote_scene_load(path, NULL, 0, &scene) != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
    assert_int_equal(SCENE_COUNT(&scene->values, fluid), 1);
    mote_scene_destroy(scene);
    assert_int_equal(remove(path), 0);
}

static void test_unwritable_path(void **state)
{
    (void)state;
    assert_int_equal(scene_write_schema(MOTE_BINARY_DIR "/no/such/folder/schema.json"), MOTE_ERROR_IO);
    assert_int_equal(scene_write_format_document(MOTE_BINARY_DIR "/no/such/folder/format.md"), MOTE_ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_is_current), cmocka_unit_test(test_document_is_current),
        cmocka_unit_test(test_every_key_is_told), cmocka_unit_test(test_example_loads),
        cmocka_unit_test(test_unwritable_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
