/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - see metrics.h.
 *
 * The registry is a sorted array of series, (name, labels) being the key; a series is never
 * freed, so a feeder's pointer stays good until the process ends.
 */
#include "base/metrics.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/memory.h"

enum kind { KIND_COUNTER, KIND_GAUGE, KIND_HISTOGRAM };

struct series {
    char *name;   /* owned */
    char *labels; /* owned, "" for none */
    const char *help;
    enum kind kind;
    union {
        struct counter counter;
        struct gauge gauge;
        struct histogram histogram;
    };
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct series *registry[METRIC_SERIES_COUNT_MAX];
static size_t registry_count;
static struct series overflow[3];

static int compare(const struct series *series, const char *name, const char *labels)
{
    int order = strcmp(series->name, name);

    return order ? order : strcmp(series->labels, labels);
}

static size_t position(const char *name, const char *labels)
{
    size_t low = 0;
    size_t high = registry_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (compare(registry[middle], name, labels) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct series *find_or_add(enum kind kind, const char *name, const char *labels,
                                  const char *help)
{
    struct series *series;
    size_t at;

    if (!labels)
        labels = "";
    pthread_mutex_lock(&lock);
    at = position(name, labels);
    if (at < registry_count && compare(registry[at], name, labels) == 0) {
        series = registry[at];
        assert(series->kind == kind); /* one name, one kind */
    } else if (registry_count == METRIC_SERIES_COUNT_MAX ||
               strlen(labels) > METRIC_LABELS_SIZE_MAX) {
        series = &overflow[kind];
    } else {
        series = mem_zero(sizeof(*series));
        series->name = mem_strdup(name);
        series->labels = mem_strdup(labels);
        series->help = help;
        series->kind = kind;
        memmove(&registry[at + 1], &registry[at], (registry_count - at) * sizeof(registry[0]));
        registry[at] = series;
        assert(at == 0 || compare(registry[at - 1], name, labels) < 0); /* in order */
        registry_count++;
    }
    pthread_mutex_unlock(&lock);
    return series;
}

struct counter *metrics_counter(const char *name, const char *labels, const char *help)
{
    return &find_or_add(KIND_COUNTER, name, labels, help)->counter;
}

struct gauge *metrics_gauge(const char *name, const char *labels, const char *help)
{
    return &find_or_add(KIND_GAUGE, name, labels, help)->gauge;
}

struct histogram *metrics_histogram(const char *name, const char *labels, const char *help)
{
    return &find_or_add(KIND_HISTOGRAM, name, labels, help)->histogram;
}

void histogram_add(struct histogram *histogram, int64_t duration_us)
{
    uint64_t value = duration_us > 0 ? (uint64_t)duration_us : 0;
    unsigned bucket = value <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(value - 1);

    if (bucket > HISTOGRAM_BUCKET_COUNT)
        bucket = HISTOGRAM_BUCKET_COUNT;
    atomic_fetch_add_explicit(&histogram->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum_us, value, memory_order_relaxed);
}

int64_t histogram_quantile_us(const struct histogram *histogram, double q)
{
    uint64_t total = 0;
    uint64_t seen = 0;
    int i;

    for (i = 0; i <= HISTOGRAM_BUCKET_COUNT; i++)
        total += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
    for (i = 0; i <= HISTOGRAM_BUCKET_COUNT; i++) {
        seen += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        if (total && (double)seen >= q * (double)total)
            return (int64_t)1 << i;
    }
    return 0;
}

uint64_t metrics_sum(const char *name, const char *label)
{
    uint64_t sum = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = position(name, ""); i < registry_count; i++) {
        const struct series *series = registry[i];

        if (strcmp(series->name, name) != 0)
            break;
        if (series->kind == KIND_COUNTER && strstr(series->labels, label))
            sum += counter_value(&series->counter);
    }
    pthread_mutex_unlock(&lock);
    return sum;
}

static void print_sample(struct buf *out, const struct series *series, const char *suffix,
                         const char *extra)
{
    buf_printf(out, "%s%s", series->name, suffix);
    if (series->labels[0] || extra[0])
        buf_printf(out, "{%s%s%s}", series->labels, series->labels[0] && extra[0] ? "," : "",
                   extra);
}

static void print_histogram(struct buf *out, const struct series *series)
{
    uint64_t total = 0;
    char bound[32];
    int i;

    for (i = 0; i <= HISTOGRAM_BUCKET_COUNT; i++) {
        total += atomic_load(&series->histogram.buckets[i]);
        if (i < HISTOGRAM_BUCKET_COUNT)
            snprintf(bound, sizeof(bound), "le=\"%.6f\"", (double)((uint64_t)1 << i) / 1e6);
        else
            snprintf(bound, sizeof(bound), "le=\"+Inf\"");
        print_sample(out, series, "_bucket", bound);
        buf_printf(out, " %ju\n", (uintmax_t)total);
    }
    print_sample(out, series, "_sum", "");
    buf_printf(out, " %.6f\n", (double)atomic_load(&series->histogram.sum_us) / 1e6);
    print_sample(out, series, "_count", "");
    buf_printf(out, " %ju\n", (uintmax_t)total);
}

void metrics_print(struct buf *out)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    const char *family = "";
    size_t i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < registry_count; i++) {
        const struct series *series = registry[i];

        if (strcmp(family, series->name) != 0) {
            family = series->name;
            buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", family, series->help, family,
                       kinds[series->kind]);
        }
        if (series->kind == KIND_HISTOGRAM) {
            print_histogram(out, series);
            continue;
        }
        print_sample(out, series, "", "");
        if (series->kind == KIND_COUNTER)
            buf_printf(out, " %ju\n", (uintmax_t)counter_value(&series->counter));
        else
            buf_printf(out, " %jd\n", (intmax_t)atomic_load(&series->gauge.value));
    }
    pthread_mutex_unlock(&lock);
}
