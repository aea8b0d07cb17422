/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka_admin.c - what Kafka's brokers are asked about topics: creation, removal, settings, ends,
 * lag.
 *
 * Each call is one request on the asker's handle and waits for its one event. It is a consumer's,
 * not the producer, because a consumer's question never creates a topic; and not the reader, on
 * whose connection it would wait behind a fetch that waits for records.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "topic/kafka.h"

enum { RETRY_MS = 50 };

struct call {
    rd_kafka_queue_t *queue;
    rd_kafka_AdminOptions_t *options;
    rd_kafka_event_t *event;
};

static void call_init(struct call *call, struct kafka *kafka)
{
    char reason[KAFKA_ERROR_SIZE];

    call->queue = rd_kafka_queue_new(kafka->asker);
    call->options = rd_kafka_AdminOptions_new(kafka->asker, RD_KAFKA_ADMIN_OP_ANY);
    call->event = NULL;
    rd_kafka_AdminOptions_set_request_timeout(call->options, KAFKA_CALL_MS, reason, sizeof(reason));
}

/* Waits for the answer; its own error, if it has one. */
static int call_wait(struct call *call, const char *what, struct err *err)
{
    rd_kafka_resp_err_t error;

    call->event = rd_kafka_queue_poll(call->queue, 2 * KAFKA_CALL_MS);
    if (!call->event)
        return err_set(err, ERR_TIMEOUT, "%s: Kafka does not answer", what);
    error = rd_kafka_event_error(call->event);
    return error ? kafka_fail(err, error, what) : 0;
}

static void call_release(struct call *call)
{
    if (call->event)
        rd_kafka_event_destroy(call->event);
    rd_kafka_AdminOptions_destroy(call->options);
    rd_kafka_queue_destroy(call->queue);
}

/* --- partition counts --- */

static struct kafka_known_topic *find_known(struct kafka *kafka, const char *name)
{
    size_t i;

    for (i = 0; i < kafka->known_count; i++)
        if (strcmp(kafka->known[i].name, name) == 0)
            return &kafka->known[i];
    return NULL;
}

static void remember(struct kafka *kafka, const char *name, uint32_t count)
{
    pthread_mutex_lock(&kafka->lock);
    if (!kafka->known)
        kafka->known = mem_array(TOPIC_COUNT_MAX, sizeof(*kafka->known));
    if (!find_known(kafka, name) && kafka->known_count < TOPIC_COUNT_MAX) {
        struct kafka_known_topic *known = &kafka->known[kafka->known_count++];

        snprintf(known->name, sizeof(known->name), "%s", name);
        known->partition_count = count;
    }
    pthread_mutex_unlock(&kafka->lock);
}

void kafka_forget(struct kafka *kafka, const char *name)
{
    struct kafka_known_topic *known;

    pthread_mutex_lock(&kafka->lock);
    known = find_known(kafka, name);
    if (known)
        *known = kafka->known[--kafka->known_count];
    pthread_mutex_unlock(&kafka->lock);
}

/* Asks the brokers; ERR_UNAVAILABLE while a partition has no leader yet. */
static int ask_partition_count(struct kafka *kafka, const char *name, uint32_t *count,
                               struct err *err)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(kafka->asker, name, NULL);
    rd_kafka_resp_err_t error;
    int rc = 0;
    int i;

    if (!topic)
        return kafka_fail(err, rd_kafka_last_error(), name);
    error = rd_kafka_metadata(kafka->asker, 0, topic, &metadata, KAFKA_CALL_MS);
    if (!error && metadata->topic_cnt == 1)
        error = metadata->topics[0].err;
    if (error || metadata->topic_cnt != 1) {
        rc = kafka_code(error) == ERR_NOT_FOUND || !error
                 ? err_set(err, ERR_NOT_FOUND, "there is no topic %s: create it first", name)
                 : kafka_fail(err, error, name);
    } else {
        *count = (uint32_t)metadata->topics[0].partition_cnt;
        for (i = 0; i < metadata->topics[0].partition_cnt && !rc; i++)
            if (metadata->topics[0].partitions[i].leader < 0)
                rc = err_set(err, ERR_UNAVAILABLE, "topic %s: partition %d has no leader", name, i);
    }
    if (metadata)
        rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return rc;
}

int kafka_partition_count(struct topics *topics, const char *name, uint32_t *count, struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    struct kafka_known_topic *known;
    int rc;

    pthread_mutex_lock(&kafka->lock);
    known = find_known(kafka, name);
    if (known)
        *count = known->partition_count;
    pthread_mutex_unlock(&kafka->lock);
    if (known)
        return 0;
    rc = ask_partition_count(kafka, name, count, err);
    if (!rc)
        remember(kafka, name, *count);
    return rc;
}

/* --- settings --- */

static void put_retention(char text[24], int64_t value)
{
    snprintf(text, 24, "%" PRId64, value ? value : -1); /* Kafka's -1 is our 0: no bound */
}

static int64_t get_retention(const char *text)
{
    int64_t value;

    return text && text_to_i64(bytes_of(text), &value) && value > 0 ? value : 0;
}

/* The topic's settings as the brokers have them; the event of call owns them. */
static int ask_settings(struct kafka *kafka, struct call *call, const char *name,
                        const rd_kafka_ConfigEntry_t ***entries, size_t *count, struct err *err)
{
    rd_kafka_ConfigResource_t *asked = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
    const rd_kafka_ConfigResource_t **resources;
    rd_kafka_resp_err_t error;
    size_t resource_count;
    int rc;

    rd_kafka_DescribeConfigs(kafka->asker, &asked, 1, call->options, call->queue);
    rc = call_wait(call, name, err);
    rd_kafka_ConfigResource_destroy(asked);
    if (rc)
        return rc;
    resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(call->event), &resource_count);
    if (resource_count != 1)
        return err_set(err, ERR_UNAVAILABLE, "topic %s: Kafka did not describe it", name);
    error = rd_kafka_ConfigResource_error(resources[0]);
    if (error)
        return kafka_fail(err, error, name);
    *entries = rd_kafka_ConfigResource_configs(resources[0], count);
    return 0;
}

int kafka_describe(struct topics *topics, const char *name, struct topic_config *config,
                   struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    const rd_kafka_ConfigEntry_t **entries;
    struct call call;
    size_t count, i;
    int rc = ask_partition_count(kafka, name, &config->partition_count, err);

    if (rc)
        return rc;
    call_init(&call, kafka);
    rc = ask_settings(kafka, &call, name, &entries, &count, err);
    for (i = 0; !rc && i < count; i++) {
        const char *key = rd_kafka_ConfigEntry_name(entries[i]);

        if (strcmp(key, "retention.ms") == 0)
            config->retention_ms = get_retention(rd_kafka_ConfigEntry_value(entries[i]));
        else if (strcmp(key, "retention.bytes") == 0)
            config->retention_size = get_retention(rd_kafka_ConfigEntry_value(entries[i]));
    }
    call_release(&call);
    return rc;
}

/* AlterConfigs replaces all of a topic's own settings, so those that are not ours are repeated. */
static int change_retention(struct kafka *kafka, const char *name,
                            const struct topic_config *config, struct err *err)
{
    rd_kafka_ConfigResource_t *wanted = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
    const rd_kafka_ConfigResource_t **resources;
    const rd_kafka_ConfigEntry_t **entries;
    struct call ask, change;
    size_t count, i;
    char text[24];
    int rc;

    call_init(&ask, kafka);
    call_init(&change, kafka);
    rc = ask_settings(kafka, &ask, name, &entries, &count, err);
    for (i = 0; !rc && i < count; i++) {
        const char *key = rd_kafka_ConfigEntry_name(entries[i]);

        if (rd_kafka_ConfigEntry_source(entries[i]) ==
                RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG &&
            strcmp(key, "retention.ms") != 0 && strcmp(key, "retention.bytes") != 0)
            rd_kafka_ConfigResource_set_config(wanted, key, rd_kafka_ConfigEntry_value(entries[i]));
    }
    if (!rc) {
        put_retention(text, config->retention_ms);
        rd_kafka_ConfigResource_set_config(wanted, "retention.ms", text);
        put_retention(text, config->retention_size);
        rd_kafka_ConfigResource_set_config(wanted, "retention.bytes", text);
        rd_kafka_AlterConfigs(kafka->asker, &wanted, 1, change.options, change.queue);
        rc = call_wait(&change, name, err);
    }
    if (!rc) {
        resources = rd_kafka_AlterConfigs_result_resources(
            rd_kafka_event_AlterConfigs_result(change.event), &count);
        if (count == 1 && rd_kafka_ConfigResource_error(resources[0]))
            rc = kafka_fail(err, rd_kafka_ConfigResource_error(resources[0]), name);
    }
    call_release(&change);
    call_release(&ask);
    rd_kafka_ConfigResource_destroy(wanted);
    return rc;
}

/* --- creation --- */

static int ask_creation(struct kafka *kafka, const char *name, const struct topic_config *config,
                        struct err *err)
{
    char reason[KAFKA_ERROR_SIZE] = "";
    /* -1: as many replicas as the brokers are told to make by default */
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(name, (int)config->partition_count, -1, reason, sizeof(reason));
    const rd_kafka_topic_result_t **results;
    struct call call;
    size_t count;
    char text[24];
    int rc;

    if (!topic)
        return err_set(err, ERR_INVALID, "topic %s: %s", name, reason);
    call_init(&call, kafka);
    put_retention(text, config->retention_ms);
    rd_kafka_NewTopic_set_config(topic, "retention.ms", text);
    put_retention(text, config->retention_size);
    rd_kafka_NewTopic_set_config(topic, "retention.bytes", text);
    rd_kafka_CreateTopics(kafka->asker, &topic, 1, call.options, call.queue);
    rc = call_wait(&call, name, err);
    if (!rc) {
        results = rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(call.event), &count);
        if (count == 1 && rd_kafka_topic_result_error(results[0]))
            rc = kafka_fail(err, rd_kafka_topic_result_error(results[0]), name);
    }
    call_release(&call);
    rd_kafka_NewTopic_destroy(topic);
    return rc;
}

/* A new topic is answered for before every broker knows it, and known before its settings are; so
 * are changed settings. */
static int wait_settled(struct topics *topics, const char *name, const struct topic_config *config,
                        struct err *err)
{
    struct topic_config there = {0};
    int tries, rc = 0;

    for (tries = 0; tries < KAFKA_CALL_MS / RETRY_MS; tries++) {
        rc = kafka_describe(topics, name, &there, err);
        if (rc && rc != ERR_NOT_FOUND && rc != ERR_UNAVAILABLE)
            break;
        if (!rc && there.retention_ms == config->retention_ms &&
            there.retention_size == config->retention_size) {
            remember(kafka_of(topics), name, there.partition_count);
            return 0;
        }
        clock_sleep(topics->clock, RETRY_MS * MS_US);
    }
    return rc ? rc
              : err_set(err, ERR_TIMEOUT,
                        "topic %s: its retention is not what it was set to, "
                        "after %d ms",
                        name, KAFKA_CALL_MS);
}

int kafka_create(struct topics *topics, const char *name, const struct topic_config *config,
                 struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    struct topic_config there = {0};
    int rc = ask_creation(kafka, name, config, err);

    if (!rc)
        return wait_settled(topics, name, config, err);
    if (rc != ERR_EXISTS)
        return rc;
    rc = kafka_describe(topics, name, &there, err);
    if (rc)
        return rc;
    if (there.partition_count != config->partition_count)
        return err_set(err, ERR_PRECONDITION, "topic %s has %u partitions, not %u: it stays so",
                       name, there.partition_count, config->partition_count);
    if (there.retention_ms != config->retention_ms ||
        there.retention_size != config->retention_size)
        rc = change_retention(kafka, name, config, err);
    return rc ? rc : wait_settled(topics, name, config, err);
}

/* --- removal --- */

static int ask_removal(struct kafka *kafka, const char *name, struct err *err)
{
    rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(name);
    const rd_kafka_topic_result_t **results;
    struct call call;
    size_t count;
    int rc;

    call_init(&call, kafka);
    rd_kafka_DeleteTopics(kafka->asker, &topic, 1, call.options, call.queue);
    rc = call_wait(&call, name, err);
    if (!rc) {
        results = rd_kafka_DeleteTopics_result_topics(
            rd_kafka_event_DeleteTopics_result(call.event), &count);
        if (count == 1 && rd_kafka_topic_result_error(results[0]))
            rc = kafka_fail(err, rd_kafka_topic_result_error(results[0]), name);
    }
    call_release(&call);
    rd_kafka_DeleteTopic_destroy(topic);
    return rc;
}

/* A removal is answered for before every broker knows of it. */
int kafka_remove(struct topics *topics, const char *name, struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    uint32_t count;
    int tries, rc;

    kafka_drop_cursors(kafka, name);
    rc = ask_removal(kafka, name, err);
    kafka_forget(kafka, name);
    if (rc == ERR_NOT_FOUND)
        return err_set(err, rc, "there is no topic %s", name);
    for (tries = 0; !rc && tries < TOPIC_REMOVE_MS / RETRY_MS; tries++) {
        rc = ask_partition_count(kafka, name, &count, err);
        if (rc == ERR_UNAVAILABLE) /* of what is left of it */
            rc = 0;
        if (!rc)
            clock_sleep(topics->clock, RETRY_MS * MS_US);
    }
    if (rc == ERR_NOT_FOUND)
        return 0;
    return rc ? rc
              : err_set(err, ERR_TIMEOUT, "topic %s is still there %d ms after its removal", name,
                        TOPIC_REMOVE_MS);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int kafka_list(struct topics *topics, struct arena *arena, const char ***names, size_t *count,
               struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t error = rd_kafka_metadata(kafka->asker, 1, NULL, &metadata, KAFKA_CALL_MS);
    int i;

    if (error)
        return kafka_fail(err, error, "list of topics");
    *count = 0;
    *names = arena_array(arena, (size_t)metadata->topic_cnt + 1, sizeof(**names));
    for (i = 0; i < metadata->topic_cnt; i++)
        if (strncmp(metadata->topics[i].topic, "__", 2) != 0) /* Kafka's own */
            (*names)[(*count)++] = arena_strdup(arena, metadata->topics[i].topic);
    rd_kafka_metadata_destroy(metadata);
    qsort(*names, *count, sizeof(**names), compare_names);
    return 0;
}

/* --- ends and lag --- */

/* While a partition changes its leader, or has just got one, the question is put again. */
static bool is_moving(rd_kafka_resp_err_t error)
{
    return error == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
           error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
}

/* rd_kafka_query_watermark_offsets asks for both ends at once, but does not come back while the
 * broker is away, whatever its timeout (librdkafka 2.0.2): a searcher could not even be stopped.
 * This one keeps its time; when that is over it says nothing at all. */
static rd_kafka_resp_err_t ask_offset(struct kafka *kafka, const char *name, uint32_t partition,
                                      int64_t which, int64_t *offset)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t error;

    rd_kafka_topic_partition_list_add(list, name, (int32_t)partition)->offset = which;
    error = rd_kafka_offsets_for_times(kafka->asker, list, KAFKA_CALL_MS);
    if (!error)
        error = list->elems[0].err;
    *offset = list->elems[0].offset;
    if (!error && *offset < 0)
        error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

int kafka_range(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                uint64_t *end, struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    rd_kafka_resp_err_t error;
    int64_t low, high;
    int tries = 0;

    do {
        if (tries)
            clock_sleep(topics->clock, RETRY_MS * MS_US);
        error = ask_offset(kafka, name, partition, RD_KAFKA_OFFSET_BEGINNING, &low);
        if (!error)
            error = ask_offset(kafka, name, partition, RD_KAFKA_OFFSET_END, &high);
    } while (is_moving(error) && ++tries < KAFKA_CALL_MS / RETRY_MS);
    if (kafka_code(error) == ERR_NOT_FOUND)
        kafka_forget(kafka, name); /* another process has removed it */
    if (error)
        return kafka_fail(err, error, name);
    *first = (uint64_t)low;
    *end = (uint64_t)high;
    return 0;
}

int kafka_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
               struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    const rd_kafka_topic_partition_list_t *told;
    rd_kafka_DeleteRecords_t *asked;
    struct call call;
    int rc;

    rd_kafka_topic_partition_list_add(list, name, (int32_t)partition)->offset = (int64_t)before;
    asked = rd_kafka_DeleteRecords_new(list);
    call_init(&call, kafka_of(topics));
    rd_kafka_DeleteRecords(kafka_of(topics)->asker, &asked, 1, call.options, call.queue);
    rc = call_wait(&call, name, err);
    if (!rc) {
        told =
            rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(call.event));
        if (told->cnt == 1 && told->elems[0].err)
            rc = kafka_fail(err, told->elems[0].err, name);
    }
    call_release(&call);
    rd_kafka_DeleteRecords_destroy(asked);
    rd_kafka_topic_partition_list_destroy(list);
    return rc;
}

int kafka_lag(struct topics *topics, const char *group, const char *name, uint32_t partition,
              struct topic_lag *lag, struct err *err)
{
    int64_t committed;
    uint64_t from;
    int rc;

    *lag = (struct topic_lag){0};
    rc = kafka_range(topics, name, partition, &lag->first, &lag->end, err);
    if (!rc)
        rc = kafka_group_committed(kafka_of(topics), group, name, partition, &committed, err);
    if (rc)
        return rc;
    lag->has_committed = committed >= 0;
    lag->committed = committed >= 0 ? (uint64_t)committed : 0;
    from = lag->has_committed && lag->committed > lag->first ? lag->committed : lag->first;
    lag->lag = lag->end > from ? lag->end - from : 0;
    return 0;
}
