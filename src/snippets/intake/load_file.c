/* SPDX-License-Identifier: Apache-2.0 */
/* load_file.c - see load_file.h. */
#include "snippets/intake/load_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/avro_file.h"
#include "codec/csv_reader.h"
#include "codec/gunzip.h"
#include "codec/placed_json.h"
#include "snippets/bounds.h"

enum { SNIPPET_FILE_MAGIC = OBJECT_MAGIC('s', 'n', 'f', 'i'), BLOCK_SIZE = 64 << 10 };

/* The columns, in whichever order a file has them; -1: it has none of that name. */
struct columns {
    int key, language, value;
};

struct snippet_file {
    uint32_t magic;
    bool is_json;
    struct gunzip *gunzip;
    struct avro_reader *avro; /* one of these two, or lines */
    struct csv_reader *csv;
    struct columns columns;
    struct arena *arena; /* of a row */
    struct buf line;
    struct buf body;
    int64_t place;
    size_t at, size; /* in the block */
    uint8_t block[BLOCK_SIZE];
};

/* --- the bytes --- */

static int fill(struct snippet_file *file, struct err *err)
{
    file->at = file->size = 0;
    return gunzip_read(file->gunzip, file->block, BLOCK_SIZE, &file->size, err);
}

static int read_plain(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct snippet_file *file = arg;
    int rc = file->at == file->size ? fill(file, err) : 0;

    *got = file->size - file->at < size ? file->size - file->at : size;
    if (*got)
        memcpy(to, file->block + file->at, *got);
    file->at += *got;
    if (!rc && !*got && gunzip_cut(file->gunzip))
        rc = err_set(err, ERR_INVALID, "%s", gunzip_cut(file->gunzip));
    return rc;
}

/* --- JSON lines --- */

/* A line without its end; *end: there is none. */
static int read_line(struct snippet_file *file, bool *end, struct err *err)
{
    const uint8_t *found = NULL;
    int rc = 0;

    buf_reset(&file->line);
    *end = false;
    while (!rc && !found && !*end) {
        size_t size;

        if (file->at == file->size)
            rc = fill(file, err);
        size = file->size - file->at;
        *end = !rc && !size;
        found = size ? memchr(file->block + file->at, '\n', size) : NULL;
        size = found ? (size_t)(found - file->block) - file->at : size;
        buf_put_raw(&file->line, file->block + file->at, size);
        file->at += size + (found != NULL);
    }
    *end = *end && !file->line.size;
    file->place++;
    if (!rc && buf_failed(&file->line))
        rc = err_set(err, ERR_LIMIT, "line %" PRId64 ": more than %d bytes", file->place,
                     SNIPPET_LOAD_LINE_SIZE_MAX);
    if (!rc && *end && gunzip_cut(file->gunzip))
        rc = err_set(err, ERR_INVALID, "%s", gunzip_cut(file->gunzip));
    return rc;
}

static bool find_text(const struct placed_json *object, const char *name, struct bytes *text)
{
    const struct placed_json *found = placed_json_find(object, bytes_of(name));

    *text = found ? found->text : BYTES_EMPTY;
    return !found || found->kind == PLACED_TEXT;
}

/* The value as the body of a snippet. */
static bool take_value(struct snippet_file *file, const struct placed_json *value,
                       struct bytes *body)
{
    struct bytes base64;

    buf_reset(&file->body);
    if (file->is_json)
        placed_json_put(value, &file->body);
    else if (value->kind == PLACED_TEXT)
        buf_put(&file->body, value->text);
    else if (value->kind != PLACED_OBJECT || value->count != 1 ||
             !find_text(value, "base64", &base64) || !text_from_base64(base64, &file->body))
        return false;
    *body = buf_bytes(&file->body);
    return !buf_failed(&file->body);
}

static int take_line(struct snippet_file *file, struct snippet_file_row *row, struct err *err)
{
    const struct placed_json *root;
    const struct placed_json *value;
    int rc;

    arena_reset(file->arena);
    rc = placed_json_read(buf_bytes(&file->line), file->arena, &root, err);
    if (rc)
        return err_wrap(err, "line %" PRId64, file->place);
    value = placed_json_find(root, bytes_of("value"));
    if (!find_text(root, "key", &row->key) || !row->key.size ||
        !find_text(root, "language", &row->language) || !value)
        return err_set(err, ERR_INVALID,
                       "line %" PRId64
                       ": expected {\"key\": \"…\", \"value\": …}, \"language\" beside them or not",
                       file->place);
    if (root->count != 2u + (placed_json_find(root, bytes_of("language")) != NULL))
        return err_set(err, ERR_INVALID,
                       "line %" PRId64 ": other names than \"key\", \"language\", \"value\"",
                       file->place);
    if (!take_value(file, value, &row->body))
        return err_set(err, ERR_INVALID,
                       "line %" PRId64 ": \"value\" is neither a text nor {\"base64\": \"…\"}",
                       file->place);
    return 0;
}

static int next_line(struct snippet_file *file, struct snippet_file_row *row, bool *end,
                     struct err *err)
{
    int rc;

    do
        rc = read_line(file, end, err);
    while (!rc && !*end &&
           strspn(buf_text(&file->line), " \t\r") == file->line.size); /* a blank line */
    if (!rc && !*end)
        rc = take_line(file, row, err);
    return rc;
}

/* --- tables --- */

static int need_columns(const struct columns *columns, struct err *err)
{
    if (columns->key >= 0 && columns->value >= 0)
        return 0;
    return err_set(err, ERR_INVALID,
                   "there are no columns \"key\" and \"value\" (\"language\" beside them or not)");
}

static int open_csv(struct snippet_file *file, struct err *err)
{
    const struct bytes *cells;
    size_t count;
    int rc;

    file->csv = csv_reader_new(read_plain, file, SNIPPET_LOAD_LINE_SIZE_MAX);
    rc = csv_reader_next(file->csv, &cells, &count, err);
    for (size_t i = 0; !rc && i < count; i++) {
        if (bytes_equal_text(cells[i], "key"))
            file->columns.key = (int)i;
        else if (bytes_equal_text(cells[i], "value"))
            file->columns.value = (int)i;
        else if (bytes_equal_text(cells[i], "language"))
            file->columns.language = (int)i;
    }
    return rc ? rc : need_columns(&file->columns, err);
}

static int next_csv(struct snippet_file *file, struct snippet_file_row *row, bool *end,
                    struct err *err)
{
    const struct columns *columns = &file->columns;
    const struct bytes *cells;
    size_t count;
    int rc = csv_reader_next(file->csv, &cells, &count, err);

    *end = !rc && !count;
    if (rc || *end)
        return rc;
    file->place = (int64_t)csv_reader_line(file->csv);
    if ((size_t)columns->key >= count || (size_t)columns->value >= count)
        return err_set(err, ERR_INVALID, "line %" PRId64 ": has only %zu cells", file->place,
                       count);
    row->key = cells[columns->key];
    row->body = cells[columns->value];
    if (columns->language >= 0 && (size_t)columns->language < count)
        row->language = cells[columns->language];
    return 0;
}

static int open_avro(struct snippet_file *file, struct err *err)
{
    int rc = avro_reader_open(read_plain, file, &file->avro, err);

    if (rc)
        return rc;
    file->columns.key = avro_reader_find(file->avro, "key");
    file->columns.value = avro_reader_find(file->avro, "value");
    file->columns.language = avro_reader_find(file->avro, "language");
    return need_columns(&file->columns, err);
}

/* A text or a number; false: it is neither. */
static bool take_key(struct snippet_file *file, const struct avro_value *value, struct bytes *key)
{
    if (value->kind == AVRO_LONG)
        *key = bytes_of(arena_printf(file->arena, "%" PRId64, value->number));
    else
        *key = value->text;
    return value->kind == AVRO_LONG || value->kind == AVRO_STRING || value->kind == AVRO_BYTES;
}

static int next_avro(struct snippet_file *file, struct snippet_file_row *row, bool *end,
                     struct err *err)
{
    const struct columns *columns = &file->columns;
    const struct avro_value *values;
    int rc = avro_reader_next(file->avro, &values, err);

    *end = !rc && !values;
    if (rc || *end)
        return rc;
    file->place++;
    arena_reset(file->arena);
    row->body = values[columns->value].text;
    if (columns->language >= 0)
        row->language = values[columns->language].text;
    if (!take_key(file, &values[columns->key], &row->key) ||
        (values[columns->value].kind != AVRO_STRING && values[columns->value].kind != AVRO_BYTES))
        return err_set(err, ERR_INVALID, "row %" PRId64 ": its key or value is not a text",
                       file->place);
    return 0;
}

/* --- any of them --- */

static int open_reader(struct snippet_file *file, struct err *err)
{
    int rc = fill(file, err);
    size_t at;

    if (rc)
        return rc;
    if (bytes_begin(bytes_make(file->block, file->size), bytes_of("Obj\x01")))
        return open_avro(file, err);
    if (bytes_begin(bytes_make(file->block, file->size), bytes_of("\xef\xbb\xbf")))
        file->at += 3; /* a mark that some editors put before a text */
    at = file->at;
    while (at < file->size && strchr(" \t\r\n", file->block[at]))
        at++;
    return at == file->size || file->block[at] == '{' ? 0 : open_csv(file, err);
}

int snippet_file_open(int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err),
                      void *arg, bool is_json, struct snippet_file **opened, struct err *err)
{
    struct snippet_file *file = mem_zero(sizeof(*file));
    int rc;

    object_begin(file, SNIPPET_FILE_MAGIC);
    file->is_json = is_json;
    file->gunzip = gunzip_new(read, arg);
    file->columns = (struct columns){-1, -1, -1};
    file->arena = arena_new();
    buf_init(&file->line, SNIPPET_LOAD_LINE_SIZE_MAX);
    buf_init(&file->body, SNIPPET_LOAD_LINE_SIZE_MAX);
    rc = open_reader(file, err);
    if (rc)
        snippet_file_close(file);
    *opened = rc ? NULL : file;
    return rc;
}

void snippet_file_close(struct snippet_file *file)
{
    if (!file)
        return;
    object_check(file, SNIPPET_FILE_MAGIC);
    avro_reader_close(file->avro);
    csv_reader_free(file->csv);
    gunzip_free(file->gunzip);
    arena_free(file->arena);
    buf_release(&file->line);
    buf_release(&file->body);
    object_end(file, SNIPPET_FILE_MAGIC);
    free(file);
}

int snippet_file_next(struct snippet_file *file, struct snippet_file_row *row, bool *end,
                      struct err *err)
{
    int rc;

    object_check(file, SNIPPET_FILE_MAGIC);
    *row = (struct snippet_file_row){0};
    if (file->avro)
        rc = next_avro(file, row, end, err);
    else if (file->csv)
        rc = next_csv(file, row, end, err);
    else
        rc = next_line(file, row, end, err);
    row->place = file->place;
    return rc;
}
