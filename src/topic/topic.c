/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic.c - see topic.h. Checks every argument against bounds.h once for all backends, picks
 * the partition of each record, and dispatches. A synchronous produce is a submit that waits.
 */
#include "topic/topic.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "topic/bounds.h"
#include "topic/topic_ops.h"

static const struct topics_ops *const backends[] = {
    &topics_file_ops,
    &topics_memory_ops,
    &topics_kafka_ops,
    &topics_fault_ops,
};

static const struct topics_ops *added;

void topics_add_backend(const struct topics_ops *ops)
{
    added = ops;
}

/* Names become directories, and Kafka's: letters, digits, '.', '_', '-', no leading '.'. */
static int check_name(const char *kind, const char *name, struct err *err)
{
    size_t size = name ? strlen(name) : 0;
    size_t i;

    if (size == 0 || size > TOPIC_NAME_SIZE_MAX)
        return err_set(err, ERR_INVALID, "%s name of %zu bytes: 1 to %d are allowed", kind, size,
                       TOPIC_NAME_SIZE_MAX);
    for (i = 0; i < size; i++) {
        unsigned char c = (unsigned char)name[i];

        if (!(isascii(c) && isalnum(c)) && c != '_' && c != '-' && (c != '.' || i == 0))
            return err_set(err, ERR_INVALID,
                           "%s name \"%s\": only letters, digits, '_', '-' and inner '.'", kind,
                           name);
    }
    return 0;
}

static int check_prefix(const char *prefix, struct err *err)
{
    if (strlen(prefix) > TOPIC_PREFIX_SIZE_MAX)
        return err_set(err, ERR_INVALID, "prefix of topics: %zu bytes; at most %d are allowed",
                       strlen(prefix), TOPIC_PREFIX_SIZE_MAX);
    return check_name("prefix", prefix, err);
}

static int open_backend(const struct topics_ops *ops, const char *place,
                        const struct topics_options *options, struct topics **topics,
                        struct err *err)
{
    int rc = ops->open(place, options, topics, err);

    if (rc)
        return rc;
    assert(*topics);
    object_begin(*topics, TOPICS_MAGIC);
    (*topics)->ops = ops;
    (*topics)->clock = options->clock;
    return 0;
}

int topics_open(const char *url, const struct topics_options *options, struct topics **topics,
                struct err *err)
{
    struct topics_options chosen = options ? *options : (struct topics_options){0};
    const char *prefix = chosen.prefix && *chosen.prefix ? chosen.prefix : NULL;
    const char *colon = strchr(url, ':');
    size_t scheme = colon ? (size_t)(colon - url) : 0;
    size_t i;

    *topics = NULL;
    if (prefix && check_prefix(prefix, err))
        return ERR_INVALID;
    for (i = 0; colon && i < ARRAY_COUNT(backends) + (added != NULL); i++) {
        const struct topics_ops *ops = i < ARRAY_COUNT(backends) ? backends[i] : added;

        if (strlen(ops->scheme) != scheme || memcmp(ops->scheme, url, scheme) != 0)
            continue;
        chosen.clock = clock_or_system(chosen.clock);
        int rc = open_backend(ops, colon + 1, &chosen, topics, err);

        if (!rc && prefix && ops != &topics_fault_ops) /* which has passed it on */
            *topics = topics_with_prefix(*topics, prefix);
        return rc;
    }
    return err_set(err, ERR_INVALID,
                   "topic URL \"%.200s\" is not file:DIR, memory: or kafka://HOST:PORT", url);
}

void topics_close(struct topics *topics)
{
    if (!topics)
        return;
    object_end(topics, TOPICS_MAGIC);
    topics->ops->close(topics);
}

static int check_partition(struct topics *topics, const char *name, uint32_t partition,
                           struct err *err)
{
    uint32_t count;
    int rc = check_name("topic", name, err);

    object_check(topics, TOPICS_MAGIC);
    if (!rc)
        rc = topics->ops->partition_count(topics, name, &count, err);
    if (!rc && partition >= count)
        rc = err_set(err, ERR_INVALID, "topic %s has %u partitions: there is no number %u", name,
                     count, partition);
    return rc;
}

static int clamp_wait(int timeout_ms)
{
    if (timeout_ms < 0)
        return 0;
    return timeout_ms < TOPIC_WAIT_MS_MAX ? timeout_ms : TOPIC_WAIT_MS_MAX;
}

static int wait_for_records(struct topics *topics, int timeout_ms)
{
    int wait_ms = clamp_wait(timeout_ms);

    return atomic_load(&topics->is_leaving) && wait_ms > TOPIC_LEAVING_WAIT_MS
               ? TOPIC_LEAVING_WAIT_MS
               : wait_ms;
}

void topics_leave(struct topics *topics)
{
    object_check(topics, TOPICS_MAGIC);
    atomic_store(&topics->is_leaving, true);
}

int topic_create(struct topics *topics, const char *name, const struct topic_config *config,
                 struct err *err)
{
    int rc = check_name("topic", name, err);

    if (rc)
        return rc;
    if (config->partition_count < 1 || config->partition_count > TOPIC_PARTITION_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "topic %s of %u partitions: 1 to %d are allowed", name,
                       config->partition_count, TOPIC_PARTITION_COUNT_MAX);
    if (config->retention_ms < 0 || config->retention_size < 0)
        return err_set(err, ERR_INVALID, "topic %s: a retention is below 0; 0 keeps all", name);
    return topics->ops->create(topics, name, config, err);
}

int topic_describe(struct topics *topics, const char *name, struct topic_config *config,
                   struct err *err)
{
    int rc = check_name("topic", name, err);

    return rc ? rc : topics->ops->describe(topics, name, config, err);
}

int topic_ensure(struct topics *topics, const char *name, const struct topic_config *config,
                 struct err *err)
{
    struct topic_config there;
    int rc = topic_describe(topics, name, &there, err);

    if (rc == ERR_NOT_FOUND)
        rc = topic_create(topics, name, config, err);
    if (rc == ERR_PRECONDITION) /* made since, with other partitions */
        rc = topic_describe(topics, name, &there, err);
    return rc;
}

int topic_remove(struct topics *topics, const char *name, struct err *err)
{
    int rc = check_name("topic", name, err);

    return rc ? rc : topics->ops->remove(topics, name, err);
}

int topic_list(struct topics *topics, struct arena *arena, const char ***names, size_t *count,
               struct err *err)
{
    return topics->ops->list(topics, arena, names, count, err);
}

uint32_t topic_partition(struct bytes key, uint32_t partition_count)
{
    assert(partition_count);
    return (uint32_t)(hash64(key) % partition_count);
}

/* Sets *size to the record's bytes. */
static int check_record(const char *name, const struct topic_record *record, size_t *size,
                        struct err *err)
{
    size_t headers = 0;
    size_t i;

    if (record->key.size > TOPIC_KEY_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "topic %s: a key of %zu bytes, TOPIC_KEY_SIZE_MAX is %d",
                       name, record->key.size, TOPIC_KEY_SIZE_MAX);
    if (record->value.size > TOPIC_VALUE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "topic %s: a value of %zu bytes, TOPIC_VALUE_SIZE_MAX is %d",
                       name, record->value.size, TOPIC_VALUE_SIZE_MAX);
    if (record->header_count > TOPIC_HEADER_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "topic %s: %zu headers, TOPIC_HEADER_COUNT_MAX is %d", name,
                       record->header_count, TOPIC_HEADER_COUNT_MAX);
    for (i = 0; i < record->header_count; i++) {
        const struct topic_header *header = &record->headers[i];

        if (header->name.size > TOPIC_HEADERS_SIZE_MAX ||
            header->value.size > TOPIC_HEADERS_SIZE_MAX)
            headers = (size_t)TOPIC_HEADERS_SIZE_MAX + 1;
        else
            headers += header->name.size + header->value.size;
        if (headers > TOPIC_HEADERS_SIZE_MAX)
            return err_set(err, ERR_LIMIT,
                           "topic %s: headers of more than TOPIC_HEADERS_SIZE_MAX, %d bytes", name,
                           TOPIC_HEADERS_SIZE_MAX);
        if (header->name.size == 0 || memchr(header->name.data, 0, header->name.size))
            return err_set(err, ERR_INVALID, "topic %s: a header name is empty or has a zero byte",
                           name);
    }
    *size = record->key.size + record->value.size + headers;
    return 0;
}

static int check_records(const char *name, const struct topic_record *records, size_t count,
                         struct err *err)
{
    size_t total = 0;
    size_t size = 0;
    size_t i;
    int rc = check_name("topic", name, err);

    if (!rc && count > TOPIC_BATCH_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT, "topic %s: %zu records at once, TOPIC_BATCH_COUNT_MAX is %d",
                     name, count, TOPIC_BATCH_COUNT_MAX);
    for (i = 0; !rc && i < count; i++) {
        rc = check_record(name, &records[i], &size, err);
        if (rc)
            break;
        total += size;
        if (total > TOPIC_BATCH_SIZE_MAX)
            rc = err_set(err, ERR_LIMIT, "topic %s: a batch of more than TOPIC_BATCH_SIZE_MAX, %d",
                         name, TOPIC_BATCH_SIZE_MAX);
    }
    return rc;
}

static int choose_partition(struct topics *topics, const char *name,
                            const struct topic_record *record, uint32_t count, uint32_t *partition,
                            struct err *err)
{
    if (record->has_partition && record->partition >= count)
        return err_set(err, ERR_INVALID, "topic %s has %u partitions: there is no number %u", name,
                       count, record->partition);
    if (record->has_partition)
        *partition = record->partition;
    else if (record->key.size)
        *partition = topic_partition(record->key, count);
    else
        *partition = atomic_fetch_add_explicit(&topics->spread, 1, memory_order_relaxed) % count;
    return 0;
}

static int submit_and_wait(struct topics *topics, struct submit *submit, struct err *err)
{
    struct submit_wait wait;
    int rc;

    submit_wait_init(&wait, topics->clock);
    submit->done = submit_wait_done;
    submit->arg = &wait;
    rc = topics->ops->submit(topics, submit, err);
    if (!rc)
        rc = submit_wait(&wait, err);
    submit_wait_release(&wait);
    return rc;
}

int topic_produce(struct topics *topics, const char *name, const struct topic_record *records,
                  size_t count, uint64_t *offsets, struct err *err)
{
    struct submit submit = {.name = name, .count = count, .offsets = offsets};
    struct topic_record *timed = NULL;
    uint64_t *own_offsets = NULL;
    uint32_t *partitions = NULL;
    uint32_t partition_count;
    int64_t now_us = clock_wall_us(topics->clock);
    size_t i;
    int rc = check_records(name, records, count, err);

    object_check(topics, TOPICS_MAGIC);
    if (!rc)
        rc = topics->ops->partition_count(topics, name, &partition_count, err);
    if (rc || count == 0)
        return rc;
    partitions = mem_array(count, sizeof(*partitions));
    timed = mem_array(count, sizeof(*timed));
    if (!offsets)
        submit.offsets = own_offsets = mem_array(count, sizeof(*own_offsets));
    for (i = 0; i < count && !rc; i++) {
        timed[i] = records[i];
        if (timed[i].timestamp_us == 0)
            timed[i].timestamp_us = now_us;
        rc = choose_partition(topics, name, &records[i], partition_count, &partitions[i], err);
    }
    submit.records = timed;
    submit.partitions = partitions;
    if (!rc)
        rc = submit_and_wait(topics, &submit, err);
    free(own_offsets);
    free(timed);
    free(partitions);
    return rc;
}

enum { ASYNC_MAGIC = OBJECT_MAGIC('a', 's', 'y', 'n') };

struct async {
    uint32_t magic;
    topic_done_fn done;
    void *arg;
    uint32_t partition;
    uint64_t offset;
};

static void finish_async(void *arg, int rc, const struct err *err)
{
    struct async *async = arg;

    object_check(async, ASYNC_MAGIC);
    async->done(async->arg, rc, async->partition, async->offset, rc ? err : NULL);
    object_end(async, ASYNC_MAGIC);
    free(async);
}

int topic_produce_async(struct topics *topics, const char *name, const struct topic_record *record,
                        topic_done_fn done, void *arg, struct err *err)
{
    struct topic_record timed = *record;
    struct submit submit = {.name = name, .records = &timed, .count = 1, .copy = true};
    struct async *async;
    uint32_t partition_count;
    uint32_t partition = 0;
    int rc = check_records(name, record, 1, err);

    object_check(topics, TOPICS_MAGIC);
    assert(done);
    if (!rc)
        rc = topics->ops->partition_count(topics, name, &partition_count, err);
    if (!rc)
        rc = choose_partition(topics, name, record, partition_count, &partition, err);
    if (rc)
        return rc;
    if (timed.timestamp_us == 0)
        timed.timestamp_us = clock_wall_us(topics->clock);
    async = mem_zero(sizeof(*async));
    object_begin(async, ASYNC_MAGIC);
    async->done = done;
    async->arg = arg;
    async->partition = partition;
    submit.partitions = &async->partition;
    submit.offsets = &async->offset;
    submit.done = finish_async;
    submit.arg = async;
    rc = topics->ops->submit(topics, &submit, err);
    if (rc) {
        object_end(async, ASYNC_MAGIC);
        free(async);
    }
    return rc;
}

int topics_flush(struct topics *topics, int timeout_ms, struct err *err)
{
    object_check(topics, TOPICS_MAGIC);
    return topics->ops->flush(topics, clamp_wait(timeout_ms), err);
}

int topic_read(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
               size_t max_count, int timeout_ms, struct arena *arena,
               const struct topic_message **messages, size_t *count, struct err *err)
{
    int rc = check_partition(topics, name, partition, err);

    *count = 0;
    *messages = NULL;
    if (rc)
        return rc;
    if (max_count == 0 || max_count > TOPIC_POLL_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "topic %s: %zu records of one read, 1 to %d are allowed",
                       name, max_count, TOPIC_POLL_COUNT_MAX);
    return topics->ops->read(topics, name, partition, offset, max_count,
                             wait_for_records(topics, timeout_ms), arena, messages, count, err);
}

int topic_range(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                uint64_t *end, struct err *err)
{
    int rc = check_partition(topics, name, partition, err);

    if (!rc)
        rc = topics->ops->range(topics, name, partition, first, end, err);
    assert(rc || *first <= *end);
    return rc;
}

int topic_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
               struct err *err)
{
    uint64_t first, end;
    int rc = topic_range(topics, name, partition, &first, &end, err);

    if (rc || before <= first)
        return rc;
    if (before > end)
        return err_set(err, ERR_RANGE,
                       "topic %s, partition %" PRIu32 ": cannot be trimmed to %" PRIu64
                       ", it ends at %" PRIu64,
                       name, partition, before, end);
    return topics->ops->trim(topics, name, partition, before, err);
}

int topic_lag(struct topics *topics, const char *group, const char *name, uint32_t partition,
              struct topic_lag *lag, struct err *err)
{
    int rc = check_name("group", group, err);

    if (!rc)
        rc = check_partition(topics, name, partition, err);
    return rc ? rc : topics->ops->lag(topics, group, name, partition, lag, err);
}

int topics_housekeep(struct topics *topics, struct err *err)
{
    object_check(topics, TOPICS_MAGIC);
    return topics->ops->housekeep(topics, err);
}

/* --- consumers --- */

static int check_consumer(struct topics *topics, const struct consumer_options *options,
                          struct err *err)
{
    uint32_t count;
    size_t i, k;
    int rc = check_name("group", options->group, err);

    object_check(topics, TOPICS_MAGIC);
    if (rc)
        return rc;
    if (options->topic_count < 1 || options->topic_count > TOPIC_SUBSCRIPTION_MAX)
        return err_set(err, ERR_LIMIT, "group %s: %zu topics, 1 to %d are allowed", options->group,
                       options->topic_count, TOPIC_SUBSCRIPTION_MAX);
    if (options->poll_count > TOPIC_POLL_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "group %s: poll_count %zu, TOPIC_POLL_COUNT_MAX is %d",
                       options->group, options->poll_count, TOPIC_POLL_COUNT_MAX);
    if (options->session_ms < 0)
        return err_set(err, ERR_INVALID, "group %s: session_ms is below 0", options->group);
    for (i = 0; i < options->topic_count; i++) {
        rc = check_name("topic", options->topics[i], err);
        if (!rc)
            rc = topics->ops->partition_count(topics, options->topics[i], &count, err);
        if (rc)
            return rc;
        for (k = 0; k < i; k++)
            if (strcmp(options->topics[i], options->topics[k]) == 0)
                return err_set(err, ERR_INVALID, "group %s: topic %s is named twice",
                               options->group, options->topics[i]);
    }
    return 0;
}

int consumer_open(struct topics *topics, const struct consumer_options *options,
                  struct consumer **consumer, struct err *err)
{
    struct consumer_options checked = *options;
    int rc = check_consumer(topics, options, err);

    *consumer = NULL;
    if (rc)
        return rc;
    if (!checked.session_ms)
        checked.session_ms = TOPIC_SESSION_MS;
    if (!checked.poll_count)
        checked.poll_count = TOPIC_POLL_COUNT;
    rc = topics->ops->consumer_open(topics, &checked, consumer, err);
    assert(rc <= 0 && !rc == !!*consumer);
    if (!rc) {
        object_begin(*consumer, CONSUMER_MAGIC);
        (*consumer)->topics = topics;
    }
    return rc;
}

void consumer_close(struct consumer *consumer)
{
    if (!consumer)
        return;
    object_check(consumer->topics, TOPICS_MAGIC); /* consumers are closed before */
    object_end(consumer, CONSUMER_MAGIC);
    free(consumer->polled);
    consumer->topics->ops->consumer_close(consumer);
}

/* Keeps the end of the batch per partition: the newest entry of the same partition grows, as
 * a backend gives runs of one partition. */
static void remember_polled(struct consumer *consumer, const struct topic_message *messages,
                            size_t count)
{
    size_t i, k;

    consumer->polled_count = 0;
    for (i = 0; i < count; i++) {
        const struct topic_message *message = &messages[i];
        struct topic_position *found = NULL;

        if (i && messages[i - 1].partition == message->partition &&
            messages[i - 1].topic == message->topic) {
            assert(message->offset > messages[i - 1].offset);
            consumer->polled[consumer->polled_count - 1].offset = message->offset + 1;
            continue;
        }
        for (k = 0; k < consumer->polled_count && !found; k++)
            if (consumer->polled[k].partition == message->partition &&
                strcmp(consumer->polled[k].topic, message->topic) == 0)
                found = &consumer->polled[k];
        if (found) { /* moved to the end, where its run goes on */
            *found = consumer->polled[--consumer->polled_count];
        } else if (consumer->polled_count == consumer->polled_capacity) {
            consumer->polled_capacity = consumer->polled_capacity * 2 + 16;
            consumer->polled =
                mem_resize(consumer->polled, consumer->polled_capacity * sizeof(*consumer->polled));
        }
        consumer->polled[consumer->polled_count++] =
            (struct topic_position){message->topic, message->partition, message->offset + 1};
        assert(consumer->polled_count <= consumer->polled_capacity);
    }
}

int consumer_poll(struct consumer *consumer, int timeout_ms, const struct topic_message **messages,
                  size_t *count, struct err *err)
{
    int rc;

    object_check(consumer, CONSUMER_MAGIC);
    *messages = NULL;
    *count = 0;
    consumer->polled_count = 0;
    rc = consumer->topics->ops->consumer_poll(
        consumer, wait_for_records(consumer->topics, timeout_ms), messages, count, err);
    assert(rc <= 0 && *count <= TOPIC_POLL_COUNT_MAX && (*messages || !*count));
    if (!rc)
        remember_polled(consumer, *messages, *count);
    return rc;
}

int consumer_commit(struct consumer *consumer, const struct topic_position *positions, size_t count,
                    struct err *err)
{
    object_check(consumer, CONSUMER_MAGIC);
    if (count == 0)
        return 0;
    if (count > (size_t)TOPIC_SUBSCRIPTION_MAX * TOPIC_PARTITION_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%zu positions committed at once", count);
    return consumer->topics->ops->consumer_commit(consumer, positions, count, err);
}

int consumer_commit_polled(struct consumer *consumer, struct err *err)
{
    object_check(consumer, CONSUMER_MAGIC);
    return consumer_commit(consumer, consumer->polled, consumer->polled_count, err);
}

int consumer_seek(struct consumer *consumer, const char *topic, uint32_t partition, uint64_t offset,
                  struct err *err)
{
    int rc = check_partition(consumer->topics, topic, partition, err);

    object_check(consumer, CONSUMER_MAGIC);
    return rc ? rc : consumer->topics->ops->consumer_seek(consumer, topic, partition, offset, err);
}

int consumer_assignment(struct consumer *consumer, struct topic_position *positions, size_t max,
                        size_t *count, struct err *err)
{
    object_check(consumer, CONSUMER_MAGIC);
    return consumer->topics->ops->consumer_assignment(consumer, positions, max, count, err);
}

uint64_t consumer_generation(struct consumer *consumer)
{
    object_check(consumer, CONSUMER_MAGIC);
    return consumer->topics->ops->consumer_generation(consumer);
}
