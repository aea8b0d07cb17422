/* SPDX-License-Identifier: Apache-2.0 */
/* likeness.c - see likeness.h. */
#include "offers/inbox/likeness.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/photo_key.h"
#include "offers/bounds.h"
#include "offers/inbox/stage.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"

enum { BAND_COUNT = 4, BAND_BITS = 16, DIFFERENCE_MAX = BAND_COUNT - 1 };

struct alike {
    uint64_t look;
    struct arena *arena;
    const char **photos; /* [LIKENESS_PHOTO_COUNT] */
    size_t photo_count;
    offerid *offers; /* [LIKENESS_OFFER_COUNT] */
    size_t offer_count;
    const char **sellers; /* [LIKENESS_OFFER_COUNT] */
    size_t seller_count;
};

/* --- rows of looks --- */

static int64_t band_of(uint64_t look, unsigned at)
{
    uint64_t bits = look >> (at * BAND_BITS) & ((1u << BAND_BITS) - 1);

    return (int64_t)((uint64_t)at << BAND_BITS | bits);
}

struct entering {
    struct bytes photo;
    uint64_t look;
};

static int enter(struct store_tx *tx, void *arg, struct err *err)
{
    const struct entering *entering = arg;
    int rc = 0;

    for (unsigned i = 0; i < BAND_COUNT && !rc; i++)
        rc = store_exec(tx,
                        "INSERT INTO photo_look (band, photo, look) VALUES ($1, $2, $3) "
                        "ON CONFLICT (band, photo) DO NOTHING",
                        STORE_WITH(STORE_V_INT(band_of(entering->look, i)),
                                   STORE_V_TEXT(entering->photo),
                                   STORE_V_INT((int64_t)entering->look)),
                        NULL, err);
    return rc;
}

/* Most are there already when a photo stands in a second offer. */
static int enter_look(struct store *store, const char *key, uint64_t look, struct err *err)
{
    struct entering entering = {.photo = photo_key_stem(key), .look = look};
    int64_t found = 0;
    int rc = store_read_integer(
        store, "SELECT 1 FROM photo_look WHERE band = $1 AND photo = $2",
        STORE_WITH(STORE_V_INT(band_of(look, 0)), STORE_V_TEXT(entering.photo)), &found, err);

    return rc || found ? rc : store_write(store, enter, &entering, err);
}

/* --- where it stands --- */

static int find_photos(struct store_tx *tx, struct alike *alike, struct err *err)
{
    struct store_rows rows = store_select(
        tx, "SELECT DISTINCT photo, look FROM photo_look WHERE band IN ($1, $2, $3, $4) LIMIT $5",
        STORE_WITH(STORE_V_INT(band_of(alike->look, 0)), STORE_V_INT(band_of(alike->look, 1)),
                   STORE_V_INT(band_of(alike->look, 2)), STORE_V_INT(band_of(alike->look, 3)),
                   STORE_V_INT(LIKENESS_BAND_COUNT)));

    while (store_next(&rows) && alike->photo_count < LIKENESS_PHOTO_COUNT) {
        uint64_t other = (uint64_t)rows.columns[1].integer;

        if (__builtin_popcountll(other ^ alike->look) <= DIFFERENCE_MAX)
            alike->photos[alike->photo_count++] = arena_text(alike->arena, rows.columns[0].bytes);
    }
    return store_rows_end(&rows, err);
}

static void add_offer(struct alike *alike, offerid id, struct bytes seller)
{
    for (size_t i = 0; i < alike->offer_count; i++)
        if (alike->offers[i] == id)
            return;
    alike->offers[alike->offer_count++] = id;
    for (size_t i = 0; i < alike->seller_count; i++)
        if (bytes_equal_text(seller, alike->sellers[i]))
            return;
    alike->sellers[alike->seller_count++] = arena_text(alike->arena, seller);
}

static int find_offers(struct store_tx *tx, struct alike *alike, const char *photo, struct err *err)
{
    struct store_rows rows = store_select(
        tx, "SELECT holder_id, seller_id FROM photo_use WHERE photo = $1 AND kind = $2 LIMIT $3",
        STORE_WITH(STORE_V_STRING(photo), STORE_V_INT(PHOTO_USE_OFFER),
                   STORE_V_INT(LIKENESS_OFFER_COUNT)));

    while (store_next(&rows) && alike->offer_count < LIKENESS_OFFER_COUNT)
        add_offer(alike, rows.columns[0].integer, rows.columns[1].bytes);
    return store_rows_end(&rows, err);
}

static int look_around(struct store_tx *tx, void *arg, struct err *err)
{
    struct alike *alike = arg;
    int rc;

    alike->photo_count = alike->offer_count = alike->seller_count = 0;
    rc = find_photos(tx, alike, err);
    for (size_t i = 0; i < alike->photo_count && !rc; i++)
        rc = find_offers(tx, alike, alike->photos[i], err);
    return rc;
}

/* --- the state --- */

static int keep_state(const struct offers *offers, offerid id, const char *list,
                      struct arena *arena, struct err *err)
{
    const char *value = arena_printf(arena, "{\"photos\":[%s]}", list);
    Torg__V1__StageState state = TORG__V1__STAGE_STATE__INIT;
    int rc = stage_get(offers, id, LIKENESS_STAGE, arena, &state, err);

    if (rc == ERR_NOT_FOUND && !*list)
        return 0;
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    if (!rc && bytes_equal_text(bytes_make(state.value.data, state.value.len), value))
        return 0;
    rc = stage_put(offers, NULL, id, LIKENESS_STAGE, rc ? 0 : state.revision, bytes_of(value),
                   arena, &state, err);
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

static void put_photo(const Torg__V1__Photo *photo, const struct alike *alike, struct buf *list)
{
    buf_put_text(list, list->size ? ",{\"url\":" : "{\"url\":");
    text_put_json(list, bytes_of(photo->source_url));
    buf_printf(list, ",\"offers\":%zu,\"sellers\":%zu}", alike->offer_count, alike->seller_count);
}

/* A picture of one colour looks like every other. */
static bool has_look(const Torg__V1__Photo *photo)
{
    int bits = __builtin_popcountll(photo->look);

    return photo->n_sizes && bits >= LIKENESS_BITS_MIN && bits <= 64 - LIKENESS_BITS_MIN;
}

static int note_photo(const struct offers *offers, const Torg__V1__Photo *photo,
                      struct alike *alike, struct buf *list, struct err *err)
{
    int rc = enter_look(offers->store, photo->sizes[0]->key, photo->look, err);

    alike->look = photo->look;
    if (!rc)
        rc = store_read(offers->store, look_around, alike, err);
    if (!rc && alike->offer_count > 1)
        put_photo(photo, alike, list);
    return rc;
}

int likeness_note(const struct offers *offers, const Torg__V1__PhotoResult *result,
                  struct arena *arena, struct err *err)
{
    const struct reader all = {.sees_all = true};
    struct alike alike = {.arena = arena};
    struct buf list = BUF_INIT(STAGE_VALUE_SIZE_MAX / 2);
    Torg__V1__Offer *offer;
    offerid id;
    int rc = offer_id_parse(bytes_of(result->offer_id), &id, err);

    if (!rc)
        rc = offers_get(offers, &all, id, arena, &offer, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? 0 : rc;
    alike.photos = arena_array(arena, LIKENESS_PHOTO_COUNT, sizeof(*alike.photos));
    alike.offers = arena_array(arena, LIKENESS_OFFER_COUNT, sizeof(*alike.offers));
    alike.sellers = arena_array(arena, LIKENESS_OFFER_COUNT, sizeof(*alike.sellers));
    for (size_t i = 0; i < offer->content->n_photos && !rc; i++)
        if (has_look(offer->content->photos[i]))
            rc = note_photo(offers, offer->content->photos[i], &alike, &list, err);
    if (!rc && !buf_failed(&list)) {
        buf_put_byte(&list, 0);
        rc = keep_state(offers, id, buf_failed(&list) ? "" : (const char *)list.data, arena, err);
    }
    buf_release(&list);
    return rc;
}
