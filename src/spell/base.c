/* SPDX-License-Identifier: Apache-2.0 */
/* base.c - see base.h. */
#include "spell/base.h"

#include <string.h>

#include "base/endian.h"

enum { STOP_INTERVAL = 4096 }; /* words; some tenths of a millisecond */

static const char magic[] = "torg spell 1\n";

/* One word: how many letters it shares with the one before, the rest, how often it is met. */
static bool take_word(struct bytes base, size_t *at, struct letters *word, uint8_t *how)
{
    size_t shared, more;

    if (base.size - *at < 2)
        return false;
    shared = base.data[*at];
    more = base.data[*at + 1];
    *at += 2;
    if (shared > word->size || more == 0 || shared + more > SPELL_WORD_SIZE_MAX ||
        base.size - *at < more + 1)
        return false;
    memcpy(word->at + shared, base.data + *at, more);
    word->size = (uint8_t)(shared + more);
    for (size_t i = shared; i < word->size; i++) {
        if (word->at[i] == 0 || word->at[i] >= LETTER_END)
            return false;
    }
    *how = base.data[*at + more];
    *at += more + 1;
    return true;
}

int base_load(struct bytes base, struct words *words, const atomic_bool *stop, struct err *err)
{
    size_t at = sizeof(magic) - 1 + 8;
    struct letters word = {.size = 0};
    uint32_t count, never_count;

    if (base.size < at || memcmp(base.data, magic, sizeof(magic) - 1) != 0)
        return err_set(err, ERR_CORRUPT, "the base of words does not begin with \"torg spell 1\"");
    count = get_le32(base.data + sizeof(magic) - 1);
    never_count = get_le32(base.data + sizeof(magic) - 1 + 4);
    if (never_count > count || count > base.size / 3)
        return err_set(err, ERR_CORRUPT, "the base of words says that it has %ju of them",
                       (uintmax_t)count);
    words_expect_right(words, never_count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t how;
        wordid id;

        if (stop && i % STOP_INTERVAL == 0 && atomic_load(stop))
            return err_set(err, ERR_CANCELLED, "it is no longer wanted");
        if (!take_word(base, &at, &word, &how))
            return err_set(err, ERR_CORRUPT, "the base of words is damaged at byte %zu", at);
        if (how == 0) {
            if (!words_add_right(words, word.at, word.size))
                return err_set(err, ERR_CORRUPT, "the base of words miscounts those never met");
            continue;
        }
        id = words_add(words, word.at, word.size);
        if (id == WORDID_NONE)
            return err_set(err, ERR_LIMIT, "the base has more than %d words with a frequency",
                           SPELL_WORD_COUNT_MAX);
        words_set_base(words, id, how / 2, how % 2);
    }
    if (at != base.size)
        return err_set(err, ERR_CORRUPT, "%zu bytes follow the base's last word", base.size - at);
    return 0;
}
