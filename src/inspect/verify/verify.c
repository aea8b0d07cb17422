/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - see verify.h: a step of a check, whatever its kind. */
#include "inspect/verify/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/task.h"
#include "codec/message.h"
#include "inspect/bounds.h"
#include "inspect/trace/way.h"
#include "inspect/verify/verify_parts.h"
#include "model/offer_fields.h"
#include "numerator/numerator.h"
#include "registry/indexing/queue.h"

enum { CURSOR_SIZE = 16, /* two numbers, then a key */ PAUSE_MS_MIN = 20, PAUSE_MS_MAX = 500 };

#define KIND(name) TORG__V1__VERIFY_CHECK__KIND__##name

static const struct verify_kind *const kinds[] = {
    [KIND(REGISTRY)] = &verify_registry, [KIND(NUMBERS)] = &verify_numbers,
    [KIND(QUEUE)] = &verify_queue,       [KIND(INDEX)] = &verify_index,
    [KIND(FILES)] = &verify_files,       [KIND(CONTENT)] = &verify_content,
    [KIND(OFFERS)] = &verify_offers,
};

/* --- for the kinds --- */

struct suspect *suspect_add(struct verifying *verifying, struct bytes pk, uint32_t doc_id)
{
    struct suspect *suspect = &verifying->suspects[verifying->count];

    assert(verifying->count < SUSPECT_PAGE_COUNT);
    verifying->count++;
    *suspect = (struct suspect){.pk = arena_copy(verifying->arena, pk), .doc_id = doc_id};
    return suspect;
}

void suspect_tell(struct suspect *suspect, const char *format, ...)
{
    va_list args;

    if (*suspect->text)
        return;
    va_start(args, format);
    vsnprintf(suspect->text, sizeof(suspect->text), format, args);
    va_end(args);
}

void suspect_blame(struct suspect *suspect, const char *reason, const char *format, ...)
{
    va_list args;

    if (*suspect->text)
        return;
    suspect->reason = reason;
    va_start(args, format);
    vsnprintf(suspect->text, sizeof(suspect->text), format, args);
    va_end(args);
}

void cursor_next(struct verifying *verifying, int64_t a, int64_t b, struct bytes pk)
{
    uint8_t *bytes = arena_alloc(verifying->arena, CURSOR_SIZE + pk.size);

    put_le64(bytes, (uint64_t)a);
    put_le64(bytes + 8, (uint64_t)b);
    if (pk.size)
        memcpy(bytes + CURSOR_SIZE, pk.data, pk.size);
    verifying->next = bytes_make(bytes, CURSOR_SIZE + pk.size);
}

int cursor_parse(const struct verifying *verifying, struct cursor *cursor, struct err *err)
{
    struct bytes given = verifying->cursor;

    *cursor = (struct cursor){.is_begin = given.size == 0};
    if (cursor->is_begin)
        return 0;
    if (given.size < CURSOR_SIZE)
        return err_set(err, ERR_INVALID, "cursor: expected that of the step before");
    cursor->a = (int64_t)get_le64(given.data);
    cursor->b = (int64_t)get_le64(given.data + 8);
    cursor->pk = bytes_skip(given, CURSOR_SIZE);
    return 0;
}

/* --- looking again --- */

int verify_pause(const struct verifying *verifying, int64_t duration_us, struct err *err)
{
    struct task *task = verifying->by->task;

    if (!task)
        clock_sleep(verifying->inspect->clock, duration_us);
    else if (!task_pause(task, duration_us))
        return err_set(err, ERR_CANCELLED, "it is time to stop");
    return 0;
}

/* Those that agree go; true: another look may help. */
static bool keep_differing(struct verifying *verifying)
{
    size_t kept = 0;
    bool is_open = false;

    for (size_t i = 0; i < verifying->count; i++) {
        if (!*verifying->suspects[i].text)
            continue;
        is_open = is_open || !verifying->suspects[i].is_stable;
        verifying->suspects[kept++] = verifying->suspects[i];
    }
    verifying->count = kept;
    return is_open;
}

/* Kinds whose differences settle by what the queue has. */
static bool is_by_queue(const struct verifying *verifying)
{
    int kind = verifying->check->kind;

    return kind == KIND(INDEX) || kind == KIND(REGISTRY);
}

/* From here on it is waited for all that the queue has. */
static int begin_wait(struct verifying *verifying, struct lane_ends *ends, struct err *err)
{
    bool is_empty;

    for (size_t i = 0; i < verifying->count; i++)
        verifying->suspects[i].base = verifying->suspects[i].now;
    return is_by_queue(verifying) ? lanes_read(verifying, ends, &is_empty, err) : 0;
}

/* Whether that has come as far as it goes. */
static int is_over(const struct verifying *verifying, const struct lane_ends *ends, bool *is_over,
                   struct err *err)
{
    int rc = 0;

    *is_over = false;
    if (is_by_queue(verifying) && !verifying->suspects[0].is_stable)
        rc = lanes_passed(verifying, ends, is_over, err);
    if (!rc && *is_over && verifying->check->kind == KIND(INDEX))
        rc = lanes_reached(verifying, ends, is_over, err);
    return rc;
}

/* Who differs now and was not written since will not settle any more; true: all are such. */
static bool end_wait(struct verifying *verifying)
{
    bool are_all = true;

    for (size_t i = 0; i < verifying->count; i++) {
        struct suspect *suspect = &verifying->suspects[i];

        suspect->is_final = !suspect->is_news && order_compare(&suspect->now, &suspect->base) == 0;
        are_all = are_all && suspect->is_final;
    }
    return are_all;
}

static int look_once(struct verifying *verifying, bool *is_open, struct err *err)
{
    struct arena_mark mark = arena_mark(verifying->arena);
    int rc;

    for (size_t i = 0; i < verifying->count; i++)
        if (!verifying->suspects[i].is_stable)
            verifying->suspects[i].text[0] = 0;
    rc = verifying->kind->look(verifying, err);
    arena_rewind(verifying->arena, mark);
    *is_open = !rc && keep_differing(verifying);
    return rc;
}

/* The row is read before the index: a write between the two is no difference, but it takes another
 * look to tell. */
static bool has_news(const struct verifying *verifying)
{
    bool is_news = false;

    for (size_t i = 0; i < verifying->count; i++)
        is_news = is_news || verifying->suspects[i].is_news;
    return is_news;
}

static int look_until_agreed(struct verifying *verifying, struct err *err)
{
    int64_t wait_ms = PAUSE_MS_MIN;
    unsigned late_count = 0; /* looks after the deadline */
    struct lane_ends ends;
    bool is_first = true;
    bool is_open;
    int rc = look_once(verifying, &is_open, err);

    if (!rc && is_open)
        rc = begin_wait(verifying, &ends, err);
    while (!rc && is_open &&
           (is_first || clock_mono_us(verifying->inspect->clock) < verifying->deadline_us ||
            (has_news(verifying) && late_count < VERIFY_LATE_LOOK_COUNT_MAX))) {
        bool is_last = false;

        late_count += clock_mono_us(verifying->inspect->clock) >= verifying->deadline_us;
        is_first = false; /* however slow it was: one look is not enough to tell a fault */
        rc = verify_pause(verifying, wait_ms * MS_US, err);
        if (!rc)
            rc = is_over(verifying, &ends, &is_last, err); /* before the look that is to count */
        if (!rc)
            rc = look_once(verifying, &is_open, err);
        if (!rc && is_last && is_open && end_wait(verifying))
            break;
        if (!rc && is_last && is_open)
            rc = begin_wait(verifying, &ends, err);
        wait_ms = wait_ms * 2 > PAUSE_MS_MAX ? PAUSE_MS_MAX : wait_ms * 2;
    }
    return rc;
}

/* --- what is left: on its way, or a finding --- */

struct deciding {
    struct verifying *verifying;
    struct suspect *suspect;
    bool is_coming; /* it is sent, or tried again, as it is now */
    bool is_parked; /* as it is now, for the index that was looked at: torg queue list --failed */
    bool is_queued;
};

static uint32_t shard_of(const struct verifying *verifying, struct bytes pk)
{
    return number_key_shard(number_key_hash(pk), verifying->client->shard_count);
}

/* Whether what has failed tells why the index of the epoch differs. What could not be sent was for
 * all of them, unless a pour had queued it for one; and what the searchers of the serving epoch
 * have refused others may have refused, too, which is not kept (refusal_inbox.c). */
static bool concerns(const struct way *way, const struct client_view *client, int64_t epoch,
                     const struct row *row)
{
    if (way->refused_epoch)
        return way->refused_epoch == epoch || way->refused_epoch == client->serving_epoch;
    return way->failed_order.epoch == epoch || way->failed_order.epoch == row->order.epoch;
}

static int find_way(struct store_tx *tx, void *arg, struct err *err)
{
    struct deciding *deciding = arg;
    const struct verifying *verifying = deciding->verifying;
    const struct client_view *client = verifying->client;
    int64_t epoch = verifying->check->epoch ? verifying->check->epoch : client->serving_epoch;
    struct bytes pk = deciding->suspect->pk;
    struct way way;
    struct row row;
    bool found = false;
    int rc = way_find(tx, client->id, shard_of(verifying, pk), pk, verifying->arena, &way, err);

    if (!rc && way.is_failed)
        rc = row_find(tx, client->id, pk, false, verifying->arena, &row, &found, err);
    /* a failure of another write is no news of this one */
    found = found && way.failed_order.version == row.order.version &&
            way.failed_order.modify_us == row.order.modify_us;
    deciding->is_coming = way.is_waiting || (found && way.next_us > 0);
    deciding->is_parked = found && concerns(&way, client, epoch, &row);
    return rc;
}

/* Puts the document as it is into the queue. */
static int queue_again(struct store_tx *tx, void *arg, struct err *err)
{
    struct deciding *deciding = arg;
    const struct verifying *verifying = deciding->verifying;
    const struct client_view *client = verifying->client;
    int64_t now_us = clock_wall_us(verifying->inspect->clock);
    struct queue_element element = {.pk = deciding->suspect->pk, .put_us = now_us};
    const struct audit_entry entry = {
        .at_us = now_us,
        .principal = verifying->by->principal,
        .action = "verify.fix",
        .target = arena_printf(verifying->arena, "%s/%.*s", client->name, BYTES_ARG(element.pk)),
        .detail = deciding->suspect->text};
    bool found = false;
    struct row row;
    int rc = row_find(tx, client->id, element.pk, false, verifying->arena, &row, &found, err);

    deciding->is_queued = false;
    if (rc || !found)
        return rc;
    element.order = row.order;
    rc = queue_append(tx, client->id, verifying->by->lane, shard_of(verifying, element.pk),
                      &element, 1, err);
    if (!rc && verifying->by->lane == LANE_BACKFILL) {
        row.backfill_idx = element.idx;
        rc = rows_save_places(tx, client->id, (const struct row *[]){&row}, 1, err);
    }
    if (!rc)
        rc = audit_add(tx, &entry, err);
    deciding->is_queued = !rc;
    return rc;
}

static void add_finding(const struct verifying *verifying, const struct suspect *suspect,
                        bool is_fixed, Torg__V1__VerifyStepResponse *response)
{
    Torg__V1__VerifyFinding *finding;

    response->finding_count++;
    response->fixed_count += is_fixed;
    if (response->n_findings == VERIFY_FINDING_COUNT_MAX)
        return;
    if (!response->findings)
        response->findings =
            arena_array(verifying->arena, VERIFY_FINDING_COUNT_MAX, sizeof(finding));
    finding = MESSAGE_NEW(verify_finding, verifying->arena);
    finding->pk = arena_text(verifying->arena, suspect->pk);
    if (suspect->doc_id != NUMBER_NONE) {
        finding->_doc_id_case = TORG__V1__VERIFY_FINDING___DOC_ID_DOC_ID;
        finding->doc_id = suspect->doc_id;
    }
    finding->text = verifying->client && verifying->check->epoch &&
                            verifying->check->epoch != verifying->client->serving_epoch
                        ? arena_printf(verifying->arena, "epoch %" PRId64 ": %s",
                                       verifying->check->epoch, suspect->text)
                        : arena_strdup(verifying->arena, suspect->text);
    finding->is_fixed = is_fixed;
    finding->reason = (char *)(suspect->reason ? suspect->reason : "");
    response->findings[response->n_findings++] = finding;
}

static int decide(struct verifying *verifying, struct suspect *suspect, bool is_fixed,
                  Torg__V1__VerifyStepResponse *response, struct err *err)
{
    struct deciding deciding = {.verifying = verifying, .suspect = suspect};
    int rc = 0;

    if (suspect->pk.size && !suspect->is_stable)
        rc = store_read(verifying->inspect->store, find_way, &deciding, err);
    if (rc)
        return rc;
    if (deciding.is_coming) {
        response->waiting_count++;
        return 0;
    }
    if (deciding.is_parked) {
        response->parked_count++;
        return 0;
    }
    if (verifying->fix && suspect->pk.size)
        rc = store_write(verifying->inspect->store, queue_again, &deciding, err);
    if (!rc)
        add_finding(verifying, suspect, is_fixed || deciding.is_queued, response);
    return rc;
}

static int decide_each(struct verifying *verifying, Torg__V1__VerifyStepResponse *response,
                       struct err *err)
{
    bool is_fixed[SUSPECT_PAGE_COUNT] = {false};
    size_t kept = 0;
    int rc = 0;

    /* A document that is written all the time, or an index that is behind, may differ in anything.
     */
    for (size_t i = 0; i < verifying->count; i++) {
        struct suspect *suspect = &verifying->suspects[i];

        if (!is_by_queue(verifying) || suspect->is_final || suspect->is_stable)
            verifying->suspects[kept++] = *suspect;
    }
    response->waiting_count += verifying->count - kept;
    verifying->count = kept;
    if (verifying->fix && verifying->count && verifying->check->kind == KIND(INDEX))
        rc = verify_index_fix(verifying, is_fixed, err);
    for (size_t i = 0; i < verifying->count && !rc; i++)
        rc = decide(verifying, &verifying->suspects[i], is_fixed[i], response, err);
    return rc;
}

/* Of a kind that knows itself what is on its way, and how to put the rest right. */
static int decide_all(struct verifying *verifying, Torg__V1__VerifyStepResponse *response,
                      struct err *err)
{
    bool is_fixed[SUSPECT_PAGE_COUNT] = {false};
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < verifying->count; i++) {
        if (verifying->suspects[i].is_parked)
            response->parked_count++;
        else if (verifying->suspects[i].is_stable)
            verifying->suspects[kept++] = verifying->suspects[i];
        else
            response->waiting_count++;
    }
    verifying->count = kept;
    if (kept && verifying->fix)
        rc = verifying->kind->fix(verifying, is_fixed, err);
    for (size_t i = 0; i < kept && !rc; i++)
        add_finding(verifying, &verifying->suspects[i], is_fixed[i], response);
    return rc;
}

/* --- a step --- */

static int check_request(const Torg__V1__VerifyStepRequest *request, struct err *err)
{
    if (!request->check)
        return err_set(err, ERR_INVALID, "check: expected one of PlanVerify's answer");
    if ((unsigned)request->check->kind >= ARRAY_COUNT(kinds))
        return err_set(err, ERR_INVALID, "check.kind: there is no check %d",
                       (int)request->check->kind);
    if (request->settle_ms > VERIFY_SETTLE_MS_MAX)
        return err_set(err, ERR_INVALID, "settle_ms: expected at most %d", VERIFY_SETTLE_MS_MAX);
    return 0;
}

static int run_step(struct verifying *verifying, Torg__V1__VerifyStepResponse *response,
                    struct err *err)
{
    int rc = verifying->kind->page(verifying, err);

    if (!rc && verifying->count)
        rc = look_until_agreed(verifying, err);
    if (!rc)
        rc = verifying->kind->fix ? decide_all(verifying, response, err)
                                  : decide_each(verifying, response, err);
    response->checked_count = verifying->checked_count;
    response->cursor = (ProtobufCBinaryData){verifying->next.size, (uint8_t *)verifying->next.data};
    return rc;
}

/* A client whose rows cannot be read has no page: that is the finding. */
static int tell_unreadable(const struct verifying *verifying, const struct err *why,
                           Torg__V1__VerifyStepResponse *response)
{
    struct suspect suspect = {.doc_id = NUMBER_NONE};

    suspect_tell(&suspect, "%.200s", why->text);
    add_finding(verifying, &suspect, false, response);
    return 0;
}

/* Which shard it is about: of the queue, or of an epoch's index and numbers. */
static int find_shard(struct verifying *verifying, struct err *err)
{
    const struct client_view *client = verifying->client;
    const Torg__V1__VerifyCheck *check = verifying->check;
    const struct epoch_view *epoch =
        client_epoch(client, check->epoch ? check->epoch : client->serving_epoch);
    uint32_t shard_count = client->shard_count;

    verifying->queue_shard = check->shard;
    if (!epoch) /* given up since the plan */
        return 0;
    verifying->numbering = *client_numbering(client, epoch);
    if (check->kind != KIND(QUEUE) && check->kind != KIND(OFFERS)) {
        shard_count = verifying->numbering.scheme;
        verifying->queue_shard = client_queue_shard(client, epoch, check->shard);
    }
    if (check->shard >= shard_count)
        return err_set(err, ERR_INVALID, "check.shard: %s has %u, counted from 0", client->name,
                       shard_count);
    return 0;
}

/* Offers may be there before the first document of one was ever received. */
static int find_client(struct verifying *verifying, struct err *err)
{
    int rc = clients_find(verifying->inspect->clients, verifying->check->client, true,
                          &verifying->client, err);

    if (rc == ERR_NOT_FOUND && verifying->check->kind == KIND(OFFERS))
        return 0;
    if (!rc && verifying->check->kind == KIND(OFFERS) &&
        strcmp(verifying->client->name, OFFER_CLIENT) != 0)
        return err_set(err, ERR_INVALID, "check.client: offers are compared only with \"%s\"",
                       OFFER_CLIENT);
    return rc ? rc : find_shard(verifying, err);
}

/* An epoch may be given up between the plan and the step. */
static bool is_gone(const struct verifying *verifying)
{
    return verifying->client && verifying->check->epoch &&
           !client_epoch(verifying->client, verifying->check->epoch);
}

int verify_step_by(const struct inspect *inspect, const Torg__V1__VerifyStepRequest *request,
                   const struct verify_by *by, struct arena *arena,
                   Torg__V1__VerifyStepResponse *response, struct err *err)
{
    int64_t settle_ms = request->settle_ms ? request->settle_ms : VERIFY_SETTLE_MS;
    struct verifying verifying = {
        .inspect = inspect,
        .check = request->check,
        .cursor = bytes_make(request->cursor.data, request->cursor.len),
        .by = by,
        .fix = request->fix,
        .deadline_us = clock_mono_us(inspect->clock) + settle_ms * MS_US,
        .arena = arena,
    };
    int rc = check_request(request, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    if (!rc)
        rc = find_client(&verifying, err);
    if (rc == ERR_CORRUPT && request->check->kind == KIND(REGISTRY))
        return tell_unreadable(&verifying, err, response);
    if (!rc && !is_gone(&verifying)) {
        verifying.kind = kinds[request->check->kind];
        verifying.suspects = arena_alloc(arena, SUSPECT_PAGE_COUNT * sizeof(struct suspect));
        rc = run_step(&verifying, response, err);
    }
    client_unref(verifying.client);
    return rc;
}

int verify_step(const struct inspect *inspect, const Torg__V1__VerifyStepRequest *request,
                const char *principal, struct arena *arena, Torg__V1__VerifyStepResponse *response,
                struct err *err)
{
    const struct verify_by by = {.principal = principal, .lane = LANE_EMERGENCY};

    return verify_step_by(inspect, request, &by, arena, response, err);
}
