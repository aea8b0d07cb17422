/* SPDX-License-Identifier: Apache-2.0 */
/* reader_retry.c - parked records, tried again by the owner of their partition; see reader.h. */
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "stage/reader_parts.h"

static int64_t backoff_us(int64_t try_count)
{
    int64_t seconds = try_count < 10 ? 1LL << try_count : PARKED_BACKOFF_S_MAX;

    return (seconds < PARKED_BACKOFF_S_MAX ? seconds : PARKED_BACKOFF_S_MAX) * SECOND_US;
}

/* What was taken before it of the partition becomes durable, too. */
static int flush(struct stage_reader *self, uint32_t partition, struct err *err)
{
    const struct stage_reader_handler *handler = self->options.handler;
    bool is_flushed;

    while (handler->flush && handler->flush(self->options.arg, partition, true, &is_flushed, err)) {
        stage_reader_tell_fault(self, "a parked record is not settled yet, tried again", err);
        if (!stage_reader_pause(self, &self->task, READER_RETRY_MS))
            return ERR_CANCELLED;
    }
    return 0;
}

/* As a poll would give it. */
static int use(struct stage_reader *self, const struct parked *parked, struct err *err)
{
    int rc;

    self->retry_message = (struct topic_message){.topic = self->options.topic,
                                                 .partition = parked->partition,
                                                 .offset = parked->offset,
                                                 .key = bytes_of(parked->key),
                                                 .value = parked->body,
                                                 .timestamp_us = parked->first_us};
    self->retried = parked;
    self->is_refused_again = false;
    self->put_off_us = (int64_t)READER_RETRY_MS * MS_US;
    rc = self->options.handler->take(self->options.arg, &self->retry_message, self->retry_arena,
                                     err);
    if (!rc)
        rc = flush(self, parked->partition, err);
    self->retried = NULL;
    if (!rc && self->is_refused_again) {
        *err = self->refusal;
        rc = ERR_INVALID;
    }
    return rc;
}

/* *is_used: its row is gone. */
static int retry_one(struct stage_reader *self, const struct parked *parked, bool *is_used,
                     struct err *err)
{
    int64_t now_us = clock_wall_us(self->options.clock);
    struct parked later = *parked;
    struct err reason = {0};
    int rc;

    *is_used = false;
    if (parked->try_count == PARKED_NO_RECORD) { /* somebody has replayed all */
        later.next_us = PARKED_FOR_GOOD;
        return parked_delay(self->options.store, &later, err);
    }
    rc = use(self, parked, &reason);
    *is_used = !rc;
    if (!rc)
        return parked_remove(self->options.store, parked, now_us, err);
    if (rc == ERR_CANCELLED || err_is_passing(rc)) {
        *err = reason;
        return rc;
    }
    if (rc == STAGE_READER_NOT_YET) {
        later.next_us = now_us + self->put_off_us;
    } else {
        later.try_count++;
        later.next_us =
            stage_reader_due_us(self, now_us, later.try_count, backoff_us(later.try_count));
        later.reason = arena_printf(self->retry_arena, "%.*s", PARKED_REASON_SIZE_MAX, reason.text);
    }
    return parked_delay(self->options.store, &later, err);
}

/* A look ends in time for what is new, which this thread reads, too: those left are first next. */
static bool is_long_enough(const struct stage_reader *self, int64_t until_us)
{
    return stage_reader_is_stopping(self) || clock_mono_us(self->options.clock) >= until_us;
}

/* As long as some go: what waited behind them is due then. */
static int retry_partition(struct stage_reader *self, uint32_t partition, int64_t until_us,
                           struct err *err)
{
    size_t used = 1;
    int rc = 0;

    while (used && !rc) {
        struct parked *list;
        size_t count;

        arena_reset(self->retry_arena);
        used = 0;
        rc = parked_due(self->options.store, self->options.stage, partition,
                        clock_wall_us(self->options.clock), READER_RETRY_COUNT, self->retry_arena,
                        &list, &count, err);
        for (size_t i = 0; i < count && !rc && !is_long_enough(self, until_us); i++) {
            bool is_used;

            rc = retry_one(self, &list[i], &is_used, err);
            used += !rc && is_used;
        }
    }
    return rc;
}

int stage_reader_retry(struct stage_reader *self, struct err *err)
{
    int64_t until_us = clock_after_us(self->options.clock, (int64_t)READER_LOOK_MS_MAX * MS_US);
    struct topic_position ours[TOPIC_PARTITION_COUNT_MAX];
    size_t count = 0;
    int rc = stage_reader_refresh(self, err);

    object_check(self, STAGE_READER_MAGIC);
    if (rc || !self->total_count)
        return rc;
    rc = consumer_assignment(self->consumer, ours, ARRAY_COUNT(ours), &count, err);
    count = count < ARRAY_COUNT(ours) ? count : ARRAY_COUNT(ours);
    for (size_t i = 0; i < count && !rc && !is_long_enough(self, until_us); i++)
        rc = retry_partition(self, ours[self->retry_turn++ % count].partition, until_us, err);
    return rc ? rc : stage_reader_refresh(self, err);
}
