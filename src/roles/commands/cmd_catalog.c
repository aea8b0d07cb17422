/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_catalog.c - torg catalog check, diff, apply. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/object.h"
#include "base/text.h"
#include "catalog/bounds.h"
#include "catalog/service.h"
#include "catalog/versions.h"
#include "documents/offer_schema.h"
#include "model/offer_fields.h"
#include "registry/bounds.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/epoch.pb-c.h"

#define KIND(name) TORG__V1__CATALOG_CHANGE__KIND__##name

/* Everything that is wrong with the file, a line each. */
static void print_faults(const char *path, const struct violations *violations)
{
    size_t told = 0;

    for (const struct violation *one = violations->first; one; one = one->next, told++)
        fprintf(stderr, "%s: %s: %s\n", path, one->field, one->reason);
    if (told < violations->count)
        fprintf(stderr, "%s: and %zu more\n", path, violations->count - told);
}

/* Reads and checks the file; what is wrong has been told when this gives NULL. */
static struct catalog *load(const struct invocation *invocation, enum exit_code *code)
{
    const char *path = invocation->arguments[0];
    struct violations violations = violations_in(invocation->arena);
    struct buf content = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    struct catalog *catalog = NULL;
    struct err err;
    int rc = file_read(path, &content, &err);

    *code = EXIT_FAILED;
    if (rc) {
        *code = fail(&err);
    } else {
        rc = catalog_from_json(buf_bytes(&content), &violations, &catalog, &err);
        if (rc && violations.count)
            print_faults(path, &violations);
        else if (rc)
            complain("%s: %s", path, err.text);
    }
    buf_release(&content);
    return catalog;
}

enum exit_code cmd_catalog_check(const struct invocation *invocation)
{
    Torg__V1__CheckCatalogResponse found = TORG__V1__CHECK_CATALOG_RESPONSE__INIT;
    enum exit_code code;
    struct catalog *catalog = load(invocation, &code);
    size_t field_count;

    object_check(invocation, INVOCATION_MAGIC);
    if (!catalog)
        return code;
    catalog_describe(catalog, &found);
    offer_schema(catalog, invocation->arena, &field_count);
    catalog_unref(catalog);
    if (field_count > DOCUMENT_SCHEMA_COUNT_MAX) {
        complain("%s: offers would have %zu fields in the index; the limit is %d: leave attributes "
                 "out, or make texts of them",
                 invocation->arguments[0], field_count, DOCUMENT_SCHEMA_COUNT_MAX);
        return EXIT_FAILED;
    }
    if (invocation->json)
        print_json(&found.base);
    else
        printf("%s: %d categories in %d branches on %d levels, %d attributes: nothing wrong\n",
               invocation->arguments[0], found.category_count, found.top_count, found.depth,
               found.attribute_count);
    return EXIT_OK;
}

/* --- telling a change --- */

static void print_fields(Torg__V1__CatalogChange__Field *const *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("    %s: %s -> %s\n", fields[i]->field, *fields[i]->before ? fields[i]->before : "-",
               *fields[i]->after ? fields[i]->after : "-");
}

static const char *sign_of(Torg__V1__CatalogChange__Kind kind)
{
    return kind == KIND(ADDED) ? "+" : kind == KIND(REMOVED) ? "-" : "~";
}

static void print_items(const char *what, Torg__V1__CatalogChange__Item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s %s %s (%s)\n", sign_of(items[i]->kind), what, items[i]->id, items[i]->name);
        print_fields(items[i]->fields, items[i]->n_fields);
    }
}

static void print_sum(const char *what, Torg__V1__CatalogChange__Item *const *items, size_t count)
{
    size_t sums[] = {0, 0, 0, 0};

    for (size_t i = 0; i < count; i++)
        sums[items[i]->kind & 3]++;
    printf("%s: %zu added, %zu removed, %zu changed\n", what, sums[KIND(ADDED)],
           sums[KIND(REMOVED)], sums[KIND(CHANGED)]);
}

static void print_broken(const Torg__V1__CatalogChange *change)
{
    if (!change->offers_checked) {
        puts("no offers stored");
        return;
    }
    if (!change->n_broken)
        puts("no stored offer would break a rule");
    for (size_t i = 0; i < change->n_broken; i++) {
        const Torg__V1__CatalogChange__Broken *broken = change->broken[i];

        printf("! %" PRId64 " stored offers of %s would break a rule: %s\n", broken->offer_count,
               broken->category, broken->reason);
        for (size_t j = 0; j < broken->n_sample_offers; j++)
            printf("    %s%s\n", broken->sample_offers[j],
                   j + 1 == broken->n_sample_offers &&
                           broken->offer_count > (int64_t)broken->n_sample_offers
                       ? " …"
                       : "");
    }
}

static void print_unfit(const Torg__V1__CatalogChange *change)
{
    if (change->n_unfit)
        puts("! an epoch is needed (--with-epoch): the index cannot take as they would be");
    for (size_t i = 0; i < change->n_unfit; i++)
        printf("    %s: %s\n", change->unfit[i]->attribute, change->unfit[i]->reason);
}

static void print_change(const Torg__V1__CatalogChange *change)
{
    print_items("attribute", change->attributes, change->n_attributes);
    print_items("category", change->categories, change->n_categories);
    if (change->n_defaults)
        puts("~ the whole");
    print_fields(change->defaults, change->n_defaults);
    print_sum("attributes", change->attributes, change->n_attributes);
    print_sum("categories", change->categories, change->n_categories);
    print_broken(change);
    print_unfit(change);
}

/* --- asking --- */

/* The packed form, for a request; in the arena. */
static int pack(const struct catalog *catalog, struct arena *arena, ProtobufCBinaryData *data,
                struct err *err)
{
    struct buf packed = BUF_INIT(CATALOG_PACKED_SIZE_MAX);
    int rc = catalog_pack(catalog_message(catalog), &packed, err);
    struct bytes copy = arena_copy(arena, buf_bytes(&packed));

    data->data = (uint8_t *)copy.data;
    data->len = copy.size;
    buf_release(&packed);
    return rc;
}

static int ask_diff(struct desk *desk, const struct catalog *catalog, struct arena *arena,
                    const Torg__V1__CatalogChange **change, struct err *err)
{
    Torg__V1__DiffCatalogRequest request = TORG__V1__DIFF_CATALOG_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    int rc = pack(catalog, arena, &request.packed, err);

    request.body_case = TORG__V1__DIFF_CATALOG_REQUEST__BODY_PACKED;
    if (!rc)
        rc = desk_call(desk, &torg__v1__catalog_service__descriptor, "DiffCatalog", &request.base,
                       &response, err);
    *change = (const Torg__V1__CatalogChange *)response;
    return rc;
}

static int ask_apply(struct desk *desk, const struct catalog *catalog,
                     Torg__V1__ApplyCatalogRequest *request, struct arena *arena,
                     const Torg__V1__CatalogChange **change, struct err *err)
{
    ProtobufCMessage *response = NULL;
    int rc = pack(catalog, arena, &request->packed, err);

    request->body_case = TORG__V1__APPLY_CATALOG_REQUEST__BODY_PACKED;
    if (!rc)
        rc = desk_call(desk, &torg__v1__catalog_service__descriptor, "ApplyCatalog", &request->base,
                       &response, err);
    *change = (const Torg__V1__CatalogChange *)response;
    return rc;
}

enum exit_code cmd_catalog_diff(const struct invocation *invocation)
{
    const Torg__V1__CatalogChange *change;
    struct desk desk;
    struct catalog *catalog;
    enum exit_code code;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    catalog = load(invocation, &code);
    if (!catalog)
        return code;
    rc = desk_open(invocation, false, &desk, &err);
    if (!rc) {
        rc = ask_diff(&desk, catalog, invocation->arena, &change, &err);
        desk_close(&desk);
    }
    catalog_unref(catalog);
    if (rc)
        return fail(&err);
    if (invocation->json) {
        print_json(&change->base);
    } else {
        printf("from version %" PRId64 " to %s\n", change->from_version, invocation->arguments[0]);
        print_change(change);
    }
    return EXIT_OK;
}

static bool is_unfit(const Torg__V1__CatalogChange *change, const Torg__V1__SchemaField *field)
{
    const char *attribute = offer_schema_attribute(field);

    for (size_t i = 0; attribute && i < change->n_unfit; i++) {
        if (strcmp(change->unfit[i]->attribute, attribute) == 0)
            return true;
    }
    return false;
}

/* The epoch that takes them; documents that come before it serves wait, parked by the receiver. */
static int start_epoch(struct desk *desk, const struct catalog *catalog,
                       const Torg__V1__CatalogChange *change, struct arena *arena, struct err *err)
{
    Torg__V1__StartEpochRequest request = TORG__V1__START_EPOCH_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    size_t count;
    Torg__V1__SchemaField **fields = offer_schema(catalog, arena, &count);

    request.client = (char *)OFFER_CLIENT;
    request.fields = fields;
    for (size_t i = 0; i < count; i++) {
        if (is_unfit(change, fields[i]))
            fields[request.n_fields++] = fields[i];
    }
    return desk_call(desk, &torg__v1__epoch_service__descriptor, "StartEpoch", &request.base,
                     &response, err);
}

static void print_applied(const struct invocation *invocation,
                          const Torg__V1__CatalogChange *change, bool has_epoch)
{
    if (invocation->json) {
        print_json(&change->base);
        return;
    }
    if (change->to_version == change->from_version)
        printf("nothing differs: version %" PRId64 " stays in use\n", change->to_version);
    else
        printf("version %" PRId64 " is in use\n", change->to_version);
    if (has_epoch)
        puts("an epoch of the client " OFFER_CLIENT " is being built; changes of offers with these "
             "attributes are\nfound when it serves: torg epoch switch --client " OFFER_CLIENT
             " --wait 1h");
}

/* Shows the difference, then applies it. */
static int show_and_apply(const struct invocation *invocation, struct desk *desk,
                          const struct catalog *catalog, struct err *err)
{
    Torg__V1__ApplyCatalogRequest request = TORG__V1__APPLY_CATALOG_REQUEST__INIT;
    const char *expect = invocation_option(invocation, "expect");
    const Torg__V1__CatalogChange *change;
    bool has_epoch;
    int rc;

    if (expect &&
        (!text_to_i64(bytes_of(expect), &request.expected_version) || request.expected_version < 0))
        return err_set(err, ERR_INVALID, "--expect=%.64s: expected a version's number", expect);
    rc = ask_diff(desk, catalog, invocation->arena, &change, err);
    if (rc)
        return rc;
    if (!invocation->json)
        print_change(change);
    request.force = invocation_option(invocation, "force") != NULL;
    if (!expect)
        request.expected_version = change->from_version;
    /* What will be refused for something else starts nothing. */
    has_epoch = change->n_unfit && invocation_option(invocation, "with-epoch") &&
                (!change->n_broken || request.force) &&
                request.expected_version == change->from_version;
    if (has_epoch)
        rc = start_epoch(desk, catalog, change, invocation->arena, err);
    if (!rc)
        rc = ask_apply(desk, catalog, &request, invocation->arena, &change, err);
    if (!rc)
        print_applied(invocation, change, has_epoch);
    return rc;
}

enum exit_code cmd_catalog_apply(const struct invocation *invocation)
{
    struct desk desk;
    struct catalog *catalog;
    enum exit_code code;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    catalog = load(invocation, &code);
    if (!catalog)
        return code;
    rc = desk_open(invocation, true, &desk, &err);
    if (!rc) {
        rc = show_and_apply(invocation, &desk, catalog, &err);
        fflush(stdout); /* the difference stands before what is wrong with it */
        desk_close(&desk);
    }
    catalog_unref(catalog);
    return rc ? fail(&err) : EXIT_OK;
}
