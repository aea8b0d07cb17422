/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_feeds.h - the options of the commands of feeds (command.h), and the rows of the table for
 * feeds by address.
 *
 * For command.c alone, which has no room for them.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_FEEDS_H
#define TORG_ROLES_COMMANDS_COMMAND_FEEDS_H

#include "roles/commands/command.h"

#define FEED_OPTIONS                                                                               \
    {"seller", "SELLER", "Whose feed it is."},                                                     \
    {                                                                                              \
        "feed", "NAME", "Which of the seller's feeds (default main)."                              \
    }

#define FEED_LANGUAGE_OPTION                                                                       \
    {                                                                                              \
        "language", "LANGUAGE", "Of what is told: en or ru (default en)."                          \
    }

static const struct command_option feed_options[] = {
    FEED_OPTIONS, FEED_LANGUAGE_OPTION, {NULL, NULL, NULL}};

#define FEED_FILE_OPTIONS                                                                          \
    {"categories", "FILE", "CSV that says which of our categories those of the feed are."},        \
        {"category", "ID", "Of ours, for rows whose category is none of ours (default: refuse)."}, \
        {"format", "FORMAT",                                                                       \
         "yml, avito, google, csv or json (lines); default: by its beginning."},                   \
        {"encoding", "NAME",                                                                       \
         "Of CSV and JSON lines, such as koi8-r; default: declared or guessed."},                  \
        {"delimiter", "SIGN",                                                                      \
         "Of CSV: , ; | or tab; default: the one the first line has most of."},                    \
        {"currency", "CODE", "Of prices without one (default RUB)."},                              \
        {"decimal", "SIGN",                                                                        \
         "What stands before fractions: point or comma; 1,999 is refused without."},               \
    {                                                                                              \
        "shorten", NULL, "Shorten titles and descriptions that are too long, with a note."         \
    }

static const struct command_option feed_check_options[] = {
    FEED_FILE_OPTIONS,
    FEED_LANGUAGE_OPTION,
    {"catalog", "FILE", "Check by this catalogue (default: the one in use here)."},
    {"template", "FILE", "Write FILE.csv for --categories: the feed's categories, with proposals."},
    {NULL, NULL, NULL}};

static const struct command_option feed_import_options[] = {
    FEED_OPTIONS,
    {"task", "NUMBER", "The task's number (default: one more than the newest has)."},
    {"dry-run", NULL, "Change nothing; report what would be created, updated and deleted."},
    {"report", "FILE",
     "Write what happened to each row to FILE.json, FILE.csv or FILE.xml; may be given twice."},
    FEED_FILE_OPTIONS,
    FEED_LANGUAGE_OPTION,
    {"quiet", NULL, "Show no progress, and no reasons of refused rows."},
    {NULL, NULL, NULL}};

static const struct command_option feed_list_options[] = {
    FEED_OPTIONS,
    {"limit", "COUNT", "How many tasks, the newest first (default 20, at most 1000)."},
    FEED_LANGUAGE_OPTION,
    {NULL, NULL, NULL}};

static const struct command_option feed_report_options[] = {
    FEED_OPTIONS,
    {"outcome", "OUTCOME",
     "Only rows that were created, updated, unchanged, banned, refused, left, deleted or revived."},
    {"report", "FILE",
     "Write FILE.json, FILE.csv or FILE.xml (default: JSON lines on standard output)."},
    {"groups", NULL, "Only the reasons, in groups with counts and examples."},
    FEED_LANGUAGE_OPTION,
    {NULL, NULL, NULL}};

static const struct command_option feed_schedule_options[] = {
    FEED_OPTIONS,
    {"every", "TIME", "Of add: how long from one run to the next, as 30m or 6h (default 1h)."},
    {"category", "ID", "Of add: of ours, for rows whose category is none of ours."},
    {"format", "FORMAT", "Of add: yml, avito, google, csv or json; default: by its beginning."},
    {"encoding", "NAME", "Of add: of CSV and JSON lines; default: declared or guessed."},
    {"delimiter", "SIGN", "Of add: of CSV: , ; | or tab; default: what its first line has."},
    {"currency", "CODE", "Of add: of prices without one (default RUB)."},
    {"decimal", "SIGN", "Of add: what stands before fractions, point or comma."},
    {"shorten", NULL, "Of add: shorten titles and descriptions that are too long."},
    {"again", NULL, "Of run: take the file also if it has not changed."},
    FEED_LANGUAGE_OPTION,
    {NULL, NULL, NULL}};

#define FEED_CATEGORIES_COMMANDS                                                                   \
    {                                                                                              \
        .name = "feed categories",                                                                 \
        .summary = "map the categories of a feed to ours, once for all imports",                   \
        .arguments = "show|set FILE|remove",                                                       \
        .details =                                                                                 \
            "What is set is used by imports without --categories and by feeds that are fetched. "  \
            "An import with --categories sets it, too. show: the file as it was given. "           \
            "docs/feeds.md explains it; torg feed check --template writes a first one.",           \
        .example = "torg feed categories set --seller s-17 map.csv\n"                              \
                   "torg feed categories show --seller s-17 --feed spare",                         \
        .options = feed_options, .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,        \
        .argument_min = 1, .argument_max = 2, .run = cmd_feed_categories                           \
    }

#define FEED_SCHEDULE_COMMANDS                                                                     \
    {                                                                                              \
        .name = "feed schedule",                                                                   \
        .summary = "have a feed fetched from its address, again and again",                        \
        .arguments = "add ADDRESS|list|show|pause|resume|run|remove",                              \
        .details =                                                                                 \
            "add: from now on; a feed has one address, and another takes its place. A file that "  \
            "has changed becomes a task of the feed, with its report and its guard. show: its "    \
            "last runs. run: now, and waits for what comes of it. One whose runs fail again and "  \
            "again is stopped; resume goes on with it, as with one that is paused.",               \
        .example = "torg feed schedule add --seller s-17 --every 1h https://shop.example/yml\n"    \
                   "torg feed schedule list --seller s-17\n"                                       \
                   "torg feed schedule run --seller s-17 --feed spare",                            \
        .options = feed_schedule_options,                                                          \
        .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG, .argument_min = 1,              \
        .argument_max = 2, .run = cmd_feed_schedule                                                \
    }

#endif
