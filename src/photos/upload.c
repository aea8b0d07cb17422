/* SPDX-License-Identifier: Apache-2.0 */
/* upload.c - see upload.h. */
#include "photos/upload.h"

#include <string.h>

#include "access/digest.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "model/photo_key.h"
#include "photos/bounds.h"
#include "photos/photo_folder.h"
#include "photos/source.h"

bool upload_is_address(const char *url)
{
    return photo_address_is_upload(url);
}

/* Files of before the ledger have no time in their names. */
static const char *name_of(const struct ledger *ledger, const char *digest, struct arena *arena,
                           struct err *err)
{
    struct bytes stem = bytes_make(digest, PHOTO_STEM_DIGITS);
    int64_t made_ms;
    int rc = ledger_find(ledger, stem, &made_ms, err);

    if (rc == ERR_NOT_FOUND)
        return arena_printf(arena, UPLOAD_BLOB_PREFIX "%s", digest);
    return rc ? NULL
              : ledger_blob_name(stem, made_ms,
                                 bytes_of(arena_printf(arena, "up:%s", digest + PHOTO_STEM_DIGITS)),
                                 arena);
}

int upload_read(const struct ledger *ledger, const char *url, struct buf *file, struct err *err)
{
    const char *digest = url + strlen(PHOTO_UPLOAD_SCHEME);
    struct arena *arena = arena_new();
    const char *name;
    int rc = ERR_UNAVAILABLE;

    if (!photo_address_is_upload(url)) {
        rc = err_set(err, ERR_INVALID, "'%.80s' is not the address of an upload", url);
        goto out;
    }
    name = name_of(ledger, digest, arena, err);
    if (!name)
        goto out;
    rc = blob_get(ledger->blob, name, file, err);
    if (rc == ERR_NOT_FOUND) /* pictures may be there of another's fetching, and this of before */
        rc =
            blob_get(ledger->blob, arena_printf(arena, UPLOAD_BLOB_PREFIX "%s", digest), file, err);
    if (rc == ERR_NOT_FOUND)
        rc = err_set(err, ERR_NOT_FOUND, "the uploaded file is gone: upload it again");
out:
    arena_free(arena);
    return rc;
}

static void put_answer(const char *address, const Torg__V1__PhotoResult__Item *item,
                       struct buf *body)
{
    Torg__V1__Photo photo = TORG__V1__PHOTO__INIT;

    photo.source_url = (char *)address;
    photo.state = item->state;
    photo.sizes = item->sizes;
    photo.n_sizes = item->n_sizes;
    photo.preview = item->preview;
    json_encode(&photo.base, body);
}

static const char *address_of(const Torg__V1__PhotoResult__Item *item, struct arena *arena)
{
    struct buf hex = BUF_INIT(2 * DIGEST_SIZE + 1);
    const char *address;

    text_put_hex(&hex, bytes_make(item->hash.data, item->hash.len));
    address = arena_printf(arena, PHOTO_UPLOAD_SCHEME "%.*s", BYTES_ARG(buf_bytes(&hex)));
    buf_release(&hex);
    return address;
}

/* Only a seller's offers can name an upload, and only his own. */
static int check_uploader(const struct identity *identity, struct err *err)
{
    if (*identity->seller)
        return 0;
    return err_set(err, ERR_DENIED,
                   "the key '%s' is bound to no seller: make one with torg key create NAME "
                   "--seller SELLER --scope photos",
                   identity->principal);
}

/* Who sends a file waits for the answer: another try is made at once, and is the last. */
static int develop(const struct intake *intake, struct bytes file, const char *seller,
                   struct arena *arena, Torg__V1__PhotoResult__Item *item, struct err *err)
{
    int rc = intake_develop(intake, file, seller, arena, item, err);

    if (rc == ERR_TIMEOUT)
        rc = intake_develop(intake, file, seller, arena, item, err);
    if (rc == ERR_TIMEOUT)
        rc = err->code = ERR_INVALID;
    return rc;
}

static int post_photo(struct call *call, const struct rest_request *request,
                      struct rest_answer *answer, struct err *err)
{
    const struct intake *intake = call_context(call);
    struct arena *arena = call_arena(call);
    Torg__V1__PhotoResult__Item item = TORG__V1__PHOTO_RESULT__ITEM__INIT;
    int rc = check_uploader(call_identity(call), err);

    if (!rc)
        rc = develop(intake, request->body, call_identity(call)->seller, arena, &item, err);
    if (!rc) {
        item.url = (char *)address_of(&item, arena);
        rc = source_keep_upload(intake->ledger->store, item.url, &item, err);
    }
    if (!rc) {
        put_answer(item.url, &item, answer->body);
        answer->http_status = 201;
        answer->content_type = "application/json";
    }
    return rc;
}

static int get_own_photo(struct call *call, const struct rest_request *request,
                         struct rest_answer *answer, struct err *err)
{
    const struct intake *intake = call_context(call);
    struct arena *arena = call_arena(call);
    struct bytes key = request->variables[0];
    const char *address = arena_text(arena, key);
    const char *smallest = address;
    struct folder_file file = {0};
    int rc = 0;

    if (photo_address_is_upload(address)) /* a draft knows no more of it */
        rc = ledger_smallest(intake->ledger, photo_upload_stem(address), arena, &smallest, err);
    if (!rc)
        rc = photo_read(intake->ledger, bytes_of(smallest), call_identity(call)->seller, arena,
                        answer->body, &file, err);
    if (rc == ERR_NOT_FOUND) /* another's is told in the same words as none */
        rc = err_set(err, ERR_NOT_FOUND, "there is no photo %s", address);
    if (!rc)
        rc = call_add_header(call, "cache-control", bytes_of("private, max-age=3600"), err);
    if (!rc)
        rc = call_add_header(call, "x-content-type-options", bytes_of("nosniff"), err);
    if (!rc)
        rc = call_add_header(call, "content-security-policy", bytes_of(file.security_policy), err);
    answer->content_type = file.content_type;
    return rc;
}

struct rest_service upload_service(const struct intake *intake)
{
    static const char pictures[] =
        "{\"image/jpeg\":{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}},\"image/png\":{"
        "\"schema\":{\"type\":\"string\",\"format\":\"binary\"}},\"image/webp\":{\"schema\":{"
        "\"type\":\"string\",\"format\":\"binary\"}},\"image/gif\":{\"schema\":{\"type\":"
        "\"string\",\"format\":\"binary\"}},\"application/octet-stream\":{\"schema\":{\"type\":"
        "\"string\",\"format\":\"binary\"}}}";
    static const struct rest_method methods[] = {
        {.verb = "POST",
         .path = "/v1/photos",
         .run = post_photo,
         .scope = "photos",
         .flags = RPC_OF_SELLER,
         .body_size_max = PHOTO_FILE_SIZE_MAX,
         .about = "Uploads a photo: the body is the file. The answer's sourceUrl is for an offer.",
         .body = pictures,
         .answer =
             REST_CONTENT("application/json", "{\"$ref\":\"#/components/schemas/torg.v1.Photo\"}"),
         .status = 201},
        {.verb = "GET",
         .path = "/v1/own-photos/{key}",
         .run = get_own_photo,
         .scope = "offers.read",
         .flags = RPC_OF_SELLER,
         .about =
             "A photo of an offer, a draft or an upload of the seller's own, also while nobody "
             "else may see it: by the key of a size, or by the sourceUrl of an upload (its "
             "smallest size).",
         .answer = pictures},
    };

    return (struct rest_service){
        .methods = methods, .method_count = ARRAY_COUNT(methods), .context = (void *)intake};
}
