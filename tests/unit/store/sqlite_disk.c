/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_disk.c - the file layer, through SQLite itself: what a store cannot be brought to show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/sqlite_disk.h"

static int open_database(const char *path, sqlite3 **db)
{
    return sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, sqlite_disk(NULL));
}

/* So many descriptors can be opened and no more. */
static void leave_descriptors(const struct rlimit *usual, unsigned count)
{
    int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct rlimit few = *usual;

    assert_true(lowest >= 0);
    close(lowest);
    few.rlim_cur = (rlim_t)lowest + count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

/* Or the last of those that have the map would drop the locks of those that have none. */
static void without_a_descriptor_for_the_map_nothing_is_opened(void **state)
{
    char directory[] = P_tmpdir "/torg-unit-XXXXXX";
    char path[sizeof(directory) + 8];
    struct rlimit usual;
    sqlite3 *db;
    int rc;

    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/db", directory);
    assert_int_equal(open_database(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    leave_descriptors(&usual, 1); /* the database's own */
    rc = open_database(path, &db);
    setrlimit(RLIMIT_NOFILE, &usual);
    assert_int_equal(rc, SQLITE_CANTOPEN);
    sqlite3_close(db);

    assert_int_equal(open_database(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (id)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_descriptor_for_the_map_nothing_is_opened),
    };

    return cmocka_run_group_tests_name("sqlite_disk", tests, NULL, NULL);
}
