/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - see events.h. */
#include "clicks/events.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "clicks/bounds.h"
#include "clicks/experiments.h"
#include "clicks/rate.h"
#include "clicks/retyped.h"
#include "clicks/texts.h"

enum { HOUR_S = 3600, ADDRESS_SEED = 0x61646472, DEED_SEED = 0x64656564 };

struct recording {
    const struct events *events;
    const Torg__V1__RecordEventsRequest *request;
    const Torg__V1__Offer *offers[EVENT_COUNT_MAX]; /* NULL: it does not count */
    int64_t session;
    int64_t caller; /* as a session of its own; 0: not limited */
    int64_t hour;
    int64_t now_us;
    uint32_t counted;
    struct experiment_tally tally;
    bool is_over; /* too many came: nothing is kept of this call */
};

/* --- checking --- */

static void check_name(struct violations *reasons, const char *path, const char *name, size_t least)
{
    size_t size = strlen(name);

    if (size < least || size > EVENT_ID_SIZE_MAX)
        violations_add(reasons, path, "has %zu bytes; expected %zu to %d", size, least,
                       EVENT_ID_SIZE_MAX);
}

static void check_event(struct violations *reasons, size_t place, const Torg__V1__Event *event)
{
    struct arena *arena = reasons->arena;

    check_name(reasons, arena_printf(arena, "events[%zu].id", place), event->id, 1);
    check_name(reasons, arena_printf(arena, "events[%zu].queryId", place), event->query_id, 0);
    if (event->kind < TORG__V1__EVENT__KIND__SHOW || event->kind > TORG__V1__EVENT__KIND__RETYPE)
        violations_add(reasons, arena_printf(arena, "events[%zu].kind", place),
                       "is not set, or unknown: set SHOW, CLICK, CONTACT, FAVOURITE or RETYPE");
    retyped_check(event, place, reasons);
    if (event->position > EVENT_POSITION_MAX)
        violations_add(reasons, arena_printf(arena, "events[%zu].position", place),
                       "is %u; the limit is %d", event->position, EVENT_POSITION_MAX);
}

static int check(const Torg__V1__RecordEventsRequest *request, struct violations *reasons,
                 struct err *err)
{
    check_name(reasons, "session", request->session, 1);
    if (!request->n_events || request->n_events > EVENT_COUNT_MAX)
        violations_add(reasons, "events", "%zu of them; expected 1 to %d", request->n_events,
                       EVENT_COUNT_MAX);
    for (size_t i = 0; i < request->n_events && i < EVENT_COUNT_MAX; i++)
        check_event(reasons, i, request->events[i]);
    return reasons->count ? err_set(err, ERR_INVALID, "%s: %s; nothing was counted",
                                    reasons->first->field, reasons->first->reason)
                          : 0;
}

/* --- offers --- */

/* Shows of a page and what follows them are mostly of the same offers. */
static const Torg__V1__Offer *find_offer(const struct recording *recording, size_t count,
                                         const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (recording->offers[i] && strcmp(recording->offers[i]->id, id) == 0)
            return recording->offers[i];
    return NULL;
}

static int find_offers(struct recording *recording, const char *seller, struct arena *arena,
                       struct err *err)
{
    const Torg__V1__RecordEventsRequest *request = recording->request;

    for (size_t i = 0; i < request->n_events; i++) {
        const char *id = request->events[i]->offer_id;
        Torg__V1__Offer *offer = NULL;
        int rc;

        recording->offers[i] = find_offer(recording, i, id);
        if (recording->offers[i])
            continue;
        rc = recording->events->fetch(recording->events->fetch_arg, id, arena, &offer, err);
        if (rc && rc != ERR_NOT_FOUND && rc != ERR_INVALID)
            return rc;
        if (!rc && (!*seller || strcmp(offer->seller, seller) != 0))
            recording->offers[i] = offer;
    }
    return 0;
}

/* --- counting --- */

/* False in *is_new: it was counted before. */
static int note_hash(struct store_tx *tx, const struct recording *recording, uint64_t hash,
                     bool *is_new, struct err *err)
{
    int64_t changed = 0;
    int rc = store_exec(
        tx, "INSERT INTO click_seen (hour, event) VALUES ($1, $2) ON CONFLICT (event) DO NOTHING",
        STORE_WITH(STORE_V_INT(recording->hour), STORE_V_INT((int64_t)hash)), &changed, err);

    *is_new = changed == 1;
    return rc;
}

static int note(struct store_tx *tx, const struct recording *recording,
                const Torg__V1__Event *event, bool *is_new, struct err *err)
{
    uint64_t session = (uint64_t)recording->session;

    return note_hash(tx, recording,
                     event->kind == TORG__V1__EVENT__KIND__RETYPE
                         ? retyped_hash(event, session)
                         : hash64_seeded(bytes_of(event->id), session),
                     is_new, err);
}

/* Who it is. Sessions are the caller's to name, so it is his address, if he calls for himself. */
static uint64_t visitor_of(const struct recording *recording)
{
    return (uint64_t)(recording->caller ? recording->caller : recording->session);
}

/* What somebody does with an offer counts once, whatever he calls his sessions and events: nobody
 * lifts his own offer, or sinks another's, by himself. */
static int note_deed(struct store_tx *tx, const struct recording *recording,
                     const Torg__V1__Event *event, const char *offer, bool *is_first,
                     struct err *err)
{
    const uint64_t deed[] = {visitor_of(recording), (uint64_t)event->kind};

    *is_first = true;
    if (event->kind == TORG__V1__EVENT__KIND__RETYPE)
        return 0; /* of two queries, and of no offer */
    return note_hash(
        tx, recording,
        hash64_seeded(bytes_of(offer), hash64_seeded(bytes_make(deed, sizeof(deed)), DEED_SEED)),
        is_first, err);
}

/* What is clicked after a text: of a visitor once. */
static int count_text(struct store_tx *tx, const struct recording *recording,
                      const Torg__V1__Event *event, const char *category, struct err *err)
{
    uint64_t visitor = visitor_of(recording);
    bool is_new = false;
    int rc;

    if (event->kind != TORG__V1__EVENT__KIND__CLICK || !*event->text)
        return 0;
    rc = note_hash(tx, recording, texts_hash(event->text, category, visitor), &is_new, err);
    return rc || !is_new ? rc
                         : texts_count(tx, event->text, category, recording->hour,
                                       texts_mark(event->text, visitor), err);
}

static int count_event(struct store_tx *tx, const struct recording *recording,
                       const Torg__V1__Event *event, const Torg__V1__Offer *offer, struct err *err)
{
    bool is_show = event->kind == TORG__V1__EVENT__KIND__SHOW;

    if (event->kind == TORG__V1__EVENT__KIND__RETYPE)
        return retyped_count(tx, event, recording->hour, err);
    return store_exec(
        tx,
        "INSERT INTO click_hour (hour, offer, category, shows, looks, clicks, contacts, "
        "favourites, changed_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
        "ON CONFLICT (hour, offer) DO UPDATE SET category = excluded.category, "
        "shows = click_hour.shows + excluded.shows, looks = click_hour.looks + excluded.looks, "
        "clicks = click_hour.clicks + excluded.clicks, "
        "contacts = click_hour.contacts + excluded.contacts, "
        "favourites = click_hour.favourites + excluded.favourites, "
        "changed_us = excluded.changed_us",
        STORE_WITH(STORE_V_INT(recording->hour), STORE_V_STRING(offer->id),
                   STORE_V_STRING(offer->content->category), STORE_V_INT(is_show),
                   STORE_V_INT(is_show ? rate_look(event->position) : 0),
                   STORE_V_INT(event->kind == TORG__V1__EVENT__KIND__CLICK),
                   STORE_V_INT(event->kind == TORG__V1__EVENT__KIND__CONTACT),
                   STORE_V_INT(event->kind == TORG__V1__EVENT__KIND__FAVOURITE),
                   STORE_V_INT(recording->now_us)),
        NULL, err);
}

/* --- robots --- */

static int read_sum(struct store_tx *tx, const struct recording *recording, int64_t who,
                    int64_t *sum, struct err *err)
{
    *sum = 0;
    return store_find_integer(tx,
                              "SELECT events FROM click_session WHERE hour = $1 AND session = $2",
                              STORE_WITH(STORE_V_INT(recording->hour), STORE_V_INT(who)), sum, err);
}

/* Before anything is looked up or written: a robot costs a read. */
static int look_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct recording *recording = arg;
    int64_t of_caller = 0;
    int64_t of_session;
    int rc = read_sum(tx, recording, recording->session, &of_session, err);

    if (!rc && recording->caller)
        rc = read_sum(tx, recording, recording->caller, &of_caller, err);
    recording->is_over =
        of_session >= EVENT_SESSION_COUNT_MAX || of_caller >= EVENT_ADDRESS_COUNT_MAX;
    return rc;
}

/* All that the session or the caller sent in this hour, counted or not. */
static int charge(struct store_tx *tx, struct recording *recording, int64_t who, int64_t max,
                  struct err *err)
{
    int64_t sum;
    int rc = store_exec(tx,
                        "INSERT INTO click_session (hour, session, events) VALUES ($1, $2, $3) "
                        "ON CONFLICT (hour, session) DO UPDATE SET "
                        "events = click_session.events + excluded.events",
                        STORE_WITH(STORE_V_INT(recording->hour), STORE_V_INT(who),
                                   STORE_V_INT((int64_t)recording->request->n_events)),
                        NULL, err);

    if (!rc)
        rc = read_sum(tx, recording, who, &sum, err);
    recording->is_over = !rc && sum > max;
    return rc;
}

/* Nothing of one that was counted before. */
static int take_event(struct store_tx *tx, struct recording *recording,
                      const struct experiment_visit *visit, const Torg__V1__Event *event,
                      const Torg__V1__Offer *offer, struct err *err)
{
    bool is_new = false, is_first = false;
    int rc = note(tx, recording, event, &is_new, err);

    if (rc || !is_new)
        return rc;
    rc = note_deed(tx, recording, event, offer->id, &is_first, err);
    if (!rc) /* the same offer may be meant by another text */
        rc = count_text(tx, recording, event, offer->content->category, err);
    if (rc || !is_first)
        return rc;
    rc = count_event(tx, recording, event, offer, err);
    if (!rc)
        rc = experiments_credit(tx, visit, event, &recording->tally, err);
    recording->counted += !rc;
    return rc;
}

/* The events that count, one by one. */
static int count_events(struct store_tx *tx, struct recording *recording, struct err *err)
{
    const struct experiment_visit visit = {.experiment = recording->events->experiment,
                                           .session = (uint64_t)recording->session,
                                           .hour = recording->hour};
    const Torg__V1__RecordEventsRequest *request = recording->request;
    int rc = 0;

    recording->tally = (struct experiment_tally){0};
    for (size_t i = 0; i < request->n_events && !rc; i++)
        if (recording->offers[i])
            rc = take_event(tx, recording, &visit, request->events[i], recording->offers[i], err);
    return rc ? rc : experiments_keep(tx, &visit, &recording->tally, recording->now_us, err);
}

static int record_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct recording *recording = arg;
    int rc = 0;

    recording->counted = 0;
    recording->is_over = false;
    recording->now_us = clock_wall_us(recording->events->clock); /* the rater waits for us */
    if (recording->caller)
        rc = charge(tx, recording, recording->caller, EVENT_ADDRESS_COUNT_MAX, err);
    if (!rc && !recording->is_over)
        rc = charge(tx, recording, recording->session, EVENT_SESSION_COUNT_MAX, err);
    return rc || recording->is_over ? rc : count_events(tx, recording, err);
}

int events_record(const struct events *events, const struct event_sender *sender,
                  const Torg__V1__RecordEventsRequest *request, struct violations *reasons,
                  uint32_t *counted, struct err *err)
{
    struct recording recording = {.events = events, .request = request};
    struct bytes address = bytes_make(&sender->address, sizeof(sender->address));
    int rc = check(request, reasons, err);

    assert(events->store && events->clock && events->fetch);
    *counted = 0;
    recording.session = (int64_t)hash64(bytes_of(request->session));
    if (sender->address) /* seeded: no session's name can be made to be its */
        recording.caller = (int64_t)(hash64_seeded(address, ADDRESS_SEED) | 1);
    recording.hour = clock_wall_us(events->clock) / SECOND_US / HOUR_S;
    if (!rc)
        rc = store_read(events->store, look_tx, &recording, err);
    if (rc || recording.is_over)
        return rc;
    rc = find_offers(&recording, sender->seller, reasons->arena, err);
    if (!rc)
        rc = store_write(events->store, record_tx, &recording, err);
    if (!rc)
        *counted = recording.counted;
    return rc;
}
