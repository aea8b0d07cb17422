/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - see files.h. */
#include "snippets/parts/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "snippets/bounds.h"

/* What cannot be read is another than what can, whatever is in it. */
static uint64_t hash_on(uint64_t hash, int rc, struct bytes content)
{
    return hash64_seeded(content, hash + (rc ? 2 : 1));
}

static void note(struct snippet_files *files, const char *path, int rc, struct bytes content)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->paths[i], path) == 0)
            return;
    }
    files->paths =
        mem_grow(files->paths, files->count + 1, sizeof(*files->paths), &files->capacity);
    files->paths[files->count++] = mem_strdup(path);
    files->hash = hash_on(files->hash, rc, content);
}

int snippet_files_read(struct snippet_files *files, const char *dir, const char *name,
                       struct buf *content, struct err *err)
{
    struct buf path = BUF_INIT(8192);
    size_t before = content->size;
    int rc;

    if (!*name || strstr(name, "..") || name[0] == '/')
        return err_set(err, ERR_INVALID, "expected a file beside the config");
    buf_printf(&path, "%s/%s", dir, name);
    rc = file_read(buf_text(&path), content, err);
    if (files)
        note(files, buf_text(&path), rc, rc ? BYTES_EMPTY : bytes_skip(buf_bytes(content), before));
    buf_release(&path);
    return rc;
}

uint64_t snippet_files_hash(const struct snippet_files *files)
{
    struct buf content = BUF_INIT(SNIPPET_SCHEMA_SIZE_MAX);
    uint64_t hash = 0;

    for (size_t i = 0; i < files->count; i++) {
        int rc;

        buf_reset(&content);
        rc = file_read(files->paths[i], &content, NULL);
        hash = hash_on(hash, rc, rc ? BYTES_EMPTY : buf_bytes(&content));
    }
    buf_release(&content);
    return hash;
}

void snippet_files_release(struct snippet_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct snippet_files){0};
}
