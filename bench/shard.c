/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shard on one core: putting listings, and apart from that freezing and merging them, bytes a
 * document by structure, changes of attributes, the time to open it again. Listings are generated,
 * two thirds Russian, a title and a description, seven attributes; words by Zipf's law.
 *
 * usage: bench-shard DIR|- [DOCUMENTS]        (-: in memory)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/shard/shard.h"

enum { ROOT_COUNT = 60000, ROOT_SIZE = 40, TEXT_SIZE = 2048, TITLE_WORDS = 6, BODY_WORDS = 45 };
enum { BATCH_COUNT = 64 }; /* listings made, then put and timed: the clock takes its time too */

static double now_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void make_root(struct rng *rng, bool russian, char root[ROOT_SIZE])
{
    static const char *const ru[] = {"ка", "по", "ре", "ст", "но", "ут", "ма", "ши", "ко", "ли"};
    static const char *const en[] = {"ca", "po", "re", "st", "no", "ut", "ma", "shi", "co", "li"};
    size_t size = 0;
    uint64_t left;

    for (left = 2 + rng_below(rng, 4); left > 0; left--)
        size += (size_t)snprintf(root + size, ROOT_SIZE - size, "%s",
                                 russian ? ru[rng_below(rng, 10)] : en[rng_below(rng, 10)]);
    snprintf(root + size, ROOT_SIZE - size, "%s", russian ? "н" : "n");
}

static size_t put_words(struct rng *rng, char (*roots)[ROOT_SIZE], uint32_t count, char *text)
{
    static const char *const ru_ends[] = {"а", "ы", "ый", "ого", "ами", "", "ить", "ение"};
    static const char *const en_ends[] = {"", "s", "ing", "ed", "er", "ly"};
    size_t size = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        double part = (double)(rng_next(rng) >> 11) / 9007199254740992.0;
        uint32_t root = (uint32_t)(pow(ROOT_COUNT, part)) - 1;
        bool russian = root % 3 != 0;

        size += (size_t)snprintf(text + size, TEXT_SIZE - size, "%s%s%s", i ? " " : "", roots[root],
                                 russian ? ru_ends[rng_below(rng, 8)] : en_ends[rng_below(rng, 6)]);
    }
    return size;
}

static void die_if(int rc, const struct err *err)
{
    if (!rc)
        return;
    fprintf(stderr, "bench-shard: %s\n", err->text);
    exit(1);
}

enum { TITLE, BODY, CATEGORY, CITY, TAGS, PRICE, DATE, NEW, PLACE, FIELD_COUNT };

static void add_fields(struct shard *shard)
{
    static const struct field fields[FIELD_COUNT] = {
        [TITLE] = {.type = FIELD_TEXT, .name = "title", .weight = 3},
        [BODY] = {.type = FIELD_TEXT, .name = "body", .weight = 1},
        [CATEGORY] = {.type = FIELD_CATEGORY, .name = "category", .filterable = true},
        [CITY] = {.type = FIELD_KEYWORD, .name = "city", .filterable = true},
        [TAGS] = {.type = FIELD_KEYWORD, .name = "tags", .multiple = true, .filterable = true},
        [PRICE] = {.type = FIELD_INTEGER, .name = "price", .filterable = true},
        [DATE] = {.type = FIELD_DATE, .name = "date", .filterable = true},
        [NEW] = {.type = FIELD_BOOLEAN, .name = "new", .filterable = true},
        [PLACE] = {.type = FIELD_GEO, .name = "place", .filterable = true},
    };
    struct err err = {0};
    unsigned i;

    for (i = 0; i < FIELD_COUNT; i++)
        die_if(shard_add_field(shard, &fields[i], NULL, &err), &err);
}

struct listing {
    struct shard_value values[FIELD_COUNT];
    char title[TEXT_SIZE], body[TEXT_SIZE], names[4][32];
    struct bytes keywords[4];
};

static void name(struct listing *listing, unsigned i, const char *format, uint64_t number)
{
    snprintf(listing->names[i], sizeof(listing->names[i]), format, (unsigned)number);
    listing->keywords[i] = bytes_of(listing->names[i]);
}

static size_t make_listing(struct listing *listing, struct rng *rng, char (*roots)[ROOT_SIZE])
{
    struct shard_value *values = listing->values;
    size_t size = put_words(rng, roots, TITLE_WORDS, listing->title);
    unsigned i;

    size += put_words(rng, roots, BODY_WORDS, listing->body);
    for (i = 0; i < FIELD_COUNT; i++)
        values[i] = (struct shard_value){.field = (uint16_t)i, .kind = VALUE_NUMBER};
    values[TITLE].kind = values[BODY].kind = VALUE_TEXT;
    values[TITLE].text = bytes_of(listing->title);
    values[BODY].text = bytes_of(listing->body);
    name(listing, 0, "root/c%u", rng_below(rng, 500));
    name(listing, 1, "city%u", rng_below(rng, 1 + rng_below(rng, 1000)));
    name(listing, 2, "tag%u", rng_below(rng, 200));
    name(listing, 3, "tag%u", rng_below(rng, 200));
    for (i = CATEGORY; i <= TAGS; i++) {
        values[i].kind = VALUE_KEYWORDS;
        values[i].keywords.names = &listing->keywords[i - CATEGORY];
        values[i].keywords.count = i == TAGS ? 2 : 1;
    }
    values[PRICE].number = (int64_t)rng_below(rng, 1000000);
    values[DATE].number = 1700000000 + (int64_t)rng_below(rng, 10000000);
    values[NEW].number = (int64_t)rng_below(rng, 2);
    values[PLACE].kind = VALUE_GEO;
    values[PLACE].geo.lat = 550000000 + (int32_t)rng_below(rng, 20000000);
    values[PLACE].geo.lon = 370000000 + (int32_t)rng_below(rng, 40000000);
    return size;
}

static double work_all(struct shard *shard)
{
    double start = now_s(CLOCK_THREAD_CPUTIME_ID);
    struct err err = {0};
    bool did = true;

    while (did)
        die_if(shard_work(shard, &did, &err), &err);
    return now_s(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void print_sizes(struct shard *shard, uint32_t count)
{
    struct shard_sizes s;
    double n = count;

    shard_sizes(shard, &s);
    printf("bytes/document: terms %.1f postings %.1f positions %.1f lengths %.1f live %.1f owner "
           "%.1f columns %.1f dictionaries %.1f lists %.1f sets %.1f lexicon %.1f buffers %.1f "
           "stored offsets %.1f stored %.1f; segment docs %.1f; %u segments\n",
           (double)s.terms / n, (double)s.postings / n, (double)s.positions / n,
           (double)s.lengths / n, (double)s.live / n, (double)s.owner / n, (double)s.columns / n,
           (double)s.dictionaries / n, (double)s.lists / n, (double)s.sets / n,
           (double)s.lexicon / n, (double)s.buffers / n, (double)s.stored_offsets / n,
           (double)s.stored / n, (double)s.segment_docs / n, s.segment_count);
    printf("bytes/document: %.1f resident (all but positions, segment docs and stored)\n",
           (double)(s.terms + s.postings + s.lengths + s.live + s.owner + s.columns +
                    s.dictionaries + s.lists + s.sets + s.lexicon + s.buffers + s.stored_offsets) /
               n);
}

static double put_batch(struct shard *shard, docid first, const struct listing *listings,
                        uint32_t count)
{
    double start = now_s(CLOCK_THREAD_CPUTIME_ID);
    struct err err = {0};
    uint32_t i;

    for (i = 0; i < count; i++) {
        struct shard_document document = {
            .id = first + i,
            .values = listings[i].values,
            .count = FIELD_COUNT,
            .expires_at = 1800000000 + first + i,
        };

        die_if(shard_put(shard, &document, &err), &err);
    }
    die_if(shard_publish(shard, first + count, &err), &err);
    return now_s(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void put_all(struct shard *shard, uint32_t count, char (*roots)[ROOT_SIZE])
{
    struct listing *listings = mem_array(BATCH_COUNT, sizeof(*listings));
    struct rng rng = rng_seeded(7);
    double spent = 0, work = 0;
    struct err err = {0};
    uint64_t bytes = 0;
    docid first;
    bool did;

    for (first = 0; first < count; first += BATCH_COUNT) {
        uint32_t batch = count - first < BATCH_COUNT ? count - first : BATCH_COUNT;
        double start;
        uint32_t i;

        for (i = 0; i < batch; i++)
            bytes += make_listing(&listings[i], &rng, roots);
        spent += put_batch(shard, first, listings, batch);
        if (first % 1024)
            continue;
        start = now_s(CLOCK_THREAD_CPUTIME_ID);
        die_if(shard_work(shard, &did, &err), &err);
        work += now_s(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    work += work_all(shard);
    printf("put: %u documents, %.0f/s, %.1f MB/s; freezing, merging, sets: %.2f s more; together "
           "%.0f/s\n",
           count, count / spent, (double)bytes / 1e6 / spent, work, count / (spent + work));
    free(listings);
}

static void change_all(struct shard *shard, uint32_t count)
{
    struct shard_value price = {.field = PRICE, .kind = VALUE_NUMBER};
    double start = now_s(CLOCK_THREAD_CPUTIME_ID);
    struct rng rng = rng_seeded(8);
    struct err err = {0};
    uint32_t i;

    for (i = 0; i < count; i++) {
        price.number = (int64_t)rng_below(&rng, 1000000);
        die_if(shard_change(shard, (docid)rng_below(&rng, count), &price, 1, &err), &err);
        if (i % 64 == 63)
            die_if(shard_publish(shard, shard_offset(shard) + 64, &err), &err);
    }
    die_if(shard_publish(shard, shard_offset(shard) + 64, &err), &err);
    printf("changes of a price: %.0f/s\n", count / (now_s(CLOCK_THREAD_CPUTIME_ID) - start));
}

static void checkpoint_and_open(struct shard *shard, const struct shard_options *options)
{
    double start = now_s(CLOCK_MONOTONIC);
    struct shard_sizes sizes;
    struct err err = {0};
    uint64_t offset;

    die_if(shard_checkpoint(shard, &err), &err);
    shard_sizes(shard, &sizes);
    printf("checkpoint: %.2f s, %.1f MB on disk\n", now_s(CLOCK_MONOTONIC) - start,
           (double)sizes.disk / 1e6);
    shard_close(shard);
    start = now_s(CLOCK_MONOTONIC);
    die_if(shard_open(options, &shard, &err), &err);
    offset = shard_offset(shard);
    printf("open: %.2f s, at offset %ju\n", now_s(CLOCK_MONOTONIC) - start, (uintmax_t)offset);
    shard_close(shard);
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 200000;
    const char *dir = argc > 1 && strcmp(argv[1], "-") != 0 ? argv[1] : NULL;
    struct shard_options options = {.dir = dir, .checkpoint_change_count = UINT32_MAX};
    char(*roots)[ROOT_SIZE] = mem_array(ROOT_COUNT, ROOT_SIZE);
    struct rng rng = rng_seeded(3);
    struct shard *shard;
    struct err err = {0};
    uint32_t i;

    for (i = 0; i < ROOT_COUNT; i++)
        make_root(&rng, i % 3 != 0, roots[i]);
    die_if(shard_open(&options, &shard, &err), &err);
    add_fields(shard);
    put_all(shard, count, roots);
    print_sizes(shard, count);
    change_all(shard, count);
    if (dir)
        checkpoint_and_open(shard, &options);
    else
        shard_close(shard);
    free(roots);
    return 0;
}
