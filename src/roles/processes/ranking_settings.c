/* SPDX-License-Identifier: Apache-2.0 */
/* ranking_settings.c - see ranking_settings.h. */
#include "roles/processes/ranking_settings.h"

#include "documents/offer_schema.h"
#include "search/choices/order.h"

/* As the registry makes fields of a client's schema: numbers of types are the same, but for several
 * keywords. */
static int add_field(struct schema *schema, const Torg__V1__SchemaField *from, struct err *err)
{
    bool is_several = from->type == TORG__V1__SCHEMA_FIELD__TYPE__KEYWORDS;
    const struct field field = {.name = from->name,
                                .type = is_several ? FIELD_KEYWORD : (enum field_type)from->type,
                                .multiple = is_several,
                                .scale =
                                    from->options ? (uint8_t)from->options->scale : (uint8_t)0};

    return schema_add(schema, &field, NULL, err);
}

int ranking_settings_read(const struct process *process, enum setting_id setting,
                          struct ranking *ranking, struct err *err)
{
    const char *name = setting_table[setting].name;
    struct catalog *catalog = catalog_in_use(process->catalog);
    struct schema *schema = schema_new();
    struct arena *arena = arena_new();
    size_t count;
    Torg__V1__SchemaField **fields = offer_schema(catalog, arena, &count);
    int rc =
        ranking_read(config_text(process->config, setting), name, process->arena, ranking, err);

    for (size_t i = 0; i < count && ranking->count && !rc; i++)
        rc = add_field(schema, fields[i], err);
    if (!rc && ranking->count)
        rc = ranking_check(ranking, schema, catalog, name, arena, err);
    arena_free(arena);
    schema_free(schema);
    catalog_unref(catalog);
    return rc;
}

bool ranking_settings_experiment(const struct config *config, struct experiment *experiment)
{
    const char *tried = config_text(config, SETTING_SEARCH_EXPERIMENT);
    const char *best = config_text(config, SETTING_RANKING_BEST);

    if (!*tried)
        return false;
    if (!*best)
        best = config_number(config, SETTING_SEARCH_CLICKS) ? order_by_clicks : "score";
    *experiment = experiment_of(best, tried);
    if (order_formula_goes_by_clicks(best) || order_formula_goes_by_clicks(tried))
        experiment->new_every = (uint32_t)config_number(config, SETTING_SEARCH_NEW_EVERY);
    return true;
}
