/* SPDX-License-Identifier: Apache-2.0 */
/* tail.c - see tail.h. */
#include "searcher/replica/tail.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/varint.h"
#include "searcher/bounds.h"

enum { PATH_SIZE = 512, READ_MS = 1000, HASH_SIZE = 8 };
#define MARK "tail"

static void path_of(const char *dir, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/tail", dir);
}

/* --- writing --- */

static int put_messages(struct buf *out, struct topics *topics, const char *topic,
                        uint32_t partition, uint64_t offset, uint64_t end, struct err *err)
{
    struct arena *arena = arena_new();
    int rc = 0;

    while (!rc && offset < end) {
        const struct topic_message *messages;
        size_t count = 0;

        arena_reset(arena);
        rc = topic_read(topics, topic, partition, offset, SEARCHER_REPLAY_COUNT, READ_MS, arena,
                        &messages, &count, err);
        if (!rc && !count)
            rc = err_set(err, ERR_UNAVAILABLE, "%s, message %ju: it does not come", topic,
                         (uintmax_t)offset);
        for (size_t i = 0; i < count && offset < end && !rc; i++) {
            if (messages[i].offset != offset)
                rc = err_set(err, ERR_RANGE, "%s has no message %ju", topic, (uintmax_t)offset);
            varint_put(out, (uint64_t)messages[i].timestamp_us);
            varint_put(out, messages[i].value.size);
            buf_put(out, messages[i].value);
            offset++;
        }
        if (!rc && buf_failed(out))
            rc = err_set(err, ERR_LIMIT, "too much arrived while a checkpoint was written");
    }
    arena_free(arena);
    return rc;
}

int tail_save(const char *dir, struct topics *topics, const char *topic, uint32_t partition,
              uint64_t offset, uint64_t end, struct err *err)
{
    struct buf out = BUF_INIT(SEARCHER_TAIL_SIZE_MAX);
    char path[PATH_SIZE];
    uint8_t hash[HASH_SIZE];
    int rc;

    path_of(dir, path);
    if (offset == end) {
        (void)unlink(path);
        return 0;
    }
    buf_put_text(&out, MARK);
    varint_put(&out, offset);
    varint_put(&out, end);
    rc = put_messages(&out, topics, topic, partition, offset, end, err);
    if (!rc) {
        put_le64(hash, hash64(buf_bytes(&out)));
        out.limit += sizeof(hash);
        buf_put_raw(&out, hash, sizeof(hash));
        rc = file_write(path, buf_bytes(&out), err);
    }
    buf_release(&out);
    return rc;
}

/* --- reading --- */

static bool take_messages(struct bytes in, struct tail *tail, struct arena *arena)
{
    uint64_t offset, end;

    if (!varint_get(&in, &offset) || !varint_get(&in, &end) || offset != tail->offset ||
        end != tail->end || end - offset > in.size)
        return false;
    tail->messages = arena_array(arena, (size_t)(end - offset), sizeof(*tail->messages));
    for (size_t i = 0; i < end - offset; i++) {
        uint64_t time_us, size;

        if (!varint_get(&in, &time_us) || !varint_get(&in, &size) || size > in.size)
            return false;
        tail->messages[i] =
            (struct topic_message){.offset = offset + i,
                                   .timestamp_us = (int64_t)time_us,
                                   .value = arena_copy(arena, bytes_make(in.data, (size_t)size))};
        in = bytes_make(in.data + size, in.size - (size_t)size);
    }
    return in.size == 0;
}

int tail_load(const char *dir, struct tail *tail, struct arena *arena, struct err *err)
{
    struct buf in = BUF_INIT(SEARCHER_TAIL_SIZE_MAX + HASH_SIZE);
    const size_t mark_size = strlen(MARK);
    char path[PATH_SIZE];
    struct bytes content;
    int rc;

    path_of(dir, path);
    rc = file_read(path, &in, err);
    content = bytes_make(in.data, in.size < HASH_SIZE ? 0 : in.size - HASH_SIZE);
    if (!rc && (content.size < mark_size || memcmp(content.data, MARK, mark_size) != 0 ||
                get_le64(in.data + content.size) != hash64(content) ||
                !take_messages(bytes_make(content.data + mark_size, content.size - mark_size), tail,
                               arena)))
        rc = err_set(err, ERR_NOT_FOUND, "%s belongs to another checkpoint, or is damaged", path);
    buf_release(&in);
    return rc;
}
