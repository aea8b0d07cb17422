/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - where a page ended, so that the next one goes on behind it (keyset pagination): the
 * one form of it, for a shard alone, for an index of many, and for a buyer's page.
 *
 * Holds the last hit's place in each shard, the counts of words and lengths that its scores were
 * computed with (so that the order does not move with merges), the time its ages were (nor with
 * that), and a hash of the query: a cursor of another query is refused. Keywords are told by their
 * texts: their ranks move with each new one. A capped list is walked from its beginning, so its
 * cursor also has how deep the last hit was.
 *
 *     version u8 | text | query hash u64 | epoch | depth | now | places | words | sum u64
 *     text:  0 | size, hash of what was sent u64, bytes
 *     place: shard, keys (size of the text + 1, its bytes | 0, number), id
 *     words: documents, count, words, lengths of each text field (sum, documents) if there are any
 *     word:  size, bytes, documents                         numbers are varints unless said
 *
 * The sum tells one that was cut from one that is whole; it is no seal, and what a cursor says is
 * checked as any input. One of another version is refused: the caller begins again.
 */
#ifndef TORG_QUERY_RUN_CURSOR_H
#define TORG_QUERY_RUN_CURSOR_H

#include "query/query.h"

struct cursor_place {
    uint32_t shard;
    struct query_place place;
};

struct page_cursor {
    uint64_t query_hash;
    int64_t epoch;                     /* of the index; a shard alone has none: 0 */
    uint32_t depth;                    /* hits of the list up to and with the last one */
    int64_t now;                       /* of the first page */
    const struct cursor_place *places; /* the last hit of each shard that had any; of a capped list
                                          the very last alone */
    uint32_t place_count;
    struct query_words words; /* none: scores are computed with counts of then */
};

/* Words that do not fit, or are more than QUERY_CURSOR_WORD_COUNT_MAX, are left out. Empty: the
 * rest does not fit QUERY_CURSOR_SIZE_MAX, so there is no next page. */
struct bytes cursor_encode(const struct page_cursor *cursor, struct arena *arena);

/* ERR_INVALID when the bytes are not a cursor, or one of another query. Texts are in the bytes. */
int cursor_decode(struct bytes bytes, uint64_t query_hash, struct arena *arena,
                  struct page_cursor *cursor, struct err *err);

/* A next page has to search the text that the first one did. Where that was corrected, the cursor
 * brings it along, so that a client may send the text as it was typed again.
 * sent: the text of the request; searched: the same pointer, or what it was corrected to. */
struct bytes cursor_with_text(struct bytes cursor, const char *sent, const char *searched,
                              struct arena *arena);

/* The text to be searched for a request with this one. A text that is neither the one sent nor the
 * one searched then stays: the cursor is refused, as one of another query. An empty cursor is that
 * of a first page. */
int cursor_text(struct bytes cursor, const char *sent, struct arena *arena, const char **text,
                struct err *err);

/* Of everything that decides which hits there are and in which order. */
uint64_t query_hash(const struct query_plan *plan, const struct query_stage *stage);

#endif
