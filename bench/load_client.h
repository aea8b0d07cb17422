/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_client.h - what programs that put a server under load share: a connection that calls methods
 * by messages over HTTP/1.1, and the figures of many calls. Any fault ends the program: a figure
 * with failures in it is none.
 *
 * Threads: a client is one thread's.
 */
#ifndef TORG_BENCH_LOAD_CLIENT_H
#define TORG_BENCH_LOAD_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

struct load_client {
    int fd;
    const char *key;    /* borrowed */
    struct buf request; /* the last one, with its head */
    uint8_t *answer;    /* owned */
    size_t answer_size_max;
};

/* To a server on loopback; messages and answers have at most size_max bytes. */
void load_client_open(struct load_client *client, uint16_t port, const char *key, size_t size_max);
void load_client_close(struct load_client *client);

/* method: "SearchService/SearchOffers". The answer's body, valid until the next call. */
struct bytes load_client_call(struct load_client *client, const char *method, struct bytes message);

/* With errno, if it is set. */
_Noreturn void load_die(const char *what);

/* Times of calls in microseconds, as milliseconds: the middle one and the one in a hundred. */
struct load_times {
    double p50_ms, p99_ms;
    double mean_us;
};
/* Sorts them. */
struct load_times load_times_of(uint32_t *samples, size_t count);

double load_cpu_s(void); /* that this program has taken */

#endif
