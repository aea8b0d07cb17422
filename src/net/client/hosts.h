/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - limits how fast, and by how many threads at once, each web server of sellers is asked.
 *
 * A thread that wants to ask enters and gets a turn, or is refused for now: too many are asking
 * this server, or it has not answered lately (a circuit breaker). So no server is asked faster than
 * it may be, and a slow one holds up few of our threads.
 *
 * There is an entry for each of WEB_HOST_COUNT hashes: servers whose hashes collide share their
 * pace.
 * Threads: any.
 */
#ifndef TORG_NET_CLIENT_HOSTS_H
#define TORG_NET_CLIENT_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"

struct hosts;

struct hosts *hosts_new(const struct clock *clock); /* borrowed */
void hosts_free(struct hosts *hosts);               /* NULL is fine; nobody is inside */

/* A turn to ask the server of this address. Waits for it WEB_HOST_WAIT_MS at most, then
 * ERR_UNAVAILABLE. is_patient: also one that was silent lately is asked. */
int hosts_enter(struct hosts *hosts, const char *url, bool is_patient, struct err *err);
/* After each turn. is_silent: it has not answered. */
void hosts_leave(struct hosts *hosts, const char *url, bool is_silent);

/* As a patient one, and of those who were given much time: a server that was silent to one of them
 * is asked by one a minute, whoever comes first, and the others are refused at once. *again_us:
 * after a refusal, until it is worth another. */
int hosts_probe(struct hosts *hosts, const char *url, int64_t *again_us, struct err *err);
/* After each turn of a probe. */
void hosts_probe_end(struct hosts *hosts, const char *url, bool is_silent);

#endif
