/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of blob/blob.h, on every backend; and crashes and faults of the directory. */
#include "contract/cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "blob/backend.h"
#include "blob/blob.h"
#include "blob/bounds.h"
#include "blob/fault.h"
#include "patience.h"
#include "test_dir.h"

struct place {
    char url[TEST_DIR_SIZE + 16];
    char dir[TEST_DIR_SIZE];
    struct blob *blob;
};

static void begin(struct place *place, const char *scheme)
{
    struct err err = {0};

    *place = (struct place){.blob = NULL};
    if (strstr(scheme, "dir")) {
        assert_true(test_dir_make(place->dir));
    }
    snprintf(place->url, sizeof(place->url), "%s:%s", scheme, place->dir);
    if (blob_open(place->url, &place->blob, &err))
        fail_msg("%s", err.text);
}

static void end(struct place *place)
{
    blob_fault_clear();
    blob_close(place->blob);
    if (place->dir[0])
        assert_int_equal(dir_remove(place->dir, NULL), 0);
}

static void put(struct blob *blob, const char *name, const char *text)
{
    struct err err = {0};

    if (blob_put(blob, name, bytes_of(text), &err))
        fail_msg("%s", err.text);
}

static void assert_content(struct blob *blob, const char *name, const char *text)
{
    struct buf out = BUF_INIT(1 << 20);
    struct err err = {0};

    if (blob_get(blob, name, &out, &err))
        fail_msg("%s", err.text);
    assert_string_equal(buf_text(&out), text);
    buf_release(&out);
}

static void assert_absent(struct blob *blob, const char *name)
{
    struct buf out = BUF_INIT(1 << 20);
    struct err err;

    assert_int_equal(blob_get(blob, name, &out, &err), ERR_NOT_FOUND);
    assert_int_equal(out.size, 0);
    buf_release(&out);
}

/* All names that begin with prefix, page by page, "a b c". */
static void assert_names(struct blob *blob, const char *prefix, size_t limit, const char *wanted)
{
    struct buf names = BUF_INIT(1 << 20);
    char after[BLOB_NAME_SIZE_MAX + 1] = "";
    struct blob_page page = {.more = true};
    struct arena *arena = arena_new();
    struct err err;
    size_t i;

    while (page.more) {
        assert_int_equal(blob_list(blob, prefix, after, limit, arena, &page, &err), 0);
        assert_true(page.count <= limit);
        for (i = 0; i < page.count; i++)
            buf_printf(&names, "%s%s", names.size ? " " : "", page.entries[i].name);
        if (page.more)
            snprintf(after, sizeof(after), "%s", page.entries[page.count - 1].name);
    }
    assert_string_equal(buf_text(&names), wanted);
    buf_release(&names);
    arena_free(arena);
}

static void what_is_put_is_there(void **state)
{
    struct place place;
    struct err err;
    uint64_t size;

    begin(&place, *state);
    assert_absent(place.blob, "a/b/c");
    put(place.blob, "a/b/c", "bicycle");
    assert_content(place.blob, "a/b/c", "bicycle");
    assert_int_equal(blob_stat(place.blob, "a/b/c", &size, &err), 0);
    assert_int_equal(size, 7);
    put(place.blob, "a/b/c", "a much longer bicycle");
    assert_content(place.blob, "a/b/c", "a much longer bicycle");
    put(place.blob, "a/b/c", "");
    assert_content(place.blob, "a/b/c", "");
    assert_int_equal(blob_stat(place.blob, "a/b", &size, &err), ERR_NOT_FOUND);
    put(place.blob, "a/b", "beside its folder");
    put(place.blob, "a/b/c/d", "below a blob");
    assert_content(place.blob, "a/b", "beside its folder");
    assert_content(place.blob, "a/b/c/d", "below a blob");
    assert_content(place.blob, "a/b/c", "");
    end(&place);
}

static void ranges(void **state)
{
    static const struct {
        uint64_t offset, size;
        const char *wanted;
    } cases[] = {
        {0, 3, "012"}, {7, 100, "789"}, {7, UINT64_MAX, "789"},
        {10, 5, ""},   {3, 0, ""},      {0, 10, "0123456789"},
    };
    struct buf out = BUF_INIT(64);
    struct buf small = BUF_INIT(4);
    struct place place;
    struct err err;
    size_t i;

    begin(&place, *state);
    put(place.blob, "digits", "0123456789");
    for (i = 0; i < ARRAY_COUNT(cases); i++) {
        buf_reset(&out);
        assert_int_equal(
            blob_range(place.blob, "digits", cases[i].offset, cases[i].size, &out, &err), 0);
        assert_string_equal(buf_text(&out), cases[i].wanted);
    }
    assert_int_equal(blob_range(place.blob, "digits", 11, 1, &out, &err), ERR_RANGE);
    assert_int_equal(blob_range(place.blob, "digits", UINT64_MAX, 1, &out, &err), ERR_RANGE);
    assert_int_equal(blob_range(place.blob, "none", 0, 1, &out, &err), ERR_NOT_FOUND);
    assert_int_equal(blob_range(place.blob, "digits", 2, 4, &small, &err), 0);
    assert_int_equal(blob_get(place.blob, "digits", &small, &err), ERR_LIMIT);
    buf_release(&out);
    buf_release(&small);
    end(&place);
}

static void bad_names_are_refused(void **state)
{
    static const char *const names[] = {
        "",   "/",       "/a",   "a/",  "a//b",     "..",    "../a",  "a/../b",
        ".",  ".hidden", "a/.b", "a b", "a\n",      "a\x01", "a\x7f", "a\\b",
        "a~", "~",       "a:b",  "a*",  "\xd0\xb0", "a/b\t", "a/./b",
    };
    char longest[BLOB_NAME_SIZE_MAX + 2];
    struct place place;
    struct err err;
    uint64_t size;
    size_t i;

    begin(&place, *state);
    for (i = 0; i < ARRAY_COUNT(names); i++) {
        assert_int_equal(blob_put(place.blob, names[i], bytes_of("x"), &err), ERR_INVALID);
        assert_int_equal(blob_stat(place.blob, names[i], &size, &err), ERR_INVALID);
        assert_int_equal(blob_delete(place.blob, names[i], &err), ERR_INVALID);
        assert_non_null(strstr(err.text, "A-Z"));
    }
    for (i = 0; i < sizeof(longest); i++)
        longest[i] = i % 100 == 99 ? '/' : 'n';
    longest[BLOB_NAME_SIZE_MAX + 1] = 0;
    assert_int_equal(blob_put(place.blob, longest, bytes_of("x"), &err), ERR_INVALID);
    longest[BLOB_NAME_SIZE_MAX] = 0;
    put(place.blob, longest, "x");
    assert_names(place.blob, "", 10, longest);
    memset(longest, 'p', BLOB_PART_SIZE_MAX + 1);
    longest[BLOB_PART_SIZE_MAX + 1] = 0;
    assert_int_equal(blob_put(place.blob, longest, bytes_of("x"), &err), ERR_INVALID);
    longest[BLOB_PART_SIZE_MAX] = 0;
    put(place.blob, longest, "x");
    put(place.blob, "A-Z/a.z_0=9+@%,", "x");
    assert_content(place.blob, "A-Z/a.z_0=9+@%,", "x");
    end(&place);
}

static void deleting_twice_is_fine(void **state)
{
    struct place place;
    struct err err;

    begin(&place, *state);
    put(place.blob, "x/y/z", "1");
    put(place.blob, "x/w", "2");
    assert_int_equal(blob_delete(place.blob, "x/y/z", &err), 0);
    assert_int_equal(blob_delete(place.blob, "x/y/z", &err), 0);
    assert_int_equal(blob_delete(place.blob, "never/was", &err), 0);
    assert_absent(place.blob, "x/y/z");
    assert_content(place.blob, "x/w", "2");
    put(place.blob, "x/y/z", "again");
    assert_content(place.blob, "x/y/z", "again");
    end(&place);
}

static void lists_are_in_order_and_paged(void **state)
{
    static const char *const names[] = {"a",     "a-b",   "a/b",     "a/b/c", "a/c", "a=d",
                                        "b/x/1", "b/x/2", "b/x.old", "c",     "zz"};
    static const char all[] = "a a-b a/b a/b/c a/c a=d b/x.old b/x/1 b/x/2 c zz";
    struct arena *arena = arena_new();
    struct blob_page page;
    struct place place;
    struct err err;
    size_t i;

    begin(&place, *state);
    assert_names(place.blob, "", 5, "");
    for (i = 0; i < ARRAY_COUNT(names); i++)
        put(place.blob, names[(i * 7) % ARRAY_COUNT(names)], "1234");
    for (i = 1; i < 13; i++)
        assert_names(place.blob, "", i, all);
    assert_names(place.blob, "a", 2, "a a-b a/b a/b/c a/c a=d");
    assert_names(place.blob, "a/", 2, "a/b a/b/c a/c");
    assert_names(place.blob, "b/x", 2, "b/x.old b/x/1 b/x/2");
    assert_names(place.blob, "b/x/", 1, "b/x/1 b/x/2");
    assert_names(place.blob, "d", 1, "");
    assert_int_equal(blob_list(place.blob, "", "a/b", 2, arena, &page, &err), 0);
    assert_int_equal(page.count, 2);
    assert_string_equal(page.entries[0].name, "a/b/c");
    assert_int_equal(page.entries[0].size, 4);
    assert_true(page.more);
    assert_int_equal(blob_list(place.blob, "", "", 0, arena, &page, &err), ERR_INVALID);
    assert_int_equal(blob_list(place.blob, "", "", BLOB_LIST_COUNT_MAX + 1, arena, &page, &err),
                     ERR_INVALID);
    arena_free(arena);
    end(&place);
}

static void pieces_appear_with_the_commit(void **state)
{
    struct blob_writer *other;
    struct blob_writer *writer;
    struct place place;
    struct err err;

    begin(&place, *state);
    put(place.blob, "log", "old");
    assert_int_equal(blob_begin(place.blob, "log", &writer, &err), 0);
    assert_int_equal(blob_append(writer, bytes_of("new "), &err), 0);
    assert_int_equal(blob_append(writer, BYTES_EMPTY, &err), 0);
    assert_content(place.blob, "log", "old");
    assert_names(place.blob, "", 10, "log");
    assert_int_equal(blob_begin(place.blob, "log", &other, &err), 0);
    assert_int_equal(blob_append(other, bytes_of("never"), &err), 0);
    assert_int_equal(blob_append(writer, bytes_of("pieces"), &err), 0);
    assert_int_equal(blob_commit(writer, &err), 0);
    assert_content(place.blob, "log", "new pieces");
    blob_abort(other);
    blob_abort(NULL);
    assert_content(place.blob, "log", "new pieces");
    assert_int_equal(blob_begin(place.blob, "fresh/one", &writer, &err), 0);
    assert_int_equal(blob_append(writer, bytes_of("x"), &err), 0);
    blob_abort(writer);
    assert_absent(place.blob, "fresh/one");
    assert_names(place.blob, "", 10, "log");
    end(&place);
}

static void a_blob_has_a_limit(void **state)
{
    size_t piece = BLOB_WHOLE_SIZE_MAX;
    void *zeros = mmap(NULL, piece + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct place place;
    struct err err;

    assert_true(zeros != MAP_FAILED);
    begin(&place, *state);
    assert_int_equal(blob_put(place.blob, "big", bytes_make(zeros, piece + 1), &err), ERR_LIMIT);
    assert_absent(place.blob, "big");
    munmap(zeros, piece + 1);
    end(&place);
}

/* Counted by the writer: as if so much had been appended before. */
static void what_is_streamed_has_a_limit_of_its_own(void **state)
{
    struct blob_writer *writer;
    struct place place;
    struct err err = {0};

    begin(&place, *state);
    assert_int_equal(blob_begin(place.blob, "big", &writer, &err), 0);
    assert_int_equal(blob_append(writer, bytes_of("begin"), &err), 0);
    writer->size = UINT64_C(5) << 30; /* a state of 50 million keys */
    assert_int_equal(blob_append(writer, bytes_of("more"), &err), 0);
    writer->size = BLOB_SIZE_MAX - 4;
    assert_int_equal(blob_append(writer, bytes_of("last"), &err), 0);
    assert_int_equal(blob_append(writer, bytes_of("1"), &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "68719476736 bytes"));
    blob_abort(writer);
    assert_absent(place.blob, "big");
    end(&place);
}

/* --- a naive map beside it --- */

enum { MODEL_NAMES = 24, MODEL_STEPS = 600, MODEL_SIZE = 300 };

struct model {
    char names[MODEL_NAMES][32];
    uint8_t data[MODEL_NAMES][MODEL_SIZE];
    int sizes[MODEL_NAMES]; /* -1: not there */
};

static void model_check(struct blob *blob, const struct model *model, int i, struct rng *rng)
{
    struct buf out = BUF_INIT(MODEL_SIZE);
    uint64_t offset = rng_below(rng, MODEL_SIZE + 10);
    uint64_t size = rng_below(rng, MODEL_SIZE);
    struct err err;
    int rc = blob_range(blob, model->names[i], offset, size, &out, &err);

    if (model->sizes[i] < 0) {
        assert_int_equal(rc, ERR_NOT_FOUND);
    } else if (offset > (uint64_t)model->sizes[i]) {
        assert_int_equal(rc, ERR_RANGE);
    } else {
        uint64_t left = (uint64_t)model->sizes[i] - offset;

        assert_int_equal(rc, 0);
        assert_true(bytes_equal(buf_bytes(&out),
                                bytes_make(model->data[i] + offset, size < left ? size : left)));
    }
    buf_release(&out);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void model_check_list(struct blob *blob, const struct model *model, struct rng *rng)
{
    static const char *const prefixes[] = {"", "n", "d/", "d/n1", "d/e/", "x"};
    const char *prefix = prefixes[rng_below(rng, ARRAY_COUNT(prefixes))];
    struct buf wanted = BUF_INIT(1 << 16);
    const char *sorted[MODEL_NAMES];
    size_t count = 0;
    size_t i;

    for (i = 0; i < MODEL_NAMES; i++) {
        if (model->sizes[i] >= 0 && strncmp(model->names[i], prefix, strlen(prefix)) == 0)
            sorted[count++] = model->names[i];
    }
    if (count)
        qsort(sorted, count, sizeof(sorted[0]), by_text);
    for (i = 0; i < count; i++)
        buf_printf(&wanted, "%s%s", i ? " " : "", sorted[i]);
    assert_names(blob, prefix, 1 + rng_below(rng, MODEL_NAMES + 2), buf_text(&wanted));
    buf_release(&wanted);
}

static void model_put(struct blob *blob, struct model *model, int i, struct rng *rng)
{
    struct blob_writer *writer;
    struct err err;
    int size = (int)rng_below(rng, MODEL_SIZE);
    int at = 0;
    int j;

    for (j = 0; j < size; j++)
        model->data[i][j] = (uint8_t)rng_next(rng);
    model->sizes[i] = size;
    assert_int_equal(blob_begin(blob, model->names[i], &writer, &err), 0);
    while (at < size) {
        int step = 1 + (int)rng_below(rng, (uint64_t)(size - at));

        assert_int_equal(blob_append(writer, bytes_make(model->data[i] + at, (size_t)step), &err),
                         0);
        at += step;
    }
    assert_int_equal(blob_commit(writer, &err), 0);
}

static void random_calls_agree_with_a_map(void **state)
{
    static const char *const folders[] = {"", "d/", "d/e/", "n1/"};
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 10) : random_u64();
    struct rng rng = rng_seeded(seed);
    struct model *model = mem_zero(sizeof(*model));
    struct place place;
    struct err err;
    int step;
    int i;

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    begin(&place, *state);
    for (i = 0; i < MODEL_NAMES; i++) {
        snprintf(model->names[i], sizeof(model->names[i]), "%sn%d", folders[i % 4], i / 4);
        model->sizes[i] = -1;
    }
    for (step = 0; step < MODEL_STEPS; step++) {
        i = (int)rng_below(&rng, MODEL_NAMES);
        switch (rng_below(&rng, 6)) {
        case 0:
        case 1:
            model_put(place.blob, model, i, &rng);
            break;
        case 2:
            assert_int_equal(blob_delete(place.blob, model->names[i], &err), 0);
            model->sizes[i] = -1;
            break;
        case 3:
            model_check_list(place.blob, model, &rng);
            break;
        default:
            model_check(place.blob, model, i, &rng);
        }
    }
    free(model);
    end(&place);
}

/* --- readers and writers together --- */

enum { CROWD = 4, CROWD_PUTS = 40, CROWD_SIZE = 20000 };

struct crowd {
    struct blob *blob;
    int number;
    _Atomic int *writing;
    _Atomic int torn;
};

static void *crowd_write(void *arg)
{
    struct crowd *crowd = arg;
    char *content = mem_alloc(CROWD_SIZE);
    struct err err;
    int i;

    for (i = 0; i < CROWD_PUTS; i++) {
        size_t size = CROWD_SIZE - (size_t)i;

        memset(content, 'a' + crowd->number, size);
        if (blob_put(crowd->blob, "same/name", bytes_make(content, size), &err))
            atomic_store(&crowd->torn, 2);
        if (i % 5 == 0 && blob_delete(crowd->blob, "same/name", &err))
            atomic_store(&crowd->torn, 3);
    }
    atomic_fetch_sub(crowd->writing, 1);
    free(content);
    return NULL;
}

static void *crowd_read(void *arg)
{
    struct crowd *crowd = arg;
    struct buf out = BUF_INIT(CROWD_SIZE);
    struct err err;
    size_t i;

    while (atomic_load(crowd->writing)) {
        int rc;

        buf_reset(&out);
        rc = blob_get(crowd->blob, "same/name", &out, &err);
        if (rc && rc != ERR_NOT_FOUND)
            atomic_store(&crowd->torn, 4);
        for (i = 1; !rc && i < out.size; i++) {
            if (out.data[i] != out.data[0])
                atomic_store(&crowd->torn, 5);
        }
        if (!rc && out.size <= CROWD_SIZE - CROWD_PUTS)
            atomic_store(&crowd->torn, 6);
    }
    buf_release(&out);
    return NULL;
}

static void readers_see_whole_blobs_only(void **state)
{
    struct crowd crowds[2 * CROWD];
    pthread_t threads[2 * CROWD];
    _Atomic int writing = CROWD;
    struct place place;
    int i;

    begin(&place, *state);
    for (i = 0; i < 2 * CROWD; i++) {
        crowds[i] = (struct crowd){.blob = place.blob, .number = i, .writing = &writing};
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < CROWD ? crowd_write : crowd_read, &crowds[i]), 0);
    }
    for (i = 0; i < 2 * CROWD; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&crowds[i].torn), 0);
    }
    end(&place);
}

/* --- faults --- */

static size_t count_leftovers(const char *dir)
{
    char path[TEST_DIR_SIZE + 32];
    struct dirent *entry;
    size_t count = 0;
    DIR *stream;

    snprintf(path, sizeof(path), "%s/.writing", dir);
    stream = opendir(path);
    assert_non_null(stream);
    for (entry = readdir(stream); entry; entry = readdir(stream))
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static void a_failed_put_changes_nothing(void **state)
{
    static const enum blob_fault any[] = {BLOB_FAULT_APPEND, BLOB_FAULT_COMMIT};
    static const enum blob_fault disk[] = {BLOB_FAULT_DISK_WRITE, BLOB_FAULT_DISK_SHORT_WRITE,
                                           BLOB_FAULT_DISK_SYNC, BLOB_FAULT_DISK_RENAME};
    bool on_disk = strstr(*state, "dir") != NULL;
    size_t count = ARRAY_COUNT(any) + (on_disk ? ARRAY_COUNT(disk) : 0);
    struct place place;
    struct err err;
    size_t i;

    begin(&place, *state);
    put(place.blob, "kept", "the older one");
    for (i = 0; i < count; i++) {
        enum blob_fault fault = i < ARRAY_COUNT(any) ? any[i] : disk[i - ARRAY_COUNT(any)];

        blob_fault_next(fault, 0, 2);
        assert_int_equal(blob_put(place.blob, "kept", bytes_of("a newer one"), &err),
                         ERR_UNAVAILABLE);
        assert_int_equal(blob_put(place.blob, "new/one", bytes_of("12345678"), &err),
                         ERR_UNAVAILABLE);
        assert_content(place.blob, "kept", "the older one");
        assert_absent(place.blob, "new/one");
        assert_names(place.blob, "", 10, "kept");
        if (on_disk)
            assert_int_equal(count_leftovers(place.dir), 0);
    }
    blob_fault_next(BLOB_FAULT_DISK_SYNC, 1, 1); /* the folder's: not acknowledged, but whole */
    if (on_disk) {
        assert_int_equal(blob_put(place.blob, "kept", bytes_of("a newer one"), &err),
                         ERR_UNAVAILABLE);
        assert_content(place.blob, "kept", "a newer one");
    }
    blob_fault_clear();
    put(place.blob, "kept", "works again");
    assert_content(place.blob, "kept", "works again");
    blob_fault_next(BLOB_FAULT_DELETE, 0, 1);
    assert_int_equal(blob_delete(place.blob, "kept", &err), ERR_UNAVAILABLE);
    assert_content(place.blob, "kept", "works again");
    end(&place);
}

/* --- the directory --- */

static void old_leftovers_are_removed(void **state)
{
    struct timespec old[2] = {{.tv_sec = time(NULL) - 2 * BLOB_LEFTOVER_AGE_S},
                              {.tv_sec = time(NULL) - 2 * BLOB_LEFTOVER_AGE_S}};
    char path[TEST_DIR_SIZE + 32];
    struct place place;
    struct err err;

    (void)state;
    begin(&place, "dir");
    blob_close(place.blob);
    snprintf(path, sizeof(path), "%s/.writing/young", place.dir);
    assert_int_equal(file_write(path, bytes_of("1"), &err), 0);
    snprintf(path, sizeof(path), "%s/.writing/old", place.dir);
    assert_int_equal(file_write(path, bytes_of("1"), &err), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_int_equal(count_leftovers(place.dir), 2);
    assert_int_equal(blob_open(place.url, &place.blob, &err), 0);
    assert_int_equal(count_leftovers(place.dir), 1);
    assert_names(place.blob, "", 10, "");
    end(&place);
}

static void empty_folders_go(void **state)
{
    char path[TEST_DIR_SIZE + 32];
    struct place place;
    struct stat info;
    struct err err;

    (void)state;
    begin(&place, "dir");
    put(place.blob, "2026/11/15/log", "x");
    put(place.blob, "2026/12", "x");
    assert_int_equal(blob_delete(place.blob, "2026/11/15/log", &err), 0);
    snprintf(path, sizeof(path), "%s/2026/11", place.dir);
    assert_int_equal(stat(path, &info), -1);
    assert_content(place.blob, "2026/12", "x");
    end(&place);
}

enum { KILLS = 50, KILL_NAMES = 16, KILL_SIZE = 100 * 1000, BEGIN_MS = PATIENCE_MS };

struct killed {
    _Atomic uint32_t acknowledged[KILL_NAMES]; /* the last number put, and begun */
    _Atomic uint32_t begun[KILL_NAMES];
};

/* Content of a number: its size and every byte follow from it. */
static size_t fill(uint8_t *content, uint32_t number)
{
    struct rng rng = rng_seeded(number);
    size_t size = 1000 + rng_below(&rng, KILL_SIZE - 1000);
    size_t i;

    for (i = 0; i < size; i++)
        content[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8));
    memcpy(content, &number, sizeof(number));
    return size;
}

static void put_for_ever(const char *url, struct killed *killed, uint32_t number)
{
    uint8_t *content = mem_alloc(KILL_SIZE);
    struct blob *blob;
    struct err err;

    if (blob_open(url, &blob, &err))
        _exit(1);
    for (;; number++) {
        uint32_t name_number = number % KILL_NAMES;
        char name[32];

        snprintf(name, sizeof(name), "k/%u/blob", (unsigned)name_number);
        atomic_store(&killed->begun[name_number], number);
        if (blob_put(blob, name, bytes_make(content, fill(content, number)), &err))
            _exit(2);
        atomic_store(&killed->acknowledged[name_number], number);
    }
}

/* Until the child has begun its first put: a busy machine may take longer to start it than the
 * pause before its end. */
static void wait_begun(const struct killed *killed, uint32_t number)
{
    int waited;

    for (waited = 0; waited < BEGIN_MS; waited++) {
        if (atomic_load(&killed->begun[number % KILL_NAMES]) >= number)
            return;
        usleep(1000);
    }
    fail_msg("no put was begun within %d ms", BEGIN_MS);
}

/* Whole, and not older than the last acknowledged one. */
static void check_killed(struct blob *blob, struct killed *killed)
{
    struct buf out = BUF_INIT(KILL_SIZE);
    uint8_t *wanted = mem_alloc(KILL_SIZE);
    struct err err;
    uint32_t i;

    for (i = 0; i < KILL_NAMES; i++) {
        uint32_t acknowledged = atomic_load(&killed->acknowledged[i]);
        uint32_t number = 0;
        char name[32];
        int rc;

        snprintf(name, sizeof(name), "k/%u/blob", (unsigned)i);
        buf_reset(&out);
        rc = blob_get(blob, name, &out, &err);
        if (rc) {
            assert_int_equal(rc, ERR_NOT_FOUND);
            assert_int_equal(acknowledged, 0);
            continue;
        }
        assert_true(out.size >= sizeof(number));
        memcpy(&number, out.data, sizeof(number));
        assert_true(number >= acknowledged && number <= atomic_load(&killed->begun[i]));
        assert_true(bytes_equal(buf_bytes(&out), bytes_make(wanted, fill(wanted, number))));
    }
    free(wanted);
    buf_release(&out);
}

static void kill_9_leaves_whole_blobs(void **state)
{
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 10) : random_u64();
    struct rng rng = rng_seeded(seed);
    struct killed *killed =
        mmap(NULL, sizeof(*killed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t number = KILL_NAMES;
    struct place place;
    int status;
    int i;

    (void)state;
    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    assert_true(killed != MAP_FAILED);
    begin(&place, "dir");
    for (i = 0; i < KILLS; i++) {
        pid_t child = fork();
        uint32_t j;

        if (child == 0)
            put_for_ever(place.url, killed, number);
        if (i % 5) /* the others end wherever they are, while opening too */
            wait_begun(killed, number);
        usleep((useconds_t)(2000 + rng_below(&rng, 20000)));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        check_killed(place.blob, killed);
        for (j = 0; j < KILL_NAMES; j++) {
            if (atomic_load(&killed->begun[j]) >= number)
                number = atomic_load(&killed->begun[j]) + 1;
        }
    }
    print_message("# %u puts, %d kills\n", (unsigned)number - KILL_NAMES, KILLS);
    assert_true(number >= KILL_NAMES + KILLS - KILLS / 5);
    munmap(killed, sizeof(*killed));
    end(&place);
}

/* --- the list --- */

int main(int argc, char **argv)
{
    static const char *const backends[] = {"memory", "dir", "fault:memory", "fault:dir"};
    static const struct test_case all[] = {
        CASE(what_is_put_is_there),
        CASE(ranges),
        CASE(bad_names_are_refused),
        CASE(deleting_twice_is_fine),
        CASE(lists_are_in_order_and_paged),
        CASE(pieces_appear_with_the_commit),
        CASE(a_blob_has_a_limit),
        CASE(what_is_streamed_has_a_limit_of_its_own),
        CASE(random_calls_agree_with_a_map),
        CASE(readers_see_whole_blobs_only),
    };
    static const struct test_case of_faults[] = {CASE(a_failed_put_changes_nothing)};
    static const struct test_case of_files[] = {
        CASE(old_leftovers_are_removed),
        CASE(empty_folders_go),
        CASE(kill_9_leaves_whole_blobs),
    };
    static struct case_list list = {.name = "blob"};

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++)
        cases_add(&list, all, ARRAY_COUNT(all), backends[i], backends[i]);
    cases_add(&list, of_faults, ARRAY_COUNT(of_faults), "fault:memory", "fault:memory");
    cases_add(&list, of_faults, ARRAY_COUNT(of_faults), "fault:dir", "fault:dir");
    cases_add(&list, of_files, ARRAY_COUNT(of_files), "dir", "dir");
    return cases_run(&list, argc, argv);
}
