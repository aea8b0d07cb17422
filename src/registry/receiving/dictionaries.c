/* SPDX-License-Identifier: Apache-2.0 */
/* dictionaries.c - see dictionaries.h. */
#include "registry/receiving/dictionaries.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "registry/bounds.h"

enum { HELD_MAGIC = OBJECT_MAGIC('h', 'e', 'l', 'd') };

/* Never freed before the end; `next` is set before it is seen. */
struct held {
    uint32_t magic;
    int64_t number;
    struct pack_dictionary *dictionary; /* owned */
    struct held *next;
};

enum { SHELF_MAGIC = OBJECT_MAGIC('s', 'h', 'l', 'f') };

/* A client that was met. */
struct shelf {
    uint32_t magic;
    int64_t client_id;
    struct held *first; /* owned; the newest first */
    bool is_collecting; /* it has none yet */
    struct buf samples; /* while it collects */
    size_t *sizes;      /* owned; room for DICTIONARY_SAMPLE_COUNT_MAX */
    unsigned size_count;
};

enum { DICTIONARIES_MAGIC = OBJECT_MAGIC('d', 'i', 'c', 's') };

struct dictionaries {
    uint32_t magic;
    struct store *store; /* borrowed */
    pthread_mutex_t lock;
    struct shelf *shelves[CLIENT_COUNT_MAX]; /* owned; in order of being met */
    size_t shelf_count;
    size_t collecting_count;
    struct shelf *trained; /* whose samples the thread has; NULL: it is idle */
    struct task task;
};

struct dictionaries *dictionaries_new(struct store *store)
{
    struct dictionaries *dictionaries = mem_zero(sizeof(*dictionaries));

    object_begin(dictionaries, DICTIONARIES_MAGIC);
    dictionaries->store = store;
    pthread_mutex_init(&dictionaries->lock, NULL);
    return dictionaries;
}

static void stop_collecting(struct dictionaries *dictionaries, struct shelf *shelf)
{
    if (shelf->sizes)
        dictionaries->collecting_count--;
    shelf->is_collecting = false;
    buf_release(&shelf->samples);
    free(shelf->sizes);
    shelf->sizes = NULL;
    shelf->size_count = 0;
}

void dictionaries_settle(struct dictionaries *dictionaries)
{
    object_check(dictionaries, DICTIONARIES_MAGIC);
    task_stop(&dictionaries->task);
}

void dictionaries_free(struct dictionaries *dictionaries)
{
    if (!dictionaries)
        return;
    object_check(dictionaries, DICTIONARIES_MAGIC);
    dictionaries_settle(dictionaries);
    for (size_t i = 0; i < dictionaries->shelf_count; i++) {
        struct shelf *shelf = dictionaries->shelves[i];

        while (shelf->first) {
            struct held *held = shelf->first;

            shelf->first = held->next;
            pack_dictionary_free(held->dictionary);
            object_end(held, HELD_MAGIC);
            free(held);
        }
        stop_collecting(dictionaries, shelf);
        object_end(shelf, SHELF_MAGIC);
        free(shelf);
    }
    pthread_mutex_destroy(&dictionaries->lock);
    object_end(dictionaries, DICTIONARIES_MAGIC);
    free(dictionaries);
}

/* --- reading --- */

struct reading {
    int64_t client_id;
    int64_t number;     /* 0: the newest; then what it is */
    struct buf trained; /* empty: there is none */
};

static int read_trained(struct store_tx *tx, void *arg, struct err *err)
{
    struct reading *reading = arg;
    struct store_rows rows =
        store_select(tx,
                     "SELECT number, trained FROM registry_dictionary WHERE client_id = $1 AND "
                     "(CAST($2 AS BIGINT) = 0 OR number = CAST($2 AS BIGINT)) ORDER BY number DESC "
                     "LIMIT 1",
                     STORE_WITH(STORE_V_INT(reading->client_id), STORE_V_INT(reading->number)));

    buf_reset(&reading->trained);
    if (store_next(&rows)) {
        reading->number = rows.columns[0].integer;
        buf_put(&reading->trained, rows.columns[1].bytes);
    }
    return store_rows_end(&rows, err);
}

static struct shelf *find_shelf(const struct dictionaries *dictionaries, int64_t client_id)
{
    for (size_t i = 0; i < dictionaries->shelf_count; i++) {
        if (dictionaries->shelves[i]->client_id == client_id)
            return dictionaries->shelves[i];
    }
    return NULL;
}

static const struct pack_dictionary *find_held(const struct shelf *shelf, int64_t number)
{
    const struct held *held = shelf ? shelf->first : NULL;

    while (held && held->number != number)
        held = held->next;
    return held ? held->dictionary : NULL;
}

/* Puts one on its shelf, which is made if need be; the lock is ours. ERR_CORRUPT: it cannot be
 * used. */
static int hold(struct dictionaries *dictionaries, const struct reading *reading, struct err *err)
{
    struct shelf *shelf = find_shelf(dictionaries, reading->client_id);
    struct pack_dictionary *dictionary;
    struct held **place;
    struct held *held;

    if (!shelf && dictionaries->shelf_count == CLIENT_COUNT_MAX)
        return 0;
    if (!shelf) {
        shelf = mem_zero(sizeof(*shelf));
        object_begin(shelf, SHELF_MAGIC);
        shelf->client_id = reading->client_id;
        shelf->is_collecting = true;
        buf_init(&shelf->samples, DICTIONARY_SAMPLE_SIZE);
        dictionaries->shelves[dictionaries->shelf_count++] = shelf;
    }
    if (!reading->trained.size || find_held(shelf, reading->number))
        return 0;
    dictionary = pack_dictionary_new(buf_bytes(&reading->trained));
    if (!dictionary)
        return err_set(err, ERR_CORRUPT, "dictionary %" PRId64 " of client %" PRId64 " is damaged",
                       reading->number, reading->client_id);
    held = mem_zero(sizeof(*held));
    object_begin(held, HELD_MAGIC);
    held->number = reading->number;
    held->dictionary = dictionary;
    place = &shelf->first;
    while (*place && (*place)->number > held->number)
        place = &(*place)->next;
    held->next = *place;
    *place = held;
    if (shelf != dictionaries->trained)
        stop_collecting(dictionaries, shelf);
    return 0;
}

static int load(struct dictionaries *dictionaries, int64_t client_id, int64_t number,
                struct err *err)
{
    struct reading reading = {.client_id = client_id, .number = number};
    int rc;

    buf_init(&reading.trained, DICTIONARY_SIZE_MAX);
    rc = store_read(dictionaries->store, read_trained, &reading, err);
    if (!rc && number && !reading.trained.size)
        rc = err_set(err, ERR_CORRUPT, "dictionary %" PRId64 " of client %" PRId64 " is missing",
                     number, client_id);
    if (!rc) {
        pthread_mutex_lock(&dictionaries->lock);
        rc = hold(dictionaries, &reading, err);
        pthread_mutex_unlock(&dictionaries->lock);
    }
    buf_release(&reading.trained);
    return rc;
}

int dictionaries_find(struct dictionaries *dictionaries, int64_t client_id, int64_t number,
                      const struct pack_dictionary **dictionary, struct err *err)
{
    int rc = 0;

    object_check(dictionaries, DICTIONARIES_MAGIC);
    *dictionary = NULL;
    for (int i = 0; number && !*dictionary && !rc; i++) {
        if (i > 0)
            rc = load(dictionaries, client_id, number, err);
        pthread_mutex_lock(&dictionaries->lock);
        *dictionary = find_held(find_shelf(dictionaries, client_id), number);
        pthread_mutex_unlock(&dictionaries->lock);
        if (i > 0 && !rc && !*dictionary)
            rc = err_set(err, ERR_LIMIT, "dictionaries of more than %d clients are in use",
                         CLIENT_COUNT_MAX);
    }
    return rc;
}

struct dictionary_choice dictionaries_choose(struct dictionaries *dictionaries, int64_t client_id)
{
    struct dictionary_choice choice = {0};
    const struct shelf *shelf = NULL;
    struct err err;

    object_check(dictionaries, DICTIONARIES_MAGIC);
    for (int i = 0; i < 2 && !shelf; i++) {
        if (i > 0 && load(dictionaries, client_id, 0, &err))
            log_warn("a dictionary could not be read, documents are packed without",
                     LOG_TEXT("error", err.text));
        pthread_mutex_lock(&dictionaries->lock);
        shelf = find_shelf(dictionaries, client_id);
        if (shelf && shelf->first) {
            choice.number = shelf->first->number;
            choice.dictionary = shelf->first->dictionary;
        }
        choice.is_collecting = shelf && shelf->is_collecting;
        pthread_mutex_unlock(&dictionaries->lock);
    }
    return choice;
}

/* --- training --- */

/* Stores it as the first, unless there is one: then that is taken. */
static int keep_trained(struct store_tx *tx, void *arg, struct err *err)
{
    const struct reading *mine = arg;
    const struct store_value params[] = {STORE_V_INT(mine->client_id), STORE_V_INT(1),
                                         STORE_V_BLOB(buf_bytes(&mine->trained))};
    int64_t there = 0;
    int rc = store_find_integer(
        tx, "SELECT number FROM registry_dictionary WHERE client_id = $1 LIMIT 1", params, 1,
        &there, err);

    if (rc || there)
        return rc;
    return store_exec(tx,
                      "INSERT INTO registry_dictionary (client_id, number, trained) "
                      "VALUES ($1, $2, $3)",
                      params, 3, NULL, err);
}

static void train(struct task *task, void *arg)
{
    struct dictionaries *dictionaries = arg;
    struct shelf *shelf = dictionaries->trained;
    struct reading reading = {.client_id = shelf->client_id};
    struct err err = {0};
    int rc = 0;
    bool ok;

    object_check(dictionaries, DICTIONARIES_MAGIC);
    buf_init(&reading.trained, DICTIONARY_SIZE_MAX);
    ok = pack_train(buf_bytes(&shelf->samples), shelf->sizes, shelf->size_count,
                    DICTIONARY_SIZE_MAX, &reading.trained);
    if (ok)
        rc = store_write(dictionaries->store, keep_trained, &reading, &err);
    buf_release(&reading.trained);
    if (ok && !rc)
        rc = load(dictionaries, shelf->client_id, 0, &err);
    if (rc)
        log_warn("a dictionary could not be stored", LOG_TEXT("error", err.text));
    else if (ok)
        log_info("documents of a client are packed with a dictionary from now on",
                 LOG_INT("client", shelf->client_id), LOG_INT("samples", shelf->size_count));
    pthread_mutex_lock(&dictionaries->lock);
    stop_collecting(dictionaries, shelf);
    dictionaries->trained = NULL;
    pthread_mutex_unlock(&dictionaries->lock);
}

/* The lock is ours; the thread before has let go of its shelf, and ends at once. */
static void start_training(struct dictionaries *dictionaries, struct shelf *shelf)
{
    const struct task_options options = {.name = "dictionary",
                                         .run = train,
                                         .arg = dictionaries,
                                         .clock = store_clock(dictionaries->store)};
    int rc;

    task_stop(&dictionaries->task);
    dictionaries->trained = shelf;
    shelf->is_collecting = false;
    rc = task_start(&dictionaries->task, &options, NULL);
    assert(!rc);
}

void dictionaries_sample(struct dictionaries *dictionaries, int64_t client_id, struct bytes raw)
{
    struct shelf *shelf;

    object_check(dictionaries, DICTIONARIES_MAGIC);
    pthread_mutex_lock(&dictionaries->lock);
    shelf = find_shelf(dictionaries, client_id);
    if (shelf && shelf->is_collecting && !shelf->sizes &&
        dictionaries->collecting_count < DICTIONARY_COLLECTING_MAX) {
        shelf->sizes = mem_array(DICTIONARY_SAMPLE_COUNT_MAX, sizeof(*shelf->sizes));
        dictionaries->collecting_count++;
    }
    if (shelf && shelf->is_collecting && shelf->sizes) {
        bool is_full = shelf->size_count == DICTIONARY_SAMPLE_COUNT_MAX ||
                       shelf->samples.size + raw.size > DICTIONARY_SAMPLE_SIZE;

        if (!is_full) {
            buf_put(&shelf->samples, raw);
            shelf->sizes[shelf->size_count++] = raw.size;
        } else if (!dictionaries->trained) {
            start_training(dictionaries, shelf);
        }
    }
    pthread_mutex_unlock(&dictionaries->lock);
}
