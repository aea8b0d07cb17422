/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choices.h - a buyer's request, as a query of the index.
 */
#ifndef TORG_SEARCH_CHOICES_CHOICES_H
#define TORG_SEARCH_CHOICES_CHOICES_H

#include "search/bounds.h"
#include "search/choices/filters.h"
#include "search/choices/tiers.h"
#include "search/words/meaning.h"

/* What a text is most likely about (likely.h): categories, none under another. */
struct likely {
    struct likely_category {
        const struct category *category;
        unsigned percent; /* of the offers that are what was asked for */
    } list[LIKELY_CATEGORY_COUNT_MAX];
    size_t count;  /* 0: nothing stands out */
    bool is_known; /* from a search a moment ago (votes.h) */
};

/* A request, read. */
struct wanted {
    const Torg__V1__SearchOffersRequest *sent;
    /* The same, with what words of the text were understood to choose. */
    const Torg__V1__SearchOffersRequest *request;
    const char *text;             /* that is searched: the request's, or corrected */
    struct meaning meaning;       /* of it */
    const struct category *named; /* by the whole text; NULL: none */
    const char *named_by;         /* as it was typed */
    bool is_pay;                  /* sums of money in the text are salaries */
    struct likely likely;         /* by BEST their offers come sooner */
    struct tier tier;             /* where the page begins */
    const struct catalog *catalog;
    const struct category *category; /* NULL: all */
    enum language language;
    const struct ranking *ranking; /* as in search.h */
    struct clicked *clicked;       /* as in search.h */
    bool by_clicks;                /* as in search.h */
    struct arena *arena;
    const struct search_filter *chosen; /* one a choice of the request */
};

/* Checks the request's own fields. ERR_INVALID names the one at fault. */
int wanted_read(struct wanted *wanted, const struct catalog *catalog,
                const Torg__V1__SearchOffersRequest *request, enum language language,
                struct arena *arena, struct err *err);

/* Another text is searched. ERR_LIMIT: it cannot be read. */
int wanted_search(struct wanted *wanted, const char *text, struct err *err);

/* Sums of money in the text are salaries, and no prices. False: they are already, or there are
 * none, or no category has a salary. */
bool wanted_may_mean_pay(const struct wanted *wanted);
int wanted_mean_pay(struct wanted *wanted, struct err *err);

/* Nothing is chosen by words of the text. */
int wanted_drop_meant(struct wanted *wanted, struct err *err);

/* What they choose now, for the cursor of the next page. */
enum tier_chooses wanted_chooses(const struct wanted *wanted);

/* Whether offers that lack some of the words are found, too. */
static inline bool wanted_tiers(const struct wanted *wanted)
{
    return wanted->meaning.is_several && !wanted->sent->all_words;
}

/* The stage that finds the page: text, filters, order, place in the list, what is shown. */
int wanted_stage(const struct wanted *wanted, Torg__V1__QueryStage **stage, struct err *err);

/* By BEST, what counts a little more: offers of the category that the text names, words side by
 * side (of whole matches), and words that say nothing about the thing but may be in its title
 * ("продаётся студия", not "сдам студию"). */
void wanted_prefer(const struct wanted *wanted, bool is_whole, Torg__V1__QueryStage *stage);

/* "-диван" does not name what is not wanted, and quotes are about words. */
bool text_has_signs(const char *text);

/* The category and all under it, wherever they were in the versions before: documents of those that
 * were moved since have their old paths until they are composed anew. */
Torg__V1__Filter *category_filter(const struct category *category, const struct catalog *catalog,
                                  struct arena *arena);

/* What is from min to max; either may be empty. */
Torg__V1__Filter *range_filter(const char *field, const char *min, const char *max,
                               struct arena *arena);

/* The choice of this filter; NULL: none. */
const Torg__V1__FilterChoice *wanted_choice(const struct wanted *wanted, const char *id);

/* A facet of the stage; room for it is the caller's (stage->facets). */
Torg__V1__Facet *stage_facet(Torg__V1__QueryStage *stage, const char *field,
                             Torg__V1__Facet__Kind kind, uint32_t limit, struct arena *arena);

#endif
