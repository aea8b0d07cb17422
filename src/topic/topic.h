/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic.h - partitioned durable logs; pipeline stages talk only through these.
 *
 * A topic has a fixed number of partitions. A record goes to the partition of its key's hash,
 * or to the one it names, and keeps its offset there for ever, so records of one key stay in
 * order and any stage can be replayed. A produce that returns 0 (or calls back with 0) is
 * durable; one that fails may still have been stored, so producing again may duplicate: delivery
 * is at least once.
 *
 * A consumer is a member of a group. The partitions of its topics are spread over the
 * group's members; a partition moves only when its owner polls again, closes, or has been
 * silent for its session's time. After that its commits are refused with ERR_STALE.
 *
 * URLs: file:DIR (embedded), memory: (tests), kafka://host:port[,host:port]; fault:URL wraps
 * any of them in tests (topic_fault.h).
 * Threads: struct topics is shared by all; a consumer belongs to one thread at a time.
 */
#ifndef TORG_TOPIC_TOPIC_H
#define TORG_TOPIC_TOPIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct topics;   /* a broker: the embedded one, or the client of Kafka */
struct consumer; /* a member of a group */
struct disk;     /* disk.h */

/* How brokers know us, and we them: Kafka's. All zero: by nothing. Copied. */
struct topics_security {
    const char *sasl; /* "PLAIN", "SCRAM-SHA-256", ...; NULL: no sign-in */
    const char *user;
    const char *password;
    bool tls;
    const char *ca; /* files; NULL or "": none */
    const char *certificate;
    const char *key;
};

struct topics_options {
    const struct clock *clock; /* NULL: the system's; borrowed */
    struct disk *disk;         /* tests: used by file: instead of the directory; borrowed */
    /* Before all names of topics and groups there, so that two installations can share a Kafka;
     * nobody sees it here. NULL or "": none. Copied. */
    const char *prefix;
    struct topics_security security;
};

/* options may be NULL. On failure *topics is NULL. ERR_EXISTS: the directory is open already. */
int topics_open(const char *url, const struct topics_options *options, struct topics **topics,
                struct err *err);
void topics_close(struct topics *topics); /* after its consumers; waits for what is in flight */
/* The process is about to end: from now on polls and reads wait for no more than
 * TOPIC_LEAVING_WAIT_MS, or those who stop one after the other would wait so long each. */
void topics_leave(struct topics *topics);

/* --- topics --- */

struct topic_config {
    uint32_t partition_count;
    int64_t retention_ms;   /* records older than this may go; 0: kept for ever */
    int64_t retention_size; /* bytes kept of each partition, about; 0: all */
};

/* There already with the same number of partitions: 0, the retention is updated.
 * With another number: ERR_PRECONDITION. */
int topic_create(struct topics *topics, const char *name, const struct topic_config *config,
                 struct err *err);
int topic_describe(struct topics *topics, const char *name, struct topic_config *config,
                   struct err *err);
/* Makes it unless it is there, however that one is: an operator's choice stays, and of several who
 * make it at once that of the first. */
int topic_ensure(struct topics *topics, const char *name, const struct topic_config *config,
                 struct err *err);
/* Deletes the topic with its records and all that groups have committed of it; durable when it
 * returns 0. ERR_NOT_FOUND: there is none. Any other failure: it may be there or not, remove it
 * again. From then on all calls with the name are told ERR_NOT_FOUND, those that wait for its
 * records too; so is a consumer that subscribes to it, by its polls, seeks and commits, until it is
 * opened anew (on Kafka its polls may just find nothing). A topic that is created again under the
 * name is another one: it begins at offset 0, with nothing committed (on Kafka the brokers forget
 * commits soon after). Waits until what is in flight to it was called back, so it must not be
 * called by such a callback; ERR_TIMEOUT after TOPIC_REMOVE_MS. */
int topic_remove(struct topics *topics, const char *name, struct err *err);
/* In order of names; the memory is the arena's. */
int topic_list(struct topics *topics, struct arena *arena, const char ***names, size_t *count,
               struct err *err);

/* Where a key goes: the same on every backend. */
uint32_t topic_partition(struct bytes key, uint32_t partition_count);

/* --- produce --- */

struct topic_header {
    struct bytes name;
    struct bytes value;
};

struct topic_record {
    struct bytes key; /* empty, and no partition named: spread over the partitions in turn */
    struct bytes value;
    bool has_partition; /* it goes to this one, whatever its key; ERR_INVALID: there is none such */
    uint32_t partition;
    int64_t timestamp_us;               /* 0: now; Kafka keeps milliseconds */
    const struct topic_header *headers; /* may be NULL */
    size_t header_count;
};

/* Returns when all are durable, in this order within each partition. offsets (may be NULL)
 * gets one for each record. On failure some of them may have been stored. */
int topic_produce(struct topics *topics, const char *name, const struct topic_record *records,
                  size_t count, uint64_t *offsets, struct err *err);

/* err is NULL when rc is 0. Called by a thread of the broker: must not block, nor produce. */
typedef void (*topic_done_fn)(void *arg, int rc, uint32_t partition, uint64_t offset,
                              const struct err *err);

/* Copies the record and returns; done is called once, unless this returns an error. Waits while
 * too much is in flight. Records of one thread and one key stay in order. */
int topic_produce_async(struct topics *topics, const char *name, const struct topic_record *record,
                        topic_done_fn done, void *arg, struct err *err);

/* Waits until everything produced before has been called back; ERR_TIMEOUT. */
int topics_flush(struct topics *topics, int timeout_ms, struct err *err);

/* --- read --- */

struct topic_message {
    const char *topic;
    uint32_t partition;
    uint64_t offset;
    struct bytes key;
    struct bytes value;
    int64_t timestamp_us;
    const struct topic_header *headers;
    size_t header_count;
};

/* Up to max_count records from offset on, without a group; waits up to timeout_ms for the
 * first (none by then: 0 and *count 0). The memory is the arena's. ERR_RANGE, naming what
 * there is, when offset is before the first kept or after the end. */
int topic_read(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
               size_t max_count, int timeout_ms, struct arena *arena,
               const struct topic_message **messages, size_t *count, struct err *err);

/* The first offset kept and the one the next record will get. */
int topic_range(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                uint64_t *end, struct err *err);

/* Nobody needs the records below `before` any more. They go in the backend's own steps: on Kafka at
 * once, embedded when a whole file of them can go, so that up to a file's worth may stay; ask again
 * as long as topic_range says so. Those from `before` on are kept. ERR_RANGE: past the end. */
int topic_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
               struct err *err);

/* --- consumer groups --- */

enum topic_start { TOPIC_START_EARLIEST, TOPIC_START_LATEST };

struct consumer_options {
    const char *group;
    const char *const *topics;
    size_t topic_count;
    enum topic_start start; /* where nothing is committed yet */
    int session_ms;         /* between polls; 0: TOPIC_SESSION_MS */
    size_t poll_count;      /* most records of one poll; 0: TOPIC_POLL_COUNT */
};

struct topic_position {
    const char *topic;
    uint32_t partition;
    uint64_t offset; /* of the next record to process */
};

/* The options' strings are copied. */
int consumer_open(struct topics *topics, const struct consumer_options *options,
                  struct consumer **consumer, struct err *err);
/* Hands its partitions over at once; what is not committed will be read again. */
void consumer_close(struct consumer *consumer);

/* Waits up to timeout_ms for records; *count is 0 when none came. Valid until the next call
 * on this consumer other than a commit. Calling it says that the last batch was processed. */
int consumer_poll(struct consumer *consumer, int timeout_ms, const struct topic_message **messages,
                  size_t *count, struct err *err);

/* Durable when it returns 0. ERR_STALE: a partition of these is not ours any more; none of the
 * positions is then committed. ERR_RANGE: past the end (embedded). */
int consumer_commit(struct consumer *consumer, const struct topic_position *positions, size_t count,
                    struct err *err);
/* Commits the end of the last poll's batch. */
int consumer_commit_polled(struct consumer *consumer, struct err *err);

/* The next poll reads the partition from offset on; ERR_STALE when it is not ours. */
int consumer_seek(struct consumer *consumer, const char *topic, uint32_t partition, uint64_t offset,
                  struct err *err);

/* What is ours since the last poll; its offsets are unspecified. The names are valid until the
 * consumer closes. At most max are filled, *count tells how many there are. */
int consumer_assignment(struct consumer *consumer, struct topic_position *positions, size_t max,
                        size_t *count, struct err *err);

/* Grows whenever the partitions were dealt anew. */
uint64_t consumer_generation(struct consumer *consumer);

struct topic_lag {
    uint64_t first;
    uint64_t end;
    bool has_committed;
    uint64_t committed;
    uint64_t lag; /* records from the committed offset (else the first) to the end */
};

int topic_lag(struct topics *topics, const char *group, const char *name, uint32_t partition,
              struct topic_lag *lag, struct err *err);

/* Does now what the housekeeping thread does in its time: retention, silent members. */
int topics_housekeep(struct topics *topics, struct err *err);

#endif
