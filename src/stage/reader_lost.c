/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_lost.c - records that the topic's retention has deleted before anybody had read them; see
 * reader.h.
 *
 * Nobody can use them any more, but that they are gone is not to be gone from sight: a row among
 * the parked ones tells how many and since when, and stays until a person drops it. It is durable
 * before an offset behind the gap is committed. Nothing but that needs to be asked where records
 * follow each other, as they nearly always do.
 */
#include <assert.h>
#include <inttypes.h>

#include "base/log.h"
#include "base/object.h"
#include "stage/reader_parts.h"

#define LOST_KEY "records that were lost, "

/* Where the partition was to be gone on with; *is_known false: nobody has read it before. */
static int find_due(struct stage_reader *self, uint32_t partition, uint64_t *due, bool *is_known,
                    struct err *err)
{
    struct place *place = &self->places[partition];
    struct topic_lag lag;
    int rc;

    *is_known = place->has_due && place->due_generation == self->generation;
    *due = place->due_offset;
    if (*is_known)
        return 0;
    rc = topic_lag(self->options.topics, self->options.group, self->options.topic, partition, &lag,
                   err);
    *is_known = !rc && (lag.has_committed || place->has_due);
    *due = !rc && lag.has_committed ? lag.committed : 0;
    if (place->has_due && place->due_offset > *due) /* dealt with here, and not committed yet */
        *due = place->due_offset;
    return rc;
}

static int park_lost(struct stage_reader *self, uint32_t partition, uint64_t from, uint64_t end,
                     struct err *err)
{
    char *key =
        arena_printf(self->arena, LOST_KEY "partition %" PRIu32 " from %" PRIu64, partition, from);
    char *reason = arena_printf(
        self->arena,
        "%" PRIu64 " records of %s, partition %" PRIu32 ", offsets %" PRIu64 " to %" PRIu64
        ", were deleted by the topic's retention before they were read: send again what they said, "
        "and drop this",
        end - from, self->options.topic, partition, from, end - 1);
    const struct parked parked = {.stage = self->options.stage,
                                  .key = key,
                                  .topic = self->options.topic,
                                  .partition = partition,
                                  .offset = from,
                                  .body = bytes_of(reason),
                                  .reason = reason,
                                  .try_count = PARKED_NO_RECORD,
                                  .first_us = clock_wall_us(self->options.clock),
                                  .next_us = PARKED_FOR_GOOD};
    int rc = parked_add(self->options.store, &parked, PARKED_ASIDE, err);

    if (rc && rc != ERR_LIMIT)
        return rc;
    counter_add(self->lost, end - from);
    log_error("records were deleted before they were read", LOG_TEXT("stage", self->options.stage),
              LOG_TEXT("topic", self->options.topic), LOG_INT("partition", partition),
              LOG_INT("offset", (int64_t)from), LOG_INT("count", (int64_t)(end - from)));
    return 0; /* without room for it the log has it, and the metric */
}

/* Offsets that nobody was ever given, as those of a transaction's end, are none. */
int stage_reader_note_lost(struct stage_reader *self, uint32_t partition, uint64_t from,
                           uint64_t offset, struct err *err)
{
    uint64_t first, end;
    int rc;

    object_check(self, STAGE_READER_MAGIC);
    assert(from < offset);
    rc = topic_range(self->options.topics, self->options.topic, partition, &first, &end, err);
    if (rc || first <= from)
        return rc;
    return park_lost(self, partition, from, first < offset ? first : offset, err);
}

void stage_reader_wait_for_first(struct place *place, uint64_t first)
{
    assert(place->is_blocked);
    place->blocked_offset = first;
    place->is_beginning = true;
    place->is_away = true;
}

/* What comes ahead of the record that the partition waits for comes again; but where that record
 * was gone back to, and another came, it waited for longer than the topic keeps it. */
static int look_at_blocked(struct stage_reader *self, const struct topic_message *message,
                           struct err *err)
{
    struct place *place = &self->places[message->partition];
    uint64_t from = place->blocked_offset;
    uint64_t first, end;
    int rc;

    if (!place->has_gone_back || message->offset <= from)
        return 0;
    rc = topic_range(self->options.topics, self->options.topic, message->partition, &first, &end,
                     err);
    if (!rc && first > from)
        rc = stage_reader_note_lost(self, message->partition, from, message->offset, err);
    if (rc)
        return rc;
    if (first > from && first < message->offset)
        stage_reader_wait_for_first(place, first);
    else if (first > from || place->is_beginning)
        place->blocked_offset = message->offset;
    place->has_gone_back = false;
    return 0;
}

static int look_at(struct stage_reader *self, const struct topic_message *message, struct err *err)
{
    struct place *place = &self->places[message->partition];
    bool is_known = false;
    uint64_t due = 0;
    int rc = 0;

    if (place->is_blocked)
        return look_at_blocked(self, message, err);
    if (message->offset > 0) /* nothing is before the first */
        rc = find_due(self, message->partition, &due, &is_known, err);
    if (!rc && is_known && message->offset > due)
        rc = stage_reader_note_lost(self, message->partition, due, message->offset, err);
    if (rc)
        return rc;
    place->has_due = true;
    place->due_generation = self->generation;
    place->due_offset = message->offset;
    return 0;
}

/* A partition's way through a poll. */
struct way {
    bool is_seen;
    bool is_waiting; /* for another record: all of them come again */
    bool has_first;
    uint64_t first; /* that was kept, when it was asked */
    uint64_t next;
};

/* What is fetched ahead is kept for longer than the topic keeps it: then what comes behind it, in
 * the same poll, begins after a gap. All of the poll was fetched before it is asked what is kept,
 * so that one answer is enough for the gaps that nothing was in, however many there are. */
static int look_between(struct stage_reader *self, struct way *way,
                        const struct topic_message *message, struct err *err)
{
    uint64_t end;
    int rc;

    if (way->is_waiting || message->offset <= way->next ||
        (way->has_first && way->first <= way->next))
        return 0;
    rc = topic_range(self->options.topics, self->options.topic, message->partition, &way->first,
                     &end, err);
    way->has_first = !rc;
    return rc || way->first <= way->next
               ? rc
               : park_lost(self, message->partition, way->next,
                           way->first < message->offset ? way->first : message->offset, err);
}

static int look_along(struct stage_reader *self, struct way *way,
                      const struct topic_message *message, struct err *err)
{
    const struct place *place = &self->places[message->partition];
    int rc = way->is_seen ? look_between(self, way, message, err) : look_at(self, message, err);

    if (rc)
        return rc;
    if (!way->is_seen)
        way->is_waiting = place->is_blocked && place->blocked_offset != message->offset;
    way->is_seen = true;
    way->next = message->offset + 1;
    return 0;
}

bool stage_reader_look_for_lost(struct stage_reader *self, const struct topic_message *messages,
                                size_t count)
{
    struct way ways[TOPIC_PARTITION_COUNT_MAX] = {0};
    struct err err = {0};

    object_check(self, STAGE_READER_MAGIC);
    for (size_t i = 0; i < count; i++)
        while (look_along(self, &ways[messages[i].partition], &messages[i], &err)) {
            stage_reader_tell_fault(self, "what came before is not known yet, tried again", &err);
            if (!stage_reader_pause(self, &self->task, READER_RETRY_MS))
                return false;
        }
    return true;
}
