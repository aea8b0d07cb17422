/* SPDX-License-Identifier: Apache-2.0 */
/* photographer.c - see photographer.h. */
#include "demo/photographer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"
#include "demo/bounds.h"
#include "demo/drawing.h"
#include "demo/generator.h"
#include "model/topics.h"
#include "photos/photo_folder.h"
#include "stage/reader.h"
#include "torg/v1/photo.pb-c.h"

enum { RESULT_SIZE_MAX = 512 << 10, HASH_SIZE = 8, POLL_COUNT = 256 };

struct photographer {
    struct topics *topics; /* borrowed */
    struct blob *blob;     /* borrowed */
    struct stage_reader *reader;
    struct topic_record records[POLL_COUNT]; /* answers of a poll, borrowed from its arena */
    size_t record_count;
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
    Torg__V1__PhotoResult__Item *item = MESSAGE_NEW(photo_result__item, arena);
    Torg__V1__PhotoSize *size = MESSAGE_NEW(photo_size, arena);
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

/* The answer to a request becomes a record that flush sends. */
static int answer(void *arg, const struct topic_message *message, struct arena *arena,
                  struct err *err)
{
    struct photographer *self = arg;
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    struct buf wire = BUF_INIT(RESULT_SIZE_MAX);
    const Torg__V1__PhotoRequest *request;
    ProtobufCMessage *decoded;
    int rc =
        message_decode(message->value, &torg__v1__photo_request__descriptor, arena, &decoded, err);

    if (rc)
        return rc;
    request = (const Torg__V1__PhotoRequest *)decoded;
    result.offer_id = request->offer_id;
    result.revision = request->revision;
    result.photos = arena_array(arena, request->n_photos + 1, sizeof(*result.photos));
    for (size_t i = 0; i < request->n_photos && !rc; i++)
        rc = answer_one(self, request->photos[i], arena, &result.photos[result.n_photos++], err);
    message_encode(&result.base, &wire);
    if (!rc && buf_failed(&wire))
        rc = err_set(err, ERR_LIMIT, "the answer is larger than %d bytes", RESULT_SIZE_MAX);
    if (!rc && result.n_photos) {
        assert(self->record_count < ARRAY_COUNT(self->records));
        self->records[self->record_count++] = (struct topic_record){
            .key = message->key, .value = arena_copy(arena, buf_bytes(&wire))};
    }
    buf_release(&wire);
    return rc;
}

/* Those of all partitions at once: an answer that comes again is no news. */
static int flush(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err)
{
    struct photographer *self = arg;
    int rc = 0;

    (void)partition;
    (void)is_forced;
    if (self->record_count)
        rc = topic_produce(self->topics, TOPIC_PHOTO_RESULTS, self->records, self->record_count,
                           NULL, err);
    if (!rc)
        self->record_count = 0;
    *is_flushed = !rc;
    return rc;
}

int photographer_start(struct topics *topics, struct blob *blob, struct store *store,
                       struct photographer **photographer, struct err *err)
{
    static const struct stage_reader_handler handler = {.take = answer, .flush = flush};
    struct photographer *self = mem_zero(sizeof(*self));
    const struct stage_reader_options options = {.stage = "photographer",
                                                 .topic = TOPIC_PHOTO_REQUESTS,
                                                 .group = "photos",
                                                 .handler = &handler,
                                                 .arg = self,
                                                 .topics = topics,
                                                 .store = store,
                                                 .clock = topics_clock(topics),
                                                 .order = PARKED_ASIDE,
                                                 .poll_count = POLL_COUNT};
    int rc;

    self->topics = topics;
    self->blob = blob;
    rc = stage_reader_start(&options, &self->reader, err);
    if (rc) {
        photographer_stop(self);
        self = NULL;
    }
    *photographer = self;
    return rc;
}

void photographer_stop(struct photographer *photographer)
{
    if (!photographer)
        return;
    stage_reader_stop(photographer->reader);
    free(photographer);
}
