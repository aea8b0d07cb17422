/* SPDX-License-Identifier: Apache-2.0 */
/* photo_folder.c - see photo_folder.h. */
#include "photos/photo_folder.h"

#include "base/memory.h"
#include "model/bounds.h"

static const char cache_for_ever[] = "public, max-age=31536000, immutable";
static const char harmless[] = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/* The bytes at a place of the file that tell what it is. */
struct signature {
    const char *content_type;
    size_t at;
    struct bytes bytes;
};

const char *photo_content_type(struct bytes content)
{
    static const struct signature signatures[] = {
        {"image/jpeg", 0, BYTES_LITERAL("\xff\xd8\xff")},
        {"image/png", 0, BYTES_LITERAL("\x89PNG\r\n\x1a\n")},
        {"image/webp", 8, BYTES_LITERAL("WEBP")},
        {"image/avif", 4, BYTES_LITERAL("ftypavif")},
        {"image/gif", 0, BYTES_LITERAL("GIF8")},
        {"image/svg+xml", 0, BYTES_LITERAL("<svg ")},
    };

    for (size_t i = 0; i < ARRAY_COUNT(signatures); i++) {
        const struct signature *one = &signatures[i];

        if (content.size >= one->at && bytes_begin(bytes_skip(content, one->at), one->bytes))
            return one->content_type;
    }
    return NULL;
}

int photo_read(struct ledger *ledger, struct bytes key, const char *seller, struct arena *arena,
               struct buf *content, struct folder_file *file, struct err *err)
{
    const char *text = arena_text(arena, key);
    const char *name;
    uint64_t size;
    bool may = false;
    int rc;

    if (key.size > PHOTO_KEY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a photo's key of %zu bytes; the limit is %d", key.size,
                       PHOTO_KEY_SIZE_MAX);
    name = arena_printf(arena, PHOTO_BLOB_PREFIX "%s", text);
    rc = ledger_may_see(ledger, text, seller, &may, err);
    if (!rc && may)
        rc = blob_get(ledger->blob, name, content, err);
    else if (!rc) /* a name that no photo can have is told as that */
        rc = blob_stat(ledger->blob, name, &size, err) == ERR_INVALID ? ERR_INVALID : ERR_NOT_FOUND;
    if (rc == ERR_NOT_FOUND)
        return err_set(err, ERR_NOT_FOUND, "there is no photo %s", text);
    if (rc)
        return rc;
    file->content_type = photo_content_type(buf_bytes(content));
    file->cache_control = cache_for_ever;
    file->security_policy = harmless;
    if (!file->content_type) {
        file->content_type = "application/octet-stream";
        file->disposition = "attachment";
    }
    return 0;
}

static int read_as_stranger(void *context, struct bytes name, struct arena *arena,
                            struct buf *content, struct folder_file *file, struct err *err)
{
    return photo_read(context, name, NULL, arena, content, file, err);
}

struct folder photo_folder(struct ledger *ledger)
{
    return (struct folder){.prefix = "/v1/photos/",
                           .about = "A photo of an offer that may be seen, by the key of one of "
                                    "its sizes.",
                           .read = read_as_stranger,
                           .context = ledger,
                           .remote = !store_is_local(ledger->store)};
}
