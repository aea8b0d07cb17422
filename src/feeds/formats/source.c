/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - see source.h. */
#include "feeds/formats/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_fd(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    const struct feed_source *source = arg;
    ssize_t count;

    do {
        count = read(source->fd, to, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return err_errno(err, "reading the feed");
    *got = (size_t)count;
    return 0;
}

static int read_memory(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct feed_source *source = arg;

    *got = size < source->rest.size ? size : source->rest.size;
    if (*got)
        memcpy(to, source->rest.data, *got);
    source->rest = bytes_skip(source->rest, *got);
    return 0;
}

int feed_source_file(struct feed_source *source, const char *path, struct err *err)
{
    bool is_input = strcmp(path, "-") == 0;
    struct stat status;

    *source = (struct feed_source){.read = read_fd, .fd = -1};
    source->arg = source;
    source->fd = is_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0)
        return err_errno(err, "%s", path);
    if (fstat(source->fd, &status) != 0 || S_ISDIR(status.st_mode)) {
        feed_source_close(source);
        return err_set(err, ERR_INVALID, "%s is not a file", path);
    }
    if (S_ISREG(status.st_mode) && !is_input)
        source->total_size = (uint64_t)status.st_size;
    return 0;
}

void feed_source_memory(struct feed_source *source, struct bytes content)
{
    *source = (struct feed_source){
        .read = read_memory, .fd = -1, .total_size = content.size, .rest = content};
    source->arg = source;
}

void feed_source_function(struct feed_source *source,
                          int (*read)(void *arg, void *to, size_t size, size_t *got,
                                      struct err *err),
                          void *arg, uint64_t total_size)
{
    *source = (struct feed_source){.read = read, .arg = arg, .fd = -1, .total_size = total_size};
}

void feed_source_close(struct feed_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

bool feed_source_is_whole(const struct feed_source *source)
{
    if (source->cut)
        return false;
    return source->is_whole || (source->total_size && source->read_size >= source->total_size);
}

int feed_source_read(struct feed_source *source, uint64_t size_max, void *to, size_t size,
                     size_t *got, struct err *err)
{
    int rc;

    *got = 0;
    while (*got < size) {
        size_t count = 0;

        rc = source->read(source->arg, (uint8_t *)to + *got, size - *got, &count, err);
        if (rc)
            return rc;
        if (count == 0)
            break;
        *got += count;
        source->read_size += count;
        if (source->read_size > size_max)
            return err_set(err, ERR_LIMIT, "the feed is larger than %" PRIu64 " bytes: split it",
                           size_max);
    }
    return 0;
}
