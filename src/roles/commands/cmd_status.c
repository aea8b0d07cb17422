/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - torg status. */
#include <stdint.h>
#include <stdio.h>

#include "base/object.h"
#include "roles/commands/print.h"
#include "roles/commands/remote.h"
#include "torg/v1/inspect.pb-c.h"
#include "torg/v1/pipeline.pb-c.h"
#include "torg/v1/system.pb-c.h"

static void print_system(const struct remote *remote, const Torg__V1__System *system,
                         struct arena *arena)
{
    printf("torg %s at %s since %s; roles:", system->version, remote_url(remote),
           time_text(system->start_time, arena));
    for (size_t i = 0; i < system->n_roles; i++)
        printf(" %s", system->roles[i]);
    putchar('\n');
    for (size_t i = 0; i < system->n_tasks; i++) {
        const Torg__V1__Task *task = system->tasks[i];

        printf("%s  %-16s %-7s %8.1f s  %s\n", i ? "" : "tasks:\n", task->name, task->state,
               task->silent_s, task->doing);
    }
}

/* A server without a searcher has nothing to tell. */
static void tell_audit(struct remote *remote, struct arena *arena)
{
    Torg__V1__GetAuditRequest request = TORG__V1__GET_AUDIT_REQUEST__INIT;
    ProtobufCMessage *message;
    struct err err;

    if (!remote_call(remote, &torg__v1__inspect_service__descriptor, "GetAudit", &request.base,
                     &message, &err))
        print_audit((const Torg__V1__Audit *)message, arena);
}

/* Documents that another catalogue concerns, which are in no queue yet. */
static void print_catalog(const Torg__V1__PipelineCatalog *catalog)
{
    if (!catalog->target_version)
        printf("catalogue: version %jd is in use, and documents begin to follow it\n",
               (intmax_t)catalog->version);
    else
        printf("catalogue: version %jd is in use, and %ju of %ju offers are composed again for "
               "version %jd\n",
               (intmax_t)catalog->version, (uintmax_t)catalog->seen_count,
               (uintmax_t)catalog->offer_count, (intmax_t)catalog->target_version);
}

/* Documents that follow a catalogue, and feeds that wait for a person; nothing where there are
 * none, or where nobody tells of them. */
static void tell_pipeline(struct remote *remote)
{
    Torg__V1__GetPipelineRequest request = TORG__V1__GET_PIPELINE_REQUEST__INIT;
    const Torg__V1__Pipeline *pipeline;
    ProtobufCMessage *message;
    struct err err;

    if (remote_call(remote, &torg__v1__pipeline_service__descriptor, "GetPipeline", &request.base,
                    &message, &err))
        return;
    pipeline = (const Torg__V1__Pipeline *)message;
    if (pipeline->catalog)
        print_catalog(pipeline->catalog);
    for (size_t i = 0; i < pipeline->n_feeds; i++) {
        const Torg__V1__FeedTask *task = pipeline->feeds[i];

        if (task->state == TORG__V1__FEED_TASK__STATE__HELD)
            printf("feed %s of %s: task %jd is held, and waits for a decision\n", task->feed,
                   task->seller, (intmax_t)task->task_id);
    }
    for (size_t i = 0; i < pipeline->n_failing_feeds; i++) {
        const Torg__V1__FeedSchedule *feed = pipeline->failing_feeds[i];

        printf("feed %s of %s: %s after %d runs that failed: %s\n", feed->feed, feed->seller,
               feed->state == TORG__V1__FEED_SCHEDULE__STATE__ACTIVE ? "tried again" : "stopped",
               feed->failure_count, feed->reason);
    }
}

enum exit_code cmd_status(const struct invocation *invocation)
{
    Torg__V1__GetStatusRequest request = TORG__V1__GET_STATUS_REQUEST__INIT;
    const char *path = config_text(&invocation->config, SETTING_DATA_DIR);
    ProtobufCMessage *response = NULL;
    struct remote *remote = NULL;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    rc = remote_open(&invocation->config, invocation->arena, &remote, &err);
    if (rc == ERR_NOT_FOUND) {
        complain("no server runs on %s", path);
        return EXIT_UNAVAILABLE;
    }
    if (!rc)
        rc = remote_call(remote, &torg__v1__system_service__descriptor, "GetStatus", &request.base,
                         &response, &err);
    if (rc == ERR_UNAVAILABLE) /* taking the lock would tell, but could stop one that starts now */
        err_wrap(&err, "the server of %s does not answer; one that was killed leaves its address",
                 path);
    if (!rc && invocation->json)
        print_json(response);
    else if (!rc)
        print_system(remote, (const Torg__V1__System *)response, invocation->arena);
    if (!rc && !invocation->json)
        tell_audit(remote, invocation->arena);
    if (!rc && !invocation->json)
        tell_pipeline(remote);
    remote_close(remote);
    return rc ? fail(&err) : EXIT_OK;
}
