/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writers.c - see writers.h.
 *
 * A request is cut into parts, one for each partition its records go to; each part waits in the
 * queue of its partition's writer. The last part to be done calls the request back. Order per
 * partition is the order of its writer's queue.
 *
 * Threads: `lock` of the pool guards the list of requests and their results; each writer's own
 * lock guards its queue. A request's records are read without a lock by the writers.
 */
#include "topic/writers.h"

#include <assert.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "topic/bounds.h"

enum { RECORD_OVERHEAD = 64 };

struct request;

struct part {
    struct part *next;
    struct request *request;
    struct partition *partition;
    uint32_t index; /* of the partition */
};

enum { REQUEST_MAGIC = OBJECT_MAGIC('w', 'r', 'e', 'q') };

struct request {
    uint32_t magic;
    struct request *previous, *next; /* all that are in flight, oldest first */
    uint64_t ticket;
    struct submit submit;
    size_t size;
    size_t parts_left;
    int rc;
    struct err err;
    void *copy; /* owned; NULL when the records are the caller's */
    size_t part_count;
    struct part parts[];
};

struct writer {
    struct writers *pool;
    struct task task;
    pthread_mutex_t lock;
    struct condition wake; /* callers have handed something over: the writer sleeps on it */
    struct part *first, **last;
};

enum { WRITERS_MAGIC = OBJECT_MAGIC('w', 't', 'r', 's') };

struct writers {
    uint32_t magic;
    writers_published_fn published;
    void *arg;
    pthread_mutex_t lock;
    struct condition room; /* something was finished */
    struct request *oldest, *newest;
    uint64_t ticket;
    size_t size; /* bytes in flight */
    struct writer each[TOPIC_WRITER_COUNT];
};

static _Thread_local bool on_writer_thread;

/* --- requests --- */

static size_t records_size(const struct topic_record *records, size_t count)
{
    size_t size = 0;
    size_t i;

    for (i = 0; i < count; i++)
        size += RECORD_OVERHEAD + frame_record_size(&records[i]);
    return size;
}

static struct bytes copy_bytes(struct bytes from, uint8_t **at)
{
    struct bytes to = bytes_make(*at, from.size);

    if (from.size)
        memcpy(*at, from.data, from.size);
    *at += from.size;
    return to;
}

/* Records, then their headers, then the partitions, then all bytes: one block. */
static void copy_records(struct request *request)
{
    struct submit *submit = &request->submit;
    size_t header_count = 0, size = 0;
    struct topic_record *records;
    struct topic_header *headers;
    uint32_t *partitions;
    uint8_t *at;
    size_t i, k;

    for (i = 0; i < submit->count; i++) {
        header_count += submit->records[i].header_count;
        size += frame_record_size(&submit->records[i]);
    }
    request->copy = mem_alloc(submit->count * (sizeof(*records) + sizeof(*partitions)) +
                              header_count * sizeof(*headers) + size);
    records = request->copy;
    headers = (struct topic_header *)(records + submit->count);
    partitions = (uint32_t *)(headers + header_count);
    at = (uint8_t *)(partitions + submit->count);
    memcpy(partitions, submit->partitions, submit->count * sizeof(*partitions));
    for (i = 0; i < submit->count; i++) {
        const struct topic_record *from = &submit->records[i];

        records[i] = *from;
        records[i].key = copy_bytes(from->key, &at);
        records[i].value = copy_bytes(from->value, &at);
        records[i].headers = headers;
        for (k = 0; k < from->header_count; k++, headers++) {
            headers->name = copy_bytes(from->headers[k].name, &at);
            headers->value = copy_bytes(from->headers[k].value, &at);
        }
    }
    submit->records = records;
    submit->partitions = partitions;
}

static struct request *new_request(struct partition *partitions, const struct submit *submit)
{
    size_t most = submit->count < TOPIC_PARTITION_COUNT_MAX ? submit->count
                                                            : (size_t)TOPIC_PARTITION_COUNT_MAX;
    struct request *request = mem_zero(sizeof(*request) + most * sizeof(request->parts[0]));
    uint64_t seen[TOPIC_PARTITION_COUNT_MAX / 64] = {0};
    size_t i;

    object_begin(request, REQUEST_MAGIC);
    request->submit = *submit;
    request->size = records_size(submit->records, submit->count);
    for (i = 0; i < submit->count; i++) {
        uint32_t index = submit->partitions[i];
        struct part *part;

        assert(index < TOPIC_PARTITION_COUNT_MAX);
        if (seen[index / 64] & (1ull << (index % 64)))
            continue;
        seen[index / 64] |= 1ull << (index % 64);
        part = &request->parts[request->part_count++];
        *part = (struct part){NULL, request, &partitions[index], index};
    }
    assert(request->part_count > 0 && request->part_count <= most);
    request->parts_left = request->part_count;
    if (submit->copy)
        copy_records(request);
    return request;
}

/* Takes the request out of flight and calls back. */
static void finish_request(struct writers *writers, struct request *request)
{
    object_check(request, REQUEST_MAGIC);
    assert(request->parts_left == 0 && request->rc <= 0);
    /* called back first: flush promises that */
    request->submit.done(request->submit.arg, request->rc, &request->err);
    pthread_mutex_lock(&writers->lock);
    if (request->previous)
        request->previous->next = request->next;
    else
        writers->oldest = request->next;
    if (request->next)
        request->next->previous = request->previous;
    else
        writers->newest = request->previous;
    assert(writers->size >= request->size && !writers->oldest == !writers->newest);
    writers->size -= request->size;
    condition_broadcast(&writers->room);
    pthread_mutex_unlock(&writers->lock);
    free(request->copy);
    object_end(request, REQUEST_MAGIC);
    free(request);
}

static void finish_part(struct writers *writers, struct part *part, int rc, const struct err *err)
{
    struct request *request = part->request;
    bool last;

    object_check(request, REQUEST_MAGIC);
    pthread_mutex_lock(&writers->lock);
    if (rc && !request->rc) {
        request->rc = rc;
        request->err = *err;
    }
    assert(request->parts_left > 0); /* a part is done once */
    last = --request->parts_left == 0;
    pthread_mutex_unlock(&writers->lock);
    if (last)
        finish_request(writers, request);
}

/* --- the threads --- */

/* The oldest queued parts, as many as one commit takes; NULL when it is time to stop. */
static struct part *take_parts(struct writer *writer)
{
    struct part *taken, **end;
    size_t size = 0;

    pthread_mutex_lock(&writer->lock);
    while (!writer->first && !task_is_stopping(&writer->task))
        task_wait_on(&writer->task, &writer->wake, &writer->lock, CLOCK_NEVER);
    taken = writer->first;
    end = &writer->first;
    while (*end && size < TOPIC_COMMIT_SIZE_MAX) {
        size += (*end)->request->size;
        end = &(*end)->next;
    }
    if (taken) {
        writer->first = *end;
        *end = NULL;
        if (!writer->first)
            writer->last = &writer->first;
    }
    pthread_mutex_unlock(&writer->lock);
    return taken;
}

static void stage_part(struct part *part, struct partition **round)
{
    struct partition *partition = part->partition;
    const struct submit *submit = &part->request->submit;
    size_t i;

    object_check(part->request, REQUEST_MAGIC);
    object_check(partition, PARTITION_MAGIC);
    if (!partition->in_round) {
        partition->in_round = true;
        partition->round_next = *round;
        *round = partition;
        partition->round_rc = partition_begin(partition, &partition->round_err);
    }
    if (partition->round_rc)
        return;
    for (i = 0; i < submit->count; i++)
        if (submit->partitions[i] == part->index)
            submit->offsets[i] = partition_stage(partition, &submit->records[i]);
}

static void commit_parts(struct writers *writers, struct part *parts)
{
    struct partition *round = NULL, *partition;
    struct part *part, *next;

    for (part = parts; part; part = part->next)
        stage_part(part, &round);
    for (partition = round; partition; partition = partition->round_next) {
        if (!partition->round_rc)
            partition->round_rc = partition_commit(partition, &partition->round_err);
        if (!partition->round_rc)
            writers->published(writers->arg, partition);
    }
    for (; round; round = round->round_next)
        round->in_round = false;
    /* a partition may go with the last of its requests */
    for (part = parts; part; part = next) {
        next = part->next;
        finish_part(writers, part, part->partition->round_rc, &part->partition->round_err);
    }
}

static void run_writer(struct task *task, void *arg)
{
    struct writer *writer = arg;
    struct part *parts;

    object_check(writer->pool, WRITERS_MAGIC);
    on_writer_thread = true;
    for (parts = take_parts(writer); parts; parts = take_parts(writer)) {
        task_says(task, "writing records");
        commit_parts(writer->pool, parts);
    }
}

/* --- the pool --- */

struct writers *writers_new(writers_published_fn published, void *arg, const struct clock *clock)
{
    struct writers *writers = mem_zero(sizeof(*writers));
    size_t i;

    object_begin(writers, WRITERS_MAGIC);
    writers->published = published;
    writers->arg = arg;
    pthread_mutex_init(&writers->lock, NULL);
    condition_init(&writers->room, clock);
    for (i = 0; i < TOPIC_WRITER_COUNT; i++) {
        struct writer *writer = &writers->each[i];
        const struct task_options options = {
            .name = "topic-writer", .run = run_writer, .arg = writer, .clock = clock};
        int rc;

        writer->pool = writers;
        writer->last = &writer->first;
        pthread_mutex_init(&writer->lock, NULL);
        condition_init(&writer->wake, clock);
        rc = task_start(&writer->task, &options, NULL);
        assert(rc == 0); /* as for memory: a machine without threads to spare runs nothing */
    }
    return writers;
}

void writers_free(struct writers *writers)
{
    size_t i;

    if (!writers)
        return;
    object_check(writers, WRITERS_MAGIC);
    for (i = 0; i < TOPIC_WRITER_COUNT; i++) {
        struct writer *writer = &writers->each[i];

        pthread_mutex_lock(&writer->lock);
        task_ask_stop(&writer->task);
        condition_signal(&writer->wake);
        pthread_mutex_unlock(&writer->lock);
        task_stop(&writer->task);
        assert(!writer->first); /* all that was submitted is written */
        condition_release(&writer->wake);
        pthread_mutex_destroy(&writer->lock);
    }
    assert(!writers->oldest && writers->size == 0);
    condition_release(&writers->room);
    pthread_mutex_destroy(&writers->lock);
    object_end(writers, WRITERS_MAGIC);
    free(writers);
}

static void enqueue(struct writers *writers, struct request *request)
{
    size_t count = request->part_count; /* the request may be gone after its last part is queued */
    size_t i;

    for (i = 0; i < count; i++) {
        struct part *part = &request->parts[i];
        struct writer *writer = &writers->each[part->partition->writer];

        assert(part->partition->writer < TOPIC_WRITER_COUNT);
        pthread_mutex_lock(&writer->lock);
        assert(!*writer->last && !task_is_stopping(&writer->task));
        *writer->last = part;
        writer->last = &part->next;
        condition_signal(&writer->wake);
        pthread_mutex_unlock(&writer->lock);
    }
}

int writers_submit(struct writers *writers, struct partition *partitions,
                   const struct submit *submit, bool wait, struct err *err)
{
    struct request *request;

    object_check(writers, WRITERS_MAGIC);
    assert(submit->count > 0 && submit->done && submit->offsets);
    if (wait && on_writer_thread)
        return err_set(err, ERR_PRECONDITION, "a produce callback must not produce");
    request = new_request(partitions, submit);
    pthread_mutex_lock(&writers->lock);
    while (wait && writers->size && writers->size + request->size > TOPIC_INFLIGHT_SIZE_MAX)
        condition_wait(&writers->room, &writers->lock);
    writers->size += request->size;
    request->ticket = ++writers->ticket;
    request->previous = writers->newest;
    if (writers->newest)
        writers->newest->next = request;
    else
        writers->oldest = request;
    writers->newest = request;
    pthread_mutex_unlock(&writers->lock);
    enqueue(writers, request);
    return 0;
}

int writers_flush(struct writers *writers, int timeout_ms, struct err *err)
{
    int64_t until_us = clock_after_us(writers->room.clock, (int64_t)timeout_ms * MS_US);
    uint64_t ticket;
    int rc = 0;

    object_check(writers, WRITERS_MAGIC);
    pthread_mutex_lock(&writers->lock);
    ticket = writers->ticket;
    while (!rc && writers->oldest && writers->oldest->ticket <= ticket)
        if (!condition_wait_until(&writers->room, &writers->lock, until_us))
            rc = err_set(err, ERR_TIMEOUT, "records are still in flight after %d ms", timeout_ms);
    pthread_mutex_unlock(&writers->lock);
    return rc;
}
