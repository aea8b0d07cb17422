/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_pool.h - a bounded set of connections to one server, shared by all threads.
 *
 * Connections are made when wanted and kept. When one turns out lost the idle ones are closed
 * too: after a server's restart they all are.
 */
#ifndef TORG_STORE_POSTGRES_POOL_H
#define TORG_STORE_POSTGRES_POOL_H

#include "store/postgres_connection.h"

struct postgres_pool;

struct postgres_pool *postgres_pool_new(const char *url, const char *ca, unsigned count_max,
                                        const struct clock *clock);
void postgres_pool_free(struct postgres_pool *pool); /* NULL is fine; all are given back */

/* Waits at most STORE_WAIT_MS_MAX: ERR_UNAVAILABLE when all stay busy. */
int postgres_pool_take(struct postgres_pool *pool, struct postgres_connection **connection,
                       struct err *err);
void postgres_pool_give(struct postgres_pool *pool, struct postgres_connection *connection);

#endif
