/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_fields.c - clients who change side fields of their documents: a stock, in an order of its
 * own, and now and then none. See cluster.h.
 *
 * What is kept of a field is its newest change, whatever becomes of the document; who waits for a
 * change finds that or a newer one, in whatever order elements are sent, and sent again, and with
 * it the document, whichever lane that waits in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/message.h"
#include "sim/cluster.h"

struct putting {
    struct request base;
    Torg__V1__FieldChange *change;
    Torg__V1__Verdict *verdict; /* NULL: there is none */
};

static void run_putting(struct stages *stages, struct request *base)
{
    struct putting *putting = (struct putting *)base;
    Torg__V1__Verdict **verdicts;

    base->rc = receiver_put_fields(&stages->receiver, DOCUMENT_CLIENT, &putting->change, 1,
                                   base->arena, &verdicts, &base->err);
    putting->verdict = base->rc ? NULL : verdicts[0];
}

static struct putting *putting_of(unsigned key, const struct change *change)
{
    struct putting *putting = request_new(sizeof(*putting), run_putting);
    struct arena *arena = putting->base.arena;
    Torg__V1__RawField *field = MESSAGE_NEW(raw_field, arena);

    field->name = arena_strdup(arena, "stock");
    field->options = MESSAGE_NEW(field_options, arena);
    field->options->side = true;
    if (!change->is_none) {
        field->_integer_case = TORG__V1__RAW_FIELD___INTEGER_INTEGER;
        field->integer = change->sequence;
    }
    putting->change = MESSAGE_NEW(field_change, arena);
    putting->change->pk = arena_printf(arena, "d%u", key);
    putting->change->epoch = 1;
    putting->change->sequence = change->sequence;
    putting->change->fields = arena_array(arena, 1, sizeof(putting->change->fields[0]));
    putting->change->fields[0] = field;
    putting->change->n_fields = 1;
    return putting;
}

/* With the lock. One that nobody has answered is sent again as it was, now and then; most are the
 * newest, the first of all declares the field. NULL: the document has had enough. */
static struct change *draw_change(struct actor *actor, struct document *document, bool *is_again)
{
    struct change *change;

    *is_again = false;
    if (document->change_count && !rng_below(&actor->rng, 3)) {
        change = &document->changes[rng_below(&actor->rng, document->change_count)];
        *is_again = change->state == WRITE_ASKED;
        if (*is_again)
            return change;
    }
    if (document->change_count == CHANGE_COUNT_MAX)
        return NULL;
    change = &document->changes[document->change_count];
    *change = (struct change){.sequence = 10 + 2 * (int64_t)document->change_count,
                              .is_none = document->change_count && !rng_below(&actor->rng, 8)};
    if (document->change_count > 2 && !rng_below(&actor->rng, 6)) /* late */
        change->sequence -= 5;
    for (size_t i = 0; i < document->change_count; i++)
        if (document->changes[i].sequence == change->sequence)
            return NULL;
    document->change_count++;
    return change;
}

static bool has_newer(const struct document *document, int64_t sequence)
{
    for (size_t i = 0; i < document->change_count; i++)
        if (document->changes[i].sequence > sequence && document->changes[i].state != WRITE_REFUSED)
            return true;
    return false;
}

bool is_never_deleted(const struct document *document)
{
    for (size_t i = 0; i < document->write_count; i++)
        if (document->writes[i].is_delete)
            return false;
    return true;
}

/* Whether there may be no such document. */
static bool may_lack(const struct document *document)
{
    bool is_there = false;

    for (size_t i = 0; i < document->write_count; i++)
        is_there = is_there || document->writes[i].state == WRITE_DONE;
    return !is_there || !is_never_deleted(document);
}

/* With the lock. */
static void take_verdict(struct model *model, unsigned key, struct change *change, bool is_again,
                         const Torg__V1__Verdict *verdict)
{
    const struct document *document = &model->documents[key];

    switch (verdict->kind) {
    case TORG__V1__VERDICT__KIND__ACCEPTED:
    case TORG__V1__VERDICT__KIND__DUPLICATE:
        if (change->state == WRITE_REFUSED)
            cluster_fail("stock %" PRId64 " of d%u was refused, then taken", change->sequence, key);
        change->state = WRITE_DONE;
        model->done_count++;
        snprintf(change->token, sizeof(change->token), "%s", verdict->token);
        return;
    case TORG__V1__VERDICT__KIND__STALE:
        if (!has_newer(document, change->sequence))
            cluster_fail("stock %" PRId64 " of d%u is called stale, and nothing newer was sent",
                         change->sequence, key);
        if (!is_again)
            change->state = WRITE_REFUSED;
        return;
    case TORG__V1__VERDICT__KIND__NOT_FOUND:
        if (!may_lack(document))
            cluster_fail("d%u is not found, and was never deleted", key);
        if (!is_again)
            change->state = WRITE_REFUSED;
        return;
    case TORG__V1__VERDICT__KIND__UNAVAILABLE:
        model->unsure_count++;
        return;
    default:
        /* What declares the field is its first value. */
        if (!change->is_none)
            cluster_fail("stock %" PRId64 " of d%u: verdict %d: %s", change->sequence, key,
                         (int)verdict->kind, verdict->n_reasons ? verdict->reasons[0]->text : "");
        change->state = WRITE_REFUSED;
    }
}

void fields_step(struct actor *actor, unsigned key)
{
    struct machine *machine = &actor->cluster->machines[rng_below(&actor->rng, BACK_COUNT)];
    struct model *model = &actor->cluster->model;
    struct document *document = &model->documents[key];
    struct change written = {.token = ""};
    struct change *change;
    struct putting *putting;
    bool is_again;
    int rc;

    model_lock();
    change = draw_change(actor, document, &is_again);
    model_unlock();
    if (!change)
        return;
    putting = putting_of(key, change);
    rc = machine_ask(machine, &putting->base, ASK_MS * MS_US);
    model_lock();
    cluster_note("client %u: d%u stock %" PRId64 "%s%s by %s: %s %d", actor->number, key,
                 change->sequence, change->is_none ? ", none" : "", is_again ? " again" : "",
                 machine->name, rc ? err_name(rc) : "verdict",
                 rc ? 0 : (int)putting->verdict->kind);
    if (rc)
        model->unsure_count++;
    else
        take_verdict(model, key, change, is_again, putting->verdict);
    if (change->state == WRITE_DONE)
        written = *change;
    model_unlock();
    request_free(&putting->base);
    if (written.token[0] && rng_below(&actor->rng, 2))
        look_for(actor, key, 0, written.token, written.sequence);
}

/* With the lock: stock 0 is none. */
bool may_have_stock(const struct document *document, int64_t floor, int64_t stock)
{
    if (!stock && !floor)
        return true;
    for (size_t i = 0; i < document->change_count; i++) {
        const struct change *change = &document->changes[i];

        if (change->sequence >= floor && change->state != WRITE_REFUSED &&
            (stock ? !change->is_none && change->sequence == stock : change->is_none))
            return true;
    }
    return false;
}
