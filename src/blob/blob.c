/* SPDX-License-Identifier: Apache-2.0 */
/* blob.c - see blob.h: names and limits are checked here, once for every backend. */
#include "blob/blob.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "blob/backend.h"
#include "blob/bounds.h"

static const char name_rule[] =
    "a name is 1 to %d characters of A-Z a-z 0-9 . _ - = + @ %% , in parts between single "
    "slashes; a part has at most %d and does not begin with a dot";

static bool good_characters(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-=+@%,/";

    return text[strspn(text, allowed)] == 0;
}

static bool good_name(const char *name)
{
    size_t size = strnlen(name, BLOB_NAME_SIZE_MAX + 1);
    const char *part = name;

    if (size == 0 || size > BLOB_NAME_SIZE_MAX || !good_characters(name))
        return false;
    for (;;) {
        size_t part_size = strcspn(part, "/");

        if (part_size == 0 || part_size > BLOB_PART_SIZE_MAX || part[0] == '.')
            return false;
        if (part[part_size] == 0)
            return true;
        part += part_size + 1;
    }
}

static int check_name(const char *name, struct err *err)
{
    char rule[sizeof(name_rule) + 32];

    if (good_name(name))
        return 0;
    snprintf(rule, sizeof(rule), name_rule, BLOB_NAME_SIZE_MAX, BLOB_PART_SIZE_MAX);
    return err_set(err, ERR_INVALID, "\"%.60s\" is not a name for a blob: %s", name, rule);
}

int blob_backend_open(const char *url, const struct blob_disk *disk, struct blob **blob,
                      struct err *err)
{
    static const struct blob_ops *const all[] = {&blob_dir_ops, &blob_memory_ops, &blob_fault_ops};
    size_t i;

    for (i = 0; i < ARRAY_COUNT(all); i++) {
        size_t size = strlen(all[i]->scheme);

        if (strncmp(url, all[i]->scheme, size) == 0 && url[size] == ':') {
            int rc = all[i]->open(url + size + 1, disk, blob, err);

            assert(rc <= 0 && (rc || *blob));
            if (!rc)
                object_begin(*blob, BLOB_MAGIC);
            return rc;
        }
    }
    return err_set(err, ERR_INVALID, "blob URL \"%.100s\" must begin with dir: or memory:", url);
}

int blob_open(const char *url, struct blob **blob, struct err *err)
{
    static const struct blob_disk disk = {.write = write, .sync = fsync, .rename = rename};

    *blob = NULL;
    return blob_backend_open(url, &disk, blob, err);
}

void blob_close(struct blob *blob)
{
    if (!blob)
        return;
    object_end(blob, BLOB_MAGIC);
    blob->ops->close(blob);
}

int blob_put(struct blob *blob, const char *name, struct bytes content, struct err *err)
{
    struct blob_writer *writer = NULL;
    int rc;

    object_check(blob, BLOB_MAGIC);
    if (content.size > BLOB_WHOLE_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "blob %.100s has %zu bytes: above %d it has to be put in pieces", name,
                       content.size, BLOB_WHOLE_SIZE_MAX);
    rc = blob_begin(blob, name, &writer, err);
    if (rc)
        return rc;
    rc = blob_append(writer, content, err);
    if (rc) {
        blob_abort(writer);
        return rc;
    }
    return blob_commit(writer, err);
}

static int read_some(struct blob *blob, const char *name, uint64_t offset, uint64_t size,
                     struct buf *out, struct err *err)
{
    uint64_t total = 0;
    int rc = check_name(name, err);

    object_check(blob, BLOB_MAGIC);
    if (rc)
        return rc;
    rc = blob->ops->read(blob, name, offset, size, out, &total, err);
    if (rc)
        return rc;
    if (offset > total)
        return err_set(err, ERR_RANGE, "blob %s has %ju bytes, none at %ju", name, (uintmax_t)total,
                       (uintmax_t)offset);
    return 0;
}

int blob_get(struct blob *blob, const char *name, struct buf *out, struct err *err)
{
    return read_some(blob, name, 0, UINT64_MAX, out, err);
}

int blob_range(struct blob *blob, const char *name, uint64_t offset, uint64_t size, struct buf *out,
               struct err *err)
{
    return read_some(blob, name, offset, size, out, err);
}

int blob_stat(struct blob *blob, const char *name, uint64_t *size, struct err *err)
{
    struct buf nothing = BUF_INIT(0);
    int rc = check_name(name, err);

    object_check(blob, BLOB_MAGIC);
    *size = 0;
    return rc ? rc : blob->ops->read(blob, name, 0, 0, &nothing, size, err);
}

int blob_delete(struct blob *blob, const char *name, struct err *err)
{
    int rc = check_name(name, err);

    object_check(blob, BLOB_MAGIC);
    return rc ? rc : blob->ops->remove(blob, name, err);
}

int blob_list(struct blob *blob, const char *prefix, const char *after, size_t limit,
              struct arena *arena, struct blob_page *page, struct err *err)
{
    object_check(blob, BLOB_MAGIC);
    *page = (struct blob_page){.count = 0};
    if (strnlen(prefix, BLOB_NAME_SIZE_MAX + 1) > BLOB_NAME_SIZE_MAX || !good_characters(prefix) ||
        strnlen(after, BLOB_NAME_SIZE_MAX + 1) > BLOB_NAME_SIZE_MAX)
        return err_set(err, ERR_INVALID, "\"%.60s\" cannot begin the name of a blob", prefix);
    if (limit == 0 || limit > BLOB_LIST_COUNT_MAX)
        return err_set(err, ERR_INVALID, "a page has 1 to %d names, not %zu", BLOB_LIST_COUNT_MAX,
                       limit);
    return blob->ops->list(blob, prefix, after, limit, arena, page, err);
}

int blob_begin(struct blob *blob, const char *name, struct blob_writer **writer, struct err *err)
{
    int rc = check_name(name, err);

    object_check(blob, BLOB_MAGIC);
    *writer = NULL;
    if (!rc)
        rc = blob->ops->begin(blob, name, writer, err);
    if (!rc) {
        assert((*writer)->blob == blob && (*writer)->size == 0);
        object_begin(*writer, BLOB_WRITER_MAGIC);
    }
    return rc;
}

int blob_append(struct blob_writer *writer, struct bytes piece, struct err *err)
{
    int rc;

    object_check(writer, BLOB_WRITER_MAGIC);
    assert(!writer->failed && writer->size <= BLOB_SIZE_MAX);
    if (piece.size > BLOB_SIZE_MAX - writer->size)
        rc = err_set(err, ERR_LIMIT, "a blob has at most %" PRIu64 " bytes", BLOB_SIZE_MAX);
    else
        rc = writer->blob->ops->append(writer, piece, err);
    writer->failed = rc != 0;
    writer->size += piece.size;
    return rc;
}

int blob_commit(struct blob_writer *writer, struct err *err)
{
    assert(!writer->failed);
    object_end(writer, BLOB_WRITER_MAGIC); /* it is freed in any case */
    return writer->blob->ops->commit(writer, err);
}

void blob_abort(struct blob_writer *writer)
{
    if (!writer)
        return;
    object_end(writer, BLOB_WRITER_MAGIC);
    writer->blob->ops->abort(writer);
}
