/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The official test suite of JSON Schema (json-schema-org/JSON-Schema-Test-Suite, MIT), drafts 3
 * and 4: every required test, and the optional ones, which are counted. The suite's directory is
 * the first argument; without it the test is skipped.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "schema/schema.h"

enum { DOCUMENT_COUNT_MAX = 32, FILE_COUNT_MAX = 200, JSON_SIZE_MAX = 4 << 20 };

struct suite {
    const char *dir;
    struct arena *arena;
    struct schema_document documents[DOCUMENT_COUNT_MAX];
    size_t document_count;
    unsigned good, bad, refused; /* of one part */
    bool is_loud;
};

static struct bytes read_whole(struct suite *suite, const char *path)
{
    struct buf content = BUF_INIT(JSON_SIZE_MAX);
    struct bytes copy;
    struct err err;

    if (file_read(path, &content, &err)) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    copy = arena_copy(suite->arena, buf_bytes(&content));
    buf_release(&content);
    return copy;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory, sorted; directories too. */
static size_t list(struct suite *suite, const char *path, char **names)
{
    DIR *dir = opendir(path);
    struct dirent *entry = dir ? readdir(dir) : NULL;
    size_t count = 0;

    for (; entry && count < FILE_COUNT_MAX; entry = readdir(dir)) {
        if (entry->d_name[0] != '.')
            names[count++] = arena_strdup(suite->arena, entry->d_name);
    }
    if (dir)
        closedir(dir);
    qsort(names, count, sizeof(*names), by_name);
    return count;
}

static bool ends_with_json(const char *name)
{
    size_t size = strlen(name);

    return size > 5 && strcmp(name + size - 5, ".json") == 0;
}

/* What the suite wants to be served from localhost:1234. */
static void take_remotes(struct suite *suite, const char *below)
{
    char *names[FILE_COUNT_MAX];
    char *dir = arena_printf(suite->arena, "%s/remotes%s", suite->dir, below);
    size_t count = list(suite, dir, names), i;

    for (i = 0; i < count; i++) {
        char *place = arena_printf(suite->arena, "%s/%s", below, names[i]);

        if (!ends_with_json(names[i])) {
            take_remotes(suite, place);
            continue;
        }
        if (suite->document_count == DOCUMENT_COUNT_MAX)
            abort();
        suite->documents[suite->document_count++] = (struct schema_document){
            .uri = bytes_of(arena_printf(suite->arena, "http://localhost:1234%s", place)),
            .json = read_whole(suite, arena_printf(suite->arena, "%s/%s", dir, names[i]))};
    }
}

static const char *text_of(struct suite *suite, const struct placed_json *node, const char *key)
{
    const struct placed_json *found = placed_json_find(node, bytes_of(key));

    return found ? arena_text(suite->arena, found->text) : "";
}

static void run_group(struct suite *suite, const char *file, const struct placed_json *group,
                      const struct schema_options *options)
{
    const struct placed_json *tests = placed_json_find(group, bytes_of("tests"));
    struct buf text = BUF_INIT(JSON_SIZE_MAX);
    struct json_schema *schema;
    struct err err;
    uint32_t i;

    placed_json_put(placed_json_find(group, bytes_of("schema")), &text);
    if (json_schema_compile(buf_bytes(&text), options, &schema, &err)) {
        printf("# %s: %s: refused: %s\n", file, text_of(suite, group, "description"), err.text);
        suite->refused += tests->count;
        buf_release(&text);
        return;
    }
    for (i = 0; i < tests->count; i++) {
        const struct placed_json *test = tests->children[i];
        bool wanted = placed_json_find(test, bytes_of("valid"))->kind == PLACED_TRUE;
        struct arena *scratch = arena_new();
        int rc = json_schema_check(schema, placed_json_find(test, bytes_of("data")), scratch, &err);

        if ((rc == 0) == wanted && rc != ERR_LIMIT) {
            suite->good++;
        } else {
            suite->bad++;
            printf("# %s: %s: %s: %s\n", file, text_of(suite, group, "description"),
                   text_of(suite, test, "description"), rc ? err.text : "taken");
        }
        arena_free(scratch);
    }
    json_schema_free(schema);
    buf_release(&text);
}

static void run_dir(struct suite *suite, const char *dir, const struct schema_options *options)
{
    char *names[FILE_COUNT_MAX];
    size_t count = list(suite, dir, names), i;
    struct err err;
    uint32_t k;

    for (i = 0; i < count; i++) {
        const struct placed_json *groups;

        if (!ends_with_json(names[i]))
            continue;
        if (placed_json_read(read_whole(suite, arena_printf(suite->arena, "%s/%s", dir, names[i])),
                             suite->arena, &groups, &err)) {
            printf("# %s: %s\n", names[i], err.text);
            suite->bad++;
            continue;
        }
        for (k = 0; k < groups->count; k++)
            run_group(suite, names[i], groups->children[k], options);
    }
}

/* One line of TAP; required: nothing may be bad or refused. */
static bool run_part(struct suite *suite, unsigned number, unsigned draft, const char *part,
                     unsigned allowed)
{
    bool with_formats = strstr(part, "format") != NULL;
    struct schema_options options = {.draft = (enum schema_draft)draft,
                                     .with_formats = with_formats,
                                     .documents = suite->documents,
                                     .document_count = suite->document_count};
    bool is_good;

    suite->good = suite->bad = suite->refused = 0;
    run_dir(suite, arena_printf(suite->arena, "%s/tests/draft%u%s", suite->dir, draft, part),
            &options);
    is_good = suite->good > 0 && suite->bad + suite->refused <= allowed;
    printf("%s %u - draft %u%s: %u as wanted, %u not, %u refused\n", is_good ? "ok" : "not ok",
           number, draft, part, suite->good, suite->bad, suite->refused);
    return is_good;
}

int main(int argc, char **argv)
{
    static const struct {
        unsigned draft;
        const char *part;
        unsigned allowed; /* not as wanted: classes of Unicode properties, look-behind */
    } parts[] = {{3, "", 0},
                 {4, "", 0},
                 {3, "/optional", 0},
                 {4, "/optional", 14},
                 {3, "/optional/format", 1},
                 {4, "/optional/format", 0}};
    struct suite suite = {.dir = argc > 1 ? argv[1] : ""};
    DIR *dir = opendir(suite.dir);
    bool is_good = true;
    unsigned i;

    if (!dir) {
        printf("1..0 # SKIP the suite is not there\n");
        return 0;
    }
    closedir(dir);
    suite.arena = arena_new();
    take_remotes(&suite, "");
    printf("1..%zu\n", ARRAY_COUNT(parts));
    for (i = 0; i < ARRAY_COUNT(parts); i++)
        is_good &= run_part(&suite, i + 1, parts[i].draft, parts[i].part, parts[i].allowed);
    arena_free(suite.arena);
    return is_good ? 0 : 1;
}
