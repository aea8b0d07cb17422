/* SPDX-License-Identifier: Apache-2.0 */
/*
 * photos_fake.c - stands in for the photos role in tests: answers requests without a network.
 *
 *     photos-fake TOPICS_URL drain     answers what is there, and ends
 *     photos-fake TOPICS_URL run       answers until it is ended by a signal
 *
 * An address with "bad" in it fails, every other is ready. Each answer is sent twice, and a request
 * is committed after that: as careless a role as the messages allow. "drain" wants a directory that
 * no server has open. It prints a line a request: "ID REVISION COUNT".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "codec/message.h"
#include "topic/topic.h"
#include "torg/v1/photo.pb-c.h"

#define REQUESTS "photo-requests"
#define RESULTS "photo-results"
#define GROUP "photos"

enum { POLL_MS = 200, RESULT_SIZE_MAX = 512 << 10, EACH_COUNT = 2 };

static void check(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "photos-fake: %s\n", err->text);
        exit(1);
    }
}

/* A fault of the world, which a role gets over: a server that is slow, a partition that is
 * another's now, whose requests are read again. */
static bool passes(int rc, const struct err *err)
{
    if (rc != ERR_UNAVAILABLE && rc != ERR_TIMEOUT && rc != ERR_STALE)
        return false;
    fprintf(stderr, "photos-fake: goes on: %s\n", err->text);
    return true;
}

static Torg__V1__PhotoResult__Item *answer(const Torg__V1__PhotoRequest__Item *wanted,
                                           struct arena *arena)
{
    Torg__V1__PhotoResult__Item *item = (Torg__V1__PhotoResult__Item *)message_new(
        &torg__v1__photo_result__item__descriptor, arena);
    char *hash = arena_printf(arena, "%016" PRIx64, hash64(bytes_of(wanted->url)));

    item->url = wanted->url;
    item->attempt = 1;
    if (strstr(wanted->url, "bad")) {
        item->state = TORG__V1__PHOTO__STATE__FAILED;
        item->reason = arena_strdup(arena, "the address answered 404");
        return item;
    }
    item->state = TORG__V1__PHOTO__STATE__READY;
    item->hash.data = (uint8_t *)hash;
    item->hash.len = strlen(hash);
    item->sizes = arena_array(arena, 1, sizeof(*item->sizes));
    item->sizes[item->n_sizes++] =
        (Torg__V1__PhotoSize *)message_new(&torg__v1__photo_size__descriptor, arena);
    item->sizes[0]->key = arena_printf(arena, "photos/%s/640", hash);
    item->sizes[0]->width = 640;
    item->sizes[0]->height = 480;
    item->sizes[0]->size = 50000;
    return item;
}

static void serve(struct topics *topics, const struct topic_message *message)
{
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    struct buf wire = BUF_INIT(RESULT_SIZE_MAX);
    struct arena *arena = arena_new();
    struct topic_record records[EACH_COUNT];
    const Torg__V1__PhotoRequest *request;
    ProtobufCMessage *decoded;
    struct err err;
    int rc;

    check(
        message_decode(message->value, &torg__v1__photo_request__descriptor, arena, &decoded, &err),
        &err);
    request = (const Torg__V1__PhotoRequest *)decoded;
    result.offer_id = request->offer_id;
    result.revision = request->revision;
    result.photos = arena_array(arena, request->n_photos, sizeof(*result.photos));
    for (size_t i = 0; i < request->n_photos; i++)
        result.photos[result.n_photos++] = answer(request->photos[i], arena);
    message_encode(&result.base, &wire);
    for (size_t i = 0; i < EACH_COUNT; i++)
        records[i] = (struct topic_record){.key = message->key, .value = buf_bytes(&wire)};
    do {
        rc = topic_produce(topics, RESULTS, records, EACH_COUNT, NULL, &err);
    } while (passes(rc, &err));
    check(rc, &err);
    printf("%s %" PRId64 " %zu\n", request->offer_id, request->revision, request->n_photos);
    fflush(stdout);
    buf_release(&wire);
    arena_free(arena);
}

static bool is_drained(struct topics *topics)
{
    struct topic_config config;
    uint64_t left = 0;
    struct err err;

    check(topic_describe(topics, REQUESTS, &config, &err), &err);
    for (uint32_t p = 0; p < config.partition_count; p++) {
        struct topic_lag lag;

        check(topic_lag(topics, GROUP, REQUESTS, p, &lag, &err), &err);
        left += lag.lag;
    }
    return left == 0;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {REQUESTS};
    const struct consumer_options options = {
        .group = GROUP, .topics = names, .topic_count = 1, .start = TOPIC_START_EARLIEST};
    struct consumer *consumer;
    struct topics *topics;
    bool drain = argc == 3 && strcmp(argv[2], "drain") == 0;
    struct err err;

    if (argc != 3 || (!drain && strcmp(argv[2], "run") != 0)) {
        fprintf(stderr, "usage: photos-fake TOPICS_URL drain|run\n");
        return 2;
    }
    check(topics_open(argv[1], NULL, &topics, &err), &err);
    check(consumer_open(topics, &options, &consumer, &err), &err);
    while (!drain || !is_drained(topics)) {
        const struct topic_message *messages;
        size_t count;
        int rc = consumer_poll(consumer, POLL_MS, &messages, &count, &err);

        if (passes(rc, &err))
            continue;
        check(rc, &err);
        for (size_t i = 0; i < count; i++)
            serve(topics, &messages[i]);
        rc = count ? consumer_commit_polled(consumer, &err) : 0;
        if (!passes(rc, &err))
            check(rc, &err);
    }
    consumer_close(consumer);
    topics_close(topics);
    return 0;
}
