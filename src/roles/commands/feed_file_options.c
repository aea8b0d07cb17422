/* SPDX-License-Identifier: Apache-2.0 */
/* feed_file_options.c - see feed_file_options.h. */
#include "roles/commands/feed_file_options.h"

#include <string.h>

#include "base/file.h"
#include "base/object.h"
#include "feeds/bounds.h"

int feed_file_decimal(const struct invocation *invocation, char *decimal, struct err *err)
{
    const char *given = invocation_option(invocation, "decimal");

    *decimal = 0;
    if (!given)
        return 0;
    if (strcmp(given, ".") == 0 || strcmp(given, "point") == 0)
        *decimal = '.';
    else if (strcmp(given, ",") == 0 || strcmp(given, "comma") == 0)
        *decimal = ',';
    else
        return err_set(err, ERR_INVALID, "--decimal=%.64s: expected point or comma", given);
    return 0;
}

int feed_file_options(const struct invocation *invocation, struct feed_options *options,
                      struct err *err)
{
    const char *format = invocation_option(invocation, "format");
    const char *delimiter = invocation_option(invocation, "delimiter");

    object_check(invocation, INVOCATION_MAGIC);
    options->yml_doctype = true;
    options->encoding = invocation_option(invocation, "encoding");
    options->currency = invocation_option(invocation, "currency");
    if (format && !feed_format_parse(format, &options->format))
        return err_set(err, ERR_INVALID,
                       "--format=%.64s: expected one of yml, avito, google, csv, json (or auto)",
                       format);
    if (delimiter) {
        options->delimiter = strcmp(delimiter, "tab") == 0 ? '\t' : delimiter[0];
        if (strlen(delimiter) != 1 && strcmp(delimiter, "tab") != 0)
            return err_set(err, ERR_INVALID, "--delimiter=%.64s: expected one of , ; | or tab",
                           delimiter);
    }
    return feed_file_decimal(invocation, &options->decimal, err);
}

int feed_file_mapping(const struct invocation *invocation, struct catalog *catalog,
                      struct bytes *categories, struct feed_mapping **mapping, bool *bad_file,
                      struct err *err)
{
    const char *path = invocation_option(invocation, "categories");
    struct feed_mapping_options options = {
        .category = invocation_option(invocation, "category"),
        .shorten = invocation_option(invocation, "shorten") != NULL,
    };
    struct buf map = BUF_INIT(FEED_MAP_SIZE_MAX);
    int rc = feed_file_decimal(invocation, &options.decimal, err);

    object_check(invocation, INVOCATION_MAGIC);
    *mapping = NULL;
    if (!rc && path)
        rc = file_read(path, &map, err);
    if (rc)
        goto out;
    if (path)
        *categories = arena_copy(invocation->arena, buf_bytes(&map));
    options.categories = *categories;
    rc = feed_mapping_new(catalog, &options, mapping, err);
    *bad_file = rc != 0;
    if (rc && path)
        err_wrap(err, "%s", path);
    else if (rc && categories->size)
        err_wrap(err, "the categories that were set for the feed do not fit the catalogue");
out:
    buf_release(&map);
    return rc;
}
