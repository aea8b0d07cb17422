/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.c - see gzip.h. By zlib; level 1, since answers are packed while their client waits. */
#include "codec/gzip.h"

#include <assert.h>
#include <zlib.h>

enum { LEVEL = 1, MEMORY_LEVEL = 8, STEP_SIZE = 16 << 10 };
/* zlib's words for what is around the packed bytes. */
enum { WINDOW_GZIP = 15 + 16, WINDOW_BARE = -15 };

static void pack(struct bytes plain, int window, struct buf *out)
{
    z_stream z = {0};
    size_t bound;
    uint8_t *room;
    int rc;

    rc = deflateInit2(&z, LEVEL, Z_DEFLATED, window, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    assert(rc == Z_OK);
    bound = deflateBound(&z, plain.size);
    room = buf_reserve(out, bound);
    if (room) {
        z.next_in = (Bytef *)plain.data;
        z.avail_in = (uInt)plain.size;
        z.next_out = room;
        z.avail_out = (uInt)bound;
        rc = deflate(&z, Z_FINISH);
        assert(rc == Z_STREAM_END);
        buf_advance(out, z.total_out);
    }
    deflateEnd(&z);
}

static int unpack(struct bytes packed, int window, size_t size_max, struct buf *out,
                  struct err *err)
{
    z_stream z = {0};
    size_t total = 0;
    int rc;

    rc = inflateInit2(&z, window);
    assert(rc == Z_OK);
    z.next_in = (Bytef *)packed.data;
    z.avail_in = (uInt)packed.size;
    do {
        uint8_t *room = buf_reserve(out, STEP_SIZE);

        if (!room)
            break;
        z.next_out = room;
        z.avail_out = STEP_SIZE;
        rc = inflate(&z, Z_NO_FLUSH);
        total += STEP_SIZE - z.avail_out;
        buf_advance(out, STEP_SIZE - z.avail_out);
    } while (rc == Z_OK && total <= size_max);
    inflateEnd(&z);
    if (total > size_max || buf_failed(out))
        return err_set(err, ERR_LIMIT, "it unpacks to more than %zu bytes", size_max);
    if (rc != Z_STREAM_END || z.avail_in)
        return err_set(err, ERR_INVALID, "it is not whole %s data",
                       window == WINDOW_BARE ? "deflate" : "gzip");
    return 0;
}

void gzip_pack(struct bytes plain, struct buf *out)
{
    pack(plain, WINDOW_GZIP, out);
}

int gzip_unpack(struct bytes packed, size_t size_max, struct buf *out, struct err *err)
{
    int rc = unpack(packed, WINDOW_GZIP, size_max, out, err);

    return rc ? err_wrap(err, "the message") : 0;
}

void deflate_pack(struct bytes plain, struct buf *out)
{
    pack(plain, WINDOW_BARE, out);
}

int deflate_unpack(struct bytes packed, size_t size_max, struct buf *out, struct err *err)
{
    return unpack(packed, WINDOW_BARE, size_max, out, err);
}
