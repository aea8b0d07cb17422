/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_demo.c - torg demo: torg up with a shop that is full and alive.
 *
 *     begin ──► filler ──────────────────────────────► changes, a crowd, until it is to stop
 *                                  └► the index is asked how much of it is searchable
 *
 * The server answers before the filling begins. What is there stays: a second start goes on with
 * it, and publishes only what is missing. It keeps to a directory that it has made itself: nobody's
 * real shop is filled by a slip.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/keys.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "base/text.h"
#include "config/address.h"
#include "demo/bounds.h"
#include "demo/changes.h"
#include "demo/crowd.h"
#include "demo/filler.h"
#include "demo/gluer.h"
#include "demo/photographer.h"
#include "roles/commands/command.h"
#include "roles/commands/demo_bar.h"
#include "roles/commands/demo_state.h"
#include "roles/processes/process.h"
#include "search/search.h"
#include "searcher/front/front.h"

#define STATE_FILE "DEMO"
#define SNIPPETS_FILE "demo-snippets.pb.txt"
#define DATA_DIR_DEFAULT "torg-demo"

enum { SEED = 2026, LOOK_US = 150 * 1000, ASK_US = 2 * SECOND_US };

/* One a process. */
static struct demo {
    struct process *process;
    uint64_t offer_count; /* asked for; 0: what there was, or the default */
    unsigned rate;
    const char *url; /* of the server */
    const char *state_path;
    struct demo_state state;
    struct offers offers;
    struct search search;
    struct generator *generator;
    struct photographer *photographer;
    struct photo_maker maker; /* what the photos role asks of it */
    struct filler *filler;    /* of the thread */
    struct changes *changes;
    struct crowd *crowd;
    struct gluer *gluer;
    struct config *settings; /* of the process */
    bool has_snippets;       /* of its own */
    struct task task;
} demo;

/* --- the directory --- */

/* Snippets of its own, unless there are others. */
static int prepare_snippets(struct process *process, struct err *err)
{
    if (*config_text(process->config, SETTING_SNIPPETS_CONFIG))
        return 0;
    demo.settings->values[SETTING_SNIPPETS_CONFIG].text =
        data_dir_path(process->dir.path, SNIPPETS_FILE, process->arena);
    demo.settings->values[SETTING_SNIPPETS_ALLOT].number = 1;
    demo.has_snippets = true;
    return gluer_prepare(process->dir.path, SNIPPETS_FILE, err);
}

/* Without the program that draws, offers have the photos that are there, and wait for others. */
static void prepare_photos(struct process *process)
{
    const struct clock *clock = process->clock ? process->clock : clock_system();
    struct err err;

    if (photographer_open(NULL, clock, &demo.photographer, &err))
        complain("no photos are drawn: %s", err.text);
    else
        demo.maker = photographer_maker(demo.photographer);
}

static bool has_no_photo(void *arg, const char *url)
{
    (void)arg;
    (void)url;
    return false;
}

static int prepare(struct process *process, struct err *err)
{
    const char *store = data_dir_path(process->dir.path, "store.sqlite", process->arena);
    int rc;

    demo.state_path = data_dir_path(process->dir.path, STATE_FILE, process->arena);
    rc = demo_state_read(demo.state_path, &demo.state, err);
    if (rc == ERR_NOT_FOUND) {
        if (access(store, F_OK) == 0)
            return err_set(err, ERR_PRECONDITION,
                           "%s has the data of another server, which torg demo does not fill: name "
                           "a directory of its own (--data)",
                           process->dir.path);
        demo.state = (struct demo_state){.seed = SEED, .target = DEMO_OFFER_COUNT};
    } else if (rc) {
        return rc;
    }
    if (demo.offer_count)
        demo.state.target = demo.offer_count;
    if (demo.state.target < demo.state.filled)
        demo.state.target = demo.state.filled;
    prepare_photos(process);
    rc = prepare_snippets(process, err);
    return rc ? rc : demo_state_write(demo.state_path, &demo.state, err);
}

/* --- keys of the links --- */

static int make_key(struct process *process, const char *name, const char *seller,
                    const char *const *scopes, size_t scope_count, char text[KEY_TEXT_LENGTH + 1],
                    struct err *err)
{
    const struct key_request request = {
        .name = name, .scopes = scopes, .scope_count = scope_count, .seller = seller, .client = ""};
    struct violations violations = violations_in(process->arena);
    int64_t now_us = clock_wall_us(process->clock);
    struct key key;
    int rc;

    if (*text)
        return 0;
    rc = keys_create(process->backends.store, &request, "demo", now_us, &violations, &key, text,
                     err);
    if (rc == ERR_EXISTS) { /* made by a start that was killed before it could keep it */
        rc = keys_revoke(process->backends.store, name, "demo", now_us, &key, err);
        if (!rc)
            rc = keys_create(process->backends.store, &request, "demo", now_us, &violations, &key,
                             text, err);
    }
    return rc;
}

static int make_keys(struct process *process, struct err *err)
{
    static const char *const sellers[] = {"offers.read", "offers.write", "photos"};
    static const char *const all[] = {"*"};
    int rc = make_key(process, "demo-seller", generator_main_seller(demo.generator), sellers,
                      ARRAY_COUNT(sellers), demo.state.seller_key, err);

    if (!rc)
        rc = make_key(process, "demo-operator", "", all, ARRAY_COUNT(all), demo.state.operator_key,
                      err);
    if (!rc)
        rc = demo_state_write(demo.state_path, &demo.state, err);
    if (!rc)
        rc = key_ring_refresh(process->ring, err);
    return rc;
}

/* --- what it says --- */

static void print_begin(void)
{
    const struct process *process = demo.process;
    const char *operators = process_operators_url(process);
    char *path = realpath(process->dir.path, NULL);

    printf("torg demo " TORG_VERSION
           " is up (process %d). Ctrl-C stops it; what is there stays.\n\n",
           (int)getpid());
    printf("  page     %s/   (answers already)\n", demo.url);
    if (operators)
        printf("  metrics  %s/metrics\n", operators);
    printf("  data     %s\n\n", path ? path : process->dir.path);
    fflush(stdout);
    free(path);
}

static void print_links(void)
{
    printf("\n  buyers    %s/\n", demo.url);
    printf("  seller    %s/cabinet#key=%s\n", demo.url, demo.state.seller_key);
    printf("  operator  %s/console#key=%s\n\n", demo.url, demo.state.operator_key);
    printf("  try       ноутбк         a slip of the finger\n"
           "            dtkjcbgtl      the wrong keyboard layout\n"
           "            velosiped      Russian in Latin letters\n"
           "            диван угловой  and a look at the filters\n"
           "            iphone 13      in English, too\n\n");
    if (demo.rate)
        printf(
            "Sellers make %u change%s per second from here on (--changes). The keys in the links "
            "are for this demo only.\n\n",
            demo.rate, demo.rate == 1 ? "" : "s");
    fflush(stdout);
}

/* --- filling --- */

/* How many offers a buyer can find now; false: the index does not answer yet. */
static bool count_searchable(uint64_t *count)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    Torg__V1__SearchOffersResponse response = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
    struct arena *arena = arena_new();
    struct err err;
    int rc;

    request.only_offers = true;
    rc = search_offers(&demo.search, &request, LANGUAGE_RU,
                       clock_mono_us(demo.process->clock) + ASK_US, arena, &response, &err);
    *count = rc ? 0 : response.total;
    arena_free(arena);
    return rc == 0;
}

/* Until the index answers: what it has then was there before. */
static bool wait_for_index(uint64_t *count)
{
    int64_t until_us = clock_mono_us(demo.process->clock) + (int64_t)DEMO_STALL_S * SECOND_US;

    while (!count_searchable(count)) {
        if (clock_mono_us(demo.process->clock) > until_us)
            return true;
        if (!task_pause(&demo.task, LOOK_US / 2))
            return false;
    }
    return true;
}

/* What has become searchable, until all is or nothing moves any more. */
struct watching {
    struct demo_bar bar;
    uint64_t before; /* searchable when it began */
    uint64_t done;   /* published before, known from the last start */
    uint64_t searchable;
    int64_t moved_us;
};

static void look(struct watching *watching)
{
    int64_t now_us = clock_mono_us(demo.process->clock);
    uint64_t count;

    count_searchable(&count);
    if (count > watching->searchable || !watching->moved_us)
        watching->moved_us = now_us;
    if (count > watching->searchable)
        watching->searchable = count;
    demo_bar_update(&watching->bar, watching->done + filler_saved_count(demo.filler),
                    watching->searchable, demo.state.target);
}

/* But for what waits for its photos: they are made behind the start, and take longer than it. */
static bool all_is_searchable(const struct watching *watching)
{
    return filler_is_done(demo.filler) &&
           watching->searchable + filler_waiting_count(demo.filler) >=
               watching->before + filler_created_count(demo.filler);
}

static bool is_stuck(const struct watching *watching)
{
    return filler_is_done(demo.filler) && clock_mono_us(demo.process->clock) - watching->moved_us >
                                              (int64_t)DEMO_STALL_S * SECOND_US;
}

/* True: the shop is full. */
static bool finish_filling(struct watching *watching, struct err *err)
{
    uint64_t created = filler_created_count(demo.filler);
    int64_t spent_us = clock_mono_us(demo.process->clock) - watching->bar.begun_us;
    bool complete = all_is_searchable(watching);
    char number[DEMO_NUMBER_SIZE];
    int rc;

    demo_bar_end(&watching->bar, watching->done + filler_saved_count(demo.filler),
                 watching->searchable, demo.state.target);
    rc = filler_stop(demo.filler, err);
    demo.filler = NULL;
    if (rc == ERR_CANCELLED) {
        printf("stopped while filling: the next start continues\n");
        return false;
    }
    if (!rc) {
        demo.state.filled = demo.state.target;
        rc = demo_state_write(demo.state_path, &demo.state, err);
    }
    if (rc) {
        complain("the shop could not be filled: %s", err->text);
        return false;
    }
    printf("%s offers were published%s %.1f s\n", demo_number(created, number),
           complete ? " and are searchable, in" : "; not all are searchable after",
           (double)spent_us / SECOND_US);
    if (complete && watching->searchable < watching->before + created)
        printf("%s of them come with their photos, which are being made\n",
               demo_number(watching->before + created - watching->searchable, number));
    return true;
}

static bool fill(struct err *err)
{
    struct watching watching = {.done = demo.state.filled};
    const struct filler_options options = {.offers = &demo.offers,
                                           .generator = demo.generator,
                                           .first = demo.state.filled,
                                           .end = demo.state.target,
                                           .is_resumed = true};
    char number[DEMO_NUMBER_SIZE];

    if (!wait_for_index(&watching.before))
        return false;
    watching.searchable = watching.before;
    if (options.first >= options.end)
        return true;
    printf("filling the shop: %s offers\n", demo_number(options.end - options.first, number));
    fflush(stdout);
    demo_bar_begin(&watching.bar, stdout, demo.process->clock);
    filler_start(&options, &demo.filler);
    do
        look(&watching);
    while (!all_is_searchable(&watching) && !is_stuck(&watching) &&
           task_pause(&demo.task, LOOK_US));
    return finish_filling(&watching, err);
}

/* Sellers and buyers. */
static void live(void)
{
    const struct changes_options changes = {.offers = &demo.offers,
                                            .generator = demo.generator,
                                            .offer_count = demo.state.target,
                                            .rate = demo.rate};
    const struct crowd_options crowd = {.offers = &demo.offers,
                                        .search = demo.process->search, /* as buyers do */
                                        .generator = demo.generator,
                                        .offer_count = demo.state.target};
    struct err err;

    if (changes_start(&changes, &demo.changes, &err) || crowd_start(&crowd, &demo.crowd, &err))
        complain("%s", err.text);
}

static void run(struct task *task, void *arg)
{
    struct err err;

    task_says(task, "filling the shop");
    if (!fill(&err))
        return;
    print_links();
    if (demo.has_snippets &&
        gluer_start(demo.process->snippets, &demo.search, demo.rate != 0, &demo.gluer, &err))
        complain("%s", err.text);
    if (demo.rate)
        live();
}

/* --- life --- */

static int ask(void *arg, const Torg__V1__SearchRequest *request, int64_t deadline_us,
               struct arena *arena, Torg__V1__SearchResponse *response, struct err *err)
{
    return front_search(arg, request->client, request, deadline_us, arena, response, err);
}

static int begin(struct process *process, struct err *err)
{
    const struct task_options task = {.name = "demo", .run = run, .clock = process->clock};
    int rc;

    demo.process = process;
    demo.url = process_url(process);
    demo.offers = (struct offers){.store = process->backends.store,
                                  .clock = process->clock,
                                  .catalog = catalog_in_use,
                                  .catalog_arg = process->catalog,
                                  .bell = &process->bell};
    demo.search = (struct search){.clock = process->clock,
                                  .catalog = catalog_in_use,
                                  .catalog_arg = process->catalog,
                                  .ask = ask,
                                  .ask_arg = (void *)process->front,
                                  .is_quiet = true}; /* it asks until the index is open */
    rc = generator_new(demo.state.seed, &demo.generator, err);
    if (!rc)
        rc = make_keys(process, err);
    if (rc)
        return rc;
    print_begin();
    return task_start(&demo.task, &task, err);
}

static void end(struct process *process)
{
    (void)process;
    task_stop(&demo.task);
    crowd_stop(demo.crowd);
    changes_stop(demo.changes);
    gluer_stop(demo.gluer);
    generator_free(demo.generator);
}

/* --- the command line --- */

static int read_number(const struct invocation *invocation, const char *name, uint64_t min,
                       uint64_t max, uint64_t *number, struct err *err)
{
    const char *text = invocation_option(invocation, name);

    if (!text)
        return 0;
    if (!text_to_u64(bytes_of(text), number) || *number < min || *number > max)
        return err_set(err, ERR_INVALID,
                       "--%s=%.64s: expected a number from %" PRIu64 " to %" PRIu64, name, text,
                       min, max);
    return 0;
}

/* The demo keeps to itself: its own directory, this machine alone. */
static int check_settings(const struct config *config, struct err *err)
{
    static const enum setting_id backends[] = {SETTING_STORE_URL, SETTING_TOPIC_URL,
                                               SETTING_COORD_URL, SETTING_BLOB_URL};
    struct address address;

    for (size_t i = 0; i < ARRAY_COUNT(backends); i++) {
        if (*config_text(config, backends[i]))
            return err_set(err, ERR_INVALID,
                           "%s is set, but torg demo keeps everything in a directory of its own: "
                           "leave it out",
                           setting_table[backends[i]].name);
    }
    if (!address_parse(config_text(config, SETTING_SERVER_LISTEN), &address) ||
        !address_is_loopback(&address))
        return err_set(
            err, ERR_INVALID,
            "torg demo prints keys and listens on loopback only: --listen=127.0.0.1:8080");
    return 0;
}

enum exit_code cmd_demo(const struct invocation *invocation)
{
    static const struct attendant attendant = {
        .prepare = prepare, .begin = begin, .end = end, .photo_maker = &demo.maker};
    struct config config = invocation->config;
    struct config_value *dir = &config.values[SETTING_DATA_DIR];
    struct process process = {
        .config = &config, .arena = invocation->arena, .demo = true, .attendant = &attendant};
    uint64_t rate = DEMO_CHANGE_RATE;
    enum exit_code code;
    struct err err;
    int rc = read_number(invocation, "offers", 1, DEMO_OFFER_COUNT_MAX, &demo.offer_count, &err);

    object_check(invocation, INVOCATION_MAGIC);
    if (!rc)
        rc = read_number(invocation, "changes", 0, DEMO_CHANGE_RATE_MAX, &rate, &err);
    if (!rc)
        rc = check_settings(&config, &err);
    if (rc)
        return fail(&err);
    demo.rate = (unsigned)rate;
    demo.settings = &config;
    if (dir->origin == CONFIG_DEFAULT)
        dir->text = DATA_DIR_DEFAULT;
    demo.maker = (struct photo_maker){.has = has_no_photo};
    process_take_roles(&process);
    code = process_serve(&process);
    photographer_close(demo.photographer);
    return code;
}
