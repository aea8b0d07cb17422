/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_sellers.c - sellers of the cluster: they make offers, change, withdraw and publish them
 * again. See cluster.h.
 *
 * A new offer has an idempotency key and is asked for until somebody answers: it is made once. A
 * change names the revision it is of; who gets no answer reads what became of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/violation.h"
#include "codec/message.h"
#include "offers/record/offer_id.h"
#include "offers/record/offer_status.h"
#include "sim/cluster.h"

enum { RETRY_MS = 150 };

static const char *const seller_names[SELLER_COUNT] = {"anna", "boris"};

enum deed { DEED_CREATE, DEED_UPDATE, DEED_MOVE, DEED_READ };
static const char *const deed_names[] = {"creates", "updates", "moves", "reads"};

struct errand {
    struct request base;
    enum deed deed;
    const char *seller;
    offerid id;
    int64_t revision; /* before */
    enum offer_move move;
    int64_t stamp;
    struct bytes once_key;
    Torg__V1__OfferReceipt receipt;
    Torg__V1__Offer *offer; /* DEED_READ */
};

static Torg__V1__OfferContent *content_of(const struct errand *errand, struct arena *arena)
{
    Torg__V1__OfferContent *content =
        (Torg__V1__OfferContent *)message_new(&torg__v1__offer_content__descriptor, arena);

    content->category = arena_strdup(arena, "books");
    content->title = arena_printf(arena, "book stamp%" PRId64, errand->stamp);
    content->price = (Torg__V1__Price *)message_new(&torg__v1__price__descriptor, arena);
    content->price->amount = errand->stamp;
    content->price->currency = arena_strdup(arena, "RUB");
    return content;
}

static void run_errand(struct stages *stages, struct request *base)
{
    struct errand *errand = (struct errand *)base;
    struct violations violations = violations_in(base->arena);
    const struct author author = {.seller = errand->seller,
                                  .once_key = errand->once_key,
                                  .once_hash = (uint64_t)errand->stamp,
                                  .language = LANGUAGE_EN,
                                  .arena = base->arena,
                                  .violations = &violations};
    const struct reader reader = {.seller = errand->seller};

    torg__v1__offer_receipt__init(&errand->receipt);
    switch (errand->deed) {
    case DEED_CREATE:
        base->rc = offers_create(&stages->offers, &author, content_of(errand, base->arena),
                                 &errand->receipt, &base->err);
        break;
    case DEED_UPDATE:
        base->rc = offers_update(&stages->offers, &author, errand->id, errand->revision,
                                 content_of(errand, base->arena), &errand->receipt, &base->err);
        break;
    case DEED_MOVE:
        base->rc = offers_move(&stages->offers, &author, errand->id, errand->revision, errand->move,
                               &errand->receipt, &base->err);
        break;
    case DEED_READ:
        base->rc = offers_get(&stages->offers, &reader, errand->id, base->arena, &errand->offer,
                              &base->err);
        break;
    }
}

static bool is_unsure(int rc)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_TIMEOUT || rc == ERR_CONFLICT || rc == ERR_LIMIT;
}

static int64_t next_stamp(struct actor *actor)
{
    int64_t stamp;

    model_lock();
    stamp = ++actor->cluster->model.stamp;
    model_unlock();
    return stamp;
}

static int ask(struct actor *actor, struct errand *errand, const char *id)
{
    struct machine *machine = &actor->cluster->machines[rng_below(&actor->rng, BACK_COUNT)];
    int rc = machine_ask(machine, &errand->base, ASK_MS * MS_US);

    model_lock();
    cluster_note("%s %s %s of revision %" PRId64 ", stamp %" PRId64 ", by %s: %s", errand->seller,
                 deed_names[errand->deed], id, errand->revision, errand->stamp, machine->name,
                 rc ? err_name(rc) : "done");
    model_unlock();
    if (rc && !is_unsure(rc))
        cluster_fail("%s %s %s: %s", errand->seller, deed_names[errand->deed], id,
                     errand->base.err.text);
    return rc;
}

/* Until it is answered: with its key it is made once, however often it is asked for. */
static void create(struct actor *actor)
{
    struct model *model = &actor->cluster->model;
    struct offer_row *row = &model->offers[actor->number][model->offer_counts[actor->number]];
    int64_t stamp = next_stamp(actor);
    int rc = ERR_UNAVAILABLE;

    *row = (struct offer_row){.is_unsure = true};
    model->offer_counts[actor->number]++;
    while (rc) {
        struct errand *errand = request_new(sizeof(*errand), run_errand);

        errand->deed = DEED_CREATE;
        errand->seller = seller_names[actor->number];
        errand->stamp = stamp;
        errand->once_key = bytes_of(arena_printf(errand->base.arena, "once-%" PRId64, stamp));
        rc = ask(actor, errand, "an offer");
        if (!rc) {
            model_lock();
            snprintf(row->id, sizeof(row->id), "%s", errand->receipt.id);
            row->revision = errand->receipt.revision;
            row->status = (int)errand->receipt.status;
            row->is_unsure = false;
            model->done_count++;
            model_unlock();
        }
        request_free(&errand->base);
        if (rc)
            clock_sleep(sim_net_clock(actor->cluster->net), RETRY_MS * MS_US);
    }
}

/* What was not answered, or was outrun by something that was not: read. */
static void look_up(struct actor *actor, struct offer_row *row, offerid id)
{
    struct errand *errand = request_new(sizeof(*errand), run_errand);

    errand->deed = DEED_READ;
    errand->seller = seller_names[actor->number];
    errand->id = id;
    if (!ask(actor, errand, row->id)) {
        model_lock();
        if (errand->offer->revision < row->revision)
            cluster_fail("%s has revision %" PRId64 ", and %" PRId64 " was acknowledged", row->id,
                         errand->offer->revision, row->revision);
        row->revision = errand->offer->revision;
        row->status = (int)errand->offer->status;
        model_unlock();
    }
    request_free(&errand->base);
}

static struct errand *draw_change(struct actor *actor, const struct offer_row *row)
{
    struct errand *errand = request_new(sizeof(*errand), run_errand);
    bool is_update = row->status == OFFER_ACTIVE && rng_below(&actor->rng, 3);
    struct err err;

    errand->deed = is_update ? DEED_UPDATE : DEED_MOVE;
    errand->move = row->status == OFFER_ACTIVE ? MOVE_WITHDRAW : MOVE_REPUBLISH;
    errand->seller = seller_names[actor->number];
    errand->revision = row->revision;
    errand->stamp = next_stamp(actor);
    if (offer_id_parse(bytes_of(row->id), &errand->id, &err))
        cluster_fail("%s is no id", row->id);
    return errand;
}

static void take_change(struct actor *actor, struct offer_row *row, const struct errand *errand,
                        int rc)
{
    model_lock();
    if (rc) {
        row->is_unsure = true;
        actor->cluster->model.unsure_count++;
    } else {
        row->revision = errand->receipt.revision;
        row->status = (int)errand->receipt.status;
        actor->cluster->model.done_count++;
    }
    model_unlock();
}

/* Now and then two changes of one revision at once, by two machines: one is done at the most. */
static void change(struct actor *actor, struct offer_row *row)
{
    struct machine *rival = &actor->cluster->machines[rng_below(&actor->rng, BACK_COUNT)];
    struct errand *errand = draw_change(actor, row);
    struct errand *second = rng_below(&actor->rng, 3) ? NULL : draw_change(actor, row);
    offerid id = errand->id;
    int second_rc = ERR_CONFLICT;
    int rc;

    if (second)
        machine_send(rival, &second->base);
    rc = ask(actor, errand, row->id);
    if (second)
        second_rc = machine_await(rival, &second->base, ASK_MS * MS_US);
    if (!rc && !second_rc)
        cluster_fail("two changes of revision %" PRId64 " of %s are acknowledged", row->revision,
                     row->id);
    take_change(actor, row, second && !second_rc ? second : errand, second ? rc && second_rc : rc);
    if (second && (rc || second_rc)) { /* one of the two may be under way */
        model_lock();
        row->is_unsure = true;
        model_unlock();
    }
    if (rc && second_rc)
        look_up(actor, row, id);
    if (second)
        request_free(&second->base);
    request_free(&errand->base);
}

void seller_step(struct actor *actor)
{
    struct model *model = &actor->cluster->model;
    size_t count = model->offer_counts[actor->number]; /* his own */
    struct offer_row *row;
    struct err err;
    offerid id;

    if (count < OFFER_COUNT_MAX && (!count || rng_below(&actor->rng, 4) == 0)) {
        create(actor);
        return;
    }
    row = &model->offers[actor->number][rng_below(&actor->rng, count)];
    if (!row->id[0])
        return;
    if (row->status == OFFER_BANNED && !offer_id_parse(bytes_of(row->id), &id, &err))
        look_up(actor, row, id); /* it may have been let pass since */
    else
        change(actor, row);
}
