/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - which settings does this process have, and where does each come from?
 *
 * A flag beats the environment, which beats the file, which beats the default. Everything that
 * is wrong is found in one go and told with its place: file and line, variable or flag.
 * Read once, before threads start; constant afterwards.
 */
#ifndef TORG_CONFIG_CONFIG_H
#define TORG_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/violation.h"
#include "config/setting.h"

enum config_origin { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT, CONFIG_FLAG };

struct config_value {
    const char *text;
    int64_t number; /* of numbers, durations (µs), booleans and choices (their place) */
    enum config_origin origin;
    unsigned line; /* of the file */
};

struct config {
    struct arena *arena; /* borrowed: holds all texts */
    const char *file;    /* NULL: none was read */
    struct config_value values[SETTING_COUNT];
};

struct config_flag {
    const char *name; /* "section.key", or the short form; without dashes */
    const char *value;
};

struct config_sources {
    const char *file;               /* must exist; NULL: $TORG_CONFIG, or ./torg.toml if there */
    const char *const *environment; /* as environ; NULL = none */
    const struct config_flag *flags;
    size_t flag_count;
};

/* Fills config. 0, or ERR_INVALID when there are problems: field = place, reason = the fault. */
int config_load(struct config *config, const struct config_sources *sources, struct arena *arena,
                struct violations *problems);

/* The file's part of config_load, on content: for tests and fuzzing. */
void config_parse(struct config *config, struct bytes content, struct violations *problems);

static inline const char *config_text(const struct config *config, enum setting_id id)
{
    return config->values[id].text;
}

static inline int64_t config_number(const struct config *config, enum setting_id id)
{
    return config->values[id].number;
}

/* "default", "torg.toml:3", "TORG_SERVER_LISTEN", "--server.listen". */
void config_put_origin(const struct config *config, enum setting_id id, struct buf *out);

/* All settings as a file that config_load reads, the origin of each as a comment; or as JSON. */
void config_dump(const struct config *config, struct buf *out);
void config_dump_json(const struct config *config, struct buf *out);

/* docs/config.md: what each setting is for. */
void config_reference(struct buf *out);

#endif
