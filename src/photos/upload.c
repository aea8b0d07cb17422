/* SPDX-License-Identifier: Apache-2.0 */
/* upload.c - see upload.h. */
#include "photos/upload.h"

#include <stdio.h>
#include <string.h>

#include "access/digest.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "model/photo_address.h"
#include "photos/bounds.h"

#define UPLOAD_BLOB_PREFIX "uploads/"

bool upload_is_address(const char *url)
{
    return photo_address_is_upload(url);
}

int upload_read(struct blob *blob, const char *url, struct buf *file, struct err *err)
{
    char name[sizeof(UPLOAD_BLOB_PREFIX) + 2 * DIGEST_SIZE];
    int rc;

    if (!photo_address_is_upload(url))
        return err_set(err, ERR_INVALID, "'%.80s' is no address of an upload", url);
    snprintf(name, sizeof(name), UPLOAD_BLOB_PREFIX "%s", url + strlen(PHOTO_UPLOAD_SCHEME));
    rc = blob_get(blob, name, file, err);
    if (rc == ERR_NOT_FOUND)
        return err_set(err, ERR_NOT_FOUND, "the uploaded file is gone: upload it again");
    return rc;
}

static int keep(const struct intake *intake, struct bytes file, const char *digest,
                struct arena *arena, struct err *err)
{
    const char *name = arena_printf(arena, UPLOAD_BLOB_PREFIX "%s", digest);
    uint64_t size;
    int rc = blob_stat(intake->blob, name, &size, err);

    return rc == ERR_NOT_FOUND ? blob_put(intake->blob, name, file, err) : rc;
}

static void put_answer(const char *digest, Torg__V1__PhotoResult__Item *item, struct buf *body)
{
    Torg__V1__Photo photo = TORG__V1__PHOTO__INIT;
    char address[sizeof(PHOTO_UPLOAD_SCHEME) + 2 * DIGEST_SIZE];

    snprintf(address, sizeof(address), PHOTO_UPLOAD_SCHEME "%s", digest);
    photo.source_url = address;
    photo.state = item->state;
    photo.sizes = item->sizes;
    photo.n_sizes = item->n_sizes;
    photo.preview = item->preview;
    json_encode(&photo.base, body);
}

static int post_photo(struct call *call, const struct rest_request *request,
                      struct rest_answer *answer, struct err *err)
{
    const struct intake *intake = call_context(call);
    struct arena *arena = call_arena(call);
    Torg__V1__PhotoResult__Item item = TORG__V1__PHOTO_RESULT__ITEM__INIT;
    struct buf hex = BUF_INIT(2 * DIGEST_SIZE + 1);
    int rc = intake_develop(intake, request->body, arena, &item, err);

    if (!rc) {
        text_put_hex(&hex, bytes_make(item.hash.data, item.hash.len));
        buf_put_byte(&hex, 0);
        rc = keep(intake, request->body, (const char *)hex.data, arena, err);
    }
    if (!rc) {
        put_answer((const char *)hex.data, &item, answer->body);
        answer->http_status = 201;
        answer->content_type = "application/json";
    }
    buf_release(&hex);
    return rc;
}

struct rest_service upload_service(const struct intake *intake)
{
    static const struct rest_method methods[] = {
        {.verb = "POST",
         .path = "/v1/photos",
         .run = post_photo,
         .scope = "photos",
         .flags = RPC_OF_SELLER,
         .body_size_max = PHOTO_FILE_SIZE_MAX,
         .about = "Uploads a photo: the body is the file. The answer's sourceUrl is for an offer."},
    };

    return (struct rest_service){
        .methods = methods, .method_count = ARRAY_COUNT(methods), .context = (void *)intake};
}
