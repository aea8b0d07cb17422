/* SPDX-License-Identifier: Apache-2.0 */
/* role_system.c - the role system: the pages, the state of the process, keys, the audit log,
 * what is in the topics. */
#include <string.h>

#include "base/bounds.h"
#include "base/memory.h"
#include "base/task.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "inspect/pipeline/pipeline.h"
#include "inspect/service.h"
#include "model_descriptors.h"
#include "roles/bounds.h"
#include "roles/processes/process.h"
#include "roles/processes/service.h"
#include "roles/processes/web_files.h"
#include "stage/service.h"
#include "torg/v1/system.pb-c.h"

/* One set a process; the server borrows them for its life. */
static struct parked_desk desk;
static struct rpc_service services[6];
static struct pipeline *pipeline;

static int get_system(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const struct process *process = call_context(call);
    Torg__V1__System *system = (Torg__V1__System *)response;
    struct arena *arena = call_arena(call);

    (void)request;
    (void)err;
    system->version = arena_strdup(arena, TORG_VERSION);
    system->roles = arena_array(arena, process->role_count, sizeof(char *));
    system->n_roles = process->role_count;
    for (size_t i = 0; i < process->role_count; i++)
        system->roles[i] = arena_strdup(arena, process->roles[i]->name);
    system->start_time = moment_or_none(process->start_us, arena);
    return 0;
}

static int get_status(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const struct process *process = call_context(call);
    Torg__V1__System *system = (Torg__V1__System *)response;
    struct arena *arena = call_arena(call);
    struct task_state *states;

    system->n_tasks = tasks_list(process->clock, arena, &states);
    system->tasks = arena_array(arena, system->n_tasks + 1, sizeof(*system->tasks));
    for (size_t i = 0; i < system->n_tasks; i++) {
        Torg__V1__Task *task = MESSAGE_NEW(task, arena);

        task->name = (char *)states[i].name;
        task->state = (char *)task_state_name(&states[i]);
        task->doing = (char *)states[i].doing;
        task->silent_s = (double)states[i].silent_us / SECOND_US;
        system->tasks[i] = task;
    }
    return get_system(call, request, response, err);
}

static const struct rpc_method methods[] = {
    {.name = "GetSystem", .unary = get_system, .flags = RPC_PUBLIC | RPC_INLINE},
    {.name = "GetStatus", .unary = get_status, .scope = "admin"},
};

struct rpc_service system_service(struct process *process)
{
    return RPC_SERVICE(system, methods, process);
}

static bool has_role(void *arg, const char *role)
{
    const struct process *process = arg;

    for (size_t i = 0; i < process->role_count; i++)
        if (strcmp(process->roles[i]->name, role) == 0)
            return true;
    return false;
}

static void open_pipeline(struct process *process)
{
    const struct pipeline_options options = {
        .store = process->backends.store,
        .topics = process->backends.topics,
        .clock = process->clock,
        .has_role = has_role,
        .has_role_arg = process,
        .number_hold_us = config_number(process->config, SETTING_REGISTRY_NUMBER_HOLD),
        .door = &process->door};

    pipeline = pipeline_new(&options);
}

static void judge_tasks(struct task *task, void *arg)
{
    const struct process *process = arg;

    while (task_pause(task, (int64_t)TASK_LOOK_MS * MS_US)) {
        task_says(task, "looking at the tasks");
        tasks_judge(process->clock);
    }
}

/* What a browser asks for. */
static int add_pages(struct process *process, struct err *err)
{
    if (!process->server)
        return 0;
    for (size_t i = 0; i < web_file_count; i++)
        server_add_file(process->server, web_files[i].path, web_files[i].content_type,
                        bytes_make(web_files[i].data, web_files[i].size));
    server_add_openapi(process->server);
    return 0;
}

int role_system_start(struct process *process, struct err *err)
{
    const struct task_options judge = {
        .name = "task-judge", .run = judge_tasks, .arg = process, .clock = process->clock};
    int rc;

    open_pipeline(process);
    services[0] = system_service(process);
    services[1] = key_service(process);
    services[2] = audit_service(process);
    services[3] = topic_service(process);
    services[4] = pipeline_service(pipeline);
    desk = (struct parked_desk){.store = process->backends.store, .clock = process->clock};
    services[5] = parked_service(&desk);
    process_add_services(process, services, ARRAY_COUNT(services));
    rc = add_pages(process, err);
    return rc ? rc : task_start(&process->judge, &judge, err);
}

void role_system_stop(struct process *process)
{
    task_stop(&process->judge);
    pipeline_free(pipeline);
    pipeline = NULL;
}
