/* SPDX-License-Identifier: Apache-2.0 */
/* damaged_offer.c - see damaged_offer.h. */
#include "offers/change/damaged_offer.h"

#include <assert.h>

#include "access/audit.h"
#include "base/log.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/record/offer_counts.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"

enum { BODY_SIZE_MAX = 2 * OFFER_SIZE_MAX };

/* Of two ways of selling, either: they share a list, and count alike. */
static enum offer_status status_of_list(int64_t preset)
{
    for (int status = OFFER_NONE + 1; status < OFFER_STATUS_COUNT; status++)
        if (preset_of((enum offer_status)status) == preset)
            return (enum offer_status)status;
    return OFFER_NONE;
}

/* The lists are in the order of sellers, so that all of them are gone through. That of all offers
 * comes last. */
int damaged_offer_find_seller(struct damaged_offer *damaged, struct err *err)
{
    struct store_rows rows = store_read_rows(
        damaged->offers->store,
        "SELECT seller_id, created_us, preset_id FROM user_offer_presets WHERE offer_id = $1 "
        "ORDER BY CASE WHEN preset_id = $2 THEN 1 ELSE 0 END LIMIT 1",
        STORE_WITH(STORE_V_INT(damaged->id), STORE_V_INT(PRESET_ALL)));
    int rc;

    damaged->seller = DAMAGED_OFFER_SELLER;
    damaged->created_us = 0;
    damaged->was_listed = OFFER_NONE;
    if (store_next(&rows)) {
        damaged->seller = arena_text(damaged->arena, rows.columns[0].bytes);
        damaged->created_us = rows.columns[1].integer;
        damaged->was_listed = status_of_list(rows.columns[2].integer);
    }
    rc = store_rows_end(&rows, err);
    if (rc == ERR_TIMEOUT) {
        log_warn("the seller of a damaged offer was not found in time",
                 LOG_INT("offer", damaged->id));
        rc = 0;
    }
    return rc;
}

static Torg__V1__Offer *stand_in_of(const struct damaged_offer *damaged,
                                    const struct store_value *columns)
{
    struct arena *arena = damaged->arena;
    Torg__V1__Offer *offer = MESSAGE_NEW(offer, arena);
    int64_t updated_us = columns[1].integer;
    bool is_deleted = columns[2].type == STORE_NULL;

    offer->id = offer_id_text(arena, damaged->id);
    offer->seller = arena_strdup(arena, damaged->seller);
    offer->revision = columns[0].integer;
    offer->status =
        is_deleted ? TORG__V1__OFFER__STATUS__DELETED : TORG__V1__OFFER__STATUS__WITHDRAWN;
    offer->update_time = moment_or_none(updated_us, arena);
    offer->create_time =
        moment_or_none(damaged->created_us ? damaged->created_us : updated_us, arena);
    offer->content = MESSAGE_NEW(offer_content, arena);
    if (!is_deleted)
        offer->content->category = arena_text(arena, columns[2].bytes);
    return offer;
}

static int build(struct store_tx *tx, struct damaged_offer *damaged, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT revision, updated_us, category_id, body FROM offer WHERE id = $1 AND "
                     "kind = 'offer'",
                     STORE_WITH(STORE_V_INT(damaged->id)));

    if (store_next(&rows)) {
        damaged->stand_in = stand_in_of(damaged, rows.columns);
        damaged->body = arena_copy(damaged->arena, rows.columns[3].bytes);
    }
    return store_rows_end(&rows, err);
}

int damaged_offer_find(struct store_tx *tx, offerid id, struct arena *arena,
                       struct damaged_offer *damaged, Torg__V1__Offer **offer, struct err *err)
{
    int rc = record_find(tx, id, arena, offer, err);

    if (!damaged)
        return rc;
    assert(damaged->id == id && damaged->seller);
    damaged->stand_in = NULL;
    if (rc == ERR_CORRUPT) {
        rc = build(tx, damaged, err);
        *offer = damaged->stand_in;
    }
    return rc;
}

/* By its own revision and time: the row of the offer may have the next already. */
static int keep_bytes(struct store_tx *tx, const struct damaged_offer *damaged, struct err *err)
{
    const Torg__V1__Offer *stand_in = damaged->stand_in;

    return store_exec(tx,
                      "INSERT INTO offer (id, kind, shard_id, revision, updated_us, expires_us, "
                      "body) SELECT id, 'damaged', shard_id, $2, $3, 0, $4 FROM offer WHERE "
                      "id = $1 AND kind = 'offer' ON CONFLICT (id, kind) DO UPDATE SET "
                      "revision = excluded.revision, updated_us = excluded.updated_us, "
                      "body = excluded.body",
                      STORE_WITH(STORE_V_INT(damaged->id), STORE_V_INT(stand_in->revision),
                                 STORE_V_INT(moment_own_us(stand_in->update_time)),
                                 STORE_V_BLOB(damaged->body)),
                      NULL, err);
}

/* What was due of it is not any more. */
static int forget_due(struct store_tx *tx, const struct damaged_offer *damaged, struct err *err)
{
    return store_exec(tx, "UPDATE offer SET expires_us = 0 WHERE id = $1 AND kind = 'offer'",
                      STORE_WITH(STORE_V_INT(damaged->id)), NULL, err);
}

/* The cabinet has it where its new status belongs, and counts it there. */
static int move_in_cabinet(struct store_tx *tx, const struct damaged_offer *damaged,
                           struct err *err)
{
    const struct offer_step step = {.seller = damaged->seller,
                                    .shard = seller_shard(damaged->seller),
                                    .id = damaged->id,
                                    .created_us = damaged->created_us,
                                    .before = damaged->was_listed,
                                    .after = (enum offer_status)damaged->stand_in->status};

    return step.before ? offer_counts_apply(tx, &step, err) : 0;
}

int damaged_offer_keep(struct store_tx *tx, const struct damaged_offer *damaged, struct err *err)
{
    const struct audit_entry entry = {.at_us = clock_wall_us(damaged->offers->clock),
                                      .principal = damaged->actor ? damaged->actor : "opinions",
                                      .action = "offer.replace_damaged",
                                      .target = offer_id_text(damaged->arena, damaged->id),
                                      .detail = "its body is kept as the row of kind 'damaged'"};
    int rc;

    if (!damaged->stand_in)
        return 0;
    rc = keep_bytes(tx, damaged, err);
    if (!rc)
        rc = forget_due(tx, damaged, err);
    if (!rc)
        rc = move_in_cabinet(tx, damaged, err);
    if (!rc) /* it goes without content from now on, and with that no photo is followed */
        rc = photo_use_hide(tx, damaged->id, err);
    return rc ? rc : audit_add(tx, &entry, err);
}

static int put_stand_in(struct store_tx *tx, const struct damaged_offer *damaged, struct err *err)
{
    struct buf body = BUF_INIT(BODY_SIZE_MAX);
    Torg__V1__Offer stored = *damaged->stand_in;
    int rc;

    stored.id = (char *)protobuf_c_empty_string;
    rc = record_pack(&stored.base, "the offer", &body, err);
    if (!rc)
        rc = store_exec(tx, "UPDATE offer SET body = $2 WHERE id = $1 AND kind = 'offer'",
                        STORE_WITH(STORE_V_INT(damaged->id), STORE_V_BLOB(buf_bytes(&body))), NULL,
                        err);
    buf_release(&body);
    return rc;
}

int damaged_offer_replace(struct store_tx *tx, const struct damaged_offer *damaged, struct err *err)
{
    int rc = damaged->stand_in ? put_stand_in(tx, damaged, err) : 0;

    return rc ? rc : damaged_offer_keep(tx, damaged, err);
}
