/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_snippets_load.c - torg snippets load, rollback: the full state of a snippet or a group from a
 * file, shown when it is whole.
 *
 *     file ──► snippets/intake/load_file.h ──► AddSnippets, piece by piece ──► FinishSnippetLoad
 *
 * Whatever fails on the way, or a command that is killed, leaves what is shown as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "roles/commands/progress.h"
#include "snippets/bounds.h"
#include "snippets/intake/load_file.h"
#include "snippets/parts/part.h"
#include "torg/v1/snippet.pb-c.h"

enum { PIECE_SIZE = 1 << 20 };

struct load {
    const struct invocation *invocation;
    char *name;
    int64_t number; /* 0: none has begun */
    Torg__V1__SnippetFormat format;
    int32_t removed_percent_max;
    bool is_dry;
    int fd; /* -1: none */
    uint64_t read_size, total_size;
    struct desk desk;
    struct snippet_file *file;
    struct arena *arena; /* of a piece */
    struct progress progress;
    uint64_t row_count;
    int64_t older_count;
};

static int ask(struct load *load, const char *method, const ProtobufCMessage *request,
               ProtobufCMessage **response, struct err *err)
{
    return desk_call(&load->desk, &torg__v1__snippet_service__descriptor, method, request, response,
                     err);
}

/* --- the file --- */

static int read_file(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct load *load = arg;
    ssize_t count;

    do
        count = read(load->fd, to, size);
    while (count < 0 && errno == EINTR);
    *got = count > 0 ? (size_t)count : 0;
    load->read_size += *got;
    return count < 0 ? err_errno(err, "the file") : 0;
}

static int open_file(struct load *load, const char *path, struct err *err)
{
    struct stat stat;
    bool is_json = load->format == TORG__V1__SNIPPET_FORMAT__JSON;

    load->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (load->fd < 0)
        return err_errno(err, "%s", path);
    if (fstat(load->fd, &stat) == 0 && S_ISREG(stat.st_mode))
        load->total_size = (uint64_t)stat.st_size;
    return snippet_file_open(read_file, load, is_json, &load->file, err);
}

/* --- pieces --- */

static Torg__V1__SnippetRecord *copy_row(const struct snippet_file_row *row, struct arena *arena)
{
    Torg__V1__SnippetRecord *record = arena_alloc(arena, sizeof(*record));
    struct bytes body = arena_copy(arena, row->body);

    torg__v1__snippet_record__init(record);
    record->key = arena_text(arena, row->key);
    record->language = arena_text(arena, row->language);
    record->body = (ProtobufCBinaryData){.data = (uint8_t *)body.data, .len = body.size};
    record->place = row->place;
    return record;
}

/* Reads up to a piece; *end: the file has no more. */
static int read_piece(struct load *load, Torg__V1__AddSnippetsRequest *request, bool *end,
                      struct err *err)
{
    size_t size = 0;
    int rc = 0;

    *end = false;
    while (!rc && !*end && size < PIECE_SIZE && request->n_records < SNIPPET_LOAD_COUNT_MAX) {
        struct snippet_file_row row;

        rc = snippet_file_next(load->file, &row, end, err);
        if (!rc && !*end && row.body.size > SNIPPET_BODY_SIZE_MAX)
            rc = err_set(err, ERR_LIMIT, "row %" PRId64 ": more than %d bytes", row.place,
                         SNIPPET_BODY_SIZE_MAX);
        if (rc || *end)
            break;
        size += row.body.size + row.key.size;
        request->records[request->n_records++] = copy_row(&row, load->arena);
    }
    return rc;
}

static int send_piece(struct load *load, bool *end, struct err *err)
{
    Torg__V1__AddSnippetsRequest request = TORG__V1__ADD_SNIPPETS_REQUEST__INIT;
    ProtobufCMessage *response;
    int rc;

    arena_reset(load->arena);
    request.name = load->name;
    request.load = load->number;
    request.format = load->format;
    request.records = arena_array(load->arena, SNIPPET_LOAD_COUNT_MAX, sizeof(*request.records));
    rc = read_piece(load, &request, end, err);
    if (!rc && request.n_records)
        rc = ask(load, "AddSnippets", &request.base, &response, err);
    if (rc || !request.n_records)
        return rc;
    load->row_count += request.n_records;
    load->older_count += ((const Torg__V1__AddSnippetsResponse *)response)->older;
    progress_update(&load->progress, load->read_size, load->total_size, load->row_count);
    return 0;
}

/* --- the whole --- */

static int begin(struct load *load, struct err *err)
{
    Torg__V1__BeginSnippetLoadRequest request = TORG__V1__BEGIN_SNIPPET_LOAD_REQUEST__INIT;
    ProtobufCMessage *response;
    int rc;

    request.name = load->name;
    rc = ask(load, "BeginSnippetLoad", &request.base, &response, err);
    if (!rc)
        load->number = ((const Torg__V1__BeginSnippetLoadResponse *)response)->load;
    return rc;
}

static void abandon(struct load *load)
{
    Torg__V1__AbandonSnippetLoadRequest request = TORG__V1__ABANDON_SNIPPET_LOAD_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    request.name = load->name;
    request.load = load->number;
    (void)ask(load, "AbandonSnippetLoad", &request.base, &response, &err);
}

static int finish(struct load *load, const Torg__V1__FinishSnippetLoadResponse **done,
                  struct err *err)
{
    Torg__V1__FinishSnippetLoadRequest request = TORG__V1__FINISH_SNIPPET_LOAD_REQUEST__INIT;
    ProtobufCMessage *response;
    int rc;

    request.name = load->name;
    request.load = load->number;
    request.removed_percent_max = load->removed_percent_max;
    request.dry_run = load->is_dry;
    rc = ask(load, "FinishSnippetLoad", &request.base, &response, err);
    *done = rc ? NULL : (const Torg__V1__FinishSnippetLoadResponse *)response;
    return rc;
}

static int run(struct load *load, const Torg__V1__FinishSnippetLoadResponse **done, struct err *err)
{
    bool end = false;
    int rc = begin(load, err);

    while (!rc && !end)
        rc = send_piece(load, &end, err);
    progress_end(&load->progress);
    if (!rc)
        return finish(load, done, err);
    if (load->number)
        abandon(load);
    return rc;
}

static void print_done(const struct load *load, const Torg__V1__FinishSnippetLoadResponse *done)
{
    if (load->invocation->json) {
        print_json(&done->base);
        return;
    }
    printf("%s: %" PRIu64 " rows read; %" PRId64 " snippets before, %" PRId64 " %s: %" PRId64
           " kept, %" PRId64 " new, %" PRId64 " gone\n",
           load->name, load->row_count, done->before, done->after,
           load->is_dry ? "would be shown" : "are shown", done->kept, done->after - done->kept,
           done->before - done->kept);
    if (load->older_count)
        printf("%" PRId64 " of the file were left: put or deleted meanwhile, or twice in it\n",
               load->older_count);
}

static bool read_options(struct load *load)
{
    const char *format = invocation_option(load->invocation, "format");
    const char *percent = invocation_option(load->invocation, "allow-removal");
    enum snippet_format known = SNIPPET_JSON;
    uint64_t number = 0;

    if (format && !snippet_format_find(bytes_of(format), &known)) {
        complain("--format=%.64s: expected TEXT, JSON, PB, XML or BINARY", format);
        return false;
    }
    if (percent && (!text_to_u64(bytes_of(percent), &number) || number < 1 || number > 100)) {
        complain("--allow-removal=%.64s: expected 1 to 100 percent", percent);
        return false;
    }
    load->format = (Torg__V1__SnippetFormat)(known + 1);
    load->removed_percent_max = (int32_t)number;
    load->is_dry = invocation_option(load->invocation, "dry-run") != NULL;
    return true;
}

enum exit_code cmd_snippets_load(const struct invocation *invocation)
{
    struct load load = {.invocation = invocation, .fd = -1};
    const Torg__V1__FinishSnippetLoadResponse *done = NULL;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    load.name = (char *)invocation->arguments[0];
    if (!read_options(&load))
        return EXIT_USAGE;
    load.arena = arena_new();
    progress_begin(&load.progress, stderr, clock_system(),
                   invocation_option(invocation, "quiet") != NULL, load.name);
    rc = open_file(&load, invocation->arguments[1], &err);
    if (!rc)
        rc = desk_open(invocation, false, &load.desk, &err);
    if (!rc) {
        rc = run(&load, &done, &err);
        if (!rc)
            print_done(&load, done);
        desk_close(&load.desk);
    }
    snippet_file_close(load.file);
    if (load.fd >= 0)
        close(load.fd);
    arena_free(load.arena);
    return rc ? fail(&err) : EXIT_OK;
}

enum exit_code cmd_snippets_rollback(const struct invocation *invocation)
{
    Torg__V1__RollBackSnippetsRequest request = TORG__V1__ROLL_BACK_SNIPPETS_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.name = (char *)invocation->arguments[0];
    if (desk_ask(invocation, false, &torg__v1__snippet_service__descriptor, "RollBackSnippets",
                 &request.base, &response, &err))
        return fail(&err);
    printf("%s: what was shown before the last load is shown again\n", request.name);
    return EXIT_OK;
}
