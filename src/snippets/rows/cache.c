/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - see cache.h.
 *
 * A key belongs to one of some shards, each with a lock, a table of entries and its share of the
 * memory, and in it to one of some slots: writes that are under way are counted by slot, and each
 * changes its stamp. Snippets have slots of that kind, too (spaces), for what changes all rows of
 * one: an entry is of no use once its snippet's stamp is another.
 */
#include "snippets/rows/cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "snippets/bounds.h"

enum {
    SNIPPET_CACHE_MAGIC = OBJECT_MAGIC('s', 'n', 'c', 'a'),
    SHARD_COUNT = 16,
    SHARD_SIZE_MAX = SNIPPET_CACHE_SIZE_MAX / SHARD_COUNT,
    SLOT_COUNT = 256, /* of a shard */
    SPACE_COUNT = 1024,
    BUCKET_BITS = 13,
    BUCKET_COUNT = 1 << BUCKET_BITS, /* of a shard: as many as entries of 256 bytes fit */
};

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* What a language has of a snippet and a key. */
struct entry {
    struct entry *next;            /* of its bucket */
    struct entry *older, *younger; /* of its shard */
    uint64_t hash;
    int64_t prefix;
    int64_t written_us, end_us;
    uint32_t space_stamp;
    uint32_t body_size;
    uint16_t key_size, language_size; /* as it was asked for */
    bool is_absent;
    bool is_in_language; /* else the row is the one in none */
    bool was_used;       /* since it was looked at for removal */
    uint8_t data[];      /* the key, the language, the body */
};

struct slot {
    uint32_t holder_count;
    uint32_t stamp;
};

struct shard {
    pthread_mutex_t lock;
    struct entry **buckets;
    struct entry *oldest, *youngest;
    size_t size;
    struct slot slots[SLOT_COUNT];
};

struct space {
    _Atomic uint32_t holder_count;
    _Atomic uint32_t stamp;
};

struct snippet_cache {
    uint32_t magic;
    struct shard shards[SHARD_COUNT];
    struct space spaces[SPACE_COUNT];
    struct entry **buckets; /* of all shards */
    struct counter *hit_count, *miss_count;
    struct gauge *size;
};

struct snippet_cache *snippet_cache_new(void)
{
    struct snippet_cache *cache = mem_zero(sizeof(*cache));

    object_begin(cache, SNIPPET_CACHE_MAGIC);
    cache->buckets = mem_array((size_t)SHARD_COUNT * BUCKET_COUNT, sizeof(struct entry *));
    for (size_t i = 0; i < SHARD_COUNT; i++) {
        pthread_mutex_init(&cache->shards[i].lock, NULL);
        cache->shards[i].buckets = cache->buckets + i * BUCKET_COUNT;
    }
    cache->hit_count = metrics_counter("torg_snippets_cache_total", "found=\"true\"",
                                       "Keys of pages whose snippets were looked for in memory.");
    cache->miss_count = metrics_counter("torg_snippets_cache_total", "found=\"false\"",
                                        "Keys of pages whose snippets were looked for in memory.");
    cache->size = metrics_gauge("torg_snippets_cache_bytes", NULL, "Snippets kept in memory.");
    return cache;
}

/* --- entries; with the shard's lock --- */

static struct shard *shard_of(struct snippet_cache *cache, uint64_t key_hash)
{
    return &cache->shards[key_hash % SHARD_COUNT];
}

static struct slot *slot_of(struct shard *shard, uint64_t key_hash)
{
    return &shard->slots[key_hash / SHARD_COUNT % SLOT_COUNT];
}

static struct space *space_of(struct snippet_cache *cache, int64_t prefix)
{
    return &cache->spaces[(uint64_t)prefix % SPACE_COUNT];
}

static uint64_t hash_of(uint64_t key_hash, int64_t prefix)
{
    return (key_hash ^ (uint64_t)prefix) * GOLDEN;
}

static struct entry **bucket_of(struct shard *shard, uint64_t hash)
{
    return &shard->buckets[hash >> (64 - BUCKET_BITS)];
}

static struct bytes key_of(const struct entry *entry)
{
    return bytes_make(entry->data, entry->key_size);
}

static struct bytes language_of(const struct entry *entry)
{
    return bytes_make(entry->data + entry->key_size, entry->language_size);
}

static struct bytes body_of(const struct entry *entry)
{
    return bytes_make(entry->data + entry->key_size + entry->language_size, entry->body_size);
}

static size_t size_of(const struct entry *entry)
{
    return sizeof(*entry) + entry->key_size + entry->language_size + entry->body_size;
}

static bool is_of(const struct entry *entry, uint64_t hash, int64_t prefix, struct bytes key)
{
    return entry->hash == hash && entry->prefix == prefix && bytes_equal(key_of(entry), key);
}

static void unlink_entry(struct shard *shard, struct entry *entry)
{
    *(entry->older ? &entry->older->younger : &shard->oldest) = entry->younger;
    *(entry->younger ? &entry->younger->older : &shard->youngest) = entry->older;
}

static void link_youngest(struct shard *shard, struct entry *entry)
{
    entry->older = shard->youngest;
    entry->younger = NULL;
    *(shard->youngest ? &shard->youngest->younger : &shard->oldest) = entry;
    shard->youngest = entry;
}

/* The entry that *link leads to. */
static void drop(struct snippet_cache *cache, struct shard *shard, struct entry **link)
{
    struct entry *entry = *link;

    *link = entry->next;
    unlink_entry(shard, entry);
    assert(shard->size >= size_of(entry));
    shard->size -= size_of(entry);
    gauge_add(cache->size, -(int64_t)size_of(entry));
    free(entry);
}

static void drop_oldest(struct snippet_cache *cache, struct shard *shard)
{
    struct entry **link = bucket_of(shard, shard->oldest->hash);

    while (*link != shard->oldest)
        link = &(*link)->next;
    drop(cache, shard, link);
}

/* What was asked for since it was last looked at here has another chance. */
static void make_room(struct snippet_cache *cache, struct shard *shard, size_t size)
{
    while (shard->oldest && shard->size + size > SHARD_SIZE_MAX) {
        struct entry *entry = shard->oldest;

        if (!entry->was_used) {
            drop_oldest(cache, shard);
            continue;
        }
        entry->was_used = false;
        unlink_entry(shard, entry);
        link_youngest(shard, entry);
    }
}

void snippet_cache_free(struct snippet_cache *cache)
{
    if (!cache)
        return;
    object_check(cache, SNIPPET_CACHE_MAGIC);
    for (size_t i = 0; i < SHARD_COUNT; i++) {
        struct shard *shard = &cache->shards[i];

        while (shard->oldest)
            drop_oldest(cache, shard);
        assert(shard->size == 0);
        for (size_t k = 0; k < SLOT_COUNT; k++)
            assert(shard->slots[k].holder_count == 0); /* every write has ended */
        pthread_mutex_destroy(&shard->lock);
    }
    object_end(cache, SNIPPET_CACHE_MAGIC);
    free(cache->buckets);
    free(cache);
}

/* --- pages --- */

static struct snippet_row *copy_row(const struct entry *entry, struct bytes key,
                                    struct bytes language, struct arena *arena)
{
    struct snippet_row *row = arena_alloc(arena, sizeof(*row));

    *row = (struct snippet_row){.prefix = entry->prefix,
                                .key = key,
                                .language = entry->is_in_language ? language : bytes_of(""),
                                .body = arena_copy(arena, body_of(entry)),
                                .written_us = entry->written_us,
                                .end_us = entry->end_us};
    return row;
}

/* Of a snippet, a key and the language, as it was when the space had this stamp. */
struct place {
    uint64_t hash;
    int64_t prefix;
    struct bytes key, language;
    uint32_t space_stamp;
};

/* NULL: it is not known. What is of no use any more goes. */
static struct entry *find_entry(struct snippet_cache *cache, struct shard *shard,
                                const struct place *place, int64_t now_us)
{
    struct entry **link = bucket_of(shard, place->hash);

    while (*link && !(is_of(*link, place->hash, place->prefix, place->key) &&
                      bytes_equal(language_of(*link), place->language)))
        link = &(*link)->next;
    if (!*link)
        return NULL;
    if ((*link)->space_stamp == place->space_stamp && (*link)->end_us > now_us) {
        (*link)->was_used = true;
        return *link;
    }
    drop(cache, shard, link);
    return NULL;
}

static struct place place_of(const struct snippet_grid *grid, const struct snippet_glance *glance,
                             size_t prefix, size_t key, uint64_t key_hash)
{
    return (struct place){.hash = hash_of(key_hash, grid->prefixes[prefix]),
                          .prefix = grid->prefixes[prefix],
                          .key = grid->keys[key],
                          .language = grid->language,
                          .space_stamp = glance->space_stamps[prefix]};
}

/* All of a key, or nothing of it. */
static void find_key(struct snippet_cache *cache, const struct snippet_grid *grid, size_t key,
                     int64_t now_us, struct arena *arena, struct snippet_glance *glance)
{
    struct snippet_key_glance *seen = &glance->keys[key];
    uint64_t key_hash = hash64(grid->keys[key]);
    struct shard *shard = shard_of(cache, key_hash);
    size_t i;

    pthread_mutex_lock(&shard->lock);
    seen->stamp = slot_of(shard, key_hash)->stamp;
    seen->may_keep = slot_of(shard, key_hash)->holder_count == 0;
    for (i = 0; i < grid->prefix_count; i++) {
        struct place place = place_of(grid, glance, i, key, key_hash);
        const struct entry *entry = find_entry(cache, shard, &place, now_us);

        if (!entry)
            break;
        if (entry->is_absent)
            continue;
        glance->size += entry->body_size;
        if (glance->size > SNIPPET_BATCH_SIZE_MAX)
            break;
        grid->cells[i * grid->key_count + key] =
            copy_row(entry, grid->keys[key], grid->language, arena);
    }
    pthread_mutex_unlock(&shard->lock);
    seen->is_missing = i < grid->prefix_count;
    while (seen->is_missing && i-- > 0)
        grid->cells[i * grid->key_count + key] = NULL;
}

/* The stamp is read before the holders, who change it when they have come (hold_all): an entry of a
 * stamp was read before the next holder came, and after the last one had gone. */
static void glance_at_spaces(struct snippet_cache *cache, const struct snippet_grid *grid,
                             struct snippet_glance *glance)
{
    for (size_t i = 0; i < grid->prefix_count; i++) {
        struct space *space = space_of(cache, grid->prefixes[i]);

        glance->space_stamps[i] = atomic_load(&space->stamp);
        glance->is_void = glance->is_void || atomic_load(&space->holder_count);
    }
}

size_t snippet_cache_find(struct snippet_cache *cache, const struct snippet_grid *grid,
                          int64_t now_us, struct arena *arena, struct snippet_glance *glance)
{
    size_t missing = 0;

    object_check(cache, SNIPPET_CACHE_MAGIC);
    *glance = (struct snippet_glance){
        .space_stamps = arena_array(arena, grid->prefix_count + 1, sizeof(uint32_t)),
        .keys = arena_array(arena, grid->key_count + 1, sizeof(*glance->keys))};
    glance_at_spaces(cache, grid, glance);
    for (size_t i = 0; i < grid->key_count; i++) {
        if (glance->is_void)
            glance->keys[i].is_missing = true;
        else
            find_key(cache, grid, i, now_us, arena, glance);
        missing += glance->keys[i].is_missing;
    }
    counter_add(cache->hit_count, grid->key_count - missing);
    counter_add(cache->miss_count, missing);
    return missing;
}

bool snippet_cache_is_current(struct snippet_cache *cache, const struct snippet_grid *grid,
                              const struct snippet_glance *glance)
{
    object_check(cache, SNIPPET_CACHE_MAGIC);
    for (size_t i = 0; i < grid->prefix_count && !glance->is_void; i++) {
        if (atomic_load(&space_of(cache, grid->prefixes[i])->stamp) != glance->space_stamps[i])
            return false;
    }
    return true;
}

static struct entry *entry_new(const struct place *place, const struct snippet_row *row)
{
    size_t body_size = row ? row->body.size : 0;
    struct entry *entry =
        mem_alloc(sizeof(*entry) + place->key.size + place->language.size + body_size);
    uint8_t *to = entry->data;

    *entry = (struct entry){.hash = place->hash,
                            .prefix = place->prefix,
                            .written_us = row ? row->written_us : 0,
                            .end_us = row ? row->end_us : SNIPPET_FOR_EVER,
                            .space_stamp = place->space_stamp,
                            .body_size = (uint32_t)body_size,
                            .key_size = (uint16_t)place->key.size,
                            .language_size = (uint16_t)place->language.size,
                            .is_absent = !row,
                            .is_in_language = row && row->language.size};
    memcpy(to, place->key.data, place->key.size);
    to += place->key.size;
    if (place->language.size)
        memcpy(to, place->language.data, place->language.size);
    if (body_size)
        memcpy(to + place->language.size, row->body.data, body_size);
    return entry;
}

static void keep_entry(struct snippet_cache *cache, struct shard *shard, const struct place *place,
                       const struct snippet_row *row, int64_t now_us)
{
    struct entry *entry, **bucket;

    if (row && row->body.size > SNIPPET_CACHE_BODY_SIZE_MAX)
        return;
    if (find_entry(cache, shard, place, now_us)) /* somebody has read the same */
        return;
    entry = entry_new(place, row);
    make_room(cache, shard, size_of(entry));
    bucket = bucket_of(shard, entry->hash);
    entry->next = *bucket;
    *bucket = entry;
    link_youngest(shard, entry);
    shard->size += size_of(entry);
    gauge_add(cache->size, (int64_t)size_of(entry));
}

static void keep_key(struct snippet_cache *cache, const struct snippet_grid *grid,
                     const struct snippet_glance *glance, size_t key)
{
    const struct snippet_key_glance *seen = &glance->keys[key];
    uint64_t key_hash = hash64(grid->keys[key]);
    struct shard *shard = shard_of(cache, key_hash);

    pthread_mutex_lock(&shard->lock);
    if (slot_of(shard, key_hash)->stamp == seen->stamp) {
        for (size_t i = 0; i < grid->prefix_count; i++) {
            struct place place = place_of(grid, glance, i, key, key_hash);

            keep_entry(cache, shard, &place, grid->cells[i * grid->key_count + key], INT64_MIN);
        }
    }
    pthread_mutex_unlock(&shard->lock);
}

void snippet_cache_keep(struct snippet_cache *cache, const struct snippet_grid *grid,
                        const struct snippet_glance *glance)
{
    object_check(cache, SNIPPET_CACHE_MAGIC);
    if (glance->is_void || grid->language.size > SNIPPET_LANGUAGE_SIZE_MAX)
        return;
    for (size_t i = 0; i < grid->key_count; i++) {
        const struct snippet_key_glance *seen = &glance->keys[i];

        if (seen->is_missing && seen->may_keep && grid->keys[i].size &&
            grid->keys[i].size <= SNIPPET_KEY_SIZE_MAX)
            keep_key(cache, grid, glance, i);
    }
}

/* --- writes --- */

/* In every language. */
static void forget(struct snippet_cache *cache, struct shard *shard, uint64_t key_hash,
                   const struct snippet_row *row)
{
    uint64_t hash = hash_of(key_hash, row->prefix);
    struct entry **link = bucket_of(shard, hash);

    while (*link) {
        if (is_of(*link, hash, row->prefix, row->key))
            drop(cache, shard, link);
        else
            link = &(*link)->next;
    }
}

static void hold_row(struct snippet_cache *cache, const struct snippet_row *row)
{
    uint64_t key_hash = hash64(row->key);
    struct shard *shard = shard_of(cache, key_hash);

    pthread_mutex_lock(&shard->lock);
    slot_of(shard, key_hash)->holder_count++;
    slot_of(shard, key_hash)->stamp++;
    forget(cache, shard, key_hash, row);
    pthread_mutex_unlock(&shard->lock);
}

static void let_row_go(struct snippet_cache *cache, const struct snippet_row *row)
{
    uint64_t key_hash = hash64(row->key);
    struct shard *shard = shard_of(cache, key_hash);

    pthread_mutex_lock(&shard->lock);
    assert(slot_of(shard, key_hash)->holder_count > 0);
    slot_of(shard, key_hash)->holder_count--;
    pthread_mutex_unlock(&shard->lock);
}

static void hold(struct snippet_cache *cache, const struct snippet_part *parts, size_t count)
{
    for (size_t i = 0; i < count && cache; i++) {
        for (size_t k = 0; k < parts[i].count; k++)
            hold_row(cache, &parts[i].rows[k]);
    }
}

static void let_go(struct snippet_cache *cache, const struct snippet_part *parts, size_t count)
{
    for (size_t i = 0; i < count && cache; i++) {
        for (size_t k = 0; k < parts[i].count; k++)
            let_row_go(cache, &parts[i].rows[k]);
    }
}

void snippet_cache_hold_all(struct snippet_cache *cache, const struct snippet_prefix_list *prefixes)
{
    for (size_t i = 0; i < prefixes->count && cache; i++) {
        struct space *space = space_of(cache, prefixes->list[i]);

        atomic_fetch_add(&space->holder_count, 1);
        atomic_fetch_add(&space->stamp, 1);
    }
}

void snippet_cache_let_go_all(struct snippet_cache *cache,
                              const struct snippet_prefix_list *prefixes)
{
    for (size_t i = 0; i < prefixes->count && cache; i++) {
        uint32_t before = atomic_fetch_sub(&space_of(cache, prefixes->list[i])->holder_count, 1);

        assert(before > 0);
        (void)before;
    }
}

int snippet_cache_write(struct snippet_cache *cache, struct store *store,
                        const struct snippet_part *parts, size_t count,
                        const struct snippet_source *source, size_t *written, struct err *err)
{
    int rc;

    hold(cache, parts, count);
    rc = snippet_rows_write_parts(store, parts, count, source, written, err);
    let_go(cache, parts, count);
    return rc;
}
