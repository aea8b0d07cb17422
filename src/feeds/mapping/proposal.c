/* SPDX-License-Identifier: Apache-2.0 */
/* proposal.c - see proposal.h. */
#include "feeds/mapping/proposal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/words.h"
#include "feeds/bounds.h"

enum {
    FEED_PROPOSER_MAGIC = OBJECT_MAGIC('f', 'p', 'r', 'o'),
    WORD_COUNT_MAX = 64, /* looked at of one category of a feed */
    WORD_SIZE_MIN = 3,   /* bytes: "и", "в" say nothing */
};

/* What a word of the feed's name weighs, beside one of a title and one of a name above. */
static const double NAME_WEIGHT = 4;
static const double TITLE_WEIGHT = 2;
static const double ABOVE_WEIGHT = 0.6;
/* And where it stands in the catalogue. */
static const double OWN_NAME = 1;
static const double OWN_SYNONYM = 1.2; /* one thing, said for this very purpose */
static const double PARENT_NAME = 0.15;
/* Less than one rare word of a title is no proposal. */
static const double SCORE_MIN = 4;

struct posting {
    struct bytes root;
    uint32_t category; /* its number */
    float weight;
};

struct feed_proposer {
    uint32_t magic;
    const struct catalog *catalog; /* borrowed */
    struct arena *arena;           /* owned */
    struct arena *scratch;         /* owned: of one question */
    struct posting *postings;      /* sorted by root, then category; the best weight of each pair */
    size_t posting_count;
    size_t posting_max;
    size_t category_count;
    double *scores;     /* owned; by category's number */
    double *own_scores; /* owned; of the name's words alone */
};

/* --- the catalogue's words --- */

static void add_text(struct feed_proposer *proposer, const char *text, uint32_t category,
                     double weight)
{
    const char *rest = words_fold(bytes_of(text), proposer->arena);
    struct bytes word;

    while (words_next(&rest, &word)) {
        struct posting *longer = proposer->postings;

        if (word.size < WORD_SIZE_MIN)
            continue;
        if (proposer->posting_count == proposer->posting_max) {
            proposer->posting_max = proposer->posting_max ? 2 * proposer->posting_max : 1024;
            longer = mem_resize(longer, proposer->posting_max * sizeof(*longer));
        }
        proposer->postings = longer;
        longer[proposer->posting_count++] =
            (struct posting){words_root(word), category, (float)weight};
    }
}

static void add_category(struct feed_proposer *proposer, const struct category *category)
{
    const Torg__V1__LocalWords *synonyms = category->message->synonyms;

    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        add_text(proposer, category->name.in[language], category->number, OWN_NAME);
        for (const struct category *up = category->parent; up; up = up->parent)
            add_text(proposer, up->name.in[language], category->number, PARENT_NAME);
    }
    for (size_t i = 0; synonyms && i < synonyms->n_ru; i++)
        add_text(proposer, synonyms->ru[i], category->number, OWN_SYNONYM);
    for (size_t i = 0; synonyms && i < synonyms->n_en; i++)
        add_text(proposer, synonyms->en[i], category->number, OWN_SYNONYM);
}

static int compare_postings(const void *a, const void *b)
{
    const struct posting *first = a;
    const struct posting *second = b;
    int order = bytes_compare(first->root, second->root);

    if (order)
        return order;
    if (first->category != second->category)
        return first->category < second->category ? -1 : 1;
    return (first->weight < second->weight) - (first->weight > second->weight);
}

static void keep_best(struct feed_proposer *proposer)
{
    size_t kept = 0;

    if (proposer->posting_count)
        qsort(proposer->postings, proposer->posting_count, sizeof(*proposer->postings),
              compare_postings);
    for (size_t i = 0; i < proposer->posting_count; i++) {
        const struct posting *one = &proposer->postings[i];

        if (kept && proposer->postings[kept - 1].category == one->category &&
            bytes_equal(proposer->postings[kept - 1].root, one->root))
            continue;
        proposer->postings[kept++] = *one;
    }
    proposer->posting_count = kept;
}

struct feed_proposer *feed_proposer_new(const struct catalog *catalog)
{
    struct feed_proposer *proposer = mem_zero(sizeof(*proposer));
    const struct category *const *categories;

    object_begin(proposer, FEED_PROPOSER_MAGIC);
    proposer->catalog = catalog;
    proposer->arena = arena_new();
    proposer->scratch = arena_new();
    categories = catalog_categories(catalog, &proposer->category_count);
    for (size_t i = 0; i < proposer->category_count; i++)
        add_category(proposer, categories[i]);
    keep_best(proposer);
    proposer->scores = mem_zero((proposer->category_count + 1) * sizeof(double));
    proposer->own_scores = mem_zero((proposer->category_count + 1) * sizeof(double));
    return proposer;
}

void feed_proposer_free(struct feed_proposer *proposer)
{
    if (!proposer)
        return;
    object_check(proposer, FEED_PROPOSER_MAGIC);
    free(proposer->postings);
    free(proposer->scores);
    free(proposer->own_scores);
    arena_free(proposer->scratch);
    arena_free(proposer->arena);
    object_end(proposer, FEED_PROPOSER_MAGIC);
    free(proposer);
}

/* --- a question --- */

struct asked {
    struct bytes roots[WORD_COUNT_MAX];
    double weights[WORD_COUNT_MAX];
    bool is_name[WORD_COUNT_MAX];
    size_t count;
};

static void ask_word(struct asked *asked, struct bytes word, double weight, bool is_name)
{
    struct bytes root = words_root(word);

    if (word.size < WORD_SIZE_MIN)
        return;
    for (size_t i = 0; i < asked->count; i++) {
        if (bytes_equal(asked->roots[i], root)) {
            asked->weights[i] += weight;
            return;
        }
    }
    if (asked->count == WORD_COUNT_MAX)
        return;
    asked->roots[asked->count] = root;
    asked->is_name[asked->count] = is_name;
    asked->weights[asked->count++] = weight;
}

static void ask_text(struct feed_proposer *proposer, struct asked *asked, struct bytes text,
                     double weight, bool is_name)
{
    const char *rest = words_fold(text, proposer->scratch);
    struct bytes word;

    while (words_next(&rest, &word))
        ask_word(asked, word, weight, is_name);
}

/* The last name apart from what stands above it. */
static struct bytes last_name(struct bytes path, struct bytes *above)
{
    size_t at = path.size;

    while (at && !strchr("/>\\|", path.data[at - 1]))
        at--;
    *above = bytes_make(path.data, at);
    return bytes_skip(path, at);
}

static size_t first_of(const struct feed_proposer *proposer, struct bytes root)
{
    size_t low = 0;
    size_t high = proposer->posting_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bytes_compare(proposer->postings[middle].root, root) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void score(struct feed_proposer *proposer, const struct asked *asked)
{
    memset(proposer->scores, 0, proposer->category_count * sizeof(double));
    memset(proposer->own_scores, 0, proposer->category_count * sizeof(double));
    for (size_t i = 0; i < asked->count; i++) {
        size_t from = first_of(proposer, asked->roots[i]);
        size_t to = from;
        double rarity;

        while (to < proposer->posting_count &&
               bytes_equal(proposer->postings[to].root, asked->roots[i]))
            to++;
        if (from == to)
            continue;
        rarity = log(1 + (double)proposer->category_count / (double)(to - from));
        for (size_t j = from; j < to; j++) {
            const struct posting *posting = &proposer->postings[j];
            double more = asked->weights[i] * rarity * posting->weight;

            proposer->scores[posting->category] += more;
            if (asked->is_name[i])
                proposer->own_scores[posting->category] += more;
        }
    }
}

static struct feed_proposal best_of(const struct feed_proposer *proposer)
{
    struct feed_proposal proposal = {0};
    const struct category *const *categories = catalog_categories(proposer->catalog, &(size_t){0});
    size_t best = 0;

    for (size_t i = 1; i < proposer->category_count; i++) {
        if (proposer->scores[i] > proposer->scores[best])
            best = i;
    }
    if (!proposer->category_count || proposer->scores[best] < SCORE_MIN)
        return proposal;
    proposal.category = categories[best];
    proposal.by = proposer->own_scores[best] > 0 ? FEED_BY_WORDS : FEED_BY_TITLES;
    return proposal;
}

struct feed_proposal feed_propose(struct feed_proposer *proposer, struct bytes path,
                                  const char *const *titles, size_t title_count)
{
    struct bytes above;
    struct bytes name = last_name(path, &above);
    struct asked asked = {.count = 0};
    const char *said;

    object_check(proposer, FEED_PROPOSER_MAGIC);
    arena_reset(proposer->scratch);
    if (name.size && name.size <= CATALOG_QUERY_SIZE_MAX) {
        const struct category *named =
            catalog_named(proposer->catalog, name, proposer->scratch, &said);

        if (named)
            return (struct feed_proposal){named, FEED_BY_NAME};
    }
    ask_text(proposer, &asked, name, NAME_WEIGHT, true);
    for (size_t i = 0; i < title_count; i++)
        ask_text(proposer, &asked, bytes_of(titles[i]), TITLE_WEIGHT / (double)title_count, false);
    ask_text(proposer, &asked, above, ABOVE_WEIGHT, false);
    score(proposer, &asked);
    return best_of(proposer);
}

/* --- what its goods must say --- */

/* Whether the words of the name stand in the text one behind the other, whole. Both are folded. */
static bool has_words(const char *text, const char *name)
{
    size_t size = strlen(name);
    const char *at = size ? strstr(text, name) : NULL;

    while (at) {
        if ((at == text || at[-1] == ' ') && (!at[size] || at[size] == ' '))
            return true;
        at = strstr(at + 1, name);
    }
    return false;
}

static bool is_said(const struct attribute_option *option, const char *path,
                    const char *const *titles, size_t title_count, struct arena *arena)
{
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        const char *name = words_fold(bytes_of(option->name.in[language]), arena);
        size_t said = 0;

        if (has_words(words_fold(bytes_of(path), arena), name))
            return true;
        while (said < title_count && has_words(words_fold(bytes_of(titles[said]), arena), name))
            said++;
        if (title_count && said == title_count)
            return true;
    }
    return false;
}

const char *feed_propose_options(const struct category *category, const char *path,
                                 const char *const *titles, size_t title_count, struct arena *arena)
{
    const char *settings = "";

    for (size_t i = 0; i < category->attribute_count; i++) {
        const struct attribute *attribute = category->attributes[i];
        const struct attribute_option *said = NULL;

        for (size_t j = 0; attribute->required && !said && j < attribute->option_count; j++) {
            if (is_said(attribute->options[j], path, titles, title_count, arena))
                said = attribute->options[j];
        }
        if (said)
            settings = arena_printf(arena, "%s%s%s=%s", settings, *settings ? "; " : "",
                                    attribute->id, said->id);
    }
    return settings;
}

const char *feed_proposal_name(enum feed_proposal_by by)
{
    static const char *const names[] = {"", "name", "words", "titles", "offers"};

    return names[by];
}
