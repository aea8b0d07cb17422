/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_search.c - finding categories by words of their names and synonyms.
 *
 * Words of all languages are one sorted list; the words that begin with a word of the query are a
 * run in it. A category counts when every word of the query has hit it; its score is the sum of the
 * best hit of each. For some ten thousand names that is microseconds, with no index to keep.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/catalog_parts.h"
#include "catalog/words.h"

enum {
    WEIGHT_SYNONYM = 2,
    WEIGHT_NAME = 3,
    WHOLE_WORD_BONUS = 3,   /* "дом" before "домашний" */
    WHOLE_NAME_BONUS = 100, /* the query is the name */
};

/* --- building --- */

struct indexing {
    struct loading *loading;
    struct posting *postings; /* NULL: they are only counted */
    size_t count;
};

static void index_text(struct indexing *indexing, const char *folded, uint32_t number,
                       uint32_t weight)
{
    struct bytes word;

    while (words_next(&folded, &word)) {
        if (indexing->postings)
            indexing->postings[indexing->count] = (struct posting){word, number, weight};
        indexing->count++;
    }
}

static void index_list(struct indexing *indexing, char *const *texts, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = indexing->loading->arena;

        index_text(indexing, words_fold(bytes_of(texts[i]), arena), number, WEIGHT_SYNONYM);
    }
}

static void index_all(struct indexing *indexing)
{
    const struct catalog *catalog = indexing->loading->catalog;

    indexing->count = 0;
    for (size_t i = 0; i < catalog->category_count; i++) {
        const struct category *category = catalog->categories[i];
        const Torg__V1__LocalWords *synonyms = category->message->synonyms;

        for (int language = 0; language < LANGUAGE_COUNT; language++)
            index_text(indexing, catalog->folded[i * LANGUAGE_COUNT + language], category->number,
                       WEIGHT_NAME);
        if (synonyms) {
            index_list(indexing, synonyms->ru, synonyms->n_ru, category->number);
            index_list(indexing, synonyms->en, synonyms->n_en, category->number);
        }
    }
}

static int compare_postings(const void *a, const void *b)
{
    const struct posting *first = a;
    const struct posting *second = b;
    int order = bytes_compare(first->word, second->word);

    if (order)
        return order;
    return (first->category > second->category) - (first->category < second->category);
}

void loading_index_names(struct loading *loading)
{
    struct catalog *catalog = loading->catalog;
    struct indexing indexing = {.loading = loading};
    struct arena_mark mark;

    catalog->folded = arena_array(loading->arena, catalog->category_count * LANGUAGE_COUNT + 1,
                                  sizeof(catalog->folded[0]));
    for (size_t i = 0; i < catalog->category_count; i++) {
        for (int language = 0; language < LANGUAGE_COUNT; language++)
            catalog->folded[i * LANGUAGE_COUNT + language] =
                words_fold(bytes_of(catalog->categories[i]->name.in[language]), loading->arena);
    }
    mark = arena_mark(loading->arena);
    index_all(&indexing);
    arena_rewind(loading->arena, mark);
    indexing.postings =
        arena_array(loading->arena, indexing.count + 1, sizeof(indexing.postings[0]));
    index_all(&indexing);
    catalog->postings = indexing.postings;
    catalog->posting_count = indexing.count;
    qsort(catalog->postings, catalog->posting_count, sizeof(catalog->postings[0]),
          compare_postings);
}

/* --- asking --- */

/* Of one category while a query is answered. */
struct tally {
    uint32_t score;
    uint16_t best;       /* of the word looked at */
    uint16_t word_count; /* words of the query that hit */
};

struct search {
    const struct catalog *catalog;
    const struct category *under;
    const char *query; /* folded */
    struct tally *tallies;
    const struct category **hits;
    size_t hit_count;
};

static size_t first_from(const struct catalog *catalog, struct bytes word)
{
    size_t low = 0;
    size_t high = catalog->posting_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bytes_compare(catalog->postings[middle].word, word) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* by_root: other forms of the word, and not what begins so. */
static void tally_word(struct search *search, struct bytes typed, bool by_root, uint16_t before)
{
    const struct catalog *catalog = search->catalog;
    struct bytes word = by_root ? words_root(typed) : typed;

    for (size_t i = first_from(catalog, word);
         i < catalog->posting_count && bytes_begin(catalog->postings[i].word, word); i++) {
        const struct posting *posting = &catalog->postings[i];
        struct tally *tally = &search->tallies[posting->category];
        bool whole = by_root || posting->word.size == word.size;
        uint16_t score = (uint16_t)(posting->weight + (whole ? WHOLE_WORD_BONUS : 0));

        if (by_root && !bytes_equal(words_root(posting->word), word))
            continue;
        if (tally->word_count < before) /* an earlier word has missed it */
            continue;
        if (tally->word_count == before) {
            tally->word_count++;
            tally->best = 0;
            if (!before)
                search->hits[search->hit_count++] = catalog->categories[posting->category];
        }
        if (score > tally->best) {
            tally->score += (uint32_t)(score - tally->best);
            tally->best = score;
        }
    }
}

static bool is_hit(const struct search *search, const struct category *category,
                   uint16_t word_count)
{
    return search->tallies[category->number].word_count == word_count &&
           (!search->under || category_is_within(category, search->under));
}

static int compare_hits(const void *a, const void *b, void *arg)
{
    const struct category *first = *(const struct category *const *)a;
    const struct category *second = *(const struct category *const *)b;
    const struct tally *tallies = arg;
    uint32_t one = tallies[first->number].score;
    uint32_t other = tallies[second->number].score;

    if (one != other)
        return one > other ? -1 : 1;
    if (first->depth != second->depth)
        return first->depth < second->depth ? -1 : 1;
    return first->number < second->number ? -1 : 1;
}

/* Keeps the hits of all words, the best first. */
static void rank(struct search *search, uint16_t word_count)
{
    size_t kept = 0;

    for (size_t i = 0; i < search->hit_count; i++) {
        const struct category *category = search->hits[i];
        const char **names = &search->catalog->folded[category->number * LANGUAGE_COUNT];

        if (!is_hit(search, category, word_count))
            continue;
        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            if (strcmp(names[language], search->query) == 0) {
                search->tallies[category->number].score += WHOLE_NAME_BONUS;
                break;
            }
        }
        search->hits[kept++] = category;
    }
    search->hit_count = kept;
    qsort_r(search->hits, kept, sizeof(search->hits[0]), compare_hits, search->tallies);
}

static void run(struct search *search, bool by_root, struct arena *arena)
{
    const struct catalog *catalog = search->catalog;
    const char *rest = search->query;
    uint16_t word_count = 0;
    struct bytes word;

    search->tallies = arena_array(arena, catalog->category_count + 1, sizeof(search->tallies[0]));
    search->hit_count = 0;
    while (word_count < CATALOG_QUERY_WORD_MAX && words_next(&rest, &word))
        tally_word(search, word, by_root, word_count++);
    if (word_count)
        rank(search, word_count);
}

const struct category **catalog_search(const struct catalog *catalog, struct bytes query,
                                       const struct category *under, size_t max,
                                       struct arena *arena, size_t *count)
{
    struct search search = {.catalog = catalog, .under = under};

    object_check(catalog, CATALOG_MAGIC);
    search.query = words_fold(query, arena);
    search.hits = arena_array(arena, catalog->category_count + 1, sizeof(search.hits[0]));
    run(&search, false, arena);
    if (!search.hit_count)
        run(&search, true, arena);
    *count = search.hit_count < max ? search.hit_count : max;
    return search.hits;
}

/* --- a query that is a name --- */

/* How a query may say a name. */
enum likeness { LIKE_TEXT, LIKE_FORMS /* of the same words */, LIKE_WORDS /* in any order */ };

static size_t count_word(const char *text, struct bytes root)
{
    struct bytes word;
    size_t count = 0;

    while (words_next(&text, &word))
        count += bytes_equal(words_root(word), root);
    return count;
}

/* As many words, each of them as often as the name has it. */
static bool has_the_words(const char *query, const char *name)
{
    const char *left = query, *rest = name;
    struct bytes asked, said;

    while (words_next(&left, &asked)) {
        if (!words_next(&rest, &said) ||
            count_word(query, words_root(asked)) != count_word(name, words_root(asked)))
            return false;
    }
    return !*rest;
}

static bool says_the_same(const char *query, const char *name, enum likeness likeness)
{
    struct bytes asked, said;

    if (likeness == LIKE_TEXT)
        return strcmp(query, name) == 0;
    if (likeness == LIKE_WORDS)
        return has_the_words(query, name);
    while (words_next(&query, &asked)) {
        if (!words_next(&name, &said) || !bytes_equal(words_root(asked), words_root(said)))
            return false;
    }
    return !*name;
}

/* The one of the texts that the query is; NULL: none. */
static const char *find_said(const char *query, char *const *texts, size_t count,
                             enum likeness likeness, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const char *folded = words_fold(bytes_of(texts[i]), arena);

        if (says_the_same(query, folded, likeness))
            return folded;
    }
    return NULL;
}

static const char *find_name(const struct search *search, const struct category *category,
                             enum likeness likeness, struct arena *arena)
{
    const char **names = &search->catalog->folded[category->number * LANGUAGE_COUNT];
    const Torg__V1__LocalWords *synonyms = category->message->synonyms;
    const char *said = NULL;

    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        if (says_the_same(search->query, names[language], likeness))
            return names[language];
    }
    if (synonyms)
        said = find_said(search->query, synonyms->ru, synonyms->n_ru, likeness, arena);
    if (synonyms && !said)
        said = find_said(search->query, synonyms->en, synonyms->n_en, likeness, arena);
    return said;
}

const struct category *catalog_named(const struct catalog *catalog, struct bytes query,
                                     struct arena *arena, const char **said)
{
    struct search search = {.catalog = catalog};

    object_check(catalog, CATALOG_MAGIC);
    search.query = words_fold(query, arena);
    search.hits = arena_array(arena, catalog->category_count + 1, sizeof(search.hits[0]));
    *said = NULL;
    run(&search, true, arena);
    for (enum likeness likeness = LIKE_TEXT; likeness <= LIKE_WORDS; likeness++) {
        for (size_t i = 0; i < search.hit_count; i++) {
            *said = find_name(&search, search.hits[i], likeness, arena);
            if (*said)
                return search.hits[i];
        }
    }
    return NULL;
}
