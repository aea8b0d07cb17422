/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - see source.h. */
#include "photos/source.h"

#include "codec/message.h"
#include "model/photo_key.h"

enum { ITEM_SIZE_MAX = 8 << 10 };

int source_find(struct store *store, const char *url, struct arena *arena,
                struct fetch_state *state, Torg__V1__PhotoResult__Item **item, struct err *err)
{
    struct store_rows rows =
        store_read_rows(store, "SELECT etag, modified, body FROM photo_source WHERE url = $1",
                        STORE_WITH(STORE_V_STRING(url)));
    ProtobufCMessage *decoded = NULL;
    int rc;

    *state = (struct fetch_state){.etag = "", .modified = ""};
    *item = NULL;
    /* A damaged row is as good as none: the file is fetched, and the row written anew. */
    if (store_next(&rows) &&
        !message_decode(arena_copy(arena, rows.columns[2].bytes),
                        &torg__v1__photo_result__item__descriptor, arena, &decoded, err) &&
        ((Torg__V1__PhotoResult__Item *)decoded)->n_sizes) {
        state->etag = arena_text(arena, rows.columns[0].bytes);
        state->modified = arena_text(arena, rows.columns[1].bytes);
        *item = (Torg__V1__PhotoResult__Item *)decoded;
    }
    rc = store_rows_end(&rows, err);
    if (rc)
        *item = NULL;
    return rc;
}

static int put(struct store *store, const char *url, const struct fetch_state *state,
               const Torg__V1__PhotoResult__Item *item, struct err *err)
{
    struct buf body = BUF_INIT(ITEM_SIZE_MAX);
    int rc = 0;

    message_encode(&item->base, &body);
    if (!buf_failed(&body) && item->n_sizes)
        rc = store_write_one(
            store,
            "INSERT INTO photo_source (url, photo, etag, modified, body) VALUES ($1, $2, $3, $4, "
            "$5) ON CONFLICT (url) DO UPDATE SET photo = $2, etag = $3, modified = $4, body = $5",
            STORE_WITH(STORE_V_STRING(url), STORE_V_TEXT(photo_key_stem(item->sizes[0]->key)),
                       STORE_V_STRING(state->etag), STORE_V_STRING(state->modified),
                       STORE_V_BLOB(buf_bytes(&body))),
            NULL, err);
    buf_release(&body);
    return rc;
}

int source_keep(struct store *store, const char *url, const struct fetch_state *state,
                const Torg__V1__PhotoResult__Item *item, struct err *err)
{
    return *state->etag || *state->modified ? put(store, url, state, item, err) : 0;
}

int source_keep_upload(struct store *store, const char *url,
                       const Torg__V1__PhotoResult__Item *item, struct err *err)
{
    static const struct fetch_state none = {.etag = "", .modified = ""};

    return put(store, url, &none, item, err);
}
