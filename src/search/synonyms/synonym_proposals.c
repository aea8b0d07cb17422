/* SPDX-License-Identifier: Apache-2.0 */
/* synonym_proposals.c - see synonym_proposals.h. */
#include "search/synonyms/synonym_proposals.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "search/bounds.h"

enum { QUERY_WORD_COUNT_MAX = 16, HOUR_S = 3600 };

struct proposal {
    const char *from, *to; /* folded words that the other query does not have */
    const char *example;
    int64_t visits, last_hour;
};

/* --- the words that differ --- */

struct query_words {
    struct bytes words[QUERY_WORD_COUNT_MAX];
    bool is_shared[QUERY_WORD_COUNT_MAX];
    size_t count;
};

static void read_words(const char *text, struct arena *arena, struct query_words *words)
{
    const char *rest = words_fold(bytes_of(text), arena);

    *words = (struct query_words){0};
    while (words->count < QUERY_WORD_COUNT_MAX && words_next(&rest, &words->words[words->count]))
        words->count++;
}

static void share(struct query_words *a, struct query_words *b)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count && !a->is_shared[i]; k++) {
            if (!b->is_shared[k] && bytes_equal(words_root(a->words[i]), words_root(b->words[k])))
                a->is_shared[i] = b->is_shared[k] = true;
        }
    }
}

/* The words that are not shared; NULL: none, more than a rule may have, or not side by side. */
static const char *rest_of(const struct query_words *words, struct arena *arena)
{
    struct buf text = BUF_INIT(SYNONYM_TERM_SIZE_MAX);
    size_t count = 0, last = 0;
    bool is_run = true;
    const char *made = NULL;

    for (size_t i = 0; i < words->count; i++) {
        if (words->is_shared[i])
            continue;
        is_run = is_run && (!count || last + 1 == i);
        last = i;
        if (count++)
            buf_put_byte(&text, ' ');
        buf_put(&text, words->words[i]);
    }
    if (count && count <= SYNONYM_WORD_COUNT_MAX && is_run && !buf_failed(&text))
        made = arena_text(arena, buf_bytes(&text));
    buf_release(&text);
    return made;
}

/* --- the list --- */

static int compare_terms(const void *a, const void *b)
{
    const struct proposal *x = a, *y = b;
    int order = strcmp(x->from, y->from);

    if (!order)
        order = strcmp(x->to, y->to);
    if (!order)
        order = (x->visits < y->visits) - (x->visits > y->visits);
    return order;
}

static int compare_visits(const void *a, const void *b)
{
    const Torg__V1__SynonymProposal *x = *(Torg__V1__SynonymProposal *const *)a;
    const Torg__V1__SynonymProposal *y = *(Torg__V1__SynonymProposal *const *)b;

    if (x->visit_count != y->visit_count)
        return x->visit_count < y->visit_count ? 1 : -1;
    return strcmp(x->rule, y->rule);
}

static int read_pairs(struct store *store, struct arena *arena, struct proposal *list,
                      size_t *count, struct err *err)
{
    struct store_rows rows =
        store_read_rows(store,
                        "SELECT before_text, after_text, visits, last_hour FROM query_retyped "
                        "ORDER BY visits DESC LIMIT $1",
                        &STORE_V_INT(SYNONYM_PAIR_COUNT_MAX), 1);

    *count = 0;
    while (*count < SYNONYM_PAIR_COUNT_MAX && store_next(&rows)) {
        const char *before = arena_text(arena, rows.columns[0].bytes);
        const char *after = arena_text(arena, rows.columns[1].bytes);
        struct query_words a, b;
        struct proposal *proposal = &list[*count];

        read_words(before, arena, &a);
        read_words(after, arena, &b);
        share(&a, &b);
        *proposal = (struct proposal){.from = rest_of(&a, arena),
                                      .to = rest_of(&b, arena),
                                      .example = arena_printf(arena, "%s → %s", before, after),
                                      .visits = rows.columns[2].integer,
                                      .last_hour = rows.columns[3].integer};
        *count += proposal->from && proposal->to;
    }
    return store_rows_end(&rows, err);
}

/* Of pairs with the same words, the most frequent first. */
static Torg__V1__SynonymProposal *join(const struct proposal *list, size_t count,
                                       struct arena *arena)
{
    Torg__V1__SynonymProposal *made = MESSAGE_NEW(synonym_proposal, arena);
    int64_t last_hour = 0;

    made->from = (char *)list[0].from;
    made->to = (char *)list[0].to;
    made->rule = arena_printf(arena, "%s => %s", list[0].from, list[0].to);
    made->examples = arena_array(arena, SYNONYM_EXAMPLE_COUNT, sizeof(made->examples[0]));
    for (size_t i = 0; i < count; i++) {
        made->visit_count += list[i].visits;
        last_hour = list[i].last_hour > last_hour ? list[i].last_hour : last_hour;
        if (i < SYNONYM_EXAMPLE_COUNT)
            made->examples[made->n_examples++] = (char *)list[i].example;
    }
    made->last_time = moment_message(last_hour * HOUR_S * SECOND_US, arena);
    return made;
}

int synonym_proposals(struct store *store, const struct synonyms *in_force, size_t limit,
                      struct arena *arena, Torg__V1__ListSynonymProposalsResponse *response,
                      struct err *err)
{
    struct proposal *list = arena_array(arena, SYNONYM_PAIR_COUNT_MAX, sizeof(*list));
    size_t count, end;
    int rc = read_pairs(store, arena, list, &count, err);

    if (rc)
        return rc;
    qsort(list, count, sizeof(*list), compare_terms);
    response->proposals = arena_array(arena, count + 1, sizeof(response->proposals[0]));
    for (size_t i = 0; i < count; i = end) {
        Torg__V1__SynonymProposal *proposal;

        for (end = i + 1; end < count && strcmp(list[i].from, list[end].from) == 0 &&
                          strcmp(list[i].to, list[end].to) == 0;)
            end++;
        proposal = join(list + i, end - i, arena);
        if (proposal->visit_count >= SYNONYM_PROPOSAL_VISIT_MIN &&
            !synonyms_decided(in_force, proposal->from, proposal->to, arena))
            response->proposals[response->n_proposals++] = proposal;
    }
    qsort(response->proposals, response->n_proposals, sizeof(response->proposals[0]),
          compare_visits);
    if (response->n_proposals > limit)
        response->n_proposals = limit;
    return 0;
}
