/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a query of any kind, checked and learnt. What is not changed stays byte by byte. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "spell/bounds.h"
#include "spell/speller.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int some_hits(void *arg, struct bytes text, uint64_t *count, struct err *err)
{
    (void)err;
    ++*(int *)arg;
    *count = text.size % 3;
    return 0;
}

/* The changes, put in place of what they change, give the corrected text. */
static void check_changes(struct bytes text, const struct spell_result *result)
{
    struct buf made = BUF_INIT((size_t)SPELL_TEXT_SIZE_MAX * 8);
    size_t at = 0;

    for (size_t i = 0; i < result->change_count; i++) {
        size_t start = (size_t)(result->changes[i].original.data - text.data);

        assert(start >= at && start + result->changes[i].original.size <= text.size);
        assert(result->changes[i].reason != SPELL_KEPT);
        buf_put_raw(&made, text.data + at, start - at);
        buf_put(&made, result->changes[i].corrected);
        at = start + result->changes[i].original.size;
    }
    buf_put_raw(&made, text.data + at, text.size - at);
    assert(bytes_equal(buf_bytes(&made), result->text));
    buf_release(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct speller *speller;
    struct arena *arena = arena_new();
    struct bytes text = bytes_make(data, size);
    struct spell_result result;
    int calls = 0, rc;

    if (!speller) {
        static const char *const titles[] = {
            "купить горный велосипед", "ноутбук lenovo", "привет",
            "iphone samsung",          "куртка зимняя",  "что-то кто"};
        const struct speller_options options = {.snapshot_path = NULL};

        rc = speller_open(&options, &speller, NULL);
        assert(rc == 0);
        for (size_t i = 0; i < 200; i++)
            speller_learn(speller, bytes_of(titles[i % 6]), NULL);
    }
    rc = spell_check(speller, text, some_hits, &calls, arena, &result, NULL);
    assert(rc == (size > SPELL_TEXT_SIZE_MAX ? ERR_LIMIT : 0));
    assert(calls <= 2 * (2 + 2 * SPELL_JUDGED_COUNT_MAX) + 1);
    assert(!text_is_utf8(text) || text_is_utf8(result.text));
    check_changes(text, &result);
    if (size < 64 && size % 4 == 0)
        speller_learn(speller, text, NULL);
    arena_free(arena);
    return 0;
}
