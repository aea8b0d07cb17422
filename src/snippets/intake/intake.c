/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.c - see intake.h.
 *
 * A parked record's body is the record's key and value, since the table of parked ones keeps keys
 * in a form of its own:
 *
 *   varint size of the key | key | value
 */
#include "snippets/intake/intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "base/varint.h"
#include "snippets/bounds.h"
#include "snippets/requests/snippets_parts.h"
#include "stage/reader.h"

enum { SNIPPET_INTAKE_MAGIC = OBJECT_MAGIC('s', 'n', 'i', 'n'), LOOK_MS = 1000 };

struct topic_reader {
    struct snippet_intake *intake;
    char *topic; /* owned */
    char *stage; /* owned */
    struct stage_reader *reader;
    struct counter *stored_count, *older_count;
    struct topic_reader *next;
};

struct snippet_intake {
    uint32_t magic;
    struct snippet_intake_options options;
    struct task task;
    struct topic_reader *readers; /* the task's */
    struct snippet_config *seen;  /* that the readers are of; the task's */
};

/* The snippets of the topic, in the config in use. */
static const struct snippet **snippets_of(const struct snippet_config *config, const char *topic,
                                          struct arena *arena, size_t *count)
{
    size_t all, i;
    const struct snippet *const *snippets = snippet_config_snippets(config, &all);
    const struct snippet **list = arena_array(arena, all + 1, sizeof(*list));

    *count = 0;
    for (i = 0; i < all; i++) {
        if (snippets[i]->topic && strcmp(snippets[i]->topic, topic) == 0)
            list[(*count)++] = snippets[i];
    }
    return list;
}

/* --- a record --- */

static bool unwrap(struct bytes body, struct bytes *key, struct bytes *value)
{
    uint64_t size;

    if (!varint_get(&body, &size) || size > body.size)
        return false;
    *key = bytes_make(body.data, (size_t)size);
    *value = bytes_skip(body, (size_t)size);
    return true;
}

static int find_key(const struct snippet *snippet, const struct snippet_record *record,
                    struct arena *arena, struct bytes *key, struct err *err)
{
    int rc = snippet->extractor->extract(snippet->extractor_state, record, arena, key, err);

    return rc ? err_wrap(err, "%s", snippet->name) : 0;
}

/* The rows of one snippet of the topic behind those of the ones before. */
static int add_rows(const struct snippet *snippet, struct snippet_record *record,
                    struct arena *arena, struct snippet_row *rows, size_t *count, struct err *err)
{
    struct snippet_body body = {
        .has_format = true, .format = snippet->topic_format, .body = record->input.body};
    struct snippet_row *more = NULL;
    size_t more_count = 0;
    int rc;

    record->input.format = snippet->topic_format;
    rc = record->input.body.size ? snippet_input_read(&record->input, arena, err) : 0;
    if (!rc)
        rc = find_key(snippet, record, arena, &body.key, err);
    if (!rc && record->input.body.size)
        rc = snippet_prepare(&snippet, 1, &body, arena, &more, &more_count, err);
    else if (!rc)
        rc = snippet_prepare_delete(&snippet, 1, &body, arena, &more, &more_count, err);
    if (rc)
        return rc;
    if (*count + more_count > SNIPPET_TOPIC_ROW_COUNT_MAX)
        return err_set(err, ERR_LIMIT,
                       "a record of more than %d rows "
                       "(SNIPPET_TOPIC_ROW_COUNT_MAX)",
                       SNIPPET_TOPIC_ROW_COUNT_MAX);
    memcpy(rows + *count, more, more_count * sizeof(*rows));
    *count += more_count;
    return 0;
}

static int64_t source_id(const struct topic_message *message)
{
    uint64_t id = hash64_seeded(bytes_of(message->topic), message->partition) & INT64_MAX;

    return id ? (int64_t)id : 1;
}

static int store_record(struct topic_reader *self, const struct topic_message *message,
                        struct snippet_record *record, int64_t first_us, struct arena *arena,
                        struct err *err)
{
    struct snippet_intake *intake = self->intake;
    struct snippet_config *config = snippets_config(intake->options.snippets);
    const struct snippet_source source = {
        .id = source_id(message), .offset = (int64_t)message->offset, .first_us = first_us};
    struct snippet_row *rows = arena_array(arena, SNIPPET_TOPIC_ROW_COUNT_MAX, sizeof(*rows));
    size_t count = 0, snippet_count, written = 0, i;
    const struct snippet **snippets = snippets_of(config, self->topic, arena, &snippet_count);
    int rc = 0;

    for (i = 0; i < snippet_count && !rc; i++)
        rc = add_rows(snippets[i], record, arena, rows, &count, err);
    if (!rc && count)
        rc = snippet_cache_write(intake->options.snippets->cache, intake->options.store,
                                 &(struct snippet_part){.rows = rows, .count = count}, 1, &source,
                                 &written, err);
    if (!rc) {
        counter_add(self->stored_count, written);
        counter_add(self->older_count, count - written);
        snippets_tell(intake->options.snippets);
    }
    snippet_config_unref(config);
    return rc;
}

static int park(struct topic_reader *self, const struct topic_message *message, const char *reason,
                struct arena *arena, struct err *err)
{
    struct buf body = BUF_INIT(message->key.size + message->value.size + VARINT_SIZE_MAX);
    int rc;

    varint_put(&body, message->key.size);
    buf_put(&body, message->key);
    buf_put(&body, message->value);
    rc = stage_reader_park(self->reader, message, arena_text(arena, message->key), buf_bytes(&body),
                           reason, err);
    buf_release(&body);
    return rc;
}

static int take_record(void *arg, const struct topic_message *message, struct arena *arena,
                       struct err *err)
{
    struct topic_reader *self = arg;
    struct snippet_record record = {.key = message->key, .input = {.body = message->value}};
    bool is_retry = stage_reader_is_retry(self->reader);
    int rc;

    object_check(self->intake, SNIPPET_INTAKE_MAGIC);
    if (is_retry && !unwrap(message->value, &record.key, &record.input.body))
        return err_set(err, ERR_CORRUPT, "the parked record is damaged");
    rc = store_record(self, message, &record, is_retry ? message->timestamp_us : 0, arena, err);
    if (!rc || is_retry || err_is_passing(rc) || rc == ERR_CANCELLED)
        return rc;
    snippets_note_failure(self->intake->options.snippets, bytes_of(self->topic), record.key, err);
    return park(self, message, arena_strdup(arena, err->text), arena, err);
}

/* The most that a snippet of the topic asks for. */
static int64_t retry_us(void *arg, int64_t try_count)
{
    struct topic_reader *self = arg;
    struct snippet_config *config = snippets_config(self->intake->options.snippets);
    struct arena *arena = arena_new();
    size_t count, i;
    const struct snippet **snippets = snippets_of(config, self->topic, arena, &count);
    int64_t most = 0;

    for (i = 0; i < count; i++) {
        if (snippets[i]->retry_count > most)
            most = snippets[i]->retry_count;
    }
    arena_free(arena);
    snippet_config_unref(config);
    return try_count < most ? self->intake->options.retry_pause_us : -1;
}

static const struct stage_reader_handler handler = {.take = take_record, .retry_us = retry_us};

/* --- readers by the config --- */

static void reader_free(struct topic_reader *reader)
{
    stage_reader_stop(reader->reader);
    free(reader->topic);
    free(reader->stage);
    free(reader);
}

static int reader_start(struct snippet_intake *intake, const char *topic, struct err *err)
{
    struct topic_reader *reader = mem_zero(sizeof(*reader));
    struct stage_reader_options options = {.topic = topic,
                                           .group = "snippets",
                                           .handler = &handler,
                                           .arg = reader,
                                           .topics = intake->options.topics,
                                           .store = intake->options.store,
                                           .clock = intake->options.clock,
                                           .order = PARKED_ASIDE};
    struct buf name = BUF_INIT(1024);
    int rc;

    buf_printf(&name, SNIPPET_STAGE_START "%s", topic);
    reader->intake = intake;
    reader->stage = mem_strdup(buf_text(&name));
    reader->topic = mem_strdup(topic);
    buf_reset(&name);
    buf_printf(&name, "topic=\"%s\"", topic);
    reader->stored_count = metrics_counter("torg_snippets_read_total", buf_text(&name),
                                           "Rows of snippets that came by a topic.");
    reader->older_count = metrics_counter("torg_snippets_older_total", buf_text(&name),
                                          "Rows of records that were older than what is stored.");
    buf_release(&name);
    options.stage = reader->stage;
    options.topic = reader->topic;
    rc = stage_reader_start(&options, &reader->reader, err);
    if (rc) {
        reader_free(reader);
        return rc;
    }
    reader->next = intake->readers;
    intake->readers = reader;
    return 0;
}

static bool is_read(const struct snippet_intake *intake, const char *topic)
{
    const struct topic_reader *reader;

    for (reader = intake->readers; reader; reader = reader->next) {
        if (strcmp(reader->topic, topic) == 0)
            return true;
    }
    return false;
}

static void stop_others(struct snippet_intake *intake, const struct snippet_config *config)
{
    struct topic_reader **place = &intake->readers;

    while (*place) {
        struct topic_reader *reader = *place;
        struct arena *arena = arena_new();
        size_t count;

        (void)snippets_of(config, reader->topic, arena, &count);
        arena_free(arena);
        if (count) {
            place = &reader->next;
            continue;
        }
        *place = reader->next;
        reader_free(reader);
    }
}

/* False: a reader could not be started, and is tried again. */
static bool follow(struct snippet_intake *intake, const struct snippet_config *config)
{
    size_t count, i;
    const struct snippet *const *snippets = snippet_config_snippets(config, &count);
    bool is_whole = true;
    struct err err;

    stop_others(intake, config);
    for (i = 0; i < count; i++) {
        if (!snippets[i]->topic || is_read(intake, snippets[i]->topic))
            continue;
        if (reader_start(intake, snippets[i]->topic, &err)) {
            log_warn("a topic of snippets is not read yet, tried again",
                     LOG_TEXT("topic", snippets[i]->topic), LOG_TEXT("reason", err.text));
            is_whole = false;
        }
    }
    return is_whole;
}

static void keep(struct task *task, void *arg)
{
    struct snippet_intake *intake = arg;

    object_check(intake, SNIPPET_INTAKE_MAGIC);
    while (!task_is_stopping(task)) {
        struct snippet_config *config = snippets_config(intake->options.snippets);

        task_says(task, "looking for topics of the config");
        if (config != intake->seen && follow(intake, config)) {
            snippet_config_unref(intake->seen);
            intake->seen = config;
            config = NULL;
        }
        snippet_config_unref(config);
        task_pause(task, LOOK_MS * 1000);
    }
}

int snippet_intake_start(const struct snippet_intake_options *options,
                         struct snippet_intake **result, struct err *err)
{
    struct snippet_intake *intake = mem_zero(sizeof(*intake));
    const struct task_options task = {
        .name = "snippet-topics", .run = keep, .arg = intake, .clock = options->clock};
    int rc;

    object_begin(intake, SNIPPET_INTAKE_MAGIC);
    intake->options = *options;
    *result = intake;
    rc = task_start(&intake->task, &task, err);
    if (rc) {
        snippet_intake_stop(intake);
        *result = NULL;
    }
    return rc;
}

void snippet_intake_stop(struct snippet_intake *intake)
{
    if (!intake)
        return;
    task_stop(&intake->task);
    while (intake->readers) {
        struct topic_reader *next = intake->readers->next;

        reader_free(intake->readers);
        intake->readers = next;
    }
    snippet_config_unref(intake->seen);
    object_end(intake, SNIPPET_INTAKE_MAGIC);
    free(intake);
}
