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

static int read_photo(void *context, struct bytes name, struct arena *arena, struct buf *content,
                      struct folder_file *file, struct err *err)
{
    int rc;

    if (name.size > PHOTO_KEY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a photo's key of %zu bytes; the limit is %d", name.size,
                       PHOTO_KEY_SIZE_MAX);
    rc = blob_get(context, arena_printf(arena, PHOTO_BLOB_PREFIX "%.*s", BYTES_ARG(name)), content,
                  err);
    if (rc == ERR_NOT_FOUND)
        return err_set(err, ERR_NOT_FOUND, "there is no photo %.*s", BYTES_ARG(name));
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

struct folder photo_folder(struct blob *blob)
{
    return (struct folder){.prefix = "/v1/photos/",
                           .about = "A photo, by the key of one of its sizes.",
                           .read = read_photo,
                           .context = blob};
}
