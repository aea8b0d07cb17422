/* SPDX-License-Identifier: Apache-2.0 */
/* service_topic.c - torg.v1.TopicService. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/topics.h"
#include "roles/processes/service.h"
#include "topic/bounds.h"

enum { LIMIT_DEFAULT = 10, LIMIT_MAX = 1000, WAIT_MS = 2000, JSON_SIZE_MAX = 4 << 20 };

static int count_records(struct topics *topics, const char *name, Torg__V1__Topic *topic,
                         struct err *err)
{
    struct topic_config config;
    int rc = topic_describe(topics, name, &config, err);

    topic->partition_count = config.partition_count;
    for (uint32_t i = 0; i < config.partition_count && !rc; i++) {
        uint64_t first;
        uint64_t end;

        rc = topic_range(topics, name, i, &first, &end, err);
        if (!rc)
            topic->record_count += end - first;
    }
    return rc;
}

static struct topics *topics_of(const struct call *call)
{
    const struct process *process = call_context(call);

    return process->backends.topics;
}

static int list_topics(struct call *call, const ProtobufCMessage *request,
                       ProtobufCMessage *message, struct err *err)
{
    Torg__V1__ListTopicsResponse *response = (Torg__V1__ListTopicsResponse *)message;
    struct topics *topics = topics_of(call);
    struct arena *arena = call_arena(call);
    const char **names;
    size_t count;
    int rc = topic_list(topics, arena, &names, &count, err);

    (void)request;
    if (rc)
        return rc;
    response->topics = arena_array(arena, count + 1, sizeof(response->topics[0]));
    for (size_t i = 0; i < count && !rc; i++) {
        Torg__V1__Topic *topic = MESSAGE_NEW(topic, arena);

        topic->name = arena_strdup(arena, names[i]);
        rc = count_records(topics, names[i], topic, err);
        if (rc == ERR_NOT_FOUND) { /* removed since the names were asked for */
            rc = 0;
            continue;
        }
        response->topics[response->n_topics++] = topic;
    }
    return rc;
}

/* --- reading --- */

struct reading {
    struct topics *topics;
    const char *name;
    struct arena *arena;
    const ProtobufCMessageDescriptor *type; /* NULL: not known */
    const struct topic_message **messages;
    size_t count;
    size_t capacity;
};

/* Up to max records of a partition from the offset on. */
static int read_partition(struct reading *reading, uint32_t partition, uint64_t at, size_t max,
                          struct err *err)
{
    uint64_t first;
    uint64_t end;
    int rc = topic_range(reading->topics, reading->name, partition, &first, &end, err);

    if (at < first)
        at = first;
    while (!rc && at < end && max > 0) {
        const struct topic_message *messages;
        size_t count;

        rc = topic_read(reading->topics, reading->name, partition, at, max, WAIT_MS, reading->arena,
                        &messages, &count, err);
        if (rc || count == 0)
            break;
        for (size_t i = 0; i < count && reading->count < reading->capacity; i++)
            reading->messages[reading->count++] = &messages[i];
        at = messages[count - 1].offset + 1;
        max -= count;
    }
    return rc;
}

static int by_time(const void *a, const void *b)
{
    const struct topic_message *x = *(const struct topic_message *const *)a;
    const struct topic_message *y = *(const struct topic_message *const *)b;

    if (x->timestamp_us != y->timestamp_us)
        return x->timestamp_us < y->timestamp_us ? -1 : 1;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The newest of all partitions: of each its last ones, then the last of those. */
static int read_newest(struct reading *reading, uint32_t partition_count, size_t max,
                       struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < partition_count && !rc; i++) {
        uint64_t first;
        uint64_t end;

        rc = topic_range(reading->topics, reading->name, i, &first, &end, err);
        if (!rc)
            rc = read_partition(reading, i, end > max ? end - max : 0, max, err);
    }
    if (rc || reading->count == 0)
        return rc;
    qsort(reading->messages, reading->count, sizeof(reading->messages[0]), by_time);
    if (reading->count > max) {
        reading->messages += reading->count - max;
        reading->count = max;
    }
    return 0;
}

static Torg__V1__TopicRecord *tell(const struct reading *reading,
                                   const struct topic_message *message)
{
    Torg__V1__TopicRecord *record = MESSAGE_NEW(topic_record, reading->arena);
    struct buf json = BUF_INIT(JSON_SIZE_MAX);
    ProtobufCMessage *decoded = NULL;
    struct bytes copy = arena_copy(reading->arena, message->value);
    struct err unreadable;

    record->partition = message->partition;
    record->offset = message->offset;
    record->time = moment_or_none(message->timestamp_us, reading->arena);
    if (text_is_utf8(message->key))
        record->key = arena_text(reading->arena, message->key);
    if (reading->type)
        (void)message_decode(copy, reading->type, reading->arena, &decoded, &unreadable);
    if (decoded)
        json_encode(decoded, &json);
    if (decoded && !buf_failed(&json))
        record->json = arena_text(reading->arena, buf_bytes(&json));
    else
        record->value = (ProtobufCBinaryData){copy.size, (uint8_t *)copy.data};
    buf_release(&json);
    return record;
}

static int read_topic(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__ReadTopicRequest *request = (const Torg__V1__ReadTopicRequest *)message;
    Torg__V1__ReadTopicResponse *response = (Torg__V1__ReadTopicResponse *)answer;
    struct topics *topics = topics_of(call);
    struct arena *arena = call_arena(call);
    struct reading reading = {.topics = topics, .name = request->topic, .arena = arena};
    size_t max = request->limit ? (size_t)request->limit : LIMIT_DEFAULT;
    const struct topic_line *line;
    struct topic_config config;
    int rc;

    if (request->limit < 0 || request->limit > LIMIT_MAX)
        return err_set(err, ERR_INVALID, "limit: expected 0 to %d", LIMIT_MAX);
    rc = topic_describe(topics, request->topic, &config, err);
    if (rc == ERR_INVALID || rc == ERR_LIMIT)
        err_wrap(err, "topic");
    if (rc)
        return rc;
    if (request->from && request->from->partition >= config.partition_count)
        return err_set(err, ERR_INVALID, "from.partition: %s has %u, counted from 0",
                       request->topic, config.partition_count);
    line = topic_line_of(request->topic);
    reading.type = line ? line->message : NULL;
    reading.capacity = max * config.partition_count;
    reading.messages =
        arena_array(arena, reading.capacity + 1, sizeof(const struct topic_message *));
    rc = request->from
             ? read_partition(&reading, request->from->partition, request->from->offset, max, err)
             : read_newest(&reading, config.partition_count, max, err);
    if (rc)
        return rc;
    response->records = arena_array(arena, reading.count + 1, sizeof(response->records[0]));
    for (size_t i = 0; i < reading.count; i++)
        response->records[response->n_records++] = tell(&reading, reading.messages[i]);
    return 0;
}

/* --- writing --- */

static int check_topic(struct topics *topics, const Torg__V1__WriteTopicRequest *request,
                       struct topic_config *config, struct err *err)
{
    const struct topic_line *line = topic_line_of(request->topic);
    int rc;

    if (line && !line->is_open)
        return err_set(err, ERR_INVALID,
                       "topic: only Torg itself writes %.100s; others may write documents, "
                       "moderation-opinions, photo-results, events, feed-events and topics that "
                       "are not Torg's own",
                       request->topic);
    if (strlen(request->key) > TOPIC_KEY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "key: %zu bytes; at most %d", strlen(request->key),
                       TOPIC_KEY_SIZE_MAX);
    if (request->value.len > TOPIC_VALUE_SIZE_MAX)
        return err_set(err, ERR_INVALID, "value: %zu bytes; at most %d", request->value.len,
                       TOPIC_VALUE_SIZE_MAX);
    if (*request->json && request->value.len)
        return err_set(err, ERR_INVALID, "value: there is json already; give one of the two");
    if (*request->json && !line)
        return err_set(err, ERR_INVALID,
                       "json: the type of the records of %.100s is not known; give their bytes as "
                       "value",
                       request->topic);
    rc = topic_describe(topics, request->topic, config, err);
    return rc == ERR_INVALID || rc == ERR_LIMIT ? err_wrap(err, "topic") : rc;
}

/* The bytes of the record: those of the request, or the message that its JSON says. */
static int encode_record(struct call *call, const Torg__V1__WriteTopicRequest *request,
                         struct buf *out, struct err *err)
{
    struct violations violations = violations_in(call_arena(call));
    ProtobufCMessage *record;
    int rc;

    if (!*request->json) {
        buf_put(out, bytes_make(request->value.data, request->value.len));
        return 0;
    }
    rc = json_decode(bytes_of(request->json), topic_line_of(request->topic)->message,
                     call_arena(call), &record, &violations, err);
    if (rc) {
        call_violations(call, &violations);
        return err_wrap(err, "json");
    }
    message_encode(record, out);
    if (buf_failed(out))
        return err_set(err, ERR_INVALID, "json: a record of more than %d bytes",
                       TOPIC_VALUE_SIZE_MAX);
    return 0;
}

static int note_write(struct call *call, const Torg__V1__WriteTopicRequest *request,
                      struct err *err)
{
    const struct process *process = call_context(call);
    const struct audit_entry entry = {.at_us = clock_wall_us(process->clock),
                                      .principal = call_actor(call),
                                      .action = "topic.write",
                                      .target = request->topic,
                                      .detail =
                                          text_is_utf8(bytes_of(request->key)) ? request->key : ""};

    return audit_record(process->backends.store, &entry, err);
}

/* Recorded before it is written: a record that nobody is known to have written would be worse than
 * a row about one that could not be. */
static int write_topic(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                       struct err *err)
{
    const Torg__V1__WriteTopicRequest *request = (const Torg__V1__WriteTopicRequest *)message;
    Torg__V1__WriteTopicResponse *response = (Torg__V1__WriteTopicResponse *)answer;
    struct buf value = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct topic_record record = {.key = bytes_of(request->key), .has_partition = true};
    struct topic_config config;
    int rc = check_topic(topics_of(call), request, &config, err);

    if (!rc)
        rc = encode_record(call, request, &value, err);
    if (!rc)
        rc = note_write(call, request, err);
    if (!rc) {
        record.value = buf_bytes(&value);
        record.partition = topic_partition(record.key, config.partition_count);
        response->partition = record.partition;
        rc = topic_produce(topics_of(call), request->topic, &record, 1, &response->offset, err);
    }
    buf_release(&value);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "ListTopics", .unary = list_topics, .scope = "admin"},
    {.name = "ReadTopic", .unary = read_topic, .scope = "admin"},
    {.name = "WriteTopic", .unary = write_topic, .scope = "admin"},
};

struct rpc_service topic_service(struct process *process)
{
    return RPC_SERVICE(topic, methods, process);
}
