/* SPDX-License-Identifier: Apache-2.0 */
/* column_desk.c - see column_desk.h. */
#include "registry/clients/column_desk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "base/log.h"
#include "base/text.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "index/bounds.h"
#include "index/columns/outside_file.h"
#include "numerator/column_rows.h"
#include "numerator/number_rows.h"
#include "registry/bounds.h"

/* --- what a column may be --- */

/* Nobody shall read what else is in the blob store by it. */
static int check_place(const char *client, const Torg__V1__LoadColumnRequest *request,
                       struct arena *arena, struct err *err)
{
    const char *folder = arena_printf(arena, "columns/%s/%s/", client, request->name);
    const char *rest = request->place + strlen(folder);

    if (strncmp(request->place, folder, strlen(folder)) != 0 || !*rest || strchr(rest, '/') ||
        strlen(rest) > COLUMN_PLACE_SIZE_MAX)
        return err_set(err, ERR_INVALID,
                       "place: \"%.200s\" is not a folder of this column: expected %sANYTHING",
                       request->place, folder);
    return 0;
}

/* Documents of any epoch have a field of that name: it would hide the column. */
static int check_fields(const struct client_view *client, const char *name, struct arena *arena,
                        struct err *err)
{
    const char *field = arena_printf(arena, "%s%s", FIELD_OUTSIDE_PREFIX, name);

    for (uint32_t i = 0; i < client->epoch_count; i++)
        if (epoch_find_field(&client->epochs[i], bytes_of(field)))
            return err_set(err, ERR_PRECONDITION,
                           "documents of client %s have a field %s of their own: give the column "
                           "another name",
                           client->name, field);
    return 0;
}

/* --- the files --- */

struct loading {
    const struct column_desk *desk;
    const struct client_view *client;
    const Torg__V1__LoadColumnRequest *request;
    struct arena *arena;
    struct outside_head head; /* of the first part */
    struct column_row row;
    struct audit_entry entry;
};

static int read_head(const struct loading *loading, uint32_t shard, struct outside_head *head,
                     struct err *err)
{
    const char *name = arena_printf(loading->arena, "%s/%" PRIu32, loading->request->place, shard);
    struct buf start = BUF_INIT(OUTSIDE_HEAD_SIZE);
    uint64_t size = 0;
    int rc = blob_stat(loading->desk->blob, name, &size, err);

    if (rc == ERR_NOT_FOUND)
        return err_set(err, ERR_NOT_FOUND,
                       "the part of shard %" PRIu32 " is missing: there is no %s in the blob store",
                       shard, name);
    if (!rc)
        rc = blob_range(loading->desk->blob, name, 0, OUTSIDE_HEAD_SIZE, &start, err);
    if (!rc)
        rc = outside_head_decode(buf_bytes(&start), size, head, err);
    if (rc)
        err_wrap(err, "the part of shard %" PRIu32, shard);
    buf_release(&start);
    return rc;
}

static const struct numbering *find_numbering(const struct client_view *client,
                                              const uint32_t numbers[4])
{
    for (uint32_t i = 0; i < client->numbering_count; i++) {
        const struct numbering *one = &client->numberings[i];

        if (one->kind == numbers[0] && one->scheme == numbers[1] && one->rebuild == numbers[2])
            return one;
    }
    return NULL;
}

static int tell_numberings(const struct loading *loading, struct err *err)
{
    const struct client_view *client = loading->client;
    const uint32_t *numbers = loading->head.numbers;
    const char *all = "";

    for (uint32_t i = 0; i < client->numbering_count; i++)
        all = arena_printf(loading->arena, "%s%s%" PRIu32 ".%" PRIu32 ".%" PRIu32, all,
                           i ? ", " : "", client->numberings[i].kind, client->numberings[i].scheme,
                           client->numberings[i].rebuild);
    return err_set(err, ERR_PRECONDITION,
                   "it was made from the numbers %" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32
                   " (type, sharding scheme, rebuild, generation), and client %s has %s: make it "
                   "from numbers that are exported now",
                   numbers[0], numbers[1], numbers[2], numbers[3], client->name, all);
}

struct asking {
    struct number_place place;
    struct space_row row; /* answered */
};

static int find_space(struct store_tx *tx, void *arg, struct err *err)
{
    struct asking *asking = arg;

    return space_row_find(tx, &asking->place, &asking->row, err);
}

/* A file of a later generation than there is was made from numbers of somebody else, and so was one
 * of another lineage. */
static int check_origin(const struct loading *loading, int64_t space,
                        const struct outside_head *head, struct err *err)
{
    struct asking asking = {.place = {space, head->shard}};
    int rc = store_read(loading->desk->store, find_space, &asking, err);
    const char *misfit;

    if (!rc && head->numbers[3] > asking.row.version.generation)
        rc = err_set(err, ERR_PRECONDITION,
                     "the part of shard %" PRIu32 " is of generation %" PRIu32
                     ", and the numbers have %" PRIu32 ": it was made from others",
                     head->shard, head->numbers[3], asking.row.version.generation);
    misfit = rc ? NULL : space_row_misfit(&asking.row, head->lineage, head->numbers[3]);
    return misfit ? err_set(err, ERR_PRECONDITION, "the part of shard %" PRIu32 ": %s", head->shard,
                            misfit)
                  : rc;
}

static int check_alike(const struct loading *loading, uint32_t shard,
                       const struct outside_head *head, struct err *err)
{
    const struct outside_head *first = &loading->head;

    if (head->shard != shard)
        return err_set(err, ERR_INVALID,
                       "the part of shard %" PRIu32 " says that it is of shard %" PRIu32, shard,
                       head->shard);
    if (memcmp(head->numbers, first->numbers, 3 * sizeof(head->numbers[0])) != 0)
        return err_set(err, ERR_INVALID,
                       "the parts of shards 0 and %" PRIu32 " were made from different numbers",
                       shard);
    if (head->digits != first->digits)
        return err_set(err, ERR_INVALID,
                       "the parts of shards 0 and %" PRIu32 " have %d and %d digits", shard,
                       first->digits, head->digits);
    return 0;
}

/* All parts; the row is filled in. */
static int check_parts(struct loading *loading, struct err *err)
{
    const struct numbering *numbering = NULL;
    struct column_row *row = &loading->row;
    int rc = read_head(loading, 0, &loading->head, err);

    if (!rc) {
        numbering = find_numbering(loading->client, loading->head.numbers);
        rc = numbering ? 0 : tell_numberings(loading, err);
    }
    for (uint32_t shard = 0; !rc && shard < numbering->scheme; shard++) {
        struct outside_head head;

        rc = read_head(loading, shard, &head, err);
        rc = rc ? rc : check_alike(loading, shard, &head, err);
        rc = rc ? rc : check_origin(loading, numbering->space, &head, err);
        if (!shard || head.numbers[3] < row->version.generation)
            row->version.generation = head.numbers[3];
        row->number_count += head.count;
        row->size += (int64_t)outside_file_size(&head);
    }
    row->version.kind = loading->head.numbers[0];
    row->version.scheme = loading->head.numbers[1];
    row->version.rebuild = loading->head.numbers[2];
    row->digits = loading->head.digits;
    return rc;
}

/* --- the row --- */

/* Names are counted, and one that is there for other numbers has the same digits. */
static int check_room(struct store_tx *tx, const struct column_row *row, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(row->client_id), STORE_V_STRING(row->name)};
    int64_t count = 0, digits = row->digits;
    int rc = store_find_integer(
        tx, "SELECT COUNT(DISTINCT name) FROM outside_column WHERE client_id = $1 AND name <> $2",
        params, 2, &count, err);

    if (!rc && count >= OUTSIDE_COLUMN_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT, "the client has %d columns, which is the limit: drop one",
                     OUTSIDE_COLUMN_COUNT_MAX);
    if (!rc)
        rc = store_find_integer(
            tx, "SELECT digits FROM outside_column WHERE client_id = $1 AND name = $2 LIMIT 1",
            params, 2, &digits, err);
    if (!rc && digits != row->digits)
        rc = err_set(err, ERR_PRECONDITION,
                     "%s%s has %" PRId64
                     " digits after the point, and this one %d: give it another name, or drop the "
                     "other first",
                     FIELD_OUTSIDE_PREFIX, row->name, digits, row->digits);
    return rc;
}

static int load_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct loading *loading = arg;
    int rc = client_confirm(tx, loading->client, err); /* its numberings are those that were seen */

    if (!rc)
        rc = check_room(tx, &loading->row, err);
    if (!rc)
        rc = column_row_put(tx, &loading->row, err);
    return rc ? rc : audit_add(tx, &loading->entry, err);
}

/* Files that no row names any more. Those of a load that goes on are younger than a day: their
 * folders begin with the time, in seconds. */
static void sweep(const struct column_desk *desk, const char *client, const char *name,
                  struct arena *arena)
{
    const char *folder = arena_printf(arena, "columns/%s/%s/", client, name);
    int64_t now_s = clock_wall_us(desk->clock) / SECOND_US;
    struct column_rows rows;
    struct blob_page page = {0};
    struct err err;
    int rc = column_rows_read(desk->store, 0, arena, &rows, &err);

    if (!rc)
        rc = blob_list(desk->blob, folder, "", COLUMN_SWEEP_COUNT, arena, &page, &err);
    for (size_t i = 0; i < page.count && !rc; i++) {
        const char *blob = page.entries[i].name;
        const char *slash = strrchr(blob, '/');
        size_t size = slash ? (size_t)(slash - blob) : 0;
        bool is_used = false;

        for (size_t k = 0; k < rows.count && !is_used; k++)
            is_used =
                strlen(rows.list[k].place) == size && strncmp(rows.list[k].place, blob, size) == 0;
        if (!is_used && strtoll(blob + strlen(folder), NULL, 10) + COLUMN_LEFTOVER_S < now_s)
            rc = blob_delete(desk->blob, blob, &err);
    }
    if (rc)
        log_warn("unneeded files of columns could not be removed from the blob store",
                 LOG_TEXT("folder", folder), LOG_TEXT("error", err.text));
}

static struct audit_entry entry_of(const struct column_desk *desk, const char *client,
                                   const char *principal, const char *action, const char *name,
                                   struct arena *arena)
{
    return (struct audit_entry){.at_us = clock_wall_us(desk->clock),
                                .principal = principal,
                                .action = action,
                                .target = arena_printf(arena, "%s/%s", client, name),
                                .detail = ""};
}

/* --- telling --- */

static const char *numbers_text(const struct number_version *version, struct arena *arena)
{
    return arena_printf(arena, "%" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32, version->kind,
                        version->scheme, version->rebuild, version->generation);
}

static void tell_fit(const struct client_view *client, const struct column_row *row,
                     struct arena *arena, Torg__V1__OutsideColumn *column)
{
    column->epochs = arena_array(arena, EPOCHS_MAX, sizeof(column->epochs[0]));
    for (uint32_t i = 0; i < client->epoch_count; i++) {
        const struct epoch_view *epoch = &client->epochs[i];
        const struct numbering *numbering = client_numbering(client, epoch);
        bool fits =
            numbering->scheme == row->version.scheme && numbering->rebuild == row->version.rebuild;

        if (fits)
            column->epochs[column->n_epochs++] = epoch->epoch;
        if (epoch->epoch != client->serving_epoch)
            continue;
        column->fits_serving = fits;
        if (!fits)
            column->misfit = arena_printf(
                arena,
                "it does not fit epoch %" PRId64 ", which serves and has the numbers %" PRIu32
                ".%" PRIu32 ".%" PRIu32 ": make it from those",
                epoch->epoch, numbering->kind, numbering->scheme, numbering->rebuild);
    }
}

static void tell_row(const struct client_view *client, const struct column_row *row,
                     struct arena *arena, Torg__V1__OutsideColumn *column)
{
    column->name = arena_strdup(arena, row->name);
    column->numbers = (char *)numbers_text(&row->version, arena);
    column->digits = row->digits;
    column->number_count = row->number_count;
    column->size = row->size;
    column->load_time = moment_message(row->loaded_us, arena);
    column->loaded_by = arena_strdup(arena, row->loaded_by);
    column->mark = row->mark;
    tell_fit(client, row, arena, column);
}

static const Torg__V1__ShardColumn *find_column(const Torg__V1__ShardFreshness *replica,
                                                const char *name)
{
    for (size_t i = 0; i < replica->n_columns; i++)
        if (strcmp(replica->columns[i]->name, name) == 0)
            return replica->columns[i];
    return NULL;
}

static bool has_epoch(const Torg__V1__OutsideColumn *column, int64_t epoch)
{
    for (size_t i = 0; i < column->n_epochs; i++)
        if (column->epochs[i] == epoch)
            return true;
    return false;
}

static void tell_searchers(const Torg__V1__Freshness *freshness, struct arena *arena,
                           Torg__V1__OutsideColumn *column)
{
    column->knows_searchers = true;
    for (size_t i = 0; i < freshness->n_shards; i++) {
        const Torg__V1__ShardFreshness *replica = freshness->shards[i];
        const Torg__V1__ShardColumn *there = find_column(replica, column->name);

        if (!has_epoch(column, replica->epoch))
            continue;
        column->replica_count++;
        if (there && there->mark == column->mark)
            column->ready_count++;
        else if (there && *there->trouble)
            column->trouble =
                arena_printf(arena, "shard %" PRIu32 ": %s", replica->shard, there->trouble);
    }
}

/* --- calls --- */

int column_desk_load(const struct column_desk *desk, const char *client, const char *principal,
                     const Torg__V1__LoadColumnRequest *request, struct arena *arena,
                     Torg__V1__OutsideColumn *column, struct err *err)
{
    struct loading loading = {.desk = desk, .request = request, .arena = arena};
    const struct client_view *view = NULL;
    int rc = outside_name_check(request->name, err);

    rc = rc ? rc : check_place(client, request, arena, err);
    rc = rc ? rc : clients_find(desk->clients, client, true, &view, err);
    if (rc)
        return rc;
    loading.client = view;
    loading.entry = entry_of(desk, client, principal, "column.load", request->name, arena);
    loading.row = (struct column_row){
        .client_id = view->id,
        .client = view->name,
        .name = request->name,
        .place = request->place,
        .loaded_us = loading.entry.at_us,
        .loaded_by = arena_text(arena, bytes_make(principal, strcspn(principal, "#")))};
    rc = check_fields(view, request->name, arena, err);
    rc = rc ? rc : check_parts(&loading, err);
    rc = rc ? rc : store_write(desk->store, load_tx, &loading, err);
    if (!rc) {
        audit_log(&loading.entry);
        tell_row(view, &loading.row, arena, column);
        sweep(desk, client, request->name, arena);
    }
    client_unref(view);
    return rc;
}

int column_desk_list(const struct column_desk *desk, const char *client, struct arena *arena,
                     Torg__V1__ListColumnsResponse *response, struct err *err)
{
    const struct client_view *view = NULL;
    Torg__V1__Freshness *freshness = NULL;
    struct column_rows rows;
    struct err ignored;
    int rc = clients_find(desk->clients, client, true, &view, err);

    if (rc)
        return rc;
    rc = column_rows_read(desk->store, view->id, arena, &rows, err);
    if (!rc && desk->freshness &&
        desk->freshness(desk->freshness_arg, client, arena, &freshness, &ignored))
        freshness = NULL; /* which searchers there are is not known */
    if (!rc) {
        response->client = arena_strdup(arena, client);
        response->columns = arena_array(arena, rows.count + 1, sizeof(response->columns[0]));
    }
    for (size_t i = 0; i < rows.count && !rc; i++) {
        Torg__V1__OutsideColumn *column = MESSAGE_NEW(outside_column, arena);

        tell_row(view, &rows.list[i], arena, column);
        if (freshness)
            tell_searchers(freshness, arena, column);
        response->columns[response->n_columns++] = column;
    }
    client_unref(view);
    return rc;
}

static int drop_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct loading *dropping = arg;
    const struct column_row *row = &dropping->row;
    int64_t count = 0;
    int rc = column_rows_drop(tx, row->client_id, row->name, &count, err);

    if (!rc && !count)
        rc = err_set(err, ERR_NOT_FOUND, "client %s has no column \"%.60s\"", row->client,
                     row->name);
    return rc ? rc : audit_add(tx, &dropping->entry, err);
}

int column_desk_drop(const struct column_desk *desk, const char *client, const char *principal,
                     const char *name, struct arena *arena, struct err *err)
{
    struct loading dropping = {.desk = desk, .arena = arena};
    const struct client_view *view = NULL;
    int rc = clients_find(desk->clients, client, true, &view, err);

    if (rc)
        return rc;
    dropping.entry = entry_of(desk, client, principal, "column.drop", name, arena);
    dropping.row = (struct column_row){.client_id = view->id, .client = view->name, .name = name};
    rc = store_write(desk->store, drop_tx, &dropping, err);
    if (!rc) {
        audit_log(&dropping.entry);
        sweep(desk, client, name, arena);
    }
    client_unref(view);
    return rc;
}
