/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - a serving process: its backends, its server and the roles that run in it.
 *
 * Opened bottom up (directory, store, keys, server, roles) and closed in the opposite order.
 * The main thread waits for signals; all work is on threads of the parts.
 */
#ifndef TORG_ROLES_PROCESSES_PROCESS_H
#define TORG_ROLES_PROCESSES_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/key.h"
#include "access/key_ring.h"
#include "base/arena.h"
#include "base/bell.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/task.h"
#include "catalog/holder.h"
#include "config/config.h"
#include "inspect/doors/door.h"
#include "net/bounds.h"
#include "net/server/server.h"
#include "registry/clients/clients.h"
#include "registry/indexing/queue_bell.h"
#include "registry/receiving/rows.h"
#include "roles/commands/command.h"
#include "roles/processes/backends.h"
#include "roles/processes/data_dir.h"
#include "search/synonyms/synonym_holder.h"

struct front;    /* searcher/front/front.h */
struct search;   /* search/search.h */
struct inspect;  /* inspect/inspect.h */
struct pipeline; /* inspect/pipeline/pipeline.h */
struct process;
struct snippets;  /* snippets/requests/snippets.h */
struct readiness; /* roles/processes/readiness.h */

/* Servers that a role stands on, when its backends are no embedded ones. */
enum {
    NEEDS_STORE = 1,
    NEEDS_TOPICS = 2,
    NEEDS_COORD = 4,
    NEEDS_KEYS = 8, /* answers without the store, for as long as keys are trusted */
};

/* A part of the product that can run in this process. */
struct role {
    const char *name;
    const char *summary;
    unsigned needs;   /* without these it refuses its callers; or does not work, if it has none */
    bool has_callers; /* who are sent elsewhere while it is not ready */
    /* Adds its services to the server, which starts afterwards, and starts its threads. */
    int (*start)(struct process *process, struct err *err);
    /* After the server has drained, or when start has failed: whatever has been started by then. */
    void (*stop)(struct process *process);
    /* Whether its callers are answered: 0, or an error that tells what is missing, with *is_serving
     * when they are all the same. By one thread, as long as it runs. NULL: they always are. */
    int (*check)(struct process *process, bool *is_serving, struct err *err);
};

struct photo_maker; /* photos/fetch.h */

/* What a command does beside serving; each may be NULL. */
struct attendant {
    /* The data directory is ours, nothing in it is open yet. */
    int (*prepare)(struct process *process, struct err *err);
    /* It serves; called instead of printing the welcome. */
    int (*begin)(struct process *process, struct err *err);
    /* It is asked to stop, or begin failed: before anything is closed. */
    void (*end)(struct process *process);
    const struct photo_maker *photo_maker; /* files of addresses that no server has */
};

extern const struct role role_table[];
extern const size_t role_count;
enum { ROLE_COUNT_MAX = 32 };

struct process {
    const struct config *config; /* borrowed */
    struct arena *arena;         /* borrowed */
    const struct clock *clock;   /* of all its parts; NULL: the system's */
    int64_t start_us;
    struct data_dir dir;
    struct backends backends;
    struct key_ring *ring;
    struct tokens *tokens;             /* NULL: none are accepted */
    struct http_client *tokens_client; /* of their keys */
    struct server *server; /* NULL: services are called within, by a command's desk (desk.h) or by
                            * who has entered */
    const struct rpc_service *services[NET_SERVICE_COUNT_MAX]; /* borrowed: those that were added */
    size_t service_count;
    struct task judge;           /* of the role system: warns of tasks that do not get on */
    struct readiness *readiness; /* NULL: nothing is to be watched, or it does not serve yet */
    const struct attendant *attendant; /* borrowed; NULL: none */
    bool demo;                         /* torg up: an empty store gets the demo catalogue */
    bool json;                         /* the welcome is a line of JSON */
    bool is_attended;                  /* attendant->begin was called */
    struct synonym_holder *synonyms;   /* NULL until the role search has opened it */
    const struct search *search;       /* as that role answers buyers; NULL until it has started */
    struct catalog_holder *catalog;    /* NULL until a role has called process_open_catalog */
    struct snippets *snippets;         /* NULL until a role has called process_open_snippets */
    struct bell bell;                  /* offers' writers ring it, their worker wakes up */
    struct clients *clients;           /* NULL until a role has called process_open_registry */
    struct dictionaries *dictionaries; /* likewise */
    struct queue_bell registry_bell;   /* receivers ring it, the indexer wakes up */
    const struct front *front;         /* of the searcher; NULL until that role has started */
    struct inspect *inspect;           /* likewise */
    struct index_door door;            /* to searchers; empty until that role has started */
    struct pipeline *pipeline;         /* of the role system; NULL without it */
    const struct role *roles[ROLE_COUNT_MAX];
    size_t role_count;                   /* named */
    size_t started_count;                /* of them running */
    char start_key[KEY_TEXT_LENGTH + 1]; /* "" = none was made */
};

/* Serves until a signal; the roles are in process->roles. */
int process_run(struct process *process, struct err *err);

/* The same without a server and without a word to signals: the roles run, and whoever has entered
 * calls their services himself (process_service, net/local_call.h). Negative: it is left again. */
int process_enter(struct process *process, struct err *err);
void process_leave(struct process *process);

/* Names every role. */
void process_take_roles(struct process *process);
/* process_run as a command: what went wrong is told, as an exit code too. */
enum exit_code process_serve(struct process *process);

/* Where clients of this machine reach it, without a slash at the end; it serves. */
const char *process_url(const struct process *process);
/* Where health and metrics are; NULL: that port is closed. */
const char *process_operators_url(const struct process *process);

/* Of a server that listens there and lets in whom this process lets in. */
struct server_options process_server_options(const struct process *process, const char *listen);

/* Adds services that live as long as the process; the server has them too, if there is one. */
void process_add_services(struct process *process, const struct rpc_service *services,
                          size_t count);
/* NULL: it was not added. */
const struct rpc_service *process_service(const struct process *process,
                                          const ProtobufCServiceDescriptor *type);

/* Closes what roles share, and the backends; what was not opened is fine. */
void process_close_parts(struct process *process);

/* Makes process->catalog, once, for all roles that read it. */
int process_open_catalog(struct process *process, struct err *err);

/* Makes what the roles of the registry share, once, and announces the clients that are there. */
int process_open_registry(struct process *process, struct err *err);

/* Makes process->snippets, once, for all roles that read them. */
int process_open_snippets(struct process *process, struct err *err);

/* --- the first role: what every process has --- */
int role_system_start(struct process *process, struct err *err);
void role_system_stop(struct process *process);

int role_catalog_start(struct process *process, struct err *err);
void role_catalog_stop(struct process *process);
int role_offers_start(struct process *process, struct err *err);
void role_offers_stop(struct process *process);
int role_offers_worker_start(struct process *process, struct err *err);
void role_offers_worker_stop(struct process *process);
int role_receiver_start(struct process *process, struct err *err);
void role_receiver_stop(struct process *process);
int role_composer_start(struct process *process, struct err *err);
int role_composer_serve(struct process *process, struct err *err); /* its services alone */
void role_composer_stop(struct process *process);
int role_search_start(struct process *process, struct err *err);
int role_search_serve(struct process *process, struct err *err); /* for operators */
void role_search_stop(struct process *process);
int role_search_check(struct process *process, bool *is_serving, struct err *err);
int role_photos_start(struct process *process, struct err *err);
void role_photos_stop(struct process *process);
int role_indexer_start(struct process *process, struct err *err);
int role_indexer_serve(struct process *process, struct err *err); /* its services alone */
void role_indexer_stop(struct process *process);
int role_searcher_start(struct process *process, struct err *err);
void role_searcher_stop(struct process *process);
int role_searcher_check(struct process *process, bool *is_serving, struct err *err);
int role_snippets_start(struct process *process, struct err *err);
int role_snippets_serve(struct process *process, struct err *err); /* its services alone */
void role_snippets_stop(struct process *process);
int role_auditor_start(struct process *process, struct err *err);
void role_auditor_stop(struct process *process);

#endif
