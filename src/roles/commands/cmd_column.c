/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_column.c - torg column load, list, drop: columns from outside. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/object.h"
#include "base/text.h"
#include "index/columns/outside_column.h"
#include "numerator/passage.h"
#include "roles/bounds.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "roles/commands/progress.h"
#include "torg/v1/column.pb-c.h"

#define COLUMNS (&torg__v1__column_service__descriptor)

static const int64_t WAIT_MAX_US = (int64_t)24 * 3600 * SECOND_US;

static const char *client_of(const struct invocation *invocation)
{
    const char *client = invocation_option(invocation, "client");

    return client ? client : "default";
}

/* --- load --- */

struct loading {
    const struct invocation *invocation;
    const char *files[ARGUMENT_COUNT_MAX]; /* by shard */
    const char *name;
    const char *place;
    struct blob *blob;
    struct desk desk;
};

/* The option, or what the first file is called: "ctr.0.column". */
static const char *name_of(const struct invocation *invocation)
{
    const char *name = invocation_option(invocation, "name");
    const char *path = invocation->arguments[0];
    const char *slash = strrchr(path, '/');

    path = slash ? slash + 1 : path;
    return name ? name : arena_text(invocation->arena, bytes_make(path, strcspn(path, ".")));
}

static int take_file(struct loading *loading, const char *path, struct outside_head *first,
                     struct err *err)
{
    struct outside_column *column = NULL;
    struct outside_head head;
    int rc = outside_column_open(path, &column, err); /* with its checksums */

    if (rc)
        return rc;
    head = *outside_column_head(column);
    outside_column_close(column);
    if (!first->width)
        *first = head;
    if (head.numbers[1] != loading->invocation->argument_count)
        return err_set(err, ERR_INVALID,
                       "%s was made from numbers of %" PRIu32
                       " shards: give a file for each of them, all at once",
                       path, head.numbers[1]);
    if (head.shard >= head.numbers[1] || loading->files[head.shard])
        return err_set(err, ERR_INVALID, "%s is of shard %" PRIu32 "%s%s", path, head.shard,
                       head.shard < head.numbers[1] ? ", as is " : ", which there is not",
                       head.shard < head.numbers[1] ? loading->files[head.shard] : "");
    loading->files[head.shard] = path;
    return 0;
}

static int upload(const struct loading *loading, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < loading->invocation->argument_count && !rc; i++)
        rc =
            passage_copy(loading->files[i], NULL,
                         arena_printf(loading->invocation->arena, "blob:%s/%zu", loading->place, i),
                         loading->blob, NULL, NULL, err);
    return rc;
}

/* A load that was refused leaves nothing; one that is killed, files that a later one removes. */
static void remove_uploaded(const struct loading *loading)
{
    for (size_t i = 0; i < loading->invocation->argument_count; i++)
        (void)blob_delete(loading->blob,
                          arena_printf(loading->invocation->arena, "%s/%zu", loading->place, i),
                          NULL);
}

static const Torg__V1__OutsideColumn *find_mark(const Torg__V1__ListColumnsResponse *all,
                                                int64_t mark)
{
    for (size_t i = 0; i < all->n_columns; i++)
        if (all->columns[i]->mark == mark)
            return all->columns[i];
    return NULL;
}

/* Until all searchers have it. */
static int await_searchers(struct loading *loading, int64_t mark, int64_t wait_us, struct err *err)
{
    Torg__V1__ListColumnsRequest request = TORG__V1__LIST_COLUMNS_REQUEST__INIT;
    int64_t deadline_us = clock_mono_us(clock_system()) + wait_us;
    struct arena *arena = loading->invocation->arena;

    request.client = (char *)client_of(loading->invocation);
    for (;;) {
        struct arena_mark before = arena_mark(arena);
        const Torg__V1__OutsideColumn *column;
        ProtobufCMessage *response = NULL;
        int rc = desk_call(&loading->desk, COLUMNS, "ListColumns", &request.base, &response, err);

        if (rc)
            return rc;
        column = find_mark((const Torg__V1__ListColumnsResponse *)response, mark);
        if (!column)
            return err_set(err, ERR_PRECONDITION,
                           "another load has replaced it, or it was dropped");
        if (column->knows_searchers && column->replica_count &&
            column->ready_count == column->replica_count)
            return 0;
        if (clock_mono_us(clock_system()) >= deadline_us)
            return err_set(err, ERR_TIMEOUT,
                           "it is loaded, but %" PRIu32 " of %" PRIu32
                           " shards of searchers have it yet%s%s",
                           column->ready_count, column->replica_count, *column->trouble ? ": " : "",
                           column->trouble);
        arena_rewind(arena, before);
        clock_sleep(clock_system(), COLUMN_WAIT_STEP_MS * MS_US);
    }
}

static int load(struct loading *loading, int64_t wait_us, const Torg__V1__OutsideColumn **column,
                struct err *err)
{
    Torg__V1__LoadColumnRequest request = TORG__V1__LOAD_COLUMN_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    int rc = upload(loading, err);

    request.client = (char *)client_of(loading->invocation);
    request.name = (char *)loading->name;
    request.place = (char *)loading->place;
    if (!rc)
        rc = desk_call(&loading->desk, COLUMNS, "LoadColumn", &request.base, &response, err);
    if (rc && rc != ERR_UNAVAILABLE && rc != ERR_TIMEOUT) /* of those it may have been done */
        remove_uploaded(loading);
    if (rc)
        return rc;
    *column = (const Torg__V1__OutsideColumn *)response;
    return wait_us && loading->desk.remote /* else no searcher runs */
               ? await_searchers(loading, (*column)->mark, wait_us, err)
               : 0;
}

/* false after a complaint. */
static bool read_wait(const struct invocation *invocation, int64_t *wait_us)
{
    const char *text = invocation_option(invocation, "wait");

    *wait_us = 0;
    if (!text ||
        (text_to_duration(bytes_of(text), wait_us) && *wait_us >= 0 && *wait_us <= WAIT_MAX_US))
        return true;
    complain("--wait=%.64s: expected a duration such as 30s or 5m, at most 24h", text);
    return false;
}

static int prepare(struct loading *loading, struct err *err)
{
    const struct invocation *invocation = loading->invocation;
    struct outside_head first = {0};
    int rc = outside_name_check(loading->name, err);

    for (size_t i = 0; i < invocation->argument_count && !rc; i++)
        rc = take_file(loading, invocation->arguments[i], &first, err);
    loading->place =
        arena_printf(invocation->arena, "columns/%s/%s/%" PRId64 "-%ld", client_of(invocation),
                     loading->name, clock_wall_us(clock_system()) / SECOND_US, (long)getpid());
    return rc ? rc
              : backends_open_blob(&invocation->config, invocation->arena, &loading->blob, err);
}

enum exit_code cmd_column_load(const struct invocation *invocation)
{
    struct loading loading = {.invocation = invocation};
    const Torg__V1__OutsideColumn *column = NULL;
    int64_t wait_us;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_wait(invocation, &wait_us))
        return EXIT_USAGE;
    loading.name = name_of(invocation);
    rc = prepare(&loading, &err);
    if (!rc)
        rc = desk_open(invocation, false, &loading.desk, &err);
    if (!rc) {
        rc = load(&loading, wait_us, &column, &err);
        desk_close(&loading.desk);
    }
    blob_close(loading.blob);
    if (rc)
        return fail(&err);
    if (invocation->json)
        print_json(&column->base);
    else
        printf("x.%s: %" PRId64 " numbers, made from %s\n", column->name, column->number_count,
               column->numbers);
    if (!invocation->json && *column->misfit)
        printf("%s\n", column->misfit);
    return EXIT_OK;
}

/* --- list, drop --- */

static void print_column(const Torg__V1__OutsideColumn *column, struct arena *arena)
{
    char size[PROGRESS_SIZE_TEXT_SIZE], ready[32] = "-";

    progress_size_text((uint64_t)column->size, size);
    if (column->knows_searchers)
        snprintf(ready, sizeof(ready), "%" PRIu32 " of %" PRIu32, column->ready_count,
                 column->replica_count);
    printf("x.%-22s %-14s %6" PRIu32 " %11" PRId64 " %10s  %-21s %s\n", column->name,
           column->numbers, column->digits, column->number_count, size,
           time_text(column->load_time, arena), ready);
    if (*column->misfit)
        printf("    does not fit: %s\n", column->misfit);
    if (*column->trouble)
        printf("    %s\n", column->trouble);
}

enum exit_code cmd_column_list(const struct invocation *invocation)
{
    Torg__V1__ListColumnsRequest request = TORG__V1__LIST_COLUMNS_REQUEST__INIT;
    const Torg__V1__ListColumnsResponse *answer;
    ProtobufCMessage *response = NULL;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.client = (char *)client_of(invocation);
    if (desk_ask(invocation, false, COLUMNS, "ListColumns", &request.base, &response, &err))
        return fail(&err);
    answer = (const Torg__V1__ListColumnsResponse *)response;
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    if (!answer->n_columns) {
        printf("client %s has no columns from outside: torg column load FILE\n", answer->client);
        return EXIT_OK;
    }
    printf("%-24s %-14s %6s %11s %10s  %-21s %s\n", "COLUMN", "MADE FROM", "DIGITS", "NUMBERS",
           "SIZE", "LOADED", "SEARCHERS");
    for (size_t i = 0; i < answer->n_columns; i++)
        print_column(answer->columns[i], invocation->arena);
    return EXIT_OK;
}

enum exit_code cmd_column_drop(const struct invocation *invocation)
{
    Torg__V1__DropColumnRequest request = TORG__V1__DROP_COLUMN_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.client = (char *)client_of(invocation);
    request.name = (char *)invocation->arguments[0];
    if (desk_ask(invocation, false, COLUMNS, "DropColumn", &request.base, &response, &err))
        return fail(&err);
    printf("x.%s is dropped\n", request.name);
    return EXIT_OK;
}
