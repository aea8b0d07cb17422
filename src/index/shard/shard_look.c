/* SPDX-License-Identifier: Apache-2.0 */
/* shard_look.c - see shard.h, "looking inside": sizes, and the hash of all content. */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/shard/shard_parts.h"

/* ---- the check ---- */

int shard_check(struct shard *shard, struct err *err)
{
    struct stored_file *files = mem_array(STORED_FILE_COUNT_MAX, sizeof(files[0]));
    struct text_segment *segments[OWNER_COUNT];
    uint32_t segment_count = 0, file_count, i;
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    pthread_mutex_lock(&shard->work); /* segments stay */
    shard_lock(shard);
    for (i = 0; i < shard->part_count; i++) {
        if (shard->parts[i]->segment)
            segments[segment_count++] = shard->parts[i]->segment;
    }
    file_count = stored_files(shard->stored, files, STORED_FILE_COUNT_MAX);
    shard_unlock(shard);
    for (i = 0; i < segment_count && !rc; i++)
        rc = text_segment_check_all(segments[i], err);
    epoch_enter(shard->work_slot);
    for (i = 0; i < file_count && !rc; i++)
        rc = stored_walk(shard->stored, &files[i], NULL, NULL, err);
    epoch_exit(shard->work_slot);
    pthread_mutex_unlock(&shard->work);
    free(files);
    return rc;
}

/* ---- the hash: a sum over documents, so that order is nothing ---- */

struct hasher {
    struct shard *shard;
    const struct part *part;
    const struct text_segment *segment; /* of the part, or made of its buffer */
    uint64_t *forms;                    /* hashes of the term's forms; owned */
    uint32_t form_capacity;
    uint64_t sum;
};

static uint64_t mix(uint64_t hash, uint64_t number)
{
    return hash64_seeded(bytes_make(&number, sizeof(number)), hash);
}

static void take_forms(struct hasher *hasher, uint32_t term)
{
    const struct lexicon *lexicon = hasher->shard->lexicon;
    uint32_t count = lexicon_term_form_count(lexicon, term);
    uint32_t i;

    if (count > hasher->form_capacity) {
        hasher->form_capacity = count * 2;
        hasher->forms = mem_resize(hasher->forms, hasher->form_capacity * sizeof(uint64_t));
    }
    for (i = 0; i < count; i++)
        hasher->forms[i] = hash64(lexicon_form(lexicon, (struct lexicon_entry){term, (uint16_t)i}));
}

static int hash_posting(struct hasher *hasher, struct postings *postings, uint32_t index, docid id,
                        uint64_t term, struct err *err)
{
    struct occurrence occurrences[POSTING_OCCURRENCE_MAX];
    const struct occurrence *at = occurrences;
    uint32_t code, tfs, count;
    unsigned field, i;
    int rc = postings_code_at(postings, index, &code, err);

    if (!rc)
        rc = postings_occurrences(postings, index, occurrences, &count, err);
    if (rc)
        return rc;
    tfs = text_segment_tfs(hasher->segment, code);
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        for (i = 0; i < (tfs >> field * 8 & 255); i++, at++)
            hasher->sum += mix(mix(mix(term, id), (uint64_t)field << 32 | at->position),
                               hasher->forms[at->form]);
    }
    return 0;
}

static int hash_term(struct hasher *hasher, uint32_t term, struct err *err)
{
    const struct shard *shard = hasher->shard;
    uint64_t name = hash64(lexicon_term(shard->lexicon, term));
    struct postings postings;
    const docid *ids;
    uint32_t i;
    int rc = postings_open(&postings, hasher->segment, term, err);

    take_forms(hasher, term);
    while (!rc && !postings_ended(&postings)) {
        rc = postings_ids(&postings, &ids, err);
        for (i = 0; !rc && i < postings.size; i++) {
            if (shard->slots[owners_get(shard->owners, ids[i])] == hasher->part)
                rc = hash_posting(hasher, &postings, i, ids[i], name, err);
        }
        if (!rc)
            rc = postings_next_block(&postings, err);
    }
    return rc;
}

static int hash_part(struct hasher *hasher, const struct part *part, struct err *err)
{
    const struct text_segment_info info = {.segment = 1};
    struct text_segment *made = NULL;
    uint32_t term = 0;
    int rc = 0;

    if (part->buffer)
        rc = text_buffer_freeze(part->buffer, part->mark, &info, &hasher->shard->bound_norms, NULL,
                                &made, err);
    hasher->part = part;
    hasher->segment = made ? made : part->segment;
    while (!rc) {
        rc = text_segment_next_term(hasher->segment, term, &term, err);
        if (rc || term == UINT32_MAX)
            break;
        rc = hash_term(hasher, term++, err);
    }
    text_segment_close(made);
    return rc;
}

/* Existence, lengths and stored fields of a document. */
static int hash_document(struct hasher *hasher, docid id, struct buf *buf,
                         struct stored_value *values, struct err *err)
{
    const struct shard *shard = hasher->shard;
    uint32_t count, i;
    int rc = shard_stored(NULL, shard, id, buf, values, STORED_VALUE_COUNT_MAX, &count, err);

    hasher->sum += mix(mix(1, id), doc_lengths_get(shard->lengths, DOC_LENGTH_ALL, id));
    for (i = 0; !rc && i < count; i++)
        hasher->sum +=
            mix(mix(hash64(bytes_of(schema_field(shard->schema, values[i].field)->name)), id),
                hash64(values[i].text));
    return rc;
}

static uint64_t hash_expiry(const struct shard *shard, docid id)
{
    const uint16_t field = STATE_EXPIRES;
    int64_t value;

    columns_get(shard->state, id, &field, 1, &value);
    return value == COLUMN_NULL ? 0 : mix(mix(2, id), (uint64_t)value);
}

static int hash_documents(struct hasher *hasher, struct err *err)
{
    const struct live *alive = live_commit(hasher->shard->alive);
    struct stored_value *values = mem_array(STORED_VALUE_COUNT_MAX, sizeof(values[0]));
    struct buf buf = BUF_INIT(STORED_RECORD_SIZE_MAX);
    uint32_t window, i;
    int rc = 0;

    for (window = 0; !rc && window < hasher->shard->window_count; window++) {
        const struct live_page *page = live_page(alive, window);

        for (i = 0; page && !rc && i < WINDOW_SIZE; i++) {
            if (!window_test(&page->bits, i))
                continue;
            rc = hash_document(hasher, window_first(window) + i, &buf, values, err);
            hasher->sum += hash_expiry(hasher->shard, window_first(window) + i);
        }
    }
    buf_release(&buf);
    free(values);
    return rc;
}

int shard_hash(struct shard *shard, uint64_t *hash, struct err *err)
{
    struct hasher hasher = {.shard = shard};
    uint32_t i;
    int rc = 0;

    object_check(shard, SHARD_MAGIC);
    pthread_mutex_lock(&shard->work); /* parts stay as they are */
    shard_lock(shard);
    if (pending_count(shard->pending))
        rc = err_set(err, ERR_PRECONDITION, "a hash is of what is published: publish first");
    hasher.sum = columns_hash(shard->columns);
    for (i = 0; i < shard->part_count && !rc; i++)
        rc = hash_part(&hasher, shard->parts[i], err);
    rc = rc ? rc : hash_documents(&hasher, err);
    shard_unlock(shard);
    pthread_mutex_unlock(&shard->work);
    free(hasher.forms);
    *hash = hasher.sum;
    return rc;
}

uint64_t shard_hash_document(const struct shard *shard, const struct snapshot *snapshot, docid id,
                             const struct stored_value *stored, uint32_t count)
{
    uint64_t sum = columns_hash_document(snapshot->columns, id) + hash_expiry(shard, id);
    uint32_t i;

    for (i = 0; i < count; i++)
        sum += mix(mix(hash64(bytes_of(schema_field(snapshot->schema, stored[i].field)->name)), id),
                   hash64(stored[i].text));
    return sum;
}

/* ---- sizes ---- */

static void add_part(const struct part *part, struct shard_sizes *sizes)
{
    const struct bytes *sections;

    if (part->buffer) {
        sizes->buffer_count++;
        sizes->buffers += text_buffer_size(part->buffer);
        return;
    }
    sections = part->segment->sections;
    sizes->segment_count++;
    sizes->disk += part->has_file ? part->segment->size : 0;
    sizes->terms += sections[SECTION_TERMS].size + sections[SECTION_RANKS].size +
                    sections[SECTION_ENTRIES].size + sections[SECTION_CODES].size;
    sizes->postings += sections[SECTION_POST].size + sections[SECTION_DIR].size;
    sizes->positions += sections[SECTION_POS].size + sections[SECTION_TAILS].size;
    sizes->segment_docs += sections[SECTION_LENGTHS].size + sections[SECTION_OWNED].size;
}

static uint64_t live_size(const struct live *live)
{
    uint64_t size = sizeof(*live);
    uint32_t i, j;

    for (i = 0; i < live->leaf_count; i++) {
        size += sizeof(live->leaves[0]) + (live->leaves[i] ? sizeof(*live->leaves[i]) : 0);
        for (j = 0; live->leaves[i] && j < LIVE_LEAF_SIZE; j++) {
            const struct live_page *page = live->leaves[i]->pages[j];

            size += page && page != LIVE_ALL ? sizeof(*page) : 0;
        }
    }
    return size;
}

void shard_sizes(struct shard *shard, struct shard_sizes *sizes)
{
    struct columns_size columns;
    uint32_t i;

    object_check(shard, SHARD_MAGIC);
    *sizes = (struct shard_sizes){0};
    pthread_mutex_lock(&shard->work);
    shard_lock(shard);
    for (i = 0; i < shard->part_count; i++) {
        add_part(shard->parts[i], sizes);
        sizes->live += live_size(live_commit(shard->parts[i]->live));
    }
    sizes->live += live_size(live_commit(shard->alive));
    sizes->doc_count = (uint32_t)live_commit(shard->alive)->count_delta;
    sizes->lengths += doc_lengths_size(shard->lengths);
    sizes->owner = owners_size(shard->owners);
    columns_size(shard->columns, &columns);
    sizes->columns = columns.pages + columns.directories;
    sizes->dictionaries = columns.dictionaries;
    sizes->lists = columns.lists;
    columns_size(shard->state, &columns);
    sizes->stored_offsets = columns.pages + columns.directories;
    for (i = 0; i < shard->set_count; i++)
        sizes->sets += shard->sets[i] ? attribute_set_size(shard->sets[i]) : 0;
    sizes->lexicon = lexicon_sizes(shard->lexicon).memory_size;
    sizes->stored = stored_size(shard->stored);
    sizes->disk += shard->checkpoint_size + lexicon_sizes(shard->lexicon).file_size +
                   (shard->options.dir ? sizes->stored : 0);
    shard_unlock(shard);
    pthread_mutex_unlock(&shard->work);
}
