/* SPDX-License-Identifier: Apache-2.0 */
/* mapping.c - see mapping.h. */
#include "feeds/mapping/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "catalog/validate.h"
#include "codec/message.h"
#include "feeds/bounds.h"
#include "feeds/formats/value.h"
#include "feeds/mapping/attribute.h"
#include "feeds/mapping/category_map.h"
#include "feeds/mapping/extra.h"
#include "feeds/mapping/special.h"

enum { FEED_MAPPING_MAGIC = OBJECT_MAGIC('f', 'm', 'a', 'p') };

struct feed_mapping {
    uint32_t magic;
    struct catalog *catalog; /* held */
    struct feed_category_map *categories;
    struct feed_attributes attributes;
    bool shorten;
    struct arena *arena; /* of the names below; owned */
    struct feed_unknown unknown[FEED_UNKNOWN_COUNT_MAX];
    size_t unknown_count;
};

int feed_mapping_new(struct catalog *catalog, const struct feed_mapping_options *options,
                     struct feed_mapping **made, struct err *err)
{
    struct feed_category_map *map;
    struct feed_mapping *mapping;
    int rc = feed_category_map_new(catalog, options->categories, options->category, &map, err);

    *made = NULL;
    if (rc)
        return rc;
    mapping = mem_zero(sizeof(*mapping));
    object_begin(mapping, FEED_MAPPING_MAGIC);
    mapping->catalog = catalog_ref(catalog);
    mapping->categories = map;
    mapping->arena = arena_new();
    mapping->shorten = options->shorten;
    feed_attributes_init(&mapping->attributes, options->decimal);
    *made = mapping;
    return 0;
}

void feed_mapping_free(struct feed_mapping *mapping)
{
    if (!mapping)
        return;
    object_check(mapping, FEED_MAPPING_MAGIC);
    feed_attributes_release(&mapping->attributes);
    feed_category_map_free(mapping->categories);
    catalog_unref(mapping->catalog);
    arena_free(mapping->arena);
    object_end(mapping, FEED_MAPPING_MAGIC);
    free(mapping);
}

static void count_unknown(struct feed_mapping *mapping, struct bytes name, bool is_left_out)
{
    size_t i = 0;

    while (i < mapping->unknown_count && !bytes_equal_text(name, mapping->unknown[i].name))
        i++;
    if (i == FEED_UNKNOWN_COUNT_MAX)
        return;
    if (i == mapping->unknown_count)
        mapping->unknown[mapping->unknown_count++] = (struct feed_unknown){
            .name = arena_text(mapping->arena, name), .is_left_out = is_left_out};
    mapping->unknown[i].count++;
    while (i && mapping->unknown[i].count > mapping->unknown[i - 1].count) { /* stays sorted */
        struct feed_unknown higher = mapping->unknown[i];

        mapping->unknown[i] = mapping->unknown[i - 1];
        mapping->unknown[--i] = higher;
    }
}

const struct feed_unknown *feed_mapping_unknown(struct feed_mapping *mapping, size_t *count)
{
    object_check(mapping, FEED_MAPPING_MAGIC);
    *count = mapping->unknown_count;
    return mapping->unknown;
}

/* --- a row --- */

const struct feed_placement *feed_mapping_place(struct feed_mapping *mapping,
                                                const struct feed_row *row, const char **reason)
{
    object_check(mapping, FEED_MAPPING_MAGIC);
    return feed_category_find(mapping->categories, row->category_id, row->category, reason);
}

static char *text_of(struct bytes text)
{
    return text.size ? (char *)text.data : (char *)protobuf_c_empty_string; /* it is terminated */
}

/* What is wrong with a value that was given. */
struct unread {
    const struct attribute *attribute;
    const char *reason;
};

/* What one row becomes. */
struct mapped {
    const struct feed_row *row;
    const struct category *category;
    struct arena *arena;
    Torg__V1__OfferContent *content;
    struct violations problems;
    struct violations notes;
    struct unread *unread; /* room for all that the row and its category's line give */
    size_t unread_count;
};

static Torg__V1__AttributeValue *value_of(const Torg__V1__OfferContent *content,
                                          const struct attribute *attribute)
{
    for (size_t i = 0; i < content->n_attributes; i++) {
        if (strcmp(content->attributes[i]->attribute_id, attribute->id) == 0)
            return content->attributes[i];
    }
    return NULL;
}

/* The category has no attribute for it. */
static void take_unknown(struct feed_mapping *mapping, struct mapped *mapped,
                         const struct feed_attribute *given)
{
    bool is_private = feed_extra_is_private(given->name);

    count_unknown(mapping, given->name, is_private);
    if (!is_private)
        feed_extra_add(given, mapped->arena, mapped->content, &mapped->notes);
}

/* What the category says against the value: its limits, lengths, counts. NULL: nothing. */
static const char *refused_by_category(const struct mapped *mapped, Torg__V1__AttributeValue *value)
{
    struct violations found = violations_in(mapped->arena);

    catalog_validate_attributes(mapped->category, &value, 1, "attributes", false, LANGUAGE_RU,
                                &found);
    return found.first ? found.first->reason : NULL;
}

static void add_attribute(struct feed_mapping *mapping, struct mapped *mapped,
                          const struct attribute *attribute, const struct feed_attribute *given)
{
    Torg__V1__OfferContent *content = mapped->content;
    Torg__V1__AttributeValue *value = value_of(content, attribute);
    bool is_new = !value;
    const char *wrong;

    if (is_new) {
        value = arena_alloc(mapped->arena, sizeof(*value));
        torg__v1__attribute_value__init(value);
    }
    wrong = feed_attribute_read(&mapping->attributes, attribute, given, mapped->arena, value);
    if (is_new && (value->value_case || value->n_options)) {
        const char *refused = refused_by_category(mapped, value);

        if (refused)
            wrong = refused;
        else
            content->attributes[content->n_attributes++] = value;
    }
    if (wrong)
        mapped->unread[mapped->unread_count++] =
            (struct unread){attribute, arena_printf(mapped->arena, "%.*s: %s",
                                                    BYTES_ARG(feed_shown(given->name)), wrong)};
}

/* Once all values are there: where one that is required has none, the row is refused. */
static void tell_unread(struct mapped *mapped)
{
    for (size_t i = 0; i < mapped->unread_count; i++) {
        const struct attribute *attribute = mapped->unread[i].attribute;
        bool is_missed = attribute->required && !value_of(mapped->content, attribute);

        violations_add(is_missed ? &mapped->problems : &mapped->notes,
                       arena_printf(mapped->arena, "attributes.%s", attribute->id), "%s",
                       mapped->unread[i].reason);
    }
}

static void add_attributes(struct feed_mapping *mapping, struct mapped *mapped,
                           const struct feed_placement *placement)
{
    const struct feed_row *row = mapped->row;
    size_t count_max = row->attribute_count + placement->attribute_count + 1;

    mapped->content->attributes = arena_array(mapped->arena, count_max, sizeof(void *));
    mapped->unread = arena_array(mapped->arena, count_max, sizeof(*mapped->unread));
    mapped->content->properties =
        arena_array(mapped->arena, row->attribute_count + 1, sizeof(void *));
    for (size_t i = 0; i < row->attribute_count; i++) {
        struct feed_attribute given = row->attributes[i];
        struct bytes unit;
        const struct attribute *attribute =
            feed_attribute_find(&mapping->attributes, mapped->category, given.name, &unit);

        if (!given.unit.size)
            given.unit = unit;
        if (attribute)
            add_attribute(mapping, mapped, attribute, &given);
        else if (!feed_special_take(row, &row->attributes[i], mapped->category, mapped->arena,
                                    mapped->content, &mapped->notes))
            take_unknown(mapping, mapped, &row->attributes[i]);
    }
    for (size_t i = 0; i < placement->attribute_count; i++) { /* unless the row says otherwise */
        const struct feed_attribute *given = &placement->attributes[i];
        struct bytes unit;
        const struct attribute *attribute =
            feed_attribute_find(&mapping->attributes, mapped->category, given->name, &unit);

        if (attribute && !value_of(mapped->content, attribute))
            add_attribute(mapping, mapped, attribute, given);
    }
    tell_unread(mapped);
    feed_special_finish(mapped->category, mapped->arena, mapped->content);
}

/* Within max characters, to the end of a word, and told; as it is where that is not wanted. */
static char *shortened(const struct feed_mapping *mapping, struct mapped *mapped, const char *field,
                       struct bytes text, size_t max)
{
    size_t length = text_length(text);
    struct bytes front;

    if (!mapping->shorten || length <= max)
        return text_of(text);
    front = text_front(text, max);
    violations_add(&mapped->notes, field, "is shortened from %zu characters to %zu", length,
                   text_length(front));
    return arena_text(mapped->arena, front);
}

static void add_price(const struct feed_row *row, struct arena *arena,
                      Torg__V1__OfferContent *content)
{
    if (!row->has_price)
        return;
    content->price = arena_alloc(arena, sizeof(*content->price));
    torg__v1__price__init(content->price);
    content->price->amount = row->price;
    content->price->currency = (char *)row->currency;
}

static void add_photos(struct mapped *mapped)
{
    const struct feed_row *row = mapped->row;
    size_t max = mapped->category->policy.photos_max;
    size_t count = row->photo_count < max ? row->photo_count : max;
    Torg__V1__Photo *photos = arena_array(mapped->arena, count + 1, sizeof(*photos));
    Torg__V1__OfferContent *content = mapped->content;

    content->photos = arena_array(mapped->arena, count + 1, sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        torg__v1__photo__init(&photos[i]);
        photos[i].source_url = text_of(row->photos[i]);
        content->photos[content->n_photos++] = &photos[i];
    }
    if (count < row->photo_count)
        violations_add(&mapped->notes, "photos", "photos above the limit of %zu are left out", max);
}

static void add_place(const struct feed_row *row, struct arena *arena,
                      Torg__V1__OfferContent *content)
{
    if (!row->address.size && !row->has_point)
        return;
    content->address = arena_alloc(arena, sizeof(*content->address));
    torg__v1__address__init(content->address);
    content->address->text = text_of(row->address);
    if (!row->has_point)
        return;
    content->address->point = arena_alloc(arena, sizeof(*content->address->point));
    torg__v1__geo_point__init(content->address->point);
    content->address->point->latitude = row->latitude;
    content->address->point->longitude = row->longitude;
}

static void add_contacts(const struct feed_row *row, struct arena *arena,
                         Torg__V1__OfferContent *content)
{
    if (!row->contact_name.size && !row->phone_count && !row->email.size)
        return;
    content->contacts = arena_alloc(arena, sizeof(*content->contacts));
    torg__v1__contacts__init(content->contacts);
    content->contacts->name = text_of(row->contact_name);
    content->contacts->email = text_of(row->email);
    content->contacts->phones = arena_array(arena, row->phone_count + 1, sizeof(char *));
    for (size_t i = 0; i < row->phone_count; i++)
        content->contacts->phones[content->contacts->n_phones++] = text_of(row->phones[i]);
}

static Torg__V1__OfferContent__Condition condition_of(const struct feed_row *row)
{
    switch (row->condition) {
    case FEED_CONDITION_NEW:
        return TORG__V1__OFFER_CONTENT__CONDITION__NEW;
    case FEED_CONDITION_USED:
        return TORG__V1__OFFER_CONTENT__CONDITION__USED;
    case FEED_CONDITION_BROKEN:
        return TORG__V1__OFFER_CONTENT__CONDITION__BROKEN;
    default:
        return TORG__V1__OFFER_CONTENT__CONDITION__CONDITION_UNSPECIFIED;
    }
}

static Torg__V1__FeedProblem **problem_list(const struct violations *first,
                                            const struct violations *second, struct arena *arena,
                                            size_t *count)
{
    Torg__V1__FeedProblem **list =
        arena_array(arena, first->count + second->count + 1, sizeof(*list));
    const struct violations *parts[] = {first, second};

    *count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        for (const struct violation *one = parts[i]->first; one; one = one->next) {
            Torg__V1__FeedProblem *problem = MESSAGE_NEW(feed_problem, arena);

            problem->field = (char *)one->field;
            problem->reason = (char *)one->reason;
            list[(*count)++] = problem;
        }
    }
    return list;
}

static void add_condition(struct mapped *mapped)
{
    if (!mapped->row->condition)
        return;
    if (category_has_filter(mapped->category, TORG__V1__CATEGORY__FILTER__CONDITION))
        mapped->content->condition = condition_of(mapped->row);
    else
        violations_add(&mapped->notes, "condition", "offers of this category have no condition");
}

static void fill_content(struct feed_mapping *mapping, struct mapped *mapped,
                         const struct feed_placement *placement)
{
    const struct policy *policy = &placement->category->policy;
    const struct feed_row *row = mapped->row;
    Torg__V1__OfferContent *content = mapped->content;

    content->category = (char *)placement->category->id;
    content->title = shortened(mapping, mapped, "title", row->title, policy->title_max);
    content->description =
        shortened(mapping, mapped, "description", row->description, policy->description_max);
    add_condition(mapped);
    add_price(row, mapped->arena, content);
    add_attributes(mapping, mapped, placement);
    add_photos(mapped);
    add_place(row, mapped->arena, content);
    add_contacts(row, mapped->arena, content);
}

static Torg__V1__FeedUpsert *make_upsert(struct feed_mapping *mapping, const struct feed_row *row,
                                         struct arena *arena)
{
    Torg__V1__FeedUpsert *upsert = MESSAGE_NEW(feed_upsert, arena);
    struct mapped mapped = {.row = row,
                            .arena = arena,
                            .content = MESSAGE_NEW(offer_content, arena),
                            .problems = violations_in(arena),
                            .notes = violations_in(arena)};
    const struct feed_placement *placement;
    const char *reason;

    upsert->row = (int64_t)row->number;
    upsert->line = (int64_t)row->line;
    upsert->external_id = text_of(row->external_id);
    upsert->unavailable = !row->available;
    placement = feed_mapping_place(mapping, row, &reason);
    if (placement) {
        mapped.category = placement->category;
        fill_content(mapping, &mapped, placement);
        upsert->content = mapped.content; /* with problems too: the rest of it is looked at */
    } else {
        violations_add(&mapped.problems, "category", "%s", reason);
    }
    upsert->problems = problem_list(&row->problems, &mapped.problems, arena, &upsert->n_problems);
    upsert->notes = problem_list(&row->notes, &mapped.notes, arena, &upsert->n_notes);
    return upsert;
}

void feed_mapping_row(struct feed_mapping *mapping, const struct feed_row *row, struct arena *arena,
                      Torg__V1__FeedEvent *event)
{
    object_check(mapping, FEED_MAPPING_MAGIC);
    if (row->deleted && !row->problems.count) {
        event->event_case = TORG__V1__FEED_EVENT__EVENT_DELETE;
        event->delete_ = arena_alloc(arena, sizeof(*event->delete_));
        torg__v1__feed_delete__init(event->delete_);
        event->delete_->row = (int64_t)row->number;
        event->delete_->line = (int64_t)row->line;
        event->delete_->external_id = text_of(row->external_id);
        return;
    }
    event->event_case = TORG__V1__FEED_EVENT__EVENT_UPSERT;
    event->upsert = make_upsert(mapping, row, arena);
}
