/* SPDX-License-Identifier: Apache-2.0 */
/* arranged.c - see arranged.h. */
#include "search/choices/arranged.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "codec/message.h"
#include "model/experiment.h"
#include "model/offer_fields.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/choices/exact.h"
#include "search/choices/likely.h"
#include "search/choices/order.h"
#include "search/choices/ranking.h"

static_assert((int)ARRANGED_PLACE_COUNT == (int)EXPERIMENT_PLACE_COUNT,
              "events are credited to the places that are arranged");

enum { STAGE_COUNT = 2 * EXPERIMENT_SIDE_COUNT + 1 };

/* An order of the list, from its beginning. */
struct candidates {
    struct candidate {
        const Torg__V1__Hit *hit;
        uint64_t hash; /* of the offer's id */
        const char *seller;
        bool lacks_words;
    } * list;
    size_t count;
    size_t at; /* all before it are there */
};

struct arranging {
    struct asking *asking;
    const struct wanted *wanted;
    Torg__V1__SearchOffersResponse *response;
    struct arena *arena;
    struct arranged_state state;
    struct candidates sides[EXPERIMENT_SIDE_COUNT];
    size_t side_count;                 /* orders that are asked for: 1 without an experiment */
    uint32_t new_every;                /* 0: no place is kept for new offers */
    struct candidates fresh;           /* new offers, in order A */
    const Torg__V1__StageAnswer *page; /* the first of order A, known already; NULL: it is not */
    uint32_t seller_cap;               /* 0: a page may be of one seller */
    const char *sellers[SEARCH_PAGE_COUNT_MAX]; /* of the offers of the page so far */
    uint32_t seller_count;
};

static uint32_t limit_of(const struct wanted *wanted)
{
    return wanted->request->_limit_case ? wanted->request->limit : SEARCH_PAGE_COUNT;
}

/* --- which lists --- */

/* NULL: none is tried for what was chosen or named. */
static const struct experiment *experiment_on(const struct search *search,
                                              const struct wanted *wanted)
{
    const struct category *category = wanted->category ? wanted->category : wanted->named;

    if (!search->experiment || !*wanted->sent->session || !order_is_best_of_text(wanted) ||
        !ranking_find(search->tried, category))
        return NULL;
    return search->experiment;
}

/* The request in the order that is tried. */
static struct wanted tried_order(const struct search *search, const struct wanted *wanted)
{
    struct wanted tried = *wanted;

    tried.ranking = search->tried;
    return tried;
}

static uint64_t add_hash(uint64_t hash, const char *text)
{
    return hash64_seeded(bytes_of(text), hash);
}

/* One visit's list of a query is the same each time: a page that is loaded anew does not jump, and
 * pages by offsets fit each other. */
static uint64_t seed_of(const Torg__V1__SearchOffersRequest *request)
{
    uint64_t hash = add_hash(hash64(bytes_of(request->session)), request->text);

    hash = add_hash(hash, request->category);
    for (size_t i = 0; i < request->n_filters; i++) {
        const Torg__V1__FilterChoice *choice = request->filters[i];

        hash = add_hash(add_hash(add_hash(hash, choice->id), choice->min), choice->max);
        for (size_t k = 0; k < choice->n_values; k++)
            hash = add_hash(hash, choice->values[k]);
    }
    return hash;
}

/* New offers cost a question: the lists of some visits have them. Where formulas are compared all
 * have, so that a place alone tells who has filled it. */
static bool has_new_places(const struct search *search, const struct wanted *wanted)
{
    const struct arranged_state *before = wanted->tier.arranged;
    uint64_t seed = before ? before->seed : seed_of(wanted->sent);

    return !*wanted->sent->session || experiment_on(search, wanted) ||
           seed % ARRANGED_NEW_LIST_EVERY == 0;
}

/* Of how many places one is a new offer's; 0: none is. */
static uint32_t new_every_of(const struct search *search, const struct wanted *wanted)
{
    const struct wanted tried = tried_order(search, wanted);

    if (!search->new_every || !search->new_age_us || !has_new_places(search, wanted))
        return 0;
    return order_goes_by_clicks(wanted) ||
                   (experiment_on(search, wanted) && order_goes_by_clicks(&tried))
               ? search->new_every
               : 0;
}

static uint32_t cap_of(const struct search *search, const struct wanted *wanted)
{
    bool is_best = wanted->request->order == TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST;

    return is_best ? search->seller_cap : 0;
}

bool arranged_is_wanted(const struct search *search, const struct wanted *wanted)
{
    const Torg__V1__SearchOffersRequest *request = wanted->request;

    if (!limit_of(wanted))
        return false;
    if (request->cursor.len) /* as it was begun */
        return wanted->tier.arranged != NULL;
    return request->offset + limit_of(wanted) <= ARRANGED_PLACE_COUNT &&
           (experiment_on(search, wanted) || new_every_of(search, wanted) ||
            cap_of(search, wanted));
}

/* --- asking --- */

/* The stage of a list's part in this order, from its beginning. */
static int part_stage(const struct wanted *wanted, bool is_some, uint32_t limit,
                      Torg__V1__QueryStage **out, struct err *err)
{
    Torg__V1__QueryStage *stage;
    int rc = wanted_stage(wanted, &stage, err);

    if (rc)
        return rc;
    wanted_prefer(wanted, !is_some, stage);
    if (is_some)
        stage_any_word(stage);
    stage->not_all = is_some;
    stage->no_total = true;
    stage->limit = limit;
    stage->offset = 0;
    stage->cursor = (ProtobufCBinaryData){0};
    *out = stage;
    return 0;
}

/* Offers with all words that are new, and that few have looked at. The hour is the moment: pages
 * that follow each other ask for the same. */
static int fresh_stage(const struct arranging *arranging, uint32_t limit,
                       Torg__V1__QueryStage **out, struct err *err)
{
    const struct search *search = arranging->asking->search;
    struct arena *arena = arranging->arena;
    const int64_t hour_us = INT64_C(3600) * SECOND_US;
    int64_t since_us = clock_wall_us(search->clock) / hour_us * hour_us - search->new_age_us;
    Torg__V1__Filters *all = MESSAGE_NEW(filters, arena);
    Torg__V1__Filter *seen = MESSAGE_NEW(filter, arena);
    char since[CLOCK_TEXT_SIZE];
    int rc = part_stage(arranging->wanted, false, limit, out, err);

    if (rc)
        return rc;
    clock_format(since_us, since);
    seen->kind_case = TORG__V1__FILTER__KIND_NOT;
    seen->not_ =
        range_filter(OFFER_FIELD_LOOKS, arena_printf(arena, "%d", ARRANGED_NEW_LOOKS), "", arena);
    all->of = arena_array(arena, 3, sizeof(all->of[0]));
    all->of[all->n_of++] =
        range_filter(OFFER_FIELD_CREATED, arena_printf(arena, "%.19sZ", since), "", arena);
    all->of[all->n_of++] = seen;
    if ((*out)->filter)
        all->of[all->n_of++] = (*out)->filter;
    (*out)->filter = MESSAGE_NEW(filter, arena);
    (*out)->filter->kind_case = TORG__V1__FILTER__KIND_AND;
    (*out)->filter->and_ = all;
    return 0;
}

/* Whether there are offers that lack words behind those that have all. */
static bool has_rest(const struct arranging *arranging)
{
    return wanted_tiers(arranging->wanted) &&
           arranging->response->total > arranging->response->whole_total;
}

static void add_candidates(const struct arranging *arranging, struct candidates *side,
                           const Torg__V1__StageAnswer *answer, bool lacks_words)
{
    struct candidate *list =
        arena_array(arranging->arena, side->count + answer->n_hits + 1, sizeof(*list));

    if (side->count)
        memcpy(list, side->list, side->count * sizeof(*list));
    for (size_t i = 0; i < answer->n_hits; i++)
        list[side->count++] =
            (struct candidate){.hit = answer->hits[i],
                               .hash = hash64(bytes_of(answer->hits[i]->pk)),
                               .seller = hit_shown(answer->hits[i], OFFER_FIELD_SELLER),
                               .lacks_words = lacks_words};
    side->list = list;
}

/* The best new offers, as many as places up to this one are theirs: when all of them are on the
 * list by their words, new offers have their share. It goes by the place alone, so that pages fit.
 */
static uint32_t fresh_count(const struct arranging *arranging, uint32_t place_count)
{
    return place_count / arranging->new_every;
}

/* The first page that was found already is order A's, as far as it goes: what is left is to ask for
 * the offers that lack words, if it has room for some, and for new ones. */
static int ask_beside_page(struct arranging *arranging, uint32_t count, struct err *err)
{
    bool with_rest = has_rest(arranging) && arranging->page->n_hits < limit_of(arranging->wanted);
    Torg__V1__QueryStage *stages[2];
    const Torg__V1__StageAnswer *answers[2];
    uint32_t fresh = fresh_count(arranging, count);
    size_t stage_count = 0;
    int rc = 0;

    if (with_rest)
        rc = part_stage(arranging->wanted, true, count, &stages[stage_count++], err);
    if (!rc && fresh)
        rc = fresh_stage(arranging, fresh, &stages[stage_count++], err);
    if (!rc && stage_count)
        rc = asking_run(arranging->asking, stages, stage_count, answers, err);
    if (rc)
        return rc;
    add_candidates(arranging, &arranging->sides[EXPERIMENT_A], arranging->page, false);
    if (with_rest)
        add_candidates(arranging, &arranging->sides[EXPERIMENT_A], answers[0], true);
    if (fresh)
        add_candidates(arranging, &arranging->fresh, answers[stage_count - 1], false);
    return 0;
}

/* So many of each order, all of one snapshot. */
static int ask_candidates(struct arranging *arranging, uint32_t count, struct err *err)
{
    const bool with_rest = has_rest(arranging) && arranging->response->whole_total < count;
    const uint32_t fresh = arranging->new_every ? fresh_count(arranging, count) : 0;
    struct wanted orders[EXPERIMENT_SIDE_COUNT] = {
        *arranging->wanted, tried_order(arranging->asking->search, arranging->wanted)};
    Torg__V1__QueryStage *stages[STAGE_COUNT];
    const Torg__V1__StageAnswer *answers[STAGE_COUNT];
    size_t stage_count = 0, order_count;
    int rc = 0;

    for (size_t part = 0; part < (with_rest ? 2 : 1); part++)
        for (size_t i = 0; i < arranging->side_count && !rc; i++)
            rc = part_stage(&orders[i], part == 1, count, &stages[stage_count++], err);
    order_count = stage_count;
    if (!rc && fresh)
        rc = fresh_stage(arranging, fresh, &stages[stage_count++], err);
    if (!rc)
        rc = asking_run(arranging->asking, stages, stage_count, answers, err);
    for (size_t i = 0; i < order_count && !rc; i++)
        add_candidates(arranging, &arranging->sides[i % arranging->side_count], answers[i],
                       i >= arranging->side_count);
    if (!rc && fresh)
        add_candidates(arranging, &arranging->fresh, answers[order_count], false);
    return rc;
}

/* --- places --- */

/* Where the offer stands among those that were shown; their count: it was not. */
static uint32_t find_shown(const struct arranged_state *state, uint64_t hash)
{
    uint32_t at = 0;

    while (at < state->count && state->shown[at] != hash)
        at++;
    return at;
}

/* The first one that is not there yet; NULL: there is none. */
static const struct candidate *next_of(const struct arranging *arranging, struct candidates *side)
{
    const struct arranged_state *state = &arranging->state;

    while (side->at < side->count && find_shown(state, side->list[side->at].hash) < state->count)
        side->at++;
    return side->at < side->count ? &side->list[side->at] : NULL;
}

static bool has_room(const struct arranging *arranging, const char *seller)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < arranging->seller_count; i++)
        count += strcmp(arranging->sellers[i], seller) == 0;
    return !arranging->seller_cap || !*seller || count < arranging->seller_cap;
}

/* The next of a seller who has room on the page. None of those with as many words has: the next. */
static const struct candidate *pick(const struct arranging *arranging, struct candidates *side)
{
    const struct arranged_state *state = &arranging->state;
    const struct candidate *first = next_of(arranging, side);

    for (size_t i = side->at; first && i < side->count; i++) {
        const struct candidate *each = &side->list[i];

        if (each->lacks_words != first->lacks_words)
            break;
        if (has_room(arranging, each->seller) && find_shown(state, each->hash) == state->count)
            return each;
    }
    return first;
}

/* NULL: the place is no new offer's, or there is none left. */
static const struct candidate *pick_new(const struct arranging *arranging, uint32_t place)
{
    struct candidates fresh = arranging->fresh;
    uint32_t most;

    if (!arranging->new_every || (place + 1) % arranging->new_every)
        return NULL;
    most = fresh_count(arranging, place + 1);
    fresh.count = fresh.count < most ? fresh.count : most;
    return pick(arranging, &fresh);
}

static const struct candidate *take_place(struct arranging *arranging, uint32_t place)
{
    size_t turn =
        arranging->side_count > 1 ? experiment_side_at(arranging->state.seed, place) : EXPERIMENT_A;
    const struct candidate *found = pick_new(arranging, place);

    if (!found || !has_room(arranging, found->seller))
        found = pick(arranging, &arranging->sides[turn]);
    /* where a shard has not answered one of them, the other has more */
    for (size_t i = 0; i < arranging->side_count && !found; i++)
        found = pick(arranging, &arranging->sides[i]);
    if (!found)
        return NULL;
    arranging->state.shown[arranging->state.count++] = found->hash;
    arranging->sellers[arranging->seller_count++] = found->seller;
    return found;
}

static void add_offer(const struct arranging *arranging, const Torg__V1__Hit *hit, bool lacks_words)
{
    Torg__V1__SearchOffersResponse *response = arranging->response;
    Torg__V1__FoundOffer *offer =
        found_offer(hit, arranging->wanted->request->near, arranging->arena);

    offer->lacks_words = lacks_words;
    response->offers[response->n_offers++] = offer;
}

static void put_cursor(const struct arranging *arranging, struct tier next)
{
    const struct wanted *wanted = arranging->wanted;
    struct bytes cursor;

    next.likely = likely_put(&wanted->likely, arranging->arena);
    next.arranged = arranging->state.count ? &arranging->state : NULL;
    next.chooses = wanted_chooses(wanted);
    cursor = tier_cursor(&next, wanted->sent->text, wanted->text, arranging->arena);
    arranging->response->cursor =
        (ProtobufCBinaryData){.data = (uint8_t *)cursor.data, .len = cursor.size};
}

/* Of a page that is known, how many are behind it is, too. */
static bool has_next(struct arranging *arranging)
{
    return next_of(arranging, &arranging->sides[EXPERIMENT_A]) ||
           (arranging->page && arranging->response->total > arranging->state.count);
}

/* Titles that say nothing else first, where no place tells who has filled it. */
static void put_exact_first(const struct arranging *arranging)
{
    const Torg__V1__SearchOffersResponse *response = arranging->response;
    size_t count = 0;

    while (count < response->n_offers && !response->offers[count]->lacks_words)
        count++;
    if (arranging->side_count == 1)
        exact_first(arranging->wanted, response->offers, count);
}

/* A page of the arranged places. One that begins by an offset arranges those before it, too. */
static int put_places(struct arranging *arranging, struct err *err)
{
    const struct wanted *wanted = arranging->wanted;
    uint32_t first = wanted->request->offset + arranging->state.count;
    uint32_t begin = arranging->state.count, end = first + limit_of(wanted);
    uint32_t more = arranging->seller_cap ? ARRANGED_CAP_LOOK : 1; /* is there a next page? */
    const struct candidate *found = NULL;
    int rc = arranging->page ? ask_beside_page(arranging, end + more, err)
                             : ask_candidates(arranging, end + more, err);

    for (uint32_t place = begin; place < end && !rc; place++) {
        if ((place - begin) % limit_of(wanted) == 0)
            arranging->seller_count = 0;
        found = take_place(arranging, place);
        if (!found)
            break;
        if (place >= first)
            add_offer(arranging, found->hit, found->lacks_words);
    }
    if (!rc && found && has_next(arranging))
        put_cursor(arranging, (struct tier){0});
    put_exact_first(arranging);
    return rc;
}

/* --- behind them --- */

/* Offers that were not shown; those that were do not come again, and are forgotten. */
static void add_behind(struct arranging *arranging, const Torg__V1__StageAnswer *answer,
                       bool lacks_words)
{
    struct arranged_state *state = &arranging->state;

    for (size_t i = 0; i < answer->n_hits; i++) {
        uint32_t at = find_shown(state, hash64(bytes_of(answer->hits[i]->pk)));

        if (at < state->count)
            state->shown[at] = state->shown[--state->count];
        else
            add_offer(arranging, answer->hits[i], lacks_words);
    }
}

/* All that a question gives is used up, so that the searcher's cursor says how far we are. */
static int put_behind(struct arranging *arranging, struct err *err)
{
    struct tier at = arranging->wanted->tier;
    uint32_t limit = limit_of(arranging->wanted);
    bool is_over = false;
    int rc = 0;

    arranging->state.is_behind = true;
    while (!rc && !is_over && arranging->response->n_offers < limit) {
        uint32_t room = limit - (uint32_t)arranging->response->n_offers;
        const Torg__V1__StageAnswer *answer;
        Torg__V1__QueryStage *stage;

        rc = part_stage(arranging->wanted, at.is_some, room, &stage, err);
        if (rc)
            break;
        stage->cursor =
            (ProtobufCBinaryData){.data = (uint8_t *)at.cursor.data, .len = at.cursor.size};
        rc = asking_run(arranging->asking, &stage, 1, &answer, err);
        if (rc)
            break;
        add_behind(arranging, answer, at.is_some);
        at.cursor = bytes_make(answer->cursor.data, answer->cursor.len);
        is_over = !at.cursor.size && (at.is_some || !has_rest(arranging));
        at.is_some |= !at.cursor.size;
    }
    if (!rc && !is_over)
        put_cursor(arranging, at);
    return rc;
}

int arranged_put(struct asking *asking, const struct wanted *wanted,
                 const Torg__V1__StageAnswer *whole, Torg__V1__SearchOffersResponse *response,
                 struct err *err)
{
    const struct experiment *experiment = experiment_on(asking->search, wanted);
    const struct arranged_state *before = wanted->tier.arranged;
    struct arranging arranging = {.asking = asking,
                                  .wanted = wanted,
                                  .response = response,
                                  .arena = asking->arena,
                                  .side_count = experiment ? EXPERIMENT_SIDE_COUNT : 1,
                                  .new_every = new_every_of(asking->search, wanted),
                                  .seller_cap = cap_of(asking->search, wanted)};
    uint32_t limit = limit_of(wanted);
    int rc;

    if (!experiment && !arranging.seller_cap && !before && !wanted->request->offset)
        arranging.page = whole;
    arranging.state = before ? *before : (struct arranged_state){.seed = seed_of(wanted->sent)};
    response->offers = arena_array(asking->arena, limit + 1, sizeof(response->offers[0]));
    if (arranging.state.is_behind || arranging.state.count + limit > ARRANGED_PLACE_COUNT)
        return put_behind(&arranging, err);
    rc = put_places(&arranging, err);
    if (rc || !experiment || asking->is_partial || asking->old_seconds)
        return rc; /* where offers may be missing, a place does not say who has filled it */
    response->query_id = arena_alloc(asking->arena, EXPERIMENT_LIST_SIZE);
    experiment_list_name(experiment, arranging.state.seed, response->query_id);
    return 0;
}
