/* SPDX-License-Identifier: Apache-2.0 */
/* russian.c - see russian.h: patterns are tried one after the other, and the first that matches is
 * used. */
#include "feeds/report/russian.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/memory.h"

enum { PLACE_COUNT_MAX = 8, DEPTH_MAX = 4 };

/* What stands in the place of a name. */
struct place {
    struct bytes name;
    struct bytes text;
};

static struct bytes until_place(const char *form)
{
    return bytes_make(form, strcspn(form, "{"));
}

/* "{name}" at the form's beginning; the name without its signs. */
static struct bytes place_name(const char *form)
{
    const char *end = strchr(form, '}');

    assert(*form == '{' && end);
    return bytes_make(form + 1, (size_t)(end - form) - 1);
}

/* Where the part begins: as early as it can, or at the very end. SIZE_MAX: nowhere. */
static size_t find_part(struct bytes text, struct bytes part, bool at_end)
{
    const uint8_t *found;

    if (part.size > text.size)
        return SIZE_MAX;
    if (at_end)
        return bytes_equal(bytes_skip(text, text.size - part.size), part) ? text.size - part.size
                                                                          : SIZE_MAX;
    found = memmem(text.data, text.size, part.data, part.size);
    return found ? (size_t)(found - text.data) : SIZE_MAX;
}

/* False: the text is none of this form. */
static bool match(const char *form, struct bytes text, struct place *places, size_t *count)
{
    struct bytes part = until_place(form);

    *count = 0;
    if (!bytes_begin(text, part))
        return false;
    text = bytes_skip(text, part.size);
    for (form += part.size; *form; form += part.size) {
        struct place *place = &places[(*count)++];
        size_t at;

        assert(*count <= PLACE_COUNT_MAX);
        place->name = place_name(form);
        form += place->name.size + 2;
        part = until_place(form);
        at = find_part(text, part, !form[part.size]);
        if (at == SIZE_MAX)
            return false;
        place->text = bytes_make(text.data, at);
        text = bytes_skip(text, at + part.size);
    }
    return !text.size;
}

static const char *in_russian(const char *reason, struct arena *arena, unsigned depth);

/* What is a reason itself is told in Russian, too. False: that is not known. */
static bool translate(struct place *places, size_t count, struct arena *arena, unsigned depth)
{
    for (size_t i = 0; i < count; i++) {
        const char *words;

        if (!bytes_equal_text(places[i].name, "reason"))
            continue;
        words = in_russian(arena_text(arena, places[i].text), arena, depth + 1);
        if (!words)
            return false;
        places[i].text = bytes_of(words);
    }
    return true;
}

static const char *fill(const char *words, const struct place *places, size_t count,
                        struct arena *arena)
{
    struct buf out = BUF_INIT(SIZE_MAX); /* reasons are bounded */
    struct bytes part = until_place(words);
    const char *made;

    buf_put(&out, part);
    for (words += part.size; *words; words += part.size) {
        struct bytes name = place_name(words);

        for (size_t i = 0; i < count; i++)
            if (bytes_equal(places[i].name, name))
                buf_put(&out, places[i].text);
        words += name.size + 2;
        part = until_place(words);
        buf_put(&out, part);
    }
    made = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return made;
}

static const char *in_russian(const char *reason, struct arena *arena, unsigned depth)
{
    struct place places[PLACE_COUNT_MAX];
    size_t count;

    for (size_t i = 0; depth < DEPTH_MAX && i < feed_words_russian_count; i++) {
        const struct feed_words *one = &feed_words_russian[i];

        if (match(one->form, bytes_of(reason), places, &count) &&
            translate(places, count, arena, depth))
            return fill(one->words, places, count, arena);
    }
    return NULL;
}

const char *feed_reason_in_russian(const char *reason, struct arena *arena)
{
    return in_russian(reason, arena, 0);
}

const char *feed_reason_said(const char *reason, bool is_russian, struct arena *arena)
{
    const char *words = is_russian ? in_russian(reason, arena, 0) : NULL;

    return words ? words : reason;
}

/* By the first word of the field: "contacts.phones[0]" is "contacts". */
static const struct {
    const char *field;
    const char *words;
} field_words[] = {
    {"external_id", "номер"},
    {"category", "категория"},
    {"category_id", "категория"},
    {"title", "название"},
    {"description", "описание"},
    {"url", "ссылка"},
    {"price", "цена"},
    {"old_price", "старая цена"},
    {"sale_price", "цена со скидкой"},
    {"currency", "валюта"},
    {"salary", "зарплата"},
    {"condition", "состояние"},
    {"photos", "фото"},
    {"photo_count", "фото"},
    {"address", "адрес"},
    {"latitude", "широта"},
    {"longitude", "долгота"},
    {"contacts", "контакты"},
    {"contact_name", "контактное лицо"},
    {"phones", "телефоны"},
    {"email", "почта"},
    {"available", "наличие"},
    {"deleted", "удаление"},
    {"attributes", "характеристики"},
    {"properties", "свойства"},
    {"delivery", "доставка"},
    {"exchange", "обмен"},
    {"seller_kind", "кто продаёт"},
    {"row", "запись"},
};

const char *feed_field_said(const char *field, bool is_russian)
{
    size_t size = strcspn(field, ".[");

    for (size_t i = 0; is_russian && i < ARRAY_COUNT(field_words); i++) {
        if (bytes_equal_text(bytes_make(field, size), field_words[i].field))
            return field_words[i].words;
    }
    return field;
}
