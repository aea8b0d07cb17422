/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - see config.h: the sources, weakest first, and the checks between settings. */
#include "config/config.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "config/bounds.h"
#include "config/config_set.h"
#include "config/nearest.h"

static const char default_file[] = "torg.toml";
static const char variable_prefix[] = "TORG_";

/* Read by something else than the settings: the choice of the file, and the test runner. */
static const char *const foreign_variables[] = {"TORG_CONFIG", "TORG_REQUIRE", "TORG_CACHE",
                                                "TORG_BUILD", "TORG_BIN"};

void config_set(struct config *config, enum setting_id id, const char *text,
                enum config_origin origin, const char *place, struct violations *problems)
{
    struct config_value *value = &config->values[id];
    int64_t number;
    struct err err;

    if (setting_parse(&setting_table[id], text, &number, &err)) {
        violations_add(problems, place, "%s", err.text);
        return;
    }
    value->text = arena_strdup(config->arena, text);
    value->number = number;
    value->origin = origin;
    value->line = 0;
}

static void set_defaults(struct config *config, struct violations *problems)
{
    size_t before = problems->count;

    for (int id = 0; id < SETTING_COUNT; id++)
        config_set(config, id, setting_table[id].default_text, CONFIG_DEFAULT, "default", problems);
    assert(problems->count == before);
}

static const char *variable_find(const char *const *environment, const char *name)
{
    size_t size = strlen(name);

    for (; environment && *environment; environment++) {
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
            return *environment + size + 1;
    }
    return NULL;
}

static void read_file(struct config *config, const struct config_sources *sources,
                      struct violations *problems)
{
    const char *named =
        sources->file ? sources->file : variable_find(sources->environment, "TORG_CONFIG");
    struct buf content = BUF_INIT(CONFIG_FILE_SIZE_MAX);
    struct err err;

    if (!named && access(default_file, F_OK))
        return;
    config->file = arena_strdup(config->arena, named ? named : default_file);
    if (file_read(config->file, &content, &err))
        violations_add(problems, config->file, "%s", err.text);
    else
        config_parse(config, buf_bytes(&content), problems);
    buf_release(&content);
}

static bool is_foreign(const char *name)
{
    if (strncmp(name, "TORG_TEST_", strlen("TORG_TEST_")) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_COUNT(foreign_variables); i++) {
        if (strcmp(name, foreign_variables[i]) == 0)
            return true;
    }
    return false;
}

static void set_variable(struct config *config, const char *name, const char *text,
                         struct violations *problems)
{
    char known[SETTING_COUNT][SETTING_VARIABLE_SIZE];
    struct nearest nearest = nearest_to(name);

    for (int id = 0; id < SETTING_COUNT; id++) {
        setting_variable(&setting_table[id], known[id]);
        if (strcmp(known[id], name) == 0) {
            config_set(config, id, text, CONFIG_ENVIRONMENT, name, problems);
            return;
        }
        nearest_offer(&nearest, known[id]);
    }
    if (nearest.word)
        violations_add(problems, name, "unknown setting in the environment; did you mean %s?",
                       nearest.word);
    else
        violations_add(problems, name,
                       "unknown setting in the environment; unset it (torg config dump lists "
                       "the settings)");
}

static void read_environment(struct config *config, const char *const *environment,
                             struct violations *problems)
{
    for (; environment && *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        const char *name;

        if (!equals || strncmp(*environment, variable_prefix, strlen(variable_prefix)) != 0)
            continue;
        name = arena_text(config->arena, bytes_make(*environment, (size_t)(equals - *environment)));
        if (!is_foreign(name))
            set_variable(config, name, equals + 1, problems);
    }
}

static int flag_find(const char *name)
{
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (setting_table[id].flag && strcmp(setting_table[id].flag, name) == 0)
            return id;
    }
    return setting_find(name);
}

static void read_flag(struct config *config, const struct config_flag *flag,
                      struct violations *problems)
{
    const char *place = arena_printf(config->arena, "--%s", flag->name);
    int id = flag_find(flag->name);
    const char *nearest;

    if (id >= 0) {
        config_set(config, id, flag->value, CONFIG_FLAG, place, problems);
        return;
    }
    nearest = setting_nearest(flag->name);
    if (nearest)
        violations_add(problems, place, "unknown setting; did you mean --%s?", nearest);
    else
        violations_add(problems, place, "unknown setting; torg config dump lists them");
}

/* Where the setting that is at fault got its value. */
static const char *place_of(const struct config *config, enum setting_id id)
{
    struct buf place = BUF_INIT(CONFIG_VALUE_SIZE_MAX + SETTING_VARIABLE_SIZE);
    const char *text;

    config_put_origin(config, id, &place);
    text = arena_strdup(config->arena, buf_text(&place));
    buf_release(&place);
    return text;
}

static void check_together(const struct config *config, struct violations *problems)
{
    bool certificate = *config_text(config, SETTING_TLS_CERTIFICATE);
    bool key = *config_text(config, SETTING_TLS_KEY);
    bool client_ca = *config_text(config, SETTING_TLS_CLIENT_CA);

    if (certificate && !key)
        violations_add(problems, place_of(config, SETTING_TLS_CERTIFICATE),
                       "tls.certificate needs tls.key, the file of its private key");
    if (key && !certificate)
        violations_add(problems, place_of(config, SETTING_TLS_KEY),
                       "tls.key needs tls.certificate, the file of its certificate");
    if (client_ca && !certificate)
        violations_add(problems, place_of(config, SETTING_TLS_CLIENT_CA),
                       "tls.client_ca needs tls.certificate: without TLS no client shows one");
    if (config_number(config, SETTING_TLS_CLIENT_REQUIRED) && !client_ca)
        violations_add(problems, place_of(config, SETTING_TLS_CLIENT_REQUIRED),
                       "tls.client_required needs tls.client_ca, the authorities to trust");
}

int config_load(struct config *config, const struct config_sources *sources, struct arena *arena,
                struct violations *problems)
{
    size_t before = problems->count;

    *config = (struct config){.arena = arena};
    set_defaults(config, problems);
    read_file(config, sources, problems);
    read_environment(config, sources->environment, problems);
    for (size_t i = 0; i < sources->flag_count; i++)
        read_flag(config, &sources->flags[i], problems);
    if (problems->count == before)
        check_together(config, problems);
    return problems->count == before ? 0 : ERR_INVALID;
}
