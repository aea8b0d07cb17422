/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_numerator.h - the rows of the command table (command.h) for permanent numbers, and their
 * options.
 *
 * For command.c alone, which has no room for them.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_NUMERATOR_H
#define TORG_ROLES_COMMANDS_COMMAND_NUMERATOR_H

#include "roles/commands/command.h"

static const struct command_option numerator_export_options[] = {
    {"client", "NAME", "Whose documents (default: default)."},
    {"epoch", "NUMBER", "The numbers of this epoch (default: of the one that serves)."},
    {"shard", "NUMBER", "Which of its shards (default: 0)."},
    {NULL, NULL, NULL}};

#define NUMERATOR_KEY                                                                              \
    {                                                                                              \
        "key-columns", "NAMES",                                                                    \
            "Columns of the key, 1 to 4 with commas (default: those of business_id, offer_id, "    \
            "shop_id, warehouse_id that there are, or pk)."                                        \
    }

static const struct command_option numerator_inspect_options[] = {
    {"docs-table", "TABLE", "Write every key with its shard_id, doc_id, birth and seen."},
    NUMERATOR_KEY,
    {NULL, NULL, NULL}};
#define NUMERATOR_BATCH                                                                            \
    {"input-offers-table", "TABLE", "All offers that are there now."},                             \
        {"input-shops-dat-file-path", "TABLE",                                                     \
         "Columns shop_id and shard_id, for schemes by shop."},                                    \
        {"intermediate-new-docs-table", "TABLE", "Write the keys that got numbers."},              \
        {"intermediate-expired-docs-table", "TABLE", "Write the keys that lost theirs."},          \
        {"output-sharding-scheme", "SCHEME",                                                       \
         "1 to 4096: so many shards, by key; 10001 to 14096: 10000 less, by shop; 0: as the "      \
         "state has it (default). Another scheme renumbers everything."},                          \
        {"rebuild-state-force", NULL, "Renumber the offers that are there, without holes."},       \
        {"rebuild-hole-share", "SHARE",                                                            \
         "Do so when more of a shard's numbers belong to nobody, as 0.3 (default 0: never)."},     \
        {"rank-column", "NAME", "When renumbered, the greatest value of this comes first."},       \
        {"ttl", "COUNT",                                                                           \
         "Generations that an unseen key keeps its number (default: as before, 10)."},             \
        {"hold", "COUNT",                                                                          \
         "Generations before another key gets a number (default: as before, 0)."},                 \
        {"class-column", "NAME", "Placement class of new keys: neighbours are alike."},            \
        {"shop-column", "NAME", "Shop of schemes by shop (default: shop_id)."}, NUMERATOR_KEY,     \
    {                                                                                              \
        "type", "NUMBER", "T of T.S.V.G, of a first state (default 1); of others it is checked."   \
    }

static const struct command_option numerator_run_options[] = {
    {"input-state-table", "STATE", "The state to go on from (default: a first one is made)."},
    {"output-state-table", "STATE", "Where the new state goes; it appears last, and whole."},
    NUMERATOR_BATCH,
    {NULL, NULL, NULL}};
static const struct command_option numerator_master_options[] = {
    {"numbering", "NAME", "Which one: its register at the coordinator is numbering.NAME."},
    {"cluster", "NAME", "Whose master this is."},
    {"store", "URL", "Its own blob store (default: blob.url)."},
    {"reach", "CLUSTER=URL",
     "The store of another cluster as it is seen from here; several times."},
    {"limit", "DURATION", "How long it may take; then another goes on without it (default 1h)."},
    {"retry", "DURATION", "While another is making it, ask again this often (default 10s)."},
    {"wait", "DURATION", "Give up asking after this (default 1h)."},
    {"void-last", NULL,
     "The last state is lost: go on from the previous one, and renumber everything under a new V."},
    {"status", NULL, "Only show the last state, and who makes the next."},
    NUMERATOR_BATCH,
    {NULL, NULL, NULL}};

static const struct command_option numerator_import_options[] = {
    {"client", "NAME",
     "Whose numbers they become (default: default); it is made if there is none."},
    {NULL, NULL, NULL}};
static const char numerator_import_details[] =
    "For a client that has given no numbers yet, while no server runs: its documents get the "
    "numbers that the state has for their keys, others new ones. Keys are those of documents (one "
    "part), T is the client's number, S its shards; what does not fit is reported. Keys whose "
    "documents do "
    "not come lose their numbers as those of deleted documents do.";
static const char numerator_master_details[] =
    "The coordinator (coord.url) keeps the last consistent state and who may make the next, with a "
    "ticket. The master asks for it, copies the last state to its own store, runs as `numerator "
    "run` does, and publishes the new state: only for the newest ticket, and within its time. A "
    "master that was given up and comes back is refused, and its state removed. A last state that "
    "cannot be copied stops the numbering until it is there again, or declared void. Exits with 5 "
    "when another takes too long over it, with 1 when it is refused.";
static const char numerator_master_example[] =
    "torg numerator master --numbering blue --cluster vla --reach sas=dir:/mnt/sas "
    "--input-offers-table offers.csv --coord.url zookeeper://zk:2181/torg\n"
    "torg numerator master --numbering blue --status";
static const char numerator_run_details[] =
    "Offers that the state knows keep their numbers, those unseen for longer than --ttl lose "
    "theirs, new ones get free numbers first and then the next after the highest. Tables are "
    ".csv, .tsv, .jsonl, .ndjson or .avro by their names; they and states are files, or "
    "blob:NAME in the blob store. A run that fails or is killed leaves the state that was "
    "there. Needs no server, and none is in its way.";
static const char numerator_run_example[] =
    "torg numerator run --input-offers-table offers.csv --output-state-table 1.numbers\n"
    "torg numerator run --input-state-table 1.numbers --input-offers-table offers.csv "
    "--intermediate-new-docs-table new.csv --intermediate-expired-docs-table gone.csv "
    "--output-state-table 2.numbers";

#define NUMERATOR_COMMANDS                                                                         \
    {.name = "numerator compat",                                                                   \
     .summary = "check whether data by position fits a state of numbers",                          \
     .arguments = "STATE DATA",                                                                    \
     .details =                                                                                    \
         "Each is the file of a state, or a version T.S.V.G. Data fits when T, S and V are "       \
         "the state's, and its G is not greater. Exits with 1 when it does not.",                  \
     .example = "torg numerator compat 1.4.0.17 1.4.0.12",                                         \
     .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                                   \
     .argument_min = 2,                                                                            \
     .argument_max = 2,                                                                            \
     .run = cmd_numerator_compat},                                                                 \
        {.name = "numerator export",                                                               \
         .summary = "write the permanent numbers of a shard to a file",                            \
         .arguments = "FILE",                                                                      \
         .details =                                                                                \
             "On one snapshot; the file is whole or not there. A server may run meanwhile.",       \
         .example = "torg numerator export --client shop --shard 0 shop-0.numbers",                \
         .options = numerator_export_options,                                                      \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                               \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_numerator_export},                                                             \
        {.name = "numerator import",                                                               \
         .summary = "take a state in as the live numbers of a client",                             \
         .arguments = "STATE",                                                                     \
         .details = numerator_import_details,                                                      \
         .example = "torg numerator import --client shop state.numbers",                           \
         .options = numerator_import_options,                                                      \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                               \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_numerator_import},                                                             \
        {.name = "numerator inspect",                                                              \
         .summary = "check the file of a state of numbers, and show what it holds",                \
         .arguments = "STATE",                                                                     \
         .details = "A torn or damaged file is refused, with the place. A state is a file, or "    \
                    "blob:NAME in the blob store.",                                                \
         .example = "torg numerator inspect shop-0.numbers\n"                                      \
                    "torg numerator inspect state.numbers --docs-table docs.csv",                  \
         .options = numerator_inspect_options,                                                     \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG,                                               \
         .argument_min = 1,                                                                        \
         .argument_max = 1,                                                                        \
         .run = cmd_numerator_inspect},                                                            \
        {.name = "numerator master",                                                               \
         .summary = "make the next state of a numbering that several data centres share",          \
         .arguments = "",                                                                          \
         .details = numerator_master_details,                                                      \
         .example = numerator_master_example,                                                      \
         .options = numerator_master_options,                                                      \
         .flags = COMMAND_SETTINGS | COMMAND_CONFIG | COMMAND_JSON,                                \
         .run = cmd_numerator_master},                                                             \
    {                                                                                              \
        .name = "numerator run", .summary = "give permanent numbers to all offers of a table",     \
        .arguments = "", .details = numerator_run_details, .example = numerator_run_example,       \
        .options = numerator_run_options,                                                          \
        .flags = COMMAND_SETTINGS | COMMAND_CONFIG | COMMAND_JSON, .run = cmd_numerator_run        \
    }

#endif
