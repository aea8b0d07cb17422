/* SPDX-License-Identifier: Apache-2.0 */
/* likely.c - see likely.h. */
#include "search/choices/likely.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/words/clicked.h"

enum { WORD_COUNT_MAX = 8, LETTER_COUNT_MIN = 2 };

/* The words of the text that may name a thing. */
struct named {
    struct bytes words[WORD_COUNT_MAX], roots[WORD_COUNT_MAX];
    size_t count;
};

static bool has_letter(struct bytes word)
{
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] >= 'a')
            return true;
    }
    return false;
}

static void read_names(struct named *named, const char *text, struct arena *arena)
{
    const char *rest = words_fold(bytes_of(text), arena);
    struct bytes word;

    named->count = 0;
    while (named->count < WORD_COUNT_MAX && words_next(&rest, &word)) {
        if (!has_letter(word) || text_length(word) < LETTER_COUNT_MIN)
            continue;
        named->words[named->count] = word;
        named->roots[named->count++] = words_root(word);
    }
}

/* What the composer took for the thing: it says that before all else, and then its last words once
 * more. */
static struct bytes head_of(const Torg__V1__Hit *hit)
{
    const char *words = hit_shown(hit, OFFER_FIELD_WORDS), *end = strstr(words, "; ");
    struct bytes head = bytes_make(words, end ? (size_t)(end - words) : 0);
    size_t again = end ? strcspn(end + 2, ";") : 0;

    if (!again || again > head.size || memcmp(end + 2, head.data + head.size - again, again) != 0)
        return BYTES_EMPTY;
    return head;
}

/* How many of the text's words are among the first `count` of this one. */
static size_t count_met(const struct named *named, struct bytes text, size_t count,
                        struct arena *arena)
{
    const char *rest = words_fold(text, arena);
    size_t met = 0;
    struct bytes word;

    while (count-- > 0 && words_next(&rest, &word)) {
        struct bytes root = words_root(word);

        for (size_t i = 0; i < named->count; i++)
            met += bytes_equal(named->roots[i], root);
    }
    return met;
}

/* How much of what was asked for the offer is: 0 to 1. */
static double thing_of(const struct named *named, const Torg__V1__Hit *hit, struct arena *arena)
{
    struct bytes head = head_of(hit), title = bytes_of(hit_shown(hit, OFFER_FIELD_TITLE));
    size_t met =
        head.size ? count_met(named, head, SIZE_MAX, arena) : count_met(named, title, 1, arena);

    return met >= named->count ? 1 : (double)met / (double)named->count;
}

static const struct category *category_of(const struct wanted *wanted, const Torg__V1__Hit *hit)
{
    const char *path = hit_shown(hit, OFFER_FIELD_CATEGORY), *last = strrchr(path, '/');

    return category_find(wanted->catalog, last ? last + 1 : path);
}

bool likely_may_be(const struct wanted *wanted)
{
    const Torg__V1__SearchOffersRequest *sent = wanted->sent;
    size_t count;

    catalog_categories(wanted->catalog, &count);
    return sent->order == TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__BEST && *wanted->meaning.text &&
           !sent->cursor.len && !wanted->named && !text_has_signs(wanted->meaning.text) &&
           count > 1 && !(sent->_limit_case && !sent->limit);
}

void likely_show(const struct wanted *wanted, Torg__V1__QueryStage *stage)
{
    char **shown = arena_array(wanted->arena, stage->n_show + 1, sizeof(*shown));

    if (!likely_may_be(wanted))
        return;
    for (size_t i = 0; i < stage->n_show; i++)
        shown[i] = stage->show[i];
    shown[stage->n_show++] = OFFER_FIELD_WORDS;
    stage->show = shown;
}

bool likely_is_settled(const struct wanted *wanted, const Torg__V1__StageAnswer *page)
{
    const struct category *first = NULL;
    struct named named;
    double things = 0;

    if (wanted->sent->offset) /* the next page goes by what the first one did */
        return false;
    read_names(&named, wanted->meaning.text, wanted->arena);
    if (!named.count || page->total == 1)
        return true;
    for (size_t i = 0; i < page->n_hits; i++) {
        const struct category *category = category_of(wanted, page->hits[i]);

        if (!category || (first && category != first))
            return !category; /* another catalogue's: nothing can be told of it */
        first = category;
        things += thing_of(&named, page->hits[i], wanted->arena) > 0;
    }
    return page->n_hits && 2 * things >= (double)page->n_hits;
}

/* --- the sample --- */

/* What offers say they are counts most. */
static void ask_for_things(Torg__V1__QueryStage *stage, const struct named *named,
                           struct arena *arena)
{
    static char *const fields[] = {OFFER_FIELD_WORDS};
    static const float boost = 4;

    stage->clauses = arena_array(arena, named->count, sizeof(stage->clauses[0]));
    for (size_t i = 0; i < named->count; i++) {
        Torg__V1__TextClause *clause = MESSAGE_NEW(text_clause, arena);

        clause->occur = TORG__V1__TEXT_CLAUSE__OCCUR__BONUS;
        clause->kind = TORG__V1__TEXT_CLAUSE__KIND__WORD;
        clause->text = arena_text(arena, named->words[i]);
        clause->fields = (char **)fields;
        clause->n_fields = ARRAY_COUNT(fields);
        clause->boost = boost;
        stage->clauses[stage->n_clauses++] = clause;
    }
}

static int sample_stage(const struct wanted *wanted, const struct named *named, bool any_word,
                        Torg__V1__QueryStage **stage, struct err *err)
{
    static char *const shown[] = {OFFER_FIELD_TITLE, OFFER_FIELD_WORDS, OFFER_FIELD_CATEGORY};
    int rc = wanted_stage(wanted, stage, err);

    if (rc)
        return rc;
    ask_for_things(*stage, named, wanted->arena);
    if (any_word)
        stage_any_word(*stage);
    (*stage)->n_sorts = 0; /* by relevance */
    (*stage)->cap = NULL;
    (*stage)->offset = 0;
    (*stage)->limit = LIKELY_SAMPLE_COUNT;
    (*stage)->no_total = (*stage)->no_cursor = true;
    (*stage)->highlight = NULL;
    (*stage)->show = (char **)shown;
    (*stage)->n_show = ARRAY_COUNT(shown);
    return 0;
}

/* How much of the thing each category has. */
struct tally {
    struct {
        const struct category *category;
        double thing;
    } list[LIKELY_SAMPLE_COUNT + CLICKED_SHARE_COUNT];
    size_t count;
    double all;
};

static void add(struct tally *tally, const struct category *category, double thing)
{
    size_t i = 0;

    while (i < tally->count && tally->list[i].category != category)
        i++;
    if (i == tally->count) {
        tally->list[tally->count].category = category;
        tally->list[tally->count++].thing = 0;
    }
    tally->list[i].thing += thing;
    tally->all += thing;
}

/* What visitors clicked after the text says a little, too: the better it is known the more, and
 * never as much as what is on sale. */
static void add_clicked(struct tally *tally, const struct wanted *wanted)
{
    const char *text = wanted->meaning.text;
    struct clicked_share list[CLICKED_SHARE_COUNT];
    size_t count = clicked_shares(wanted->clicked, text, wanted->arena, list);
    double all = (tally->all > 1 ? tally->all : 1) *
                 clicked_strength(wanted->clicked, text, wanted->arena) * CLICKED_GAIN_PERCENT /
                 100;

    for (size_t i = 0; i < count; i++) {
        const struct category *category = category_find(wanted->catalog, list[i].category);

        if (category)
            add(tally, category, all * list[i].share);
    }
}

/* Those that have a good part of it, unless most of it is elsewhere. */
static void choose(const struct tally *tally, struct likely *likely)
{
    unsigned all = 0;

    for (size_t i = 0; i < tally->count && likely->count < LIKELY_CATEGORY_COUNT_MAX; i++) {
        unsigned percent = tally->all > 0 ? (unsigned)(tally->list[i].thing * 100 / tally->all) : 0;

        if (percent < LIKELY_OWN_MIN_PERCENT)
            continue;
        likely->list[likely->count].category = tally->list[i].category;
        likely->list[likely->count++].percent = percent;
        all += percent;
    }
    if (all < LIKELY_ALL_MIN_PERCENT)
        likely->count = 0;
}

int likely_find(struct asking *asking, const struct wanted *wanted, bool any_word,
                struct likely *likely, struct err *err)
{
    struct tally tally = {0};
    const Torg__V1__StageAnswer *answer;
    Torg__V1__QueryStage *stage;
    struct named named;
    int rc;

    *likely = (struct likely){0};
    read_names(&named, wanted->meaning.text, wanted->arena);
    if (!named.count)
        return 0;
    rc = sample_stage(wanted, &named, any_word, &stage, err);
    rc = rc ? rc : asking_run(asking, &stage, 1, &answer, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < answer->n_hits && i < LIKELY_SAMPLE_COUNT; i++) {
        const struct category *category = category_of(wanted, answer->hits[i]);

        if (category)
            add(&tally, category, thing_of(&named, answer->hits[i], wanted->arena));
    }
    add_clicked(&tally, wanted);
    choose(&tally, likely);
    return 0;
}

/* --- in a cursor --- */

char *likely_put(const struct likely *likely, struct arena *arena)
{
    char *text = NULL;

    for (size_t i = 0; i < likely->count; i++) {
        const struct likely_category *each = &likely->list[i];

        text = text ? arena_printf(arena, "%s,%s %u", text, each->category->id, each->percent)
                    : arena_printf(arena, "%s %u", each->category->id, each->percent);
    }
    return text;
}

static int refuse(struct err *err)
{
    return err_set(err, ERR_INVALID,
                   "cursor: it orders by categories that are not there; begin again without it");
}

int likely_read(const struct catalog *catalog, const char *text, struct arena *arena,
                struct likely *likely, struct err *err)
{
    char *rest = arena_strdup(arena, text);

    *likely = (struct likely){0};
    for (char *each = strsep(&rest, ","); each; each = strsep(&rest, ",")) {
        char *id = strsep(&each, " ");
        const struct category *category = category_find(catalog, id);
        uint64_t percent;

        if (likely->count == LIKELY_CATEGORY_COUNT_MAX || !category || !each ||
            !text_to_u64(bytes_of(each), &percent) || percent > 100)
            return refuse(err);
        likely->list[likely->count].category = category;
        likely->list[likely->count++].percent = (unsigned)percent;
    }
    return 0;
}
