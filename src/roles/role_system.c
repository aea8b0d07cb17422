/* SPDX-License-Identifier: Apache-2.0 */
/* role_system.c - the role system: the page, the state of the process, keys, the audit log. */
#include "base/memory.h"
#include "roles/process.h"
#include "roles/service.h"
#include "torg/v1/system.pb-c.h"
#include "web_index.h"

/* One set a process; the server borrows them for its life. */
static struct rpc_service services[3];

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
    system->start_time = timestamp_new(arena, process->start_us);
    return 0;
}

static const struct rpc_method methods[] = {
    {.name = "GetSystem", .unary = get_system, .flags = RPC_PUBLIC | RPC_INLINE},
};

struct rpc_service system_service(struct process *process)
{
    return (struct rpc_service){
        .descriptor = &torg__v1__system_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = process,
    };
}

int role_system_start(struct process *process, struct err *err)
{
    (void)err;
    services[0] = system_service(process);
    services[1] = key_service(process);
    services[2] = audit_service(process);
    for (size_t i = 0; i < ARRAY_COUNT(services); i++)
        server_add_service(process->server, &services[i]);
    server_add_file(process->server, "/", "text/html; charset=utf-8",
                    bytes_make(web_index, web_index_size));
    return 0;
}

void role_system_stop(struct process *process)
{
    (void)process; /* it has no threads: its calls ended with the server's */
}
