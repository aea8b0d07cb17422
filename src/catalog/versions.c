/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - see versions.h. */
#include "catalog/versions.h"

#include <inttypes.h>
#include <stdio.h>

#include "access/audit.h"
#include "base/memory.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "codec/gzip.h"
#include "codec/message.h"
#include "store/bounds.h"

enum { NUMBER_TEXT_SIZE = 24, DETAIL_TEXT_SIZE = 96 };

/* --- packing --- */

int catalog_pack(const Torg__V1__Catalog *message, struct buf *packed, struct err *err)
{
    struct buf wire = BUF_INIT(CATALOG_WIRE_SIZE_MAX);
    int rc = 0;

    message_encode(&message->base, &wire);
    if (!buf_failed(&wire))
        gzip_pack(buf_bytes(&wire), packed);
    if (buf_failed(&wire))
        rc = err_set(err, ERR_LIMIT, "the catalogue is larger than %d bytes as a message",
                     CATALOG_WIRE_SIZE_MAX);
    else if (buf_failed(packed) || packed->size > CATALOG_PACKED_SIZE_MAX)
        rc = err_set(err, ERR_LIMIT, "the catalogue is larger than %d bytes when packed",
                     CATALOG_PACKED_SIZE_MAX);
    buf_release(&wire);
    return rc;
}

int catalog_unpack(struct bytes packed, struct violations *violations, struct catalog **catalog,
                   struct err *err)
{
    struct buf wire = BUF_INIT(CATALOG_WIRE_SIZE_MAX);
    int rc = gzip_unpack(packed, CATALOG_WIRE_SIZE_MAX, &wire, err);

    *catalog = NULL;
    if (!rc)
        rc = catalog_from_wire(buf_bytes(&wire), violations, catalog, err);
    buf_release(&wire);
    return rc;
}

/* --- reading --- */

static int read_current(struct store_tx *tx, void *arg, struct err *err)
{
    int64_t *version = arg;
    int rc;

    *version = -1;
    rc = store_find_integer(tx, "SELECT version FROM catalog_current WHERE id = 1", NULL, 0,
                            version, err);
    if (!rc && *version < 0)
        rc = err_set(err, ERR_CORRUPT, "the row of catalog_current is missing");
    return rc;
}

int versions_current(struct store *store, int64_t *version, struct err *err)
{
    return store_read(store, read_current, version, err);
}

struct reading {
    int64_t wanted; /* 0: the one in use */
    struct arena *arena;
    struct version_info info;
    struct buf body;
    bool found;
};

static int read_version(struct store_tx *tx, void *arg, struct err *err)
{
    struct reading *reading = arg;
    struct store_rows rows;
    int rc = 0;

    reading->found = false;
    reading->info = (struct version_info){.version = reading->wanted, .applied_by = ""};
    if (!reading->wanted)
        rc = read_current(tx, &reading->info.version, err);
    if (rc || !reading->info.version)
        return rc;
    rows = store_select(
        tx, "SELECT body, applied_us, applied_by FROM catalog_version WHERE version = $1",
        &STORE_V_INT(reading->info.version), 1);
    reading->found = store_next(&rows);
    if (reading->found &&
        (rows.columns[0].type != STORE_BLOB || rows.columns[1].type != STORE_INT ||
         rows.columns[2].type != STORE_TEXT)) {
        rows.rc = err_set(err, ERR_CORRUPT, "a row of catalog_version is damaged");
    } else if (reading->found) {
        buf_reset(&reading->body);
        buf_put(&reading->body, rows.columns[0].bytes);
        reading->info.applied_us = rows.columns[1].integer;
        reading->info.applied_by = arena_text(reading->arena, rows.columns[2].bytes);
    }
    rc = store_rows_end(&rows, err);
    if (!rc && !reading->found)
        rc = err_set(err, ERR_NOT_FOUND, "there is no version %" PRId64 " of the catalogue",
                     reading->info.version);
    return rc;
}

int versions_load(struct store *store, int64_t version, struct arena *arena,
                  struct version_info *info, struct catalog **catalog, struct err *err)
{
    struct reading reading = {
        .wanted = version, .arena = arena, .body = BUF_INIT(STORE_VALUE_SIZE_MAX)};
    int rc = store_read(store, read_version, &reading, err);

    *catalog = NULL;
    if (!rc && reading.found)
        rc = catalog_unpack(buf_bytes(&reading.body), NULL, catalog, err);
    else if (!rc)
        rc = catalog_from_wire(BYTES_EMPTY, NULL, catalog, err);
    if (rc && reading.found)
        err_wrap(err, "version %" PRId64 " of the catalogue", reading.info.version);
    if (!rc)
        catalog_set_version(*catalog, reading.info.version);
    if (info)
        *info = reading.info;
    buf_release(&reading.body);
    return rc;
}

/* --- adding --- */

struct adding {
    struct bytes body;
    int64_t expected;
    const char *principal;
    int64_t now_us;
    const struct audit_entry *entry;
};

/* An actor's name without his key ("NAME#KEY"): that is for the audit log. */
static struct bytes name_of(const char *principal)
{
    return bytes_make(principal, strcspn(principal, "#"));
}

static int add_version(struct store_tx *tx, void *arg, struct err *err)
{
    const struct adding *adding = arg;
    const struct store_value numbers[] = {STORE_V_INT(adding->expected),
                                          STORE_V_INT(adding->expected + 1)};
    const struct store_value row[] = {STORE_V_INT(adding->expected + 1), STORE_V_BLOB(adding->body),
                                      STORE_V_INT(adding->now_us),
                                      STORE_V_TEXT(name_of(adding->principal))};
    int64_t changed;
    int64_t current;
    int rc;

    rc = store_exec(tx, "UPDATE catalog_current SET version = $2 WHERE id = 1 AND version = $1",
                    numbers, ARRAY_COUNT(numbers), &changed, err);
    if (rc)
        return rc;
    if (!changed) {
        rc = read_current(tx, &current, err);
        if (rc)
            return rc;
        return err_set(err, ERR_CONFLICT,
                       "version %" PRId64 " of the catalogue is in use, not %" PRId64
                       ": look at the difference again",
                       current, adding->expected);
    }
    rc = store_exec(tx,
                    "INSERT INTO catalog_version (version, body, applied_us, applied_by) "
                    "VALUES ($1, $2, $3, $4)",
                    row, ARRAY_COUNT(row), NULL, err);
    return rc ? rc : audit_add(tx, adding->entry, err);
}

int versions_add(struct store *store, const struct catalog *catalog, int64_t expected,
                 const char *principal, int64_t now_us, int64_t *version, struct err *err)
{
    struct buf body = BUF_INIT(CATALOG_PACKED_SIZE_MAX);
    char target[NUMBER_TEXT_SIZE];
    char detail[DETAIL_TEXT_SIZE];
    struct audit_entry entry = {.at_us = now_us,
                                .principal = principal,
                                .action = "catalog.apply",
                                .target = target,
                                .detail = detail};
    struct adding adding = {
        .expected = expected, .principal = principal, .now_us = now_us, .entry = &entry};
    size_t category_count;
    int rc;

    catalog_categories(catalog, &category_count);
    snprintf(target, sizeof(target), "%" PRId64, expected + 1);
    snprintf(detail, sizeof(detail), "%zu categories, %zu attributes", category_count,
             catalog_attribute_count(catalog));
    rc = catalog_pack(catalog_message(catalog), &body, err);
    adding.body = buf_bytes(&body);
    if (!rc)
        rc = store_write(store, add_version, &adding, err);
    if (!rc) {
        audit_log(&entry);
        *version = expected + 1;
    }
    buf_release(&body);
    return rc;
}
