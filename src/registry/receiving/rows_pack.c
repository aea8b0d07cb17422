/* SPDX-License-Identifier: Apache-2.0 */
/* rows_pack.c - a document's body, small, and the whole document again: rows.h. */
#include <assert.h>

#include "base/hash.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/bounds.h"
#include "model/document_size.h"
#include "registry/bounds.h"
#include "registry/receiving/dictionaries.h"
#include "registry/receiving/rows.h"

int row_pack(struct dictionaries *dictionaries, int64_t client_id,
             const Torg__V1__RawDocument *document, struct arena *arena, struct row *row,
             struct err *err)
{
    const Torg__V1__RawDocument body = document_body(document);
    struct dictionary_choice choice = {0};
    struct buf wire = BUF_INIT(DOCUMENT_SIZE_MAX);
    struct buf packed = BUF_INIT(2 * DOCUMENT_SIZE_MAX);
    int rc = 0;

    message_encode(&body.base, &wire);
    if (buf_failed(&wire)) {
        rc = err_set(err, ERR_LIMIT,
                     "have %zu bytes encoded; the limit is %d: shorten texts, or leave some out",
                     document_size(document), DOCUMENT_SIZE_MAX);
        goto out;
    }
    if (client_id)
        choice = dictionaries_choose(dictionaries, client_id);
    row->content = (int64_t)hash64_seeded(buf_bytes(&wire), (uint64_t)row->expires_us);
    row->dictionary = choice.number;
    pack_put_with(&packed, buf_bytes(&wire), DOCUMENT_PACK_SIZE_MIN, choice.dictionary);
    assert(!buf_failed(&packed));
    row->packed = arena_copy(arena, buf_bytes(&packed));
    if (choice.is_collecting && row->status == ROW_ALIVE)
        dictionaries_sample(dictionaries, client_id, buf_bytes(&wire));
out:
    buf_release(&packed);
    buf_release(&wire);
    return rc;
}

int row_unpack(struct dictionaries *dictionaries, int64_t client_id, const struct row *row,
               struct arena *arena, Torg__V1__RawDocument **document, struct err *err)
{
    const struct pack_dictionary *dictionary;
    ProtobufCMessage *message;
    struct bytes wire = BYTES_EMPTY;
    int rc = dictionaries_find(dictionaries, client_id, row->dictionary, &dictionary, err);

    if (!rc)
        rc = pack_open_with(row->packed, DOCUMENT_SIZE_MAX, dictionary, arena, &wire, err);
    if (!rc)
        rc = message_decode(wire, &torg__v1__raw_document__descriptor, arena, &message, err);
    if (rc)
        return err_wrap(err, "document %.*s", BYTES_ARG(row->pk));
    *document = (Torg__V1__RawDocument *)message;
    (*document)->pk = arena_text(arena, row->pk);
    (*document)->epoch = row->order.epoch;
    (*document)->version = row->order.version;
    (*document)->modify_timestamp = moment_message(row->order.modify_us, arena);
    if (row->expires_us && row->status == ROW_ALIVE)
        (*document)->expire_time = moment_message(row->expires_us, arena);
    return 0;
}

bool row_is_at_fault(int rc)
{
    return rc == ERR_CORRUPT || rc == ERR_LIMIT || rc == ERR_INVALID;
}
