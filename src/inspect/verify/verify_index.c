/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_index.c - the check INDEX: every living document is in the index under its number, at its
 * version, and nothing else is; and the check FILES.
 *
 * Both sides are gone through in order of numbers: a page is a range of them that has at most
 * VERIFY_ROW_COUNT on either side. With digests of the registry the searcher tells its own first,
 * and only ranges that differ are gone through, and those whose contents are in turn.
 */
#include <inttypes.h>

#include "inspect/bounds.h"
#include "inspect/trace/row_fits.h"
#include "inspect/verify/digests.h"
#include "inspect/verify/slots_read.h"
#include "registry/indexing/backfill.h"

static const int64_t id_end = (int64_t)UINT32_MAX + 1;

/* --- what the index has --- */

/* An answer of another process is not taken at its word: no more than was asked for, in order, and
 * its next page lies ahead. */
static int check_list(const Torg__V1__ListIndexedRequest *request, const char *replica,
                      const Torg__V1__ListIndexedResponse *response, struct err *err)
{
    const char *name = *replica ? replica : "this process";
    int64_t before = (int64_t)request->from_id - 1;

    if (response->n_documents > request->limit)
        return err_set(err, ERR_CORRUPT,
                       "the searcher %.100s returned %zu documents when asked for %" PRIu32
                       ": not compared",
                       name, response->n_documents, request->limit);
    for (size_t i = 0; i < response->n_documents; i++) {
        if (response->documents[i]->doc_id <= before)
            return err_set(err, ERR_CORRUPT,
                           "the searcher %.100s returned number %" PRIu32 " behind %" PRId64
                           ": not compared",
                           name, response->documents[i]->doc_id, before);
        before = response->documents[i]->doc_id;
    }
    if (response->next_id && response->next_id <= before)
        return err_set(err, ERR_CORRUPT,
                       "the searcher %.100s goes on at number %" PRIu32 ", and was at %" PRId64
                       ": not compared",
                       name, response->next_id, before);
    return 0;
}

static int list_index(const struct verifying *verifying, uint32_t from, uint32_t limit,
                      Torg__V1__ListIndexedResponse **response, struct err *err)
{
    const struct index_door *door = &verifying->inspect->door;
    Torg__V1__ListIndexedRequest request = TORG__V1__LIST_INDEXED_REQUEST__INIT;
    int rc;

    request.client = verifying->check->client;
    request.epoch = verifying->check->epoch;
    request.shard = verifying->check->shard;
    request.from_id = from;
    request.limit = limit;
    request.with_content = verifying->with_content;
    rc =
        door->list(door->arg, verifying->check->replica, &request, verifying->arena, response, err);
    return rc ? rc : check_list(&request, verifying->check->replica, *response, err);
}

/* What is wrong with the searcher itself is the finding. */
static void tell_searcher(struct verifying *verifying, const struct err *err)
{
    struct suspect *suspect;

    verifying->count = 0;
    suspect = suspect_add(verifying, BYTES_EMPTY, NUMBER_NONE);
    suspect->is_stable = true;
    suspect_tell(suspect, "%.200s", err->text);
}

/* --- looks --- */

struct looking {
    struct verifying *verifying;
    struct slots_read read;
    Torg__V1__IndexedDocument **documents; /* in order of doc_id */
    size_t count;
    size_t capacity;
    struct backfill backfill; /* of an epoch into which stored documents are poured … */
    bool has_backfill;
};

static int read_backfill(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;
    const Torg__V1__VerifyCheck *check = looking->verifying->check;

    return backfill_find(tx, looking->verifying->client->id, check->epoch, check->shard,
                         &looking->backfill, &looking->has_backfill, err);
}

/* … and has not come to this one yet. */
static bool is_to_be_poured(const struct looking *looking, const struct row *row)
{
    return looking->has_backfill && !looking->backfill.is_done &&
           row->hash > looking->backfill.hash;
}

/* Documents of the range of all suspects. */
static int list_range(struct looking *looking, struct err *err)
{
    struct verifying *verifying = looking->verifying;
    uint32_t from = verifying->suspects[0].doc_id;
    uint32_t last = verifying->suspects[verifying->count - 1].doc_id;
    Torg__V1__ListIndexedResponse *listed;

    for (;;) {
        int rc = list_index(verifying, from, SUSPECT_PAGE_COUNT, &listed, err);

        if (rc)
            return rc;
        for (size_t i = 0; i < listed->n_documents; i++) {
            if (listed->documents[i]->doc_id > last || looking->count == looking->capacity)
                return 0;
            looking->documents[looking->count++] = listed->documents[i];
        }
        if (listed->next_id == 0 || listed->next_id > last)
            return 0;
        from = listed->next_id;
    }
}

static Torg__V1__IndexedDocument *find_document(const struct looking *looking, uint32_t doc_id)
{
    size_t low = 0;
    size_t high = looking->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (looking->documents[middle]->doc_id < doc_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < looking->count && looking->documents[low]->doc_id == doc_id
               ? looking->documents[low]
               : NULL;
}

static void look_at_present(const struct slot_read *slot, const Torg__V1__IndexedDocument *document,
                            bool is_moved, struct suspect *suspect)
{
    bool caught_up = is_moved && document->version >= suspect->seen.version;
    bool is_ahead = slot && document->version > slot->row.order.version;

    suspect->is_news = is_ahead && document->version != suspect->ahead;
    suspect->ahead = is_ahead ? document->version : 0;
    if (!slot)
        suspect_blame(suspect, "orphan",
                      "the index has %.80s under this number, which belongs to nobody",
                      document->pk);
    else if (!bytes_equal_text(slot->key, document->pk))
        suspect_blame(suspect, "orphan", "the index has %.80s under this number", document->pk);
    else if (document->birth && document->birth != slot->birth)
        suspect_blame(suspect, "birth",
                      "the index has the number as its own since generation %" PRIu32
                      ", the numerator since %" PRIu32,
                      document->birth, slot->birth);
    else if (slot->row.status != ROW_ALIVE && !caught_up)
        suspect_blame(suspect, "shown",
                      "the index has version %" PRId64 ", the registry has it as deleted",
                      document->version);
    else if (slot->row.status == ROW_ALIVE && document->version != slot->row.order.version &&
             !(caught_up && document->version < slot->row.order.version))
        suspect_blame(suspect, document->version < slot->row.order.version ? "behind" : "ahead",
                      "the index has version %" PRId64 ", the registry %" PRId64, document->version,
                      slot->row.order.version);
}

static int look_at_absent(const struct looking *looking, const struct slot_read *slot,
                          bool is_moved, struct suspect *suspect, struct err *err)
{
    const struct verifying *verifying = looking->verifying;
    int64_t now_us = clock_wall_us(verifying->inspect->clock);
    bool fits;
    int rc;

    if (!slot || slot->row.status != ROW_ALIVE || (is_moved && !suspect->was_alive))
        return 0;
    if (slot->row.expires_us && slot->row.expires_us - SECOND_US <= now_us)
        return 0; /* the index, which counts seconds, may have ended it before the registry */
    if (is_to_be_poured(looking, &slot->row))
        return 0;
    rc = row_fits(verifying->inspect, verifying->client, verifying->check->epoch, slot->key,
                  verifying->arena, &fits, err);
    if (!rc && fits)
        suspect_blame(suspect, "missing",
                      "it lives at version %" PRId64 ", and the index does not have it",
                      slot->row.order.version);
    return rc;
}

static int look_at(const struct looking *looking, struct suspect *suspect, struct err *err)
{
    const struct slot_read *slot = slots_read_find(&looking->read, suspect->doc_id);
    const Torg__V1__IndexedDocument *document = find_document(looking, suspect->doc_id);
    bool is_moved = false;

    suspect->now = slot ? slot->row.order : (struct order){0};
    suspect->is_news = false;
    if (slot && !suspect->is_seen) {
        suspect->is_seen = true;
        suspect->seen = slot->row.order;
        suspect->was_alive = slot->row.status == ROW_ALIVE;
    } else if (slot) {
        is_moved = order_compare(&slot->row.order, &suspect->seen) > 0;
    }
    if (document) {
        look_at_present(slot, document, is_moved, suspect);
        return 0;
    }
    return look_at_absent(looking, slot, is_moved, suspect, err);
}

static int look_at_contents(const struct looking *looking, struct err *err)
{
    struct verifying *verifying = looking->verifying;
    Torg__V1__IndexedDocument **documents;
    const struct slot_read **slots;

    if (!verifying->with_content)
        return 0;
    documents = arena_array(verifying->arena, verifying->count + 1, sizeof(*documents));
    slots = arena_array(verifying->arena, verifying->count + 1, sizeof(*slots));
    for (size_t i = 0; i < verifying->count; i++) {
        documents[i] = find_document(looking, verifying->suspects[i].doc_id);
        slots[i] = slots_read_find(&looking->read, verifying->suspects[i].doc_id);
    }
    return verify_index_content(verifying, documents, slots, err);
}

/* --- which ranges there are to look at --- */

static int compare_ranges(struct verifying *verifying, struct err *err)
{
    const struct index_door *door = &verifying->inspect->door;
    struct digests *digests = verifying->by->digests;
    Torg__V1__ListIndexedRequest request = TORG__V1__LIST_INDEXED_REQUEST__INIT;
    Torg__V1__ListIndexedResponse *response;
    int rc;

    request.client = verifying->check->client;
    request.epoch = verifying->check->epoch;
    request.shard = verifying->check->shard;
    request.limit = DIGEST_RANGE_ASK_COUNT;
    request.range_size = DIGEST_RANGE_SIZE;
    digests_begin_due(digests);
    do {
        struct arena_mark mark = arena_mark(verifying->arena);

        rc = door->list(door->arg, verifying->check->replica, &request, verifying->arena, &response,
                        err);
        if (!rc &&
            (response->n_documents || (response->next_id && response->next_id <= request.from_id)))
            digests->has_numbers = false; /* of a searcher that knows no ranges */
        for (size_t i = 0; i < (rc ? 0 : response->n_ranges); i++) {
            digests_compare(digests, response->ranges[i]->first_id, response->ranges[i]->sum);
            verifying->checked_count += response->ranges[i]->doc_count;
        }
        request.from_id = rc ? 0 : response->next_id;
        arena_rewind(verifying->arena, mark);
    } while (!rc && request.from_id && digests->has_numbers);
    digests_end_due(digests);
    return rc;
}

/* Moves to the next numbers that are to be looked at; false: there are none. Without digests all
 * are. */
static bool next_due(struct verifying *verifying, int64_t *from, int64_t *end)
{
    const struct digests *digests = verifying->by->digests;
    enum digest_due due;

    *end = id_end;
    if (!digests_have_numbers(digests, verifying->numbering.space, verifying->check->shard))
        return *from < id_end;
    due = digests_next_due(digests, from, end);
    verifying->with_content = due == DUE_CONTENT;
    return due != DUE_NOT;
}

/* --- a page --- */

/* What is equal at the first sight, as nearly all is, is no suspect. */
static int drop_equal(struct verifying *verifying, const struct slots_read *read,
                      const Torg__V1__ListIndexedResponse *listed, struct err *err)
{
    struct looking looking = {.verifying = verifying,
                              .read = *read,
                              .documents = listed->documents,
                              .count = listed->n_documents};
    size_t kept = 0;
    int rc = store_read(verifying->inspect->store, read_backfill, &looking, err);

    for (size_t i = 0; i < verifying->count && !rc; i++) {
        struct suspect *suspect = &verifying->suspects[i];

        rc = look_at(&looking, suspect, err);
    }
    if (!rc)
        rc = look_at_contents(&looking, err);
    for (size_t i = 0; i < verifying->count && !rc; i++)
        if (*verifying->suspects[i].text)
            verifying->suspects[kept++] = verifying->suspects[i];
    verifying->count = kept;
    return rc;
}

/* With digests all were counted when they were compared. */
static void count_page(struct verifying *verifying)
{
    struct digests *digests = verifying->by->digests;

    if (digests)
        digests->looked_count += verifying->count;
    if (!digests_have_numbers(digests, verifying->numbering.space, verifying->check->shard))
        verifying->checked_count = verifying->count;
}

static bool has_next(const struct verifying *verifying, int64_t from)
{
    struct verifying ahead = *verifying;
    int64_t end;

    return next_due(&ahead, &from, &end);
}

static int index_page(struct verifying *verifying, struct err *err)
{
    struct slots_read read = {.verifying = verifying, .max = VERIFY_ROW_COUNT};
    Torg__V1__ListIndexedResponse *listed;
    struct cursor cursor;
    int64_t from, end;
    int rc = cursor_parse(verifying, &cursor, err);

    if (!rc && cursor.is_begin &&
        digests_have_numbers(verifying->by->digests, verifying->numbering.space,
                             verifying->check->shard))
        rc = compare_ranges(verifying, err);
    from = cursor.a;
    if (rc || !next_due(verifying, &from, &end))
        return rc;
    read.from = (uint32_t)from;
    if (!rc)
        rc = list_index(verifying, read.from, VERIFY_ROW_COUNT, &listed, err);
    if (rc == ERR_CORRUPT) {
        tell_searcher(verifying, err);
        return 0;
    }
    if (!rc)
        rc = slots_read(&read, err);
    if (rc)
        return rc;
    if (listed->next_id && listed->next_id < end)
        end = listed->next_id;
    if (read.count == read.max && (int64_t)read.slots[read.count - 1].doc_id + 1 < end)
        end = (int64_t)read.slots[read.count - 1].doc_id + 1;
    for (size_t i = 0, j = 0; i < read.count || j < listed->n_documents;) {
        int64_t a = i < read.count ? read.slots[i].doc_id : id_end;
        int64_t b = j < listed->n_documents ? listed->documents[j]->doc_id : id_end;
        int64_t doc_id = a < b ? a : b;

        if (doc_id >= end)
            break;
        suspect_add(verifying, a == doc_id ? read.slots[i].key : bytes_of(listed->documents[j]->pk),
                    (uint32_t)doc_id);
        i += a == doc_id;
        j += b == doc_id;
    }
    count_page(verifying);
    rc = drop_equal(verifying, &read, listed, err);
    if (!rc && has_next(verifying, end))
        cursor_next(verifying, end, 0, BYTES_EMPTY);
    return rc;
}

/* --- looking again --- */

static int index_look(struct verifying *verifying, struct err *err)
{
    struct looking looking = {.verifying = verifying, .capacity = 2 * SUSPECT_PAGE_COUNT};
    int rc;

    looking.read = (struct slots_read){.verifying = verifying,
                                       .from = verifying->suspects[0].doc_id,
                                       .max = 2 * SUSPECT_PAGE_COUNT};
    if (verifying->suspects[0].is_stable) /* of the searcher itself */
        return 0;
    looking.documents =
        arena_array(verifying->arena, looking.capacity, sizeof(looking.documents[0]));
    rc = store_read(verifying->inspect->store, read_backfill, &looking, err);
    if (!rc)
        rc = slots_read(&looking.read, err);
    if (!rc)
        rc = list_range(&looking, err);
    if (rc == ERR_CORRUPT) {
        tell_searcher(verifying, err);
        return 0;
    }
    for (size_t i = 0; i < verifying->count && !rc; i++)
        rc = look_at(&looking, &verifying->suspects[i], err);
    return rc ? rc : look_at_contents(&looking, err);
}

const struct verify_kind verify_index = {.page = index_page, .look = index_look};

/* --- files --- */

static int files_page(struct verifying *verifying, struct err *err)
{
    const struct index_door *door = &verifying->inspect->door;
    Torg__V1__CheckShardRequest request = TORG__V1__CHECK_SHARD_REQUEST__INIT;
    Torg__V1__CheckShardResponse *response;
    struct suspect *suspect;
    int rc;

    request.client = verifying->check->client;
    request.epoch = verifying->check->epoch;
    request.shard = verifying->check->shard;
    request.files = true;
    rc = door->check(door->arg, verifying->check->replica, &request, verifying->arena, &response,
                     err);
    if (rc == ERR_CORRUPT) {
        suspect = suspect_add(verifying, BYTES_EMPTY, NUMBER_NONE);
        suspect->is_stable = true;
        suspect_tell(suspect, "%.200s", err->text);
        rc = 0;
    }
    if (!rc)
        verifying->checked_count = 1;
    return rc;
}

static int files_look(struct verifying *verifying, struct err *err)
{
    (void)verifying; /* told by the page */
    (void)err;
    return 0;
}

const struct verify_kind verify_files = {.page = files_page, .look = files_look};
