/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_pool.c - see postgres_pool.h. The last one given back is the first taken. */
#include "store/postgres_pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"

struct postgres_pool {
    char *url; /* owned */
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    struct postgres_connection **idle; /* owned; a stack */
    unsigned idle_count;
    unsigned open_count;
    unsigned open_max;
};

struct postgres_pool *postgres_pool_new(const char *url, unsigned count_max)
{
    struct postgres_pool *pool = mem_zero(sizeof(*pool));

    pool->url = mem_strdup(url);
    pool->idle = mem_array(count_max, sizeof(pool->idle[0]));
    pool->open_max = count_max;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->given_back, NULL);
    return pool;
}

static void connection_free(struct postgres_connection *connection)
{
    postgres_disconnect(connection);
    free(connection);
}

void postgres_pool_free(struct postgres_pool *pool)
{
    if (!pool)
        return;
    assert(pool->idle_count == pool->open_count);
    while (pool->idle_count > 0)
        connection_free(pool->idle[--pool->idle_count]);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->given_back);
    free(pool->idle);
    free(pool->url);
    free(pool);
}

/* One fewer is open; whoever waits may open another. */
static void count_closed(struct postgres_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->open_count--;
    pthread_cond_signal(&pool->given_back);
    pthread_mutex_unlock(&pool->lock);
}

int postgres_pool_take(struct postgres_pool *pool, struct postgres_connection **connection,
                       struct err *err)
{
    struct timespec until;
    int waited = 0;
    int rc = 0;

    *connection = NULL;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += STORE_WAIT_MS_MAX / 1000;
    pthread_mutex_lock(&pool->lock);
    while (pool->idle_count == 0 && pool->open_count == pool->open_max && waited == 0)
        waited = pthread_cond_clockwait(&pool->given_back, &pool->lock, CLOCK_MONOTONIC, &until);
    if (pool->idle_count > 0)
        *connection = pool->idle[--pool->idle_count];
    else if (pool->open_count < pool->open_max)
        pool->open_count++;
    else
        rc = err_set(err, ERR_LIMIT, "postgres: all %u connections are busy for %d ms",
                     pool->open_max, STORE_WAIT_MS_MAX);
    pthread_mutex_unlock(&pool->lock);
    if (rc || *connection)
        return rc;

    *connection = mem_zero(sizeof(**connection));
    rc = postgres_connect(*connection, pool->url, err);
    if (rc) {
        connection_free(*connection);
        *connection = NULL;
        count_closed(pool);
    }
    return rc;
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

void postgres_pool_give(struct postgres_pool *pool, struct postgres_connection *connection)
{
    if (!connection->lost && !connection->replan) {
        pthread_mutex_lock(&pool->lock);
        pool->idle[pool->idle_count++] = connection;
        pthread_cond_signal(&pool->given_back);
        pthread_mutex_unlock(&pool->lock);
        return;
    }
    while (connection) {
        connection_free(connection);
        count_closed(pool);
        connection = take_idle(pool);
    }
}
