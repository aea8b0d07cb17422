/* SPDX-License-Identifier: Apache-2.0 */
/* photo_use.c - see photo_use.h. */
#include "offers/record/photo_use.h"

#include <assert.h>
#include <string.h>

#include "catalog/bounds.h"
#include "model/bounds.h"
#include "model/photo_key.h"
#include "offers/record/offer_record.h"

/* Someone who refers to photos, and to which: borrowed texts. */
struct ref {
    struct bytes photo;
    int64_t made_ms;     /* 0: not told by the key */
    bool is_ready;       /* by its keys, which we have told; else only by ... */
    const char *address; /* of an upload */
};

struct refs {
    struct ref *list;
    size_t count;
};

struct holder {
    offerid id;
    enum photo_use_kind kind;
    const char *seller; /* "": a visitor's draft */
    bool is_shown;
    int64_t now_us;
};

static struct ref *find(const struct refs *refs, struct bytes photo)
{
    for (size_t i = 0; i < refs->count; i++)
        if (bytes_equal(refs->list[i].photo, photo))
            return &refs->list[i];
    return NULL;
}

/* An address is a seller's word: where keys of the same photo are there, they count. Of several
 * addresses with one stem the first counts: two files with one are not to be had. */
static void add_address(struct refs *refs, const char *url)
{
    struct bytes photo = photo_upload_stem(url);

    if (!find(refs, photo))
        refs->list[refs->count++] = (struct ref){.photo = photo, .address = url};
}

static void add_key(struct refs *refs, const char *key)
{
    struct bytes photo = photo_key_stem(key);
    struct ref *known = find(refs, photo);
    int64_t made_ms = photo_key_made_ms(key);

    if (!known) {
        known = &refs->list[refs->count++];
        *known = (struct ref){.photo = photo};
    }
    known->is_ready = true;
    known->made_ms = made_ms ? made_ms : known->made_ms;
}

static struct refs refs_of(const Torg__V1__OfferContent *content, struct arena *arena)
{
    struct refs refs = {0};

    if (!content || !content->n_photos)
        return refs;
    refs.list =
        arena_array(arena, content->n_photos * (PHOTO_SIZE_COUNT_MAX + 1), sizeof(*refs.list));
    for (size_t i = 0; i < content->n_photos; i++) {
        const Torg__V1__Photo *photo = content->photos[i];

        if (photo_address_is_upload(photo->source_url))
            add_address(&refs, photo->source_url);
        for (size_t j = 0; j < photo->n_sizes && j < PHOTO_SIZE_COUNT_MAX; j++)
            add_key(&refs, photo->sizes[j]->key);
    }
    return refs;
}

static struct refs refs_of_offer(const Torg__V1__Offer *offer, struct arena *arena)
{
    bool refers = offer && offer->status != TORG__V1__OFFER__STATUS__DELETED;

    return refs_of(refers ? offer->content : NULL, arena);
}

/* --- rows --- */

int photo_use_is_own_upload(struct store_tx *tx, const char *seller, const char *url, bool *is_own,
                            struct err *err)
{
    struct bytes stem = photo_upload_stem(url);
    int64_t found = 0;
    int rc = store_find_integer(
        tx,
        "SELECT 1 FROM photo p JOIN photo_use u ON u.photo = p.photo WHERE p.photo = $1 AND "
        "u.kind = $2 AND u.seller_id = $3 AND ' ' || p.forms || ' ' LIKE '% up:' || "
        "CAST($4 AS TEXT) || ' %' LIMIT 1",
        STORE_WITH(STORE_V_TEXT(stem), STORE_V_INT(PHOTO_USE_UPLOAD), STORE_V_STRING(seller),
                   STORE_V_STRING((const char *)stem.data + stem.size)),
        &found, err);

    *is_own = !rc && found;
    return rc;
}

/* Nobody sweeps it from now on. Anybody can write an address, and strangers read those of offers: a
 * row, which lets its holder see the photo, is for who has uploaded that file. */
static int insert_use(struct store_tx *tx, const struct holder *holder, const struct ref *ref,
                      bool *is_gone, struct err *err)
{
    int64_t changed = 0;
    bool may = ref->is_ready;
    int rc = may ? 0 : photo_use_is_own_upload(tx, holder->seller, ref->address, &may, err);

    *is_gone = false;
    if (rc || !may)
        return rc;
    rc = store_exec(tx,
                    "INSERT INTO photo_use (holder_id, kind, photo, seller_id, shown) "
                    "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (holder_id, kind, photo) "
                    "DO UPDATE SET seller_id = $4, shown = $5",
                    STORE_WITH(STORE_V_INT(holder->id), STORE_V_INT(holder->kind),
                               STORE_V_TEXT(ref->photo), STORE_V_STRING(holder->seller),
                               STORE_V_INT(holder->is_shown && ref->is_ready)),
                    NULL, err);
    if (!rc && ref->photo.size == PHOTO_STEM_DIGITS)
        rc = store_exec(tx,
                        "UPDATE photo SET free_us = 0 WHERE photo = $1 AND "
                        "(made_ms = $2 OR $2 = CAST(0 AS BIGINT))",
                        STORE_WITH(STORE_V_TEXT(ref->photo), STORE_V_INT(ref->made_ms)), &changed,
                        err);
    *is_gone = !rc && ref->made_ms && !changed;
    return rc;
}

static int free_photo(struct store_tx *tx, struct bytes photo, int64_t now_us, struct err *err)
{
    if (photo.size != PHOTO_STEM_DIGITS)
        return 0;
    return store_exec(
        tx,
        "UPDATE photo SET free_us = $2 WHERE photo = $1 AND free_us = 0 AND NOT "
        "EXISTS (SELECT 1 FROM photo_use u WHERE u.photo = $1 AND u.kind < $3)",
        STORE_WITH(STORE_V_TEXT(photo), STORE_V_INT(now_us), STORE_V_INT(PHOTO_USE_UPLOAD)), NULL,
        err);
}

static int delete_use(struct store_tx *tx, const struct holder *holder, struct bytes photo,
                      struct err *err)
{
    int rc = store_exec(
        tx, "DELETE FROM photo_use WHERE holder_id = $1 AND kind = $2 AND photo = $3",
        STORE_WITH(STORE_V_INT(holder->id), STORE_V_INT(holder->kind), STORE_V_TEXT(photo)), NULL,
        err);

    return rc ? rc : free_photo(tx, photo, holder->now_us, err);
}

static int write_change(struct store_tx *tx, const struct holder *holder, const struct refs *was,
                        const struct refs *is, bool *is_gone, struct err *err)
{
    int rc = 0;

    *is_gone = false;
    for (size_t i = 0; i < is->count && !rc && !*is_gone; i++) {
        const struct ref *known = find(was, is->list[i].photo);

        if (!known || known->made_ms != is->list[i].made_ms ||
            known->is_ready != is->list[i].is_ready)
            rc = insert_use(tx, holder, &is->list[i], is_gone, err);
    }
    for (size_t i = 0; i < was->count && !rc; i++)
        if (!find(is, was->list[i].photo))
            rc = delete_use(tx, holder, was->list[i].photo, err);
    return rc;
}

/* --- offers --- */

static bool is_shown(const Torg__V1__Offer *offer)
{
    return offer && offer->status == TORG__V1__OFFER__STATUS__ACTIVE;
}

static int set_shown(struct store_tx *tx, offerid id, bool shown, struct err *err)
{
    return store_exec(tx, "UPDATE photo_use SET shown = $3 WHERE holder_id = $1 AND kind = $2",
                      STORE_WITH(STORE_V_INT(id), STORE_V_INT(PHOTO_USE_OFFER), STORE_V_INT(shown)),
                      NULL, err);
}

/* What only waits for an answer, or has failed, is shown by nobody. */
static int write_shown(struct store_tx *tx, const struct holder *holder, const struct refs *refs,
                       struct err *err)
{
    int rc = set_shown(tx, holder->id, holder->is_shown, err);

    for (size_t i = 0; i < refs->count && !rc && holder->is_shown; i++)
        if (!refs->list[i].is_ready)
            rc = store_exec(tx,
                            "UPDATE photo_use SET shown = 0 WHERE holder_id = $1 AND kind = $2 "
                            "AND photo = $3",
                            STORE_WITH(STORE_V_INT(holder->id), STORE_V_INT(holder->kind),
                                       STORE_V_TEXT(refs->list[i].photo)),
                            NULL, err);
    return rc;
}

int photo_use_hide(struct store_tx *tx, offerid id, struct err *err)
{
    return set_shown(tx, id, false, err);
}

int photo_use_follow(struct store_tx *tx, offerid id, const Torg__V1__Offer *before,
                     const Torg__V1__Offer *after, int64_t now_us, struct arena *arena,
                     bool *outrun, struct err *err)
{
    const struct holder holder = {.id = id,
                                  .kind = PHOTO_USE_OFFER,
                                  .seller = after->seller,
                                  .is_shown = is_shown(after),
                                  .now_us = now_us};
    struct refs was = refs_of_offer(before, arena);
    struct refs is = refs_of_offer(after, arena);
    bool is_gone;
    int rc = write_change(tx, &holder, &was, &is, &is_gone, err);

    if (!rc && is_gone) {
        *outrun = true;
        return err_set(err, ERR_CONFLICT, "a photo was swept at the same time");
    }
    if (!rc && was.count && is.count && is_shown(before) != is_shown(after))
        rc = write_shown(tx, &holder, &is, err);
    return rc;
}

/* --- drafts --- */

/* What it referred to before, as rows tell it. */
static int read_uses(struct store_tx *tx, const struct holder *holder, struct arena *arena,
                     struct refs *refs, struct err *err)
{
    enum { MAX = CATALOG_PHOTO_COUNT_MAX };
    struct store_rows rows = store_select(
        tx, "SELECT photo FROM photo_use WHERE holder_id = $1 AND kind = $2 LIMIT $3",
        STORE_WITH(STORE_V_INT(holder->id), STORE_V_INT(holder->kind), STORE_V_INT(MAX)));

    refs->list = arena_array(arena, MAX, sizeof(*refs->list));
    for (refs->count = 0; store_next(&rows); refs->count++) {
        assert(refs->count < MAX);
        refs->list[refs->count] = (struct ref){.photo = arena_copy(arena, rows.columns[0].bytes)};
    }
    return store_rows_end(&rows, err);
}

int photo_use_draft(struct store_tx *tx, offerid id, const char *owner,
                    const Torg__V1__OfferContent *content, int64_t now_us, struct arena *arena,
                    struct err *err)
{
    const struct holder holder = {.id = id,
                                  .kind = PHOTO_USE_DRAFT,
                                  .seller = strncmp(owner, "s:", 2) == 0 ? owner + 2 : "",
                                  .now_us = now_us};
    struct refs is = refs_of(content, arena);
    struct refs was;
    bool is_gone;
    int rc = read_uses(tx, &holder, arena, &was, err);

    if (is.count > CATALOG_PHOTO_COUNT_MAX) /* is refused when it is published */
        is.count = CATALOG_PHOTO_COUNT_MAX;
    return rc ? rc : write_change(tx, &holder, &was, &is, &is_gone, err);
}

/* --- what was swept --- */

int photo_use_is_swept(struct store_tx *tx, const Torg__V1__PhotoSize *const *sizes, size_t count,
                       bool *is_swept, struct err *err)
{
    int64_t found = 0;
    int rc = 0;

    *is_swept = false;
    for (size_t i = 0; i < count && !rc && !*is_swept; i++) {
        int64_t made_ms = photo_key_made_ms(sizes[i]->key);

        if (!made_ms || (i && made_ms == photo_key_made_ms(sizes[i - 1]->key)))
            continue;
        found = 0;
        rc = store_find_integer(
            tx, "SELECT 1 FROM photo WHERE photo = $1 AND made_ms = $2",
            STORE_WITH(STORE_V_TEXT(photo_key_stem(sizes[i]->key)), STORE_V_INT(made_ms)), &found,
            err);
        *is_swept = !rc && !found;
    }
    return rc;
}

int photo_use_find_swept(struct store_tx *tx, Torg__V1__OfferContent *content, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < content->n_photos && !rc; i++) {
        Torg__V1__Photo *photo = content->photos[i];
        char *url = photo->source_url;
        bool is_swept;

        rc = photo_use_is_swept(tx, (const Torg__V1__PhotoSize *const *)photo->sizes,
                                photo->n_sizes, &is_swept, err);
        if (rc || !is_swept)
            continue;
        torg__v1__photo__init(photo);
        photo->source_url = url;
        photo->state = TORG__V1__PHOTO__STATE__WAITING;
    }
    return rc;
}

/* --- offers of before --- */

struct listing {
    size_t max;
    struct arena *arena;
    bool more; /* of the current run */
};

static int list_one(struct store_tx *tx, offerid id, struct arena *arena, struct err *err)
{
    Torg__V1__Offer *offer;
    bool outrun;
    int rc = record_find(tx, id, arena, &offer, err);

    if (rc == ERR_CORRUPT) /* told by those who read it */
        return 0;
    return rc || !offer ? rc : photo_use_follow(tx, id, NULL, offer, 0, arena, &outrun, err);
}

static int list_some(struct store_tx *tx, void *arg, struct err *err)
{
    struct listing *listing = arg;
    int64_t *ids = arena_array(listing->arena, listing->max, sizeof(*ids));
    int64_t last = -1;
    struct store_rows rows;
    size_t count;
    int rc = store_find_integer(tx, "SELECT last_id FROM photo_listing WHERE name = 'offers'", NULL,
                                0, &last, err);

    listing->more = false;
    if (rc || last < 0)
        return rc;
    rows = store_select(
        tx, "SELECT id FROM offer WHERE kind = 'offer' AND id > $1 ORDER BY id LIMIT $2",
        STORE_WITH(STORE_V_INT(last), STORE_V_INT((int64_t)listing->max)));
    for (count = 0; store_next(&rows); count++)
        ids[count] = rows.columns[0].integer;
    rc = store_rows_end(&rows, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = list_one(tx, ids[i], listing->arena, err);
    last = count == listing->max ? ids[count - 1] : -1;
    listing->more = last >= 0;
    return rc ? rc
              : store_exec(tx, "UPDATE photo_listing SET last_id = $1 WHERE name = 'offers'",
                           STORE_WITH(STORE_V_INT(last)), NULL, err);
}

int photo_use_list_old(struct store *store, size_t max, bool *more, struct err *err)
{
    struct listing listing = {.max = max, .arena = arena_new()};
    int64_t last = -1;
    int rc = store_read_integer(store, "SELECT last_id FROM photo_listing WHERE name = 'offers'",
                                NULL, 0, &last, err);

    if (!rc && last >= 0)
        rc = store_write(store, list_some, &listing, err);
    *more = !rc && last >= 0 && listing.more;
    arena_free(listing.arena);
    return rc;
}
