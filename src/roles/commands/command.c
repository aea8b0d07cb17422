/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - see command.h. */
#include "roles/commands/command.h"

#include <string.h>

#include "access/scope.h"
#include "base/memory.h"
#include "roles/commands/command_column.h"
#include "roles/commands/command_ctr.h"
#include "roles/commands/command_feeds.h"
#include "roles/commands/command_numerator.h"
#include "roles/commands/command_snippets.h"
#include "roles/commands/command_synonyms.h"
#include "roles/commands/command_topic.h"
#include "roles/processes/process.h"

const char *const exit_code_help[EXIT_CODE_COUNT] = {
    [EXIT_OK] = "done",
    [EXIT_FAILED] = "failed; the reason is on standard error",
    [EXIT_USAGE] = "the command line is wrong",
    [EXIT_CONFIG] = "the configuration is wrong",
    [EXIT_NOT_FOUND] = "there is no such thing",
    [EXIT_UNAVAILABLE] = "a server does not answer, or the data directory is in use: try later",
};

static const struct command_option trace_options[] = {
    {"client", "NAME", "Whose document it is (default: default, offers for an offer's id)."},
    {NULL, NULL, NULL}};

static const struct command_option verify_options[] = {
    {"client", "NAME", "Only this client's documents (default: all, and offers' counters)."},
    {"fix", NULL, "Queue again whatever differs, and correct counters."},
    {"rebuild", NULL, "Also rebuild each shard in memory, and compare its content."},
    {NULL, NULL, NULL}};

static const struct command_option demo_options[] = {
    {"offers", "COUNT", "How many offers the shop gets (default 20000, at most 1000000)."},
    {"changes", "RATE", "Changes per second afterwards (default 5, at most 1000; 0: none)."},
    {NULL, NULL, NULL}};

#define PARKED_STAGE                                                                               \
    {                                                                                              \
        "stage", "NAME",                                                                           \
            "Of this stage only: composer, receiver, takedowns, opinions, events, messages, "      \
            "photos, photo-first, photo-fetch, refusals, feeds, or snippets:TOPIC."                \
    }
static const struct command_option parked_list_options[] = {
    PARKED_STAGE, {"limit", "COUNT", "How many (default 50, at most 500)."}, {NULL, NULL, NULL}};
static const struct command_option parked_show_options[] = {PARKED_STAGE, {NULL, NULL, NULL}};
static const struct command_option parked_replay_options[] = {
    PARKED_STAGE, {"all", NULL, "Everything that is parked."}, {NULL, NULL, NULL}};
static const struct command_option parked_drop_options[] = {
    PARKED_STAGE, {"all", NULL, "Also everything that waits behind it."}, {NULL, NULL, NULL}};

#define QUEUE_CLIENT                                                                               \
    {                                                                                              \
        "client", "NAME", "Whose documents (default: default)."                                    \
    }

#define EPOCH_FIELD                                                                                \
    {                                                                                              \
        "field", "NAME=TYPE",                                                                      \
            "A field with another type, or a new one; may be given several times."                 \
    }
#define EPOCH_SCHEMA                                                                               \
    {                                                                                              \
        "schema", "FILE", "The same as JSON, with options: {\"fields\": [{\"name\", \"type\"}]}."  \
    }
#define EPOCH_EPOCH                                                                                \
    {                                                                                              \
        "epoch", "NUMBER", "Do it only if it is about this epoch."                                 \
    }
#define EPOCH_LOSSES                                                                               \
    {                                                                                              \
        "accept-losses", NULL, "Do it even if documents do not fit it and would not be found."     \
    }
static const struct command_option epoch_plan_options[] = {
    QUEUE_CLIENT,
    EPOCH_FIELD,
    EPOCH_SCHEMA,
    {"epoch", "NUMBER",
     "Instead of a schema: which documents do not fit this epoch that there is."},
    {NULL, NULL, NULL}};
static const struct command_option epoch_start_options[] = {
    QUEUE_CLIENT,
    EPOCH_FIELD,
    EPOCH_SCHEMA,
    {"shards", "COUNT", "Shards of its index: a multiple of what the client began with."},
    {"renumber", NULL, "Number all documents again, without holes."},
    {"by", "FIELD",
     "With --renumber: in the order of this number or date, the greatest first; documents "
     "without one come last."},
    {"ascending", NULL, "With --by: the smallest first."},
    {NULL, NULL, NULL}};
static const struct command_option epoch_status_options[] = {QUEUE_CLIENT, {NULL, NULL, NULL}};
static const struct command_option epoch_switch_options[] = {
    QUEUE_CLIENT,
    EPOCH_EPOCH,
    {"wait", "DURATION", "Wait up to this long for what is missing, such as 1m; at most 24h."},
    {"force", NULL, "Switch even if something is missing in it."},
    EPOCH_LOSSES,
    {NULL, NULL, NULL}};
static const struct command_option epoch_compare_options[] = {
    QUEUE_CLIENT,
    {"epoch", "NUMBER", "The other epoch (default: the one that is built, or kept)."},
    {NULL, NULL, NULL}};
static const struct command_option epoch_abandon_options[] = {
    QUEUE_CLIENT, EPOCH_EPOCH, {NULL, NULL, NULL}};
static const struct command_option epoch_rollback_options[] = {
    QUEUE_CLIENT, EPOCH_EPOCH, EPOCH_LOSSES, {NULL, NULL, NULL}};
static const struct command_option queue_list_options[] = {
    {"client", "NAME", "Only this client's (of failed documents, default: default)."},
    {"failed", NULL, "The documents that could not be indexed, instead of the lanes."},
    {"parked", NULL, "Of them, only those that wait for a person."},
    {"pk", "PREFIX", "Of them, only keys that begin so."},
    {"reason", "TEXT", "Of them, only reasons that have this in them."},
    {"limit", "COUNT", "At most this many of them (up to 1000; default: all)."},
    {NULL, NULL, NULL}};
static const struct command_option queue_options[] = {QUEUE_CLIENT, {NULL, NULL, NULL}};
static const struct command_option queue_replay_options[] = {
    QUEUE_CLIENT, {"all", NULL, "All failed documents of the client."}, {NULL, NULL, NULL}};

static const struct command_option audit_options[] = {
    {"limit", "COUNT", "How many entries, the newest first (default 20, at most 1000)."},
    {NULL, NULL, NULL}};

static const struct command_option audit_verify_options[] = {
    {"expect", "SEQ:HASH", "An entry and its hash, as an earlier run has printed them."},
    {NULL, NULL, NULL}};

static const struct command_option catalog_apply_options[] = {
    {"expect", "VERSION", "Refuse unless this version is in use (default: the one just compared)."},
    {"force", NULL, "Apply it even if offers would break its rules, or not be found."},
    {"with-epoch", NULL, "If the index cannot take an attribute, start an epoch that can."},
    {NULL, NULL, NULL}};

static const struct command_option index_inspect_options[] = {
    {"check", NULL, "Read everything and compare it with its checksums."}, {NULL, NULL, NULL}};

static const struct command_option index_query_options[] = {
    {"explain", "ID", "Explain why the document with this number is, or is not, a hit."},
    {NULL, NULL, NULL}};

static const struct command_option help_options[] = {
    {"format", "FORMAT", "text, or a whole document: man, bash (completion), config (reference)."},
    {NULL, NULL, NULL}};

static const struct command_option key_create_options[] = {
    {"scope", "SCOPE", "What the key may do; may be given several times. * is everything."},
    {"seller", "SELLER", "Bind the key to this seller: it acts for no other."},
    {"client", "CLIENT", "Bind the key to this client (tenant) of the registry."},
    {"expires", "DURATION", "How long the key is good for, such as 90d or 12h. Default: for ever."},
    {NULL, NULL, NULL}};

static const struct command_option key_rotate_options[] = {
    {"old-ends", "DURATION", "How long the old key stays valid, such as 24h."}, {NULL, NULL, NULL}};

static const struct command_option offers_counters_options[] = {
    {"verify", NULL, "Recount, and report what differs. Changes nothing."},
    {"fix", NULL, "Also correct what differs."},
    {"seller", "SELLER", "Of this seller only (default: of all)."},
    {"from", "POSITION", "Go on from the place that an interrupted run has printed."},
    {NULL, NULL, NULL}};

static bool scope_line(size_t place, const char **name, const char **help)
{
    if (place >= scope_count)
        return false;
    *name = scope_table[place].name;
    *help = scope_table[place].help;
    return true;
}

static bool role_line(size_t place, const char **name, const char **help)
{
    if (place >= role_count)
        return false;
    *name = role_table[place].name;
    *help = role_table[place].summary;
    return true;
}

#define SERVING (COMMAND_SETTINGS | COMMAND_CONFIG | COMMAND_SERVES | COMMAND_JSON)
#define ASKING (COMMAND_SETTINGS | COMMAND_CONFIG | COMMAND_JSON)

const struct command command_table[] = {
    {.name = "up",
     .summary = "run everything in this process, on the embedded backends",
     .arguments = "",
     .details =
         "Opens the data directory (making it if need be), brings its tables up to date and runs "
         "every role. Prints the addresses to open and, when it is served on loopback and there is "
         "no configuration file or no key yet, a key for this start. Any other address is served "
         "only once a key exists. With --json it prints one line when it serves, which names the "
         "key's file and never the key. SIGTERM or Ctrl-C finishes what is in flight and exits 0; "
         "a second one exits at once.",
     .example = "torg up\ntorg up --data=/var/lib/torg --listen=127.0.0.1:9000\ntorg up --json",
     .flags = SERVING,
     .run = cmd_up},
    {.name = "demo",
     .summary = "run everything, with a full and busy shop in it",
     .arguments = "",
     .details =
         "As torg up, in a directory of its own (./torg-demo, unless --data names another), "
         "which it fills with generated offers in Russian and English: published by the same "
         "calls as sellers', searchable as they arrive. Then it prints the addresses of the "
         "pages with keys for them, and changes some offers each second. A second start "
         "continues with the existing shop; a larger --offers adds the rest. It listens on "
         "loopback only, and refuses a directory that another server has made. To start from "
         "scratch, remove the directory.",
     .example = "torg demo\ntorg demo --offers 1000 --changes 20 --data=shop",
     .options = demo_options,
     .flags = COMMAND_SETTINGS | COMMAND_CONFIG,
     .run = cmd_demo},
    {.name = "serve",
     .summary = "run the named roles in this process",
     .arguments = "ROLE…",
     .details = "As torg up, with the named roles only; on the backends of the configuration. "
                "Every role may run in several processes on several machines.",
     .example = "torg serve system",
     .list_title = "roles",
     .list = role_line,
     .flags = SERVING,
     .argument_min = 1,
     .argument_max = ARGUMENT_COUNT_MAX,
     .run = cmd_serve},
    {.name = "status",
     .summary = "show whether a server is running on this data directory",
     .arguments = "",
     .details = "Prints its address, version and roles, and its tasks: each thread with what it is "
                "doing and when it last made progress. Exits with 5 when none runs.",
     .example = "torg status\ntorg status --json",
     .flags = ASKING,
     .run = cmd_status},
    {.name = "config check",
     .summary = "check the configuration, and report everything that is wrong with it",
     .arguments = "[FILE]",
     .details = "Reads the file (default: as the other commands choose it), the environment and "
                "the flags. Each fault is reported with its line. Exits with 3 if there is one.",
     .example = "torg config check\ntorg config check /etc/torg.toml",
     .flags = COMMAND_SETTINGS | COMMAND_JSON,
     .argument_max = 1,
     .run = cmd_config_check},
    {.name = "config dump",
     .summary = "print every setting, its value and where it came from",
     .arguments = "",
     .details = "The output is itself a configuration file. Passwords in URLs are masked.",
     .example = "torg config dump\nTORG_LOG_LEVEL=debug torg config dump --json",
     .flags = ASKING,
     .run = cmd_config_dump},
    {.name = "catalog check",
     .summary = "check a catalogue file, and report everything that is wrong with it",
     .arguments = "FILE",
     .details = "Needs no server and no data. Each fault is reported with its place in the file. "
                "docs/catalog.md explains the format.",
     .example = "torg catalog check demo/catalog.json",
     .flags = COMMAND_JSON,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_catalog_check},
    {.name = "catalog diff",
     .summary = "show what a catalogue file would change, and which offers it would break",
     .arguments = "FILE",
     .details = "Compares the file with the catalogue in use: categories and attributes added, "
                "removed and changed, field by field; and stored offers that would break a rule. "
                "Changes nothing. Works through the server that runs on the data directory, or on "
                "the directory itself when none runs.",
     .example = "torg catalog diff demo/catalog.json\n"
                "torg catalog diff demo/catalog.json --json",
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_catalog_diff},
    {.name = "catalog apply",
     .summary = "put a catalogue file into use, on every server, without a restart",
     .arguments = "FILE",
     .details =
         "Shows the difference as torg catalog diff does, then stores the file as the next "
         "version, if the one it was compared with is still in use. Refused when stored offers "
         "would break a rule, unless --force is given. Servers follow within two seconds.",
     .example = "torg catalog apply demo/catalog.json\n"
                "torg catalog apply demo/catalog.json --expect 3",
     .options = catalog_apply_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_catalog_apply},
    COLUMN_COMMANDS,
    CTR_COMMANDS,
    {.name = "epoch abandon",
     .summary = "give up the epoch that is being built",
     .arguments = "",
     .details =
         "As if it had never begun: nothing is poured or sent to it any more, searchers remove "
         "it, and its number is not used again. Documents that were written for it by name stay "
         "as they are, in the other epochs where they fit. Recorded in the audit log.",
     .example = "torg epoch abandon --client shop",
     .options = epoch_abandon_options,
     .flags = ASKING,
     .run = cmd_epoch_abandon},
    {.name = "epoch compare",
     .summary = "send the last queries to another epoch, too, and show the differences",
     .arguments = "",
     .details =
         "The searcher keeps the last 256 queries that it answered, at most one in 20 ms and "
         "none twice, for as long as it runs. Each is sent to the serving epoch and to the one "
         "being built (otherwise the one that is kept, or --epoch). Shows the documents that "
         "would disappear from the page or be new on it, and how many are found.",
     .example = "torg epoch compare --client offers",
     .options = epoch_compare_options,
     .flags = ASKING,
     .run = cmd_epoch_compare},
    {.name = "epoch drop",
     .summary = "give up the epoch that is kept for the way back",
     .arguments = "",
     .details = "Searchers remove it, its topic goes within ten minutes, and its numbers go in the "
                "background if no other epoch has them. Refused while writes go to it, as after a "
                "rollback. Recorded in the audit log.",
     .example = "torg epoch drop --client shop",
     .options = epoch_abandon_options,
     .flags = ASKING,
     .run = cmd_epoch_drop},
    {.name = "epoch plan",
     .summary = "show which documents another schema would refuse",
     .arguments = "",
     .details =
         "Checks all stored documents of the client with the schema of its epoch, changed by "
         "--field and --schema, or with that of the epoch --epoch, and lists the reasons of those "
         "that do not fit. Nothing is changed. Works through the server that runs on the data "
         "directory, or on the directory itself when none runs.",
     .example = "torg epoch plan --field price=decimal\n"
                "torg epoch plan --client shop --schema schema.json --json",
     .options = epoch_plan_options,
     .flags = ASKING,
     .run = cmd_epoch_plan},
    {.name = "epoch rollback",
     .summary = "switch searches back to the previous epoch",
     .arguments = "",
     .details =
         "The two epochs change places; rolling back again is the way forward. Documents are "
         "written to the newer one all the time, and to the other if they fit it. Refused, with "
         "a list, when documents do not fit it, unless --accept-losses is given. Recorded in the "
         "audit log.",
     .example = "torg epoch rollback --client shop",
     .options = epoch_rollback_options,
     .flags = ASKING,
     .run = cmd_epoch_rollback},
    {.name = "epoch start",
     .summary = "begin an epoch with another schema, next to the serving one",
     .arguments = "",
     .details =
         "From now on documents are sent to both, and the stored ones are poured into the new "
         "epoch, in the lane backfill, which never delays the others. An epoch that was kept for "
         "the way back is given up. Without --field and --schema the index is rebuilt with the "
         "same schema. With --shards or --renumber its documents have numbers of their own, "
         "apart from those of the previous epoch. With --by they are in the order of a field: "
         "stored documents are numbered before any is poured, and the epoch can be switched to "
         "when all have been. Recorded in the audit log.",
     .example = "torg epoch start --field price=decimal\ntorg epoch start --shards 2\n"
                "torg epoch start --renumber --by popularity",
     .options = epoch_start_options,
     .flags = ASKING,
     .run = cmd_epoch_start},
    {.name = "epoch status",
     .summary = "show the epochs of a client, and what the one being built waits for",
     .arguments = "",
     .details =
         "By shard: stored documents that were poured, that do not fit, that wait to be sent; "
         "records of its index topic, and how many searchers have all of it.",
     .example = "torg epoch status --client shop",
     .options = epoch_status_options,
     .flags = ASKING,
     .run = cmd_epoch_status},
    {.name = "epoch switch",
     .summary = "switch searches and writes to the epoch that was built",
     .arguments = "",
     .details =
         "Refused, with the reason, while documents are missing in it; with --wait it waits for "
         "them and, on a terminal, shows which. It is one transaction; the previous epoch is "
         "kept, and kept filled, for torg epoch rollback. Documents that name it are refused "
         "from now on. Recorded in the audit log.",
     .example = "torg epoch switch --wait 1m",
     .options = epoch_switch_options,
     .flags = ASKING,
     .run = cmd_epoch_switch},
    {.name = "experiment list",
     .summary = "show which of two formulas buyers click more",
     .arguments = "",
     .details = "What was done with offers that each of two formulas had placed (setting "
                "search.experiment), the running experiment first. docs/clicks.md explains it.",
     .example = "torg experiment list",
     .flags = ASKING,
     .run = cmd_experiment_list},
    FEED_CATEGORIES_COMMANDS,
    {.name = "feed check",
     .summary = "check a feed file, and report what would happen to its rows",
     .arguments = "FILE|URL|-",
     .details =
         "Prints the format, how many rows are good, and why the others would be refused. "
         "Changes nothing; needs no server with --catalog, otherwise it uses the catalogue in "
         "use. Exits with 1 when the file is broken.",
     .example = "torg feed check --catalog catalog.json goods.yml\n"
                "torg feed check --template map.csv goods.yml",
     .options = feed_check_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_feed_check},
    {.name = "feed import",
     .summary = "bring a seller's offers in line with a feed file",
     .arguments = "FILE|URL|-",
     .details =
         "Reads YML, Avito-style XML, Google Merchant, CSV or JSON lines, also packed by gzip, "
         "from a file, an "
         "http(s) address or standard input. Offers are matched by the seller's own ids: new "
         "ones are created, changed ones updated, and what the feed no longer has is deleted at "
         "the end. A task that would delete much, or whose file is empty or cut short, is held "
         "until it is confirmed (exit code 1). docs/feeds.md explains the formats. Works through "
         "the server that runs on the data directory, or on the directory itself when none runs.",
     .example = "torg feed import --seller s-17 --dry-run goods.yml\n"
                "torg feed import --seller s-17 --report rows.csv goods.csv.gz\n"
                "torg feed import --seller s-17 --categories map.csv https://shop.example/yml",
     .options = feed_import_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_feed_import},
    {.name = "feed list",
     .summary = "list the tasks of a feed, the newest first",
     .arguments = "",
     .details = "A task is one sending of the feed.",
     .example = "torg feed list --seller s-17\ntorg feed list --seller s-17 --feed spare --json",
     .options = feed_list_options,
     .flags = ASKING,
     .run = cmd_feed_list},
    {.name = "feed show",
     .summary = "show a task of a feed: what it did, and what can be done with it",
     .arguments = "[TASK]",
     .details = "The newest task, unless another is named.",
     .example = "torg feed show --seller s-17\ntorg feed show --seller s-17 3 --json",
     .options = feed_options,
     .flags = ASKING,
     .argument_max = 1,
     .run = cmd_feed_show},
    {.name = "feed confirm",
     .summary = "let a held task make its deletions",
     .arguments = "TASK",
     .details = "A task is held when it would delete a large share of the feed's offers, or when "
                "its file was empty or cut short.",
     .example = "torg feed confirm --seller s-17 4",
     .options = feed_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_feed_confirm},
    {.name = "feed cancel",
     .summary = "end a held task without deleting anything",
     .arguments = "TASK",
     .details = "What its rows did stays.",
     .example = "torg feed cancel --seller s-17 4",
     .options = feed_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_feed_cancel},
    {.name = "feed undo",
     .summary = "undo what a task created, updated and deleted",
     .arguments = "TASK",
     .details = "Possible for some hours after its end. Offers touched since stay as they are.",
     .example = "torg feed undo --seller s-17 4",
     .options = feed_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_feed_undo},
    {.name = "feed report",
     .summary = "show what happened to each row of a task",
     .arguments = "[TASK]",
     .details = "The newest task, unless another is named. Rows come in the file's order, then "
                "the offers that the feed no longer had.",
     .example = "torg feed report --seller s-17 --outcome refused\n"
                "torg feed report --seller s-17 --groups --language ru\n"
                "torg feed report --seller s-17 4 --report rows.csv",
     .options = feed_report_options,
     .flags = COMMAND_JSON | COMMAND_SETTINGS | COMMAND_CONFIG,
     .argument_max = 1,
     .run = cmd_feed_report},
    FEED_SCHEDULE_COMMANDS,
    {.name = "index inspect",
     .summary = "look inside an index shard: sizes by structure, segments, words, attributes",
     .arguments = "DIR",
     .details = "Needs no server; refused while one has the directory open. Shows what the last "
                "checkpoint has and changes nothing. With --check every byte is read and "
                "compared with its checksum; a damaged file is named.",
     .example = "torg index inspect /var/lib/torg/index/0\n"
                "torg index inspect /var/lib/torg/index/0 --check --json",
     .options = index_inspect_options,
     .flags = COMMAND_JSON,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_index_inspect},
    {.name = "index query",
     .summary = "query an index shard: hits, facets, or why a document is not a hit",
     .arguments = "DIR QUERY",
     .details =
         "QUERY is JSON, the message that a searcher takes: docs/query-language.md goes through "
         "it by example. Needs no server; refused while one has the directory open. Searches "
         "what the last checkpoint has and changes nothing. With --explain the conditions of "
         "each stage are printed as a tree, + before those that hold and - before those that do "
         "not.",
     .example = "torg index query /var/lib/torg/index/0 '{\"stages\": [{\"text\": \"bike\"}]}'\n"
                "torg index query index/0 '{\"stages\": [{\"text\": \"bike\"}]}' --explain 7",
     .options = index_query_options,
     .flags = COMMAND_JSON,
     .argument_min = 2,
     .argument_max = 2,
     .run = cmd_index_query},
    {.name = "key create",
     .summary = "make an API key and print it, once",
     .arguments = "NAME",
     .details =
         "Only a hash of the key is stored: it cannot be printed again. Works through the server "
         "that runs on the data directory, or on the directory itself when none runs.",
     .example = "torg key create shop --scope offers.read --scope offers.write --seller s-17\n"
                "torg key create ci --scope admin --expires 90d",
     .options = key_create_options,
     .list_title = "scopes",
     .list = scope_line,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_key_create},
    {.name = "key list",
     .summary = "list the API keys, revoked and expired ones included",
     .arguments = "",
     .details = "Secrets are not stored and so not shown.",
     .example = "torg key list\ntorg key list --json",
     .flags = ASKING,
     .run = cmd_key_list},
    {.name = "key revoke",
     .summary = "revoke an API key: within a second no server accepts it",
     .arguments = "ID|NAME",
     .details =
         "A revoked key stays in the list, and its open streams end. A name means all keys of "
         "that name. Revoking it again changes nothing.",
     .example = "torg key revoke shop\ntorg key revoke 4fQ2mZ8sKd",
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_key_revoke},
    {.name = "key rotate",
     .summary = "make a second key with the same name, and let the first one expire",
     .arguments = "ID|NAME",
     .details =
         "The new key has the name, scopes and bindings of the old one. Both are valid until the "
         "old one expires; there are never more than two.",
     .example = "torg key rotate shop --old-ends 24h",
     .options = key_rotate_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_key_rotate},
    NUMERATOR_COMMANDS,
    {.name = "offers counters",
     .summary = "recount the cabinets' lists, counts and totals, and correct them",
     .arguments = "",
     .details =
         "Goes through all offers while sellers keep changing them, and reports each difference: "
         "rows missing from a seller's lists or too many in them, counts of lists, totals "
         "(active, expired, banned, sold, money by currency). Nothing is locked for longer than "
         "a few hundred offers take. It may be interrupted, and two may run at once. Works "
         "through the server that runs on the data directory, or on the directory itself when "
         "none runs. Exits with 1 when something differs and was not corrected.",
     .example = "torg offers counters --verify\n"
                "torg offers counters --verify --fix --seller s-17 --json",
     .options = offers_counters_options,
     .flags = ASKING,
     .run = cmd_offers_counters},
    {.name = "trace",
     .summary = "show how far an offer or a document has come on its way to the search",
     .arguments = "OFFER|PK",
     .details =
         "Goes through the stages: for an offer saved, exported to its topic, composed into a "
         "document; then, as for every document, received (the registry has it), queued, "
         "numbered, sent to the index topic, indexed by the searchers, searchable. For a stage "
         "that is not done it shows what it waits for. Four groups of digits with dashes are an "
         "offer's id, everything else the key of a document. Works through the server that runs "
         "on the data directory. Exits with 4 when there is no such offer, or no document of "
         "this key was ever accepted.",
     .example = "torg trace 4721-0985-1360-2278\n"
                "torg trace bike-1 --client shop --json",
     .options = trace_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_trace},
    {.name = "verify",
     .summary = "check that registry, queue, numbers and index agree",
     .arguments = "",
     .details =
         "Prints one line per check, PASS or FAIL, with counts and some of the keys: documents "
         "can be read and have their numbers; no number is given twice; the queue has no gap; "
         "the index has every living document at its version and nothing else; its files agree "
         "with their checksums; sellers' counters equal a recount. Nothing is stopped meanwhile: "
         "differences are checked again, and changes that still wait in the queue are not "
         "faults. With --rebuild each shard is rebuilt in memory from the registry and compared "
         "with what the searcher has; this needs a few moments without writes. Works through the "
         "server that runs on the data directory. Exits with 1 when something differs and was "
         "not corrected.",
     .example = "torg verify\n"
                "torg verify --client offers --rebuild\n"
                "torg verify --fix",
     .options = verify_options,
     .flags = ASKING,
     .run = cmd_verify},
    {.name = "queue list",
     .summary = "show how far the queue to the index is, and what could not be indexed",
     .arguments = "",
     .details = "By client, shard and lane: up to where changes have been sent, how many wait and "
                "since when. With --failed, --parked, --pk, --reason or --limit: the documents "
                "that failed, each with its reason. Works through the server that runs on the data "
                "directory, or on the directory itself when none runs.",
     .example = "torg queue list\ntorg queue list --parked --client shop --json",
     .options = queue_list_options,
     .flags = ASKING,
     .run = cmd_queue_list},
    {.name = "queue show",
     .summary = "show a document that could not be indexed, and why",
     .arguments = "PK",
     .details = "With the document as the registry has it now.",
     .example = "torg queue show bike-1",
     .options = queue_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_queue_show},
    {.name = "queue replay",
     .summary = "try to index a failed document again, at once",
     .arguments = "[PK]",
     .details = "Its tries are counted from zero again. Recorded in the audit log.",
     .example = "torg queue replay bike-1\ntorg queue replay --all --client shop",
     .options = queue_replay_options,
     .flags = ASKING,
     .argument_max = 1,
     .run = cmd_queue_replay},
    {.name = "queue drop",
     .summary = "give up a document that could not be indexed",
     .arguments = "PK",
     .details =
         "The registry keeps it, and what the index has of it stays as it is, until it is sent "
         "again. Recorded in the audit log.",
     .example = "torg queue drop bike-1",
     .options = queue_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_queue_drop},
    TOPIC_COMMANDS,
    {.name = "parked list",
     .summary = "list the records that stages could not use",
     .arguments = "",
     .details =
         "Each record with its stage, its key, the reason, the tries so far and the time of the "
         "next. They are retried automatically; other keys pass them. Works through the server "
         "that runs on the data directory, or on the directory itself when none runs.",
     .example = "torg parked list\ntorg parked list --stage composer --limit 5",
     .options = parked_list_options,
     .flags = ASKING,
     .run = cmd_parked_list},
    {.name = "parked show",
     .summary = "show the parked records of a key, and their contents",
     .arguments = "KEY",
     .details = "All records of the key in their order, as JSON where they can be read.",
     .example = "torg parked show 1000-0000-0000-0007",
     .options = parked_show_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_parked_show},
    {.name = "parked replay",
     .summary = "try parked records again now",
     .arguments = "[KEY]",
     .details = "One key, or with --all every one, at once. Recorded in the audit log.",
     .example = "torg parked replay 1000-0000-0000-0007\n"
                "torg parked replay --all --stage composer",
     .options = parked_replay_options,
     .flags = ASKING,
     .argument_max = 1,
     .run = cmd_parked_replay},
    {.name = "parked drop",
     .summary = "give up the first parked record of a key",
     .arguments = "KEY",
     .details = "It is never used. The records behind it are tried next, or with --all given up as "
                "well. Recorded in the audit log.",
     .example = "torg parked drop --stage photos 1000-0000-0000-0007",
     .options = parked_drop_options,
     .flags = ASKING,
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_parked_drop},
    SNIPPET_COMMANDS,
    SYNONYM_COMMANDS,
    {.name = "composer status",
     .summary = "show how far documents have followed the catalogue",
     .arguments = "",
     .details = "After another catalogue is applied, the offers whose documents it changes are "
                "composed again in the background; this shows how many have been.",
     .example = "torg composer status",
     .flags = ASKING,
     .run = cmd_composer_status},
    {.name = "audit verify",
     .summary = "check that no entry of the audit log was changed or removed",
     .arguments = "",
     .details =
         "Each entry has a hash over itself and the previous entry. Prints the number and the "
         "hash of the last one: note it elsewhere, and give it with --expect another time. "
         "Exits with 1 when something is wrong.",
     .example = "torg audit verify\ntorg audit verify --expect 17:9f2c…",
     .options = audit_verify_options,
     .flags = ASKING,
     .run = cmd_audit_verify},
    {.name = "audit list",
     .summary = "list what operators did, the newest first",
     .arguments = "",
     .details = "Starts and stops, migrations, keys, catalogue, epochs, opinions of moderators, "
                "states of stages, schemas, what was replayed, dropped, confirmed and undone, and "
                "how many credentials were refused: when, by whom, with which key.",
     .example = "torg audit list --limit 5",
     .options = audit_options,
     .flags = ASKING,
     .run = cmd_audit},
    {.name = "audit",
     .summary = "the same as audit list",
     .arguments = "",
     .details = "",
     .example = "torg audit --limit 5",
     .options = audit_options,
     .flags = ASKING,
     .run = cmd_audit},
    {.name = "migrate",
     .summary = "bring the tables of the store up to date",
     .arguments = "",
     .details = "torg up does this itself; here it can be done ahead of a start. Safe to run "
                "twice, and by two at once.",
     .example = "torg migrate\ntorg migrate --store.url=postgres://torg@db/torg",
     .flags = ASKING,
     .run = cmd_migrate},
    {.name = "completion",
     .summary = "print a shell completion script",
     .arguments = "bash|zsh|fish",
     .details = "Written to be read by the shell itself: from its start file, or from the folder "
                "where it looks for completions.",
     .example = "torg completion bash | sudo tee /etc/bash_completion.d/torg\n"
                "torg completion zsh | sudo tee /usr/local/share/zsh/site-functions/_torg\n"
                "torg completion fish | tee ~/.config/fish/completions/torg.fish",
     .argument_min = 1,
     .argument_max = 1,
     .run = cmd_completion},
    {.name = "version",
     .summary = "print the version",
     .arguments = "",
     .details = "",
     .example = "torg version --json",
     .flags = COMMAND_JSON,
     .run = cmd_version},
    {.name = "help",
     .summary = "explain a command",
     .arguments = "[COMMAND]",
     .details = "torg COMMAND --help does the same.",
     .example = "torg help key create\ntorg help --format man | man -l -",
     .options = help_options,
     .argument_max = 2,
     .run = cmd_help},
};
const size_t command_count = ARRAY_COUNT(command_table);
