/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic_kafka.c - topics kept by Kafka: opening, producing, reading without a group.
 *
 * The producer is idempotent with acks=all: librdkafka's own retries neither duplicate nor
 * reorder. Partitions are chosen by topic.c, so they agree with the embedded broker's. A record is
 * acknowledged by its delivery report, which a thread of ours serves; a request is called back
 * when the reports of all its records are in. The client's bounded queue is the back pressure.
 *
 * A broker that has lost the end of its log in a power cut no longer knows the producer's numbers;
 * librdkafka then fails everything for ever ("fatal error"). The serving thread replaces such a
 * producer by a new one; the records that the old one had in flight are reported as failed.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "topic/kafka.h"

enum { SERVE_MS = 100, QUEUE_MESSAGES = 100000, DESTROY_MS = 5000 };

/* --- errors and settings --- */

int kafka_code(rd_kafka_resp_err_t error)
{
    switch (error) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        return 0;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return ERR_NOT_FOUND;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        return ERR_LIMIT;
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        return ERR_TIMEOUT;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        return ERR_DENIED;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
        return ERR_UNAUTHENTICATED;
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        return ERR_RANGE;
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
        return ERR_EXISTS;
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
        return ERR_STALE;
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
        return ERR_INVALID;
    default:
        return ERR_UNAVAILABLE;
    }
}

int kafka_fail(struct err *err, rd_kafka_resp_err_t error, const char *what)
{
    return err_set(err, kafka_code(error), "%s: Kafka: %s", what, rd_kafka_err2str(error));
}

void kafka_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char reason[KAFKA_ERROR_SIZE];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name, value, reason, sizeof(reason));

    assert(result == RD_KAFKA_CONF_OK);
    (void)result;
}

void kafka_set_number(rd_kafka_conf_t *conf, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, value);
    kafka_set(conf, name, text);
}

/* syslog's error and worse, but for what a handle says of the sign-in that its own end breaks off.
 */
static bool is_serious(int level, const char *text)
{
    return level <= 3 && !strstr(text, "Broker handle destroyed");
}

static void log_line(const rd_kafka_t *handle, int level, const char *facility, const char *text)
{
    (void)handle;
    if (is_serious(level, text))
        log_warn("kafka client", LOG_TEXT("facility", facility), LOG_TEXT("text", text));
    else
        log_debug("kafka client", LOG_TEXT("facility", facility), LOG_TEXT("text", text));
}

rd_kafka_conf_t *kafka_conf(const struct kafka *kafka)
{
    return rd_kafka_conf_dup(kafka->conf);
}

static rd_kafka_conf_t *shared_conf(const char *brokers)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    kafka_set(conf, "bootstrap.servers", brokers);
    kafka_set(conf, "client.id", "torg");
    kafka_set(conf, "socket.keepalive.enable", "true");
    kafka_set(conf, "reconnect.backoff.max.ms", "1000");
    rd_kafka_conf_set_log_cb(conf, log_line);
    return conf;
}

/* --- producing --- */

struct request;

struct delivery {
    struct request *request;
    size_t index;
};

enum { REQUEST_MAGIC = OBJECT_MAGIC('k', 'r', 'e', 'q') };

struct request {
    uint32_t magic;
    struct kafka *kafka;
    submit_done_fn done;
    void *arg;
    uint64_t *offsets;
    size_t left; /* reports to come, and one for the submit itself; under kafka->lock */
    int rc;
    struct err err;
    struct delivery deliveries[];
};

static _Thread_local bool on_server_thread;

static void finish_deliveries(struct request *request, size_t count, rd_kafka_resp_err_t error)
{
    struct kafka *kafka = request->kafka;
    bool last;

    pthread_mutex_lock(&kafka->lock);
    if (error && !request->rc)
        request->rc = kafka_fail(&request->err, error, "produce");
    request->left -= count;
    last = request->left == 0;
    pthread_mutex_unlock(&kafka->lock);
    if (last) {
        request->done(request->arg, request->rc, &request->err);
        object_end(request, REQUEST_MAGIC);
        free(request);
    }
    pthread_mutex_lock(&kafka->lock);
    kafka->request_count -= last;
    condition_broadcast(&kafka->changed);
    pthread_mutex_unlock(&kafka->lock);
}

static void report_delivery(rd_kafka_t *handle, const rd_kafka_message_t *message, void *opaque)
{
    struct delivery *delivery = message->_private;
    struct request *request = delivery->request;

    (void)handle;
    (void)opaque;
    if (!message->err)
        request->offsets[delivery->index] = (uint64_t)message->offset;
    else if (kafka_code(message->err) == ERR_NOT_FOUND)
        kafka_forget(request->kafka, rd_kafka_topic_name(message->rkt));
    finish_deliveries(request, 1, message->err);
}

static rd_kafka_headers_t *make_headers(const struct topic_record *record)
{
    rd_kafka_headers_t *headers;
    size_t i;

    if (!record->header_count)
        return NULL;
    headers = rd_kafka_headers_new(record->header_count);
    for (i = 0; i < record->header_count; i++) {
        const struct topic_header *header = &record->headers[i];

        rd_kafka_header_add(headers, (const char *)header->name.data, (ssize_t)header->name.size,
                            header->value.size ? (const void *)header->value.data : "",
                            (ssize_t)header->value.size);
    }
    return headers;
}

static rd_kafka_resp_err_t send_record(struct kafka *kafka, const char *name, uint32_t partition,
                                       const struct topic_record *record, struct delivery *delivery)
{
    rd_kafka_headers_t *headers = make_headers(record);
    /* an empty value is no tombstone: it keeps a pointer */
    const void *value = record->value.size ? (const void *)record->value.data : "";
    rd_kafka_resp_err_t error;

    pthread_rwlock_rdlock(&kafka->producer_lock);
    error = rd_kafka_producev(
        kafka->producer, RD_KAFKA_V_TOPIC(name), RD_KAFKA_V_PARTITION((int32_t)partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY((void *)(uintptr_t)record->key.data, record->key.size),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)value, record->value.size),
        RD_KAFKA_V_TIMESTAMP(record->timestamp_us / MS_US), RD_KAFKA_V_OPAQUE(delivery),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    pthread_rwlock_unlock(&kafka->producer_lock);
    if (error && headers)
        rd_kafka_headers_destroy(headers);
    return error;
}

/* Nothing is wrong with the record: there will be room, or another producer. */
static bool must_wait(rd_kafka_resp_err_t error)
{
    return error == RD_KAFKA_RESP_ERR__QUEUE_FULL || error == RD_KAFKA_RESP_ERR__FATAL;
}

/* Waits for room in the client's queue; deliveries that fail make room too, so this ends. */
static rd_kafka_resp_err_t send_or_wait(struct kafka *kafka, const char *name, uint32_t partition,
                                        const struct topic_record *record,
                                        struct delivery *delivery)
{
    const struct clock *clock = kafka->base.clock;
    int64_t end_us = clock_mono_us(clock) + 2ll * TOPIC_KAFKA_DELIVERY_MS * MS_US;
    rd_kafka_resp_err_t error = send_record(kafka, name, partition, record, delivery);

    while (must_wait(error) && clock_mono_us(clock) < end_us) {
        pthread_mutex_lock(&kafka->lock);
        condition_wait_until(&kafka->changed, &kafka->lock,
                             clock_after_us(clock, SERVE_MS * MS_US));
        pthread_mutex_unlock(&kafka->lock);
        error = send_record(kafka, name, partition, record, delivery);
    }
    return error;
}

static int kafka_submit(struct topics *topics, const struct submit *submit, struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    struct request *request;
    size_t i;

    if (on_server_thread)
        return err_set(err, ERR_PRECONDITION, "a produce callback must not produce");
    request = mem_zero(sizeof(*request) + submit->count * sizeof(request->deliveries[0]));
    *request = (struct request){.magic = REQUEST_MAGIC,
                                .kafka = kafka,
                                .done = submit->done,
                                .arg = submit->arg,
                                .offsets = submit->offsets,
                                .left = submit->count + 1};
    pthread_mutex_lock(&kafka->lock);
    kafka->request_count++;
    pthread_mutex_unlock(&kafka->lock);
    for (i = 0; i < submit->count && !error; i++) {
        request->deliveries[i] = (struct delivery){request, i};
        error = send_or_wait(kafka, submit->name, submit->partitions[i], &submit->records[i],
                             &request->deliveries[i]);
    }
    /* the submit's own count, and those of the records that were not sent */
    finish_deliveries(request, 1 + (error ? submit->count - i + 1 : 0), error);
    return 0;
}

static int kafka_flush(struct topics *topics, int timeout_ms, struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    int64_t until_us = clock_after_us(topics->clock, (int64_t)timeout_ms * MS_US);
    int rc = 0;

    pthread_mutex_lock(&kafka->lock);
    while (!rc && kafka->request_count)
        if (!condition_wait_until(&kafka->changed, &kafka->lock, until_us))
            rc = err_set(err, ERR_TIMEOUT, "records are still in flight after %d ms", timeout_ms);
    pthread_mutex_unlock(&kafka->lock);
    return rc;
}

/* --- reading --- */

struct topic_message kafka_message(const rd_kafka_message_t *message, struct arena *arena)
{
    struct topic_message out = {.topic = rd_kafka_topic_name(message->rkt),
                                .partition = (uint32_t)message->partition,
                                .offset = (uint64_t)message->offset,
                                .key = bytes_make(message->key, message->key_len),
                                .value = bytes_make(message->payload, message->len)};
    rd_kafka_timestamp_type_t type;
    rd_kafka_headers_t *headers;
    size_t i;

    out.timestamp_us = rd_kafka_message_timestamp(message, &type) * MS_US;
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        struct topic_header *list;

        out.header_count = rd_kafka_header_cnt(headers);
        list = arena_array(arena, out.header_count, sizeof(*list));
        for (i = 0; i < out.header_count; i++) {
            const char *name;
            const void *value;
            size_t size;

            rd_kafka_header_get_all(headers, i, &name, &value, &size);
            list[i] = (struct topic_header){bytes_of(name), bytes_make(value, size)};
        }
        out.headers = list;
    }
    return out;
}

static void drop_cursor(struct kafka_cursor *cursor)
{
    if (!cursor->topic)
        return;
    rd_kafka_consume_stop(cursor->topic, (int32_t)cursor->partition);
    rd_kafka_topic_destroy(cursor->topic);
    cursor->topic = NULL;
}

/* The cursor of the partition, or the idle one longest unused; NULL when it is in use. */
static struct kafka_cursor *choose_cursor(struct kafka *kafka, const char *name, uint32_t partition)
{
    struct kafka_cursor *oldest = NULL;
    size_t i;

    for (i = 0; i < KAFKA_CURSOR_COUNT; i++) {
        struct kafka_cursor *cursor = &kafka->cursors[i];

        if (cursor->topic && cursor->partition == partition && strcmp(cursor->name, name) == 0)
            return cursor->busy ? NULL : cursor;
        if (!cursor->busy && (!oldest || cursor->used < oldest->used))
            oldest = cursor;
    }
    return oldest;
}

static int take_cursor(struct kafka *kafka, const char *name, uint32_t partition, uint64_t offset,
                       struct kafka_cursor **taken, struct err *err)
{
    int64_t until_us = clock_after_us(kafka->base.clock, (int64_t)KAFKA_CALL_MS * MS_US);
    struct kafka_cursor *cursor;
    bool in_time = true;
    int rc = 0;

    *taken = NULL;
    pthread_mutex_lock(&kafka->lock);
    cursor = choose_cursor(kafka, name, partition);
    while (!cursor && in_time) {
        in_time = condition_wait_until(&kafka->changed, &kafka->lock, until_us);
        cursor = choose_cursor(kafka, name, partition);
    }
    if (cursor) {
        cursor->busy = true;
        cursor->used = ++kafka->cursor_use;
    }
    pthread_mutex_unlock(&kafka->lock);
    if (!cursor)
        return err_set(err, ERR_TIMEOUT, "topic %s: too many readers at once", name);
    if (cursor->topic && cursor->partition == partition && strcmp(cursor->name, name) == 0 &&
        cursor->next_offset == offset) {
        *taken = cursor;
        return 0;
    }
    drop_cursor(cursor);
    snprintf(cursor->name, sizeof(cursor->name), "%s", name);
    cursor->partition = partition;
    cursor->next_offset = offset;
    cursor->topic = rd_kafka_topic_new(kafka->reader, name, NULL);
    if (!cursor->topic ||
        rd_kafka_consume_start(cursor->topic, (int32_t)partition, (int64_t)offset) < 0)
        rc = kafka_fail(err, rd_kafka_last_error(), name);
    *taken = cursor;
    return rc;
}

static void give_cursor_back(struct kafka *kafka, struct kafka_cursor *cursor, bool failed)
{
    if (!cursor)
        return;
    if (failed)
        drop_cursor(cursor);
    pthread_mutex_lock(&kafka->lock);
    cursor->busy = false;
    condition_broadcast(&kafka->changed);
    pthread_mutex_unlock(&kafka->lock);
}

void kafka_drop_cursors(struct kafka *kafka, const char *name)
{
    size_t i;

    for (i = 0; i < KAFKA_CURSOR_COUNT; i++) {
        struct kafka_cursor *cursor = &kafka->cursors[i];
        bool is_idle;

        pthread_mutex_lock(&kafka->lock);
        is_idle = !cursor->busy && cursor->topic && strcmp(cursor->name, name) == 0;
        cursor->busy = cursor->busy || is_idle;
        pthread_mutex_unlock(&kafka->lock);
        if (is_idle)
            give_cursor_back(kafka, cursor, true);
    }
}

static struct topic_message copy_message(const rd_kafka_message_t *message, struct arena *arena)
{
    struct topic_message copy = kafka_message(message, arena);
    struct topic_header *headers = (struct topic_header *)(uintptr_t)copy.headers; /* arena's */
    size_t i;

    copy.topic = arena_strdup(arena, copy.topic);
    copy.key = arena_copy(arena, copy.key);
    copy.value = arena_copy(arena, copy.value);
    for (i = 0; i < copy.header_count; i++) {
        headers[i].name = arena_copy(arena, headers[i].name);
        headers[i].value = arena_copy(arena, headers[i].value);
    }
    return copy;
}

static int read_cursor(struct kafka_cursor *cursor, size_t max_count, int timeout_ms,
                       struct arena *arena, struct topic_message *found, size_t *count,
                       struct err *err)
{
    size_t size = 0;
    int rc = 0;

    while (!rc && *count < max_count && size < TOPIC_POLL_SIZE) {
        rd_kafka_message_t *message =
            rd_kafka_consume(cursor->topic, (int32_t)cursor->partition, *count ? 0 : timeout_ms);

        if (!message)
            break;
        if (message->err) {
            rc = kafka_fail(err, message->err, cursor->name);
        } else {
            found[*count] = copy_message(message, arena);
            cursor->next_offset = found[(*count)++].offset + 1;
            size += message->len;
        }
        rd_kafka_message_destroy(message);
    }
    return *count ? 0 : rc;
}

static int kafka_read(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
                      size_t max_count, int timeout_ms, struct arena *arena,
                      const struct topic_message **messages, size_t *count, struct err *err)
{
    struct kafka *kafka = kafka_of(topics);
    struct kafka_cursor *cursor = NULL;
    struct topic_message *found;
    uint64_t first, end;
    int rc = kafka_range(topics, name, partition, &first, &end, err);

    if (rc)
        return rc;
    if (offset < first || offset > end)
        return err_set(err, ERR_RANGE,
                       "topic %s partition %u has offsets %" PRIu64 " to %" PRIu64 ", not %" PRIu64,
                       name, partition, first, end, offset);
    rc = take_cursor(kafka, name, partition, offset, &cursor, err);
    /* what is there already is given its time to come, whatever the caller waits for more */
    if (offset < end && timeout_ms < KAFKA_CALL_MS)
        timeout_ms = KAFKA_CALL_MS;
    found = mem_array(max_count, sizeof(*found));
    if (!rc)
        rc = read_cursor(cursor, max_count, timeout_ms, arena, found, count, err);
    give_cursor_back(kafka, cursor, rc != 0);
    if (!rc && *count) {
        struct topic_message *kept = arena_array(arena, *count, sizeof(*kept));

        memcpy(kept, found, *count * sizeof(*kept));
        *messages = kept;
    }
    free(found);
    return rc;
}

/* Kafka keeps house itself. */
static int kafka_housekeep(struct topics *topics, struct err *err)
{
    (void)topics;
    (void)err;
    return 0;
}

/* --- opening --- */

enum { ENDING_MAGIC = OBJECT_MAGIC('k', 'e', 'n', 'd') };

/* librdkafka (2.0.2 at least) never comes back from the destruction of a handle that knew a topic
 * which was removed since, by whomever: its broker's thread does not end. So it is waited for in a
 * bounded time, and left to the end of the process then. */
struct ending {
    uint32_t magic;
    pthread_mutex_t lock;
    struct condition changed; /* the client has ended, on a thread that may be left behind */
    rd_kafka_t *handle;
    bool is_done;
    bool is_left; /* nobody waits: the thread frees this */
};

static void free_ending(struct ending *ending)
{
    pthread_mutex_destroy(&ending->lock);
    condition_release(&ending->changed);
    object_end(ending, ENDING_MAGIC);
    free(ending);
}

static void destroy_handle(struct task *task, void *arg)
{
    struct ending *ending = arg;
    bool is_left;

    object_check(ending, ENDING_MAGIC);
    /* what is ended here has joined no group: there is none to leave, no coordinator to wait for */
    rd_kafka_destroy_flags(ending->handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    pthread_mutex_lock(&ending->lock);
    ending->is_done = true;
    is_left = ending->is_left;
    condition_signal(&ending->changed);
    pthread_mutex_unlock(&ending->lock);
    if (is_left)
        free_ending(ending);
}

void kafka_handle_end(rd_kafka_t *handle, const struct clock *clock)
{
    int64_t until_us = clock_after_us(clock, DESTROY_MS * MS_US);
    struct task_options options = {.name = "kafka-ending", .run = destroy_handle, .clock = clock};
    struct ending *ending;
    bool in_time = true;
    bool is_done;
    int rc;

    if (!handle)
        return;
    ending = mem_zero(sizeof(*ending));
    object_begin(ending, ENDING_MAGIC);
    ending->handle = handle;
    pthread_mutex_init(&ending->lock, NULL);
    condition_init(&ending->changed, clock);
    options.arg = ending;
    rc = task_spawn(&options, NULL);
    assert(rc == 0);
    pthread_mutex_lock(&ending->lock);
    while (!ending->is_done && in_time)
        in_time = condition_wait_until(&ending->changed, &ending->lock, until_us);
    is_done = ending->is_done;
    ending->is_left = !is_done;
    pthread_mutex_unlock(&ending->lock);
    if (is_done)
        free_ending(ending);
    else
        log_warn("kafka client is left to the end of the process: it knew a removed topic");
}

static void release(struct kafka *kafka)
{
    size_t i;

    for (i = 0; i < KAFKA_CURSOR_COUNT; i++)
        drop_cursor(&kafka->cursors[i]);
    kafka_groups_release(kafka);
    kafka_handle_end(kafka->reader, kafka->base.clock);
    kafka_handle_end(kafka->asker, kafka->base.clock);
    kafka_handle_end(kafka->producer, kafka->base.clock);
    pthread_rwlock_destroy(&kafka->producer_lock);
    pthread_mutex_destroy(&kafka->lock);
    condition_release(&kafka->changed);
    free(kafka->known);
    rd_kafka_conf_destroy(kafka->conf);
    free(kafka);
}

static void kafka_close(struct topics *topics)
{
    struct kafka *kafka = kafka_of(topics);
    struct err err;

    /* longer than a delivery may take, so every request is called back */
    if (kafka_flush(topics, 2 * TOPIC_KAFKA_DELIVERY_MS, &err))
        log_error("kafka client closed with records in flight", LOG_TEXT("reason", err.text));
    task_stop(&kafka->server);
    release(kafka);
}

rd_kafka_t *kafka_handle_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err)
{
    char reason[KAFKA_ERROR_SIZE] = "";
    rd_kafka_t *handle = rd_kafka_new(type, conf, reason, sizeof(reason));

    if (!handle) {
        rd_kafka_conf_destroy(conf);
        err_set(err, ERR_INVALID, "Kafka client: %s", reason);
    }
    return handle;
}

static rd_kafka_conf_t *producer_conf(const struct kafka *kafka)
{
    rd_kafka_conf_t *conf = kafka_conf(kafka);

    kafka_set(conf, "enable.idempotence", "true");
    kafka_set(conf, "acks", "all");
    kafka_set(conf, "linger.ms", "2");
    kafka_set(conf, "message.max.bytes", "1048576");
    kafka_set_number(conf, "delivery.timeout.ms", TOPIC_KAFKA_DELIVERY_MS);
    kafka_set_number(conf, "queue.buffering.max.messages", QUEUE_MESSAGES);
    kafka_set_number(conf, "queue.buffering.max.kbytes", TOPIC_INFLIGHT_SIZE_MAX / 1024);
    rd_kafka_conf_set_dr_msg_cb(conf, report_delivery);
    return conf;
}

/* Gives what is in flight back as failed, and goes on with a producer of a new identity. */
static void replace_producer(struct kafka *kafka, const char *reason)
{
    rd_kafka_t *old = kafka->producer;
    rd_kafka_t *fresh;
    struct err err;

    fresh = kafka_handle_new(RD_KAFKA_PRODUCER, producer_conf(kafka), &err);
    if (!fresh) /* the next poll tries again */
        return;
    log_warn("kafka producer is replaced", LOG_TEXT("reason", reason));
    pthread_rwlock_wrlock(&kafka->producer_lock);
    kafka->producer = fresh;
    pthread_rwlock_unlock(&kafka->producer_lock);
    rd_kafka_purge(old, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(old, DESTROY_MS); /* calls the reports back */
    kafka_handle_end(old, kafka->base.clock);
}

/* The wait is the client's: librdkafka has no other way to be waited for. */
static void serve_callbacks(struct task *task, void *arg)
{
    struct kafka *kafka = arg;
    char reason[KAFKA_ERROR_SIZE];

    on_server_thread = true;
    while (!task_is_stopping(task)) {
        task_says(task, "serving delivery reports");
        rd_kafka_poll(kafka->producer, SERVE_MS);
        if (rd_kafka_fatal_error(kafka->producer, reason, sizeof(reason)))
            replace_producer(kafka, reason);
    }
}

static rd_kafka_conf_t *reader_conf(const struct kafka *kafka)
{
    rd_kafka_conf_t *conf = kafka_conf(kafka);

    kafka_set(conf, "auto.offset.reset", "error");
    /* how long a cursor that begins waits behind the fetch of those that stand at an end */
    kafka_set(conf, "fetch.wait.max.ms", "25");
    return conf;
}

static int open_handles(struct kafka *kafka, struct err *err)
{
    kafka->producer = kafka_handle_new(RD_KAFKA_PRODUCER, producer_conf(kafka), err);
    if (kafka->producer)
        kafka->reader = kafka_handle_new(RD_KAFKA_CONSUMER, reader_conf(kafka), err);
    if (kafka->reader)
        kafka->asker = kafka_handle_new(RD_KAFKA_CONSUMER, kafka_conf(kafka), err);
    return kafka->asker ? 0 : ERR_INVALID;
}

static int kafka_open(const char *place, const struct topics_options *options,
                      struct topics **topics, struct err *err)
{
    struct task_options server = {
        .name = "kafka-reports", .run = serve_callbacks, .clock = options->clock};
    struct kafka *kafka;
    int rc;

    if (strncmp(place, "//", 2) != 0 || !place[2])
        return err_set(err, ERR_INVALID,
                       "Kafka's URL is kafka://HOST:PORT[,HOST:PORT], not kafka:%s", place);
    kafka = mem_zero(sizeof(*kafka));
    kafka->base.clock = options->clock;
    pthread_rwlock_init(&kafka->producer_lock, NULL);
    pthread_mutex_init(&kafka->lock, NULL);
    condition_init(&kafka->changed, options->clock);
    kafka->conf = shared_conf(place + 2);
    rc = kafka_secure(kafka->conf, &options->security, err);
    if (!rc)
        rc = open_handles(kafka, err);
    if (rc) {
        release(kafka);
        return rc;
    }
    server.arg = kafka;
    rc = task_start(&kafka->server, &server, err);
    if (rc)
        release(kafka);
    else
        *topics = &kafka->base;
    return rc;
}

const struct topics_ops topics_kafka_ops = {
    .scheme = "kafka",
    .open = kafka_open,
    .close = kafka_close,
    .create = kafka_create,
    .describe = kafka_describe,
    .remove = kafka_remove,
    .list = kafka_list,
    .partition_count = kafka_partition_count,
    .submit = kafka_submit,
    .flush = kafka_flush,
    .read = kafka_read,
    .range = kafka_range,
    .trim = kafka_trim,
    .lag = kafka_lag,
    .housekeep = kafka_housekeep,
    .consumer_open = kafka_consumer_open,
    .consumer_close = kafka_consumer_close,
    .consumer_poll = kafka_consumer_poll,
    .consumer_commit = kafka_consumer_commit,
    .consumer_seek = kafka_consumer_seek,
    .consumer_assignment = kafka_consumer_assignment,
    .consumer_generation = kafka_consumer_generation,
};
