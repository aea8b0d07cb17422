/* SPDX-License-Identifier: Apache-2.0 */
/* offer_record.c - see offer_record.h. */
#include "offers/record/offer_record.h"

#include <assert.h>

#include "base/clock.h"
#include "base/pack.h"
#include "codec/message.h"
#include "offers/bounds.h"

int record_pack_within(const ProtobufCMessage *message, const char *what, size_t size_max,
                       struct buf *body, struct err *err)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    struct buf wire = BUF_INIT(size_max);
    int rc = 0;

    assert(size_max <= OFFER_STORED_SIZE_MAX);
    message_encode(message, &wire);
    if (buf_failed(&wire))
        rc = err_set(err, ERR_LIMIT, "%s is %zu bytes; the limit is %zu: shorten its texts", what,
                     size, size_max);
    else
        pack_put(body, buf_bytes(&wire), OFFER_PACK_SIZE_MIN);
    assert(rc || !buf_failed(body));
    buf_release(&wire);
    return rc;
}

int record_pack(const ProtobufCMessage *message, const char *what, struct buf *body,
                struct err *err)
{
    return record_pack_within(message, what, OFFER_SIZE_MAX, body, err);
}

int record_open(struct bytes body, const ProtobufCMessageDescriptor *type, struct arena *arena,
                ProtobufCMessage **message, struct err *err)
{
    struct bytes wire;
    int rc = pack_open(body, OFFER_STORED_SIZE_MAX, arena, &wire, err);

    *message = NULL;
    if (!rc)
        rc = message_decode(wire, type, arena, message, err);
    if (rc)
        return err_set(err, ERR_CORRUPT, "a stored %s cannot be read", type->short_name);
    return 0;
}

int record_open_offer(offerid id, struct bytes body, struct arena *arena, Torg__V1__Offer **offer,
                      struct err *err)
{
    ProtobufCMessage *message;
    int rc = record_open(body, &torg__v1__offer__descriptor, arena, &message, err);

    *offer = (Torg__V1__Offer *)message;
    if (rc)
        return err_wrap(err, "offer %s", offer_id_text(arena, id));
    (*offer)->id = offer_id_text(arena, id);
    if (!(*offer)->content)
        (*offer)->content = MESSAGE_NEW(offer_content, arena);
    return 0;
}

int record_find(struct store_tx *tx, offerid id, struct arena *arena, Torg__V1__Offer **offer,
                struct err *err)
{
    struct store_rows rows = store_select(
        tx, "SELECT body FROM offer WHERE id = $1 AND kind = 'offer'", STORE_WITH(STORE_V_INT(id)));
    int rc;

    *offer = NULL;
    if (store_next(&rows))
        rows.rc = record_open_offer(id, rows.columns[0].bytes, arena, offer, err);
    rc = store_rows_end(&rows, err);
    if (rc)
        *offer = NULL;
    return rc;
}

ProtobufCMessage *record_copy(const ProtobufCMessage *message, struct arena *arena)
{
    struct buf wire = BUF_INIT(protobuf_c_message_get_packed_size(message));
    ProtobufCMessage *copy;
    struct bytes kept;

    message_encode(message, &wire);
    assert(!buf_failed(&wire));
    kept = arena_copy(arena, buf_bytes(&wire));
    buf_release(&wire);
    if (message_decode(kept, message->descriptor, arena, &copy, NULL))
        assert(!"what was decoded is decoded again");
    return copy;
}

char *offer_id_text(struct arena *arena, offerid id)
{
    char *text = arena_alloc(arena, OFFER_ID_TEXT_SIZE);

    offer_id_format(id, text);
    return text;
}
