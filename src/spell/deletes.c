/* SPDX-License-Identifier: Apache-2.0 */
/* deletes.c - see deletes.h. */
#include "spell/deletes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "spell/distance.h"

enum {
    PREFIX = 8,
    DISTANCE_MAX = 2,
    VARIANT_COUNT_MAX = 1 + PREFIX + PREFIX * (PREFIX - 1) / 2,
    NUMBER_BITS = 20,
    TAG_BITS = 32 - NUMBER_BITS,
    BUCKET_ENTRIES = 4, /* on average */
    TAIL_WORDS_MIN = 4096,
    TAIL_SHARE = 4,       /* of the live words: so many are laid out anew for one in the tail */
    STOP_INTERVAL = 4096, /* words */
};
static_assert(SPELL_WORD_COUNT_MAX <= 1 << NUMBER_BITS, "a number fits an entry");

struct keys {
    uint64_t at[VARIANT_COUNT_MAX];
    unsigned count;
};

enum { BLOCK_MAGIC = OBJECT_MAGIC('d', 'b', 'l', 'k') };

struct block {
    uint32_t magic;
    wordid first, end; /* the words in it */
    unsigned bits;     /* of the number of buckets */
    uint32_t *starts;  /* owned */
    uint32_t *entries; /* owned */
};

struct tail_entry {
    uint32_t next; /* entry + 1 of the same bucket; 0: none */
    uint32_t tagged;
};

enum { TAIL_MAGIC = OBJECT_MAGIC('d', 't', 'a', 'i') };

struct tail {
    uint32_t magic;
    wordid first;
    uint32_t word_count_max;
    unsigned bits;
    uint32_t entry_count;
    struct tail_entry *entries; /* owned; of all words it may take */
    _Atomic uint32_t heads[];   /* entry + 1 */
};

enum { LAYOUT_MAGIC = OBJECT_MAGIC('d', 'l', 'a', 'y') };

/* What readers look at; replaced as a whole. */
struct layout {
    uint32_t magic;
    struct block *base, *live; /* live may be NULL; they outlive the layout */
    struct tail *tail;
};

enum { DELETES_MAGIC = OBJECT_MAGIC('d', 'e', 'l', 's') };

struct deletes {
    uint32_t magic;
    const struct words *words; /* borrowed */
    struct epoch *epoch;       /* borrowed */
    _Atomic(void *) layout;    /* owned struct layout */
    wordid end;                /* words before it are listed */
    _Atomic size_t memory;
};

/* ---- keys ---- */

static uint64_t key_of(const uint8_t *letters, size_t size)
{
    uint64_t key = 0;

    memcpy(&key, letters, size < PREFIX ? size : PREFIX); /* the rest stays 0, which is no letter */
    return key;
}

static uint64_t without(uint64_t key, unsigned place)
{
    uint64_t low = ((uint64_t)1 << 8 * place) - 1;

    return (key & low) | (key >> 8 & ~low);
}

static uint8_t key_letter(uint64_t key, unsigned place)
{
    return (uint8_t)(key >> 8 * place);
}

/* The key and all it becomes by leaving out letters; of two equal neighbours, one is enough. The
 * second letter left out stands behind the first, or each pair would be met twice. */
static void keys_make(struct keys *keys, const uint8_t *letters, size_t size, unsigned distance)
{
    unsigned length = (unsigned)(size < PREFIX ? size : PREFIX);
    uint64_t whole = key_of(letters, size);

    keys->count = 0;
    keys->at[keys->count++] = whole;
    if (distance == 0)
        return;
    for (unsigned i = 0; i < length; i++) {
        uint64_t once = without(whole, i);

        if (i > 0 && key_letter(whole, i) == key_letter(whole, i - 1))
            continue;
        keys->at[keys->count++] = once;
        for (unsigned k = i; distance > 1 && k + 1 < length; k++) {
            if (k == i || key_letter(once, k) != key_letter(once, k - 1))
                keys->at[keys->count++] = without(once, k);
        }
    }
    assert(keys->count <= VARIANT_COUNT_MAX);
}

static uint64_t key_hash(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15U;
    key ^= key >> 29;
    key *= 0xBF58476D1CE4E5B9U;
    return key ^ key >> 32;
}

static uint32_t tagged(uint64_t hash, wordid id)
{
    return (uint32_t)(hash & ((1U << TAG_BITS) - 1)) << NUMBER_BITS | id;
}

static size_t bucket_of(uint64_t hash, unsigned bits)
{
    return (size_t)(hash >> (64 - bits));
}

/* ---- blocks ---- */

static void word_keys(const struct words *words, wordid id, struct keys *keys)
{
    const struct word *word = words_get(words, id);

    keys_make(keys, words_letters(words, word), word->size, DISTANCE_MAX);
}

static size_t block_size(const struct block *block)
{
    if (!block)
        return 0;
    return sizeof(*block) + sizeof(uint32_t) * (((size_t)1 << block->bits) + 1 +
                                                block->starts[(size_t)1 << block->bits]);
}

static void block_free(void *thing, uint64_t part)
{
    struct block *block = thing;

    (void)part;
    if (!block)
        return;
    free(block->starts);
    free(block->entries);
    object_end(block, BLOCK_MAGIC);
    free(block);
}

static unsigned bits_for(size_t entries)
{
    unsigned bits = 8;

    while (((size_t)BUCKET_ENTRIES << bits) < entries)
        bits++;
    return bits;
}

/* Looked at each some thousand words. */
static bool is_stopped(const atomic_bool *stop, wordid id)
{
    return stop && id % STOP_INTERVAL == 0 && atomic_load(stop);
}

/* Counts, then lays out: keys are made twice, which is cheaper than to keep them. NULL: stopped. */
static struct block *block_new(const struct words *words, wordid first, wordid end,
                               const atomic_bool *stop)
{
    struct block *block = mem_zero(sizeof(*block));
    struct keys keys;
    size_t total = 0, bucket_count;
    uint32_t sum = 0;

    for (wordid id = first; id < end && !is_stopped(stop, id); id++) {
        word_keys(words, id, &keys);
        total += keys.count;
    }
    assert(total < UINT32_MAX);
    *block =
        (struct block){.magic = BLOCK_MAGIC, .first = first, .end = end, .bits = bits_for(total)};
    bucket_count = (size_t)1 << block->bits;
    block->starts = mem_array(bucket_count + 1, sizeof(uint32_t));
    block->entries = mem_array(total + 1, sizeof(uint32_t));
    for (wordid id = first; id < end && !is_stopped(stop, id); id++) {
        word_keys(words, id, &keys);
        for (unsigned i = 0; i < keys.count; i++)
            block->starts[bucket_of(key_hash(keys.at[i]), block->bits)]++;
    }
    for (size_t i = 0; i <= bucket_count; i++) { /* each becomes the end of its bucket */
        sum += block->starts[i];
        block->starts[i] = sum;
    }
    for (wordid id = first; id < end; id++) { /* and, filled from behind, its start */
        if (is_stopped(stop, id))
            break;
        word_keys(words, id, &keys);
        for (unsigned i = 0; i < keys.count; i++) {
            uint64_t hash = key_hash(keys.at[i]);

            block->entries[--block->starts[bucket_of(hash, block->bits)]] = tagged(hash, id);
        }
    }
    if (stop && atomic_load(stop)) {
        block_free(block, 0);
        return NULL;
    }
    return block;
}

/* ---- the tail ---- */

static size_t tail_size(const struct tail *tail)
{
    return sizeof(*tail) + (sizeof(uint32_t) << tail->bits) +
           sizeof(struct tail_entry) * tail->word_count_max * VARIANT_COUNT_MAX;
}

static struct tail *tail_new(wordid first, uint32_t word_count_max)
{
    unsigned bits = bits_for((size_t)word_count_max * VARIANT_COUNT_MAX);
    struct tail *tail = mem_zero(sizeof(*tail) + (sizeof(uint32_t) << bits));

    object_begin(tail, TAIL_MAGIC);
    tail->first = first;
    tail->word_count_max = word_count_max;
    tail->bits = bits;
    tail->entries = mem_alloc(sizeof(struct tail_entry) * word_count_max * VARIANT_COUNT_MAX);
    return tail;
}

static void tail_free(void *thing, uint64_t part)
{
    struct tail *tail = thing;

    (void)part;
    if (!tail)
        return;
    free(tail->entries);
    object_end(tail, TAIL_MAGIC);
    free(tail);
}

static void tail_put(struct tail *tail, const struct words *words, wordid id)
{
    struct keys keys;

    word_keys(words, id, &keys);
    for (unsigned i = 0; i < keys.count; i++) {
        uint64_t hash = key_hash(keys.at[i]);
        _Atomic uint32_t *head = &tail->heads[bucket_of(hash, tail->bits)];

        tail->entries[tail->entry_count].next = atomic_load_explicit(head, memory_order_relaxed);
        tail->entries[tail->entry_count].tagged = tagged(hash, id);
        atomic_store_explicit(head, ++tail->entry_count, memory_order_release);
    }
}

/* ---- the whole ---- */

static void layout_free(void *thing, uint64_t part)
{
    (void)part;
    free(thing);
}

static size_t layout_size(const struct layout *layout)
{
    return block_size(layout->base) + block_size(layout->live) + tail_size(layout->tail);
}

static void publish(struct deletes *deletes, struct block *base, struct block *live,
                    struct tail *tail)
{
    struct layout *layout = mem_zero(sizeof(*layout));

    *layout = (struct layout){.magic = LAYOUT_MAGIC, .base = base, .live = live, .tail = tail};
    atomic_store_explicit(&deletes->memory, sizeof(*deletes) + layout_size(layout),
                          memory_order_relaxed);
    epoch_publish(deletes->epoch, &deletes->layout, layout, layout_free);
}

struct deletes *deletes_new(const struct words *words, struct epoch *epoch)
{
    struct deletes *deletes = mem_zero(sizeof(*deletes));

    object_begin(deletes, DELETES_MAGIC);
    deletes->words = words;
    deletes->epoch = epoch;
    publish(deletes, block_new(words, 0, 0, NULL), NULL, tail_new(0, TAIL_WORDS_MIN));
    return deletes;
}

void deletes_free(struct deletes *deletes)
{
    struct layout *layout;

    if (!deletes)
        return;
    object_check(deletes, DELETES_MAGIC);
    layout = atomic_load(&deletes->layout);
    block_free(layout->base, 0);
    block_free(layout->live, 0);
    tail_free(layout->tail, 0);
    object_end(layout, LAYOUT_MAGIC);
    free(layout);
    object_end(deletes, DELETES_MAGIC);
    free(deletes);
}

bool deletes_build(struct deletes *deletes, const atomic_bool *stop)
{
    struct layout old = *(struct layout *)atomic_load(&deletes->layout);
    wordid end = words_count(deletes->words);
    struct block *base;

    object_check(deletes, DELETES_MAGIC);
    assert(deletes->end == 0);
    base = block_new(deletes->words, 0, end, stop);
    if (!base)
        return false;
    deletes->end = end;
    publish(deletes, base, NULL, tail_new(deletes->end, TAIL_WORDS_MIN));
    epoch_retire(deletes->epoch, block_free, old.base, 0);
    epoch_retire(deletes->epoch, tail_free, old.tail, 0);
    return true;
}

/* A full tail becomes part of the live block. */
static void lay_out_tail(struct deletes *deletes)
{
    struct layout old = *(struct layout *)atomic_load(&deletes->layout);
    wordid first = old.base->end;
    uint32_t live_count = deletes->end - first;
    uint32_t room = live_count / TAIL_SHARE;

    publish(deletes, old.base, block_new(deletes->words, first, deletes->end, NULL),
            tail_new(deletes->end, room < TAIL_WORDS_MIN ? TAIL_WORDS_MIN : room));
    if (old.live)
        epoch_retire(deletes->epoch, block_free, old.live, 0);
    epoch_retire(deletes->epoch, tail_free, old.tail, 0);
}

void deletes_add(struct deletes *deletes)
{
    wordid end = words_count(deletes->words);

    object_check(deletes, DELETES_MAGIC);
    while (deletes->end < end) {
        struct layout *layout = atomic_load_explicit(&deletes->layout, memory_order_relaxed);

        if (deletes->end - layout->tail->first == layout->tail->word_count_max) {
            lay_out_tail(deletes);
            continue;
        }
        tail_put(layout->tail, deletes->words, deletes->end++);
    }
}

/* ---- finding ---- */

struct finding {
    const struct words *words;
    struct distance_pattern pattern;
    unsigned distance;
    struct near_list *list;
    size_t met_count;
    bool is_full;
};

static void measure(struct finding *finding, wordid id)
{
    struct near_list *list = finding->list;
    size_t place = (id * 0x9E3779B1U) % ARRAY_COUNT(list->met);
    const struct word *word;
    unsigned distance;

    while (list->met[place] && list->met[place] != id + 1)
        place = (place + 1) % ARRAY_COUNT(list->met);
    if (list->met[place])
        return;
    if (finding->met_count == ARRAY_COUNT(list->met) / 2 || list->count == SPELL_NEAR_COUNT_MAX) {
        finding->is_full = true;
        return;
    }
    list->met[place] = id + 1;
    finding->met_count++;
    word = words_get(finding->words, id);
    if (word->size > finding->pattern.size + finding->distance ||
        word->size + finding->distance < finding->pattern.size)
        return;
    distance = distance_measure(&finding->pattern, words_letters(finding->words, word), word->size);
    if (distance <= finding->distance)
        list->near[list->count++] = (struct near){.id = id, .distance = (uint8_t)distance};
}

static void find_in_block(struct finding *finding, const struct block *block, uint64_t hash)
{
    size_t bucket = bucket_of(hash, block->bits);
    uint32_t wanted = tagged(hash, 0);

    for (uint32_t i = block->starts[bucket]; i < block->starts[bucket + 1]; i++) {
        if ((block->entries[i] & ~((1U << NUMBER_BITS) - 1)) == wanted)
            measure(finding, block->entries[i] & ((1U << NUMBER_BITS) - 1));
    }
}

static void find_in_tail(struct finding *finding, struct tail *tail, uint64_t hash)
{
    uint32_t wanted = tagged(hash, 0);
    uint32_t entry =
        atomic_load_explicit(&tail->heads[bucket_of(hash, tail->bits)], memory_order_acquire);

    for (; entry; entry = tail->entries[entry - 1].next) {
        uint32_t found = tail->entries[entry - 1].tagged;

        if ((found & ~((1U << NUMBER_BITS) - 1)) == wanted)
            measure(finding, found & ((1U << NUMBER_BITS) - 1));
    }
}

bool deletes_find(const struct deletes *deletes, const struct letters *letters, unsigned distance,
                  struct near_list *list)
{
    struct layout *layout =
        atomic_load_explicit(&((struct deletes *)deletes)->layout, memory_order_acquire);
    struct finding finding = {.words = deletes->words, .distance = distance, .list = list};
    uint64_t hashes[VARIANT_COUNT_MAX];
    struct keys keys;

    object_check(deletes, DELETES_MAGIC);
    assert(distance <= DISTANCE_MAX);
    list->count = 0;
    memset(list->met, 0, sizeof(list->met));
    distance_prepare(&finding.pattern, letters);
    keys_make(&keys, letters->at, letters->size, distance);
    for (unsigned i = 0; i < keys.count; i++) { /* all at once on their way from memory */
        hashes[i] = key_hash(keys.at[i]);
        __builtin_prefetch(&layout->base->starts[bucket_of(hashes[i], layout->base->bits)]);
    }
    for (unsigned i = 0; i < keys.count; i++) {
        uint32_t start = layout->base->starts[bucket_of(hashes[i], layout->base->bits)];

        __builtin_prefetch(&layout->base->entries[start]);
    }
    for (unsigned i = 0; i < keys.count; i++) {
        find_in_block(&finding, layout->base, hashes[i]);
        if (layout->live)
            find_in_block(&finding, layout->live, hashes[i]);
        find_in_tail(&finding, layout->tail, hashes[i]);
    }
    return !finding.is_full;
}

size_t deletes_memory(const struct deletes *deletes)
{
    object_check(deletes, DELETES_MAGIC);
    return atomic_load_explicit(&((struct deletes *)deletes)->memory, memory_order_relaxed);
}
