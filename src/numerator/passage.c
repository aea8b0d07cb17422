/* SPDX-License-Identifier: Apache-2.0 */
/* passage.c - see passage.h. */
#include "numerator/passage.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "numerator/bounds.h"

#define BLOB_PREFIX "blob:"

struct inlet {
    char *name;        /* owned */
    struct blob *blob; /* borrowed; NULL: a local file */
    int fd;
    uint64_t size, position;
};

struct outlet {
    char *name;  /* owned; of a local file */
    char *draft; /* owned; of a local file */
    int fd;
    struct blob_writer *writer; /* of a blob; else NULL */
    struct buf kept;            /* not written yet */
    int rc;
    struct err err; /* the first failure */
};

/* The name within the blob store; NULL: it is a path. */
static const char *blob_name(const char *name)
{
    size_t size = strlen(BLOB_PREFIX);

    return strncmp(name, BLOB_PREFIX, size) == 0 ? name + size : NULL;
}

static int refuse_blob(const char *name, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: there is no blob store here", name);
}

/* --- in --- */

static int open_local(struct inlet *in, struct err *err)
{
    struct stat info;

    in->fd = open(in->name, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return err_errno(err, "open %s", in->name);
    if (fstat(in->fd, &info))
        return err_errno(err, "look at %s", in->name);
    in->size = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    return 0;
}

int inlet_open(const char *name, struct blob *blob, struct inlet **in, struct err *err)
{
    const char *in_blob = blob_name(name);
    struct inlet *made;
    int rc;

    *in = NULL;
    if (in_blob && !blob)
        return refuse_blob(name, err);
    made = mem_zero(sizeof(*made));
    made->fd = -1;
    made->name = mem_strdup(in_blob ? in_blob : name);
    made->blob = in_blob ? blob : NULL;
    rc = in_blob ? blob_stat(blob, in_blob, &made->size, err) : open_local(made, err);
    if (rc)
        inlet_close(made);
    else
        *in = made;
    return rc;
}

void inlet_close(struct inlet *in)
{
    if (!in)
        return;
    if (in->fd >= 0)
        close(in->fd);
    free(in->name);
    free(in);
}

static int read_local(struct inlet *in, struct buf *out, size_t size, struct err *err)
{
    uint8_t *to = buf_reserve(out, size);
    ssize_t count;

    if (!to)
        return err_set(err, ERR_LIMIT, "%s: a piece of more than %zu bytes", in->name, out->limit);
    do {
        count = read(in->fd, to, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return err_errno(err, "read %s", in->name);
    buf_advance(out, (size_t)count);
    return 0;
}

int inlet_read(struct inlet *in, struct buf *out, size_t size, struct err *err)
{
    size_t before = out->size;
    int rc = 0;

    if (!in->blob)
        rc = read_local(in, out, size, err);
    else if (in->position < in->size)
        rc = blob_range(in->blob, in->name, in->position, size, out, err);
    if (rc == 0)
        in->position += out->size - before;
    return rc;
}

uint64_t inlet_size(const struct inlet *in)
{
    return in->size;
}

uint64_t inlet_position(const struct inlet *in)
{
    return in->position;
}

/* --- out --- */

static void outlet_free(struct outlet *out)
{
    buf_release(&out->kept);
    free(out->name);
    free(out->draft);
    free(out);
}

int outlet_open(const char *name, struct blob *blob, struct outlet **out, struct err *err)
{
    const char *in_blob = blob_name(name);
    struct outlet *made;
    int rc = 0;

    *out = NULL;
    if (in_blob && !blob)
        return refuse_blob(name, err);
    made = mem_zero(sizeof(*made));
    buf_init(&made->kept, NUMBER_PIECE_SIZE + NUMBER_BLOCK_SIZE * 2);
    made->fd = -1;
    made->name = mem_strdup(name);
    if (in_blob) {
        rc = blob_begin(blob, in_blob, &made->writer, err);
    } else {
        if (asprintf(&made->draft, "%s.%ld.draft", name, (long)getpid()) < 0)
            abort();
        made->fd = open(made->draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
        if (made->fd < 0)
            rc = err_errno(err, "create %s", made->draft);
    }
    if (rc)
        outlet_free(made);
    else
        *out = made;
    return rc;
}

static void flush(struct outlet *out)
{
    if (out->rc == 0 && out->kept.size > 0)
        out->rc = out->writer ? blob_append(out->writer, buf_bytes(&out->kept), &out->err)
                              : file_write_all(out->fd, buf_bytes(&out->kept), &out->err);
    buf_reset(&out->kept);
}

void outlet_put(struct outlet *out, struct bytes bytes)
{
    assert(bytes.size <= NUMBER_BLOCK_SIZE * 2);
    buf_put(&out->kept, bytes);
    assert(!buf_failed(&out->kept));
    if (out->kept.size >= NUMBER_PIECE_SIZE)
        flush(out);
}

/* The draft gets the name, and both are durable. */
static int settle_local(struct outlet *out, struct err *err)
{
    char *slash = strrchr(out->name, '/');
    int fd = out->fd, rc = 0;

    out->fd = -1;
    if (fsync(fd))
        rc = err_errno(err, "sync %s", out->draft);
    if (close(fd) && rc == 0)
        rc = err_errno(err, "close %s", out->draft);
    if (rc == 0 && rename(out->draft, out->name))
        rc = err_errno(err, "rename %s", out->draft);
    if (rc)
        return rc;
    free(out->draft);
    out->draft = NULL;
    if (slash)
        *slash = 0;
    return dir_sync(!slash ? "." : slash == out->name ? "/" : out->name, err);
}

int outlet_commit(struct outlet *out, struct err *err)
{
    struct blob_writer *writer;
    int rc;

    flush(out);
    rc = out->rc;
    if (rc) {
        *err = out->err;
    } else if (out->writer) {
        writer = out->writer;
        out->writer = NULL;
        rc = blob_commit(writer, err);
    } else {
        rc = settle_local(out, err);
    }
    outlet_abort(out);
    return rc;
}

void outlet_abort(struct outlet *out)
{
    if (!out)
        return;
    blob_abort(out->writer);
    if (out->fd >= 0)
        close(out->fd);
    if (out->draft)
        unlink(out->draft);
    outlet_free(out);
}

/* --- through --- */

int passage_copy(const char *from, struct blob *from_blob, const char *to, struct blob *to_blob,
                 bool (*stop)(void *arg), void *arg, struct err *err)
{
    struct buf piece = BUF_INIT(NUMBER_BLOCK_SIZE);
    struct outlet *out = NULL;
    struct inlet *in = NULL;
    int rc = inlet_open(from, from_blob, &in, err);

    if (rc == 0)
        rc = outlet_open(to, to_blob, &out, err);
    do {
        buf_reset(&piece);
        if (rc == 0)
            rc = inlet_read(in, &piece, NUMBER_BLOCK_SIZE, err);
        if (rc == 0 && stop && stop(arg))
            rc = err_set(err, ERR_CANCELLED, "%s: it was stopped", from);
        if (rc == 0)
            outlet_put(out, buf_bytes(&piece));
    } while (rc == 0 && piece.size > 0);
    if (rc == 0 && inlet_size(in) && inlet_position(in) != inlet_size(in))
        rc = err_set(err, ERR_CORRUPT, "%s has become shorter", from);
    if (rc == 0) {
        rc = outlet_commit(out, err);
        out = NULL;
    }
    outlet_abort(out);
    inlet_close(in);
    buf_release(&piece);
    return rc;
}
