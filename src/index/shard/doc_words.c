/* SPDX-License-Identifier: Apache-2.0 */
/* doc_words.c - see doc_words.h. */
#include "index/shard/doc_words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/postings/doc_lengths.h"

enum { TF_MAX = 255, GROUP_NONE = UINT32_MAX, TABLE_SIZE_MIN = 64 };

struct word {
    struct occurrence occurrence;
    termid term;
    uint32_t group;
    uint8_t slot;
};

struct group_slot {
    termid term;
    uint32_t group; /* + 1; 0: empty */
};

enum { DOC_WORDS_MAGIC = OBJECT_MAGIC('d', 'w', 'r', 'd') };

struct doc_words {
    uint32_t magic;
    struct analysis *analysis;
    struct word *words; /* owned, as all arrays are; by slot, then position */
    size_t count, capacity;
    struct lexicon_entry *entries; /* of one text */
    size_t entry_capacity;
    struct buffer_posting *postings; /* one a group */
    uint32_t *ends;                  /* occurrences of groups up to each */
    struct occurrence *occurrences;  /* by group */
    size_t group_capacity;
    struct group_slot *table;
    size_t table_capacity;
    uint32_t lengths[SEGMENT_FIELD_COUNT];
};

struct doc_words *doc_words_new(void)
{
    struct doc_words *words = mem_zero(sizeof(*words));

    object_begin(words, DOC_WORDS_MAGIC);
    words->analysis = analysis_new();
    return words;
}

void doc_words_free(struct doc_words *words)
{
    if (!words)
        return;
    object_check(words, DOC_WORDS_MAGIC);
    analysis_free(words->analysis);
    free(words->words);
    free(words->entries);
    free(words->postings);
    free(words->ends);
    free(words->occurrences);
    free(words->table);
    object_end(words, DOC_WORDS_MAGIC);
    free(words);
}

void doc_words_begin(struct doc_words *words)
{
    object_check(words, DOC_WORDS_MAGIC);
    words->count = 0;
    memset(words->lengths, 0, sizeof(words->lengths));
}

static void make_room(struct doc_words *words, size_t count)
{
    if (count > words->entry_capacity) {
        words->entry_capacity = count * 2;
        free(words->entries);
        words->entries = mem_array(words->entry_capacity, sizeof(words->entries[0]));
    }
    if (words->count + count > words->capacity) {
        words->capacity = (words->count + count) * 2;
        words->words = mem_resize(words->words, words->capacity * sizeof(words->words[0]));
    }
}

int doc_words_add(struct doc_words *words, struct lexicon *lexicon, unsigned slot,
                  struct bytes text, struct err *err)
{
    struct token_list list;
    size_t i;
    int rc;

    object_check(words, DOC_WORDS_MAGIC);
    analysis_use(words->analysis, lexicon_analysis_version(lexicon));
    list = analysis_run(words->analysis, text);
    assert(slot < SEGMENT_FIELD_COUNT && !words->lengths[slot]);
    make_room(words, list.count);
    rc = lexicon_add_tokens(lexicon, words->analysis, list.tokens, list.count, words->entries, err);
    if (rc)
        return rc;
    for (i = 0; i < list.count; i++)
        words->words[words->count++] = (struct word){
            .occurrence = {list.tokens[i].position, words->entries[i].form},
            .term = words->entries[i].term,
            .slot = (uint8_t)slot,
        };
    words->lengths[slot] = list.position_count;
    return 0;
}

/* An empty table of at least twice as many places as there are words. */
static size_t clear_table(struct doc_words *words)
{
    size_t size = TABLE_SIZE_MIN;

    while (size < words->count * 2)
        size *= 2;
    if (size > words->table_capacity) {
        free(words->table);
        words->table = mem_array(size, sizeof(words->table[0]));
        words->table_capacity = size;
    } else {
        memset(words->table, 0, size * sizeof(words->table[0]));
    }
    if (words->count > words->group_capacity) {
        words->group_capacity = words->capacity;
        free(words->postings);
        free(words->ends);
        free(words->occurrences);
        words->postings = mem_array(words->group_capacity, sizeof(words->postings[0]));
        words->ends = mem_array(words->group_capacity, sizeof(words->ends[0]));
        words->occurrences = mem_array(words->group_capacity, sizeof(words->occurrences[0]));
    }
    return size;
}

/* Gives each word its group; returns how many there are. */
static uint32_t find_groups(struct doc_words *words, size_t table_size)
{
    uint32_t group_count = 0;
    size_t i;

    for (i = 0; i < words->count; i++) {
        struct word *word = &words->words[i];
        size_t at = (word->term * UINT32_C(0x9e3779b1) >> 7) & (table_size - 1);
        struct group_slot *slot = &words->table[at];
        struct buffer_posting *posting;

        while (slot->group && slot->term != word->term) {
            at = (at + 1) & (table_size - 1);
            slot = &words->table[at];
        }
        if (!slot->group) {
            words->postings[group_count] = (struct buffer_posting){.term = word->term};
            words->ends[group_count] = 0;
            *slot = (struct group_slot){word->term, ++group_count};
        }
        posting = &words->postings[slot->group - 1];
        word->group = GROUP_NONE;
        if ((posting->tfs >> word->slot * 8 & TF_MAX) == TF_MAX)
            continue;
        posting->tfs += UINT32_C(1) << word->slot * 8;
        word->group = slot->group - 1;
        words->ends[word->group]++;
    }
    return group_count;
}

void doc_words_finish(struct doc_words *words, struct doc_postings *out)
{
    size_t table_size = clear_table(words);
    uint32_t group_count = find_groups(words, table_size);
    uint32_t start = 0;
    unsigned slot;
    size_t i;

    object_check(words, DOC_WORDS_MAGIC);
    for (i = 0; i < group_count; i++) {
        uint32_t count = words->ends[i];

        words->postings[i].occurrences = words->occurrences + start;
        words->ends[i] = start;
        start += count;
    }
    for (i = 0; i < words->count; i++) {
        const struct word *word = &words->words[i];

        if (word->group != GROUP_NONE)
            words->occurrences[words->ends[word->group]++] = word->occurrence;
    }
    *out = (struct doc_postings){.postings = words->postings, .count = group_count};
    for (slot = 0; slot < SEGMENT_FIELD_COUNT; slot++)
        out->lengths[slot] = doc_length_code(words->lengths[slot]);
}
