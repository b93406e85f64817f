// SPDX-License-Identifier: MIT
// short_tests.h - what of a long suite is run under the sanitizers every time. They take three to ten times as long,
// and look at each line's memory and arithmetic, for which a few steps are enough: with MOTE_SHORT_TESTS in the
// environment, tests that a suite names as long are left out, and of the others one row for each code that is compiled
// here: "cpu" (AVX2), and "cuda", which is emulated and has the portable kernels. Without it, everything runs.
#ifndef MOTE_TESTS_SHORT_TESTS_H
#define MOTE_TESTS_SHORT_TESTS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_short_test(const char *name, const char *const *long_tests)
{
    if (strstr(name, "[portable cpu]") != NULL || strstr(name, "[vulkan]") != NULL) {
        return false;
    }
    for (; *long_tests != NULL; long_tests++) {
        const size_t length = strlen(*long_tests);
        if (strncmp(name, *long_tests, length) == 0 && (name[length] == '\0' || name[length] == ' ')) {
            return false;
        }
    }
    return true;
}

// As cmocka_run_group_tests; `long_tests` ends with NULL.
static inline int run_long_suite(const struct CMUnitTest *tests, size_t count, const char *const *long_tests,
                                 CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    struct CMUnitTest *chosen = malloc(count * sizeof *chosen);
    assert_non_null(chosen);
    const bool all = getenv("MOTE_SHORT_TESTS") == NULL;
    size_t number = 0;
    for (size_t i = 0; i < count; i++) {
        if (all || is_short_test(tests[i].name, long_tests)) {
            chosen[number++] = tests[i];
        }
    }
    assert_true(number > 0);
    const int failed = _cmocka_run_group_tests("tests", chosen, number, set_up, tear_down);
    free(chosen);
    return failed;
}

#endif
