/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - several machines under a crowd, faults and a judge.
 *
 *   two backs, two searchers (machine.h) ◄── sellers, clients of documents, buyers
 * (cluster_crowd.c) ▲                                              │ what was asked, what was told
 *        └── faults (cluster_faults.c)                  ▼
 *                                        model ──► judge at rest (cluster_judge.c)
 *
 * Each document and each offer has one row in the model. Every write has a stamp of its own, which
 * its content shows. A write that nobody has answered may have happened, or may yet: machines that
 * were frozen go on with it.
 * Threads: the model by any, with its lock; the rest is the driver's.
 */
#ifndef TORG_TESTS_SIM_CLUSTER_H
#define TORG_TESTS_SIM_CLUSTER_H

#include "base/random.h"
#include "catalog/catalog.h"
#include "sim/machine.h"

enum {
    BACK_COUNT = 2,
    SEARCHER_COUNT = 2,
    MACHINE_COUNT = BACK_COUNT + SEARCHER_COUNT,
    CLUSTER_SHARD_COUNT = 2,
    SELLER_COUNT = 2,
    CLIENT_COUNT = 2, /* threads that write documents of one client */
    BUYER_COUNT = 2,
    MODERATOR_COUNT = 1,
    OPERATOR_COUNT = 1,
    ACTOR_COUNT = SELLER_COUNT + CLIENT_COUNT + BUYER_COUNT + MODERATOR_COUNT + OPERATOR_COUNT,
    CATALOG_COUNT = 2, /* that are applied in turns; offers fit all */
    DOCUMENT_COUNT = 12,
    BRANDED_COUNT = 4, /* documents of another client, behind those: searchers refuse some */
    BRANDED_SHARE = 3, /* of so many seeds one has them */
    EPOCHS_SHARE = 10, /* of so many seeds one has offers that move to other epochs */
    BRAND_COUNT = 3,
    BRAND_COUNT_MAX = 2, /* that the index takes */
    KEY_COUNT = DOCUMENT_COUNT + BRANDED_COUNT,
    WRITE_COUNT_MAX = 48,  /* of a document */
    CHANGE_COUNT_MAX = 24, /* of its side field */
    OFFER_COUNT_MAX = 16,  /* of a seller */
    OFFER_ID_SIZE = 32,
    TOKEN_SIZE = 64,
    ASK_MS = 4000, /* then a caller gives up */
};

#define DOCUMENT_CLIENT "docs"
#define BRAND_CLIENT "brands"

enum write_state {
    WRITE_ASKED,   /* may have happened, or may yet */
    WRITE_DONE,    /* acknowledged */
    WRITE_REFUSED, /* what was kept was newer */
};

struct write {
    int64_t version;
    int64_t stamp;
    bool is_delete;
    enum write_state state;
    char token[TOKEN_SIZE];
};

/* Of the side field stock: its value is the sequence. */
struct change {
    int64_t sequence;
    bool is_none; /* takes the value away */
    enum write_state state;
    char token[TOKEN_SIZE];
};

struct document {
    struct write writes[WRITE_COUNT_MAX];
    size_t write_count;
    struct change changes[CHANGE_COUNT_MAX];
    size_t change_count;
};

struct offer_row {
    char id[OFFER_ID_SIZE]; /* "": it is being made */
    int64_t revision;       /* acknowledged */
    int status;             /* then */
    bool is_unsure;         /* something that was not answered may have happened since */
    int64_t opinion;        /* the number of the newest; 0: there is none */
    bool is_banned;         /* what that one says */
    bool is_opinion_open;   /* nobody has said that it is kept */
};

struct model {
    struct document documents[KEY_COUNT];
    struct offer_row offers[SELLER_COUNT][OFFER_COUNT_MAX];
    size_t offer_counts[SELLER_COUNT];
    int64_t stamp;
    unsigned done_count, unsure_count, search_count, old_count;
};

struct actor {
    struct cluster *cluster;
    unsigned number; /* among those who do the same */
    struct rng rng;
    void (*step)(struct actor *actor);
    pthread_t thread;
};

struct cluster {
    uint64_t seed;
    struct sim_net *net;
    struct catalog *catalogs[CATALOG_COUNT];
    struct machine machines[MACHINE_COUNT]; /* backs first */
    struct rng rng;                         /* of faults */
    struct actor actors[ACTOR_COUNT];
    bool is_over;        /* with the model's lock, as */
    unsigned steps_left; /* of the crowd */
    struct model model;
};

void model_lock(void);
void model_unlock(void);

/* A line of history, shown when the seed fails, or as it comes with --trace. */
void cluster_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What must not be: tells it with seed and history, and ends the program. */
_Noreturn void cluster_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t cluster_now_us(const struct cluster *cluster);
/* Searchers are slow to follow, and lose their disks when they are killed. */
bool cluster_drips(const struct cluster *cluster);

/* cluster_sellers.c */
void seller_step(struct actor *actor);

/* cluster_moderator.c */
void moderator_step(struct actor *actor);

/* cluster_operator.c */
void operator_step(struct actor *actor);

/* cluster_epochs.c */
void epochs_step(struct actor *actor);

/* A search by a machine that is drawn, judged: it has waited for what the token names, a write of
 * this version (0: of any) and a change of the stock of this sequence (0: of none). */
void look_for(struct actor *actor, unsigned key, int64_t floor, const char *token,
              int64_t stock_floor);

/* Of a client whose documents are refused when they have too many: some have none. */
static inline bool write_has_brand(const struct write *write)
{
    return write->stamp % 2 != 0;
}

/* cluster_fields.c */
void fields_step(struct actor *actor, unsigned key);
/* With the lock: whether a search that has waited for this sequence may find this stock, 0: none.
 */
bool may_have_stock(const struct document *document, int64_t floor, int64_t stock);
/* With the lock: whether nobody has ever asked to delete it. */
bool is_never_deleted(const struct document *document);

void crowd_start(struct cluster *cluster);
void crowd_stop(struct cluster *cluster);

/* For so long; then all end, and every machine is on. */
void faults_run(struct cluster *cluster, int64_t duration_us);

/* Every record of an index is of the owner whose ticket it has: called as it is sent. */
void judge_watch(struct cluster *cluster);
/* Waits until everything agrees; fails when it does not in time. */
void judge_at_rest(struct cluster *cluster);

#endif
