/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_offers_fix.c - repairs what verify_offers.c has found: offers are composed again, as
 * they are, and sent to the receiver in the lane backfill; documents without an offer are deleted.
 *
 * A row that is ahead of its offer, or says something else at the same version, would refuse that
 * document; so it is forgotten before, if it is still the one that was seen. A crash between the
 * two leaves a document that is missing: the next look composes it. One that cannot be composed is
 * parked by who sends it (recompose_send.c), and stands apart in the next look.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "access/audit.h"
#include "base/log.h"
#include "catalog/catalog.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "documents/offer_document.h"
#include "documents/recompose_send.h"
#include "inspect/verify/verify_parts.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "offers/record/offer_record.h"
#include "registry/receiving/rows.h"
#include "topic/bounds.h"

struct fixing {
    struct verifying *verifying;
    Torg__V1__Offer **offers; /* by place of the suspect; NULL: there is none, or none to be sent */
    struct row *rows;         /* likewise; status 0: there is none */
    bool *is_fixed;
    bool *is_parked; /* it cannot be composed: that is told where the composer tells it */
};

static bool is_blamed(const struct suspect *suspect, const char *reason)
{
    return suspect->reason && strcmp(suspect->reason, reason) == 0;
}

/* --- what there is --- */

static int read_one(struct store_tx *tx, struct fixing *fixing, size_t place, struct err *err)
{
    const struct verifying *verifying = fixing->verifying;
    const struct suspect *suspect = &verifying->suspects[place];
    bool found;
    offerid id;
    int rc = 0;

    fixing->offers[place] = NULL;
    fixing->rows[place] = (struct row){.status = 0};
    if (!offer_id_parse(suspect->pk, &id, NULL))
        rc = record_find(tx, id, verifying->arena, &fixing->offers[place], err);
    if (rc == ERR_CORRUPT)
        rc = 0;
    if (!rc && verifying->client)
        rc = row_find(tx, verifying->client->id, suspect->pk, false, verifying->arena,
                      &fixing->rows[place], &found, err);
    return rc;
}

static int read_all(struct store_tx *tx, void *arg, struct err *err)
{
    struct fixing *fixing = arg;
    int rc = 0;

    for (size_t i = 0; i < fixing->verifying->count && !rc; i++)
        rc = read_one(tx, fixing, i, err);
    return rc;
}

/* --- what is written --- */

static bool is_ahead(const struct fixing *fixing, size_t place)
{
    const Torg__V1__Offer *offer = fixing->offers[place];
    const struct row *row = &fixing->rows[place];

    return offer && row->status && row->order.version > moment_own_us(offer->update_time);
}

static int note_one(struct store_tx *tx, struct fixing *fixing, size_t place, struct err *err)
{
    const struct verifying *verifying = fixing->verifying;
    const struct suspect *suspect = &verifying->suspects[place];
    const struct audit_entry entry = {
        .at_us = clock_wall_us(verifying->inspect->clock),
        .principal = verifying->by->principal,
        .action = "verify.fix",
        .target = arena_printf(verifying->arena, OFFER_CLIENT "/%.*s", BYTES_ARG(suspect->pk)),
        .detail = suspect->text};
    int rc = 0;

    if (is_ahead(fixing, place) ||
        (is_blamed(suspect, "content") && fixing->rows[place].status == ROW_ALIVE))
        rc = row_forget(tx, verifying->client->id, &fixing->rows[place], err);
    return rc ? rc : audit_add(tx, &entry, err);
}

static int note_all(struct store_tx *tx, void *arg, struct err *err)
{
    struct fixing *fixing = arg;
    int rc = 0;

    for (size_t i = 0; i < fixing->verifying->count && !rc; i++)
        if (fixing->is_fixed[i])
            rc = note_one(tx, fixing, i, err);
    return rc;
}

/* --- what is sent --- */

/* Whether it can be composed: else it is parked when it is sent. One whose category is gone is sent
 * as hidden. */
static bool can_compose(const struct fixing *fixing, const struct catalog *catalog, size_t place)
{
    const Torg__V1__Offer *offer = fixing->offers[place];
    struct arena *arena = fixing->verifying->arena;
    Torg__V1__RawDocument *document;
    struct err err;

    if (!offer)
        return false;
    if (offer->status == TORG__V1__OFFER__STATUS__ACTIVE && offer->content &&
        !category_find(catalog, offer->content->category))
        return true;
    if (!offer_document(offer, catalog, arena, &document, &err))
        return true;
    fixing->is_parked[place] = true;
    return false;
}

static int send_offers(struct fixing *fixing, const struct catalog *catalog, struct err *err)
{
    const struct verifying *verifying = fixing->verifying;
    const struct inspect *inspect = verifying->inspect;
    struct recompose_page page = {.count = 0};
    struct recompose_mark mark = {0};
    struct recompose_sender sender;
    int rc;

    page.offers = arena_array(verifying->arena, verifying->count, sizeof(*page.offers));
    for (size_t i = 0; i < verifying->count; i++)
        if (fixing->offers[i] && (fixing->is_fixed[i] || fixing->is_parked[i]))
            page.offers[page.count++] = fixing->offers[i];
    if (!page.count)
        return 0;
    rc = recompose_sender_init(&sender, inspect->topics, inspect->store, inspect->clock, NULL, NULL,
                               err);
    sender.has_every_status = true;
    return rc ? rc : recompose_send(&sender, catalog, &page, verifying->arena, &mark, err);
}

/* A deletion that is just newer than the row. */
static int send_deletion(const struct fixing *fixing, size_t place, struct err *err)
{
    const struct verifying *verifying = fixing->verifying;
    const struct row *row = &fixing->rows[place];
    Torg__V1__RawDocument *document = MESSAGE_NEW(raw_document, verifying->arena);
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct topic_record record;
    int rc;

    document->pk = arena_text(verifying->arena, row->pk);
    document->version = row->order.version;
    document->modify_timestamp = moment_message(row->order.modify_us + 1, verifying->arena);
    document->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
    batch.client = (char *)OFFER_CLIENT;
    batch.lane = TORG__V1__QUEUE_LANE__NAME__BACKFILL;
    batch.documents = &document;
    batch.n_documents = 1;
    message_encode(&batch.base, &wire);
    record = (struct topic_record){
        .key = bytes_of(arena_printf(verifying->arena, OFFER_CLIENT "/%s", document->pk)),
        .value = buf_bytes(&wire)};
    rc = topic_produce(verifying->inspect->topics, TOPIC_DOCUMENTS, &record, 1, NULL, err);
    buf_release(&wire);
    return rc;
}

static int send_all(struct fixing *fixing, const struct catalog *catalog, struct err *err)
{
    int rc = send_offers(fixing, catalog, err);

    for (size_t i = 0; i < fixing->verifying->count && !rc; i++)
        if (fixing->is_fixed[i] && !fixing->offers[i])
            rc = send_deletion(fixing, i, err);
    return rc;
}

int verify_offers_fix(struct verifying *verifying, bool *is_fixed, struct err *err)
{
    const struct inspect *inspect = verifying->inspect;
    struct catalog *catalog = inspect->catalog ? inspect->catalog(inspect->catalog_arg) : NULL;
    struct fixing fixing = {.verifying = verifying, .is_fixed = is_fixed};
    int rc = 0;

    if (!catalog || !inspect->topics)
        goto out; /* they stay told */
    fixing.offers = arena_array(verifying->arena, verifying->count, sizeof(*fixing.offers));
    fixing.rows = arena_array(verifying->arena, verifying->count, sizeof(*fixing.rows));
    fixing.is_parked = arena_zero(verifying->arena, verifying->count * sizeof(bool));
    rc = store_read(inspect->store, read_all, &fixing, err);
    for (size_t i = 0; i < verifying->count && !rc; i++)
        is_fixed[i] = (can_compose(&fixing, catalog, i) ||
                       (is_blamed(&verifying->suspects[i], "orphan") && !fixing.offers[i] &&
                        fixing.rows[i].status == ROW_ALIVE));
    if (!rc)
        rc = store_write(inspect->store, note_all, &fixing, err);
    if (!rc)
        rc = send_all(&fixing, catalog, err);
out:
    catalog_unref(catalog);
    return rc;
}
