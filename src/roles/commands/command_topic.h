/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_topic.h - the rows of the command table (command.h) for topics, and their options.
 *
 * For command.c alone, which has no room for them.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_TOPIC_H
#define TORG_ROLES_COMMANDS_COMMAND_TOPIC_H

#include "roles/commands/command.h"

static const struct command_option topic_read_options[] = {
    {"limit", "COUNT", "How many records (default 10, at most 1000)."},
    {"from", "PARTITION[:OFFSET]", "Begin there, instead of showing the newest."},
    {NULL, NULL, NULL}};
static const struct command_option topic_write_options[] = {
    {"key", "KEY", "Records of one key stay in order (default: empty)."},
    {"raw", NULL, "FILE has the record's bytes, also of a topic whose records have a known type."},
    {NULL, NULL, NULL}};

static const char topic_write_details[] =
    "FILE, or standard input, is one record: JSON where the topic carries messages of a known "
    "type, its bytes otherwise; an empty file is an empty record. Only of topics that others than "
    "Torg write: documents, moderation-opinions, photo-results, events, feed-events, and any that "
    "is not Torg's own, such as those of snippets. Durable when the command ends. Recorded in the "
    "audit log.";

#define TOPIC_COMMANDS                                                                             \
    {.name = "topic list",                                                                         \
     .summary = "list the topics and how much is in them",                                         \
     .arguments = "",                                                                              \
     .details = "Works through the server that runs on the data directory, or on the directory "   \
                "itself when none runs.",                                                          \
     .example = "torg topic list",                                                                 \
     .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                    \
     .run = cmd_topic_list},                                                                       \
        {.name = "topic read",                                                                     \
         .summary = "show the newest records of a topic",                                          \
         .arguments = "TOPIC",                                                                     \
         .details =                                                                                \
             "Records whose type is known are shown as JSON, the oldest of them first. Nothing "   \
             "is taken out, and no consumer is touched.",                                          \
         .example = "torg topic read offer-updates --limit 1\n"                                    \
                    "torg topic read offer-updates --from 3:1500 --json",                          \
         .options = topic_read_options,                                                            \
         .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_topic_read},                                                                   \
    {                                                                                              \
        .name = "topic write", .summary = "append a record to a topic",                            \
        .arguments = "TOPIC [FILE|-]", .details = topic_write_details,                             \
        .example = "torg topic write shop-ratings rating.json --key 9936-6453-6831-5238",          \
        .options = topic_write_options, .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG, \
        .argument_min = 1, .argument_max = 2, .run = cmd_topic_write                               \
    }

#endif
