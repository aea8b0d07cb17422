/* SPDX-License-Identifier: Apache-2.0 */
/* lender.c - see lender.h. */
#include "searcher/replica/lender.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "index/columns/outside_column.h"
#include "numerator/column_rows.h"
#include "numerator/passage.h"
#include "searcher/bounds.h"
#include "searcher/replica/follower.h"

enum { PATH_SIZE = 4096 };
#define FILE_ENDING ".column"

/* What the store said; immutable and counted. */
struct table {
    atomic_uint refs;
    struct arena *arena; /* owned; all of it is there */
    struct column_rows rows;
};

enum { LENDER_MAGIC = OBJECT_MAGIC('l', 'e', 'n', 'd') };

struct lender {
    uint32_t magic;
    struct lender_options options; /* dir is owned */
    struct follower *follower;     /* borrowed; NULL before lender_start */
    struct task task;
    struct log_pace pace;
    int64_t mark;          /* of the table; -1: none was read. The task's, once it runs */
    pthread_mutex_t files; /* held while one is fetched, or others are removed */
    pthread_mutex_t lock;
    struct table *table; /* under the lock; never NULL */
};

/* ---- the table ---- */

static struct table *table_new(void)
{
    struct arena *arena = arena_new();
    struct table *table = arena_zero(arena, sizeof(*table));

    table->arena = arena;
    atomic_init(&table->refs, 1);
    return table;
}

static void table_unref(struct table *table)
{
    if (atomic_fetch_sub(&table->refs, 1) == 1)
        arena_free(table->arena);
}

static struct table *table_of(struct lender *lender)
{
    struct table *table;

    pthread_mutex_lock(&lender->lock);
    table = lender->table;
    atomic_fetch_add(&table->refs, 1);
    pthread_mutex_unlock(&lender->lock);
    return table;
}

static int refresh(struct lender *lender, struct err *err)
{
    struct table *table, *old;
    int64_t mark;
    int rc = column_rows_mark(lender->options.store, &mark, err);

    if (rc || mark == lender->mark)
        return rc;
    table = table_new();
    rc = column_rows_read(lender->options.store, 0, table->arena, &table->rows, err);
    if (rc) {
        table_unref(table);
        return rc;
    }
    pthread_mutex_lock(&lender->lock);
    old = lender->table;
    lender->table = table;
    pthread_mutex_unlock(&lender->lock);
    table_unref(old);
    lender->mark = mark; /* what was changed since is seen by the next look */
    return 0;
}

static void look(struct lender *lender)
{
    struct err err = {0};

    if (refresh(lender, &err) && log_pace_is_due(&lender->pace, &err))
        log_warn("which columns from outside there are cannot be read; those known stay",
                 LOG_TEXT("error", err.text));
}

/* ---- files ---- */

static void path_of(const struct lender *lender, const struct column_row *row, uint32_t shard,
                    char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%" PRId64 ".%" PRIu32 FILE_ENDING, lender->options.dir, row->mark,
             shard);
}

static bool is_stopping(void *task)
{
    return task_is_stopping(task);
}

/* Whole, synced and renamed. */
static int fetch(struct lender *lender, const struct column_row *row, uint32_t shard,
                 const char *path, struct err *err)
{
    char name[PATH_SIZE];
    int rc = dir_create(lender->options.dir, err);

    snprintf(name, sizeof(name), "blob:%s/%" PRIu32, row->place, shard);
    return rc ? rc
              : passage_copy(name, lender->options.blob, path, NULL, is_stopping, &lender->task,
                             err);
}

/* It is what the row says. */
static int check_head(const struct outside_head *head, const struct column_row *row, uint32_t shard,
                      struct err *err)
{
    if (head->numbers[0] == row->version.kind && head->numbers[1] == row->version.scheme &&
        head->numbers[2] == row->version.rebuild && head->shard == shard &&
        head->digits == row->digits)
        return 0;
    return err_set(err, ERR_CORRUPT, "%s/%" PRIu32 " is another file than the one that was loaded",
                   row->place, shard);
}

static int open_part(struct lender *lender, const struct column_row *row, uint32_t shard,
                     struct outside_column **values, struct err *err)
{
    char path[PATH_SIZE];
    int rc;

    path_of(lender, row, shard, path);
    pthread_mutex_lock(&lender->files);
    rc = outside_column_open(path, values, err);
    if (rc == ERR_NOT_FOUND && lender->options.blob) {
        rc = fetch(lender, row, shard, path, err);
        rc = rc ? rc : outside_column_open(path, values, err);
    }
    if (!rc)
        rc = check_head(outside_column_head(*values), row, shard, err);
    if (rc == ERR_CORRUPT || rc == ERR_LIMIT || rc == ERR_UNSUPPORTED)
        (void)unlink(path); /* the next round fetches it anew */
    pthread_mutex_unlock(&lender->files);
    if (rc) {
        outside_column_close(*values);
        *values = NULL;
    }
    return rc;
}

/* ---- shards ---- */

struct serving {
    struct lender *lender;
    const struct table *table;
    const char *client;
    const uint32_t *numbers;
    uint32_t shard_no;
};

static bool fits(const struct serving *serving, const struct column_row *row)
{
    return row->version.kind == serving->numbers[0] && row->version.scheme == serving->numbers[1] &&
           row->version.rebuild == serving->numbers[2];
}

/* The row that the shard is to have of the column; else any of its rows. */
static const struct column_row *choose(const struct serving *serving, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (fits(serving, &serving->table->rows.list[i]))
            return &serving->table->rows.list[i];
    return &serving->table->rows.list[first];
}

static const struct shard_lent *find_lent(const struct shard_lent *list, uint32_t count,
                                          const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

/* A name without values, and why. */
static void lend_nothing(struct shard *shard, const struct column_row *row,
                         const struct shard_lent *there, const char *trouble)
{
    struct err err = {0};

    if (there && !there->has_values && strcmp(there->trouble, trouble) == 0)
        return;
    if (shard_lend(shard, row->name, row->digits, 0, NULL, &err))
        log_warn("a column from outside cannot be used", LOG_TEXT("client", row->client),
                 LOG_TEXT("column", row->name), LOG_TEXT("reason", err.text));
    else
        shard_blame_lent(shard, row->name, trouble);
}

static void lend(const struct serving *serving, struct shard *shard, const struct column_row *row,
                 const struct shard_lent *there)
{
    struct outside_column *values = NULL;
    struct err err = {0};
    int rc = open_part(serving->lender, row, serving->shard_no, &values, &err);

    if (!rc)
        rc = shard_lend(shard, row->name, row->digits, row->mark, values, &err);
    if (!rc) {
        log_info("a column from outside is in use", LOG_TEXT("client", row->client),
                 LOG_TEXT("column", row->name), LOG_INT("shard", serving->shard_no),
                 LOG_INT("mark", row->mark));
        return;
    }
    if (!there || strcmp(there->trouble, err.text) != 0)
        log_warn("a column from outside cannot be used; this is tried again",
                 LOG_TEXT("client", row->client), LOG_TEXT("column", row->name),
                 LOG_INT("shard", serving->shard_no), LOG_TEXT("reason", err.text));
    if (!there)
        lend_nothing(shard, row, NULL, err.text);
    else
        shard_blame_lent(shard, row->name, err.text); /* what it had stays */
}

static void serve_column(const struct serving *serving, struct shard *shard, size_t first,
                         size_t count, const struct shard_lent *lent, uint32_t lent_count)
{
    const struct column_row *row = choose(serving, first, count);
    const struct shard_lent *there = find_lent(lent, lent_count, row->name);
    char misfit[SHARD_TROUBLE_SIZE];

    if (!fits(serving, row)) {
        snprintf(misfit, sizeof(misfit),
                 "it was made from the numbers %" PRIu32 ".%" PRIu32 ".%" PRIu32
                 ", and this index has %" PRIu32 ".%" PRIu32 ".%" PRIu32,
                 row->version.kind, row->version.scheme, row->version.rebuild, serving->numbers[0],
                 serving->numbers[1], serving->numbers[2]);
        lend_nothing(shard, row, there, misfit);
    } else if (!there || !there->has_values || there->mark != row->mark) {
        lend(serving, shard, row, there);
    }
}

static void serve_shard(void *arg, struct shard *shard)
{
    const struct serving *serving = arg;
    const struct column_rows *rows = &serving->table->rows;
    struct shard_lent lent[OUTSIDE_COLUMN_COUNT_MAX];
    bool is_wanted[OUTSIDE_COLUMN_COUNT_MAX] = {false};
    uint32_t lent_count = shard_lent(shard, lent);

    for (size_t i = 0; i < rows->count; i++) /* first, as there may be no room before */
        for (uint32_t k = 0; k < lent_count; k++)
            is_wanted[k] |= strcmp(rows->list[i].client, serving->client) == 0 &&
                            strcmp(rows->list[i].name, lent[k].name) == 0;
    for (uint32_t k = 0; k < lent_count; k++)
        if (!is_wanted[k])
            shard_take_back(shard, lent[k].name);
    for (size_t i = 0, count; i < rows->count; i += count) {
        for (count = 1; i + count < rows->count &&
                        strcmp(rows->list[i].client, rows->list[i + count].client) == 0 &&
                        strcmp(rows->list[i].name, rows->list[i + count].name) == 0;
             count++)
            ;
        if (strcmp(rows->list[i].client, serving->client) == 0 &&
            !task_is_stopping(&serving->lender->task))
            serve_column(serving, shard, i, count, lent, lent_count);
    }
}

void lender_serve(struct lender *lender, const char *client, const uint32_t numbers[3],
                  uint32_t shard_no, struct shard *shard)
{
    struct serving serving = {
        .lender = lender, .client = client, .numbers = numbers, .shard_no = shard_no};
    struct table *table;

    if (!lender)
        return;
    object_check(lender, LENDER_MAGIC);
    table = table_of(lender);
    serving.table = table;
    serve_shard(&serving, shard);
    table_unref(table);
}

/* ---- the task ---- */

static void serve_all(struct lender *lender, const struct table *table)
{
    const struct index_view *view = follower_view(lender->follower);

    for (uint32_t i = 0; i < view->client_count; i++)
        for (uint32_t k = 0; k < view->clients[i].epoch_count; k++)
            for (uint32_t s = 0; s < view->clients[i].epochs[k].shard_count; s++) {
                struct replica *replica = view->clients[i].epochs[k].shards[s];
                struct serving serving = {.lender = lender,
                                          .table = table,
                                          .client = view->clients[i].name,
                                          .shard_no = s};

                if (!replica || task_is_stopping(&lender->task))
                    continue;
                serving.numbers = replica_numbers(replica);
                replica_each_shard(replica, serve_shard, &serving);
            }
    view_release(view);
}

/* Files that no row has, and drafts of a fetch that was killed. Who has one mapped keeps it until
 * it is given back. */
static void sweep_files(struct lender *lender, const struct table *table)
{
    const struct dirent *entry;
    DIR *entries;

    pthread_mutex_lock(&lender->files); /* the drafts are nobody's */
    entries = opendir(lender->options.dir);
    for (entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        bool is_used = entry->d_name[0] == '.';
        char path[PATH_SIZE], own[64];

        for (size_t i = 0; i < table->rows.count && !is_used; i++) {
            int size = snprintf(own, sizeof(own), "%" PRId64 ".", table->rows.list[i].mark);
            size_t length = strlen(entry->d_name);

            is_used = strncmp(entry->d_name, own, (size_t)size) == 0 &&
                      length > strlen(FILE_ENDING) &&
                      strcmp(entry->d_name + length - strlen(FILE_ENDING), FILE_ENDING) == 0;
        }
        if (is_used)
            continue;
        snprintf(path, sizeof(path), "%s/%s", lender->options.dir, entry->d_name);
        (void)unlink(path); /* tried again in the next round */
    }
    if (entries)
        closedir(entries);
    pthread_mutex_unlock(&lender->files);
}

static void keep(struct task *task, void *arg)
{
    struct lender *lender = arg;

    object_check(lender, LENDER_MAGIC);
    do {
        struct table *table;

        task_says(task, "looking for columns from outside");
        look(lender);
        table = table_of(lender);
        serve_all(lender, table);
        if (lender->mark >= 0) /* it is known which there are */
            sweep_files(lender, table);
        table_unref(table);
    } while (task_pause(task, (int64_t)SEARCHER_LENDER_MS * MS_US));
}

/* ---- life ---- */

struct lender *lender_new(const struct lender_options *options)
{
    struct lender *lender = mem_zero(sizeof(*lender));

    object_begin(lender, LENDER_MAGIC);
    lender->options = *options;
    lender->options.dir = mem_strdup(options->dir);
    lender->mark = -1;
    pthread_mutex_init(&lender->lock, NULL);
    pthread_mutex_init(&lender->files, NULL);
    lender->table = table_new();
    look(lender);
    return lender;
}

void lender_start(struct lender *lender, struct follower *follower)
{
    const struct task_options task = {
        .name = "columns", .run = keep, .arg = lender, .clock = lender->options.clock};

    object_check(lender, LENDER_MAGIC);
    lender->follower = follower;
    if (task_start(&lender->task, &task, NULL))
        abort(); /* as without memory */
}

void lender_stop(struct lender *lender)
{
    if (!lender)
        return;
    object_check(lender, LENDER_MAGIC);
    task_stop(&lender->task);
}

void lender_free(struct lender *lender)
{
    if (!lender)
        return;
    lender_stop(lender);
    table_unref(lender->table);
    pthread_mutex_destroy(&lender->lock);
    pthread_mutex_destroy(&lender->files);
    free((char *)lender->options.dir);
    object_end(lender, LENDER_MAGIC);
    free(lender);
}
