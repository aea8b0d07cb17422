/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.h - who sends documents, their epochs, and the settled schema of each epoch.
 *
 * Kept in the store; a process holds what it has read of a client, with the number of its state. A
 * transaction that relies on it reads the number again (client_confirm, an optimistic lock) and is
 * run again with a fresh reading if it has grown. A view is immutable and counted, so callers keep
 * theirs while it is replaced.
 *
 * Threads: any.
 */
#ifndef TORG_REGISTRY_CLIENTS_CLIENTS_H
#define TORG_REGISTRY_CLIENTS_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "coord/coord.h"
#include "index/schema.h"
#include "numerator/numerator.h"
#include "registry/receiving/order.h"
#include "store/store.h"
#include "torg/v1/document.pb-c.h"
#include "torg/v1/index_message.pb-c.h"

enum { EPOCHS_MAX = 3 }; /* one that serves, one that is built, one for the way back */

/* A field of an epoch's schema. */
struct epoch_field {
    uint32_t number; /* in messages to the index; from 1 */
    Torg__V1__SchemaField__Type type;
    const char *name;
    float weight;
    uint8_t scale;
    bool filter;
    uint32_t value_count_max;
    bool side; /* changed by PutFields alone: receiving/side.h */
};

struct epoch_view {
    int64_t epoch;
    Torg__V1__IndexMap__Epoch__State state;
    const struct epoch_field *fields; /* in order of numbers */
    uint32_t field_count;
    int64_t started_us;
    uint32_t numbering;    /* its place among the client's */
    const char *number_by; /* the field in whose order stored documents are numbered; "": none */
    bool is_ascending;     /* the least of it first */
    const uint16_t *slots; /* names to places in fields; see clients_load.c */
    uint32_t slot_mask;
};

struct client_view {
    int64_t id;
    char name[64];
    uint32_t shard_count; /* of its queue */
    int64_t writing_epoch;
    int64_t serving_epoch;
    int64_t state_no;
    struct epoch_view epochs[EPOCHS_MAX]; /* ascending */
    uint32_t epoch_count;
    struct numbering numberings[EPOCHS_MAX]; /* those of the epochs, each once */
    uint32_t numbering_count;
};

/* What a client that does not exist yet would begin as: its id is 0. */
struct client_view client_unborn(void);
const struct epoch_view *client_epoch(const struct client_view *client, int64_t epoch);
const struct numbering *client_numbering(const struct client_view *client,
                                         const struct epoch_view *epoch);
/* A shard of the queue feeds so many of the epoch's index, one after the other from `each` times
 * its own number on: all keys of those, and no others, are its own. */
uint32_t client_shards_each(const struct client_view *client, const struct epoch_view *epoch);
uint32_t client_queue_shard(const struct client_view *client, const struct epoch_view *epoch,
                            uint32_t shard);
const struct epoch_field *epoch_find_field(const struct epoch_view *epoch, struct bytes name);
/* Gives the epoch these fields, in order of numbers, and its table of names; both are borrowed. */
void epoch_set_fields(struct epoch_view *epoch, const struct epoch_field *fields, uint32_t count,
                      struct arena *arena);

struct clients;

/* ERR_INVALID tells the rule: 1 to CLIENT_NAME_SIZE_MAX of a-z, 0-9 and dash. */
int client_check_name(const char *name, struct err *err);

struct clients *clients_new(struct store *store, const struct clock *clock);
void clients_free(struct clients *clients);

/* The newest that is known; refreshed from the store when older than CLIENT_REFRESH_MS or `fresh`.
 * ERR_NOT_FOUND: there is none of this name. ERR_CORRUPT: its rows cannot be read; that is logged
 * once. Give it back with client_unref. */
int clients_find(struct clients *clients, const char *name, bool fresh,
                 const struct client_view **client, struct err *err);
/* Makes it, with epoch 1, when it is not there; shard_count is that of its queue for ever, and that
 * of the first epoch's index. *made (may be NULL): it
 * was not, and clients_announce is due. */
int clients_obtain(struct clients *clients, const char *name, uint32_t shard_count,
                   const struct client_view **client, bool *made, struct err *err);
/* Inside a transaction: makes one that is not there, as above. ERR_EXISTS: it is. */
int client_make(struct store_tx *tx, const char *name, uint32_t shard_count, int64_t now_us,
                int64_t *id, struct err *err);
/* All of them, in order of ids; views are the caller's to unref. Those that cannot be read are left
 * out, and named in *unreadable (may be NULL), which ends with NULL. */
int clients_list(struct clients *clients, bool fresh, struct arena *arena,
                 const struct client_view ***list, size_t *count, const char *const **unreadable,
                 struct err *err);
void client_unref(const struct client_view *client); /* NULL is fine */

/* Inside a transaction: ERR_CONFLICT when the client's state is not this one any more. */
int client_confirm(struct store_tx *tx, const struct client_view *client, struct err *err);
/* Inside a transaction that changed epochs or fields: counts the state up. */
int client_touch(struct store_tx *tx, int64_t client_id, struct err *err);

/* Writes the register INDEX_MAP_KEY of coord when it is not what the store says; compare and set,
 * so that a late writer does not undo a newer one. Called after each change and at the start of
 * roles. */
#define INDEX_MAP_KEY "index-map"
int clients_announce(struct clients *clients, struct coord *coord, struct err *err);

#endif
