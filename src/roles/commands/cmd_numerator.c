/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_numerator.c - torg numerator compat, export, import, inspect: states of permanent numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "base/object.h"
#include "base/text.h"
#include "numerator/batch.h"
#include "registry/clients/clients.h"
#include "registry/clients/epoch_numbers.h"
#include "roles/commands/desk.h"
#include "roles/commands/numerator_files.h"
#include "roles/processes/backends.h"

/* "1.4.0.17", or the file that has it. */
static int read_version(const struct invocation *invocation, const char *text,
                        struct number_version *version, struct err *err)
{
    struct blob *blob;
    char rest;
    int rc;

    if (sscanf(text, "%" SCNu32 ".%" SCNu32 ".%" SCNu32 ".%" SCNu32 "%c", &version->kind,
               &version->scheme, &version->rebuild, &version->generation, &rest) == 4)
        return 0;
    rc = open_blob_of(invocation, &text, 1, &blob, err);
    if (rc == 0)
        rc = number_state_load_version(text, blob, version, err);
    blob_close(blob);
    return rc;
}

enum exit_code cmd_numerator_compat(const struct invocation *invocation)
{
    struct number_version state, data;
    const char *misfit;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (read_version(invocation, invocation->arguments[0], &state, &err) ||
        read_version(invocation, invocation->arguments[1], &data, &err))
        return fail(&err);
    misfit = number_version_misfit(&state, &data);
    if (misfit)
        printf("no: %s\n", misfit);
    else
        printf("yes: leave out values that are older than a number's owner\n");
    return misfit ? EXIT_FAILED : EXIT_OK;
}

static void print_state(const struct number_state *state)
{
    struct number_version version = number_state_version(state);

    printf("version  %" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32 "\n", version.kind,
           version.scheme, version.rebuild, version.generation);
    if (number_state_lineage(state))
        printf("lineage  %" PRIu32 "\n", number_state_lineage(state));
    printf("keys     %" PRIu64 "\n", number_state_key_count(state));
    for (uint32_t i = 0; i < number_state_shard_count(state); i++)
        if (number_state_shard_size(state, i) > 0)
            printf("shard    %" PRIu32 ": numbers up to %" PRIu32 "\n", i,
                   number_state_shard_size(state, i) - 1);
}

enum exit_code cmd_numerator_inspect(const struct invocation *invocation)
{
    const char *table = invocation_option(invocation, "docs-table");
    const char *names[] = {invocation->arguments[0], table};
    struct number_state *state = NULL;
    struct blob *blob;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    rc = open_blob_of(invocation, names, 2, &blob, &err);
    if (!rc)
        rc = number_state_load(names[0], blob, &state, &err);
    if (!rc && table)
        rc = number_state_tabulate(state, invocation_option(invocation, "key-columns"), table, blob,
                                   &err);
    if (!rc)
        print_state(state);
    number_state_free(state);
    blob_close(blob);
    return rc ? fail(&err) : EXIT_OK;
}

/* 0: the one that serves. */
static int find_epoch(const struct client_view *view, int64_t epoch,
                      const struct epoch_view **found, struct err *err)
{
    *found = client_epoch(view, epoch ? epoch : view->serving_epoch);
    return *found
               ? 0
               : err_set(err, ERR_NOT_FOUND, "client %s has no epoch %" PRId64, view->name, epoch);
}

static int export_shard(struct store *store, const char *client, int64_t epoch_no, uint64_t shard,
                        const char *path, struct number_state **state, struct err *err)
{
    const struct numbering *numbering = NULL;
    const struct epoch_view *epoch;
    /* live numbers go by time; a run on them shall not give away at once what is unseen */
    const struct number_rules rules = {.ttl_generations = NUMBER_TTL_DEFAULT,
                                       .hold_generations = NUMBER_HOLD_DEFAULT};
    struct clients *clients = clients_new(store, clock_system());
    const struct client_view *view = NULL;
    int rc = clients_find(clients, client, true, &view, err);

    if (!rc)
        rc = find_epoch(view, epoch_no, &epoch, err);
    if (!rc)
        numbering = client_numbering(view, epoch);
    if (!rc && shard >= numbering->scheme)
        rc = err_set(err, ERR_NOT_FOUND,
                     "epoch %" PRId64 " of client %s has the shards 0 to %" PRIu32, epoch->epoch,
                     client, numbering->scheme - 1);
    if (!rc)
        rc = number_state_export(store, numbering->space, (uint32_t)shard, numbering->scheme,
                                 &rules, state, err);
    if (!rc)
        rc = number_state_write(*state, path, err);
    client_unref(view);
    clients_free(clients);
    return rc;
}

enum exit_code cmd_numerator_export(const struct invocation *invocation)
{
    const char *client = invocation_option(invocation, "client");
    const char *shard_text = invocation_option(invocation, "shard");
    const char *epoch_text = invocation_option(invocation, "epoch");
    int64_t epoch = 0;
    struct number_state *state = NULL;
    struct store *joined = NULL; /* beside a server */
    struct desk desk;
    uint64_t shard = 0;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (shard_text && !text_to_u64(bytes_of(shard_text), &shard)) {
        complain("--shard=%.64s: expected a number", shard_text);
        return EXIT_USAGE;
    }
    if (epoch_text && (!text_to_i64(bytes_of(epoch_text), &epoch) || epoch < 1)) {
        complain("--epoch=%.64s: expected a number, 1 or more", epoch_text);
        return EXIT_USAGE;
    }
    if (desk_open(invocation, false, &desk, &err))
        return fail(&err);
    rc = desk.remote ? backends_join_store(&invocation->config, clock_system(), invocation->arena,
                                           &joined, &err)
                     : 0;
    if (!rc)
        rc = export_shard(desk.remote ? joined : desk.process.backends.store,
                          client ? client : "default", epoch, shard, invocation->arguments[0],
                          &state, &err);
    if (!rc)
        print_state(state);
    number_state_free(state);
    store_close(joined);
    desk_close(&desk);
    return rc ? fail(&err) : EXIT_OK;
}

struct importing {
    const char *name;
    const struct client_view *client; /* NULL: it is made, unless the state is refused */
    const struct number_state *state;
};

static int import_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct importing *importing = arg;
    const struct client_view *client = importing->client;
    uint32_t rebuild = number_state_version(importing->state).rebuild;
    int64_t now_us = clock_wall_us(clock_system());
    int64_t id = client ? client->id : 0;
    uint32_t shard_count =
        client ? client->shard_count : number_state_shard_count(importing->state);
    int rc = client
                 ? epoch_take_rebuild(tx, client, rebuild, err)
                 : epoch_make_client(tx, importing->name, shard_count, rebuild, now_us, &id, err);

    return rc ? rc : number_state_import(tx, id, shard_count, importing->state, now_us, err);
}

static int import_state(struct store *store, const char *client, const struct number_state *state,
                        struct err *err)
{
    struct clients *clients = clients_new(store, clock_system());
    const struct client_view *view = NULL;
    int rc = clients_find(clients, client, true, &view, err);

    if (!rc || rc == ERR_NOT_FOUND)
        rc = store_write(store, import_tx, &(struct importing){client, rc ? NULL : view, state},
                         err);
    client_unref(view);
    clients_free(clients);
    return rc;
}

enum exit_code cmd_numerator_import(const struct invocation *invocation)
{
    const char *client = invocation_option(invocation, "client");
    const char *name = invocation->arguments[0];
    struct number_state *state = NULL;
    struct blob *blob = NULL;
    struct desk desk;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (desk_open(invocation, true, &desk, &err))
        return fail(&err);
    if (desk.remote)
        rc = err_set(&err, ERR_PRECONDITION,
                     "a server runs on the data directory: stop it to give it numbers");
    else
        rc = open_blob_of(invocation, &name, 1, &blob, &err);
    if (!rc)
        rc = number_state_load(name, blob, &state, &err);
    if (!rc)
        rc = import_state(desk.process.backends.store, client ? client : "default", state, &err);
    if (!rc)
        print_state(state);
    number_state_free(state);
    blob_close(blob);
    desk_close(&desk);
    return rc ? fail(&err) : EXIT_OK;
}
