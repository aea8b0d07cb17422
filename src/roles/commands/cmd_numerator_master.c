/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_numerator_master.c - torg numerator master: the next state of a shared numbering. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "numerator/master.h"
#include "roles/commands/numerator_files.h"
#include "roles/processes/backends.h"

#define HOUR_US (INT64_C(3600) * SECOND_US)

struct times {
    int64_t limit_us, retry_us, wait_us;
};

/* false after a complaint. */
static bool read_duration(const struct invocation *invocation, const char *name, int64_t *us)
{
    const char *text = invocation_option(invocation, name);

    if (text && (!text_to_duration(bytes_of(text), us) || *us < SECOND_US)) {
        complain("--%s=%.64s: expected a time of a second or more, as 10s, 5m, 1h", name, text);
        return false;
    }
    return true;
}

/* By --reach, the last that names the cluster. */
static int reach(void *arg, const char *cluster, struct blob **blob, bool *is_borrowed,
                 struct err *err)
{
    const struct invocation *invocation = arg;
    size_t size = strlen(cluster);

    *is_borrowed = false;
    for (size_t i = invocation->option_count; i-- > 0;) {
        const char *value = invocation->options[i].value;

        if (strcmp(invocation->options[i].name, "reach") == 0 &&
            strncmp(value, cluster, size) == 0 && value[size] == '=')
            return blob_open(value + size + 1, blob, err);
    }
    return err_set(err, ERR_UNAVAILABLE, "its store is not known here: --reach %s=URL", cluster);
}

/* Until it is granted, or for as long as it may take. */
static int ask(struct master *master, const struct master_options *options,
               const struct times *times, struct err *err)
{
    int64_t end_us = clock_after_us(options->clock, times->wait_us);
    int rc = master_ask(master, options, err);

    while (rc == ERR_EXISTS && clock_mono_us(options->clock) < end_us) {
        clock_sleep(options->clock, times->retry_us);
        rc = master_ask(master, options, err);
    }
    if (rc == ERR_EXISTS) {
        char why[ERR_TEXT_SIZE];

        snprintf(why, sizeof(why), "%s", err->text);
        return err_set(err, ERR_UNAVAILABLE, "%s", why);
    }
    return rc;
}

/* Tables are of the state that is published, and follow it. */
static int publish(struct master *master, struct number_batch_result *result, struct err *err)
{
    int rc = master_publish(master, err);

    if (rc)
        return rc;
    rc = number_batch_put_tables(result, err);
    return rc ? err_wrap(err, "the state is published, its tables are not written (torg numerator "
                              "inspect --docs-table writes all keys of the state)")
              : 0;
}

static int make_next(const struct invocation *invocation, struct master_options *options,
                     const struct times *times, struct err *err)
{
    struct number_batch_result result = {0};
    struct progress progress;
    struct master master;
    int rc = ask(&master, options, times, err);

    if (rc)
        return rc;
    rc = master_copy(&master, err);
    if (rc == 0) {
        show_batch_progress(&options->batch, &progress);
        rc = master_run(&master, &result, err);
        progress_end(&progress);
    }
    if (rc)
        master_give_up(&master);
    else
        rc = publish(&master, &result, err);
    if (rc == 0)
        print_batch(invocation, &result);
    number_batch_release(&result);
    return rc;
}

static void print_handed(const char *word, const struct handed_state *state)
{
    if (state->ticket == 0)
        return;
    printf("%-9s %" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32 ", ticket %" PRIu64
           ", in the store of %s: %s\n",
           word, state->version.kind, state->version.scheme, state->version.rebuild,
           state->version.generation, state->ticket, state->cluster, state->name);
}

static int show_status(const struct master_options *options, struct err *err)
{
    char since[CLOCK_TEXT_SIZE];
    struct handover now;
    int rc = handover_look(options->coord, options->numbering, &now, err);

    if (rc)
        return rc;
    if (now.ticket == 0)
        return err_set(err, ERR_NOT_FOUND, "no master has asked for the numbering %s",
                       options->numbering);
    print_handed("last", &now.last);
    print_handed("previous", &now.previous);
    clock_format(now.taken_us, since);
    if (now.holder[0])
        printf("%-9s %s, ticket %" PRIu64 ", since %s, for %" PRId64 " s\n", "next", now.holder,
               now.ticket, since, now.limit_us / SECOND_US);
    else
        printf("%-9s nobody is making the next\n", "next");
    return 0;
}

/* false after a complaint. */
static bool read_options(const struct invocation *invocation, struct master_options *options,
                         struct times *times, bool is_status)
{
    *times = (struct times){HOUR_US, 10 * SECOND_US, HOUR_US};
    *options = (struct master_options){
        .clock = clock_system(),
        .numbering = invocation_option(invocation, "numbering"),
        .cluster = invocation_option(invocation, "cluster"),
        .is_last_void = invocation_option(invocation, "void-last") != NULL,
        .reach = reach,
        .arg = (void *)invocation,
    };
    if (!options->numbering || (!is_status && !options->cluster)) {
        complain("it needs --numbering and --cluster");
        return false;
    }
    if (strlen(options->numbering) > NUMBER_NUMBERING_SIZE_MAX ||
        (options->cluster &&
         (!options->cluster[0] ||
          strspn(options->cluster, NUMBER_CLUSTER_CHARACTERS) != strlen(options->cluster) ||
          strlen(options->cluster) > NUMBER_CLUSTER_SIZE_MAX))) {
        complain("--numbering has up to %d characters, --cluster up to %d of A-Z a-z 0-9 . _ -",
                 NUMBER_NUMBERING_SIZE_MAX, NUMBER_CLUSTER_SIZE_MAX);
        return false;
    }
    if (!read_duration(invocation, "limit", &times->limit_us) ||
        !read_duration(invocation, "retry", &times->retry_us) ||
        !read_duration(invocation, "wait", &times->wait_us))
        return false;
    options->limit_us = times->limit_us;
    return is_status || read_batch_options(invocation, &options->batch);
}

enum exit_code cmd_numerator_master(const struct invocation *invocation)
{
    bool is_status = invocation_option(invocation, "status") != NULL;
    const char *store = invocation_option(invocation, "store");
    struct master_options options;
    struct times times;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_options(invocation, &options, &times, is_status))
        return EXIT_USAGE;
    rc = backends_open_coord(&invocation->config, options.clock, invocation->arena, &options.coord,
                             &err);
    if (rc == 0 && !is_status)
        rc = store
                 ? blob_open(store, &options.store, &err)
                 : backends_open_blob(&invocation->config, invocation->arena, &options.store, &err);
    if (rc == 0)
        rc =
            is_status ? show_status(&options, &err) : make_next(invocation, &options, &times, &err);
    blob_close(options.store);
    coord_close(options.coord);
    return rc ? fail(&err) : EXIT_OK;
}
