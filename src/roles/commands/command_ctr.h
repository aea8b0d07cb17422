/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_ctr.h - the rows of the command table (command.h) for counts of clicks that were made
 * elsewhere, and their options.
 *
 * For command.c alone, which has no room for them.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_CTR_H
#define TORG_ROLES_COMMANDS_COMMAND_CTR_H

#include "roles/commands/command.h"

static const struct command_option ctr_push_options[] = {
    {"epoch", "TIME",
     "The moment up to which TABLE counts: as 2026-11-18T09:00:00Z, or seconds since 1970."},
    {"dry-run", NULL, "Check all of it, and leave the epoch in force."},
    {"wait", "DURATION",
     "Wait until the rates are sent to the index, at most this long; needs the scope "
     "pipeline.read, too."},
    {"quiet", NULL, "Show no progress."},
    {NULL, NULL, NULL}};

static const char ctr_push_details[] =
    "TABLE is .csv, .tsv, .jsonl, .ndjson or .avro, a local file or blob:NAME, with a row an "
    "offer: offer (or offer_id), clicks, and looks (in millionths, as tables of an hour have "
    "them) or shows; category if its rate is to be smoothed by it. It takes the place of what was "
    "counted before TIME, hours since are added. The epoch in force changes when TABLE is loaded "
    "whole: a kill leaves the previous one, and an epoch that is not later is refused. The "
    "composer's process sends the rates as changes of fields, then. Kept in the audit log.";

#define CTR_COMMANDS                                                                               \
    {.name = "ctr push",                                                                           \
     .summary = "load counts of shows and clicks that were made elsewhere",                        \
     .arguments = "TABLE",                                                                         \
     .details = ctr_push_details,                                                                  \
     .example = "torg ctr push --epoch 2026-11-18T09:00:00Z --wait 1m clicks.avro",                \
     .options = ctr_push_options,                                                                  \
     .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,                                    \
     .argument_min = 1,                                                                            \
     .argument_max = 1,                                                                            \
     .run = cmd_ctr_push},                                                                         \
    {                                                                                              \
        .name = "ctr status", .summary = "show the counts of clicks that are in force, and loads", \
        .arguments = "",                                                                           \
        .details = "Of the table that was pushed last: its epoch, its rows, and whether all its "  \
                   "rates are sent to the index; then loads on their way.",                        \
        .example = "torg ctr status", .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,   \
        .run = cmd_ctr_status                                                                      \
    }

#endif
