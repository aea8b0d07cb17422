/* SPDX-License-Identifier: Apache-2.0 */
/* lexicon.c - see lexicon.h and lexicon_parts.h: words in memory. */
#include "index/lexicon.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/lexicon_parts.h"

enum { SLOTS_BITS_FIRST = 12, SLOTS_BITS_MAX = 27, BATCH_COUNT = 32 };

_Static_assert(LEXICON_FORM_COUNT_MAX <= 1 << SLOT_INDEX_BITS, "a slot holds any index");
_Static_assert(TOKEN_SIZE_MAX <= UINT8_MAX, "form.size is a byte");

static size_t slots_size(unsigned bits)
{
    return sizeof(struct slots) + ((size_t)1 << bits) * sizeof(uint64_t);
}

static struct slots *slots_new(struct lexicon *lexicon, unsigned bits)
{
    struct slots *slots = mem_zero(slots_size(bits));

    slots->bits = bits;
    atomic_fetch_add_explicit(&lexicon->table_size, slots_size(bits), memory_order_relaxed);
    return slots;
}

static uint64_t slot_make(uint64_t hash, uint32_t index)
{
    return hash >> SLOT_INDEX_BITS << SLOT_INDEX_BITS | (index + 1);
}

static uint32_t slot_index(uint64_t slot)
{
    return (uint32_t)(slot & ((1U << SLOT_INDEX_BITS) - 1)) - 1;
}

static void slots_put(struct slots *slots, uint64_t slot)
{
    size_t mask = ((size_t)1 << slots->bits) - 1;
    size_t at = slot >> (64 - slots->bits);

    while (atomic_load_explicit(&slots->slot[at], memory_order_relaxed))
        at = (at + 1) & mask;
    atomic_store_explicit(&slots->slot[at], slot, memory_order_release);
    slots->used++;
}

/* Room for one more; the outgrown table is left to readers. */
static void slots_grow(struct lexicon *lexicon, _Atomic(struct slots *) *place)
{
    struct slots *old = atomic_load_explicit(place, memory_order_relaxed);
    size_t count = (size_t)1 << old->bits;
    struct slots *new;

    if (old->used * 4 < count * 3 || old->bits == SLOTS_BITS_MAX)
        return;
    new = slots_new(lexicon, old->bits + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t slot = atomic_load_explicit(&old->slot[i], memory_order_relaxed);

        if (slot)
            slots_put(new, slot);
    }
    atomic_store_explicit(place, new, memory_order_release);
    lexicon_retire(lexicon, &old->retired, slots_size(old->bits));
}

/* The index of the word in one of the two tables; UINT32_MAX when it is not there. */
static uint32_t find_word(const struct lexicon *lexicon, bool is_form, struct bytes word,
                          uint64_t hash)
{
    const struct slots *slots = atomic_load_explicit(
        is_form ? &lexicon->form_slots : &lexicon->term_slots, memory_order_acquire);
    size_t mask = ((size_t)1 << slots->bits) - 1;
    size_t at = hash >> (64 - slots->bits);

    for (;; at = (at + 1) & mask) {
        uint64_t slot = atomic_load_explicit(&slots->slot[at], memory_order_acquire);
        uint32_t index = slot_index(slot);
        struct bytes found;

        if (!slot)
            return UINT32_MAX;
        if ((slot ^ hash) >> SLOT_INDEX_BITS)
            continue;
        if (is_form)
            found = form_bytes(lexicon, index);
        else
            found =
                bytes_at(lexicon, term_at(lexicon, index)->offset, term_at(lexicon, index)->size);
        if (bytes_equal(found, word))
            return index;
    }
}

static bool find_form(const struct lexicon *lexicon, struct bytes form, uint64_t hash,
                      struct lexicon_entry *entry)
{
    uint32_t index = find_word(lexicon, true, form, hash);

    if (index == UINT32_MAX)
        return false;
    entry->term = form_at(lexicon, index)->term;
    entry->form = form_at(lexicon, index)->number;
    return true;
}

bool lexicon_find(const struct lexicon *lexicon, struct bytes form, struct lexicon_entry *entry)
{
    return find_form(lexicon, form, hash64(form), entry);
}

bool lexicon_find_term(const struct lexicon *lexicon, struct bytes stem, termid *term)
{
    *term = find_word(lexicon, false, stem, hash64(stem));
    return *term != TERMID_NONE;
}

bool lexicon_resolve(const struct lexicon *lexicon, struct analysis *analysis, struct bytes form,
                     enum script script, struct lexicon_entry *entry)
{
    if (lexicon_find(lexicon, form, entry))
        return true;
    entry->form = FORM_NONE;
    return lexicon_find_term(lexicon, analysis_stem(analysis, form, script), &entry->term);
}

/* Copies bytes to where they stay; false when the space for them is used up. */
static bool keep_bytes(struct lexicon *lexicon, struct bytes bytes, uint32_t *offset)
{
    size_t place = atomic_load_explicit(&lexicon->byte_size, memory_order_relaxed);
    size_t left = BYTE_CHUNK_SIZE - place % BYTE_CHUNK_SIZE;

    if (left < bytes.size)
        place += left;
    if (place / BYTE_CHUNK_SIZE >= BYTE_CHUNK_COUNT)
        return false;
    if (!lexicon->bytes[place / BYTE_CHUNK_SIZE])
        lexicon->bytes[place / BYTE_CHUNK_SIZE] = mem_alloc(BYTE_CHUNK_SIZE);
    memcpy(lexicon->bytes[place / BYTE_CHUNK_SIZE] + place % BYTE_CHUNK_SIZE, bytes.data,
           bytes.size);
    *offset = (uint32_t)place;
    atomic_store_explicit(&lexicon->byte_size, place + bytes.size, memory_order_relaxed);
    return true;
}

/* A stem that begins the form shares its bytes, as nearly all Russian ones do. */
static bool add_term(struct lexicon *lexicon, struct bytes stem, struct bytes form,
                     uint32_t form_offset, termid *id)
{
    uint32_t index = atomic_load_explicit(&lexicon->term_count, memory_order_relaxed);
    uint32_t offset = form_offset;
    struct term *term;

    if (!bytes_begin(form, stem) && !keep_bytes(lexicon, stem, &offset))
        return false;
    if (index % WORD_CHUNK_SIZE == 0)
        lexicon->terms[index >> WORD_CHUNK_BITS] = mem_array(WORD_CHUNK_SIZE, sizeof(struct term));
    term = term_at(lexicon, index);
    term->offset = offset;
    term->size = (uint8_t)stem.size;
    slots_grow(lexicon, &lexicon->term_slots);
    slots_put(atomic_load_explicit(&lexicon->term_slots, memory_order_relaxed),
              slot_make(hash64(stem), index));
    atomic_store_explicit(&lexicon->term_count, index + 1, memory_order_release);
    *id = index;
    return true;
}

int lexicon_insert(struct lexicon *lexicon, struct bytes form, termid id, struct bytes stem,
                   struct lexicon_entry *entry, struct err *err)
{
    uint32_t index = atomic_load_explicit(&lexicon->form_count, memory_order_relaxed);
    uint32_t number = id == TERMID_NONE ? 0 : lexicon_term_form_count(lexicon, id);
    uint32_t offset;
    struct form *kept;
    struct term *term;

    if (index + 1 >= LEXICON_FORM_COUNT_MAX)
        return err_set(err, ERR_LIMIT,
                       "lexicon %s is full: it has LEXICON_FORM_COUNT_MAX = %d words",
                       lexicon->log.path ? lexicon->log.path : "in memory", LEXICON_FORM_COUNT_MAX);
    if (number >= LEXICON_TERM_FORM_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "the word %.*s has LEXICON_TERM_FORM_COUNT_MAX = %d forms",
                       BYTES_ARG(lexicon_term(lexicon, id)), LEXICON_TERM_FORM_COUNT_MAX);
    if (!keep_bytes(lexicon, form, &offset) ||
        (id == TERMID_NONE && !add_term(lexicon, stem, form, offset, &id)))
        return err_set(err, ERR_LIMIT, "lexicon %s is full: its words have %u MB",
                       lexicon->log.path ? lexicon->log.path : "in memory",
                       BYTE_CHUNK_COUNT * (BYTE_CHUNK_SIZE >> 20));
    if (index % WORD_CHUNK_SIZE == 0)
        lexicon->forms[index >> WORD_CHUNK_BITS] = mem_array(WORD_CHUNK_SIZE, sizeof(struct form));
    term = term_at(lexicon, id);
    kept = &lexicon->forms[index >> WORD_CHUNK_BITS][index & (WORD_CHUNK_SIZE - 1)];
    *kept = (struct form){
        .offset = offset,
        .term = id,
        .previous = atomic_load_explicit(&term->last, memory_order_relaxed),
        .number = (uint16_t)number,
        .size = (uint8_t)form.size,
    };
    atomic_store_explicit(&term->last, index + 1, memory_order_release);
    atomic_store_explicit(&term->form_count, (uint16_t)(number + 1), memory_order_release);
    slots_grow(lexicon, &lexicon->form_slots);
    slots_put(atomic_load_explicit(&lexicon->form_slots, memory_order_relaxed),
              slot_make(hash64(form), index));
    atomic_store_explicit(&lexicon->form_count, index + 1, memory_order_release);
    *entry = (struct lexicon_entry){id, (uint16_t)number};
    return 0;
}

static int add_hashed(struct lexicon *lexicon, struct analysis *analysis, struct bytes form,
                      enum script script, uint64_t hash, struct lexicon_entry *entry,
                      struct err *err)
{
    struct bytes stem;
    termid term;
    int rc;

    if (find_form(lexicon, form, hash, entry))
        return 0;
    if (form.size == 0 || form.size > TOKEN_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a word of %zu bytes; analysis makes 1 to %d", form.size,
                       TOKEN_SIZE_MAX);
    if (lexicon->log.failed)
        return err_set(err, ERR_UNAVAILABLE, "%s could not be written before: open it anew",
                       lexicon->log.path);
    stem = analysis_stem(analysis, form, script);
    lexicon_find_term(lexicon, stem, &term);
    rc = lexicon_insert(lexicon, form, term, stem, entry, err);
    return rc ? rc : lexicon_log_add(lexicon, form, term, stem, err);
}

int lexicon_add(struct lexicon *lexicon, struct analysis *analysis, struct bytes form,
                enum script script, struct lexicon_entry *entry, struct err *err)
{
    return add_hashed(lexicon, analysis, form, script, hash64(form), entry, err);
}

/* Asks the memory for what finding these words will touch: slot, form, bytes, a step at a time for
 * all of them, so that they wait together. */
static void fetch(const struct lexicon *lexicon, const struct token *tokens, size_t count,
                  uint64_t *hashes)
{
    const struct slots *slots = atomic_load_explicit(&lexicon->form_slots, memory_order_relaxed);
    uint64_t found[BATCH_COUNT];
    size_t i;

    for (i = 0; i < count; i++) {
        hashes[i] = hash64(tokens[i].form);
        __builtin_prefetch(&slots->slot[hashes[i] >> (64 - slots->bits)]);
    }
    for (i = 0; i < count; i++) {
        found[i] = atomic_load_explicit(&slots->slot[hashes[i] >> (64 - slots->bits)],
                                        memory_order_relaxed);
        if (found[i])
            __builtin_prefetch(form_at(lexicon, slot_index(found[i])));
    }
    for (i = 0; i < count; i++) {
        if (found[i])
            __builtin_prefetch(form_bytes(lexicon, slot_index(found[i])).data);
    }
}

int lexicon_add_tokens(struct lexicon *lexicon, struct analysis *analysis,
                       const struct token *tokens, size_t count, struct lexicon_entry *entries,
                       struct err *err)
{
    uint64_t hashes[BATCH_COUNT];
    int rc = 0;

    for (size_t from = 0; from < count && !rc; from += BATCH_COUNT) {
        size_t batch = count - from < BATCH_COUNT ? count - from : BATCH_COUNT;

        fetch(lexicon, tokens + from, batch, hashes);
        for (size_t i = 0; i < batch && !rc; i++)
            rc = add_hashed(lexicon, analysis, tokens[from + i].form,
                            (enum script)tokens[from + i].script, hashes[i], &entries[from + i],
                            err);
    }
    return rc;
}

int lexicon_sync(struct lexicon *lexicon, uint64_t *durable_size, struct err *err)
{
    int rc = lexicon_log_sync(lexicon, err);

    *durable_size = lexicon->log.durable;
    return rc;
}

void lexicon_retire(struct lexicon *lexicon, struct retired *retired, size_t size)
{
    retired->size = size;
    pthread_mutex_lock(&lexicon->retired_lock);
    retired->next = lexicon->retired;
    lexicon->retired = retired;
    pthread_mutex_unlock(&lexicon->retired_lock);
}

static void free_table(void *thing, uint64_t unused)
{
    (void)unused;
    free(thing); /* struct retired is the first member of what is freed */
}

void lexicon_reclaim(struct lexicon *lexicon, struct epoch *epoch)
{
    struct retired *list;

    pthread_mutex_lock(&lexicon->retired_lock);
    list = lexicon->retired;
    lexicon->retired = NULL;
    pthread_mutex_unlock(&lexicon->retired_lock);
    while (list) {
        struct retired *next = list->next;

        atomic_fetch_sub_explicit(&lexicon->table_size, list->size, memory_order_relaxed);
        if (epoch)
            epoch_retire(epoch, free_table, list, 0);
        else
            free_table(list, 0);
        list = next;
    }
}

struct bytes lexicon_term(const struct lexicon *lexicon, termid term)
{
    assert(term < atomic_load_explicit(&lexicon->term_count, memory_order_acquire));
    return bytes_at(lexicon, term_at(lexicon, term)->offset, term_at(lexicon, term)->size);
}

uint32_t lexicon_term_form_count(const struct lexicon *lexicon, termid term)
{
    assert(term < atomic_load_explicit(&lexicon->term_count, memory_order_acquire));
    return atomic_load_explicit(&term_at(lexicon, term)->form_count, memory_order_acquire);
}

struct bytes lexicon_form(const struct lexicon *lexicon, struct lexicon_entry entry)
{
    uint32_t next;

    assert(entry.form < lexicon_term_form_count(lexicon, entry.term));
    next = atomic_load_explicit(&term_at(lexicon, entry.term)->last, memory_order_acquire);
    while (next && form_at(lexicon, next - 1)->number != entry.form)
        next = form_at(lexicon, next - 1)->previous;
    assert(next);
    return form_bytes(lexicon, next - 1);
}

struct lexicon_sizes lexicon_sizes(const struct lexicon *lexicon)
{
    const struct sorted *sorted = atomic_load_explicit(&lexicon->sorted, memory_order_acquire);
    struct lexicon_sizes sizes = {
        .term_count = atomic_load_explicit(&lexicon->term_count, memory_order_acquire),
        .form_count = atomic_load_explicit(&lexicon->form_count, memory_order_acquire),
        .file_size = atomic_load_explicit(&lexicon->log.size, memory_order_relaxed),
    };
    size_t chunk = WORD_CHUNK_SIZE;

    sizes.tail_count = sizes.form_count - (sorted ? sorted->count : 0);
    sizes.memory_size =
        sizeof(*lexicon) + atomic_load_explicit(&lexicon->table_size, memory_order_relaxed) +
        (atomic_load_explicit(&lexicon->byte_size, memory_order_relaxed) + BYTE_CHUNK_SIZE - 1) /
            BYTE_CHUNK_SIZE * BYTE_CHUNK_SIZE +
        (sizes.form_count + chunk - 1) / chunk * chunk * sizeof(struct form) +
        (sizes.term_count + chunk - 1) / chunk * chunk * sizeof(struct term);
    return sizes;
}

int lexicon_open(const char *path, uint64_t durable_size, struct lexicon **lexicon, struct err *err)
{
    struct lexicon *new = mem_zero(sizeof(*new));
    int rc;

    *lexicon = NULL;
    new->log.fd = -1;
    pthread_mutex_init(&new->sort_lock, NULL);
    pthread_mutex_init(&new->retired_lock, NULL);
    atomic_init(&new->form_slots, slots_new(new, SLOTS_BITS_FIRST));
    atomic_init(&new->term_slots, slots_new(new, SLOTS_BITS_FIRST));
    rc = path ? lexicon_log_open(new, path, durable_size, err) : 0;
    lexicon_reclaim(new, NULL); /* nobody reads yet */
    if (rc)
        lexicon_close(new);
    else
        *lexicon = new;
    return rc;
}

void lexicon_close(struct lexicon *lexicon)
{
    if (!lexicon)
        return;
    lexicon_reclaim(lexicon, NULL);
    lexicon_log_close(&lexicon->log);
    free(atomic_load(&lexicon->form_slots));
    free(atomic_load(&lexicon->term_slots));
    free(atomic_load(&lexicon->sorted));
    for (size_t i = 0; i < WORD_CHUNK_COUNT; i++) {
        free(lexicon->forms[i]);
        free(lexicon->terms[i]);
    }
    for (size_t i = 0; i < BYTE_CHUNK_COUNT; i++)
        free(lexicon->bytes[i]);
    pthread_mutex_destroy(&lexicon->sort_lock);
    pthread_mutex_destroy(&lexicon->retired_lock);
    free(lexicon);
}
