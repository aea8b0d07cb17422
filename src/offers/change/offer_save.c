/* SPDX-License-Identifier: Apache-2.0 */
/* offer_save.c - see offer_save.h. */
#include "offers/change/offer_save.h"

#include <assert.h>
#include <stdio.h>

#include "base/hash.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/change/external_item.h"
#include "offers/change/photos.h"
#include "offers/record/freshness.h"
#include "offers/record/offer_counts.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"
#include "store/sequence.h"
#include "store/store_seal.h"

enum { SEQUENCE_NAME_SIZE = 24, BODY_SIZE_MAX = 2 * OFFER_SIZE_MAX, RECEIPT_SIZE_MAX = 1024 };

uint32_t seller_shard(const char *seller)
{
    return (uint32_t)(hash64(bytes_of(seller)) % OFFER_SHARD_COUNT);
}

/* What a seller or a feed writes leaves the reserve to what others do to the offer afterwards: a
 * ban must not fail because of the length of what it bans. Whoever makes the content no longer than
 * it was is one of the others. */
static size_t size_max_of(const struct offer_save *save)
{
    const Torg__V1__Offer *before = save->before;
    size_t was = before ? protobuf_c_message_get_packed_size(&before->content->base) : 0;
    size_t is = protobuf_c_message_get_packed_size(&save->after->content->base);

    return is > was && !save->takes_reserve ? OFFER_SIZE_MAX : OFFER_STORED_SIZE_MAX;
}

int offer_save_prepare(struct offer_save *save, struct err *err)
{
    char *id = save->after->id;
    int rc;

    assert(*save->after->seller &&
           save->after->revision == 1 + (save->before ? save->before->revision : 0));
    save->shard = seller_shard(save->after->seller);
    buf_release(&save->body);
    buf_init(&save->body, BODY_SIZE_MAX);
    save->after->id = (char *)protobuf_c_empty_string;
    rc = record_pack_within(&save->after->base, "the offer", size_max_of(save), &save->body, err);
    save->after->id = id;
    return rc ? rc : store_seal(save->offers->store, &save->seal, err);
}

void offer_save_release(struct offer_save *save)
{
    buf_release(&save->body);
}

/* When the worker has to look at it (the column expires_us): an ACTIVE one then expires, one that
 * waits for a photo has waited enough, or for so long that it is asked for anew. 0: never. */
static int64_t due_of(const Torg__V1__Offer *offer)
{
    bool waits = offer->status == TORG__V1__OFFER__STATUS__WAITING;
    int64_t asks_us = waits ? photos_due_us(offer) : 0;
    int64_t ends_us = waits && !*offer->wait_reason ? moment_own_us(offer->wait_until) : 0;

    if (offer->status == TORG__V1__OFFER__STATUS__ACTIVE)
        return moment_own_us(offer->expire_time);
    return ends_us && (!asks_us || ends_us < asks_us) ? ends_us : asks_us;
}

/* What a change of the catalogue looks for; NULL (with no bytes) for a deleted one. */
static struct store_value category_of(const Torg__V1__Offer *offer)
{
    if (offer->status == TORG__V1__OFFER__STATUS__DELETED)
        return STORE_V_NULL;
    return STORE_V_STRING(offer->content->category);
}

static int outrun(struct offer_save *save, struct err *err)
{
    save->outrun = true;
    return err_set(err, ERR_CONFLICT, "the offer was changed by another call at the same time");
}

/* --- the offer's row --- */

static int insert_row(struct store_tx *tx, struct offer_save *save, struct err *err)
{
    offerid wished = save->id;

    for (int i = 0; i < OFFER_ID_ATTEMPT_MAX; i++) {
        offerid id = i == 0 && wished ? wished : offer_id_make(offers_draw(save->offers));
        int64_t changed = 0;
        int rc = store_exec(tx,
                            "INSERT INTO offer (id, kind, shard_id, revision, updated_us, "
                            "expires_us, category_id, body) "
                            "VALUES ($1, 'offer', $2, $3, $4, $5, $6, $7) "
                            "ON CONFLICT (id, kind) DO NOTHING",
                            STORE_WITH(STORE_V_INT(id), STORE_V_INT(save->shard),
                                       STORE_V_INT(save->after->revision),
                                       STORE_V_INT(moment_own_us(save->after->update_time)),
                                       STORE_V_INT(due_of(save->after)), category_of(save->after),
                                       STORE_V_BLOB(buf_bytes(&save->body))),
                            &changed, err);

        if (rc)
            return rc;
        if (changed) {
            save->id = id;
            return 0;
        }
    }
    return err_set(err, ERR_INTERNAL, "%d ids drawn at random were all taken",
                   OFFER_ID_ATTEMPT_MAX);
}

/* Columns with an index are written only when they change: the index is then left alone. */
static int update_row(struct store_tx *tx, struct offer_save *save, struct err *err)
{
    const struct store_value category = category_of(save->after);
    const struct store_value params[] = {STORE_V_INT(save->id),
                                         STORE_V_INT(save->before->revision),
                                         STORE_V_INT(save->after->revision),
                                         STORE_V_INT(moment_own_us(save->after->update_time)),
                                         STORE_V_BLOB(buf_bytes(&save->body)),
                                         STORE_V_INT(due_of(save->after)),
                                         category};
    bool same = due_of(save->before) == due_of(save->after) &&
                bytes_equal(category_of(save->before).bytes, category.bytes);
    int64_t changed = 0;
    int rc;

    if (same)
        rc = store_exec(tx,
                        "UPDATE offer SET revision = $3, updated_us = $4, body = $5 "
                        "WHERE id = $1 AND kind = 'offer' AND revision = $2",
                        params, 5, &changed, err);
    else
        rc = store_exec(tx,
                        "UPDATE offer SET revision = $3, updated_us = $4, body = $5, "
                        "expires_us = $6, category_id = $7 "
                        "WHERE id = $1 AND kind = 'offer' AND revision = $2",
                        params, 7, &changed, err);
    if (!rc && !changed)
        return outrun(save, err);
    return rc;
}

/* --- the queue --- */

/* What buyers are not to find any more overtakes what else waits to be exported. */
static bool is_takedown(const struct offer_save *save)
{
    Torg__V1__Offer__Status status = save->after->status;

    return (status == TORG__V1__OFFER__STATUS__BANNED ||
            status == TORG__V1__OFFER__STATUS__DELETED) &&
           save->before && save->before->status != status && !save->is_bulk;
}

/* A row without a body announces what the offer's row has. What waits so is kept before that
 * changes: hardly ever, so that a body is hardly ever written twice. PostgreSQL would take the look
 * for a conflict with all who write to the queue meanwhile: there each row has its body. */
static bool has_body(const struct offer_save *save)
{
    return !store_is_local(save->offers->store);
}

static int keep_waiting(struct store_tx *tx, const struct offer_save *save, struct err *err)
{
    if (!save->before || has_body(save))
        return 0;
    return store_exec(tx,
                      "UPDATE queue SET body = (SELECT o.body FROM offer AS o WHERE o.id = $1 AND "
                      "o.kind = 'offer') WHERE offer_id = $1 AND revision = $2 AND body IS NULL",
                      STORE_WITH(STORE_V_INT(save->id), STORE_V_INT(save->before->revision)), NULL,
                      err);
}

static int enqueue(struct store_tx *tx, struct offer_save *save, struct err *err)
{
    char name[SEQUENCE_NAME_SIZE];
    int rc;

    snprintf(name, sizeof(name), "queue/%u", save->shard);
    rc = store_next_seq(tx, name, 1, &save->seq, err);
    if (!rc) {
        rc = store_exec(
            tx,
            "INSERT INTO queue (shard_id, seq, offer_id, revision, changed_us, body, "
            "urgent) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            STORE_WITH(STORE_V_INT(save->shard), STORE_V_INT(save->seq), STORE_V_INT(save->id),
                       STORE_V_INT(save->after->revision),
                       STORE_V_INT(moment_own_us(save->after->update_time)),
                       has_body(save) ? STORE_V_BLOB(buf_bytes(&save->body)) : STORE_V_NULL,
                       STORE_V_INT(is_takedown(save))),
            NULL, err);
    }
    return rc;
}

/* --- the answer --- */

static void fill_receipt(struct offer_save *save)
{
    const struct freshness freshness = {.shard = save->shard,
                                        .seq = save->seq,
                                        .offer = save->id,
                                        .revision = save->after->revision};

    save->receipt = MESSAGE_NEW(offer_receipt, save->arena);
    save->receipt->id = offer_id_text(save->arena, save->id);
    save->receipt->revision = save->after->revision;
    save->receipt->status = save->after->status;
    save->receipt->update_time = save->after->update_time;
    save->receipt->freshness_token = freshness_text(&freshness, &save->seal, save->arena);
}

static int keep_answer(struct store_tx *tx, struct offer_save *save, struct err *err)
{
    struct buf answer = BUF_INIT(RECEIPT_SIZE_MAX);
    bool taken = false;
    int rc;

    if (!save->once.key.size)
        return 0;
    message_encode(&save->receipt->base, &answer);
    assert(!buf_failed(&answer));
    rc = once_keep(tx, &save->once, buf_bytes(&answer), &taken, err);
    buf_release(&answer);
    return !rc && taken ? outrun(save, err) : rc;
}

static int apply_counts(struct store_tx *tx, const struct offer_save *save, struct err *err)
{
    bool first_sale = save->after->sale && !(save->before && save->before->sale);
    const struct offer_step step = {
        .seller = save->after->seller,
        .shard = save->shard,
        .id = save->id,
        .created_us = moment_own_us(save->after->create_time),
        .before = save->before ? (enum offer_status)save->before->status : OFFER_NONE,
        .after = (enum offer_status)save->after->status,
        .first_sale = first_sale,
        .earned = first_sale ? save->after->sale->price : NULL,
    };

    return offer_counts_apply(tx, &step, err);
}

/* Looked for before anything is written: a failure after that costs all that commit together. */
static int check_once(struct store_tx *tx, struct offer_save *save, struct err *err)
{
    struct bytes answer;
    int rc = 0;

    if (save->check_once && save->once.key.size)
        rc = once_find(tx, &save->once, save->arena, &answer, err);
    if (!rc && save->check_once && save->once.key.size && answer.data)
        rc = outrun(save, err);
    return rc;
}

int offer_save_in(struct store_tx *tx, struct offer_save *save, struct err *err)
{
    offerid wished = save->id;
    int rc;

    save->outrun = false;
    rc = check_once(tx, save, err);
    if (rc)
        return rc;
    rc = keep_waiting(tx, save, err);
    if (!rc)
        rc = save->before ? update_row(tx, save, err) : insert_row(tx, save, err);
    if (!rc && save->also)
        rc = save->also(tx, save, save->also_arg, err);
    if (!rc && !save->owns_item)
        rc = external_item_follow(tx, save->id, save->before, save->after, save->arena, err);
    if (!rc)
        rc = photo_use_follow(tx, save->id, save->before, save->after,
                              moment_own_us(save->after->update_time), save->arena, &save->outrun,
                              err);
    if (!rc)
        rc = enqueue(tx, save, err);
    if (!rc)
        rc = apply_counts(tx, save, err);
    if (!rc) {
        fill_receipt(save);
        rc = keep_answer(tx, save, err);
    }
    if (rc)
        save->id = wished; /* it may be run again */
    return rc;
}

struct run {
    struct offer_save *save;
    offerid wished;
};

static int run_save(struct store_tx *tx, void *arg, struct err *err)
{
    struct run *run = arg;

    run->save->id = run->wished;
    return offer_save_in(tx, run->save, err);
}

int offer_save(struct offer_save *save, struct err *err)
{
    struct run run = {.save = save, .wished = save->id};
    int rc = offer_save_prepare(save, err);

    if (!rc)
        rc = store_write(save->offers->store, run_save, &run, err);
    if (!rc)
        bell_ring(save->offers->bell);
    return rc;
}
