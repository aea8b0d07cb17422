/* SPDX-License-Identifier: Apache-2.0 */
/* master.c - see master.h. */
#include "numerator/master.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "blob/bounds.h"

#define BLOB_PREFIX "blob:"

/* States of a numbering, in a cluster's store. */
static void name_state(const struct master *master, uint64_t ticket, const char *what,
                       char name[NUMBER_PLACE_SIZE_MAX + 8])
{
    snprintf(name, NUMBER_PLACE_SIZE_MAX + 8, BLOB_PREFIX "numberings/%s/%s%020" PRIu64 ".numbers",
             master->options->numbering, what, ticket);
}

static const char *blob_of(const char *name)
{
    return name + strlen(BLOB_PREFIX);
}

int master_ask(struct master *master, const struct master_options *options, struct err *err)
{
    int rc;

    *master = (struct master){.options = options};
    master->asked_us = clock_mono_us(options->clock);
    rc = handover_ask(options->coord, options->clock, options->numbering, options->cluster,
                      options->limit_us, &master->granted, err);
    if (rc)
        return rc;
    name_state(master, master->granted.ticket, "", master->output);
    return 0;
}

/* The state that is gone on from; NULL: there is none. */
static const struct handed_state *base_of(const struct master *master)
{
    const struct handed_state *base =
        master->options->is_last_void ? &master->granted.previous : &master->granted.last;

    return base->ticket > 0 ? base : NULL;
}

static int copy_from(struct master *master, const struct handed_state *base, struct err *err)
{
    const struct master_options *options = master->options;
    char name[sizeof(BLOB_PREFIX) + NUMBER_PLACE_SIZE_MAX];
    struct blob *theirs = NULL;
    bool is_borrowed = false;
    int rc;

    snprintf(name, sizeof(name), BLOB_PREFIX "%s", base->name);
    name_state(master, base->ticket, "copy-", master->input);
    rc = options->reach(options->arg, base->cluster, &theirs, &is_borrowed, err);
    if (rc == 0)
        rc = passage_copy(name, theirs, master->input, options->store, NULL, NULL, err);
    if (!is_borrowed)
        blob_close(theirs);
    return rc;
}

int master_copy(struct master *master, struct err *err)
{
    const struct master_options *options = master->options;
    const struct handed_state *base = base_of(master);
    struct number_version version;
    int rc = 0;

    assert(master->output[0]);
    if (!base)
        return 0;
    if (strcmp(base->cluster, options->cluster) == 0)
        snprintf(master->input, sizeof(master->input), BLOB_PREFIX "%s", base->name);
    else
        rc = copy_from(master, base, err);
    if (rc == 0)
        rc = number_state_load_version(master->input, options->store, &version, err);
    if (rc == 0 && memcmp(&version, &base->version, sizeof(version)) != 0)
        rc = err_set(err, ERR_CORRUPT, "its version is not the published one");
    if (rc)
        return err_wrap(err,
                        "the last state, ticket %" PRIu64 " of %s, is not handed on (make it "
                        "reachable, or declare it void)",
                        base->ticket, base->cluster);
    return 0;
}

int master_run(struct master *master, struct number_batch_result *result, struct err *err)
{
    const struct master_options *options = master->options;
    struct number_batch batch = options->batch;
    int rc;

    batch.keeps_tables = true;
    batch.blob = options->store;
    batch.input_state = master->input[0] ? master->input : NULL;
    batch.output_state = master->output;
    if (options->is_last_void) {
        batch.is_rebuild_forced = true;
        batch.rebuild_floor = master->granted.last.version.rebuild;
    }
    rc = number_batch_run(&batch, result, err);
    if (rc)
        return rc;
    master->made =
        (struct handed_state){.ticket = master->granted.ticket, .version = result->after};
    snprintf(master->made.cluster, sizeof(master->made.cluster), "%s", options->cluster);
    snprintf(master->made.name, sizeof(master->made.name), "%s", blob_of(master->output));
    return 0;
}

static void remove_state(const struct master *master, const char *name)
{
    struct err err;

    if (blob_delete(master->options->store, name, &err))
        log_warn("an unneeded state could not be removed", LOG_TEXT("name", name),
                 LOG_TEXT("why", err.text));
}

/* States of the own store that are neither the last nor the one before it. A frozen master may have
 * one of them in use: it is refused anyway. */
static void remove_old(const struct master *master)
{
    const char *kept =
        master->options->is_last_void ? master->granted.previous.name : master->granted.last.name;
    char prefix[NUMBER_PLACE_SIZE_MAX];
    struct arena *arena = arena_new();
    struct blob_page page = {0};
    struct err err;

    snprintf(prefix, sizeof(prefix), "numberings/%s/", master->options->numbering);
    if (blob_list(master->options->store, prefix, "", BLOB_LIST_COUNT_MAX, arena, &page, &err))
        page.count = 0; /* the next one tries again */
    for (size_t i = 0; i < page.count; i++) {
        const char *name = page.entries[i].name;

        if (strcmp(name, kept) != 0 &&
            (strcmp(name, master->made.name) < 0 || strstr(name, "/copy-")))
            remove_state(master, name);
    }
    arena_free(arena);
}

int master_publish(struct master *master, struct err *err)
{
    const struct master_options *options = master->options;
    int rc;

    assert(master->made.ticket == master->granted.ticket);
    if (clock_mono_us(options->clock) - master->asked_us >= options->limit_us)
        rc = err_set(err, ERR_PRECONDITION,
                     "ticket %" PRIu64 " had %" PRId64
                     " s, which are over: this state is void, the last one stays",
                     master->made.ticket, options->limit_us / 1000000);
    else
        rc = handover_publish(options->coord, options->clock, options->numbering, &master->made,
                              options->is_last_void, err);
    if (rc == ERR_PRECONDITION)
        remove_state(master, master->made.name);
    else if (rc == 0)
        remove_old(master);
    return rc;
}

void master_give_up(struct master *master)
{
    const struct master_options *options = master->options;
    struct err err;

    if (handover_give_up(options->coord, options->numbering, master->granted.ticket, &err))
        log_warn("the lock stays until its time is over", LOG_TEXT("numbering", options->numbering),
                 LOG_TEXT("why", err.text));
}
