/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_topic.c - the scheme sim: of topic.h: a member's client of the broker that all share.
 *
 * It promises what Kafka does: what was acknowledged is kept, records of a key stay in order, a
 * partition has one owner in a group, whose commits alone are taken. And no better: a produce that
 * failed may have been stored, a commit too; a consumer loses its session and begins again behind
 * its last commit, so that records come twice, and somebody else may have them meanwhile; a read
 * gives fewer records than there are; without brokers a poll finds nothing or says so.
 *
 * Reports of produced records come by the member's wire, in their order (sim_topic_submit.c);
 * records of a poll are copied, because the broker may have let go of the consumer that they came
 * by.
 */
#include "sim/sim_topic.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/sim_backends.h"

enum { DRIP_COUNT_MAX = 2, DRIP_MS_MAX = 150 };

struct sim_consumer {
    struct consumer base;
    struct sim_topics *owner;
    struct consumer_options options; /* its strings are the arena's */
    struct arena *arena;
    struct consumer *inner;   /* owned; NULL: the session is lost, the next poll begins anew */
    uint64_t lost_generation; /* what the lost ones had counted */
    struct arena *polled;     /* the records of the last poll */
};

static struct topics *inner_of(struct topics *topics)
{
    return sim_topics_of(topics)->inner;
}

static int arrive(struct topics *topics, struct err *err)
{
    return sim_call(sim_topics_of(topics)->member, SIM_TOPICS, err);
}

static int tell(struct topics *topics, int rc, struct err *err)
{
    return sim_answer(sim_topics_of(topics)->member, SIM_TOPICS, rc, err);
}

/* --- topics --- */

static int sim_open(const char *place, const struct topics_options *options, struct topics **topics,
                    struct err *err)
{
    struct sim_node *member;
    struct sim_topics *self;
    int rc = sim_node_find(place, &member, err);

    if (rc)
        return rc;
    self = mem_zero(sizeof(*self));
    self->member = member;
    self->inner = sim_net_topics(sim_node_net(member));
    pthread_mutex_init(&self->lock, NULL);
    condition_init(&self->changed, options->clock);
    *topics = &self->base;
    return 0;
}

static void sim_close(struct topics *topics)
{
    struct sim_topics *self = sim_topics_of(topics);

    sim_topics_drain(self, CLOCK_NEVER);
    condition_release(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static int sim_create(struct topics *topics, const char *name, const struct topic_config *config,
                      struct err *err)
{
    int rc = arrive(topics, err);

    return rc ? rc : tell(topics, topic_create(inner_of(topics), name, config, err), err);
}

static int sim_describe(struct topics *topics, const char *name, struct topic_config *config,
                        struct err *err)
{
    int rc = arrive(topics, err);

    return rc ? rc : tell(topics, topic_describe(inner_of(topics), name, config, err), err);
}

static int sim_remove(struct topics *topics, const char *name, struct err *err)
{
    int rc = arrive(topics, err);

    if (rc)
        return rc;
    rc = topic_remove(inner_of(topics), name, err);
    sim_topics_drain(sim_topics_of(topics), CLOCK_NEVER); /* what was in flight is called back */
    return tell(topics, rc, err);
}

static int sim_list(struct topics *topics, struct arena *arena, const char ***names, size_t *count,
                    struct err *err)
{
    int rc = arrive(topics, err);

    return rc ? rc : tell(topics, topic_list(inner_of(topics), arena, names, count, err), err);
}

/* A client knows it since it first asked: no call. */
static int sim_partition_count(struct topics *topics, const char *name, uint32_t *count,
                               struct err *err)
{
    int rc;

    sim_arrive();
    rc = inner_of(topics)->ops->partition_count(inner_of(topics), name, count, err);
    sim_leave(sim_topics_of(topics)->member);
    return rc;
}

static int sim_flush(struct topics *topics, int timeout_ms, struct err *err)
{
    struct sim_topics *self = sim_topics_of(topics);

    if (sim_topics_drain(self, clock_after_us(self->base.clock, (int64_t)timeout_ms * MS_US)))
        return 0;
    return err_set(err, ERR_TIMEOUT, "sim: records are still in flight after %d ms", timeout_ms);
}

static int sim_read(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
                    size_t max_count, int timeout_ms, struct arena *arena,
                    const struct topic_message **messages, size_t *count, struct err *err)
{
    struct sim_topics *self = sim_topics_of(topics);
    struct sim_net *net = sim_node_net(self->member);
    bool drips = sim_net_drips(net, name);
    int rc = arrive(topics, err);

    if (drips && max_count > DRIP_COUNT_MAX)
        max_count = DRIP_COUNT_MAX;
    if (!rc && max_count > 1 && (drips || sim_strikes(self->member, SIM_TOPICS)))
        max_count = 1 + (size_t)sim_net_draw(net, max_count);
    if (!rc)
        rc = tell(topics,
                  topic_read(self->inner, name, partition, offset, max_count, timeout_ms, arena,
                             messages, count, err),
                  err);
    if (rc) {
        *messages = NULL;
        *count = 0;
    }
    if (drips && *count)
        clock_sleep(self->base.clock, (int64_t)sim_net_draw(net, DRIP_MS_MAX) * MS_US);
    return rc;
}

static int sim_range(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                     uint64_t *end, struct err *err)
{
    int rc = arrive(topics, err);

    return rc ? rc
              : tell(topics, topic_range(inner_of(topics), name, partition, first, end, err), err);
}

static int sim_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
                    struct err *err)
{
    int rc = arrive(topics, err);

    return rc ? rc : tell(topics, topic_trim(inner_of(topics), name, partition, before, err), err);
}

static int sim_lag(struct topics *topics, const char *group, const char *name, uint32_t partition,
                   struct topic_lag *lag, struct err *err)
{
    int rc = arrive(topics, err);

    return rc ? rc
              : tell(topics, topic_lag(inner_of(topics), group, name, partition, lag, err), err);
}

static int sim_housekeep(struct topics *topics, struct err *err)
{
    int rc = arrive(topics, err);

    return rc ? rc : tell(topics, topics_housekeep(inner_of(topics), err), err);
}

/* --- consumers --- */

static struct sim_consumer *consumer_of(struct consumer *consumer)
{
    return container_of(consumer, struct sim_consumer, base);
}

/* As after max.poll.interval, or a broker that forgot it: what is not committed is another's. */
static void lose_session(struct sim_consumer *consumer)
{
    if (!consumer->inner)
        return;
    sim_arrive();
    consumer->lost_generation += consumer_generation(consumer->inner);
    consumer_close(consumer->inner);
    consumer->inner = NULL;
    sim_leave(consumer->owner->member);
}

static void sim_consumer_close(struct consumer *base)
{
    struct sim_consumer *consumer = consumer_of(base);

    lose_session(consumer);
    arena_free(consumer->polled);
    arena_free(consumer->arena);
    free(consumer);
}

static int sim_consumer_open(struct topics *topics, const struct consumer_options *options,
                             struct consumer **consumer, struct err *err)
{
    struct sim_consumer *made;
    const char **names;
    int rc = arrive(topics, err);

    if (rc)
        return rc;
    made = mem_zero(sizeof(*made));
    made->owner = sim_topics_of(topics);
    made->arena = arena_new();
    made->polled = arena_new();
    made->options = *options;
    made->options.group = arena_strdup(made->arena, options->group);
    names = arena_array(made->arena, options->topic_count, sizeof(*names));
    for (size_t i = 0; i < options->topic_count; i++)
        names[i] = arena_strdup(made->arena, options->topics[i]);
    made->options.topics = names;
    rc = tell(topics, consumer_open(made->owner->inner, &made->options, &made->inner, err), err);
    if (rc) {
        sim_consumer_close(&made->base);
        return rc;
    }
    *consumer = &made->base;
    return 0;
}

/* The name that lives as long as the consumer. */
static const char *name_of(const struct sim_consumer *consumer, const char *name)
{
    for (size_t i = 0; i < consumer->options.topic_count; i++) {
        if (strcmp(consumer->options.topics[i], name) == 0)
            return consumer->options.topics[i];
    }
    return NULL;
}

static const struct topic_message *copy_polled(struct sim_consumer *consumer,
                                               const struct topic_message *found, size_t count)
{
    struct arena *arena = consumer->polled;
    struct topic_message *copies = arena_array(arena, count, sizeof(*copies));

    for (size_t i = 0; i < count; i++) {
        struct topic_header *headers = arena_array(arena, found[i].header_count, sizeof(*headers));

        copies[i] = found[i];
        copies[i].topic = name_of(consumer, found[i].topic);
        copies[i].key = arena_copy(arena, found[i].key);
        copies[i].value = arena_copy(arena, found[i].value);
        for (size_t k = 0; k < found[i].header_count; k++) {
            headers[k].name = arena_copy(arena, found[i].headers[k].name);
            headers[k].value = arena_copy(arena, found[i].headers[k].value);
        }
        copies[i].headers = headers;
    }
    return copies;
}

/* Without brokers: the client goes on trying and finds nothing, or tells. */
static int poll_nobody(struct sim_consumer *consumer, int timeout_ms, struct err *err)
{
    struct sim_topics *owner = consumer->owner;

    if (sim_net_chance(sim_node_net(owner->member), 500))
        return err->code;
    clock_sleep(owner->base.clock, (int64_t)timeout_ms * MS_US);
    return 0;
}

static int sim_consumer_poll(struct consumer *base, int timeout_ms,
                             const struct topic_message **messages, size_t *count, struct err *err)
{
    struct sim_consumer *consumer = consumer_of(base);
    struct topics *topics = &consumer->owner->base;
    const struct topic_message *found = NULL;
    struct err local;
    size_t found_count = 0;
    int rc;

    if (!err)
        err = &local;
    arena_reset(consumer->polled);
    rc = arrive(topics, err);
    if (rc)
        return poll_nobody(consumer, timeout_ms, err);
    if (sim_strikes(consumer->owner->member, SIM_TOPICS))
        lose_session(consumer);
    if (!consumer->inner)
        rc = consumer_open(consumer->owner->inner, &consumer->options, &consumer->inner, err);
    if (!rc)
        rc = consumer_poll(consumer->inner, timeout_ms, &found, &found_count, err);
    rc = tell(topics, rc, err);
    if (rc) {
        if (found_count) /* the broker takes them for delivered, so it must not have them so */
            lose_session(consumer);
        return rc;
    }
    *messages = found_count ? copy_polled(consumer, found, found_count) : NULL;
    *count = found_count;
    return 0;
}

static int refuse_lost(const struct sim_consumer *consumer, struct err *err)
{
    return err_set(err, ERR_STALE, "sim: the session in group %s is lost: poll to begin anew",
                   consumer->options.group);
}

static int sim_consumer_commit(struct consumer *base, const struct topic_position *positions,
                               size_t count, struct err *err)
{
    struct sim_consumer *consumer = consumer_of(base);
    struct topics *topics = &consumer->owner->base;
    int rc = arrive(topics, err);

    if (rc)
        return rc;
    if (sim_strikes(consumer->owner->member, SIM_TOPICS))
        lose_session(consumer);
    rc = consumer->inner ? consumer_commit(consumer->inner, positions, count, err)
                         : refuse_lost(consumer, err);
    return tell(topics, rc, err);
}

static int sim_consumer_seek(struct consumer *base, const char *topic, uint32_t partition,
                             uint64_t offset, struct err *err)
{
    struct sim_consumer *consumer = consumer_of(base);
    struct topics *topics = &consumer->owner->base;
    int rc = arrive(topics, err);

    if (rc)
        return rc;
    rc = consumer->inner ? consumer_seek(consumer->inner, topic, partition, offset, err)
                         : refuse_lost(consumer, err);
    return tell(topics, rc, err);
}

/* The client's own knowledge: no call. */
static int sim_consumer_assignment(struct consumer *base, struct topic_position *positions,
                                   size_t max, size_t *count, struct err *err)
{
    struct sim_consumer *consumer = consumer_of(base);
    int rc;

    *count = 0;
    if (!consumer->inner)
        return 0;
    sim_arrive();
    rc = consumer_assignment(consumer->inner, positions, max, count, err);
    sim_leave(consumer->owner->member);
    for (size_t i = 0; !rc && i < *count && i < max; i++)
        positions[i].topic = name_of(consumer, positions[i].topic);
    return rc;
}

static uint64_t sim_consumer_generation(struct consumer *base)
{
    struct sim_consumer *consumer = consumer_of(base);

    uint64_t generation = consumer->lost_generation;

    sim_arrive();
    if (consumer->inner)
        generation += consumer_generation(consumer->inner);
    sim_leave(consumer->owner->member);
    return generation;
}

const struct topics_ops sim_topics_ops = {
    .scheme = "sim",
    .open = sim_open,
    .close = sim_close,
    .create = sim_create,
    .describe = sim_describe,
    .remove = sim_remove,
    .list = sim_list,
    .partition_count = sim_partition_count,
    .submit = sim_topics_submit,
    .flush = sim_flush,
    .read = sim_read,
    .range = sim_range,
    .trim = sim_trim,
    .lag = sim_lag,
    .housekeep = sim_housekeep,
    .consumer_open = sim_consumer_open,
    .consumer_close = sim_consumer_close,
    .consumer_poll = sim_consumer_poll,
    .consumer_commit = sim_consumer_commit,
    .consumer_seek = sim_consumer_seek,
    .consumer_assignment = sim_consumer_assignment,
    .consumer_generation = sim_consumer_generation,
};
