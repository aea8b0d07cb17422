/* SPDX-License-Identifier: Apache-2.0 */
/* searcher_door.c - see searcher_door.h. */
#include "inspect/doors/searcher_door.h"

#include "codec/message.h"
#include "inspect/bounds.h"
#include "searcher/bounds.h"

/* Asks another searcher. */
static int ask_peer(struct peers *peers, const char *replica, const char *method,
                    const ProtobufCMessage *request, int64_t wait_ms,
                    const ProtobufCMessageDescriptor *type, struct arena *arena,
                    ProtobufCMessage **response, struct err *err)
{
    struct peer *peer = peers_find(peers, replica);
    struct buf packed = BUF_INIT(VERIFY_REQUEST_SIZE_MAX);
    struct buf answer = BUF_INIT(SEARCHER_ANSWER_SIZE_MAX);
    int rc = 0;

    if (!peer)
        rc = err_set(err, ERR_NOT_FOUND, "%s is not among the searchers of this process", replica);
    message_encode(request, &packed);
    if (!rc && buf_failed(&packed))
        rc =
            err_set(err, ERR_LIMIT, "the request is larger than %d bytes", VERIFY_REQUEST_SIZE_MAX);
    if (!rc)
        rc = peer_call(peer, method, buf_bytes(&packed), wait_ms, &answer, err);
    if (!rc)
        rc = message_decode(arena_copy(arena, buf_bytes(&answer)), type, arena, response, err);
    buf_release(&packed);
    buf_release(&answer);
    return rc;
}

static int freshness(void *arg, const char *client, struct arena *arena,
                     Torg__V1__Freshness **response, struct err *err)
{
    (void)err;
    *response = MESSAGE_NEW(freshness, arena);
    searcher_tell_freshness(arg, client, arena, *response);
    return 0;
}

static int list(void *arg, const char *replica, const Torg__V1__ListIndexedRequest *request,
                struct arena *arena, Torg__V1__ListIndexedResponse **response, struct err *err)
{
    const ProtobufCMessageDescriptor *type = &torg__v1__list_indexed_response__descriptor;
    const struct searcher *searcher = arg;

    if (*replica)
        return ask_peer(searcher->front.gatherer.peers, replica, "ListIndexed", &request->base,
                        VERIFY_PEER_MS, type, arena, (ProtobufCMessage **)response, err);
    *response = message_new(type, arena);
    return searcher_list_indexed(arg, request->client, request, arena, *response, err);
}

static int check(void *arg, const char *replica, const Torg__V1__CheckShardRequest *request,
                 struct arena *arena, Torg__V1__CheckShardResponse **response, struct err *err)
{
    const ProtobufCMessageDescriptor *type = &torg__v1__check_shard_response__descriptor;
    const struct searcher *searcher = arg;
    int64_t deadline_us = clock_mono_us(searcher->front.clock) + VERIFY_PEER_MS * (int64_t)MS_US;

    if (*replica)
        return ask_peer(searcher->front.gatherer.peers, replica, "CheckShard", &request->base,
                        VERIFY_PEER_MS, type, arena, (ProtobufCMessage **)response, err);
    *response = message_new(type, arena);
    return searcher_check_shard(arg, request->client, request, deadline_us, arena, *response, err);
}

struct index_door searcher_door(struct searcher *searcher)
{
    return (struct index_door){
        .freshness = freshness, .list = list, .check = check, .arg = searcher};
}

/* --- a process without a searcher --- */

static int peers_tell(void *arg, const char *client, struct arena *arena,
                      Torg__V1__Freshness **response, struct err *err)
{
    (void)err;
    *response = MESSAGE_NEW(freshness, arena);
    peers_freshness(arg, client, arena, &(*response)->shards, &(*response)->n_shards);
    return 0;
}

static int list_of_peer(void *arg, const char *replica, const Torg__V1__ListIndexedRequest *request,
                        struct arena *arena, Torg__V1__ListIndexedResponse **response,
                        struct err *err)
{
    if (!*replica)
        return err_set(err, ERR_NOT_FOUND, "this process has no searcher");
    return ask_peer(arg, replica, "ListIndexed", &request->base, VERIFY_PEER_MS,
                    &torg__v1__list_indexed_response__descriptor, arena,
                    (ProtobufCMessage **)response, err);
}

static int check_of_peer(void *arg, const char *replica, const Torg__V1__CheckShardRequest *request,
                         struct arena *arena, Torg__V1__CheckShardResponse **response,
                         struct err *err)
{
    if (!*replica)
        return err_set(err, ERR_NOT_FOUND, "this process has no searcher");
    return ask_peer(arg, replica, "CheckShard", &request->base, VERIFY_PEER_MS,
                    &torg__v1__check_shard_response__descriptor, arena,
                    (ProtobufCMessage **)response, err);
}

static int shows_of_peer(void *arg, const char *replica, const char *client, const char *token,
                         struct arena *arena, bool *is_shown, struct err *err)
{
    Torg__V1__GetFreshnessRequest request = TORG__V1__GET_FRESHNESS_REQUEST__INIT;
    ProtobufCMessage *answer;
    int rc;

    request.client = (char *)client;
    request.token = (char *)token;
    request.is_passed_on = true;
    rc = ask_peer(arg, replica, "GetFreshness", &request.base, FRESHNESS_PEER_MS,
                  &torg__v1__freshness__descriptor, arena, &answer, err);
    *is_shown = !rc && ((const Torg__V1__Freshness *)answer)->is_searchable;
    return rc;
}

struct index_door peers_door(struct peers *peers)
{
    return (struct index_door){.freshness = peers_tell,
                               .list = list_of_peer,
                               .check = check_of_peer,
                               .shows = shows_of_peer,
                               .arg = peers};
}
