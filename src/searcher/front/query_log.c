/* SPDX-License-Identifier: Apache-2.0 */
/* query_log.c - see query_log.h. */
#include "searcher/front/query_log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "searcher/bounds.h"

enum { QUERY_LOG_MAGIC = OBJECT_MAGIC('r', 'c', 'n', 't') };

struct kept_query {
    uint64_t hash; /* of client and query */
    char *client;  /* NULL: unused */
    void *wire;
    size_t size;
};

struct query_log {
    uint32_t magic;
    const struct clock *clock;
    _Atomic int64_t next_us; /* before it none is kept */
    pthread_mutex_t lock;    /* of all below */
    struct kept_query ring[QUERY_LOG_COUNT];
    uint32_t next; /* place, counted on for ever */
};

struct query_log *query_log_new(const struct clock *clock)
{
    struct query_log *log = mem_zero(sizeof(*log));

    log->magic = QUERY_LOG_MAGIC;
    log->clock = clock;
    pthread_mutex_init(&log->lock, NULL);
    return log;
}

static void forget(struct kept_query *kept)
{
    free(kept->client);
    free(kept->wire);
    *kept = (struct kept_query){0};
}

void query_log_free(struct query_log *log)
{
    if (!log)
        return;
    object_check(log, QUERY_LOG_MAGIC);
    for (size_t i = 0; i < QUERY_LOG_COUNT; i++)
        forget(&log->ring[i]);
    pthread_mutex_destroy(&log->lock);
    log->magic = 0;
    free(log);
}

static bool is_first_page(const Torg__V1__SearchRequest *request)
{
    if (request->epoch || !request->query)
        return false;
    for (size_t i = 0; i < request->query->n_stages; i++)
        if (request->query->stages[i]->cursor.len)
            return false;
    return true;
}

static void keep(struct query_log *log, const char *client, struct bytes wire)
{
    uint64_t hash = hash64_seeded(wire, hash64(bytes_of(client)));
    struct kept_query *place;

    for (size_t i = 0; i < QUERY_LOG_COUNT; i++)
        if (log->ring[i].client && log->ring[i].hash == hash)
            return;
    place = &log->ring[log->next++ % QUERY_LOG_COUNT];
    forget(place);
    *place = (struct kept_query){.hash = hash,
                                 .client = mem_strdup(client),
                                 .wire = mem_alloc(wire.size),
                                 .size = wire.size};
    memcpy(place->wire, wire.data, wire.size);
}

void query_log_add(struct query_log *log, const char *client,
                   const Torg__V1__SearchRequest *request)
{
    struct buf wire = BUF_INIT(QUERY_LOG_SIZE_MAX);
    int64_t now_us = clock_mono_us(log->clock);
    int64_t next_us = atomic_load_explicit(&log->next_us, memory_order_relaxed);

    object_check(log, QUERY_LOG_MAGIC);
    if (now_us < next_us || !is_first_page(request) ||
        !atomic_compare_exchange_strong(&log->next_us, &next_us,
                                        now_us + QUERY_LOG_PAUSE_MS * (int64_t)MS_US))
        return;
    message_encode(&request->query->base, &wire);
    if (!buf_failed(&wire) && wire.size) {
        pthread_mutex_lock(&log->lock);
        keep(log, client, buf_bytes(&wire));
        pthread_mutex_unlock(&log->lock);
    }
    buf_release(&wire);
}

size_t query_log_list(struct query_log *log, const char *client, struct arena *arena,
                      Torg__V1__Query ***queries)
{
    size_t count = 0;

    object_check(log, QUERY_LOG_MAGIC);
    *queries = arena_array(arena, QUERY_LOG_COUNT, sizeof(**queries));
    pthread_mutex_lock(&log->lock);
    for (uint32_t i = 1; i <= QUERY_LOG_COUNT; i++) {
        const struct kept_query *kept = &log->ring[(log->next - i) % QUERY_LOG_COUNT];
        ProtobufCMessage *message;
        struct err err;

        if (!kept->client || strcmp(kept->client, client) != 0)
            continue;
        if (!message_decode(arena_copy(arena, bytes_make(kept->wire, kept->size)),
                            &torg__v1__query__descriptor, arena, &message, &err))
            (*queries)[count++] = (Torg__V1__Query *)message;
    }
    pthread_mutex_unlock(&log->lock);
    return count;
}
