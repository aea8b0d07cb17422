/* SPDX-License-Identifier: Apache-2.0 */
/* moderation.c - see moderation.h. */
#include "offers/change/moderation.h"

#include <assert.h>
#include <string.h>

#include "access/audit.h"
#include "base/log.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/change/damaged_offer.h"
#include "offers/change/external_item.h"
#include "offers/change/offer_change.h"
#include "offers/record/offer_record.h"

enum { BODY_SIZE_MAX = 2 * OFFER_SIZE_MAX };

size_t opinion_check(const Torg__V1__ModerationOpinion *opinion, struct violations *violations)
{
    size_t before = violations->count;
    bool ban = opinion->verdict == TORG__V1__MODERATION_OPINION__VERDICT__BAN;
    struct err err;
    offerid id;

    if (offer_id_parse(bytes_of(opinion->offer_id), &id, &err))
        violations_add(violations, "offer_id", "%s", err.text);
    if (opinion->revision < 1)
        violations_add(violations, "revision", "expected 1 or more");
    if (!ban && opinion->verdict != TORG__V1__MODERATION_OPINION__VERDICT__PASS)
        violations_add(violations, "verdict", "expected BAN or PASS");
    if ((ban && !opinion->n_reasons) || opinion->n_reasons > OPINION_REASON_COUNT_MAX)
        violations_add(violations, "reasons", "expected 1 to %d for a ban",
                       OPINION_REASON_COUNT_MAX);
    for (size_t i = 0; i < opinion->n_reasons && i < OPINION_REASON_COUNT_MAX; i++) {
        size_t size = strlen(opinion->reasons[i]);

        if (size < 1 || size > OPINION_REASON_SIZE_MAX)
            violations_add(violations, "reasons", "reason %zu: expected 1 to %d bytes", i + 1,
                           OPINION_REASON_SIZE_MAX);
    }
    if (strlen(opinion->moderator) > OPINION_REASON_SIZE_MAX)
        violations_add(violations, "moderator", "expected at most %d bytes",
                       OPINION_REASON_SIZE_MAX);
    return violations->count - before;
}

struct giving {
    const struct offers *offers;
    const Torg__V1__ModerationOpinion *opinion;
    const char *actor; /* for the audit log; NULL: it came by the topic */
    struct arena *arena;
    offerid id;
    enum offer_move move;
    struct buf body;
    struct damaged_offer *damaged; /* NULL: it is not known to be */
    bool movable;                  /* the offer's status lets the opinion move it after all */
};

static int refuse_stale(struct err *err)
{
    return err_set(err, ERR_STALE, "a newer opinion is there already");
}

/* Of the opinion that is kept; 0: none is. */
static int find_revision(struct store_tx *tx, offerid id, int64_t *revision, struct err *err)
{
    *revision = 0;
    return store_find_integer(tx,
                              "SELECT revision FROM offer WHERE id = $1 AND kind = 'moderation'",
                              STORE_WITH(STORE_V_INT(id)), revision, err);
}

static int check_newer(struct store_tx *tx, const struct giving *giving, struct err *err)
{
    int64_t kept;
    int rc = find_revision(tx, giving->id, &kept, err);

    return !rc && giving->opinion->revision <= kept ? refuse_stale(err) : rc;
}

static int audit_opinion(struct store_tx *tx, const struct giving *giving, struct err *err)
{
    const Torg__V1__ModerationOpinion *opinion = giving->opinion;
    const struct audit_entry entry = {
        .at_us = clock_wall_us(giving->offers->clock),
        .principal = giving->actor,
        .action = giving->move == MOVE_BAN ? "moderation.ban" : "moderation.pass",
        .target = opinion->offer_id,
        .detail = arena_printf(giving->arena, "revision %jd%s%.64s", (intmax_t)opinion->revision,
                               *opinion->moderator ? " by " : "", opinion->moderator)};

    return audit_add(tx, &entry, err);
}

static int write_row(struct store_tx *tx, struct giving *giving, const char *seller,
                     struct err *err)
{
    int64_t changed = 0;
    int rc = store_exec(tx,
                        "INSERT INTO offer (id, kind, shard_id, revision, updated_us, expires_us, "
                        "body) VALUES ($1, 'moderation', $2, $3, $4, 0, $5) "
                        "ON CONFLICT (id, kind) DO UPDATE SET revision = excluded.revision, "
                        "updated_us = excluded.updated_us, body = excluded.body "
                        "WHERE offer.revision < excluded.revision",
                        STORE_WITH(STORE_V_INT(giving->id), STORE_V_INT(seller_shard(seller)),
                                   STORE_V_INT(giving->opinion->revision),
                                   STORE_V_INT(clock_wall_us(giving->offers->clock)),
                                   STORE_V_BLOB(buf_bytes(&giving->body))),
                        &changed, err);

    if (!rc && !changed)
        rc = refuse_stale(err);
    return rc || !giving->actor ? rc : audit_opinion(tx, giving, err);
}

/* --- with a move of the offer --- */

static int read_kept(struct store_tx *tx, struct offer_change *change, struct err *err)
{
    return check_newer(tx, change->arg, err);
}

static int write_with_move(struct store_tx *tx, struct offer_save *save, void *arg, struct err *err)
{
    const struct offer_change *change = arg;
    struct giving *giving = change->arg;
    int rc = giving->damaged ? damaged_offer_keep(tx, giving->damaged, err) : 0;

    return rc ? rc : write_row(tx, giving, save->after->seller, err);
}

static int give_with_move(struct giving *giving, Torg__V1__OfferReceipt *receipt, struct err *err)
{
    struct violations violations = violations_in(giving->arena);
    const struct author author = {.arena = giving->arena, .violations = &violations};
    struct offer_change change = {.offers = giving->offers,
                                  .author = &author,
                                  .id = giving->id,
                                  .move = giving->move,
                                  .damaged = giving->damaged,
                                  .read = read_kept,
                                  .also = write_with_move,
                                  .arg = giving};

    return offer_change_run(&change, receipt, err);
}

/* --- alone: the offer is banned already, or not banned, or deleted --- */

static int write_alone(struct store_tx *tx, void *arg, struct err *err)
{
    struct giving *giving = arg;
    Torg__V1__Offer *offer;
    int rc = damaged_offer_find(tx, giving->id, giving->arena, giving->damaged, &offer, err);

    if (!rc && !offer)
        rc = offer_refuse_missing(giving->id, err);
    if (rc)
        return rc;
    giving->movable = offer_status_allows((enum offer_status)offer->status, giving->move);
    if (giving->movable)
        return err_set(err, ERR_CONFLICT, "the offer was changed by another call");
    rc = write_row(tx, giving, offer->seller, err);
    if (!rc && giving->damaged)
        rc = damaged_offer_replace(tx, giving->damaged, err);
    if (!rc && giving->move == MOVE_BAN && offer->status == TORG__V1__OFFER__STATUS__DELETED)
        rc = external_item_hold(tx, giving->id, offer, err);
    return rc;
}

static int give_readable(struct giving *giving, Torg__V1__GiveOpinionResponse *answer,
                         struct err *err)
{
    Torg__V1__OfferReceipt *receipt = MESSAGE_NEW(offer_receipt, giving->arena);
    int rc = ERR_CONFLICT;

    giving->movable = true;
    for (int i = 0; i < OFFER_ATTEMPT_COUNT_MAX && rc == ERR_CONFLICT && giving->movable; i++) {
        rc = give_with_move(giving, receipt, err);
        answer->receipt = rc ? NULL : receipt;
        giving->movable = false;
        if (rc == ERR_PRECONDITION)
            rc = store_write(giving->offers->store, write_alone, giving, err);
    }
    return rc;
}

static int look_for_newer(struct store_tx *tx, void *giving, struct err *err)
{
    return check_newer(tx, giving, err);
}

/* What the offer says need not be read to take it down. An opinion that is stale does not even look
 * for whose it is. */
static int give_damaged(struct giving *giving, Torg__V1__GiveOpinionResponse *answer,
                        struct err *err)
{
    struct damaged_offer damaged = {
        .offers = giving->offers, .actor = giving->actor, .arena = giving->arena, .id = giving->id};
    int rc = store_read(giving->offers->store, look_for_newer, giving, err);

    if (!rc)
        rc = damaged_offer_find_seller(&damaged, err);
    if (rc)
        return rc;
    giving->damaged = &damaged;
    rc = give_readable(giving, answer, err);
    giving->damaged = NULL;
    if (!rc && damaged.stand_in)
        log_warn("a damaged offer was replaced by one without content",
                 LOG_INT("offer", giving->id), LOG_TEXT("seller", damaged.seller));
    return rc;
}

static int give(struct giving *giving, Torg__V1__GiveOpinionResponse *answer, struct err *err)
{
    int rc = give_readable(giving, answer, err);

    if (rc == ERR_CORRUPT && giving->move == MOVE_BAN)
        rc = give_damaged(giving, answer, err);
    answer->applied = !rc;
    return rc == ERR_STALE ? 0 : rc;
}

int moderation_apply(const struct offers *offers, const char *actor,
                     const Torg__V1__ModerationOpinion *opinion, struct arena *arena,
                     Torg__V1__GiveOpinionResponse *answer, struct err *err)
{
    Torg__V1__Moderation kept = TORG__V1__MODERATION__INIT;
    struct giving giving = {.offers = offers,
                            .actor = actor,
                            .opinion = opinion,
                            .arena = arena,
                            .move = opinion->verdict == TORG__V1__MODERATION_OPINION__VERDICT__BAN
                                        ? MOVE_BAN
                                        : MOVE_UNBAN,
                            .body = BUF_INIT(BODY_SIZE_MAX)};
    int rc = offer_id_parse(bytes_of(opinion->offer_id), &giving.id, err);

    assert(offers->store && offers->clock);
    kept.opinion = (Torg__V1__ModerationOpinion *)opinion;
    kept.update_time = moment_or_none(clock_wall_us(offers->clock), arena);
    if (!rc)
        rc = record_pack(&kept.base, "the opinion", &giving.body, err);
    if (!rc)
        rc = give(&giving, answer, err);
    buf_release(&giving.body);
    return rc;
}

/* --- reading --- */

#define MODERATION "SELECT body FROM offer WHERE id = $1 AND kind = 'moderation'"

/* *moderation is NULL where there is none. */
static int take_moderation(struct store_rows rows, struct arena *arena,
                           Torg__V1__Moderation **moderation, struct err *err)
{
    ProtobufCMessage *message = NULL;

    if (store_next(&rows))
        rows.rc = record_open(rows.columns[0].bytes, &torg__v1__moderation__descriptor, arena,
                              &message, err);
    *moderation = (Torg__V1__Moderation *)message;
    return store_rows_end(&rows, err);
}

int moderation_get(const struct offers *offers, offerid id, struct arena *arena,
                   Torg__V1__Moderation **moderation, struct err *err)
{
    int rc =
        take_moderation(store_read_rows(offers->store, MODERATION, STORE_WITH(STORE_V_INT(id))),
                        arena, moderation, err);

    assert(offers->store && offers->clock);
    if (!rc && !*moderation)
        rc = err_set(err, ERR_NOT_FOUND, "there is no opinion on offer %s",
                     offer_id_text(arena, id));
    return rc;
}

/* --- for who brings an offer back --- */

int opinion_see(struct store_tx *tx, offerid id, struct arena *arena, struct opinion_seen *seen,
                struct err *err)
{
    Torg__V1__Moderation *moderation;
    int rc = take_moderation(store_select(tx, MODERATION, STORE_WITH(STORE_V_INT(id))), arena,
                             &moderation, err);

    *seen = (struct opinion_seen){0};
    if (!rc && moderation)
        *seen = (struct opinion_seen){.revision = moderation->opinion->revision,
                                      .bans = moderation->opinion->verdict ==
                                              TORG__V1__MODERATION_OPINION__VERDICT__BAN};
    return rc;
}

int opinion_check_seen(struct store_tx *tx, offerid id, const struct opinion_seen *seen,
                       bool *outrun, struct err *err)
{
    int64_t revision;
    int rc = find_revision(tx, id, &revision, err);

    *outrun = !rc && revision != seen->revision;
    return rc;
}

bool opinion_bans(const struct opinion_seen *seen, const Torg__V1__Offer *offer)
{
    if (offer->status != TORG__V1__OFFER__STATUS__DELETED)
        return offer->status == TORG__V1__OFFER__STATUS__BANNED;
    return seen->revision ? seen->bans : offer->status_before_ban != 0;
}
