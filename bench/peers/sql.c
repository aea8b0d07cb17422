/* SPDX-License-Identifier: Apache-2.0 */
/* What the SQL peers of bench core share; sql.h says what. */
#include "peers/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sql_put_filters(const struct ask *ask, const char *alias, struct buf *sql)
{
    const char *category = ask_get(ask, "category"), *condition = ask_get(ask, "condition");
    const char *price = ask_get(ask, "price"), *dots = strstr(price, "..");

    if (*category) /* the path and what lies under it: '0' comes after '/' */
        buf_printf(sql, " AND %scategory >= '%s' AND %scategory < '%s0'", alias, category, alias,
                   category);
    if (*condition)
        buf_printf(sql, " AND %scondition = '%s'", alias, condition);
    if (dots)
        buf_printf(sql, " AND %sprice BETWEEN %.*s AND %s", alias, (int)(dots - price), price,
                   dots + 2);
}

static size_t part_names(const char *names, char parts[PEER_FACET_COUNT_MAX][16])
{
    size_t count = 0;

    while (*names && count < PEER_FACET_COUNT_MAX) {
        size_t size = strcspn(names, ",");

        snprintf(parts[count++], 16, "%.*s", (int)size, names);
        names += size + (names[size] == ',');
    }
    return count;
}

void sql_put_page(const struct ask *ask, struct buf *sql)
{
    char names[PEER_FACET_COUNT_MAX][16];
    size_t count = part_names(ask_get(ask, "facets"), names);
    bool by_price = !strcmp(ask_get(ask, "sort"), "price");

    buf_printf(sql,
               ") SELECT * FROM (SELECT -2, CAST(id AS text), CAST(%s AS bigint) FROM m"
               " ORDER BY %s, id LIMIT %s) AS h"
               " UNION ALL SELECT -1, '', count(*) FROM m",
               by_price ? "price" : "date", by_price ? "price" : "date DESC", ask_get(ask, "top"));
    for (size_t i = 0; i < count; i++)
        buf_printf(sql,
                   " UNION ALL SELECT * FROM (SELECT %zu, %s, count(*) AS n FROM m GROUP BY %s"
                   " ORDER BY n DESC, %s LIMIT 10) AS f%zu",
                   i, names[i], names[i], names[i], i);
}

void facets_start(struct facets *facets, const char *names)
{
    facets->count = part_names(names, facets->names);
    for (size_t i = 0; i < facets->count; i++) {
        if (!facets->text[i].limit)
            buf_init(&facets->text[i], 1 << 16);
        buf_reset(&facets->text[i]);
    }
}

void facets_add(struct facets *facets, size_t which, const char *value, uint64_t count)
{
    if (which >= facets->count)
        peer_die("facets", "a row of a facet that was not asked for");
    buf_printf(&facets->text[which], "%s%s=%ju", facets->text[which].size ? "," : "", value,
               (uintmax_t)count);
}

void facets_put(struct facets *facets, struct buf *out)
{
    for (size_t i = 0; i < facets->count; i++) {
        buf_printf(out, "%s%s:", i ? ";" : "", facets->names[i]);
        buf_put(out, buf_bytes(&facets->text[i]));
    }
}

void facets_release(struct facets *facets)
{
    for (size_t i = 0; i < PEER_FACET_COUNT_MAX; i++)
        buf_release(&facets->text[i]);
}
