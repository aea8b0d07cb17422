/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic_dump.c - prints what export has sent, for tests of the binary.
 *
 *     topic-dump DIR|URL TOPIC
 *
 * One line a record, "ID REVISION STATUS SHARD SEQ", in order within a partition. No server may
 * have the directory open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "codec/message.h"
#include "topic/topic.h"
#include "torg/v1/offer_update.pb-c.h"

enum { READ_COUNT = 500 };

static void check(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "topic-dump: %s\n", err->text);
        exit(1);
    }
}

static void print(const struct topic_message *message, struct arena *arena)
{
    const Torg__V1__OfferUpdate *update;
    ProtobufCMessage *decoded;
    struct err err;

    check(
        message_decode(message->value, &torg__v1__offer_update__descriptor, arena, &decoded, &err),
        &err);
    update = (const Torg__V1__OfferUpdate *)decoded;
    if (!bytes_equal_text(message->key, update->offer->id))
        check(err_set(&err, ERR_CORRUPT, "a record's key is not its offer's id"), &err);
    printf("%s %" PRId64 " %d %u %" PRId64 "\n", update->offer->id, update->offer->revision,
           (int)update->offer->status, update->shard, update->seq);
}

static void dump(struct topics *topics, const char *topic, uint32_t partition)
{
    uint64_t at, end;
    struct err err;

    check(topic_range(topics, topic, partition, &at, &end, &err), &err);
    while (at < end) {
        struct arena *arena = arena_new();
        const struct topic_message *messages;
        size_t count;

        check(topic_read(topics, topic, partition, at, READ_COUNT, 1000, arena, &messages, &count,
                         &err),
              &err);
        for (size_t i = 0; i < count; i++) {
            print(&messages[i], arena);
            at = messages[i].offset + 1;
        }
        arena_free(arena);
    }
}

int main(int argc, char **argv)
{
    struct topic_config config;
    struct topics *topics;
    char url[4096];
    struct err err;

    if (argc != 3) {
        fprintf(stderr, "usage: topic-dump DIR|URL TOPIC\n");
        return 2;
    }
    snprintf(url, sizeof(url), "%s%s", strstr(argv[1], "://") ? "" : "file:", argv[1]);
    check(topics_open(url, NULL, &topics, &err), &err);
    check(topic_describe(topics, argv[2], &config, &err), &err);
    for (uint32_t p = 0; p < config.partition_count; p++)
        dump(topics, argv[2], p);
    topics_close(topics);
    return 0;
}
