/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/search_load.c - fills an index with offers, and asks for pages of them while they change.
 *
 *   fill  so many documents of the client offers, made by the composer's own code
 * (offer_document.h) of offers of the demo catalogue, in batches to DocumentService.PutDocuments
 *   type  SearchService.Suggest for the first letters of words
 *   ask   SearchService.SearchOffers by a mix of requests; beside it new versions of documents, at
 * a steady rate whatever the server does
 *
 * Messages over HTTP/1.1; a caller is a thread with a connection, which asks again when it was
 * answered. Offer number N is the same in every run. The first second is not counted.
 *
 * usage: bench-search-load fill PORT KEY CATALOG COUNT
 *        bench-search-load type PORT KEY CATALOG COUNT CALLERS SECONDS LETTERS
 *        bench-search-load ask PORT KEY CATALOG COUNT CALLERS SECONDS CHANGES_PER_SECOND
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "codec/message.h"
#include "documents/offer_document.h"
#include "load_client.h"
#include "model/offer_fields.h"
#include "search_sample.h"
#include "torg/v1/search.pb-c.h"

enum {
    CALLER_MAX = 256,
    FILLER_COUNT = 8,
    FILL_BATCH = 200,
    CHANGER_COUNT = 4, /* a call waits for the disk */
    CHANGE_BATCH = 10,
    REQUEST_COUNT = 4096, /* made before, taken in turn */
    MESSAGE_SIZE_MAX = 4 << 20,
    SAMPLE_MAX = 1 << 20, /* of one caller */
    OPEN_EVERY = 16,      /* answers of which one is looked into */
    STEP_MAX = 8,
    WARM_US = SECOND_US,
};

struct step {
    char name[32];
    uint64_t us;
};

struct caller {
    pthread_t thread;
    struct load_client client;
    struct rng rng;
    struct arena *arena;
    uint32_t *samples; /* µs of a call */
    size_t sample_count;
    uint64_t call_count;
    uint64_t byte_count;
    uint64_t opened_count, offer_count, filter_count, total_sum;
    struct step steps[STEP_MAX];
};

static const char *key;
static uint16_t port;
static struct catalog *catalog;
static struct samples *samples;
static uint64_t offer_count;
static atomic_uint_fast64_t next_number;
static struct bytes requests[REQUEST_COUNT];
static double changes_per_s;
static size_t letter_count; /* that are typed; 0: pages are asked for */
static atomic_uint_fast64_t changed_count, late_count;
static int64_t begin_us, end_us;

static int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

/* --- calls --- */

static void caller_open(struct caller *caller, uint64_t seed)
{
    *caller = (struct caller){.rng = rng_seeded(seed), .arena = arena_new()};
    load_client_open(&caller->client, port, key, MESSAGE_SIZE_MAX);
}

static void caller_close(struct caller *caller)
{
    load_client_close(&caller->client);
    arena_free(caller->arena);
    free(caller->samples);
}

/* --- documents --- */

/* version 0: as it was first, else changed and of this version. */
static void put_documents(struct caller *caller, const uint64_t *numbers, size_t count,
                          int64_t version)
{
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    const Torg__V1__PutDocumentsResponse *response;
    struct buf wire = BUF_INIT(MESSAGE_SIZE_MAX);
    ProtobufCMessage *message;
    struct err err;

    arena_reset(caller->arena);
    batch.client = (char *)OFFER_CLIENT;
    batch.documents = arena_array(caller->arena, count, sizeof(batch.documents[0]));
    for (size_t i = 0; i < count; i++) {
        const Torg__V1__Offer *offer = sample_offer(samples, numbers[i], version, caller->arena);

        if (offer_document(offer, catalog, caller->arena, &batch.documents[i], &err))
            load_die(err.text);
        batch.n_documents++;
    }
    message_encode(&batch.base, &wire);
    if (message_decode(
            load_client_call(&caller->client, "DocumentService/PutDocuments", buf_bytes(&wire)),
            &torg__v1__put_documents_response__descriptor, caller->arena, &message, &err))
        load_die(err.text);
    response = (const Torg__V1__PutDocumentsResponse *)message;
    for (size_t i = 0; i < response->n_verdicts; i++) {
        const Torg__V1__Verdict *verdict = response->verdicts[i];

        if (verdict->kind != TORG__V1__VERDICT__KIND__ACCEPTED &&
            verdict->kind != TORG__V1__VERDICT__KIND__DUPLICATE && /* drawn twice */
            verdict->kind != TORG__V1__VERDICT__KIND__STALE)
            load_die(verdict->n_reasons ? verdict->reasons[0]->text : "a document was refused");
    }
    buf_release(&wire);
}

static void *fill(void *arg)
{
    struct caller *caller = arg;
    uint64_t numbers[FILL_BATCH];

    for (;;) {
        uint64_t first = atomic_fetch_add(&next_number, FILL_BATCH);
        size_t count = 0;

        while (count < FILL_BATCH && first + count < offer_count) {
            numbers[count] = first + count;
            count++;
        }
        if (!count)
            return NULL;
        put_documents(caller, numbers, count, 0);
    }
}

static int fill_all(void)
{
    static struct caller fillers[FILLER_COUNT];
    int64_t start_us = now_us();

    for (size_t i = 0; i < FILLER_COUNT; i++) {
        caller_open(&fillers[i], i);
        if (pthread_create(&fillers[i].thread, NULL, fill, &fillers[i]))
            load_die("pthread_create");
    }
    for (size_t i = 0; i < FILLER_COUNT; i++) {
        pthread_join(fillers[i].thread, NULL);
        caller_close(&fillers[i]);
    }
    printf("filled_per_s=%.0f\n", (double)offer_count * SECOND_US / (double)(now_us() - start_us));
    return 0;
}

/* New versions of some documents, at a steady rate. */
static void *change(void *arg)
{
    struct caller *caller = arg;
    int64_t interval_us = (int64_t)(CHANGER_COUNT * CHANGE_BATCH * SECOND_US / changes_per_s);
    int64_t due_us = now_us() + (int64_t)rng_below(&caller->rng, (uint64_t)interval_us);
    uint64_t numbers[CHANGE_BATCH];

    while (now_us() < end_us) {
        int64_t late_us = now_us() - due_us;

        if (late_us < 0) {
            const struct timespec pause = {.tv_nsec = -late_us * 1000 % 1000000000};

            nanosleep(&pause, NULL);
            continue;
        }
        atomic_fetch_add(&late_count, late_us > SECOND_US / 10);
        for (size_t i = 0; i < CHANGE_BATCH; i++)
            numbers[i] = rng_below(&caller->rng, offer_count);
        put_documents(caller, numbers, CHANGE_BATCH, clock_wall_us(clock_system()));
        if (now_us() >= begin_us && now_us() < end_us)
            atomic_fetch_add(&changed_count, CHANGE_BATCH);
        due_us += interval_us;
    }
    return NULL;
}

/* --- pages --- */

static void add_step(struct caller *caller, const Torg__V1__StepTime *time)
{
    for (size_t i = 0; i < STEP_MAX; i++) {
        struct step *step = &caller->steps[i];

        if (!step->name[0])
            snprintf(step->name, sizeof(step->name), "%s", time->step);
        if (strcmp(step->name, time->step) != 0)
            continue;
        step->us += time->microseconds;
        return;
    }
}

static void open_answer(struct caller *caller, struct bytes body)
{
    const Torg__V1__SearchOffersResponse *response;
    ProtobufCMessage *message;
    struct err err;

    arena_reset(caller->arena);
    if (message_decode(body, &torg__v1__search_offers_response__descriptor, caller->arena, &message,
                       &err))
        load_die(err.text);
    response = (const Torg__V1__SearchOffersResponse *)message;
    if (response->is_partial)
        load_die("an answer is without some shards");
    caller->opened_count++;
    caller->offer_count += response->n_offers;
    caller->filter_count += response->n_filters;
    caller->total_sum += response->total;
    for (size_t i = 0; i < response->n_times; i++)
        add_step(caller, response->times[i]);
}

static void *ask(void *arg)
{
    struct caller *caller = arg;
    uint64_t at = rng_below(&caller->rng, REQUEST_COUNT);

    while (now_us() < end_us) {
        int64_t start_us = now_us();
        struct bytes body = load_client_call(
            &caller->client, letter_count ? "SearchService/Suggest" : "SearchService/SearchOffers",
            requests[at++ % REQUEST_COUNT]);
        int64_t done_us = now_us();

        if (done_us < begin_us || done_us >= end_us)
            continue;
        caller->call_count++;
        caller->byte_count += body.size;
        if (caller->sample_count < SAMPLE_MAX)
            caller->samples[caller->sample_count++] = (uint32_t)(done_us - start_us);
        if (!letter_count && caller->call_count % OPEN_EVERY == 1)
            open_answer(caller, body);
    }
    return NULL;
}

/* All callers' figures in the first's. */
static void sum_up(struct caller *callers, size_t count)
{
    struct caller *sum = &callers[0];

    for (size_t i = 1; i < count; i++) {
        sum->call_count += callers[i].call_count;
        sum->byte_count += callers[i].byte_count;
        sum->opened_count += callers[i].opened_count;
        sum->offer_count += callers[i].offer_count;
        sum->filter_count += callers[i].filter_count;
        sum->total_sum += callers[i].total_sum;
        for (size_t k = 0; k < STEP_MAX && callers[i].steps[k].name[0]; k++) {
            Torg__V1__StepTime time = TORG__V1__STEP_TIME__INIT;

            time.step = callers[i].steps[k].name;
            time.microseconds = callers[i].steps[k].us;
            add_step(sum, &time);
        }
    }
}

static void tell(struct caller *callers, size_t count, double seconds)
{
    uint32_t *all = mem_array(count, SAMPLE_MAX * sizeof(uint32_t));
    const struct caller *sum = &callers[0];
    struct load_times times;
    double opened;
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        memcpy(all + total, callers[i].samples, callers[i].sample_count * sizeof(uint32_t));
        total += callers[i].sample_count;
    }
    sum_up(callers, count);
    times = load_times_of(all, total);
    opened = sum->opened_count ? (double)sum->opened_count : 1;
    printf("pages_per_s=%.1f p50_ms=%.3f p99_ms=%.3f mean_us=%.0f bytes=%.0f hits=%.0f "
           "offers=%.1f filters=%.1f changes_per_s=%.0f late=%" PRIuFAST64 " load_cpu_s=%.2f",
           (double)sum->call_count / seconds, times.p50_ms, times.p99_ms, times.mean_us,
           sum->call_count ? (double)sum->byte_count / (double)sum->call_count : 0,
           (double)sum->total_sum / opened, (double)sum->offer_count / opened,
           (double)sum->filter_count / opened, (double)atomic_load(&changed_count) / seconds,
           atomic_load(&late_count), load_cpu_s());
    for (size_t i = 0; i < STEP_MAX && sum->steps[i].name[0]; i++) {
        printf(" step_");
        for (const char *at = sum->steps[i].name; *at; at++)
            putchar(*at == ' ' ? '_' : *at);
        printf("_us=%.0f", (double)sum->steps[i].us / opened);
    }
    putchar('\n');
    free(all);
}

static void make_requests(struct arena *arena)
{
    struct arena *scratch = arena_new();
    struct rng rng = rng_seeded(7);

    for (size_t i = 0; i < REQUEST_COUNT; i++) {
        struct buf wire = BUF_INIT(64 << 10);

        message_encode(letter_count ? &sample_typing(samples, &rng, letter_count, scratch)->base
                                    : &sample_request(samples, &rng, offer_count, scratch)->base,
                       &wire);
        requests[i] = arena_copy(arena, buf_bytes(&wire));
        buf_release(&wire);
        arena_reset(scratch);
    }
    arena_free(scratch);
}

static int ask_all(size_t caller_count, long seconds)
{
    static struct caller callers[CALLER_MAX];
    struct arena *arena = arena_new();
    static struct caller changers[CHANGER_COUNT];
    size_t changer_count = changes_per_s > 0 ? CHANGER_COUNT : 0;

    make_requests(arena);
    begin_us = now_us() + WARM_US;
    end_us = begin_us + seconds * SECOND_US;
    for (size_t i = 0; i < changer_count; i++) {
        caller_open(&changers[i], random_u64());
        if (pthread_create(&changers[i].thread, NULL, change, &changers[i]))
            load_die("pthread_create");
    }
    for (size_t i = 0; i < caller_count; i++) {
        caller_open(&callers[i], i);
        callers[i].samples = mem_array(SAMPLE_MAX, sizeof(uint32_t));
        if (pthread_create(&callers[i].thread, NULL, ask, &callers[i]))
            load_die("pthread_create");
    }
    for (size_t i = 0; i < caller_count; i++)
        pthread_join(callers[i].thread, NULL);
    for (size_t i = 0; i < changer_count; i++) {
        pthread_join(changers[i].thread, NULL);
        caller_close(&changers[i]);
    }
    tell(callers, caller_count, (double)seconds);
    for (size_t i = 0; i < caller_count; i++)
        caller_close(&callers[i]);
    arena_free(arena);
    return 0;
}

static void load_catalog(const char *path)
{
    struct buf json = BUF_INIT(16 << 20);
    struct err err;

    if (file_read(path, &json, &err) || catalog_from_json(buf_bytes(&json), NULL, &catalog, &err))
        load_die(err.text);
    buf_release(&json);
    samples = samples_new(catalog);
}

int main(int argc, char **argv)
{
    bool is_fill = argc == 6 && strcmp(argv[1], "fill") == 0;
    bool is_type = argc == 9 && strcmp(argv[1], "type") == 0;
    size_t caller_count;
    int rc;

    if (!is_fill && !(argc == 9 && (is_type || strcmp(argv[1], "ask") == 0))) {
        fprintf(stderr, "usage: bench-search-load fill PORT KEY CATALOG COUNT\n"
                        "       bench-search-load type PORT KEY CATALOG COUNT CALLERS SECONDS "
                        "LETTERS\n"
                        "       bench-search-load ask PORT KEY CATALOG COUNT CALLERS SECONDS "
                        "CHANGES_PER_SECOND\n");
        return 2;
    }
    port = (uint16_t)strtoul(argv[2], NULL, 10);
    key = argv[3];
    offer_count = strtoull(argv[5], NULL, 10);
    load_catalog(argv[4]);
    if (is_fill) {
        rc = fill_all();
    } else {
        caller_count = strtoul(argv[6], NULL, 10);
        changes_per_s = is_type ? 0 : strtod(argv[8], NULL);
        letter_count = is_type ? strtoul(argv[8], NULL, 10) : 0;
        if (!caller_count || (is_type && !letter_count) || caller_count > CALLER_MAX ||
            !offer_count)
            load_die("bad arguments");
        rc = ask_all(caller_count, strtol(argv[7], NULL, 10));
    }
    samples_free(samples);
    catalog_unref(catalog);
    return rc;
}
