/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - see world.h. */
#include "sim/world.h"

#include <assert.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "codec/json.h"
#include "torg/v1/catalog.pb-c.h"

/* ---- snippets ---- */

#define SNIPPET_CONFIG "snippets.pb.txt"
#define SNIPPET_PREFIXES "key_prefixes.txt"

static const char snippet_config[] =
    "Body { Output: JSON\n"
    "  Sections { Name: \"" WORLD_SNIPPET_BY_CALL "\" }\n"
    "  Sections { Name: \"" WORLD_SNIPPET_BY_TOPIC "\" Body { InputTopic: \"" WORLD_SNIPPET_TOPIC
    "\" InputForLB: JSON\n"
    "    KeyExtractor: \"message-key\" } } }\n";
static const char snippet_prefixes[] =
    "1000 " WORLD_SNIPPET_BY_CALL "\n1001 " WORLD_SNIPPET_BY_TOPIC "\n";

static const char *beside(struct arena *arena, const char *dir, const char *name)
{
    return arena_printf(arena, "%s.snippets/%s", dir, name);
}

/* Beside the data, by the first life: the config is the one that is written last. */
static int write_snippet_files(struct arena *arena, const char *dir, struct err *err)
{
    const char *config = beside(arena, dir, SNIPPET_CONFIG);
    int rc;

    if (access(config, F_OK) == 0)
        return 0;
    rc = dir_create(beside(arena, dir, ""), err);
    rc =
        rc ? rc : file_write(beside(arena, dir, SNIPPET_PREFIXES), bytes_of(snippet_prefixes), err);
    return rc ? rc : file_write(config, bytes_of(snippet_config), err);
}

static int make_snippet_topic(struct world *world, struct err *err)
{
    const struct topic_config config = {.partition_count = 2};

    return topic_ensure(world->process.backends.topics, WORLD_SNIPPET_TOPIC, &config, err);
}

/* ---- life ---- */

static int load_config(struct world *world, const struct world_options *options, struct err *err)
{
    const struct config_flag flags[] = {
        {"data.dir", options->dir},
        {"search.spelling", options->spelling ? "true" : "false"},
        {"registry.shards", arena_printf(world->arena, "%u", options->shards + !options->shards)},
        {"auditor.pause", "4s"},
        {"snippets.config", beside(world->arena, options->dir, SNIPPET_CONFIG)},
        {"feeds.fetch", "false"}, /* nobody's web server is simulated */
        {"searcher.checkpoint",
         arena_printf(world->arena, "%us", options->checkpoint ? options->checkpoint : 600)},
        {"registry.index_slack", "20"}, /* documents are poured again all the time */
        {"registry.index_trim_delay", "2s"},
        {"registry.number_life", options->numbers_return ? "1s" : "7d"},
        {"registry.number_hold", options->numbers_return ? "1s" : "1d"},
    };
    const struct config_sources sources = {
        .file = "/dev/null", .flags = flags, .flag_count = ARRAY_COUNT(flags)};
    struct violations problems = violations_in(world->arena);

    if (!config_load(&world->config, &sources, world->arena, &problems))
        return 0;
    return err_set(err, ERR_INVALID, "%s: %s", problems.first->field, problems.first->reason);
}

int world_open(struct world *world, const struct world_options *options, struct err *err)
{
    int rc;

    *world = (struct world){.arena = arena_new()};
    world->process = (struct process){.config = &world->config, .arena = world->arena};
    process_take_roles(&world->process);
    rc = write_snippet_files(world->arena, options->dir, err);
    rc = rc ? rc : load_config(world, options, err);
    rc = rc ? rc : process_enter(&world->process, err);
    if (rc) {
        arena_free(world->arena);
        return rc;
    }
    rc = make_snippet_topic(world, err);
    if (rc)
        world_close(world);
    return rc;
}

void world_close(struct world *world)
{
    process_leave(&world->process);
    arena_free(world->arena);
}

/* ---- calls ---- */

int world_call(struct world *world, const ProtobufCServiceDescriptor *service, const char *method,
               const struct caller *caller, const ProtobufCMessage *request, struct arena *arena,
               ProtobufCMessage **response, struct err *err)
{
    const struct local_caller local = {.principal = "sim",
                                       .language = "en",
                                       .seller = caller ? caller->seller : NULL,
                                       .client = caller ? caller->client : NULL,
                                       .once_key = caller ? caller->once_key : NULL};
    const struct rpc_service *found = process_service(&world->process, service);

    assert(found);
    return local_call(found, method, &local, request, arena, response, err);
}

int world_stream(struct world *world, const ProtobufCServiceDescriptor *service, const char *method,
                 const ProtobufCMessage *request,
                 int (*take)(void *arg, const ProtobufCMessage *message, struct err *err),
                 void *arg, struct err *err)
{
    static const struct local_caller local = {.principal = "sim", .language = "en"};
    const struct rpc_service *found = process_service(&world->process, service);

    assert(found);
    return local_stream(found, method, &local, request, take, arg, err);
}

/* ---- catalogues ---- */

/* The first one in an epoch that knows the weight by the last one alone. */
enum { CATALOG_FINER = WORLD_CATALOG_COUNT };

/* The digits of the weight, a new attribute, where the books are, the name of the bikes. */
static const char *const catalog_parts[CATALOG_FINER + 1][4] = {
    {"1", "", "goods", "Bicycles"},
    {"1", ", \"flag\"", "goods", "Bicycles"},
    {"1", "", "media", "Bikes"},
    {"2", ", \"flag\"", "media", "Bikes"},
    [CATALOG_FINER] = {"2", "", "goods", "Bicycles"},
};

static const char catalog_form[] =
    "{\"attributes\": ["
    "  {\"id\": \"weight\", \"name\": {\"en\": \"Weight\"}, \"type\": \"DECIMAL\","
    "   \"filter\": \"RANGE\", \"min\": \"0\", \"max\": \"100000\", \"digits\": %s},"
    "  {\"id\": \"color\", \"name\": {\"en\": \"Colour\"}, \"type\": \"OPTION\","
    "   \"filter\": \"LIST\", \"options\": [{\"id\": \"red\", \"name\": {\"en\": \"Red\"}},"
    "     {\"id\": \"blue\", \"name\": {\"en\": \"Blue\"}}]},"
    "  {\"id\": \"flag\", \"name\": {\"en\": \"Flag\"}, \"type\": \"FLAG\","
    "   \"filter\": \"TOGGLE\"}],"
    " \"defaults\": {\"filters\": [\"PRICE\"], \"policy\": {\"titleMin\": 3, \"titleMax\": 80,"
    "   \"descriptionMax\": 1000, \"photosMax\": 3, \"currencies\": [\"RUB\"],"
    "   \"price\": \"ALLOWED\", \"lifetimeDays\": 1}},"
    " \"categories\": ["
    "  {\"id\": \"goods\", \"name\": {\"en\": \"Goods\"}},"
    "  {\"id\": \"media\", \"name\": {\"en\": \"Media\"}},"
    "  {\"id\": \"bikes\", \"parent\": \"goods\", \"name\": {\"en\": \"%s\"},"
    "   \"attributes\": [\"weight\", \"color\"%s]},"
    "  {\"id\": \"books\", \"parent\": \"%s\", \"name\": {\"en\": \"Books\"},"
    "   \"attributes\": [\"color\"]},"
    "  {\"id\": \"rings\", \"parent\": \"goods\", \"name\": {\"en\": \"Rings\"},"
    "   \"policy\": {\"publish\": \"WITH_PHOTO\"}},"
    "  {\"id\": \"lamps\", \"parent\": \"goods\", \"name\": {\"en\": \"Lamps\"},"
    "   \"policy\": {\"publish\": \"WITH_PHOTO_OR_LATER\", \"photoWaitS\": 20}}]}";

static int apply_catalog(struct world *world, unsigned which, bool force, struct err *err)
{
    const char *const *parts = catalog_parts[which];
    Torg__V1__GetCatalogRequest get = TORG__V1__GET_CATALOG_REQUEST__INIT;
    Torg__V1__ApplyCatalogRequest apply = TORG__V1__APPLY_CATALOG_REQUEST__INIT;
    struct arena *arena = arena_new();
    const char *json = arena_printf(arena, catalog_form, parts[0], parts[3], parts[1], parts[2]);
    ProtobufCMessage *catalog, *answer;
    int rc =
        json_decode(bytes_of(json), &torg__v1__catalog__descriptor, arena, &catalog, NULL, err);

    rc = rc ? rc
            : world_call(world, &torg__v1__catalog_service__descriptor, "GetCatalog", NULL,
                         &get.base, arena, &answer, err);
    if (!rc) {
        apply.expected_version = ((Torg__V1__GetCatalogResponse *)answer)->version;
        apply.body_case = TORG__V1__APPLY_CATALOG_REQUEST__BODY_CATALOG;
        apply.catalog = (Torg__V1__Catalog *)catalog;
        apply.force = force;
        rc = world_call(world, &torg__v1__catalog_service__descriptor, "ApplyCatalog", NULL,
                        &apply.base, arena, &answer, err);
    }
    arena_free(arena);
    return rc;
}

int world_apply_catalog(struct world *world, unsigned which, struct err *err)
{
    return apply_catalog(world, which, true, err);
}

int world_mend_catalog(struct world *world, struct err *err)
{
    int rc = apply_catalog(world, 0, false, err);

    return rc == ERR_PRECONDITION ? apply_catalog(world, CATALOG_FINER, false, err) : rc;
}
