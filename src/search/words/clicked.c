/* SPDX-License-Identifier: Apache-2.0 */
/* clicked.c - see clicked.h. */
#include "search/words/clicked.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "catalog/words.h"

enum { CLICKED_MAGIC = OBJECT_MAGIC('c', 'l', 'k', 'd') };

static const int64_t day_us = INT64_C(24) * 3600 * SECOND_US;

/* Offers of a category that were clicked after texts of the same words. */
struct pair {
    uint64_t key; /* of the words */
    const char *category;
    uint64_t marks; /* of who visited: a bit each */
    double weight;  /* visits, of which older ones count for less */
};

struct line {
    const char *text; /* folded */
    uint64_t key;
    uint64_t marks;
    double visits, weight;
};

struct table {
    struct arena *arena;
    struct pair *pairs; /* by key, then the heaviest first */
    size_t pair_count, pair_room;
    struct line *lines; /* by text */
    size_t line_count, line_room;
};

struct clicked {
    uint32_t magic;
    struct store *store;       /* borrowed */
    const struct clock *clock; /* borrowed */
    pthread_mutex_t lock;      /* guards the table */
    struct table table;
    struct task task;
};

/* --- in order --- */

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return strcmp(x->category, y->category);
}

static int compare_weights(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return strcmp(x->category, y->category);
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return strcmp(x->text, y->text);
}

/* How many persons at least: two may have the same mark. */
static int persons_of(uint64_t marks)
{
    return __builtin_popcountll(marks);
}

/* Of one key, what most persons typed first: the others are other forms of it. */
static int compare_forms(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (persons_of(x->marks) != persons_of(y->marks))
        return persons_of(x->marks) > persons_of(y->marks) ? -1 : 1;
    if (x->visits != y->visits)
        return x->visits > y->visits ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* --- the table --- */

struct row {
    const char *folded, *category;
    double visits, weight;
    uint64_t marks;
};

static void add_row(struct table *table, const struct row *row)
{
    uint64_t key = words_key(row->folded);
    struct line *last = table->line_count ? &table->lines[table->line_count - 1] : NULL;

    if (!key)
        return;
    table->pairs =
        mem_grow(table->pairs, table->pair_count + 1, sizeof(*table->pairs), &table->pair_room);
    table->pairs[table->pair_count++] = (struct pair){key, row->category, row->marks, row->weight};
    if (!last || strcmp(last->text, row->folded) != 0) {
        table->lines =
            mem_grow(table->lines, table->line_count + 1, sizeof(*table->lines), &table->line_room);
        last = &table->lines[table->line_count++];
        *last = (struct line){.text = row->folded, .key = key};
    }
    last->marks |= row->marks;
    last->visits += row->visits;
    last->weight += row->weight;
}

/* Rows of one text, category and key become one. */
static void join_pairs(struct table *table)
{
    size_t kept = 0;

    if (table->pair_count)
        qsort(table->pairs, table->pair_count, sizeof(*table->pairs), compare_pairs);
    for (size_t i = 0; i < table->pair_count; i++) {
        struct pair *last = kept ? &table->pairs[kept - 1] : NULL;

        if (last && compare_pairs(last, &table->pairs[i]) == 0) {
            last->marks |= table->pairs[i].marks;
            last->weight += table->pairs[i].weight;
        } else {
            table->pairs[kept++] = table->pairs[i];
        }
    }
    table->pair_count = kept;
    if (kept)
        qsort(table->pairs, kept, sizeof(*table->pairs), compare_weights);
}

/* Of what few have done nothing is learnt. */
static void drop_rare(struct table *table)
{
    size_t kept = 0, end;

    for (size_t i = 0; i < table->pair_count; i = end) {
        uint64_t marks = 0;

        for (end = i; end < table->pair_count && table->pairs[end].key == table->pairs[i].key;
             end++)
            marks |= table->pairs[end].marks;
        for (size_t k = i; k < end && persons_of(marks) >= CLICKED_PERSON_MIN; k++)
            table->pairs[kept++] = table->pairs[k];
    }
    table->pair_count = kept;
}

/* One line of each key, as most have typed it. */
static void join_lines(struct table *table)
{
    size_t kept = 0, end;

    if (table->line_count)
        qsort(table->lines, table->line_count, sizeof(*table->lines), compare_forms);
    for (size_t i = 0; i < table->line_count; i = end) {
        struct line line = table->lines[i];

        for (end = i + 1; end < table->line_count && table->lines[end].key == line.key; end++) {
            line.marks |= table->lines[end].marks;
            line.weight += table->lines[end].weight;
        }
        if (persons_of(line.marks) >= CLICKED_PERSON_MIN)
            table->lines[kept++] = line;
    }
    table->line_count = kept;
    if (kept)
        qsort(table->lines, kept, sizeof(*table->lines), compare_lines);
}

static void table_release(struct table *table)
{
    free(table->pairs);
    free(table->lines);
    arena_free(table->arena);
}

static int read_table(struct store *store, int64_t today, struct table *table, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store, "SELECT text, category, day, visits, marks FROM click_text ORDER BY text LIMIT $1",
        &STORE_V_INT(CLICKED_COUNT_MAX), 1);
    struct bytes before = BYTES_EMPTY;
    const char *folded = "";
    int rc;

    while (store_next(&rows)) {
        double days = (double)(today - rows.columns[2].integer);
        double visits = (double)rows.columns[3].integer;

        if (!bytes_equal(before, rows.columns[0].bytes)) {
            before = arena_copy(table->arena, rows.columns[0].bytes);
            folded = words_fold(before, table->arena);
        }
        add_row(table,
                &(struct row){.folded = folded,
                              .category = arena_text(table->arena, rows.columns[1].bytes),
                              .visits = visits,
                              .weight = visits * exp2(-(days > 0 ? days : 0) / CLICKED_HALF_DAYS),
                              .marks = (uint64_t)rows.columns[4].integer});
    }
    rc = store_rows_end(&rows, err);
    join_pairs(table);
    drop_rare(table);
    join_lines(table);
    return rc;
}

int clicked_refresh(struct clicked *clicked, struct err *err)
{
    struct table table = {.arena = arena_new()};
    struct table old = table;
    int rc;

    object_check(clicked, CLICKED_MAGIC);
    rc = read_table(clicked->store, clock_wall_us(clicked->clock) / day_us, &table, err);
    if (!rc) {
        pthread_mutex_lock(&clicked->lock);
        old = clicked->table;
        clicked->table = table;
        pthread_mutex_unlock(&clicked->lock);
    }
    table_release(rc ? &table : &old);
    return rc;
}

/* --- looking up --- */

/* The place of the first pair of this key; *end: behind the last. */
static size_t find_pairs(const struct table *table, uint64_t key, size_t *end)
{
    size_t low = 0, high = table->pair_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (table->pairs[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    for (*end = low; *end < table->pair_count && table->pairs[*end].key == key;)
        ++*end;
    return low;
}

/* Of all pairs of the text. */
static double weight_of(const struct table *table, size_t from, size_t end)
{
    double weight = 0;

    for (; from < end; from++)
        weight += table->pairs[from].weight;
    return weight;
}

double clicked_strength(struct clicked *clicked, const char *text, struct arena *arena)
{
    double weight;
    size_t from, end;
    uint64_t key;

    if (!clicked)
        return 0;
    object_check(clicked, CLICKED_MAGIC);
    key = words_key(words_fold(bytes_of(text), arena));
    pthread_mutex_lock(&clicked->lock);
    from = find_pairs(&clicked->table, key, &end);
    weight = weight_of(&clicked->table, from, end);
    pthread_mutex_unlock(&clicked->lock);
    return weight / (weight + CLICKED_HALF_COUNT);
}

size_t clicked_shares(struct clicked *clicked, const char *text, struct arena *arena,
                      struct clicked_share list[CLICKED_SHARE_COUNT])
{
    size_t from, end, count = 0;
    double weight;
    uint64_t key;

    if (!clicked)
        return 0;
    object_check(clicked, CLICKED_MAGIC);
    key = words_key(words_fold(bytes_of(text), arena));
    pthread_mutex_lock(&clicked->lock);
    from = find_pairs(&clicked->table, key, &end);
    weight = weight_of(&clicked->table, from, end);
    for (; from < end && count < CLICKED_SHARE_COUNT; from++) {
        const struct pair *pair = &clicked->table.pairs[from];

        list[count].category = arena_strdup(arena, pair->category);
        list[count++].share = pair->weight / weight;
    }
    pthread_mutex_unlock(&clicked->lock);
    return count;
}

/* The first line that is not before the text. */
static size_t find_line(const struct table *table, const char *text)
{
    size_t low = 0, high = table->line_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(table->lines[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the line goes among those that were chosen; CLICKED_LINE_COUNT: nowhere. */
static size_t place_of(const struct line *const *best, size_t count, const struct line *line)
{
    size_t place = count;

    while (place > 0 && best[place - 1]->weight < line->weight)
        place--;
    return place;
}

size_t clicked_lines(struct clicked *clicked, const char *beginning, struct arena *arena,
                     const char *lines[CLICKED_LINE_COUNT])
{
    const struct line *best[CLICKED_LINE_COUNT + 1];
    size_t size = strlen(beginning), count = 0;
    const char *prefix;

    if (!clicked || !size)
        return 0;
    object_check(clicked, CLICKED_MAGIC);
    prefix = arena_printf(arena, "%s%s", words_fold(bytes_of(beginning), arena),
                          beginning[size - 1] == ' ' ? " " : "");
    size = strlen(prefix);
    if (!size || *prefix == ' ')
        return 0;
    pthread_mutex_lock(&clicked->lock);
    for (size_t i = find_line(&clicked->table, prefix); i < clicked->table.line_count; i++) {
        const struct line *line = &clicked->table.lines[i];
        size_t place;

        if (strncmp(line->text, prefix, size) != 0)
            break;
        place = place_of(best, count, line);
        if (place == CLICKED_LINE_COUNT)
            continue;
        memmove(best + place + 1, best + place, (count - place) * sizeof(*best));
        best[place] = line;
        count += count < CLICKED_LINE_COUNT;
    }
    for (size_t i = 0; i < count; i++)
        lines[i] = arena_strdup(arena, best[i]->text);
    pthread_mutex_unlock(&clicked->lock);
    return count;
}

/* --- life --- */

static void watch(struct task *task, void *arg)
{
    static struct log_pace pace;
    struct err err;

    do {
        task_says(task, "learning from clicks");
        if (clicked_refresh(arg, &err) && log_pace_is_due(&pace, &err))
            log_warn("what was clicked cannot be read; what is known stays",
                     LOG_TEXT("error", err.text));
    } while (task_pause(task, (int64_t)CLICKED_REFRESH_S * SECOND_US));
}

int clicked_open(struct store *store, const struct clock *clock, bool must_watch,
                 struct clicked **clicked, struct err *err)
{
    struct clicked *made = mem_zero(sizeof(*made));
    const struct task_options task = {.name = "clicked", .run = watch, .arg = made, .clock = clock};
    int rc = 0;

    object_begin(made, CLICKED_MAGIC);
    *clicked = NULL;
    made->store = store;
    made->clock = clock;
    made->table.arena = arena_new();
    pthread_mutex_init(&made->lock, NULL);
    if (must_watch)
        rc = task_start(&made->task, &task, err);
    if (rc)
        clicked_close(made);
    else
        *clicked = made;
    return rc;
}

void clicked_close(struct clicked *clicked)
{
    if (!clicked)
        return;
    object_check(clicked, CLICKED_MAGIC);
    task_stop(&clicked->task);
    table_release(&clicked->table);
    pthread_mutex_destroy(&clicked->lock);
    object_end(clicked, CLICKED_MAGIC);
    free(clicked);
}
