/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_pool.c - see postgres_pool.h. The last one given back is the first taken. */
#include "store/postgres_pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "store/turnstile.h"

enum { POSTGRES_POOL_MAGIC = OBJECT_MAGIC('p', 'g', 'p', 'l') };

struct postgres_pool {
    uint32_t magic;
    char *url;                  /* owned */
    char *ca;                   /* owned; NULL: as the URL says */
    struct turnstile turnstile; /* whoever is in has one connection */
    unsigned count_max;
    pthread_mutex_t lock;
    struct postgres_connection **idle; /* owned; a stack */
    unsigned idle_count;
};

struct postgres_pool *postgres_pool_new(const char *url, const char *ca, unsigned count_max,
                                        const struct clock *clock)
{
    struct postgres_pool *pool = mem_zero(sizeof(*pool));

    object_begin(pool, POSTGRES_POOL_MAGIC);
    pool->url = mem_strdup(url);
    pool->ca = ca && *ca ? mem_strdup(ca) : NULL;
    pool->idle = mem_array(count_max, sizeof(pool->idle[0]));
    pool->count_max = count_max;
    turnstile_init(&pool->turnstile, count_max, clock);
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

static void connection_free(struct postgres_connection *connection)
{
    postgres_disconnect(connection);
    object_end(connection, POSTGRES_CONNECTION_MAGIC);
    free(connection);
}

void postgres_pool_free(struct postgres_pool *pool)
{
    if (!pool)
        return;
    object_check(pool, POSTGRES_POOL_MAGIC);
    while (pool->idle_count > 0)
        connection_free(pool->idle[--pool->idle_count]);
    pthread_mutex_destroy(&pool->lock);
    turnstile_release(&pool->turnstile);
    free(pool->idle);
    free(pool->url);
    free(pool->ca);
    object_end(pool, POSTGRES_POOL_MAGIC);
    free(pool);
}

static struct postgres_connection *take_idle(struct postgres_pool *pool)
{
    struct postgres_connection *connection = NULL;

    pthread_mutex_lock(&pool->lock);
    if (pool->idle_count > 0)
        connection = pool->idle[--pool->idle_count];
    pthread_mutex_unlock(&pool->lock);
    return connection;
}

int postgres_pool_take(struct postgres_pool *pool, struct postgres_connection **connection,
                       struct err *err)
{
    int rc;

    object_check(pool, POSTGRES_POOL_MAGIC);
    *connection = NULL;
    if (!turnstile_enter(&pool->turnstile, STORE_WAIT_MS_MAX))
        return err_set(err, ERR_UNAVAILABLE, "postgres: all %u connections are busy for %d ms",
                       pool->count_max, STORE_WAIT_MS_MAX);
    *connection = take_idle(pool);
    if (*connection)
        return 0;
    *connection = mem_zero(sizeof(**connection));
    rc = postgres_connect(*connection, pool->url, pool->ca, pool->turnstile.clock, err);
    if (rc) {
        connection_free(*connection);
        *connection = NULL;
        turnstile_leave(&pool->turnstile);
    }
    return rc;
}

void postgres_pool_give(struct postgres_pool *pool, struct postgres_connection *connection)
{
    object_check(pool, POSTGRES_POOL_MAGIC);
    object_check(connection, POSTGRES_CONNECTION_MAGIC);
    if (!connection->lost && !connection->replan) {
        pthread_mutex_lock(&pool->lock);
        assert(pool->idle_count < pool->count_max);
        pool->idle[pool->idle_count++] = connection;
        pthread_mutex_unlock(&pool->lock);
    } else {
        while (connection) {
            connection_free(connection);
            connection = take_idle(pool);
        }
    }
    turnstile_leave(&pool->turnstile);
}
