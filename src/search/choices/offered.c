/* SPDX-License-Identifier: Apache-2.0 */
/* offered.c - see offered.h. */
#include "search/choices/offered.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "search/asking/found.h"
#include "search/bounds.h"

/* --- hits by category --- */

/* The category that a path "transport/cars" ends with, or its last but one; NULL: this catalogue
 * does not have it. */
static const struct category *category_of(const struct catalog *catalog, const char *path,
                                          size_t size, struct arena *arena)
{
    size_t begin = size;

    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    return category_find(catalog, arena_text(arena, bytes_make(path + begin, size - begin)));
}

/* Hits at each category itself: those of its path without those of paths below that. Documents of a
 * category that is being moved have the one path or the other; both count where it is now. */
static void count_own(const struct wanted *wanted, const Torg__V1__FacetAnswer *tree, int64_t *own)
{
    for (size_t i = 0; tree && i < tree->n_values; i++) {
        const char *path = tree->values[i]->value;
        const char *last = strrchr(path, '/');
        const struct category *at = category_of(wanted->catalog, path, strlen(path), wanted->arena);
        const struct category *above =
            last ? category_of(wanted->catalog, path, (size_t)(last - path), wanted->arena) : NULL;

        if (at)
            own[at->number] += (int64_t)tree->values[i]->count;
        if (above)
            own[above->number] -= (int64_t)tree->values[i]->count;
    }
}

void found_categories_read(struct found_categories *found, const struct wanted *wanted,
                           const Torg__V1__FacetAnswer *tree)
{
    int64_t *own;

    *found = (struct found_categories){0};
    found->list = catalog_categories(wanted->catalog, &found->count);
    found->with_below = arena_array(wanted->arena, found->count + 1, sizeof(uint64_t));
    found->own = arena_array(wanted->arena, found->count + 1, sizeof(uint64_t));
    own = arena_array(wanted->arena, found->count + 1, sizeof(*own));
    count_own(wanted, tree, own);
    for (size_t i = found->count; i-- > 0;) { /* those below come behind */
        const struct category *category = found->list[i];

        found->own[i] = own[i] > 0 ? (uint64_t)own[i] : 0;
        found->with_below[i] += found->own[i];
        if (category->parent)
            found->with_below[category->parent->number] += found->with_below[i];
        found->total += found->own[i];
        found->category_count += found->own[i] > 0;
    }
}

/* --- what they have in common --- */

/* Attributes met so far, by id. */
struct gathering {
    const struct wanted *wanted;
    struct offered_filter *list;
    size_t count;
    uint32_t *slots; /* place + 1 in the list; 0: free */
    uint32_t mask;
};

static struct offered_filter *find_slot(struct gathering *gathering,
                                        const struct attribute *attribute)
{
    uint32_t at = (uint32_t)hash64(bytes_of(attribute->id)) & gathering->mask;
    struct search_filter filter;

    for (; gathering->slots[at]; at = (at + 1) & gathering->mask) {
        struct offered_filter *offered = &gathering->list[gathering->slots[at] - 1];

        if (strcmp(offered->filter.attribute->id, attribute->id) == 0)
            return offered;
    }
    if (!attribute_filter(attribute, gathering->wanted->arena, &filter))
        return NULL;
    gathering->list[gathering->count] = (struct offered_filter){.filter = filter};
    gathering->slots[at] = (uint32_t)++gathering->count;
    return &gathering->list[gathering->count - 1];
}

static void gather_category(struct gathering *gathering, const struct category *category,
                            uint64_t hit_count)
{
    for (size_t i = 0; i < category->attribute_count; i++) {
        const struct attribute *attribute = category->attributes[i];
        struct offered_filter *offered = find_slot(gathering, attribute);

        if (!offered)
            continue;
        offered->hit_count += hit_count;
        offered->category_count++;
        if (hit_count > offered->best_count) {
            offered->best_count = hit_count;
            attribute_filter(attribute, gathering->wanted->arena, &offered->filter);
        }
    }
}

/* Though nothing that was found may have them: they could not be taken back otherwise. */
static void gather_chosen(struct gathering *gathering)
{
    const struct wanted *wanted = gathering->wanted;

    for (size_t i = 0; i < wanted->request->n_filters; i++) {
        if (wanted->chosen[i].attribute)
            find_slot(gathering, wanted->chosen[i].attribute);
    }
}

static int compare_use(const void *a, const void *b)
{
    const struct offered_filter *x = a;
    const struct offered_filter *y = b;

    if (!x->hidden != !y->hidden)
        return x->hidden ? 1 : -1;
    if (x->hit_count != y->hit_count)
        return x->hit_count < y->hit_count ? 1 : -1;
    return strcmp(x->filter.id, y->filter.id);
}

/* Whether enough of what was found has it. */
static const char *reason_to_hide(const struct wanted *wanted, const struct found_categories *found,
                                  const struct offered_filter *offered)
{
    if (wanted_choice(wanted, offered->filter.id))
        return NULL;
    if (wanted->request->strict_filters)
        return offered->category_count == found->category_count
                   ? NULL
                   : arena_printf(wanted->arena, "%zu of the %zu categories found have it",
                                  offered->category_count, found->category_count);
    if (offered->hit_count * 100 >= found->total * SEARCH_SHARE_MIN_PERCENT && found->total)
        return NULL;
    return arena_printf(wanted->arena,
                        "%llu of the %llu offers found are in categories that have it, %d %% are "
                        "needed",
                        (unsigned long long)offered->hit_count, (unsigned long long)found->total,
                        SEARCH_SHARE_MIN_PERCENT);
}

static size_t choose_standard(const struct wanted *wanted, const struct found_categories *found,
                              struct offered_filter *list)
{
    size_t count;
    const struct search_filter *standard = standard_filters(&count);

    for (size_t i = 0; i < count; i++) {
        list[i] = (struct offered_filter){.filter = standard[i]};
        for (size_t k = 0; k < found->count; k++) {
            if (!found->own[k] || !category_has_filter(found->list[k], standard[i].standard))
                continue;
            list[i].hit_count += found->own[k];
            list[i].category_count++;
        }
        list[i].hidden = reason_to_hide(wanted, found, &list[i]);
        if (standard[i].kind == TORG__V1__SEARCH_FILTER__KIND__DISTANCE && !wanted->request->near)
            list[i].hidden = "the request has no point to count distances from";
    }
    return count;
}

void offered_choose(const struct wanted *wanted, const struct found_categories *found,
                    struct offered_filter **list, size_t *count)
{
    size_t attribute_count = catalog_attribute_count(wanted->catalog);
    size_t standard_count;
    struct gathering gathering = {.wanted = wanted, .mask = 1};
    struct offered_filter *all;

    standard_filters(&standard_count);
    all = arena_array(wanted->arena, standard_count + attribute_count + 1, sizeof(*all));
    while (gathering.mask < 2 * attribute_count)
        gathering.mask = gathering.mask * 2 + 1;
    gathering.slots = arena_array(wanted->arena, gathering.mask + 1, sizeof(uint32_t));
    gathering.list = all + choose_standard(wanted, found, all);
    for (size_t i = 0; i < found->count; i++) {
        if (found->own[i])
            gather_category(&gathering, found->list[i], found->own[i]);
    }
    gather_chosen(&gathering);
    for (size_t i = 0; i < gathering.count; i++)
        gathering.list[i].hidden = reason_to_hide(wanted, found, &gathering.list[i]);
    qsort(gathering.list, gathering.count, sizeof(*gathering.list), compare_use);
    for (size_t i = SEARCH_OFFERED_COUNT_MAX; i < gathering.count; i++) {
        if (!gathering.list[i].hidden && !wanted_choice(wanted, gathering.list[i].filter.id))
            gathering.list[i].hidden = "other filters are more useful, and there are enough of "
                                       "them";
    }
    *list = all;
    *count = standard_count + gathering.count;
}

/* --- what is told of them --- */

static int compare_counts(const void *a, const void *b)
{
    const Torg__V1__FoundCategory *x = *(Torg__V1__FoundCategory *const *)a;
    const Torg__V1__FoundCategory *y = *(Torg__V1__FoundCategory *const *)b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->id, y->id);
}

void found_categories_put(const struct found_categories *found, const struct wanted *wanted,
                          Torg__V1__SearchOffersResponse *response)
{
    struct arena *arena = wanted->arena;
    Torg__V1__FoundCategory **list = arena_array(arena, found->count + 1, sizeof(*list));
    size_t count = 0;

    for (size_t i = 0; i < found->count; i++) {
        const struct category *category = found->list[i];

        if (!found->with_below[i] || category == wanted->category ||
            (wanted->category && !category_is_within(category, wanted->category)))
            continue;
        list[count++] = found_category(category, found->with_below[i], wanted->language, arena);
    }
    qsort(list, count, sizeof(*list), compare_counts);
    response->categories = list;
    response->n_categories = count < SEARCH_CATEGORY_COUNT ? count : SEARCH_CATEGORY_COUNT;
}
