/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - see fetch.h. */
#include "photos/fetch.h"

#include "net/client/download.h"
#include "photos/bounds.h"
#include "photos/upload.h"

enum { PIECE_SIZE = 64 << 10 };

static int read_whole(struct download *download, struct buf *file, struct err *err)
{
    uint8_t piece[PIECE_SIZE];
    size_t got = 0;
    int rc;

    if (download_total_size(download) > PHOTO_FILE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "the file is larger than %d MB", PHOTO_FILE_SIZE_MAX >> 20);
    do {
        rc = download_read(download, piece, sizeof(piece), &got, err);
        if (!rc)
            buf_put_raw(file, piece, got);
        if (!rc && buf_failed(file))
            rc =
                err_set(err, ERR_LIMIT, "the file is larger than %d MB", PHOTO_FILE_SIZE_MAX >> 20);
    } while (!rc && got);
    if (!rc && download_cut(download))
        rc = err_set(err, ERR_UNAVAILABLE, "%s", download_cut(download));
    return rc;
}

int photo_fetch(const struct fetch_rules *rules, const char *url, struct buf *file, struct err *err)
{
    const struct download_options options = {.timeout_ms = PHOTO_FETCH_MS_MAX,
                                             .stall_ms = PHOTO_FETCH_STALL_MS_MAX,
                                             .is_public_only = !rules->takes_private_addresses,
                                             .clock = rules->clock};
    struct download *download = NULL;
    int rc;

    if (upload_is_address(url))
        return upload_read(rules->blob, url, file, err);
    rc = download_open(url, &options, &download, err);
    if (!rc)
        rc = read_whole(download, file, err);
    download_close(download);
    return rc;
}
