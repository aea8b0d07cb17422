/* SPDX-License-Identifier: Apache-2.0 */
/* feed_file_options.h - how a command line says that a feed file is read, and what its rows become.
 */
#ifndef TORG_ROLES_COMMANDS_FEED_FILE_OPTIONS_H
#define TORG_ROLES_COMMANDS_FEED_FILE_OPTIONS_H

#include "feeds/formats/reader.h"
#include "feeds/mapping/mapping.h"
#include "roles/commands/command.h"

/* --decimal: '.', ',' or 0. */
int feed_file_decimal(const struct invocation *invocation, char *decimal, struct err *err);

/* --format, --encoding, --delimiter, --currency, --decimal. */
int feed_file_options(const struct invocation *invocation, struct feed_options *options,
                      struct err *err);

/* By --categories, --category, --shorten and --decimal. *categories: what is kept for the feed, if
 * anything; then what --categories has, if it is given, in the invocation's arena. *bad_file: what
 * failed is the content of a file, not the command line. */
int feed_file_mapping(const struct invocation *invocation, struct catalog *catalog,
                      struct bytes *categories, struct feed_mapping **mapping, bool *bad_file,
                      struct err *err);

#endif
