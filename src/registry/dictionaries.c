/* SPDX-License-Identifier: Apache-2.0 */
/* dictionaries.c - documents packed with what those of a client share: see rows.h. */
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/memory.h"
#include "net/message.h"
#include "registry/moment.h"
#include "registry/rows.h"

struct loaded {
    int64_t client_id;
    int64_t number;
    struct pack_dictionary *dictionary; /* owned */
};

struct dictionaries {
    struct store *store; /* borrowed */
    pthread_mutex_t lock;
    struct loaded *loaded; /* owned; in no order, few */
    size_t count;
    size_t room;
};

struct dictionaries *dictionaries_new(struct store *store)
{
    struct dictionaries *dictionaries = mem_zero(sizeof(*dictionaries));

    dictionaries->store = store;
    pthread_mutex_init(&dictionaries->lock, NULL);
    return dictionaries;
}

void dictionaries_free(struct dictionaries *dictionaries)
{
    if (!dictionaries)
        return;
    for (size_t i = 0; i < dictionaries->count; i++)
        pack_dictionary_free(dictionaries->loaded[i].dictionary);
    free(dictionaries->loaded);
    pthread_mutex_destroy(&dictionaries->lock);
    free(dictionaries);
}

/* --- packing --- */

int row_pack(struct dictionaries *dictionaries, int64_t client_id,
             const Torg__V1__RawDocument *document, struct arena *arena, struct row *row,
             struct err *err)
{
    Torg__V1__RawDocument body = TORG__V1__RAW_DOCUMENT__INIT;
    struct buf wire = BUF_INIT(DOCUMENT_SIZE_MAX);
    struct buf packed = BUF_INIT(2 * DOCUMENT_SIZE_MAX);
    int rc = 0;

    body.event = document->event;
    body.n_fields = document->n_fields;
    body.fields = document->fields;
    body.placement_class = document->placement_class;
    message_encode(&body.base, &wire);
    if (buf_failed(&wire)) {
        rc = err_set(err, ERR_LIMIT, "the document is larger than %d KB", DOCUMENT_SIZE_MAX >> 10);
        goto out;
    }
    row->dictionary = 0;
    row->content = (int64_t)hash64_seeded(buf_bytes(&wire), (uint64_t)row->expires_us);
    pack_put(&packed, buf_bytes(&wire), DOCUMENT_PACK_SIZE_MIN);
    assert(!buf_failed(&packed));
    row->packed = arena_copy(arena, buf_bytes(&packed));
out:
    buf_release(&packed);
    buf_release(&wire);
    return rc;
}

int row_unpack(struct dictionaries *dictionaries, int64_t client_id, const struct row *row,
               struct arena *arena, Torg__V1__RawDocument **document, struct err *err)
{
    ProtobufCMessage *message;
    struct bytes wire;
    int rc = pack_open(row->packed, DOCUMENT_SIZE_MAX, arena, &wire, err);

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
