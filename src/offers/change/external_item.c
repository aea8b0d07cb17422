/* SPDX-License-Identifier: Apache-2.0 */
/* external_item.c - see external_item.h. */
#include "offers/change/external_item.h"

#include <assert.h>
#include <string.h>

#include "codec/moment.h"
#include "offers/change/moderation.h"
#include "offers/record/offer_record.h"

int external_item_find(struct store_tx *tx, const char *seller, const char *external_id,
                       struct arena *arena, struct external_item *item, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT offer_id, feed_id, task_id, gone_us, away FROM feed "
                     "WHERE seller_id = $1 AND external_id = $2",
                     STORE_WITH(STORE_V_STRING(seller), STORE_V_STRING(external_id)));

    *item = (struct external_item){.feed_id = ""};
    if (store_next(&rows))
        *item = (struct external_item){.offer_id = rows.columns[0].integer,
                                       .feed_id = arena_text(arena, rows.columns[1].bytes),
                                       .task_id = rows.columns[2].integer,
                                       .gone_us = rows.columns[3].integer,
                                       .away = rows.columns[4].integer};
    return store_rows_end(&rows, err);
}

int external_item_put(struct store_tx *tx, const char *seller, const char *external_id,
                      const struct external_item *before, const struct external_item *after,
                      bool *outrun, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_STRING(seller),          STORE_V_STRING(external_id),
        STORE_V_INT(after->offer_id),    STORE_V_STRING(after->feed_id),
        STORE_V_INT(after->task_id),     STORE_V_INT(after->gone_us),
        STORE_V_INT(before->offer_id),   STORE_V_INT(before->task_id),
        STORE_V_STRING(before->feed_id), STORE_V_INT(before->gone_us),
        STORE_V_INT(after->away),        STORE_V_INT(before->away)};
    int64_t changed = 0;
    int rc;

    if (before->offer_id)
        rc = store_exec(tx,
                        "UPDATE feed SET offer_id = $3, feed_id = $4, task_id = $5, gone_us = $6, "
                        "away = $11 WHERE seller_id = $1 AND external_id = $2 AND "
                        "offer_id = $7 AND task_id = $8 AND feed_id = $9 AND gone_us = $10 AND "
                        "away = $12",
                        params, 12, &changed, err);
    else
        rc = store_exec(tx,
                        "INSERT INTO feed (seller_id, external_id, offer_id, feed_id, task_id, "
                        "gone_us) VALUES ($1, $2, $3, $4, $5, $6) "
                        "ON CONFLICT (seller_id, external_id) DO NOTHING",
                        params, 6, &changed, err);
    *outrun = !rc && !changed;
    return rc;
}

/* --- with changes of others --- */

static int refuse_taken(offerid holder, const char *name, struct err *err)
{
    char id[OFFER_ID_TEXT_SIZE];

    offer_id_format(holder, id);
    return err_set(
        err, ERR_EXISTS,
        "content.external_id: the seller's offer %s has \"%s\" already: change or delete "
        "that offer, or take another external id",
        id, name);
}

/* As another offer, what was banned would be rid of its ban. */
static int refuse_banned(struct store_tx *tx, offerid holder, const char *name, struct arena *arena,
                         struct err *err)
{
    struct opinion_seen opinion = {0};
    Torg__V1__Offer *offer;
    char id[OFFER_ID_TEXT_SIZE];
    int rc = record_find(tx, holder, arena, &offer, err);

    if (!rc && offer)
        rc = opinion_see(tx, holder, arena, &opinion, err);
    if (rc || !offer || !opinion_bans(&opinion, offer))
        return rc;
    offer_id_format(holder, id);
    return err_set(err, ERR_PRECONDITION,
                   "content.external_id: \"%s\" is that of offer %s, which was banned and deleted: "
                   "ask the moderators to lift the ban",
                   name, id);
}

/* Takes a name that is free: never used, or only by what is deleted and not banned. */
static int take_name(struct store_tx *tx, offerid id, const Torg__V1__Offer *offer,
                     struct arena *arena, struct err *err)
{
    const char *name = offer->content->external_id;
    const struct store_value params[] = {STORE_V_STRING(offer->seller), STORE_V_STRING(name),
                                         STORE_V_INT(id)};
    struct external_item item;
    int64_t changed = 0;
    int rc = store_exec(tx,
                        "INSERT INTO feed (seller_id, external_id, offer_id, feed_id, task_id, "
                        "gone_us) VALUES ($1, $2, $3, '', 0, 0) "
                        "ON CONFLICT (seller_id, external_id) DO NOTHING",
                        params, 3, &changed, err);

    if (rc || changed)
        return rc;
    rc = external_item_find(tx, offer->seller, name, arena, &item, err);
    if (!rc && item.offer_id == id && !item.gone_us)
        return 0; /* its own: the content that had it could not be read any more */
    if (!rc)
        rc = item.gone_us ? refuse_banned(tx, item.offer_id, name, arena, err)
                          : refuse_taken(item.offer_id, name, err);
    if (!rc)
        rc = store_exec(tx,
                        "UPDATE feed SET offer_id = $3, feed_id = '', task_id = 0, gone_us = 0, "
                        "away = 0 WHERE seller_id = $1 AND external_id = $2",
                        params, 3, NULL, err);
    return rc;
}

static int refuse_renaming(const Torg__V1__Offer *offer, struct err *err)
{
    return err_set(err, ERR_PRECONDITION,
                   "content.external_id: offer %s is banned and keeps \"%s\": send it unchanged",
                   offer->id, offer->content->external_id);
}

static int give_name_up(struct store_tx *tx, offerid id, const Torg__V1__Offer *offer,
                        struct err *err)
{
    return store_exec(
        tx, "DELETE FROM feed WHERE seller_id = $1 AND external_id = $2 AND offer_id = $3",
        STORE_WITH(STORE_V_STRING(offer->seller), STORE_V_STRING(offer->content->external_id),
                   STORE_V_INT(id)),
        NULL, err);
}

static int mark_gone(struct store_tx *tx, offerid id, const Torg__V1__Offer *offer, int64_t gone_us,
                     struct err *err)
{
    return store_exec(tx,
                      "UPDATE feed SET gone_us = $4 "
                      "WHERE seller_id = $1 AND external_id = $2 AND offer_id = $3",
                      STORE_WITH(STORE_V_STRING(offer->seller),
                                 STORE_V_STRING(offer->content->external_id), STORE_V_INT(id),
                                 STORE_V_INT(gone_us)),
                      NULL, err);
}

static bool is_deleted(const Torg__V1__Offer *offer)
{
    return offer->status == TORG__V1__OFFER__STATUS__DELETED;
}

int external_item_follow(struct store_tx *tx, offerid id, const Torg__V1__Offer *before,
                         const Torg__V1__Offer *after, struct arena *arena, struct err *err)
{
    const char *was = before ? before->content->external_id : "";
    const char *is = after->content->external_id;
    int rc = 0;

    if (strcmp(was, is) != 0) {
        if (*was && before->status == TORG__V1__OFFER__STATUS__BANNED)
            return refuse_renaming(before, err);
        if (*was)
            rc = give_name_up(tx, id, before, err);
        if (!rc && *is)
            rc = take_name(tx, id, after, arena, err);
        return rc;
    }
    if (!*is || !before || is_deleted(before) == is_deleted(after))
        return 0;
    return mark_gone(tx, id, after, is_deleted(after) ? moment_own_us(after->update_time) : 0, err);
}

/* --- forgetting --- */

int external_item_hold(struct store_tx *tx, offerid id, const Torg__V1__Offer *offer,
                       struct err *err)
{
    if (!*offer->content->external_id)
        return 0;
    return store_exec(tx,
                      "INSERT INTO feed (seller_id, external_id, offer_id, feed_id, task_id, "
                      "gone_us) VALUES ($1, $2, $3, '', 0, $4) "
                      "ON CONFLICT (seller_id, external_id) DO NOTHING",
                      STORE_WITH(STORE_V_STRING(offer->seller),
                                 STORE_V_STRING(offer->content->external_id), STORE_V_INT(id),
                                 STORE_V_INT(EXTERNAL_ITEM_HELD_US)),
                      NULL, err);
}

struct judged {
    struct bytes seller;
    struct bytes external_id;
    offerid offer_id;
};

/* Holds the name, or deletes it, as the newest opinion wants it. */
static int judge(struct store_tx *tx, const struct judged *one, struct arena *arena,
                 int64_t *forgotten, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(one->seller), STORE_V_TEXT(one->external_id),
                                         STORE_V_INT(EXTERNAL_ITEM_HELD_US)};
    struct opinion_seen opinion;
    int rc = opinion_see(tx, one->offer_id, arena, &opinion, err);

    if (rc)
        return rc;
    if (opinion.bans)
        return store_exec(tx,
                          "UPDATE feed SET gone_us = $3 WHERE seller_id = $1 AND external_id = $2",
                          params, 3, NULL, err);
    ++*forgotten;
    return store_exec(tx, "DELETE FROM feed WHERE seller_id = $1 AND external_id = $2", params, 2,
                      NULL, err);
}

/* A row of kind 'moderation' has the verdict in its body, where SQL does not look. */
#define HAS_OPINION                                                                                \
    "EXISTS (SELECT 1 FROM offer o WHERE o.id = feed.offer_id AND o.kind = 'moderation')"

int external_item_forget(struct store_tx *tx, int64_t until_us, size_t max, struct arena *arena,
                         int64_t *forgotten, bool *more, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(until_us), STORE_V_INT((int64_t)max),
                                         STORE_V_INT(EXTERNAL_ITEM_HELD_US)};
    struct store_rows rows =
        store_select(tx,
                     "SELECT seller_id, external_id, offer_id FROM feed WHERE gone_us > 0 AND "
                     "gone_us > $3 AND gone_us <= $1 AND " HAS_OPINION " LIMIT $2",
                     params, 3);
    struct judged *list = arena_array(arena, max, sizeof(*list));
    int64_t deleted = 0;
    size_t count;
    int rc;

    for (count = 0; store_next(&rows); count++) { /* none is judged while they are read */
        assert(count < max);
        list[count] = (struct judged){.seller = arena_copy(arena, rows.columns[0].bytes),
                                      .external_id = arena_copy(arena, rows.columns[1].bytes),
                                      .offer_id = rows.columns[2].integer};
    }
    rc = store_rows_end(&rows, err);
    *forgotten = 0;
    for (size_t i = 0; i < count && !rc; i++)
        rc = judge(tx, &list[i], arena, forgotten, err);
    if (!rc)
        rc = store_exec(tx,
                        "DELETE FROM feed WHERE (seller_id, external_id) IN (SELECT seller_id, "
                        "external_id FROM feed WHERE gone_us > 0 AND gone_us > $3 AND "
                        "gone_us <= $1 AND NOT " HAS_OPINION " LIMIT $2)",
                        params, 3, &deleted, err);
    *forgotten += deleted;
    *more = count == max || deleted == (int64_t)max;
    return rc;
}
