/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_file.h - the file of a full load, row by row: JSON lines, CSV or Avro, recognised by its
 * first bytes; packed by gzip or not.
 *
 *   {"key": "o-1", "language": "en", "value": {"stars": 4.5}}      language may be missing
 *
 * CSV and Avro have columns of these names. A value of CSV or Avro is the body as it is. One of
 * JSON lines is a body in JSON, or where another format is loaded, a text, or {"base64": "…"}.
 * One row is held at a time. Threads: one.
 */
#ifndef TORG_SNIPPETS_INTAKE_LOAD_FILE_H
#define TORG_SNIPPETS_INTAKE_LOAD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

struct snippet_file;

struct snippet_file_row {
    struct bytes key;
    struct bytes language; /* empty: none */
    struct bytes body;
    int64_t place; /* its line, or in Avro which row it is; from 1 */
};

/* read: up to size bytes of the source, *got = 0 at its end. On failure *file is NULL. */
int snippet_file_open(int (*read)(void *arg, void *to, size_t size, size_t *got, struct err *err),
                      void *arg, bool is_json, struct snippet_file **file, struct err *err);
void snippet_file_close(struct snippet_file *file); /* NULL is fine */

/* The next row, valid until the next call; *end: there is none. ERR_INVALID and ERR_LIMIT tell the
 * place. */
int snippet_file_next(struct snippet_file *file, struct snippet_file_row *row, bool *end,
                      struct err *err);

#endif
