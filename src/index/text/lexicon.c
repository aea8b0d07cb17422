/* SPDX-License-Identifier: Apache-2.0 */
/* lexicon.c - see lexicon.h and lexicon_parts.h: words in memory. */
#include "index/text/lexicon.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/text/lexicon_parts.h"

enum { BATCH_COUNT = 32 };

/* The record of a form; NULL when it is not there. */
static const uint8_t *find_record(const struct lexicon *lexicon, struct bytes form, uint64_t hash)
{
    struct probe probe = slots_probe(&lexicon->form_slots, hash);
    uint32_t offset = slots_next(&probe);

    for (; offset != PLACE_NONE; offset = slots_next(&probe)) {
        const uint8_t *record = record_at(lexicon, offset);

        if (bytes_equal(record_form(record), form))
            return record;
    }
    return NULL;
}

static bool find_form(const struct lexicon *lexicon, struct bytes form, uint64_t hash,
                      struct lexicon_entry *entry)
{
    const uint8_t *record = find_record(lexicon, form, hash);

    if (!record)
        return false;
    *entry = (struct lexicon_entry){record_term(record), record_number(record)};
    return true;
}

bool lexicon_find(const struct lexicon *lexicon, struct bytes form, struct lexicon_entry *entry)
{
    object_check(lexicon, LEXICON_MAGIC);
    return find_form(lexicon, form, hash64(form), entry);
}

/* Whether the record is of a term that is in no table of its own. */
static bool is_own_stem(const uint8_t *record)
{
    return record_is_first(record) && *record_middle(record) == record[0];
}

bool lexicon_find_term(const struct lexicon *lexicon, struct bytes stem, termid *term)
{
    uint64_t hash = hash64(stem);
    struct probe probe = slots_probe(&lexicon->term_slots, hash);
    const uint8_t *record;

    object_check(lexicon, LEXICON_MAGIC);
    for (*term = slots_next(&probe); *term != PLACE_NONE; *term = slots_next(&probe)) {
        if (bytes_equal(term_bytes(lexicon, *term), stem))
            return true;
    }
    record = find_record(lexicon, stem, hash);
    if (!record || !is_own_stem(record))
        return false;
    *term = record_term(record);
    return true;
}

bool lexicon_resolve(const struct lexicon *lexicon, struct analysis *analysis, struct bytes form,
                     enum script script, struct lexicon_entry *entry)
{
    object_check(lexicon, LEXICON_MAGIC);
    if (lexicon_find(lexicon, form, entry))
        return true;
    entry->form = FORM_NONE;
    return lexicon_find_term(lexicon, analysis_stem(analysis, form, script), &entry->term);
}

/* Room for a record; NULL when the space for them is used up. */
static uint8_t *make_room(struct lexicon *lexicon, size_t size, size_t *offset)
{
    size_t left;

    *offset = atomic_load_explicit(&lexicon->byte_size, memory_order_relaxed);
    left = BYTE_CHUNK_SIZE - *offset % BYTE_CHUNK_SIZE;
    if (left < size)
        *offset += left;
    if (*offset >> BYTE_CHUNK_BITS >= BYTE_CHUNK_COUNT)
        return NULL;
    if (!lexicon->bytes[*offset >> BYTE_CHUNK_BITS])
        lexicon->bytes[*offset >> BYTE_CHUNK_BITS] = mem_zero(BYTE_CHUNK_SIZE);
    return lexicon->bytes[*offset >> BYTE_CHUNK_BITS] + *offset % BYTE_CHUNK_SIZE;
}

/* Makes a record; returns its size. previous: the form before under the term, 0 for the first. */
static size_t write_record(uint8_t to[RECORD_SIZE_MAX], struct bytes form, termid term,
                           uint32_t number, uint32_t previous, struct bytes stem)
{
    bool is_apart = number == 0 && !bytes_begin(form, stem);
    uint32_t shown = number < RECORD_NUMBER_MANY ? number : RECORD_NUMBER_MANY;
    size_t size = 5;

    to[0] = (uint8_t)form.size;
    put_le32(to + 1, term << RECORD_NUMBER_BITS | shown);
    if (shown == RECORD_NUMBER_MANY) {
        put_le16(to + size, (uint16_t)number);
        size += 2;
    }
    if (number == 0) {
        to[size++] = (uint8_t)(stem.size | (is_apart ? RECORD_STEM_APART : 0));
    } else {
        put_le32(to + size, previous);
        size += 4;
    }
    memcpy(to + size, form.data, form.size);
    size += form.size;
    if (is_apart) {
        memcpy(to + size, stem.data, stem.size);
        size += stem.size;
    }
    return size;
}

/* The term of a record just written. */
static void add_term(struct lexicon *lexicon, termid id, struct bytes stem, uint32_t offset)
{
    struct term *term;

    assert(id == atomic_load_explicit(&lexicon->term_count, memory_order_relaxed));
    if (id % WORD_CHUNK_SIZE == 0)
        lexicon->terms[id >> WORD_CHUNK_BITS] = mem_array(WORD_CHUNK_SIZE, sizeof(struct term));
    term = term_at(lexicon, id);
    term->first = offset;
    atomic_store_explicit(&term->last, offset, memory_order_release);
    if (!is_own_stem(record_at(lexicon, offset)))
        slot_table_put(lexicon, &lexicon->term_slots, hash64(stem), id);
    atomic_store_explicit(&lexicon->term_count, id + 1, memory_order_release);
}

int lexicon_insert(struct lexicon *lexicon, struct bytes form, termid id, struct bytes stem,
                   struct lexicon_entry *entry, struct err *err)
{
    uint32_t count = atomic_load_explicit(&lexicon->form_count, memory_order_relaxed);
    uint32_t number = id == TERMID_NONE ? 0 : lexicon_term_form_count(lexicon, id);
    uint8_t record[RECORD_SIZE_MAX], *to;
    uint32_t previous = 0;
    size_t size, offset;

    object_check(lexicon, LEXICON_MAGIC);
    if (count + 1 >= LEXICON_FORM_COUNT_MAX)
        return err_set(err, ERR_LIMIT,
                       "lexicon %s is full: it has LEXICON_FORM_COUNT_MAX = %d words",
                       lexicon->log.path ? lexicon->log.path : "in memory", LEXICON_FORM_COUNT_MAX);
    if (number >= LEXICON_TERM_FORM_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "the word %.*s has LEXICON_TERM_FORM_COUNT_MAX = %d forms",
                       BYTES_ARG(lexicon_term(lexicon, id)), LEXICON_TERM_FORM_COUNT_MAX);
    if (number)
        previous = atomic_load_explicit(&term_at(lexicon, id)->last, memory_order_relaxed);
    else
        id = atomic_load_explicit(&lexicon->term_count, memory_order_relaxed);
    size = write_record(record, form, id, number, previous, stem);
    to = make_room(lexicon, size, &offset);
    if (!to)
        return err_set(err, ERR_LIMIT, "lexicon %s is full: its words have %u MB",
                       lexicon->log.path ? lexicon->log.path : "in memory",
                       BYTE_CHUNK_COUNT * (BYTE_CHUNK_SIZE >> 20));
    assert(size <= RECORD_SIZE_MAX && offset % BYTE_CHUNK_SIZE + size <= BYTE_CHUNK_SIZE);
    assert(offset >= atomic_load_explicit(&lexicon->byte_size, memory_order_relaxed));
    memcpy(to, record, size);
    if (number)
        atomic_store_explicit(&term_at(lexicon, id)->last, (uint32_t)offset, memory_order_release);
    else
        add_term(lexicon, id, stem, (uint32_t)offset);
    slot_table_put(lexicon, &lexicon->form_slots, hash64(form), (uint32_t)offset);
    atomic_store_explicit(&lexicon->byte_size, offset + size, memory_order_release);
    atomic_store_explicit(&lexicon->form_count, count + 1, memory_order_release);
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
    rc = lexicon_log_room(lexicon, err);
    if (rc)
        return rc;
    stem = analysis_stem(analysis, form, script);
    lexicon_find_term(lexicon, stem, &term);
    rc = lexicon_insert(lexicon, form, term, stem, entry, err);
    if (!rc)
        lexicon_log_add(lexicon, form, term, stem);
    return rc;
}

int lexicon_add(struct lexicon *lexicon, struct analysis *analysis, struct bytes form,
                enum script script, struct lexicon_entry *entry, struct err *err)
{
    object_check(lexicon, LEXICON_MAGIC);
    return add_hashed(lexicon, analysis, form, script, hash64(form), entry, err);
}

/* Asks the memory for what finding these words will touch: slots, then records, a step at a time
 * for all of them, so that they wait together. */
static void fetch(const struct lexicon *lexicon, const struct token *tokens, size_t count,
                  uint64_t *hashes)
{
    struct probe probes[BATCH_COUNT];
    size_t i;

    for (i = 0; i < count; i++) {
        hashes[i] = hash64(tokens[i].form);
        probes[i] = slots_probe(&lexicon->form_slots, hashes[i]);
        __builtin_prefetch((const void *)&slots_tags(probes[i].slots)[probes[i].at]);
        __builtin_prefetch((const void *)&probes[i].slots->places[probes[i].at]);
    }
    for (i = 0; i < count; i++) {
        uint32_t offset = slots_next(&probes[i]);

        if (offset != PLACE_NONE)
            __builtin_prefetch(record_at(lexicon, offset));
    }
}

int lexicon_add_tokens(struct lexicon *lexicon, struct analysis *analysis,
                       const struct token *tokens, size_t count, struct lexicon_entry *entries,
                       struct err *err)
{
    uint64_t hashes[BATCH_COUNT];
    int rc = 0;

    object_check(lexicon, LEXICON_MAGIC);
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

    object_check(lexicon, LEXICON_MAGIC);
    *durable_size = lexicon->log.durable;
    return rc;
}

void lexicon_retire(struct lexicon *lexicon, struct retired *retired, size_t size)
{
    object_check(lexicon, LEXICON_MAGIC);
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

    object_check(lexicon, LEXICON_MAGIC);
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
    object_check(lexicon, LEXICON_MAGIC);
    assert(term < atomic_load_explicit(&lexicon->term_count, memory_order_acquire));
    return term_bytes(lexicon, term);
}

uint32_t lexicon_term_form_count(const struct lexicon *lexicon, termid term)
{
    object_check(lexicon, LEXICON_MAGIC);
    assert(term < atomic_load_explicit(&lexicon->term_count, memory_order_acquire));
    return record_number(record_at(lexicon, atomic_load_explicit(&term_at(lexicon, term)->last,
                                                                 memory_order_acquire))) +
           1U;
}

struct bytes lexicon_form(const struct lexicon *lexicon, struct lexicon_entry entry)
{
    const uint8_t *record;
    uint32_t offset;

    object_check(lexicon, LEXICON_MAGIC);
    assert(entry.form < lexicon_term_form_count(lexicon, entry.term));
    offset = atomic_load_explicit(&term_at(lexicon, entry.term)->last, memory_order_acquire);
    record = record_at(lexicon, offset);
    while (record_number(record) != entry.form)
        record = record_at(lexicon, record_previous(record));
    return record_form(record);
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

    object_check(lexicon, LEXICON_MAGIC);
    sizes.tail_count = sizes.form_count - (sorted ? sorted->count : 0);
    sizes.memory_size =
        sizeof(*lexicon) + atomic_load_explicit(&lexicon->table_size, memory_order_relaxed) +
        (atomic_load_explicit(&lexicon->byte_size, memory_order_relaxed) + BYTE_CHUNK_SIZE - 1) /
            BYTE_CHUNK_SIZE * BYTE_CHUNK_SIZE +
        (sizes.term_count + chunk - 1) / chunk * chunk * sizeof(struct term);
    return sizes;
}

int lexicon_open(const char *path, uint64_t durable_size, struct lexicon **lexicon, struct err *err)
{
    struct lexicon *new = mem_zero(sizeof(*new));
    int rc;

    object_begin(new, LEXICON_MAGIC);
    *lexicon = NULL;
    new->log.fd = -1;
    pthread_mutex_init(&new->sort_lock, NULL);
    pthread_mutex_init(&new->retired_lock, NULL);
    slot_table_init(new, &new->form_slots);
    slot_table_init(new, &new->term_slots);
    atomic_init(&new->byte_size, RECORD_FIRST);
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
    object_check(lexicon, LEXICON_MAGIC);
    lexicon_reclaim(lexicon, NULL);
    lexicon_log_close(&lexicon->log);
    slot_table_release(&lexicon->form_slots);
    slot_table_release(&lexicon->term_slots);
    free(atomic_load(&lexicon->sorted));
    for (size_t i = 0; i < WORD_CHUNK_COUNT; i++)
        free(lexicon->terms[i]);
    for (size_t i = 0; i < BYTE_CHUNK_COUNT; i++)
        free(lexicon->bytes[i]);
    pthread_mutex_destroy(&lexicon->sort_lock);
    pthread_mutex_destroy(&lexicon->retired_lock);
    object_end(lexicon, LEXICON_MAGIC);
    free(lexicon);
}

unsigned lexicon_analysis_version(const struct lexicon *lexicon)
{
    object_check(lexicon, LEXICON_MAGIC);
    return lexicon->log.analysis_version ? lexicon->log.analysis_version : ANALYSIS_VERSION;
}
