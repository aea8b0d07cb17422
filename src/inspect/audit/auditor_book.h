/* SPDX-License-Identifier: Apache-2.0 */
/* auditor_book.h - what the auditor has seen, in the store: its rounds, and what differed last. The
 * table auditor has a row 'all', and one for each count that is told beside it: 'parked',
 * 'content', 'looked'. */
#ifndef TORG_INSPECT_AUDIT_AUDITOR_BOOK_H
#define TORG_INSPECT_AUDIT_AUDITOR_BOOK_H

#include "base/arena.h"
#include "store/store.h"
#include "torg/v1/inspect.pb-c.h"

struct auditor_round {
    int64_t began_us, ended_us;
    int64_t checked_count, difference_count, repaired_count, waiting_count;
    int64_t parked_count, content_count, looked_count;
};

/* A round that was gone through to its end. */
int auditor_book_round(struct store *store, const struct auditor_round *round, struct err *err);
/* What one step has found. */
int auditor_book_findings(struct store *store, const char *check, const char *client,
                          Torg__V1__VerifyFinding *const *findings, size_t count, int64_t now_us,
                          struct err *err);
/* All of it, the newest difference first. */
int auditor_book_read(struct store *store, struct arena *arena, Torg__V1__Audit *audit,
                      struct err *err);

#endif
