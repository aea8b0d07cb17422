/* SPDX-License-Identifier: Apache-2.0 */
/* durable.c - see durable.h. */
#include "coord/durable.h"

#include <limits.h>
#include <stdio.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "coord/bounds.h"

enum { HEAD_SIZE = 8, CRC_SIZE = 4 };

static int make_path(char path[PATH_MAX], const char *dir, const char *name, const char *suffix,
                     struct err *err)
{
    int length = snprintf(path, PATH_MAX, "%s/%s%s", dir, name, suffix);

    if (length < 0 || length >= PATH_MAX)
        return err_set(err, ERR_LIMIT, "path %.64s… is too long", dir);
    return 0;
}

/* number · value · crc */
static int read_file(const char *path, struct buf *out, uint64_t *number, struct err *err)
{
    struct buf content = BUF_INIT(HEAD_SIZE + COORD_VALUE_SIZE_MAX + CRC_SIZE);
    int rc = file_read(path, &content, err);
    size_t body;

    if (rc)
        goto out;
    body = content.size < HEAD_SIZE + CRC_SIZE ? 0 : content.size - CRC_SIZE;
    if (!body || get_le32(content.data + body) != crc32c(0, bytes_make(content.data, body))) {
        rc = err_set(err, ERR_CORRUPT, "%s is damaged: its checksum is wrong", path);
        goto out;
    }
    *number = get_le64(content.data);
    buf_put_raw(out, content.data + HEAD_SIZE, body - HEAD_SIZE);
    if (buf_failed(out))
        rc = err_set(err, ERR_LIMIT, "the value in %s does not fit %zu bytes", path, out->limit);
out:
    buf_release(&content);
    return rc;
}

static int write_file(const char *path, struct bytes value, uint64_t number, struct err *err)
{
    struct buf content = BUF_INIT(HEAD_SIZE + COORD_VALUE_SIZE_MAX + CRC_SIZE);
    uint8_t head[HEAD_SIZE];
    uint8_t crc[CRC_SIZE];
    int rc;

    put_le64(head, number);
    buf_put_raw(&content, head, HEAD_SIZE);
    buf_put(&content, value);
    put_le32(crc, crc32c(0, buf_bytes(&content)));
    buf_put_raw(&content, crc, CRC_SIZE);
    if (buf_failed(&content))
        rc = err_set(err, ERR_LIMIT, "%s would pass %zu bytes", path, content.limit);
    else
        rc = file_write(path, buf_bytes(&content), err);
    buf_release(&content);
    return rc;
}

int durable_read_tickets(const char *dir, uint64_t *ceiling, struct err *err)
{
    struct buf nothing = BUF_INIT(0);
    char path[PATH_MAX];
    int rc = make_path(path, dir, "tickets", "", err);

    *ceiling = 0;
    if (!rc)
        rc = read_file(path, &nothing, ceiling, err);
    buf_release(&nothing);
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

int durable_write_tickets(const char *dir, uint64_t ceiling, struct err *err)
{
    char path[PATH_MAX];
    int rc = make_path(path, dir, "tickets", "", err);

    return rc ? rc : write_file(path, BYTES_EMPTY, ceiling, err);
}

int durable_read_register(const char *dir, const char *key, struct buf *out, uint64_t *version,
                          struct err *err)
{
    char path[PATH_MAX];
    int rc = make_path(path, dir, key, ".register", err);

    return rc ? rc : read_file(path, out, version, err);
}

int durable_write_register(const char *dir, const char *key, struct bytes value, uint64_t version,
                           struct err *err)
{
    char path[PATH_MAX];
    int rc = make_path(path, dir, key, ".register", err);

    return rc ? rc : write_file(path, value, version, err);
}
