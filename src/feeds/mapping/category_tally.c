/* SPDX-License-Identifier: Apache-2.0 */
/* category_tally.c - see category_tally.h. */
#include "feeds/mapping/category_tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "catalog/words.h"
#include "feeds/bounds.h"
#include "feeds/mapping/category_map.h"
#include "feeds/report/report.h"

enum {
    FEED_TALLY_MAGIC = OBJECT_MAGIC('f', 't', 'a', 'l'),
    TITLE_LENGTH_MAX = 60, /* characters kept of one */
    SHOWN_TITLE_COUNT = 2,
};

struct feed_tally {
    uint32_t magic;
    struct arena *arena; /* owned */
    struct feed_tallied **list;
    size_t count;
    size_t max;
    struct feed_tallied **places; /* open addressing, at most half full; owned */
    size_t place_count;           /* a power of two */
};

struct feed_tally *feed_tally_new(void)
{
    struct feed_tally *tally = mem_zero(sizeof(*tally));

    object_begin(tally, FEED_TALLY_MAGIC);
    tally->arena = arena_new();
    tally->place_count = 1 << 16; /* over twice FEED_CATEGORY_COUNT_MAX */
    tally->places = mem_zero(tally->place_count * sizeof(*tally->places));
    return tally;
}

void feed_tally_free(struct feed_tally *tally)
{
    if (!tally)
        return;
    object_check(tally, FEED_TALLY_MAGIC);
    arena_free(tally->arena);
    free(tally->list);
    free(tally->places);
    object_end(tally, FEED_TALLY_MAGIC);
    free(tally);
}

static struct feed_tallied *add(struct feed_tally *tally, size_t at, const struct feed_row *row)
{
    struct feed_tallied *one = arena_zero(tally->arena, sizeof(*one));

    if (tally->count == tally->max) {
        tally->max = tally->max ? 2 * tally->max : 64;
        tally->list = mem_resize(tally->list, tally->max * sizeof(*tally->list));
    }
    one->id = arena_text(tally->arena, row->category_id);
    one->path = arena_text(tally->arena, row->category);
    one->attributes = "";
    tally->places[at] = one;
    tally->list[tally->count++] = one;
    return one;
}

static struct feed_tallied *find(struct feed_tally *tally, const struct feed_row *row)
{
    uint64_t hash = hash64_seeded(row->category, hash64(row->category_id));
    size_t at = hash & (tally->place_count - 1);

    for (; tally->places[at]; at = (at + 1) & (tally->place_count - 1)) {
        if (bytes_equal_text(row->category_id, tally->places[at]->id) &&
            bytes_equal_text(row->category, tally->places[at]->path))
            return tally->places[at];
    }
    return tally->count < FEED_CATEGORY_COUNT_MAX ? add(tally, at, row) : NULL;
}

void feed_tally_add(struct feed_tally *tally, const struct feed_row *row,
                    const struct feed_placement *placement, const char *reason)
{
    struct feed_tallied *one;

    object_check(tally, FEED_TALLY_MAGIC);
    one = find(tally, row);
    if (!one)
        return;
    one->row_count++;
    one->placement = placement;
    one->is_refused = !placement && reason && strcmp(reason, FEED_CATEGORY_REFUSED) == 0;
    if (one->title_count < FEED_TALLY_TITLE_COUNT && row->title.size)
        one->titles[one->title_count++] =
            arena_text(tally->arena, text_front(row->title, TITLE_LENGTH_MAX));
}

static int compare_counts(const void *a, const void *b)
{
    const struct feed_tallied *first = *(struct feed_tallied *const *)a;
    const struct feed_tallied *second = *(struct feed_tallied *const *)b;
    int order;

    if (first->row_count != second->row_count)
        return first->row_count > second->row_count ? -1 : 1;
    order = strcmp(first->path, second->path);
    return order ? order : strcmp(first->id, second->id);
}

struct feed_tallied *const *feed_tally_list(struct feed_tally *tally, size_t *count)
{
    object_check(tally, FEED_TALLY_MAGIC);
    if (tally->count)
        qsort(tally->list, tally->count, sizeof(*tally->list), compare_counts);
    *count = tally->count;
    return tally->list;
}

/* What the category is called says more than what its goods are like, and that more than single
 * words of theirs. */
static void ask_for_similar(struct feed_tallied *one, const struct catalog *catalog,
                            const struct feed_similar **similar, struct arena *scratch)
{
    const struct category *found;
    struct err err;

    if (!*similar || one->proposal.by == FEED_BY_NAME || one->proposal.by == FEED_BY_WORDS)
        return;
    arena_reset(scratch);
    if (feed_similar_vote(*similar, catalog, one->titles, one->title_count, scratch, &found, &err))
        *similar = NULL; /* words are all there is: nobody waits for more of such answers */
    else if (found)
        one->proposal = (struct feed_proposal){found, FEED_BY_OFFERS};
}

void feed_tally_propose(struct feed_tally *tally, const struct catalog *catalog,
                        const struct feed_similar *similar)
{
    struct feed_proposer *proposer = feed_proposer_new(catalog);
    struct arena *scratch = arena_new();
    size_t asked = 0;
    size_t count;
    struct feed_tallied *const *list = feed_tally_list(tally, &count);

    for (size_t i = 0; i < count; i++) {
        struct feed_tallied *one = list[i];

        if (!one->placement && !one->is_refused) {
            one->proposal =
                feed_propose(proposer, bytes_of(one->path), one->titles, one->title_count);
            if (asked++ < FEED_SIMILAR_CATEGORY_COUNT)
                ask_for_similar(one, catalog, &similar, scratch);
        }
        if (one->proposal.category)
            one->attributes = feed_propose_options(one->proposal.category, one->path, one->titles,
                                                   one->title_count, tally->arena);
    }
    arena_free(scratch);
    feed_proposer_free(proposer);
}

void feed_tally_put_attributes(const struct feed_tallied *one, struct buf *out)
{
    buf_put_text(out, one->attributes);
    for (size_t i = 0; one->placement && i < one->placement->attribute_count; i++) {
        const struct feed_attribute *set = &one->placement->attributes[i];

        buf_printf(out, "%s%.*s=%.*s", i ? "; " : "", BYTES_ARG(set->name), BYTES_ARG(set->value));
    }
}

/* Those that a file has set before stay. */
static void put_attributes(struct buf *out, const struct feed_tallied *one)
{
    struct buf text = BUF_INIT(FEED_VALUE_SIZE_MAX);

    feed_tally_put_attributes(one, &text);
    feed_csv_cell(out, buf_bytes(&text));
    buf_release(&text);
}

static void put_line(struct buf *out, const struct feed_tallied *one)
{
    const struct category *category =
        one->placement ? one->placement->category : one->proposal.category;

    feed_csv_cell(out, bytes_of(*one->id ? one->id : one->path));
    buf_put_byte(out, ',');
    if (one->is_refused)
        buf_put_byte(out, '-');
    else
        feed_csv_cell(out, bytes_of(category ? category->id : ""));
    buf_put_byte(out, ',');
    put_attributes(out, one);
    buf_printf(out, ",%" PRIu64 ",%s,", one->row_count,
               one->placement || one->is_refused ? "known" : feed_proposal_name(one->proposal.by));
    feed_csv_cell(out, bytes_of(category ? category->name.in[LANGUAGE_RU] : ""));
    buf_put_byte(out, ',');
    feed_csv_cell(out, bytes_of(one->path));
    for (size_t i = 0; i < SHOWN_TITLE_COUNT; i++) {
        buf_put_byte(out, ',');
        feed_csv_cell(out, bytes_of(i < one->title_count ? one->titles[i] : ""));
    }
    buf_put_text(out, "\r\n");
}

void feed_tally_write(struct feed_tally *tally, struct buf *out)
{
    size_t count;
    struct feed_tallied *const *list = feed_tally_list(tally, &count);

    buf_put_text(out, "\xef\xbb\xbf"
                      "feed,category,attributes,rows,by,name,path,title,another title\r\n");
    for (size_t i = 0; i < count; i++) {
        if (*list[i]->id || *list[i]->path)
            put_line(out, list[i]);
    }
    buf_put_text(out, "*,,,,,,,,\r\n");
}
