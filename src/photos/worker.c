/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - see worker.h. */
#include "photos/worker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/topics.h"
#include "net/client/hosts.h"
#include "photos/bounds.h"
#include "photos/source.h"
#include "photos/upload.h"
#include "stage/reader.h"

enum { RESULT_SIZE_MAX = 512 << 10 };

/* A topic of requests, and those who work on it. */
struct lane {
    struct photo_worker *worker;
    struct stage_reader *reader;
    bool is_slow; /* it has time for servers that have none for us */
};

struct photo_worker {
    struct photo_worker_options options;
    struct hosts *hosts; /* owned */
    struct lane first;
    struct lane slow;
    struct counter *ready;
    struct counter *failed;
    struct counter *silent;
    struct counter *slowed;
    struct counter *unchanged;
};

/* A request while it is answered. */
struct answering {
    struct photo_worker *worker;
    struct lane *lane;
    const struct topic_message *message;
    struct arena *arena;
    int32_t attempt;
    bool is_silent;               /* the server of the photo at hand, or the decoder */
    bool is_lost;                 /* it was the decoder: by this file, or by some misfortune */
    int64_t again_us;             /* of the photo at hand: the server was not even asked, and is
                                   * after this; 0: it was */
    int64_t put_off_us;           /* for those of whom nothing new can be told now; 0: there is
                                   * none */
    bool is_last;                 /* what does not answer now is given up */
    char silent[ERR_TEXT_SIZE];   /* why a photo has to be tried again; "": none has */
    Torg__V1__PhotoRequest *left; /* to the slow lane */
    Torg__V1__PhotoRequest *late; /* what has to be tried again */
};

static void set_failed(struct answering *answering, const char *reason,
                       Torg__V1__PhotoResult__Item *item)
{
    item->state = TORG__V1__PHOTO__STATE__FAILED;
    item->n_sizes = 0;
    item->hash.len = item->preview.len = 0;
    item->reason = arena_printf(answering->arena, "%.*s", PHOTO_REFUSAL_SIZE_MAX, reason);
}

/* Whether the fault is the address's or the file's, and not ours or of the moment. */
static bool is_final(int rc)
{
    return rc == ERR_INVALID || rc == ERR_NOT_FOUND || rc == ERR_DENIED || rc == ERR_LIMIT;
}

static void add(struct answering *answering, const Torg__V1__PhotoRequest *request,
                Torg__V1__PhotoRequest__Item *wanted, Torg__V1__PhotoRequest **list)
{
    if (!*list) {
        *list = MESSAGE_NEW(photo_request, answering->arena);
        (*list)->offer_id = request->offer_id;
        (*list)->revision = request->revision;
        (*list)->photos =
            arena_array(answering->arena, request->n_photos, sizeof(*(*list)->photos));
    }
    (*list)->photos[(*list)->n_photos++] = wanted;
}

static void note_silence(struct answering *answering, const Torg__V1__PhotoRequest *request,
                         Torg__V1__PhotoRequest__Item *wanted, const struct err *err,
                         Torg__V1__PhotoResult__Item *item)
{
    if (answering->is_last) {
        set_failed(answering, err->text, item);
        counter_add(answering->worker->failed, 1);
        return;
    }
    set_failed(answering, arena_printf(answering->arena, "%.350s; it is tried again", err->text),
               item);
    snprintf(answering->silent, sizeof(answering->silent), "%s", err->text);
    counter_add(answering->worker->silent, 1);
    add(answering, request, wanted, &answering->late);
}

static int enter(struct answering *answering, const char *url, struct err *err)
{
    struct hosts *hosts = answering->worker->hosts;

    answering->again_us = 0;
    return answering->lane->is_slow ? hosts_probe(hosts, url, &answering->again_us, err)
                                    : hosts_enter(hosts, url, false, err);
}

static void leave(struct answering *answering, const char *url)
{
    struct hosts *hosts = answering->worker->hosts;

    if (answering->lane->is_slow)
        hosts_probe_end(hosts, url, answering->is_silent);
    else
        hosts_leave(hosts, url, answering->is_silent);
}

/* A turn at its server, and the file. Nobody waits for what is ours. */
static int fetch(struct answering *answering, const char *url, struct fetch_state *state,
                 struct buf *file, struct err *err)
{
    const struct photo_worker *worker = answering->worker;
    bool is_slow = answering->lane->is_slow;
    bool is_web = photo_is_elsewhere(&worker->options.fetch, url);
    int rc = is_web ? enter(answering, url, err) : 0;

    answering->is_silent = is_web && rc;
    if (rc)
        return rc;
    answering->again_us = 0;
    rc = photo_fetch(&worker->options.fetch, url,
                     is_slow ? PHOTO_FETCH_MS_MAX : PHOTO_FETCH_FIRST_MS_MAX, state,
                     answering->arena, file, err);
    answering->is_silent = is_web && rc && !is_final(rc);
    if (is_web)
        leave(answering, url);
    return rc;
}

/* The photo of before, if it is still there; *reused false: it has to be fetched. */
static int reuse(struct answering *answering, const Torg__V1__PhotoResult__Item *known,
                 Torg__V1__PhotoResult__Item *item, bool *reused, struct err *err)
{
    const struct ledger *ledger = answering->worker->options.intake->ledger;
    char *url = item->url;
    int32_t attempt = item->attempt;
    int rc = ledger_renew(ledger, known->sizes[0]->key, reused, err);

    if (rc || !*reused)
        return rc;
    *item = *known;
    item->url = url;
    item->attempt = attempt;
    counter_add(answering->worker->unchanged, 1);
    return 0;
}

/* From the address to its pictures. */
static int develop(struct answering *answering, Torg__V1__PhotoResult__Item *item, struct err *err)
{
    const struct photo_worker *worker = answering->worker;
    struct store *store = worker->options.store;
    struct buf file = BUF_INIT(PHOTO_FILE_SIZE_MAX);
    struct fetch_state state = {.etag = "", .modified = ""};
    Torg__V1__PhotoResult__Item *known = NULL;
    bool reused = false;
    int rc = upload_is_address(item->url)
                 ? 0
                 : source_find(store, item->url, answering->arena, &state, &known, err);

    if (!rc)
        rc = fetch(answering, item->url, &state, &file, err);
    if (!rc && state.is_unchanged) {
        rc = reuse(answering, known, item, &reused, err);
        state = (struct fetch_state){.etag = "", .modified = ""};
        if (!rc && !reused)
            rc = fetch(answering, item->url, &state, &file, err);
    }
    if (!rc && !reused) {
        rc = intake_develop(worker->options.intake, buf_bytes(&file), NULL, answering->arena, item,
                            err);
        answering->is_lost = rc == ERR_TIMEOUT;
        if (!rc)
            rc = source_keep(store, item->url, &state, item, err);
    }
    buf_release(&file);
    return rc;
}

/* A decoder may be killed by the machine's want of memory, or be late where everything is: the file
 * is believed to be at fault when it happens again and again. */
static bool is_beyond_hope(const struct answering *answering)
{
    return answering->is_lost && answering->lane->is_slow &&
           stage_reader_try_count(answering->lane->reader) >= PHOTO_LOST_TRY_COUNT;
}

/* Its server is known to be silent, and was told to be: this was no try. */
static bool is_put_off(struct answering *answering)
{
    if (!answering->again_us || answering->is_last ||
        !stage_reader_is_retry(answering->lane->reader))
        return false;
    if (answering->again_us > answering->put_off_us)
        answering->put_off_us = answering->again_us;
    return true;
}

static void count(const struct answering *answering, const Torg__V1__PhotoResult__Item *item)
{
    const struct photo_worker *worker = answering->worker;

    counter_add(item->state == TORG__V1__PHOTO__STATE__READY ? worker->ready : worker->failed, 1);
}

/* *answered false: the slow lane will, or a later try. < 0: the fault is ours, and passes. */
static int answer_one(struct answering *answering, const Torg__V1__PhotoRequest *request,
                      Torg__V1__PhotoRequest__Item *wanted, Torg__V1__PhotoResult__Item *item,
                      bool *answered, struct err *err)
{
    int rc;

    item->url = wanted->url;
    item->attempt = answering->attempt;
    answering->is_silent = answering->is_lost = false;
    answering->again_us = 0;
    rc = develop(answering, item, err);
    *answered = true;
    if (rc && (is_final(rc) || is_beyond_hope(answering))) {
        set_failed(answering, err->text, item);
    } else if (answering->is_silent || answering->is_lost) {
        *answered = answering->lane->is_slow && !is_put_off(answering);
        if (!answering->lane->is_slow) { /* who waits for others' photos waits no longer */
            add(answering, request, wanted, &answering->left);
            counter_add(answering->worker->slowed, 1);
        } else if (*answered) {
            note_silence(answering, request, wanted, err, item);
        }
        return 0;
    } else if (rc) {
        return rc;
    }
    count(answering, item);
    return 0;
}

static int send(struct answering *answering, const char *topic, const ProtobufCMessage *message,
                struct err *err)
{
    struct buf wire = BUF_INIT(RESULT_SIZE_MAX);
    struct topic_record record = {.key = answering->message->key};
    int rc;

    message_encode(message, &wire);
    if (buf_failed(&wire)) {
        rc = err_set(err, ERR_LIMIT, "the answer is larger than %d bytes", RESULT_SIZE_MAX);
    } else {
        record.value = buf_bytes(&wire);
        rc = topic_produce(answering->worker->options.topics, topic, &record, 1, NULL, err);
    }
    buf_release(&wire);
    return rc;
}

/* The request waits as a parked one: of its photos those that were not answered, once it is there.
 */
static int come_again(struct answering *answering, const Torg__V1__PhotoRequest *request,
                      struct err *err)
{
    struct stage_reader *reader = answering->lane->reader;
    struct buf wire = BUF_INIT(RESULT_SIZE_MAX);
    int rc;

    if (answering->put_off_us && !answering->late) {
        stage_reader_put_off(reader, answering->put_off_us);
        return STAGE_READER_NOT_YET;
    }
    if (!answering->late)
        return 0;
    if (stage_reader_is_retry(reader) || answering->late->n_photos == request->n_photos)
        return err_set(err, ERR_PRECONDITION, "%s", answering->silent);
    message_encode(&answering->late->base, &wire);
    assert(!buf_failed(&wire)); /* a part of what was there */
    rc = stage_reader_park(reader, answering->message,
                           arena_text(answering->arena, answering->message->key), buf_bytes(&wire),
                           answering->silent, err);
    buf_release(&wire);
    return rc;
}

static int answer_all(struct answering *answering, const Torg__V1__PhotoRequest *request,
                      struct err *err)
{
    Torg__V1__PhotoResult result = TORG__V1__PHOTO_RESULT__INIT;
    int rc = 0;

    result.offer_id = request->offer_id;
    result.revision = request->revision;
    result.photos = arena_array(answering->arena, request->n_photos + 1, sizeof(*result.photos));
    for (size_t i = 0; i < request->n_photos && !rc; i++) {
        Torg__V1__PhotoResult__Item *item = MESSAGE_NEW(photo_result__item, answering->arena);
        bool answered;

        if (stage_reader_is_stopping(answering->lane->reader))
            return err_set(err, ERR_CANCELLED, "it is time to stop");
        rc = answer_one(answering, request, request->photos[i], item, &answered, err);
        if (answered)
            result.photos[result.n_photos++] = item;
    }
    if (!rc && result.n_photos)
        rc = send(answering, TOPIC_PHOTO_RESULTS, &result.base, err);
    if (!rc && answering->left)
        rc = send(answering, TOPIC_PHOTO_SLOW, &answering->left->base, err);
    return rc ? rc : come_again(answering, request, err);
}

static int take_request(void *arg, const struct topic_message *message, struct arena *arena,
                        struct err *err)
{
    struct lane *lane = arg;
    const struct photo_worker_options *options = &lane->worker->options;
    int64_t age_us = clock_wall_us(options->clock) - message->timestamp_us;
    struct answering answering = {
        .worker = lane->worker, .lane = lane, .message = message, .arena = arena, .attempt = 1};
    ProtobufCMessage *decoded;
    int rc =
        message_decode(message->value, &torg__v1__photo_request__descriptor, arena, &decoded, err);

    /* Of one that is parked the age counts from its first try in the slow lane, however long the
     * request was on its way there. */
    if (!rc && stage_reader_is_retry(lane->reader) && age_us > 0) {
        answering.attempt = 2 + (int32_t)(age_us / SECOND_US % INT32_MAX);
        answering.is_last = age_us > options->retry_us;
    }
    return rc ? rc : answer_all(&answering, (const Torg__V1__PhotoRequest *)decoded, err);
}

static int start_lane(struct photo_worker *worker, struct lane *lane, const char *topic,
                      const char *stage, struct err *err)
{
    static const struct stage_reader_handler handler = {.take = take_request};
    const struct photo_worker_options *options = &worker->options;
    const struct stage_reader_options reading = {.stage = stage,
                                                 .topic = topic,
                                                 .group = "photos",
                                                 .handler = &handler,
                                                 .arg = lane,
                                                 .topics = options->topics,
                                                 .store = options->store,
                                                 .clock = options->clock,
                                                 .order = PARKED_ASIDE,
                                                 .worker_count = PHOTO_FETCH_THREAD_COUNT,
                                                 .poll_count = PHOTO_FETCH_POLL_COUNT};

    lane->worker = worker;
    return stage_reader_start(&reading, &lane->reader, err);
}

static void make_metrics(struct photo_worker *worker)
{
    worker->ready = metrics_counter("torg_photos_ready_total", "", "Photos answered as ready.");
    worker->failed = metrics_counter("torg_photos_failed_total", "", "Photos that cannot be used.");
    worker->silent = metrics_counter("torg_photos_silent_total", "",
                                     "Tries to fetch a photo that nobody answered.");
    worker->slowed = metrics_counter("torg_photos_slowed_total", "",
                                     "Photos left to the slow lane by the first try.");
    worker->unchanged = metrics_counter("torg_photos_unchanged_total", "",
                                        "Photos whose server said that they have not changed.");
}

int photo_worker_start(const struct photo_worker_options *options, struct photo_worker **worker,
                       struct err *err)
{
    struct photo_worker *made = mem_zero(sizeof(*made));
    int rc;

    made->options = *options;
    made->hosts = hosts_new(options->clock);
    made->slow.is_slow = true;
    make_metrics(made);
    rc = start_lane(made, &made->slow, TOPIC_PHOTO_SLOW, PARKED_BY_PHOTO_FETCH, err);
    if (!rc)
        rc = start_lane(made, &made->first, TOPIC_PHOTO_REQUESTS, PARKED_BY_PHOTO_FIRST, err);
    if (rc) {
        photo_worker_stop(made);
        made = NULL;
    }
    *worker = made;
    return rc;
}

void photo_worker_stop(struct photo_worker *worker)
{
    if (!worker)
        return;
    stage_reader_stop(worker->first.reader);
    stage_reader_stop(worker->slow.reader);
    hosts_free(worker->hosts);
    free(worker);
}
