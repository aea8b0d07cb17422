/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - see part.h. */
#include "searcher/front/part.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "codec/message.h"
#include "index/postings/text_norms.h"
#include "query/bounds.h"

Torg__V1__WordCounts *part_tell_words(const struct query_words *words, struct arena *arena)
{
    Torg__V1__WordCounts *message;
    Torg__V1__WordCount *list;

    if (!words)
        return NULL;
    message = arena_alloc(arena, sizeof(*message));
    list = arena_array(arena, words->count + 1, sizeof(*list));
    torg__v1__word_counts__init(message);
    message->doc_count = words->doc_count;
    message->words = arena_array(arena, words->count + 1, sizeof(message->words[0]));
    message->n_words = words->count;
    message->length_sums = arena_array(arena, TEXT_NORM_FIELD_COUNT, sizeof(uint64_t));
    message->length_counts = arena_array(arena, TEXT_NORM_FIELD_COUNT, sizeof(uint64_t));
    message->n_length_sums = message->n_length_counts = TEXT_NORM_FIELD_COUNT;
    memcpy(message->length_sums, words->lengths.sums, sizeof(words->lengths.sums));
    memcpy(message->length_counts, words->lengths.counts, sizeof(words->lengths.counts));
    for (uint32_t i = 0; i < words->count; i++) {
        torg__v1__word_count__init(&list[i]);
        list[i].word.data = (uint8_t *)words->words[i].word.data;
        list[i].word.len = words->words[i].word.size;
        list[i].doc_count = words->words[i].doc_count;
        message->words[i] = &list[i];
    }
    return message;
}

const struct query_words *part_read_words(const Torg__V1__WordCounts *message, struct arena *arena)
{
    struct query_words *words;
    struct query_word *list;

    if (!message)
        return NULL;
    words = arena_alloc(arena, sizeof(*words));
    list = arena_array(arena, message->n_words + 1, sizeof(*list));
    for (size_t i = 0; i < message->n_words; i++)
        list[i] = (struct query_word){
            bytes_make(message->words[i]->word.data, message->words[i]->word.len),
            message->words[i]->doc_count};
    *words = (struct query_words){
        .doc_count = message->doc_count, .words = list, .count = (uint32_t)message->n_words};
    for (size_t i = 0;
         i < TEXT_NORM_FIELD_COUNT && i < message->n_length_sums && i < message->n_length_counts;
         i++) {
        words->lengths.sums[i] = message->length_sums[i];
        words->lengths.counts[i] = message->length_counts[i];
    }
    return words;
}

Torg__V1__HitPlace *part_tell_place(const struct query_place *place, struct arena *arena)
{
    Torg__V1__HitPlace *message;
    Torg__V1__SortKey *keys;

    if (!place)
        return NULL;
    message = arena_alloc(arena, sizeof(*message));
    keys = arena_array(arena, place->count + 1, sizeof(*keys));
    torg__v1__hit_place__init(message);
    message->id = place->id;
    message->keys = arena_array(arena, place->count + 1, sizeof(message->keys[0]));
    message->n_keys = place->count;
    for (uint32_t i = 0; i < place->count; i++) {
        torg__v1__sort_key__init(&keys[i]);
        keys[i].number = place->keys[i];
        keys[i].has_text = place->texts[i].data != NULL;
        keys[i].text.data = (uint8_t *)place->texts[i].data;
        keys[i].text.len = place->texts[i].size;
        message->keys[i] = &keys[i];
    }
    return message;
}

struct query_place part_read_place(const Torg__V1__HitPlace *message)
{
    struct query_place place = {.id = message->id, .count = (uint32_t)message->n_keys};

    assert(message->n_keys <= SORT_COUNT_MAX);
    for (size_t i = 0; i < message->n_keys; i++) {
        const Torg__V1__SortKey *key = message->keys[i];

        place.keys[i] = key->number;
        if (key->has_text) /* one of no bytes is a text, too */
            place.texts[i] =
                bytes_make(key->text.data ? key->text.data : (const uint8_t *)"", key->text.len);
    }
    return place;
}

uint64_t part_query_hash(const Torg__V1__Query *query, uint32_t stage, struct arena *arena)
{
    const Torg__V1__QueryStage *from = query->stages[stage];
    Torg__V1__QueryStage *bare = MESSAGE_NEW(query_stage, arena);
    Torg__V1__Query whole = TORG__V1__QUERY__INIT;
    struct buf out = BUF_INIT(QUERY_HASHED_SIZE_MAX);
    uint64_t hash;

    bare->text = from->text;
    bare->any_word = from->any_word;
    bare->clauses = from->clauses;
    bare->n_clauses = from->n_clauses;
    bare->should_min = from->should_min;
    bare->not_all = from->not_all;
    bare->number_boost = from->number_boost;
    bare->tied_parts = from->tied_parts;
    bare->filter = from->filter;
    bare->sorts = from->sorts;
    bare->n_sorts = from->n_sorts;
    bare->cap = from->cap;
    whole.base_filter = query->base_filter;
    whole.stages = &bare;
    whole.n_stages = 1;
    message_encode(&whole.base, &out);
    hash = hash64(buf_bytes(&out));
    buf_release(&out);
    return hash;
}
