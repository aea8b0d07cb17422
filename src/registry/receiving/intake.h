/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h - calls that come at the same time are decided on together, in one transaction (group
 * commit, on the caller's side).
 *
 * Two transactions that put elements into one queue cannot both proceed: where every statement is a
 * round trip to a server, they would be run again and again. So only one of a client's calls at a
 * time is at the store, and those that arrive meanwhile go together next. Calls that would grow the
 * schema go on their own. A store in this process does not need this: it has a writer that gathers
 * transactions.
 *
 * Threads: any; the first waiter leads the next group.
 */
#ifndef TORG_REGISTRY_RECEIVING_INTAKE_H
#define TORG_REGISTRY_RECEIVING_INTAKE_H

#include "registry/receiving/accept.h"
#include "store/store.h"

struct intake;

struct intake *intake_new(struct store *store); /* borrowed */
void intake_free(struct intake *intake);        /* nobody is inside; NULL is fine */

/* As store_write with accept_documents. */
int intake_accept(struct intake *intake, struct acceptance *acceptance, struct err *err);

#endif
