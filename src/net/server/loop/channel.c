/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - see channel.h. One lock a call; neither side holds it while it works. */
#include "net/server/loop/channel.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/bounds.h"

enum { CHANNEL_MAGIC = OBJECT_MAGIC('c', 'h', 'a', 'n') };

struct channel {
    uint32_t magic;
    pthread_mutex_t lock;
    struct condition changed; /* the handler waits for what its reactor takes or brings */
    void (*notify)(void *arg);
    void *arg;
    const struct clock *clock; /* borrowed */
    int64_t silence_us;        /* of a read */
    struct buf in;
    size_t in_taken; /* of in's front */
    bool in_end;
    struct buf out;
    size_t out_sent; /* of out's front */
    size_t taken;
    bool finished;
    bool notified;
    int cancelled; /* 0, or what reads and writes return */
};

struct channel *channel_new(void (*notify)(void *arg), void *arg, const struct clock *clock)
{
    struct channel *channel = mem_zero(sizeof(*channel));

    object_begin(channel, CHANNEL_MAGIC);
    pthread_mutex_init(&channel->lock, NULL);
    condition_init(&channel->changed, clock);
    channel->notify = notify;
    channel->arg = arg;
    channel->clock = clock;
    channel->silence_us = CLOCK_NEVER;
    buf_init(&channel->in, NET_MESSAGE_SIZE_MAX + NET_WINDOW_SIZE);
    buf_init(&channel->out, NET_REPLY_SIZE_MAX + NET_STREAM_OUT_SIZE_MAX);
    return channel;
}

void channel_free(struct channel *channel)
{
    if (!channel)
        return;
    object_check(channel, CHANNEL_MAGIC);
    buf_release(&channel->in);
    buf_release(&channel->out);
    condition_release(&channel->changed);
    pthread_mutex_destroy(&channel->lock);
    object_end(channel, CHANNEL_MAGIC);
    free(channel);
}

void channel_limit_silence(struct channel *channel, int64_t silence_us)
{
    object_check(channel, CHANNEL_MAGIC);
    assert(silence_us > 0);
    channel->silence_us = silence_us;
}

/* Unlocks, and tells the reactor unless it has been told and has not looked yet. */
static void unlock_and_notify(struct channel *channel)
{
    bool tell = !channel->notified;
    void (*notify)(void *) = channel->notify;
    void *arg = channel->arg;

    channel->notified = true;
    pthread_mutex_unlock(&channel->lock);
    if (tell)
        notify(arg);
}

static int cancelled(const struct channel *channel, struct err *err)
{
    return err_set(err, channel->cancelled,
                   channel->cancelled == ERR_TIMEOUT ? "the deadline of the call has passed"
                                                     : "the client has left the call");
}

/* Under the lock: moves up to size bytes to `to`. */
static size_t take_bytes(struct channel *channel, struct buf *to, size_t size)
{
    size_t there = channel->in.size - channel->in_taken;
    size_t count = size < there ? size : there;

    if (!count)
        return 0;
    buf_put(to, bytes_make(channel->in.data + channel->in_taken, count));
    channel->in_taken += count;
    assert(channel->in_taken <= channel->in.size);
    channel->taken += count;
    if (channel->in_taken == channel->in.size) {
        buf_reset(&channel->in);
        channel->in_taken = 0;
    }
    return count;
}

int channel_read(struct channel *channel, struct buf *to, size_t size, struct err *err)
{
    int64_t until_us = clock_after_us(channel->clock, channel->silence_us);
    size_t got = 0;
    int rc = 1;

    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    while (got < size) {
        size_t count = take_bytes(channel, to, size - got);

        got += count;
        if (count) {
            unlock_and_notify(channel); /* the window may reopen while we wait for the rest */
            pthread_mutex_lock(&channel->lock);
        } else if (channel->cancelled) {
            rc = cancelled(channel, err);
            break;
        } else if (channel->in_end) {
            rc = got ? err_set(err, ERR_INVALID, "the stream ends within a message") : 0;
            break;
        } else if (!condition_wait_until(&channel->changed, &channel->lock, until_us) &&
                   channel->in.size == channel->in_taken && !channel->in_end &&
                   !channel->cancelled) {
            rc = err_set(err, ERR_UNAVAILABLE,
                         "nothing has come for %g s: end a stream that has nothing to send, and "
                         "begin another one later",
                         (double)channel->silence_us / SECOND_US);
            break;
        }
    }
    pthread_mutex_unlock(&channel->lock);
    return rc;
}

int channel_write(struct channel *channel, struct bytes bytes, struct err *err)
{
    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    while (channel->out.size - channel->out_sent > NET_STREAM_OUT_SIZE_MAX && !channel->cancelled)
        condition_wait(&channel->changed, &channel->lock);
    if (channel->cancelled) {
        int rc = cancelled(channel, err);

        pthread_mutex_unlock(&channel->lock);
        return rc;
    }
    assert(!channel->finished && channel->out_sent <= channel->out.size);
    if (channel->out_sent) {
        buf_consume(&channel->out, channel->out_sent);
        channel->out_sent = 0;
    }
    buf_put(&channel->out, bytes);
    unlock_and_notify(channel);
    return 0;
}

void channel_pause(struct channel *channel, int64_t until_us)
{
    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    while (!channel->cancelled && condition_wait_until(&channel->changed, &channel->lock, until_us))
        ;
    pthread_mutex_unlock(&channel->lock);
}

void channel_finish(struct channel *channel)
{
    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    assert(!channel->finished); /* its handler ends once */
    channel->finished = true;
    unlock_and_notify(channel);
}

void channel_push(struct channel *channel, struct bytes bytes)
{
    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    assert(!channel->in_end); /* nothing comes after the end */
    if (channel->in_taken) {
        buf_consume(&channel->in, channel->in_taken);
        channel->in_taken = 0;
    }
    buf_put(&channel->in, bytes);
    condition_signal(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

void channel_push_end(struct channel *channel)
{
    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    channel->in_end = true;
    condition_signal(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

struct channel_news channel_look(struct channel *channel)
{
    struct channel_news news;

    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    news = (struct channel_news){.taken = channel->taken,
                                 .unsent = channel->out.size - channel->out_sent,
                                 .finished = channel->finished};
    channel->taken = 0;
    channel->notified = false;
    pthread_mutex_unlock(&channel->lock);
    return news;
}

size_t channel_pull(struct channel *channel, uint8_t *to, size_t size, bool *end)
{
    size_t there;
    size_t count;

    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    there = channel->out.size - channel->out_sent;
    count = size < there ? size : there;
    if (count)
        memcpy(to, channel->out.data + channel->out_sent, count);
    channel->out_sent += count;
    assert(channel->out_sent <= channel->out.size);
    if (channel->out_sent == channel->out.size) {
        buf_reset(&channel->out);
        channel->out_sent = 0;
    }
    *end = channel->finished && count == there;
    if (count)
        condition_signal(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
    return count;
}

void channel_cancel(struct channel *channel, int code)
{
    object_check(channel, CHANNEL_MAGIC);
    pthread_mutex_lock(&channel->lock);
    if (!channel->cancelled)
        channel->cancelled = code;
    condition_signal(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}
