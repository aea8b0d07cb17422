/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of access/: the life of a key, who is refused and why, the audit log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "access/audit.h"
#include "access/bounds.h"
#include "access/key_ring.h"
#include "access/keys.h"
#include "access/scope.h"
#include "base/log.h"
#include "base/memory.h"
#include "patience.h"
#include "store/migrate.h"

#define START_US (1800000000LL * SECOND_US)

struct fixture {
    struct store *store;
    struct clock_manual clock;
    struct key_ring *ring;
    struct arena *arena;
    struct violations violations;
};

static int setup(void **state)
{
    struct fixture *fixture = mem_zero(sizeof(*fixture));
    struct key_ring_options options = {.clock = &fixture->clock.base, .manual = true};
    struct err err;

    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_ERROR, 2);
    clock_manual_init(&fixture->clock, START_US);
    fixture->arena = arena_new();
    fixture->violations = violations_in(fixture->arena);
    if (store_open("sqlite::memory:", &fixture->store, &err) ||
        store_migrate(fixture->store, NULL, &err))
        fail_msg("%s", err.text);
    options.store = fixture->store;
    if (key_ring_open(&options, &fixture->ring, &err))
        fail_msg("%s", err.text);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    key_ring_close(fixture->ring);
    store_close(fixture->store);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static int64_t now(struct fixture *fixture)
{
    return clock_wall_us(&fixture->clock.base);
}

static int create(struct fixture *fixture, const struct key_request *request, struct key *key,
                  char text[KEY_TEXT_LENGTH + 1], struct err *err)
{
    fixture->violations = violations_in(fixture->arena);
    return keys_create(fixture->store, request, "local", now(fixture), &fixture->violations, key,
                       text, err);
}

static const char *const search_scope[] = {"search"};

static struct key_request request_named(const char *name)
{
    return (struct key_request){
        .name = name, .scopes = search_scope, .scope_count = 1, .seller = "", .client = ""};
}

static int show_for(struct fixture *fixture, const char *authorization, struct bytes seller,
                    struct identity *identity, struct err *err)
{
    struct authenticator *authenticator = key_ring_authenticator(fixture->ring);

    return authenticator->authenticate(
        authenticator, &(struct credential){bytes_of(authorization), seller}, identity, err);
}

static int show(struct fixture *fixture, const char *authorization, struct identity *identity,
                struct err *err)
{
    return show_for(fixture, authorization, BYTES_EMPTY, identity, err);
}

static int show_key(struct fixture *fixture, const char *text, struct identity *identity,
                    struct err *err)
{
    return show(fixture, arena_printf(fixture->arena, "Bearer %s", text), identity, err);
}

static void a_key_has_its_form_and_no_two_are_alike(void **state)
{
    struct key keys[50];
    char texts[50][KEY_TEXT_LENGTH + 1];
    char id[KEY_ID_LENGTH + 1];
    uint8_t hash[KEY_HASH_SIZE];
    unsigned letters[256] = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        key_generate(&keys[i], texts[i]);
        assert_int_equal(strlen(texts[i]), KEY_TEXT_LENGTH);
        assert_int_equal(strncmp(texts[i], "torg_", 5), 0);
        assert_true(key_parse(bytes_of(texts[i]), id, hash));
        assert_string_equal(id, keys[i].id);
        assert_true(key_hash_equal(hash, keys[i].hash));
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(keys[i].id, keys[j].id);
            assert_false(key_hash_equal(keys[i].hash, keys[j].hash));
        }
        for (const char *at = texts[i] + 5; *at; at++)
            letters[(uint8_t)*at]++;
    }
    for (const char *at = "0Az9Z"; *at; at++) /* 2650 draws: a letter that is missing is a bug */
        assert_true(letters[(uint8_t)*at] > 0);
}

static void what_has_not_the_form_of_a_key_is_refused(void **state)
{
    struct key key;
    char text[KEY_TEXT_LENGTH + 2];
    char id[KEY_ID_LENGTH + 1];
    uint8_t hash[KEY_HASH_SIZE];

    (void)state;
    key_generate(&key, text);
    assert_false(key_parse(bytes_make(text, KEY_TEXT_LENGTH - 1), id, hash));
    assert_false(key_parse(bytes_make(text, 0), id, hash));
    assert_false(key_parse(BYTES_EMPTY, id, hash));
    for (size_t i = 0; i < KEY_TEXT_LENGTH; i++) {
        char kept = text[i];

        text[i] = '-';
        assert_false(key_parse(bytes_make(text, KEY_TEXT_LENGTH), id, hash));
        text[i] = kept;
    }
    text[KEY_TEXT_LENGTH] = 'x';
    assert_false(key_parse(bytes_make(text, KEY_TEXT_LENGTH + 1), id, hash));
}

static void a_key_gives_its_holder_an_identity(void **state)
{
    struct fixture *fixture = *state;
    static const char *const scopes[] = {"offers.read", "offers.write", "offers.read"};
    const struct key_request request = {
        .name = "shop", .scopes = scopes, .scope_count = 3, .seller = "s-17", .client = "c1"};
    char text[KEY_TEXT_LENGTH + 1];
    struct identity identity;
    struct key key;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(show_key(fixture, text, &identity, &err), ERR_UNAUTHENTICATED);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    assert_int_equal(show_key(fixture, text, &identity, &err), 0);
    assert_string_equal(identity.principal, "shop");
    assert_string_equal(identity.seller, "s-17");
    assert_string_equal(identity.client, "c1");
    assert_string_equal(identity.scopes, "offers.read offers.write");
    assert_int_equal(
        show(fixture, arena_printf(fixture->arena, "bEARER   %s", text), &identity, &err), 0);
}

static void wrong_credentials_are_refused_and_nothing_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct key_request request = request_named("shop");
    char text[KEY_TEXT_LENGTH + 1];
    struct identity identity;
    struct err unknown;
    struct key key;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    assert_int_equal(show(fixture, "", &identity, &err), ERR_UNAUTHENTICATED);
    assert_non_null(strstr(err.text, "no credential"));
    assert_int_equal(show(fixture, "Basic dG9yZzp0b3Jn", &identity, &err), ERR_UNAUTHENTICATED);
    assert_int_equal(show(fixture, "Bearer ", &identity, &err), ERR_UNAUTHENTICATED);
    assert_int_equal(show(fixture, "Bearer x", &identity, &err), ERR_UNAUTHENTICATED);
    assert_int_equal(show(fixture, text, &identity, &err), ERR_UNAUTHENTICATED);

    text[KEY_TEXT_LENGTH - 1] = text[KEY_TEXT_LENGTH - 1] == 'a' ? 'b' : 'a';
    assert_int_equal(show_key(fixture, text, &identity, &err), ERR_UNAUTHENTICATED);
    assert_string_equal(identity.principal, "");
    text[5] = text[5] == 'a' ? 'b' : 'a';
    assert_int_equal(show_key(fixture, text, &identity, &unknown), ERR_UNAUTHENTICATED);
    assert_string_equal(err.text, unknown.text);
}

static void a_key_ends_at_its_expiry(void **state)
{
    struct fixture *fixture = *state;
    struct key_request request = request_named("short");
    char text[KEY_TEXT_LENGTH + 1];
    struct identity identity;
    int64_t usable;
    struct key key;
    struct err err;

    request.expires_us = START_US;
    assert_int_equal(create(fixture, &request, &key, text, &err), ERR_INVALID);
    assert_string_equal(fixture->violations.first->field, "expire_time");
    request.expires_us = START_US + 10 * SECOND_US;
    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    clock_manual_advance(&fixture->clock, 10 * SECOND_US - 1);
    assert_int_equal(show_key(fixture, text, &identity, &err), 0);
    assert_int_equal(keys_count_usable(fixture->store, now(fixture), &usable, &err), 0);
    assert_int_equal(usable, 1);
    clock_manual_advance(&fixture->clock, 1);
    assert_int_equal(show_key(fixture, text, &identity, &err), ERR_UNAUTHENTICATED);
    assert_non_null(strstr(err.text, "expired at 2027-01-15T08:00:10"));
    assert_int_equal(keys_count_usable(fixture->store, now(fixture), &usable, &err), 0);
    assert_int_equal(usable, 0);
}

static void a_revoked_key_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct key_request request = request_named("shop");
    char text[KEY_TEXT_LENGTH + 1];
    struct identity identity;
    struct key again;
    struct key key;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(create(fixture, &request, &again, text, &err), ERR_EXISTS);
    assert_int_equal(text[0], 0);
    assert_int_equal(keys_revoke(fixture->store, "nosuchkey0", "local", now(fixture), &again, &err),
                     ERR_NOT_FOUND);
    assert_int_equal(keys_revoke(fixture->store, key.id, "boss", now(fixture), &again, &err), 0);
    assert_int_equal(again.revoked_us, START_US);
    clock_manual_advance(&fixture->clock, SECOND_US);
    assert_int_equal(keys_revoke(fixture->store, key.id, "boss", now(fixture), &again, &err), 0);
    assert_int_equal(again.revoked_us, START_US);

    /* The name is free again; the old key stays useless. */
    assert_int_equal(create(fixture, &request, &again, text, &err), 0);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    assert_int_equal(show_key(fixture, text, &identity, &err), 0);
    assert_int_equal(keys_revoke(fixture->store, "shop", "boss", now(fixture), &key, &err), 0);
    assert_string_equal(key.id, again.id);
    assert_int_equal(keys_revoke(fixture->store, "shop", "boss", now(fixture), &key, &err),
                     ERR_NOT_FOUND);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    assert_int_equal(show_key(fixture, text, &identity, &err), ERR_UNAUTHENTICATED);
    assert_non_null(strstr(err.text, "is revoked"));
}

static void bad_requests_are_told_field_by_field(void **state)
{
    struct fixture *fixture = *state;
    static const char *const bad_scopes[] = {"search", "serach"};
    const struct key_request request = {.name = "a b",
                                        .scopes = bad_scopes,
                                        .scope_count = 2,
                                        .seller = "\xd0\xb6",
                                        .client = "x/y",
                                        .expires_us = 1};
    struct key_request good = request_named("");
    char text[KEY_TEXT_LENGTH + 1];
    char name[IDENTITY_NAME_SIZE + 1];
    struct key key;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), ERR_INVALID);
    assert_int_equal(fixture->violations.count, 5);
    assert_int_equal(create(fixture, &good, &key, text, &err), ERR_INVALID);
    good.name = "operator";
    assert_int_equal(create(fixture, &good, &key, text, &err), ERR_INVALID);
    memset(name, 'n', sizeof(name));
    name[IDENTITY_NAME_SIZE] = 0;
    good.name = name;
    assert_int_equal(create(fixture, &good, &key, text, &err), ERR_INVALID);
    name[IDENTITY_NAME_SIZE - 1] = 0;
    assert_int_equal(create(fixture, &good, &key, text, &err), 0);
    good = request_named("none");
    good.scope_count = 0;
    assert_int_equal(create(fixture, &good, &key, text, &err), ERR_INVALID);
    assert_string_equal(fixture->violations.first->field, "scopes");
}

static void all_scopes_together_fit_a_key(void **state)
{
    const char *names[64];
    char scopes[IDENTITY_SCOPES_SIZE];
    struct err err;

    (void)state;
    assert_true(scope_count <= ARRAY_COUNT(names));
    for (size_t i = 0; i < scope_count; i++)
        names[i] = scope_table[i].name;
    assert_int_equal(scopes_join(names, scope_count, scopes, &err), 0);
}

static void a_sellers_key_gets_no_scope_of_the_site(void **state)
{
    struct fixture *fixture = *state;
    static const char *const of_site[] = {"admin",         "catalog",     "documents", "epochs",
                                          "metrics",       "moderation",  "search",    "stages",
                                          "pipeline.read", "sellers.act", "*"};
    static const char *const own[] = {"offers.read", "offers.write"};
    struct key_request request = {.name = "shop", .seller = "s-17", .client = ""};
    char text[KEY_TEXT_LENGTH + 1];
    struct key key;
    struct err err;

    for (size_t i = 0; i < ARRAY_COUNT(of_site); i++) {
        const char *const both[] = {"offers.read", of_site[i]};

        request.scopes = both;
        request.scope_count = 2;
        assert_int_equal(create(fixture, &request, &key, text, &err), ERR_INVALID);
        assert_int_equal(fixture->violations.count, 1);
        assert_string_equal(fixture->violations.first->field, "scopes");
        assert_non_null(
            strstr(err.text, arena_printf(fixture->arena, "\"%s\" opens what", of_site[i])));
    }
    request.scopes = own;
    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    for (size_t i = 0; i < ARRAY_COUNT(of_site); i++) {
        struct key_request free_one = request_named(of_site[i][0] == '*' ? "all" : of_site[i]);

        free_one.scopes = &of_site[i];
        assert_int_equal(create(fixture, &free_one, &key, text, &err), 0);
    }
}

struct old_key {
    const char *id;
    const char *scopes;
};

static int write_scopes(struct store_tx *tx, void *arg, struct err *err)
{
    const struct old_key *old = arg;
    const struct store_value params[] = {STORE_V_TEXT(bytes_of(old->id)),
                                         STORE_V_TEXT(bytes_of(old->scopes))};

    return store_exec(tx, "UPDATE api_key SET scopes = $2 WHERE id = $1", params,
                      ARRAY_COUNT(params), NULL, err);
}

/* Keys of a time when nobody refused them. */
static void an_old_key_of_a_seller_has_lost_the_scopes_of_the_site(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *stored;
        const char *held;
    } cases[] = {
        {"offers.read stages", "offers.read"},
        {"documents search offers.write stages", "offers.write"},
        {"search", ""},
        {"*", "offers.read offers.write photos"},
        {"admin offers.write metrics", "offers.write"},
        {"offers.read offers.write", "offers.read offers.write"},
    };
    static const char *const own[] = {"offers.read"};
    struct identity identity;
    struct err err;

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct key_request request = {.name = arena_printf(fixture->arena, "k%zu", i),
                                            .scopes = own,
                                            .scope_count = 1,
                                            .seller = "s-17",
                                            .client = ""};
        char text[KEY_TEXT_LENGTH + 1];
        struct key key;
        struct old_key old = {.id = key.id, .scopes = cases[i].stored};

        assert_int_equal(create(fixture, &request, &key, text, &err), 0);
        assert_int_equal(store_write(fixture->store, write_scopes, &old, &err), 0);
        assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
        assert_int_equal(show_key(fixture, text, &identity, &err), 0);
        assert_string_equal(identity.seller, "s-17");
        assert_string_equal(identity.scopes, cases[i].held);
    }
}

static void keys_are_listed_page_by_page(void **state)
{
    struct fixture *fixture = *state;
    char text[KEY_TEXT_LENGTH + 1];
    const char *after = "";
    size_t listed = 0;
    struct err err;

    for (int i = 0; i < 7; i++) {
        struct key_request request = request_named(arena_printf(fixture->arena, "key-%d", i));
        struct key key;

        assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    }
    for (;;) {
        struct key *keys;
        size_t count;

        assert_int_equal(keys_list(fixture->store, after, 3, fixture->arena, &keys, &count, &err),
                         0);
        for (size_t i = 0; i < count; i++) {
            assert_true(strcmp(after, keys[i].id) < 0);
            after = keys[i].id;
        }
        listed += count;
        if (count < 3)
            break;
    }
    assert_int_equal(listed, 7);
}

static void every_change_has_its_audit_entry(void **state)
{
    struct fixture *fixture = *state;
    struct key_request request = request_named("shop");
    char text[KEY_TEXT_LENGTH + 1];
    struct audit_entry *entries;
    struct key key;
    size_t count;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(create(fixture, &request, &key, text, &err), ERR_EXISTS);
    assert_int_equal(
        keys_list(fixture->store, "", 1, fixture->arena, &(struct key *){NULL}, &count, &err), 0);
    assert_int_equal(audit_list(fixture->store, 0, 10, fixture->arena, &entries, &count, &err), 0);
    assert_int_equal(count, 1); /* the refused one left nothing */
    assert_string_equal(entries[0].action, "key.create");
    assert_string_equal(entries[0].principal, "local");
    assert_string_equal(entries[0].detail, "name=shop scopes=search");
    assert_int_equal(
        keys_revoke(fixture->store, entries[0].target, "boss", now(fixture), &key, &err), 0);
    assert_int_equal(keys_revoke(fixture->store, key.id, "boss", now(fixture), &key, &err), 0);
    assert_int_equal(audit_list(fixture->store, 0, 10, fixture->arena, &entries, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(entries[0].action, "key.revoke");
    assert_string_equal(entries[0].principal, "boss");
    assert_int_equal(
        audit_list(fixture->store, entries[0].seq, 10, fixture->arena, &entries, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_string_equal(entries[0].action, "key.create");
}

static void the_secret_is_nowhere_in_the_store(void **state)
{
    struct fixture *fixture = *state;
    struct key_request request = request_named("shop");
    char text[KEY_TEXT_LENGTH + 1];
    struct audit_entry *entries;
    struct key *keys;
    struct key key;
    size_t count;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(keys_list(fixture->store, "", 1, fixture->arena, &keys, &count, &err), 0);
    assert_null(
        memmem(keys, sizeof(*keys), text + KEY_TEXT_LENGTH - KEY_SECRET_LENGTH, KEY_SECRET_LENGTH));
    assert_int_equal(audit_list(fixture->store, 0, 1, fixture->arena, &entries, &count, &err), 0);
    assert_null(strstr(entries[0].detail, text + KEY_TEXT_LENGTH - KEY_SECRET_LENGTH));
}

static void temporary_keys_work_without_the_store(void **state)
{
    struct fixture *fixture = *state;
    char text[KEY_TEXT_LENGTH + 1];
    struct identity identity;
    struct key *keys;
    size_t count;
    struct err err;

    key_ring_add_temporary(fixture->ring, "start", "*", text);
    assert_int_equal(show_key(fixture, text, &identity, &err), 0);
    assert_string_equal(identity.principal, "start");
    assert_string_equal(identity.scopes, "*");
    assert_int_equal(keys_list(fixture->store, "", 1, fixture->arena, &keys, &count, &err), 0);
    assert_int_equal(count, 0);
}

static void keys_that_cannot_be_checked_for_long_are_refused(void **state)
{
    static const char *const writing[] = {"search", "offers.write"};
    struct fixture *fixture = *state;
    struct key_request request = request_named("shop");
    struct key_request front = request_named("front"); /* it can only search */
    char searching[KEY_TEXT_LENGTH + 1];
    char stored[KEY_TEXT_LENGTH + 1];
    char temporary[KEY_TEXT_LENGTH + 1];
    struct identity identity;
    struct key key;
    struct err err;

    request.scopes = writing;
    request.scope_count = ARRAY_COUNT(writing);
    key_ring_add_temporary(fixture->ring, "operator", "*", temporary);
    assert_int_equal(create(fixture, &request, &key, stored, &err), 0);
    assert_int_equal(create(fixture, &front, &key, searching, &err), 0);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    clock_manual_advance(&fixture->clock, (int64_t)KEY_STALE_MS_MAX * MS_US);
    assert_int_equal(show_key(fixture, stored, &identity, &err), 0);
    clock_manual_advance(&fixture->clock, 1);
    assert_int_equal(key_ring_age_us(fixture->ring), (int64_t)KEY_STALE_MS_MAX * MS_US + 1);
    assert_int_equal(show_key(fixture, stored, &identity, &err), ERR_UNAVAILABLE);
    assert_int_equal(show_key(fixture, searching, &identity, &err), 0);
    assert_int_equal(show_key(fixture, temporary, &identity, &err), 0);
    clock_manual_advance(&fixture->clock,
                         (int64_t)(KEY_STALE_SEARCH_MS_MAX - KEY_STALE_MS_MAX) * MS_US);
    assert_int_equal(show_key(fixture, searching, &identity, &err), ERR_UNAVAILABLE);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    assert_int_equal(show_key(fixture, stored, &identity, &err), 0);
}

static int64_t real_ms(void)
{
    return clock_mono_us(clock_system()) / MS_US;
}

/* A change from outside is learned by the ring's own thread. */
static void a_running_ring_learns_of_a_revocation_within_a_second(void **state)
{
    struct fixture *fixture = *state;
    const struct key_ring_options options = {.store = fixture->store};
    struct key_request request = request_named("shop");
    struct authenticator *authenticator;
    char text[KEY_TEXT_LENGTH + 1];
    const char *shown;
    struct identity identity;
    struct key_ring *ring;
    int64_t start_ms;
    struct key key;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(key_ring_open(&options, &ring, &err), 0);
    authenticator = key_ring_authenticator(ring);
    shown = arena_printf(fixture->arena, "Bearer %s", text);
    assert_int_equal(authenticator->authenticate(authenticator,
                                                 &(struct credential){bytes_of(shown), BYTES_EMPTY},
                                                 &identity, &err),
                     0);
    assert_int_equal(keys_revoke(fixture->store, key.id, "local", 1, &key, &err), 0);
    start_ms = real_ms();
    while (!authenticator->authenticate(
        authenticator, &(struct credential){bytes_of(shown), BYTES_EMPTY}, &identity, &err)) {
        const struct timespec pause = {.tv_nsec = 1000 * 1000};

        assert_true(real_ms() - start_ms < PATIENCE_MS);
        nanosleep(&pause, NULL);
    }
    print_message("# refused after %jd ms\n", (intmax_t)(real_ms() - start_ms));
    key_ring_close(ring);
}

struct crowd {
    struct authenticator *authenticator;
    const char *shown;
    _Atomic bool done;
    _Atomic unsigned refused;
};

static void *keep_asking(void *arg)
{
    struct crowd *crowd = arg;
    struct identity identity;

    while (!crowd->done) {
        if (crowd->authenticator->authenticate(
                crowd->authenticator, &(struct credential){bytes_of(crowd->shown), BYTES_EMPTY},
                &identity, NULL))
            crowd->refused++;
    }
    return NULL;
}

static void a_good_key_is_good_throughout_changes_of_others(void **state)
{
    struct fixture *fixture = *state;
    struct key_request request = request_named("steady");
    struct crowd crowd = {.authenticator = key_ring_authenticator(fixture->ring)};
    char text[KEY_TEXT_LENGTH + 1];
    pthread_t threads[2];
    struct key key;
    struct err err;

    assert_int_equal(create(fixture, &request, &key, text, &err), 0);
    assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    crowd.shown = arena_printf(fixture->arena, "Bearer %s", text);
    for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_asking, &crowd), 0);
    for (int i = 0; i < 40; i++) {
        request.name = arena_printf(fixture->arena, "other-%d", i);
        assert_int_equal(create(fixture, &request, &key, text, &err), 0);
        assert_int_equal(key_ring_refresh(fixture->ring, &err), 0);
    }
    crowd.done = true;
    for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.refused, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_its_form_and_no_two_are_alike),
        cmocka_unit_test(what_has_not_the_form_of_a_key_is_refused),
        cmocka_unit_test(all_scopes_together_fit_a_key),
        TEST(a_key_gives_its_holder_an_identity),
        TEST(wrong_credentials_are_refused_and_nothing_is_told),
        TEST(a_key_ends_at_its_expiry),
        TEST(a_revoked_key_is_refused),
        TEST(bad_requests_are_told_field_by_field),
        TEST(a_sellers_key_gets_no_scope_of_the_site),
        TEST(an_old_key_of_a_seller_has_lost_the_scopes_of_the_site),
        TEST(keys_are_listed_page_by_page),
        TEST(every_change_has_its_audit_entry),
        TEST(the_secret_is_nowhere_in_the_store),
        TEST(temporary_keys_work_without_the_store),
        TEST(keys_that_cannot_be_checked_for_long_are_refused),
        TEST(a_good_key_is_good_throughout_changes_of_others),
        TEST(a_running_ring_learns_of_a_revocation_within_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
