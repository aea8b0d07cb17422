/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snippets in a store, on every backend: groups that are whole or not there, languages, ends, the
 * order of writes; a model of random requests; and records of topics with their retries.
 */
#include "contract/cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "contract/place.h"
#include "contract/topics_place.h"
#include "long.h"
#include "patience.h"
#include "snippets/intake/intake.h"
#include "snippets/requests/page.h"
#include "snippets/requests/snippets.h"
#include "stage/parked.h"

#define CONFIG                                                                                     \
    "Body { Output: JSON\n"                                                                        \
    "  Sections { Name: 'a' }\n"                                                                   \
    "  Sections { Name: 'short' Body { TtlMinutes: 60 } }\n"                                       \
    "  Sections { Name: 'g' Body {\n"                                                              \
    "    Sections { Name: 'b' Body { SpecialValidator: 'required:/x' } }\n"                        \
    "    Sections { Name: 'c' Body { Output: TEXT Input: JSON OutputLanguages: ['ru', 'en']\n"     \
    "      SpecialConvertor: 'template:c.json' } } } }\n"                                          \
    "  Sections { Name: 't' Body { InputTopic: '%s' InputForLB: JSON\n"                            \
    "    KeyExtractor: 'json-pointer:/id' UploadOverLBRetryCount: %d\n"                            \
    "    SpecialValidator: 'required:/ok' } } }\n"

struct world {
    struct store_place at;
    struct store *store;
    char dir[TEST_DIR_SIZE];
    char path[TEST_DIR_SIZE + 32];
    char topic[64];
    struct snippets *snippets;
    struct arena *arena;
};

static void write_config(struct world *world, int retries)
{
    struct buf text = BUF_INIT(1 << 16);
    struct err err;

    buf_printf(&text, CONFIG, world->topic, retries);
    OK(file_write(world->path, buf_bytes(&text), &err));
    buf_release(&text);
}

static struct world *begin(void **state)
{
    struct world *world = mem_zero(sizeof(*world));
    struct snippets_options options = {.allots = true, .clock = clock_system()};
    char texts[TEST_DIR_SIZE + 32];
    struct err err;

    if (!store_place_open(&world->at, case_on_servers(state), "", &world->store)) {
        free(world);
        skip();
    }
    test_dir_make(world->dir);
    snprintf(world->path, sizeof(world->path), "%s/snippets.pb.txt", world->dir);
    snprintf(world->topic, sizeof(world->topic), "snippets-test-%016jx", (uintmax_t)random_u64());
    snprintf(texts, sizeof(texts), "%s/c.json", world->dir);
    OK(file_write(texts, bytes_of("{\"ru\": \"икс {/x}\", \"en\": \"ex {/x}\"}"), &err));
    write_config(world, 1);
    options.config_path = world->path;
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

static int put(struct world *world, const char *name, const char *key, const char *language,
               const char *json, struct err *err)
{
    const struct snippet_body body = {.key = bytes_of(key),
                                      .language = bytes_of(language),
                                      .has_format = true,
                                      .format = SNIPPET_JSON,
                                      .body = bytes_of(json)};

    return snippets_put(world->snippets, bytes_of(name), &body, world->arena, err);
}

/* The body; NULL: there is none. */
static const char *get(struct world *world, const char *name, const char *key, const char *language)
{
    struct snippet_found *list;
    size_t count;
    struct err err;
    int rc = snippets_get(world->snippets, bytes_of(name), bytes_of(key), bytes_of(language),
                          world->arena, &list, &count, &err);

    if (rc == ERR_NOT_FOUND)
        return NULL;
    if (rc)
        fail_msg("%s", err.text);
    return arena_text(world->arena, list[0].row.body);
}

static void what_was_put_is_got_until_it_is_deleted(void **state)
{
    struct world *world = begin(state);
    struct err err;

    OK(put(world, "a", "k/ 1", "", "{\"x\": 1}", &err));
    assert_string_equal(get(world, "a", "k/ 1", ""), "{\"x\": 1}");
    assert_null(get(world, "a", "k/ 1", "ru"));
    OK(put(world, "a", "k/ 1", "ru", "2", &err));
    OK(put(world, "a", "k/ 1", "", "3", &err));
    assert_string_equal(get(world, "a", "k/ 1", "ru"), "2");
    assert_string_equal(get(world, "a", "k/ 1", ""), "3");
    OK(snippets_delete(world->snippets, bytes_of("a"), bytes_of("k/ 1"), BYTES_EMPTY, world->arena,
                       &err));
    assert_null(get(world, "a", "k/ 1", ""));
    assert_non_null(get(world, "a", "k/ 1", "ru"));
    assert_int_equal(put(world, "no", "k", "", "1", &err), ERR_NOT_FOUND);
    assert_int_equal(put(world, "a", "", "", "1", &err), ERR_INVALID);
    assert_int_equal(put(world, "a", "a\nb", "", "1", &err), ERR_INVALID);
    assert_int_equal(put(world, "a", "\xff", "", "1", &err), ERR_INVALID);
    assert_int_equal(put(world, "a", "k", "r u", "1", &err), ERR_INVALID);
    assert_int_equal(put(world, "a", "k", "", "{", &err), ERR_INVALID);
    end(world);
}

static void a_group_is_whole_or_not_there(void **state)
{
    struct world *world = begin(state);
    struct err err;

    assert_int_equal(put(world, "g", "k", "", "{\"y\": 1}", &err), ERR_INVALID);
    assert_string_equal(err.text, "g/b: /x is missing");
    assert_null(get(world, "g", "k", ""));
    OK(put(world, "g", "k", "", "{\"x\": 1}", &err));
    assert_string_equal(get(world, "g/b", "k", ""), "{\"x\": 1}");
    assert_string_equal(get(world, "g/c", "k", "ru"), "икс 1");
    assert_string_equal(get(world, "g/c", "k", "en"), "ex 1");
    OK(snippets_delete(world->snippets, bytes_of("g"), bytes_of("k"), BYTES_EMPTY, world->arena,
                       &err));
    assert_null(get(world, "g/c", "k", "en"));
    assert_int_equal(read_integer(world->store, "SELECT COUNT(*) FROM snippet"), 0);
    end(world);
}

static void what_has_ended_is_not_shown_and_is_swept(void **state)
{
    const int64_t minute_us = INT64_C(60) * SECOND_US;
    struct world *world = begin(state);
    struct snippet_row row = {.prefix = 77, .key = bytes_of("k"), .body = bytes_of("x")};
    struct snippet_row found;
    int64_t now_us = clock_wall_us(clock_system());
    size_t count;
    bool is_there;
    struct err err;

    row.ttl_us = 1;
    OK(snippet_rows_write(world->store, &row, 1, NULL, NULL, &err));
    pause_ms(2);
    OK(snippet_rows_get(world->store, 77, row.key, row.language, world->arena, &found, &is_there,
                        &err));
    assert_false(is_there);
    OK(put(world, "short", "k", "", "1", &err));
    assert_non_null(get(world, "short", "k", ""));
    OK(put(world, "a", "k", "", "1", &err));
    OK(snippet_rows_sweep(world->store, now_us + 30 * minute_us, &count, &err));
    assert_int_equal(count, 1);
    OK(snippet_rows_sweep(world->store, now_us + 100 * minute_us, &count, &err));
    assert_int_equal(count, 1);
    assert_null(get(world, "short", "k", ""));
    assert_non_null(get(world, "a", "k", ""));
    end(world);
}

/* A record that comes again or late replaces nothing that came behind it. */
static void older_records_never_replace_newer_rows(void **state)
{
    struct world *world = begin(state);
    int64_t now_us = clock_wall_us(clock_system());
    struct snippet_row row = {.prefix = 5, .key = bytes_of("k"), .keeps_deleted = true};
    struct snippet_source first = {.id = 9, .offset = 1}, second = {.id = 9, .offset = 2};
    struct snippet_source late = {.id = 9, .offset = 3, .first_us = now_us - 1000000};
    struct snippet_row found;
    bool is_there;
    size_t written;
    struct err err;

    row.body = bytes_of("second");
    OK(snippet_rows_write(world->store, &row, 1, &second, &written, &err));
    row.body = bytes_of("first");
    OK(snippet_rows_write(world->store, &row, 1, &first, &written, &err));
    assert_int_equal(written, 0);
    OK(snippet_rows_write(world->store, &row, 1, &second, &written, &err));
    assert_int_equal(written, 0);
    row.body = bytes_of("put");
    OK(snippet_rows_write(world->store, &row, 1, NULL, &written, &err));
    assert_int_equal(written, 1);
    row.body = bytes_of("late");
    OK(snippet_rows_write(world->store, &row, 1, &late, &written, &err));
    assert_int_equal(written, 0);
    OK(snippet_rows_get(world->store, 5, row.key, row.language, world->arena, &found, &is_there,
                        &err));
    assert_true(is_there && bytes_equal_text(found.body, "put"));
    /* A deletion stands against it, too. */
    row.is_deleted = true;
    OK(snippet_rows_write(world->store, &row, 1, NULL, &written, &err));
    row.is_deleted = false;
    OK(snippet_rows_write(world->store, &row, 1, &late, &written, &err));
    assert_int_equal(written, 0);
    late.first_us = clock_wall_us(clock_system()) + 5000000;
    OK(snippet_rows_write(world->store, &row, 1, &late, &written, &err));
    assert_int_equal(written, 1);
    end(world);
}

static void a_page_is_read_at_once(void **state)
{
    struct world *world = begin(state);
    struct snippet_pages *pages =
        snippet_pages_new(world->snippets, clock_system(), PATIENCE_MS * 1000ll);
    char *names[] = {(char *)"a", (char *)"g", (char *)"gone"}, *keys[200];
    Torg__V1__Snippet **list;
    size_t count, i;
    struct err err;

    for (i = 0; i < 200; i++)
        keys[i] = arena_printf(world->arena, "key-%zu", i);
    OK(put(world, "a", "key-7", "", "7", &err));
    OK(put(world, "a", "key-7", "ru", "\"семь\"", &err));
    OK(put(world, "a", "key-199", "", "199", &err));
    OK(put(world, "g", "key-150", "", "{\"x\": 5}", &err));
    OK(snippet_pages_read(pages, names, 3, keys, 200, "ru", world->arena, &list, &count, &err));
    assert_int_equal(count, 4);
    assert_string_equal(list[0]->text, "199");
    assert_string_equal(list[1]->text, "\"семь\"");
    assert_string_equal(list[2]->name, "g/b");
    assert_string_equal(list[3]->text, "икс 5");
    snippet_pages_free(pages);
    end(world);
}

/* --- a store that hangs --- */

struct hold {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_held, is_free;
};

static int hang(struct store_tx *tx, void *arg, struct err *err)
{
    struct hold *hold = arg;

    (void)tx;
    (void)err;
    pthread_mutex_lock(&hold->lock);
    hold->is_held = true;
    pthread_cond_broadcast(&hold->changed);
    while (!hold->is_free)
        pthread_cond_wait(&hold->changed, &hold->lock);
    pthread_mutex_unlock(&hold->lock);
    return 0;
}

struct writer {
    struct store *store;
    struct hold hold;
};

static void *write_long(void *arg)
{
    struct writer *writer = arg;

    (void)store_write(writer->store, hang, &writer->hold, NULL);
    return NULL;
}

static void reads_do_not_wait_for_a_commit(void **state)
{
    struct world *world = begin(state);
    struct writer writer = {
        .store = world->store,
        .hold = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}};
    pthread_t thread;
    struct err err;

    OK(put(world, "a", "k", "", "1", &err));
    assert_int_equal(pthread_create(&thread, NULL, write_long, &writer), 0);
    pthread_mutex_lock(&writer.hold.lock);
    while (!writer.hold.is_held)
        pthread_cond_wait(&writer.hold.changed, &writer.hold.lock);
    pthread_mutex_unlock(&writer.hold.lock);
    assert_string_equal(get(world, "a", "k", ""), "1");
    pthread_mutex_lock(&writer.hold.lock);
    writer.hold.is_free = true;
    pthread_cond_broadcast(&writer.hold.changed);
    pthread_mutex_unlock(&writer.hold.lock);
    pthread_join(thread, NULL);
    end(world);
}

/* --- the model --- */

enum { MODEL_NAMES = 4, MODEL_KEYS = 5, MODEL_LANGUAGES = 3 };

static const char *const model_names[MODEL_NAMES] = {"a", "g/b", "g/c", "short"};
static const char *const model_languages[MODEL_LANGUAGES] = {"", "ru", "en"};

struct model {
    char *bodies[MODEL_NAMES][MODEL_KEYS][MODEL_LANGUAGES]; /* NULL: none */
};

static void model_set(struct model *model, size_t name, size_t key, size_t language,
                      const char *body, bool is_delete, struct arena *arena)
{
    size_t i;

    for (i = 0; i < MODEL_LANGUAGES; i++) {
        bool is_converted = name == 2;

        if (is_converted && i && !is_delete)
            model->bodies[name][key][i] = arena_printf(arena, "%s %s", i == 1 ? "икс" : "ex", body);
        else if (is_converted && is_delete && (language ? i == language : i > 0))
            model->bodies[name][key][i] = NULL;
        else if (!is_converted && i == language)
            model->bodies[name][key][i] =
                is_delete ? NULL : arena_printf(arena, "{\"x\": %s}", body);
    }
}

static void model_check(struct world *world, const struct model *model)
{
    size_t name, key, language;

    for (name = 0; name < MODEL_NAMES; name++) {
        for (key = 0; key < MODEL_KEYS; key++) {
            for (language = 0; language < MODEL_LANGUAGES; language++) {
                const char *wanted = model->bodies[name][key][language];
                const char *found =
                    get(world, model_names[name], arena_printf(world->arena, "k%zu", key),
                        model_languages[language]);

                if ((wanted == NULL) != (found == NULL) || (wanted && strcmp(wanted, found) != 0))
                    fail_msg("%s k%zu %s: %s, not %s", model_names[name], key,
                             model_languages[language], found ? found : "nothing",
                             wanted ? wanted : "nothing");
            }
        }
    }
}

/* A page in each language, where a snippet that is not in it is the one in none. */
static void model_check_pages(struct world *world, const struct model *model)
{
    struct bytes names[MODEL_NAMES], keys[MODEL_KEYS];

    for (size_t i = 0; i < MODEL_NAMES; i++)
        names[i] = bytes_of(model_names[i]);
    for (size_t i = 0; i < MODEL_KEYS; i++)
        keys[i] = bytes_of(arena_printf(world->arena, "k%zu", i));
    for (size_t language = 0; language < MODEL_LANGUAGES; language++) {
        struct snippet_found *list;
        size_t count, at = 0;
        struct err err;

        OK(snippets_batch(world->snippets, names, MODEL_NAMES, keys, MODEL_KEYS,
                          bytes_of(model_languages[language]), world->arena, &list, &count, &err));
        for (size_t i = 0; i < MODEL_NAMES * MODEL_KEYS; i++) {
            char *const *bodies = model->bodies[i / MODEL_KEYS][i % MODEL_KEYS];
            const char *wanted = bodies[language] ? bodies[language] : bodies[0];

            if (!wanted)
                continue;
            assert_true(at < count);
            assert_string_equal(list[at].name, model_names[i / MODEL_KEYS]);
            assert_true(bytes_equal(list[at].row.key, keys[i % MODEL_KEYS]));
            assert_string_equal((const char *)list[at].row.body.data, wanted);
            at++;
        }
        assert_int_equal(at, count);
    }
}

static void requests_are_as_a_model_says(void **state)
{
    struct world *world = begin(state);
    uint64_t seed = getenv("TORG_SEED") ? strtoull(getenv("TORG_SEED"), NULL, 10) : random_u64();
    struct rng rng = rng_seeded(seed);
    int64_t step, steps = test_count("TORG_STEP_COUNT", case_on_servers(state) ? 300 : 3000, 20000);
    struct arena *arena = arena_new();
    struct model model = {0};
    struct err err;

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    for (step = 0; step < steps; step++) {
        size_t name = rng_below(&rng, MODEL_NAMES + 1), key = rng_below(&rng, MODEL_KEYS);
        size_t language = rng_below(&rng, MODEL_LANGUAGES), each;
        bool is_group = name == MODEL_NAMES, is_delete = rng_below(&rng, 3) == 0;
        char *value = arena_printf(arena, "%d", (int)rng_below(&rng, 1000));
        char *key_text = arena_printf(arena, "k%zu", key);
        const char *name_text = is_group ? "g" : model_names[name];

        if (is_delete)
            OK(snippets_delete(world->snippets, bytes_of(name_text), bytes_of(key_text),
                               bytes_of(model_languages[language]), world->arena, &err));
        else
            OK(put(world, name_text, key_text, model_languages[language],
                   arena_printf(arena, "{\"x\": %s}", value), &err));
        for (each = 0; each < MODEL_NAMES; each++) {
            if (is_group ? each == 1 || each == 2 : each == name)
                model_set(&model, each, key, language, value, is_delete, arena);
        }
        if (step % 5 == 4)
            model_check_pages(world, &model);
        if (step % 100 == 99) {
            model_check(world, &model);
            arena_reset(world->arena);
        }
    }
    model_check(world, &model);
    arena_free(arena);
    end(world);
}

/* --- topics --- */

static void produce(struct topics *topics, const struct world *world, const char *key,
                    const char *value)
{
    const struct topic_record record = {.key = bytes_of(key), .value = bytes_of(value)};
    struct err err;

    OK(topic_produce(topics, world->topic, &record, 1, NULL, &err));
}

static void wait_for(struct world *world, const char *key, const char *wanted)
{
    const char *found = NULL;

    for (int i = 0; i < PATIENCE_MS / 10; i++) {
        found = get(world, "t", key, "");
        if (wanted ? found && strcmp(found, wanted) == 0 : !found)
            return;
        pause_ms(10);
    }
    fail_msg("%s: %s, not %s", key, found ? found : "nothing", wanted ? wanted : "nothing");
}

static void wait_for_parked(struct world *world, int64_t tries, int64_t wanted)
{
    struct store_value param = STORE_V_INT(tries);
    int64_t found = -1;

    for (int i = 0; i < PATIENCE_MS / 10 && found != wanted; i++) {
        found = read_integer_of(world->store, "SELECT COUNT(*) FROM parked WHERE try_count = $1",
                                &param, 1);
        if (found != wanted)
            pause_ms(10);
    }
    assert_int_equal(found, wanted);
}

static void records_are_stored_retried_and_parked(void **state)
{
    struct world *world = begin(state);
    char dir[TEST_DIR_SIZE];
    struct topics *topics = test_topics_open(dir, case_on_servers(state));
    struct snippet_intake *intake;
    struct snippet_intake_options options = {.snippets = world->snippets,
                                             .topics = topics,
                                             .store = world->store,
                                             .clock = clock_system(),
                                             .retry_pause_us = 1000};
    const struct topic_config config = {.partition_count = 1};
    bool changed;
    struct err err;

    OK(topic_create(topics, world->topic, &config, &err));
    produce(topics, world, "r", "{\"id\": 1, \"ok\": 1}");
    produce(topics, world, "r", "no JSON");
    produce(topics, world, "r", "{\"id\": 2}"); /* ok is missing */
    produce(topics, world, "r", "{\"id\": \"three\", \"ok\": 3}");
    OK(snippet_intake_start(&options, &intake, &err));
    wait_for(world, "1", "{\"id\": 1, \"ok\": 1}");
    wait_for(world, "three", "{\"id\": \"three\", \"ok\": 3}");
    /* Both are tried once more, then they wait for a person. */
    wait_for_parked(world, 1, 2);
    assert_int_equal(read_integer(world->store,
                                  "SELECT COUNT(*) FROM parked WHERE next_us > 250000000000000000"),
                     2);
    assert_int_equal(read_integer(world->store, "SELECT COUNT(*) FROM parked WHERE reason LIKE "
                                                "'%t: /ok is missing%' OR reason LIKE '%no JSON%'"),
                     2);
    /* The second is newer when the first is hurried; the third is deleted by an empty value. */
    produce(topics, world, "2", "{\"id\": 2, \"ok\": \"new\"}");
    wait_for(world, "2", "{\"id\": 2, \"ok\": \"new\"}");
    produce(topics, world, "three", "");
    wait_for(world, "three", NULL);
    /* The config stops asking for ok: what waits can be used, and changes nothing newer. The task
     * that looks at the files may have taken it in already: changed tells nothing here. */
    write_config(world, 3);
    OK(snippets_reload(world->snippets, &changed, &err));
    exec(world->store, "UPDATE parked SET next_us = 0");
    wait_for_parked(world, 3, 2);
    assert_string_equal(get(world, "t", "2", ""), "{\"id\": 2, \"ok\": \"new\"}");
    snippet_intake_stop(intake);
    (void)topic_remove(topics, world->topic, &err);
    test_topics_close(topics, dir);
    end(world);
}

/* The one that waited is used when it can be, unless a newer one has come. */
static void a_late_retry_changes_nothing_newer(void **state)
{
    struct world *world = begin(state);
    struct buf text = BUF_INIT(1 << 16);
    char dir[TEST_DIR_SIZE];
    struct topics *topics = test_topics_open(dir, case_on_servers(state));
    struct snippet_intake *intake;
    struct snippet_intake_options options = {.snippets = world->snippets,
                                             .topics = topics,
                                             .store = world->store,
                                             .clock = clock_system(),
                                             .retry_pause_us = 1000};
    const struct topic_config config = {.partition_count = 1};
    bool changed;
    struct err err;

    OK(topic_create(topics, world->topic, &config, &err));
    produce(topics, world, "x", "{\"id\": \"old\", \"v\": 1}");
    produce(topics, world, "x", "{\"id\": \"other\", \"v\": 1}");
    OK(snippet_intake_start(&options, &intake, &err));
    wait_for_parked(world, 1, 2);
    OK(put(world, "t", "old", "", "{\"ok\": \"put\"}", &err));
    buf_printf(&text, CONFIG, world->topic, 5);
    *strstr((char *)buf_text(&text), "/ok'") = '/';
    memcpy(strstr((char *)buf_text(&text), "/ok'"), "/id'", 4);
    OK(file_write(world->path, buf_bytes(&text), &err));
    OK(snippets_reload(world->snippets, &changed, &err));
    exec(world->store, "UPDATE parked SET next_us = 0");
    wait_for(world, "other", "{\"id\": \"other\", \"v\": 1}");
    for (int i = 0;
         i < PATIENCE_MS / 10 && read_integer(world->store, "SELECT COUNT(*) FROM parked"); i++)
        pause_ms(10);
    assert_string_equal(get(world, "t", "old", ""), "{\"ok\": \"put\"}");
    snippet_intake_stop(intake);
    (void)topic_remove(topics, world->topic, &err);
    test_topics_close(topics, dir);
    buf_release(&text);
    end(world);
}

/* --- files --- */

static void write_template(struct world *world, const char *text)
{
    char path[TEST_DIR_SIZE + 32];
    struct err err;

    snprintf(path, sizeof(path), "%s/c.json", world->dir);
    OK(file_write(path, bytes_of(text), &err));
}

static bool is_refused(struct world *world)
{
    struct snippets_state state;

    snippets_state(world->snippets, &state);
    return state.refused[0];
}

static void a_changed_template_is_taken_in_by_itself(void **state)
{
    struct world *world = begin(state);
    int64_t loaded_us;
    struct snippets_state seen;
    struct err err;

    write_template(world, "{\"ru\": ");
    for (int i = 0; i < PATIENCE_MS / 10 && !is_refused(world); i++)
        pause_ms(10);
    assert_true(is_refused(world));
    OK(put(world, "g/c", "k", "", "{\"x\": 1}", &err));
    assert_string_equal(get(world, "g/c", "k", "en"), "ex 1");
    snippets_state(world->snippets, &seen);
    loaded_us = seen.loaded_us;
    write_template(world, "{\"ru\": \"другой {/x}\", \"en\": \"other {/x}\"}");
    for (int i = 0; i < PATIENCE_MS / 10 && seen.loaded_us == loaded_us; i++) {
        pause_ms(10);
        snippets_state(world->snippets, &seen);
    }
    assert_string_equal(seen.refused, "");
    OK(put(world, "g/c", "k", "", "{\"x\": 1}", &err));
    assert_string_equal(get(world, "g/c", "k", "en"), "other 1");
    end(world);
}

/* In the order of the config, each in the language that was asked for and in no other. */
static void a_group_is_got_whole(void **state)
{
    struct world *world = begin(state);
    struct snippet_found *list;
    size_t count;
    struct err err;

    OK(put(world, "g", "k", "", "{\"x\": 1}", &err));
    OK(put(world, "g/b", "k", "ru", "{\"x\": 2}", &err));
    OK(snippets_get(world->snippets, bytes_of("g"), bytes_of("k"), bytes_of("ru"), world->arena,
                    &list, &count, &err));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].name, "g/b");
    assert_true(bytes_equal_text(list[0].row.body, "{\"x\": 2}"));
    assert_true(bytes_equal_text(list[1].row.body, "икс 1"));
    OK(snippets_get(world->snippets, bytes_of("g"), bytes_of("k"), BYTES_EMPTY, world->arena, &list,
                    &count, &err));
    assert_int_equal(count, 1);
    assert_true(bytes_equal_text(list[0].row.body, "{\"x\": 1}"));
    end(world);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        CASE(what_was_put_is_got_until_it_is_deleted),
        CASE(a_group_is_whole_or_not_there),
        CASE(what_has_ended_is_not_shown_and_is_swept),
        CASE(older_records_never_replace_newer_rows),
        CASE(a_page_is_read_at_once),
        CASE(reads_do_not_wait_for_a_commit),
        CASE(requests_are_as_a_model_says),
        CASE(records_are_stored_retried_and_parked),
        CASE(a_late_retry_changes_nothing_newer),
        CASE(a_group_is_got_whole),
    };
    static const struct test_case files[] = {
        CASE(a_changed_template_is_taken_in_by_itself),
    };
    static struct case_list list = {.name = "snippets"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_embedded(&list, files, ARRAY_COUNT(files));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
