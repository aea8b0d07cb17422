/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - see fetch.h. */
#include "feeds/schedule/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "feeds/bounds.h"
#include "net/client/download.h"
#include "net/client/hosts.h"

/* A file without a name: gone with its process, however that ends. */
static int open_nameless(const char *dir, struct arena *arena, int *fd, struct err *err)
{
    char *path = arena_printf(arena, "%s/feed-XXXXXX", dir);

    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0)
        return err_set(err, ERR_INTERNAL, "no file for a feed in %s: %s", dir, strerror(errno));
    unlink(path);
    return 0;
}

static int refuse_size(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the file is larger than %d MB; send it packed (gzip)",
                   FEED_FETCH_SIZE_MAX >> 20);
}

static int copy(struct download *download, int fd, size_t *size, struct err *err)
{
    uint8_t piece[FEED_FETCH_PIECE_SIZE];
    size_t got = 0;
    int rc = 0;

    *size = 0;
    if (download_total_size(download) > FEED_FETCH_SIZE_MAX)
        return refuse_size(err);
    do {
        rc = download_read(download, piece, sizeof(piece), &got, err);
        *size += rc ? 0 : got;
        if (!rc && *size > FEED_FETCH_SIZE_MAX)
            rc = refuse_size(err);
        if (!rc && got && file_write_all(fd, bytes_make(piece, got), err))
            rc = err->code = ERR_INTERNAL; /* our disk: nothing of the address */
    } while (!rc && got);
    if (!rc && download_cut(download))
        rc = err_set(err, ERR_UNAVAILABLE, "%s", download_cut(download));
    if (!rc && !*size)
        rc = err_set(err, ERR_INVALID, "the file is empty");
    return rc;
}

static int map(int fd, size_t size, struct feed_fetched *fetched, struct err *err)
{
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (data == MAP_FAILED)
        return err_set(err, ERR_INTERNAL, "a feed of %zu bytes: %s", size, strerror(errno));
    fetched->content = bytes_make(data, size);
    fetched->is_mapped = true;
    return 0;
}

static int take_file(const struct feed_fetch_options *options, struct download *download,
                     struct arena *arena, struct feed_fetched *fetched, struct err *err)
{
    int fd = -1;
    size_t size;
    int rc = open_nameless(options->dir, arena, &fd, err);

    if (!rc)
        rc = copy(download, fd, &size, err);
    if (!rc)
        rc = map(fd, size, fetched, err);
    fetched->end_is_unknown = !download_end_is_told(download);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Whether its server did not answer, or not to the end. */
static bool is_silence(int rc)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_TIMEOUT;
}

int feed_fetch(void *arg, const char *address, const char *etag, const char *modified,
               struct arena *arena, struct feed_fetched *fetched, struct err *err)
{
    const struct feed_fetch_options *options = arg;
    const struct download_options asking = {.timeout_ms = FEED_FETCH_MS_MAX,
                                            .stall_ms = FEED_FETCH_STALL_MS,
                                            .is_public_only = !options->takes_private_addresses,
                                            .etag = etag,
                                            .modified = modified,
                                            .is_stopping = options->is_stopping,
                                            .clock = options->clock};
    struct download *download = NULL;
    int rc = hosts_enter(options->hosts, address, true, err);

    *fetched = (struct feed_fetched){0};
    if (rc)
        return rc;
    rc = download_open(address, &asking, &download, err);
    if (!rc) {
        fetched->is_unchanged = download_is_unchanged(download);
        fetched->etag = arena_strdup(arena, download_etag(download));
        fetched->modified = arena_strdup(arena, download_modified(download));
    }
    if (!rc && !fetched->is_unchanged)
        rc = take_file(options, download, arena, fetched, err);
    hosts_leave(options->hosts, address, is_silence(rc));
    download_close(download);
    return rc;
}

void feed_fetched_release(struct feed_fetched *fetched)
{
    if (fetched->is_mapped)
        munmap((void *)fetched->content.data, fetched->content.size);
    *fetched = (struct feed_fetched){0};
}
