/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_crowd.c - those who use the cluster: sellers with offers, clients with documents, buyers
 * who search with tokens. See cluster.h.
 *
 * Each asks a machine that he draws, as through a balancer; who gets no answer asks another, or
 * reads what became of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "searcher/front/front.h"
#include "sim/cluster.h"
#include "torg/v1/searcher.pb-c.h"

enum { SEARCH_MS = 3000, OLD_SECONDS_MAX = 3600 };
/* Between two steps of one of them, by seed: some seeds are dense, most are cheap. */
static const unsigned pauses_ms[] = {200, 500, 800};

static unsigned draw(struct actor *actor, unsigned bound)
{
    return (unsigned)rng_below(&actor->rng, bound);
}

static void pause_ms(struct actor *actor, int64_t ms)
{
    clock_sleep(sim_net_clock(actor->cluster->net), ms * MS_US);
}

static bool takes_step(struct actor *actor)
{
    struct cluster *cluster = actor->cluster;
    bool takes;

    model_lock();
    takes = !cluster->is_over && cluster->steps_left > 0;
    cluster->steps_left -= takes;
    model_unlock();
    return takes;
}

static struct machine *draw_back(struct actor *actor)
{
    return &actor->cluster->machines[draw(actor, BACK_COUNT)];
}

/* --- documents --- */

struct put {
    struct request base;
    const char *client;
    Torg__V1__RawDocument *document;
    enum lane lane;
    Torg__V1__Verdict *verdict; /* NULL: the batch was not taken */
};

static void run_put(struct stages *stages, struct request *base)
{
    struct put *put = (struct put *)base;
    Torg__V1__Verdict **verdicts;

    base->rc = receiver_put(&stages->receiver, put->client, put->lane, &put->document, 1,
                            base->arena, &verdicts, &base->err);
    put->verdict = base->rc ? NULL : verdicts[0];
}

static Torg__V1__RawField *add_field(Torg__V1__RawDocument *document, const char *name,
                                     struct arena *arena)
{
    Torg__V1__RawField *field =
        (Torg__V1__RawField *)message_new(&torg__v1__raw_field__descriptor, arena);

    field->name = arena_strdup(arena, name);
    document->fields[document->n_fields++] = field;
    return field;
}

/* Of more brands than the index takes: which are refused is for each replica to say. */
static void add_brand(Torg__V1__RawDocument *document, const struct write *write,
                      struct arena *arena)
{
    Torg__V1__RawField *field = add_field(document, "brand", arena);

    field->_keyword_case = TORG__V1__RAW_FIELD___KEYWORD_KEYWORD;
    field->keyword = arena_printf(arena, "brand%d", (int)(write->stamp % BRAND_COUNT));
    field->options =
        (Torg__V1__FieldOptions *)message_new(&torg__v1__field_options__descriptor, arena);
    field->options->value_count_max = BRAND_COUNT_MAX;
}

static Torg__V1__RawDocument *raw_of(unsigned key, const struct write *write, struct arena *arena)
{
    Torg__V1__RawDocument *document =
        (Torg__V1__RawDocument *)message_new(&torg__v1__raw_document__descriptor, arena);
    Torg__V1__RawField *field;

    document->pk = arena_printf(arena, "d%u", key);
    document->version = write->version;
    if (write->is_delete) {
        document->event = TORG__V1__RAW_DOCUMENT__EVENT__DELETE;
        return document;
    }
    document->fields = arena_array(arena, 3, sizeof(*document->fields));
    field = add_field(document, "title", arena);
    field->_text_case = TORG__V1__RAW_FIELD___TEXT_TEXT;
    /* Half of the writes leave the text as it was, or as it was before the last. */
    field->text = write->stamp % 2 ? arena_printf(arena, "paper key%u s%" PRId64, key, write->stamp)
                                   : arena_printf(arena, "paper key%u", key);
    field = add_field(document, "stamp", arena);
    field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
    field->integer = write->stamp;
    if (key >= DOCUMENT_COUNT && write_has_brand(write))
        add_brand(document, write, arena);
    return document;
}

/* With the lock: a version that nobody has used, most often the next, now and then one that was
 * left out before. */
static int64_t draw_version(struct actor *actor, const struct document *document)
{
    int64_t highest = 0;
    int64_t version;

    for (size_t i = 0; i < document->write_count; i++)
        highest = document->writes[i].version > highest ? document->writes[i].version : highest;
    version =
        draw(actor, 4) ? highest + 1 + draw(actor, 3) : 1 + draw(actor, (unsigned)highest + 1);
    for (size_t i = 0; i < document->write_count; i++) {
        if (document->writes[i].version == version)
            return highest + 1;
    }
    return version;
}

/* With the lock. A write that was not answered is sent again as it was, now and then. NULL: this
 * document has had enough. */
static struct write *draw_write(struct actor *actor, unsigned key, bool *is_again)
{
    struct model *model = &actor->cluster->model;
    struct document *document = &model->documents[key];
    struct write *write;

    *is_again = false;
    if (document->write_count && !draw(actor, 3)) {
        write = &document->writes[draw(actor, (unsigned)document->write_count)];
        *is_again = write->state == WRITE_ASKED;
        if (*is_again)
            return write;
    }
    if (document->write_count == WRITE_COUNT_MAX)
        return NULL;
    write = &document->writes[document->write_count];
    *write = (struct write){.version = draw_version(actor, document),
                            .stamp = ++model->stamp,
                            .is_delete = document->write_count && draw(actor, 5) == 0};
    document->write_count++;
    return write;
}

/* With the lock. */
static bool has_newer(const struct document *document, int64_t version)
{
    for (size_t i = 0; i < document->write_count; i++) {
        if (document->writes[i].version > version && document->writes[i].state != WRITE_REFUSED)
            return true;
    }
    return false;
}

static void take_verdict(struct actor *actor, unsigned key, struct write *write, bool is_again,
                         const Torg__V1__Verdict *verdict)
{
    struct model *model = &actor->cluster->model;

    switch (verdict->kind) {
    case TORG__V1__VERDICT__KIND__ACCEPTED:
    case TORG__V1__VERDICT__KIND__DUPLICATE:
        if (write->state == WRITE_REFUSED)
            cluster_fail("d%u version %" PRId64 " was refused as stale, then taken", key,
                         write->version);
        write->state = WRITE_DONE;
        model->done_count++;
        snprintf(write->token, sizeof(write->token), "%s", verdict->token);
        return;
    case TORG__V1__VERDICT__KIND__STALE:
        if (!has_newer(&model->documents[key], write->version))
            cluster_fail("d%u version %" PRId64 " is called stale, and nothing newer was sent", key,
                         write->version);
        if (!is_again && write->state == WRITE_ASKED) /* else it may have been there before */
            write->state = WRITE_REFUSED;
        return;
    case TORG__V1__VERDICT__KIND__UNAVAILABLE:
        model->unsure_count++;
        return;
    default:
        cluster_fail("d%u version %" PRId64 ": verdict %d: %s", key, write->version,
                     (int)verdict->kind, verdict->n_reasons ? verdict->reasons[0]->text : "");
    }
}

/* *written: what was acknowledged. */
static void put_document(struct actor *actor, unsigned key, enum lane lane, struct write *written)
{
    struct machine *machine = draw_back(actor);
    struct model *model = &actor->cluster->model;
    struct write *write;
    struct put *put;
    bool is_again;
    int rc;

    model_lock();
    write = draw_write(actor, key, &is_again);
    model_unlock();
    if (!write)
        return;
    put = request_new(sizeof(*put), run_put);
    put->document = raw_of(key, write, put->base.arena);
    put->lane = lane;
    put->client = key < DOCUMENT_COUNT ? DOCUMENT_CLIENT : BRAND_CLIENT;
    rc = machine_ask(machine, &put->base, ASK_MS * MS_US);
    model_lock();
    cluster_note("client %u: d%u version %" PRId64 " stamp %" PRId64 "%s%s by %s: %s %d",
                 actor->number, key, write->version, write->stamp,
                 write->is_delete ? ", a deletion," : "", is_again ? " again" : "", machine->name,
                 rc ? err_name(rc) : "verdict", rc ? 0 : (int)put->verdict->kind);
    if (rc)
        model->unsure_count++;
    else
        take_verdict(actor, key, write, is_again, put->verdict);
    if (!rc && write->state == WRITE_DONE)
        *written = *write;
    model_unlock();
    request_free(&put->base);
}

/* --- buyers --- */

struct search {
    struct request base;
    Torg__V1__SearchRequest *request;
    Torg__V1__SearchResponse response;
};

static void run_search(struct stages *stages, struct request *base)
{
    struct search *search = (struct search *)base;

    base->rc = front_search(&stages->searcher.front, DOCUMENT_CLIENT, search->request,
                            clock_after_us(stages->clock, SEARCH_MS * MS_US), base->arena,
                            &search->response, &base->err);
}

/* Old states are taken all the time: who waits for a token, or has seen more, is not shown one. */
static struct search *search_for(unsigned key, const char *token, ProtobufCBinaryData seen)
{
    struct search *search = request_new(sizeof(*search), run_search);
    struct arena *arena = search->base.arena;
    Torg__V1__Query *query = (Torg__V1__Query *)message_new(&torg__v1__query__descriptor, arena);
    Torg__V1__QueryStage *stage =
        (Torg__V1__QueryStage *)message_new(&torg__v1__query_stage__descriptor, arena);

    search->request =
        (Torg__V1__SearchRequest *)message_new(&torg__v1__search_request__descriptor, arena);
    torg__v1__search_response__init(&search->response);
    stage->text = arena_printf(arena, "key%u", key);
    stage->show = arena_array(arena, 3, sizeof(*stage->show));
    stage->show[0] = arena_strdup(arena, "stamp");
    stage->show[1] = arena_strdup(arena, "stock");
    stage->show[2] = arena_strdup(arena, "title");
    stage->n_show = 3;
    query->unknown_is_empty = true;
    query->stages = arena_array(arena, 1, sizeof(*query->stages));
    query->stages[0] = stage;
    query->n_stages = 1;
    search->request->query = query;
    search->request->wait = arena_array(arena, 1, sizeof(*search->request->wait));
    search->request->wait[0] = arena_strdup(arena, token);
    search->request->n_wait = *token != 0;
    search->request->seen.len = seen.len; /* a copy: a search that nobody waits for lives on */
    search->request->seen.data = arena_alloc(arena, seen.len + 1);
    if (seen.len)
        memcpy(search->request->seen.data, seen.data, seen.len);
    search->request->old_max_seconds = OLD_SECONDS_MAX;
    search->request->deadline_ms = SEARCH_MS;
    return search;
}

/* The number that a field has; 0: none. */
static int64_t number_shown(const Torg__V1__Hit *hit, const char *name)
{
    long long number = 0;

    for (size_t i = 0; i < hit->n_fields; i++)
        if (strcmp(hit->fields[i]->name, name) == 0 && hit->fields[i]->n_values)
            sscanf(hit->fields[i]->values[0], "%lld", &number);
    return number;
}

/* Whether the text is the one of this stamp. */
static bool is_text_of(const Torg__V1__Hit *hit, int64_t stamp)
{
    long long written = 0;
    unsigned key;

    for (size_t i = 0; i < hit->n_fields; i++)
        if (strcmp(hit->fields[i]->name, "title") == 0)
            sscanf(hit->fields[i]->values[0], "paper key%u s%lld", &key, &written);
    return written == (stamp % 2 ? stamp : 0);
}

/* The stamp of the document that was found, and its stock; 0: it was not, -1: there is no whole
 * answer. */
static int64_t stamp_found(const struct search *search, unsigned key, int64_t *stock)
{
    const Torg__V1__SearchResponse *response = &search->response;
    const Torg__V1__StageAnswer *answer;
    char pk[16];

    *stock = 0;
    if (response->is_partial || response->n_missing_shards || !response->answer)
        return -1;
    answer = response->answer->stages[0];
    snprintf(pk, sizeof(pk), "d%u", key);
    for (size_t i = 0; i < answer->n_hits; i++) {
        const Torg__V1__Hit *hit = answer->hits[i];

        if (strcmp(hit->pk, pk) != 0)
            cluster_fail("a search for key%u finds %s", key, hit->pk);
        if (!number_shown(hit, "stamp"))
            cluster_fail("%s is found without its stamp", pk);
        if (!is_text_of(hit, number_shown(hit, "stamp")))
            cluster_fail("%s is found with stamp %" PRId64 " and the text of another write", pk,
                         number_shown(hit, "stamp"));
        *stock = number_shown(hit, "stock");
        return number_shown(hit, "stamp");
    }
    return 0;
}

/* With the lock: may a search that has waited for this version find this? */
static bool may_find(const struct document *document, int64_t floor, int64_t stamp)
{
    for (size_t i = 0; i < document->write_count; i++) {
        const struct write *write = &document->writes[i];

        if (write->version < floor || write->state == WRITE_REFUSED)
            continue;
        if (stamp ? write->stamp == stamp : write->is_delete)
            return true;
    }
    return !stamp && !floor;
}

void look_for(struct actor *actor, unsigned key, int64_t floor, const char *token,
              int64_t stock_floor)
{
    struct model *model = &actor->cluster->model;
    struct machine *machine = &actor->cluster->machines[BACK_COUNT + draw(actor, SEARCHER_COUNT)];
    struct search *search = search_for(key, token, (ProtobufCBinaryData){0});
    int rc = machine_ask(machine, &search->base, ASK_MS * MS_US);
    int64_t stock = 0;
    int64_t stamp = rc ? -1 : stamp_found(search, key, &stock);

    model_lock();
    cluster_note("d%u is looked for from version %" PRId64 ", stock %" PRId64
                 " on by %s: %s, stamp %" PRId64 ", stock %" PRId64,
                 key, floor, stock_floor, machine->name, rc ? err_name(rc) : "answered", stamp,
                 stock);
    model->search_count += stamp >= 0;
    if (stamp >= 0 && !may_find(&model->documents[key], floor, stamp))
        cluster_fail("a search of d%u that waited for version %" PRId64 " finds stamp %" PRId64,
                     key, floor, stamp);
    if (stamp == 0 && stock_floor && is_never_deleted(&model->documents[key]))
        cluster_fail("a search of d%u that waited for stock %" PRId64 " does not find it", key,
                     stock_floor);
    if (stamp > 0 && !may_have_stock(&model->documents[key], stock_floor, stock))
        cluster_fail("a search of d%u that waited for stock %" PRId64 " finds %" PRId64, key,
                     stock_floor, stock);
    model_unlock();
    request_free(&search->base);
}

/* With the lock: of the write of this stamp; 0: there is none. */
static int64_t version_of(const struct document *document, int64_t stamp)
{
    for (size_t i = 0; i < document->write_count; i++)
        if (stamp && document->writes[i].stamp == stamp)
            return document->writes[i].version;
    return 0;
}

/* Without a token, once and again, wherever: what was seen is not followed by anything older. */
static void look_twice(struct actor *actor, unsigned key)
{
    struct model *model = &actor->cluster->model;
    struct search *searches[2] = {NULL};
    int64_t floor = 0;

    for (int i = 0; i < 2 && (i == 0 || floor); i++) {
        struct machine *machine =
            &actor->cluster->machines[BACK_COUNT + draw(actor, SEARCHER_COUNT)];
        int64_t stamp, stock;
        int rc;

        searches[i] =
            search_for(key, "", i ? searches[0]->response.seen : (ProtobufCBinaryData){.len = 0});
        rc = machine_ask(machine, &searches[i]->base, ASK_MS * MS_US);
        stamp = rc ? -1 : stamp_found(searches[i], key, &stock);
        model_lock();
        cluster_note("d%u is looked for by %s without a token: %s, stamp %" PRId64 "%s", key,
                     machine->name, rc ? err_name(rc) : "answered", stamp,
                     !rc && searches[i]->response.old_seconds ? ", of an old state" : "");
        model->old_count += !rc && searches[i]->response.old_seconds > 0;
        if (stamp > 0 && !version_of(&model->documents[key], stamp))
            cluster_fail("a search of d%u finds stamp %" PRId64 ", which nobody sent", key, stamp);
        if (stamp >= 0 && !may_find(&model->documents[key], floor, stamp))
            cluster_fail("a search of d%u that has seen version %" PRId64 " finds stamp %" PRId64,
                         key, floor, stamp);
        floor = stamp > 0 ? version_of(&model->documents[key], stamp) : 0;
        model_unlock();
    }
    for (int i = 1; i >= 0; i--)
        if (searches[i])
            request_free(&searches[i]->base);
}

static void buyer_step(struct actor *actor)
{
    unsigned key = draw(actor, DOCUMENT_COUNT);
    const struct document *document = &actor->cluster->model.documents[key];
    struct write chosen = {.token = ""};
    struct change change = {.state = WRITE_ASKED};

    if (draw(actor, 3) == 0) {
        look_twice(actor, key);
        return;
    }
    model_lock();
    for (size_t i = 0; i < document->write_count && !chosen.token[0]; i++) {
        const struct write *write =
            &document->writes[(i + draw(actor, WRITE_COUNT_MAX)) % document->write_count];

        if (write->state == WRITE_DONE)
            chosen = *write;
    }
    if (document->change_count && draw(actor, 2))
        change = document->changes[draw(actor, (unsigned)document->change_count)];
    model_unlock();
    if (change.state == WRITE_DONE && change.token[0])
        look_for(actor, key, 0, change.token, change.sequence);
    else if (chosen.token[0])
        look_for(actor, key, chosen.version, chosen.token, 0);
}

/* Who has written looks for it at once, now and then. Or writes once more in a lane that others
 * pass, and looks for what he wrote first: that or something newer is there when its lane says so.
 */
static void client_step(struct actor *actor)
{
    static const enum lane lanes[] = {LANE_MAIN, LANE_MAIN, LANE_MAIN, LANE_EMERGENCY,
                                      LANE_BACKFILL};
    struct write written = {.token = ""}, second = {.token = ""};
    unsigned key = draw(actor, DOCUMENT_COUNT / CLIENT_COUNT) * CLIENT_COUNT + actor->number;
    bool is_pair = draw(actor, 4) == 0;

    if (draw(actor, 4) == 0 && actor->cluster->seed % BRANDED_SHARE == 0) {
        key = DOCUMENT_COUNT + draw(actor, BRANDED_COUNT / CLIENT_COUNT) * CLIENT_COUNT;
        put_document(actor, key + actor->number, LANE_MAIN, &written);
        if (draw(actor, 2)) { /* a refusal of the first may come late, or again, after this */
            pause_ms(actor, draw(actor, 400));
            put_document(actor, key + actor->number, LANE_MAIN, &written);
        }
        return;
    }
    if (draw(actor, 4) == 0) {
        fields_step(actor, key);
        return;
    }
    put_document(actor, key,
                 is_pair ? LANE_MAIN : lanes[draw(actor, sizeof(lanes) / sizeof(lanes[0]))],
                 &written);
    if (is_pair)
        put_document(actor, key, LANE_BACKFILL, &second);
    if (written.token[0] && (is_pair || draw(actor, 2)))
        look_for(actor, key, written.version, written.token, 0);
}

/* --- all --- */

static void *run_actor(void *arg)
{
    struct actor *actor = arg;
    unsigned pace_ms = pauses_ms[actor->cluster->seed % (sizeof(pauses_ms) / sizeof(pauses_ms[0]))];

    while (takes_step(actor)) {
        actor->step(actor);
        pause_ms(actor, 1 + draw(actor, 2 * pace_ms));
    }
    return NULL;
}

void crowd_start(struct cluster *cluster)
{
    static const struct {
        void (*step)(struct actor *actor);
        unsigned count;
    } kinds[] = {{seller_step, SELLER_COUNT},
                 {client_step, CLIENT_COUNT},
                 {buyer_step, BUYER_COUNT},
                 {moderator_step, MODERATOR_COUNT},
                 {operator_step, OPERATOR_COUNT}};
    size_t at = 0;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (unsigned k = 0; k < kinds[i].count; k++, at++) {
            struct actor *actor = &cluster->actors[at];

            *actor = (struct actor){.cluster = cluster,
                                    .number = k,
                                    .rng = rng_seeded(cluster->seed * 1009 + at),
                                    .step = kinds[i].step};
            if (pthread_create(&actor->thread, NULL, run_actor, actor))
                cluster_fail("no thread");
        }
    }
}

void crowd_stop(struct cluster *cluster)
{
    model_lock();
    cluster->is_over = true;
    model_unlock();
    for (size_t i = 0; i < ACTOR_COUNT; i++)
        pthread_join(cluster->actors[i].thread, NULL);
}
