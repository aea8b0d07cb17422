/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/postings/doc_lengths.h against plain arrays: lengths by id, one by one and
 * many at once, and the least ones around.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/postings/doc_lengths.h"

enum {
    FIRST = 510 * WINDOW_SIZE, /* so that the ids lie in two chunks of windows */
    ID_COUNT = 6 * WINDOW_SIZE,
    FIELD_COUNT = DOC_LENGTH_FIELD_COUNT,
    WINDOW_COUNT = ID_COUNT / WINDOW_SIZE,
};

struct model {
    uint8_t lengths[FIELD_COUNT][ID_COUNT];
    uint8_t least[FIELD_COUNT][WINDOW_COUNT]; /* that ever was; UINT8_MAX: none */
};

static struct rng seeded(void)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : random_u64();

    print_message("# TORG_SEED=%ju\n", (uintmax_t)seed);
    return rng_seeded(seed);
}

static void set_some(struct doc_lengths *lengths, struct model *model, struct rng *rng)
{
    /* Windows without any, and fields that nobody has. */
    uint32_t window = (uint32_t)rng_below(rng, WINDOW_COUNT), i;
    unsigned field;

    for (i = 0; i < 500; i++) {
        uint32_t at = window * WINDOW_SIZE + (uint32_t)rng_below(rng, WINDOW_SIZE), packed = 0;

        for (field = 0; field < FIELD_COUNT - 1; field++) {
            uint8_t length = rng_below(rng, 3) ? (uint8_t)(rng_below(rng, 256) | 8) : 0;
            uint8_t *least = &model->least[field][window];

            model->lengths[field][at] = length;
            packed |= (uint32_t)length << field * 8;
            *least = length && length < *least ? length : *least;
        }
        doc_lengths_set(lengths, FIRST + at, packed);
    }
}

static void compare(const struct doc_lengths *lengths, const struct model *model, struct rng *rng)
{
    uint32_t from = (uint32_t)rng_below(rng, ID_COUNT), i, window;
    uint32_t to = from + (uint32_t)rng_below(rng, ID_COUNT - from), count = 0;
    unsigned field = (unsigned)rng_below(rng, FIELD_COUNT);
    uint8_t least = UINT8_MAX, found[256];
    docid ids[256];

    for (window = from / WINDOW_SIZE; window <= to / WINDOW_SIZE; window++)
        least = model->least[field][window] < least ? model->least[field][window] : least;
    assert_int_equal(doc_lengths_least(lengths, field, FIRST + from, FIRST + to), least);
    for (i = from; i <= to && count < 256; i += 1 + (uint32_t)rng_below(rng, 100))
        ids[count++] = FIRST + i;
    doc_lengths_gather(lengths, field, ids, count, found);
    for (i = 0; i < count; i++) {
        uint8_t length = model->lengths[field][ids[i] - FIRST];

        assert_int_equal(found[i], length);
        assert_int_equal(doc_lengths_get(lengths, 1U << field, ids[i]),
                         (uint32_t)length << field * 8);
        assert_true(length == 0 || length >= least);
    }
}

static void equals_arrays(void **state)
{
    struct doc_lengths *lengths = doc_lengths_new();
    struct model *model = mem_zero(sizeof(*model));
    struct rng rng = seeded();
    uint32_t round, i;

    (void)state;
    memset(model->least, UINT8_MAX, sizeof(model->least));
    assert_int_equal(doc_lengths_least(lengths, 0, 0, UINT32_MAX - 1), UINT8_MAX);
    for (round = 0; round < 30; round++) {
        set_some(lengths, model, &rng);
        for (i = 0; i < 100; i++)
            compare(lengths, model, &rng);
    }
    free(model);
    doc_lengths_free(lengths);
}

static void codes_go_up(void **state)
{
    uint32_t length;

    (void)state;
    for (length = 1; length < 100000; length++) {
        uint8_t code = doc_length_code(length);

        assert_true(code >= doc_length_code(length - 1));
        assert_true(doc_length_value(code) <= length);
        assert_int_equal(doc_length_code(doc_length_value(code)), code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_arrays),
        cmocka_unit_test(codes_go_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
