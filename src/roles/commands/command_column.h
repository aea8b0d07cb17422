/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_column.h - the rows of the command table (command.h) for columns from outside, and their
 * options.
 *
 * For command.c alone, which has no room for them.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_COLUMN_H
#define TORG_ROLES_COMMANDS_COMMAND_COLUMN_H

#include "roles/commands/command.h"

#define COLUMN_CLIENT                                                                              \
    {                                                                                              \
        "client", "NAME", "Whose documents (default: default)."                                    \
    }

static const struct command_option column_build_options[] = {
    {"values", "TABLE", "Keys and values: .csv, .tsv, .jsonl, .ndjson or .avro."},
    {"value-column", "NAME", "The column of values (default: value)."},
    {"key-columns", "NAMES",
     "Columns of the key, 1 to 4 with commas (default: those of business_id, offer_id, shop_id, "
     "warehouse_id that there are, or pk)."},
    {"digits", "COUNT", "Digits after the point that are kept, 0 to 9 (default 0)."},
    {"output", "NAME", "Write NAME.SHARD.column for each shard."},
    {NULL, NULL, NULL}};
static const struct command_option column_load_options[] = {
    COLUMN_CLIENT,
    {"name", "NAME", "Queries say x.NAME (default: what FILE is called before its first point)."},
    {"wait", "DURATION", "Wait until all searchers have it, at most this long."},
    {NULL, NULL, NULL}};
static const struct command_option column_list_options[] = {COLUMN_CLIENT, {NULL, NULL, NULL}};

static const char column_build_details[] =
    "NUMBERS are the states that torg numerator export wrote, one for each shard, or the one of a "
    "batch. Keys without a number are counted and passed by; an empty value is none; of a key that "
    "comes twice the last value counts. Needs no server. docs/columns.md has the format, with a "
    "writer in Python.";
static const char column_load_details[] =
    "A file for each shard, all at once. They are checked, copied to the blob store and used by "
    "all searchers within seconds, in the place of what the name had; a kill leaves the one or the "
    "other. Refused, with the reason, when the numbers that they were made from (T.S.V.G) are not "
    "those of the client.";

#define COLUMN_COMMANDS                                                                            \
    {.name = "column build",                                                                       \
     .summary = "make a column by number from values by key",                                      \
     .arguments = "NUMBERS…",                                                                      \
     .details = column_build_details,                                                              \
     .example = "torg column build --values ctr.csv --digits 4 --output ctr shop-0.numbers",       \
     .options = column_build_options,                                                              \
     .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                                   \
     .argument_min = 1,                                                                            \
     .argument_max = ARGUMENT_COUNT_MAX,                                                           \
     .run = cmd_column_build},                                                                     \
        {.name = "column load",                                                                    \
         .summary = "give searchers a column that was made elsewhere",                             \
         .arguments = "FILE…",                                                                     \
         .details = column_load_details,                                                           \
         .example = "torg column load --client shop --wait 1m ctr.0.column",                       \
         .options = column_load_options,                                                           \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .argument_min = 1,                                                                        \
         .argument_max = ARGUMENT_COUNT_MAX,                                                       \
         .run = cmd_column_load},                                                                  \
        {.name = "column list",                                                                    \
         .summary = "show the columns from outside, and whether they fit",                         \
         .arguments = "",                                                                          \
         .details =                                                                                \
             "What each was made from (T.S.V.G), and how many shards of searchers have it.",       \
         .example = "torg column list --client shop",                                              \
         .options = column_list_options,                                                           \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .run = cmd_column_list},                                                                  \
    {                                                                                              \
        .name = "column drop", .summary = "take a column from outside away", .arguments = "NAME",  \
        .details = "Queries that name it are refused within seconds, without a restart.",          \
        .example = "torg column drop --client shop ctr", .options = column_list_options,           \
        .flags = COMMAND_SETTINGS | COMMAND_CONFIG, .argument_min = 1, .argument_max = 1,          \
        .run = cmd_column_drop                                                                     \
    }

#endif
