/* SPDX-License-Identifier: Apache-2.0 */
/* Columns from outside on SQLite and PostgreSQL: rows and their mark, what the desk takes and
 * refuses, and that they go with their numbers. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "blob/blob.h"
#include "contract/cases.h"
#include "contract/place.h"
#include "index/columns/outside_file.h"
#include "numerator/column_rows.h"
#include "registry/clients/column_desk.h"

static struct store_place place;
static struct store *store;
static struct arena *arena;
static struct clients *clients;
static const struct client_view *client;
static struct blob *blob;
static struct column_desk desk;

static void begin(void **state)
{
    struct err err;

    if (!store_place_open(&place, case_on_servers(state), "", &store))
        skip();
    arena = arena_new();
    clients = clients_new(store, clock_system());
    OK(clients_obtain(clients, "shop", 2, &client, NULL, &err));
    OK(blob_open("memory:", &blob, &err));
    desk = (struct column_desk){
        .store = store, .blob = blob, .clients = clients, .clock = clock_system()};
}

static void end(void)
{
    client_unref(client);
    clients_free(clients);
    blob_close(blob);
    arena_free(arena);
    store_place_close(&place, store);
}

/* A file without values, of generation 0: before any number is given, that is all that fits. */
static void put_part(const char *folder, uint32_t part, struct outside_head head)
{
    uint8_t bytes[OUTSIDE_HEAD_SIZE];
    struct err err;

    head.width = 4;
    outside_head_encode(&head, bytes);
    OK(blob_put(blob, arena_printf(arena, "%s/%u", folder, part), bytes_make(bytes, sizeof(bytes)),
                &err));
}

static struct outside_head head_of(uint32_t shard)
{
    return (struct outside_head){
        .numbers = {(uint32_t)client->id, 2, 0, 0}, .shard = shard, .digits = 3};
}

static int load(const char *name, const char *folder, Torg__V1__OutsideColumn *column,
                struct err *err)
{
    Torg__V1__LoadColumnRequest request = TORG__V1__LOAD_COLUMN_REQUEST__INIT;

    request.name = (char *)name;
    request.place = (char *)folder;
    torg__v1__outside_column__init(column);
    return column_desk_load(&desk, "shop", "boss#k1", &request, arena, column, err);
}

static void columns_are_loaded_replaced_and_dropped(void **state)
{
    Torg__V1__OutsideColumn first, second;
    Torg__V1__ListColumnsResponse list = TORG__V1__LIST_COLUMNS_RESPONSE__INIT;
    int64_t before, after;
    struct err err;

    begin(state);
    OK(column_rows_mark(store, &before, &err));
    for (uint32_t i = 0; i < 2; i++)
        put_part("columns/shop/ctr/1-1", i, head_of(i));
    OK(load("ctr", "columns/shop/ctr/1-1", &first, &err));
    for (uint32_t i = 0; i < 2;
         i++) /* afterwards: by its name it is a leftover until it is loaded */
        put_part("columns/shop/ctr/2-1", i, head_of(i));
    OK(column_rows_mark(store, &after, &err));
    assert_true(after != before);
    OK(load("ctr", "columns/shop/ctr/2-1", &second, &err));
    assert_true(second.mark > first.mark);
    OK(column_rows_mark(store, &before, &err));
    assert_true(after != before);
    OK(column_desk_list(&desk, "shop", arena, &list, &err));
    assert_int_equal(list.n_columns, 1);
    assert_string_equal(list.columns[0]->name, "ctr");
    assert_int_equal(list.columns[0]->digits, 3);
    assert_string_equal(list.columns[0]->loaded_by, "boss");
    assert_true(list.columns[0]->fits_serving && list.columns[0]->n_epochs == 1);
    /* The files of the first are a day old by their name: the next load has removed them. */
    assert_int_equal(blob_stat(blob, "columns/shop/ctr/1-1/0", &(uint64_t){0}, &err),
                     ERR_NOT_FOUND);
    OK(blob_stat(blob, "columns/shop/ctr/2-1/0", &(uint64_t){0}, &err));
    OK(column_desk_drop(&desk, "shop", "boss#k1", "ctr", arena, &err));
    assert_int_equal(column_desk_drop(&desk, "shop", "boss#k1", "ctr", arena, &err), ERR_NOT_FOUND);
    OK(column_rows_mark(store, &after, &err));
    assert_true(after != before);
    assert_int_equal(blob_stat(blob, "columns/shop/ctr/2-1/0", &(uint64_t){0}, &err),
                     ERR_NOT_FOUND);
    end();
}

static void refused(const char *name, const char *folder, int code, const char *part)
{
    Torg__V1__OutsideColumn column;
    struct err err = {0};
    int rc = load(name, folder, &column, &err);

    if (rc != code || !strstr(err.text, part))
        fail_msg("%d, %s: wanted %d, %s", rc, err.text, code, part);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct outside_head head;

    begin(state);
    put_part("columns/shop/a/1-1", 0, head_of(0));
    refused("a", "columns/shop/a/1-1", ERR_NOT_FOUND, "the part of shard 1 is missing");
    put_part("columns/shop/a/1-1", 1, head_of(0));
    refused("a", "columns/shop/a/1-1", ERR_INVALID, "says that it is of shard 0");
    head = head_of(1);
    head.digits = 4;
    put_part("columns/shop/a/1-1", 1, head);
    refused("a", "columns/shop/a/1-1", ERR_INVALID, "3 and 4 digits");
    head = head_of(1);
    head.numbers[2] = 1;
    put_part("columns/shop/a/1-1", 1, head);
    refused("a", "columns/shop/a/1-1", ERR_INVALID, "different numbers");
    head = head_of(1);
    head.numbers[3] = 1;
    put_part("columns/shop/a/1-1", 1, head);
    refused("a", "columns/shop/a/1-1", ERR_PRECONDITION, "generation 1, and the numbers have 0");
    head = head_of(0);
    head.numbers[0]++;
    put_part("columns/shop/a/1-1", 0, head);
    refused("a", "columns/shop/a/1-1", ERR_PRECONDITION, "it was made from the numbers");
    refused("A", "columns/shop/A/1-1", ERR_INVALID, "not that of a column");
    refused("a", "columns/shop/b/1-1", ERR_INVALID, "not a folder of this column");
    refused("a", "columns/shop/a/", ERR_INVALID, "not a folder of this column");
    refused("a", "columns/shop/a/1/2", ERR_INVALID, "not a folder of this column");
    refused("a", "photos/1", ERR_INVALID, "not a folder of this column");
    end();
}

static int drop_retired_tx(struct store_tx *tx, void *arg, struct err *err)
{
    return column_rows_drop_retired(tx, arg, err);
}

static void rows_of_numbers_that_no_epoch_has_go(void **state)
{
    Torg__V1__OutsideColumn column;
    int64_t count = -1;
    struct err err;

    begin(state);
    for (uint32_t i = 0; i < 2; i++)
        put_part("columns/shop/a/1-1", i, head_of(i));
    OK(load("a", "columns/shop/a/1-1", &column, &err));
    OK(store_write(store, drop_retired_tx, &count, &err));
    assert_int_equal(count, 0);
    OK(store_write_one(store, "UPDATE registry_epoch SET rebuild = 5", NULL, 0, NULL, &err));
    OK(store_write(store, drop_retired_tx, &count, &err));
    assert_int_equal(count, 1);
    OK(store_read_integer(store, "SELECT COUNT(*) FROM outside_column", NULL, 0, &count, &err));
    assert_int_equal(count, 0);
    end();
}

static const struct test_case cases[] = {
    CASE(columns_are_loaded_replaced_and_dropped),
    CASE(what_does_not_fit_is_refused),
    CASE(rows_of_numbers_that_no_epoch_has_go),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "columns"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
