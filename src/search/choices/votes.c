/* SPDX-License-Identifier: Apache-2.0 */
/* votes.c - see votes.h. */
#include "search/choices/votes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "search/bounds.h"
#include "search/choices/likely.h"

enum { VOTES_MAGIC = OBJECT_MAGIC('v', 'o', 't', 'e') };

/* Of a request: two hashes, so that none is taken for another. */
struct key {
    uint64_t place, check;
};

struct vote {
    struct key key;
    int64_t until_us; /* 0: the place is empty */
    char text[VOTE_SIZE_MAX];
};

struct votes {
    uint32_t magic;
    pthread_mutex_t lock;
    struct vote list[VOTE_COUNT]; /* guarded by lock; by key.place */
};

struct votes *votes_new(void)
{
    struct votes *votes = mem_zero(sizeof(*votes));

    object_begin(votes, VOTES_MAGIC);
    pthread_mutex_init(&votes->lock, NULL);
    return votes;
}

void votes_free(struct votes *votes)
{
    if (!votes)
        return;
    object_check(votes, VOTES_MAGIC);
    pthread_mutex_destroy(&votes->lock);
    object_end(votes, VOTES_MAGIC);
    free(votes);
}

static void add(struct key *key, struct bytes bytes)
{
    key->place = hash64_seeded(bytes, key->place);
    key->check = hash64_seeded(bytes, key->check);
}

/* With the NUL at its end, so that two texts are not one. */
static void add_text(struct key *key, const char *text)
{
    add(key, bytes_make(text, strlen(text) + 1));
}

static struct key key_of(const struct wanted *wanted)
{
    const Torg__V1__SearchOffersRequest *request = wanted->request;
    uint32_t limit = request->_limit_case ? request->limit : SEARCH_PAGE_COUNT;
    struct key key = {.place = 1, .check = 2};

    add(&key, bytes_make(&limit, sizeof(limit))); /* a short page is settled by few offers */
    add_text(&key, wanted->text);
    add_text(&key, request->category);
    for (size_t i = 0; i < request->n_keep_words; i++)
        add_text(&key, request->keep_words[i]);
    for (size_t i = 0; i < request->n_filters; i++) {
        const Torg__V1__FilterChoice *choice = request->filters[i];

        add_text(&key, choice->id);
        add_text(&key, choice->min);
        add_text(&key, choice->max);
        for (size_t k = 0; k < choice->n_values; k++)
            add_text(&key, choice->values[k]);
    }
    if (request->near) {
        const double place[] = {request->near->latitude, request->near->longitude};

        add(&key, bytes_make(place, sizeof(place)));
    }
    return key;
}

static struct vote *vote_at(struct votes *votes, const struct key *key)
{
    return &votes->list[key->place % VOTE_COUNT];
}

bool votes_find(const struct asking *asking, const struct wanted *wanted, struct likely *likely)
{
    struct votes *votes = asking->search->votes;
    struct vote vote;
    struct key key;
    struct err err;

    *likely = (struct likely){0};
    if (!votes)
        return false;
    object_check(votes, VOTES_MAGIC);
    key = key_of(wanted);
    pthread_mutex_lock(&votes->lock);
    vote = *vote_at(votes, &key);
    pthread_mutex_unlock(&votes->lock);
    if (vote.until_us <= clock_mono_us(asking->search->clock) || vote.key.place != key.place ||
        vote.key.check != key.check)
        return false;
    likely->is_known =
        !*vote.text || !likely_read(wanted->catalog, vote.text, wanted->arena, likely, &err);
    if (!likely->is_known) /* a category is gone: nor are the others told */
        *likely = (struct likely){0};
    return likely->is_known;
}

void votes_keep(const struct asking *asking, const struct wanted *wanted)
{
    const struct search *search = asking->search;
    struct votes *votes = search->votes;
    struct vote vote;
    const char *text;

    if (!votes || asking->is_partial || asking->old_seconds)
        return;
    object_check(votes, VOTES_MAGIC);
    vote = (struct vote){.until_us = clock_mono_us(search->clock) + VOTE_KEEP_MS * (int64_t)MS_US};
    text = likely_put(&wanted->likely, wanted->arena);
    if (text && strlen(text) >= sizeof(vote.text)) /* long ids: it is found out again */
        return;
    if (text)
        memcpy(vote.text, text, strlen(text) + 1);
    vote.key = key_of(wanted);
    pthread_mutex_lock(&votes->lock);
    *vote_at(votes, &vote.key) = vote;
    pthread_mutex_unlock(&votes->lock);
}
