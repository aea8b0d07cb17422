/* SPDX-License-Identifier: Apache-2.0 */
/* outside_file.c - see outside_file.h. */
#include "index/columns/outside_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "index/bounds.h"
#include "index/schema.h"

enum { FORMAT = 2, LINEAGE_AT = 44, SUM_AT = 48 }; /* of format 1 the sum is at LINEAGE_AT */

static const uint8_t magic[8] = {'T', 'O', 'R', 'G', 'C', 'O', 'L', 'U'};

int outside_name_check(const char *name, struct err *err)
{
    size_t size = strlen(name);

    if (size >= 1 && size <= OUTSIDE_NAME_SIZE_MAX && name[0] >= 'a' && name[0] <= 'z' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == size)
        return 0;
    return err_set(
        err, ERR_INVALID,
        "name: \"%.60s\" is not that of a column: 1 to %d of a-z, 0-9, _ and -, a letter "
        "first",
        name, OUTSIDE_NAME_SIZE_MAX);
}

int64_t outside_base(const struct outside_head *head)
{
    return head->is_signed ? (int64_t)(UINT64_MAX << (8 * head->width - 1)) : 0;
}

uint64_t outside_file_size(const struct outside_head *head)
{
    return OUTSIDE_HEAD_SIZE + (uint64_t)head->count * head->width;
}

void outside_head_encode(const struct outside_head *head, uint8_t bytes[OUTSIDE_HEAD_SIZE])
{
    size_t sum_at;

    memset(bytes, 0, OUTSIDE_HEAD_SIZE);
    memcpy(bytes, magic, sizeof(magic));
    put_le32(bytes + 8, head->lineage ? FORMAT : 1);
    for (int i = 0; i < 4; i++)
        put_le32(bytes + 12 + 4 * i, head->numbers[i]);
    put_le32(bytes + 28, head->shard);
    bytes[32] = head->width;
    bytes[33] = head->digits;
    bytes[34] = head->is_signed;
    put_le32(bytes + 36, head->count);
    put_le32(bytes + 40, head->sum);
    put_le32(bytes + LINEAGE_AT, head->lineage);
    sum_at = head->lineage ? SUM_AT : LINEAGE_AT;
    put_le32(bytes + sum_at, crc32_plain(0, bytes_make(bytes, sum_at)));
}

/* Of a head whose sum is right: what whoever wrote it meant. */
static int check(const uint8_t *bytes, const struct outside_head *head, size_t used_size,
                 uint64_t file_size, struct err *err)
{
    if (head->width != 1 && head->width != 2 && head->width != 4 && head->width != 8)
        return err_set(err, ERR_CORRUPT, "codes have 1, 2, 4 or 8 bytes, not %d", head->width);
    if (head->digits > FIELD_SCALE_MAX)
        return err_set(err, ERR_LIMIT, "%d digits after the point, at most %d", head->digits,
                       FIELD_SCALE_MAX);
    if (bytes[34] > 1 || bytes[35])
        return err_set(err, ERR_CORRUPT,
                       "the bytes 34 and 35 are %d and %d: expected 0 or 1, and 0", bytes[34],
                       bytes[35]);
    for (size_t i = used_size; i < OUTSIDE_HEAD_SIZE; i++)
        if (bytes[i])
            return err_set(err, ERR_CORRUPT, "byte %zu of the head is not zero", i);
    if (outside_file_size(head) > OUTSIDE_FILE_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "%" PRIu32 " values of %d bytes: a column has at most %d bytes a shard",
                       head->count, head->width, OUTSIDE_FILE_SIZE_MAX);
    if (outside_file_size(head) != file_size)
        return err_set(err, ERR_CORRUPT,
                       "%" PRIu64 " bytes, and %" PRIu32 " values of %d bytes take %" PRIu64,
                       file_size, head->count, head->width, outside_file_size(head));
    return 0;
}

int outside_head_decode(struct bytes start, uint64_t file_size, struct outside_head *head,
                        struct err *err)
{
    const uint8_t *bytes = start.data;
    uint32_t format;
    size_t sum_at;

    *head = (struct outside_head){0};
    if (start.size < OUTSIDE_HEAD_SIZE || memcmp(bytes, magic, sizeof(magic)) != 0)
        return err_set(err, ERR_CORRUPT, "this is not the file of a column");
    format = get_le32(bytes + 8);
    if (format != 1 && format != FORMAT)
        return err_set(err, ERR_UNSUPPORTED,
                       "a column of format %" PRIu32 ", this program reads 1 and %d", format,
                       FORMAT);
    sum_at = format == 1 ? LINEAGE_AT : SUM_AT;
    if (get_le32(bytes + sum_at) != crc32_plain(0, bytes_make(bytes, sum_at)))
        return err_set(err, ERR_CORRUPT, "the head is damaged: its checksum differs");
    for (int i = 0; i < 4; i++)
        head->numbers[i] = get_le32(bytes + 12 + 4 * i);
    head->shard = get_le32(bytes + 28);
    head->width = bytes[32];
    head->digits = bytes[33];
    head->is_signed = bytes[34] == 1;
    head->count = get_le32(bytes + 36);
    head->sum = get_le32(bytes + 40);
    head->lineage = format == 1 ? 0 : get_le32(bytes + LINEAGE_AT);
    return check(bytes, head, sum_at + 4, file_size, err);
}
