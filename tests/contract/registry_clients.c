/* SPDX-License-Identifier: Apache-2.0 */
/* registry_clients.c - a client whose rows cannot be read stands still by itself: others are
 * listed, announced, swept and written to. */
#include "contract/registry_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "coord/bounds.h"
#include "patience.h"
#include "registry/receiving/keeper.h"

enum { LIFE_S = 5 };

/* "broken" was made first: whoever stops at it does not come to "whole". */
static struct arena *open_two(void **state, struct registry_place *place)
{
    static const char *const names[] = {"broken", "whole"};
    struct arena *arena;

    if (!registry_place_open(place, case_on_servers(state)))
        skip();
    arena = arena_new();
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        Torg__V1__RawDocument *document = document_of(arena, names[i], 1, "bicycle", 1);

        document->expire_time =
            moment_message(clock_wall_us(&place->clock.base) + LIFE_S * SECOND_US, arena);
        expect_kind(put_one(place, names[i], document, arena), TORG__V1__VERDICT__KIND__ACCEPTED);
    }
    return arena;
}

#define OF_BROKEN " WHERE client_id = (SELECT id FROM registry_client WHERE name = 'broken')"

static void damage(struct registry_place *place)
{
    exec(place->store, place->postgres ? "UPDATE registry_field SET field = '\\xff'" OF_BROKEN
                                       : "UPDATE registry_field SET field = X'ff'" OF_BROKEN);
    registry_place_forget(place);
}

static void mend(struct registry_place *place)
{
    exec(place->store, "DELETE FROM registry_field" OF_BROKEN);
    exec(place->store, "UPDATE registry_client SET state_no = state_no + 1 WHERE name = 'broken'");
}

static int64_t unreadable_count(void)
{
    return metrics_gauge("torg_registry_unreadable_clients", NULL, "")->value;
}

static void expect_list(struct registry_place *place, const char *listed, const char *passed,
                        struct arena *arena)
{
    const struct client_view **clients;
    const char *const *unreadable;
    char text[100] = "";
    struct err err = {0};
    size_t count;

    if (clients_list(place->receiver.clients, true, arena, &clients, &count, &unreadable, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", clients[i]->name);
        client_unref(clients[i]);
    }
    assert_string_equal(text, listed);
    text[0] = 0;
    for (; *unreadable; unreadable++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", *unreadable);
    assert_string_equal(text, passed);
}

/* How often the text is in what was logged. */
static int count_logged(FILE *log, const char *text)
{
    char line[LOG_LINE_SIZE_MAX];
    int count = 0;

    rewind(log);
    while (fgets(line, sizeof(line), log))
        count += strstr(line, text) != NULL;
    return count;
}

static void the_others_are_listed_and_it_is_counted(void **state)
{
    struct registry_place place;
    struct arena *arena;
    const struct client_view *client;
    Torg__V1__Verdict **verdicts;
    Torg__V1__RawDocument *document;
    struct err err = {0};
    FILE *log;

    arena = open_two(state, &place);
    log = tmpfile();
    assert_non_null(log);
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_ERROR, fileno(log));
    document = document_of(arena, "a", 1, "bicycle", 1);
    expect_list(&place, "broken whole ", "", arena);
    damage(&place);
    for (int i = 0; i < 3; i++)
        expect_list(&place, "whole ", "broken ", arena);
    assert_int_equal(unreadable_count(), 1);
    assert_int_equal(count_logged(log, "a client cannot be read"), 1);
    assert_int_equal(clients_find(place.receiver.clients, "broken", false, &client, &err),
                     ERR_CORRUPT);
    assert_non_null(strstr(err.text, "client broken"));
    /* who writes to it is told so at once, not to try again for ever */
    assert_int_equal(
        receiver_put(&place.receiver, "broken", LANE_MAIN, &document, 1, arena, &verdicts, &err),
        ERR_CORRUPT);
    expect_kind(put_one(&place, "whole", document, arena), TORG__V1__VERDICT__KIND__ACCEPTED);
    mend(&place);
    expect_list(&place, "broken whole ", "", arena);
    assert_int_equal(unreadable_count(), 0);
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_ERROR, STDERR_FILENO);
    fclose(log);
    registry_place_close(&place);
    arena_free(arena);
}

/* Values that no code of ours has written must not lead it astray. */
static void odd_rows_are_unreadable_too(void **state)
{
    static const char *const oddities[] = {
        "UPDATE registry_field SET number = 100000" OF_BROKEN,
        "UPDATE registry_client SET shard_count = 1000000 WHERE name = 'broken'",
        "UPDATE registry_client SET shard_count = 0 WHERE name = 'broken'",
        "DELETE FROM registry_epoch" OF_BROKEN,
    };

    for (size_t i = 0; i < ARRAY_COUNT(oddities); i++) {
        struct registry_place place;
        struct arena *arena;

        arena = open_two(state, &place);
        exec(place.store, oddities[i]);
        registry_place_forget(&place);
        expect_list(&place, "whole ", "broken ", arena);
        registry_place_close(&place);
        arena_free(arena);
    }
}

static void expect_announced(struct coord *coord, struct arena *arena)
{
    struct buf value = BUF_INIT(COORD_VALUE_SIZE_MAX);
    const Torg__V1__IndexMap *map;
    ProtobufCMessage *message;
    struct err err = {0};
    uint64_t version;
    bool is_there = false;

    if (coord_get(coord, INDEX_MAP_KEY, &value, &version, &err) ||
        message_decode(arena_copy(arena, buf_bytes(&value)), &torg__v1__index_map__descriptor,
                       arena, &message, &err))
        fail_msg("%s", err.text);
    map = (const Torg__V1__IndexMap *)message;
    assert_int_equal(map->n_clients, 2);
    for (size_t i = 0; i < map->n_clients; i++)
        is_there = is_there ||
                   (strcmp(map->clients[i]->name, "broken") == 0 && map->clients[i]->n_epochs == 1);
    assert_true(is_there);
    buf_release(&value);
}

/* Searchers keep what they have of it: it is announced as it was. */
static void it_stays_in_the_map_of_indexes(void **state)
{
    struct registry_place place;
    struct arena *arena;
    struct coord *coord;
    struct err err = {0};

    arena = open_two(state, &place);
    if (coord_open("memory:clients-map", "only", NULL, &coord, &err) ||
        clients_announce(place.receiver.clients, coord, &err))
        fail_msg("%s", err.text);
    expect_announced(coord, arena);
    damage(&place);
    for (int i = 0; i < 2; i++) {
        if (clients_announce(place.receiver.clients, coord, &err))
            fail_msg("%s", err.text);
        expect_announced(coord, arena);
    }
    coord_close(coord);
    registry_place_close(&place);
    arena_free(arena);
}

static void wait_for_tombstones(struct registry_place *place, int64_t wanted)
{

    for (int ms = 0;
         read_integer(place->store, "SELECT COUNT(*) FROM registry WHERE status = 2") != wanted;
         ms += 10) {
        assert_true(ms < PATIENCE_MS);
        pause_ms(10);
    }
}

static void the_others_are_swept(void **state)
{
    struct registry_place place;
    struct arena *arena;
    struct keeper *keeper;
    struct err err = {0};

    arena = open_two(state, &place);
    if (coord_open("memory:clients-sweep", "only", NULL, &place.receiver.coord, &err))
        fail_msg("%s", err.text);
    damage(&place);
    clock_manual_advance(&place.clock, (LIFE_S + 1) * (int64_t)SECOND_US);
    if (keeper_start(&place.receiver, &keeper, &err))
        fail_msg("%s", err.text);
    wait_for_tombstones(&place, 1);
    assert_int_equal(read_integer(place.store, "SELECT status FROM registry WHERE pk = 'whole'"),
                     2);
    mend(&place);
    wait_for_tombstones(&place, 2);
    keeper_stop(keeper);
    coord_close(place.receiver.coord);
    place.receiver.coord = NULL;
    registry_place_close(&place);
    arena_free(arena);
}

static const struct test_case cases[] = {
    CASE(the_others_are_listed_and_it_is_counted),
    CASE(odd_rows_are_unreadable_too),
    CASE(it_stays_in_the_map_of_indexes),
    CASE(the_others_are_swept),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "registry-clients"};

    cases_on_stores(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
