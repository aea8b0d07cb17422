/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_file.c - a state as a file.
 *
 *     head      "TORGNUM2" | T S V G | shard count | ttl, hold generations | lineage | crc
 *               of le32 each; "TORGNUM1" has no lineage
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
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/varint.h"
#include "numerator/bounds.h"
#include "numerator/state_parts.h"

static const char magics[][8] = {{'T', 'O', 'R', 'G', 'N', 'U', 'M', '1'},
                                 {'T', 'O', 'R', 'G', 'N', 'U', 'M', '2'}};

enum {
    HEAD_NUMBER_COUNT = 8, /* the last one is the lineage */
    MAGIC_SIZE = sizeof(magics[0]),
    HEAD_SIZE_MAX = MAGIC_SIZE + HEAD_NUMBER_COUNT * 4 + 4,
    BLOCK_HEAD_SIZE = 8,
    RECORD_NUMBER_MAX = 5,
};
enum record_kind { RECORD_CLASS = 1, RECORD_EXTENT, RECORD_FREE, RECORD_KEY };

/* --- writing --- */

struct writer {
    struct outlet *out;
    uint32_t crc; /* of the block before */
    struct buf block;
};

static void begin_block(struct writer *writer)
{
    buf_reset(&writer->block);
    buf_reserve(&writer->block, BLOCK_HEAD_SIZE);
    buf_advance(&writer->block, BLOCK_HEAD_SIZE);
}

static void end_block(struct writer *writer)
{
    uint8_t *head = writer->block.data;
    size_t size = writer->block.size - BLOCK_HEAD_SIZE;

    put_le32(head, (uint32_t)size);
    writer->crc = crc32c(writer->crc, bytes_make(head, 4));
    writer->crc = crc32c(writer->crc, bytes_make(head + BLOCK_HEAD_SIZE, size));
    put_le32(head + 4, writer->crc);
    outlet_put(writer->out, buf_bytes(&writer->block));
    begin_block(writer);
}

/* Numbers, then perhaps a text. */
static void put_record(struct writer *writer, enum record_kind kind, const uint32_t *numbers,
                       size_t count, const struct bytes *text)
{
    uint8_t head[1 + (RECORD_NUMBER_MAX + 1) * VARINT_SIZE_MAX];
    size_t size = 1;

    assert(count <= RECORD_NUMBER_MAX);
    head[0] = (uint8_t)kind;
    for (size_t i = 0; i < count; i++)
        size += varint_encode(numbers[i], head + size);
    if (text)
        size += varint_encode(text->size, head + size);
    buf_put_raw(&writer->block, head, size);
    if (text)
        buf_put(&writer->block, *text);
    if (writer->block.size >= NUMBER_BLOCK_SIZE)
        end_block(writer);
}

static void put_shard(struct writer *writer, const struct slots *slots, uint32_t shard)
{
    for (uint32_t i = 0; i < slots->class_count; i++) {
        struct bytes name = slots_class_name(slots, i);

        put_record(writer, RECORD_CLASS, &shard, 1, &name);
    }
    for (uint32_t i = 0; i < slots->next_extent / NUMBER_EXTENT_SIZE; i++) {
        uint32_t class_no, used = slots_extent(slots, i, &class_no);

        put_record(writer, RECORD_EXTENT, (uint32_t[]){shard, class_no, i, used}, 4, NULL);
    }
    for (uint32_t i = 0; i < slots->class_count; i++)
        for (size_t j = 0; j < slots->classes[i].free_count; j++)
            put_record(writer, RECORD_FREE, (uint32_t[]){shard, i, slots->classes[i].free[j], 0}, 4,
                       NULL);
    for (size_t i = slots->held_first; i < slots->held_count; i++) {
        const struct slot_held *held = &slots->held[i];

        put_record(writer, RECORD_FREE,
                   (uint32_t[]){shard, held->class_no, held->doc_id, held->generation}, 4, NULL);
    }
}

/* Without its checksum. */
static size_t head_size(bool has_lineage)
{
    return MAGIC_SIZE + 4 * (size_t)(HEAD_NUMBER_COUNT - !has_lineage);
}

static void put_head(struct writer *writer, const struct number_state *state)
{
    const uint32_t numbers[HEAD_NUMBER_COUNT] = {
        state->version.kind,           state->version.scheme, state->version.rebuild,
        state->version.generation,     state->shard_count,    state->rules.ttl_generations,
        state->rules.hold_generations, state->lineage,
    };
    const size_t size = head_size(state->lineage != 0);
    uint8_t head[HEAD_SIZE_MAX];

    memcpy(head, magics[state->lineage != 0], MAGIC_SIZE);
    for (int i = 0; i < HEAD_NUMBER_COUNT; i++)
        put_le32(head + MAGIC_SIZE + 4 * i, numbers[i]);
    writer->crc = crc32c(0, bytes_make(head, size));
    put_le32(head + size, writer->crc);
    outlet_put(writer->out, bytes_make(head, size + 4));
}

void number_state_put(const struct number_state *state, struct outlet *out)
{
    struct writer writer = {.out = out};

    object_check(state, NUMBER_STATE_MAGIC);
    buf_init(&writer.block, 2 * NUMBER_BLOCK_SIZE);
    put_head(&writer, state);
    begin_block(&writer);
    for (uint32_t i = 0; i < state->shard_count; i++)
        put_shard(&writer, &state->shards[i], i);
    for (uint64_t i = 0; i < state->key_count; i++) {
        const struct state_key *key = &state->keys[i];
        struct bytes text = state_key_bytes(state, key);

        put_record(&writer, RECORD_KEY,
                   (uint32_t[]){key->shard, key->class_no, key->doc_id, key->birth, key->seen}, 5,
                   &text);
    }
    if (writer.block.size > BLOCK_HEAD_SIZE)
        end_block(&writer);
    end_block(&writer);
    buf_release(&writer.block);
}

int number_state_write(const struct number_state *state, const char *path, struct err *err)
{
    struct outlet *out;
    int rc = outlet_open(path, NULL, &out, err);

    if (rc)
        return rc;
    number_state_put(state, out);
    return outlet_commit(out, err);
}

/* --- reading --- */

struct reader {
    struct inlet *in;  /* that more comes from; NULL: the rest is all */
    struct buf window; /* then: where the rest lies */
    struct bytes rest; /* not looked at yet */
    uint64_t position; /* of the rest, in the file */
    uint32_t crc;
    struct bytes block; /* what is left of it */
    struct number_state *state;
};

static int damaged(const struct reader *reader, const char *what, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "the state is damaged before byte %" PRIu64 ": %s",
                   reader->position, what);
}

static void skip(struct reader *reader, size_t size)
{
    reader->rest = bytes_skip(reader->rest, size);
    reader->position += size;
}

/* Has at least `size` bytes at hand, or all that there are. */
static int fetch(struct reader *reader, size_t size, struct err *err)
{
    int rc = 0;

    if (!reader->in || reader->rest.size >= size)
        return 0;
    buf_consume(&reader->window, reader->window.size - reader->rest.size);
    for (size_t before = SIZE_MAX;
         rc == 0 && reader->window.size < size && reader->window.size != before;) {
        before = reader->window.size;
        rc = inlet_read(reader->in, &reader->window, NUMBER_PIECE_SIZE, err);
    }
    reader->rest = buf_bytes(&reader->window);
    return rc;
}

static int decode_head(struct reader *reader, uint32_t numbers[HEAD_NUMBER_COUNT], struct err *err)
{
    int rc = fetch(reader, HEAD_SIZE_MAX, err);
    const uint8_t *head = reader->rest.data;
    bool has_lineage;
    size_t size;

    if (rc)
        return rc;
    has_lineage = reader->rest.size >= MAGIC_SIZE && memcmp(head, magics[1], MAGIC_SIZE) == 0;
    size = head_size(has_lineage);
    if (reader->rest.size < size + 4 || memcmp(head, magics[has_lineage], MAGIC_SIZE) != 0)
        return err_set(err, ERR_CORRUPT, "it is not a state of numbers, or it ends in its head");
    skip(reader, size + 4);
    reader->crc = crc32c(0, bytes_make(head, size));
    if (reader->crc != get_le32(head + size))
        return damaged(reader, "the head's checksum is wrong", err);
    for (int i = 0; i < HEAD_NUMBER_COUNT - !has_lineage; i++)
        numbers[i] = get_le32(head + MAGIC_SIZE + 4 * i);
    if (numbers[4] == 0 || numbers[4] > NUMBER_SHARD_COUNT_MAX)
        return damaged(reader, "the number of shards", err);
    return 0;
}

static int next_block(struct reader *reader, struct err *err)
{
    uint32_t size;
    uint32_t crc;
    int rc = fetch(reader, BLOCK_HEAD_SIZE, err);

    if (rc)
        return rc;
    if (reader->rest.size < BLOCK_HEAD_SIZE)
        return damaged(reader, "it ends in the middle", err);
    size = get_le32(reader->rest.data);
    if (size > NUMBER_BLOCK_SIZE * 2)
        return damaged(reader, "a block is too large", err);
    rc = fetch(reader, BLOCK_HEAD_SIZE + size, err);
    if (rc)
        return rc;
    if (size > reader->rest.size - BLOCK_HEAD_SIZE)
        return damaged(reader, "it ends in the middle of a block", err);
    crc = crc32c(reader->crc, bytes_make(reader->rest.data, 4));
    reader->block = bytes_make(reader->rest.data + BLOCK_HEAD_SIZE, size);
    crc = crc32c(crc, reader->block);
    if (crc != get_le32(reader->rest.data + 4))
        return damaged(reader, "a block's checksum is wrong", err);
    reader->crc = crc;
    skip(reader, BLOCK_HEAD_SIZE + size);
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
                                  .seen = numbers[4]},
              state->shard_count);
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

static int read_blocks(struct reader *reader, struct err *err)
{
    int rc;

    do {
        rc = next_block(reader, err);
        if (rc || reader->block.size == 0)
            break;
        rc = read_records(reader, err);
    } while (rc == 0);
    if (rc == 0)
        rc = fetch(reader, 1, err);
    if (rc == 0 && reader->rest.size > 0)
        rc = damaged(reader, "it goes on past its end", err);
    return rc;
}

static int decode(struct reader *reader, struct number_state **state, struct err *err)
{
    uint32_t head[HEAD_NUMBER_COUNT] = {0};
    int rc = decode_head(reader, head, err);

    *state = NULL;
    if (rc)
        return rc;
    reader->state = number_state_new(
        &(struct number_version){head[0], head[1], head[2], head[3]}, head[4],
        &(struct number_rules){.ttl_generations = head[5], .hold_generations = head[6]});
    reader->state->lineage = head[HEAD_NUMBER_COUNT - 1];
    rc = read_blocks(reader, err);
    for (uint32_t i = 0; rc == 0 && i < reader->state->shard_count; i++)
        slots_restored(&reader->state->shards[i], head[3]);
    if (rc == 0)
        rc = state_sort(reader->state, err);
    if (rc == 0)
        rc = state_index(reader->state, 0, err);
    if (rc == 0)
        rc = check_given(reader->state, err);
    if (rc)
        number_state_free(reader->state);
    else
        *state = reader->state;
    return rc;
}

int number_state_decode(struct bytes file, struct number_state **state, struct err *err)
{
    struct reader reader = {.rest = file};

    return decode(&reader, state, err);
}

static int get_state(struct inlet *in, struct number_state **state, struct err *err)
{
    struct reader reader = {.in = in, .window = BUF_INIT(4 * NUMBER_PIECE_SIZE)};
    int rc = decode(&reader, state, err);

    buf_release(&reader.window);
    return rc;
}

int number_state_load(const char *name, struct blob *blob, struct number_state **state,
                      struct err *err)
{
    struct inlet *in;
    int rc = inlet_open(name, blob, &in, err);

    *state = NULL;
    if (rc)
        return rc;
    rc = get_state(in, state, err);
    inlet_close(in);
    return rc ? err_wrap(err, "%s", name) : 0;
}

int number_state_read(const char *path, struct number_state **state, struct err *err)
{
    return number_state_load(path, NULL, state, err);
}

int number_state_load_version(const char *name, struct blob *blob, struct number_version *version,
                              struct err *err)
{
    uint32_t head[HEAD_NUMBER_COUNT];
    struct reader reader = {.window = BUF_INIT(4 * NUMBER_PIECE_SIZE)};
    int rc = inlet_open(name, blob, &reader.in, err);

    if (rc)
        return rc;
    rc = decode_head(&reader, head, err);
    if (rc == 0)
        *version = (struct number_version){head[0], head[1], head[2], head[3]};
    buf_release(&reader.window);
    inlet_close(reader.in);
    return rc ? err_wrap(err, "%s", name) : 0;
}
