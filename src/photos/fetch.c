/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - see fetch.h. */
#include "photos/fetch.h"

#include <string.h>

#include "net/client/download.h"
#include "photos/bounds.h"
#include "photos/upload.h"

enum { PIECE_SIZE = 64 << 10 };

#define MADE_ETAG "made-1" /* of what is made here: another rule of making has another */

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

static bool is_made(const struct fetch_rules *rules, const char *url)
{
    return rules->maker && rules->maker->has(rules->maker->arg, url);
}

bool photo_is_elsewhere(const struct fetch_rules *rules, const char *url)
{
    return !upload_is_address(url) && !is_made(rules, url);
}

/* As a server would answer: the same address has the same file. */
static int make(const struct photo_maker *maker, const char *url, struct fetch_state *state,
                struct arena *arena, struct buf *file, struct err *err)
{
    if (state) {
        state->is_unchanged = strcmp(state->etag, MADE_ETAG) == 0;
        state->etag = MADE_ETAG;
        state->modified = "";
    }
    return state && state->is_unchanged ? 0 : maker->make(maker->arg, url, arena, file, err);
}

int photo_fetch(const struct fetch_rules *rules, const char *url, int64_t timeout_ms,
                struct fetch_state *state, struct arena *arena, struct buf *file, struct err *err)
{
    const struct download_options options = {
        .timeout_ms = timeout_ms,
        .stall_ms = timeout_ms < PHOTO_FETCH_STALL_MS_MAX ? timeout_ms : PHOTO_FETCH_STALL_MS_MAX,
        .is_public_only = !rules->takes_private_addresses,
        .etag = state ? state->etag : NULL,
        .modified = state ? state->modified : NULL,
        .clock = rules->clock};
    struct download *download = NULL;
    int rc;

    if (upload_is_address(url))
        return upload_read(rules->ledger, url, file, err);
    if (is_made(rules, url))
        return make(rules->maker, url, state, arena, file, err);
    rc = download_open(url, &options, &download, err);
    if (!rc && !download_is_unchanged(download))
        rc = read_whole(download, file, err);
    if (!rc && state) {
        state->is_unchanged = download_is_unchanged(download);
        state->etag = arena_strdup(arena, download_etag(download));
        state->modified = arena_strdup(arena, download_modified(download));
    }
    download_close(download);
    return rc;
}
