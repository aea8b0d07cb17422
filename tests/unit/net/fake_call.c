/* SPDX-License-Identifier: Apache-2.0 */
/* fake_call.c - see fake_call.h. */
#include "fake_call.h"

#include <assert.h>
#include <time.h>

#include "codec/message.h"

void fake_call_init(struct call *call, const struct rpc_service *service)
{
    *call = (struct call){.context = service->context, .arena = arena_new()};
    pthread_mutex_init(&call->mutex, NULL);
    pthread_cond_init(&call->written, NULL);
}

void fake_call_release(struct call *call)
{
    pthread_cond_destroy(&call->written);
    pthread_mutex_destroy(&call->mutex);
    arena_free(call->arena);
}

void fake_call_cancel(struct call *call)
{
    pthread_mutex_lock(&call->mutex);
    call->cancelled = true;
    pthread_mutex_unlock(&call->mutex);
}

const ProtobufCMessage *fake_call_answer(struct call *call, size_t index)
{
    const ProtobufCMessage *answer = NULL;
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&call->mutex);
    while (call->answer_count <= index && rc == 0)
        rc = pthread_cond_timedwait(&call->written, &call->mutex, &until);
    if (call->answer_count > index)
        answer = call->answers[index];
    pthread_mutex_unlock(&call->mutex);
    return answer;
}

void *call_context(const struct call *call)
{
    return call->context;
}

struct arena *call_arena(struct call *call)
{
    return call->arena;
}

bool call_cancelled(const struct call *call)
{
    struct call *mine = (struct call *)call;
    bool cancelled;

    pthread_mutex_lock(&mine->mutex);
    cancelled = mine->cancelled;
    pthread_mutex_unlock(&mine->mutex);
    return cancelled;
}

int call_read(struct call *call, ProtobufCMessage **message, struct err *err)
{
    (void)err;
    if (call->read_count == call->request_count)
        return 0;
    *message = call->requests[call->read_count++];
    return 1;
}

int call_write(struct call *call, const ProtobufCMessage *message, struct err *err)
{
    struct buf wire = BUF_INIT(16 << 20);
    int rc;

    pthread_mutex_lock(&call->mutex);
    assert(call->answer_count < FAKE_MESSAGE_COUNT_MAX);
    message_encode(message, &wire);
    rc = message_decode(buf_bytes(&wire), message->descriptor, call->arena,
                        &call->answers[call->answer_count], err);
    call->answer_count++;
    pthread_cond_broadcast(&call->written);
    pthread_mutex_unlock(&call->mutex);
    buf_release(&wire);
    return rc;
}
