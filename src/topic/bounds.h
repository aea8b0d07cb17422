/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of topic/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_TOPIC_BOUNDS_H
#define TORG_TOPIC_BOUNDS_H

enum {
    TOPIC_NAME_SIZE_MAX = 120,            /* a directory name; Kafka takes 249 */
    TOPIC_COUNT_MAX = 1024,               /* names come from roles, not from clients */
    TOPIC_PARTITION_COUNT_MAX = 256,      /* each is a directory, and a slot of every group */
    TOPIC_KEY_SIZE_MAX = 4 << 10,         /* with value and headers below Kafka's 1 MB message */
    TOPIC_VALUE_SIZE_MAX = 960 << 10,     /* an offer of 100 KB and all made from it */
    TOPIC_HEADER_COUNT_MAX = 16,          /* a request id, a trace: not a second value */
    TOPIC_HEADERS_SIZE_MAX = 4 << 10,     /* names and values of one record together */
    TOPIC_BATCH_COUNT_MAX = 10000,        /* records of one produce call */
    TOPIC_BATCH_SIZE_MAX = 16 << 20,      /* bytes of one produce call */
    TOPIC_INFLIGHT_SIZE_MAX = 64 << 20,   /* produced, not yet durable; more producers wait */
    TOPIC_COMMIT_SIZE_MAX = 8 << 20,      /* written before one sync: bounds the wait for it */
    TOPIC_FRAME_SIZE_MAX = 1 << 20,       /* one checksum; the least a reader must hold */
    TOPIC_SEGMENT_SIZE = 64 << 20,        /* retention deletes, and a crash rereads, one of these */
    TOPIC_SEGMENT_SIZE_MIN = 64 << 10,    /* below, names cost more than data */
    TOPIC_OFFSETS_SEGMENT_SIZE = 1 << 20, /* of the log of committed offsets: compacted past it */
    TOPIC_WRITER_COUNT = 4,               /* threads that sync; a partition belongs to one */
    TOPIC_GROUP_COUNT_MAX = 256,
    TOPIC_MEMBER_COUNT_MAX = 256, /* of one group */
    TOPIC_SUBSCRIPTION_MAX = 32,  /* topics of one consumer */
    TOPIC_POLL_COUNT = 500,       /* records of one poll, unless the consumer says */
    TOPIC_POLL_COUNT_MAX = 10000,
    TOPIC_POLL_SIZE = 4 << 20,     /* bytes of one poll */
    TOPIC_WAIT_MS_MAX = 60 * 1000, /* longest a poll or read waits ... */
    TOPIC_LEAVING_WAIT_MS = 5,     /* ... and when the process is about to end */
    TOPIC_SESSION_MS = 30 * 1000,  /* a member silent for longer loses its partitions */
    TOPIC_HOUSEKEEPING_MS = 1000,  /* retention and silent members are looked at this often */
    TOPIC_RETAIN_SEGMENT_MAX = 64, /* deleted from one partition in one round */
    TOPIC_HEAL_MS = 1000,          /* a partition that failed to write is tried again after this */
    TOPIC_REMOVE_MS = 15000,       /* then a topic that is in use all the time is not removed */
    TOPIC_KAFKA_DELIVERY_MS = 30000, /* then a produce to Kafka is told to have failed */
};

#endif
