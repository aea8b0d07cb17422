/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - see apply.h. */
#include "feeds/apply/apply.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/message.h"
#include "feeds/apply/batch.h"
#include "offers/bounds.h"
#include "offers/record/offer_record.h"

enum { EVENT_SIZE_MAX = 8 << 20, HASH_TEXT_SIZE = 33 };

static bool is_delete(const Torg__V1__FeedEvent *event)
{
    return event->event_case == TORG__V1__FEED_EVENT__EVENT_DELETE;
}

static int64_t number_of(const Torg__V1__FeedEvent *event)
{
    return is_delete(event) ? event->delete_->row : event->upsert->row;
}

int feed_event_check(const Torg__V1__FeedEvent *event, struct violations *violations,
                     struct err *err)
{
    int64_t number;

    switch (event->event_case) {
    case TORG__V1__FEED_EVENT__EVENT_OPEN:
        return 0;
    case TORG__V1__FEED_EVENT__EVENT_END:
        if (event->end->row_count >= 0)
            return 0;
        violations_add(violations, "end.row_count", "expected 0 or more");
        return err_set(err, ERR_INVALID, "end.row_count: expected 0 or more");
    case TORG__V1__FEED_EVENT__EVENT_UPSERT:
    case TORG__V1__FEED_EVENT__EVENT_DELETE:
        number = number_of(event);
        if (number >= 1 && number < FEED_ROW_GONE)
            return 0;
        violations_add(violations, is_delete(event) ? "delete.row" : "upsert.row",
                       "expected 1 or more");
        return err_set(err, ERR_INVALID, "row: expected 1 or more");
    default:
        violations_add(violations, "event", "expected open, upsert, delete or end");
        return err_set(err, ERR_INVALID, "event: expected open, upsert, delete or end");
    }
}

/* --- rows --- */

static uint64_t hash_message(const ProtobufCMessage *message, uint64_t seed)
{
    struct buf wire = BUF_INIT(EVENT_SIZE_MAX);
    uint64_t hash;

    message_encode(message, &wire);
    hash = hash64_seeded(buf_bytes(&wire), seed);
    buf_release(&wire);
    return hash;
}

/* An id for what has none: of everything that its seller says. Part of stored data: for ever. */
static char *id_of_content(const Torg__V1__OfferContent *content, struct arena *arena)
{
    return arena_printf(arena, "%016jx%016jx", (uintmax_t)hash_message(&content->base, 0),
                        (uintmax_t)hash_message(&content->base, 1));
}

static void check_id(struct feed_batch_row *row, struct arena *arena)
{
    size_t size = strlen(row->external_id);

    if (!size)
        violations_add(&row->problems, "external_id", "is missing");
    if (size > OFFER_EXTERNAL_ID_SIZE_MAX) {
        violations_add(&row->problems, "external_id", "has %zu bytes; the limit is %d", size,
                       OFFER_EXTERNAL_ID_SIZE_MAX);
        size = OFFER_EXTERNAL_ID_SIZE_MAX;
        while (((unsigned char)row->external_id[size] & 0xc0) == 0x80)
            size--;
        row->external_id = arena_text(arena, bytes_make(row->external_id, size));
    }
}

static void take_problems(Torg__V1__FeedProblem *const *list, size_t count,
                          struct violations *violations)
{
    for (size_t i = 0; i < count && i < FEED_PROBLEM_COUNT_MAX; i++) {
        size_t size = strnlen(list[i]->reason, FEED_PROBLEM_SIZE_MAX);

        while (list[i]->reason[size] && ((unsigned char)list[i]->reason[size] & 0xc0) == 0x80)
            size--;
        violations_add(violations, list[i]->field, "%.*s", (int)size, list[i]->reason);
    }
}

static void take_upsert(struct feed_batch_row *row, const Torg__V1__FeedUpsert *upsert,
                        struct arena *arena)
{
    /* A copy: building changes it, and the event may be taken again after a failure. */
    row->content = upsert->content
                       ? (Torg__V1__OfferContent *)record_copy(&upsert->content->base, arena)
                       : MESSAGE_NEW(offer_content, arena);
    row->content->external_id = (char *)protobuf_c_empty_string;
    row->is_unavailable = upsert->unavailable;
    row->line = upsert->line;
    row->external_id =
        *upsert->external_id ? upsert->external_id : id_of_content(row->content, arena);
    row->content->external_id = arena_strdup(arena, row->external_id);
    take_problems(upsert->problems, upsert->n_problems, &row->problems);
    take_problems(upsert->notes, upsert->n_notes, &row->notes);
}

static void take_row(struct feed_batch_row *row, const Torg__V1__FeedEvent *event,
                     struct arena *arena)
{
    *row = (struct feed_batch_row){.kind = is_delete(event) ? FEED_ROW_DELETE : FEED_ROW_UPSERT,
                                   .number = number_of(event),
                                   .problems = violations_in(arena),
                                   .notes = violations_in(arena)};
    if (is_delete(event)) {
        row->event_hash = hash_message(&event->delete_->base, (uint64_t)row->kind);
        row->external_id = event->delete_->external_id;
        row->line = event->delete_->line;
    } else {
        row->event_hash = hash_message(&event->upsert->base, (uint64_t)row->kind);
        take_upsert(row, event->upsert, arena);
    }
    check_id(row, arena);
    row->sent_problem_count = row->problems.count;
    row->sent_note_count = row->notes.count;
}

/* A batch reads before it writes: of rows of one name it writes the last. False: it has this very
 * row, which waits for the next batch. */
static bool bequeath(struct feed_batch *batch, struct feed_batch_row *row)
{
    struct feed_batch_row *latest = NULL;

    for (size_t i = 0; i < batch->count; i++) {
        struct feed_batch_row *earlier = &batch->rows[i];

        if (strcmp(earlier->external_id, row->external_id) != 0)
            continue;
        if (earlier->number == row->number)
            return false;
        latest = earlier;
    }
    if (latest)
        latest->heir = row;
    return true;
}

/* Fills the batch from events; how many it took. */
static size_t fill(struct feed_batch *batch, Torg__V1__FeedEvent *const *events, size_t count)
{
    size_t size = 0;
    size_t i;

    for (i = 0; i < count && batch->count < FEED_BATCH_COUNT && size < FEED_BATCH_SIZE; i++) {
        struct feed_batch_row *row = &batch->rows[batch->count];

        take_row(row, events[i], batch->arena);
        if (!bequeath(batch, row))
            break;
        batch->count++;
        size += protobuf_c_message_get_packed_size(&events[i]->base);
    }
    return i;
}

/* A task that was held for its silence goes on with its next row. Rows that are sent again while
 * the call before still brings them may find the task ended by it: then they are settled, which the
 * second run sees. */
static int run(struct feed_batch *batch, struct err *err)
{
    struct feed_task task;
    int rc = feed_batch_run(batch, err);

    if (rc != ERR_PRECONDITION || !batch->task.message)
        return rc;
    if (batch->task.message->state == TORG__V1__FEED_TASK__STATE__HELD)
        rc = feed_task_open(batch->offers, batch->key, FEED_AS_IT_IS, batch->arena, &task, err);
    else
        rc = 0;
    return rc ? rc : feed_batch_run(batch, err);
}

int feed_apply_rows(const struct offers *offers, const struct feed_key *key, enum language language,
                    Torg__V1__FeedEvent *const *events, size_t count, struct err *err)
{
    struct feed_batch *batch = mem_alloc(sizeof(*batch));
    struct arena *arena = arena_new();
    int rc = 0;

    for (size_t done = 0; done < count && !rc;) {
        *batch = (struct feed_batch){.magic = FEED_BATCH_MAGIC,
                                     .offers = offers,
                                     .key = key,
                                     .language = language,
                                     .state = FEED_RUNNING,
                                     .arena = arena};
        done += fill(batch, events + done, count - done);
        rc = run(batch, err);
        arena_reset(arena);
    }
    arena_free(arena);
    free(batch);
    return rc;
}
