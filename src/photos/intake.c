/* SPDX-License-Identifier: Apache-2.0 */
/* intake.c - see intake.h. */
#include "photos/intake.h"

#include <string.h>

#include "access/digest.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/message.h"
#include "model/photo_key.h"
#include "photos/photo_folder.h"

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
    return "not a picture: JPEG, PNG, WebP and GIF are accepted";
}

static int put_blob(const struct intake *intake, const char *name, struct bytes content,
                    struct err *err)
{
    uint64_t size;
    int rc = blob_stat(intake->ledger->blob, name, &size, err);

    if (rc == ERR_NOT_FOUND || (!rc && size != content.size))
        rc = blob_put(intake->ledger->blob, name, content, err);
    return rc;
}

/* A file on its way into the blob store. */
struct entry {
    const char *digest; /* in hex; the stem of its keys is its beginning */
    struct bytes file;
    const char *uploader;
    const struct darkroom_photo *photo;
    struct arena *arena;
};

static struct bytes stem_of(const struct entry *entry)
{
    return bytes_make(entry->digest, PHOTO_STEM_DIGITS);
}

static const char *upload_form(const struct entry *entry)
{
    return arena_printf(entry->arena, "up:%s", entry->digest + PHOTO_STEM_DIGITS);
}

/* "240.jpg" */
static const char *picture_form(const struct entry *entry, size_t at)
{
    const struct darkroom_picture *picture = &entry->photo->pictures[at];

    return arena_printf(entry->arena, "%u%s", picture->width, picture->extension);
}

static const char *forms_of(const struct entry *entry)
{
    const char *forms = entry->uploader ? upload_form(entry) : "";

    for (size_t i = 0; i < entry->photo->count; i++)
        forms =
            arena_printf(entry->arena, "%s%s%s", forms, *forms ? " " : "", picture_form(entry, i));
    return forms;
}

static int put_picture(const struct intake *intake, const struct entry *entry, size_t at,
                       int64_t made_ms, Torg__V1__PhotoSize *size, struct err *err)
{
    const struct darkroom_picture *picture = &entry->photo->pictures[at];
    const char *name =
        ledger_blob_name(stem_of(entry), made_ms, bytes_of(picture_form(entry, at)), entry->arena);

    size->key = (char *)name + strlen(PHOTO_BLOB_PREFIX);
    size->width = picture->width;
    size->height = picture->height;
    size->size = (uint32_t)picture->content.size;
    return put_blob(intake, name, picture->content, err);
}

/* The ledger knows them before the first is there. */
static int put_all(const struct intake *intake, const struct entry *entry,
                   Torg__V1__PhotoResult__Item *item, struct err *err)
{
    int64_t made_ms;
    int rc = ledger_enter(intake->ledger, stem_of(entry), forms_of(entry), entry->uploader,
                          entry->arena, &made_ms, err);

    item->sizes = arena_array(entry->arena, entry->photo->count, sizeof(*item->sizes));
    for (size_t i = 0; i < entry->photo->count && !rc; i++) {
        Torg__V1__PhotoSize *size = MESSAGE_NEW(photo_size, entry->arena);

        item->sizes[item->n_sizes++] = size;
        rc = put_picture(intake, entry, i, made_ms, size, err);
    }
    if (!rc && entry->uploader)
        rc = put_blob(
            intake,
            ledger_blob_name(stem_of(entry), made_ms, bytes_of(upload_form(entry)), entry->arena),
            entry->file, err);
    return rc;
}

int intake_develop(const struct intake *intake, struct bytes file, const char *uploader,
                   struct arena *arena, Torg__V1__PhotoResult__Item *item, struct err *err)
{
    const char *refusal = intake_refusal(file);
    struct buf digest = BUF_INIT(2 * DIGEST_SIZE + 1);
    struct darkroom_photo photo;
    struct entry entry = {.file = file, .uploader = uploader, .photo = &photo, .arena = arena};
    int rc;

    if (refusal)
        return err_set(err, ERR_INVALID, "the file is %s", refusal);
    item->hash.data = arena_alloc(arena, DIGEST_SIZE);
    item->hash.len = DIGEST_SIZE;
    digest_of(file, item->hash.data);
    rc = darkroom_develop(intake->darkroom, file, arena, &photo, err);
    if (rc)
        return rc;
    text_put_hex(&digest, bytes_make(item->hash.data, DIGEST_SIZE));
    buf_put_byte(&digest, 0);
    entry.digest = (const char *)digest.data;
    rc = put_all(intake, &entry, item, err);
    buf_release(&digest);
    item->state = TORG__V1__PHOTO__STATE__READY;
    item->look = photo.look;
    item->preview.data = (uint8_t *)photo.preview.data;
    item->preview.len = photo.preview.size;
    return rc;
}
