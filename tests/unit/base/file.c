/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/file.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "test_dir.h"

static char dir[TEST_DIR_SIZE];
static char path[TEST_DIR_SIZE + 64];

static int begin(void **state)
{
    (void)state;
    return test_dir_make(dir) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return dir_remove(dir, NULL);
}

static const char *in_dir(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static size_t count_entries(void)
{
    DIR *stream = opendir(dir);
    struct dirent *entry;
    size_t count = 0;

    for (entry = readdir(stream); entry; entry = readdir(stream))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

static void what_is_written_is_read(void **state)
{
    struct buf large = BUF_INIT(200 * 1000);
    struct buf out = BUF_INIT(200 * 1000);
    struct err err;

    (void)state;
    assert_int_equal(file_read(in_dir("none"), &out, &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "none"));
    assert_int_equal(file_write(in_dir("f"), bytes_make("a\0b", 3), &err), 0);
    assert_int_equal(file_read(path, &out, &err), 0);
    assert_true(bytes_equal(buf_bytes(&out), bytes_make("a\0b", 3)));
    memset(buf_reserve(&large, 200 * 1000), 'x', 200 * 1000);
    buf_advance(&large, 200 * 1000);
    assert_int_equal(file_write(path, buf_bytes(&large), &err), 0); /* replaces it */
    buf_reset(&out);
    assert_int_equal(file_read(path, &out, &err), 0);
    assert_true(bytes_equal(buf_bytes(&out), buf_bytes(&large)));
    assert_int_equal(file_write(path, BYTES_EMPTY, &err), 0);
    buf_reset(&out);
    assert_int_equal(file_read(path, &out, &err), 0);
    assert_int_equal(out.size, 0);
    assert_int_equal(count_entries(), 1); /* no temporary stays */
    buf_release(&large);
    buf_release(&out);
}

static void a_file_over_the_limit_is_refused(void **state)
{
    struct buf exact = BUF_INIT(10);
    struct buf small = BUF_INIT(9);
    struct err err;

    (void)state;
    assert_int_equal(file_write(in_dir("f"), bytes_of("0123456789"), &err), 0);
    assert_int_equal(file_read(path, &exact, &err), 0);
    assert_int_equal(file_read(path, &small, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, path));
    buf_release(&exact);
    buf_release(&small);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    char below[sizeof(path) + 8];
    struct err err;

    (void)state;
    assert_int_equal(file_write(in_dir("f"), bytes_of("old"), &err), 0);
    snprintf(below, sizeof(below), "%s/x", path); /* its parent is a file */
    assert_true(file_write(below, bytes_of("new"), &err) < 0);
    snprintf(below, sizeof(below), "%s", in_dir("d"));
    assert_int_equal(dir_create(below, &err), 0);
    assert_true(file_write(below, bytes_of("new"), &err) < 0); /* a directory is in the way */
    assert_int_equal(count_entries(), 2);
}

enum { WRITERS = 4, WRITES = 25, WRITE_SIZE = 30000 };

static void *write_often(void *arg)
{
    char *content = mem_alloc(WRITE_SIZE);
    int i;

    memset(content, *(char *)arg, WRITE_SIZE);
    for (i = 0; i < WRITES; i++) {
        if (file_write(path, bytes_make(content, WRITE_SIZE), NULL))
            *(char *)arg = 0;
    }
    free(content);
    return NULL;
}

static void writers_of_one_path_do_not_mix(void **state)
{
    char letters[WRITERS] = "abcd";
    pthread_t threads[WRITERS];
    struct buf out = BUF_INIT(WRITE_SIZE);
    struct err err;
    size_t i;
    int round;

    (void)state;
    assert_int_equal(file_write(in_dir("f"), BYTES_EMPTY, &err), 0);
    for (i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, &letters[i]), 0);
    for (round = 0; round < 100; round++) {
        buf_reset(&out);
        assert_int_equal(file_read(path, &out, &err), 0);
        assert_true(out.size == 0 || out.size == WRITE_SIZE);
        for (i = 1; i < out.size; i++)
            assert_int_equal(out.data[i], out.data[0]);
    }
    for (i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_not_equal(letters[i], 0);
    }
    buf_release(&out);
}

static void directories_come_with_their_parents(void **state)
{
    char deep[sizeof(path)];
    struct stat info;
    struct err err;

    (void)state;
    snprintf(deep, sizeof(deep), "%s", in_dir("a/b/c"));
    assert_int_equal(dir_create(deep, &err), 0);
    assert_int_equal(dir_create(deep, &err), 0);
    assert_int_equal(stat(deep, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(file_write(in_dir("a/b/file"), bytes_of("x"), &err), 0);
    assert_int_equal(dir_sync(in_dir("a/b"), &err), 0);
    assert_int_equal(dir_sync(in_dir("none"), &err), ERR_NOT_FOUND);
    assert_true(dir_create(in_dir("a/b/file/d"), &err) < 0);
    assert_int_equal(dir_remove(in_dir("a"), &err), 0);
    assert_int_equal(dir_remove(in_dir("a"), &err), 0);
    assert_int_equal(count_entries(), 0);
}

static void removal_does_not_follow_links(void **state)
{
    char target[sizeof(path)];
    struct stat info;
    struct err err;

    (void)state;
    assert_int_equal(dir_create(in_dir("kept"), &err), 0);
    assert_int_equal(file_write(in_dir("kept/file"), bytes_of("x"), &err), 0);
    assert_int_equal(dir_create(in_dir("gone"), &err), 0);
    snprintf(target, sizeof(target), "%s", in_dir("kept"));
    assert_int_equal(symlink(target, in_dir("gone/link")), 0);
    assert_int_equal(dir_remove(in_dir("gone"), &err), 0);
    assert_int_equal(stat(in_dir("kept/file"), &info), 0);
}

static void a_lock_has_one_holder(void **state)
{
    struct err err;
    char pid[32];
    int first;
    int second;
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(file_lock(in_dir("lock"), &first, &err), 0);
    assert_int_equal(file_lock(path, &second, &err), ERR_EXISTS);
    assert_int_equal(second, -1);
    snprintf(pid, sizeof(pid), "process %d", (int)getpid());
    assert_non_null(strstr(err.text, pid));
    file_unlock(first);
    file_unlock(-1);
    child = fork(); /* a holder that is killed holds nothing */
    if (child == 0) {
        (void)!file_lock(path, &first, &err);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(file_lock(path, &first, &err), 0);
    file_unlock(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, begin, end),
        cmocka_unit_test_setup_teardown(a_file_over_the_limit_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_write_leaves_the_old_file, begin, end),
        cmocka_unit_test_setup_teardown(writers_of_one_path_do_not_mix, begin, end),
        cmocka_unit_test_setup_teardown(directories_come_with_their_parents, begin, end),
        cmocka_unit_test_setup_teardown(removal_does_not_follow_links, begin, end),
        cmocka_unit_test_setup_teardown(a_lock_has_one_holder, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
