/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topic.c - torg topic list, read, write. */
#include <inttypes.h>
#include <stdio.h>

#include "base/object.h"
#include "base/text.h"
#include "model/topics.h"
#include "roles/commands/desk.h"
#include "roles/commands/input.h"
#include "roles/commands/print.h"
#include "topic/bounds.h"
#include "torg/v1/topic.pb-c.h"

#define NO_TOPIC "there is no topic %.64s; torg topic list shows them all"

enum { INPUT_SIZE_MAX = 2 * TOPIC_VALUE_SIZE_MAX }; /* JSON is longer than the record it says */

enum exit_code cmd_topic_list(const struct invocation *invocation)
{
    Torg__V1__ListTopicsRequest request = TORG__V1__LIST_TOPICS_REQUEST__INIT;
    const Torg__V1__ListTopicsResponse *found;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (desk_ask(invocation, false, &torg__v1__topic_service__descriptor, "ListTopics",
                 &request.base, &response, &err))
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
    const Torg__V1__ReadTopicResponse *found;
    ProtobufCMessage *response;
    const char *limit = invocation_option(invocation, "limit");
    const char *from = invocation_option(invocation, "from");
    uint64_t count = 0;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
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
    rc = desk_ask(invocation, false, &torg__v1__topic_service__descriptor, "ReadTopic",
                  &request.base, &response, &err);
    if (rc == ERR_NOT_FOUND)
        err_set(&err, rc, NO_TOPIC, request.topic);
    if (rc)
        return fail(&err);
    found = (const Torg__V1__ReadTopicResponse *)response;
    if (invocation->json)
        print_json(response);
    for (size_t i = 0; i < found->n_records && !invocation->json; i++)
        print_record(found->records[i], invocation->arena);
    return EXIT_OK;
}

enum exit_code cmd_topic_write(const struct invocation *invocation)
{
    Torg__V1__WriteTopicRequest request = TORG__V1__WRITE_TOPIC_REQUEST__INIT;
    const Torg__V1__WriteTopicResponse *written;
    struct buf body = BUF_INIT(INPUT_SIZE_MAX);
    ProtobufCMessage *response;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    request.topic = (char *)invocation->arguments[0];
    if (invocation_option(invocation, "key"))
        request.key = (char *)invocation_option(invocation, "key");
    rc = read_input(invocation, 1, &body, &err);
    if (!rc && topic_line_of(request.topic) && !invocation_option(invocation, "raw"))
        request.json = arena_text(invocation->arena, buf_bytes(&body));
    else
        request.value = (ProtobufCBinaryData){.data = body.data, .len = body.size};
    if (!rc)
        rc = desk_ask(invocation, false, &torg__v1__topic_service__descriptor, "WriteTopic",
                      &request.base, &response, &err);
    buf_release(&body);
    if (rc == ERR_NOT_FOUND)
        err_set(&err, rc, NO_TOPIC, request.topic);
    if (rc)
        return fail(&err);
    written = (const Torg__V1__WriteTopicResponse *)response;
    if (invocation->json)
        print_json(response);
    else
        printf("%u:%" PRIu64 "\n", written->partition, written->offset);
    return EXIT_OK;
}
