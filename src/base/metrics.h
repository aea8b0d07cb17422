/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - counters, gauges and histograms of the process, as Prometheus reads them.
 *
 * A series is made once (get or create, under a lock) and kept by whoever feeds it; feeding
 * is one relaxed atomic. Labels come formatted: `method="Get",code="OK"`, or NULL.
 * Past METRIC_SERIES_COUNT_MAX all new series of a kind share one that is not printed.
 */
#ifndef TORG_BASE_METRICS_H
#define TORG_BASE_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"

struct counter {
    _Atomic uint64_t value;
};

struct gauge {
    _Atomic int64_t value;
};

/* Seconds, in buckets of powers of two from 1 µs to 64 s. */
enum { HISTOGRAM_BUCKET_COUNT = 27 };

struct histogram {
    _Atomic uint64_t buckets[HISTOGRAM_BUCKET_COUNT + 1]; /* the last: everything above */
    _Atomic uint64_t sum_us;
};

struct counter *metrics_counter(const char *name, const char *labels, const char *help);
struct gauge *metrics_gauge(const char *name, const char *labels, const char *help);
struct histogram *metrics_histogram(const char *name, const char *labels, const char *help);

static inline void counter_add(struct counter *counter, uint64_t count)
{
    atomic_fetch_add_explicit(&counter->value, count, memory_order_relaxed);
}

static inline uint64_t counter_value(const struct counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static inline void gauge_set(struct gauge *gauge, int64_t value)
{
    atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

static inline void gauge_add(struct gauge *gauge, int64_t delta)
{
    atomic_fetch_add_explicit(&gauge->value, delta, memory_order_relaxed);
}

void histogram_add(struct histogram *histogram, int64_t duration_us);

/* An upper estimate of the quantile (0 < q ≤ 1) in microseconds: its bucket's bound. */
int64_t histogram_quantile_us(const struct histogram *histogram, double q);

/* The sum of the counters of that name whose labels have this text in them; "": of all. */
uint64_t metrics_sum(const char *name, const char *label);

/* The text exposition format, families in order of their names. */
void metrics_print(struct buf *out);

#endif
