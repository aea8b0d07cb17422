/* SPDX-License-Identifier: Apache-2.0 */
/* service_schedule.c - see service_schedule.h. */
#include "feeds/service_schedule.h"

#include "feeds/apply/file.h"
#include "feeds/apply/reading.h"
#include "feeds/bounds.h"
#include "feeds/schedule/schedule.h"
#include "offers/service.h"

/* A feed, not a task of it. */
static int key_of(struct call *call, bool acts, const char *seller, const char *feed,
                  struct feed_key *key, struct err *err)
{
    int rc = feed_call_key(call, acts, seller, feed, 1, key, err);

    key->task_id = 0;
    key->actor = call_actor(call);
    return rc;
}

static int answer(int rc, const Torg__V1__FeedSchedule *schedule, ProtobufCMessage *response)
{
    if (!rc)
        *(Torg__V1__FeedSchedule *)response = *schedule;
    return rc;
}

int feed_call_set_schedule(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__SetFeedScheduleRequest *wanted =
        (const Torg__V1__SetFeedScheduleRequest *)request;
    struct violations violations = violations_in(call_arena(call));
    const struct feed_terms wish = {.address = wanted->address,
                                    .period_s = wanted->period_seconds,
                                    .language = language_of(call_header(call, "accept-language")),
                                    .reading = wanted->reading};
    Torg__V1__FeedSchedule *schedule = NULL;
    struct feed_key key;
    int rc = key_of(call, true, wanted->seller, wanted->feed, &key, err);

    if (!rc)
        rc = feed_reading_check(call_context(call), wanted->reading, "reading", &violations, err);
    if (!rc)
        rc = feed_schedule_set(call_context(call), &key, &wish, &violations, call_arena(call),
                               &schedule, err);
    call_violations(call, &violations);
    return answer(rc, schedule, response);
}

int feed_call_get_schedule(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__FeedRequest *wanted = (const Torg__V1__FeedRequest *)request;
    Torg__V1__FeedSchedule *schedule = NULL;
    struct feed_key key;
    int rc = key_of(call, false, wanted->seller, wanted->feed, &key, err);

    if (!rc)
        rc = feed_schedule_get(call_context(call), &key, call_arena(call), &schedule, err);
    return answer(rc, schedule, response);
}

int feed_call_list_schedules(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ListFeedSchedulesRequest *wanted =
        (const Torg__V1__ListFeedSchedulesRequest *)request;
    Torg__V1__ListFeedSchedulesResponse *list = (Torg__V1__ListFeedSchedulesResponse *)response;
    struct arena *arena = call_arena(call);
    struct feed_key key;
    int rc = key_of(call, false, wanted->seller, "", &key, err);

    if (rc)
        return rc;
    list->schedules = arena_array(arena, FEED_SCHEDULE_COUNT_MAX, sizeof(Torg__V1__FeedSchedule *));
    return feed_schedule_list(call_context(call), key.seller, arena, list->schedules,
                              &list->n_schedules, err);
}

typedef int change_fn(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                      Torg__V1__FeedSchedule **schedule, struct err *err);

static int change(struct call *call, change_fn *fn, const ProtobufCMessage *request,
                  ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__FeedRequest *wanted = (const Torg__V1__FeedRequest *)request;
    Torg__V1__FeedSchedule *schedule = NULL;
    struct feed_key key;
    int rc = key_of(call, true, wanted->seller, wanted->feed, &key, err);

    if (!rc)
        rc = fn(call_context(call), &key, call_arena(call), &schedule, err);
    return answer(rc, schedule, response);
}

int feed_call_pause_schedule(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err)
{
    return change(call, feed_schedule_pause, request, response, err);
}

int feed_call_resume_schedule(struct call *call, const ProtobufCMessage *request,
                              ProtobufCMessage *response, struct err *err)
{
    return change(call, feed_schedule_resume, request, response, err);
}

int feed_call_remove_schedule(struct call *call, const ProtobufCMessage *request,
                              ProtobufCMessage *response, struct err *err)
{
    return change(call, feed_schedule_remove, request, response, err);
}

int feed_call_run_schedule(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__RunFeedScheduleRequest *wanted =
        (const Torg__V1__RunFeedScheduleRequest *)request;
    Torg__V1__FeedSchedule *schedule = NULL;
    struct feed_key key;
    int rc = key_of(call, true, wanted->seller, wanted->feed, &key, err);

    if (!rc)
        rc = feed_schedule_run(call_context(call), &key, wanted->again, call_arena(call), &schedule,
                               err);
    return answer(rc, schedule, response);
}
