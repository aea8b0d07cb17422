/* SPDX-License-Identifier: Apache-2.0 */
/* title_word.c - see title_word.h. */
#include "search/asking/title_word.h"

#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "search/asking/found.h"
#include "search/bounds.h"

/* The form of a word that begins so which most of the best offers have, as their titles mark it. */
static const char *most_marked(const Torg__V1__StageAnswer *answer, struct arena *arena)
{
    const char *best = NULL;
    size_t best_count = 0;

    for (size_t i = 0; i < answer->n_hits; i++) {
        const char *word = hit_marked_word(answer->hits[i], OFFER_FIELD_TITLE, arena);
        size_t count = 0;

        for (size_t k = 0; k < answer->n_hits && word; k++) {
            const char *other = hit_marked_word(answer->hits[k], OFFER_FIELD_TITLE, arena);

            count += other && strcmp(other, word) == 0;
        }
        if (count > best_count) {
            best = word;
            best_count = count;
        }
    }
    return best;
}

int title_word_find(struct asking *asking, const char *word, bool is_near, uint64_t count_min,
                    const char **whole, struct err *err)
{
    static char *const marked[] = {OFFER_FIELD_TITLE};
    struct arena *arena = asking->arena;
    Torg__V1__QueryStage *stage = count_stage("", NULL, arena);
    Torg__V1__TextClause *clause = MESSAGE_NEW(text_clause, arena);
    const Torg__V1__StageAnswer *answer;
    int rc;

    clause->kind =
        is_near ? TORG__V1__TEXT_CLAUSE__KIND__FUZZY : TORG__V1__TEXT_CLAUSE__KIND__PREFIX;
    clause->text = (char *)word;
    clause->word_max = is_near ? 0 : SEARCH_COMPLETION_WORD_COUNT;
    clause->fields = (char **)marked;
    clause->n_fields = ARRAY_COUNT(marked);
    stage->clauses = arena_array(arena, 1, sizeof(stage->clauses[0]));
    stage->clauses[0] = clause;
    stage->n_clauses = 1;
    stage->limit = SEARCH_COMPLETION_COUNT;
    stage->highlight = MESSAGE_NEW(highlight, arena);
    stage->highlight->fields = (char **)marked;
    stage->highlight->n_fields = ARRAY_COUNT(marked);
    rc = asking_run(asking, &stage, 1, &answer, err);
    *whole = !rc && answer->total >= count_min ? most_marked(answer, arena) : NULL;
    return rc;
}
