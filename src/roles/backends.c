/* SPDX-License-Identifier: Apache-2.0 */
/* backends.c - see backends.h. */
#include "roles/backends.h"

#include "access/audit.h"
#include "base/clock.h"
#include "roles/data_dir.h"
#include "store/migrate.h"

static int record_migration(struct store *store, struct arena *arena, size_t applied,
                            struct err *err)
{
    const struct audit_entry entry = {
        .at_us = clock_wall_us(clock_system()),
        .principal = "local",
        .action = "store.migrate",
        .target = store_backend(store),
        .detail = arena_printf(arena, "%zu applied, by torg " TORG_VERSION, applied),
    };

    return audit_record(store, &entry, err);
}

int backends_open_store(const struct config *config, struct arena *arena, struct store **store,
                        size_t *applied, struct err *err)
{
    const char *url = config_text(config, SETTING_STORE_URL);
    size_t count = 0;
    int rc;

    if (!*url)
        url = arena_printf(arena, "sqlite:%s/store.sqlite", config_text(config, SETTING_DATA_DIR));
    rc = store_open(url, store, err);
    if (rc)
        return rc;
    rc = store_migrate(*store, &count, err);
    if (!rc && count)
        rc = record_migration(*store, arena, count, err);
    if (rc) {
        store_close(*store);
        *store = NULL;
    }
    if (applied)
        *applied = count;
    return rc;
}
