// SPDX-License-Identifier: MIT
// test_bench_times.c - what `mote bench` makes of times: summaries, and whether cores worked for us alone.
#include "cli/pace.h"
#include "cli/times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void times_are_summarised(void **state)
{
    (void)state;
    double odd[] = {5.0, 1.0, 3.0}, even[] = {4.0, 1.0, 3.0, 2.0}, eight[] = {8, 7, 6, 5, 4, 3, 2, 1};
    Times times = times_of(odd, 3);
    assert_true(times.mean == 3.0 && times.median == 3.0 && times.minimum == 1.0);
    times = times_of(even, 4);
    assert_true(times.mean == 2.5 && times.median == 2.5 && times.minimum == 1.0);
    times = times_of(eight, 8);
    assert_true(times.spread == 2.0 && times.count == 8); // quartiles at 3 and 7
    times = times_of(NULL, 0);
    assert_true(times.mean == 0.0 && times.median == 0.0 && times.minimum == 0.0 && times.spread == 0.0);
    assert_int_equal(times.count, 0);
}

// What lies between two paces had the cores to itself if both are good; one good moment among bad ones is not enough.
static void a_slow_core_is_not_quiet(void **state)
{
    (void)state;
    assert_true(pace_was_quiet(1.0, 1.0, 1.15) && pace_was_quiet(1.1, 1.05, 1.15));
    assert_false(pace_was_quiet(1.4, 1.0, 1.15)); // the least that a busy neighbour costs
    assert_false(pace_was_quiet(1.0, 1.4, 1.15));
}

// From `lowest` to `highest`, `count` of them.
static uint32_t spread_paces(double *out, uint32_t count, double lowest, double highest)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = lowest + (highest - lowest) * i / (count > 1 ? count - 1 : 1);
    }
    return count;
}

// A core that is alone begins at its highest clock rate, and slows down as it warms up: what it does most of the time
// counts, not its best moment.
static void a_few_fast_moments_make_no_others_slow(void **state)
{
    (void)state;
    double paces[64];
    uint32_t count = spread_paces(paces, 2, 0.70, 0.75);
    count += spread_paces(paces + count, 58, 0.97, 1.06);
    const double limit = pace_quiet_limit(paces, count);
    assert_true(limit > 1.06 && limit < 1.25); // a neighbour would still be noticed
}

// A clock rate that wanders over more than 15 % is one mode.
static void a_wandering_clock_is_quiet(void **state)
{
    (void)state;
    double paces[60];
    const uint32_t count = spread_paces(paces, 60, 1.0, 1.28);
    const double limit = pace_quiet_limit(paces, count);
    assert_true(limit > 1.28 && limit < 1.4);
}

// Two modes, with a few moments between them and a few far above: those of the lower one are quiet, whichever is the
// larger, and whatever order the paces come in.
static void neighbours_are_noticed(void **state)
{
    (void)state;
    static const uint32_t quiet_counts[] = {6, 30, 54};
    for (int i = 0; i < 3; i++) {
        double paces[80];
        const uint32_t quiet = quiet_counts[i];
        uint32_t count = spread_paces(paces, 60 - quiet, 1.8, 1.4);
        count += spread_paces(paces + count, quiet, 1.05, 0.98);
        count += spread_paces(paces + count, 3, 1.2, 1.3);
        count += spread_paces(paces + count, 3, 5.0, 12.0);
        const double limit = pace_quiet_limit(paces, count);
        assert_true(limit > 1.05 && limit < 1.25);
    }
}

// With less than three paces there is no telling modes from exceptions.
static void few_paces_have_a_limit(void **state)
{
    (void)state;
    double one[] = {1.0}, two[] = {1.05, 1.0}, apart[] = {3.0, 1.0, 9.0};
    assert_true(pace_quiet_limit(one, 1) == 1.15);
    assert_true(pace_quiet_limit(two, 2) >= 1.15 && pace_quiet_limit(two, 2) <= 1.15 * 1.05);
    assert_true(pace_quiet_limit(apart, 3) == 1.15);
    assert_true(pace_quiet_limit(NULL, 0) == 0.0);
}

// The same work takes about as long again: the least of 30 differs little from the least of 30 more.
static void pace_is_a_yardstick(void **state)
{
    (void)state;
    PaceMaker *maker = pace_maker_create(2);
    assert_non_null(maker);
    double first = 1e9, second = 1e9;
    for (int i = 0; i < 30; i++) {
        const double one = pace_now(maker), other = pace_now(maker);
        assert_true(one > 0.0 && other > 0.0);
        first = one < first ? one : first;
        second = other < second ? other : second;
    }
    assert_true(first / second > 0.5 && first / second < 2.0);
    pace_maker_destroy(maker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_summarised),
        cmocka_unit_test(a_slow_core_is_not_quiet),
        cmocka_unit_test(a_few_fast_moments_make_no_others_slow),
        cmocka_unit_test(a_wandering_clock_is_quiet),
        cmocka_unit_test(neighbours_are_noticed),
        cmocka_unit_test(few_paces_have_a_limit),
        cmocka_unit_test(pace_is_a_yardstick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
