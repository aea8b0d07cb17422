/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of synonyms on SQLite and PostgreSQL: versions, conflicts, and a second process that
 * follows. */
#include <string.h>

#include "base/memory.h"
#include "contract/cases.h"
#include "contract/place.h"
#include "search/bounds.h"
#include "search/synonyms/synonym_holder.h"
#include "search/synonyms/synonym_sets.h"

static struct store_place place;
static struct store *store;
static struct arena *arena;

static void begin(void **state)
{
    if (!store_place_open(&place, case_on_servers(state), "", &store))
        skip();
    arena = arena_new();
}

static void end(void)
{
    arena_free(arena);
    store_place_close(&place, store);
}

static int apply(const char *language, const char *text, int64_t expected, struct err *err)
{
    const struct synonym_change change = {.language = language,
                                          .text = bytes_of(text),
                                          .expected = expected,
                                          .principal = "boss#k1",
                                          .now_us = 5};

    return synonym_sets_apply(store, &change, err);
}

static bool means(struct synonym_holder *holder, const char *from, const char *to)
{
    struct synonyms *synonyms = synonyms_in_force(holder);
    bool has = synonyms_decided(synonyms, from, to, arena);

    synonyms_unref(synonyms);
    return has;
}

static void a_change_is_made_for_one_version(void **state)
{
    struct synonym_sets sets;
    struct err err;
    int64_t mark, before;

    begin(state);
    OK(synonym_sets_mark(store, &before, &err));
    OK(apply("ru", "тв, телевизор", 0, &err));
    OK(apply("en", "tv, television", 0, &err));
    assert_int_equal(apply("ru", "", 0, &err), ERR_CONFLICT);
    assert_non_null(strstr(err.text, "version 1"));
    assert_int_equal(apply("ru", "", 2, &err), ERR_CONFLICT);
    assert_int_equal(apply("de", "", 1, &err), ERR_CONFLICT);
    OK(apply("ru", "# none\n", 1, &err));
    OK(synonym_sets_mark(store, &mark, &err));
    assert_int_not_equal(mark, before);
    OK(synonym_sets_read(store, arena, &sets, &err));
    assert_int_equal(sets.count, 2);
    assert_string_equal(sets.list[0].language, "en");
    assert_int_equal(synonym_sets_find(&sets, "ru")->version, 2);
    assert_true(bytes_equal_text(synonym_sets_find(&sets, "ru")->text, "# none\n"));
    assert_string_equal(sets.list[0].applied_by, "boss");
    assert_null(synonym_sets_find(&sets, "de"));
    assert_int_equal(read_integer(store, "SELECT COUNT(*) FROM audit WHERE action = "
                                         "'synonyms.apply'"),
                     3);
    for (char language[] = "xa"; language[1] < 'a' + SYNONYM_LANGUAGE_COUNT_MAX - 2; language[1]++)
        OK(apply(language, "", 0, &err));
    assert_int_equal(apply("yy", "", 0, &err), ERR_LIMIT);
    end();
}

/* Two processes are two holders on one store. */
static void another_process_follows(void **state)
{
    struct synonym_holder *here, *there;
    struct err err;

    begin(state);
    OK(synonym_holder_open(store, false, false, &here, &err));
    OK(apply("ru", "тв => телевизор", 0, &err));
    OK(synonym_holder_open(store, false, false, &there, &err));
    assert_true(means(there, "тв", "телевизор"));
    assert_false(means(here, "тв", "телевизор"));
    OK(synonym_holder_refresh(here, &err));
    assert_true(means(here, "тв", "телевизор"));
    OK(apply("en", "tv, television", 0, &err)); /* beside the others */
    OK(apply("ru", "", 1, &err));
    OK(synonym_holder_refresh(there, &err));
    assert_true(means(there, "television", "tv"));
    assert_false(means(there, "тв", "телевизор"));
    exec(store, "UPDATE synonym_set SET body = 'x', version = 7 WHERE language = 'ru'");
    assert_int_not_equal(synonym_holder_refresh(there, &err),
                         0); /* what is damaged changes nothing */
    assert_true(means(there, "television", "tv"));
    synonym_holder_close(here);
    synonym_holder_close(there);
    end();
}

static const struct test_case cases[] = {
    CASE(a_change_is_made_for_one_version),
    CASE(another_process_follows),
};

int main(int argc, char **argv)
{
    static struct case_list list = {.name = "synonyms"};

    cases_embedded(&list, cases, ARRAY_COUNT(cases));
    cases_on_servers(&list, cases, ARRAY_COUNT(cases));
    return cases_run(&list, argc, argv);
}
