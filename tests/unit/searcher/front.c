/* SPDX-License-Identifier: Apache-2.0 */
/* front.c - an index of three shards answers as one shard with all documents does: hits, order,
 * totals, facets, pages. And what a front refuses. */
#include "searcher/front/front.h"
#include "base/clock.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/message.h"
#include "index_messages.h"
#include "long.h"
#include "model/change_token.h"
#include "patience.h"
#include "query/bounds.h"
#include "query/run/cursor.h"
#include "searcher/front/local.h"
#include "searcher/front/part.h"
#include "searcher/front/seen.h"
#include "topic/topic_fault.h"

#define PAGE_COUNT 5
#define TEXT_OF(number) TEXT_OF_IT(number)
#define TEXT_OF_IT(number) #number

enum {
    DOC_COUNT = 900,
    SHARD_COUNT = 3,
    READY_MS = PATIENCE_MS,
    ALIKE_COUNT = 2 * PAGE_COUNT,
    COMING_COUNT_MAX = 20000
};

struct world {
    struct topics *topics;
    struct coord *coord;
    struct follower *follower;
    struct workers *workers;
    struct front front;
    struct arena *arena;
};

static void open_world(struct world *world)
{
    struct err err = {0};

    *world = (struct world){.arena = arena_new()};
    if (topics_open("fault:memory:", NULL, &world->topics, &err) ||
        coord_open("memory:front", "test", NULL, &world->coord, &err))
        fail_msg("%s", err.text);
    world->workers = workers_new("shards", 4, 64, NULL, clock_system());
}

static void follow(struct world *world)
{
    const struct follower_options options = {
        .topics = world->topics, .coord = world->coord, .clock = clock_system()};
    struct err err = {0};

    assert_int_equal(follower_start(&options, &world->follower, &err), 0);
    world->front = (struct front){.follower = world->follower,
                                  .gatherer = {.workers = world->workers},
                                  .clock = clock_system()};
}

static void close_world(struct world *world)
{
    workers_free(world->workers);
    follower_stop(world->follower);
    coord_close(world->coord);
    topics_close(world->topics);
    arena_free(world->arena);
}

static int64_t deadline(int ms)
{
    return clock_mono_us(clock_system()) + (int64_t)ms * MS_US;
}

/* Until the lane of each shard is there: progress is the last message of each. */
static void wait_ready(struct world *world, const char *name, int64_t epoch)
{
    int64_t until_us = deadline(READY_MS);
    bool is_ready = false;

    while (!is_ready) {
        const struct index_view *view = follower_view(world->follower);
        const struct index_client *client = view_find(view, name);
        const struct index_epoch *there = client ? client_find_epoch(client, epoch) : NULL;
        struct err err = {0};

        is_ready = there != NULL;
        for (uint32_t i = 0; there && i < client->shard_count; i++) {
            if (replica_wait(there->shards[i], 0, 1, until_us, &err))
                fail_msg("%s", err.text);
        }
        view_release(view);
        if (!is_ready && clock_mono_us(clock_system()) > until_us)
            fail_msg("the map was not read");
    }
}

static void fill(struct world *world, uint64_t seed)
{
    static const struct announced clients[] = {
        {"one", 1, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
        {"three", SHARD_COUNT, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
    };
    struct rng rng = rng_seeded(seed);

    make_topic(world->topics, "index.one.1", 1);
    make_topic(world->topics, "index.three.1", SHARD_COUNT);
    send_to(world->topics, "index.one.1", 0, message_schema(1, world->arena));
    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        send_to(world->topics, "index.three.1", i, message_schema(1, world->arena));
    for (uint32_t i = 0; i < DOC_COUNT; i++) {
        const char *pk = arena_printf(world->arena, "pk%u", i);
        struct bytes message =
            message_put(1, i * 3, pk, rng_next(&rng), rng_next(&rng), world->arena);

        send_to(world->topics, "index.one.1", 0, message);
        send_to(world->topics, "index.three.1", (uint32_t)rng_below(&rng, SHARD_COUNT), message);
    }
    send_to(world->topics, "index.one.1", 0, message_progress(1, 0, 1, world->arena));
    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        send_to(world->topics, "index.three.1", i, message_progress(1, 0, 1, world->arena));
    announce(world->coord, clients, ARRAY_COUNT(clients));
}

/* ---- queries ---- */

static const char *const lines[] = {
    "велосипед",      "горный велосипед", "велосипед -детский", "\\\"горный велосипед\\\"",
    "вело*",          "дивон~",           "!красный",           "iphone15",
    "диван редкость", "нет-такого-слова", "road bike",
};

static const char *const filters[] = {
    "{\"range\":{\"field\":\"price\",\"max\":\"9000\"}}",
    "{\"in\":{\"field\":\"tags\",\"values\":[\"new\",\"gift\"]}}",
    "{\"not\":{\"in\":{\"field\":\"seller\",\"values\":[\"seller1\",\"seller7\"]}}}",
    "{\"subtree\":{\"field\":\"category\",\"values\":[\"transport\"]}}",
    "{\"exists\":\"date\"}",
    "{\"or\":{\"of\":[{\"exists\":\"weight\"},"
    "{\"in\":{\"field\":\"used\",\"values\":[\"true\"]}}]}}",
    "{\"radius\":{\"field\":\"point\",\"center\":{\"latitude\":55.75,\"longitude\":37.65},"
    "\"meters\":4000}}",
};

static const char *const sorts[] = {
    "{\"field\":\"price\"}",
    "{\"field\":\"price\",\"descending\":true}",
    "{\"field\":\"seller\"}",
    "{\"field\":\"seller\",\"descending\":true}",
    "{\"field\":\"category\"}",
    "{\"relevance\":true}",
    "{\"field\":\"point\",\"from\":{\"latitude\":55.74,\"longitude\":37.63}}",
    "{\"formula\":\"score + default(price, 0) / 10000\"}",
    "{\"field\":\"date\",\"descending\":true}",
};

static void put_facets(struct rng *rng, struct buf *out)
{
    static const char *const facets[] = {
        "{\"field\":\"seller\",\"limit\":7}",
        "{\"field\":\"tags\"}",
        "{\"field\":\"category\",\"kind\":\"TREE\"}",
        "{\"field\":\"category\",\"limit\":3}",
        "{\"field\":\"used\"}",
        "{\"name\":\"p\",\"field\":\"price\",\"kind\":\"MIN_MAX\"}",
        "{\"field\":\"date\",\"kind\":\"MIN_MAX\"}",
        "{\"field\":\"price\",\"kind\":\"RANGES\",\"bounds\":[\"0\",\"5000\",\"10000\",\"20001\"]}",
    };
    const char *between = "";

    buf_put_text(out, ",\"facets\":[");
    for (size_t i = 0; i < ARRAY_COUNT(facets); i++)
        if (rng_below(rng, 3) == 0) {
            buf_printf(out, "%s%s", between, facets[i]);
            between = ",";
        }
    buf_put_text(out, "]");
}

static void put_stage(struct rng *rng, const char *paging, struct buf *out)
{
    uint64_t sort_count = rng_below(rng, 3);

    buf_printf(out, "{\"show\":[\"title\",\"seller\"]%s", paging);
    if (rng_below(rng, 4))
        buf_printf(out, ",\"text\":\"%s\"", lines[rng_below(rng, ARRAY_COUNT(lines))]);
    if (rng_below(rng, 3) == 0)
        buf_put_text(out, ",\"anyWord\":true");
    if (rng_below(rng, 2))
        buf_printf(out, ",\"filter\":%s", filters[rng_below(rng, ARRAY_COUNT(filters))]);
    buf_put_text(out, ",\"sorts\":[");
    for (uint64_t i = 0; i < sort_count; i++)
        buf_printf(out, "%s%s", i ? "," : "", sorts[rng_below(rng, ARRAY_COUNT(sorts))]);
    buf_put_text(out, "]");
    if (rng_below(rng, 4) == 0)
        buf_printf(out, ",\"cap\":{\"field\":\"seller\",\"count\":%u}",
                   1 + (unsigned)rng_below(rng, 3));
    if (rng_below(rng, 2))
        put_facets(rng, out);
    buf_put_text(out, "}");
}

static Torg__V1__SearchRequest *read_request(struct world *world, const char *json)
{
    ProtobufCMessage *message;
    struct err err = {0};

    if (json_decode(bytes_of(json), &torg__v1__search_request__descriptor, world->arena, &message,
                    NULL, &err))
        fail_msg("%s: %s", json, err.text);
    return (Torg__V1__SearchRequest *)message;
}

static int try_search(struct world *world, const char *client, const char *json,
                      Torg__V1__SearchResponse **response, struct err *err)
{
    *response = arena_alloc(world->arena, sizeof(**response));
    torg__v1__search_response__init(*response);
    return front_search(&world->front, client, read_request(world, json), deadline(READY_MS),
                        world->arena, *response, err);
}

static const Torg__V1__QueryAnswer *search(struct world *world, const char *client,
                                           const char *json)
{
    Torg__V1__SearchResponse *response;
    struct err err = {0};

    if (try_search(world, client, json, &response, &err))
        fail_msg("%s: %s", json, err.text);
    assert_false(response->is_partial);
    assert_int_equal(response->epoch, 1);
    return response->answer;
}

/* ---- equality ---- */

static void check_facets(const Torg__V1__StageAnswer *one, const Torg__V1__StageAnswer *three,
                         const char *json)
{
    assert_int_equal(one->n_facets, three->n_facets);
    for (size_t i = 0; i < one->n_facets; i++) {
        const Torg__V1__FacetAnswer *a = one->facets[i];
        const Torg__V1__FacetAnswer *b = three->facets[i];

        assert_string_equal(a->name, b->name);
        if (a->n_values != b->n_values || a->other_count != b->other_count)
            fail_msg("facet %s of %s", a->name, json);
        for (size_t k = 0; k < a->n_values; k++) {
            assert_string_equal(a->values[k]->value, b->values[k]->value);
            assert_int_equal(a->values[k]->count, b->values[k]->count);
        }
        assert_int_equal(a->_min_case, b->_min_case);
        if (a->_min_case) {
            assert_string_equal(a->min, b->min);
            assert_string_equal(a->max, b->max);
        }
    }
}

static void check_hits(const Torg__V1__StageAnswer *one, const Torg__V1__StageAnswer *three,
                       const char *json)
{
    if (one->n_hits != three->n_hits)
        fail_msg("%zu hits, and %zu of three shards: %s", one->n_hits, three->n_hits, json);
    for (size_t i = 0; i < one->n_hits; i++) {
        const Torg__V1__Hit *a = one->hits[i];
        const Torg__V1__Hit *b = three->hits[i];

        if (strcmp(a->pk, b->pk) != 0 || a->score != b->score)
            fail_msg("hit %zu is %s (%.9g), and %s (%.9g) of three shards: %s", i, a->pk,
                     (double)a->score, b->pk, (double)b->score, json);
        assert_int_equal(a->n_fields, b->n_fields);
        for (size_t k = 0; k < a->n_fields; k++)
            assert_string_equal(a->fields[k]->values[0], b->fields[k]->values[0]);
    }
    if ((one->cursor.len > 0) != (three->cursor.len > 0))
        fail_msg("a cursor: %zu bytes and %zu: %s", one->cursor.len, three->cursor.len, json);
}

static void check_equal(const Torg__V1__QueryAnswer *one, const Torg__V1__QueryAnswer *three,
                        const char *json)
{
    assert_int_equal(one->n_stages, three->n_stages);
    for (size_t i = 0; i < one->n_stages; i++) {
        assert_int_equal(one->stages[i]->_total_case, three->stages[i]->_total_case);
        if (one->stages[i]->total != three->stages[i]->total)
            fail_msg("total %ju, and %ju: %s", (uintmax_t)one->stages[i]->total,
                     (uintmax_t)three->stages[i]->total, json);
        check_hits(one->stages[i], three->stages[i], json);
        check_facets(one->stages[i], three->stages[i], json);
    }
}

static const char *make_query(struct world *world, struct rng *rng, const char *paging)
{
    struct buf out = BUF_INIT(1 << 16);
    const char *json;
    uint64_t stages = 1 + (rng_below(rng, 4) == 0);

    buf_put_text(&out, "{\"query\":{");
    if (rng_below(rng, 4) == 0)
        buf_printf(&out, "\"baseFilter\":%s,", filters[rng_below(rng, ARRAY_COUNT(filters))]);
    buf_put_text(&out, "\"stages\":[");
    for (uint64_t i = 0; i < stages; i++) {
        buf_put_text(&out, i ? "," : "");
        put_stage(rng, paging, &out);
    }
    buf_put_text(&out, "]}}");
    json = arena_text(world->arena, buf_bytes(&out));
    buf_release(&out);
    return json;
}

static void three_shards_answer_as_one(void **state)
{
    struct rng rng = test_seed();
    const char *scale = getenv("TORG_SCALE");
    int count = scale ? 300 * (int)strtol(scale, NULL, 10) : 300;
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, rng_next(&rng));
    follow(&world);
    wait_ready(&world, "one", 1);
    wait_ready(&world, "three", 1);
    for (int i = 0; i < count; i++) {
        bool no_cursor = rng_below(&rng, 3) == 0;
        const char *paging = arena_printf(
            world.arena, ",\"offset\":%u,\"limit\":%u%s", (unsigned)rng_below(&rng, 3) * 10,
            (unsigned)rng_below(&rng, 30), no_cursor ? ",\"noCursor\":true" : "");
        const char *json = make_query(&world, &rng, paging);
        const Torg__V1__QueryAnswer *one = search(&world, "one", json);

        check_equal(one, search(&world, "three", json), json);
        for (size_t k = 0; k < one->n_stages; k++)
            assert_true(!no_cursor || one->stages[k]->cursor.len == 0);
    }
    close_world(&world);
}

/* It is written to the wire after the view of the indexes was given back: by then an epoch may be
 * gone, and all of its shards with it. */
static void an_answer_outlives_its_shards(void **state)
{
    static const char *const clients[] = {"one", "three"};
    const Torg__V1__QueryAnswer *answers[ARRAY_COUNT(clients)];
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    for (size_t i = 0; i < ARRAY_COUNT(clients); i++) {
        wait_ready(&world, clients[i], 1);
        answers[i] = search(&world, clients[i],
                            "{\"query\":{\"stages\":[{\"text\":\"велосипед\",\"show\":"
                            "[\"title\",\"seller\"],\"highlight\":{\"fields\":[\"title\"]},"
                            "\"cap\":{\"field\":\"seller\",\"count\":2},"
                            "\"facets\":[{\"field\":\"seller\",\"limit\":3}]}]}}");
    }
    follower_stop(world.follower);
    world.follower = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(clients); i++) {
        const Torg__V1__StageAnswer *stage = answers[i]->stages[0];
        struct buf wire = BUF_INIT(1 << 20);

        assert_true(stage->n_hits > 0);
        assert_string_equal(stage->hits[0]->fields[0]->name, "title");
        assert_string_equal(stage->hits[0]->highlights[0]->name, "title");
        assert_string_equal(stage->facets[0]->name, "seller");
        message_encode(&answers[i]->base, &wire);
        assert_false(buf_failed(&wire));
        buf_release(&wire);
    }
    close_world(&world);
}

static void a_second_phase_goes_over_all_shards(void **state)
{
    struct rng rng = test_seed();
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, rng_next(&rng));
    follow(&world);
    wait_ready(&world, "one", 1);
    wait_ready(&world, "three", 1);
    for (int i = 0; i < 60; i++) {
        const char *json = arena_printf(
            world.arena,
            "{\"query\":{\"stages\":[{\"text\":\"%s\",\"anyWord\":true,\"offset\":%u,\"limit\":20,"
            "\"rerank\":{\"formula\":\"default(price, 1) * 2 - score\",\"count\":%u}%s}]}}",
            lines[rng_below(&rng, 3)], (unsigned)rng_below(&rng, 2) * 15,
            1 + (unsigned)rng_below(&rng, 60),
            rng_below(&rng, 2) ? ",\"cap\":{\"field\":\"seller\",\"count\":1}" : "");

        check_equal(search(&world, "one", json), search(&world, "three", json), json);
    }
    close_world(&world);
}

/* ---- pages ---- */

static struct bytes cursor_json(const Torg__V1__StageAnswer *stage, struct arena *arena)
{
    struct buf out = BUF_INIT(1 << 20);
    struct bytes text;

    text_put_base64(&out, bytes_make(stage->cursor.data, stage->cursor.len));
    text = bytes_of(arena_text(arena, buf_bytes(&out)));
    buf_release(&out);
    return text;
}

/* All pages of the query, one after the other, are the list in one page. */
static void check_pages(struct world *world, const char *client, const char *stage, unsigned size)
{
    const char *whole =
        arena_printf(world->arena, "{\"query\":{\"stages\":[{\"limit\":5000,%s}]}}", stage);
    const Torg__V1__StageAnswer *all = search(world, client, whole)->stages[0];
    const char *cursor = "";
    size_t seen = 0;

    do {
        const char *json = arena_printf(
            world->arena, "{\"query\":{\"stages\":[{\"limit\":%u,\"cursor\":\"%s\",%s}]}}", size,
            cursor, stage);
        const Torg__V1__StageAnswer *page = search(world, client, json)->stages[0];

        for (size_t i = 0; i < page->n_hits; i++, seen++)
            if (seen >= all->n_hits || strcmp(page->hits[i]->pk, all->hits[seen]->pk) != 0)
                fail_msg("%s: hit %zu by pages is %s, not %s: %s", client, seen, page->hits[i]->pk,
                         seen < all->n_hits ? all->hits[seen]->pk : "-", stage);
        cursor = page->cursor.len ? (const char *)cursor_json(page, world->arena).data : "";
        assert_true(page->n_hits == size || !*cursor);
    } while (*cursor);
    if (seen != all->n_hits)
        fail_msg("%s: %zu of %zu hits by pages: %s", client, seen, all->n_hits, stage);
}

static void pages_by_cursor_are_the_list(void **state)
{
    static const char *const stages[] = {
        "\"text\":\"велосипед\"",
        "\"text\":\"горный велосипед\",\"anyWord\":true",
        "\"sorts\":[{\"field\":\"seller\"}]",
        "\"sorts\":[{\"field\":\"seller\",\"descending\":true},{\"field\":\"price\"}]",
        "\"sorts\":[{\"field\":\"price\",\"descending\":true}],\"text\":\"велосипед\"",
        "\"filter\":{\"exists\":\"price\"}",
        "\"cap\":{\"field\":\"seller\",\"count\":2},\"sorts\":[{\"field\":\"price\"}]",
        "\"cap\":{\"field\":\"seller\",\"count\":1},\"text\":\"вело*\"",
        "\"sorts\":[{\"formula\":\"score - default(price, 0) / 1000\"}],\"text\":\"диван*\"",
    };
    struct rng rng = test_seed();
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, rng_next(&rng));
    follow(&world);
    wait_ready(&world, "one", 1);
    wait_ready(&world, "three", 1);
    for (size_t i = 0; i < ARRAY_COUNT(stages); i++) {
        unsigned size = 7 + (unsigned)rng_below(&rng, 60);

        check_pages(&world, "one", stages[i], size);
        check_pages(&world, "three", stages[i], size);
    }
    close_world(&world);
}

/* The next page of a list of client "one", behind this one. */
static const Torg__V1__StageAnswer *next_page(struct world *world, const char *stage,
                                              unsigned limit, const Torg__V1__StageAnswer *page)
{
    const char *json =
        arena_printf(world->arena, "{\"query\":{\"stages\":[{\"limit\":%u,\"cursor\":\"%s\",%s}]}}",
                     limit, page ? (const char *)cursor_json(page, world->arena).data : "", stage);

    return search(world, "one", json)->stages[0];
}

/* Until the shard of client "one" has what was sent before this. */
static void show_all(struct world *world, int64_t idx)
{
    const struct change_token token = {.client_id = 1, .lane = 0, .shard = 0, .idx = idx};

    send_to(world->topics, "index.one.1", 0, message_progress(1, 0, idx, world->arena));
    search(world, "one",
           arena_printf(world->arena, "{\"wait\":[\"%s\"],\"query\":{\"stages\":[{}]}}",
                        change_token_text(&token, &(struct seal){{0}}, world->arena)));
}

static void a_capped_list_goes_on_when_more_comes(void **state)
{
    const char *stage = "\"text\":\"единорог\",\"cap\":{\"field\":\"seller\",\"count\":1},"
                        "\"sorts\":[{\"field\":\"price\"}]";
    enum { COUNT = 60, LIMIT = 4 };
    const Torg__V1__StageAnswer *page = NULL;
    struct world world;
    uint32_t met = 0, came = 0;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        send_to(world.topics, "index.one.1", 0,
                message_titled(1, 10000 + i, arena_printf(world.arena, "old%u", i), "единорог",
                               1000 + i, 0, world.arena));
    follow(&world);
    wait_ready(&world, "one", 1);
    show_all(&world, 2);
    do {
        page = next_page(&world, stage, LIMIT, page);
        for (size_t i = 0; i < page->n_hits; i++)
            assert_string_equal(page->hits[i]->pk, arena_printf(world.arena, "old%u", met++));
        for (int i = 0; i < 2 * LIMIT; i++, came++) /* the cheapest come first */
            send_to(world.topics, "index.one.1", 0,
                    message_titled(1, 20000 + came, arena_printf(world.arena, "new%u", came),
                                   "единорог", 1, 0, world.arena));
        show_all(&world, 3 + came);
    } while (page->cursor.len);
    assert_int_equal(met, COUNT);
    close_world(&world);
}

static void pages_stay_while_documents_grow_older(void **state)
{
    const char *stage = "\"filter\":{\"exists\":\"date\"},\"show\":[\"date\"],"
                        "\"sorts\":[{\"formula\":\"-age(date)\"}]";
    const Torg__V1__StageAnswer *all, *page = NULL;
    struct clock_manual clock;
    struct world world;
    size_t met = 0;

    (void)state;
    clock_manual_init(&clock, INT64_C(1800000000) * SECOND_US);
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    world.front.clock = &clock.base;
    wait_ready(&world, "one", 1);
    all = next_page(&world, stage, 1000, NULL);
    assert_true(all->n_hits > 100);
    do {
        page = next_page(&world, stage, 17, page);
        for (size_t i = 0; i < page->n_hits; i++, met++) {
            assert_true(met < all->n_hits);
            assert_string_equal(page->hits[i]->pk, all->hits[met]->pk);
        }
        clock_manual_advance(&clock, 3600 * (int64_t)SECOND_US);
    } while (page->cursor.len);
    assert_int_equal(met, all->n_hits);
    close_world(&world);
}

/* Documents that come all the time, each of which changes all scores a little. */
struct coming {
    pthread_t thread;
    struct world *world;
    atomic_bool is_over;
};

static void *send_more(void *arg)
{
    struct coming *coming = arg;
    struct arena *arena = arena_new();

    for (uint32_t i = 0; i < COMING_COUNT_MAX && !atomic_load(&coming->is_over); i++) {
        send_to(coming->world->topics, "index.one.1", 0,
                message_titled(1, ALIKE_COUNT + i, arena_printf(arena, "new%u", i), "bicycle", 1, 0,
                               arena));
        arena_reset(arena);
        usleep(200);
    }
    arena_free(arena);
    return NULL;
}

/* The page is these: pk5, pk6, ... */
static bool is_alike(const Torg__V1__StageAnswer *page, unsigned first, struct arena *arena)
{
    for (unsigned i = 0; i < page->n_hits; i++)
        if (strcmp(page->hits[i]->pk, arena_printf(arena, "pk%u", first + i)) != 0)
            return false;
    return page->n_hits == PAGE_COUNT;
}

/* Two pages, one after the other; NULL: they are right. */
static const char *try_pages(struct world *world)
{
    const char *stage = "\"text\":\"bicycle\",\"limit\":" TEXT_OF(PAGE_COUNT);
    const char *json = arena_printf(world->arena, "{\"query\":{\"stages\":[{%s}]}}", stage);
    const Torg__V1__StageAnswer *page = search(world, "one", json)->stages[0];

    if (!is_alike(page, 0, world->arena))
        return "the first page";
    json = arena_printf(world->arena, "{\"query\":{\"stages\":[{%s,\"cursor\":\"%s\"}]}}", stage,
                        (const char *)cursor_json(page, world->arena).data);
    page = search(world, "one", json)->stages[0];
    return is_alike(page, PAGE_COUNT, world->arena)
               ? NULL
               : arena_printf(world->arena, "the second page begins with %s",
                              page->n_hits ? page->hits[0]->pk : "nothing");
}

/* What is equally good is in the order of numbers; those that come are behind it. */
static void a_page_goes_on_behind_the_last_while_documents_come(void **state)
{
    static const struct announced clients[] = {
        {"one", 1, {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
    };
    const int64_t round_count = test_count("TORG_FRONT_ROUNDS", 100, 2000);
    const char *wrong = NULL;
    struct coming coming = {0};
    struct world world;

    (void)state;
    open_world(&world);
    coming.world = &world;
    make_topic(world.topics, "index.one.1", 1);
    send_to(world.topics, "index.one.1", 0, message_schema(1, world.arena));
    for (uint32_t i = 0; i < ALIKE_COUNT; i++)
        send_to(world.topics, "index.one.1", 0,
                message_titled(1, i, arena_printf(world.arena, "pk%u", i), "bicycle", 1, 0,
                               world.arena));
    send_to(world.topics, "index.one.1", 0, message_progress(1, 0, 1, world.arena));
    announce(world.coord, clients, ARRAY_COUNT(clients));
    follow(&world);
    wait_ready(&world, "one", 1);
    assert_int_equal(pthread_create(&coming.thread, NULL, send_more, &coming), 0);
    for (int64_t i = 0; i < round_count && !wrong; i++)
        wrong = try_pages(&world);
    atomic_store(&coming.is_over, true);
    pthread_join(coming.thread, NULL);
    if (wrong)
        fail_msg("%s", wrong);
    close_world(&world);
}

/* ---- epochs, waiting, what is refused ---- */

static void expect_refusal(struct world *world, const char *client, const char *json, int code,
                           const char *part)
{
    Torg__V1__SearchResponse *response;
    struct err err = {0};

    assert_int_equal(try_search(world, client, json, &response, &err), code);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not tell \"%s\"", err.text, part);
}

static void what_is_wrong_is_told(void **state)
{
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "three", 1);
    wait_ready(&world, "one", 1);
    expect_refusal(&world, "four", "{\"query\":{\"stages\":[{}]}}", ERR_NOT_FOUND, "PutDocuments");
    expect_refusal(&world, "three", "{\"query\":{\"stages\":[]}}", ERR_INVALID, "stages");
    expect_refusal(&world, "three", "{\"query\":{\"stages\":[{\"show\":[\"_pk\"]}]}}", ERR_INVALID,
                   "stages[0].show[0]");
    expect_refusal(&world, "three",
                   "{\"query\":{\"stages\":[{\"sorts\":[{\"field\":\"prize\"}]}]}}", ERR_INVALID,
                   "stages[0].sorts[0].field");
    expect_refusal(&world, "three", "{\"query\":{\"stages\":[{\"offset\":9999}]}}", ERR_LIMIT,
                   "stages[0]");
    expect_refusal(&world, "three", "{\"query\":{\"stages\":[{\"cursor\":\"AAAA\"}]}}", ERR_INVALID,
                   "cursor");
    expect_refusal(&world, "three",
                   "{\"query\":{\"stages\":[{},{\"offset\":5,\"cursor\":\"AAAA\"}]}}", ERR_INVALID,
                   "stages[1].offset");
    expect_refusal(&world, "three",
                   "{\"query\":{\"stages\":[{\"cursor\":\"AAAA\",\"rerank\":{\"formula\":\"1\","
                   "\"count\":5}}]}}",
                   ERR_INVALID, "stages[0].cursor: leave it out with rerank");
    expect_refusal(&world, "three", "{}", ERR_INVALID, "query");
    expect_refusal(&world, "three", "{\"epoch\":7,\"query\":{\"stages\":[{}]}}", ERR_NOT_FOUND,
                   "epoch 7");
    expect_refusal(&world, "three", "{\"wait\":[\"nonsense\"],\"query\":{\"stages\":[{}]}}",
                   ERR_INVALID, "wait[0]");
    close_world(&world);
}

/* Fronts ask for one hit more than a page may have; others are told. */
static void a_shard_gives_no_more_than_a_page(void **state)
{
    Torg__V1__ShardRequest request = TORG__V1__SHARD_REQUEST__INIT;
    Torg__V1__StagePart part = TORG__V1__STAGE_PART__INIT;
    Torg__V1__StagePart *parts[] = {&part};
    const struct index_view *view;
    Torg__V1__ShardAnswer *answer;
    struct err err = {0};
    struct world world;
    struct reading reading;
    struct replica *replica;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "one", 1);
    view = follower_view(world.follower);
    replica = client_find_epoch(view_find(view, "one"), 1)->shards[0];
    request.query = read_request(&world, "{\"query\":{\"stages\":[{}]}}")->query;
    reading_init(&reading, request.query, 0, world.arena);
    request.stages = parts;
    request.n_stages = 1;
    part.limit = QUERY_HIT_COUNT_MAX + 1;
    assert_int_equal(
        local_search(replica, &request, &reading, deadline(READY_MS), world.arena, &answer, &err),
        0);
    assert_int_equal(answer->stages[0]->n_hits, DOC_COUNT);
    part.skip = DOC_COUNT - 3; /* hits before the page are neither read nor told */
    assert_int_equal(
        local_search(replica, &request, &reading, deadline(READY_MS), world.arena, &answer, &err),
        0);
    assert_int_equal(answer->stages[0]->n_hits, 3);
    assert_int_equal(answer->stages[0]->skipped, DOC_COUNT - 3);
    part.skip = part.limit + 1;
    assert_int_equal(
        local_search(replica, &request, &reading, deadline(READY_MS), world.arena, &answer, &err),
        ERR_INVALID);
    assert_non_null(strstr(err.text, "stages[0].skip"));
    part.skip = 0;
    part.limit++;
    assert_int_equal(
        local_search(replica, &request, &reading, deadline(READY_MS), world.arena, &answer, &err),
        ERR_INVALID);
    assert_non_null(strstr(err.text, "stages[0].limit"));
    reading_release(&reading);
    view_release(view);
    close_world(&world);
}

static void ask_both_rounds(struct world *world, const struct index_view *view, uint32_t shard,
                            struct reading *reading, Torg__V1__ShardAnswer **answer)
{
    struct replica *replica = client_find_epoch(view_find(view, "three"), 1)->shards[shard];
    Torg__V1__ShardRequest request = TORG__V1__SHARD_REQUEST__INIT;
    Torg__V1__StagePart part = TORG__V1__STAGE_PART__INIT;
    Torg__V1__StagePart *parts[] = {&part, &part};
    Torg__V1__ShardWords *words;
    struct err err = {0};

    part.limit = PAGE_COUNT;
    request.query = (Torg__V1__Query *)reading->message;
    request.stages = parts;
    request.n_stages = request.query->n_stages;
    if (local_count_words(replica, &request, reading, deadline(READY_MS), world->arena, &words,
                          &err) ||
        local_search(replica, &request, reading, deadline(READY_MS), world->arena, answer, &err))
        fail_msg("%s", err.text);
}

static void same_shard_answer(const Torg__V1__ShardAnswer *one, const Torg__V1__ShardAnswer *other)
{
    struct buf wire[] = {BUF_INIT(1 << 20), BUF_INIT(1 << 20)};

    one->answer->microseconds = other->answer->microseconds = 0;
    message_encode(&one->base, &wire[0]);
    message_encode(&other->base, &wire[1]);
    assert_true(bytes_equal(buf_bytes(&wire[0]), buf_bytes(&wire[1])));
    assert_true(one->answer->stages[1]->n_hits > 0);
    buf_release(&wire[0]);
    buf_release(&wire[1]);
}

/* What is read of a query depends on the fields alone, so all shards that have the same ones go by
 * one reading, whether words are counted or hits found. */
static void a_query_is_read_once_for_all_shards(void **state)
{
    static const char json[] =
        "{\"query\":{\"stages\":["
        "{\"text\":\"горный велосипед\",\"facets\":[{\"field\":\"seller\"}]},"
        "{\"text\":\"горный велосипед\",\"anyWord\":true,\"sorts\":[{\"field\":\"price\"}]}]}}";
    const Torg__V1__Query *query;
    const struct index_view *view;
    struct reading shared, own;
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "three", 1);
    view = follower_view(world.follower);
    query = read_request(&world, json)->query;
    reading_init(&shared, query, 0, world.arena);
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        Torg__V1__ShardAnswer *by_all, *by_one;

        ask_both_rounds(&world, view, i, &shared, &by_all);
        reading_init(&own, query, 0, world.arena);
        ask_both_rounds(&world, view, i, &own, &by_one);
        same_shard_answer(by_all, by_one);
        reading_release(&own);
    }
    assert_int_equal(shared.read_count, 1);
    reading_release(&shared);
    view_release(view);
    close_world(&world);
}

/* Shards are searched on other threads: whoever asked is charged for that, too. */
static void a_search_is_billed_what_its_shards_compute(void **state)
{
    struct world world;
    int64_t own_us, billed_us;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "three", 1);
    billed_us = worker_cpu_us() - clock_thread_us();
    for (unsigned i = 0; i < 20; i++)
        search(&world, "three",
               "{\"query\":{\"stages\":[{\"text\":\"горный велосипед\",\"offset\":200}]}}");
    own_us = clock_thread_us();
    billed_us = worker_cpu_us() - own_us - billed_us;
    if (billed_us < 20) /* of searches that take some hundred each */
        fail_msg("%jd us were billed", (intmax_t)billed_us);
    close_world(&world);
}

/* Not as a shard that has too much to do: to try again would be of no use. */
static void a_text_of_too_many_words_is_refused_by_name(void **state)
{
    static const char *const clients[] = {"one", "three"};
    static const char *const limits[] = {"10", "0"}; /* words are counted first, or not at all */
    struct buf text = BUF_INIT(1 << 12);
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "three", 1);
    wait_ready(&world, "one", 1);
    for (int i = 0; i <= QUERY_TEXT_CLAUSE_COUNT_MAX; i++)
        buf_put_text(&text, "word ");
    for (size_t i = 0; i < ARRAY_COUNT(clients); i++)
        for (size_t k = 0; k < ARRAY_COUNT(limits); k++)
            expect_refusal(&world, clients[i],
                           arena_printf(world.arena,
                                        "{\"query\":{\"stages\":[{\"limit\":%s,\"text\":\"%s\"}]}}",
                                        limits[k], buf_text(&text)),
                           ERR_INVALID, "64 words");
    buf_release(&text);
    close_world(&world);
}

/* A cursor's hash is no secret: what it says is input like any other. */
static struct bytes forge(struct world *world, struct rng *rng, const Torg__V1__Query *query)
{
    uint32_t count = (uint32_t)rng_below(rng, 6);
    struct cursor_place *places = arena_array(world->arena, count + 1, sizeof(*places));
    const struct page_cursor cursor = {
        .query_hash = part_query_hash(query, 0, world->arena),
        .epoch = 1,
        .depth = (uint32_t)(rng_below(rng, 2) ? rng_below(rng, 100) : rng_next(rng)),
        .places = places,
        .place_count = count};

    for (uint32_t i = 0; i < count; i++) {
        struct query_place *place = &places[i].place;

        places[i].shard = (uint32_t)rng_below(rng, 5);
        place->id = (uint32_t)rng_next(rng);
        place->count = (uint32_t)rng_below(rng, SORT_COUNT_MAX + 1);
        for (uint32_t k = 0; k < place->count; k++) {
            place->keys[k] = rng_below(rng, 3) ? rng_next(rng) : UINT64_MAX;
            if (rng_below(rng, 2))
                place->texts[k] = bytes_make("seller5\0\xff", rng_below(rng, 10));
        }
    }
    return cursor_encode(&cursor, world->arena);
}

/* What lacks a word is another list than what may: their pages do not go on from each other. */
static void a_cursor_knows_whether_all_words_are_wanted(void **state)
{
    const char *json =
        "{\"query\":{\"stages\":[{\"text\":\"горный велосипед\",\"anyWord\":true}]}}";
    const Torg__V1__Query *query;
    struct world world;
    uint64_t any;

    (void)state;
    open_world(&world);
    query = read_request(&world, json)->query;
    any = part_query_hash(query, 0, world.arena);
    query->stages[0]->not_all = true;
    assert_int_not_equal(part_query_hash(query, 0, world.arena), any);
    close_world(&world);
}

static void a_forged_cursor_is_harmless(void **state)
{
    static const char *const stages[] = {
        "\"sorts\":[{\"field\":\"seller\"}]",
        "\"sorts\":[{\"field\":\"seller\",\"descending\":true},{\"field\":\"price\"}]",
        "\"text\":\"велосипед\"",
        "\"cap\":{\"field\":\"seller\",\"count\":1},\"sorts\":[{\"field\":\"category\"}]",
        "\"limit\":3",
    };
    struct rng rng = test_seed();
    unsigned taken = 0;
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "three", 1);
    for (int i = 0; i < 300; i++) {
        const char *json = arena_printf(world.arena, "{\"query\":{\"stages\":[{%s}]}}",
                                        stages[rng_below(&rng, ARRAY_COUNT(stages))]);
        Torg__V1__SearchRequest *request = read_request(&world, json);
        struct bytes cursor = forge(&world, &rng, request->query);
        Torg__V1__SearchResponse response = TORG__V1__SEARCH_RESPONSE__INIT;
        struct err err = {0};
        int rc;

        request->query->stages[0]->cursor.data = (uint8_t *)cursor.data;
        request->query->stages[0]->cursor.len = cursor.size;
        rc = front_search(&world.front, "three", request, deadline(READY_MS), world.arena,
                          &response, &err);
        if (rc && rc != ERR_INVALID && rc != ERR_LIMIT)
            fail_msg("%s", err.text);
        taken += rc == 0;
    }
    assert_true(taken > 0);
    close_world(&world);
}

static void a_search_waits_for_a_write(void **state)
{
    const struct change_token token = {.client_id = 2, .lane = 0, .shard = 1, .idx = 5};
    const struct change_token foreign = {.client_id = 1, .lane = 0, .shard = 0, .idx = 1};
    Torg__V1__SearchResponse *response;
    struct world world;
    struct err err = {0};
    const char *json;
    int64_t began_us;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "three", 1);
    json = arena_printf(world.arena,
                        "{\"wait\":[\"%s\"],\"query\":{\"stages\":[{\"text\":\"единорог\"}]}}",
                        change_token_text(&token, &(struct seal){{0}}, world.arena));
    response = arena_alloc(world.arena, sizeof(*response));
    torg__v1__search_response__init(response);
    began_us = clock_mono_us(clock_system());
    assert_int_equal(front_search(&world.front, "three", read_request(&world, json), deadline(150),
                                  world.arena, response, &err),
                     ERR_TIMEOUT);
    assert_true(clock_mono_us(clock_system()) - began_us >= 145 * MS_US);
    send_to(world.topics, "index.three.1", 1,
            message_titled(1, 7, "unicorn", "единорог", 1, 0, world.arena));
    send_to(world.topics, "index.three.1", 1, message_progress(1, 0, 5, world.arena));
    assert_int_equal(search(&world, "three", json)->stages[0]->n_hits, 1);
    expect_refusal(&world, "three",
                   arena_printf(world.arena, "{\"wait\":[\"%s\"],\"query\":{\"stages\":[{}]}}",
                                change_token_text(&foreign, &(struct seal){{0}}, world.arena)),
                   ERR_INVALID, "another client");
    close_world(&world);
}

/* As JSON has it, the offset of shard 1 moved on, its attributes further still. */
static const char *seen_beyond(struct world *world, const Torg__V1__SearchResponse *response,
                               uint64_t more, uint64_t ahead, int64_t client_id, int64_t epoch)
{
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;
    struct buf json = BUF_INIT(4096);
    struct seen seen;
    struct err err = {0};
    struct bytes binary;
    const char *text;

    assert_int_equal(
        seen_decode(bytes_make(response->seen.data, response->seen.len), world->arena, &seen, &err),
        0);
    assert_int_equal(seen.shard_count, SHARD_COUNT);
    assert_int_equal(seen.applied[1], seen.offsets[1]);
    seen.offsets[1] += more;
    seen.applied[1] += more + ahead;
    seen.client_id = client_id;
    seen.epoch = epoch;
    binary = seen_encode(&seen, world->arena);
    request.seen.data = (uint8_t *)binary.data;
    request.seen.len = binary.size;
    request.query =
        read_request(world, "{\"query\":{\"stages\":[{\"text\":\"единорог\"}]}}")->query;
    json_encode(&request.base, &json);
    text = arena_strdup(world->arena, buf_text(&json));
    buf_release(&json);
    return text;
}

/* Another replica has shown what this one does not have yet. */
static void a_search_shows_nothing_older_than_was_seen(void **state)
{
    Torg__V1__SearchResponse *response;
    struct world world;
    struct err err = {0};
    const char *json, *ahead;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "three", 1);
    assert_int_equal(try_search(&world, "three", "{\"query\":{\"stages\":[{}]}}", &response, &err),
                     0);
    ahead = seen_beyond(&world, response, 0, 1, 2, 1);
    assert_int_equal(front_search(&world.front, "three", read_request(&world, ahead), deadline(150),
                                  world.arena, MESSAGE_NEW(search_response, world.arena), &err),
                     ERR_TIMEOUT);
    json = seen_beyond(&world, response, 2, 0, 2, 1);
    assert_int_equal(front_search(&world.front, "three", read_request(&world, json), deadline(150),
                                  world.arena, MESSAGE_NEW(search_response, world.arena), &err),
                     ERR_TIMEOUT);
    assert_int_equal(
        search(&world, "three", seen_beyond(&world, response, 2, 0, 2, 9))->stages[0]->n_hits,
        0); /* of another epoch */
    expect_refusal(&world, "three", seen_beyond(&world, response, 0, 0, 1, 1), ERR_INVALID,
                   "another client");
    expect_refusal(&world, "three", "{\"seen\":\"AAAA\",\"query\":{\"stages\":[{}]}}", ERR_INVALID,
                   "seen: is not what an earlier answer gave");
    send_to(world.topics, "index.three.1", 1,
            message_titled(1, 7, "unicorn", "единорог", 1, 0, world.arena));
    send_to(world.topics, "index.three.1", 1, message_progress(1, 0, 5, world.arena));
    assert_int_equal(search(&world, "three", json)->stages[0]->n_hits, 1);
    assert_int_equal(search(&world, "three", ahead)->stages[0]->n_hits, 1);
    close_world(&world);
}

/* Until the only shard of client "one" says why it cannot go on. */
static void wait_reason(struct world *world, const char *reason)
{
    int64_t until_us = deadline(READY_MS);
    struct replica_state state = {0};

    while (!strstr(state.reason, reason)) {
        const struct index_view *view = follower_view(world->follower);

        replica_state(client_find_epoch(view_find(view, "one"), 1)->shards[0], &state);
        view_release(view);
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("the shard says \"%s\"", state.reason);
    }
}

/* The unicorn's price is another one in the index, and its batch is not shown: the refusal of what
 * comes with it is on its way. */
static void change_price_unshown(struct world *world)
{
    struct topic_faults *faults = topics_faults(world->topics);

    atomic_store(&faults->fail_read, -1);
    wait_reason(world, "read failed"); /* what is sent from now on comes as one */
    send_to(world->topics, "index.one.1", 0,
            message_titled(1, 7, "unicorn", "единорог", 2, 0, world->arena));
    send_to(world->topics, "index.one.1", 0,
            message_titled(1, 10, "bad", "единорог", 1, -1, world->arena));
    atomic_store(&faults->hold_produce, 1);
    atomic_store(&faults->fail_read, 0);
}

/* Attributes change before their batch is shown: who has seen them is to be shown no older ones by
 * another replica, though it has the same snapshot. */
static void attributes_that_are_ahead_are_seen(void **state)
{
    const struct change_token token = {.client_id = 1, .lane = 0, .shard = 0, .idx = 5};
    const char *find = "{\"wait\":[\"%s\"],\"query\":{\"stages\":[{\"text\":\"единорог\"}]}}";
    const char *dear = "{\"query\":{\"stages\":[{\"text\":\"единорог\",\"filter\":"
                       "{\"range\":{\"field\":\"price\",\"min\":\"2\"}}}]}}";
    int64_t until_us = deadline(READY_MS);
    Torg__V1__SearchResponse *response;
    Torg__V1__SearchRequest *again;
    struct world world;
    struct seen seen;
    struct err err = {0};

    (void)state;
    open_world(&world);
    fill(&world, 1);
    send_to(world.topics, "index.one.1", 0,
            message_titled(1, 7, "unicorn", "единорог", 1, 0, world.arena));
    send_to(world.topics, "index.one.1", 0, message_progress(1, 0, 5, world.arena));
    follow(&world);
    wait_ready(&world, "one", 1);
    find = arena_printf(world.arena, find,
                        change_token_text(&token, &(struct seal){{0}}, world.arena));
    assert_int_equal(search(&world, "one", find)->stages[0]->n_hits, 1);
    change_price_unshown(&world);
    do {
        assert_int_equal(try_search(&world, "one", dear, &response, &err), 0);
        assert_true(clock_mono_us(clock_system()) < until_us);
    } while (!response->answer->stages[0]->n_hits);
    assert_int_equal(
        seen_decode(bytes_make(response->seen.data, response->seen.len), world.arena, &seen, &err),
        0);
    assert_int_equal(seen.offsets[0], DOC_COUNT + 4);
    assert_in_range(seen.applied[0], DOC_COUNT + 5, DOC_COUNT + 6);
    atomic_store(&topics_faults(world.topics)->fail_produce, -1);
    atomic_store(&topics_faults(world.topics)->hold_produce, 0);
    /* It is not behind itself: nobody waits for a publication that may be long in coming. */
    wait_reason(&world, "produce failed");
    again = read_request(&world, dear);
    again->seen = response->seen;
    assert_int_equal(front_search(&world.front, "one", again, deadline(READY_MS), world.arena,
                                  MESSAGE_NEW(search_response, world.arena), &err),
                     0);
    atomic_store(&topics_faults(world.topics)->fail_produce, 0);
    close_world(&world);
}

static void a_cursor_knows_its_epoch(void **state)
{
    static const struct announced switched[] = {
        {"one",
         1,
         {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__KEPT},
          {2, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
    };
    static const struct announced retired[] = {
        {"one", 1, {{2, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING}}},
    };
    const char *first = "{\"query\":{\"stages\":[{\"limit\":3}]}}";
    const Torg__V1__StageAnswer *page;
    Torg__V1__SearchResponse *response;
    struct world world;
    struct err err = {0};
    const char *next;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    wait_ready(&world, "one", 1);
    page = search(&world, "one", first)->stages[0];
    next = arena_printf(world.arena, "{\"query\":{\"stages\":[{\"limit\":3,\"cursor\":\"%s\"}]}}",
                        (const char *)cursor_json(page, world.arena).data);
    make_topic(world.topics, "index.one.2", 1);
    send_to(world.topics, "index.one.2", 0, message_schema(1, world.arena));
    send_to(world.topics, "index.one.2", 0,
            message_titled(1, 7, "unicorn", "единорог", 1, 0, world.arena));
    send_to(world.topics, "index.one.2", 0, message_progress(1, 0, 1, world.arena));
    announce(world.coord, switched, 1);
    wait_ready(&world, "one", 2);
    do { /* the view may be older than the replica's start */
        assert_int_equal(try_search(&world, "one", first, &response, &err), 0);
    } while (response->epoch != 2);
    assert_int_equal(response->answer->stages[0]->total, 1);
    assert_int_equal(try_search(&world, "one", next, &response, &err), 0);
    assert_int_equal(response->epoch, 1); /* the kept one goes on */
    assert_int_equal(response->answer->stages[0]->n_hits, 3);
    announce(world.coord, retired, 1);
    while (!try_search(&world, "one", next, &response, &err))
        assert_int_equal(response->epoch, 1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "not served"));
    close_world(&world);
}

static void a_cursor_leads_to_no_epoch_that_is_built(void **state)
{
    static const struct announced built[] = {
        {"one",
         1,
         {{1, TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING},
          {2, TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING}}},
    };
    Torg__V1__SearchResponse *response;
    struct world world;
    struct err err = {0};
    const char *cursor;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    make_topic(world.topics, "index.one.2", 1);
    send_to(world.topics, "index.one.2", 0, message_schema(1, world.arena));
    for (uint32_t i = 0; i < 3; i++)
        send_to(world.topics, "index.one.2", 0,
                message_titled(1, i, arena_printf(world.arena, "pk%u", i), "единорог", 1, 0,
                               world.arena));
    send_to(world.topics, "index.one.2", 0, message_progress(1, 0, 1, world.arena));
    announce(world.coord, built, 1);
    follow(&world);
    wait_ready(&world, "one", 2);
    assert_int_equal(try_search(&world, "one",
                                "{\"epoch\":\"2\",\"query\":{\"stages\":[{\"limit\":1}]}}",
                                &response, &err),
                     0);
    cursor = (const char *)cursor_json(response->answer->stages[0], world.arena).data;
    for (int named = 0; named < 2; named++) {
        const char *next = arena_printf(
            world.arena, "{%s\"query\":{\"stages\":[{\"limit\":1,\"cursor\":\"%s\"}]}}",
            named ? "\"epoch\":\"2\"," : "", cursor);
        int rc = try_search(&world, "one", next, &response, &err);

        assert_int_equal(rc, named ? 0 : ERR_INVALID);
        if (rc)
            assert_non_null(strstr(err.text, "stages[0].cursor: is of epoch 2"));
    }
    close_world(&world);
}

static void facets_of_one_name_are_not_mixed(void **state)
{
    const char *json = "{\"query\":{\"unknownIsEmpty\":true,\"stages\":[{\"limit\":1,\"facets\":["
                       "{\"name\":\"x\",\"field\":\"nowhere\"},{\"name\":\"x\",\"field\":"
                       "\"seller\"}]}]}}";
    static const char *const clients[] = {"one", "three"};
    struct world world;

    (void)state;
    open_world(&world);
    fill(&world, 1);
    follow(&world);
    for (size_t i = 0; i < ARRAY_COUNT(clients); i++) {
        const Torg__V1__StageAnswer *stage;

        wait_ready(&world, clients[i], 1);
        stage = search(&world, clients[i], json)->stages[0];
        assert_int_equal(stage->n_facets, 2);
        assert_int_equal(stage->facets[0]->n_values, 0);
        assert_true(stage->facets[1]->n_values > 0);
    }
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_shards_answer_as_one),
        cmocka_unit_test(an_answer_outlives_its_shards),
        cmocka_unit_test(a_second_phase_goes_over_all_shards),
        cmocka_unit_test(pages_by_cursor_are_the_list),
        cmocka_unit_test(a_capped_list_goes_on_when_more_comes),
        cmocka_unit_test(pages_stay_while_documents_grow_older),
        cmocka_unit_test(a_page_goes_on_behind_the_last_while_documents_come),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(a_shard_gives_no_more_than_a_page),
        cmocka_unit_test(a_query_is_read_once_for_all_shards),
        cmocka_unit_test(a_search_is_billed_what_its_shards_compute),
        cmocka_unit_test(a_text_of_too_many_words_is_refused_by_name),
        cmocka_unit_test(a_cursor_knows_whether_all_words_are_wanted),
        cmocka_unit_test(a_forged_cursor_is_harmless),
        cmocka_unit_test(a_search_waits_for_a_write),
        cmocka_unit_test(a_search_shows_nothing_older_than_was_seen),
        cmocka_unit_test(attributes_that_are_ahead_are_seen),
        cmocka_unit_test(a_cursor_knows_its_epoch),
        cmocka_unit_test(a_cursor_leads_to_no_epoch_that_is_built),
        cmocka_unit_test(facets_of_one_name_are_not_mixed),
    };

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    return cmocka_run_group_tests_name("front", tests, NULL, NULL);
}
