/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - see search.h. */
#include "search/search.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "query/bounds.h"
#include "query/run/cursor.h"
#include "search/asking/asking.h"
#include "search/asking/found.h"
#include "search/asking/title_word.h"
#include "search/bounds.h"
#include "search/choices/arranged.h"
#include "search/choices/exact.h"
#include "search/choices/likely.h"
#include "search/choices/offered.h"
#include "search/choices/order.h"
#include "search/choices/shown.h"
#include "search/choices/tiers.h"
#include "search/choices/understood.h"
#include "search/choices/votes.h"
#include "search/synonyms/synonyms.h"
#include "search/words/nearest.h"
#include "search/words/spelling.h"
#include "search/words/values.h"

enum { STEP_COUNT = 4, PAGE_STAGE_COUNT = 4 };

/* One request on its way. */
struct searching {
    const struct search *search;
    struct wanted wanted;
    struct asking asking;
    struct arena *arena;
    int64_t step_us; /* when the step under way began */
    int64_t page_us; /* of the time since then, what asking for the page took */
    Torg__V1__SearchOffersResponse *response;
    const Torg__V1__StageAnswer *page;  /* total and facets of wanted.text; NULL: not asked yet */
    const Torg__V1__StageAnswer *whole; /* the offers with all words */
    const Torg__V1__StageAnswer *rest;  /* behind them; NULL: none on this page */
    struct meaning sent;                /* of the text as it was sent */
    uint64_t sent_whole;                /* of a corrected text: what the one sent finds */
    bool has_counted;                   /* sent_count is known: of the text as it was sent */
    uint64_t sent_count;
};

static void put_time(struct searching *searching, const char *name, int64_t duration_us)
{
    struct arena *arena = searching->arena;
    Torg__V1__StepTime *time = MESSAGE_NEW(step_time, arena);

    time->step = (char *)name;
    time->microseconds = (uint64_t)duration_us;
    searching->response->times[searching->response->n_times++] = time;
}

static void step_done(struct searching *searching, const char *name)
{
    int64_t now_us = clock_mono_us(searching->search->clock);

    put_time(searching, name, now_us - searching->step_us);
    searching->step_us = now_us;
}

/* --- offers --- */

static void add_offers(const struct searching *searching, const Torg__V1__StageAnswer *answer,
                       bool lacks_words)
{
    Torg__V1__SearchOffersResponse *response = searching->response;

    for (size_t i = 0; i < answer->n_hits; i++) {
        Torg__V1__FoundOffer *offer =
            found_offer(answer->hits[i], searching->wanted.request->near, searching->arena);

        offer->lacks_words = lacks_words;
        response->offers[response->n_offers++] = offer;
    }
}

/* Where the next page begins; none: this was the last. */
static bool next_tier(const struct searching *searching, struct tier *next)
{
    const Torg__V1__StageAnswer *last = searching->rest ? searching->rest : searching->whole;
    const struct likely *likely = &searching->wanted.likely;

    *next = (struct tier){.is_some = searching->rest != NULL,
                          .cursor = bytes_make(last->cursor.data, last->cursor.len),
                          .likely = likely_put(likely, searching->arena),
                          .chooses = wanted_chooses(&searching->wanted)};
    if (next->cursor.size || searching->rest)
        return next->cursor.size > 0;
    next->is_some = true;
    return wanted_tiers(&searching->wanted) && searching->page->total > searching->whole->total;
}

static void put_offers(const struct searching *searching)
{
    Torg__V1__SearchOffersResponse *response = searching->response;
    size_t room = searching->whole->n_hits + (searching->rest ? searching->rest->n_hits : 0);
    struct tier next;
    struct bytes cursor;

    response->offers = arena_array(searching->arena, room + 1, sizeof(response->offers[0]));
    add_offers(searching, searching->whole, false);
    exact_first(&searching->wanted, response->offers, response->n_offers);
    if (searching->rest)
        add_offers(searching, searching->rest, true);
    if (!next_tier(searching, &next))
        return;
    cursor =
        tier_cursor(&next, searching->wanted.sent->text, searching->wanted.text, searching->arena);
    response->cursor = (ProtobufCBinaryData){.data = (uint8_t *)cursor.data, .len = cursor.size};
}

/* --- filters --- */

/* Of what was chosen all values are asked for: the chosen ones may be among the rare. */
static void add_facet(const struct searching *searching, Torg__V1__QueryStage *stage,
                      const struct search_filter *filter)
{
    if (filter->kind == TORG__V1__SEARCH_FILTER__KIND__DISTANCE)
        return;
    stage_facet(stage, filter->field,
                filter->kind == TORG__V1__SEARCH_FILTER__KIND__RANGE
                    ? TORG__V1__FACET__KIND__MIN_MAX
                    : TORG__V1__FACET__KIND__VALUES,
                wanted_choice(&searching->wanted, filter->id) ? QUERY_FACET_VALUE_COUNT_MAX
                                                              : SEARCH_FACET_VALUE_COUNT,
                searching->arena)
        ->count_documents = true;
    if (filter->upper)
        stage_facet(stage, filter->upper, TORG__V1__FACET__KIND__MIN_MAX, 0, searching->arena);
}

/* All offers of the page's text and filters, counted: none is shown. */
static int counted_stage(const struct searching *searching, Torg__V1__QueryStage **out,
                         struct err *err)
{
    Torg__V1__QueryStage *stage;
    int rc = wanted_stage(&searching->wanted, &stage, err);

    if (wanted_tiers(&searching->wanted))
        stage_any_word(stage);
    stage->limit = 0;
    stage->offset = 0;
    stage->n_show = 0;
    stage->highlight = NULL;
    stage->n_sorts = 0;
    stage->cursor = (ProtobufCBinaryData){0};
    *out = stage;
    return rc;
}

/* Facets of the attributes that are offered; *answer NULL: there are none. */
static int ask_attributes(struct searching *searching, const struct offered_filter *list,
                          size_t count, const Torg__V1__StageAnswer **answer, struct err *err)
{
    Torg__V1__QueryStage *stage;
    int rc = counted_stage(searching, &stage, err);

    *answer = NULL;
    if (rc)
        return rc;
    stage->facets = arena_array(searching->arena, count + 1, sizeof(stage->facets[0]));
    for (size_t i = 0; i < count && stage->n_facets < QUERY_FACET_COUNT_MAX; i++) {
        if (list[i].filter.attribute && !list[i].hidden)
            add_facet(searching, stage, &list[i].filter);
    }
    if (!stage->n_facets)
        return 0;
    return asking_run(&searching->asking, &stage, 1, answer, err);
}

/* --- the page --- */

static bool is_corrected(const struct searching *searching)
{
    return searching->response->corrected != NULL;
}

/* Facets of what every offer has, and the tree of categories. */
static void add_standard_facets(const struct searching *searching, Torg__V1__QueryStage *stage)
{
    size_t count;
    const struct search_filter *standard = standard_filters(&count);
    struct arena *arena = searching->arena;

    if (searching->wanted.request->only_offers)
        return;
    stage->facets = arena_array(arena, 2 * count + 2, sizeof(stage->facets[0]));
    stage_facet(stage, OFFER_FIELD_CATEGORY, TORG__V1__FACET__KIND__TREE, SEARCH_TREE_COUNT, arena)
        ->sees_own_filter = true;
    for (size_t i = 0; i < count; i++)
        add_facet(searching, stage, &standard[i]);
}

/* Offers with all words, all that are found, and what the text found before it was corrected. */
static int page_stages(const struct searching *searching, Torg__V1__QueryStage **stages,
                       size_t *count, struct err *err)
{
    const struct wanted *wanted = &searching->wanted;
    int rc = wanted_stage(wanted, &stages[0], err);

    *count = 1;
    if (rc)
        return rc;
    wanted_prefer(wanted, true, stages[0]);
    likely_show(wanted, stages[0]);
    if (wanted->tier.is_some || wanted->tier.arranged) { /* they are asked for by themselves */
        stages[0]->limit = 0;
        stages[0]->cursor = (ProtobufCBinaryData){0};
    }
    if (wanted_tiers(wanted))
        rc = counted_stage(searching, &stages[(*count)++], err);
    if (rc)
        return rc;
    add_standard_facets(searching, stages[*count - 1]);
    if (!is_corrected(searching))
        return 0;
    for (int any = 0; any < 2; any++) {
        stages[*count] = count_stage(searching->sent.text, stages[0]->filter, searching->arena);
        if (any && searching->sent.is_several && !wanted->sent->all_words)
            stage_any_word(stages[*count]);
        ++*count;
    }
    return 0;
}

/* What the text was found to be about a moment ago: then its page is asked for once. */
static void recall_likely(struct searching *searching)
{
    struct wanted *wanted = &searching->wanted;

    if (wanted->sent->cursor.len) /* which brings it along */
        return;
    wanted->likely = (struct likely){0};
    if (likely_may_be(wanted) && !searching->asking.wait_count)
        votes_find(&searching->asking, wanted, &wanted->likely);
}

static int ask_page(struct searching *searching, struct err *err)
{
    Torg__V1__QueryStage *stages[PAGE_STAGE_COUNT];
    const Torg__V1__StageAnswer *answers[PAGE_STAGE_COUNT];
    int64_t began_us = clock_mono_us(searching->search->clock);
    size_t count;
    int rc;

    recall_likely(searching);
    rc = page_stages(searching, stages, &count, err);
    if (rc)
        return rc;
    rc = asking_run(&searching->asking, stages, count, answers, err);
    searching->page_us += clock_mono_us(searching->search->clock) - began_us;
    if (rc)
        return rc;
    searching->whole = answers[0];
    searching->page = answers[wanted_tiers(&searching->wanted)];
    if (is_corrected(searching)) {
        searching->sent_whole = answers[count - 2]->total;
        searching->response->corrected->original_total = answers[count - 1]->total;
    }
    return 0;
}

/* The offers with all words once more, in another order; they are counted already. */
static int ask_again(struct searching *searching, struct err *err)
{
    int64_t began_us = clock_mono_us(searching->search->clock);
    const Torg__V1__StageAnswer *answer;
    Torg__V1__StageAnswer *whole;
    Torg__V1__QueryStage *stage;
    int rc = wanted_stage(&searching->wanted, &stage, err);

    if (rc)
        return rc;
    wanted_prefer(&searching->wanted, true, stage);
    stage->no_total = true;
    rc = asking_run(&searching->asking, &stage, 1, &answer, err);
    searching->page_us += clock_mono_us(searching->search->clock) - began_us;
    if (rc)
        return rc;
    whole = MESSAGE_NEW(stage_answer, searching->arena);
    *whole = *answer;
    whole->total = searching->whole->total;
    searching->whole = whole;
    return 0;
}

/* The thing before its parts: "toyota camry" is about cars. */
static int weigh_categories(struct searching *searching, struct err *err)
{
    struct wanted *wanted = &searching->wanted;
    int rc;

    if (!likely_may_be(wanted) || wanted->likely.is_known || !searching->page->total)
        return 0;
    if (!searching->whole->total || !likely_is_settled(wanted, searching->whole)) {
        rc =
            likely_find(&searching->asking, wanted, !searching->whole->total, &wanted->likely, err);
        if (!rc && wanted->likely.count && searching->whole->n_hits)
            rc = ask_again(searching, err);
        if (rc)
            return rc;
    }
    votes_keep(&searching->asking, wanted);
    return 0;
}

/* What the page has room for behind the offers with all words. */
static int ask_rest(struct searching *searching, struct err *err)
{
    const struct wanted *wanted = &searching->wanted;
    const Torg__V1__StageAnswer *whole = searching->whole;
    Torg__V1__QueryStage *stage;
    int rc = wanted_stage(wanted, &stage, err);

    if (rc || !wanted_tiers(wanted) || whole->n_hits >= stage->limit ||
        searching->page->total <= whole->total)
        return rc;
    wanted_prefer(wanted, false, stage);
    stage_any_word(stage);
    stage->not_all = true;
    stage->no_total = true;
    stage->limit -= (uint32_t)whole->n_hits;
    stage->offset = stage->offset > whole->total ? stage->offset - (uint32_t)whole->total : 0;
    if (!wanted->tier.is_some)
        stage->cursor = (ProtobufCBinaryData){0};
    return asking_run(&searching->asking, &stage, 1, &searching->rest, err);
}

/* --- spelling --- */

static int tell_partial(struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "a shard did not answer, and what was meant may be there");
}

/* What a text finds, whatever was chosen beside it: whether a word is right does not depend on the
 * filters. */
static int count_text(struct searching *searching, const char *text, uint64_t *count,
                      struct err *err)
{
    const Torg__V1__SearchOffersRequest *request = searching->wanted.request;
    struct meaning meaning;
    Torg__V1__QueryStage *stage;
    const Torg__V1__StageAnswer *answer;
    int rc = meaning_read(text, request->keep_words, request->n_keep_words, searching->arena,
                          &meaning, err);

    if (rc)
        return rc;
    stage = count_stage(meaning.text, NULL, searching->arena);
    rc = asking_run(&searching->asking, &stage, 1, &answer, err);
    *count = rc ? 0 : answer->total;
    return rc || !searching->asking.is_partial ? rc : tell_partial(err);
}

/* The text that was sent is asked for as the page it may become, once: where that finds something,
 * spelling has cost no query. */
static int count_hits(void *arg, const char *text, uint64_t *count, struct err *err)
{
    struct searching *searching = arg;
    const Torg__V1__SearchOffersRequest *request = searching->wanted.request;
    bool is_sent = strcmp(text, request->text) == 0;
    int rc = 0;

    if (is_sent && searching->has_counted) {
        *count = searching->sent_count;
        return 0;
    }
    if (is_sent && !searching->page) {
        rc = ask_page(searching, err);
        if (rc)
            return rc;
        if (searching->asking.is_partial)
            return tell_partial(err);
        *count = searching->whole->total;
    }
    if (!is_sent || (!*count && (request->n_filters || *request->category)))
        rc = count_text(searching, text, count, err);
    if (!rc && is_sent) {
        searching->has_counted = true;
        searching->sent_count = *count;
    }
    return rc;
}

static int complete_word(void *arg, const char *word, bool is_near, const char **whole,
                         struct err *err)
{
    struct searching *searching = arg;

    return title_word_find(&searching->asking, word, is_near,
                           is_near ? 1 : SEARCH_COMPLETION_COUNT_MIN, whole, err);
}

static int find_any_word(void *arg, const char *word, bool is_near, const char **whole,
                         struct err *err)
{
    struct searching *searching = arg;

    return title_word_find(&searching->asking, word, is_near, 1, whole, err);
}

static bool may_correct(const struct searching *searching)
{
    const Torg__V1__SearchOffersRequest *request = searching->wanted.request;

    return *request->text && !request->keep_spelling && !request->offset && !request->cursor.len;
}

static void take_correction(struct searching *searching, const struct correction *correction)
{
    struct arena *arena = searching->arena;
    Torg__V1__CorrectedQuery *corrected = MESSAGE_NEW(corrected_query, arena);
    struct err err;

    if (wanted_search(&searching->wanted, correction->text, &err))
        return;

    corrected->original = searching->wanted.request->text;
    corrected->corrected = (char *)correction->text;
    corrected->reason = (char *)correction->reason;
    searching->response->corrected = corrected;
    searching->page = NULL;
}

/* A correction that finds no more than the text as it was sent, beside the filters, is taken back:
 * words that stem alike, or nothing at all. Of texts that are found in part alone as many will do:
 * another word has brought no other offers, but knows which of them come first. */
static int keep_or_undo(struct searching *searching, struct err *err)
{
    Torg__V1__SearchOffersResponse *response = searching->response;
    int rc;

    if (!is_corrected(searching) || !response->corrected->original_total ||
        searching->sent_whole < searching->whole->total)
        return 0;
    if (!searching->sent_whole && response->corrected->original_total <= searching->page->total)
        return 0;
    response->corrected = NULL;
    rc = wanted_search(&searching->wanted, searching->wanted.sent->text, err);
    return rc ? rc : ask_page(searching, err);
}

/* NULL: texts are searched as they are. */
static struct speller *speller_of(const struct searching *searching)
{
    const struct search *search = searching->search;

    return search->speller ? search->speller(search->speller_arg) : NULL;
}

/* Spelling that fails leaves the text as it is. */
static void correct(struct searching *searching)
{
    struct speller *speller = speller_of(searching);
    struct correction correction;
    struct err err;
    int64_t now_us;

    if (!speller || !may_correct(searching))
        return;
    if (!spelling_correct(speller, searching->wanted.text, count_hits, complete_word, searching,
                          searching->arena, &correction, &err) &&
        correction.text)
        take_correction(searching, &correction);
    now_us = clock_mono_us(searching->search->clock);
    put_time(searching, "spelling", now_us - searching->step_us - searching->page_us);
    searching->step_us = now_us - searching->page_us; /* told as the page's */
}

/* What words of the text choose is no good when it leaves nothing that has the others ("б/у" of
 * things that are not sold so): then a sum is what is paid ("бухгалтер от 75 000"), or they only
 * are left out. The cursor of a next page brings along what it was. */
static int choose_or_not(struct searching *searching, struct err *err)
{
    const Torg__V1__StageAnswer *whole = searching->whole, *page = searching->page;
    struct wanted before = searching->wanted;
    int rc = 0;

    if (whole->total || before.request->n_filters == before.sent->n_filters || before.tier.chooses)
        return 0;
    if (wanted_may_mean_pay(&before)) {
        rc = wanted_mean_pay(&searching->wanted, err);
        rc = rc ? rc : ask_page(searching, err);
        if (rc || searching->whole->total)
            return rc;
        searching->wanted = before;
    }
    rc = wanted_drop_meant(&searching->wanted, err);
    rc = rc ? rc : ask_page(searching, err);
    if (rc || searching->whole->total || !page->total)
        return rc;
    searching->wanted = before;
    searching->whole = whole;
    searching->page = page;
    return 0;
}

/* Nothing has any of the words: those that are like them are searched. */
static int search_nearest(struct searching *searching, struct err *err)
{
    struct correction correction = {.reason = "nearest"};
    int rc;

    /* a filter that leaves nothing does not make a word wrong */
    if (searching->page->total || !may_correct(searching) || searching->wanted.sent->all_words ||
        searching->wanted.sent->n_filters || *searching->wanted.sent->category ||
        !speller_of(searching))
        return 0;
    rc = nearest_text(searching->wanted.text, find_any_word, searching, searching->arena,
                      &correction.text, err);
    if (rc || !correction.text || strcmp(correction.text, searching->wanted.text) == 0)
        return rc;
    take_correction(searching, &correction);
    rc = ask_page(searching, err);
    if (rc || searching->page->total)
        return rc;
    searching->response->corrected = NULL;
    rc = wanted_search(&searching->wanted, searching->wanted.sent->text, err);
    return rc ? rc : ask_page(searching, err);
}

/* --- the way --- */

/* The offers of the page, and where the next one begins. */
static int fill_page(struct searching *searching, struct err *err)
{
    const struct wanted *wanted = &searching->wanted;
    int rc;

    searching->response->total = searching->page->total;
    searching->response->whole_total = searching->whole->total;
    if (arranged_is_wanted(searching->search, wanted))
        return arranged_put(&searching->asking, wanted, searching->whole, searching->response, err);
    rc = ask_rest(searching, err);
    if (!rc)
        put_offers(searching);
    return rc;
}

static int find_page(struct searching *searching, struct err *err)
{
    int rc = 0;

    correct(searching);
    if (!searching->page)
        rc = ask_page(searching, err);
    if (!rc)
        rc = keep_or_undo(searching, err);
    if (!rc)
        rc = choose_or_not(searching, err);
    if (!rc)
        rc = search_nearest(searching, err);
    if (!rc)
        rc = weigh_categories(searching, err);
    if (!rc)
        rc = fill_page(searching, err);
    if (rc)
        return rc;
    if (is_corrected(searching))
        spelling_count(searching->response->corrected->reason);
    understood_put(&searching->wanted, searching->response);
    if (searching->wanted.sent->explain)
        searching->response->ranking = order_tell(&searching->wanted);
    synonyms_tell(searching->asking.synonyms, searching->wanted.meaning.text,
                  searching->asking.kept, searching->asking.kept_count, searching->arena,
                  searching->response);
    step_done(searching, "page");
    return 0;
}

static int run(struct searching *searching, struct err *err)
{
    const Torg__V1__StageAnswer *more;
    struct found_categories found;
    struct offered_filter *offered;
    size_t count;
    int rc = find_page(searching, err);

    if (rc || searching->wanted.request->only_offers)
        return rc;
    found_categories_read(&found, &searching->wanted,
                          find_facet(searching->page, OFFER_FIELD_CATEGORY));
    found_categories_put(&found, &searching->wanted, searching->response);
    offered_choose(&searching->wanted, &found, &offered, &count);
    step_done(searching, "choice of filters");
    rc = ask_attributes(searching, offered, count, &more, err);
    if (rc)
        return rc;
    shown_put(&searching->wanted, offered, count, searching->page, more, searching->response);
    values_understand(searching->wanted.meaning.text, searching->wanted.sent->keep_words,
                      searching->wanted.sent->n_keep_words, searching->arena, searching->response);
    step_done(searching, "filters");
    return 0;
}

static int find_offers(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                       enum language language, int64_t deadline_us, bool looks, struct arena *arena,
                       Torg__V1__SearchOffersResponse *response, struct err *err)
{
    struct searching searching = {
        .search = search,
        .asking = {.search = search,
                   .arena = arena,
                   .deadline_us = deadline_us,
                   .looks = looks,
                   .wait = request->wait,
                   .wait_count = request->n_wait,
                   .seen = request->seen,
                   .kept = request->keep_words,
                   .kept_count = request->n_keep_words,
                   /* Not of a request that waits, or has done so. */
                   .old_max_seconds = request->wait ? 0 : search->old_max_seconds},
        .arena = arena,
        .step_us = clock_mono_us(search->clock),
        .response = response};
    struct catalog *catalog = search->catalog(search->catalog_arg);
    struct synonyms *synonyms = search->synonyms ? search->synonyms(search->synonyms_arg) : NULL;
    int rc = wanted_read(&searching.wanted, catalog, request, language, arena, err);

    assert(search->clock && search->ask);
    searching.wanted.ranking = search->ranking;
    searching.wanted.clicked = search->clicked;
    searching.wanted.by_clicks = search->by_clicks;
    searching.asking.synonyms = synonyms;
    response->times = arena_array(arena, STEP_COUNT, sizeof(response->times[0]));
    response->currency = arena_strdup(arena, catalog_currency(catalog));
    searching.sent = searching.wanted.meaning;
    if (!rc)
        rc = run(&searching, err);
    if (!rc && searching.asking.old_seconds)
        rc = found_leave_out_gone(search, arena, response, err);
    response->old_seconds = searching.asking.old_seconds;
    response->is_partial = searching.asking.is_partial;
    response->seen = searching.asking.seen;
    catalog_unref(catalog);
    synonyms_unref(synonyms);
    return rc;
}

int search_offers(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                  enum language language, int64_t deadline_us, struct arena *arena,
                  Torg__V1__SearchOffersResponse *response, struct err *err)
{
    return find_offers(search, request, language, deadline_us, false, arena, response, err);
}

int search_offers_look(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                       enum language language, int64_t deadline_us, struct arena *arena,
                       Torg__V1__SearchOffersResponse *response, struct err *err)
{
    return find_offers(search, request, language, deadline_us, true, arena, response, err);
}
