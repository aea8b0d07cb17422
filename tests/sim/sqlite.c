/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c - SQLite itself on the simulated disk, which it is made to survive: in WAL mode with
 * synchronous=FULL no committed transaction is lost and the file is never corrupt, whenever the
 * power goes. With synchronous=OFF (TORG_SIM_FAULT=sync) it loses both: finds.py sees that.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { WRITER_COUNT = 3, LIFE_COUNT = 6, STEP_COUNT = 60, BUSY_MS = 600000 };

struct promised {
    int64_t committed[WRITER_COUNT], tried[WRITER_COUNT]; /* last number of each writer */
};

static int64_t found[WRITER_COUNT]; /* at the life's start: more than was committed, perhaps */

static struct promised *promised;

static void run(sqlite3 *db, const char *sql)
{
    char *text = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        sim_fail("%s: %s", sql, text ? text : "?");
}

static sqlite3 *open_database(void)
{
    const char *fault = getenv("TORG_SIM_FAULT");
    bool is_off = fault && strcmp(fault, "sync") == 0 && sim_has("sync");
    sqlite3 *db;

    SIM_CHECK(sqlite3_open("disk/db", &db) == SQLITE_OK);
    sqlite3_busy_timeout(db, BUSY_MS);
    run(db, "PRAGMA journal_mode=WAL");
    run(db, is_off ? "PRAGMA synchronous=OFF" : "PRAGMA synchronous=FULL");
    run(db, "PRAGMA wal_autocheckpoint=20");
    return db;
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    int64_t value;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        sim_fail("%s: %s", sql, sqlite3_errmsg(db));
    value = sqlite3_column_int64(statement, 0);
    if (sqlite3_column_type(statement, 0) == SQLITE_TEXT &&
        strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0)
        sim_fail("%s: %s", sql, sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return value;
}

static void *write_rows(void *arg)
{
    unsigned writer = (unsigned)(uintptr_t)arg;
    sqlite3 *db = open_database();
    char sql[256];

    for (unsigned i = 0; i < sim_steps(); i++) {
        int64_t number = found[writer] + 1 + i;

        promised->tried[writer] = number;
        snprintf(sql, sizeof(sql),
                 "BEGIN IMMEDIATE; INSERT INTO row VALUES (%u, %lld, randomblob(%u)); "
                 "UPDATE total SET n = n + 1; COMMIT",
                 writer, (long long)number, (unsigned)sim_below(6000));
        run(db, sql);
        promised->committed[writer] = number;
    }
    sqlite3_close(db);
    return NULL;
}

static void check(sqlite3 *db)
{
    char sql[128];
    int64_t sum = 0;

    ask(db, "PRAGMA integrity_check");
    for (unsigned i = 0; i < WRITER_COUNT; i++) {
        int64_t last, count;

        snprintf(sql, sizeof(sql), "SELECT coalesce(max(number), 0) FROM row WHERE writer = %u", i);
        last = ask(db, sql);
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM row WHERE writer = %u", i);
        count = ask(db, sql);
        if (last < promised->committed[i] || last > promised->tried[i] || count != last)
            sim_fail("writer %u has %lld rows up to %lld; %lld were committed, %lld tried", i,
                     (long long)count, (long long)last, (long long)promised->committed[i],
                     (long long)promised->tried[i]);
        /* It is seen, but not promised: who was killed before its sync may yet lose it. */
        found[i] = promised->tried[i] = last;
        sum += last;
    }
    SIM_CHECK(ask(db, "SELECT n FROM total") == sum);
}

static void live(void *shared, unsigned life)
{
    pthread_t writers[WRITER_COUNT];
    sqlite3 *db;

    promised = shared;
    db = open_database();
    run(db, "CREATE TABLE IF NOT EXISTS row (writer, number, bytes, PRIMARY KEY (writer, number))");
    run(db, "CREATE TABLE IF NOT EXISTS total (id INTEGER PRIMARY KEY, n)");
    run(db, "INSERT INTO total VALUES (1, 0) ON CONFLICT DO NOTHING");
    check(db);
    if (life == LIFE_COUNT)
        return;
    sim_end_later(sim_chance(200000) ? SIM_END_KILL : SIM_END_POWER,
                  (int64_t)sim_below(sim_steps() * 20000));
    for (uintptr_t i = 0; i < WRITER_COUNT; i++)
        pthread_create(&writers[i], NULL, write_rows, (void *)i);
    for (uintptr_t i = 0; i < WRITER_COUNT; i++)
        pthread_join(writers[i], NULL);
    sim_end_life(SIM_END_STOP);
}

int main(int argc, char **argv)
{
    static const struct sim_program program = {.name = "sqlite",
                                               .life = live,
                                               .shared_size = sizeof(struct promised),
                                               .step_count = STEP_COUNT,
                                               .life_count_max = LIFE_COUNT + 1};

    return sim_main(argc, argv, &program);
}
