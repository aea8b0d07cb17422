/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - see worker.h. */
#include "photos/worker.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/metrics.h"
#include "codec/message.h"
#include "model/topics.h"
#include "photos/bounds.h"
#include "stage/reader.h"

enum { RESULT_SIZE_MAX = 512 << 10 };

struct photo_worker {
    struct photo_worker_options options;
    struct stage_reader *reader;
    struct counter *ready;
    struct counter *failed;
    struct counter *silent;
};

/* A request while it is answered. */
struct answering {
    struct photo_worker *worker;
    const struct topic_message *message;
    struct arena *arena;
    int32_t attempt;
    bool is_last;               /* what does not answer now is given up */
    char silent[ERR_TEXT_SIZE]; /* why a photo has to be tried again; "": none has */
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

static void note_silence(struct answering *answering, const struct err *err,
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
}

/* < 0: the fault is ours, and passes. */
static int answer_one(struct answering *answering, const Torg__V1__PhotoRequest__Item *wanted,
                      Torg__V1__PhotoResult__Item *item, struct err *err)
{
    const struct photo_worker *worker = answering->worker;
    struct buf file = BUF_INIT(PHOTO_FILE_SIZE_MAX);
    int rc = photo_fetch(&worker->options.fetch, wanted->url, &file, err);

    item->url = wanted->url;
    item->attempt = answering->attempt;
    if (rc && !is_final(rc)) {
        note_silence(answering, err, item);
        rc = 0;
    } else {
        rc = rc ? rc
                : intake_develop(worker->options.intake, buf_bytes(&file), answering->arena, item,
                                 err);
        if (rc && is_final(rc)) {
            set_failed(answering, err->text, item);
            rc = 0;
        }
        if (!rc)
            counter_add(
                item->state == TORG__V1__PHOTO__STATE__READY ? worker->ready : worker->failed, 1);
    }
    buf_release(&file);
    return rc;
}

static int send_result(struct answering *answering, const Torg__V1__PhotoResult *result,
                       struct err *err)
{
    struct buf wire = BUF_INIT(RESULT_SIZE_MAX);
    struct topic_record record = {.key = answering->message->key};
    int rc;

    message_encode(&result->base, &wire);
    if (buf_failed(&wire)) {
        rc = err_set(err, ERR_LIMIT, "the answer is larger than %d bytes", RESULT_SIZE_MAX);
    } else {
        record.value = buf_bytes(&wire);
        rc = topic_produce(answering->worker->options.topics, TOPIC_PHOTO_RESULTS, &record, 1, NULL,
                           err);
    }
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

        if (stage_reader_is_stopping(answering->worker->reader))
            return err_set(err, ERR_CANCELLED, "it is time to stop");
        rc = answer_one(answering, request->photos[i], item, err);
        result.photos[result.n_photos++] = item;
    }
    if (!rc && result.n_photos)
        rc = send_result(answering, &result, err);
    if (!rc && answering->silent[0])
        rc = err_set(err, ERR_PRECONDITION, "%s", answering->silent); /* parked: tried again */
    return rc;
}

static int take(void *arg, const struct topic_message *message, struct arena *arena,
                struct err *err)
{
    struct photo_worker *worker = arg;
    int64_t age_us = clock_wall_us(worker->options.clock) - message->timestamp_us;
    struct answering answering = {.worker = worker,
                                  .message = message,
                                  .arena = arena,
                                  .attempt = 1,
                                  .is_last = age_us > worker->options.retry_us};
    ProtobufCMessage *decoded;
    int rc =
        message_decode(message->value, &torg__v1__photo_request__descriptor, arena, &decoded, err);

    if (!rc && stage_reader_is_retry(worker->reader) && age_us > 0)
        answering.attempt = 2 + (int32_t)(age_us / SECOND_US % INT32_MAX);
    return rc ? rc : answer_all(&answering, (const Torg__V1__PhotoRequest *)decoded, err);
}

int photo_worker_start(const struct photo_worker_options *options, struct photo_worker **worker,
                       struct err *err)
{
    static const struct stage_reader_handler handler = {.take = take};
    struct photo_worker *made = mem_zero(sizeof(*made));
    const struct stage_reader_options reading = {.stage = PARKED_BY_PHOTO_FETCH,
                                                 .topic = TOPIC_PHOTO_REQUESTS,
                                                 .group = "photos",
                                                 .handler = &handler,
                                                 .arg = made,
                                                 .topics = options->topics,
                                                 .store = options->store,
                                                 .clock = options->clock,
                                                 .order = PARKED_ASIDE,
                                                 .worker_count = PHOTO_FETCH_THREAD_COUNT,
                                                 .poll_count = PHOTO_FETCH_POLL_COUNT};
    int rc;

    made->options = *options;
    made->ready = metrics_counter("torg_photos_ready_total", "", "Photos answered as ready.");
    made->failed = metrics_counter("torg_photos_failed_total", "", "Photos that will not do.");
    made->silent = metrics_counter("torg_photos_silent_total", "",
                                   "Tries to fetch a photo that nobody answered.");
    rc = stage_reader_start(&reading, &made->reader, err);
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
    stage_reader_stop(worker->reader);
    free(worker);
}
