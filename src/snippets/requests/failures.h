/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.h - the last writes that were refused or failed, for people who look.
 *
 * Of this process alone, in memory; what came by a topic is parked beside (stage/parked.h).
 * Threads: any.
 */
#ifndef TORG_SNIPPETS_REQUESTS_FAILURES_H
#define TORG_SNIPPETS_REQUESTS_FAILURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "snippets/bounds.h"

struct snippet_failures;

struct snippet_failure {
    int64_t time_us;
    char name[SNIPPET_NAME_SIZE_MAX + 1]; /* cut, as all three; valid UTF-8 */
    char key[SNIPPET_KEY_SIZE_MAX + 1];
    char reason[ERR_TEXT_SIZE];
};

struct snippet_failures *snippet_failures_new(void);
void snippet_failures_free(struct snippet_failures *failures); /* NULL is fine */

void snippet_failures_add(struct snippet_failures *failures, int64_t time_us, struct bytes name,
                          struct bytes key, const char *reason);
/* The newest first; room for SNIPPET_FAILURE_COUNT. */
size_t snippet_failures_list(struct snippet_failures *failures, struct snippet_failure *list);

#endif
