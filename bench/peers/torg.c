/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torg's own engine in bench core: a shard of index/ and the engine of query/, called as a searcher
 * calls them. It is given the text, not the stems: analysis is part of its time. Averages of
 * lengths are those of the listings (the file meta beside them).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "index/shard/shard.h"
#include "peers/peer.h"
#include "query/query.h"

enum { PUBLISH_COUNT = 1000, WORDS_MAX = 8, FILTERS_MAX = 3 };

enum {
    FIELD_NO_TITLE,
    FIELD_NO_TEXT,
    FIELD_NO_CATEGORY,
    FIELD_NO_BRAND,
    FIELD_NO_CITY,
    FIELD_NO_SELLER,
    FIELD_NO_PRICE,
    FIELD_NO_DATE,
    FIELD_NO_CONDITION,
    FIELD_NO_DELIVERY,
    FIELD_NO_RANK,
    FIELD_COUNT,
};

static const struct field fields[FIELD_COUNT] = {
    [FIELD_NO_TITLE] = {.name = "title", .type = FIELD_TEXT, .weight = 2},
    [FIELD_NO_TEXT] = {.name = "text", .type = FIELD_TEXT, .weight = 1},
    [FIELD_NO_CATEGORY] = {.name = "category", .type = FIELD_CATEGORY, .filterable = true},
    [FIELD_NO_BRAND] = {.name = "brand", .type = FIELD_KEYWORD, .filterable = true},
    [FIELD_NO_CITY] = {.name = "city", .type = FIELD_KEYWORD, .filterable = true},
    [FIELD_NO_SELLER] = {.name = "seller", .type = FIELD_KEYWORD, .value_count_max = 1 << 20},
    [FIELD_NO_PRICE] = {.name = "price", .type = FIELD_INTEGER, .filterable = true},
    [FIELD_NO_DATE] = {.name = "date", .type = FIELD_DATE, .filterable = true},
    [FIELD_NO_CONDITION] = {.name = "condition", .type = FIELD_KEYWORD, .filterable = true},
    [FIELD_NO_DELIVERY] = {.name = "delivery", .type = FIELD_KEYWORD, .filterable = true},
    [FIELD_NO_RANK] = {.name = "rank", .type = FIELD_INTEGER},
};

static struct shard *shard;
static struct shard_reader *reader;
static struct query_engine *engine;
static struct arena *arena;
static struct query_result result;
static uint16_t ids[FIELD_COUNT]; /* by FIELD_NO_ */
static uint64_t offset;

static void check(int rc, const struct err *err)
{
    if (rc)
        peer_die("torg", err->text);
}

static void read_averages(const char *corpus, struct shard_options *options)
{
    const char *slash = strrchr(corpus, '/');
    char path[4096], line[256];
    FILE *file;

    snprintf(path, sizeof(path), "%.*s/meta", slash ? (int)(slash - corpus) : 1,
             slash ? corpus : ".");
    file = fopen(path, "r");
    if (!file)
        peer_die(path, strerror(errno));
    while (fgets(line, sizeof(line), file)) {
        if (!strncmp(line, "title_length=", 13))
            options->average_lengths[0] = strtof(line + 13, NULL);
        if (!strncmp(line, "text_length=", 12))
            options->average_lengths[1] = strtof(line + 12, NULL);
    }
    fclose(file);
}

static void open_shard(const struct shard_options *options)
{
    struct err err;

    check(shard_open(options, &shard, &err), &err);
    for (int i = 0; i < FIELD_COUNT; i++)
        check(shard_add_field(shard, &fields[i], &ids[i], &err), &err);
    offset = shard_offset(shard);
}

static struct shard_value number_value(int field, const char *text)
{
    return (struct shard_value){
        .field = ids[field], .kind = VALUE_NUMBER, .number = strtoll(text, NULL, 10)};
}

static void put(const char *const *parts)
{
    static const int keywords[] = {FIELD_NO_CATEGORY, FIELD_NO_BRAND,     FIELD_NO_CITY,
                                   FIELD_NO_SELLER,   FIELD_NO_CONDITION, FIELD_NO_DELIVERY};
    static const int places[] = {PART_CATEGORY, PART_BRAND,     PART_CITY,
                                 PART_SELLER,   PART_CONDITION, PART_DELIVERY};
    struct bytes names[ARRAY_COUNT(keywords)];
    struct shard_value values[FIELD_COUNT];
    struct shard_document document = {.id = (docid)strtoul(parts[PART_ID], NULL, 10),
                                      .values = values};
    struct err err;

    values[document.count++] = (struct shard_value){
        .field = ids[FIELD_NO_TITLE], .kind = VALUE_TEXT, .text = bytes_of(parts[PART_TITLE])};
    values[document.count++] = (struct shard_value){
        .field = ids[FIELD_NO_TEXT], .kind = VALUE_TEXT, .text = bytes_of(parts[PART_TEXT])};
    for (size_t i = 0; i < ARRAY_COUNT(keywords); i++) {
        names[i] = bytes_of(parts[places[i]]);
        values[document.count++] = (struct shard_value){
            .field = ids[keywords[i]], .kind = VALUE_KEYWORDS, .keywords = {&names[i], 1}};
    }
    values[document.count++] = number_value(FIELD_NO_PRICE, parts[PART_PRICE]);
    values[document.count++] = number_value(FIELD_NO_DATE, parts[PART_DATE]);
    values[document.count++] = number_value(FIELD_NO_RANK, "0");
    check(shard_put(shard, &document, &err), &err);
}

static void publish(void)
{
    struct err err;

    check(shard_publish(shard, ++offset, &err), &err);
}

/* All that the background would do, on this thread: what is measured is one core's work. */
static void work(void)
{
    bool did = true;
    struct err err;

    while (did)
        check(shard_work(shard, &did, &err), &err);
}

static void take(const char *const *parts, void *context)
{
    uint64_t *count = context;

    put(parts);
    if (++*count % PUBLISH_COUNT == 0) {
        publish();
        work();
    }
}

static uint32_t make_index(const char *dir, const char *corpus, uint64_t limit)
{
    struct shard_options options = {.dir = dir, .epoch = 1};
    struct shard_sizes sizes;
    uint64_t count = 0;
    struct err err;

    read_averages(corpus, &options);
    open_shard(&options);
    peer_read(corpus, limit, take, &count);
    publish();
    work();
    check(shard_checkpoint(shard, &err), &err);
    shard_sizes(shard, &sizes);
    shard_close(shard);
    shard = NULL;
    return sizes.segment_count;
}

static void open_index(const char *dir)
{
    struct shard_options options = {.dir = dir, .epoch = 1, .background = true};
    struct err err;

    open_shard(&options);
    check(shard_reader_new(shard, &reader, &err), &err);
    engine = query_engine_new(shard, reader);
    arena = arena_new();
}

static void read_words(const struct ask *ask, struct query_text *text)
{
    const char *op = ask_get(ask, "op"), *at = ask_get(ask, "forms");
    bool phrase = !strcmp(op, "phrase");
    uint8_t mask = !strcmp(ask_get(ask, "fields"), "text") ? 1 << 1 : 0;
    struct text_clause *clauses = arena_array(arena, WORDS_MAX, sizeof(*clauses));

    text->clauses = clauses;
    while (*at && text->count < WORDS_MAX) {
        size_t size = phrase ? strlen(at) : strcspn(at, " ");

        clauses[text->count++] = (struct text_clause){
            .occur = !strcmp(op, "or") ? OCCUR_SHOULD : OCCUR_MUST,
            .kind = phrase ? CLAUSE_PHRASE : CLAUSE_WORD,
            .fields = mask,
            .text = bytes_make(at, size),
        };
        at += size + (at[size] == ' ');
    }
}

static const struct query_filter *read_filters(const struct ask *ask)
{
    const char *category = ask_get(ask, "category"), *condition = ask_get(ask, "condition");
    const char *price = ask_get(ask, "price"), *dots = strstr(price, "..");
    struct query_filter *all = arena_array(arena, 1 + FILTERS_MAX, sizeof(*all));
    struct bytes *names = arena_array(arena, 2, sizeof(*names));
    struct query_filter *child = all + 1;

    *all = (struct query_filter){.kind = FILTER_AND, .children = child};
    names[0] = bytes_of(category);
    names[1] = bytes_of(condition);
    if (*category)
        child[all->count++] = (struct query_filter){
            .kind = FILTER_SUBTREE, .field = bytes_of("category"), .names = &names[0], .count = 1};
    if (*condition)
        child[all->count++] = (struct query_filter){
            .kind = FILTER_IN, .field = bytes_of("condition"), .names = &names[1], .count = 1};
    if (dots)
        child[all->count++] = (struct query_filter){.kind = FILTER_RANGE,
                                                    .field = bytes_of("price"),
                                                    .low = strtoll(price, NULL, 10),
                                                    .high = strtoll(dots + 2, NULL, 10)};
    return all->count ? all : NULL;
}

static void read_facets(const struct ask *ask, struct query_stage *stage)
{
    struct query_facet *facets = arena_array(arena, PEER_FACET_COUNT_MAX, sizeof(*facets));
    const char *at = ask_get(ask, "facets");

    stage->facets = facets;
    while (*at && stage->facet_count < PEER_FACET_COUNT_MAX) {
        size_t size = strcspn(at, ",");

        facets[stage->facet_count++] = (struct query_facet){.kind = FACET_VALUES,
                                                            .sees_own_filter = true,
                                                            .field = bytes_make(at, size),
                                                            .limit = 10};
        at += size + (at[size] == ',');
    }
}

static void query(const struct ask *ask, struct answer *answer)
{
    const char *sort_name = ask_get(ask, "sort");
    struct query_sort sort = {
        .kind = SORT_FIELD, .field = bytes_of(sort_name), .descending = !strcmp(sort_name, "date")};
    struct query_stage stage = {.sorts = &sort, .sort_count = *sort_name ? 1 : 0};
    struct query_plan plan = {.stages = &stage, .stage_count = 1};
    const struct query_answer *found;
    struct err err;

    arena_reset(arena);
    read_words(ask, &stage.text);
    stage.filter = read_filters(ask);
    read_facets(ask, &stage);
    stage.limit = (uint32_t)ask_number(ask, "top", 0);
    stage.total = ask_number(ask, "total", 0) || !stage.limit ? TOTAL_EXACT : TOTAL_NONE;
    check(query_run(engine, &plan, NULL, 0, arena, &result, &err), &err);
    found = &result.answers[0];
    answer->has_total = stage.total == TOTAL_EXACT;
    answer->total = found->total;
    for (uint32_t i = 0; i < found->hit_count; i++)
        answer_add(answer, found->hits[i].id,
                   stage.sort_count ? found->hits[i].keys[0] : found->hits[i].score);
}

static void put_facets(struct buf *out)
{
    const struct query_answer *found = &result.answers[0];

    for (uint32_t i = 0; i < found->facet_count; i++) {
        const struct facet_answer *facet = &found->facets[i];

        if (i)
            buf_put_byte(out, ';');
        buf_put(out, facet->name);
        buf_put_byte(out, ':');
        for (uint32_t k = 0; k < facet->count; k++) {
            if (k)
                buf_put_byte(out, ',');
            buf_put(out, facet->values[k].name);
            buf_printf(out, "=%ju", (uintmax_t)facet->values[k].count);
        }
    }
}

static void change_begin(void)
{
}

static void change(enum change_kind kind, const char *const *parts, uint64_t number)
{
    struct shard_value value;
    struct err err;

    if (kind == CHANGE_WHOLE) {
        put(parts);
        return;
    }
    value = kind == CHANGE_PRICE ? number_value(FIELD_NO_PRICE, parts[PART_PRICE])
                                 : (struct shard_value){.field = ids[FIELD_NO_RANK],
                                                        .kind = VALUE_NUMBER,
                                                        .number = (int64_t)number};
    check(shard_change(shard, (docid)strtoul(parts[PART_ID], NULL, 10), &value, 1, &err), &err);
}

static void change_end(void)
{
}

static void put_sizes(struct buf *out)
{
    struct shard_sizes sizes;

    shard_sizes(shard, &sizes);
    buf_printf(out, "\tterms=%ju\tpostings=%ju\tpositions=%ju\tlengths=%ju\tlive=%ju\towner=%ju",
               (uintmax_t)sizes.terms, (uintmax_t)sizes.postings, (uintmax_t)sizes.positions,
               (uintmax_t)sizes.lengths, (uintmax_t)sizes.live, (uintmax_t)sizes.owner);
    buf_printf(out, "\tcolumns=%ju\tdictionaries=%ju\tlists=%ju\tsets=%ju\tlexicon=%ju",
               (uintmax_t)sizes.columns, (uintmax_t)sizes.dictionaries, (uintmax_t)sizes.lists,
               (uintmax_t)sizes.sets, (uintmax_t)sizes.lexicon);
    buf_printf(out, "\tbuffers=%ju\tstored_offsets=%ju\tstored=%ju\tsegment_docs=%ju",
               (uintmax_t)sizes.buffers, (uintmax_t)sizes.stored_offsets, (uintmax_t)sizes.stored,
               (uintmax_t)sizes.segment_docs);
}

static void close_index(void)
{
    query_engine_free(engine);
    shard_reader_free(reader);
    arena_free(arena);
    shard_close(shard);
}

int main(void)
{
    static const struct peer_ops ops = {
        .name = "torg",
        .index = make_index,
        .open = open_index,
        .query = query,
        .put_facets = put_facets,
        .change_begin = change_begin,
        .change = change,
        .change_commit = publish,
        .change_end = change_end,
        .close = close_index,
        .put_sizes = put_sizes,
    };

    return peer_main(&ops);
}
