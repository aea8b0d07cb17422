/* SPDX-License-Identifier: Apache-2.0 */
/* site.c - see site.h. A few dozen files: looked through one by one. */
#include "net/server/site.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "codec/gzip.h"

void site_add(struct site *site, const char *path, const char *content_type, struct bytes content)
{
    struct site_file *file = mem_zero(sizeof(*file));

    assert(site->count < NET_FILE_COUNT_MAX);
    assert(path[0] == '/');
    file->path = bytes_of(mem_strdup(path));
    file->content_type = mem_strdup(content_type);
    file->content = content;
    buf_init(&file->packed, content.size + 1024);
    gzip_pack(content, &file->packed);
    if (buf_failed(&file->packed) || file->packed.size >= content.size)
        buf_release(&file->packed);
    snprintf(file->tag, sizeof(file->tag), "\"%016" PRIx64 "\"", hash64(content));
    site->files[site->count++] = file;
}

const struct site_file *site_find(const struct site *site, struct bytes path)
{
    for (size_t i = 0; i < site->count; i++)
        if (bytes_equal(site->files[i]->path, path))
            return site->files[i];
    return NULL;
}

void site_release(struct site *site)
{
    for (size_t i = 0; i < site->count; i++) {
        free((void *)site->files[i]->path.data);
        free((void *)site->files[i]->content_type);
        buf_release(&site->files[i]->packed);
        free(site->files[i]);
    }
    site->count = 0;
}
