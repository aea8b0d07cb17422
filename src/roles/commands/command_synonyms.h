/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_synonyms.h - the rows of the command table (command.h) for synonyms, and their options.
 *
 * For command.c alone, which has no room for them.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_SYNONYMS_H
#define TORG_ROLES_COMMANDS_COMMAND_SYNONYMS_H

#include "roles/commands/command.h"

#define SYNONYM_LANGUAGE                                                                           \
    {                                                                                              \
        "language", "LANGUAGE",                                                                    \
            "Whose set it is (default: what FILE is called before its first point, as ru.txt)."    \
    }
static const struct command_option synonyms_language_options[] = {SYNONYM_LANGUAGE,
                                                                  {NULL, NULL, NULL}};
static const struct command_option synonyms_apply_options[] = {
    SYNONYM_LANGUAGE,
    {"expect", "VERSION", "Do it only if this version is in force; 0: none."},
    {NULL, NULL, NULL}};
static const struct command_option synonyms_list_options[] = {
    {"language", "LANGUAGE", "Only this one, as the file that was applied."}, {NULL, NULL, NULL}};
static const struct command_option synonyms_proposals_options[] = {
    {"limit", "COUNT", "How many (default 50, at most 500)."}, {NULL, NULL, NULL}};

#define SYNONYM_COMMANDS                                                                           \
    {.name = "synonyms check",                                                                     \
     .summary = "check a file of synonyms",                                                        \
     .arguments = "FILE",                                                                          \
     .details =                                                                                    \
         "Needs no server. A line is a rule: \"bike, bicycle\" (each finds the others), "          \
         "\"tv => television\" (one way), or a comment after #. What is wrong is reported by "     \
         "line. docs/synonyms.md explains the format.",                                            \
     .example = "torg synonyms check en.txt",                                                      \
     .flags = COMMAND_JSON,                                                                        \
     .argument_min = 1,                                                                            \
     .argument_max = 1,                                                                            \
     .run = cmd_synonyms_check},                                                                   \
        {.name = "synonyms unused",                                                                \
         .summary = "show words of a file of synonyms that no offer has",                          \
         .arguments = "FILE",                                                                      \
         .details = "Asks the server that runs. Of \"tv => television\" offers should have what "  \
                    "stands on the right; of \"bike, bicycle\" one of the words. A word "          \
                    "in this list need not be wrong: offers come and go.",                         \
         .example = "torg synonyms unused en.txt",                                                 \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                               \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_synonyms_unused},                                                              \
        {.name = "synonyms diff",                                                                  \
         .summary = "show which rules a file of synonyms would add and remove",                    \
         .arguments = "FILE",                                                                      \
         .details = "Compares the file with what is in force in its language. Order, blanks and "  \
                    "comments make no difference.",                                                \
         .example = "torg synonyms diff en.txt",                                                   \
         .options = synonyms_language_options,                                                     \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_synonyms_diff},                                                                \
        {.name = "synonyms apply",                                                                 \
         .summary = "put a file of synonyms into force, on every server, without a restart",       \
         .arguments = "FILE",                                                                      \
         .details = "Shows the difference, then stores the file as the set of its language; the "  \
                    "sets of other languages stay. A file without a rule removes the "             \
                    "set of its language.",                                                        \
         .example = "torg synonyms apply en.txt\n"                                                 \
                    "torg synonyms apply words.txt --language ru --expect 3",                      \
         .options = synonyms_apply_options,                                                        \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_synonyms_apply},                                                               \
        {.name = "synonyms list",                                                                  \
         .summary = "show the synonyms that are in force",                                         \
         .arguments = "",                                                                          \
         .details = "A line for each language; with --language the file itself.",                  \
         .example = "torg synonyms list\n"                                                         \
                    "torg synonyms list --language en > en.txt",                                   \
         .options = synonyms_list_options,                                                         \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .run = cmd_synonyms_list},                                                                \
    {                                                                                              \
        .name = "synonyms proposals",                                                              \
        .summary = "show rules that visitors' retyped queries propose", .arguments = "",           \
        .details = "What visitors typed instead of a query that had not shown them what they "     \
                   "wanted, without the words that both have. Nothing of it is applied by "        \
                   "itself: copy what is right into a file, and what is not with =/> for the "     \
                   "arrow, then it is not proposed again.",                                        \
        .example = "torg synonyms proposals", .options = synonyms_proposals_options,               \
        .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG, .run = cmd_synonyms_proposals   \
    }

#endif
