/* SPDX-License-Identifier: Apache-2.0 */
/* backends.c - see backends.h. */
#include "roles/processes/backends.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "access/audit.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "roles/bounds.h"
#include "store/migrate.h"

/* The setting, or the embedded backend at its place in the data directory. */
static const char *url_of(const struct config *config, enum setting_id id, const char *scheme,
                          const char *place, struct arena *arena)
{
    const char *url = config_text(config, id);

    if (*url)
        return url;
    return arena_printf(arena, "%s:%s/%s", scheme, config_text(config, SETTING_DATA_DIR), place);
}

/* What the file has, without the end of its line. NULL: no file is named. */
static int read_password(const struct config *config, enum setting_id id, struct arena *arena,
                         const char **password, struct err *err)
{
    const char *path = config_text(config, id);
    struct buf text = BUF_INIT(PASSWORD_SIZE_MAX);
    int rc = 0;

    *password = NULL;
    if (*path)
        rc = file_read(path, &text, err);
    if (rc)
        err_wrap(err, "%s", setting_table[id].name);
    while (text.size && strchr("\r\n", text.data[text.size - 1]))
        text.size--;
    if (!rc && *path)
        *password = arena_text(arena, buf_bytes(&text));
    buf_release(&text);
    return rc;
}

static int record_migration(struct store *store, struct arena *arena, size_t applied,
                            struct err *err)
{
    const struct audit_entry entry = {
        .at_us = clock_wall_us(store_clock(store)),
        .principal = "local",
        .action = "store.migrate",
        .target = store_backend(store),
        .detail = arena_printf(arena, "%zu applied, by torg " TORG_VERSION, applied),
    };

    return audit_record(store, &entry, err);
}

int backends_join_store(const struct config *config, const struct clock *clock, struct arena *arena,
                        struct store **store, struct err *err)
{
    const struct store_options options = {.clock = clock,
                                          .ca = config_text(config, SETTING_STORE_CA)};

    return store_open_with(url_of(config, SETTING_STORE_URL, "sqlite", "store.sqlite", arena),
                           &options, store, err);
}

int backends_open_store(const struct config *config, const struct clock *clock, struct arena *arena,
                        struct store **store, size_t *applied, struct err *err)
{
    size_t count = 0;
    int rc;

    rc = backends_join_store(config, clock, arena, store, err);
    if (rc)
        return rc;
    rc = store_migrate(*store, &count, err);
    if (!rc && count)
        rc = record_migration(*store, arena, count, err);
    if (rc) {
        store_close(*store);
        *store = NULL;
    }
    if (applied)
        *applied = count;
    return rc;
}

/* This process among those that share the work: its machine and pid. */
static const char *member_name(struct arena *arena)
{
    char host[HOST_NAME_MAX + 1] = "";
    char *name;

    if (gethostname(host, sizeof(host) - 1) || !isalnum((unsigned char)host[0]))
        name = arena_printf(arena, "host-%d", (int)getpid());
    else
        name = arena_printf(arena, "%.40s-%d", host, (int)getpid());
    for (char *at = name; *at; at++) {
        if (!isascii(*at) || (!isalnum((unsigned char)*at) && !strchr("._:-", *at)))
            *at = '-';
    }
    return name;
}

int backends_open_topics(const struct config *config, const struct clock *clock,
                         struct arena *arena, struct topics **topics, struct err *err)
{
    const char *sasl = config_text(config, SETTING_TOPIC_SASL);
    struct topics_options options = {
        .clock = clock,
        .prefix = config_text(config, SETTING_TOPIC_PREFIX),
        .security = {.sasl = strcmp(sasl, "none") == 0 ? NULL : sasl,
                     .user = config_text(config, SETTING_TOPIC_USER),
                     .tls = config_number(config, SETTING_TOPIC_TLS),
                     .ca = config_text(config, SETTING_TOPIC_CA),
                     .certificate = config_text(config, SETTING_TOPIC_CERTIFICATE),
                     .key = config_text(config, SETTING_TOPIC_KEY)}};
    int rc =
        read_password(config, SETTING_TOPIC_PASSWORD_FILE, arena, &options.security.password, err);

    return rc ? rc
              : topics_open(url_of(config, SETTING_TOPIC_URL, "file", "topics", arena), &options,
                            topics, err);
}

int backends_open_coord(const struct config *config, const struct clock *clock, struct arena *arena,
                        struct coord **coord, struct err *err)
{
    struct coord_options options = {
        .clock = clock,
        .user = config_text(config, SETTING_COORD_USER),
        .tls = {.on = config_number(config, SETTING_COORD_TLS),
                .ca = config_text(config, SETTING_COORD_CA),
                .certificate = config_text(config, SETTING_COORD_CERTIFICATE),
                .key = config_text(config, SETTING_COORD_KEY)}};
    int rc = read_password(config, SETTING_COORD_PASSWORD_FILE, arena, &options.password, err);

    return rc ? rc
              : coord_open(url_of(config, SETTING_COORD_URL, "local", "coord", arena),
                           member_name(arena), &options, coord, err);
}

int backends_open_blob(const struct config *config, struct arena *arena, struct blob **blob,
                       struct err *err)
{
    return blob_open(url_of(config, SETTING_BLOB_URL, "dir", "blobs", arena), blob, err);
}

int backends_open(const struct config *config, const struct clock *clock, struct arena *arena,
                  struct backends *backends, struct err *err)
{
    int rc;

    *backends = (struct backends){.store = NULL};
    rc = backends_open_store(config, clock, arena, &backends->store, NULL, err);
    if (!rc)
        rc = backends_open_topics(config, clock, arena, &backends->topics, err);
    if (!rc)
        rc = backends_open_coord(config, clock, arena, &backends->coord, err);
    if (!rc)
        rc = backends_open_blob(config, arena, &backends->blob, err);
    if (rc)
        backends_close(backends);
    return rc;
}

void backends_close(struct backends *backends)
{
    blob_close(backends->blob);
    coord_close(backends->coord);
    topics_close(backends->topics);
    store_close(backends->store);
    *backends = (struct backends){.store = NULL};
}
