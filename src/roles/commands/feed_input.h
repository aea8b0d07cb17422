/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_input.h - the bytes of a feed, wherever a person says they are: a file, an address of the
 * web, "-" for the standard input; gzip or not.
 */
#ifndef TORG_ROLES_COMMANDS_FEED_INPUT_H
#define TORG_ROLES_COMMANDS_FEED_INPUT_H

#include <stdbool.h>

#include "base/err.h"
#include "feeds/formats/source.h"

struct feed_input;

/* quiet: does not tell which address is asked. */
int feed_input_open(const char *place, bool quiet, struct feed_input **input, struct err *err);
void feed_input_close(struct feed_input *input); /* NULL is fine */

struct feed_source *feed_input_source(struct feed_input *input);
/* How a person knows it: the file's name without its folders, the address without a password. */
const char *feed_input_name(const struct feed_input *input);
/* As they came, packed if they were; total 0: not known. */
void feed_input_sizes(const struct feed_input *input, uint64_t *read_size, uint64_t *total_size);

#endif
