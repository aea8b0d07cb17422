/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learner.c - spelling that follows changed offers: topics in files, and on Kafka, where each case
 * has a topic of its own.
 */
#include "contract/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "codec/message.h"
#include "contract/topics_place.h"
#include "model/bounds.h"
#include "patience.h"
#include "search/learning/learner.h"
#include "topic/bounds.h"
#include "torg/v1/offer_update.pb-c.h"
#include "unit/spell/spell_world.h"

#define ACTIVE TORG__V1__OFFER__STATUS__ACTIVE

enum { WAIT_MS = PATIENCE_MS, WORD_SIZE = 16, FILE_SIZE_MAX = 64 << 20 };

static const char catalog_json[] =
    "{\"attributes\": [{\"id\": \"color\", \"name\": {\"en\": \"Colour\"}, \"type\": \"OPTION\","
    " \"options\": [{\"id\": \"x\", \"name\": {\"en\": \"vermillionic\", \"ru\": \"алозорный\"}}]},"
    " {\"id\": \"maker\", \"name\": {\"en\": \"Brand\"}, \"type\": \"TEXT\"}],"
    " \"categories\": [{\"id\": \"bikes\", \"name\": {\"en\": \"Velocipedia\"},"
    "  \"attributes\": [\"color\", \"maker\"]}]}";

struct scene {
    bool is_there;
    char topic[40];
    char dir[TEST_DIR_SIZE];
    const char *path;
    struct buf base; /* of words that everyone knows */
    struct topics *topics;
    struct topic_faults *faults;
    struct catalog *catalog;
    struct learner *learner;
    struct arena *arena;
    int64_t offer_count;
    int64_t recount_us;
    struct search search;
    bool is_empty;          /* the index has no offers */
    const char *indexed[2]; /* titles that the index has, one a page; NULL: none */
    _Atomic int asked_count;
    _Atomic int failing_count; /* questions that are not answered, to begin with */
};

static struct catalog *catalog_of(void *arg)
{
    return catalog_ref(((struct scene *)arg)->catalog);
}

/* The index: an offer a page. */
static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    struct scene *scene = arg;
    const Torg__V1__QueryStage *asked = request->query->stages[0];
    size_t page = asked->cursor.len ? 1 : 0;
    Torg__V1__ShownField *field = arena_alloc(arena, sizeof(*field));
    Torg__V1__QueryAnswer *answer = arena_alloc(arena, sizeof(*answer));
    Torg__V1__StageAnswer *stage = arena_alloc(arena, sizeof(*stage));
    Torg__V1__Hit *hit = arena_alloc(arena, sizeof(*hit));

    (void)deadline_us;
    atomic_fetch_add(&scene->asked_count, 1);
    if (atomic_fetch_sub(&scene->failing_count, 1) > 0)
        return err_set(err, ERR_UNAVAILABLE, "the index is not ready");
    torg__v1__shown_field__init(field);
    torg__v1__query_answer__init(answer);
    torg__v1__stage_answer__init(stage);
    torg__v1__hit__init(hit);
    field->name = "title";
    field->values = arena_array(arena, 1, sizeof(field->values[0]));
    field->values[field->n_values++] = (char *)scene->indexed[page];
    hit->pk = page ? "one" : "two";
    hit->fields = arena_array(arena, 1, sizeof(hit->fields[0]));
    hit->fields[hit->n_fields++] = field;
    stage->hits = arena_array(arena, 1, sizeof(stage->hits[0]));
    stage->hits[0] = hit;
    stage->n_hits = scene->is_empty ? 0 : 1;
    if (!page && scene->indexed[1])
        stage->cursor = (ProtobufCBinaryData){.data = (uint8_t *)"next", .len = 4};
    answer->stages = arena_array(arena, 1, sizeof(answer->stages[0]));
    answer->stages[answer->n_stages++] = stage;
    response->answer = answer;
    return 0;
}

static int set_up(void **state)
{
    static struct scene scenes[2];
    bool servers = case_on_servers(state);
    struct scene *scene = &scenes[servers];
    const struct topic_config config = {.partition_count = STAGE_PARTITION_COUNT};
    struct err err;

    *scene = (struct scene){.is_there = !servers || server_address("kafka")};
    *state = scene;
    if (!scene->is_there)
        return 0; /* each test skips */
    scene->topics = test_topics_open(scene->dir, servers);
    scene->arena = arena_new();
    scene->search = (struct search){.clock = clock_system(),
                                    .catalog = catalog_of,
                                    .catalog_arg = scene,
                                    .ask = ask,
                                    .ask_arg = scene};
    buf_init(&scene->base, FILE_SIZE_MAX);
    world_base(&scene->base);
    scene->path = arena_printf(scene->arena, "%s/learnt", scene->dir);
    scene->faults = topics_faults(scene->topics);
    snprintf(scene->topic, sizeof(scene->topic), "learner-%016llx",
             (unsigned long long)random_u64());
    OK(topic_create(scene->topics, scene->topic, &config, &err));
    OK(catalog_from_json(bytes_of(catalog_json), NULL, &scene->catalog, &err));
    return 0;
}

static void start(struct scene *scene)
{
    const struct learner_options options = {.topics = scene->topics,
                                            .source = scene->topic,
                                            .search = &scene->search,
                                            .base = buf_bytes(&scene->base),
                                            .path = scene->path,
                                            .recount_us = scene->recount_us};

    scene->learner = learner_start(&options);
}

static void stop(struct scene *scene)
{
    learner_stop(scene->learner);
    scene->learner = NULL;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (!scene->is_there)
        return 0;
    stop(scene);
    catalog_unref(scene->catalog);
    test_topics_close(scene->topics, scene->dir);
    arena_free(scene->arena);
    buf_release(&scene->base);
    return 0;
}

/* A word that nobody else has; no letter of it stands beside its like. */
static const char *new_word(struct scene *scene)
{
    char *word = arena_zero(scene->arena, WORD_SIZE + 1);
    struct rng rng = rng_seeded(random_u64());

    for (size_t i = 0; i < WORD_SIZE; i++) {
        do {
            word[i] = (char)('a' + rng_below(&rng, 26));
        } while (i && word[i] == word[i - 1]);
    }
    return word;
}

/* An offer of this number (0: the next) as it is now; its number. */
static int64_t send(struct scene *scene, int64_t number, const char *title,
                    Torg__V1__Offer__Status status, const char *maker)
{
    Torg__V1__AttributeValue color = TORG__V1__ATTRIBUTE_VALUE__INIT;
    Torg__V1__AttributeValue brand = TORG__V1__ATTRIBUTE_VALUE__INIT;
    Torg__V1__AttributeValue *values[] = {&color, &brand};
    Torg__V1__OfferContent content = TORG__V1__OFFER_CONTENT__INIT;
    Torg__V1__Offer offer = TORG__V1__OFFER__INIT;
    Torg__V1__OfferUpdate update = TORG__V1__OFFER_UPDATE__INIT;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct topic_record record;
    char *option = "x";
    struct err err;

    number = number ? number : ++scene->offer_count;
    color.attribute_id = "color";
    color.options = &option;
    color.n_options = 1;
    brand.attribute_id = "maker";
    brand.value_case = TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT;
    brand.text = (char *)(maker ? maker : "");
    content.category = "bikes";
    content.title = (char *)title;
    content.attributes = values;
    content.n_attributes = maker ? 2 : 0;
    offer.id = arena_printf(scene->arena, "%p-%lld", (void *)scene->arena, (long long)number);
    offer.status = status;
    offer.content = &content;
    update.offer = &offer;
    message_encode(&update.base, &wire);
    record = (struct topic_record){.key = bytes_of(offer.id), .value = buf_bytes(&wire)};
    OK(topic_produce(scene->topics, scene->topic, &record, 1, NULL, &err));
    buf_release(&wire);
    return number;
}

/* The fifth letter and the sixth change places: to those who know the word it looks like no other,
 * while the word without a letter looks right beside the few words of this world. */
static char *misprint(struct arena *arena, const char *word)
{
    char *typed = arena_strdup(arena, word);
    size_t size = (uint8_t)*word < 0x80 ? 1 : 2; /* of a letter */

    memcpy(typed + 4 * size, word + 5 * size, size);
    memcpy(typed + 5 * size, word + 4 * size, size);
    return typed;
}

/* It is known when it is what its misprint was meant to be. */
static bool knows(struct scene *scene, const char *word)
{
    struct speller *speller = learner_speller(scene->learner);
    struct spell_result result;
    struct err err;

    if (!speller)
        return false;
    OK(spell_check(speller, bytes_of(misprint(scene->arena, word)), NULL, NULL, scene->arena,
                   &result, &err));
    return bytes_equal_text(result.text, word);
}

static void wait_for(struct scene *scene, const char *word)
{
    for (int i = 0; i < WAIT_MS / 5 && !knows(scene, word); i++)
        pause_ms(5);
    assert_true(knows(scene, word));
}

static uint64_t seen(struct scene *scene)
{
    return speller_sizes(learner_speller(scene->learner)).seen_count;
}

/* Exactly so many words: an offer's title comes before its other words. */
static void wait_seen(struct scene *scene, uint64_t count)
{
    for (int i = 0; i < WAIT_MS / 5 && seen(scene) < count; i++)
        pause_ms(5);
    assert_int_equal(seen(scene), count);
}

#define NEED(scene)                                                                                \
    do {                                                                                           \
        if (!(scene)->is_there)                                                                    \
            skip();                                                                                \
    } while (0)

static void titles_and_values_of_offers_on_sale_are_learnt_once(void **state)
{
    struct scene *scene = *state;
    const char *title, *maker, *banned, *last;
    uint64_t before;
    int64_t number;

    NEED(scene);
    title = new_word(scene);
    maker = new_word(scene);
    banned = new_word(scene);
    last = new_word(scene);
    start(scene);
    send(scene, 0, banned, TORG__V1__OFFER__STATUS__BANNED, NULL);
    number = send(scene, 0, title, ACTIVE, maker);
    wait_for(scene, title);
    wait_for(scene, maker);
    wait_for(scene, "vermillionic");
    wait_for(scene, "алозорный");
    wait_for(scene, "velocipedia");
    before = seen(scene);
    for (int i = 0; i < 5; i++)
        send(scene, number, title, ACTIVE, maker); /* another price, say */
    send(scene, number, last, ACTIVE, NULL);
    wait_for(scene, last);
    assert_false(knows(scene, banned));
    /* the words of the last one: its title, and the category's name */
    wait_seen(scene, before + 2);
}

static void what_was_learnt_is_neither_lost_nor_doubled(void **state)
{
    struct buf snapshot = BUF_INIT(FILE_SIZE_MAX);
    struct scene *scene = *state;
    enum { SEEN = 4 }; /* two titles, and twice the category's name */
    const char *words[2];
    struct err err;

    NEED(scene);
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        words[i] = new_word(scene);
    start(scene);
    send(scene, 0, words[0], ACTIVE, NULL);
    wait_for(scene, words[0]);
    stop(scene); /* saves */
    OK(file_read(scene->path, &snapshot, &err));
    start(scene);
    send(scene, 0, words[1], ACTIVE, NULL);
    wait_for(scene, words[1]);
    assert_true(knows(scene, words[0]));
    wait_seen(scene, SEEN);
    stop(scene);
    OK(file_write(scene->path, buf_bytes(&snapshot), &err)); /* as a crash would have left it */
    start(scene);
    wait_for(scene, words[1]);
    assert_true(knows(scene, words[0]));
    wait_seen(scene, SEEN);
    stop(scene);
    OK(file_write(scene->path, bytes_of("torg learnt 2\ndamaged"), &err));
    start(scene);
    wait_for(scene, words[0]);
    wait_for(scene, words[1]);
    wait_seen(scene, SEEN);
    buf_release(&snapshot);
}

static void faults_are_waited_out(void **state)
{
    struct scene *scene = *state;
    const char *first, *second;

    NEED(scene);
    first = new_word(scene);
    second = new_word(scene);
    send(scene, 0, first, ACTIVE, NULL);
    atomic_store(&scene->faults->fail_read, 1);
    start(scene);
    wait_for(scene, first);
    atomic_store(&scene->faults->fail_read, 1);
    send(scene, 0, second, ACTIVE, NULL);
    wait_for(scene, second);
}

static void what_the_topic_has_forgotten_is_learnt_from_the_index(void **state)
{
    enum { SIZE = 8 << 10, COUNT = 200 };
    const struct topic_config config = {.partition_count = 1, .retention_size = 512 << 10};
    struct topic_record record = {0};
    struct scene *scene = *state;
    const char *last;
    struct err err;
    int asked;

    NEED(scene);
    snprintf(scene->topic, sizeof(scene->topic), "cut");
    OK(topic_create(scene->topics, scene->topic, &config, &err));
    record.value = bytes_make(arena_zero(scene->arena, SIZE), SIZE); /* is no offer */
    for (int i = 0; i < COUNT; i++)
        OK(topic_produce(scene->topics, scene->topic, &record, 1, NULL, &err));
    OK(topics_housekeep(scene->topics, &err));
    last = new_word(scene);
    scene->indexed[0] = new_word(scene);
    scene->indexed[1] = new_word(scene);
    scene->failing_count = 1;
    send(scene, 0, last, ACTIVE, NULL);
    start(scene);
    wait_for(scene, last);
    assert_true(knows(scene, scene->indexed[0]) && knows(scene, scene->indexed[1]));
    stop(scene);
    asked = scene->asked_count;
    assert_int_equal(asked, 3);
    start(scene);
    wait_for(scene, scene->indexed[1]); /* of the snapshot */
    assert_int_equal(scene->asked_count, asked);
}

static void wait_forgotten(struct scene *scene, const char *word)
{
    for (int i = 0; i < WAIT_MS / 5 && knows(scene, word); i++)
        pause_ms(5);
    assert_false(knows(scene, word));
}

static void words_that_no_offer_has_any_more_are_forgotten(void **state)
{
    struct scene *scene = *state;
    const char *shared, *gone;
    int64_t number;

    NEED(scene);
    shared = new_word(scene);
    gone = new_word(scene);
    send(scene, 0, shared, ACTIVE, NULL);
    number = send(scene, 0, arena_printf(scene->arena, "%s %s", shared, gone), ACTIVE, NULL);
    scene->indexed[0] = shared;
    scene->indexed[1] = arena_printf(scene->arena, "%s %s", shared, gone);
    start(scene);
    wait_for(scene, shared);
    wait_for(scene, gone);
    stop(scene);

    send(scene, number, scene->indexed[1], TORG__V1__OFFER__STATUS__BANNED, NULL);
    scene->indexed[1] = NULL;
    scene->recount_us = 1;
    scene->failing_count = 1; /* a count that fails forgets nothing, and is made again */
    start(scene);
    wait_for(scene, shared); /* it is open */
    wait_forgotten(scene, gone);
    assert_true(knows(scene, shared));
    stop(scene);

    scene->recount_us = 0;
    start(scene);
    wait_for(scene, shared);
    assert_false(knows(scene, gone)); /* of the snapshot */
    send(scene, number, arena_printf(scene->arena, "%s %s", shared, gone), ACTIVE, NULL);
    wait_for(scene, gone); /* on sale again, as it was */
    assert_true(knows(scene, shared));
}

static void an_index_without_offers_is_not_believed(void **state)
{
    struct scene *scene = *state;
    const char *word;
    int asked;

    NEED(scene);
    word = new_word(scene);
    send(scene, 0, word, ACTIVE, NULL);
    scene->is_empty = true;
    scene->recount_us = 1;
    start(scene);
    wait_for(scene, word);
    asked = scene->asked_count;
    for (int i = 0; i < WAIT_MS / 5 && scene->asked_count < asked + 2; i++)
        pause_ms(5);
    assert_true(scene->asked_count >= asked + 2);
    assert_true(knows(scene, word));
}

static void without_offers_nothing_is_opened(void **state)
{
    struct scene *scene = *state;

    NEED(scene);
    start(scene);
    stop(scene); /* at once, before there is a speller */
    start(scene);
    assert_null(learner_speller(scene->learner));
}

static const struct test_case cases[] = {
    CASE(titles_and_values_of_offers_on_sale_are_learnt_once),
    CASE(what_was_learnt_is_neither_lost_nor_doubled),
    CASE(faults_are_waited_out),
    CASE(without_offers_nothing_is_opened),
    CASE(words_that_no_offer_has_any_more_are_forgotten),
    CASE(an_index_without_offers_is_not_believed),
};

/* Kafka forgets in its own time. */
static const struct test_case on_files[] = {
    CASE(what_the_topic_has_forgotten_is_learnt_from_the_index),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "learner", .set_up = set_up, .tear_down = tear_down};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    cases_embedded(&list, on_files, ARRAY_COUNT(on_files));
    return cases_run(&list, argc, argv);
}
