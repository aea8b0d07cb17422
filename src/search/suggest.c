/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.c - see suggest.h. */
#include "search/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "model/offer_fields.h"
#include "net/message.h"
#include "search/asking.h"
#include "search/completions.h"
#include "search/found.h"
#include "search/offered.h"
#include "search/spelling.h"
#include "spell/keyboard.h"

#define NEW(type, lower) ((Torg__V1__##type *)message_new(&torg__v1__##lower##__descriptor, arena))

enum { STAGE_TITLES, STAGE_TREE, STAGE_COUNT };

/* One request on its way. */
struct suggesting {
    const Torg__V1__SuggestRequest *request;
    const struct catalog *catalog;
    const struct category *category; /* NULL: all */
    enum language language;
    struct asking asking;
    struct arena *arena;
    size_t limit;
    Torg__V1__SuggestResponse *response;
};

/* --- what goes on as it was typed --- */

/* All words, the last one as a beginning if it is not whole. */
static Torg__V1__QueryStage *typed_stage(const struct suggesting *suggesting, const char *text,
                                         bool is_open, bool in_titles)
{
    static char *titles[] = {OFFER_FIELD_TITLE};
    struct arena *arena = suggesting->arena;
    Torg__V1__QueryStage *stage = count_stage("", NULL, arena);
    Torg__V1__TextClause *clause = NEW(TextClause, text_clause);

    clause->kind =
        is_open ? TORG__V1__TEXT_CLAUSE__KIND__PREFIX : TORG__V1__TEXT_CLAUSE__KIND__WORD;
    clause->text = (char *)text;
    if (in_titles) {
        clause->fields = titles;
        clause->n_fields = ARRAY_COUNT(titles);
    }
    stage->clauses = arena_array(arena, 1, sizeof(stage->clauses[0]));
    stage->clauses[0] = clause;
    stage->n_clauses = 1;
    if (suggesting->category)
        stage->filter = category_filter(suggesting->category, arena);
    return stage;
}

/* The newest: by relevance the rarest words would come first, and here the frequent ones are
 * wanted. */
static Torg__V1__QueryStage *titles_stage(const struct suggesting *suggesting, const char *text,
                                          bool is_open)
{
    static char *shown[] = {OFFER_FIELD_TITLE};
    struct arena *arena = suggesting->arena;
    Torg__V1__QueryStage *stage = typed_stage(suggesting, text, is_open, true);
    Torg__V1__Sort *sort = NEW(Sort, sort);

    sort->field = (char *)OFFER_FIELD_CREATED;
    sort->descending = true;
    stage->sorts = arena_array(arena, 1, sizeof(stage->sorts[0]));
    stage->sorts[0] = sort;
    stage->n_sorts = 1;
    stage->limit = SUGGEST_TITLE_COUNT;
    stage->no_total = true;
    stage->show = shown;
    stage->n_show = ARRAY_COUNT(shown);
    return stage;
}

static Torg__V1__QueryStage *tree_stage(const struct suggesting *suggesting, const char *text,
                                        bool is_open)
{
    struct arena *arena = suggesting->arena;
    Torg__V1__QueryStage *stage = typed_stage(suggesting, text, is_open, false);

    stage->facets = arena_array(arena, 1, sizeof(stage->facets[0]));
    stage_facet(stage, OFFER_FIELD_CATEGORY, TORG__V1__FACET__KIND__TREE, SEARCH_TREE_COUNT, arena)
        ->sees_own_filter = true;
    return stage;
}

/* --- queries --- */

static int compare_queries(const void *a, const void *b)
{
    const Torg__V1__SuggestedQuery *x = *(Torg__V1__SuggestedQuery *const *)a;
    const Torg__V1__SuggestedQuery *y = *(Torg__V1__SuggestedQuery *const *)b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static Torg__V1__SuggestedQuery *suggested(const struct suggesting *suggesting, const char *text,
                                           uint64_t count, struct bytes typed)
{
    struct arena *arena = suggesting->arena;
    Torg__V1__SuggestedQuery *query = NEW(SuggestedQuery, suggested_query);
    struct buf html = BUF_INIT((size_t)SEARCH_TEXT_SIZE_MAX * 8);

    completion_mark(bytes_of(text), typed, &html);
    query->text = (char *)text;
    query->count = count;
    query->marked = arena_text(arena, buf_bytes(&html));
    buf_release(&html);
    return query;
}

/* Each with what it finds as a search; those that find nothing are left out. */
static int put_queries(struct suggesting *suggesting, struct completions *completions,
                       struct err *err)
{
    struct completion list[SUGGEST_COUNT_MAX];
    size_t count = completions_list(completions, list, suggesting->limit);
    Torg__V1__SuggestResponse *response = suggesting->response;
    Torg__V1__QueryStage *stages[QUERY_STAGE_COUNT_MAX];
    const Torg__V1__StageAnswer *answers[QUERY_STAGE_COUNT_MAX];
    int rc = 0;

    response->queries = arena_array(suggesting->arena, count + 1, sizeof(response->queries[0]));
    for (size_t i = 0; i < count && !rc; i += QUERY_STAGE_COUNT_MAX) {
        size_t n = count - i < QUERY_STAGE_COUNT_MAX ? count - i : QUERY_STAGE_COUNT_MAX;

        for (size_t k = 0; k < n; k++)
            stages[k] = count_stage(list[i + k].text,
                                    suggesting->category
                                        ? category_filter(suggesting->category, suggesting->arena)
                                        : NULL,
                                    suggesting->arena);
        rc = asking_run(&suggesting->asking, stages, n, answers, err);
        for (size_t k = 0; k < n && !rc; k++) {
            if (answers[k]->total)
                response->queries[response->n_queries++] =
                    suggested(suggesting, list[i + k].text, answers[k]->total,
                              completions_typed(completions));
        }
    }
    qsort(response->queries, response->n_queries, sizeof(response->queries[0]), compare_queries);
    return rc;
}

/* --- categories --- */

static void add_category(struct suggesting *suggesting, const struct found_categories *found,
                         const struct category *category)
{
    Torg__V1__SuggestResponse *response = suggesting->response;

    if (response->n_categories == SUGGEST_CATEGORY_COUNT || !found->with_below[category->number] ||
        category == suggesting->category)
        return;
    response->categories[response->n_categories++] = found_category(
        category, found->with_below[category->number], suggesting->language, suggesting->arena);
    found->own[category->number] = 0; /* once */
}

/* Of those with offers of their own, the one with the most. */
static const struct category *next_category(const struct found_categories *found)
{
    const struct category *best = NULL;

    for (size_t i = 0; i < found->count; i++) {
        if (found->own[i] && (!best || found->own[i] > found->own[best->number]))
            best = found->list[i];
    }
    return best;
}

/* Those whose names were typed, then those with the most hits. */
static void put_categories(struct suggesting *suggesting, const char *text,
                           const Torg__V1__StageAnswer *answer)
{
    const struct wanted wanted = {.catalog = suggesting->catalog, .arena = suggesting->arena};
    Torg__V1__SuggestResponse *response = suggesting->response;
    const struct category **named;
    const struct category *next;
    struct found_categories found;
    size_t count;

    found_categories_read(&found, &wanted, find_facet(answer, OFFER_FIELD_CATEGORY));
    response->categories =
        arena_array(suggesting->arena, SUGGEST_CATEGORY_COUNT, sizeof(response->categories[0]));
    named = catalog_search(suggesting->catalog, bytes_of(text), suggesting->category,
                           SUGGEST_CATEGORY_COUNT, suggesting->arena, &count);
    for (size_t i = 0; i < count; i++)
        add_category(suggesting, &found, named[i]);
    for (next = next_category(&found); next && response->n_categories < SUGGEST_CATEGORY_COUNT;
         next = next_category(&found)) {
        add_category(suggesting, &found, next);
        found.own[next->number] = 0;
    }
}

/* --- ways to read what was typed --- */

char *other_layout(const char *line, struct arena *arena)
{
    struct buf out = BUF_INIT((size_t)SEARCH_TEXT_SIZE_MAX * 2);
    char *text = NULL;
    bool is_other = true;

    while (*line && is_other) {
        size_t blank = strspn(line, " \t");
        size_t size = strcspn(line + blank, " \t");
        struct letters letters, other = {.size = 0};

        letters = letters_of(arena_text(arena, bytes_make(line + blank, size)));
        is_other = !size || keyboard_read(bytes_make(line + blank, size), &other) ||
                   (letters.size && keyboard_swap(&letters, &other));
        buf_put_raw(&out, line, blank);
        letters_print(&other, false, false, &out);
        line += blank + size;
    }
    if (is_other && out.size && !buf_failed(&out))
        text = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return text;
}

/* *is_found: there is something to suggest. */
static int try_text(struct suggesting *suggesting, const char *text, bool *is_found,
                    struct err *err)
{
    struct completions *completions = completions_new(bytes_of(text), suggesting->arena);
    bool is_open = completions_is_open(completions);
    const char *line = arena_text(suggesting->arena, completions_typed(completions));
    Torg__V1__QueryStage *stages[STAGE_COUNT] = {
        [STAGE_TITLES] = titles_stage(suggesting, line, is_open),
        [STAGE_TREE] = tree_stage(suggesting, line, is_open)};
    const Torg__V1__StageAnswer *answers[STAGE_COUNT];
    int rc = 0;

    *is_found = false;
    if (*line) {
        rc = asking_run(&suggesting->asking, stages, STAGE_COUNT, answers, err);
        for (size_t i = 0; !rc && i < answers[STAGE_TITLES]->n_hits; i++)
            completions_add(completions,
                            bytes_of(hit_shown(answers[STAGE_TITLES]->hits[i], OFFER_FIELD_TITLE)));
        if (!rc)
            rc = put_queries(suggesting, completions, err);
        if (!rc) {
            put_categories(suggesting, line, answers[STAGE_TREE]);
            *is_found = answers[STAGE_TREE]->total > 0;
        }
    }
    completions_free(completions);
    return rc;
}

static int count_hits(void *arg, const char *text, uint64_t *count, struct err *err)
{
    struct suggesting *suggesting = arg;
    Torg__V1__QueryStage *stage = count_stage(text, NULL, suggesting->arena);
    const Torg__V1__StageAnswer *answer;
    int rc = asking_run(&suggesting->asking, &stage, 1, &answer, err);

    *count = rc ? 0 : answer->total;
    return rc;
}

static const char *corrected(struct suggesting *suggesting)
{
    const struct search *search = suggesting->asking.search;
    struct speller *speller = search->speller ? search->speller(search->speller_arg) : NULL;
    struct correction correction = {0};
    struct err err;

    if (!speller || spelling_correct(speller, suggesting->request->text, count_hits, suggesting,
                                     suggesting->arena, &correction, &err))
        return NULL;
    return correction.text;
}

static int run(struct suggesting *suggesting, struct err *err)
{
    const char *text = suggesting->request->text;
    const char *other;
    bool is_found;
    int rc = try_text(suggesting, text, &is_found, err);

    if (rc || is_found)
        return rc;
    other = other_layout(text, suggesting->arena);
    if (other)
        rc = try_text(suggesting, other, &is_found, err);
    if (rc || is_found)
        return rc;
    other = corrected(suggesting);
    return other ? try_text(suggesting, other, &is_found, err) : 0;
}

static int read_request(struct suggesting *suggesting, struct err *err)
{
    const Torg__V1__SuggestRequest *request = suggesting->request;

    if (strlen(request->text) > SEARCH_TEXT_SIZE_MAX)
        return err_set(err, ERR_INVALID, "text: %zu bytes, at most %d are taken",
                       strlen(request->text), SEARCH_TEXT_SIZE_MAX);
    if (request->limit > SUGGEST_COUNT_MAX)
        return err_set(err, ERR_INVALID, "limit: %u, at most %d are suggested", request->limit,
                       SUGGEST_COUNT_MAX);
    suggesting->limit = request->limit ? request->limit : SUGGEST_COUNT;
    if (!*request->category)
        return 0;
    suggesting->category = category_find(suggesting->catalog, request->category);
    return suggesting->category
               ? 0
               : err_set(err, ERR_INVALID, "category: there is no \"%.64s\"", request->category);
}

int search_suggest(const struct search *search, const Torg__V1__SuggestRequest *request,
                   enum language language, int64_t deadline_us, struct arena *arena,
                   Torg__V1__SuggestResponse *response, struct err *err)
{
    struct catalog *catalog = search->catalog(search->catalog_arg);
    struct suggesting suggesting = {
        .request = request,
        .catalog = catalog,
        .language = language,
        .asking = {.search = search, .arena = arena, .deadline_us = deadline_us},
        .arena = arena,
        .response = response};
    int rc = read_request(&suggesting, err);

    if (!rc)
        rc = run(&suggesting, err);
    catalog_unref(catalog);
    return rc;
}
