/* SPDX-License-Identifier: Apache-2.0 */
/* intake.c - see intake.h. */
#include "photos/intake.h"

#include <string.h>

#include "access/digest.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"
#include "photos/photo_folder.h"

enum { KEY_DIGEST_SIZE = 20 }; /* of the digest's bytes: 160 bits cannot be searched through */

/* What people send in place of a photo: told by name, the rest as "no picture". */
struct stranger {
    const char *name;
    size_t at;
    struct bytes bytes;
};

const char *intake_refusal(struct bytes file)
{
    static const char *const taken[] = {"image/jpeg", "image/png", "image/webp", "image/gif"};
    static const struct stranger strangers[] = {
        {"a HEIC picture: save or share it as JPEG", 4, BYTES_LITERAL("ftyphei")},
        {"a HEIC picture: save or share it as JPEG", 4, BYTES_LITERAL("ftypmif1")},
        {"an AVIF picture: save it as JPEG", 4, BYTES_LITERAL("ftypavif")},
        {"a video: send a picture of it", 4, BYTES_LITERAL("ftyp")},
        {"a video: send a picture of it", 0, BYTES_LITERAL("\x1a\x45\xdf\xa3")},
        {"a PDF: send a picture of its page", 0, BYTES_LITERAL("%PDF")},
        {"an SVG drawing: save it as PNG", 0, BYTES_LITERAL("<svg")},
        {"a TIFF picture: save it as JPEG", 0, BYTES_LITERAL("II*\0")},
        {"a TIFF picture: save it as JPEG", 0, BYTES_LITERAL("MM\0*")},
        {"a web page, not a picture: the address must lead to the file itself", 0,
         BYTES_LITERAL("<!")},
        {"a web page, not a picture: the address must lead to the file itself", 0,
         BYTES_LITERAL("<html")},
    };
    const char *type = photo_content_type(file);

    if (!file.size)
        return "empty";
    for (size_t i = 0; type && i < ARRAY_COUNT(taken); i++)
        if (strcmp(type, taken[i]) == 0)
            return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(strangers); i++)
        if (file.size > strangers[i].at &&
            bytes_begin(bytes_skip(file, strangers[i].at), strangers[i].bytes))
            return strangers[i].name;
    return "no picture: JPEG, PNG, WebP and GIF are taken";
}

static int put_picture(const struct intake *intake, const struct darkroom_picture *picture,
                       const char *key, struct arena *arena, struct err *err)
{
    const char *name = arena_printf(arena, PHOTO_BLOB_PREFIX "%s", key);
    uint64_t size;
    int rc = blob_stat(intake->blob, name, &size, err);

    if (rc == ERR_NOT_FOUND || (!rc && size != picture->content.size))
        rc = blob_put(intake->blob, name, picture->content, err);
    return rc;
}

static int put_pictures(const struct intake *intake, const struct darkroom_photo *photo,
                        const char *stem, struct arena *arena, Torg__V1__PhotoResult__Item *item,
                        struct err *err)
{
    int rc = 0;

    item->sizes = arena_array(arena, photo->count, sizeof(*item->sizes));
    for (size_t i = 0; i < photo->count && !rc; i++) {
        const struct darkroom_picture *picture = &photo->pictures[i];
        Torg__V1__PhotoSize *size = MESSAGE_NEW(photo_size, arena);

        size->key = arena_printf(arena, "%s-%u%s", stem, picture->width, picture->extension);
        size->width = picture->width;
        size->height = picture->height;
        size->size = (uint32_t)picture->content.size;
        item->sizes[item->n_sizes++] = size;
        rc = put_picture(intake, picture, size->key, arena, err);
    }
    return rc;
}

int intake_develop(const struct intake *intake, struct bytes file, struct arena *arena,
                   Torg__V1__PhotoResult__Item *item, struct err *err)
{
    const char *refusal = intake_refusal(file);
    struct buf stem = BUF_INIT(2 * KEY_DIGEST_SIZE + 1);
    struct darkroom_photo photo;
    int rc;

    if (refusal)
        return err_set(err, ERR_INVALID, "the file is %s", refusal);
    item->hash.data = arena_alloc(arena, DIGEST_SIZE);
    item->hash.len = DIGEST_SIZE;
    digest_of(file, item->hash.data);
    rc = darkroom_develop(intake->darkroom, file, arena, &photo, err);
    if (rc)
        return rc;
    text_put_hex(&stem, bytes_make(item->hash.data, KEY_DIGEST_SIZE));
    buf_put_byte(&stem, 0);
    rc = put_pictures(intake, &photo, (const char *)stem.data, arena, item, err);
    buf_release(&stem);
    item->state = TORG__V1__PHOTO__STATE__READY;
    item->look = photo.look;
    item->preview.data = (uint8_t *)photo.preview.data;
    item->preview.len = photo.preview.size;
    return rc;
}
