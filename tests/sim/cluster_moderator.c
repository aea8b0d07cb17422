/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_moderator.c - who bans sellers' offers and lets them pass again, by records of a topic
 * that a machine sends for him. See cluster.h.
 *
 * Opinions of an offer are numbered; the newest counts, in whatever order they come. One that was
 * not answered may have been sent: it is sent again as it was, until somebody says that it is kept.
 */
#include <inttypes.h>
#include <string.h>

#include "codec/message.h"
#include "model/topics.h"
#include "sim/cluster.h"
#include "topic/bounds.h"
#include "torg/v1/moderation.pb-c.h"

struct sending {
    struct request base;
    Torg__V1__ModerationOpinion opinion;
};

static void run_sending(struct stages *stages, struct request *base)
{
    struct sending *sending = (struct sending *)base;
    struct buf value = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct topic_record record = {.key = bytes_of(sending->opinion.offer_id)};

    message_encode(&sending->opinion.base, &value);
    record.value = buf_bytes(&value);
    base->rc = topic_produce(stages->topics, TOPIC_OPINIONS, &record, 1, NULL, &base->err);
    buf_release(&value);
}

static struct sending *sending_of(const struct offer_row *row)
{
    struct sending *sending = request_new(sizeof(*sending), run_sending);
    struct arena *arena = sending->base.arena;
    Torg__V1__ModerationOpinion *opinion = &sending->opinion;

    torg__v1__moderation_opinion__init(opinion);
    opinion->offer_id = arena_strdup(arena, row->id);
    opinion->revision = row->opinion;
    opinion->moderator = arena_strdup(arena, "mara");
    opinion->verdict = row->is_banned ? TORG__V1__MODERATION_OPINION__VERDICT__BAN
                                      : TORG__V1__MODERATION_OPINION__VERDICT__PASS;
    opinion->reasons = arena_array(arena, 1, sizeof(*opinion->reasons));
    opinion->reasons[0] = arena_strdup(arena, "a forbidden thing");
    opinion->n_reasons = row->is_banned;
    return sending;
}

/* With the lock; NULL: there is no offer yet. */
static struct offer_row *draw_row(struct actor *actor)
{
    struct model *model = &actor->cluster->model;
    size_t seller = rng_below(&actor->rng, SELLER_COUNT);
    size_t count = model->offer_counts[seller];
    struct offer_row *row = count ? &model->offers[seller][rng_below(&actor->rng, count)] : NULL;

    return row && row->id[0] ? row : NULL;
}

void moderator_step(struct actor *actor)
{
    struct machine *machine = &actor->cluster->machines[rng_below(&actor->rng, BACK_COUNT)];
    struct offer_row *row;
    struct sending *sending;
    int rc;

    model_lock();
    row = draw_row(actor);
    if (row && !row->is_opinion_open) {
        row->opinion++;
        row->is_banned = !row->is_banned;
        row->is_opinion_open = true;
        row->is_unsure = true; /* its revisions are not its seller's alone from now on */
    }
    model_unlock();
    if (!row)
        return;
    sending = sending_of(row);
    rc = machine_ask(machine, &sending->base, ASK_MS * MS_US);
    model_lock();
    cluster_note("the moderator: %s, opinion %" PRId64 ", %s, by %s: %s", row->id, row->opinion,
                 row->is_banned ? "a ban" : "passes", machine->name, rc ? err_name(rc) : "sent");
    row->is_opinion_open = rc != 0;
    model_unlock();
    request_free(&sending->base);
}
