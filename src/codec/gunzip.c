/* SPDX-License-Identifier: Apache-2.0 */
/* gunzip.c - see gunzip.h; by zlib. */
#include "codec/gunzip.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/bounds.h"

enum { WINDOW_GZIP = 15 + 16, BLOCK_SIZE = 64 << 10, MAGIC_SIZE = 2 };

enum { GUNZIP_MAGIC = OBJECT_MAGIC('g', 'u', 'n', 'z') };

struct gunzip {
    uint32_t magic;
    int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err);
    void *arg;
    bool started;
    bool packed;
    bool between; /* gzip files: the source may end here */
    bool ended;
    const char *cut;
    uint64_t packed_size;
    uint64_t plain_size;
    z_stream z; /* next_in: of block */
    uint8_t block[BLOCK_SIZE];
};

struct gunzip *gunzip_new(int (*read)(void *arg, void *to, size_t size, size_t *got,
                                      struct err *err),
                          void *arg)
{
    struct gunzip *gunzip = mem_zero(sizeof(*gunzip));
    int rc;

    object_begin(gunzip, GUNZIP_MAGIC);
    gunzip->read = read;
    gunzip->arg = arg;
    rc = inflateInit2(&gunzip->z, WINDOW_GZIP);
    assert(rc == Z_OK); /* it fails for want of memory only */
    return gunzip;
}

void gunzip_free(struct gunzip *gunzip)
{
    if (!gunzip)
        return;
    object_check(gunzip, GUNZIP_MAGIC);
    inflateEnd(&gunzip->z);
    object_end(gunzip, GUNZIP_MAGIC);
    free(gunzip);
}

static int fill(struct gunzip *gunzip, size_t *got, struct err *err)
{
    int rc = gunzip->read(gunzip->arg, gunzip->block, BLOCK_SIZE, got, err);

    gunzip->z.next_in = gunzip->block;
    gunzip->z.avail_in = rc ? 0 : (uInt)*got;
    gunzip->packed_size += gunzip->z.avail_in;
    return rc;
}

/* The first bytes: a source may give them one by one. */
static int start(struct gunzip *gunzip, struct err *err)
{
    size_t there = 0;
    size_t got = 1;
    int rc = 0;

    while (!rc && got && there < MAGIC_SIZE) {
        rc = gunzip->read(gunzip->arg, gunzip->block + there, BLOCK_SIZE - there, &got, err);
        there += rc ? 0 : got;
    }
    if (rc)
        return rc;
    gunzip->started = true;
    gunzip->packed = there >= MAGIC_SIZE && gunzip->block[0] == 0x1f && gunzip->block[1] == 0x8b;
    gunzip->z.next_in = gunzip->block;
    gunzip->z.avail_in = (uInt)there;
    gunzip->packed_size = there;
    return 0;
}

static int pass(struct gunzip *gunzip, void *to, size_t size, size_t *got, struct err *err)
{
    z_stream *z = &gunzip->z;

    if (!z->avail_in)
        return gunzip->read(gunzip->arg, to, size, got, err);
    *got = size < z->avail_in ? size : z->avail_in;
    memcpy(to, z->next_in, *got);
    z->next_in += *got;
    z->avail_in -= (uInt)*got;
    return 0;
}

/* A gzip file has ended. Zeros behind it are a tape's padding, and another file may follow. */
static int end_file(struct gunzip *gunzip, struct err *err)
{
    z_stream *z = &gunzip->z;
    int rc = inflateReset(z);

    assert(rc == Z_OK);
    gunzip->between = true;
    while (z->avail_in && *z->next_in == 0) {
        z->next_in++;
        z->avail_in--;
    }
    if (z->avail_in && *z->next_in != 0x1f)
        return err_set(err, ERR_INVALID, "there are other bytes after the gzip data");
    return 0;
}

/* Unpacks some of what is in the block. */
static int inflate_some(struct gunzip *gunzip, void *to, size_t size, size_t *got, struct err *err)
{
    z_stream *z = &gunzip->z;
    int rc;

    gunzip->between = false;
    z->next_out = to;
    z->avail_out = (uInt)size;
    rc = inflate(z, Z_NO_FLUSH);
    *got = size - z->avail_out;
    gunzip->plain_size += *got;
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        return err_set(err, ERR_INVALID, "the gzip data is damaged: %s", z->msg ? z->msg : "?");
    if (gunzip->plain_size > GUNZIP_FREE_SIZE + gunzip->packed_size * GUNZIP_EXPANSION_MAX)
        return err_set(err, ERR_LIMIT,
                       "the gzip data unpacks to more than %d times its size: send it unpacked",
                       GUNZIP_EXPANSION_MAX);
    return rc == Z_STREAM_END ? end_file(gunzip, err) : 0;
}

int gunzip_read(struct gunzip *gunzip, void *to, size_t size, size_t *got, struct err *err)
{
    int rc = 0;

    object_check(gunzip, GUNZIP_MAGIC);
    *got = 0;
    size = size < BLOCK_SIZE ? size : BLOCK_SIZE;
    if (!gunzip->started)
        rc = start(gunzip, err);
    if (rc || gunzip->ended)
        return rc;
    if (!gunzip->packed)
        return pass(gunzip, to, size, got, err);
    while (!rc && *got == 0 && !gunzip->ended) {
        size_t came = 0;

        if (!gunzip->z.avail_in) {
            rc = fill(gunzip, &came, err);
            gunzip->ended = !rc && !came;
        }
        if (!rc && !gunzip->ended)
            rc = inflate_some(gunzip, to, size, got, err);
    }
    if (gunzip->ended && !gunzip->between)
        gunzip->cut = "the gzip data stops before its end";
    return rc;
}

const char *gunzip_cut(const struct gunzip *gunzip)
{
    object_check(gunzip, GUNZIP_MAGIC);
    return gunzip->cut;
}

bool gunzip_is_packed(const struct gunzip *gunzip)
{
    object_check(gunzip, GUNZIP_MAGIC);
    return gunzip->packed;
}
