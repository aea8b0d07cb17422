/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - see process.h. */
#include "roles/processes/process.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/audit.h"
#include "access/keys.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/address.h"
#include "roles/processes/readiness.h"
#include "roles/processes/stopper.h"
#include "roles/processes/supervisor.h"
#include "roles/processes/token_settings.h"
#include "snippets/requests/snippets.h"
#include "stage/make_topics.h"
#include "topic/topic.h"

/* --- what roles share --- */

void process_add_services(struct process *process, const struct rpc_service *services, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert(process->service_count < NET_SERVICE_COUNT_MAX);
        process->services[process->service_count++] = &services[i];
        if (process->server)
            server_add_service(process->server, &services[i]);
    }
}

const struct rpc_service *process_service(const struct process *process,
                                          const ProtobufCServiceDescriptor *type)
{
    for (size_t i = 0; i < process->service_count; i++)
        if (process->services[i]->descriptor == type)
            return process->services[i];
    return NULL;
}

void process_close_parts(struct process *process)
{
    snippets_close(process->snippets);
    synonym_holder_close(process->synonyms);
    catalog_holder_close(process->catalog);
    dictionaries_free(process->dictionaries);
    clients_free(process->clients);
    key_ring_close(process->ring);
    tokens_stop(process);
    backends_close(&process->backends);
}

/* --- who may call --- */

static bool is_loopback(const struct process *process, enum setting_id id)
{
    struct address address;

    return address_parse(config_text(process->config, id), &address) &&
           address_is_loopback(&address);
}

/* Where other machines can reach it, nothing is served before there is a key to refuse without. */
static int check_exposure(const struct process *process, int64_t key_count, struct err *err)
{
    static const enum setting_id listeners[] = {
        SETTING_SERVER_LISTEN, SETTING_SERVER_OPERATOR_LISTEN, SETTING_SNIPPETS_LISTEN};

    for (size_t i = 0; i < sizeof(listeners) / sizeof(listeners[0]) && !key_count; i++) {
        const char *address = config_text(process->config, listeners[i]);

        if (*address && !is_loopback(process, listeners[i]))
            return err_set(err, ERR_PRECONDITION,
                           "%s = \"%s\" can be reached from other machines, and there is no key "
                           "yet: make one (torg key create NAME --scope admin), or listen on "
                           "127.0.0.1",
                           setting_table[listeners[i]].name, address);
    }
    if (!is_loopback(process, SETTING_SERVER_LISTEN) &&
        !*config_text(process->config, SETTING_TLS_CERTIFICATE))
        log_warn("keys travel unencrypted: set tls.certificate, or put a TLS proxy in front",
                 LOG_TEXT("listen", config_text(process->config, SETTING_SERVER_LISTEN)));
    return 0;
}

static int open_keys(struct process *process, struct err *err)
{
    struct key_ring_options options = {.store = process->backends.store, .clock = process->clock};
    int64_t key_count;
    int rc;

    rc = keys_count_usable(process->backends.store, clock_wall_us(process->clock), &key_count, err);
    if (!rc)
        rc = check_exposure(process, key_count, err);
    if (!rc)
        rc = tokens_start(process, err);
    options.tokens = process->tokens;
    if (!rc)
        rc = key_ring_open(&options, &process->ring, err);
    if (rc)
        return rc;
    if (is_loopback(process, SETTING_SERVER_LISTEN) && (!process->config->file || !key_count))
        key_ring_add_temporary(process->ring, "start", "*", process->start_key);
    return 0;
}

/* --- how local commands find this server --- */

/* The address as a client of this machine writes it: "any address" is reached on loopback. */
const char *process_url(const struct process *process)
{
    const char *listen = config_text(process->config, SETTING_SERVER_LISTEN);
    bool tls = *config_text(process->config, SETTING_TLS_CERTIFICATE);
    struct bytes host = bytes_make(listen, (size_t)(strrchr(listen, ':') - listen));

    if (bytes_equal_text(host, "0.0.0.0"))
        host = bytes_of("127.0.0.1");
    else if (bytes_equal_text(host, "[::]"))
        host = bytes_of("[::1]");
    return arena_printf(process->arena, "%s://%.*s:%u", tls ? "https" : "http", BYTES_ARG(host),
                        server_port(process->server));
}

static int announce(struct process *process, struct err *err)
{
    char key[KEY_TEXT_LENGTH + 1];
    int rc;

    key_ring_add_temporary(process->ring, "operator", "*", key);
    rc = file_write(data_dir_path(process->dir.path, "operator.key", process->arena), bytes_of(key),
                    err);
    if (!rc && *process->start_key)
        rc = file_write(data_dir_path(process->dir.path, "start.key", process->arena),
                        bytes_of(process->start_key), err);
    if (!rc)
        rc = file_write(data_dir_path(process->dir.path, "server.url", process->arena),
                        bytes_of(process_url(process)), err);
    return rc;
}

static void withdraw(const struct process *process)
{
    unlink(data_dir_path(process->dir.path, "server.url", process->arena));
    unlink(data_dir_path(process->dir.path, "operator.key", process->arena));
    unlink(data_dir_path(process->dir.path, "start.key", process->arena));
}

/* Shown to a person; what is not a terminal may be a journal, which many can read and nobody
 * forgets. */
static void print_start_key(const struct process *process, const char *url)
{
    static const char more[] = "(may do everything; forgotten when this process ends)";

    if (isatty(STDOUT_FILENO))
        printf("  start key     %s\n"
               "                %s\n\n"
               "  try           curl -H 'Authorization: Bearer %s' \\\n"
               "                  %s/v1/clients/films/documents \\\n"
               "                  -d '[{\"id\": 1, \"title\": \"Solaris\", \"year\": 1972}]'\n",
               process->start_key, more, process->start_key, url);
    else
        printf("  start key     in %s\n"
               "                %s\n",
               data_dir_path(process->dir.path, "start.key", process->arena), more);
}

/* Shown to a person with the start key, where one is needed: a page keeps it for its tab and takes
 * it out of the address. */
static void tell_pages(const struct process *process, const char *url)
{
    const char *key = isatty(STDOUT_FILENO) ? process->start_key : "";
    const char *sign = *key ? "#key=" : "";
    bool has_pages = false;

    for (size_t i = 0; i < process->role_count; i++)
        has_pages = has_pages || strcmp(process->roles[i]->name, "system") == 0;
    printf("  page and API  %s/\n", url);
    if (!has_pages)
        return;
    printf("  documents     %s/try%s%s\n", url, sign, key);
    printf("  sellers       %s/cabinet\n", url);
    printf("  console       %s/console%s%s\n", url, sign, key);
    printf("  about         %s/about\n", url);
}

const char *process_operators_url(const struct process *process)
{
    const char *operators = config_text(process->config, SETTING_SERVER_OPERATOR_LISTEN);
    bool tls = *config_text(process->config, SETTING_TLS_CERTIFICATE) &&
               config_number(process->config, SETTING_TLS_OPERATORS);

    if (!*operators)
        return NULL;
    return arena_printf(process->arena, "%s://%.*s:%u", tls ? "https" : "http",
                        (int)(strrchr(operators, ':') - operators), operators,
                        server_operator_port(process->server));
}

static void put_member(struct buf *out, const char *name, const char *text)
{
    if (!text)
        return;
    buf_printf(out, ",\"%s\":", name);
    text_put_json(out, bytes_of(text));
}

/* For programs that start this one: a line when it serves. The key stays in its file. */
static void print_welcome_json(const struct process *process, const char *path)
{
    struct buf line = BUF_INIT(64 << 10);

    buf_printf(&line, "{\"version\":\"" TORG_VERSION "\",\"process\":%d", (int)getpid());
    put_member(&line, "url", process_url(process));
    put_member(&line, "operatorsUrl", process_operators_url(process));
    put_member(&line, "data", path);
    put_member(&line, "startKeyFile",
               *process->start_key ? arena_printf(process->arena, "%s/start.key", path) : NULL);
    buf_put_text(&line, ",\"roles\":[");
    for (size_t i = 0; i < process->role_count; i++)
        buf_printf(&line, "%s\"%s\"", i ? "," : "", process->roles[i]->name);
    buf_put_text(&line, "]}");
    puts(buf_text(&line));
    fflush(stdout);
    buf_release(&line);
}

static void print_welcome(const struct process *process, const char *path)
{
    const char *url = process_url(process);
    const char *operators = process_operators_url(process);

    printf("torg " TORG_VERSION " is up (process %d). Ctrl-C stops it.\n\n", (int)getpid());
    tell_pages(process, url);
    if (operators)
        printf("  operators     %s/readyz and /metrics\n", operators);
    printf("  data          %s\n", path);
    printf("  keys          torg key create|list|rotate|revoke\n");
    if (*process->start_key)
        print_start_key(process, url);
    putchar('\n');
    fflush(stdout);
}

/* --- life --- */

static int start_roles(struct process *process, struct err *err)
{
    for (; process->started_count < process->role_count; process->started_count++) {
        const struct role *role = process->roles[process->started_count];

        if (role->start(process, err)) {
            role->stop(process); /* what it has started before it failed */
            return err_wrap(err, "role %s", role->name);
        }
    }
    return 0;
}

struct server_options process_server_options(const struct process *process, const char *listen)
{
    const struct config *config = process->config;
    const char *certificate = config_text(config, SETTING_TLS_CERTIFICATE);
    const char *client_ca = config_text(config, SETTING_TLS_CLIENT_CA);

    return (struct server_options){
        .listen = listen,
        .tls_certificate = *certificate ? certificate : NULL,
        .tls_key = *certificate ? config_text(config, SETTING_TLS_KEY) : NULL,
        .tls_client_ca = *client_ca ? client_ca : NULL,
        .tls_client_required = config_number(config, SETTING_TLS_CLIENT_REQUIRED),
        .tls_operators = config_number(config, SETTING_TLS_OPERATORS),
        .reactor_count = (unsigned)config_number(config, SETTING_SERVER_REACTORS),
        .worker_count = (unsigned)config_number(config, SETTING_SERVER_WORKERS),
        .key_rate = (unsigned)config_number(config, SETTING_LIMITS_KEY_RATE),
        .seller_rate = (unsigned)config_number(config, SETTING_LIMITS_SELLER_RATE),
        .address_rate = (unsigned)config_number(config, SETTING_LIMITS_ADDRESS_RATE),
        .address_connection_max =
            (unsigned)config_number(config, SETTING_LIMITS_ADDRESS_CONNECTIONS),
        .reuse_port = config_number(config, SETTING_SERVER_REUSE_PORT),
        .drain_pause_ms = (unsigned)(config_number(config, SETTING_SERVER_DRAIN_PAUSE) / MS_US),
        .proxies = config_text(config, SETTING_SERVER_PROXIES),
        .cors_origins = config_text(config, SETTING_SERVER_CORS_ORIGINS),
        .clock = process->clock,
        .authenticator = key_ring_authenticator(process->ring),
    };
}

static int start_server(struct process *process, struct err *err)
{
    const char *operators = config_text(process->config, SETTING_SERVER_OPERATOR_LISTEN);
    struct server_options options =
        process_server_options(process, config_text(process->config, SETTING_SERVER_LISTEN));
    int rc;

    options.operator_listen = *operators ? operators : NULL;
    rc = server_new(&options, &process->server, err);

    /* It will be free again: a caller may try later. */
    if (rc == ERR_EXISTS)
        return err_set(err, ERR_UNAVAILABLE,
                       "%s; --listen and --operator-listen name other addresses",
                       arena_strdup(process->arena, err->text));
    rc = rc ? rc : start_roles(process, err);
    if (rc)
        return rc;
    readiness_hold(process);
    return server_start(process->server, err);
}

static const char *role_names(const struct process *process)
{
    const char *names = "";

    for (size_t i = 0; i < process->role_count; i++)
        names =
            arena_printf(process->arena, "%s%s%s", names, i ? " " : "", process->roles[i]->name);
    return names;
}

static int record(const struct process *process, const char *action, struct err *err)
{
    const struct audit_entry entry = {.at_us = clock_wall_us(process->clock),
                                      .principal = "local",
                                      .action = action,
                                      .target = process_url(process),
                                      .detail = role_names(process)};

    return audit_record(process->backends.store, &entry, err);
}

static int open_backends(struct process *process, struct err *err)
{
    int rc;

    rc = data_dir_open(config_text(process->config, SETTING_DATA_DIR), true, &process->dir, err);
    if (rc)
        return rc;
    withdraw(process); /* what a killed process left would mislead local commands */
    if (process->attendant && process->attendant->prepare)
        rc = process->attendant->prepare(process, err);
    if (rc)
        return rc;
    rc = backends_open(process->config, process->clock, process->arena, &process->backends, err);
    if (!rc)
        rc = stage_make_topics(process->backends.topics, err);
    return rc;
}

static int open_all(struct process *process, struct err *err)
{
    int rc = open_backends(process, err);

    if (!rc)
        rc = open_keys(process, err);
    if (!rc)
        rc = start_server(process, err);
    if (!rc)
        rc = record(process, "server.start", err);
    if (rc)
        return rc;
    process->readiness = readiness_start(process);
    stopper_serve();
    return announce(process, err);
}

static void close_all(struct process *process)
{
    if (process->server)
        server_drain(process->server, config_number(process->config, SETTING_SERVER_DRAIN) / MS_US);
    readiness_stop(process->readiness);
    if (process->backends.topics)
        topics_leave(
            process->backends.topics); /* a dozen stages wait for records, and stop in turn */
    while (process->started_count > 0)
        process->roles[--process->started_count]->stop(process);
    if (process->server)
        server_free(process->server);
    process_close_parts(process);
    if (process->dir.lock_fd >= 0)
        withdraw(process);
    data_dir_close(&process->dir);
}

static int welcome(struct process *process, struct err *err)
{
    char *path;

    if (process->attendant && process->attendant->begin) {
        process->is_attended = true;
        return process->attendant->begin(process, err);
    }
    path = realpath(process->dir.path, NULL);
    (process->json ? print_welcome_json : print_welcome)(process, path ? path : process->dir.path);
    free(path);
    return 0;
}

static void leave(struct process *process)
{
    if (process->is_attended && process->attendant->end)
        process->attendant->end(process);
}

static void begin(struct process *process)
{
    process->clock = clock_or_system(process->clock);
    process->start_us = clock_wall_us(process->clock);
    process->dir = DATA_DIR_CLOSED;
    bell_init(&process->bell, process->clock);
    queue_bell_init(&process->registry_bell, process->clock);
}

static void end(struct process *process)
{
    close_all(process);
    queue_bell_release(&process->registry_bell);
    bell_release(&process->bell);
}

int process_enter(struct process *process, struct err *err)
{
    int rc;

    begin(process);
    rc = open_backends(process, err);
    rc = rc ? rc : start_roles(process, err);
    if (rc)
        end(process);
    return rc;
}

void process_leave(struct process *process)
{
    end(process);
}

int process_run(struct process *process, struct err *err)
{
    struct supervisor *supervisor = NULL;
    struct err stop_err;
    int rc;

    begin(process);
    stopper_start();
    rc = open_all(process, err);
    if (!rc)
        rc = welcome(process, err);
    if (!rc)
        supervisor = supervisor_start(process->clock);
    if (!rc) {
        int number = stopper_wait(); /* not within the call: a quiet log does not look at it */

        log_info("stopping", LOG_TEXT("signal", strsignal(number)));
        server_set_unready(process->server, "draining");
        if (record(process, "server.stop", &stop_err))
            log_warn("the stop could not be recorded", LOG_TEXT("error", stop_err.text));
    }
    leave(process);
    end(process);
    supervisor_stop(supervisor);
    if (!rc)
        log_info("stopped");
    return rc;
}
