/* SPDX-License-Identifier: Apache-2.0 */
/* old.c - states that are not caught up: whole ones are served to who takes them, as long as nobody
 * has a newer one, and never to who waits for a write or has seen more. */
#include "base/clock.h"
#include "searcher/replica/follower.h"

#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "codec/message.h"
#include "index/bounds.h"
#include "index/shard/shard.h"
#include "index_messages.h"
#include "model/change_token.h"
#include "patience.h"
#include "searcher/front/front.h"
#include "searcher/front/fronts.h"
#include "test_dir.h"
#include "topic/topic_fault.h"

enum {
    PATH_SIZE = 512,
    LARGE_SIZE = 500 << 10,
    OLD_COUNT = 100,
    STOP_COUNT = 6,
    HOUR = 3600,
    ELSEWHERE = 777, /* hits of another searcher */
    ELSEWHERE_CPU_US = 3600 * 1000,
};

#define SERVING TORG__V1__INDEX_MAP__EPOCH__STATE__SERVING
#define BEGIN TORG__V1__INDEX_POUR__MARK__BEGIN
#define END TORG__V1__INDEX_POUR__MARK__END

struct world {
    struct topics *topics;
    struct coord *coord;
    struct follower *follower;
    struct workers *workers;
    struct front front;
    struct arena *arena;
    char dir[TEST_DIR_SIZE];
};

static void open_world(struct world *world)
{
    const struct announced client = {"c", 1, {{1, SERVING}}};
    struct err err = {0};

    *world = (struct world){.arena = arena_new()};
    assert_true(test_dir_make(world->dir));
    if (topics_open("fault:memory:", NULL, &world->topics, &err) ||
        coord_open("memory:old", "test", NULL, &world->coord, &err))
        fail_msg("%s", err.text);
    world->workers = workers_new("shards", 2, 64, NULL, clock_system());
    make_topic(world->topics, "index.c.1", 1);
    announce(world->coord, &client, 1);
}

static void follow(struct world *world)
{
    const struct follower_options options = {
        .topics = world->topics, .coord = world->coord, .clock = clock_system(), .dir = world->dir};
    struct err err = {0};

    assert_int_equal(follower_start(&options, &world->follower, &err), 0);
    world->front = (struct front){.follower = world->follower,
                                  .gatherer = {.workers = world->workers},
                                  .clock = clock_system()};
}

static void unfollow(struct world *world)
{
    follower_stop(world->follower);
    world->follower = NULL;
}

static void close_world(struct world *world)
{
    workers_free(world->workers);
    follower_stop(world->follower);
    coord_close(world->coord);
    topics_close(world->topics);
    arena_free(world->arena);
    assert_int_equal(dir_remove(world->dir, NULL), 0);
}

static int64_t deadline(int ms)
{
    return clock_mono_us(clock_system()) + (int64_t)ms * MS_US;
}

/* ---- looking ---- */

static struct replica *replica_of(const struct index_view *view)
{
    return view->clients[0].epochs[0].shards[0];
}

static void look(struct world *world, struct replica_state *state)
{
    const struct index_view *view = follower_view(world->follower);

    replica_state(replica_of(view), state);
    view_release(view);
}

/* Until it is ready or not, at that offset or behind it. */
static void wait_until(struct world *world, bool is_ready, uint64_t offset,
                       struct replica_state *state)
{
    int64_t until_us = deadline(PATIENCE_MS);

    for (look(world, state); state->is_ready != is_ready || state->offset < offset;
         look(world, state)) {
        if (clock_mono_us(clock_system()) > until_us)
            fail_msg("at %ju of %ju, ready %d, %s", (uintmax_t)state->offset, (uintmax_t)state->end,
                     state->is_ready, state->reason);
        usleep(1000);
    }
}

static void save(struct world *world)
{
    const struct index_view *view = follower_view(world->follower);
    struct err err = {0};

    assert_int_equal(replica_checkpoint(replica_of(view), &err), 0);
    view_release(view);
}

static int try_search(struct world *world, uint32_t old_max, const char *token, struct bytes seen,
                      int ms, Torg__V1__SearchResponse *response, struct err *err)
{
    Torg__V1__SearchRequest *request = MESSAGE_NEW(search_request, world->arena);
    Torg__V1__QueryStage **stages = arena_array(world->arena, 1, sizeof(*stages));

    stages[0] = MESSAGE_NEW(query_stage, world->arena);
    request->query = MESSAGE_NEW(query, world->arena);
    request->query->stages = stages;
    request->query->n_stages = 1;
    request->old_max_seconds = old_max;
    request->seen.data = (uint8_t *)seen.data;
    request->seen.len = seen.size;
    if (token) {
        request->wait = arena_array(world->arena, 1, sizeof(*request->wait));
        request->wait[0] = (char *)token;
        request->n_wait = 1;
    }
    torg__v1__search_response__init(response);
    return front_search(&world->front, "c", request, deadline(ms), world->arena, response, err);
}

/* The answer of an old state, or of one that is caught up. */
static Torg__V1__SearchResponse expect(struct world *world, uint64_t total, bool is_old)
{
    Torg__V1__SearchResponse response;
    struct err err = {0};

    if (try_search(world, HOUR, NULL, BYTES_EMPTY, PATIENCE_MS, &response, &err))
        fail_msg("%s", err.text);
    assert_int_equal(response.answer->stages[0]->total, total);
    assert_int_equal(response.n_old_shards, is_old);
    assert_int_equal(response.old_seconds > 0, is_old);
    assert_false(response.is_partial);
    return response;
}

static void expect_none(struct world *world, uint32_t old_max)
{
    Torg__V1__SearchResponse response;
    struct err err = {0};

    assert_int_equal(try_search(world, old_max, NULL, BYTES_EMPTY, PATIENCE_MS, &response, &err),
                     ERR_UNAVAILABLE);
}

/* ---- sending ---- */

static void send(struct world *world, struct bytes message)
{
    send_to(world->topics, "index.c.1", 0, message);
}

static void send_titled(struct world *world, uint64_t ticket, uint32_t id)
{
    send(world, message_titled(ticket, id, arena_printf(world->arena, "pk%u", id), "велосипед", 1,
                               0, world->arena));
}

static void send_mark(struct world *world, Torg__V1__IndexPour__Mark mark, int64_t number,
                      uint64_t ticket)
{
    send(world, message_pour(ticket, mark, number, ticket, world->arena));
    if (mark == BEGIN)
        send(world, message_schema(ticket, world->arena));
}

/* A hundred documents, and the lane at 5. */
static uint64_t send_all(struct world *world)
{
    send(world, message_schema(1, world->arena));
    for (uint32_t i = 0; i < OLD_COUNT; i++)
        send_titled(world, 1, i);
    send(world, message_progress(1, 0, 5, world->arena));
    return OLD_COUNT + 2;
}

/* The topic lets go of all that it had; the end of what came since, which is of no use. */
static uint64_t lose_topic(struct world *world)
{
    const struct topic_config small = {.partition_count = 1, .retention_size = 1};
    void *large = arena_zero(world->arena, LARGE_SIZE);
    struct err err = {0};
    uint64_t first, before, end = 0;

    assert_int_equal(topic_range(world->topics, "index.c.1", 0, &first, &before, &err), 0);
    assert_int_equal(topic_create(world->topics, "index.c.1", &small, &err), 0);
    for (int i = 0; i < 400 && first < before; i++) { /* files are let go of as a whole */
        send(world, bytes_make(large, LARGE_SIZE));
        assert_int_equal(topics_housekeep(world->topics, &err), 0);
        assert_int_equal(topic_range(world->topics, "index.c.1", 0, &first, &end, &err), 0);
    }
    assert_true(first >= before);
    return end;
}

/* Nothing is read any more, not even by a read that was under way. */
static void stop_reading(struct world *world)
{
    int64_t until_us = deadline(PATIENCE_MS);
    struct replica_state state;

    atomic_store(&topics_faults(world->topics)->fail_read, -1);
    for (look(world, &state); !strstr(state.reason, "injected"); look(world, &state)) {
        assert_true(clock_mono_us(clock_system()) < until_us);
        usleep(1000);
    }
}

static bool is_there(const struct world *world, const char *name)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s/c/1/%s", world->dir, name);
    return access(path, F_OK) == 0;
}

/* ---- a shard that is too far behind ---- */

static const char *token_of(struct world *world, int64_t idx)
{
    const struct change_token token = {.client_id = 1, .lane = 0, .shard = 0, .idx = idx};

    return change_token_text(&token, &(struct seal){{0}}, world->arena);
}

/* Neither is claimed by what is half filled, nor shown by what is old: not even what it has. */
static void check_promises(struct world *world, struct bytes seen)
{
    Torg__V1__SearchResponse response;
    struct replica_state state;
    struct err err = {0};
    int rc;

    look(world, &state);
    assert_int_equal(state.progress.lanes[0], 0);
    rc = try_search(world, HOUR, token_of(world, 5), BYTES_EMPTY, 50, &response, &err);
    assert_true(rc == ERR_TIMEOUT || rc == ERR_UNAVAILABLE);
    rc = try_search(world, HOUR, NULL, seen, 50, &response, &err);
    assert_true(rc == ERR_TIMEOUT || rc == ERR_UNAVAILABLE);
}

/* What a replica has shown that is ahead of the old state. */
static struct bytes see_more(struct world *world)
{
    Torg__V1__SearchResponse response;
    struct err err = {0};

    assert_int_equal(try_search(world, 0, NULL, BYTES_EMPTY, PATIENCE_MS, &response, &err), 0);
    return bytes_make(response.seen.data, response.seen.len);
}

static void a_shard_far_behind_is_served_until_it_is_filled(void **state)
{
    struct replica_state now = {0};
    struct world world;
    struct bytes seen;
    uint64_t end;

    (void)state;
    open_world(&world);
    end = send_all(&world);
    follow(&world);
    wait_until(&world, true, end, &now);
    save(&world);
    unfollow(&world);
    follow(&world); /* of a checkpoint that has nothing behind it */
    wait_until(&world, true, end, &now);
    expect(&world, OLD_COUNT, false);
    send_titled(&world, 1, OLD_COUNT);
    wait_until(&world, true, end + 1, &now);
    seen = see_more(&world);
    stop_reading(&world); /* it falls behind */
    end = lose_topic(&world);
    send_mark(&world, BEGIN, 2, 4);
    send_titled(&world, 4, 1);
    end += 3;
    atomic_store(&topics_faults(world.topics)->fail_read, 0);
    wait_until(&world, false, end, &now);
    assert_non_null(strstr(now.reason, "pour 2"));
    expect(&world, OLD_COUNT + 1, true);
    expect_none(&world, 0);
    save(&world); /* of what is half filled */
    unfollow(&world);
    follow(&world); /* the checkpoint of before is old, and whole */
    wait_until(&world, false, end, &now);
    expect(&world, OLD_COUNT, true);
    expect_none(&world, 0);
    check_promises(&world, seen);
    send_titled(&world, 4, 2);
    send(&world, message_progress(4, 0, 9, world.arena));
    send_mark(&world, END, 2, 4);
    wait_until(&world, true, end + 3, &now);
    expect(&world, 2, false);
    assert_int_equal(now.progress.lanes[0], 9);
    close_world(&world);
}

/* A replica whose topic has lost its beginning answers with what it had. Gives the topic's end. */
static uint64_t open_with_old_state(struct world *world, struct replica_state *now)
{
    uint64_t end;

    open_world(world);
    end = send_all(world);
    follow(world);
    wait_until(world, true, end, now);
    unfollow(world);
    end = lose_topic(world);
    follow(world);
    wait_until(world, false, end, now);
    expect(world, OLD_COUNT, true);
    return end;
}

/* Its files go when those of the new state are there; a kill in between leaves either. */
static void the_old_files_go_with_the_first_checkpoint(void **state)
{
    struct replica_state now = {0};
    int64_t until_us;
    struct world world;
    uint64_t end;

    (void)state;
    end = open_with_old_state(&world, &now);
    assert_true(is_there(&world, "0") && is_there(&world, "0.b"));
    send_mark(&world, BEGIN, 2, 4);
    send_titled(&world, 4, 1);
    send_mark(&world, END, 2, 4);
    wait_until(&world, true, end + 4, &now);
    until_us = deadline(PATIENCE_MS);
    while (is_there(&world, "0")) {
        save(&world);
        assert_true(clock_mono_us(clock_system()) < until_us);
        usleep(1000);
    }
    unfollow(&world);
    end = lose_topic(&world); /* and back to the first place */
    follow(&world);
    wait_until(&world, false, end, &now);
    expect(&world, 1, true);
    assert_true(is_there(&world, "0"));
    send_mark(&world, BEGIN, 3, 5);
    send_titled(&world, 5, 1);
    send_titled(&world, 5, 2);
    send_mark(&world, END, 3, 5);
    wait_until(&world, true, end + 5, &now);
    expect(&world, 2, false);
    close_world(&world);
}

/* The checkpoint's columns are of a format that this program does not read. */
static void change_format(const struct world *world)
{
    char pattern[PATH_SIZE];
    glob_t found;
    FILE *file;

    snprintf(pattern, sizeof(pattern), "%s/c/1/0/columns*/columns", world->dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    file = fopen(found.gl_pathv[0], "r+");
    globfree(&found);
    assert_non_null(file);
    assert_int_equal(fseek(file, 4, SEEK_SET), 0);
    assert_int_equal(fputc(1, file), 1);
    assert_int_equal(fclose(file), 0);
}

/* Thrown away, it would be empty: that is not what the shard had. */
static void an_old_state_that_cannot_be_read_is_not_served(void **state)
{
    struct replica_state now = {0};
    struct world world;
    uint64_t end;

    (void)state;
    end = open_with_old_state(&world, &now);
    send_mark(&world, BEGIN, 2, 4);
    send_titled(&world, 4, 1);
    wait_until(&world, false, end + 3, &now);
    save(&world); /* of what is half filled */
    unfollow(&world);
    change_format(&world);
    follow(&world);
    wait_until(&world, false, end + 3, &now);
    expect_none(&world, HOUR);
    assert_false(is_there(&world, "0"));
    send_mark(&world, END, 2, 4);
    wait_until(&world, true, end + 4, &now);
    expect(&world, 1, false);
    close_world(&world);
}

static void a_replay_is_served_from_its_checkpoint(void **state)
{
    struct replica_state now = {0};
    struct world world;
    uint64_t end;

    (void)state;
    open_world(&world);
    end = send_all(&world);
    follow(&world);
    wait_until(&world, true, end, &now);
    unfollow(&world);
    send(&world, message_remove(1, 7, "pk7", world.arena));
    atomic_store(&topics_faults(world.topics)->fail_read, -1);
    follow(&world);
    wait_until(&world, false, end, &now);
    expect(&world, OLD_COUNT, true);
    expect_none(&world, 0);
    atomic_store(&topics_faults(world.topics)->fail_read, 0);
    wait_until(&world, true, end + 1, &now);
    expect(&world, OLD_COUNT - 1, false);
    close_world(&world);
}

struct pump {
    struct world *world;
    pthread_t thread;
    struct bytes message; /* of which it sends many */
    atomic_bool is_ending;
    atomic_int sent_count;
};

static void *run_pump(void *arg)
{
    struct pump *pump = arg;

    while (!atomic_load(&pump->is_ending)) {
        send(pump->world, pump->message);
        atomic_fetch_add(&pump->sent_count, 1);
    }
    return NULL;
}

/* The offsets of the checkpoint that is there. */
static void peek(const struct world *world, uint64_t *offset, uint64_t *serve_from)
{
    struct buf note = BUF_INIT(SHARD_NOTE_SIZE_MAX);
    char path[PATH_SIZE];
    struct err err = {0};

    snprintf(path, sizeof(path), "%s/c/1/0", world->dir);
    assert_int_equal(shard_peek(path, offset, serve_from, &note, &err), 0);
    buf_release(&note);
}

/* However much comes meanwhile: what a stop in order writes needs nothing of what the topic has let
 * go of by the next start. */
static void a_stop_under_load_leaves_a_state_that_can_be_served(void **state)
{
    struct replica_state now = {0};
    struct world world;
    uint64_t end;

    (void)state;
    open_world(&world);
    end = send_all(&world);
    follow(&world);
    wait_until(&world, true, end, &now);
    for (int i = 0; i < STOP_COUNT; i++) {
        struct pump pump = {.world = &world};
        uint64_t offset, serve_from;

        pump.message =
            message_titled(1, 7, "pk7", i % 2 ? "велосипед" : "самокат", 1, 0, world.arena);
        assert_int_equal(pthread_create(&pump.thread, NULL, run_pump, &pump), 0);
        while (atomic_load(&pump.sent_count) < 100)
            usleep(1000);
        unfollow(&world);
        atomic_store(&pump.is_ending, true);
        pthread_join(pump.thread, NULL);
        peek(&world, &offset, &serve_from);
        assert_true(offset > end);
        assert_int_equal(serve_from, offset);
        if (i + 1 < STOP_COUNT)
            follow(&world);
    }
    end = lose_topic(&world);
    follow(&world);
    wait_until(&world, false, end, &now); /* it has looked for a pour as far as the topic goes */
    expect(&world, OLD_COUNT, true);
    close_world(&world);
}

/* Checkpoints under load until one is not whole by itself; then what it needs is kept. */
static uint64_t save_under_load(struct world *world)
{
    const struct index_view *view = follower_view(world->follower);
    struct pump pump = {.world = world};
    uint64_t offset = 0, serve_from = 0;
    int64_t until_us = deadline(PATIENCE_MS);

    pump.message = message_titled(1, 7, "pk7", "самокат", 1, 0, world->arena);
    assert_int_equal(pthread_create(&pump.thread, NULL, run_pump, &pump), 0);
    while (offset == serve_from) {
        assert_true(clock_mono_us(clock_system()) < until_us);
        save(world);
        peek(world, &offset, &serve_from);
    }
    atomic_store(&pump.is_ending, true);
    pthread_join(pump.thread, NULL);
    replica_keep_tail(replica_of(view));
    view_release(view);
    return serve_from;
}

static void run_command(const char *const words[])
{
    int status;
    pid_t pid;

    assert_int_equal(posix_spawnp(&pid, words[0], NULL, NULL, (char *const *)words, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* What is on the disk now is what a kill leaves: files only grow until the next checkpoint. */
static void a_kill_under_load_leaves_a_state_that_can_be_served(void **state)
{
    char there[PATH_SIZE], killed[PATH_SIZE];
    struct replica_state now = {0};
    uint64_t end, kept, offset, serve_from;
    struct world world;

    (void)state;
    open_world(&world);
    end = send_all(&world);
    follow(&world);
    wait_until(&world, true, end, &now);
    kept = save_under_load(&world);
    snprintf(there, sizeof(there), "%s/c", world.dir);
    snprintf(killed, sizeof(killed), "%s/killed", world.dir);
    run_command((const char *const[]){"cp", "-r", there, killed, NULL});
    unfollow(&world);
    assert_int_equal(dir_remove(there, NULL), 0);
    assert_int_equal(rename(killed, there), 0);
    end = lose_topic(&world);
    follow(&world);
    wait_until(&world, false, end, &now);
    expect(&world, OLD_COUNT, true);
    peek(&world, &offset, &serve_from);
    assert_int_equal(offset, kept);
    assert_int_equal(serve_from, kept);
    close_world(&world);
}

/* ---- several searchers ---- */

struct other {
    uint64_t old_seconds; /* 0: it is caught up */
    bool is_away;         /* searches fail; it is told of freshness nevertheless */
    atomic_uint call_count;
};

static void put_message(const ProtobufCMessage *message, struct buf *out)
{
    message_encode(message, out);
    assert_false(buf_failed(out));
}

static void tell_freshness(const struct other *other, struct buf *out)
{
    Torg__V1__ShardFreshness shard = TORG__V1__SHARD_FRESHNESS__INIT;
    Torg__V1__ShardFreshness *shards[] = {&shard};
    Torg__V1__Freshness freshness = TORG__V1__FRESHNESS__INIT;

    shard.client = "c";
    shard.epoch = 1;
    shard.is_ready = !other->old_seconds;
    shard.old_seconds = other->old_seconds;
    freshness.shards = shards;
    freshness.n_shards = 1;
    put_message(&freshness.base, out);
}

static void tell_shard(const struct other *other, struct buf *out)
{
    Torg__V1__ShardAnswer shard = TORG__V1__SHARD_ANSWER__INIT;
    Torg__V1__QueryAnswer answer = TORG__V1__QUERY_ANSWER__INIT;
    Torg__V1__StageAnswer stage = TORG__V1__STAGE_ANSWER__INIT;
    Torg__V1__StagePlaces places = TORG__V1__STAGE_PLACES__INIT;
    Torg__V1__StageAnswer *stages[] = {&stage};
    Torg__V1__StagePlaces *all[] = {&places};

    stage._total_case = TORG__V1__STAGE_ANSWER___TOTAL_TOTAL;
    stage.total = ELSEWHERE;
    answer.stages = stages;
    answer.n_stages = 1;
    shard.answer = &answer;
    shard.stages = all;
    shard.n_stages = 1;
    shard.old_seconds = other->old_seconds;
    shard.cpu_microseconds = ELSEWHERE_CPU_US;
    put_message(&shard.base, out);
}

static int call_other(void *arg, const char *url, const char *method, struct bytes request,
                      int64_t timeout_ms, struct buf *answer, struct err *err)
{
    struct other *other = arg;
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;
    uint32_t old_max = 0;

    (void)timeout_ms;
    if (strcmp(method, "GetFreshness") == 0) {
        tell_freshness(other, answer);
    } else {
        assert_int_equal(
            message_decode(request, &torg__v1__shard_request__descriptor, arena, &message, err), 0);
        old_max = ((const Torg__V1__ShardRequest *)message)->old_max_seconds;
        if (other->is_away || (other->old_seconds && old_max < other->old_seconds))
            err_set(err, ERR_UNAVAILABLE, "%s has nothing that is new enough", url);
        else
            tell_shard(other, answer);
    }
    atomic_fetch_add(&other->call_count, 1);
    arena_free(arena);
    return buf_bytes(answer).size ? 0 : ERR_UNAVAILABLE;
}

static void forget_other(void *arg)
{
    (void)arg;
}

static struct peers *know_other(struct world *world, struct other *other)
{
    static const char *const urls[] = {"http://other"};
    const struct peers_options options = {.urls = urls,
                                          .count = 1,
                                          .caller = {call_other, forget_other, other},
                                          .clock = clock_system()};
    struct peers *peers;
    struct err err = {0};

    atomic_store(&other->call_count, 0);
    assert_int_equal(peers_open(&options, &peers, &err), 0);
    while (!atomic_load(&other->call_count))
        usleep(1000);
    while (other->old_seconds == 0 && !peers_with(peers, "c", 1, 0, &(struct peer *){NULL}, 1))
        usleep(1000);
    world->front.gatherer.peers = peers;
    return peers;
}

static void who_is_caught_up_is_asked_first(void **state)
{
    struct other fresh = {0}, away = {.is_away = true}, old = {.old_seconds = 60};
    struct replica_state now = {0};
    struct peers *peers;
    struct world world;
    int64_t cpu_us;
    uint64_t end;

    (void)state;
    open_world(&world);
    end = send_all(&world);
    follow(&world);
    wait_until(&world, true, end, &now);
    unfollow(&world);
    send(&world, message_remove(1, 7, "pk7", world.arena));
    atomic_store(&topics_faults(world.topics)->fail_read, -1);
    follow(&world);
    wait_until(&world, false, end, &now);
    peers = know_other(&world, &fresh);
    cpu_us = worker_cpu_us();
    expect(&world, ELSEWHERE, false);
    assert_true(worker_cpu_us() - cpu_us >= ELSEWHERE_CPU_US); /* billed as it says */
    peers_close(peers);
    peers = know_other(&world, &away);
    expect(&world, OLD_COUNT, true);
    expect_none(&world, 0);
    peers_close(peers);
    atomic_store(&topics_faults(world.topics)->fail_read, 0);
    wait_until(&world, true, end + 1, &now);
    peers = know_other(&world, &old);
    expect(&world, OLD_COUNT - 1, false); /* here it is caught up */
    world.front.gatherer.peers = NULL;
    peers_close(peers);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shard_far_behind_is_served_until_it_is_filled),
        cmocka_unit_test(the_old_files_go_with_the_first_checkpoint),
        cmocka_unit_test(an_old_state_that_cannot_be_read_is_not_served),
        cmocka_unit_test(a_replay_is_served_from_its_checkpoint),
        cmocka_unit_test(a_stop_under_load_leaves_a_state_that_can_be_served),
        cmocka_unit_test(a_kill_under_load_leaves_a_state_that_can_be_served),
        cmocka_unit_test(who_is_caught_up_is_asked_first),
    };

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    return cmocka_run_group_tests_name("old", tests, NULL, NULL);
}
