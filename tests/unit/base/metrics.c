/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/metrics.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/metrics.h"
#include "base/random.h"

static void the_text_is_what_prometheus_reads(void **state)
{
    struct buf out = BUF_INIT(1 << 16);
    struct histogram *histogram;

    (void)state;
    counter_add(metrics_counter("t_b_total", "code=\"OK\"", "Calls."), 2);
    counter_add(metrics_counter("t_b_total", "code=\"NO\"", "Calls."), 1);
    gauge_set(metrics_gauge("t_a", NULL, "A gauge."), -7);
    gauge_add(metrics_gauge("t_a", NULL, "A gauge."), 2);
    histogram = metrics_histogram("t_c_seconds", "m=\"x\"", "Times.");
    histogram_add(histogram, 3);
    histogram_add(histogram, 4);
    histogram_add(histogram, INT64_MAX / 4);
    histogram_add(histogram, -1); /* a clock that stepped back counts as nothing */
    metrics_print(&out);
    assert_memory_equal(buf_text(&out),
                        "# HELP t_a A gauge.\n# TYPE t_a gauge\nt_a -5\n"
                        "# HELP t_b_total Calls.\n# TYPE t_b_total counter\n"
                        "t_b_total{code=\"NO\"} 1\nt_b_total{code=\"OK\"} 2\n"
                        "# HELP t_c_seconds Times.\n# TYPE t_c_seconds histogram\n"
                        "t_c_seconds_bucket{m=\"x\",le=\"0.000001\"} 1\n"
                        "t_c_seconds_bucket{m=\"x\",le=\"0.000002\"} 1\n"
                        "t_c_seconds_bucket{m=\"x\",le=\"0.000004\"} 3\n",
                        300);
    assert_non_null(strstr(buf_text(&out), "le=\"67.108864\"} 3\n"));
    assert_non_null(strstr(buf_text(&out), "le=\"+Inf\"} 4\n"));
    assert_non_null(strstr(buf_text(&out), "t_c_seconds_count{m=\"x\"} 4\n"));
    buf_release(&out);
}

static void counters_of_a_name_are_summed(void **state)
{
    (void)state;
    counter_add(metrics_counter("s_total", "method=\"Get\",code=\"OK\"", "Calls."), 5);
    counter_add(metrics_counter("s_total", "method=\"Get\",code=\"NO\"", "Calls."), 2);
    counter_add(metrics_counter("s_total", "method=\"Put\",code=\"OK\"", "Calls."), 30);
    counter_add(metrics_counter("s_total_more", NULL, "Others."), 1000);
    assert_int_equal(metrics_sum("s_total", ""), 37);
    assert_int_equal(metrics_sum("s_total", "method=\"Get\""), 7);
    assert_int_equal(metrics_sum("s_total", "code=\"OK\""), 35);
    assert_int_equal(metrics_sum("s_tot", ""), 0);
}

static void quantiles_are_upper_estimates(void **state)
{
    struct histogram *histogram = metrics_histogram("q_seconds", NULL, "Times.");
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int64_t largest = 0;
    int i;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    assert_int_equal(histogram_quantile_us(histogram, 0.5), 0);
    for (i = 0; i < 100; i++)
        histogram_add(histogram, 100);
    assert_int_equal(histogram_quantile_us(histogram, 0.5), 128);
    assert_int_equal(histogram_quantile_us(histogram, 1), 128);
    histogram_add(histogram, 5000);
    assert_int_equal(histogram_quantile_us(histogram, 0.99), 128);
    assert_int_equal(histogram_quantile_us(histogram, 1), 8192);
    for (i = 0; i < 1000; i++) {
        int64_t value = (int64_t)rng_below(&rng, 1 << rng_below(&rng, 25));

        largest = value > largest ? value : largest;
        histogram_add(histogram, value);
    }
    assert_true(histogram_quantile_us(histogram, 1) >= largest);
    assert_true(histogram_quantile_us(histogram, 0.5) <= histogram_quantile_us(histogram, 0.9));
}

static void a_series_is_made_once(void **state)
{
    (void)state;
    assert_ptr_equal(metrics_counter("once_total", NULL, "h"),
                     metrics_counter("once_total", "", "h"));
    assert_ptr_not_equal(metrics_counter("once_total", NULL, "h"),
                         metrics_counter("once_total", "a=\"1\"", "h"));
}

static void *count(void *arg)
{
    int i;

    for (i = 0; i < 2000; i++) {
        char labels[32];

        snprintf(labels, sizeof(labels), "n=\"%d\"", i % 50);
        counter_add(metrics_counter("crowd_total", labels, "h"), 1);
        gauge_add(arg, i % 2 ? -1 : 1);
    }
    return NULL;
}

static void threads_count_together(void **state)
{
    struct gauge *gauge = metrics_gauge("crowd", NULL, "h");
    pthread_t threads[4];
    uint64_t total = 0;
    char labels[32];
    int i;

    (void)state;
    for (i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, gauge), 0);
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (i = 0; i < 50; i++) {
        snprintf(labels, sizeof(labels), "n=\"%d\"", i);
        total += counter_value(metrics_counter("crowd_total", labels, "h"));
    }
    assert_int_equal(total, 4 * 2000);
    assert_int_equal(gauge->value, 0);
}

static void too_many_series_share_one(void **state)
{
    char labels[METRIC_LABELS_SIZE_MAX + 10];
    struct counter *first = NULL;
    struct buf out = BUF_INIT(4 << 20);
    int i;

    (void)state;
    memset(labels, 'l', sizeof(labels) - 1);
    labels[sizeof(labels) - 1] = 0;
    first = metrics_counter("long_total", labels, "h");
    for (i = 0; i < METRIC_SERIES_COUNT_MAX + 10; i++) {
        snprintf(labels, sizeof(labels), "n=\"%d\"", i);
        metrics_counter("many_total", labels, "h");
    }
    assert_ptr_equal(metrics_counter("many_total", "n=\"last\"", "h"), first);
    metrics_print(&out);
    assert_null(strstr(buf_text(&out), "long_total"));
    assert_null(strstr(buf_text(&out), "last"));
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_what_prometheus_reads), /* the first: it reads it all */
        cmocka_unit_test(counters_of_a_name_are_summed),
        cmocka_unit_test(quantiles_are_upper_estimates),
        cmocka_unit_test(a_series_is_made_once),
        cmocka_unit_test(threads_count_together),
        cmocka_unit_test(too_many_series_share_one), /* the last: nothing more can be made */
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
