/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_schema.c - the schema of the next epoch: what there is, with changes. */
#include "registry/clients/epoch_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/violation.h"
#include "registry/bounds.h"

#define TYPE(name) TORG__V1__SCHEMA_FIELD__TYPE__##name

static const struct epoch_field fields[] = {
    {.number = 1, .type = TYPE(TEXT), .name = "title", .weight = 1},
    {.number = 2, .type = TYPE(INTEGER), .name = "year", .filter = true},
};

static struct client_view client_with_fields(struct arena *arena)
{
    struct client_view client = {.id = 1,
                                 .name = "shop",
                                 .shard_count = 1,
                                 .writing_epoch = 3,
                                 .serving_epoch = 3,
                                 .epoch_count = 2};

    client.epochs[0].epoch = 3;
    client.epochs[1].epoch = 5;
    epoch_set_fields(&client.epochs[0], fields, 2, arena);
    epoch_set_fields(&client.epochs[1], fields, 1, arena);
    return client;
}

static Torg__V1__SchemaField change_of(const char *name, Torg__V1__SchemaField__Type type)
{
    Torg__V1__SchemaField change = TORG__V1__SCHEMA_FIELD__INIT;

    change.name = (char *)name;
    change.type = type;
    return change;
}

static void fields_are_kept_changed_and_added(void **state)
{
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct client_view client = client_with_fields(arena);
    Torg__V1__SchemaField year = change_of("year", TYPE(KEYWORD));
    Torg__V1__SchemaField place = change_of("place", TYPE(POINT));
    Torg__V1__SchemaField *changes[] = {&year, &place};
    struct epoch_proposal proposal;
    const struct epoch_field *found;
    struct err err;

    (void)state;
    assert_int_equal(epoch_propose(&client, changes, 2, &reasons, &proposal, &err), 0);
    assert_int_equal(proposal.view.epoch, 6); /* above all others, not only the one written */
    assert_int_equal(proposal.view.state, TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING);
    assert_int_equal(proposal.view.field_count, 3);
    found = epoch_find_field(&proposal.view, bytes_of("title"));
    assert_non_null(found);
    assert_int_equal(found->type, TYPE(TEXT));
    found = epoch_find_field(&proposal.view, bytes_of("year"));
    assert_non_null(found);
    assert_int_equal(found->type, TYPE(KEYWORD));
    assert_non_null(epoch_find_field(&proposal.view, bytes_of("place")));
    for (uint32_t i = 0; i < proposal.view.field_count; i++)
        assert_int_equal(proposal.view.fields[i].number, i + 1);
    arena_free(arena);
}

static void what_is_wrong_is_told_by_field_and_changes_nothing(void **state)
{
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct client_view client = client_with_fields(arena);
    Torg__V1__SchemaField good = change_of("place", TYPE(POINT));
    Torg__V1__SchemaField bad = change_of("color", TYPE(TYPE_UNSPECIFIED));
    Torg__V1__SchemaField *changes[] = {&good, &bad};
    struct epoch_proposal proposal;
    struct err err;

    (void)state;
    assert_int_equal(epoch_propose(&client, changes, 2, &reasons, &proposal, &err), ERR_INVALID);
    assert_int_equal(reasons.count, 1);
    assert_non_null(strstr(reasons.first->field, "fields[1]"));
    assert_non_null(strstr(err.text, "nothing was changed"));
    arena_free(arena);
}

static void too_many_are_refused_before_they_are_read(void **state)
{
    struct arena *arena = arena_new();
    struct violations reasons = violations_in(arena);
    struct client_view client = client_with_fields(arena);
    struct epoch_proposal proposal;
    struct err err;

    (void)state;
    assert_int_equal(
        epoch_propose(&client, NULL, DOCUMENT_SCHEMA_COUNT_MAX + 1, &reasons, &proposal, &err),
        ERR_INVALID);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_kept_changed_and_added),
        cmocka_unit_test(what_is_wrong_is_told_by_field_and_changes_nothing),
        cmocka_unit_test(too_many_are_refused_before_they_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
