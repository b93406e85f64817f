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
    assert_true(pace_was_quiet(1.0, 1.0, 1.0) && pace_was_quiet(1.1, 1.05, 1.0));
    assert_false(pace_was_quiet(1.4, 1.0, 1.0)); // the least that a busy neighbour costs
    assert_false(pace_was_quiet(1.0, 1.4, 1.0));
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
        cmocka_unit_test(pace_is_a_yardstick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
