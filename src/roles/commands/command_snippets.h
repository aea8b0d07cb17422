/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_snippets.h - the rows of the command table (command.h) for snippets, and their options.
 *
 * For command.c alone, which has no room for them.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_SNIPPETS_H
#define TORG_ROLES_COMMANDS_COMMAND_SNIPPETS_H

#include "roles/commands/command.h"

#define SNIPPET_LANGUAGE                                                                           \
    {                                                                                              \
        "language", "LANGUAGE", "Of a snippet that is in several."                                 \
    }
static const struct command_option snippets_prefixes_options[] = {
    {"allot", NULL, "Add a prefix for each snippet that has none."},
    {"free", "NAME", "Take the prefix of a snippet that is gone out of the file."},
    {NULL, NULL, NULL}};
static const struct command_option snippets_language_options[] = {SNIPPET_LANGUAGE,
                                                                  {NULL, NULL, NULL}};
static const struct command_option snippets_put_options[] = {
    SNIPPET_LANGUAGE, {"format", "FORMAT", "TEXT, JSON, PB, XML or BINARY."}, {NULL, NULL, NULL}};

static const struct command_option snippets_load_options[] = {
    {"dry-run", NULL, "Check the file and report what would change; change nothing."},
    {"allow-removal", "PERCENT", "How much of what is shown may go (default 20)."},
    {"format", "FORMAT", "Of the values: JSON (default), TEXT, PB, XML or BINARY."},
    {"quiet", NULL, "Show no progress."},
    {NULL, NULL, NULL}};

static const struct command_option snippets_watch_options[] = {
    {"position", "POSITION", "Begin after this position: where another watch ended."},
    {"count", "NUMBER", "End after this many changes."},
    {NULL, NULL, NULL}};

#define SNIPPET_COMMANDS                                                                           \
    {.name = "snippets check",                                                                     \
     .summary = "check a config of snippets, with its schemas and key prefixes",                   \
     .arguments = "[FILE]",                                                                        \
     .details = "The setting snippets.config without FILE. What is wrong is reported by line and " \
                "column.",                                                                         \
     .example = "torg snippets check snippets.pb.txt",                                             \
     .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                                   \
     .argument_max = 1,                                                                            \
     .run = cmd_snippets_check},                                                                   \
        {.name = "snippets prefixes",                                                              \
         .summary = "list the key prefixes of snippets, allot missing ones, free unused ones",     \
         .arguments = "[FILE]",                                                                    \
         .details = "FILE is the config. A prefix is freed only when nothing is stored under it.", \
         .example = "torg snippets prefixes --allot snippets.pb.txt",                              \
         .options = snippets_prefixes_options,                                                     \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                               \
         .argument_max = 1,                                                                        \
         .run = cmd_snippets_prefixes},                                                            \
        {.name = "snippets get",                                                                   \
         .summary = "show snippets of a name or group",                                            \
         .arguments = "NAME KEY...",                                                               \
         .details = "In the language or, where that is not there, in none.",                       \
         .example = "torg snippets get rating 1000-0000-0000-0007",                                \
         .options = snippets_language_options,                                                     \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .argument_min = 2,                                                                        \
         .argument_max = ARGUMENT_COUNT_MAX,                                                       \
         .run = cmd_snippets_get},                                                                 \
        {.name = "snippets put",                                                                   \
         .summary = "store a snippet, or all of a group",                                          \
         .arguments = "NAME KEY [FILE]",                                                           \
         .details = "FILE, or standard input, is JSON unless --format says otherwise.",            \
         .example = "echo '{\"stars\": 4.5}' | torg snippets put rating 1000-0000-0000-0007",      \
         .options = snippets_put_options,                                                          \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                               \
         .argument_min = 2,                                                                        \
         .argument_max = 3,                                                                        \
         .run = cmd_snippets_put},                                                                 \
        {.name = "snippets load",                                                                  \
         .summary = "replace all of a snippet or a group by what is in a file",                    \
         .arguments = "NAME FILE",                                                                 \
         .details =                                                                                \
             "JSON lines with key, value and maybe language; CSV or Avro with such columns; "      \
             "gzip too; - is standard input. It is shown when it is whole, and what is not "       \
             "in it goes.",                                                                        \
         .example = "torg snippets load rating ratings.jsonl --dry-run\n"                          \
                    "torg snippets load rating ratings.jsonl",                                     \
         .options = snippets_load_options,                                                         \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .argument_min = 2,                                                                        \
         .argument_max = 2,                                                                        \
         .run = cmd_snippets_load},                                                                \
        {.name = "snippets rollback",                                                              \
         .summary = "show what was shown before the last load of a snippet or a group",            \
         .arguments = "NAME",                                                                      \
         .details = "With single writes since. A second time: the load again.",                    \
         .example = "torg snippets rollback rating",                                               \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                               \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_snippets_rollback},                                                            \
        {.name = "snippets watch",                                                                 \
         .summary = "show changes of a snippet or a group as they are made",                       \
         .arguments = "NAME [KEY...]",                                                             \
         .details =                                                                                \
             "A line each, with what is there now, until Ctrl-C; of these keys, or of all.",       \
         .example = "torg snippets watch rating",                                                  \
         .options = snippets_watch_options,                                                        \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .argument_min = 1,                                                                        \
         .argument_max = ARGUMENT_COUNT_MAX,                                                       \
         .run = cmd_snippets_watch},                                                               \
    {                                                                                              \
        .name = "snippets delete", .summary = "remove a snippet, or all of a group",               \
        .arguments = "NAME KEY",                                                                   \
        .details = "Without --language: in all languages that it is converted to, or in none.",    \
        .example = "torg snippets delete rating 1000-0000-0000-0007",                              \
        .options = snippets_language_options, .flags = COMMAND_SETTINGS | COMMAND_CONFIG,          \
        .argument_min = 2, .argument_max = 2, .run = cmd_snippets_delete                           \
    }

#endif
