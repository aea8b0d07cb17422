/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_buffer.c - see text_buffer.h.
 *
 * A term has a chain of chunks, each about as large as all before it. An entry is whole in one
 * chunk: ordinal - the one before in the list, frequencies, then (distance << 2 | form) as in
 * segments; all varints. The writer fills in an entry, then moves `used` over it (release); it
 * links a new chunk only when the old one's `used` is final. So a reader that takes `next` first
 * and `used` second (acquire) has everything in between.
 */
#include "index/postings/text_buffer.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/varint.h"
#include "index/bounds.h"
#include "index/postings/id_sort.h"
#include "index/postings/text_segment_format.h"

enum {
    BUCKET_COUNT = 1 << 16,
    BUCKETS_A_WORD = 64, /* of the map of those that are used */
    SLAB_SIZE = 256 << 10,
    CHUNK_SIZE_MIN = 16,
    CHUNK_SIZE_MAX = 4 << 10,
    SLOT_COUNT = 2 * TEXT_BUFFER_DOC_COUNT_MAX,
    FETCH_COUNT = 32,
    FETCH_AHEAD = 8,
    ENTRY_SIZE_MAX = (POSTING_OCCURRENCE_MAX + 1) * 2 * VARINT_SIZE_MAX,
    NOT_YET = UINT32_MAX, /* next[]: no newer version */
};

struct buffer_chunk {
    _Atomic(struct buffer_chunk *) next;
    _Atomic uint32_t used;
    uint32_t size;
    uint8_t bytes[];
};

struct buffer_term {
    struct buffer_term *next; /* in its bucket */
    uint32_t term;
    uint32_t newest;            /* ordinal of the last entry; the writer's */
    struct buffer_chunk *first; /* set before the term is seen */
    struct buffer_chunk *last;  /* the writer's */
};

struct slab {
    struct slab *next;
    size_t used, size;
    _Alignas(16) uint8_t bytes[];
};

enum { TEXT_BUFFER_MAGIC = OBJECT_MAGIC('t', 'b', 'u', 'f') };

struct text_buffer {
    uint32_t magic;
    _Atomic(struct buffer_term *) buckets[BUCKET_COUNT];
    /* A bit a bucket that has a term, set behind it: who wants all terms of a buffer with few of
     * them does not touch half a megabyte of buckets. */
    _Atomic uint64_t used[BUCKET_COUNT / BUCKETS_A_WORD];
    docid ids[TEXT_BUFFER_DOC_COUNT_MAX];
    uint8_t lengths[TEXT_BUFFER_DOC_COUNT_MAX][SEGMENT_FIELD_COUNT];
    bool deletes[TEXT_BUFFER_DOC_COUNT_MAX];
    _Atomic uint32_t next[TEXT_BUFFER_DOC_COUNT_MAX]; /* the ordinal that superseded it */
    _Alignas(64) _Atomic uint32_t published;

    _Alignas(64) uint32_t count; /* the writer's from here on */
    uint32_t slots[SLOT_COUNT];  /* id → its newest ordinal + 1, open addressing */
    struct slab *slabs;
    size_t size;
    uint8_t entry[ENTRY_SIZE_MAX]; /* the one that is being made */
};

struct text_buffer *text_buffer_new(void)
{
    /* Pages of its own: most buffers are frozen by a checkpoint long before they are full. */
    struct text_buffer *buffer = mem_map(sizeof(*buffer));

    object_begin(buffer, TEXT_BUFFER_MAGIC);
    buffer->size = sizeof(*buffer);
    return buffer;
}

void text_buffer_free(struct text_buffer *buffer)
{
    if (!buffer)
        return;
    object_check(buffer, TEXT_BUFFER_MAGIC);
    while (buffer->slabs) {
        struct slab *slab = buffer->slabs;

        buffer->slabs = slab->next;
        free(slab);
    }
    object_end(buffer, TEXT_BUFFER_MAGIC);
    mem_unmap(buffer, sizeof(*buffer));
}

bool text_buffer_full(const struct text_buffer *buffer)
{
    object_check(buffer, TEXT_BUFFER_MAGIC);
    return buffer->count == TEXT_BUFFER_DOC_COUNT_MAX;
}

static void *take_memory(struct text_buffer *buffer, size_t size)
{
    struct slab *slab = buffer->slabs;
    void *memory;

    size = (size + 7) & ~(size_t)7;
    if (!slab || slab->size - slab->used < size) {
        size_t room = size > SLAB_SIZE ? size : SLAB_SIZE;

        slab = mem_alloc(sizeof(*slab) + room);
        *slab = (struct slab){.next = buffer->slabs, .size = room};
        buffer->slabs = slab;
        buffer->size += sizeof(*slab) + room;
    }
    memory = slab->bytes + slab->used;
    slab->used += size;
    assert(slab->used <= slab->size);
    return memory;
}

static struct buffer_chunk *new_chunk(struct text_buffer *buffer, uint32_t size)
{
    struct buffer_chunk *chunk = take_memory(buffer, sizeof(*chunk) + size);

    atomic_init(&chunk->next, NULL);
    atomic_init(&chunk->used, 0);
    chunk->size = size;
    return chunk;
}

static uint32_t bucket_of(uint32_t term)
{
    return (term * UINT32_C(0x9e3779b1)) >> 16;
}

static struct buffer_term *find_term(const struct text_buffer *buffer, uint32_t term)
{
    struct buffer_term *found =
        atomic_load_explicit(&buffer->buckets[bucket_of(term)], memory_order_acquire);

    while (found && found->term != term)
        found = found->next;
    return found;
}

/* There is one writer: nothing is lost between the load and the store. */
static void note_used(struct text_buffer *buffer, uint32_t bucket)
{
    _Atomic uint64_t *word = &buffer->used[bucket / BUCKETS_A_WORD];
    uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);

    atomic_store_explicit(word, bits | UINT64_C(1) << bucket % BUCKETS_A_WORD,
                          memory_order_release);
}

static struct buffer_term *get_term(struct text_buffer *buffer, uint32_t term)
{
    struct buffer_term *found = find_term(buffer, term);
    _Atomic(struct buffer_term *) *bucket = &buffer->buckets[bucket_of(term)];

    if (found)
        return found;
    found = take_memory(buffer, sizeof(*found));
    found->next = atomic_load_explicit(bucket, memory_order_relaxed);
    found->term = term;
    found->newest = 0;
    found->first = found->last = new_chunk(buffer, CHUNK_SIZE_MIN);
    atomic_store_explicit(bucket, found, memory_order_release);
    if (!found->next)
        note_used(buffer, bucket_of(term));
    return found;
}

/* The newest version of an id now has this ordinal; the one before it, if any, is superseded. */
static void supersede(struct text_buffer *buffer, docid id, uint32_t ordinal)
{
    uint32_t at = (id * UINT32_C(0x9e3779b1)) % SLOT_COUNT;

    while (buffer->slots[at] && buffer->ids[buffer->slots[at] - 1] != id)
        at = (at + 1) % SLOT_COUNT;
    if (buffer->slots[at])
        atomic_store_explicit(&buffer->next[buffer->slots[at] - 1], ordinal, memory_order_relaxed);
    atomic_store_explicit(&buffer->next[ordinal], NOT_YET, memory_order_relaxed);
    assert(buffer->slots[at] <= ordinal); /* versions only get newer */
    buffer->slots[at] = ordinal + 1;
}

static inline uint8_t *put_number(uint8_t *to, uint64_t value)
{
    if (value < 0x80) { /* nearly all */
        *to = (uint8_t)value;
        return to + 1;
    }
    return to + varint_encode(value, to);
}

/* Returns the size of the entry, which has ENTRY_SIZE_MAX bytes at most. */
static uint32_t make_entry(uint8_t *entry, uint32_t gap, const struct buffer_posting *posting)
{
    const struct occurrence *occurrence = posting->occurrences;
    uint8_t *to = put_number(put_number(entry, gap), posting->tfs);
    unsigned field, i;

    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        uint32_t before = 0;

        for (i = 0; i < (posting->tfs >> field * 8 & 255); i++, occurrence++) {
            uint32_t form = occurrence->form < 3 ? occurrence->form : 3;

            assert(occurrence->position >= before);
            to = put_number(to, (uint64_t)(occurrence->position - before) << 2 | form);
            if (form == 3)
                to = put_number(to, occurrence->form - 3);
            before = occurrence->position;
        }
    }
    return (uint32_t)(to - entry);
}

/* Finds the terms of some postings, step by step for all of them, so that they wait for memory
 * together: bucket, term, chunk. NULL: a term that is new, or not first in its bucket. */
static void fetch(const struct text_buffer *buffer, const struct buffer_posting *postings,
                  size_t count, struct buffer_term **terms)
{
    size_t i;

    for (i = 0; i < count; i++)
        __builtin_prefetch(&buffer->buckets[bucket_of(postings[i].term)]);
    for (i = 0; i < count; i++) {
        terms[i] = atomic_load_explicit(&buffer->buckets[bucket_of(postings[i].term)],
                                        memory_order_relaxed);
        if (terms[i])
            __builtin_prefetch(terms[i]);
    }
    for (i = 0; i < count; i++) {
        if (terms[i] && terms[i]->term != postings[i].term)
            terms[i] = NULL;
        if (terms[i])
            __builtin_prefetch(terms[i]->last, 1);
    }
    for (i = 0; i < count; i++) {
        if (terms[i])
            __builtin_prefetch(terms[i]->last->bytes + atomic_load_explicit(&terms[i]->last->used,
                                                                            memory_order_relaxed),
                               1);
    }
}

static void add_posting(struct text_buffer *buffer, uint32_t ordinal,
                        const struct buffer_posting *posting, struct buffer_term *term)
{
    struct buffer_chunk *chunk = term->last;
    uint32_t used = atomic_load_explicit(&chunk->used, memory_order_relaxed);
    uint32_t size;

    assert(ordinal >= term->newest);
    size = make_entry(buffer->entry, ordinal - term->newest, posting);
    assert(size <= ENTRY_SIZE_MAX);
    term->newest = ordinal;
    if (chunk->size - used < size) {
        uint32_t room = chunk->size * 2 < CHUNK_SIZE_MAX ? chunk->size * 2 : CHUNK_SIZE_MAX;

        chunk = new_chunk(buffer, room > size ? room : size);
        memcpy(chunk->bytes, buffer->entry, size);
        atomic_store_explicit(&chunk->used, size, memory_order_relaxed);
        atomic_store_explicit(&term->last->next, chunk, memory_order_release);
        term->last = chunk;
        return;
    }
    memcpy(chunk->bytes + used, buffer->entry, size);
    atomic_store_explicit(&chunk->used, used + size, memory_order_release);
}

void text_buffer_add(struct text_buffer *buffer, docid id,
                     const uint8_t lengths[SEGMENT_FIELD_COUNT],
                     const struct buffer_posting *postings, size_t count)
{
    struct buffer_term *terms[FETCH_COUNT];
    uint32_t ordinal = buffer->count;
    size_t from, i;

    object_check(buffer, TEXT_BUFFER_MAGIC);
    assert(!text_buffer_full(buffer) && id != DOCID_END);
    buffer->ids[ordinal] = id;
    memcpy(buffer->lengths[ordinal], lengths, SEGMENT_FIELD_COUNT);
    for (from = 0; from < count; from += FETCH_COUNT) {
        size_t batch = count - from < FETCH_COUNT ? count - from : FETCH_COUNT;

        fetch(buffer, postings + from, batch, terms);
        for (i = 0; i < batch; i++)
            add_posting(buffer, ordinal, &postings[from + i],
                        terms[i] ? terms[i] : get_term(buffer, postings[from + i].term));
    }
    supersede(buffer, id, ordinal);
    buffer->count++;
}

void text_buffer_delete(struct text_buffer *buffer, docid id)
{
    object_check(buffer, TEXT_BUFFER_MAGIC);
    assert(!text_buffer_full(buffer) && id != DOCID_END);
    buffer->ids[buffer->count] = id;
    buffer->deletes[buffer->count] = true;
    supersede(buffer, id, buffer->count);
    buffer->count++;
}

uint32_t text_buffer_publish(struct text_buffer *buffer)
{
    object_check(buffer, TEXT_BUFFER_MAGIC);
    assert(buffer->count >= atomic_load_explicit(&buffer->published, memory_order_relaxed));
    atomic_store_explicit(&buffer->published, buffer->count, memory_order_release);
    return buffer->count;
}

uint32_t text_buffer_mark(const struct text_buffer *buffer)
{
    object_check(buffer, TEXT_BUFFER_MAGIC);
    return atomic_load_explicit(&buffer->published, memory_order_acquire);
}

size_t text_buffer_size(const struct text_buffer *buffer)
{
    object_check(buffer, TEXT_BUFFER_MAGIC);
    return buffer->size;
}

bool text_buffer_sees(const struct text_buffer *buffer, uint32_t mark, uint32_t ordinal, docid *id)
{
    if (ordinal >= mark || buffer->deletes[ordinal] ||
        atomic_load_explicit(&buffer->next[ordinal], memory_order_relaxed) < mark)
        return false;
    *id = buffer->ids[ordinal];
    return true;
}

void buffer_cursor_init(struct buffer_cursor *cursor, const struct text_buffer *buffer,
                        uint32_t mark, uint32_t term)
{
    const struct buffer_term *found = find_term(buffer, term);

    object_check(buffer, TEXT_BUFFER_MAGIC);
    *cursor = (struct buffer_cursor){.buffer = buffer, .mark = mark, .id = DOCID_END};
    if (found)
        cursor->chunk = found->first;
}

static uint32_t get_varint32(struct bytes *in)
{
    uint32_t value = 0;
    bool found = varint_get32(in, &value);

    assert(found);
    return value;
}

static struct occurrence get_occurrence(struct bytes *in)
{
    uint64_t value = 0;
    bool found = varint_get(in, &value);
    struct occurrence occurrence = {(uint32_t)(value >> 2), value & 3};

    assert(found);
    if (occurrence.form == 3)
        occurrence.form += get_varint32(in);
    return occurrence;
}

/* The bytes of the entry at hand and all behind it that were complete just now. */
static bool find_entry(struct buffer_cursor *cursor, struct bytes *in)
{
    while (cursor->chunk) {
        const struct buffer_chunk *next =
            atomic_load_explicit(&cursor->chunk->next, memory_order_acquire);
        uint32_t used = atomic_load_explicit(&cursor->chunk->used, memory_order_acquire);

        if (cursor->at < used) {
            *in = bytes_make(cursor->chunk->bytes + cursor->at, used - cursor->at);
            return true;
        }
        cursor->chunk = next;
        cursor->at = 0;
    }
    return false;
}

bool buffer_cursor_next(struct buffer_cursor *cursor)
{
    struct bytes in;

    while (find_entry(cursor, &in)) {
        uint32_t count, i;
        size_t before = in.size;

        cursor->ordinal += get_varint32(&in);
        if (cursor->ordinal >= cursor->mark)
            break;
        cursor->tfs = get_varint32(&in);
        cursor->packed = in;
        count = tfs_count(cursor->tfs);
        for (i = 0; i < count; i++)
            get_occurrence(&in);
        cursor->at += (uint32_t)(before - in.size);
        if (text_buffer_sees(cursor->buffer, cursor->mark, cursor->ordinal, &cursor->id))
            return true;
    }
    cursor->chunk = NULL;
    cursor->id = DOCID_END;
    return false;
}

void buffer_cursor_occurrences(const struct buffer_cursor *cursor,
                               struct occurrence out[POSTING_OCCURRENCE_MAX], uint32_t *count)
{
    struct bytes in = cursor->packed;
    unsigned field, i;

    *count = 0;
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        uint32_t before = 0;

        for (i = 0; i < (cursor->tfs >> field * 8 & 255); i++) {
            out[*count] = get_occurrence(&in);
            out[*count].position += before;
            before = out[(*count)++].position;
        }
    }
}

/* Freezing. */

struct by_term {
    uint32_t term;
    const struct buffer_term *place;
};

/* The postings of one term in flat arrays, as the segment's writer takes them. */
struct freeze {
    const struct text_buffer *buffer;
    uint32_t mark;
    struct text_segment_writer *writer;
    docid *ids; /* owned, as all arrays are */
    uint32_t *tfs;
    uint32_t *starts; /* of each posting's occurrences */
    struct occurrence_rows rows;
    uint32_t count, occurrence_count;
    struct id_place *order; /* mark of them; also for the documents */
    struct id_place *spare; /* as many */
};

/* By term, a byte at a time, from the lowest. Returns the one of the two arrays that is sorted. */
static struct by_term *sort_terms(struct by_term *terms, struct by_term *spare, size_t count)
{
    uint32_t most = 0;
    unsigned shift;
    size_t i;

    for (i = 0; i < count; i++)
        most |= terms[i].term;
    for (shift = 0; shift < 32 && most >> shift; shift += 8) {
        size_t places[256] = {0}, place = 0;
        struct by_term *sorted = spare;

        for (i = 0; i < count; i++)
            places[terms[i].term >> shift & 255]++;
        for (i = 0; i < 256; i++) {
            size_t of_byte = places[i];

            places[i] = place;
            place += of_byte;
        }
        for (i = 0; i < count; i++)
            sorted[places[terms[i].term >> shift & 255]++] = terms[i];
        spare = terms;
        terms = sorted;
    }
    return terms;
}

/* Those that are found so far; twice the room of `terms`, the half of it for sorting. */
struct term_list {
    struct by_term *terms;
    size_t count, capacity;
};

static void list_bucket(struct term_list *list, const struct text_buffer *buffer, uint32_t bucket)
{
    const struct buffer_term *term =
        atomic_load_explicit(&buffer->buckets[bucket], memory_order_acquire);

    assert(term);
    for (; term; term = term->next) {
        if (list->count == list->capacity) {
            list->capacity = list->capacity ? list->capacity * 2 : 64;
            list->terms = mem_resize(list->terms, list->capacity * 2 * sizeof(list->terms[0]));
        }
        list->terms[list->count++] = (struct by_term){term->term, term};
    }
}

/* All terms, sorted; the caller frees *memory. */
static const struct by_term *sorted_terms(const struct text_buffer *buffer, struct by_term **memory,
                                          size_t *count)
{
    struct term_list list = {0};

    for (uint32_t i = 0; i < BUCKET_COUNT / BUCKETS_A_WORD; i++) {
        uint64_t bits = atomic_load_explicit(&buffer->used[i], memory_order_acquire);

        for (; bits; bits &= bits - 1)
            list_bucket(&list, buffer, i * BUCKETS_A_WORD + (uint32_t)__builtin_ctzll(bits));
    }
    *memory = list.terms;
    *count = list.count;
    return list.count ? sort_terms(list.terms, list.terms + list.capacity, list.count) : NULL;
}

/* Numbers of whole entries, which the buffer wrote itself. */
static uint64_t read_number(const uint8_t **at)
{
    uint64_t value = *(*at)++;
    unsigned shift = 7;

    if (value < 0x80)
        return value;
    value &= 0x7f;
    do {
        value |= (uint64_t)(**at & 0x7f) << shift;
        shift += 7;
    } while (*(*at)++ & 0x80);
    return value;
}

static void count_term(const struct freeze *freeze, const struct buffer_term *term)
{
    const struct buffer_chunk *chunk = term->first, *next;
    uint32_t ordinal = 0, i;
    docid id;

    for (; chunk; chunk = next) {
        const uint8_t *at = chunk->bytes, *end;

        next = atomic_load_explicit(&chunk->next, memory_order_acquire);
        end = at + atomic_load_explicit(&chunk->used, memory_order_acquire);
        while (at < end) {
            uint32_t tfs;

            ordinal += (uint32_t)read_number(&at);
            if (ordinal >= freeze->mark)
                return;
            tfs = (uint32_t)read_number(&at);
            for (i = tfs_count(tfs); i > 0; i--) {
                if ((read_number(&at) & 3) == 3)
                    (void)read_number(&at);
            }
            if (text_buffer_sees(freeze->buffer, freeze->mark, ordinal, &id))
                text_segment_writer_count(freeze->writer, tfs, 1);
        }
    }
}

/* The occurrences of an entry, behind those before. */
static void take_occurrences(struct freeze *freeze, const uint8_t **at, uint32_t count)
{
    struct occurrence_rows *rows = &freeze->rows;
    uint32_t to = freeze->occurrence_count, end = to + count;

    if (end > rows->capacity) {
        rows->capacity = end * 2ULL;
        rows->distances = mem_resize(rows->distances, rows->capacity * sizeof(uint32_t));
        rows->forms = mem_resize(rows->forms, rows->capacity * sizeof(uint32_t));
    }
    for (; to < end; to++) {
        uint64_t value = read_number(at);
        uint32_t form = value & 3;

        rows->distances[to] = (uint32_t)(value >> 2);
        rows->forms[to] = form < 3 ? form : 3 + (uint32_t)read_number(at);
    }
}

/* All postings of a term that the mark sees, in the order of arrival. */
static void take_term(struct freeze *freeze, const struct buffer_term *term)
{
    const struct buffer_chunk *chunk = term->first, *next;
    uint32_t ordinal = 0;

    freeze->count = freeze->occurrence_count = 0;
    for (; chunk; chunk = next) {
        const uint8_t *at = chunk->bytes, *end;

        next = atomic_load_explicit(&chunk->next, memory_order_acquire);
        end = at + atomic_load_explicit(&chunk->used, memory_order_acquire);
        while (at < end) {
            uint32_t tfs, count;

            ordinal += (uint32_t)read_number(&at);
            if (ordinal >= freeze->mark)
                return;
            tfs = (uint32_t)read_number(&at);
            count = tfs_count(tfs);
            take_occurrences(freeze, &at, count);
            if (!text_buffer_sees(freeze->buffer, freeze->mark, ordinal,
                                  &freeze->ids[freeze->count]))
                continue;
            freeze->tfs[freeze->count] = tfs;
            freeze->starts[freeze->count++] = freeze->occurrence_count;
            freeze->occurrence_count += count;
        }
    }
}

static bool ids_ascend(const struct freeze *freeze)
{
    uint32_t i = 1;

    while (i < freeze->count && freeze->ids[i - 1] < freeze->ids[i])
        i++;
    return i >= freeze->count;
}

static void write_posting(const struct freeze *freeze, uint32_t index, uint32_t count)
{
    uint32_t start = freeze->starts[index];
    struct posting_run run = {
        .ids = freeze->ids + index,
        .tfs = freeze->tfs + index,
        .distances = freeze->rows.distances + start,
        .forms = freeze->rows.forms + start,
        .count = count,
    };

    text_segment_writer_run(freeze->writer, &run);
}

static void freeze_term(struct freeze *freeze, const struct by_term *term)
{
    uint32_t i;

    take_term(freeze, term->place);
    if (freeze->count == 0)
        return;
    text_segment_writer_term(freeze->writer, term->term);
    if (ids_ascend(freeze)) { /* as those of a bulk do: then there is nothing to sort */
        write_posting(freeze, 0, freeze->count);
        return;
    }
    for (i = 0; i < freeze->count; i++)
        freeze->order[i] = (struct id_place){freeze->ids[i], i};
    id_sort(freeze->order, freeze->spare, freeze->count);
    for (i = 0; i < freeze->count; i++)
        write_posting(freeze, freeze->order[i].place, 1);
}

/* Most terms have one chunk, somewhere: it is asked for some terms before it is read. */
static void fetch_ahead(const struct by_term *terms, size_t count, size_t at)
{
    if (at + 2 * FETCH_AHEAD < count)
        __builtin_prefetch(terms[at + 2 * FETCH_AHEAD].place);
    if (at + FETCH_AHEAD < count)
        __builtin_prefetch(terms[at + FETCH_AHEAD].place->first);
}

static void freeze_docs(struct freeze *freeze)
{
    const struct text_buffer *buffer = freeze->buffer;
    uint32_t ordinal, count = 0, i;
    docid id;

    for (ordinal = 0; ordinal < freeze->mark; ordinal++) {
        if (text_buffer_sees(buffer, freeze->mark, ordinal, &id))
            freeze->order[count++] = (struct id_place){id, ordinal};
    }
    id_sort(freeze->order, freeze->spare, count);
    for (i = 0; i < count; i++)
        text_segment_writer_doc(freeze->writer, freeze->order[i].id,
                                buffer->lengths[freeze->order[i].place]);
}

int text_buffer_freeze(const struct text_buffer *buffer, uint32_t mark,
                       const struct text_segment_info *info, const struct text_norms *norms,
                       const char *path, struct text_segment **segment, struct err *err)
{
    struct freeze freeze = {
        .buffer = buffer,
        .mark = mark,
        .writer = text_segment_writer_new(info, norms, path),
        .ids = mem_array(mark + 1U, sizeof(docid)),
        .tfs = mem_array(mark + 1U, sizeof(uint32_t)),
        .starts = mem_array(mark + 1U, sizeof(uint32_t)),
        .order = mem_array(mark + 1U, sizeof(struct id_place)),
        .spare = mem_array(mark + 1U, sizeof(struct id_place)),
    };
    struct by_term *memory;
    const struct by_term *terms;
    size_t term_count, i;
    int rc;

    object_check(buffer, TEXT_BUFFER_MAGIC);
    freeze_docs(&freeze);
    terms = sorted_terms(buffer, &memory, &term_count);
    for (i = 0; i < term_count; i++) {
        fetch_ahead(terms, term_count, i);
        count_term(&freeze, terms[i].place);
    }
    for (i = 0; i < term_count; i++) {
        fetch_ahead(terms, term_count, i);
        freeze_term(&freeze, &terms[i]);
    }
    rc = text_segment_writer_finish(freeze.writer, segment, err);
    text_segment_writer_free(freeze.writer);
    free(memory);
    free(freeze.ids);
    free(freeze.tfs);
    free(freeze.starts);
    free(freeze.order);
    free(freeze.spare);
    occurrence_rows_release(&freeze.rows);
    return rc;
}
