/* SPDX-License-Identifier: Apache-2.0 */
/* service_contact.c - torg.v1.ContactService: how buyers reach sellers. */
#include <assert.h>
#include <inttypes.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/token.h"
#include "base/varint.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/inbox/messages.h"
#include "offers/service.h"

enum { PLACE_SIZE_MAX = 2 * VARINT_SIZE_MAX };

static void count_contact(const char *labels)
{
    counter_add(metrics_counter("torg_contacts_total", labels,
                                "Phones shown to buyers, messages to sellers, and refusals."),
                1);
}

/* An offer that everybody sees, whole; and one more contact of the caller. */
static int reach(struct call *call, const char *text, Torg__V1__Offer **offer, offerid *id,
                 struct err *err)
{
    static const struct reader all = {.seller = "", .sees_all = true};
    struct contacts *contacts = call_context(call);
    int64_t wait_s;
    int rc = caller_id(call, "id", text, id, err);

    if (!rc)
        rc = offers_get(contacts->offers, &all, *id, call_arena(call), offer, err);
    if (!rc && (*offer)->status != TORG__V1__OFFER__STATUS__ACTIVE)
        rc = err_set(err, ERR_NOT_FOUND, "there is no offer %s", (*offer)->id);
    if (rc)
        return rc;
    if (contact_limit_take(&contacts->limit, call_caller(call),
                           clock_mono_us(contacts->offers->clock), &wait_s))
        return 0;
    count_contact("event=\"refused\"");
    return err_set(err, ERR_LIMIT,
                   "%" PRId64 " contacts an hour are for one address or key: try again in %" PRId64
                   " minutes",
                   contacts->limit.per_hour, (wait_s + 59) / 60);
}

static int reveal_contacts(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__RevealContactsRequest *wanted =
        (const Torg__V1__RevealContactsRequest *)request;
    Torg__V1__RevealContactsResponse *answer = (Torg__V1__RevealContactsResponse *)response;
    struct contacts *contacts = call_context(call);
    Torg__V1__Offer *offer;
    offerid id;
    int rc = reach(call, wanted->id, &offer, &id, err);

    if (!rc)
        rc = reveals_add(contacts->offers, offer->seller, id, err);
    if (rc)
        return rc;
    count_contact("event=\"revealed\"");
    if (!offer->content->contacts)
        return 0;
    answer->name = offer->content->contacts->name;
    answer->phones = offer->content->contacts->phones;
    answer->n_phones = offer->content->contacts->n_phones;
    return 0;
}

/* Durable when it returns. */
static int hand_over(struct contacts *contacts, const Torg__V1__SellerMessage *message,
                     struct err *err)
{
    struct buf wire = BUF_INIT(MESSAGE_SIZE_MAX);
    struct topic_record record = {.key = bytes_of(message->seller)};
    int rc;

    if (!contacts->topics)
        return err_set(err, ERR_UNAVAILABLE, "messages are accepted only while a server runs");
    message_encode(&message->base, &wire);
    record.value = buf_bytes(&wire);
    rc = buf_failed(&wire)
             ? err_set(err, ERR_LIMIT, "the message is larger than %d bytes", MESSAGE_SIZE_MAX)
             : topic_produce(contacts->topics, TOPIC_MESSAGES, &record, 1, NULL, err);
    buf_release(&wire);
    return rc;
}

static int send_message(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__SendMessageRequest *wanted = (const Torg__V1__SendMessageRequest *)request;
    struct contacts *contacts = call_context(call);
    Torg__V1__SellerMessage message = TORG__V1__SELLER_MESSAGE__INIT;
    struct violations violations = violations_in(call_arena(call));
    Torg__V1__Offer *offer;
    offerid id;
    int rc;

    message.seller = "?"; /* known when the offer is */
    message.offer_id = wanted->id;
    message.text = wanted->text;
    message.name = wanted->name;
    message.reply_to = wanted->reply_to;
    message.id = random_u64() >> 1 | 1;
    message.time = moment_message(clock_wall_us(contacts->offers->clock), call_arena(call));
    if (message_check(&message, &violations)) {
        call_violations(call, &violations);
        return err_set(err, ERR_INVALID, "%s: %s", violations.first->field,
                       violations.first->reason);
    }
    rc = reach(call, wanted->id, &offer, &id, err);
    if (rc)
        return rc;
    message.seller = offer->seller;
    message.offer_id = offer->id;
    message.title = offer->content->title;
    rc = hand_over(contacts, &message, err);
    if (!rc)
        count_contact("event=\"message\"");
    return rc;
}

/* --- the seller's --- */

static char *place_text(const struct message_place *place, struct arena *arena)
{
    struct buf binary = BUF_INIT(PLACE_SIZE_MAX);
    char *text;

    varint_put(&binary, (uint64_t)place->sent_us);
    varint_put(&binary, (uint64_t)place->id);
    text = token_text(buf_bytes(&binary), arena);
    buf_release(&binary);
    return text;
}

static int place_parse(struct call *call, const char *text, struct message_place *place,
                       struct err *err)
{
    uint64_t sent_us, id;
    struct bytes rest;

    *place = messages_start;
    if (!*text)
        return 0;
    if (!token_parse(bytes_of(text), PLACE_SIZE_MAX, call_arena(call), &rest) ||
        !varint_get(&rest, &sent_us) || !varint_get(&rest, &id) || rest.size ||
        sent_us > INT64_MAX || id > INT64_MAX)
        return call_invalid(call, err, "page_token", "expected next_page_token of another page");
    *place = (struct message_place){(int64_t)sent_us, (int64_t)id};
    return 0;
}

static int list_messages(struct call *call, const ProtobufCMessage *request,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ListMessagesRequest *wanted = (const Torg__V1__ListMessagesRequest *)request;
    Torg__V1__ListMessagesResponse *answer = (Torg__V1__ListMessagesResponse *)response;
    size_t max = wanted->page_size > 0 ? (size_t)wanted->page_size : OFFER_PAGE_COUNT;
    const struct contacts *contacts = call_context(call);
    struct message_place place;
    const char *seller;
    int rc = caller_seller(call, &seller, err);

    if (!rc && (wanted->page_size < 0 || max > OFFER_BATCH_COUNT_MAX))
        rc = call_invalid(call, err, "page_size", "expected 0 to %d", OFFER_BATCH_COUNT_MAX);
    if (!rc)
        rc = place_parse(call, wanted->page_token, &place, err);
    if (rc)
        return rc;
    answer->messages = arena_array(call_arena(call), max, sizeof(answer->messages[0]));
    rc = messages_list(contacts->offers, seller, &place, max, call_arena(call), answer->messages,
                       &answer->n_messages, err);
    if (!rc && answer->n_messages == max)
        answer->next_page_token = place_text(&place, call_arena(call));
    return rc ? rc : reveals_count(contacts->offers, seller, &answer->reveal_count, err);
}

static const struct rpc_method methods[] = {
    {.name = "RevealContacts", .unary = reveal_contacts, .flags = RPC_PUBLIC},
    {.name = "SendMessage", .unary = send_message, .flags = RPC_PUBLIC},
    {.name = "ListMessages",
     .unary = list_messages,
     .scope = "offers.read",
     .flags = RPC_OF_SELLER},
};

struct rpc_service contact_service(struct contacts *contacts)
{
    assert(contacts->offers);
    return RPC_SERVICE(contact, methods, contacts);
}
