/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#include "catalog/service.h"

#include <inttypes.h>

#include "base/memory.h"
#include "base/object.h"
#include "catalog/bounds.h"
#include "catalog/versions.h"
#include "catalog/view.h"
#include "codec/message.h"
#include "codec/moment.h"

/* --- reading --- */

/* One call's look at one version; ended by end_look. */
struct look {
    struct catalog *catalog;
    struct view view;
};

static struct look begin_look(struct call *call, const char *language)
{
    const struct catalog_service *service = call_context(call);
    struct look look = {.catalog = catalog_holder_ref(service->holder)};

    look.view.catalog = look.catalog;
    look.view.arena = call_arena(call);
    look.view.language =
        language_of(*language ? bytes_of(language) : call_header(call, "accept-language"));
    return look;
}

static void end_look(struct look *look)
{
    catalog_unref(look->catalog);
}

static int find(const struct look *look, const char *id, const struct category **category,
                struct err *err)
{
    *category = category_find(look->catalog, id);
    if (*category)
        return 0;
    return err_set(err, ERR_NOT_FOUND,
                   "there is no category \"%.64s\" (catalogue version %" PRId64 ")", id,
                   catalog_version(look->catalog));
}

static int get_category(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetCategoryRequest *request = (const Torg__V1__GetCategoryRequest *)message;
    struct look look = begin_look(call, request->language);
    const struct category *category;
    int rc = find(&look, request->id, &category, err);

    if (!rc)
        view_category(&look.view, category, (Torg__V1__CategoryView *)response);
    end_look(&look);
    return rc;
}

static int list_children(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ListChildrenRequest *request = (const Torg__V1__ListChildrenRequest *)message;
    Torg__V1__ListChildrenResponse *answer = (Torg__V1__ListChildrenResponse *)response;
    struct look look = begin_look(call, request->language);
    const struct category *const *children = NULL;
    const struct category *category;
    int rc = 0;

    if (*request->id) {
        rc = find(&look, request->id, &category, err);
        if (!rc) {
            children = category->children;
            answer->n_categories = category->child_count;
        }
    } else {
        children = catalog_top(look.catalog, &answer->n_categories);
    }
    if (!rc)
        answer->categories = view_names(&look.view, children, answer->n_categories);
    answer->version = catalog_version(look.catalog);
    end_look(&look);
    return rc;
}

static int get_path(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *response,
                    struct err *err)
{
    const Torg__V1__GetPathRequest *request = (const Torg__V1__GetPathRequest *)message;
    Torg__V1__GetPathResponse *answer = (Torg__V1__GetPathResponse *)response;
    struct look look = begin_look(call, request->language);
    const struct category *category;
    int rc = find(&look, request->id, &category, err);

    if (!rc) {
        answer->categories =
            view_names(&look.view, category_path(category, look.view.arena), category->depth);
        answer->n_categories = category->depth;
        answer->version = catalog_version(look.catalog);
    }
    end_look(&look);
    return rc;
}

static Torg__V1__SearchCategoriesResponse__Match *match_message(const struct view *view,
                                                                const struct category *category)
{
    Torg__V1__SearchCategoriesResponse__Match *match =
        MESSAGE_NEW(search_categories_response__match, view->arena);
    const struct category **path = category_path(category, view->arena);

    match->category = view_name(view, category);
    match->path = arena_array(view->arena, category->depth, sizeof(match->path[0]));
    match->n_path = category->depth - 1;
    for (size_t i = 0; i < match->n_path; i++)
        match->path[i] = arena_strdup(view->arena, path[i]->name.in[view->language]);
    return match;
}

static int search_categories(struct call *call, const ProtobufCMessage *message,
                             ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__SearchCategoriesRequest *request =
        (const Torg__V1__SearchCategoriesRequest *)message;
    Torg__V1__SearchCategoriesResponse *answer = (Torg__V1__SearchCategoriesResponse *)response;
    size_t max = request->limit ? (size_t)request->limit : CATALOG_SEARCH_COUNT;
    const struct category *under = NULL;
    const struct category **found;
    struct look look;
    int rc = 0;

    if (request->limit < 0 || request->limit > CATALOG_SEARCH_COUNT_MAX)
        return call_invalid(call, err, "limit", "expected 0 to 100");
    if (bytes_of(request->query).size > CATALOG_QUERY_SIZE_MAX)
        return call_invalid(call, err, "query", "longer than 200 bytes");
    look = begin_look(call, request->language);
    if (*request->under)
        rc = find(&look, request->under, &under, err);
    if (!rc) {
        found = catalog_search(look.catalog, bytes_of(request->query), under, max, look.view.arena,
                               &answer->n_matches);
        answer->matches =
            arena_array(look.view.arena, answer->n_matches + 1, sizeof(answer->matches[0]));
        for (size_t i = 0; i < answer->n_matches; i++)
            answer->matches[i] = match_message(&look.view, found[i]);
        answer->version = catalog_version(look.catalog);
    }
    end_look(&look);
    return rc;
}

/* Which of the categories have the attribute. */
static void put_havers(const struct view *view, const struct category *const *categories,
                       size_t count, Torg__V1__AttributeView *message)
{
    message->categories = arena_array(view->arena, count + 1, sizeof(message->categories[0]));
    for (size_t i = 0; i < count; i++) {
        if (attribute_find(categories[i], message->id))
            message->categories[message->n_categories++] =
                arena_strdup(view->arena, categories[i]->id);
    }
}

/* Each of those that are named, once; categories has room for all. */
static int find_each(const struct look *look, char **ids, size_t id_count,
                     const struct category **categories, size_t *count, struct err *err)
{
    *count = 0;
    for (size_t i = 0; i < id_count; i++) {
        const struct category *category;
        size_t at = 0;
        int rc = find(look, ids[i], &category, err);

        if (rc)
            return rc;
        while (at < *count && categories[at] != category)
            at++;
        categories[at] = category;
        *count += at == *count;
    }
    return 0;
}

static int list_attributes(struct call *call, const ProtobufCMessage *message,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ListAttributesRequest *request =
        (const Torg__V1__ListAttributesRequest *)message;
    Torg__V1__ListAttributesResponse *answer = (Torg__V1__ListAttributesResponse *)response;
    const struct category **categories;
    const struct attribute **attributes;
    size_t category_count;
    struct look look;
    int rc;

    if (!request->n_categories || request->n_categories > CATALOG_SET_COUNT_MAX)
        return call_invalid(call, err, "categories", "expected 1 to 200 ids");
    look = begin_look(call, request->language);
    categories = arena_array(look.view.arena, request->n_categories, sizeof(categories[0]));
    rc = find_each(&look, request->categories, request->n_categories, categories, &category_count,
                   err);
    if (!rc) {
        attributes = catalog_attributes_of(categories, category_count, request->common,
                                           look.view.arena, &answer->n_attributes);
        answer->attributes =
            arena_array(look.view.arena, answer->n_attributes + 1, sizeof(answer->attributes[0]));
        for (size_t i = 0; i < answer->n_attributes; i++) {
            answer->attributes[i] = view_attribute(&look.view, attributes[i]);
            put_havers(&look.view, categories, category_count, answer->attributes[i]);
        }
        answer->version = catalog_version(look.catalog);
    }
    end_look(&look);
    return rc;
}

/* A copy of the message in the arena. */
static int copy_message(const Torg__V1__Catalog *message, struct arena *arena,
                        Torg__V1__Catalog **copy, struct err *err)
{
    struct buf wire = BUF_INIT(CATALOG_WIRE_SIZE_MAX);
    ProtobufCMessage *made = NULL;
    int rc;

    message_encode(&message->base, &wire);
    rc = message_decode(buf_bytes(&wire), &torg__v1__catalog__descriptor, arena, &made, err);
    *copy = (Torg__V1__Catalog *)made;
    buf_release(&wire);
    return rc;
}

static int get_catalog(struct call *call, const ProtobufCMessage *message,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetCatalogRequest *request = (const Torg__V1__GetCatalogRequest *)message;
    Torg__V1__GetCatalogResponse *answer = (Torg__V1__GetCatalogResponse *)response;
    const struct catalog_service *service = call_context(call);
    struct arena *arena = call_arena(call);
    struct version_info info;
    struct catalog *catalog;
    int rc;

    if (request->version < 0)
        return call_invalid(call, err, "version", "expected a version's number, or 0");
    rc = versions_load(service->store, request->version, arena, &info, &catalog, err);
    if (rc)
        return rc;
    rc = copy_message(catalog_message(catalog), arena, &answer->catalog, err);
    answer->version = info.version;
    answer->applied_by = (char *)info.applied_by;
    if (info.version)
        answer->apply_time = moment_message(info.applied_us, arena);
    catalog_unref(catalog);
    return rc;
}

/* --- changing --- */

/* The catalogue a request carries, in either form: both are the same two fields of each request. */
static int take_catalog(struct call *call, const Torg__V1__Catalog *message,
                        const ProtobufCBinaryData *packed, struct catalog **catalog,
                        struct err *err)
{
    struct violations violations = violations_in(call_arena(call));
    int rc;

    *catalog = NULL;
    if (message)
        rc = catalog_from_message(message, &violations, catalog, err);
    else if (packed)
        rc = catalog_unpack(bytes_make(packed->data, packed->len), &violations, catalog, err);
    else
        rc = call_invalid(call, err, "catalog", "expected catalog or packed");
    if (rc && packed && !message && !violations.first)
        err_wrap(err, "packed");
    call_violations(call, &violations);
    return rc;
}

static struct catalog_editor editor_of(struct call *call)
{
    const struct catalog_service *service = call_context(call);

    return (struct catalog_editor){
        .store = service->store,
        .impact = service->impact,
        .index = service->index,
        .principal = call_actor(call),
        .now_us = clock_wall_us(service->clock),
        .arena = call_arena(call),
    };
}

void catalog_describe(const struct catalog *catalog, Torg__V1__CheckCatalogResponse *response)
{
    size_t count;
    const struct category *const *categories = catalog_categories(catalog, &count);
    size_t top_count;

    catalog_top(catalog, &top_count);
    response->category_count = (int32_t)count;
    response->top_count = (int32_t)top_count;
    response->attribute_count = (int32_t)catalog_attribute_count(catalog);
    for (size_t i = 0; i < count; i++) {
        if ((int32_t)categories[i]->depth > response->depth)
            response->depth = (int32_t)categories[i]->depth;
    }
}

static int check_catalog(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__CheckCatalogRequest *request = (const Torg__V1__CheckCatalogRequest *)message;
    bool whole = request->body_case == TORG__V1__CHECK_CATALOG_REQUEST__BODY_CATALOG;
    bool packed = request->body_case == TORG__V1__CHECK_CATALOG_REQUEST__BODY_PACKED;
    struct catalog *catalog;
    int rc = take_catalog(call, whole ? request->catalog : NULL, packed ? &request->packed : NULL,
                          &catalog, err);

    if (!rc)
        catalog_describe(catalog, (Torg__V1__CheckCatalogResponse *)response);
    catalog_unref(catalog);
    return rc;
}

static int diff_catalog(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__DiffCatalogRequest *request = (const Torg__V1__DiffCatalogRequest *)message;
    bool whole = request->body_case == TORG__V1__DIFF_CATALOG_REQUEST__BODY_CATALOG;
    bool packed = request->body_case == TORG__V1__DIFF_CATALOG_REQUEST__BODY_PACKED;
    const struct catalog_editor editor = editor_of(call);
    struct catalog *catalog;
    int rc = take_catalog(call, whole ? request->catalog : NULL, packed ? &request->packed : NULL,
                          &catalog, err);

    if (!rc)
        rc = catalog_diff(&editor, catalog, (Torg__V1__CatalogChange *)response, err);
    catalog_unref(catalog);
    return rc;
}

static int apply_catalog(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ApplyCatalogRequest *request = (const Torg__V1__ApplyCatalogRequest *)message;
    bool whole = request->body_case == TORG__V1__APPLY_CATALOG_REQUEST__BODY_CATALOG;
    bool packed = request->body_case == TORG__V1__APPLY_CATALOG_REQUEST__BODY_PACKED;
    const struct catalog_service *service = call_context(call);
    const struct catalog_editor editor = editor_of(call);
    struct catalog *catalog;
    int rc = take_catalog(call, whole ? request->catalog : NULL, packed ? &request->packed : NULL,
                          &catalog, err);

    if (!rc)
        rc = catalog_apply(&editor, catalog, request->expected_version, request->force,
                           (Torg__V1__CatalogChange *)response, err);
    if (!rc)
        catalog_holder_refresh(service->holder, NULL); /* a failure is logged, and tried again */
    catalog_unref(catalog);
    return rc;
}

/* A path is short; all others may have as much to tell as the catalogue has: a loop has no time for
 * that. */
static const struct rpc_method methods[] = {
    {.name = "GetCategory", .unary = get_category, .flags = RPC_PUBLIC | RPC_COMPUTE},
    {.name = "ListChildren", .unary = list_children, .flags = RPC_PUBLIC | RPC_COMPUTE},
    {.name = "GetPath", .unary = get_path, .flags = RPC_PUBLIC | RPC_INLINE},
    {.name = "SearchCategories", .unary = search_categories, .flags = RPC_PUBLIC | RPC_COMPUTE},
    {.name = "ListAttributes", .unary = list_attributes, .flags = RPC_PUBLIC | RPC_COMPUTE},
    {.name = "GetCatalog", .unary = get_catalog},
    {.name = "CheckCatalog", .unary = check_catalog, .scope = "catalog"},
    {.name = "DiffCatalog", .unary = diff_catalog, .scope = "catalog"},
    {.name = "ApplyCatalog", .unary = apply_catalog, .scope = "catalog"},
};

struct rpc_service catalog_rpc_service(struct catalog_service *service)
{
    return RPC_SERVICE(catalog, methods, service);
}
