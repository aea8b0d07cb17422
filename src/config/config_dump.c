/* SPDX-License-Identifier: Apache-2.0 */
/* config_dump.c - the settings as people and programs read them, and the reference page. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "config/bounds.h"
#include "config/config.h"

enum { ORIGIN_COLUMN = 48 };

static const char *key_of(const struct setting *setting)
{
    return strchr(setting->name, '.') + 1;
}

/* Whether this setting is the first of its section. */
static bool opens_section(int id)
{
    size_t size = (size_t)(key_of(&setting_table[id]) - setting_table[id].name);

    return id == 0 || strncmp(setting_table[id].name, setting_table[id - 1].name, size) != 0;
}

static void put_section(int id, struct buf *out)
{
    const char *name = setting_table[id].name;

    buf_printf(out, "%.*s", (int)strcspn(name, "."), name);
}

static bool is_bare(const struct setting *setting)
{
    return setting->kind == SETTING_NUMBER || setting->kind == SETTING_BOOL;
}

static void put_quoted(struct buf *out, const char *text)
{
    buf_put_byte(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_put_byte(out, '\\');
        buf_put_byte(out, (uint8_t)*text);
    }
    buf_put_byte(out, '"');
}

void config_put_origin(const struct config *config, enum setting_id id, struct buf *out)
{
    const struct config_value *value = &config->values[id];
    char variable[SETTING_VARIABLE_SIZE];

    switch (value->origin) {
    case CONFIG_DEFAULT:
        buf_put_text(out, "default");
        break;
    case CONFIG_FILE:
        buf_printf(out, "%s:%u", config->file ? config->file : "config", value->line);
        break;
    case CONFIG_ENVIRONMENT:
        setting_variable(&setting_table[id], variable);
        buf_put_text(out, variable);
        break;
    case CONFIG_FLAG:
        buf_printf(out, "--%s", setting_table[id].name);
        break;
    }
}

void config_dump(const struct config *config, struct buf *out)
{
    struct buf value = BUF_INIT(2 * CONFIG_VALUE_SIZE_MAX);

    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &setting_table[id];
        size_t start;

        if (opens_section(id)) {
            buf_put_text(out, id ? "\n[" : "[");
            put_section(id, out);
            buf_put_text(out, "]\n");
        }
        start = out->size;
        buf_printf(out, "%s = ", key_of(setting));
        buf_reset(&value);
        setting_put_public(setting, config->values[id].text, &value);
        if (is_bare(setting))
            buf_put_text(out, buf_text(&value));
        else
            put_quoted(out, buf_text(&value));
        do
            buf_put_byte(out, ' ');
        while (!buf_failed(out) && out->size - start < ORIGIN_COLUMN);
        buf_put_text(out, "# ");
        config_put_origin(config, id, out);
        buf_put_byte(out, '\n');
    }
    buf_release(&value);
}

void config_dump_json(const struct config *config, struct buf *out)
{
    struct buf text = BUF_INIT(2 * CONFIG_VALUE_SIZE_MAX);

    buf_put_byte(out, '{');
    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &setting_table[id];

        buf_put_text(out, id ? ",\n " : "\n ");
        text_put_json(out, bytes_of(setting->name));
        buf_put_text(out, ": {\"value\": ");
        buf_reset(&text);
        setting_put_public(setting, config->values[id].text, &text);
        if (is_bare(setting))
            buf_put(out, buf_bytes(&text));
        else
            text_put_json(out, buf_bytes(&text));
        buf_put_text(out, ", \"origin\": ");
        buf_reset(&text);
        config_put_origin(config, id, &text);
        text_put_json(out, buf_bytes(&text));
        buf_put_byte(out, '}');
    }
    buf_put_text(out, "\n}\n");
    buf_release(&text);
}

static const char reference_head[] =
    "# Settings\n"
    "\n"
    "<!-- Written by `torg help --format config`; a test compares them. -->\n"
    "\n"
    "One file, `torg.toml` in the working directory, or the one named by `--config FILE` or\n"
    "`TORG_CONFIG`. It has the look of TOML: `[section]`, `key = value`, `# comment`; values may\n"
    "be bare, \"quoted\" or 'literal'. Everything works without it.\n"
    "\n"
    "A setting `section.key` can also be given as the environment variable `TORG_SECTION_KEY` and\n"
    "as the flag `--section.key=value`. A flag beats the environment, which beats the file, which\n"
    "beats the default. An unknown name in any of them is an error. Relative paths start at the\n"
    "working directory.\n"
    "\n"
    "- `torg config check [FILE]` reports everything that is wrong, with line numbers.\n"
    "- `torg config dump` prints every setting, its value and where it came from. Its output is\n"
    "  itself a configuration file (passwords in URLs are masked).\n";

void config_reference(struct buf *out)
{
    char variable[SETTING_VARIABLE_SIZE];

    buf_put_text(out, reference_head);
    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *setting = &setting_table[id];

        if (opens_section(id)) {
            buf_put_text(out, "\n## [");
            put_section(id, out);
            buf_put_text(out, "]\n");
        }
        setting_variable(setting, variable);
        buf_printf(out, "\n### %s\n\n%s\n\n- Takes ", setting->name, setting->help);
        setting_describe(setting, out);
        buf_printf(out, *setting->default_text ? ". Default: `%s`.\n" : ". Unset by default.%s\n",
                   setting->default_text);
        buf_printf(out, "- Environment: `%s`. Flag: `--%s`", variable, setting->name);
        if (setting->flag)
            buf_printf(out, " or `--%s`", setting->flag);
        buf_put_text(out, ".\n");
    }
}
