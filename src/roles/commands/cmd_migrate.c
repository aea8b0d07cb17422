/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_migrate.c - torg migrate. */
#include <stdio.h>

#include "base/clock.h"
#include "base/object.h"
#include "roles/commands/command.h"
#include "roles/processes/backends.h"
#include "roles/processes/data_dir.h"

enum exit_code cmd_migrate(const struct invocation *invocation)
{
    struct data_dir dir = DATA_DIR_CLOSED;
    struct store *store = NULL;
    size_t applied = 0;
    struct err err;
    int rc = 0;

    object_check(invocation, INVOCATION_MAGIC);
    /* A store elsewhere is shared by many machines: it needs no data directory here. */
    if (!*config_text(&invocation->config, SETTING_STORE_URL))
        rc = data_dir_open(config_text(&invocation->config, SETTING_DATA_DIR), true, &dir, &err);
    if (!rc)
        rc = backends_open_store(&invocation->config, clock_system(), invocation->arena, &store,
                                 &applied, &err);
    store_close(store);
    data_dir_close(&dir);
    if (rc)
        return fail(&err);
    if (invocation->json)
        printf("{\"applied\": %zu}\n", applied);
    else if (applied)
        printf("%zu %s applied\n", applied, applied == 1 ? "migration" : "migrations");
    else
        puts("the store is up to date");
    return EXIT_OK;
}
