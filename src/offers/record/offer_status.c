/* SPDX-License-Identifier: Apache-2.0 */
/* offer_status.c - see offer_status.h. */
#include "offers/record/offer_status.h"

#include <assert.h>

#include "base/buf.h"

#define FROM(status) (1u << (status))
/* What its seller has in hand: neither gone nor taken from him. */
#define FROM_LIVE                                                                                  \
    (FROM(OFFER_WAITING) | FROM(OFFER_ACTIVE) | FROM(OFFER_EXPIRED) | FROM(OFFER_WITHDRAWN))
#define FROM_SOLD (FROM(OFFER_SOLD_ON_SITE) | FROM(OFFER_SOLD_ELSEWHERE))

/* The same status, or the one that was kept when it was left. */
enum { TO_SAME = -1, TO_BEFORE_BAN = -2 };

static const struct move {
    const char *name;
    unsigned from;
    int to;
} moves[OFFER_MOVE_COUNT] = {
    [MOVE_PUBLISH] = {"publish", FROM(OFFER_NONE), OFFER_ACTIVE},
    /* A banned one can be mended for the moderator to look at again. */
    [MOVE_UPDATE] = {"update", FROM_LIVE | FROM(OFFER_BANNED), TO_SAME},
    [MOVE_PROLONG] = {"prolong", FROM(OFFER_ACTIVE) | FROM(OFFER_EXPIRED), OFFER_ACTIVE},
    [MOVE_REPUBLISH] = {"republish", FROM(OFFER_WITHDRAWN) | FROM_SOLD, OFFER_ACTIVE},
    [MOVE_WITHDRAW] = {"withdraw", FROM(OFFER_ACTIVE) | FROM(OFFER_EXPIRED) | FROM(OFFER_WAITING),
                       OFFER_WITHDRAWN},
    [MOVE_SELL_ON_SITE] = {"sell on site", FROM_LIVE, OFFER_SOLD_ON_SITE},
    [MOVE_SELL_ELSEWHERE] = {"sell elsewhere", FROM_LIVE, OFFER_SOLD_ELSEWHERE},
    [MOVE_DELETE] = {"delete", FROM_LIVE | FROM_SOLD | FROM(OFFER_BANNED), OFFER_DELETED},
    [MOVE_EXPIRE] = {"expire", FROM(OFFER_ACTIVE), OFFER_EXPIRED},
    [MOVE_SHOW] = {"show", FROM(OFFER_WAITING), OFFER_ACTIVE},
    [MOVE_BAN] = {"ban", FROM_LIVE | FROM_SOLD, OFFER_BANNED},
    [MOVE_UNBAN] = {"unban", FROM(OFFER_BANNED), TO_BEFORE_BAN},
    [MOVE_REVIVE] = {"revive", FROM(OFFER_DELETED), OFFER_ACTIVE},
    /* Not of a deleted one: nobody would look at them, and a revival asks for them again. */
    [MOVE_PHOTOS] = {"add photos", FROM_LIVE | FROM_SOLD | FROM(OFFER_BANNED), TO_SAME},
};

static const char *const status_names[OFFER_STATUS_COUNT] = {
    [OFFER_NONE] = "draft",
    [OFFER_ACTIVE] = "ACTIVE",
    [OFFER_EXPIRED] = "EXPIRED",
    [OFFER_SOLD_ON_SITE] = "SOLD_ON_SITE",
    [OFFER_SOLD_ELSEWHERE] = "SOLD_ELSEWHERE",
    [OFFER_BANNED] = "BANNED",
    [OFFER_WITHDRAWN] = "WITHDRAWN",
    [OFFER_DELETED] = "DELETED",
    [OFFER_WAITING] = "WAITING",
};

const char *offer_status_name(enum offer_status status)
{
    assert(status < OFFER_STATUS_COUNT);
    return status_names[status];
}

const char *offer_move_name(enum offer_move move)
{
    assert(move < OFFER_MOVE_COUNT);
    return moves[move].name;
}

bool offer_status_allows(enum offer_status from, enum offer_move move)
{
    assert(from < OFFER_STATUS_COUNT && move < OFFER_MOVE_COUNT);
    return moves[move].from >> from & 1;
}

bool offer_status_is_known(int status)
{
    return status > OFFER_NONE && status < OFFER_STATUS_COUNT;
}

bool offer_move_is_sellers(enum offer_move move)
{
    return move <= MOVE_DELETE;
}

static enum offer_status target(enum offer_status from, enum offer_move move,
                                enum offer_status before_ban)
{
    /* Deleting and sending it again must not shake a ban off. */
    if (move == MOVE_REVIVE && before_ban != OFFER_NONE)
        return OFFER_BANNED;
    if (moves[move].to == TO_SAME)
        return from;
    if (moves[move].to == TO_BEFORE_BAN)
        return before_ban == OFFER_NONE ? OFFER_ACTIVE : before_ban;
    return (enum offer_status)moves[move].to;
}

static int refuse(enum offer_status from, enum offer_move move, enum offer_status to,
                  const char *name, struct err *err)
{
    struct buf possible = BUF_INIT(ERR_TEXT_SIZE);
    bool any = false;

    for (int i = 0; i < OFFER_MOVE_COUNT; i++) {
        /* A seller is not told what others may do. */
        if (!offer_status_allows(from, (enum offer_move)i) ||
            (offer_move_is_sellers(move) && !offer_move_is_sellers((enum offer_move)i)))
            continue;
        buf_printf(&possible, "%s%s", any ? ", " : "", moves[i].name);
        any = true;
    }
    err_set(err, ERR_PRECONDITION, "%s is %s: \"%s\" (to %s) is not possible; possible: %s", name,
            status_names[from], moves[move].name, status_names[to],
            any ? buf_text(&possible) : "nothing");
    buf_release(&possible);
    return ERR_PRECONDITION;
}

int offer_status_move(enum offer_status from, enum offer_move move, enum offer_status before_ban,
                      const char *name, enum offer_status *to, struct err *err)
{
    enum offer_status wanted = target(from, move, before_ban);

    if (!offer_status_allows(from, move))
        return refuse(from, move, wanted, name, err);
    *to = wanted;
    return 0;
}
