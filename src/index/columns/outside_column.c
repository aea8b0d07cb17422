/* SPDX-License-Identifier: Apache-2.0 */
/* outside_column.c - see outside_column.h. */
#include "index/columns/outside_column.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "codes are used as they lie in the file");

enum { OUTSIDE_MAGIC = OBJECT_MAGIC('o', 'u', 't', 'c') };

struct zone {
    int64_t min, max; /* of the file's values; min > max: there is none */
};

struct outside_column {
    uint32_t magic;
    struct outside_head head;
    int64_t base;
    uint32_t window_count;
    const uint8_t *file; /* mapped, as it is on the disk */
    uint8_t *copy;       /* mapped privately: codes of younger owners are null */
    size_t size;         /* of both */
    uint8_t *tail;       /* owned: codes of the last window, which may be shorter than one */
    struct zone *zones;  /* owned; a window each */
};

/* ---- opening ---- */

static int map(struct outside_column *column, int fd, size_t size, struct err *err)
{
    void *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

    if (mapped == MAP_FAILED)
        return err_errno(err, "map");
    column->file = mapped;
    column->size = size;
    mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED)
        return err_errno(err, "map");
    column->copy = mapped;
    return 0;
}

static inline __attribute__((always_inline)) uint32_t find_ends(const uint8_t *codes,
                                                                uint32_t width, uint32_t count,
                                                                uint64_t *least, uint64_t *most)
{
    uint32_t found = 0;

    *least = UINT64_MAX;
    *most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t code = code_get(codes, width, i);

        if (code == code_null(width))
            continue;
        *least = code < *least ? code : *least;
        *most = code > *most ? code : *most;
        found++;
    }
    return found;
}

static uint32_t ends_of(const uint8_t *codes, uint32_t width, uint32_t count, uint64_t *least,
                        uint64_t *most)
{
    switch (width) {
    case 1:
        return find_ends(codes, 1, count, least, most);
    case 2:
        return find_ends(codes, 2, count, least, most);
    case 4:
        return find_ends(codes, 4, count, least, most);
    default:
        return find_ends(codes, 8, count, least, most);
    }
}

static const uint8_t *file_codes(const struct outside_column *column, uint32_t window)
{
    return column->file + OUTSIDE_HEAD_SIZE + (size_t)window * WINDOW_SIZE * column->head.width;
}

static uint32_t codes_in(const struct outside_column *column, uint32_t window)
{
    uint32_t left = column->head.count - window_first(window);

    return left < WINDOW_SIZE ? left : WINDOW_SIZE;
}

static int find_zones(struct outside_column *column, struct err *err)
{
    uint32_t width = column->head.width;

    column->zones = mem_array(column->window_count + 1, sizeof(column->zones[0]));
    for (uint32_t window = 0; window < column->window_count; window++) {
        uint64_t least, most;
        uint32_t found =
            ends_of(file_codes(column, window), width, codes_in(column, window), &least, &most);

        column->zones[window] = (struct zone){INT64_MAX, INT64_MIN};
        if (!found)
            continue;
        if (!column->head.is_signed && most >= (uint64_t)COLUMN_NULL)
            return err_set(err, ERR_LIMIT,
                           "a value of the numbers from %" PRIu32 " on is too great",
                           window_first(window));
        column->zones[window].min = (int64_t)((uint64_t)column->base + least);
        column->zones[window].max = (int64_t)((uint64_t)column->base + most);
    }
    return 0;
}

static void make_tail(struct outside_column *column)
{
    size_t size = (size_t)WINDOW_SIZE * column->head.width;
    uint32_t last = column->window_count - 1;

    if (!column->window_count)
        return;
    column->tail = aligned_alloc(64, size);
    if (!column->tail)
        abort();
    memset(column->tail, 0xff, size);
    memcpy(column->tail, file_codes(column, last),
           (size_t)codes_in(column, last) * column->head.width);
}

static int open_mapped(struct outside_column *column, int fd, struct err *err)
{
    struct stat status;
    int rc;

    if (fstat(fd, &status))
        return err_errno(err, "look at it");
    if (!S_ISREG(status.st_mode) || status.st_size < OUTSIDE_HEAD_SIZE)
        return err_set(err, ERR_CORRUPT, "this is not the file of a column");
    if (status.st_size > OUTSIDE_FILE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "%jd bytes: a column has at most %d a shard",
                       (intmax_t)status.st_size, OUTSIDE_FILE_SIZE_MAX);
    rc = map(column, fd, (size_t)status.st_size, err);
    if (!rc)
        rc = outside_head_decode(bytes_make(column->file, column->size), column->size,
                                 &column->head, err);
    if (rc)
        return rc;
    if (crc32_plain(0, bytes_make(column->file + OUTSIDE_HEAD_SIZE,
                                  column->size - OUTSIDE_HEAD_SIZE)) != column->head.sum)
        return err_set(err, ERR_CORRUPT, "the values are damaged: their checksum differs");
    column->base = outside_base(&column->head);
    column->window_count =
        (uint32_t)(((uint64_t)column->head.count + WINDOW_SIZE - 1) / WINDOW_SIZE);
    make_tail(column);
    return find_zones(column, err);
}

int outside_column_open(const char *path, struct outside_column **out, struct err *err)
{
    struct outside_column *column = mem_zero(sizeof(*column));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    object_begin(column, OUTSIDE_MAGIC);
    *out = NULL;
    rc = fd < 0 ? err_errno(err, "open") : open_mapped(column, fd, err);
    if (fd >= 0)
        close(fd);
    if (rc) {
        err_wrap(err, "%s", path);
        outside_column_close(column);
    } else {
        *out = column;
    }
    return rc;
}

void outside_column_close(struct outside_column *column)
{
    if (!column)
        return;
    object_check(column, OUTSIDE_MAGIC);
    if (column->file)
        munmap((void *)column->file, column->size);
    if (column->copy)
        munmap(column->copy, column->size);
    free(column->tail);
    free(column->zones);
    object_end(column, OUTSIDE_MAGIC);
    free(column);
}

/* ---- reading ---- */

const struct outside_head *outside_column_head(const struct outside_column *column)
{
    object_check(column, OUTSIDE_MAGIC);
    return &column->head;
}

uint32_t outside_column_window_count(const struct outside_column *column)
{
    object_check(column, OUTSIDE_MAGIC);
    return column->window_count;
}

static uint8_t *codes_of(const struct outside_column *column, uint32_t window)
{
    assert(window < column->window_count);
    return window == column->window_count - 1
               ? column->tail
               : column->copy + OUTSIDE_HEAD_SIZE +
                     (size_t)window * WINDOW_SIZE * column->head.width;
}

void outside_column_view(const struct outside_column *column, uint32_t window,
                         struct column_view *view)
{
    object_check(column, OUTSIDE_MAGIC);
    *view = (struct column_view){.kind = PAGE_ABSENT, .min = INT64_MAX, .max = INT64_MIN};
    if (window >= column->window_count || column->zones[window].min > column->zones[window].max)
        return;
    *view = (struct column_view){.kind = PAGE_DENSE,
                                 .width = column->head.width,
                                 .base = column->base,
                                 .codes = codes_of(column, window),
                                 .min = column->zones[window].min,
                                 .max = column->zones[window].max};
}

/* ---- settling ---- */

static void settle_code(struct outside_column *column, uint32_t window, uint32_t offset,
                        int64_t birth)
{
    uint32_t width = column->head.width;
    uint8_t *codes = codes_of(column, window);
    bool is_owners = birth != COLUMN_NULL && birth <= (int64_t)column->head.numbers[3];
    uint64_t code =
        is_owners ? code_get(file_codes(column, window), width, offset) : code_null(width);

    if (code_get(codes, width, offset) != code) /* a page that is not written to is not copied */
        code_put(codes, width, offset, code);
}

void outside_column_settle(struct outside_column *column, docid id, int64_t birth)
{
    object_check(column, OUTSIDE_MAGIC);
    if (id < column->head.count)
        settle_code(column, window_of(id), id & (WINDOW_SIZE - 1), birth);
}

void outside_column_settle_window(struct outside_column *column, uint32_t window,
                                  const int64_t births[WINDOW_SIZE])
{
    object_check(column, OUTSIDE_MAGIC);
    if (window >= column->window_count || column->zones[window].min > column->zones[window].max)
        return;
    for (uint32_t i = 0; i < codes_in(column, window); i++)
        settle_code(column, window, i, births[i]);
}
