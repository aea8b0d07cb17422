/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic_prefix.c - puts a prefix before all names of topics and groups, for installations that
 * share a Kafka. Wraps a backend (topics_options.prefix): users of topics see names without the
 * prefix, and only topics that have it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/memory.h"
#include "topic/bounds.h"
#include "topic/topic_ops.h"

struct prefix_topics {
    struct topics base;
    struct topics *inner; /* owned */
    char prefix[TOPIC_PREFIX_SIZE_MAX + 1];
    size_t size;
};

struct prefix_consumer {
    struct consumer base;
    struct prefix_topics *owner;
    struct consumer *inner;         /* owned */
    struct topic_message *messages; /* owned: of the last poll, with their names here */
    size_t capacity;
};

enum { FULL_NAME_SIZE = TOPIC_PREFIX_SIZE_MAX + TOPIC_NAME_SIZE_MAX + 1 };

static struct prefix_topics *prefix_of(struct topics *topics)
{
    return container_of(topics, struct prefix_topics, base);
}

static struct topics *inner_of(struct topics *topics)
{
    return prefix_of(topics)->inner;
}

static struct prefix_consumer *consumer_of(struct consumer *consumer)
{
    return container_of(consumer, struct prefix_consumer, base);
}

/* topic.c has checked the name's size. */
static const char *full(const struct prefix_topics *self, const char *name,
                        char text[FULL_NAME_SIZE])
{
    size_t size = strlen(name);

    assert(size <= TOPIC_NAME_SIZE_MAX);
    memcpy(text, self->prefix, self->size);
    memcpy(text + self->size, name, size + 1);
    return text;
}

struct topics *topics_with_prefix(struct topics *inner, const char *prefix)
{
    struct prefix_topics *self = mem_zero(sizeof(*self));

    self->inner = inner;
    self->size = strlen(prefix);
    assert(self->size <= TOPIC_PREFIX_SIZE_MAX);
    memcpy(self->prefix, prefix, self->size);
    object_begin(&self->base, TOPICS_MAGIC);
    self->base.ops = &topics_prefix_ops;
    self->base.clock = inner->clock;
    return &self->base;
}

/* It is no scheme of a URL. */
static int prefix_open(const char *place, const struct topics_options *options,
                       struct topics **topics, struct err *err)
{
    (void)options;
    *topics = NULL;
    return err_set(err, ERR_INVALID, "topic URL \"%.200s\": a prefix is an option, not a scheme",
                   place);
}

static void prefix_close(struct topics *topics)
{
    topics_close(inner_of(topics));
    free(prefix_of(topics));
}

static int prefix_create(struct topics *topics, const char *name, const struct topic_config *config,
                         struct err *err)
{
    char text[FULL_NAME_SIZE];

    return topic_create(inner_of(topics), full(prefix_of(topics), name, text), config, err);
}

static int prefix_describe(struct topics *topics, const char *name, struct topic_config *config,
                           struct err *err)
{
    char text[FULL_NAME_SIZE];

    return topic_describe(inner_of(topics), full(prefix_of(topics), name, text), config, err);
}

static int prefix_remove(struct topics *topics, const char *name, struct err *err)
{
    char text[FULL_NAME_SIZE];

    return topic_remove(inner_of(topics), full(prefix_of(topics), name, text), err);
}

static int prefix_list(struct topics *topics, struct arena *arena, const char ***names,
                       size_t *count, struct err *err)
{
    const struct prefix_topics *self = prefix_of(topics);
    size_t kept = 0;
    int rc = topic_list(self->inner, arena, names, count, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < *count; i++) {
        const char *name = (*names)[i];

        if (strncmp(name, self->prefix, self->size) == 0 && name[self->size])
            (*names)[kept++] = name + self->size;
    }
    *count = kept;
    return 0;
}

static int prefix_partition_count(struct topics *topics, const char *name, uint32_t *count,
                                  struct err *err)
{
    char text[FULL_NAME_SIZE];

    return inner_of(topics)->ops->partition_count(inner_of(topics),
                                                  full(prefix_of(topics), name, text), count, err);
}

/* A backend copies the name, or is through with it when it returns. */
static int prefix_submit(struct topics *topics, const struct submit *submit, struct err *err)
{
    struct submit passed = *submit;
    char text[FULL_NAME_SIZE];

    passed.name = full(prefix_of(topics), submit->name, text);
    return inner_of(topics)->ops->submit(inner_of(topics), &passed, err);
}

static int prefix_flush(struct topics *topics, int timeout_ms, struct err *err)
{
    return inner_of(topics)->ops->flush(inner_of(topics), timeout_ms, err);
}

static int prefix_read(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
                       size_t max_count, int timeout_ms, struct arena *arena,
                       const struct topic_message **messages, size_t *count, struct err *err)
{
    char text[FULL_NAME_SIZE];
    struct topic_message *named;
    int rc = topic_read(inner_of(topics), full(prefix_of(topics), name, text), partition, offset,
                        max_count, timeout_ms, arena, messages, count, err);

    if (rc || !*count)
        return rc;
    named = arena_array(arena, *count, sizeof(*named));
    memcpy(named, *messages, *count * sizeof(*named));
    for (size_t i = 0; i < *count; i++)
        named[i].topic += prefix_of(topics)->size;
    *messages = named;
    return 0;
}

static int prefix_range(struct topics *topics, const char *name, uint32_t partition,
                        uint64_t *first, uint64_t *end, struct err *err)
{
    char text[FULL_NAME_SIZE];

    return topic_range(inner_of(topics), full(prefix_of(topics), name, text), partition, first, end,
                       err);
}

static int prefix_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
                       struct err *err)
{
    char text[FULL_NAME_SIZE];

    return topic_trim(inner_of(topics), full(prefix_of(topics), name, text), partition, before,
                      err);
}

static int prefix_lag(struct topics *topics, const char *group, const char *name,
                      uint32_t partition, struct topic_lag *lag, struct err *err)
{
    char group_text[FULL_NAME_SIZE];
    char text[FULL_NAME_SIZE];

    return topic_lag(inner_of(topics), full(prefix_of(topics), group, group_text),
                     full(prefix_of(topics), name, text), partition, lag, err);
}

static int prefix_housekeep(struct topics *topics, struct err *err)
{
    return topics_housekeep(inner_of(topics), err);
}

/* --- consumers --- */

static int prefix_consumer_open(struct topics *topics, const struct consumer_options *options,
                                struct consumer **consumer, struct err *err)
{
    struct prefix_topics *self = prefix_of(topics);
    struct prefix_consumer *made = mem_zero(sizeof(*made));
    struct consumer_options passed = *options;
    char names[TOPIC_SUBSCRIPTION_MAX][FULL_NAME_SIZE];
    const char *list[TOPIC_SUBSCRIPTION_MAX];
    char group[FULL_NAME_SIZE];
    int rc;

    for (size_t i = 0; i < options->topic_count; i++)
        list[i] = full(self, options->topics[i], names[i]);
    passed.topics = list;
    passed.group = full(self, options->group, group);
    rc = consumer_open(self->inner, &passed, &made->inner, err);
    if (rc) {
        free(made);
        return rc;
    }
    made->owner = self;
    *consumer = &made->base;
    return 0;
}

static void prefix_consumer_close(struct consumer *base)
{
    struct prefix_consumer *consumer = consumer_of(base);

    consumer_close(consumer->inner);
    free(consumer->messages);
    free(consumer);
}

static int prefix_consumer_poll(struct consumer *base, int timeout_ms,
                                const struct topic_message **messages, size_t *count,
                                struct err *err)
{
    struct prefix_consumer *consumer = consumer_of(base);
    const struct topic_message *found;
    int rc = consumer_poll(consumer->inner, timeout_ms, &found, count, err);

    if (rc)
        return rc;
    if (*count > consumer->capacity) {
        consumer->capacity = *count;
        consumer->messages =
            mem_resize(consumer->messages, consumer->capacity * sizeof(*consumer->messages));
    }
    for (size_t i = 0; i < *count; i++) {
        consumer->messages[i] = found[i];
        consumer->messages[i].topic += consumer->owner->size;
    }
    *messages = consumer->messages;
    return 0;
}

static int prefix_consumer_commit(struct consumer *base, const struct topic_position *positions,
                                  size_t count, struct err *err)
{
    struct prefix_consumer *consumer = consumer_of(base);
    struct topic_position *passed = mem_array(count, sizeof(*passed));
    char(*names)[FULL_NAME_SIZE] = mem_array(count, sizeof(*names));
    int rc;

    for (size_t i = 0; i < count; i++) {
        passed[i] = positions[i];
        passed[i].topic = full(consumer->owner, positions[i].topic, names[i]);
    }
    rc = consumer_commit(consumer->inner, passed, count, err);
    free(names);
    free(passed);
    return rc;
}

static int prefix_consumer_seek(struct consumer *base, const char *topic, uint32_t partition,
                                uint64_t offset, struct err *err)
{
    struct prefix_consumer *consumer = consumer_of(base);
    char text[FULL_NAME_SIZE];

    return consumer_seek(consumer->inner, full(consumer->owner, topic, text), partition, offset,
                         err);
}

static int prefix_consumer_assignment(struct consumer *base, struct topic_position *positions,
                                      size_t max, size_t *count, struct err *err)
{
    struct prefix_consumer *consumer = consumer_of(base);
    int rc = consumer_assignment(consumer->inner, positions, max, count, err);

    for (size_t i = 0; !rc && i < *count && i < max; i++)
        positions[i].topic += consumer->owner->size;
    return rc;
}

static uint64_t prefix_consumer_generation(struct consumer *consumer)
{
    return consumer_generation(consumer_of(consumer)->inner);
}

const struct topics_ops topics_prefix_ops = {
    .scheme = "prefix",
    .open = prefix_open,
    .close = prefix_close,
    .create = prefix_create,
    .describe = prefix_describe,
    .remove = prefix_remove,
    .list = prefix_list,
    .partition_count = prefix_partition_count,
    .submit = prefix_submit,
    .flush = prefix_flush,
    .read = prefix_read,
    .range = prefix_range,
    .trim = prefix_trim,
    .lag = prefix_lag,
    .housekeep = prefix_housekeep,
    .consumer_open = prefix_consumer_open,
    .consumer_close = prefix_consumer_close,
    .consumer_poll = prefix_consumer_poll,
    .consumer_commit = prefix_consumer_commit,
    .consumer_seek = prefix_consumer_seek,
    .consumer_assignment = prefix_consumer_assignment,
    .consumer_generation = prefix_consumer_generation,
};
