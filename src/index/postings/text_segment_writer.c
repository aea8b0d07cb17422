/* SPDX-License-Identifier: Apache-2.0 */
/* text_segment_writer.c - see text_segment_writer.h; the format is in text_segment_format.h. */
#include "index/postings/text_segment_writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/varint.h"
#include "index/postings/docset.h"
#include "index/postings/text_segment_codes.h"
#include "index/postings/text_segment_format.h"
#include "index/postings/text_segment_sink.h"

enum { TEXT_SEGMENT_WRITER_MAGIC = OBJECT_MAGIC('t', 's', 'w', 'r') };

struct text_segment_writer {
    uint32_t magic;
    struct text_segment_info info;
    const struct text_norms *norms; /* borrowed */
    struct docset docs;
    struct codes codes;
    struct sink sink; /* POST first, then the other sections */
    struct spill pos, tails;
    uint64_t post_size;
    struct buf dir;
    struct buf terms; /* u64 words */
    struct buf entries;
    uint64_t sections[SECTION_COUNT][2]; /* offset, size */

    /* The term at work. */
    bool in_term;
    uint32_t term;
    uint64_t first_block; /* of DIR */
    uint64_t count;       /* in blocks already written */
    docid before;

    /* The block at work. */
    uint32_t size;
    docid ids[BLOCK_SIZE];
    uint32_t block_codes[BLOCK_SIZE];
    float bounds[SEGMENT_FIELD_COUNT];
    uint32_t *positions; /* distances; owned */
    uint32_t *forms;     /* owned */
    uint32_t occurrence_count, occurrence_capacity;
    uint32_t newest_tfs, newest_code; /* the last pair that was looked up; 0: none yet */
    struct buf scratch, exceptions, list;
};

struct text_segment_writer *text_segment_writer_new(const struct text_segment_info *info,
                                                    const struct text_norms *norms,
                                                    const char *path)
{
    struct text_segment_writer *writer = mem_zero(sizeof(*writer));

    object_begin(writer, TEXT_SEGMENT_WRITER_MAGIC);
    writer->info = (struct text_segment_info){
        .epoch = info->epoch, .segment = info->segment, .topic_offset = info->topic_offset};
    memcpy(writer->info.place, info->place, sizeof(info->place));
    writer->norms = norms;
    sink_init(&writer->sink, path);
    spill_init(&writer->pos, writer->sink.path);
    spill_init(&writer->tails, writer->sink.path);
    sink_put(&writer->sink, bytes_make((uint8_t[SEGMENT_HEADER_SIZE]){0}, SEGMENT_HEADER_SIZE));
    buf_init(&writer->dir, SEGMENT_SIZE_MAX);
    buf_init(&writer->terms, SEGMENT_SIZE_MAX);
    buf_init(&writer->entries, SEGMENT_SIZE_MAX);
    buf_init(&writer->scratch, SEGMENT_SIZE_MAX);
    buf_init(&writer->exceptions, SEGMENT_SIZE_MAX);
    buf_init(&writer->list, SEGMENT_SIZE_MAX);
    codes_init(&writer->codes);
    return writer;
}

void text_segment_writer_free(struct text_segment_writer *writer)
{
    if (!writer)
        return;
    object_check(writer, TEXT_SEGMENT_WRITER_MAGIC);
    docset_release(&writer->docs);
    codes_release(&writer->codes);
    spill_release(&writer->pos);
    spill_release(&writer->tails);
    sink_release(&writer->sink);
    buf_release(&writer->dir);
    buf_release(&writer->terms);
    buf_release(&writer->entries);
    buf_release(&writer->scratch);
    buf_release(&writer->exceptions);
    buf_release(&writer->list);
    free(writer->positions);
    free(writer->forms);
    object_end(writer, TEXT_SEGMENT_WRITER_MAGIC);
    free(writer);
}

void text_segment_writer_doc(struct text_segment_writer *writer, docid id,
                             const uint8_t lengths[SEGMENT_FIELD_COUNT])
{
    object_check(writer, TEXT_SEGMENT_WRITER_MAGIC);
    docset_add(&writer->docs, id, lengths);
}

void text_segment_writer_count(struct text_segment_writer *writer, uint32_t tfs, uint64_t count)
{
    object_check(writer, TEXT_SEGMENT_WRITER_MAGIC);
    assert(tfs != 0);
    codes_count(&writer->codes, tfs, count);
}

static void put_post(struct text_segment_writer *writer, struct bytes bytes)
{
    sink_put(&writer->sink, bytes);
    writer->post_size += bytes.size;
}

static void put_zeros(struct buf *out, uint64_t written, size_t alignment)
{
    static const uint8_t zeros[64];
    size_t rest = (size_t)((written + out->size) % alignment);

    if (rest)
        buf_put_raw(out, zeros, alignment - rest);
}

/* Gaps - 1 of the postings at work. */
static void gaps_of(const struct text_segment_writer *writer, uint32_t gaps[BLOCK_SIZE])
{
    docid before = writer->before;
    uint32_t i;

    for (i = 0; i < writer->size; i++) {
        gaps[i] = writer->ids[i] - before - 1;
        before = writer->ids[i];
    }
}

static void round_bounds(const struct text_segment_writer *writer,
                         uint8_t bounds[SEGMENT_FIELD_COUNT])
{
    unsigned field;

    for (field = 0; field < SEGMENT_FIELD_COUNT; field++)
        bounds[field] = text_segment_bound_round_up(writer->bounds[field]);
}

/* Positions and forms of a list. */
static void put_list_occurrences(const struct text_segment_writer *writer, struct buf *out)
{
    unsigned position_width = pack_width(writer->positions, writer->occurrence_count);
    unsigned form_width = pack_width(writer->forms, writer->occurrence_count);
    struct bit_writer bits = {.out = out};
    uint8_t head[LIST_HEAD_SIZE];

    put_le16(head, (uint16_t)(position_width | form_width << LIST_WIDTH_BITS));
    buf_put_raw(out, head, sizeof(head));
    bits_put(&bits, writer->positions, writer->occurrence_count, position_width);
    bits_put(&bits, writer->forms, writer->occurrence_count, form_width);
    bits_end(&bits);
}

/* A short list or the rest of a long one, into scratch. apart: where its occurrences go; NULL:
 * they follow. */
static void put_list(struct text_segment_writer *writer, const uint8_t bounds[SEGMENT_FIELD_COUNT],
                     struct spill *apart)
{
    struct bit_writer bits = {.out = &writer->scratch};
    unsigned code_width = pack_width(writer->block_codes, writer->size), fields = 0, field;
    uint32_t gaps[BLOCK_SIZE];
    uint8_t head[LIST_HEAD_SIZE];

    gaps_of(writer, gaps);
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++)
        fields |= (unsigned)(bounds[field] != 0) << field;
    put_le16(head, (uint16_t)(pack_width(gaps, writer->size) | code_width << LIST_WIDTH_BITS |
                              fields << LIST_FIELDS_SHIFT));
    buf_put_raw(&writer->scratch, head, sizeof(head));
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        if (bounds[field])
            buf_put_byte(&writer->scratch, bounds[field]);
    }
    if (apart) {
        varint_put(&writer->scratch, apart->size);
        buf_reset(&writer->list);
        put_list_occurrences(writer, &writer->list);
        spill_put(apart, buf_bytes(&writer->list));
    }
    bits_put(&bits, gaps, writer->size, pack_width(gaps, writer->size));
    bits_put(&bits, writer->block_codes, writer->size, code_width);
    bits_end(&bits);
    if (!apart)
        put_list_occurrences(writer, &writer->scratch);
}

static void put_positions(struct text_segment_writer *writer, uint8_t *pos_offset)
{
    struct stream_form position_form, form_form;
    uint8_t head[POS_HEAD_SIZE];

    buf_reset(&writer->scratch);
    put_zeros(&writer->scratch, writer->pos.size, 8); /* behind the rest of a list */
    spill_put(&writer->pos, buf_bytes(&writer->scratch));
    put_le32(pos_offset, (uint32_t)(writer->pos.size / 8));
    buf_reset(&writer->scratch);
    buf_reset(&writer->exceptions);
    buf_put_raw(&writer->scratch, (uint8_t[POS_HEAD_SIZE]){0}, POS_HEAD_SIZE);
    pack_stream(&writer->scratch, &writer->exceptions, writer->positions, writer->occurrence_count,
                &position_form);
    pack_stream(&writer->scratch, &writer->exceptions, writer->forms, writer->occurrence_count,
                &form_form);
    buf_put(&writer->scratch, buf_bytes(&writer->exceptions));
    put_le32(head, (uint32_t)writer->scratch.size);
    put_le32(head + 4, position_form.width | position_form.exceptions << 8);
    put_le32(head + 8, form_form.width | form_form.exceptions << 8);
    memcpy(writer->scratch.data, head, sizeof(head));
    put_zeros(&writer->scratch, writer->pos.size, 8);
    spill_put(&writer->pos, buf_bytes(&writer->scratch));
}

/* Ids of a full block, in the smallest of the three ways; sets dir's kind and width. */
static void put_ids(struct text_segment_writer *writer, uint8_t *dir)
{
    docid low = writer->before + 1, last = writer->ids[BLOCK_SIZE - 1];
    uint32_t words = (last >> 6) - (low >> 6) + 1, gaps[BLOCK_SIZE], i;
    unsigned width;

    gaps_of(writer, gaps);
    width = pack_width(gaps, BLOCK_SIZE);
    if ((uint64_t)words * 64 < ((uint64_t)width + 1) * BLOCK_SIZE) {
        uint64_t bits[BITS_WORDS_MAX] = {0};

        for (i = 0; i < BLOCK_SIZE; i++)
            bits[(writer->ids[i] >> 6) - (low >> 6)] |= UINT64_C(1) << (writer->ids[i] & 63);
        for (i = 0; i < words; i++)
            bits[i] = htole64(bits[i]);
        buf_put_raw(&writer->scratch, bits, (size_t)words * 8);
        dir[8] = BLOCK_BITS << 6;
    } else if (last - low <= UINT16_MAX) {
        pack_narrow(&writer->scratch, gaps, width);
        dir[8] = (uint8_t)(BLOCK_NARROW << 6 | width);
    } else {
        pack_wide(&writer->scratch, gaps, width);
        dir[8] = (uint8_t)(BLOCK_WIDE << 6 | width);
    }
}

static void start_block(struct text_segment_writer *writer)
{
    writer->size = 0;
    writer->occurrence_count = 0;
    memset(writer->bounds, 0, sizeof(writer->bounds));
}

/* A block of 256, or the rest of a long list. */
static void end_block(struct text_segment_writer *writer)
{
    static const uint8_t no_bounds[SEGMENT_FIELD_COUNT];
    uint8_t dir[DIR_ENTRY_SIZE] = {0}, pos_offset[BLOCK_HEAD_SIZE] = {0};
    struct patched_form form;
    docid last;

    assert(writer->size > 0 && writer->size <= BLOCK_SIZE);
    last = writer->ids[writer->size - 1];
    put_le32(dir, last);
    round_bounds(writer, dir + 11);
    if (writer->size == BLOCK_SIZE)
        put_positions(writer, pos_offset);
    buf_reset(&writer->scratch);
    put_zeros(&writer->scratch, writer->post_size, 8);
    put_le32(dir + 4, (uint32_t)((writer->post_size + writer->scratch.size) / 8));
    if (writer->size == BLOCK_SIZE) {
        buf_put_raw(&writer->scratch, pos_offset, sizeof(pos_offset));
        put_ids(writer, dir);
        pack_patched(&writer->scratch, writer->block_codes, &form);
        dir[9] = (uint8_t)((form.high_size / 2) << 6 | form.width);
        dir[10] = form.exceptions;
    } else {
        dir[8] = BLOCK_REST << 6;
        put_list(writer, no_bounds, &writer->pos);
    }
    put_post(writer, buf_bytes(&writer->scratch));
    buf_put_raw(&writer->dir, dir, sizeof(dir));
    writer->count += writer->size;
    writer->before = last;
    start_block(writer);
}

/* A posting that needs no list: 0 when it does. */
static uint64_t inline_entry(const struct text_segment_writer *writer)
{
    if (writer->size != 1 || writer->occurrence_count != 1 ||
        writer->block_codes[0] > INLINE_CODE_MAX || writer->positions[0] > INLINE_POSITION_MAX ||
        writer->forms[0] > INLINE_FORM_MAX)
        return 0;
    return SEGMENT_INLINE | writer->ids[0] | (uint64_t)writer->block_codes[0] << 32 |
           (uint64_t)writer->positions[0] << 40 | (uint64_t)writer->forms[0] << 55;
}

static uint64_t short_entry(struct text_segment_writer *writer)
{
    uint64_t entry =
        SEGMENT_SHORT | (uint64_t)writer->size << SHORT_COUNT_SHIFT | writer->post_size;
    uint8_t bounds[SEGMENT_FIELD_COUNT];

    round_bounds(writer, bounds);
    buf_reset(&writer->scratch);
    put_list(writer, bounds, writer->size < SHORT_APART_MIN ? NULL : &writer->tails);
    put_post(writer, buf_bytes(&writer->scratch));
    return entry;
}

static void end_term(struct text_segment_writer *writer)
{
    uint8_t bytes[8];
    uint64_t entry;
    uint32_t word = writer->term / 64;

    if (!writer->in_term || (writer->count == 0 && writer->size == 0))
        return;
    writer->info.posting_count += writer->count + writer->size;
    if (writer->count) {
        if (writer->size)
            end_block(writer);
        entry = writer->count << LONG_COUNT_SHIFT | writer->first_block;
    } else {
        entry = inline_entry(writer);
        if (!entry)
            entry = short_entry(writer);
    }
    put_le64(bytes, entry);
    buf_put_raw(&writer->entries, bytes, sizeof(bytes));
    while (writer->terms.size / 8 <= word)
        buf_put_raw(&writer->terms, (uint8_t[SEGMENT_RANK_BITS / 8]){0}, SEGMENT_RANK_BITS / 8);
    writer->terms.data[writer->term / 8] |= (uint8_t)(1U << writer->term % 8);
    writer->info.term_count++;
    writer->info.term_end = writer->term + 1;
}

void text_segment_writer_term(struct text_segment_writer *writer, uint32_t term)
{
    object_check(writer, TEXT_SEGMENT_WRITER_MAGIC);
    assert(term != UINT32_MAX && (!writer->in_term || term > writer->term));
    if (writer->in_term)
        end_term(writer);
    else
        codes_rank(&writer->codes);
    writer->in_term = true;
    writer->term = term;
    writer->first_block = writer->dir.size / DIR_ENTRY_SIZE;
    writer->count = 0;
    writer->before = writer->docs.first - 1;
    start_block(writer);
}

/* Room for so many more occurrences in the block at work. */
static void reserve_occurrences(struct text_segment_writer *writer, uint32_t count)
{
    uint32_t wanted = writer->occurrence_count + count;

    if (wanted <= writer->occurrence_capacity)
        return;
    writer->occurrence_capacity = wanted * 2;
    writer->positions = mem_resize(writer->positions, writer->occurrence_capacity * 4ULL);
    writer->forms = mem_resize(writer->forms, writer->occurrence_capacity * 4ULL);
}

/* A document of the block at work, all but its occurrences. */
static void add_document(struct text_segment_writer *writer, docid id, uint32_t tfs)
{
    const uint8_t *lengths = docset_lengths(&writer->docs, id);
    uint32_t left = tfs;

    assert(lengths);
    assert(writer->size ? id > writer->ids[writer->size - 1]
                        : writer->count == 0 || id > writer->before);
    while (left) {
        unsigned field = (unsigned)__builtin_ctz(left) / 8;
        float weight =
            (float)(tfs >> field * 8 & 255) * writer->norms->of_length[field][lengths[field]];

        if (weight > writer->bounds[field])
            writer->bounds[field] = weight;
        left &= ~(UINT32_C(255) << field * 8);
    }
    if (tfs != writer->newest_tfs) {
        writer->newest_code = codes_get(&writer->codes, tfs);
        writer->newest_tfs = tfs;
    }
    writer->ids[writer->size] = id;
    writer->block_codes[writer->size++] = writer->newest_code;
}

void text_segment_writer_posting(struct text_segment_writer *writer, docid id, uint32_t tfs,
                                 const struct occurrence *occurrences)
{
    uint32_t at = writer->occurrence_count, field, i;

    assert(writer->in_term);
    add_document(writer, id, tfs);
    reserve_occurrences(writer, tfs_count(tfs));
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        uint32_t before = 0;

        for (i = 0; i < (tfs >> field * 8 & 255); i++, occurrences++, at++) {
            assert(occurrences->position >= before);
            writer->positions[at] = occurrences->position - before;
            writer->forms[at] = occurrences->form;
            before = occurrences->position;
        }
    }
    writer->info.occurrence_count += at - writer->occurrence_count;
    writer->occurrence_count = at;
    if (writer->size == BLOCK_SIZE)
        end_block(writer);
}

void text_segment_writer_run(struct text_segment_writer *writer, const struct posting_run *run)
{
    const uint32_t *distances = run->distances, *forms = run->forms;
    uint32_t from = 0, i;

    object_check(writer, TEXT_SEGMENT_WRITER_MAGIC);
    assert(writer->in_term);
    while (from < run->count) {
        uint32_t room = BLOCK_SIZE - writer->size, left = run->count - from;
        uint32_t end = from + (left < room ? left : room), count = 0;

        for (i = from; i < end; i++) {
            add_document(writer, run->ids[i], run->tfs[i]);
            count += tfs_count(run->tfs[i]);
        }
        reserve_occurrences(writer, count);
        memcpy(writer->positions + writer->occurrence_count, distances, count * 4ULL);
        memcpy(writer->forms + writer->occurrence_count, forms, count * 4ULL);
        writer->occurrence_count += count;
        writer->info.occurrence_count += count;
        distances += count;
        forms += count;
        from = end;
        if (writer->size == BLOCK_SIZE)
            end_block(writer);
    }
}

static void put_section(struct text_segment_writer *writer, enum text_segment_section section,
                        struct bytes content)
{
    sink_align(&writer->sink, SEGMENT_ALIGN);
    writer->sections[section][0] = writer->sink.size;
    writer->sections[section][1] = content.size;
    sink_put(&writer->sink, content);
}

static void put_ranks(struct text_segment_writer *writer)
{
    size_t group, word;
    uint32_t rank = 0;

    buf_reset(&writer->scratch);
    for (group = 0; group < writer->terms.size / (SEGMENT_RANK_BITS / 8); group++) {
        uint8_t bytes[4];

        put_le32(bytes, rank);
        buf_put_raw(&writer->scratch, bytes, sizeof(bytes));
        for (word = 0; word < SEGMENT_RANK_BITS / 64; word++)
            rank += (uint32_t)__builtin_popcountll(
                get_le64(writer->terms.data + group * (SEGMENT_RANK_BITS / 8) + word * 8));
    }
    put_section(writer, SECTION_RANKS, buf_bytes(&writer->scratch));
}

static void put_container(struct buf *out, const struct docset_page *page)
{
    uint16_t list[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    uint32_t i;

    if (page->count <= OWNED_LIST_MAX) {
        uint32_t count = kernels()->window_list(&page->bits, list);

        for (i = 0; i < count; i++) {
            buf_put_byte(out, (uint8_t)list[i]);
            buf_put_byte(out, (uint8_t)(list[i] >> 8));
        }
        return;
    }
    for (i = 0; i < WINDOW_WORDS; i++) {
        uint8_t bytes[8];

        put_le64(bytes, page->bits.words[i]);
        buf_put_raw(out, bytes, sizeof(bytes));
    }
}

static void put_owned(struct text_segment_writer *writer)
{
    struct buf containers = BUF_INIT(SEGMENT_SIZE_MAX);
    const struct docset *docs = &writer->docs;
    size_t from = OWNED_HEAD_SIZE + (size_t)docs->page_count * OWNED_ENTRY_SIZE;
    uint8_t bytes[OWNED_ENTRY_SIZE] = {0};
    uint32_t i;

    buf_reset(&writer->scratch);
    put_le32(bytes, docs->page_count);
    buf_put_raw(&writer->scratch, bytes, OWNED_HEAD_SIZE);
    for (i = 0; i < docs->page_count; i++) {
        const struct docset_page *page = &docs->pages[i];

        put_le32(bytes, page->window);
        put_le32(bytes + 4, (uint32_t)(from + containers.size));
        put_le32(bytes + 8, page->before);
        put_le32(bytes + 12, page->count);
        buf_put_raw(&writer->scratch, bytes, sizeof(bytes));
        put_container(&containers, page);
    }
    buf_put(&writer->scratch, buf_bytes(&containers));
    buf_release(&containers);
    put_section(writer, SECTION_OWNED, buf_bytes(&writer->scratch));
    put_section(writer, SECTION_LENGTHS,
                bytes_make(docs->lengths, (size_t)docs->count * SEGMENT_FIELD_COUNT));
}

static void fill_header(struct text_segment_writer *writer, uint8_t header[SEGMENT_HEADER_SIZE])
{
    const struct text_segment_info *info = &writer->info;
    unsigned i;

    memset(header, 0, SEGMENT_HEADER_SIZE);
    memcpy(header, segment_magic, sizeof(segment_magic));
    put_le32(header + HEADER_FORMAT, SEGMENT_FORMAT);
    put_le32(header + HEADER_SECTION_COUNT, SECTION_COUNT);
    put_le64(header + HEADER_EPOCH, info->epoch);
    put_le64(header + HEADER_SEGMENT, info->segment);
    put_le64(header + HEADER_TOPIC_OFFSET, info->topic_offset);
    for (i = 0; i < ARRAY_COUNT(info->place); i++)
        put_le32(header + HEADER_PLACE + (size_t)i * 4, info->place[i]);
    put_le32(header + HEADER_FIRST_ID, writer->docs.first);
    put_le32(header + HEADER_LAST_ID, writer->docs.last);
    put_le32(header + HEADER_DOCS, writer->docs.count);
    put_le32(header + HEADER_TERM_END, info->term_end);
    put_le64(header + HEADER_POSTINGS, info->posting_count);
    put_le64(header + HEADER_OCCURRENCES, info->occurrence_count);
    put_le32(header + HEADER_CODES, writer->codes.ranked_count);
    put_le32(header + HEADER_TERMS, info->term_count);
    for (i = 0; i < SECTION_COUNT; i++) {
        put_le64(header + HEADER_SECTIONS + (size_t)i * 16, writer->sections[i][0]);
        put_le64(header + HEADER_SECTIONS + (size_t)i * 16 + 8, writer->sections[i][1]);
    }
}

int text_segment_writer_finish(struct text_segment_writer *writer, struct text_segment **segment,
                               struct err *err)
{
    uint8_t header[SEGMENT_HEADER_SIZE], *image;
    size_t size;
    int rc;

    object_check(writer, TEXT_SEGMENT_WRITER_MAGIC);
    *segment = NULL;
    if (writer->in_term)
        end_term(writer);
    else
        codes_rank(&writer->codes);
    writer->sections[SECTION_POST][0] = SEGMENT_HEADER_SIZE;
    writer->sections[SECTION_POST][1] = writer->post_size;
    put_section(writer, SECTION_POS, BYTES_EMPTY);
    writer->sections[SECTION_POS][1] = writer->pos.size;
    spill_move(&writer->pos, &writer->sink);
    put_section(writer, SECTION_TAILS, BYTES_EMPTY);
    writer->sections[SECTION_TAILS][1] = writer->tails.size;
    spill_move(&writer->tails, &writer->sink);
    put_section(writer, SECTION_DIR, buf_bytes(&writer->dir));
    put_section(writer, SECTION_CODES, codes_table(&writer->codes, &writer->scratch));
    put_section(writer, SECTION_TERMS, buf_bytes(&writer->terms));
    put_ranks(writer);
    put_section(writer, SECTION_ENTRIES, buf_bytes(&writer->entries));
    put_owned(writer);
    if (writer->post_size > SEGMENT_SIZE_MAX || writer->pos.size > SEGMENT_SIZE_MAX ||
        writer->tails.size > SEGMENT_SIZE_MAX || buf_failed(&writer->dir))
        return err_set(err, ERR_LIMIT,
                       "a segment passes TEXT_SEGMENT_SIZE_MB_MAX, %d MB: make "
                       "its id range smaller",
                       TEXT_SEGMENT_SIZE_MB_MAX);
    fill_header(writer, header);
    rc = sink_finish(&writer->sink, header, err);
    if (rc)
        return rc;
    if (writer->sink.path) {
        rc = text_segment_open(writer->sink.path, segment, err);
    } else {
        image = buf_take(&writer->sink.waiting, &size);
        rc = text_segment_from_image("image", image, size, true, segment, err);
    }
    if (!rc)
        (*segment)->code_counts = codes_counts(&writer->codes);
    return rc;
}
