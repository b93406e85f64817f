// SPDX-License-Identifier: MIT
// How far a long job is, where no terminal shows it.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/progress.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void wait_seconds(double seconds)
{
    const struct timespec duration = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&duration, NULL);
}

static void read_all(FILE *file, char *text, size_t size)
{
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
}

// A frame that takes longer than the interval is spoken of while it is under way, before any was finished and after.
static void test_long_unit(void **state)
{
    (void)state;
    char text[4096];
    FILE *file = tmpfile();
    assert_non_null(file);
    Progress progress;
    progress_begin(&progress, file, "frame", 0, 3, false);
    progress_watch(&progress, 0.05);
    wait_seconds(0.4);
    progress_update(&progress, 1, "");
    wait_seconds(0.4);
    progress_end(&progress);
    read_all(file, text, sizeof text);
    assert_non_null(strstr(text, "frame 0 of 3, frame 1 takes"));
    assert_non_null(strstr(text, "frame 1 of 3 (33 %)"));
    assert_non_null(strstr(text, "frame 2 takes"));
    fclose(file);
}

static void test_one_thing(void **state)
{
    (void)state;
    char text[4096];
    FILE *file = tmpfile();
    assert_non_null(file);
    Progress progress;
    progress_begin(&progress, file, "making the scene", 0, 0, false);
    progress_watch(&progress, 0.05);
    wait_seconds(0.3);
    progress_end(&progress);
    read_all(file, text, sizeof text);
    assert_memory_equal(text, "making the scene takes 0 s so far\n", 34);
    fclose(file);
}

static void test_silent(void **state)
{
    (void)state;
    char text[16];
    FILE *file = tmpfile();
    assert_non_null(file);
    Progress progress;
    progress_begin(&progress, file, "frame", 0, 3, true);
    progress_watch(&progress, 0.01);
    wait_seconds(0.1);
    progress_end(&progress);
    read_all(file, text, sizeof text);
    assert_string_equal(text, "");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_unit),
        cmocka_unit_test(test_one_thing),
        cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
