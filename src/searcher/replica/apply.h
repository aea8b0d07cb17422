/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h - messages of an index topic become changes of a shard.
 *
 *   IndexMessage ── ticket too low? ──> left alone; of other numbers (T.S.V)? ──> refused
 *        ├ schema ──> shard_add_field        numbers of fields are their places in the shard
 *        ├ put ──> texts as they were? ── yes ──> shard_change_all: columns, no text is indexed
 *        │                              └ no ───> shard_put
 *        ├ remove ──> shard_remove
 *        ├ fields ──> shard_change of the documents that exist and have that owner
 *        ├ pour ──> of a shard that lacks what came before: BEGIN is where it starts, END makes it
 *        │          whole
 *        └ progress ──> how far the lanes are, shown with the batch
 *
 * Field number n has id n + 1 of the shard: ids 0 and 1 are the hidden _pk and _version. So a
 * restart in the middle of the topic knows the numbers without having seen the schema's message.
 *
 * Threads: the shard's apply thread alone.
 */
#ifndef TORG_SEARCHER_REPLICA_APPLY_H
#define TORG_SEARCHER_REPLICA_APPLY_H

#include "base/arena.h"
#include "index/shard/shard.h"
#include "searcher/replica/progress.h"

struct apply_counts {
    uint64_t put_count;     /* texts were indexed */
    uint64_t change_count;  /* columns and stored fields alone */
    uint64_t remove_count;  /* documents that were there */
    uint64_t field_count;   /* documents whose side fields were changed */
    uint64_t stale_count;   /* left alone: the sender had been replaced */
    uint64_t skipped_count; /* left alone: before the pour that an empty shard begins with */
    uint64_t foreign_count; /* left alone: removals, or side fields, of a number that has another
                               owner by now, or none */
};

struct applier;

/* Reads the note, adds the hidden fields. The shard is borrowed. */
int applier_new(struct shard *shard, struct applier **applier, struct err *err);
/* T.S.V of the numbers that its documents have: messages of others are refused (ERR_PRECONDITION).
 * T 0: those of the first message that tells them. */
void applier_set_numbers(struct applier *applier, const uint32_t numbers[3]);
void applier_free(struct applier *applier); /* before the shard; NULL is fine */

/* One message. A failure that applier_is_final says is the message's own: it changed nothing, and
 * would fail again. pk (may be NULL) tells of whom it was, in the arena. */
int applier_apply(struct applier *applier, struct bytes message, struct arena *arena,
                  const char **pk, struct err *err);
bool applier_is_final(int rc);
/* The number of the document that the last message was about; UINT32_MAX: about none. */
uint32_t applier_last_id(const struct applier *applier);
/* The version and the moment of the write that the last message puts or removes a document by,
 * refused or not; 0 and 0: it is no such message, or cannot be read. */
void applier_last_order(const struct applier *applier, int64_t *version, int64_t *modify_us);

/* Those of its documents that a message of side fields failed for; the others have got theirs. In
 * the arena of the message. */
struct apply_refusal {
    const char *pk;
    int64_t version, modify_us; /* 0 and 0: not told */
    const char *reason;
};
const struct apply_refusal *applier_refused(const struct applier *applier, size_t *count);

/* The last message was the beginning of another pour than the one that the shard waits for the end
 * of: it is to be left, without content, and begun anew at this message. */
bool applier_is_overtaken(const struct applier *applier);
/* The last message was the end of a pour: what lies before it may leave the topic soon. */
bool applier_has_poured(const struct applier *applier);

/* Shows everything since the last call. ERR_UNAVAILABLE: it is shown, and the shard has no room for
 * more. */
int applier_publish(struct applier *applier, uint64_t offset, struct err *err);
/* The same; a restart goes on at the offset with that progress, which may be behind. */
int applier_publish_at(struct applier *applier, uint64_t offset, const struct progress *progress,
                       struct err *err);

/* Of what is applied, published or not. */
struct progress *applier_progress(struct applier *applier);
const struct apply_counts *applier_counts(const struct applier *applier);

/* Living documents of the last publication; 0 while the shard is not served. */
uint32_t applier_doc_count(struct applier *applier);

#endif
