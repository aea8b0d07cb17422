/* SPDX-License-Identifier: Apache-2.0 */
/* retyped.c - see retyped.h. */
#include "clicks/retyped.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "clicks/bounds.h"
#include "clicks/texts.h"

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static void check_text(struct violations *reasons, const char *path, const char *text)
{
    if (is_blank(text) || strlen(text) > RETYPED_TEXT_SIZE_MAX)
        violations_add(reasons, path, "has %zu bytes; a query of 1 to %d is expected there",
                       strlen(text), RETYPED_TEXT_SIZE_MAX);
}

void retyped_check(const Torg__V1__Event *event, size_t place, struct violations *reasons)
{
    struct arena *arena = reasons->arena;
    const char *text = arena_printf(arena, "events[%zu].text", place);
    const char *retyped = arena_printf(arena, "events[%zu].retyped", place);

    if (event->kind == TORG__V1__EVENT__KIND__RETYPE) {
        check_text(reasons, text, event->text);
        check_text(reasons, retyped, event->retyped);
        return;
    }
    if (*event->text && event->kind != TORG__V1__EVENT__KIND__CLICK)
        violations_add(reasons, text,
                       "only events of the kinds CLICK and RETYPE have it: leave it out");
    else if (*event->text)
        check_text(reasons, text, event->text);
    if (*event->retyped)
        violations_add(reasons, retyped, "only events of the kind RETYPE have it: leave it out");
}

uint64_t retyped_hash(const Torg__V1__Event *event, uint64_t session)
{
    char before[RETYPED_TEXT_SIZE_MAX + 1], after[RETYPED_TEXT_SIZE_MAX + 1];

    text_one_form(event->text, before);
    text_one_form(event->retyped, after);
    return hash64_seeded(bytes_of(after), hash64_seeded(bytes_of(before), session));
}

int retyped_count(struct store_tx *tx, const Torg__V1__Event *event, int64_t hour, struct err *err)
{
    char before[RETYPED_TEXT_SIZE_MAX + 1], after[RETYPED_TEXT_SIZE_MAX + 1];

    text_one_form(event->text, before);
    text_one_form(event->retyped, after);
    if (strcmp(before, after) == 0)
        return 0;
    return store_exec(tx,
                      "INSERT INTO query_retyped (before_text, after_text, visits, last_hour) "
                      "VALUES ($1, $2, 1, $3) ON CONFLICT (before_text, after_text) DO UPDATE SET "
                      "visits = query_retyped.visits + 1, last_hour = excluded.last_hour",
                      STORE_WITH(STORE_V_STRING(before), STORE_V_STRING(after), STORE_V_INT(hour)),
                      NULL, err);
}
