/* SPDX-License-Identifier: Apache-2.0 */
/* prefixes.c - see prefixes.h. */
#include "snippets/config/prefixes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "snippets/bounds.h"
#include "snippets/config/config.h"
#include "snippets/config/name.h"

#define HEAD "# key prefixes of snippets; `torg snippets prefixes --allot` adds what is missing\n"

enum { LOCK_PAUSE_US = 5 * MS_US }; /* between two looks at the lock of another */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct snippet_prefix *)a)->name,
                  ((const struct snippet_prefix *)b)->name);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const struct snippet_prefix *)a)->number;
    int64_t y = ((const struct snippet_prefix *)b)->number;

    return (x > y) - (x < y);
}

static struct bytes trim(struct bytes line)
{
    while (line.size && line.data[line.size - 1] <= ' ')
        line.size--;
    while (line.size && line.data[0] <= ' ')
        line = bytes_skip(line, 1);
    return line;
}

static int read_line(struct bytes line, unsigned number, struct arena *arena,
                     struct snippet_prefix *prefix, struct err *err)
{
    const uint8_t *blank = memchr(line.data, ' ', line.size);
    size_t size = blank ? (size_t)(blank - line.data) : line.size;
    struct bytes name = trim(bytes_skip(line, size));
    struct err reason;

    prefix->line = number;
    if (!text_to_i64(bytes_make(line.data, size), &prefix->number) || prefix->number <= 0 ||
        prefix->number > INT32_MAX)
        return err_set(err, ERR_INVALID, "line %u, column 1: expected a number, 1 to %d", number,
                       INT32_MAX);
    if (snippet_name_check(name, &reason))
        return err_set(err, reason.code, "line %u, column %zu: %s", number, size + 2, reason.text);
    prefix->name = arena_text(arena, name);
    return 0;
}

static int refuse_twice(struct snippet_prefixes *prefixes, struct err *err)
{
    const struct snippet_prefix *list = prefixes->list;
    size_t i;

    qsort(prefixes->list, prefixes->count, sizeof(*prefixes->list), by_number);
    for (i = 1; i < prefixes->count; i++) {
        if (list[i].number == list[i - 1].number)
            return err_set(err, ERR_INVALID,
                           "lines %u and %u: %s and %s have the same prefix, %" PRId64
                           ", and would overwrite each other",
                           list[i - 1].line, list[i].line, list[i - 1].name, list[i].name,
                           list[i].number);
    }
    prefixes->last = prefixes->count ? list[prefixes->count - 1].number : 0;
    qsort(prefixes->list, prefixes->count, sizeof(*prefixes->list), by_name);
    for (i = 1; i < prefixes->count; i++) {
        if (by_name(&list[i], &list[i - 1]) == 0)
            return err_set(err, ERR_INVALID, "lines %u and %u: %s has two prefixes",
                           list[i - 1].line, list[i].line, list[i].name);
    }
    return 0;
}

int snippet_prefixes_read(struct bytes text, struct arena *arena, struct snippet_prefixes *prefixes,
                          struct err *err)
{
    size_t i, lines = 1;
    unsigned number = 0;

    for (i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    *prefixes =
        (struct snippet_prefixes){.list = arena_array(arena, lines, sizeof(*prefixes->list))};
    while (text.size) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        struct bytes line = trim(bytes_make(text.data, size));
        int rc = 0;

        number++;
        if (line.size && line.data[0] != '#')
            rc = read_line(line, number, arena, &prefixes->list[prefixes->count++], err);
        if (rc)
            return rc;
        text = bytes_skip(text, end ? size + 1 : size);
    }
    return refuse_twice(prefixes, err);
}

static int read_file(const char *path, struct buf *text, struct err *err)
{
    int rc = file_read(path, text, err);

    return rc == ERR_NOT_FOUND ? 0 : rc;
}

int snippet_prefixes_load(const char *path, struct arena *arena, struct snippet_prefixes *prefixes,
                          struct err *err)
{
    struct buf text = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX);
    int rc = read_file(path, &text, err);

    *prefixes = (struct snippet_prefixes){0};
    if (!rc && snippet_prefixes_read(buf_bytes(&text), arena, prefixes, err))
        rc = err_wrap(err, "%s", path);
    buf_release(&text);
    return rc;
}

int64_t snippet_prefixes_find(const struct snippet_prefixes *prefixes, struct bytes name)
{
    size_t low = 0, high = prefixes->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = bytes_compare(bytes_of(prefixes->list[middle].name), name);

        if (order == 0)
            return prefixes->list[middle].number;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* The file's lock, a file beside it; who has it is done in no time. */
static int lock_file(const char *path, const struct clock *clock, struct arena *arena, int *lock,
                     struct err *err)
{
    const char *name = arena_printf(arena, "%s.lock", path);
    int64_t until_us = clock_after_us(clock, SNIPPET_PREFIXES_LOCK_MS * MS_US);
    int rc = file_lock(name, lock, err);

    while (rc == ERR_EXISTS && clock_mono_us(clock) < until_us) {
        clock_sleep(clock, LOCK_PAUSE_US);
        rc = file_lock(name, lock, err);
    }
    return rc;
}

static int add_missing(const char *path, const struct snippet_config *config, struct arena *arena,
                       size_t *added, struct err *err)
{
    struct buf text = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX);
    struct snippet_prefixes prefixes;
    const struct snippet *const *snippets;
    size_t count, i;
    int64_t next;
    int rc = read_file(path, &text, err);

    if (!rc && snippet_prefixes_read(buf_bytes(&text), arena, &prefixes, err))
        rc = err_wrap(err, "%s", path);
    if (rc)
        goto out;
    if (text.size == 0)
        buf_put_text(&text, HEAD);
    else if (text.data[text.size - 1] != '\n')
        buf_put_byte(&text, '\n');
    next = prefixes.last < SNIPPET_PREFIX_FIRST ? SNIPPET_PREFIX_FIRST : prefixes.last + 1;
    snippets = snippet_config_snippets(config, &count);
    for (i = 0; i < count; i++) {
        if (snippet_prefixes_find(&prefixes, bytes_of(snippets[i]->name)))
            continue;
        buf_printf(&text, "%" PRId64 " %s\n", next++, snippets[i]->name);
        ++*added;
    }
    if (*added && buf_failed(&text))
        rc = err_set(err, ERR_LIMIT, "%s: the file would be too large", path);
    else if (*added)
        rc = file_write(path, buf_bytes(&text), err);
out:
    buf_release(&text);
    return rc;
}

int snippet_prefixes_allot(const char *path, const struct snippet_config *config,
                           const struct clock *clock, size_t *added, struct err *err)
{
    struct arena *arena = arena_new();
    int lock = -1, rc = lock_file(path, clock, arena, &lock, err);

    *added = 0;
    if (!rc) {
        rc = add_missing(path, config, arena, added, err);
        file_unlock(lock);
    }
    arena_free(arena);
    return rc;
}

static int drop_line(const char *path, struct bytes name, struct arena *arena, struct err *err)
{
    struct buf text = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX), kept = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX);
    struct snippet_prefixes prefixes;
    int rc = read_file(path, &text, err);
    struct bytes rest = buf_bytes(&text);

    if (!rc)
        rc = snippet_prefixes_read(rest, arena, &prefixes, err);
    if (!rc && !snippet_prefixes_find(&prefixes, name))
        rc = err_set(err, ERR_NOT_FOUND, "%.*s has no key prefix", BYTES_ARG(name));
    while (!rc && rest.size) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        size_t size = end ? (size_t)(end - rest.data) + 1 : rest.size;
        struct bytes line = trim(bytes_make(rest.data, size));
        struct snippet_prefix prefix;

        if (!line.size || line.data[0] == '#' || read_line(line, 0, arena, &prefix, err) ||
            !bytes_equal_text(name, prefix.name))
            buf_put_raw(&kept, rest.data, size);
        rest = bytes_skip(rest, size);
    }
    if (!rc)
        rc = file_write(path, buf_bytes(&kept), err);
    buf_release(&text);
    buf_release(&kept);
    return rc;
}

int snippet_prefixes_free(const char *path, struct bytes name, const struct clock *clock,
                          struct err *err)
{
    struct arena *arena = arena_new();
    int lock = -1, rc = lock_file(path, clock, arena, &lock, err);

    if (!rc) {
        rc = drop_line(path, name, arena, err);
        file_unlock(lock);
    }
    arena_free(arena);
    return rc;
}
