/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka.h - the client of Kafka, shared by topic_kafka.c (topics, records), kafka_admin.c,
 * kafka_group.c and kafka_consumer.c. The only users of librdkafka.
 *
 * One producer handle with a thread that serves its callbacks, one reader for topic_read, one asker
 * for all other questions (metadata, administration, ends), one handle per group member, and one
 * per group that is asked how far it has come.
 */
#ifndef TORG_TOPIC_KAFKA_H
#define TORG_TOPIC_KAFKA_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/task.h"
#include "topic/bounds.h"
#include "topic/topic_ops.h"

enum {
    KAFKA_CALL_MS = 15000,
    KAFKA_ERROR_SIZE = 256,
    KAFKA_CURSOR_COUNT = 64,
    KAFKA_GROUP_COUNT = 8, /* a process asks for its own, or for those of every stage */
};

/* Where a topic_read stopped, so that the next can go on without a new fetch. */
struct kafka_cursor {
    rd_kafka_topic_t *topic; /* NULL: unused */
    char name[TOPIC_NAME_SIZE_MAX + 1];
    uint32_t partition;
    uint64_t next_offset;
    bool busy;
    uint64_t used; /* for the choice of one to reuse */
};

/* A handle that asks for the offsets of a group. */
struct kafka_group {
    rd_kafka_t *handle; /* NULL: unused */
    char name[TOPIC_NAME_SIZE_MAX + 1];
    size_t user_count;
    uint64_t used; /* for the choice of one to replace */
};

struct kafka_known_topic {
    char name[TOPIC_NAME_SIZE_MAX + 1];
    uint32_t partition_count;
};

struct kafka {
    struct topics base;
    rd_kafka_conf_t *conf;          /* owned: what all handles share */
    pthread_rwlock_t producer_lock; /* read: who sends by it; write: the server, to replace it */
    rd_kafka_t *producer;
    rd_kafka_t *reader;
    rd_kafka_t *asker;
    struct task server; /* of the producer's callbacks */

    pthread_mutex_t lock;            /* over what follows */
    struct condition changed;        /* a request was finished, or a cursor became free */
    size_t request_count;            /* in flight */
    struct kafka_known_topic *known; /* partition counts change by a removal alone */
    size_t known_count;
    struct kafka_cursor cursors[KAFKA_CURSOR_COUNT];
    uint64_t cursor_use;
    struct kafka_group groups[KAFKA_GROUP_COUNT];
    uint64_t group_use;
};

static inline struct kafka *kafka_of(struct topics *topics)
{
    return container_of(topics, struct kafka, base);
}

/* The error's code for our callers. */
int kafka_code(rd_kafka_resp_err_t error);
/* "what: librdkafka's text", with kafka_code. */
int kafka_fail(struct err *err, rd_kafka_resp_err_t error, const char *what);

/* A configuration with what all handles share. */
rd_kafka_conf_t *kafka_conf(const struct kafka *kafka);
/* kafka_security.c; ERR_INVALID: it makes no sense, or the client refuses it. */
int kafka_secure(rd_kafka_conf_t *conf, const struct topics_security *security, struct err *err);
/* Sets a property; a refusal is a bug. */
void kafka_set(rd_kafka_conf_t *conf, const char *name, const char *value);
void kafka_set_number(rd_kafka_conf_t *conf, const char *name, int64_t value);

/* A handle by the configuration, which is consumed; NULL: it was refused. */
rd_kafka_t *kafka_handle_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err);
/* Ends a handle that is no group's member, in a bounded time; NULL is fine. */
void kafka_handle_end(rd_kafka_t *handle, const struct clock *clock);

/* The group's next offset of the partition; below zero: it has none. */
int kafka_group_committed(struct kafka *kafka, const char *name, const char *topic,
                          uint32_t partition, int64_t *offset, struct err *err);
void kafka_groups_release(struct kafka *kafka);

/* The topic may be gone: the brokers are asked for its partitions again. */
void kafka_forget(struct kafka *kafka, const char *name);

/* Readers of the topic begin anew; those that are under way are told by Kafka. */
void kafka_drop_cursors(struct kafka *kafka, const char *name);

/* A message as ours; headers are in the arena, everything else points into it. */
struct topic_message kafka_message(const rd_kafka_message_t *message, struct arena *arena);

int kafka_create(struct topics *topics, const char *name, const struct topic_config *config,
                 struct err *err);
int kafka_describe(struct topics *topics, const char *name, struct topic_config *config,
                   struct err *err);
int kafka_remove(struct topics *topics, const char *name, struct err *err);
int kafka_list(struct topics *topics, struct arena *arena, const char ***names, size_t *count,
               struct err *err);
int kafka_partition_count(struct topics *topics, const char *name, uint32_t *count,
                          struct err *err);
int kafka_range(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                uint64_t *end, struct err *err);
int kafka_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
               struct err *err);
int kafka_lag(struct topics *topics, const char *group, const char *name, uint32_t partition,
              struct topic_lag *lag, struct err *err);

int kafka_consumer_open(struct topics *topics, const struct consumer_options *options,
                        struct consumer **consumer, struct err *err);
void kafka_consumer_close(struct consumer *consumer);
int kafka_consumer_poll(struct consumer *consumer, int timeout_ms,
                        const struct topic_message **messages, size_t *count, struct err *err);
int kafka_consumer_commit(struct consumer *consumer, const struct topic_position *positions,
                          size_t count, struct err *err);
int kafka_consumer_seek(struct consumer *consumer, const char *topic, uint32_t partition,
                        uint64_t offset, struct err *err);
int kafka_consumer_assignment(struct consumer *consumer, struct topic_position *positions,
                              size_t max, size_t *count, struct err *err);
uint64_t kafka_consumer_generation(struct consumer *consumer);

#endif
