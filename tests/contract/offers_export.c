/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers_export.c - export, expiry and the worker that does them: on SQLite with a topic in files
 * and coord within the process, and on PostgreSQL with Kafka and ZooKeeper.
 *
 * Kafka's topics are shared by all cases: only records after the test's start, of offers in the
 * test's own schema, are looked at.
 */
#include "contract/offers_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "codec/message.h"
#include "contract/topics_place.h"
#include "model/topics.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/outbox/expiry.h"
#include "offers/outbox/export.h"
#include "offers/outbox/worker.h"
#include "patience.h"
#include "topic/bounds.h"
#include "torg/v1/offer_update.pb-c.h"

enum { WAIT_MS = PATIENCE_MS, SELLER_COUNT = 20, RECORD_COUNT_MAX = 4000 };

/* Where nobody waits for its end, it is longer than a busy machine stands still. */
enum { LEASE_MS = 1000, LEASE_ON_SERVERS_MS = 30000 };

#define MONTH_US (INT64_C(31) * 24 * 3600 * SECOND_US)

static const char *const topic_names[] = {TOPIC_OFFER_UPDATES, TOPIC_MODERATION_REQUESTS};

struct scene {
    struct offers_place place;
    char dir[TEST_DIR_SIZE];
    char coord_url[256];
    struct topics *topics;
    struct topic_faults *faults;
    uint64_t begin[2][TOPIC_PARTITION_COUNT_MAX];
    struct exporter exporter;
    struct coord_shard all[OFFER_SHARD_COUNT]; /* as one owner would hold them */
    struct coord *coords[2];                   /* closed by tear_down, as the worker is stopped */
    struct offers_worker *worker;
};

/* --- the scene --- */

static void hold_all(struct scene *scene, uint64_t ticket)
{
    for (uint32_t i = 0; i < OFFER_SHARD_COUNT; i++)
        scene->all[i] = (struct coord_shard){.shard = i, .ticket = ticket};
}

static uint32_t partition_count(struct scene *scene, const char *topic)
{
    struct topic_config config;
    struct err err;

    OK(topic_describe(scene->topics, topic, &config, &err));
    return config.partition_count;
}

static int set_up(void **state)
{
    static struct scene scenes[2];
    bool servers = case_on_servers(state);
    struct scene *scene = &scenes[servers];
    uint64_t end;
    struct err err;

    memset(scene, 0, sizeof(*scene));
    *state = scene;
    if (servers &&
        (!server_address("postgres") || !server_address("kafka") || !server_address("zookeeper")))
        return 0; /* each test skips */
    assert_true(offers_place_open(&scene->place, servers));
    if (servers)
        snprintf(scene->coord_url, sizeof(scene->coord_url), "zookeeper://%s/torg-export-%" PRIx64,
                 server_address("zookeeper"), random_u64());
    else
        snprintf(scene->coord_url, sizeof(scene->coord_url), "memory:e%" PRIx64, random_u64());
    scene->topics = test_topics_open(scene->dir, servers);
    scene->faults = topics_faults(scene->topics);
    OK(exporter_init(&scene->exporter, &scene->place.offers, scene->topics, NULL, &err));
    for (size_t i = 0; i < ARRAY_COUNT(topic_names); i++) {
        for (uint32_t p = 0; p < partition_count(scene, topic_names[i]); p++)
            OK(topic_range(scene->topics, topic_names[i], p, &end, &scene->begin[i][p], &err));
    }
    hold_all(scene, 1);
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    if (!scene->topics)
        return 0;
    offers_worker_stop(scene->worker);
    for (size_t i = 0; i < ARRAY_COUNT(scene->coords); i++)
        coord_close(scene->coords[i]);
    test_topics_close(scene->topics, scene->dir);
    offers_place_close(&scene->place);
    return 0;
}

static struct scene *start(void **state)
{
    struct scene *scene = *state;

    if (!scene->topics)
        skip();
    return scene;
}

/* --- acting --- */

static offerid create(struct scene *scene, const char *seller)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(seller, arena);
    struct err err;
    offerid id;

    OK(offers_create(&scene->place.offers, &author, content_of(arena, "books", 0, 100, "RUB"),
                     &receipt, &err));
    id = id_of(receipt.id);
    arena_free(arena);
    return id;
}

static void move(struct scene *scene, offerid id, enum offer_move how)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(NULL, arena);
    struct err err;

    OK(offers_move(&scene->place.offers, &author, id, 0, how, &receipt, &err));
    arena_free(arena);
}

static void update(struct scene *scene, const char *seller, offerid id, int64_t revision,
                   int64_t amount)
{
    struct arena *arena = arena_new();
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct author author = author_of(seller, arena);
    struct err err;

    OK(offers_update(&scene->place.offers, &author, id, revision,
                     content_of(arena, "books", 0, amount, "RUB"), &receipt, &err));
    arena_free(arena);
}

static const char *seller_name(char name[16], int number)
{
    snprintf(name, 16, "seller-%d", number);
    return name;
}

/* Offers of several sellers, each with its own number of changes; how many changes that are. */
static size_t write_much(struct scene *scene, int count)
{
    char name[16];
    size_t change_count = 0;

    for (int i = 0; i < count; i++) {
        offerid id = create(scene, seller_name(name, i % SELLER_COUNT));

        for (int j = 0; j < i % 4; j++)
            move(scene, id, j % 2 ? MOVE_REPUBLISH : MOVE_WITHDRAW);
        change_count += 1 + (size_t)(i % 4);
    }
    return change_count;
}

static size_t round_of(struct scene *scene)
{
    struct err err;
    size_t count;

    OK(exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err));
    return count;
}

static void export_all(struct scene *scene)
{
    while (round_of(scene))
        continue;
}

static int64_t number(struct scene *scene, const char *sql)
{
    return read_integer(scene->place.store, sql);
}

static int64_t queue_count(struct scene *scene)
{
    return number(scene, "SELECT COUNT(*) FROM queue");
}

static void wait_for(struct scene *scene, const char *sql, int64_t wanted)
{
    int64_t until = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;

    while (number(scene, sql) != wanted) {
        if (clock_mono_us(clock_system()) > until)
            fail_msg("%s: %" PRId64 ", wanted %" PRId64, sql, number(scene, sql), wanted);
        pause_ms(10);
    }
}

/* --- looking --- */

struct sent {
    offerid id;
    int64_t revision;
    int64_t amount; /* the price: content that is told apart */
    enum offer_status status;
};

static void take_message(const struct topic_message *message, struct arena *arena,
                         struct sent *sent)
{
    Torg__V1__OfferUpdate *update;
    ProtobufCMessage *decoded;
    struct err err;

    OK(message_decode(message->value, &torg__v1__offer_update__descriptor, arena, &decoded, &err));
    update = (Torg__V1__OfferUpdate *)decoded;
    assert_true(bytes_equal_text(message->key, update->offer->id));
    assert_int_equal(update->shard, seller_shard(update->offer->seller));
    assert_true(update->seq > 0);
    *sent = (struct sent){id_of(update->offer->id), update->offer->revision,
                          update->offer->content->price->amount,
                          (enum offer_status)update->offer->status};
}

static int64_t revision_of(struct scene *scene, offerid id)
{
    const struct store_value params[] = {STORE_V_INT(id)};

    return read_integer_of(scene->place.store,
                           "SELECT revision FROM offer WHERE id = $1 AND kind = 'offer'", params,
                           1);
}

/* Everything of this test's offers sent to the topic since it began, in order within an offer. */
static size_t read_sent(struct scene *scene, size_t topic, struct sent *sent)
{
    size_t total = 0;
    struct err err;

    for (uint32_t p = 0; p < partition_count(scene, topic_names[topic]); p++) {
        uint64_t first, end, at = scene->begin[topic][p];

        OK(topic_range(scene->topics, topic_names[topic], p, &first, &end, &err));
        while (at < end) {
            struct arena *arena = arena_new();
            const struct topic_message *messages;
            size_t count;

            OK(topic_read(scene->topics, topic_names[topic], p, at, 100, WAIT_MS, arena, &messages,
                          &count, &err));
            for (size_t i = 0; i < count; i++) {
                assert_true(total < RECORD_COUNT_MAX);
                take_message(&messages[i], arena, &sent[total]);
                total += revision_of(scene, sent[total].id) > 0; /* else it is of another test */
                at = messages[i].offset + 1;
            }
            arena_free(arena);
        }
    }
    return total;
}

/* Whether the record has the newest of its offer's revisions, and is the last that has it. A later
 * record tells nothing older, but where two send at once: what a stale owner has read before its
 * successor sent more may come behind that. */
static bool is_newest(const struct sent *sent, size_t count, size_t place, bool two_send)
{
    bool newest = true;

    for (size_t i = 0; i < count; i++) {
        if (sent[i].id != sent[place].id)
            continue;
        assert_true(two_send || i <= place || sent[i].revision >= sent[place].revision);
        newest = newest && (sent[i].revision < sent[place].revision ||
                            (sent[i].revision == sent[place].revision && i <= place));
    }
    return newest;
}

/* Both topics: in order, and the newest of each offer is what is stored. How many records the first
 * has. */
static size_t check_topics(struct scene *scene, bool two_send)
{
    struct sent *sent = mem_array(RECORD_COUNT_MAX, sizeof(*sent));
    size_t counts[2];

    for (size_t topic = 0; topic < 2; topic++) {
        size_t count = counts[topic] = read_sent(scene, topic, sent);
        int64_t reached = 0;

        for (size_t i = 0; i < count; i++) {
            if (!is_newest(sent, count, i, two_send))
                continue;
            assert_int_equal(sent[i].revision, revision_of(scene, sent[i].id));
            reached++;
        }
        assert_int_equal(reached, number(scene, "SELECT COUNT(*) FROM offer"));
    }
    free(sent);
    return counts[0];
}

/* --- export --- */

static void every_change_reaches_both_topics_in_order(void **state)
{
    struct scene *scene = start(state);
    size_t change_count = write_much(scene, 60);

    assert_int_equal(queue_count(scene), change_count);
    round_of(scene);
    change_count += write_much(scene, 60);
    export_all(scene);
    assert_int_equal(queue_count(scene), 0);
    assert_int_equal(check_topics(scene, false), change_count);
}

/* What the nine changes are, by revision. */
static const struct {
    int64_t amount;
    enum offer_status status;
} nine[] = {
    {100, OFFER_ACTIVE},    {101, OFFER_ACTIVE}, {101, OFFER_SOLD_ON_SITE},
    {101, OFFER_ACTIVE},    {105, OFFER_ACTIVE}, {105, OFFER_WITHDRAWN},
    {107, OFFER_WITHDRAWN}, {107, OFFER_ACTIVE}, {107, OFFER_DELETED},
};

/* Content, a sale and its return, a withdrawal and its end, a deletion: nine revisions in all. */
static offerid change_nine_times(struct scene *scene)
{
    offerid id = create(scene, "s");

    update(scene, "s", id, 1, 101);
    move(scene, id, MOVE_SELL_ON_SITE);
    move(scene, id, MOVE_REPUBLISH);
    update(scene, "s", id, 4, 105);
    move(scene, id, MOVE_WITHDRAW);
    update(scene, "s", id, 6, 107);
    move(scene, id, MOVE_REPUBLISH);
    move(scene, id, MOVE_DELETE);
    return id;
}

/* The topic has the revisions once each, in order, as they were; but `repeated` (0: none),
 * twice. */
static void expect_nine(struct scene *scene, size_t topic, int64_t repeated)
{
    struct sent *sent = mem_array(RECORD_COUNT_MAX, sizeof(*sent));
    size_t count = read_sent(scene, topic, sent);
    size_t place = 0;

    for (int64_t revision = 1; revision <= (int64_t)ARRAY_COUNT(nine); revision++) {
        for (int i = 0; i < (revision == repeated ? 2 : 1); i++, place++) {
            assert_true(place < count);
            assert_int_equal(sent[place].revision, revision);
            assert_int_equal(sent[place].amount, nine[revision - 1].amount);
            assert_int_equal(sent[place].status, nine[revision - 1].status);
        }
    }
    assert_int_equal(count, place);
    free(sent);
}

static void every_revision_leaves_once_as_it_was(void **state)
{
    struct scene *scene = start(state);

    change_nine_times(scene);
    assert_int_equal(queue_count(scene), ARRAY_COUNT(nine));
    export_all(scene);
    assert_int_equal(queue_count(scene), 0);
    expect_nine(scene, 0, 0);
    expect_nine(scene, 1, 0);
}

/* Killed between sending and deleting: what was under way comes again, and nothing else. */
static void a_kill_repeats_what_was_under_way(void **state)
{
    struct scene *scene = start(state);
    struct coord_shard dead = {.shard = seller_shard("s"), .ticket = 1};
    struct coord_shard living = {.shard = dead.shard, .ticket = 2};
    struct exporter other = scene->exporter;
    struct err err;
    size_t count;

    change_nine_times(scene);
    for (int i = 0; i < 4; i++)
        assert_int_equal(round_of(scene), 1);
    /* The fence of its successor stands before it deletes: as if it had died there. */
    atomic_store(&scene->faults->fail_produce, 1);
    assert_int_equal(exporter_round(&other, &living, 1, &count, &err), ERR_UNAVAILABLE);
    assert_int_equal(exporter_round(&scene->exporter, &dead, 1, &count, &err), ERR_STALE);
    do
        OK(exporter_round(&other, &living, 1, &count, &err));
    while (count);
    assert_int_equal(queue_count(scene), 0);
    expect_nine(scene, 0, 5);
    expect_nine(scene, 1, 5);
}

static int forget_bodies(struct store_tx *tx, void *arg, struct err *err)
{
    (void)arg;
    return store_exec(tx, "UPDATE queue SET body = NULL", NULL, 0, NULL, err);
}

/* Rows of a version that did not keep what they announce: the newest is sent for each. */
static void rows_of_an_older_version_send_the_newest(void **state)
{
    struct scene *scene = start(state);
    struct sent sent[RECORD_COUNT_MAX];
    offerid id = create(scene, "s");
    struct err err;

    update(scene, "s", id, 1, 200);
    update(scene, "s", id, 2, 300);
    OK(store_write(scene->place.store, forget_bodies, NULL, &err));
    export_all(scene);
    assert_int_equal(read_sent(scene, 0, sent), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sent[i].revision, 3);
        assert_int_equal(sent[i].amount, 300);
    }
}

static void two_changes_of_an_offer_are_two_batches(void **state)
{
    struct scene *scene = start(state);
    offerid busy = create(scene, "s");

    move(scene, busy, MOVE_WITHDRAW);
    create(scene, "s");
    move(scene, busy, MOVE_REPUBLISH);
    assert_int_equal(round_of(scene), 2); /* rows 1 and 3 */
    assert_int_equal(number(scene, "SELECT MIN(seq) FROM queue"), 2);
    assert_int_equal(number(scene, "SELECT MAX(seq) FROM queue"), 4);
    assert_int_equal(round_of(scene), 1);
    assert_int_equal(number(scene, "SELECT MIN(seq) FROM queue"), 4);
    assert_int_equal(round_of(scene), 1);
    assert_int_equal(round_of(scene), 0);
    assert_int_equal(check_topics(scene, false), 4);
}

/* More of one shard than a window has, and more of all than a batch. */
static void a_long_queue_is_taken_in_parts(void **state)
{
    struct scene *scene = start(state);
    size_t first;

    for (int i = 0; i < EXPORT_WINDOW_COUNT + 50; i++)
        create(scene, "s");
    write_much(scene, 40);
    first = round_of(scene);
    assert_true(first >= EXPORT_WINDOW_COUNT && first <= EXPORT_WINDOW_COUNT + 40);
    export_all(scene);
    assert_int_equal(queue_count(scene), 0);
    check_topics(scene, false);
}

/* Whether this revision of the offer has left, and all before it, in order. */
static bool has_left(struct scene *scene, offerid id, int64_t revision)
{
    struct sent *sent = mem_array(RECORD_COUNT_MAX, sizeof(*sent));
    size_t count = read_sent(scene, 0, sent);
    int64_t last = 0;

    for (size_t i = 0; i < count; i++) {
        if (sent[i].id != id)
            continue;
        assert_int_equal(sent[i].revision, last + 1);
        last = sent[i].revision;
    }
    free(sent);
    return last >= revision;
}

/* However long the queue of their shard is, with the rows of their offers before them. */
static void takedowns_overtake_a_long_queue(void **state)
{
    struct scene *scene = start(state);
    offerid banned, deleted;

    for (int i = 0; i < 3 * EXPORT_WINDOW_COUNT; i++)
        create(scene, "s");
    banned = create(scene, "s");
    deleted = create(scene, "s");
    update(scene, "s", banned, 1, 200);
    move(scene, banned, MOVE_BAN);
    move(scene, deleted, MOVE_DELETE);
    update(scene, "s", banned, 3, 300); /* stays banned: no takedown */
    round_of(scene);
    assert_false(has_left(scene, banned, 2)); /* one of each offer at a time */
    round_of(scene);
    assert_true(has_left(scene, deleted, 2));
    round_of(scene);
    assert_true(has_left(scene, banned, 3));
    assert_false(has_left(scene, banned, 4));
    assert_int_equal(number(scene, "SELECT COUNT(*) FROM queue WHERE urgent > 0"), 0);
    assert_true(queue_count(scene) > 0);
    export_all(scene);
    assert_int_equal(queue_count(scene), 0);
    assert_int_equal(check_topics(scene, false), 3 * EXPORT_WINDOW_COUNT + 6);
}

/* As one that sends a feed: sellers of other shards are in the very next round, each time. */
static void a_long_queue_of_one_seller_holds_up_no_other(void **state)
{
    struct scene *scene = start(state);

    assert_int_not_equal(seller_shard("s"), seller_shard("t"));
    for (int i = 0; i < 5 * EXPORT_WINDOW_COUNT; i++)
        create(scene, "s");
    for (int i = 0; i < 3; i++) {
        offerid other = create(scene, "t");

        round_of(scene);
        assert_true(has_left(scene, other, 1));
    }
    assert_true(queue_count(scene) >= EXPORT_WINDOW_COUNT);
}

static void nothing_is_deleted_before_every_acknowledgement(void **state)
{
    struct scene *scene = start(state);
    size_t change_count = write_much(scene, 10);
    struct err err;
    size_t count;

    atomic_store(&scene->faults->fail_produce, 1);
    assert_int_equal(exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err),
                     ERR_UNAVAILABLE);
    assert_int_equal(count, 0);
    assert_int_equal(queue_count(scene), change_count);
    atomic_store(&scene->faults->lose_ack, 1);
    assert_int_equal(exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err),
                     ERR_TIMEOUT);
    assert_int_equal(count, 0);
    assert_int_equal(queue_count(scene), change_count);
    export_all(scene);
    assert_int_equal(queue_count(scene), 0);
    assert_true(check_topics(scene, false) >
                change_count); /* what was stored without an answer, twice */
}

/* The one that fails is the second; the first has them already. */
static void a_topic_that_fails_repeats_no_other(void **state)
{
    struct scene *scene = start(state);
    size_t change_count = write_much(scene, 10);
    struct sent *sent = mem_array(RECORD_COUNT_MAX, sizeof(*sent));
    struct err err;
    size_t count;

    for (int i = 0; i < 5; i++) {
        atomic_store(&scene->faults->spare_produce, i == 0);
        atomic_store(&scene->faults->fail_produce, 1);
        assert_int_equal(
            exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err),
            ERR_UNAVAILABLE);
        assert_int_equal(queue_count(scene), change_count);
    }
    export_all(scene);
    assert_int_equal(queue_count(scene), 0);
    assert_int_equal(check_topics(scene, false), change_count);
    assert_int_equal(read_sent(scene, 1, sent), change_count);
    free(sent);
}

static void a_stale_ticket_deletes_nothing(void **state)
{
    struct scene *scene = start(state);
    struct exporter other = scene->exporter;
    struct coord_shard old[OFFER_SHARD_COUNT];
    struct err err;
    size_t count;

    round_of(scene); /* ticket 1 is recorded */
    memcpy(old, scene->all, sizeof(old));
    create(scene, "s");
    /* The new owner has deleted nothing yet: that it came is enough. */
    hold_all(scene, 2);
    scene->all[0] = scene->all[seller_shard("s")];
    atomic_store(&scene->faults->fail_produce, 1);
    assert_int_equal(exporter_round(&other, scene->all, 1, &count, &err), ERR_UNAVAILABLE);
    assert_int_equal(exporter_round(&scene->exporter, old, OFFER_SHARD_COUNT, &count, &err),
                     ERR_STALE);
    assert_int_equal(count, 0);
    assert_int_equal(queue_count(scene), 1);
    OK(exporter_round(&other, scene->all, 1, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(queue_count(scene), 0);
}

static void a_stale_shard_holds_up_no_other(void **state)
{
    struct scene *scene = start(state);
    struct exporter other = scene->exporter;
    struct coord_shard taken = {.shard = seller_shard("seller-0"), .ticket = 9};
    struct err err;
    size_t count;

    round_of(scene);
    OK(exporter_round(&other, &taken, 1, &count, &err));
    write_much(scene, SELLER_COUNT);
    exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err);
    assert_true(count > 0);
    while (count)
        assert_int_equal(
            exporter_round(&scene->exporter, scene->all, OFFER_SHARD_COUNT, &count, &err),
            ERR_STALE);
    assert_true(queue_count(scene) > 0);
    assert_int_equal(number(scene, "SELECT MIN(shard_id) FROM queue"), taken.shard);
    assert_int_equal(number(scene, "SELECT MAX(shard_id) FROM queue"), taken.shard);
}

static int damage(struct store_tx *tx, void *arg, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(*(offerid *)arg), STORE_V_BLOB(bytes_of("?"))};
    int rc = store_exec(tx, "UPDATE offer SET body = $2 WHERE id = $1", params, 2, NULL, err);

    return rc ? rc
              : store_exec(tx, "UPDATE queue SET body = $2 WHERE offer_id = $1", params, 2, NULL,
                           err);
}

static void a_damaged_offer_holds_up_no_other(void **state)
{
    struct scene *scene = start(state);
    offerid damaged;
    struct err err;

    create(scene, "s");
    damaged = create(scene, "s");
    create(scene, "s");
    OK(store_write(scene->place.store, damage, &damaged, &err));
    assert_int_equal(round_of(scene), 2);
    assert_int_equal(round_of(scene), 0);
    assert_int_equal(number(scene, "SELECT offer_id FROM queue"), damaged);
    assert_int_equal(queue_count(scene), 1);
}

static size_t count_lines(FILE *log)
{
    char line[1024];
    size_t count = 0;

    rewind(log);
    while (fgets(line, sizeof(line), log))
        count += strstr(line, "\"error\"") != NULL;
    return count;
}

static void damaged_offers_are_logged_once(void **state)
{
    struct scene *scene = start(state);
    FILE *log = tmpfile();
    struct err err;

    assert_non_null(log);
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_ERROR, fileno(log));
    for (int i = 0; i < 2; i++) {
        offerid damaged = create(scene, "s");

        OK(store_write(scene->place.store, damage, &damaged, &err));
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(round_of(scene), 0);
    log_setup(LOG_FORMAT_AUTO, LOG_LEVEL_ERROR, STDERR_FILENO);
    assert_int_equal(queue_count(scene), 2);
    assert_int_equal(count_lines(log), 2);
    fclose(log);
}

static int damage_row(struct store_tx *tx, void *arg, struct err *err)
{
    (void)arg;
    return store_exec(tx, "UPDATE queue SET body = $1 WHERE revision = 1",
                      STORE_WITH(STORE_V_BLOB(bytes_of("?"))), NULL, err);
}

static void a_damaged_row_is_sent_as_the_newest(void **state)
{
    struct scene *scene = start(state);
    struct sent sent[RECORD_COUNT_MAX];
    offerid id = create(scene, "s");
    struct err err;

    update(scene, "s", id, 1, 200);
    OK(store_write(scene->place.store, damage_row, NULL, &err));
    export_all(scene);
    assert_int_equal(queue_count(scene), 0);
    assert_int_equal(read_sent(scene, 0, sent), 2);
    assert_int_equal(sent[0].revision, 2);
    assert_int_equal(sent[1].revision, 2);
}

/* As many as are looked at in one shard: the next is found behind them. */
static void many_damaged_offers_hold_up_no_other(void **state)
{
    struct scene *scene = start(state);
    struct err err;

    for (int i = 0; i < EXPORT_WINDOW_COUNT; i++) {
        offerid damaged = create(scene, "s");

        OK(store_write(scene->place.store, damage, &damaged, &err));
    }
    create(scene, "s");
    assert_int_equal(round_of(scene), 1);
    assert_int_equal(round_of(scene), 0);
    assert_int_equal(queue_count(scene), EXPORT_WINDOW_COUNT);
}

/* --- expiry --- */

static size_t expire_pass(struct scene *scene, uint32_t shard)
{
    struct expiry_cursor cursor = {0};
    size_t total = 0, expired;
    bool more = true;
    struct err err;

    while (more) {
        OK(expiry_step(&scene->place.offers, shard, &cursor, &expired, &more, &err));
        total += expired;
    }
    return total;
}

static void offers_expire_in_their_time_and_once(void **state)
{
    struct scene *scene = start(state);
    uint32_t shard = seller_shard("s");
    enum { DUE_COUNT = EXPIRY_CHUNK_COUNT + 5 };
    offerid prolonged, withdrawn, damaged;
    struct err err;

    prolonged = create(scene, "s");
    withdrawn = create(scene, "s");
    damaged = create(scene, "s");
    for (int i = 0; i < DUE_COUNT; i++)
        create(scene, "s");
    clock_manual_advance(&scene->place.clock, MONTH_US - 5 * 24 * 3600 * INT64_C(1000000));
    assert_int_equal(expire_pass(scene, shard), 0);
    move(scene, prolonged, MOVE_PROLONG);
    move(scene, withdrawn, MOVE_WITHDRAW);
    clock_manual_advance(&scene->place.clock, 5 * 24 * 3600 * INT64_C(1000000));
    assert_int_equal(expire_pass(scene, (shard + 1) % OFFER_SHARD_COUNT), 0);
    place_recount(&scene->place);
    OK(store_write(scene->place.store, damage, &damaged, &err));
    assert_int_equal(expire_pass(scene, shard), DUE_COUNT);
    assert_int_equal(expire_pass(scene, shard), 0);
    place_recount(&scene->place);
    assert_int_equal(number(scene, "SELECT counter FROM user_offer_presets_count "
                                   "WHERE seller_id = 's' AND preset_id = 3"),
                     DUE_COUNT);
    assert_int_equal(revision_of(scene, prolonged), 2);
    assert_int_equal(revision_of(scene, withdrawn), 2);
}

/* --- the worker --- */

static struct coord *join_as(struct scene *scene, size_t number, const char *member,
                             const struct clock *clock, bool manual)
{
    bool servers = scene->place.postgres;
    const struct coord_options options = {
        .lease_us = (int64_t)(servers ? LEASE_ON_SERVERS_MS : LEASE_MS) * MS_US,
        .clock = clock,
        .manual = manual};
    struct err err;

    OK(coord_open(scene->coord_url, member, &options, &scene->coords[number], &err));
    return scene->coords[number];
}

static void start_worker(struct scene *scene, struct coord *coord)
{
    struct err err;

    OK(offers_worker_start(&scene->place.offers, scene->topics, coord, &scene->worker, &err));
}

static void stop_worker(struct scene *scene)
{
    offers_worker_stop(scene->worker);
    scene->worker = NULL;
}

static void a_worker_exports_expires_and_forgets(void **state)
{
    struct scene *scene = start(state);
    struct arena *arena = arena_new();
    struct author author = author_of("s", arena);
    Torg__V1__OfferReceipt receipt = TORG__V1__OFFER_RECEIPT__INIT;
    struct err err;

    author.once_key = bytes_of("k");
    start_worker(scene, join_as(scene, 0, "one", NULL, false));
    OK(offers_create(&scene->place.offers, &author, content_of(arena, "books", 0, 1, "RUB"),
                     &receipt, &err));
    wait_for(scene, "SELECT COUNT(*) FROM queue", 0);
    assert_int_equal(number(scene, "SELECT COUNT(*) FROM idempotency"), 1);
    atomic_store(&scene->faults->fail_produce, 2);
    clock_manual_advance(&scene->place.clock, MONTH_US);
    wait_for(scene, "SELECT revision FROM offer", 2);
    wait_for(scene, "SELECT COUNT(*) FROM queue", 0);
    wait_for(scene, "SELECT COUNT(*) FROM idempotency", 0);
    stop_worker(scene);
    check_topics(scene, false);
    arena_free(arena);
}

/* Steps the member that has no thread until it has half of the shards. */
static size_t own_half(struct coord *coord, struct coord_shards *shards, struct coord_shard *owned)
{
    int64_t until = clock_mono_us(clock_system()) + (int64_t)WAIT_MS * MS_US;
    size_t count = 0;
    struct err err;

    while (count != OFFER_SHARD_COUNT / 2) {
        assert_true(clock_mono_us(clock_system()) < until);
        OK(coord_step(coord, &err));
        count = coord_owned(shards, owned, OFFER_SHARD_COUNT);
        pause_ms(20);
    }
    return count;
}

static void a_frozen_worker_loses_its_shards_to_the_other(void **state)
{
    struct scene *scene = start(state);
    /* By the test's clock, a lease ends when the test says so. */
    const struct clock *clock = scene->place.postgres ? NULL : &scene->place.clock.base;
    struct coord *living = join_as(scene, 0, "living", clock, false);
    struct coord *frozen_coord = join_as(scene, 1, "frozen", clock, true);
    struct coord_shard owned[OFFER_SHARD_COUNT];
    struct coord_shards *frozen;
    struct exporter exporter;
    size_t owned_count, count;
    struct err err;

    start_worker(scene, living);
    OK(coord_join(frozen_coord, EXPORT_SET, OFFER_SHARD_COUNT, &frozen, &err));
    OK(exporter_init(&exporter, &scene->place.offers, scene->topics, frozen, &err));
    owned_count = own_half(frozen_coord, frozen, owned);
    OK(exporter_round(&exporter, owned, owned_count, &count, &err));
    if (scene->place.postgres) { /* ZooKeeper's client has threads that no test can freeze */
        coord_close(frozen_coord);
        scene->coords[1] = NULL;
        exporter.shards = NULL;
    }
    write_much(scene, 40); /* from here on it does nothing any more */
    clock_manual_advance(&scene->place.clock, (int64_t)2 * LEASE_MS * MS_US);
    wait_for(scene, "SELECT COUNT(*) FROM queue", 0);
    write_much(scene, 40);
    exporter.shards = NULL; /* it does not even look at its lease */
    exporter_round(&exporter, owned, owned_count, &count, &err);
    assert_int_equal(count, 0);
    wait_for(scene, "SELECT COUNT(*) FROM queue", 0);
    stop_worker(scene);
    check_topics(scene, true);
}

/* --- the list of cases --- */

static const struct test_case cases[] = {
    CASE(every_change_reaches_both_topics_in_order),
    CASE(every_revision_leaves_once_as_it_was),
    CASE(a_kill_repeats_what_was_under_way),
    CASE(rows_of_an_older_version_send_the_newest),
    CASE(two_changes_of_an_offer_are_two_batches),
    CASE(a_long_queue_is_taken_in_parts),
    CASE(takedowns_overtake_a_long_queue),
    CASE(a_long_queue_of_one_seller_holds_up_no_other),
    CASE(nothing_is_deleted_before_every_acknowledgement),
    CASE(a_topic_that_fails_repeats_no_other),
    CASE(a_stale_ticket_deletes_nothing),
    CASE(a_stale_shard_holds_up_no_other),
    CASE(a_damaged_offer_holds_up_no_other),
    CASE(damaged_offers_are_logged_once),
    CASE(a_damaged_row_is_sent_as_the_newest),
    CASE(many_damaged_offers_hold_up_no_other),
    CASE(offers_expire_in_their_time_and_once),
    CASE(a_worker_exports_expires_and_forgets),
    CASE(a_frozen_worker_loses_its_shards_to_the_other),
};

int main(int argc, char **argv)
{
    static struct case_list list = {
        .name = "offers-export", .set_up = set_up, .tear_down = tear_down};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
