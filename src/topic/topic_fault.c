/* SPDX-License-Identifier: Apache-2.0 */
/* topic_fault.c - see topic_fault.h. Passes everything else on to the wrapped backend. */
#include "topic/topic_fault.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "topic/topic_ops.h"

struct fault_topics {
    struct topics base;
    struct topics *inner; /* owned */
    struct topic_faults faults;
};

struct fault_consumer {
    struct consumer base;
    struct fault_topics *owner;
    struct consumer *inner; /* owned */
};

static struct fault_topics *fault_of(struct topics *topics)
{
    return container_of(topics, struct fault_topics, base);
}

static struct topics *inner_of(struct topics *topics)
{
    return fault_of(topics)->inner;
}

static struct fault_consumer *consumer_of(struct consumer *consumer)
{
    return container_of(consumer, struct fault_consumer, base);
}

struct topic_faults *topics_faults(struct topics *topics)
{
    assert(topics->ops == &topics_fault_ops);
    return &fault_of(topics)->faults;
}

static bool strikes(_Atomic int *times)
{
    int left = atomic_load(times);

    while (left > 0)
        if (atomic_compare_exchange_weak(times, &left, left - 1))
            return true;
    return left < 0;
}

static int fault_open(const char *place, const struct topics_options *options,
                      struct topics **topics, struct err *err)
{
    struct fault_topics *made = mem_zero(sizeof(*made));
    int rc = topics_open(place, options, &made->inner, err);

    if (rc) {
        free(made);
        return rc;
    }
    *topics = &made->base;
    return 0;
}

static void fault_close(struct topics *topics)
{
    topics_close(inner_of(topics));
    free(fault_of(topics));
}

static int fault_create(struct topics *topics, const char *name, const struct topic_config *config,
                        struct err *err)
{
    return inner_of(topics)->ops->create(inner_of(topics), name, config, err);
}

static int fault_describe(struct topics *topics, const char *name, struct topic_config *config,
                          struct err *err)
{
    if (strikes(&fault_of(topics)->faults.hide_topic))
        return err_set(err, ERR_NOT_FOUND, "there is no topic %s yet (injected)", name);
    return inner_of(topics)->ops->describe(inner_of(topics), name, config, err);
}

static int fault_remove(struct topics *topics, const char *name, struct err *err)
{
    return inner_of(topics)->ops->remove(inner_of(topics), name, err);
}

static int fault_list(struct topics *topics, struct arena *arena, const char ***names,
                      size_t *count, struct err *err)
{
    return inner_of(topics)->ops->list(inner_of(topics), arena, names, count, err);
}

static int fault_partition_count(struct topics *topics, const char *name, uint32_t *count,
                                 struct err *err)
{
    return inner_of(topics)->ops->partition_count(inner_of(topics), name, count, err);
}

enum { LOST_ACK_MAGIC = OBJECT_MAGIC('l', 'o', 's', 't') };

/* A submit whose good end is told as a bad one. */
struct lost_ack {
    uint32_t magic;
    submit_done_fn done;
    void *arg;
};

static void tell_lost(void *arg, int rc, const struct err *err)
{
    struct lost_ack *lost = arg;
    struct err told;

    object_check(lost, LOST_ACK_MAGIC);
    if (!rc) {
        rc = err_set(&told, ERR_TIMEOUT, "the acknowledgement was lost (injected)");
        err = &told;
    }
    lost->done(lost->arg, rc, err);
    object_end(lost, LOST_ACK_MAGIC);
    free(lost);
}

/* The earlier copy of a duplicate: nobody hears of it. */
static void free_offsets(void *arg, int rc, const struct err *err)
{
    (void)rc;
    (void)err;
    free(arg);
}

static int submit_duplicate(struct topics *inner, const struct submit *submit, struct err *err)
{
    struct submit first = *submit;
    int rc;

    first.copy = true;
    first.offsets = mem_array(submit->count, sizeof(*first.offsets));
    first.done = free_offsets;
    first.arg = first.offsets;
    rc = inner->ops->submit(inner, &first, err);
    if (rc)
        free(first.offsets);
    return rc;
}

static void delay(const struct clock *clock, struct topic_faults *faults)
{
    int ms = atomic_load(&faults->delay_ms);

    clock_sleep(clock, (int64_t)ms * MS_US);
}

static int fault_submit(struct topics *topics, const struct submit *submit, struct err *err)
{
    struct topic_faults *faults = &fault_of(topics)->faults;
    struct topics *inner = inner_of(topics);
    struct submit passed = *submit;
    struct lost_ack *lost = NULL;
    int rc;

    while (atomic_load(&faults->hold_produce))
        clock_sleep(topics->clock, MS_US);
    if (atomic_load(&faults->fail_produce) != 0 && !strikes(&faults->spare_produce) &&
        strikes(&faults->fail_produce))
        return err_set(err, ERR_UNAVAILABLE, "topic %s: produce failed (injected)", submit->name);
    if (strikes(&faults->delay_produce))
        delay(topics->clock, faults);
    if (strikes(&faults->duplicate_produce)) {
        rc = submit_duplicate(inner, submit, err);
        if (rc)
            return rc;
    }
    if (strikes(&faults->lose_ack)) {
        lost = mem_zero(sizeof(*lost));
        object_begin(lost, LOST_ACK_MAGIC);
        lost->done = submit->done;
        lost->arg = submit->arg;
        passed.done = tell_lost;
        passed.arg = lost;
    }
    rc = inner->ops->submit(inner, &passed, err);
    if (rc && lost) {
        object_end(lost, LOST_ACK_MAGIC);
        free(lost);
    }
    return rc;
}

static int fault_flush(struct topics *topics, int timeout_ms, struct err *err)
{
    return inner_of(topics)->ops->flush(inner_of(topics), timeout_ms, err);
}

static int fault_read(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
                      size_t max_count, int timeout_ms, struct arena *arena,
                      const struct topic_message **messages, size_t *count, struct err *err)
{
    if (strikes(&fault_of(topics)->faults.fail_read))
        return err_set(err, ERR_UNAVAILABLE, "topic %s: read failed (injected)", name);
    return inner_of(topics)->ops->read(inner_of(topics), name, partition, offset, max_count,
                                       timeout_ms, arena, messages, count, err);
}

static int fault_range(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                       uint64_t *end, struct err *err)
{
    return inner_of(topics)->ops->range(inner_of(topics), name, partition, first, end, err);
}

static int fault_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
                      struct err *err)
{
    return inner_of(topics)->ops->trim(inner_of(topics), name, partition, before, err);
}

static int fault_lag(struct topics *topics, const char *group, const char *name, uint32_t partition,
                     struct topic_lag *lag, struct err *err)
{
    if (strikes(&fault_of(topics)->faults.fail_lag))
        return err_set(err, ERR_UNAVAILABLE, "group %s: no answer (injected)", group);
    return inner_of(topics)->ops->lag(inner_of(topics), group, name, partition, lag, err);
}

static int fault_housekeep(struct topics *topics, struct err *err)
{
    return inner_of(topics)->ops->housekeep(inner_of(topics), err);
}

static int fault_consumer_open(struct topics *topics, const struct consumer_options *options,
                               struct consumer **consumer, struct err *err)
{
    struct fault_consumer *made = mem_zero(sizeof(*made));
    int rc = consumer_open(inner_of(topics), options, &made->inner, err);

    if (rc) {
        free(made);
        return rc;
    }
    made->owner = fault_of(topics);
    *consumer = &made->base;
    return 0;
}

static void fault_consumer_close(struct consumer *consumer)
{
    consumer_close(consumer_of(consumer)->inner);
    free(consumer_of(consumer));
}

static int fault_consumer_poll(struct consumer *base, int timeout_ms,
                               const struct topic_message **messages, size_t *count,
                               struct err *err)
{
    struct fault_consumer *consumer = consumer_of(base);

    if (strikes(&consumer->owner->faults.fail_read))
        return err_set(err, ERR_UNAVAILABLE, "poll failed (injected)");
    return consumer_poll(consumer->inner, timeout_ms, messages, count, err);
}

static int fault_consumer_commit(struct consumer *base, const struct topic_position *positions,
                                 size_t count, struct err *err)
{
    struct fault_consumer *consumer = consumer_of(base);
    int rc;

    if (strikes(&consumer->owner->faults.fail_commit))
        return err_set(err, ERR_UNAVAILABLE, "commit failed (injected)");
    rc = consumer_commit(consumer->inner, positions, count, err);
    if (!rc && strikes(&consumer->owner->faults.lose_commit))
        rc = err_set(err, ERR_TIMEOUT, "the commit's acknowledgement was lost (injected)");
    return rc;
}

static int fault_consumer_seek(struct consumer *consumer, const char *topic, uint32_t partition,
                               uint64_t offset, struct err *err)
{
    struct fault_consumer *faulty = consumer_of(consumer);

    if (strikes(&faulty->owner->faults.fail_seek))
        return err_set(err, ERR_UNAVAILABLE, "seek failed (injected)");
    return consumer_seek(faulty->inner, topic, partition, offset, err);
}

static int fault_consumer_assignment(struct consumer *consumer, struct topic_position *positions,
                                     size_t max, size_t *count, struct err *err)
{
    return consumer_assignment(consumer_of(consumer)->inner, positions, max, count, err);
}

static uint64_t fault_consumer_generation(struct consumer *consumer)
{
    return consumer_generation(consumer_of(consumer)->inner);
}

const struct topics_ops topics_fault_ops = {
    .scheme = "fault",
    .open = fault_open,
    .close = fault_close,
    .create = fault_create,
    .describe = fault_describe,
    .remove = fault_remove,
    .list = fault_list,
    .partition_count = fault_partition_count,
    .submit = fault_submit,
    .flush = fault_flush,
    .read = fault_read,
    .range = fault_range,
    .trim = fault_trim,
    .lag = fault_lag,
    .housekeep = fault_housekeep,
    .consumer_open = fault_consumer_open,
    .consumer_close = fault_consumer_close,
    .consumer_poll = fault_consumer_poll,
    .consumer_commit = fault_consumer_commit,
    .consumer_seek = fault_consumer_seek,
    .consumer_assignment = fault_consumer_assignment,
    .consumer_generation = fault_consumer_generation,
};
