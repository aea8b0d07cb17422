/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topic.c - torg topic list, read. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "roles/backends.h"
#include "roles/operation.h"

/* Topics of the server that runs, or of the directory when none runs. */
struct looking {
    struct operation operation;
    struct topics *topics; /* NULL: by the server */
};

static int looking_open(const struct invocation *invocation, struct looking *looking,
                        struct err *err)
{
    int rc = operation_open(invocation, false, &looking->operation, err);

    looking->topics = NULL;
    if (rc || looking->operation.remote)
        return rc;
    rc = backends_open_topics(&invocation->config, clock_system(), invocation->arena,
                              &looking->topics, err);
    if (rc)
        operation_close(&looking->operation);
    return rc;
}

static void looking_close(struct looking *looking)
{
    topics_close(looking->topics);
    operation_close(&looking->operation);
}

enum exit_code cmd_topic_list(const struct invocation *invocation)
{
    Torg__V1__ListTopicsRequest request = TORG__V1__LIST_TOPICS_REQUEST__INIT;
    Torg__V1__ListTopicsResponse local = TORG__V1__LIST_TOPICS_RESPONSE__INIT;
    ProtobufCMessage *response = &local.base;
    const Torg__V1__ListTopicsResponse *found;
    struct looking looking;
    struct err err;
    int rc;

    if (looking_open(invocation, &looking, &err))
        return fail(&err);
    if (looking.topics)
        rc = topic_service_list(looking.topics, invocation->arena, &local, &err);
    else
        rc = remote_call(looking.operation.remote, "torg.v1.TopicService/ListTopics", &request.base,
                         &torg__v1__list_topics_response__descriptor, &response, &err);
    looking_close(&looking);
    if (rc)
        return fail(&err);
    found = (const Torg__V1__ListTopicsResponse *)response;
    if (invocation->json)
        print_json(response);
    for (size_t i = 0; i < found->n_topics && !invocation->json; i++)
        printf("%-24s %3u partitions  %" PRIu64 " record%s\n", found->topics[i]->name,
               found->topics[i]->partition_count, found->topics[i]->record_count,
               found->topics[i]->record_count == 1 ? "" : "s");
    return EXIT_OK;
}

static void print_record(const Torg__V1__TopicRecord *record, struct arena *arena)
{
    printf("%s  %u:%" PRIu64 "  %s\n  ", time_text(record->time, arena), record->partition,
           record->offset, record->key);
    if (*record->json)
        printf("%s\n", record->json);
    else
        printf("(%zu bytes)\n", record->value.len);
}

/* "3" or "3:1500": a partition, and where to begin in it. */
static bool read_place(const char *text, Torg__V1__TopicPlace *place)
{
    struct bytes partition = bytes_of(text);
    struct bytes offset = bytes_of("0");
    uint64_t number;

    for (size_t i = 0; text[i]; i++) {
        if (text[i] == ':') {
            partition.size = i;
            offset = bytes_of(text + i + 1);
            break;
        }
    }
    if (!text_to_u64(partition, &number) || number > UINT32_MAX)
        return false;
    place->partition = (uint32_t)number;
    return text_to_u64(offset, &place->offset);
}

enum exit_code cmd_topic_read(const struct invocation *invocation)
{
    Torg__V1__ReadTopicRequest request = TORG__V1__READ_TOPIC_REQUEST__INIT;
    Torg__V1__TopicPlace place = TORG__V1__TOPIC_PLACE__INIT;
    Torg__V1__ReadTopicResponse local = TORG__V1__READ_TOPIC_RESPONSE__INIT;
    ProtobufCMessage *response = &local.base;
    const Torg__V1__ReadTopicResponse *found;
    const char *limit = invocation_option(invocation, "limit");
    const char *from = invocation_option(invocation, "from");
    struct looking looking;
    uint64_t count = 0;
    struct err err;
    int rc;

    if (limit && (!text_to_u64(bytes_of(limit), &count) || !count || count > INT32_MAX)) {
        complain("--limit=%.64s: expected a number from 1 to 1000", limit);
        return EXIT_USAGE;
    }
    if (from && !read_place(from, &place)) {
        complain("--from=%.64s: expected PARTITION or PARTITION:OFFSET", from);
        return EXIT_USAGE;
    }
    request.topic = (char *)invocation->arguments[0];
    request.limit = (int32_t)count;
    request.from = from ? &place : NULL;
    if (looking_open(invocation, &looking, &err))
        return fail(&err);
    if (looking.topics)
        rc = topic_service_read(looking.topics, invocation->arena, &request, &local, &err);
    else
        rc = remote_call(looking.operation.remote, "torg.v1.TopicService/ReadTopic", &request.base,
                         &torg__v1__read_topic_response__descriptor, &response, &err);
    looking_close(&looking);
    if (rc == ERR_NOT_FOUND)
        err_set(&err, rc, "there is no topic %.64s; torg topic list shows them all", request.topic);
    if (rc)
        return fail(&err);
    found = (const Torg__V1__ReadTopicResponse *)response;
    if (invocation->json)
        print_json(response);
    for (size_t i = 0; i < found->n_records && !invocation->json; i++)
        print_record(found->records[i], invocation->arena);
    return EXIT_OK;
}
