/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/registry_load.c - calls DocumentService.PutDocuments, by messages over HTTP/1.1.
 *
 * So many callers, a thread and a connection each, send a batch, wait for its verdicts and send the
 * next. A document has eight fields and some 700 bytes; their bodies are made before. A document
 * counts only if its verdict is ACCEPTED. The first second is not counted.
 *
 * usage: bench-registry-load PORT KEY CALLERS BATCH SECONDS FIRST COUNT
 *        COUNT 0: new documents, numbered from FIRST on; else new versions of those COUNT
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/varint.h"
#include "codec/message.h"
#include "load_client.h"
#include "torg/v1/document.pb-c.h"

enum {
    BODY_COUNT = 512, /* made before, taken in turn */
    CALLER_MAX = 256,
    REQUEST_SIZE_MAX = 4 << 20,
    SAMPLE_MAX = 1 << 20, /* of one caller */
    WARM_US = SECOND_US,
};

struct caller {
    pthread_t thread;
    struct load_client client;
    struct rng rng;
    struct buf message;
    uint64_t accepted;
    uint64_t stale;
    uint64_t refused;
    uint32_t *samples; /* µs of a call */
    size_t sample_count;
};

static struct bytes bodies[BODY_COUNT]; /* fields of RawDocument behind pk and version */
static size_t batch_count;
static int64_t first;
static int64_t update_count;
static atomic_int_fast64_t next_number;
static int64_t begin_us;
static int64_t end_us;

static int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

/* --- documents --- */

static const char *const words[] = {
    "велосипед", "горный",   "почти",    "новый",    "продам",   "состояние", "отличное",
    "колёса",    "рама",     "алюминий", "скорость", "доставка", "торг",      "Москва",
    "гарантия",  "комплект", "bicycle",  "Shimano",  "Stels",    "Trek",      "2019",
    "тормоза",   "дисковые", "вилка",    "детский",  "размер",   "подарок",   "чек",
    "красный",   "синий",    "быстро",   "возможен"};

static char *make_text(struct rng *rng, struct arena *arena, unsigned count)
{
    char *text = arena_strdup(arena, "");

    for (unsigned i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? " " : "",
                            words[rng_below(rng, ARRAY_COUNT(words))]);
    return text;
}

static Torg__V1__RawField *add(Torg__V1__RawDocument *document, struct arena *arena,
                               const char *name)
{
    Torg__V1__RawField *field =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

    field->name = arena_strdup(arena, name);
    document->fields[document->n_fields++] = field;
    return field;
}

static struct bytes make_body(struct rng *rng, struct arena *arena)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);
    struct buf wire = BUF_INIT(64 << 10);
    Torg__V1__RawField *field;
    struct bytes body;

    document->fields = arena_array(arena, 16, sizeof(Torg__V1__RawField *));
    field = add(document, arena, "title");
    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field->text = make_text(rng, arena, 5);
    field = add(document, arena, "description");
    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    field->text = make_text(rng, arena, 20 + (unsigned)rng_below(rng, 25));
    field = add(document, arena, "price");
    field->_decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
    field->decimal = arena_printf(arena, "%u.50", (unsigned)rng_below(rng, 100000));
    field = add(document, arena, "seller");
    field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    field->keyword = arena_printf(arena, "seller-%u", (unsigned)rng_below(rng, 10000));
    field = add(document, arena, "category");
    field->_category_case = TORG__V1__RAW_FIELD___CATEGORY_CATEGORY;
    field->category = arena_printf(arena, "transport/bicycles/%u", (unsigned)rng_below(rng, 20));
    field = add(document, arena, "year");
    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = 1990 + (int64_t)rng_below(rng, 36);
    field = add(document, arena, "is_new");
    field->_boolean_case = TORG__V1__RAW_FIELD___BOOLEAN_BOOLEAN;
    field->boolean = rng_below(rng, 2) != 0;
    field = add(document, arena, "place");
    field->point = (Torg__V1__GeoPoint *)message_new(&torg__v1__geo_point__descriptor, arena);
    field->point->latitude = 55 + (double)rng_below(rng, 1000) / 1000;
    field->point->longitude = 37 + (double)rng_below(rng, 1000) / 1000;
    message_encode(&document->base, &wire);
    body = arena_copy(arena, buf_bytes(&wire));
    buf_release(&wire);
    return body;
}

static void put_head(struct buf *out, unsigned field, size_t size)
{
    varint_put(out, field << 3 | 2);
    varint_put(out, size);
}

/* QualifiedBatch: field 2, documents; RawDocument: 1 pk, 2 version. */
static void put_document(struct caller *caller, int64_t number, int64_t version)
{
    struct bytes body = bodies[rng_below(&caller->rng, BODY_COUNT)];
    uint8_t coded[VARINT_SIZE_MAX];
    size_t version_size = varint_encode((uint64_t)version, coded);
    char pk[32];
    size_t pk_size = (size_t)snprintf(pk, sizeof(pk), "bicycle-%08" PRId64, number);

    put_head(&caller->message, 2, 2 + pk_size + 1 + version_size + body.size);
    put_head(&caller->message, 1, pk_size);
    buf_put_raw(&caller->message, pk, pk_size);
    buf_put_byte(&caller->message, 2 << 3);
    buf_put_raw(&caller->message, coded, version_size);
    buf_put(&caller->message, body);
}

static void make_request(struct caller *caller)
{
    int64_t number = update_count ? 0 : atomic_fetch_add(&next_number, (int64_t)batch_count);
    int64_t version = update_count ? clock_wall_us(clock_system()) : 1;

    buf_reset(&caller->message);
    for (size_t i = 0; i < batch_count; i++) {
        if (update_count)
            number = first + (int64_t)rng_below(&caller->rng, (uint64_t)update_count);
        put_document(caller, number, version);
        number += !update_count;
    }
    if (buf_failed(&caller->message))
        load_die("a batch is too large");
}

/* --- calls --- */

static void count_answer(struct caller *caller, struct bytes body, bool is_counted)
{
    struct arena *arena = arena_new();
    const Torg__V1__PutDocumentsResponse *response;
    ProtobufCMessage *message;
    struct err err;

    if (message_decode(body, &torg__v1__put_documents_response__descriptor, arena, &message, &err))
        load_die(err.text);
    response = (const Torg__V1__PutDocumentsResponse *)message;
    if (response->n_verdicts != batch_count)
        load_die("verdicts are missing");
    for (size_t i = 0; i < response->n_verdicts; i++) {
        const Torg__V1__Verdict *verdict = response->verdicts[i];

        if (verdict->kind == TORG__V1__VERDICT__KIND__ACCEPTED)
            caller->accepted += is_counted;
        else if (update_count && (verdict->kind == TORG__V1__VERDICT__KIND__STALE ||
                                  verdict->kind == TORG__V1__VERDICT__KIND__DUPLICATE))
            caller->stale += is_counted; /* two versions of one document at the same time */
        else if (caller->refused++ == 0)
            fprintf(stderr, "bench-registry-load: %s: %s\n", verdict->pk,
                    verdict->n_reasons ? verdict->reasons[0]->text : "refused");
    }
    arena_free(arena);
}

static void *run(void *arg)
{
    struct caller *caller = arg;

    while (now_us() < end_us) {
        int64_t start_us = now_us();
        struct bytes body;
        int64_t done_us;

        make_request(caller);
        body = load_client_call(&caller->client, "DocumentService/PutDocuments",
                                buf_bytes(&caller->message));
        done_us = now_us();
        count_answer(caller, body, done_us >= begin_us && done_us < end_us);
        if (done_us >= begin_us && caller->sample_count < SAMPLE_MAX)
            caller->samples[caller->sample_count++] = (uint32_t)(done_us - start_us);
    }
    return NULL;
}

static void tell(struct caller *callers, size_t count, double seconds)
{
    uint32_t *all = mem_array(count, SAMPLE_MAX * sizeof(uint32_t));
    struct load_times times;
    uint64_t accepted = 0;
    uint64_t stale = 0;
    uint64_t refused = 0;
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        accepted += callers[i].accepted;
        stale += callers[i].stale;
        refused += callers[i].refused;
        memcpy(all + total, callers[i].samples, callers[i].sample_count * sizeof(uint32_t));
        total += callers[i].sample_count;
    }
    times = load_times_of(all, total);
    printf("documents_per_s=%.0f p50_ms=%.2f p99_ms=%.2f stale=%" PRIu64 " refused=%" PRIu64
           " next=%" PRId64 " load_cpu_s=%.2f\n",
           (double)accepted / seconds, times.p50_ms, times.p99_ms, stale, refused,
           update_count ? first + update_count : atomic_load(&next_number), load_cpu_s());
    free(all);
}

int main(int argc, char **argv)
{
    static struct caller callers[CALLER_MAX];
    struct arena *arena = arena_new();
    struct rng rng = rng_seeded(1);
    size_t caller_count;
    uint16_t port;
    long seconds;

    if (argc != 8) {
        fprintf(stderr, "usage: bench-registry-load PORT KEY CALLERS BATCH SECONDS FIRST COUNT\n");
        return 2;
    }
    port = (uint16_t)strtoul(argv[1], NULL, 10);
    caller_count = strtoul(argv[3], NULL, 10);
    batch_count = strtoul(argv[4], NULL, 10);
    seconds = strtol(argv[5], NULL, 10);
    first = strtoll(argv[6], NULL, 10);
    update_count = strtoll(argv[7], NULL, 10);
    if (!caller_count || caller_count > CALLER_MAX || !batch_count)
        load_die("bad arguments");
    atomic_init(&next_number, first);
    for (size_t i = 0; i < BODY_COUNT; i++)
        bodies[i] = make_body(&rng, arena);
    begin_us = now_us() + WARM_US;
    end_us = begin_us + seconds * SECOND_US;
    for (size_t i = 0; i < caller_count; i++) {
        callers[i] = (struct caller){.rng = rng_seeded(random_u64())};
        load_client_open(&callers[i].client, port, argv[2], REQUEST_SIZE_MAX);
        buf_init(&callers[i].message, REQUEST_SIZE_MAX);
        callers[i].samples = mem_array(SAMPLE_MAX, sizeof(uint32_t));
        if (pthread_create(&callers[i].thread, NULL, run, &callers[i]))
            load_die("pthread_create");
    }
    for (size_t i = 0; i < caller_count; i++)
        pthread_join(callers[i].thread, NULL);
    tell(callers, caller_count, (double)seconds);
    return 0;
}
