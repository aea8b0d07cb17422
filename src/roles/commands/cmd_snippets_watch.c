/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_snippets_watch.c - torg snippets watch: changes of snippets, a line each, as they are made.
 */
#include <stdio.h>
#include <stdlib.h>

#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/snippet.pb-c.h"

struct printing {
    bool json;
    long left;          /* changes to show; -1: all that come */
    char position[256]; /* behind what was shown */
};

static void print_change(const Torg__V1__SnippetChange *change)
{
    printf("%s", change->name);
    if (change->all) {
        printf(": other snippets are shown\n");
        return;
    }
    printf(" %s%s%s: ", change->key, *change->language ? " " : "", change->language);
    if (change->is_gone)
        printf("gone\n");
    else if (change->snippet && change->snippet->binary.len)
        printf("%zu bytes\n", change->snippet->binary.len);
    else
        printf("%s\n", change->snippet ? change->snippet->text : "");
}

static int print_message(void *arg, const ProtobufCMessage *message, struct err *err)
{
    const Torg__V1__WatchSnippetsResponse *response =
        (const Torg__V1__WatchSnippetsResponse *)message;
    struct printing *printing = arg;

    if (printing->json)
        print_json(message);
    for (size_t i = 0; i < response->n_changes && printing->left != 0; i++) {
        if (!printing->json)
            print_change(response->changes[i]);
        if (printing->left > 0)
            printing->left--;
    }
    snprintf(printing->position, sizeof(printing->position), "%s", response->position);
    fflush(stdout); /* whoever reads a pipe wants it now */
    return printing->left == 0 ? err_set(err, ERR_CANCELLED, "enough") : 0;
}

static bool read_count(const struct invocation *invocation, long *count)
{
    const char *text = invocation_option(invocation, "count");
    char *end;

    *count = -1;
    if (!text)
        return true;
    *count = strtol(text, &end, 10);
    if (*end || end == text || *count < 1 || *count > 1000000000) {
        complain("--count=%.64s: expected a number of changes, 1 or more", text);
        return false;
    }
    return true;
}

enum exit_code cmd_snippets_watch(const struct invocation *invocation)
{
    Torg__V1__WatchSnippetsRequest request = TORG__V1__WATCH_SNIPPETS_REQUEST__INIT;
    const char *position = invocation_option(invocation, "position");
    struct printing printing = {.json = invocation->json};
    char *name = (char *)invocation->arguments[0];
    struct desk desk;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_count(invocation, &printing.left))
        return EXIT_USAGE;
    request.names = &name;
    request.n_names = 1;
    request.keys = (char **)&invocation->arguments[1];
    request.n_keys = invocation->argument_count - 1;
    request.position = (char *)(position ? position : "");
    if (desk_open(invocation, false, &desk, &err))
        return fail(&err);
    rc = desk.remote ? desk_stream(&desk, &torg__v1__snippet_service__descriptor, "WatchSnippets",
                                   &request.base, print_message, &printing, &err)
                     : err_set(&err, ERR_UNAVAILABLE,
                               "no server runs on this directory, so nothing changes: start it");
    desk_close(&desk);
    if (printing.left == 0)
        return EXIT_OK;
    if (rc && *printing.position)
        complain("it was at %s: continue with --position=%s", printing.position, printing.position);
    return rc ? fail(&err) : EXIT_OK;
}
