/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - see messages.h. */
#include "offers/inbox/messages.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "offers/bounds.h"

const struct message_place messages_start = {INT64_MAX, INT64_MAX};

static void check_line(const char *field, const char *text, struct violations *violations)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            violations_add(violations, field, "has a control character");
            return;
        }
    }
}

/* Whether somebody can be reached by it: an address or a name with @, or a phone as people write
 * them, "8 (900) 123-45-67". */
static bool is_reachable(const char *text)
{
    const char *at = strchr(text, '@');
    size_t digit_count = 0;

    if (at)
        return (unsigned char)at[1] > ' ';
    for (; *text; text++) {
        if (*text >= '0' && *text <= '9')
            digit_count++;
        else if (!strchr("+-() .", *text))
            return false;
    }
    return digit_count >= MESSAGE_PHONE_DIGITS_MIN && digit_count <= MESSAGE_PHONE_DIGITS_MAX;
}

size_t message_check(const Torg__V1__SellerMessage *message, struct violations *violations)
{
    size_t before = violations->count;
    size_t text_size = text_length(bytes_of(message->text));
    size_t name_size = text_length(bytes_of(message->name));
    offerid id;
    struct err err;

    if (!*message->seller)
        violations_add(violations, "seller", "is missing");
    if (offer_id_parse(bytes_of(message->offer_id), &id, &err))
        violations_add(violations, "id", "%s", err.text);
    if (!message->time || !message->id)
        violations_add(violations, "time", "time or id is missing");
    if (strspn(message->text, " \t\r\n") == strlen(message->text))
        violations_add(violations, "text", "is missing");
    else if (text_size > MESSAGE_TEXT_LENGTH_MAX)
        violations_add(violations, "text", "has %zu characters; expected 1 to %d", text_size,
                       MESSAGE_TEXT_LENGTH_MAX);
    if (name_size > OFFER_NAME_LENGTH_MAX)
        violations_add(violations, "name", "has %zu characters; expected 0 to %d", name_size,
                       OFFER_NAME_LENGTH_MAX);
    check_line("name", message->name, violations);
    if (strlen(message->reply_to) > OFFER_EMAIL_SIZE_MAX || !is_reachable(message->reply_to))
        violations_add(violations, "reply_to",
                       "expected a phone or an address of mail, of at most %d bytes",
                       OFFER_EMAIL_SIZE_MAX);
    check_line("reply_to", message->reply_to, violations);
    return violations->count - before;
}

/* --- messages --- */

int messages_apply(const struct offers *offers, const Torg__V1__SellerMessage *message,
                   bool *is_new, struct err *err)
{
    struct buf body = BUF_INIT(MESSAGE_SIZE_MAX);
    int64_t changed = 0;
    int rc;

    message_encode(&message->base, &body);
    rc = buf_failed(&body)
             ? err_set(err, ERR_LIMIT, "the message is larger than %d bytes", MESSAGE_SIZE_MAX)
             : store_write_one(
                   offers->store,
                   "INSERT INTO seller_message (seller_id, sent_us, id, body) "
                   "VALUES ($1, $2, $3, $4) ON CONFLICT (seller_id, sent_us, id) DO NOTHING",
                   STORE_WITH(STORE_V_STRING(message->seller),
                              STORE_V_INT(moment_own_us(message->time)),
                              STORE_V_INT((int64_t)message->id), STORE_V_BLOB(buf_bytes(&body))),
                   &changed, err);
    *is_new = !rc && changed;
    buf_release(&body);
    return rc;
}

int messages_forget(const struct offers *offers, size_t max, int64_t *forgotten, struct err *err)
{
    static const int64_t life_us = MESSAGE_LIFE_DAYS * 86400 * (int64_t)SECOND_US;
    int64_t before_us = clock_wall_us(offers->clock) - life_us, oldest_us = before_us;
    int rc = store_read_integer(offers->store, "SELECT MIN(sent_us) FROM seller_message", NULL, 0,
                                &oldest_us, err);

    *forgotten = 0;
    if (rc || oldest_us >= before_us) /* hardly ever is there one, and this is asked often */
        return rc;
    return store_write_one(offers->store,
                           "DELETE FROM seller_message WHERE (seller_id, sent_us, id) IN (SELECT "
                           "seller_id, sent_us, id FROM seller_message WHERE sent_us < $1 "
                           "ORDER BY sent_us LIMIT $2)",
                           STORE_WITH(STORE_V_INT(before_us), STORE_V_INT((int64_t)max)), forgotten,
                           err);
}

int messages_list(const struct offers *offers, const char *seller, struct message_place *place,
                  size_t max, struct arena *arena, Torg__V1__SellerMessage **list, size_t *count,
                  struct err *err)
{
    struct store_rows rows =
        store_read_rows(offers->store,
                        "SELECT sent_us, id, body FROM seller_message WHERE seller_id = $1 "
                        "AND (sent_us, id) < ($2, $3) ORDER BY sent_us DESC, id DESC LIMIT $4",
                        STORE_WITH(STORE_V_STRING(seller), STORE_V_INT(place->sent_us),
                                   STORE_V_INT(place->id), STORE_V_INT((int64_t)max)));

    for (*count = 0; store_next(&rows); ++*count) {
        ProtobufCMessage *message;

        *place = (struct message_place){rows.columns[0].integer, rows.columns[1].integer};
        rows.rc = message_decode(arena_copy(arena, rows.columns[2].bytes),
                                 &torg__v1__seller_message__descriptor, arena, &message, err);
        list[*count] = (Torg__V1__SellerMessage *)message;
    }
    return store_rows_end(&rows, err);
}

/* --- phones --- */

struct reveal {
    const char *seller;
    offerid id;
};

/* All of the seller are in one row, of the offer that is none: pages of messages tell it, and a
 * seller may have a row for each of a million offers. A seller whose rows are older than that row
 * gets it with the next. */
static int add_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct reveal *reveal = arg;
    int64_t changed = 0;
    int rc =
        store_exec(tx,
                   "INSERT INTO offer_reveal (seller_id, offer_id, counter) "
                   "VALUES ($1, $2, 1) ON CONFLICT (seller_id, offer_id) "
                   "DO UPDATE SET counter = offer_reveal.counter + 1",
                   STORE_WITH(STORE_V_STRING(reveal->seller), STORE_V_INT(reveal->id)), NULL, err);

    if (!rc)
        rc = store_exec(tx,
                        "UPDATE offer_reveal SET counter = counter + 1 "
                        "WHERE seller_id = $1 AND offer_id = 0",
                        STORE_WITH(STORE_V_STRING(reveal->seller)), &changed, err);
    if (!rc && !changed)
        rc =
            store_exec(tx,
                       "INSERT INTO offer_reveal (seller_id, offer_id, counter) "
                       "SELECT CAST($1 AS TEXT), 0, CAST(SUM(counter) AS BIGINT) FROM offer_reveal "
                       "WHERE seller_id = $1",
                       STORE_WITH(STORE_V_STRING(reveal->seller)), NULL, err);
    return rc;
}

int reveals_add(const struct offers *offers, const char *seller, offerid id, struct err *err)
{
    struct reveal reveal = {seller, id};

    assert(id);
    return store_write(offers->store, add_tx, &reveal, err);
}

int reveals_count(const struct offers *offers, const char *seller, int64_t *count, struct err *err)
{
    int rc;

    *count = 0;
    rc = store_read_integer(
        offers->store, "SELECT counter FROM offer_reveal WHERE seller_id = $1 AND offer_id = 0",
        STORE_WITH(STORE_V_STRING(seller)), count, err);
    if (rc || *count)
        return rc;
    return store_read_integer(
        offers->store,
        "SELECT CAST(SUM(counter) AS BIGINT) FROM offer_reveal WHERE seller_id = $1 "
        "AND offer_id <> 0",
        STORE_WITH(STORE_V_STRING(seller)), count, err);
}
