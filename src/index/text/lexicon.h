/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon.h - the words of a shard: a form has a term (its stem) and a number within it, for ever.
 * The term dictionary.
 *
 * Segments and queries then know integers only. It is also the cache of the stemmer: a word that
 * was met before is never stemmed again. Words come from analysis.h and are only ever added; they
 * rest in one append-only file, which lexicon_sync makes durable before a segment may use an id.
 *
 * Threads: one writer adds and syncs. Any number of readers find, expand and print meanwhile, with
 * no lock: what they are given stays where it is. Tables that have been outgrown are kept until
 * lexicon_reclaim or the end. lexicon_sort may run on a thread of its own.
 */
#ifndef TORG_INDEX_TEXT_LEXICON_H
#define TORG_INDEX_TEXT_LEXICON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "index/epoch.h"
#include "index/text/analysis.h"

typedef uint32_t termid;

enum { TERMID_NONE = UINT32_MAX };
enum { FORM_NONE = UINT16_MAX };

struct lexicon;

struct lexicon_entry {
    termid term;
    uint16_t form; /* number within the term; FORM_NONE: only the stem is known */
};

/* A term that a prefix or a misspelt word may mean. */
struct lexicon_hit {
    termid term;
    uint8_t distance; /* edits; 0 for a prefix */
};

struct lexicon_sizes {
    uint32_t term_count, form_count;
    uint32_t tail_count; /* forms behind the sorted ones, scanned by every expansion */
    size_t memory_size;  /* tables kept for readers included */
    uint64_t file_size;
};

/* Opens the file, makes it if it is not there, cuts off what a crash left half written. NULL for
 * the path: a lexicon in memory alone. durable_size is what lexicon_sync once said (0: not known):
 * the file is refused if that much of it is not whole. ERR_CORRUPT names the file and the byte;
 * ERR_PRECONDITION: it was made by other rules of analysis, the index must be built anew. */
int lexicon_open(const char *path, uint64_t durable_size, struct lexicon **lexicon,
                 struct err *err);
void lexicon_close(struct lexicon *lexicon); /* NULL is fine; what was not synced may be lost */

/* Of the rules that its words came from: texts beside it go through the same (analysis_use). */
unsigned lexicon_analysis_version(const struct lexicon *lexicon);

/* ---- The writer ---- */

/* Finds the form or adds it. ERR_LIMIT when the lexicon is full. */
int lexicon_add(struct lexicon *lexicon, struct analysis *analysis, struct bytes form,
                enum script script, struct lexicon_entry *entry, struct err *err);

/* The same for each token, faster: memory is asked for many words at once. */
int lexicon_add_tokens(struct lexicon *lexicon, struct analysis *analysis,
                       const struct token *tokens, size_t count, struct lexicon_entry *entries,
                       struct err *err);

/* All that was added is durable when this returns 0; *durable_size belongs into the manifest.
 * After a failure it may be tried again; words are taken meanwhile, up to LEXICON_FRAME_SIZE_MAX of
 * them. What a failed sync has lost for good is ERR_CORRUPT: then nothing more is taken, open it
 * anew. */
int lexicon_sync(struct lexicon *lexicon, uint64_t *durable_size, struct err *err);

/* The same in three steps, so that the writer need not wait for the disk: it writes, any thread
 * waits, the writer notes the result. */
int lexicon_sync_begin(struct lexicon *lexicon, uint64_t *written_size, struct err *err);
int lexicon_sync_wait(const struct lexicon *lexicon, struct err *err);
void lexicon_sync_end(struct lexicon *lexicon, uint64_t written_size, bool is_durable);

/* ---- Readers ---- */

bool lexicon_find(const struct lexicon *lexicon, struct bytes form, struct lexicon_entry *entry);
bool lexicon_find_term(const struct lexicon *lexicon, struct bytes stem, termid *term);

/* As a query looks a word up: the form, or else the term of its stem. */
bool lexicon_resolve(const struct lexicon *lexicon, struct analysis *analysis, struct bytes form,
                     enum script script, struct lexicon_entry *entry);

/* The terms that have a form beginning with the prefix, or within `distance` edits of the word
 * (a letter put in, left out, changed, or two neighbours changed over), in order of term; the first
 * exact_count letters are as written. ERR_LIMIT, *count being max: there are more of them. */
int lexicon_prefix(const struct lexicon *lexicon, struct bytes prefix, struct lexicon_hit *hits,
                   size_t max, size_t *count, struct err *err);
/* The same where some will do, in a time that the number of words has no part in: of the sorted
 * ones the `enough` that most documents had at the last lexicon_weigh (none has half as many again
 * as any of these), of those alike the ones that came first; and, while there is room, those that
 * are not sorted yet. Before the first weighing: the max / 2 that came first, for what is met
 * often is met early. enough: at most max / 2; max: at most LEXICON_EXPAND_COUNT_MAX. */
void lexicon_prefix_some(const struct lexicon *lexicon, struct bytes prefix, size_t enough,
                         struct lexicon_hit *hits, size_t max, size_t *count);
int lexicon_fuzzy(const struct lexicon *lexicon, struct bytes word, unsigned distance,
                  size_t exact_count, struct lexicon_hit *hits, size_t max, size_t *count,
                  struct err *err);

/* How many edits to forgive in a word of so many letters: 0 to 3 none, to 7 one, then two. */
unsigned lexicon_fuzzy_distance(struct bytes word);

struct bytes lexicon_term(const struct lexicon *lexicon, termid term); /* its stem */
struct bytes lexicon_form(const struct lexicon *lexicon, struct lexicon_entry entry);
uint32_t lexicon_term_form_count(const struct lexicon *lexicon, termid term);
struct lexicon_sizes lexicon_sizes(const struct lexicon *lexicon);

/* ---- The background ---- */

/* Takes all forms into the sorted array by which expansions search. */
void lexicon_sort(struct lexicon *lexicon);
/* The same, and takes note of how many documents have each term, for lexicon_prefix_some: by term;
 * those from count on have none. */
void lexicon_weigh(struct lexicon *lexicon, const uint32_t *doc_counts, uint32_t count);

/* Frees outgrown tables once their readers have left the epoch; at once when it is NULL, and then
 * no reader may be inside. */
void lexicon_reclaim(struct lexicon *lexicon, struct epoch *epoch);

#endif
