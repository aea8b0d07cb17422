/* SPDX-License-Identifier: Apache-2.0 */
/* text_segment.c - see text_segment.h. */
#include "index/postings/text_segment.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/postings/kernels.h"
#include "index/postings/text_segment_format.h"

static int damaged(const struct text_segment *segment, const char *what, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "segment %s is damaged: %s; restore it or rebuild the shard",
                   segment->name, what);
}

static void read_info(const uint8_t *header, struct text_segment_info *info)
{
    unsigned i;

    info->epoch = get_le64(header + HEADER_EPOCH);
    info->segment = get_le64(header + HEADER_SEGMENT);
    info->topic_offset = get_le64(header + HEADER_TOPIC_OFFSET);
    for (i = 0; i < ARRAY_COUNT(info->place); i++)
        info->place[i] = get_le32(header + HEADER_PLACE + i * 4);
    info->first_id = get_le32(header + HEADER_FIRST_ID);
    info->last_id = get_le32(header + HEADER_LAST_ID);
    info->doc_count = get_le32(header + HEADER_DOCS);
    info->term_end = get_le32(header + HEADER_TERM_END);
    info->posting_count = get_le64(header + HEADER_POSTINGS);
    info->occurrence_count = get_le64(header + HEADER_OCCURRENCES);
    info->code_count = get_le32(header + HEADER_CODES);
    info->term_count = get_le32(header + HEADER_TERMS);
}

/* The section table: every section inside the file, of the size that the counts demand. */
static bool read_sections(struct text_segment *segment)
{
    const struct text_segment_info *info = &segment->info;
    uint64_t term_words = ((uint64_t)info->term_end + SEGMENT_RANK_BITS - 1) / SEGMENT_RANK_BITS;
    uint64_t end = segment->size - SEGMENT_FOOTER_SIZE;
    struct bytes *sections = segment->sections;
    unsigned i;

    for (i = 0; i < SECTION_COUNT; i++) {
        const uint8_t *at = segment->data + HEADER_SECTIONS + (size_t)i * 16;
        uint64_t offset = get_le64(at), size = get_le64(at + 8);

        if (offset < SEGMENT_HEADER_SIZE || offset > end || size > end - offset ||
            offset % SEGMENT_ALIGN)
            return false;
        sections[i] = bytes_make(segment->data + offset, (size_t)size);
    }
    end = (uint64_t)(sections[SECTION_SUMS].data - segment->data);
    for (i = 0; i < SECTION_COUNT; i++) { /* what lies behind the sums has none */
        if (i != SECTION_SUMS &&
            (uint64_t)(sections[i].data - segment->data) + sections[i].size > end)
            return false;
    }
    segment->chunk_count = (size_t)((end + SEGMENT_CHUNK_SIZE - 1) / SEGMENT_CHUNK_SIZE);
    return sections[SECTION_CODES].size == (uint64_t)info->code_count * 4 &&
           sections[SECTION_TERMS].size == term_words * (SEGMENT_RANK_BITS / 8) &&
           sections[SECTION_RANKS].size == term_words * 4 &&
           sections[SECTION_ENTRIES].size == (uint64_t)info->term_count * 8 &&
           sections[SECTION_LENGTHS].size == (uint64_t)info->doc_count * SEGMENT_FIELD_COUNT &&
           sections[SECTION_DIR].size % DIR_ENTRY_SIZE == 0 &&
           sections[SECTION_OWNED].size >= OWNED_HEAD_SIZE && info->first_id <= info->last_id &&
           info->last_id < DOCID_END && sections[SECTION_SUMS].size == segment->chunk_count * 8 &&
           end + sections[SECTION_SUMS].size + SEGMENT_FOOTER_SIZE == segment->size;
}

static int read_header(struct text_segment *segment, struct err *err)
{
    const uint8_t *data = segment->data, *footer;

    if (segment->size < SEGMENT_HEADER_SIZE + SEGMENT_FOOTER_SIZE)
        return damaged(segment, "shorter than its header", err);
    footer = data + segment->size - SEGMENT_FOOTER_SIZE;
    if (memcmp(data, segment_magic, sizeof(segment_magic)) != 0)
        return damaged(segment, "it does not begin as a segment", err);
    if (get_le32(data + HEADER_FORMAT) != SEGMENT_FORMAT)
        return err_set(err, ERR_UNSUPPORTED, "segment %s has format %u; this program reads %d",
                       segment->name, get_le32(data + HEADER_FORMAT), SEGMENT_FORMAT);
    if (get_le64(data + HEADER_HASH) != hash64(bytes_make(data, HEADER_HASH)))
        return damaged(segment, "the header does not match its sum", err);
    if (memcmp(footer + 16, segment_magic, sizeof(segment_magic)) != 0 ||
        get_le64(footer + 8) != segment->size)
        return damaged(segment, "it is cut short or too long", err);
    read_info(data, &segment->info);
    if (!read_sections(segment))
        return damaged(segment, "the section table is wrong", err);
    if (get_le64(footer) != hash64(segment->sections[SECTION_SUMS]))
        return damaged(segment, "the table of sums does not match its own", err);
    return 0;
}

/* Takes over data; frees it when the segment is refused. */
static int segment_over(const char *name, const uint8_t *data, size_t size, bool mapped,
                        bool trusted, struct text_segment **out, struct err *err)
{
    struct text_segment *segment = mem_zero(sizeof(*segment));
    uint32_t code;
    size_t words;
    int rc;

    object_begin(segment, TEXT_SEGMENT_MAGIC);
    segment->name = mem_strdup(name);
    segment->data = data;
    segment->size = size;
    segment->mapped = mapped;
    *out = NULL;
    rc = read_header(segment, err);
    if (!rc) {
        words = segment->chunk_count / 64 + 1;
        segment->checked = mem_array(words, sizeof(segment->checked[0]));
        if (trusted)
            memset((void *)segment->checked, 0xff, words * sizeof(segment->checked[0]));
        rc = text_segment_check(segment, SECTION_CODES, 0, segment->sections[SECTION_CODES].size,
                                err);
    }
    if (rc) {
        text_segment_close(segment);
        return rc;
    }
    for (code = 0; code < SEGMENT_COUNTED_CODES; code++)
        segment->occurrence_counts[code] = (uint16_t)tfs_count(text_segment_tfs(segment, code));
    *out = segment;
    return 0;
}

/* Advice on whole pages inside of a section; what it says is no promise, so failure is nothing. */
static void advise(const struct text_segment *segment, enum text_segment_section section,
                   int advice)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)segment->sections[section].data;
    uintptr_t end = (from + segment->sections[section].size) & ~(page - 1);

    from = (from + page - 1) & ~(page - 1);
    if (segment->mapped && from < end)
        (void)madvise((void *)from, end - from, advice);
}

void text_segment_forget_docs(const struct text_segment *segment)
{
    object_check(segment, TEXT_SEGMENT_MAGIC);
    advise(segment, SECTION_OWNED, MADV_DONTNEED);
    advise(segment, SECTION_LENGTHS, MADV_DONTNEED);
}

int text_segment_open(const char *path, struct text_segment **segment, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *data;
    int rc;

    *segment = NULL;
    if (fd < 0)
        return err_errno(err, "open %s", path);
    if (fstat(fd, &status)) {
        rc = err_errno(err, "stat %s", path);
        close(fd);
        return rc;
    }
    if (status.st_size < SEGMENT_HEADER_SIZE + SEGMENT_FOOTER_SIZE) {
        close(fd);
        return err_set(err, ERR_CORRUPT, "segment %s is damaged: %jd bytes are not a segment", path,
                       (intmax_t)status.st_size);
    }
    data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    rc = data == MAP_FAILED ? err_errno(err, "map %s", path) : 0;
    close(fd);
    if (rc)
        return rc;
    rc = segment_over(path, data, (size_t)status.st_size, true, false, segment, err);
    if (!rc) { /* one document's positions are read alone */
        advise(*segment, SECTION_POS, MADV_RANDOM);
        advise(*segment, SECTION_TAILS, MADV_RANDOM);
    }
    return rc;
}

int text_segment_from_image(const char *name, uint8_t *image, size_t size, bool trusted,
                            struct text_segment **segment, struct err *err)
{
    return segment_over(name, image, size, false, trusted, segment, err);
}

void text_segment_close(struct text_segment *segment)
{
    if (!segment)
        return;
    object_check(segment, TEXT_SEGMENT_MAGIC);
    if (segment->mapped)
        munmap((void *)segment->data, segment->size);
    else
        free((void *)segment->data);
    free((void *)segment->checked);
    free(segment->code_counts);
    free(segment->name);
    object_end(segment, TEXT_SEGMENT_MAGIC);
    free(segment);
}

int text_segment_save(const struct text_segment *segment, const char *path, struct err *err)
{
    object_check(segment, TEXT_SEGMENT_MAGIC);
    return file_write(path, bytes_make(segment->data, segment->size), err);
}

/* ---- sums ---- */

static bool is_checked(const struct text_segment *segment, size_t chunk)
{
    return atomic_load_explicit(&segment->checked[chunk / 64], memory_order_relaxed) >> chunk % 64 &
           1;
}

static size_t chunk_size(const struct text_segment *segment, size_t chunk)
{
    size_t left =
        (size_t)(segment->sections[SECTION_SUMS].data - segment->data) - chunk * SEGMENT_CHUNK_SIZE;

    return left < SEGMENT_CHUNK_SIZE ? left : SEGMENT_CHUNK_SIZE;
}

/* Whether these are the bytes of the chunk; several threads may find so at the same time. */
static int check_bytes(const struct text_segment *segment, size_t chunk, const uint8_t *data,
                       struct err *err)
{
    size_t from = chunk * SEGMENT_CHUNK_SIZE, size = chunk_size(segment, chunk);

    if (hash64(bytes_make(data, size)) !=
        get_le64(segment->sections[SECTION_SUMS].data + chunk * 8))
        return err_set(err, ERR_CORRUPT,
                       "segment %s is damaged between bytes %zu and %zu; restore it or rebuild "
                       "the shard",
                       segment->name, from, from + size);
    atomic_fetch_or_explicit(&segment->checked[chunk / 64], UINT64_C(1) << chunk % 64,
                             memory_order_relaxed);
    return 0;
}

static int check_chunk(const struct text_segment *segment, size_t chunk, struct err *err)
{
    const uint8_t *data = segment->data + chunk * SEGMENT_CHUNK_SIZE;

    if (is_checked(segment, chunk))
        return 0;
    /* All of it is going to be read: one request to the disk, not one a page. */
    if (segment->mapped)
        (void)madvise((void *)data, chunk_size(segment, chunk), MADV_WILLNEED);
    return check_bytes(segment, chunk, data, err);
}

/* Into the buffer, by the file. */
static int read_chunks(const struct text_segment *segment, int fd, size_t chunk, size_t count,
                       uint8_t *to, struct err *err)
{
    uint64_t offset = (uint64_t)chunk * SEGMENT_CHUNK_SIZE;
    size_t size = (count - 1) * SEGMENT_CHUNK_SIZE + chunk_size(segment, chunk + count - 1);

    while (size > 0) {
        ssize_t got = pread(fd, to, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, "read %s", segment->name);
        if (got == 0)
            return damaged(segment, "it is cut short", err);
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

/* Up to CHECK_RUN chunks at once, unless all of them are known to be right. */
static int check_run(const struct text_segment *segment, int fd, size_t chunk, size_t count,
                     uint8_t *bytes, struct err *err)
{
    size_t known = 0, i;
    int rc;

    while (known < count && is_checked(segment, chunk + known))
        known++;
    if (known == count)
        return 0;
    rc = read_chunks(segment, fd, chunk, count, bytes, err);
    for (i = known; i < count && !rc; i++)
        rc = check_bytes(segment, chunk + i, bytes + i * SEGMENT_CHUNK_SIZE, err);
    return rc;
}

int text_segment_check_on(const struct text_segment *segment, size_t *chunk, size_t count,
                          struct err *err)
{
    object_check(segment, TEXT_SEGMENT_MAGIC);
    enum { CHECK_RUN = 16 };
    size_t end = segment->chunk_count - *chunk < count ? segment->chunk_count : *chunk + count;
    int fd = open(segment->name, O_RDONLY | O_CLOEXEC), rc = 0;
    uint8_t *bytes;

    assert(segment->mapped);
    if (fd < 0) {
        *chunk = segment->chunk_count;
        return err_errno(err, "open %s", segment->name);
    }
    /* Small pages, please: large ones would be mapped whole by whoever reads a part of one. */
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    bytes = mem_alloc((size_t)CHECK_RUN * SEGMENT_CHUNK_SIZE);
    while (*chunk < end && !rc) {
        size_t run = end - *chunk < CHECK_RUN ? end - *chunk : CHECK_RUN;

        rc = check_run(segment, fd, *chunk, run, bytes, err);
        *chunk = rc ? segment->chunk_count : *chunk + run;
    }
    free(bytes);
    close(fd);
    return rc;
}

int text_segment_check_all(const struct text_segment *segment, struct err *err)
{
    size_t chunk;
    int rc = 0;

    object_check(segment, TEXT_SEGMENT_MAGIC);
    for (chunk = 0; chunk < segment->chunk_count && !rc; chunk++)
        rc = check_chunk(segment, chunk, err);
    return rc;
}

int text_segment_check(const struct text_segment *segment, enum text_segment_section section,
                       uint64_t offset, uint64_t size, struct err *err)
{
    struct bytes whole = segment->sections[section];
    size_t from, chunk;
    int rc = 0;

    object_check(segment, TEXT_SEGMENT_MAGIC);
    if (offset > whole.size || size > whole.size - offset)
        return damaged(segment, "a place lies outside of its section", err);
    from = (size_t)(whole.data - segment->data) + (size_t)offset;
    for (chunk = from / SEGMENT_CHUNK_SIZE;
         size && chunk <= (from + size - 1) / SEGMENT_CHUNK_SIZE && !rc; chunk++)
        rc = check_chunk(segment, chunk, err);
    return rc;
}

static uint64_t term_word(const struct text_segment *segment, uint32_t word)
{
    return get_le64(segment->sections[SECTION_TERMS].data + (size_t)word * 8);
}

int text_segment_find(const struct text_segment *segment, uint32_t term, uint64_t *entry,
                      struct err *err)
{
    object_check(segment, TEXT_SEGMENT_MAGIC);
    enum { GROUP_WORDS = SEGMENT_RANK_BITS / 64 };
    uint32_t group = term / SEGMENT_RANK_BITS, word;
    uint64_t rank, last;
    int rc;

    *entry = 0;
    if (term >= segment->info.term_end)
        return 0;
    rc = text_segment_check(segment, SECTION_TERMS, (uint64_t)group * GROUP_WORDS * 8,
                            GROUP_WORDS * 8, err);
    if (rc)
        return rc;
    last = term_word(segment, term / 64);
    if (!(last >> term % 64 & 1))
        return 0;
    rc = text_segment_check(segment, SECTION_RANKS, (uint64_t)group * 4, 4, err);
    if (rc)
        return rc;
    rank = get_le32(segment->sections[SECTION_RANKS].data + (size_t)group * 4);
    for (word = group * GROUP_WORDS; word < term / 64; word++)
        rank += (uint64_t)__builtin_popcountll(term_word(segment, word));
    rank += (uint64_t)__builtin_popcountll(last & ((UINT64_C(1) << term % 64) - 1));
    rc = text_segment_check(segment, SECTION_ENTRIES, rank * 8, 8, err);
    if (rc)
        return rc;
    *entry = get_le64(segment->sections[SECTION_ENTRIES].data + rank * 8);
    return *entry ? 0 : damaged(segment, "a term has no postings", err);
}

int text_segment_next_term(const struct text_segment *segment, uint32_t from, uint32_t *term,
                           struct err *err)
{
    uint32_t word = from / 64;
    uint32_t word_count = (uint32_t)(segment->sections[SECTION_TERMS].size / 8);
    uint64_t mask = UINT64_MAX << from % 64;
    int rc;

    object_check(segment, TEXT_SEGMENT_MAGIC);
    *term = UINT32_MAX;
    for (; word < word_count; word++, mask = UINT64_MAX) {
        uint64_t bits;

        rc = text_segment_check(segment, SECTION_TERMS, (uint64_t)word * 8, 8, err);
        if (rc)
            return rc;
        bits = term_word(segment, word) & mask;
        if (bits) {
            *term = word * 64 + (uint32_t)__builtin_ctzll(bits);
            break;
        }
    }
    return 0;
}

/* One container, from its entry in OWNED. */
static int read_container(const struct text_segment *segment, uint32_t index, uint32_t *before,
                          uint32_t *count, struct window_bits *bits, struct err *err)
{
    struct bytes owned = segment->sections[SECTION_OWNED];
    const uint8_t *entry = owned.data + OWNED_HEAD_SIZE + (size_t)index * OWNED_ENTRY_SIZE;
    uint32_t offset = get_le32(entry + 4);
    size_t size;
    uint32_t i;
    int rc;

    *before = get_le32(entry + 8);
    *count = get_le32(entry + 12);
    size = *count <= OWNED_LIST_MAX ? *count * sizeof(uint16_t) : sizeof(bits->words);
    rc = text_segment_check(segment, SECTION_OWNED, offset, size, err);
    if (rc)
        return rc;
    memset(bits, 0, sizeof(*bits));
    if (*count > OWNED_LIST_MAX) {
        for (i = 0; i < WINDOW_WORDS; i++)
            bits->words[i] = get_le64(owned.data + offset + (size_t)i * 8);
        return 0;
    }
    for (i = 0; i < *count; i++) {
        const uint8_t *at = owned.data + offset + (size_t)i * 2;

        window_set(bits, (at[0] | (uint32_t)at[1] << 8) % WINDOW_SIZE);
    }
    return 0;
}

/* The number of windows in OWNED, their entries checked. */
static int owned_windows(const struct text_segment *segment, uint32_t *count, struct err *err)
{
    int rc = text_segment_check(segment, SECTION_OWNED, 0, OWNED_HEAD_SIZE, err);

    if (rc)
        return rc;
    *count = get_le32(segment->sections[SECTION_OWNED].data);
    return text_segment_check(segment, SECTION_OWNED, OWNED_HEAD_SIZE,
                              (uint64_t)*count * OWNED_ENTRY_SIZE, err);
}

int text_segment_owned(const struct text_segment *segment, uint32_t window,
                       struct window_bits *bits, struct err *err)
{
    const uint8_t *entries = segment->sections[SECTION_OWNED].data + OWNED_HEAD_SIZE;
    uint32_t low = 0, high, before, count;
    int rc = owned_windows(segment, &high, err);

    object_check(segment, TEXT_SEGMENT_MAGIC);
    if (rc)
        return rc;
    memset(bits, 0, sizeof(*bits));
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t there = get_le32(entries + (size_t)middle * OWNED_ENTRY_SIZE);

        if (there == window)
            return read_container(segment, middle, &before, &count, bits, err);
        if (there < window)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* Whether the entry goes on where the one before it ends. */
static bool goes_on(const uint8_t *entries, uint32_t index)
{
    const uint8_t *entry = entries + (size_t)index * OWNED_ENTRY_SIZE;
    const uint8_t *last = entry - OWNED_ENTRY_SIZE;

    if (index == 0)
        return get_le32(entry + 8) == 0;
    return get_le32(entry) > get_le32(last) &&
           get_le32(entry + 8) == get_le32(last + 8) + get_le32(last + 12);
}

int text_segment_owned_next(const struct text_segment *segment, uint32_t index, uint32_t *window,
                            struct window_bits *bits, const uint8_t **lengths, bool *found,
                            struct err *err)
{
    const uint8_t *entries = segment->sections[SECTION_OWNED].data + OWNED_HEAD_SIZE;
    uint32_t windows, before, count;
    int rc = owned_windows(segment, &windows, err);

    object_check(segment, TEXT_SEGMENT_MAGIC);
    *found = !rc && index < windows;
    if (!*found)
        return rc;
    *window = get_le32(entries + (size_t)index * OWNED_ENTRY_SIZE);
    rc = read_container(segment, index, &before, &count, bits, err);
    if (rc)
        return rc;
    *lengths = segment->sections[SECTION_LENGTHS].data + (size_t)before * SEGMENT_FIELD_COUNT;
    if (*window > window_of(DOCID_END) || count > WINDOW_SIZE || !goes_on(entries, index) ||
        kernels()->window_count(bits) != count ||
        (*window == window_of(DOCID_END) && window_test(bits, DOCID_END % WINDOW_SIZE)))
        return damaged(segment, "a window of owned ids is wrong", err);
    return text_segment_check(segment, SECTION_LENGTHS, (uint64_t)before * SEGMENT_FIELD_COUNT,
                              (uint64_t)count * SEGMENT_FIELD_COUNT, err);
}

uint8_t text_segment_bound_round_up(float value)
{
    unsigned low = 0, high = UINT8_MAX;

    while (low < high) { /* the least bound that is not below */
        unsigned middle = (low + high) / 2;

        if (text_segment_bound_value((uint8_t)middle) >= value)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint8_t)low;
}
