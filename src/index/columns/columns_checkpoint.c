/* SPDX-License-Identifier: Apache-2.0 */
/* columns_checkpoint.c - see columns_checkpoint.h; the bytes of a column are checkpoint_file.h. */
#include "index/columns/columns_checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/file_calls.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/varint.h"
#include "index/bounds.h"
#include "index/columns/checkpoint_file.h"
#include "index/columns/column_parts.h"

enum {
    FORMAT = 2,
    PATH_SIZE = 1024,
    MANIFEST_HEAD_SIZE = 44,
    MANIFEST_ENTRY_SIZE = 12,
    MANIFEST_SIZE_MAX = SCHEMA_SIZE_MAX + (128 << 10),
    FLUSH_SIZE = 1 << 20,
    NAMES_SIZE = 64 << 10, /* a block of names is closed past this */
};

static const char manifest_name[] = "columns";
static const uint8_t magic[4] = {'T', 'C', 'O', 'L'};

static int path_of(char path[PATH_SIZE], const char *dir, uint64_t generation, struct err *err)
{
    int size = snprintf(path, PATH_SIZE, "%s/column-values.%ju", dir, (uintmax_t)generation);

    return size < PATH_SIZE ? 0 : err_set(err, ERR_INVALID, "the path of %s is too long", dir);
}

/* ---- the manifest ----
 * magic | format u32 | generation u64 | x0 u64 | x1 u64 | schema size u32 | count u32 | CRC-32C of
 * what is before u32, then the schema and per column field u32, size u64; then CRC-32C of all u32.
 * All columns lie in one file, in this order: with a file each, thousands would have to be synced.
 */

struct manifest {
    struct columns_saved saved;
    struct buf schema;
    uint32_t count;
    uint32_t fields[SCHEMA_FIELD_COUNT_MAX];
    uint64_t sizes[SCHEMA_FIELD_COUNT_MAX];
};

static void put_u32(struct buf *out, uint32_t value)
{
    uint8_t bytes[4];

    put_le32(bytes, value);
    buf_put_raw(out, bytes, sizeof(bytes));
}

static void put_u64(struct buf *out, uint64_t value)
{
    uint8_t bytes[8];

    put_le64(bytes, value);
    buf_put_raw(out, bytes, sizeof(bytes));
}

static int manifest_write(const struct manifest *manifest, const char *dir, struct err *err)
{
    struct buf out = BUF_INIT(MANIFEST_SIZE_MAX);
    char path[PATH_SIZE];
    uint32_t i;
    int rc;

    buf_put_raw(&out, magic, sizeof(magic));
    put_u32(&out, FORMAT);
    put_u64(&out, manifest->saved.generation);
    put_u64(&out, manifest->saved.x0);
    put_u64(&out, manifest->saved.x1);
    put_u32(&out, (uint32_t)manifest->schema.size);
    put_u32(&out, manifest->count);
    put_u32(&out, crc32c(0, buf_bytes(&out)));
    buf_put(&out, buf_bytes(&manifest->schema));
    for (i = 0; i < manifest->count; i++) {
        put_u32(&out, manifest->fields[i]);
        put_u64(&out, manifest->sizes[i]);
    }
    put_u32(&out, crc32c(0, buf_bytes(&out)));
    snprintf(path, sizeof(path), "%s/%s", dir, manifest_name);
    rc = file_write(path, buf_bytes(&out), err);
    buf_release(&out);
    return rc;
}

static bool manifest_parse(struct bytes in, struct manifest *manifest)
{
    const uint8_t *data = in.data;
    uint64_t schema_size;
    uint32_t i;

    if (in.size < MANIFEST_HEAD_SIZE + 4 || memcmp(data, magic, sizeof(magic)) != 0 ||
        get_le32(data + 4) != FORMAT ||
        crc32c(0, bytes_make(data, in.size - 4)) != get_le32(data + in.size - 4))
        return false;
    manifest->saved.generation = get_le64(data + 8);
    manifest->saved.x0 = get_le64(data + 16);
    manifest->saved.x1 = get_le64(data + 24);
    schema_size = get_le32(data + 32);
    manifest->count = get_le32(data + 36);
    if (manifest->count > SCHEMA_FIELD_COUNT_MAX ||
        in.size !=
            MANIFEST_HEAD_SIZE + schema_size + (uint64_t)manifest->count * MANIFEST_ENTRY_SIZE + 4)
        return false;
    buf_put(&manifest->schema, bytes_make(data + MANIFEST_HEAD_SIZE, schema_size));
    data += MANIFEST_HEAD_SIZE + schema_size;
    for (i = 0; i < manifest->count; i++, data += MANIFEST_ENTRY_SIZE) {
        manifest->fields[i] = get_le32(data);
        manifest->sizes[i] = get_le64(data + 4);
        manifest->saved.size += manifest->sizes[i];
        if (manifest->fields[i] >= SCHEMA_FIELD_COUNT_MAX)
            return false;
    }
    return true;
}

static int manifest_read(struct manifest *manifest, const char *dir, struct err *err)
{
    struct buf in = BUF_INIT(MANIFEST_SIZE_MAX);
    char path[PATH_SIZE];
    int rc;

    memset(manifest, 0, sizeof(*manifest));
    buf_init(&manifest->schema, SCHEMA_SIZE_MAX);
    snprintf(path, sizeof(path), "%s/%s", dir, manifest_name);
    rc = file_read(path, &in, err);
    if (!rc && !manifest_parse(buf_bytes(&in), manifest))
        rc = err_set(err, ERR_CORRUPT, "%s is damaged, or of another format than %d", path, FORMAT);
    buf_release(&in);
    return rc;
}

/* ---- writing ---- */

struct writer {
    const struct columns *columns;
    const struct column *column;
    struct epoch_slot *slot;
    struct buf out;
    struct buf payload;
    int fd;
    uint64_t size;        /* of the column so far */
    uint64_t block_count; /* likewise */
};

static int flush(struct writer *writer, size_t from_size, struct err *err)
{
    int rc;

    if (writer->out.size < from_size)
        return 0;
    rc = file_write_all(writer->fd, buf_bytes(&writer->out), err);
    buf_reset(&writer->out);
    return rc;
}

static int add_block(struct writer *writer, enum block_kind kind, struct err *err)
{
    size_t size;

    if (buf_failed(&writer->payload))
        return err_set(err, ERR_INTERNAL, "a block of attribute \"%s\" is too big",
                       column_field(writer->column)->name);
    size = writer->out.size;
    block_put(&writer->out, kind, buf_bytes(&writer->payload));
    writer->size += writer->out.size - size;
    writer->block_count++;
    buf_reset(&writer->payload);
    return flush(writer, FLUSH_SIZE, err);
}

/* A window's values as they were together; false when there are none. */
static bool encode_window(struct writer *writer, uint32_t window)
{
    const struct value_lists *lists = column_lists(writer->column);
    int64_t values[WINDOW_SIZE];
    struct column_view view;
    uint32_t begun;

    epoch_enter(writer->slot);
    do {
        begun = columns_read_begin(writer->columns, window);
        column_view(writer->column, window, &view);
        if (view.kind != PAGE_ABSENT)
            view_values(&view, values);
    } while (!columns_read_valid(writer->columns, window, begun));
    if (view.kind != PAGE_ABSENT && lists)
        lists_encode(lists, window, values, &writer->payload);
    epoch_exit(writer->slot);
    if (view.kind != PAGE_ABSENT && !lists)
        window_encode(window, values, &writer->payload);
    return view.kind != PAGE_ABSENT;
}

/* After the windows: every ordinal in them has its name by now. */
static int write_names(struct writer *writer, struct err *err)
{
    const struct dictionary *dictionary = column_dictionary(writer->column);
    uint32_t count = dictionary ? dictionary_count(dictionary) : 0;
    uint32_t i;
    int rc = 0;

    for (i = 0; !rc && i < count; i++) {
        struct bytes name = dictionary_name(dictionary, i);

        varint_put(&writer->payload, name.size);
        buf_put(&writer->payload, name);
        if (writer->payload.size >= NAMES_SIZE || i + 1 == count)
            rc = add_block(writer, BLOCK_NAMES, err);
    }
    return rc;
}

static int write_blocks(struct writer *writer, struct err *err)
{
    uint32_t windows = columns_window_count(writer->columns);
    enum block_kind kind = column_lists(writer->column) ? BLOCK_LISTS : BLOCK_WINDOW;
    uint32_t window;
    int rc = 0;

    for (window = 0; !rc && window < windows; window++)
        if (encode_window(writer, window))
            rc = add_block(writer, kind, err);
    if (!rc)
        rc = write_names(writer, err);
    if (rc)
        return rc;
    put_u64(&writer->payload, writer->block_count);
    return add_block(writer, BLOCK_END, err);
}

/* Those that documents have values of; the manifest learns which. */
static int write_columns(struct writer *writer, uint32_t field_count, struct manifest *manifest,
                         struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < field_count; i++) {
        writer->column = columns_column(writer->columns, i);
        if (!writer->column)
            continue;
        writer->size = 0;
        writer->block_count = 0;
        rc = write_blocks(writer, err);
        manifest->fields[manifest->count] = i;
        manifest->sizes[manifest->count++] = writer->size;
        manifest->saved.size += writer->size;
    }
    return rc ? rc : flush(writer, 0, err);
}

static int write_values(const struct columns *columns, uint32_t field_count,
                        struct epoch_slot *slot, const char *path, struct manifest *manifest,
                        struct err *err)
{
    struct writer writer = {.columns = columns, .slot = slot, .fd = -1};
    int rc;

    buf_init(&writer.out, FLUSH_SIZE + BLOCK_SIZE_MAX + BLOCK_HEAD_SIZE);
    buf_init(&writer.payload, BLOCK_SIZE_MAX);
    writer.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (writer.fd < 0) {
        rc = err_errno(err, "cannot create %s", path);
        goto out;
    }
    rc = write_columns(&writer, field_count, manifest, err);
    if (rc && err)
        err_wrap(err, "%s", path);
    if (!rc && file_call_fsync(writer.fd))
        rc = err_errno(err, "cannot sync %s", path);
out:
    if (writer.fd >= 0)
        close(writer.fd);
    buf_release(&writer.out);
    buf_release(&writer.payload);
    return rc;
}

/* Removes the files of every other generation; what stays is only space, so no error. */
static void remove_others(const char *dir, uint64_t generation)
{
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    char suffix[32];

    if (!entries)
        return;
    snprintf(suffix, sizeof(suffix), ".%ju", (uintmax_t)generation);
    for (entry = readdir(entries); entry; entry = readdir(entries)) {
        const char *dot = strrchr(entry->d_name, '.');

        if (strncmp(entry->d_name, "column-", 7) == 0 && dot && strcmp(dot, suffix) != 0)
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
}

static int next_generation(const char *dir, uint64_t *generation, struct err *err)
{
    struct manifest *before = mem_zero(sizeof(*before));
    int rc = manifest_read(before, dir, err);

    *generation = before->saved.generation + 1;
    buf_release(&before->schema);
    free(before);
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

int columns_checkpoint(const struct columns *columns, const struct schema *schema, const char *dir,
                       const struct columns_progress *progress, struct epoch_slot *slot,
                       struct columns_saved *saved, struct err *err)
{
    struct manifest *manifest = mem_zero(sizeof(*manifest));
    uint32_t fields = schema_count(schema);
    char path[PATH_SIZE];
    int rc;

    object_check(columns, COLUMNS_MAGIC);
    buf_init(&manifest->schema, SCHEMA_SIZE_MAX);
    rc = next_generation(dir, &manifest->saved.generation, err);
    manifest->saved.x0 = atomic_load_explicit(&progress->applied, memory_order_acquire);
    if (!rc)
        rc = path_of(path, dir, manifest->saved.generation, err);
    if (!rc)
        rc = write_values(columns, fields, slot, path, manifest, err);
    if (!rc)
        rc = dir_sync(dir, err);
    if (!rc) {
        manifest->saved.x1 = atomic_load_explicit(&progress->begun, memory_order_acquire);
        schema_encode(schema, &manifest->schema);
        rc = manifest_write(manifest, dir, err);
    }
    if (!rc) {
        remove_others(dir, manifest->saved.generation);
        *saved = manifest->saved;
    }
    buf_release(&manifest->schema);
    free(manifest);
    return rc;
}

/* ---- reading ---- */

static bool load_names(struct columns *columns, uint16_t field, struct bytes in)
{
    const struct column *column = columns_column(columns, field);

    if (!column_dictionary(column))
        return false;
    while (in.size) {
        uint32_t expected = dictionary_count(column_dictionary(column));
        uint32_t ordinal;
        uint64_t size;

        if (!varint_get(&in, &size) || size > in.size ||
            dictionary_add(column_dictionary(column), bytes_make(in.data, size), &ordinal, NULL) ||
            ordinal != expected)
            return false;
        in = bytes_skip(in, size);
    }
    return true;
}

static bool load_window(struct columns *columns, uint16_t field, uint32_t kind, struct bytes in)
{
    const struct column *column = columns_column(columns, field);
    struct value_lists *lists = (struct value_lists *)column_lists(column);
    int64_t values[WINDOW_SIZE];
    uint32_t window;
    bool right;

    if ((kind == BLOCK_LISTS) != (lists != NULL))
        return false;
    if (lists)
        right =
            lists_decode(in, lists, dictionary_count(column_dictionary(column)), &window, values);
    else
        right = window_decode(in, &window, values);
    return right && !columns_load_values(columns, field, window, values, NULL);
}

/* Names first, for the windows speak of them; pass 0 also checks that the end is there. */
static bool load_blocks(struct columns *columns, uint16_t field, struct bytes in, int pass)
{
    uint64_t count = 0;
    struct bytes payload;
    uint32_t kind;

    for (;; count++) {
        bool right = true;

        if (!block_get(&in, &kind, &payload))
            return false;
        if (kind == BLOCK_END)
            return in.size == 0 && payload.size == 8 && get_le64(payload.data) == count;
        if (kind != BLOCK_NAMES && kind != BLOCK_WINDOW && kind != BLOCK_LISTS)
            return false;
        if (pass == 0 && kind == BLOCK_NAMES)
            right = load_names(columns, field, payload);
        if (pass == 1 && kind != BLOCK_NAMES)
            right = load_window(columns, field, kind, payload);
        if (!right)
            return false;
    }
}

static int load_columns(struct columns *columns, const struct manifest *manifest, struct bytes in,
                        const char *path, struct err *err)
{
    for (uint32_t i = 0; i < manifest->count; i++) {
        uint16_t field = (uint16_t)manifest->fields[i];
        struct bytes column = bytes_make(in.data, manifest->sizes[i]);

        if (!columns_need(columns, field, NULL) || !load_blocks(columns, field, column, 0) ||
            !load_blocks(columns, field, column, 1))
            return err_set(err, ERR_CORRUPT,
                           "%s is damaged, field %u: remove the checkpoint and replay", path,
                           field);
        in = bytes_skip(in, column.size);
    }
    return 0;
}

static int load_values(struct columns *columns, const struct manifest *manifest, const char *path,
                       struct err *err)
{
    uint64_t size = manifest->saved.size;
    struct stat status;
    void *mapped = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = 0;

    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_CORRUPT, "%s, part of a checkpoint, is missing", path);
    if (fd < 0) /* too many files are open, say: nothing is lost */
        return err_errno(err, "cannot open %s", path);
    if (fstat(fd, &status)) {
        rc = err_errno(err, "cannot look at %s", path);
        goto out;
    }
    if ((uint64_t)status.st_size != size) {
        rc = err_set(err, ERR_CORRUPT, "%s has %ju bytes and should have %ju", path,
                     (uintmax_t)status.st_size, (uintmax_t)size);
        goto out;
    }
    if (!size) /* no document has an attribute */
        goto out;
    mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
        rc = err_errno(err, "cannot map %s", path);
        goto out;
    }
    (void)madvise(mapped, size, MADV_SEQUENTIAL);
    rc = load_columns(columns, manifest, bytes_make(mapped, size), path, err);
out:
    if (mapped != MAP_FAILED)
        munmap(mapped, size);
    close(fd);
    return rc;
}

int columns_load(struct columns *columns, struct schema *schema, const char *dir,
                 struct columns_saved *saved, struct err *err)
{
    struct manifest *manifest = mem_zero(sizeof(*manifest));
    char path[PATH_SIZE];
    int rc;

    object_check(columns, COLUMNS_MAGIC);
    rc = manifest_read(manifest, dir, err);
    if (!rc && schema_decode(schema, buf_bytes(&manifest->schema), err))
        rc = err_wrap(err, "%s/%s", dir, manifest_name);
    if (!rc)
        rc = path_of(path, dir, manifest->saved.generation, err);
    if (!rc)
        rc = load_values(columns, manifest, path, err);
    *saved = manifest->saved;
    buf_release(&manifest->schema);
    free(manifest);
    return rc;
}
