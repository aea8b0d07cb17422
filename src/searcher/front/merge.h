/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - answers of several shards become the one that a single shard with all documents would
 * give: hits by their keys, then id, then shard; totals and facets summed up.
 *
 * Keywords are ordered by their texts. The second phase and the cap are done here, on the merged
 * list; a shard that capped its own list left out only what the cap leaves out here too, so as many
 * hits of each shard as the page ends at are enough, unless some have come in front of it since the
 * page before (is_short).
 */
#ifndef TORG_SEARCHER_FRONT_MERGE_H
#define TORG_SEARCHER_FRONT_MERGE_H

#include "base/arena.h"
#include "torg/v1/searcher.pb-c.h"

struct merge_part {
    uint32_t shard;
    const Torg__V1__ShardAnswer *answer;
};

/* Which hits of the merged list are the page. */
struct merge_page {
    uint32_t skip, limit;
    uint32_t asked;                  /* hits that each shard was asked for */
    const Torg__V1__HitPlace *after; /* of a capped list: those up to it are skipped; or NULL */
    uint32_t after_shard;
};

struct merge_end {
    bool has_more;                   /* hits behind the page */
    bool is_short;                   /* the page may be longer if shards are asked for more */
    uint32_t count;                  /* of parts[].last */
    const Torg__V1__HitPlace **last; /* by part: its last hit up to the page's end; NULL: none */
    uint32_t last_part;              /* which has the page's last hit */
};

/* The answer's messages are in the arena or those of the parts. */
Torg__V1__StageAnswer *merge_stage(const Torg__V1__QueryStage *query, uint32_t stage,
                                   const struct merge_part *parts, uint32_t count,
                                   const struct merge_page *page, struct arena *arena,
                                   struct merge_end *end);

/* Sums up words of several shards; NULL entries are passed. */
Torg__V1__WordCounts *merge_words(const Torg__V1__WordCounts *const *words, uint32_t count,
                                  struct arena *arena);

#endif
