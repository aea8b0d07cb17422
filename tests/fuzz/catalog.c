/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a catalogue file. It is refused with reasons, or loaded; what was loaded can be
 * walked, searched, compared, packed and loaded again, and is then the same.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/catalog.h"
#include "catalog/difference.h"
#include "catalog/versions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct catalog *catalog, struct arena *arena)
{
    Torg__V1__CatalogChange change = TORG__V1__CATALOG_CHANGE__INIT;
    struct buf packed = BUF_INIT(1 << 20);
    struct catalog *again;
    struct err err;
    size_t count;
    size_t found;
    const struct category *const *categories = catalog_categories(catalog, &count);

    for (size_t i = 0; i < count; i++) {
        const char *name = categories[i]->name.in[LANGUAGE_RU];

        assert(category_find(catalog, categories[i]->id) == categories[i]);
        assert(category_path(categories[i], arena)[categories[i]->depth - 1] == categories[i]);
        assert(category_rules_equal(categories[i], categories[i]));
        catalog_search(catalog, bytes_of(name), NULL, count, arena, &found);
    }
    if (catalog_pack(catalog_message(catalog), &packed, &err) == 0) {
        int rc = catalog_unpack(buf_bytes(&packed), NULL, &again, &err);

        assert(rc == 0);
        assert(catalog_equal(catalog, again));
        catalog_compare(catalog, again, arena, &change);
        assert(!change.n_categories && !change.n_attributes && !change.n_defaults);
        catalog_unref(again);
    }
    buf_release(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    struct catalog *catalog;
    struct err err;
    int rc = catalog_from_json(bytes_make(data, size), &violations, &catalog, &err);

    assert((rc == 0) == (catalog != NULL));
    if (!rc) {
        use(catalog, arena);
        catalog_unref(catalog);
    }
    arena_free(arena);
    return 0;
}
