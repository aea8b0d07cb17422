/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - a buyer's request: offers, and filters that fit what was found.
 *
 *   request ──> spelling (where the text finds nothing, or reads wrong)
 *           ──> query: the page, standard facets, the tree of categories ──> searcher
 *           ──> the categories found ──> their attributes, weighed by hits ──> facets of those
 *           ──> searcher (facets alone) ──> answer
 *
 * An attribute gives at most one filter, named "a." and its id; standard filters have no point in
 * their names, so none can be taken for another.
 *
 * Threads: any; nothing is kept between requests.
 */
#ifndef TORG_SEARCH_SEARCH_H
#define TORG_SEARCH_SEARCH_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "catalog/catalog.h"
#include "torg/v1/search.pb-c.h"
#include "torg/v1/searcher.pb-c.h"

struct clicked;    /* search/words/clicked.h */
struct experiment; /* model/experiment.h */
struct ranking;    /* search/choices/ranking.h */
struct speller;    /* spell/speller.h */
struct synonyms;   /* search/synonyms/synonyms.h */

/* What the stage stands on; filled by its role or test, shared by all threads. */
struct search {
    const struct clock *clock;             /* borrowed */
    struct catalog *(*catalog)(void *arg); /* a reference to the one in use */
    void *catalog_arg;
    /* Asks the searcher; the answer is in the arena. deadline_us: monotonic. */
    int (*ask)(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err);
    void *ask_arg;
    /* What corrects texts; NULL, or giving NULL: nothing is corrected. */
    struct speller *(*speller)(void *arg);
    void *speller_arg;
    /* What words mean, too: a reference to the table in force; NULL: nothing. */
    struct synonyms *(*synonyms)(void *arg);
    void *synonyms_arg;
    struct clicked *clicked; /* what visitors clicked after texts; NULL: it teaches nothing */
    struct votes *votes;     /* what texts were found to be about; NULL: each page asks */
    /* An offer as every visitor may see it; ERR_NOT_FOUND: there is none that he may. */
    int (*fetch)(void *arg, const char *offer_id, struct arena *arena, Torg__V1__Offer **offer,
                 struct err *err);
    void *fetch_arg;
    /* The token that the searcher can wait for, of a token that a write gave: an offer's write is
     * waited for until there is one. *found NULL: nothing is left to wait for. */
    int (*settle)(void *arg, const char *token, int64_t deadline_us, struct arena *arena,
                  char **found, struct err *err);
    void *settle_arg;
    /* Snippets of these names and keys, by name, then key; NULL: there are none. */
    int (*snippets)(void *arg, char *const *names, size_t name_count, char *const *keys,
                    size_t key_count, const char *language, struct arena *arena,
                    Torg__V1__Snippet ***list, size_t *count, struct err *err);
    void *snippets_arg;
    const struct ranking *ranking; /* BEST: the operator's formulas; NULL: there are none */
    /* Its lists' first places are filled by both formulas in turns; NULL: none runs. */
    const struct experiment *experiment;
    const struct ranking *tried; /* the formulas of its side B */
    /* BEST that goes by clicks: of so many places one is for offers of that age at most which few
     * have looked at; 0: none is. */
    uint32_t new_every;
    int64_t new_age_us;
    uint32_t seller_cap; /* BEST: so many offers of one seller on a page, others later; 0: any */
    int64_t deadline_us; /* of a search, unless its caller wants it sooner; 0: the usual */
    uint32_t old_max_seconds; /* of the state that pages may be made of; 0: caught up or none */
    bool by_clicks;           /* BEST: what is clicked more than its category is counts for more */
    bool is_quiet;            /* a failure is told to the caller alone, and not to the log */
};

/* When a search that began then has to be answered, by what is set. */
int64_t search_deadline_us(const struct search *search, int64_t begun_us);

/* Everything of the answer is in the arena. ERR_INVALID names the field of the request. */
int search_offers(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                  enum language language, int64_t deadline_us, struct arena *arena,
                  Torg__V1__SearchOffersResponse *response, struct err *err);
/* The same, but what the request has to see is not waited for: ERR_TIMEOUT if it is not there. */
int search_offers_look(const struct search *search, const Torg__V1__SearchOffersRequest *request,
                       enum language language, int64_t deadline_us, struct arena *arena,
                       Torg__V1__SearchOffersResponse *response, struct err *err);

#endif
