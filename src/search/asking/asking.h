/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking.h - the calls to the searcher that one buyer's request makes: the same index, the same
 * deadline, the same tokens to wait for.
 */
#ifndef TORG_SEARCH_ASKING_ASKING_H
#define TORG_SEARCH_ASKING_ASKING_H

#include "search/search.h"
#include "torg/v1/query.pb-c.h"

struct asking {
    const struct search *search; /* borrowed */
    struct arena *arena;         /* borrowed; answers are in it */
    int64_t deadline_us;         /* monotonic */
    char **wait;                 /* borrowed; tokens of writes that have to be seen */
    size_t wait_count;
    ProtobufCBinaryData seen; /* by an answer before; then by the first of these */
    int64_t epoch;            /* of the first answer: the others are asked of the same */
    uint32_t old_max_seconds; /* of a state that may answer; 0: none may */
    bool is_partial;          /* some shard did not answer one of them */
    bool looks;               /* for the writes, and does not wait: ERR_TIMEOUT if not there */
    uint64_t old_seconds;     /* of the oldest state that answered; 0: all were caught up */
    const struct synonyms *synonyms; /* lines are expanded by them; NULL: they are not */
    char *const *kept;               /* but these words */
    size_t kept_count;
};

/* answers[i] is that of stages[i], all of one snapshot of each shard; at most
 * QUERY_STAGE_COUNT_MAX. Where no offer was ever sent they are empty. An error is as visitors may
 * read it: which searcher failed, and where it is, goes to the log. */
int asking_run(struct asking *asking, Torg__V1__QueryStage **stages, size_t count,
               const Torg__V1__StageAnswer **answers, struct err *err);

/* A stage that only counts what the line finds. */
Torg__V1__QueryStage *count_stage(const char *text, Torg__V1__Filter *filter, struct arena *arena);

/* One word of the line is enough, or one part of a word ("led-bulb"); numbers weigh less: a rare
 * size says little about the thing. */
void stage_any_word(Torg__V1__QueryStage *stage);

#endif
