/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_parts.h - the inside of an indexer, shared by its files.
 *
 * indexer.c runs rounds and commits, indexer_batch.c reads and converts, indexer_fields.c does so
 * with side fields, indexer_numbers.c has the numbers, indexer_rank.c gives them in the order of a
 * field, indexer_send.c sends, indexer_metrics.c counts.
 *
 * An indexer has a shard of the queue. An epoch's index may have more shards: several of them are
 * then fed from it (client_shards_each), each with numbers and a partition of its own.
 */
#ifndef TORG_REGISTRY_INDEXING_INDEXER_PARTS_H
#define TORG_REGISTRY_INDEXING_INDEXER_PARTS_H

#include "base/arena.h"
#include "base/metrics.h"
#include "base/object.h"
#include "config/bounds.h"
#include "registry/indexing/failed.h"
#include "registry/indexing/indexer.h"
#include "registry/indexing/lateness.h"
#include "registry/indexing/queue.h"

struct pending_failure {
    struct failed_element element;
    bool is_again; /* it was tried because it had failed before */
};

/* Writes that do not fit an epoch, of one shard of its index. */
struct late_writes {
    int64_t epoch;
    uint32_t shard;
    int64_t count;
};

/* What was sent and is not committed. Its memory is its own: batches come and go. */
struct pending {
    struct arena *arena;
    size_t element_count;
    int64_t since_us;
    struct pending_failure *failures;
    size_t failure_count, failure_capacity;
    struct bytes *left; /* keys of deleted documents: their numbers' time begins */
    size_t left_count, left_capacity;
    struct failed_element *cleared; /* of the lane failed: what was sent, or is superseded */
    size_t cleared_count, cleared_capacity;
    struct late_writes *late;
    size_t late_count, late_capacity;
};

struct indexer_metrics {
    struct counter *sent[LANE_COUNT];
    struct counter *superseded[LANE_COUNT];
    struct counter *failed[LANE_COUNT];
    struct counter *parked;
    struct counter *unfit;
    struct histogram *latency[LANE_COUNT];
    struct histogram *rounds;
    struct gauge *lag_items[LANE_COUNT];
    struct gauge *lag_seconds[LANE_COUNT];
    struct gauge *parked_count;
};

/* How far a partition of an epoch's topic goes. */
struct told_end {
    int64_t end;       /* behind the last record that was acknowledged, to any owner */
    int64_t noted_end; /* as the store has it */
    bool is_cut;       /* a record came to stand before that end: those before are lost */
};

/* What an epoch's topic has been told by this owner. */
struct told_epoch {
    int64_t epoch; /* 0: unused */
    bool is_told;  /* its schema, with so many fields */
    uint32_t field_count;
    struct told_end ends[CLIENT_SHARD_COUNT_MAX]; /* of those that are fed from here, from 0 */
};

/* The numbers of a shard of the index. */
struct shard_numbers {
    int64_t space;
    uint32_t shard;
    struct numbers *numbers; /* owned */
};

/* A shard of an epoch's index. */
struct epoch_shard {
    int64_t epoch; /* 0: none */
    uint32_t shard;
};

enum { INDEXER_MAGIC = OBJECT_MAGIC('i', 'n', 'd', 'x') };

struct indexer {
    uint32_t magic;
    const struct indexer_base *base; /* borrowed */
    const struct client_view
        *client;                 /* owned: the newest that was seen; NULL before the first round */
    struct coord_shards *shards; /* borrowed; may be NULL */
    uint32_t shard;
    uint64_t ticket;
    char name[64]; /* the client's */
    char fence[64];
    bool is_claimed;   /* the fence knows the ticket, positions and numbers are loaded */
    bool is_announced; /* each topic has had a progress of this owner */
    bool is_idle;      /* the round before has found nothing */
    struct shard_numbers *numbers; /* owned: of all numberings of the client as it is known */
    size_t number_count, number_capacity;
    int64_t committed[LANE_COUNT]; /* the offsets in the store */
    int64_t position[LANE_COUNT];  /* up to where all is sent */
    struct pending pending;
    struct told_epoch told[EPOCHS_MAX];
    struct lateness lateness; /* of the lane main */
    int64_t item_us;          /* what an element takes, about: bounds batches of backfill */
    struct ranking *ranking;  /* owned: of a shard whose numbers follow a field; NULL: none */
    int64_t numbered_epoch;   /* all its shards that are fed from here have theirs */
    struct epoch_shard pour;  /* of the epoch that is built: the shards before it are poured */
    struct epoch_shard again; /* it is poured again, and its first mark is noted */
    int64_t tend_us;          /* when its topics are looked at next; monotonic */
    struct indexer_metrics metrics;
};

enum item_state {
    ITEM_PUT,        /* to be sent */
    ITEM_REMOVE,     /* deleted, and its number is known */
    ITEM_GONE,       /* deleted, and never had a number: nothing to tell */
    ITEM_SUPERSEDED, /* what the registry has is newer, and sent by another element */
    ITEM_FIELDS,     /* changes of side fields: sent as their rows have them */
    ITEM_FAILED,
};

struct item {
    enum lane lane;
    enum item_state state;
    struct queue_element element;
    int64_t attempt_count; /* of the lane failed: before this one */
    int64_t first_us;
    struct row *row;
    struct number_ask *asks[EPOCHS_MAX]; /* its number, by place of the client's numberings ... */
    bool is_wanted[EPOCHS_MAX];          /* ... and whether it is to have one */
    const char *reason;                  /* of a failed one */
    const struct failed_element *failed; /* what the lane failed has of the key */
    Torg__V1__IndexDocument *documents[EPOCHS_MAX]; /* by place in the view; NULL: not there ... */
    bool is_unfit[EPOCHS_MAX]; /* ... since it does not fit: what the epoch has of it is older */
    Torg__V1__PutFieldsRequest *fields;        /* of ITEM_FIELDS, with ... */
    struct number_ask *field_asks[EPOCHS_MAX]; /* ... the number of each, by numbering, ... */
    const struct row *field_rows;              /* ... and the row, without its document */
};

struct batch {
    struct indexer *indexer;
    struct arena *arena;
    int64_t now_us;
    struct item *items;                  /* lanes one after the other */
    struct row *rows;                    /* as items */
    struct number_ask *asks[EPOCHS_MAX]; /* likewise, by numbering */
    size_t count;
    bool more;
    struct bytes *pks;
    bool has_stand_in;   /* an element is sent as a newer one of its key */
    uint64_t unnumbered; /* shards of the epoch that is built that wait for numbers, from 0 */
    size_t new_count;    /* keys without a number, or whose number is about to go */
};

/* The place of the epoch that is built, in the view; EPOCHS_MAX: none is. */
static inline uint32_t built_place(const struct client_view *client)
{
    for (uint32_t i = 0; client && i < client->epoch_count; i++)
        if (client->epochs[i].state == TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING)
            return i;
    return EPOCHS_MAX;
}

/* It needs a number of that numbering before it can be sent. */
static inline bool item_is_new(const struct item *item, uint32_t numbering)
{
    const struct number_ask *ask = item->asks[numbering];

    return item->state == ITEM_PUT && item->is_wanted[numbering] &&
           (ask->doc_id == NUMBER_NONE || ask->is_gone);
}

/* The first shard of the epoch's index that is fed from here. */
static inline uint32_t first_shard(const struct indexer *indexer, const struct epoch_view *epoch)
{
    return indexer->shard * client_shards_each(indexer->client, epoch);
}

/* --- indexer_batch.c --- */

/* Reads what is next. ERR_CONFLICT: the client's view is not the newest. */
int batch_gather(struct batch *batch, struct err *err);
/* Decides what becomes of each; failures are of single documents, an error of all. */
int batch_convert(struct batch *batch, struct err *err);
/* Where the lane is when the batch is done. */
int64_t batch_position(const struct batch *batch, enum lane lane);
void item_fail(struct batch *batch, struct item *item, const char *reason);

/* The rest is read by the next round. */
void batch_cut(struct batch *batch, size_t count);

/* --- indexer_numbers.c --- */

/* Those of the client's numberings, as it is known, and no others. is_new: what is open is read
 * again. */
int indexer_open_numbers(struct indexer *indexer, bool is_new, struct err *err);
void indexer_close_numbers(struct indexer *indexer);
struct numbers *indexer_numbers(const struct indexer *indexer, uint32_t numbering, uint32_t shard);
/* Looks up all of them, of whatever shard of the numbering. Memory is the arena's. */
int indexer_find_numbers(struct store_tx *tx, const struct indexer *indexer, uint32_t numbering,
                         struct number_ask **asks, size_t count, struct arena *arena,
                         struct err *err);
/* Likewise numbers_give and numbers_leave. */
int indexer_give_numbers(struct store_tx *tx, const struct indexer *indexer, uint32_t numbering,
                         struct number_ask **asks, size_t count, int64_t now_us,
                         struct arena *arena, struct err *err);
int indexer_leave_numbers(struct store_tx *tx, const struct indexer *indexer,
                          const struct bytes *keys, size_t count, int64_t now_us, struct err *err);
void indexer_settle_numbers(const struct indexer *indexer, bool is_committed);

/* --- indexer_rank.c --- */

/* Reads some more ranks of the shard, or gives some more numbers in their order; the last with a
 * note that pouring may begin. ERR_CONFLICT: the client has changed. */
int indexer_rank(struct indexer *indexer, const struct epoch_view *epoch, uint32_t shard,
                 struct arena *arena, struct err *err);
void indexer_rank_free(struct indexer *indexer);
/* Inside the transaction that reads the batch: which shards wait for that. */
int batch_find_awaited(struct store_tx *tx, struct batch *batch, struct err *err);
/* Whether the document comes to the epoch at that place of the view with its pour, and not now. */
bool item_is_awaited(const struct batch *batch, const struct item *item, uint32_t place);

/* --- indexer_fields.c --- */

/* Inside the transaction that reads the batch: what elements of side fields say, and the numbers of
 * their documents. */
int batch_join_fields(struct store_tx *tx, struct batch *batch, struct err *err);
/* The message of one to a shard of the epoch at that place of the view, in the arena; NULL: it has
 * nothing for it. */
Torg__V1__IndexFields *item_fields(const struct batch *batch, const struct item *item,
                                   uint32_t place, uint32_t shard);

/* --- indexer_tend.c --- */

/* indexer_tend, now. ERR_CONFLICT: the client has changed, and not all topics were looked at. */
int indexer_look(struct indexer *indexer, struct err *err);

/* --- indexer_send.c --- */

/* The place of what is known of an epoch's topic; empty if nothing is. */
struct told_epoch *indexer_told(struct indexer *indexer, int64_t epoch);
/* ... and of one of its partitions. */
struct told_end *indexer_told_end(struct indexer *indexer, const struct epoch_view *epoch,
                                  uint32_t shard);
/* Sends it to every epoch's topic, and returns when all is acknowledged. */
int batch_send(struct batch *batch, struct err *err);
/* One mark of a pour to a shard of the epoch at that place of the view; BEGIN is followed by the
 * schema. */
int indexer_send_mark(struct indexer *indexer, uint32_t place, uint32_t shard,
                      const Torg__V1__IndexPour *mark, uint64_t *offset, struct err *err);

/* --- indexer_metrics.c --- */

void indexer_metrics_init(struct indexer_metrics *metrics, const char *client, uint32_t shard);
void indexer_metrics_count(const struct batch *batch, int64_t begun_us);
void indexer_metrics_clear(const struct indexer_metrics *metrics);

#endif
