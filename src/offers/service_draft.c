/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_draft.c - torg.v1.DraftService.
 *
 * An anonymous id is a secret that we make (16 random bytes, 22 characters): whoever has it has the
 * draft. Only a key that is bound to no seller, the site's own, acts for visitors alone.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/token.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/record/offer_content.h"
#include "offers/record/offer_record.h"
#include "offers/service.h"

enum { ANONYMOUS_SIZE = 16, CATEGORY_SIZE_MAX = 64 };

/* --- owners --- */

static int refuse_anonymous(struct call *call, struct err *err)
{
    return call_invalid(call, err, "anonymous_id", "expected what OpenDraft gave");
}

/* 'a:' and the id; NULL for "". */
static int visitor_owner(struct call *call, const char *anonymous_id, const char **owner,
                         struct err *err)
{
    struct arena *arena = call_arena(call);
    struct bytes secret;

    *owner = NULL;
    if (!*anonymous_id)
        return 0;
    if (!token_parse(bytes_of(anonymous_id), ANONYMOUS_SIZE, arena, &secret) ||
        secret.size != ANONYMOUS_SIZE)
        return refuse_anonymous(call, err);
    *owner = arena_printf(arena, "a:%s", token_text(secret, arena));
    return 0;
}

/* 's:' and the seller; NULL for a key without one. */
static const char *seller_owner(struct call *call)
{
    const char *seller = call_identity(call)->seller;

    return *seller ? arena_printf(call_arena(call), "s:%s", seller) : NULL;
}

/* Whose draft is meant: the seller's of the key, else the visitor's. */
static int owner_of(struct call *call, const char *anonymous_id, const char **owner,
                    struct err *err)
{
    *owner = seller_owner(call);
    if (*owner)
        return 0;
    if (!*anonymous_id)
        return refuse_anonymous(call, err);
    return visitor_owner(call, anonymous_id, owner, err);
}

/* --- answers --- */

static void put_problems(const struct violations *violations, struct arena *arena,
                         Torg__V1__Problem ***list, size_t *list_count)
{
    size_t count = 0;

    *list = arena_array(arena, violations->count ? violations->count : 1, sizeof(**list));
    for (const struct violation *one = violations->first; one; one = one->next) {
        Torg__V1__Problem *problem = MESSAGE_NEW(problem, arena);

        problem->field = arena_strdup(arena, one->field);
        problem->reason = arena_strdup(arena, one->reason);
        (*list)[count++] = problem;
    }
    *list_count = count;
}

/* What publishing would refuse; nothing is said while there is no catalogue. */
static void find_problems(struct call *call, const struct offers *offers,
                          const Torg__V1__OfferContent *content, Torg__V1__Problem ***list,
                          size_t *count)
{
    struct violations violations = violations_in(call_arena(call));
    struct catalog *catalog = offers->catalog(offers->catalog_arg);

    if (catalog)
        offer_content_check(content, catalog, language_of(call_header(call, "accept-language")),
                            &violations, NULL);
    catalog_unref(catalog);
    put_problems(&violations, call_arena(call), list, count);
}

int draft_message(struct call *call, const struct offers *offers, const struct draft *draft,
                  Torg__V1__Draft *message, struct err *err)
{
    assert(offers->store && offers->clock);
    message->id = offer_id_text(call_arena(call), draft->id);
    message->revision = draft->revision;
    message->update_time = moment_or_none(draft->updated_us, call_arena(call));
    message->content = draft->content;
    find_problems(call, offers, draft->content, &message->problems, &message->n_problems);
    return 0;
}

/* --- handlers --- */

/* A wish that nothing can fulfil must not empty a draft: that of a misspelt category. */
static int check_category(struct call *call, const struct offers *offers, const char *name,
                          struct err *err)
{
    struct catalog *catalog;
    bool is_known;

    if (strlen(name) > CATEGORY_SIZE_MAX) {
        call_violation(call, "category", "has more than %d bytes", CATEGORY_SIZE_MAX);
        return err_set(err, ERR_INVALID, "category: has more than %d bytes", CATEGORY_SIZE_MAX);
    }
    catalog = offers->catalog(offers->catalog_arg);
    is_known = !*name || !catalog || category_find(catalog, name);
    catalog_unref(catalog);
    if (is_known)
        return 0;
    call_violation(call, "category", "there is no category \"%s\"", name);
    return err_set(err, ERR_INVALID,
                   "category: there is no category \"%s\"; the draft stays as it is", name);
}

static int open_draft(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__OpenDraftRequest *wanted = (const Torg__V1__OpenDraftRequest *)request;
    Torg__V1__OpenDraftResponse *answer = (Torg__V1__OpenDraftResponse *)response;
    const struct offers *offers = call_context(call);
    const char *seller = seller_owner(call);
    struct arena *arena = call_arena(call);
    const char *anonymous_id = wanted->anonymous_id;
    uint8_t secret[ANONYMOUS_SIZE];
    struct draft *draft;
    const char *visitor;
    int rc;

    rc = check_category(call, offers, wanted->category, err);
    if (rc)
        return rc;
    if (!seller && !*anonymous_id) {
        random_fill(secret, sizeof(secret));
        anonymous_id = token_text(bytes_make(secret, sizeof(secret)), arena);
    }
    rc = visitor_owner(call, anonymous_id, &visitor, err);
    if (!rc)
        rc = draft_open(offers, seller, visitor, wanted->category, arena, &draft, err);
    if (rc)
        return rc;
    answer->draft = MESSAGE_NEW(draft, arena);
    if (!seller)
        answer->anonymous_id = arena_strdup(arena, anonymous_id);
    return draft_message(call, offers, draft, answer->draft, err);
}

static int get_draft(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                     struct err *err)
{
    const Torg__V1__GetDraftRequest *wanted = (const Torg__V1__GetDraftRequest *)request;
    const struct offers *offers = call_context(call);
    struct draft *draft = NULL;
    const char *owner;
    int rc = owner_of(call, wanted->anonymous_id, &owner, err);

    if (!rc)
        rc = draft_get(offers, owner, call_arena(call), &draft, err);
    if (rc)
        return rc;
    if (!draft)
        return err_set(err, ERR_NOT_FOUND, "there is no draft: OpenDraft makes one");
    return draft_message(call, offers, draft, (Torg__V1__Draft *)response, err);
}

/* The author of a write on a draft, and its id. */
static int begin(struct call *call, const char *method, const ProtobufCMessage *request,
                 const char *anonymous_id, const char *id_text, struct violations *violations,
                 struct author *author, offerid *id, struct err *err)
{
    const char *owner;
    int rc = owner_of(call, anonymous_id, &owner, err);

    if (!rc)
        rc = caller_author(call, method, owner, request, violations, author, err);
    if (!rc)
        rc = caller_id(call, "id", id_text, id, err);
    return rc;
}

static int save_draft(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__SaveDraftRequest *wanted = (const Torg__V1__SaveDraftRequest *)request;
    Torg__V1__DraftReceipt *receipt = (Torg__V1__DraftReceipt *)response;
    const struct offers *offers = call_context(call);
    Torg__V1__OfferContent *content = wanted->content;
    struct violations violations;
    struct author author;
    struct draft draft;
    offerid id;
    int rc = begin(call, "SaveDraft", request, wanted->anonymous_id, wanted->id, &violations,
                   &author, &id, err);

    if (rc)
        return rc;
    if (!content)
        content = MESSAGE_NEW(offer_content, call_arena(call));
    rc = draft_save(offers, &author, id, wanted->expected_revision, content, &draft, err);
    if (rc)
        return rc;
    receipt->id = offer_id_text(call_arena(call), draft.id);
    receipt->revision = draft.revision;
    receipt->update_time = moment_or_none(draft.updated_us, call_arena(call));
    find_problems(call, offers, draft.content, &receipt->problems, &receipt->n_problems);
    return 0;
}

static int discard_draft(struct call *call, const ProtobufCMessage *request,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__DiscardDraftRequest *wanted = (const Torg__V1__DiscardDraftRequest *)request;
    struct violations violations;
    struct author author;
    offerid id;
    int rc = begin(call, "DiscardDraft", request, wanted->anonymous_id, wanted->id, &violations,
                   &author, &id, err);

    return rc ? rc : draft_discard(call_context(call), &author, id, err);
}

static int publish_draft(struct call *call, const ProtobufCMessage *request,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__PublishDraftRequest *wanted = (const Torg__V1__PublishDraftRequest *)request;
    struct violations violations;
    struct author author;
    const char *seller;
    offerid id;
    int rc = caller_seller(call, &seller, err);

    if (!rc)
        rc = caller_author(call, "PublishDraft", seller, request, &violations, &author, err);
    if (!rc)
        rc = caller_id(call, "id", wanted->id, &id, err);
    if (rc)
        return rc;
    rc = draft_publish(call_context(call), &author, id, wanted->expected_revision,
                       (Torg__V1__OfferReceipt *)response, err);
    call_violations(call, &violations);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "OpenDraft", .unary = open_draft, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "GetDraft", .unary = get_draft, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "SaveDraft", .unary = save_draft, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "DiscardDraft",
     .unary = discard_draft,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "PublishDraft",
     .unary = publish_draft,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
};

struct rpc_service draft_service(struct offers *offers)
{
    assert(offers->store && offers->clock);
    return RPC_SERVICE(draft, methods, offers);
}
