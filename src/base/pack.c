/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - see pack.h. */
#include "base/pack.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <zdict.h>
#include <zstd.h>

#include "base/object.h"

enum { FORM_RAW, FORM_ZSTD, FORM_DICTIONARY };
/* 2 KB of an offer: packed in 9 us and opened in 3, to 1/1.9. Level 1: 14 us, 5 us, 1/2.1. With a
 * dictionary level 1 is no slower: 0.9 KB in 3.7 us to 1/3.3, against 4.1 us and 1/2.9. */
enum { LEVEL = -1, DICTIONARY_LEVEL = 1, FRAME_LEVEL = 12 };

/* A context is some hundred KB, and making one costs more than packing an offer with it. */
struct contexts {
    ZSTD_CCtx *pack;
    ZSTD_DCtx *open;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void free_contexts(void *arg)
{
    struct contexts *contexts = arg;

    ZSTD_freeCCtx(contexts->pack);
    ZSTD_freeDCtx(contexts->open);
    free(contexts);
}

static void make_key(void)
{
    if (pthread_key_create(&key, free_contexts))
        abort();
}

static struct contexts *contexts_of_thread(void)
{
    struct contexts *contexts;

    pthread_once(&once, make_key);
    contexts = pthread_getspecific(key);
    if (contexts)
        return contexts;
    contexts = malloc(sizeof(*contexts));
    if (!contexts)
        abort();
    *contexts = (struct contexts){.pack = ZSTD_createCCtx(), .open = ZSTD_createDCtx()};
    if (!contexts->pack || !contexts->open || pthread_setspecific(key, contexts))
        abort();
    return contexts;
}

enum { PACK_DICTIONARY_MAGIC = OBJECT_MAGIC('p', 'd', 'i', 'c') };

struct pack_dictionary {
    uint32_t magic;
    ZSTD_CDict *pack;
    ZSTD_DDict *open;
};

void pack_put_frame(struct buf *out, struct bytes raw)
{
    size_t bound = ZSTD_compressBound(raw.size);
    uint8_t *to = buf_reserve(out, bound);
    size_t size;

    if (!to)
        return; /* the buffer remembers */
    size = ZSTD_compress(to, bound, raw.data, raw.size, FRAME_LEVEL);
    if (ZSTD_isError(size))
        abort(); /* out of memory: the room is enough */
    buf_advance(out, size);
}

void pack_put(struct buf *out, struct bytes raw, size_t size_min)
{
    pack_put_with(out, raw, size_min, NULL);
}

static size_t compress(uint8_t *to, size_t size, struct bytes raw,
                       const struct pack_dictionary *dictionary)
{
    ZSTD_CCtx *context = contexts_of_thread()->pack;

    if (dictionary)
        return ZSTD_compress_usingCDict(context, to, size, raw.data, raw.size, dictionary->pack);
    return ZSTD_compressCCtx(context, to, size, raw.data, raw.size, LEVEL);
}

void pack_put_with(struct buf *out, struct bytes raw, size_t size_min,
                   const struct pack_dictionary *dictionary)
{
    size_t start = out->size;
    size_t bound = ZSTD_compressBound(raw.size);
    uint8_t *room;
    size_t size;

    if (raw.size >= size_min && raw.size) {
        buf_put_byte(out, dictionary ? FORM_DICTIONARY : FORM_ZSTD);
        room = buf_reserve(out, bound);
        if (!room)
            return;
        size = compress(room, bound, raw, dictionary);
        assert(!ZSTD_isError(size));
        if (size < raw.size) {
            buf_advance(out, size);
            return;
        }
        buf_truncate(out, start);
    }
    buf_put_byte(out, FORM_RAW);
    buf_put(out, raw);
}

static int open_frame(struct bytes frame, size_t size_max, const struct pack_dictionary *dictionary,
                      struct arena *arena, struct bytes *raw, struct err *err)
{
    ZSTD_DCtx *context = contexts_of_thread()->open;
    unsigned long long told = ZSTD_getFrameContentSize(frame.data, frame.size);
    uint8_t *room;
    size_t size;

    if (told == ZSTD_CONTENTSIZE_ERROR || told == ZSTD_CONTENTSIZE_UNKNOWN)
        return err_set(err, ERR_CORRUPT, "packed bytes have no frame of a known size");
    if (told > size_max)
        return err_set(err, ERR_LIMIT, "packed bytes unpack to %llu; the limit is %zu", told,
                       size_max);
    room = arena_alloc(arena, told ? (size_t)told : 1);
    size = dictionary ? ZSTD_decompress_usingDDict(context, room, (size_t)told, frame.data,
                                                   frame.size, dictionary->open)
                      : ZSTD_decompressDCtx(context, room, (size_t)told, frame.data, frame.size);
    if (ZSTD_isError(size) || size != told)
        return err_set(err, ERR_CORRUPT, "packed bytes are damaged: %s",
                       ZSTD_isError(size) ? ZSTD_getErrorName(size) : "cut short");
    *raw = bytes_make(room, size);
    return 0;
}

int pack_open(struct bytes packed, size_t size_max, struct arena *arena, struct bytes *raw,
              struct err *err)
{
    return pack_open_with(packed, size_max, NULL, arena, raw, err);
}

int pack_open_with(struct bytes packed, size_t size_max, const struct pack_dictionary *dictionary,
                   struct arena *arena, struct bytes *raw, struct err *err)
{
    struct bytes rest;

    *raw = BYTES_EMPTY;
    if (!packed.size)
        return err_set(err, ERR_CORRUPT, "packed bytes are empty");
    rest = bytes_skip(packed, 1);
    if (packed.data[0] == FORM_ZSTD)
        return open_frame(rest, size_max, NULL, arena, raw, err);
    if (packed.data[0] == FORM_DICTIONARY && dictionary)
        return open_frame(rest, size_max, dictionary, arena, raw, err);
    if (packed.data[0] != FORM_RAW)
        return err_set(err, ERR_CORRUPT, "packed bytes have the unknown form %u", packed.data[0]);
    if (rest.size > size_max)
        return err_set(err, ERR_LIMIT, "%zu packed bytes; the limit is %zu", rest.size, size_max);
    *raw = rest;
    return 0;
}

/* ---- dictionaries ---- */

bool pack_train(struct bytes samples, const size_t *sizes, unsigned count, size_t size_max,
                struct buf *out)
{
    uint8_t *room = buf_reserve(out, size_max);
    size_t size;

    if (!room)
        return false;
    size = ZDICT_trainFromBuffer(room, size_max, samples.data, sizes, count);
    if (ZDICT_isError(size))
        return false;
    buf_advance(out, size);
    return true;
}

struct pack_dictionary *pack_dictionary_new(struct bytes trained)
{
    struct pack_dictionary *dictionary = malloc(sizeof(*dictionary));

    if (!dictionary)
        abort();
    object_begin(dictionary, PACK_DICTIONARY_MAGIC);
    dictionary->pack = ZSTD_createCDict(trained.data, trained.size, DICTIONARY_LEVEL);
    dictionary->open = ZSTD_createDDict(trained.data, trained.size);
    if (dictionary->pack && dictionary->open)
        return dictionary;
    pack_dictionary_free(dictionary);
    return NULL;
}

void pack_dictionary_free(struct pack_dictionary *dictionary)
{
    if (!dictionary)
        return;
    object_check(dictionary, PACK_DICTIONARY_MAGIC);
    ZSTD_freeCDict(dictionary->pack);
    ZSTD_freeDDict(dictionary->open);
    object_end(dictionary, PACK_DICTIONARY_MAGIC);
    free(dictionary);
}
