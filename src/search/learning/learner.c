/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learner.c - see learner.h.
 *
 * The note in the snapshot:   count of partitions | for each, the offset to go on from | learnt.h's
 * | when the index was counted last, in seconds. Numbers are varints.
 */
#include "search/learning/learner.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "base/varint.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "query/bounds.h"
#include "search/asking/asking.h"
#include "search/asking/found.h"
#include "search/bounds.h"
#include "search/learning/learnt.h"
#include "spell/bounds.h"
#include "topic/bounds.h"
#include "torg/v1/offer_update.pb-c.h"

enum { LEARNER_MAGIC = OBJECT_MAGIC('l', 'r', 'n', 'r') };

struct learner {
    uint32_t magic;
    struct learner_options options;
    _Atomic(struct speller *) speller; /* owned; NULL until it is open */
    uint32_t partition_count;
    uint64_t next[TOPIC_PARTITION_COUNT_MAX]; /* offsets to go on from */
    struct learnt learnt;
    struct buf text;
    struct arena *arena; /* of one batch */
    bool must_scan;      /* the index is to be learnt before the topic */
    bool has_news;       /* what is not saved */
    int64_t saved_us;    /* monotonic */

    bool is_recounting;
    bool has_met;         /* the count has found an offer */
    struct buf cursor;    /* of its next page */
    int64_t recounted_us; /* wall clock: the last one ended, or was given up */
    int64_t opened_us;    /* monotonic: the speller was */
    int64_t page_us;      /* monotonic: its last page was read */

    struct task task;

    struct log_pace pace;
    struct counter *taught;
    struct counter *known;
    struct counter *unreadable;
    struct counter *saves;
    struct counter *recounts;
    struct counter *errors;
    struct gauge *words;
    struct gauge *pairs;
    struct gauge *memory;
};

/* --- what is learnt of an offer --- */

static void say(struct buf *text, const struct local_text *name)
{
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        if (i == 0 || strcmp(name->in[i], name->in[0]) != 0)
            buf_printf(text, "%s\n", name->in[i]);
    }
}

static void say_value(struct buf *text, const struct attribute *attribute,
                      const Torg__V1__AttributeValue *value)
{
    for (size_t i = 0; i < value->n_options; i++) {
        const struct attribute_option *option = option_find(attribute, value->options[i]);

        if (option)
            say(text, &option->name);
    }
    if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT)
        buf_printf(text, "%s\n", value->text);
}

/* A line each, in all languages: the names of its category and of its attributes' values. */
static void say_names(struct buf *text, const Torg__V1__OfferContent *content,
                      const struct catalog *catalog)
{
    const struct category *category = category_find(catalog, content->category);

    if (!category)
        return;
    say(text, &category->name);
    for (size_t i = 0; i < content->n_attributes; i++) {
        const struct attribute *attribute =
            attribute_find(category, content->attributes[i]->attribute_id);

        if (attribute)
            say_value(text, attribute, content->attributes[i]);
    }
}

static uint64_t hash_of(const char *offer_id, struct bytes text)
{
    return hash64_seeded(text, hash64(bytes_of(offer_id)));
}

/* Unless the offer has said this before. */
static void learn_text(struct learner *self, const char *offer_id, struct bytes text)
{
    struct err err;

    if (!learnt_add(&self->learnt, hash_of(offer_id, text))) {
        counter_add(self->known, 1);
        return;
    }
    if (speller_learn(atomic_load(&self->speller), text, &err))
        log_warn("a text is too long to learn from", LOG_TEXT("offer", offer_id),
                 LOG_TEXT("error", err.text));
    counter_add(self->taught, 1);
}

/* When it is on sale again it says it anew: its words may have been forgotten by then. */
static void unlearn_text(struct learner *self, const char *offer_id, struct bytes text)
{
    learnt_remove(&self->learnt, hash_of(offer_id, text));
}

static void take_offer(struct learner *self, const Torg__V1__Offer *offer)
{
    struct catalog *catalog = self->options.search->catalog(self->options.search->catalog_arg);
    void (*take)(struct learner * self, const char *offer_id, struct bytes text) =
        offer->status == TORG__V1__OFFER__STATUS__ACTIVE ? learn_text : unlearn_text;

    buf_reset(&self->text);
    say_names(&self->text, offer->content, catalog);
    catalog_unref(catalog);
    take(self, offer->id, bytes_of(offer->content->title));
    if (self->text.size && !buf_failed(&self->text))
        take(self, offer->id, buf_bytes(&self->text));
}

/* --- records --- */

static void take_message(struct learner *self, const struct topic_message *message)
{
    struct arena_mark mark = arena_mark(self->arena);
    const Torg__V1__Offer *offer = NULL;
    ProtobufCMessage *decoded;
    struct err err;

    if (!message_decode(message->value, &torg__v1__offer_update__descriptor, self->arena, &decoded,
                        &err))
        offer = ((Torg__V1__OfferUpdate *)decoded)->offer;
    if (!offer)
        counter_add(self->unreadable, 1); /* the composer tells of it */
    else if (offer->content)
        take_offer(self, offer);
    arena_rewind(self->arena, mark);
    self->next[message->partition] = message->offset + 1;
    self->has_news = true;
}

/* What the topic has forgotten cannot be learnt; what it never had was another topic's. */
static int begin_anew(struct learner *self, uint32_t partition, struct err *err)
{
    uint64_t first, end;
    int rc = topic_range(self->options.topics, self->options.source, partition, &first, &end, err);

    if (!rc)
        self->next[partition] = first;
    return rc;
}

static int read_partition(struct learner *self, uint32_t partition, size_t *count, struct err *err)
{
    const struct topic_message *messages;
    size_t found = 0;
    int rc;

    arena_reset(self->arena);
    rc = topic_read(self->options.topics, self->options.source, partition, self->next[partition],
                    SPELL_READ_COUNT, 0, self->arena, &messages, &found, err);
    if (rc == ERR_RANGE)
        rc = begin_anew(self, partition, err);
    for (size_t i = 0; i < found; i++)
        take_message(self, &messages[i]);
    *count += found;
    return rc;
}

/* --- the index --- */

/* All offers by number, some at a time; names of values are as the composer has written them. */
static Torg__V1__QueryStage *scan_stage(struct arena *arena, struct bytes cursor)
{
    static char *shown[] = {OFFER_FIELD_TITLE, OFFER_FIELD_WORDS};
    Torg__V1__QueryStage *stage = count_stage("", NULL, arena);

    stage->limit = SPELL_READ_COUNT;
    stage->no_total = true;
    stage->show = shown;
    stage->n_show = ARRAY_COUNT(shown);
    stage->cursor = (ProtobufCBinaryData){.data = (uint8_t *)cursor.data, .len = cursor.size};
    return stage;
}

/* One page, its texts given to take; *cursor is where the next begins, empty at the end. */
static int scan_page(struct learner *self, struct buf *cursor,
                     void (*take)(struct learner *self, const char *offer_id, struct bytes text),
                     struct err *err)
{
    struct asking asking = {.search = self->options.search,
                            .arena = self->arena,
                            .deadline_us = search_deadline_us(
                                self->options.search, clock_mono_us(self->options.search->clock))};
    const Torg__V1__StageAnswer *answer;
    Torg__V1__QueryStage *stage;
    int rc;

    arena_reset(self->arena);
    stage = scan_stage(self->arena, buf_bytes(cursor));
    rc = asking_run(&asking, &stage, 1, &answer, err);
    if (!rc && asking.is_partial)
        rc = err_set(err, ERR_UNAVAILABLE, "some shards of the index did not answer");
    for (size_t i = 0; !rc && i < answer->n_hits; i++) {
        const Torg__V1__Hit *hit = answer->hits[i];

        take(self, hit->pk, bytes_of(hit_shown(hit, OFFER_FIELD_TITLE)));
        take(self, hit->pk, bytes_of(hit_shown(hit, OFFER_FIELD_WORDS)));
    }
    buf_reset(cursor);
    if (!rc)
        buf_put(cursor, bytes_make(answer->cursor.data, answer->cursor.len));
    return rc;
}

static int scan_index(struct learner *self, struct err *err)
{
    struct buf cursor = BUF_INIT(QUERY_CURSOR_SIZE_MAX);
    int rc;

    do {
        rc = scan_page(self, &cursor, learn_text, err);
    } while (!rc && cursor.size && !task_is_stopping(&self->task));
    self->must_scan = rc || cursor.size;
    self->has_news = !self->must_scan; /* half of it is not worth keeping */
    buf_release(&cursor);
    return rc;
}

/* --- counting the index anew --- */

static void recount_text(struct learner *self, const char *offer_id, struct bytes text)
{
    struct err err;

    (void)offer_id;
    self->has_met = true;
    if (speller_recount(atomic_load(&self->speller), text, &err))
        log_debug("a text is too long to count", LOG_TEXT("error", err.text));
}

static void end_recount(struct learner *self)
{
    self->is_recounting = false;
    self->recounted_us = clock_wall_us(self->options.search->clock);
    buf_reset(&self->cursor);
}

/* A page now and then; not soon after a start, and not sooner after a clock was put back. */
static bool must_recount(struct learner *self)
{
    const struct clock *clock = self->options.search->clock;
    int64_t wait_us = (int64_t)SPELL_RECOUNT_WAIT_S * SECOND_US;
    int64_t now_us = clock_wall_us(clock);

    if (clock_mono_us(clock) < self->page_us + (int64_t)SPELL_IDLE_MS * MS_US)
        return false; /* nobody waits for it */
    if (self->is_recounting)
        return true;
    wait_us = wait_us < self->options.recount_us ? wait_us : self->options.recount_us;
    self->recounted_us = self->recounted_us < now_us ? self->recounted_us : now_us;
    return clock_mono_us(clock) >= self->opened_us + wait_us &&
           now_us >= self->recounted_us + self->options.recount_us;
}

/* One page of it. A count that fails is given up: the next one is a new one. One that has found no
 * offer at all tells of an index that is not there. */
static int recount(struct learner *self, struct err *err)
{
    struct speller *speller = atomic_load(&self->speller);
    int rc;

    if (!self->is_recounting) {
        speller_recount_begin(speller);
        self->is_recounting = true;
        self->has_met = false;
    }
    rc = scan_page(self, &self->cursor, recount_text, err);
    self->page_us = clock_mono_us(self->options.search->clock);
    if (!rc && self->cursor.size)
        return 0;
    end_recount(self);
    if (rc || !self->has_met) {
        speller_recount_drop(speller);
        return rc;
    }
    speller_recount_end(speller);
    self->has_news = true;
    counter_add(self->recounts, 1);
    return 0;
}

/* --- what is kept --- */

static void put_note(const struct learner *self, struct buf *note)
{
    varint_put(note, self->partition_count);
    for (uint32_t i = 0; i < self->partition_count; i++)
        varint_put(note, self->next[i]);
    learnt_put(&self->learnt, note);
    varint_put(note, (uint64_t)(self->recounted_us / SECOND_US));
}

/* Where another topic was read, this one is read from its beginning. */
static void take_note(struct learner *self, struct bytes note)
{
    uint64_t count = 0, offset, recounted_s = 0;
    bool is_same = varint_get(&note, &count) && count == self->partition_count;

    for (uint64_t i = 0; i < count && varint_get(&note, &offset); i++) {
        if (is_same)
            self->next[i] = offset;
    }
    if (learnt_take(&self->learnt, &note) && varint_get(&note, &recounted_s) &&
        recounted_s <= INT64_MAX / SECOND_US)
        self->recounted_us = (int64_t)recounted_s * SECOND_US;
}

static int save(struct learner *self, struct err *err)
{
    struct buf note = BUF_INIT(SPELL_SNAPSHOT_SIZE_MAX);
    int rc;

    put_note(self, &note);
    rc = speller_save(atomic_load(&self->speller), buf_bytes(&note), err);
    buf_release(&note);
    self->saved_us = clock_mono_us(self->options.search->clock);
    if (rc)
        return rc;
    self->has_news = false;
    counter_add(self->saves, 1);
    return 0;
}

static bool is_due(const struct learner *self)
{
    return self->has_news &&
           clock_mono_us(self->options.search->clock) >= self->saved_us + self->options.save_us;
}

/* --- the thread --- */

/* True: it is time to stop. */
static bool wait_a_little(struct learner *self, int ms)
{
    return !task_pause(&self->task, (int64_t)ms * MS_US);
}

/* Whether the topic has, or ever had, a record; and whether it has them all. */
static int find_topic(struct learner *self, bool *has_records, bool *is_whole, struct err *err)
{
    struct topic_config config;
    int rc = topic_describe(self->options.topics, self->options.source, &config, err);

    *has_records = false;
    *is_whole = true;
    if (rc)
        return rc == ERR_NOT_FOUND ? 0 : rc; /* it is made by whoever exports offers */
    self->partition_count = config.partition_count;
    for (uint32_t i = 0; i < config.partition_count && !rc; i++) {
        uint64_t first = 0, end = 0;

        rc = topic_range(self->options.topics, self->options.source, i, &first, &end, err);
        *has_records |= end > 0;
        *is_whole &= first == 0;
    }
    return rc;
}

static int open_speller(struct learner *self, struct err *err)
{
    const struct speller_options options = {.base = self->options.base,
                                            .snapshot_path = self->options.path,
                                            .stop = &self->task.is_stopping};
    int64_t began_us = clock_mono_us(self->options.search->clock);
    struct speller *speller;
    int rc = speller_open(&options, &speller, err);

    if (rc)
        return rc;
    if (speller_sizes(speller).is_fresh)
        self->recounted_us = clock_wall_us(self->options.search->clock);
    take_note(self, speller_note(speller));
    self->saved_us = self->opened_us = clock_mono_us(self->options.search->clock);
    atomic_store(&self->speller, speller);
    log_info("spelling is open", LOG_INT("words", speller_sizes(speller).word_count),
             LOG_INT("ms", (self->saved_us - began_us) / 1000));
    return 0;
}

static void show_sizes(const struct learner *self)
{
    struct speller_sizes sizes = speller_sizes(atomic_load(&self->speller));

    gauge_set(self->words, sizes.word_count);
    gauge_set(self->pairs, sizes.pair_count);
    gauge_set(self->memory, (int64_t)sizes.memory_size);
}

static int start_reading(struct learner *self, struct err *err)
{
    bool has_records, is_whole;
    int rc = find_topic(self, &has_records, &is_whole, err);

    if (rc || !has_records)
        return rc;
    rc = open_speller(self, err);
    if (!rc)
        self->must_scan = !is_whole && speller_sizes(atomic_load(&self->speller)).is_fresh;
    return rc;
}

/* One round over all partitions; *count: records read. */
static int read_all(struct learner *self, size_t *count, struct err *err)
{
    int rc = 0;

    if (!atomic_load(&self->speller))
        return start_reading(self, err);
    if (self->must_scan)
        rc = scan_index(self, err);
    for (uint32_t i = 0; i < self->partition_count && !rc && !task_is_stopping(&self->task); i++)
        rc = read_partition(self, i, count, err);
    if (!rc && must_recount(self))
        rc = recount(self, err);
    if (*count)
        show_sizes(self);
    if (!rc && is_due(self))
        rc = save(self, err);
    return rc;
}

static void tell_fault(struct learner *self, const struct err *err)
{
    counter_add(self->errors, 1);
    if (log_pace_is_due(&self->pace, err))
        log_warn("learning to spell failed and is tried again", LOG_TEXT("error", err->text));
}

static void run(struct task *task, void *arg)
{
    struct learner *self = arg;
    struct err err;

    object_check(self, LEARNER_MAGIC);
    while (!task_is_stopping(&self->task)) {
        size_t count = 0;
        int rc;

        task_says(task, "learning to spell");
        rc = read_all(self, &count, &err);

        if (rc == ERR_CANCELLED)
            break;
        if (rc)
            tell_fault(self, &err);
        if (rc || !count)
            wait_a_little(self, rc ? SPELL_RETRY_MS : SPELL_IDLE_MS);
    }
    if (self->has_news && save(self, &err))
        tell_fault(self, &err);
}

/* --- life --- */

static void open_metrics(struct learner *self)
{
    const char *name = "torg_spell_texts_total";
    const char *help = "Titles and names of values: learnt, or known already; records that could "
                       "not be read.";

    self->taught = metrics_counter(name, "result=\"learnt\"", help);
    self->known = metrics_counter(name, "result=\"known\"", help);
    self->unreadable = metrics_counter(name, "result=\"unreadable\"", help);
    self->saves = metrics_counter("torg_spell_saves_total", NULL, "Snapshots written.");
    self->recounts = metrics_counter("torg_spell_recounts_total", NULL,
                                     "Times that words of offers that are gone were forgotten.");
    self->errors = metrics_counter("torg_spell_errors_total", NULL, "Failures, tried again.");
    self->words = metrics_gauge("torg_spell_words", NULL, "Words that spelling knows.");
    self->pairs =
        metrics_gauge("torg_spell_pairs", NULL, "Pairs of words that spelling has learnt.");
    self->memory = metrics_gauge("torg_spell_memory_bytes", NULL, "Memory that spelling takes.");
}

struct learner *learner_start(const struct learner_options *options)
{
    struct learner *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "spelling", .run = run, .arg = self, .clock = options->search->clock};
    int rc;

    object_begin(self, LEARNER_MAGIC);
    self->options = *options;
    if (!self->options.source)
        self->options.source = TOPIC_OFFER_UPDATES;
    if (!self->options.save_us)
        self->options.save_us = (int64_t)SPELL_SAVE_S * SECOND_US;
    if (!self->options.recount_us)
        self->options.recount_us = (int64_t)SPELL_RECOUNT_S * SECOND_US;
    self->arena = arena_new();
    buf_init(&self->cursor, QUERY_CURSOR_SIZE_MAX);
    buf_init(&self->text, SPELL_LEARN_SIZE_MAX);
    learnt_init(&self->learnt);
    open_metrics(self);
    rc = task_start(&self->task, &task, NULL);
    assert(rc == 0);
    return self;
}

void learner_stop(struct learner *self)
{
    if (!self)
        return;
    object_check(self, LEARNER_MAGIC);
    task_stop(&self->task);
    speller_close(atomic_load(&self->speller));
    learnt_release(&self->learnt);
    buf_release(&self->text);
    buf_release(&self->cursor);
    arena_free(self->arena);
    object_end(self, LEARNER_MAGIC);
    free(self);
}

struct speller *learner_speller(const struct learner *learner)
{
    object_check(learner, LEARNER_MAGIC);
    return atomic_load(&((struct learner *)learner)->speller);
}
