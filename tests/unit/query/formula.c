/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of query/order/formula.h: what formulas are worth, and which are refused. */
#include "query/order/formula.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "query/bounds.h"

enum { PRICE, RATING, DATE, POINT, SIZE, CATEGORY, FIELD_COUNT };
enum { NOW = 1000 };

struct world {
    struct shard *shard;
    struct shard_reader *reader;
    struct arena *arena;
    struct query_stage stage;
};

/* Document 1 has a value of each field, document 2 has none. */
static int setup(void **state)
{
    static const struct field fields[FIELD_COUNT] = {
        [PRICE] = {.type = FIELD_INTEGER, .name = "price"},
        [RATING] = {.type = FIELD_DECIMAL, .scale = 2, .name = "rating"},
        [DATE] = {.type = FIELD_DATE, .name = "date"},
        [POINT] = {.type = FIELD_GEO, .name = "point"},
        [SIZE] = {.type = FIELD_INTEGER, .name = "a.frame-size"},
        [CATEGORY] = {.type = FIELD_CATEGORY, .name = "category"},
    };
    const struct bytes category = bytes_of("cars/used");
    const struct shard_value values[FIELD_COUNT] = {
        {.field = PRICE, .kind = VALUE_NUMBER, .number = -7},
        {.field = RATING, .kind = VALUE_NUMBER, .number = 450},
        {.field = DATE, .kind = VALUE_NUMBER, .number = NOW - 60},
        {.field = POINT, .kind = VALUE_GEO, .geo = {557500000, 376200000}},
        {.field = SIZE, .kind = VALUE_NUMBER, .number = 17},
        {.field = CATEGORY, .kind = VALUE_KEYWORDS, .keywords = {&category, 1}},
    };
    const struct shard_document full = {.id = 1, .values = values, .count = FIELD_COUNT};
    const struct shard_document empty = {.id = 2};
    const struct shard_options options = {0};
    static struct world world;
    struct err err = {0};
    int i;

    world = (struct world){.arena = arena_new(), .stage = {.now = NOW}};
    assert_int_equal(shard_open(&options, &world.shard, &err), 0);
    for (i = 0; i < FIELD_COUNT; i++)
        assert_int_equal(shard_add_field(world.shard, &fields[i], NULL, &err), 0);
    assert_int_equal(shard_put(world.shard, &full, &err), 0);
    assert_int_equal(shard_put(world.shard, &empty, &err), 0);
    assert_int_equal(shard_publish(world.shard, 1, &err), 0);
    assert_int_equal(shard_reader_new(world.shard, &world.reader, &err), 0);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    shard_reader_free(world->reader);
    shard_close(world->shard);
    arena_free(world->arena);
    return 0;
}

static int compute(struct world *world, struct bytes text, docid id, double *value, struct err *err)
{
    const struct snapshot *snapshot;
    struct formula *formula;
    uint16_t offset = (uint16_t)id;
    float score = 3;
    int rc;

    assert_int_equal(shard_enter(world->reader, &snapshot, err), 0);
    rc = formula_compile(snapshot, text, &world->stage, "formula", world->arena, &formula, err);
    if (!rc)
        formula_compute(formula, 0, &offset, 1, &score, value);
    shard_exit(world->reader);
    return rc;
}

static double value_of(struct world *world, const char *text, docid id)
{
    struct err err = {0};
    double value = 0;

    if (compute(world, bytes_of(text), id, &value, &err))
        fail_msg("%s: %s", text, err.text);
    return value;
}

static void values_are_what_they_say(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2 * 3 - 4 / 8", 6.5},
        {"-(2 - 5) * -price", 21},
        {"rating", 4.5},
        {"age(date)", 60},
        {"score", 3},
        {"min(price, 2) + max(price, 2)", -5},
        {"pow(2, 10)", 1024},
        {"pow(price, 0)", 1},
        {"if(price, 1, 2)", 2},
        {"if(1, price, 2)", -7},
        {"default(price, 5)", -7},
        {"abs(price) + sqrt(16) + exp(0) + log(1)", 12},
        {"distance(point, 55.75, 37.62)", 0},
        {"1e3 + .5", 1000.5},
        {"1 / 0", INFINITY},
        {"a.frame-size-price", 24},
        {"a.frame-size * 2", 34},
        {"has(category, \"cars\") + has(category, \"cars/used\")", 2},
        {"has(category, \"cars/new\") + has(category, \"car\")", 0},
    };
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (value_of(*state, cases[i].text, 1) != cases[i].value)
            fail_msg("%s is %g", cases[i].text, value_of(*state, cases[i].text, 1));
}

/* Whatever is made of nothing is nothing, but for default(). */
static void nothing_stays_nothing(void **state)
{
    static const char *const texts[] = {
        "price",         "rating",          "age(date)",       "distance(point, 0, 0)",
        "-price",        "price + 1",       "1 - price",       "price * 0",
        "0 / price",     "log(price)",      "exp(price)",      "sqrt(price)",
        "abs(price)",    "min(price, 1)",   "min(1, price)",   "max(price, 1)",
        "max(1, price)", "pow(price, 2)",   "pow(price, 0)",   "pow(1, price)",
        "pow(2, price)", "if(price, 1, 2)", "if(1, price, 2)", "default(price, rating)",
        "0 / 0",         "log(-1)",         "pow(0 / 0, 0)",   "default(price, pow(1, price))",
    };
    size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!isnan(value_of(*state, texts[i], 2)))
            fail_msg("%s of nothing is %g", texts[i], value_of(*state, texts[i], 2));
    assert_true(value_of(*state, "default(price, 5)", 2) == 5);
    assert_true(value_of(*state, "if(0, price, 2)", 2) == 2);
}

static void what_is_wrong_is_refused(void **state)
{
    static const struct {
        struct bytes text;
        int code;
    } cases[] = {
        {{(const uint8_t *)"", 0}, ERR_INVALID},
        {{(const uint8_t *)"1 2", 3}, ERR_INVALID},
        {{(const uint8_t *)"1 +", 3}, ERR_INVALID},
        {{(const uint8_t *)"(1", 2}, ERR_INVALID},
        {{(const uint8_t *)"1)", 2}, ERR_INVALID},
        {{(const uint8_t *)"prize", 5}, ERR_INVALID},
        {{(const uint8_t *)"point", 5}, ERR_INVALID},
        {{(const uint8_t *)"1e400", 5}, ERR_INVALID},
        {{(const uint8_t *)"1.2.3", 5}, ERR_INVALID},
        {{(const uint8_t *)"1\0 + ?", 6}, ERR_INVALID},
        {{(const uint8_t *)"1\0", 2}, ERR_INVALID},
        {{(const uint8_t *)"distance(point, 91, 0)", 22}, ERR_INVALID},
    };
    struct err err = {0};
    double value;
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (compute(*state, cases[i].text, 1, &value, &err) != cases[i].code)
            fail_msg("\"%.*s\" is taken", BYTES_ARG(cases[i].text));
}

/* For those who ask by a catalogue that knows more than the index has been given. */
static void an_unknown_field_is_empty_where_that_is_wanted(void **state)
{
    static const char *const empty[] = {"prize", "-prize * 2", "age(day)", "distance(spot, 1, 2)"};
    static const char *const wrong[] = {"prize(1)", "age()", "distance(spot, 91, 0)", "prize 1"};
    struct world *world = *state;
    struct err err = {0};
    double value;
    size_t i;

    for (i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
        assert_int_equal(compute(world, bytes_of(empty[i]), 1, &value, &err), ERR_INVALID);
    world->stage.unknown_is_empty = true;
    for (i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
        assert_true(isnan(value_of(world, empty[i], 1)));
    assert_true(value_of(world, "default(prize, 5) + price", 1) == -2);
    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(compute(world, bytes_of(wrong[i]), 1, &value, &err), ERR_INVALID);
    world->stage.unknown_is_empty = false;
}

/* The machine's stack is as deep as the deepest formula needs. */
static void depth_is_bounded(void **state)
{
    struct world *world = *state;
    struct buf text = BUF_INIT(QUERY_FORMULA_SIZE_MAX);
    struct err err = {0};
    double value;
    int i;

    for (i = 0; i < QUERY_FORMULA_DEPTH_MAX - 1; i++)
        buf_put_text(&text, "if(1,1,1+1*");
    buf_put_text(&text, "1");
    for (i = 0; i < QUERY_FORMULA_DEPTH_MAX - 1; i++)
        buf_put_text(&text, ")");
    assert_int_equal(compute(world, buf_bytes(&text), 1, &value, &err), 0);
    assert_true(value == 1);
    buf_reset(&text);
    for (i = 0; i < QUERY_FORMULA_DEPTH_MAX; i++)
        buf_put_text(&text, "(");
    assert_int_equal(compute(world, buf_bytes(&text), 1, &value, &err), ERR_LIMIT);
    buf_release(&text);
}

static void factors_are_bounded(void **state)
{
    static const struct {
        const char *text;
        double max; /* NAN: none */
    } cases[] = {
        {"score", 1},
        {"score * min(max(default(price, 1), 0.8), 1.25)", 1.25},
        {"score * (1 + 0.3 * has(category, \"cars\")) * (2 - 1)", 1.3},
        {"2 * score - score / 4", 1.75},
        {"score / (1 + distance(point, 55, 37) / 1000)", 1},
        {"score * exp(-max(age(date), 0) / 86400)", 1},
        {"if(price, score, score * 2)", 2},
        {"score * -1", 0},
        {"score * price", NAN},
        {"score + 1", NAN},
        {"score * score", NAN},
        {"price", NAN},
    };
    struct world *world = *state;
    const struct snapshot *snapshot;
    struct err err = {0};

    assert_int_equal(shard_enter(world->reader, &snapshot, &err), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct formula *formula;
        double max;

        assert_int_equal(formula_compile(snapshot, bytes_of(cases[i].text), &world->stage,
                                         "formula", world->arena, &formula, &err),
                         0);
        max = formula_factor_max(formula);
        if (isnan(max) != isnan(cases[i].max) || fabs(max - cases[i].max) > 1e-9)
            fail_msg("%s: %g, expected %g", cases[i].text, max, cases[i].max);
    }
    shard_exit(world->reader);
}

/* Without a shard: the same is refused, at the same byte. */
static void formulas_are_checked_without_documents(void **state)
{
    static const struct field fields[] = {{.type = FIELD_INTEGER, .name = "price"},
                                          {.type = FIELD_DATE, .name = "created"},
                                          {.type = FIELD_CATEGORY, .name = "category"},
                                          {.type = FIELD_INTEGER, .name = "a.frame-size"}};
    static const struct {
        const char *text, *told; /* NULL: it is right */
        const char *unknown;
        double max;
    } cases[] = {
        {"score * (1 + 0.5 / (1 + max(age(created), 0)))", NULL, "", 1.5},
        {"score * (1 + 0.5 * has(category, \"cars\")) - a.frame-size", NULL, "", NAN},
        {"score * min(default(a.gears, 1), 2)", NULL, "a.gears", 1},
        {"score * prise", "ranking: byte 9: \"prise\" is neither a field nor a function", "", 0},
        {"score * age(price)", "ranking: byte 18: age() needs a date field", "", 0},
        {"score *", "ranking: byte 8: a number, a field, a function or a bracket is expected", "",
         0},
    };
    struct schema *schema = schema_new();
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        assert_int_equal(schema_add(schema, &fields[i], NULL, &err), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bytes unknown;
        double max;
        int rc = formula_check(schema, bytes_of(cases[i].text), "ranking", &unknown, &max, &err);

        assert_int_equal(rc, cases[i].told ? ERR_INVALID : 0);
        if (cases[i].told) {
            assert_string_equal(err.text, cases[i].told);
            continue;
        }
        assert_true(bytes_equal_text(unknown, cases[i].unknown));
        assert_true(isnan(max) ? isnan(cases[i].max) : fabs(max - cases[i].max) < 1e-9);
    }
    schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_what_they_say),
        cmocka_unit_test(factors_are_bounded),
        cmocka_unit_test(formulas_are_checked_without_documents),
        cmocka_unit_test(nothing_stays_nothing),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(an_unknown_field_is_empty_where_that_is_wanted),
        cmocka_unit_test(depth_is_bounded),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
