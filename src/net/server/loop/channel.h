/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - the bytes of one streaming call between its handler's thread and its reactor.
 *
 * Both directions are bounded: bytes that have arrived and were not taken by the handler never
 * exceed the HTTP/2 window, since the window reopens only for bytes taken; and the handler blocks
 * while more than NET_STREAM_OUT_SIZE_MAX bytes wait for the client. `notify` tells the reactor
 * that something changed; it is called once until the reactor has reacted.
 */
#ifndef TORG_NET_SERVER_LOOP_CHANNEL_H
#define TORG_NET_SERVER_LOOP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct channel;

struct channel *channel_new(void (*notify)(void *arg), void *arg, const struct clock *clock);
void channel_free(struct channel *channel); /* NULL is fine */
/* Before anybody reads: a read that has waited so long for its bytes ends with ERR_UNAVAILABLE. */
void channel_limit_silence(struct channel *channel, int64_t silence_us);

/* --- the handler's side: these block --- */

/* Appends exactly size bytes to `to`: 1; 0 at the client's end before the first byte; < 0. */
int channel_read(struct channel *channel, struct buf *to, size_t size, struct err *err);
int channel_write(struct channel *channel, struct bytes bytes, struct err *err);
/* Until then (monotonic), or until it is cancelled. */
void channel_pause(struct channel *channel, int64_t until_us);
void channel_finish(struct channel *channel); /* the handler is done: its last touch */

/* --- the reactor's side: never block --- */

struct channel_news {
    size_t taken;  /* bytes the handler took since the last look */
    size_t unsent; /* bytes to send */
    bool finished; /* the handler has called channel_finish */
};

void channel_push(struct channel *channel, struct bytes bytes);
void channel_push_end(struct channel *channel);
struct channel_news channel_look(struct channel *channel);
/* Moves at most size bytes; *end when nothing will follow. */
size_t channel_pull(struct channel *channel, uint8_t *to, size_t size, bool *end);
/* Wakes the handler: its reads and writes fail with this code from now on. */
void channel_cancel(struct channel *channel, int code);

#endif
