/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - see words.h.
 *
 * Records and letters lie in chunks that never move. A slot of the table names a word and is stored
 * last, with release: whoever finds it sees all of it.
 *
 *     slot  | 43 high bits of the hash | number + 1 (21 bits) |     0: empty
 */
#include "spell/words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"

enum {
    NUMBER_BITS = 21,
    WORD_CHUNK_BITS = 14,
    WORD_CHUNK_SIZE = 1 << WORD_CHUNK_BITS,
    WORD_CHUNK_COUNT = SPELL_WORD_COUNT_MAX / WORD_CHUNK_SIZE,
    LETTER_CHUNK_SIZE = 1 << 18,
    LETTER_CHUNK_COUNT = SPELL_WORD_COUNT_MAX / LETTER_CHUNK_SIZE * (SPELL_WORD_SIZE_MAX + 1),
    FIRST_BITS = 12,
    RIGHT_BITS_MIN = 4,
};

struct slots {
    unsigned bits;
    size_t used;
    _Atomic uint64_t slot[];
};

enum { WORDS_MAGIC = OBJECT_MAGIC('s', 'w', 'r', 'd') };

struct words {
    uint32_t magic;
    struct epoch *epoch;   /* borrowed */
    _Atomic(void *) slots; /* owned struct slots */
    _Atomic uint32_t count;
    _Atomic uint64_t seen;
    struct word *chunks[WORD_CHUNK_COUNT];      /* owned */
    uint8_t *letter_chunks[LETTER_CHUNK_COUNT]; /* owned */
    uint32_t letters_size;
    uint32_t *right; /* owned; fingerprints, 0: empty; does not change once there are readers */
    unsigned right_bits;
    size_t right_count;
    _Atomic size_t memory;
};

static struct slots *slots_new(unsigned bits)
{
    struct slots *slots = mem_zero(sizeof(*slots) + ((size_t)8 << bits));

    slots->bits = bits;
    return slots;
}

static void free_thing(void *thing, uint64_t part)
{
    (void)part;
    free(thing);
}

struct words *words_new(struct epoch *epoch)
{
    struct words *words = mem_zero(sizeof(*words));

    object_begin(words, WORDS_MAGIC);
    words->epoch = epoch;
    words->right_bits = RIGHT_BITS_MIN;
    words->right = mem_array((size_t)1 << RIGHT_BITS_MIN, sizeof(*words->right));
    atomic_init(&words->slots, slots_new(FIRST_BITS));
    atomic_init(&words->memory, sizeof(*words));
    return words;
}

void words_free(struct words *words)
{
    if (!words)
        return;
    object_check(words, WORDS_MAGIC);
    free(atomic_load(&words->slots));
    free(words->right);
    for (size_t i = 0; i < WORD_CHUNK_COUNT; i++)
        free(words->chunks[i]);
    for (size_t i = 0; i < LETTER_CHUNK_COUNT; i++)
        free(words->letter_chunks[i]);
    object_end(words, WORDS_MAGIC);
    free(words);
}

static struct word *word_at(const struct words *words, wordid id)
{
    return &words->chunks[id >> WORD_CHUNK_BITS][id & (WORD_CHUNK_SIZE - 1)];
}

const uint8_t *words_letters(const struct words *words, const struct word *word)
{
    return words->letter_chunks[word->offset / LETTER_CHUNK_SIZE] +
           word->offset % LETTER_CHUNK_SIZE;
}

const struct word *words_get(const struct words *words, wordid id)
{
    assert(id < SPELL_WORD_COUNT_MAX && words->chunks[id >> WORD_CHUNK_BITS]);
    return word_at(words, id);
}

static wordid find_hashed(const struct words *words, const uint8_t *letters, size_t size,
                          uint64_t hash)
{
    struct slots *slots =
        atomic_load_explicit(&((struct words *)words)->slots, memory_order_acquire);
    size_t mask = ((size_t)1 << slots->bits) - 1;
    size_t place = hash >> (64 - slots->bits);

    for (;; place = (place + 1) & mask) {
        uint64_t slot = atomic_load_explicit(&slots->slot[place], memory_order_acquire);
        wordid id = (wordid)(slot & ((1U << NUMBER_BITS) - 1)) - 1;
        const struct word *word;

        if (!slot)
            return WORDID_NONE;
        if (slot >> NUMBER_BITS != hash >> NUMBER_BITS)
            continue;
        word = word_at(words, id);
        if (word->size == size && memcmp(words_letters(words, word), letters, size) == 0)
            return id;
    }
}

wordid words_find(const struct words *words, const uint8_t *letters, size_t size)
{
    object_check(words, WORDS_MAGIC);
    if (size == 0 || size > SPELL_WORD_SIZE_MAX)
        return WORDID_NONE;
    return find_hashed(words, letters, size, hash64(bytes_make(letters, size)));
}

static void slot_put(struct slots *slots, uint64_t slot, uint64_t hash)
{
    size_t mask = ((size_t)1 << slots->bits) - 1;
    size_t place = hash >> (64 - slots->bits);

    while (atomic_load_explicit(&slots->slot[place], memory_order_relaxed))
        place = (place + 1) & mask;
    atomic_store_explicit(&slots->slot[place], slot, memory_order_release);
    slots->used++;
    assert(slots->used <= mask); /* a search ends at a free one */
}

/* Places are the hash's top bits, which a slot holds: the words need not be read again. */
static struct slots *grown(struct words *words, struct slots *old)
{
    struct slots *new = slots_new(old->bits + 1);

    for (size_t i = 0; i < (size_t)1 << old->bits; i++) {
        uint64_t slot = atomic_load_explicit(&old->slot[i], memory_order_relaxed);

        if (slot)
            slot_put(new, slot, slot);
    }
    atomic_fetch_add(&words->memory, (size_t)8 << old->bits);
    epoch_publish(words->epoch, &words->slots, new, free_thing);
    return new;
}

static uint32_t put_letters(struct words *words, const uint8_t *letters, size_t size)
{
    size_t left = LETTER_CHUNK_SIZE - words->letters_size % LETTER_CHUNK_SIZE;
    size_t chunk;
    uint32_t offset;

    if (left < size)
        words->letters_size += (uint32_t)left;
    offset = words->letters_size;
    chunk = offset / LETTER_CHUNK_SIZE;
    assert(chunk < LETTER_CHUNK_COUNT);
    if (!words->letter_chunks[chunk]) {
        words->letter_chunks[chunk] = mem_zero(LETTER_CHUNK_SIZE);
        atomic_fetch_add(&words->memory, LETTER_CHUNK_SIZE);
    }
    memcpy(words->letter_chunks[chunk] + offset % LETTER_CHUNK_SIZE, letters, size);
    words->letters_size += (uint32_t)size;
    return offset;
}

wordid words_add(struct words *words, const uint8_t *letters, size_t size)
{
    uint64_t hash = hash64(bytes_make(letters, size));
    struct slots *slots = atomic_load_explicit(&words->slots, memory_order_relaxed);
    wordid id = find_hashed(words, letters, size, hash);
    struct word *word;

    object_check(words, WORDS_MAGIC);
    assert(size > 0 && size <= SPELL_WORD_SIZE_MAX);
    if (id != WORDID_NONE)
        return id;
    id = atomic_load_explicit(&words->count, memory_order_relaxed);
    if (id == SPELL_WORD_COUNT_MAX)
        return WORDID_NONE;
    if (slots->used >= (size_t)1 << slots->bits >> 1)
        slots = grown(words, slots);
    if (!words->chunks[id >> WORD_CHUNK_BITS]) {
        words->chunks[id >> WORD_CHUNK_BITS] = mem_array(WORD_CHUNK_SIZE, sizeof(*word));
        atomic_fetch_add(&words->memory, WORD_CHUNK_SIZE * sizeof(*word));
    }
    word = word_at(words, id);
    word->offset = put_letters(words, letters, size);
    word->size = (uint8_t)size;
    atomic_store_explicit(&words->count, id + 1, memory_order_release);
    slot_put(slots, hash >> NUMBER_BITS << NUMBER_BITS | (id + 1), hash);
    return id;
}

void words_set_base(struct words *words, wordid id, uint8_t rarity, bool is_right)
{
    struct word *word = word_at(words, id);

    object_check(words, WORDS_MAGIC);
    word->rarity = rarity;
    word->is_right = is_right;
}

void words_expect_right(struct words *words, size_t count)
{
    object_check(words, WORDS_MAGIC);
    assert(words->right_count == 0);
    while (((size_t)1 << words->right_bits >> 1) < count)
        words->right_bits++;
    free(words->right);
    words->right = mem_array((size_t)1 << words->right_bits, sizeof(*words->right));
    atomic_fetch_add(&words->memory, sizeof(*words->right) << words->right_bits);
}

/* One half of the hash is the place, the other is kept: of two thousand million words that are not
 * right, one is taken for right. */
static uint32_t *right_slot(const struct words *words, uint64_t hash, uint32_t *print)
{
    size_t mask = ((size_t)1 << words->right_bits) - 1;
    size_t place = (uint32_t)hash & mask;

    *print = (uint32_t)(hash >> 32) | 1; /* never 0, which is an empty slot */
    while (words->right[place] && words->right[place] != *print)
        place = (place + 1) & mask;
    return &words->right[place];
}

bool words_add_right(struct words *words, const uint8_t *letters, size_t size)
{
    uint32_t print;
    uint32_t *slot = right_slot(words, hash64(bytes_make(letters, size)), &print);

    object_check(words, WORDS_MAGIC);
    if (words->right_count == (size_t)1 << words->right_bits >> 1)
        return false;
    words->right_count++;
    *slot = print;
    return true;
}

bool words_is_right(const struct words *words, const uint8_t *letters, size_t size)
{
    uint32_t print;

    object_check(words, WORDS_MAGIC);
    return *right_slot(words, hash64(bytes_make(letters, size)), &print) == print;
}

void words_see(struct words *words, wordid id, uint32_t count)
{
    struct word *word = word_at(words, id);
    uint32_t seen = atomic_load_explicit(&word->seen, memory_order_relaxed);

    object_check(words, WORDS_MAGIC);
    if (seen > UINT32_MAX - count)
        return;
    atomic_store_explicit(&word->seen, seen + count, memory_order_relaxed);
    atomic_fetch_add_explicit(&words->seen, count, memory_order_relaxed);
}

void words_recount(struct words *words, const uint32_t *seen)
{
    uint32_t count = atomic_load_explicit(&words->count, memory_order_relaxed);
    uint64_t sum = 0;

    object_check(words, WORDS_MAGIC);
    for (wordid id = 0; id < count; id++) {
        atomic_store_explicit(&word_at(words, id)->seen, seen[id], memory_order_relaxed);
        sum += seen[id];
    }
    atomic_store_explicit(&words->seen, sum, memory_order_relaxed);
}

bool word_is_forgotten(const struct word *word)
{
    return !word->rarity && !word->is_right &&
           !atomic_load_explicit(&((struct word *)word)->seen, memory_order_relaxed);
}

wordid words_find_known(const struct words *words, const uint8_t *letters, size_t size)
{
    wordid id = words_find(words, letters, size);

    object_check(words, WORDS_MAGIC);
    return id == WORDID_NONE || word_is_forgotten(word_at(words, id)) ? WORDID_NONE : id;
}

uint32_t words_count(const struct words *words)
{
    object_check(words, WORDS_MAGIC);
    return atomic_load_explicit(&((struct words *)words)->count, memory_order_acquire);
}

uint64_t words_seen(const struct words *words)
{
    object_check(words, WORDS_MAGIC);
    return atomic_load_explicit(&((struct words *)words)->seen, memory_order_relaxed);
}

size_t words_memory(const struct words *words)
{
    object_check(words, WORDS_MAGIC);
    return atomic_load_explicit(&((struct words *)words)->memory, memory_order_relaxed);
}
