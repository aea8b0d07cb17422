/* SPDX-License-Identifier: Apache-2.0 */
/* site.c - see site.h. A few dozen files: looked through one by one. */
#include "net/server/calls/site.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/pack.h"
#include "codec/gzip.h"
#include "net/server/calls/format.h"

static void make_form(struct site_form *form, size_t number, struct bytes content)
{
    static const char *const codings[SITE_FORM_COUNT] = {NULL, "zstd", "gzip"};
    const char *coding = codings[number];

    form->coding = coding;
    form->content = content; /* borrowed */
    snprintf(form->tag, sizeof(form->tag), "\"%016" PRIx64 "%s%s\"", hash64(content),
             coding ? "-" : "", coding ? coding : "");
    buf_init(&form->packed, content.size + 1024);
    if (!coding)
        return;
    if (number == 1)
        pack_put_frame(&form->packed, content);
    else
        gzip_pack(content, &form->packed);
    if (buf_failed(&form->packed) || form->packed.size >= content.size)
        buf_release(&form->packed);
    form->content = buf_bytes(&form->packed);
}

struct content site_choose(const struct site_file *file, struct bytes accepted, bool whole)
{
    const struct site_form *form = &file->forms[0];

    for (size_t i = 1; i < SITE_FORM_COUNT && !whole; i++)
        if (file->forms[i].content.size && format_accepts(accepted, file->forms[i].coding)) {
            form = &file->forms[i];
            break;
        }
    return (struct content){.body = form->content,
                            .type = file->content_type,
                            .tag = form->tag,
                            .coding = form->coding};
}

void site_add(struct site *site, const char *path, const char *content_type, struct bytes content)
{
    struct site_file *file = mem_zero(sizeof(*file));

    assert(site->count < NET_FILE_COUNT_MAX);
    assert(path[0] == '/');
    file->path = bytes_of(mem_strdup(path));
    file->content_type = mem_strdup(content_type);
    for (size_t i = 0; i < SITE_FORM_COUNT; i++)
        make_form(&file->forms[i], i, content);
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
        for (size_t k = 0; k < SITE_FORM_COUNT; k++)
            buf_release(&site->files[i]->forms[k].packed);
        free(site->files[i]);
    }
    site->count = 0;
}
