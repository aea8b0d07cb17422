/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_memory.c - disk.h in memory, for memory: topics and for tests of lost power.
 *
 * Each file has two contents: what a reader sees, and what would be there after a power cut.
 * A sync copies the changed range from the first to the second. Names likewise: a name made or
 * removed is durable only after sync_dir. One lock over everything.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "topic/disk.h"

enum { FILE_SIZE_MAX = 256 << 20, SECTOR_SIZE = 512 };

enum { NODE_MAGIC = OBJECT_MAGIC('n', 'o', 'd', 'e') };

struct node {
    uint32_t magic;
    struct node *next;
    char *path;
    bool is_dir;
    bool seen;    /* the name exists */
    bool durable; /* the name exists after a power cut */
    unsigned open_count;
    struct buf now;
    struct buf synced;
    size_t dirty_from; /* the range where they may differ; from ≥ to: nowhere */
    size_t dirty_to;
};

struct memory_disk {
    struct disk base;
    pthread_mutex_t lock;
    struct node *nodes;
};

struct memory_file {
    struct disk_file base;
    struct node *node;
};

static struct memory_disk *disk_of(struct disk *base)
{
    return container_of(base, struct memory_disk, base);
}

static struct node *find_node(struct memory_disk *disk, const char *path)
{
    struct node *node;

    for (node = disk->nodes; node; node = node->next)
        if (node->seen && strcmp(node->path, path) == 0)
            return node;
    return NULL;
}

static struct node *add_node(struct memory_disk *disk, const char *path, bool is_dir)
{
    struct node *node = mem_zero(sizeof(*node));

    object_begin(node, NODE_MAGIC);
    node->path = mem_strdup(path);
    node->is_dir = is_dir;
    node->seen = true;
    buf_init(&node->now, FILE_SIZE_MAX);
    buf_init(&node->synced, FILE_SIZE_MAX);
    node->dirty_from = SIZE_MAX;
    node->next = disk->nodes;
    disk->nodes = node;
    return node;
}

static void free_node(struct node *node)
{
    buf_release(&node->now);
    buf_release(&node->synced);
    free(node->path);
    object_end(node, NODE_MAGIC);
    free(node);
}

/* Forgets nodes that exist in neither world and that nobody reads. */
static void sweep_nodes(struct memory_disk *disk)
{
    struct node **at = &disk->nodes;

    while (*at) {
        struct node *node = *at;

        if (node->seen || node->durable || node->open_count) {
            at = &node->next;
            continue;
        }
        *at = node->next;
        free_node(node);
    }
}

static void memory_close(struct disk *base)
{
    struct memory_disk *disk = disk_of(base);

    while (disk->nodes) {
        struct node *next = disk->nodes->next;

        free_node(disk->nodes);
        disk->nodes = next;
    }
    pthread_mutex_destroy(&disk->lock);
    free(disk);
}

static int memory_open(struct disk *base, const char *path, bool create, struct disk_file **file,
                       struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    struct memory_file *made;
    struct node *node;

    *file = NULL;
    pthread_mutex_lock(&disk->lock);
    node = find_node(disk, path);
    if (!node && create)
        node = add_node(disk, path, false);
    if (node)
        node->open_count++;
    pthread_mutex_unlock(&disk->lock);
    if (!node)
        return err_set(err, ERR_NOT_FOUND, "open %s: no such file", path);
    made = mem_zero(sizeof(*made));
    made->base.disk = base;
    made->node = node;
    *file = &made->base;
    return 0;
}

static void touch_range(struct node *node, size_t from, size_t to)
{
    if (from < node->dirty_from)
        node->dirty_from = from;
    if (to > node->dirty_to)
        node->dirty_to = to;
}

static void set_size(struct buf *buf, size_t size)
{
    if (size < buf->size) {
        buf_truncate(buf, size);
    } else if (size > buf->size) {
        size_t more = size - buf->size;
        uint8_t *room = buf_reserve(buf, more);

        assert(room);
        memset(room, 0, more);
        buf_advance(buf, more);
    }
}

static void sync_node(struct node *node)
{
    size_t to = node->dirty_to < node->now.size ? node->dirty_to : node->now.size;

    set_size(&node->synced, node->now.size);
    if (node->dirty_from < to)
        memcpy(node->synced.data + node->dirty_from, node->now.data + node->dirty_from,
               to - node->dirty_from);
    node->dirty_from = SIZE_MAX;
    node->dirty_to = 0;
}

static int memory_write_whole(struct disk *base, const char *path, struct bytes content,
                              struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    struct node *node;

    (void)err;
    pthread_mutex_lock(&disk->lock);
    node = find_node(disk, path);
    if (!node)
        node = add_node(disk, path, false);
    buf_reset(&node->now);
    buf_put(&node->now, content);
    touch_range(node, 0, content.size);
    sync_node(node);
    node->durable = true;
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static int memory_read_whole(struct disk *base, const char *path, struct buf *out, struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    struct node *node;
    int rc = 0;

    pthread_mutex_lock(&disk->lock);
    node = find_node(disk, path);
    if (!node)
        rc = err_set(err, ERR_NOT_FOUND, "open %s: no such file", path);
    else
        buf_put(out, buf_bytes(&node->now));
    pthread_mutex_unlock(&disk->lock);
    if (!rc && buf_failed(out))
        rc = err_set(err, ERR_LIMIT, "%s is larger than %zu bytes", path, out->limit);
    return rc;
}

static int memory_make_dir(struct disk *base, const char *path, struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    char *part = mem_strdup(path);
    char *slash;

    (void)err;
    pthread_mutex_lock(&disk->lock);
    for (slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (!find_node(disk, part))
            add_node(disk, part, true)->durable = true;
        *slash = '/';
    }
    if (!find_node(disk, path))
        add_node(disk, path, true)->durable = true;
    pthread_mutex_unlock(&disk->lock);
    free(part);
    return 0;
}

/* The name of path inside directory, or NULL when it is not directly in it. */
static const char *name_inside(const char *path, const char *directory)
{
    size_t size = strlen(directory);

    if (size) {
        if (strncmp(path, directory, size) != 0 || path[size] != '/')
            return NULL;
        path += size + 1;
    }
    return strchr(path, '/') ? NULL : path;
}

static int memory_sync_dir(struct disk *base, const char *path, struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    struct node *node;

    (void)err;
    pthread_mutex_lock(&disk->lock);
    for (node = disk->nodes; node; node = node->next)
        if (name_inside(node->path, path))
            node->durable = node->seen;
    sweep_nodes(disk);
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static int memory_list(struct disk *base, const char *path, disk_name_fn fn, void *arg,
                       struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    struct node *node;
    int rc = 0;

    pthread_mutex_lock(&disk->lock);
    if (*path && !find_node(disk, path))
        rc = err_set(err, ERR_NOT_FOUND, "list %s: no such directory", path);
    for (node = disk->nodes; node && !rc; node = node->next) {
        const char *name = node->seen ? name_inside(node->path, path) : NULL;

        if (name)
            rc = fn(arg, name, err);
    }
    pthread_mutex_unlock(&disk->lock);
    return rc;
}

static int memory_remove(struct disk *base, const char *path, struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    struct node *node;
    int rc = 0;

    pthread_mutex_lock(&disk->lock);
    node = find_node(disk, path);
    if (node)
        node->seen = false;
    else
        rc = err_set(err, ERR_NOT_FOUND, "remove %s: no such file", path);
    sweep_nodes(disk);
    pthread_mutex_unlock(&disk->lock);
    return rc;
}

static int memory_remove_dir(struct disk *base, const char *path, struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    size_t size = strlen(path);
    struct node *node;

    (void)err;
    pthread_mutex_lock(&disk->lock);
    for (node = disk->nodes; node; node = node->next)
        if (strncmp(node->path, path, size) == 0 && (!node->path[size] || node->path[size] == '/'))
            node->seen = node->durable = false;
    sweep_nodes(disk);
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static void memory_file_close(struct disk_file *base)
{
    struct memory_file *file = container_of(base, struct memory_file, base);
    struct memory_disk *disk = disk_of(base->disk);

    pthread_mutex_lock(&disk->lock);
    file->node->open_count--;
    sweep_nodes(disk);
    pthread_mutex_unlock(&disk->lock);
    free(file);
}

static int memory_file_write(struct disk_file *base, uint64_t position, struct bytes content,
                             struct err *err)
{
    struct memory_file *file = container_of(base, struct memory_file, base);
    struct memory_disk *disk = disk_of(base->disk);
    struct node *node = file->node;

    if (position + content.size > FILE_SIZE_MAX)
        return err_set(err, ERR_UNAVAILABLE, "write %s: no space", node->path);
    if (content.size == 0)
        return 0;
    pthread_mutex_lock(&disk->lock);
    if (position > node->now.size)
        touch_range(node, node->now.size, position);
    if (position + content.size > node->now.size)
        set_size(&node->now, position + content.size);
    memcpy(node->now.data + position, content.data, content.size);
    touch_range(node, position, position + content.size);
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static int memory_file_read(struct disk_file *base, uint64_t position, void *to, size_t size,
                            size_t *got, struct err *err)
{
    struct memory_file *file = container_of(base, struct memory_file, base);
    struct memory_disk *disk = disk_of(base->disk);
    struct node *node = file->node;

    (void)err;
    pthread_mutex_lock(&disk->lock);
    *got = position < node->now.size ? node->now.size - position : 0;
    if (*got > size)
        *got = size;
    if (*got)
        memcpy(to, node->now.data + position, *got);
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static int memory_file_sync(struct disk_file *base, struct err *err)
{
    struct memory_file *file = container_of(base, struct memory_file, base);
    struct memory_disk *disk = disk_of(base->disk);

    (void)err;
    pthread_mutex_lock(&disk->lock);
    sync_node(file->node);
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static int memory_file_truncate(struct disk_file *base, uint64_t size, struct err *err)
{
    struct memory_file *file = container_of(base, struct memory_file, base);
    struct memory_disk *disk = disk_of(base->disk);
    struct node *node = file->node;

    (void)err;
    pthread_mutex_lock(&disk->lock);
    touch_range(node, size < node->now.size ? size : node->now.size,
                size > node->now.size ? size : node->now.size);
    set_size(&node->now, size);
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static int memory_file_size(struct disk_file *base, uint64_t *size, struct err *err)
{
    struct memory_file *file = container_of(base, struct memory_file, base);
    struct memory_disk *disk = disk_of(base->disk);

    (void)err;
    pthread_mutex_lock(&disk->lock);
    *size = file->node->now.size;
    pthread_mutex_unlock(&disk->lock);
    return 0;
}

static const struct disk_ops memory_ops = {
    .close = memory_close,
    .open = memory_open,
    .write_whole = memory_write_whole,
    .read_whole = memory_read_whole,
    .make_dir = memory_make_dir,
    .sync_dir = memory_sync_dir,
    .list = memory_list,
    .remove = memory_remove,
    .remove_dir = memory_remove_dir,
    .file_close = memory_file_close,
    .file_write = memory_file_write,
    .file_read = memory_file_read,
    .file_sync = memory_file_sync,
    .file_truncate = memory_file_truncate,
    .file_size = memory_file_size,
};

struct disk *disk_memory_new(void)
{
    struct memory_disk *disk = mem_zero(sizeof(*disk));

    disk->base.ops = &memory_ops;
    pthread_mutex_init(&disk->lock, NULL);
    return &disk->base;
}

/* Sector by sector, either the synced content stays or the newer one made it. */
static void cut_node(struct node *node, struct rng *rng)
{
    size_t size = rng_below(rng, 2) ? node->now.size : node->synced.size;
    size_t at;

    set_size(&node->synced, size);
    for (at = 0; at < size; at += SECTOR_SIZE) {
        size_t end = at + SECTOR_SIZE < size ? at + SECTOR_SIZE : size;

        if (end > node->now.size)
            end = node->now.size;
        if (end > at && rng_below(rng, 2))
            memcpy(node->synced.data + at, node->now.data + at, end - at);
    }
    buf_reset(&node->now);
    buf_put(&node->now, buf_bytes(&node->synced));
    node->dirty_from = SIZE_MAX;
    node->dirty_to = 0;
}

void disk_memory_cut(struct disk *base, uint64_t seed)
{
    struct memory_disk *disk = disk_of(base);
    struct rng rng = rng_seeded(seed);
    struct node *node;

    pthread_mutex_lock(&disk->lock);
    for (node = disk->nodes; node; node = node->next) {
        assert(node->open_count == 0);
        if (node->seen != node->durable)
            node->seen = node->durable = rng_below(&rng, 2);
        cut_node(node, &rng);
    }
    sweep_nodes(disk);
    pthread_mutex_unlock(&disk->lock);
}

void disk_memory_forget(struct disk *base)
{
    struct memory_disk *disk = disk_of(base);
    struct node *node;

    pthread_mutex_lock(&disk->lock);
    for (node = disk->nodes; node; node = node->next) {
        node->dirty_from = SIZE_MAX;
        node->dirty_to = 0;
    }
    pthread_mutex_unlock(&disk->lock);
}

int disk_memory_damage(struct disk *base, const char *path, uint64_t position, struct err *err)
{
    struct memory_disk *disk = disk_of(base);
    struct node *node;
    int rc = 0;

    pthread_mutex_lock(&disk->lock);
    node = find_node(disk, path);
    if (!node) {
        rc = err_set(err, ERR_NOT_FOUND, "%s: no such file", path);
    } else if (position >= node->now.size) {
        rc = err_set(err, ERR_RANGE, "%s has %zu bytes", path, node->now.size);
    } else {
        node->now.data[position] ^= 1;
        touch_range(node, position, position + 1);
        sync_node(node);
    }
    pthread_mutex_unlock(&disk->lock);
    return rc;
}
