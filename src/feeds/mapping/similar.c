/* SPDX-License-Identifier: Apache-2.0 */
/* similar.c - see similar.h. */
#include "feeds/mapping/similar.h"

#include <assert.h>

#include "catalog/words.h"
#include "feeds/bounds.h"

/* Of a title's words an offer's title has to have, before it votes: sets of knives are no sets of
 * keys. */
static const double LIKENESS_MIN = 0.45;
/* Of all votes one category has to have. */
static const double SHARE_MIN = 0.6;
static const double FIRST_WEIGHT = 2; /* the first word says what a thing is, others whose */

enum {
    WORD_SIZE_MIN = 3, /* bytes: "и", "в" say nothing */
    TITLE_WORD_COUNT_MAX = 32,
    VOTER_COUNT_MIN = 3, /* fewer agree by chance */
    BALLOT_COUNT_MAX = FEED_SIMILAR_TITLE_COUNT * FEED_SIMILAR_COUNT,
};

struct title {
    struct bytes roots[TITLE_WORD_COUNT_MAX];
    size_t count;
};

struct ballot {
    const struct category *category;
    double votes;
    size_t voter_count;
};

struct poll {
    struct ballot ballots[BALLOT_COUNT_MAX];
    size_t count;
    double votes;
};

/* --- how alike two titles are --- */

/* Numbers of models and sizes are of one thing alone. */
static bool has_digit(struct bytes word)
{
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] >= '0' && word.data[i] <= '9')
            return true;
    }
    return false;
}

static struct title title_of(const char *text, struct arena *arena)
{
    struct title title = {.count = 0};
    const char *rest = words_fold(bytes_of(text), arena);
    struct bytes word;

    while (title.count < TITLE_WORD_COUNT_MAX && words_next(&rest, &word)) {
        if (word.size >= WORD_SIZE_MIN && !has_digit(word))
            title.roots[title.count++] = words_root(word);
    }
    return title;
}

static bool has_root(const struct title *title, struct bytes root)
{
    for (size_t i = 0; i < title->count; i++) {
        if (bytes_equal(title->roots[i], root))
            return true;
    }
    return false;
}

/* Which part of the first one's words the other has: 0 to 1. */
static double likeness_of(const struct title *title, const struct title *other)
{
    double whole = 0;
    double shared = 0;

    for (size_t i = 0; i < title->count; i++) {
        double weight = i ? 1 : FIRST_WEIGHT;

        whole += weight;
        shared += has_root(other, title->roots[i]) ? weight : 0;
    }
    return whole > 0 ? shared / whole : 0;
}

/* --- the poll --- */

static void vote(struct poll *poll, const struct category *category, double votes)
{
    size_t at = 0;

    while (at < poll->count && poll->ballots[at].category != category)
        at++;
    if (at == poll->count) {
        assert(poll->count < BALLOT_COUNT_MAX);
        poll->ballots[poll->count++] = (struct ballot){.category = category};
    }
    poll->ballots[at].votes += votes;
    poll->ballots[at].voter_count++;
    poll->votes += votes;
}

static void take_votes(struct poll *poll, const struct catalog *catalog, const char *text,
                       const struct feed_neighbour *list, size_t count, struct arena *arena)
{
    struct title title = title_of(text, arena);

    for (size_t i = 0; i < count; i++) {
        const struct category *category = category_find(catalog, list[i].category);
        struct title other = title_of(list[i].title, arena);
        double likeness = likeness_of(&title, &other);

        if (category && likeness >= LIKENESS_MIN)
            vote(poll, category, likeness);
    }
}

int feed_similar_vote(const struct feed_similar *similar, const struct catalog *catalog,
                      const char *const *titles, size_t title_count, struct arena *arena,
                      const struct category **found, struct err *err)
{
    struct poll poll = {.count = 0};

    *found = NULL;
    for (size_t i = 0; i < title_count && i < FEED_SIMILAR_TITLE_COUNT; i++) {
        struct feed_neighbour list[FEED_SIMILAR_COUNT];
        size_t count = 0;
        int rc = similar->ask(similar->arg, titles[i], similar->deadline_us, arena, list,
                              FEED_SIMILAR_COUNT, &count, err);

        if (rc)
            return rc;
        assert(count <= FEED_SIMILAR_COUNT);
        take_votes(&poll, catalog, titles[i], list, count, arena);
    }
    for (size_t i = 0; i < poll.count; i++) {
        const struct ballot *one = &poll.ballots[i];

        if (one->votes >= SHARE_MIN * poll.votes && one->voter_count >= VOTER_COUNT_MIN)
            *found = one->category;
    }
    return 0;
}
