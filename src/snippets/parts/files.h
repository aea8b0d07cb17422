/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - the files beside a config that it names, schemas and templates: read, and remembered,
 * so that a change of one of them is seen. Threads: one.
 */
#ifndef TORG_SNIPPETS_PARTS_FILES_H
#define TORG_SNIPPETS_PARTS_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Zeroed: none. */
struct snippet_files {
    char **paths; /* owned */
    size_t count;
    size_t capacity;
    uint64_t hash; /* of what was in them when they were read */
};

/* Appends the file's content. ERR_INVALID: the name leads out of the directory. files (NULL: none)
 * has it from now on, also if it cannot be read. */
int snippet_files_read(struct snippet_files *files, const char *dir, const char *name,
                       struct buf *content, struct err *err);
/* Of what is in them now. */
uint64_t snippet_files_hash(const struct snippet_files *files);
void snippet_files_release(struct snippet_files *files); /* none afterwards */

#endif
