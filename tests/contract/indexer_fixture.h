/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_fixture.h - what the tests of the queue and the indexer share: a client with documents,
 * and a naive searcher that keeps what the index topics tell.
 *
 * A place is embedded (SQLite, topics in memory) or on servers (PostgreSQL at TORG_TEST_POSTGRES,
 * Kafka at TORG_TEST_KAFKA), each with faults on demand, and with a clock that stands still.
 */
#ifndef TORG_TESTS_CONTRACT_INDEXER_FIXTURE_H
#define TORG_TESTS_CONTRACT_INDEXER_FIXTURE_H

#include "contract/cases.h"
#include "contract/place.h"
#include "registry/indexing/indexer.h"
#include "registry/receiving/receiver.h"
#include "store/store_fault.h"
#include "topic/topic_fault.h"

enum { SHELF_COUNT_MAX = 4096, SHELF_EPOCH = 1 };

struct index_place {
    bool on_servers;
    struct store_place at;
    char client[40];
    char prefix[42]; /* of topics and groups: nothing is shared on Kafka */
    uint32_t shard_count;
    struct clock_manual clock;
    struct store *store;
    struct topics *topics;
    struct receiver receiver;
    struct indexer_base base;
    struct arena *arena;
};

/* False: the servers are not there, and nobody requires them. */
bool index_place_open(struct index_place *place, bool on_servers, uint32_t shard_count);
void index_place_close(struct index_place *place);

/* Sends it; the verdict must be ACCEPTED. price: of a field; below 0: a deletion. */
void place_put(struct index_place *place, enum lane lane, const char *pk, int64_t version,
               int64_t price);
/* The same in the lane main, with a placement class. */
void place_put_in(struct index_place *place, const char *class, const char *pk, int64_t version,
                  int64_t price);
/* The same with an end: a document that is not to be found from then on. */
void place_put_until(struct index_place *place, int64_t end_us, const char *pk, int64_t version,
                     int64_t price);
int64_t place_client_id(struct index_place *place);

/* Declares "stock", a side field of integers. */
void place_declare_stock(struct index_place *place);
/* Changes it, with this order; a value below 0 takes it away. The verdict, in the place's arena. */
Torg__V1__Verdict *place_stock(struct index_place *place, const char *pk, int64_t epoch,
                               int64_t sequence, int64_t stock);

/* The same of many, "k0" to "k<count - 1>", in one batch of the lane main. */
void place_put_many(struct index_place *place, size_t count, int64_t version);
void place_put_many_in(struct index_place *place, enum lane lane, size_t count, int64_t version);

/* Rounds until nothing is left to do. */
void place_run(struct indexer *indexer);
/* The same, with looks at the topics and pours, until no pour is under way. */
void place_tend(struct index_place *place, struct indexer *indexer, uint32_t shard);
struct indexer *place_indexer(struct index_place *place, uint32_t shard, uint64_t ticket);

/* What a searcher would hold. */
struct shelf_document {
    bool is_there;
    char pk[64];
    int64_t version;
    int64_t price;
    int64_t stock; /* 0: none */
};

struct shelf {
    int64_t epoch;
    uint32_t shard;
    uint64_t next; /* offset */
    uint64_t ticket;
    uint32_t field_count; /* of the schema last told */
    uint32_t stock_number;
    int64_t progress[4];
    struct shelf_document documents[SHELF_COUNT_MAX];
    size_t put_count, removal_count, stale_count, record_count, change_count;
    int64_t change_version; /* of the document that the last change was told for */
    int64_t stock_min;      /* the least that a change has told since it was set; 0: none has */
    char last_put[64];      /* pk */
    bool has_gap;           /* it began in the midst of the topic: not whole before a pour's end */
    int64_t pour;           /* that one; 0: none has begun */
    uint64_t pour_ticket;
};

/* It has lost everything, and its topic what lies before `first`. */
void shelf_lose(struct shelf *shelf, uint64_t first);

/* Applies what is new in the topic; nothing when the topic is not there. */
void shelf_follow(struct shelf *shelf, struct index_place *place);
/* The same, but not the messages from `until` on, nor those after the one that makes it whole. */
void shelf_follow_until(struct shelf *shelf, struct index_place *place, uint64_t until);
const struct shelf_document *shelf_find(const struct shelf *shelf, const char *pk);
size_t shelf_count(const struct shelf *shelf);
/* All shards together hold exactly the documents of the registry that are alive, and their stock.
 */
void shelves_equal_registry(struct shelf *shelves, uint32_t shard_count, struct index_place *place);

#endif
