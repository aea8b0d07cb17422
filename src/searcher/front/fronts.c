/* SPDX-License-Identifier: Apache-2.0 */
/* fronts.c - see fronts.h. */
#include "searcher/front/fronts.h"

#include "base/clock.h"
#include "codec/message.h"
#include "searcher/bounds.h"

enum { REQUEST_SIZE_MAX = 4 << 20, TIME_SHARE = 2, WAY_SHARE = 10 };

/* The request itself is wrong: another searcher would say the same. */
static bool is_request_at_fault(int rc)
{
    return rc == ERR_INVALID || rc == ERR_PRECONDITION || rc == ERR_RANGE || rc == ERR_UNSUPPORTED;
}

/* It gets a little less time than the call: an answer without some shards has to come back. */
static int ask(struct peer *peer, const Torg__V1__SearchRequest *request, int64_t ms,
               bool takes_old, struct arena *arena, Torg__V1__SearchResponse *response,
               struct err *err)
{
    Torg__V1__SearchRequest sent = *request;
    struct buf packed = BUF_INIT(REQUEST_SIZE_MAX);
    struct buf answer = BUF_INIT(SEARCHER_ANSWER_SIZE_MAX);
    ProtobufCMessage *message = NULL;
    int64_t its_ms = ms - ms / WAY_SHARE;
    int rc;

    sent.deadline_ms =
        (uint32_t)(its_ms < SEARCHER_DEADLINE_MS_MAX ? its_ms : SEARCHER_DEADLINE_MS_MAX);
    sent.old_max_seconds = takes_old ? request->old_max_seconds : 0;
    message_encode(&sent.base, &packed);
    if (buf_failed(&packed))
        rc = err_set(err, ERR_INVALID, "the request is larger than %d bytes", REQUEST_SIZE_MAX);
    else
        rc = peer_call(peer, "Search", buf_bytes(&packed), ms, &answer, err);
    if (!rc && message_decode(buf_bytes(&answer), &torg__v1__search_response__descriptor, arena,
                              &message, err))
        rc = err->code = ERR_INTERNAL; /* its fault, and not the request's */
    if (!rc) {
        *response = *(const Torg__V1__SearchResponse *)message;
        if (!response->answer || response->answer->n_stages != request->query->n_stages)
            rc = err_set(err, ERR_INTERNAL, "it gave an answer of another form");
    }
    buf_release(&packed);
    buf_release(&answer);
    return rc;
}

/* The key is the operator's business, not that of who searches. */
static void tell(const struct peer *peer, int rc, struct err *err)
{
    if (rc == ERR_DENIED || rc == ERR_UNAUTHENTICATED)
        err->code = ERR_UNAVAILABLE;
    err_wrap(err, "searcher %s", peer_url(peer));
}

int64_t fronts_patience_ms(const Torg__V1__SearchRequest *request, int64_t left_ms, bool is_last)
{
    int64_t share_ms = (left_ms + 1) / TIME_SHARE;

    if (is_last)
        return left_ms;
    return (request->n_wait && !request->looks) || share_ms < SEARCHER_SILENCE_MS_MAX
               ? share_ms
               : SEARCHER_SILENCE_MS_MAX;
}

/* Who has an old state alone may be followed by one that is caught up: its answer is kept until
 * the others have been asked for better. */
int fronts_search(struct peers *peers, const Torg__V1__SearchRequest *request, int64_t deadline_us,
                  struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    struct peer *found[SEARCHER_PEER_COUNT_MAX];
    uint32_t count = peers_all(peers, found, SEARCHER_PEER_COUNT_MAX);
    const Torg__V1__SearchResponse none = *response;
    Torg__V1__SearchResponse old = *response;
    struct err first = {0};

    for (uint32_t i = 0; i < count; i++) {
        int64_t left_ms = (deadline_us - clock_mono_us(peers_clock(peers))) / MS_US;
        struct err fault = {0};
        int rc;

        if (left_ms < 1)
            break;
        *response = none;
        rc = ask(found[i], request,
                 fronts_patience_ms(request, left_ms, i + 1 == count && !old.old_seconds),
                 !old.old_seconds, arena, response, &fault);
        if (!rc && !response->old_seconds && !(response->is_partial && old.old_seconds))
            return 0;
        if (!rc && !old.old_seconds)
            old = *response;
        if (rc && is_request_at_fault(rc) && !old.old_seconds) {
            *err = fault;
            return rc;
        }
        if (rc)
            tell(found[i], rc, &fault);
        /* One that does not know the client may be new: a reason of another one is truer. */
        if (rc && (!first.code || first.code == ERR_NOT_FOUND))
            first = fault;
    }
    if (old.old_seconds) {
        *response = old;
        return 0;
    }
    if (!first.code)
        return err_set(err, ERR_TIMEOUT, "no time was left to ask a searcher");
    *err = first;
    return err->code;
}
