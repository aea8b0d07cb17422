/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_file.c - a state as a file.
 *
 *     head      "TORGNUM1" | T S V G | shard count | ttl, hold generations | crc     of le32 each
 *     block     le32 size | le32 crc | records
 *     ...
 *     last      a block of size 0
 *
 * A block's crc covers its size and records, and begins with the crc before it, so that no block
 * can be missing, twice or elsewhere. Records do not lie across blocks; numbers in them are
 * varints, texts begin with their size:
 *
 *     1 class   shard, name                                  numbered by their order in the shard
 *     2 extent  shard, class, first / NUMBER_EXTENT_SIZE, used         in order within the shard
 *     3 free    shard, class, doc_id, generation
 *     4 key     shard, class, doc_id, birth, seen, key       in order of shards and numbers
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/varint.h"
#include "numerator/bounds.h"
#include "numerator/state_parts.h"

static const char magic[8] = {'T', 'O', 'R', 'G', 'N', 'U', 'M', '1'};

enum {
    HEAD_NUMBER_COUNT = 7,
    HEAD_SIZE = sizeof(magic) + HEAD_NUMBER_COUNT * 4 + 4,
    BLOCK_HEAD_SIZE = 8,
};
enum record_kind { RECORD_CLASS = 1, RECORD_EXTENT, RECORD_FREE, RECORD_KEY };

/* --- writing --- */

struct writer {
    int fd;
    uint32_t crc; /* of the block before */
    struct buf block;
    int rc;
};

static void begin_block(struct writer *writer)
{
    buf_reset(&writer->block);
    buf_reserve(&writer->block, BLOCK_HEAD_SIZE);
    buf_advance(&writer->block, BLOCK_HEAD_SIZE);
}

static void end_block(struct writer *writer, struct err *err)
{
    uint8_t *head = writer->block.data;
    size_t size = writer->block.size - BLOCK_HEAD_SIZE;

    put_le32(head, (uint32_t)size);
    writer->crc = crc32c(writer->crc, bytes_make(head, 4));
    writer->crc = crc32c(writer->crc, bytes_make(head + BLOCK_HEAD_SIZE, size));
    put_le32(head + 4, writer->crc);
    if (writer->rc == 0)
        writer->rc = file_write_all(writer->fd, buf_bytes(&writer->block), err);
    begin_block(writer);
}

/* Numbers, then perhaps a text. */
static void put_record(struct writer *writer, enum record_kind kind, const uint32_t *numbers,
                       size_t count, const struct bytes *text, struct err *err)
{
    buf_put_byte(&writer->block, (uint8_t)kind);
    for (size_t i = 0; i < count; i++)
        varint_put(&writer->block, numbers[i]);
    if (text) {
        varint_put(&writer->block, text->size);
        buf_put(&writer->block, *text);
    }
    if (writer->block.size >= NUMBER_BLOCK_SIZE)
        end_block(writer, err);
}

static void put_shard(struct writer *writer, const struct slots *slots, uint32_t shard,
                      struct err *err)
{
    for (uint32_t i = 0; i < slots->class_count; i++) {
        struct bytes name = slots_class_name(slots, i);

        put_record(writer, RECORD_CLASS, &shard, 1, &name, err);
    }
    for (uint32_t i = 0; i < slots->next_extent / NUMBER_EXTENT_SIZE; i++) {
        uint32_t class_no, used = slots_extent(slots, i, &class_no);

        put_record(writer, RECORD_EXTENT, (uint32_t[]){shard, class_no, i, used}, 4, NULL, err);
    }
    for (uint32_t i = 0; i < slots->class_count; i++)
        for (size_t j = 0; j < slots->classes[i].free_count; j++)
            put_record(writer, RECORD_FREE, (uint32_t[]){shard, i, slots->classes[i].free[j], 0}, 4,
                       NULL, err);
    for (size_t i = slots->held_first; i < slots->held_count; i++) {
        const struct slot_held *held = &slots->held[i];

        put_record(writer, RECORD_FREE,
                   (uint32_t[]){shard, held->class_no, held->doc_id, held->generation}, 4, NULL,
                   err);
    }
}

static void put_head(struct writer *writer, const struct number_state *state, struct err *err)
{
    const uint32_t numbers[HEAD_NUMBER_COUNT] = {
        state->version.kind,           state->version.scheme, state->version.rebuild,
        state->version.generation,     state->shard_count,    state->rules.ttl_generations,
        state->rules.hold_generations,
    };
    uint8_t head[HEAD_SIZE];

    memcpy(head, magic, sizeof(magic));
    for (int i = 0; i < HEAD_NUMBER_COUNT; i++)
        put_le32(head + sizeof(magic) + 4 * i, numbers[i]);
    writer->crc = crc32c(0, bytes_make(head, HEAD_SIZE - 4));
    put_le32(head + HEAD_SIZE - 4, writer->crc);
    writer->rc = file_write_all(writer->fd, bytes_make(head, HEAD_SIZE), err);
}

static int write_all(int fd, const struct number_state *state, struct err *err)
{
    struct writer writer = {.fd = fd};

    buf_init(&writer.block, 2 * NUMBER_BLOCK_SIZE);
    put_head(&writer, state, err);
    begin_block(&writer);
    for (uint32_t i = 0; i < state->shard_count; i++)
        put_shard(&writer, &state->shards[i], i, err);
    for (uint64_t i = 0; i < state->key_count && writer.rc == 0; i++) {
        const struct state_key *key = &state->keys[i];
        struct bytes text = state_key_bytes(state, key);

        put_record(&writer, RECORD_KEY,
                   (uint32_t[]){key->shard, key->class_no, key->doc_id, key->birth, key->seen}, 5,
                   &text, err);
    }
    if (writer.block.size > BLOCK_HEAD_SIZE)
        end_block(&writer, err);
    end_block(&writer, err);
    buf_release(&writer.block);
    return writer.rc;
}

int number_state_write(const struct number_state *state, const char *path, struct err *err)
{
    char *draft = NULL, *dir = mem_strdup(path), *slash = strrchr(dir, '/');
    int fd, rc;

    object_check(state, NUMBER_STATE_MAGIC);
    if (asprintf(&draft, "%s.%ld.draft", path, (long)getpid()) < 0)
        abort();
    fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    rc = fd < 0 ? err_errno(err, "create %s", draft) : write_all(fd, state, err);
    if (rc == 0 && fsync(fd))
        rc = err_errno(err, "sync %s", draft);
    if (fd >= 0 && close(fd) && rc == 0)
        rc = err_errno(err, "close %s", draft);
    if (rc == 0 && rename(draft, path))
        rc = err_errno(err, "rename %s", draft);
    if (rc && fd >= 0)
        unlink(draft);
    if (slash)
        *slash = 0;
    if (rc == 0)
        rc = dir_sync(!slash ? "." : slash == dir ? "/" : dir, err);
    free(draft);
    free(dir);
    return rc;
}

/* --- reading --- */

struct reader {
    struct bytes rest; /* of the file */
    size_t size;       /* of all of it */
    uint32_t crc;
    struct bytes block; /* what is left of it */
    struct number_state *state;
};

static int damaged(const struct reader *reader, const char *what, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "the state is damaged before byte %zu: %s",
                   reader->size - reader->rest.size, what);
}

static int decode_head(struct reader *reader, uint32_t numbers[HEAD_NUMBER_COUNT], struct err *err)
{
    struct bytes head = bytes_make(reader->rest.data, HEAD_SIZE);

    if (reader->rest.size < HEAD_SIZE || memcmp(head.data, magic, sizeof(magic)) != 0)
        return err_set(err, ERR_CORRUPT, "it is not a state of numbers, or it ends in its head");
    reader->rest = bytes_skip(reader->rest, HEAD_SIZE);
    reader->crc = crc32c(0, bytes_make(head.data, HEAD_SIZE - 4));
    if (reader->crc != get_le32(head.data + HEAD_SIZE - 4))
        return damaged(reader, "the head's checksum is another", err);
    for (int i = 0; i < HEAD_NUMBER_COUNT; i++)
        numbers[i] = get_le32(head.data + sizeof(magic) + 4 * i);
    if (numbers[4] == 0 || numbers[4] > NUMBER_SHARD_COUNT_MAX)
        return damaged(reader, "the number of shards", err);
    return 0;
}

static int next_block(struct reader *reader, struct err *err)
{
    uint32_t size;
    uint32_t crc;

    if (reader->rest.size < BLOCK_HEAD_SIZE)
        return damaged(reader, "it ends in the middle", err);
    size = get_le32(reader->rest.data);
    if (size > reader->rest.size - BLOCK_HEAD_SIZE)
        return damaged(reader, "it ends in the middle of a block", err);
    crc = crc32c(reader->crc, bytes_make(reader->rest.data, 4));
    reader->block = bytes_make(reader->rest.data + BLOCK_HEAD_SIZE, size);
    crc = crc32c(crc, reader->block);
    if (crc != get_le32(reader->rest.data + 4))
        return damaged(reader, "a block's checksum is another", err);
    reader->crc = crc;
    reader->rest = bytes_skip(reader->rest, BLOCK_HEAD_SIZE + size);
    return 0;
}

static bool get_numbers(struct reader *reader, uint32_t *numbers, int count)
{
    uint64_t number;

    for (int i = 0; i < count; i++) {
        if (!varint_get(&reader->block, &number) || number > UINT32_MAX)
            return false;
        numbers[i] = (uint32_t)number;
    }
    return true;
}

static bool get_text(struct reader *reader, size_t max, struct bytes *text)
{
    uint64_t size;

    if (!varint_get(&reader->block, &size) || size > max || size > reader->block.size)
        return false;
    *text = bytes_make(reader->block.data, size);
    reader->block = bytes_skip(reader->block, size);
    return true;
}

/* Every reader of a record says whether it is sound. */
static bool read_class(struct reader *reader)
{
    struct number_state *state = reader->state;
    uint32_t shard, before;
    struct bytes name;

    if (!get_numbers(reader, &shard, 1) || shard >= state->shard_count ||
        !get_text(reader, NUMBER_CLASS_SIZE_MAX, &name))
        return false;
    before = state->shards[shard].class_count;
    if (name.size == 0)
        return before == 1;
    return slots_class(&state->shards[shard], name) == before;
}

static bool read_extent(struct reader *reader)
{
    struct number_state *state = reader->state;
    uint32_t numbers[4];
    struct slots *slots;

    if (!get_numbers(reader, numbers, 4) || numbers[0] >= state->shard_count)
        return false;
    slots = &state->shards[numbers[0]];
    if (numbers[1] >= slots->class_count || numbers[2] >= NUMBER_ID_END / NUMBER_EXTENT_SIZE ||
        numbers[2] != slots->next_extent / NUMBER_EXTENT_SIZE || numbers[3] == 0 ||
        numbers[3] > NUMBER_EXTENT_SIZE ||
        slots->classes[numbers[1]].next != slots->classes[numbers[1]].end)
        return false;
    slots_restore_extent(slots, slots_class_name(slots, numbers[1]),
                         numbers[2] * NUMBER_EXTENT_SIZE, numbers[3]);
    return true;
}

/* The number was given, and is of the class. */
static bool is_given(const struct slots *slots, uint32_t class_no, uint32_t doc_id)
{
    uint32_t owner;

    return doc_id < slots->next_extent &&
           doc_id % NUMBER_EXTENT_SIZE < slots_extent(slots, doc_id / NUMBER_EXTENT_SIZE, &owner) &&
           owner == class_no;
}

static bool read_free(struct reader *reader)
{
    struct number_state *state = reader->state;
    uint32_t numbers[4];

    if (!get_numbers(reader, numbers, 4) || numbers[0] >= state->shard_count ||
        !is_given(&state->shards[numbers[0]], numbers[1], numbers[2]) ||
        numbers[3] > state->version.generation)
        return false;
    slots_restore_free(&state->shards[numbers[0]],
                       slots_class_name(&state->shards[numbers[0]], numbers[1]), numbers[2],
                       numbers[3], 0);
    return true;
}

static bool read_key(struct reader *reader)
{
    struct number_state *state = reader->state;
    uint32_t numbers[5];
    struct bytes key;

    if (!get_numbers(reader, numbers, 5) || numbers[0] >= state->shard_count ||
        !is_given(&state->shards[numbers[0]], numbers[1], numbers[2]) ||
        numbers[3] > state->version.generation || numbers[4] > state->version.generation ||
        !get_text(reader, NUMBER_KEY_SIZE_MAX, &key) || key.size == 0 ||
        state->key_count == NUMBER_STATE_KEY_MAX)
        return false;
    state_add(state, key,
              &(struct state_key){.shard = numbers[0],
                                  .class_no = numbers[1],
                                  .doc_id = numbers[2],
                                  .birth = numbers[3],
                                  .seen = numbers[4]});
    return true;
}

static int read_records(struct reader *reader, struct err *err)
{
    static bool (*const readers[])(struct reader *) = {
        [RECORD_CLASS] = read_class,
        [RECORD_EXTENT] = read_extent,
        [RECORD_FREE] = read_free,
        [RECORD_KEY] = read_key,
    };

    while (reader->block.size > 0) {
        uint8_t kind = reader->block.data[0];

        reader->block = bytes_skip(reader->block, 1);
        if (kind < RECORD_CLASS || kind > RECORD_KEY || !readers[kind](reader))
            return damaged(reader, "a record makes no sense", err);
    }
    return 0;
}

/* Every number that was given has one owner or is free. */
static int check_given(const struct number_state *state, struct err *err)
{
    uint64_t *there = mem_array(state->shard_count, sizeof(*there));
    int rc = 0;

    for (uint64_t i = 0; i < state->key_count; i++)
        there[state->keys[i].shard]++;
    for (uint32_t i = 0; rc == 0 && i < state->shard_count; i++) {
        const struct slots *slots = &state->shards[i];
        uint64_t given = 0;
        uint32_t class_no;

        for (uint32_t j = 0; j < slots->next_extent / NUMBER_EXTENT_SIZE; j++)
            given += slots_extent(slots, j, &class_no);
        if (given != there[i] + slots->held_count)
            rc = err_set(err, ERR_CORRUPT,
                         "shard %" PRIu32 " has given %" PRIu64 " numbers, and %" PRIu64
                         " have a key or are free",
                         i, given, there[i] + slots->held_count);
    }
    free(there);
    return rc;
}

int number_state_decode(struct bytes file, struct number_state **state, struct err *err)
{
    struct reader reader = {.rest = file, .size = file.size};
    uint32_t head[HEAD_NUMBER_COUNT];
    int rc;

    *state = NULL;
    rc = decode_head(&reader, head, err);
    if (rc)
        return rc;
    reader.state = number_state_new(
        &(struct number_version){head[0], head[1], head[2], head[3]}, head[4],
        &(struct number_rules){.ttl_generations = head[5], .hold_generations = head[6]});
    do {
        rc = next_block(&reader, err);
        if (rc)
            goto out;
        if (reader.block.size == 0)
            break;
        rc = read_records(&reader, err);
    } while (rc == 0);
    if (rc == 0 && reader.rest.size > 0)
        rc = damaged(&reader, "it goes on behind its end", err);
    for (uint32_t i = 0; rc == 0 && i < reader.state->shard_count; i++)
        slots_restored(&reader.state->shards[i], head[3]);
    if (rc == 0)
        rc = state_index(reader.state, 0, err);
    if (rc == 0)
        rc = check_given(reader.state, err);
out:
    if (rc)
        number_state_free(reader.state);
    else
        *state = reader.state;
    return rc;
}

/* The file in memory, for fn; what is damaged is told with its name. */
static int with_file(const char *path, int (*fn)(struct bytes file, void *arg, struct err *err),
                     void *arg, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
    void *data = MAP_FAILED;
    struct stat info;

    if (fd < 0)
        return err_errno(err, "open %s", path);
    if (fstat(fd, &info)) {
        rc = err_errno(err, "look at %s", path);
    } else if (info.st_size == 0) {
        rc = err_set(err, ERR_CORRUPT, "%s: it is empty", path);
    } else {
        data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        rc = data == MAP_FAILED ? err_errno(err, "read %s", path)
                                : fn(bytes_make(data, (size_t)info.st_size), arg, err);
    }
    if (data != MAP_FAILED) {
        munmap(data, (size_t)info.st_size);
        if (rc)
            err_wrap(err, "%s", path);
    }
    close(fd);
    return rc;
}

static int decode_whole(struct bytes file, void *arg, struct err *err)
{
    return number_state_decode(file, arg, err);
}

int number_state_read(const char *path, struct number_state **state, struct err *err)
{
    *state = NULL;
    return with_file(path, decode_whole, state, err);
}

static int decode_version(struct bytes file, void *arg, struct err *err)
{
    struct reader reader = {.rest = file, .size = file.size};
    uint32_t head[HEAD_NUMBER_COUNT];
    int rc = decode_head(&reader, head, err);

    if (rc == 0)
        *(struct number_version *)arg = (struct number_version){head[0], head[1], head[2], head[3]};
    return rc;
}

int number_state_read_version(const char *path, struct number_version *version, struct err *err)
{
    return with_file(path, decode_version, version, err);
}
