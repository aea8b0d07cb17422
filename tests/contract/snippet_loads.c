/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full loads of snippets, on every store: random loads, single writes, switches and ways back as a
 * naive model says; what the guard refuses changes nothing; files of every form.
 */
#include "contract/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "codec/avro_file.h"
#include "codec/gzip.h"
#include "contract/place.h"
#include "long.h"
#include "snippets/intake/load.h"
#include "snippets/intake/load_file.h"
#include "snippets/rows/rows.h"
#include "test_dir.h"

#define CONFIG                                                                                     \
    "Body { Output: JSON\n"                                                                        \
    "  Sections { Name: 'a' Body { SpecialValidator: 'max-size:100B' } }\n"                        \
    "  Sections { Name: 'brief' Body { TtlMinutes: 10 } }\n"                                       \
    "  Sections { Name: 'g' Body { Sections { Name: 'b' } Sections { Name: 'c' } } } }\n"

enum { KEY_COUNT = 8, PART_COUNT = 2, NONE = -1 };

struct world {
    struct store_place at;
    struct store *store;
    char dir[TEST_DIR_SIZE];
    struct snippets *snippets;
    struct arena *arena;
};

static struct world *begin(void **state)
{
    struct world *world = mem_zero(sizeof(*world));
    struct snippets_options options = {.allots = true, .clock = clock_system()};
    char path[TEST_DIR_SIZE + 32];
    struct err err;

    if (!store_place_open(&world->at, case_on_servers(state), "", &world->store)) {
        free(world);
        skip();
    }
    test_dir_make(world->dir);
    snprintf(path, sizeof(path), "%s/snippets.pb.txt", world->dir);
    OK(file_write(path, bytes_of(CONFIG), &err));
    options.config_path = path;
    options.store = world->store;
    OK(snippets_open(&options, &world->snippets, &err));
    world->arena = arena_new();
    return world;
}

static void end(struct world *world)
{
    snippets_close(world->snippets);
    store_place_close(&world->at, world->store);
    dir_remove(world->dir, NULL);
    arena_free(world->arena);
    free(world);
}

static struct snippet_body body_of(struct world *world, const char *key, int value)
{
    return (struct snippet_body){.key = bytes_of(key),
                                 .has_format = true,
                                 .format = SNIPPET_JSON,
                                 .body = bytes_of(arena_printf(world->arena, "%d", value))};
}

static void put(struct world *world, const char *name, const char *key, int value)
{
    struct snippet_body body = body_of(world, key, value);
    struct err err;

    OK(snippets_put(world->snippets, bytes_of(name), &body, world->arena, &err));
}

static void delete (struct world *world, const char *name, const char *key)
{
    struct err err;

    OK(snippets_delete(world->snippets, bytes_of(name), bytes_of(key), BYTES_EMPTY, world->arena,
                       &err));
}

static int get(struct world *world, const char *name, const char *key)
{
    struct snippet_found *list;
    int64_t value;
    size_t count;
    struct err err;
    int rc = snippets_get(world->snippets, bytes_of(name), bytes_of(key), BYTES_EMPTY, world->arena,
                          &list, &count, &err);

    if (rc == ERR_NOT_FOUND)
        return NONE;
    if (rc)
        fail_msg("%s", err.text);
    assert_true(text_to_i64(list[0].row.body, &value));
    return (int)value;
}

static int add(struct world *world, const char *name, int64_t load, const char *key, int value,
               struct err *err)
{
    struct snippet_load_row row = {.body = body_of(world, key, value), .place = 17};
    struct snippet_load_count counts;

    return snippets_load_add(world->snippets, bytes_of(name), load, &row, 1, world->arena, &counts,
                             err);
}

/* --- the model --- */

/* A value a key, NONE where there is none. */
struct model_part {
    int live[KEY_COUNT], back[KEY_COUNT], loading[KEY_COUNT];
    bool touched[KEY_COUNT]; /* since the load began, or loaded */
};

struct model {
    struct model_part parts[PART_COUNT];
    bool has_back;
    int64_t load; /* 0: none */
};

static void clear(int *values)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        values[i] = NONE;
}

static void model_write(struct model *model, size_t part, size_t key, int value)
{
    struct model_part *of = &model->parts[part];

    of->live[key] = of->back[key] = of->loading[key] = value;
    of->touched[key] = true;
}

static void model_begin(struct model *model, int64_t load)
{
    model->load = load;
    for (size_t p = 0; p < PART_COUNT; p++) {
        clear(model->parts[p].loading);
        memset(model->parts[p].touched, 0, sizeof(model->parts[p].touched));
    }
}

static void model_add(struct model *model, size_t key, int value)
{
    for (size_t p = 0; p < PART_COUNT; p++) {
        if (!model->parts[p].touched[key])
            model->parts[p].loading[key] = value;
        model->parts[p].touched[key] = true;
    }
}

static struct snippet_difference model_compare(const struct model *model)
{
    struct snippet_difference difference = {0};

    for (size_t p = 0; p < PART_COUNT; p++) {
        for (size_t i = 0; i < KEY_COUNT; i++) {
            bool was = model->parts[p].live[i] != NONE, will = model->parts[p].loading[i] != NONE;

            difference.before += was;
            difference.after += will;
            difference.kept += was && will;
        }
    }
    return difference;
}

static void model_switch(struct model *model)
{
    for (size_t p = 0; p < PART_COUNT; p++) {
        struct model_part *part = &model->parts[p];

        memcpy(part->back, part->live, sizeof(part->live));
        memcpy(part->live, part->loading, sizeof(part->live));
    }
    model->has_back = true;
}

static void model_back(struct model *model)
{
    for (size_t p = 0; p < PART_COUNT; p++) {
        struct model_part part = model->parts[p];

        memcpy(model->parts[p].live, part.back, sizeof(part.back));
        memcpy(model->parts[p].back, part.live, sizeof(part.live));
    }
}

static const char *const PARTS[PART_COUNT] = {"g/b", "g/c"};

static void check_shown(struct world *world, const struct model *model)
{
    for (size_t p = 0; p < PART_COUNT; p++) {
        for (size_t i = 0; i < KEY_COUNT; i++)
            assert_int_equal(get(world, PARTS[p], arena_printf(world->arena, "k%zu", i)),
                             model->parts[p].live[i]);
    }
}

static void finish(struct world *world, struct model *model, unsigned percent, bool is_dry)
{
    struct snippet_difference expected = model_compare(model), got = {0};
    int64_t removed = expected.before - expected.kept;
    bool refused = !is_dry && removed * 100 > expected.before * (int64_t)percent;
    struct err err = {0};
    int rc = snippets_load_finish(world->snippets, bytes_of("g"), model->load, percent, is_dry,
                                  &got, &err);

    assert_int_equal(rc, model->load ? (refused ? ERR_PRECONDITION : 0) : ERR_STALE);
    if (!model->load)
        return;
    assert_int_equal(got.before, expected.before);
    assert_int_equal(got.after, expected.after);
    assert_int_equal(got.kept, expected.kept);
    if (!refused && !is_dry)
        model_switch(model);
    model_begin(model, 0);
}

static void step(struct world *world, struct model *model, struct rng *rng)
{
    size_t part = rng_below(rng, PART_COUNT), key = rng_below(rng, KEY_COUNT);
    char *name = arena_printf(world->arena, "k%zu", key);
    int value = (int)rng_below(rng, 100000);
    int64_t load;
    struct err err = {0};
    int rc;

    switch (rng_below(rng, 10)) {
    case 0:
        put(world, PARTS[part], name, value);
        model_write(model, part, key, value);
        break;
    case 1:
        delete (world, PARTS[part], name);
        model_write(model, part, key, NONE);
        break;
    case 2:
        OK(snippets_load_begin(world->snippets, bytes_of("g"), &load, &err));
        assert_int_equal(add(world, "g", load - 1, name, 1, &err), ERR_STALE);
        model_begin(model, load);
        break;
    case 3:
        rc = snippets_load_back(world->snippets, bytes_of("g"), &err);
        assert_int_equal(rc, model->has_back ? 0 : ERR_PRECONDITION);
        if (!rc)
            model_back(model);
        break;
    case 4:
        finish(world, model, rng_below(rng, 3) ? 100 : 30, rng_below(rng, 4) == 0);
        break;
    default:
        rc = add(world, "g", model->load, name, value, &err);
        assert_int_equal(rc, model->load ? 0 : ERR_STALE);
        if (!rc)
            model_add(model, key, value);
    }
}

/* Of each key what is shown, what was, what is loaded: nothing else is left behind. */
static void sweep_all(struct world *world)
{
    struct snippet_sweep_place place = {0};
    bool more = true;
    struct err err;

    while (more)
        OK(snippet_generation_sweep(world->store, &place, &more, &err));
    assert_int_equal(read_integer(world->store,
                                  "SELECT COUNT(*) FROM snippet WHERE NOT EXISTS (SELECT 1 FROM "
                                  "snippet_space WHERE snippet_space.prefix = snippet.prefix "
                                  "AND generation IN (live, back, loading))"),
                     0);
}

static void loads_are_as_a_model_says(void **state)
{
    struct world *world = begin(state);
    int64_t rounds = test_count("TORG_TEST_LOADS", case_on_servers(state) ? 3 : 15, 300);
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    struct model model = {0};
    int64_t load;
    struct err err;

    print_message("seed %ju\n", (uintmax_t)seed);
    for (size_t p = 0; p < PART_COUNT; p++) {
        clear(model.parts[p].live);
        clear(model.parts[p].back);
    }
    OK(snippets_load_begin(world->snippets, bytes_of("g"), &load, &err));
    model_begin(&model, load);
    for (int64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < 30; i++)
            step(world, &model, &rng);
        check_shown(world, &model);
        sweep_all(world);
        check_shown(world, &model);
        arena_reset(world->arena);
    }
    end(world);
}

static void a_bad_row_is_told_by_its_place_and_nothing_is_shown(void **state)
{
    struct world *world = begin(state);
    struct snippet_difference difference;
    int64_t load;
    struct err err;

    put(world, "a", "old", 1);
    OK(snippets_load_begin(world->snippets, bytes_of("a"), &load, &err));
    OK(add(world, "a", load, "new", 2, &err));
    assert_int_equal(add(world, "a", load, "", 3, &err), ERR_INVALID);
    assert_int_equal(strncmp(err.text, "row 17: ", 8), 0);
    assert_int_equal(get(world, "a", "new"), NONE);
    assert_int_equal(
        snippets_load_finish(world->snippets, bytes_of("a"), load, 99, false, &difference, &err),
        ERR_PRECONDITION);
    assert_string_equal(err.text, "1 of 1 snippets are not in it and would go, more than 99 "
                                  "percent: nothing was changed");
    assert_int_equal(get(world, "a", "old"), 1);
    assert_int_equal(get(world, "a", "new"), NONE);
    assert_int_equal(snippets_load_begin(world->snippets, bytes_of("none"), &load, &err),
                     ERR_NOT_FOUND);
    end(world);
}

/* Or else a load that is ended nevertheless would show a part of what its sender was refused. */
static void rows_before_a_bad_one_are_not_stored(void **state)
{
    struct world *world = begin(state);
    struct snippet_load_row rows[] = {{.body = body_of(world, "good", 1), .place = 1},
                                      {.body = body_of(world, "", 2), .place = 2}};
    struct snippet_load_row *many =
        arena_array(world->arena, SNIPPET_LOAD_WRITE_COUNT + 1, sizeof(*many));
    struct snippet_difference difference;
    struct snippet_load_count counts;
    int64_t load;
    struct err err;

    for (size_t i = 0; i <= SNIPPET_LOAD_WRITE_COUNT; i++)
        many[i] = rows[i == SNIPPET_LOAD_WRITE_COUNT]; /* more than one transaction writes */
    OK(snippets_load_begin(world->snippets, bytes_of("a"), &load, &err));
    assert_int_equal(snippets_load_add(world->snippets, bytes_of("a"), load, rows, 2, world->arena,
                                       &counts, &err),
                     ERR_INVALID);
    assert_int_equal(snippets_load_add(world->snippets, bytes_of("a"), load, many,
                                       SNIPPET_LOAD_WRITE_COUNT + 1, world->arena, &counts, &err),
                     ERR_INVALID);
    assert_int_equal(counts.stored, 0);
    OK(snippets_load_finish(world->snippets, bytes_of("a"), load, 99, false, &difference, &err));
    assert_int_equal(difference.after, 0);
    assert_int_equal(get(world, "a", "good"), NONE);
    end(world);
}

/* A load whose sender is gone: writes do not go to it for ever. */
static void a_load_that_never_ends_is_given_up(void **state)
{
    struct world *world = begin(state);
    int64_t load;
    struct err err;

    OK(snippets_load_begin(world->snippets, bytes_of("a"), &load, &err));
    OK(add(world, "a", load, "x", 2, &err));
    sweep_all(world);
    assert_int_equal(read_integer(world->store, "SELECT loading FROM snippet_space"), load);
    exec(world->store, "UPDATE snippet_space SET begun_us = begun_us - 90000000000");
    sweep_all(world);
    assert_int_equal(read_integer(world->store, "SELECT loading FROM snippet_space"), -1);
    assert_int_equal(read_integer(world->store, "SELECT COUNT(*) FROM snippet"), 0);
    assert_int_equal(add(world, "a", load, "x", 2, &err), ERR_STALE);
    end(world);
}

/* Its rows would have ended before they are shown. */
static void a_load_that_takes_longer_than_it_is_shown_is_refused(void **state)
{
    const struct bytes name = bytes_of("brief");
    struct world *world = begin(state);
    struct snippet_difference difference;
    int64_t load;
    struct err err;

    put(world, "brief", "x", 1);
    OK(snippets_load_begin(world->snippets, name, &load, &err));
    OK(add(world, "brief", load, "x", 2, &err));
    exec(world->store, "UPDATE snippet_space SET begun_us = begun_us - 599000000");
    OK(snippets_load_finish(world->snippets, name, load, 100, false, &difference, &err));
    assert_int_equal(get(world, "brief", "x"), 2);
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        OK(snippets_load_begin(world->snippets, name, &load, &err));
        OK(add(world, "brief", load, "x", 3, &err));
        exec(world->store, "UPDATE snippet_space SET begun_us = begun_us - 600000000");
        assert_int_equal(is_whole ? snippets_load_finish(world->snippets, name, load, 100, false,
                                                         &difference, &err)
                                  : add(world, "brief", load, "y", 3, &err),
                         ERR_PRECONDITION);
        assert_non_null(strstr(err.text, "brief is shown, 10 minutes (TtlMinutes)"));
        assert_int_equal(read_integer(world->store, "SELECT loading FROM snippet_space"), -1);
        assert_int_equal(add(world, "brief", load, "z", 3, &err), ERR_STALE);
        assert_int_equal(get(world, "brief", "x"), 2);
    }
    end(world);
}

/* It was taken before the load began; what the file says is newer. */
static void a_record_that_comes_again_changes_no_load(void **state)
{
    struct world *world = begin(state);
    struct snippet_source record = {.id = 9, .offset = 1};
    struct snippet_row row = {.key = bytes_of("k"), .body = bytes_of("1"), .keeps_deleted = true};
    struct snippet_difference difference;
    size_t written;
    int64_t load;
    struct err err;

    put(world, "a", "k", 0);
    row.prefix = read_integer(world->store, "SELECT prefix FROM snippet");
    OK(snippet_rows_write(world->store, &row, 1, &record, &written, &err));
    assert_int_equal(written, 1);
    OK(snippets_load_begin(world->snippets, bytes_of("a"), &load, &err));
    OK(add(world, "a", load, "k", 2, &err));
    OK(snippet_rows_write(world->store, &row, 1, &record, &written, &err));
    assert_int_equal(written, 0);
    OK(snippets_load_finish(world->snippets, bytes_of("a"), load, 100, false, &difference, &err));
    assert_int_equal(get(world, "a", "k"), 2);
    end(world);
}

/* --- files --- */

static int read_rest(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct bytes *rest = arg;

    (void)err;
    *got = rest->size < size ? rest->size : size;
    *got = *got < 7 ? *got : 7;
    if (*got)
        memcpy(to, rest->data, *got);
    *rest = bytes_skip(*rest, *got);
    return 0;
}

/* All rows as "key/language=body;", or the error. */
static void check_file(struct bytes text, bool is_json, const char *expected)
{
    struct buf out = BUF_INIT(1 << 16);
    struct snippet_file_row row;
    struct snippet_file *file;
    bool is_end = false;
    struct err err = {0};
    int rc = snippet_file_open(read_rest, &text, is_json, &file, &err);

    while (!rc && !is_end) {
        rc = snippet_file_next(file, &row, &is_end, &err);
        if (!rc && !is_end)
            buf_printf(&out, "%.*s/%.*s=%.*s;", BYTES_ARG(row.key), BYTES_ARG(row.language),
                       BYTES_ARG(row.body));
    }
    if (rc)
        buf_put_text(&out, err.text);
    assert_string_equal(buf_text(&out), expected);
    snippet_file_close(file);
    buf_release(&out);
}

static int put_piece(void *arg, struct bytes bytes, struct err *err)
{
    (void)err;
    buf_put(arg, bytes);
    return 0;
}

static void put_avro(struct buf *out)
{
    static const struct avro_column columns[] = {
        {"value", AVRO_BYTES, false}, {"key", AVRO_LONG, false}, {"language", AVRO_STRING, true}};
    struct avro_writer *writer = avro_writer_new("snippet", columns, 3, true, put_piece, out);
    struct avro_value row[3] = {{.kind = AVRO_BYTES, .text = bytes_of("[1]")},
                                {.kind = AVRO_LONG, .number = 12}};
    struct err err;

    OK(avro_writer_put(writer, row, &err));
    row[2] = (struct avro_value){.kind = AVRO_STRING, .text = bytes_of("en")};
    OK(avro_writer_put(writer, row, &err));
    OK(avro_writer_end(writer, &err));
    avro_writer_free(writer);
}

static void files_of_every_form_are_read(void **state)
{
    struct buf packed = BUF_INIT(1 << 16);

    (void)state;
    check_file(bytes_of("{\"key\": \"a\", \"value\": {\"x\": [1, \"b\"]}}\n\n"
                        " {\"value\": 2.50, \"key\": \"b\", \"language\": \"ru\"}"),
               true, "a/={\"x\":[1,\"b\"]};b/ru=2.50;");
    check_file(bytes_of("{\"key\":\"a\",\"value\":\"x\"}\n{\"key\":\"a\",\"value\":"
                        "{\"base64\":\"AGE=\"}}\n{\"key\":\"a\",\"value\":1}"),
               false, "a/=x;a/=;line 3: \"value\" is neither a text nor {\"base64\": \"…\"}");
    check_file(bytes_of("{\"key\":\"a\",\"value\":1}\n{\"key\":1,\"value\":1}"), true,
               "a/=1;line 2: expected {\"key\": \"…\", \"value\": …}, \"language\" beside them or "
               "not");
    check_file(bytes_of("{\"key\":\"a\",\"value\":1,\"more\":1}"), true,
               "line 1: other names than \"key\", \"language\", \"value\"");
    check_file(bytes_of("\xef\xbb\xbf{\"key\":\"a\",\"value\":1}\n"), true, "a/=1;");
    check_file(bytes_of("{\"key\":"), true,
               "line 1: line 1, column 8: expected a JSON value, found the end");
    check_file(bytes_of("\xef\xbb\xbfkey;value\r\n\"a;\"\"b\";\"1\n2\"\r\n\r\nc;3\n"), true,
               "a;\"b/=1\n2;c/=3;");
    check_file(bytes_of("language\tvalue\tkey\nru\tx\tk\n\ty\tk\n"), true, "k/ru=x;k/=y;");
    check_file(bytes_of("key,value\na\n"), true, "line 2: has only 1 cells");
    check_file(bytes_of("key,value\na,\"b\n"), true, "line 2: a quote is not closed");
    check_file(bytes_of("key,val\n"), true,
               "there are no columns \"key\" and \"value\" (\"language\" beside them or not)");
    check_file(BYTES_EMPTY, true, "");
    put_avro(&packed);
    check_file(buf_bytes(&packed), true, "12/=[1];12/en=[1];");
    buf_reset(&packed);
    gzip_pack(bytes_of("key,value\na,1\nb,2\n"), &packed);
    check_file(buf_bytes(&packed), true, "a/=1;b/=2;");
    packed.size -= 3;
    check_file(buf_bytes(&packed), true, "a/=1;b/=2;the gzip data stops before its end");
    buf_release(&packed);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        CASE(loads_are_as_a_model_says),
        CASE(a_bad_row_is_told_by_its_place_and_nothing_is_shown),
        CASE(rows_before_a_bad_one_are_not_stored),
        CASE(a_load_that_never_ends_is_given_up),
        CASE(a_load_that_takes_longer_than_it_is_shown_is_refused),
        CASE(a_record_that_comes_again_changes_no_load),
    };
    static const struct test_case files[] = {CASE(files_of_every_form_are_read)};
    static struct case_list list = {.name = "snippet_loads"};

    cases_embedded(&list, files, ARRAY_COUNT(files));
    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
