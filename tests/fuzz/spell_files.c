/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a base of words, and what was learnt, of any bytes. The checksum is put right first,
 * or nothing would get past it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/memory.h"
#include "spell/base.h"
#include "spell/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CRC_PLACE = sizeof("torg learnt 2\n") - 1, CRC_END = CRC_PLACE + 4 };
    struct epoch *epoch = epoch_new();
    struct words *words = words_new(epoch);
    struct pairs *pairs = pairs_new(epoch);
    struct buf note = BUF_INIT(SPELL_SNAPSHOT_SIZE_MAX);
    uint8_t *copy = mem_alloc(size + 1);
    struct err err;

    memcpy(copy, data, size);
    if (size >= CRC_END)
        put_le32(copy + CRC_PLACE, crc32c(0, bytes_make(copy + CRC_END, size - CRC_END)));
    snapshot_read(bytes_make(copy, size), &note, words, pairs, &err);
    base_load(bytes_make(data, size), words, NULL, &err);
    buf_release(&note);
    free(copy);
    pairs_free(pairs);
    words_free(words);
    epoch_free(epoch);
    return 0;
}
