/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_call.h - a call without a server: the test writes requests and sees the answers. Defines the
 * call_ functions that health and reflection use; link it with their objects, not with net.
 */
#ifndef TORG_TESTS_UNIT_NET_FAKE_CALL_H
#define TORG_TESTS_UNIT_NET_FAKE_CALL_H

#include <pthread.h>
#include <stdbool.h>

#include "net/rpc.h"

enum { FAKE_MESSAGE_COUNT_MAX = 16 };

struct call {
    void *context;
    struct arena *arena;
    ProtobufCMessage *requests[FAKE_MESSAGE_COUNT_MAX];
    size_t request_count;
    size_t read_count;
    pthread_mutex_t mutex; /* of the rest: the handler may be on a thread of its own */
    pthread_cond_t written;
    ProtobufCMessage *answers[FAKE_MESSAGE_COUNT_MAX]; /* copies */
    size_t answer_count;
    bool cancelled;
};

void fake_call_init(struct call *call, const struct rpc_service *service);
void fake_call_release(struct call *call);
void fake_call_cancel(struct call *call);
/* The answer with that index, waited for at most ten seconds; NULL then. */
const ProtobufCMessage *fake_call_answer(struct call *call, size_t index);

#endif
