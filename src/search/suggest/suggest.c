/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.c - see suggest.h. */
#include "search/suggest/suggest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "model/offer_fields.h"
#include "query/bounds.h"
#include "search/asking/asking.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/choices/offered.h"
#include "search/suggest/completions.h"
#include "search/synonyms/synonyms.h"
#include "search/words/clicked.h"
#include "search/words/spelling.h"
#include "spell/keyboard.h"
#include "spell/transliteration.h"

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
    bool is_typed;     /* what is tried is what was typed */
    uint32_t word_max; /* words that the last one is taken to become */
    Torg__V1__SuggestResponse *response;
};

/* --- what goes on as it was typed --- */

/* All words, the last one as a beginning if it is not whole. Descriptions have no say: they speak
 * of much that is not on offer. */
static Torg__V1__QueryStage *typed_stage(const struct suggesting *suggesting, const char *text,
                                         bool is_open, bool is_named)
{
    static char *fields[] = {OFFER_FIELD_TITLE, OFFER_FIELD_WORDS};
    struct arena *arena = suggesting->arena;
    Torg__V1__QueryStage *stage = count_stage("", NULL, arena);
    Torg__V1__TextClause *clause = MESSAGE_NEW(text_clause, arena);

    clause->kind =
        is_open ? TORG__V1__TEXT_CLAUSE__KIND__PREFIX : TORG__V1__TEXT_CLAUSE__KIND__WORD;
    clause->text = (char *)text;
    clause->word_max = suggesting->word_max;
    clause->fields = fields;
    clause->n_fields = is_named ? 2 : 1; /* names of categories and values, too */
    stage->clauses = arena_array(arena, 1, sizeof(stage->clauses[0]));
    stage->clauses[0] = clause;
    stage->n_clauses = 1;
    if (suggesting->category)
        stage->filter = category_filter(suggesting->category, suggesting->catalog, arena);
    return stage;
}

/* The newest: by relevance the rarest words would come first, and here the frequent ones are
 * wanted. */
static Torg__V1__QueryStage *titles_stage(const struct suggesting *suggesting, const char *text,
                                          bool is_open)
{
    static char *shown[] = {OFFER_FIELD_TITLE};
    struct arena *arena = suggesting->arena;
    Torg__V1__QueryStage *stage = typed_stage(suggesting, text, is_open, false);
    Torg__V1__Sort *sort = MESSAGE_NEW(sort, arena);

    sort->field = (char *)OFFER_FIELD_CREATED;
    sort->descending = true;
    stage->sorts = arena_array(arena, 1, sizeof(stage->sorts[0]));
    stage->sorts[0] = sort;
    stage->n_sorts = 1;
    stage->limit = SUGGEST_TITLE_COUNT;
    stage->no_total = true;
    stage->no_cursor = true;
    stage->show = shown;
    stage->n_show = ARRAY_COUNT(shown);
    return stage;
}

static Torg__V1__QueryStage *tree_stage(const struct suggesting *suggesting, const char *text,
                                        bool is_open)
{
    struct arena *arena = suggesting->arena;
    Torg__V1__QueryStage *stage = typed_stage(suggesting, text, is_open, true);

    if (!*text)
        stage->n_clauses = 0;
    stage->facets = arena_array(arena, 1, sizeof(stage->facets[0]));
    stage_facet(stage, OFFER_FIELD_CATEGORY, TORG__V1__FACET__KIND__TREE, SEARCH_TREE_COUNT, arena)
        ->sees_own_filter = true;
    return stage;
}

/* --- queries --- */

/* A line with how much it is worth: what it finds, up to twice that when visitors clicked what it
 * found. */
struct ranked {
    Torg__V1__SuggestedQuery *query;
    double worth;
};

static int compare_count(const void *a, const void *b)
{
    const Torg__V1__SuggestedQuery *const *x = a, *const *y = b;

    if ((*x)->count != (*y)->count)
        return (*x)->count > (*y)->count ? -1 : 1;
    return strcmp((*x)->text, (*y)->text);
}

static int compare_worth(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return strcmp(x->query->text, y->query->text);
}

static void rank(struct suggesting *suggesting)
{
    Torg__V1__SuggestResponse *response = suggesting->response;
    struct ranked list[SUGGEST_COUNT_MAX + CLICKED_LINE_COUNT];

    for (size_t i = 0; i < response->n_queries; i++) {
        Torg__V1__SuggestedQuery *query = response->queries[i];

        list[i] = (struct ranked){
            query, (double)query->count * (1 + clicked_strength(suggesting->asking.search->clicked,
                                                                query->text, suggesting->arena))};
    }
    qsort(list, response->n_queries, sizeof(list[0]), compare_worth);
    for (size_t i = 0; i < response->n_queries; i++)
        response->queries[i] = list[i].query;
}

/* Folded as what visitors typed: "Wi-Fi" is "wi fi". */
static bool is_listed(const struct completion *list, size_t count, const char *text,
                      struct arena *arena)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words_fold(bytes_of(list[i].text), arena), text) == 0)
            return true;
    return false;
}

/* What visitors typed and clicked after goes on so, too. */
static size_t add_clicked(const struct suggesting *suggesting, struct completions *completions,
                          struct completion *list, size_t count)
{
    struct bytes typed = completions_typed(completions);
    const char *lines[CLICKED_LINE_COUNT];
    size_t found = clicked_lines(suggesting->asking.search->clicked,
                                 arena_text(suggesting->arena, typed), suggesting->arena, lines);

    for (size_t i = 0; i < found; i++)
        if (!is_listed(list, count, lines[i], suggesting->arena) &&
            !bytes_equal_text(typed, lines[i]))
            list[count++] = (struct completion){.text = lines[i]};
    return count;
}

static Torg__V1__SuggestedQuery *suggested(const struct suggesting *suggesting, const char *text,
                                           uint64_t count, struct bytes typed)
{
    struct arena *arena = suggesting->arena;
    Torg__V1__SuggestedQuery *query = MESSAGE_NEW(suggested_query, arena);
    struct buf html = BUF_INIT((size_t)SEARCH_TEXT_SIZE_MAX * 8);

    completion_mark(bytes_of(text), typed, &html);
    query->text = (char *)text;
    query->count = count;
    query->marked = arena_text(arena, buf_bytes(&html));
    buf_release(&html);
    return query;
}

/* A line that goes on from another and finds the same says nothing new. */
static bool is_more_of_the_same(const Torg__V1__SuggestResponse *response,
                                const Torg__V1__SuggestedQuery *query)
{
    for (size_t i = 0; i < response->n_queries; i++) {
        const Torg__V1__SuggestedQuery *other = response->queries[i];
        size_t size = strlen(other->text);

        if (other->count == query->count && strncmp(query->text, other->text, size) == 0 &&
            query->text[size] == ' ')
            return true;
    }
    return false;
}

static void keep_different(Torg__V1__SuggestResponse *response)
{
    size_t count = response->n_queries;

    qsort(response->queries, count, sizeof(response->queries[0]), compare_count);
    response->n_queries = 0;
    for (size_t i = 0; i < count; i++) { /* a shorter line of the same count is before */
        if (!is_more_of_the_same(response, response->queries[i]))
            response->queries[response->n_queries++] = response->queries[i];
    }
}

/* Each with what it finds as a search; those that find nothing are left out. */
static int put_queries(struct suggesting *suggesting, struct completions *completions,
                       struct err *err)
{
    struct completion list[SUGGEST_COUNT_MAX + CLICKED_LINE_COUNT];
    size_t count =
        add_clicked(suggesting, completions, list,
                    completions_list(completions, !suggesting->is_typed, list, suggesting->limit));
    Torg__V1__SuggestResponse *response = suggesting->response;
    Torg__V1__QueryStage *stages[QUERY_STAGE_COUNT_MAX];
    const Torg__V1__StageAnswer *answers[QUERY_STAGE_COUNT_MAX];
    int rc = 0;

    response->queries = arena_array(suggesting->arena, count + 1, sizeof(response->queries[0]));
    for (size_t i = 0; i < count && !rc; i += QUERY_STAGE_COUNT_MAX) {
        size_t n = count - i < QUERY_STAGE_COUNT_MAX ? count - i : QUERY_STAGE_COUNT_MAX;

        for (size_t k = 0; k < n; k++)
            stages[k] = count_stage(
                list[i + k].text,
                suggesting->category
                    ? category_filter(suggesting->category, suggesting->catalog, suggesting->arena)
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
    keep_different(response);
    rank(suggesting);
    if (response->n_queries > suggesting->limit)
        response->n_queries = suggesting->limit;
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

/* Those whose names were typed, then (unless only names count) those with the most hits. */
static void put_categories(struct suggesting *suggesting, const char *text,
                           const Torg__V1__StageAnswer *answer, bool only_named)
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
    for (next = only_named ? NULL : next_category(&found);
         next && response->n_categories < SUGGEST_CATEGORY_COUNT; next = next_category(&found)) {
        add_category(suggesting, &found, next);
        found.own[next->number] = 0;
    }
}

/* --- ways to read what was typed --- */

static bool swap_layout(struct bytes word, const struct letters *letters, struct letters *other)
{
    return keyboard_read(word, other) || (letters->size && keyboard_swap(letters, other));
}

static bool swap_script(struct bytes word, const struct letters *letters, struct letters *other)
{
    struct letters readings[TRANSLITERATION_COUNT_MAX];

    (void)word;
    if (!letters->size || !transliteration_read(letters, readings))
        return false;
    *other = readings[0];
    return true;
}

/* The line with every word swapped; NULL: one of them cannot be. */
static char *swap_words(const char *line, struct arena *arena,
                        bool (*swap)(struct bytes word, const struct letters *letters,
                                     struct letters *other))
{
    struct buf out = BUF_INIT((size_t)SEARCH_TEXT_SIZE_MAX * 2);
    char *text = NULL;
    bool is_other = true;

    while (*line && is_other) {
        size_t blank = strspn(line, " \t");
        size_t size = strcspn(line + blank, " \t");
        struct bytes word = bytes_make(line + blank, size);
        struct letters letters = letters_of(arena_text(arena, word));
        struct letters other = {.size = 0};

        is_other = !size || swap(word, &letters, &other);
        buf_put_raw(&out, line, blank);
        letters_print(&other, false, false, &out);
        line += blank + size;
    }
    if (is_other && out.size && !buf_failed(&out))
        text = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return text;
}

char *other_layout(const char *line, struct arena *arena)
{
    return swap_words(line, arena, swap_layout);
}

char *other_script(const char *line, struct arena *arena)
{
    return swap_words(line, arena, swap_script);
}

/* A lone letter begins a thousand words: of categories alone, by their names. */
static int try_letter(struct suggesting *suggesting, const char *letter, struct err *err)
{
    Torg__V1__QueryStage *stage = tree_stage(suggesting, "", false);
    const Torg__V1__StageAnswer *answer;
    int rc = asking_run(&suggesting->asking, &stage, 1, &answer, err);

    if (!rc)
        put_categories(suggesting, letter, answer, true);
    return rc;
}

static bool is_letter(const char *line)
{
    size_t size = strlen(line);

    return size <= 1 || (size == 2 && (uint8_t)line[0] >= 0x80);
}

/* *is_found: there is something to suggest. */
static int try_words(struct suggesting *suggesting, const char *text, bool *is_found,
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
    suggesting->response->n_queries = suggesting->response->n_categories = 0;
    if (*line && is_open && is_letter(line)) {
        *is_found = true;
        rc = try_letter(suggesting, line, err);
    } else if (*line) {
        rc = asking_run(&suggesting->asking, stages, STAGE_COUNT, answers, err);
        for (size_t i = 0; !rc && i < answers[STAGE_TITLES]->n_hits; i++)
            completions_add(completions,
                            bytes_of(hit_shown(answers[STAGE_TITLES]->hits[i], OFFER_FIELD_TITLE)));
        if (!rc)
            rc = put_queries(suggesting, completions, err);
        if (!rc) {
            put_categories(suggesting, line, answers[STAGE_TREE], false);
            *is_found = answers[STAGE_TREE]->total > 0 || suggesting->response->n_queries;
        }
    }
    completions_free(completions);
    return rc;
}

/* By the most frequent words that begin so; what none of them finds, another word may. */
static int try_text(struct suggesting *suggesting, const char *text, bool *is_found,
                    struct err *err)
{
    int rc;

    suggesting->word_max = SUGGEST_WORD_COUNT;
    rc = try_words(suggesting, text, is_found, err);
    suggesting->word_max = LEXICON_EXPAND_COUNT_MAX;
    return rc || *is_found ? rc : try_words(suggesting, text, is_found, err);
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

/* What only leaves letters out is not what was about to be typed. */
static const char *corrected(struct suggesting *suggesting)
{
    const struct search *search = suggesting->asking.search;
    struct speller *speller = search->speller ? search->speller(search->speller_arg) : NULL;
    struct correction correction = {0};
    struct err err;

    if (!speller || spelling_correct(speller, suggesting->request->text, count_hits, NULL,
                                     suggesting, suggesting->arena, &correction, &err))
        return NULL;
    return correction.text &&
                   strncmp(suggesting->request->text, correction.text, strlen(correction.text)) != 0
               ? correction.text
               : NULL;
}

/* What a synonym stands for goes on as it was typed, where the synonym does not: "велик" as
 * "велосипед". */
static int try_synonyms(struct suggesting *suggesting, bool *is_found, struct err *err)
{
    const struct synonyms *synonyms = suggesting->asking.synonyms;
    Torg__V1__SuggestResponse *response = suggesting->response, before = *response;
    const char *text = suggesting->request->text;
    struct synonym_use *uses;
    size_t count = synonyms ? synonyms_find(synonyms, text, NULL, 0, suggesting->arena, &uses) : 0;
    int rc = 0;

    suggesting->is_typed = false;
    for (size_t i = 0; count && i < uses->count && i < SUGGEST_SYNONYM_COUNT && !rc; i++) {
        bool is_other = false;

        rc = try_text(suggesting,
                      arena_printf(suggesting->arena, "%.*s%s%s", (int)uses->start, text,
                                   uses->others[i], text + uses->end),
                      &is_other, err);
        if (is_other && response->n_queries) {
            *is_found = true;
            return rc;
        }
    }
    *response = before;
    return *is_found ? 0 : rc; /* what was found as typed is an answer */
}

/* As it is, by synonyms, in the other layout, in the other script, corrected: the first that goes
 * on. */
static int run(struct suggesting *suggesting, struct err *err)
{
    enum { AS_TYPED, LAYOUT, SCRIPT, CORRECTED, WAY_COUNT };
    const char *text = suggesting->request->text;
    bool is_found = false;
    int rc = 0;

    for (int way = AS_TYPED; way < WAY_COUNT && !rc && !is_found; way++) {
        const char *read = way == AS_TYPED ? text
                           : way == LAYOUT ? other_layout(text, suggesting->arena)
                           : way == SCRIPT ? other_script(text, suggesting->arena)
                                           : corrected(suggesting);

        suggesting->is_typed = way == AS_TYPED;
        if (read)
            rc = try_text(suggesting, read, &is_found, err);
        if (!rc && way == AS_TYPED && !suggesting->response->n_queries)
            rc = try_synonyms(suggesting, &is_found, err);
    }
    return rc;
}

static int read_request(struct suggesting *suggesting, struct err *err)
{
    const Torg__V1__SuggestRequest *request = suggesting->request;

    if (strlen(request->text) > SEARCH_TEXT_SIZE_MAX)
        return err_set(err, ERR_INVALID, "text: %zu bytes, at most %d are allowed",
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
    struct synonyms *synonyms = search->synonyms ? search->synonyms(search->synonyms_arg) : NULL;
    struct suggesting suggesting = {.request = request,
                                    .catalog = catalog,
                                    .language = language,
                                    .asking = {.search = search,
                                               .arena = arena,
                                               .deadline_us = deadline_us,
                                               .synonyms = synonyms},
                                    .arena = arena,
                                    .response = response};
    int rc = read_request(&suggesting, err);

    assert(search->clock && search->ask);
    if (!rc)
        rc = run(&suggesting, err);
    catalog_unref(catalog);
    synonyms_unref(synonyms);
    return rc;
}
