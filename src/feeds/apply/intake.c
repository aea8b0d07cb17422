/* SPDX-License-Identifier: Apache-2.0 */
/* intake.c - see intake.h. */
#include "feeds/apply/intake.h"

#include "feeds/apply/apply.h"
#include "offers/record/offer_record.h"

void feed_intake_init(struct feed_intake *intake, const struct offers *offers,
                      enum language language, const struct feed_key *key)
{
    *intake = (struct feed_intake){
        .offers = offers, .language = language, .key = *key, .arena = arena_new()};
}

void feed_intake_release(struct feed_intake *intake)
{
    arena_free(intake->arena);
    intake->arena = NULL;
}

int feed_intake_flush(struct feed_intake *intake, struct err *err)
{
    int rc = feed_apply_rows(intake->offers, &intake->key, intake->language, intake->events,
                             intake->count, err);

    if (!rc) {
        intake->count = intake->size = 0;
        arena_reset(intake->arena);
    }
    return rc;
}

static int open_task(struct feed_intake *intake, enum feed_wish wish, struct err *err)
{
    struct arena *arena = arena_new();
    struct feed_task task;
    int rc = feed_task_open(intake->offers, &intake->key, wish, arena, &task, err);

    intake->is_open = !rc;
    arena_free(arena);
    return rc;
}

static int add_row(struct feed_intake *intake, const Torg__V1__FeedEvent *event, struct err *err)
{
    int rc = 0;

    if (intake->count == FEED_BATCH_COUNT || intake->size >= FEED_BATCH_SIZE)
        rc = feed_intake_flush(intake, err);
    if (!rc) {
        intake->events[intake->count++] =
            (Torg__V1__FeedEvent *)record_copy(&event->base, intake->arena);
        intake->size += protobuf_c_message_get_packed_size(&event->base);
    }
    return rc;
}

int feed_intake_add(struct feed_intake *intake, const Torg__V1__FeedEvent *event,
                    const struct feed_patience *patience, struct arena *arena,
                    struct feed_task *task, struct err *err)
{
    int rc = 0;

    if (event->event_case == TORG__V1__FEED_EVENT__EVENT_OPEN)
        return open_task(intake, event->open->dry_run ? FEED_DRY_RUN : FEED_REAL, err);
    if (!intake->is_open)
        rc = open_task(intake, FEED_AS_IT_IS, err);
    if (rc)
        return rc;
    if (event->event_case != TORG__V1__FEED_EVENT__EVENT_END)
        return add_row(intake, event, err);
    rc = feed_intake_flush(intake, err);
    return rc ? rc : feed_end(intake->offers, &intake->key, event->end, patience, arena, task, err);
}
