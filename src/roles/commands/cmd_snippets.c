/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_snippets.c - torg snippets check, prefixes, get, put, delete: the config and its key prefixes
 * are files here; snippets are asked of the server, or of the data directory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "roles/commands/desk.h"
#include "roles/commands/input.h"
#include "roles/commands/print.h"
#include "snippets/bounds.h"
#include "snippets/config/config.h"
#include "snippets/config/prefixes.h"
#include "torg/v1/snippet.pb-c.h"

struct snippet_files {
    const char *config_path;
    const char *prefixes_path;
    const char *dir;
};

/* The argument, or the setting. */
static bool find_files(const struct invocation *invocation, struct snippet_files *files)
{
    const char *slash;

    files->config_path = invocation->argument_count
                             ? invocation->arguments[0]
                             : config_text(&invocation->config, SETTING_SNIPPETS_CONFIG);
    files->prefixes_path = config_text(&invocation->config, SETTING_SNIPPETS_PREFIXES);
    if (!*files->config_path) {
        complain("name a file, or set snippets.config");
        return false;
    }
    slash = strrchr(files->config_path, '/');
    files->dir =
        slash ? arena_text(invocation->arena,
                           bytes_make(files->config_path, (size_t)(slash - files->config_path)))
              : ".";
    if (!*files->prefixes_path)
        files->prefixes_path = arena_printf(invocation->arena, "%s/key_prefixes.txt", files->dir);
    return true;
}

static int load(const struct snippet_files *files, const struct snippet_prefixes *prefixes,
                struct snippet_config **config, struct err *err)
{
    const struct snippet_config_options options = {.dir = files->dir, .prefixes = prefixes};
    struct buf text = BUF_INIT(SNIPPET_CONFIG_SIZE_MAX);
    int rc = file_read(files->config_path, &text, err);

    *config = NULL;
    if (!rc && snippet_config_load(buf_bytes(&text), &options, config, err))
        rc = err_wrap(err, "%s", files->config_path);
    buf_release(&text);
    return rc;
}

enum exit_code cmd_snippets_check(const struct invocation *invocation)
{
    struct snippet_prefixes prefixes;
    struct snippet_config *config;
    struct snippet_files files;
    size_t section_count, snippet_count;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (!find_files(invocation, &files))
        return EXIT_USAGE;
    if (snippet_prefixes_load(files.prefixes_path, invocation->arena, &prefixes, &err) ||
        load(&files, &prefixes, &config, &err))
        return fail(&err);
    (void)snippet_config_sections(config, &section_count);
    (void)snippet_config_snippets(config, &snippet_count);
    printf("%s: %zu snippets in %zu sections: nothing wrong\n", files.config_path, snippet_count,
           section_count);
    snippet_config_unref(config);
    return EXIT_OK;
}

/* --- prefixes --- */

static int ask(const struct invocation *invocation, const char *method,
               const ProtobufCMessage *request, ProtobufCMessage **response, struct err *err)
{
    return desk_ask(invocation, false, &torg__v1__snippet_service__descriptor, method, request,
                    response, err);
}

/* Only when nothing is stored under it any more. */
static int free_prefix(const struct invocation *invocation, const struct snippet_files *files,
                       const struct snippet_prefixes *prefixes, const char *name, struct err *err)
{
    Torg__V1__DescribeSnippetsRequest request = TORG__V1__DESCRIBE_SNIPPETS_REQUEST__INIT;
    ProtobufCMessage *response;
    int64_t count;
    int rc;

    request.prefix = snippet_prefixes_find(prefixes, bytes_of(name));
    if (!request.prefix)
        return err_set(err, ERR_NOT_FOUND, "%s has no key prefix", name);
    rc = ask(invocation, "DescribeSnippets", &request.base, &response, err);
    if (rc)
        return rc;
    count = ((const Torg__V1__DescribeSnippetsResponse *)response)->row_count;
    if (count)
        return err_set(err, ERR_PRECONDITION,
                       "%s%" PRId64 " rows are still stored under the prefix of %s: delete them "
                       "first",
                       count >= SNIPPET_COUNT_MAX ? "at least " : "", count, name);
    return snippet_prefixes_free(files->prefixes_path, bytes_of(name), clock_system(), err);
}

static int allot(const struct snippet_files *files, const struct snippet_config *config,
                 struct err *err)
{
    size_t added;
    int rc = snippet_prefixes_allot(files->prefixes_path, config, clock_system(), &added, err);

    if (!rc)
        printf("%s: %zu added\n", files->prefixes_path, added);
    return rc;
}

static void list_prefixes(const struct snippet_prefixes *prefixes,
                          const struct snippet_config *config)
{
    size_t count, i;
    const struct snippet *const *snippets = snippet_config_snippets(config, &count);

    for (i = 0; i < prefixes->count; i++)
        printf("%" PRId64 " %s%s\n", prefixes->list[i].number, prefixes->list[i].name,
               snippet_config_snippet(config, bytes_of(prefixes->list[i].name))
                   ? ""
                   : "  (in no config)");
    for (i = 0; i < count; i++) {
        if (!snippet_prefixes_find(prefixes, bytes_of(snippets[i]->name)))
            printf("- %s  (has none: --allot)\n", snippets[i]->name);
    }
}

enum exit_code cmd_snippets_prefixes(const struct invocation *invocation)
{
    const char *freed = invocation_option(invocation, "free");
    struct snippet_prefixes prefixes;
    struct snippet_config *config;
    struct snippet_files files;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!find_files(invocation, &files))
        return EXIT_USAGE;
    if (snippet_prefixes_load(files.prefixes_path, invocation->arena, &prefixes, &err) ||
        load(&files, NULL, &config, &err))
        return fail(&err);
    if (freed)
        rc = free_prefix(invocation, &files, &prefixes, freed, &err);
    else if (invocation_option(invocation, "allot"))
        rc = allot(&files, config, &err);
    else
        rc = 0;
    if (!freed && !invocation_option(invocation, "allot"))
        list_prefixes(&prefixes, config);
    snippet_config_unref(config);
    return rc ? fail(&err) : EXIT_OK;
}

/* --- snippets --- */

static char *language_option(const struct invocation *invocation)
{
    const char *language = invocation_option(invocation, "language");

    return (char *)(language ? language : "");
}

static void print_snippet(const Torg__V1__Snippet *snippet)
{
    printf("%s %s%s%s: ", snippet->name, snippet->key, *snippet->language ? " " : "",
           snippet->language);
    if (snippet->binary.len)
        printf("%zu bytes\n", snippet->binary.len);
    else
        printf("%s\n", snippet->text);
}

enum exit_code cmd_snippets_get(const struct invocation *invocation)
{
    Torg__V1__GetSnippetsRequest request = TORG__V1__GET_SNIPPETS_REQUEST__INIT;
    char *name = (char *)invocation->arguments[0];
    const Torg__V1__GetSnippetsResponse *found;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.names = &name;
    request.n_names = 1;
    request.keys = (char **)&invocation->arguments[1];
    request.n_keys = invocation->argument_count - 1;
    request.language = language_option(invocation);
    if (ask(invocation, "GetSnippets", &request.base, &response, &err))
        return fail(&err);
    found = (const Torg__V1__GetSnippetsResponse *)response;
    if (invocation->json) {
        print_json(response);
    } else {
        for (size_t i = 0; i < found->n_snippets; i++)
            print_snippet(found->snippets[i]);
    }
    return found->n_snippets ? EXIT_OK : EXIT_NOT_FOUND;
}

enum exit_code cmd_snippets_put(const struct invocation *invocation)
{
    Torg__V1__PutSnippetRequest request = TORG__V1__PUT_SNIPPET_REQUEST__INIT;
    const char *format = invocation_option(invocation, "format");
    struct buf body = BUF_INIT(SNIPPET_BODY_SIZE_MAX + 65536);
    enum snippet_format known;
    ProtobufCMessage *response;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (format && !snippet_format_find(bytes_of(format), &known)) {
        complain("--format=%.64s: expected TEXT, JSON, PB, XML or BINARY", format);
        return EXIT_USAGE;
    }
    request.format = format ? (Torg__V1__SnippetFormat)(known + 1) : TORG__V1__SNIPPET_FORMAT__JSON;
    request.name = (char *)invocation->arguments[0];
    request.key = (char *)invocation->arguments[1];
    request.language = language_option(invocation);
    rc = read_input(invocation, 2, &body, &err);
    if (!rc) {
        request.body = (ProtobufCBinaryData){.data = body.data, .len = body.size};
        rc = ask(invocation, "PutSnippet", &request.base, &response, &err);
    }
    buf_release(&body);
    return rc ? fail(&err) : EXIT_OK;
}

enum exit_code cmd_snippets_delete(const struct invocation *invocation)
{
    Torg__V1__DeleteSnippetRequest request = TORG__V1__DELETE_SNIPPET_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.name = (char *)invocation->arguments[0];
    request.key = (char *)invocation->arguments[1];
    request.language = language_option(invocation);
    if (ask(invocation, "DeleteSnippet", &request.base, &response, &err))
        return fail(&err);
    return EXIT_OK;
}
