/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - see keys.h. */
#include "access/keys.h"

#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "access/bounds.h"
#include "access/scope.h"
#include "base/clock.h"
#include "base/memory.h"

/* --- rows --- */

/* A binding to nobody is NULL in the store and "" in memory. */
static struct store_value nullable(const char *text)
{
    return *text ? STORE_V_STRING(text) : STORE_V_NULL;
}

#define KEY_COLUMNS "id, name, hash, scopes, seller, client, created_us, expires_us, revoked_us"
enum { KEY_COLUMN_COUNT = 9 };

static bool copy_text(struct store_value column, char *to, size_t room)
{
    to[0] = 0;
    if (column.type == STORE_NULL)
        return true;
    if (column.type != STORE_TEXT || column.bytes.size >= room)
        return false;
    memcpy(to, column.bytes.data, column.bytes.size);
    to[column.bytes.size] = 0;
    return true;
}

static int read_row(const struct store_value *columns, size_t column_count, struct key *key,
                    struct err *err)
{
    *key = (struct key){.created_us = 0};
    if (column_count != KEY_COLUMN_COUNT || !copy_text(columns[0], key->id, sizeof(key->id)) ||
        !copy_text(columns[1], key->name, sizeof(key->name)) || columns[2].type != STORE_BLOB ||
        columns[2].bytes.size != KEY_HASH_SIZE ||
        !copy_text(columns[3], key->scopes, sizeof(key->scopes)) ||
        !copy_text(columns[4], key->seller, sizeof(key->seller)) ||
        !copy_text(columns[5], key->client, sizeof(key->client)) || columns[6].type != STORE_INT ||
        columns[7].type != STORE_INT || columns[8].type != STORE_INT)
        return err_set(err, ERR_CORRUPT, "a row of api_key is damaged (id \"%s\")", key->id);
    memcpy(key->hash, columns[2].bytes.data, KEY_HASH_SIZE);
    key->created_us = columns[6].integer;
    key->expires_us = columns[7].integer;
    key->revoked_us = columns[8].integer;
    return 0;
}

int keys_read_page(struct store_tx *tx, const char *after_id, struct key *keys, size_t max,
                   size_t *count, struct err *err)
{
    struct store_rows rows =
        store_select(tx, "SELECT " KEY_COLUMNS " FROM api_key WHERE id > $1 ORDER BY id LIMIT $2",
                     STORE_WITH(STORE_V_STRING(after_id), STORE_V_INT((int64_t)max)));
    size_t done;
    int rc;

    for (done = 0; done < max && store_next(&rows); done++)
        rows.rc = read_row(rows.columns, rows.column_count, &keys[done], err);
    rc = store_rows_end(&rows, err);
    *count = rc ? 0 : done;
    return rc;
}

/* By id, or else by the name of a key that is not revoked; of a rotation's two, the newer. */
static int find_row(struct store_tx *tx, const char *id_or_name, struct key *key, struct err *err)
{
    struct store_rows rows = store_select(tx,
                                          "SELECT " KEY_COLUMNS " FROM api_key "
                                          "WHERE id = $1 OR (name = $1 AND revoked_us = 0) "
                                          "ORDER BY CASE WHEN id = $1 THEN 0 ELSE 1 END, "
                                          "created_us DESC, expires_us, id LIMIT 1",
                                          STORE_WITH(STORE_V_STRING(id_or_name)));

    if (store_next(&rows))
        rows.rc = read_row(rows.columns, rows.column_count, key, err);
    else if (!rows.rc)
        rows.rc = err_set(err, ERR_NOT_FOUND, "there is no key %.64s; torg key list shows them all",
                          id_or_name);
    return store_rows_end(&rows, err);
}

int keys_read_state(struct store_tx *tx, struct keys_state *state, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT CAST(COUNT(*) AS BIGINT), "
                     "CAST(COALESCE(SUM(CASE WHEN revoked_us > 0 THEN 1 ELSE 0 END), "
                     "0) AS BIGINT) FROM api_key",
                     NULL, 0);

    *state = (struct keys_state){0};
    if (store_next(&rows))
        *state = (struct keys_state){.count = rows.columns[0].integer,
                                     .revoked_count = rows.columns[1].integer};
    return store_rows_end(&rows, err);
}

/* --- create --- */

static bool is_name(const char *name, bool may_be_empty)
{
    return *name ? identity_is_name(bytes_of(name)) : may_be_empty;
}

static void check_request(const struct key_request *request, int64_t now_us, struct key *key,
                          struct violations *violations)
{
    static const char form[] = "expected 1 to %d letters, digits, and . _ - @";
    struct err err;

    if (!is_name(request->name, false))
        violations_add(violations, "name", form, IDENTITY_NAME_SIZE - 1);
    else if (strcmp(request->name, "start") == 0 || strcmp(request->name, "operator") == 0 ||
             strcmp(request->name, "local") == 0)
        violations_add(violations, "name",
                       "start, operator and local name keys of the server's "
                       "own; choose another");
    if (!is_name(request->seller, true))
        violations_add(violations, "seller", form, IDENTITY_NAME_SIZE - 1);
    if (!is_name(request->client, true))
        violations_add(violations, "client", form, IDENTITY_NAME_SIZE - 1);
    if (scopes_join(request->scopes, request->scope_count, key->scopes, &err))
        violations_add(violations, "scopes", "%s", err.text);
    else if (scopes_check_bound(request->scopes, request->scope_count,
                                scope_bindings(request->seller, request->client), &err))
        violations_add(violations, "scopes", "%s", err.text);
    if (request->expires_us && request->expires_us <= now_us)
        violations_add(violations, "expire_time", "the key would be expired at once");
}

struct creation {
    const struct key *key;
    const struct audit_entry *entry;
};

static int refuse_taken_name(struct store_tx *tx, const struct key *key, struct err *err)
{
    int64_t taken = 0;
    int rc = store_find_integer(tx,
                                "SELECT CAST(COUNT(*) AS BIGINT) FROM api_key "
                                "WHERE name = $1 AND revoked_us = 0",
                                STORE_WITH(STORE_V_STRING(key->name)), &taken, err);

    if (!rc && taken)
        rc = err_set(err, ERR_EXISTS,
                     "a key named %s exists; revoke it first, or choose another name", key->name);
    return rc;
}

static int refuse_too_many(struct store_tx *tx, struct err *err)
{
    struct keys_state state;
    int rc = keys_read_state(tx, &state, err);

    if (!rc && state.count >= KEY_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT, "there are %jd keys already, the limit is %d",
                     (intmax_t)state.count, KEY_COUNT_MAX);
    return rc;
}

static int insert_row(struct store_tx *tx, const struct key *key, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO api_key (id, name, hash, scopes, seller, client, created_us, "
                      "expires_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                      STORE_WITH(STORE_V_STRING(key->id), STORE_V_STRING(key->name),
                                 STORE_V_BLOB(bytes_make(key->hash, KEY_HASH_SIZE)),
                                 STORE_V_STRING(key->scopes), nullable(key->seller),
                                 nullable(key->client), STORE_V_INT(key->created_us),
                                 STORE_V_INT(key->expires_us)),
                      NULL, err);
}

static int insert_key(struct store_tx *tx, void *arg, struct err *err)
{
    const struct creation *creation = arg;
    int rc = refuse_too_many(tx, err);

    if (!rc)
        rc = refuse_taken_name(tx, creation->key, err);
    if (!rc)
        rc = insert_row(tx, creation->key, err);
    return rc ? rc : audit_add(tx, creation->entry, err);
}

int keys_create(struct store *store, const struct key_request *request, const char *principal,
                int64_t now_us, struct violations *violations, struct key *key,
                char text[KEY_TEXT_LENGTH + 1], struct err *err)
{
    size_t before = violations->count;
    char detail[IDENTITY_NAME_SIZE * 4 + IDENTITY_SCOPES_SIZE];
    struct audit_entry entry = {.at_us = now_us, .principal = principal, .action = "key.create"};
    struct creation creation = {.key = key, .entry = &entry};
    int rc;

    text[0] = 0;
    *key = (struct key){.created_us = now_us, .expires_us = request->expires_us};
    check_request(request, now_us, key, violations);
    if (violations->count > before)
        return err_set(err, ERR_INVALID, "%s: %s", violations->first->field,
                       violations->first->reason);
    snprintf(key->name, sizeof(key->name), "%s", request->name);
    snprintf(key->seller, sizeof(key->seller), "%s", request->seller);
    snprintf(key->client, sizeof(key->client), "%s", request->client);
    key_generate(key, text);
    snprintf(detail, sizeof(detail), "name=%s scopes=%s%s%s%s%s", key->name, key->scopes,
             *key->seller ? " seller=" : "", key->seller, *key->client ? " client=" : "",
             key->client);
    entry.target = key->id;
    entry.detail = detail;
    rc = store_write(store, insert_key, &creation, err);
    if (rc) {
        text[0] = 0;
        return rc;
    }
    audit_log(&entry);
    return 0;
}

/* --- list, revoke, count --- */

struct listing {
    const char *after_id;
    struct key *keys;
    size_t max;
    size_t count;
};

static int list_keys(struct store_tx *tx, void *arg, struct err *err)
{
    struct listing *listing = arg;

    return keys_read_page(tx, listing->after_id, listing->keys, listing->max, &listing->count, err);
}

int keys_list(struct store *store, const char *after_id, size_t max, struct arena *arena,
              struct key **keys, size_t *count, struct err *err)
{
    struct listing listing = {.after_id = after_id, .max = max};
    int rc;

    listing.keys = arena_array(arena, max, sizeof(*listing.keys));
    rc = store_read(store, list_keys, &listing, err);
    *keys = listing.keys;
    *count = rc ? 0 : listing.count;
    return rc;
}

struct revocation {
    const char *id_or_name;
    struct audit_entry entry;
    struct key *key; /* the newest of them */
    bool done;       /* false: it was revoked before */
};

static int revoke_row(struct store_tx *tx, struct revocation *revocation, struct key *key,
                      struct err *err)
{
    int rc = store_exec(tx, "UPDATE api_key SET revoked_us = $2 WHERE id = $1",
                        STORE_WITH(STORE_V_STRING(key->id), STORE_V_INT(revocation->entry.at_us)),
                        NULL, err);

    key->revoked_us = revocation->entry.at_us;
    revocation->entry.target = key->id;
    revocation->entry.detail = key->name;
    return rc ? rc : audit_add(tx, &revocation->entry, err);
}

static int revoke_key(struct store_tx *tx, void *arg, struct err *err)
{
    struct revocation *revocation = arg;
    struct key older;
    int rc = find_row(tx, revocation->id_or_name, revocation->key, err);
    bool by_name = !rc && strcmp(revocation->key->id, revocation->id_or_name) != 0;

    revocation->done = false;
    if (rc || revocation->key->revoked_us)
        return rc;
    rc = revoke_row(tx, revocation, revocation->key, err);
    /* A name means all its keys: who is in a hurry does not think of a rotation. */
    while (!rc && by_name) {
        rc = find_row(tx, revocation->id_or_name, &older, err);
        rc = rc ? rc : revoke_row(tx, revocation, &older, err);
    }
    revocation->done = true;
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

int keys_revoke(struct store *store, const char *id_or_name, const char *principal, int64_t now_us,
                struct key *key, struct err *err)
{
    struct revocation revocation = {
        .id_or_name = id_or_name,
        .key = key,
        .entry = {.at_us = now_us, .principal = principal, .action = "key.revoke"}};
    int rc = store_write(store, revoke_key, &revocation, err);

    if (!rc && revocation.done)
        audit_log(&revocation.entry);
    return rc;
}

/* --- rotate --- */

struct rotation {
    const char *id_or_name;
    int64_t old_ends_us;
    struct audit_entry entry;
    struct key *key; /* the new one: id and hash are set, the rest is the old one's */
    struct arena *arena;
};

static int refuse_third(struct store_tx *tx, const struct key *key, int64_t now_us, struct err *err)
{
    int64_t count = 0;
    int rc =
        store_find_integer(tx,
                           "SELECT CAST(COUNT(*) AS BIGINT) FROM api_key WHERE name = $1 AND "
                           "revoked_us = 0 AND (expires_us = 0 OR expires_us > $2)",
                           STORE_WITH(STORE_V_STRING(key->name), STORE_V_INT(now_us)), &count, err);

    if (!rc && count >= KEY_SECRETS_COUNT_MAX)
        rc = err_set(err, ERR_PRECONDITION,
                     "%s has %d keys in use already: wait until the old one ends, or revoke it by "
                     "its id",
                     key->name, KEY_SECRETS_COUNT_MAX);
    return rc;
}

static int end_old(struct store_tx *tx, const struct key *old, int64_t ends_us, struct err *err)
{
    if (old->expires_us && old->expires_us <= ends_us)
        return 0; /* it would have ended sooner */
    return store_exec(tx, "UPDATE api_key SET expires_us = $2 WHERE id = $1",
                      STORE_WITH(STORE_V_STRING(old->id), STORE_V_INT(ends_us)), NULL, err);
}

static int check_rotation(struct store_tx *tx, struct rotation *rotation, struct key *old,
                          struct err *err)
{
    int rc = find_row(tx, rotation->id_or_name, old, err);
    int64_t now_us = rotation->entry.at_us;

    if (!rc && (old->revoked_us || (old->expires_us && old->expires_us <= now_us)))
        rc = err_set(err, ERR_PRECONDITION, "key %s is not in use any more: make a new one",
                     old->id);
    if (!rc)
        rc = refuse_too_many(tx, err);
    return rc ? rc : refuse_third(tx, old, now_us, err);
}

static int rotate_key(struct store_tx *tx, void *arg, struct err *err)
{
    struct rotation *rotation = arg;
    struct key *key = rotation->key;
    struct key old;
    int rc = check_rotation(tx, rotation, &old, err);

    if (rc)
        return rc;
    memcpy(key->name, old.name, sizeof(key->name));
    memcpy(key->scopes, old.scopes, sizeof(key->scopes));
    memcpy(key->seller, old.seller, sizeof(key->seller));
    memcpy(key->client, old.client, sizeof(key->client));
    key->expires_us = old.expires_us;
    rc = end_old(tx, &old, rotation->old_ends_us, err);
    if (!rc)
        rc = insert_row(tx, key, err);
    rotation->entry.target = key->id;
    rotation->entry.detail =
        arena_printf(rotation->arena, "name=%s instead of %s", key->name, old.id);
    return rc ? rc : audit_add(tx, &rotation->entry, err);
}

int keys_rotate(struct store *store, const char *id_or_name, int64_t old_ends_us,
                const char *principal, int64_t now_us, struct arena *arena, struct key *key,
                char text[KEY_TEXT_LENGTH + 1], struct err *err)
{
    struct rotation rotation = {
        .id_or_name = id_or_name,
        .old_ends_us = old_ends_us > now_us ? old_ends_us : now_us,
        .entry = {.at_us = now_us, .principal = principal, .action = "key.rotate"},
        .key = key,
        .arena = arena};
    int rc;

    *key = (struct key){.created_us = now_us};
    key_generate(key, text);
    rc = store_write(store, rotate_key, &rotation, err);
    if (rc)
        text[0] = 0;
    else
        audit_log(&rotation.entry);
    return rc;
}

int keys_count_usable(struct store *store, int64_t now_us, int64_t *count, struct err *err)
{
    *count = 0;
    return store_read_integer(store,
                              "SELECT CAST(COUNT(*) AS BIGINT) FROM api_key WHERE revoked_us = 0 "
                              "AND (expires_us = 0 OR expires_us > $1)",
                              STORE_WITH(STORE_V_INT(now_us)), count, err);
}
