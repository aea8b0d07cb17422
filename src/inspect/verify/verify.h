/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - do offers, registry, queue, numbers and index agree? Checks, each gone through page by
 * page.
 *
 * A page names what is to be compared (suspects); a look tells of each what differs. What differs
 * is looked at again until it agrees or its time is over: changes on their way settle meanwhile,
 * and one that still waits in the queue then is no fault either. A document that is changed faster
 * than it can be compared agrees when the index has got as far as the registry was at the first
 * look.
 */
#ifndef TORG_INSPECT_VERIFY_VERIFY_H
#define TORG_INSPECT_VERIFY_VERIFY_H

#include "inspect/inspect.h"
#include "registry/indexing/queue.h"
#include "torg/v1/inspect.pb-c.h"

struct digests;
struct task;

int verify_plan(const struct inspect *inspect, const Torg__V1__PlanVerifyRequest *request,
                struct arena *arena, Torg__V1__VerifyPlan *plan, struct err *err);

/* One page of a check. principal: who asked, for the audit log when something is put right. */
int verify_step(const struct inspect *inspect, const Torg__V1__VerifyStepRequest *request,
                const char *principal, struct arena *arena, Torg__V1__VerifyStepResponse *response,
                struct err *err);

/* Who verifies. */
struct verify_by {
    const char *principal; /* for the audit log */
    enum lane lane;        /* in which what differs is queued again */
    bool is_light;         /* the registry's documents are not read, only what they are */
    struct task *task;     /* whose work it is: it waits, and is asked to stop; NULL: a caller's */
    struct digests *digests; /* what is equal by them is passed over; NULL: nothing is */
};

/* The same; ERR_CANCELLED: the task has to stop. */
int verify_step_by(const struct inspect *inspect, const Torg__V1__VerifyStepRequest *request,
                   const struct verify_by *by, struct arena *arena,
                   Torg__V1__VerifyStepResponse *response, struct err *err);

#endif
