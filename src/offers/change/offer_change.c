/* SPDX-License-Identifier: Apache-2.0 */
/* offer_change.c - see offer_change.h. */
#include "offers/change/offer_change.h"

#include <inttypes.h>
#include <string.h>

#include "codec/message.h"
#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/change/own_uploads.h"
#include "offers/change/photos.h"
#include "offers/record/offer_content.h"
#include "offers/record/offer_record.h"
#include "offers/record/offer_wait.h"

enum { DAY_S = 24 * 3600 };

static int read_before(struct store_tx *tx, void *arg, struct err *err)
{
    struct offer_change *change = arg;
    int rc = once_find(tx, &change->once, change->author->arena, &change->answer, err);

    if (!rc && !change->answer.data && change->id)
        rc = damaged_offer_find(tx, change->id, change->author->arena, change->damaged,
                                &change->before, err);
    if (!rc && !change->answer.data && change->read)
        rc = change->read(tx, change, err);
    return rc;
}

/* Results of photos change nothing that a seller says: who edits beside them is not outrun. A
 * worker is: what it has seen to be due, as the end of a wait, may not be due any more. */
static bool is_expected(const struct offer_change *change)
{
    const Torg__V1__Offer *before = change->before;
    int64_t since = before->content_revision ? before->content_revision : before->revision;

    if (!offer_move_is_sellers(change->move))
        since = before->revision;
    return change->expected_revision >= since && change->expected_revision <= before->revision;
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
    if (change->expected_revision && !is_expected(change))
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
    int64_t last = change->before ? moment_own_us(change->before->update_time) : 0;

    return now > last ? now : last + 1;
}

static int refuse_content(const struct violations *violations, struct err *err)
{
    const struct violation *first = violations->first;

    if (violations->count == 1)
        return err_set(err, ERR_INVALID, "%s: %s", first->field, first->reason);
    return err_set(err, ERR_INVALID, "%zu problems have to be fixed; the first is %s: %s",
                   violations->count, first->field, first->reason);
}

/* What the catalogue of today says of the category. */
struct rules {
    int64_t lifetime_us;
    struct wait_rules wait;
};

/* Checks the content by the rules that are to hold for it, and puts new one into its form. */
static int check_content(struct offer_change *change, const struct catalog *catalog,
                         const struct category **category, struct err *err)
{
    const struct author *author = change->author;
    Torg__V1__OfferContent *content = change->after->content;

    *author->violations = violations_in(author->arena); /* of this try alone */
    if (offer_content_check(content, catalog, author->language, author->violations, category))
        return refuse_content(author->violations, err);
    if (content == change->content)
        offer_content_normalize(content, *category, change->before ? change->before->content : NULL,
                                author->arena);
    return 0;
}

static int ask_catalog(struct offer_change *change, bool check, struct rules *rules,
                       struct err *err)
{
    struct catalog *catalog = change->offers->catalog(change->offers->catalog_arg);
    const struct category *category;
    int rc = 0;

    *rules = (struct rules){.lifetime_us = (int64_t)OFFER_LIFETIME_DAYS * DAY_S * SECOND_US};
    if (!catalog)
        return err_set(err, ERR_UNAVAILABLE, "no catalogue is in use yet: torg catalog apply FILE");
    if (check)
        rc = check_content(change, catalog, &category, err);
    else
        category = category_find(catalog, change->after->content->category);
    if (!rc && category) {
        rules->wait = wait_rules_of(&category->policy);
        if (category->policy.lifetime_days)
            rules->lifetime_us = (int64_t)category->policy.lifetime_days * DAY_S * SECOND_US;
    }
    catalog_unref(catalog);
    return rc;
}

static void mark_sale(Torg__V1__Offer *after, struct arena *arena)
{
    if (after->sale)
        return;
    after->sale = MESSAGE_NEW(sale, arena);
    after->sale->time = after->update_time;
    after->sale->price = after->content->price;
}

/* What buyers are to see, but what was shown before a ban: that goes on as it was. */
static bool is_published(const struct offer_change *change, enum offer_status to)
{
    return to == OFFER_WAITING || (to == OFFER_ACTIVE && change->move != MOVE_UNBAN);
}

/* What a seller or a feed makes visible obeys the rules of today; what only comes out of a wait was
 * checked before it. */
static bool is_checked(const struct offer_change *change, enum offer_status to)
{
    if (change->content)
        return change->move != MOVE_PHOTOS;
    return to == OFFER_ACTIVE && change->move != MOVE_UNBAN && change->move != MOVE_SHOW;
}

static enum photos_named who_names(const struct offer_change *change)
{
    if (!change->content || change->move == MOVE_PHOTOS)
        return PHOTOS_NOT_NAMED;
    return change->is_by_hand ? PHOTOS_BY_HAND : PHOTOS_BY_FEED;
}

/* The results of one that was deleted were not taken: it asks again for what it still lacks. */
static int ask_for_photos(struct offer_change *change, struct err *err)
{
    Torg__V1__Offer *after = change->after;
    bool again = change->move == MOVE_REVIVE;

    if (!change->content && !again && change->move != MOVE_SHOW)
        return 0;
    if (!change->content) /* it is the one of `before` too */
        after->content =
            (Torg__V1__OfferContent *)record_copy(&after->content->base, change->author->arena);
    photos_ask(after, again);
    if (change->move != MOVE_PHOTOS)
        photos_ask_late(after, who_names(change));
    return own_uploads_settle(change->offers->store, after, change->author->arena, err);
}

/* ACTIVE or WAITING, where the table says that it is to be seen. What has been seen stays so. */
static enum offer_status status_to_show(struct offer_change *change, enum offer_status to,
                                        const struct rules *rules)
{
    const Torg__V1__Offer *before = change->before;
    bool was_shown = change->move == MOVE_PROLONG ||
                     (before && before->status == TORG__V1__OFFER__STATUS__ACTIVE);

    if (is_published(change, to) && !was_shown)
        return offer_waits(change->after, before, &rules->wait, change->author->arena)
                   ? OFFER_WAITING
                   : OFFER_ACTIVE;
    change->after->wait_until = NULL;
    change->after->wait_reason = (char *)protobuf_c_empty_string;
    return to;
}

/* A seller's word counts above his feed's: what he withdraws stays so, what he brings back too. */
static void overrule_feed(const struct offer_change *change)
{
    Torg__V1__Offer *after = change->after;

    if (change->move == MOVE_WITHDRAW)
        after->feed_withdrawal = TORG__V1__OFFER__FEED_WITHDRAWAL__FEED_WITHDRAWAL_UNSPECIFIED;
    else if (change->move == MOVE_REPUBLISH && after->feed_withdrawal)
        after->feed_withdrawal = TORG__V1__OFFER__FEED_WITHDRAWAL__REPUBLISHED_SINCE;
}

static void apply_move(struct offer_change *change, enum offer_status to, int64_t lifetime_us)
{
    struct arena *arena = change->author->arena;
    Torg__V1__Offer *after = change->after;
    bool was_active = after->status == TORG__V1__OFFER__STATUS__ACTIVE;

    /* Its time begins when it is shown. A ban's end gives back what was there, its time too. */
    if (to == OFFER_ACTIVE &&
        (change->move == MOVE_PROLONG ||
         (!was_active && (change->move != MOVE_UNBAN ||
                          after->status_before_ban == TORG__V1__OFFER__STATUS__WAITING))))
        after->expire_time = moment_or_none(moment_own_us(after->update_time) + lifetime_us, arena);
    if (change->move == MOVE_BAN)
        after->status_before_ban = after->status;
    else if (change->move == MOVE_UNBAN)
        after->status_before_ban = TORG__V1__OFFER__STATUS__STATUS_UNSPECIFIED;
    else if (change->move == MOVE_SELL_ON_SITE)
        mark_sale(after, arena);
    overrule_feed(change);
    after->status = (Torg__V1__Offer__Status)to;
}

/* The new state without its status: what it was, with its revision, times and content. */
static void begin_after(struct offer_change *change)
{
    struct arena *arena = change->author->arena;

    change->after = MESSAGE_NEW(offer, arena);
    if (change->before)
        *change->after = *change->before;
    change->after->revision++;
    if (change->move != MOVE_PHOTOS)
        change->after->content_revision = 0;
    else if (!change->after->content_revision)
        change->after->content_revision = change->before->revision;
    change->after->update_time = moment_or_none(next_time(change), arena);
    if (!change->before) {
        change->after->seller = arena_strdup(arena, change->author->seller);
        change->after->create_time = change->after->update_time;
    }
    if (change->content)
        change->after->content = change->content;
}

int offer_change_build(struct offer_change *change, struct err *err)
{
    const Torg__V1__Offer *before = change->before;
    enum offer_status from = before ? (enum offer_status)before->status : OFFER_NONE;
    const char *name = before ? arena_printf(change->author->arena, "offer %s", before->id) : "it";
    struct rules rules = {0};
    enum offer_status to;
    int rc;

    rc = offer_status_move(from, change->move,
                           before ? (enum offer_status)before->status_before_ban : OFFER_NONE, name,
                           &to, err);
    if (rc)
        return rc;
    begin_after(change);
    if (is_checked(change, to) || is_published(change, to)) {
        rc = ask_catalog(change, is_checked(change, to), &rules, err);
        if (rc)
            return rc;
    }
    rc = ask_for_photos(change, err);
    if (rc)
        return rc;
    apply_move(change, status_to_show(change, to, &rules), rules.lifetime_us);
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
        rc = offer_change_build(change, err);
    if (rc)
        return rc;
    save.id = change->id ? change->id : change->wished_id;
    save.before = change->before;
    save.after = change->after;
    save.takes_reserve = change->takes_reserve || !change->content;
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
    /* A new offer's key is nearly always new too: the transaction that writes it looks, unless
     * other machines write as well and PostgreSQL would take that for a conflict with their keys.
     */
    look = change->id || change->read ||
           (change->once.key.size && !store_is_local(change->offers->store));
    for (int i = 0; i < OFFER_ATTEMPT_COUNT_MAX && outrun; i++) {
        rc = try_change(change, look, receipt, &outrun, err);
        if (rc && !look && change->once.key.size) {
            look = true;
            outrun = true;
        }
    }
    return rc;
}
