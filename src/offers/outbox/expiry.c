/* SPDX-License-Identifier: Apache-2.0 */
/* expiry.c - see expiry.h. */
#include "offers/outbox/expiry.h"

#include <assert.h>

#include "base/log.h"
#include "offers/bounds.h"
#include "offers/change/offer_change.h"

struct due {
    offerid id;
    int64_t revision;
    int64_t expires_us;
};

/* The next EXPIRY_CHUNK_COUNT at the most. */
static int find_due(const struct offers *offers, uint32_t shard, const struct expiry_cursor *after,
                    struct due *due, size_t *count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        offers->store,
        "SELECT id, revision, expires_us FROM offer WHERE shard_id = $1 "
        "AND expires_us > 0 AND expires_us <= $2 AND expires_us >= $3 "
        "AND (expires_us > $3 OR id > $4) AND kind = 'offer' ORDER BY expires_us, id LIMIT $5",
        STORE_WITH(STORE_V_INT(shard), STORE_V_INT(clock_wall_us(offers->clock)),
                   STORE_V_INT(after->expires_us), STORE_V_INT(after->id),
                   STORE_V_INT(EXPIRY_CHUNK_COUNT)));

    for (*count = 0; store_next(&rows); ++*count) {
        assert(*count < EXPIRY_CHUNK_COUNT);
        due[*count] =
            (struct due){rows.columns[0].integer, rows.columns[1].integer, rows.columns[2].integer};
    }
    return store_rows_end(&rows, err);
}

/* What is due waits for a photo, or is shown and expires. */
static int choose_move(struct store_tx *tx, struct offer_change *change, struct err *err)
{
    (void)tx;
    (void)err;
    if (change->before && change->before->status == TORG__V1__OFFER__STATUS__WAITING)
        change->move = MOVE_SHOW;
    return 0;
}

static int move_on(const struct offers *offers, const struct due *due, struct err *err)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    const struct author worker = {.arena = arena, .violations = &violations};
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct offer_change change = {.offers = offers,
                                  .author = &worker,
                                  .id = due->id,
                                  .expected_revision = due->revision,
                                  .move = MOVE_EXPIRE,
                                  .read = choose_move};
    int rc = offer_change_run(&change, &receipt, err);

    arena_free(arena);
    return rc;
}

int expiry_step(const struct offers *offers, uint32_t shard, struct expiry_cursor *cursor,
                size_t *expired, bool *more, struct err *err)
{
    struct due list[EXPIRY_CHUNK_COUNT];
    size_t count;
    int rc = find_due(offers, shard, cursor, list, &count, err);

    assert(offers->store && offers->clock);
    *expired = 0;
    *more = false;
    for (size_t i = 0; i < count && !rc; i++) {
        const struct due *due = &list[i];

        rc = move_on(offers, due, err);
        if (rc == ERR_UNAVAILABLE || rc == ERR_TIMEOUT)
            return rc;
        if (!rc)
            ++*expired;
        else if (rc != ERR_CONFLICT) /* that one was changed meanwhile: if due, it comes again */
            log_error("an offer cannot be expired or shown", LOG_INT("offer", due->id),
                      LOG_TEXT("error", err->text));
        rc = 0;
        *cursor = (struct expiry_cursor){due->expires_us, due->id};
    }
    *more = !rc && count == EXPIRY_CHUNK_COUNT;
    return rc;
}
