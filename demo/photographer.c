/* SPDX-License-Identifier: Apache-2.0 */
/* photographer.c - see photographer.h. */
#include "demo/photographer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/task.h"
#include "base/text.h"
#include "codec/message.h"
#include "demo/bounds.h"
#include "demo/drawing.h"
#include "demo/generator.h"
#include "model/topics.h"
#include "offers/export.h"
#include "offers/photo_results.h"
#include "photos/photo_folder.h"
#include "torg/v1/photo.pb-c.h"

#define GROUP "photos"

enum { RESULT_SIZE_MAX = 512 << 10, HASH_SIZE = 8 };

struct photographer {
    struct topics *topics; /* borrowed */
    struct blob *blob;     /* borrowed */
    struct consumer *consumer;
    struct task task;
};

/* What an address asks for. */
struct subject {
    struct bytes picture;
    struct bytes color;
    uint64_t number;
};

static struct bytes take_part(struct bytes *rest)
{
    const uint8_t *slash = rest->size ? memchr(rest->data, '/', rest->size) : NULL;
    struct bytes part = slash ? bytes_make(rest->data, (size_t)(slash - rest->data)) : *rest;

    *rest = bytes_skip(*rest, part.size + (slash ? 1 : 0));
    return part;
}

static struct subject subject_of(const char *url)
{
    struct bytes prefix = bytes_of(DEMO_PHOTO_PREFIX);
    struct bytes rest = bytes_of(url);
    struct subject subject;

    if (bytes_begin(rest, prefix)) {
        rest = bytes_skip(rest, prefix.size);
        subject.picture = take_part(&rest);
        subject.color = take_part(&rest);
        if (text_to_u64(rest, &subject.number))
            return subject;
    }
    return (struct subject){.number = hash64(bytes_of(url)) % DEMO_PICTURE_VARIANT_COUNT};
}

/* Puts the picture where it is not yet: the key is made of what is in it. */
static int put_picture(struct photographer *self, struct bytes content, const char *key,
                       struct arena *arena, struct err *err)
{
    const char *name = arena_printf(arena, PHOTO_BLOB_PREFIX "%s", key);
    uint64_t size;
    int rc = blob_stat(self->blob, name, &size, err);

    return rc == ERR_NOT_FOUND ? blob_put(self->blob, name, content, err) : rc;
}

static int answer_one(struct photographer *self, const Torg__V1__PhotoRequest__Item *wanted,
                      struct arena *arena, Torg__V1__PhotoResult__Item **answer, struct err *err)
{
    Torg__V1__PhotoResult__Item *item = (Torg__V1__PhotoResult__Item *)message_new(
        &torg__v1__photo_result__item__descriptor, arena);
    Torg__V1__PhotoSize *size =
        (Torg__V1__PhotoSize *)message_new(&torg__v1__photo_size__descriptor, arena);
    struct subject subject = subject_of(wanted->url);
    struct buf picture = BUF_INIT(DEMO_PICTURE_SIZE_MAX);
    uint64_t hash;
    int rc;

    drawing_put(subject.picture, subject.color, subject.number, &picture);
    assert(!buf_failed(&picture));
    hash = hash64(buf_bytes(&picture));
    size->key = arena_printf(arena, "%016" PRIx64 ".svg", hash);
    size->width = DRAWING_WIDTH;
    size->height = DRAWING_HEIGHT;
    size->size = (uint32_t)picture.size;
    item->url = wanted->url;
    item->attempt = 1;
    item->state = TORG__V1__PHOTO__STATE__READY;
    item->hash.data = arena_alloc(arena, HASH_SIZE);
    item->hash.len = HASH_SIZE;
    put_le64(item->hash.data, hash);
    item->sizes = arena_array(arena, 1, sizeof(*item->sizes));
    item->sizes[item->n_sizes++] = size;
    rc = put_picture(self, buf_bytes(&picture), size->key, arena, err);
    buf_release(&picture);
    *answer = item;
    return rc;
}

/* The answer to a request as a record; one that cannot be read has none (*record is empty). */
static int answer(struct photographer *self, const struct topic_message *message,
                  struct arena *arena, struct topic_record *record, struct err *err)
{
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    struct buf wire = BUF_INIT(RESULT_SIZE_MAX);
    const Torg__V1__PhotoRequest *request;
    ProtobufCMessage *decoded;
    int rc = 0;

    if (message_decode(message->value, &torg__v1__photo_request__descriptor, arena, &decoded,
                       err)) {
        log_warn("a request for photos cannot be read", LOG_TEXT("error", err->text));
        return 0;
    }
    request = (const Torg__V1__PhotoRequest *)decoded;
    result.offer_id = request->offer_id;
    result.revision = request->revision;
    result.photos = arena_array(arena, request->n_photos + 1, sizeof(*result.photos));
    for (size_t i = 0; i < request->n_photos && !rc; i++)
        rc = answer_one(self, request->photos[i], arena, &result.photos[result.n_photos++], err);
    if (!rc) {
        message_encode(&result.base, &wire);
        if (!buf_failed(&wire) && result.n_photos)
            *record = (struct topic_record){.key = arena_copy(arena, message->key),
                                            .value = arena_copy(arena, buf_bytes(&wire))};
    }
    buf_release(&wire);
    return rc;
}

static int answer_batch(struct photographer *self, const struct topic_message *messages,
                        size_t count, struct err *err)
{
    struct arena *arena = arena_new();
    struct topic_record *records = arena_array(arena, count, sizeof(*records));
    size_t record_count = 0;
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        rc = answer(self, &messages[i], arena, &records[record_count], err);
        record_count += records[record_count].value.size > 0;
    }
    if (!rc && record_count)
        rc = topic_produce(self->topics, TOPIC_PHOTO_RESULTS, records, record_count, NULL, err);
    arena_free(arena);
    return rc;
}

/* A batch is answered until it succeeds: those who ask wait for it. */
static void work(struct photographer *self)
{
    const struct topic_message *messages;
    struct err err;
    size_t count;
    int rc = consumer_poll(self->consumer, DEMO_POLL_MS, &messages, &count, &err);

    while (!rc && count) {
        rc = answer_batch(self, messages, count, &err);
        if (!rc)
            break;
        log_warn("photos are drawn again later", LOG_TEXT("error", err.text));
        if (!task_pause(&self->task, (int64_t)DEMO_RETRY_MS * MS_US))
            return;
        rc = 0;
    }
    if (!rc && count)
        rc = consumer_commit_polled(self->consumer, &err);
    if (rc && rc != ERR_STALE) { /* stale: another member has them now, and does them again */
        log_warn("requests for photos cannot be read", LOG_TEXT("error", err.text));
        task_pause(&self->task, (int64_t)DEMO_RETRY_MS * MS_US);
    }
}

static void run(struct task *task, void *arg)
{
    while (!task_is_stopping(task)) {
        task_says(task, "drawing photos");
        work(arg);
    }
}

int photographer_start(struct topics *topics, struct blob *blob, struct photographer **photographer,
                       struct err *err)
{
    static const char *const names[] = {TOPIC_PHOTO_REQUESTS};
    const struct consumer_options options = {
        .group = GROUP, .topics = names, .topic_count = 1, .start = TOPIC_START_EARLIEST};
    struct photographer *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "photographer", .run = run, .arg = self, .clock = topics_clock(topics)};
    int rc;

    *photographer = NULL;
    self->topics = topics;
    self->blob = blob;
    rc = consumer_open(topics, &options, &self->consumer, err);
    if (!rc)
        rc = task_start(&self->task, &task, err);
    if (rc) {
        consumer_close(self->consumer);
        free(self);
        return rc;
    }
    *photographer = self;
    return 0;
}

void photographer_stop(struct photographer *photographer)
{
    if (!photographer)
        return;
    task_stop(&photographer->task);
    consumer_close(photographer->consumer);
    free(photographer);
}
