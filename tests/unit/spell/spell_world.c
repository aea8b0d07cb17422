/* SPDX-License-Identifier: Apache-2.0 */
/* spell_world.c - see spell_world.h. */
#include "spell_world.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/memory.h"
#include "spell/letters.h"

enum { BASE_SIZE_MAX = 1 << 20 };

static const char *const common[] = {
    "привет",     "велосипед", "горный",  "горная",   "куртка",  "зимняя",   "синяя",   "ноутбук",
    "купить",     "продать",   "продам",  "детский",  "детская", "коляска",  "хлеб",    "квартира",
    "машина",     "нужна",     "стол",    "стул",     "дом",     "кот",      "код",     "год",
    "самокат",    "сегодня",   "очень",   "кто",      "что",     "как",      "где",     "бы",
    "не",         "то",        "знаю",    "кто-то",   "что-то",  "из-за",    "из",      "за",
    "автомобиль", "кроссовки", "телефон", "смартфон", "шуба",    "норковая", "диван",   "кровать",
    "the",        "hello",     "world",   "bicycle",  "phone",   "iphone",   "samsung", "receive",
    "beginning",  "necessary", "jacket",  "winter",   "laptop",  "sell",     "buy",     "house"};

void world_put(struct buf *out, const char *word, double rarity, bool is_right)
{
    struct letters letters = letters_of(word);
    unsigned steps = (unsigned)(rarity / 0.07);

    assert(letters.size > 0);
    buf_put_byte(out, 0);
    buf_put_byte(out, letters.size);
    buf_put_raw(out, letters.at, letters.size);
    buf_put_byte(out, rarity == 0 ? 0 : (uint8_t)(2 * (steps ? steps : 1) + is_right));
}

void world_base(struct buf *out)
{
    static const char magic[] = "torg spell 1\n";
    uint8_t counts[8];

    put_le32(counts, ARRAY_COUNT(common) + 2);
    put_le32(counts + 4, 1);
    buf_put_raw(out, magic, sizeof(magic) - 1);
    buf_put_raw(out, counts, sizeof(counts));
    for (size_t i = 0; i < ARRAY_COUNT(common); i++)
        world_put(out, common[i], strlen(common[i]) <= 6 ? 3.0 : 4.5, true);
    world_put(out, "велосипедоведов", 0, true); /* right, and never met */
    world_put(out, "вело", 6.5, false);         /* met, and in no dictionary */
}

struct speller *world_speller(const char *snapshot_path)
{
    struct buf base = BUF_INIT(BASE_SIZE_MAX);
    struct speller_options options = {.snapshot_path = snapshot_path};
    struct speller *speller;
    struct err err;

    world_base(&base);
    options.base = buf_bytes(&base);
    if (speller_open(&options, &speller, &err)) {
        printf("# %s\n", err.text);
        assert(!"the speller opens");
    }
    buf_release(&base);
    return speller;
}

void world_learn(struct speller *speller, const char *text, int times)
{
    for (int i = 0; i < times; i++) {
        int rc = speller_learn(speller, bytes_of(text), NULL);

        assert(rc == 0);
    }
}

const char *world_correct(struct speller *speller, const char *text)
{
    static char corrected[1 << 16];
    struct arena *arena = arena_new();
    struct spell_result result;
    int rc = spell_check(speller, bytes_of(text), NULL, NULL, arena, &result, NULL);

    assert(rc == 0 && result.text.size < sizeof(corrected));
    if (result.text.size)
        memcpy(corrected, result.text.data, result.text.size);
    corrected[result.text.size] = 0;
    arena_free(arena);
    return corrected;
}
