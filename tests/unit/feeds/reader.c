/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of feeds/formats/reader.h: progress, short sources, failures that stay, hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "feeds/formats/reader.h"

struct dripping {
    struct bytes rest;
    size_t step;
    bool fails;
};

static int drip(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct dripping *dripping = arg;

    if (dripping->fails && dripping->rest.size == 0)
        return err_set(err, ERR_UNAVAILABLE, "the server went away");
    *got = dripping->step < dripping->rest.size ? dripping->step : dripping->rest.size;
    *got = *got < size ? *got : size;
    if (*got)
        memcpy(to, dripping->rest.data, *got);
    dripping->rest = bytes_skip(dripping->rest, *got);
    return 0;
}

static const char table[] = "id,title,price\n1,One,10\n2,Two,20\n";
static const char ads[] = "<Ads><Ad><Id>1</Id><Title>One</Title></Ad><Ad><Id>2</Id></Ad></Ads>";

static size_t count_rows(struct feed_source *source, const struct feed_options *options,
                         struct feed_progress *progress, struct err *err)
{
    struct feed_reader *reader;
    const struct feed_row *row = NULL;
    size_t count = 0;
    int rc;

    assert_int_equal(feed_reader_open(source, options, &reader, err), 0);
    do {
        rc = feed_reader_next(reader, &row, err);
        count += row != NULL;
    } while (!rc && row);
    err->code = rc;
    if (rc) { /* it stays failed, for the same reason */
        struct err again;

        assert_int_equal(feed_reader_next(reader, &row, &again), rc);
        assert_string_equal(again.text, err->text);
    } else {
        assert_int_equal(feed_reader_next(reader, &row, err), 0);
    }
    assert_null(row);
    *progress = feed_reader_progress(reader);
    feed_reader_close(reader);
    return count;
}

static void progress_counts_bytes_and_rows(void **state)
{
    struct feed_progress progress;
    struct feed_source source;
    struct err err;

    (void)state;
    feed_source_memory(&source, bytes_of(table));
    assert_int_equal(count_rows(&source, NULL, &progress, &err), 2);
    assert_true(progress.complete && !progress.cut);
    assert_int_equal(progress.read_size, sizeof(table) - 1);
    assert_int_equal(progress.total_size, sizeof(table) - 1);
    assert_int_equal(progress.row_count, 2);
}

static void a_source_may_drip(void **state)
{
    const char *texts[] = {table, ads};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t step = 1; step < 9; step++) {
            struct dripping dripping = {bytes_of(texts[i]), step, false};
            struct feed_progress progress;
            struct feed_source source;
            struct err err;

            feed_source_function(&source, drip, &dripping, 0);
            assert_int_equal(count_rows(&source, NULL, &progress, &err), 2);
            assert_true(progress.complete);
        }
    }
}

static void fewer_bytes_than_announced_are_a_cut(void **state)
{
    const char *texts[] = {table, ads};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct dripping dripping = {bytes_of(texts[i]), 1000, false};
        struct feed_progress progress;
        struct feed_source source;
        struct err err;

        feed_source_function(&source, drip, &dripping, strlen(texts[i]) + 1);
        assert_int_equal(count_rows(&source, NULL, &progress, &err), 2);
        assert_false(progress.complete);
        assert_non_null(progress.cut);
    }
}

static void a_failing_source_is_told(void **state)
{
    struct feed_options options = {.format = FEED_FORMAT_CSV};
    struct dripping dripping = {bytes_of(table), 1000, true};
    struct feed_source source;
    struct feed_reader *reader;
    struct err err;

    (void)state;
    feed_source_function(&source, drip, &dripping, 0);
    assert_int_equal(feed_reader_open(&source, &options, &reader, &err), ERR_UNAVAILABLE);
    assert_null(reader);
    assert_string_equal(err.text, "the server went away");
    assert_int_equal(feed_source_file(&source, "/nowhere/at/all", &err), ERR_NOT_FOUND);
}

static void options_are_checked(void **state)
{
    static const struct feed_options wrong[] = {{.currency = "roubles"},
                                                {.delimiter = 'x'},
                                                {.encoding = "an-encoding-of-no-such-name-at-all"}};
    struct feed_source source;
    struct feed_reader *reader;
    enum feed_format format;
    struct err err;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        feed_source_memory(&source, bytes_of(table));
        assert_int_equal(feed_reader_open(&source, &wrong[i], &reader, &err), ERR_INVALID);
    }
    assert_true(feed_format_parse("jsonl", &format) && format == FEED_FORMAT_JSON);
    assert_false(feed_format_parse("xls", &format));
}

/* The hash is part of stored ids: this one must never change. */
static void the_hash_is_what_it_was(void **state)
{
    struct feed_attribute attributes[] = {
        {BYTES_LITERAL("a"), BYTES_LITERAL("1"), {NULL, 0}},
        {BYTES_LITERAL("b"), BYTES_LITERAL("2"), BYTES_LITERAL("kg")},
    };
    struct feed_attribute turned[] = {attributes[1], attributes[0]};
    struct feed_row row = {.number = 1,
                           .title = BYTES_LITERAL("Chair"),
                           .has_price = true,
                           .price = 100,
                           .currency = "RUB",
                           .attributes = attributes,
                           .attribute_count = 2};
    char first[FEED_HASH_SIZE];
    char other[FEED_HASH_SIZE];

    (void)state;
    feed_row_hash(&row, first);
    assert_string_equal(first, "0346bf217afe945a9682e2b156b2e796");
    row.number = 2;
    row.available = true;
    row.attributes = turned;
    feed_row_hash(&row, other);
    assert_string_equal(first, other);
    row.price++;
    feed_row_hash(&row, other);
    assert_string_not_equal(first, other);
    row.price--;
    turned[0].unit = BYTES_EMPTY;
    feed_row_hash(&row, other);
    assert_string_not_equal(first, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_counts_bytes_and_rows),
        cmocka_unit_test(a_source_may_drip),
        cmocka_unit_test(fewer_bytes_than_announced_are_a_cut),
        cmocka_unit_test(a_failing_source_is_told),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(the_hash_is_what_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
