/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic_fault.h - the failures that the fault: wrapper makes, for tests of code that uses topics.
 *
 *     topics_open("fault:memory:", NULL, &topics, &err);
 *     atomic_store(&topics_faults(topics)->fail_produce, 1);
 *
 * Each field is the number of the next calls that fail, counting down; -1 means all of them.
 */
#ifndef TORG_TOPIC_TOPIC_FAULT_H
#define TORG_TOPIC_TOPIC_FAULT_H

#include <stdatomic.h>

#include "topic/topic.h"

struct topic_faults {
    _Atomic int fail_produce;      /* ERR_UNAVAILABLE, nothing stored */
    _Atomic int spare_produce;     /* so many are let go before that strikes */
    _Atomic int lose_ack;          /* stored, yet ERR_TIMEOUT */
    _Atomic int duplicate_produce; /* stored twice, as a retry after a lost ack does */
    _Atomic int delay_produce;     /* by delay_ms */
    _Atomic int delay_ms;
    _Atomic int hold_produce; /* no count: as long as it is not 0 */
    _Atomic int fail_read;    /* polls and reads: ERR_UNAVAILABLE */
    _Atomic int fail_commit;  /* ERR_UNAVAILABLE, nothing committed */
    _Atomic int lose_commit;  /* committed, yet ERR_TIMEOUT */
    _Atomic int fail_seek;    /* ERR_UNAVAILABLE, the position stays */
    _Atomic int fail_lag;     /* ERR_UNAVAILABLE */
    _Atomic int hide_topic;   /* of descriptions: ERR_NOT_FOUND, as if it were made after that */
};

/* Of topics opened by a fault: URL. */
struct topic_faults *topics_faults(struct topics *topics);

#endif
