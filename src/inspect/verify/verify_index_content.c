/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_index_content.c - does a document of the index say what the registry's says?
 *
 * A version is the same when two stages made different things of one write: a document that was
 * composed again by another catalogue and whose message was lost, say. So the registry's documents
 * are put into a shard in memory, by the indexer's own conversion and the searcher's own
 * application, and both are hashed alike.
 */
#include <inttypes.h>

#include "inspect/bounds.h"
#include "inspect/verify/digests.h"
#include "inspect/verify/rebuild.h"
#include "inspect/verify/slots_read.h"
#include "inspect/verify/verify_parts.h"

struct comparing {
    struct verifying *verifying;
    size_t *places;    /* of the suspects that are compared */
    struct bytes *pks; /* likewise, as what follows */
    struct row *rows;  /* with their documents */
    uint32_t *doc_ids;
    uint64_t *contents;
    size_t count;
};

static int read_rows(struct store_tx *tx, void *arg, struct err *err)
{
    struct comparing *comparing = arg;
    const struct verifying *verifying = comparing->verifying;

    return rows_find(tx, verifying->client->id, comparing->pks, comparing->count, true,
                     verifying->arena, comparing->rows, err);
}

static void choose(struct comparing *comparing, Torg__V1__IndexedDocument *const *documents,
                   const struct slot_read *const *slots)
{
    struct verifying *verifying = comparing->verifying;

    for (size_t i = 0; i < verifying->count; i++) {
        const struct suspect *suspect = &verifying->suspects[i];

        if (*suspect->text || !documents[i] || !slots[i] || !documents[i]->content ||
            slots[i]->row.status != ROW_ALIVE ||
            slots[i]->row.order.version != documents[i]->version)
            continue;
        comparing->places[comparing->count] = i;
        comparing->doc_ids[comparing->count] = suspect->doc_id;
        comparing->pks[comparing->count++] = suspect->pk;
    }
}

/* Written since it was listed: no word on that. */
static void drop_moved(struct comparing *comparing, const struct slot_read *const *slots)
{
    for (size_t i = 0; i < comparing->count; i++)
        if (!comparing->rows[i].status ||
            order_compare(&comparing->rows[i].order, &slots[comparing->places[i]]->row.order) != 0)
            comparing->rows[i].status = ROW_TOMBSTONE;
}

int verify_index_content(struct verifying *verifying, Torg__V1__IndexedDocument *const *documents,
                         const struct slot_read *const *slots, struct err *err)
{
    struct arena *arena = verifying->arena;
    struct comparing comparing = {.verifying = verifying};
    int rc;

    comparing.places = arena_array(arena, verifying->count + 1, sizeof(*comparing.places));
    comparing.pks = arena_array(arena, verifying->count + 1, sizeof(*comparing.pks));
    comparing.rows = arena_array(arena, verifying->count + 1, sizeof(*comparing.rows));
    comparing.doc_ids = arena_array(arena, verifying->count + 1, sizeof(*comparing.doc_ids));
    comparing.contents = arena_array(arena, verifying->count + 1, sizeof(*comparing.contents));
    choose(&comparing, documents, slots);
    if (!comparing.count)
        return 0;
    rc = store_read(verifying->inspect->store, read_rows, &comparing, err);
    if (rc)
        return rc;
    drop_moved(&comparing, slots);
    rc = rebuild_sample(verifying->inspect, verifying->client, verifying->check->epoch,
                        comparing.rows, comparing.doc_ids, comparing.count, arena,
                        comparing.contents, err);
    for (size_t i = 0; i < comparing.count && !rc; i++) {
        size_t place = comparing.places[i];

        if (comparing.contents[i] && comparing.contents[i] != documents[place]->content)
            suspect_blame(&verifying->suspects[place], "content",
                          "the index has version %" PRId64
                          " with another content than the registry",
                          documents[place]->version);
    }
    if (verifying->by->digests)
        verifying->by->digests->content_count += comparing.count;
    return rc;
}
