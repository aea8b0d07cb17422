/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.c - see ranking.h. */
#include "search/choices/ranking.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "model/offer_fields.h"
#include "query/bounds.h"
#include "query/order/formula.h"

static const char near_word[] = "near";

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* "ranking.best", "ranking.best, category cars" */
static char *place_of(const struct ranking_formula *formula, const char *where, struct arena *arena)
{
    return *formula->category ? arena_printf(arena, "%s, category %s", where, formula->category)
                              : arena_strdup(arena, where);
}

static int add(struct ranking *ranking, char *part, const char *where, struct arena *arena,
               struct err *err)
{
    char *colon = strchr(part, ':');
    struct ranking_formula formula = {"", trim(colon ? colon + 1 : part)};

    if (colon) {
        *colon = '\0';
        formula.category = trim(part);
    }
    if (colon && !*formula.category)
        return err_set(err, ERR_INVALID, "%s: the id of a category is expected before \":\"",
                       where);
    if (!*formula.text)
        return err_set(err, ERR_INVALID, "%s: a formula is expected, such as score * 2",
                       place_of(&formula, where, arena));
    for (size_t i = 0; i < ranking->count; i++) {
        if (strcmp(ranking->list[i].category, formula.category) == 0)
            return err_set(err, ERR_INVALID, "%s: there are two formulas of it; leave one out",
                           place_of(&formula, where, arena));
    }
    if (ranking->count == RANKING_FORMULA_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%s: more than %d formulas", where,
                       RANKING_FORMULA_COUNT_MAX);
    ranking->list[ranking->count++] = formula;
    return 0;
}

int ranking_read(const char *text, const char *where, struct arena *arena, struct ranking *ranking,
                 struct err *err)
{
    char *rest = arena_strdup(arena, text);
    int rc = 0;

    *ranking = (struct ranking){0};
    if (!*trim(rest))
        return 0;
    for (char *part = strsep(&rest, "|"); part && !rc; part = strsep(&rest, "|"))
        rc = add(ranking, part, where, arena, err);
    return rc;
}

/* --- checking --- */

static void warn(const struct ranking_formula *formula, struct bytes unknown, double factor_max,
                 const struct catalog *catalog, const char *where, struct arena *arena)
{
    const char *place = place_of(formula, where, arena);

    if (*formula->category && !category_find(catalog, formula->category))
        log_warn("a formula is for a category that the catalogue does not have yet",
                 LOG_TEXT("setting", place));
    if (unknown.size)
        log_warn("a formula names a field that the catalogue does not give offers: it has no value",
                 LOG_TEXT("setting", place), LOG_TEXT("field", arena_text(arena, unknown)));
    if (isnan(factor_max))
        log_warn("a formula is not the score times what has an upper bound: every hit of a text is "
                 "weighed",
                 LOG_TEXT("setting", place));
}

int ranking_check(const struct ranking *ranking, struct schema *fields,
                  const struct catalog *catalog, const char *where, struct arena *arena,
                  struct err *err)
{
    const struct field near = {.type = FIELD_INTEGER, .name = near_word};
    int rc = schema_add(fields, &near, NULL, err);

    for (size_t i = 0; i < ranking->count && !rc; i++) {
        const struct ranking_formula *formula = &ranking->list[i];
        struct bytes unknown;
        double factor_max;

        rc = formula_check(fields, bytes_of(formula->text), place_of(formula, where, arena),
                           &unknown, &factor_max, err);
        if (!rc)
            warn(formula, unknown, factor_max, catalog, where, arena);
    }
    return rc;
}

/* --- using --- */

static const char *find(const struct ranking *ranking, const char *category)
{
    for (size_t i = 0; i < ranking->count; i++) {
        if (strcmp(ranking->list[i].category, category) == 0)
            return ranking->list[i].text;
    }
    return NULL;
}

const char *ranking_find(const struct ranking *ranking, const struct category *category)
{
    const char *text = NULL;

    for (; category && !text; category = category->parent)
        text = find(ranking, category->id);
    return text ? text : find(ranking, "");
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

/* Whether the text has this word here, and not in the middle of another. */
static bool is_word_at(const char *text, const char *at, const char *word)
{
    size_t size = strlen(word);

    return strncmp(at, word, size) == 0 && !is_name(at[size]) &&
           (at == text || (!is_name(at[-1]) && at[-1] != '-'));
}

bool ranking_names(const char *text, const char *field)
{
    bool is_quoted = false;

    for (const char *at = text; *at; at++) {
        is_quoted ^= *at == '"';
        if (!is_quoted && is_word_at(text, at, field))
            return true;
    }
    return false;
}

const char *ranking_near(const char *formula, const Torg__V1__GeoPoint *near, struct arena *arena)
{
    struct buf out = BUF_INIT((size_t)2 * QUERY_FORMULA_SIZE_MAX);
    size_t size = strlen(near_word);
    bool is_quoted = false;
    char *made;

    if (!near)
        return formula;
    for (const char *at = formula; *at; at++) {
        is_quoted ^= *at == '"';
        if (!is_quoted && is_word_at(formula, at, near_word)) {
            buf_printf(&out, "distance(" OFFER_FIELD_POINT ", %.7f, %.7f)", near->latitude,
                       near->longitude);
            at += size - 1;
        } else {
            buf_put_byte(&out, (uint8_t)*at);
        }
    }
    made = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    return made;
}
