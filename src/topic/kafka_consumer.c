/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka_consumer.c - a member of a Kafka group.
 *
 * The cooperative protocol: only partitions that move are revoked, and they are revoked inside
 * our poll, when the last batch has been processed. Nothing is committed but by consumer_commit,
 * which waits for the coordinator. A member that does not poll for its session's time leaves
 * (max.poll.interval.ms); its later commits are refused here and by the coordinator.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "topic/kafka.h"

enum {
    HEARTBEATS = 4,
    HEARTBEAT_MS_MAX = 1000,
    SESSION_MS_MIN = 1000,
    SESSION_MS_MAX = 6000, /* the least that brokers take unless they are told otherwise */
    VERSION_DESTROYS_ALL = 0x02030000, /* of librdkafka */
    DEAL_PAUSE_MS = 20,                /* between two looks at a group that is being dealt anew */
};

struct kafka_consumer {
    struct consumer base;
    const struct clock *clock; /* of its topics */
    rd_kafka_t *handle;
    char *group;
    int64_t session_us;
    int64_t polled_us;
    uint64_t generation;
    bool was_assigned;                         /* at least once, be it nothing */
    rd_kafka_topic_partition_list_t *assigned; /* owned */
    char *names[TOPIC_SUBSCRIPTION_MAX];       /* owned: what assignments point to */
    size_t name_count;
    rd_kafka_message_t **batch; /* owned, poll_count */
    struct topic_message *messages;
    size_t batch_count;
    size_t poll_count;
    struct arena *arena;
};

static struct kafka_consumer *consumer_of(struct consumer *consumer)
{
    return container_of(consumer, struct kafka_consumer, base);
}

/* Called by librdkafka inside poll and close. */
static void rebalance(rd_kafka_t *handle, rd_kafka_resp_err_t event,
                      rd_kafka_topic_partition_list_t *partitions, void *opaque)
{
    struct kafka_consumer *consumer = opaque;
    rd_kafka_error_t *error = NULL;

    if (event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        error = rd_kafka_incremental_assign(handle, partitions);
        consumer->was_assigned = true;
    } else {
        error = rd_kafka_incremental_unassign(handle, partitions);
    }
    if (error)
        rd_kafka_error_destroy(error); /* it says that the client is closing: so be it */
    rd_kafka_topic_partition_list_destroy(consumer->assigned);
    if (rd_kafka_assignment(handle, &consumer->assigned))
        consumer->assigned = rd_kafka_topic_partition_list_new(0);
    consumer->generation++;
}

static rd_kafka_conf_t *consumer_conf(struct kafka *kafka, const struct consumer_options *options,
                                      struct kafka_consumer *consumer)
{
    rd_kafka_conf_t *conf = kafka_conf(kafka);
    int poll_ms = options->session_ms > SESSION_MS_MIN ? options->session_ms : SESSION_MS_MIN;
    /* A process that is dead or stands still sends no heartbeats and is replaced soon; one that
     * works on what it polled does, and has longer. */
    int session_ms = poll_ms < SESSION_MS_MAX ? poll_ms : SESSION_MS_MAX;
    int heartbeat_ms = session_ms / HEARTBEATS; /* by which members learn of a rebalance: soon */

    kafka_set(conf, "group.id", options->group);
    kafka_set(conf, "enable.auto.commit", "false");
    kafka_set(conf, "enable.auto.offset.store", "false");
    kafka_set(conf, "auto.offset.reset",
              options->start == TOPIC_START_LATEST ? "latest" : "earliest");
    kafka_set(conf, "partition.assignment.strategy", "cooperative-sticky");
    kafka_set_number(conf, "session.timeout.ms", session_ms);
    kafka_set_number(conf, "max.poll.interval.ms", poll_ms);
    kafka_set_number(conf, "heartbeat.interval.ms",
                     heartbeat_ms < HEARTBEAT_MS_MAX ? heartbeat_ms : HEARTBEAT_MS_MAX);
    kafka_set(conf, "fetch.wait.max.ms", "100");
    kafka_set(conf, "queued.max.messages.kbytes", "16384");
    rd_kafka_conf_set_opaque(conf, consumer);
    rd_kafka_conf_set_rebalance_cb(conf, rebalance);
    return conf;
}

static void release_batch(struct kafka_consumer *consumer)
{
    size_t i;

    for (i = 0; i < consumer->batch_count; i++)
        rd_kafka_message_destroy(consumer->batch[i]);
    consumer->batch_count = 0;
    arena_reset(consumer->arena);
}

/* librdkafka before 2.3 ends the process when a member is destroyed that has joined its group and
 * was given no assignment yet (its issue 4312): such a handle is left to the end of the process. A
 * worker that is stopped while the group still waits for one that was killed is in that state. */
static void end_membership(struct kafka_consumer *consumer)
{
    bool can_destroy = consumer->was_assigned || rd_kafka_version() >= VERSION_DESTROYS_ALL;

    rd_kafka_consumer_close(consumer->handle);
    if (can_destroy)
        rd_kafka_destroy(consumer->handle);
}

void kafka_consumer_close(struct consumer *base)
{
    struct kafka_consumer *consumer = consumer_of(base);
    size_t i;

    release_batch(consumer);
    if (consumer->handle)
        end_membership(consumer);
    rd_kafka_topic_partition_list_destroy(consumer->assigned);
    for (i = 0; i < consumer->name_count; i++)
        free(consumer->names[i]);
    free(consumer->group);
    free(consumer->batch);
    free(consumer->messages);
    arena_free(consumer->arena);
    free(consumer);
}

static int subscribe(struct kafka_consumer *consumer, struct err *err)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)consumer->name_count);
    rd_kafka_resp_err_t error;
    size_t i;

    for (i = 0; i < consumer->name_count; i++)
        rd_kafka_topic_partition_list_add(list, consumer->names[i], RD_KAFKA_PARTITION_UA);
    error = rd_kafka_subscribe(consumer->handle, list);
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_fail(err, error, consumer->group) : 0;
}

int kafka_consumer_open(struct topics *topics, const struct consumer_options *options,
                        struct consumer **out, struct err *err)
{
    struct kafka_consumer *consumer = mem_zero(sizeof(*consumer));
    rd_kafka_conf_t *conf = consumer_conf(kafka_of(topics), options, consumer);
    char reason[KAFKA_ERROR_SIZE] = "";
    size_t i;
    int rc = 0;

    consumer->clock = topics->clock;
    consumer->group = mem_strdup(options->group);
    consumer->session_us = (int64_t)options->session_ms * MS_US;
    consumer->polled_us = clock_mono_us(consumer->clock);
    consumer->assigned = rd_kafka_topic_partition_list_new(0);
    for (i = 0; i < options->topic_count; i++)
        consumer->names[consumer->name_count++] = mem_strdup(options->topics[i]);
    consumer->poll_count = options->poll_count;
    consumer->batch = mem_array(options->poll_count, sizeof(*consumer->batch));
    consumer->messages = mem_array(options->poll_count, sizeof(*consumer->messages));
    consumer->arena = arena_new();
    consumer->handle = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof(reason));
    if (!consumer->handle) {
        rd_kafka_conf_destroy(conf);
        rc = err_set(err, ERR_INVALID, "group %s: Kafka client: %s", options->group, reason);
    }
    if (!rc) {
        rd_kafka_poll_set_consumer(consumer->handle);
        rc = subscribe(consumer, err);
    }
    if (rc) {
        kafka_consumer_close(&consumer->base);
        return rc;
    }
    *out = &consumer->base;
    return 0;
}

static bool owns(const struct kafka_consumer *consumer, const char *topic, uint32_t partition)
{
    return rd_kafka_topic_partition_list_find(consumer->assigned, topic, (int32_t)partition) !=
           NULL;
}

/* What a rebalance in the middle of a batch has taken away is the new owner's to read. */
static void drop_revoked(struct kafka_consumer *consumer)
{
    size_t kept = 0, i;

    for (i = 0; i < consumer->batch_count; i++) {
        rd_kafka_message_t *message = consumer->batch[i];

        if (owns(consumer, rd_kafka_topic_name(message->rkt), (uint32_t)message->partition))
            consumer->batch[kept++] = message;
        else
            rd_kafka_message_destroy(message);
    }
    consumer->batch_count = kept;
}

static int take_message(struct kafka_consumer *consumer, rd_kafka_message_t *message, size_t *size,
                        struct err *err)
{
    int rc = 0;

    if (!message->err) {
        *size += message->len;
        consumer->batch[consumer->batch_count++] = message;
        return 0;
    }
    /* silent for too long: librdkafka joins again by itself as we are polling now */
    if (message->err != RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED &&
        message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
        rc = err_set(err, kafka_code(message->err), "group %s: Kafka: %s", consumer->group,
                     rd_kafka_message_errstr(message));
    rd_kafka_message_destroy(message);
    return rc;
}

int kafka_consumer_poll(struct consumer *base, int timeout_ms,
                        const struct topic_message **messages, size_t *count, struct err *err)
{
    struct kafka_consumer *consumer = consumer_of(base);
    int64_t deadline_us = clock_mono_us(consumer->clock) + (int64_t)timeout_ms * MS_US;
    uint64_t generation = consumer->generation;
    size_t size = 0, i;
    int rc = 0;

    release_batch(consumer);
    while (!rc && consumer->batch_count < consumer->poll_count && size < TOPIC_POLL_SIZE) {
        int64_t left_us = deadline_us - clock_mono_us(consumer->clock);
        int wait_ms = consumer->batch_count || left_us < 0 ? 0 : (int)(left_us / MS_US);
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer->handle, wait_ms);

        if (!message)
            break;
        rc = take_message(consumer, message, &size, err);
    }
    if (consumer->generation != generation)
        drop_revoked(consumer);
    for (i = 0; i < consumer->batch_count; i++)
        consumer->messages[i] = kafka_message(consumer->batch[i], consumer->arena);
    consumer->polled_us = clock_mono_us(consumer->clock);
    *messages = consumer->messages;
    *count = consumer->batch_count;
    return *count ? 0 : rc;
}

static int refuse_stale(struct kafka_consumer *consumer, const char *topic, uint32_t partition,
                        struct err *err)
{
    return err_set(err, ERR_STALE,
                   "topic %s partition %u is not this consumer's any more in group %s: poll "
                   "to see what is",
                   topic, partition, consumer->group);
}

static bool was_silent(const struct kafka_consumer *consumer)
{
    return rd_kafka_assignment_lost(consumer->handle) ||
           clock_mono_us(consumer->clock) - consumer->polled_us > consumer->session_us;
}

static rd_kafka_resp_err_t commit_list(struct kafka_consumer *consumer,
                                       rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_resp_err_t error = rd_kafka_commit(consumer->handle, list, 0);
    int i;

    for (i = 0; i < list->cnt && !error; i++)
        error = list->elems[i].err;
    return error;
}

/* While partitions are dealt anew the coordinator takes no commit, of those either that stay where
 * they are: such a member owns them, and what it has processed is not another's to read again. The
 * dealing goes on in the client's own thread, mostly for milliseconds. */
static rd_kafka_resp_err_t commit_when_dealt(struct kafka_consumer *consumer,
                                             rd_kafka_topic_partition_list_t *list)
{
    int64_t until_us = clock_after_us(consumer->clock, (int64_t)KAFKA_CALL_MS * MS_US);
    rd_kafka_resp_err_t error = commit_list(consumer, list);

    while (error == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS && !was_silent(consumer) &&
           clock_mono_us(consumer->clock) < until_us) {
        clock_sleep(consumer->clock, (int64_t)DEAL_PAUSE_MS * MS_US);
        error = commit_list(consumer, list);
    }
    return error;
}

int kafka_consumer_commit(struct consumer *base, const struct topic_position *positions,
                          size_t count, struct err *err)
{
    struct kafka_consumer *consumer = consumer_of(base);
    rd_kafka_topic_partition_list_t *list;
    rd_kafka_resp_err_t error;
    size_t i;
    int rc = 0;

    for (i = 0; i < count; i++)
        if (was_silent(consumer) || !owns(consumer, positions[i].topic, positions[i].partition))
            return refuse_stale(consumer, positions[i].topic, positions[i].partition, err);
    list = rd_kafka_topic_partition_list_new((int)count);
    for (i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, positions[i].topic, (int32_t)positions[i].partition)
            ->offset = (int64_t)positions[i].offset;
    error = commit_when_dealt(consumer, list);
    if (kafka_code(error) == ERR_STALE)
        rc = refuse_stale(consumer, positions[0].topic, positions[0].partition, err);
    else if (error)
        rc = kafka_fail(err, error, "commit");
    rd_kafka_topic_partition_list_destroy(list);
    return rc;
}

int kafka_consumer_seek(struct consumer *base, const char *topic, uint32_t partition,
                        uint64_t offset, struct err *err)
{
    struct kafka_consumer *consumer = consumer_of(base);
    rd_kafka_topic_partition_list_t *list;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_error_t *error;
    int rc = 0;

    if (was_silent(consumer) || !owns(consumer, topic, partition))
        return refuse_stale(consumer, topic, partition, err);
    list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, (int32_t)partition)->offset = (int64_t)offset;
    error = rd_kafka_seek_partitions(consumer->handle, list, KAFKA_CALL_MS);
    if (error) {
        code = rd_kafka_error_code(error);
        rd_kafka_error_destroy(error);
    } else {
        code = list->elems[0].err;
    }
    if (code)
        rc = kafka_fail(err, code, "seek");
    rd_kafka_topic_partition_list_destroy(list);
    return rc;
}

int kafka_consumer_assignment(struct consumer *base, struct topic_position *positions, size_t max,
                              size_t *count, struct err *err)
{
    struct kafka_consumer *consumer = consumer_of(base);
    size_t i, k;

    (void)err;
    *count = (size_t)consumer->assigned->cnt;
    for (i = 0; i < *count && i < max; i++) {
        const rd_kafka_topic_partition_t *from = &consumer->assigned->elems[i];

        for (k = 0; k < consumer->name_count; k++)
            if (strcmp(consumer->names[k], from->topic) == 0)
                positions[i] =
                    (struct topic_position){consumer->names[k], (uint32_t)from->partition, 0};
    }
    return 0;
}

uint64_t kafka_consumer_generation(struct consumer *base)
{
    return consumer_of(base)->generation;
}
