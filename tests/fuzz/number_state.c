/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a state of numbers. The first byte says how the rest is used: even, as the file;
 * odd, as a head's numbers and the records of one block, whose checksums are made right, or nothing
 * would get past them. What is read must be sound enough to go on.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/crc.h"
#include "base/endian.h"
#include "base/memory.h"
#include "numerator/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t put_block(struct buf *file, uint32_t crc, struct bytes records)
{
    uint8_t head[8];

    put_le32(head, (uint32_t)records.size);
    crc = crc32c(crc32c(crc, bytes_make(head, 4)), records);
    put_le32(head + 4, crc);
    buf_put_raw(file, head, sizeof(head));
    buf_put(file, records);
    return crc;
}

/* A byte each: T, S, V, G, shards, life, hold. */
static void put_file(struct buf *file, struct bytes input)
{
    uint8_t head[8 + 7 * 4 + 4] = "TORGNUM1";
    uint32_t crc;

    for (int i = 0; i < 7; i++)
        put_le32(head + 8 + 4 * i, input.data[i]);
    crc = crc32c(0, bytes_make(head, sizeof(head) - 4));
    put_le32(head + sizeof(head) - 4, crc);
    buf_put_raw(file, head, sizeof(head));
    if (input.size > 7)
        crc = put_block(file, crc, bytes_skip(input, 7));
    put_block(file, crc, BYTES_EMPTY);
}

static void go_on(struct bytes file)
{
    struct number_present keys[] = {{.key = bytes_of("a")}, {.key = bytes_of("new")}};
    struct number_state *state;
    struct number_run run;
    struct err err;

    if (number_state_decode(file, &state, &err))
        return;
    if (number_state_run(state, keys, ARRAY_COUNT(keys), &(struct number_run_options){0}, &run,
                         &err) == 0)
        for (uint64_t i = 0; i < number_state_key_count(state); i++)
            assert(number_state_entry(state, i).doc_id <
                   number_state_shard_size(state, number_state_entry(state, i).shard));
    number_state_free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf file = BUF_INIT(1 << 20);

    if (size > 8 && data[0] % 2 == 1)
        put_file(&file, bytes_make(data + 1, size - 1));
    else if (size > 0)
        buf_put_raw(&file, data + 1, size - 1);
    if (!buf_failed(&file))
        go_on(buf_bytes(&file));
    buf_release(&file);
    return 0;
}
