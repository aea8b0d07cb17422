/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - what the crowd has asked for and what was acknowledged, in memory that outlives a life.
 *
 * A thing (an offer, a row of a feed, a document) has one slot and at most one writer at a time.
 * Its history is a row of entries: what a search may show of it after each write. An entry is ASKED
 * before the call, DONE when it was acknowledged, VOID when it is known not to have happened; what
 * was asked when a life ended is found out by reading before the next write.
 *
 * The judge is a register with one writer: a search shows one of the entries from the floor on, the
 * floor being the newest entry that some search has shown, or has waited for by a token. So nothing
 * that was not written is found, nothing older than a token, and nothing comes back.
 *
 * Every content that is ever written has a number of its own, the stamp, from which the content is
 * made: what a search shows tells which write it is.
 *
 * Threads: any, with the lock; whoever ends a life has the lock, so that no entry is half written.
 */
#ifndef TORG_TESTS_SIM_MODEL_H
#define TORG_TESTS_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SLOT_COUNT_MAX = 256,
    ENTRY_COUNT_MAX = 48, /* of a slot; its writer waits for a search when they are used up */
    STAMP_COUNT_MAX = 1 << 16,
    STEP_COUNT_MAX = 4096,
    STEP_SIZE = 168,
    KEY_SIZE = 24,
    TOKEN_SIZE = 64,
    FEED_COUNT = 2,
    FEED_ROW_COUNT = 10,
    INDEX_COUNT = 3,         /* two clients' and that of offers */
    GARBAGE_STAGE_COUNT = 4, /* stages whose topics get unreadable records */
    MISFIT_COUNT = 4,
    SNIPPET_COUNT = 6,
};

enum slot_kind { SLOT_FREE, SLOT_OFFER, SLOT_ROW, SLOT_DOCUMENT };
enum entry_state { ENTRY_ASKED, ENTRY_DONE, ENTRY_VOID };

/* What may be found of a thing after one write. */
struct entry {
    enum entry_state state;
    uint32_t stamp; /* of its content; 0: it never had any */
    bool is_shown;
    int64_t ends_us;  /* not shown from then on; 0: never */
    int64_t shows_us; /* hidden, and may be shown by itself from then on; 0: not */
};

/* The write that was asked for, so that it can be asked again. */
struct ask {
    int what; /* of the crowd's own; 0: nothing is open */
    uint32_t stamp;
    uint32_t entry;
    int64_t number;       /* a revision, a version */
    uint32_t once;        /* makes the idempotency key; 0: none */
    bool has_rival;       /* sent by two at once, each with a key of its own: only reading tells */
    int32_t attempt;      /* of a photo's result */
    bool is_photo_failed; /* what that result says */
};

struct slot {
    enum slot_kind kind;
    unsigned owner; /* a seller, a feed, a client */
    bool is_busy;   /* somebody of this life works on it */
    bool is_over;   /* nobody writes it any more */
    char key[KEY_SIZE];
    uint32_t entry_count;
    uint32_t floor;
    struct entry entries[ENTRY_COUNT_MAX];
    struct ask ask;
    /* As it is known to be; of an offer unless said otherwise. */
    int64_t revision; /* of a document: its version */
    int status, status_before_ban;
    uint32_t stamp;
    int64_t opinion_revision;
    int64_t ends_us, shows_us;
    int64_t asks_us;      /* from then on its photo is asked for anew while it waits; 0: never */
    uint32_t epoch_moves; /* of a document: the model's when it was last kept */
    unsigned category;
    bool has_photo, is_photo_ready;
    int32_t photo_attempt;  /* of the newest result that was taken */
    bool is_drafted;        /* published by a draft */
    char token[TOKEN_SIZE]; /* of the write of this entry; "": none */
    uint32_t token_entry;
    uint64_t token_age; /* the greater, the newer */
    /* Of a document: its side field stock. */
    uint32_t stock_count; /* changes that were made */
    uint32_t stock_asked; /* one that nobody has answered; 0: none */
    uint32_t stock;       /* the newest that was acknowledged, with its token; 0: none */
    char stock_token[TOKEN_SIZE];
    uint64_t stock_age;
    uint32_t stock_floor; /* a search that shows the document shows this one or a newer */
    uint32_t stock_shown; /* by the last search that has shown the document */
};

/* What a feed has: the content of each row, 0: not in it. */
struct feed_state {
    uint32_t stamps[FEED_ROW_COUNT];
};

struct model_feed {
    int64_t task; /* the newest */
    /* To be gone on with until it is over. */
    enum { FEED_IDLE, FEED_SENDING, FEED_UNDOING, FEED_TOUCHING } doing;
    bool can_undo;
    bool is_touched[FEED_ROW_COUNT]; /* by hand, since the newest task: undoing it leaves them */
    unsigned touch_row;              /* FEED_TOUCHING, as what follows */
    uint32_t touch_once;
    int64_t touch_revision;         /* before */
    uint32_t slots[FEED_ROW_COUNT]; /* + 1; 0: none yet */
    struct feed_state before, now;  /* the newest task */
};

/* A document that does not fit every epoch of its client (crowd_misfits.c). */
struct misfit {
    int64_t count;   /* versions that were asked for */
    int64_t version; /* that was acknowledged last; 0: none was */
    int64_t asked;   /* that nobody has answered; 0: none */
};

/* A snippet, by key: its writes are numbered. */
struct model_snippet {
    uint32_t count;        /* writes that were asked for */
    uint32_t asked;        /* that nobody has answered; 0: none */
    uint32_t acknowledged; /* the newest */
    uint32_t seen;         /* the newest that a reader was shown, at least */
};

struct model {
    uint64_t seed;
    unsigned life;
    int64_t start_us; /* of the seed, monotonic */
    bool is_failed;
    uint32_t stamp_count;
    uint16_t stamp_slots[STAMP_COUNT_MAX]; /* + 1 */
    uint32_t slot_count;
    struct slot slots[SLOT_COUNT_MAX];
    struct misfit misfits[MISFIT_COUNT];
    struct model_snippet snippets[SNIPPET_COUNT];
    uint32_t once_count;
    struct model_feed feeds[FEED_COUNT];
    unsigned catalog;                 /* the last one asked for */
    bool is_loss_accepted;            /* of misfits, by somebody who moved their epochs */
    uint32_t epoch_moves;             /* asked for: orders of documents' writes depend on epochs */
    int64_t switched_us[INDEX_COUNT]; /* when another epoch began to serve, by client of documents,
                                       * offers last; monotonic */
    uint32_t garbage_count;           /* unreadable records that were produced, at most */
    bool is_garbage_kept[GARBAGE_STAGE_COUNT]; /* acknowledged, and not dropped since */
    uint32_t mended_slot;  /* + 1: of its key an unreadable record may wait for a readable one */
    int64_t wall_ahead_us; /* how far the clock has been set forward; */
    int64_t wall_step_us;  /* by this much at each life; 0: it is not */
    uint64_t token_count;
    uint64_t asked_count, search_count, unsure_count, refused_count;
    uint32_t step_count;
    char steps[STEP_COUNT_MAX][STEP_SIZE];
    uint16_t step_slots[STEP_COUNT_MAX]; /* + 1; 0: of none */
};

/* Zeroed, shared with children. */
struct model *model_new(uint64_t seed);
void model_free(struct model *model);
/* A new life: nobody is busy. */
void model_begin_life(struct model *model);

void model_lock(void);
void model_unlock(void);

/* --- with the lock --- */

/* NULL: there is no room. */
struct slot *model_add(struct model *model, enum slot_kind kind, unsigned owner);
uint32_t model_slot_number(const struct model *model, const struct slot *slot);
/* The next stamp, which is this slot's. */
uint32_t model_stamp(struct model *model, const struct slot *slot);
/* NULL: no such stamp was ever drawn. */
struct slot *model_of_stamp(struct model *model, uint32_t stamp);

bool slot_has_room(const struct slot *slot);
/* Opens a write: what it would make of the thing. */
void slot_ask(struct slot *slot, int what, const struct entry *entry);
/* It happened, or did not; closes the write. */
void slot_settle(struct slot *slot, bool has_happened);

/* The oldest of its entries that is still known. */
uint32_t slot_oldest(const struct slot *slot);
/* Whether a search that began with this floor, at start_us, and ends now may have seen this:
 * stamp 0 is nothing. If so, the floor rises to what was seen at the least. */
bool slot_may_show(struct slot *slot, uint32_t floor, uint32_t stamp, int64_t start_us,
                   int64_t now_us);

/* Of a search that finds only this stamp: whether it may have found it, or not. */
bool slot_may_match(struct slot *slot, uint32_t floor, uint32_t stamp, bool is_found,
                    int64_t start_us, int64_t now_us);
/* What is to be found when all is at rest: the stamp, 0: nothing. No write is open. */
uint32_t slot_final(struct slot *slot, int64_t now_us);
/* Time may have moved it, or does so now: what it is has to be read. */
bool slot_is_moving(const struct slot *slot, int64_t now_us);

/* A line of history; slot may be NULL. */
void model_step(struct model *model, const struct slot *slot, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* With the lock or without: tells what is violated, with the seed and the last steps of the slot
 * (NULL: of all), and ends the life. */
void model_fail(struct model *model, const struct slot *slot, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

enum { LIFE_FAILED = 3 }; /* exit code of a life that has violated something */

#endif
