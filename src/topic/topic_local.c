/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic_local.c - the embedded broker behind file: and memory:; see local.h for its files.
 *
 * Produces go to the writers' threads, reads go straight to the files. A housekeeping thread
 * deletes what retention lets go, expels silent members and compacts the committed offsets.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "topic/local.h"

enum { META_SIZE = 36 };

static const char meta_magic[8] = {'T', 'O', 'R', 'G', 'T', 'O', 'P', '1'};

static struct local *local_of(struct topics *topics)
{
    return container_of(topics, struct local, base);
}

static int refuse_missing(const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no topic %s: create it first", name);
}

/* Uses it until local_leave. */
static int take_topic(struct local *local, const char *name, struct local_topic **topic,
                      struct err *err)
{
    *topic = local_take(local, name);
    return *topic ? 0 : refuse_missing(name, err);
}

/* The same; one that was made anew since the partition was chosen may have fewer. */
static int take_partition(struct local *local, const char *name, uint32_t partition,
                          struct local_topic **topic, struct err *err)
{
    int rc = take_topic(local, name, topic, err);

    if (rc || partition < (*topic)->config.partition_count)
        return rc;
    local_leave(local, *topic);
    return refuse_missing(name, err);
}

/* --- a topic's files --- */

static int write_meta(struct local *local, const char *name, const struct topic_config *config,
                      struct err *err)
{
    uint8_t meta[META_SIZE] = {0};
    char path[PARTITION_DIR_SIZE];

    memcpy(meta, meta_magic, sizeof(meta_magic));
    put_le32(meta + 8, config->partition_count);
    put_le64(meta + 16, (uint64_t)config->retention_ms);
    put_le64(meta + 24, (uint64_t)config->retention_size);
    put_le32(meta + 32, crc32c(0, bytes_make(meta, 32)));
    snprintf(path, sizeof(path), "topics/%s/meta", name);
    return local->disk->ops->write_whole(local->disk, path, bytes_make(meta, sizeof(meta)), err);
}

static int read_meta(struct local *local, const char *name, struct topic_config *config,
                     struct err *err)
{
    struct buf meta = BUF_INIT(META_SIZE);
    char path[PARTITION_DIR_SIZE];
    int rc;

    snprintf(path, sizeof(path), "topics/%s/meta", name);
    rc = local->disk->ops->read_whole(local->disk, path, &meta, err);
    if (!rc && (meta.size != META_SIZE || memcmp(meta.data, meta_magic, sizeof(meta_magic)) != 0 ||
                get_le32(meta.data + 32) != crc32c(0, bytes_make(meta.data, 32)) ||
                get_le32(meta.data + 8) - 1 >= TOPIC_PARTITION_COUNT_MAX))
        rc = segment_damaged(path, 0, "it does not describe a topic", err);
    if (!rc) {
        config->partition_count = get_le32(meta.data + 8);
        config->retention_ms = (int64_t)get_le64(meta.data + 16);
        config->retention_size = (int64_t)get_le64(meta.data + 24);
    }
    buf_release(&meta);
    return rc;
}

/* Of one that is in the table, or was not entered. */
static void close_topic(struct local *local, struct local_topic *topic, uint32_t opened)
{
    uint32_t i;

    for (i = 0; i < opened; i++)
        partition_close(&topic->partitions[i]);
    free(topic->partitions);
    topic->partitions = NULL;
    local_drop(local, topic);
}

static void apply_retention(struct local_topic *topic)
{
    uint32_t i;

    for (i = 0; i < topic->config.partition_count; i++)
        partition_set_retention(&topic->partitions[i], topic->config.retention_ms,
                                topic->config.retention_size);
}

static int open_topic(struct local *local, const char *name, const struct topic_config *config,
                      struct local_topic **opened, struct err *err)
{
    struct local_topic *topic = mem_zero(sizeof(*topic));
    struct disk *disk = local->disk;
    char dir[PARTITION_DIR_SIZE];
    uint32_t spread = (uint32_t)hash64(bytes_of(name));
    uint32_t i;
    int rc;

    object_begin(topic, LOCAL_TOPIC_MAGIC);
    topic->name = mem_strdup(name);
    topic->config = *config;
    topic->holder_count = 1;
    pthread_mutex_init(&topic->lock, NULL);
    topic->partitions = mem_array(config->partition_count, sizeof(*topic->partitions));
    snprintf(dir, sizeof(dir), "topics/%s", name); /* of its own, so that its name is synced too */
    rc = disk->ops->make_dir(disk, dir, err);
    for (i = 0; i < config->partition_count && !rc; i++) {
        snprintf(dir, sizeof(dir), "topics/%s/%03u", name, i);
        rc = disk->ops->make_dir(disk, dir, err);
        if (!rc)
            rc = partition_open(&topic->partitions[i], disk, dir, local->clock, err);
        if (rc)
            break;
        topic->partitions[i].owner = topic;
        topic->partitions[i].writer = (spread + i) % TOPIC_WRITER_COUNT;
    }
    if (rc) {
        close_topic(local, topic, i);
        return rc;
    }
    apply_retention(topic);
    *opened = topic;
    return 0;
}

/* --- topics --- */

static int change_topic(struct local *local, struct local_topic *topic,
                        const struct topic_config *config, struct err *err)
{
    int rc = 0;

    if (topic->config.partition_count != config->partition_count)
        return err_set(err, ERR_PRECONDITION, "topic %s has %u partitions, not %u: it stays so",
                       topic->name, topic->config.partition_count, config->partition_count);
    pthread_mutex_lock(&topic->lock);
    if (topic->config.retention_ms != config->retention_ms ||
        topic->config.retention_size != config->retention_size) {
        rc = write_meta(local, topic->name, config, err);
        if (!rc) { /* the number of partitions is read without the lock */
            topic->config.retention_ms = config->retention_ms;
            topic->config.retention_size = config->retention_size;
            apply_retention(topic);
        }
    }
    pthread_mutex_unlock(&topic->lock);
    return rc;
}

/* Files and commits that a removal of the name may have left are not the new one's. */
static int make_topic(struct local *local, const char *name, const struct topic_config *config,
                      struct err *err)
{
    struct local_topic *topic;
    char dir[PARTITION_DIR_SIZE];
    int rc;

    if (local->topic_count == TOPIC_COUNT_MAX) /* it changes with create_lock held alone */
        return err_set(err, ERR_LIMIT,
                       "topic %s would be one more than TOPIC_COUNT_MAX, %d: remove others", name,
                       TOPIC_COUNT_MAX);
    snprintf(dir, sizeof(dir), "topics/%s", name);
    rc = local->disk->ops->remove_dir(local->disk, dir, err);
    if (!rc)
        rc = offsets_forget(&local->offsets, name, err);
    if (!rc)
        rc = open_topic(local, name, config, &topic, err);
    if (rc)
        return rc;
    rc = write_meta(local, name, config, err);
    if (!rc)
        local_add(local, topic);
    else
        close_topic(local, topic, config->partition_count);
    return rc;
}

static int local_create(struct topics *topics, const char *name, const struct topic_config *config,
                        struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *topic;
    int rc;

    pthread_mutex_lock(&local->create_lock);
    topic = local_find(local, name);
    rc = topic ? change_topic(local, topic, config, err) : make_topic(local, name, config, err);
    pthread_mutex_unlock(&local->create_lock);
    return rc;
}

static int local_describe(struct topics *topics, const char *name, struct topic_config *config,
                          struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *topic;
    int rc = take_topic(local, name, &topic, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&topic->lock);
    *config = topic->config;
    pthread_mutex_unlock(&topic->lock);
    local_leave(local, topic);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int local_list(struct topics *topics, struct arena *arena, const char ***names,
                      size_t *count, struct err *err)
{
    struct local *local = local_of(topics);
    size_t i;

    (void)err;
    pthread_mutex_lock(&local->topics_lock);
    *count = local->topic_count;
    *names = arena_array(arena, *count + 1, sizeof(**names));
    for (i = 0; i < *count; i++)
        (*names)[i] = arena_strdup(arena, local->topics[i]->name);
    pthread_mutex_unlock(&local->topics_lock);
    qsort(*names, *count, sizeof(**names), compare_names);
    return 0;
}

static int local_partition_count(struct topics *topics, const char *name, uint32_t *count,
                                 struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *topic;
    int rc = take_topic(local, name, &topic, err);

    if (rc)
        return rc;
    *count = topic->config.partition_count; /* never changes */
    local_leave(local, topic);
    return 0;
}

/* --- records --- */

enum { USE_MAGIC = OBJECT_MAGIC('l', 'u', 's', 'e') };

/* A submit keeps its topic in use until it is called back. */
struct use {
    uint32_t magic;
    struct local *local;
    struct local_topic *topic;
    submit_done_fn done;
    void *arg;
};

static void end_use(void *arg, int rc, const struct err *err)
{
    struct use *use = arg;

    object_check(use, USE_MAGIC);
    use->done(use->arg, rc, err);
    local_leave(use->local, use->topic);
    object_end(use, USE_MAGIC);
    free(use);
}

static int local_submit(struct topics *topics, const struct submit *submit, struct err *err)
{
    struct local *local = local_of(topics);
    struct submit used = *submit;
    struct local_topic *topic;
    uint32_t last = 0;
    struct use *use;
    size_t i;
    int rc;

    for (i = 0; i < submit->count; i++)
        last = submit->partitions[i] > last ? submit->partitions[i] : last;
    rc = take_partition(local, submit->name, last, &topic, err);
    if (rc)
        return rc;
    use = mem_alloc(sizeof(*use));
    *use = (struct use){USE_MAGIC, local, topic, submit->done, submit->arg};
    used.done = end_use;
    used.arg = use;
    rc = writers_submit(local->writers, topic->partitions, &used, true, err);
    if (rc) {
        local_leave(local, topic);
        object_end(use, USE_MAGIC);
        free(use);
    }
    return rc;
}

static int local_flush(struct topics *topics, int timeout_ms, struct err *err)
{
    return writers_flush(local_of(topics)->writers, timeout_ms, err);
}

/* What was read, in no more memory than it needs. */
static const struct topic_message *keep_messages(const struct local_topic *topic,
                                                 uint32_t partition, struct arena *arena,
                                                 const struct topic_message *found, size_t count)
{
    struct topic_message *kept = arena_array(arena, count, sizeof(*kept));
    const char *name = arena_strdup(arena, topic->name); /* the topic may be removed before */
    size_t i, k;

    for (i = 0; i < count; i++) {
        struct topic_header *headers = NULL;

        kept[i] = found[i];
        kept[i].topic = name;
        kept[i].partition = partition;
        kept[i].key = arena_copy(arena, found[i].key);
        kept[i].value = arena_copy(arena, found[i].value);
        if (found[i].header_count)
            headers = arena_array(arena, found[i].header_count, sizeof(*headers));
        for (k = 0; k < found[i].header_count; k++) {
            headers[k].name = arena_copy(arena, found[i].headers[k].name);
            headers[k].value = arena_copy(arena, found[i].headers[k].value);
        }
        kept[i].headers = headers;
    }
    return kept;
}

/* The topic is in use, but for the waiting: a removal ends that. */
static int wait_and_read(struct local *local, struct local_topic *topic, uint32_t partition,
                         uint64_t offset, size_t max_count, int timeout_ms, struct arena *arena,
                         const struct topic_message **messages, size_t *count, struct err *err)
{
    int64_t until_us = clock_after_us(local->clock, (int64_t)timeout_ms * MS_US);
    const void *things[] = {topic};
    struct topic_message *found = mem_array(max_count, sizeof(*found));
    struct read_space space = {mem_alloc(READ_SPACE_SIZE), READ_SPACE_SIZE, 0};
    struct arena *headers = arena_new();
    struct read_hint hint = {0};
    struct waiter waiter;
    bool more = true;
    int rc = 0;

    waiter_enter(&local->board, &waiter, things, 1);
    while (!rc && *count == 0 && more) {
        if (!local_enter(local, topic)) {
            rc = refuse_missing(topic->name, err);
            break;
        }
        rc = partition_read(&topic->partitions[partition], offset, max_count, &hint, &space,
                            headers, found, count, err);
        local_leave(local, topic);
        if (!rc && *count == 0)
            more = waiter_wait(&local->board, &waiter, until_us);
    }
    waiter_leave(&local->board, &waiter);
    if (!rc && *count)
        *messages = keep_messages(topic, partition, arena, found, *count);
    arena_free(headers);
    free(space.data);
    free(found);
    return rc;
}

static int local_read(struct topics *topics, const char *name, uint32_t partition, uint64_t offset,
                      size_t max_count, int timeout_ms, struct arena *arena,
                      const struct topic_message **messages, size_t *count, struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *topic;
    int rc = take_partition(local, name, partition, &topic, err);

    if (rc)
        return rc;
    local_hold(local, topic);
    local_leave(local, topic);
    rc = wait_and_read(local, topic, partition, offset, max_count, timeout_ms, arena, messages,
                       count, err);
    local_drop(local, topic);
    return rc;
}

static int local_range(struct topics *topics, const char *name, uint32_t partition, uint64_t *first,
                       uint64_t *end, struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *topic;
    int rc = take_partition(local, name, partition, &topic, err);

    if (rc)
        return rc;
    partition_range(&topic->partitions[partition], first, end);
    local_leave(local, topic);
    return 0;
}

static int local_trim(struct topics *topics, const char *name, uint32_t partition, uint64_t before,
                      struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *topic;
    int rc = take_partition(local, name, partition, &topic, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&local->housekeeping_lock);
    rc = partition_trim(&topic->partitions[partition], before, err);
    pthread_mutex_unlock(&local->housekeeping_lock);
    local_leave(local, topic);
    return rc;
}

static int local_lag(struct topics *topics, const char *group, const char *name, uint32_t partition,
                     struct topic_lag *lag, struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *topic;
    uint64_t from;
    int rc = take_partition(local, name, partition, &topic, err);

    *lag = (struct topic_lag){0};
    if (rc)
        return rc;
    lag->has_committed = offsets_find(&local->offsets, group, name, partition, &lag->committed);
    partition_range(&topic->partitions[partition], &lag->first, &lag->end);
    local_leave(local, topic);
    from = lag->has_committed && lag->committed > lag->first ? lag->committed : lag->first;
    lag->lag = lag->end > from ? lag->end - from : 0;
    return 0;
}

/* --- housekeeping --- */

static int retain_topic(struct local *local, struct local_topic *topic, struct err *err)
{
    struct retention retention = {.time_us = INT64_MIN};
    uint32_t i;
    int rc = 0;

    pthread_mutex_lock(&topic->lock);
    if (topic->config.retention_ms)
        retention.time_us = clock_wall_us(local->clock) - topic->config.retention_ms * MS_US;
    retention.size = (uint64_t)topic->config.retention_size;
    pthread_mutex_unlock(&topic->lock);
    for (i = 0; i < topic->config.partition_count && !rc; i++)
        rc = partition_retain(&topic->partitions[i], &retention, err);
    return rc;
}

static int local_housekeep(struct topics *topics, struct err *err)
{
    struct local *local = local_of(topics);
    struct local_topic *all[TOPIC_COUNT_MAX];
    size_t count, i;
    int rc = 0;

    groups_expire(local);
    pthread_mutex_lock(&local->housekeeping_lock);
    count = local_take_all(local, all);
    for (i = 0; i < count; i++) {
        if (!rc)
            rc = retain_topic(local, all[i], err);
        local_leave(local, all[i]);
    }
    if (!rc)
        rc = offsets_compact(&local->offsets, err);
    pthread_mutex_unlock(&local->housekeeping_lock);
    return rc;
}

static void run_housekeeper(struct task *task, void *arg)
{
    struct local *local = arg;
    struct err err;

    while (task_pause(task, (int64_t)TOPIC_HOUSEKEEPING_MS * MS_US)) {
        task_says(task, "removing what is past its retention");
        if (local_housekeep(&local->base, &err))
            log_error("topic housekeeping failed", LOG_TEXT("reason", err.text));
    }
}

/* --- opening --- */

/* More than there may be topics: some may be leftovers. */
enum { DIRECTORY_COUNT_MAX = 2 * TOPIC_COUNT_MAX };

struct name_list {
    struct arena *arena;
    char *names[DIRECTORY_COUNT_MAX];
    size_t count;
};

static int add_name(void *arg, const char *name, struct err *err)
{
    struct name_list *list = arg;

    if (list->count == DIRECTORY_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "more than %d topics, or what is left of them",
                       DIRECTORY_COUNT_MAX);
    list->names[list->count++] = arena_strdup(list->arena, name);
    return 0;
}

static int open_or_clean(struct local *local, const char *name, struct err *err)
{
    struct topic_config config = {0};
    struct local_topic *topic;
    char dir[PARTITION_DIR_SIZE];
    int rc = read_meta(local, name, &config, err);

    if (rc == ERR_NOT_FOUND) { /* a creation or a removal that a crash interrupted */
        snprintf(dir, sizeof(dir), "topics/%s", name);
        return local->disk->ops->remove_dir(local->disk, dir, err);
    }
    if (!rc && local->topic_count == TOPIC_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT, "more topics than TOPIC_COUNT_MAX, %d", TOPIC_COUNT_MAX);
    if (!rc)
        rc = open_topic(local, name, &config, &topic, err);
    if (!rc)
        local_add(local, topic);
    return rc;
}

static int open_topics(struct local *local, struct err *err)
{
    struct arena *arena = arena_new();
    struct name_list *list = arena_zero(arena, sizeof(*list));
    size_t i;
    int rc;

    list->arena = arena;
    rc = local->disk->ops->make_dir(local->disk, "topics", err);
    if (!rc)
        rc = local->disk->ops->list(local->disk, "topics", add_name, list, err);
    for (i = 0; i < list->count && !rc; i++)
        rc = open_or_clean(local, list->names[i], err);
    arena_free(arena);
    return rc;
}

static void wake_readers(void *arg, struct partition *partition)
{
    struct local *local = arg;

    if (partition->owner)
        waiter_wake(&local->board, partition->owner);
}

static void release(struct local *local)
{
    size_t i;

    for (i = 0; i < local->topic_count; i++)
        close_topic(local, local->topics[i], local->topics[i]->config.partition_count);
    groups_release(local);
    waiter_board_release(&local->board);
    pthread_mutex_destroy(&local->create_lock);
    pthread_mutex_destroy(&local->topics_lock);
    condition_release(&local->topic_left);
    pthread_mutex_destroy(&local->housekeeping_lock);
    if (local->owns_disk)
        disk_close(local->disk);
    free(local);
}

static void local_close(struct topics *topics)
{
    struct local *local = local_of(topics);

    task_stop(&local->housekeeper);
    writers_free(local->writers);
    offsets_close(&local->offsets);
    release(local);
}

static int open_on(struct disk *disk, bool owns_disk, const struct topics_options *options,
                   struct topics **topics, struct err *err)
{
    struct local *local = mem_zero(sizeof(*local));
    const struct task_options housekeeper = {
        .name = "topic-keeper", .run = run_housekeeper, .arg = local, .clock = options->clock};
    int rc;

    local->clock = options->clock;
    local->disk = disk;
    local->owns_disk = owns_disk;
    waiter_board_init(&local->board, local->clock);
    pthread_mutex_init(&local->create_lock, NULL);
    pthread_mutex_init(&local->topics_lock, NULL);
    condition_init(&local->topic_left, local->clock);
    pthread_mutex_init(&local->housekeeping_lock, NULL);
    groups_init(local);
    rc = open_topics(local, err);
    if (!rc) {
        local->writers = writers_new(wake_readers, local, local->clock);
        rc = offsets_open(&local->offsets, disk, "offsets", local->clock, local->writers, err);
        if (rc)
            writers_free(local->writers);
    }
    if (rc) {
        release(local);
        return rc;
    }
    rc = task_start(&local->housekeeper, &housekeeper, err);
    if (rc)
        local_close(&local->base);
    else
        *topics = &local->base;
    return rc;
}

static int file_open(const char *place, const struct topics_options *options,
                     struct topics **topics, struct err *err)
{
    struct disk *disk;
    int rc;

    if (options->disk)
        return open_on(options->disk, false, options, topics, err);
    rc = disk_posix_open(place, &disk, err);
    return rc ? rc : open_on(disk, true, options, topics, err);
}

static int memory_open(const char *place, const struct topics_options *options,
                       struct topics **topics, struct err *err)
{
    if (*place)
        return err_set(err, ERR_INVALID, "memory: takes no place, not \"%s\"", place);
    return open_on(disk_memory_new(), true, options, topics, err);
}

#define LOCAL_OPS(name, opener)                                                                    \
    {                                                                                              \
        .scheme = name, .open = opener, .close = local_close, .create = local_create,              \
        .describe = local_describe, .remove = local_remove, .list = local_list,                    \
        .partition_count = local_partition_count, .submit = local_submit, .flush = local_flush,    \
        .read = local_read, .range = local_range, .trim = local_trim, .lag = local_lag,            \
        .housekeep = local_housekeep, .consumer_open = group_consumer_open,                        \
        .consumer_close = group_consumer_close, .consumer_poll = group_consumer_poll,              \
        .consumer_commit = group_consumer_commit, .consumer_seek = group_consumer_seek,            \
        .consumer_assignment = group_consumer_assignment,                                          \
        .consumer_generation = group_consumer_generation,                                          \
    }

const struct topics_ops topics_file_ops = LOCAL_OPS("file", file_open);
const struct topics_ops topics_memory_ops = LOCAL_OPS("memory", memory_open);
