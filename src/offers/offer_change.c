/* SPDX-License-Identifier: Apache-2.0 */
/* offer_change.c - see offer_change.h. */
#include "offers/offer_change.h"

#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "net/message.h"
#include "offers/offer_content.h"
#include "offers/offer_record.h"

enum { DAY_S = 24 * 3600 };

static int read_before(struct store_tx *tx, void *arg, struct err *err)
{
    struct offer_change *change = arg;
    int rc = once_find(tx, &change->once, change->author->arena, &change->answer, err);

    if (!rc && !change->answer.data && change->id)
        rc = record_find(tx, change->id, change->author->arena, &change->before, err);
    if (!rc && !change->answer.data && change->read)
        rc = change->read(tx, change, err);
    return rc;
}

static int check_before(const struct offer_change *change, struct err *err)
{
    const Torg__V1__Offer *before = change->before;
    const char *seller = change->author->seller;

    if (!change->id)
        return 0;
    /* To its own seller a deleted offer is still there; to others nothing of his ever was. */
    if (!before || (seller && strcmp(seller, before->seller) != 0))
        return offer_refuse_missing(change->id, err);
    if (change->expected_revision && change->expected_revision != before->revision)
        return err_set(err, ERR_CONFLICT,
                       "offer %s is at revision %" PRId64 ", not %" PRId64
                       ": read it and change that",
                       before->id, before->revision, change->expected_revision);
    return 0;
}

/* Time goes on for an offer, whatever the clocks of several machines say. */
static int64_t next_time(const struct offer_change *change)
{
    int64_t now = clock_wall_us(change->offers->clock);
    int64_t last = change->before ? time_us(change->before->update_time) : 0;

    return now > last ? now : last + 1;
}

static int refuse_content(const struct violations *violations, struct err *err)
{
    const struct violation *first = violations->first;

    if (violations->count == 1)
        return err_set(err, ERR_INVALID, "%s: %s", first->field, first->reason);
    return err_set(err, ERR_INVALID, "%zu things are to be mended; the first is %s: %s",
                   violations->count, first->field, first->reason);
}

/* Checks the content that is to be published, and gives the days it may stay. */
static int check_content(struct offer_change *change, const Torg__V1__OfferContent *content,
                         int64_t *lifetime_us, struct err *err)
{
    const struct author *author = change->author;
    struct catalog *catalog = change->offers->catalog(change->offers->catalog_arg);
    const struct category *category;
    int rc = 0;

    *lifetime_us = (int64_t)OFFER_LIFETIME_DAYS * DAY_S * SECOND_US;
    if (!catalog)
        return err_set(err, ERR_UNAVAILABLE, "no catalogue is in use yet: torg catalog apply FILE");
    *author->violations = violations_in(author->arena); /* of this try alone */
    if (offer_content_check(content, catalog, author->language, author->violations, &category))
        rc = refuse_content(author->violations, err);
    if (!rc && category->policy.lifetime_days)
        *lifetime_us = (int64_t)category->policy.lifetime_days * DAY_S * SECOND_US;
    if (!rc && content == change->content)
        offer_content_normalize(change->content, category,
                                change->before ? change->before->content : NULL, author->arena);
    catalog_unref(catalog);
    return rc;
}

static void mark_sale(Torg__V1__Offer *after, struct arena *arena)
{
    if (after->sale)
        return;
    after->sale = (Torg__V1__Sale *)message_new(&torg__v1__sale__descriptor, arena);
    after->sale->time = after->update_time;
    after->sale->price = after->content->price;
}

static void apply_move(struct offer_change *change, enum offer_status to, int64_t lifetime_us)
{
    struct arena *arena = change->author->arena;
    Torg__V1__Offer *after = change->after;

    switch (change->move) {
    case MOVE_PUBLISH:
    case MOVE_PROLONG:
    case MOVE_REPUBLISH:
    case MOVE_REVIVE:
        if (to == OFFER_ACTIVE) /* a revived one may still be banned */
            after->expire_time = time_message(arena, time_us(after->update_time) + lifetime_us);
        break;
    case MOVE_BAN:
        after->status_before_ban = after->status;
        break;
    case MOVE_UNBAN:
        after->status_before_ban = TORG__V1__OFFER__STATUS__STATUS_UNSPECIFIED;
        break;
    case MOVE_SELL_ON_SITE:
        mark_sale(after, arena);
        break;
    default:
        break;
    }
    after->status = (Torg__V1__Offer__Status)to;
}

/* Makes change->after. */
static int build(struct offer_change *change, struct err *err)
{
    const struct author *author = change->author;
    const Torg__V1__Offer *before = change->before;
    enum offer_status from = before ? (enum offer_status)before->status : OFFER_NONE;
    const char *name = before ? arena_printf(author->arena, "offer %s", before->id) : "it";
    int64_t lifetime_us = 0;
    enum offer_status to;
    int rc;

    rc = offer_status_move(from, change->move,
                           before ? (enum offer_status)before->status_before_ban : OFFER_NONE, name,
                           &to, err);
    if (rc)
        return rc;
    change->after = (Torg__V1__Offer *)message_new(&torg__v1__offer__descriptor, author->arena);
    if (before)
        *change->after = *before;
    change->after->revision++;
    change->after->update_time = time_message(author->arena, next_time(change));
    if (!before) {
        change->after->seller = arena_strdup(author->arena, author->seller);
        change->after->create_time = change->after->update_time;
    }
    if (change->content)
        change->after->content = change->content;
    /* What is to be seen by buyers obeys the rules of today. */
    if (change->content || (to == OFFER_ACTIVE && change->move != MOVE_UNBAN)) {
        rc = check_content(change, change->after->content, &lifetime_us, err);
        if (rc)
            return rc;
    }
    apply_move(change, to, lifetime_us);
    return 0;
}

static int take_answer(struct bytes answer, struct arena *arena, Torg__V1__OfferReceipt *receipt,
                       struct err *err)
{
    ProtobufCMessage *kept;
    int rc = message_decode(answer, &torg__v1__offer_receipt__descriptor, arena, &kept, err);

    if (!rc)
        *receipt = *(Torg__V1__OfferReceipt *)kept;
    return rc;
}

/* One try; *outrun: it is worth another. look: read what is there before. */
static int try_change(struct offer_change *change, bool look, Torg__V1__OfferReceipt *receipt,
                      bool *outrun, struct err *err)
{
    struct offer_save save = {.offers = change->offers,
                              .once = change->once,
                              .check_once = !look,
                              .arena = change->author->arena,
                              .also = change->also,
                              .also_arg = change};
    int rc;

    *outrun = false;
    change->before = NULL;
    if (look) {
        rc = store_read(change->offers->store, read_before, change, err);
        if (rc)
            return rc;
    }
    if (change->answer.data)
        return take_answer(change->answer, change->author->arena, receipt, err);
    rc = check_before(change, err);
    if (!rc)
        rc = build(change, err);
    if (rc)
        return rc;
    save.id = change->id ? change->id : change->wished_id;
    save.before = change->before;
    save.after = change->after;
    rc = offer_save(&save, err);
    if (!rc)
        *receipt = *save.receipt;
    *outrun = rc == ERR_CONFLICT && save.outrun;
    offer_save_release(&save);
    return rc;
}

int offer_change_run(struct offer_change *change, Torg__V1__OfferReceipt *receipt, struct err *err)
{
    const struct author *author = change->author;
    bool outrun = true;
    bool look;
    int rc = 0;

    change->once = (struct once){
        .owner = author->seller ? arena_printf(author->arena, "s:%s", author->seller) : "",
        .key = author->once_key,
        .hash = author->once_hash,
        .now_us = clock_wall_us(change->offers->clock)};
    /* A new offer's key is nearly always new too: the transaction that writes it looks. */
    look = change->id || change->read;
    for (int i = 0; i < OFFER_ATTEMPT_COUNT_MAX && outrun; i++) {
        rc = try_change(change, look, receipt, &outrun, err);
        if (rc && !look && change->once.key.size) {
            look = true;
            outrun = true;
        }
    }
    return rc;
}
