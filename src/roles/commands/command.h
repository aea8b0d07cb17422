/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the table of commands: the one place where a command is declared.
 *
 * Dispatch, `torg help`, the man page, bash completion and the tests read this table.
 */
#ifndef TORG_ROLES_COMMANDS_COMMAND_H
#define TORG_ROLES_COMMANDS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/object.h"
#include "config/config.h"

/* What a shell script may rely on; told by `torg help`. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_CONFIG = 3,
    EXIT_NOT_FOUND = 4,
    EXIT_UNAVAILABLE = 5,
    EXIT_CODE_COUNT
};

extern const char *const exit_code_help[EXIT_CODE_COUNT];

struct command_option {
    const char *name;  /* without dashes */
    const char *value; /* what stands for its value in help; NULL = it takes none */
    const char *help;
};

enum command_flags {
    COMMAND_JSON = 1 << 0,     /* takes --json */
    COMMAND_SETTINGS = 1 << 1, /* takes --config and a flag for each setting */
    COMMAND_CONFIG = 1 << 2,   /* needs them read and right before it runs */
    COMMAND_SERVES = 1 << 3,   /* its log is read later: info by default, not only warnings */
};

struct invocation;

struct command {
    const char *name;                     /* one word or two: "up", "key create" */
    const char *summary;                  /* one line, without a full stop */
    const char *arguments;                /* as in a usage line: "ROLE…"; "" = none */
    const char *details;                  /* sentences, for help and the man page */
    const char *example;                  /* commands that work, one a line */
    const struct command_option *options; /* ended by a NULL name; NULL = none */
    const char *list_title;               /* of a list that only the program knows; NULL = none */
    /* The place-th line of that list; false past its end. */
    bool (*list)(size_t place, const char **name, const char **help);
    unsigned flags;
    unsigned argument_min;
    unsigned argument_max;
    enum exit_code (*run)(const struct invocation *invocation);
};

extern const struct command command_table[];
extern const size_t command_count;

enum { ARGUMENT_COUNT_MAX = 64 };

struct given_option {
    const char *name;
    const char *value; /* "" of one that takes none */
};

enum { INVOCATION_MAGIC = OBJECT_MAGIC('i', 'n', 'v', 'o') };

/* A command line, taken apart; all of it borrowed from argv or the arena. */
struct invocation {
    uint32_t magic;
    const struct command *command;
    const char *arguments[ARGUMENT_COUNT_MAX];
    size_t argument_count;
    struct given_option options[ARGUMENT_COUNT_MAX];
    size_t option_count;
    struct config_flag settings[ARGUMENT_COUNT_MAX];
    size_t setting_count;
    const char *config_file; /* NULL = the default one */
    bool json;
    bool help;
    struct arena *arena;
    struct config config; /* when the command has COMMAND_CONFIG */
};

/* The value of the option's last (or only) use; NULL when it was not given. */
const char *invocation_option(const struct invocation *invocation, const char *name);

/* The command of these words; how many of them are its name in *used. NULL = none. */
const struct command *command_find(const char *const *words, size_t count, size_t *used);

/* Whether some command begins with the word ("key"), and the closest name to a wrong one. */
bool command_is_group(const char *word);
const char *command_nearest(const char *words, struct arena *arena);

/* Prints "torg: …" on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error, and gives the exit code that says the same. */
enum exit_code fail(const struct err *err);

/* --- one a file: cmd_*.c --- */
enum exit_code cmd_audit(const struct invocation *invocation);
enum exit_code cmd_audit_verify(const struct invocation *invocation);
enum exit_code cmd_catalog_apply(const struct invocation *invocation);
enum exit_code cmd_catalog_check(const struct invocation *invocation);
enum exit_code cmd_catalog_diff(const struct invocation *invocation);
enum exit_code cmd_column_build(const struct invocation *invocation);
enum exit_code cmd_column_drop(const struct invocation *invocation);
enum exit_code cmd_column_list(const struct invocation *invocation);
enum exit_code cmd_column_load(const struct invocation *invocation);
enum exit_code cmd_composer_status(const struct invocation *invocation);
enum exit_code cmd_config_check(const struct invocation *invocation);
enum exit_code cmd_config_dump(const struct invocation *invocation);
enum exit_code cmd_ctr_push(const struct invocation *invocation);
enum exit_code cmd_ctr_status(const struct invocation *invocation);
enum exit_code cmd_demo(const struct invocation *invocation);
enum exit_code cmd_epoch_drop(const struct invocation *invocation);
enum exit_code cmd_epoch_abandon(const struct invocation *invocation);
enum exit_code cmd_epoch_compare(const struct invocation *invocation);
enum exit_code cmd_epoch_plan(const struct invocation *invocation);
enum exit_code cmd_epoch_rollback(const struct invocation *invocation);
enum exit_code cmd_epoch_start(const struct invocation *invocation);
enum exit_code cmd_epoch_status(const struct invocation *invocation);
enum exit_code cmd_epoch_switch(const struct invocation *invocation);
enum exit_code cmd_experiment_list(const struct invocation *invocation);
enum exit_code cmd_feed_cancel(const struct invocation *invocation);
enum exit_code cmd_feed_categories(const struct invocation *invocation);
enum exit_code cmd_feed_confirm(const struct invocation *invocation);
enum exit_code cmd_feed_check(const struct invocation *invocation);
enum exit_code cmd_feed_import(const struct invocation *invocation);
enum exit_code cmd_feed_list(const struct invocation *invocation);
enum exit_code cmd_feed_report(const struct invocation *invocation);
enum exit_code cmd_feed_schedule(const struct invocation *invocation);
enum exit_code cmd_feed_show(const struct invocation *invocation);
enum exit_code cmd_feed_undo(const struct invocation *invocation);
enum exit_code cmd_help(const struct invocation *invocation);
enum exit_code cmd_completion(const struct invocation *invocation);
enum exit_code cmd_index_inspect(const struct invocation *invocation);
enum exit_code cmd_index_query(const struct invocation *invocation);
enum exit_code cmd_key_create(const struct invocation *invocation);
enum exit_code cmd_key_list(const struct invocation *invocation);
enum exit_code cmd_key_revoke(const struct invocation *invocation);
enum exit_code cmd_key_rotate(const struct invocation *invocation);
enum exit_code cmd_migrate(const struct invocation *invocation);
enum exit_code cmd_numerator_compat(const struct invocation *invocation);
enum exit_code cmd_numerator_export(const struct invocation *invocation);
enum exit_code cmd_numerator_import(const struct invocation *invocation);
enum exit_code cmd_numerator_inspect(const struct invocation *invocation);
enum exit_code cmd_numerator_master(const struct invocation *invocation);
enum exit_code cmd_numerator_run(const struct invocation *invocation);
enum exit_code cmd_offers_counters(const struct invocation *invocation);
enum exit_code cmd_parked_drop(const struct invocation *invocation);
enum exit_code cmd_parked_list(const struct invocation *invocation);
enum exit_code cmd_parked_replay(const struct invocation *invocation);
enum exit_code cmd_parked_show(const struct invocation *invocation);
enum exit_code cmd_queue_drop(const struct invocation *invocation);
enum exit_code cmd_queue_list(const struct invocation *invocation);
enum exit_code cmd_queue_replay(const struct invocation *invocation);
enum exit_code cmd_queue_show(const struct invocation *invocation);
enum exit_code cmd_serve(const struct invocation *invocation);
enum exit_code cmd_snippets_check(const struct invocation *invocation);
enum exit_code cmd_snippets_delete(const struct invocation *invocation);
enum exit_code cmd_snippets_get(const struct invocation *invocation);
enum exit_code cmd_snippets_load(const struct invocation *invocation);
enum exit_code cmd_snippets_prefixes(const struct invocation *invocation);
enum exit_code cmd_snippets_put(const struct invocation *invocation);
enum exit_code cmd_snippets_rollback(const struct invocation *invocation);
enum exit_code cmd_snippets_watch(const struct invocation *invocation);
enum exit_code cmd_status(const struct invocation *invocation);
enum exit_code cmd_synonyms_apply(const struct invocation *invocation);
enum exit_code cmd_synonyms_check(const struct invocation *invocation);
enum exit_code cmd_synonyms_unused(const struct invocation *invocation);
enum exit_code cmd_synonyms_diff(const struct invocation *invocation);
enum exit_code cmd_synonyms_list(const struct invocation *invocation);
enum exit_code cmd_synonyms_proposals(const struct invocation *invocation);
enum exit_code cmd_topic_list(const struct invocation *invocation);
enum exit_code cmd_topic_read(const struct invocation *invocation);
enum exit_code cmd_topic_write(const struct invocation *invocation);
enum exit_code cmd_trace(const struct invocation *invocation);
enum exit_code cmd_up(const struct invocation *invocation);
enum exit_code cmd_verify(const struct invocation *invocation);
enum exit_code cmd_version(const struct invocation *invocation);

#endif
