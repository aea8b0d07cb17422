/* SPDX-License-Identifier: Apache-2.0 */
/* service_offer.c - torg.v1.OfferService. */
#include <assert.h>

#include "base/memory.h"
#include "codec/message.h"
#include "offers/bounds.h"
#include "offers/change/moderation.h"
#include "offers/service.h"

/* Sellers with offers.read see what is theirs, services everything. */
static struct reader reader_of(const struct call *call)
{
    const struct identity *identity = call_identity(call);
    bool may_read = identity_has_scope(identity, "offers.read");

    return (struct reader){
        .seller = may_read ? identity->seller : "",
        .sees_all = !*identity->seller && !*identity->client &&
                    (may_read || identity_has_scope(identity, "moderation")),
    };
}

/* What the moderator gave as reasons; one who only bans by hand may have left none. */
static int add_ban_reasons(struct call *call, offerid id, Torg__V1__Offer *offer, struct err *err)
{
    Torg__V1__Moderation *moderation;
    int rc = moderation_get(call_context(call), id, call_arena(call), &moderation, err);

    if (rc == ERR_NOT_FOUND)
        return 0;
    if (!rc) {
        offer->ban_reasons = moderation->opinion->reasons;
        offer->n_ban_reasons = moderation->opinion->n_reasons;
    }
    return rc;
}

static int get_offer(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                     struct err *err)
{
    const Torg__V1__GetOfferRequest *wanted = (const Torg__V1__GetOfferRequest *)request;
    const struct reader reader = reader_of(call);
    Torg__V1__Offer *offer;
    offerid id;
    int rc = caller_id(call, "id", wanted->id, &id, err);

    if (!rc)
        rc = offers_get(call_context(call), &reader, id, call_arena(call), &offer, err);
    if (!rc && offer->status == TORG__V1__OFFER__STATUS__BANNED)
        rc = add_ban_reasons(call, id, offer, err);
    if (!rc)
        *(Torg__V1__Offer *)response = *offer;
    return rc;
}

/* All ids, or every one that is wrong told. */
static int parse_ids(struct call *call, const Torg__V1__GetOffersRequest *wanted, offerid *ids,
                     struct err *err)
{
    struct arena *arena = call_arena(call);
    int result = 0;

    for (size_t i = 0; i < wanted->n_ids; i++) {
        int rc = caller_id(call, arena_printf(arena, "ids[%zu]", i), wanted->ids[i], &ids[i], err);

        result = rc ? rc : result;
    }
    return result;
}

/* The first of each, in their order: what is asked for twice is answered once. */
static size_t keep_first(offerid *ids, const char **names, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (k < kept && ids[k] != ids[i])
            k++;
        if (k < kept)
            continue;
        ids[kept] = ids[i];
        names[kept++] = names[i];
    }
    return kept;
}

static int get_offers(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetOffersRequest *wanted = (const Torg__V1__GetOffersRequest *)request;
    Torg__V1__GetOffersResponse *answer = (Torg__V1__GetOffersResponse *)response;
    const struct reader reader = reader_of(call);
    struct arena *arena = call_arena(call);
    size_t count = wanted->n_ids;
    Torg__V1__Offer **list;
    const char **names;
    offerid *ids;
    int rc;

    if (count < 1 || count > OFFER_BATCH_COUNT_MAX)
        return call_invalid(call, err, "ids", "expected 1 to %d", OFFER_BATCH_COUNT_MAX);
    ids = arena_array(arena, count, sizeof(*ids));
    list = arena_array(arena, count, sizeof(Torg__V1__Offer *));
    answer->missing = arena_array(arena, count, sizeof(char *));
    names = arena_array(arena, count, sizeof(*names));
    memcpy(names, wanted->ids, count * sizeof(*names));
    rc = parse_ids(call, wanted, ids, err);
    if (!rc)
        count = keep_first(ids, names, count);
    if (!rc)
        rc = offers_get_many(call_context(call), &reader, ids, count, arena, list, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++) {
        if (list[i])
            list[answer->n_offers++] = list[i];
        else
            answer->missing[answer->n_missing++] = (char *)names[i];
    }
    answer->offers = list;
    return 0;
}

/* --- writes --- */

/* The author of a write on an offer, and its id (field "id"; NULL: it has none). */
static int begin(struct call *call, const char *method, const ProtobufCMessage *request,
                 const char *id_text, struct violations *violations, struct author *author,
                 offerid *id, struct err *err)
{
    const char *seller;
    int rc = caller_seller(call, &seller, err);

    if (!rc)
        rc = caller_author(call, method, seller, request, violations, author, err);
    if (!rc && id_text)
        rc = caller_id(call, "id", id_text, id, err);
    return rc;
}

static Torg__V1__OfferContent *content_of(struct call *call, Torg__V1__OfferContent *content)
{
    return content ? content : MESSAGE_NEW(offer_content, call_arena(call));
}

static int create_offer(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__CreateOfferRequest *wanted = (const Torg__V1__CreateOfferRequest *)request;
    struct violations violations;
    struct author author;
    int rc = begin(call, "CreateOffer", request, NULL, &violations, &author, NULL, err);

    if (rc)
        return rc;
    rc = offers_create(call_context(call), &author, content_of(call, wanted->content),
                       (Torg__V1__OfferReceipt *)response, err);
    call_violations(call, &violations);
    return rc;
}

static int update_offer(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__UpdateOfferRequest *wanted = (const Torg__V1__UpdateOfferRequest *)request;
    struct violations violations;
    struct author author;
    offerid id;
    int rc = begin(call, "UpdateOffer", request, wanted->id, &violations, &author, &id, err);

    if (rc)
        return rc;
    if (wanted->expected_revision <= 0) {
        call_violation(call, "expected_revision", "is missing: the revision that was read");
        return err_set(err, ERR_INVALID,
                       "expected_revision is missing: the revision that was read");
    }
    rc = offers_update(call_context(call), &author, id, wanted->expected_revision,
                       content_of(call, wanted->content), (Torg__V1__OfferReceipt *)response, err);
    call_violations(call, &violations);
    return rc;
}

static int move_offer(struct call *call, const char *method, const ProtobufCMessage *request,
                      const char *id_text, int64_t expected_revision, enum offer_move move,
                      ProtobufCMessage *response, struct err *err)
{
    struct violations violations;
    struct author author;
    offerid id;
    int rc = begin(call, method, request, id_text, &violations, &author, &id, err);

    if (rc)
        return rc;
    if (expected_revision < 0)
        return call_invalid(call, err, "expected_revision", "expected 0 or more");
    rc = offers_move(call_context(call), &author, id, expected_revision, move,
                     (Torg__V1__OfferReceipt *)response, err);
    call_violations(call, &violations);
    return rc;
}

static int prolong_offer(struct call *call, const ProtobufCMessage *request,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__MoveOfferRequest *wanted = (const Torg__V1__MoveOfferRequest *)request;

    return move_offer(call, "ProlongOffer", request, wanted->id, wanted->expected_revision,
                      MOVE_PROLONG, response, err);
}

static int withdraw_offer(struct call *call, const ProtobufCMessage *request,
                          ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__MoveOfferRequest *wanted = (const Torg__V1__MoveOfferRequest *)request;

    return move_offer(call, "WithdrawOffer", request, wanted->id, wanted->expected_revision,
                      MOVE_WITHDRAW, response, err);
}

static int republish_offer(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__MoveOfferRequest *wanted = (const Torg__V1__MoveOfferRequest *)request;

    return move_offer(call, "RepublishOffer", request, wanted->id, wanted->expected_revision,
                      MOVE_REPUBLISH, response, err);
}

static int delete_offer(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__MoveOfferRequest *wanted = (const Torg__V1__MoveOfferRequest *)request;

    return move_offer(call, "DeleteOffer", request, wanted->id, wanted->expected_revision,
                      MOVE_DELETE, response, err);
}

static int mark_offer_sold(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__MarkOfferSoldRequest *wanted = (const Torg__V1__MarkOfferSoldRequest *)request;
    bool on_site = wanted->where == TORG__V1__MARK_OFFER_SOLD_REQUEST__WHERE__ON_SITE;

    if (!on_site && wanted->where != TORG__V1__MARK_OFFER_SOLD_REQUEST__WHERE__ELSEWHERE)
        return call_invalid(call, err, "where", "expected ON_SITE or ELSEWHERE");
    return move_offer(call, "MarkOfferSold", request, wanted->id, wanted->expected_revision,
                      on_site ? MOVE_SELL_ON_SITE : MOVE_SELL_ELSEWHERE, response, err);
}

static const struct rpc_method methods[] = {
    {.name = "GetOffer", .unary = get_offer, .flags = RPC_PUBLIC | RPC_BRIEF},
    {.name = "GetOffers", .unary = get_offers, .flags = RPC_PUBLIC | RPC_BRIEF},
    {.name = "CreateOffer", .unary = create_offer, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "UpdateOffer", .unary = update_offer, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "ProlongOffer",
     .unary = prolong_offer,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "WithdrawOffer",
     .unary = withdraw_offer,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "RepublishOffer",
     .unary = republish_offer,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "MarkOfferSold",
     .unary = mark_offer_sold,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "DeleteOffer", .unary = delete_offer, .scope = "offers.write", .flags = RPC_OF_SELLER},
};

static void begin_reads(void *context)
{
    store_hold(((struct offers *)context)->store);
}

static void end_reads(void *context)
{
    store_let_go(((struct offers *)context)->store);
}

struct rpc_service offer_service(struct offers *offers)
{
    assert(offers->store && offers->clock);
    return (struct rpc_service){
        .descriptor = &torg__v1__offer_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = offers,
        .remote = !store_is_local(offers->store),
        .begin = begin_reads,
        .end = end_reads,
    };
}
