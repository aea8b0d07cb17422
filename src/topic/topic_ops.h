/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic_ops.h - what a backend of topic.h provides. Included by backends only.
 *
 * topic.c has checked names, sizes, counts and times before any of these is called, and has
 * chosen the partitions, so that all backends agree about both. Every op is required.
 */
#ifndef TORG_TOPIC_TOPIC_OPS_H
#define TORG_TOPIC_TOPIC_OPS_H

#include <stdatomic.h>

#include "base/object.h"
#include "topic/submit.h"
#include "topic/topic.h"

struct topics_ops {
    const char *scheme;
    int (*open)(const char *place, const struct topics_options *options, struct topics **topics,
                struct err *err);
    void (*close)(struct topics *topics);
    int (*create)(struct topics *topics, const char *name, const struct topic_config *config,
                  struct err *err);
    int (*describe)(struct topics *topics, const char *name, struct topic_config *config,
                    struct err *err);
    int (*remove)(struct topics *topics, const char *name, struct err *err);
    int (*list)(struct topics *topics, struct arena *arena, const char ***names, size_t *count,
                struct err *err);
    int (*partition_count)(struct topics *topics, const char *name, uint32_t *count,
                           struct err *err);
    int (*submit)(struct topics *topics, const struct submit *submit, struct err *err);
    int (*flush)(struct topics *topics, int timeout_ms, struct err *err);
    int (*read)(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
                size_t max_count, int timeout_ms, struct arena *arena,
                const struct topic_message **messages, size_t *count, struct err *err);
    int (*range)(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                 uint64_t *end, struct err *err);
    int (*trim)(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
                struct err *err);
    int (*lag)(struct topics *topics, const char *group, const char *name, uint32_t partition,
               struct topic_lag *lag, struct err *err);
    int (*housekeep)(struct topics *topics, struct err *err);

    int (*consumer_open)(struct topics *topics, const struct consumer_options *options,
                         struct consumer **consumer, struct err *err);
    void (*consumer_close)(struct consumer *consumer);
    int (*consumer_poll)(struct consumer *consumer, int timeout_ms,
                         const struct topic_message **messages, size_t *count, struct err *err);
    int (*consumer_commit)(struct consumer *consumer, const struct topic_position *positions,
                           size_t count, struct err *err);
    int (*consumer_seek)(struct consumer *consumer, const char *topic, uint32_t partition,
                         uint64_t offset, struct err *err);
    int (*consumer_assignment)(struct consumer *consumer, struct topic_position *positions,
                               size_t max, size_t *count, struct err *err);
    uint64_t (*consumer_generation)(struct consumer *consumer);
};

enum { TOPICS_MAGIC = OBJECT_MAGIC('t', 'o', 'p', 's') };

struct topics {     /* embedded in each backend's struct */
    uint32_t magic; /* set by topics_open */
    const struct topics_ops *ops;
    const struct clock *clock; /* borrowed */
    _Atomic uint32_t spread;   /* turn of records without a key */
    atomic_bool is_leaving;    /* nobody waits for records for long */
};

enum { CONSUMER_MAGIC = OBJECT_MAGIC('c', 'o', 'n', 's') };

struct consumer {   /* embedded in each backend's struct */
    uint32_t magic; /* set by consumer_open */
    struct topics *topics;
    struct topic_position *polled; /* owned: the end of the last batch, one per partition */
    size_t polled_count;
    size_t polled_capacity;
};

extern const struct topics_ops topics_file_ops;
extern const struct topics_ops topics_memory_ops;
extern const struct topics_ops topics_kafka_ops;
extern const struct topics_ops topics_fault_ops;
extern const struct topics_ops topics_prefix_ops;

/* tests: one more, found by its scheme; NULL takes it away. Before other threads open topics. */
void topics_add_backend(const struct topics_ops *ops);

/* Owns the inner one; the prefix is checked. */
struct topics *topics_with_prefix(struct topics *inner, const char *prefix);

#endif
