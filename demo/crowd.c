/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.c - see crowd.h. */
#include "demo/crowd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "base/task.h"
#include "clicks/bounds.h"
#include "clicks/rate.h"
#include "codec/message.h"
#include "offers/record/offer_record.h"

enum { CROWD_MAGIC = OBJECT_MAGIC('c', 'r', 'w', 'd') };
enum {
    PAGE_COUNT = 24, /* as the buyers' page */
    DEED_COUNT = 3,  /* of one offer: it is shown, it is clicked, and one more */
    ON_PERCENT = 90, /* of those who have looked at an offer look at the next */
    CLICK_PERCENT_MIN = 2,
    CLICK_PERCENT_MAX = 30, /* of those who look at the most pleasing one */
    ASK_US = 2 * SECOND_US,
    PAUSE_US = SECOND_US,
};

struct crowd {
    uint32_t magic;
    struct crowd_options options;
    struct events events;
    struct rng rng;
    struct task task;
    bool is_failing; /* told once, not each time */
};

/* One buyer. */
struct visit {
    struct crowd *crowd;
    struct arena *arena;
    char *session;
    char *text; /* that was searched; "": none */
    Torg__V1__Event *events[PAGE_COUNT * DEED_COUNT];
    size_t count;
};

static int fetch(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err)
{
    const struct reader visitor = {.seller = ""};
    offerid id;
    int rc = offer_id_parse(bytes_of(offer_id), &id, err);

    return rc ? rc : offers_get(arg, &visitor, id, arena, offer, err);
}

/* --- searching --- */

static int search(struct visit *visit, Torg__V1__SearchOffersResponse *response, struct err *err)
{
    struct crowd *crowd = visit->crowd;
    const struct search *search = crowd->options.search;
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct catalog *catalog = search->catalog(search->catalog_arg);
    struct made_offer made;
    int rc = generator_make(crowd->options.generator, catalog,
                            rng_below(&crowd->rng, crowd->options.offer_count), visit->arena, &made,
                            err);

    catalog_unref(catalog);
    if (rc)
        return rc;
    if (rng_below(&crowd->rng, 2)) {
        request.text = arena_strdup(visit->arena, made.content->title);
        request.text[strcspn(request.text, " ,")] = '\0';
        if (strlen(request.text) <= RETYPED_TEXT_SIZE_MAX)
            visit->text = request.text;
    } else {
        request.category = made.content->category;
    }
    request.only_offers = true;
    request.session = visit->session;
    request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    request.limit = PAGE_COUNT;
    return search_offers(search, &request, made.language, clock_mono_us(search->clock) + ASK_US,
                         visit->arena, response, err);
}

/* --- looking --- */

static void add(struct visit *visit, const Torg__V1__SearchOffersResponse *response,
                Torg__V1__Event__Kind kind, size_t place)
{
    Torg__V1__Event *event = MESSAGE_NEW(event, visit->arena);

    event->id = arena_printf(visit->arena, "%zu", visit->count);
    event->kind = kind;
    event->offer_id = response->offers[place]->id;
    event->position = (uint32_t)place + 1;
    event->query_id = response->query_id;
    if (kind == TORG__V1__EVENT__KIND__CLICK)
        event->text = visit->text;
    visit->events[visit->count++] = event;
}

static bool is_clicked(struct crowd *crowd, const char *offer_id, size_t position)
{
    uint64_t pleases =
        CLICK_PERCENT_MIN + hash64(bytes_of(offer_id)) % (CLICK_PERCENT_MAX - CLICK_PERCENT_MIN);

    return rng_below(&crowd->rng, UINT64_C(100) * RATE_UNIT) <
           pleases * (uint64_t)rate_look((uint32_t)position);
}

static void look(struct visit *visit, const Torg__V1__SearchOffersResponse *response)
{
    struct rng *rng = &visit->crowd->rng;

    for (size_t i = 0; i < response->n_offers && i < PAGE_COUNT; i++) {
        add(visit, response, TORG__V1__EVENT__KIND__SHOW, i);
        if (is_clicked(visit->crowd, response->offers[i]->id, i + 1)) {
            uint64_t dice = rng_below(rng, 10);

            add(visit, response, TORG__V1__EVENT__KIND__CLICK, i);
            if (dice < 3)
                add(visit, response,
                    dice ? TORG__V1__EVENT__KIND__CONTACT : TORG__V1__EVENT__KIND__FAVOURITE, i);
        }
        if (rng_below(rng, 100) >= ON_PERCENT)
            return;
    }
}

static int come(struct visit *visit, struct err *err)
{
    struct crowd *crowd = visit->crowd;
    Torg__V1__SearchOffersResponse response = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
    Torg__V1__RecordEventsRequest request = TORG__V1__RECORD_EVENTS_REQUEST__INIT;
    const struct event_sender visitor = {.seller = ""};
    struct violations reasons = violations_in(visit->arena);
    uint32_t counted;
    int rc;

    visit->session = arena_printf(visit->arena, "demo-%016" PRIx64, rng_next(&crowd->rng));
    rc = search(visit, &response, err);
    if (rc)
        return rc;
    look(visit, &response);
    if (!visit->count)
        return 0;
    request.session = visit->session;
    request.events = visit->events;
    request.n_events = visit->count;
    return events_record(&crowd->events, &visitor, &request, &reasons, &counted, err);
}

static void run(struct task *task, void *arg)
{
    struct crowd *crowd = arg;
    struct arena *arena = arena_new();

    object_check(crowd, CROWD_MAGIC);
    while (task_pause(task, PAUSE_US)) {
        struct visit visit = {.crowd = crowd, .arena = arena, .text = ""};
        struct err err;
        int rc;

        task_says(task, "looks and clicks");
        arena_reset(arena);
        rc = come(&visit, &err);
        if (rc == ERR_TIMEOUT) /* too slow for this one, who has gone away */
            rc = 0;
        if (rc && !crowd->is_failing)
            log_warn("the demo's buyers cannot look", LOG_TEXT("reason", err.text));
        crowd->is_failing = rc != 0;
    }
    arena_free(arena);
}

int crowd_start(const struct crowd_options *options, struct crowd **result, struct err *err)
{
    struct crowd *crowd = mem_zero(sizeof(*crowd));
    const struct task_options task = {
        .name = "demo-crowd", .run = run, .arg = crowd, .clock = options->search->clock};
    int rc;

    object_begin(crowd, CROWD_MAGIC);
    crowd->options = *options;
    crowd->events = (struct events){.store = options->offers->store,
                                    .clock = options->offers->clock,
                                    .fetch = fetch,
                                    .fetch_arg = (void *)options->offers,
                                    .experiment = options->search->experiment};
    crowd->rng = rng_seeded(random_u64());
    rc = task_start(&crowd->task, &task, err);
    *result = rc ? NULL : crowd;
    if (rc) {
        object_end(crowd, CROWD_MAGIC);
        free(crowd);
    }
    return rc;
}

void crowd_stop(struct crowd *crowd)
{
    if (!crowd)
        return;
    task_stop(&crowd->task);
    object_end(crowd, CROWD_MAGIC);
    free(crowd);
}
