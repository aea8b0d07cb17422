/* SPDX-License-Identifier: Apache-2.0 */
/* Names are found in a value of each kind: one, a mask, and a list. */
#include "query/filter/ordinals.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/memory.h"

/* Keeps the names in a column of the field, in document 1; the ordinals are to be these. */
static void check(const struct field *field, const char *const *names, const uint32_t *wanted,
                  uint32_t wanted_count)
{
    struct schema *schema = schema_new();
    struct epoch *epoch = epoch_new();
    struct columns *columns = columns_new(schema, epoch);
    struct column_change change = {0};
    uint32_t kept[ORDINALS_KEPT_COUNT];
    struct bytes keywords[8];
    const uint32_t *ordinals;
    uint32_t count;
    struct err err;
    int rc = schema_add(schema, field, &change.field, &err);

    assert_int_equal(rc, 0);
    assert_true(wanted_count <= ARRAY_COUNT(keywords));
    for (uint32_t i = 0; i < wanted_count; i++)
        keywords[i] = bytes_of(names[i]);
    for (uint32_t i = 0; i < wanted_count && !field->multiple; i++)
        rc |= columns_keyword(columns, change.field, keywords[i], &change.value, &err);
    if (field->multiple)
        rc = columns_keywords(columns, change.field, keywords, wanted_count, &change.value, &err);
    assert_int_equal(rc, 0);
    assert_int_equal(columns_set(columns, 1, &change, 1, &err), 0);
    ordinals = ordinals_of(columns_column(columns, change.field), change.value, kept, &count);
    if (!field->multiple)
        wanted += wanted_count - 1; /* the last that was given */
    assert_int_equal(count, field->multiple ? wanted_count : 1);
    assert_memory_equal(ordinals, wanted, count * sizeof(ordinals[0]));
    columns_free(columns);
    epoch_free(epoch);
    schema_free(schema);
}

static const char *const colours[] = {"red", "green", "blue"};
static const uint32_t in_order[] = {0, 1, 2};

static void one_name_is_the_value(void **state)
{
    const struct field field = {.name = "colour", .type = FIELD_KEYWORD};

    check(&field, colours, in_order, ARRAY_COUNT(colours));
}

static void names_are_bits_of_a_mask(void **state)
{
    const struct field field = {
        .name = "colours", .type = FIELD_KEYWORD, .multiple = true, .value_count_max = 3};

    check(&field, colours, in_order, ARRAY_COUNT(colours));
}

static void names_are_in_a_list(void **state)
{
    const struct field field = {.name = "colours", .type = FIELD_KEYWORD, .multiple = true};

    check(&field, colours, in_order, ARRAY_COUNT(colours));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_name_is_the_value),
        cmocka_unit_test(names_are_bits_of_a_mask),
        cmocka_unit_test(names_are_in_a_list),
    };

    return cmocka_run_group_tests_name("ordinals", tests, NULL, NULL);
}
