/* SPDX-License-Identifier: Apache-2.0 */
/* verify_parts.h - what the checks share; only for verify*.c. */
#ifndef TORG_INSPECT_VERIFY_VERIFY_PARTS_H
#define TORG_INSPECT_VERIFY_VERIFY_PARTS_H

#include "inspect/inspect.h"
#include "inspect/verify/verify.h"
#include "registry/indexing/queue.h"
#include "registry/receiving/order.h"

enum { SUSPECT_TEXT_SIZE = 240, SUSPECT_PAGE_COUNT = 500 };

/* How far a change of an offer that is missed in the registry must have come by now. */
enum chain_stage {
    CHAIN_EXPORT,  /* it may wait in the outbox */
    CHAIN_COMPOSE, /* all that the outbox had lies below `mark` in offer-updates */
    CHAIN_RECEIVE, /* all that the composer had read lies below `mark` in documents */
    CHAIN_OVER,    /* everything was received: what is still missing will not come */
};

/* Something that is compared: a document, a number, or an element of the queue. */
struct suspect {
    struct bytes pk; /* empty: not known */
    uint32_t doc_id; /* NUMBER_NONE: not known */
    bool is_seen;
    struct order seen; /* of the row at the first look */
    bool was_alive;
    struct order now;             /* of the row at the last look */
    struct order base;            /* ... and when it began to be waited for what the queue had */
    int64_t ahead;                /* the index's version, newer than the row's of that look; 0 */
    bool is_news;                 /* ... and no earlier look had it: the row may just be older */
    bool is_stable;               /* the difference cannot settle: no second look */
    bool is_final;                /* all that the queue had is past: it will not settle */
    bool is_parked;               /* it stands in a list with its reason: nothing is to be done */
    bool with_content;            /* what it says is compared, too */
    enum chain_stage stage;       /* of an offer's */
    uint64_t mark;                /* likewise */
    const char *reason;           /* one word, static; NULL: any */
    char text[SUSPECT_TEXT_SIZE]; /* what differs; "": nothing */
};

struct verify_kind;

struct verifying {
    const struct inspect *inspect;
    const struct verify_kind *kind;
    const Torg__V1__VerifyCheck *check;
    const struct client_view *client; /* borrowed; NULL: there is none yet (OFFERS alone) */
    struct numbering numbering;       /* of the check's epoch, or of the one that serves; the
                                       * check's shard is of it, but for QUEUE and OFFERS */
    uint32_t queue_shard;             /* that feeds it */
    struct bytes cursor;
    const struct verify_by *by;
    bool fix;
    int64_t deadline_us;
    struct arena *arena;
    struct suspect *suspects; /* SUSPECT_PAGE_COUNT at most */
    size_t count;
    uint64_t checked_count;
    bool with_content; /* of the page: what documents say is compared, too */
    struct bytes next; /* cursor of the next page; empty: this is the last */
    void *page;        /* of the kind's own */
};

struct verify_kind {
    /* Names the suspects of the page, and the next page. */
    int (*page)(struct verifying *verifying, struct err *err);
    /* Tells what differs; suspects that agreed before are gone. */
    int (*look)(struct verifying *verifying, struct err *err);
    /* Puts right what is told of the suspects, all of them stable; *is_fixed of each. NULL: their
     * documents are queued again, unless they are on their way in the queue. */
    int (*fix)(struct verifying *verifying, bool *is_fixed, struct err *err);
};

extern const struct verify_kind verify_offers;
extern const struct verify_kind verify_registry;
extern const struct verify_kind verify_numbers;
extern const struct verify_kind verify_queue;
extern const struct verify_kind verify_index;
extern const struct verify_kind verify_files;
extern const struct verify_kind verify_content;

struct suspect *suspect_add(struct verifying *verifying, struct bytes pk, uint32_t doc_id);
/* The first text that is told of a suspect stays. */
void suspect_tell(struct suspect *suspect, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, with the word that it is counted by. */
void suspect_blame(struct suspect *suspect, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* verify_index_fix.c: takes out of the index what is under a number that is not its own. */
int verify_index_fix(struct verifying *verifying, bool *is_fixed, struct err *err);
/* verify_index_content.c: blames those whose document in the index says something else than the
 * registry's, at the same version. documents, slots: by place of the suspect; NULL: not asked for.
 */
struct slot_read;
int verify_index_content(struct verifying *verifying, Torg__V1__IndexedDocument *const *documents,
                         const struct slot_read *const *slots, struct err *err);
/* verify_offers_fix.c: see verify_kind. */
int verify_offers_fix(struct verifying *verifying, bool *is_fixed, struct err *err);

/* The newest element of each lane of the shard. */
struct lane_ends {
    int64_t idx[LANE_COUNT];
};

/* is_empty: nothing waits. */
int lanes_read(const struct verifying *verifying, struct lane_ends *ends, bool *is_empty,
               struct err *err);
/* Whether the indexer has dealt with everything up to there. */
int lanes_passed(const struct verifying *verifying, const struct lane_ends *ends, bool *is_passed,
                 struct err *err);
/* Whether the replica of the check has everything up to there. */
int lanes_reached(const struct verifying *verifying, const struct lane_ends *ends, bool *is_reached,
                  struct err *err);
int verify_check_shard(const struct verifying *verifying, bool content,
                       Torg__V1__CheckShardResponse **response, struct err *err);

/* Between two looks; ERR_CANCELLED: whoever verifies has to stop. */
int verify_pause(const struct verifying *verifying, int64_t duration_us, struct err *err);

/* Where a page begins: what a kind needs of it. */
struct cursor {
    bool is_begin; /* all others are 0 */
    int64_t a, b;
    struct bytes pk;
};

void cursor_next(struct verifying *verifying, int64_t a, int64_t b, struct bytes pk);
int cursor_parse(const struct verifying *verifying, struct cursor *cursor, struct err *err);

#endif
